//! From captures to the file of a policy set.
//!
//! A part of `portcullis`, whose crate has the stable API: this one may change in any version.
//!
//! ```text
//! archives ─ ingest ─▶ sort ┐                                    ┌▶ writer ─▶ file
//! sets ─ logs in order ─────┴▶ settle ─▶ hosts ─▶ compile ─▶ sections
//!                                                                └▶ compared with a set
//! ```
//!
//! There are three ways to get a set:
//!
//! - [`load`](fn@load), [`load_text`] and [`load_files`] compile robots.txt files into memory.
//! - [`ingest`](fn@ingest) and [`compile`] write a file from captures in archives.
//! - [`Sources`] joins sets and archives.
//!
//! [`verify`](fn@verify) compares a set with what its own content compiles to. `portcullis-set` reads
//! and asks what this crate writes.
//!
//! Cost: compiling parses each distinct file once. Every error says what to do: [`LoadError`],
//! [`IngestError`], [`CompileError`](compile::CompileError) and [`MergeError`].

pub mod compile;
mod hosts;
mod ingest;
pub mod limits;
mod load;
mod merging;
mod pool;
mod provenance;
mod recent;
mod sources;
mod standing;
mod strings;
#[cfg(test)]
mod tests;
mod verify;
mod writer;

pub use hosts::Standings;
pub use ingest::{
    IngestConfig, IngestError, IngestObserver, Ingested, Input, Merger, Progress, StandingCounts,
    Strictness, ingest, settle_of, two_names,
};
pub use load::{
    LoadConfig, LoadError, LoadNote, LoadNoteKind, Loaded, load, load_files, load_text, read_text,
};
pub use merging::{MergeError, SettleChoice, settled};
pub use pool::{BlobID, BlobPool, Fingerprint};
pub use provenance::{InputReport, Provenance, SettleConfig};
pub use sources::{OpenSet, SourceSet, Sources, starts_like_a_set};
pub use standing::{Content, HostStanding, Leads, Resources, Standing, Timeline, TimelineCapture};
pub use verify::{Verified, verify};
