//! Policies of many origins: compiling, opening, querying, comparing and inspecting them.
//!
//! Owns the compiled form, [`PolicySet`]: one sequence of bytes, in memory or mapped from a file.
//! There are three ways to get one:
//!
//! - [`PolicySet::load`] compiles robots.txt files into memory.
//! - [`ingest`](fn@ingest) and [`compile`] write a file from captures in archives.
//! - [`PolicySet::open`] reads such a file.
//!
//! To query a set about URLs, make a [`Classifier`](crate::batch::Classifier) for the agents that
//! matter, and a [`Session`](crate::batch::Session) for each thread. To compare two sets, use
//! [`Difference`]; `portcullis-survey` describes what one contains.
//!
//! Cost: opening reads a header; compiling parses each distinct file once. Every error says what to
//! do: [`LoadError`], [`IngestError`], [`SetError`], and [`Damage`] wherever the bytes of a set are
//! read.

pub mod batch;
mod codec;
pub mod compile;
mod difference;
mod file;
#[cfg(test)]
mod format_tests;
mod ingest;
mod layout;
pub mod limits;
pub mod lists;
mod load;
mod pool;
mod provenance;
mod standing;
pub mod stored;
mod strings;

pub use difference::{
    Change, ChangeCounts, Changes, Difference, OriginChange, OriginState, UsageChange,
};
pub use file::{Damage, SetError, lose_set_mapped_at};
pub use ingest::{
    IngestConfig, IngestError, IngestObserver, Ingested, Input, InputReport, OutageConfig, Part,
    Progress, StandingCounts, ingest, merge,
};
pub use load::{LoadConfig, LoadError, LoadNote, LoadNoteKind, Loaded, read_text};
pub use pool::{BlobID, BlobPool, Fingerprint};
pub use provenance::Provenance;
pub use standing::{CaptureFacts, Content, HostReader, HostStanding, Hosts, Standing, Standings};
pub use stored::{MergeError, MergeSettings, PolicySet, ReadBackError};
pub use strings::StringError;

/// How strictly bad input is treated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strictness {
    /// Unreadable input is skipped, with a note.
    Lenient,
    /// Unreadable input is an error; malformed input is skipped, with a note.
    #[default]
    Usual,
    /// Every note is an error: skipped files, captures that are left out, and files that are cut,
    /// HTML, JSON or binary.
    Strict,
}
