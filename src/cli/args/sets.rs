//! Flags of the subcommands that make and look after policy sets.

use std::path::PathBuf;

use clap::Args;
use portcullis::capture::CaptureFormat;
use portcullis::dialect::Dialect;

use super::super::values::{self, OctetsMax};
use super::RunArgs;

/// Make a policy set of archives of robots.txt
///
/// Of each origin the newest capture counts. Redirects are followed through what was captured. What
/// cannot be read is named and left out, so that its origin is unknown or an older capture counts.
#[derive(Args)]
pub struct CompileArgs {
    /// WARC files, JSON Lines, Parquet files, folders of robots.txt files named by host; `-` for
    /// standard input
    ///
    /// Found by name and first octets; .gz and .zst files are decompressed.
    #[arg(value_name = "INPUT", required = true)]
    pub inputs: Vec<PathBuf>,

    /// The policy set to write; it appears under its name when it is complete
    #[arg(short, long, value_name = "SET", help_heading = "Output")]
    pub output: PathBuf,

    /// The standard or crawler whose behaviour the set follows
    #[arg(long, value_name = "NAME", default_value = "rfc9309", value_parser = values::dialect(), help_heading = "Policies")]
    pub dialect: &'static Dialect,

    /// How much of a robots.txt is read: octets, or with K, KiB, M or MiB behind; or unlimited
    #[arg(long, value_name = "SIZE", default_value = "500KiB", value_parser = values::octets_max, help_heading = "Policies")]
    pub max_robots_size: OctetsMax,

    /// What every INPUT is, if it should not be found out
    #[arg(long, value_name = "FORMAT", value_parser = values::capture_format(), help_heading = "Input")]
    pub input_format: Option<CaptureFormat>,

    /// Write no set if an input cannot be read to its end, or a record in it is broken
    #[arg(long, help_heading = "Input")]
    pub strict: bool,

    #[command(flatten)]
    pub run: RunArgs,
}

/// Check a policy set: every octet of it, and that it says what its texts do
#[derive(Args)]
pub struct VerifyArgs {
    /// The set
    #[arg(value_name = "SET")]
    pub set: PathBuf,
}
