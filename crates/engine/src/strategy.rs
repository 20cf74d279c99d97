//! How a rule set decides a path: the ladder, its order and its reasons.
//!
//! | step | decides a path if | cost |
//! |---|---|---|
//! | 1 first probe | no required prefix has the same first bytes, and no pattern requires a literal; constant rule sets end here | 1 cache line |
//! | 2 prefixes, literals | it has no required prefix and no required literal of any pattern | 1 or 2 more |
//! | 3 candidates | the index names at most [`candidates_tried_max`](crate::Limits) patterns, which are matched one by one | a search each |
//! | 4 patterns | the paths so far have few bytes, measured by those of the patterns, which are matched one by one | a search each |
//! | 5 scan, lazy DFA | always: a DFA once the paths have four times these bytes, if the patterns and the path are not too long | one pass for all patterns |
//!
//! By definition, the first pattern of the list that matches decides. Each step is an accelerator that
//! must agree with it. Steps are ordered by cost, and each leaves few paths to the next: of real URLs,
//! nine in ten end at step 1 or 2 and about one in two thousand gets past step 3.
//!
//! A [block](crate::block) takes step 1 for all its queries, because there vectors and prefetching
//! pay. What is left takes step 2 in a loop that keeps its state in registers. The few that step 2 leaves take
//! steps 3 to 5 in one function, alone or of a block.

use std::sync::{Mutex, PoisonError};

use crate::automaton::{self, Cache};
use crate::bytes::Line;
use crate::candidates::{Found, try_candidates};
use crate::filter::head::{Open, first_probe};
use crate::limits::{Limits, Settings};
use crate::outcome::Outcome;
use crate::ruleset::{RuleSet, RuleSetBuf};
use crate::vectors::{Kernels, Kind, Work};

impl RuleSet<'_> {
    /// Returns the outcome of the first pattern that matches `path`, a path in normal form. `cache`
    /// belongs to this rule set, and to one thread at a time.
    ///
    /// # Panics
    ///
    /// If `cache` was used with another rule set, this may panic or give a wrong answer.
    pub fn decide(&self, path: &[u8], settings: &Settings, cache: &mut Cache) -> Outcome {
        self.decide_as(0, path, settings, cache)
    }

    /// Like [`RuleSet::decide`], with a cache that several rule sets share, each by a number of its own.
    pub fn decide_as(
        &self,
        number: u32,
        path: &[u8],
        settings: &Settings,
        cache: &mut Cache,
    ) -> Outcome {
        let limits = &settings.limits;
        let query = Query { lines: self.lines(), path, limits };
        let automaton = |rules: RuleSet<'_>| cache.decide(number, rules, path, limits);
        let decide = DecideIf { condition: Always, query, automaton };
        settings.vectors.run(decide).unwrap_or(Outcome::LOST)
    }
}

/// A rule set and a path.
#[derive(Clone, Copy)]
pub(crate) struct Query<'q> {
    /// The rule set begins at the first line. Others may follow it.
    pub(crate) lines: &'q [Line],
    /// In normal form.
    pub(crate) path: &'q [u8],
    pub(crate) limits: &'q Limits,
}

/// How often each step answered the queries of a thread. The prefilter answered the rest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StepCounts {
    /// Queries, one per path and rule set.
    pub queries: u64,
    /// Queries without a rule set.
    pub constant: u64,
    /// Queries answered by trying candidates of the prefilter.
    pub candidates: u64,
    /// Entries of the prefilter's index that were read.
    pub entries: u64,
    /// Queries answered by steps 4 and 5.
    pub automata: u64,
    /// The work of those.
    pub work: automaton::AutomatonWork,
}

impl std::ops::AddAssign for StepCounts {
    fn add_assign(&mut self, other: StepCounts) {
        self.queries += other.queries;
        self.constant += other.constant;
        self.candidates += other.candidates;
        self.entries += other.entries;
        self.automata += other.automata;
        self.work += other.work;
    }
}

impl Query<'_> {
    /// Answers what step 2 left open, by the other steps. It is `otherwise` if no pattern that requires what
    /// was found matches.
    #[inline(always)]
    pub(crate) fn rest(
        self,
        found: &Found,
        otherwise: Outcome,
        kind: impl Kernels,
        counts: &mut StepCounts,
        automaton: impl FnOnce(RuleSet<'_>) -> Outcome,
    ) -> Outcome {
        let Query { lines, path, limits } = self;
        if let (Some(entries_max), true) = (limits.candidates_tried_max, found.open != Open::ALL) {
            let mut left = entries_max;
            let tried = try_candidates(lines, path, found, &mut left, kind);
            if left < entries_max {
                counts.entries += (entries_max - left) as u64;
                counts.candidates += u64::from(tried.is_some());
            }
            if let Some(best) = tried {
                return best.unwrap_or(otherwise);
            }
        }
        counts.automata += 1;
        RuleSet::view(lines).map_or(Outcome::LOST, automaton)
    }
}

/// Answers a query by all steps if `condition` holds, otherwise `None`. `automaton` takes the last
/// two.
struct DecideIf<'q, C, A> {
    condition: C,
    query: Query<'q>,
    automaton: A,
}

impl<C: Work<Output = bool>, A: FnOnce(RuleSet<'_>) -> Outcome> Work for DecideIf<'_, C, A> {
    type Output = Option<Outcome>;

    #[inline(always)]
    fn with(self, kind: impl Kind) -> Option<Outcome> {
        let DecideIf { condition, query, automaton } = self;
        if !condition.with(kind) {
            return None;
        }
        let Query { lines, path, limits } = query;
        let (otherwise, open) = match limits.candidates_tried_max {
            Some(_) => first_probe(lines, 0, path),
            None => (Outcome::LOST, Open::ALL),
        };
        if !open.any() {
            return Some(otherwise);
        }
        let found = Found::new(lines, path, open, kind);
        let mut counts = StepCounts::default();
        Some(match found.open.any() {
            true => query.rest(&found, otherwise, kind, &mut counts, automaton),
            false => otherwise,
        })
    }
}

/// The condition that holds for every path.
pub(crate) struct Always;

impl Work for Always {
    type Output = bool;

    #[inline(always)]
    fn with(self, _: impl Kind) -> bool {
        true
    }
}

/// A rule set that threads share.
///
/// Nearly all paths are decided without a cache, and so without a lock. The others take a cache
/// from a pool, which grows to the number of threads that query at once.
#[derive(Debug)]
pub struct SharedRuleSet {
    rules: RuleSetBuf,
    settings: Settings,
    pool: Mutex<Vec<Cache>>,
}

impl SharedRuleSet {
    /// Returns the rule set with an empty pool.
    pub fn new(rules: RuleSetBuf, settings: Settings) -> SharedRuleSet {
        SharedRuleSet { rules, settings, pool: Mutex::default() }
    }

    /// Returns the outcome of the first pattern that matches `path`, a path in normal form.
    pub fn decide(&self, path: &[u8]) -> Outcome {
        self.decide_if(Always, path).unwrap_or(Outcome::LOST)
    }

    /// Like [`SharedRuleSet::decide`] if `condition` holds, otherwise `None`. Both are one function for
    /// the kind of vectors.
    #[inline]
    pub fn decide_if(&self, condition: impl Work<Output = bool>, path: &[u8]) -> Option<Outcome> {
        let query = Query { lines: self.rules.as_lines(), path, limits: &self.settings.limits };
        let automaton = |rules: RuleSet<'_>| self.query_automaton(rules, path);
        self.settings.vectors.run(DecideIf { condition, query, automaton })
    }

    #[inline(never)]
    fn query_automaton(&self, rules: RuleSet<'_>, path: &[u8]) -> Outcome {
        // A thread that panicked took its cache with it.
        let pool = || self.pool.lock().unwrap_or_else(PoisonError::into_inner);
        let mut cache = pool().pop().unwrap_or_default();
        let outcome = cache.decide(0, rules, path, &self.settings.limits);
        pool().push(cache);
        outcome
    }
}
