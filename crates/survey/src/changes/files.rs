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

use portcullis_dialect::decision::{Decision, Verdict};
use portcullis_dialect::words;
use portcullis_lint::analysis::{RobotComparison, Search};
use portcullis_report::json_lines::{DecisionObject, Text, write_object};
use portcullis_robots::syntax::RobotsTxt;
use portcullis_set::batch::FullDecision;
use portcullis_text::visible::cut_to_show;

use super::{Form, push_column, push_deciding, push_text};

/// The comparison of a robot's rules in two files.
#[derive(Clone, Copy, Debug)]
pub struct Compared<'a> {
    /// The robot's name.
    pub agent: &'a str,
    /// The old and the new file.
    pub files: [&'a RobotsTxt<'a>; 2],
    /// The comparison.
    pub comparison: &'a RobotComparison,
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
    /// Summarises the searches of a comparison.
    pub fn of(differences: &[Search; 2]) -> Answer {
        match differences {
            [Ok(None), Ok(None)] => Answer::Equal,
            [Ok(Some(_)), _] | [_, Ok(Some(_))] => Answer::Different,
            _ => Answer::Unknown,
        }
    }
}

/// A decision, and the value of the deciding rule.
type DecisionWithRule<'a> = (Decision, Option<&'a [u8]>);

/// A way in which a verdict may change.
struct Turn<'a> {
    old: Verdict,
    new: Verdict,
    /// The search for a path.
    found: &'a Search,
    /// Each side's decision on the path.
    deciding: Option<[DecisionWithRule<'a>; 2]>,
}

/// Returns the two ways in which a verdict may change.
fn turns<'a>(compared: &Compared<'a>) -> [Turn<'a>; 2] {
    let RobotComparison { differences, deciding } = compared.comparison;
    let with_rules = |decisions: [Decision; 2]| {
        let rule = |side: usize| {
            let rule = decisions[side].rule?;
            Some(compared.files[side].rules()[rule.index()].value)
        };
        [(decisions[0], rule(0)), (decisions[1], rule(1))]
    };
    let turn = |(old, new), found, decisions: Option<_>| {
        let deciding = decisions.map(with_rules);
        Turn { old, new, found, deciding }
    };
    [
        turn((Verdict::Allow, Verdict::Disallow), &differences[0], deciding[0]),
        turn((Verdict::Disallow, Verdict::Allow), &differences[1], deciding[1]),
    ]
}

/// Appends the lines or the object for a robot.
pub fn write(compared: &Compared<'_>, form: Form, out: &mut Vec<u8>) {
    match form {
        Form::Tsv(_) => write_tsv(compared, out),
        Form::JsonLines => write_json(compared, out),
    }
}

fn write_tsv(compared: &Compared<'_>, out: &mut Vec<u8>) {
    if Answer::of(&compared.comparison.differences) == Answer::Equal {
        push_column(compared.agent.as_bytes(), out);
        out.extend_from_slice(b"equal\n");
        return;
    }
    for Turn { old, new, found, deciding } in turns(compared) {
        let answer = match found {
            Ok(None) => continue,
            Ok(Some(_)) => Answer::Different,
            Err(_) => Answer::Unknown,
        };
        push_column(compared.agent.as_bytes(), out);
        push_column(answer.as_str().as_bytes(), out);
        push_column(old.as_str().as_bytes(), out);
        out.extend_from_slice(new.as_str().as_bytes());
        if let Ok(Some(example)) = found {
            for (decision, rule) in deciding.into_iter().flatten() {
                out.push(b'\t');
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
    let turns = turns(compared);
    let mut object = Object {
        agent: compared.agent,
        answer: Answer::of(&compared.comparison.differences).as_str(),
        changes: Vec::new(),
        unknown: Vec::new(),
    };
    for Turn { old, new, found, deciding } in &turns {
        match found {
            Ok(None) => {}
            Err(bound) => object.unknown.push(UnknownObject {
                old: old.as_str(),
                new: new.as_str(),
                bound: bound.to_string(),
            }),
            Ok(Some(example)) => {
                let Some(deciding) = deciding else { continue };
                let [old, new] = deciding
                    .each_ref()
                    .map(|(decision, rule)| DecisionObject::new(decision, *rule));
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
    use portcullis_lint::analysis::{AnalysisLimits, Budget, FileComparison, Grouped};

    fn written(limits: &AnalysisLimits) -> String {
        let texts = [
            &b"User-agent: *\nDisallow: /a\nDisallow: /x\n"[..],
            b"User-agent: *\nDisallow: /a\nDisallow: /x\nAllow: /x/y\n",
        ];
        let files = texts.map(|text| RobotsTxt::parse(text, &RFC_9309, None));
        let files = [&files[0], &files[1]];
        let sides = files.map(|file| Grouped::new(file, &RFC_9309));
        let mut budget = Budget::new(limits, 1);
        let comparison = FileComparison::new(sides.each_ref(), &mut budget).robot(None);
        let mut out = Vec::new();
        write_tsv(&Compared { agent: "*", files, comparison: &comparison }, &mut out);
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
