//! Measures how the cost per URL grows with the rules of a group and with the origins of a set, on
//! synthetic data.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use portcullis_bench::{ListRun, MadeUpHosts, RuleGrowth, UrlList, on_all_cores};
use portcullis_dialect::decision::Verdict;
use portcullis_oracle as oracle;
use portcullis_robots::policy::AgentChain;
use portcullis_set::PolicySet;
use portcullis_set::batch::{Classifier, Session};
use rayon::prelude::*;

use super::{AGENT, Behind, DIALECT, Effort, Fault, Figure, Measured, Pass, Sizes};
use crate::system;

/// Measures the cost of hot decisions with many rules, divided by the cost with few rules.
pub(super) fn rules(has_star: bool, sizes: &Sizes, effort: &Effort) -> Measured {
    let wrong = |error: portcullis_bench::EngineError| Fault::Wrong(error.0);
    let mut few = RuleGrowth::new(sizes.rules[0], has_star).map_err(wrong)?;
    let mut many = RuleGrowth::new(sizes.rules[1], has_star).map_err(wrong)?;
    let paths = few.paths();
    let turn = effort.turn;
    let pass = |growth: &mut RuleGrowth| Ok(Duration::from_secs_f64(growth.seconds_per_pass(turn)));
    // Each value is the mean of as many passes as fill a turn.
    let works: [Pass<'_>; 2] = [Box::new(|| pass(&mut few)), Box::new(|| pass(&mut many))];
    let answers = format!("{paths} paths at each size by a scan of the rules");
    let names = sizes.rules.map(|rules| format!("{rules} rules"));
    grown(works, names, paths as f64, answers, (effort.rounds, Duration::ZERO))
}

/// Measures the cost from file to counts with many origins, divided by the cost with few origins.
///
/// # Errors
///
/// If a list cannot be written or a set cannot be compiled.
pub(super) fn origins(
    agent: &AgentChain,
    sizes: &Sizes,
    effort: &Effort,
    folder: &Path,
) -> Result<Measured> {
    let mut runs = Vec::new();
    for hosts in sizes.hosts {
        let made_up = MadeUpHosts::new(hosts, DIALECT);
        let set = Arc::new(made_up.set());
        let list = made_up.list(sizes.urls);
        let path = folder.join(format!("hosts-{hosts}.txt"));
        std::fs::write(&path, &list)?;
        let allowed = on_all_cores(|| verified(&set, agent, &made_up, &list));
        let run = ListRun::new(&set, agent, &UrlList::detected(&path), system::opening())?;
        runs.push((run, allowed, path));
    }
    let pass = |place: usize| -> Pass<'_> {
        let (run, expected, _) = &runs[place];
        Box::new(move || {
            let (expected, (time, allowed)) =
                (expected.clone()?, run.pass(1).map_err(|error| Fault::Wrong(error.0))?);
            let wrong = || Fault::Wrong(format!("{allowed} URLs allowed; oracle: {expected}"));
            (allowed == expected).then_some(time).ok_or_else(wrong)
        })
    };
    let names = sizes.hosts.map(|hosts| format!("{hosts} origins"));
    let answers = format!("{} URLs at each size by the oracle", sizes.urls);
    let rounds = (effort.rounds, effort.turn);
    let measured = grown([pass(0), pass(1)], names, sizes.urls as f64, answers, rounds);
    for (_, _, path) in &runs {
        let _ = std::fs::remove_file(path);
    }
    Ok(measured)
}

/// Returns the number of allowed URLs in a synthetic list, after checking every answer with the
/// oracle.
fn verified(
    set: &Arc<PolicySet>,
    agent: &AgentChain,
    made_up: &MadeUpHosts,
    list: &[u8],
) -> Result<u64, Fault> {
    /// The number of URLs that a thread checks at a time.
    const URLS_AT_ONCE: usize = 4_096;
    let damaged = |error: &dyn std::error::Error| Fault::Wrong(error.to_string());
    let classifier = Classifier::new(Arc::clone(set), vec![agent.clone()]);
    let classifier = Arc::new(classifier.map_err(|error| damaged(&error))?);
    let lines: Vec<&[u8]> = list.split(|&byte| byte == b'\n').collect();
    let lines = &lines[..lines.len() - 1];
    let judge = |session: &mut Session, (chunk, urls): (usize, &[&[u8]])| {
        let decisions = session.classify(urls).map_err(|error| damaged(&error))?;
        let mut allowed = 0;
        for (place, (url, decision)) in urls.iter().zip(decisions).enumerate() {
            let robots = made_up.robots_of_url((chunk * URLS_AT_ONCE + place) as u64);
            let judged = oracle::decide(set.dialect(), robots, None, &[AGENT], url);
            if judged.verdict != decision.verdict {
                let url = String::from_utf8_lossy(url);
                return Err(Fault::Wrong(format!("{url} is not decided as the oracle decides it")));
            }
            allowed += u64::from(judged.verdict == Verdict::Allow);
        }
        Ok(allowed)
    };
    let chunks = lines.par_chunks(URLS_AT_ONCE).enumerate();
    let session = || Session::new(Arc::clone(&classifier), None);
    chunks.map_init(session, judge).try_reduce(|| 0, |one, other| Ok(one + other))
}

/// Measures the cost of the second work divided by the cost of the first.
fn grown(
    works: [Pass<'_>; 2],
    names: [String; 2],
    per: f64,
    answers: String,
    (rounds, turn): (usize, Duration),
) -> Measured {
    let mut figures = Vec::new();
    for (name, seconds) in super::rounds(rounds, turn, works.into_iter().enumerate().collect()) {
        figures.push(Figure::of(&names[name], "ns a URL", &seconds?, per * 1e-9));
    }
    let value = figures[1].spread.median / figures[0].spread.median;
    Ok((value, Behind { figures, answers, remark: None }))
}
