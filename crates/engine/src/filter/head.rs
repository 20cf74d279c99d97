//! The head of a prefilter, and its first probe, which reads no more than that.

use zerocopy::little_endian::{U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use crate::bytes::first_bytes;
use crate::line::Line;
use crate::outcome::Outcome;

use super::{bloom, index};

/// The start of a prefilter.
#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub(crate) struct Head {
    /// The outcome of a path in which no probe finds anything.
    pub(crate) otherwise: U32,
    /// The mask of the bytes that the first probe tests.
    pub(crate) first_mask: U32,
    /// The levels of prefixes, one bit each; see [`bloom::LEVELS`].
    pub(crate) prefix_levels: u8,
    /// The levels of literals; 0 if no pattern requires a literal alone.
    pub(crate) literal_levels: u8,
    /// The levels of prefixes that are required alone.
    pub(crate) alone_levels: u8,
    /// The levels of prefixes that are required together with a literal.
    pub(crate) both_levels: u8,
    /// The lines of the head and the first probe's filter.
    pub(crate) first_lines: U32,
    /// The words of the filter of prefixes and literals.
    pub(crate) filter_words: U32,
    /// The number of entries of the index and, in the highest bits, its seed.
    pub(crate) entries: U32,
}

/// The position of the seed in [`Head::entries`].
pub(crate) const SEED_SHIFT: u32 = 24;
const _: () =
    assert!(index::PLACES_MAX < 1 << SEED_SHIFT && index::SEEDS_MAX <= 1 << (32 - SEED_SHIFT));

pub(crate) const HEAD_WORDS: usize = size_of::<Head>() / size_of::<U64>();

impl Head {
    /// Returns the head at the first of `lines`; `None` if there is none.
    #[inline]
    pub(crate) fn of(lines: &[Line]) -> Option<&Head> {
        Head::ref_from_prefix(lines.as_bytes()).ok().map(|(head, _)| head)
    }

    pub(crate) fn has_probes(&self) -> bool {
        self.prefix_levels | self.literal_levels != 0
    }

    /// Returns the byte pairs of literals that are required alone.
    #[inline]
    pub(crate) fn pairs<'l>(&self, lines: &'l [Line]) -> Option<&'l Line> {
        lines.get(self.first_lines.get() as usize)
    }

    /// Returns the byte pairs of literals that are required together with a prefix.
    #[inline]
    pub(crate) fn pairs_of_both<'l>(&self, lines: &'l [Line]) -> Option<&'l Line> {
        lines.get(self.first_lines.get() as usize + usize::from(self.literal_levels != 0))
    }

    #[inline]
    pub(crate) fn entries(&self) -> usize {
        (self.entries.get() & ((1 << SEED_SHIFT) - 1)) as usize
    }

    #[inline]
    pub(crate) fn seed(&self) -> u32 {
        self.entries.get() >> SEED_SHIFT
    }

    /// Returns the filter of prefixes and literals, and the words behind it.
    #[inline]
    pub(crate) fn filter<'l>(&self, lines: &'l [Line]) -> Option<(&'l [U64], &'l [U64])> {
        let pair_lines = usize::from(self.literal_levels != 0) + usize::from(self.both_levels != 0);
        let words = lines.get(self.first_lines.get() as usize + pair_lines..)?.as_flattened();
        words.split_at_checked(self.filter_words.get() as usize)
    }
}

/// The first probe of a prefilter: does a path start like any prefix?
#[derive(Clone, Copy)]
pub struct FirstProbe<'l> {
    /// The outcome of a path in which no probe finds anything.
    pub otherwise: Outcome,
    /// Whether [`probe_literals`](super::probe_literals) is needed for every path.
    pub has_literals: bool,
    filter: &'l [U64],
    mask: u64,
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

    /// Returns whether [`probe_prefixes`](super::probe_prefixes) is needed for `path`; `None` if the prefilter cannot
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
    /// Whether [`probe_prefixes`](super::probe_prefixes) is needed.
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
    pub(crate) fn add(&mut self, place: usize, first: Option<&FirstProbe<'_>>, path: &[u8]) {
        match first.and_then(|first| Some((first.probe_prefixes(path)?, first.has_literals))) {
            Some((probe_prefixes, has_literals)) => {
                self.probe_prefixes |= u8::from(probe_prefixes) << place;
                self.has_literals |= u8::from(has_literals) << place;
            }
            None => self.undecided |= 1 << place,
        }
    }
}
