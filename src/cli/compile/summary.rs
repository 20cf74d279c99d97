//! What was compiled or merged to a set: for a person, and for a machine.

use std::io::{self, Write};
use std::time::Duration;

use portcullis::access::UnixSeconds;
use portcullis::capture::CaptureNote;
use portcullis::decision::PolicyState;
use portcullis::report::{CaptureDates, Figures};
use portcullis::set::compile::CompiledSet;
use portcullis::set::{Ingested, InputReport, ProvenanceInput};
use portcullis::syntax::NoteKind;
use portcullis::visible::visible;
use serde::Serialize;

use super::Target;
use crate::cli::plan::SummaryForm;
use crate::cli::summary;

fn dates((first, last): (UnixSeconds, UnixSeconds)) -> CaptureDates {
    CaptureDates { first: first.to_rfc3339(), last: last.to_rfc3339() }
}

/// A set that went into another.
#[derive(Serialize)]
pub struct MergedSet {
    pub name: String,
    pub set_hash: String,
    pub origins: u64,
}

/// What was read and written, as the members of a JSON object.
#[derive(Serialize)]
pub struct Summary<'r> {
    version: &'static str,
    set_hash: String,
    dialect: &'static str,
    output: String,
    output_bytes: u64,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    sets: &'r [MergedSet],
    inputs: Vec<ProvenanceInput<'r>>,
    bytes: u64,
    captures: u64,
    broken: u64,
    hosts: u64,
    origins: u64,
    redirected: u64,
    capture_dates: Option<CaptureDates>,
    states: Figures,
    capture_notes: Figures,
    file_notes: Figures,
    in_outage: u64,
    as_of: Option<String>,
    policies: u64,
    rule_sets: u64,
    ingest_seconds: f64,
    compile_seconds: f64,
    seconds: f64,
    origins_per_second: u64,
}

impl<'r> Summary<'r> {
    /// The summary of a run that took so long to ingest, and so long in all.
    pub fn new(
        target: &Target<'_>,
        sets: &'r [MergedSet],
        ingested: &'r Ingested,
        written: &CompiledSet,
        (ingesting, all): (Duration, Duration),
    ) -> Summary<'r> {
        let Ingested { inputs, counts, .. } = ingested;
        let sum = |of: fn(&InputReport) -> u64| inputs.iter().map(of).sum();
        // Origins of which nothing is known are not in a set.
        let states = PolicyState::ALL.into_iter().filter(|state| *state != PolicyState::Unknown);
        Summary {
            version: env!("CARGO_PKG_VERSION"),
            set_hash: format!("{:016x}", written.hash),
            dialect: target.dialect.name,
            output: target.output.display().to_string(),
            output_bytes: written.bytes,
            sets,
            inputs: inputs.iter().map(ProvenanceInput::of).collect(),
            bytes: sum(|input| input.bytes),
            captures: sum(|input| input.captures),
            broken: sum(|input| input.broken),
            hosts: counts.hosts,
            origins: counts.origins,
            redirected: counts.redirected,
            capture_dates: counts.captured.map(dates),
            states: Figures::of(states, PolicyState::as_str, |state| counts.in_state(state)),
            capture_notes: Figures::of(CaptureNote::ALL, CaptureNote::as_str, |note| {
                counts.with_capture_note(note)
            }),
            file_notes: Figures::of(NoteKind::ALL, NoteKind::as_str, |kind| {
                counts.with_file_note(kind)
            }),
            in_outage: counts.in_outage,
            as_of: ingested.outages.time().map(UnixSeconds::to_rfc3339),
            policies: written.policies,
            rule_sets: written.rule_sets,
            ingest_seconds: ingesting.as_secs_f64(),
            compile_seconds: all.saturating_sub(ingesting).as_secs_f64(),
            seconds: all.as_secs_f64(),
            origins_per_second: per_second(counts.origins, all),
        }
    }

    /// Writes it to standard error, in the form that was asked for.
    pub fn show(&self, form: SummaryForm) {
        summary::show(form, |text| self.write_text(text), |text| summary::write_json(self, text));
    }

    fn write_text(&self, out: &mut impl Write) -> io::Result<()> {
        let captured = match &self.capture_dates {
            Some(dates) => format!("captured from {} to {}", dates.first, dates.last),
            None => "capture dates not known".into(),
        };
        writeln!(
            out,
            "portcullis {}, set {}, dialect {}, {} origins, {captured}",
            self.version, self.set_hash, self.dialect, self.origins
        )?;
        for set in self.sets {
            writeln!(out, "{}: set {}, {} origins", visible(&set.name), set.set_hash, set.origins)?;
        }
        writeln!(
            out,
            "{} captures, {} broken records, {} bytes in {} inputs",
            self.captures,
            self.broken,
            self.bytes,
            self.inputs.len()
        )?;
        writeln!(
            out,
            "{:.3} s to ingest, {:.3} s to compile: {} origins/s",
            self.ingest_seconds, self.compile_seconds, self.origins_per_second
        )?;
        writeln!(out, "{} origins of {} hosts: {}", self.origins, self.hosts, self.states)?;
        writeln!(out, "redirected {}", self.redirected)?;
        for (what, figures) in [("answers", &self.capture_notes), ("files", &self.file_notes)] {
            if figures.0.iter().any(|&(_, figure)| figure > 0) {
                writeln!(out, "notes on {what}: {figures}")?;
            }
        }
        if self.in_outage > 0 {
            let as_of =
                self.as_of.as_ref().map_or_else(String::new, |time| format!(", as of {time}"));
            writeln!(out, "in an outage {}{as_of}", self.in_outage)?;
        }
        writeln!(
            out,
            "{}: {} bytes, {} policies, {} rule sets",
            visible(&self.output),
            self.output_bytes,
            self.policies,
            self.rule_sets
        )
    }
}

/// `amount` a second, rounded down; 0 if no time passed.
fn per_second(amount: u64, time: Duration) -> u64 {
    let rate = (u128::from(amount) * 1_000_000_000).checked_div(time.as_nanos());
    rate.map_or(0, |rate| u64::try_from(rate).unwrap_or(u64::MAX))
}
