//! `portcullis audit`: what robots.txt does to a list of URLs, as a report.

use std::time::Instant;

use portcullis_audit::{Audit, ChunkFindings, Findings, Report, page};
use portcullis_capture::input::Records;

use super::engine::Engine;
use super::exit::ExitStatus;
use super::output::{Destination, Output, OutputFailed};
use super::plan::{AuditPlan, PolicyPlan};
use super::stream;
use super::summary::{self, Clock};

pub fn run(plan: &AuditPlan) -> anyhow::Result<ExitStatus> {
    let started = Instant::now();
    let outputs = Outputs::open(plan)?;
    let engine = Engine::new(plan.stream.threads)?;
    let policies = engine.load(&plan.policies, &plan.questions)?;
    policies.agents.show(plan.summary.form);
    let agents = plan.questions.agents(policies.set.dialect())?;
    let audit = engine.install(|| Audit::new(&policies.set, agents))?;
    let audit = audit.with_automata_bytes_max(plan.questions.automata_bytes_max);
    let clock = Clock::loaded(started);
    let mut findings = Findings::default();
    let assumed_scheme = plan.questions.assumed_scheme.as_deref();
    stream::run_with(
        &plan.stream,
        || audit.worker(assumed_scheme),
        |worker, chunk, found: &mut ChunkFindings| {
            worker.work(Records::new(chunk, plan.stream.terminator), found)?;
            Ok(chunk.len())
        },
        |found| {
            findings.add(&audit, found);
            Ok(())
        },
    )?;
    let mut report = engine.install(|| audit.report(&findings, plan.top))?;
    policies.set.is_whole()?;
    name_sources(plan, &mut report);
    outputs.write(&report)?;
    let counts = audit.counts();
    summary::write(&plan.summary, &policies, &plan.questions, counts, None, &clock);
    Ok(ExitStatus::Done)
}

fn name_sources(plan: &AuditPlan, report: &mut Report) {
    report.source.name = plan.policies_name();
    if matches!(&plan.policies, PolicyPlan::Robots { path, .. } if path.is_dir()) {
        report.source.kind = "folder";
    }
    report.inputs = plan.stream.inputs.iter().map(|path| path.display().to_string()).collect();
}

/// The outputs. They are opened first, so that a wrong name fails before the pass over the list.
struct Outputs {
    page: Option<Output>,
    json: Option<Output>,
}

impl Outputs {
    fn open(plan: &AuditPlan) -> Result<Outputs, OutputFailed> {
        let open =
            |destination: &Option<Destination>| destination.as_ref().map(Output::open).transpose();
        Ok(Outputs { page: open(&plan.page)?, json: open(&plan.json)? })
    }

    fn write(self, report: &Report) -> Result<(), OutputFailed> {
        let Outputs { mut page, mut json } = self;
        if let Some(output) = &mut page {
            output.write(page::page(report).as_bytes())?;
        }
        if let Some(output) = &mut json {
            output.write(report.to_json().as_bytes())?;
        }
        Output::finish_all([page, json].into_iter().flatten())
    }
}
