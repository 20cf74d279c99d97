//! Reports for programs: JSON, and workflow commands of GitHub Actions.
//!
//! Each format has a beginning, entries and an end, so that the results of some files of a large
//! folder can be written while others are still being checked.

use std::collections::BTreeMap;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde::{Serialize, Serializer};

use portcullis_dialect::dialect::Dialect;
use portcullis_lint::{Code, Diagnostic, Edit, LineIndex, Place, Report, Safety, Severity};
use portcullis_report::account::format;
use portcullis_text::figures::counted;
use portcullis_text::json::to_json;
use portcullis_text::visible::visible;

/// A file and its report.
#[derive(Clone, Copy, Debug)]
pub(super) struct Linted<'f> {
    /// The file's name.
    pub(super) name: &'f str,
    /// The file's text.
    pub(super) text: &'f [u8],
    /// The report on the file.
    pub(super) report: &'f Report,
}

/// The number of findings of one code in one file that are not listed, because there are too many.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Omitted {
    /// The file's name.
    pub(super) file: String,
    /// The code.
    #[serde(serialize_with = "as_text")]
    pub(super) code: Code,
    /// The number of findings.
    pub(super) findings: usize,
}

impl Omitted {
    /// Returns the findings that a report left out.
    pub(super) fn of(file: &str, report: &Report) -> Vec<Omitted> {
        let of = |(&code, &findings)| Omitted { file: file.to_owned(), code, findings };
        report.omitted.iter().map(of).collect()
    }

    /// Returns the number of findings in words.
    pub(super) fn sentence(&self) -> String {
        let findings = counted(self.findings as u64, "more finding");
        format!("{findings} of {} ({}) not listed", self.code, self.code.name())
    }
}

fn as_text<S: Serializer>(code: &Code, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(code)
}

/// A format of reports.
pub(super) trait ReportFormat: Sync {
    /// Returns the text before the first entry.
    fn begin(&self, _dialect: &Dialect) -> String {
        String::new()
    }

    /// Returns the entries of a file, with separators between them.
    fn entries(&self, linted: &Linted<'_>) -> String;

    /// Returns the text between the entries of two files.
    fn separator(&self) -> &'static str {
        ""
    }

    /// Returns the text after the last entry, with the findings of all files that have no entry.
    fn end(&self, omitted: &[Omitted]) -> String;
}

/// One JSON object with a list of diagnostics, one per line.
///
/// `offset` and `bytes` count bytes of the file, `column` and `end_column` characters from 1,
/// `byte_column` bytes from 1. The replacement of an edit is text, or base64 if it is not UTF-8.
/// `omitted` counts the findings of each file and code that are not in the list.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Json;

impl ReportFormat for Json {
    fn begin(&self, dialect: &Dialect) -> String {
        let (version, dialect) = (to_json(&env!("CARGO_PKG_VERSION")), to_json(&dialect.name));
        let format = to_json(&format::LINT);
        format!(
            "{{\"format\":{format},\"version\":{version},\"dialect\":{dialect},\"diagnostics\":[\n"
        )
    }

    fn entries(&self, linted: &Linted<'_>) -> String {
        // The lines are needed only if there is a diagnostic.
        let is_clean = linted.report.diagnostics.is_empty();
        let index = LineIndex::new(if is_clean { b"" } else { linted.text });
        let entry = |found| to_json(&JsonEntry::new(linted.name, found, &index));
        let entries: Vec<String> = linted.report.diagnostics.iter().map(entry).collect();
        entries.join(self.separator())
    }

    fn separator(&self) -> &'static str {
        ",\n"
    }

    fn end(&self, omitted: &[Omitted]) -> String {
        format!("\n],\"omitted\":{}}}\n", to_json(&omitted))
    }
}

#[derive(Serialize)]
struct JsonEntry<'d> {
    file: &'d str,
    line: u32,
    column: u32,
    end_column: u32,
    byte_column: u32,
    offset: u32,
    bytes: usize,
    code: String,
    name: &'static str,
    severity: Severity,
    message: &'d str,
    dialects: BTreeMap<&'static str, &'d str>,
    related: Vec<JsonRelated<'d>>,
    fix: Option<JsonFix<'d>>,
}

#[derive(Serialize)]
struct JsonRelated<'d> {
    line: u32,
    column: u32,
    message: &'d str,
}

#[derive(Serialize)]
struct JsonFix<'d> {
    title: &'d str,
    safety: Safety,
    edits: Vec<JsonEdit<'d>>,
}

#[derive(Serialize)]
struct JsonEdit<'d> {
    line: u32,
    column: u32,
    offset: u32,
    bytes: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    replacement: Option<&'d str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    replacement_base64: Option<String>,
}

impl<'d> JsonEntry<'d> {
    fn new(file: &'d str, found: &'d Diagnostic, index: &LineIndex<'_>) -> JsonEntry<'d> {
        let related = found.related.iter().map(|related| JsonRelated {
            line: related.place.line.get(),
            column: related.place.column,
            message: &related.message,
        });
        let Place { span, line, column, end_column, byte_column, .. } = found.place;
        JsonEntry {
            file,
            line: line.get(),
            column,
            end_column,
            byte_column,
            offset: span.start,
            bytes: span.bytes(),
            code: found.code.to_string(),
            name: found.code.name(),
            severity: found.code.severity(),
            message: &found.message,
            dialects: found.effects.iter().map(|it| (it.dialect.name, it.text.as_str())).collect(),
            related: related.collect(),
            fix: found.fix.as_ref().map(|fix| JsonFix {
                title: &fix.title,
                safety: fix.safety,
                edits: fix.edits.iter().map(|edit| JsonEdit::new(edit, index)).collect(),
            }),
        }
    }
}

impl<'d> JsonEdit<'d> {
    fn new(edit: &'d Edit, index: &LineIndex<'_>) -> JsonEdit<'d> {
        let Place { line, column, .. } = index.place(edit.span);
        let text = std::str::from_utf8(&edit.replacement).ok();
        JsonEdit {
            line: line.get(),
            column,
            offset: edit.span.start,
            bytes: edit.span.bytes(),
            replacement: text,
            replacement_base64: text.is_none().then(|| BASE64_STANDARD.encode(&edit.replacement)),
        }
    }
}

/// Workflow commands of GitHub Actions, one for each diagnostic.
///
/// Source: GitHub's documentation, Workflow commands for GitHub Actions, Setting a warning message.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Github;

impl ReportFormat for Github {
    fn entries(&self, linted: &Linted<'_>) -> String {
        let command = |found: &Diagnostic| {
            let command = match found.code.severity() {
                Severity::Info => "notice",
                severity => severity.as_str(),
            };
            let Place { line, column, end_column, .. } = found.place;
            format!(
                "::{command} file={},line={line},col={column},endColumn={end_column},title={}::{}\n",
                github_property(linted.name),
                github_title(found.code),
                github_data(&found.message),
            )
        };
        linted.report.diagnostics.iter().map(command).collect()
    }

    fn end(&self, omitted: &[Omitted]) -> String {
        let notice = |omitted: &Omitted| {
            let (file, title) = (github_property(&omitted.file), github_title(omitted.code));
            format!("::notice file={file},title={title}::{}\n", github_data(&omitted.sentence()))
        };
        omitted.iter().map(notice).collect()
    }
}

fn github_title(code: Code) -> String {
    github_property(&format!("{code} {}", code.name()))
}

/// Escapes text after the second `::`. [`visible`] leaves no line ends in it.
fn github_data(text: &str) -> String {
    visible(text).to_string().replace('%', "%25")
}

/// Escapes text of a property, which colons and commas end.
fn github_property(text: &str) -> String {
    github_data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_of_commands_are_escaped() {
        assert_eq!(github_property("a,b:c%\r\n"), "a%2Cb%3Ac%25\\r\\n");
        assert_eq!(github_data("a,b:c%\n\u{202e}"), "a,b:c%25\\n\\u{202e}");
    }
}
