//! Errors of a set's file, and what to do about them.
//!
//! - [`SetError`]: a file cannot be opened.
//! - [`Damage`]: an opened file is damaged.
//!
//! Each names the file and the fix.

use std::fmt;
use std::io;
use std::sync::Arc;

use super::section::SectionKind;
use portcullis_files::error::{WriteError, system_text};
use portcullis_files::kind::WrongKind;

/// An error that prevents the use of a policy set.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SetError {
    /// The file cannot be opened or read.
    #[error("{name}: {}", system_text(error))]
    Open {
        /// The file.
        name: String,
        /// The system's error.
        error: io::Error,
    },
    /// The path is a folder, a pipe or a device, or the file does not begin like a set.
    #[error(transparent)]
    NotASet(#[from] WrongKind),
    /// The file is shorter than when it was written.
    #[error(
        "{name} is cut short: it has {has} bytes of {of}; \
         fetch the file again, or run `portcullis compile` again"
    )]
    Truncated {
        /// The file.
        name: String,
        /// The actual size, in bytes.
        has: u64,
        /// The minimum size of the whole file, in bytes.
        of: u64,
    },
    /// The file was converted or appended to, has no captures, or is for another version, dialect or
    /// machine.
    #[error("{name} {problem}")]
    Unusable {
        /// The file.
        name: String,
        /// The fault, and what to do.
        problem: String,
    },
    /// The bytes are not those that were written.
    #[error(transparent)]
    Damaged(#[from] Damage),
    /// A temporary file cannot be written or read.
    #[error(transparent)]
    Scratch(#[from] WriteError),
}

impl SetError {
    /// Returns the error that a file cannot be used, with what follows its name.
    #[cold]
    pub fn unusable(name: &str, problem: impl Into<String>) -> SetError {
        SetError::Unusable { name: name.to_owned(), problem: problem.into() }
    }
}

/// Bytes of a set's file that differ from the written ones, or that violate the format.
///
/// One pointer in size, so that a fallible lookup costs no more than an infallible one.
#[derive(Debug)]
pub struct Damage(Box<Details>);

#[derive(Debug)]
struct Details {
    name: Arc<str>,
    place: FilePart,
    offset: u64,
    fault: Fault,
}

/// A part of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilePart {
    /// The header.
    Header,
    /// A section.
    Section(SectionKind),
    /// Between sections, or after the last one.
    Padding,
    /// The checksums of blocks.
    Checksums,
}

/// The kind of damage.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// The checksum of a block does not match.
    #[error("the checksum of the block is {found:016x}, expected {expected:016x}")]
    Checksum { expected: u64, found: u64 },
    /// A reference leads outside of its section.
    #[error("a reference to {bytes} bytes there is out of bounds: the section has {has} in all")]
    OutOfBounds { bytes: u64, has: u64 },
    /// The bytes violate the format.
    #[error("{0}")]
    Malformed(&'static str),
    /// The file became shorter while it was mapped.
    #[error("became shorter while it was in use")]
    Shrunk,
    /// The file was written to while it was mapped.
    #[error("was written to while it was in use")]
    Rewritten,
}

impl Damage {
    #[cold]
    pub fn new(name: &Arc<str>, place: FilePart, offset: u64, fault: Fault) -> Damage {
        Damage(Box::new(Details { name: Arc::clone(name), place, offset, fault }))
    }

    /// Returns the offset of the damage in the file, in bytes. For a block with a wrong checksum,
    /// this is its first byte.
    pub fn offset(&self) -> u64 {
        self.0.offset
    }

    /// Returns the part of the file that is damaged.
    pub fn place(&self) -> FilePart {
        self.0.place
    }
}

impl std::error::Error for Damage {}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Details { name, place, offset, fault } = &*self.0;
        if let Fault::Shrunk | Fault::Rewritten = fault {
            return write!(f, "{name} {fault}; run again when nothing writes to it");
        }
        write!(
            f,
            "{name} is damaged in its {place}, at byte {offset}: {fault}; \
             run `portcullis compile` again, or fetch the file again"
        )
    }
}

impl fmt::Display for FilePart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FilePart::Header => f.write_str("header"),
            FilePart::Section(kind) => kind.fmt(f),
            FilePart::Padding => f.write_str("padding"),
            FilePart::Checksums => f.write_str("checksums"),
        }
    }
}
