//! What is known of one origin, before it is filed in a set.

use portcullis_capture::CaptureNotes;
use portcullis_capture::access::{KnownOutage, UnixSeconds};
use portcullis_dialect::dialect::AccessOutcome;
use portcullis_robots::syntax::NoteSet;

use super::layout::NONE;
use super::pool::{BlobID, BlobPool};

/// A host and what is known of its origins. http and https have a place each, because nearly all
/// hosts have both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostStanding {
    /// The key of the host, as [`host_key`](portcullis_robots::target::host_key) has it; with the scheme before
    /// it for any other scheme than http and https (`ftp://host`), whose policy is then `http`.
    pub key: Box<[u8]>,
    /// What is known for http.
    pub http: Option<Standing>,
    /// What is known for https.
    pub https: Option<Standing>,
}

/// What is known of one origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// What its robots.txt says, or what its absence means.
    pub content: Content,
    /// How that came to be known.
    pub facts: CaptureFacts,
}

/// What a robots.txt says, or what its absence means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// There is a file.
    File {
        /// Its extract (see [`RobotsTxt::write_extract`](portcullis_robots::syntax::RobotsTxt::write_extract)).
        extract: BlobID,
        /// Its other records (see [`RobotsTxt::write_others`](portcullis_robots::syntax::RobotsTxt::write_others)).
        others: BlobID,
    },
    /// There is none.
    Access(AccessOutcome),
}

/// How a policy came to be known. It decides nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CaptureFacts {
    /// When the answer was given, if that is known.
    pub captured_at: Option<UnixSeconds>,
    /// Until when it serves, if it is known when it was given.
    pub expires_at: Option<UnixSeconds>,
    /// The last answer's status; 0 if there was no answer.
    pub status: u16,
    /// Redirects that were followed.
    pub redirects_followed: u8,
    /// What was odd about the answer.
    pub capture_notes: CaptureNotes,
    /// What was odd about the file.
    pub file_notes: NoteSet,
    /// Bytes of the file, as far as they were kept.
    pub file_bytes: u32,
    /// The outage in which the answer was given, if it is one.
    pub outage: Option<KnownOutage>,
    /// The position of the input among those of the set.
    pub input: u32,
}

impl CaptureFacts {
    /// Seconds for which the answer serves from its date on, as far as a set can tell them: `None`
    /// if the date or the end is not known.
    pub(super) fn serves_seconds(&self) -> Option<u32> {
        let seconds = self.expires_at?.since(self.captured_at?);
        Some(u32::try_from(seconds).map_or(NONE - 1, |seconds| seconds.min(NONE - 1)))
    }
}

impl HostStanding {
    /// All that a set tells of it, for comparing hosts of two pools.
    pub(super) fn stored_form<'p>(&'p self, pool: &'p BlobPool) -> impl PartialEq {
        let standing = |it: &Standing| {
            let content = match it.content {
                Content::File { extract, others } => Ok((pool.get(extract), pool.get(others))),
                Content::Access(outcome) => Err(outcome),
            };
            let facts = CaptureFacts { expires_at: None, ..it.facts };
            (content, it.facts.serves_seconds(), facts)
        };
        (&self.key, self.http.as_ref().map(standing), self.https.as_ref().map(standing))
    }
}
