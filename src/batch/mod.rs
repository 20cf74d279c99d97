//! URLs in bulk.
//!
//! [`Classifier`] is the pure call: records of a list in, one decision for each agent out. It does
//! no I/O, holds no global state, and is shared by threads, each with its own
//! [`ClassifierMemory`].

mod classifier;

pub use classifier::{Classifier, ClassifierMemory};
