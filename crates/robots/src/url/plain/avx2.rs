//! Chunks in 32-byte vectors. A shuffle looks up sixteen bytes, so the classes of a byte are those
//! that its two halves share.

#![allow(unsafe_code, reason = "calls vector instructions")]

use std::arch::x86_64::*;

use portcullis_dialect::dialect::Escapes;
use portcullis_engine::vectors::Avx2;

use super::{Chunks, Treatment, WIDTH, treatment};

/// A set of bytes: for the lower half of a byte the rows of the set that have it, a bit for each, and
/// for the upper half the bit of its row. Equal rows share a bit.
struct ByteSet {
    lower: [u8; 16],
    upper: [u8; 16],
}

impl ByteSet {
    const fn new(set: &[bool; 256]) -> ByteSet {
        let (mut lower, mut upper) = ([0; 16], [0; 16]);
        let (mut rows, mut used) = ([0_u16; 8], 0);
        let mut half = 0;
        while half < 16 {
            let mut row = 0;
            let mut place = 0;
            while place < 16 {
                row |= (set[half << 4 | place] as u16) << place;
                place += 1;
            }
            let mut bit = 0;
            while bit < used && rows[bit] != row {
                bit += 1;
            }
            if bit == used && row != 0 {
                // A set with more than eight different rows does not compile.
                rows[bit] = row;
                used += 1;
                place = 0;
                while place < 16 {
                    lower[place] |= ((row >> place & 1) as u8) << bit;
                    place += 1;
                }
            }
            if row != 0 {
                upper[half] = 1 << bit;
            }
            half += 1;
        }
        ByteSet { lower, upper }
    }

    /// The bytes that need no change in a host.
    const NAMES: ByteSet = {
        let mut set = [false; 256];
        let mut byte = 0;
        while byte < 256 {
            set[byte] = matches!(byte as u8, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_');
            byte += 1;
        }
        ByteSet::new(&set)
    };

    /// The bytes that end a path or might change, and those that no URL has.
    const fn changed(escapes: Escapes) -> ByteSet {
        let mut set = [false; 256];
        let mut byte = 0;
        while byte < 256 {
            set[byte] = is_changed(byte as u8, escapes);
            byte += 1;
        }
        ByteSet::new(&set)
    }

    /// The bytes of usual URLs: those that are in none of the sets above. None is outside ASCII. The lowest bit is
    /// that of the dot, and its alone.
    const USUAL: ByteSet = {
        let mut set = [false; 256];
        let mut byte = 0;
        while byte < 256 {
            // This form changes the most bytes.
            set[byte] = !is_changed(byte as u8, Escapes::Uri) && byte as u8 != b'.';
            byte += 1;
        }
        let ByteSet { mut lower, mut upper } = ByteSet::new(&set);
        let mut half = 0;
        while half < 16 {
            // The highest bit is that of a sign.
            assert!(lower[half] < 1 << 6 && upper[half] < 1 << 6);
            (lower[half], upper[half]) = (lower[half] << 1, upper[half] << 1);
            half += 1;
        }
        lower[(b'.' & 15) as usize] |= 1;
        upper[(b'.' >> 4) as usize] |= 1;
        ByteSet { lower, upper }
    };

    fn from_changed(escapes: Escapes) -> &'static ByteSet {
        match escapes {
            Escapes::AsWritten => const { &ByteSet::changed(Escapes::AsWritten) },
            Escapes::Decoded => const { &ByteSet::changed(Escapes::Decoded) },
            Escapes::Google => const { &ByteSet::changed(Escapes::Google) },
            Escapes::Uri => const { &ByteSet::changed(Escapes::Uri) },
        }
    }
}

/// Returns whether a byte ends a path or might change, or no URL has it.
const fn is_changed(byte: u8, escapes: Escapes) -> bool {
    let is_end = matches!(byte, b'#' | b'\\' | b'\'' | b'%' | 0..=b' ');
    is_end || !matches!(treatment(byte, escapes), Treatment::Keep)
}

/// The rows of a [`ByteSet`].
#[derive(Clone, Copy)]
pub(super) struct Rows {
    lower: __m256i,
    upper: __m256i,
}

// SAFETY of each call below: the target features are the only requirement, and a value of `Avx2`
// proves them.
impl Chunks for Avx2 {
    type Chunk = __m256i;
    type Changed = Rows;

    const FINDS_UNUSUAL: bool = true;

    #[inline(always)]
    fn load(self, bytes: &[u8; WIDTH]) -> __m256i {
        // SAFETY: both types are 32 bytes, and any bytes are valid.
        unsafe { std::mem::transmute(*bytes) }
    }

    #[inline(always)]
    fn same(self, one: __m256i, other: __m256i) -> u32 {
        // SAFETY: as above.
        unsafe { same(one, other) }
    }

    #[inline(always)]
    fn within(self, chunk: __m256i, first: u8, last: u8) -> u32 {
        // SAFETY: as above.
        unsafe { within(chunk, first, last) }
    }

    #[inline(always)]
    fn names(self, chunk: __m256i) -> u32 {
        // SAFETY: as above.
        self.marked(unsafe { mark(rows(&ByteSet::NAMES), chunk) })
    }

    #[inline(always)]
    fn changed_by(self, escapes: Escapes) -> Rows {
        // SAFETY: as above.
        unsafe { rows(ByteSet::from_changed(escapes)) }
    }

    #[inline(always)]
    fn mark_changed(self, changed: Rows, chunk: __m256i) -> __m256i {
        // SAFETY: as above.
        unsafe { mark(changed, chunk) }
    }

    #[inline(always)]
    fn pairs(self, before: __m256i, chunk: __m256i) -> __m256i {
        // SAFETY: as above.
        unsafe { pairs(before, chunk) }
    }

    #[inline(always)]
    fn and(self, one: __m256i, other: __m256i) -> __m256i {
        // SAFETY: as above.
        unsafe { _mm256_and_si256(one, other) }
    }

    #[inline(always)]
    fn bytes(self, chunk: __m256i) -> [u8; WIDTH] {
        // SAFETY: both types are 32 bytes, and any bytes are valid.
        unsafe { std::mem::transmute(chunk) }
    }

    #[inline(always)]
    fn or(self, one: __m256i, other: __m256i) -> __m256i {
        // SAFETY: as above.
        unsafe { _mm256_or_si256(one, other) }
    }

    /// Marks are bytes that are not zero.
    #[inline(always)]
    fn marked(self, marks: __m256i) -> u32 {
        // SAFETY: as above.
        unsafe { !same(marks, _mm256_setzero_si256()) }
    }
}

/// Returns the bytes of usual URLs, for [`unusual`].
#[inline(always)]
pub(super) fn usual(_: Avx2) -> Rows {
    // SAFETY: as above.
    unsafe { rows(&ByteSet::USUAL) }
}

/// Returns a mask of the bytes of `chunk` that are not usual, and dots after slashes in `before`, which begins
/// one byte earlier.
#[inline(always)]
pub(super) fn unusual(_: Avx2, usual: Rows, before: __m256i, chunk: __m256i) -> u32 {
    // SAFETY: as above.
    unsafe { mark_unusual(usual, before, chunk) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn mark_unusual(Rows { lower, upper }: Rows, before: __m256i, chunk: __m256i) -> u32 {
    // A shuffle takes the lower half of a byte in ASCII, and nothing for others.
    let of_lower = _mm256_shuffle_epi8(lower, chunk);
    let high = _mm256_and_si256(_mm256_srli_epi16::<4>(chunk), _mm256_set1_epi8(15));
    let usual = _mm256_and_si256(of_lower, _mm256_shuffle_epi8(upper, high));
    let all = |byte: i8| _mm256_set1_epi8(byte);
    // A dot is 1, other usual bytes are more, and unusual ones 0. After a slash, each is one less.
    let left = _mm256_add_epi8(usual, _mm256_cmpeq_epi8(before, all(b'/'.cast_signed())));
    _mm256_movemask_epi8(_mm256_add_epi8(left, all(-1))).cast_unsigned()
}

#[inline]
#[target_feature(enable = "avx2")]
fn same(one: __m256i, other: __m256i) -> u32 {
    _mm256_movemask_epi8(_mm256_cmpeq_epi8(one, other)).cast_unsigned()
}

#[inline]
#[target_feature(enable = "avx2")]
fn pairs(before: __m256i, chunk: __m256i) -> __m256i {
    let is = |chunk, byte: u8| _mm256_cmpeq_epi8(chunk, _mm256_set1_epi8(byte.cast_signed()));
    _mm256_and_si256(is(before, b'/'), is(chunk, b'.'))
}

#[inline]
#[target_feature(enable = "avx2")]
fn within(chunk: __m256i, first: u8, last: u8) -> u32 {
    let all = |byte: u8| _mm256_set1_epi8(byte.cast_signed());
    let above = _mm256_sub_epi8(chunk, all(first));
    same(_mm256_min_epu8(above, all(last - first)), above)
}

#[inline]
#[target_feature(enable = "avx2")]
fn rows(set: &ByteSet) -> Rows {
    let row = |bytes: [u8; 16]| {
        // SAFETY: both types are sixteen bytes, and any bytes are valid.
        let row: __m128i = unsafe { std::mem::transmute(bytes) };
        _mm256_broadcastsi128_si256(row)
    };
    Rows { lower: row(set.lower), upper: row(set.upper) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn mark(Rows { lower, upper }: Rows, chunk: __m256i) -> __m256i {
    let half = _mm256_set1_epi8(15);
    let of_lower = _mm256_shuffle_epi8(lower, _mm256_and_si256(chunk, half));
    let high = _mm256_and_si256(_mm256_srli_epi16::<4>(chunk), half);
    _mm256_and_si256(of_lower, _mm256_shuffle_epi8(upper, high))
}
