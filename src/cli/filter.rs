//! `portcullis filter`: the allowed records, byte for byte.

use std::time::Instant;

use portcullis::input::Records;
use portcullis::policy::Detail;
use portcullis::report::{Counts, Filtered, filter};

use super::engine::Engine;
use super::exit::ExitStatus;
use super::output::{Output, OutputFailed};
use super::plan::{FilterPlan, Printed};
use super::stream;
use super::summary::{self, Clock};

/// What comes of a chunk.
#[derive(Default)]
struct Sorted {
    records: filter::Output,
    counts: Counts,
}

/// Where the records go.
struct Outputs {
    kept: Output,
    unknown: Option<Output>,
    invalid: Option<Output>,
}

impl Outputs {
    fn open(plan: &FilterPlan) -> Result<Outputs, OutputFailed> {
        let aside = |path: &Option<_>| path.as_deref().map(Output::create).transpose();
        Ok(Outputs {
            kept: Output::open(&plan.output)?,
            unknown: aside(&plan.unknown_to)?,
            invalid: aside(&plan.invalid_to)?,
        })
    }

    fn write(&mut self, records: &filter::Output, printed: Printed) -> Result<(), OutputFailed> {
        if printed == Printed::Records {
            self.kept.write(&records.kept)?;
        }
        if let Some(output) = &mut self.unknown {
            output.write(&records.unknown)?;
        }
        if let Some(output) = &mut self.invalid {
            output.write(&records.invalid)?;
        }
        Ok(())
    }

    fn finish(self) -> Result<(), OutputFailed> {
        let aside = [self.unknown, self.invalid].into_iter().flatten();
        Output::finish_all(std::iter::once(self.kept).chain(aside))
    }
}

pub fn run(plan: &FilterPlan) -> anyhow::Result<ExitStatus> {
    let started = Instant::now();
    let mut outputs = Outputs::open(plan)?;
    let engine = Engine::new(plan.stream.threads)?;
    let policies = engine.load(&plan.policies, &plan.questions)?;
    let agents = plan.questions.agent_count();
    let classifier = policies.classifier(&plan.questions, Detail::Reason)?;
    let clock = Clock::loaded(started);
    let terminator = plan.stream.terminator;
    let mut counts = Counts::new(agents);
    let mut kept = 0;
    stream::run(
        &plan.stream,
        &plan.questions,
        &classifier,
        |session, chunk, sorted: &mut Sorted| {
            sorted.records.clear();
            sorted.counts = Counts::new(agents);
            filter::write_chunk(
                chunk,
                Records::new(chunk, terminator),
                terminator,
                &plan.selection,
                session,
                &mut sorted.counts,
                &mut sorted.records,
            )?;
            Ok(chunk.len())
        },
        |sorted| {
            counts.merge(&sorted.counts);
            kept += sorted.records.kept_records;
            outputs.write(&sorted.records, plan.printed)
        },
    )?;
    policies.set.is_whole()?;
    if plan.printed == Printed::Count {
        outputs.kept.write(format!("{kept}\n").as_bytes())?;
    }
    outputs.finish()?;
    summary::write(
        &plan.summary,
        &policies,
        &plan.questions,
        counts,
        Some(Filtered { kept }),
        &clock,
    );
    Ok(if plan.tells_emptiness && kept == 0 { ExitStatus::Negative } else { ExitStatus::Done })
}
