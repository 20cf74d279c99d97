//! Cases of usage preferences: the oracle, the front door, and sets in memory and stored.

use portcullis_dialect::usage::{Label, Preference, Stated};
use portcullis_oracle as oracle;
use portcullis_robots::Robots;
use portcullis_testkit::{Configuration, Engine};

use crate::engines::{chain, sets};
use portcullis_testkit::case::{Check, ExpectedUsage};

/// Returns the usage preferences of a URL as a case has them: the labels with their values and
/// lines, and the licences.
fn of(stated: impl Fn(Label) -> Stated, licenses: Vec<Vec<u8>>) -> ExpectedUsage {
    let stated = Label::ALL.map(|label| (label, stated(label)));
    let stated = stated.into_iter().filter(|(_, it)| it.preference != Preference::Unstated);
    let stated =
        stated.map(|(label, it)| (label.as_str().to_owned(), (it.preference, it.line))).collect();
    let licenses = licenses.into_iter().map(|it| String::from_utf8(it).unwrap()).collect();
    ExpectedUsage { stated, licenses: Some(licenses) }
}

/// Returns the answer of each engine.
fn answers(check: &Check) -> Vec<(&'static str, ExpectedUsage)> {
    let Check { dialect, robots, robots_bytes_max, url, .. } = check;
    let names: Vec<&str> = check.agents.iter().map(String::as_str).collect();
    let (judged, licences) = oracle::usage(dialect, robots, *robots_bytes_max, &names, url);
    let file = Robots::with_bytes_max(robots, dialect, *robots_bytes_max);
    let usage = file.agent_usage(&chain(check));
    let (decided, own) = (usage.decide(url), usage.licenses().map(<[u8]>::to_vec).collect());
    let by_set = |(name, set)| {
        let engine = Engine::new(set, &[chain(check)], &Configuration::default());
        let engine = engine.with_usage(&Label::ALL);
        let mut memory = engine.memory();
        let given = engine.ask(&[url], &mut memory);
        (name, of(|label| given.stated(0, label as usize), given.licences(0)))
    };
    let alone = [
        ("oracle", of(|label| judged.of(label), licences)),
        ("front door", of(|label| decided.of(label), own)),
    ];
    alone.into_iter().chain(sets(check).map(by_set)).collect()
}

/// Returns each answer that differs from its case, and the number of comparisons.
pub fn compare(checks: &[Check]) -> (Vec<String>, usize) {
    let mut differences = Vec::new();
    let mut compared = 0;
    for check in checks {
        let Some(expected) = &check.usage else { continue };
        for (engine, answer) in answers(check) {
            compared += 1;
            let licenses =
                expected.licenses.as_ref().is_none_or(|it| Some(it) == answer.licenses.as_ref());
            if answer.stated != expected.stated || !licenses {
                let (case, dialect) = (&check.case, check.dialect.name);
                let url = String::from_utf8_lossy(&check.url);
                differences.push(format!(
                    "{case} {dialect} {url}: {engine} {answer:?}, expected {expected:?}"
                ));
            }
        }
    }
    (differences, compared)
}
