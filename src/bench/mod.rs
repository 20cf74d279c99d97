//! Engines side by side on the user's own data, verified before they are timed.
mod corpus;
mod curves;
mod engine;
pub mod engines;
mod file_run;
mod guard;
mod hosts;
mod judge;
mod machine;
mod measure;
mod memory;
mod page;
mod questions;
mod report;
mod run;
mod runner;
mod statistics;
mod table;
#[cfg(test)]
mod tests;

pub use corpus::{Corpus, CorpusError, LeftOut, Policies};
pub use curves::{Curve, CurveLine};
pub use engine::{
    Asked, Built, Engine, EngineError, EngineKind, FileMatcher, Matcher, Matchers, Pass, PerFile,
    Tally,
};
pub use hosts::HostTable;
pub use judge::{Example, Judgement, Standing, Verification};
pub use machine::{Machine, locked_version};
pub use memory::{MEMORY_FLAG, MemoryUse};
pub use page::page;
pub use questions::{Order, Question, QuestionList};
pub use report::{
    Cell, CorpusFacts, EngineReport, Measurement, Model, Per, REPORT_FORMAT, Report, SettingFacts,
};
pub use run::{BenchError, Settings, chosen, command_line, run};
pub use runner::{GREETING, RUNNER_SECONDS_MAX, RunnerCommand};
pub use statistics::{Distribution, Spread};
pub use table::markdown;
