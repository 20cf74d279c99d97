//! Checks of the file as a whole: byte order mark, size, and whether it is a robots.txt at all.

use super::super::Code;
use super::super::examination::{Examination, Reading};
use super::super::findings::{Findings, replace};
use super::counted;
use crate::syntax::{Note, NoteKind, Span};

pub(super) fn check(findings: &mut Findings<'_, '_>) {
    byte_order_mark(findings);
    appearance(findings);
    size(findings);
}

/// Whether the dialect that was chosen found no rule, and the file looks like something else. With a
/// user-agent line it is a robots.txt all the same, whose odd lines are reported one by one.
pub(super) fn is_no_robots_txt(examination: &Examination<'_>) -> bool {
    let chosen = examination.chosen();
    let looks_odd = NoteKind::APPEARANCES.into_iter().any(|kind| note(chosen, kind).is_some());
    looks_odd && chosen.file.user_agents().is_empty()
}

fn note(reading: &Reading<'_>, kind: NoteKind) -> Option<Note> {
    reading.file.notes().iter().find(|note| note.kind == kind).copied()
}

fn byte_order_mark(findings: &mut Findings<'_, '_>) {
    let marks = findings.examination.readings.iter();
    let mark = marks.filter_map(|reading| note(reading, NoteKind::ByteOrderMark)).next();
    let Some(mark) = mark else { return };
    findings
        .report(Code::ByteOrderMark, mark.span, "the file starts with a byte order mark")
        .fix("take the byte order mark out", vec![replace(mark.span, [])]);
}

fn appearance(findings: &mut Findings<'_, '_>) {
    let rows = [
        (NoteKind::LooksLikeHtml, Code::WebPage, "this is a web page and no robots.txt"),
        (NoteKind::LooksLikeJson, Code::WebPage, "this is JSON and no robots.txt"),
        (NoteKind::LooksBinary, Code::BinaryFile, "this is no text and no robots.txt"),
    ];
    if !is_no_robots_txt(findings.examination) {
        return;
    }
    for (kind, code, message) in rows {
        if note(findings.examination.chosen(), kind).is_some() {
            let first = findings.examination.chosen().lines.first();
            let span = first.map_or(Span { start: 0, end: 0 }, |line| line.span);
            findings.report(code, span, message).effects(rules_found);
        }
    }
}

fn size(findings: &mut Findings<'_, '_>) {
    let Some(cut) = note(findings.examination.chosen(), NoteKind::FileCut) else { return };
    let is_line_end = |byte: &u8| matches!(byte, b'\r' | b'\n');
    if findings.examination.bytes(cut.span).iter().all(is_line_end) {
        // Of the file nothing is lost but the end of its last line.
        return;
    }
    let bytes = match findings.examination.bytes_max {
        Some(bytes_max) => format!("only the first {bytes_max} bytes of the file are read"),
        None => "the file is longer than any that is read".into(),
    };
    let message = format!("{bytes}: this line and all that follow do not exist for crawlers");
    findings.report(Code::FileTooLong, cut.span, message).effects(rules_found);
}

fn rules_found(reading: &Reading<'_>) -> String {
    format!("finds {} in the file", counted(reading.file.rules().len(), "rule"))
}
