//! Checks the properties on the seeds, without a fuzzer or a nightly toolchain.

#[path = "../seeds/mod.rs"]
mod seeds;

use std::collections::BTreeSet;
use std::path::Path;

use portcullis_engine::StepCounts;
use seeds::Seeds;

use super::{decide_counted, sitemap_compared};

fn seeds(target: &str) -> BTreeSet<Vec<u8>> {
    let mut all = Seeds::from_project(&Path::new(env!("CARGO_MANIFEST_DIR")).join("..")).0;
    let seeds = all.remove(target).unwrap_or_default();
    assert!(seeds.len() >= 100, "only {} seeds: is the project whole?", seeds.len());
    seeds
}

macro_rules! run {
    ($($target:ident)*) => {$(
        #[test]
        fn $target() {
            seeds(stringify!($target)).iter().for_each(|seed| crate::$target(seed));
        }
    )*};
}

run!(parse normalise dictionary split);

/// One seed in this many is decided by every strategy and kind of set; the suite has all that the seeds
/// are made of.
const DECIDED_ONE_IN: usize = 3;

#[test]
fn usage() {
    seeds("usage").iter().step_by(DECIDED_ONE_IN).for_each(|seed| crate::usage(seed));
}

/// Both parsers read enough of the sitemaps to their end.
#[test]
fn sitemap() {
    let seeds = seeds("sitemap");
    let compared = seeds.iter().filter(|seed| sitemap_compared(seed)).count();
    assert!(compared >= 100, "{compared} of {} seeds", seeds.len());
}

/// The seeds reach each way to answer, so a fuzzer that starts from them does too.
#[test]
fn decide() {
    let seeds = seeds("decide");
    let mut reached = StepCounts::default();
    for seed in seeds.iter().step_by(DECIDED_ONE_IN) {
        decide_counted(seed, &mut reached);
    }
    println!("{} seeds: {reached:?}", seeds.len());
    let StepCounts { queries, constant, candidates, automata, work, .. } = reached;
    // An automaton that is alone is kept, so few seeds clear any.
    assert!(work.clearings > 0, "no states were cleared");
    for (way, count) in [
        ("one decision for all paths", constant),
        ("a prefilter alone", queries - constant - candidates - automata),
        ("candidates", candidates),
        ("lazy automata", automata - work.scans),
        ("scans", work.scans),
    ] {
        assert!(count >= 100, "{way}: {count} times by {} seeds", seeds.len());
    }
}
