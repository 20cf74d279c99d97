//! How a set is compiled, what is compiled, and why it cannot be.

use portcullis_dialect::dialect::Dialect;
use portcullis_files::error::WriteError;
use portcullis_files::scratch::Scratch;
use portcullis_robots::syntax::NoteKind;
use portcullis_set::file::{ContentHash, SetError};
use portcullis_set::layout::NONE;
use portcullis_set::stored::PolicySet;

use crate::ingest::StandingCounts;

/// How to compile a set.
#[derive(Clone, Debug)]
pub struct CompileConfig {
    /// The dialect of the set.
    pub dialect: &'static Dialect,
    /// The maximum number of bytes that were read per file; `None` if there was no limit.
    pub robots_bytes_max: Option<usize>,
    /// A JSON object that says where the set comes from; stored unchanged.
    pub provenance: String,
    /// How much memory is used, and where the rest goes.
    pub scratch: Scratch,
}

impl CompileConfig {
    /// Creates a configuration with the default limits, in memory.
    pub fn new(dialect: &'static Dialect, robots_bytes_max: Option<usize>) -> CompileConfig {
        CompileConfig {
            dialect,
            robots_bytes_max,
            provenance: "{}".to_owned(),
            scratch: Scratch::in_memory(),
        }
    }
}

/// The set that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompiledSet {
    /// The size of the file, in bytes.
    pub bytes: u64,
    /// The hash of the content, which identifies the set.
    pub hash: ContentHash,
    /// The number of distinct policies.
    pub policies: u64,
    /// The number of distinct rule sets.
    pub rule_sets: u64,
    /// The number of captures whose file has each note of [`NoteKind::OF_FILES`].
    pub file_notes: [u64; NoteKind::OF_FILES.len()],
    /// Counts of hosts and origins.
    pub counts: StandingCounts,
}

/// An error that prevents a set from being compiled.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CompileError {
    /// The file cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// There is more than a set can hold.
    #[error("{0}")]
    TooMuch(String),
    /// The rule sets differ from the set that they are compared with, or cannot be compared.
    #[error(transparent)]
    Compared(#[from] SetError),
}

impl CompileError {
    /// Returns the error that a section would have more items than a set can number.
    pub(crate) fn too_many_items() -> CompileError {
        CompileError::TooMuch(format!(
            "too much for one set: a section would have more than {NONE} items; compile the input as \
             several sets"
        ))
    }

    /// Returns the error of compiling what is in `set`.
    pub(crate) fn of_set(self, set: &PolicySet) -> SetError {
        match self {
            CompileError::Compared(error) => error,
            CompileError::Write(error) => SetError::Scratch(error),
            _ => set.file().malformed_header("its content cannot be compiled").into(),
        }
    }
}
