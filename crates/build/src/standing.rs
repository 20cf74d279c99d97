//! Standings of origins, before they are stored in a set.

use portcullis_dialect::decision::{PolicyState, Verdict};
use portcullis_dialect::dialect::AccessOutcome;
use portcullis_robots::syntax::NoteSet;
use portcullis_set::stored::CaptureFacts;

use super::pool::BlobID;

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
    /// The captures of both resources of the key; `None` if only the newest ones were kept. They may be of
    /// no origin.
    pub resources: Option<Box<Resources>>,
}

/// The captures of the resources of a key, for the history of a set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resources {
    /// The timeline of http, or of the only scheme.
    pub http: Timeline,
    /// The timeline of https; `None` if it equals that of http.
    pub https: Option<Timeline>,
    /// Whether an origin has the policy of the other scheme before its first capture.
    pub is_joined: bool,
}

/// The captures of a resource, oldest first. They have no
/// [span](portcullis_set::stored::CaptureFacts::span_seconds).
pub type Timeline = Vec<TimelineCapture>;

/// A capture of a resource, with what follows from it and those before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimelineCapture {
    /// How it was made.
    pub facts: CaptureFacts,
    /// The content of the resource until the next capture; `None` if it depends on the time or on others.
    pub content: Option<Content>,
    /// The outcomes that may follow from it instead of a content.
    pub later: [Option<AccessOutcome>; 2],
    /// Where a redirect leads.
    pub leads: Leads,
    /// Which capture of the resource has its newest file then, if that may count.
    pub file: Option<u32>,
    /// Which is the first failure of the outage that the capture is in.
    pub first_failure: Option<u32>,
}

/// Where a redirect leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leads {
    /// To no URL. Also for captures that are no redirects.
    Nowhere,
    /// To a URL that was not captured.
    NotCaptured,
    /// To the resource with this number: twice that of its key, and one more for https.
    To(u32),
}

impl TimelineCapture {
    /// Returns all that may follow from it alone.
    pub(crate) fn contents(&self) -> impl Iterator<Item = Content> {
        let later = self.later.iter().flatten().map(|&outcome| Content::Access(outcome));
        self.content.into_iter().chain(later)
    }
}

/// The standing of one origin: its content and capture.
pub type Standing = portcullis_set::stored::Standing<Content>;

impl From<AccessOutcome> for Content {
    fn from(outcome: AccessOutcome) -> Content {
        Content::Access(outcome)
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
}

impl HostStanding {
    /// Returns the standings of both origins.
    pub(crate) fn origins(&self) -> impl Iterator<Item = &Standing> {
        [&self.http, &self.https].into_iter().flatten()
    }

    /// Returns whether there is an origin, and not another resource.
    pub(crate) fn is_host(&self) -> bool {
        self.origins().next().is_some()
    }

    /// Returns the timelines of the resources, each once, if the history was kept.
    pub(crate) fn timelines(&self) -> impl Iterator<Item = &Timeline> {
        let resources = self.resources.as_deref();
        resources.into_iter().flat_map(|it| std::iter::once(&it.http).chain(&it.https))
    }

    /// Returns what the origins have, and then what may follow from each capture.
    pub(crate) fn contents(&self) -> impl Iterator<Item = Content> {
        let origins = self.origins().map(|standing| standing.content);
        origins.chain(self.timelines().flatten().flat_map(TimelineCapture::contents))
    }
}
