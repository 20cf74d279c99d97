//! The probes of a prefilter, with the vectors that the processor has.
//!
//! The first probe runs over eight paths at once and reads one or two lines of each prefilter. The
//! probes of prefixes and literals run per path. [`Probe`] chooses the implementation for the kind
//! of vectors; all give the same answers.

use zerocopy::little_endian::U64;
use zerocopy::{FromBytes, IntoBytes};

use crate::bytes::first_bytes;
use crate::outcome::Outcome;
use crate::ruleset::Line;
#[cfg(target_arch = "x86_64")]
use crate::simd;
use crate::vectors::Kind;

use super::{HEAD_WORDS, Head, bloom, teddy};

/// The first probe of a prefilter: does a path start like any prefix?
#[derive(Clone, Copy)]
pub struct FirstProbe<'l> {
    /// The outcome of a path in which no probe finds anything.
    pub otherwise: Outcome,
    /// Whether [`probe_literals`] is needed for every path.
    pub has_literals: bool,
    pub(crate) filter: &'l [U64],
    pub(crate) mask: u64,
}

impl<'l> FirstProbe<'l> {
    /// Returns the first probe of the prefilter at `at`; `None` if there is none.
    #[inline]
    pub fn of(lines: &'l [Line], at: usize) -> Option<FirstProbe<'l>> {
        let line = lines.get(at)?;
        let (head, filter) = Head::ref_from_prefix(line.as_bytes()).ok()?;
        let filter = match head.first_lines.get() {
            1 => <[U64]>::ref_from_bytes(filter).ok()?,
            count => lines.get(at..)?.get(..count as usize)?.as_flattened().get(HEAD_WORDS..)?,
        };
        let otherwise = Outcome(head.otherwise.get());
        let (has_literals, mask) = (head.literal_levels != 0, head.first_mask.get().into());
        otherwise.is_valid().then_some(FirstProbe { otherwise, has_literals, filter, mask })
    }

    /// Returns whether [`probe_prefixes`] is needed for `path`; `None` if the prefilter cannot
    /// decide the path.
    #[inline]
    pub fn probe_prefixes(&self, path: &[u8]) -> Option<bool> {
        let bytes = beginning(path);
        match bytes as u8 {
            b'/' => bloom::has(self.filter, bytes >> 8 & self.mask),
            _ => None,
        }
    }
}

/// The first probes of eight paths: a bit for each path, the first one lowest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FirstProbes {
    /// Whether the path has to be handled alone, because no prefilter can decide it; the other bits are
    /// then meaningless.
    pub undecided: u8,
    /// Whether [`probe_prefixes`] is needed.
    pub probe_prefixes: u8,
    /// Whether [`probe_literals`] is needed.
    pub has_literals: u8,
}

/// Returns the first bytes of a path, padded with zeros.
#[inline(always)]
pub(crate) fn beginning(path: &[u8]) -> u64 {
    match path.first_chunk() {
        Some(chunk) => u64::from_le_bytes(*chunk),
        None => first_bytes(path) as u64,
    }
}

impl FirstProbes {
    /// Returns the probes of these paths only.
    #[inline(always)]
    #[must_use]
    pub fn among(self, paths: u8) -> FirstProbes {
        FirstProbes {
            undecided: self.undecided & paths,
            probe_prefixes: self.probe_prefixes & paths,
            has_literals: self.has_literals & paths,
        }
    }

    fn add(&mut self, place: usize, first: Option<&FirstProbe<'_>>, path: &[u8]) {
        match first.and_then(|first| Some((first.probe_prefixes(path)?, first.has_literals))) {
            Some((probe_prefixes, has_literals)) => {
                self.probe_prefixes |= u8::from(probe_prefixes) << place;
                self.has_literals |= u8::from(has_literals) << place;
            }
            None => self.undecided |= 1 << place,
        }
    }
}

/// Returns the levels at which `path` may start with a prefix; none if it starts with no prefix. A
/// damaged prefilter returns all levels.
#[inline(always)]
pub fn probe_prefixes(lines: &[Line], at: usize, path: &[u8], probe: impl Probe) -> u8 {
    prefix_levels(lines, at, path, probe).unwrap_or(u8::MAX)
}

// Not closures: those are inlined only while one block asks.
#[inline(always)]
fn prefix_levels(lines: &[Line], at: usize, path: &[u8], probe: impl Probe) -> Option<u8> {
    let (lines, head) = Head::at(lines, at)?;
    probe.levels_of(head.filter(lines)?.0, path.get(1..)?, head.prefix_levels)
}

/// Returns whether `path` may contain a required literal: a byte pair at a position whose bytes the
/// Bloom filter may have. A damaged prefilter returns true.
#[inline(always)]
pub fn probe_literals(lines: &[Line], at: usize, path: &[u8], probe: impl Probe) -> bool {
    may_have_literal(lines, at, path, probe) != Some(false)
}

#[inline(always)]
fn may_have_literal(lines: &[Line], at: usize, path: &[u8], probe: impl Probe) -> Option<bool> {
    let (lines, head) = Head::at(lines, at)?;
    let pairs = head.pairs(lines)?;
    let (filter, _) = head.filter(lines)?;
    if filter.is_empty() {
        return None;
    }
    let may_have = |position: usize| {
        let text = path.get(position..).unwrap_or_default();
        probe.levels_of(filter, text, head.literal_levels) != Some(0)
    };
    Some(teddy::any(pairs, path, probe, may_have))
}

/// A kind of vectors as an implementation of the probes.
pub trait Probe: Kind {
    /// Probes eight paths, each by the prefilter at the first word of its `starts`. Also returns
    /// the outcome of each path if no probe finds anything, which is meaningless for undecided paths.
    #[inline(always)]
    fn probe_eight(
        self,
        lines: &[Line],
        starts: &[[u32; 2]; 8],
        paths: &[&[u8]; 8],
    ) -> (FirstProbes, [Outcome; 8]) {
        #[cfg(target_arch = "x86_64")]
        if let Some(avx512) = self.avx512() {
            return simd::probe_eight(avx512, lines, starts, paths);
        }
        probe_eight(lines, starts, paths)
    }

    /// Returns the positions of byte pairs; see `teddy::positions`.
    #[inline(always)]
    fn positions(self, line: &Line, rest: &[u8]) -> u64 {
        #[cfg(target_arch = "x86_64")]
        if let Some(avx512) = self.avx512() {
            return simd::positions_by_64(avx512, line, rest);
        } else if let Some(avx2) = self.avx2() {
            return simd::positions_by_32(avx2, line, rest);
        }
        teddy::positions(line, rest)
    }

    /// Looks up the first bytes of `text`; see `bloom::levels_of`.
    #[inline(always)]
    fn levels_of(self, filter: &[U64], text: &[u8], levels: u8) -> Option<u8> {
        #[cfg(target_arch = "x86_64")]
        if let Some(avx512) = self.avx512() {
            return simd::levels_of(avx512, filter, text, levels);
        }
        bloom::levels_of(filter, first_bytes(text), levels)
    }
}

impl<K: Kind> Probe for K {}

/// [`Probe::probe_eight`] without vectors.
pub(crate) fn probe_eight(
    lines: &[Line],
    starts: &[[u32; 2]; 8],
    paths: &[&[u8]; 8],
) -> (FirstProbes, [Outcome; 8]) {
    let (mut probes, mut otherwise) = (FirstProbes::default(), [Outcome::NONE; 8]);
    for (place, (start, path)) in starts.iter().zip(paths).enumerate() {
        let first = FirstProbe::of(lines, start[0] as usize);
        probes.add(place, first.as_ref(), path);
        otherwise[place] = first.map_or(Outcome::NONE, |first| first.otherwise);
    }
    (probes, otherwise)
}
