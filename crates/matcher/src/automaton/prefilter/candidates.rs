//! The patterns that probes leave, matched one by one.
//!
//! A pattern is stored in one piece, so that matching it takes a memory access or two and no parsing. It
//! consists of 16-bit units:
//!
//! | units | contents |
//! |---|---|
//! | 1 | the number of bytes × 4, + 1 if anchored, + 2 if each `*` is a star |
//! | 2, if there are [`LONG`] bytes or more | the number of bytes; the first unit has [`LONG`] |
//! | the rest | the bytes with their stars, two to a unit, padded with a zero |
//!
//! Rule sets share the units of equal patterns. The *table* of a rule set has a word per pattern in
//! order of precedence: the position of the pattern's first unit × 2, + 1 if the pattern allows.

use zerocopy::little_endian::{U16, U32, U64};
use zerocopy::{FromBytes, IntoBytes};

use crate::automaton::Outcome;
use crate::automaton::scan::literals_match;
use crate::bytes::{bits, first_bytes};
use crate::pattern::{PathPattern, PatternList};

use super::bloom::{self, LEVELS};
use super::required::string_of;
use super::{Head, PrefilterLine, Probe, index, teddy};

/// What the probes found in a path.
#[derive(Clone, Copy)]
pub struct Found {
    /// The result of [`probe_prefixes`](super::probe_prefixes); 0 if it was not needed.
    pub prefix_levels: u8,
    /// The result of [`probe_literals`](super::probe_literals).
    pub literals: bool,
}

/// Matches `path` against the patterns that the index has for what was found, and returns the
/// outcome of the best. `None` if that takes more than `left` entries of the index, or the
/// prefilter is damaged; the entries read are subtracted from `left`.
#[inline]
pub fn try_candidates<'l>(
    (lines, at): (&'l [PrefilterLine], usize),
    patterns: Patterns<'l, impl PatternTexts<'l>>,
    path: &'l [u8],
    found: Found,
    (left, probe): (&'l mut usize, impl Probe),
) -> Option<Outcome> {
    let (lines, head) = Head::at(lines, at)?;
    let mut candidates = Candidates::new((lines, head), patterns, left, path, probe)?;
    let bytes = first_bytes(path.get(1..)?);
    for level in bits((found.prefix_levels & head.prefix_levels).into()) {
        candidates.try_prefix(level, bloom::cut(bytes, level))?;
    }
    if found.literals && head.literal_levels != 0 {
        candidates.try_literals()?;
    }
    let outcome = candidates.best.map_or(Outcome(head.otherwise.get()), |(_, outcome)| outcome);
    outcome.is_valid().then_some(outcome)
}

/// The candidates of one path.
struct Candidates<'l, T, P> {
    lines: &'l [PrefilterLine],
    head: &'l Head,
    filter: &'l [U64],
    path: &'l [u8],
    index: &'l [U32],
    entries: usize,
    patterns: Patterns<'l, T>,
    left: &'l mut usize,
    probe: P,
    /// The position of the best pattern that matches, and its outcome.
    best: Option<(usize, Outcome)>,
}

impl<'l, T: PatternTexts<'l>, P: Probe> Candidates<'l, T, P> {
    #[inline]
    fn new(
        (lines, head): (&'l [PrefilterLine], &'l Head),
        patterns: Patterns<'l, T>,
        left: &'l mut usize,
        path: &'l [u8],
        probe: P,
    ) -> Option<Candidates<'l, T, P>> {
        let entries = head.entries();
        if *left == 0 || path.first() != Some(&b'/') || (entries == 0 && head.has_probes()) {
            return None;
        }
        let words = lines.as_flattened().get(head.filter_start()..)?;
        let (filter, words) = words.split_at_checked(head.filter_words())?;
        let words = <[U32]>::ref_from_bytes(words.as_bytes()).ok()?;
        let index = words.get(..index::words_for(entries))?;
        let best = None;
        Some(Candidates { lines, head, filter, path, index, entries, patterns, left, probe, best })
    }

    /// Tries the patterns that require a prefix of this level, alone or with a literal.
    #[inline]
    fn try_prefix(&mut self, level: usize, prefix: u64) -> Option<()> {
        if self.head.alone_levels >> level & 1 != 0 {
            self.try_all(prefix)?;
        }
        match self.head.both_levels >> level & 1 {
            0 => Some(()),
            _ => self.try_both(level, prefix),
        }
    }

    /// Tries the patterns that require this prefix and a literal behind it.
    fn try_both(&mut self, level: usize, prefix: u64) -> Option<()> {
        let behind = self.path.get(1 + usize::from(LEVELS[level])..).unwrap_or_default();
        let pairs = self.head.pairs_of_both(self.lines)?;
        let probe = self.probe;
        let fails = |position: usize| {
            let string = string_of(prefix, behind.get(position..).unwrap_or_default());
            bloom::has(self.filter, string) != Some(false) && self.try_all(string).is_none()
        };
        (!teddy::any(pairs, behind, probe, fails)).then_some(())
    }

    /// Tries the patterns that require a literal of the path.
    #[inline]
    fn try_literals(&mut self) -> Option<()> {
        let (probe, path) = (self.probe, self.path);
        let pairs = self.head.pairs(self.lines)?;
        let fails = |position: usize| {
            let text = path.get(position..).unwrap_or_default();
            let levels = probe.levels_of(self.filter, text, self.head.literal_levels);
            let mut strings = bloom::cuts(first_bytes(text), levels.unwrap_or(u8::MAX));
            !strings.all(|string| self.try_all(string).is_some())
        };
        (!teddy::any(pairs, path, probe, fails)).then_some(())
    }

    /// Tries the patterns that require `string`; `None` if its bucket has more entries than are
    /// left.
    #[inline]
    fn try_all(&mut self, string: u64) -> Option<()> {
        let key = (string, self.head.seed());
        let (words, fingerprint) = index::bucket_of(self.index, self.entries, key)?;
        *self.left = self.left.checked_sub(words.len())?;
        for place in words.iter().filter_map(|&word| index::place_of(word, fingerprint)) {
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

/// The number of bytes that says that a larger one follows.
const LONG: usize = 0x3fff;

/// The most units that a table can address.
const TEXT_UNITS_MAX: usize = 1 << 31;

/// The units of stored patterns.
pub trait PatternTexts<'l>: Copy {
    /// Returns `count` units from `at` on; `None` if they are out of bounds or damaged.
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
    /// The table of the rule set.
    pub table: &'l [U32],
    /// The words of all rule sets.
    pub texts: T,
}

/// Appends the units of a pattern. One that has stars has no other `*` (see
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

/// Returns the word of a table for a pattern whose units start at `at`.
///
/// # Panics
///
/// If `at` is 2³¹ or more.
pub fn table_word(at: usize, allows: bool) -> U32 {
    assert!(at < TEXT_UNITS_MAX, "patterns have fewer than 2^32 bytes; compile several sets");
    U32::new((at as u32) << 1 | u32::from(allows))
}

/// Returns the units of the pattern at `at`; `None` unless they are exactly as [`push_text`] writes
/// them.
pub fn text_units<'l>(texts: impl PatternTexts<'l>, at: usize) -> Option<&'l [U16]> {
    let text = PatternText::at(texts, at)?;
    let mut patterns = PatternList::new();
    text.push_to(&mut patterns);
    let pattern = patterns.get(0);
    let mut units = Vec::new();
    push_text(&pattern, &mut units);
    // Adjacent and final stars have another canonical form.
    let ends_open = pattern.stars().last() == Some(pattern.bytes.len());
    let is_once = pattern.stars().is_sorted_by(|one, other| one < other);
    texts.units(at, units.len()).filter(|found| **found == *units && !ends_open && is_once)
}

/// A stored pattern.
#[derive(Clone, Copy)]
pub struct PatternText<'w> {
    /// The bytes with their stars, as in a rule in normal form.
    pub bytes: &'w [u8],
    has_stars: bool,
    /// Whether the pattern has to match to the end of the path (`$`).
    pub is_anchored: bool,
}

impl<'w> PatternText<'w> {
    /// Reads the pattern at `place`; `None` if it is damaged.
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

    /// Splits the pattern at its stars.
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
    /// Returns the outcome and the words of the pattern at `index`; `None` if there is none.
    #[inline]
    fn get(&self, index: usize) -> Option<(Outcome, PatternText<'l>)> {
        let word = self.table.get(index)?.get();
        let number = u32::try_from(index + 1).ok().filter(|&it| it <= Outcome::NUMBER_MAX)?;
        let text = PatternText::at(self.texts, (word >> 1) as usize)?;
        Some((Outcome::new(number, word & 1 != 0), text))
    }

    /// Returns the outcome of the pattern at `index` if it matches `path`; `None` if there is no
    /// such pattern.
    #[inline]
    fn outcome_of(&self, index: usize, path: &[u8]) -> Option<Option<Outcome>> {
        let (outcome, text) = self.get(index)?;
        Some(text.matches(path).then_some(outcome))
    }

    /// Returns all patterns and their outcomes; `None` if one is damaged, or if they have more than
    /// `bytes_max` bytes.
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
