//! Bulk decisions: classifying the records of a list, block by block.
//!
//! - [`Classifier`] is a set and the agents that ask it. It does no I/O, holds no global state, and
//!   is shared by threads.
//! - [`Session`] is a classifier and the memory of one thread. It maps records of a list to one
//!   decision per agent, or to one by the agent of each record ([`Session::classify_as`]).
//!
//! Use the runner of `portcullis-io` for a whole input on several threads.
//!
//! Use sessions alone if something else, such as a dataframe engine, owns the threads.

mod asking;
mod classifier;
mod crawlers;
mod deciding;
mod delays;
mod freshness;
mod pieces;
mod session;
mod times;
mod usage;

pub use asking::{NO_POLICY, NO_URL};
pub use classifier::{AskError, Classifier, Explained};
pub use crawlers::AgentKind;
pub use deciding::FullDecision;
pub use freshness::{AgeCounts, Freshness};
pub use session::Session;
pub use times::{Answers, BeforeFirst, InForce, Times};
pub use usage::{Licenses, StatedPlace};

pub use portcullis_engine::vectors::Vectors;
