//! What of a body is handed out, and what its length makes of the answer.

use std::borrow::Cow;

use portcullis_dialect::limits::BODY_BYTES_MAX;
use portcullis_robots::access::Answer;

use super::http::Coding;
use super::{CaptureNote, CaptureNotes, ReadConfig};

/// An answer with the body that it keeps.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Settled<'c> {
    pub answer: Answer,
    pub body: Cow<'c, [u8]>,
    pub notes: CaptureNotes,
}

/// The answer `status`, which is 2xx, with what is there of its body; `is_whole` unless some of its
/// end is missing.
///
/// A body in gzip or zstd that no header names is decoded: as it stands it has no rule, and would
/// allow what its text disallows. A body that is longer than what counts is cut. One that lost its end, or that was cut before
/// all that counts, is [`Answer::BrokenBody`] with no body at all: rules may be missing.
pub(super) fn settle<'c>(
    status: u16,
    mut body: Cow<'c, [u8]>,
    mut is_whole: bool,
    config: &ReadConfig,
) -> Settled<'c> {
    let bytes_max = config.body_bytes_max();
    let mut notes = CaptureNotes::EMPTY;
    if let Some(coding) = Coding::of_first_bytes(&body) {
        let decoded = coding.undo(&body, bytes_max.saturating_add(1));
        if !decoded.is_whole && decoded.bytes.len() <= bytes_max {
            notes = notes.with(CaptureNote::BadCompression);
            is_whole = false;
        }
        body = Cow::Owned(decoded.bytes);
    }
    let is_cut = body.len() > bytes_max;
    if is_cut {
        notes = notes.with(CaptureNote::BodyCut);
        match &mut body {
            Cow::Borrowed(bytes) => *bytes = &bytes[..bytes_max],
            Cow::Owned(bytes) => bytes.truncate(bytes_max),
        }
    }
    let holds_what_counts = if body.len() >= bytes_max {
        (is_whole && !is_cut) || reaches_past_what_counts(config)
    } else {
        is_whole
    };
    if !holds_what_counts {
        return Settled { answer: Answer::BrokenBody, body: Cow::Borrowed(b""), notes };
    }
    Settled { answer: Answer::Status(status), body, notes }
}

/// Whether a body as long as is handed out at most holds all that counts of any file.
fn reaches_past_what_counts(config: &ReadConfig) -> bool {
    config.robots_bytes_max.is_some_and(|max| max < BODY_BYTES_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATUS: Answer = Answer::Status(200);
    const BROKEN: Answer = Answer::BrokenBody;

    #[track_caller]
    fn check(bytes: usize, is_whole: bool, max: Option<usize>, expected: (Answer, usize, bool)) {
        let config = ReadConfig { robots_bytes_max: max };
        let text = vec![b'a'; bytes];
        let borrowed = settle(200, Cow::Borrowed(&text), is_whole, &config);
        let cut = borrowed.notes == CaptureNotes::EMPTY.with(CaptureNote::BodyCut);
        assert!(cut || borrowed.notes == CaptureNotes::EMPTY);
        assert_eq!((borrowed.answer, borrowed.body.len(), cut), expected);
        assert_eq!(settle(200, Cow::Owned(text.clone()), is_whole, &config), borrowed);
    }

    #[test]
    fn compression_that_no_header_names_is_undone() {
        let config = ReadConfig { robots_bytes_max: Some(10) };
        let zstd = zstd::encode_all(&b"Disallow: /"[..], 1).unwrap();
        let whole = settle(200, Cow::Borrowed(&zstd), true, &config);
        assert_eq!((whole.answer, &*whole.body), (STATUS, &b"Disallow: /"[..]));
        let cut = settle(200, Cow::Borrowed(&zstd[..zstd.len() - 4]), true, &config);
        assert_eq!((cut.answer, &*cut.body), (BROKEN, &b""[..]));
        assert!(cut.notes.contains(CaptureNote::BadCompression));
    }

    #[test]
    fn lengths_beside_the_limit() {
        // A limit of 10 bytes lets 12 be handed out.
        check(0, true, Some(10), (STATUS, 0, false));
        check(10, true, Some(10), (STATUS, 10, false));
        check(12, true, Some(10), (STATUS, 12, false));
        check(13, true, Some(10), (STATUS, 12, true));
        check(0, false, Some(10), (BROKEN, 0, false));
        check(11, false, Some(10), (BROKEN, 0, false));
        check(12, false, Some(10), (STATUS, 12, false));
        check(13, false, Some(10), (STATUS, 12, true));
    }

    #[test]
    fn without_a_limit_what_cannot_be_held_is_broken() {
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
}
