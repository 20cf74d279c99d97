//! Finds bodies whose line ends were escaped when they were stored: as one line, or with a backslash in each, a
//! file says something else than what the server sent, and mostly that everything is allowed.
//!
//! Cost: a search for line ends; a body that has none or escapes each is searched for `\n`, and parsed if it
//! has it.

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use portcullis_dialect::dialect::RFC_9309;
use portcullis_robots::syntax::{NoteKind, RobotsTxt};

/// The standard alphabet (RFC 4648, section 4), padded or not.
pub(super) const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The problem of a body with `\n` for line ends.
const ESCAPED: &str = "its body has `\\n` for line ends, as TSV of databases and text that is escaped twice \
     have, and would be one line; write CSV with quotes (CSVWithNames, COPY … CSV), JSON Lines or \
     Parquet, with real line ends";

/// The problem of a body with a backslash before each line end.
const BACKSLASHED: &str = "the lines of its body end in `\\`, as MySQL writes them (INTO OUTFILE), and would \
     not be what the server sent; write JSON Lines (mysql --raw -N -e 'SELECT JSON_OBJECT(…)')";

/// The problem of a body in base64, as BigQuery exports bytes.
const ENCODED: &str = "its body is base64, and would be a file without rules; name its field with ‹fields› body_base64=NAME";

/// Returns what is wrong with the line ends of a body; `None` if they are real, or there are none.
pub(super) fn problem(body: &[u8]) -> Option<&'static str> {
    let mut ends = memchr::memchr_iter(b'\n', body).peekable();
    let is_escaped = |end: usize| {
        let line = &body[..end];
        line.strip_suffix(b"\r").unwrap_or(line).ends_with(b"\\")
    };
    if ends.peek().is_some() && ends.all(is_escaped) {
        return Some(BACKSLASHED);
    }
    let line = body.trim_ascii();
    if is_base64_of_records(line) {
        return Some(ENCODED);
    }
    let is_line = memchr::memchr2(b'\r', b'\n', line).is_none();
    (is_line && has_more_records(line)).then_some(ESCAPED)
}

/// Whether a text is a file in base64, which many programs write in lines.
fn is_base64_of_records(text: &[u8]) -> bool {
    // A record has a colon, which base64 has not.
    if text.is_empty() || memchr::memchr(b':', text).is_some() {
        return false;
    }
    let mut digits: Vec<u8> = text.iter().copied().filter(|it| !it.is_ascii_whitespace()).collect();
    // The end may be cut.
    digits.truncate(digits.len() / 4 * 4);
    BASE64.decode(digits).is_ok_and(|body| records(&body) > 0)
}

/// Returns what is wrong with a body that is one line because its field has no quotes.
pub(super) fn problem_of_line(body: &[u8]) -> Option<&'static str> {
    match memchr::memmem::find(body, b"\\n") {
        Some(_) => Some(ESCAPED),
        None => body.ends_with(b"\\").then_some(BACKSLASHED),
    }
}

/// Whether a line has more records if `\n` and `\r` in it are line ends.
fn has_more_records(line: &[u8]) -> bool {
    let is_end = |at: &usize| matches!(line.get(at + 1), Some(b'n' | b'r'));
    if !memchr::memchr_iter(b'\\', line).any(|at| is_end(&at)) {
        return false;
    }
    let mut lines = line.to_vec();
    for at in memchr::memchr_iter(b'\\', line).filter(is_end) {
        lines[at..at + 2].fill(b'\n');
    }
    records(&lines) > records(line)
}

/// Returns the number of records that a crawler heeds, or would in a group: the text before the first one may
/// be part of a program, such as `b'`.
fn records(body: &[u8]) -> usize {
    let file = RobotsTxt::parse(body, &RFC_9309, None);
    let stray = file.notes().iter().filter(|note| note.kind == NoteKind::RuleOutsideGroup).count();
    file.user_agents().len() + file.rules().len() + file.usage_records().len() + stray
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_ends_are_real_or_escaped() {
        for body in [
            r"User-agent: *\nDisallow: /",
            "User-agent: *\\r\\nDisallow: /\\r\\n\n",
            r"b'User-agent: *\n\n  disallow:/\n'",
            r"# a file\nUser-agent: *",
        ] {
            assert_eq!(problem(body.as_bytes()), Some(ESCAPED), "{body}");
        }
        for body in
            ["VXNlci1hZ2VudDogKgpEaXNhbGxvdzogLwo=", " VXNlci1hZ2Vu\r\ndDogKgpEaXNhbGxvdzogLwo=\n"]
        {
            assert_eq!(problem(body.as_bytes()), Some(ENCODED), "{body:?}");
        }
        for body in
            ["User-agent: *\\\nDisallow: /\\\n", "a\\\r\nb\\\r\n", "a\r\\\nb", "User-agent: *\\\n"]
        {
            assert_eq!(problem(body.as_bytes()), Some(BACKSLASHED), "{body:?}");
        }
        for body in [
            "",
            "\n",
            "\\n",
            "aGVsbG8=",
            "bm8gcmVjb3JkOg==",
            r"see C:\new\readme",
            r"Disallow: /a\nb",
            "User-agent: *\nDisallow: /a\\nDisallow: /b\n",
            "User-agent: *\nDisallow: /a\\\n",
            "User-agent: *\rDisallow: /\\n",
        ] {
            assert_eq!(problem(body.as_bytes()), None, "{body:?}");
        }
    }
}
