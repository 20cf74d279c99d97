//! Flags of the subcommands that make, compare, inspect and survey policy sets.

use std::ffi::OsString;

use clap::{Args, ValueHint};
use portcullis_captures::{CaptureFormat, FieldName};
use portcullis_robots::access::{LongOutage, UnixSeconds};

use super::super::output::OutputFile;
use super::super::values::{self, Format, SetAt};
use super::groups::{
    AgentArgs, BesideArgs, CapturePath, CompileMemoryArgs, FailArgs, FaultArgs, ListPath,
    OutputArgs, PolicyArgs, ReadingArgs, RejectArgs, RunArgs, StrictArgs, TextArgs, TimeUnitArgs,
    TopArgs, UrlArgs, UsageArgs,
};
use super::texts;

/// The input formats of `compile`, for its help.
const SCHEMAS: &str = "\
Input formats:
  Folder    Files named by host: example.com, example.com.txt, example.com.robots.txt, or
            example.com/robots.txt as `wget -x` and `wget -r` write it; each also with .gz or .zst.
            A port may follow the host. A name without a dot is not a host, except localhost. Of
            two files for one host, the first by name is used.
  JSON Lines, CSV, Parquet
            One object or row per answer. Fields, by their usual names (in any case) or --fields:
              url          url, robots_url, uri: the URL that was requested first
              host         host, domain, hostname: without a URL; http and https on default ports,
                           or the URL of the site
              status       status, fetch_status, http_status, status_code: null or 0 for no answer;
                           without the field, 200 is assumed where there is a body, with a note
              body         body, content, robots_txt, text: decoded
              body_base64  body_base64: the body in base64
              fetched_at   fetched_at, fetch_time, warc_date, timestamp: a date or time in
                           any form that lists take, a timestamp, or a number (--time-unit)
              error        error: why there was no answer, or why the body is not whole
              truncated    truncated, content_truncated: set if the body was cut
              headers      headers: names to a text or a list of texts (JSON Lines only)
              redirects    redirects: those that were followed, as a list (JSON Lines only)
            A record needs a url or a host, and a status, a body or an error. A line of JSON Lines
            may also be {HOST: {DATE: BODY, …}, …}. A field of CSV without even quotes is null.
  WARC      response, resource and revisit records whose URL ends in robots.txt.";

/// Compile archived robots.txt files into a policy set
///
/// For each origin, the newest capture counts. Redirects are followed as far as their targets were
/// captured. An input that cannot be read is an error; a broken record is reported and skipped.
/// Policy sets merge as if their inputs had been compiled together. The order of inputs changes
/// nothing: of two captures of one second, or without dates, that of the input that is later by name
/// counts. Sets must have one dialect and one size limit, and judge outages alike unless flags choose
/// how.
#[derive(Args)]
#[command(after_long_help = SCHEMAS)]
pub struct CompileArgs {
    /// WARC files, JSON Lines, CSV, Parquet files, policy sets, folders or patterns (`*.warc.gz`); `-` is standard
    /// input
    ///
    /// The captures of policy sets count as if they were compiled again, and as older than those of the
    /// same second in an archive. Archives are then read with the dialect and the limits of the sets.
    /// The format is detected by the first bytes, then by name; gzip and zstd files are
    /// decompressed. A folder has robots.txt files named by host, or archives, of which all below it
    /// are read, sorted by name, except names that begin with `.` or `_`. `@NAMES` is a file with an
    /// INPUT on each line. The formats are described below.
    #[arg(value_name = "INPUT", required = true, value_parser = values::path(|path| Ok(CapturePath(path.into()))))]
    pub inputs: Vec<CapturePath>,

    #[command(flatten)]
    pub text: TextArgs,
    #[command(flatten)]
    pub faults: FaultArgs,

    /// The date or time (RFC 3339) as of which the set is made: later captures are left out
    ///
    /// A host whose last capture failed counts as unreachable from its first failure until TIME, or
    /// by default until its last captured failure. A note counts the captures after TIME. By
    /// default, the TIME of the policy sets among the inputs holds, if they agree. Sets that have
    /// captures after TIME, or lack some before, are an error.
    #[arg(long, value_name = "TIME", value_parser = values::time, help_heading = "Outages")]
    pub as_of: Option<UnixSeconds>,

    /// The effect of an outage of more than 30 days [default: no-change]
    ///
    /// no-change: the host stays unreachable, and everything is disallowed. unavailable: everything
    /// is allowed. last-good-copy: the newest captured file applies; without one, no change. This
    /// flag is for rfc9309 and draft2019, which leave the choice; google uses the last good copy,
    /// and without one allows everything.
    #[arg(long, value_name = "CHANGE", value_parser = values::named(&LongOutage::ALL, LongOutage::as_str), help_heading = "Outages", hide_short_help = true)]
    pub long_outage: Option<LongOutage>,

    #[arg(long, help = texts::HISTORY, long_help = texts::HISTORY_LONG, help_heading = "History")]
    pub history: bool,

    /// Give an origin without a capture the file of the other scheme of its host
    ///
    /// By RFC 9309, http://a.example and https://a.example have a robots.txt each, and without a capture
    /// of its own an origin is unknown. With this flag, http takes the policy of https, or https that of
    /// http, and the note `other-scheme` says so for each origin and counts them. A captured origin keeps
    /// its own answer, whatever it is. The set remembers the flag, and sets that differ in it are merged
    /// only with it.
    #[arg(long, help_heading = "Schemes", hide_short_help = true)]
    pub join_schemes: bool,

    #[arg(long, help = texts::INPUT_FORMAT, long_help = texts::INPUT_FORMAT_LONG, value_name = "FORMAT", value_parser = values::named(&CaptureFormat::ALL, CaptureFormat::as_str), help_heading = "Input")]
    pub input_format: Option<CaptureFormat>,

    /// The names of fields in JSON Lines, CSV and Parquet, such as url=request.url,body=text
    ///
    /// Dots in NAME separate nested objects and columns; write `\.` for a dot in a name. An empty
    /// NAME means that there is no such field. This flag may be given multiple times.
    #[arg(long, value_name = "FIELD=NAME,…", value_delimiter = ',', help_heading = "Input")]
    pub fields: Vec<FieldName>,

    #[command(flatten)]
    pub unit: TimeUnitArgs,

    #[arg(short, long, help = texts::OUTPUT, long_help = texts::OUTPUT_LONG, value_name = "SET", value_parser = values::path(OutputFile::parse), help_heading = "Output", value_hint = ValueHint::FilePath)]
    pub output: OutputFile,

    #[command(flatten)]
    pub run: RunArgs,
    #[command(flatten)]
    pub memory: CompileMemoryArgs,
}

/// Compare two policy sets, or two robots.txt files
///
/// For two robots.txt files, a row or two for each crawler: the answer is `equal` if both files give the
/// same verdict on every possible URL, or else `different`, with a shortest path that OLD allows and NEW
/// does not, one that NEW allows and OLD does not, or both, and the verdicts and rules. It is `unknown`
/// if a limit ended the comparison; if no crawler has a better answer, the exit status is 2.
///
/// With FILE, each file applies to every URL, and the output is that of two sets.
///
/// For two sets without FILE, a row for each changed origin in the order of hosts: the change (added,
/// gone, state or rules), its old and its new state. With FILE, a row for each URL and crawler whose
/// verdict changed in the order of the input: both verdicts, their reasons, lines and rules.
///
/// With -a, an origin is reported only if the rules for one of the crawlers changed, in a row for each:
/// patterns in normal form with their verdicts, by precedence; otherwise if the user-agent lines or
/// rules of its file changed. FILE requires -a. By default, robots.txt files are compared for each
/// crawler that one of them names, and for `*`, any other crawler.
///
/// With --usage, which requires -a and FILE, also reports what pages may be used for, in rows with a
/// label.
#[derive(Args)]
#[command(mut_arg("assume_scheme", |scheme| scheme.requires("files")))]
pub struct DiffArgs {
    /// The old policy set or robots.txt file; `SET@TIME` is a set, compiled with --history, as of a time
    #[arg(value_name = "OLD", value_parser = values::path(SetAt::parse))]
    pub old: SetAt,

    /// The new policy set or robots.txt file
    #[arg(value_name = "NEW", value_parser = values::path(SetAt::parse))]
    pub new: SetAt,

    #[command(flatten)]
    pub agents: AgentArgs,
    #[command(flatten)]
    pub urls: UrlArgs,
    #[command(flatten)]
    pub usage: UsageArgs,
    #[command(flatten)]
    pub text: TextArgs,
    #[command(flatten)]
    pub strict: StrictArgs,

    /// Lists of URLs to compare by verdict, folders of lists, or patterns; `-` is standard input
    #[arg(value_name = "FILE", help_heading = "Input", value_parser = values::path(|path| Ok(ListPath(path.into()))))]
    pub files: Vec<ListPath>,

    #[command(flatten)]
    pub reading: ReadingArgs,

    #[arg(long, help = texts::FORMAT, long_help = texts::FORMAT_LONG, value_name = "FORMAT", value_parser = values::format(Format::TABLES), help_heading = "Output")]
    pub format: Option<Format>,

    #[command(flatten)]
    pub output: OutputArgs,
    #[command(flatten)]
    pub rejects: RejectArgs,
    #[command(flatten)]
    pub fail: FailArgs,
    #[command(flatten)]
    pub run: RunArgs,
}

/// Show statistics of a policy set, or the policies of one host
///
/// Without HOST: origins by state, usage preferences and licences, robots, rule sets, how often
/// each is shared and how it is decided, bytes by section, the largest and the most expensive
/// policies, dates. With HOST: how its policy was captured, the robots that the policy names, the
/// usage records that apply to each robot, and all records with their lines. The exit status is 1
/// if the set has no policy for the host.
///
/// In a set that is compiled with --history, a host also has its periods, in each of which its policy
/// stays the same. The first period says how much of the site the policy allows (everything, part,
/// nothing) to each robot that a file of the host names, and to all others; each later one, what
/// changed for whom.
#[derive(Args)]
#[command(
    mut_arg("agents", |agents| agents.requires("host")),
    mut_arg("user_agents", |agents| agents.requires("host")),
    mut_arg("memory", |memory| memory.requires("verify"))
)]
pub struct InspectArgs {
    /// The policy set
    #[arg(value_name = "SET", value_parser = values::path(SetAt::parse))]
    pub set: SetAt,

    /// A host (`example.com`, `example.com:8080`) for its http and https origins, or a URL for its
    /// origin
    #[arg(value_name = "HOST", conflicts_with = "top")]
    pub host: Option<OsString>,

    #[command(flatten)]
    pub agents: AgentArgs,

    /// Verify the set: checksums, structure, and that the compiled rules match the stored text
    ///
    /// Statistics are left out, unless --format or --top asks for them.
    #[arg(long)]
    pub verify: bool,

    #[command(flatten)]
    pub top: TopArgs,

    /// Print the robots.txt of period N of HOST instead, as far as the set stores it
    #[arg(long, value_name = "N", requires = "host", conflicts_with_all = ["agents", "user_agents", "format", "top"], help_heading = "Output", hide_short_help = true)]
    pub body: Option<usize>,

    #[arg(long, help = texts::FORMAT, long_help = texts::FORMAT_LONG, value_name = "FORMAT", value_parser = values::format(&[Format::Text, Format::Json]), help_heading = "Output")]
    pub format: Option<Format>,

    #[command(flatten)]
    pub memory: CompileMemoryArgs,
}

/// The columns of `survey`, for its help.
const COLUMNS: &str = "\
Columns:
  origin, host   the origin, and its host with its port unless that is the default
  domain         the part of the host that is registered, by the Public Suffix List of psl 2.1.247;
                 null for addresses, public suffixes, and suffixes that are not listed
  agent          the crawler, as in -a
  state          rules, no-rules, page, unavailable, unreachable or deferred
  access         all, part or none of the paths: exact; null if a limit ended the search
  root           the verdict on the path /
  group, named   the user-agent value that selects the group, null if no group applies; whether a
                 group names the crawler
  rules          number of rules that apply
  crawl_delay    seconds
  train_ai, ai_use, search
                 the preference about all that the crawler may fetch: y, n, ? (not stated), or mixed
                 where pages differ; null if it may fetch nothing, or if a limit ended the search
  licenses, sitemaps
                 counts, each sitemap once; --lists adds license_values and sitemap_values
  relation, witness
                 with --beside AGENT: what the crawler may fetch beside AGENT, and a path that shows it
  shared         number of origins in the set that have the very same file; null without a file
  captured       the date of the newest capture
  since, until   the time in which the policy stayed the same, in a set with history; until is null
                 if it is in force";

/// Survey a policy set: a row for each origin and crawler
///
/// Every value is read from the compiled rules: whether a crawler may fetch all, part or none of a
/// site is decided over all paths, not by a list of URLs. The summary has the totals of each crawler,
/// in which a host counts once for each of its policies.
#[derive(Args)]
#[command(
    after_long_help = COLUMNS,
    mut_arg("agents", |agents| agents.required_unless_present_any(["user_agents", "sitemaps"]))
)]
pub struct SurveyArgs {
    #[command(flatten)]
    pub agents: AgentArgs,
    #[command(flatten)]
    pub beside: BesideArgs,

    #[command(flatten)]
    pub policies: PolicyArgs,

    #[arg(long, help = texts::HISTORY, long_help = texts::HISTORY_LONG, help_heading = "Output")]
    pub history: bool,

    /// Add the values of licences and sitemaps: lists in Parquet and JSON Lines, and JSON arrays in
    /// other formats
    #[arg(long, help_heading = "Output", hide_short_help = true)]
    pub lists: bool,

    /// Write a row for each origin and sitemap that its robots.txt names, instead
    ///
    /// The columns are origin (`*` if one robots.txt applies to every URL), sitemap, and problem: why the
    /// value is not an absolute URL, if so.
    #[arg(long, conflicts_with_all = ["agents", "user_agents", "beside", "history", "lists"], help_heading = "Output")]
    pub sitemaps: bool,

    #[arg(long, help = texts::FORMAT, long_help = texts::FORMAT_LONG, value_name = "FORMAT", value_parser = values::format(Format::TABLES), help_heading = "Output")]
    pub format: Option<Format>,

    #[command(flatten)]
    pub output: OutputArgs,

    #[command(flatten)]
    pub run: RunArgs,
}
