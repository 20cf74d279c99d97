//! Compares decisions from the bytes of a file with the oracle, by every strategy, one by one and
//! in blocks over several files.

use std::sync::{Arc, Once};

use portcullis_dialect::decision::{Decision, Verdict};
use portcullis_dialect::dialect::Dialect;
use portcullis_dialect::limits::RECORDS_AT_ONCE;
use portcullis_engine::block::Ways;
use portcullis_oracle as oracle;
use portcullis_robots::policy::AgentChain;
use portcullis_robots::syntax::{RobotsTxt, Statement};
use portcullis_set::batch::{Classifier, Session, Vectors};
use portcullis_set::{LoadConfig, PolicySet};

use crate::common::{at_origin, configurations, scattered, sets_of};
use crate::{head, hosts};

/// The most bytes of a file, because the oracle reads it again for each URL.
const ROBOTS_BYTES_MAX: usize = 2 * 1_024;
/// The most bytes of a URL, because the oracle's work is its length times the length of all
/// patterns.
const URL_BYTES_MAX: usize = 128;
/// The most URLs that are made from the rules of a file, so that rules match and compete.
const MADE_URLS_MAX: usize = 4;
/// The number of times that the URLs of one file are decided together: enough to reach states after
/// scans.
const ROUNDS: usize = 3;

/// Checks an input: a byte for the dialect, a byte for the limit on the file, an agent, LF, a URL
/// or a path, LF, and a file.
///
/// # Panics
///
/// If a strategy's decision differs from the oracle's.
pub fn decide(data: &[u8]) {
    decide_counted(data, &mut Ways::default());
}

/// Like [`decide`], and counts the ways in which answers were reached.
///
/// # Panics
///
/// As [`decide`].
pub fn decide_counted(data: &[u8], reached: &mut Ways) {
    let Some(Question { robots, config, agent, urls }) = Question::read(data) else { return };
    check(robots, &config, &agent, &urls, reached);
    check_blocks(robots, &config, &agent, &urls);
}

/// A parsed input: a file for one agent, and URLs to decide.
pub(crate) struct Question<'d> {
    pub(crate) robots: &'d [u8],
    pub(crate) config: LoadConfig,
    pub(crate) agent: AgentChain,
    pub(crate) urls: Vec<Vec<u8>>,
}

impl<'d> Question<'d> {
    /// Parses an input. `None` if the head lacks a part, or the agent is invalid.
    pub(crate) fn read(data: &'d [u8]) -> Option<Question<'d>> {
        let (dialect, rest) = head::dialect(data)?;
        let (choice, rest) = rest.split_first()?;
        let (agent, rest) = head::line(rest)?;
        let (url, robots) = head::line(rest)?;
        let agent = AgentChain::parse(std::str::from_utf8(agent).ok()?, dialect).ok()?;
        let robots = &robots[..robots.len().min(ROBOTS_BYTES_MAX)];
        let config = LoadConfig {
            robots_bytes_max: head::bytes_max(*choice, robots.len()),
            agents: Some([agent.clone()].into()),
            ..LoadConfig::new(dialect)
        };
        use_one_thread();
        Some(Question { robots, config, agent, urls: urls(dialect, url, robots) })
    }
}

/// Returns `url`, and some URLs made from the rules of `robots`.
fn urls(dialect: &Dialect, url: &[u8], robots: &[u8]) -> Vec<Vec<u8>> {
    let file = RobotsTxt::parse(robots, dialect, None);
    let rules = file.rules().iter().rev().map(|rule| rule.value).take(MADE_URLS_MAX);
    let statements = file.usage_records().iter().rev().filter_map(Statement::of);
    let paths = statements.filter_map(|statement| statement.path).take(MADE_URLS_MAX);
    let made = rules.chain(paths).map(|pattern| at_an_origin(&spelt_out(pattern)));
    let mut urls: Vec<Vec<u8>> = made.chain([at_an_origin(url)]).collect();
    urls.iter_mut().for_each(|url| url.truncate(URL_BYTES_MAX));
    urls
}

/// Puts a path on `https://example.com`. Other text is unchanged.
fn at_an_origin(url: &[u8]) -> Vec<u8> {
    if url.starts_with(b"/") { [b"https://example.com", url].concat() } else { url.to_vec() }
}

/// Returns a path that `pattern` matches if `*` is a wildcard and `$` the end, unless the pattern
/// does not begin at the root.
fn spelt_out(pattern: &[u8]) -> Vec<u8> {
    let pattern = pattern.strip_suffix(b"$").unwrap_or(pattern);
    let bytes = pattern.iter().flat_map(|byte| match byte {
        b'*' => &b"/a"[..],
        byte => std::slice::from_ref(byte),
    });
    bytes.copied().collect()
}

/// Checks one file that applies to every URL, by every strategy, one by one.
fn check(
    robots: &[u8],
    config: &LoadConfig,
    agent: &AgentChain,
    urls: &[Vec<u8>],
    reached: &mut Ways,
) {
    let judged: Vec<Decision> = urls.iter().map(|url| judge(config, agent, robots, url)).collect();
    let set = Arc::new(PolicySet::of_text(robots, config));
    for configuration in configurations() {
        let agents = vec![agent.clone()];
        let limits = configuration.limits;
        let classifier = Classifier::with_limits(Arc::clone(&set), agents, limits).unwrap();
        let mut session = Session::new(classifier, None);
        for _ in 0..ROUNDS {
            for (url, judged) in urls.iter().zip(&judged) {
                session.classify(&[url]).unwrap();
                let decision = session.full_decision(0, 0).unwrap().decision;
                let expected = expected(url, *judged, decision);
                let how = configuration.name;
                assert!(decision == expected, "{}", differs(how, config, agent, url, robots));
            }
        }
        *reached += session.ways();
    }
}

/// Checks the file, its halves and an empty file, each on its own origin: in one block as in
/// `classify`, with every kind of vectors, by each kind of set.
fn check_blocks(robots: &[u8], config: &LoadConfig, agent: &AgentChain, urls: &[Vec<u8>]) {
    let (first, second) = robots.split_at(robots.len() / 2);
    let files = [robots, first, second, b""];
    let mut questions = Vec::new();
    for (number, file) in files.iter().enumerate() {
        let own = urls.iter().filter_map(|url| at_origin(url, config.dialect, number));
        questions.extend(own.map(|url| {
            let judged = judge(config, agent, file, &url);
            (*file, url, judged)
        }));
    }
    if questions.is_empty() {
        return;
    }
    let order: Vec<usize> = scattered(RECORDS_AT_ONCE).map(|at| at % questions.len()).collect();
    let block: Vec<&[u8]> = order.iter().map(|&at| &*questions[at].1).collect();
    let sizes = (config.dialect, config.robots_bytes_max);
    let sets = sets_of(&files, sizes, std::slice::from_ref(agent));
    for (kind, set) in &sets {
        for vectors in Vectors::all() {
            let classifier = Classifier::new(Arc::clone(set), vec![agent.clone()]).unwrap();
            let mut session = Session::new(classifier.with_vectors(vectors), None);
            session.classify(&block).unwrap();
            let decisions = session.decisions_with_rules().unwrap();
            for (&at, decision) in order.iter().zip(decisions) {
                let (file, ref url, judged) = questions[at];
                let expected = expected(url, judged, decision);
                let how = format!("a block by a {kind} set with {vectors:?}");
                assert!(decision == expected, "{}", differs(&how, config, agent, url, file));
            }
        }
    }
}

fn judge(config: &LoadConfig, agent: &AgentChain, robots: &[u8], url: &[u8]) -> Decision {
    let tokens: Vec<&str> = agent.tokens().collect();
    oracle::decide(config.dialect, robots, config.robots_bytes_max, &tokens, url)
}

pub(crate) fn differs(
    how: &str,
    config: &LoadConfig,
    agent: &AgentChain,
    url: &[u8],
    robots: &[u8],
) -> String {
    format!(
        "{how}: {} {agent} limit {:?} URL {:?} in\n{}",
        config.dialect.name,
        config.robots_bytes_max,
        String::from_utf8_lossy(url),
        robots.escape_ascii(),
    )
}

/// Returns the decision that the engine must make if the oracle's is `judged`.
pub(crate) fn expected(url: &[u8], judged: Decision, decision: Decision) -> Decision {
    let refused = decision == Decision::INVALID && judged.verdict != Verdict::Invalid;
    match refused && hosts::only_the_engine_refuses(url) {
        true => Decision::INVALID,
        false => judged,
    }
}

/// Installs a pool of one thread for compiling, because a fuzzer needs repeatable steps.
fn use_one_thread() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1);
        // The fuzzer's thread lives as long as the program. A test's thread ends while others wait
        // for it.
        let pool = if cfg!(fuzzing) { pool.use_current_thread() } else { pool };
        // If a test runner already has a pool, its threads are used.
        pool.build_global().ok();
    });
}
