//! Flags of each subcommand.

use std::ffi::OsString;

use clap::{Args, ValueHint};
use portcullis_captures::{CaptureFormat, FieldName};
use portcullis_lint::{Code, Severity};
use portcullis_report::filter::Purpose;
use portcullis_robots::access::{LongOutage, UnixSeconds};
use portcullis_rows::output::columns::Columns;
use portcullis_set::batch::AgentKind;

use super::super::lint::codes;
use super::super::output::{OutputFile, OutputFolder, RecordsTo};
use super::super::values::{self, Format, MaxAge, SetAt};
use super::groups::{
    AgentArgs, BesideArgs, CapturePath, ColorArgs, CompileMemoryArgs, FaultArgs, InputArgs,
    ListPath, ListTimeArgs, OutputArgs, PolicyArgs, QuestionArgs, ReadingArgs, RejectArgs,
    RequiredArgs, RobotsPath, RunArgs, StrictArgs, TextArgs, ThreadArgs, TimeArgs, TimeUnitArgs,
    TopArgs, UrlOrList, UsageArgs,
};
use super::texts;

/// The flag that reads the agent of each record, so that -a is not required.
const AGENT_OF_RECORD: &str = "agent_field";

/// Check URLs and print VERDICT, TAB, URL for each
///
/// Exits with status 0 if every verdict is allow, and with 1 otherwise: a build can fail where robots.txt
/// closes a page of the sitemap.
#[derive(Args)]
pub struct CheckArgs {
    /// The URLs, or lists of URLs: `@FILE`, or `-` for standard input
    ///
    /// Lists may have any format that `classify` reads. Their URLs come after those that are named here.
    #[arg(value_name = "URL", required = true, value_parser = values::path(UrlOrList::parse))]
    pub urls: Vec<UrlOrList>,

    #[command(flatten)]
    pub reading: ReadingArgs,

    #[command(flatten)]
    pub asked: RequiredArgs,
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
    /// Keep a record if any agent is allowed, not only if all are
    #[arg(long, help_heading = "Selection")]
    pub any: bool,

    /// Keep disallowed records instead of allowed ones
    #[arg(short = 'v', long, help_heading = "Selection")]
    pub invert: bool,

    /// Without a known policy: keep, drop, or to FILE
    ///
    /// A file that is called keep or drop is ./keep or ./drop.
    #[arg(long, value_name = "keep|drop|FILE", value_parser = values::path(RecordsTo::parse), default_value = "drop", value_hint = ValueHint::FilePath, help_heading = "Selection")]
    pub unknown: RecordsTo,

    /// The same for records that are not URLs
    #[arg(long, value_name = "keep|drop|FILE", value_parser = values::path(RecordsTo::parse), default_value = "drop", value_hint = ValueHint::FilePath, help_heading = "Selection")]
    pub invalid: RecordsTo,

    /// The same where a page came as robots.txt
    ///
    /// A web page, JSON or binary data states nothing, so that every dialect allows everything.
    #[arg(long, value_name = "keep|drop|FILE", value_parser = values::path(RecordsTo::parse), default_value = "keep", value_hint = ValueHint::FilePath, help_heading = "Selection")]
    pub pages: RecordsTo,

    /// Keep what permits train-ai, ai-use, search, or use=LEVEL
    ///
    /// The levels of Content-Signal are immediate, reference and full. `use=reference` keeps what states
    /// reference or full.
    #[arg(long, value_name = "LABEL", value_parser = values::purpose, requires = "unstated", help_heading = "Selection")]
    pub purpose: Option<Purpose>,

    /// Keep or drop records whose use for the purpose is not stated
    #[arg(long, value_parser = values::one_of(&[("keep", true), ("drop", false)]), value_name = "WHAT", requires = "purpose", hide_short_help = true, help_heading = "Selection")]
    pub unstated: Option<bool>,

    #[command(flatten)]
    pub records: RecordsArgs,

    /// Print only the number of records kept
    #[arg(short, long, conflicts_with_all = ["out_dir", "skip_existing", "keep_going"], help_heading = "Output")]
    pub count: bool,

    #[arg(short, long, help = texts::QUIET, conflicts_with_all = ["count", "output", "out_dir", "skip_existing", "keep_going"], help_heading = "Output")]
    pub quiet: bool,

    /// Exit with status 1 if no record is kept
    #[arg(long, help_heading = "Output")]
    pub fail: bool,
}

/// Flags of both `classify` and `filter`: a run over the records of lists.
#[derive(Args)]
#[command(mut_arg("agents", |agents| agents.required_unless_present_any(["user_agents", AGENT_OF_RECORD])))]
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
    #[arg(long, value_parser = values::one_of(&[("token", AgentKind::Token), ("header", AgentKind::Header)]), value_name = "KIND", hide_possible_values = true, hide_short_help = true, help_heading = "Questions")]
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

    /// With --out-dir, leave out lists whose outputs exist
    ///
    /// Each output appears when it is complete, so the same command goes on where it was stopped.
    // What conflicts with --out-dir is named here too, because clap asks for no flag that another excludes.
    #[arg(
        long,
        requires = "out_dir",
        conflicts_with = "output",
        hide_short_help = true,
        help_heading = "Output"
    )]
    pub skip_existing: bool,

    /// With --out-dir, go on after a list that cannot be read
    ///
    /// Each output appears when it is complete. Lists that failed are reported, have no output, and
    /// the exit status is 2.
    #[arg(
        long,
        requires = "out_dir",
        conflicts_with = "output",
        hide_short_help = true,
        help_heading = "Output"
    )]
    pub keep_going: bool,

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
/// Without -o, the report is a short text: what crawlers may fetch, the rules that decide most, what to
/// fix, and preferences. The page (-o FILE.html) begins with one sheet for a person in a hurry, which prints on one A4: what
/// crawlers may fetch, the rules that decide most, what to fix (if --robots names one file, what `lint`
/// finds in it), and preferences, as far as they occur. Everything else follows. It opens in any browser
/// without a network, in light and dark, and stays under 2 MB: if the lists are too long for that, it
/// shows fewer rows. JSON (-o FILE.json) is one object.
#[derive(Args)]
pub struct AuditArgs {
    #[command(flatten)]
    pub asked: RequiredArgs,
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
pub const AUDIT_FORMATS: &[Format] = &[Format::Text, Format::Html, Format::Json];

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
    /// The captures of policy sets count as if the inputs that they came from were compiled again.
    /// Archives are then read with the dialect and the limits of the sets.
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
    /// is allowed. last-good-copy: the newest captured file applies; without one, no change.
    /// unavailable-at-once: everything is allowed from the first failure on, as Heritrix crawls after server
    /// errors, against RFC 9309. This
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
    pub questions: QuestionArgs,
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

/// Report problems in robots.txt files, line by line
///
/// Each diagnostic has a code, shows how each dialect reads the line, and says how to fix it. The
/// page of all codes is that of --describe all. With -a, only the rules for these crawlers are
/// compared; problems of single lines and patterns are reported in any case.
#[derive(Args)]
pub struct LintArgs {
    /// Files, or folders for all files in them; `-` is standard input
    #[arg(value_name = "FILE", required_unless_present = "describe", value_parser = values::path(|path| Ok(RobotsPath(path.into()))))]
    pub files: Vec<RobotsPath>,

    #[command(flatten)]
    pub agents: AgentArgs,
    #[command(flatten)]
    pub text: TextArgs,

    /// Do not report CODE, a code or its name
    ///
    /// Separate several by commas. This flag may be given multiple times.
    #[arg(long, value_name = "CODE", value_parser = code, value_delimiter = ',', help_heading = "Codes")]
    pub allow: Vec<Code>,

    /// The least severity to report: info, warning or error
    ///
    /// By default `text` and `github` report warnings and errors and count the notes (`info`);
    /// `json` has every finding with its severity.
    #[arg(long, value_parser = values::named(&Severity::ALL, Severity::as_str), value_name = "SEVERITY", conflicts_with_all = ["diff", "fix"], help_heading = "Codes")]
    pub level: Option<Severity>,

    /// Explain a code, or print all explanations as Markdown
    #[arg(long, value_name = "CODE|all", value_parser = described, exclusive = true, help_heading = "Codes")]
    pub describe: Option<String>,

    #[arg(long, help = texts::FORMAT, long_help = texts::FORMAT_LONG, value_name = "FORMAT", default_value = "text", value_parser = values::format(&[Format::Text, Format::Json, Format::Github]), help_heading = "Output")]
    pub format: Format,

    #[command(flatten)]
    pub color: ColorArgs,
    /// Exit with status 1 on a warning too, or on any finding that --level reports
    #[arg(long, help_heading = "Output")]
    pub fail: bool,

    /// Exit with status 0 even if there is an error
    #[arg(long, conflicts_with = "fail", help_heading = "Output")]
    pub exit_zero: bool,

    /// Print a diff of the edits that are proved to change no verdict
    ///
    /// With these edits every URL has the same verdict for every robot, in all dialects or, with
    /// --dialect, in that one. Edits that change verdicts are only suggested.
    #[arg(long, conflicts_with = "format", help_heading = "Fixing")]
    pub diff: bool,

    /// Apply the edits of --diff to the files
    #[arg(long, conflicts_with_all = ["format", "diff"], help_heading = "Fixing")]
    pub fix: bool,

    #[command(flatten)]
    pub threads: ThreadArgs,
}

impl LintArgs {
    /// Whether the edits are shown or applied, and not the problems reported.
    pub fn edits(&self) -> bool {
        self.diff || self.fix
    }
}

/// Returns the text that `--describe` prints.
fn described(text: &str) -> Result<String, String> {
    if text == "all" { Ok(codes::PAGE.into()) } else { code(text).map(codes::explanation) }
}

fn code(text: &str) -> Result<Code, String> {
    Code::parse(text).ok_or_else(|| {
        "unknown code; --describe all lists them, such as PC013 or misspelt-field".into()
    })
}
