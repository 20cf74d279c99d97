//! Reads the values of the added columns from the answers on a block.
//!
//! Cost: verdict, reason and bits are already decided. State, times and delay are one look-up per record.
//! Line, rule and group are looked up for each record and agent, which takes a few hundred nanoseconds.

use portcullis_robots::access::UnixSeconds;
use portcullis_rows::output::Added;
use portcullis_rows::output::columns::{Column, Columns, FieldKind};
use portcullis_set::Damage;
use portcullis_set::batch::{Answers, InForce};
use portcullis_text::visible::cut_to_show;

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
    let (agents, classifier) = (answers.per_record(), answers.session().classifier());
    let (labels, decisions) = (classifier.labels(), answers.decisions());
    let rows = decisions.len() / agents;
    for (place, kind) in columns.kinds(agents).enumerate() {
        let of_agent = |agent| decisions.iter().skip(agent).step_by(agents);
        match kind {
            FieldKind::Agent(agent, Column::Verdict) => {
                added.push_words(place, of_agent(agent).map(|it| it.verdict as u8));
            }
            FieldKind::Agent(agent, Column::Now) => {
                let now = answers.now().expect("the session decides as of now too");
                let of_agent = now.decisions.iter().skip(agent).step_by(agents);
                added.push_words(place, of_agent.map(|it| it.verdict as u8));
            }
            FieldKind::Agent(agent, Column::Reason) => {
                added.push_words(place, of_agent(agent).map(|it| it.reason as u8));
            }
            FieldKind::Agent(agent, column @ (Column::Usage(label) | Column::UsageNow(label))) => {
                let number = labels.iter().position(|it| *it == label);
                let first = agent * labels.len() + number.expect("all labels are asked about");
                let preferences = match column {
                    Column::Usage(_) => answers.preferences(),
                    _ => &answers.now().expect("the session decides as of now too").preferences,
                };
                let of_agent = preferences.iter().skip(first).step_by(agents * labels.len());
                added.push_words(place, of_agent.map(|it| *it as u8));
            }
            FieldKind::Bits => {
                decisions.chunks_exact(agents).for_each(|it| added.push_bits(place, it));
            }
            FieldKind::RecordAgent => {
                for row in 0..rows {
                    let agent = answers.agent(row).map(|agent| &classifier.agents()[agent]);
                    added.push_text(place, agent.map(|agent| agent.name().as_bytes()));
                }
            }
            FieldKind::State => {
                for row in 0..rows {
                    added.push_word(place, answers.state(row)?.map(|state| state as u8));
                }
            }
            // Below, once for all of them.
            FieldKind::Captured | FieldKind::Since | FieldKind::Until => {}
            // Those of a survey have no record.
            FieldKind::Survey(_) => {}
            FieldKind::Agent(_, Column::Line | Column::Rule | Column::Group | Column::Delay) => {}
        }
    }
    if columns.need_times() {
        for row in 0..rows {
            let [captured, since, until] = times(answers.in_force(row)?);
            for (place, kind) in columns.kinds(agents).enumerate() {
                match kind {
                    FieldKind::Captured => added.push_time(place, captured),
                    FieldKind::Since => added.push_time(place, since),
                    FieldKind::Until => added.push_time(place, until),
                    _ => {}
                }
            }
        }
    }
    let mut unreadable = None;
    if columns.need_delays() {
        let places = columns.kinds(agents).enumerate().filter_map(|(place, kind)| match kind {
            FieldKind::Agent(agent, Column::Delay) => Some((place, agent)),
            _ => None,
        });
        let places: Vec<(usize, usize)> = places.collect();
        let unreadable = unreadable.insert(0);
        for row in 0..rows {
            let delays = answers.delays(row)?;
            for &(place, agent) in &places {
                added.push_doubles(place, std::iter::once(delays[agent].seconds));
            }
            *unreadable += u64::from(delays.iter().any(|delay| delay.unreadable > 0));
        }
    }
    if columns.need_rules() {
        for answer in 0..rows * agents {
            read_rule(columns, answers, answer, added)?;
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

/// Appends the line, the rule and the group of one decision.
fn read_rule(
    columns: &Columns,
    answers: &mut Answers<'_>,
    answer: usize,
    added: &mut Added,
) -> Result<(), Damage> {
    let first = columns.first_of_agent(answer % answers.per_record());
    let full = answers.rule(answer)?;
    for (place, column) in (first..).zip(columns.per_agent()) {
        match column {
            Column::Line => added.push_number(place, full.decision.line.map(|line| line.get())),
            Column::Rule => added.push_text(place, full.rule.map(cut_to_show).as_deref()),
            Column::Group => added.push_text(place, full.group.map(cut_to_show).as_deref()),
            Column::Verdict
            | Column::Now
            | Column::Reason
            | Column::Usage(_)
            | Column::UsageNow(_)
            | Column::Delay => {}
        }
    }
    Ok(())
}
