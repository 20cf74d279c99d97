//! What each part costs: lex, parse, order, build, split, normalise, look up, walk, decide.
//!
//! ```text
//! cargo bench --bench parts
//! PORTCULLIS_ROBOTS=DIR PORTCULLIS_URLS=FILE cargo bench --bench parts
//! ```
//!
//! Without the two variables the sample of `corpora/` is measured, which fits the caches; name a
//! folder of files and a list of URLs for figures that mean something. Every time is that of a pass
//! over all files or all URLs, and the throughput is files or URLs.

use std::collections::HashMap;
use std::hint::black_box;
use std::path::PathBuf;
use std::sync::Arc;

use bstr::ByteSlice;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use portcullis::automaton::{Automaton, Limits, Outcome};
use portcullis::batch::Classifier;
use portcullis::bench::Originals;
use portcullis::dialect::{Dialect, GOOGLE};
use portcullis::policy::{AgentChain, Detail, OrderedRules, Selection, outcomes};
use portcullis::set::{LoadConfig, PolicySet};
use portcullis::syntax::{Lexer, RobotsTxt};
use portcullis::target::{SplitUrl, compared_path, host_key, split};

const DIALECT: &Dialect = &GOOGLE;
const AGENT: &str = "Googlebot";

struct Data {
    set: Arc<PolicySet>,
    texts: Originals,
    urls: Vec<u8>,
}

/// What a walk needs and nothing before it.
struct Walked {
    rule_sets: Vec<Automaton>,
    questions: Vec<(usize, Vec<u8>)>,
}

impl Data {
    fn load() -> Data {
        let named = |variable: &str, sample: &str| {
            let sample = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(sample);
            std::env::var_os(variable).map_or(sample, PathBuf::from)
        };
        let config = LoadConfig { robots_bytes_max: None, ..LoadConfig::new(DIALECT) };
        let robots = named("PORTCULLIS_ROBOTS", "corpora/sample/robots");
        let urls = named("PORTCULLIS_URLS", "corpora/sample/urls.txt");
        Data {
            set: PolicySet::load(&robots, &config)
                .expect("PORTCULLIS_ROBOTS names a folder")
                .set
                .into(),
            texts: Originals::load(&robots, &config).expect("it was just loaded"),
            urls: std::fs::read(urls).expect("PORTCULLIS_URLS names a file"),
        }
    }

    fn agent(&self) -> AgentChain {
        AgentChain::parse(AGENT, DIALECT).expect("a token")
    }

    fn texts(&self) -> Vec<&[u8]> {
        self.texts.texts().collect()
    }

    fn split_urls(&self) -> Vec<SplitUrl<'_>> {
        self.urls.lines().filter_map(|url| split(url, DIALECT.paths.path_start).ok()).collect()
    }

    /// The rule set and the path of each URL that has one.
    fn walked(&self) -> Walked {
        let agent = self.agent();
        let mut walked = Walked { rule_sets: Vec::new(), questions: Vec::new() };
        let mut places = HashMap::new();
        let (mut host, mut scratch) = (Vec::new(), Vec::new());
        for url in self.split_urls() {
            let Ok(key) = host_key(&url, &mut host) else { continue };
            let https = url.scheme.eq_ignore_ascii_case(b"https");
            let Some(text) = self.texts.text_of(key, https) else { continue };
            let place = *places.entry(text).or_insert_with(|| {
                let file = RobotsTxt::parse(text, DIALECT, None);
                let selection = Selection::of(&file, &agent, DIALECT);
                let Selection::Groups { groups, .. } = selection else { return None };
                let rules = OrderedRules::new(&file, &groups, &DIALECT.paths);
                walked.rule_sets.push(built(&rules));
                Some(walked.rule_sets.len() - 1)
            });
            let path = compared_path(url.path, DIALECT.paths.escapes, &mut scratch);
            walked.questions.extend(place.map(|place| (place, path.as_bytes().to_vec())));
        }
        walked
    }

    fn ordered(&self) -> Vec<OrderedRules> {
        let agent = self.agent();
        let ordered = |text: &&[u8]| {
            let file = RobotsTxt::parse(text, DIALECT, None);
            match Selection::of(&file, &agent, DIALECT) {
                Selection::Groups { groups, .. } => {
                    Some(OrderedRules::new(&file, &groups, &DIALECT.paths))
                }
                Selection::NoRules | Selection::NoGroup => None,
            }
        };
        self.texts().iter().filter_map(ordered).collect()
    }
}

fn built(rules: &OrderedRules) -> Automaton {
    Automaton::new(rules.patterns.clone(), outcomes(&rules.verdicts), &Limits::default())
}

fn files(criterion: &mut Criterion) {
    let data = Data::load();
    let texts = data.texts();
    let mut group = criterion.benchmark_group("files");
    group.sample_size(10).throughput(Throughput::Elements(texts.len() as u64));
    group.bench_function("lex", |bencher| {
        let lines = |text: &&[u8]| Lexer::new(text, &DIALECT.lines, None).count();
        bencher.iter(|| texts.iter().map(lines).sum::<usize>());
    });
    group.bench_function("parse", |bencher| {
        bencher.iter(|| {
            texts
                .iter()
                .map(|text| RobotsTxt::parse(text, DIALECT, None).rules().len())
                .sum::<usize>()
        });
    });
    group.bench_function("parse, select and order", |bencher| {
        bencher.iter(|| data.ordered().len());
    });
    let ordered = data.ordered();
    group.bench_function("build", |bencher| {
        bencher.iter(|| {
            for rules in &ordered {
                black_box(built(rules));
            }
        });
    });
    group.finish();
}

fn urls(criterion: &mut Criterion) {
    let data = Data::load();
    let (mut host, mut path) = (Vec::new(), Vec::new());
    let records: Vec<&[u8]> = data.urls.lines().collect();
    let split_urls = data.split_urls();
    let mut group = criterion.benchmark_group("urls");
    group.sample_size(10).throughput(Throughput::Elements(records.len() as u64));
    group.bench_function("split", |bencher| {
        bencher.iter(|| {
            records.iter().filter(|url| split(url, DIALECT.paths.path_start).is_ok()).count()
        });
    });
    group.bench_function("host key", |bencher| {
        bencher.iter(|| split_urls.iter().filter(|url| host_key(url, &mut host).is_ok()).count());
    });
    group.bench_function("compared path", |bencher| {
        let mut bytes = |url: &SplitUrl<'_>| {
            compared_path(url.path, DIALECT.paths.escapes, &mut path).as_bytes().len()
        };
        bencher.iter(|| split_urls.iter().map(&mut bytes).sum::<usize>());
    });
    group.bench_function("host key and look-up", |bencher| {
        let mut known = |url: &&SplitUrl<'_>| {
            let key = host_key(url, &mut host);
            key.is_ok_and(|key| matches!(data.set.policy_of(url.scheme, key), Ok(Some(_))))
        };
        bencher.iter(|| split_urls.iter().filter(&mut known).count());
    });
    let Walked { mut rule_sets, questions } = data.walked();
    let mut allows = |(rules, path): &(usize, Vec<u8>)| {
        rule_sets[*rules].decide(path, Detail::Reason) != Outcome::NONE
    };
    group.bench_function("walk", |bencher| {
        bencher.iter(|| questions.iter().filter(|question| allows(question)).count());
    });
    for (name, detail) in [("classify", Detail::Reason), ("classify with rules", Detail::Rule)] {
        let classifier =
            Classifier::new(Arc::clone(&data.set), vec![data.agent()], detail).unwrap();
        let mut memory = classifier.memory();
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                for record in &records {
                    black_box(classifier.classify(&[record], None, &mut memory).unwrap());
                }
            });
        });
    }
    group.finish();
}

criterion_group!(benches, files, urls);
criterion_main!(benches);
