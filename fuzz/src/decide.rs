//! Compares decisions from the bytes of a file with the oracle, by every strategy and the front door,
//! one by one and in blocks over several files.

use std::sync::Once;

use portcullis_dialect::dialect::Dialect;
use portcullis_dialect::limits::RECORDS_AT_ONCE;
use portcullis_dialect::usage::Label;
use portcullis_engine::StepCounts;
use portcullis_engine::vectors::Vectors;
use portcullis_robots::policy::Crawler;
use portcullis_robots::syntax::{RobotsTxt, Statement};
use portcullis_testkit::{
    Form, World, agree, at_origin, configurations, scattered, set_everywhere,
};

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
    decide_counted(data, &mut StepCounts::default());
}

/// Like [`decide`], and counts the ways in which answers were reached.
///
/// # Panics
///
/// As [`decide`].
pub fn decide_counted(data: &[u8], reached: &mut StepCounts) {
    if let Some(question) = Question::read(data) {
        question.check(&[], reached);
    }
}

/// A parsed input: a file for one agent, and URLs to decide.
pub(crate) struct Question<'d> {
    pub(crate) robots: &'d [u8],
    pub(crate) dialect: &'static Dialect,
    robots_bytes_max: Option<usize>,
    agent: &'d str,
    urls: Vec<Vec<u8>>,
}

impl<'d> Question<'d> {
    /// Parses an input. `None` if the head lacks a part, or the agent is invalid.
    pub(crate) fn read(data: &'d [u8]) -> Option<Question<'d>> {
        let (dialect, rest) = head::dialect(data)?;
        let (choice, rest) = rest.split_first()?;
        let (agent, rest) = head::line(rest)?;
        let (url, robots) = head::line(rest)?;
        let agent = std::str::from_utf8(agent).ok()?;
        Crawler::parse(agent, dialect).ok()?;
        let robots = &robots[..robots.len().min(ROBOTS_BYTES_MAX)];
        let robots_bytes_max = head::bytes_max(*choice, robots.len());
        use_one_thread();
        let urls = urls(dialect, url, robots);
        Some(Question { robots, dialect, robots_bytes_max, agent, urls })
    }

    fn world(&self) -> World {
        let may_refuse = hosts::only_the_engine_refuses;
        World { may_refuse, ..World::new(self.dialect, self.robots_bytes_max, &[self.agent]) }
    }

    /// Compares decisions, and preferences for these labels.
    pub(crate) fn check(&self, labels: &[Label], reached: &mut StepCounts) {
        self.check_alone(labels, reached);
        self.check_blocks(labels);
    }

    /// Checks the file for every URL, by every strategy, one by one.
    fn check_alone(&self, labels: &[Label], reached: &mut StepCounts) {
        let mut world = self.world();
        world.add_everywhere(self.robots, self.urls.iter().cloned());
        world.agrees_by_front_door();
        let reading = (self.dialect, self.robots_bytes_max);
        let set = set_everywhere(self.robots, reading);
        for configuration in configurations() {
            let engine = world.engine(&set, &configuration).with_usage(labels);
            let mut memory = engine.memory();
            for _ in 0..ROUNDS {
                agree(&engine, &mut memory, &world, 0..self.urls.len(), 1).whole();
            }
            *reached += memory.session().step_counts();
        }
    }

    /// Checks the file, its halves and an empty file, each on its own origin: in one block as in
    /// `classify`, with every kind of vectors, by each kind of set.
    fn check_blocks(&self, labels: &[Label]) {
        let mut world = self.world();
        let (first, second) = self.robots.split_at(self.robots.len() / 2);
        for (number, file) in [self.robots, first, second, b""].into_iter().enumerate() {
            world
                .add(file, self.urls.iter().filter_map(|url| at_origin(url, self.dialect, number)));
        }
        let questions = world.questions.len();
        if questions == 0 {
            return;
        }
        for form in Form::ALL {
            let set = world.set(form);
            for configuration in &configurations()[..2] {
                for vectors in Vectors::all() {
                    let engine = world.engine(&set, configuration).with_usage(labels);
                    let engine = engine.with_vectors(vectors);
                    let order = scattered(RECORDS_AT_ONCE).map(|at| at % questions);
                    agree(&engine, &mut engine.memory(), &world, order, RECORDS_AT_ONCE).whole();
                }
            }
        }
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
