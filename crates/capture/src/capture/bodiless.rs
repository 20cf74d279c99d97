//! Answers whose body is not there.

use std::borrow::Cow;

use portcullis_robots::access::Answer;

use super::CaptureNotes;
use super::body::Settled;

/// Statuses of answers that have no body (RFC 9110, sections 15.3.5 and 15.3.6).
const WITHOUT_BODY: [u16; 2] = [204, 205];

/// `answer`, which keeps no body.
pub(super) fn bodiless(answer: Answer) -> Settled<'static> {
    Settled { answer, body: Cow::Borrowed(b""), notes: CaptureNotes::EMPTY }
}

/// The answer `status`, which is 2xx, if nobody says what its body is: an empty one where there can
/// be no other, else a broken one.
pub(super) fn without_body(status: u16) -> Settled<'static> {
    if WITHOUT_BODY.contains(&status) {
        return bodiless(Answer::Status(status));
    }
    bodiless(Answer::BrokenBody)
}
