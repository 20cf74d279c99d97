//! Bulk decisions: classifying the records of a list, block by block.
//!
//! - [`Classifier`] is a set and the agents that ask it. It does no I/O, holds no global state, and
//!   is shared by threads.
//! - [`Session`] is a classifier and the memory of one thread. It decides [`Records`] of a list.
//! - [`Answers`] are what it says of one block: one decision per record and agent, or one by the agent
//!   of each record, and what they come from. Tables, JSON and the Python package read from them.
//!
//! Use the runner of `portcullis-rows` for a whole input on several threads.
//!
//! Use sessions alone if something else, such as a dataframe engine, owns the threads.

mod answers;
mod asking;
mod classifier;
mod crawlers;
mod deciding;
mod delays;
mod freshness;
mod known;
mod naming;
mod periods;
mod pieces;
mod readings;
mod session;
mod times;
mod usage;

pub use answers::Answers;
pub use classifier::{AgentKind, AskError, BeforeFirst, Classifier, Explained};
pub use deciding::FullDecision;
pub use freshness::{AgeCounts, Freshness};
pub use pieces::OriginRecords;
pub use session::{Records, Session};
pub use times::{InForce, Now, Times};
pub use usage::{Licenses, StatedPlace};

pub use crate::stored::RecordPolicy;
pub use portcullis_engine::vectors::Vectors;
