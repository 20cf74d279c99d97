//! Flags of `bench`.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use portcullis_bench::Settings;

use super::super::output::OutputFile;
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
    #[arg(long, value_name = "FILE", help_heading = "Questions")]
    pub urls: PathBuf,

    /// The crawler's product token; only one
    #[arg(short, long, value_name = "A", help_heading = "Questions")]
    pub agent: String,

    #[command(flatten)]
    pub reading: ReadingArgs,

    #[command(flatten)]
    pub settings: Settings,

    /// JSON output file, with every value
    #[arg(long, value_name = "FILE", help_heading = "Output", value_hint = ValueHint::FilePath)]
    pub report: Option<OutputFile>,

    /// HTML output file, with a chart; it opens without a network
    #[arg(long, value_name = "FILE", help_heading = "Output", value_hint = ValueHint::FilePath)]
    pub html: Option<OutputFile>,
}
