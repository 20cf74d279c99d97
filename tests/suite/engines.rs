//! The engines that answer every case.
//!
//! The oracle is the reference. The classifier runs with each strategy, over a set loaded for the
//! agent and over a compiled set, with and without rules, cold (the first time) and hot (again).

use portcullis_dialect::decision::Decision;
use portcullis_engine::Limits;
use portcullis_robots::Robots;
use portcullis_robots::policy::AgentChain;
use portcullis_robots::target::{Origin, split};
use portcullis_set::batch::{Classifier, Session};
use portcullis_set::compile::CompileConfig;
use portcullis_set::{LoadConfig, PolicySet};

use crate::case::Check;
use crate::common;

/// Decides a check.
type Engine = fn(&Check) -> Decision;

/// Engines that must agree. The first one is the reference.
pub const ENGINES: &[(&str, Engine)] = &[
    ("oracle", oracle),
    ("the default", |check| classifier(check, &Limits::default(), true, 1)),
    ("the default, hot", |check| classifier(check, &Limits::default(), true, 2)),
    ("lazy", |check| classifier(check, &LAZY, true, 1)),
    ("lazy, hot", |check| classifier(check, &LAZY, true, 2)),
    ("scan", |check| classifier(check, &SCAN, true, 1)),
    ("stored", |check| stored(check, &Limits::default(), true, 1)),
    ("stored, hot", |check| stored(check, &Limits::default(), true, 2)),
    ("stored, lazy", |check| stored(check, &LAZY, true, 1)),
    ("stored, scan", |check| stored(check, &SCAN, true, 1)),
    ("one file", one_file),
];

/// Engines that return verdicts and reasons, but no rules.
pub const ENGINES_WITHOUT_RULES: &[(&str, Engine)] = &[
    ("the default, verdicts", |check| classifier(check, &Limits::default(), false, 1)),
    ("lazy, verdicts", |check| classifier(check, &LAZY, false, 2)),
    ("stored, verdicts", |check| stored(check, &Limits::default(), false, 1)),
    ("scan, verdicts", |check| classifier(check, &SCAN, false, 1)),
];

const LAZY: Limits = Limits {
    automata_bytes_max: usize::MAX,
    dfa_pattern_bytes_max: usize::MAX,
    dfa_bytes_asked_min: 0,
    candidates_tried_max: None,
};
const SCAN: Limits = Limits { dfa_pattern_bytes_max: 0, ..LAZY };

fn oracle(check: &Check) -> Decision {
    let Check { dialect, robots, robots_bytes_max, url, .. } = check;
    let agents: Vec<&str> = check.agents.iter().map(String::as_str).collect();
    match &check.robots_url {
        None => portcullis_oracle::decide(dialect, robots, *robots_bytes_max, &agents, url),
        Some(robots_url) => portcullis_oracle::decide_in_scope(
            dialect,
            robots_url,
            robots,
            *robots_bytes_max,
            &agents,
            url,
        ),
    }
}

/// Decides by one file that applies to every URL or to its origin; returns the last answer of
/// `times`.
fn classifier(check: &Check, limits: &Limits, rules: bool, times: usize) -> Decision {
    let chain = AgentChain::parse(&check.agents.join("+"), check.dialect);
    let chain = chain.unwrap_or_else(|error| panic!("{}: {error}", check.case));
    let config = LoadConfig {
        robots_bytes_max: check.robots_bytes_max,
        agents: Some([chain.clone()].into()),
        ..LoadConfig::new(check.dialect)
    };
    let set = match &check.robots_url {
        None => PolicySet::of_text(&check.robots, &config),
        // A file at another path is not a robots.txt and applies to no origin.
        Some(robots_url) => {
            let origin = Origin::of_robots_txt(robots_url);
            PolicySet::of_origins(&check.robots, origin.as_ref(), &config)
        }
    };
    let classifier = Classifier::with_limits(set, vec![chain], *limits).unwrap();
    last_of(classifier, check, rules, times)
}

/// Decides by the front door. Files that are bound to an origin, and records that are not absolute
/// URLs, go to the classifier: the front door does not check origins, and accepts paths and URLs
/// without a scheme.
fn one_file(check: &Check) -> Decision {
    let is_url = split(&check.url, check.dialect.paths.path_start).is_ok();
    if check.robots_url.is_some() || !is_url {
        return classifier(check, &Limits::default(), true, 1);
    }
    let chain = AgentChain::parse(&check.agents.join("+"), check.dialect).unwrap();
    let robots = Robots::with_bytes_max(&check.robots, check.dialect, check.robots_bytes_max);
    robots.agent_chain(&chain).decide(&check.url)
}

/// Decides by a compiled set; returns the last answer of `times`. The set is compiled into memory
/// and opened like a file, so the checksum of every block is verified.
fn stored(check: &Check, limits: &Limits, rules: bool, times: usize) -> Decision {
    let origins = match &check.robots_url {
        None => {
            split(&check.url, check.dialect.paths.path_start).and_then(|url| Origin::of_split(&url))
        }
        Some(robots_url) => Origin::of_robots_txt(robots_url),
    };
    let config = CompileConfig::new(check.dialect, check.robots_bytes_max);
    let set = common::stored_set(&[(origins.ok(), &check.robots)], &config);
    let chain = AgentChain::parse(&check.agents.join("+"), check.dialect);
    let chain = chain.unwrap_or_else(|error| panic!("{}: {error}", check.case));
    let classifier = Classifier::with_limits(set, vec![chain], *limits).unwrap();
    last_of(classifier, check, rules, times)
}

fn last_of(classifier: Classifier, check: &Check, rules: bool, times: usize) -> Decision {
    let mut session = Session::new(classifier, None);
    for _ in 0..times {
        session.classify(&[&check.url]).unwrap();
    }
    match rules {
        true => session.full_decision(0, 0).unwrap().decision,
        false => session.decisions()[0],
    }
}
