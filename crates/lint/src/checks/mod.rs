//! The checks by subject. Each reports to [`Findings`]. Checks of the whole file and of other
//! records are in this file.

mod groups;
mod lines;
mod patterns;
mod rules;
mod stars;
mod usage;

use crate::Code;
use crate::examination::{Reading, quoted};
use crate::findings::{Findings, replace, value_span};
use crate::limits::CRAWL_DELAY_SECONDS_MAX;
use portcullis_dialect::dialect::Field;
use portcullis_robots::policy::delay_seconds;
use portcullis_robots::syntax::{Note, NoteKind, OtherRecord, Span, begins_as_html};
use portcullis_robots::url::split;
use portcullis_text::figures::counted;

/// Runs all checks.
pub(super) fn run(findings: &mut Findings<'_, '_>) {
    byte_order_mark(findings);
    appearance(findings);
    size(findings);
    if is_no_robots_txt(findings.chosen) {
        // Reporting every line of a web page would not help.
        return;
    }
    lines::check(findings);
    groups::check(findings);
    patterns::check(findings);
    let stars_may_decide = rules::check(findings);
    stars::check(findings, &stars_may_decide);
    check_others(findings);
    usage::check(findings);
}

/// Returns whether the file looks like something else and has no user-agent line. With one, the
/// file is a robots.txt whose odd lines are reported one by one.
fn is_no_robots_txt(chosen: &Reading<'_>) -> bool {
    chosen.file.is_page() && chosen.file.user_agents().is_empty()
}

fn note(reading: &Reading<'_>, kind: NoteKind) -> Option<Note> {
    reading.file.notes().iter().find(|note| note.kind == kind).copied()
}

fn byte_order_mark(findings: &mut Findings<'_, '_>) {
    let mut readings = findings.examination.readings.iter();
    let mark = readings.find_map(|reading| note(reading, NoteKind::ByteOrderMark));
    let Some(mark) = mark else { return };
    findings
        .report(Code::ByteOrderMark, mark.span, "the file starts with a byte order mark")
        .fix("remove the byte order mark", vec![replace(mark.span, [])]);
}

fn appearance(findings: &mut Findings<'_, '_>) {
    let chosen = findings.chosen;
    // The note on the whole file is the last one.
    let (code, what) = match chosen.file.notes().last().map(|note| note.kind) {
        Some(NoteKind::LooksLikeHtml) => (Code::WebPage, "a web page"),
        Some(NoteKind::LooksLikeJson) => (Code::WebPage, "JSON"),
        Some(NoteKind::LooksBinary) => (Code::BinaryFile, "binary data"),
        _ => return,
    };
    if !is_no_robots_txt(chosen) && !begins_as_html(findings.examination.text) {
        return;
    }
    let span = chosen.lines.first().map_or(Span { start: 0, end: 0 }, |line| line.span);
    let message = format!("this is {what}, not a robots.txt");
    findings.report(code, span, message).effects(rules_found);
}

fn size(findings: &mut Findings<'_, '_>) {
    let Some(cut) = note(findings.chosen, NoteKind::FileCut) else { return };
    let is_line_end = |byte: &u8| matches!(byte, b'\r' | b'\n');
    if findings.examination.bytes(cut.span).iter().all(is_line_end) {
        // Only the end of the last line is lost.
        return;
    }
    let bytes = match findings.config.bytes_max {
        Some(bytes_max) => format!("only the first {bytes_max} bytes of the file are read"),
        None => "the file is too long".into(),
    };
    let message = format!("{bytes}: crawlers ignore this line and all that follow");
    findings.report(Code::FileTooLong, cut.span, message).effects(rules_found);
}

fn rules_found(reading: &Reading<'_>) -> String {
    format!("finds {} in the file", counted(reading.file.rules().len() as u64, "rule"))
}

/// Checks sitemaps, crawl-delays and noindex.
fn check_others(findings: &mut Findings<'_, '_>) {
    for record in findings.chosen.file.other_records() {
        if record.field == Some(Field::Sitemap) {
            sitemap(findings, record);
        } else if record.name.eq_ignore_ascii_case(b"crawl-delay") {
            crawl_delay(findings, record);
        } else if record.name.eq_ignore_ascii_case(b"noindex") {
            let message = "noindex has no effect in robots.txt: pages may still be indexed";
            findings.report(Code::Noindex, value_span(record.span, record.value), message);
        }
    }
}

fn sitemap(findings: &mut Findings<'_, '_>, record: &OtherRecord<'_>) {
    if split(record.value, findings.chosen.dialect.paths.path_start).is_ok() {
        return;
    }
    let message = match record.value {
        b"" => "the sitemap has no URL".to_owned(),
        value => format!("{} is not an absolute URL", quoted(value)),
    };
    findings.report(Code::RelativeSitemap, value_span(record.span, record.value), message);
}

fn crawl_delay(findings: &mut Findings<'_, '_>, record: &OtherRecord<'_>) {
    let value = quoted(record.value);
    let (code, message) = match delay_seconds(record.value) {
        Some(seconds) if seconds <= CRAWL_DELAY_SECONDS_MAX => {
            (Code::CrawlDelay, "crawl-delay is not standard; only some crawlers support it".into())
        }
        Some(_) => {
            let waits = format!("a crawler that waits {value} seconds between requests");
            (Code::OddCrawlDelay, format!("{waits} would fetch almost nothing"))
        }
        None => (Code::OddCrawlDelay, format!("{value} is not a number of seconds")),
    };
    findings.report(code, value_span(record.span, record.value), message);
}
