//! Patterns that need a prefix and a stretch behind it.
//!
//! Where many patterns share a prefix, the prefix does not tell which of them may match: of 100,000 rules such
//! as `/shop/*item-123` a path would have a hundred candidates. So such patterns are in the index under the
//! prefix and a stretch together, and the stretch is only looked for where the prefix was found. All patterns
//! whose prefixes are cut to the same length go the same way, so that the length tells what to look for.

use crate::automaton::chunk::first_octets;
use crate::pattern::PathPattern;

use super::filter::{self, Beginning, LEVELS};
use super::pairs::Pair;
use super::stretch::TELLING_OCTETS;

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
const _: () = assert!(LEVELS[LEVEL] as usize <= TELLING_OCTETS);

/// Patterns that share a prefix, of which each is tried without a look at what else it needs.
const SHARED_PREFIX_MAX: usize = 2;

/// What is kept of a prefix and of a stretch with which `text` begins.
#[inline]
pub(super) fn string_of(prefix: u64, text: &[u8]) -> u64 {
    filter::cut(first_octets(text), LEVEL) ^ filter::hash(prefix)
}

impl Both {
    /// What a pattern with this prefix needs; `None` if no literal behind a star is long enough. The first
    /// such literal is taken, from its first byte on: patterns that share a prefix often share how their
    /// literals begin, and few pairs are found fast.
    fn of((place, prefix, pattern): &(u32, Beginning, PathPattern<'_>)) -> Option<Both> {
        let literal = pattern.literals().skip(1).find(|literal| literal.len() >= TELLING_OCTETS)?;
        let string = string_of(prefix.cut().1, literal);
        Some(Both { place: *place, prefix: *prefix, string, pair: Pair::of(literal, false) })
    }
}

/// Takes those out of patterns with a prefix and a star that need both, and returns what they need, equal
/// prefixes side by side. The others need their prefix alone.
pub(super) fn take_needs(starred: &mut Vec<(u32, Beginning, PathPattern<'_>)>) -> Vec<Both> {
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
