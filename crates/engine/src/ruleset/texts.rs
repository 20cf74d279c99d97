//! The text of a pattern, in one piece: matching it takes a memory access or two and no parsing.
//!
//! A text consists of 16-bit units:
//!
//! | units | contents |
//! |---|---|
//! | 1 | the number of bytes × 4, + 1 if anchored, + 2 if each `*` is a star |
//! | 2, if there are 16,383 bytes or more | the number of bytes; the first unit has 16,383 |
//! | the rest | the bytes with their stars, two to a unit, padded with a zero |

use zerocopy::IntoBytes;
use zerocopy::little_endian::U16;

use crate::pattern::{PathPattern, PatternList};
use crate::scan::literals_match;

const ANCHORED: u16 = 1;
const HAS_STARS: u16 = 2;
const COUNT_SHIFT: u32 = 2;

/// The number of bytes that says that a larger one follows.
const LONG: usize = 0x3fff;

/// Appends the units of a pattern. One that has stars has no other `*`.
pub(super) fn push_text(pattern: &PathPattern<'_>, units: &mut Vec<U16>) {
    let stars = pattern.stars().len();
    let bytes = pattern.bytes.len() + stars;
    let anchored = if pattern.anchored { ANCHORED } else { 0 };
    let flags = anchored | if stars > 0 { HAS_STARS } else { 0 };
    units.push(U16::new((bytes.min(LONG) as u16) << COUNT_SHIFT | flags));
    if bytes >= LONG {
        let number = u32::try_from(bytes).expect("patterns have fewer than 4 GiB");
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

/// A stored pattern.
#[derive(Clone, Copy)]
pub struct PatternText<'w> {
    /// The bytes with their stars, as in a rule in normal form.
    pub bytes: &'w [u8],
    /// Whether each `*` is a star.
    pub has_stars: bool,
    /// Whether the pattern has to match to the end of the path (`$`).
    pub is_anchored: bool,
}

impl<'w> PatternText<'w> {
    /// Reads the pattern at `at`; `None` if it is out of bounds.
    #[inline]
    pub fn at(units: &'w [U16], at: usize) -> Option<PatternText<'w>> {
        PatternText::read(at, |at, count| units.get(at..)?.get(..count)).map(|(text, _)| text)
    }

    /// Reads the pattern at `at` by means of `units_at`, which returns so many units from a position
    /// on. Also returns where the next pattern begins.
    #[inline]
    pub fn read(
        at: usize,
        units_at: impl Fn(usize, usize) -> Option<&'w [U16]>,
    ) -> Option<(PatternText<'w>, usize)> {
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
        Some((PatternText { bytes, has_stars, is_anchored }, start + count))
    }

    /// Returns where the pattern behind the one at `at` begins; `None` if that is out of bounds.
    #[inline]
    pub(super) fn end_of(units: &[U16], at: usize) -> Option<usize> {
        let shape = units.get(at)?.get();
        let end = match usize::from(shape >> COUNT_SHIFT) {
            LONG => PatternText::read(at, |at, count| units.get(at..)?.get(..count))?.1,
            length => at + 1 + length.div_ceil(size_of::<U16>()),
        };
        (end <= units.len()).then_some(end)
    }

    /// Returns whether the last byte of the pattern from `at` to before `end` is a star.
    #[inline]
    pub(super) fn ends_in_star(units: &[U16], at: usize, end: usize) -> bool {
        let shape = units[at].get();
        let has_stars = shape & HAS_STARS != 0;
        // A text of an odd length is padded.
        let is_star = |[low, high]: [u8; 2]| high == b'*' || high == 0 && low == b'*';
        has_stars && is_star(units[end - 1].get().to_le_bytes())
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

    pub(super) fn push_to(&self, patterns: &mut PatternList) {
        match self.has_stars {
            true => patterns.push_literals(self.literals(), self.is_anchored),
            false => patterns.push_literals([self.bytes].into_iter(), self.is_anchored),
        }
    }

    /// Returns whether the pattern matches `path`.
    #[inline]
    pub fn matches(&self, path: &[u8]) -> bool {
        match self.has_stars {
            true => literals_match(self.literals(), self.is_anchored, path),
            false => {
                path.starts_with(self.bytes)
                    && (!self.is_anchored || path.len() == self.bytes.len())
            }
        }
    }
}
