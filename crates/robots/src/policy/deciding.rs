//! The vocabulary of batch decisions: entries, blocks of questions, a thread's memory.
//!
//! A question is a policy and a path. [`Block`](super::Block) answers many at once, and each stage
//! runs over the whole block before the next stage starts:
//!
//! 1. A decision that holds for every path, or the first probe of the prefilter.
//! 2. Further probes, where the first one leaves the answer open.
//! 3. The few candidate patterns that the prefilter names, or an automaton.
//!
//! Memory accesses within a stage are independent, so they overlap. A stage that only some
//! questions need works through a worklist, which costs no branch mispredictions. Building an
//! automaton is the only step that can fail.

use zerocopy::{FromBytes, Immutable, IntoBytes};

use portcullis_dialect::Decision;
use portcullis_matcher::automaton::{
    Automata, Outcome, PatternTexts, Patterns, PrefilterLine, Work,
};

/// Where the decision of an entry starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoBytes, Immutable)]
#[repr(C)]
pub struct Start {
    /// The position of the rule set's prefilter, or one of the constants below.
    pub prefilter: u32,
    /// The number of the rule set, or as the constant says.
    pub number: u32,
}

impl Start {
    /// One decision holds for every path; `number` is its number.
    pub const FIXED: u32 = u32::MAX;
    /// The decision is that of an earlier agent; `number` is its number.
    pub const SHARED: u32 = u32::MAX - 1;
    /// The rule set has no prefilter.
    pub const NO_PREFILTER: u32 = u32::MAX - 2;

    /// The start of a question that has no policy.
    pub const NOWHERE: Start = Start { prefilter: Start::FIXED, number: 0 };

    /// Views starts as pairs of words.
    #[inline]
    pub fn words(starts: &[Start]) -> &[[u32; 2]] {
        <[[u32; 2]]>::ref_from_bytes(starts.as_bytes()).expect("they are pairs of words")
    }
}

/// Replaces a policy number: no policy is known.
pub const NO_POLICY: u32 = u32::MAX;
/// Replaces a policy number: the record is not a URL.
pub const NO_URL: u32 = u32::MAX - 1;

/// The policies that a [`Block`](super::Block) asks, for a list of agents.
///
/// A policy and an agent form an *entry*: policy number × number of agents + agent number. The
/// trait separates the stages from storage: policy sets read entries from a mapped file.
pub trait PolicyTable {
    /// How pattern texts are stored.
    type Texts<'l>: PatternTexts<'l>
    where
        Self: 'l;
    /// Why an automaton cannot be built.
    type Failure;

    /// Returns the number of agents.
    fn agents(&self) -> usize;

    /// Returns whether `/robots.txt` is always allowed.
    fn allows_robots_txt(&self) -> bool;

    /// Returns where the decision of an entry starts.
    fn start(&self, entry: usize) -> Start;

    /// Returns a decision that holds for every path, by number.
    fn fixed(&self, number: u32) -> Decision;

    /// Returns the cache lines of all prefilters.
    fn lines(&self) -> &[PrefilterLine];

    /// Returns the patterns of a rule set that has a prefilter.
    fn patterns(&self, rule_set: u32) -> Patterns<'_, Self::Texts<'_>>;

    /// Returns how many entries of a prefilter's index are tried per path before the automaton.
    fn candidates_tried_max(&self) -> usize;

    /// Returns the outcome of a path by the automaton of an entry's rule set.
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

/// The memory of one thread for blocks about the same policies.
#[derive(Clone, Debug, Default)]
pub struct BlockMemory {
    /// By question, then by agent.
    pub(super) decisions: Vec<Decision>,
    pub(super) sources: Vec<Source>,
    pub(super) starts: Vec<Start>,
    /// The ends of long runs of questions about one policy.
    pub(super) run_ends: Vec<usize>,
    /// The automata of rule sets that needed one.
    pub(super) automata: Automata,
    pub(super) ways: Ways,
    /// Answers whose prefilter still has to be probed: for prefixes, and for required literals.
    pub(super) prefix_probes: Worklist,
    pub(super) literal_probes: Worklist,
    /// By answer: the prefix lengths at which the prefilter found a possible match.
    pub(super) prefix_levels: Vec<u8>,
    /// Answers whose paths may start with a prefix, and those that may contain a required literal.
    pub(super) prefix_hits: Worklist,
    pub(super) literal_hits: Worklist,
    /// Answers whose rule set has no prefilter.
    pub(super) unfiltered: Worklist,
    /// Answers that copy an earlier one.
    pub(super) repeats: Vec<Repeat>,
}

/// The entry and pattern behind a decision.
#[derive(Clone, Copy, Debug)]
pub struct Source {
    /// The entry, or [`Source::NONE`].
    entry: u32,
    /// The pattern, or [`Source::NONE`]. Undefined if the engine does not distinguish patterns.
    pattern: u32,
}

impl Source {
    const NONE: u32 = u32::MAX;
    /// The source of a decision that no rule set made.
    pub const NOWHERE: Source = Source { entry: Source::NONE, pattern: Source::NONE };

    #[inline(always)]
    pub(super) fn of(entry: usize, outcome: Outcome) -> Source {
        // `Outcome::NONE` has the number 0, which wraps to `Source::NONE`.
        Source { entry: entry as u32, pattern: outcome.number().wrapping_sub(1) }
    }

    /// Returns the entry, or `None` if no policy was asked.
    pub fn entry(self) -> Option<usize> {
        (self.entry != Source::NONE).then_some(self.entry as usize)
    }

    /// Returns the deciding pattern, or `None` if none decides.
    pub fn pattern(self) -> Option<u32> {
        (self.pattern != Source::NONE).then_some(self.pattern)
    }
}

/// An answer that copies an earlier one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Repeat {
    pub(super) answer: u32,
    pub(super) of: u32,
}

impl BlockMemory {
    /// Returns the decisions of the last block, by question, then by agent.
    pub fn decisions(&self) -> &[Decision] {
        &self.decisions
    }

    /// Returns the source of one decision.
    pub fn source(&self, answer: usize) -> Source {
        self.sources[answer]
    }

    /// Returns all decisions with their sources.
    pub fn answers_mut(&mut self) -> (&mut [Decision], &mut [Source]) {
        (&mut self.decisions, &mut self.sources)
    }

    /// Returns the bytes held by automata. The lists of one block are not counted.
    pub fn memory_bytes(&self) -> usize {
        self.automata.memory_bytes()
    }

    /// Returns how often each strategy answered.
    pub fn ways(&self) -> Ways {
        Ways { work: self.automata.work(), ..self.ways }
    }
}

/// How often each strategy answered the questions of a thread. The prefilter answered the rest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ways {
    /// Questions, one per path and agent.
    pub questions: u64,
    /// Questions answered by a decision that holds for every path.
    pub constant: u64,
    /// Questions answered by trying candidates of the prefilter.
    pub candidates: u64,
    /// Entries of the prefilter's index that were read.
    pub entries: u64,
    /// Questions answered by automata, including scans.
    pub automata: u64,
    /// The work of the automata.
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

/// Questions that are probed together.
pub(super) const EIGHT: usize = 8;

/// An answer that needs a further stage.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WorkItem {
    pub(super) question: u32,
    /// The position of the answer.
    pub(super) answer: u32,
}

/// The answers of a block that need a further stage, appended without branches.
#[derive(Clone, Debug, Default)]
pub(super) struct Worklist {
    items: Vec<WorkItem>,
    length: usize,
}

impl Worklist {
    /// Empties the list and makes room for `capacity` items.
    pub(super) fn clear(&mut self, capacity: usize) {
        self.length = 0;
        if self.items.len() < capacity {
            self.items.resize(capacity, WorkItem::default());
        }
    }

    /// Appends an item if it is needed, without a branch: it would often be mispredicted.
    #[inline]
    pub(super) fn push_if(&mut self, is_needed: bool, item: WorkItem) {
        self.items[self.length] = item;
        self.length += usize::from(is_needed);
    }

    /// Appends those of eight adjacent questions whose bits are set, if there is one agent. There
    /// must be room for all eight.
    #[inline(always)]
    pub(super) fn push_of_eight(&mut self, are_needed: u8, first: usize) {
        let room = &mut self.items[self.length..][..8];
        let mut length = 0;
        for place in 0..8 {
            let number = (first + place) as u32;
            room[length & 7] = WorkItem { question: number, answer: number };
            length += usize::from(are_needed >> place & 1);
        }
        self.length += length;
    }

    #[inline]
    pub(super) fn items(&self) -> &[WorkItem] {
        &self.items[..self.length]
    }
}
