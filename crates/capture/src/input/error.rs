//! What can go wrong between a name and its bytes.

use std::io;

use super::decompress::Encoding;
use portcullis_robots::kind::WrongKind;

/// An input that cannot be read to its end. Each names the input.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InputError {
    /// The file cannot be opened, or is no file.
    #[error("{name}: {}", system_text(error))]
    Open {
        /// The file.
        name: String,
        /// What the system says.
        error: io::Error,
    },
    /// The file is surely of another kind than what is read.
    #[error(transparent)]
    WrongKind(#[from] WrongKind),
    /// The system failed to deliver the bytes.
    #[error("cannot read {name} to its end; what was read before is complete records")]
    Read {
        /// The input.
        name: String,
        /// What the system says.
        source: io::Error,
    },
    /// A compressed input ends before its own end mark.
    #[error(
        "{name} is cut short: its {encoding} data has no end; fetch it again or finish writing it"
    )]
    Truncated {
        /// The input.
        name: String,
        /// How it is compressed.
        encoding: Encoding,
    },
    /// A compressed input does not decompress, or not within the limits.
    #[error(
        "cannot decompress {name}: its {encoding} data is damaged or asks for too much memory; \
         fetch it again, or decompress it with another program"
    )]
    Damaged {
        /// The input.
        name: String,
        /// How it is compressed.
        encoding: Encoding,
        /// What the decompressor says.
        source: io::Error,
    },
    /// A mapped file became shorter while it was read.
    #[error("{name} became shorter while it was read; run again when nothing writes to it")]
    Shrunk {
        /// The file.
        name: String,
    },
    /// A record is longer than can be held.
    #[error(
        "{name}: the record at byte {offset} is longer than {bytes_max} bytes; \
         is this a list, and are its records ended as you say (a line feed, or NUL)?"
    )]
    RecordTooLong {
        /// The input.
        name: String,
        /// Where the record begins, counted from 0 after decompression.
        offset: u64,
        /// The most that a record may have.
        bytes_max: usize,
    },
    /// A compressed robots.txt is longer than can be held.
    #[error("{name}: longer than {bytes_max} bytes after decompression; set --max-robots-size")]
    TooLong {
        /// The file.
        name: String,
        /// The most that it may have.
        bytes_max: usize,
    },
}

impl InputError {
    /// The input that the error is about: its path, or `standard input`.
    pub fn name(&self) -> &str {
        match self {
            InputError::Open { name, .. }
            | InputError::Read { name, .. }
            | InputError::Truncated { name, .. }
            | InputError::Damaged { name, .. }
            | InputError::Shrunk { name }
            | InputError::TooLong { name, .. }
            | InputError::WrongKind(WrongKind { name, .. })
            | InputError::RecordTooLong { name, .. } => name,
        }
    }
}

/// What the system says of an error, for a message: "no such file or directory".
pub fn system_text(error: &io::Error) -> String {
    let text = error.to_string();
    // The number says nothing to whoever reads it.
    let text = text.split(" (os error ").next().unwrap_or(&text);
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_ascii_lowercase());
    first.into_iter().chain(letters).collect()
}
