//! Whether a rule set's patterns are better tried or walked.

use crate::limits::{CANDIDATES_MEAN_MAX, CANDIDATES_TRIED_BEFORE_STATES};

/// How many patterns of a rule set one thread has tried.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tries {
    paths: u32,
    patterns: u32,
}

impl Tries {
    /// Whether patterns are to be tried for a path more.
    #[inline]
    pub(super) fn are_few(self) -> bool {
        self.patterns < CANDIDATES_TRIED_BEFORE_STATES
            || self.patterns / CANDIDATES_MEAN_MAX < self.paths
    }

    /// Patterns that were tried lately.
    pub(super) fn patterns(self) -> u64 {
        u64::from(self.patterns)
    }

    /// Notes that so many were tried for a path. If none were, because that was not asked, nothing changes.
    #[inline]
    pub(super) fn add(&mut self, patterns: usize) {
        let patterns = u32::try_from(patterns).unwrap_or(u32::MAX);
        // Long ago counts less than lately, and nothing overflows.
        if self.patterns.checked_add(patterns).is_none_or(|sum| sum > HALVED_ABOVE) {
            (self.paths, self.patterns) = (self.paths / 2, self.patterns / 2);
        }
        self.paths += u32::from(patterns > 0);
        self.patterns = self.patterns.saturating_add(patterns);
    }
}

/// Patterns at which both numbers are halved.
const HALVED_ABOVE: u32 = 1 << 24;

#[cfg(test)]
mod tests {
    use super::*;

    fn of(paths: usize, patterns: usize) -> Tries {
        let mut tries = Tries::default();
        (0..paths).for_each(|_| tries.add(patterns));
        tries
    }

    #[test]
    fn many_patterns_for_each_path_are_not_tried_for_long() {
        let mean_max = CANDIDATES_MEAN_MAX as usize;
        assert!(of(0, 0).are_few() && of(5, 4 * mean_max).are_few());
        assert!(!of(1000, mean_max + 1).are_few() && !of(1000, 2 * mean_max).are_few());
        assert!(of(1000, mean_max - 1).are_few() && of(1000, 1).are_few());
    }

    #[test]
    fn nothing_overflows() {
        for patterns in [0, 1, 64, usize::MAX] {
            let tries = of(300_000, patterns);
            assert_eq!(tries.are_few(), patterns <= 1, "{tries:?}");
        }
    }
}
