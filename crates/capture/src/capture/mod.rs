//! Answers to GET /robots.txt as archives keep them: WARC, JSON Lines, Parquet, folders of files.
//!
//! Owns the way from a stored file to [`Capture`]s: finding the records, undoing what HTTP did to
//! the body, and saying what is odd about each. It decides nothing: which capture of an origin
//! counts, where a redirect leads and what an answer means is the business of `set`, and what a file
//! says that of [`syntax`](portcullis_robots::syntax). Nothing is fetched.
//!
//! Reading has two halves, so that one file can keep many threads busy: a [`BatchReader`] cuts a
//! file into pieces, which is cheap and in order, and a [`Batch`] is read into captures, which is
//! the work and can be done on any thread.
//!
//! What can fail: a file, with a [`CaptureError`] that names it. A record that makes no sense stops
//! nothing: it is handed out as a [`BrokenRecord`], to be counted and named. A body that cannot be
//! had whole is [`Answer::BrokenBody`], because a file that lost its end may have lost the rules that
//! disallow.

mod bodiless;
mod body;
mod columns;
mod content_type;
mod fields;
pub mod folder;
mod format;
mod http;
pub mod json_lines;
pub mod location;
mod note;
#[cfg(feature = "parquet")]
pub mod parquet;
#[cfg(test)]
mod testing;
pub mod warc;

use std::borrow::Cow;

use crate::input::{InputError, system_text};
use portcullis_robots::access::{Answer, CachingHeaders, UnixSeconds};

pub use columns::ParquetColumns;
pub use format::{CaptureConfig, CaptureFormat, open};
pub use note::{CaptureNote, CaptureNotes};

/// One answer to one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capture<'c> {
    /// What was asked for.
    pub subject: Subject<'c>,
    /// When it was answered, if that is known.
    pub captured_at: Option<UnixSeconds>,
    /// Redirects that were followed before this answer, within the capture itself.
    pub redirects_followed: u32,
    /// What came of it.
    pub answer: Answer,
    /// Where a redirect points to, as the `Location` field has it; it may be a relative reference.
    pub location: Option<Cow<'c, [u8]>>,
    /// What the header says about caching.
    pub caching: CachingHeaders,
    /// The body of a 2xx answer, decoded, as far as counts and at most a little more (see
    /// [`ReadConfig::body_bytes_max`]); else empty.
    pub body: Cow<'c, [u8]>,
    /// What is odd.
    pub notes: CaptureNotes,
}

/// What a capture is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Subject<'c> {
    /// The resource with this URL, as the archive has it. It need not be a robots.txt: redirects
    /// lead to others.
    Url(&'c [u8]),
    /// The robots.txt of this host, which then speaks for its http and https on their default
    /// ports; a port may follow the host.
    Host(&'c [u8]),
}

/// A record that could not be read, and was passed over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenRecord {
    /// Where it is: "line 12", "record at byte 4096".
    pub place: String,
    /// What is wrong with it and what to do.
    pub problem: String,
    /// Whether the rest can be relied on without it.
    pub kind: BrokenKind,
}

impl BrokenRecord {
    /// A record that makes no sense.
    pub fn senseless(place: impl Into<String>, problem: impl Into<String>) -> BrokenRecord {
        BrokenRecord { place: place.into(), problem: problem.into(), kind: BrokenKind::Senseless }
    }

    /// A record that may make sense to whoever can read it.
    pub fn unreadable(place: impl Into<String>, problem: impl Into<String>) -> BrokenRecord {
        BrokenRecord { place: place.into(), problem: problem.into(), kind: BrokenKind::Unreadable }
    }
}

/// What it means that a record could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BrokenKind {
    /// It is not what it should be. Count it, name it, go on.
    Senseless,
    /// The system would not give it, as with a file of a folder that may not be opened. To go on
    /// would make a host unknown of which there is a file, so whoever makes a set should stop.
    Unreadable,
}

/// How captures are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadConfig {
    /// Bytes of a robots.txt that count; all, if there is no limit.
    pub robots_bytes_max: Option<usize>,
}

impl ReadConfig {
    /// Bytes past the limit that are handed out if they are there, so that the parser sees that
    /// something was cut, and where: a line end is two bytes at most.
    const SEEN_PAST_MAX: usize = 2;

    /// Bytes of a body that are handed out.
    pub fn body_bytes_max(&self) -> usize {
        let asked = self
            .robots_bytes_max
            .map_or(usize::MAX, |max| max.saturating_add(ReadConfig::SEEN_PAST_MAX));
        asked.min(portcullis_dialect::limits::BODY_BYTES_MAX)
    }
}

/// Takes what is read.
pub trait CaptureSink {
    /// Takes a capture.
    fn capture(&mut self, capture: Capture<'_>);
    /// Takes note of a record that could not be read.
    fn broken(&mut self, broken: BrokenRecord);
}

/// Cuts one file into pieces.
pub trait BatchReader: Send {
    /// The next piece; nothing at the end.
    ///
    /// # Errors
    ///
    /// If the file cannot be read further.
    fn next_batch(&mut self) -> Result<Option<Box<dyn Batch>>, CaptureError>;
}

/// A piece of a file.
pub trait Batch: Send {
    /// Bytes of the stored file that this came from, for progress.
    fn stored_bytes(&self) -> u64;

    /// Reads the captures and hands them to `sink`, in their order.
    fn read(&self, config: &ReadConfig, sink: &mut dyn CaptureSink);
}

/// A file of captures cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// It cannot be opened or read further.
    #[error("{}", unreadable(name, source))]
    Unreadable {
        /// Its name.
        name: String,
        /// What the system says.
        source: std::io::Error,
    },
    /// It cannot be opened or read, its compression is damaged, or it holds no captures for sure.
    #[error(transparent)]
    Input(#[from] InputError),
    /// It is no such file as it should be.
    #[error("{name}: {problem}")]
    NotThisFormat {
        /// Its name.
        name: String,
        /// What is wrong and what to do.
        problem: String,
    },
}

/// What is wrong with an input; one that names itself is not named twice.
fn unreadable(name: &str, source: &std::io::Error) -> String {
    match source.get_ref() {
        Some(inner) if inner.is::<InputError>() => inner.to_string(),
        _ => format!("{name}: {}", system_text(source)),
    }
}
