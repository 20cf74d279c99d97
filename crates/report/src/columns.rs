//! Reads the values of the added columns from the answers on a block.
//!
//! Cost: verdict, reason and bits are already decided. State, times and delay are one look-up per record.
//! Line, rule and group, and the statements about uses, are looked up for each record and agent, which
//! takes a few hundred nanoseconds.

use std::sync::Arc;

use portcullis_robots::access::UnixSeconds;
use portcullis_rows::output::Added;
use portcullis_rows::output::columns::{Column, Columns};
use portcullis_set::Damage;
use portcullis_set::batch::{Answers, InForce};
use portcullis_text::visible::{SHOWN_BYTES_MAX, cut_to_show};

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
    let (decisions, classifier) = (answers.decisions(), answers.session().classifier());
    let labels = classifier.labels();
    for (place, (agent, column)) in columns.of_agents(agents).enumerate() {
        let of_agent = decisions.iter().skip(agent).step_by(agents);
        match column {
            Column::Verdict => added.push_words(place, of_agent.map(|it| it.verdict as u8)),
            Column::Now => {
                let now = answers.now().expect("the session decides as of now too");
                let of_agent = now.decisions.iter().skip(agent).step_by(agents);
                added.push_words(place, of_agent.map(|it| it.verdict as u8));
            }
            Column::Reason => added.push_words(place, of_agent.map(|it| it.reason as u8)),
            Column::Usage(label) | Column::UsageNow(label) => {
                let number = labels.iter().position(|it| *it == label);
                let first = agent * labels.len() + number.expect("all labels are asked about");
                let preferences = match column {
                    Column::Usage(_) => answers.preferences(),
                    _ => &answers.now().expect("the session decides as of now too").preferences,
                };
                let of_agent = preferences.iter().skip(first).step_by(agents * labels.len());
                added.push_words(place, of_agent.map(|it| *it as u8));
            }
            Column::Agent => {
                for row in 0..rows {
                    let name = answers.agent(row).map(|agent| match names {
                        Some(names) => names[agent].as_str(),
                        None => classifier.agents()[agent].name(),
                    });
                    added.push_text(place, name.map(str::as_bytes));
                }
            }
            Column::State => {
                for row in 0..rows {
                    added.push_word(place, answers.state(record(row))?.map(|state| state as u8));
                }
            }
            Column::Delay => {
                added.push_doubles(place, delays.iter().skip(agent).step_by(agents).copied());
            }
            Column::Captured => {
                all_times.iter().for_each(|[captured, ..]| added.push_time(place, *captured));
            }
            Column::Since => {
                all_times.iter().for_each(|[_, since, _]| added.push_time(place, *since));
            }
            Column::Until => {
                all_times.iter().for_each(|[.., until]| added.push_time(place, *until));
            }
            // Below, for each answer.
            _ => {}
        }
    }
    if columns.need_rules() {
        for answer in 0..rows * agents {
            read_rule(columns, answers, answer, answer % agents, added)?;
        }
    }
    if columns.need_statements() {
        for answer in 0..rows * agents {
            read_statements(columns, answers, answer, answer % agents, added)?;
        }
    }
    Ok(unreadable)
}

/// Returns when the policy that was in force was captured, begins and ends. A policy without a date
/// has no beginning.
pub(crate) fn times(in_force: Option<InForce>) -> [Option<UnixSeconds>; 3] {
    let Some(InForce { captured_at, period }) = in_force else { return [None; 3] };
    [captured_at, Some(period.since).filter(|since| since.0 > 0), period.until]
}

/// Appends the line, the rule and the group of one decision, to the columns of `agent`.
fn read_rule(
    columns: &Columns,
    answers: &mut Answers<'_>,
    answer: usize,
    agent: usize,
    added: &mut Added,
) -> Result<(), Damage> {
    let first = columns.first_of_agent(agent);
    let full = answers.rule(answer)?;
    for (place, column) in (first..).zip(columns.per_agent()) {
        match column {
            Column::Line => added.push_number(place, full.decision.line.map(|line| line.get())),
            Column::Rule => added.push_text(place, full.rule.map(cut_to_show).as_deref()),
            Column::Group => added.push_text(place, full.group.map(cut_to_show).as_deref()),
            _ => {}
        }
    }
    Ok(())
}

/// Appends where the uses of one answer are stated, and its licences, to the columns of `agent`.
fn read_statements(
    columns: &Columns,
    answers: &mut Answers<'_>,
    answer: usize,
    agent: usize,
    added: &mut Added,
) -> Result<(), Damage> {
    let first = columns.first_of_agent(agent);
    let classifier = Arc::clone(answers.session().classifier());
    for (place, &column) in (first..).zip(columns.per_agent()) {
        let (Column::UsageLine(label) | Column::UsageRule(label) | Column::UsageSource(label)) =
            column
        else {
            continue;
        };
        let number = classifier.labels().iter().position(|it| *it == label);
        let stated = answers.stated_at(answer, number.expect("all labels are asked about"))?;
        let stated = stated.as_ref();
        match column {
            Column::UsageLine(_) => added.push_number(place, stated.map(|it| it.line.get())),
            Column::UsageRule(_) => {
                added.push_text(place, stated.map(|it| cut_to_show(&it.value)).as_deref());
            }
            _ => added.push_word(place, stated.map(|it| it.source as u8)),
        }
    }
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
    let place = columns.per_agent().iter().position(|column| *column == Column::Licenses);
    let place = first + place.expect("the licences are asked about");
    added.push_list(place, &licenses);
    Ok(())
}

/// What stands for the licences after the first ones.
const LEFT_OUT: &str = "…";
