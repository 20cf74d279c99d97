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

use portcullis_report::json_lines::{Text, write_object};

use super::{Form, push_column, push_text};
use crate::difference::{Change, OriginChange, OriginState, UsageChange};

/// The agents and labels that were compared.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// The agents. May be empty.
    pub agents: &'a [String],
    /// Whether labels are compared.
    pub usage: bool,
}

#[derive(Serialize)]
struct Object<'a> {
    change: &'static str,
    #[serde(flatten)]
    origin: Text<'a>,
    #[serde(flatten)]
    sides: Sides<'a>,
    /// The agents whose rules or preferences changed.
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

/// Appends a change.
pub fn write(change: &OriginChange, asked: Asked<'_>, form: Form, out: &mut Vec<u8>) {
    let OriginChange { origin, kind } = change;
    let (sides, label) = match kind {
        Change::State([old, new]) => (Sides::States { old: *old, new: *new }, None),
        Change::Rules { .. } => {
            let rules = Some(OriginState::RULES);
            (Sides::States { old: rules, new: rules }, None)
        }
        Change::Usage(UsageChange { label, before, after, .. }) => {
            let (old, new) = (Text::cut("old", Some(before)), Text::cut("new", Some(after)));
            (Sides::Statements { old, new }, Some(label.as_str()))
        }
    };
    let names = |agents: &[usize]| agents.iter().map(|&it| asked.agents[it].as_str()).collect();
    let agents: Option<Vec<&str>> = kind.agents().filter(|_| !asked.agents.is_empty()).map(names);
    let change = kind.as_str();
    if form == Form::JsonLines {
        let origin = Text::uncut("origin", Some(origin));
        return write_object(&Object { change, origin, sides, agents, label }, out);
    }
    push_column(change.as_bytes(), out);
    push_column(origin, out);
    let state = |state: &Option<OriginState>| state.map_or("-".to_owned(), |it| it.to_string());
    match &sides {
        Sides::States { old, new } => {
            push_column(state(old).as_bytes(), out);
            push_text(state(new).as_bytes(), out);
        }
        Sides::Statements { old, new } => {
            push_column(old.bytes(), out);
            push_text(new.bytes(), out);
        }
    }
    if !asked.agents.is_empty() {
        out.push(b'\t');
        push_text(agents.unwrap_or_default().join(",").as_bytes(), out);
    }
    if asked.usage {
        out.push(b'\t');
        out.extend_from_slice(label.unwrap_or_default().as_bytes());
    }
    out.push(b'\n');
}
