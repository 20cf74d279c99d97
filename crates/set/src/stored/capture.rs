//! When and how a policy was captured.

use portcullis_dialect::Fetched;
use portcullis_robots::access::{CaptureNote, CaptureNotes, DateSpan, KnownOutage, UnixSeconds};
use portcullis_robots::syntax::NoteSet;

use crate::layout::NONE;

/// The notes on a capture whose status is 0 because the archive lacks a part of a body.
const LACKS: [CaptureNote; 6] = [
    CaptureNote::Truncated,
    CaptureNote::ShortBody,
    CaptureNote::BadChunks,
    CaptureNote::BadCompression,
    CaptureNote::UnknownCoding,
    CaptureNote::BodyCut,
];

/// When and how a policy was captured. It does not affect decisions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CaptureFacts {
    /// When the response was received, if known. Behind redirects, the oldest date of all responses
    /// on the way, and `None` if one of them has no date.
    pub captured_at: Option<UnixSeconds>,
    /// The seconds from `captured_at` to the newest of these responses; 0 without redirects.
    /// `u32::MAX` stands for any longer time: the policy is then later than every time.
    pub span_seconds: u32,
    /// When the first of these responses expires, if known. Only stored if `captured_at` is known
    /// too.
    pub expires_at: Option<UnixSeconds>,
    /// The status of the last response; 0 if there was none.
    pub status: u16,
    /// The number of redirects that were followed.
    pub redirects_followed: u8,
    /// Notes about the response.
    pub capture_notes: CaptureNotes,
    /// Notes about the file.
    pub file_notes: NoteSet,
    /// The number of bytes of the file that were kept.
    pub file_bytes: u32,
    /// The outage that the response is part of, if any.
    pub outage: Option<KnownOutage>,
    /// The position of the input in the set's list of inputs.
    pub input: u32,
}

impl CaptureFacts {
    /// Returns the dates of the oldest and the newest response of the policy, if it has a date.
    pub fn dates(&self) -> Option<DateSpan> {
        let first = self.captured_at?;
        let last = match self.span_seconds {
            u32::MAX => UnixSeconds(u64::MAX),
            seconds => first.after(seconds.into()),
        };
        Some(DateSpan { first, last })
    }

    /// Returns for how many seconds after its date the response is valid, capped at what a set can
    /// store. `None` if the date or the expiry is not known.
    pub fn serves_seconds(&self) -> Option<u32> {
        let seconds = self.expires_at?.since(self.captured_at?);
        Some(u32::try_from(seconds).map_or(NONE - 1, |seconds| seconds.min(NONE - 1)))
    }

    /// Returns the answer, as far as it matters to a dialect.
    pub fn answer(&self) -> Fetched {
        match self.status {
            0 if self.capture_notes.contains(CaptureNote::RedirectToNowhere) => {
                Fetched::RedirectToNowhere
            }
            0 => Fetched::NoResponse,
            status => Fetched::Status(status),
        }
    }

    /// Whether the archive lacks the target of the redirect that the answer is.
    pub fn lacks_target(&self) -> bool {
        self.capture_notes.contains(CaptureNote::RedirectTargetMissing)
    }

    /// Whether the archive lacks a part of the file that the server sent, or all of it.
    pub fn lacks_body(&self) -> bool {
        self.status == 0 && LACKS.iter().any(|note| self.capture_notes.contains(*note))
    }

    /// Returns when the moment begins that the capture begins.
    pub fn begins_at(&self) -> UnixSeconds {
        self.dates().map_or(UnixSeconds(0), |dates| dates.last)
    }
}
