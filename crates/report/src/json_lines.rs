//! Writes JSON Lines: one object per record and agent.
//!
//! The members always come in the same order, `null` if they have no value: `{"url", "agent",
//! "verdict", "reason", "line", "rule", "group"}`. The URL is the record's URL, without the line or
//! row around it. An object of a JSON Lines list keeps its own members, byte for byte, and the others
//! follow them. `url` does so unless the object has it with the URL that was decided, or no URL was.
//! If text is not UTF-8, its member has U+FFFD for the bytes that cannot be shown. A member whose name
//! ends in `_base64` follows with the exact bytes.
//!
//! If labels are requested, there are five more members at the end. `usage`, `usage_line`,
//! `usage_rule` and `usage_source` are objects with a member for each label, because each label may
//! be stated on a different line. `licenses` is an array. `usage` has `y`, `n`, `?` or `-`; the
//! other three are `null` if the label is not stated.
//!
//! If records are decided as of a time, `captured`, `since` and `until` follow: the date of the newest
//! capture at that time, and the ends of the period in force. If they are also decided as of now,
//! `now` is that verdict.
//!
//! A rule, group or licence longer than [`SHOWN_BYTES_MAX`] is cut and ends with `…`, and so does its
//! `_base64` member. `line` gives the place of the whole rule. The list of licences ends when it has
//! that many bytes; the member `licenses_omitted` follows with the number of the others. Control and
//! bidirectional characters are `\u` escapes.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer, ser::SerializeMap};
use serde_json::value::RawValue;

use super::columns::times;
use super::{ChunkError, Counts, Encoded, Format, Piece, decide_block};
use portcullis_dialect::decision::Decision;
use portcullis_dialect::id::LineNumber;
use portcullis_dialect::usage::{Label, Preference, UsageSource};
use portcullis_robots::access::UnixSeconds;
use portcullis_rows::input::Record;
use portcullis_rows::limits::CHUNK_OUTPUT_BYTES_MAX;
use portcullis_rows::list::{List, ListFormat};
use portcullis_set::Damage;
use portcullis_set::batch::{Answers, FullDecision, Session};
use portcullis_text::json::write_json;
use portcullis_text::visible::{SHOWN_BYTES_MAX, cut_to_show};

/// The JSON Lines format for agents with these names, or for the agent of each record, which is
/// `null` if it is not known.
#[derive(Clone, Copy, Debug)]
pub struct JsonLines<'a> {
    pub agents: &'a [String],
    /// What precedes the names of the members that are added to the objects of a list.
    pub prefix: &'a str,
}

impl Format for JsonLines<'_> {
    fn encode(
        &self,
        mut piece: Piece<'_, '_>,
        session: &mut Session,
        counts: &mut Counts,
        out: &mut Encoded,
    ) -> Result<(), ChunkError> {
        let classifier = Arc::clone(session.classifier());
        let per_record = classifier.answers_per_record();
        let is_each = classifier.has_agent_per_record();
        let list = piece.rows().list();
        let mut added = Vec::new();
        piece.read(per_record, |block, rejects| {
            let mut answers = decide_block(block, session, counts, rejects)?;
            for (row, record) in block.iter().enumerate() {
                let own = Own::of(list, record);
                for answer in row * per_record..(row + 1) * per_record {
                    let agent = answers.agent(answer).and_then(|agent| match is_each {
                        true => Some(classifier.agents()[agent].name()),
                        false => self.agents.get(agent).map(String::as_str),
                    });
                    let usage = UsageObject::read(&answers, answer)?;
                    let time = TimeObject::read(&mut answers, answer)?;
                    let full = answers.rule(answer)?;
                    let line = Line::new(record.url(), agent, full, usage);
                    let line = Line { time, ..line };
                    let Some(own) = &own else {
                        write_object(&line, &mut out.text);
                        continue;
                    };
                    added.clear();
                    write_object(&Line { url: own.url(record), ..line }, &mut added);
                    own.push_with(&added, self.prefix, &mut out.text).map_err(|member| {
                        ChunkError::SameMember { list: list.name().to_owned(), member }
                    })?;
                }
            }
            Ok::<bool, ChunkError>(out.text.len() < CHUNK_OUTPUT_BYTES_MAX)
        })?;
        Ok(classifier.set().is_whole()?)
    }
}

/// The object of a record and an agent, or its first members.
#[derive(Serialize)]
pub(super) struct Line<'a> {
    #[serde(flatten)]
    url: Text<'a>,
    agent: Option<&'a str>,
    #[serde(flatten)]
    decision: DecisionObject<'a>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    usage: Option<UsageObject>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    time: Option<TimeObject>,
}

/// The object of a JSON Lines list that is a record.
struct Own<'a> {
    /// Its text from `{` to before `}`.
    members: &'a [u8],
    names: Vec<Cow<'a, str>>,
    /// Whether its `url` is the URL that was decided. Another member may be, or a path with a host.
    has_url: bool,
}

/// The names of the members of an object, and the value of its `url`; `None` if it has none or several.
struct Names<'a, V> {
    names: Vec<Cow<'a, str>>,
    url: Option<V>,
}

/// A string, borrowed unless it has escapes.
#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de, V: Deserialize<'de>> Deserialize<'de> for Names<'de, V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Names<'de, V>, D::Error> {
        struct OfMap<V>(PhantomData<V>);

        impl<'de, V: Deserialize<'de>> Visitor<'de> for OfMap<V> {
            type Value = Names<'de, V>;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("an object")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Names<'de, V>, M::Error> {
                let (mut names, mut url) = (Vec::new(), None);
                while let Some(Name(name)) = map.next_key()? {
                    if name == "url" {
                        let value = map.next_value()?;
                        url = (!names.contains(&name)).then_some(value);
                    } else {
                        map.next_value::<IgnoredAny>()?;
                    }
                    names.push(name);
                }
                Ok(Names { names, url })
            }
        }

        deserializer.deserialize_map(OfMap(PhantomData))
    }
}

impl<'a> Own<'a> {
    /// Returns the object of a record; `None` if it is none, or the list is not JSON Lines.
    fn of(list: &List, record: &Record<'a>) -> Option<Own<'a>> {
        if list.format() != ListFormat::JsonLines {
            return None;
        }
        let text = record.text().trim_ascii();
        let (names, has_url) = if record.problem().is_some() {
            // Its `url` may be a text that is not UTF-8.
            let Names::<'_, IgnoredAny> { names, .. } = serde_json::from_slice(text).ok()?;
            (names, false)
        } else {
            let Names::<'_, &RawValue> { names, url } = serde_json::from_slice(text).ok()?;
            let url = url.and_then(|url| serde_json::from_str::<Name<'_>>(url.get()).ok());
            (names, url.is_some_and(|Name(url)| url.as_bytes() == record.url()))
        };
        Some(Own { members: text[..text.len() - 1].trim_ascii_end(), names, has_url })
    }

    fn has(&self, name: &str) -> bool {
        self.names.iter().any(|own| own == name)
    }

    /// Returns the member `url`: null if the record has no URL, and no member if the object has one
    /// that says the same.
    fn url(&self, record: &Record<'a>) -> Text<'a> {
        match record.problem() {
            Some(_) if self.has("url") => Text { name: "", bytes: None },
            Some(_) => Text::uncut("url", None),
            None if self.has_url => Text { name: "", bytes: None },
            None => Text::uncut("url", Some(record.url())),
        }
    }

    /// Appends the object with the members of the object `added`, and a line feed. If it has a member
    /// of the same name, it is left out and the name returned. `url` has the prefix only if the object
    /// has another URL in a member of that name.
    fn push_with(&self, added: &[u8], prefix: &str, out: &mut Vec<u8>) -> Result<(), String> {
        let start = out.len();
        out.extend_from_slice(self.members);
        for member in members(added) {
            let (name, value) = member;
            let name = match name {
                b"url" if !self.has("url") => Cow::Borrowed("url"),
                name => Cow::Owned(format!("{prefix}{}", String::from_utf8_lossy(name))),
            };
            if self.names.contains(&name) {
                out.truncate(start);
                return Err(name.into_owned());
            }
            if !out.ends_with(b"{") || out.len() > start + 1 {
                out.push(b',');
            }
            write_json(&name, &mut *out).expect("text is always JSON");
            out.push(b':');
            out.extend_from_slice(value);
        }
        out.extend_from_slice(b"}\n");
        Ok(())
    }
}

/// Returns the members of an object that [`write_object`] wrote: names, which have no escapes, and
/// values.
fn members(object: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let mut rest = object;
    std::iter::from_fn(move || {
        // `{"name":` or `,"name":`, or the end.
        rest = rest.get(1..)?.strip_prefix(b"\"")?;
        let end = rest.iter().position(|&byte| byte == b'"')?;
        let name = &rest[..end];
        rest = &rest[end + 2..];
        let end = value_end(rest);
        let value = &rest[..end];
        rest = &rest[end..];
        Some((name, value))
    })
}

/// Returns the end of the value with which `text` begins: the comma or brace after it.
fn value_end(text: &[u8]) -> usize {
    let (mut depth, mut in_string, mut is_escaped) = (0_u32, false, false);
    for (place, &byte) in text.iter().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b',' | b'}' if depth == 0 => return place,
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
    }
    text.len()
}

/// When the policy was in force.
#[derive(Serialize)]
struct TimeObject {
    captured: Option<UnixSeconds>,
    since: Option<UnixSeconds>,
    until: Option<UnixSeconds>,
    #[serde(skip_serializing_if = "Option::is_none")]
    now: Option<&'static str>,
    /// The preferences as of now, by label; empty if no label is requested, or nothing as of now.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    usage_now: BTreeMap<&'static str, &'static str>,
}

impl TimeObject {
    /// Returns the members of an answer; `None` if records have no times.
    fn read(answers: &mut Answers<'_>, answer: usize) -> Result<Option<TimeObject>, Damage> {
        if !answers.has_times() {
            return Ok(None);
        }
        let [captured, since, until] = times(answers.in_force(answer / answers.per_record())?);
        let now = answers.now().map(|now| now.decisions[answer].verdict.as_str());
        let labels = answers.session().classifier().labels();
        let preferences = answers.now().map_or(&[][..], |now| &now.preferences);
        let of_answer = preferences.iter().skip(answer * labels.len());
        let of_label =
            |(label, preference): (&Label, &Preference)| (label.as_str(), preference.as_str());
        let usage_now = labels.iter().zip(of_answer).map(of_label).collect();
        Ok(Some(TimeObject { captured, since, until, now, usage_now }))
    }
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

    /// Reads the preferences of an answer. `None` if no label is requested.
    fn read(answers: &Answers<'_>, answer: usize) -> Result<Option<UsageObject>, Damage> {
        let labels = answers.session().classifier().labels();
        if labels.is_empty() {
            return Ok(None);
        }
        let mut object = UsageObject::new(answers.licenses(answer)?)?;
        for (number, label) in labels.iter().enumerate() {
            let at = answers.stated_at(answer, number)?;
            let at = at.as_ref().map(|at| (at.line, at.source, &*at.value));
            object.add(*label, answers.preference(answer, number), at);
        }
        Ok(Some(object))
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
        let decision = DecisionObject::with_group(decision);
        Line { url: Text::uncut("url", Some(url)), agent, decision, usage, time: None }
    }
}

/// The members of a decision.
#[derive(Serialize)]
pub struct DecisionObject<'a> {
    verdict: &'static str,
    reason: &'static str,
    line: Option<u32>,
    #[serde(flatten)]
    rule: Text<'a>,
    #[serde(flatten)]
    group: Option<Text<'a>>,
}

impl<'a> DecisionObject<'a> {
    /// Returns the members of a decision by `rule`, without `group`.
    pub fn new(decision: &Decision, rule: Option<&'a [u8]>) -> DecisionObject<'a> {
        DecisionObject {
            verdict: decision.verdict.as_str(),
            reason: decision.reason.as_str(),
            line: decision.line.map(|line| line.get()),
            rule: Text::cut("rule", rule),
            group: None,
        }
    }

    /// Returns all members of a decision.
    pub fn with_group(full: FullDecision<'a>) -> DecisionObject<'a> {
        let group = Some(Text::cut("group", full.group));
        DecisionObject { group, ..DecisionObject::new(&full.decision, full.rule) }
    }
}

/// A text that is flattened into its object: the text under its name, or `null` if there is none.
/// If the text is not UTF-8, its bytes in base64 follow under the name with `_base64`.
pub struct Text<'a> {
    /// Empty for no member at all.
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

    /// Returns the bytes; empty if there is no text.
    pub fn bytes(&self) -> &[u8] {
        self.bytes.as_deref().unwrap_or_default()
    }
}

impl Serialize for Text<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if self.name.is_empty() {
            return map.end();
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::written;
    use portcullis_files::input::Terminator;

    #[test]
    fn a_chunk_ends_early_when_its_output_is_full() {
        use portcullis_dialect::limits::{RECORDS_AT_ONCE, URL_BYTES_MAX};
        use portcullis_rows::limits::CHUNK_OUTPUT_BYTES_MAX;

        let record = [b"d/", &[b'x'; URL_BYTES_MAX - 2][..], b"\n"].concat();
        let most = CHUNK_OUTPUT_BYTES_MAX.div_ceil(record.len()).next_multiple_of(RECORDS_AT_ONCE);
        let chunk = record.repeat(most + RECORDS_AT_ONCE);
        let names = ["Bot".to_owned()];
        let (_, counts) =
            written(&chunk, Terminator::LineFeed, 1, &JsonLines { agents: &names, prefix: "" });
        assert_eq!(counts.records as usize, most);
        assert_eq!(counts.bytes as usize, most * record.len());
    }

    /// The budget is the chunk's: more agents answer about fewer records.
    #[test]
    fn the_output_of_a_chunk_is_bounded_for_any_number_of_agents() {
        use portcullis_files::limits::CHUNK_BYTES;
        use portcullis_rows::limits::CHUNK_OUTPUT_BYTES_MAX;

        let record = [b"d/", &[b'x'; 4096][..], b"\n"].concat();
        let chunk = record.repeat(CHUNK_BYTES / record.len());
        for agents in [1, 2, 300] {
            let names: Vec<String> = (0..agents).map(|number| format!("bot{number}")).collect();
            let (out, counts) = written(
                &chunk,
                Terminator::LineFeed,
                agents,
                &JsonLines { agents: &names, prefix: "" },
            );
            let records = counts.records as usize;
            assert!(out.len() < 2 * CHUNK_OUTPUT_BYTES_MAX, "{agents}: {}", out.len());
            assert_eq!(out.iter().filter(|&&byte| byte == b'\n').count(), records * agents);
            let is_whole = records * record.len() == chunk.len();
            assert_eq!(is_whole, agents < 3, "{agents}");
        }
    }
}
