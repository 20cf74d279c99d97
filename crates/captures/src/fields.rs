//! Header fields, as in WARC and HTTP: `name: value` lines up to an empty line.
//!
//! Parsing is as lenient as archives require: a line may end in LF alone, a value may continue on a
//! line that begins with white space (RFC 9112, section 5.2), and a line without a colon is
//! ignored. Cost: one pass, and a copy only for a block with folded lines. A block without an end
//! is `None`.

use std::borrow::Cow;

use memchr::{memchr, memchr_iter};

use portcullis_engine::bytes::trim;

/// White space around names and values.
pub(super) const WHITE_SPACE: &[u8] = b" \t\r";

/// Returns the length of the header block at the start of `bytes`, its empty line included. `None`
/// if the block does not end within `bytes`.
pub(crate) fn block_bytes(bytes: &[u8]) -> Option<usize> {
    let mut line_start = 0;
    for line_end in memchr_iter(b'\n', bytes) {
        if matches!(&bytes[line_start..line_end], b"" | b"\r") {
            return Some(line_end + 1);
        }
        line_start = line_end + 1;
    }
    None
}

/// Returns the block with one line per field.
pub(super) fn unfold(block: &[u8]) -> Cow<'_, [u8]> {
    // The line after such a line feed continues the one before.
    let is_fold = |at: &usize| matches!(block.get(at + 1), Some(b' ' | b'\t'));
    let mut folds = memchr_iter(b'\n', block).filter(is_fold).peekable();
    if folds.peek().is_none() {
        return Cow::Borrowed(block);
    }
    let mut unfolded = block.to_vec();
    for at in folds {
        unfolded[at] = b' ';
        if at > 0 && unfolded[at - 1] == b'\r' {
            unfolded[at - 1] = b' ';
        }
    }
    Cow::Owned(unfolded)
}

/// Returns the lines of an unfolded block, without line ends.
pub(super) fn lines(block: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(block);
    std::iter::from_fn(move || {
        let text = rest?;
        let end = memchr(b'\n', text);
        rest = end.map(|end| &text[end + 1..]);
        let line = &text[..end.unwrap_or(text.len())];
        Some(line.strip_suffix(b"\r").unwrap_or(line))
    })
}

/// Returns the fields of an unfolded block as name and value, trimmed. The first line is not a
/// field.
pub(super) fn fields(block: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    lines(block).skip(1).filter_map(|line| {
        let (name, value) = line.split_at(memchr(b':', line)?);
        Some((trim(name, WHITE_SPACE), trim(&value[1..], WHITE_SPACE)))
    })
}

/// Returns whether an answer with this status may be the whole file. One with status 206 is a part, unless each
/// of its `Content-Range` says that the part is all there is, and the body has as many bytes (RFC 9110,
/// sections 14.4 and 15.3.7).
pub(super) fn may_be_whole<'r>(
    status: u16,
    mut ranges: impl Iterator<Item = &'r [u8]>,
    body_bytes: usize,
) -> bool {
    let size = |range: &[u8]| {
        let range = range.strip_prefix(b"bytes ")?.strip_prefix(b"0-")?;
        let (last, size) = range.split_at(memchr(b'/', range)?);
        let size = byte_count(&size[1..])?;
        (byte_count(last)?.checked_add(1)? == size).then_some(size)
    };
    if status != 206 {
        return true;
    }
    let first = ranges.next().and_then(size);
    first.is_some_and(|first| first <= body_bytes as u64)
        && ranges.all(|other| size(other) == first)
}

/// Parses a field that counts bytes, such as `Content-Length`.
pub(super) fn byte_count(value: &[u8]) -> Option<u64> {
    if value.is_empty() || !value.iter().all(u8::is_ascii_digit) {
        return None;
    }
    str::from_utf8(value).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(block: &[u8]) -> Vec<(String, String)> {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        fields(&unfold(block)).map(|(name, value)| (text(name), text(value))).collect()
    }

    #[test]
    fn ends_of_blocks() {
        let rows: [(&[u8], Option<usize>); 9] = [
            (b"", None),
            (b"A", None),
            (b"A\n", None),
            (b"A\r\n\r", None),
            (b"A\n\nrest", Some(3)),
            (b"A\r\n\r\nrest", Some(5)),
            (b"A\n\r\nrest", Some(4)),
            (b"A\r\nb: c\r\n \r\n\r\n", Some(14)),
            (b"\n\n", Some(1)),
        ];
        for (bytes, expected) in rows {
            assert_eq!(block_bytes(bytes), expected, "{bytes:?}");
        }
    }

    #[test]
    fn fields_with_and_without_folds() {
        let plain = b"first: line\r\nA: 1\r\nb :  2 \nno colon\r\n:\r\nC:\r\nd: x:y\r\n\r\n";
        assert!(matches!(unfold(plain), Cow::Borrowed(_)));
        let expected = [("A", "1"), ("b", "2"), ("", ""), ("C", ""), ("d", "x:y")];
        assert_eq!(all(plain), expected.map(|(a, b)| (a.to_owned(), b.to_owned())));

        let folded = all(b"first\r\nA: 1\r\n 2\r\n\t\r\nb: 3\n 4\n\n");
        assert_eq!(folded.len(), 2);
        assert_eq!(folded[0].1.split_whitespace().collect::<Vec<_>>(), ["1", "2"]);
        assert_eq!(folded[1], ("b".to_owned(), "3  4".to_owned()));
    }

    #[test]
    fn counts_of_bytes() {
        assert_eq!(byte_count(b"0"), Some(0));
        assert_eq!(byte_count(b"0042"), Some(42));
        assert_eq!(byte_count(b"18446744073709551615"), Some(u64::MAX));
        for text in [&b""[..], b"-1", b"+1", b"1 2", b"1,1", b"x", b"18446744073709551616"] {
            assert_eq!(byte_count(text), None);
        }
    }
}
