//! Counts the instructions of each part: lex, parse, build, split, normalise, look up, walk; and of
//! compiling files to a set and deciding with a set, which combine most of them.
//!
//! ```text
//! scripts/bench-gate
//! ```
//!
//! Valgrind counts the instructions, so the figures do not depend on the load or the clock of a
//! machine, and `scripts/bench-gate` can compare them with `benches/record/instructions.toml`. They
//! do not reflect caches and branches; `parts.rs` measures time. The data is synthetic and always
//! the same.

mod common;

use std::hint::black_box;

use gungraun::{library_benchmark, library_benchmark_group, main};
use portcullis_bench::Numbered;
use portcullis_dialect::decision::Verdict;
use portcullis_dialect::limits::RECORDS_AT_ONCE;
use portcullis_engine::{Cache, Limits, RuleSetBuf};
use portcullis_robots::policy::OrderedRules;
use portcullis_robots::url::{Origin, SplitUrl, host_key};
use portcullis_set::{LoadConfig, PolicySet};
use portcullis_synth::Corpus;

use self::common::{DIALECT, Walk};

const HOSTS: u64 = 200;
const URLS: u64 = 4_000;

/// A scheme and the key of a host.
type OriginParts = (&'static [u8], Vec<u8>);

fn corpus() -> Corpus {
    Corpus::new(9309, HOSTS)
}

fn made(count: u64, write: impl Fn(&Corpus, u64, &mut Vec<u8>)) -> Vec<Vec<u8>> {
    let made = |number| {
        let mut text = Vec::new();
        write(&corpus(), number, &mut text);
        text
    };
    (0..count).map(made).collect()
}

fn texts() -> Vec<Vec<u8>> {
    made(HOSTS, Corpus::write_robots)
}

fn urls() -> Vec<Vec<u8>> {
    made(URLS, Corpus::write_url)
}

/// Returns split URLs, which live as long as the program.
fn split_urls() -> Vec<SplitUrl<'static>> {
    common::split_all(urls().leak().iter().map(|url| &url[..]))
}

fn paths() -> Vec<Vec<u8>> {
    let mut scratch = Vec::new();
    split_urls().iter().map(|url| common::path_of(url, &mut scratch)).collect()
}

fn rule_sets() -> Vec<OrderedRules> {
    common::ordered_all(&texts())
}

/// Returns rule sets that have decided all paths once.
fn warm_rule_sets() -> Walk {
    let paths = paths();
    let warm = |rules: &OrderedRules| {
        let (rules, mut cache) = (common::built(rules), Cache::default());
        for path in &paths {
            rules.as_rule_set().decide(path, &mut cache);
        }
        (rules, cache)
    };
    let rule_sets: Vec<_> = rule_sets().iter().map(warm).collect();
    let count = rule_sets.len();
    let question = |(index, path)| (index % count, path);
    let questions = paths.into_iter().enumerate().map(question).collect();
    Walk { rule_sets, questions }
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
    common::lex(&texts)
}

#[library_benchmark]
#[bench::files(texts())]
fn parse(texts: Vec<Vec<u8>>) -> usize {
    common::parse(&texts)
}

#[library_benchmark]
#[bench::rule_sets(rule_sets())]
fn build(rule_sets: Vec<OrderedRules>) -> Vec<RuleSetBuf> {
    common::build(&rule_sets)
}

#[library_benchmark]
#[bench::urls(urls())]
fn split_url(urls: Vec<Vec<u8>>) -> usize {
    common::split_urls(&urls)
}

#[library_benchmark]
#[bench::urls(split_urls())]
fn normalise(urls: Vec<SplitUrl<'static>>) -> usize {
    common::host_keys(&urls) + common::compared_paths(&urls)
}

#[library_benchmark]
#[bench::origins(origins())]
fn look_up((set, origins): (PolicySet, Vec<OriginParts>)) -> usize {
    common::look_up(&set, origins.iter().map(|(scheme, key)| (*scheme, &key[..])))
}

#[library_benchmark]
#[bench::paths(warm_rule_sets())]
fn walk(mut data: Walk) -> usize {
    common::walk(&mut data)
}

/// Returns all files compiled for the agent, and paths that they have decided once.
fn warm() -> (Numbered, Vec<Vec<u8>>) {
    let (mut files, paths) = (compiled(&texts()), paths());
    decide_all(&mut files, &paths);
    (files, paths)
}

fn compiled(texts: &[Vec<u8>]) -> Numbered {
    let texts: Vec<&[u8]> = texts.iter().map(Vec::as_slice).collect();
    Numbered::new(&texts, &common::agent(), DIALECT, Limits::default())
}

/// Counts the allowed paths. Each path is decided with a different file than the previous one.
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

/// Returns a pool whose only thread is the current one, because Valgrind counts the instructions of
/// this thread.
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
