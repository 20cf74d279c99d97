//! Flags of `lint`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use portcullis::dialect::Dialect;
use portcullis::lint::Code;

use super::super::values::{self, BytesMax};
use super::Color;

/// Say what is wrong in robots.txt files, line by line
///
/// Each diagnostic has a code, tells what each dialect makes of the line, and how to fix it. The
/// catalogue of codes is docs/lint.md; --explain prints one entry of it.
#[derive(Args)]
pub struct LintArgs {
    /// The files; a folder stands for all files in it, `-` for standard input
    #[arg(value_name = "FILE", required_unless_present = "explain")]
    pub files: Vec<PathBuf>,

    /// The standard or crawler that the files are written for [default: rfc9309]
    #[arg(long, value_name = "NAME", value_parser = values::dialect())]
    pub dialect: Option<&'static Dialect>,

    /// Compare only the rules that these crawlers obey; by default those of every group
    ///
    /// Separated by commas; the flag may be repeated. What lines and patterns have wrong is told in
    /// any case.
    #[arg(
        short,
        long = "agents",
        visible_alias = "agent",
        value_name = "A,B,…",
        value_delimiter = ','
    )]
    pub agents: Vec<String>,

    /// How much of a file is read: bytes, or with K, KiB, M or MiB behind; or unlimited
    /// [default: 500KiB]
    #[arg(long, value_name = "SIZE", value_parser = values::bytes_max)]
    pub max_robots_size: Option<BytesMax>,

    /// Exit with 1 if this is found: a code or its name, warnings (errors too), errors, or all
    ///
    /// Separated by commas; the flag may be repeated.
    #[arg(long, value_name = "CODE", value_parser = denied, value_delimiter = ',', help_heading = "Codes")]
    pub deny: Vec<Denied>,

    /// Say nothing of this code, given by its number or name
    ///
    /// Separated by commas; the flag may be repeated.
    #[arg(long, value_name = "CODE", value_parser = code, value_delimiter = ',', help_heading = "Codes")]
    pub allow: Vec<Code>,

    /// Print what the catalogue says about a code, or all of it as Markdown
    #[arg(long, value_name = "CODE|all", value_parser = explained, conflicts_with = "files", help_heading = "Codes")]
    pub explain: Option<Explained>,

    /// How diagnostics are written
    ///
    /// human: the line with its fault underlined. json: one object. sarif: SARIF 2.1.0. github:
    /// workflow commands.
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = LintFormat::Human, help_heading = "Output")]
    pub format: LintFormat,

    /// Count the diagnostics by code in place of printing them
    #[arg(long, conflicts_with = "format", help_heading = "Output")]
    pub statistics: bool,

    /// Colour the diagnostics; auto does so on a terminal unless NO_COLOR is set
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Color::Auto, help_heading = "Output")]
    pub color: Color,

    /// Print, as a diff, the edits that are proved to change no verdict
    ///
    /// No URL has another verdict for any robot: in any dialect, or in that of --dialect alone if it
    /// is given. Edits that change verdicts are only ever suggested.
    #[arg(long, conflicts_with_all = ["format", "statistics"], help_heading = "Fixing")]
    pub fix: bool,

    /// Write the edits to the files as well
    #[arg(long, requires = "fix", help_heading = "Fixing")]
    pub in_place: bool,

    /// Number of threads, at most 16 per processor; 0 means one per processor. The output is the
    /// same for any number
    #[arg(short = 'j', long, value_name = "N", default_value_t = 0, value_parser = values::threads, help_heading = "Run")]
    pub threads: usize,
}

/// How diagnostics are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LintFormat {
    Human,
    Json,
    Sarif,
    Github,
}

/// What makes `lint` exit with 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denied {
    All,
    Warnings,
    Errors,
    Code(Code),
}

/// What `--explain` prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Explained {
    All,
    Code(Code),
}

fn explained(text: &str) -> Result<Explained, String> {
    if text == "all" { Ok(Explained::All) } else { code(text).map(Explained::Code) }
}

fn denied(text: &str) -> Result<Denied, String> {
    match text {
        "all" => Ok(Denied::All),
        "warnings" => Ok(Denied::Warnings),
        "errors" => Ok(Denied::Errors),
        _ => code(text).map(Denied::Code),
    }
}

fn code(text: &str) -> Result<Code, String> {
    Code::parse(text).ok_or_else(|| {
        "there is no such code; write one of docs/lint.md, such as PC013 or misspelt-field".into()
    })
}
