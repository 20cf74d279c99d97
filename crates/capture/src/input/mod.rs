//! Bytes of a URL list: from a mapped file, a pipe, gzip or zstd, cut into chunks and records.
//!
//! Owns opening ([`Source`]), decompression, cutting at record ends ([`Chunks`]) and splitting
//! ([`Records`]). It knows nothing about URLs, fields or verdicts; `batch` feeds its chunks to the
//! threads that classify, and whoever wants one plain stream of bytes (a WARC or JSON Lines reader)
//! takes [`Source::into_reader`].
//!
//! An input is a stream, decompressed if its first bytes say so, and held a chunk at a time. A
//! regular uncompressed file can be mapped instead, and is never copied then; that is the caller's
//! decision ([`OpenConfig::mapped`]). Either way the same bytes give the same
//! chunks, so that nothing downstream depends on how a file was opened.
//!
//! Cost: one `memrchr` a chunk for a mapping, one read and a copy of part of a record a chunk for a
//! stream, one `memchr` pass for the records. Memory: a stream holds one chunk, or one record up to
//! [`RECORD_BYTES_MAX`](portcullis_dialect::limits::RECORD_BYTES_MAX).
//!
//! What can fail is in [`InputError`], which names the input and what to do. A compressed input that
//! is cut short or damaged is an error after the whole records before the damage, never a shorter
//! list.
//!
//! ```
//! use portcullis_capture::input::{ChunkConfig, OpenConfig, Records, Source, Terminator};
//!
//! let list: &[u8] = b"https://a.example/\r\nhttps://b.example/";
//! let source = Source::from_reader("a list", list, OpenConfig::default());
//! for chunk in source.chunks(ChunkConfig::default()) {
//!     let chunk = chunk?;
//!     let mut records = Records::new(&chunk, Terminator::LineFeed);
//!     let first = records.next().unwrap();
//!     assert_eq!(first.text(), b"https://a.example/");
//!     assert_eq!(first.end(), b"\r\n");
//!     assert_eq!(records.next().unwrap().whole(), b"https://b.example/");
//! }
//! # Ok::<(), portcullis_capture::input::InputError>(())
//! ```

mod chunks;
mod decompress;
mod dictionary;
mod error;
mod ingest;
mod mapping;
mod reader;
mod records;
mod robots;
mod source;
mod stream;
#[cfg(test)]
mod tests;

pub use chunks::{Chunk, ChunkConfig, Chunks};
pub use decompress::Encoding;
pub use error::{InputError, system_text};
pub use reader::SourceReader;
pub use records::{Record, Records, Terminator};
pub use robots::fill_robots_txt;
pub use robots::{read_robots_txt, read_robots_txt_from};
pub use source::{OpenConfig, Source};
