//! Path patterns: the literal bytes and wildcards of a rule, in normal form.
//!
//! Owns what a rule's value *means* under a dialect: which bytes it compares, where `*` stands,
//! whether it is anchored by `$`, and how many bytes count for precedence. It does not match
//! anything: that is [`automaton`](crate::automaton). A [`PatternList`] keeps the patterns of one
//! rule set end to end in three allocations, in the order in which they are pushed; the order is
//! the caller's and means precedence to the automaton.
//!
//! Cost: one scan of each value; memory is the bytes plus 12 bytes a pattern and 4 a star. It
//! cannot fail: a value that can match no path is reported as such, and kept out of lists.
//!
//! ```
//! use portcullis_dialect::dialect::RFC_9309;
//! use portcullis_matcher::pattern::{PatternList, normal_text};
//!
//! let mut text = Vec::new();
//! assert!(normal_text(b"/a%7e/*.php$", &RFC_9309.paths, &mut text));
//! assert_eq!(text, b"/a~/*.php$");
//!
//! let mut patterns = PatternList::new();
//! patterns.push(&text, RFC_9309.paths.wildcards);
//! let pattern = patterns.get(0);
//! assert_eq!(pattern.bytes, b"/a~/.php");
//! assert_eq!(pattern.stars().collect::<Vec<_>>(), [4]);
//! assert!(pattern.anchored);
//! ```

mod text;

use crate::bytes::push_varint;

pub use text::{index_page_text, normal_text};

/// The patterns of one rule set, end to end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct PatternList {
    /// The literal bytes of all patterns.
    bytes: Vec<u8>,
    /// Positions in `bytes` before which a star stands, ascending.
    stars: Vec<u32>,
    ends: Vec<PatternEnd>,
}

/// Where a pattern ends in the two lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct PatternEnd {
    bytes: u32,
    stars: u32,
    anchored: bool,
}

/// One pattern of a list.
#[derive(Clone, Copy, Debug)]
pub struct PathPattern<'l> {
    /// The literal bytes, without wildcards.
    pub bytes: &'l [u8],
    /// Whether the path must end where the pattern does.
    pub anchored: bool,
    stars: &'l [u32],
    base: u32,
}

impl<'l> PathPattern<'l> {
    /// Whether both match the same paths by the same bytes and stars, in whatever lists they stand.
    pub fn is_same(&self, other: &PathPattern<'_>) -> bool {
        (self.bytes, self.anchored) == (other.bytes, other.anchored)
            && self.stars().eq(other.stars())
    }

    /// The positions in `bytes` before which any bytes may stand, ascending and distinct.
    pub fn stars(&self) -> impl ExactSizeIterator<Item = usize> + 'l {
        let base = self.base;
        self.stars.iter().map(move |&star| (star - base) as usize)
    }

    /// The position of the pattern's first byte in [`PatternList::bytes`].
    pub fn start(&self) -> usize {
        self.base as usize
    }

    /// Writes bytes that two patterns have in common exactly if they are equal.
    pub fn write_identity(&self, out: &mut Vec<u8>) {
        out.clear();
        out.push(self.anchored.into());
        push_varint(out, self.stars.len() as u32);
        self.stars().for_each(|star| push_varint(out, star as u32));
        out.extend_from_slice(self.bytes);
    }

    /// The literal stretches: the first is compared at the start of the path, each later one
    /// follows a star. The first is empty for a pattern that starts with a star.
    pub fn literals(&self) -> impl Iterator<Item = &'l [u8]> + 'l {
        literals_between(self.bytes, self.stars())
    }
}

/// The stretches of a pattern's bytes between its stars; see [`PathPattern::literals`].
#[inline]
fn literals_between<'l>(
    bytes: &'l [u8],
    stars: impl Iterator<Item = usize> + 'l,
) -> impl Iterator<Item = &'l [u8]> + 'l {
    stars.chain([bytes.len()]).scan(0, move |start, end| {
        let literal = &bytes[*start..end];
        *start = end;
        Some(literal)
    })
}

impl PatternList {
    /// A list without patterns.
    pub fn new() -> PatternList {
        PatternList::default()
    }

    /// The number of patterns.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no pattern.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The literal bytes of all patterns, end to end.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The literal bytes of all patterns together.
    pub fn byte_len(&self) -> usize {
        self.bytes.len()
    }

    /// The stars of all patterns together.
    pub fn stars(&self) -> usize {
        self.stars.len()
    }

    /// Bytes of memory that this holds.
    pub fn memory_bytes(&self) -> usize {
        size_of_val(&*self.bytes) + size_of_val(&*self.stars) + size_of_val(&*self.ends)
    }

    /// Removes all patterns and keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.stars.clear();
        self.ends.clear();
    }

    /// The pattern at `index`.
    ///
    /// # Panics
    ///
    /// If `index` is not less than [`PatternList::len`].
    pub fn get(&self, index: usize) -> PathPattern<'_> {
        let end = self.ends[index];
        let (bytes, stars) = match index.checked_sub(1) {
            Some(before) => (self.ends[before].bytes, self.ends[before].stars),
            None => (0, 0),
        };
        PathPattern {
            bytes: &self.bytes[bytes as usize..end.bytes as usize],
            anchored: end.anchored,
            stars: &self.stars[stars as usize..end.stars as usize],
            base: bytes,
        }
    }

    /// The patterns in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = PathPattern<'_>> {
        (0..self.len()).map(|index| self.get(index))
    }

    /// Appends the pattern whose normal text is `text` (see [`normal_text`]).
    ///
    /// Several stars in a row are one. A star at the end says nothing, because a pattern that is
    /// not anchored matches whatever follows; `*$` at the end says the same.
    pub fn push(&mut self, text: &[u8], wildcards: bool) {
        let mut anchored = false;
        if wildcards {
            let body = text.strip_suffix(b"$");
            anchored = body.is_some();
            self.push_wildcards(body.unwrap_or(text));
            let at_end = self.stars.last() == Some(&offset(self.bytes.len()));
            if at_end && self.stars_of_last() > 0 {
                self.stars.pop();
                anchored = false;
            }
        } else {
            self.bytes.extend_from_slice(text);
        }
        self.ends.push(PatternEnd {
            bytes: offset(self.bytes.len()),
            stars: offset(self.stars.len()),
            anchored,
        });
    }

    /// Appends a pattern of these literals, between which stars stand.
    pub fn push_literals<'l>(
        &mut self,
        mut literals: impl Iterator<Item = &'l [u8]>,
        anchored: bool,
    ) {
        self.bytes.extend_from_slice(literals.next().unwrap_or_default());
        for literal in literals {
            self.stars.push(offset(self.bytes.len()));
            self.bytes.extend_from_slice(literal);
        }
        self.ends.push(PatternEnd {
            bytes: offset(self.bytes.len()),
            stars: offset(self.stars.len()),
            anchored,
        });
    }

    /// Makes room for so many patterns, and for so many bytes of all.
    pub fn reserve(&mut self, patterns: usize, bytes: usize) {
        self.ends.reserve(patterns);
        self.bytes.reserve(bytes);
    }

    /// Gives back the memory that is not used.
    pub fn shrink_to_fit(&mut self) {
        self.bytes.shrink_to_fit();
        self.stars.shrink_to_fit();
        self.ends.shrink_to_fit();
    }

    /// Appends literals and stars of `body`, in which every `*` is a wildcard.
    fn push_wildcards(&mut self, body: &[u8]) {
        let own_stars = self.stars.len();
        let mut rest = body;
        while let Some(literal_end) = memchr::memchr(b'*', rest) {
            self.bytes.extend_from_slice(&rest[..literal_end]);
            let star = offset(self.bytes.len());
            if self.stars.len() == own_stars || self.stars.last() != Some(&star) {
                self.stars.push(star);
            }
            rest = &rest[literal_end + 1..];
        }
        self.bytes.extend_from_slice(rest);
    }

    /// Stars pushed since the last complete pattern.
    fn stars_of_last(&self) -> usize {
        self.stars.len() - self.ends.last().map_or(0, |end| end.stars as usize)
    }
}

/// A position in a list. A rule set within [`limits`](portcullis_dialect::limits) has far fewer bytes.
fn offset(position: usize) -> u32 {
    u32::try_from(position).expect("a rule set is smaller than 4 GiB")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(text: &[u8]) -> (Vec<u8>, Vec<usize>, bool) {
        let mut list = PatternList::new();
        list.push(b"/*other", true);
        list.push(text, true);
        let pattern = list.get(1);
        (pattern.bytes.to_vec(), pattern.stars().collect(), pattern.anchored)
    }

    #[test]
    fn wildcards_have_one_form() {
        assert_eq!(shape(b"/a"), (b"/a".to_vec(), vec![], false));
        assert_eq!(shape(b"/a*"), (b"/a".to_vec(), vec![], false));
        assert_eq!(shape(b"/a*$"), (b"/a".to_vec(), vec![], false));
        assert_eq!(shape(b"/a$"), (b"/a".to_vec(), vec![], true));
        assert_eq!(shape(b"/a**b***c"), (b"/abc".to_vec(), vec![2, 3], false));
        assert_eq!(shape(b"*"), (vec![], vec![], false));
        assert_eq!(shape(b"*$"), (vec![], vec![], false));
        assert_eq!(shape(b"**a$"), (b"a".to_vec(), vec![0], true));
        assert_eq!(shape(b"/$x$$"), (b"/$x$".to_vec(), vec![], true));
        assert_eq!(shape(b"$"), (vec![], vec![], true));
    }

    #[test]
    fn a_star_of_the_pattern_before_is_left_alone() {
        let mut list = PatternList::new();
        list.push(b"/x", true);
        list.push(b"*a", true);
        list.push(b"", true);
        assert_eq!(list.get(1).stars().collect::<Vec<_>>(), [0]);
        assert_eq!(list.get(2).bytes, b"");
    }

    #[test]
    fn literals_stand_between_stars() {
        let mut list = PatternList::new();
        list.push(b"*ab*c*", true);
        let literals: Vec<&[u8]> = list.get(0).literals().collect();
        assert_eq!(literals, [&b""[..], b"ab", b"c"]);
    }

    #[test]
    fn without_wildcards_all_is_literal() {
        let mut list = PatternList::new();
        list.push(b"/a*$", false);
        assert_eq!(list.get(0).bytes, b"/a*$");
        assert!(!list.get(0).anchored);
    }
}
