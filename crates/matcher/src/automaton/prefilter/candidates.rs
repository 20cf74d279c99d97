//! The patterns that looks leave, tried one by one.
//!
//! A pattern is a few words in one piece, so that trying it costs an access to memory or two:
//!
//! | words | |
//! |---|---|
//! | 1 | the number of bytes × 4, + 1 if the path ends with the pattern, + 2 if there are stars |
//! | 1 and one for each, if there are stars | their number, and before which bytes they stand |
//! | the rest | the bytes, four to a word |
//!
//! Rule sets share the texts of equal patterns. A rule set is a *table* of a word for each pattern in order of
//! precedence: where its text begins × 2, + 1 if it allows.

use zerocopy::little_endian::{U32, U64};
use zerocopy::{FromBytes, IntoBytes};

use crate::automaton::Outcome;
use crate::automaton::chunk::{bits, first_bytes};
use crate::automaton::scan::literals_match;
use crate::pattern::{PathPattern, PatternList, literals_between};

use super::filter::{self, LEVELS};
use super::needs::string_of;
use super::{Head, PrefilterLine, Probe, head_of, index, pairs};

/// What looks found in a path.
#[derive(Clone, Copy)]
pub struct Found {
    /// As [`probe_prefixes`](super::probe_prefixes) told; none if the first look did not ask for it.
    pub prefix_levels: u8,
    /// As [`probe_literals`](super::probe_literals) told.
    pub literals: bool,
}

/// What the best pattern that matches `path` means, by trying those that the index names for what was found;
/// `None` if that takes a look at more than `left` entries of the index, from which those that are looked at are
/// taken.
#[inline]
pub fn try_candidates<'l>(
    (lines, at): (&'l [PrefilterLine], usize),
    patterns: Patterns<'l, impl PatternTexts<'l>>,
    path: &'l [u8],
    found: Found,
    (left, probe): (&'l mut usize, impl Probe),
) -> Option<Outcome> {
    let (sieve, head) = head_of(lines, at)?;
    let mut candidates = Candidates::new((sieve, head), patterns, left, path, probe)?;
    let bytes = first_bytes(path.get(1..)?);
    for level in bits((found.prefix_levels & head.prefix_levels).into()) {
        candidates.try_beginning(level, filter::cut(bytes, level))?;
    }
    if found.literals && head.stretch_levels != 0 {
        candidates.try_stretches()?;
    }
    let outcome = candidates.best.map_or(Outcome(head.otherwise.get()), |(_, outcome)| outcome);
    outcome.is_sound().then_some(outcome)
}

/// The patterns that are tried for one path.
struct Candidates<'l, T, L> {
    sieve: &'l [PrefilterLine],
    head: &'l Head,
    filter: &'l [U64],
    path: &'l [u8],
    index: &'l [U32],
    entries: usize,
    patterns: Patterns<'l, T>,
    left: &'l mut usize,
    probe: L,
    /// The position of the best one that matches, and what it means.
    best: Option<(usize, Outcome)>,
}

impl<'l, T: PatternTexts<'l>, L: Probe> Candidates<'l, T, L> {
    #[inline]
    fn new(
        (sieve, head): (&'l [PrefilterLine], &'l Head),
        patterns: Patterns<'l, T>,
        left: &'l mut usize,
        path: &'l [u8],
        probe: L,
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
            probe,
            best: None,
        })
    }

    /// Tries the patterns that need a prefix, alone or beside a literal, which was cut to a level; `None` if those
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

    /// Tries the patterns that need a prefix and a literal behind it.
    fn try_both(&mut self, level: usize, prefix: u64) -> Option<()> {
        let behind = self.path.get(1 + usize::from(LEVELS[level])..).unwrap_or_default();
        let pairs = self.head.pairs_of_both(self.sieve)?;
        let probe = self.probe;
        let fails = |place: usize| {
            let string = string_of(prefix, behind.get(place..).unwrap_or_default());
            filter::has(self.filter, string) != Some(false) && self.try_all(string).is_none()
        };
        (!pairs::stand(pairs, behind, probe, fails)).then_some(())
    }

    /// Tries the patterns that need a literal which stands in the path.
    #[inline]
    fn try_stretches(&mut self) -> Option<()> {
        let (probe, path) = (self.probe, self.path);
        let pairs = self.head.pairs(self.sieve)?;
        let fails = |place: usize| {
            let text = path.get(place..).unwrap_or_default();
            let levels = probe.levels_of(self.filter, text, self.head.stretch_levels);
            let mut strings = filter::cuts(first_bytes(text), levels.unwrap_or(u8::MAX));
            !strings.all(|string| self.try_all(string).is_some())
        };
        (!pairs::stand(pairs, path, probe, fails)).then_some(())
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

const ANCHORED: u32 = 1;
const HAS_STARS: u32 = 2;
const COUNT_SHIFT: u32 = 2;

/// Words of all texts, more than which a table cannot tell apart.
pub const TEXT_WORDS_MAX: usize = 1 << 31;

/// Words in which the texts of patterns stand.
pub trait PatternTexts<'l>: Copy {
    /// So many words from `at` on; `None` if they are not there, or damaged.
    fn words(self, at: usize, count: usize) -> Option<&'l [U32]>;
}

impl<'l> PatternTexts<'l> for &'l [U32] {
    #[inline(always)]
    fn words(self, at: usize, count: usize) -> Option<&'l [U32]> {
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

/// Appends the text of a pattern.
pub fn push_text(pattern: &PathPattern<'_>, words: &mut Vec<U32>) {
    let stars = pattern.stars();
    let mut flags = if pattern.anchored { ANCHORED } else { 0 };
    if stars.len() > 0 {
        flags |= HAS_STARS;
    }
    words.push(U32::new(number(pattern.bytes.len()) << COUNT_SHIFT | flags));
    if stars.len() > 0 {
        words.push(U32::new(number(stars.len())));
        words.extend(stars.map(|star| U32::new(number(star))));
    }
    let start = words.len();
    words.resize(start + pattern.bytes.len().div_ceil(size_of::<U32>()), U32::new(0));
    words[start..].as_mut_bytes()[..pattern.bytes.len()].copy_from_slice(pattern.bytes);
}

fn number(number: usize) -> u32 {
    u32::try_from(number).expect("a rule set has fewer bytes than 32 bits count")
}

/// The word of a table for the pattern whose text begins at `at`.
///
/// # Panics
///
/// If that is [`TEXT_WORDS_MAX`] or more.
pub fn table_word(at: usize, allows: bool) -> U32 {
    assert!(at < TEXT_WORDS_MAX, "patterns have fewer than 2^31 words; compile several sets");
    U32::new((at as u32) << 1 | u32::from(allows))
}

/// The words of the text that begins at `at`, if it is written as [`push_text`] does.
pub fn text_words<'l>(texts: impl PatternTexts<'l>, at: usize) -> Option<&'l [U32]> {
    let text = Text::at(texts, at)?;
    let mut patterns = PatternList::new();
    patterns.push_parts(text.bytes, text.stars(), text.is_anchored);
    let mut words = Vec::new();
    push_text(&patterns.get(0), &mut words);
    texts.words(at, words.len()).filter(|found| **found == *words)
}

/// A pattern that was written.
pub struct Text<'w> {
    bytes: &'w [u8],
    stars: &'w [U32],
    is_anchored: bool,
}

impl<'w> Text<'w> {
    /// The pattern that begins at a place; `None` if there is none.
    #[inline]
    fn at(texts: impl PatternTexts<'w>, place: usize) -> Option<Text<'w>> {
        let shape = texts.words(place, 1)?[0].get();
        let length = (shape >> COUNT_SHIFT) as usize;
        let (start, stars) = match shape & HAS_STARS {
            0 => (place + 1, &[][..]),
            _ => {
                let count = texts.words(place + 1, 1)?[0].get() as usize;
                (place + 2 + count, texts.words(place + 2, count)?)
            }
        };
        let bytes = &texts.words(start, length.div_ceil(size_of::<U32>()))?.as_bytes()[..length];
        let is_ascending = stars.is_sorted_by(|one, other| one.get() < other.get());
        let is_within = stars.last().is_none_or(|last| last.get() as usize <= length);
        let is_anchored = shape & ANCHORED != 0;
        (is_ascending && is_within).then_some(Text { bytes, stars, is_anchored })
    }

    fn stars(&self) -> impl ExactSizeIterator<Item = usize> + 'w {
        self.stars.iter().map(|star| star.get() as usize)
    }

    #[inline]
    fn matches(&self, path: &[u8]) -> bool {
        if self.stars.is_empty() {
            path.starts_with(self.bytes) && (!self.is_anchored || path.len() == self.bytes.len())
        } else {
            literals_match(literals_between(self.bytes, self.stars()), self.is_anchored, path)
        }
    }
}

impl<'l, T: PatternTexts<'l>> Patterns<'l, T> {
    /// What a match of the pattern at `index` means, and its text; `None` if there is none.
    #[inline]
    fn get(&self, index: usize) -> Option<(Outcome, Text<'l>)> {
        let word = self.table.get(index)?.get();
        let number = u32::try_from(index + 1).ok().filter(|&it| it <= Outcome::NUMBER_MAX)?;
        let text = Text::at(self.texts, (word >> 1) as usize)?;
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
            bytes_left = bytes_left.checked_sub(text.bytes.len() + text.stars.len())?;
            patterns.push_parts(text.bytes, text.stars(), text.is_anchored);
            outcomes.push(outcome);
        }
        patterns.shrink_to_fit();
        Some((patterns, outcomes))
    }
}
