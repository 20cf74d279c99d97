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
pub mod file;
#[cfg(test)]
mod format_tests;
pub mod layout;
pub mod limits;
pub mod lists;
pub mod stored;
pub mod strings;

pub use file::{Damage, SetError, lose_set_mapped_at};
pub use stored::{CaptureFacts, PolicySet};
