//! Flags of `sitemaps`.

use clap::{Args, ValueEnum, ValueHint};

use super::super::output::OutputFile;
use super::groups::{PolicyArgs, RunArgs};

/// Print the sitemaps that robots.txt files name
///
/// One URL per line, once for each host, in the order of the hosts. Values that are not absolute URLs
/// are printed as they are, and counted.
#[derive(Args)]
pub struct SitemapsArgs {
    #[command(flatten)]
    pub policies: PolicyArgs,

    /// The output format; by default chosen by OUTPUT's extension, else text
    ///
    /// text: one URL per line. jsonl: one object for each origin and URL, with the members `origin`
    /// (`*` if one robots.txt applies to every URL), `sitemap`, and `problem`, which says why the
    /// value is not an absolute URL, or is null.
    #[arg(long, value_enum, help_heading = "Output")]
    pub format: Option<SitemapsFormat>,

    /// Output file; the extension selects the format (.txt, .jsonl) and the compression (.gz, .zst)
    ///
    /// The file appears under its name once it is complete.
    #[arg(short, long, value_name = "OUTPUT", help_heading = "Output", value_hint = ValueHint::FilePath)]
    pub output: Option<OutputFile>,

    #[command(flatten)]
    pub run: RunArgs,
}

/// The output formats of `sitemaps`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SitemapsFormat {
    Text,
    Jsonl,
}

impl SitemapsFormat {
    /// The formats by extension.
    pub const NAMED: &[(&str, SitemapsFormat)] =
        &[("txt", SitemapsFormat::Text), ("jsonl", SitemapsFormat::Jsonl)];
}
