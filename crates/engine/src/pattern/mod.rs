//! One path pattern, and lists of them.
//!
//! A [`Pattern`] borrows its bytes: literals, with a `*` for each wildcard between them, and whether
//! the last one ends the path. Matching it never backtracks: each literal is taken at its first
//! occurrence after the one before, which leaves the most room for the rest.
//!
//! A [`PatternList`] owns patterns in the form of a rule set. Their order is the caller's; a rule set
//! reads it as precedence. Nothing can fail: any text is a pattern.
//!
//! ```
//! use portcullis_engine::pattern::Pattern;
//!
//! let pattern = Pattern::from_text(b"/a/*.php$", true);
//! assert!(pattern.matches(b"/a/b.php") && !pattern.matches(b"/a/b.php?c"));
//! assert_eq!(Pattern::from_text(b"/a*", true), Pattern::from_text(b"/a", true));
//! ```

mod list;

use memchr::memmem;
use wide::u8x16;

use crate::bytes::{CHUNK_BYTES, bits, first_bytes, short_chunk};

pub use list::PatternList;
pub(crate) use list::{end_of, ends_in_star, read_pattern};

/// A pattern. No star is at its end, where it would say nothing.
///
/// In a [`PatternList`], patterns that match the same paths are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pattern<'p> {
    bytes: &'p [u8],
    has_stars: bool,
    is_anchored: bool,
}

impl<'p> Pattern<'p> {
    /// Returns the pattern with this normal text. If the text has `wildcards`, each `*` is one and a
    /// final `$` is the anchor; otherwise all is literal.
    pub fn from_text(text: &'p [u8], wildcards: bool) -> Pattern<'p> {
        if !wildcards {
            return Pattern { bytes: text, has_stars: false, is_anchored: false };
        }
        let body = text.strip_suffix(b"$");
        let (mut bytes, mut is_anchored) = (body.unwrap_or(text), body.is_some());
        while let [rest @ .., b'*'] = bytes {
            (bytes, is_anchored) = (rest, false);
        }
        Pattern { bytes, has_stars: has_star(bytes), is_anchored }
    }

    /// Returns the literals with their stars.
    #[inline]
    pub fn bytes(&self) -> &'p [u8] {
        self.bytes
    }

    /// Returns whether each `*` of the bytes is a star; otherwise it is a literal.
    #[inline]
    pub fn has_stars(&self) -> bool {
        self.has_stars
    }

    /// Returns whether a match has to end at the end of the path.
    #[inline]
    pub fn is_anchored(&self) -> bool {
        self.is_anchored
    }

    /// Returns the literals: the first is a prefix of the path, each later one follows a star. The
    /// first is empty if the pattern starts with a star.
    #[inline]
    pub fn literals(&self) -> impl Iterator<Item = &'p [u8]> + use<'p> {
        let stars = if self.has_stars { stars_in(self.bytes) } else { 0 };
        Literals { rest: Some(self.bytes), has_stars: self.has_stars, stars, read: 0 }
    }

    /// Returns the first literal, a prefix of each path that matches.
    #[inline]
    pub fn prefix(&self) -> &'p [u8] {
        self.literals().next().unwrap_or_default()
    }

    /// Returns whether the pattern matches every path that starts with `/`.
    pub fn matches_all(&self) -> bool {
        let is_short = matches!(self.bytes, b"" | b"/" | b"*/");
        is_short && !self.is_anchored && (self.has_stars || self.bytes.len() < 2)
    }

    /// Returns whether the pattern matches `path`.
    #[inline]
    pub fn matches(&self, path: &[u8]) -> bool {
        match self.has_stars {
            true => self.literals_match(path),
            false => {
                path.starts_with(self.bytes)
                    && (!self.is_anchored || path.len() == self.bytes.len())
            }
        }
    }

    #[inline]
    fn literals_match(&self, path: &[u8]) -> bool {
        let mut literals = self.literals();
        let first = literals.next().unwrap_or_default();
        let Some(mut rest) = path.strip_prefix(first) else {
            return false;
        };
        let Some(mut literal) = literals.next() else {
            return !self.is_anchored || rest.is_empty();
        };
        for following in literals {
            let Some(position) = find(rest, literal) else {
                return false;
            };
            rest = &rest[position + literal.len()..];
            literal = following;
        }
        match self.is_anchored {
            true => rest.ends_with(literal),
            false => find(rest, literal).is_some(),
        }
    }
}

/// The literals of a pattern.
struct Literals<'p> {
    /// The bytes after the last literal and its star.
    rest: Option<&'p [u8]>,
    has_stars: bool,
    /// The stars that are left among the first 64 bytes, shifted by those that were read.
    stars: u64,
    /// How many of these were read.
    read: usize,
}

impl<'p> Iterator for Literals<'p> {
    type Item = &'p [u8];

    #[inline]
    fn next(&mut self) -> Option<&'p [u8]> {
        let bytes = self.rest?;
        let star = match self.stars {
            0 if self.has_stars && self.read + bytes.len() > u64::BITS as usize => {
                memchr::memchr(b'*', bytes)
            }
            0 => None,
            stars => Some(stars.trailing_zeros() as usize),
        };
        let Some(star) = star else {
            self.rest = None;
            return Some(bytes);
        };
        self.rest = Some(&bytes[star + 1..]);
        self.read += star + 1;
        self.stars = self.stars.checked_shr(star as u32 + 1).unwrap_or(0);
        Some(&bytes[..star])
    }
}

/// Returns a mask of the stars among the first 64 bytes of a text.
#[inline]
fn stars_in(text: &[u8]) -> u64 {
    // Most patterns need no loop.
    if text.len() <= CHUNK_BYTES {
        let chunk = u8x16::new(first_bytes(text).to_le_bytes());
        return (chunk.simd_eq(u8x16::splat(b'*')).to_bitmask() & 0xffff).into();
    }
    let chunks = text.chunks(CHUNK_BYTES).take(u64::BITS as usize / CHUNK_BYTES);
    chunks.enumerate().fold(0, |stars, (index, chunk)| {
        let chunk = u8x16::new(first_bytes(chunk).to_le_bytes());
        let found = chunk.simd_eq(u8x16::splat(b'*')).to_bitmask() & 0xffff;
        stars | u64::from(found) << (index * CHUNK_BYTES)
    })
}

/// Returns whether a text has a star.
#[inline]
fn has_star(text: &[u8]) -> bool {
    let has = |chunk| u8x16::new(chunk).simd_eq(u8x16::splat(b'*')).to_bitmask() != 0;
    match text.last_chunk() {
        _ if text.len() > u64::BITS as usize => memchr::memchr(b'*', text).is_some(),
        Some(last) => has(*last) || text.as_chunks().0.iter().any(|chunk| has(*chunk)),
        None => has(short_chunk(text)),
    }
}

/// Returns whether a text has a star after a star.
#[inline]
fn has_adjacent_stars(text: &[u8]) -> bool {
    let stars = stars_in(text);
    let far = || memmem::find(&text[u64::BITS as usize - 1..], b"**").is_some();
    stars & stars << 1 != 0 || text.len() > u64::BITS as usize && far()
}

/// The longest text that is searched without preparation, which takes longer than searching so
/// little.
const SHORT_BYTES: usize = 128;

/// Returns the position of the first occurrence of `literal` in `text`.
#[inline]
fn find(text: &[u8], literal: &[u8]) -> Option<usize> {
    if text.len() > SHORT_BYTES {
        // Most literals are near, and nothing has to be prepared for them.
        let far = || {
            let start = (SHORT_BYTES + 1).saturating_sub(literal.len());
            memmem::find(&text[start..], literal).map(|position| start + position)
        };
        return find_near(&text[..SHORT_BYTES], literal).or_else(far);
    }
    find_near(text, literal)
}

/// Returns the position of the first occurrence of `literal` in a short text. Sixteen positions at once:
/// the first and the last byte of the literal have to match.
#[inline]
fn find_near(text: &[u8], literal: &[u8]) -> Option<usize> {
    let [first, ..] = *literal else { return Some(0) };
    let last = literal[literal.len() - 1];
    let last_start = text.len().checked_sub(literal.len())?;
    let ends = |chunk: [u8; CHUNK_BYTES], last_chunk: [u8; CHUNK_BYTES]| {
        let is = |chunk, byte| u8x16::new(chunk).simd_eq(u8x16::splat(byte));
        (is(chunk, first) & is(last_chunk, last)).to_bitmask() & 0xffff
    };
    let Some(last_chunk) = last_start.checked_sub(CHUNK_BYTES - 1) else {
        let short = |from: usize| first_bytes(&text[from..]).to_le_bytes();
        let found = ends(short(0), short(literal.len() - 1));
        return bits(found).find(|&at| at <= last_start && text[at..].starts_with(literal));
    };
    // The last positions are tested together with some before them.
    for start in (0..last_chunk + CHUNK_BYTES).step_by(CHUNK_BYTES).map(|it| it.min(last_chunk)) {
        let chunk = |from: usize| *text[from..].first_chunk().expect("a chunk within the text");
        let found = bits(ends(chunk(start), chunk(start + literal.len() - 1)));
        for at in found.map(|place| start + place) {
            if text[at..].starts_with(literal) {
                return Some(at);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_occurrence_is_found() {
        let text: Vec<u8> = (0..170_usize).map(|place| b"ab/\0"[place * place % 7 % 4]).collect();
        for length in [0, 1, 2, 15, 16, 17, 33, 40, 128, 129, 150, 170] {
            let text = &text[..length];
            for start in 0..=length {
                for end in start..=length.min(start + 20) {
                    let literal = &text[start..end];
                    let expected = (0..=length).find(|&place| text[place..].starts_with(literal));
                    assert_eq!(find(text, literal), expected, "{length} {start} {end}");
                    let absent = [literal, b"x"].concat();
                    assert_eq!(find(text, &absent), None);
                }
            }
        }
    }

    #[test]
    fn stars_are_found_anywhere() {
        for length in [1, 2, 15, 16, 17, 63, 64, 65, 66, 130] {
            for place in 0..length {
                let mut text = vec![b'a'; length];
                assert!(!has_star(&text));
                text[place] = b'*';
                assert!(has_star(&text) && !has_adjacent_stars(&text), "{length} {place}");
                if let Some(next) = text.get_mut(place + 1) {
                    *next = b'*';
                    assert!(has_adjacent_stars(&text), "{length} {place}");
                }
            }
        }
    }

    #[test]
    fn a_text_has_one_pattern() {
        let shape = |text| {
            let pattern = Pattern::from_text(text, true);
            (pattern.bytes, pattern.has_stars, pattern.is_anchored)
        };
        assert_eq!(shape(b"/a"), (&b"/a"[..], false, false));
        assert_eq!(shape(b"/a*"), (&b"/a"[..], false, false));
        assert_eq!(shape(b"/a**$"), (&b"/a"[..], false, false));
        assert_eq!(shape(b"/a$"), (&b"/a"[..], false, true));
        assert_eq!(shape(b"/a*b$"), (&b"/a*b"[..], true, true));
        assert_eq!(shape(b"*$"), (&b""[..], false, false));
        assert_eq!(shape(b"/$x$$"), (&b"/$x$"[..], false, true));
        assert_eq!(shape(b"$"), (&b""[..], false, true));
        let literal = Pattern::from_text(b"/a*$", false);
        assert_eq!(literal.literals().collect::<Vec<_>>(), [b"/a*$"]);
        assert!(!literal.is_anchored && !literal.matches(b"/a"));
    }

    #[test]
    fn literals_are_between_stars() {
        let pattern = Pattern::from_text(b"*ab*c*", true);
        assert_eq!(pattern.literals().collect::<Vec<_>>(), [&b""[..], b"ab", b"c"]);
        for place in 0..200 {
            for other in place..200 {
                let mut text = [b'a'; 200];
                (text[place], text[other]) = (b'*', b'*');
                let text = &text[..150 + place.min(49)];
                let pattern = Pattern { bytes: text, has_stars: true, is_anchored: true };
                let expected: Vec<&[u8]> = text.split(|&byte| byte == b'*').collect();
                assert_eq!(pattern.literals().collect::<Vec<_>>(), expected, "{place} {other}");
            }
        }
    }

    #[test]
    fn some_patterns_match_all() {
        for text in [&b""[..], b"/", b"*", b"/*", b"*/", b"/*$"] {
            assert!(Pattern::from_text(text, true).matches_all(), "{}", text.escape_ascii());
        }
        for text in [&b"/$"[..], b"$", b"*/$", b"/a", b"//", b"*a"] {
            assert!(!Pattern::from_text(text, true).matches_all(), "{}", text.escape_ascii());
        }
        assert!(!Pattern::from_text(b"*/", false).matches_all());
    }
}
