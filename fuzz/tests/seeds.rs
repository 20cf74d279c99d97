//! Checks the properties on the seeds, without a fuzzer or a nightly toolchain.

#[path = "../seeds/mod.rs"]
mod seeds;

use std::collections::BTreeSet;
use std::path::Path;

use portcullis_engine::block::StepCounts;
use portcullis_fuzz::decide_counted;
use seeds::Seeds;

fn run(seeds: &BTreeSet<Vec<u8>>, target: fn(&[u8])) {
    assert!(seeds.len() >= 100, "only {} seeds: is the project whole?", seeds.len());
    seeds.iter().for_each(|seed| target(seed));
}

fn seeds() -> Seeds {
    Seeds::of_project(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."))
}

#[test]
fn parse() {
    run(&seeds().parse, portcullis_fuzz::parse);
}

#[test]
fn normalise() {
    run(&seeds().normalise, portcullis_fuzz::normalise);
}

/// The seeds reach each way to answer, so a fuzzer that starts from them does too.
#[test]
fn decide() {
    let seeds = seeds().decide;
    let mut reached = StepCounts::default();
    for seed in &seeds {
        decide_counted(seed, &mut reached);
    }
    println!("{} seeds: {reached:?}", seeds.len());
    let StepCounts { questions, constant, candidates, automata, work, .. } = reached;
    for (way, count) in [
        ("one decision for all paths", constant),
        ("a prefilter alone", questions - constant - candidates - automata),
        ("candidates", candidates),
        ("lazy automata", automata - work.scans),
        ("scans", work.scans),
        ("cleared states", work.clearings),
    ] {
        assert!(count >= 100, "{way}: {count} times by {} seeds", seeds.len());
    }
}

#[test]
fn usage() {
    run(&seeds().usage, portcullis_fuzz::usage);
}

#[test]
fn dictionary() {
    run(&seeds().dictionary, portcullis_fuzz::dictionary);
}

#[test]
fn split() {
    run(&seeds().split, portcullis_fuzz::split);
}
