//! `portcullis merge`: several policy sets to one.

use std::sync::atomic::Ordering;
use std::time::Instant;

use anyhow::ensure;
use portcullis::set::{Gathered, Merger, StoredSet};

use super::compile::summary::MergedSet;
use super::compile::{self, Target};
use super::engine::Engine;
use super::exit::ExitStatus;
use super::mapped;
use super::plan::MergePlan;
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
        robots_octets_max: first.robots_octets_max().map(in_memory),
        summary: plan.summary,
    };
    let of_set = |set: &StoredSet| MergedSet {
        name: set.name().to_owned(),
        set_hash: format!("{:016x}", set.hash()),
        origins: set.counts().origins,
    };
    let of_sets: Vec<MergedSet> = sets.iter().map(of_set).collect();
    compile::write(&target, &of_sets, &merged, &engine, started)
}

/// No file in memory is longer than this tells.
fn in_memory(octets: u64) -> usize {
    usize::try_from(octets).unwrap_or(usize::MAX)
}

/// Opens the sets, which have to be compiled alike, before any of them is read.
fn open(plan: &MergePlan) -> anyhow::Result<Vec<StoredSet>> {
    let sets = plan.sets.iter().map(|path| mapped::set(path)).collect::<Result<Vec<_>, _>>()?;
    for set in &sets[1..] {
        compare(&sets[0], set)?;
    }
    Ok(sets)
}

/// What was compiled differently would mean something else in one set.
fn compare(first: &StoredSet, other: &StoredSet) -> anyhow::Result<()> {
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
    let sizes = [first, other].map(StoredSet::robots_octets_max);
    let size = |octets: Option<u64>| octets.map_or("unlimited".to_owned(), |it| it.to_string());
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
fn merge(plan: &MergePlan, sets: &[StoredSet], engine: &Engine) -> anyhow::Result<Gathered> {
    let progress = Progress::over(&plan.sets, plan.progress);
    let mut bar = Bar::default();
    let mut merger = Merger::default();
    for set in sets {
        let standings = set.standings()?;
        set.is_whole()?;
        merger.add(standings.part());
        progress.octets_done().fetch_add(set.octets(), Ordering::Relaxed);
        progress.draw(&mut bar);
    }
    Ok(engine.install(|| merger.finish()))
}
