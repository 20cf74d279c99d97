//! Checks that the conformance page is up to date, and a decision that no case can show.

use std::collections::BTreeSet;

use portcullis_dialect::dialect::Dialect;
use portcullis_robots::Robots;
use portcullis_robots::policy::Crawler;
use portcullis_testkit::case::all_checks;
use portcullis_testkit::files::{assert_stored, project};
use portcullis_testkit::points::POINTS;
use portcullis_testkit::suite::{answers, suite_json};
use serde_json::Value;

use crate::page;

/// `WRITE=1` writes it.
#[test]
fn the_suite_of_the_bench_is_up_to_date() {
    assert_stored(&project("crates/bench/src/suite.json"), &suite_json());
}

#[test]
fn answers_to_the_request_for_robots_txt_are_as_the_suite_says() {
    let mut names = BTreeSet::new();
    for answer in answers() {
        assert!(names.insert(answer.name.clone()), "{}: twice", answer.name);
        assert!(POINTS.iter().any(|(name, _)| *name == answer.point), "{}", answer.name);
        for name in &answer.dialects {
            let dialect = Dialect::by_name(name).unwrap();
            assert!(answer.redirects <= dialect.access.redirects_max, "{}", answer.name);
            let robots = Robots::from_response_as(answer.status, answer.body(), dialect);
            let verdict = robots.agent("ExampleBot").decide("https://a.example/x").verdict;
            assert_eq!(verdict.as_str(), answer.verdict, "{} {name}", answer.name);
        }
    }
    assert!(names.len() >= 10);
}

#[test]
fn sitemaps_are_as_the_suite_says() {
    let mut asked = 0;
    for check in all_checks() {
        let Some(expected) = &check.sitemaps else { continue };
        let robots = Robots::parse_as(&check.robots, check.dialect);
        let found: Vec<_> = robots.sitemaps().collect();
        assert_eq!(&found, expected, "{}", check.case);
        asked += 1;
    }
    assert!(asked >= 3);
}

/// Checks the keys and the types of a value by the parts of JSON Schema that ours uses.
fn check_schema(value: &Value, schema: &Value, root: &Value, place: &str) {
    let known = [
        "$schema",
        "title",
        "description",
        "$defs",
        "$ref",
        "type",
        "enum",
        "const",
        "required",
        "properties",
        "additionalProperties",
        "items",
        "minItems",
        "minimum",
        "oneOf",
    ];
    let keys = schema.as_object().unwrap().keys();
    keys.for_each(|key| assert!(known.contains(&key.as_str()), "{place}: {key} is not checked"));
    if let Some(target) = schema.get("$ref") {
        let target = root.pointer(target.as_str().unwrap().trim_start_matches('#')).unwrap();
        check_schema(value, target, root, place);
    }
    let is = |name: &Value| match name.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_u64(),
        "null" => value.is_null(),
        other => panic!("{other}"),
    };
    if let Some(types) = schema.get("type") {
        let types = types.as_array().cloned().unwrap_or_else(|| vec![types.clone()]);
        assert!(types.iter().any(is), "{place}: {value}");
    }
    let words = schema.get("enum").and_then(Value::as_array);
    assert!(words.is_none_or(|words| words.contains(value)), "{place}: {value}");
    assert!(schema.get("const").is_none_or(|it| it == value), "{place}: {value}");
    let has = |schema: &Value| {
        let mut names = schema["required"].as_array().into_iter().flatten();
        names.all(|name| value.get(name.as_str().unwrap()).is_some())
    };
    assert!(has(schema), "{place}: a member is missing: {value}");
    if let Some(forms) = schema.get("oneOf").and_then(Value::as_array) {
        assert_eq!(forms.iter().filter(|it| has(it)).count(), 1, "{place}: {value}");
    }
    for (name, inner) in value.as_object().into_iter().flatten() {
        match schema.get("properties").and_then(|it| it.get(name)) {
            Some(schema) => check_schema(inner, schema, root, &format!("{place}/{name}")),
            None => assert_ne!(
                schema.get("additionalProperties"),
                Some(&Value::Bool(false)),
                "{place}/{name}"
            ),
        }
    }
    if let Some(items) = value.as_array() {
        let least = schema.get("minItems").and_then(Value::as_u64).unwrap_or(0);
        assert!(items.len() as u64 >= least, "{place}");
        if let Some(schema) = schema.get("items") {
            items.iter().for_each(|item| check_schema(item, schema, root, place));
        }
    }
}

#[test]
fn the_suite_has_the_form_of_its_schema() {
    let suite: Value = serde_json::from_str(&suite_json()).unwrap();
    check_schema(&suite, &suite["schema"], &suite["schema"], "");
    assert!(suite["cases"].as_array().unwrap().len() > 250);
}

#[test]
fn the_page_is_up_to_date() {
    let root = project("");
    let made = page::page(&root).unwrap_or_else(|problem| panic!("{problem}"));
    assert_stored(&root.join(page::PAGE), &made);
}

/// A case cannot show which agents are rejected.
#[test]
fn each_dialect_takes_its_own_tokens() {
    let rows: [(&str, [bool; 5]); 7] = [
        ("ExampleBot", [true; 5]),
        ("Example-Bot_x", [true; 5]),
        ("MJ12bot", [true, true, true, true, false]),
        ("archive.org_bot", [true, true, true, true, false]),
        ("five*star", [true, true, false, false, false]),
        ("ExampleBot/1.0", [true, false, false, false, false]),
        ("", [false; 5]),
    ];
    for (agent, taken) in rows {
        for (dialect, taken) in Dialect::ALL.into_iter().zip(taken) {
            let chain = Crawler::parse(agent, dialect);
            assert_eq!(chain.is_ok(), taken, "{} {agent:?}", dialect.name);
        }
    }
}
