//! Looks by what the processor can do: the same answers, in fewer steps where it has wide vectors.

use zerocopy::little_endian::U64;

use crate::automaton::chunk::first_octets;

use super::{SieveLine, filter, pairs};

#[cfg(target_arch = "x86_64")]
use super::x86::{Avx2, Avx512};

/// The vectors that looks use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Vectors(Kind);

#[derive(Clone, Copy, Debug)]
enum Kind {
    /// Those that every processor has.
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512),
}

impl Vectors {
    /// The widest that this processor has.
    pub(crate) fn detect() -> Vectors {
        #[cfg(target_arch = "x86_64")]
        {
            let wide = Avx512::detect().map(Kind::Avx512);
            Vectors(wide.or_else(|| Avx2::detect().map(Kind::Avx2)).unwrap_or(Kind::Portable))
        }
        #[cfg(not(target_arch = "x86_64"))]
        Vectors(Kind::Portable)
    }

    /// All that this processor has.
    #[cfg(test)]
    pub(super) fn all() -> Vec<Vectors> {
        let mut all = vec![Vectors(Kind::Portable)];
        #[cfg(target_arch = "x86_64")]
        {
            all.extend(Avx2::detect().map(|avx2| Vectors(Kind::Avx2(avx2))));
            all.extend(Avx512::detect().map(|avx512| Vectors(Kind::Avx512(avx512))));
        }
        all
    }

    /// See [`pairs::places`].
    #[inline]
    pub(super) fn places(self, line: &SieveLine, rest: &[u8]) -> u64 {
        match self.0 {
            Kind::Portable => pairs::places(line, rest),
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2(avx2) => avx2.places(line, rest),
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512(avx512) => avx512.places(line, rest),
        }
    }

    /// See [`super::stretch_stands`].
    #[inline]
    pub(super) fn stretch_stands(
        self,
        line: &SieveLine,
        filter: &[U64],
        path: &[u8],
        levels: u8,
    ) -> Option<bool> {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512(avx512) => avx512.stretch_stands(line, filter, path, levels),
            _ => super::stretch_stands(line, filter, path, levels, self),
        }
    }

    /// See [`filter::levels_of`]; the first octets are those of `text`.
    #[inline]
    pub(super) fn levels_of(self, filter: &[U64], text: &[u8], levels: u8) -> Option<u8> {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512(avx512) => avx512.levels_of(filter, text, levels),
            _ => filter::levels_of(filter, first_octets(text), levels),
        }
    }
}
