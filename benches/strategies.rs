//! The same question to every way of answering it: `src/automaton/DESIGN.md` takes its figures here.
//!
//! ```text
//! PORTCULLIS_ROBOTS=DIR PORTCULLIS_URLS=FILE cargo bench --bench strategies
//! ```
//!
//! Prints for each engine the time to build all rule sets, that of the first pass over all URLs and
//! of later ones (the least and the median of five, engines in turn), nodes and octets, and checks that all give
//! the same answers. Without the two variables the sample of `corpora/` is asked.

use std::path::PathBuf;
use std::time::Instant;

use bstr::ByteSlice;
use portcullis::automaton::{
    Automaton, Detail, Limits, Outcome, RegexCache, RegexEngine, pattern_matches,
};
use portcullis::decision::Verdict;
use portcullis::dialect::{Dialect, GOOGLE};
use portcullis::pattern::PatternList;
use portcullis::policy::{self, AgentChain, OrderedRules, PolicySource, Selection};
use portcullis::set::{LoadConfig, PolicySet};
use portcullis::syntax::RobotsTxt;
use portcullis::target::{compared_path, split};

const DIALECT: &Dialect = &GOOGLE;
const AGENT: &str = "Googlebot";
const ROUNDS: usize = 5;
/// What a dense table of regex-automata may have; a rule set past it counts as failed.
const DENSE_OCTETS_MAX: usize = 1 << 20;

/// A rule set, its patterns in order of precedence.
struct Rules {
    patterns: PatternList,
    /// What engines have to answer, by pattern.
    outcomes: Vec<Outcome>,
    /// What ours is built with, by pattern.
    compiled: Vec<Outcome>,
    /// Octets that counted for the order, by pattern; for the naive engine, which has no order.
    file_order: Vec<usize>,
}

/// The questions: for each URL its rule set and its path.
struct Data {
    detail: Detail,
    rules: Vec<Rules>,
    questions: Vec<(usize, Vec<u8>)>,
}

/// One way of answering.
trait Engine {
    fn decide(&mut self, rules: usize, path: &[u8]) -> Outcome;
    /// Nodes and octets, caches included.
    fn size(&self) -> (usize, usize);
    fn note(&self) -> String {
        String::new()
    }
}

fn load(detail: Detail) -> Data {
    let named = |variable: &str, sample: &str| {
        let sample = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(sample);
        std::env::var_os(variable).map_or(sample, PathBuf::from)
    };
    let config = LoadConfig { dialect: DIALECT, robots_octets_max: None };
    let robots = named("PORTCULLIS_ROBOTS", "corpora/sample/robots");
    let urls = named("PORTCULLIS_URLS", "corpora/sample/urls.txt");
    let set = PolicySet::load(&robots, &config).expect("PORTCULLIS_ROBOTS names a folder");
    let urls = std::fs::read(urls).expect("PORTCULLIS_URLS names a file");
    let agent = AgentChain::parse(AGENT, DIALECT).expect("a token");
    let mut data = Data { detail, rules: Vec::new(), questions: Vec::new() };
    let mut place = Vec::new();
    for source in set.sources() {
        let rules = ordered(source, &agent);
        place.push(rules.is_some().then_some(data.rules.len()));
        data.rules.extend(rules.map(|rules| with_outcomes(rules, detail)));
    }
    let (mut host, mut scratch) = (Vec::new(), Vec::new());
    for record in urls.lines() {
        let Ok(url) = split(record, DIALECT.paths.path_start) else { continue };
        if let Ok(Some(policy)) = set.policy_of(&url, &mut host)
            && let Some(rules) = place[policy]
        {
            let path = compared_path(url.path, DIALECT.paths.escapes, &mut scratch);
            data.questions.push((rules, path.to_vec()));
        }
    }
    data
}

fn ordered(source: PolicySource<'_>, agent: &AgentChain) -> Option<OrderedRules> {
    let PolicySource::File(text) = source else { return None };
    let file = RobotsTxt::parse(text, DIALECT, None);
    match Selection::of(&file, agent, DIALECT) {
        Selection::Groups { groups, .. } => Some(OrderedRules::new(&file, &groups, &DIALECT.paths)),
        Selection::NoRules | Selection::NoGroup => None,
    }
}

fn with_outcomes(rules: OrderedRules, detail: Detail) -> Rules {
    let outcome = |(index, verdict): (u32, &Verdict)| {
        let number = if detail == Detail::Rule { index + 1 } else { 1 };
        Outcome::new(number, *verdict == Verdict::Allow)
    };
    let outcomes = (0..).zip(&rules.verdicts).map(outcome).collect();
    let mut file_order: Vec<usize> = (0..rules.rules.len()).collect();
    file_order.sort_by_key(|&index| rules.rules[index]);
    let compiled = policy::outcomes(&rules.verdicts);
    Rules { patterns: rules.patterns, outcomes, compiled, file_order }
}

/// Every pattern of the rule set in file order, and the best of those that match.
struct Naive<'d>(&'d [Rules]);

impl Engine for Naive<'_> {
    fn decide(&mut self, rules: usize, path: &[u8]) -> Outcome {
        let rules = &self.0[rules];
        let matching = |&&index: &&usize| pattern_matches(&rules.patterns.get(index), path);
        let best = rules.file_order.iter().filter(matching).min();
        best.map_or(Outcome::NONE, |&index| rules.outcomes[index])
    }

    fn size(&self) -> (usize, usize) {
        (0, self.0.iter().map(|rules| rules.patterns.memory_octets()).sum())
    }
}

/// The patterns in order of precedence; the first that matches.
struct Sorted<'d>(&'d [Rules]);

impl Engine for Sorted<'_> {
    fn decide(&mut self, rules: usize, path: &[u8]) -> Outcome {
        let rules = &self.0[rules];
        let first = rules.patterns.iter().position(|pattern| pattern_matches(&pattern, path));
        first.map_or(Outcome::NONE, |index| rules.outcomes[index])
    }

    fn size(&self) -> (usize, usize) {
        (0, self.0.iter().map(|rules| rules.patterns.memory_octets()).sum())
    }
}

/// Ours.
struct Ours(Vec<Automaton>, Detail);

impl Ours {
    fn new(rules: &[Rules], limits: &Limits, detail: Detail) -> Ours {
        let build =
            |rules: &Rules| Automaton::new(rules.patterns.clone(), rules.compiled.clone(), limits);
        Ours(rules.iter().map(build).collect(), detail)
    }
}

impl Engine for Ours {
    fn decide(&mut self, rules: usize, path: &[u8]) -> Outcome {
        let outcome = self.0[rules].decide(path, self.1);
        match self.1 {
            Detail::Reason if outcome != Outcome::NONE => Outcome::new(1, outcome.allows()),
            _ => outcome,
        }
    }

    fn size(&self) -> (usize, usize) {
        let nodes = self.0.iter().map(|automaton| automaton.work().nodes as usize).sum();
        (nodes, self.0.iter().map(Automaton::memory_bytes).sum())
    }

    fn note(&self) -> String {
        let scans: u64 = self.0.iter().map(|automaton| automaton.work().scans).sum();
        format!("{scans} scans")
    }
}

/// regex-automata's; a rule set that it cannot build falls to its lazy variant, and is counted.
struct Regex {
    engines: Vec<(RegexEngine, RegexCache)>,
    failed: usize,
}

impl Regex {
    fn new(rules: &[Rules], dense: bool) -> Regex {
        let mut failed = 0;
        let mut build = |rules: &Rules| {
            let built = dense
                .then(|| {
                    RegexEngine::dense(&rules.patterns, &rules.outcomes, DENSE_OCTETS_MAX).ok()
                })
                .flatten();
            failed += usize::from(dense && built.is_none());
            let lazy = || RegexEngine::lazy(&rules.patterns, &rules.outcomes).expect("it fits");
            let engine = built.unwrap_or_else(lazy);
            let cache = engine.cache();
            (engine, cache)
        };
        let engines = rules.iter().map(&mut build).collect();
        Regex { engines, failed }
    }
}

impl Engine for Regex {
    fn decide(&mut self, rules: usize, path: &[u8]) -> Outcome {
        let (engine, cache) = &mut self.engines[rules];
        engine.decide(path, cache)
    }

    fn size(&self) -> (usize, usize) {
        let octets = |(engine, cache): &(RegexEngine, RegexCache)| {
            engine.memory_octets() + cache.memory_octets()
        };
        (0, self.engines.iter().map(octets).sum())
    }

    fn note(&self) -> String {
        format!("{} not built within {DENSE_OCTETS_MAX} octets", self.failed)
    }
}

fn pass(engine: &mut dyn Engine, data: &Data) -> (f64, Vec<Outcome>) {
    let start = Instant::now();
    let answer = |(rules, path): &(usize, Vec<u8>)| engine.decide(*rules, path);
    let answers: Vec<Outcome> = data.questions.iter().map(answer).collect();
    (start.elapsed().as_secs_f64() * 1e9 / data.questions.len() as f64, answers)
}

fn measure(data: &Data) {
    let unbounded = Limits { positions_per_byte: u64::MAX, ..Limits::default() };
    let scan = Limits { positions_per_byte: 0, ..Limits::default() };
    type Build<'d> = Box<dyn Fn() -> Box<dyn Engine + 'd> + 'd>;
    let builds: Vec<(&str, Build<'_>)> = vec![
        ("naive: every rule, file order", Box::new(|| Box::new(Naive(&data.rules)))),
        ("ordered, first that matches", Box::new(|| Box::new(Sorted(&data.rules)))),
        ("regex-automata, lazy", Box::new(|| Box::new(Regex::new(&data.rules, false)))),
        ("regex-automata, dense", Box::new(|| Box::new(Regex::new(&data.rules, true)))),
        ("scan", Box::new(move || Box::new(Ours::new(&data.rules, &scan, data.detail)))),
        (
            "lazy, whatever it costs",
            Box::new(move || Box::new(Ours::new(&data.rules, &unbounded, data.detail))),
        ),
        (
            "the default",
            Box::new(|| Box::new(Ours::new(&data.rules, &Limits::default(), data.detail))),
        ),
    ];
    let mut expected = None;
    let mut engines = Vec::new();
    for (name, build) in &builds {
        let start = Instant::now();
        let mut engine = build();
        let built = start.elapsed().as_secs_f64() * 1e6 / data.rules.len() as f64;
        let (first, answers) = pass(&mut *engine, data);
        assert!(*expected.get_or_insert_with(|| answers.clone()) == answers, "{name} is wrong");
        engines.push((*name, engine, built, first, Vec::new()));
    }
    for _ in 0..ROUNDS {
        for (_, engine, _, _, times) in &mut engines {
            times.push(pass(&mut **engine, data).0);
        }
    }
    println!(
        "| engine | build, µs a set | first pass, ns a URL | later, ns a URL | nodes | octets | |"
    );
    println!("|---|---|---|---|---|---|---|");
    for (name, engine, built, first, mut times) in engines {
        times.sort_by(f64::total_cmp);
        let (nodes, octets) = engine.size();
        let (least, median, note) = (times[0], times[ROUNDS / 2], engine.note());
        println!(
            "| {name} | {built:.1} | {first:.0} | {least:.0}, {median:.0} | {nodes} | {octets} | {note} |"
        );
    }
}

fn main() {
    for (name, detail) in
        [("verdicts told apart", Detail::Reason), ("rules told apart", Detail::Rule)]
    {
        let data = load(detail);
        let (sets, urls) = (data.rules.len(), data.questions.len());
        println!("\n{name}: {sets} rule sets, {urls} URLs\n");
        measure(&data);
    }
}
