//! Cases of crawl delays: the oracle, the front door, and sets in memory and stored.

use std::sync::Arc;

use portcullis_oracle::Judge;
use portcullis_robots::Robots;
use portcullis_robots::url::Origin;
use portcullis_set::PolicySet;

use crate::engines::{chain, sets};
use portcullis_testkit::case::Check;

/// Returns the delay of each engine in seconds.
fn answers(check: &Check) -> Vec<(&'static str, Option<f64>)> {
    let Check { dialect, robots, robots_bytes_max, .. } = check;
    let names: Vec<&str> = check.agents.iter().map(String::as_str).collect();
    let judge = Judge::new(dialect, robots, *robots_bytes_max, &names);
    let file = Robots::with_bytes_max(robots, dialect, *robots_bytes_max);
    let rules = file.agent(&chain(check));
    let by_set = |(name, set): (&'static str, Arc<PolicySet>)| (name, stored(&set, check));
    [
        ("oracle", judge.crawl_delay().0),
        ("front door", rules.crawl_delay().map(|delay| delay.as_secs_f64())),
    ]
    .into_iter()
    .chain(sets(check).map(by_set))
    .collect()
}

fn stored(set: &PolicySet, check: &Check) -> Option<f64> {
    let origin = Origin::from_url(&check.url).unwrap();
    let found = set.origin(origin.scheme().as_bytes(), origin.key().as_bytes()).unwrap();
    let (policy, capture) = found.expect("the origin has a file");
    let policy = set.policy(policy).unwrap();
    capture.crawl_delays(&policy, &[chain(check)]).unwrap().0[0].seconds
}

/// Returns each answer that differs from its case, and the number of comparisons.
pub fn compare(checks: &[Check]) -> (Vec<String>, usize) {
    let mut differences = Vec::new();
    let mut compared = 0;
    for check in checks {
        let Some(expected) = check.delay else { continue };
        for (engine, answer) in answers(check) {
            compared += 1;
            if answer != expected {
                let (case, dialect) = (&check.case, check.dialect.name);
                differences
                    .push(format!("{case} {dialect}: {engine} {answer:?}, expected {expected:?}"));
            }
        }
    }
    (differences, compared)
}
