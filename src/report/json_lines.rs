//! JSON Lines: one object for each record and agent.
//!
//! The members always come in the same order, `null` where there is nothing to say:
//! `{"url", "agent", "verdict", "reason", "line", "rule", "group"}`. The URL is the record's text. If
//! a text is not UTF-8, its member holds what can be shown (U+FFFD for the rest), and a member named
//! after it with `_base64` behind, which stands directly after it, holds the exact bytes.
//!
//! A rule or group longer than [`SHOWN_BYTES_MAX`](crate::limits::SHOWN_BYTES_MAX) is cut and ends with
//! `…`, and so is what its `_base64` member holds; `line` says where the whole rule is. Control and
//! bidirectional characters are `\u` escapes.

use std::borrow::Cow;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde::Serialize;

use crate::batch::{Provenance, Session};
use crate::decision::Decision;
use crate::input::Record;
use crate::set::Damage;
use crate::visible::{cut_to_show, write_json};

use super::{Counts, has_room, in_blocks_while};

/// One object, or the first members of one.
#[derive(Serialize)]
pub(super) struct Line<'a> {
    url: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    url_base64: Option<String>,
    agent: &'a str,
    verdict: &'static str,
    reason: &'static str,
    line: Option<u32>,
    rule: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule_base64: Option<String>,
    group: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    group_base64: Option<String>,
}

/// A text to show, and its bytes in base64 if that text is not all of it.
pub fn shown(bytes: &[u8]) -> (Cow<'_, str>, Option<String>) {
    match String::from_utf8_lossy(bytes) {
        Cow::Borrowed(text) => (Cow::Borrowed(text), None),
        lossy => (lossy, Some(BASE64_STANDARD.encode(bytes))),
    }
}

/// As [`shown`], of a text from a file, which is cut where it is long.
pub(super) fn shown_cut(text: &[u8]) -> (Cow<'_, str>, Option<String>) {
    match cut_to_show(text) {
        Cow::Borrowed(text) => shown(text),
        Cow::Owned(cut) => {
            let (text, exact) = shown(&cut);
            (Cow::Owned(text.into_owned()), exact)
        }
    }
}

pub(super) fn shown_if_any(bytes: Option<&[u8]>) -> (Option<Cow<'_, str>>, Option<String>) {
    match bytes.map(shown_cut) {
        Some((text, exact)) => (Some(text), exact),
        None => (None, None),
    }
}

/// Appends one object and LF for each record and each of `agents` to `out`.
///
/// Ends early if `out` has [`CHUNK_OUTPUT_BYTES_MAX`](crate::limits::CHUNK_OUTPUT_BYTES_MAX) for each
/// agent; `counts` says how many records it has.
///
/// # Errors
///
/// If the set is damaged; the objects before are written.
pub fn write_chunk<'c>(
    records: impl Iterator<Item = Record<'c>>,
    agents: &[String],
    session: &mut Session<'_>,
    counts: &mut Counts,
    out: &mut Vec<u8>,
) -> Result<(), Damage> {
    let mut decisions = Vec::new();
    in_blocks_while(records, |block| {
        decisions.clear();
        decisions.extend_from_slice(session.decide(block)?);
        let by_record = decisions.chunks_exact(agents.len());
        for (index, (record, decisions)) in block.iter().zip(by_record).enumerate() {
            counts.add(record.whole().len(), decisions);
            for (agent, decision) in decisions.iter().enumerate() {
                let provenance = session.provenance(index, agent)?;
                write_line(record.text(), &agents[agent], decision, provenance, out);
            }
        }
        Ok(has_room(out.len(), agents.len()))
    })
}

fn write_line(
    text: &[u8],
    agent: &str,
    decision: &Decision,
    provenance: Provenance<'_>,
    out: &mut Vec<u8>,
) {
    write_object(&line(text, agent, decision, provenance), out);
}

/// Appends `object` and LF to `out`.
pub(super) fn write_object(object: &impl Serialize, out: &mut Vec<u8>) {
    write_json(object, &mut *out).expect("text and numbers are always JSON");
    out.push(b'\n');
}

/// The members for a record and an agent.
pub(super) fn line<'a>(
    text: &'a [u8],
    agent: &'a str,
    decision: &Decision,
    provenance: Provenance<'a>,
) -> Line<'a> {
    let (url, url_base64) = shown(text);
    let (rule, rule_base64) = shown_if_any(provenance.rule);
    let (group, group_base64) = shown_if_any(provenance.group);
    Line {
        url,
        url_base64,
        agent,
        verdict: decision.verdict.as_str(),
        reason: decision.reason.as_str(),
        line: decision.line.map(|line| line.get()),
        rule,
        rule_base64,
        group,
        group_base64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::{Records, Terminator};
    use crate::report::testing::{SCHEME, classifier};

    fn written(input: &[u8], agents: &[&str]) -> String {
        let classifier = classifier(&["a"], &["d"], agents.len());
        let mut out = Vec::new();
        write_chunk(
            Records::new(input, Terminator::LineFeed),
            &agents.iter().map(|&agent| agent.into()).collect::<Vec<_>>(),
            &mut Session::new(&classifier, SCHEME),
            &mut Counts::new(agents.len()),
            &mut out,
        )
        .unwrap();
        String::from_utf8(out).expect("JSON is UTF-8")
    }

    #[test]
    fn members_stand_in_order() {
        assert_eq!(
            written(b"d/1\r\n", &["Bot"]),
            concat!(
                r#"{"url":"d/1","agent":"Bot","verdict":"disallow","reason":"rule","#,
                r#""line":3,"rule":"/","group":"bot"}"#,
                "\n"
            )
        );
    }

    #[test]
    fn a_chunk_ends_early_when_its_output_is_full() {
        use crate::limits::{CHUNK_OUTPUT_BYTES_MAX, RECORDS_AT_ONCE, URL_BYTES_MAX};

        let record = [b"d/", &[b'x'; URL_BYTES_MAX - 2][..], b"\n"].concat();
        let most = CHUNK_OUTPUT_BYTES_MAX.div_ceil(record.len()).next_multiple_of(RECORDS_AT_ONCE);
        let chunk = record.repeat(most + RECORDS_AT_ONCE);
        let mut counts = Counts::new(1);
        let mut out = Vec::new();
        let records = Records::new(&chunk, Terminator::LineFeed);
        let agents = ["Bot".to_owned()];
        let classifier = classifier(&["a"], &["d"], 1);
        let mut session = Session::new(&classifier, SCHEME);
        write_chunk(records, &agents, &mut session, &mut counts, &mut out).unwrap();
        assert_eq!(counts.records as usize, most);
        assert_eq!(counts.bytes as usize, most * record.len());
    }

    #[test]
    fn nothing_to_say_is_null() {
        assert_eq!(
            written(b"\n", &["Bot"]),
            concat!(
                r#"{"url":"","agent":"Bot","verdict":"invalid","reason":"bad-url","#,
                r#""line":null,"rule":null,"group":null}"#,
                "\n"
            )
        );
    }

    #[test]
    fn one_object_for_each_agent_of_each_record() {
        let out = written(b"a\nd\n", &["One", "Two"]);
        let found: Vec<(String, String)> = out
            .lines()
            .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
            .map(|object| (object["url"].to_string(), object["agent"].to_string()))
            .collect();
        let expected = [("a", "One"), ("a", "Two"), ("d", "One"), ("d", "Two")]
            .map(|(url, agent)| (format!("{url:?}"), format!("{agent:?}")));
        assert_eq!(found, expected);
    }

    #[test]
    fn what_is_not_text_stands_beside_it_exactly() {
        let out = written(b"d/\xff\"\t\n", &["Bot"]);
        let object: serde_json::Value = serde_json::from_str(&out).unwrap();
        assert_eq!(object["url"], "d/\u{fffd}\"\t");
        assert_eq!(object["url_base64"], "ZC//Igk=");
        assert_eq!(object["rule"], "/\u{fffd}");
        assert_eq!(object["rule_base64"], BASE64_STANDARD.encode(b"/\xff"));
        assert_eq!(object.get("group_base64"), None);
    }
}
