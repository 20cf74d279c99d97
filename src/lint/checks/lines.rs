//! Checks of one line at a time: colon, field, odd bytes, length.

use bstr::ByteSlice as _;

use super::super::Code;
use super::super::examination::{Examination, quoted};
use super::super::findings::{Findings, insert, replace};
use super::super::spelling::{self, Meant};
use crate::bytes::trim;
use crate::syntax::{NoteKind, NoteSet, Record, Span, is_extension};

pub(super) fn check(findings: &mut Findings<'_, '_>) {
    for index in 0..findings.examination.chosen().lines.len() {
        let notes = findings.examination.notes(index);
        if !notes.is_empty() {
            bytes(findings, index, notes);
            separator(findings, index, notes);
        }
        if let Some(&record) = findings.examination.chosen().record(index)
            && !notes.contains(NoteKind::WhiteSpaceForColon)
        {
            field(findings, &record);
        }
    }
}

/// What is odd about the bytes of a line.
fn bytes(findings: &mut Findings<'_, '_>, index: usize, notes: NoteSet) {
    let line = findings.examination.chosen().lines[index].span;
    if notes.contains(NoteKind::NulInLine) {
        let edits = removals(findings.examination, line, |byte| byte == 0);
        let span = edits.first().map_or(line, |edit| edit.span);
        findings
            .report(Code::NulByte, span, "a NUL byte stands in the line")
            .suggest("take the NUL out", edits);
    }
    if notes.contains(NoteKind::ControlInLine) {
        let is_control = |byte| matches!(byte, 1..b' ') && byte != b'\t';
        let edits = removals(findings.examination, line, is_control);
        let span = edits.first().map_or(line, |edit| edit.span);
        findings
            .report(Code::ControlCharacter, span, "a control character stands in the value")
            .suggest("take the control character out", edits);
    }
    if notes.contains(NoteKind::LineCut) {
        let limits = findings.examination.readings.iter();
        let shortest = limits.filter_map(|reading| reading.dialect.lines.line_bytes_max).min();
        let bytes = shortest.unwrap_or(0).min(line.bytes()) as u32;
        let lost = Span { start: line.start + bytes, ..line };
        let message = format!("what follows the first {bytes} bytes of the line may be lost");
        findings.report(Code::LineTooLong, lost, message);
    }
}

/// Edits that take out the bytes of `line` that `is_odd`, run by run.
fn removals(
    examination: &Examination<'_>,
    line: Span,
    is_odd: impl Fn(u8) -> bool,
) -> Vec<super::super::Edit> {
    let bytes = examination.bytes(line);
    let mut edits = Vec::new();
    let mut position = 0;
    while let Some(run) = bytes[position..].iter().position(|&byte| is_odd(byte)) {
        let start = position + run;
        let length = bytes[start..].iter().take_while(|&&byte| is_odd(byte)).count();
        position = start + length;
        let [start, end] = [start, position].map(|place| line.start + place as u32);
        edits.push(replace(Span { start, end }, []));
    }
    edits
}

/// A line on which nothing, or white space, separates a field from a value.
fn separator(findings: &mut Findings<'_, '_>, index: usize, notes: NoteSet) {
    if notes.contains(NoteKind::NoField) {
        let span = findings.examination.written(index);
        findings.report(Code::MissingField, span, "nothing stands before the colon");
    }
    if !notes.contains(NoteKind::NoColon) && !notes.contains(NoteKind::WhiteSpaceForColon) {
        return;
    }
    let span = without_comment(findings.examination, findings.examination.written(index));
    let text = findings.examination.bytes(span);
    let Some((bytes, meant)) = leading_field(text) else {
        let message = "this is neither a record nor a comment";
        findings
            .report(Code::NoRecord, span, message)
            .suggest("make it a comment", vec![insert(span.start, "# ")]);
        return;
    };
    let name = Span { end: span.start + bytes as u32, ..span };
    let message = format!("the colon behind {} is missing", quoted(&text[..bytes]));
    let right = format!("{}:", written_like(findings.examination.bytes(name), meant.spelling));
    findings
        .report(Code::MissingColon, name, message)
        .suggest(format!("write `{right}`"), vec![replace(name, right)]);
}

/// `span` up to a comment, without white space at its end.
fn without_comment(examination: &Examination<'_>, span: Span) -> Span {
    let bytes = examination.bytes(span);
    let text = bytes.find_byte(b'#').map_or(bytes, |comment| &bytes[..comment]);
    let text = text.trim_end_with(|character| matches!(character, ' ' | '\t'));
    Span { end: span.start + text.len() as u32, ..span }
}

/// The bytes of the field that a line without a colon starts with, and which field it is. A
/// sentence may start with a word that is near to a field's name; a record has a value alone.
fn leading_field(text: &[u8]) -> Option<(usize, Meant)> {
    let is_space = |byte: &u8| matches!(byte, b' ' | b'\t');
    let end_of_word = |from: usize| {
        let start = from + text[from..].iter().take_while(|byte| is_space(byte)).count();
        start + text[start..].iter().take_while(|byte| !is_space(byte)).count()
    };
    let first = end_of_word(0);
    let second = end_of_word(first);
    let third = end_of_word(second);
    if spelling::is_usual(&text[..first]) {
        return Some((first, spelling::meant(&text[..first])?));
    }
    if second <= text.len() && third == text.len() && text[..first].eq_ignore_ascii_case(b"user") {
        return Some((second, spelling::meant(&text[..second])?));
    }
    (second == text.len()).then(|| Some((first, spelling::meant(&text[..first])?)))?
}

/// `name` itself if it differs from `spelling` in case at most.
fn written_like(name: &[u8], spelling: &str) -> String {
    match name.eq_ignore_ascii_case(spelling.as_bytes()) {
        true => String::from_utf8_lossy(name).into_owned(),
        false => spelling.to_owned(),
    }
}

/// A field that is not one of those that documents name.
fn field(findings: &mut Findings<'_, '_>, record: &Record<'_>) {
    let name = record.name;
    let span = Span { end: record.span.start + name.len() as u32, ..record.span };
    if is_extension(trim(name, b" \t")) || (spelling::is_usual(name) && record.field.is_some()) {
        return;
    }
    if spelling::is_usual(name) {
        let dialect = findings.examination.chosen().dialect.name;
        let message = format!("the dialect {dialect} does not know the field {}", quoted(name));
        findings.report(Code::UnknownField, span, message);
        return;
    }
    let by_prefix = record.field.map(spelling::usual);
    let meant = spelling::meant(name).map(|meant| meant.spelling).or(by_prefix);
    match meant {
        Some(spelling) => {
            findings
                .report(
                    Code::MisspeltField,
                    span,
                    format!("{} is a misspelling of `{spelling}`", quoted(name)),
                )
                .suggest(format!("write `{spelling}`"), vec![replace(span, spelling)]);
        }
        None => unknown_field(findings, record, span),
    }
}

fn unknown_field(findings: &mut Findings<'_, '_>, record: &Record<'_>, name: Span) {
    let is_scheme = matches!(record.name.to_ascii_lowercase().as_slice(), b"http" | b"https");
    if !is_scheme || !record.value.starts_with(b"//") {
        let message = format!("no convention known here defines the field {}", quoted(record.name));
        findings.report(Code::UnknownField, name, message);
        return;
    }
    let message = "a URL without a field before it says nothing";
    let finding = findings.report(Code::UnknownField, record.span, message);
    if record.value.to_ascii_lowercase().contains_str("sitemap") {
        finding.suggest("name the sitemap", vec![insert(record.span.start, "Sitemap: ")]);
    }
}
