//! Cases of usage preferences: the oracle, the front door, and sets in memory and stored.

use std::collections::BTreeMap;

use portcullis_dialect::usage::{Label, Preference, Usage};
use portcullis_oracle as oracle;
use portcullis_robots::Robots;
use portcullis_robots::policy::AgentChain;
use portcullis_robots::target::{Origin, split};
use portcullis_set::batch::{Classifier, Session};
use portcullis_set::compile::CompileConfig;
use portcullis_set::{LoadConfig, PolicySet};

use crate::case::{Check, ExpectedUsage};
use crate::common;

/// Returns the usage preferences of a URL: the labels with their values and lines, and the
/// licences.
fn of(usage: &Usage, licenses: Vec<Vec<u8>>) -> ExpectedUsage {
    let stated = Label::ALL.into_iter().map(|label| (label, usage.of(label)));
    let stated = stated.filter(|(_, stated)| stated.preference != Preference::Unstated);
    let entry = |(label, stated): (Label, portcullis_dialect::Stated)| {
        (label.as_str().to_owned(), (stated.preference, stated.line))
    };
    let licenses = licenses.into_iter().map(|it| String::from_utf8(it).unwrap()).collect();
    ExpectedUsage { stated: stated.map(entry).collect(), licenses: Some(licenses) }
}

fn of_oracle(check: &Check) -> ExpectedUsage {
    let agents: Vec<&str> = check.agents.iter().map(String::as_str).collect();
    let Check { dialect, robots, robots_bytes_max, url, .. } = check;
    let (usage, licenses) = oracle::usage(dialect, robots, *robots_bytes_max, &agents, url);
    of(&usage, licenses)
}

fn of_front_door(check: &Check) -> ExpectedUsage {
    let robots = Robots::with_bytes_max(&check.robots, check.dialect, check.robots_bytes_max);
    let usage = robots.agent_chain_usage(&chain(check));
    of(&usage.decide(&check.url), usage.licenses().map(<[u8]>::to_vec).collect())
}

fn chain(check: &Check) -> AgentChain {
    AgentChain::parse(&check.agents.join("+"), check.dialect).unwrap()
}

fn of_set(check: &Check, set: PolicySet) -> ExpectedUsage {
    let classifier = Classifier::new(set, vec![chain(check)]).unwrap();
    let mut session = Session::new(classifier.with_usage(&Label::ALL), None);
    session.classify(&[&check.url]).unwrap();
    let mut stated = BTreeMap::new();
    for (label, preference) in Label::ALL.into_iter().zip(session.preferences()) {
        let at = session.stated_at(0, 0, label as usize).unwrap();
        if *preference != Preference::Unstated {
            stated.insert(label.as_str().to_owned(), (*preference, at.map(|at| at.line)));
        }
    }
    let licenses = session.licenses(0, 0).unwrap();
    let licenses = licenses.map(|it| String::from_utf8(it.unwrap()).unwrap()).collect();
    ExpectedUsage { stated, licenses: Some(licenses) }
}

/// Returns each answer that differs from its case, and the number of comparisons.
pub fn compare(checks: &[Check]) -> (Vec<String>, usize) {
    let mut differences = Vec::new();
    let mut compared = 0;
    for check in checks {
        let Some(expected) = &check.usage else { continue };
        let config = LoadConfig::new(check.dialect);
        let url = split(&check.url, check.dialect.paths.path_start).unwrap();
        let origin = Origin::of_split(&url).ok();
        let stored = CompileConfig::new(check.dialect, check.robots_bytes_max);
        let answers = [
            ("oracle", of_oracle(check)),
            ("front door", of_front_door(check)),
            ("memory", of_set(check, PolicySet::of_text(&check.robots, &config))),
            ("stored", of_set(check, common::stored_set(&[(origin, &check.robots)], &stored))),
        ];
        for (engine, answer) in answers {
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
