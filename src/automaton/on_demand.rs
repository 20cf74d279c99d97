//! The automaton that is built where paths go, under a budget, and what happens past it.
//!
//! Shared by all threads: the patterns and, once somebody needs it, the NFA. A thread's own: the
//! [`Cache`], a program that grows. Most rule sets of a crawl are asked a few times and never again,
//! so the first paths are answered by a [`scan`](super::scan), unless that is much work, and states are
//! built after those. When a cache has spent its octets or its positions it stops growing; paths that stay
//! within what is built are answered as before, and one that leaves it is answered by a
//! [`scan`](super::scan) behind a [`prefilter`](super::prefilter). So memory is bounded by the limit and
//! time by one scan a path, whatever the rules and the paths are.

use std::sync::OnceLock;

use crate::limits::EARLY_SCAN_BYTES_MAX;
use crate::pattern::PatternList;

use super::determinize::Determinizer;
use super::nfa::Nfa;
use super::prefilter::{Candidates, Prefilter, positions};
use super::program::{Walk, walk};
use super::scan::scan;
use super::{Detail, Limits, Outcome};

/// What all threads share.
#[derive(Debug)]
pub(super) struct OnDemand {
    nfa: OnceLock<Nfa>,
    patterns: PatternList,
    outcomes: Vec<Outcome>,
    limits: Limits,
    /// Built when some thread's budget is spent.
    prefilter: OnceLock<Prefilter>,
}

/// A thread's memory for one automaton.
#[derive(Clone, Debug, Default)]
pub struct Cache {
    determinizer: Option<Box<Determinizer>>,
    /// Paths that were answered before there were states.
    early_scans: u64,
    scans: u64,
    bytes_scanned: u64,
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

    /// Returns the bytes of each path that was scanned times the patterns that were tried for it, which
    /// bounds the work of all scans.
    pub fn bytes_scanned(&self) -> u64 {
        self.bytes_scanned
    }

    /// Returns the outcome of a scan, and counts its work.
    fn scanned(&mut self, path: &[u8], (outcome, tried): (Outcome, usize)) -> Outcome {
        self.bytes_scanned += (path.len() * tried) as u64;
        outcome
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
        self.nfa.get().map_or(0, Nfa::memory_octets)
            + self.patterns.memory_octets()
            + size_of_val(&*self.outcomes)
            + self.prefilter.get().map_or(0, Prefilter::memory_octets)
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
        let OnDemand { patterns, outcomes, .. } = self;
        if begun.is_none()
            && cache.early_scans < self.limits.scans_before_states
            && patterns.len() * path.len() <= EARLY_SCAN_BYTES_MAX
        {
            cache.early_scans += 1;
            return cache.scanned(path, scan(patterns, outcomes, 0..patterns.len(), path));
        }
        let nfa = self.nfa.get_or_init(|| Nfa::new(patterns, outcomes));
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
                        return self.scan(path, cache);
                    }
                    let target = determinizer.build_slot(nfa, slot);
                    walked = walk(determinizer.words(), target, path, consumed, detail);
                }
            }
        }
    }

    /// Tries the patterns that a prefilter leaves, in order.
    #[cold]
    fn scan(&self, path: &[u8], cache: &mut Cache) -> Outcome {
        let OnDemand { patterns, outcomes, .. } = self;
        let prefilter = self.prefilter.get_or_init(|| Prefilter::new(patterns));
        prefilter.candidates(path, &mut cache.candidates);
        cache.scans += 1;
        let found = scan(patterns, outcomes, positions(&cache.candidates), path);
        cache.scanned(path, found)
    }

    fn is_spent(&self, determinizer: &Determinizer) -> bool {
        determinizer.work() >= self.limits.on_demand_positions_max
            || determinizer.memory_octets() >= self.limits.on_demand_octets_max
    }
}
