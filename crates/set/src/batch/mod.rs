//! Bulk decisions: classifying records, and running a whole input through a classifier.
//!
//! - [`Classifier`] maps records of a list to one decision per agent. It does no I/O, holds no
//!   global state, and is shared by threads, each with its own [`ClassifierMemory`].
//! - [`Session`] holds a classifier and the memory of one thread.
//! - [`runner`] splits sources into chunks, hands the chunks to threads and returns results in
//!   order. It knows nothing about URLs.
//!
//! Use the classifier alone if something else, such as a dataframe engine, owns the threads.

mod classifier;
mod freshness;
mod pieces;
pub mod runner;
mod session;

pub use classifier::{Classifier, ClassifierMemory, DecidingText, Explained};
pub use freshness::{AgeCounts, Freshness};
pub use session::Session;

pub use portcullis_engine::vectors::Vectors;
