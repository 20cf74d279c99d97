//! Measures engines side by side on the user's own data. Engines are verified before they are
//! timed.
//!
//! A part of `portcullis`, whose crate has the stable API: this one may change in any version.
//!
//! This crate is the [`program`] `portcullis-bench`: a [`Corpus`] of files and questions, a table of
//! [`Engine`]s, the [`Judgement`] of the oracle, rounds of timing, and the [`Report`].
//! `benches/peers` adds other crates as engines. `benches/RUNNERS.md` is the protocol for other
//! programs. `benches/METHODOLOGY.md` explains each figure and where it favours portcullis.
//!
//! | what | where |
//! |---|---|
//! | files and URLs, the same for all | [`Corpus`], [`QuestionList`] |
//! | what an engine is | [`Engine`], [`Matcher`] |
//! | the engines of this crate | [`built_in`] |
//! | whether answers are right | [`Judgement`], [`Verification`] |
//! | what is measured | [`Model`], in an [`Order`] |
//! | settings, which are flags | [`Choice`], [`Settings`] |
//! | where an engine differs from a dialect | [`Suite`], [`conform()`] |
//!
//! A built-in engine with one answer that differs from the oracle's has no times. An engine whose
//! answers in a timed pass differ from its compared answers has no times either. Differing answers
//! of peers are counted and listed.
//!
//! Cost: the oracle decides every question once, on all cores, in about 100 µs each on real files.
//! Then the rounds take about `rounds × engines × models × orders × 2` passes. Failures of an
//! engine, including panics, are part of the report.
//!
//! ```
//! use std::path::Path;
//!
//! use portcullis_bench as bench;
//! use portcullis_dialect::dialect::RFC_9309;
//! use portcullis_robots::policy::Crawler;
//!
//! let robots = Path::new("../../corpora/sample/robots/shop.example");
//! let agent = Crawler::parse("ExampleBot", &RFC_9309)?;
//! let mut corpus = bench::Corpus::load(robots, agent, &RFC_9309)?;
//! for url in ["https://a.example/", "https://a.example/cart/1"] {
//!     corpus.add(url.as_bytes());
//! }
//! let settings = bench::Settings { rounds: 1, ..bench::Settings::default() };
//! let engines = bench::chosen(&corpus, Vec::new(), &settings.choice)?;
//! let report = bench::run(&corpus, &engines, (&settings, ""), &|_| ())?;
//! assert_eq!(report.engines[1].verification.status, bench::Status::Verified);
//! assert_eq!(report.corpus.allowed, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod conform;
mod conform_report;
#[cfg(test)]
mod conform_tests;
mod corpus;
mod engine;
mod engines;
mod judge;
pub mod program;
mod questions;
mod report;
mod run;
mod runner;
mod suite;
#[cfg(test)]
mod tests;

pub use conform::{PATIENCE, conform};
pub use conform_report::{Conformance, Difference, PointReport, PointStatus, Suites};
pub use corpus::{Corpus, LeftOut};
pub use engine::{Ask, Build, Built, Engine, EngineKind, Matcher, Pass, Tally};
pub use engines::built_in;
pub use judge::{Example, Judgement, Status, Verification};
pub use questions::{HostTable, Order, Question, QuestionList};
pub use report::{Cell, CorpusFacts, EngineReport, Machine, Measurement, Model, Report};
pub use run::{Choice, Settings, chosen, run};
pub use runner::RunnerCommand;
pub use suite::{Grade, SUITE_JSON, Suite};
