//! The whole way from octets to a decision, by every strategy, against the oracle.

use std::sync::Once;

use portcullis::automaton::Limits;
use portcullis::batch::Classifier;
use portcullis::decision::{Decision, Verdict};
use portcullis::dialect::Dialect;
use portcullis::oracle;
use portcullis::policy::{AgentChain, Detail};
use portcullis::set::{LoadConfig, PolicySet};
use portcullis::syntax::RobotsTxt;

use crate::{head, hosts};

/// Octets of a file: the oracle reads it anew for each URL.
const ROBOTS_OCTETS_MAX: usize = 2 * 1_024;
/// Octets of a URL: the oracle's work is its length times that of all patterns.
const URL_OCTETS_MAX: usize = 128;
/// URLs that are made from the rules of a file, so that rules match and compete.
const MADE_URLS_MAX: usize = 4;

/// Limits under which each way to answer is taken: ahead, on demand, and a scan of the rules when
/// the budget is spent at once or on the way.
pub(crate) fn strategies() -> [Limits; 5] {
    let on_demand = Limits { ahead_positions_max: 0, ..Limits::default() };
    [
        Limits::default(),
        Limits { ahead_positions_max: 32 * 1_024, ..Limits::default() },
        on_demand,
        Limits { on_demand_positions_max: 48, ..on_demand },
        Limits { on_demand_octets_max: 0, ..on_demand },
    ]
}

/// An octet for the dialect, one for the limit on the file, an agent, LF, a URL or a path, LF, and
/// a file.
///
/// # Panics
///
/// If a strategy's decision is not the oracle's.
pub fn decide(data: &[u8]) {
    let Some((dialect, [choice, rest @ ..])) = head::dialect(data) else { return };
    let Some((agent, rest)) = head::line(rest) else { return };
    let Some((url, robots)) = head::line(rest) else { return };
    let Some(agent) = std::str::from_utf8(agent).ok() else { return };
    let Ok(agent) = AgentChain::parse(agent, dialect) else { return };
    let robots = &robots[..robots.len().min(ROBOTS_OCTETS_MAX)];
    let config = LoadConfig { dialect, robots_octets_max: head::octets_max(*choice, robots.len()) };
    use_one_thread();
    check(robots, &config, &agent, &urls(dialect, url, robots));
}

/// `url`, and some that the rules of `robots` speak of.
fn urls(dialect: &Dialect, url: &[u8], robots: &[u8]) -> Vec<Vec<u8>> {
    let file = RobotsTxt::parse(robots, dialect, None);
    let rules = file.rules().iter().rev().take(MADE_URLS_MAX);
    let made = rules.map(|rule| at_an_origin(&spelt_out(rule.value)));
    let mut urls: Vec<Vec<u8>> = made.chain([at_an_origin(url)]).collect();
    urls.iter_mut().for_each(|url| url.truncate(URL_OCTETS_MAX));
    urls
}

/// A path is one at `https://example.com`; anything else is left alone.
fn at_an_origin(url: &[u8]) -> Vec<u8> {
    if url.starts_with(b"/") { [b"https://example.com", url].concat() } else { url.to_vec() }
}

/// A path that `pattern` matches where `*` is a wildcard and `$` the end, unless it has no root.
fn spelt_out(pattern: &[u8]) -> Vec<u8> {
    let pattern = pattern.strip_suffix(b"$").unwrap_or(pattern);
    let octets = pattern.iter().flat_map(|octet| match octet {
        b'*' => &b"/a"[..],
        octet => std::slice::from_ref(octet),
    });
    octets.copied().collect()
}

fn check(robots: &[u8], config: &LoadConfig, agent: &AgentChain, urls: &[Vec<u8>]) {
    let tokens: Vec<&str> = agent.tokens().collect();
    let judge = |url: &Vec<u8>| {
        oracle::decide(config.dialect, robots, config.robots_octets_max, &tokens, url)
    };
    let judged: Vec<Decision> = urls.iter().map(judge).collect();
    let set = PolicySet::of_text(robots, config);
    for detail in [Detail::Rule, Detail::Reason] {
        for limits in strategies() {
            let agents = vec![agent.clone()];
            let classifier = Classifier::with_limits(&set, agents, detail, limits);
            let mut memory = classifier.memory();
            for (url, judged) in urls.iter().zip(&judged) {
                let decision = classifier.classify(&[url], None, &mut memory).unwrap()[0];
                let expected = expected(url, *judged, decision, detail);
                assert_eq!(
                    decision,
                    expected,
                    "{} {agent} limit {:?} {detail:?} {limits:?} URL {:?} in\n{}",
                    config.dialect.name,
                    config.robots_octets_max,
                    String::from_utf8_lossy(url),
                    robots.escape_ascii(),
                );
            }
        }
    }
}

/// What the engine has to say where the oracle says `judged`.
fn expected(url: &[u8], judged: Decision, decision: Decision, detail: Detail) -> Decision {
    let refused = decision == Decision::INVALID && judged.verdict != Verdict::Invalid;
    if refused && hosts::only_the_engine_refuses(url) {
        return Decision::INVALID;
    }
    match detail {
        Detail::Rule => judged,
        Detail::Reason => Decision::without_rule(judged.verdict, judged.reason),
    }
}

/// Compiling uses a thread pool; a fuzzer learns more from one thread, whose steps are repeatable.
fn use_one_thread() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread();
        // A test runner may have a pool already; then its threads serve as well.
        pool.build_global().ok();
    });
}
