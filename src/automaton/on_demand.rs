//! The automaton that is built where paths go, under a budget, and what happens past it.
//!
//! Shared by all threads: the patterns and, once somebody needs it, the NFA. A thread's own: the
//! [`Cache`], a program that grows. Most rule sets of a crawl are asked a few times and never again,
//! so the first paths are answered by a [`scan`](super::scan), and states are built after those. When a cache has spent its octets or its positions it stops growing; paths that stay
//! within what is built are answered as before, and one that leaves it is answered by
//! [`scan`](super::scan), and when that has happened often by a scan behind a
//! [`prefilter`](super::prefilter). So memory is bounded by the limit and time by one scan a path, whatever
//! the rules and the paths are.

use std::sync::OnceLock;

use crate::limits::SCANS_BEFORE_PREFILTER;
use crate::pattern::PatternList;

use super::determinize::Determinizer;
use super::nfa::Nfa;
use super::prefilter::{Candidates, Prefilter, positions};
use super::program::{Walk, walk};
use super::scan::{matches, scan};
use super::{Detail, Limits, Outcome};

/// What all threads share.
#[derive(Debug)]
pub(super) struct OnDemand {
    nfa: OnceLock<Nfa>,
    patterns: PatternList,
    outcomes: Vec<Outcome>,
    limits: Limits,
    /// Built when scans have become many; none if it would be too large.
    prefilter: OnceLock<Option<Prefilter>>,
}

/// A thread's memory for one automaton.
#[derive(Clone, Debug, Default)]
pub struct Cache {
    determinizer: Option<Box<Determinizer>>,
    /// Paths that were answered before there were states.
    early_scans: u64,
    scans: u64,
    candidates: Candidates,
}

impl Cache {
    /// A walk over what is built; nothing if that is nothing. It looks at nothing but this cache.
    #[inline]
    fn walk(&self, path: &[u8], detail: Detail) -> Option<Walk> {
        let determinizer = self.determinizer.as_ref()?;
        Some(walk(determinizer.words(), determinizer.start(), path, 0, detail))
    }

    /// Octets of memory that this holds.
    pub fn memory_octets(&self) -> usize {
        self.determinizer.as_ref().map_or(0, |determinizer| determinizer.memory_octets())
    }

    /// The nodes built so far.
    pub fn nodes(&self) -> usize {
        self.determinizer.as_ref().map_or(0, |determinizer| determinizer.nodes())
    }

    /// NFA positions that building has looked at so far.
    pub fn positions_visited(&self) -> u64 {
        self.determinizer.as_ref().map_or(0, |determinizer| determinizer.work())
    }

    /// Paths that were answered by scanning the rules before there were states.
    pub fn early_scans(&self) -> u64 {
        self.early_scans
    }

    /// Paths that were answered by scanning the rules, because the budget was spent.
    pub fn scans(&self) -> u64 {
        self.scans
    }
}

impl OnDemand {
    /// `nfa` is of the same patterns, if there is one already.
    pub(super) fn new(
        nfa: Option<Nfa>,
        patterns: PatternList,
        outcomes: Vec<Outcome>,
        limits: &Limits,
    ) -> OnDemand {
        let nfa = nfa.map_or_else(OnceLock::new, OnceLock::from);
        OnDemand { nfa, patterns, outcomes, limits: *limits, prefilter: OnceLock::new() }
    }

    pub(super) fn memory_octets(&self) -> usize {
        let prefilter = self.prefilter.get().and_then(Option::as_ref);
        self.nfa.get().map_or(0, Nfa::memory_octets)
            + self.patterns.memory_octets()
            + size_of_val(&*self.outcomes)
            + prefilter.map_or(0, Prefilter::memory_octets)
    }

    #[inline]
    pub(super) fn decide(&self, path: &[u8], detail: Detail, cache: &mut Cache) -> Outcome {
        // Nearly always all is built, and then nothing else is looked at.
        match cache.walk(path, detail) {
            Some(Walk::Done(outcome)) => outcome,
            begun => self.build(path, detail, begun, cache),
        }
    }

    /// The outcome of a path that needs something that is not built. `begun` is how far a walk came, if
    /// there is anything yet.
    #[inline(never)]
    fn build(
        &self,
        path: &[u8],
        detail: Detail,
        begun: Option<Walk>,
        cache: &mut Cache,
    ) -> Outcome {
        if begun.is_none() && cache.early_scans < self.limits.scans_before_states {
            cache.early_scans += 1;
            return scan(&self.patterns, &self.outcomes, path);
        }
        let nfa = self.nfa.get_or_init(|| Nfa::new(&self.patterns, &self.outcomes));
        let determinizer =
            cache.determinizer.get_or_insert_with(|| Box::new(Determinizer::new(nfa)));
        let mut walked = begun
            .unwrap_or_else(|| walk(determinizer.words(), determinizer.start(), path, 0, detail));
        loop {
            match walked {
                Walk::Done(outcome) => return outcome,
                Walk::Broken => unreachable!("the program was built here"),
                Walk::Unbuilt { slot, consumed } => {
                    if self.is_spent(determinizer) {
                        cache.scans += 1;
                        return self.scan(path, cache.scans, &mut cache.candidates);
                    }
                    let target = determinizer.build_slot(nfa, slot);
                    walked = walk(determinizer.words(), target, path, consumed, detail);
                }
            }
        }
    }

    /// Tries the patterns in order; all, or those that a prefilter leaves.
    #[cold]
    fn scan(&self, path: &[u8], scans: u64, candidates: &mut Candidates) -> Outcome {
        let prefilter = match scans < SCANS_BEFORE_PREFILTER {
            true => None,
            false => self.prefilter.get_or_init(|| Prefilter::new(&self.patterns)).as_ref(),
        };
        if !prefilter.is_some_and(|prefilter| prefilter.candidates(path, candidates)) {
            return scan(&self.patterns, &self.outcomes, path);
        }
        let first = positions(candidates).find(|&index| matches(&self.patterns.get(index), path));
        first.map_or(Outcome::NONE, |index| self.outcomes[index])
    }

    fn is_spent(&self, determinizer: &Determinizer) -> bool {
        determinizer.work() >= self.limits.on_demand_positions_max
            || determinizer.memory_octets() >= self.limits.on_demand_octets_max
    }
}
