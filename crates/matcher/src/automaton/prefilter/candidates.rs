//! The patterns that looks leave, tried one by one.
//!
//! The text of a pattern is in one piece, so that trying it costs an access to memory or two. It is made of
//! 16-bit units:
//!
//! | units | |
//! |---|---|
//! | 1 | the number of bytes × 4, + 1 if the path ends with the pattern, + 2 if each `*` is a star |
//! | 2 | the number of bytes, if it is [`LONG`] or more: the first unit has [`LONG`] instead |
//! | the rest | the bytes with their stars, two to a unit, filled up with a zero |
//!
//! Rule sets share the texts of equal patterns. A rule set is a *table* of a word for each pattern in order of
//! precedence: where its text begins × 2, + 1 if it allows.

use zerocopy::little_endian::{U16, U32, U64};
use zerocopy::{FromBytes, IntoBytes};

use crate::automaton::Outcome;
use crate::automaton::chunk::{bits, first_bytes};
use crate::automaton::scan::literals_match;
use crate::pattern::{PathPattern, PatternList};

use super::filter::{self, LEVELS};
use super::needs::string_of;
use super::{Head, Looks, SieveLine, head_of, index, pairs};

/// What looks found in a path.
#[derive(Clone, Copy)]
pub struct Found {
    /// As [`may_begin`](super::may_begin) told; none if the first look did not ask for it.
    pub prefix_levels: u8,
    /// As [`may_stand`](super::may_stand) told.
    pub stretches: bool,
}

/// What the best pattern that matches `path` means, by trying those that the index names for what was found;
/// `None` if that takes a look at more than `left` entries of the index, from which those that are looked at are
/// taken.
#[inline]
pub fn try_candidates<'l>(
    (lines, at): (&'l [SieveLine], usize),
    patterns: Patterns<'l, impl PatternTexts<'l>>,
    path: &'l [u8],
    found: Found,
    (left, looks): (&'l mut usize, impl Looks),
) -> Option<Outcome> {
    let (sieve, head) = head_of(lines, at)?;
    let mut candidates = Candidates::new((sieve, head), patterns, left, path, looks)?;
    let bytes = first_bytes(path.get(1..)?);
    for level in bits((found.prefix_levels & head.prefix_levels).into()) {
        candidates.try_beginning(level, filter::cut(bytes, level))?;
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
            let string = string_of(prefix, behind.get(place..).unwrap_or_default());
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
            let mut strings = filter::cuts(first_bytes(text), levels.unwrap_or(u8::MAX));
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

const ANCHORED: u16 = 1;
const HAS_STARS: u16 = 2;
const COUNT_SHIFT: u32 = 2;

/// The number of bytes that stands for a longer one, which follows.
const LONG: usize = 0x3fff;

/// Units of all texts, more than which a table cannot tell apart.
const TEXT_UNITS_MAX: usize = 1 << 31;

/// Units in which the texts of patterns stand.
pub trait PatternTexts<'l>: Copy {
    /// So many units from `at` on; `None` if they are not there, or damaged.
    fn units(self, at: usize, count: usize) -> Option<&'l [U16]>;
}

impl<'l> PatternTexts<'l> for &'l [U16] {
    #[inline(always)]
    fn units(self, at: usize, count: usize) -> Option<&'l [U16]> {
        self.get(at..)?.get(..count)
    }
}

/// The patterns of one rule set.
#[derive(Clone, Copy)]
pub struct Patterns<'l, T> {
    /// The table.
    pub table: &'l [U32],
    /// The texts of all rule sets.
    pub texts: T,
}

/// Appends the text of a pattern. One that has stars has no other `*` (see
/// [`normal_text`](crate::pattern::normal_text)).
pub fn push_text(pattern: &PathPattern<'_>, units: &mut Vec<U16>) {
    let stars = pattern.stars().len();
    let bytes = pattern.bytes.len() + stars;
    let anchored = if pattern.anchored { ANCHORED } else { 0 };
    let flags = anchored | if stars > 0 { HAS_STARS } else { 0 };
    units.push(U16::new((bytes.min(LONG) as u16) << COUNT_SHIFT | flags));
    if bytes >= LONG {
        let number = u32::try_from(bytes).expect("a rule set has fewer bytes than 32 bits count");
        units.extend([number as u16, (number >> 16) as u16].map(U16::new));
    }
    let start = units.len();
    units.resize(start + bytes.div_ceil(size_of::<U16>()), U16::new(0));
    let mut text = &mut units[start..].as_mut_bytes()[..bytes];
    for (index, literal) in pattern.literals().enumerate() {
        if index > 0 {
            text[0] = b'*';
            text = &mut text[1..];
        }
        text[..literal.len()].copy_from_slice(literal);
        text = &mut text[literal.len()..];
    }
}

/// The word of a table for the pattern whose text begins at `at`.
///
/// # Panics
///
/// If a table cannot tell that from other places.
pub fn table_word(at: usize, allows: bool) -> U32 {
    assert!(at < TEXT_UNITS_MAX, "patterns have fewer than 2^32 bytes; compile several sets");
    U32::new((at as u32) << 1 | u32::from(allows))
}

/// The units of the text that begins at `at`, if it is written as [`push_text`] does.
pub fn text_units<'l>(texts: impl PatternTexts<'l>, at: usize) -> Option<&'l [U16]> {
    let text = PatternText::at(texts, at)?;
    let mut patterns = PatternList::new();
    text.push_to(&mut patterns);
    let pattern = patterns.get(0);
    let mut units = Vec::new();
    push_text(&pattern, &mut units);
    // Stars that follow one another, or stand at the end, are written in another way.
    let ends_open = pattern.stars().last() == Some(pattern.bytes.len());
    let is_once = pattern.stars().is_sorted_by(|one, other| one < other);
    texts.units(at, units.len()).filter(|found| **found == *units && !ends_open && is_once)
}

/// A pattern that was written.
#[derive(Clone, Copy)]
pub struct PatternText<'w> {
    /// Its bytes with its stars, as a rule has them that is in normal form.
    pub bytes: &'w [u8],
    has_stars: bool,
    /// Whether the path ends with the pattern, which a rule says by `$`.
    pub is_anchored: bool,
}

impl<'w> PatternText<'w> {
    /// The pattern that begins at a place; `None` if there is none.
    #[inline]
    pub fn at(texts: impl PatternTexts<'w>, place: usize) -> Option<PatternText<'w>> {
        let shape = texts.units(place, 1)?[0].get();
        let (start, length) = match usize::from(shape >> COUNT_SHIFT) {
            LONG => {
                let units = texts.units(place + 1, 2)?;
                let length = u32::from(units[0].get()) | u32::from(units[1].get()) << 16;
                (place + 3, length as usize)
            }
            length => (place + 1, length),
        };
        let bytes = &texts.units(start, length.div_ceil(size_of::<U16>()))?.as_bytes()[..length];
        let (has_stars, is_anchored) = (shape & HAS_STARS != 0, shape & ANCHORED != 0);
        Some(PatternText { bytes, has_stars, is_anchored })
    }

    /// What stands between the stars.
    #[inline]
    fn literals(&self) -> impl Iterator<Item = &'w [u8]> + use<'w> {
        let mut rest = Some(self.bytes);
        std::iter::from_fn(move || {
            let bytes = rest?;
            let star = memchr::memchr(b'*', bytes);
            rest = star.map(|star| &bytes[star + 1..]);
            Some(&bytes[..star.unwrap_or(bytes.len())])
        })
    }

    fn push_to(&self, patterns: &mut PatternList) {
        match self.has_stars {
            true => patterns.push_literals(self.literals(), self.is_anchored),
            false => patterns.push_literals([self.bytes].into_iter(), self.is_anchored),
        }
    }

    #[inline]
    fn matches(&self, path: &[u8]) -> bool {
        match self.has_stars {
            true => literals_match(self.literals(), self.is_anchored, path),
            false => {
                path.starts_with(self.bytes)
                    && (!self.is_anchored || path.len() == self.bytes.len())
            }
        }
    }
}

impl<'l, T: PatternTexts<'l>> Patterns<'l, T> {
    /// What a match of the pattern at `index` means, and its text; `None` if there is none.
    #[inline]
    fn get(&self, index: usize) -> Option<(Outcome, PatternText<'l>)> {
        let word = self.table.get(index)?.get();
        let number = u32::try_from(index + 1).ok().filter(|&it| it <= Outcome::NUMBER_MAX)?;
        let text = PatternText::at(self.texts, (word >> 1) as usize)?;
        Some((Outcome::new(number, word & 1 != 0), text))
    }

    /// What the pattern at `index` means if it matches `path`; `None` if there is no such pattern.
    #[inline]
    fn outcome_of(&self, index: usize, path: &[u8]) -> Option<Option<Outcome>> {
        let (outcome, text) = self.get(index)?;
        Some(text.matches(path).then_some(outcome))
    }

    /// All patterns and what their matches mean; `None` if one is not there, or if they have more bytes
    /// than `bytes_max` together.
    pub fn list(&self, bytes_max: usize) -> Option<(PatternList, Vec<Outcome>)> {
        let mut patterns = PatternList::new();
        let mut outcomes = Vec::with_capacity(self.table.len());
        patterns.reserve(self.table.len(), 0);
        let mut bytes_left = bytes_max;
        for index in 0..self.table.len() {
            let (outcome, text) = self.get(index)?;
            bytes_left = bytes_left.checked_sub(text.bytes.len())?;
            text.push_to(&mut patterns);
            outcomes.push(outcome);
        }
        patterns.shrink_to_fit();
        Some((patterns, outcomes))
    }
}
