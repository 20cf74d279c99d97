//! SARIF 2.1.0, which code hosts and editors read.
//!
//! Source: OASIS Standard, Static Analysis Results Interchange Format Version 2.1.0. Columns count
//! Unicode code points (section 3.14.17). What each dialect makes of a line stands in the property
//! bag of a result (section 3.8).

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Value, json};

use super::{Linted, Omitted, ReportFormat, index};
use crate::bytes::push_percent_triplet;
use crate::dialect::Dialect;
use crate::lint::catalogue::{self, Entry};
use crate::lint::{Diagnostic, Edit, Effect, LineIndex, Place, Safety, Severity};
use crate::visible::to_json;

/// A log with one run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sarif;

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

impl ReportFormat for Sarif {
    fn begin(&self, dialect: &Dialect) -> String {
        let rules: Vec<Value> = catalogue::entries().map(rule).collect();
        let driver = json!({
            "name": env!("CARGO_PKG_NAME"),
            "version": env!("CARGO_PKG_VERSION"),
            "rules": rules,
        });
        format!(
            "{{\"$schema\":{},\"version\":\"2.1.0\",\"runs\":[{{\"tool\":{{\"driver\":{}}},\
            \"columnKind\":\"unicodeCodePoints\",\"properties\":{},\"results\":[\n",
            to_json(&SCHEMA),
            to_json(&driver),
            to_json(&json!({ "dialect": dialect.name })),
        )
    }

    fn entries(&self, linted: &Linted<'_>) -> String {
        let index = index(linted);
        let uri = uri_of(linted.name);
        let diagnostics = linted.report.diagnostics.iter();
        let results: Vec<String> = diagnostics
            .map(|diagnostic| to_json(&SarifResult::new(&uri, diagnostic, &index)))
            .collect();
        results.join(self.separator())
    }

    fn separator(&self) -> &'static str {
        ",\n"
    }

    fn end(&self, omitted: &[Omitted]) -> String {
        if omitted.is_empty() {
            return "\n]}]}\n".into();
        }
        let notifications: Vec<Value> = omitted.iter().map(notification).collect();
        let invocation =
            json!({ "executionSuccessful": true, "toolExecutionNotifications": notifications });
        format!("\n],\"invocations\":[{}]}}]}}\n", to_json(&invocation))
    }
}

/// A reportingDescriptor (section 3.49).
fn rule(entry: &Entry) -> Value {
    json!({
        "id": entry.code.to_string(),
        "name": entry.name,
        "shortDescription": { "text": entry.summary },
        "fullDescription": { "text": entry.why },
        "help": { "text": entry.remedy },
        "defaultConfiguration": { "level": level(entry.severity) },
    })
}

/// A notification (section 3.58) of findings that are not listed.
fn notification(omitted: &Omitted) -> Value {
    json!({
        "level": "note",
        "message": { "text": omitted.sentence() },
        "associatedRule": { "id": omitted.code.to_string() },
        "locations": [{
            "physicalLocation": { "artifactLocation": { "uri": uri_of(&omitted.file) } },
        }],
    })
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    }
}

/// A result (section 3.27).
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SarifResult<'d> {
    rule_id: String,
    rule_index: usize,
    level: &'static str,
    message: Value,
    locations: [Value; 1],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related_locations: Vec<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fixes: Vec<Value>,
    properties: BTreeMap<&'static str, BTreeMap<&'static str, &'d str>>,
}

impl<'d> SarifResult<'d> {
    fn new(uri: &str, diagnostic: &'d Diagnostic, index: &LineIndex<'_>) -> SarifResult<'d> {
        let code = diagnostic.code;
        let rule_index = catalogue::entries().position(|entry| entry.code == code);
        let related = diagnostic.related.iter();
        let effects = diagnostic.effects.iter();
        let effects = effects.map(|Effect { dialect, text }| (dialect.name, text.as_str()));
        SarifResult {
            rule_id: code.to_string(),
            rule_index: rule_index.expect("the catalogue has an entry for each code"),
            level: level(diagnostic.severity()),
            message: json!({ "text": diagnostic.message }),
            locations: [location(uri, &diagnostic.place, None)],
            related_locations: related
                .map(|related| location(uri, &related.place, Some(&related.message)))
                .collect(),
            fixes: fix(uri, diagnostic, index).into_iter().collect(),
            properties: BTreeMap::from([("dialects", effects.collect())]),
        }
    }
}

/// A location (section 3.28).
fn location(uri: &str, place: &Place, message: Option<&str>) -> Value {
    let mut location = json!({
        "physicalLocation": {
            "artifactLocation": { "uri": uri },
            "region": {
                "startLine": place.line.get(),
                "startColumn": place.column,
                "endColumn": place.end_column,
            },
        },
    });
    if let Some(message) = message {
        location["message"] = json!({ "text": message });
    }
    location
}

/// A fix (section 3.55). The text of SARIF is Unicode, so an edit that puts in other bytes has none.
fn fix(uri: &str, diagnostic: &Diagnostic, index: &LineIndex<'_>) -> Option<Value> {
    let fix = diagnostic.fix.as_ref()?;
    let edits = fix.edits.iter();
    let replacements: Option<Vec<Value>> = edits.map(|edit| replacement(edit, index)).collect();
    let title = match fix.safety {
        Safety::ToBeProved => fix.title.clone(),
        Safety::Suggestion => format!("{} (this changes verdicts)", fix.title),
    };
    Some(json!({
        "description": { "text": title },
        "artifactChanges": [{
            "artifactLocation": { "uri": uri },
            "replacements": replacements.filter(|replacements| !replacements.is_empty())?,
        }],
    }))
}

/// A replacement (section 3.57).
fn replacement(edit: &Edit, index: &LineIndex<'_>) -> Option<Value> {
    let (start_line, start_column) = index.position(edit.span.start);
    let (end_line, end_column) = index.position(edit.span.end);
    let mut replacement = json!({
        "deletedRegion": {
            "startLine": start_line.get(),
            "startColumn": start_column,
            "endLine": end_line.get(),
            "endColumn": end_column,
        },
    });
    if !edit.replacement.is_empty() {
        let text = std::str::from_utf8(&edit.replacement).ok()?;
        replacement["insertedContent"] = json!({ "text": text });
    }
    Some(replacement)
}

/// A file's name as a relative or absolute reference (RFC 3986, section 4.2).
fn uri_of(name: &str) -> String {
    let mut uri = Vec::new();
    for byte in name.bytes() {
        match byte {
            b'/' | b'-' | b'.' | b'_' | b'~' => uri.push(byte),
            _ if byte.is_ascii_alphanumeric() => uri.push(byte),
            _ => push_percent_triplet(&mut uri, byte),
        }
    }
    String::from_utf8(uri).expect("what is not ASCII has become triplets")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_references() {
        assert_eq!(uri_of("a/b c.txt"), "a/b%20c.txt");
        assert_eq!(uri_of("a.example:8443"), "a.example%3A8443");
        assert_eq!(uri_of("ä"), "%C3%A4");
    }
}
