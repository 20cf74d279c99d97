//! Reports whether two robots.txt files give a robot the same verdict on every URL, and if not,
//! shortest paths on which they differ.
//!
//! TSV: the agent (`*` for robots that no file names) and `equal`; or a line for each way in which
//! a verdict changes: the agent, `different`, the old verdict, the new verdict, the old deciding
//! rule, the new deciding rule, and the path as written in a URL. A deciding rule is `LINE:RULE`,
//! or the reason if no rule decides. If a limit ended the search, `unknown` replaces `different`,
//! and the verdicts are last.
//!
//! JSON Lines: `{"agent", "answer", "changes", "unknown"}`, where the answer is one of those words.
//! A change is `{"path", "old", "new"}` with `{"verdict", "reason", "line", "rule"}` for both
//! sides, and an unknown `{"old", "new", "bound"}` with two verdicts and the limit.

use serde::Serialize;

use super::super::json_lines::{DecisionObject, Text, write_object};
use super::{Form, push_column, push_deciding, push_text};
use portcullis_dialect::decision::{Decision, Verdict};
use portcullis_dialect::words;
use portcullis_lint::analysis::{AgentRules, Equivalence, Example, Search};
use portcullis_robots::visible::cut_to_show;
use portcullis_set::batch::FullDecision;

/// The rules of a robot on both sides, and their comparison.
#[derive(Clone, Copy, Debug)]
pub struct Compared<'a> {
    /// The robot's name.
    pub agent: &'a str,
    /// The rules in the old file.
    pub old: &'a AgentRules<'a>,
    /// The rules in the new file.
    pub new: &'a AgentRules<'a>,
    /// The comparison of both rules.
    pub equivalence: &'a Equivalence,
}

words! {
    /// The answer of a comparison.
    pub enum Answer {
        /// Every URL has the same verdict.
        Equal => "equal",
        /// Some URL has a different verdict.
        Different => "different",
        /// A limit ended the search before a difference was found.
        Unknown => "unknown",
    }
}

impl Answer {
    /// Summarises a comparison.
    pub fn of(equivalence: &Equivalence) -> Answer {
        match equivalence {
            Equivalence::Equal => Answer::Equal,
            Equivalence::Different { .. } => Answer::Different,
            Equivalence::Unknown(_) => Answer::Unknown,
        }
    }
}

/// Returns the two ways in which a verdict may change (old verdict, new verdict), each with the
/// result of the search for a path.
fn turns(equivalence: &Equivalence) -> [(Verdict, Verdict, Search); 2] {
    let (first_allows, second_allows) = match equivalence {
        Equivalence::Equal => (Search::Nothing, Search::Nothing),
        Equivalence::Different { first_allows, second_allows } => {
            (first_allows.clone(), second_allows.clone())
        }
        Equivalence::Unknown(bound) => (Search::Unknown(*bound), Search::Unknown(*bound)),
    };
    [
        (Verdict::Allow, Verdict::Disallow, first_allows),
        (Verdict::Disallow, Verdict::Allow, second_allows),
    ]
}

/// Returns a side's decision on a path, and the deciding rule.
fn decide<'a>(side: &'a AgentRules<'_>, example: &Example) -> (Decision, Option<&'a [u8]>) {
    let decision = side.decide(example);
    (decision, decision.rule.map(|rule| side.rule(rule).value))
}

/// Appends the lines or the object for a robot.
pub fn write(compared: &Compared<'_>, form: Form, out: &mut Vec<u8>) {
    match form {
        Form::Tsv(_) => write_tsv(compared, out),
        Form::JsonLines => write_json(compared, out),
    }
}

fn write_tsv(compared: &Compared<'_>, out: &mut Vec<u8>) {
    if *compared.equivalence == Equivalence::Equal {
        push_column(compared.agent.as_bytes(), out);
        out.extend_from_slice(b"equal\n");
        return;
    }
    for (old, new, found) in turns(compared.equivalence) {
        let answer = match found {
            Search::Nothing => continue,
            Search::Found(_) => Answer::Different,
            Search::Unknown(_) => Answer::Unknown,
        };
        push_column(compared.agent.as_bytes(), out);
        push_column(answer.as_str().as_bytes(), out);
        push_column(old.as_str().as_bytes(), out);
        out.extend_from_slice(new.as_str().as_bytes());
        if let Search::Found(example) = &found {
            for side in [compared.old, compared.new] {
                out.push(b'\t');
                let (decision, rule) = decide(side, example);
                push_deciding(FullDecision { rule, ..decision.into() }, out);
            }
            out.push(b'\t');
            push_text(&cut_to_show(example.path()), out);
        }
        out.push(b'\n');
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
    #[serde(flatten)]
    path: Text<'a>,
    old: DecisionObject<'a>,
    new: DecisionObject<'a>,
}

#[derive(Serialize)]
struct UnknownObject {
    old: &'static str,
    new: &'static str,
    bound: String,
}

fn write_json(compared: &Compared<'_>, out: &mut Vec<u8>) {
    let turns = turns(compared.equivalence);
    let mut object = Object {
        agent: compared.agent,
        answer: Answer::of(compared.equivalence).as_str(),
        changes: Vec::new(),
        unknown: Vec::new(),
    };
    for (old, new, found) in &turns {
        match found {
            Search::Nothing => {}
            Search::Unknown(bound) => object.unknown.push(UnknownObject {
                old: old.as_str(),
                new: new.as_str(),
                bound: bound.to_string(),
            }),
            Search::Found(example) => {
                let [old, new] = [compared.old, compared.new].map(|side| {
                    let (decision, rule) = decide(side, example);
                    DecisionObject::new(&decision, rule)
                });
                let path = Text::cut("path", Some(example.path()));
                object.changes.push(ChangeObject { path, old, new });
            }
        }
    }
    write_object(&object, out);
}

#[cfg(test)]
mod tests {
    use super::*;
    use portcullis_dialect::dialect::RFC_9309;
    use portcullis_lint::analysis::{AnalysisLimits, equivalence};
    use portcullis_robots::syntax::RobotsTxt;

    fn written(limits: &AnalysisLimits) -> String {
        let texts = [
            &b"User-agent: *\nDisallow: /a\nDisallow: /x\n"[..],
            b"User-agent: *\nDisallow: /a\nDisallow: /x\nAllow: /x/y\n",
        ];
        let files = texts.map(|text| RobotsTxt::parse(text, &RFC_9309, None));
        let sides = [0, 1].map(|side| AgentRules::new(&files[side], None, &RFC_9309));
        let equivalence = equivalence(sides[0].rules(), sides[1].rules(), limits);
        let [old, new] = &sides;
        let mut out = Vec::new();
        write_tsv(&Compared { agent: "*", old, new, equivalence: &equivalence }, &mut out);
        String::from_utf8(out).expect("it is text")
    }

    #[test]
    fn lines() {
        assert_eq!(
            written(&AnalysisLimits::default()),
            "*\tdifferent\tdisallow\tallow\t3:/x\t4:/x/y\t/x/y\n"
        );
        let none = AnalysisLimits { positions_max: 0, states_max: 0 };
        assert_eq!(written(&none), "*\tunknown\tallow\tdisallow\n*\tunknown\tdisallow\tallow\n");
    }
}
