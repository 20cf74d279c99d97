//! Measured distributions, kept as quantiles.

use super::random::SplitMix64;

/// Parts of one, in which the quantiles are given.
const WHOLE: u64 = 1_000_000;

/// A distribution: the value at each share (in millionths) of the measured items, the shares rising
/// from 0 to a million. Values between two shares lie on the line between theirs.
pub(super) struct Quantiles(&'static [(u64, u64)]);

impl Quantiles {
    pub(super) fn draw(&self, random: &mut SplitMix64) -> u64 {
        self.at(random.below(WHOLE))
    }

    fn at(&self, share: u64) -> u64 {
        let above = self.0.partition_point(|&(start, _)| start <= share);
        let (start, low) = self.0[above - 1];
        let Some(&(end, high)) = self.0.get(above) else {
            return low;
        };
        low + (high - low) * (share - start) / (end - start)
    }
}

/// Rules of a group: half have 6 at most, one in a hundred more than 114.
pub(super) const RULES_PER_GROUP: Quantiles = Quantiles(&[
    (0, 1),
    (250_000, 2),
    (500_000, 6),
    (750_000, 14),
    (900_000, 32),
    (990_000, 114),
    (996_000, 180),
    (999_000, 600),
    (999_990, 4_000),
    (WHOLE, 47_000),
]);

/// Groups of a file: half have one, one in ten nine or more.
pub(super) const GROUPS_PER_FILE: Quantiles = Quantiles(&[
    (0, 1),
    (640_000, 1),
    (800_000, 4),
    (900_000, 9),
    (990_000, 24),
    (999_000, 80),
    (WHOLE, 1_700),
]);

/// Octets of a URL after its host: with scheme and host, half have 52 at most.
pub(super) const PATH_OCTETS: Quantiles = Quantiles(&[
    (0, 1),
    (50_000, 1),
    (150_000, 2),
    (500_000, 8),
    (900_000, 52),
    (990_000, 175),
    (999_900, 1_500),
    (WHOLE, 10_000),
]);

/// Segments of a rule's pattern.
pub(super) const SEGMENTS_PER_PATTERN: Quantiles =
    Quantiles(&[(0, 1), (600_000, 1), (900_000, 2), (990_000, 4), (WHOLE, 9)]);

/// Which of a site's sections is meant: the first are on most of its pages.
pub(super) const SECTION: Quantiles =
    Quantiles(&[(0, 0), (400_000, 8), (800_000, 40), (990_000, 400), (WHOLE, 40_000)]);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_rise_from_nothing_to_the_whole() {
        for table in
            [&RULES_PER_GROUP, &GROUPS_PER_FILE, &PATH_OCTETS, &SEGMENTS_PER_PATTERN, &SECTION]
        {
            assert_eq!(table.0[0].0, 0);
            assert_eq!(table.0[table.0.len() - 1].0, WHOLE);
            assert!(table.0.is_sorted_by(|a, b| a.0 < b.0 && a.1 <= b.1));
        }
    }

    #[test]
    fn values_lie_on_the_line_between_two_shares() {
        assert_eq!(RULES_PER_GROUP.at(0), 1);
        assert_eq!(RULES_PER_GROUP.at(500_000), 6);
        assert_eq!(RULES_PER_GROUP.at(625_000), 10);
        assert_eq!(RULES_PER_GROUP.at(WHOLE), 47_000);
    }
}
