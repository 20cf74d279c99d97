//! Lists of patterns, in the form in which a rule set has them: a pattern is in one piece, so matching
//! it takes a memory access or two and no parsing.
//!
//! A pattern consists of 16-bit units:
//!
//! | units | contents |
//! |---|---|
//! | 1 | the number of bytes × 4, + 1 if anchored, + 2 if each `*` is a star |
//! | 2, if there are 16,383 bytes or more | the number of bytes; the first unit has 16,383 |
//! | the rest | the bytes with their stars, two to a unit, padded with a zero |

use zerocopy::IntoBytes;
use zerocopy::little_endian::U16;

use super::{Pattern, has_adjacent_stars};

const ANCHORED: u16 = 1;
const HAS_STARS: u16 = 2;
const COUNT_SHIFT: u32 = 2;

/// The number of bytes that says that a larger one follows.
const LONG: usize = 0x3fff;

/// Patterns, owned.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct PatternList {
    units: Vec<U16>,
    /// Where each pattern begins.
    starts: Vec<u32>,
}

impl PatternList {
    /// Returns an empty list.
    pub fn new() -> PatternList {
        PatternList::default()
    }

    /// Returns the number of patterns.
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Returns whether there is no pattern.
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// Returns the size of all patterns, in bytes.
    pub fn byte_len(&self) -> usize {
        size_of_val(&*self.units)
    }

    /// Returns the units, and where each pattern begins.
    pub(crate) fn units(&self) -> (&[U16], &[u32]) {
        (&self.units, &self.starts)
    }

    /// Returns the pattern at `index`.
    ///
    /// # Panics
    ///
    /// If `index` is not below [`PatternList::len`].
    #[inline]
    pub fn get(&self, index: usize) -> Pattern<'_> {
        let read = read_pattern(&self.units, self.starts[index] as usize);
        read.expect("a pattern that was pushed").0
    }

    /// Iterates over the patterns in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Pattern<'_>> + Clone {
        (0..self.len()).map(|index| self.get(index))
    }

    /// Appends the pattern with this normal text (see [`Pattern::from_text`]). Adjacent stars are one.
    ///
    /// # Panics
    ///
    /// If the patterns have 4 GiB or more.
    pub fn push(&mut self, text: &[u8], wildcards: bool) {
        self.push_pattern(Pattern::from_text(text, wildcards));
    }

    /// Appends a pattern.
    ///
    /// # Panics
    ///
    /// As for [`PatternList::push`].
    pub fn push_pattern(&mut self, Pattern { mut bytes, has_stars, is_anchored }: Pattern<'_>) {
        let mut single: Vec<u8>;
        if has_stars && has_adjacent_stars(bytes) {
            single = bytes.to_vec();
            single.dedup_by(|next, last| (*next, *last) == (b'*', b'*'));
            bytes = &single;
        }
        let start = u32::try_from(self.units.len()).ok().filter(|&start| start < START_MAX);
        self.starts.push(start.expect("patterns have fewer than 4 GiB"));
        let anchored = if is_anchored { ANCHORED } else { 0 };
        let flags = anchored | if has_stars { HAS_STARS } else { 0 };
        self.units.push(U16::new((bytes.len().min(LONG) as u16) << COUNT_SHIFT | flags));
        if bytes.len() >= LONG {
            let number = u32::try_from(bytes.len()).expect("patterns have fewer than 4 GiB");
            self.units.extend([number as u16, (number >> 16) as u16].map(U16::new));
        }
        let start = self.units.len();
        self.units.resize(start + bytes.len().div_ceil(size_of::<U16>()), U16::ZERO);
        self.units[start..].as_mut_bytes()[..bytes.len()].copy_from_slice(bytes);
    }

    /// Keeps the first patterns.
    pub fn truncate(&mut self, patterns: usize) {
        if let Some(&start) = self.starts.get(patterns) {
            self.starts.truncate(patterns);
            self.units.truncate(start as usize);
        }
    }

    /// Reserves memory for `patterns` more patterns with `bytes` more bytes in total.
    pub fn reserve(&mut self, patterns: usize, bytes: usize) {
        self.starts.reserve(patterns);
        // A unit for the number of bytes, and half of them padded.
        self.units.reserve(bytes / size_of::<U16>() + patterns * 3 / 2);
    }
}

/// The exclusive limit of where a pattern begins: a rule set has 31 bits for it.
const START_MAX: u32 = 1 << 31;

/// Reads the pattern at `at`, and returns where the next one begins; `None` if it is out of bounds.
#[inline]
pub(crate) fn read_pattern(units: &[U16], at: usize) -> Option<(Pattern<'_>, usize)> {
    let units_at = |at: usize, count: usize| units.get(at..)?.get(..count);
    let shape = units_at(at, 1)?[0].get();
    let (start, length) = match usize::from(shape >> COUNT_SHIFT) {
        LONG => {
            let units = units_at(at + 1, 2)?;
            let length = u32::from(units[0].get()) | u32::from(units[1].get()) << 16;
            (at + 3, length as usize)
        }
        length => (at + 1, length),
    };
    let count = length.div_ceil(size_of::<U16>());
    let bytes = &units_at(start, count)?.as_bytes()[..length];
    let (has_stars, is_anchored) = (shape & HAS_STARS != 0, shape & ANCHORED != 0);
    Some((Pattern { bytes, has_stars, is_anchored }, start + count))
}

/// Returns where the pattern after the one at `at` begins; `None` if that is out of bounds.
#[inline]
pub(crate) fn end_of(units: &[U16], at: usize) -> Option<usize> {
    let shape = units.get(at)?.get();
    let end = match usize::from(shape >> COUNT_SHIFT) {
        LONG => read_pattern(units, at)?.1,
        length => at + 1 + length.div_ceil(size_of::<U16>()),
    };
    (end <= units.len()).then_some(end)
}

/// Returns whether the last byte of the pattern from `at` to before `end` is a star.
#[inline]
pub(crate) fn ends_in_star(units: &[U16], at: usize, end: usize) -> bool {
    let shape = units[at].get();
    let has_stars = shape & HAS_STARS != 0;
    // Bytes of an odd number are padded.
    let is_star = |[low, high]: [u8; 2]| high == b'*' || high == 0 && low == b'*';
    has_stars && is_star(units[end - 1].get().to_le_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_that_match_the_same_paths_are_equal() {
        let mut list = PatternList::new();
        for (text, wildcards) in [
            (&b"/a**b***c*"[..], true),
            (b"/a*b*c", true),
            (b"/a*b*c*$", true),
            (b"/a*b*c", false),
            (b"/a*bc", true),
            (b"/a*b*c$", true),
        ] {
            list.push(text, wildcards);
        }
        let first = list.get(0);
        assert_eq!(first.bytes(), b"/a*b*c");
        assert_eq!(
            list.iter().map(|it| it == first).collect::<Vec<_>>(),
            [true, true, true, false, false, false]
        );
    }

    #[test]
    fn patterns_of_every_length_are_read_again() {
        let mut list = PatternList::new();
        let lengths = || (0..40).chain([LONG - 1, LONG, LONG + 1, 70_000]);
        for length in lengths() {
            list.push(&vec![b'a'; length], true);
        }
        let read: Vec<usize> = list.iter().map(|it| it.bytes().len()).collect();
        assert_eq!(read, lengths().collect::<Vec<_>>());
        list.push(b"/b", true);
        assert_eq!((list.len(), list.get(44).bytes()), (45, &b"/b"[..]));
    }
}
