//! Flags of `audit`.

use clap::{Args, ValueHint};

use super::super::output::OutputFile;
use super::super::values;
use super::{InputArgs, PolicyArgs, QuestionArgs};

/// Report how robots.txt affects a list of URLs: which agents may fetch which URLs, by which rules
///
/// One pass over the list reports verdicts by agent, the hosts that disallow most, the rules that
/// decide most URLs, unused rules, what each robot may fetch, what pages may be used for, origins
/// without a policy that are worth fetching, and oddities in the files. The report is the same for
/// any number of threads. To compare two policy sets on a list, use `portcullis diff OLD NEW -a
/// AGENT FILE`.
#[derive(Args)]
pub struct AuditArgs {
    #[command(flatten)]
    pub input: InputArgs,
    #[command(flatten)]
    pub policies: PolicyArgs,
    #[command(flatten)]
    pub questions: QuestionArgs,

    /// Removed; `diff` compares two policy sets on a list
    #[arg(long = "compare-set", alias = "compare-dialect", value_name = "SET", hide = true, value_parser = compared_by_diff)]
    pub compare: Option<String>,

    /// Write the report as one HTML page; it needs no network
    ///
    /// The page opens in any browser, in light and dark, and prints. It stays under 2 MB: if the
    /// lists are too long for that, the page shows fewer rows. The file appears when it is
    /// complete.
    #[arg(short, long, value_name = "FILE", help_heading = "Output", value_hint = ValueHint::FilePath)]
    pub output: Option<OutputFile>,

    /// Write the report as one JSON object; `-` is standard output
    ///
    /// The extensions .gz and .zst compress it. The file appears when it is complete.
    #[arg(long, value_name = "FILE", required_unless_present = "output", help_heading = "Output", value_hint = ValueHint::FilePath)]
    pub json: Option<OutputFile>,

    /// Number of rows per list
    #[arg(short = 'n', long, value_name = "N", default_value_t = 50, help_heading = "Output")]
    pub top: usize,

    /// Number of threads, at most 16 per processor; 0 means one per processor. The report is the
    /// same for any number
    #[arg(short = 'j', long, value_name = "N", default_value_t = 0, value_parser = values::threads, help_heading = "Run")]
    pub threads: usize,

    /// Do not print the summary
    #[arg(long, help_heading = "Run")]
    pub no_summary: bool,

    /// Do not draw a progress bar (drawn only if standard error is a terminal)
    #[arg(long, help_heading = "Run")]
    pub no_progress: bool,
}

/// Rejects the removed flags and names the replacement.
fn compared_by_diff(_: &str) -> Result<String, &'static str> {
    Err(
        "audit no longer compares; compile a set for each side (`portcullis compile -o SET INPUT`, with \
         --dialect for another dialect) and run `portcullis diff SET OTHER -a AGENT FILE`",
    )
}
