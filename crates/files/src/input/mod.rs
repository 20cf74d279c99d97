//! Reads a mapped file, a file, a pipe, gzip or zstd, in chunks of whole records.
//!
//! This module opens inputs ([`Source`]), decompresses them, and cuts them at record ends
//! ([`TextChunks`]). It knows where records end ([`Framing`]), and nothing else of what they say.
//!
//! The same bytes give the same chunks, however they arrive. An input is decompressed if its first
//! bytes show a compression, and held in memory one chunk at a time. A regular uncompressed file can be mapped
//! instead ([`Source::mapped`]) and is then never copied.
//!
//! Cost: one `memrchr` per chunk for a mapping, one read and a copy of part of a record per chunk for a
//! stream. Memory: a stream holds one chunk, or one record up to
//! [`RECORD_BYTES_MAX`](crate::limits::RECORD_BYTES_MAX).
//!
//! Errors ([`InputError`]) name the input and the fix. A compressed input that is cut short or
//! damaged is an error after the whole records before the damage, never a shorter list.

mod delimited;
mod framing;
mod json_items;
mod mapping;
mod robots;
mod source;
mod stage;
mod text;
mod utf16;

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use crate::error::system_text;
use crate::kind::{FileKind, Wanted, WrongKind};
use crate::limits::ZSTD_WINDOW_LOG_MAX;

pub use crate::compression::{Coding, plain_extension};
pub use crate::error::STANDARD_INPUT;
pub use delimited::{
    Field, Fields, QuoteProblem, Separator, first_row, is_column_name, stands_for_none,
};
pub use framing::{Framing, Terminator, dump_record, quoted_end};
pub use json_items::{JsonItem, JsonItems};
pub use robots::{fill_robots_txt, read_robots_txt};
pub use source::Source;
pub use stage::{Stage, StageLines};
pub use text::{ChunkConfig, TextChunk, TextChunks};

/// An input that cannot be read to its end. Each error names the input.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InputError {
    /// The file cannot be opened, or is not a file.
    #[error("{name}: {}", system_text(error))]
    Open {
        /// The file.
        name: String,
        /// The system's error.
        error: io::Error,
    },
    /// The file is surely of another type.
    #[error(transparent)]
    WrongKind(#[from] WrongKind),
    /// The system failed to deliver the bytes.
    #[error("cannot read {name} to its end; what was read before is complete records")]
    Read {
        /// The input.
        name: String,
        /// The system's error.
        source: io::Error,
    },
    /// A compressed input ends before its own end mark.
    #[error(
        "{name} is cut short: its {coding} data has no end; fetch it again or finish writing it"
    )]
    Truncated {
        /// The input.
        name: String,
        /// How it is compressed.
        coding: Coding,
    },
    /// A compressed input cannot be decompressed, or not within the limits.
    #[error(
        "cannot decompress {name}: its {coding} data is damaged or asks for too much memory; \
         fetch it again, or decompress it with another program"
    )]
    Damaged {
        /// The input.
        name: String,
        /// How it is compressed.
        coding: Coding,
        /// The decompressor's error.
        source: io::Error,
    },
    /// A zstd file needs more memory than the limit.
    #[error(
        "{name}: its zstd window is larger than {} MiB (zstd --long); decompress it first: \
         zstd -d --long=31 FILE",
        1_u64 << (ZSTD_WINDOW_LOG_MAX - 20)
    )]
    Window {
        /// The input.
        name: String,
    },
    /// A file was changed while it was read.
    #[error("{name} {change} while it was read; run again when nothing writes to it")]
    Changed {
        /// The file.
        name: String,
        /// The change: it became shorter, or was written to and is as long as before.
        change: &'static str,
    },
    /// A record is longer than the limit.
    #[error(
        "{name}: no record end within {bytes_max} bytes after byte {offset}; is this a list? \
         (set ‹null_data› only for records that end with NUL; an open quote swallows the rest of a CSV)"
    )]
    RecordTooLong {
        /// The input.
        name: String,
        /// The offset of the record, counted from 0 after decompression.
        offset: u64,
        /// The most bytes that a record may have.
        bytes_max: usize,
    },
    /// A list lacks the named column or field, or cannot be read as it is.
    #[error("{name}: {problem}")]
    List {
        /// The input.
        name: String,
        /// The fault, and the fix.
        problem: String,
    },
    /// A damaged table whose fields may have passed for rows before the damage.
    #[error(
        "{0}; a field before it has \\\", so rows may be parts of fields: none of them is read"
    )]
    Forgeable(Box<InputError>),
}

impl InputError {
    /// The file called `name` cannot be opened.
    pub fn open(name: impl AsRef<Path>, error: impl Into<io::Error>) -> InputError {
        InputError::Open { name: name.as_ref().display().to_string(), error: error.into() }
    }

    /// The input called `name` cannot be read as it is. If it is called compressed and is not, the problem says
    /// so.
    pub fn list(name: impl AsRef<Path>, problem: impl Into<String>) -> InputError {
        let (name, mut problem) = (name.as_ref(), problem.into());
        if let Some(coding) = Coding::from_file_name(name).filter(|_| is_plain(name)) {
            let ending = name.extension().unwrap_or_default().display();
            problem = format!(
                "not {coding}, though its name ends in .{ending} (fetch it again, or rename it); {problem}"
            );
        }
        InputError::List { name: name.display().to_string(), problem }
    }

    /// The input called `name` is surely of another kind than the one that is wanted.
    pub fn wrong_kind(name: impl Into<String>, kind: FileKind, wanted: Wanted) -> InputError {
        WrongKind { name: name.into(), kind, wanted }.into()
    }

    /// Whether the bytes are at fault, and neither the system that delivers them nor a limit.
    pub fn is_damage(&self) -> bool {
        use InputError::{Damaged, Forgeable, List, Truncated};
        matches!(self, Truncated { .. } | Damaged { .. } | List { .. } | Forgeable(_))
    }
}

/// Whether a file is not compressed. False if it cannot be read.
fn is_plain(path: &Path) -> bool {
    let mut first = [0; 4];
    // A pipe would wait for its writer.
    let read = path.is_file().then(|| File::open(path)?.read(&mut first));
    read.and_then(io::Result::ok).is_some_and(|bytes| {
        let kind = FileKind::from_list(&first[..bytes]);
        !matches!(kind, FileKind::Gzip | FileKind::Zstd | FileKind::Empty)
    })
}
