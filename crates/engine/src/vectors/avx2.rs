//! The kernels with 32-byte vectors.

#![allow(unsafe_code, reason = "calls vector instructions")]

use std::arch::x86_64::*;

use zerocopy::IntoBytes;
use zerocopy::little_endian::U64;

use crate::bytes::{CHUNK_BYTES, LINE_WORDS, Line, first_bytes, short_chunk};
use crate::filter::bloom::{FACTOR, HIGH_FACTOR, MASKS, SHIFTS};
use crate::filter::gate::CLASSES;
use crate::filter::head::{FIRST_LINES_MAX, HEAD_WORDS, Open, OpenQuery, beginning};
use crate::outcome::{OPAQUE, Outcome};

use super::portable::WINDOW;
use super::{FOUR, Four, Kernels, Portable, Probed, Work};

/// Proof of AVX2 and the bit-manipulation instructions; see [`Kind::avx2`](super::Kind::avx2).
#[derive(Clone, Copy, Debug)]
pub struct Avx2(());

impl Avx2 {
    pub(super) fn detect() -> Option<Avx2> {
        let is_there = !super::is_portable_forced()
            && is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt");
        is_there.then_some(Avx2(()))
    }

    #[inline]
    pub(super) fn run<W: Work>(self, work: W) -> W::Output {
        // SAFETY: the target features are the only requirement, and `self` proves them.
        unsafe { run(self, work) }
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn run<W: Work>(avx2: Avx2, work: W) -> W::Output {
    work.with(avx2)
}

impl Kernels for Avx2 {
    #[inline(always)]
    fn first_probes(self, lines: &[Line], queries: Four<'_>) -> Probed {
        // SAFETY: the target features are the only requirement, and `self` proves them.
        unsafe { first_probes_at_once(lines, queries) }
    }

    #[inline(always)]
    fn positions(self, line: &Line, path: &[u8], start: usize) -> u64 {
        // SAFETY: as above.
        unsafe { positions_by_32(line, path, start) }
    }

    #[inline(always)]
    fn levels_of(self, filter: &[U64], text: &[u8], levels: u8) -> Option<u8> {
        match filter {
            [] => None,
            // SAFETY: as above.
            _ => Some(unsafe { eight_levels_of(filter, text) } & levels),
        }
    }
}

/// Bytes of a vector.
const WIDTH: usize = 32;

/// Positions of a vector whose next two bytes are in the vector too.
const POSITIONS: usize = WINDOW / 2;
const _: () = assert!(POSITIONS == WIDTH - 2);

#[inline]
#[target_feature(enable = "avx2")]
fn positions_by_32(line: &Line, path: &[u8], start: usize) -> u64 {
    let row = |index: usize| {
        let bytes = line.as_bytes()[index * CHUNK_BYTES..].first_chunk();
        _mm256_broadcastsi128_si256(vector(bytes.expect("a line has four rows")))
    };
    let rows = [row(0), row(1), row(2), row(3)];
    let Some(last) = path.len().checked_sub(WIDTH) else {
        // Shorter than a window, so this is the first one.
        return u64::from(positions_of(rows, short_vector(path))) & ((1 << path.len()) - 1);
    };
    let found_at = |place: usize| {
        let bytes = path[place..].first_chunk().expect("a vector within the path");
        u64::from(positions_of(rows, wide_vector(bytes)))
    };
    if start >= last {
        return found_at(last) >> (start - last);
    }
    let second = last.min(start + POSITIONS);
    let found = found_at(start) & ((1 << POSITIONS) - 1) | found_at(second) << (second - start);
    found & ((1 << WINDOW) - 1)
}

#[inline]
fn vector(bytes: &[u8; CHUNK_BYTES]) -> __m128i {
    // SAFETY: both types are sixteen bytes, and any bytes are valid.
    unsafe { std::mem::transmute(*bytes) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn wide_vector(bytes: &[u8; WIDTH]) -> __m256i {
    // SAFETY: both types are 32 bytes, and any bytes are valid.
    unsafe { std::mem::transmute(*bytes) }
}

/// Returns a text shorter than a vector, padded with zeros.
#[inline]
#[target_feature(enable = "avx2")]
fn short_vector(text: &[u8]) -> __m256i {
    let (Some(low), Some(high)) = (text.first_chunk(), text.last_chunk()) else {
        return _mm256_zextsi128_si256(vector(&short_chunk(text)));
    };
    /// Numbers of the bytes of a chunk, then numbers of no byte.
    const SHIFTED: [u8; 2 * CHUNK_BYTES] = {
        let mut places = [0x80; 2 * CHUNK_BYTES];
        let mut place = 0;
        while place < CHUNK_BYTES {
            places[place] = place as u8;
            place += 1;
        }
        places
    };
    let shift = SHIFTED[(WIDTH - text.len()).min(CHUNK_BYTES)..].first_chunk();
    let shift = shift.expect("a chunk is after each place of the first");
    _mm256_set_m128i(_mm_shuffle_epi8(vector(high), vector(shift)), vector(low))
}

/// Returns a mask of the positions of a vector that match a bucket. Zeros are after its last byte.
#[inline]
#[target_feature(enable = "avx2")]
fn positions_of(rows: [__m256i; 4], bytes: __m256i) -> u32 {
    let every = |byte: u8| _mm256_set1_epi8(byte.cast_signed());
    // A shuffle takes the lower nibble of a byte below 128.
    let first = _mm256_and_si256(bytes, every(0x7f));
    let upper = _mm256_permute2x128_si256::<0x81>(first, first);
    let second = _mm256_alignr_epi8::<1>(upper, first);
    let third = _mm256_alignr_epi8::<2>(upper, first);
    let classes = _mm256_or_si256(
        _mm256_and_si256(_mm256_srli_epi16::<3>(first), every(3 << 2)),
        _mm256_and_si256(_mm256_srli_epi16::<5>(second), every(3)),
    );
    let nibbles = _mm256_and_si256(
        _mm256_shuffle_epi8(rows[0], first),
        _mm256_and_si256(_mm256_shuffle_epi8(rows[1], second), _mm256_shuffle_epi8(rows[2], third)),
    );
    let buckets = _mm256_and_si256(nibbles, _mm256_shuffle_epi8(rows[3], classes));
    let unmatched = _mm256_cmpeq_epi8(buckets, _mm256_setzero_si256());
    !_mm256_movemask_epi8(unmatched).cast_unsigned()
}

#[inline]
#[target_feature(enable = "avx2")]
fn all(number: u64) -> __m256i {
    _mm256_set1_epi64x(number.cast_signed())
}

#[inline]
#[target_feature(enable = "avx2")]
fn four(numbers: [u64; 4]) -> __m256i {
    let [a, b, c, d] = numbers.map(u64::cast_signed);
    _mm256_setr_epi64x(a, b, c, d)
}

/// Returns a mask of the numbers whose bits are all set.
#[inline]
#[target_feature(enable = "avx2")]
fn bits_of_all(numbers: __m256i) -> u8 {
    _mm256_movemask_pd(_mm256_castsi256_pd(numbers)) as u8
}

/// Returns the products of numbers and a factor.
#[inline]
#[target_feature(enable = "avx2")]
fn times(numbers: __m256i, factor: u64) -> __m256i {
    let high = _mm256_mul_epu32(_mm256_srli_epi64::<32>(numbers), all(factor));
    let cross = _mm256_add_epi64(high, _mm256_mul_epu32(numbers, all(factor >> 32)));
    _mm256_add_epi64(_mm256_mul_epu32(numbers, all(factor)), _mm256_slli_epi64::<32>(cross))
}

#[inline]
#[target_feature(enable = "avx2")]
fn hashes_of(strings: __m256i) -> __m256i {
    let hashes = times(strings, FACTOR);
    _mm256_xor_si256(hashes, _mm256_srli_epi64::<29>(hashes))
}

/// Returns the words of four hashes in filters with so many words.
#[inline]
#[target_feature(enable = "avx2")]
fn words_of(hashes: __m256i, counts: __m256i) -> __m256i {
    _mm256_srli_epi64::<32>(_mm256_mul_epu32(_mm256_srli_epi64::<32>(hashes), counts))
}

/// Returns whether each word has the bits of a hash.
#[inline]
#[target_feature(enable = "avx2")]
fn has_bits(words: __m256i, hashes: __m256i) -> __m256i {
    let bit = |hashes| _mm256_sllv_epi64(all(1), _mm256_and_si256(hashes, all(63)));
    let bits = _mm256_or_si256(
        _mm256_or_si256(bit(hashes), bit(_mm256_srli_epi64::<{ SHIFTS[1] as i32 }>(hashes))),
        bit(_mm256_srli_epi64::<{ SHIFTS[2] as i32 }>(hashes)),
    );
    _mm256_cmpeq_epi64(_mm256_and_si256(words, bits), bits)
}

/// Looks up all levels, four at a time; the filter is not empty. Not inlined: loops would load its constants for
/// paths that are not looked up.
#[inline(never)]
#[target_feature(enable = "avx2")]
fn eight_levels_of(filter: &[U64], text: &[u8]) -> u8 {
    let bytes = first_bytes(text);
    let low = |first: usize| {
        let masks = [0, 1, 2, 3].map(|place| MASKS[first + place] as u64);
        _mm256_and_si256(all(bytes as u64), four(masks))
    };
    let has = |strings: __m256i| {
        let hashes = hashes_of(strings);
        let words = words_of(hashes, all(u64::from(filter.len() as u32)));
        // SAFETY: the high half of a product of a number below 2^32 and the filter's length, also
        // below 2^32, is below the length.
        let words = unsafe { _mm256_i64gather_epi64::<8>(filter.as_ptr().cast(), words) };
        bits_of_all(has_bits(words, hashes))
    };
    // The shorter half of the levels has no high bytes.
    let high_masks = [4, 5, 6, 7].map(|level: usize| (MASKS[level] >> 64) as u64);
    let high = _mm256_and_si256(all((bytes >> 64) as u64), four(high_masks));
    has(low(0)) | has(_mm256_xor_si256(low(4), times(high, HIGH_FACTOR))) << 4
}

/// The base-2 logarithm of the words of a line.
const LINE_SHIFT: i32 = LINE_WORDS.ilog2() as i32;

/// See [`Kernels::first_probes`].
#[inline]
#[target_feature(enable = "avx2")]
fn first_probes_at_once(lines: &[Line], Four { number, starts, paths }: Four<'_>) -> Probed {
    // With a last line, none of the heads needs a check of its own.
    let Some(last) = lines.len().checked_sub(1) else {
        return Portable.first_probes(lines, Four { number, starts, paths });
    };
    let count = all(lines.len() as u64);
    let first = _mm256_cvtepu32_epi64(words_of_four(starts));
    let bytes = four(paths.map(beginning));
    let low = |numbers, mask| _mm256_and_si256(numbers, all(mask));
    let begins = _mm256_cmpeq_epi64(low(bytes, 0xff), all(b'/'.into()));
    let is_within = _mm256_cmpgt_epi64(count, first);
    let places = _mm256_slli_epi64::<LINE_SHIFT>(first);
    // A load for the two words of each head takes less time than gathering them.
    let head = |place: usize| {
        let line = &lines[(starts[place] as usize).min(last)];
        vector(line.as_bytes().first_chunk().expect("a line has more"))
    };
    let (even, odd) = (_mm256_set_m128i(head(2), head(0)), _mm256_set_m128i(head(3), head(1)));
    let outcomes = _mm256_and_si256(_mm256_unpacklo_epi64(even, odd), is_within);
    let levels = _mm256_and_si256(_mm256_unpackhi_epi64(even, odd), is_within);
    let otherwise = low(outcomes, u32::MAX.into());
    let first_lines = _mm256_srli_epi64::<32>(levels);
    let is_empty = _mm256_cmpeq_epi64(first_lines, _mm256_setzero_si256());
    let is_cut = _mm256_or_si256(
        _mm256_cmpgt_epi64(_mm256_add_epi64(first, first_lines), count),
        _mm256_cmpgt_epi64(first_lines, all(FIRST_LINES_MAX.into())),
    );
    let is_whole = _mm256_andnot_si256(_mm256_or_si256(is_empty, is_cut), is_within);
    // Neither 1 nor opaque.
    let is_valid = _mm256_andnot_si256(
        _mm256_cmpeq_epi64(otherwise, all(1)),
        _mm256_cmpgt_epi64(all(OPAQUE.into()), otherwise),
    );

    // As `Fewer::tested`; two bits above three others are eight times their number.
    let bytes = _mm256_srli_epi64::<8>(bytes);
    let shift = low(_mm256_add_epi64(bytes, bytes), 2 * u64::from(CLASSES - 1));
    let fewer = low(_mm256_srlv_epi64(_mm256_srli_epi64::<29>(outcomes), shift), 3 << 3);
    let hashes = hashes_of(low(_mm256_sllv_epi64(bytes, fewer), u32::MAX.into()));
    let head = all(HEAD_WORDS as u64);
    let words = _mm256_slli_epi64::<LINE_SHIFT>(first_lines);
    let words = _mm256_add_epi64(words_of(hashes, _mm256_sub_epi64(words, head)), head);
    // SAFETY: the mask limits the load to words of `lines`: the high half of a product of a number
    // below 2^32 and the count of the first lines' words, also below 2^32, is below the count.
    let found = unsafe {
        let none = _mm256_setzero_si256();
        let places = _mm256_add_epi64(places, words);
        _mm256_mask_i64gather_epi64::<8>(none, lines.as_ptr().cast(), places, is_whole)
    };
    let is_decided = _mm256_and_si256(_mm256_and_si256(begins, is_whole), is_valid);
    let has_no_literals = _mm256_cmpeq_epi64(low(levels, 0xff00), _mm256_setzero_si256());
    let open = _mm256_or_si256(
        low(has_bits(found, hashes), Open::PREFIXES.0.into()),
        _mm256_andnot_si256(has_no_literals, all(Open::LITERALS.0.into())),
    );
    let open = _mm256_blendv_epi8(all(Open::ALL.0.into()), open, is_decided);
    // Lists have opaque starts at random, so there is no branch for them.
    let is_opaque = _mm256_cmpgt_epi64(first, all(u64::from(OPAQUE) - 1));
    let open = _mm256_andnot_si256(is_opaque, open);
    let outcomes = _mm256_blendv_epi8(otherwise, first, is_opaque);
    probed(number, outcomes, open)
}

/// Returns four outcomes, and of four queries those that are open.
#[inline]
#[target_feature(enable = "avx2")]
fn probed(number: u32, outcomes: __m256i, open: __m256i) -> Probed {
    /// By mask of 64-bit words: the 32-bit words of those in the mask, from the first on.
    const KEPT: [[u32; 2 * FOUR]; 1 << FOUR] = {
        let mut kept = [[0; 2 * FOUR]; 1 << FOUR];
        let (mut mask, mut place) = (0, 0);
        while mask < 1 << FOUR {
            let mut length = 0;
            while place < FOUR {
                if mask >> place & 1 == 1 {
                    kept[mask][length] = 2 * place as u32;
                    kept[mask][length + 1] = 2 * place as u32 + 1;
                    length += 2;
                }
                place += 1;
            }
            (mask, place) = (mask + 1, 0);
        }
        kept
    };
    let numbers = _mm256_add_epi64(all(number.into()), four([0, 1, 2, 3]));
    let queries = _mm256_or_si256(numbers, _mm256_slli_epi64::<32>(open));
    let is_open = _mm256_cmpgt_epi64(open, _mm256_setzero_si256());
    let mask = bits_of_all(is_open);
    // SAFETY: both types are 32 bytes, and any bytes are valid.
    let kept: __m256i = unsafe { std::mem::transmute(KEPT[usize::from(mask) % KEPT.len()]) };
    let lower = _mm256_permutevar8x32_epi32(outcomes, _mm256_setr_epi32(0, 2, 4, 6, 0, 0, 0, 0));
    let queries = _mm256_permutevar8x32_epi32(queries, kept);
    // SAFETY: an `Outcome` is a word, and an `OpenQuery` has the numbers of two.
    let (outcomes, queries) = unsafe {
        (
            std::mem::transmute::<__m128i, [u32; FOUR]>(_mm256_castsi256_si128(lower)),
            std::mem::transmute::<__m256i, [u64; FOUR]>(queries),
        )
    };
    let open = queries.map(OpenQuery::from_word);
    Probed { outcomes: outcomes.map(Outcome), open, left: mask.count_ones() as usize }
}

#[inline]
#[target_feature(enable = "avx2")]
fn words_of_four(words: [u32; FOUR]) -> __m128i {
    // SAFETY: both types are sixteen bytes, and any bytes are valid.
    unsafe { std::mem::transmute(words) }
}
