//! The normal text of a rule's value.
//!
//! This module owns the meaning of a value in a dialect: which bytes are compared, where the stars
//! are, whether `$` anchors the end, and how many bytes count for precedence. It does not match;
//! that is the engine's.
//!
//! Cost: one pass over each value. Nothing can fail: [`normal_text`] returns false for a value that
//! matches no path.
//!
//! ```
//! use portcullis_dialect::dialect::RFC_9309;
//! use portcullis_robots::url::normal_text;
//!
//! let mut text = Vec::new();
//! assert!(normal_text(b"/a%7e/*.php$", &RFC_9309.paths, &mut text));
//! assert_eq!(text, b"/a~/*.php$");
//! ```

use portcullis_dialect::dialect::{Escapes, IndexPage, PathRules, UnrootedPattern};
use portcullis_engine::vectors::{Kind, Vectors, Work};

use super::escape::normalise;
use super::plain::first_marked_in_pattern;

/// Writes the normal text of `value`, a rule's value without surrounding white space, to `text`.
/// Returns false if the value matches no path: it is empty, or no path starts the way it does.
///
/// In a dialect with wildcards every `*` of the text is a wildcard and a final `$` is the anchor;
/// literal ones are escaped. The length of the text is the length that counts for precedence
/// (RFC 9309, section 2.2.2).
pub fn normal_text(value: &[u8], rules: &PathRules, text: &mut Vec<u8>) -> bool {
    text.clear();
    push_normal_text(value, rules, false, text)
}

/// Like [`normal_text`], but appends to `text`: nothing if the value matches no path. If `is_plain`, the
/// bytes of the value are in normal form.
#[inline]
pub(crate) fn push_normal_text(
    value: &[u8],
    rules: &PathRules,
    is_plain: bool,
    text: &mut Vec<u8>,
) -> bool {
    match (value, rules.unrooted) {
        ([], _) => return false,
        // Every path starts with a slash, so no path starts with a literal star.
        ([b'*', ..], _) if !rules.wildcards => return false,
        ([b'/' | b'*', ..], _) => {}
        (_, UnrootedPattern::NeverMatches) => return false,
        (_, UnrootedPattern::SlashPrepended) => text.push(b'/'),
    }
    match is_plain {
        true => text.extend_from_slice(value),
        false => push_normalised(value, rules, text),
    }
    true
}

#[inline(never)]
fn push_normalised(value: &[u8], rules: &PathRules, text: &mut Vec<u8>) {
    let anchor = if rules.wildcards && value.ends_with(b"$") { "$" } else { "" };
    let body = &value[..value.len() - anchor.len()];
    let mut scratch = Vec::new();
    for (index, literal) in body.split(|&byte| rules.wildcards && byte == b'*').enumerate() {
        if index > 0 {
            text.push(b'*');
        }
        text.extend_from_slice(normalise(literal, rules.escapes, &mut scratch));
    }
    text.extend_from_slice(anchor.as_bytes());
}

/// Returns whether all of `texts`, one after the other, are in normal form. False negatives are
/// possible. The last byte of so many of them is `$`.
pub(crate) fn are_plain(texts: &[u8], anchors: usize, rules: &PathRules) -> bool {
    rules.wildcards
        && Vectors::detect().run(IsUnmarked { texts, escapes: rules.escapes })
        && match anchors {
            0 => memchr::memchr(b'$', texts).is_none(),
            _ => memchr::memchr_iter(b'$', texts).count() == anchors,
        }
}

/// Whether no byte of the texts of patterns might change.
struct IsUnmarked<'t> {
    texts: &'t [u8],
    escapes: Escapes,
}

impl Work for IsUnmarked<'_> {
    type Output = bool;

    #[inline(always)]
    fn with(self, _: impl Kind) -> bool {
        first_marked_in_pattern(self.texts, self.escapes).is_none()
    }
}

/// Returns the second pattern of an `Allow` rule whose value ends in `/index.htm…`: its directory,
/// anchored. `None` if the dialect has no such rule or the value is another.
///
/// google/robotstxt tries the directory if the rule itself does not match. The rule is longer, so
/// it decides whenever it matches.
pub fn index_page_text(text: &[u8], rules: &PathRules) -> Option<Vec<u8>> {
    index_page(text, rules).map(|slash| [&text[..=slash], b"$"].concat())
}

/// Returns where the index page begins that a pattern names, if that has a meaning.
pub(crate) fn index_page(text: &[u8], rules: &PathRules) -> Option<usize> {
    if rules.index_page == IndexPage::NoMeaning {
        return None;
    }
    memchr::memrchr(b'/', text).filter(|&slash| text[slash..].starts_with(b"/index.htm"))
}

#[cfg(test)]
mod tests {
    use portcullis_dialect::dialect::{Dialect, GOOGLE, KOSTER_1996, ORIGINAL_1994, RFC_9309};

    use super::*;

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
