//! Looks by what the processor can do: the same answers, in fewer steps where it has wide vectors.

use zerocopy::little_endian::U64;

use crate::automaton::chunk::first_octets;
use crate::vectors::Kind;

#[cfg(target_arch = "x86_64")]
use super::x86;
use super::{SieveLine, filter, pairs};

/// What looks are made with.
pub(crate) trait Looks: Kind {
    /// See [`pairs::places`].
    #[inline(always)]
    fn places(self, line: &SieveLine, rest: &[u8]) -> u64 {
        #[cfg(target_arch = "x86_64")]
        if let Some(avx512) = self.avx512() {
            return x86::places_by_64(avx512, line, rest);
        } else if let Some(avx2) = self.avx2() {
            return x86::places_by_32(avx2, line, rest);
        }
        pairs::places(line, rest)
    }

    /// See [`filter::levels_of`]; the first octets are those of `text`.
    #[inline(always)]
    fn levels_of(self, filter: &[U64], text: &[u8], levels: u8, prefix: u64) -> Option<u8> {
        #[cfg(target_arch = "x86_64")]
        if let Some(avx512) = self.avx512() {
            return x86::levels_of(avx512, filter, text, levels, prefix);
        }
        filter::levels_of(filter, first_octets(text), levels, prefix)
    }
}

impl<K: Kind> Looks for K {}
