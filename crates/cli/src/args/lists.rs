//! Flags of `check`, `classify`, `filter` and `audit`.

use std::ffi::OsString;

use clap::{Args, ValueHint};
use portcullis_dialect::usage::Label;
use portcullis_robots::access::UnixSeconds;
use portcullis_rows::output::columns::Columns;
use portcullis_set::batch::AgentKind;

use super::super::output::{OutputFile, OutputFolder, RecordsTo};
use super::super::values::{self, Format, MaxAge};
use super::groups::{
    BesideArgs, ColorArgs, FailArgs, InputArgs, ListTimeArgs, OutputArgs, PolicyArgs, QuestionArgs,
    RejectArgs, RunArgs, ShardArgs, TimeArgs, TopArgs, UsageArgs,
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
pub struct FilterArgs {
    #[command(flatten)]
    pub selection: SelectionArgs,
    #[command(flatten)]
    pub records: RecordsArgs,

    /// Print only the number of records kept
    #[arg(short, long, conflicts_with_all = ["out_dir", "skip_existing", "keep_going"], help_heading = "Output")]
    pub count: bool,

    #[arg(short, long, help = texts::QUIET, conflicts_with_all = ["count", "output", "out_dir", "skip_existing", "keep_going"], help_heading = "Output")]
    pub quiet: bool,

    #[command(flatten)]
    pub fail: FailArgs,
}

/// How the agent of a record is written.
const AGENT_KINDS: &[(&str, AgentKind)] =
    &[("token", AgentKind::Token), ("header", AgentKind::Header)];

/// What `classify` and `filter` have in common: a run over the records of lists.
#[derive(Args)]
#[command(mut_arg("agents", |agents| agents.required_unless_present_any([AGENT_OF_RECORD])))]
pub struct RecordsArgs {
    #[command(flatten)]
    pub questions: QuestionArgs,

    /// The agent of each record: a column or field NAME, or `record`
    ///
    /// `record` is the header that an access log has.
    /// NAME is the name or the number of a column, or a path with dots. Each record gets one verdict.
    /// `classify` adds `agent`, the agent as -a names it or `*`, and `verdict`. Agents that -a names are
    /// known, by default those of the built-in lists. The groups for `*` apply to an agent that neither
    /// -a nor any file names. A record without an agent, or with one that only files name, is unknown,
    /// with the reason `no-agent`.
    #[arg(long, value_name = "NAME", value_delimiter = ',', help_heading = "Questions")]
    pub agent_field: Vec<String>,

    /// How the agent of each record is written: as a product token, or as a User-Agent header
    ///
    /// token or header; by default token, and header for `--agent-field record`. The agent of a header is
    /// the one whose product token in it the file names first, longest first, as for --user-agent.
    #[arg(long, value_parser = values::one_of(AGENT_KINDS), value_name = "KIND", hide_possible_values = true, hide_short_help = true, help_heading = "Questions")]
    pub agent_kind: Option<AgentKind>,

    #[command(flatten)]
    pub policies: PolicyArgs,
    #[command(flatten)]
    pub times: ListTimeArgs,

    /// Also decide by the newest policies: `filter` keeps what was allowed then and is allowed now,
    /// `classify` adds the verdict as of now
    ///
    /// The column follows the verdict of each agent, and has its name with `_now`; so does one for each
    /// use of --usage. In `filter`, an agent must be allowed at both times, and have the use for
    /// --purpose at both. It is disallowed if it is at either time, whatever is unknown about the other.
    #[arg(long, hide_short_help = true, help_heading = "Time")]
    pub and_now: bool,

    /// Make URLs unknown whose robots.txt is older, such as 24h or 30d
    ///
    /// Or has no date.
    /// Their reason is `expired`, or `before-first` if the file was captured after --now. With `headers`,
    /// a capture expires as the headers of its response and the dialect say: after 24 hours by default
    /// (RFC 9309, section 2.4). An answer without a file has the age of its capture; behind redirects,
    /// the oldest answer counts.
    #[arg(long, value_name = "DURATION", value_parser = values::max_age, help_heading = "Time")]
    pub max_age: Option<MaxAge>,

    /// The time at which ages are judged [default: the clock's]
    ///
    /// Without --max-age, no verdict changes: the summary counts the URLs whose robots.txt had expired
    /// then, as its headers and the dialect say, or was captured later.
    #[arg(long, value_name = "TIME", value_parser = values::time, hide_short_help = true, help_heading = "Time")]
    pub now: Option<UnixSeconds>,

    #[command(flatten)]
    pub input: InputArgs,
    #[command(flatten)]
    pub output: OutputArgs,

    /// Write one output for each list to DIR, named after the list
    ///
    /// It has the extension of its format.
    /// `urls.txt.gz` becomes `DIR/urls.tsv.gz`, or with `filter` keeps its name. All files appear
    /// together, once they are complete, unless --skip-existing or --keep-going is given.
    #[arg(long, value_name = "DIR", value_parser = values::path(OutputFolder::parse), conflicts_with = "output", value_hint = ValueHint::DirPath, help_heading = "Output")]
    pub out_dir: Option<OutputFolder>,

    #[command(flatten)]
    pub shards: ShardArgs,

    /// Write each host without a policy, TAB, and the number of its URLs to FILE
    ///
    /// The lines are sorted by host; .gz and .zst compress them. Any number of hosts is counted: what
    /// memory does not hold goes to temporary files beside FILE.
    #[arg(long, value_name = "FILE", value_parser = values::path(OutputFile::parse), value_hint = ValueHint::FilePath, hide_short_help = true, help_heading = "Output")]
    pub unknown_hosts: Option<OutputFile>,

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
    #[arg(long, value_name = "keep|drop|FILE", value_parser = values::path(RecordsTo::parse), default_value = "drop", value_hint = ValueHint::FilePath)]
    pub unknown: RecordsTo,

    /// The same for records that are not URLs
    #[arg(long, value_name = "keep|drop|FILE", value_parser = values::path(RecordsTo::parse), default_value = "drop", value_hint = ValueHint::FilePath)]
    pub invalid: RecordsTo,

    /// The same where a page came as robots.txt
    ///
    /// A web page, JSON or binary data states nothing, so that every dialect allows everything.
    #[arg(long, value_name = "keep|drop|FILE", value_parser = values::path(RecordsTo::parse), default_value = "keep", value_hint = ValueHint::FilePath)]
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

    #[arg(short, long, help = texts::OUTPUT, long_help = texts::OUTPUT_LONG, value_name = "FILE", value_parser = values::path(OutputFile::parse), help_heading = "Output", value_hint = ValueHint::FilePath)]
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
