//! What each part costs in instructions: lex, parse, build, split, normalise, look up, walk; and files to a set, and
//! questions to a set, which are most of these together.
//!
//! ```text
//! scripts/bench-gate
//! ```
//!
//! Valgrind counts them, so figures do not drift with the load or the clock of a machine, and
//! `scripts/bench-gate` can compare them with those of `benches/record/instructions.toml`. They say
//! nothing of caches and branches; for time there is `parts.rs`. The data is made up, always the same.

use std::hint::black_box;

use gungraun::{library_benchmark, library_benchmark_group, main};
use portcullis::automaton::{Automaton, Detail, Limits};
use portcullis::bench::Numbered;
use portcullis::decision::Verdict;
use portcullis::dialect::{Dialect, GOOGLE};
use portcullis::limits::RECORDS_AT_ONCE;
use portcullis::policy::{AgentChain, OrderedRules, Selection, outcomes};
use portcullis::set::{LoadConfig, PolicySet};
use portcullis::syntax::{Lexer, RobotsTxt};
use portcullis::synth::Corpus;
use portcullis::target::{Origin, SplitUrl, compared_path, host_key, split};

const DIALECT: &Dialect = &GOOGLE;
const AGENT: &str = "Googlebot";
const SEED: u64 = 9309;
const HOSTS: u64 = 200;
const URLS: u64 = 4_000;

/// A scheme and the key of a host.
type OriginParts = (&'static [u8], Vec<u8>);

fn corpus() -> Corpus {
    Corpus::new(SEED, HOSTS)
}

fn texts() -> Vec<Vec<u8>> {
    let text = |host| {
        let mut text = Vec::new();
        corpus().write_robots(host, &mut text);
        text
    };
    (0..HOSTS).map(text).collect()
}

fn urls() -> Vec<Vec<u8>> {
    let url = |position| {
        let mut url = Vec::new();
        corpus().write_url(position, &mut url);
        url
    };
    (0..URLS).map(url).collect()
}

/// URLs that are split; they live as long as the program.
fn split_urls() -> Vec<SplitUrl<'static>> {
    let urls: &'static [Vec<u8>] = urls().leak();
    urls.iter().filter_map(|url| split(url, DIALECT.paths.path_start).ok()).collect()
}

fn paths() -> Vec<Vec<u8>> {
    let mut scratch = Vec::new();
    let mut path = |url: &SplitUrl<'_>| {
        compared_path(url.path, DIALECT.paths.escapes, &mut scratch).as_bytes().to_vec()
    };
    split_urls().iter().map(&mut path).collect()
}

fn rule_sets() -> Vec<OrderedRules> {
    let agent = AgentChain::parse(AGENT, DIALECT).expect("a token");
    let ordered = |text: &Vec<u8>| {
        let file = RobotsTxt::parse(text, DIALECT, None);
        match Selection::of(&file, &agent, DIALECT) {
            Selection::Groups { groups, .. } => {
                Some(OrderedRules::new(&file, &groups, &DIALECT.paths))
            }
            Selection::NoRules | Selection::NoGroup => None,
        }
    };
    texts().iter().filter_map(ordered).collect()
}

fn built(rules: &OrderedRules) -> Automaton {
    Automaton::new(rules.patterns.clone(), outcomes(&rules.verdicts), &Limits::default())
}

/// Automata that have answered all paths once.
fn automata() -> (Vec<Automaton>, Vec<Vec<u8>>) {
    let paths = paths();
    let warm = |rules: &OrderedRules| {
        let mut automaton = built(rules);
        for path in &paths {
            automaton.decide(path, Detail::Reason);
        }
        automaton
    };
    (rule_sets().iter().map(warm).collect(), paths)
}

fn origins() -> (PolicySet, Vec<OriginParts>) {
    let origin = |scheme: &str, host| {
        let url = format!("{scheme}://{}/robots.txt", corpus().host(host));
        Origin::of_robots_txt(url.as_bytes()).expect("made-up hosts are hosts")
    };
    let origins: Vec<Origin> =
        (0..HOSTS).flat_map(|host| ["http", "https"].map(|scheme| origin(scheme, host))).collect();
    let set = PolicySet::of_origins(b"", &origins, &LoadConfig::new(DIALECT));
    let mut scratch = Vec::new();
    let mut question = |url: &SplitUrl<'static>| {
        let key = host_key(url, &mut scratch).expect("made-up hosts are hosts").to_vec();
        (url.scheme, key)
    };
    let questions = split_urls().iter().map(&mut question).collect();
    (set, questions)
}

#[library_benchmark]
#[bench::files(texts())]
fn lex(texts: Vec<Vec<u8>>) -> usize {
    texts.iter().map(|text| Lexer::new(black_box(text), &DIALECT.lines, None).count()).sum()
}

#[library_benchmark]
#[bench::files(texts())]
fn parse(texts: Vec<Vec<u8>>) -> usize {
    let rules = |text: &Vec<u8>| RobotsTxt::parse(black_box(text), DIALECT, None).rules().len();
    texts.iter().map(rules).sum()
}

#[library_benchmark]
#[bench::rule_sets(rule_sets())]
fn build(rule_sets: Vec<OrderedRules>) -> Vec<Automaton> {
    rule_sets.iter().map(|rules| built(black_box(rules))).collect()
}

#[library_benchmark]
#[bench::urls(urls())]
fn split_url(urls: Vec<Vec<u8>>) -> usize {
    let is_url = |url: &&Vec<u8>| split(black_box(url), DIALECT.paths.path_start).is_ok();
    urls.iter().filter(is_url).count()
}

#[library_benchmark]
#[bench::urls(split_urls())]
fn normalise(urls: Vec<SplitUrl<'static>>) -> usize {
    let (mut host, mut path) = (Vec::new(), Vec::new());
    let mut bytes = |url: &SplitUrl<'_>| {
        let host = host_key(black_box(url), &mut host).map_or(0, <[u8]>::len);
        host + compared_path(url.path, DIALECT.paths.escapes, &mut path).as_bytes().len()
    };
    urls.iter().map(&mut bytes).sum()
}

#[library_benchmark]
#[bench::origins(origins())]
fn look_up(data: (PolicySet, Vec<OriginParts>)) -> usize {
    let (set, questions) = &data;
    let is_known = |question: &&OriginParts| {
        matches!(set.policy_of(question.0, black_box(&question.1)), Ok(Some(_)))
    };
    questions.iter().filter(is_known).count()
}

#[library_benchmark]
#[bench::paths(automata())]
fn walk(data: (Vec<Automaton>, Vec<Vec<u8>>)) -> usize {
    let (mut automata, paths) = data;
    let count = automata.len();
    let mut allows = |(index, path): &(usize, &Vec<u8>)| {
        automata[index % count].decide(black_box(path), Detail::Reason).allows()
    };
    paths.iter().enumerate().filter(&mut allows).count()
}

/// All files for the agent, and questions that their policies have answered once.
fn warm() -> (Numbered, Vec<Vec<u8>>) {
    let (mut files, paths) = (compiled(&texts()), paths());
    decide_all(&mut files, &paths);
    (files, paths)
}

fn compiled(texts: &[Vec<u8>]) -> Numbered {
    let texts: Vec<&[u8]> = texts.iter().map(Vec::as_slice).collect();
    let agent = AgentChain::parse(AGENT, DIALECT).expect("a token");
    Numbered::new(&texts, &agent, DIALECT, Limits::default())
}

/// How many paths are allowed, each by another file than the one before.
fn decide_all(files: &mut Numbered, paths: &[Vec<u8>]) -> usize {
    let mut allowed = 0;
    for (number, block) in paths.chunks(RECORDS_AT_ONCE).enumerate() {
        let file = |index: usize| (number * RECORDS_AT_ONCE + index) % HOSTS as usize;
        let paths: Vec<&[u8]> = block.iter().map(|path| &path[..]).collect();
        let decisions = files.decide((0..block.len()).map(file), &paths);
        allowed += decisions.iter().filter(|it| it.verdict == Verdict::Allow).count();
    }
    allowed
}

/// A pool whose only thread is this one: Valgrind counts what this one does.
fn this_thread() -> (rayon::ThreadPool, Vec<Vec<u8>>) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build();
    (pool.expect("a pool without new threads"), texts())
}

#[library_benchmark]
#[bench::files(this_thread())]
fn compile((pool, texts): (rayon::ThreadPool, Vec<Vec<u8>>)) -> Numbered {
    pool.install(|| compiled(black_box(&texts)))
}

#[library_benchmark]
#[bench::paths(warm())]
fn decide(data: (Numbered, Vec<Vec<u8>>)) -> usize {
    let (mut files, paths) = data;
    decide_all(&mut files, black_box(&paths))
}

library_benchmark_group!(
    name = parts,
    benchmarks = [lex, parse, build, compile, split_url, normalise, look_up, walk, decide]
);

main!(library_benchmark_groups = parts);
