//! Sets of strings that may take a stranger for a member, and never a member for a stranger.
//!
//! It is the filter that Bloom described (1970), with the three bits of a member in one word. A word is for
//! three members, and takes a stranger for one in three of a thousand cases or so. Strings of different
//! lengths are cut to the same one, or to one of some *levels*.

use zerocopy::little_endian::U64;

use crate::automaton::chunk::{bits, first_bytes};

/// Lengths to which a leveled filter cuts strings, each to the next one below its own. A byte more tells much
/// of a short string, and little of a long one.
pub(super) const LEVELS: [u8; 8] = [1, 2, 3, 4, 6, 8, 12, 16];

/// Bytes of a string that are looked at.
const BYTES_MAX: usize = 16;

/// Members for each word.
const MEMBERS_PER_WORD: usize = 3;

/// The beginning of a stretch of a path.
#[derive(Clone, Copy)]
pub(super) struct Beginning {
    bytes: u128,
    length: u8,
}

impl Beginning {
    /// The beginning of stretches that begin with `bytes`, and end the path behind them if
    /// `is_whole`: behind a path's end stand zeros.
    pub(super) fn new(bytes: &[u8], is_whole: bool) -> Beginning {
        let length = (bytes.len() + usize::from(is_whole)).min(BYTES_MAX);
        Beginning { bytes: first_bytes(bytes), length: length as u8 }
    }
}

/// Words of a filter with so many members.
pub(super) fn words_for(members: usize) -> usize {
    members.div_ceil(MEMBERS_PER_WORD)
}

/// Bytes of the shortest of some strings, `length_max` at most, as bits that are kept.
pub(super) fn kept_of_all(strings: impl Iterator<Item = Beginning>, length_max: u8) -> u64 {
    let shortest = strings.map(|string| string.length).min();
    kept(shortest.unwrap_or(0).min(length_max))
}

/// Adds the bits of strings that are kept to a filter.
pub(super) fn fill(strings: impl Iterator<Item = Beginning>, kept: u64, words: &mut [U64]) {
    strings.for_each(|string| insert(words, string.bytes as u64 & kept));
}

impl Beginning {
    /// The bit of the level to which it is cut, and what is kept.
    pub(super) fn cut(self) -> (u8, u64) {
        let is_within = |&level: &usize| LEVELS[level] <= self.length;
        let level = (0..LEVELS.len()).rev().find(is_within).unwrap_or(0);
        (1 << level, cut(self.bytes, level))
    }
}

/// What is kept of `bytes` at each of `levels`.
#[inline]
pub(super) fn cuts(bytes: u128, levels: u8) -> impl Iterator<Item = u64> {
    bits(levels.into()).map(move |level| cut(bytes, level))
}

/// Adds what is kept of a string to a filter.
pub(super) fn insert(words: &mut [U64], string: u64) {
    let (word, bits) = place(string, words.len());
    words[word] |= U64::new(bits);
}

/// At which of `levels` a filter may have a beginning of `bytes`; nothing if it has no words.
#[inline]
pub(super) fn levels_of(words: &[U64], bytes: u128, levels: u8) -> Option<u8> {
    let mut found = 0;
    for level in bits(levels.into()) {
        found |= u8::from(has(words, cut(bytes, level))?) << level;
    }
    Some(found)
}

/// By level, the bits of the first sixteen bytes that are kept.
pub(super) const KEPT: Kept = {
    let mut bytes = [0; LEVELS.len()];
    let mut level = 0;
    while level < LEVELS.len() {
        bytes[level] = u128::MAX >> (128 - 8 * LEVELS[level] as u32);
        level += 1;
    }
    Kept(bytes)
};

pub(super) struct Kept([u128; LEVELS.len()]);

#[cfg(target_arch = "x86_64")]
impl Kept {
    /// Of the first eight bytes.
    pub(super) const fn low(&self) -> [u64; LEVELS.len()] {
        self.part(0)
    }

    /// Of the eight behind them.
    pub(super) const fn high(&self) -> [u64; LEVELS.len()] {
        self.part(64)
    }

    const fn part(&self, shift: u32) -> [u64; LEVELS.len()] {
        let mut part = [0; LEVELS.len()];
        let mut level = 0;
        while level < part.len() {
            part[level] = (self.0[level] >> shift) as u64;
            level += 1;
        }
        part
    }
}

/// Odd numbers without a pattern.
pub(super) const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
pub(super) const HIGH_FACTOR: u64 = 0xc2b2_ae3d_27d4_eb4f;

/// A number for the first bytes that are kept at a level.
#[inline]
pub(super) fn cut(bytes: u128, level: usize) -> u64 {
    let kept = bytes & KEPT.0[level % LEVELS.len()];
    kept as u64 ^ ((kept >> 64) as u64).wrapping_mul(HIGH_FACTOR)
}

/// The bits of so many bytes, eight at most.
fn kept(length: u8) -> u64 {
    u64::MAX.checked_shr(64 - 8 * u32::from(length)).unwrap_or(0)
}

#[inline]
pub(super) fn has(words: &[U64], string: u64) -> Option<bool> {
    let (word, bits) = place(string, words.len());
    Some(words.get(word)?.get() & bits == bits)
}

/// The high bits depend on all of a string.
#[inline]
pub(super) fn hash(string: u64) -> u64 {
    let hash = string.wrapping_mul(FACTOR);
    hash ^ hash >> 29
}

/// Where in a hash the bits of a string are told.
pub(super) const SHIFTS: [u32; 3] = [0, 6, 12];

/// The word of a string and its bits there.
#[inline]
fn place(string: u64, words: usize) -> (usize, u64) {
    let hash = hash(string);
    let word = ((hash >> 32) * words as u64) >> 32;
    let bit = |shift: u32| 1 << (hash >> shift & 63);
    (word as usize, bit(SHIFTS[0]) | bit(SHIFTS[1]) | bit(SHIFTS[2]))
}
