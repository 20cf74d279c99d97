//! Standings of origins, before they are stored in a set.

use portcullis_dialect::dialect::AccessOutcome;
use portcullis_robots::access::UnixSeconds;

use super::codec;
use super::pool::{BlobID, BlobPool};
use crate::limits::CAPTURES_AT_ONCE;
use portcullis_files::error::WriteError;
use portcullis_files::scratch::{Scratch, Spool, SpoolReader};
use portcullis_set::stored::CaptureFacts;

/// What is known about each origin: what a set is compiled from.
#[derive(Debug, Default)]
pub struct Standings {
    /// The hosts, sorted by key.
    pub hosts: Hosts,
    /// The content of their files.
    pub pool: BlobPool,
    /// What a later merge needs in addition, in the form that a set stores: `FORMAT.md`, section 21.
    /// Decisions do not need it, but a merge may refuse a set without it.
    pub history: Spool,
}

impl Standings {
    /// Creates standings of hosts in the order of their keys, in memory, without history.
    pub fn in_memory(hosts: impl IntoIterator<Item = HostStanding>, pool: BlobPool) -> Standings {
        let mut standings = Standings { pool, ..Standings::default() };
        for host in hosts {
            standings.hosts.push(&host).expect("memory does not fail");
        }
        standings
    }
}

/// Hosts in the order of their keys, in memory or in a temporary file.
#[derive(Debug, Default)]
pub struct Hosts {
    records: Spool,
    count: u64,
    /// Whether some host has timelines.
    has_history: bool,
    record: Vec<u8>,
}

impl Hosts {
    /// Creates an empty list.
    pub fn new(scratch: &Scratch) -> Hosts {
        Hosts { records: Spool::new(scratch), ..Hosts::default() }
    }

    /// Appends a host, whose key is greater than those before it.
    pub fn push(&mut self, host: &HostStanding) -> Result<(), WriteError> {
        self.record.clear();
        codec::push_host(&mut self.record, host);
        self.count += 1;
        self.has_history |= host.timelines.is_some();
        self.records.write_record(&self.record)
    }

    /// Returns the number of hosts.
    pub fn len(&self) -> u64 {
        self.count
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns whether the history of some host was kept.
    pub fn has_history(&self) -> bool {
        self.has_history
    }

    /// Reads all hosts into memory.
    ///
    /// # Errors
    ///
    /// If a temporary file cannot be read.
    pub fn to_vec(&self) -> Result<Vec<HostStanding>, WriteError> {
        self.iter().collect()
    }

    /// Reads the hosts in order.
    pub fn iter(&self) -> HostReader<'_> {
        HostReader { hosts: self, reader: self.records.reader(), record: Vec::new() }
    }
}

/// Reads [`Hosts`].
#[derive(Debug)]
pub struct HostReader<'h> {
    hosts: &'h Hosts,
    reader: SpoolReader<'h>,
    record: Vec<u8>,
}

impl HostReader<'_> {
    fn read(&mut self) -> Result<HostStanding, WriteError> {
        self.reader.read_record(&mut self.record)?;
        codec::host(&self.record).ok_or_else(|| self.hosts.records.changed())
    }
}

impl Iterator for HostReader<'_> {
    type Item = Result<HostStanding, WriteError>;

    fn next(&mut self) -> Option<Self::Item> {
        (!self.reader.is_at_end()).then(|| self.read())
    }
}

/// Reads hosts until they have [`CAPTURES_AT_ONCE`] captures, which `captures` counts.
pub(crate) fn next_piece<T>(
    reader: &mut impl Iterator<Item = Result<T, WriteError>>,
    captures: impl Fn(&T) -> usize,
) -> Result<Vec<T>, WriteError> {
    let (mut piece, mut count) = (Vec::new(), 0);
    while count < CAPTURES_AT_ONCE
        && let Some(host) = reader.next().transpose()?
    {
        count += captures(&host);
        piece.push(host);
    }
    Ok(piece)
}

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
    pub(crate) fn of(standing: Standing) -> Moment {
        Moment { since: standing.facts.begins_at(), standing: standing.without_span() }
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
        /// The extract (see [`lists()`](crate::lists::lists)).
        extract: BlobID,
        /// The list of other records.
        others: BlobID,
        /// Whether the file has a rule in a group.
        has_rules: bool,
    },
    /// The origin has no file.
    Access(AccessOutcome),
}

impl HostStanding {
    /// Returns the standings of both origins, and then those of their timelines.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Standing> {
        let moments = self.timelines().flatten().map(|moment| &moment.standing);
        [&self.http, &self.https].into_iter().flatten().chain(moments)
    }

    /// Returns the timelines of both origins, if the history was kept.
    pub(crate) fn timelines(&self) -> impl Iterator<Item = &Timeline> {
        self.timelines.as_deref().into_iter().flatten()
    }

    /// Returns everything that a set stores about the origin, to compare hosts of two pools.
    pub(crate) fn stored_form(&self, pool: &BlobPool) -> impl PartialEq {
        let standing = move |it: &Standing| {
            let content = match it.content {
                Content::File { extract, others, .. } => {
                    Ok([extract, others].map(|blob| pool.fingerprint(blob)))
                }
                Content::Access(outcome) => Err(outcome),
            };
            let facts = CaptureFacts { expires_at: None, ..it.facts };
            (content, it.facts.serves_seconds(), facts)
        };
        let moment = move |it: &Moment| (it.since, standing(&it.standing));
        let moments: Vec<Vec<_>> =
            self.timelines().map(|it| it.iter().map(moment).collect()).collect();
        (
            self.key.clone(),
            self.http.as_ref().map(standing),
            self.https.as_ref().map(standing),
            moments,
        )
    }
}
