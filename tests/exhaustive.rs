//! Compares every strategy of the engine with the oracle on all small inputs: all patterns, all
//! pairs of patterns and all sequences of records up to a size.
//!
//! A decision depends on a path only through the rules that match it. So the oracle decides one
//! path of each kind in full, and each pattern is matched with each path once, however many rule
//! sets contain the pattern. A seeded sample of comparisons with the full oracle checks that this
//! shortcut is valid.
//!
//! Nearly all decisions are made in shuffled blocks over many files, as `classify` makes them.
//! Vector widths alternate, and so do sets that are compiled into memory, read and mapped. A
//! smaller world is decided from URLs, with each kind of set.

#[path = "common/allocator.rs"]
mod allocator;
mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bstr::{BStr, ByteSlice};
use common::{
    Configuration, Form, Random, configurations, origin, policies_of, scattered, set_of, sets_of,
    words,
};
use portcullis_dialect::decision::Decision;
use portcullis_dialect::dialect::Dialect;
use portcullis_dialect::limits::RECORDS_AT_ONCE;
use portcullis_engine::Outcome;
use portcullis_engine::automaton::RegexEngine;
use portcullis_engine::pattern::{PatternList, normal_text};
use portcullis_oracle as oracle;
use portcullis_robots::policy::AgentChain;
use portcullis_robots::target::{ComparedPaths, compared_path, split};
use portcullis_set::PolicySet;
use portcullis_set::batch::{Classifier, Session, Vectors};
use rayon::prelude::*;

/// The bytes of patterns.
const PATTERN_ALPHABET: &[u8] = b"a/*$%";

/// The bytes of paths. With `a` and `b` as digits, `%` starts triplets.
const PATH_ALPHABET: &[u8] = b"ab/%";

/// The agent; no file names it.
const AGENT: &str = "ExampleBot";

/// One comparison in this many uses the oracle in full.
const SAMPLED_ONE_IN: usize = 2_000;

/// The number of rule sets that a thread decides with one memory.
const FILES_AT_ONCE: usize = 256;

/// The number of files whose questions are shuffled together. More would not fit into CPU caches.
const FILES_MIXED: usize = 32;

/// One share of work in this many is decided one by one instead of in blocks.
const ASKED_SINGLY_ONE_IN: usize = 16;

/// Returns groups of dialects that compare paths alike; the oracle runs for one dialect per group.
fn dialects_by_paths() -> impl Iterator<Item = &'static [&'static Dialect]> {
    static ALL: [&Dialect; 5] = Dialect::ALL;
    ALL.chunk_by(|one, other| one.paths == other.paths)
}

/// Returns all configurations but the default. For rule sets of this size, one of them equals the
/// default.
fn strategies() -> Vec<Configuration> {
    configurations()[1..].to_vec()
}

/// URLs with all paths up to a length, and their compared paths.
struct Paths {
    urls: Vec<Vec<u8>>,
    compared: Vec<Vec<u8>>,
}

impl Paths {
    /// Both implementations must agree on the compared path.
    fn new(dialect: &Dialect, length_max: usize) -> Paths {
        let url = |path: &Vec<u8>| [b"https://example.com/", &path[..]].concat();
        let urls: Vec<Vec<u8>> = words(PATH_ALPHABET, length_max).iter().map(url).collect();
        let compared = |url: &Vec<u8>| {
            let judged = oracle::compared_path(dialect, url).expect("a URL");
            let parts = split(url, dialect.paths.path_start).expect("a URL");
            let mut scratch = Vec::new();
            let path = compared_path(parts.path, dialect.paths.escapes, &mut scratch);
            assert_eq!(
                path.as_bytes().as_bstr(),
                judged.as_bstr(),
                "{} {}",
                dialect.name,
                url.as_bstr()
            );
            judged
        };
        Paths { compared: urls.iter().map(compared).collect(), urls }
    }

    /// Returns, for each pattern and each path, whether they match according to the oracle.
    fn matches(&self, dialect: &Dialect, patterns: &[Vec<u8>]) -> Vec<Vec<bool>> {
        let row = |pattern: &Vec<u8>| {
            let matches = |path: &Vec<u8>| oracle::pattern_matches(dialect, pattern, path);
            self.compared.iter().map(matches).collect()
        };
        patterns.par_iter().map(row).collect()
    }
}

/// A file with one or two rules.
struct File {
    text: Vec<u8>,
    /// The indexes of its rules' patterns in the list.
    patterns: Vec<usize>,
    /// The oracle's decision for each set of matching patterns, as bits, if the set occurs.
    judged: [Option<Decision>; 4],
}

impl File {
    fn new(dialect: &Dialect, rules: &[(&str, usize)], world: &World<'_>) -> File {
        let mut text = b"User-agent: *\n".to_vec();
        for &(field, pattern) in rules {
            text.extend([field.as_bytes(), b": ", &world.patterns[pattern], b"\n"].concat());
        }
        let patterns = rules.iter().map(|&(_, pattern)| pattern).collect();
        let mut file = File { text, patterns, judged: [None; 4] };
        let judge = oracle::Judge::new(dialect, &file.text, None, &[AGENT]);
        let mut judged = file.judged;
        for (kind, url) in file.kinds(world).zip(&world.paths.urls) {
            judged[kind].get_or_insert_with(|| judge.decide(url));
        }
        file.judged = judged;
        file
    }

    /// Returns, for each path, which of the patterns match it.
    fn kinds<'w>(&self, world: &World<'w>) -> impl Iterator<Item = usize> + use<'w> {
        let first = &world.matches[self.patterns[0]];
        let second = self.patterns.get(1).map(|&pattern| &world.matches[pattern]);
        let kind = move |path: usize| {
            usize::from(first[path]) | usize::from(second.is_some_and(|second| second[path])) << 1
        };
        (0..first.len()).map(kind)
    }

    fn judge(&self, dialect: &Dialect, url: &[u8]) -> Decision {
        oracle::decide(dialect, &self.text, None, &[AGENT], url)
    }
}

/// The patterns of files, and the paths.
struct World<'w> {
    patterns: &'w [Vec<u8>],
    paths: &'w Paths,
    matches: &'w [Vec<bool>],
}

/// Decides all files and paths with the engine, and returns the number of compared answers.
fn compare(
    dialect: &'static Dialect,
    compiled: &Compiled<'_>,
    world: &World<'_>,
    configuration: &Configuration,
) -> u64 {
    let Compiled { files, .. } = *compiled;
    let agents = vec![AgentChain::parse(AGENT, dialect).expect("a token")];
    let policies: Vec<usize> = (0..files.len()).collect();
    let shares: Vec<(usize, &[usize])> = policies.chunks(FILES_AT_ONCE).enumerate().collect();
    let kinds = Vectors::all();
    for (turn, &vectors) in kinds.iter().enumerate() {
        let (set, limits) = (Arc::clone(&compiled.set), configuration.limits);
        let classifier = Classifier::with_limits(set, agents.clone(), limits);
        let classifier = Arc::new(classifier.expect("a whole set").with_vectors(vectors));
        let own_shares = shares.par_iter().filter(|(number, _)| number % kinds.len() == turn);
        own_shares.for_each(|(number, policies)| {
            let is_singly = (number / kinds.len()).is_multiple_of(ASKED_SINGLY_ONE_IN);
            let size = if is_singly { 1 } else { RECORDS_AT_ONCE };
            let mut session = Session::new(Arc::clone(&classifier), None);
            let mut random = Random::new(policies[0] as u64);
            for policies in policies.chunks(FILES_MIXED) {
                let asked = Asked { dialect, compiled, world, configuration };
                asked.compare(policies, size, &mut session, &mut random);
            }
        });
    }
    (files.len() * world.paths.urls.len()) as u64
}

/// Files compiled into a set.
struct Compiled<'f> {
    files: &'f [File],
    set: Arc<PolicySet>,
    /// By file.
    policies: Vec<u32>,
}

impl<'f> Compiled<'f> {
    /// Forms alternate, because building each costs as much as the queries.
    fn new(dialect: &'static Dialect, files: &'f [File], form: Form) -> Compiled<'f> {
        let texts: Vec<&[u8]> = files.iter().map(|file| &*file.text).collect();
        let agents = [AgentChain::parse(AGENT, dialect).expect("a token")];
        let set = set_of(form, &texts, (dialect, None), &agents);
        Compiled { policies: policies_of(&set, files.len()), files, set }
    }
}

/// The files, and the configuration to compare.
struct Asked<'a> {
    dialect: &'static Dialect,
    compiled: &'a Compiled<'a>,
    world: &'a World<'a>,
    configuration: &'a Configuration,
}

impl Asked<'_> {
    /// Decides all paths with some policies, in shuffled blocks of this size.
    fn compare(&self, policies: &[usize], size: usize, session: &mut Session, random: &mut Random) {
        let Asked { dialect, compiled, world, configuration } = *self;
        let files = compiled.files;
        let paths = world.paths.urls.len();
        let kinds: Vec<u8> = policies
            .iter()
            .flat_map(|&policy| files[policy].kinds(world).map(|kind| kind as u8))
            .collect();
        let mut order = scattered(policies.len() * paths);
        let (mut asked, mut asked_paths): (Vec<u32>, Vec<&[u8]>) = Default::default();
        let mut block = Vec::with_capacity(size);
        loop {
            block.clear();
            let question = |at| (at, policies[at / paths], at % paths);
            block.extend(order.by_ref().take(size).map(question));
            if block.is_empty() {
                return;
            }
            asked.clear();
            asked_paths.clear();
            for &(_, policy, path) in &block {
                asked.push(compiled.policies[policy]);
                asked_paths.push(&world.paths.compared[path]);
            }
            let normal_paths = ComparedPaths::assume_normal(&asked_paths);
            session.decide(&asked, normal_paths).expect("a whole set");
            let decisions = configuration.answers(session);
            for (&(at, policy, path), engine) in block.iter().zip(decisions) {
                let (file, url) = (&files[policy], &world.paths.urls[path]);
                let judged = file.judged[kinds[at] as usize].expect("each kind is judged");
                let sampled = random.one_in(SAMPLED_ONE_IN);
                let in_full = if sampled { file.judge(dialect, url) } else { judged };
                assert!(
                    configuration.agrees(engine, judged) && judged == in_full,
                    "{} {configuration:?} {}\n{}\nengine {engine:?}\noracle {judged:?} {in_full:?}",
                    dialect.name,
                    url.as_bstr(),
                    file.text.as_bstr(),
                );
            }
        }
    }
}

#[test]
fn single_patterns() {
    assert!(compare_single_patterns(4, 5) >= 40_000_000);
}

#[test]
#[ignore = "takes minutes; scripts/check --full runs it"]
fn longer_single_patterns() {
    assert!(compare_single_patterns(5, 6) >= 800_000_000);
}

/// Compares all patterns on all paths, up to these lengths, with every strategy.
fn compare_single_patterns(pattern_bytes_max: usize, path_bytes_max: usize) -> u64 {
    let patterns = words(PATTERN_ALPHABET, pattern_bytes_max);
    let mut compared = 0;
    for dialects in dialects_by_paths() {
        let paths = Paths::new(dialects[0], path_bytes_max);
        let matches = paths.matches(dialects[0], &patterns);
        let world = World { patterns: &patterns, paths: &paths, matches: &matches };
        compared += compare_regex(dialects[0], &world);
        for &dialect in dialects {
            let files = ["Allow", "Disallow"].map(|field| -> Vec<File> {
                let indices = (0..patterns.len()).into_par_iter();
                indices.map(|index| File::new(dialect, &[(field, index)], &world)).collect()
            });
            // The verdict of a single rule does not affect its automaton, so half of the
            // configurations use either.
            let forms = [Form::Compiled, Form::Read];
            let compiled = [0, 1].map(|at| Compiled::new(dialect, &files[at], forms[at]));
            for (configuration, index) in strategies().iter().zip(0..) {
                let compiled = &compiled[(index + index / 2) % 2];
                compared += compare(dialect, compiled, &world, configuration);
            }
        }
    }
    println!("single patterns: {compared} comparisons");
    compared
}

/// Compares single patterns with regex-automata.
fn compare_regex(dialect: &Dialect, world: &World<'_>) -> u64 {
    let rows = world.patterns.par_iter().zip(world.matches);
    rows.for_each(|(pattern, row)| {
        let mut list = PatternList::new();
        let mut text = Vec::new();
        if normal_text(pattern, &dialect.paths, &mut text) {
            list.push(&text, dialect.paths.wildcards);
        }
        let outcomes = vec![Outcome::new(1, false); list.len()];
        let engine = RegexEngine::dense(&list, &outcomes, 1 << 20).expect("a small table");
        let mut cache = engine.cache();
        for (path, &matches) in world.paths.compared.iter().zip(row) {
            let found = engine.decide(path, &mut cache) != Some(Outcome::NONE);
            let (pattern, path) = (pattern.as_bstr(), path.as_bstr());
            assert_eq!(found, matches, "{} {pattern} {path}", dialect.name);
        }
    });
    (world.patterns.len() * world.paths.urls.len()) as u64
}

#[test]
fn pairs_of_patterns() {
    assert!(compare_pairs_of_patterns(&configurations()[..1]) >= 100_000_000);
}

#[test]
#[ignore = "takes minutes; scripts/check --full runs it"]
fn pairs_of_patterns_by_every_strategy() {
    assert!(compare_pairs_of_patterns(&strategies()) >= 1_000_000_000);
}

/// Compares all pairs of patterns on all paths, up to fixed lengths, with these strategies.
fn compare_pairs_of_patterns(configurations: &[Configuration]) -> u64 {
    let patterns = words(PATTERN_ALPHABET, 3);
    let mut compared = 0;
    for dialects in dialects_by_paths() {
        let paths = Paths::new(dialects[0], 4);
        let matches = paths.matches(dialects[0], &patterns);
        let world = World { patterns: &patterns, paths: &paths, matches: &matches };
        for &dialect in dialects {
            let files = all_pairs(dialect, &world);
            let compiled = Compiled::new(dialect, &files, Form::Mapped);
            for configuration in configurations {
                compared += compare(dialect, &compiled, &world, configuration);
            }
        }
    }
    println!("pairs of patterns: {compared} comparisons");
    compared
}

/// Returns all ordered pairs of patterns, with all verdicts.
fn all_pairs(dialect: &Dialect, world: &World<'_>) -> Vec<File> {
    let count = world.patterns.len();
    let fields = ["Allow", "Disallow"];
    let file = |index: usize| {
        let (first, second) = (index / 4 / count, index / 4 % count);
        let rules = [(fields[index / 2 % 2], first), (fields[index % 2], second)];
        File::new(dialect, &rules, world)
    };
    (0..count * count * 4).into_par_iter().map(file).collect()
}

/// Decides from URLs: files with two rules, each at its own origin, alone and compiled into a set,
/// for one agent and for two, in blocks and one by one.
#[test]
fn pairs_of_short_patterns_from_urls_on() {
    let patterns = words(PATTERN_ALPHABET, 2);
    let mut compared = 0;
    for dialects in dialects_by_paths() {
        let paths = Paths::new(dialects[0], 2);
        let matches = paths.matches(dialects[0], &patterns);
        let world = World { patterns: &patterns, paths: &paths, matches: &matches };
        for &dialect in dialects {
            compared += compare_from_urls(dialect, &all_pairs(dialect, &world), &world);
        }
    }
    println!("pairs of short patterns from URLs on: {compared} comparisons");
    assert!(compared >= 1_000_000);
}

fn compare_from_urls(dialect: &'static Dialect, files: &[File], world: &World<'_>) -> u64 {
    let texts: Vec<&[u8]> = files.iter().map(|file| &*file.text).collect();
    let usual = configurations()[0];
    let agent = AgentChain::parse(AGENT, dialect).expect("a token");
    let sets = sets_of(&texts, (dialect, None), std::slice::from_ref(&agent));
    let mut compared = 0;
    for vectors in Vectors::all() {
        for agents in [vec![agent.clone()], vec![agent.clone(), agent.clone()]] {
            for (_, set) in &sets {
                let (set, agents) = (Arc::clone(set), agents.clone());
                let classifier = Classifier::with_limits(set, agents, usual.limits);
                let classifier = classifier.expect("a whole set").with_vectors(vectors);
                compared += asked_by_urls(&Arc::new(classifier), files, world);
            }
        }
    }
    compared
}

/// Decides all files and paths by their URLs, shuffled.
fn asked_by_urls(classifier: &Arc<Classifier>, files: &[File], world: &World<'_>) -> u64 {
    let paths = world.paths.urls.len();
    let kinds: Vec<Vec<usize>> = files.iter().map(|file| file.kinds(world).collect()).collect();
    let order: Vec<usize> = scattered(files.len() * paths).collect();
    let shares: Vec<&[usize]> = order.chunks(64 * RECORDS_AT_ONCE).collect();
    let compare = |(number, share): (usize, &&[usize])| {
        let mut session = Session::new(Arc::clone(classifier), None);
        let size = if number.is_multiple_of(ASKED_SINGLY_ONE_IN) { 1 } else { RECORDS_AT_ONCE };
        let mut compared = 0;
        for block in share.chunks(size) {
            let url = |&at: &usize| {
                let path = &world.paths.urls[at % paths]["https://example.com".len()..];
                [origin(at / paths).as_bytes(), path].concat()
            };
            let urls: Vec<Vec<u8>> = block.iter().map(url).collect();
            session.classify(&urls).expect("a whole set");
            let decisions = session.decisions_with_rules().expect("a whole set");
            let agents = classifier.agents().len();
            for ((&at, url), decisions) in block.iter().zip(&urls).zip(decisions.chunks(agents)) {
                let file = &files[at / paths];
                let judged = file.judged[kinds[at / paths][at % paths]].expect("it is judged");
                let text = file.text.as_bstr();
                assert!(
                    decisions.iter().all(|&decision| decision == judged),
                    "{} {}\n{text}\n{decisions:?}\n{judged:?}",
                    classifier.dialect().name,
                    url.as_bstr(),
                );
                compared += agents as u64;
            }
        }
        compared
    };
    shares.par_iter().enumerate().map(compare).sum()
}

/// Records that form groups. `bot` occurs in `robot`, which matters in the dialect of 1994.
const RECORDS: [&[u8]; 6] = [
    b"User-agent: robot\n",
    b"User-agent: bot\n",
    b"User-agent: *\n",
    b"Disallow: /x\n",
    b"Sitemap: https://example.com/s\n",
    b"\n",
];

/// Agents: two that files name, one that they do not name, and one with a fallback.
const CHAINS: [&[&str]; 4] = [&["robot"], &["bot"], &["unnamed"], &["unnamed", "bot"]];

/// A path that the rule matches, and one that it does not match.
const PATHS: [&str; 2] = ["/x", "/y"];

#[test]
fn sequences_of_records() {
    let texts: Vec<Vec<u8>> = words(b"\0\x01\x02\x03\x04\x05", 6)
        .iter()
        .map(|word| word.iter().flat_map(|&record| RECORDS[usize::from(record)]).copied().collect())
        .collect();
    let compared = AtomicU64::new(0);
    for dialect in Dialect::ALL {
        let configurations = strategies();
        // Strategies differ in how they handle rules, and there is only one rule here.
        let chosen = [&configurations[0], &configurations[1], &configurations[2]];
        let chain =
            |agents: &[&str]| AgentChain::parse(&agents.join("+"), dialect).expect("tokens");
        let agents: Vec<AgentChain> = CHAINS.iter().map(|agents| chain(agents)).collect();
        let files: Vec<&[u8]> = texts.iter().map(Vec::as_slice).collect();
        let sets = sets_of(&files, (dialect, None), &agents);
        let judge = |text: &Vec<u8>| judge_sequence(dialect, text);
        let judged: Vec<[[Decision; CHAINS.len()]; PATHS.len()]> =
            texts.par_iter().map(judge).collect();
        let texts_asked: Vec<usize> = (0..texts.len()).collect();
        for ((_, set), configuration) in sets.iter().zip(chosen) {
            let numbers = policies_of(set, texts.len());
            let (set, limits) = (Arc::clone(set), configuration.limits);
            let classifier = Classifier::with_limits(set, agents.clone(), limits);
            let classifier = Arc::new(classifier.expect("a whole set"));
            // Both paths for each file make a block.
            texts_asked.par_chunks(RECORDS_AT_ONCE / PATHS.len()).for_each(|asked| {
                let order: Vec<usize> = scattered(asked.len() * PATHS.len()).collect();
                let question = |at: &usize| (asked[at / PATHS.len()], at % PATHS.len());
                let questions: Vec<(usize, usize)> = order.iter().map(question).collect();
                let paths: Vec<&[u8]> =
                    questions.iter().map(|&(_, path)| PATHS[path].as_bytes()).collect();
                let policies: Vec<u32> = questions.iter().map(|&(text, _)| numbers[text]).collect();
                let mut session = Session::new(Arc::clone(&classifier), None);
                let normal_paths = ComparedPaths::assume_normal(&paths);
                session.decide(&policies, normal_paths).expect("a whole set");
                let decisions = configuration.answers(&session);
                let of_agents = decisions.chunks(CHAINS.len());
                for (&(text, path), decisions) in questions.iter().zip(of_agents) {
                    let judged = &judged[text][path];
                    for ((&engine, &judged), agents) in decisions.iter().zip(judged).zip(CHAINS) {
                        assert!(
                            configuration.agrees(engine, judged),
                            "{} {configuration:?} {agents:?} {}\n{}\n{engine:?}\n{judged:?}",
                            dialect.name,
                            PATHS[path],
                            BStr::new(&texts[text]),
                        );
                    }
                }
                compared.fetch_add(decisions.len() as u64, Ordering::Relaxed);
            });
        }
    }
    let compared = compared.into_inner();
    println!("sequences of records: {compared} comparisons");
    assert!(compared >= 6_000_000);
}

/// Returns the oracle's decisions on a file, by path, then by agent.
fn judge_sequence(dialect: &Dialect, text: &[u8]) -> [[Decision; CHAINS.len()]; PATHS.len()] {
    let judges = CHAINS.map(|agents| oracle::Judge::new(dialect, text, None, agents));
    PATHS.map(|path| {
        let url = format!("https://example.com{path}");
        judges.each_ref().map(|judge| judge.decide(url.as_bytes()))
    })
}
