//! One answer of an archive, and how archives are read.

use std::borrow::Cow;
use std::hash::BuildHasher as _;
use std::sync::LazyLock;

use foldhash::quality::RandomState;
use portcullis_dialect::Fetched;
use portcullis_files::input::InputError;
use portcullis_robots::access::{CachingHeaders, CaptureNote, CaptureNotes, UnixSeconds};
use serde::{Deserialize, Serialize};

use super::body::Settled;

/// One answer to one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capture<'c> {
    /// The resource that was requested.
    pub subject: Subject<'c>,
    /// The time of the answer, if known.
    pub captured_at: Option<UnixSeconds>,
    /// Redirects that were followed before this answer, within the capture itself.
    pub redirects_followed: u32,
    /// The answer.
    pub answer: Fetched,
    /// The target of a redirect, as in the `Location` field; it may be a relative reference.
    pub location: Option<Cow<'c, [u8]>>,
    /// The file that a "not modified" is about.
    pub confirms: Confirms,
    /// The identity of the file within the resource, or of the file that a revisit repeats.
    pub payload: PayloadNames,
    /// The header fields about caching.
    pub caching: CachingHeaders,
    /// The decoded body of a 2xx answer, up to a little past the size limit (see
    /// [`ReadConfig::body_bytes_max`]). Empty for other answers.
    pub body: Cow<'c, [u8]>,
    /// Notes on irregularities.
    pub notes: CaptureNotes,
}

/// The file that a "not modified" is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Confirms {
    /// The newest older file: the server says that it is not modified.
    #[default]
    Newest,
    /// The file of the same resource that was captured at this time: the archive found them equal.
    /// `None` if the archive does not say when, or if the file belongs to another resource.
    CapturedAt(Option<UnixSeconds>),
}

/// Names of a file in the archives of a run: hashes of the digest of its payload and of the id of its record.
/// They differ in each process, and must not reach any output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PayloadNames {
    /// The hash of the digest of the payload; 0 if it has none.
    pub digest: u64,
    /// The hash of the id of the record; 0 if it has none.
    pub record: u64,
}

impl PayloadNames {
    /// Returns the names that these texts make.
    pub(super) fn of(digest: Option<&[u8]>, record: Option<&[u8]>) -> PayloadNames {
        static HASHER: LazyLock<RandomState> = LazyLock::new(RandomState::default);
        let hash = |text: Option<&[u8]>| text.map_or(0, |text| HASHER.hash_one(text));
        PayloadNames { digest: hash(digest), record: hash(record) }
    }

    /// Whether a file with these names is the one that a revisit with `other` repeats.
    pub fn names(&self, other: &PayloadNames) -> bool {
        let are_same = |one: u64, other: u64| one != 0 && one == other;
        are_same(self.digest, other.digest) || are_same(self.record, other.record)
    }
}

/// The resource that a capture is of.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Subject<'c> {
    /// The resource with this URL, as spelled in the archive. It may be the target of a redirect
    /// instead of a robots.txt.
    Url(Cow<'c, [u8]>),
    /// The robots.txt of this host. It applies to http and https on their default ports, unless a
    /// port follows the host.
    Host(Cow<'c, [u8]>),
}

impl Subject<'_> {
    fn into_owned(self) -> Subject<'static> {
        match self {
            Subject::Url(url) => Subject::Url(Cow::Owned(url.into_owned())),
            Subject::Host(host) => Subject::Host(Cow::Owned(host.into_owned())),
        }
    }

    /// Returns whether this is a robots.txt by its name. So are most targets of redirects from one.
    pub fn is_named_robots_txt(&self) -> bool {
        match self {
            Subject::Url(url) => names_robots_txt(url),
            Subject::Host(_) => true,
        }
    }
}

/// Whether the last segment of the URL's path ends in `robots.txt`, in any case. Targets of
/// redirects from `/robots.txt` nearly always have this name too.
pub(super) fn names_robots_txt(url: &[u8]) -> bool {
    const NAME: &[u8] = b"robots.txt";
    // Crawlers store what they know of a page as `urn:pageinfo:URL`.
    if url.get(..4).is_some_and(|scheme| scheme.eq_ignore_ascii_case(b"urn:")) {
        return false;
    }
    let end = url.iter().position(|byte| b"?#".contains(byte)).unwrap_or(url.len());
    let Some((rest, name)) = url[..end].split_last_chunk::<{ NAME.len() }>() else { return false };
    // The text between `//` and the next slash is a host.
    let segment = rest.iter().rposition(|&byte| byte == b'/');
    let is_in_path = segment.is_some_and(|slash| !rest[..slash].ends_with(b":/"));
    name.eq_ignore_ascii_case(NAME) && is_in_path
}

/// A record that could not be read and was skipped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BrokenRecord {
    /// The place of the record: "line 12", "record at byte 4096".
    pub place: String,
    /// The problem and its fix.
    pub problem: String,
    /// Whether the other records can be relied on without this one. It is not part of the JSON form.
    #[serde(skip)]
    pub kind: BrokenKind,
    /// The capture that the record would be, if it is known which. It is not part of the JSON form.
    #[serde(skip)]
    pub lost: Option<LostCapture>,
}

/// A capture whose record cannot be read. The server answered then, and nobody knows what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostCapture {
    subject: Subject<'static>,
    captured_at: Option<UnixSeconds>,
    /// Whether its time cannot be read, so that it may be newer than any other.
    pub has_unread_time: bool,
}

impl LostCapture {
    /// Returns the capture without its body, and without a date if that cannot be read.
    pub fn capture(&self) -> Capture<'_> {
        let subject = match &self.subject {
            Subject::Url(url) => Subject::Url(Cow::Borrowed(url)),
            Subject::Host(host) => Subject::Host(Cow::Borrowed(host)),
        };
        let notes = CaptureNotes::EMPTY.with(CaptureNote::Truncated);
        let lost = Settled { notes, ..Settled::bodiless(Fetched::BrokenBody) };
        lost.capture(subject, self.captured_at)
    }
}

/// The reason why a record is broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Problem {
    pub text: String,
    pub kind: BrokenKind,
    pub lost: Option<LostCapture>,
}

impl From<String> for Problem {
    fn from(text: String) -> Problem {
        Problem { text, kind: BrokenKind::Senseless, lost: None }
    }
}

impl From<&str> for Problem {
    fn from(text: &str) -> Problem {
        text.to_owned().into()
    }
}

impl Problem {
    /// Returns the problem of a record that is the capture of a resource, at a time or without one. The
    /// time is an error if it cannot be read.
    pub fn of_capture(
        text: impl Into<String>,
        subject: Subject<'_>,
        time: Result<Option<UnixSeconds>, String>,
    ) -> Problem {
        let (mut text, has_unread_time) = (text.into(), time.is_err());
        if has_unread_time {
            text.push_str("; it counts as the newest of its input");
        }
        let (subject, captured_at) = (subject.into_owned(), time.unwrap_or_default());
        let lost = Some(LostCapture { subject, captured_at, has_unread_time });
        Problem { lost, ..text.into() }
    }

    /// Returns the record at a place, which has the problem.
    pub fn of(self, place: impl Into<String>) -> BrokenRecord {
        let Problem { text, kind, lost } = self;
        BrokenRecord { kind, lost, ..BrokenRecord::senseless(place, text) }
    }
}

impl BrokenRecord {
    /// Returns a malformed record.
    pub fn senseless(place: impl Into<String>, problem: impl Into<String>) -> BrokenRecord {
        let kind = BrokenKind::Senseless;
        BrokenRecord { place: place.into(), problem: problem.into(), kind, lost: None }
    }

    /// Returns a record that may be valid but that the system could not read.
    pub fn unreadable(place: impl Into<String>, problem: impl Into<String>) -> BrokenRecord {
        let kind = BrokenKind::Unreadable;
        BrokenRecord { kind, ..BrokenRecord::senseless(place, problem) }
    }
}

/// The reason why a record could not be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum BrokenKind {
    /// The record is malformed. Count it, report it and continue.
    Senseless,
    /// The record shows that the ends of records are a guess, so that a body may have passed for one. None of
    /// the input can be relied on.
    Forgeable,
    /// The system could not read the record: for example, a file in a folder without read
    /// permission. Continuing would make a host unknown although it has a file, so compiling a set
    /// should stop. A kind that is not known is this one.
    #[default]
    Unreadable,
}

/// How captures are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadConfig {
    /// The most bytes of a robots.txt that count. `None` means no limit.
    pub robots_bytes_max: Option<usize>,
}

impl ReadConfig {
    /// The bytes past the limit that are returned too, so that the parser sees whether and where a
    /// line was cut. A line end is two bytes at most.
    const SEEN_PAST_MAX: usize = 2;

    /// Returns the most bytes of a body that are returned in a capture.
    pub fn body_bytes_max(&self) -> usize {
        let asked = self
            .robots_bytes_max
            .map_or(usize::MAX, |max| max.saturating_add(ReadConfig::SEEN_PAST_MAX));
        asked.min(portcullis_dialect::limits::BODY_BYTES_MAX)
    }
}

/// Receives captures, and records that could not be read.
pub type CaptureSink<'s> = dyn FnMut(Result<Capture<'_>, BrokenRecord>) + 's;

/// Cuts one file into batches.
pub trait BatchReader: Send {
    /// Returns the next batch, or `None` at the end.
    ///
    /// # Errors
    ///
    /// If the file cannot be read to its end.
    fn next_batch(&mut self) -> Result<Option<Batch>, InputError>;
}

impl<F: FnMut() -> Result<Option<Batch>, InputError> + Send> BatchReader for F {
    fn next_batch(&mut self) -> Result<Option<Batch>, InputError> {
        self()
    }
}

/// Reads the records of a batch.
type ReadBatch = dyn Fn(&ReadConfig, &mut CaptureSink<'_>) + Send;

/// A batch of records in a file.
pub struct Batch {
    /// The bytes of the stored file that the batch covers, for progress.
    pub stored_bytes: u64,
    /// Whether the records are rows of a table, which may have several for one answer.
    pub is_of_table: bool,
    read: Box<ReadBatch>,
}

impl Batch {
    /// Returns a batch whose captures and broken records `read` passes on.
    pub fn new(
        stored_bytes: u64,
        read: impl Fn(&ReadConfig, &mut CaptureSink<'_>) + Send + 'static,
    ) -> Batch {
        Batch { stored_bytes, is_of_table: false, read: Box::new(read) }
    }

    /// Returns the batch as one of a table.
    #[must_use]
    pub fn of_table(self) -> Batch {
        Batch { is_of_table: true, ..self }
    }

    /// Passes the captures and the broken records to `sink`, in order.
    pub fn read(&self, config: &ReadConfig, sink: &mut CaptureSink<'_>) {
        (self.read)(config, sink);
    }
}
