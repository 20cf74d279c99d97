//! The first looks of eight questions with the vectors of x86-64 processors: a question in each eighth.

use std::arch::x86_64::{
    __m512i, _mm512_add_epi64, _mm512_and_si512, _mm512_cmpeq_epi64_mask, _mm512_cmple_epu64_mask,
    _mm512_cvtepi64_epi32, _mm512_loadu_si512, _mm512_mask_cmpeq_epi64_mask,
    _mm512_mask_cmpneq_epi64_mask, _mm512_mask_i64gather_epi64, _mm512_setr_epi64,
    _mm512_setzero_si512, _mm512_slli_epi64, _mm512_srli_epi64, _mm512_sub_epi64,
    _mm512_test_epi64_mask,
};

use crate::automaton::Outcome;
use crate::vectors::Avx512;

use super::eight::{FirstLooks, is_odd};
use super::x86::{all, bits_of, has_eight, hashes_of, words_of};
use super::{FirstLook, HEAD_WORDS, LINE_WORDS, SieveLine};

/// Lines of sieves up to which none is numbered with more bits than steps here have room for.
const LINES_MAX: usize = 1 << 28;

/// The base-2 logarithm of the words of a line.
const LINE_SHIFT: u32 = LINE_WORDS.ilog2();

/// See [`look_of_one_at`](super::eight::look_of_one_at).
#[inline(always)]
pub(super) fn look_of_one_at(_: Avx512, look: &FirstLook<'_>, paths: &[&[u8]; 8]) -> FirstLooks {
    // SAFETY: the function has no duty but to be called where its instructions are, and the value
    // says that they are.
    unsafe { look_of_one_at_eight(look, paths) }
}

/// See [`look_at`](super::eight::look_at).
#[inline(always)]
pub(super) fn look_at(
    _: Avx512,
    lines: &[SieveLine],
    starts: &[[u32; 2]; 8],
    paths: &[&[u8]; 8],
) -> (FirstLooks, [Outcome; 8]) {
    match lines.len() {
        // SAFETY: as above.
        1..=LINES_MAX => unsafe { look_at_eight(lines, starts, paths) },
        _ => super::eight::look_at(lines, starts, paths),
    }
}

/// The octets with which eight paths begin.
struct Beginnings {
    octets: __m512i,
    /// Of which paths they are told: those that are not odd and begin with `/`.
    told: u8,
}

#[inline]
#[target_feature(enable = "avx512f")]
fn beginnings_of(paths: &[&[u8]; 8]) -> Beginnings {
    const NO_OCTETS: [u8; 8] = [0; 8];
    let octets = paths.map(|path| i64::from_le_bytes(*path.first_chunk().unwrap_or(&NO_OCTETS)));
    let octets = _mm512_setr_epi64(
        octets[0], octets[1], octets[2], octets[3], octets[4], octets[5], octets[6], octets[7],
    );
    let odd = paths.map(|path| u8::from(is_odd(path)));
    let odd = (0..8).fold(0, |bits, place| bits | odd[place] << place);
    let begins = _mm512_cmpeq_epi64_mask(low(octets, 0xff), all(b'/'.into()));
    Beginnings { octets: _mm512_srli_epi64::<8>(octets), told: begins & !odd }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn look_of_one_at_eight(look: &FirstLook<'_>, paths: &[&[u8]; 8]) -> FirstLooks {
    let Beginnings { octets, told } = beginnings_of(paths);
    let has_stretches = if look.has_stretches { u8::MAX } else { 0 };
    if look.beginnings.is_empty() {
        return FirstLooks { odd: u8::MAX, may_begin: 0, has_stretches };
    }
    let may_begin = has_eight(look.beginnings, told, low(octets, look.kept));
    FirstLooks { odd: !told, may_begin, has_stretches }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn look_at_eight(
    lines: &[SieveLine],
    starts: &[[u32; 2]; 8],
    paths: &[&[u8]; 8],
) -> (FirstLooks, [Outcome; 8]) {
    let Beginnings { octets, told } = beginnings_of(paths);
    // SAFETY: both are eight words of eight octets.
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
    let hashes = hashes_of(_mm512_and_si512(octets, kept));
    let head = all(HEAD_WORDS as u64);
    let words = _mm512_slli_epi64::<LINE_SHIFT>(beginning_lines);
    let words = _mm512_add_epi64(words_of(hashes, _mm512_sub_epi64(words, head)), head);
    // The high half of a product of a number below 2^32 and the count of words is below the count.
    let found = word(is_whole, _mm512_add_epi64(places, words));
    let bits = bits_of(hashes);
    let told = told & is_sound;
    let otherwise = _mm512_cvtepi64_epi32(otherwise);
    // SAFETY: both are eight words of four octets.
    let otherwise: [u32; 8] = unsafe { std::mem::transmute(otherwise) };
    let looks = FirstLooks {
        odd: !told,
        may_begin: _mm512_mask_cmpeq_epi64_mask(told, _mm512_and_si512(found, bits), bits),
        has_stretches: _mm512_test_epi64_mask(levels, all(0xff00)),
    };
    (looks, otherwise.map(Outcome))
}

#[inline]
#[target_feature(enable = "avx512f")]
fn low(numbers: __m512i, kept: u64) -> __m512i {
    _mm512_and_si512(numbers, all(kept))
}
