//! Reads the values of the added columns from the answers on a block.
//!
//! Cost: verdict, reason and bits are already decided. State, times and delay are one look-up per record.
//! Line, rule and group, and the statements about uses, are looked up for each record and agent, which
//! takes a few hundred nanoseconds.

use portcullis_dialect::usage::Label;
use portcullis_robots::access::UnixSeconds;
use portcullis_rows::output::Added;
use portcullis_rows::output::added::Cell;
use portcullis_rows::output::columns::{Column, Columns};
use portcullis_set::Damage;
use portcullis_set::batch::{Answers, FullDecision, InForce};
use portcullis_text::visible::{SHOWN_BYTES_MAX, cut_to_show};

use crate::filter::sides;

/// Appends the values of a block to `added`. Returns the number of records with a crawl delay that is
/// not a number; `None` if no column has delays.
///
/// # Errors
///
/// If a part of the set that is read is damaged.
#[inline]
pub fn read(
    columns: &Columns,
    answers: &mut Answers<'_>,
    added: &mut Added,
) -> Result<Option<u64>, Damage> {
    let per_record = answers.per_record();
    let names = columns.agents_of_rows();
    let agents = if names.is_some() { 1 } else { per_record };
    let rows = answers.decisions().len() / agents;
    let record = |row: usize| row * agents / per_record;
    let mut all_times = Vec::new();
    if columns.need_times() {
        for row in 0..rows {
            all_times.push(times(answers.in_force(record(row))?));
        }
    }
    let (mut unreadable, mut delays) = (None, Vec::new());
    if columns.need_delays() {
        let unreadable = unreadable.insert(0);
        for row in 0..rows {
            let (first, found) = (row * agents % per_record, answers.delays(record(row))?);
            delays.extend(found[first..first + agents].iter().map(|delay| delay.seconds));
            let is_unreadable = first == 0 && found.iter().any(|delay| delay.unreadable > 0);
            *unreadable += u64::from(is_unreadable);
        }
    }
    let (sides, classifier) = (sides(answers), answers.session().classifier());
    let labels = classifier.labels();
    for (place, (agent, column)) in columns.of_agents(agents).enumerate() {
        let decisions = |side: usize| sides[side].0.iter().skip(agent).step_by(agents);
        let uses = |side: usize, label| {
            let first = agent * labels.len() + number(labels, label);
            let preferences = sides[side].1.iter().skip(first).step_by(agents * labels.len());
            preferences.map(|preference| *preference as u8)
        };
        let times_of = |number: usize| all_times.iter().map(move |it| it[number].map(Cell::Time));
        match column {
            Column::Verdict => added.push_words(place, decisions(0).map(|it| it.verdict() as u8)),
            Column::Now => added.push_words(place, decisions(1).map(|it| it.verdict() as u8)),
            Column::Reason => added.push_words(place, decisions(0).map(|it| it.reason() as u8)),
            Column::Usage(label) => added.push_words(place, uses(0, label)),
            Column::UsageNow(label) => added.push_words(place, uses(1, label)),
            Column::Agent => {
                for row in 0..rows {
                    let name = answers.agent(row).map(|agent| match names {
                        Some(names) => names[agent].as_str(),
                        None => classifier.agents()[agent].name(),
                    });
                    added.push(place, name.map(Cell::text));
                }
            }
            Column::State => {
                for row in 0..rows {
                    let state = answers.state(record(row))?;
                    added.push(place, state.map(|state| Cell::Word(state as u8)));
                }
            }
            Column::Delay => {
                let delays = delays.iter().skip(agent).step_by(agents);
                delays.for_each(|delay| added.push(place, delay.map(Cell::Double)));
            }
            Column::Captured => times_of(0).for_each(|time| added.push(place, time)),
            Column::Since => times_of(1).for_each(|time| added.push(place, time)),
            Column::Until => times_of(2).for_each(|time| added.push(place, time)),
            // Below, for each answer.
            _ => {}
        }
    }
    let (rules, statements) = (columns.need_rules(), columns.need_statements());
    for answer in 0..if rules || statements { rows * agents } else { 0 } {
        let first = columns.first_of_agent(answer % agents);
        if rules {
            push_rule(columns, first, &answers.rule(answer)?, added);
        }
        if statements {
            push_statements(columns, first, answers, answer, added)?;
        }
    }
    Ok(unreadable)
}

/// Returns the position of a requested label.
fn number(labels: &[Label], label: Label) -> usize {
    labels.iter().position(|it| *it == label).expect("all labels are asked about")
}

/// Returns when the policy that was in force was captured, begins and ends. A policy without a date
/// has no beginning.
pub(crate) fn times(in_force: Option<InForce>) -> [Option<UnixSeconds>; 3] {
    let Some(InForce { captured_at, period }) = in_force else { return [None; 3] };
    [captured_at, Some(period.since).filter(|since| since.0 > 0), period.until]
}

/// Appends a text of a file, cut if it is long.
pub fn push_shown(place: usize, text: Option<&[u8]>, added: &mut Added) {
    added.push(place, text.map(cut_to_show).as_deref().map(Cell::Text));
}

/// Appends the line, the rule and the group of one decision to the columns of its agent, from the place
/// `first` on.
fn push_rule(columns: &Columns, first: usize, full: &FullDecision<'_>, added: &mut Added) {
    for (place, column) in (first..).zip(columns.per_agent()) {
        match column {
            Column::Line => {
                added.push(place, full.decision.line.map(|line| Cell::Number(line.get())));
            }
            Column::Rule => push_shown(place, full.rule, added),
            Column::Group => push_shown(place, full.group, added),
            _ => {}
        }
    }
}

/// Appends where the uses of one answer are stated, and its licences, like [`push_rule`].
fn push_statements(
    columns: &Columns,
    first: usize,
    answers: &Answers<'_>,
    answer: usize,
    added: &mut Added,
) -> Result<(), Damage> {
    let labels = answers.session().classifier().labels();
    let stated = |label| answers.stated_at(answer, number(labels, label));
    for (place, column) in (first..).zip(columns.per_agent()) {
        match *column {
            Column::UsageLine(label) => {
                added.push(place, stated(label)?.map(|it| Cell::Number(it.line.get())));
            }
            Column::UsageRule(label) => {
                push_shown(place, stated(label)?.as_ref().map(|it| &it.value[..]), added);
            }
            Column::UsageSource(label) => {
                added.push(place, stated(label)?.map(|it| Cell::Word(it.source as u8)));
            }
            Column::Licenses => added.push_list(place, &licenses(answers, answer)?),
            _ => {}
        }
    }
    Ok(())
}

/// Returns the licences of one answer, and [`LEFT_OUT`] for those after the first ones.
fn licenses(answers: &Answers<'_>, answer: usize) -> Result<Vec<Vec<u8>>, Damage> {
    let (mut licenses, mut bytes) = (Vec::new(), 0);
    let mut all = answers.licenses(answer)?;
    while let Some(license) = all.next() {
        let license = cut_to_show(license?.as_ref()).into_owned();
        bytes += license.len();
        licenses.push(license);
        if bytes >= SHOWN_BYTES_MAX && all.len() > 0 {
            licenses.push(LEFT_OUT.into());
            break;
        }
    }
    Ok(licenses)
}

/// The mark for the licences after the first ones.
const LEFT_OUT: &str = "…";
