//! Engines side by side on the user's own data, verified before they are timed.
//!
//! Owns what `portcullis bench` does: a [`Corpus`] of files and questions, engines that answer them,
//! the [`Judgement`] of the oracle, rounds of timing, and the [`Report`], which [`markdown`], [`page`]
//! and [`Report::to_json`] show. `benches/peers` brings other crates as engines and `benches/RUNNERS.md`
//! other programs. For questions about URLs there is [`batch`](crate::batch); nothing here is needed
//! for an answer. `benches/METHODOLOGY.md` says what each figure means and where it flatters us.
//!
//! | what | where |
//! |---|---|
//! | files and URLs, made alike for all | [`Corpus`], [`QuestionList`] |
//! | what an engine is | [`Engine`], [`Matchers`]; [`Matcher`] and [`FileMatcher`] for those in this process |
//! | the engines of this crate | [`engines`] |
//! | whether answers are right | [`Judgement`], [`Verification`] |
//! | what is measured | [`Model`], in an [`Order`] |
//! | memory, in a process of its own | [`MemoryUse`], [`Resident`] |
//! | a run over any list, growth with rules and hosts, one by one | [`ListRun`], [`RuleGrowth`], [`MadeUpHosts`] |
//! | programs as engines | [`RunnerCommand`] |
//!
//! No time is shown of a built-in engine that answers one question otherwise than the oracle, nor of any
//! engine whose answers in a timed pass are not those that were compared. What others answer otherwise
//! is counted and listed.
//!
//! Cost: the oracle asks every question once, on all cores, at some 100 µs each on real files; then the rounds
//! take about as long as `rounds × engines × models × orders × 2` passes. What an engine does wrong,
//! panics included, is part of the report; what fails is in [`CorpusError`] and [`BenchError`].
//!
//! ```
//! use portcullis::bench::{self, Corpus, Settings, Standing};
//! use portcullis::dialect::RFC_9309;
//! use portcullis::policy::AgentChain;
//! use portcullis::set::{LoadConfig, PolicySet};
//!
//! let list = std::env::temp_dir().join(format!("portcullis-doc-{}.txt", std::process::id()));
//! std::fs::write(&list, "https://a.example/\nhttps://a.example/private/x\n")?;
//! let text = b"User-agent: *\nDisallow: /private\n";
//! let set = PolicySet::of_text(text, &LoadConfig::new(&RFC_9309));
//! let agent = AgentChain::parse("ExampleBot", &RFC_9309)?;
//! let corpus = Corpus::load(set, None, agent, &list)?;
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
//! assert_eq!(report.engines[1].verification.standing, Standing::Verified);
//! assert_eq!(report.corpus.allowed, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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
mod originals;
mod page;
mod questions;
mod report;
mod run;
mod runner;
mod statistics;
mod table;
#[cfg(test)]
mod tests;

pub use corpus::{Corpus, CorpusError, LeftOut};
pub use curves::{Curve, CurveLine, MadeUpHosts, RuleGrowth};
pub use engine::{
    Asked, Built, Engine, EngineError, EngineKind, FileMatcher, Matcher, Matchers, Pass, PerFile,
    Tally,
};
pub use engines::numbered::Numbered;
pub use file_run::ListRun;
pub use hosts::HostTable;
pub use judge::{Example, Judgement, Standing, Verification};
pub use machine::{Machine, locked_version};
pub use memory::{MEMORY_FLAG, MemoryUse, Resident};
pub use originals::Originals;
pub use page::page;
pub use questions::{Order, Question, QuestionList};
pub use report::{
    Cell, CorpusFacts, EngineReport, Measurement, Model, Per, REPORT_FORMAT, Report, SettingFacts,
};
pub use run::{BenchError, Settings, chosen, command_line, run};
pub use runner::{GREETING, RUNNER_SECONDS_MAX, RunnerCommand};
pub use statistics::{Distribution, Spread};
pub use table::markdown;
