//! Growth with hosts and threads: made-up corpora, each host with a file of a thousand distinct ones.
//!
//! [`MadeUpHosts`] makes a set and a list; what is timed over them here comes from memory.

use std::collections::HashMap;
use std::io::{self, Cursor};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::automaton::Limits;
use crate::batch::Classifier;
use crate::batch::runner::{self, Config};
use crate::dialect::{Dialect, RFC_9309};
use crate::input::{OpenConfig, Record, Records, Source, Terminator};
use crate::limits::RECORDS_AT_ONCE;
use crate::policy::{AgentChain, Detail};
use crate::set::compile::{self, CompileConfig};
use crate::set::{BlobPool, CaptureFacts, Content, HostStanding, PolicySet, Standing};
use crate::syntax::RobotsTxt;
use crate::synth::Corpus;

use super::super::engine::EngineError;
use super::super::engines::numbered::Numbered;
use super::super::file_run::thread_counts;
use super::super::questions::scatter;
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
    let stored = line("portcullis", counts, |hosts| {
        let start = Instant::now();
        let made_up = MadeUpHosts::new(hosts as u64, &RFC_9309);
        let set = match made_up.set() {
            Ok(set) => set,
            Err(error) => return Point::Absent(error.0),
        };
        let list = made_up.list(made_up.usual_urls()).into();
        let agent = AgentChain::parse("Googlebot", &RFC_9309).expect("a token");
        let classifier = Classifier::new(set, vec![agent], Detail::Reason);
        let Ok(classifier) = classifier else { return Point::Absent("damaged".to_owned()) };
        by_threads = thread_counts()
            .into_iter()
            .map(|threads| (threads as f64, cost(turn, &classifier, &list, threads)))
            .collect();
        point(by_threads[0].1, start.elapsed().as_secs_f64() / SLACK)
    });
    let table = line("std HashMap", counts, |hosts| by_hash_map(turn, hosts as u64));
    let threads = CurveLine {
        engine: "portcullis".to_owned(),
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

/// Made-up hosts that share a thousand files.
pub struct MadeUpHosts {
    corpus: Corpus,
    dialect: &'static Dialect,
    texts: Vec<Vec<u8>>,
}

impl MadeUpHosts {
    /// So many hosts, and the distinct files among them.
    pub fn new(hosts: u64, dialect: &'static Dialect) -> MadeUpHosts {
        let corpus = Corpus::new(SEED, hosts);
        let text = |number: u64| {
            let mut text = Vec::new();
            corpus.write_robots(number, &mut text);
            text
        };
        let texts = (0..hosts.min(TEXTS)).map(text).collect();
        MadeUpHosts { corpus, dialect, texts }
    }

    /// The robots.txt of the host that the URL with this number of a list asks about.
    pub fn robots_of_url(&self, number: u64) -> &[u8] {
        &self.texts[self.text_of(self.host_of_url(number))]
    }

    fn text_of(&self, host: u64) -> usize {
        (host % TEXTS) as usize
    }

    /// Any host with the same chance: the most that a look-up can miss.
    fn host_of_url(&self, number: u64) -> u64 {
        scatter(SEED, number as u32) % self.corpus.hosts()
    }

    /// URLs of a list that a curve takes.
    fn usual_urls(&self) -> u64 {
        URLS.min(self.corpus.hosts() * 100)
    }

    /// The compiled set, in memory.
    ///
    /// # Errors
    ///
    /// If a set cannot hold so many hosts.
    pub fn set(&self) -> Result<PolicySet, EngineError> {
        let failed = |error: &dyn std::error::Error| EngineError(error.to_string());
        let mut pool = BlobPool::default();
        let mut bytes = Vec::new();
        let mut content = |text: &Vec<u8>| {
            let file = RobotsTxt::parse(text, self.dialect, None);
            let mut blob = |write: &dyn Fn(&mut Vec<u8>)| {
                bytes.clear();
                write(&mut bytes);
                pool.intern(&bytes, BlobPool::hash(&bytes))
            };
            Content::File {
                extract: blob(&|out| file.write_extract(text, out)),
                others: blob(&|out| file.write_others(text, out)),
            }
        };
        let contents: Vec<Content> = self.texts.iter().map(&mut content).collect();
        let standing = |number: u64| {
            let content = contents[self.text_of(number)];
            let standing = Some(Standing { content, facts: CaptureFacts::default() });
            let key = self.corpus.host(number).into_bytes().into();
            HostStanding { key, http: standing, https: standing }
        };
        let mut standings: Vec<HostStanding> = (0..self.corpus.hosts()).map(standing).collect();
        standings.sort_by(|one, other| one.key.cmp(&other.key));
        let config = CompileConfig::new(self.dialect, None);
        let bytes = compile::to_vec(&standings, &pool, &config).map_err(|error| failed(&error))?;
        PolicySet::of_bytes("a made-up set", bytes).map_err(|error| failed(&error))
    }

    /// A list of so many URLs, one a line.
    pub fn list(&self, urls: u64) -> Vec<u8> {
        let mut list = Vec::new();
        let mut url = Vec::new();
        for number in 0..urls {
            url.clear();
            self.corpus.write_url(number, &mut url);
            let path = url.iter().skip("https://".len()).position(|&byte| byte == b'/');
            self.corpus.write_origin(self.host_of_url(number), &mut list);
            list.extend_from_slice(path.map_or(&b"/"[..], |path| &url["https://".len() + path..]));
            list.push(b'\n');
        }
        list
    }
}

/// Nanoseconds a URL of a run over the list.
fn cost(turn: Duration, classifier: &Classifier, list: &Arc<[u8]>, threads: usize) -> f64 {
    let urls = list.iter().filter(|&&byte| byte == b'\n').count();
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
    let made_up = MadeUpHosts::new(hosts, &RFC_9309);
    let texts: Vec<&[u8]> = made_up.texts.iter().map(Vec::as_slice).collect();
    let agent = AgentChain::parse("Googlebot", &RFC_9309).expect("a token");
    let mut numbered = Numbered::new(&texts, &agent, &RFC_9309, Limits::default());
    let files: HashMap<String, usize> =
        (0..hosts).map(|host| (made_up.corpus.host(host), made_up.text_of(host))).collect();
    let list = made_up.list(made_up.usual_urls());
    let list = String::from_utf8(list).expect("made-up URLs are ASCII");
    let urls = list.lines().count();
    let seconds = mean_seconds(turn, || {
        for url in list.lines() {
            let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
            let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            if let Some(&file) = files.get(host) {
                std::hint::black_box(numbered.decide([file].into_iter(), &[path.as_bytes()]));
            }
        }
    });
    point(seconds * 1e9 / urls as f64, start.elapsed().as_secs_f64() / SLACK)
}
