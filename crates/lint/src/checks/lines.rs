//! Checks of single lines: colon, field, odd bytes, length; and the fields that misspelt ones may mean.

use bstr::ByteSlice as _;

use crate::examination::{Examination, quoted};
use crate::findings::{Findings, insert, replace};
use crate::{Code, Edit};
use portcullis_dialect::{Dialect, Field, FieldSpelling};
use portcullis_engine::bytes::trim;
use portcullis_robots::syntax::{
    EXTENSIONS, NoteKind, NoteSet, Record, Span, is_extension, joined_records,
};

pub(super) fn check(findings: &mut Findings<'_, '_>) {
    for index in 0..findings.chosen.lines.len() {
        let notes = findings.examination.notes(index);
        if !notes.is_empty() {
            bytes(findings, index, notes);
            separator(findings, index, notes);
        }
        if let Some(&record) = findings.chosen.record(index)
            && !notes.contains(NoteKind::WhiteSpaceForColon)
        {
            field(findings, &record);
            joined(findings, &record);
        }
    }
}

/// Checks for odd bytes in a line, and its length.
fn bytes(findings: &mut Findings<'_, '_>, index: usize, notes: NoteSet) {
    let line = findings.chosen.lines[index].span;
    let mut remove = |code, is_odd: fn(u8) -> bool, message, title| {
        let bytes = findings.examination.bytes(line);
        let runs = bytes.chunk_by(|&one, &next| is_odd(one) == is_odd(next));
        let odd = runs.filter(|run| is_odd(run[0]));
        let removal = |run| replace(findings.examination.span_of(run), []);
        let edits: Vec<Edit> = odd.map(removal).collect();
        let span = edits.first().map_or(line, |edit| edit.span);
        findings.report(code, span, message).suggest(title, edits);
    };
    if notes.contains(NoteKind::NulInLine) {
        remove(Code::NulByte, |byte| byte == 0, "the line has a NUL byte", "remove the NUL");
    }
    if notes.contains(NoteKind::ControlInLine) {
        let is_control = |byte| matches!(byte, 1..b' ') && byte != b'\t';
        let message = "the value has a control character";
        remove(Code::ControlCharacter, is_control, message, "remove the control character");
    }
    if notes.contains(NoteKind::LineCut) {
        let limits = findings.examination.readings.iter();
        let shortest = limits.filter_map(|reading| reading.dialect.lines.line_bytes_max).min();
        let bytes = shortest.unwrap_or(0).min(line.bytes()) as u32;
        let lost = Span { start: line.start + bytes, ..line };
        let message =
            format!("some crawlers drop everything after the first {bytes} bytes of the line");
        findings.report(Code::LineTooLong, lost, message);
    }
}

/// Checks for other records in the value of a record.
fn joined(findings: &mut Findings<'_, '_>, record: &Record<'_>) {
    let Span { start, end, .. } = record.span;
    let value = findings.examination.span_of(record.value).start;
    let starts = joined_records(findings.examination.bytes(record.span));
    let starts = starts.map(|it| start + it as u32).filter(|it| *it >= value);
    let breaks: Vec<Edit> = starts.map(|it| insert(it, "\n")).collect();
    let Some(first) = breaks.first() else { return };
    let joined = Span { end, ..first.span };
    let message = "other records are in this line, and are read as part of its value";
    findings
        .report(Code::JoinedRecords, joined, message)
        .suggest("write each record in a line of its own", breaks);
}

/// Checks for a line without a colon, or without a field before it.
fn separator(findings: &mut Findings<'_, '_>, index: usize, notes: NoteSet) {
    if notes.contains(NoteKind::NoField) {
        let span = findings.examination.written(index);
        let value = findings.examination.bytes(without_comment(findings.examination, span));
        let finding =
            findings.report(Code::MissingField, span, "there is no field before the colon");
        if may_name_crawler(trim(value, b": \t")) {
            finding.advise(vec![insert(span.start, "User-agent")]);
        }
    }
    if !notes.contains(NoteKind::NoColon) && !notes.contains(NoteKind::WhiteSpaceForColon) {
        return;
    }
    let span = without_comment(findings.examination, findings.examination.written(index));
    let text = findings.examination.bytes(span);
    let Some((bytes, meant)) = leading_field(text) else {
        let message = "this is neither a record nor a comment";
        let finding = findings.report(Code::NoRecord, span, message);
        if text.to_ascii_lowercase().contains_str("agent") {
            finding.advise(vec![replace(span, "User-agent: unknown")]);
        }
        finding.suggest("make it a comment", vec![insert(span.start, "# ")]);
        return;
    };
    let name = findings.examination.span_of(&text[..bytes]);
    let message = format!("the colon after {} is missing", quoted(&text[..bytes]));
    let right = format!("{}:", written_like(&text[..bytes], meant));
    findings
        .report(Code::MissingColon, name, message)
        .suggest(format!("write `{right}`"), vec![replace(name, right)]);
}

/// Returns `span` up to a comment, without white space at its end.
fn without_comment(examination: &Examination<'_>, span: Span) -> Span {
    let bytes = examination.bytes(span);
    let text = bytes.find_byte(b'#').map_or(bytes, |comment| &bytes[..comment]);
    examination.span_of(text.trim_end_with(|character| matches!(character, ' ' | '\t')))
}

/// Returns the length and the field of the name at the start of a line without colon.
///
/// A sentence may start with a word that resembles a field. So unless the field is spelt right, the
/// rest of the line must be one value.
fn leading_field(text: &[u8]) -> Option<(usize, &'static str)> {
    let is_space = |byte: &u8| matches!(byte, b' ' | b'\t');
    let end_of_word = |from: usize| {
        let start = from + text[from..].iter().take_while(|byte| is_space(byte)).count();
        start + text[start..].iter().take_while(|byte| !is_space(byte)).count()
    };
    let first = end_of_word(0);
    let second = end_of_word(first);
    let third = end_of_word(second);
    let is_user = text[..first].eq_ignore_ascii_case(b"user");
    let bytes = if is_usual(&text[..first]) {
        first
    } else if third == text.len() && is_user {
        second
    } else if second == text.len() {
        first
    } else {
        return None;
    };
    Some((bytes, meant(&text[..bytes])?))
}

/// Returns `name` itself if it differs from `spelling` in case only, at most.
fn written_like(name: &[u8], spelling: &str) -> String {
    match name.eq_ignore_ascii_case(spelling.as_bytes()) {
        true => String::from_utf8_lossy(name).into_owned(),
        false => spelling.to_owned(),
    }
}

/// Checks for a field that no document defines.
fn field(findings: &mut Findings<'_, '_>, record: &Record<'_>) {
    let name = record.name;
    let span = Span { end: record.span.start + name.len() as u32, ..record.span };
    if is_extension(trim(name, b" \t")) || (is_usual(name) && record.field.is_some()) {
        return;
    }
    if is_usual(name) {
        let dialect = findings.chosen.dialect.name;
        let message = format!("the dialect {dialect} does not define the field {}", quoted(name));
        findings.report(Code::UnknownField, span, message);
        return;
    }
    // A dialect may read a field by its prefix.
    let Some(spelling) = meant(name).or(record.field.map(usual)) else {
        unknown_field(findings, record, span);
        return;
    };
    let message = format!("{} is a misspelling of `{spelling}`", quoted(name));
    findings
        .report(Code::MisspeltField, span, message)
        .suggest(format!("write `{spelling}`"), vec![replace(span, spelling)]);
}

fn unknown_field(findings: &mut Findings<'_, '_>, record: &Record<'_>, name: Span) {
    let is_scheme = matches!(record.name.to_ascii_lowercase().as_slice(), b"http" | b"https");
    if !is_scheme || !record.value.starts_with(b"//") {
        let message = format!("no known convention defines the field {}", quoted(record.name));
        let finding = findings.report(Code::UnknownField, name, message);
        if may_name_crawler(record.value) {
            finding.advise(vec![replace(name, "User-agent")]);
        }
        return;
    }
    let message = "a URL without a field before it has no meaning";
    let finding = findings.report(Code::UnknownField, record.span, message);
    if record.value.to_ascii_lowercase().contains_str("sitemap") {
        finding.suggest("name the sitemap", vec![insert(record.span.start, "Sitemap: ")]);
    }
}

/// Returns whether a value may be that of a user-agent line: `*`, or one word with a letter.
fn may_name_crawler(value: &[u8]) -> bool {
    let is_of_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.".contains(byte);
    value == b"*" || (value.iter().all(is_of_word) && value.iter().any(u8::is_ascii_alphabetic))
}

/// The longest name that is compared with fields.
const NAME_BYTES_MAX: usize = 32;

/// The usual spellings of fields, the most frequent first. If two are equally near, the first wins.
const SPELLINGS: [(Field, &str); 7] = [
    (Field::Disallow, "Disallow"),
    (Field::Allow, "Allow"),
    (Field::UserAgent, "User-agent"),
    (Field::Sitemap, "Sitemap"),
    (Field::ContentUsage, "Content-Usage"),
    (Field::ContentSignal, "Content-Signal"),
    (Field::License, "License"),
];

/// Returns the usual spelling of a field.
fn usual(field: Field) -> &'static str {
    let spelling = SPELLINGS.iter().find(|(known, _)| *known == field);
    spelling.expect("each field has a spelling").1
}

/// Returns whether `name`, in any case, is the usual spelling of a field.
fn is_usual(name: &[u8]) -> bool {
    SPELLINGS.iter().any(|(_, spelling)| name.eq_ignore_ascii_case(spelling.as_bytes()))
}

/// Returns the field of which `name` is a misspelling.
///
/// A misspelling that a dialect accepts counts. Otherwise a third of the letters, at most two, may
/// be omitted, inserted, replaced or swapped with a neighbour.
fn meant(name: &[u8]) -> Option<&'static str> {
    // Of a file that was appended to another.
    let name = name.strip_prefix("\u{feff}".as_bytes()).unwrap_or(name);
    let mut accepted = Dialect::ALL.into_iter().flat_map(|dialect| dialect.lines.fields);
    let is_it = |spelling: &&FieldSpelling| name.eq_ignore_ascii_case(spelling.text.as_bytes());
    if let Some(spelling) = accepted.find(is_it) {
        return Some(usual(spelling.field));
    }
    if name.len() > NAME_BYTES_MAX {
        return None;
    }
    let spellings = SPELLINGS.iter().map(|(_, spelling)| spelling).chain(EXTENSIONS);
    let near = spellings.filter_map(|&spelling| {
        let distance = distance(name, spelling.as_bytes());
        let allowed = (spelling.len() / 3).min(2);
        (distance <= allowed).then_some((distance, spelling))
    });
    near.min_by_key(|&(distance, _)| distance).map(|(_, spelling)| spelling)
}

/// Returns the edit distance of two names, ignoring case, by byte. A swap of neighbours counts
/// once.
fn distance(one: &[u8], other: &[u8]) -> usize {
    let text = |name: &[u8]| -> String {
        name.iter().map(|byte| char::from(byte.to_ascii_lowercase())).collect()
    };
    strsim::osa_distance(&text(one), &text(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        for (one, other, expected) in
            [("alow", "ALLOW", 1), ("disallwo", "disallow", 1), ("user agent", "user-agent", 1)]
        {
            assert_eq!(distance(one.as_bytes(), other.as_bytes()), expected, "{one} {other}");
        }
        assert_eq!(distance(b"h\xc3\xb6st", b"host"), 2);
    }

    #[test]
    fn misspellings_and_other_words() {
        let rows = [
            ("Disalow", Some("Disallow")),
            ("dissalow", Some("Disallow")),
            ("Useragent", Some("User-agent")),
            ("User_agent", Some("User-agent")),
            ("Alow", Some("Allow")),
            ("Sitemaps", Some("Sitemap")),
            ("Crawl delay", Some("crawl-delay")),
            ("Keep-out", None),
            ("Hos", Some("host")),
            ("Note", None),
            ("https", None),
            ("\u{feff}User-agent", Some("User-agent")),
            ("a", None),
        ];
        for (name, expected) in rows {
            let spelling = meant(name.as_bytes());
            assert_eq!(spelling, expected, "{name}");
        }
    }
}
