//! Vectors that not every processor has, and work that is compiled for each kind of them.
//!
//! A program for all processors of a family may not hold an instruction where it is not known to be there.
//! So what a processor has is asked once, as the program runs, and told by values that only that question
//! makes: who holds an [`Avx512`] may use its methods. [`Vectors::run`] does [`Work`] with the best
//! kind. The work is compiled once for each kind, whole, so that steps on single bytes are inlined
//! into loops over many texts, and the kind is chosen once for the loop.
//!
//! It owns the kinds, and operations that several modules use. Those of one module only stand there. It cannot
//! fail: without wide vectors there is [`Portable`].

#[cfg_attr(target_arch = "x86_64", path = "x86.rs")]
#[cfg_attr(not(target_arch = "x86_64"), path = "none.rs")]
mod wide;

#[cfg(target_arch = "x86_64")]
pub use wide::first_bytes;
pub use wide::{Avx2, Avx512};

/// A kind of vectors.
#[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "there is one kind"))]
pub trait Kind: Copy {
    /// Those of 32 bytes.
    #[inline(always)]
    fn avx2(self) -> Option<Avx2> {
        None
    }

    /// Those of 64 bytes, with masks.
    #[inline(always)]
    fn avx512(self) -> Option<Avx512> {
        None
    }
}

/// What every processor has.
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

/// Work that is compiled for each kind of vectors.
///
/// What it calls with single vectors should be functions of that kind themselves, as they are where vectors
/// are used at all: inlining is nothing to rely on, and a call for each instruction costs more than all of
/// them.
pub trait Work {
    /// What comes of it.
    type Output;

    /// Does it. What this calls is compiled for the kind as far as it is inlined, so it should be
    /// `inline(always)` itself.
    fn with(self, kind: impl Kind) -> Self::Output;
}

/// The vectors that work is done with: those of this processor, or narrower ones.
///
/// Every kind gives the same answers, and the widest gives them soonest. The others are for tests, which
/// ask with all kinds on one machine.
#[derive(Clone, Copy, Debug)]
pub struct Vectors(Widest);

#[derive(Clone, Copy, Debug)]
enum Widest {
    Portable,
    Avx2(Avx2),
    Avx512(Avx512),
}

impl Vectors {
    /// The widest that this processor has.
    pub fn detect() -> Vectors {
        let wide = Avx512::detect().map(Widest::Avx512);
        Vectors(wide.or_else(|| Avx2::detect().map(Widest::Avx2)).unwrap_or(Widest::Portable))
    }

    /// All that this processor has, the narrowest first: there is at least one kind.
    pub fn all() -> Vec<Vectors> {
        let mut all = vec![Vectors(Widest::Portable)];
        all.extend(Avx2::detect().map(|avx2| Vectors(Widest::Avx2(avx2))));
        all.extend(Avx512::detect().map(|avx512| Vectors(Widest::Avx512(avx512))));
        all
    }

    /// Those of 64 bytes, for functions that have no other use for vectors.
    #[inline]
    pub fn avx512(self) -> Option<Avx512> {
        match self.0 {
            Widest::Avx512(avx512) => Some(avx512),
            _ => None,
        }
    }

    /// Does work with them.
    #[inline]
    pub fn run<W: Work>(self, work: W) -> W::Output {
        match self.0 {
            Widest::Portable => work.with(Portable),
            Widest::Avx2(avx2) => avx2.run(work),
            Widest::Avx512(avx512) => avx512.run(work),
        }
    }
}

/// The bits of the first `count` places of 64.
#[cfg(target_arch = "x86_64")]
#[inline]
pub fn first_bits(count: usize) -> u64 {
    if count < 64 { !(u64::MAX << count) } else { u64::MAX }
}
