//! Reports the changes from one policy set to another: of origins, or of verdicts and usage preferences
//! on a list of [`urls`]. For two robots.txt files, compares the verdicts on all possible URLs.
//!
//! Each report is a table whose columns are declared here ([`origin_fields`], [`url_fields`],
//! [`file_fields`]). A value that a side does not have is missing. Rules longer than
//! [`SHOWN_BYTES_MAX`](portcullis_text::visible::SHOWN_BYTES_MAX) are cut.

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

fn texts(names: &[&str]) -> Vec<Field> {
    names.iter().map(|name| Field::declared(name, FieldKind::Text, true)).collect()
}

/// Adds the columns of what decides on both sides: the reason of a verdict, and the line and value of the
/// rule or the statement.
fn with_deciding(mut fields: Vec<Field>) -> Vec<Field> {
    use FieldKind::{Number, Text};
    for side in ["old", "new"] {
        let deciding = [("reason", Text), ("line", Number), ("rule", Text)];
        let field = |(what, kind)| Field::declared(&format!("{side}_{what}"), kind, true);
        fields.extend(deciding.map(field));
    }
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

/// Returns the columns of two files: a row for each crawler, or for each way in which its verdicts
/// change, with a shortest path.
pub fn file_fields() -> Vec<Field> {
    with_deciding(texts(&["agent", "answer", "path", "old", "new"]))
}

/// One side of a change: the verdict or the preference, and what decides it.
#[derive(Clone, Debug, Default)]
struct SideOfChange<'a> {
    value: Option<&'static str>,
    reason: Option<Reason>,
    line: Option<u32>,
    rule: Option<Cow<'a, [u8]>>,
}

impl<'a> SideOfChange<'a> {
    fn of(decision: &Decision, rule: Option<&'a [u8]>) -> SideOfChange<'a> {
        SideOfChange {
            value: Some(decision.verdict.as_str()),
            reason: Some(decision.reason),
            line: decision.line.map(|line| line.get()),
            rule: rule.map(cut_to_show),
        }
    }
}

/// The values of a row.
type Cells<'a> = Vec<Option<Cell<&'a [u8]>>>;

/// Appends a row, which begins with `cells`: the values of both sides, and what decides them. Returns its
/// bytes.
fn push_row<'a>(
    mut cells: Cells<'a>,
    sides: &'a [SideOfChange<'a>; 2],
    added: &mut Added,
) -> usize {
    cells.extend(sides.each_ref().map(|side| side.value.map(Cell::text)));
    for SideOfChange { reason, line, rule, .. } in sides {
        cells.push(reason.map(|reason| Cell::text(reason.as_str())));
        cells.extend([line.map(Cell::Number), rule.as_deref().map(Cell::Text)]);
    }
    added.push_row(&cells);
    let bytes = |cell: &Option<Cell<&[u8]>>| match cell {
        Some(Cell::Text(text)) => text.len(),
        _ => 0,
    };
    size_of_val(&*cells) + cells.iter().map(bytes).sum::<usize>()
}

/// Appends the rows of a changed origin. `agents` are those that were given, if any.
pub fn push_origin(change: &OriginChange, agents: &[String], added: &mut Added) {
    let states = change.states.map(|state| state.map(|it| it.to_string().into_bytes()));
    let mut push = |agent: Option<&String>| {
        let mut cells =
            vec![Some(Cell::text(&change.origin)), Some(Cell::text(change.change.as_str()))];
        if !agents.is_empty() {
            cells.push(agent.map(Cell::text));
        }
        cells.extend(states.each_ref().map(|state| state.as_deref().map(Cell::Text)));
        added.push_row(&cells);
    };
    if change.agents.is_empty() {
        push(None);
    }
    change.agents.iter().for_each(|&agent| push(Some(&agents[agent])));
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

/// Appends the rows of crawlers with equal rules, `*` for those that no file names, whose rules in an old and a
/// new file were compared: one if nothing changes; one for each way in which a verdict changes or may change;
/// and for other rules that change a verdict, up to `paths_max` rows in all.
pub fn push_file(
    agent: &str,
    files: [&RobotsTxt<'_>; 2],
    comparison: &RobotComparison,
    paths_max: usize,
    added: &mut Added,
) {
    let mut push = |answer: Answer, path: Option<&[u8]>, sides: &[SideOfChange<'_>; 2]| {
        let first = [agent, answer.as_str()].map(|text| Some(Cell::text(text)));
        let first = first.into_iter().chain([path.map(Cell::Text)]).collect();
        push_row(first, sides, added);
    };
    if Answer::of(&comparison.differences) == Answer::Equal {
        return push(Answer::Equal, None, &Default::default());
    }
    let decided = |decisions: &[Decision; 2]| {
        [0, 1].map(|side| {
            let rule = decisions[side].rule;
            SideOfChange::of(
                &decisions[side],
                rule.map(|rule| files[side].rules()[rule.index()].value),
            )
        })
    };
    let turns = [[Verdict::Allow, Verdict::Disallow], [Verdict::Disallow, Verdict::Allow]];
    let found = comparison.differences.iter().zip(&comparison.deciding);
    for (turn, (found, deciding)) in turns.into_iter().zip(found) {
        let undecided = |side: usize| SideOfChange {
            value: Some(turn[side].as_str()),
            ..SideOfChange::default()
        };
        match found {
            Ok(None) => {}
            Err(_) => push(Answer::Unknown, None, &[0, 1].map(undecided)),
            Ok(Some(example)) => {
                let sides = deciding.as_ref().map(decided);
                let sides = sides.unwrap_or_else(|| [0, 1].map(undecided));
                push(Answer::Different, Some(&cut_to_show(example)), &sides);
            }
        }
    }
    let shown = comparison.differences.iter().filter(|it| **it != Ok(None)).count();
    for (path, decisions) in comparison.more.iter().take(paths_max.saturating_sub(shown)) {
        push(Answer::Different, Some(&cut_to_show(path)), &decided(decisions));
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
        push_file("*", files, &comparison, 10, &mut added);
        let tsv = Tsv(Terminator::LineFeed);
        (0..added.rows()).for_each(|row| tsv.push_row(&added, row, &mut out));
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
