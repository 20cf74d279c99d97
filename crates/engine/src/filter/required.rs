//! The string that a pattern requires of a path: a prefix, or a literal after a star.
//!
//! The choice never changes an answer, only how many paths have to be examined further.

use crate::limits::CANDIDATES_TRIED_MAX;
use crate::pattern::{Pattern, PatternList};

use super::bloom::Key;
use super::teddy::Triple;

/// The requirements of the patterns of a rule set. A `u32` is the position of a pattern.
#[derive(Default)]
pub(super) struct Required {
    /// Prefixes of the path after its first `/`.
    pub(super) prefixes: Vec<(u32, Key)>,
    /// Literals anywhere in the path.
    pub(super) literals: Vec<(u32, Key)>,
    /// The byte triples at the start of `literals`.
    pub(super) triples: Vec<Triple>,
    /// The first pattern that matches every path. Later patterns never decide and require nothing.
    pub(super) all: Option<u32>,
}

impl Required {
    /// Chooses what each pattern requires of paths that start with `/`.
    pub(super) fn of(patterns: &PatternList) -> Required {
        let patterns: &[Pattern<'_>] = &patterns.iter().collect::<Vec<_>>();
        let prefixes = Vec::with_capacity(patterns.len());
        let mut required = Required { prefixes, ..Required::default() };
        let crowded = crowded_prefixes(patterns);
        let is_crowded =
            |prefix: &[u8]| crowded.binary_search(&Key::new(prefix, false).cut()).is_ok();
        let needs_literal = |pattern: &Pattern<'_>| {
            pattern.has_stars()
                && (matches!(pattern.prefix(), b"" | b"/")
                    || pattern.prefix().strip_prefix(b"/").is_some_and(is_crowded))
        };
        // If paths are searched for literals anyway, a rare literal is better than a prefix.
        let has_literals = patterns.iter().any(needs_literal);
        for (place, pattern) in (0_u32..).zip(patterns) {
            if pattern.matches_all() {
                required.all = Some(place);
                break;
            }
            let cost_max = if needs_literal(pattern) { u64::MAX } else { COST_MAX };
            let literal = if has_literals && pattern.has_stars() { rarest(pattern) } else { None };
            if let Some(literal) = literal.filter(|it| it.cost <= cost_max) {
                required.triples.push(Triple::of(literal.bytes, literal.is_whole));
                required.literals.push((place, Key::new(literal.bytes, literal.is_whole)));
            } else if let Some(prefix) = pattern.prefix().strip_prefix(b"/") {
                let is_whole = !pattern.has_stars() && pattern.is_anchored();
                required.prefixes.push((place, Key::new(prefix, is_whole)));
            }
        }
        required
    }
}

/// Patterns with stars that may require the same prefix.
///
/// Source: with more, each path that has the prefix has too many candidates, and a scan of the whole
/// rule set decides it.
pub(super) const SHARED_PREFIX_MAX: usize = CANDIDATES_TRIED_MAX;

/// Returns the keys of prefixes that too many patterns with stars share, sorted.
fn crowded_prefixes(patterns: &[Pattern<'_>]) -> Vec<(u8, u64)> {
    let with_stars = patterns.iter().filter(|pattern| pattern.has_stars());
    if with_stars.clone().count() <= SHARED_PREFIX_MAX {
        return Vec::new();
    }
    let prefixes = with_stars.filter_map(|pattern| pattern.prefix().strip_prefix(b"/"));
    let prefixes = prefixes.filter(|prefix| !prefix.is_empty());
    let mut keys: Vec<_> = prefixes.map(|prefix| Key::new(prefix, false).cut()).collect();
    keys.sort_unstable();
    let shared = keys.chunk_by(|key, next| key == next);
    shared.filter(|equal| equal.len() > SHARED_PREFIX_MAX).map(|equal| equal[0]).collect()
}

/// A literal after a star, or a suffix of one.
#[derive(Clone, Copy)]
struct RequiredLiteral<'l> {
    bytes: &'l [u8],
    /// Whether the path ends with it.
    is_whole: bool,
    /// The relative cost of searching for it.
    cost: u64,
}

/// The length from which a literal is selective.
const SELECTIVE_BYTES: usize = 4;

/// The relative cost of a literal that is better than a prefix.
const COST_MAX: u64 = 1500;

/// The relative costs of a lookup where a triple occurs, about a hundred instructions, and of the
/// walk if the lookup is a false positive, more than a thousand.
const LOOKUP_COST: u64 = 1;
const WALK_COST: u64 = 16;

/// How many times cheaper a later suffix has to be: one that begins earlier is longer, so it has fewer
/// false positives, and patterns that begin alike have fewer triples.
///
/// Source: measured; 2 is as good on real rule sets, 1 costs 3 % more instructions.
const RARER: u64 = 3;

/// Suffixes of a pattern's literals that are compared: a pattern may have thousands of bytes.
const SUFFIXES_MAX: usize = 64;

/// Returns the cost of a literal, which ends the path if it `is_whole`.
#[inline(always)]
fn cost_of(bytes: &[u8], is_whole: bool) -> u64 {
    // Path segments share one bucket for many patterns, and a path has few of them.
    if bytes.len() >= SELECTIVE_BYTES && bytes[0] == b'/' {
        return 0;
    }
    let false_positives = match bytes.len() + usize::from(is_whole) {
        0..=2 => WALK_COST,
        3 => WALK_COST / 8,
        _ => WALK_COST / 32,
    };
    u64::from(Triple::of(bytes, is_whole).frequency()) * (LOOKUP_COST + false_positives)
}

/// Returns a literal after a star, or a suffix of one, of low cost; `None` if there is no star.
fn rarest<'l>(pattern: &Pattern<'l>) -> Option<RequiredLiteral<'l>> {
    let mut best: Option<RequiredLiteral<'l>> = None;
    let mut left = SUFFIXES_MAX;
    let mut literals = pattern.literals().skip(1).peekable();
    while let Some(bytes) = literals.next() {
        let is_whole = pattern.is_anchored() && literals.peek().is_none();
        let starts = bytes.len().min(left);
        for start in 0..starts {
            let bytes = &bytes[start..];
            let cost = cost_of(bytes, is_whole);
            // The last of several path segments: sites have more pages below the others.
            if best.is_none_or(|best| cost == 0 || cost * RARER < best.cost) {
                best = Some(RequiredLiteral { bytes, is_whole, cost });
                if cost == 0 {
                    break;
                }
            }
        }
        left -= starts;
        if left == 0 {
            break;
        }
    }
    best
}
