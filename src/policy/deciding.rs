//! Questions to answers: what one thread does with a [`PolicyTable`].
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

use std::convert::Infallible;

use zerocopy::little_endian::U32;

use crate::automaton::{Automata, Outcome, PatternTexts, Patterns, SieveLine, Work};
use crate::decision::Decision;
use crate::dialect::RobotsTxtUrl;

use agenda::Agenda;

use super::Detail;
use super::table::{FileRule, PolicyTable, Provenance, Start};

pub(crate) use block::Block;

/// What a [`Block`] of questions asks: policies for a list of agents, wherever they are kept.
///
/// A policy and an agent are an *entry*: the policy's number times the number of agents, and the agent's.
pub(crate) trait Policies {
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
    fn lines(&self) -> &[SieveLine];

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

/// A thread's memory for decisions of one [`PolicyTable`].
pub type Memory = BlockMemory;

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
    stretches: Agenda,
    /// By answer: at which lengths a path may begin with a prefix, as a prefilter tells.
    prefix_levels: Vec<u8>,
    /// Answers whose paths may begin with a prefix, and those in which a stretch may stand.
    begun: Agenda,
    standing: Agenda,
    /// Answers of which no prefilter knows anything.
    unsieved: Agenda,
    /// Of the block, which answers are the same as another.
    repeats: Vec<Repeat>,
}

/// What a decision was made from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source {
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
    pub(crate) fn entry(self) -> Option<usize> {
        (self.entry != Source::NONE).then_some(self.entry as usize)
    }

    /// The pattern, if one decides.
    pub(crate) fn pattern(self) -> Option<u32> {
        (self.pattern != Source::NONE).then_some(self.pattern)
    }
}

/// An answer that repeats one before it.
#[derive(Clone, Copy, Debug)]
struct Repeat {
    answer: u32,
    of: u32,
}

impl PolicyTable {
    /// A new thread's memory.
    pub fn memory(&self) -> Memory {
        Memory::default()
    }

    /// One decision for each agent on `path`, which is in normal form, by the policy at `policy`.
    ///
    /// # Panics
    ///
    /// If there is no such policy.
    #[inline]
    pub fn decide<'m>(&self, policy: usize, path: &[u8], memory: &'m mut Memory) -> &'m [Decision] {
        self.decide_block(&[policy as u32], &[path], memory)
    }

    /// As [`PolicyTable::decide`], for a block of paths, question by question: each has a policy
    /// and a path. Policies may be [`NO_POLICY`](super::NO_POLICY) and
    /// [`NO_URL`](super::NO_URL).
    ///
    /// Some dozen questions at once cost less for each than one.
    ///
    /// # Panics
    ///
    /// If there is no such policy, there are not as many paths as policies, or `memory` is another
    /// table's.
    #[inline]
    pub fn decide_block<'m>(
        &self,
        policies: &[u32],
        paths: &[&[u8]],
        memory: &'m mut Memory,
    ) -> &'m [Decision] {
        let block = Block::new(self, policies, paths, &mut *memory);
        let Ok(()) = self.vectors.run(block);
        if self.detail == Detail::Rule {
            self.name_rules(memory);
        }
        &memory.decisions
    }

    /// Adds to decisions which rule made them.
    fn name_rules(&self, memory: &mut Memory) {
        for (decision, source) in memory.decisions.iter_mut().zip(&memory.sources) {
            if let (Some(entry), Some(pattern)) = (source.entry(), source.pattern()) {
                let FileRule { rule, line, .. } = self.file_rule(entry, pattern);
                (decision.rule, decision.line) = (Some(rule), Some(line));
            }
        }
    }

    /// Where the decision for `agent` on the question with this number, of those that `memory` was
    /// used for last, comes from in the file of its policy.
    ///
    /// # Panics
    ///
    /// If there is no such question or agent, or `memory` is another table's.
    pub fn provenance(&self, question: usize, agent: usize, memory: &Memory) -> Provenance {
        let source = memory.sources[question * self.agents.len() + agent];
        let Some(entry) = source.entry() else { return Provenance::default() };
        match source.pattern().filter(|_| self.detail == Detail::Rule) {
            None => Provenance { rule: None, group: self.entries[entry].group },
            Some(pattern) => {
                let FileRule { value, group, .. } = self.file_rule(entry, pattern);
                Provenance { rule: Some(value), group: Some(group) }
            }
        }
    }
}

impl Policies for PolicyTable {
    type Texts<'l> = &'l [U32];
    type Failure = Infallible;

    #[inline(always)]
    fn agents(&self) -> usize {
        self.agents.len()
    }

    #[inline(always)]
    fn allows_robots_txt(&self) -> bool {
        self.dialect.paths.robots_txt == RobotsTxtUrl::AlwaysAllowed
    }

    #[inline(always)]
    fn start(&self, entry: usize) -> Start {
        self.starts[entry]
    }

    #[inline(always)]
    fn fixed(&self, number: u32) -> Decision {
        self.fixed[number as usize]
    }

    #[inline(always)]
    fn lines(&self) -> &[SieveLine] {
        self.sieve_lines()
    }

    #[inline(always)]
    fn patterns(&self, rule_set: u32) -> Patterns<'_, &[U32]> {
        let [start, end] =
            [0, 1].map(|after| self.table_starts[rule_set as usize + after] as usize);
        Patterns { table: &self.tables[start..end], texts: &self.texts }
    }

    #[inline(always)]
    fn candidates_tried_max(&self) -> usize {
        self.limits.candidates_tried_max.unwrap_or(0)
    }

    fn walk(
        &self,
        _entry: usize,
        rule_set: u32,
        path: &[u8],
        automata: &mut Automata,
    ) -> Result<Outcome, Infallible> {
        let list = || Ok(self.patterns(rule_set).list(usize::MAX).expect("it was built here"));
        automata.decide(rule_set, (path, self.detail), &self.limits, list)
    }
}

impl BlockMemory {
    /// The decisions on the block that was asked last, question by question.
    pub(crate) fn decisions(&self) -> &[Decision] {
        &self.decisions
    }

    /// What the decision with this number was made from.
    pub(crate) fn source(&self, answer: usize) -> Source {
        self.sources[answer]
    }

    /// All decisions, and for each what it was made from.
    pub(crate) fn decisions_mut(&mut self) -> (&mut [Decision], &[Source]) {
        (&mut self.decisions, &self.sources)
    }
}

impl BlockMemory {
    /// Returns the bytes that this holds for rule sets that were asked; those for one block are not counted.
    pub fn memory_octets(&self) -> usize {
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

#[cfg(test)]
mod tests;
