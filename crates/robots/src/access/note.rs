//! Notes on a capture: irregularities of the answer, apart from the text of the file.
//!
//! A note does not affect verdicts. The numbers are part of the set format, so they never change.

use portcullis_dialect::{word_set, words};

words! {
    /// An irregularity of a capture.
    pub enum CaptureNote {
        /// The answer declares its body as HTML. Rules in the body apply nonetheless.
        HtmlContentType = 0 => "html-content-type",
        /// The archive says that it cut the answer, or lacks the body of a file.
        Truncated = 1 => "truncated",
        /// The body ends before the length that the header gives.
        ShortBody = 2 => "short-body",
        /// The body's chunks (RFC 9112, section 7.1) are malformed or have no end.
        BadChunks = 3 => "bad-chunks",
        /// The body's compression is damaged or has no end.
        BadCompression = 4 => "bad-compression",
        /// The body is in an unknown content coding.
        UnknownCoding = 5 => "unknown-coding",
        /// The body is longer than the size limit, and the rest was not kept.
        BodyCut = 6 => "body-cut",
        /// The archive found the answer equal to an earlier one, and stored no body.
        Revisit = 7 => "revisit",
        /// The redirect has no target, or the target is not an http or https URL.
        RedirectToNowhere = 8 => "redirect-to-nowhere",
        /// The target of the redirect was not captured.
        RedirectTargetMissing = 9 => "redirect-target-missing",
        /// There are more redirects than the dialect follows, or they form a loop.
        TooManyRedirects = 10 => "too-many-redirects",
        /// The file has been unreachable for more than 30 days, and the last good copy applies
        /// again.
        OutageLastGoodCopy = 11 => "outage-last-good-copy",
        /// The file has been unreachable for more than 30 days, or at all if that was asked for, and counts
        /// as unavailable: everything is allowed, although no answer says so.
        OutageUnavailable = 12 => "outage-unavailable",
        /// The record has no status; 200 is assumed, because it has a body.
        StatusAssumed = 13 => "status-assumed",
        /// The origin was not captured, and has the file or answer of the other scheme, http or
        /// https, of its host.
        OtherScheme = 14 => "other-scheme",
        /// The file has text and no rule, and no line of it is a record of robots.txt, or several records share
        /// one: it may be a message of a server, a log or a table, or have lost its line ends. It counts as
        /// a file without rules.
        NoRecord = 15 => "no-record",
    }
}

word_set! {
    /// A set of notes.
    pub struct CaptureNotes of CaptureNote
}
