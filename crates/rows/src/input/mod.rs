//! The chunks of a list and the records in them.
//!
//! [`portcullis_files`] opens and cuts bytes; what readers of lists need of it is here too.
//! [`Chunks`] detects the format of an input and cuts it, as text or as rows of a Parquet file.
//! [`Records`] splits a chunk of text. Use [`list`](crate::list) for formats and for the URL in a
//! record.
//!
//! ```
//! use portcullis_rows::input::{ChunkConfig, Chunks, Records, Source, Terminator};
//! use portcullis_rows::list::ListConfig;
//!
//! let list: &[u8] = b"https://a.example/\r\nhttps://b.example/";
//! let source = Source::from_reader("a list", list);
//! for chunk in Chunks::new(source, ChunkConfig::default(), ListConfig::default()) {
//!     let chunk = chunk?;
//!     let mut records = Records::new(&chunk, Terminator::LineFeed);
//!     let first = records.next().unwrap();
//!     assert_eq!(first.text(), b"https://a.example/");
//!     assert_eq!(first.end(), b"\r\n");
//!     assert_eq!(records.next().unwrap().whole(), b"https://b.example/");
//! }
//! # Ok::<(), portcullis_rows::input::InputError>(())
//! ```

mod chunks;
mod records;
#[cfg(test)]
pub(crate) mod tests;

pub use chunks::{Chunk, Chunks};
pub use portcullis_files::input::{
    ChunkConfig, Framing, InputError, STANDARD_INPUT, Source, Terminator, TextChunk,
};
pub use records::{Record, Records};
