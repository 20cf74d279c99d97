//! Measures engines side by side on the user's own data. Engines are verified before they are
//! timed.
//!
//! This crate implements `portcullis bench`: a [`Corpus`] of files and questions, a table of
//! [`Engine`]s, the [`Judgement`] of the oracle, rounds of timing, and the [`Report`], which
//! [`markdown`], [`page`] and [`Report::to_json`] render. `benches/peers` adds other crates as
//! engines and measures the project's goals with this harness. `benches/RUNNERS.md` is the protocol
//! for other programs. For verdicts on URLs, use [`batch`](portcullis_set::batch).
//! `benches/METHODOLOGY.md` explains each figure and where it favours portcullis.
//!
//! | what | where |
//! |---|---|
//! | files and URLs, the same for all | [`Corpus`], [`UrlList`], [`QuestionList`] |
//! | what an engine is | [`Engine`], [`Matcher`]; [`FileMatcher`] for one file |
//! | the engines of this crate | [`built_in`] |
//! | whether answers are right | [`Judgement`], [`Verification`] |
//! | what is measured | [`Model`], in an [`Order`] |
//! | memory, in a process of its own | [`MemoryUse`], [`Resident`] |
//! | a run over any list; growth with rules and hosts | [`ListRun`], [`RuleGrowth`], [`MadeUpHosts`] |
//! | programs as engines | [`RunnerCommand`] |
//!
//! A built-in engine with one answer that differs from the oracle's has no times. An engine whose
//! answers in a timed pass differ from its compared answers has no times either. Differing answers
//! of peers are counted and listed.
//!
//! Cost: the oracle decides every question once, on all cores, in about 100 µs each on real files.
//! Then the rounds take about `rounds × engines × models × orders × 2` passes. Failures of an
//! engine, including panics, are part of the report. The only errors are [`CorpusError`] and
//! [`BenchError`].
//!
//! ```
//! use portcullis_bench as bench;
//! use portcullis_bench::{Corpus, Settings, Status, UrlList};
//! use portcullis_dialect::dialect::RFC_9309;
//! use portcullis_robots::policy::AgentChain;
//! use portcullis_set::{LoadConfig, PolicySet};
//!
//! let list = std::env::temp_dir().join(format!("portcullis-doc-{}.txt", std::process::id()));
//! std::fs::write(&list, "https://a.example/\nhttps://a.example/private/x\n")?;
//! let text = b"User-agent: *\nDisallow: /private\n";
//! let set = PolicySet::of_text(text, &LoadConfig::new(&RFC_9309));
//! let agent = AgentChain::parse("ExampleBot", &RFC_9309)?;
//! let corpus = Corpus::load(set, None, agent, UrlList::detected(&list))?;
//! std::fs::remove_file(&list)?;
//!
//! let settings = Settings {
//!     rounds: 1,
//!     seconds_per_pass: 0.0,
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
pub mod document;
mod engine;
mod engines;
mod growth;
mod judge;
mod machine;
mod questions;
mod report;
mod run;
mod runner;
mod tables;
#[cfg(test)]
mod tests;
mod timing;

pub use corpus::{Corpus, CorpusError, LeftOut, Originals, UrlList};
pub use engine::{
    Build, Built, Engine, EngineError, EngineKind, FileMatcher, Matcher, Parse, Pass, PerFile,
    Tally,
};
pub use engines::{BASELINE, Numbered, built_in};
pub use growth::{MadeUpHosts, RuleGrowth};
pub use judge::{Example, Judgement, Status, Verification};
pub use machine::{MEMORY_FLAG, Machine, MemoryUse, Resident, locked_version};
pub use questions::{HostTable, Order, Question, QuestionList};
pub use report::{
    Cell, CorpusFacts, Curve, CurveLine, EngineReport, Measurement, Model, Per, REPORT_FORMAT,
    Report, SettingFacts,
};
pub use run::{BenchError, ListRun, Settings, chosen, command_line, on_all_cores, run};
pub use runner::{GREETING, RUNNER_SECONDS_MAX, RunnerCommand};
pub use tables::{markdown, page};
pub use timing::{Distribution, Spread, turn};
