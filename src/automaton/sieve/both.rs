//! Patterns that need a prefix and a stretch behind it.
//!
//! Where many patterns share a prefix, it does not tell which of them may match: of 100,000 rules such as
//! `/shop/*item-123` a path would have a hundred candidates. What they need behind the star tells. So the
//! index has, for such a prefix, no patterns but word that a stretch is needed as well, and the patterns
//! stand under both. The stretch is only looked for where the prefix was found. The same goes for a prefix
//! so short that many paths of a site begin with it.

use std::collections::HashMap;

use crate::pattern::PathPattern;

use super::filter::Beginning;
use super::pairs::Pair;
use super::stretch::{Stretch, rarest, stretches};

/// A pattern with a prefix and a star.
pub(super) struct Starred<'l> {
    pub(super) place: u32,
    pub(super) pattern: PathPattern<'l>,
    pub(super) prefix: Beginning,
    /// Whether many paths may begin so.
    pub(super) is_short: bool,
}

/// What a pattern needs beside a prefix.
pub(super) struct Both {
    pub(super) place: u32,
    /// What is kept of the prefix.
    pub(super) prefix: u64,
    pub(super) stretch: Stretch,
}

/// Patterns that share a prefix, of which each is tried without a look at what else it needs.
const SHARED_PREFIX_MAX: usize = 4;

/// Parts those that need both from the others.
pub(super) fn part(starred: Vec<Starred<'_>>) -> (Vec<Starred<'_>>, Vec<Starred<'_>>) {
    if starred.len() <= SHARED_PREFIX_MAX && !starred.iter().any(|it| it.is_short) {
        return (Vec::new(), starred);
    }
    let mut counts: HashMap<u64, usize> = HashMap::new();
    let string = |it: &Starred<'_>| it.prefix.cut().1;
    starred.iter().for_each(|it| *counts.entry(string(it)).or_default() += 1);
    let needs_both = |it: &Starred<'_>| {
        (it.is_short || counts[&string(it)] > SHARED_PREFIX_MAX)
            && rarest(&it.pattern).is_some_and(|stretch| stretch.is_cheap())
    };
    starred.into_iter().partition(needs_both)
}

/// What each needs behind its prefix.
pub(super) fn needs_of(starred: &[Starred<'_>]) -> impl Iterator<Item = Both> {
    let few = few_pairs(starred);
    starred.iter().filter_map(move |it| {
        let among_few = stretches(&it.pattern).filter(|one| one.is_telling() && few.has(one.pair));
        let stretch = among_few.min_by_key(|one| one.cost).or_else(|| rarest(&it.pattern))?;
        Some(Both { place: it.place, prefix: it.prefix.cut().1, stretch })
    })
}

/// Patterns of which each may have a pair of its own.
const OWN_PAIRS_MAX: usize = 16;

/// Times that pairs are chosen for the patterns that have none yet.
const ROUNDS_MAX: usize = 6;

/// Some pairs.
struct PairSet(Vec<bool>);

impl PairSet {
    fn has(&self, pair: Pair) -> bool {
        pair.number().is_some_and(|number| self.0.get(number) == Some(&true))
    }
}

/// Few pairs that are rare in paths and common among the stretches of these patterns; none where each
/// pattern may as well have its own. It is how sets are covered greedily (Chvátal 1979), several pairs
/// in a round.
fn few_pairs(starred: &[Starred<'_>]) -> PairSet {
    if starred.len() <= OWN_PAIRS_MAX {
        return PairSet(Vec::new());
    }
    let mut chosen = PairSet(vec![false; Pair::NUMBERS]);
    let mut left: Vec<&Starred<'_>> = starred.iter().collect();
    for _ in 0..ROUNDS_MAX {
        let mut gains = vec![0_f32; Pair::NUMBERS];
        for it in &left {
            for stretch in stretches(&it.pattern).filter(Stretch::is_telling) {
                if let Some(number) = stretch.pair.number() {
                    gains[number] += 1.0 / stretch.pair.frequency() as f32;
                }
            }
        }
        let best = gains.iter().copied().fold(0.0, f32::max);
        if best == 0.0 {
            break;
        }
        for (chosen, gain) in chosen.0.iter_mut().zip(gains) {
            *chosen |= gain * 2.0 >= best;
        }
        left.retain(|it| {
            !stretches(&it.pattern).any(|one| one.is_telling() && chosen.has(one.pair))
        });
    }
    chosen
}
