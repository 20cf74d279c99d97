//! Archives of robots.txt: WARC, JSON Lines, CSV, Parquet, folders; each answer is one [`Capture`].
//!
//! A part of `portcullis`, whose crate has the stable API: this one may change in any version.
//!
//! A stored file is read into [`Capture`]s: its records are found, bodies decoded, irregularities
//! noted. `build` chooses among captures and resolves redirects;
//! [`access`](portcullis_robots::access) has the meaning of an answer. No code here decides a URL.
//!
//! Reading has two steps, so that one file can keep many threads busy. A [`BatchReader`] cuts a file
//! into batches, in order and cheaply. A [`Batch`] is read into captures, on any thread.
//!
//! | module | owns |
//! |---|---|
//! | [`warc`], [`json_lines`], [`csv`], [`parquet`], [`folder`] | the formats |
//! | [`json_path`], [`names`] | members of JSON objects by their paths, and the names that there are, for lists too |
//! | [`parquet::file`], [`parquet::group`], [`parquet::columns`] | opened files, bounded pages and typed values, for lists too |
//!
//! Cost: linear in the file; memory holds one batch per thread.
//!
//! A file that cannot be read is an [`InputError`](portcullis_files::input::InputError) that names it. An
//! invalid record is returned as a [`BrokenRecord`], and reading continues. An incomplete body makes the answer
//! [`Fetched::BrokenBody`](portcullis_dialect::Fetched::BrokenBody), because the missing part may hold rules
//! that disallow.
//!
//! ```
//! use portcullis_captures::{FieldMap, ReadConfig};
//!
//! let folder = tempfile::tempdir()?;
//! let file = folder.path().join("captures.jsonl");
//! std::fs::write(&file, r#"{"url": "https://a.example/robots.txt", "status": 200, "body": "Allow: /"}"#)?;
//! let mut reader = portcullis_captures::open(&file, None, &FieldMap::default())?;
//! let mut bodies = Vec::new();
//! while let Some(batch) = reader.next_batch()? {
//!     batch.read(&ReadConfig { robots_bytes_max: None }, &mut |read| match read {
//!         Ok(capture) => bodies.push(capture.body.into_owned()),
//!         Err(broken) => panic!("{}: {}", broken.place, broken.problem),
//!     });
//! }
//! assert_eq!(bodies, [b"Allow: /"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod body;
mod capture;
pub mod csv;
mod decoding;
mod escapes;
mod fields;
pub mod folder;
mod format;
mod history;
mod http;
mod inputs;
mod json;
pub mod json_lines;
pub mod json_path;
pub mod limits;
pub mod names;
#[cfg(feature = "parquet")]
pub mod parquet;
mod record;
mod schema;
#[cfg(test)]
mod tests;
mod text;
pub mod warc;
mod warc_record;
mod warc_targets;

pub use capture::{
    Batch, BatchReader, BrokenKind, BrokenRecord, Capture, CaptureSink, Confirms, LostCapture,
    PayloadNames, ReadConfig, Subject,
};
pub use escapes::check_file;
pub use format::{CaptureFormat, open};
pub use inputs::expand;
pub use schema::{CaptureField, FieldMap, FieldName};
