//! Runtime dispatch to the vector instructions of the processor.
//!
//! A portable binary must not execute an instruction that the processor lacks. [`Vectors::detect`]
//! queries the processor once, and its result is a proof: a function that takes an [`Avx512`] may
//! use AVX-512. [`Vectors::run`] runs [`Work`] with the widest kind. Work is compiled once per kind
//! as a whole, so steps on single bytes are inlined into loops over many texts, and dispatch
//! happens once per loop.
//!
//! There is one file for each kind. `portable` has every kernel and is the definition; the files of
//! the others have functions of the same names, with the same results, and all `unsafe` code for
//! instructions of the processor. Nothing can fail: [`Portable`] is always available.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod portable;

use zerocopy::little_endian::U64;

use crate::filter::head::FirstProbes;
use crate::line::Line;
use crate::outcome::Outcome;

#[cfg(not(target_arch = "x86_64"))]
pub use absent::{Avx2, Avx512};
#[cfg(target_arch = "x86_64")]
pub use {avx2::Avx2, avx512::Avx512};

pub(crate) use portable::WINDOW;

/// Questions that are probed together.
pub(crate) const EIGHT: usize = 8;

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
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn avx2(self) -> Option<Avx2> {
        Some(self.avx2())
    }

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

/// The kernels of a [prefilter](crate::filter), with the vectors of a kind.
pub(crate) trait Kernels: Kind {
    /// See [`portable::probe_eight`].
    #[inline(always)]
    fn probe_eight(
        self,
        lines: &[Line],
        starts: &[u32; EIGHT],
        paths: &[&[u8]; EIGHT],
    ) -> (FirstProbes, [Outcome; EIGHT]) {
        #[cfg(target_arch = "x86_64")]
        if let Some(kind) = self.avx512() {
            return avx512::probe_eight(kind, lines, starts, paths);
        } else if let Some(kind) = self.avx2() {
            return avx2::probe_eight(kind, lines, starts, paths);
        }
        portable::probe_eight(lines, starts, paths)
    }

    /// See [`portable::positions`].
    #[inline(always)]
    fn positions(self, line: &Line, rest: &[u8]) -> u64 {
        #[cfg(target_arch = "x86_64")]
        if let Some(kind) = self.avx512() {
            return avx512::positions(kind, line, rest);
        } else if let Some(kind) = self.avx2() {
            return avx2::positions(kind, line, rest);
        }
        portable::positions(line, rest)
    }

    /// See [`portable::levels_of`].
    #[inline(always)]
    fn levels_of(self, filter: &[U64], text: &[u8], levels: u8) -> Option<u8> {
        #[cfg(target_arch = "x86_64")]
        if let Some(kind) = self.avx512() {
            return avx512::levels_of(kind, filter, text, levels);
        } else if let Some(kind) = self.avx2() {
            return avx2::levels_of(kind, filter, text, levels);
        }
        portable::levels_of(filter, text, levels)
    }
}

impl<K: Kind> Kernels for K {}

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
pub fn prefetch(byte: &u8) {
    #[cfg(target_arch = "x86_64")]
    #[allow(unsafe_code, reason = "calls an instruction of the processor")]
    // SAFETY: SSE is part of x86-64, and prefetching has no effect but on the caches.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(byte).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    std::hint::black_box(*byte);
}

/// Other processors: no value of these types exists.
#[cfg(not(target_arch = "x86_64"))]
mod absent {
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
