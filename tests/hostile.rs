//! Input made to be expensive or to fall over an edge: counted work and memory stay within the
//! limits that are stated, and the answers stay the oracle's.
//!
//! Nothing here measures time, so that the tests hold on any machine; what is asserted is the number
//! of NFA positions looked at, nodes built, bytes scanned and octets held.

#[path = "hostile/collisions.rs"]
mod collisions;
mod common;
#[path = "hostile/edges.rs"]
mod edges;
#[path = "hostile/shapes.rs"]
mod shapes;

use std::collections::BTreeSet;

use bstr::ByteSlice;
use common::Random;
use portcullis::automaton::{Automaton, Cache, Limits, Outcome, pattern_matches};
use portcullis::decision::{Decision, Verdict};
use portcullis::dialect::{Dialect, RFC_9309};
use portcullis::limits::{EARLY_SCAN_BYTES_MAX, ROBOTS_OCTETS_MAX, SCANS_BEFORE_STATES};
use portcullis::oracle;
use portcullis::pattern::PatternList;
use portcullis::policy::{AgentChain, Detail, OrderedRules, Selection, outcomes};
use portcullis::syntax::RobotsTxt;
use shapes::Shape;

const DIALECT: &Dialect = &RFC_9309;
const AGENT: &str = "ExampleBot";

/// Paths that each rule set is asked about.
const PATHS: usize = 48;

/// So many of them, the first, go to the oracle too, which takes its time.
const PATHS_JUDGED: usize = 3;

/// Octets of a long path, and of one that is judged.
const LONG_OCTETS: usize = 2_048;
const JUDGED_OCTETS: usize = 256;

/// A budget for building ahead within which rule sets without stars, however large, are built.
fn generous_positions(positions: usize) -> u64 {
    4 * positions as u64 + 4_096
}

/// Positions that the step which passes a budget may look at: each of the rule set a few times, and
/// those that a run carries along.
fn last_step_positions(positions: usize) -> u64 {
    8 * positions as u64 + (1 << 16)
}

/// Octets that the step which passes a budget may add: the lists of one node and its key, each of
/// four octets a position, and a run or a branch as large as there is.
fn last_step_octets(positions: usize) -> usize {
    6 * 4 * positions + (1 << 17)
}

/// Octets that a compiled rule set may hold for each of its positions, what is built for one that is
/// scanned often included.
const OCTETS_PER_POSITION_MAX: usize = 64;

/// Octets that the whole test program may ever hold, all shapes that run at once included.
const PROGRAM_KIBIBYTES_MAX: usize = 256 * 1024;

/// The rules of `shape` in order of precedence.
fn ordered(shape: &Shape) -> OrderedRules {
    let file = RobotsTxt::parse(&shape.robots, DIALECT, None);
    let agent = AgentChain::parse(AGENT, DIALECT).expect("a token");
    let Selection::Groups { groups, .. } = Selection::of(&file, &agent, DIALECT) else {
        panic!("the file has a default group");
    };
    OrderedRules::new(&file, &groups, &DIALECT.paths)
}

/// Paths over the shape's letters: random ones, repetitions of one letter, and starts of rules with
/// a letter in place of each star.
fn paths(shape: &Shape, rules: &OrderedRules) -> Vec<Vec<u8>> {
    let mut random = Random::new(7);
    let mut path = |index: usize| {
        let octets = if index < PATHS_JUDGED { JUDGED_OCTETS } else { LONG_OCTETS };
        match index % 3 {
            0 => random.word(shape.letters, octets..=octets),
            1 => vec![*random.pick(shape.letters); octets],
            _ => {
                let pattern = rules.patterns.get(random.below(rules.patterns.len()));
                let literals: Vec<&[u8]> = pattern.literals().collect();
                let mut path = literals.join(random.pick(shape.letters));
                path.truncate(random.within(2..=LONG_OCTETS));
                path.strip_prefix(b"/").unwrap_or(&path).to_vec()
            }
        }
    };
    (0..PATHS).map(|index| [b"/", &path(index)[..]].concat()).collect()
}

/// Rules in order of precedence, compiled.
struct RuleSet {
    automaton: Automaton,
}

/// The verdict of the rule that decides, and its pattern if that was asked for.
#[derive(Clone, Copy)]
struct RuleAnswer {
    verdict: Verdict,
    pattern: Option<u32>,
}

impl RuleSet {
    fn new(patterns: PatternList, verdicts: &[Verdict], limits: &Limits) -> RuleSet {
        RuleSet { automaton: Automaton::new(patterns, outcomes(verdicts), limits) }
    }

    fn decide(&self, path: &[u8], detail: Detail, cache: &mut Cache) -> Option<RuleAnswer> {
        let outcome = self.automaton.decide(path, detail, cache);
        let verdict = if outcome.allows() { Verdict::Allow } else { Verdict::Disallow };
        let pattern = (detail == Detail::Rule).then(|| outcome.number().wrapping_sub(1));
        (outcome != Outcome::NONE).then_some(RuleAnswer { verdict, pattern })
    }

    fn automaton(&self) -> &Automaton {
        &self.automaton
    }
}

fn check(shape: &Shape) {
    let rules = ordered(shape);
    let positions = rules.patterns.octets() + rules.patterns.len();
    let paths = paths(shape, &rules);
    let judged: Vec<Decision> =
        paths[..PATHS_JUDGED].iter().map(|path| judge(shape, path)).collect();
    let scanned: Vec<_> = paths.iter().map(|path| scanned(&rules, path)).collect();
    let distinct = distinct_patterns(&rules);
    for detail in [Detail::Rule, Detail::Reason] {
        let usual = Limits::default();
        let generous = Limits { ahead_positions_max: generous_positions(positions), ..usual };
        let spent = Limits { on_demand_positions_max: 0, scans_before_states: 0, ..usual };
        // A scan does not depend on the detail, so once is enough.
        let others = (detail == Detail::Rule).then_some(spent);
        for limits in [usual, generous].into_iter().chain(others) {
            let set = RuleSet::new(rules.patterns.clone(), &rules.verdicts, &limits);
            if limits == generous {
                assert_eq!(set.automaton().strategy(), shape.strategy);
            }
            check_automaton(set.automaton(), positions, &limits);
            let mut cache = set.automaton().cache();
            for (path, judged) in paths.iter().zip(&judged) {
                compare(&rules, &set, path, *judged, (detail, &mut cache));
            }
            for (path, scanned) in paths.iter().zip(&scanned) {
                let answer = set.decide(path, detail, &mut cache);
                let verdict = answer.map(|answer| answer.verdict);
                assert_eq!(verdict, *scanned, "{}", path.as_bstr());
                check_cache(&cache, positions, &limits);
                check_scans(&cache, distinct);
            }
            // States were built for these paths since, or the budget is spent, so ask again.
            for (path, judged) in paths.iter().zip(&judged) {
                compare(&rules, &set, path, *judged, (detail, &mut cache));
            }
            check_automaton(set.automaton(), positions, &limits);
        }
    }
    check_program();
}

fn judge(shape: &Shape, path: &[u8]) -> Decision {
    let url = [b"https://example.com", path].concat();
    oracle::decide(DIALECT, &shape.robots, None, &[AGENT], &url)
}

fn compare(
    rules: &OrderedRules,
    set: &RuleSet,
    path: &[u8],
    judged: Decision,
    (detail, cache): (Detail, &mut Cache),
) {
    let answer = set.decide(path, detail, cache);
    let verdict = answer.map_or(Verdict::Allow, |answer| answer.verdict);
    assert_eq!(verdict, judged.verdict, "{}", path.as_bstr());
    assert_eq!(answer.is_some(), judged.rule.is_some(), "{}", path.as_bstr());
    if let Some(pattern) = answer.and_then(|answer| answer.pattern) {
        assert_eq!(Some(rules.rules[pattern as usize]), judged.rule, "{}", path.as_bstr());
    }
}

/// The verdict of the first rule that matches, tried one after another.
fn scanned(rules: &OrderedRules, path: &[u8]) -> Option<Verdict> {
    let first = rules.patterns.iter().position(|pattern| pattern_matches(&pattern, path));
    first.map(|index| rules.verdicts[index])
}

fn check_automaton(automaton: &Automaton, positions: usize, limits: &Limits) {
    let work_max = limits.ahead_positions_max + last_step_positions(positions);
    assert!(automaton.nodes() as u64 <= work_max, "{} nodes", automaton.nodes());
    let octets = automaton.memory_octets();
    let octets_max = OCTETS_PER_POSITION_MAX * positions;
    assert!(octets <= octets_max, "{octets} octets of {positions} positions");
}

fn check_cache(cache: &Cache, positions: usize, limits: &Limits) {
    let visited = cache.positions_visited();
    let visited_max = limits.on_demand_positions_max + last_step_positions(positions);
    assert!(visited <= visited_max, "{visited} positions visited");
    assert!(cache.nodes() as u64 <= visited + 1, "{} nodes", cache.nodes());
    let octets = cache.memory_octets();
    let octets_max = limits.on_demand_octets_max + last_step_octets(positions);
    assert!(octets <= octets_max, "{octets} octets in a cache");
    // A node costs its positions and little more, so work cannot hide between few nodes.
    let nodes = cache.nodes() as u64;
    let per_node = 2 * last_step_positions(positions);
    assert!(visited <= (nodes + 1) * per_node, "{visited} positions for {nodes} nodes");
    let asked = PATHS + PATHS_JUDGED;
    assert!(cache.scans() <= asked as u64, "{} scans", cache.scans());
}

/// Patterns that differ.
fn distinct_patterns(rules: &OrderedRules) -> usize {
    let mut identity = Vec::new();
    let identities = rules.patterns.iter().map(|pattern| {
        pattern.write_identity(&mut identity);
        identity.clone()
    });
    identities.collect::<BTreeSet<_>>().len()
}

/// A scan before there are states is short, and one after the budget is spent tries no pattern twice.
fn check_scans(cache: &Cache, distinct: usize) {
    let early_max = SCANS_BEFORE_STATES * EARLY_SCAN_BYTES_MAX as u64;
    let late_max = cache.scans() * (distinct * (LONG_OCTETS + 1)) as u64;
    let scanned = cache.bytes_scanned();
    assert!(scanned <= early_max + late_max, "{scanned} bytes scanned, {distinct} patterns");
}

/// Compiling has its peak before there is anything to ask, so the system is asked, where it tells.
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
    stars_as_long_as_the_file: shapes::stars_in_one_rule(ROBOTS_OCTETS_MAX / 2 - 20);
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
    again_and_again_behind_many_states: shapes::again_and_again_behind_many_states();
}
