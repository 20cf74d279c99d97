//! The head of a prefilter, and step 1, which reads no more than that.

use zerocopy::little_endian::{U16, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use crate::bytes::{Line, first_bytes};
use crate::outcome::Outcome;

use super::gate::{Fewer, Gate};
use super::{bloom, index};

/// The start of a prefilter.
#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub(crate) struct Head {
    /// The outcome of a path in which no probe finds anything.
    pub(crate) otherwise: U32,
    /// How many bytes after the first `/` the first probe tests; see [`Fewer`].
    pub(crate) prefixes_fewer: U16,
    /// How many bytes of a literal the [gate](Gate) tests; see [`Fewer`].
    pub(crate) literals_fewer: U16,
    /// The levels of prefixes, one bit each; see [`bloom::LEVELS`].
    pub(crate) prefix_levels: u8,
    /// The levels of literals; 0 if no pattern requires one.
    pub(crate) literal_levels: u8,
    /// Zero.
    pub(crate) reserved: U16,
    /// The lines of the head and the first probe's filter.
    pub(crate) first_lines: U32,
    /// The words of the filter of prefixes and literals.
    pub(crate) filter_words: U32,
    /// The number of entries of the index and, in the highest bits, its seed.
    pub(crate) entries: U32,
}

/// The most lines of a head and the first probe's filter.
///
/// Source: their words are counted in 32 bits. A rule set with a prefix in each pattern of a file has fewer.
pub(crate) const FIRST_LINES_MAX: u32 = 1 << 28;

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

    /// Returns the byte triples of literals.
    #[inline]
    pub(crate) fn triples<'l>(&self, lines: &'l [Line]) -> Option<&'l Line> {
        lines.get(self.first_lines.get() as usize)
    }

    /// Returns the gate of literals.
    #[inline(always)]
    pub(crate) fn gate<'l>(&self, lines: &'l [Line]) -> Option<Gate<'l>> {
        let (filter, _) = self.filter(lines)?;
        Some(Gate { filter, fewer: Fewer(self.literals_fewer.get()) })
    }

    #[inline]
    pub(crate) fn entries(&self) -> usize {
        (self.entries.get() & ((1 << SEED_SHIFT) - 1)) as usize
    }

    #[inline]
    pub(crate) fn seed(&self) -> u32 {
        self.entries.get() >> SEED_SHIFT
    }

    /// Returns the filter of prefixes and literals, and the words after it.
    #[inline]
    pub(crate) fn filter<'l>(&self, lines: &'l [Line]) -> Option<(&'l [U64], &'l [U64])> {
        let start = self.first_lines.get() as usize + usize::from(self.literal_levels != 0);
        let words = lines.get(start..)?.as_flattened();
        words.split_at_checked(self.filter_words.get() as usize)
    }
}

/// The parts of a path that step 1 leaves open, a bit for each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Open(pub(crate) u8);

impl Open {
    /// Whether the path may begin with a prefix.
    pub(crate) const PREFIXES: Open = Open(1);
    /// Whether the path has to be searched for literals.
    pub(crate) const LITERALS: Open = Open(1 << 1);
    /// Everything: the prefilter is off, or cannot decide the path.
    pub(crate) const ALL: Open = Open(1 << 2);

    /// Returns whether one of `queries` is open.
    #[inline(always)]
    pub(crate) fn has(self, queries: Open) -> bool {
        self.0 & queries.0 != 0
    }

    /// Returns whether anything is open.
    #[inline(always)]
    pub(crate) fn any(self) -> bool {
        self.0 != 0
    }
}

/// A query that step 1 left open.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OpenQuery(u64);

impl OpenQuery {
    #[inline(always)]
    pub(crate) fn new(number: u32, open: Open) -> OpenQuery {
        OpenQuery(u64::from(number) | u64::from(open.0) << 32)
    }

    /// Returns the query with the bits of its number below those that say what is open.
    #[inline(always)]
    pub(crate) fn from_word(word: u64) -> OpenQuery {
        OpenQuery(word)
    }

    #[inline(always)]
    pub(crate) fn number(self) -> usize {
        self.0 as u32 as usize
    }

    #[inline(always)]
    pub(crate) fn open(self) -> Open {
        Open((self.0 >> 32) as u8)
    }
}

/// Returns the first bytes of a path, padded with zeros.
#[inline(always)]
pub(crate) fn beginning(path: &[u8]) -> u64 {
    match path.first_chunk() {
        Some(chunk) => u64::from_le_bytes(*chunk),
        None => first_bytes(path) as u64,
    }
}

/// Step 1 for a path by the prefilter at line `at`: does it start like any prefix? Returns the outcome if
/// nothing is found, and what is left open.
#[inline(always)]
pub(crate) fn first_probe(lines: &[Line], at: usize, path: &[u8]) -> (Outcome, Open) {
    probe(lines, at, path).unwrap_or((Outcome::LOST, Open::ALL))
}

#[inline(always)]
fn probe(lines: &[Line], at: usize, path: &[u8]) -> Option<(Outcome, Open)> {
    let head = Head::of(std::slice::from_ref(lines.get(at)?))?;
    let first_lines = Some(head.first_lines.get()).filter(|lines| *lines <= FIRST_LINES_MAX)?;
    let words = lines.get(at..at + first_lines as usize)?.as_flattened();
    let (filter, fewer) = (words.get(HEAD_WORDS..)?, Fewer(head.prefixes_fewer.get()));
    let otherwise = Outcome(head.otherwise.get());
    let start = beginning(path);
    if start as u8 != b'/' || !otherwise.is_valid() {
        return None;
    }
    let begins = bloom::has(filter, fewer.tested((start >> 8) as u32))?;
    Some((otherwise, Open(u8::from(begins) | u8::from(head.literal_levels != 0) << 1)))
}
