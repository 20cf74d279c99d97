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

use crate::automaton::Cache;
use crate::decision::Decision;

use agenda::Agenda;
use block::Block;
use tries::Tries;

use super::table::{FileRule, PolicyTable, Provenance, Start};

/// A thread's memory for decisions of one [`PolicyTable`].
#[derive(Clone, Debug, Default)]
pub struct Memory {
    /// By question, then by agent.
    decisions: Vec<Decision>,
    sources: Vec<Source>,
    starts: Vec<Start>,
    /// Of the block, where runs of questions about one policy end, if they are long.
    run_ends: Vec<usize>,
    /// By rule set, as far as one has been asked.
    tries: Vec<Tries>,
    /// Of automata that are built on demand, as far as one has been asked.
    caches: Vec<Cache>,
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
struct Source {
    /// Its entry, or [`Source::NONE`].
    entry: u32,
    /// Its pattern, or [`Source::NONE`].
    pattern: u32,
}

impl Source {
    const NONE: u32 = u32::MAX;
    const NOWHERE: Source = Source { entry: Source::NONE, pattern: Source::NONE };
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
    /// and a path. Policies may be [`PolicyTable::NO_POLICY`] and
    /// [`PolicyTable::NO_URL`].
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
        assert_eq!(policies.len(), paths.len(), "a path for each policy");
        let block = Block { table: self, policies, paths, memory: &mut *memory };
        self.vectors.run(block);
        &memory.decisions
    }

    /// Where the decision for `agent` on the question with this number, of those that `memory` was
    /// used for last, comes from in the file of its policy.
    ///
    /// # Panics
    ///
    /// If there is no such question or agent, or `memory` is another table's.
    pub fn provenance(&self, question: usize, agent: usize, memory: &Memory) -> Provenance {
        let Source { entry, pattern } = memory.sources[question * self.agents.len() + agent];
        match (entry, pattern) {
            (Source::NONE, _) => Provenance::default(),
            (entry, Source::NONE) => {
                Provenance { rule: None, group: self.entries[entry as usize].group }
            }
            (entry, pattern) => {
                let FileRule { value, group, .. } = self.file_rule(entry as usize, pattern);
                Provenance { rule: Some(value), group: Some(group) }
            }
        }
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
