//! Checks of the records that decide nothing: sitemaps and crawl-delays.

use super::super::Code;
use super::super::examination::quoted;
use super::super::findings::Findings;
use crate::dialect::Field;
use crate::limits::CRAWL_DELAY_SECONDS_MAX;
use crate::syntax::{OtherRecord, Span};
use crate::target::split;

pub(super) fn check(findings: &mut Findings<'_, '_>) {
    let examination = findings.examination;
    for record in examination.chosen().file.other_records() {
        if record.field == Some(Field::Sitemap) {
            sitemap(findings, record);
        } else if record.name.eq_ignore_ascii_case(b"crawl-delay") {
            crawl_delay(findings, record);
        }
    }
}

/// Where the value stands; the record if it has none.
fn value_span(record: &OtherRecord<'_>) -> Span {
    match record.value.len() as u32 {
        0 => record.span,
        bytes => Span { start: record.span.end - bytes, ..record.span },
    }
}

fn sitemap(findings: &mut Findings<'_, '_>, record: &OtherRecord<'_>) {
    let path_start = findings.examination.chosen().dialect.paths.path_start;
    if split(record.value, path_start).is_ok() {
        return;
    }
    let message = match record.value {
        b"" => "the sitemap has no URL".to_owned(),
        value => format!("{} is no absolute URL", quoted(value)),
    };
    findings.report(Code::RelativeSitemap, value_span(record), message);
}

fn crawl_delay(findings: &mut Findings<'_, '_>, record: &OtherRecord<'_>) {
    let (code, message) = match seconds(record.value) {
        Some(seconds) if seconds <= CRAWL_DELAY_SECONDS_MAX => {
            (Code::CrawlDelay, "some crawlers obey crawl-delay, and no standard knows it".into())
        }
        Some(_) => (
            Code::OddCrawlDelay,
            format!(
                "a crawler that waits {} seconds between requests hardly ever comes",
                quoted(record.value)
            ),
        ),
        None => (Code::OddCrawlDelay, format!("{} is no number of seconds", quoted(record.value))),
    };
    findings.report(code, value_span(record), message);
}

/// The seconds that a value gives: digits, and perhaps a point and digits.
fn seconds(value: &[u8]) -> Option<f64> {
    let is_plain = value.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.');
    let text = std::str::from_utf8(value).ok().filter(|_| is_plain)?;
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_seconds() {
        assert_eq!(seconds(b"10"), Some(10.0));
        assert_eq!(seconds(b"0.5"), Some(0.5));
        for odd in ["", "-1", "1e3", "10s", "inf", ".", "1,5", "1.2.3", "\u{661}"] {
            assert_eq!(seconds(odd.as_bytes()), None, "{odd}");
        }
    }
}
