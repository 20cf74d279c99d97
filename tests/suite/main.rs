//! Every case of `tests/data` through every engine of `tests/suite/engines.rs`; the page of cases; the cases
//! of the linter; agents in each record; and the facade as a dependent crate uses it.
//!
//! To add a case, add one entry to a case file (see `tests/data/README.md`). The cases include the
//! examples that the documents of the dialects print, which also check the oracle.

mod api;
mod blocks;
mod conformance;
mod crawlers;
mod delay;
mod engines;
mod lint;
mod page;
mod readings;
mod usage;

use std::collections::{BTreeMap, BTreeSet};

use engines::{ENGINES, by_sets, oracle};
use portcullis_dialect::decision::Decision;
use portcullis_dialect::dialect::Dialect;
use portcullis_engine::vectors::Vectors;
use portcullis_testkit::case::{Check, Expected, all_checks, checks_by_file, checks_of};
use portcullis_testkit::files::project;
use portcullis_testkit::{Configuration, Form, World, at_origin, paste};

/// Failures that are printed; a broken engine fails thousands of checks.
const PRINTED_FAILURES_MAX: usize = 20;

#[test]
fn every_engine_gives_the_expected_decision() {
    let mut failures = Vec::new();
    for check in all_checks() {
        let judged = oracle(&check);
        if Expected::of(&judged) != check.expected {
            failures.push(failure("oracle", &check, &judged, &judged));
        }
        for (engine, decide) in ENGINES {
            let decision = decide(&check);
            if decision != judged {
                failures.push(failure(engine, &check, &decision, &judged));
            }
        }
        by_sets(&check, |engine, configuration, decision| {
            let expected = configuration.expected(judged);
            if decision != expected {
                failures.push(failure(engine, &check, &decision, &expected));
            }
        });
    }
    assert!(failures.is_empty(), "{}", shown(&failures));
}

#[test]
fn every_engine_gives_the_expected_usage() {
    let (differences, compared) = usage::compare(&all_checks());
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    assert!(compared > 500, "{compared}");
}

#[test]
fn every_engine_gives_the_expected_delay() {
    let (differences, compared) = delay::compare(&all_checks());
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    assert!(compared > 100, "{compared}");
}

fn shown(failures: &[String]) -> String {
    let first = failures[..failures.len().min(PRINTED_FAILURES_MAX)].join("\n");
    format!("{} wrong answers; the first ones:\n\n{first}", failures.len())
}

#[test]
fn blocks_over_many_files_give_the_expected_decision() {
    let judged = |check: Check| {
        let decision = oracle(&check);
        (check, decision)
    };
    let checks: Vec<(Check, Decision)> = all_checks().into_iter().map(judged).collect();
    let answers = blocks::compare(&checks).whole();
    // Twice with each kind of vectors, for one agent and for all, with three configurations.
    let each = 2 * Vectors::all().len() * 2 * 3;
    // A quarter of the checks need a particular origin, and are only asked one by one.
    let least = (each * checks.len() * 7 / 10) as u64;
    assert!(answers > least, "{answers} answers, {} checks", checks.len());
}

fn failure(engine: &str, check: &Check, decision: &Decision, judged: &Decision) -> String {
    format!(
        "# {engine}: {decision:?}\n# oracle: {judged:?}\n{}",
        paste::entry(check, check.expected)
    )
}

/// Bytes of the longest record of the corpus that is compared: the oracle takes quadratic time.
const COMPARED_BYTES_MAX: usize = 1_000;

/// Compares the oracle and the engine on every file of the sample corpus, with the records that
/// name its host. The right answers are unknown here.
#[test]
fn engines_agree_on_the_sample_corpus() {
    let sample = project("corpora/sample");
    let records = std::fs::read(sample.join("urls.txt")).unwrap();
    let mut compared = 0;
    for dialect in Dialect::ALL {
        let mut world = World::new(dialect, None, &["ExampleBot"]);
        for (file, entry) in std::fs::read_dir(sample.join("robots")).unwrap().enumerate() {
            let path = entry.unwrap().path();
            let host = path.file_name().unwrap().as_encoded_bytes().to_vec();
            let names_host = |record: &&[u8]| {
                record.len() <= COMPARED_BYTES_MAX
                    && record.windows(host.len()).any(|part| part == host)
            };
            let own = records.split(|&byte| byte == b'\n').filter(names_host);
            let moved = own.map(|url| at_origin(url, dialect, file).unwrap_or(url.to_vec()));
            world.add(&std::fs::read(&path).unwrap(), moved);
        }
        world.agrees_by_front_door();
        compared +=
            world.agrees(&world.engine(&world.set(Form::Mapped), &Configuration::default()));
    }
    assert!(compared > 5_000, "only {compared} comparisons: is the corpus whole?");
}

#[test]
fn case_names_are_unique_across_files() {
    let mut file_of = BTreeMap::new();
    for (path, checks) in checks_by_file() {
        let names: BTreeSet<String> = checks.into_iter().map(|check| check.case).collect();
        for name in names {
            if let Some(other) = file_of.insert(name.clone(), path.clone()) {
                panic!("{name}: in {} and in {}", other.display(), path.display());
            }
        }
    }
}

#[test]
fn every_dialect_has_enough_checks() {
    let checks = all_checks();
    for dialect in Dialect::ALL {
        let count = checks.iter().filter(|c| c.dialect == dialect).count();
        assert!(count >= 100, "{}: only {count} checks", dialect.name);
    }
}

#[test]
fn pasted_entries_give_the_same_check() {
    for check in all_checks() {
        if check.robots.len() > 1024 || check.url.len() > 1024 {
            continue;
        }
        let entry = paste::entry(&check, check.expected).replace("why = \"\"", "why = \"pasted\"");
        let entry = entry.replace("point = \"\"", "point = \"urls\"\ngrade = \"choice\"");
        let again = checks_of(&entry).unwrap_or_else(|problem| panic!("{problem}\n{entry}"));
        assert_eq!(again.len(), 1, "{entry}");
        assert_eq!(again[0].robots, check.robots, "{entry}");
        assert_eq!(again[0].robots_url, check.robots_url, "{entry}");
        assert_eq!(again[0].url, check.url, "{entry}");
        assert_eq!(again[0].agents, check.agents, "{entry}");
        assert_eq!(again[0].expected, check.expected, "{entry}");
        assert_eq!(again[0].robots_bytes_max, check.robots_bytes_max);
    }
}

const SOUND: &str = r#"
[[case]]
name = "sound"
dialects = ["rfc9309", "google"]
clause = "none"
why = "a valid case, which the tests below break"
point = "prefix"
robots = "user-agent: *\ndisallow: /"
agent = "A"
checks = [{ url = "https://example.com/", verdict = "disallow", line = 2 }]
"#;

#[test]
fn the_loader_accepts_a_sound_case() {
    assert_eq!(checks_of(SOUND).unwrap().len(), 2);
}

#[test]
fn the_loader_rejects_invalid_cases() {
    let broken = [
        ("agent =", "agnet =", "unknown field"),
        ("url =", "ulr =", "unknown field"),
        ("line = 2", "line = 0", "needs `reason`"),
        ("line = 2", "line = 2, reason = \"no-rule\"", "only if"),
        ("line = 2", "reason = \"because\"", "no reason is named"),
        ("line = 2", "line = 2, dialects = [\"rfc9309\"]", "no check for dialect"),
        ("line = 2", "line = 2, dialects = [\"draft2019\"]", "does not list"),
        ("\"disallow\"", "\"perhaps\"", "no verdict is named"),
        ("\"google\"", "\"gogle\"", "no dialect is named"),
        (
            "checks = [{ url = \"https://example.com/\", verdict = \"disallow\", line = 2 }]",
            "",
            "checks nothing",
        ),
        (
            "checks = [{ url = \"https://example.com/\", verdict = \"disallow\", line = 2 }]",
            "checks = []",
            "must not be empty",
        ),
        ("clause = \"none\"", "clause = \"\"", "`clause` is empty"),
        ("clause = \"none\"", "clause = \"our choice\"", "grade = \"choice\""),
        ("point = \"prefix\"", "point = \"none\"", "no point is named"),
        ("point = \"prefix\"", "", "missing field `point`"),
        ("agent = \"A\"", "", "no `agent`"),
        ("robots =", "robots_base64 =", "symbol"),
        ("robots =", "robots_base64 = \"\"\nrobots =", "one of `robots`"),
        ("agent =", "verdict = \"allow\"\nagent =", "next to a check"),
    ];
    for (from, to, message) in broken {
        let text = SOUND.replacen(from, to, 1);
        assert_ne!(text, SOUND, "{from} is not in the sound case");
        let problem = checks_of(&text).expect_err(to).to_lowercase();
        assert!(problem.contains(message), "{to}: {problem}");
    }
    let twice = checks_of(&format!("{SOUND}{SOUND}")).unwrap_err();
    assert!(twice.contains("a second case"), "{twice}");
}
