//! A rule set for many threads: owned, with a pool of caches.

use std::sync::{Mutex, PoisonError};

use crate::cache::Cache;
use crate::config::Settings;
use crate::outcome::Outcome;
use crate::ruleset::{RuleSet, RuleSetBuf};
use crate::strategy::{Always, Question, decide_if};
use crate::vectors::Work;

/// A rule set that threads share.
///
/// Nearly all paths are decided without a cache, and so without a lock. The others take a cache
/// from a pool, which grows to the number of threads that ask at once.
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
        let question =
            Question { lines: self.rules.as_lines(), path, limits: &self.settings.limits };
        let automaton = |rules: RuleSet<'_>| self.ask_automaton(rules, path);
        decide_if(condition, question, self.settings.vectors, automaton)
    }

    #[inline(never)]
    fn ask_automaton(&self, rules: RuleSet<'_>, path: &[u8]) -> Outcome {
        // A thread that panicked took its cache with it.
        let pool = || self.pool.lock().unwrap_or_else(PoisonError::into_inner);
        let mut cache = pool().pop().unwrap_or_default();
        let outcome = cache.decide(0, rules, path, &self.settings.limits);
        pool().push(cache);
        outcome
    }
}
