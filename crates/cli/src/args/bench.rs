//! Flags of `bench`.

use clap::{Args, ValueHint};
use portcullis_bench::Settings;

use super::super::output::OutputFile;
use super::groups::{AgentArgs, ListPath, PolicyArgs, ReadingArgs};

/// Measure engines side by side on your own files and URLs, each verified before it is timed
///
/// First, every answer of every engine is compared with the oracle's. An engine with a wrong answer
/// is reported with an example and is not timed. Prints Markdown. Exits with 1 if a built-in engine
/// is wrong. Measures one crawler.
#[derive(Args)]
#[command(mut_arg("agents", |agents| agents.required_unless_present("user_agents")))]
pub struct BenchArgs {
    #[command(flatten)]
    pub agents: AgentArgs,
    #[command(flatten)]
    pub policies: PolicyArgs,

    /// The list of URLs, in any format that `classify` reads
    #[arg(long, value_name = "FILE", help_heading = "Input")]
    pub urls: ListPath,

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
