//! Flags of `audit`.

use clap::{Args, ValueHint};

use super::super::output::OutputFile;
use super::super::values::{self, Format};
use super::groups::{
    BesideArgs, InputArgs, ListTimeArgs, PolicyArgs, QuestionArgs, RejectArgs, RunArgs, TopArgs,
};
use super::texts;

/// Report how robots.txt affects a list of URLs: which agents may fetch which URLs, by which rules
///
/// One pass over the list reports verdicts by agent, the hosts that disallow most, the rules that
/// decide most URLs, what each robot may fetch, what pages may be used for, hosts without a policy
/// that are worth fetching, and oddities in the files. The report is the same for any number of
/// threads. To compare two policy sets on a list, use `portcullis diff OLD NEW -a AGENT FILE`.
///
/// With --at TIME, the report is as of that time. If each record has its own time, its URL is
/// decided by the policies of that time, and what describes the files alone, such as what each robot
/// may fetch, is by the newest policies.
///
/// The page (-o FILE.html) begins with one sheet for a person in a hurry, which prints on one A4: what
/// crawlers may fetch, the rules that decide most, what to fix (if --robots names one file, what `lint`
/// finds in it), and preferences, as far as they occur. Everything else follows. It opens in any browser
/// without a network, in light and dark, and stays under 2 MB: if the lists are too long for that, it
/// shows fewer rows. JSON (-o FILE.json) is one object.
#[derive(Args)]
pub struct AuditArgs {
    #[command(flatten)]
    pub questions: QuestionArgs,
    #[command(flatten)]
    pub beside: BesideArgs,
    #[command(flatten)]
    pub policies: PolicyArgs,
    #[command(flatten)]
    pub times: ListTimeArgs,
    #[command(flatten)]
    pub input: InputArgs,

    #[arg(short, long, help = texts::OUTPUT, long_help = texts::OUTPUT_LONG, value_name = "FILE", help_heading = "Output", value_hint = ValueHint::FilePath)]
    pub output: Vec<OutputFile>,

    #[arg(long, help = texts::FORMAT, long_help = texts::FORMAT_LONG, value_name = "FORMAT", value_parser = values::format(AUDIT_FORMATS), help_heading = "Output")]
    pub format: Option<Format>,

    #[command(flatten)]
    pub top: TopArgs,
    #[command(flatten)]
    pub rejects: RejectArgs,
    #[command(flatten)]
    pub run: RunArgs,
}

/// The forms of a report.
pub const AUDIT_FORMATS: &[Format] = &[Format::Html, Format::Json];
