//! What patterns need of the paths that they match: a prefix, a stretch behind a star, or both.
//!
//! Which stretch of a pattern is looked for does not matter to the answer, but some cost less to look for.
//!
//! Where many patterns share a prefix, the prefix does not tell which of them may match: of 100,000 rules such
//! as `/shop/*item-123` a path would have a hundred candidates. So such patterns are in the index under the
//! prefix and a stretch together, and the stretch is only looked for where the prefix was found. All patterns
//! whose prefixes are cut to the same length go the same way, so that the length tells what to look for.

use crate::automaton::Outcome;
use crate::automaton::chunk::first_bytes;
use crate::automaton::scan::matches;
use crate::pattern::{PathPattern, PatternList};

use super::filter::{Beginning, LEVELS, cut, hash};
use super::pairs::Pair;

/// What the patterns of a list need: a prefix, a stretch, or both.
#[derive(Default)]
pub(super) struct Needs {
    /// Positions of patterns, and what their paths begin with behind the first `/`.
    pub(super) prefixes: Vec<(u32, Beginning)>,
    /// Positions of patterns, and what stands somewhere in their paths.
    pub(super) stretches: Vec<(u32, Beginning)>,
    /// What those stretches begin with.
    pub(super) pairs: Vec<Pair>,
    /// What patterns need that need both.
    pub(super) both: Vec<Both>,
    /// The prefixes of those, each once.
    pub(super) prefixes_of_both: Vec<Beginning>,
    /// What the first pattern means that matches every path that begins with `/`. Those behind it never
    /// decide, and need nothing.
    pub(super) all: Option<Outcome>,
}

impl Needs {
    /// What `patterns` need of paths that begin with `/`.
    pub(super) fn of(patterns: &PatternList, outcomes: &[Outcome]) -> Needs {
        let prefixes = Vec::with_capacity(patterns.len());
        let mut needs = Needs { prefixes, ..Needs::default() };
        // Where stretches have to be looked for anyway, a rare one is better than a short prefix.
        let short = patterns.iter().filter(has_short_prefix).count();
        let has_literals = patterns.iter().any(|pattern| has_no_prefix(&pattern))
            || short * SHORT_PREFIXES_PART > patterns.len();
        let mut starred = Vec::new();
        for ((place, pattern), &outcome) in (0_u32..).zip(patterns.iter()).zip(outcomes) {
            if !pattern.anchored && pattern.bytes.len() < 2 && matches(&pattern, b"/") {
                needs.all = Some(outcome);
                break;
            }
            let literal = pattern.literals().next().unwrap_or_default();
            let has_stars = pattern.stars().len() > 0;
            let is_needy = literal.first() == Some(&b'/') || has_no_prefix(&pattern);
            if !is_needy {
                // It does not begin with `/`, and no path that does is matched.
                continue;
            }
            if has_no_prefix(&pattern) {
                needs.add_stretch(place, rarest(&pattern).expect("no pattern ends with a star"));
                continue;
            }
            let prefix = &literal[1..];
            let is_short = prefix.len() <= SHORT_PREFIX_BYTES;
            if !has_stars {
                needs.prefixes.push((place, Beginning::new(prefix, pattern.anchored)));
            } else if has_literals && let Some(stretch) = better_stretch(&pattern, is_short) {
                needs.add_stretch(place, stretch);
            } else {
                starred.push((place, Beginning::new(prefix, false), pattern));
            }
        }
        needs.both = take_needs(&mut starred);
        needs.prefixes.extend(starred.iter().map(|(place, prefix, _)| (*place, *prefix)));
        let of_prefix = needs.both.chunk_by(|one, other| one.prefix.cut() == other.prefix.cut());
        needs.prefixes_of_both = of_prefix.map(|it| it[0].prefix).collect();
        needs
    }

    fn add_stretch(&mut self, place: u32, stretch: Stretch<'_>) {
        self.pairs.push(stretch.pair);
        self.stretches.push((place, stretch.beginning()));
    }
}

/// Bytes of a prefix behind the first `/` that many paths of a site may begin with.
const SHORT_PREFIX_BYTES: usize = 3;

/// Of so many patterns one may have a short prefix, and it does not pay to look for stretches in all paths.
const SHORT_PREFIXES_PART: usize = 32;

fn has_short_prefix(pattern: &PathPattern<'_>) -> bool {
    pattern.stars().next().is_some_and(|star| star <= 1 + SHORT_PREFIX_BYTES)
}

/// Whether nothing but a stretch can be needed.
fn has_no_prefix(pattern: &PathPattern<'_>) -> bool {
    pattern.stars().next().is_some_and(|star| star == 0 || star == 1 && pattern.bytes[0] == b'/')
}

/// A stretch that tells more than the prefix.
fn better_stretch<'l>(pattern: &PathPattern<'l>, is_prefix_short: bool) -> Option<Stretch<'l>> {
    let is_better = |stretch: &Stretch<'l>| match is_prefix_short {
        true => stretch.is_cheap(),
        false => stretch.is_very_cheap(),
    };
    rarest(pattern).filter(is_better)
}

/// What a pattern needs behind a star.
#[derive(Clone, Copy)]
struct Stretch<'l> {
    bytes: &'l [u8],
    /// Whether the path ends behind it.
    is_whole: bool,
    pair: Pair,
    /// How much looking for it costs, in no unit.
    cost: u64,
}

/// Bytes of a stretch that tell it from most others.
const TELLING_BYTES: usize = 4;

impl<'l> Stretch<'l> {
    #[inline]
    fn new(bytes: &'l [u8], is_whole: bool) -> Stretch<'l> {
        let pair = Pair::of(bytes, is_whole);
        // Those of many patterns share one bucket, and a path has few places for them.
        let begins_segment = bytes.len() >= TELLING_BYTES && bytes[0] == b'/';
        let misses = match bytes.len() + usize::from(is_whole) {
            0..=2 => WALK_COST,
            3 => WALK_COST / 8,
            _ => WALK_COST / 32,
        };
        let cost = match begins_segment {
            true => 0,
            false => u64::from(pair.frequency()) * (LOOK_COST + misses),
        };
        Stretch { bytes, is_whole, pair, cost }
    }

    /// What is looked at of it.
    fn beginning(&self) -> Beginning {
        Beginning::new(self.bytes, self.is_whole)
    }

    /// Whether looking for it costs less than a short prefix does, with which many paths begin.
    fn is_cheap(&self) -> bool {
        self.cost <= COST_MAX
    }

    /// Whether looking for it costs less than a prefix of some bytes does.
    fn is_very_cheap(&self) -> bool {
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
fn rarest<'l>(pattern: &PathPattern<'l>) -> Option<Stretch<'l>> {
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

/// Stretches of a pattern that are compared: a pattern may have many thousand bytes.
const STRETCHES_MAX: usize = 64;

/// What looking for a stretch may cost so that it is better than a short prefix.
const COST_MAX: u64 = 1500;

/// What it takes to look at what a pair begins, and to walk if it is what was looked for: some
/// hundred instructions, and more than a thousand.
const LOOK_COST: u64 = 1;
const WALK_COST: u64 = 16;

/// What a pattern needs beside a prefix.
pub(super) struct Both {
    pub(super) place: u32,
    pub(super) prefix: Beginning,
    /// What is kept of the prefix and of the stretch behind it.
    pub(super) string: u64,
    /// What the stretch begins with.
    pub(super) pair: Pair,
}

/// The level to which stretches are cut. One is enough: a prefix stands beside them.
const LEVEL: usize = 3;
const _: () = assert!(LEVELS[LEVEL] as usize <= TELLING_BYTES);

/// Patterns that share a prefix, of which each is tried without a look at what else it needs.
const SHARED_PREFIX_MAX: usize = 2;

/// What is kept of a prefix and of a stretch with which `text` begins.
#[inline]
pub(super) fn string_of(prefix: u64, text: &[u8]) -> u64 {
    cut(first_bytes(text), LEVEL) ^ hash(prefix)
}

impl Both {
    /// What a pattern with this prefix needs; `None` if no literal behind a star is long enough. The first
    /// such literal is taken, from its first byte on: patterns that share a prefix often share how their
    /// literals begin, and few pairs are found fast.
    fn of((place, prefix, pattern): &(u32, Beginning, PathPattern<'_>)) -> Option<Both> {
        let literal = pattern.literals().skip(1).find(|literal| literal.len() >= TELLING_BYTES)?;
        let string = string_of(prefix.cut().1, literal);
        Some(Both { place: *place, prefix: *prefix, string, pair: Pair::of(literal, false) })
    }
}

/// Takes those out of patterns with a prefix and a star that need both, and returns what they need, equal
/// prefixes side by side. The others need their prefix alone.
fn take_needs(starred: &mut Vec<(u32, Beginning, PathPattern<'_>)>) -> Vec<Both> {
    let cut = |(_, prefix, _): &(u32, Beginning, PathPattern<'_>)| prefix.cut();
    starred.sort_by_key(cut);
    let of_prefix = starred.chunk_by(|one, other| cut(one) == cut(other));
    let levels = of_prefix.filter(|it| it.len() > SHARED_PREFIX_MAX);
    let levels = levels.fold(0, |levels, it| levels | cut(&it[0]).0);
    let mut needs = Vec::new();
    starred.retain(|it| {
        let both = if cut(it).0 & levels != 0 { Both::of(it) } else { None };
        let is_alone = both.is_none();
        needs.extend(both);
        is_alone
    });
    needs
}
