//! The cases as `classify` decides them: in blocks, over all files together, shuffled.
//!
//! Each file gets an origin of its own, and its URLs move to that origin. Checks that need a
//! particular origin (a file with a URL, a port, another scheme) are only asked one by one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use portcullis_dialect::decision::{Decision, Reason};
use portcullis_dialect::limits::RECORDS_AT_ONCE;
use portcullis_dialect::usage::{Label, Stated, Usage};
use portcullis_engine::vectors::Vectors;
use portcullis_testkit::{
    Agreement, Answer, Configuration, Engine, Form, Question, World, agree, at_origin,
    configurations, scattered,
};

use portcullis_testkit::case::Check;

/// Decides all checks in blocks: each agent alone, then all at once, twice with each kind of vectors,
/// with a new memory and with a warm one. Only the check's own agent is compared; the others fill the
/// block.
pub fn compare(checks: &[(Check, Decision)]) -> Agreement {
    let mut found = Agreement::default();
    for world in worlds(checks) {
        let sets = Form::ALL.map(|form| world.set(form));
        let agents = world.agents.len();
        let lists = (0..agents).map(|agent| vec![agent]).chain([(0..agents).collect()]);
        for (number, positions) in lists.enumerate() {
            for (configuration, set) in chosen(number).iter().zip(sets.iter().cycle().skip(number))
            {
                for vectors in Vectors::all() {
                    let set = Arc::clone(set);
                    let engine = Engine::from_some(set, &world.agents, &positions, configuration);
                    let engine = engine.with_vectors(vectors);
                    let mut memory = engine.memory();
                    for _ in 0..2 {
                        let order = scattered(world.questions.len());
                        found =
                            found.and(agree(&engine, &mut memory, &world, order, RECORDS_AT_ONCE));
                    }
                }
            }
        }
    }
    found
}

/// The default configuration for each kind of set, and another one in turn.
fn chosen(number: usize) -> [Configuration; 4] {
    let all = configurations();
    [all[0], all[1], all[0], all[2 + number % (all.len() - 2)]]
}

/// Returns a world for each dialect and size limit.
fn worlds(checks: &[(Check, Decision)]) -> Vec<World> {
    let mut groups: BTreeMap<_, Vec<&(Check, Decision)>> = BTreeMap::new();
    for asked in checks.iter().filter(|(check, _)| check.robots_url.is_none()) {
        groups.entry((asked.0.dialect.name, asked.0.robots_bytes_max)).or_default().push(asked);
    }
    groups.into_values().map(|asked| world(&asked)).collect()
}

fn world(asked: &[&(Check, Decision)]) -> World {
    let name = |check: &Check| check.agents.join("+");
    let names: BTreeSet<String> = asked.iter().map(|(check, _)| name(check)).collect();
    let Check { dialect, robots_bytes_max, .. } = asked[0].0;
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut world = World::new(dialect, robots_bytes_max, &names);
    let mut numbers: BTreeMap<&[u8], usize> = BTreeMap::new();
    for (check, decision) in asked {
        let file = *numbers.entry(&check.robots).or_insert_with(|| {
            world.files.push(check.robots.clone());
            world.files.len() - 1
        });
        let url = match decision.reason {
            Reason::BadUrl => Some(check.url.clone()),
            _ => at_origin(&check.url, dialect, file),
        };
        let Some(url) = url else { continue };
        let usage = Usage::new(*decision, [Stated::UNSTATED; Label::ALL.len()]);
        let answer =
            |agent: &&str| (**agent == name(check)).then(|| Answer { usage, licences: [].into() });
        let judged = names.iter().map(answer).collect();
        world.questions.push(Question { file, url, judged });
    }
    world
}
