//! Flags of `lint`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use portcullis_dialect::dialect::Dialect;
use portcullis_lint::Code;

use super::super::agents::AgentValue;
use super::super::values::{self, BytesMax};
use super::Color;

/// Report problems in robots.txt files, line by line
///
/// Each diagnostic has a code, shows how each dialect reads the line, and says how to fix it. The
/// codes are listed in docs/lint.md; --explain prints one entry.
#[derive(Args)]
pub struct LintArgs {
    /// Files, or folders for all files in them; `-` is standard input
    #[arg(value_name = "FILE", required_unless_present = "explain")]
    pub files: Vec<PathBuf>,

    /// The standard or crawler to follow [default: rfc9309]
    #[arg(long, value_name = "NAME", value_parser = values::dialect())]
    pub dialect: Option<&'static Dialect>,

    /// Compare only the rules for these crawlers, separated by commas; by default for every group
    ///
    /// Problems of single lines and patterns are reported in any case. This flag may be given
    /// multiple times.
    #[arg(
        short,
        long = "agents",
        visible_alias = "agent",
        value_name = "A,B,…",
        value_parser = values::agent,
        value_delimiter = ','
    )]
    pub agents: Vec<AgentValue>,

    /// Read at most SIZE of a file [default: 500KiB]
    ///
    /// SIZE is a number of bytes with an optional suffix K, KiB, M or MiB, or `unlimited`.
    #[arg(long, value_name = "SIZE", value_parser = values::bytes_max)]
    pub max_robots_size: Option<BytesMax>,

    /// Exit with status 1 if CODE is found
    ///
    /// CODE is a code or its name, `errors`, `warnings` (which includes errors), or `all`. Separate
    /// several by commas. This flag may be given multiple times.
    #[arg(long, value_name = "CODE", value_parser = denied, value_delimiter = ',', help_heading = "Codes")]
    pub deny: Vec<Denied>,

    /// Do not report CODE, a code or its name
    ///
    /// Separate several by commas. This flag may be given multiple times.
    #[arg(long, value_name = "CODE", value_parser = code, value_delimiter = ',', help_heading = "Codes")]
    pub allow: Vec<Code>,

    /// The least severity to report: info, warning or error
    ///
    /// By default `human` and `github` report warnings and errors and count the notes (`info`);
    /// `json` and `sarif` have every finding with its severity. A finding that --deny names is
    /// always reported.
    #[arg(long, value_enum, value_name = "SEVERITY", conflicts_with_all = ["statistics", "fix"], help_heading = "Codes")]
    pub level: Option<LintLevel>,

    /// Explain a code, or print all explanations as Markdown
    #[arg(long, value_name = "CODE|all", value_parser = explained, conflicts_with = "files", help_heading = "Codes")]
    pub explain: Option<Explained>,

    /// The output format
    ///
    /// human: the line with the problem underlined. json: one object. sarif: SARIF 2.1.0. github:
    /// workflow commands of GitHub Actions.
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = LintFormat::Human, help_heading = "Output")]
    pub format: LintFormat,

    /// Print only the number of diagnostics of each code
    #[arg(long, conflicts_with = "format", help_heading = "Output")]
    pub statistics: bool,

    /// When to use colours
    ///
    /// `auto` uses colours if standard output is a terminal and NO_COLOR is not set.
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Color::Auto, help_heading = "Output")]
    pub color: Color,

    /// Print a diff of the edits that are proved to change no verdict
    ///
    /// With these edits every URL has the same verdict for every robot, in all dialects or, with
    /// --dialect, in that one. Edits that change verdicts are only suggested.
    #[arg(long, conflicts_with_all = ["format", "statistics"], help_heading = "Fixing")]
    pub fix: bool,

    /// Also apply the edits to the files
    #[arg(long, requires = "fix", help_heading = "Fixing")]
    pub in_place: bool,

    /// Number of threads; 0 means one per CPU
    ///
    /// At most 16 per CPU are used. The output is the same for any number.
    #[arg(short = 'j', long, value_name = "N", default_value_t = 0, value_parser = values::threads, help_heading = "Run")]
    pub threads: usize,
}

/// The output formats of `lint`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LintFormat {
    Human,
    Json,
    Sarif,
    Github,
}

/// A value of `--level`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LintLevel {
    #[value(alias = "note")]
    Info,
    Warning,
    Error,
}

/// A value of `--deny`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denied {
    All,
    Warnings,
    Errors,
    Code(Code),
}

/// The value of `--explain`.
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
        "unknown code; docs/lint.md lists all, such as PC013 or misspelt-field".into()
    })
}
