//! Questions to answers: what one thread does with a [`PolicyTable`].
//!
//! A question is a policy and a path. It is answered at once if one decision holds for every path; by a
//! sieve's looks, which is how most are; by trying a few patterns; or by a walk. All questions of a block
//! take one step before any takes the next: their memory accesses wait for one another less, and a step
//! that some questions need and others do not is a list of those that do, which the processor need not
//! guess.

mod agenda;
mod block;
mod first_step;
mod touch;
mod tries;

use std::convert::Infallible;

use zerocopy::little_endian::U32;

use crate::automaton::{Cache, Outcome, PatternTexts, Patterns, SieveLine, StoredAutomaton};
use crate::decision::Decision;
use crate::dialect::RobotsTxtUrl;

use agenda::Agenda;
use tries::Tries;

use super::Detail;
use super::table::{FileRule, PolicyTable, Provenance, Start, WalkStart};

pub(crate) use block::Block;

/// What a [`Block`] of questions asks: policies for a list of agents, wherever they are kept.
///
/// A policy and an agent are an *entry*: the policy's number times the number of agents, and the agent's.
pub(crate) trait Policies {
    /// Where the texts of patterns stand.
    type Texts<'l>: PatternTexts<'l>
    where
        Self: 'l;
    /// What a thread keeps for automata that are built when paths ask for them.
    type Caches;
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

    /// The lines in which all sieves stand.
    fn lines(&self) -> &[SieveLine];

    /// The number of rule sets.
    fn rule_sets(&self) -> usize;

    /// The patterns of a rule set, which has a sieve.
    fn patterns(&self, rule_set: u32) -> Patterns<'_, Self::Texts<'_>>;

    /// Patterns that are tried for a path before it is walked.
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
        caches: &mut Self::Caches,
    ) -> Result<Outcome, Self::Failure>;
}

/// A thread's memory for decisions of one [`PolicyTable`].
pub type Memory = BlockMemory<Vec<Cache>>;

/// A thread's memory for blocks of questions about the same policies.
#[derive(Clone, Debug, Default)]
pub struct BlockMemory<C> {
    /// By question, then by agent.
    decisions: Vec<Decision>,
    sources: Vec<Source>,
    starts: Vec<Start>,
    /// Of the block, where runs of questions about one policy end, if they are long.
    run_ends: Vec<usize>,
    /// By rule set, as far as one has been asked.
    tries: Vec<Tries>,
    /// Of automata that are built on demand, as far as one has been asked.
    pub(crate) caches: C,
    /// Of the block, what a sieve has to look for at the start of paths, and what anywhere in them.
    beginnings: Agenda,
    stretches: Agenda,
    /// By answer: at which lengths a path may begin with a prefix, as a sieve tells.
    prefix_levels: Vec<u8>,
    /// Answers whose paths may begin with a prefix, and those in which a stretch may stand.
    begun: Agenda,
    standing: Agenda,
    /// Answers of which no sieve knows anything.
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
    type Caches = Vec<Cache>;
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
    fn rule_sets(&self) -> usize {
        self.walk_starts.len()
    }

    #[inline(always)]
    fn patterns(&self, rule_set: u32) -> Patterns<'_, &[U32]> {
        let [start, end] =
            [0, 1].map(|after| self.table_starts[rule_set as usize + after] as usize);
        Patterns { table: &self.tables[start..end], texts: &self.texts }
    }

    #[inline(always)]
    fn candidates_tried_max(&self) -> usize {
        self.candidates_tried_max
    }

    fn walk(
        &self,
        _entry: usize,
        rule_set: u32,
        path: &[u8],
        caches: &mut Vec<Cache>,
    ) -> Result<Outcome, Infallible> {
        let start = self.walk_starts[rule_set as usize];
        if start.place == WalkStart::ON_DEMAND {
            let number = start.word as usize;
            if number >= caches.len() {
                caches.resize_with(self.on_demand.len(), Cache::default);
            }
            let automaton = self.on_demand[number].automaton();
            return Ok(automaton.decide(path, self.detail, &mut caches[number]));
        }
        let words = &self.arena[start.place as usize..];
        let (word, consumed) = match (start.is_after_slash, path.first()) {
            (true, Some(b'/')) => (start.word, 1),
            (true, _) => (WalkStart::FIRST_NODE, 0),
            (false, _) => (start.word, 0),
        };
        let automaton = StoredAutomaton { start: word, words };
        let outcome = automaton.decide_rest(path, consumed, self.detail);
        Ok(outcome.expect("what was built here is whole"))
    }
}

impl<C> BlockMemory<C> {
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

impl Memory {
    /// Octets that this holds for the rule sets that were asked; those for one block are not counted.
    pub fn memory_octets(&self) -> usize {
        self.caches.iter().map(Cache::memory_octets).sum()
    }

    /// Counts the ways in which questions were answered.
    pub fn ways(&self) -> Ways {
        let of_caches = |count: fn(&Cache) -> u64| self.caches.iter().map(count).sum();
        Ways {
            patterns_tried: self.tries.iter().map(|tries| tries.patterns()).sum(),
            nodes_built: of_caches(|cache| cache.nodes() as u64),
            scans_before_states: of_caches(Cache::early_scans),
            scans_past_limits: of_caches(Cache::scans),
        }
    }
}

/// The ways in which one thread's questions were answered. Walks of automata that were built ahead are not
/// counted: [`Census`](super::Census) tells whether there are such.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ways {
    /// Patterns that were tried because a sieve named them.
    pub patterns_tried: u64,
    /// Nodes of automata that were built on demand, and walked.
    pub nodes_built: u64,
    /// Paths that were answered by a scan of the rules before there were nodes.
    pub scans_before_states: u64,
    /// Paths that were answered by a scan because a limit was reached.
    pub scans_past_limits: u64,
}

#[cfg(test)]
mod tests;
