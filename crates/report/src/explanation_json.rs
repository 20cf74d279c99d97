//! Writes one decision in full, as one line of JSON for programs.
//!
//! This is the object of `portcullis check --format jsonl`. `docs/json.md` lists its members (`check`), and
//! those of a rule or a statement (`line`). They are always in one order, and new ones are added at the end.
//!
//! Text that is not UTF-8 has U+FFFD for the bytes that cannot be shown, and a member whose name ends in
//! `_base64` follows with the exact bytes. Text of a file that is longer than [`SHOWN_BYTES_MAX`] is cut and
//! ends with `…`, and so are the licences together: `licenses_omitted` is the number of the others. Control
//! and bidirectional characters are `\u` escapes.

use std::borrow::Cow;
use std::collections::BTreeMap;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde::{Serialize, Serializer, ser::SerializeMap};

use portcullis_dialect::decision::Verdict;
use portcullis_dialect::usage::{Label, Preference};
use portcullis_robots::policy::{
    ExplainedRecord, ExplainedRule, ExplainedStatement, UsageExplanation,
};
use portcullis_robots::syntax::{NoteKind, NoteSet};
use portcullis_set::batch::FullDecision;
use portcullis_set::stored::Read;
use portcullis_text::json::write_json;
use portcullis_text::visible::{SHOWN_BYTES_MAX, cut_to_show};

use super::account::format;
use super::explanation::{Facts, USAGE_CLAUSE, clause};

/// Appends the object for `url`, and LF, to `out`.
pub fn write(url: &[u8], full: FullDecision<'_>, found: &Facts, out: &mut Vec<u8>) {
    write_json(&Object { url, full, found }, &mut *out).expect("text and numbers are always JSON");
    out.push(b'\n');
}

/// The JSON object.
struct Object<'a> {
    url: &'a [u8],
    full: FullDecision<'a>,
    found: &'a Facts,
}

impl Serialize for Object<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Object { url, full: FullDecision { decision, rule, group, .. }, found } = self;
        let Facts { agent, explained, problem, dialect, labels, read_source } = found;
        let explained = explained.as_ref();
        let explanation = explained.map(|it| &it.explanation);
        let rules = explanation.map_or(&[][..], |it| &it.rules);
        let usage = explanation.map(|it| &it.usage).filter(|_| decision.verdict == Verdict::Allow);
        let facts = explained.map(|explained| &explained.facts);
        let notes = facts.map_or(NoteSet::EMPTY, |facts| facts.file_notes);
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("format", format::CHECK)?;
        text("url", Some(url), &mut map)?;
        map.serialize_entry("agent", agent)?;
        map.serialize_entry("verdict", &decision.verdict)?;
        map.serialize_entry("reason", decision.reason.as_str())?;
        map.serialize_entry("line", &decision.line)?;
        text("rule", rule.map(cut_to_show).as_deref(), &mut map)?;
        text("group", group.map(cut_to_show).as_deref(), &mut map)?;
        if !labels.is_empty() {
            preferences(usage, labels, &mut map)?;
        }
        map.serialize_entry("dialect", dialect.name)?;
        map.serialize_entry("clause", clause(dialect, decision.reason))?;
        map.serialize_entry("problem", problem)?;
        text("path", explanation.map(|it| &*it.path), &mut map)?;
        map.serialize_entry("token", &explanation.and_then(|it| it.token.as_deref()))?;
        map.serialize_entry("groups", &lines(explanation.map_or(&[], |it| &it.groups)))?;
        map.serialize_entry("rules_in_groups", &explanation.map_or(0, |it| it.rules_in_groups))?;
        let deciding = rules.iter().find(|rule| rule.loss.is_none());
        map.serialize_entry("deciding", &deciding.map(Line::Rule))?;
        let lost = rules.iter().filter(|rule| rule.loss.is_some());
        map.serialize_entry("lost", &lost.map(Line::Rule).collect::<Vec<_>>())?;
        map.serialize_entry("outage", &facts.and_then(|it| it.outage.as_ref()))?;
        if !labels.is_empty() {
            let explained = usage.map(|usage| UsageExplained {
                clause: USAGE_CLAUSE,
                token: usage.token.as_deref(),
                groups: lines(&usage.groups),
                statements: usage.statements,
                labels: by_label(labels, |label| {
                    let mut statements = usage.labels[label as usize].iter().map(Line::Statement);
                    LabelExplained { deciding: statements.next(), lost: statements.collect() }
                }),
            });
            map.serialize_entry("usage_explained", &explained)?;
        }
        let notes = NoteKind::OF_FILES.into_iter().filter(|&kind| notes.contains(kind));
        map.serialize_entry("file_notes", &notes.collect::<Vec<_>>())?;
        let read = explained.and_then(|it| it.read).map(|read| match read {
            Read::Open(_) => "open",
            Read::Copy(_) => "copy",
        });
        map.serialize_entry("read", &read)?;
        map.serialize_entry("read_source", &read_source.as_ref().filter(|_| read.is_some()))?;
        map.serialize_entry("status", &facts.map(|it| it.status).filter(|it| *it != 0))?;
        let notes = facts.into_iter().flat_map(|it| it.capture_notes.iter());
        map.serialize_entry("capture_notes", &notes.collect::<Vec<_>>())?;
        map.serialize_entry("captured_at", &facts.and_then(|it| it.captured_at))?;
        map.end()
    }
}

/// Adds the preferences about the requested labels, which are `None` without access.
fn preferences<M: SerializeMap>(
    usage: Option<&UsageExplanation>,
    labels: &[Label],
    map: &mut M,
) -> Result<(), M::Error> {
    let unless_stated = if usage.is_some() { Preference::Unstated } else { Preference::NoAccess };
    let deciding = |label| usage.and_then(|usage| usage.deciding(label));
    let preference = |label| deciding(label).map_or(unless_stated, |it| it.preference);
    let at = |label| deciding(label).filter(|it| it.preference != Preference::Unstated);
    map.serialize_entry("usage", &by_label(labels, preference))?;
    map.serialize_entry("usage_line", &by_label(labels, |it| at(it).map(|it| it.record.line)))?;
    let value = |label| at(label).map(|it| lossy(&it.record.value));
    map.serialize_entry("usage_rule", &by_label(labels, value))?;
    let source = |label| at(label).map(|it| it.source.as_str());
    map.serialize_entry("usage_source", &by_label(labels, source))?;
    let all = usage.map_or(&[][..], |usage| &usage.licenses);
    let mut bytes = 0;
    let shown = all.iter().map_while(|license| {
        let has_room = bytes < SHOWN_BYTES_MAX;
        let license = lossy(&license.value);
        bytes += license.len();
        has_room.then_some(license)
    });
    let licenses: Vec<String> = shown.collect();
    map.serialize_entry("licenses", &licenses)?;
    match all.len() - licenses.len() {
        0 => Ok(()),
        omitted => map.serialize_entry("licenses_omitted", &omitted),
    }
}

fn by_label<T>(labels: &[Label], of: impl Fn(Label) -> T) -> BTreeMap<&'static str, T> {
    labels.iter().map(|&label| (label.as_str(), of(label))).collect()
}

/// The value of `usage_explained`.
#[derive(Serialize)]
struct UsageExplained<'a> {
    clause: &'static str,
    token: Option<&'a str>,
    groups: Vec<Line<'a>>,
    statements: usize,
    labels: BTreeMap<&'static str, LabelExplained<'a>>,
}

#[derive(Serialize)]
struct LabelExplained<'a> {
    deciding: Option<Line<'a>>,
    lost: Vec<Line<'a>>,
}

/// A line of a file.
enum Line<'a> {
    /// A user-agent line.
    Group(&'a ExplainedRecord),
    Rule(&'a ExplainedRule),
    Statement(&'a ExplainedStatement),
}

fn lines(groups: &[ExplainedRecord]) -> Vec<Line<'_>> {
    groups.iter().map(Line::Group).collect()
}

impl Serialize for Line<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let (record, matching) = match self {
            Line::Group(record) => (*record, None),
            Line::Rule(it) => (&it.record, Some((&it.pattern, it.loss))),
            Line::Statement(it) => (&it.record, Some((&it.pattern, it.loss))),
        };
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("line", &record.line)?;
        text("text", Some(&cut_to_show(&record.text)), &mut map)?;
        match self {
            Line::Group(_) => {}
            Line::Rule(it) => map.serialize_entry("verdict", &it.verdict)?,
            Line::Statement(it) => {
                map.serialize_entry("source", it.source.as_str())?;
                map.serialize_entry("preference", &it.preference)?;
                map.serialize_entry("readable", &it.is_readable)?;
            }
        }
        if let Some((pattern, loss)) = matching {
            text("value", Some(&cut_to_show(&record.value)), &mut map)?;
            text("pattern", Some(&cut_to_show(pattern)), &mut map)?;
            map.serialize_entry("bytes", &pattern.len())?;
            if let Some(loss) = loss {
                map.serialize_entry("why", loss.as_str())?;
            }
        }
        map.end()
    }
}

/// Returns text from a file, cut if it is long.
fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(&cut_to_show(bytes)).into_owned()
}

/// Adds a text under its name: `null` if there is none. If it is not UTF-8, its bytes in base64 follow
/// under the name with `_base64`.
fn text<M: SerializeMap>(
    name: &'static str,
    bytes: Option<&[u8]>,
    map: &mut M,
) -> Result<(), M::Error> {
    let shown = bytes.map(String::from_utf8_lossy);
    map.serialize_entry(name, &shown)?;
    match (shown, bytes) {
        (Some(Cow::Owned(_)), Some(bytes)) => {
            map.serialize_entry(&format!("{name}_base64"), &BASE64_STANDARD.encode(bytes))
        }
        _ => Ok(()),
    }
}
