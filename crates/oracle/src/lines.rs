//! Splits the bytes of a file into lines, and reads lines as records.

use portcullis_dialect::usage::USAGE_FIELDS;
use portcullis_dialect::{
    ByteOrderMark, ControlByte, Field, FieldMatch, LineNumber, LineRules, MissingColon, NulByte,
};

/// A line that can affect groups, or the delay between requests.
pub(super) enum Record<'t> {
    /// Only white space.
    Blank,
    /// A known field with its trimmed value.
    Field(Field, &'t [u8], LineNumber),
    /// The trimmed value of a Crawl-delay.
    CrawlDelay(&'t [u8]),
}

/// Returns the records in the first `bytes_max` bytes of `robots`, in file order.
pub(super) fn records<'t>(
    rules: &LineRules,
    robots: &'t [u8],
    bytes_max: Option<usize>,
) -> Vec<Record<'t>> {
    let mut number = LineNumber::FIRST;
    let mut records = Vec::new();
    for line in lines(rules, robots, bytes_max) {
        records.extend(record(rules, line, number));
        number = number.next();
    }
    records
}

/// Returns the lines within the limit, without their ends. A line that the limit cuts is left out.
fn lines<'t>(rules: &LineRules, robots: &'t [u8], bytes_max: Option<usize>) -> Vec<&'t [u8]> {
    let limit = bytes_max.unwrap_or(robots.len()).min(robots.len());
    let (read, ignored) = robots.split_at(limit);
    let mut lines = split_lines(after_byte_order_mark(rules.byte_order_mark, read));
    let last_is_whole = ignored.is_empty()
        || read.last().is_some_and(|&byte| ends_line(byte))
        || ignored.first().is_some_and(|&byte| ends_line(byte));
    if !last_is_whole {
        lines.pop();
    }
    lines
}

fn after_byte_order_mark(mark: ByteOrderMark, text: &[u8]) -> &[u8] {
    let skipped: &[&[u8]] = match mark {
        ByteOrderMark::Whole => &[b"\xef\xbb\xbf"],
        ByteOrderMark::WholeOrCut => &[b"\xef\xbb\xbf", b"\xef\xbb", b"\xef"],
    };
    skipped.iter().find_map(|&prefix| text.strip_prefix(prefix)).unwrap_or(text)
}

fn ends_line(byte: u8) -> bool {
    byte == b'\r' || byte == b'\n'
}

/// Splits `text` into lines. CR, LF and CRLF each end one line. The text after the last line end is
/// a line too.
fn split_lines(mut text: &[u8]) -> Vec<&[u8]> {
    let mut lines = Vec::new();
    while let Some(length) = text.iter().position(|&byte| ends_line(byte)) {
        let (line, rest) = text.split_at(length);
        lines.push(line);
        text = rest.strip_prefix(b"\r\n").unwrap_or(&rest[1..]);
    }
    lines.push(text);
    lines
}

/// Reads one line; `None` if it has no effect.
fn record<'t>(rules: &LineRules, line: &'t [u8], number: LineNumber) -> Option<Record<'t>> {
    let line = &line[..rules.line_bytes_max.unwrap_or(line.len()).min(line.len())];
    let line = match rules.nul {
        NulByte::CutsLine => before(line, 0),
        NulByte::DropsLine | NulByte::Ordinary => line,
    };
    // Checked before the comment is removed: a line that holds only a comment is not blank.
    if trim(line, rules.white_space).is_empty() {
        return Some(Record::Blank);
    }
    let content = trim(before(line, b'#'), rules.white_space);
    let (name, value) = name_and_value(rules, content)?;
    let value = trim(value, rules.white_space);
    let name = trim(name, rules.white_space);
    let field = field(rules, name);
    if field.is_none() && !name.eq_ignore_ascii_case(b"crawl-delay") {
        return None;
    }
    let nul_drops = rules.nul == NulByte::DropsLine;
    let control_drops = rules.control == ControlByte::DropsLine;
    let drops = |byte: &u8| if *byte == 0 { nul_drops } else { control_drops && is_control(byte) };
    let value = match field {
        // The value is cut instead of dropping the line, because without the line its rules would
        // join the group before it.
        Some(Field::UserAgent) => trim(value.split(drops).next()?, rules.white_space),
        _ if nul_drops && line.contains(&0) || value.iter().any(drops) => return None,
        _ => value,
    };
    Some(match field {
        Some(field) => Record::Field(field, value, number),
        None => Record::CrawlDelay(value),
    })
}

fn is_control(byte: &u8) -> bool {
    *byte < b' ' && *byte != b'\t'
}

/// Splits a field's name from its value, at the colon or the white space that replaces it.
fn name_and_value<'t>(rules: &LineRules, content: &'t [u8]) -> Option<(&'t [u8], &'t [u8])> {
    if let Some(colon) = content.iter().position(|&byte| byte == b':') {
        return Some((&content[..colon], &content[colon + 1..]));
    }
    let is_space = |byte: &u8| b" \t".contains(byte);
    match rules.missing_colon {
        MissingColon::Ignored => None,
        MissingColon::TwoWords => {
            let space = content.iter().position(is_space)?;
            let (name, value) = (&content[..space], trim(&content[space..], b" \t"));
            (!value.iter().any(is_space)).then_some((name, value))
        }
    }
}

/// Returns the field with this name, or `None` if the dialect does not know it.
fn field(rules: &LineRules, name: &[u8]) -> Option<Field> {
    let fits = |spelling: &[u8]| match rules.field_match {
        FieldMatch::Whole => name.eq_ignore_ascii_case(spelling),
        FieldMatch::Prefix => {
            name.get(..spelling.len()).is_some_and(|start| start.eq_ignore_ascii_case(spelling))
        }
    };
    let known = rules.fields.iter().find(|s| fits(s.text.as_bytes()));
    let of_usage = || USAGE_FIELDS.iter().find(|s| name.eq_ignore_ascii_case(s.text.as_bytes()));
    known.or_else(of_usage).map(|spelling| spelling.field)
}

/// Returns the part of `text` before the first `byte`, or all of it.
fn before(text: &[u8], byte: u8) -> &[u8] {
    let end = text.iter().position(|&o| o == byte);
    &text[..end.unwrap_or(text.len())]
}

/// Trims the bytes in `set` from both ends of `text`.
pub(super) fn trim<'t>(mut text: &'t [u8], set: &[u8]) -> &'t [u8] {
    while let [first, rest @ ..] = text
        && set.contains(first)
    {
        text = rest;
    }
    while let [rest @ .., last] = text
        && set.contains(last)
    {
        text = rest;
    }
    text
}
