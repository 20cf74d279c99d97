//! How a URL's cost grows with the rules of a group and with the origins of a set, on made-up data.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use portcullis::batch::{Classifier, ClassifierMemory};
use portcullis::bench::{EngineError, ListRun, MadeUpHosts, RuleGrowth};
use portcullis::decision::Verdict;
use portcullis::dialect::Dialect;
use portcullis::oracle;
use portcullis::policy::{AgentChain, Detail};
use portcullis::set::PolicySet;
use rayon::prelude::*;

use super::rounds::{self, Pass, Seconds, median};
use super::row::{Fault, Figure, Goal, Relation, Row};
use super::{AGENT, Effort, Sizes, on_all_cores};
use crate::mapped;

/// The rows about rules: literal ones, and such with a star each.
pub fn rules(sizes: &Sizes, effort: &Effort) -> Vec<Row> {
    let shapes = [("rules-literal", "literal", false), ("rules-one-star", "one star each", true)];
    shapes.map(|(id, shape, has_star)| of_rules((id, shape, has_star), sizes, effort)).into()
}

fn of_rules((id, shape, has_star): (&str, &str, bool), sizes: &Sizes, effort: &Effort) -> Row {
    let [few, many] = sizes.rules;
    let what = format!("{few} to {many} rules in a group, {shape}: a URL's cost, hot");
    let goal = growth(id, what, 2.0, few);
    let built = sizes.rules.map(|rules| RuleGrowth::new(rules, has_star));
    let [Ok(mut small), Ok(mut large)] = built else {
        let faults: Vec<String> = built.into_iter().filter_map(|it| Some(it.err()?.0)).collect();
        return goal.lost(Fault::Wrong(faults.join("; ")));
    };
    let paths = small.paths();
    let answers = format!("{paths} paths at each size by a scan of the rules");
    let turn = effort.turn;
    let pass = |growth: &mut RuleGrowth| Ok(Duration::from_secs_f64(growth.seconds_per_pass(turn)));
    // A pass is the mean of as many as fill a turn.
    let works: [Pass<'_>; 2] = [Box::new(|| pass(&mut small)), Box::new(|| pass(&mut large))];
    let seconds = rounds::run(effort.rounds, Duration::ZERO, works.into());
    grown(goal, &seconds, sizes.rules.map(|rules| format!("{rules} rules")), paths as f64, answers)
}

/// The row about origins.
///
/// # Errors
///
/// If lists cannot be written or a set not be made.
pub fn origins(
    agent: &AgentChain,
    dialect: &'static Dialect,
    sizes: &Sizes,
    effort: &Effort,
    folder: &Path,
) -> Result<Row, EngineError> {
    let [few, many] = sizes.hosts;
    let what = format!("{few} to {many} origins, shuffled list: a URL's cost, from file to count");
    let goal = growth("origins", what, 3.0, few as usize);
    let mut points = Vec::new();
    for hosts in sizes.hosts {
        let made_up = MadeUpHosts::new(hosts, dialect);
        let set = Arc::new(made_up.set()?);
        let list = made_up.list(sizes.urls);
        let path = folder.join(format!("hosts-{hosts}.txt"));
        std::fs::write(&path, &list).map_err(|error| EngineError(error.to_string()))?;
        let allowed = on_all_cores(|| verified(&set, agent, &made_up, &list));
        points.push((set, path, allowed));
    }
    let mut works: Vec<Pass<'_>> = Vec::new();
    for (set, path, allowed) in &points {
        let allowed = match allowed {
            Ok(allowed) => *allowed,
            Err(fault) => return Ok(goal.lost(fault.clone())),
        };
        let run = ListRun::new(set, agent, path, mapped::opening())?;
        works.push(Box::new(move || {
            let (time, count) = run.pass(1).map_err(|error| Fault::Wrong(error.0))?;
            let wrong = || Fault::Wrong(format!("{count} URLs allowed; oracle: {allowed}"));
            (count == allowed).then_some(time).ok_or_else(wrong)
        }));
    }
    let seconds = rounds::run(effort.rounds, effort.turn, works);
    for (_, path, _) in &points {
        let _ = std::fs::remove_file(path);
    }
    let names = sizes.hosts.map(|hosts| format!("{hosts} origins"));
    let answers = format!("{} URLs at each size by the oracle", sizes.urls);
    Ok(grown(goal, &seconds, names, sizes.urls as f64, answers))
}

/// How many URLs of a made-up list are allowed, if ours says of each what the oracle says.
fn verified(
    set: &Arc<PolicySet>,
    agent: &AgentChain,
    made_up: &MadeUpHosts,
    list: &[u8],
) -> Result<u64, Fault> {
    /// URLs that a thread takes at once.
    const URLS_AT_ONCE: usize = 4_096;
    let damaged = |error: &dyn std::error::Error| Fault::Wrong(error.to_string());
    let classifier = Classifier::new(Arc::clone(set), vec![agent.clone()], Detail::Reason)
        .map_err(|error| damaged(&error))?;
    let lines: Vec<&[u8]> = list.split(|&byte| byte == b'\n').collect();
    let lines = &lines[..lines.len() - 1];
    let judge = |memory: &mut ClassifierMemory, (chunk, urls): (usize, &[&[u8]])| {
        let decisions = classifier.classify(urls, None, memory).map_err(|error| damaged(&error))?;
        let mut allowed = 0;
        for (place, (url, decision)) in urls.iter().zip(decisions).enumerate() {
            let robots = made_up.robots_of_url((chunk * URLS_AT_ONCE + place) as u64);
            let judged = oracle::decide(set.dialect(), robots, None, &[AGENT], url);
            if judged.verdict != decision.verdict {
                let url = String::from_utf8_lossy(url);
                return Err(Fault::Wrong(format!("{url} is not what the oracle says")));
            }
            allowed += u64::from(judged.verdict == Verdict::Allow);
        }
        Ok(allowed)
    };
    let chunks = lines.par_chunks(URLS_AT_ONCE).enumerate();
    chunks.map_init(|| classifier.memory(), judge).try_reduce(|| 0, |one, other| Ok(one + other))
}

fn growth(id: &str, what: String, limit: f64, few: usize) -> Goal {
    let (id, relation, of) = (id.to_owned(), Relation::Under, format!("the cost with {few}"));
    Goal { id, what, relation, limit, unit: "×", of }
}

/// The row of the cost at two sizes.
fn grown(goal: Goal, seconds: &[Seconds], names: [String; 2], per: f64, answers: String) -> Row {
    match seconds {
        [Ok(small), Ok(large)] => {
            let values = names.iter().zip([small, large]);
            let figure = |(name, values): (&String, &Vec<f64>)| {
                Figure::of(name, "ns a URL", values, per * 1e-9)
            };
            let figures = values.filter_map(figure).collect();
            goal.measured(median(large) / median(small), figures, answers)
        }
        [Err(fault), _] | [_, Err(fault)] => goal.lost(fault.clone()),
        _ => goal.lost(Fault::Absent("nothing was timed".to_owned())),
    }
}
