//! The kernels with 32-byte vectors. Those that are not here are [portable] code, compiled for
//! this kind.

#![allow(unsafe_code, reason = "calls vector instructions")]

use std::arch::x86_64::*;

use zerocopy::IntoBytes;

use crate::bytes::{CHUNK_BYTES, short_chunk};
use crate::line::Line;

use super::Work;
use super::portable::{POSITIONS, WINDOW, valid_positions};

/// Proof of AVX2 and the bit-manipulation instructions; see [`Kind::avx2`](super::Kind::avx2).
#[derive(Clone, Copy, Debug)]
pub struct Avx2(());

impl Avx2 {
    pub(super) fn detect() -> Option<Avx2> {
        (is_x86_feature_detected!("avx2") && has_bit_instructions()).then_some(Avx2(()))
    }

    #[inline]
    pub(super) fn run<W: Work>(self, work: W) -> W::Output {
        // SAFETY: the target features are the only requirement, and `self` proves them.
        unsafe { run(self, work) }
    }
}

pub(super) fn has_bit_instructions() -> bool {
    is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("popcnt")
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn run<W: Work>(avx2: Avx2, work: W) -> W::Output {
    work.with(avx2)
}

/// See [`portable::positions`].
#[inline(always)]
pub(super) fn positions(_: Avx2, line: &Line, rest: &[u8]) -> u64 {
    // SAFETY: the target features are the only requirement, and the proof is given.
    unsafe { positions_by_32(line, rest) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn positions_by_32(line: &Line, rest: &[u8]) -> u64 {
    let row = |index: usize| {
        let bytes = line.as_bytes()[index * CHUNK_BYTES..].first_chunk();
        _mm256_broadcastsi128_si256(vector(bytes.expect("a line has four rows")))
    };
    let rows = [row(0), row(1), row(2), row(3)];
    let Some(last) = rest.len().checked_sub(CHUNK_BYTES) else {
        let chunk = _mm256_zextsi128_si256(vector(&short_chunk(rest)));
        return u64::from(positions_of(rows, chunk) & 0xffff);
    };
    let chunk = |start: usize| {
        let bytes = rest[start..].first_chunk();
        vector(bytes.expect("a chunk within the path"))
    };
    let mut positions = 0;
    for start in [0, 2 * POSITIONS] {
        let [one, other] =
            [start, start + POSITIONS].map(|start| start.min(last).min(WINDOW - POSITIONS));
        let found = positions_of(rows, _mm256_set_m128i(chunk(other), chunk(one)));
        let valid =
            |found: u32, start: usize| (u64::from(found) & valid_positions(start == last)) << start;
        positions |= valid(found, one) | valid(found >> CHUNK_BYTES, other);
        if last <= start + POSITIONS {
            break;
        }
    }
    positions
}

#[inline]
pub(super) fn vector(bytes: &[u8; CHUNK_BYTES]) -> __m128i {
    // SAFETY: both types are sixteen bytes, and any bytes are valid.
    unsafe { std::mem::transmute(*bytes) }
}

/// Returns a mask of the positions of two chunks that match a bucket.
#[inline]
#[target_feature(enable = "avx2")]
fn positions_of(rows: [__m256i; 4], first: __m256i) -> u32 {
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
    let unmatched = _mm256_cmpeq_epi8(buckets, _mm256_setzero_si256());
    !_mm256_movemask_epi8(unmatched).cast_unsigned()
}
