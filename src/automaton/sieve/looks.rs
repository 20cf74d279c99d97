//! Looks by what the processor can do: the same answers, in fewer steps where it has wide vectors.

use zerocopy::little_endian::U64;

use crate::automaton::Outcome;
use crate::automaton::chunk::first_octets;
use crate::vectors::Kind;

use super::eight::{self, FirstLooks};
use super::{FirstLook, SieveLine, filter, pairs};
#[cfg(target_arch = "x86_64")]
use super::{x86, x86_eight};

/// What looks are made with.
pub(crate) trait Looks: Kind {
    /// See [`eight::look_of_one_at`].
    #[inline(always)]
    fn look_of_one_at_eight(self, look: &FirstLook<'_>, paths: &[&[u8]; 8]) -> FirstLooks {
        #[cfg(target_arch = "x86_64")]
        if let Some(avx512) = self.avx512() {
            return x86_eight::look_of_one_at(avx512, look, paths);
        }
        eight::look_of_one_at(look, paths)
    }

    /// See [`eight::look_at`].
    #[inline(always)]
    fn look_at_eight(
        self,
        lines: &[SieveLine],
        starts: &[[u32; 2]; 8],
        paths: &[&[u8]; 8],
    ) -> (FirstLooks, [Outcome; 8]) {
        #[cfg(target_arch = "x86_64")]
        if let Some(avx512) = self.avx512() {
            return x86_eight::look_at(avx512, lines, starts, paths);
        }
        eight::look_at(lines, starts, paths)
    }

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
    fn levels_of(self, filter: &[U64], text: &[u8], levels: u8) -> Option<u8> {
        #[cfg(target_arch = "x86_64")]
        if let Some(avx512) = self.avx512() {
            return x86::levels_of(avx512, filter, text, levels);
        }
        filter::levels_of(filter, first_octets(text), levels)
    }
}

impl<K: Kind> Looks for K {}
