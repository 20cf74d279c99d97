//! Standings of origins, before they are stored in a set.

use portcullis_dialect::dialect::AccessOutcome;
use portcullis_io::CaptureNotes;
use portcullis_io::access::{DateSpan, KnownOutage, UnixSeconds};
use portcullis_robots::syntax::NoteSet;

use super::layout::NONE;
use super::pool::{BlobID, BlobPool};

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
/// before. Empty if the origin is not known.
pub type Timeline = Vec<Moment>;

/// The standing of an origin from one time on, until the next moment of its timeline.
///
/// Each capture begins a moment, because it renews the age of the policy, and so does an outage that
/// becomes long. A *period* is a sequence of moments with the same policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// When the moment begins; 0 for a capture without a date, which is older than all others.
    pub since: UnixSeconds,
    /// The standing as of that time.
    pub standing: Standing,
}

impl Moment {
    /// Returns the moment that a standing from a single capture begins, or from captures of one
    /// chain of redirects.
    pub(super) fn of(standing: Standing) -> Moment {
        Moment { since: moment_begins_at(&standing.facts), standing }
    }
}

/// Returns when the moment begins that a capture begins.
pub(super) fn moment_begins_at(facts: &CaptureFacts) -> UnixSeconds {
    facts.dates().map_or(UnixSeconds(0), |dates| dates.last)
}

/// The standing of one origin: its content and capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The content of its robots.txt, or the access that follows from its absence.
    pub content: Content,
    /// When and how the content was captured.
    pub facts: CaptureFacts,
}

/// The content of a robots.txt, or the access that follows from its absence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// The origin has a file.
    File {
        /// The extract (see [`RobotsTxt::lists`](portcullis_robots::syntax::RobotsTxt::lists)).
        extract: BlobID,
        /// The list of other records.
        others: BlobID,
    },
    /// The origin has no file.
    Access(AccessOutcome),
}

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
    /// Returns the dates of the oldest and the newest response behind the policy, if it has a date.
    pub fn dates(&self) -> Option<DateSpan> {
        let oldest = self.captured_at?;
        let newest = match self.span_seconds {
            u32::MAX => UnixSeconds(u64::MAX),
            seconds => oldest.after(seconds.into()),
        };
        Some((oldest, newest).into())
    }

    /// Returns for how many seconds after its date the response is valid, capped at what a set can
    /// store. `None` if the date or the expiry is not known.
    pub(super) fn serves_seconds(&self) -> Option<u32> {
        let seconds = self.expires_at?.since(self.captured_at?);
        Some(u32::try_from(seconds).map_or(NONE - 1, |seconds| seconds.min(NONE - 1)))
    }
}

impl HostStanding {
    /// Returns the standings of both origins, and then those of their timelines.
    pub(super) fn all(&self) -> impl Iterator<Item = &Standing> {
        let moments = self.timelines().flatten().map(|moment| &moment.standing);
        [&self.http, &self.https].into_iter().flatten().chain(moments)
    }

    /// Returns whether the history was kept.
    pub(super) fn has_history(&self) -> bool {
        self.timelines.is_some()
    }

    /// Returns the timelines of both origins, if the history was kept.
    pub(super) fn timelines(&self) -> impl Iterator<Item = &Timeline> {
        self.timelines.as_deref().into_iter().flatten()
    }

    /// Returns everything that a set stores about the origin, to compare hosts of two pools.
    pub(super) fn stored_form<'p>(&'p self, pool: &'p BlobPool) -> impl PartialEq {
        let standing = move |it: &Standing| {
            let content = match it.content {
                Content::File { extract, others } => Ok((pool.get(extract), pool.get(others))),
                Content::Access(outcome) => Err(outcome),
            };
            let facts = CaptureFacts { expires_at: None, ..it.facts };
            (content, it.facts.serves_seconds(), facts)
        };
        let moment = move |it: &Moment| (it.since, standing(&it.standing));
        let moments: Vec<Vec<_>> =
            self.timelines().map(|it| it.iter().map(moment).collect()).collect();
        (&self.key, self.http.as_ref().map(standing), self.https.as_ref().map(standing), moments)
    }
}
