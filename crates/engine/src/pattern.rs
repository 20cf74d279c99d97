//! Path patterns: the literal bytes and wildcards of a rule's value, in normal form.
//!
//! This module owns the meaning of a value in a dialect: which bytes are compared, where the stars
//! are, whether `$` anchors the end, and how many bytes count for precedence. It does not match;
//! that is [`automaton`](crate::automaton).
//!
//! [`normal_text`] turns a value into its normal text. [`PatternList`] parses normal texts and
//! keeps the patterns of one rule set in three allocations. Their order is the caller's; the
//! automaton reads it as precedence.
//!
//! Cost: one pass over each value; 12 bytes per pattern and 4 per star besides the literal bytes.
//! Nothing can fail: [`normal_text`] returns false for a value that matches no path.
//!
//! ```
//! use portcullis_dialect::dialect::RFC_9309;
//! use portcullis_engine::pattern::{PatternList, normal_text};
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

use std::hash::{Hash, Hasher};

use portcullis_dialect::dialect::{IndexPage, PathRules, UnrootedPattern};

use crate::escape::normalise;
use crate::plain::is_plain_between_stars;

/// Writes the normal text of `value`, a rule's value without surrounding white space, to `text`.
/// Returns false if the value matches no path: it is empty, or no path starts the way it does.
///
/// In a dialect with wildcards every `*` of the text is a wildcard and a final `$` is the anchor;
/// literal ones are escaped. The length of the text is the length that counts for precedence
/// (RFC 9309, section 2.2.2).
pub fn normal_text(value: &[u8], rules: &PathRules, text: &mut Vec<u8>) -> bool {
    text.clear();
    let Some(&first) = value.first() else {
        return false;
    };
    if first != b'/' && first != b'*' {
        match rules.unrooted {
            UnrootedPattern::NeverMatches => return false,
            UnrootedPattern::SlashPrepended => text.push(b'/'),
        }
    }
    if rules.wildcards {
        push_with_wildcards(value, rules, text);
    } else {
        push_literal(value, rules, text);
        // Every path starts with a slash, so no path starts with a literal star.
        return first != b'*';
    }
    true
}

fn push_with_wildcards(value: &[u8], rules: &PathRules, text: &mut Vec<u8>) {
    let (body, anchored) = match value.strip_suffix(b"$") {
        Some(body) => (body, true),
        None => (value, false),
    };
    match is_plain_between_stars(body, rules.escapes) {
        true => text.extend_from_slice(body),
        false => push_between_stars(body, rules, text),
    }
    if anchored {
        text.push(b'$');
    }
}

#[cold]
fn push_between_stars(body: &[u8], rules: &PathRules, text: &mut Vec<u8>) {
    for (index, literal) in body.split(|&byte| byte == b'*').enumerate() {
        if index > 0 {
            text.push(b'*');
        }
        push_literal(literal, rules, text);
    }
}

fn push_literal(literal: &[u8], rules: &PathRules, text: &mut Vec<u8>) {
    let mut scratch = Vec::new();
    text.extend_from_slice(normalise(literal, rules.escapes, &mut scratch));
}

/// Returns the second pattern of an `Allow` rule whose value ends in `/index.htm…`: its directory,
/// anchored. `None` if the dialect has no such rule or the value is another.
///
/// google/robotstxt tries the directory if the rule itself does not match. The rule is longer, so
/// it decides whenever it matches.
pub fn index_page_text(text: &[u8], rules: &PathRules) -> Option<Vec<u8>> {
    if rules.index_page == IndexPage::NoMeaning {
        return None;
    }
    let slash = memchr::memrchr(b'/', text)?;
    text[slash..].starts_with(b"/index.htm").then(|| [&text[..=slash], b"$"].concat())
}

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

    /// Appends the pattern whose normal text is `text` (see [`normal_text`]).
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
    use portcullis_dialect::dialect::{Dialect, GOOGLE, KOSTER_1996, ORIGINAL_1994, RFC_9309};

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

    fn text(dialect: &Dialect, value: &[u8]) -> Option<Vec<u8>> {
        let mut text = Vec::new();
        normal_text(value, &dialect.paths, &mut text).then_some(text)
    }

    #[test]
    fn each_dialect_has_its_form() {
        type Row = (&'static Dialect, &'static [u8], Option<&'static [u8]>);
        let rows: [Row; 14] = [
            (&RFC_9309, b"/a$b$", Some(b"/a%24b$")),
            (&RFC_9309, b"/a%2a*", Some(b"/a%2A*")),
            (&RFC_9309, b"/%7e\xe3", Some(b"/~%E3")),
            (&RFC_9309, b"/%4*1", Some(b"/%4*1")),
            (&RFC_9309, b"a", None),
            (&RFC_9309, b"$", None),
            (&RFC_9309, b"", None),
            (&GOOGLE, b"/%7e$b\xe3$", Some(b"/%7E$b%E3$")),
            (&GOOGLE, b"*a", Some(b"*a")),
            (&KOSTER_1996, b"/%7ejoe%2f", Some(b"/~joe%2F")),
            (&KOSTER_1996, b"a*$", Some(b"/a*$")),
            (&KOSTER_1996, b"*a", None),
            (&ORIGINAL_1994, b"cheese.htm", Some(b"/cheese.htm")),
            (&ORIGINAL_1994, b"/%7e", Some(b"/%7e")),
        ];
        for (dialect, value, expected) in rows {
            assert_eq!(text(dialect, value).as_deref(), expected, "{} {value:?}", dialect.name);
        }
    }

    #[test]
    fn an_index_page_is_its_directory() {
        let page = |text: &[u8]| index_page_text(text, &GOOGLE.paths);
        assert_eq!(page(b"/a/index.html").as_deref(), Some(&b"/a/$"[..]));
        assert_eq!(page(b"/*/index.htm$").as_deref(), Some(&b"/*/$"[..]));
        assert_eq!(page(b"/index.html/b"), None);
        assert_eq!(page(b"/index*.htm"), None);
        assert_eq!(index_page_text(b"/index.htm", &RFC_9309.paths), None);
    }
}
