//! Whether the made-up corpus shares between its files what the web's files share: it decides how
//! large a policy set becomes. The expected numbers were counted by `examples/corpus_facts` over
//! 32,711 real files, and over the one in eight of them that a hash of the name chose.

#[path = "../examples/corpus_facts/facts.rs"]
mod facts;

use facts::{CorpusFacts, Fact};
use portcullis::synth::Corpus;

fn facts_of(seed: u64, hosts: u64) -> Vec<Fact> {
    let corpus = Corpus::new(seed, hosts);
    let mut facts = CorpusFacts::default();
    let mut text = Vec::new();
    for host in 0..hosts {
        text.clear();
        corpus.write_robots(host, &mut text);
        facts.add(&text);
    }
    facts.facts()
}

/// Asserts that every number is at most so many in a hundred of the measured one away from it.
#[track_caller]
fn assert_near(facts: &[Fact], measured: &[Fact], percent: u64) {
    let mut far = Vec::new();
    for &(name, expected) in measured {
        let fact = facts.iter().find(|fact| fact.0 == name);
        let &(_, found) = fact.unwrap_or_else(|| panic!("{name}: no such fact"));
        if found.abs_diff(expected) * 100 > expected * percent {
            far.push(format!("{name}: {found}, measured {expected}"));
        }
    }
    assert!(far.is_empty(), "more than {percent} % away:\n{}", far.join("\n"));
}

#[test]
fn as_many_hosts_as_were_measured_share_as_much() {
    let facts = facts_of(1, 32_711);
    let measured = [
        ("bytes", 49_558_808),
        ("texts", 16_086),
        ("bytes of texts", 27_907_355),
        ("lists", 9_104),
        ("records of lists", 482_385),
        ("record strings", 221_025),
        ("bytes of strings", 10_315_861),
        ("tokens", 3_337),
        ("pairs of list and token", 52_430),
        ("rule sets", 9_417),
        ("patterns of rule sets", 342_205),
        ("bytes of patterns", 10_422_486),
        ("other records", 35_297),
        ("files, half", 495),
        ("files, 90 %", 2_071),
        ("files, 99 %", 17_700),
        ("groups per file, half", 1),
        ("groups per file, 90 %", 9),
        ("rules for * in a file, half", 6),
        ("rules for * in a file, 90 %", 44),
        ("rules per group, half", 1),
        ("rules per group, 99 %", 108),
        ("patterns per rule set, half", 10),
        ("patterns per rule set, 90 %", 63),
        ("patterns per rule set, 99 %", 383),
        ("files that equal another, of 10,000", 5_633),
        ("files of the most frequent text", 6_588),
        ("files with CR, of 10,000", 2_023),
        ("rules that allow, of 10,000", 725),
        ("rules with one star, of 10,000", 1_637),
        ("rules with $, of 10,000", 303),
    ];
    assert_near(&facts, &measured, 25);
    // Popular sites have 400; the corpus is meant to lie between them and all.
    assert_near(&facts, &[("rules with more stars, of 10,000", 764)], 35);
    assert_near(&facts, &[("files with a byte order mark, of 10,000", 153)], 35);
}

/// What is shared grows with the number of hosts as it does on the web.
#[test]
fn fewer_hosts_share_less() {
    let measured = [
        ("bytes", 6_402_686),
        ("texts", 2_387),
        ("lists", 1_560),
        ("records of lists", 91_478),
        ("record strings", 45_551),
        ("pairs of list and token", 10_831),
        ("rule sets", 1_660),
        ("patterns of rule sets", 62_548),
        ("other records", 5_808),
        ("files that equal another, of 10,000", 4_551),
    ];
    // One long file more or less shows among so few.
    assert_near(&facts_of(1, 4_087), &measured, 30);
}
