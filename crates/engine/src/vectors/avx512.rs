//! The kernels with 64-byte vectors and masks: a few operations instead of loops whose ends the
//! processor mispredicts.

#![allow(unsafe_code, reason = "calls vector instructions")]

use std::arch::x86_64::*;

use zerocopy::IntoBytes;
use zerocopy::little_endian::U64;

use crate::bytes::CHUNK_BYTES;
use crate::filter::bloom::{FACTOR, HIGH_FACTOR, LEVELS, SHIFTS, half_masks};
use crate::filter::head::{FirstProbes, HEAD_WORDS, beginning};
use crate::line::{LINE_WORDS, Line};
use crate::outcome::{OPAQUE, Outcome};

use super::Work;
use super::avx2::{Avx2, vector};
use super::portable::{self, LINES_MAX, WINDOW};

/// Proof of AVX-512 F, BW, DQ and VL; see [`Kind::avx512`](super::Kind::avx512).
#[derive(Clone, Copy, Debug)]
pub struct Avx512(Avx2);

impl Avx512 {
    pub(super) fn detect() -> Option<Avx512> {
        let is_there = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl");
        Avx2::detect().filter(|_| is_there).map(Avx512)
    }

    #[inline(always)]
    pub(super) fn avx2(self) -> Avx2 {
        self.0
    }

    #[inline]
    pub(super) fn run<W: Work>(self, work: W) -> W::Output {
        // SAFETY: the target features are the only requirement, and `self` proves them.
        unsafe { run(self, work) }
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi1,bmi2,lzcnt,popcnt")]
fn run<W: Work>(avx512: Avx512, work: W) -> W::Output {
    work.with(avx512)
}

/// Returns a mask of the lowest `count` of 64 bits.
#[inline]
fn first_bits(count: usize) -> u64 {
    if count < 64 { !(u64::MAX << count) } else { u64::MAX }
}

/// See [`portable::positions`].
#[inline(always)]
pub(super) fn positions(_: Avx512, line: &Line, rest: &[u8]) -> u64 {
    // SAFETY: the target features are the only requirement, and the proof is given.
    unsafe { positions_at_once(line, rest) }
}

/// See [`portable::levels_of`].
#[inline(always)]
pub(super) fn levels_of(_: Avx512, filter: &[U64], text: &[u8], levels: u8) -> Option<u8> {
    match filter {
        [] => None,
        // SAFETY: as above.
        _ => Some(unsafe { eight_levels_of(filter, text, levels) }),
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn positions_at_once(line: &Line, rest: &[u8]) -> u64 {
    let bytes = |text: &[u8]| {
        // SAFETY: the mask limits the load to the bytes of `text`.
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

/// Looks up all levels at once, one per 64-bit lane.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn eight_levels_of(filter: &[U64], text: &[u8], levels: u8) -> u8 {
    let numbers = |numbers: [u64; LEVELS.len()]| -> __m512i {
        // SAFETY: both types are eight words, and any words are valid.
        unsafe { std::mem::transmute(numbers) }
    };
    let mask = first_bits(text.len().min(CHUNK_BYTES)) as u16;
    // SAFETY: the mask limits the load to the bytes of `text`.
    let bytes = unsafe { _mm_maskz_loadu_epi8(mask, text.as_ptr().cast()) };
    // SAFETY: both types are sixteen bytes, and any bytes are valid.
    let [low, high]: [u64; 2] = unsafe { std::mem::transmute(bytes) };
    let (low_masks, high_masks) = const { (half_masks(0), half_masks(64)) };
    let low = _mm512_and_si512(all(low), numbers(low_masks));
    let high = _mm512_and_si512(all(high), numbers(high_masks));
    let strings = _mm512_xor_si512(low, _mm512_mullo_epi64(high, all(HIGH_FACTOR)));
    has_eight(filter, levels, strings)
}

/// Returns a mask of the `asked` strings that a filter may have; the filter is not empty.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn has_eight(filter: &[U64], asked: u8, strings: __m512i) -> u8 {
    let hashes = hashes_of(strings);
    let words = words_of(hashes, all(filter.len() as u64));
    let found = if filter.len() <= LEVELS.len() {
        let mask = first_bits(filter.len()) as u8;
        // SAFETY: the mask limits the load to the words of `filter`.
        let filter = unsafe { _mm512_maskz_loadu_epi64(mask, filter.as_ptr().cast()) };
        _mm512_permutexvar_epi64(words, filter)
    } else {
        let none = _mm512_setzero_si512();
        // SAFETY: the high half of a product of a number below 2^32 and the filter's length, also
        // below 2^32, is below the length.
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

/// Returns the words of eight hashes in filters with so many words.
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

/// The base-2 logarithm of the words of a line.
const LINE_SHIFT: u32 = LINE_WORDS.ilog2();

/// See [`portable::probe_eight`].
#[inline(always)]
pub(super) fn probe_eight(
    _: Avx512,
    lines: &[Line],
    starts: &[u32; 8],
    paths: &[&[u8]; 8],
) -> (FirstProbes, [Outcome; 8]) {
    match lines.len() {
        // SAFETY: as above.
        1..=LINES_MAX => unsafe { by_eight(lines, starts, paths) },
        _ => portable::probe_eight(lines, starts, paths),
    }
}

/// The bytes of eight paths after the first.
struct Beginnings {
    bytes: __m512i,
    /// The paths that start with `/`.
    valid: u8,
}

#[inline]
#[target_feature(enable = "avx512f")]
fn beginnings_of(paths: &[&[u8]; 8]) -> Beginnings {
    let bytes = paths.map(|path| beginning(path).cast_signed());
    let bytes = _mm512_setr_epi64(
        bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7],
    );
    let valid = _mm512_cmpeq_epi64_mask(low(bytes, 0xff), all(b'/'.into()));
    Beginnings { bytes: _mm512_srli_epi64::<8>(bytes), valid }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn by_eight(lines: &[Line], starts: &[u32; 8], paths: &[&[u8]; 8]) -> (FirstProbes, [Outcome; 8]) {
    let Beginnings { bytes, valid } = beginnings_of(paths);
    // SAFETY: both types are eight words of four bytes.
    let starts = unsafe { _mm256_loadu_si256(starts.as_ptr().cast()) };
    let prefilters = _mm512_cvtepu32_epi64(starts);
    let is_within =
        _mm512_cmple_epu64_mask(_mm512_add_epi64(prefilters, all(1)), all(lines.len() as u64));
    let places = _mm512_slli_epi64::<LINE_SHIFT>(prefilters);
    let word = |within: u8, places: __m512i| {
        // SAFETY: the mask limits the load to words of `lines`.
        unsafe {
            let none = _mm512_setzero_si512();
            _mm512_mask_i64gather_epi64::<8>(none, within, places, lines.as_ptr().cast())
        }
    };
    let outcomes = word(is_within, places);
    let levels = word(is_within, _mm512_add_epi64(places, all(1)));
    let otherwise = low(outcomes, u32::MAX.into());
    let first_lines = _mm512_srli_epi64::<32>(levels);
    let ends = _mm512_add_epi64(prefilters, first_lines);
    let is_whole = _mm512_cmple_epu64_mask(ends, all(lines.len() as u64))
        & _mm512_test_epi64_mask(first_lines, first_lines)
        & is_within;
    // Neither 1 nor opaque.
    let is_valid = _mm512_mask_cmpneq_epi64_mask(is_whole, otherwise, all(1));
    let is_valid = _mm512_mask_cmplt_epu64_mask(is_valid, otherwise, all(OPAQUE.into()));

    let masks = _mm512_srli_epi64::<32>(outcomes);
    let hashes = hashes_of(_mm512_and_si512(bytes, masks));
    let head = all(HEAD_WORDS as u64);
    let words = _mm512_slli_epi64::<LINE_SHIFT>(first_lines);
    let words = _mm512_add_epi64(words_of(hashes, _mm512_sub_epi64(words, head)), head);
    // Within the first lines: the high half of a product of a number below 2^32 and the count of
    // words is below the count.
    let found = word(is_whole, _mm512_add_epi64(places, words));
    let bits = bits_of(hashes);
    let valid = valid & is_valid;
    let otherwise = _mm512_cvtepi64_epi32(otherwise);
    // SAFETY: both types are eight words of four bytes.
    let otherwise: [u32; 8] = unsafe { std::mem::transmute(otherwise) };
    let probes = FirstProbes {
        undecided: !valid,
        probe_prefixes: _mm512_mask_cmpeq_epi64_mask(valid, _mm512_and_si512(found, bits), bits),
        has_literals: _mm512_test_epi64_mask(levels, all(0xff00)),
    };
    (probes, otherwise.map(Outcome))
}

#[inline]
#[target_feature(enable = "avx512f")]
fn low(numbers: __m512i, mask: u64) -> __m512i {
    _mm512_and_si512(numbers, all(mask))
}
