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

use std::hint::black_box;
use std::path::PathBuf;

use bstr::ByteSlice;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use portcullis::automaton::Limits;
use portcullis::batch::Classifier;
use portcullis::dialect::{Dialect, GOOGLE};
use portcullis::policy::{AgentChain, Detail, OrderedRules, PolicySource, RuleSet, Selection};
use portcullis::set::{LoadConfig, PolicySet};
use portcullis::syntax::{Lexer, RobotsTxt};
use portcullis::target::{SplitUrl, compared_path, host_key, split};

const DIALECT: &Dialect = &GOOGLE;
const AGENT: &str = "Googlebot";

struct Data {
    set: PolicySet,
    urls: Vec<u8>,
}

/// What a walk needs and nothing before it.
struct Walked {
    rule_sets: Vec<RuleSet>,
    questions: Vec<(usize, Vec<u8>)>,
}

impl Data {
    fn load() -> Data {
        let named = |variable: &str, sample: &str| {
            let sample = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(sample);
            std::env::var_os(variable).map_or(sample, PathBuf::from)
        };
        let config = LoadConfig { dialect: DIALECT, robots_octets_max: None };
        let robots = named("PORTCULLIS_ROBOTS", "corpora/sample/robots");
        let urls = named("PORTCULLIS_URLS", "corpora/sample/urls.txt");
        Data {
            set: PolicySet::load(&robots, &config).expect("PORTCULLIS_ROBOTS names a folder"),
            urls: std::fs::read(urls).expect("PORTCULLIS_URLS names a file"),
        }
    }

    fn agent(&self) -> AgentChain {
        AgentChain::parse(AGENT, DIALECT).expect("a token")
    }

    fn texts(&self) -> Vec<&[u8]> {
        let text = |source| match source {
            PolicySource::File(text) => Some(text),
            PolicySource::Access(_) => None,
        };
        self.set.sources().filter_map(text).collect()
    }

    fn split_urls(&self) -> Vec<SplitUrl<'_>> {
        self.urls.lines().filter_map(|url| split(url, DIALECT.paths.path_start).ok()).collect()
    }

    /// The rule set and the path of each URL that has one.
    fn walked(&self) -> Walked {
        let agent = self.agent();
        let mut walked = Walked { rule_sets: Vec::new(), questions: Vec::new() };
        let mut places = Vec::new();
        for text in self.texts() {
            let file = RobotsTxt::parse(text, DIALECT, None);
            let Selection::Groups { groups, .. } = Selection::of(&file, &agent, DIALECT) else {
                places.push(None);
                continue;
            };
            let rules = OrderedRules::new(&file, &groups, &DIALECT.paths);
            let rule_set = RuleSet::new(rules.patterns, &rules.verdicts, &Limits::default());
            places.push(Some(walked.rule_sets.len()));
            walked.rule_sets.push(rule_set);
        }
        let (mut host, mut scratch) = (Vec::new(), Vec::new());
        for url in self.split_urls() {
            let Ok(Some(policy)) = self.set.policy_of(&url, &mut host) else { continue };
            let path = compared_path(url.path, DIALECT.paths.escapes, &mut scratch);
            walked.questions.extend(places[policy].map(|place| (place, path.to_vec())));
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
                let patterns = rules.patterns.clone();
                black_box(RuleSet::new(patterns, &rules.verdicts, &Limits::default()));
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
        let mut octets =
            |url: &SplitUrl<'_>| compared_path(url.path, DIALECT.paths.escapes, &mut path).len();
        bencher.iter(|| split_urls.iter().map(&mut octets).sum::<usize>());
    });
    group.bench_function("host key and look-up", |bencher| {
        let known = |url: &&SplitUrl<'_>| matches!(data.set.policy_of(url, &mut host), Ok(Some(_)));
        let mut known = known;
        bencher.iter(|| split_urls.iter().filter(&mut known).count());
    });
    let Walked { mut rule_sets, questions } = data.walked();
    let mut allows =
        |(rules, path): &(usize, Vec<u8>)| rule_sets[*rules].decide(path, Detail::Reason).is_some();
    group.bench_function("walk", |bencher| {
        bencher.iter(|| questions.iter().filter(|question| allows(question)).count());
    });
    for (name, detail) in [("classify", Detail::Reason), ("classify with rules", Detail::Rule)] {
        let classifier = Classifier::new(&data.set, vec![data.agent()], detail);
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
