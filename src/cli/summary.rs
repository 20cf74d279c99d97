//! The summary at the end of a run, on standard error.

use std::io::{self, Write};
use std::time::Instant;

use portcullis::report::{Counts, Filtered, Run, Summary};
use portcullis::set::PolicySet;
use portcullis::visible;
use serde::Serialize;

use super::engine::Policies;
use super::plan::{QuestionPlan, SummaryForm, SummaryPlan};

/// When a run began, and when its policies were loaded and compiled.
pub struct Clock {
    started: Instant,
    loaded: Instant,
}

impl Clock {
    /// The clock of a run that began at `started` and has its policies now.
    pub fn loaded(started: Instant) -> Clock {
        Clock { started, loaded: Instant::now() }
    }
}

/// Writes what a run did that ends now, in the form that was asked for.
pub fn write(
    plan: &SummaryPlan,
    policies: &Policies,
    questions: &QuestionPlan,
    counts: Counts,
    filtered: Option<Filtered>,
    clock: &Clock,
) {
    let summary = Summary {
        run: Run {
            version: env!("CARGO_PKG_VERSION"),
            set_hash: policies.set.hash(),
            origins: policies.origins(),
            dialect: policies.set.dialect().name,
            agents: questions.agent_names(),
            captured: policies.captured(),
            left_out: policies.left_out,
            file_notes: policies.appearances(),
        },
        counts,
        filtered,
        loading: clock.loaded.duration_since(clock.started),
        running: clock.loaded.elapsed(),
        census: if plan.census { census(&policies.set) } else { Vec::new() },
    };
    show(plan.form, |text| summary.write_text(text), |text| summary.write_json(text));
}

/// Writes a summary to standard error in the form that was asked for.
///
/// Data is complete at this point; a closed standard error takes nothing away from it.
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

/// Writes a value as one line of JSON.
pub fn write_json(value: &impl Serialize, out: &mut Vec<u8>) -> io::Result<()> {
    visible::write_json(value, &mut *out)?;
    out.write_all(b"\n")
}

/// What the policies take, by name.
fn census(set: &PolicySet) -> Vec<(&'static str, u64)> {
    let counts = set.counts();
    vec![
        ("policies", counts.policies),
        ("rule_sets", counts.rule_sets),
        ("rule_sets_of_groups", counts.rule_sets_of_groups),
        ("set_bytes", set.bytes()),
    ]
}
