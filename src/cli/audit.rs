//! `portcullis audit`: what robots.txt does to a list of URLs, as a report.

use std::sync::Arc;
use std::time::Instant;

use anyhow::Context;
use portcullis::audit::{Audit, OtherKind, OtherSide, Report, Told, page};
use portcullis::input::Records;
use portcullis::set::{LoadConfig, PolicySet, Strictness};

use super::engine::Engine;
use super::exit::ExitStatus;
use super::mapped;
use super::output::{Destination, Output, OutputFailed};
use super::plan::{AuditPlan, PolicyPlan};
use super::stream;
use super::summary::{self, Clock};

pub fn run(plan: &AuditPlan) -> anyhow::Result<ExitStatus> {
    let started = Instant::now();
    let outputs = Outputs::open(plan)?;
    let engine = Engine::new(plan.stream.threads)?;
    let policies = engine.load(&plan.policies, &plan.questions)?;
    let others = others(plan, &engine)?;
    let sets: Vec<Arc<PolicySet>> = others.iter().map(|it| Arc::clone(&it.set)).collect();
    let agents = plan.questions.agents(policies.set.dialect())?;
    let audit = engine.install(|| Audit::new(&policies.set, agents, others))?;
    let audit = audit.with_automata_bytes_max(plan.questions.automata_bytes_max);
    let clock = Clock::loaded(started);
    let mut findings = audit.findings();
    let assumed_scheme = plan.questions.assumed_scheme.as_deref();
    stream::run_with(
        &plan.stream,
        || audit.worker(assumed_scheme),
        |worker, chunk, told: &mut Told| {
            worker.work(Records::new(chunk, plan.stream.terminator), told)?;
            Ok(chunk.len())
        },
        |told| {
            findings.add(&audit, told);
            Ok(())
        },
    )?;
    let mut report = engine.install(|| audit.report(&findings, plan.top))?;
    policies.set.is_whole()?;
    sets.iter().try_for_each(|set| set.is_whole())?;
    name_sources(plan, &mut report);
    outputs.write(&report)?;
    let counts = audit.counts();
    summary::write(&plan.summary, &policies, &plan.questions, counts, None, &clock);
    Ok(ExitStatus::Done)
}

fn name_sources(plan: &AuditPlan, report: &mut Report) {
    report.source.name = plan.policies_name();
    if matches!(&plan.policies, PolicyPlan::Robots { path, .. } if path.is_dir()) {
        "folder".clone_into(&mut report.source.kind);
    }
    report.inputs = plan.stream.inputs.iter().map(|path| path.display().to_string()).collect();
}

/// What the policies are compared with: the same files for other dialects, then other sets.
fn others(plan: &AuditPlan, engine: &Engine) -> anyhow::Result<Vec<OtherSide>> {
    let agents = |name: &str, dialect| {
        let agents = plan.questions.agents(dialect);
        agents.with_context(|| format!("cannot compare with {name}"))
    };
    let mut sides = Vec::new();
    if let PolicyPlan::Robots { path, bytes_max, .. } = &plan.policies {
        for dialect in &plan.compare_dialects {
            let name = dialect.name.to_owned();
            let agents = agents(&name, dialect)?;
            let config = LoadConfig {
                robots_bytes_max: *bytes_max,
                agents: Some(agents.clone().into()),
                // What is wrong with the files was said when they were loaded.
                strictness: Strictness::Lenient,
                ..LoadConfig::new(dialect)
            };
            let set = engine.install(|| PolicySet::load(path, &config))?.set.into();
            sides.push(OtherSide { kind: OtherKind::Dialect, name, set, agents });
        }
    }
    for path in &plan.compare_sets {
        let set = mapped::set(path)?;
        let name = path.display().to_string();
        let agents = agents(&name, set.dialect())?;
        sides.push(OtherSide { kind: OtherKind::Set, name, set: set.into(), agents });
    }
    Ok(sides)
}

/// Where the report goes. Outputs are opened first: a wrong name is told before minutes are spent.
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
