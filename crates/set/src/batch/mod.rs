//! URLs in bulk: what is asked of each record, and how a whole input is run through it.
//!
//! [`Classifier`] is the pure call that everything in bulk stands on: a record of a list in, one
//! decision for each agent out. It does no I/O, holds no global state, and is shared by threads,
//! each with its own [`ClassifierMemory`]. A [`Session`] holds both for one thread. [`runner`] takes sources apart into chunks, hands them
//! to threads and the results back in order; it knows nothing of URLs. Use the classifier alone
//! where something else, such as a dataframe engine, owns the threads.

mod classifier;
mod freshness;
mod pieces;
pub mod runner;
mod session;

pub use classifier::{Classifier, ClassifierMemory, Explained, Provenance};
pub use freshness::{AgeCounts, Freshness};
pub use session::Session;

pub use portcullis_matcher::vectors::Vectors;
