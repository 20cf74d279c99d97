//! Workflow commands of GitHub Actions, which become remarks beside the lines of a change.
//!
//! Source: GitHub's documentation, Workflow commands for GitHub Actions, Setting a warning message.

use super::{Linted, ReportFormat};
use crate::lint::{Diagnostic, Severity};

/// One command for each diagnostic.
#[derive(Clone, Copy, Debug, Default)]
pub struct Github;

impl ReportFormat for Github {
    fn entries(&self, linted: &Linted<'_>) -> String {
        let diagnostics = linted.report.diagnostics.iter();
        diagnostics.map(|diagnostic| command(linted.name, diagnostic)).collect()
    }
}

fn command(file: &str, diagnostic: &Diagnostic) -> String {
    let command = match diagnostic.severity() {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "notice",
    };
    let place = &diagnostic.place;
    format!(
        "::{command} file={},line={},col={},endColumn={},title={}::{}\n",
        property(file),
        place.line,
        place.column,
        place.end_column,
        property(&format!("{} {}", diagnostic.code, diagnostic.code.name())),
        data(&diagnostic.message),
    )
}

/// Text behind the second pair of colons.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Text before it, where colons and commas part things.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_parts_commands_is_escaped() {
        assert_eq!(property("a,b:c%\r\n"), "a%2Cb%3Ac%25%0D%0A");
        assert_eq!(data("a,b:c%\n"), "a,b:c%25%0A");
    }
}
