//! The engines that answer every case: the front door, and sets that are loaded for the agent and
//! opened like a file, in every configuration, cold (the first time) and hot (again).

use std::sync::Arc;

use portcullis_dialect::decision::Decision;
use portcullis_robots::Robots;
use portcullis_robots::policy::Crawler;
use portcullis_robots::url::{Origin, split};
use portcullis_set::PolicySet;
use portcullis_testkit::{Configuration, Engine, Form, configurations, set_at, set_everywhere};

use portcullis_testkit::case::Check;

/// Decides a check.
type Decide = fn(&Check) -> Decision;

/// Engines that decide a check, in addition to [`by_sets`].
pub const ENGINES: &[(&str, Decide)] = &[("one file", one_file)];

/// The reference.
pub fn oracle(check: &Check) -> Decision {
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

/// Returns the chain of a check's agents.
pub fn chain(check: &Check) -> Crawler {
    let chain = Crawler::parse(&check.agents.join("+"), check.dialect);
    chain.unwrap_or_else(|error| panic!("{}: {error}", check.case))
}

/// Returns the sets that a check is decided with: of a file that applies to every URL or to its
/// origin, and of a file that applies to the origin of the URL.
pub fn sets(check: &Check) -> [(&'static str, Arc<PolicySet>); 2] {
    let reading = (check.dialect, check.robots_bytes_max);
    // A file at another path is not a robots.txt and applies to no origin.
    let own = check.robots_url.as_ref().map(|url| Origin::from_robots_txt(url).ok());
    let origin = || {
        let url = split(&check.url, check.dialect.paths.path_start).ok()?;
        url.origin().ok()
    };
    let at = |form, origin: Option<Origin>| {
        let files = origin.map(|origin| (origin, &check.robots[..]));
        set_at(form, files.as_slice(), reading)
    };
    let loaded = match &own {
        None => set_everywhere(&check.robots, reading),
        Some(own) => at(Form::Compiled, own.clone()),
    };
    [("loaded", loaded), ("stored", at(Form::Read, own.unwrap_or_else(origin)))]
}

/// Decides by each set and in each configuration, twice. Calls `answered` with a name, the
/// configuration and the answer.
pub fn by_sets(check: &Check, mut answered: impl FnMut(&str, &Configuration, Decision)) {
    let agents = [chain(check)];
    for (name, set) in sets(check) {
        for configuration in configurations() {
            let engine = Engine::new(Arc::clone(&set), &agents, &configuration);
            let mut memory = engine.memory();
            for time in ["cold", "hot"] {
                let decision = engine.decide(&[&check.url], &mut memory)[0];
                answered(
                    &format!("{name}, {}, {time}", configuration.name),
                    &configuration,
                    decision,
                );
            }
        }
    }
}

/// Decides by the front door. Files that are bound to an origin, and records that are not absolute
/// URLs, are left to sets: the front door does not check origins, and accepts paths and URLs without
/// a scheme.
fn one_file(check: &Check) -> Decision {
    let is_url = split(&check.url, check.dialect.paths.path_start).is_ok();
    if check.robots_url.is_some() || !is_url {
        return oracle(check);
    }
    let robots = Robots::with_bytes_max(&check.robots, check.dialect, check.robots_bytes_max);
    let rules = robots.agent(&chain(check));
    let tried = rules.decide(&check.url);
    // Rules are compiled for a long path.
    rules.decide("/".repeat(16 * 1024));
    assert_eq!(rules.decide(&check.url), tried);
    tried
}
