//! What can be wrong with a set's file, and what to do about it.
//!
//! [`SetError`] is why a file cannot be opened, [`Damage`] what was found in one that could be, and
//! [`WriteError`] why one could not be written. Each names the file and the fix.

use std::fmt;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::section::SectionKind;
use portcullis_capture::input::system_text;
use portcullis_robots::kind::WrongKind;

/// A policy set cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SetError {
    /// The file cannot be opened, or not be read.
    #[error("{name}: {}", system_text(error))]
    Open {
        /// The file.
        name: String,
        /// What the system says.
        error: io::Error,
    },
    /// It is a folder, a pipe or a device, or does not begin as a set does.
    #[error(transparent)]
    NotASet(#[from] WrongKind),
    /// It begins as a set does that was converted as if it were text.
    #[error(
        "{name} is a policy set that was changed on its way as if it were text; \
         fetch the file again, as binary data"
    )]
    ChangedAsText {
        /// The file.
        name: String,
    },
    /// It is shorter than it was made.
    #[error(
        "{name} is cut short: it has {has} bytes of {of}; \
         fetch the file again, or run `portcullis compile` again"
    )]
    Truncated {
        /// The file.
        name: String,
        /// Bytes that it has.
        has: u64,
        /// Bytes that it should have, at least.
        of: u64,
    },
    /// It is longer than it was made.
    #[error(
        "{name} has {has} bytes where its header gives {of}: something was written behind it; \
         fetch the file again, or run `portcullis compile` again"
    )]
    TooLong {
        /// The file.
        name: String,
        /// Bytes that it has.
        has: u64,
        /// Bytes that it should have.
        of: u64,
    },
    /// Its format is of a time to come.
    #[error(
        "{name} was made by a newer portcullis (format {version}, this one reads up to {newest}): \
         update portcullis"
    )]
    Newer {
        /// The file.
        name: String,
        /// The version of its format.
        version: u32,
        /// The newest version that this program reads.
        newest: u32,
    },
    /// Its format is not read any more.
    #[error(
        "{name} was made by an older portcullis (format {version}, this one reads from {oldest} on): \
         run `portcullis compile` again"
    )]
    Older {
        /// The file.
        name: String,
        /// The version of its format.
        version: u32,
        /// The oldest version that this program reads.
        oldest: u32,
    },
    /// The machine's numbers have the other order.
    #[error(
        "{name} cannot be used here: policy sets are used in place, and this machine is big-endian; \
         use --robots, or a little-endian machine"
    )]
    BigEndian {
        /// The file.
        name: String,
    },
    /// Its dialect is none that this version knows, or behaves otherwise now.
    #[error(
        "{name} was compiled for the dialect {dialect} as this version does not know it: \
         run `portcullis compile` again"
    )]
    OtherDialect {
        /// The file.
        name: String,
        /// The dialect's name.
        dialect: String,
    },
    /// Its bytes are not those that were written.
    #[error(transparent)]
    Damaged(#[from] Damage),
}

/// Bytes of a set's file that are not as they were written, or not as the format has them.
///
/// It is one pointer, so that a look-up that can fail costs no more than one that cannot.
#[derive(Debug)]
pub struct Damage(Box<Details>);

#[derive(Debug)]
struct Details {
    name: Arc<str>,
    place: Place,
    offset: u64,
    fault: Fault,
}

/// Which part of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Header,
    Section(SectionKind),
    /// Between sections, or behind the last one.
    Padding,
    Checksums,
}

/// What is wrong there.
#[derive(Debug)]
pub enum Fault {
    /// A block has another checksum than it had when it was written.
    Checksum { expected: u64, found: u64 },
    /// Something refers to bytes that the section does not have.
    OutOfBounds { bytes: u64, has: u64 },
    /// The bytes are not what the format has there.
    Malformed(&'static str),
    /// The file became shorter while it was mapped.
    Shrunk,
}

impl Damage {
    #[cold]
    pub fn new(name: &Arc<str>, place: Place, offset: u64, fault: Fault) -> Damage {
        Damage(Box::new(Details { name: Arc::clone(name), place, offset, fault }))
    }

    /// Where it is, in bytes from the beginning of the file: of a block with a wrong checksum, its
    /// first.
    pub fn offset(&self) -> u64 {
        self.0.offset
    }

    #[cfg(test)]
    pub fn place(&self) -> Place {
        self.0.place
    }
}

impl std::error::Error for Damage {}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Details { name, place, offset, fault } = &*self.0;
        if let Fault::Shrunk = fault {
            return write!(f, "{name} {fault}; run again when nothing writes to it");
        }
        write!(
            f,
            "{name} is damaged in its {place}, at byte {offset}: {fault}; \
             run `portcullis compile` again, or fetch the file again"
        )
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Header => f.write_str("header"),
            Place::Section(kind) => kind.fmt(f),
            Place::Padding => f.write_str("padding"),
            Place::Checksums => f.write_str("checksums"),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Checksum { expected, found } => {
                write!(f, "the checksum of the block is {found:016x}, expected {expected:016x}")
            }
            Fault::OutOfBounds { bytes, has } => {
                write!(f, "{bytes} bytes are referred to there, and the section has {has} in all")
            }
            Fault::Malformed(what) => f.write_str(what),
            Fault::Shrunk => f.write_str("became shorter while it was in use"),
        }
    }
}

/// A policy set could not be written. Nothing of it is left, and what stood there before still does.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}: {}", path.display(), fix(.source))]
pub struct WriteError {
    path: PathBuf,
    source: io::Error,
}

impl WriteError {
    pub(super) fn new(path: &Path, source: io::Error) -> WriteError {
        WriteError { path: path.to_owned(), source }
    }

    /// What the system said.
    pub fn kind(&self) -> ErrorKind {
        self.source.kind()
    }
}

fn fix(error: &io::Error) -> &'static str {
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            "make room, or choose another place for it"
        }
        ErrorKind::FileTooLarge => "lift the limit on the size of files (ulimit -f)",
        ErrorKind::NotFound => "create its folder first",
        ErrorKind::InvalidInput => "a set replaces regular files only; give it a name of its own",
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            "choose a place that you may write to"
        }
        _ => "check the place that it goes to",
    }
}
