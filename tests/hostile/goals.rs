//! The goals for a file of 500 KiB: 20 ms for the first URL of 2 KB, 1 ms for a later one, and 50 ms
//! for one of 64 KiB. These tests count their work.

use portcullis_dialect::dialect::{Dialect, GOOGLE, RFC_9309};
use portcullis_dialect::usage::Label;
use portcullis_engine::AutomatonWork;
use portcullis_testkit::{Configuration, Engine, agents, set_everywhere};

use crate::shapes::{self, Shape};
use crate::{AGENT, SCAN_STEPS_PER_BYTE};

/// Steps of a scan per byte of a path: a binary search, comparisons of 64 bytes of the longest literal
/// that is searched together with others, and the words of the bit set of literals.
const SEARCH_STEPS_PER_BYTE: u64 = 128;

/// Times that the first URL may read a rule set to prepare matching it.
const READS_OF_RULES: u64 = 2;

/// A file, and the size of its rules.
struct Case {
    robots: Vec<u8>,
    dialect: &'static Dialect,
    labels: &'static [Label],
    rules: u64,
    rule_bytes: u64,
}

impl Case {
    fn of(shape: Shape, dialect: &'static Dialect, labels: &'static [Label]) -> Case {
        let text = String::from_utf8(shape.robots).expect("rules of ASCII letters");
        let rules = text.lines().skip(1).map(|line| {
            let (_, value) = line.split_once(": ").expect("a field and its value");
            value.split(' ').next().unwrap_or_default().len() as u64
        });
        let (rules, rule_bytes) = rules.fold((0, 0), |(rules, sum), it| (rules + 1, sum + it));
        Case { robots: text.into(), dialect, labels, rules, rule_bytes }
    }

    /// Returns the work of each path, asked one after the other.
    fn work(&self, paths: &[Vec<u8>]) -> Vec<AutomatonWork> {
        let agents = agents(&[AGENT], self.dialect);
        let set = set_everywhere(&self.robots, (self.dialect, None));
        let engine = Engine::new(set, &agents, &Configuration::default()).with_usage(self.labels);
        let mut memory = engine.memory();
        let mut work = |path: &Vec<u8>| {
            let url = [b"https://example.com", &path[..]].concat();
            let before = memory.session().step_counts().work;
            engine.decide(&[url], &mut memory);
            let after = memory.session().step_counts().work;
            AutomatonWork {
                rule_bytes: after.rule_bytes - before.rule_bytes,
                scan_steps: after.scan_steps - before.scan_steps,
                ..after
            }
        };
        paths.iter().map(&mut work).collect()
    }

    /// Checks that a path visits each of its bytes and each rule a few times.
    fn check_scans(&self, paths: &[Vec<u8>]) {
        for (path, work) in paths.iter().zip(self.work(paths)) {
            let size = path.len() as u64 + self.rules;
            let steps_max = SCAN_STEPS_PER_BYTE as u64 * size;
            assert!(work.scan_steps <= steps_max, "{} of {steps_max} steps", work.scan_steps);
        }
    }

    /// Checks that a path takes a search for each of its bytes, whatever nests there, and visits each
    /// rule a few times.
    fn check_searches(&self, paths: &[Vec<u8>]) {
        for (path, work) in paths.iter().zip(self.work(paths)) {
            let steps_max =
                SEARCH_STEPS_PER_BYTE * path.len() as u64 + SCAN_STEPS_PER_BYTE as u64 * self.rules;
            assert!(work.scan_steps <= steps_max, "{} of {steps_max} steps", work.scan_steps);
        }
    }

    /// Checks that the first path reads the rules of each rule set a few times.
    fn check_first(&self, path: Vec<u8>) {
        let rule_sets = self.labels.len().max(1) as u64;
        let size = path.len() as u64 + rule_sets * self.rule_bytes;
        let (work, read_max) = (self.work(&[path])[0], READS_OF_RULES * size);
        let read = work.rule_bytes;
        assert!(read <= read_max, "{read} of {read_max} bytes: {work:?}");
    }
}

fn nested(times: usize) -> Vec<u8> {
    [b"/", &b"a/".repeat(times)[..]].concat()
}

// A prefix can only begin a path, so prefixes that nest are visited once.
#[test]
fn nested_prefixes_are_visited_once_per_path() {
    let case = Case::of(shapes::nested_prefixes(b"b"), &RFC_9309, &[]);
    case.check_scans(&[nested(1_000), nested(999), nested(998)]);
}

#[test]
fn nested_prefixes_are_visited_once_per_long_path() {
    Case::of(shapes::nested_prefixes(b"="), &RFC_9309, &[]).check_scans(&[nested(32_000)]);
}

#[test]
fn nested_prefixes_are_read_twice_for_the_first_path() {
    let case = Case::of(shapes::nested_prefixes(b"b"), &RFC_9309, &[]);
    case.check_first(nested(1_000));
}

#[test]
fn numbered_literals_are_read_twice_for_the_first_path() {
    let case = Case::of(shapes::numbered_literals(), &GOOGLE, &[]);
    case.check_first([b"/", &b"Q9".repeat(1_000)[..]].concat());
}

// Labels whose statements compete have a rule set each.
#[test]
fn statements_are_read_twice_a_label_for_the_first_path() {
    let case = Case::of(shapes::competing_statements(), &RFC_9309, &Label::ALL);
    case.check_first(nested(1_000));
}

// Patterns that begin alike move together.
#[test]
fn runs_joined_by_stars_are_visited_once_per_path() {
    let case = Case::of(shapes::runs_joined_by_stars(), &RFC_9309, &[]);
    case.check_scans(&[run(2_000), run(1_999), run(30)]);
}

#[test]
fn nested_literals_that_nothing_waits_for_are_not_visited() {
    for shape in [shapes::long_runs_joined_by_stars(), shapes::runs_that_nest()] {
        Case::of(shape, &RFC_9309, &[]).check_searches(&[run(2_000), run(60_000), run(1_999)]);
    }
}

// Bytes are compared once per position, and counted.
#[test]
fn long_literals_are_compared_once_per_position() {
    for bytes in [100, 1_000, 2_000, 4_096, 4_097, 30_000, 65_000] {
        let case = Case::of(shapes::long_literals(bytes), &RFC_9309, &[]);
        case.check_searches(&[run(2_000), run(60_000), run(65_400)]);
    }
}

fn run(bytes: usize) -> Vec<u8> {
    [b"/", &b"a".repeat(bytes)[..]].concat()
}
