//! Measures the time of each part: lex, parse, order, build, split, normalise, look up, walk,
//! classify.
//!
//! ```text
//! cargo bench --bench parts
//! PORTCULLIS_ROBOTS=DIR PORTCULLIS_URLS=FILE cargo bench --bench parts
//! ```
//!
//! Without the two variables, the sample in `corpora/` is measured, which fits in the caches. Name
//! a folder of files and a list of URLs for realistic figures. Every time is for a pass over all
//! files or all URLs. The throughput is in files or URLs.

mod common;

use std::collections::HashMap;
use std::hint::black_box;
use std::path::PathBuf;
use std::sync::Arc;

use bstr::ByteSlice;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use portcullis_bench::Originals;
use portcullis_engine::Cache;
use portcullis_robots::url::{SplitUrl, host_key};
use portcullis_set::batch::{Classifier, Session};
use portcullis_set::{LoadConfig, PolicySet};

use self::common::{DIALECT, Walk};

/// Returns the automaton and the path of each URL that has a policy.
fn walk(originals: &Originals, texts: &[Vec<u8>], urls: &[SplitUrl<'_>]) -> Walk {
    let agent = common::agent();
    let mut walk = Walk { rule_sets: Vec::new(), questions: Vec::new() };
    let mut places = HashMap::new();
    let (mut host, mut scratch) = (Vec::new(), Vec::new());
    for url in urls {
        let Ok(key) = host_key(url, &mut host) else { continue };
        let https = url.scheme.eq_ignore_ascii_case(b"https");
        let Some(text) = originals.get(key, https) else { continue };
        let place = *places.entry(&texts[text]).or_insert_with_key(|text| {
            walk.rule_sets.push((common::built(&common::ordered(text, &agent)?), Cache::default()));
            Some(walk.rule_sets.len() - 1)
        });
        let path = common::path_of(url, &mut scratch);
        walk.questions.extend(place.map(|place| (place, path)));
    }
    walk
}

fn parts(criterion: &mut Criterion) {
    let named = |variable: &str, sample: &str| {
        let sample = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(sample);
        std::env::var_os(variable).map_or(sample, PathBuf::from)
    };
    let config = LoadConfig { robots_bytes_max: None, ..LoadConfig::new(DIALECT) };
    let robots = named("PORTCULLIS_ROBOTS", "corpora/sample/robots");
    let list = named("PORTCULLIS_URLS", "corpora/sample/urls.txt");
    let list = std::fs::read(list).expect("PORTCULLIS_URLS names a file");
    let set = PolicySet::load(&robots, &config).expect("PORTCULLIS_ROBOTS names a folder").set;
    let set = Arc::new(set);
    let originals = Originals::load(&robots, &config).expect("it was just loaded");

    let texts: Vec<Vec<u8>> = originals.texts().map(<[u8]>::to_vec).collect();
    let ordered = common::ordered_all(&texts);
    let mut files = criterion.benchmark_group("files");
    files.sample_size(10).throughput(Throughput::Elements(texts.len() as u64));
    files.bench_function("lex", |bencher| bencher.iter(|| common::lex(&texts)));
    files.bench_function("parse", |bencher| bencher.iter(|| common::parse(&texts)));
    files.bench_function("parse, select and order", |bencher| {
        bencher.iter(|| common::ordered_all(&texts).len());
    });
    files.bench_function("build", |bencher| bencher.iter(|| common::build(&ordered)));
    files.finish();

    let records: Vec<&[u8]> = list.lines().collect();
    let owned: Vec<Vec<u8>> = records.iter().map(|record| record.to_vec()).collect();
    let split = common::split_all(records.iter().copied());
    let mut walked = walk(&originals, &texts, &split);
    let mut urls = criterion.benchmark_group("urls");
    urls.sample_size(10).throughput(Throughput::Elements(records.len() as u64));
    urls.bench_function("split", |bencher| bencher.iter(|| common::split_urls(&owned)));
    urls.bench_function("host key", |bencher| bencher.iter(|| common::host_keys(&split)));
    urls.bench_function("compared path", |bencher| {
        bencher.iter(|| common::compared_paths(&split));
    });
    let mut keys = Vec::new();
    for url in &split {
        let mut key = Vec::new();
        keys.extend(host_key(url, &mut key).ok().map(|key| (url.scheme, key.to_vec())));
    }
    urls.bench_function("look-up", |bencher| {
        bencher
            .iter(|| common::look_up(&set, keys.iter().map(|(scheme, key)| (*scheme, &key[..]))));
    });
    urls.bench_function("walk", |bencher| bencher.iter(|| common::walk(&mut walked)));
    let classifier = Classifier::new(Arc::clone(&set), vec![common::agent()]);
    let mut session = Session::new(classifier.expect("a whole set"), None);
    for (name, reads_rules) in [("classify", false), ("classify with rules", true)] {
        urls.bench_function(name, |bencher| {
            bencher.iter(|| {
                for record in &records {
                    black_box(session.classify(&[record]).expect("whole"));
                    if reads_rules {
                        black_box(session.full_decision(0, 0).expect("whole"));
                    }
                }
            });
        });
    }
    urls.finish();
}

criterion_group!(benches, parts);
criterion_main!(benches);
