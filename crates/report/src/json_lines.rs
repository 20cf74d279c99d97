//! Members of JSON objects about one decision, for `check` and the reports of files.
//!
//! An object begins with `{"url", "agent", "verdict", "reason", "line", "rule", "group"}`, always in
//! this order, `null` if they have no value. If text is not UTF-8, its member has U+FFFD for the bytes
//! that cannot be shown. A member whose name ends in `_base64` follows with the exact bytes.
//!
//! If labels are requested, there are five more members. `usage`, `usage_line`, `usage_rule` and
//! `usage_source` are objects with a member for each label, because each label may be stated on a
//! different line. `licenses` is an array. `usage` has `y`, `n`, `?` or `-`; the other three are `null`
//! if the label is not stated.
//!
//! A rule, group or licence longer than [`SHOWN_BYTES_MAX`] is cut and ends with `…`, and so does its
//! `_base64` member. `line` gives the place of the whole rule. The list of licences ends when it has
//! that many bytes; the member `licenses_omitted` follows with the number of the others. Control and
//! bidirectional characters are `\u` escapes.

use std::borrow::Cow;
use std::collections::BTreeMap;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde::{Serialize, Serializer, ser::SerializeMap};

use portcullis_dialect::id::LineNumber;
use portcullis_dialect::usage::{Label, Preference, UsageSource};
use portcullis_set::batch::FullDecision;
use portcullis_text::json::write_json;
use portcullis_text::visible::{SHOWN_BYTES_MAX, cut_to_show};

/// The first members of the object of a URL and an agent.
#[derive(Serialize)]
pub(super) struct Line<'a> {
    #[serde(flatten)]
    url: Text<'a>,
    agent: Option<&'a str>,
    #[serde(flatten)]
    decision: DecisionObject<'a>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    usage: Option<UsageObject>,
}

/// The preferences about the requested labels.
#[derive(Default, Serialize)]
pub(super) struct UsageObject {
    usage: BTreeMap<&'static str, &'static str>,
    usage_line: BTreeMap<&'static str, Option<u32>>,
    usage_rule: BTreeMap<&'static str, Option<String>>,
    usage_source: BTreeMap<&'static str, Option<&'static str>>,
    licenses: Vec<String>,
    #[serde(skip_serializing_if = "is_zero")]
    licenses_omitted: usize,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl UsageObject {
    /// Returns an object without labels. It lists `licenses` until they have [`SHOWN_BYTES_MAX`] bytes
    /// together, and counts the others.
    ///
    /// # Errors
    ///
    /// If a licence cannot be read.
    pub fn new<L: AsRef<[u8]>, E>(
        mut licenses: impl ExactSizeIterator<Item = Result<L, E>>,
    ) -> Result<UsageObject, E> {
        let mut object = UsageObject::default();
        let mut bytes = 0;
        while bytes < SHOWN_BYTES_MAX
            && let Some(license) = licenses.next()
        {
            let license = text(license?.as_ref());
            bytes += license.len();
            object.licenses.push(license);
        }
        object.licenses_omitted = licenses.len();
        Ok(object)
    }

    /// Adds the preference about a label, and the line, the kind and the value of the record that
    /// states it.
    pub fn add(
        &mut self,
        label: Label,
        preference: Preference,
        at: Option<(LineNumber, UsageSource, &[u8])>,
    ) {
        let name = label.as_str();
        self.usage.insert(name, preference.as_str());
        self.usage_line.insert(name, at.map(|(line, ..)| line.get()));
        self.usage_rule.insert(name, at.map(|(_, _, value)| text(value)));
        self.usage_source.insert(name, at.map(|(_, source, _)| source.as_str()));
    }
}

/// Returns text from a file for JSON.
fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(&cut_to_show(bytes)).into_owned()
}

impl<'a> Line<'a> {
    /// Returns the members for a record and an agent.
    pub fn new(
        url: &'a [u8],
        agent: Option<&'a str>,
        decision: FullDecision<'a>,
        usage: Option<UsageObject>,
    ) -> Line<'a> {
        let FullDecision { decision, rule, group, .. } = decision;
        let decision = DecisionObject {
            verdict: decision.verdict.as_str(),
            reason: decision.reason.as_str(),
            line: decision.line.map(|line| line.get()),
            rule: Text::cut("rule", rule),
            group: Text::cut("group", group),
        };
        Line { url: Text::uncut("url", Some(url)), agent, decision, usage }
    }
}

/// The members of a decision.
#[derive(Serialize)]
struct DecisionObject<'a> {
    verdict: &'static str,
    reason: &'static str,
    line: Option<u32>,
    #[serde(flatten)]
    rule: Text<'a>,
    #[serde(flatten)]
    group: Text<'a>,
}

/// A text that is flattened into its object: the text under its name, or `null` if there is none.
/// If the text is not UTF-8, its bytes in base64 follow under the name with `_base64`.
pub struct Text<'a> {
    name: &'static str,
    bytes: Option<Cow<'a, [u8]>>,
}

impl<'a> Text<'a> {
    /// Returns a text that is never cut.
    pub fn uncut(name: &'static str, bytes: Option<&'a [u8]>) -> Text<'a> {
        Text { name, bytes: bytes.map(Cow::Borrowed) }
    }

    /// Returns a text from a file, which is cut if it is long.
    pub fn cut(name: &'static str, bytes: Option<&'a [u8]>) -> Text<'a> {
        Text { name, bytes: bytes.map(cut_to_show) }
    }
}

impl Serialize for Text<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let shown = self.bytes.as_deref().map(shown);
        map.serialize_entry(self.name, &shown.as_ref().map(|(text, _)| text))?;
        if let Some((_, Some(exact))) = shown {
            map.serialize_entry(&format!("{}_base64", self.name), &exact)?;
        }
        map.end()
    }
}

/// Returns displayable text, and the bytes in base64 if the text is not exact.
pub fn shown(bytes: &[u8]) -> (Cow<'_, str>, Option<String>) {
    match String::from_utf8_lossy(bytes) {
        Cow::Borrowed(text) => (Cow::Borrowed(text), None),
        lossy => (lossy, Some(BASE64_STANDARD.encode(bytes))),
    }
}

/// Appends `object` and LF to `out`.
pub fn write_object(object: &impl Serialize, out: &mut Vec<u8>) {
    write_json(object, &mut *out).expect("text and numbers are always JSON");
    out.push(b'\n');
}
