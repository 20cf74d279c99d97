//! Origins that changed, one per line.
//!
//! TSV: `added`, `gone`, `state` or `rules`; the origin; the old state and the new state, each followed
//! by the verdict on every URL if there is no file (`unreachable disallow`), or `-` if nothing is known.
//! If agents were given, a fifth column has those with other rules, separated by commas; it is empty
//! unless the rules changed.
//!
//! JSON Lines: `{"change", "origin", "old", "new", "agents"}`, where `old` and `new` are
//! `{"state", "verdict"}`, and `null` if there is no value.

use serde::Serialize;

use portcullis_set::{Change, OriginChange, OriginState};

use super::super::json_lines::{Text, write_object};
use super::{push_column, push_text};

/// Appends a line for a change that was found for `agents`, which may be empty.
pub fn write_tsv(change: &OriginChange, agents: &[String], out: &mut Vec<u8>) {
    let state = |state: Option<OriginState>| state.map_or("-".to_owned(), |it| it.to_string());
    push_column(change.kind.as_str().as_bytes(), out);
    push_column(&change.origin, out);
    push_column(state(change.kind.before()).as_bytes(), out);
    push_text(state(change.kind.after()).as_bytes(), out);
    if !agents.is_empty() {
        out.push(b'\t');
        push_text(changed(change, agents).unwrap_or_default().join(",").as_bytes(), out);
    }
    out.push(b'\n');
}

/// The agents with other rules, if the rules changed.
fn changed<'a>(change: &OriginChange, agents: &'a [String]) -> Option<Vec<&'a str>> {
    match &change.kind {
        Change::Rules { agents: changed } => {
            Some(changed.iter().map(|&agent| agents[agent].as_str()).collect())
        }
        _ => None,
    }
}

#[derive(Serialize)]
struct Object<'a> {
    change: &'static str,
    #[serde(flatten)]
    origin: Text<'a>,
    old: Option<StateObject>,
    new: Option<StateObject>,
    agents: Option<Vec<&'a str>>,
}

#[derive(Serialize)]
struct StateObject {
    state: &'static str,
    verdict: Option<&'static str>,
}

impl StateObject {
    fn new(state: OriginState) -> StateObject {
        let verdict = state.verdict.map(|verdict| verdict.as_str());
        StateObject { state: state.state.as_str(), verdict }
    }
}

/// Appends an object and LF for a change that was found for `agents`, which may be empty.
pub fn write_json(change: &OriginChange, agents: &[String], out: &mut Vec<u8>) {
    let object = Object {
        change: change.kind.as_str(),
        origin: Text::uncut("origin", Some(&change.origin)),
        old: change.kind.before().map(StateObject::new),
        new: change.kind.after().map(StateObject::new),
        agents: changed(change, agents).filter(|_| !agents.is_empty()),
    };
    write_object(&object, out);
}

#[cfg(test)]
mod tests {
    use super::*;
    use portcullis_dialect::decision::{PolicyState, Verdict};

    fn written(
        write: fn(&OriginChange, &[String], &mut Vec<u8>),
        kind: Change,
        agents: &[&str],
    ) -> String {
        let agents: Vec<String> = agents.iter().map(|&agent| agent.into()).collect();
        let mut out = Vec::new();
        write(&OriginChange { origin: b"https://a.example".to_vec(), kind }, &agents, &mut out);
        String::from_utf8(out).expect("it is text")
    }

    const DOWN: OriginState =
        OriginState { state: PolicyState::Unreachable, verdict: Some(Verdict::Disallow) };

    #[test]
    fn lines() {
        let state = || Change::State { old: OriginState::RULES, new: DOWN };
        let rules = || Change::Rules { agents: vec![0, 2] };
        let cases = [
            (
                Change::Added { new: DOWN },
                &[][..],
                "added\thttps://a.example\t-\tunreachable disallow\n",
            ),
            (Change::Gone { old: OriginState::RULES }, &[], "gone\thttps://a.example\trules\t-\n"),
            (state(), &[], "state\thttps://a.example\trules\tunreachable disallow\n"),
            (state(), &["A"], "state\thttps://a.example\trules\tunreachable disallow\t\n"),
            (Change::Rules { agents: vec![] }, &[], "rules\thttps://a.example\trules\trules\n"),
            (rules(), &["A", "B", "C\td"], "rules\thttps://a.example\trules\trules\tA,C%09d\n"),
        ];
        for (change, agents, line) in cases {
            assert_eq!(written(write_tsv, change, agents), line);
        }
    }

    #[test]
    fn objects() {
        let added = written(write_json, Change::Added { new: DOWN }, &["A"]);
        let expected = concat!(
            r#"{"change":"added","origin":"https://a.example","old":null,"#,
            r#""new":{"state":"unreachable","verdict":"disallow"},"agents":null}"#,
            "\n"
        );
        assert_eq!(added, expected);
        let rules = written(write_json, Change::Rules { agents: vec![1] }, &["A", "B"]);
        let expected = concat!(
            r#"{"change":"rules","origin":"https://a.example","old":{"state":"rules","verdict":null},"#,
            r#""new":{"state":"rules","verdict":null},"agents":["B"]}"#,
            "\n"
        );
        assert_eq!(rules, expected);
    }
}
