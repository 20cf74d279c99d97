//! Reports as programs read them: JSON, SARIF, and the workflow commands of GitHub.
//!
//! Each form has a beginning, entries in which files follow one another, and an end, so that the
//! files of a large folder can be written while others are still being looked at. For people, who
//! want the line itself, see the command line.

mod github;
mod json;
mod sarif;

pub use github::Github;
pub use json::Json;
pub use sarif::Sarif;

use serde::{Serialize, Serializer};

use super::{Code, LineIndex, Report};
use crate::dialect::Dialect;

/// A file and what was found in it.
#[derive(Clone, Copy, Debug)]
pub struct Linted<'f> {
    /// Its name, as it is shown.
    pub name: &'f str,
    /// Its text.
    pub text: &'f [u8],
    /// What was found.
    pub report: &'f Report,
}

/// Findings of one code in one file that have no entries, because there are too many.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Omitted {
    /// The file's name, as it is shown.
    pub file: String,
    /// The code.
    #[serde(serialize_with = "as_text")]
    pub code: Code,
    /// How many.
    pub findings: usize,
}

impl Omitted {
    /// What a report left out.
    pub fn of(file: &str, report: &Report) -> Vec<Omitted> {
        let omitted = report.omitted.iter();
        omitted
            .map(|(&code, &findings)| Omitted { file: file.to_owned(), code, findings })
            .collect()
    }

    /// How many of what, in words.
    pub fn sentence(&self) -> String {
        let plural = if self.findings == 1 { "" } else { "s" };
        let (findings, code, name) = (self.findings, self.code, self.code.name());
        format!("{findings} more finding{plural} of {code} ({name}) not listed")
    }
}

fn as_text<S: Serializer>(code: &Code, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(code)
}

/// A form of reports.
pub trait ReportFormat: Sync {
    /// What stands before the first entry.
    fn begin(&self, dialect: &Dialect) -> String {
        let _ = dialect;
        String::new()
    }

    /// The entries of a file, with separators between them and none after the last; nothing if the
    /// file has none.
    fn entries(&self, linted: &Linted<'_>) -> String;

    /// What stands between the entries of two files.
    fn separator(&self) -> &'static str {
        ""
    }

    /// What stands behind the last entry. It says which findings of all files have no entry.
    fn end(&self, omitted: &[Omitted]) -> String;
}

/// The lines of a file, if there is something to find places for.
fn index<'t>(linted: &Linted<'t>) -> LineIndex<'t> {
    let is_needed = !linted.report.diagnostics.is_empty();
    LineIndex::new(if is_needed { linted.text } else { b"" })
}
