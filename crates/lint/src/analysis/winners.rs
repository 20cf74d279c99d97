//! Which pattern decides a path: the engine's answer, paid from a budget.

use portcullis_engine::{Cache, RuleSetBuf, Settings};
use portcullis_robots::policy::OrderedRules;

use super::{Bound, Budget};

/// Steps of a scan that cost as much as a position of an analysis. Measured: a scan takes one to two
/// nanoseconds a step, an analysis twelve a position.
const SCAN_STEPS: u64 = 8;

/// Rules, compiled to decide paths.
pub(crate) struct Winners {
    rules: RuleSetBuf,
    settings: Settings,
    cache: Cache,
}

impl Winners {
    pub(crate) fn new(ordered: &OrderedRules) -> Winners {
        let rules = ordered.compile();
        Winners { rules, settings: Settings::default(), cache: Cache::default() }
    }

    /// Returns the position of the pattern that decides `path`; `None` if no pattern matches.
    ///
    /// # Errors
    ///
    /// If the budget does not suffice.
    pub(crate) fn winner(
        &mut self,
        path: &[u8],
        budget: &mut Budget,
    ) -> Result<Option<usize>, Bound> {
        budget.take(path.len() as u64)?;
        let before = self.steps();
        let outcome = self.rules.as_rule_set().decide(path, &self.settings, &mut self.cache);
        budget.take((self.steps() - before) / SCAN_STEPS)?;
        Ok(outcome.pattern())
    }

    fn steps(&self) -> u64 {
        let work = self.cache.work();
        work.scan_steps + work.rule_bytes
    }
}
