//! Expensive and edge-case input: work and memory stay within the stated limits, and the answers
//! agree with the oracle.
//!
//! Nothing here measures time, so the tests hold on any machine. They count steps of scans,
//! bytes of rules read, index entries and bytes held.

mod budget;
mod collisions;
mod edges;
mod goals;
mod shapes;

use bstr::ByteSlice;
use portcullis_dialect::decision::{Decision, Verdict};
use portcullis_dialect::dialect::{Dialect, RFC_9309};
use portcullis_dialect::limits::ROBOTS_BYTES_MAX;
use portcullis_engine::limits::{DFA_CACHE_BYTES_MAX, DFA_PATTERN_BYTES_MAX};
use portcullis_engine::{AutomatonWork, Cache, Limits, RuleSet, Settings};
use portcullis_oracle as oracle;
use portcullis_robots::policy::{Crawler, OrderedRules, Selection};
use portcullis_robots::syntax::RobotsTxt;
use portcullis_testkit::Random;
use shapes::Shape;

const DIALECT: &Dialect = &RFC_9309;
const AGENT: &str = "ExampleBot";

/// Paths per rule set.
const PATHS: usize = 48;

/// The first of them are also given to the oracle, which is slow.
const PATHS_JUDGED: usize = 3;

/// Bytes of a long path, and of one for the oracle.
const LONG_BYTES: usize = 2_048;
const JUDGED_BYTES: usize = 256;

/// Bytes that the NFA and the configuration of a DFA take per byte of its patterns.
const DFA_BYTES_PER_PATTERN_BYTE: usize = 256;

/// Bytes that an automaton may hold per position of its rule set, without states.
const BYTES_PER_POSITION_MAX: usize = 96;

/// Steps of a scan per byte of the path and of the rules.
const SCAN_STEPS_PER_BYTE: usize = 4;

/// Peak memory of the whole test program, which runs several shapes at once.
const PROGRAM_KIBIBYTES_MAX: usize = 256 * 1024;

/// Returns the rules of `shape` in order of precedence.
fn ordered(shape: &Shape) -> OrderedRules {
    let file = RobotsTxt::parse(&shape.robots, DIALECT, None);
    let agent = Crawler::parse(AGENT, DIALECT).expect("a token");
    let groups = Selection::of(&file, &agent, DIALECT).groups;
    assert!(!groups.is_empty(), "the file has a default group");
    OrderedRules::new(&file, &groups, &DIALECT.paths)
}

/// Returns paths over the letters of the shape: random ones, repetitions of one letter, and
/// prefixes of rules with a letter instead of each star.
fn paths(shape: &Shape, rules: &OrderedRules) -> Vec<Vec<u8>> {
    let mut random = Random::new(7);
    let mut path = |index: usize| {
        let bytes = if index < PATHS_JUDGED { JUDGED_BYTES } else { LONG_BYTES };
        match index % 3 {
            0 => random.word(shape.letters, bytes..=bytes),
            1 => vec![*random.pick(shape.letters); bytes],
            _ => {
                let pattern = rules.patterns.get(random.below(rules.patterns.len()));
                let literals: Vec<&[u8]> = pattern.literals().collect();
                let mut path = literals.join(random.pick(shape.letters));
                path.truncate(random.within(2..=LONG_BYTES));
                path.strip_prefix(b"/").unwrap_or(&path).to_vec()
            }
        }
    };
    (0..PATHS).map(|index| [b"/", &path(index)[..]].concat()).collect()
}

/// The verdict of the deciding rule, and its pattern; `None` if no rule matches.
fn decide(
    rules: RuleSet<'_>,
    path: &[u8],
    settings: &Settings,
    cache: &mut Cache,
) -> Option<(Verdict, usize)> {
    let outcome = rules.decide(path, settings, cache);
    let verdict = if outcome.allows() { Verdict::Allow } else { Verdict::Disallow };
    outcome.pattern().map(|pattern| (verdict, pattern))
}

fn check(shape: &Shape) {
    let ordered = ordered(shape);
    let bytes = ordered.patterns.byte_len() + ordered.patterns.len();
    let paths = paths(shape, &ordered);
    let judged: Vec<Decision> =
        paths[..PATHS_JUDGED].iter().map(|path| judge(shape, path)).collect();
    let scanned: Vec<_> = paths.iter().map(|path| scanned(&ordered, path)).collect();
    let stored = ordered.compile();
    let rules = stored.as_rule_set();
    let usual = Limits::default();
    let automata = Limits { candidates_tried_max: None, ..usual };
    let limits = [
        usual,
        // A DFA is built at once, if the rule set may have one.
        Limits { dfa_bytes_queried_min: 0, ..automata },
        // All paths are scanned.
        Limits { dfa_pattern_bytes_max: 0, ..automata },
    ];
    for limits in limits {
        let (settings, mut cache) = (Settings { limits, ..Settings::default() }, Cache::default());
        for (path, judged) in paths.iter().zip(&judged) {
            compare(&ordered, decide(rules, path, &settings, &mut cache), path, *judged);
        }
        for (path, scanned) in paths.iter().zip(&scanned) {
            let before = cache.work();
            let verdict = decide(rules, path, &settings, &mut cache).map(|(verdict, _)| verdict);
            assert_eq!(verdict, *scanned, "{}", path.as_bstr());
            check_memory(&cache, bytes);
            check_scan(before, cache.work(), path, bytes);
        }
        // By now states exist for these paths, or building has stopped.
        for (path, judged) in paths.iter().zip(&judged) {
            compare(&ordered, decide(rules, path, &settings, &mut cache), path, *judged);
        }
    }
    check_program();
}

fn judge(shape: &Shape, path: &[u8]) -> Decision {
    let url = [b"https://example.com", path].concat();
    oracle::decide(DIALECT, &shape.robots, None, &[AGENT], &url)
}

fn compare(rules: &OrderedRules, answer: Option<(Verdict, usize)>, path: &[u8], judged: Decision) {
    let verdict = answer.map_or(Verdict::Allow, |(verdict, _)| verdict);
    assert_eq!(verdict, judged.verdict, "{}", path.as_bstr());
    let rule = answer.map(|(_, pattern)| rules.rules[pattern]);
    assert_eq!(rule, judged.rule, "{}", path.as_bstr());
}

/// Scans the rules for the first that matches.
fn scanned(rules: &OrderedRules, path: &[u8]) -> Option<Verdict> {
    let first = rules.patterns.iter().position(|pattern| pattern.matches(path));
    first.map(|index| rules.verdicts[index])
}

/// Checks that an automaton takes memory in proportion to its patterns, and its DFA no more than it
/// may.
fn check_memory(cache: &Cache, bytes: usize) {
    let dfa = DFA_CACHE_BYTES_MAX + DFA_BYTES_PER_PATTERN_BYTE * bytes.min(DFA_PATTERN_BYTES_MAX);
    let held_max = dfa + BYTES_PER_POSITION_MAX * bytes;
    let held = cache.memory_bytes();
    assert!(held <= held_max, "{held} bytes of {held_max} are held");
}

/// Checks that a scan reads each byte of the path and of the rules at most a few times.
fn check_scan(before: AutomatonWork, after: AutomatonWork, path: &[u8], bytes: usize) {
    let steps = after.scan_steps - before.scan_steps;
    let steps_max =
        (after.scans - before.scans) * (SCAN_STEPS_PER_BYTE * (path.len() + bytes)) as u64;
    assert!(steps <= steps_max, "{steps} steps for {} bytes, {bytes} in rules", path.len());
}

/// Checks the peak memory that Linux reports, which includes compiling.
fn check_program() {
    let Ok(status) = std::fs::read_to_string("/proc/self/status") else { return };
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kibibytes = peak.and_then(|peak| peak.split_whitespace().next()?.parse::<usize>().ok());
    assert!(kibibytes.unwrap_or(0) <= PROGRAM_KIBIBYTES_MAX, "{kibibytes:?} KiB at the peak");
}

macro_rules! hostile {
    ($($name:ident: $shape:expr;)*) => {
        $(
            #[test]
            fn $name() {
                check(&$shape);
            }
        )*
    };
}

hostile! {
    random_literals: shapes::random_literals();
    a_thousand_stars_in_one_rule: shapes::stars_in_one_rule(1_000);
    stars_as_long_as_the_file: shapes::stars_in_one_rule(ROBOTS_BYTES_MAX / 2 - 20);
    many_rules_of_stars: shapes::many_rules_of_stars();
    distinct_literals: shapes::distinct_literals();
    distinct_literals_behind_stars: shapes::distinct_literals_behind_stars();
    longer_and_longer: shapes::longer_and_longer();
    shared_stars: shapes::shared_stars();
    one_anchored_rule: shapes::one_anchored_rule();
    backtracking: shapes::backtracking();
    backtracking_many: shapes::backtracking_many();
    rules_without_stars: shapes::rules_without_stars();
    shared_prefix: shapes::shared_prefix();
    waiting_stars: shapes::waiting_stars();
    words_then_literals: shapes::words_then_literals();
    runs_within_runs: shapes::runs_within_runs();
    one_rule_again_and_again: shapes::one_rule_again_and_again();
    distinct_and_everywhere: shapes::distinct_and_everywhere();
    pairs_of_words: shapes::pairs_of_words();
    nested_prefixes: shapes::nested_prefixes(b"b");
    numbered_literals: shapes::numbered_literals();
    again_and_again_behind_many_states: shapes::again_and_again_behind_many_states();
    runs_joined_by_stars: shapes::runs_joined_by_stars();
    long_runs_joined_by_stars: shapes::long_runs_joined_by_stars();
    runs_that_nest: shapes::runs_that_nest();
    literals_of_a_hundred_bytes: shapes::long_literals(100);
    literals_of_a_thousand_bytes: shapes::long_literals(1_000);
    literals_of_four_thousand_bytes: shapes::long_literals(4_095);
    literals_longer_than_urls: shapes::long_literals(65_000);
}
