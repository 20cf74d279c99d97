//! Workflow commands of GitHub Actions, which become remarks beside the lines of a change.
//!
//! Source: GitHub's documentation, Workflow commands for GitHub Actions, Setting a warning message.

use super::{Linted, Omitted, ReportFormat};
use crate::lint::{Diagnostic, Severity};
use crate::visible::visible;

/// One command for each diagnostic.
#[derive(Clone, Copy, Debug, Default)]
pub struct Github;

impl ReportFormat for Github {
    fn entries(&self, linted: &Linted<'_>) -> String {
        let diagnostics = linted.report.diagnostics.iter();
        diagnostics.map(|diagnostic| command(linted.name, diagnostic)).collect()
    }

    fn end(&self, omitted: &[Omitted]) -> String {
        let notice = |omitted: &Omitted| {
            let title = format!("{} {}", omitted.code, omitted.code.name());
            let (file, title) = (property(&omitted.file), property(&title));
            format!("::notice file={file},title={title}::{}\n", data(&omitted.sentence()))
        };
        omitted.iter().map(notice).collect()
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

/// Text behind the second pair of colons. What is [visible] has no line ends.
fn data(text: &str) -> String {
    visible(text).to_string().replace('%', "%25")
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
        assert_eq!(property("a,b:c%\r\n"), "a%2Cb%3Ac%25\\r\\n");
        assert_eq!(data("a,b:c%\n\u{202e}"), "a,b:c%25\\n\\u{202e}");
    }
}
