//! Writes the origins that changed, one per line.
//!
//! TSV: `added`, `gone`, `state` or `rules`; the origin; the old state and the new state, each
//! followed by the verdict on every URL if there is no file (`unreachable disallow`), or `-` if the
//! origin is unknown. If agents were given, a fifth column has the agents whose rules changed,
//! separated by commas; it is empty unless the change is `rules`.
//!
//! If labels are compared, lines that begin with `usage` have the label in a sixth column. Their
//! third and fourth columns are the old and the new statements about the label, as [`UsageChange`]
//! shows them, and their fifth column has the agents for which the statements hold.
//!
//! JSON Lines: `{"change", "origin", "old", "new", "agents"}`, where `old` and `new` are `{"state",
//! "verdict"}`, and `null` if there is no value. For `usage`, both are strings, and a member
//! `label` follows.

use serde::Serialize;

use portcullis_robots::visible::cut_to_show;
use portcullis_set::{Change, OriginChange, OriginState, UsageChange};

use super::super::json_lines::{Text, write_object};
use super::{push_column, push_text};

/// The agents and labels that were compared.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// The agents. May be empty.
    pub agents: &'a [String],
    /// Whether labels are compared.
    pub usage: bool,
}

/// Appends a line for a change.
pub fn write_tsv(change: &OriginChange, asked: Asked<'_>, out: &mut Vec<u8>) {
    let state = |state: Option<OriginState>| state.map_or("-".to_owned(), |it| it.to_string());
    push_column(change.kind.as_str().as_bytes(), out);
    push_column(&change.origin, out);
    let label = match &change.kind {
        Change::Usage(UsageChange { label, before, after, .. }) => {
            push_column(&cut_to_show(before), out);
            push_text(&cut_to_show(after), out);
            label.as_str()
        }
        kind => {
            push_column(state(kind.before()).as_bytes(), out);
            push_text(state(kind.after()).as_bytes(), out);
            ""
        }
    };
    if !asked.agents.is_empty() {
        out.push(b'\t');
        push_text(agents(change, asked).unwrap_or_default().join(",").as_bytes(), out);
    }
    if asked.usage {
        out.push(b'\t');
        out.extend_from_slice(label.as_bytes());
    }
    out.push(b'\n');
}

/// Returns the agents whose rules or preferences changed, or `None` if the change is of another
/// kind.
fn agents<'a>(change: &OriginChange, asked: Asked<'a>) -> Option<Vec<&'a str>> {
    match &change.kind {
        Change::Rules { agents } | Change::Usage(UsageChange { agents, .. }) => {
            Some(agents.iter().map(|&agent| asked.agents[agent].as_str()).collect())
        }
        Change::Added { .. } | Change::Gone { .. } | Change::State { .. } => None,
    }
}

#[derive(Serialize)]
struct Object<'a> {
    change: &'static str,
    #[serde(flatten)]
    origin: Text<'a>,
    #[serde(flatten)]
    sides: Sides<'a>,
    agents: Option<Vec<&'a str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<&'static str>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Sides<'a> {
    States {
        old: Option<OriginState>,
        new: Option<OriginState>,
    },
    Statements {
        #[serde(flatten)]
        old: Text<'a>,
        #[serde(flatten)]
        new: Text<'a>,
    },
}

/// Appends an object and LF for a change.
pub fn write_json(change: &OriginChange, asked: Asked<'_>, out: &mut Vec<u8>) {
    let (sides, label) = match &change.kind {
        Change::Usage(UsageChange { label, before, after, .. }) => {
            let (old, new) = (Text::cut("old", Some(before)), Text::cut("new", Some(after)));
            (Sides::Statements { old, new }, Some(label.as_str()))
        }
        kind => (Sides::States { old: kind.before(), new: kind.after() }, None),
    };
    let object = Object {
        change: change.kind.as_str(),
        origin: Text::uncut("origin", Some(&change.origin)),
        sides,
        agents: agents(change, asked).filter(|_| !asked.agents.is_empty()),
        label,
    };
    write_object(&object, out);
}

#[cfg(test)]
mod tests {
    use super::*;
    use portcullis_dialect::decision::{PolicyState, Verdict};
    use portcullis_dialect::usage::Label;

    fn written(kind: Change, agents: &[&str]) -> String {
        let agents: Vec<String> = agents.iter().map(|&agent| agent.into()).collect();
        let mut out = Vec::new();
        let asked = Asked { agents: &agents, usage: matches!(kind, Change::Usage(_)) };
        write_tsv(&OriginChange { origin: b"https://a.example".to_vec(), kind }, asked, &mut out);
        String::from_utf8(out).expect("it is text")
    }

    const DOWN: OriginState =
        OriginState { state: PolicyState::Unreachable, verdict: Some(Verdict::Disallow) };

    #[test]
    fn lines() {
        let state = || Change::State { old: OriginState::RULES, new: DOWN };
        let rules = || Change::Rules { agents: vec![0, 2] };
        let usage = Change::Usage(UsageChange {
            label: Label::TrainAi,
            agents: vec![0],
            before: b"?".into(),
            after: b"/a\x01=n y".into(),
        });
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
            (usage, &["A"], "usage\thttps://a.example\t?\t/a%01=n y\tA\ttrain-ai\n"),
            (rules(), &["A", "B", "C\td"], "rules\thttps://a.example\trules\trules\tA,C%09d\n"),
        ];
        for (change, agents, line) in cases {
            assert_eq!(written(change, agents), line);
        }
    }
}
