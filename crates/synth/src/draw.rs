//! Measured distributions, stored as quantiles.

use super::random::SplitMix64;

/// The denominator of shares: millionths.
const WHOLE: u64 = 1_000_000;

/// A distribution: the value at each share (in millionths) of the measured items. Shares ascend
/// from 0 to a million. Values in between are interpolated linearly.
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

/// The rank of a shared layout. The first layout has a quarter of these hosts (a fifth of all).
/// Above rank a thousand, each doubling of the rank leaves little more than half of the remaining
/// hosts.
pub(super) const LAYOUT_RANK: Quantiles = Quantiles(&[
    (0, 0),
    (251_000, 1),
    (317_000, 2),
    (376_000, 3),
    (419_000, 4),
    (452_000, 5),
    (478_000, 6),
    (499_000, 7),
    (518_000, 8),
    (611_000, 16),
    (676_000, 32),
    (730_000, 64),
    (781_000, 128),
    (827_000, 256),
    (871_000, 512),
    (917_500, 1 << 10),
    (955_000, 1 << 11),
    (975_000, 1 << 12),
    (987_000, 1 << 13),
    (994_000, 1 << 14),
    (997_000, 1 << 16),
    (999_000, 1 << 18),
    (999_900, 1 << 22),
    (WHOLE, 1 << 26),
]);

/// The number of rules of a layout's default group. Half have at most 9, one in a hundred more than
/// 372.
pub(super) const DEFAULT_RULES: Quantiles = Quantiles(&[
    (0, 1),
    (130_000, 2),
    (250_000, 3),
    (500_000, 9),
    (750_000, 28),
    (900_000, 60),
    (950_000, 97),
    (990_000, 372),
    (996_000, 1_000),
    (999_000, 2_500),
    (WHOLE, 7_300),
]);

/// The maximum numbers of default rules, and of lines that name crawlers, in a shared layout. A
/// longer layout would weigh as much as all its hosts.
pub(super) const SHARED_DEFAULT_RULES_MAX: u64 = 400;
pub(super) const SHARED_NAMED_LINES_MAX: u64 = 40;

/// The number of user-agent lines of a layout that name a crawler. Half have none, one in a hundred
/// 109.
pub(super) const NAMED_LINES: Quantiles = Quantiles(&[
    (0, 0),
    (600_000, 0),
    (750_000, 2),
    (900_000, 6),
    (950_000, 14),
    (970_000, 32),
    (990_000, 100),
    (995_000, 170),
    (999_000, 557),
    (WHOLE, 1_774),
]);

/// The number of rules of a group that names a crawler and has its own rules.
pub(super) const NAMED_RULES: Quantiles = Quantiles(&[
    (0, 1),
    (300_000, 2),
    (500_000, 6),
    (750_000, 22),
    (900_000, 50),
    (990_000, 200),
    (WHOLE, 900),
]);

/// The number of user-agent lines of a group that blocks several crawlers.
pub(super) const NAMES_OF_ONE_GROUP: Quantiles =
    Quantiles(&[(0, 1), (500_000, 4), (900_000, 28), (WHOLE, 200)]);

/// The number of the platform whose rules begin a default group.
pub(super) const PLATFORM: Quantiles = Quantiles(&[
    (0, 0),
    (250_000, 1),
    (400_000, 4),
    (600_000, 16),
    (800_000, 64),
    (950_000, 400),
    (WHOLE, 4_000),
]);

/// The number of a common pattern, which sites everywhere use.
pub(super) const COMMON_PATTERN: Quantiles = Quantiles(&[
    (0, 0),
    (150_000, 16),
    (350_000, 128),
    (550_000, 1_000),
    (750_000, 8_000),
    (900_000, 64_000),
    (WHOLE, 1_000_000),
]);

/// The length of a common pattern, in bytes.
pub(super) const COMMON_PATTERN_BYTES: Quantiles =
    Quantiles(&[(0, 3), (250_000, 8), (500_000, 13), (900_000, 28), (WHOLE, 60)]);

/// The length of a pattern that only one layout has, in bytes.
pub(super) const OWN_PATTERN_BYTES: Quantiles = Quantiles(&[
    (0, 4),
    (100_000, 9),
    (250_000, 13),
    (500_000, 22),
    (750_000, 40),
    (900_000, 70),
    (990_000, 140),
    (WHOLE, 500),
]);

/// The number of records of a file that belong to its host, nearly all of them sitemaps.
pub(super) const SITEMAPS: Quantiles = Quantiles(&[
    (0, 0),
    (220_000, 0),
    (250_000, 1),
    (600_000, 1),
    (800_000, 2),
    (900_000, 3),
    (950_000, 8),
    (990_000, 30),
    (999_000, 225),
    (WHOLE, 1_460),
]);

/// The length of a URL after its host, in bytes. Half of the whole URLs have at most 52 bytes.
pub(super) const PATH_BYTES: Quantiles = Quantiles(&[
    (0, 1),
    (50_000, 1),
    (150_000, 2),
    (500_000, 8),
    (900_000, 52),
    (990_000, 175),
    (999_900, 1_500),
    (WHOLE, 10_000),
]);

/// The position of a site's section. The first ones are on most of its pages.
pub(super) const SECTION: Quantiles =
    Quantiles(&[(0, 0), (400_000, 8), (800_000, 40), (990_000, 400), (WHOLE, 40_000)]);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_rise_from_nothing_to_the_whole() {
        for table in [
            &LAYOUT_RANK,
            &DEFAULT_RULES,
            &NAMED_LINES,
            &NAMED_RULES,
            &NAMES_OF_ONE_GROUP,
            &PLATFORM,
            &COMMON_PATTERN,
            &COMMON_PATTERN_BYTES,
            &OWN_PATTERN_BYTES,
            &SITEMAPS,
            &PATH_BYTES,
            &SECTION,
        ] {
            assert_eq!(table.0[0].0, 0);
            assert_eq!(table.0[table.0.len() - 1].0, WHOLE);
            assert!(table.0.is_sorted_by(|a, b| a.0 < b.0 && a.1 <= b.1));
        }
    }

    #[test]
    fn values_lie_on_the_line_between_two_shares() {
        assert_eq!(DEFAULT_RULES.at(0), 1);
        assert_eq!(DEFAULT_RULES.at(500_000), 9);
        assert_eq!(DEFAULT_RULES.at(825_000), 44);
        assert_eq!(DEFAULT_RULES.at(WHOLE), 7_300);
    }
}
