//! Tests of the suite: our engines conform to every dialect, and matchers that do not decide never pass.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use portcullis_dialect::dialect::{Dialect, RFC_9309};

use serde_json::Value;

use super::conform_report::{Conformance, Verdict};
use super::*;

fn asked(dialect: &'static Dialect, choice: &Choice) -> Suites {
    let mut suite = Suite::read(None).unwrap();
    if !choice.runners.is_empty() {
        // A shell is slow.
        suite.cases.retain(|case| ["longest-match", "merging"].contains(&&*case.point));
    }
    conform(&suite, dialect, (choice, |_| Vec::new()), &|_| ()).unwrap()
}

#[cfg(unix)]
fn runner(mode: &str) -> Choice {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/bench/runner.sh");
    let command: RunnerCommand = format!("{mode}=sh {script} {mode}").parse().unwrap();
    let patience = Duration::from_millis(if mode == "hang" { 500 } else { 100_000 });
    Choice { runners: vec![command.within(patience)], engines: Vec::new() }
}

#[test]
fn our_engines_conform_to_every_dialect() {
    for dialect in Dialect::ALL {
        let found = asked(dialect, &Choice::default());
        assert_eq!(found.engines.len(), 6);
        assert!(!found.has_fault(), "{}", found.to_markdown());
        for engine in &found.engines {
            let points = engine.points.iter();
            let differing = points.clone().filter(|it| it.differing + it.unanswered > 0).count();
            assert_eq!(differing, 0, "{}: {}", engine.name, found.to_markdown());
            let asked: usize = points.map(|it| it.asked).sum();
            assert!(asked > 100, "{}, {}: {asked}", engine.name, dialect.name);
        }
    }
}

#[test]
fn the_engine_for_one_file_tells_lines_delays_sitemaps_and_statuses() {
    let choice = Choice { engines: vec!["portcullis-file".to_owned()], ..Choice::default() };
    let found = asked(&RFC_9309, &choice);
    for name in ["lines", "delay", "sitemaps", "statuses", "redirects"] {
        let point = found.engines[0].points.iter().find(|it| it.name == name).unwrap();
        assert_eq!(point.status, PointStatus::AsDialect, "{point:?}");
    }
}

#[cfg(unix)]
/// Each is a result with its reason.
#[test]
fn matchers_that_do_not_decide_never_pass() {
    for (mode, words) in [
        ("allow", "**differs**"),
        ("disallow", "**differs**"),
        ("change", "**failed**"),
        ("refuse", "**failed**"),
        ("crash", "**failed**"),
        ("hang", "**failed**"),
        ("short", "**failed**"),
        ("babble", "**failed**"),
    ] {
        let found = asked(&RFC_9309, &runner(mode));
        assert!(found.has_fault(), "{mode}");
        let text = found.to_markdown();
        assert!(text.contains(words), "{mode}: {text}");
        let given = found.engines[0].points.iter().find_map(|it| it.example.as_ref()).unwrap();
        let reason = match mode {
            "allow" => "allow",
            "disallow" => "disallow",
            "change" => "another answer when asked again",
            "refuse" => "no answer",
            "crash" => "the runner ended before it had answered",
            "hang" => "the runner did not answer within 0.5 s",
            "short" => "answers to",
            _ => "the protocol does not allow",
        };
        assert!(given.given.contains(reason), "{mode}: {}", given.given);
        assert!(found.to_junit().contains("<failure message="), "{mode}");
    }
}

#[cfg(unix)]
#[test]
fn a_matcher_that_answers_at_random_never_passes() {
    let found = asked(&RFC_9309, &runner("random"));
    assert!(found.has_fault());
    // Of 43 questions some get another answer when they are asked again.
    assert!(found.to_markdown().contains("without an answer"), "{}", found.to_markdown());
}

#[cfg(unix)]
#[test]
fn a_matcher_to_which_no_question_can_be_put_never_passes() {
    let found = asked(&RFC_9309, &runner("unput"));
    assert!(found.engines[0].points.iter().all(|it| it.asked == 0), "{}", found.to_markdown());
    assert_eq!(found.engines[0].status, Verdict::Failed);
    assert!(found.has_fault());
    assert!(found.to_junit().contains("<failure message=\"it answered nothing\"/>"));
}

#[test]
fn a_crash_on_a_file_of_our_choice_never_passes() {
    let choice = Choice { engines: vec!["portcullis-file".to_owned()], ..Choice::default() };
    let mut found = asked(&RFC_9309, &choice);
    let engine = found.engines.pop().unwrap();
    found.engines = vec![Conformance { failures: 1, ..engine }.settled()];
    assert!(found.has_fault());
    assert!(found.to_markdown().contains("; it crashed or hung on 1 files"));
    assert!(found.to_junit().contains("<failure message=\"it crashed or hung on 1 files\"/>"));
}

#[cfg(unix)]
#[test]
fn the_smallest_file_of_a_required_answer_is_shown() {
    let found = asked(&RFC_9309, &runner("allow"));
    let point = found.engines[0].points.iter().find(|it| it.name == "longest-match").unwrap();
    assert_eq!(point.status, PointStatus::Differs);
    assert_eq!((point.opening, point.closing), (point.differing, 0));
    let example = point.example.as_ref().unwrap();
    assert_eq!((&example.expected[..], &example.given[..]), ("disallow", "allow"));
    let json: Value = serde_json::from_str(&found.to_json()).unwrap();
    let first = &json["engines"][0];
    assert_eq!(first["status"], "differs");
    assert_eq!(first["points"][0]["status"], "not-asked");
    assert!(found.to_junit().starts_with("<?xml"));
}

/// Adds the paths of all members.
#[cfg(unix)]
fn members(value: &Value, path: &str, all: &mut BTreeSet<String>) {
    value.as_array().into_iter().flatten().for_each(|it| members(it, path, all));
    for (name, inner) in value.as_object().into_iter().flatten() {
        let path = format!("{path}.{name}").trim_start_matches('.').to_owned();
        members(inner, &path, all);
        all.insert(path);
    }
}

#[cfg(unix)]
#[test]
fn the_json_is_as_documented() {
    let found = asked(&RFC_9309, &runner("allow"));
    let mut printed = BTreeSet::new();
    members(&serde_json::from_str(&found.to_json()).unwrap(), "", &mut printed);
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/json.md");
    let page = std::fs::read_to_string(page).unwrap();
    let section = page.split("## conformance").nth(1).unwrap().split("\n## ").next().unwrap();
    let names = section.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    assert_eq!(names.map(str::to_owned).collect::<BTreeSet<_>>(), printed);
}

#[test]
fn a_suite_is_read_from_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("suite.json");
    std::fs::write(&path, SUITE_JSON).unwrap();
    assert!(Suite::read(Some(&path)).unwrap().cases.len() > 200);
    for (text, why) in [
        ("{}".to_owned(), "not a suite"),
        (SUITE_JSON.replacen("\"format\":1", "\"format\":9", 1), "format 9; this version reads 1"),
    ] {
        std::fs::write(&path, text).unwrap();
        let error = format!("{:#}", Suite::read(Some(&path)).unwrap_err());
        assert!(error.contains(why), "{error}");
    }
    let error = Suite::read(Some(Path::new("nope"))).unwrap_err();
    assert!(format!("{error:#}").contains("nope: cannot be read"));
}
