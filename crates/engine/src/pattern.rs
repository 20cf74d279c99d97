//! Path patterns: literal bytes, wildcards between them, and whether `$` anchors the end.
//!
//! [`PatternList`] parses normal texts and keeps the patterns of one rule set in three allocations.
//! Their order is the caller's; a rule set reads it as precedence. Nothing can fail.
//!
//! Cost: one pass over each text; 12 bytes per pattern and 4 per star besides the literal bytes.
//!
//! ```
//! use portcullis_engine::pattern::PatternList;
//!
//! let mut patterns = PatternList::new();
//! patterns.push(b"/a~/*.php$", true);
//! let pattern = patterns.get(0);
//! assert_eq!(pattern.bytes, b"/a~/.php");
//! assert_eq!(pattern.stars().collect::<Vec<_>>(), [4]);
//! assert!(pattern.anchored);
//! ```

use std::hash::{Hash, Hasher};

/// The patterns of one rule set, concatenated.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct PatternList {
    /// The literal bytes of all patterns.
    bytes: Vec<u8>,
    /// The positions in `bytes` that follow a star, ascending.
    stars: Vec<u32>,
    ends: Vec<PatternEnd>,
}

/// The ends of a pattern in the two lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct PatternEnd {
    bytes: u32,
    stars: u32,
    anchored: bool,
}

/// One pattern of a list. Patterns that match the same paths are equal, in whichever lists they are.
#[derive(Clone, Copy, Debug)]
pub struct PathPattern<'l> {
    /// The literal bytes, without wildcards.
    pub bytes: &'l [u8],
    /// Whether a match has to end at the end of the path.
    pub anchored: bool,
    stars: &'l [u32],
    base: u32,
}

impl<'l> PathPattern<'l> {
    /// Returns the positions in `bytes` that follow a star, ascending and distinct.
    #[inline]
    pub fn stars(&self) -> impl ExactSizeIterator<Item = usize> + 'l {
        let base = self.base;
        self.stars.iter().map(move |&star| (star - base) as usize)
    }

    /// Returns the position of the first byte in [`PatternList::bytes`].
    pub fn start(&self) -> usize {
        self.base as usize
    }

    /// Returns the literals: the first is a prefix of the path, each later one follows a star. The
    /// first is empty if the pattern starts with a star.
    pub fn literals(&self) -> impl Iterator<Item = &'l [u8]> + 'l {
        literals_between(self.bytes, self.stars())
    }
}

impl PartialEq for PathPattern<'_> {
    fn eq(&self, other: &PathPattern<'_>) -> bool {
        let same = self.anchored == other.anchored && self.bytes == other.bytes;
        same && self.stars().eq(other.stars())
    }
}

impl Eq for PathPattern<'_> {}

impl Hash for PathPattern<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // Patterns with the same bytes may differ in each star.
        (self.bytes, self.anchored, self.stars.len()).hash(state);
        self.stars().for_each(|star| state.write_usize(star));
    }
}

/// Splits `bytes` at `stars`; see [`PathPattern::literals`].
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
    /// Returns an empty list.
    pub fn new() -> PatternList {
        PatternList::default()
    }

    /// Returns the number of patterns.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns whether there is no pattern.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the literal bytes of all patterns, concatenated.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the number of literal bytes of all patterns.
    pub fn byte_len(&self) -> usize {
        self.bytes.len()
    }

    /// Returns the number of stars of all patterns.
    pub fn stars(&self) -> usize {
        self.stars.len()
    }

    /// Returns the memory that the list holds, in bytes.
    pub fn memory_bytes(&self) -> usize {
        size_of_val(&*self.bytes) + size_of_val(&*self.stars) + size_of_val(&*self.ends)
    }

    /// Removes all patterns; keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.stars.clear();
        self.ends.clear();
    }

    /// Returns the pattern at `index`.
    ///
    /// # Panics
    ///
    /// If `index` is not below [`PatternList::len`].
    #[inline]
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

    /// Iterates over the patterns in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = PathPattern<'_>> {
        (0..self.len()).map(|index| self.get(index))
    }

    /// Appends the pattern whose normal text is `text`.
    ///
    /// Adjacent stars are one. A final `*` or `*$` is dropped: a pattern without an anchor matches
    /// any continuation.
    pub fn push(&mut self, text: &[u8], wildcards: bool) {
        let body = text.strip_suffix(b"$").filter(|_| wildcards);
        match wildcards {
            true => self.push_wildcards(body.unwrap_or(text)),
            false => self.bytes.extend_from_slice(text),
        }
        self.end_pattern(body.is_some());
    }

    /// Appends a pattern of these literals, separated by stars, in the form that [`PatternList::push`]
    /// gives it.
    pub fn push_literals<'l>(
        &mut self,
        mut literals: impl Iterator<Item = &'l [u8]>,
        anchored: bool,
    ) {
        self.bytes.extend_from_slice(literals.next().unwrap_or_default());
        for literal in literals {
            self.push_star();
            self.bytes.extend_from_slice(literal);
        }
        self.end_pattern(anchored);
    }

    /// Returns the position of the first star of the pattern that is appended.
    #[inline]
    fn own_stars(&self) -> usize {
        self.ends.last().map_or(0, |end| end.stars as usize)
    }

    /// Appends a star, unless one is there.
    #[inline]
    fn push_star(&mut self) {
        let star = offset(self.bytes.len());
        if self.stars.len() == self.own_stars() || self.stars.last() != Some(&star) {
            self.stars.push(star);
        }
    }

    /// Ends the pattern that is appended, without a final star.
    fn end_pattern(&mut self, mut anchored: bool) {
        let at_end = self.stars.last() == Some(&offset(self.bytes.len()));
        if at_end && self.stars.len() > self.own_stars() {
            self.stars.pop();
            anchored = false;
        }
        let (bytes, stars) = (offset(self.bytes.len()), offset(self.stars.len()));
        self.ends.push(PatternEnd { bytes, stars, anchored });
    }

    /// Reserves memory for `patterns` more patterns with `bytes` more bytes in total.
    pub fn reserve(&mut self, patterns: usize, bytes: usize) {
        self.ends.reserve(patterns);
        self.bytes.reserve(bytes);
    }

    /// Releases unused memory.
    pub fn shrink_to_fit(&mut self) {
        self.bytes.shrink_to_fit();
        self.stars.shrink_to_fit();
        self.ends.shrink_to_fit();
    }

    /// Removes the last pattern, if there is one.
    pub fn pop(&mut self) {
        self.ends.pop();
        let end = self.ends.last().map_or((0, 0), |end| (end.bytes as usize, end.stars as usize));
        self.bytes.truncate(end.0);
        self.stars.truncate(end.1);
    }

    /// Appends the literals and stars of `body`, in which every `*` is a wildcard.
    fn push_wildcards(&mut self, body: &[u8]) {
        let mut rest = body;
        while let Some(literal_end) = memchr::memchr(b'*', rest) {
            self.bytes.extend_from_slice(&rest[..literal_end]);
            self.push_star();
            rest = &rest[literal_end + 1..];
        }
        self.bytes.extend_from_slice(rest);
    }
}

/// Converts a position in a list; [`limits`](portcullis_dialect::limits) keeps rule sets far below
/// 4 GiB.
#[inline]
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

    /// A table of patterns is not searched from end to end, even if a stranger chose them.
    #[test]
    fn patterns_that_differ_in_their_stars_have_other_hashes() {
        let mut list = PatternList::new();
        for number in 0..1 << 10 {
            let stars =
                (0..20).map(|bit| if number >> (bit / 2) & 1 == bit % 2 { "*a" } else { "a" });
            list.push(format!("/{}", stars.collect::<String>()).as_bytes(), true);
        }
        assert!(list.iter().all(|it| it.bytes == list.get(0).bytes && it.stars().len() == 10));
        let hasher = foldhash::fast::RandomState::default();
        let hashes: std::collections::HashSet<u64> =
            list.iter().map(|it| std::hash::BuildHasher::hash_one(&hasher, it)).collect();
        assert!(hashes.len() > list.len() - 5, "{} of {}", hashes.len(), list.len());
    }

    #[test]
    fn literals_have_the_form_of_their_text() {
        for text in ["/a", "/a**b", "/a*", "*", "**", "/*a**", "", "a*b*c"] {
            for end in ["", "$"] {
                let (mut by_text, mut by_literals) = (PatternList::new(), PatternList::new());
                for list in [&mut by_text, &mut by_literals] {
                    list.push(b"/x*y", true);
                }
                by_text.push(format!("{text}{end}").as_bytes(), true);
                by_literals.push_literals(text.split('*').map(str::as_bytes), end == "$");
                assert_eq!(by_text, by_literals, "{text}{end}");
                assert_eq!(by_text.get(1).literals().skip(1).filter(|it| it.is_empty()).count(), 0);
            }
        }
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
    fn literals_are_between_stars() {
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
