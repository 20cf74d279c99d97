//! One JSON object, with a diagnostic in each line of its list.
//!
//! `offset` and `bytes` count bytes of the file, `column` and `end_column` characters from 1,
//! `byte_column` bytes from 1. What an edit puts in is text, or base64 if it is none. `omitted` counts
//! the findings of each file and code that are not in the list.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::Serialize;

use super::{Linted, Omitted, ReportFormat, index};
use crate::dialect::Dialect;
use crate::lint::{Diagnostic, Edit, Effect, LineIndex};
use crate::visible::to_json;

/// One object.
#[derive(Clone, Copy, Debug, Default)]
pub struct Json;

impl ReportFormat for Json {
    fn begin(&self, dialect: &Dialect) -> String {
        let (version, dialect) = (to_json(&env!("CARGO_PKG_VERSION")), to_json(&dialect.name));
        format!("{{\"version\":{version},\"dialect\":{dialect},\"diagnostics\":[\n")
    }

    fn entries(&self, linted: &Linted<'_>) -> String {
        let index = index(linted);
        let diagnostics = linted.report.diagnostics.iter();
        let entries: Vec<String> = diagnostics
            .map(|diagnostic| to_json(&Entry::new(linted, diagnostic, &index)))
            .collect();
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
struct Entry<'d> {
    file: &'d str,
    line: u32,
    column: u32,
    end_column: u32,
    byte_column: u32,
    offset: u32,
    bytes: usize,
    code: String,
    name: &'static str,
    severity: &'static str,
    message: &'d str,
    dialects: BTreeMap<&'static str, &'d str>,
    related: Vec<RelatedEntry<'d>>,
    fix: Option<FixEntry<'d>>,
}

#[derive(Serialize)]
struct RelatedEntry<'d> {
    line: u32,
    column: u32,
    message: &'d str,
}

#[derive(Serialize)]
struct FixEntry<'d> {
    title: &'d str,
    safety: &'static str,
    edits: Vec<EditEntry<'d>>,
}

#[derive(Serialize)]
struct EditEntry<'d> {
    line: u32,
    column: u32,
    offset: u32,
    bytes: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    replacement: Option<&'d str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    replacement_base64: Option<String>,
}

impl<'d> Entry<'d> {
    fn new(linted: &Linted<'d>, diagnostic: &'d Diagnostic, index: &LineIndex<'_>) -> Entry<'d> {
        let place = &diagnostic.place;
        let effects = diagnostic.effects.iter();
        let related = diagnostic.related.iter().map(|related| RelatedEntry {
            line: related.place.line.get(),
            column: related.place.column,
            message: &related.message,
        });
        Entry {
            file: linted.name,
            line: place.line.get(),
            column: place.column,
            end_column: place.end_column,
            byte_column: place.byte_column,
            offset: place.span.start,
            bytes: place.span.bytes(),
            code: diagnostic.code.to_string(),
            name: diagnostic.code.name(),
            severity: diagnostic.severity().as_str(),
            message: &diagnostic.message,
            dialects: effects.map(|Effect { dialect, text }| (dialect.name, &**text)).collect(),
            related: related.collect(),
            fix: diagnostic.fix.as_ref().map(|fix| FixEntry {
                title: &fix.title,
                safety: fix.safety.as_str(),
                edits: fix.edits.iter().map(|edit| EditEntry::new(edit, index)).collect(),
            }),
        }
    }
}

impl<'d> EditEntry<'d> {
    fn new(edit: &'d Edit, index: &LineIndex<'_>) -> EditEntry<'d> {
        let (line, column) = index.position(edit.span.start);
        let text = std::str::from_utf8(&edit.replacement).ok();
        EditEntry {
            line: line.get(),
            column,
            offset: edit.span.start,
            bytes: edit.span.bytes(),
            replacement: text,
            replacement_base64: text.is_none().then(|| BASE64.encode(&edit.replacement)),
        }
    }
}
