//! Vectors of x86-64 processors.

#![allow(unsafe_code, reason = "calls vector instructions")]

use std::arch::x86_64::{__m512i, _mm512_maskz_loadu_epi8};

use super::{Work, first_bits};

/// See [`Kind::avx2`](super::Kind::avx2). Nearly every such processor has them.
#[derive(Clone, Copy, Debug)]
pub struct Avx2(());

impl Avx2 {
    pub(super) fn detect() -> Option<Avx2> {
        (is_x86_feature_detected!("avx2") && has_bit_instructions()).then_some(Avx2(()))
    }

    /// Does work, compiled for processors that have these.
    #[inline]
    pub(super) fn run<W: Work>(self, work: W) -> W::Output {
        // SAFETY: the function has no duty but to be called where its instructions are, and this value
        // says that they are.
        unsafe { run_by_32(self, work) }
    }
}

/// Whether there is what finds and counts bits, as wherever these vectors are.
fn has_bit_instructions() -> bool {
    is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("popcnt")
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn run_by_32<W: Work>(avx2: Avx2, work: W) -> W::Output {
    work.with(avx2)
}

/// See [`Kind::avx512`](super::Kind::avx512).
#[derive(Clone, Copy, Debug)]
pub struct Avx512(());

impl Avx512 {
    pub(super) fn detect() -> Option<Avx512> {
        let is_there = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
            && has_bit_instructions();
        is_there.then_some(Avx512(()))
    }

    /// Does work, compiled for processors that have these.
    #[inline]
    pub(super) fn run<W: Work>(self, work: W) -> W::Output {
        // SAFETY: as for the narrower vectors.
        unsafe { run_by_64(self, work) }
    }
}

/// The first 64 bytes of `text`, or all and zeros behind them.
///
/// Of an empty text the address has to be one that can be read: to read nothing from nowhere takes the
/// processor long.
///
/// # Safety
///
/// Safe where AVX-512 F and BW are enabled; elsewhere the processor has to have them, as an
/// [`Avx512`] proves.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
pub fn first_bytes(text: &[u8]) -> __m512i {
    // SAFETY: bytes that the mask leaves out are not read; the others are those of the text.
    unsafe { _mm512_maskz_loadu_epi8(first_bits(text.len()), text.as_ptr().cast()) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn run_by_64<W: Work>(avx512: Avx512, work: W) -> W::Output {
    work.with(avx512)
}
