//! Flags of `audit`.

use std::path::PathBuf;

use clap::Args;
use portcullis::dialect::Dialect;

use super::super::values;
use super::{InputArgs, PolicyArgs, QuestionArgs};

/// Say what robots.txt does to a list of URLs: who may not fetch what, by which rules of which hosts
///
/// One pass over the list: verdicts by agent, the hosts that lose most, the rules that decide most and
/// those that decide nothing, what robots get, hosts without a policy that are worth fetching, and
/// what is odd in the files. Nothing in the report depends on the number of threads.
#[derive(Args)]
pub struct AuditArgs {
    #[command(flatten)]
    pub input: InputArgs,
    #[command(flatten)]
    pub policies: PolicyArgs,
    #[command(flatten)]
    pub questions: QuestionArgs,

    /// Compare the verdicts with those of another dialect; the flag may be repeated
    ///
    /// It needs --robots: a policy set has been read by its own dialect.
    #[arg(long = "compare-dialect", value_name = "NAME", value_parser = values::dialect(), conflicts_with = "set", help_heading = "Comparison")]
    pub compare_dialects: Vec<&'static Dialect>,

    /// Compare the verdicts with those of another policy set; the flag may be repeated
    #[arg(long = "compare-set", value_name = "SET", help_heading = "Comparison")]
    pub compare_sets: Vec<PathBuf>,

    /// Write the report as one HTML page there, for people; it needs no network
    ///
    /// It opens in any browser, in light and dark, and prints. The file appears under its name when it
    /// is complete. Under 2 MB: where lists are too long for that, fewer of their rows are shown.
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub output: Option<PathBuf>,

    /// Write the report as one JSON object there; `-` is standard output
    ///
    /// The file appears under its name when it is complete; .gz and .zst compress it.
    #[arg(long, value_name = "FILE", required_unless_present = "output", help_heading = "Output")]
    pub json: Option<PathBuf>,

    /// How many rows each list has
    #[arg(short = 'n', long, value_name = "N", default_value_t = 50, help_heading = "Output")]
    pub top: usize,

    /// Number of threads, at most 16 per processor; 0 means one per processor. The report is the
    /// same for any number
    #[arg(short = 'j', long, value_name = "N", default_value_t = 0, value_parser = values::threads, help_heading = "Run")]
    pub threads: usize,

    /// Write no summary at the end
    #[arg(long, help_heading = "Run")]
    pub no_summary: bool,

    /// Draw no progress bar (there is one only where standard error is a terminal)
    #[arg(long, help_heading = "Run")]
    pub no_progress: bool,
}
