//! Standings of origins, before they are stored in a set.

use portcullis_dialect::decision::{PolicyState, Verdict};
use portcullis_dialect::dialect::AccessOutcome;
use portcullis_robots::access::UnixSeconds;
use portcullis_robots::syntax::NoteSet;
use portcullis_set::stored::CaptureFacts;

use super::pool::BlobID;
use super::shared::Followed;

/// A host and the standings of its origins. http and https have a field each, because nearly all
/// hosts have both.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostStanding {
    /// The key of the host, as returned by [`host_key`](portcullis_robots::url::host_key). For
    /// any scheme other than http and https, the scheme precedes it (`ftp://host`) and the policy
    /// is in `http`.
    pub key: Box<[u8]>,
    /// The standing of the http origin.
    pub http: Option<Standing>,
    /// The standing of the https origin.
    pub https: Option<Standing>,
    /// The histories of both origins, http before https; `None` if only the newest captures were
    /// kept.
    pub timelines: Option<Box<[Timeline; 2]>>,
}

/// The history of an origin: moments in order of time, each with another standing than the one
/// before. Empty if the origin is not known. The standings have no
/// [span](CaptureFacts::span_seconds): it grows with every capture of a redirect's target, and would
/// begin a moment of each origin that redirects to it.
pub type Timeline = Vec<Moment>;

/// The standing of an origin from one time on, until the next moment of its timeline.
///
/// Each capture of the origin begins a moment, because it renews the age of the policy, and so does an
/// outage that becomes long. A *period* is a sequence of moments with the same policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moment {
    /// When the moment begins; 0 for a capture without a date, which is older than all others.
    pub since: UnixSeconds,
    /// The standing as of that time.
    pub standing: Standing,
    /// The timeline whose changes are also those of the origin until the next moment; `None` if the
    /// standing stays the same.
    pub follows: Option<Box<Followed>>,
}

impl Moment {
    /// Returns the moment that a standing from a single capture begins, or from captures of one
    /// chain of redirects.
    pub(crate) fn of(standing: Standing) -> Moment {
        Moment::plain(standing.facts.begins_at(), standing.without_span())
    }

    /// Returns a moment in which the standing stays the same.
    pub(crate) fn plain(since: UnixSeconds, standing: Standing) -> Moment {
        Moment { since, standing, follows: None }
    }
}

/// The standing of one origin: its content and capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The content of its robots.txt, or the access that follows from its absence.
    pub content: Content,
    /// When and how the content was captured.
    pub facts: CaptureFacts,
}

impl Standing {
    /// Returns the standing as timelines have it.
    pub(crate) fn without_span(self) -> Standing {
        Standing { facts: CaptureFacts { span_seconds: 0, ..self.facts }, ..self }
    }
}

/// The content of a robots.txt, or the access that follows from its absence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// The origin has a file.
    File {
        /// The extract (see [`lists()`](portcullis_set::lists::lists)).
        extract: BlobID,
        /// The list of other records.
        others: BlobID,
        /// Whether the file has a rule in a group.
        has_rules: bool,
    },
    /// The origin has no file, or a page instead of one.
    Access(AccessOutcome),
}

impl Content {
    /// Returns the content of a file whose notes are those in `facts`: a page states nothing.
    pub(crate) fn from_file(
        extract: BlobID,
        others: BlobID,
        has_rules: bool,
        notes: NoteSet,
    ) -> Content {
        let page = AccessOutcome { state: PolicyState::Page, verdict: Verdict::Allow };
        match notes.is_page() && !has_rules {
            true => Content::Access(page),
            false => Content::File { extract, others, has_rules },
        }
    }

    /// Returns whether both have the same policy. Other records of a file do not change it.
    pub(crate) fn has_policy_of(self, other: Content) -> bool {
        match (self, other) {
            (Content::File { extract: own, .. }, Content::File { extract, .. }) => own == extract,
            (own, other) => own == other,
        }
    }
}

impl HostStanding {
    /// Returns the standings of both origins.
    pub(crate) fn origins(&self) -> impl Iterator<Item = &Standing> {
        [&self.http, &self.https].into_iter().flatten()
    }

    /// Returns the standings of both origins, and then those of their timelines.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Standing> {
        self.origins().chain(self.timelines().flatten().map(|moment| &moment.standing))
    }

    /// Returns the timelines of both origins, if the history was kept.
    pub(crate) fn timelines(&self) -> impl Iterator<Item = &Timeline> {
        self.timelines.as_deref().into_iter().flatten()
    }
}
