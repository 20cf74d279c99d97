//! Derives the answer from a status and a stored body.
//!
//! Every reader calls [`settle`], so that a body has the same meaning in each format. A body longer
//! than the size limit is cut. If the body lost its end, or was cut below the size limit, the
//! answer is [`Fetched::BrokenBody`] without a body, because rules may be missing. A body that is compressed
//! although no header says so is what crawlers get: binary data, which states nothing.

use std::borrow::Cow;

use portcullis_dialect::Fetched;
use portcullis_engine::bytes::trim;

use super::{Capture, Confirms, PayloadNames, ReadConfig, Subject};
use portcullis_dialect::limits::BODY_BYTES_MAX;
use portcullis_robots::access::{CachingHeaders, CaptureNote, CaptureNotes, UnixSeconds};

/// An answer with its body, if it keeps one.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Settled<'c> {
    pub answer: Fetched,
    pub body: Cow<'c, [u8]>,
    pub notes: CaptureNotes,
}

impl<'c> Settled<'c> {
    /// Returns the answer as a capture without redirects or header fields.
    pub fn capture(self, subject: Subject<'c>, captured_at: Option<UnixSeconds>) -> Capture<'c> {
        let Settled { answer, body, notes } = self;
        Capture {
            subject,
            captured_at,
            redirects_followed: 0,
            answer,
            location: None,
            confirms: Confirms::default(),
            payload: PayloadNames::default(),
            caching: CachingHeaders::default(),
            body,
            notes,
        }
    }

    /// Returns `answer` without a body.
    pub fn bodiless(answer: Fetched) -> Settled<'static> {
        Settled { answer, body: Cow::Borrowed(b""), notes: CaptureNotes::EMPTY }
    }
}

/// Returns the answer for a status (0 if there was none) and a body. `is_whole` is false if the
/// body's end is missing.
///
/// Only a 2xx answer keeps its body. A 2xx answer without a body is broken, unless it is whole and its status
/// has none (204 and 205; RFC 9110, sections 15.3.5 and 15.3.6).
pub(super) fn settle<'c>(
    status: u16,
    body: Option<Cow<'c, [u8]>>,
    is_whole: bool,
    config: &ReadConfig,
) -> Settled<'c> {
    match (status, body) {
        (0, _) => Settled::bodiless(Fetched::NoResponse),
        (200..=299, Some(body)) => settle_body(status, body, is_whole, config),
        (204 | 205, None) if is_whole => Settled::bodiless(Fetched::Status(status)),
        (200..=299, None) => Settled::bodiless(Fetched::BrokenBody),
        (_, _) => Settled::bodiless(Fetched::Status(status)),
    }
}

fn settle_body<'c>(
    status: u16,
    mut body: Cow<'c, [u8]>,
    is_whole: bool,
    config: &ReadConfig,
) -> Settled<'c> {
    let bytes_max = config.body_bytes_max();
    let mut notes = CaptureNotes::EMPTY;
    let is_cut = body.len() > bytes_max;
    if is_cut {
        notes = notes.with(CaptureNote::BodyCut);
        match &mut body {
            Cow::Borrowed(bytes) => *bytes = &bytes[..bytes_max],
            Cow::Owned(bytes) => bytes.truncate(bytes_max),
        }
    }
    // With a size limit below BODY_BYTES_MAX, the body in memory reaches past the limit.
    let reaches_past = config.robots_bytes_max.is_some_and(|max| max < BODY_BYTES_MAX);
    let is_enough = (is_whole && !is_cut) || (body.len() >= bytes_max && reaches_past);
    if !is_enough {
        return Settled { notes, ..Settled::bodiless(Fetched::BrokenBody) };
    }
    Settled { answer: Fetched::Status(status), body, notes }
}

/// Whether an answer leads on to another URL, unless it has too many redirects before it. A 304 does not.
pub(super) fn is_redirect(answer: Fetched) -> bool {
    matches!(answer, Fetched::Status(300..=303 | 305..=399))
}

/// Returns the notes whose conditions hold.
pub(super) fn notes<const N: usize>(notes: [(CaptureNote, bool); N]) -> CaptureNotes {
    notes.into_iter().filter_map(|(note, holds)| holds.then_some(note)).collect()
}

/// Whether the value of a `Content-Type` field (RFC 9110, section 8.3) says that the body is HTML
/// (RFC 2854; HTML Living Standard, section 15.2).
pub(super) fn is_html(value: &[u8]) -> bool {
    let media_type = value.split(|&byte| byte == b';').next().unwrap_or(value);
    let media_type = trim(media_type, b" \t");
    let html: [&[u8]; 2] = [b"text/html", b"application/xhtml+xml"];
    html.iter().any(|html| media_type.eq_ignore_ascii_case(html))
}

/// Converts a number in a table or object to a status. NaN, which programs write for gaps in a
/// column of numbers, is 0. The error says what is wrong.
pub(super) fn status_of(number: f64) -> Result<u16, String> {
    /// The largest number of three digits (RFC 9110, section 15).
    const STATUS_MAX: u16 = 999;
    let status = number as u16;
    match f64::from(status) == number || number.is_nan() {
        true if status <= STATUS_MAX => Ok(status),
        _ => Err(format!("its status is {number}; expected at most three digits, or null")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATUS: Fetched = Fetched::Status(200);
    const BROKEN: Fetched = Fetched::BrokenBody;

    #[track_caller]
    fn check(bytes: usize, is_whole: bool, max: Option<usize>, expected: (Fetched, usize, bool)) {
        let config = ReadConfig { robots_bytes_max: max };
        let text = vec![b'a'; bytes];
        let borrowed = settle(200, Some(Cow::Borrowed(&text)), is_whole, &config);
        let cut = borrowed.notes == CaptureNotes::EMPTY.with(CaptureNote::BodyCut);
        assert!(cut || borrowed.notes == CaptureNotes::EMPTY);
        assert_eq!((borrowed.answer, borrowed.body.len(), cut), expected);
        assert_eq!(settle(200, Some(Cow::Owned(text.clone())), is_whole, &config), borrowed);
    }

    #[test]
    fn lengths_beside_the_limit() {
        // With a limit of 10 bytes, 12 are returned.
        for (bytes, is_whole, expected) in [
            (0, true, (STATUS, 0, false)),
            (10, true, (STATUS, 10, false)),
            (12, true, (STATUS, 12, false)),
            (13, true, (STATUS, 12, true)),
            (0, false, (BROKEN, 0, false)),
            (11, false, (BROKEN, 0, false)),
            (12, false, (STATUS, 12, false)),
            (13, false, (STATUS, 12, true)),
        ] {
            check(bytes, is_whole, Some(10), expected);
        }
        for max in [None, Some(usize::MAX), Some(BODY_BYTES_MAX)] {
            check(100, true, max, (STATUS, 100, false));
            check(100, false, max, (BROKEN, 0, false));
            check(BODY_BYTES_MAX, true, max, (STATUS, BODY_BYTES_MAX, false));
            check(BODY_BYTES_MAX, false, max, (BROKEN, 0, false));
            check(BODY_BYTES_MAX + 1, true, max, (BROKEN, 0, true));
        }
        let max = Some(BODY_BYTES_MAX - 1);
        check(BODY_BYTES_MAX + 1, true, max, (STATUS, BODY_BYTES_MAX, true));
        check(BODY_BYTES_MAX, false, max, (STATUS, BODY_BYTES_MAX, false));
    }

    #[test]
    fn content_types_of_html() {
        let html: [&[u8]; 4] =
            [b"text/html", b" Text/HTML ;charset=utf-8", b"text/html;", b"application/xhtml+xml"];
        let other: [&[u8]; 5] =
            [b"", b"text/plain", b"text/plain; a=text/html", b"text/htmlx", b"html"];
        assert!(html.iter().all(|value| is_html(value)));
        assert!(!other.iter().any(|value| is_html(value)));
    }
}
