//! Patterns that need a prefix and a stretch behind it.
//!
//! Where many patterns share a prefix, it does not tell which of them may match: of 100,000 rules such as
//! `/shop/*item-123` a path would have a hundred candidates. What they need behind the star tells. So such
//! patterns stand in the index under both, and the stretch is only looked for where the prefix was found. The
//! same goes for a prefix so short that many paths of a site begin with it, and for one that is cut to the same
//! length as such a prefix: behind it a stretch is looked for in any case.

use crate::automaton::chunk::first_octets;
use crate::pattern::PathPattern;

use super::filter::{self, Beginning, LEVELS};
use super::pairs::Pair;
use super::stretch::{Stretch, TELLING_OCTETS, telling};

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
    pub(super) prefix: Beginning,
    /// What is kept of the prefix and of what stands behind it.
    pub(super) string: u64,
    /// What the latter begins with.
    pub(super) pair: Pair,
}

/// The level to which stretches are cut. One is enough: a prefix stands beside them.
const LEVEL: usize = 3;
const _: () = assert!(LEVELS[LEVEL] as usize <= TELLING_OCTETS);

/// What is kept of a prefix and of a stretch with which `text` begins.
#[inline]
pub(super) fn string_of(prefix: u64, text: &[u8]) -> u64 {
    filter::cut(first_octets(text), LEVEL) ^ filter::hash(prefix)
}

/// Patterns that share a prefix, of which each is tried without a look at what else it needs, unless more share
/// one of its length.
const SHARED_PREFIX_MAX: usize = 2;

/// A pattern that may need both: what is kept of its prefix, and what is rarest of its telling stretches.
struct Candidate<'s, 'l> {
    starred: &'s Starred<'l>,
    prefix: u64,
    stretch: Stretch<'l>,
}

impl<'s, 'l> Candidate<'s, 'l> {
    fn of(starred: &'s Starred<'l>) -> Option<Candidate<'s, 'l>> {
        let stretch = telling(&starred.pattern).min_by_key(|stretch| stretch.cost);
        let stretch = stretch.filter(Stretch::is_cheap)?;
        Some(Candidate { starred, prefix: starred.prefix.cut().1, stretch })
    }
}

/// What those need that need both. The others need their prefix alone.
pub(super) fn needs_of(starred: &[Starred<'_>]) -> Vec<Both> {
    if starred.len() <= SHARED_PREFIX_MAX && !starred.iter().any(|it| it.is_short) {
        return Vec::new();
    }
    let mut candidates: Vec<Candidate<'_, '_>> = starred.iter().filter_map(Candidate::of).collect();
    candidates.sort_unstable_by_key(|it| (it.prefix, it.starred.place));
    let level = |it: &Candidate<'_, '_>| it.starred.prefix.cut().0;
    let of_prefix = candidates.chunk_by(|one, other| one.prefix == other.prefix);
    let of_common = of_prefix.filter(|it| it.len() > SHARED_PREFIX_MAX || it[0].starred.is_short);
    // Behind all prefixes of these lengths stretches are looked for in any case.
    let levels = of_common.fold(0, |levels, it| levels | level(&it[0]));
    let shared: Vec<&Candidate<'_, '_>> =
        candidates.iter().filter(|it| level(it) & levels != 0).collect();
    let few = few_pairs(&shared);
    let both = |it: &&Candidate<'_, '_>| {
        let Starred { place, pattern, .. } = *it.starred;
        let stretch = match &few {
            None => it.stretch,
            Some(few) => {
                let among_few =
                    telling(&pattern).filter_map(|one| Some((few.round_of(one.pair)?, one)));
                // What was chosen first is what most have.
                among_few.min_by_key(|&(round, _)| round)?.1
            }
        };
        let string = string_of(it.prefix, stretch.octets);
        Some(Both { place, prefix: it.starred.prefix, string, pair: stretch.pair })
    };
    shared.iter().filter_map(both).collect()
}

/// Patterns of which each may have a pair of its own.
const OWN_PAIRS_MAX: usize = 16;

/// Times that pairs are chosen for the patterns that have none yet.
const ROUNDS_MAX: u8 = 16;

/// Patterns by which pairs are chosen; of more, some.
const SAMPLE_MAX: usize = 2_048;

/// Some pairs: by number, the round in which each was chosen, from 1 on.
struct PairSet(Vec<u8>);

impl PairSet {
    fn round_of(&self, pair: Pair) -> Option<u8> {
        self.0.get(pair.number()?).copied().filter(|&round| round != 0)
    }
}

/// Few pairs that are rare in paths and common among the stretches of these patterns; nothing where each
/// pattern may as well have its own. It is how sets are covered greedily (Chvátal 1979), several pairs
/// in a round. A few patterns may have none of them.
fn few_pairs(shared: &[&Candidate<'_, '_>]) -> Option<PairSet> {
    if shared.len() <= OWN_PAIRS_MAX {
        return None;
    }
    let mut chosen = PairSet(vec![0; Pair::NUMBERS]);
    let sample = shared.iter().step_by(shared.len().div_ceil(SAMPLE_MAX));
    let mut left: Vec<&PathPattern<'_>> = sample.map(|it| &it.starred.pattern).collect();
    // By number; all are zero but those of `gaining`, which are few.
    let (mut gains, mut gaining) = (vec![0_f32; Pair::NUMBERS], Vec::new());
    for round in 1..=ROUNDS_MAX {
        for stretch in left.iter().flat_map(|pattern| telling(pattern)) {
            if let Some(number) = stretch.pair.number() {
                if gains[number] == 0.0 {
                    gaining.push(number);
                }
                gains[number] += 1.0 / stretch.pair.frequency() as f32;
            }
        }
        let best = gaining.iter().map(|&number| gains[number]).fold(0.0, f32::max);
        if best == 0.0 {
            break;
        }
        for number in gaining.drain(..) {
            let gain = std::mem::take(&mut gains[number]);
            if chosen.0[number] == 0 && gain * 2.0 >= best {
                chosen.0[number] = round;
            }
        }
        left.retain(|pattern| !telling(pattern).any(|one| chosen.round_of(one.pair).is_some()));
    }
    Some(chosen)
}
