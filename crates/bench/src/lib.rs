//! Measures engines side by side on the user's own data. Engines are verified before they are
//! timed.
//!
//! This crate is the [`program`] `portcullis-bench`: a [`Corpus`] of files and questions, a table of
//! [`Engine`]s, the [`Judgement`] of the oracle, rounds of timing, and the [`Report`], which
//! [`markdown`], [`page`] and [`Report::to_json`] render. `benches/peers` adds other crates as
//! engines. `benches/RUNNERS.md` is the protocol for other programs. For verdicts on URLs, use
//! [`batch`](portcullis_set::batch). `benches/METHODOLOGY.md` explains each figure and where it
//! favours portcullis.
//!
//! | what | where |
//! |---|---|
//! | files and URLs, the same for all | [`Corpus`], [`QuestionList`] |
//! | what an engine is | [`Engine`], [`Matcher`]; [`FileMatcher`] for one file |
//! | the engines of this crate | [`built_in`] |
//! | whether answers are right | [`Judgement`], [`Verification`] |
//! | what is measured | [`Model`], in an [`Order`] |
//! | settings, which are flags | [`Settings`] |
//! | programs as engines | [`RunnerCommand`] |
//!
//! A built-in engine with one answer that differs from the oracle's has no times. An engine whose
//! answers in a timed pass differ from its compared answers has no times either. Differing answers
//! of peers are counted and listed.
//!
//! Cost: the oracle decides every question once, on all cores, in about 100 µs each on real files.
//! Then the rounds take about `rounds × engines × models × orders × 2` passes. Failures of an
//! engine, including panics, are part of the report. The only errors are a damaged set and
//! [`BenchError`].
//!
//! ```
//! use portcullis_bench as bench;
//! use portcullis_bench::{Corpus, Settings, Status};
//! use portcullis_dialect::dialect::RFC_9309;
//! use portcullis_robots::policy::Crawler;
//! use portcullis_set::PolicySet;
//! use portcullis_build::{LoadConfig, load_text};
//!
//! let text = b"User-agent: *\nDisallow: /private\n";
//! let set = load_text(text, &LoadConfig::new(&RFC_9309));
//! let agent = Crawler::parse("ExampleBot", &RFC_9309)?;
//! let mut corpus = Corpus::new(set, None, agent)?;
//! for url in ["https://a.example/", "https://a.example/private/x"] {
//!     corpus.add(url.as_bytes())?;
//! }
//!
//! let settings = Settings {
//!     rounds: 1,
//!     engines: vec!["portcullis".into(), "sorted-scan".into()],
//!     models: vec![bench::Model::DecideHot],
//!     ..Settings::default()
//! };
//! let engines = bench::chosen(&corpus, Vec::new(), &settings)?;
//! let report = bench::run(&corpus, &engines, &settings, &|_| ())?;
//! assert_eq!(report.engines[1].verification.status, Status::Verified);
//! assert_eq!(report.corpus.allowed, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod corpus;
mod engine;
mod engines;
mod judge;
pub mod program;
mod questions;
mod render;
mod report;
mod run;
mod runner;
mod settings;
#[cfg(test)]
mod tests;

pub use corpus::{Corpus, LeftOut, Originals};
pub use engine::{
    Build, Built, Engine, EngineError, EngineKind, FileMatcher, Matcher, Pass, PerFile, Tally,
};
pub use engines::{BASELINE, built_in};
pub use judge::{Example, Judgement, Status, Verification};
pub use questions::{HostTable, Order, Question, QuestionList};
pub use render::{markdown, page};
pub use report::{
    Cell, CorpusFacts, EngineReport, Machine, Measurement, Model, Per, REPORT_FORMAT, Report,
    SettingFacts,
};
pub use run::{BenchError, chosen, run};
pub use runner::{GREETING, RunnerCommand};
pub use settings::{Settings, command_line};
