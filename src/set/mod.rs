//! Policies of many origins: what is known of whom, before it is compiled for an agent.
//!
//! Owns the files and the origins that they speak for. [`PolicySet::load`] reads one file, which
//! then speaks for every URL, or a folder of files named by host. To ask a set about URLs make a
//! [`Classifier`](crate::batch::Classifier) for the agents that matter.
//!
//! Cost: each file is read once, equal files are kept once. A file that cannot be read is an error
//! that names it, unless [`Strictness`] says otherwise; what a folder holds beside files named by
//! host is left out with a [`LoadNote`], and a file that looks like HTML, JSON or binary data is
//! read and has one.

pub mod compile;
mod difference;
mod file;
#[cfg(test)]
mod format_tests;
mod gather;
mod layout;
mod load;
mod pool;
mod provenance;
mod standing;
pub mod stored;
mod strings;
pub mod survey;

use crate::dialect::Dialect;

pub use difference::{Change, ChangeCounts, Changes, Difference, OriginChange, OriginState};
pub use file::{Damage, SetError, WriteError};
pub use gather::{
    GatherConfig, GatherError, GatherObserver, Gathered, Input, InputReport, Merger, OutageConfig,
    Part, Progress, StandingCounts, gather, merge,
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
