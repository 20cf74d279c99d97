//! Runtime dispatch to the vector instructions of the processor.
//!
//! A portable binary must not execute an instruction that the processor lacks. [`Vectors::detect`]
//! queries the processor once, and its result is a proof: a function that takes an [`Avx512`] may
//! use AVX-512. [`Vectors::run`] runs [`Work`] with the widest kind. Work is compiled once per kind
//! as a whole, so steps on single bytes are inlined into loops over many texts, and dispatch
//! happens once per loop.
//!
//! This module owns the kinds and the operations that several modules share. Operations of a single
//! module live there, for example in `automaton/prefilter/x86.rs`. Nothing can fail: [`Portable`]
//! is always available.

#[cfg(target_arch = "x86_64")]
pub use wide::first_bytes;
pub use wide::{Avx2, Avx512};

/// A kind of vector instructions.
#[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "there is one kind"))]
pub trait Kind: Copy {
    /// Returns the proof of 32-byte vectors.
    #[inline(always)]
    fn avx2(self) -> Option<Avx2> {
        None
    }

    /// Returns the proof of 64-byte vectors with masks.
    #[inline(always)]
    fn avx512(self) -> Option<Avx512> {
        None
    }
}

/// The kind that every processor has.
#[derive(Clone, Copy, Debug)]
pub struct Portable;

impl Kind for Portable {}

impl Kind for Avx2 {
    #[inline(always)]
    fn avx2(self) -> Option<Avx2> {
        Some(self)
    }
}

impl Kind for Avx512 {
    #[inline(always)]
    fn avx512(self) -> Option<Avx512> {
        Some(self)
    }
}

/// Work that is compiled once per kind of vectors.
///
/// Functions that it calls with single vectors should enable the instructions themselves: if one is
/// not inlined, the call costs more than its instructions.
pub trait Work {
    /// The result.
    type Output;

    /// Does the work. Only what is inlined into this is compiled for the kind, so implementations
    /// should be `inline(always)`.
    fn with(self, kind: impl Kind) -> Self::Output;
}

/// The vectors to work with: the widest of this processor, or narrower ones in tests.
///
/// Results do not depend on the kind.
#[derive(Clone, Copy, Debug)]
pub struct Vectors(Widest);

#[derive(Clone, Copy, Debug)]
enum Widest {
    Portable,
    Avx2(Avx2),
    Avx512(Avx512),
}

impl Vectors {
    /// Returns the widest vectors of this processor.
    pub fn detect() -> Vectors {
        let wide = Avx512::detect().map(Widest::Avx512);
        Vectors(wide.or_else(|| Avx2::detect().map(Widest::Avx2)).unwrap_or(Widest::Portable))
    }

    /// Returns all kinds of this processor, the narrowest first.
    pub fn all() -> Vec<Vectors> {
        let mut all = vec![Vectors(Widest::Portable)];
        all.extend(Avx2::detect().map(|avx2| Vectors(Widest::Avx2(avx2))));
        all.extend(Avx512::detect().map(|avx512| Vectors(Widest::Avx512(avx512))));
        all
    }

    /// Returns the proof of 64-byte vectors, for functions that need no [`Work`].
    #[inline]
    pub fn avx512(self) -> Option<Avx512> {
        match self.0 {
            Widest::Avx512(avx512) => Some(avx512),
            _ => None,
        }
    }

    /// Does `work` with these vectors.
    #[inline]
    pub fn run<W: Work>(self, work: W) -> W::Output {
        match self.0 {
            Widest::Portable => work.with(Portable),
            Widest::Avx2(avx2) => avx2.run(work),
            Widest::Avx512(avx512) => avx512.run(work),
        }
    }
}

/// Starts to load the cache line of a byte that will be read soon.
///
/// Unlike a load, it does not wait at the end of the processor's queue until the line arrives, so many
/// of them overlap with whatever follows. Other processors than x86-64 load the byte.
#[inline(always)]
#[cfg_attr(target_arch = "x86_64", allow(unsafe_code, reason = "prefetches"))]
pub fn prefetch(byte: &u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: SSE is part of x86-64, and prefetching has no effect but on the caches.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(byte).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    std::hint::black_box(*byte);
}

/// Returns a mask of the lowest `count` of 64 bits.
#[cfg(target_arch = "x86_64")]
#[inline]
pub fn first_bits(count: usize) -> u64 {
    if count < 64 { !(u64::MAX << count) } else { u64::MAX }
}

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code, reason = "calls vector instructions")]
mod wide {
    use std::arch::x86_64::{__m512i, _mm512_maskz_loadu_epi8};

    use super::{Work, first_bits};

    /// Proof of AVX2 and the bit-manipulation instructions; see [`Kind::avx2`](super::Kind::avx2).
    #[derive(Clone, Copy, Debug)]
    pub struct Avx2(());

    /// Proof of AVX-512 F, BW, DQ and VL; see [`Kind::avx512`](super::Kind::avx512).
    #[derive(Clone, Copy, Debug)]
    pub struct Avx512(());

    fn has_bit_instructions() -> bool {
        is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt")
    }

    impl Avx2 {
        pub(super) fn detect() -> Option<Avx2> {
            (is_x86_feature_detected!("avx2") && has_bit_instructions()).then_some(Avx2(()))
        }

        #[inline]
        pub(super) fn run<W: Work>(self, work: W) -> W::Output {
            // SAFETY: the target features are the only requirement, and `self` proves them.
            unsafe { run_by_32(self, work) }
        }
    }

    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn run_by_32<W: Work>(avx2: Avx2, work: W) -> W::Output {
        work.with(avx2)
    }

    impl Avx512 {
        pub(super) fn detect() -> Option<Avx512> {
            let is_there = is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl")
                && has_bit_instructions();
            is_there.then_some(Avx512(()))
        }

        #[inline]
        pub(super) fn run<W: Work>(self, work: W) -> W::Output {
            // SAFETY: the target features are the only requirement, and `self` proves them.
            unsafe { run_by_64(self, work) }
        }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
    fn run_by_64<W: Work>(avx512: Avx512, work: W) -> W::Output {
        work.with(avx512)
    }

    /// Returns the first 64 bytes of `text`, padded with zeros.
    ///
    /// The pointer of an empty text should be readable: a masked load from an unmapped page is
    /// slow.
    ///
    /// # Safety
    ///
    /// Safe where AVX-512 F and BW are enabled; elsewhere the caller needs an [`Avx512`] as proof.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    pub fn first_bytes(text: &[u8]) -> __m512i {
        // SAFETY: the mask limits the load to the bytes of `text`.
        unsafe { _mm512_maskz_loadu_epi8(first_bits(text.len()), text.as_ptr().cast()) }
    }
}

/// Other processors: no value of these types exists.
#[cfg(not(target_arch = "x86_64"))]
mod wide {
    macro_rules! absent {
        ($($name:ident),*) => {$(
            /// A kind that this processor does not have.
            #[derive(Clone, Copy, Debug)]
            pub enum $name {}

            impl $name {
                pub(super) fn detect() -> Option<$name> {
                    None
                }

                pub(super) fn run<W: super::Work>(self, _: W) -> W::Output {
                    match self {}
                }
            }
        )*};
    }

    absent!(Avx2, Avx512);
}
