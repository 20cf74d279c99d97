//! Bloom filters: sets of strings with false positives and without false negatives.
//!
//! All three bits of a member are in one 64-bit word, which holds three members; about 0.3 % of
//! other strings are false positives. Strings of many lengths are cut to one of eight *levels*, so
//! a lookup needs one hash per level.

use zerocopy::little_endian::U64;

use crate::bytes::first_bytes;

/// The lengths to which strings are cut, each to the largest that fits. One byte more says much
/// about a short string and little about a long one.
pub(crate) const LEVELS: [u8; 8] = [1, 2, 3, 4, 6, 8, 12, 16];

/// The first bytes of a prefix or literal.
#[derive(Clone, Copy)]
pub(crate) struct Key {
    bytes: u128,
    length: u8,
}

impl Key {
    /// Returns the key of `bytes`, followed by the end of the path if `is_whole`: paths are padded
    /// with zeros.
    pub(crate) fn new(bytes: &[u8], is_whole: bool) -> Key {
        let length = (bytes.len() + usize::from(is_whole)).min(size_of::<u128>());
        Key { bytes: first_bytes(bytes), length: length as u8 }
    }

    /// Returns the bit of its level, and a number for the bytes at that level.
    pub(crate) fn cut(self) -> (u8, u64) {
        let fits = |&level: &usize| LEVELS[level] <= self.length;
        let level = (0..LEVELS.len()).rev().find(fits).unwrap_or(0);
        (1 << level, cut(self.bytes, level))
    }

    /// Returns the first four bytes.
    pub(crate) fn start(self) -> u32 {
        self.bytes as u32
    }

    /// Returns the number of bytes, at most sixteen.
    pub(crate) fn length(self) -> u8 {
        self.length
    }
}

/// Returns the number of words of a filter with so many members.
pub(crate) fn words_for(members: usize) -> usize {
    const MEMBERS_PER_WORD: usize = 3;
    members.div_ceil(MEMBERS_PER_WORD)
}

/// Adds a string to a filter.
pub(crate) fn insert(words: &mut [U64], string: u64) {
    let (word, bits) = place(string, words.len());
    words[word] |= U64::new(bits);
}

/// Returns whether a filter may have a string; `None` if it has no words.
#[inline]
pub(crate) fn has(words: &[U64], string: u64) -> Option<bool> {
    let (word, bits) = place(string, words.len());
    Some(words.get(word)?.get() & bits == bits)
}

/// Returns a number for the first bytes at a level.
#[inline]
pub(crate) fn cut(bytes: u128, level: usize) -> u64 {
    let kept = bytes & MASKS[level % LEVELS.len()];
    kept as u64 ^ ((kept >> 64) as u64).wrapping_mul(HIGH_FACTOR)
}

/// By level: the mask of its bytes.
pub(crate) const MASKS: [u128; LEVELS.len()] = {
    let mut masks = [0; LEVELS.len()];
    let mut level = 0;
    while level < LEVELS.len() {
        masks[level] = u128::MAX >> (128 - 8 * LEVELS[level] as u32);
        level += 1;
    }
    masks
};

/// Odd factors without a pattern.
pub(crate) const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
pub(crate) const HIGH_FACTOR: u64 = 0xc2b2_ae3d_27d4_eb4f;

/// Returns a hash whose high bits depend on all of `string`. Each seed has its own factor, so
/// strings that share a bucket of an index under one seed are spread under another.
#[inline]
pub(crate) fn hash(string: u64, seed: u32) -> u64 {
    /// Even, so that factors are odd.
    const STEP: u64 = 0xa36a_9465_a325_da06;
    let hash = string.wrapping_mul(FACTOR.wrapping_add(u64::from(seed).wrapping_mul(STEP)));
    hash ^ hash >> 29
}

/// Returns the place of a hash among `count` ones.
#[inline]
pub(crate) fn share(hash: u64, count: usize) -> usize {
    (((hash >> 32) * count as u64) >> 32) as usize
}

/// The positions in a hash of the numbers of a string's bits.
pub(crate) const SHIFTS: [u32; 3] = [0, 6, 12];

/// Returns the word of a string and its bits there.
#[inline]
fn place(string: u64, words: usize) -> (usize, u64) {
    let hash = hash(string, 0);
    let bit = |shift: u32| 1 << (hash >> shift & 63);
    (share(hash, words), bit(SHIFTS[0]) | bit(SHIFTS[1]) | bit(SHIFTS[2]))
}
