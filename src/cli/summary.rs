//! The summary at the end of a run, on standard error.

use std::io::{self, Write};
use std::time::Instant;

use portcullis_capture::access::UnixSeconds;
use portcullis_report::{
    Account, CaptureDates, Counts, Filtered, InvalidRecords, JudgedAge, Run, Summary,
};
use portcullis_set::PolicySet;
use portcullis_set::batch::Freshness;
use serde::Serialize;

use super::agents::AgentNotes;
use super::engine::Policies;
use super::plan::{QuestionPlan, SummaryForm, SummaryPlan};

/// When a run started, and when its policies were loaded.
pub struct Clock {
    started: Instant,
    loaded: Instant,
}

impl Clock {
    /// The clock of a run that started at `started` and has loaded its policies now.
    pub fn loaded(started: Instant) -> Clock {
        Clock { started, loaded: Instant::now() }
    }
}

/// What came of the records of a run.
pub struct Outcome {
    pub counts: Counts,
    pub invalid: InvalidRecords,
    /// For a filter.
    pub filtered: Option<Filtered>,
}

/// Writes the summary of a run that classified and ends now.
pub fn write(
    plan: &SummaryPlan,
    policies: &Policies,
    questions: &QuestionPlan,
    Outcome { counts, invalid, filtered }: Outcome,
    clock: &Clock,
) {
    let set = &policies.set;
    let judged = |freshness: &Freshness| JudgedAge {
        as_of: freshness.as_of.to_rfc3339(),
        max_age_seconds: freshness.seconds_max,
        expired: if freshness.withdraws { "unknown" } else { "keep" },
    };
    let AgentNotes { agents, lists, unnamed, .. } = &policies.agents;
    let run = Run {
        tool: "portcullis",
        version: env!("CARGO_PKG_VERSION"),
        set_hash: set.hash(),
        origins: policies.origins(),
        dialect: set.dialect().name,
        agents: agents.clone(),
        agent_lists: lists.clone(),
        unnamed_agents: unnamed.clone(),
        captured: policies.captured(),
        judged_age: questions.freshness.as_ref().map(judged),
        left_out: policies.left_out,
        file_notes: policies.appearances(),
    };
    let summary = Summary {
        account: Account { run, counts, invalid, filtered },
        loading: clock.loaded.duration_since(clock.started),
        running: clock.loaded.elapsed(),
        census: if plan.census { census(set) } else { Vec::new() },
    };
    show(plan.form, |text| summary.write_text(text), |text| summary.write_json(text));
}

/// Writes a summary to standard error. The data is complete by now, so a closed standard error is not a
/// failure.
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

/// A value as one line of JSON.
pub fn to_json_line(value: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    portcullis_robots::json::write_json(value, &mut line)?;
    line.push(b'\n');
    Ok(line)
}

/// As [`show`], for an object whose JSON is as it serializes.
pub fn show_object(
    form: SummaryForm,
    object: &impl Serialize,
    write_text: impl FnOnce(&mut Vec<u8>) -> io::Result<()>,
) {
    show(form, write_text, |out| to_json_line(object).map(|line| *out = line));
}

/// The first and the last capture of a set as JSON has them.
pub fn capture_dates(dates: (UnixSeconds, UnixSeconds)) -> CaptureDates {
    CaptureDates { first: dates.0.to_rfc3339(), last: dates.1.to_rfc3339() }
}

/// The same for people.
pub fn captured(dates: Option<&CaptureDates>) -> String {
    match dates {
        Some(CaptureDates { first, last }) => format!("captured from {first} to {last}"),
        None => "no capture dates".into(),
    }
}

/// The dates of a set's captures, if any is known.
pub fn captured_of(set: &PolicySet) -> Option<CaptureDates> {
    let (first, last) = set.counts().captured?;
    Some(capture_dates((UnixSeconds(first), UnixSeconds(last))))
}

/// The compiled rules, counted.
fn census(set: &PolicySet) -> Vec<(&'static str, u64)> {
    let counts = set.counts();
    vec![
        ("policies", counts.policies),
        ("rule_sets", counts.rule_sets),
        ("rule_sets_of_groups", counts.rule_sets_of_groups),
        ("set_bytes", set.bytes()),
    ]
}
