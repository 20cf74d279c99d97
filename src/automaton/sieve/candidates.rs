//! The patterns that looks leave, tried one by one.

use zerocopy::little_endian::{U32, U64};
use zerocopy::{FromBytes, IntoBytes};

use crate::automaton::Outcome;
use crate::automaton::chunk::{bits, first_octets};

use super::filter::{self, LEVELS};
use super::texts::{PatternTexts, Patterns};
use super::{Head, Looks, SieveLine, both, head_of, index, pairs};

/// What looks found in a path.
#[derive(Clone, Copy)]
pub(crate) struct Found {
    /// As [`may_begin`](super::may_begin) told; none if the first look did not ask for it.
    pub prefix_levels: u8,
    /// As [`may_stand`](super::may_stand) told.
    pub stretches: bool,
}

/// What the best pattern that matches `path` means, by trying those that the index names for what was found;
/// `None` if that takes a look at more than `left` entries of the index, from which those that are looked at are
/// taken.
#[inline]
pub(crate) fn try_candidates<'l>(
    (lines, at): (&'l [SieveLine], usize),
    patterns: Patterns<'l, impl PatternTexts<'l>>,
    path: &'l [u8],
    found: Found,
    (left, looks): (&'l mut usize, impl Looks),
) -> Option<Outcome> {
    let (sieve, head) = head_of(lines, at)?;
    let mut candidates = Candidates::new((sieve, head), patterns, left, path, looks)?;
    let octets = first_octets(path.get(1..)?);
    for level in bits((found.prefix_levels & head.prefix_levels).into()) {
        candidates.try_beginning(level, filter::cut(octets, level))?;
    }
    if found.stretches && head.stretch_levels != 0 {
        candidates.try_stretches()?;
    }
    let outcome = candidates.best.map_or(Outcome(head.otherwise.get()), |(_, outcome)| outcome);
    outcome.is_sound().then_some(outcome)
}

/// The patterns that are tried for one path.
struct Candidates<'l, T, L> {
    sieve: &'l [SieveLine],
    head: &'l Head,
    filter: &'l [U64],
    path: &'l [u8],
    index: &'l [U32],
    entries: usize,
    patterns: Patterns<'l, T>,
    left: &'l mut usize,
    looks: L,
    /// The position of the best one that matches, and what it means.
    best: Option<(usize, Outcome)>,
}

impl<'l, T: PatternTexts<'l>, L: Looks> Candidates<'l, T, L> {
    #[inline]
    fn new(
        (sieve, head): (&'l [SieveLine], &'l Head),
        patterns: Patterns<'l, T>,
        left: &'l mut usize,
        path: &'l [u8],
        looks: L,
    ) -> Option<Candidates<'l, T, L>> {
        let entries = head.entries();
        if *left == 0 || path.first() != Some(&b'/') || (entries == 0 && head.has_needs()) {
            return None;
        }
        let words = sieve.as_flattened().get(head.filter_start()..)?;
        let (filter, words) = words.split_at_checked(head.filter_words())?;
        let words = <[U32]>::ref_from_bytes(words.as_bytes()).ok()?;
        let index = words.get(..index::words_for(entries))?;
        Some(Candidates {
            sieve,
            head,
            filter,
            path,
            index,
            entries,
            patterns,
            left,
            looks,
            best: None,
        })
    }

    /// Tries the patterns that need a prefix, alone or beside a stretch, which was cut to a level; `None` if those
    /// are too many.
    #[inline]
    fn try_beginning(&mut self, level: usize, prefix: u64) -> Option<()> {
        if self.head.alone_levels >> level & 1 != 0 {
            self.try_all(prefix)?;
        }
        match self.head.both_levels >> level & 1 {
            0 => Some(()),
            _ => self.try_both(level, prefix),
        }
    }

    /// Tries the patterns that need a prefix and a stretch behind it.
    fn try_both(&mut self, level: usize, prefix: u64) -> Option<()> {
        let behind = self.path.get(1 + usize::from(LEVELS[level])..).unwrap_or_default();
        let pairs = self.head.pairs_of_both(self.sieve)?;
        let looks = self.looks;
        let fails = |place: usize| {
            let string = both::string_of(prefix, behind.get(place..).unwrap_or_default());
            filter::has(self.filter, string) != Some(false) && self.try_all(string).is_none()
        };
        (!pairs::stand(pairs, behind, looks, fails)).then_some(())
    }

    /// Tries the patterns that need a stretch which stands in the path.
    #[inline]
    fn try_stretches(&mut self) -> Option<()> {
        let (looks, path) = (self.looks, self.path);
        let pairs = self.head.pairs(self.sieve)?;
        let fails = |place: usize| {
            let text = path.get(place..).unwrap_or_default();
            let levels = looks.levels_of(self.filter, text, self.head.stretch_levels);
            let mut strings = filter::cuts(first_octets(text), levels.unwrap_or(u8::MAX));
            !strings.all(|string| self.try_all(string).is_some())
        };
        (!pairs::stand(pairs, path, looks, fails)).then_some(())
    }

    /// Tries the patterns that need a string; `None` if the bucket that it is in has more entries than are left.
    #[inline]
    fn try_all(&mut self, string: u64) -> Option<()> {
        let index = (self.index, self.entries, (string, self.head.seed()));
        let (words, print) = index::bucket_of(index.0, index.1, index.2)?;
        *self.left = self.left.checked_sub(words.len())?;
        for place in words.iter().filter_map(|&word| index::place_of(word, print)) {
            if self.best.is_none_or(|(best, _)| place < best) {
                let outcome = self.patterns.outcome_of(place, self.path)?;
                self.best = outcome.map(|it| (place, it)).or(self.best);
            }
        }
        Some(())
    }
}
