//! How a set is compiled, what is compiled, and why it cannot be.

use portcullis_dialect::dialect::Dialect;
use portcullis_files::error::WriteError;
use portcullis_files::scratch::Scratch;
use portcullis_set::file::{ContentHash, SetError};
use portcullis_set::layout::NONE;
use portcullis_set::limits::{SET_STRING_BYTES_MAX, SET_STRINGS_MAX, TIMELINE_INPUTS_MAX};
use portcullis_set::stored::PolicySet;

use crate::ingest::StandingCounts;
use crate::limits::SET_HOST_SEEDS_MAX;

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
    /// A line is longer than the strings of a set may be.
    #[error(
        "a line has {bytes} bytes, and a policy set keeps {SET_STRING_BYTES_MAX} of one at most; \
         set a limit with --max-robots-size"
    )]
    LongString {
        /// The length of the line, in bytes.
        bytes: usize,
    },
    /// There are more distinct lines than a set can number.
    #[error("there are more than {SET_STRINGS_MAX} distinct strings; compile several smaller sets")]
    TooManyStrings,
    /// There are more moments, or more inputs of moments, than a set can number.
    #[error(
        "too long a history: a set has at most {TIMELINE_INPUTS_MAX} inputs and {} moments; compile \
         the input as several sets",
        u32::MAX
    )]
    LongHistory,
    /// A section has more items than a set can number.
    #[error(
        "too much for one set: a section would have more than {} items; compile the input as several \
         sets",
        NONE
    )]
    TooLarge,
    /// The files repeat lines that are far longer than the set.
    #[error(
        "the lines of the files have {bytes} bytes together, because many files repeat long lines; a \
         set of this size may have {max}; leave out the hosts with such files"
    )]
    RepeatedLines {
        /// The bytes of the lines.
        bytes: u64,
        /// The most bytes that a set of this size may have.
        max: u64,
    },
    /// Hosts collide with every seed of the host table.
    #[error(
        "too many hosts have names that collide in the table of hosts, by each of \
         {SET_HOST_SEEDS_MAX} seeds; compile the input as several sets"
    )]
    CollidingHosts,
    /// The rule sets are not those of the set that they are compared with, or cannot be compared.
    #[error(transparent)]
    Compared(#[from] SetError),
}

impl CompileError {
    /// Returns the error of compiling what is in `set`.
    pub(crate) fn of_set(self, set: &PolicySet) -> SetError {
        match self {
            CompileError::Compared(error) => error,
            CompileError::Write(error) => SetError::Scratch(error),
            _ => set.file().malformed_header("its content cannot be compiled").into(),
        }
    }
}
