//! Reports the changes from one policy set to another: of origins, or of verdicts and usage preferences
//! on a list of [`urls`]. For two robots.txt files, compares the verdicts on all possible URLs.
//!
//! Each report is a table whose columns are declared here ([`origin_fields`], [`url_fields`],
//! [`file_fields`]). A value that a side does not have is missing. Rules longer than [`SHOWN_BYTES_MAX`](portcullis_text::visible::SHOWN_BYTES_MAX) are cut.

pub mod urls;

use std::borrow::Cow;

use portcullis_dialect::decision::{Decision, Reason, Verdict};
use portcullis_dialect::words;
use portcullis_lint::analysis::{RobotComparison, Search};
use portcullis_robots::syntax::RobotsTxt;
use portcullis_rows::output::Added;
use portcullis_rows::output::added::Cell;
use portcullis_rows::output::columns::{Field, FieldKind};
use portcullis_text::visible::cut_to_show;

use crate::difference::OriginChange;

/// The columns of what decides: the reason of a verdict, and the line and value of the rule or the
/// statement.
const DECIDING: [(&str, FieldKind); 6] = [
    ("old_reason", FieldKind::Text),
    ("old_line", FieldKind::Number),
    ("old_rule", FieldKind::Text),
    ("new_reason", FieldKind::Text),
    ("new_line", FieldKind::Number),
    ("new_rule", FieldKind::Text),
];

fn texts(names: &[&str]) -> Vec<Field> {
    names.iter().map(|name| Field::declared(name, FieldKind::Text, true)).collect()
}

fn with_deciding(mut fields: Vec<Field>) -> Vec<Field> {
    fields.extend(DECIDING.map(|(name, of)| Field::declared(name, of, true)));
    fields
}

/// Returns the columns of changed origins: a row for each change, and if agents were given, for each
/// agent whose rules changed. `old` and `new` are the states, each followed by the verdict on every URL
/// if there is no file (`unreachable disallow`).
pub fn origin_fields(has_agents: bool) -> Vec<Field> {
    let agent: &[&str] = if has_agents { &["agent"] } else { &[] };
    texts(&[&["origin", "change"][..], agent, &["old", "new"]].concat())
}

/// Returns the columns of changed URLs: a row for each URL, agent and change. `old` and `new` are
/// verdicts, or preferences about the label.
pub fn url_fields(has_labels: bool) -> Vec<Field> {
    let label: &[&str] = if has_labels { &["label"] } else { &[] };
    with_deciding(texts(&[&["url", "agent"][..], label, &["old", "new"]].concat()))
}

/// Returns the columns of two files: a row for each robot, or for each way in which its verdicts
/// change, with a shortest path.
pub fn file_fields() -> Vec<Field> {
    with_deciding(texts(&["agent", "answer", "path", "old", "new"]))
}

/// What decides a side.
#[derive(Clone, Debug, Default)]
struct Decided<'a> {
    reason: Option<Reason>,
    line: Option<u32>,
    rule: Option<Cow<'a, [u8]>>,
}

impl<'a> Decided<'a> {
    fn new(decision: &Decision, rule: Option<&'a [u8]>) -> Decided<'a> {
        let line = decision.line.map(|line| line.get());
        Decided { reason: Some(decision.reason), line, rule: rule.map(cut_to_show) }
    }

    fn cells(&self) -> [Cell<'_>; 3] {
        let reason = self.reason.map(|reason| reason.as_str().as_bytes());
        [Cell::Text(reason), Cell::Number(self.line), Cell::Text(self.rule.as_deref())]
    }
}

/// Appends the rows of a changed origin. `agents` are those that were given, if any.
pub fn push_origin(change: &OriginChange, agents: &[String], added: &mut Added) {
    let states = change.states.map(|state| state.map(|it| it.to_string().into_bytes()));
    let mut push = |agent: Option<&String>| {
        let mut cells = vec![Cell::text(&change.origin), Cell::text(change.as_str())];
        if !agents.is_empty() {
            cells.push(Cell::Text(agent.map(String::as_bytes)));
        }
        cells.extend(states.each_ref().map(|state| Cell::Text(state.as_deref())));
        added.push_row(&cells);
    };
    if change.agents.is_empty() {
        push(None);
    }
    change.agents.iter().for_each(|&agent| push(Some(&agents[agent])));
}

/// The comparison of a robot's rules in two files.
#[derive(Clone, Copy, Debug)]
pub struct Compared<'a> {
    /// The robot's name; `*` for robots that no file names.
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

/// Appends the rows of a robot: one if nothing changes, or one for each way in which a verdict changes
/// or may change.
pub fn push_file(compared: &Compared<'_>, added: &mut Added) {
    let Compared { agent, files, comparison } = compared;
    let mut push = |answer: Answer,
                    path: Option<&[u8]>,
                    turn: [Option<Verdict>; 2],
                    sides: &[_; 2]| {
        let [old, new] = turn.map(|verdict| Cell::Text(verdict.map(|it| it.as_str().as_bytes())));
        let [before, after]: [&Decided<'_>; 2] = sides.each_ref();
        let first = [Cell::text(*agent), Cell::text(answer.as_str()), Cell::Text(path), old, new];
        added.push_row(&[&first[..], &before.cells(), &after.cells()].concat());
    };
    if Answer::of(&comparison.differences) == Answer::Equal {
        return push(Answer::Equal, None, [None; 2], &Default::default());
    }
    let turns = [[Verdict::Allow, Verdict::Disallow], [Verdict::Disallow, Verdict::Allow]];
    let found = comparison.differences.iter().zip(&comparison.deciding);
    for (turn, (found, deciding)) in turns.into_iter().zip(found) {
        let turn = turn.map(Some);
        match found {
            Ok(None) => {}
            Err(_) => push(Answer::Unknown, None, turn, &Default::default()),
            Ok(Some(example)) => {
                let decided = |side: usize| {
                    let decision = deciding.as_ref()?[side];
                    let rule = decision.rule.map(|rule| files[side].rules()[rule.index()].value);
                    Some(Decided::new(&decision, rule))
                };
                let sides = [0, 1].map(|side| decided(side).unwrap_or_default());
                push(Answer::Different, Some(&cut_to_show(example)), turn, &sides);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use portcullis_dialect::dialect::RFC_9309;
    use portcullis_lint::analysis::{Budget, FileComparison, Grouped};
    use portcullis_rows::input::Terminator;
    use portcullis_rows::output::TextRows;
    use portcullis_rows::output::tsv::Tsv;

    fn written(mut budget: Budget) -> String {
        let texts = [
            &b"User-agent: *\nDisallow: /a\nDisallow: /x\n"[..],
            b"User-agent: *\nDisallow: /a\nDisallow: /x\nAllow: /x/y\n",
        ];
        let files = texts.map(|text| RobotsTxt::parse(text, &RFC_9309, None));
        let files = [&files[0], &files[1]];
        let sides = files.map(|file| Grouped::new(file, &RFC_9309));
        let comparison = FileComparison::new(sides.each_ref(), &mut budget).robot(None);
        let (mut added, mut out) =
            (Added::of(file_fields().iter().map(|field| field.kind)), Vec::new());
        push_file(&Compared { agent: "*", files, comparison: &comparison }, &mut added);
        Tsv(Terminator::LineFeed).push(None, &added, &mut out).unwrap();
        String::from_utf8(out).expect("it is text")
    }

    #[test]
    fn rows_of_two_files() {
        assert_eq!(
            written(Budget::default()),
            "*\tdifferent\t/x/y\tdisallow\tallow\trule\t3\t/x\trule\t4\t/x/y\n"
        );
        let unknown = |turn| format!("*\tunknown\t\t{turn}\t\t\t\t\t\t\n");
        let both = unknown("allow\tdisallow") + &unknown("disallow\tallow");
        assert_eq!(written(Budget::new(0, 1)), both);
    }
}
