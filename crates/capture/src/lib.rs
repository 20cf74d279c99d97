//! Answers to `GET /robots.txt` as archives keep them: WARC, JSON Lines, Parquet, folders of files.
//!
//! Owns reading stored files into [`Capture`]s: it finds the records, decodes the bodies, and notes
//! irregularities. It makes no choice among captures: use `set` for which capture of an origin counts and where a
//! redirect leads, [`access`] for what an answer means, and
//! [`syntax`](portcullis_robots::syntax) for what a file says. Nothing is fetched.
//!
//! Reading has two steps, so that one file can keep many threads busy. A [`BatchReader`] cuts a file
//! into pieces, in order and cheaply. A [`Batch`] is read into captures, on any thread.
//!
//! Cost: linear in the file; memory holds one batch per thread.
//!
//! A file that cannot be read is a [`CaptureError`] that names it. An invalid record is handed out as a
//! [`BrokenRecord`], and reading continues. An incomplete body makes the answer
//! [`Answer::BrokenBody`], because the missing part may hold rules that disallow.
//!
//! ```
//! use portcullis_capture::{BrokenRecord, Capture, CaptureConfig, CaptureSink, ReadConfig};
//!
//! #[derive(Default)]
//! struct Bodies(Vec<Vec<u8>>);
//!
//! impl CaptureSink for Bodies {
//!     fn capture(&mut self, capture: Capture<'_>) {
//!         self.0.push(capture.body.into_owned());
//!     }
//!     fn broken(&mut self, broken: BrokenRecord) {
//!         panic!("{}: {}", broken.place, broken.problem);
//!     }
//! }
//!
//! let folder = tempfile::tempdir()?;
//! let file = folder.path().join("captures.jsonl");
//! std::fs::write(&file, r#"{"url": "https://a.example/robots.txt", "status": 200, "body": "Allow: /"}"#)?;
//! let mut reader = portcullis_capture::open(&file, None, &CaptureConfig::default())?;
//! let mut bodies = Bodies::default();
//! while let Some(batch) = reader.next_batch()? {
//!     batch.read(&ReadConfig { robots_bytes_max: None }, &mut bodies);
//! }
//! assert_eq!(bodies.0, [b"Allow: /"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod access;
mod body;
mod compression;
mod fields;
pub mod folder;
mod format;
mod http;
pub mod input;
pub mod json_lines;
pub mod list;
pub mod location;
mod note;
#[cfg(feature = "parquet")]
pub mod parquet;
#[cfg(feature = "parquet")]
mod parquet_columns;
#[cfg(feature = "parquet")]
mod parquet_file;
mod record;
mod schema;
#[cfg(test)]
mod tests;
pub mod warc;
mod warc_record;

use std::borrow::Cow;

use crate::access::{Answer, CachingHeaders, UnixSeconds};
use crate::input::{InputError, system_text};

use body::Settled;
pub use format::{CaptureConfig, CaptureFormat, open};
pub use note::{CaptureNote, CaptureNotes};
pub use schema::{CaptureField, FieldMap, FieldName};

/// One answer to one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capture<'c> {
    /// What was requested.
    pub subject: Subject<'c>,
    /// When it was answered, if that is known.
    pub captured_at: Option<UnixSeconds>,
    /// Redirects that were followed before this answer, within the capture itself.
    pub redirects_followed: u32,
    /// The answer.
    pub answer: Answer,
    /// The target of a redirect, as in the `Location` field; it may be a relative reference.
    pub location: Option<Cow<'c, [u8]>>,
    /// The header fields about caching.
    pub caching: CachingHeaders,
    /// The decoded body of a 2xx answer, as far as it counts and at most a little more (see
    /// [`ReadConfig::body_bytes_max`]); otherwise empty.
    pub body: Cow<'c, [u8]>,
    /// What is odd.
    pub notes: CaptureNotes,
}

impl<'c> Capture<'c> {
    /// A capture without redirects or header fields.
    fn new(
        subject: Subject<'c>,
        captured_at: Option<UnixSeconds>,
        settled: Settled<'c>,
    ) -> Capture<'c> {
        let Settled { answer, body, notes } = settled;
        Capture {
            subject,
            captured_at,
            redirects_followed: 0,
            answer,
            location: None,
            caching: CachingHeaders::default(),
            body,
            notes,
        }
    }
}

/// What a capture is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Subject<'c> {
    /// The resource with this URL, as the archive has it. It may be the target of a redirect instead
    /// of a robots.txt.
    Url(&'c [u8]),
    /// The robots.txt of this host, which applies to http and https on their default ports unless a
    /// port follows the host.
    Host(&'c [u8]),
}

/// A record that could not be read, and was skipped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenRecord {
    /// Where it is: "line 12", "record at byte 4096".
    pub place: String,
    /// What is wrong with it, and the fix.
    pub problem: String,
    /// Whether the rest can be relied on without it.
    pub kind: BrokenKind,
}

impl BrokenRecord {
    /// A record that makes no sense.
    pub fn senseless(place: impl Into<String>, problem: impl Into<String>) -> BrokenRecord {
        BrokenRecord { place: place.into(), problem: problem.into(), kind: BrokenKind::Senseless }
    }

    /// A record that may make sense, but that the system would not give.
    pub fn unreadable(place: impl Into<String>, problem: impl Into<String>) -> BrokenRecord {
        BrokenRecord { place: place.into(), problem: problem.into(), kind: BrokenKind::Unreadable }
    }
}

/// What it means that a record could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BrokenKind {
    /// It is not what it should be. Count it, report it, go on.
    Senseless,
    /// The system would not give it: for example, a file of a folder that may not be opened. Going on
    /// would make a host unknown although it has a file, so compiling a set should stop.
    Unreadable,
}

/// How captures are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadConfig {
    /// Bytes of a robots.txt that count; all, if there is no limit.
    pub robots_bytes_max: Option<usize>,
}

impl ReadConfig {
    /// Bytes past the limit that are handed out too, so that the parser sees whether and where a line
    /// was cut: a line end is two bytes at most.
    const SEEN_PAST_MAX: usize = 2;

    /// Bytes of a body that are handed out.
    pub fn body_bytes_max(&self) -> usize {
        let asked = self
            .robots_bytes_max
            .map_or(usize::MAX, |max| max.saturating_add(ReadConfig::SEEN_PAST_MAX));
        asked.min(portcullis_dialect::limits::BODY_BYTES_MAX)
    }
}

/// Receives what is read.
pub trait CaptureSink {
    /// Receives a capture.
    fn capture(&mut self, capture: Capture<'_>);
    /// Receives a record that could not be read.
    fn broken(&mut self, broken: BrokenRecord);
}

/// Cuts one file into pieces.
pub trait BatchReader: Send {
    /// The next piece; `None` at the end.
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
    #[error("{name}: {}", system_text(source))]
    Unreadable {
        /// Its name.
        name: String,
        /// The system's error.
        source: std::io::Error,
    },
    /// It cannot be opened or read, its compression is damaged, or it holds no captures for sure.
    #[error(transparent)]
    Input(#[from] InputError),
    /// It is not a whole file of its format.
    #[error("{name}: {problem}")]
    NotThisFormat {
        /// Its name.
        name: String,
        /// What is wrong, and the fix.
        problem: String,
    },
}
