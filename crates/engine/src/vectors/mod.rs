//! Runtime dispatch to the vector instructions of the processor.
//!
//! A portable binary must not execute an instruction that the processor lacks. [`Vectors::detect`]
//! queries the processor once, and its result is a proof: a function that takes an [`Avx2`] may
//! use AVX2. [`Vectors::run`] runs [`Work`] with the widest kind. Work is compiled once per kind
//! as a whole, so steps on single bytes are inlined into loops over many texts, and dispatch
//! happens once per loop.
//!
//! There is one file for each kind, with its kernels. `portable` is the definition of their results;
//! `avx2` has all `unsafe` code for instructions of the processor. Nothing can fail: [`Portable`] is
//! always available. A debug build has nothing else if the environment variable
//! `PORTCULLIS_PORTABLE` is set, so that its tests run without AVX2 once more.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod portable;
#[cfg(test)]
mod tests;

use zerocopy::little_endian::U64;

use crate::bytes::Line;
use crate::filter::head::OpenQuery;
use crate::outcome::Outcome;

#[cfg(not(target_arch = "x86_64"))]
pub use absent::Avx2;
#[cfg(target_arch = "x86_64")]
pub use avx2::Avx2;

pub(crate) use portable::WINDOW;

/// Queries that are probed together.
pub(crate) const FOUR: usize = 4;

/// Four queries, with the number of the first.
#[derive(Clone, Copy)]
pub(crate) struct Four<'p> {
    pub(crate) number: u32,
    /// The lines where their rule sets begin, or opaque outcomes.
    pub(crate) starts: [u32; FOUR],
    pub(crate) paths: [&'p [u8]; FOUR],
}

/// The answers of step 1 to four queries.
pub(crate) struct Probed {
    /// The opaque starts; the outcomes of the others, which have no meaning if the query is open.
    pub(crate) outcomes: [Outcome; FOUR],
    /// The open queries, and as many as are not.
    pub(crate) open: [OpenQuery; FOUR],
    /// The number of open queries.
    pub(crate) left: usize,
}

/// A kind of vector instructions.
#[allow(private_bounds, reason = "no other crate has a kind")]
pub trait Kind: Kernels {
    /// Returns the proof of 32-byte vectors.
    #[inline(always)]
    fn avx2(self) -> Option<Avx2> {
        None
    }
}

/// The kind that every processor has.
#[derive(Clone, Copy, Debug)]
pub struct Portable;

impl Kind for Portable {}

#[cfg(target_arch = "x86_64")]
impl Kind for Avx2 {
    #[inline(always)]
    fn avx2(self) -> Option<Avx2> {
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
pub(crate) trait Kernels: Copy {
    /// Takes [step 1](crate::filter::head::first_probe) for four queries, each by the prefilter at its line.
    fn first_probes(self, lines: &[Line], queries: Four<'_>) -> Probed;

    /// Returns a mask of the [`WINDOW`] positions of `path` from `start` on where a byte triple of a
    /// [line](crate::filter::teddy) may occur. `start` is the start of a window within the path.
    fn positions(self, line: &Line, path: &[u8], start: usize) -> u64;

    /// Returns the `levels` at which a Bloom filter may have the start of `text`; `None` if it has
    /// no words.
    fn levels_of(self, filter: &[U64], text: &[u8], levels: u8) -> Option<u8>;
}

/// The vectors to work with: the widest of this processor, or narrower ones in tests.
///
/// Results do not depend on the kind.
#[derive(Clone, Copy, Debug)]
pub struct Vectors(Option<Avx2>);

impl Vectors {
    /// Returns the widest vectors of this processor.
    pub fn detect() -> Vectors {
        Vectors(Avx2::detect())
    }

    /// Returns all kinds of this processor, the narrowest first.
    pub fn all() -> Vec<Vectors> {
        let mut all = vec![Vectors(None)];
        all.extend(Avx2::detect().map(|avx2| Vectors(Some(avx2))));
        all
    }

    /// Returns the name of the instructions: `AVX2`, or `portable`.
    pub fn name(self) -> &'static str {
        if self.0.is_some() { "AVX2" } else { "portable" }
    }

    /// Does `work` with these vectors.
    #[inline]
    pub fn run<W: Work>(self, work: W) -> W::Output {
        match self.0 {
            None => work.with(Portable),
            Some(avx2) => avx2.run(work),
        }
    }
}

/// Returns whether only portable vectors are to be used.
#[cfg(target_arch = "x86_64")]
fn is_portable_forced() -> bool {
    cfg!(debug_assertions) && std::env::var_os("PORTCULLIS_PORTABLE").is_some()
}

/// Starts to load the cache line where bytes begin that will be read soon.
///
/// Unlike a load, it does not wait at the end of the processor's queue until the line arrives, so many
/// of them overlap with whatever follows. Other processors than x86-64 load the first byte.
#[inline(always)]
pub fn prefetch(bytes: &[u8]) {
    #[cfg(target_arch = "x86_64")]
    #[allow(unsafe_code, reason = "calls an instruction of the processor")]
    // SAFETY: SSE is part of x86-64, and prefetching has no effect but on the caches.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(bytes.as_ptr().cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    std::hint::black_box(bytes.first());
}

/// Starts to load lines from `first` on, those that there are.
#[inline(always)]
pub fn prefetch_lines<const COUNT: usize>(lines: &[Line], first: usize) {
    // The end if there is none: a branch would be mispredicted, and an address is no access.
    let first = first.min(lines.len());
    #[cfg(target_arch = "x86_64")]
    #[allow(unsafe_code, reason = "calls an instruction of the processor")]
    for line in 0..COUNT {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let address = lines.as_ptr().wrapping_add(first + line);
        // SAFETY: SSE is part of x86-64, and prefetching any address has no effect but on the caches.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    for line in lines.iter().skip(first).take(COUNT) {
        prefetch(zerocopy::IntoBytes::as_bytes(line));
    }
}

/// Other processors: no value of this type exists.
#[cfg(not(target_arch = "x86_64"))]
mod absent {
    /// A kind that this processor does not have.
    #[derive(Clone, Copy, Debug)]
    pub enum Avx2 {}

    impl Avx2 {
        pub(super) fn detect() -> Option<Avx2> {
            None
        }

        pub(super) fn run<W: super::Work>(self, _: W) -> W::Output {
            match self {}
        }
    }
}
