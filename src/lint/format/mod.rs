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

use super::{LineIndex, Report};
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

    /// What stands behind the last entry.
    fn end(&self) -> String {
        String::new()
    }
}

/// The lines of a file, if there is something to find places for.
fn index<'t>(linted: &Linted<'t>) -> LineIndex<'t> {
    let is_needed = !linted.report.diagnostics.is_empty();
    LineIndex::new(if is_needed { linted.text } else { b"" })
}

/// An object or array of ours as JSON.
fn to_json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("there are no keys but strings, and no number that is none")
}
