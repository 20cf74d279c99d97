//! The seeds themselves keep what every input has to keep: no fuzzer and no nightly is needed.

#[path = "../seeds/mod.rs"]
mod seeds;

use std::collections::BTreeSet;
use std::path::Path;

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

#[test]
fn decide() {
    run(&seeds().decide, portcullis_fuzz::decide);
}

#[test]
fn split() {
    run(&seeds().split, portcullis_fuzz::split);
}
