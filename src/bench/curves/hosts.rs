//! Growth with hosts and threads: made-up corpora, each host with a file of a thousand distinct ones.

use std::collections::HashMap;
use std::io::{self, Cursor};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::batch::Classifier;
use crate::batch::runner::{self, Config};
use crate::dialect::RFC_9309;
use crate::input::{OpenConfig, Record, Records, Source, Terminator};
use crate::limits::RECORDS_AT_ONCE;
use crate::policy::{AgentChain, Compilation, Detail, PolicySource, PolicyTable};
use crate::set::compile::{self, CompileConfig};
use crate::set::{BlobPool, CaptureFacts, Content, HostStanding, Standing, StoredSet};
use crate::syntax::RobotsTxt;
use crate::synth::Corpus;

use super::super::file_run::thread_counts;
use super::{Curve, CurveLine, Point, line, mean_seconds, point};

/// Hosts of a corpus.
pub(super) const COUNTS: [usize; 4] = [1_000, 10_000, 100_000, 1_000_000];
/// Distinct files, which the hosts share as they do in a crawl.
const TEXTS: u64 = 1_000;
/// URLs that are asked about.
const URLS: u64 = 200_000;
const SEED: u64 = 9309;

/// The curves of this file.
pub(super) fn curves(turn: Duration, counts: &[usize]) -> Vec<Curve> {
    let mut by_threads = Vec::new();
    let stored = line("portcullis-stored", counts, |hosts| {
        let start = Instant::now();
        let set = match stored_set(hosts as u64) {
            Ok(set) => set,
            Err(error) => return Point::Absent(error),
        };
        let list = list_of(hosts as u64).into();
        let agent = AgentChain::parse("Googlebot", &RFC_9309).expect("a token");
        let classifier = Classifier::stored(&set, vec![agent], Detail::Reason);
        let Ok(classifier) = classifier else { return Point::Absent("damaged".to_owned()) };
        by_threads = thread_counts()
            .into_iter()
            .map(|threads| (threads as f64, cost(turn, &classifier, &list, threads)))
            .collect();
        point(by_threads[0].1, start.elapsed().as_secs_f64() / SLACK)
    });
    let table = line("std HashMap", counts, |hosts| by_hash_map(turn, hosts as u64));
    let threads = CurveLine {
        engine: "portcullis-stored".to_owned(),
        points: by_threads,
        note: stored.points.last().map(|last| format!("with {} hosts", last.0)),
    };
    let curve = |title: &str, x: &str, lines: Vec<CurveLine>| Curve {
        title: title.to_owned(),
        x: x.to_owned(),
        y: "ns a URL".to_owned(),
        lines,
    };
    vec![
        curve("Batch with origin look-up, one thread", "hosts", vec![stored, table]),
        curve("Batch with origin look-up, the most hosts", "threads", vec![threads]),
    ]
}

/// Making a million hosts takes longer than asking about them; that is not what ends a line.
const SLACK: f64 = 20.0;

/// A set of so many hosts, in memory.
fn stored_set(hosts: u64) -> Result<StoredSet, String> {
    let corpus = Corpus::new(SEED, hosts);
    let config = CompileConfig::new(&RFC_9309, None);
    let mut pool = BlobPool::default();
    let (mut text, mut octets) = (Vec::new(), Vec::new());
    let mut contents = Vec::new();
    for number in 0..hosts.min(TEXTS) {
        text.clear();
        corpus.write_robots(number, &mut text);
        let file = RobotsTxt::parse(&text, &RFC_9309, None);
        let mut blob = |write: &dyn Fn(&mut Vec<u8>)| {
            octets.clear();
            write(&mut octets);
            pool.intern(&octets, BlobPool::hash(&octets))
        };
        contents.push(Content::File {
            extract: blob(&|out| file.write_extract(&text, out)),
            others: blob(&|out| file.write_others(&text, out)),
        });
    }
    let standing = |number: u64| {
        let content = contents[(number % TEXTS) as usize];
        let standing = Some(Standing { content, facts: CaptureFacts::default() });
        let key = corpus.host(number).into_bytes().into();
        HostStanding { key, http: standing, https: standing }
    };
    let mut standings: Vec<HostStanding> = (0..hosts).map(standing).collect();
    standings.sort_by(|one, other| one.key.cmp(&other.key));
    let octets = compile::to_vec(&standings, &pool, &config).map_err(|error| error.to_string())?;
    StoredSet::of_octets("a made-up set", octets).map_err(|error| error.to_string())
}

/// A list of URLs, each of any host with the same chance: the most that a look-up can miss.
fn list_of(hosts: u64) -> Vec<u8> {
    let corpus = Corpus::new(SEED, hosts);
    let mut list = Vec::new();
    let mut url = Vec::new();
    for number in 0..URLS.min(hosts * 100) {
        let host = super::super::questions::scatter(SEED, number as u32) % hosts;
        url.clear();
        corpus.write_url(number, &mut url);
        let path = url.iter().skip("https://".len()).position(|&octet| octet == b'/');
        corpus.write_origin(host, &mut list);
        list.extend_from_slice(path.map_or(&b"/"[..], |path| &url["https://".len() + path..]));
        list.push(b'\n');
    }
    list
}

/// Nanoseconds a URL of a run over the list.
fn cost(turn: Duration, classifier: &Classifier<'_>, list: &Arc<[u8]>, threads: usize) -> f64 {
    let urls = list.iter().filter(|&&octet| octet == b'\n').count();
    let config = Config { threads, ..Config::default() };
    let seconds = mean_seconds(turn, || {
        let source =
            Source::from_reader("a list", Cursor::new(list.clone()), OpenConfig::default());
        let done = runner::run(
            [Ok(source)],
            &config,
            || classifier.memory(),
            |memory, chunk, _: &mut ()| {
                let mut records = Records::new(chunk, Terminator::LineFeed);
                let mut block: Vec<Record<'_>> = Vec::with_capacity(RECORDS_AT_ONCE);
                loop {
                    block.clear();
                    block.extend(records.by_ref().take(RECORDS_AT_ONCE));
                    if block.is_empty() {
                        return;
                    }
                    let decided = classifier.classify(&block, None, memory);
                    std::hint::black_box(decided.is_ok());
                }
            },
            |_| Ok::<(), io::Error>(()),
        );
        assert!(done.is_ok(), "a list in memory can be read");
    });
    seconds * 1e9 / urls as f64
}

/// The same questions by the standard library's hash table and one matcher for each text.
fn by_hash_map(turn: Duration, hosts: u64) -> Point {
    let start = Instant::now();
    let corpus = Corpus::new(SEED, hosts);
    let texts: Vec<Vec<u8>> = (0..hosts.min(TEXTS))
        .map(|number| {
            let mut text = Vec::new();
            corpus.write_robots(number, &mut text);
            text
        })
        .collect();
    let sources: Vec<PolicySource<'_>> =
        texts.iter().map(|text| PolicySource::File(text)).collect();
    let agent = AgentChain::parse("Googlebot", &RFC_9309).expect("a token");
    let compilation = Compilation { detail: Detail::Reason, ..Compilation::new(&RFC_9309) };
    let table = PolicyTable::compile(&sources, vec![agent], &compilation);
    let mut memory = table.memory();
    let files: HashMap<String, usize> =
        (0..hosts).map(|number| (corpus.host(number), (number % TEXTS) as usize)).collect();
    let list = String::from_utf8(list_of(hosts)).expect("made-up URLs are ASCII");
    let urls = list.lines().count();
    let seconds = mean_seconds(turn, || {
        for url in list.lines() {
            let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
            let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            if let Some(&file) = files.get(host) {
                std::hint::black_box(table.decide(file, path.as_bytes(), &mut memory));
            }
        }
    });
    point(seconds * 1e9 / urls as f64, start.elapsed().as_secs_f64() / SLACK)
}
