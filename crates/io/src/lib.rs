//! Files in and out: lists of URLs, rows with added columns, archived answers to `GET /robots.txt`.
//!
//! No code here decides a URL. Use `set` to decide, and `report` for what was decided.
//!
//! | module | owns |
//! |---|---|
//! | [`input`] | opening, mapping, decompressing; chunks that end at records |
//! | [`list`] | the formats of lists; [`Rows`](list::Rows), the records of a chunk, from text or Parquet |
//! | [`output`] | the added columns, and rows as TSV, CSV or Parquet |
//! | [`runner`] | chunks in, outputs out, in order, on any number of threads |
//! | [`sitemap`] | sitemaps as lines: a stage between decompression and lists |
//! | the others | archives: WARC, JSON Lines, Parquet, folders |
//!
//! # Archives
//!
//! A stored file is read into [`Capture`]s: its records are found, bodies decoded, irregularities
//! noted. `set` chooses among captures and resolves redirects;
//! [`access`](portcullis_robots::access) has the meaning of an answer. Reading has two steps, so that one file can keep many threads busy. A [`BatchReader`] cuts
//! a file into batches, in order and cheaply. A [`Batch`] is read into captures, on any thread.
//!
//! Cost: linear in the file; memory holds one batch per thread.
//!
//! A file that cannot be read is a [`CaptureError`] that names it. An invalid record is returned as
//! a [`BrokenRecord`], and reading continues. An incomplete body makes the answer
//! [`Answer::BrokenBody`], because the missing part may hold rules that disallow.
//!
//! ```
//! use portcullis_io::{BrokenRecord, Capture, CaptureConfig, CaptureSink, ReadConfig};
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
//! let mut reader = portcullis_io::open(&file, None, &CaptureConfig::default())?;
//! let mut bodies = Bodies::default();
//! while let Some(batch) = reader.next_batch()? {
//!     batch.read(&ReadConfig { robots_bytes_max: None }, &mut bodies);
//! }
//! assert_eq!(bodies.0, [b"Allow: /"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod body;
mod compression;
mod fields;
pub mod folder;
mod format;
mod http;
pub mod input;
pub mod json_lines;
mod json_path;
pub mod limits;
pub mod list;
pub mod output;
pub mod parquet;
mod parquet_columns;
mod parquet_file;
mod parquet_group;
mod parquet_pages;
mod record;
pub mod runner;
mod schema;
pub mod sitemap;
#[cfg(test)]
mod tests;
pub mod warc;
mod warc_record;

use std::borrow::Cow;

use crate::input::InputError;
use portcullis_dialect::Answer;
use portcullis_files::error::system_text;
use portcullis_robots::access::{CachingHeaders, CaptureNotes, UnixSeconds};

use body::Settled;
pub use format::{CaptureConfig, CaptureFormat, open};
pub use schema::{CaptureField, FieldMap, FieldName};

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
    pub answer: Answer,
    /// The target of a redirect, as in the `Location` field; it may be a relative reference.
    pub location: Option<Cow<'c, [u8]>>,
    /// The header fields about caching.
    pub caching: CachingHeaders,
    /// The decoded body of a 2xx answer, up to a little past the size limit (see
    /// [`ReadConfig::body_bytes_max`]). Empty for other answers.
    pub body: Cow<'c, [u8]>,
    /// Notes on irregularities.
    pub notes: CaptureNotes,
}

impl<'c> Capture<'c> {
    /// Returns a capture without redirects or header fields.
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

/// The resource that a capture is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Subject<'c> {
    /// The resource with this URL, as spelled in the archive. It may be the target of a redirect
    /// instead of a robots.txt.
    Url(&'c [u8]),
    /// The robots.txt of this host. It applies to http and https on their default ports, unless a
    /// port follows the host.
    Host(&'c [u8]),
}

/// A record that could not be read and was skipped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenRecord {
    /// The place of the record: "line 12", "record at byte 4096".
    pub place: String,
    /// The problem and its fix.
    pub problem: String,
    /// Whether the other records can be relied on without this one.
    pub kind: BrokenKind,
}

impl BrokenRecord {
    /// Returns a malformed record.
    pub fn senseless(place: impl Into<String>, problem: impl Into<String>) -> BrokenRecord {
        BrokenRecord { place: place.into(), problem: problem.into(), kind: BrokenKind::Senseless }
    }

    /// Returns a record that may be valid but that the system could not read.
    pub fn unreadable(place: impl Into<String>, problem: impl Into<String>) -> BrokenRecord {
        BrokenRecord { place: place.into(), problem: problem.into(), kind: BrokenKind::Unreadable }
    }
}

/// The reason why a record could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BrokenKind {
    /// The record is malformed. Count it, report it and continue.
    Senseless,
    /// The system could not read the record: for example, a file in a folder without read
    /// permission. Continuing would make a host unknown although it has a file, so compiling a set
    /// should stop.
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

/// Receives captures and broken records.
pub trait CaptureSink {
    /// Receives a capture.
    fn capture(&mut self, capture: Capture<'_>);
    /// Receives a record that could not be read.
    fn broken(&mut self, broken: BrokenRecord);
}

/// Cuts one file into batches.
pub trait BatchReader: Send {
    /// Returns the next batch, or `None` at the end.
    ///
    /// # Errors
    ///
    /// If the file cannot be read to its end.
    fn next_batch(&mut self) -> Result<Option<Box<dyn Batch>>, CaptureError>;
}

/// A batch of records in a file.
pub trait Batch: Send {
    /// Returns the bytes of the stored file that the batch covers, for progress.
    fn stored_bytes(&self) -> u64;

    /// Reads the captures and passes them to `sink`, in order.
    fn read(&self, config: &ReadConfig, sink: &mut dyn CaptureSink);
}

/// A file of captures that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// The file cannot be opened or read to its end.
    #[error("{name}: {}", system_text(source))]
    Unreadable {
        /// The name of the file.
        name: String,
        /// The system's error.
        source: std::io::Error,
    },
    /// The file cannot be opened or read, its compression is damaged, or it surely holds no
    /// captures.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The file is not a complete file of its format.
    #[error("{name}: {problem}")]
    NotThisFormat {
        /// The name of the file.
        name: String,
        /// The problem and its fix.
        problem: String,
    },
}
