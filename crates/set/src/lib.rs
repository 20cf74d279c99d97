//! Policies of many origins: the file that holds them, its view, and asking it.
//!
//! A part of `portcullis`, whose crate has the stable API: this one may change in any version.
//!
//! Owns the compiled form, [`PolicySet`]: one sequence of bytes, in memory or mapped from a file.
//! `portcullis-build` compiles one, and [`PolicySet::open`] reads it.
//!
//! To query a set about URLs, make a [`Classifier`](crate::batch::Classifier) for the agents that
//! matter, and a [`Session`](crate::batch::Session) for each thread. `portcullis-survey` compares two
//! sets, and describes what one contains.
//!
//! Cost: opening reads a header. Every error says what to do: [`SetError`], and [`Damage`] wherever
//! the bytes of a set are read.

#[cfg(target_endian = "big")]
compile_error!("policy sets are used in place, and their numbers are little-endian");

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
