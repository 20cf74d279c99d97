//! Finds bodies that were stored as something else than text: with escapes for line ends, as one
//! line, with a backslash before each line end, in hex or in base64. Read as they are, they say
//! something else than what the server sent, and mostly that everything is allowed.
//!
//! Which program wrote them is a guess, so they are not undone: the message says what to write
//! instead. Cost: searches for line ends, a colon and escapes; a line with an escaped line end is parsed twice.

use std::borrow::Cow;
use std::cell::LazyCell;

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use memchr::memmem::find;
use portcullis_dialect::dialect::GOOGLE;
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

/// The problem of a body with the bytes of line ends in hex.
const BLOB: &str = "its body has `\\x0A` for line ends, as DuckDB writes a BLOB, and would be one line; \
     write decode(body), or base64(body) with ‹fields› body_base64=NAME";

/// The problem of a body with other escapes for line ends.
const OTHERWISE_ESCAPED: &str = "its body has escapes for line ends (such as `%0A` or `\\012`), and would be \
     one line; write it with real line ends, or in base64 with ‹fields› body_base64=NAME";

/// The problem of a body in base64, as BigQuery exports bytes.
const ENCODED: &str = "its body is base64, and would be a file without rules; name its field with ‹fields› body_base64=NAME";

/// The problem of a body in a code that no field can have.
const OTHERWISE_ENCODED: &str = "its body is hex, or base64 in quotes, cut, or of UTF-16 or gzip, and would \
     be a file without rules; write its text, or that in base64 with ‹fields› body_base64=NAME";

/// Returns what is wrong with a body that is not the text that the server sent; `None` if it seems to be.
pub(super) fn problem(body: &[u8]) -> Option<&'static str> {
    let text = body.strip_prefix(BYTE_ORDER_MARK).unwrap_or(body);
    // A page has a note of its own, unless it names a crawler.
    let is_page = PAGES.iter().any(|start| begins_with(text.trim_ascii_start(), start));
    if is_page && find(text, b"ser-agent").is_none() {
        return None;
    }
    if ends_in_backslashes(text) {
        return Some(BACKSLASHED);
    }
    encoded(text).or_else(|| escaped(text))
}

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The first tags of most pages.
const PAGES: [&[u8]; 4] = [b"<!doctype", b"<html", b"<head", b"<?xml"];

fn begins_with(text: &[u8], start: &[u8]) -> bool {
    text.get(..start.len()).is_some_and(|it| it.eq_ignore_ascii_case(start))
}

/// Whether all lines with an end, but for comments, have a `\` before it, or all that name a crawler. RTF has such
/// lines too.
fn ends_in_backslashes(text: &[u8]) -> bool {
    const RTF: &[u8] = b"{\\rtf";
    let first = &text[..memchr::memchr(b'\n', text).unwrap_or(text.len())];
    if memchr::memchr(b'\\', text).is_none() || find(first, RTF).is_some() {
        return false;
    }
    let lines = text.split_inclusive(|&byte| byte == b'\n');
    let lines = lines.filter(|line| !matches!(line.trim_ascii(), [] | [b'#', ..]));
    let is_coded = |line: &[u8]| line.trim_ascii().ends_with(b"\\");
    are_all(lines.clone().filter(|line| line.ends_with(b"\n")), is_coded)
        || are_all(lines.filter(|line| names_crawler(line)), is_coded)
}

/// Whether there are lines, and all are so.
fn are_all<'t>(lines: impl Iterator<Item = &'t [u8]>, are: impl Fn(&[u8]) -> bool) -> bool {
    let mut lines = lines.peekable();
    lines.peek().is_some() && lines.all(are)
}

/// The spellings of the field that names a crawler.
const FIELDS: [&[u8]; 3] = [b"user-agent", b"useragent", b"user agent"];

/// Whether a line has the field that names a crawler, in a spelling that a dialect reads.
fn names_crawler(line: &[u8]) -> bool {
    FIELDS.iter().any(|field| begins_with(line.trim_ascii_start(), field))
}

/// Returns the problem of a text that is a file in hex or base64, which many programs write in lines. Comments and
/// other records may be around it.
fn encoded(text: &[u8]) -> Option<&'static str> {
    let joined = digits(text)?;
    let bare = bare(&joined);
    if bare.is_empty() {
        return None;
    }
    // The alphabet for URLs and files (RFC 4648, section 5).
    let standard = |digit: &u8| match *digit {
        b'-' => b'+',
        b'_' => b'/',
        other => other,
    };
    let mut digits: Vec<u8> = bare.iter().map(standard).collect();
    if let Some(bytes) = bytes_of_hex(&digits) {
        return is_of_records(&bytes).then_some(OTHERWISE_ENCODED);
    }
    let whole = BASE64.decode(&digits).ok();
    let is_file = whole.as_ref().is_some_and(|bytes| records(bytes) > 0);
    let is_alone = digits.len() == without_space(text).len();
    // The end may be cut.
    digits.truncate(digits.len() / 4 * 4);
    let bytes = whole.or_else(|| BASE64.decode(digits).ok()).filter(|bytes| is_of_records(bytes));
    bytes.map(|_| if is_file && is_alone { ENCODED } else { OTHERWISE_ENCODED })
}

/// Returns the lines of a text that are neither comments nor records, without white space. `None` if one has something
/// else than digits, marks and quotes, or if a record is a rule.
fn digits(text: &[u8]) -> Option<Vec<u8>> {
    let mut digits = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let end = memchr::memchr2(b'\r', b'\n', rest).unwrap_or(rest.len());
        let line = rest[..end].trim_ascii();
        rest = rest.get(end + 1..).unwrap_or_default();
        let is_data = line.starts_with(b"data:");
        if line.starts_with(b"#") || line.is_empty() {
            continue;
        }
        if let Some(colon) = memchr::memchr(b':', line).filter(|_| !is_data) {
            if line[..colon].to_ascii_lowercase().ends_with(b"llow") {
                return None;
            }
            continue;
        }
        let is_digit = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/=-_'\"\\ \t".contains(byte);
        if !is_data && !line.iter().all(is_digit) {
            return None;
        }
        digits.extend(line.iter().filter(|byte| !byte.is_ascii_whitespace()));
    }
    Some(digits)
}

/// Returns a text without its white space, as codes may have it.
pub(super) fn without_space(text: &[u8]) -> Cow<'_, [u8]> {
    match text.iter().any(u8::is_ascii_whitespace) {
        true => text.iter().copied().filter(|it| !it.is_ascii_whitespace()).collect(),
        false => Cow::Borrowed(text),
    }
}

/// Returns the digits of a code without the mark before them, and the quotes around them.
fn bare(text: &[u8]) -> &[u8] {
    const MARKS: [&[u8]; 5] = [b"b", b"x", b"X", b"E", b"0x"];
    let without_mark = MARKS.iter().find_map(|mark| text.strip_prefix(*mark));
    let inside = [text, without_mark.unwrap_or(text)].into_iter().find_map(|text| {
        let (&first, rest) = text.split_first()?;
        let (&last, inside) = rest.split_last()?;
        (first == last && b"'\"".contains(&first)).then_some(inside)
    });
    let text = inside.unwrap_or(text);
    let comma = memchr::memchr(b',', text).filter(|_| text.starts_with(b"data:"));
    comma.map_or(text, |comma| &text[comma + 1..])
}

/// Returns the bytes of digits in hex, which may follow `0x` or `\x`.
fn bytes_of_hex(text: &[u8]) -> Option<Vec<u8>> {
    let digits = [&b"0x"[..], b"\\x"].iter().find_map(|mark| text.strip_prefix(*mark));
    let (pairs, []) = digits.unwrap_or(text).as_chunks::<2>() else { return None };
    pairs.iter().map(|pair| number(pair, 16)).collect()
}

/// Whether bytes are a file with a record, in UTF-16 too, or are compressed.
fn is_of_records(bytes: &[u8]) -> bool {
    let is_utf_16 = || {
        // Without the order mark and the halves of letters that are none of theirs.
        let ascii: Vec<u8> = bytes.iter().copied().filter(|it| (1..0xfe).contains(it)).collect();
        ascii.len() < bytes.len() && records(&ascii) > 0
    };
    records(bytes) > 0 || bytes.starts_with(b"\x1f\x8b") || is_utf_16()
}

/// Returns the problem of a text that has more records if the escapes of a line are undone, or whose lines that name a
/// crawler all end in the escape of a line end. Of several lines, the one with more records has to name a crawler and
/// to have a rule, which other lines may not have: else a comment, a path or a message has escapes. A comment
/// counts if no line names a crawler.
fn escaped(text: &[u8]) -> Option<&'static str> {
    if !has_escaped_end(text) {
        return None;
    }
    let is_line = memchr::memchr2(b'\r', b'\n', text.trim_ascii()).is_none();
    let whole = LazyCell::new(|| read(text));
    let holds_records = |line: &&[u8]| {
        let line = bare(line);
        let may_count = || {
            let is_comment = line.starts_with(b"#");
            whole.rules().is_empty() && (!is_comment || whole.user_agents().is_empty())
        };
        let is_more = |lines: &[u8]| {
            let file = read(lines);
            let is_file = is_line || rules(&file) > 0 || !file.usage_records().is_empty();
            is_file && records(lines) > records(line) && has_agent_field(lines)
        };
        has_escaped_end(line) && is_more(&unescaped(line)) && (is_line || may_count())
    };
    let ends_in_escape = |line: &[u8]| {
        has_escaped_end(line) && matches!(unescaped(line).last(), Some(b'\r' | b'\n'))
    };
    let mut lines = text.split(|byte| b"\r\n".contains(byte)).map(<[u8]>::trim_ascii);
    let mut agents = lines.clone().filter(|line| names_crawler(line));
    let line = match are_all(agents.clone(), ends_in_escape) {
        true => agents.next(),
        false => lines.find(holds_records),
    }?;
    // A page has programs with such texts.
    if !is_line && text.trim_ascii_start().starts_with(b"<") && read(text).is_page() {
        return None;
    }
    let has = |escape: &[u8]| find(line, escape).is_some();
    Some(match () {
        () if has(b"\\n") || has(b"\\r") => ESCAPED,
        () if has(b"\\x0") => BLOB,
        () => OTHERWISE_ESCAPED,
    })
}

/// Whether a text has the field that names a crawler, and its colon.
fn has_agent_field(text: &[u8]) -> bool {
    let text = text.to_ascii_lowercase();
    let has_colon = |end: usize| text[end..].trim_ascii_start().starts_with(b":");
    FIELDS.iter().any(|field| {
        memchr::memmem::find_iter(&text, field).any(|start| has_colon(start + field.len()))
    })
}

/// Whether a text has an escape of a line end.
fn has_escaped_end(text: &[u8]) -> bool {
    let mut escapes = memchr::memchr3_iter(b'\\', b'%', b'&', text);
    escapes.any(|at| escape(&text[at..]).is_some_and(|(byte, _)| b"\r\n".contains(&byte)))
}

/// Returns a line with the bytes that its escapes stand for.
fn unescaped(line: &[u8]) -> Vec<u8> {
    let (mut out, mut rest) = (Vec::with_capacity(line.len()), line);
    while let Some(at) = memchr::memchr3(b'\\', b'%', b'&', rest) {
        out.extend_from_slice(&rest[..at]);
        let (byte, bytes) = escape(&rest[at..]).unwrap_or((rest[at], 1));
        out.push(byte);
        rest = &rest[at + bytes..];
    }
    out.extend_from_slice(rest);
    out
}

/// Bytes of an entity that is undone, such as `&#x000A;`: 10.
///
/// Source: our choice. A search for its `;` that went on to the end of the text would be quadratic.
const ENTITY_BYTES_MAX: usize = 10;

/// Returns the byte that the escape at the start of a text stands for, and the length of the escape.
fn escape(text: &[u8]) -> Option<(u8, usize)> {
    let byte = |from: usize, digits: usize, radix: u32| {
        Some((number(text.get(from..from + digits)?, radix)?, from + digits))
    };
    match text {
        [b'\\', b'n', ..] => Some((b'\n', 2)),
        [b'\\', b'r', ..] => Some((b'\r', 2)),
        [b'\\', b'x' | b'X', ..] => byte(2, 2, 16),
        [b'\\', b'u' | b'U', b'0', b'0', ..] => byte(4, 2, 16),
        [b'\\', b'0'..=b'3', ..] => byte(1, 3, 8),
        [b'%', b'2', b'5', b'0', ..] => byte(3, 2, 16),
        [b'%', ..] => byte(1, 2, 16),
        _ if text.starts_with(b"&NewLine;") => Some((b'\n', b"&NewLine;".len())),
        [b'&', b'#', ..] => {
            let end = text.iter().take(ENTITY_BYTES_MAX).position(|byte| *byte == b';')?;
            let (from, radix) = if matches!(text[2], b'x' | b'X') { (3, 16) } else { (2, 10) };
            let (byte, end) = byte(from, end.checked_sub(from)?, radix)?;
            Some((byte, end + 1))
        }
        _ => None,
    }
}

/// Returns the number that digits mean.
fn number(digits: &[u8], radix: u32) -> Option<u8> {
    let digits = str::from_utf8(digits).ok().filter(|it| !it.starts_with('+'))?;
    u8::from_str_radix(digits, radix).ok()
}

/// The problem of a file whose text is in a code.
const CODED_FILE: &str = "its text is encoded (escapes such as `\\n` for line ends, base64 or hex), and no rule \
     would be found; write it as the server sends it";

/// Checks that a robots.txt file has the text that a server sent, and not an escaped or encoded form of it.
///
/// # Errors
///
/// The problem.
pub fn check_file(text: &[u8]) -> Result<(), &'static str> {
    problem(text).map_or(Ok(()), |_| Err(CODED_FILE))
}

/// Returns what is wrong with a body that is one line because its field has no quotes.
pub(super) fn problem_of_line(body: &[u8]) -> Option<&'static str> {
    match find(body, b"\\n") {
        Some(_) => Some(ESCAPED),
        None => body.ends_with(b"\\").then_some(BACKSLASHED),
    }
}

/// Returns the number of records that some crawler heeds, or would in a group: the text before the first one may
/// be part of a program, such as `b'`.
fn records(body: &[u8]) -> usize {
    let file = read(body);
    file.user_agents().len() + file.usage_records().len() + rules(&file)
}

/// Returns the number of rules, with those outside of groups.
fn rules(file: &RobotsTxt<'_>) -> usize {
    let stray = file.notes().iter().filter(|note| note.kind == NoteKind::RuleOutsideGroup).count();
    file.rules().len() + stray
}

/// Reads a text in the dialect that knows most spellings.
fn read(text: &[u8]) -> RobotsTxt<'_> {
    RobotsTxt::parse(text, &GOOGLE, None)
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
            "# a file\nUser-agent: *\\nDisallow: /\n",
            "\u{feff}Sitemap: https://a.example/\r\nUser-agent: *\\nDisallow: /",
            "User-agent: a\\nDisallow: /\nUser-agent: b\\nDisallow: /\n",
            "<?xml version='1.0'?>\nUser-agent: *\\r\nDisallow: /\\r\n",
            "Sitemap: https://a.example/\n\"User-agent: *\\nDisallow: /\"\n",
            "User-agent: *\\r\nDisallow: /\\r\n",
            "Useragent: Bot\\nDisalow: /\n",
            "User-agent: *\\nContent-Usage: train-ai=n\nSitemap: https://a.example/\n",
            "{\n  \"body\": \"User-agent: *\\nDisallow: /\"\n}\n",
        ] {
            assert_eq!(problem(body.as_bytes()), Some(ESCAPED), "{body}");
        }
        for body in
            [r"User-agent: *\x0ADisallow: /\x0A", r"User-agent: *\x0D\x0aDisallow: /private"]
        {
            assert_eq!(problem(body.as_bytes()), Some(BLOB), "{body}");
        }
        for body in [
            r"User-agent: *\012Disallow: /\012",
            r"User-agent: *\u000aDisallow: /",
            "User-agent: *%0ADisallow: /",
            "User-agent%3A%20%2A%0D%0ADisallow%3A%20/",
            "User-agent: *&#10;Disallow: /",
            "User-agent: *&NewLine;Disallow: /",
            "User-agent: *%250ADisallow: /",
            "User-agent: *&#13;\nDisallow: /&#13;\n",
            "user agent: *&#10;\nDisallow: /&#10;\n",
            "User-agent: *&#x0a;Disallow: /",
            "User-agent: *&#x000A;Disallow: /",
        ] {
            assert_eq!(problem(body.as_bytes()), Some(OTHERWISE_ESCAPED), "{body}");
        }
        for body in
            ["VXNlci1hZ2VudDogKgpEaXNhbGxvdzogLwo=", " VXNlci1hZ2Vu\r\ndDogKgpEaXNhbGxvdzogLwo=\n"]
        {
            assert_eq!(problem(body.as_bytes()), Some(ENCODED), "{body:?}");
        }
        for body in [
            "VXNlci1hZ2VudDogKgpEaXNhbGxvdzogL",
            "\"VXNlci1hZ2VudDogKgpEaXNhbGxvdzogLwo=\"",
            "b'VXNlci1hZ2VudDogKgpEaXNhbGxvdzogLwo='",
            "data:text/plain;base64,VXNlci1hZ2VudDogKgpEaXNhbGxvdzogLwo=",
            "//5VAHMAZQByAC0AYQBnAGUAbgB0ADoAIAAqAAoA",
            "H4sIAAAAAAACAwMAAAAAAAAAAAA=",
            "557365722D6167656E743A202A0A446973616C6C6F773A202F0A",
            "557365722d6167656e743a202a0a 446973616c6c6f773a202f0a",
            "0x557365722d6167656e743a202a0a",
            r"\x557365722d6167656e743a202a0a",
            "# a file\nVXNlci1hZ2VudDogKgpEaXNhbGxvdzogLwo",
            "Sitemap: https://a.example/\nVXNlci1hZ2VudDogKgpEaXNhbGxvdzogLwo=\n",
            "X'557365722D6167656E743A202A0A'",
        ] {
            assert_eq!(problem(body.as_bytes()), Some(OTHERWISE_ENCODED), "{body}");
        }
        for body in [
            "User-agent: *\\\nDisallow: /\\\n",
            "a\\\r\nb\\\r\n",
            "a\r\\\nb",
            "User-agent: *\\\n",
            "# a\n\nUser-agent: *\\\nDisallow: /\\\n",
            "Sitemap: https://a.example/\nUser-agent: *\\\nDisallow: /a\\\nDisallow: /\n",
        ] {
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
            "User-agent: *",
            "Disallow: /a%0Ab",
            "Disallow: /%+A&#10",
            "&#;&#x;%\\x\\u00\\01",
            "deadbeef",
            "0x",
            "''",
            "User-agent: *\nDisallow: /a\\nDisallow: /b\n",
            "User-agent: *\nDisallow: /a\\\n",
            "User-agent: *\rDisallow: /\\n",
            "# a\\\n# b\\\n",
            "# write \\nUser-agent: a\\nDisallow: /\nUser-agent: *\nDisallow: /a\n",
            "# a\\nDisallow: /b\nUser-agent: *\nAllow:\n",
            "{\\rtf1\nUser-agent: *\\\nDisallow: /\\\n}",
            "User-agent: *\nDisallow: /\nUser-agent: Foo\\\nUser-agent: Foo%0D\nDisallow: /a\n",
            "make \\\n  all\n",
            "<html>\n<script>\nx = 'a\\nUser-agent: b\\nDisallow: /'\n",
            "{\"error\":\"Method not allowed\\nAllowed methods: GET\"}",
            "{\n \"description\": \"Send a User-Agent header.\\nLicense: MIT\"\n}\n",
            "{\n \"request\": \"GET / HTTP/1.1\\nUser-Agent: x\\nAccept: */*\"\n}\n",
            "User-agent: *\n# User-agent: x\\nDisallow: /y\n",
        ] {
            assert_eq!(problem(body.as_bytes()), None, "{body:?}");
        }
    }
}
