//! Groups of flags that several subcommands share, in the order of the help: the questions, the
//! policies, the lists, the output, the run.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::str::FromStr as _;

use clap::{ArgGroup, Args, ColorChoice, ValueHint};
use portcullis_build::Strictness;
use portcullis_dialect::dialect::{Dialect, RFC_9309};
use portcullis_dialect::limits::ROBOTS_BYTES_MAX;
use portcullis_dialect::usage::Label;
use portcullis_robots::access::{TimeUnit, UnixSeconds};
use portcullis_rows::list::{ListFormat, LogFormat, given_host};
use portcullis_set::batch::{AgentKind, BeforeFirst};

use super::super::agents::AgentValue;
use super::super::output::{OutputFile, SummaryTo};
use super::super::values::{self, SetAt};
use super::texts;

/// The agents.
#[derive(Args, Default)]
#[command(next_help_heading = "Crawlers")]
pub struct AgentArgs {
    /// Product tokens of crawlers, separated by commas
    ///
    /// `*` is any crawler that no group names. `A+B` is one crawler that follows the groups of B if
    /// no group names A; `A+B+C` falls back in this order. `A!` is a crawler that does not read the
    /// groups for `*` (in koster1996 and original1994, `!` is part of the token). `@NAME` is a list:
    /// @ai-training, @ai-search, @ai-assistant, @ai-all, @search or @documented; or one known
    /// crawler as its operator documents it, such as @YandexBot. `portcullis --agent-lists` shows
    /// them. `@FILE` is a file with one product token per line and comments after `#`. A repeated
    /// name is used once. This flag may be given multiple times.
    #[arg(
        short,
        long = "agents",
        visible_alias = "agent",
        value_name = "A,B,…",
        value_parser = values::agent,
        value_delimiter = ','
    )]
    pub agents: Vec<AgentValue>,

    /// A crawler, given by its User-Agent header
    ///
    /// The crawler follows the groups of the longest product token in the header that some group
    /// names. Links and parts that browsers share (`Mozilla`, `like Gecko`) are not product tokens.
    /// These crawlers come after -a. This flag may be given multiple times.
    #[arg(long = "user-agent", value_name = "HEADER", hide_short_help = true)]
    pub user_agents: Vec<String>,
}

/// The flag that reads the agent of each record, so that -a is not required.
pub const AGENT_OF_RECORD: &str = "agent_field";

/// The agent of each record.
#[derive(Args)]
#[command(next_help_heading = "Crawlers")]
pub struct RecordAgentArgs {
    /// Column with each record's agent, or `record`: the log's User-Agent
    ///
    /// NAME is the name or number of a column,
    /// or a path with dots. Each record gets one verdict; `classify` adds the columns `agent` (as
    /// in -a, or `*`) and `verdict`. The known agents are the agents of -a, or by default the
    /// built-in lists. An agent that neither -a nor any robots.txt names follows the groups for
    /// `*`. A record is unknown, with the reason `no-agent`, if it has no agent, or if a robots.txt
    /// names its agent and neither -a nor the default lists do.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub agent_field: Vec<String>,

    /// How agents of records are written: token or header
    ///
    /// token is a product token, header a User-Agent header. The default is token, and header for
    /// `--agent-field record`. A header stands for the longest product token in it that the
    /// robots.txt names, as for --user-agent.
    #[arg(long, value_parser = values::one_of(&[("token", AgentKind::Token), ("header", AgentKind::Header)]), value_name = "KIND", hide_possible_values = true, hide_short_help = true)]
    pub agent_kind: Option<AgentKind>,
}

/// Questions besides access.
#[derive(Args, Default)]
#[command(next_help_heading = "Output")]
pub struct UsageArgs {
    /// Add usage preferences: train-ai, ai-use, search, use
    ///
    /// Separate several by commas. Each agent has a value for each label: y, n, ? (not stated) or -
    /// (no access). `use` is a level: immediate, reference or full. JSON and
    /// `check --explain` also have the deciding statement and the licences. The exit status is
    /// about access alone.
    #[arg(long, value_name = "LABELS", value_delimiter = ',', value_parser = values::label)]
    pub usage: Vec<Label>,
}

/// The agent that others are compared with.
#[derive(Args)]
#[command(next_help_heading = "Crawlers")]
pub struct BaselineArgs {
    /// Compare the access of each agent with AGENT's: same, more, less or other
    ///
    /// The comparison is exact over all paths, or unknown if the search took too long. `survey`
    /// adds the columns relation and example_path: a shortest path that only the agent of the row
    /// may fetch, or else one that only AGENT may. The summary of `survey` and the report of
    /// `audit` count hosts by relation.
    #[arg(long, value_name = "AGENT", value_parser = values::agent)]
    pub baseline: Option<AgentValue>,
}

/// How a robots.txt is read.
#[derive(Args)]
#[command(next_help_heading = "Policies")]
pub struct TextArgs {
    /// Standard or crawler whose rules apply [default: rfc9309]
    ///
    /// original1994, koster1996, draft2019, rfc9309 or google. A policy set is compiled for one
    /// dialect; another one is an error.
    #[arg(long, value_name = "NAME", value_parser = values::named(&Dialect::ALL, |it| it.name), hide_possible_values = true)]
    pub dialect: Option<&'static Dialect>,

    /// Read at most SIZE of a robots.txt [default: 500KiB]
    ///
    /// SIZE is a number of bytes with an optional suffix K, KiB, M, MiB, G or GiB, or `unlimited`.
    #[arg(long, value_name = "SIZE", value_parser = values::bytes_max, hide_short_help = true)]
    pub max_robots_size: Option<usize>,
}

impl TextArgs {
    pub fn dialect(&self) -> &'static Dialect {
        self.dialect.unwrap_or(&RFC_9309)
    }

    /// Returns the most bytes of a robots.txt that are read; `None` means all.
    pub fn bytes_max(&self) -> Option<usize> {
        Some(self.max_robots_size.unwrap_or(ROBOTS_BYTES_MAX)).filter(|&size| size < usize::MAX)
    }
}

/// Whether what is in doubt is an error.
#[derive(Args)]
#[command(next_help_heading = "Policies")]
pub struct StrictArgs {
    /// Turn notes and warnings about the input into errors
    ///
    /// These concern robots.txt files that are skipped, too long, or HTML, JSON or binary data, and
    /// records that hold more than a URL. Without --strict, they are noted or counted in the summary,
    /// and files are parsed as the dialect says.
    #[arg(long, hide_short_help = true)]
    pub strict: bool,
}

impl StrictArgs {
    /// Returns how faults are judged.
    pub fn strictness(&self) -> Strictness {
        if self.strict { Strictness::Strict } else { Strictness::Usual }
    }
}

/// Whether what is in doubt is an error, and what cannot be read is skipped.
#[derive(Args)]
#[command(next_help_heading = "Policies")]
pub struct FaultArgs {
    #[command(flatten)]
    pub strict: StrictArgs,

    /// Read damaged sitemaps up to the damage, and skip unreadable files of --robots DIR, with a note
    ///
    /// The hosts of skipped files are unknown. Any other list, a single robots.txt or a policy set that
    /// cannot be read is still an error.
    #[arg(long, conflicts_with = "strict", hide_short_help = true)]
    pub lenient: bool,
}

impl FaultArgs {
    /// Returns how faults are judged.
    pub fn strictness(&self) -> Strictness {
        if self.lenient { Strictness::Lenient } else { self.strict.strictness() }
    }
}

/// The policies, and how they are read.
#[derive(Args)]
#[command(next_help_heading = "Policies")]
#[command(group = ArgGroup::new("source").args(["robots", "set"]).required(true))]
pub struct PolicyArgs {
    /// One robots.txt for all URLs, or a folder of files named after their hosts
    ///
    /// In a folder, the name of a file is its host (`example.com`, `example.com.txt` or
    /// `example.com.robots.txt`). The file applies to http and https on their default ports. If two
    /// files have the same host, the one whose name sorts first is used. gzip and zstd files are
    /// decompressed.
    #[arg(long, value_name = "PATH")]
    pub robots: Option<PathBuf>,

    /// A compiled policy set (see compile), or SET@TIME: as of a time
    ///
    /// TIME is as for --at, and SET must have been compiled with --history. An existing file whose
    /// name contains `@` is used as it is.
    #[arg(short = 'p', long = "policies", value_name = "SET", value_parser = values::path(SetAt::parse), conflicts_with_all = ["robots", "max_robots_size"])]
    pub set: Option<SetAt>,

    #[command(flatten)]
    pub text: TextArgs,
    #[command(flatten)]
    pub faults: FaultArgs,
}

impl PolicyArgs {
    /// Returns the dialect, or `None` if it is not known before the set is opened.
    pub fn dialect(&self) -> Option<&'static Dialect> {
        if self.set.is_some() { self.text.dialect } else { Some(self.text.dialect()) }
    }

    /// Returns the path of the file, the folder or the set.
    pub fn path(&self) -> &Path {
        let set = self.set.as_ref().map(|set| &set.path);
        set.or(self.robots.as_ref()).expect("clap requires one of the two")
    }

    /// Returns the time as of which a set is asked.
    pub fn time(&self) -> Option<UnixSeconds> {
        self.set.as_ref()?.time
    }
}

/// The time as of which policies are asked.
#[derive(Args, Default)]
#[command(next_help_heading = "Time")]
pub struct TimeArgs {
    /// Decide by the policies as of TIME
    ///
    /// The set must have been compiled with --history. TIME is a date, an RFC 3339 time, or 17, 14
    /// or 8 digits as in CDX; without a zone it is UTC.
    #[arg(long, value_name = "TIME", value_parser = values::at)]
    pub at: Option<UnixSeconds>,

    /// Verdict for a time before the first capture of an origin [default: unknown]
    ///
    /// unknown: the verdict is unknown, with the reason `before-first`. oldest: the first capture
    /// decides, and the summary counts such URLs.
    #[arg(long, value_parser = values::one_of(EARLY_TIMES), value_name = "WHAT", hide_possible_values = true, hide_short_help = true)]
    pub before_first: Option<BeforeFirst>,
}

/// The verdict for a time before the first capture.
const EARLY_TIMES: &[(&str, BeforeFirst)] =
    &[("unknown", BeforeFirst::Unknown), ("oldest", BeforeFirst::Oldest)];

/// The times of the records in lists.
#[derive(Args, Default)]
#[command(next_help_heading = "Time")]
pub struct ListTimeArgs {
    #[command(flatten)]
    pub time: TimeArgs,

    /// Decide each record by the time in NAME, or `record`: the format's own
    ///
    /// NAME is the name or number of a column, or a path with dots such as `fetched.at`. Separate
    /// alternatives by commas; the first that exists is used. `record` is the time of the format
    /// itself: CDX, CDXJ, Heritrix's crawl.log and access logs have one. A record without a time is
    /// unknown, with the reason `no-time`.
    #[arg(long, value_name = "NAME", value_delimiter = ',', conflicts_with = "at")]
    pub time_field: Vec<String>,

    #[command(flatten)]
    pub unit: TimeUnitArgs,
}

/// The unit of times that are numbers.
#[derive(Args, Default)]
#[command(next_help_heading = "Time")]
pub struct TimeUnitArgs {
    /// Unit of times that are numbers: s, ms, us or ns since 1970
    #[arg(long, value_name = "UNIT", value_parser = values::named(&TimeUnit::ALL, TimeUnit::as_str), hide_short_help = true)]
    pub time_unit: Option<TimeUnit>,
}

/// A list of URLs, a folder of lists, or a glob. Standard input is `-`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListPath(pub PathBuf);

/// A URL, or a list of URLs: `-` or `@FILE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UrlOrList {
    Url(OsString),
    List(PathBuf),
}

impl UrlOrList {
    /// Parses an argument.
    pub fn parse(text: OsString) -> Result<UrlOrList, String> {
        Ok(match text.to_str() {
            Some("-") => UrlOrList::List(text.into()),
            Some(name) if name.starts_with('@') => UrlOrList::List(name[1..].into()),
            _ => UrlOrList::Url(text),
        })
    }
}

/// A robots.txt file, a folder of them, a glob or a file of names. Standard input is `-`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RobotsPath(pub PathBuf);

/// An archive, a folder, a glob or a file of names. Standard input is `-`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapturePath(pub PathBuf);

/// The lists of URLs.
#[derive(Args)]
#[command(next_help_heading = "Input")]
pub struct InputArgs {
    /// Lists of URLs, folders or globs; standard input if none or `-`
    ///
    /// The format of each list is detected from its name and first bytes. gzip and zstd files are
    /// decompressed. Folders are read with all files below them, sorted by name, except names that
    /// begin with `.` or `_`. `@NAMES` is a file with one of these per line, or separated by NUL;
    /// `@-` reads the names from standard input.
    #[arg(value_name = "FILE", default_value = "-", hide_default_value = true, value_parser = values::path(|path| Ok(ListPath(path.into()))))]
    pub files: Vec<ListPath>,

    #[command(flatten)]
    pub reading: ReadingArgs,
}

/// How lists are read.
#[derive(Args, Default)]
#[command(next_help_heading = "Input")]
pub struct ReadingArgs {
    #[arg(long, help = texts::INPUT_FORMAT, long_help = texts::INPUT_FORMAT_LONG, value_name = "FORMAT", value_parser = values::named(&ListFormat::ALL, ListFormat::as_str), hide_possible_values = true)]
    pub input_format: Option<ListFormat>,

    #[arg(long, help = texts::LOG_FORMAT, long_help = texts::log_format(), value_name = "FORMAT", value_parser = LogFormat::from_str, hide_short_help = true)]
    pub log_format: Option<LogFormat>,

    /// Column or field with the URL: a name, number or path (`page.url`)
    ///
    /// Separate alternatives by commas; the first that exists is used, in JSON Lines for each
    /// object. The default is `url`, or else `address`, `loc` or `uri` in upper or lower case, the fields of
    /// URLFrontier, or the only column of a table without a header. Write `\.` for a dot in a name.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub url_field: Vec<String>,

    /// Host of URLs that are only a path, such as `example.com`
    ///
    /// HOST may have a scheme and a port: `http://example.com:8080`. A URL that begins with `/` is
    /// a path. A host in the record itself, from the log format or --host-field, is used first. The
    /// scheme is https unless it is given, and http for port 80.
    #[arg(long, value_name = "HOST", value_parser = given_host)]
    pub host: Option<String>,

    /// Column or field with the host of URLs that are only a path, such as `request.host`
    #[arg(long, value_name = "NAME", value_delimiter = ',', hide_short_help = true)]
    pub host_field: Vec<String>,

    /// Column or field with the query of URLs, such as `url_query`
    ///
    /// The query may begin with `?`. It is added to a path or URL without a query. A record whose
    /// URL has another query is invalid.
    #[arg(long, value_name = "NAME", value_delimiter = ',', hide_short_help = true)]
    pub query_field: Vec<String>,

    /// Column or field with the scheme of URLs that are only a path: `http` or `https`
    #[arg(long, value_name = "NAME", value_delimiter = ',', hide_short_help = true)]
    pub scheme_field: Vec<String>,

    /// Read the first row of CSV and TSV as a record; columns are named by number
    #[arg(long, hide_short_help = true)]
    pub no_header: bool,

    /// Scheme of URLs without one, such as `example.com/x`
    ///
    /// `//example.com/x` has no scheme either. By default, such records are invalid. Mail addresses
    /// and records with another scheme (`tel:911`) are always invalid. A host before a port must be
    /// `localhost` or contain a dot (`example.com:8080`); write other hosts as `//myhost:8080`.
    #[arg(long, value_name = "SCHEME", value_parser = values::scheme)]
    pub assume_scheme: Option<String>,

    /// Records end with NUL instead of newline, in input and output
    #[arg(short = '0', long)]
    pub null_data: bool,
}

impl ReadingArgs {
    /// Returns the first flag that is given.
    pub fn given(&self) -> Option<&'static str> {
        let flags = [
            ("--input-format", self.input_format.is_some()),
            ("--log-format", self.log_format.is_some()),
            ("--url-field", !self.url_field.is_empty()),
            ("--host-field", !self.host_field.is_empty()),
            ("--query-field", !self.query_field.is_empty()),
            ("--scheme-field", !self.scheme_field.is_empty()),
            ("--no-header", self.no_header),
            ("--null-data", self.null_data),
            // Last, because `check` has a use for it without lists.
            ("--host", self.host.is_some()),
        ];
        flags.into_iter().find_map(|(flag, is_given)| is_given.then_some(flag))
    }
}

/// The file for records that are not URLs.
#[derive(Args)]
#[command(next_help_heading = "Output")]
pub struct RejectArgs {
    /// Write records that lack a valid URL, time or agent to FILE, as JSON Lines
    ///
    /// The members are file, place, problem and record. .gz and .zst compress FILE.
    #[arg(long, value_name = "FILE", value_parser = values::path(OutputFile::parse), value_hint = ValueHint::FilePath, hide_short_help = true)]
    pub rejects: Option<OutputFile>,
}

/// The output of records.
#[derive(Args)]
#[command(next_help_heading = "Output")]
pub struct OutputArgs {
    #[arg(short, long, help = texts::OUTPUT, long_help = texts::OUTPUT_LONG, value_name = "OUTPUT", value_parser = values::path(OutputFile::parse), value_hint = ValueHint::FilePath)]
    pub output: Option<OutputFile>,
}

/// The memory for compiling.
#[derive(Args, Default)]
#[command(next_help_heading = "Run")]
pub struct CompileMemoryArgs {
    /// Memory to use [default: a quarter of this machine's]
    ///
    /// Data that does not fit goes to temporary files next to the output, or for `inspect --verify`
    /// in the folder for temporary files. They have no names, so nothing remains after the run. The
    /// result is the same for any SIZE. The tables of distinct files and rules must fit in half of
    /// SIZE, a number of bytes with a suffix K, KiB, M, MiB, G or GiB; less than 64MiB means 64MiB.
    /// `unlimited` writes no temporary files.
    #[arg(long, value_name = "SIZE", value_parser = values::compile_memory)]
    pub memory: Option<usize>,
}

/// The number of rows.
#[derive(Args)]
#[command(next_help_heading = "Output")]
pub struct TopArgs {
    /// Number of rows per list
    #[arg(short = 'n', long, value_name = "N", value_parser = values::rows)]
    pub top: Option<usize>,
}

/// Colours.
#[derive(Args)]
#[command(next_help_heading = "Output")]
pub struct ColorArgs {
    /// When to use colours
    ///
    /// `auto` uses colours if standard output is a terminal and NO_COLOR is not set.
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = ColorChoice::Auto, hide_short_help = true)]
    pub color: ColorChoice,
}

/// The threads.
#[derive(Args, Default)]
#[command(next_help_heading = "Run")]
pub struct ThreadArgs {
    /// Number of threads; 0 means one per CPU
    ///
    /// At most 16 per CPU are used. The output is the same for any number.
    #[arg(short = 'j', long, value_name = "N", default_value_t = 0, value_parser = values::threads)]
    pub threads: usize,
}

/// How a command runs, and what it reports at the end.
#[derive(Args)]
#[command(next_help_heading = "Run")]
pub struct RunArgs {
    #[command(flatten)]
    pub threads: ThreadArgs,

    /// Summary: text, json or none, or a file FILE.json or FILE.md
    ///
    /// text, json and none select the summary on standard error. The default is text if standard
    /// error is a terminal, else none. Warnings and errors are always shown; json has the notes. A file is
    /// written in addition, so the flag may be given several times; FILE.md is a data card. The
    /// summary has the policies, agents and their dates, records by agent, verdict and reason,
    /// dropped records by cause, and times. docs/json.md lists the members of JSON.
    #[arg(long, value_name = "WHERE", value_parser = values::path(SummaryTo::parse))]
    pub summary: Vec<SummaryTo>,

    /// Do not show a progress bar
    ///
    /// The bar is only shown if standard error is a terminal.
    #[arg(long, hide_short_help = true)]
    pub no_progress: bool,
}
