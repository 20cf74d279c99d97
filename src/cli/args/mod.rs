//! What was typed: clap's derived structs, one for each subcommand and one for each group of flags
//! that several of them share. What it means is the business of [`plan`](super::plan).

mod audit;
mod bench;
mod lint;
mod sets;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use portcullis::dialect::Dialect;

use super::exit;
use super::values::{self, BytesMax};

pub use self::audit::AuditArgs;
pub use self::bench::BenchArgs;
pub use self::lint::{Denied, Explained, LintArgs, LintFormat};
pub use self::sets::{CompileArgs, DiffArgs, InspectArgs, MergeArgs, VerifyArgs};

/// Decides in bulk, exactly and fast, what robots.txt allows.
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
    /// Write the man page or a shell's completion script to standard output
    #[arg(long, value_enum, value_name = "KIND")]
    pub generate: Option<Generated>,

    #[command(subcommand)]
    pub command: Option<Command>,
}

/// What `--generate` writes.
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

/// Where policies come from and how they are read.
#[derive(Args)]
#[command(next_help_heading = "Policies")]
pub struct PolicyArgs {
    /// A robots.txt, which then speaks for every URL, or a folder of them named by host
    ///
    /// In a folder, a file is named by its host (`example.com`, `example.com.txt` or
    /// `example.com.robots.txt`) and speaks for http and https on their default ports. Of two files
    /// for one host the first by name counts. gzip and zstd are decompressed.
    #[arg(long, value_name = "PATH", required_unless_present = "set")]
    pub robots: Option<PathBuf>,

    /// Leave out files of the folder that cannot be read, with a note, instead of stopping
    ///
    /// Their hosts are unknown then.
    #[arg(long, conflicts_with_all = ["strict", "set"])]
    pub lenient: bool,

    /// Stop at a file that is left out, or that is HTML, JSON or binary data
    ///
    /// Without this flag each has a note, and the latter are read as the dialect says.
    #[arg(long, conflicts_with = "set")]
    pub strict: bool,

    /// A compiled policy set (see `portcullis compile`)
    #[arg(short = 'p', long = "policies", value_name = "SET", conflicts_with = "robots")]
    pub set: Option<PathBuf>,

    /// The standard or crawler whose behaviour is followed [default: rfc9309]
    ///
    /// A policy set has the dialect that it was compiled for; another one is refused.
    #[arg(long, value_name = "NAME", value_parser = values::dialect())]
    pub dialect: Option<&'static Dialect>,

    /// How much of a robots.txt is read: bytes, or with K, KiB, M or MiB behind; or unlimited
    /// [default: 500KiB]
    #[arg(long, value_name = "SIZE", value_parser = values::bytes_max, conflicts_with = "set")]
    pub max_robots_size: Option<BytesMax>,
}

/// Who asks, and how records are read as URLs.
#[derive(Args)]
#[command(next_help_heading = "Questions")]
pub struct QuestionArgs {
    /// The crawlers' product tokens, separated by commas; the flag may be repeated
    ///
    /// `A+B` is one crawler that obeys the groups of B where no group names A.
    #[arg(
        short,
        long = "agents",
        visible_alias = "agent",
        value_name = "A,B,…",
        value_delimiter = ',',
        required_unless_present = "user_agents"
    )]
    pub agents: Vec<String>,

    /// A crawler by the User-Agent header that it sends; the flag may be repeated
    ///
    /// The crawler obeys the groups of the longest product token in the header that some group
    /// names. Links and what browsers have in common (`Mozilla`, `like Gecko`) are no such tokens.
    /// These crawlers come after those of -a.
    #[arg(long = "user-agent", value_name = "HEADER")]
    pub user_agents: Vec<String>,

    /// The scheme of URLs that come without one (`example.com/x`, `//example.com/x`)
    ///
    /// Without this flag they are invalid. Mail addresses and records with a scheme of their own
    /// (tel:911) stay invalid. A port needs a host with a dot, or localhost, before it
    /// (example.com:8080); write //myhost:8080 for others.
    #[arg(long, value_name = "SCHEME", value_parser = values::scheme)]
    pub assume_scheme: Option<String>,

    /// Memory per thread for the automata of rule sets that URLs ask: bytes, or with K, KiB, M or MiB
    /// behind; or unlimited
    ///
    /// The verdicts are the same for any size. Past it the automata of a thread are cleared; with
    /// little memory, URLs that need one are decided by slower scans of the rules.
    #[arg(long, value_name = "SIZE", default_value = "64MiB", value_parser = values::memory, help_heading = "Run")]
    pub automata_memory: usize,
}

/// The list of URLs.
#[derive(Args)]
#[command(next_help_heading = "Input")]
pub struct InputArgs {
    /// Lists of URLs, one a line; standard input if there is none, or where `-` stands
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,

    /// Records end with NUL in place of LF, in the input and in the output
    #[arg(short = '0', long)]
    pub null_data: bool,

    /// Look into gzip and zstd files; this is always done, the flag is for habit's sake
    #[arg(short = 'z', long)]
    pub search_zip: bool,
}

/// How the work is done and told about.
#[derive(Args)]
#[command(next_help_heading = "Run")]
pub struct RunArgs {
    /// Number of threads, at most 16 per processor; 0 means one per processor. The output is the
    /// same for any number
    #[arg(short = 'j', long, value_name = "N", default_value_t = 0, value_parser = values::threads)]
    pub threads: usize,

    /// Write no summary at the end
    #[arg(long)]
    pub no_summary: bool,

    /// Write the summary as one JSON object
    #[arg(long, conflicts_with = "no_summary")]
    pub json: bool,

    /// Draw no progress bar (there is one only where standard error is a terminal)
    #[arg(long)]
    pub no_progress: bool,
}

/// What else is told about a run that classifies.
#[derive(Args)]
#[command(next_help_heading = "Run")]
pub struct FigureArgs {
    /// Add figures about the compiled rules to the summary
    #[arg(long, conflicts_with = "no_summary")]
    pub stats: bool,
}

/// Say for a few URLs whether they are allowed: VERDICT, TAB, URL
///
/// Exits with 0 if every verdict is allow, with 1 otherwise.
#[derive(Args)]
pub struct CheckArgs {
    #[command(flatten)]
    pub policies: PolicyArgs,
    #[command(flatten)]
    pub questions: QuestionArgs,

    /// The URLs
    #[arg(value_name = "URL", required = true)]
    pub urls: Vec<OsString>,

    /// Tell the group, the rule and its line, the rules that lost, and the standard's clause
    #[arg(long)]
    pub explain: bool,

    /// Tell all that --explain tells as JSON, an object in a line for each URL and agent
    #[arg(long)]
    pub json: bool,

    /// Print nothing; the exit status tells
    #[arg(short, long, conflicts_with_all = ["explain", "json"])]
    pub quiet: bool,

    /// Colour the verdicts; auto does so on a terminal unless NO_COLOR is set
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Color::Auto)]
    pub color: Color,
}

/// When verdicts are coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Color {
    Auto,
    Always,
    Never,
}

/// Tag every record of a list with its verdicts; nothing is dropped, the order is kept
#[derive(Args)]
pub struct ClassifyArgs {
    #[command(flatten)]
    pub input: InputArgs,
    #[command(flatten)]
    pub policies: PolicyArgs,
    #[command(flatten)]
    pub questions: QuestionArgs,
    #[command(flatten)]
    pub run: RunArgs,
    #[command(flatten)]
    pub figures: FigureArgs,

    /// How verdicts are written; by default as OUTPUT's name ends, else tsv
    ///
    /// tsv: a column for each agent (allow, disallow, unknown or invalid), then the record.
    /// jsonl: an object for each record and agent, with reason, line, rule and group.
    /// advertools: CSV with a header, a row for each record and agent: robotstxt_url, user_agent,
    /// url_path, can_fetch (True or False; empty if no policy is known or the record is no URL).
    #[arg(long, value_enum, help_heading = "Output")]
    pub format: Option<ClassifyFormat>,

    /// Write there: .tsv or .jsonl, compressed with .gz or .zst behind it
    ///
    /// The file appears under its name when it is complete.
    #[arg(short, long, value_name = "OUTPUT", help_heading = "Output")]
    pub output: Option<PathBuf>,
}

/// How `classify` writes verdicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ClassifyFormat {
    Tsv,
    Jsonl,
    Advertools,
}

/// How `diff` writes changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Tsv,
    Jsonl,
}

/// Keep the records of a list that are allowed, byte for byte, in their order
///
/// Records of unknown origins and records that are no URL, empty lines among them, are dropped by default.
#[derive(Args)]
pub struct FilterArgs {
    #[command(flatten)]
    pub input: InputArgs,
    #[command(flatten)]
    pub policies: PolicyArgs,
    #[command(flatten)]
    pub questions: QuestionArgs,
    #[command(flatten)]
    pub selection: SelectionArgs,
    #[command(flatten)]
    pub run: RunArgs,
    #[command(flatten)]
    pub figures: FigureArgs,

    /// Print the number of records kept in place of the records
    #[arg(short, long, help_heading = "Output")]
    pub count: bool,

    /// Exit with 1 if no record was kept
    #[arg(short = 'e', long, help_heading = "Output")]
    pub exit_status: bool,

    /// Print no records
    #[arg(short, long, conflicts_with_all = ["count", "output"], help_heading = "Output")]
    pub quiet: bool,

    /// Write there; compressed if the name ends with .gz or .zst
    ///
    /// The file appears under its name when it is complete.
    #[arg(short, long, value_name = "OUTPUT", help_heading = "Output")]
    pub output: Option<PathBuf>,
}

/// Which records `filter` keeps.
#[derive(Args)]
#[command(next_help_heading = "Selection")]
pub struct SelectionArgs {
    /// Keep a record if every agent is allowed; this is the default
    #[arg(long)]
    pub all: bool,

    /// Keep a record if at least one agent is allowed
    #[arg(long, conflicts_with = "all")]
    pub any: bool,

    /// Keep what is disallowed in place of what is allowed
    #[arg(short = 'v', long)]
    pub invert: bool,

    /// What to do with a record of an origin that no policy is known for
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = KeepOrDrop::Drop)]
    pub unknown: KeepOrDrop,

    /// Write records of origins that no policy is known for there
    #[arg(long, value_name = "FILE", conflicts_with = "unknown")]
    pub unknown_to: Option<PathBuf>,

    /// What to do with a record that is no URL
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = KeepOrDrop::Drop)]
    pub invalid: KeepOrDrop,

    /// Write records that are no URL there
    #[arg(long, value_name = "FILE", conflicts_with = "invalid")]
    pub invalid_to: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum KeepOrDrop {
    Keep,
    Drop,
}

/// Make up robots.txt files and a list of URLs, the same for a seed everywhere
///
/// The files are drawn like the web's: sizes, groups, wildcards, and how much they share, since most
/// come from templates. A larger corpus begins with the hosts of the smaller. Writes DIR/urls.txt
/// and, by the format, DIR/robots/HOST for each host, DIR/robots.jsonl or DIR/robots.warc.gz.
#[derive(Args)]
pub struct SynthArgs {
    /// The number that everything is drawn from
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,

    /// How many hosts
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub hosts: u64,

    /// How many URLs
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    pub urls: u64,

    /// What the robots.txt files are written as
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = SynthFormat::Folder)]
    pub format: SynthFormat,

    /// Answer as the web does, not every host with its file
    ///
    /// Some three hosts in ten redirect (to https or another name, in chains, in loops, to nowhere);
    /// others have no file, are busy, send a page, or a body that is chunked, compressed or cut
    /// short; some origins answer several times, and the newest answer counts. DIR/expected.tsv then
    /// has a line `scheme://host<TAB>state` for each origin that was captured, with the state that
    /// RFC 9309 gives it: rules, no-rules, unavailable or unreachable.
    #[arg(long)]
    pub answers: bool,

    /// The folder; it must not have a corpus yet
    #[arg(short, long, value_name = "DIR")]
    pub out: PathBuf,
}

/// What a made-up corpus is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SynthFormat {
    /// A folder of files named by host
    Folder,
    /// JSON Lines, an answer on each line
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
