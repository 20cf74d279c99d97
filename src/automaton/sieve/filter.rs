//! Sets of strings that may take a stranger for a member, and never a member for a stranger.
//!
//! It is the filter that Bloom described (1970), with the three bits of a member in one word. A word is for
//! three members, and takes a stranger for one in three of a thousand cases or so. Strings of different
//! lengths are cut to the same one, or to one of some *levels*.

use zerocopy::little_endian::U64;

use crate::automaton::chunk::{bits, first_octets};

/// Lengths to which a leveled filter cuts strings, each to the next one below its own. An octet more tells much
/// of a short string, and little of a long one.
const LEVELS: [u8; 6] = [1, 2, 3, 4, 8, 16];

/// Octets of a string that are looked at.
const OCTETS_MAX: usize = 16;

/// Members for each word.
const MEMBERS_PER_WORD: usize = 3;

/// The beginning of a stretch of a path.
#[derive(Clone, Copy)]
pub(super) struct Beginning {
    octets: u128,
    length: u8,
}

impl Beginning {
    /// The beginning of stretches that begin with `octets`, and end the path behind them if
    /// `is_whole`: behind a path's end stand zeros.
    pub(super) fn new(octets: &[u8], is_whole: bool) -> Beginning {
        let length = (octets.len() + usize::from(is_whole)).min(OCTETS_MAX);
        Beginning { octets: first_octets(octets), length: length as u8 }
    }
}

/// Words of a filter with so many members.
pub(super) fn words_for(members: usize) -> usize {
    members.div_ceil(MEMBERS_PER_WORD)
}

/// Fills a filter with the first octets of some strings, `length_max` or as many as the shortest
/// has, and tells how many.
pub(super) fn fill(strings: &[(u32, Beginning)], length_max: u8, words: &mut [U64]) -> u8 {
    let shortest = strings.iter().map(|(_, string)| string.length).min();
    let length = shortest.unwrap_or(0).min(length_max);
    strings.iter().for_each(|(_, string)| insert(words, string.octets as u64 & kept(length)));
    length
}

/// Whether a filter of [`fill`] may have the beginning of `octets`; nothing if it has no words.
#[inline]
pub(super) fn may_have(words: &[U64], octets: u64, length: u8) -> Option<bool> {
    has(words, octets & kept(length))
}

impl Beginning {
    /// The level to which it is cut if no more than `length_max` octets are kept.
    fn level(self, length_max: u8) -> usize {
        let length = self.length.min(length_max);
        (0..LEVELS.len()).rev().find(|&level| LEVELS[level] <= length).unwrap_or(0)
    }

    /// The bit of that level, and what is kept.
    pub(super) fn cut(self, length_max: u8) -> (u8, u64) {
        let level = self.level(length_max);
        (1 << level, cut(self.octets, LEVELS[level]))
    }
}

/// What is kept of `octets` at each of `levels`.
#[inline]
pub(super) fn cuts(octets: u128, levels: u8) -> impl Iterator<Item = u64> {
    bits(levels.into()).map(move |level| cut(octets, LEVELS[level]))
}

/// Adds what is kept of a string to a filter.
pub(super) fn insert(words: &mut [U64], string: u64) {
    let (word, bits) = place(string, words.len());
    words[word] |= U64::new(bits);
}

/// Whether a filter may have a beginning of `octets` at one of `levels`; nothing if it has no words.
#[inline]
pub(super) fn may_have_leveled(words: &[U64], octets: u128, levels: u8) -> Option<bool> {
    let mut found = false;
    for level in bits(levels.into()) {
        found |= has(words, cut(octets, LEVELS[level]))?;
    }
    Some(found)
}

/// As [`may_have_leveled`], for levels of no more than eight octets.
#[inline]
pub(super) fn may_have_short(words: &[U64], octets: u64, levels: u8) -> Option<bool> {
    let mut found = false;
    for level in bits(levels.into()) {
        found |= has(words, octets & kept(LEVELS[level]))?;
    }
    Some(found)
}

/// A number for the first octets, so many of them.
#[inline]
fn cut(octets: u128, length: u8) -> u64 {
    let (low, high) = (octets as u64, (octets >> 64) as u64);
    let high = high & kept(length.saturating_sub(8));
    (low & kept(length)) ^ high.wrapping_mul(0xc2b2_ae3d_27d4_eb4f)
}

/// The bits of so many octets, eight at most.
#[inline]
fn kept(length: u8) -> u64 {
    const KEPT: [u64; 8] = {
        let mut kept = [0; 8];
        let mut length = 1;
        while length < 8 {
            kept[length] = u64::MAX >> (64 - 8 * length);
            length += 1;
        }
        kept
    };
    KEPT.get(usize::from(length)).copied().unwrap_or(u64::MAX)
}

#[inline]
fn has(words: &[U64], string: u64) -> Option<bool> {
    let (word, bits) = place(string, words.len());
    Some(words.get(word)?.get() & bits == bits)
}

/// The high bits depend on all of a string.
#[inline]
pub(super) fn hash(string: u64) -> u64 {
    // An odd number without a pattern.
    let hash = string.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    hash ^ hash >> 29
}

/// The word of a string and its bits there.
#[inline]
fn place(string: u64, words: usize) -> (usize, u64) {
    let hash = hash(string);
    let word = ((hash >> 32) * words as u64) >> 32;
    let bit = |shift: u32| 1 << (hash >> shift & 63);
    (word as usize, bit(0) | bit(6) | bit(12))
}
