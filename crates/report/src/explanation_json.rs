//! Writes one decision in full, as one line of JSON for programs.
//!
//! This is the object of `portcullis check --format jsonl`. Its members are always in this order:
//!
//! | member | value |
//! |---|---|
//! | `url`, `agent` | what is asked |
//! | `verdict`, `reason` | the decision |
//! | `line`, `rule`, `group` | the deciding rule, and the user-agent line of its group; `null` if there is none |
//! | `usage` | if labels are requested: by label `y`, `n`, `?` or `-` |
//! | `usage_line`, `usage_rule`, `usage_source` | by label, where it is stated; `null` if it is not |
//! | `licenses` | the licences, up to [`SHOWN_BYTES_MAX`]; `licenses_omitted` is the number of the others |
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
//! allowed) or `last-good-copy`. Text that is not UTF-8 has U+FFFD for the bytes that cannot be shown, and
//! a member whose name ends in `_base64` follows with the exact bytes. Text of a file that is longer than
//! [`SHOWN_BYTES_MAX`] is cut and ends with `…`. Control and bidirectional characters are `\u` escapes. New
//! members may be added at the end.

use std::borrow::Cow;
use std::collections::BTreeMap;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde::{Serialize, Serializer, ser::SerializeMap};

use portcullis_dialect::decision::Verdict;
use portcullis_dialect::dialect::Dialect;
use portcullis_dialect::usage::{Label, Preference};
use portcullis_robots::access::KnownOutage;
use portcullis_robots::policy::{
    ExplainedRecord, ExplainedRule, ExplainedStatement, Loss, UsageExplanation,
};
use portcullis_robots::syntax::{NoteKind, NoteSet};
use portcullis_set::batch::{Explained, FullDecision};
use portcullis_text::json::write_json;
use portcullis_text::visible::{SHOWN_BYTES_MAX, cut_to_show};

use super::account::format;
use super::clause;

/// Where preferences are attached to paths and groups, for explanations.
pub(super) const USAGE_CLAUSE: &str = "draft-ietf-aipref-attach-05: the longest path decides; \
     draft-ietf-aipref-vocab-08: combined, n goes before y";

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
    url: Text<'a>,
    agent: &'a str,
    verdict: Verdict,
    reason: &'static str,
    line: Option<u32>,
    #[serde(flatten)]
    rule: Text<'a>,
    #[serde(flatten)]
    group: Text<'a>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    usage: Option<Usage>,
    dialect: &'a str,
    clause: &'a str,
    problem: Option<&'a str>,
    #[serde(flatten)]
    path: Text<'a>,
    token: Option<&'a str>,
    groups: Vec<Line<'a>>,
    rules_in_groups: usize,
    deciding: Option<Line<'a>>,
    lost: Vec<Line<'a>>,
    outage: Option<&'a KnownOutage>,
    /// `None` if no label is requested. `Some(None)` is `null`.
    #[serde(skip_serializing_if = "Option::is_none")]
    usage_explained: Option<Option<UsageExplained<'a>>>,
    file_notes: Vec<&'static str>,
}

/// The preferences about the requested labels.
#[derive(Serialize)]
struct Usage {
    usage: ByLabel<Preference>,
    usage_line: ByLabel<Option<u32>>,
    usage_rule: ByLabel<Option<String>>,
    usage_source: ByLabel<Option<&'static str>>,
    licenses: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    licenses_omitted: Option<usize>,
}

/// The members of `usage_explained`.
#[derive(Serialize)]
struct UsageExplained<'a> {
    clause: &'static str,
    token: Option<&'a str>,
    groups: Vec<Line<'a>>,
    statements: usize,
    labels: ByLabel<LabelExplained<'a>>,
}

#[derive(Serialize)]
struct LabelExplained<'a> {
    deciding: Option<Line<'a>>,
    lost: Vec<Line<'a>>,
}

type ByLabel<T> = BTreeMap<&'static str, T>;

fn by_label<T>(labels: &[Label], of: impl Fn(Label) -> T) -> ByLabel<T> {
    labels.iter().map(|&label| (label.as_str(), of(label))).collect()
}

/// A line of a file: a user-agent line, a rule or a statement.
#[derive(Default, Serialize)]
struct Line<'a> {
    line: u32,
    #[serde(flatten)]
    text: Text<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<Verdict>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    preference: Option<Preference>,
    #[serde(skip_serializing_if = "Option::is_none")]
    readable: Option<bool>,
    #[serde(flatten)]
    matching: Option<Matching<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'static str>,
}

/// The value of a rule or a statement, and its pattern.
#[derive(Serialize)]
struct Matching<'a> {
    #[serde(flatten)]
    value: Text<'a>,
    #[serde(flatten)]
    pattern: Text<'a>,
    bytes: usize,
}

impl<'a> Line<'a> {
    fn new(record: &'a ExplainedRecord) -> Line<'a> {
        let text = Text::cut("text", Some(&record.text));
        Line { line: record.line.get(), text, ..Line::default() }
    }

    fn matching(record: &'a ExplainedRecord, pattern: &'a [u8], loss: Option<Loss>) -> Line<'a> {
        let matching = Matching {
            value: Text::cut("value", Some(&record.value)),
            pattern: Text::cut("pattern", Some(pattern)),
            bytes: pattern.len(),
        };
        Line { matching: Some(matching), why: loss.map(Loss::as_str), ..Line::new(record) }
    }

    fn rule(ExplainedRule { record, pattern, loss, verdict, .. }: &'a ExplainedRule) -> Line<'a> {
        Line { verdict: Some(*verdict), ..Line::matching(record, pattern, *loss) }
    }

    fn statement(it: &'a ExplainedStatement) -> Line<'a> {
        Line {
            source: Some(it.source.as_str()),
            preference: Some(it.preference),
            readable: Some(it.is_readable),
            ..Line::matching(&it.record, &it.pattern, it.loss)
        }
    }
}

/// Appends the object for `url` and `agent`, and LF, to `out`.
pub fn write(url: &[u8], agent: &str, full: FullDecision<'_>, found: Facts<'_>, out: &mut Vec<u8>) {
    let Facts { explained, problem, dialect, labels } = found;
    let FullDecision { decision, rule, group, .. } = full;
    let explanation = explained.map(|it| &it.explanation);
    let rules = explanation.map_or(&[][..], |explanation| &explanation.rules);
    let usage = explanation.map(|it| &it.usage).filter(|_| decision.verdict == Verdict::Allow);
    let notes = explained.map_or(NoteSet::EMPTY, |explained| explained.file_notes);
    let file_notes = NoteKind::OF_FILES.into_iter().filter(|&kind| notes.contains(kind));
    let object = Object {
        format: format::CHECK,
        url: Text::uncut("url", Some(url)),
        agent,
        verdict: decision.verdict,
        reason: decision.reason.as_str(),
        line: decision.line.map(|line| line.get()),
        rule: Text::cut("rule", rule),
        group: Text::cut("group", group),
        usage: (!labels.is_empty()).then(|| Usage::new(usage, labels)),
        dialect: dialect.name,
        clause: clause(dialect, decision.reason),
        problem,
        path: Text::uncut("path", explanation.map(|explanation| &*explanation.path)),
        token: explanation.and_then(|explanation| explanation.token.as_deref()),
        groups: explanation.map_or_else(Vec::new, |it| it.groups.iter().map(Line::new).collect()),
        rules_in_groups: explanation.map_or(0, |explanation| explanation.rules_in_groups),
        deciding: rules.iter().find(|rule| rule.loss.is_none()).map(Line::rule),
        lost: rules.iter().filter(|rule| rule.loss.is_some()).map(Line::rule).collect(),
        outage: explained.and_then(|it| it.outage.as_ref()),
        usage_explained: (!labels.is_empty())
            .then(|| usage.map(|usage| UsageExplained::new(usage, labels))),
        file_notes: file_notes.map(NoteKind::as_str).collect(),
    };
    write_object(&object, out);
}

impl Usage {
    /// Returns the preferences; `usage` is `None` without access.
    fn new(usage: Option<&UsageExplanation>, labels: &[Label]) -> Usage {
        let unless_stated =
            if usage.is_some() { Preference::Unstated } else { Preference::NoAccess };
        let deciding = |label| usage.and_then(|usage| usage.deciding(label));
        let at = |label| deciding(label).filter(|it| it.preference != Preference::Unstated);
        let all = usage.map_or(&[][..], |usage| &usage.licenses);
        let mut bytes = 0;
        let licenses: Vec<String> = all
            .iter()
            .map_while(|license| {
                let has_room = bytes < SHOWN_BYTES_MAX;
                let license = lossy(&license.value);
                bytes += license.len();
                has_room.then_some(license)
            })
            .collect();
        Usage {
            usage: by_label(labels, |it| deciding(it).map_or(unless_stated, |it| it.preference)),
            usage_line: by_label(labels, |it| at(it).map(|it| it.record.line.get())),
            usage_rule: by_label(labels, |it| at(it).map(|it| lossy(&it.record.value))),
            usage_source: by_label(labels, |it| at(it).map(|it| it.source.as_str())),
            licenses_omitted: Some(all.len() - licenses.len()).filter(|omitted| *omitted > 0),
            licenses,
        }
    }
}

impl<'a> UsageExplained<'a> {
    fn new(usage: &'a UsageExplanation, labels: &[Label]) -> UsageExplained<'a> {
        let label = |label: Label| {
            let mut statements = usage.labels[label as usize].iter().map(Line::statement);
            LabelExplained { deciding: statements.next(), lost: statements.collect() }
        };
        UsageExplained {
            clause: USAGE_CLAUSE,
            token: usage.token.as_deref(),
            groups: usage.groups.iter().map(Line::new).collect(),
            statements: usage.statements,
            labels: by_label(labels, label),
        }
    }
}

/// Returns text from a file, cut if it is long.
fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(&cut_to_show(bytes)).into_owned()
}

/// A text that is flattened into its object: the text under its name, or `null` if there is none.
/// If the text is not UTF-8, its bytes in base64 follow under the name with `_base64`.
#[derive(Default)]
struct Text<'a> {
    name: &'static str,
    bytes: Option<Cow<'a, [u8]>>,
}

impl<'a> Text<'a> {
    /// Returns a text that is never cut.
    fn uncut(name: &'static str, bytes: Option<&'a [u8]>) -> Text<'a> {
        Text { name, bytes: bytes.map(Cow::Borrowed) }
    }

    /// Returns a text from a file, which is cut if it is long.
    fn cut(name: &'static str, bytes: Option<&'a [u8]>) -> Text<'a> {
        Text { name, bytes: bytes.map(cut_to_show) }
    }
}

impl Serialize for Text<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let text = self.bytes.as_deref().map(String::from_utf8_lossy);
        map.serialize_entry(self.name, &text)?;
        if let (Some(Cow::Owned(_)), Some(bytes)) = (text, &self.bytes) {
            map.serialize_entry(&format!("{}_base64", self.name), &BASE64_STANDARD.encode(bytes))?;
        }
        map.end()
    }
}

/// Appends `object` and LF to `out`.
pub(super) fn write_object(object: &impl Serialize, out: &mut Vec<u8>) {
    write_json(object, &mut *out).expect("text and numbers are always JSON");
    out.push(b'\n');
}
