//! The flags and arguments as clap's derived structs: one for each subcommand, one for each group
//! of flags that several share. [`plan`](super::plan) checks combinations that clap cannot express.

mod audit;
mod bench;
mod lint;
mod sets;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use portcullis_dialect::dialect::Dialect;
use portcullis_dialect::usage::Label;
use portcullis_io::access::UnixSeconds;
use portcullis_io::list::{FieldPath, ListFormat};
use portcullis_report::columns::Columns;

use super::agents::AgentValue;
use super::exit;
use super::output::{OutputFile, OutputFolder};
use super::values::{self, BytesMax};

pub use self::audit::AuditArgs;
pub use self::bench::BenchArgs;
pub use self::lint::{Denied, Explained, LintArgs, LintFormat, LintLevel};
pub use self::sets::{CompileArgs, DiffArgs, InspectArgs, MergeArgs, OutageArgs, VerifyArgs};

/// Evaluates robots.txt rules in bulk, exactly and fast.
///
/// Data goes to standard output; progress, summaries and errors go to standard error.
#[derive(Parser)]
#[command(
    name = "portcullis",
    version,
    after_help = exit::HELP,
    arg_required_else_help = true,
    args_conflicts_with_subcommands = true,
    subcommand_help_heading = "Subcommands",
    subcommand_value_name = "SUBCOMMAND"
)]
pub struct Arguments {
    /// Generate the man page or a shell completion script
    #[arg(long, value_enum, value_name = "KIND")]
    pub generate: Option<Generated>,

    /// List the agents of `-a @NAME`, with the date and licence of each list
    #[arg(long, conflicts_with = "generate")]
    pub agent_lists: bool,

    #[command(subcommand)]
    pub command: Option<Command>,
}

/// The output of `--generate`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Generated {
    Man,
    CompleteBash,
    CompleteZsh,
    CompleteFish,
    CompletePowershell,
}

#[derive(Subcommand)]
pub enum Command {
    Check(CheckArgs),
    Classify(ClassifyArgs),
    Filter(FilterArgs),
    Compile(CompileArgs),
    Merge(MergeArgs),
    Diff(DiffArgs),
    Inspect(InspectArgs),
    Verify(VerifyArgs),
    Audit(AuditArgs),
    Lint(LintArgs),
    Bench(BenchArgs),
    Synth(SynthArgs),
}

/// The policies, and how they are read.
#[derive(Args)]
#[command(next_help_heading = "Policies")]
pub struct PolicyArgs {
    /// A robots.txt file that applies to every URL, or a folder of files named by host
    ///
    /// In a folder, a file is named by its host (`example.com`, `example.com.txt` or
    /// `example.com.robots.txt`) and applies to http and https on their default ports. If two files
    /// have the same host, the first by name is used. gzip and zstd files are decompressed.
    #[arg(long, value_name = "PATH", required_unless_present = "set")]
    pub robots: Option<PathBuf>,

    /// Skip unreadable files in the folder with a note, instead of stopping
    ///
    /// The hosts of skipped files are unknown.
    #[arg(long, conflicts_with_all = ["strict", "set"])]
    pub lenient: bool,

    /// Stop at a file that would be skipped, that is longer than --max-robots-size, or that is HTML,
    /// JSON or binary data, at empty standard input, and at a policy captured after --as-of
    ///
    /// By default each of these is reported in a note or warning, what is read is parsed as the
    /// dialect says, and URLs with a later policy are counted.
    #[arg(long)]
    pub strict: bool,

    /// A compiled policy set (see `portcullis compile`)
    #[arg(short = 'p', long = "policies", value_name = "SET", conflicts_with = "robots")]
    pub set: Option<PathBuf>,

    /// The standard or crawler to follow [default: rfc9309]
    ///
    /// A policy set is compiled for one dialect; naming another one is an error.
    #[arg(long, value_name = "NAME", value_parser = values::dialect())]
    pub dialect: Option<&'static Dialect>,

    /// Read at most SIZE of a robots.txt [default: 500KiB]
    ///
    /// SIZE is a number of bytes with an optional suffix K, KiB, M or MiB, or `unlimited`.
    #[arg(long, value_name = "SIZE", value_parser = values::bytes_max, conflicts_with = "set")]
    pub max_robots_size: Option<BytesMax>,
}

/// The agents, and how records are read as URLs.
#[derive(Args)]
#[command(next_help_heading = "Questions")]
pub struct QuestionArgs {
    /// Product tokens of the crawlers, separated by commas
    ///
    /// `A+B` is one crawler that follows the groups of B if no group names A. `@NAME` is a list of
    /// crawlers: @ai-training, @ai-search, @ai-assistant, @ai-all or @search (`portcullis
    /// --agent-lists` shows them). `@FILE` is a file with a product token per line and comments
    /// after `#`. A crawler that is named several times is evaluated once. This flag may be given
    /// multiple times.
    #[arg(
        short,
        long = "agents",
        visible_alias = "agent",
        value_name = "A,B,…",
        value_parser = values::agent,
        value_delimiter = ',',
        required_unless_present = "user_agents"
    )]
    pub agents: Vec<AgentValue>,

    /// A crawler given by its User-Agent header
    ///
    /// The crawler follows the groups of the longest product token in the header that some group
    /// names. Links and parts that browsers share (`Mozilla`, `like Gecko`) are not product tokens.
    /// These crawlers come after those of -a. This flag may be given multiple times.
    #[arg(long = "user-agent", value_name = "HEADER")]
    pub user_agents: Vec<String>,

    /// The scheme of URLs without one, such as `example.com/x` or `//example.com/x`
    ///
    /// By default such records are invalid. Mail addresses and records with another scheme
    /// (`tel:911`) are always invalid. A host before a port must be `localhost` or have a dot
    /// (`example.com:8080`); for other hosts write `//myhost:8080`.
    #[arg(long, value_name = "SCHEME", value_parser = values::scheme)]
    pub assume_scheme: Option<String>,

    /// Memory per thread for lazily built automata
    ///
    /// Verdicts are the same for any SIZE. A thread that exceeds it clears its automata; with
    /// little memory, URLs that need an automaton are decided by slower scans of the rules. SIZE is
    /// a number of bytes with an optional suffix K, KiB, M or MiB, or `unlimited`.
    #[arg(long, value_name = "SIZE", default_value = "64MiB", value_parser = values::memory, help_heading = "Run")]
    pub automata_memory: usize,
}

/// How the age of captures is judged.
#[derive(Args)]
#[command(next_help_heading = "Policies")]
pub struct FreshnessArgs {
    /// The date or time (RFC 3339) for which the age of captures is judged [default: now]
    ///
    /// The summary counts the URLs whose robots.txt had expired then, or was captured later. A
    /// capture expires as the headers of its response and the dialect say: after 24 hours by
    /// default (RFC 9309, section 2.4). An answer without a file has the age of its capture; behind
    /// redirects, the oldest answer counts.
    #[arg(long, value_name = "TIME", value_parser = values::time)]
    pub as_of: Option<UnixSeconds>,

    /// The age at which a capture has expired, whatever its headers say, such as 24h or 30d
    #[arg(long, value_name = "DURATION", value_parser = values::duration)]
    pub max_age: Option<u64>,

    /// The verdict on URLs whose robots.txt has expired, has no date or is later [default: keep]
    ///
    /// keep: the verdict of its rules. unknown: the verdict is unknown, with the reason `expired`,
    /// or `not-yet` if it was captured after --as-of.
    #[arg(long, value_enum, value_name = "WHAT", hide_possible_values = true)]
    pub expired: Option<Expired>,
}

/// The verdict on URLs whose robots.txt has expired.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Expired {
    Keep,
    Unknown,
}

/// The lists of URLs.
#[derive(Args)]
#[command(next_help_heading = "Input")]
pub struct InputArgs {
    /// Lists of URLs, folders of lists, or patterns (`*.csv`); `-` or no FILE is standard input
    ///
    /// The format of each list is detected by its name and its first bytes. gzip and zstd files are
    /// decompressed. All files below a folder are read, sorted by name, except names that begin
    /// with `.` or `_`.
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,

    #[command(flatten)]
    pub lists: ListArgs,
}

/// How lists are read, and where records that are not URLs go.
#[derive(Args, Default, PartialEq, Eq)]
#[command(next_help_heading = "Input")]
pub struct ListArgs {
    #[command(flatten)]
    pub reading: ReadingArgs,

    /// Write a line of JSON for each record that is not a URL to FILE
    ///
    /// The members are file, place, problem and record. The extensions .gz and .zst compress it.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub rejects: Option<OutputFile>,
}

/// How lists are read.
#[derive(Args, Default, PartialEq, Eq)]
#[command(next_help_heading = "Input")]
pub struct ReadingArgs {
    /// The format of the lists; detected for each list by default
    ///
    /// lines: one URL per line. jsonl: JSON Lines (see --field). csv, tsv: with or without a header
    /// (see --column). cdxj: an index of a web archive. heritrix: a recover journal. crawl-log:
    /// Heritrix's crawl.log. nutch: `readdb -dump`. parquet: Parquet (see --column).
    #[arg(long, value_name = "FORMAT", value_parser = values::list_format())]
    pub input_format: Option<ListFormat>,

    /// The field of JSON Lines and CDXJ with the URL, such as `url` or `page.url`
    ///
    /// Separate several fields by commas; the first one that an object has is used. By default
    /// `url`, or else `address`, `loc` or `uri` in any case, or the fields of URLFrontier. Write
    /// `\.` for a dot in a name.
    #[arg(long, value_name = "FIELD", value_parser = values::field, value_delimiter = ',')]
    pub field: Vec<FieldPath>,

    /// The column of CSV, TSV and Parquet with the URL: its name, or its number from 1
    ///
    /// By default the column that is called `url`, `address`, `loc` or `uri`, in any case, or in a
    /// file without a header the only one with a URL.
    #[arg(long, value_name = "COLUMN")]
    pub column: Option<String>,

    /// Records are terminated by NUL instead of newline, in input and output
    #[arg(short = '0', long)]
    pub null_data: bool,

    /// Search gzip and zstd files; always on, accepted for compatibility with ripgrep
    #[arg(short = 'z', long)]
    pub search_zip: bool,
}

/// How a command runs, and what it reports at the end.
#[derive(Args)]
#[command(next_help_heading = "Run")]
pub struct RunArgs {
    /// Number of threads; 0 means one per CPU
    ///
    /// At most 16 per CPU are used. The output is the same for any number.
    #[arg(short = 'j', long, value_name = "N", default_value_t = 0, value_parser = values::threads)]
    pub threads: usize,

    /// Do not print a summary
    #[arg(long)]
    pub no_summary: bool,

    /// Print the summary as one JSON object
    #[arg(long, conflicts_with = "no_summary")]
    pub json: bool,

    /// Do not show a progress bar
    ///
    /// The bar is shown only if standard error is a terminal.
    #[arg(long)]
    pub no_progress: bool,
}

/// Additions to the summary of `classify` and `filter`.
#[derive(Args)]
#[command(next_help_heading = "Run")]
pub struct FigureArgs {
    /// Add statistics of the compiled rules to the summary
    #[arg(long, conflicts_with = "no_summary")]
    pub stats: bool,
}

/// Check a few URLs and print VERDICT, TAB, URL for each
///
/// Exits with status 0 if every verdict is allow, and with 1 otherwise.
#[derive(Args)]
pub struct CheckArgs {
    #[command(flatten)]
    pub policies: PolicyArgs,
    #[command(flatten)]
    pub questions: QuestionArgs,

    /// The URLs
    #[arg(value_name = "URL", required = true)]
    pub urls: Vec<OsString>,

    /// Show the group, the deciding rule and its line, the losing rules, and the clause of the
    /// standard
    #[arg(long)]
    pub explain: bool,

    /// Print what --explain shows as JSON, one object per line for each URL and agent
    #[arg(long)]
    pub json: bool,

    /// Add what pages may be used for, by label: train-ai, ai-use, search
    ///
    /// LABELS are separated by commas. After its verdict, each agent gets a column for each label:
    /// y, n, ? (not stated) or - (no access). --explain and --json show the deciding statement
    /// about each label, the losing ones, the licences, and the clause of the draft. The exit
    /// status is about access alone.
    #[arg(long, value_name = "LABELS", value_delimiter = ',', value_parser = values::label)]
    pub usage: Vec<Label>,

    /// Print nothing; the exit status has the answer
    #[arg(short, long, conflicts_with_all = ["explain", "json", "usage"])]
    pub quiet: bool,

    /// When to use colours
    ///
    /// `auto` uses colours if standard output is a terminal and NO_COLOR is not set.
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Color::Auto)]
    pub color: Color,
}

/// When output is coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Color {
    Auto,
    Always,
    Never,
}

/// Tag every record of a list with its verdicts
///
/// No record is dropped, and the order of the input is kept.
#[derive(Args)]
pub struct ClassifyArgs {
    #[command(flatten)]
    pub input: InputArgs,
    #[command(flatten)]
    pub policies: PolicyArgs,
    #[command(flatten)]
    pub questions: QuestionArgs,
    #[command(flatten)]
    pub freshness: FreshnessArgs,
    #[command(flatten)]
    pub run: RunArgs,
    #[command(flatten)]
    pub figures: FigureArgs,

    /// The output format; by default chosen by OUTPUT's extension, else tsv
    ///
    /// tsv: the added columns (one verdict per agent: allow, disallow, unknown or invalid), then
    /// the record. csv: a header, the columns of the input (`url` if it has none), then the added
    /// columns.
    /// jsonl: one object per record and agent, with reason, line, rule and group.
    /// parquet: the columns of a Parquet input as they are, or `url`, then the added columns.
    /// advertools: CSV with a header, one row per record and agent: robotstxt_url, user_agent,
    /// url_path, can_fetch (True or False; empty if the verdict is unknown or invalid).
    #[arg(long, value_enum, help_heading = "Output")]
    pub format: Option<ClassifyFormat>,

    /// The columns that tsv, csv and parquet add per agent: verdict, reason, line, rule, group; or
    /// bits
    ///
    /// WORDS are separated by commas. `state` adds one column with the state of the origin (rules,
    /// no-rules, unavailable, unreachable, deferred or unknown). `bits` is one column for all
    /// agents, a hexadecimal number whose bit i (of value 2^i) is set if agent i, counted from 0,
    /// is allowed; for unknown and invalid records it has the word instead.
    #[arg(long, value_name = "WORDS", value_parser = values::columns, default_value = "verdict", help_heading = "Output")]
    pub columns: Columns,

    /// Add what pages may be used for, by label: train-ai, ai-use, search
    ///
    /// LABELS are separated by commas. After its verdict, each agent gets a column for each label:
    /// y, n, ? (not stated) or - (no access). jsonl gets the members usage, usage_line, usage_rule,
    /// usage_source and licenses.
    #[arg(long, value_name = "LABELS", value_delimiter = ',', value_parser = values::label, help_heading = "Output")]
    pub usage: Vec<Label>,

    /// Put PREFIX in front of the names of added columns
    #[arg(
        long,
        value_name = "PREFIX",
        default_value = "",
        hide_default_value = true,
        help_heading = "Output"
    )]
    pub column_prefix: String,

    /// Write a header line with the names of the columns in tsv; csv always has one
    #[arg(long, help_heading = "Output")]
    pub header: bool,

    /// Output file; the extension selects the format (.tsv, .jsonl, .csv, .parquet) and compression
    /// (.gz, .zst; not for Parquet)
    ///
    /// The file appears under its name once it is complete.
    #[arg(short, long, value_name = "OUTPUT", help_heading = "Output", value_hint = ValueHint::FilePath)]
    pub output: Option<OutputFile>,

    /// Write one output for each list to DIR, named after the list, with the extension of its
    /// format
    ///
    /// `urls.txt.gz` becomes `DIR/urls.tsv.gz`. All files appear together, once they are complete.
    #[arg(long, value_name = "DIR", conflicts_with = "output", help_heading = "Output", value_hint = ValueHint::DirPath)]
    pub out_dir: Option<OutputFolder>,
}

/// The output formats of `classify`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ClassifyFormat {
    Tsv,
    Jsonl,
    Csv,
    Parquet,
    Advertools,
}

impl ClassifyFormat {
    /// The formats by extension.
    pub const NAMED: &[(&str, ClassifyFormat)] = &[
        ("tsv", ClassifyFormat::Tsv),
        ("jsonl", ClassifyFormat::Jsonl),
        ("csv", ClassifyFormat::Csv),
        ("parquet", ClassifyFormat::Parquet),
    ];
}

/// The output formats of `diff`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Tsv,
    Jsonl,
}

impl Format {
    /// The formats by extension.
    pub const NAMED: &[(&str, Format)] = &[("tsv", Format::Tsv), ("jsonl", Format::Jsonl)];
}

/// Print the allowed records of a list
///
/// Records are printed byte for byte in the order of the input. By default, records of unknown
/// origins and records that are not URLs, empty lines included, are dropped.
#[derive(Args)]
pub struct FilterArgs {
    #[command(flatten)]
    pub input: InputArgs,
    #[command(flatten)]
    pub policies: PolicyArgs,
    #[command(flatten)]
    pub questions: QuestionArgs,
    #[command(flatten)]
    pub freshness: FreshnessArgs,
    #[command(flatten)]
    pub selection: SelectionArgs,
    #[command(flatten)]
    pub run: RunArgs,
    #[command(flatten)]
    pub figures: FigureArgs,

    /// Print only the number of records kept
    #[arg(short, long, help_heading = "Output")]
    pub count: bool,

    /// Exit with status 1 if nothing was kept
    #[arg(short = 'e', long, help_heading = "Output")]
    pub exit_status: bool,

    /// Print no records
    #[arg(short, long, conflicts_with_all = ["count", "output"], help_heading = "Output")]
    pub quiet: bool,

    /// Output file; the extension selects the compression (.gz, .zst)
    ///
    /// For Parquet lists, a .parquet file has the kept rows with all columns, and so does standard
    /// output unless it is a terminal. Any other file has the URLs of the rows, one per line.
    ///
    /// The file appears under its name once it is complete.
    #[arg(short, long, value_name = "OUTPUT", help_heading = "Output", value_hint = ValueHint::FilePath)]
    pub output: Option<OutputFile>,

    /// Write one output for each list to DIR, named after the list
    ///
    /// All files appear together, once they are complete.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["output", "count", "quiet"], help_heading = "Output", value_hint = ValueHint::DirPath)]
    pub out_dir: Option<OutputFolder>,
}

/// The records that `filter` keeps.
#[derive(Args)]
#[command(next_help_heading = "Selection")]
pub struct SelectionArgs {
    /// Keep a record only if its use for LABEL is stated as y: train-ai, ai-use or search
    #[arg(long, value_name = "LABEL", value_parser = values::label, requires = "unstated")]
    pub purpose: Option<Label>,

    /// Keep or drop records whose use for the purpose is not stated
    #[arg(long, value_enum, value_name = "WHAT", requires = "purpose")]
    pub unstated: Option<KeepOrDrop>,

    /// Keep a record if every agent is allowed (the default)
    #[arg(long)]
    pub all: bool,

    /// Keep a record if at least one agent is allowed
    #[arg(long, conflicts_with = "all")]
    pub any: bool,

    /// Keep disallowed records instead of allowed ones
    #[arg(short = 'v', long)]
    pub invert: bool,

    /// Keep or drop records of origins without a known policy
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = KeepOrDrop::Drop)]
    pub unknown: KeepOrDrop,

    /// Write records of origins without a known policy to FILE
    #[arg(long, value_name = "FILE", conflicts_with = "unknown", value_hint = ValueHint::FilePath)]
    pub unknown_to: Option<OutputFile>,

    /// Keep or drop records that are not URLs
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = KeepOrDrop::Drop)]
    pub invalid: KeepOrDrop,

    /// Write records that are not URLs to FILE
    #[arg(long, value_name = "FILE", conflicts_with = "invalid", value_hint = ValueHint::FilePath)]
    pub invalid_to: Option<OutputFile>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum KeepOrDrop {
    Keep,
    Drop,
}

/// Generate synthetic robots.txt files and a list of URLs
///
/// The same seed gives the same corpus everywhere, and a larger corpus begins with the hosts of a
/// smaller one. File sizes, groups, wildcards and shared templates follow the distribution on the
/// web. Writes DIR/urls.txt and, depending on the format, DIR/robots/HOST for each host,
/// DIR/robots.jsonl or DIR/robots.warc.gz.
#[derive(Args)]
pub struct SynthArgs {
    /// The seed of the random numbers
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,

    /// Number of hosts
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub hosts: u64,

    /// Number of URLs
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    pub urls: u64,

    /// The format of the robots.txt files
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = SynthFormat::Folder)]
    pub format: SynthFormat,

    /// Simulate redirects, errors and broken responses
    ///
    /// About three hosts in ten redirect (to https or another name, in chains, in loops, to
    /// nowhere). Others have no file, are busy, send a page, or send a body that is chunked,
    /// compressed or cut short. Some origins answer several times, and the newest answer counts.
    /// DIR/expected.tsv has a line `scheme://host<TAB>state` for each captured origin, with its
    /// state by RFC 9309: rules, no-rules, unavailable or unreachable.
    #[arg(long)]
    pub answers: bool,

    /// Let some hosts state usage preferences
    ///
    /// One host in 25 has Content-Signal; fewer have License or Content-Usage. Groups, rules, URLs
    /// and all verdicts about access are the same as without this flag.
    #[arg(long)]
    pub usage: bool,

    /// The folder to write to; it must not hold a corpus yet
    #[arg(short, long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub out: OutputFolder,
}

/// The format of a synthetic corpus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SynthFormat {
    /// A folder of files named by host
    Folder,
    /// JSON Lines, one answer per line
    Jsonl,
    /// WARC, compressed record by record
    Warc,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_flags_do_not_contradict_each_other() {
        Arguments::command().debug_assert();
    }
}
