//! Flags of the subcommands that make and look after policy sets.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use portcullis::access::{LongOutage, UnixSeconds};
use portcullis::capture::CaptureFormat;
use portcullis::dialect::Dialect;

use super::super::values::{self, BytesMax};
use super::{Format, RunArgs};

/// Make a policy set of archives of robots.txt
///
/// Of each origin the newest capture counts. Redirects are followed through what was captured. An
/// input that cannot be read is an error; a record that makes no sense is named and left out.
#[derive(Args)]
pub struct CompileArgs {
    /// WARC files, JSON Lines, Parquet files, folders of robots.txt files named by host; `-` for
    /// standard input
    ///
    /// Found by first bytes, then by name; gzip and zstd are decompressed. Of two files of a folder
    /// for one host the first by name counts.
    #[arg(value_name = "INPUT", required = true)]
    pub inputs: Vec<PathBuf>,

    /// The policy set to write; it appears under its name when it is complete
    #[arg(short, long, value_name = "SET", help_heading = "Output")]
    pub output: PathBuf,

    /// The standard or crawler whose behaviour the set follows
    #[arg(long, value_name = "NAME", default_value = "rfc9309", value_parser = values::dialect(), help_heading = "Policies")]
    pub dialect: &'static Dialect,

    /// How much of a robots.txt is read: bytes, or with K, KiB, M or MiB behind; or unlimited
    #[arg(long, value_name = "SIZE", default_value = "500KiB", value_parser = values::bytes_max, help_heading = "Policies")]
    pub max_robots_size: BytesMax,

    /// What every INPUT is, if it should not be found out
    #[arg(long, value_name = "FORMAT", value_parser = values::capture_format(), help_heading = "Input")]
    pub input_format: Option<CaptureFormat>,

    /// Write no set either if a record is broken, a file of a folder is left out, or a robots.txt is
    /// HTML, JSON or binary data
    #[arg(long, help_heading = "Input")]
    pub strict: bool,

    /// Leave out inputs and files that cannot be read to their ends, with a note, instead of writing
    /// no set
    ///
    /// What they would have told is unknown then, or an older capture counts.
    #[arg(long, conflicts_with = "strict", help_heading = "Input")]
    pub lenient: bool,

    #[command(flatten)]
    pub outages: OutageArgs,

    #[command(flatten)]
    pub run: RunArgs,
}

/// How outages are judged.
#[derive(Args)]
pub struct OutageArgs {
    /// When outages are judged: a date or a time (RFC 3339) [default: the newest capture of each
    /// host]
    ///
    /// A host that failed when it was last captured counts as unreachable from its first failure
    /// until TIME; by default until its last captured failure. Captures after TIME count all the
    /// same. `merge` keeps to what the sets were compiled with, if they agree.
    #[arg(long, value_name = "TIME", value_parser = values::time, help_heading = "Outages")]
    pub as_of: Option<UnixSeconds>,

    /// What follows an outage of more than 30 days [default: no-change]
    ///
    /// no-change: the host stays unreachable, and everything is disallowed. unavailable: everything is
    /// allowed. last-good-copy: the newest file that was captured holds; without one, no change. For
    /// rfc9309 and draft2019, which leave the choice; google takes the last good copy, and without
    /// one allows everything.
    #[arg(long, value_name = "CHANGE", value_parser = values::long_outage(), help_heading = "Outages")]
    pub long_outage: Option<LongOutage>,
}

/// Join policy sets to one, as if what they come from had been compiled at once
///
/// Of each origin the newest capture counts, and of equally new ones that of the later SET; a capture
/// without a date is older than any. Redirects, confirmations (304) and outages are settled anew, across
/// all sets. The sets must be of one dialect and one size limit, and judge outages alike unless the
/// flags say how.
#[derive(Args)]
pub struct MergeArgs {
    /// The policy sets to join, the older first
    #[arg(value_name = "SET", required = true)]
    pub sets: Vec<PathBuf>,

    /// The policy set to write; it appears under its name when it is complete
    #[arg(short, long, value_name = "SET", help_heading = "Output")]
    pub output: PathBuf,

    #[command(flatten)]
    pub outages: OutageArgs,

    #[command(flatten)]
    pub run: RunArgs,
}

/// Tell what changed from one policy set to another, or from one robots.txt file to another
///
/// Of two robots.txt files: for each crawler `equal`, if they decide every URL there can be alike, or
/// the shortest path on which they do not, with both verdicts and both rules; `unknown` if a limit ended
/// the comparison, and the status is 2 if there is no better answer for anybody.
///
/// Of two sets, without FILE: the origins, one a line, in the order of hosts: added, gone, state or rules, the
/// origin, what was known and what is. With FILE: the URLs whose verdict changes, in the order of the
/// input: the agent, both verdicts, both rules with their lines, the URL.
#[derive(Args)]
pub struct DiffArgs {
    /// The policy set of before, or a robots.txt file
    #[arg(value_name = "OLD")]
    pub old: PathBuf,

    /// The policy set of now, or a robots.txt file
    #[arg(value_name = "NEW")]
    pub new: PathBuf,

    /// Lists of URLs, one a line, of which those are told whose verdict changes for an agent; `-` for
    /// standard input
    #[arg(value_name = "FILE", help_heading = "Input")]
    pub files: Vec<PathBuf>,

    /// Records end with NUL in place of LF, in the input and in the output
    #[arg(short = '0', long, requires = "files", help_heading = "Input")]
    pub null_data: bool,

    /// Look into gzip and zstd files; this is always done, the flag is for habit's sake
    #[arg(short = 'z', long, help_heading = "Input")]
    pub search_zip: bool,

    /// The crawlers' product tokens, separated by commas; the flag may be repeated
    ///
    /// With FILE there has to be one. Without FILE, an origin's rules have changed if one of the
    /// crawlers obeys other rules: patterns in normal form with their verdicts, by precedence.
    /// Without crawlers, if the user-agent lines or rules of its file are others. Robots.txt files are
    /// compared without -a for each crawler that one of them names, and for `*`, any other.
    #[arg(
        short,
        long = "agents",
        visible_alias = "agent",
        value_name = "A,B,…",
        value_delimiter = ',',
        help_heading = "Questions"
    )]
    pub agents: Vec<String>,

    /// A crawler by the User-Agent header that it sends; the flag may be repeated
    #[arg(long = "user-agent", value_name = "HEADER", help_heading = "Questions")]
    pub user_agents: Vec<String>,

    /// The scheme of URLs that come without one (`example.com/x`, `//example.com/x`)
    #[arg(long, value_name = "SCHEME", value_parser = values::scheme, requires = "files", help_heading = "Questions")]
    pub assume_scheme: Option<String>,

    /// Memory per thread for the automata of rule sets that URLs ask: bytes, or with K, KiB, M or MiB
    /// behind; or unlimited
    ///
    /// The verdicts are the same for any size. Past it the automata of a thread are cleared; with
    /// little memory, URLs that need one are decided by slower scans of the rules.
    #[arg(long, value_name = "SIZE", default_value = "64MiB", value_parser = values::memory, help_heading = "Run")]
    pub automata_memory: usize,

    /// The standard or crawler by whose behaviour two robots.txt files are compared
    /// [default: rfc9309]
    #[arg(long, value_name = "NAME", value_parser = values::dialect(), help_heading = "Policies")]
    pub dialect: Option<&'static Dialect>,

    /// How much of a robots.txt is read: bytes, or with K, KiB, M or MiB behind; or unlimited
    /// [default: 500KiB]
    #[arg(long, value_name = "SIZE", value_parser = values::bytes_max, help_heading = "Policies")]
    pub max_robots_size: Option<BytesMax>,

    /// Stop at a robots.txt file that is HTML, JSON or binary data
    #[arg(long, help_heading = "Policies")]
    pub strict: bool,

    /// How changes are written; by default as OUTPUT's name ends, else tsv
    #[arg(long, value_enum, help_heading = "Output")]
    pub format: Option<Format>,

    /// Write there: .tsv or .jsonl, compressed with .gz or .zst behind it
    ///
    /// The file appears under its name when it is complete.
    #[arg(short, long, value_name = "OUTPUT", help_heading = "Output")]
    pub output: Option<PathBuf>,

    /// Exit with 1 if anything changed
    #[arg(long, help_heading = "Output")]
    pub exit_code: bool,

    #[command(flatten)]
    pub run: RunArgs,
}

/// Say what is in a policy set, or print the policy of one of its hosts
///
/// Without HOST: origins by state, robots, rule sets and how often each is shared, how they are
/// decided, bytes by section, the largest and the most expensive policies, dates. With HOST: how its
/// policy came to be known, whom it speaks to, and its records with their lines; the status is 1 if
/// the set knows no policy for it.
#[derive(Args)]
pub struct InspectArgs {
    /// The set
    #[arg(value_name = "SET")]
    pub set: PathBuf,

    /// A host (`example.com`, `example.com:8080`) for its http and https origins, or a URL for its
    /// own
    #[arg(value_name = "HOST")]
    pub host: Option<OsString>,

    /// How many items lists of what stands out have
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10, conflicts_with = "host")]
    pub top: usize,

    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Check a policy set: every byte of it, and that it says what its texts do
#[derive(Args)]
pub struct VerifyArgs {
    /// The set
    #[arg(value_name = "SET")]
    pub set: PathBuf,
}
