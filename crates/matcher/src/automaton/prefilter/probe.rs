//! Looks by what the processor can do: the same answers, in fewer steps where it has wide vectors. First looks
//! are made at eight paths at once.

use zerocopy::little_endian::U64;

use crate::automaton::Outcome;
use crate::automaton::chunk::first_bytes;
use crate::vectors::Kind;

#[cfg(target_arch = "x86_64")]
use super::x86;
use super::{FirstProbe, PrefilterLine, filter, pairs};

/// What looks are made with.
pub trait Probe: Kind {
    /// See [`look_of_one_at`].
    #[inline(always)]
    fn look_of_one_at_eight(self, look: &FirstProbe<'_>, paths: &[&[u8]; 8]) -> FirstProbes {
        #[cfg(target_arch = "x86_64")]
        if let Some(avx512) = self.avx512() {
            return x86::look_of_one_at(avx512, look, paths);
        }
        look_of_one_at(look, paths)
    }

    /// See [`look_at`].
    #[inline(always)]
    fn probe_eight(
        self,
        lines: &[PrefilterLine],
        starts: &[[u32; 2]; 8],
        paths: &[&[u8]; 8],
    ) -> (FirstProbes, [Outcome; 8]) {
        #[cfg(target_arch = "x86_64")]
        if let Some(avx512) = self.avx512() {
            return x86::look_at(avx512, lines, starts, paths);
        }
        look_at(lines, starts, paths)
    }

    /// See [`pairs::places`].
    #[inline(always)]
    fn places(self, line: &PrefilterLine, rest: &[u8]) -> u64 {
        #[cfg(target_arch = "x86_64")]
        if let Some(avx512) = self.avx512() {
            return x86::places_by_64(avx512, line, rest);
        } else if let Some(avx2) = self.avx2() {
            return x86::places_by_32(avx2, line, rest);
        }
        pairs::places(line, rest)
    }

    /// See [`filter::levels_of`]; the first bytes are those of `text`.
    #[inline(always)]
    fn levels_of(self, filter: &[U64], text: &[u8], levels: u8) -> Option<u8> {
        #[cfg(target_arch = "x86_64")]
        if let Some(avx512) = self.avx512() {
            return x86::levels_of(avx512, filter, text, levels);
        }
        filter::levels_of(filter, first_bytes(text), levels)
    }
}

impl<K: Kind> Probe for K {}

/// What first looks tell of eight paths: a bit for each, the first one lowest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FirstProbes {
    /// Whether the path has to be asked about alone, so that the others tell nothing of it. It is so for
    /// those of which a prefilter cannot speak, for `/robots.txt`, and for short ones.
    pub odd: u8,
    /// Whether to look at [prefixes](super::probe_prefixes).
    pub probe_prefixes: u8,
    /// Whether to look for [stretches](super::probe_literals).
    pub has_literals: u8,
}

/// Whether a path is too short to be looked at together with others, or as long as `/robots.txt`.
#[inline(always)]
pub(super) fn is_odd(path: &[u8]) -> bool {
    path.len() < size_of::<u64>() || path.len() == b"/robots.txt".len()
}

impl FirstProbes {
    fn add(&mut self, place: usize, look: Option<&FirstProbe<'_>>, path: &[u8]) {
        let look = look.filter(|_| !is_odd(path));
        match look.and_then(|look| Some((look.probe_prefixes(path)?, look.has_literals))) {
            Some((probe_prefixes, has_literals)) => {
                self.probe_prefixes |= u8::from(probe_prefixes) << place;
                self.has_literals |= u8::from(has_literals) << place;
            }
            None => self.odd |= 1 << place,
        }
    }
}

/// The first looks of one prefilter at paths.
pub(super) fn look_of_one_at(look: &FirstProbe<'_>, paths: &[&[u8]; 8]) -> FirstProbes {
    let mut probe = FirstProbes::default();
    paths.iter().enumerate().for_each(|(place, path)| probe.add(place, Some(look), path));
    probe
}

/// The first looks at paths, each by the prefilter that stands at the first of two words, and what each path means
/// if no look finds anything. The latter means nothing for those that are odd.
pub(super) fn look_at(
    lines: &[PrefilterLine],
    starts: &[[u32; 2]; 8],
    paths: &[&[u8]; 8],
) -> (FirstProbes, [Outcome; 8]) {
    let (mut probe, mut otherwise) = (FirstProbes::default(), [Outcome::NONE; 8]);
    for (place, (start, path)) in starts.iter().zip(paths).enumerate() {
        let look = FirstProbe::of(lines, start[0] as usize);
        probe.add(place, look.as_ref(), path);
        otherwise[place] = look.map_or(Outcome::NONE, |look| look.otherwise);
    }
    (probe, otherwise)
}
