//! Policies of many origins: read, compiled, opened, compared and inspected.
//!
//! Owns the compiled form, [`PolicySet`]: one sequence of bytes, in memory or mapped from a file. There are
//! three ways to one. [`PolicySet::load`] compiles robots.txt files into memory; [`ingest`](fn@ingest) and
//! [`compile`] make a file of what archives captured; [`PolicySet::open`] reads such a file. To ask a set about
//! URLs make a [`Classifier`](crate::batch::Classifier) for the agents that matter; to see what is in it use
//! [`stats`], and [`Difference`] to see what changed.
//!
//! Cost: opening reads a header; compiling parses each distinct file once. What can fail says what to do:
//! [`LoadError`], [`IngestError`], [`SetError`], and [`Damage`] wherever bytes of a set are used.

pub mod atomic_file;
pub mod batch;
pub mod compile;
mod difference;
mod file;
#[cfg(test)]
mod format_tests;
mod ingest;
mod large_pages;
mod layout;
mod load;
mod pool;
mod provenance;
mod standing;
pub mod stats;
pub mod stored;
mod strings;

use portcullis_dialect::dialect::Dialect;

pub use difference::{Change, ChangeCounts, Changes, Difference, OriginChange, OriginState};
pub use file::{Damage, SetError, WriteError};
pub use ingest::{
    IngestConfig, IngestError, IngestObserver, Ingested, Input, InputReport, Merger, OutageConfig,
    Part, Progress, StandingCounts, ingest, merge,
};
pub use load::{LoadConfig, LoadError, LoadNote, LoadNoteKind, Loaded, read_text};
pub use pool::{BlobID, BlobPool};
pub use provenance::{Provenance, ProvenanceInput};
pub use standing::{CaptureFacts, Content, HostStanding, Standing};
pub use stored::PolicySet;
pub use strings::StringError;

/// How much may be wrong with what is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strictness {
    /// What cannot be read is left out, with a note.
    Lenient,
    /// What cannot be read is an error; what makes no sense is left out, with a note.
    #[default]
    Usual,
    /// Every note is an error: files that are left out, and files that are HTML, JSON or no text.
    Strict,
}

/// A number that differs where a dialect's behaviour does. What it cites does not count.
fn fingerprint(dialect: &Dialect) -> u64 {
    let Dialect { lines, groups, paths, access, .. } = dialect;
    xxhash_rust::xxh3::xxh3_64(format!("{lines:?}{groups:?}{paths:?}{access:?}").as_bytes())
}
