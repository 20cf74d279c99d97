//! Flags of `bench`.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use portcullis_bench::{Model, RunnerCommand};

use super::super::output::OutputFile;
use super::super::values;
use super::groups::{PolicyArgs, ReadingArgs};

/// Measure engines side by side on your own files and URLs, each verified before it is timed
///
/// First, every answer of every engine is compared with the oracle's. An engine with a wrong answer
/// is reported with an example and is not timed. Prints Markdown. Exits with 1 if a built-in engine
/// is wrong.
#[derive(Args)]
pub struct BenchArgs {
    #[command(flatten)]
    pub policies: PolicyArgs,

    /// The list of URLs, in any format that `classify` reads
    ///
    /// It is read several times, so it must be a file.
    #[arg(long, value_name = "FILE", help_heading = "Questions")]
    pub urls: PathBuf,

    /// The crawler's product token; only one
    #[arg(short, long, value_name = "A", help_heading = "Questions")]
    pub agent: String,

    #[command(flatten)]
    pub reading: ReadingArgs,

    /// Engine to measure, by name; repeatable [default: all]
    #[arg(long = "engine", value_name = "NAME", help_heading = "Measurement")]
    pub engines: Vec<String>,

    /// Engine that ratios refer to [default: portcullis]
    #[arg(long, value_name = "NAME", help_heading = "Measurement")]
    pub baseline: Option<String>,

    /// What to measure; repeatable [default: all]
    #[arg(long = "model", value_name = "NAME", value_parser = values::bench_model(), help_heading = "Measurement")]
    pub models: Vec<Model>,

    /// Another program as an engine; the command is split at blanks
    ///
    /// It implements the line protocol of benches/RUNNERS.md. Repeatable.
    #[arg(long = "runner", value_name = "NAME=COMMAND", value_parser = values::runner, help_heading = "Measurement")]
    pub runners: Vec<RunnerCommand>,

    /// Time limit for an answer of a runner, in seconds [default: 120]
    #[arg(long, value_name = "SECONDS", value_parser = values::seconds, help_heading = "Measurement")]
    pub runner_timeout: Option<f64>,

    /// Number of rounds; with an odd number the median is a measured value
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..), help_heading = "Measurement")]
    pub rounds: u64,

    /// Seconds for which an engine repeats a pass in one round
    #[arg(long, value_name = "SECONDS", default_value_t = 0.1, value_parser = values::seconds, help_heading = "Measurement")]
    pub seconds_per_pass: f64,

    /// Seed of orders and samples
    #[arg(long, value_name = "N", default_value_t = 9309, help_heading = "Measurement")]
    pub seed: u64,

    /// Also measure, on synthetic data, how costs grow with rules, hosts, URL length and threads
    #[arg(long, help_heading = "Measurement")]
    pub curves: bool,

    /// Do not measure memory, which starts this program again for each engine
    #[arg(long, help_heading = "Measurement")]
    pub no_memory: bool,

    /// JSON output file, with every value
    #[arg(long, value_name = "FILE", help_heading = "Output", value_hint = ValueHint::FilePath)]
    pub report: Option<OutputFile>,

    /// HTML output file, with plots; it opens without a network
    #[arg(long, value_name = "FILE", help_heading = "Output", value_hint = ValueHint::FilePath)]
    pub html: Option<OutputFile>,

    /// Print the memory of a process with this engine alone
    #[arg(long, value_name = "NAME", hide = true)]
    pub memory_of: Option<String>,
}
