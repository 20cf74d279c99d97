//! URLs in bulk.
//!
//! [`Classifier`] is the pure call: records of a list in, one decision for each agent out. It does
//! no I/O, holds no global state, and is shared by threads, each with its own
//! [`ClassifierMemory`]. [`runner`] hands chunks of the input to threads and their outputs to a
//! sink in input order.

mod classifier;
pub mod runner;

pub use classifier::{Classifier, ClassifierMemory};
