//! `portcullis merge`: several policy sets to one.

use std::sync::atomic::Ordering;
use std::time::Instant;

use anyhow::ensure;
use portcullis::set::{Ingested, Merger, OutageConfig, PolicySet};

use super::compile::summary::MergedSet;
use super::compile::{self, Target};
use super::engine::Engine;
use super::exit::ExitStatus;
use super::mapped;
use super::plan::{self, MergePlan};
use super::progress::{Bar, Progress};

pub fn run(plan: &MergePlan) -> anyhow::Result<ExitStatus> {
    let started = Instant::now();
    compile::check_folder_of(&plan.output)?;
    let sets = open(plan)?;
    let engine = Engine::new(plan.threads)?;
    let merged = merge(plan, &sets, &engine)?;
    let first = &sets[0];
    let target = Target {
        output: &plan.output,
        dialect: first.dialect(),
        robots_bytes_max: first.robots_bytes_max().map(in_memory),
        summary: plan.summary,
    };
    let of_set = |set: &PolicySet| MergedSet {
        name: set.name().to_owned(),
        set_hash: format!("{:016x}", set.hash()),
        origins: set.counts().origins,
    };
    let of_sets: Vec<MergedSet> = sets.iter().map(of_set).collect();
    compile::write(&target, &of_sets, &merged, &engine, started)
}

/// No file in memory is longer than this tells.
fn in_memory(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

/// Opens the sets, which have to be compiled alike, before any of them is read.
fn open(plan: &MergePlan) -> anyhow::Result<Vec<PolicySet>> {
    let sets = plan.sets.iter().map(|path| mapped::set(path)).collect::<Result<Vec<_>, _>>()?;
    for set in &sets[1..] {
        compare(&sets[0], set)?;
    }
    plan::long_outage(plan.long_outage, sets[0].dialect())?;
    Ok(sets)
}

/// How outages are judged: as the flags say, else as all sets were compiled.
fn outages(plan: &MergePlan, sets: &[PolicySet]) -> anyhow::Result<OutageConfig> {
    let compiled = sets.iter().map(PolicySet::outages).collect::<Result<Vec<_>, _>>()?;
    for (set, other) in sets.iter().zip(&compiled) {
        let (first, first_name) = (compiled[0], sets[0].name());
        let time = |outages: &OutageConfig| match outages.as_of {
            Some(time) => format!("--as-of {}", time.to_rfc3339()),
            None => "without --as-of".to_owned(),
        };
        ensure!(
            plan.as_of.is_some() || first.as_of == other.as_of,
            "{first_name} was compiled {}, and {} {}: say with --as-of when outages are judged",
            time(&first),
            set.name(),
            time(other)
        );
        ensure!(
            plan.long_outage.is_some() || first.long_outage == other.long_outage,
            "{first_name} was compiled with --long-outage {}, and {} with {}: say with \
             --long-outage what follows a long outage",
            first.long_outage.as_str(),
            set.name(),
            other.long_outage.as_str()
        );
    }
    Ok(OutageConfig {
        as_of: plan.as_of.or(compiled[0].as_of),
        long_outage: plan.long_outage.unwrap_or(compiled[0].long_outage),
    })
}

/// What was compiled differently would mean something else in one set.
fn compare(first: &PolicySet, other: &PolicySet) -> anyhow::Result<()> {
    let dialects = [first, other].map(|set| set.dialect().name);
    ensure!(
        dialects[0] == dialects[1],
        "{} was compiled for the dialect {}, and {} for {}: a set has one dialect, so compile the \
         captures of one of the two again with the other's --dialect",
        first.name(),
        dialects[0],
        other.name(),
        dialects[1]
    );
    let sizes = [first, other].map(PolicySet::robots_bytes_max);
    let size = |bytes: Option<u64>| bytes.map_or("unlimited".to_owned(), |it| it.to_string());
    ensure!(
        sizes[0] == sizes[1],
        "{} was compiled with --max-robots-size {}, and {} with {}: compile the captures of one of \
         the two again with the other's",
        first.name(),
        size(sizes[0]),
        other.name(),
        size(sizes[1])
    );
    Ok(())
}

/// Joins the sets in their order; no more than one of them is in memory beside what came of those
/// before it.
fn merge(plan: &MergePlan, sets: &[PolicySet], engine: &Engine) -> anyhow::Result<Ingested> {
    let progress = Progress::over(&plan.sets, plan.progress);
    let mut bar = Bar::default();
    let outages = outages(plan, sets)?;
    let mut merger = Merger::new(sets[0].dialect());
    for set in sets {
        let standings = set.standings()?;
        set.is_whole()?;
        merger.add(standings.part());
        progress.bytes_done().fetch_add(set.bytes(), Ordering::Relaxed);
        progress.draw(&mut bar);
    }
    Ok(engine.install(|| merger.finish(outages)))
}
