//! The summary at the end of a run, on standard error.

use std::io::{self, Write};
use std::time::Instant;

use portcullis_report::limits::SUMMARY_UNKNOWN_HOSTS_MAX;
use portcullis_report::{
    Account, Counts, Detail, Filtered, InvalidRecords, JudgedAge, Run, Summary,
};
use portcullis_robots::access::DateSpan;
use portcullis_set::PolicySet;
use portcullis_set::batch::Freshness;
use serde::Serialize;

use super::agents::AgentNotes;
use super::engine::Policies;
use super::plan::{QuestionPlan, SummaryForm, SummaryPlan, TimePlan};

/// When a run started, and when its policies were loaded.
pub struct Clock {
    started: Instant,
    loaded: Instant,
}

impl Clock {
    /// Returns the clock of a run that started at `started` and has just loaded its policies.
    pub fn loaded(started: Instant) -> Clock {
        Clock { started, loaded: Instant::now() }
    }
}

/// The outcome for the records of a run.
#[derive(Default)]
pub struct Outcome {
    pub counts: Counts,
    pub invalid: InvalidRecords,
    /// The notes on how the lists were read that were not shown.
    pub notes: Vec<String>,
    /// The records that `filter` kept and dropped.
    pub filtered: Option<Filtered>,
    /// How the last list was read, if that was noted.
    pub noted: String,
    /// What only an account counts.
    pub detail: Option<Detail>,
}

impl Outcome {
    /// Adds the outcome of the next part.
    pub fn merge(&mut self, next: Outcome) {
        self.counts.merge(&next.counts);
        self.invalid.merge(next.invalid);
        self.notes.extend(next.notes);
        if let Some(filtered) = next.filtered {
            self.filtered.get_or_insert_default().merge(filtered);
        }
        self.noted = next.noted;
    }
}

/// Writes the summary of a run that classified records and ends now.
pub fn write(
    plan: &SummaryPlan,
    policies: &Policies,
    questions: &QuestionPlan,
    Outcome { counts, invalid, notes, filtered, detail, .. }: Outcome,
    clock: &Clock,
) {
    let run = run(policies, questions);
    let summary = Summary {
        account: Account { run, counts, invalid, filtered, detail },
        loading: clock.loaded.duration_since(clock.started),
        running: clock.loaded.elapsed(),
        notes,
        census: if plan.census { census(&policies.set) } else { Vec::new() },
    };
    show(plan.form, |text| summary.write_text(text), |text| summary.write_json(text));
}

/// Returns the most hosts without a policy that a piece counts: all of them for `--unknown-hosts`.
pub fn hosts_max(are_counted: bool, are_written: bool) -> usize {
    match (are_counted, are_written) {
        (_, true) => usize::MAX,
        (true, false) => SUMMARY_UNKNOWN_HOSTS_MAX,
        (false, false) => 0,
    }
}

/// Describes a run for its account: the program, the set, the dialect and the agents.
pub fn run(policies: &Policies, questions: &QuestionPlan) -> Run {
    let set = &policies.set;
    let judged = |freshness: &Freshness| JudgedAge {
        as_of: questions.times.as_ref().map_or(freshness.as_of.to_rfc3339(), TimePlan::describe),
        max_age_seconds: freshness.seconds_max,
        expired: if freshness.withdraws { "unknown" } else { "keep" },
    };
    let AgentNotes { agents, of_records, lists, unnamed, .. } = &policies.agents;
    Run {
        tool: "portcullis",
        version: env!("CARGO_PKG_VERSION"),
        set_hash: set.hash(),
        origins: policies.origins(),
        dialect: set.dialect().name,
        agents: agents.clone(),
        record_agents: of_records.clone(),
        agent_lists: lists.clone(),
        unnamed_agents: unnamed.clone(),
        captured: set.counts().captured,
        at: questions.times.as_ref().map(TimePlan::describe),
        judged_age: questions.freshness.as_ref().map(judged),
        left_out: policies.left_out,
        file_notes: policies.file_notes(),
    }
}

/// Writes a summary to standard error. The data is complete by now, so a closed standard error is
/// not a failure.
pub fn show(
    form: SummaryForm,
    write_text: impl FnOnce(&mut Vec<u8>) -> io::Result<()>,
    write_json: impl FnOnce(&mut Vec<u8>) -> io::Result<()>,
) {
    let mut text = Vec::new();
    let written = match form {
        SummaryForm::None => Ok(()),
        SummaryForm::Text => write_text(&mut text),
        SummaryForm::Json => write_json(&mut text),
    };
    let _ = written.and_then(|()| io::stderr().write_all(&text));
}

/// Serializes a value as one line of JSON.
pub fn to_json_line(value: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    portcullis_text::json::write_json(value, &mut line)?;
    line.push(b'\n');
    Ok(line)
}

/// Like [`show`], for an object that serializes as its JSON.
pub fn show_object(
    form: SummaryForm,
    object: &impl Serialize,
    write_text: impl FnOnce(&mut Vec<u8>) -> io::Result<()>,
) {
    show(form, write_text, |out| to_json_line(object).map(|line| *out = line));
}

/// Formats capture dates for people.
pub fn captured(dates: Option<DateSpan>) -> String {
    dates.map_or_else(|| "no capture dates".into(), |dates| format!("captured {dates}"))
}

/// Counts the compiled rules.
fn census(set: &PolicySet) -> Vec<(&'static str, u64)> {
    let counts = set.counts();
    vec![
        ("policies", counts.policies),
        ("rule_sets", counts.rule_sets),
        ("rule_sets_of_groups", counts.rule_sets_of_groups),
        ("set_bytes", set.bytes()),
    ]
}
