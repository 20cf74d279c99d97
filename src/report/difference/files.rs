//! Whether two robots.txt files decide every URL alike for a robot, and if not, the shortest paths
//! that show it.
//!
//! TSV: the agent (`*` for any that no file names) and `equal`; or a line for each way in which a
//! verdict turns: the agent, `different`, the old verdict, the new one, what decided before and what
//! decides now, the path as it is written in a URL. What decides is `LINE:RULE`, or the reason where
//! no rule does. Where a limit ended the search `unknown` stands in place of `different`, and nothing
//! behind the verdicts.
//!
//! JSON Lines: `{"agent", "answer", "changes", "unknown"}`, where the answer is one of those words,
//! each change is `{"path", "old", "new"}` with `{"verdict", "reason", "line", "rule"}` on both
//! sides, and each unknown `{"old", "new", "bound"}` with two verdicts and what ended the search.

use std::borrow::Cow;

use serde::Serialize;

use crate::analysis::{AgentRules, Bound, Equivalence, Example, Search};
use crate::decision::{Decision, Verdict};
use crate::visible::cut_to_show;

use super::super::json_lines::{shown_cut, shown_if_any, write_object};
use super::super::tsv;
use super::{push_column, push_text};

/// The rules of a robot on both sides, and whether they decide alike.
#[derive(Clone, Copy, Debug)]
pub struct Compared<'a> {
    /// The robot's name.
    pub agent: &'a str,
    /// Its rules in the old file.
    pub old: &'a AgentRules<'a>,
    /// Its rules in the new file.
    pub new: &'a AgentRules<'a>,
    /// The answer for the two, the old one first.
    pub equivalence: &'a Equivalence,
}

/// What an answer is in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Answer {
    /// Every URL has the same verdict.
    Equal,
    /// Some URL has another verdict.
    Different,
    /// A limit ended the search before a difference was found.
    Unknown,
}

impl Answer {
    /// The word that is printed.
    pub fn as_str(self) -> &'static str {
        match self {
            Answer::Equal => "equal",
            Answer::Different => "different",
            Answer::Unknown => "unknown",
        }
    }

    /// The answer in one word.
    pub fn of(equivalence: &Equivalence) -> Answer {
        match equivalence {
            Equivalence::Equal => Answer::Equal,
            Equivalence::Different { .. } => Answer::Different,
            Equivalence::Unknown(_) => Answer::Unknown,
        }
    }
}

/// A way in which verdicts may turn, and what came of the search for it.
struct Turn {
    old: Verdict,
    new: Verdict,
    found: Search,
}

impl Turn {
    fn all(equivalence: &Equivalence) -> [Turn; 2] {
        let (first_allows, second_allows) = match equivalence {
            Equivalence::Equal => (Search::Nothing, Search::Nothing),
            Equivalence::Different { first_allows, second_allows } => {
                (first_allows.clone(), second_allows.clone())
            }
            Equivalence::Unknown(bound) => (Search::Unknown(*bound), Search::Unknown(*bound)),
        };
        [
            Turn { old: Verdict::Allow, new: Verdict::Disallow, found: first_allows },
            Turn { old: Verdict::Disallow, new: Verdict::Allow, found: second_allows },
        ]
    }
}

/// Appends the lines for a robot.
pub fn write_tsv(compared: &Compared<'_>, out: &mut Vec<u8>) {
    if *compared.equivalence == Equivalence::Equal {
        push_column(compared.agent.as_bytes(), out);
        out.extend_from_slice(b"equal\n");
        return;
    }
    for turn in Turn::all(compared.equivalence) {
        let answer = match turn.found {
            Search::Nothing => continue,
            Search::Found(_) => Answer::Different,
            Search::Unknown(_) => Answer::Unknown,
        };
        push_column(compared.agent.as_bytes(), out);
        push_column(answer.as_str().as_bytes(), out);
        tsv::push_column(turn.old, out);
        out.extend_from_slice(turn.new.as_str().as_bytes());
        if let Search::Found(example) = &turn.found {
            for side in [compared.old, compared.new] {
                out.push(b'\t');
                push_deciding(side, example, out);
            }
            out.push(b'\t');
            push_text(&cut_to_show(example.path()), out);
        }
        out.push(b'\n');
    }
}

fn push_deciding(side: &AgentRules<'_>, example: &Example, out: &mut Vec<u8>) {
    let decision = side.decide(example);
    match (decision.line, decision.rule) {
        (Some(line), Some(rule)) => {
            out.extend_from_slice(format!("{line}:").as_bytes());
            push_text(&cut_to_show(side.rule(rule).value), out);
        }
        _ => out.extend_from_slice(decision.reason.as_str().as_bytes()),
    }
}

#[derive(Serialize)]
struct Object<'a> {
    agent: &'a str,
    answer: &'static str,
    changes: Vec<ChangeObject<'a>>,
    unknown: Vec<UnknownObject>,
}

#[derive(Serialize)]
struct ChangeObject<'a> {
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_base64: Option<String>,
    old: DecisionObject<'a>,
    new: DecisionObject<'a>,
}

#[derive(Serialize)]
struct DecisionObject<'a> {
    verdict: &'static str,
    reason: &'static str,
    line: Option<u32>,
    rule: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule_base64: Option<String>,
}

#[derive(Serialize)]
struct UnknownObject {
    old: &'static str,
    new: &'static str,
    bound: String,
}

impl<'a> DecisionObject<'a> {
    fn new(side: &'a AgentRules<'_>, example: &Example) -> DecisionObject<'a> {
        let Decision { verdict, reason, rule, line } = side.decide(example);
        let (rule, rule_base64) = shown_if_any(rule.map(|rule| side.rule(rule).value));
        DecisionObject {
            verdict: verdict.as_str(),
            reason: reason.as_str(),
            line: line.map(|line| line.get()),
            rule,
            rule_base64,
        }
    }
}

impl UnknownObject {
    fn new(turn: &Turn, bound: Bound) -> UnknownObject {
        let (old, new) = (turn.old.as_str(), turn.new.as_str());
        UnknownObject { old, new, bound: bound.to_string() }
    }
}

/// Appends an object and LF for a robot.
pub fn write_json(compared: &Compared<'_>, out: &mut Vec<u8>) {
    let mut object = Object {
        agent: compared.agent,
        answer: Answer::of(compared.equivalence).as_str(),
        changes: Vec::new(),
        unknown: Vec::new(),
    };
    for turn in Turn::all(compared.equivalence) {
        match &turn.found {
            Search::Nothing => {}
            Search::Unknown(bound) => object.unknown.push(UnknownObject::new(&turn, *bound)),
            Search::Found(example) => {
                let (path, path_base64) = shown_cut(example.path());
                object.changes.push(ChangeObject {
                    path: path.into_owned(),
                    path_base64,
                    old: DecisionObject::new(compared.old, example),
                    new: DecisionObject::new(compared.new, example),
                });
            }
        }
    }
    write_object(&object, out);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::{Limits, Robot, equivalence};
    use crate::dialect::RFC_9309;
    use crate::syntax::RobotsTxt;

    fn written(limits: &Limits, write: fn(&Compared<'_>, &mut Vec<u8>)) -> String {
        let texts = [
            &b"User-agent: *\nDisallow: /a\nDisallow: /x\n"[..],
            b"User-agent: *\nDisallow: /a\nDisallow: /x\nAllow: /x/y\n",
        ];
        let files = texts.map(|text| RobotsTxt::parse(text, &RFC_9309, None));
        let sides = [0, 1].map(|side| AgentRules::new(&files[side], Robot::Unnamed, &RFC_9309));
        let equivalence = equivalence(sides[0].rules(), sides[1].rules(), limits);
        let [old, new] = &sides;
        let mut out = Vec::new();
        write(&Compared { agent: "*", old, new, equivalence: &equivalence }, &mut out);
        String::from_utf8(out).expect("it is text")
    }

    #[test]
    fn lines() {
        assert_eq!(
            written(&Limits::default(), write_tsv),
            "*\tdifferent\tdisallow\tallow\t3:/x\t4:/x/y\t/x/y\n"
        );
        let none = Limits { positions_max: 0, states_max: 0 };
        assert_eq!(
            written(&none, write_tsv),
            "*\tunknown\tallow\tdisallow\n*\tunknown\tdisallow\tallow\n"
        );
    }

    #[test]
    fn objects() {
        let object: serde_json::Value =
            serde_json::from_str(&written(&Limits::default(), write_json)).unwrap();
        assert_eq!(object["answer"], "different");
        let change = &object["changes"][0];
        assert_eq!((&change["path"], &change["old"]["line"]), (&"/x/y".into(), &3.into()));
        assert_eq!(change["new"]["rule"], "/x/y");
    }
}
