//! `portcullis audit`: what robots.txt does to a list of URLs, as a report.

use std::time::Instant;

use anyhow::Context;
use portcullis::audit::{Audit, OtherKind, OtherSide, Report, Source, Told, page};
use portcullis::input::Records;
use portcullis::set::{PolicySet, StoredSet};

use super::engine::{Engine, Policies};
use super::exit::ExitStatus;
use super::mapped;
use super::output::{Destination, Output, OutputFailed};
use super::plan::AuditPlan;
use super::stream;
use super::summary::{self, Clock};

pub fn run(plan: &AuditPlan) -> anyhow::Result<ExitStatus> {
    let started = Instant::now();
    let outputs = Outputs::open(plan)?;
    let engine = Engine::new(plan.stream.threads)?;
    let policies = engine.load(&plan.policies)?;
    let others = Others::load(plan, &policies)?;
    let agents = plan.questions.agents(policies.dialect())?;
    let sides = others.sides(plan)?;
    let audit = engine.install(|| Audit::new(source(&policies), agents, sides))?;
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
    policies.is_whole()?;
    others.are_whole()?;
    name_sources(plan, &mut report);
    outputs.write(&report)?;
    let counts = audit.counts();
    let classifier = audit.classifier();
    summary::write(&plan.summary, &policies, classifier, &plan.questions, counts, None, &clock);
    Ok(ExitStatus::Done)
}

fn source(policies: &Policies) -> Source<'_> {
    match policies {
        Policies::Loaded(set) => Source::Loaded(set),
        Policies::Stored(set) => Source::Stored(set),
    }
}

fn name_sources(plan: &AuditPlan, report: &mut Report) {
    report.source.name = plan.policies_name();
    report.inputs = plan.stream.inputs.iter().map(|path| path.display().to_string()).collect();
}

/// What the policies are compared with.
struct Others {
    /// The same files, each for another dialect.
    dialects: Vec<PolicySet>,
    sets: Vec<StoredSet>,
}

impl Others {
    fn load(plan: &AuditPlan, policies: &Policies) -> anyhow::Result<Others> {
        let dialects = match policies {
            Policies::Loaded(set) => {
                plan.compare_dialects.iter().map(|dialect| set.in_dialect(dialect)).collect()
            }
            Policies::Stored(_) => Vec::new(),
        };
        let sets = plan.compare_sets.iter().map(|path| mapped::set(path));
        Ok(Others { dialects, sets: sets.collect::<Result<_, _>>()? })
    }

    /// The sides, dialects first.
    fn sides(&self, plan: &AuditPlan) -> anyhow::Result<Vec<OtherSide<'_>>> {
        let side = |kind, name: String, source: Source<'_>| {
            let agents = plan.questions.agents(source.dialect());
            agents
                .with_context(|| format!("cannot compare with {name}"))
                .map(|agents| (kind, name, agents))
        };
        let mut sides = Vec::new();
        let dialects = self
            .dialects
            .iter()
            .map(|set| (OtherKind::Dialect, set.dialect().name.to_owned(), Source::Loaded(set)));
        let sets =
            self.sets.iter().zip(&plan.compare_sets).map(|(set, path)| {
                (OtherKind::Set, path.display().to_string(), Source::Stored(set))
            });
        for (kind, name, source) in dialects.chain(sets) {
            let (kind, name, agents) = side(kind, name, source)?;
            sides.push(OtherSide { kind, name, source, agents });
        }
        Ok(sides)
    }

    /// Whether what was answered can be relied on.
    fn are_whole(&self) -> anyhow::Result<()> {
        Ok(self.sets.iter().try_for_each(StoredSet::is_whole)?)
    }
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
