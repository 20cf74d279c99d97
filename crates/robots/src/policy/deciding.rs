//! Questions to answers: what one thread does with policies.
//!
//! A question is a policy and a path. It is answered at once if one decision holds for every path; by a
//! prefilter's looks, which is how most are; by trying a few patterns; or by an automaton. All questions of a block
//! take one step before any takes the next: their memory accesses wait for one another less, and a step
//! that some questions need and others do not is a list of those that do, which the processor need not
//! guess.

mod agenda;
mod block;
mod first_step;
mod touch;

use zerocopy::{FromBytes, Immutable, IntoBytes};

use portcullis_dialect::decision::Decision;
use portcullis_matcher::automaton::{
    Automata, Outcome, PatternTexts, Patterns, PrefilterLine, Work,
};

use agenda::Agenda;

pub use block::Block;

/// Where deciding a path begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoBytes, Immutable)]
#[repr(C)]
pub struct Start {
    /// Where among the prefilters that of the rule set stands, or one of the kinds below.
    pub prefilter: u32,
    /// The number of the rule set, or what the kind says.
    pub number: u32,
}

impl Start {
    /// The decision with this number holds for every path.
    pub const FIXED: u32 = u32::MAX;
    /// As for the agent with this number, which comes before.
    pub const SHARED: u32 = u32::MAX - 1;
    /// The rule set has no prefilter.
    pub const NO_PREFILTER: u32 = u32::MAX - 2;

    /// Where nothing is asked.
    pub const NOWHERE: Start = Start { prefilter: Start::FIXED, number: 0 };

    /// Some as pairs of words.
    #[inline]
    pub fn words(starts: &[Start]) -> &[[u32; 2]] {
        <[[u32; 2]]>::ref_from_bytes(starts.as_bytes()).expect("they are pairs of words")
    }
}

/// In the place of a policy's number: none is known.
pub const NO_POLICY: u32 = u32::MAX;
/// In the place of a policy's number: there is no URL to ask about.
pub const NO_URL: u32 = u32::MAX - 1;

/// What a [`Block`] of questions asks: policies for a list of agents, wherever they are kept.
///
/// A policy and an agent are an *entry*: the policy's number times the number of agents, and the agent's.
pub trait Policies {
    /// Where the texts of patterns stand.
    type Texts<'l>: PatternTexts<'l>
    where
        Self: 'l;
    /// Why an automaton cannot be built.
    type Failure;

    /// The number of agents.
    fn agents(&self) -> usize;

    /// Whether `/robots.txt` is allowed whatever the rules are.
    fn allows_robots_txt(&self) -> bool;

    /// Where the answer of an entry begins.
    fn start(&self, entry: usize) -> Start;

    /// The decision with this number, which holds for every path of some policy.
    fn fixed(&self, number: u32) -> Decision;

    /// The lines in which all prefilters stand.
    fn lines(&self) -> &[PrefilterLine];

    /// The patterns of a rule set, which has a prefilter.
    fn patterns(&self, rule_set: u32) -> Patterns<'_, Self::Texts<'_>>;

    /// Entries of a prefilter's index that are looked at for a path before it is walked.
    fn candidates_tried_max(&self) -> usize;

    /// The outcome of a path by the automaton of an entry's rule set.
    ///
    /// # Errors
    ///
    /// If the automaton cannot be built.
    fn walk(
        &self,
        entry: usize,
        rule_set: u32,
        path: &[u8],
        automata: &mut Automata,
    ) -> Result<Outcome, Self::Failure>;
}

/// A thread's memory for blocks of questions about the same policies.
#[derive(Clone, Debug, Default)]
pub struct BlockMemory {
    /// By question, then by agent.
    decisions: Vec<Decision>,
    sources: Vec<Source>,
    starts: Vec<Start>,
    /// Of the block, where runs of questions about one policy end, if they are long.
    run_ends: Vec<usize>,
    /// Of rule sets that have been asked what no prefilter and no candidate answers.
    automata: Automata,
    ways: Ways,
    /// Of the block, what a prefilter has to look for at the start of paths, and what anywhere in them.
    beginnings: Agenda,
    literals: Agenda,
    /// By answer: at which lengths a path may begin with a prefix, as a prefilter tells.
    prefix_levels: Vec<u8>,
    /// Answers whose paths may begin with a prefix, and those in which a literal may stand.
    begun: Agenda,
    standing: Agenda,
    /// Answers of which no prefilter knows anything.
    unfiltered: Agenda,
    /// Of the block, which answers are the same as another.
    repeats: Vec<Repeat>,
}

/// What a decision was made from.
#[derive(Clone, Copy, Debug)]
pub struct Source {
    /// Its entry, or [`Source::NONE`].
    entry: u32,
    /// Its pattern, or [`Source::NONE`]. It means nothing where patterns are not told apart.
    pattern: u32,
}

impl Source {
    const NONE: u32 = u32::MAX;
    const NOWHERE: Source = Source { entry: Source::NONE, pattern: Source::NONE };

    #[inline(always)]
    fn of(entry: usize, outcome: Outcome) -> Source {
        // The number of no outcome is 0, and what is before that is no pattern.
        Source { entry: entry as u32, pattern: outcome.number().wrapping_sub(1) }
    }

    /// The entry, if a policy was asked.
    pub fn entry(self) -> Option<usize> {
        (self.entry != Source::NONE).then_some(self.entry as usize)
    }

    /// The pattern, if one decides.
    pub fn pattern(self) -> Option<u32> {
        (self.pattern != Source::NONE).then_some(self.pattern)
    }
}

/// An answer that repeats one before it.
#[derive(Clone, Copy, Debug)]
struct Repeat {
    answer: u32,
    of: u32,
}

impl BlockMemory {
    /// The decisions on the block that was asked last, question by question.
    pub fn decisions(&self) -> &[Decision] {
        &self.decisions
    }

    /// What the decision with this number was made from.
    pub fn source(&self, answer: usize) -> Source {
        self.sources[answer]
    }

    /// All decisions, and for each what it was made from.
    pub fn decisions_mut(&mut self) -> (&mut [Decision], &[Source]) {
        (&mut self.decisions, &self.sources)
    }
}

impl BlockMemory {
    /// Returns the bytes that this holds for rule sets that were asked; those for one block are not counted.
    pub fn memory_bytes(&self) -> usize {
        self.automata.memory_bytes()
    }

    /// Returns how often each way answered.
    pub fn ways(&self) -> Ways {
        Ways { work: self.automata.work(), ..self.ways }
    }
}

/// How often each way answered a thread's questions. The prefilter answered those that are left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ways {
    /// Questions, one per path and agent.
    pub questions: u64,
    /// Questions that one decision answered, whatever the path.
    pub constant: u64,
    /// Questions that candidates of the prefilter answered.
    pub candidates: u64,
    /// Entries of the prefilter's index that were looked at.
    pub entries: u64,
    /// Questions that automata answered, scans among them.
    pub automata: u64,
    /// What those took.
    pub work: Work,
}

impl std::ops::AddAssign for Ways {
    fn add_assign(&mut self, other: Ways) {
        self.questions += other.questions;
        self.constant += other.constant;
        self.candidates += other.candidates;
        self.entries += other.entries;
        self.automata += other.automata;
        self.work += other.work;
    }
}
