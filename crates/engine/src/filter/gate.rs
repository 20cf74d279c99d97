//! Tests of the first bytes of a text, at most four, that precede a lookup at all levels.
//!
//! How many bytes are tested depends on the *class* of the first one: as many as all strings have that begin with a
//! byte of this class. So a short string such as `?` weakens no test of texts that begin with `/`.

use zerocopy::little_endian::U64;

use crate::bytes::first_bytes;

use super::bloom::{Key, has};

/// The number of classes: the class of a byte is its lowest three bits.
pub(crate) const CLASSES: u32 = 8;

/// The most bytes that are tested: fewer reject fewer texts.
const BYTES_MAX: u8 = 4;

/// For each class two bits: how many bytes fewer than four are tested.
#[derive(Clone, Copy)]
pub(crate) struct Fewer(pub(crate) u16);

impl Fewer {
    /// Returns the numbers for some strings.
    pub(super) fn of(keys: impl Iterator<Item = Key>) -> Fewer {
        keys.fold(Fewer(0), |Fewer(all), key| {
            let (shift, fewer) = (shift(key.start()), BYTES_MAX - key.length().clamp(1, BYTES_MAX));
            Fewer(all & !(3 << shift) | (all >> shift & 3).max(fewer.into()) << shift)
        })
    }

    /// Returns a number for the bytes of a text that are tested, from its first four.
    #[inline(always)]
    pub(crate) fn tested(self, start: u32) -> u64 {
        let fewer = u32::from(self.0) >> shift(start) & 3;
        u64::from(start << (8 * fewer))
    }
}

#[inline(always)]
fn shift(start: u32) -> u32 {
    2 * (start % CLASSES)
}

/// The gate of literals, which rejects four of five places where their triples may occur. The filter of strings
/// also has what it tests, inverted: otherwise that would be found at a level.
#[derive(Clone, Copy)]
pub(crate) struct Gate<'l> {
    pub(crate) filter: &'l [U64],
    pub(crate) fewer: Fewer,
}

impl Gate<'_> {
    /// Returns the member of the filter for a text that begins with these four bytes.
    #[inline(always)]
    pub(super) fn member(fewer: Fewer, start: u32) -> u64 {
        !fewer.tested(start)
    }

    /// Returns whether a text may begin with a literal. It may if there is no filter, in damaged lines.
    #[inline(always)]
    pub(super) fn passes(self, text: &[u8]) -> bool {
        let start = match text.first_chunk() {
            Some(chunk) => u32::from_le_bytes(*chunk),
            None => first_bytes(text) as u32,
        };
        has(self.filter, Gate::member(self.fewer, start)).unwrap_or(true)
    }
}
