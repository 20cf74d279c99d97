//! Flags of `audit`.

use clap::{Args, ValueHint};

use super::super::output::OutputFile;
use super::groups::{
    InputArgs, ListTimeArgs, PolicyArgs, QuestionArgs, RejectArgs, RunArgs, TopArgs,
};
use super::texts;

/// Report how robots.txt affects a list of URLs: which agents may fetch which URLs, by which rules
///
/// One pass over the list reports verdicts by agent, the hosts that disallow most, the rules that
/// decide most URLs, what each robot may fetch, what pages may be used for, origins without a policy
/// that are worth fetching, and oddities in the files. The report is the same for any number of
/// threads. To compare two policy sets on a list, use `portcullis diff OLD NEW -a AGENT FILE`.
///
/// With --at TIME, the report is as of that time. If each record has its own time, its URL is
/// decided by the policies of that time, and what describes the files alone, such as what each robot
/// may fetch, is by the newest policies.
#[derive(Args)]
pub struct AuditArgs {
    #[command(flatten)]
    pub questions: QuestionArgs,
    #[command(flatten)]
    pub policies: PolicyArgs,
    #[command(flatten)]
    pub times: ListTimeArgs,
    #[command(flatten)]
    pub input: InputArgs,

    #[arg(short, long, help = texts::OUTPUT, long_help = texts::OUTPUT_LONG, value_name = "FILE", help_heading = "Output", value_hint = ValueHint::FilePath)]
    pub output: Option<OutputFile>,

    /// Make the page a short one, for the owner of a site: one sheet of paper
    ///
    /// It has what crawlers may fetch, the rules that decide most, what to fix, and preferences, as
    /// far as they occur. If --robots names one file, problems are those that `lint` finds in it.
    #[arg(long, requires = "output", help_heading = "Output")]
    pub brief: bool,

    /// Write the report as one JSON object; `-` is standard output
    ///
    /// The extensions .gz and .zst compress it. The file appears when it is complete.
    #[arg(long, value_name = "FILE", required_unless_present = "output", help_heading = "Output", value_hint = ValueHint::FilePath)]
    pub report: Option<OutputFile>,

    #[command(flatten)]
    pub top: TopArgs,
    #[command(flatten)]
    pub rejects: RejectArgs,
    #[command(flatten)]
    pub run: RunArgs,
}
