//! Writes one decision in full, as one line of JSON for programs.
//!
//! This is the object of `portcullis check --format jsonl`. Its first members are the members of
//! `json_lines`. The following come next, always and in this order:
//!
//! | member | value |
//! |---|---|
//! | `dialect` | the name of the dialect |
//! | `clause` | the clause of its document |
//! | `problem` | why the record is not a URL, else `null` |
//! | `path` | the path and query in normal form; `null` without a policy |
//! | `token` | the token of the agent that the groups name; `null` for default groups |
//! | `groups` | the groups that apply: `line` and `text` of a user-agent line of each |
//! | `rules_in_groups` | the number of their rules |
//! | `deciding` | the deciding rule, or `null` |
//! | `lost` | the losing rules that match too, by precedence, each with `why` it lost |
//! | `outage` | for a host in an outage `since`, `change` and `copy_captured_at`, else `null` |
//! | `usage_explained` | if labels are requested: the reasons for each preference; `null` without access |
//! | `file_notes` | `file-cut`, `looks-like-html`, `looks-binary` or `looks-like-json`, if the file is so |
//!
//! A rule has `line`, `text` (the record as written in the file), `verdict`, `value` (the pattern
//! as written), `pattern` (in normal form) and `bytes` (the length of `pattern`, which precedence
//! compares). `why` is `fewer-bytes`, `allow-goes-first`, `later-line`, `after-first-match` or
//! `always-allowed`.
//!
//! `usage_explained` has the `clause`, `token` and `groups` as above, the number of `statements`
//! that apply to the agent, and `labels`: for each label the `deciding` statement, or `null`, and
//! the `lost` ones. A statement has `line`, `text`, `source`, `preference`, `readable`, `value`,
//! `pattern` (empty for every path) and `bytes`, and `why` may also be `preference-goes-first`,
//! or `other-field`: the first statement of its field, to which the other field's was preferred.
//!
//! The `change` after an outage of more than 30 days is `no-change`, `unavailable` (everything is
//! allowed) or `last-good-copy`. Text that is not UTF-8 has a `_base64` member, and long text is
//! cut, as in `json_lines`. New members may be added at the end.

use std::collections::BTreeMap;
use std::convert::Infallible;

use serde::Serialize;

use portcullis_dialect::decision::Verdict;
use portcullis_dialect::dialect::Dialect;
use portcullis_dialect::usage::{Label, Preference};
use portcullis_robots::access::KnownOutage;
use portcullis_robots::policy::{
    ExplainedRecord, ExplainedRule, ExplainedStatement, UsageExplanation,
};
use portcullis_robots::syntax::{NoteKind, NoteSet};
use portcullis_set::batch::{Explained, FullDecision};

use super::account::format;
use super::clause;
use super::explanation::USAGE_CLAUSE;
use super::json_lines::{Line, Text, UsageObject, write_object};

/// The facts beyond the decision.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// The explanation, if a policy is known.
    pub explained: Option<&'a Explained>,
    /// Why the record is not a URL. `None` if it is a URL.
    pub problem: Option<&'a str>,
    /// The dialect.
    pub dialect: &'a Dialect,
    /// The requested labels.
    pub labels: &'a [Label],
}

/// The JSON object.
#[derive(Serialize)]
struct Object<'a> {
    format: &'static str,
    #[serde(flatten)]
    line: Line<'a>,
    dialect: &'a str,
    clause: &'a str,
    problem: Option<&'a str>,
    #[serde(flatten)]
    path: Text<'a>,
    token: Option<&'a str>,
    groups: Vec<Group<'a>>,
    rules_in_groups: usize,
    deciding: Option<Rule<'a>>,
    lost: Vec<Rule<'a>>,
    outage: Option<&'a KnownOutage>,
    /// `None` if no label is requested. `Some(None)` is `null`.
    #[serde(skip_serializing_if = "Option::is_none")]
    usage_explained: Option<Option<UsageExplained<'a>>>,
    file_notes: Vec<&'static str>,
}

/// The members of `usage_explained`.
#[derive(Serialize)]
struct UsageExplained<'a> {
    clause: &'static str,
    token: Option<&'a str>,
    groups: Vec<Group<'a>>,
    statements: usize,
    labels: BTreeMap<&'static str, LabelExplained<'a>>,
}

#[derive(Serialize)]
struct LabelExplained<'a> {
    deciding: Option<StatementObject<'a>>,
    lost: Vec<StatementObject<'a>>,
}

#[derive(Serialize)]
struct StatementObject<'a> {
    line: u32,
    #[serde(flatten)]
    text: Text<'a>,
    source: &'static str,
    preference: &'static str,
    readable: bool,
    #[serde(flatten)]
    value: Text<'a>,
    #[serde(flatten)]
    pattern: Text<'a>,
    bytes: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'static str>,
}

#[derive(Serialize)]
struct Group<'a> {
    line: u32,
    #[serde(flatten)]
    text: Text<'a>,
}

#[derive(Serialize)]
struct Rule<'a> {
    line: u32,
    #[serde(flatten)]
    text: Text<'a>,
    verdict: &'static str,
    #[serde(flatten)]
    value: Text<'a>,
    #[serde(flatten)]
    pattern: Text<'a>,
    bytes: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'static str>,
}

/// Appends the object for `url` and `agent`, and LF, to `out`.
pub fn write(url: &[u8], agent: &str, full: FullDecision<'_>, found: Facts<'_>, out: &mut Vec<u8>) {
    let explanation = found.explained.map(|it| &it.explanation);
    let rules = explanation.map_or(&[][..], |explanation| &explanation.rules);
    let usage = explanation.map(|it| &it.usage).filter(|_| full.decision.verdict == Verdict::Allow);
    let stated = usage_object(usage, found.labels);
    let notes = found.explained.map_or(NoteSet::EMPTY, |explained| explained.file_notes);
    let file_notes = NoteKind::OF_FILES.into_iter().filter(|&kind| notes.contains(kind));
    let object = Object {
        format: format::CHECK,
        line: Line::new(url, Some(agent), full, stated),
        dialect: found.dialect.name,
        clause: clause(found.dialect, full.decision.reason),
        problem: found.problem,
        path: Text::uncut("path", explanation.map(|explanation| &*explanation.path)),
        token: explanation.and_then(|explanation| explanation.token.as_deref()),
        groups: explanation.map_or_else(Vec::new, |it| it.groups.iter().map(group).collect()),
        rules_in_groups: explanation.map_or(0, |explanation| explanation.rules_in_groups),
        deciding: rules.iter().find(|rule| rule.loss.is_none()).map(rule_object),
        lost: rules.iter().filter(|rule| rule.loss.is_some()).map(rule_object).collect(),
        outage: found.explained.and_then(|it| it.outage.as_ref()),
        usage_explained: (!found.labels.is_empty())
            .then(|| usage.map(|usage| usage_explained(usage, found.labels))),
        file_notes: file_notes.map(NoteKind::as_str).collect(),
    };
    write_object(&object, out);
}

/// Returns the members about usage, as in `json_lines`.
fn usage_object(usage: Option<&UsageExplanation>, labels: &[Label]) -> Option<UsageObject> {
    let licenses = usage.map_or(&[][..], |usage| &usage.licenses).iter();
    let licenses = licenses.map(|license| Ok::<_, Infallible>(&*license.value));
    let Ok(mut object) = UsageObject::new(licenses);
    for &label in labels {
        let deciding = usage.and_then(|usage| usage.deciding(label));
        let unless_stated =
            if usage.is_some() { Preference::Unstated } else { Preference::NoAccess };
        let preference = deciding.map_or(unless_stated, |it| it.preference);
        let at = deciding.filter(|_| preference != Preference::Unstated);
        object.add(label, preference, at.map(|it| (it.record.line, it.source, &*it.record.value)));
    }
    (!labels.is_empty()).then_some(object)
}

fn usage_explained<'a>(usage: &'a UsageExplanation, labels: &[Label]) -> UsageExplained<'a> {
    let label = |&label: &Label| {
        let mut statements = usage.labels[label as usize].iter().map(statement_object);
        let deciding = statements.next();
        (label.as_str(), LabelExplained { deciding, lost: statements.collect() })
    };
    UsageExplained {
        clause: USAGE_CLAUSE,
        token: usage.token.as_deref(),
        groups: usage.groups.iter().map(group).collect(),
        statements: usage.statements,
        labels: labels.iter().map(label).collect(),
    }
}

fn statement_object(statement: &ExplainedStatement) -> StatementObject<'_> {
    StatementObject {
        line: statement.record.line.get(),
        text: Text::cut("text", Some(&statement.record.text)),
        source: statement.source.as_str(),
        preference: statement.preference.as_str(),
        readable: statement.is_readable,
        value: Text::cut("value", Some(&statement.record.value)),
        pattern: Text::cut("pattern", Some(&statement.pattern)),
        bytes: statement.pattern.len(),
        why: statement.loss.map(|loss| loss.as_str()),
    }
}

fn group(group: &ExplainedRecord) -> Group<'_> {
    Group { line: group.line.get(), text: Text::cut("text", Some(&group.text)) }
}

fn rule_object(rule: &ExplainedRule) -> Rule<'_> {
    Rule {
        line: rule.record.line.get(),
        text: Text::cut("text", Some(&rule.record.text)),
        verdict: rule.verdict.as_str(),
        value: Text::cut("value", Some(&rule.record.value)),
        pattern: Text::cut("pattern", Some(&rule.pattern)),
        bytes: rule.pattern.len(),
        why: rule.loss.map(|loss| loss.as_str()),
    }
}
