//! Measures the time of each part: lines, parse, order, build, split, normalise, look up, walk,
//! classify.
//!
//! ```text
//! cargo bench -p portcullis-peers --features peers --bench parts
//! PORTCULLIS_ROBOTS=DIR PORTCULLIS_URLS=FILE cargo bench -p portcullis-peers --features peers --bench parts
//! ```
//!
//! Without the two variables, the sample in `corpora/` is measured, which fits in the caches. Name
//! a folder of files and a list of URLs for realistic figures. Every time is for a pass over all
//! files or all URLs. The throughput is in files or URLs. `portcullis-bench goals --instructions` counts the
//! instructions of the whole program instead.

use std::collections::HashMap;
use std::hint::black_box;
use std::path::PathBuf;
use std::sync::Arc;

use bstr::ByteSlice;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use portcullis_bench::Corpus;
use portcullis_build::{LoadConfig, load};
use portcullis_dialect::dialect::{Dialect, GOOGLE};
use portcullis_engine::{Cache, Outcome, RuleSetBuf, Settings};
use portcullis_robots::policy::{Crawler, OrderedRules, Selection};
use portcullis_robots::syntax::{RobotsTxt, records};
use portcullis_robots::url::{SplitUrl, compared_path, host_key, split};
use portcullis_set::PolicySet;
use portcullis_set::batch::{Classifier, Session};

const DIALECT: &Dialect = &GOOGLE;

fn agent() -> Crawler {
    Crawler::parse("Googlebot", DIALECT).expect("a token")
}

/// Returns the rules of a text in order of precedence, or `None` if no group applies.
fn ordered(text: &[u8], agent: &Crawler) -> Option<OrderedRules> {
    let file = RobotsTxt::parse(text, DIALECT, None);
    let groups = Selection::of(&file, agent, DIALECT).groups;
    (!groups.is_empty()).then(|| OrderedRules::new(&file, &groups, &DIALECT.paths))
}

fn lines(text: &[u8]) -> usize {
    records(text, DIALECT, None).count()
}

fn parse(text: &[u8]) -> usize {
    RobotsTxt::parse(text, DIALECT, None).rules().len()
}

/// Rule sets with their caches, and questions with the number of their rule set.
#[derive(Default)]
struct Walk {
    rule_sets: Vec<(RuleSetBuf, Cache)>,
    questions: Vec<(usize, Vec<u8>)>,
}

impl Walk {
    /// Returns the rule set and the path of each URL that has a policy.
    fn new(corpus: &Corpus, urls: &[SplitUrl<'_>]) -> Walk {
        let (agent, texts) = (agent(), corpus.files());
        let mut walk = Walk::default();
        let mut places = HashMap::new();
        let (mut host, mut scratch) = (Vec::new(), Vec::new());
        for url in urls {
            let Ok(key) = host_key(url, &mut host) else { continue };
            let https = url.scheme.eq_ignore_ascii_case(b"https");
            let Some(file) = corpus.file(key, https) else { continue };
            // Equal files of several hosts share their bytes in memory.
            let text = texts[file];
            let place = *places.entry(text.as_ptr()).or_insert_with(|| {
                let rules = ordered(text, &agent)?;
                walk.rule_sets.push((rules.compile(), Cache::default()));
                Some(walk.rule_sets.len() - 1)
            });
            let path = compared_path(url.path, DIALECT.paths.escapes, &mut scratch);
            walk.questions.extend(place.map(|place| (place, path.as_bytes().to_vec())));
        }
        walk
    }

    /// Counts the paths that a rule decides.
    fn decide(&mut self) -> usize {
        let Walk { rule_sets, questions } = self;
        let settings = Settings::default();
        let mut decides = |(number, path): &&(usize, Vec<u8>)| {
            let (rules, cache) = &mut rule_sets[*number];
            rules.as_rule_set().decide(black_box(path), &settings, cache) != Outcome::NONE
        };
        questions.iter().filter(&mut decides).count()
    }
}

fn parts(criterion: &mut Criterion) {
    let named = |variable: &str, sample: &str| {
        let sample = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(sample);
        std::env::var_os(variable).map_or(sample, PathBuf::from)
    };
    let config = LoadConfig { robots_bytes_max: None, ..LoadConfig::new(DIALECT) };
    let robots = named("PORTCULLIS_ROBOTS", "corpora/sample/robots");
    let list = named("PORTCULLIS_URLS", "corpora/sample/urls.txt");
    let list = std::fs::read(list).expect("PORTCULLIS_URLS names a file");
    let set = load(&robots, &config).expect("PORTCULLIS_ROBOTS names a folder").set;
    let corpus = Corpus::load(&robots, agent(), DIALECT).expect("it was just loaded");
    let records: Vec<&[u8]> = list.lines().collect();
    files(criterion, &corpus);
    urls(criterion, &records, &corpus, &set.into());
}

fn files(criterion: &mut Criterion, corpus: &Corpus) {
    let mut texts = corpus.files();
    texts.sort_by_key(|text| text.as_ptr());
    texts.dedup_by_key(|text| text.as_ptr());
    let agent = agent();
    let ordered_all = || texts.iter().filter_map(|text| ordered(text, &agent));
    let rules: Vec<OrderedRules> = ordered_all().collect();
    let mut group = criterion.benchmark_group("files");
    group.sample_size(10).throughput(Throughput::Elements(texts.len() as u64));
    for (name, part) in [("lines", lines as fn(&[u8]) -> usize), ("parse", parse)] {
        group.bench_function(name, |bencher| {
            bencher.iter(|| texts.iter().map(|text| part(black_box(text))).sum::<usize>());
        });
    }
    group.bench_function("parse, select and order", |bencher| {
        bencher.iter(|| ordered_all().count());
    });
    group.bench_function("build", |bencher| {
        bencher.iter(|| rules.iter().map(|rules| black_box(rules).compile()).collect::<Vec<_>>());
    });
    group.finish();
}

fn urls(criterion: &mut Criterion, records: &[&[u8]], corpus: &Corpus, set: &Arc<PolicySet>) {
    let start = DIALECT.paths.path_start;
    let split_all: Vec<SplitUrl<'_>> =
        records.iter().filter_map(|record| split(record, start).ok()).collect();
    let mut keys = Vec::new();
    for url in &split_all {
        let mut key = Vec::new();
        keys.extend(host_key(url, &mut key).ok().map(|key| (url.scheme, key.to_vec())));
    }
    let mut walk = Walk::new(corpus, &split_all);
    let mut group = criterion.benchmark_group("urls");
    group.sample_size(10).throughput(Throughput::Elements(records.len() as u64));
    group.bench_function("split", |bencher| {
        bencher.iter(|| records.iter().filter(|it| split(black_box(it), start).is_ok()).count());
    });
    group.bench_function("host key", |bencher| {
        let mut host = Vec::new();
        let mut bytes = |url| host_key(black_box(url), &mut host).map_or(0, <[u8]>::len);
        bencher.iter(|| split_all.iter().map(&mut bytes).sum::<usize>());
    });
    group.bench_function("compared path", |bencher| {
        let mut path = Vec::new();
        let mut bytes = |url: &SplitUrl<'_>| {
            compared_path(black_box(url).path, DIALECT.paths.escapes, &mut path).len()
        };
        bencher.iter(|| split_all.iter().map(&mut bytes).sum::<usize>());
    });
    group.bench_function("look-up", |bencher| {
        let is_known = |(scheme, key): &&(&[u8], Vec<u8>)| {
            matches!(set.policy_of(scheme, black_box(key)), Ok(Some(_)))
        };
        bencher.iter(|| keys.iter().filter(is_known).count());
    });
    group.bench_function("walk", |bencher| bencher.iter(|| walk.decide()));
    let classifier = Classifier::new(Arc::clone(set), vec![agent()]);
    let mut session = Session::new(classifier.expect("a whole set"));
    for (name, reads_rules) in [("classify", false), ("classify with rules", true)] {
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                for record in records {
                    let mut answers = session.decide(&[record]).expect("whole");
                    black_box(answers.decisions());
                    if reads_rules {
                        black_box(answers.rule(0).expect("whole"));
                    }
                }
            });
        });
    }
    group.finish();
}

criterion_group!(benches, parts);
criterion_main!(benches);
