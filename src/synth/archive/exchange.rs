//! One question and its answer, before they take the form of an archive.

use std::borrow::Cow;

use crate::decision::PolicyState;

use super::body::Coding;

/// A request and what came of it.
#[derive(Clone, Debug)]
pub(super) struct Exchange<'f> {
    pub(super) url: Vec<u8>,
    /// URLs that the asker was redirected to on the way to this response, the last of them the
    /// response's.
    pub(super) redirects: Vec<Vec<u8>>,
    pub(super) asked_at: Moment,
    /// Nothing if there was no answer.
    pub(super) response: Option<Response<'f>>,
}

/// A response.
#[derive(Clone, Debug)]
pub(super) struct Response<'f> {
    pub(super) status: u16,
    pub(super) location: Option<Vec<u8>>,
    pub(super) content_type: &'static str,
    pub(super) body: Cow<'f, [u8]>,
    pub(super) coding: Coding,
    /// What it means for the origin that asked, unless it is a redirect.
    pub(super) state: PolicyState,
}

/// A second of the month that everything was captured in: June 2025, counted from its start.
///
/// One month of thirty days is enough for dates that differ, and needs no calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Moment(pub(super) u64);

impl Moment {
    pub(super) const MINUTE: u64 = 60;
    pub(super) const HOUR: u64 = 60 * Moment::MINUTE;
    pub(super) const DAY: u64 = 24 * Moment::HOUR;
}

impl std::fmt::Display for Moment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Moment(seconds) = *self;
        write!(
            f,
            "2025-06-{:02}T{:02}:{:02}:{:02}Z",
            seconds / Moment::DAY + 1,
            seconds % Moment::DAY / Moment::HOUR,
            seconds % Moment::HOUR / Moment::MINUTE,
            seconds % Moment::MINUTE,
        )
    }
}
