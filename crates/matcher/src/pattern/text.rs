//! A rule's value in the normal form in which patterns are compared and measured.

use crate::escape::normalise;
use portcullis_dialect::dialect::{IndexPage, PathRules, UnrootedPattern};

/// Writes the normal text of `value`, a rule's value as it stands in the file without the white
/// space around it, to `text`. Returns false if it can match no path: it is empty, or it starts
/// where no path does.
///
/// In a dialect with wildcards every `*` of the text is a wildcard and a `$` at its end is the
/// anchor; literal ones are escaped or stand elsewhere. The number of bytes of the text is what
/// counts for precedence (RFC 9309, section 2.2.2).
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
        // A literal star stands where every path has its slash.
        return first != b'*';
    }
    true
}

fn push_with_wildcards(value: &[u8], rules: &PathRules, text: &mut Vec<u8>) {
    let (body, anchored) = match value.strip_suffix(b"$") {
        Some(body) => (body, true),
        None => (value, false),
    };
    let mut rest = body;
    while let Some(star) = memchr::memchr(b'*', rest) {
        push_literal(&rest[..star], rules, text);
        text.push(b'*');
        rest = &rest[star + 1..];
    }
    push_literal(rest, rules, text);
    if anchored {
        text.push(b'$');
    }
}

fn push_literal(literal: &[u8], rules: &PathRules, text: &mut Vec<u8>) {
    let mut scratch = Vec::new();
    text.extend_from_slice(normalise(literal, rules.escapes, &mut scratch));
}

/// The second pattern that an Allow rule with this normal text stands for, if the dialect takes
/// `…/index.htm…` for the page of the directory `…/`: that directory, anchored.
///
/// Source: google/robotstxt, where it applies if the rule itself does not match; the rule itself
/// is longer and so decides whenever it does.
pub fn index_page_text(text: &[u8], rules: &PathRules) -> Option<Vec<u8>> {
    if rules.index_page == IndexPage::NoMeaning {
        return None;
    }
    let slash = memchr::memrchr(b'/', text)?;
    text[slash..].starts_with(b"/index.htm").then(|| [&text[..=slash], b"$"].concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use portcullis_dialect::dialect::{Dialect, GOOGLE, KOSTER_1996, ORIGINAL_1994, RFC_9309};

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
