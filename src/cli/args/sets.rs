//! Flags of the subcommands that make, compare and inspect policy sets.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueHint};
use portcullis_dialect::dialect::Dialect;
use portcullis_dialect::usage::Label;
use portcullis_io::access::{LongOutage, UnixSeconds};
use portcullis_io::{CaptureFormat, FieldName};

use super::super::agents::AgentValue;
use super::super::output::OutputFile;
use super::super::values::{self, BytesMax};
use super::{Format, ListArgs, RunArgs};

/// The input formats of `compile`, for its help.
const SCHEMAS: &str = "\
Input formats:
  Folder    Files named by host: example.com, example.com.txt, example.com.robots.txt, or
            example.com/robots.txt as `wget -x` and `wget -r` write it; each also with .gz or .zst. A
            port may follow the host. A name without a dot is not a host, except localhost. Of two
            files for one host, the first by name is used.
  JSON Lines, Parquet
            One object or row per answer. Fields, by their usual names (in any case) or --field:
              url          url, robots_url, uri: the URL that was requested first
              host         host, domain, hostname: without a URL; http and https on default ports
              status       status, fetch_status, http_status, status_code: null or 0 for no answer;
                           without the field, 200 is assumed where there is a body, with a note
              body         body, content, robots_txt, text: decoded
              body_base64  body_base64: the body in base64
              fetched_at   fetched_at, fetch_time, warc_date, timestamp: RFC 3339, or a timestamp
              error        error: why there was no answer, or why the body is not whole
              truncated    truncated, content_truncated: set if the body was cut
              headers      headers: names to a text or a list of texts (JSON Lines only)
              redirects    redirects: those that were followed, as a list (JSON Lines only)
            A record needs a url or a host, and a status, a body or an error.
  WARC      response, resource and revisit records whose URL ends in robots.txt.";

/// Compile archived robots.txt files into a policy set
///
/// For each origin, the newest capture counts. Redirects are followed as far as their targets were
/// captured. An input that cannot be read is an error; a broken record is reported and skipped.
#[derive(Args)]
#[command(after_long_help = SCHEMAS)]
pub struct CompileArgs {
    /// WARC files, JSON Lines, Parquet files, or folders of robots.txt files; `-` is standard input
    ///
    /// The format is detected by the first bytes, then by name; gzip and zstd files are
    /// decompressed. The formats are described below.
    #[arg(value_name = "INPUT", required = true)]
    pub inputs: Vec<PathBuf>,

    /// The policy set to write; it appears under its name once it is complete
    #[arg(short, long, value_name = "SET", help_heading = "Output", value_hint = ValueHint::FilePath)]
    pub output: OutputFile,

    /// The standard or crawler to follow
    #[arg(long, value_name = "NAME", default_value = "rfc9309", value_parser = values::dialect(), help_heading = "Policies")]
    pub dialect: &'static Dialect,

    /// Read at most SIZE of a robots.txt
    ///
    /// SIZE is a number of bytes with an optional suffix K, KiB, M or MiB, or `unlimited`.
    #[arg(long, value_name = "SIZE", default_value = "500KiB", value_parser = values::bytes_max, help_heading = "Policies")]
    pub max_robots_size: BytesMax,

    /// The format of every INPUT; detected by default
    #[arg(long, value_name = "FORMAT", value_parser = values::capture_format(), help_heading = "Input")]
    pub input_format: Option<CaptureFormat>,

    /// The names of fields in JSON Lines and Parquet, such as url=request.url,body=text
    ///
    /// Dots in NAME separate nested objects and columns; write `\.` for a dot in a name. An empty
    /// NAME means that there is no such field. This flag may be given multiple times.
    #[arg(
        long = "field",
        value_name = "FIELD=NAME,…",
        value_delimiter = ',',
        help_heading = "Input"
    )]
    pub fields: Vec<FieldName>,

    /// Stop at a broken record, a file that would be skipped, a capture without a status or after
    /// --as-of, a robots.txt that is longer than --max-robots-size, or HTML, JSON or binary data
    #[arg(long, help_heading = "Input")]
    pub strict: bool,

    /// Skip inputs and files that cannot be read to their end with a note, instead of stopping
    ///
    /// The origins of skipped captures are unknown, or an older capture counts.
    #[arg(long, conflicts_with = "strict", help_heading = "Input")]
    pub lenient: bool,

    #[command(flatten)]
    pub outages: OutageArgs,

    #[command(flatten)]
    pub run: RunArgs,
}

/// The time of a set, and how outages are judged.
#[derive(Args)]
pub struct OutageArgs {
    /// The date or time (RFC 3339) as of which the set is made: later captures are left out
    ///
    /// A host whose last capture failed counts as unreachable from its first failure until TIME, or
    /// by default until its last captured failure. A note counts the captures after TIME. By
    /// default `merge` uses the TIME of its sets, if they agree; it refuses sets that have captures
    /// after TIME, or lack some before.
    #[arg(long, value_name = "TIME", value_parser = values::time, help_heading = "Outages")]
    pub as_of: Option<UnixSeconds>,

    /// The effect of an outage of more than 30 days [default: no-change]
    ///
    /// no-change: the host stays unreachable, and everything is disallowed. unavailable: everything
    /// is allowed. last-good-copy: the newest captured file applies; without one, no change. This
    /// flag is for rfc9309 and draft2019, which leave the choice; google uses the last good copy,
    /// and without one allows everything.
    #[arg(long, value_name = "CHANGE", value_parser = values::long_outage(), help_heading = "Outages")]
    pub long_outage: Option<LongOutage>,
}

/// Merge policy sets, as if their inputs had been compiled together
///
/// For each origin, the newest capture counts; if dates are equal, the capture in the later SET. A
/// capture without a date is older than any other. Redirects, confirmations (304) and outages are
/// resolved again across all sets. The sets must have the same dialect and size limit. They must
/// also judge outages in the same way, unless flags choose how.
#[derive(Args)]
pub struct MergeArgs {
    /// The policy sets, oldest first
    #[arg(value_name = "SET", required = true)]
    pub sets: Vec<PathBuf>,

    /// The policy set to write; it appears under its name once it is complete
    #[arg(short, long, value_name = "SET", help_heading = "Output", value_hint = ValueHint::FilePath)]
    pub output: OutputFile,

    #[command(flatten)]
    pub outages: OutageArgs,

    #[command(flatten)]
    pub run: RunArgs,
}

/// Compare two policy sets, or two robots.txt files
///
/// For two robots.txt files, prints one line per crawler: `equal` if both files give the same
/// verdict on every possible URL, or else the shortest path on which they differ, with both
/// verdicts and rules. It prints `unknown` if a limit ended the comparison; if no crawler has a
/// better answer, the exit status is 2.
///
/// With FILE, each file applies to every URL, and the output is that of two sets.
///
/// For two sets without FILE, prints one line per changed origin in the order of hosts: added,
/// gone, state or rules, the origin, its old and its new state. With FILE, prints the URLs whose
/// verdict changed in the order of the input: the agent, both verdicts, both rules with their
/// lines, the URL.
///
/// With --usage, also reports what pages may be used for: per origin the old and the new
/// statements, the agents and the label; with FILE, the URLs whose preference changed.
#[derive(Args)]
pub struct DiffArgs {
    /// The old policy set or robots.txt file
    #[arg(value_name = "OLD")]
    pub old: PathBuf,

    /// The new policy set or robots.txt file
    #[arg(value_name = "NEW")]
    pub new: PathBuf,

    /// Lists of URLs to compare by verdict, folders of lists, or patterns; `-` is standard input
    #[arg(value_name = "FILE", help_heading = "Input")]
    pub files: Vec<PathBuf>,

    #[command(flatten)]
    pub lists: ListArgs,

    /// Product tokens of the crawlers, separated by commas
    ///
    /// Required with FILE. Without FILE, an origin is reported as changed if the rules for one of
    /// the crawlers changed: patterns in normal form with their verdicts, by precedence. Without
    /// crawlers, an origin is reported if the user-agent lines or rules of its file changed. By
    /// default, robots.txt files are compared for each crawler that one of them names, and for `*`,
    /// any other crawler. This flag may be given multiple times.
    #[arg(
        short,
        long = "agents",
        visible_alias = "agent",
        value_name = "A,B,…",
        value_parser = values::agent,
        value_delimiter = ',',
        help_heading = "Questions"
    )]
    pub agents: Vec<AgentValue>,

    /// A crawler given by its User-Agent header; may be given multiple times
    #[arg(long = "user-agent", value_name = "HEADER", help_heading = "Questions")]
    pub user_agents: Vec<String>,

    /// Also compare what pages may be used for, by label: train-ai, ai-use, search
    ///
    /// LABELS are separated by commas. Requires -a, and policy sets or FILE. Without FILE, a line
    /// `usage` has the origin, the old and the new statements, the agents and the label: `/art/=n
    /// y` is n for /art/ and y for all other paths, and ? is no statement. With FILE, a column
    /// after the agent has `access` or the label; for a label, the verdicts are y, n, ? (not
    /// stated) or - (no access).
    #[arg(long, value_name = "LABELS", value_delimiter = ',', value_parser = values::label, help_heading = "Questions")]
    pub usage: Vec<Label>,

    /// The scheme of URLs without one, such as `example.com/x` or `//example.com/x`
    #[arg(long, value_name = "SCHEME", value_parser = values::scheme, requires = "files", help_heading = "Questions")]
    pub assume_scheme: Option<String>,

    /// Memory per thread for lazily built automata
    ///
    /// Verdicts are the same for any SIZE: a number of bytes with an optional suffix K, KiB, M or
    /// MiB, or `unlimited`.
    #[arg(long, value_name = "SIZE", default_value = "64MiB", value_parser = values::memory, help_heading = "Run")]
    pub automata_memory: usize,

    /// The standard or crawler to follow for two robots.txt files [default: rfc9309]
    #[arg(long, value_name = "NAME", value_parser = values::dialect(), help_heading = "Policies")]
    pub dialect: Option<&'static Dialect>,

    /// Read at most SIZE of a robots.txt [default: 500KiB]
    ///
    /// SIZE is a number of bytes with an optional suffix K, KiB, M or MiB, or `unlimited`.
    #[arg(long, value_name = "SIZE", value_parser = values::bytes_max, help_heading = "Policies")]
    pub max_robots_size: Option<BytesMax>,

    /// Stop at a robots.txt file that is longer than --max-robots-size, or that is HTML, JSON or
    /// binary data, and at empty standard input
    #[arg(long, help_heading = "Policies")]
    pub strict: bool,

    /// The output format; by default chosen by OUTPUT's extension, else tsv
    #[arg(long, value_enum, help_heading = "Output")]
    pub format: Option<Format>,

    /// Output file; the extension selects the format (.tsv, .jsonl) and compression (.gz, .zst)
    ///
    /// The file appears under its name once it is complete.
    #[arg(short, long, value_name = "OUTPUT", help_heading = "Output", value_hint = ValueHint::FilePath)]
    pub output: Option<OutputFile>,

    /// Exit with status 1 if anything changed
    #[arg(long, help_heading = "Output")]
    pub exit_code: bool,

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
#[derive(Args)]
pub struct InspectArgs {
    /// The policy set
    #[arg(value_name = "SET")]
    pub set: PathBuf,

    /// A host (`example.com`, `example.com:8080`) for its http and https origins, or a URL for its
    /// origin
    #[arg(value_name = "HOST")]
    pub host: Option<OsString>,

    /// Number of items in each list
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10, conflicts_with = "host")]
    pub top: usize,

    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Verify a policy set: checksums, structure, and that the compiled rules match the stored text
#[derive(Args)]
pub struct VerifyArgs {
    /// The policy set
    #[arg(value_name = "SET")]
    pub set: PathBuf,
}
