//! Flags of `lint`.

use clap::Args;
use portcullis_lint::{Code, Severity};

use super::super::lint::codes;
use super::super::values::{self, Format};
use super::groups::{AgentArgs, ColorArgs, FailArgs, ListPath, TextArgs, ThreadArgs};
use super::texts;

/// Report problems in robots.txt files, line by line
///
/// Each diagnostic has a code, shows how each dialect reads the line, and says how to fix it. The
/// page of all codes is that of --describe all. With -a, only the rules for these crawlers are
/// compared; problems of single lines and patterns are reported in any case.
#[derive(Args)]
pub struct LintArgs {
    /// Files, or folders for all files in them; `-` is standard input
    #[arg(value_name = "FILE", required_unless_present = "describe", value_parser = values::path(|path| Ok(ListPath(path.into()))))]
    pub files: Vec<ListPath>,

    #[command(flatten)]
    pub agents: AgentArgs,
    #[command(flatten)]
    pub text: TextArgs,

    /// Do not report CODE, a code or its name
    ///
    /// Separate several by commas. This flag may be given multiple times.
    #[arg(long, value_name = "CODE", value_parser = code, value_delimiter = ',', help_heading = "Codes")]
    pub allow: Vec<Code>,

    /// The least severity to report: info, warning or error
    ///
    /// By default `text` and `github` report warnings and errors and count the notes (`info`);
    /// `json` has every finding with its severity.
    #[arg(long, value_parser = values::named(&Severity::ALL, Severity::as_str), value_name = "SEVERITY", conflicts_with_all = ["diff", "fix"], help_heading = "Codes")]
    pub level: Option<Severity>,

    /// Explain a code, or print all explanations as Markdown
    #[arg(long, value_name = "CODE|all", value_parser = described, conflicts_with = "files", help_heading = "Codes")]
    pub describe: Option<String>,

    #[arg(long, help = texts::FORMAT, long_help = texts::FORMAT_LONG, value_name = "FORMAT", default_value = "text", value_parser = values::format(&[Format::Text, Format::Json, Format::Github]), help_heading = "Output")]
    pub format: Format,

    #[command(flatten)]
    pub color: ColorArgs,
    #[command(flatten)]
    pub fail: FailArgs,

    /// Print a diff of the edits that are proved to change no verdict
    ///
    /// With these edits every URL has the same verdict for every robot, in all dialects or, with
    /// --dialect, in that one. Edits that change verdicts are only suggested.
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
        "unknown code; --describe all lists them, such as PC013 or misspelt-field".into()
    })
}
