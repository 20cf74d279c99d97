//! A prefilter's looks with the vectors of x86-64 processors: what the module has of `unsafe`.
//!
//! The functions that others call are given a value which says that the processor has what they use.

#![allow(unsafe_code, reason = "calls vector instructions")]

use std::arch::x86_64::{
    __m128i, __m256i, __m512i, _mm_maskz_loadu_epi8, _mm256_and_si256, _mm256_broadcastsi128_si256,
    _mm256_bsrli_epi128, _mm256_cmpeq_epi8, _mm256_movemask_epi8, _mm256_set_m128i,
    _mm256_set1_epi8, _mm256_setzero_si256, _mm256_shuffle_epi8, _mm256_srli_epi16,
    _mm256_zextsi128_si256, _mm512_add_epi64, _mm512_and_si512, _mm512_broadcast_i32x4,
    _mm512_cmpeq_epi64_mask, _mm512_cmple_epu64_mask, _mm512_cvtepi64_epi32, _mm512_loadu_si512,
    _mm512_mask_cmpeq_epi64_mask, _mm512_mask_cmpneq_epi64_mask, _mm512_mask_i64gather_epi64,
    _mm512_maskz_loadu_epi8, _mm512_maskz_loadu_epi64, _mm512_mul_epu32, _mm512_mullo_epi64,
    _mm512_or_si512, _mm512_permutexvar_epi64, _mm512_set1_epi8, _mm512_set1_epi64,
    _mm512_setr_epi64, _mm512_setzero_si512, _mm512_shuffle_epi8, _mm512_slli_epi64,
    _mm512_sllv_epi64, _mm512_srli_epi16, _mm512_srli_epi64, _mm512_sub_epi64,
    _mm512_test_epi8_mask, _mm512_test_epi64_mask, _mm512_xor_si512,
};

use zerocopy::IntoBytes;
use zerocopy::little_endian::U64;

use crate::automaton::Outcome;
use crate::automaton::chunk::{CHUNK_BYTES, short_chunk};
use crate::vectors::{Avx2, Avx512, first_bits};

use super::filter::{FACTOR, HIGH_FACTOR, KEPT, LEVELS, SHIFTS};
use super::pairs::{PLACES, WINDOW, places_told};
use super::probe::{FirstProbes, is_odd};
use super::{FirstProbe, HEAD_WORDS, LINE_WORDS, PrefilterLine};

/// See [`places`](super::pairs::places).
#[inline(always)]
pub(super) fn places_by_32(_: Avx2, line: &PrefilterLine, rest: &[u8]) -> u64 {
    // SAFETY: the function has no duty but to be called where its instructions are, and the value
    // says that they are.
    unsafe { places_in_halves(line, rest) }
}

/// See [`places`](super::pairs::places).
#[inline(always)]
pub(super) fn places_by_64(_: Avx512, line: &PrefilterLine, rest: &[u8]) -> u64 {
    // SAFETY: as above.
    unsafe { places_at_once(line, rest) }
}

/// See [`levels_of`](super::filter::levels_of); the first bytes are those of `text`.
#[inline(always)]
pub(super) fn levels_of(_: Avx512, filter: &[U64], text: &[u8], levels: u8) -> Option<u8> {
    // SAFETY: as above.
    (!filter.is_empty()).then(|| unsafe { eight_levels_of(filter, text, levels) })
}

#[inline]
#[target_feature(enable = "avx2")]
fn places_in_halves(line: &PrefilterLine, rest: &[u8]) -> u64 {
    let row = |index: usize| {
        let bytes = line.as_bytes()[index * CHUNK_BYTES..].first_chunk();
        _mm256_broadcastsi128_si256(vector(bytes.expect("a line has four rows")))
    };
    let rows = [row(0), row(1), row(2), row(3)];
    let Some(last) = rest.len().checked_sub(CHUNK_BYTES) else {
        let chunk = _mm256_zextsi128_si256(vector(&short_chunk(rest)));
        return u64::from(places_of(rows, chunk) & 0xffff);
    };
    let chunk = |start: usize| {
        let bytes = rest[start..].first_chunk();
        vector(bytes.expect("it ends with the path at the latest"))
    };
    let mut places = 0;
    for start in [0, 2 * PLACES] {
        let [one, other] =
            [start, start + PLACES].map(|start| start.min(last).min(WINDOW - PLACES));
        let found = places_of(rows, _mm256_set_m128i(chunk(other), chunk(one)));
        let told =
            |found: u32, start: usize| (u64::from(found) & places_told(start == last)) << start;
        places |= told(found, one) | told(found >> CHUNK_BYTES, other);
        if last <= start + PLACES {
            break;
        }
    }
    places
}

#[inline]
fn vector(bytes: &[u8; CHUNK_BYTES]) -> __m128i {
    // SAFETY: both are sixteen bytes, and any bytes are a vector.
    unsafe { std::mem::transmute(*bytes) }
}

/// The places of two chunks that have a bucket whose pairs may stand there.
#[inline]
#[target_feature(enable = "avx2")]
fn places_of(rows: [__m256i; 4], first: __m256i) -> u32 {
    let half = _mm256_set1_epi8(15);
    let low = |bytes| _mm256_and_si256(bytes, half);
    let high = |bytes| _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), half);
    let second = _mm256_bsrli_epi128::<1>(first);
    let of_first = _mm256_and_si256(
        _mm256_shuffle_epi8(rows[0], low(first)),
        _mm256_shuffle_epi8(rows[1], high(first)),
    );
    let of_second = _mm256_and_si256(
        _mm256_shuffle_epi8(rows[2], low(second)),
        _mm256_shuffle_epi8(rows[3], high(second)),
    );
    let buckets = _mm256_and_si256(of_first, of_second);
    let strangers = _mm256_cmpeq_epi8(buckets, _mm256_setzero_si256());
    !_mm256_movemask_epi8(strangers).cast_unsigned()
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn places_at_once(line: &PrefilterLine, rest: &[u8]) -> u64 {
    let bytes = |text: &[u8]| {
        // SAFETY: bytes that the mask leaves out are not read; the others are those of the text.
        unsafe { _mm512_maskz_loadu_epi8(first_bits(text.len()), text.as_ptr().cast()) }
    };
    let row = |index: usize| {
        let bytes = line.as_bytes()[index * CHUNK_BYTES..].first_chunk();
        _mm512_broadcast_i32x4(vector(bytes.expect("a line has four rows")))
    };
    let half = _mm512_set1_epi8(15);
    let low = |bytes| _mm512_and_si512(bytes, half);
    let high = |bytes| _mm512_and_si512(_mm512_srli_epi16::<4>(bytes), half);
    let (first, second) = (bytes(rest), bytes(rest.get(1..).unwrap_or_default()));
    let of_first = _mm512_and_si512(
        _mm512_shuffle_epi8(row(0), low(first)),
        _mm512_shuffle_epi8(row(1), high(first)),
    );
    let of_second = _mm512_and_si512(
        _mm512_shuffle_epi8(row(2), low(second)),
        _mm512_shuffle_epi8(row(3), high(second)),
    );
    _mm512_test_epi8_mask(of_first, of_second) & first_bits(WINDOW)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn all(number: u64) -> __m512i {
    _mm512_set1_epi64(number.cast_signed())
}

/// All levels at once, one in each eighth of a vector.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn eight_levels_of(filter: &[U64], text: &[u8], levels: u8) -> u8 {
    let numbers = |numbers: [u64; LEVELS.len()]| -> __m512i {
        // SAFETY: both are eight words, and any words are a vector.
        unsafe { std::mem::transmute(numbers) }
    };
    let mask = first_bits(text.len().min(CHUNK_BYTES)) as u16;
    // SAFETY: bytes that the mask leaves out are not read; the others are those of the text.
    let bytes = unsafe { _mm_maskz_loadu_epi8(mask, text.as_ptr().cast()) };
    // SAFETY: a vector of sixteen bytes is two words.
    let [low, high]: [u64; 2] = unsafe { std::mem::transmute(bytes) };
    let (kept_low, kept_high) = const { (KEPT.low(), KEPT.high()) };
    let low = _mm512_and_si512(all(low), numbers(kept_low));
    let high = _mm512_and_si512(all(high), numbers(kept_high));
    let strings = _mm512_xor_si512(low, _mm512_mullo_epi64(high, all(HIGH_FACTOR)));
    has_eight(filter, levels, strings)
}

/// Which of eight strings a filter, which has a word at least, may have, as far as they are asked for.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn has_eight(filter: &[U64], asked: u8, strings: __m512i) -> u8 {
    let hashes = hashes_of(strings);
    let words = words_of(hashes, all(filter.len() as u64));
    let found = if filter.len() <= LEVELS.len() {
        let mask = first_bits(filter.len()) as u8;
        // SAFETY: words that the mask leaves out are not read; the others are those of the filter.
        let filter = unsafe { _mm512_maskz_loadu_epi64(mask, filter.as_ptr().cast()) };
        _mm512_permutexvar_epi64(words, filter)
    } else {
        let none = _mm512_setzero_si512();
        // SAFETY: the high half of a product of a number below 2^32 and the filter's length, which is
        // less than that too, is below the length.
        unsafe { _mm512_mask_i64gather_epi64::<8>(none, asked, words, filter.as_ptr().cast()) }
    };
    let bits = bits_of(hashes);
    _mm512_mask_cmpeq_epi64_mask(asked, _mm512_and_si512(found, bits), bits)
}

#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
fn hashes_of(strings: __m512i) -> __m512i {
    let hashes = _mm512_mullo_epi64(strings, all(FACTOR));
    _mm512_xor_si512(hashes, _mm512_srli_epi64::<29>(hashes))
}

/// The words of filters with so many words.
#[inline]
#[target_feature(enable = "avx512f")]
fn words_of(hashes: __m512i, counts: __m512i) -> __m512i {
    _mm512_srli_epi64::<32>(_mm512_mul_epu32(_mm512_srli_epi64::<32>(hashes), counts))
}

#[inline]
#[target_feature(enable = "avx512f")]
fn bits_of(hashes: __m512i) -> __m512i {
    let bit = |hashes| _mm512_sllv_epi64(all(1), _mm512_and_si512(hashes, all(63)));
    _mm512_or_si512(
        _mm512_or_si512(bit(hashes), bit(_mm512_srli_epi64::<{ SHIFTS[1] }>(hashes))),
        bit(_mm512_srli_epi64::<{ SHIFTS[2] }>(hashes)),
    )
}

/// Lines of prefilters up to which none is numbered with more bits than steps here have room for.
const LINES_MAX: usize = 1 << 28;

/// The base-2 logarithm of the words of a line.
const LINE_SHIFT: u32 = LINE_WORDS.ilog2();

/// See [`look_of_one_at`](super::looks::look_of_one_at).
#[inline(always)]
pub(super) fn look_of_one_at(_: Avx512, look: &FirstProbe<'_>, paths: &[&[u8]; 8]) -> FirstProbes {
    // SAFETY: the function has no duty but to be called where its instructions are, and the value
    // says that they are.
    unsafe { look_of_one_at_eight(look, paths) }
}

/// See [`look_at`](super::looks::look_at).
#[inline(always)]
pub(super) fn look_at(
    _: Avx512,
    lines: &[PrefilterLine],
    starts: &[[u32; 2]; 8],
    paths: &[&[u8]; 8],
) -> (FirstProbes, [Outcome; 8]) {
    match lines.len() {
        // SAFETY: as above.
        1..=LINES_MAX => unsafe { probe_eight(lines, starts, paths) },
        _ => super::probe::look_at(lines, starts, paths),
    }
}

/// The bytes with which eight paths begin.
struct Beginnings {
    bytes: __m512i,
    /// Of which paths they are told: those that are not odd and begin with `/`.
    told: u8,
}

#[inline]
#[target_feature(enable = "avx512f")]
fn beginnings_of(paths: &[&[u8]; 8]) -> Beginnings {
    const NO_BYTES: [u8; 8] = [0; 8];
    let bytes = paths.map(|path| i64::from_le_bytes(*path.first_chunk().unwrap_or(&NO_BYTES)));
    let bytes = _mm512_setr_epi64(
        bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7],
    );
    let odd = paths.map(|path| u8::from(is_odd(path)));
    let odd = (0..8).fold(0, |bits, place| bits | odd[place] << place);
    let begins = _mm512_cmpeq_epi64_mask(low(bytes, 0xff), all(b'/'.into()));
    Beginnings { bytes: _mm512_srli_epi64::<8>(bytes), told: begins & !odd }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn look_of_one_at_eight(look: &FirstProbe<'_>, paths: &[&[u8]; 8]) -> FirstProbes {
    let Beginnings { bytes, told } = beginnings_of(paths);
    let has_literals = if look.has_literals { u8::MAX } else { 0 };
    if look.beginnings.is_empty() {
        return FirstProbes { odd: u8::MAX, probe_prefixes: 0, has_literals };
    }
    let probe_prefixes = has_eight(look.beginnings, told, low(bytes, look.kept));
    FirstProbes { odd: !told, probe_prefixes, has_literals }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn probe_eight(
    lines: &[PrefilterLine],
    starts: &[[u32; 2]; 8],
    paths: &[&[u8]; 8],
) -> (FirstProbes, [Outcome; 8]) {
    let Beginnings { bytes, told } = beginnings_of(paths);
    // SAFETY: both are eight words of eight bytes.
    let starts = unsafe { _mm512_loadu_si512(starts.as_ptr().cast()) };
    let sieves = low(starts, u32::MAX.into());
    let is_within =
        _mm512_cmple_epu64_mask(_mm512_add_epi64(sieves, all(1)), all(lines.len() as u64));
    let places = _mm512_slli_epi64::<LINE_SHIFT>(sieves);
    let word = |within: u8, places: __m512i| {
        // SAFETY: words that the mask leaves out are not read; the others are of lines that there are.
        unsafe {
            let none = _mm512_setzero_si512();
            _mm512_mask_i64gather_epi64::<8>(none, within, places, lines.as_ptr().cast())
        }
    };
    let outcomes = word(is_within, places);
    let levels = word(is_within, _mm512_add_epi64(places, all(1)));
    let otherwise = low(outcomes, u32::MAX.into());
    let beginning_lines = _mm512_srli_epi64::<32>(levels);
    let ends = _mm512_add_epi64(sieves, beginning_lines);
    let is_whole = _mm512_cmple_epu64_mask(ends, all(lines.len() as u64))
        & _mm512_test_epi64_mask(beginning_lines, beginning_lines)
        & is_within;
    let is_sound = _mm512_mask_cmpneq_epi64_mask(is_whole, otherwise, all(1));

    let kept = _mm512_srli_epi64::<32>(outcomes);
    let hashes = hashes_of(_mm512_and_si512(bytes, kept));
    let head = all(HEAD_WORDS as u64);
    let words = _mm512_slli_epi64::<LINE_SHIFT>(beginning_lines);
    let words = _mm512_add_epi64(words_of(hashes, _mm512_sub_epi64(words, head)), head);
    // The high half of a product of a number below 2^32 and the count of words is below the count.
    let found = word(is_whole, _mm512_add_epi64(places, words));
    let bits = bits_of(hashes);
    let told = told & is_sound;
    let otherwise = _mm512_cvtepi64_epi32(otherwise);
    // SAFETY: both are eight words of four bytes.
    let otherwise: [u32; 8] = unsafe { std::mem::transmute(otherwise) };
    let probe = FirstProbes {
        odd: !told,
        probe_prefixes: _mm512_mask_cmpeq_epi64_mask(told, _mm512_and_si512(found, bits), bits),
        has_literals: _mm512_test_epi64_mask(levels, all(0xff00)),
    };
    (probe, otherwise.map(Outcome))
}

#[inline]
#[target_feature(enable = "avx512f")]
fn low(numbers: __m512i, kept: u64) -> __m512i {
    _mm512_and_si512(numbers, all(kept))
}
