//! The normal form in which patterns and URLs are compared: percent escapes and bytes outside
//! ASCII.
//!
//! This module owns the one normaliser, a pure function of [`Escapes`]; patterns and URLs pass
//! through the same code. [`normal_text`](super::normal_text) cuts wildcards out of a value first, so a `*`
//! or `$` that reaches this code is a literal.
//!
//! Cost: one pass over the text. A text without escapes and bytes to escape, as nearly all real URLs
//! are, is neither copied nor allocated. Nothing can fail: any bytes have a normal form.
//!
//! ```
//! use portcullis_dialect::dialect::Escapes;
//! use portcullis_robots::url::normalise;
//!
//! let mut scratch = Vec::new();
//! let path = normalise(b"/%7Ejoe/a b", Escapes::Uri, &mut scratch);
//! assert_eq!(path, b"/~joe/a%20b");
//! ```

use portcullis_dialect::dialect::Escapes;
use portcullis_engine::bytes::{percent_triplet, push_percent_triplet};

use super::plain::{Treatment, first_marked, is_unreserved, treatment};

/// Returns the normal form of `text`: `text` itself if nothing changes, otherwise the contents of
/// `scratch`.
#[inline]
pub fn normalise<'a>(text: &'a [u8], escapes: Escapes, scratch: &'a mut Vec<u8>) -> &'a [u8] {
    match first_special(text, escapes) {
        None => text,
        Some(start) => {
            scratch.clear();
            rewrite(text, start, escapes, scratch);
            // Triplets in normal form stay.
            if *scratch == text { text } else { scratch }
        }
    }
}

/// Returns the position of the first byte that may change.
#[inline]
fn first_special(text: &[u8], escapes: Escapes) -> Option<usize> {
    let mut start = 0;
    loop {
        let place = start + first_marked(&text[start..], escapes)?;
        if treatment(text[place], escapes) != Treatment::Keep {
            return Some(place);
        }
        // It ends a path or is a control character.
        start = place + 1;
    }
}

/// Appends the normal form of `text` to `out`; the first `start` bytes are kept.
#[cold]
fn rewrite(text: &[u8], start: usize, escapes: Escapes, out: &mut Vec<u8>) {
    let (kept, mut rest) = text.split_at(start);
    out.extend_from_slice(kept);
    while let Some(&byte) = rest.first() {
        let triplet = percent_triplet(rest);
        let read = match (treatment(byte, escapes), triplet) {
            (Treatment::Keep, _) => {
                let kept = first_special(rest, escapes).unwrap_or(rest.len());
                out.extend_from_slice(&rest[..kept]);
                kept
            }
            (Treatment::Escape, _) => {
                push_percent_triplet(out, byte);
                1
            }
            (Treatment::Percent, None) => {
                out.push(b'%');
                1
            }
            (Treatment::Percent, Some(value)) => {
                if decodes(escapes, value) {
                    out.push(value);
                } else {
                    push_percent_triplet(out, value);
                }
                3
            }
        };
        rest = &rest[read..];
    }
}

/// Returns whether a triplet for `value` is decoded.
fn decodes(escapes: Escapes, value: u8) -> bool {
    match escapes {
        Escapes::AsWritten | Escapes::Google => false,
        Escapes::Decoded => value != b'/',
        Escapes::Uri => is_unreserved(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(text: &[u8], escapes: Escapes) -> Vec<u8> {
        normalise(text, escapes, &mut Vec::new()).to_vec()
    }

    #[test]
    fn each_form_by_example() {
        let rows: [(Escapes, &[u8], &[u8]); 10] = [
            (Escapes::AsWritten, b"/%7e\xff *", b"/%7e\xff *"),
            (Escapes::Decoded, b"/%7e%2f%2F%00", b"/~%2F%2F\0"),
            (Escapes::Google, b"/%7e%2f \xe3*$", b"/%7E%2F %E3*$"),
            (Escapes::Uri, b"/%7e%2f \xe3*$", b"/~%2F%20%E3%2A%24"),
            (Escapes::Uri, b"/%41%5a%5A%30%2d%5f", b"/AZZ0-_"),
            (Escapes::Uri, b"/%%41%4", b"/%A%4"),
            (Escapes::Uri, b"/%2541", b"/%2541"),
            (Escapes::Uri, b"/%", b"/%"),
            (Escapes::Uri, b"/%zz%g1", b"/%zz%g1"),
            (Escapes::Uri, b"/\"<>\\^`{|}\x7f\t", b"/%22%3C%3E%5C%5E%60%7B%7C%7D%7F%09"),
        ];
        for (escapes, text, expected) in rows {
            assert_eq!(form(text, escapes), expected, "{escapes:?} {text:?}");
        }
    }

    #[test]
    fn a_change_is_found_at_every_position() {
        for length in 0..40 {
            for position in 0..length {
                let mut text = vec![b'a'; length];
                text[position] = 0xff;
                let expected = [&text[..position], b"%FF", &text[position + 1..]].concat();
                assert_eq!(form(&text, Escapes::Uri), expected);
            }
            let text = vec![b'a'; length];
            let mut scratch = Vec::new();
            assert_eq!(normalise(&text, Escapes::Uri, &mut scratch).as_ptr(), text.as_ptr());
        }
    }

    #[test]
    fn a_triplet_in_normal_form_stays() {
        let rows: [(Escapes, &[u8], bool); 8] = [
            (Escapes::Google, b"/a%20b%E3%81%82%zz%4", true),
            (Escapes::Uri, b"/a%20b%E3%81%82%zz%4", true),
            (Escapes::Google, b"/a%20b%e3", false),
            (Escapes::Google, b"/%7e", false),
            (Escapes::Google, b"/%7E", true),
            (Escapes::Uri, b"/%7E", false),
            (Escapes::Decoded, b"/%2F", true),
            (Escapes::Decoded, b"/%2F%20", false),
        ];
        for (escapes, text, stays) in rows {
            let mut scratch = Vec::new();
            let is_same = normalise(text, escapes, &mut scratch).as_ptr() == text.as_ptr();
            assert_eq!(is_same, stays, "{escapes:?} {text:?}");
        }
    }

    #[test]
    fn a_normal_form_stays() {
        let every: Vec<u8> = (0..=255).chain(*b"%41%2f%zz").collect();
        for escapes in [Escapes::Google, Escapes::Uri] {
            let once = form(&every, escapes);
            assert_eq!(form(&once, escapes), once, "{escapes:?}");
        }
    }
}
