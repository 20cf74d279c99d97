//! Engines side by side on the user's own data, verified before they are timed.
mod corpus;
mod engine;
pub mod engines;
mod guard;
mod hosts;
mod judge;
mod machine;
mod questions;
mod statistics;

pub use corpus::{Corpus, CorpusError, LeftOut, Policies};
pub use engine::{
    Asked, Built, Engine, EngineError, EngineKind, FileMatcher, Matcher, Matchers, Pass, PerFile,
    Tally,
};
pub use hosts::HostTable;
pub use judge::{Example, Judgement, Standing, Verification};
pub use machine::{Machine, locked_version};
pub use questions::{Order, Question, QuestionList};
pub use statistics::{Distribution, Spread};
