//! The search for pairs with the vectors of 32 octets that nearly every x86-64 processor has: the one place
//! of this module with `unsafe`.
//!
//! Two chunks of a path are looked at in one step. A program for all x86-64 processors may not hold such
//! instructions where they are not known to be there, so they are asked for once they are needed.

use std::arch::x86_64::{
    __m256i, _mm_set_epi64x, _mm256_and_si256, _mm256_bsrli_epi128, _mm256_cmpeq_epi8,
    _mm256_movemask_epi8, _mm256_set_m128i, _mm256_set1_epi8, _mm256_setzero_si256,
    _mm256_shuffle_epi8, _mm256_srli_epi16,
};

use crate::automaton::chunk::{CHUNK_OCTETS, bits, short_chunk};

use super::pairs::PLACES;

/// Whether the processor has the instructions.
#[inline]
pub(super) fn is_known() -> bool {
    is_x86_feature_detected!("avx2")
}

/// As the function of this name for any processor.
///
/// # Panics
///
/// If the processor does not have the instructions.
#[inline]
pub(super) fn may_occur(rows: &[u8], path: &[u8], holds: impl FnMut(usize) -> bool) -> bool {
    assert!(is_known());
    // SAFETY: the function has no duty but to be called where its instructions are, and they are.
    unsafe { may_occur_in_wide_chunks(rows, path, holds) }
}

#[target_feature(enable = "avx2")]
fn may_occur_in_wide_chunks(
    rows: &[u8],
    path: &[u8],
    mut holds: impl FnMut(usize) -> bool,
) -> bool {
    let row = |index: usize| {
        let octets = rows[index * CHUNK_OCTETS..].first_chunk();
        let octets = *octets.expect("a line has four rows");
        two_chunks(octets, octets)
    };
    let rows = [row(0), row(1), row(2), row(3)];
    let Some(last) = path.len().checked_sub(CHUNK_OCTETS) else {
        let found = found(rows, two_chunks(short_chunk(path), [0; CHUNK_OCTETS]));
        return bits(found & 0xffff).any(holds);
    };
    let chunk = |start: usize| {
        let octets = path[start..].first_chunk();
        *octets.expect("it ends with the path at the latest")
    };
    let mut start = 0;
    loop {
        let starts = [start.min(last), (start + PLACES).min(last)];
        let found = found(rows, two_chunks(chunk(starts[0]), chunk(starts[1])));
        if found != 0 {
            let place = |it| starts[it / CHUNK_OCTETS] + it % CHUNK_OCTETS;
            if bits(found).any(|it| holds(place(it))) {
                return true;
            }
        }
        if starts[1] == last {
            return false;
        }
        start += 2 * PLACES;
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn two_chunks(first: [u8; CHUNK_OCTETS], second: [u8; CHUNK_OCTETS]) -> __m256i {
    let chunk = |octets: [u8; CHUNK_OCTETS]| {
        let octets = u128::from_le_bytes(octets);
        _mm_set_epi64x((octets >> 64) as i64, octets as i64)
    };
    _mm256_set_m128i(chunk(second), chunk(first))
}

/// The places of two chunks that have a bucket whose pairs may stand there.
#[inline]
#[target_feature(enable = "avx2")]
fn found(rows: [__m256i; 4], first: __m256i) -> u32 {
    let half = _mm256_set1_epi8(15);
    let low = |octets| _mm256_and_si256(octets, half);
    let high = |octets| _mm256_and_si256(_mm256_srli_epi16::<4>(octets), half);
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
