//! Flags of each subcommand.

use std::ffi::OsString;

use clap::{Args, ValueHint};
use portcullis_captures::{CaptureFormat, FieldName};
use portcullis_lint::{Code, Severity};
use portcullis_report::filter::{Fate, Purpose};
use portcullis_robots::access::{LongOutage, UnixSeconds};
use portcullis_rows::output::columns::Columns;

use super::super::lint::codes;
use super::super::output::{OutputFile, OutputFolder, RecordsTo};
use super::super::values::{self, Format, MaxAge, SetAt};
use super::groups::{
    AGENT_OF_RECORD, AgentArgs, BaselineArgs, CapturePath, ColorArgs, CompileMemoryArgs, FaultArgs,
    InputArgs, ListPath, ListTimeArgs, OutputArgs, PolicyArgs, ReadingArgs, RecordAgentArgs,
    RejectArgs, RobotsPath, RunArgs, StrictArgs, TextArgs, ThreadArgs, TimeArgs, TimeUnitArgs,
    TopArgs, UrlOrList, UsageArgs,
};
use super::texts;

/// Check URLs: print verdicts, URL and reason, separated by TABs
///
/// A line has a verdict for each crawler, each followed by its columns of --usage, then the URL,
/// and the reason if a verdict is unknown, or the problem if the record is not a URL. The exit
/// status is 0 if every URL is allowed, and 1 if one is disallowed, unknown or invalid. So
/// `check … @sitemap.xml` fails a build if robots.txt blocks a page of the sitemap.
#[derive(Args)]
#[command(
    override_usage = values::usage("check", "-a A,B", "URL..."),
    mut_arg("agents", |agents| agents.required_unless_present("user_agents")),
    mut_arg("null_data", |data| data.help("Records of lists end with NUL instead of newline"))
)]
pub struct CheckArgs {
    /// URLs, or lists of URLs: `@FILE`, or `-` for standard input
    ///
    /// Lists may have any format that `classify` reads. The URLs of lists come after the URLs named
    /// here.
    #[arg(value_name = "URL", required = true, value_parser = values::path(UrlOrList::parse))]
    pub urls: Vec<UrlOrList>,

    #[command(flatten)]
    pub reading: ReadingArgs,

    #[command(flatten)]
    pub agents: AgentArgs,
    #[command(flatten)]
    pub policies: PolicyArgs,
    #[command(flatten)]
    pub time: TimeArgs,
    #[command(flatten)]
    pub usage: UsageArgs,

    /// Show the group that applies, the deciding rule and its line, the losing rules, and the
    /// clause of the standard
    #[arg(long, help_heading = "Output")]
    pub explain: bool,

    #[arg(long, help = texts::FORMAT, value_name = "FORMAT", default_value = "text", value_parser = values::format(&[Format::Text, Format::Jsonl]), help_heading = "Output")]
    pub format: Format,

    #[arg(short, long, help = texts::QUIET, conflicts_with_all = ["explain", "format", "usage"], help_heading = "Output")]
    pub quiet: bool,

    #[command(flatten)]
    pub color: ColorArgs,
}

/// How the usage line of a run over records names the agents.
const OF_RECORDS: &str = "<-a A,B|--agent-field NAME>";

/// The output formats of `classify`, for its help.
const FORMATS: &str = "\
Formats:
  tsv      the added columns (one verdict per agent: allow, disallow, unknown or invalid), then the
           record
  csv      a header, the columns of the input (`url` if it has none), then the added columns
  jsonl    one object per record: the members or columns of the input, or `url`, then the added
           columns
  parquet  the unchanged columns of a Parquet input, or `url`, then the added columns";

/// Tag every record of a list with its verdicts
///
/// Every record is written, in the order of the input.
#[derive(Args)]
#[command(after_long_help = FORMATS, override_usage = values::usage("classify", OF_RECORDS, "[FILE]..."))]
pub struct ClassifyArgs {
    #[command(flatten)]
    pub records: RecordsArgs,
    #[command(flatten)]
    pub usage: UsageArgs,

    #[arg(long, help = texts::FORMAT_OF_TABLE, long_help = texts::FORMAT_OF_TABLE_LONG, value_name = "FORMAT", value_parser = values::format(Format::TABLES), help_heading = "Output")]
    pub format: Option<Format>,

    /// Columns to add, such as verdict,reason,line,rule,group,delay,state
    ///
    /// Separate several by commas. For each agent: verdict (the default), reason, line, rule,
    /// group, and delay (the Crawl-delay in seconds). For each record: `state` is the state of the
    /// origin (rules, no-rules, page, unavailable, unreachable, deferred or unknown). With --at,
    /// `captured` is the date of the newest capture at that time, and `since` and `until` are the
    /// period in which the policy stayed the same.
    #[arg(long, value_name = "WORDS", help_heading = "Output")]
    pub columns: Option<Columns>,

    /// Write a row for each record and agent, with reason, line, rule and group
    ///
    /// --columns selects other columns. With --usage, the line, value and kind of each statement and the
    /// licences follow. A Parquet input keeps only its URL.
    #[arg(long, help_heading = "Output")]
    pub long: bool,

    /// Prefix of the names of added columns
    ///
    /// In JSON Lines, it precedes the names of added members.
    #[arg(
        long,
        value_name = "PREFIX",
        default_value = "",
        hide_default_value = true,
        help_heading = "Output",
        hide_short_help = true
    )]
    pub column_prefix: String,

    /// Begin tsv with a header line of column names; csv always has one
    #[arg(long, help_heading = "Output")]
    pub header: bool,
}

/// Print the allowed records of a list
///
/// Records are copied byte for byte, in the order of the input. By default, records of hosts
/// without a policy and records that are not URLs are dropped; an empty line is not a URL.
#[derive(Args)]
#[command(override_usage = values::usage("filter", OF_RECORDS, "[FILE]..."), mut_arg("output", |output| {
    output.help(texts::OUTPUT_OF_FILTER).long_help(texts::OUTPUT_OF_FILTER_LONG)
}))]
pub struct FilterArgs {
    /// Keep a record if any agent may fetch it, not only if all may
    #[arg(long, help_heading = "Selection")]
    pub any: bool,

    /// Keep records that some agent may not fetch
    ///
    /// With --any, keep those that no agent may fetch. Unknown and invalid records go where --unknown and --invalid send them.
    #[arg(short = 'v', long, help_heading = "Selection")]
    pub invert: bool,

    /// Destination of URLs of hosts without a policy
    ///
    /// keep: write them to the output. drop: discard them. FILE: write them to FILE; ./keep and ./drop
    /// are files. A URL whose policy has expired (--max-age), or is later than the URL's time, is unknown
    /// too. Records without an agent or a time are dropped; --rejects lists them.
    #[arg(long, value_name = "keep|drop|FILE", value_parser = values::path(RecordsTo::parse), default_value = "drop", value_hint = ValueHint::FilePath, help_heading = "Selection")]
    pub unknown: RecordsTo,

    /// Destination of records that are not URLs
    ///
    /// keep, drop or FILE, as for --unknown.
    #[arg(long, value_name = "keep|drop|FILE", value_parser = values::path(RecordsTo::parse), default_value = "drop", value_hint = ValueHint::FilePath, help_heading = "Selection")]
    pub invalid: RecordsTo,

    /// Destination of URLs with a web page as robots.txt
    ///
    /// keep, drop or FILE, as for --unknown. JSON and binary data are treated as pages too. A page has no
    /// rules, so every dialect allows everything.
    #[arg(long, value_name = "keep|drop|FILE", value_parser = values::path(RecordsTo::parse), default_value = "keep", value_hint = ValueHint::FilePath, help_heading = "Selection", hide_short_help = true)]
    pub pages: RecordsTo,

    /// Keep pages that permit train-ai, ai-use, search or use=LEVEL
    ///
    /// The levels of Content-Signal are immediate, reference and full. `use=reference` keeps URLs
    /// that permit reference or full.
    #[arg(long, value_name = "LABEL", value_parser = values::purpose, requires = "unstated", help_heading = "Selection")]
    pub purpose: Option<Purpose>,

    /// Required with --purpose: keep or drop URLs without a statement
    #[arg(long, value_parser = values::named(&[Fate::Keep, Fate::Drop], Fate::as_str), value_name = "keep|drop", requires = "purpose", hide_possible_values = true, help_heading = "Selection")]
    pub unstated: Option<Fate>,

    /// Read rules for this token as y or n about the purpose
    ///
    /// Some tokens, such as Google-Extended and Applebot-Extended, fetch nothing: by rules for them, a file
    /// permits or refuses a use. A rule that allows a URL states y, one that disallows it n, and no rule
    /// states nothing; the groups for * are ignored. n of any token or field overrides y.
    #[arg(long = "purpose-token", value_name = "TOKEN", value_delimiter = ',', value_parser = values::purpose_token, requires = "purpose", hide_short_help = true, help_heading = "Selection")]
    pub purpose_tokens: Vec<String>,

    #[command(flatten)]
    pub records: RecordsArgs,

    /// Write only the number of kept records
    #[arg(short, long, conflicts_with_all = ["out_dir", "skip_existing", "keep_going"], help_heading = "Output")]
    pub count: bool,

    #[arg(short, long, help = texts::QUIET_FILTER, conflicts_with_all = ["count", "output", "out_dir", "skip_existing", "keep_going"], hide_short_help = true, help_heading = "Output")]
    pub quiet: bool,

    /// Exit with 1 if no record is kept
    #[arg(long, help_heading = "Output")]
    pub fail: bool,
}

/// Flags of both `classify` and `filter`: a run over the records of lists.
#[derive(Args)]
#[command(mut_arg("agents", |agents| agents.required_unless_present_any(["user_agents", AGENT_OF_RECORD])))]
pub struct RecordsArgs {
    #[command(flatten)]
    pub agents: AgentArgs,
    #[command(flatten)]
    pub agent_of_record: RecordAgentArgs,

    #[command(flatten)]
    pub policies: PolicyArgs,
    #[command(flatten)]
    pub times: ListTimeArgs,

    /// Decide by the newest policies too: `filter` keeps what was allowed then and is allowed now,
    /// `classify` adds the verdict as of now
    ///
    /// AGENT_now follows the column AGENT, and AGENT_LABEL_now the column AGENT_LABEL of --usage. In `filter`, an agent must be allowed, and have the use of --purpose, at both times. An agent
    /// that is disallowed at one time is disallowed, even if the other time is unknown.
    #[arg(long, hide_short_help = true, help_heading = "Time")]
    pub and_now: bool,

    /// Treat a robots.txt that is older (24h, 30d) or undated as unknown
    ///
    /// The reason is `expired`, or `before-first` if the robots.txt was captured after --now. With `headers`, a capture
    /// expires as its response headers and the dialect say, by default after 24 hours (RFC 9309, section 2.4). A
    /// response without a file (404, 503, none) has the age of its capture. After redirects, the age of the oldest
    /// response is used.
    #[arg(long, value_name = "DURATION", value_parser = values::max_age, help_heading = "Time")]
    pub max_age: Option<MaxAge>,

    /// Time at which ages are judged [default: the clock's]
    ///
    /// Without --max-age, verdicts stay the same, and the summary counts the URLs whose robots.txt
    /// had expired at this time or was captured later.
    #[arg(long, value_name = "TIME", value_parser = values::time, hide_short_help = true, help_heading = "Time")]
    pub now: Option<UnixSeconds>,

    #[command(flatten)]
    pub input: InputArgs,
    #[command(flatten)]
    pub output: OutputArgs,

    /// Write one output for each list to DIR, named after the list
    ///
    /// `classify` writes `urls.txt.gz` to `DIR/urls.tsv.gz`, and `filter` to `DIR/urls.txt.gz`. All
    /// files appear together once they are complete, unless --skip-existing or --keep-going is given.
    #[arg(long, value_name = "DIR", value_parser = values::path(OutputFolder::parse), conflicts_with = "output", value_hint = ValueHint::DirPath, help_heading = "Output", hide_short_help = true)]
    pub out_dir: Option<OutputFolder>,

    /// With --out-dir, skip lists whose outputs exist
    ///
    /// Each output appears once it is complete, so the same command continues an interrupted run.
    // What conflicts with --out-dir is named here too, because clap asks for no flag that another
    // excludes.
    #[arg(
        long,
        requires = "out_dir",
        conflicts_with = "output",
        hide_short_help = true,
        help_heading = "Output"
    )]
    pub skip_existing: bool,

    /// With --out-dir, continue after a list that cannot be read
    ///
    /// Each output appears once it is complete. Failed lists are reported and have no output, and
    /// the exit status is 2.
    #[arg(
        long,
        requires = "out_dir",
        conflicts_with = "output",
        hide_short_help = true,
        help_heading = "Output"
    )]
    pub keep_going: bool,

    /// Write to FILE, for each host without a policy, the host, a TAB and its number of URLs
    ///
    /// Lines are sorted by host; .gz and .zst compress them. The number of hosts is not limited:
    /// counts that do not fit in memory go to temporary files next to FILE.
    #[arg(long, value_name = "FILE", value_parser = values::path(OutputFile::parse), value_hint = ValueHint::FilePath, hide_short_help = true, help_heading = "Output")]
    pub unknown_hosts: Option<OutputFile>,

    #[command(flatten)]
    pub rejects: RejectArgs,
    #[command(flatten)]
    pub run: RunArgs,
}

/// Report how robots.txt affects a list of URLs: which agents may fetch which URLs, by which rules
///
/// One pass over the list counts verdicts by agent, the hosts that disallow most, the rules that
/// decide most URLs, what each crawler may fetch, what pages may be used for, hosts whose
/// robots.txt is missing, and problems in the files. The report is the same for any number of
/// threads. To compare two policy sets on a list, use `portcullis diff OLD NEW -a AGENT FILE`.
///
/// With --agent-field, each record is decided for the crawler that it names. The report has a row
/// for each known crawler, with the way its operator says it reads robots.txt. Crawlers that
/// are not bound by robots.txt have a table of their own. If the policies ask for a Crawl-delay,
/// the requests of a log are compared with it.
///
/// Without -o, the report is a one-page summary as text. -o FILE.html writes a page for a browser.
/// It begins with the same summary, which prints on one A4 sheet, works without a network, in light
/// and dark, and stays below 2 MB: longer lists are cut. -o FILE.json writes one object with
/// everything.
///
/// With --at TIME, the report is as of that time. With --time-field, each URL is decided as of its
/// own time, and figures that do not depend on the list describe the newest policies.
#[derive(Args)]
#[command(override_usage = values::usage("audit", OF_RECORDS, "[FILE]..."))]
#[command(mut_arg("top", |top| top.help("Rows of each table, such as hosts or rules; text has at most 5 [default: 50]")))]
#[command(mut_arg("agents", |agents| agents.required_unless_present_any(["user_agents", AGENT_OF_RECORD])))]
pub struct AuditArgs {
    #[command(flatten)]
    pub agents: AgentArgs,
    #[command(flatten)]
    pub agent_of_record: RecordAgentArgs,

    /// Column or field NAME with the client of each request, such as `client_ip` [default: record]
    ///
    /// `record` is the client in the format of a log. The requests of a crawler are compared with
    /// its Crawl-delay client by client. In a list without clients, all requests of a crawler to a
    /// host are compared as the requests of one client.
    #[arg(long, value_name = "NAME", value_delimiter = ',', requires = AGENT_OF_RECORD, hide_short_help = true, help_heading = "Crawlers")]
    pub client_field: Vec<String>,

    #[command(flatten)]
    pub baseline: BaselineArgs,
    #[command(flatten)]
    pub policies: PolicyArgs,
    #[command(flatten)]
    pub times: ListTimeArgs,
    #[command(flatten)]
    pub input: InputArgs,

    #[arg(short, long, help = texts::OUTPUT_OF_AUDIT, long_help = texts::OUTPUT_OF_AUDIT_LONG, value_name = "FILE", value_parser = values::path(OutputFile::parse), help_heading = "Output", value_hint = ValueHint::FilePath)]
    pub output: Vec<OutputFile>,

    #[arg(long, help = texts::FORMAT_OF_REPORT, value_name = "FORMAT", value_parser = values::format(AUDIT_FORMATS), help_heading = "Output")]
    pub format: Option<Format>,

    #[command(flatten)]
    pub top: TopArgs,
    #[command(flatten)]
    pub rejects: RejectArgs,
    #[command(flatten)]
    pub run: RunArgs,
}

/// The formats of a report.
pub const AUDIT_FORMATS: &[Format] = &[Format::Text, Format::Html, Format::Json];

/// The formats of a survey: tables, and the page about them.
pub const SURVEY_FORMATS: &[Format] =
    &[Format::Tsv, Format::Jsonl, Format::Csv, Format::Parquet, Format::Html];

/// The input formats of `compile`, for its help.
const SCHEMAS: &str = "\
Input formats:
  Folder    Files named after their hosts: example.com, example.com.txt, example.com.robots.txt, or
            example.com/robots.txt as `wget -x` and `wget -r` write it; each also with .gz or .zst.
            A port may follow the host. A name without a dot is not a host, except localhost.
  JSON Lines, CSV, Parquet
            One object or row per response. Fields, by their usual names (in upper or lower case) or --fields:
              url          url, robots_url, uri: the URL requested first
              host         host, domain, hostname: instead of a URL; a host stands for http and
                           https on their default ports
              status       status, fetch_status, http_status, status_code: null or 0 for no response;
                           without the field, a record with a body has status 200, with a note
              body         body, content, robots_txt, text: the decoded text
              body_base64  body_base64: the body in base64
              fetched_at   fetched_at, fetch_time, warc_date, timestamp: a date or time in any form
                           that lists may have, or a number (--time-unit)
              error        error: why there was no response, or why the body is incomplete
              truncated    truncated, content_truncated: set if the body was cut
              headers      headers: an object of texts or lists of texts (JSON Lines only)
              redirects    redirects: the list of redirects followed (JSON Lines only)
            A record needs a url or a host, and a status, a body or an error. A line of JSON Lines
            may also be {HOST: {DATE: BODY, …}, …}. An empty CSV field without quotes is null.
  WARC      response, resource and revisit records whose URL ends in robots.txt.";

/// Compile archived robots.txt files into a policy set
///
/// The newest capture of each origin is used. Redirects are followed if their targets were
/// captured. An input that cannot be read is an error; a broken record is reported and skipped.
///
/// Policy sets among the inputs are merged as if their inputs had been compiled together. They must have the
/// same dialect and size limit, and the same treatment of outages unless a flag chooses it. The order of
/// inputs does not matter: of two captures in the same second, or of two without dates, the one from the
/// input whose name sorts last is used. Two files of one folder for the same host are not two captures: the
/// one whose name sorts first is used, with a note.
#[derive(Args)]
#[command(
    after_long_help = SCHEMAS,
    mut_arg("strict", |strict| strict.long_help(texts::STRICT_OF_COMPILE)),
    mut_arg("lenient", |lenient| lenient.help(texts::LENIENT_OF_COMPILE).long_help(texts::LENIENT_OF_COMPILE_LONG))
)]
pub struct CompileArgs {
    /// Archives, folders, globs, policy sets, or `@FILE` (one input per line); `-` is standard
    /// input
    ///
    /// Folders are read with all files below them, except names that begin with `.` or `_`. The
    /// formats are listed below.
    #[arg(value_name = "INPUT", required = true, value_parser = values::path(|path| Ok(CapturePath(path.into()))))]
    pub inputs: Vec<CapturePath>,

    #[command(flatten)]
    pub text: TextArgs,
    #[command(flatten)]
    pub faults: FaultArgs,

    /// Ignore captures after TIME, a date or RFC 3339 time
    ///
    /// If the last captures of a host failed, its outage lasts until TIME, or by default until the last
    /// failed capture. A note counts the captures after TIME. The default is
    /// the TIME of the policy sets among the inputs, if they agree. A set with captures after TIME, or
    /// compiled as of an earlier time, is an error.
    #[arg(long, value_name = "TIME", value_parser = values::time, help_heading = "Time")]
    pub as_of: Option<UnixSeconds>,

    /// Effect of an outage of more than 30 days [default: no-change]
    ///
    /// no-change: the host stays unreachable, and everything is disallowed. unavailable: everything
    /// is allowed. last-good-copy: the newest captured file applies; without one, no-change.
    /// unavailable-at-once: everything is allowed from the first failure on (Heritrix does this
    /// after server errors; it violates RFC 9309). The flag applies to rfc9309 and draft2019, which
    /// leave the choice open. google uses the last good copy, and allows everything without one.
    #[arg(long, value_name = "CHANGE", value_parser = values::named(&LongOutage::ALL, LongOutage::as_str), help_heading = "Outages", hide_short_help = true)]
    pub long_outage: Option<LongOutage>,

    #[arg(long, help = texts::HISTORY_OF_COMPILE, long_help = texts::HISTORY_OF_COMPILE_LONG, help_heading = "History")]
    pub history: bool,

    /// Give an origin without a capture the robots.txt of the other scheme of its host
    ///
    /// By RFC 9309, http://a.example and https://a.example each have a robots.txt, and an origin
    /// without a capture is unknown. With this flag, http takes the policy of https, or https the
    /// policy of http, and the note `other-scheme` counts these origins. A captured origin keeps
    /// its own answer. The set stores the flag, and sets that differ in it are merged only with it.
    #[arg(long, help_heading = "Schemes", hide_short_help = true)]
    pub join_schemes: bool,

    #[arg(long, help = texts::CAPTURES_FORMAT, value_name = "FORMAT", value_parser = values::named(&CaptureFormat::ALL, CaptureFormat::as_str), help_heading = "Input")]
    pub input_format: Option<CaptureFormat>,

    /// Names of fields in JSON Lines, CSV and Parquet, such as url=request.url,body=text
    ///
    /// Dots separate nested names; write `\.` for a dot in a name. An empty NAME means that there
    /// is no such field. This flag may be given multiple times.
    #[arg(long, value_name = "FIELD=NAME,…", value_delimiter = ',', help_heading = "Input")]
    pub fields: Vec<FieldName>,

    #[command(flatten)]
    pub unit: TimeUnitArgs,

    #[arg(short, long, help = texts::OUTPUT_OF_COMPILE, long_help = texts::OUTPUT_OF_COMPILE_LONG, value_name = "SET", value_parser = values::path(OutputFile::parse), help_heading = "Output", value_hint = ValueHint::FilePath)]
    pub output: OutputFile,

    #[command(flatten)]
    pub run: RunArgs,
    #[command(flatten)]
    pub memory: CompileMemoryArgs,
}

/// Compare two policy sets, or two robots.txt files
///
/// Two robots.txt files: the output has rows for each crawler that one of the files names, and for
/// `*`, any other crawler. Crawlers with the same result share rows: `agent` lists their names,
/// separated by commas. The answer is `equal` if both files give the same verdict on every possible
/// URL. It is `different` if they do not: the rows have a shortest path in each direction and then
/// a path for each rule that changes a verdict, with both verdicts and rules. It is `unknown` if a
/// limit ended the comparison; the exit status is 2 if an answer is `unknown` and none is
/// `different`. With FILE, the output is the same as for two sets, and each robots.txt applies to
/// every URL.
///
/// Two sets without FILE: a row for each changed origin, in the order of hosts, with the change
/// (added, gone, state, state-and-usage, rules, rules-and-usage or usage), the old and the new
/// state; for an origin without a file, state and verdict (`unavailable allow`). The states are equal
/// if only rules or usage changed. With -a, a change of rules has a row
/// for each crawler whose rules changed, and is left out if there is none; other changes have one
/// row without an agent. Rules are compared as patterns in normal form with their verdicts, by
/// precedence. Without -a, the user-agent lines and rules of the file are compared.
///
/// Two sets with FILE, which requires -a: a row for each URL and crawler whose verdict changed, in
/// the order of the input, with both verdicts, their reasons, lines and rules. --usage adds rows
/// for changes in what pages may be used for.
#[derive(Args)]
#[command(
    mut_arg("assume_scheme", |scheme| scheme.requires("files")),
    mut_arg("usage", |usage| usage.long_help(texts::USAGE_OF_DIFF)),
    mut_arg("top", |top| top.help("Differing paths shown per crawler (two robots.txt files) [default: 10]"))
)]
pub struct DiffArgs {
    /// Old policy set or robots.txt; `SET@TIME` is a set with history, as of a time
    #[arg(value_name = "OLD", value_parser = values::path(SetAt::parse))]
    pub old: SetAt,

    /// New policy set or robots.txt
    #[arg(value_name = "NEW", value_parser = values::path(SetAt::parse))]
    pub new: SetAt,

    #[command(flatten)]
    pub agents: AgentArgs,
    #[command(flatten)]
    pub text: TextArgs,
    #[command(flatten)]
    pub strict: StrictArgs,

    /// Lists of URLs to compare by verdict, folders or globs; `-` is standard input
    #[arg(value_name = "FILE", help_heading = "Input", conflicts_with = "top", value_parser = values::path(|path| Ok(ListPath(path.into()))))]
    pub files: Vec<ListPath>,

    #[command(flatten)]
    pub reading: ReadingArgs,

    #[command(flatten)]
    pub usage: UsageArgs,

    #[arg(long, help = texts::FORMAT_OF_TABLE, long_help = texts::FORMAT_OF_DIFF_LONG, value_name = "FORMAT", value_parser = values::format(Format::TABLES), help_heading = "Output")]
    pub format: Option<Format>,

    #[command(flatten)]
    pub top: TopArgs,
    #[command(flatten)]
    pub output: OutputArgs,
    #[command(flatten)]
    pub rejects: RejectArgs,
    #[command(flatten)]
    pub run: RunArgs,
}

/// Show statistics of a policy set, or the policies of one host
///
/// Without HOST: origins by state, usage preferences and licences, crawlers, the largest and the
/// most expensive policies, and dates. With HOST: how its policy was captured, the crawlers that it
/// names, the usage records for each crawler, and all records with their lines. The exit status is
/// 1 if the set has no policy for the host.
///
/// If the set was compiled with --history, HOST also has its periods, in which the policy stays the
/// same. The first period shows how much the policy allows (all, part, none) to each crawler that a
/// file of the host names and to all others. Later periods show the changes.
#[derive(Args)]
#[command(
    mut_arg("agents", |agents| agents.requires("host").help(texts::AGENTS_OF_INSPECT).long_help(texts::AGENTS_OF_INSPECT)),
    mut_arg("user_agents", |agents| agents.requires("host")),
    mut_arg("memory", |memory| memory.requires("verify")),
    mut_arg("top", |top| top.help("Rows of each table, such as crawlers or hosts [default: 10]"))
)]
pub struct InspectArgs {
    /// The policy set
    #[arg(value_name = "SET", value_parser = values::path(SetAt::parse))]
    pub set: SetAt,

    /// Host (`example.com`, `example.com:8080`) for its http and https origins, or a URL for its
    /// origin
    #[arg(value_name = "HOST", conflicts_with = "top")]
    pub host: Option<OsString>,

    /// Verify the set: checksums, structure, and that the compiled rules match the stored text
    ///
    /// Prints the sections of the set and their sizes. Statistics follow if --format or --top is
    /// given.
    #[arg(long)]
    pub verify: bool,

    #[command(flatten)]
    pub agents: AgentArgs,

    #[command(flatten)]
    pub top: TopArgs,

    /// Print the robots.txt of period N of HOST instead, as far as the set stores it
    #[arg(long, value_name = "N", requires = "host", conflicts_with_all = ["agents", "user_agents", "format", "top"], help_heading = "Output", hide_short_help = true)]
    pub body: Option<usize>,

    #[arg(long, help = texts::FORMAT, value_name = "FORMAT", value_parser = values::format(&[Format::Text, Format::Json]), help_heading = "Output")]
    pub format: Option<Format>,

    #[command(flatten)]
    pub memory: CompileMemoryArgs,
}

/// The columns of `survey`, for its help.
const COLUMNS: &str = "\
Columns:
  origin, host   the origin, and its host with its port unless that is the default
  domain         the registrable domain, by the Public Suffix List of psl 2.1.247; null for
                 addresses, public suffixes, and unlisted suffixes
  agent          the crawler, as in -a
  state          rules, no-rules, page, unavailable, unreachable or deferred
  access         all, part or none of the paths, exactly; null if a limit ended the search
  root           the verdict on the path /
  group          the user-agent value of the group that applies; null if none does
  named          whether a group names the crawler
  rules          number of rules that apply
  crawl_delay    seconds
  train_ai, ai_use, search
                 the preference for everything that the crawler may fetch: y, n, ? (not stated), or
                 mixed if pages differ; null if it may fetch nothing, or if a limit ended the search
  licenses, sitemaps
                 numbers of distinct values; --lists adds license_values and sitemap_values
  relation, example_path
                 with --baseline AGENT: what the crawler may fetch compared with AGENT, and a path
                 as an example
  shared         number of origins in the set with the same file; null without a file
  captured       the date of the newest capture
  since, until   the period in which the policy stayed the same, in a set with history; until is
                 null if the policy is still in force
  by             the cause: rule, no-group, no-rules or page; without a file, unavailable,
                 unreachable or deferred
  use            the level: immediate, reference, full, ? (not stated) or mixed; null if it may
                 fetch nothing";

/// Survey a policy set: a row for each origin and crawler
///
/// Values come from the compiled rules: whether a crawler may fetch all, part or none of an origin
/// is decided over all paths, not by a list of URLs. The summary has totals for each crawler, in
/// which a host is counted once for each of its policies.
#[derive(Args)]
#[command(
    after_long_help = COLUMNS,
    override_usage = values::usage("survey", "<-a A,B|--sitemaps>", ""),
    mut_arg("output", |output| output.long_help(texts::OUTPUT_OF_SURVEY_LONG)),
    mut_arg("lenient", |lenient| lenient.help(texts::LENIENT_OF_SURVEY).long_help(texts::LENIENT_OF_SURVEY).conflicts_with("set")),
    mut_arg("agents", |agents| agents.required_unless_present_any(["user_agents", "sitemaps"]))
)]
pub struct SurveyArgs {
    #[command(flatten)]
    pub agents: AgentArgs,
    #[command(flatten)]
    pub baseline: BaselineArgs,

    #[command(flatten)]
    pub policies: PolicyArgs,

    #[arg(long, help = texts::HISTORY_OF_SURVEY, long_help = texts::HISTORY_OF_SURVEY_LONG, help_heading = "Output")]
    pub history: bool,

    /// Add the values of licences and sitemaps: lists in Parquet and JSON Lines, JSON arrays
    /// elsewhere
    #[arg(long, help_heading = "Output", hide_short_help = true)]
    pub lists: bool,

    /// Instead, write a row for each origin and each sitemap in its robots.txt
    ///
    /// The columns are origin (`*` if one robots.txt applies to every URL), sitemap, and problem:
    /// the reason why a value is not an absolute URL.
    #[arg(long, conflicts_with_all = ["agents", "user_agents", "baseline", "history", "lists"], help_heading = "Output")]
    pub sitemaps: bool,

    #[arg(long, help = texts::FORMAT_OF_TABLE, long_help = texts::FORMAT_OF_SURVEY_LONG, value_name = "FORMAT", value_parser = values::format(SURVEY_FORMATS), help_heading = "Output")]
    pub format: Option<Format>,

    #[command(flatten)]
    pub output: OutputArgs,

    #[command(flatten)]
    pub run: RunArgs,
}

/// Report problems in robots.txt files, line by line
///
/// Each finding has a code, shows how each dialect reads the line, and names a fix. --describe all
/// prints the page of all codes. With -a, only the rules for these crawlers are compared; problems
/// of single lines and patterns are always reported. The exit status is 1 if an error is found.
#[derive(Args)]
#[command(mut_arg("dialect", |dialect| {
    dialect
        .help("Dialect whose findings are reported [default: rfc9309]")
        .long_help(texts::DIALECT_OF_LINT)
}))]
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
    pub ignore: Vec<Code>,

    /// Lowest severity to report: info, warning or error
    ///
    /// By default, text and github report warnings and errors and count the findings of severity
    /// info. json has every finding.
    #[arg(long, value_parser = values::named(&Severity::ALL, Severity::as_str), value_name = "SEVERITY", conflicts_with_all = ["diff", "fix"], help_heading = "Codes")]
    pub level: Option<Severity>,

    /// Explain a code, or print all explanations as Markdown
    #[arg(long, value_name = "CODE|all", value_parser = described, exclusive = true, help_heading = "Codes")]
    pub describe: Option<String>,

    #[arg(long, help = texts::FORMAT, value_name = "FORMAT", default_value = "text", value_parser = values::format(&[Format::Text, Format::Json, Format::Github]), help_heading = "Output")]
    pub format: Format,

    #[command(flatten)]
    pub color: ColorArgs,
    /// Exit with 1 for a warning too, or for all that --level reports
    #[arg(long, help_heading = "Output")]
    pub fail: bool,

    /// Exit with 0 even if an error is found
    #[arg(long, conflicts_with = "fail", help_heading = "Output")]
    pub exit_zero: bool,

    /// Print a diff of the safe edits: those proved to keep every verdict
    ///
    /// After these edits, every URL has the same verdict for every crawler in all dialects, or with
    /// --dialect in that one. Other edits are only suggested.
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
        "unknown code; write one such as PC013 or misspelt-field (--describe all lists them)".into()
    })
}
