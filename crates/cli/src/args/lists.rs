//! Flags of `check`, `classify` and `filter`.

use std::ffi::OsString;

use clap::{Args, ValueHint};
use portcullis_dialect::usage::Label;
use portcullis_rows::output::columns::Columns;

use super::super::output::RecordsTo;
use super::super::values::{self, Format};
use super::groups::{
    ColorArgs, FailArgs, FreshnessArgs, InputArgs, ListOutputArgs, ListTimeArgs, NowArgs,
    PolicyArgs, QuestionArgs, RecordAgentArgs, RejectArgs, RunArgs, TimeArgs, UsageArgs,
};
use super::texts;

/// The flag that reads the agent of each record, so that -a is not required.
const AGENT_OF_RECORD: &str = "agent_field";

/// Check a few URLs and print VERDICT, TAB, URL for each
///
/// Exits with status 0 if every verdict is allow, and with 1 otherwise.
#[derive(Args)]
pub struct CheckArgs {
    /// The URLs
    #[arg(value_name = "URL", required = true)]
    pub urls: Vec<OsString>,

    #[command(flatten)]
    pub questions: QuestionArgs,
    #[command(flatten)]
    pub usage: UsageArgs,
    #[command(flatten)]
    pub policies: PolicyArgs,
    #[command(flatten)]
    pub time: TimeArgs,

    /// Show the group, the deciding rule and its line, the losing rules, and the clause of the
    /// standard
    #[arg(long, help_heading = "Output")]
    pub explain: bool,

    #[arg(long, help = texts::FORMAT, long_help = texts::FORMAT_LONG, value_name = "FORMAT", default_value = "text", value_parser = values::format(&[Format::Text, Format::Jsonl]), help_heading = "Output")]
    pub format: Format,

    #[arg(short, long, help = texts::QUIET, conflicts_with_all = ["explain", "format", "usage"], help_heading = "Output")]
    pub quiet: bool,

    #[command(flatten)]
    pub color: ColorArgs,
}

/// The output formats of `classify`, for its help.
const FORMATS: &str = "\
Formats:
  tsv      the added columns (one verdict per agent: allow, disallow, unknown or invalid), then the record
  csv      a header, the columns of the input (`url` if it has none), then the added columns
  jsonl    one object per record, with the members of a JSON Lines input, the columns of a table or `url`,
           then the added columns
  parquet  the columns of a Parquet input as they are, or `url`, then the added columns";

/// Tag every record of a list with its verdicts
///
/// No record is dropped, and the order of the input is kept.
#[derive(Args)]
#[command(after_long_help = FORMATS)]
pub struct ClassifyArgs {
    #[command(flatten)]
    pub usage: UsageArgs,
    #[command(flatten)]
    pub records: RecordsArgs,

    #[arg(long, help = texts::FORMAT, long_help = texts::FORMAT_LONG, value_name = "FORMAT", value_parser = values::format(Format::TABLES), help_heading = "Output")]
    pub format: Option<Format>,

    /// The columns to add, such as verdict,reason,line,rule,group,delay,state
    ///
    /// Per agent: verdict (the default), reason, line, rule, group, delay. WORDS are separated by commas. `delay` is the Crawl-delay of the origin for the agent, in
    /// seconds. `state` adds one column with the state of the origin (rules,
    /// no-rules, unavailable, unreachable, deferred or unknown). With --at, `captured` adds the date
    /// of the newest capture then, and `since` and `until` the period in which the policy stayed the
    /// same.
    #[arg(long, value_name = "WORDS", help_heading = "Output")]
    pub columns: Option<Columns>,

    /// Write a row for each record and agent, with reason, line, rule and group
    ///
    /// --columns names other columns. With --usage, where each use is stated and the licences follow:
    /// the line, its value and its kind, for the audit trail. A Parquet input has `url` only.
    #[arg(long, help_heading = "Output")]
    pub long: bool,

    /// Put PREFIX in front of the names of added columns
    ///
    /// Also of the members that are added to the objects of JSON Lines.
    #[arg(
        long,
        value_name = "PREFIX",
        default_value = "",
        hide_default_value = true,
        help_heading = "Output",
        hide_short_help = true
    )]
    pub column_prefix: String,

    /// Write a header line with the names of the columns in tsv; csv always has one
    #[arg(long, help_heading = "Output", hide_short_help = true)]
    pub header: bool,
}

/// Print the allowed records of a list
///
/// Records are printed byte for byte in the order of the input. By default, records of unknown
/// origins and records that are not URLs, empty lines included, are dropped.
#[derive(Args)]
#[command(mut_arg("out_dir", |out_dir| out_dir.conflicts_with_all(["count", "quiet"])))]
pub struct FilterArgs {
    #[command(flatten)]
    pub selection: SelectionArgs,
    #[command(flatten)]
    pub records: RecordsArgs,

    /// Print only the number of records kept
    #[arg(short, long, help_heading = "Output")]
    pub count: bool,

    #[arg(short, long, help = texts::QUIET, conflicts_with_all = ["count", "output"], help_heading = "Output")]
    pub quiet: bool,

    #[command(flatten)]
    pub fail: FailArgs,
}

/// What `classify` and `filter` have in common: a run over the records of lists.
#[derive(Args)]
#[command(mut_arg("agents", |agents| agents.required_unless_present_any([AGENT_OF_RECORD])))]
pub struct RecordsArgs {
    #[command(flatten)]
    pub questions: QuestionArgs,
    #[command(flatten)]
    pub agent: RecordAgentArgs,
    #[command(flatten)]
    pub policies: PolicyArgs,
    #[command(flatten)]
    pub times: ListTimeArgs,
    #[command(flatten)]
    pub now: NowArgs,
    #[command(flatten)]
    pub freshness: FreshnessArgs,
    #[command(flatten)]
    pub input: InputArgs,
    #[command(flatten)]
    pub output: ListOutputArgs,
    #[command(flatten)]
    pub rejects: RejectArgs,
    #[command(flatten)]
    pub run: RunArgs,
}

/// The records that `filter` keeps.
#[derive(Args)]
#[command(next_help_heading = "Selection")]
pub struct SelectionArgs {
    /// Keep a record if any agent is allowed, not only if all are
    #[arg(long)]
    pub any: bool,

    /// Keep disallowed records instead of allowed ones
    #[arg(short = 'v', long)]
    pub invert: bool,

    /// Without a known policy: keep, drop, or to FILE
    ///
    /// A file that is called keep or drop is ./keep or ./drop.
    #[arg(long, value_name = "keep|drop|FILE", default_value = "drop", value_hint = ValueHint::FilePath)]
    pub unknown: RecordsTo,

    /// The same for records that are not URLs
    #[arg(long, value_name = "keep|drop|FILE", default_value = "drop", value_hint = ValueHint::FilePath)]
    pub invalid: RecordsTo,

    /// The same where a page came as robots.txt
    ///
    /// A web page, JSON or binary data states nothing, so that every dialect allows everything.
    #[arg(long, value_name = "keep|drop|FILE", default_value = "keep", value_hint = ValueHint::FilePath)]
    pub pages: RecordsTo,

    /// Keep only what states y for train-ai, ai-use or search
    #[arg(long, value_name = "LABEL", value_parser = values::label, requires = "unstated")]
    pub purpose: Option<Label>,

    /// Keep or drop records whose use for the purpose is not stated
    #[arg(long, value_parser = values::one_of(&[("keep", true), ("drop", false)]), value_name = "WHAT", requires = "purpose", hide_short_help = true)]
    pub unstated: Option<bool>,
}

impl SelectionArgs {
    /// Returns the destinations of the records that may be set aside, in the order of their classes.
    pub fn aside(&self) -> [&RecordsTo; 3] {
        [&self.unknown, &self.invalid, &self.pages]
    }
}
