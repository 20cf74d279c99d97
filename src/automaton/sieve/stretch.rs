//! Which stretch behind a pattern's stars is looked for: any would do, but some cost less.

use crate::pattern::PathPattern;

use super::filter::Beginning;
use super::pairs::Pair;

/// What a pattern needs behind a star.
#[derive(Clone, Copy)]
pub(super) struct Stretch<'l> {
    pub(super) octets: &'l [u8],
    /// Whether the path ends behind it.
    is_whole: bool,
    pub(super) pair: Pair,
    /// How much looking for it costs, in no unit.
    pub(super) cost: u64,
}

/// Octets of a stretch that tell it from most others.
pub(super) const TELLING_OCTETS: usize = 4;

impl<'l> Stretch<'l> {
    #[inline]
    fn new(octets: &'l [u8], is_whole: bool) -> Stretch<'l> {
        let pair = Pair::of(octets, is_whole);
        // Those of many patterns share one bucket, and a path has few places for them.
        let begins_segment = octets.len() >= TELLING_OCTETS && octets[0] == b'/';
        let misses = match octets.len() + usize::from(is_whole) {
            0..=2 => WALK_COST,
            3 => WALK_COST / 8,
            _ => WALK_COST / 32,
        };
        let cost = match begins_segment {
            true => 0,
            false => u64::from(pair.frequency()) * (LOOK_COST + misses),
        };
        Stretch { octets, is_whole, pair, cost }
    }

    /// What is looked at of it.
    pub(super) fn beginning(&self) -> Beginning {
        Beginning::new(self.octets, self.is_whole)
    }

    /// Whether looking for it costs less than a short prefix does, with which many paths begin.
    pub(super) fn is_cheap(&self) -> bool {
        self.cost <= COST_MAX
    }

    /// Whether looking for it costs less than a prefix of some octets does.
    pub(super) fn is_very_cheap(&self) -> bool {
        self.cost <= COST_MAX / 8
    }
}

/// The literals behind the stars of a pattern, and whether the path ends behind each.
#[inline]
fn literals_behind<'l>(pattern: &PathPattern<'l>) -> impl Iterator<Item = (&'l [u8], bool)> {
    let last = pattern.stars().len().saturating_sub(1);
    let is_anchored = pattern.anchored;
    let literals = pattern.literals().skip(1).enumerate();
    literals.map(move |(index, literal)| (literal, is_anchored && index == last))
}

/// What is rarest of the stretches behind the stars of a pattern, the first of equals; nothing if there are none.
pub(super) fn rarest<'l>(pattern: &PathPattern<'l>) -> Option<Stretch<'l>> {
    let mut best: Option<Stretch<'l>> = None;
    let mut left = STRETCHES_MAX;
    for (literal, is_whole) in literals_behind(pattern) {
        let starts = literal.len().min(left);
        for start in 0..starts {
            let stretch = Stretch::new(&literal[start..], is_whole);
            if best.is_none_or(|best| stretch.cost < best.cost) {
                best = Some(stretch);
            }
        }
        left -= starts;
        if left == 0 || best.is_some_and(|best| best.cost == 0) {
            break;
        }
    }
    best
}

/// Stretches of a pattern that are compared: a pattern may have many thousand octets.
const STRETCHES_MAX: usize = 64;

/// What looking for a stretch may cost so that it is better than a short prefix.
const COST_MAX: u64 = 1500;

/// What it takes to look at what a pair begins, and to walk if it is what was looked for: some
/// hundred instructions, and more than a thousand.
const LOOK_COST: u64 = 1;
const WALK_COST: u64 = 16;
