//! A rule set for many threads: owned, with a pool of caches.

use std::sync::{Mutex, PoisonError};

use crate::cache::Cache;
use crate::config::Settings;
use crate::outcome::Outcome;
use crate::ruleset::RuleSetBuf;
use crate::strategy::{decide_at_once, decide_if};
use crate::vectors::Work;

/// A rule set that threads share.
///
/// Nearly all paths are decided without a cache, and so without a lock. The others take a cache
/// from a pool, which grows to the number of threads that ask at once.
#[derive(Debug)]
pub struct SharedRuleSet {
    rules: RuleSetBuf,
    settings: Settings,
    caches: Mutex<Vec<Cache>>,
}

impl SharedRuleSet {
    /// Returns the rule set with an empty pool.
    pub fn new(rules: RuleSetBuf, settings: Settings) -> SharedRuleSet {
        SharedRuleSet { rules, settings, caches: Mutex::default() }
    }

    /// Returns the outcome of the first pattern that matches `path`, a path in normal form.
    #[inline]
    pub fn decide(&self, path: &[u8]) -> Outcome {
        let decided = decide_at_once(self.rules.as_lines(), path, &self.settings);
        decided.unwrap_or_else(|| self.ask_automaton(path))
    }

    /// Like [`SharedRuleSet::decide`], if `condition` holds, in one function for the kind of vectors.
    /// `None` if it does not, or if the path needs an automaton.
    #[inline]
    pub fn decide_if(&self, condition: impl Work<Output = bool>, path: &[u8]) -> Option<Outcome> {
        decide_if(condition, self.rules.as_lines(), path, &self.settings)
    }

    #[inline(never)]
    fn ask_automaton(&self, path: &[u8]) -> Outcome {
        // A thread that panicked took its cache with it.
        let pool = || self.caches.lock().unwrap_or_else(PoisonError::into_inner);
        let mut cache = pool().pop().unwrap_or_else(|| Cache::new(self.settings));
        let outcome = cache.ask_automaton(self.rules.as_rule_set(), path);
        pool().push(cache);
        outcome
    }

    /// Returns the memory held, in bytes.
    pub fn memory_bytes(&self) -> usize {
        let pool = self.caches.lock().unwrap_or_else(PoisonError::into_inner);
        self.rules.as_bytes().len() + pool.iter().map(Cache::memory_bytes).sum::<usize>()
    }
}

impl Clone for SharedRuleSet {
    /// The copy has a pool of its own.
    fn clone(&self) -> SharedRuleSet {
        SharedRuleSet::new(self.rules.clone(), self.settings)
    }
}
