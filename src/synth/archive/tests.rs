//! What the archives hold, and that the states are those that their records say.

use std::collections::{BTreeSet, HashMap};

use serde_json::Value;

use super::*;
use crate::access::{Access, Answer, resolve};
use crate::dialect::RFC_9309;
use crate::syntax::RobotsTxt;
use crate::synth::Corpus;

const HOSTS: u64 = 3_000;

fn archive(format: ArchiveFormat, answers: Answers) -> (Vec<u8>, Vec<u8>) {
    let (corpus, archive) = (Corpus::new(1, HOSTS), Archive::new(1, format, answers));
    let (mut records, mut states) = (Vec::new(), Vec::new());
    archive.write_head(&mut records);
    for host in 0..HOSTS {
        corpus.write_archived(host, &archive, &mut records, &mut states);
    }
    (records, states)
}

/// Origins and states.
fn rows(states: Vec<u8>) -> Vec<(String, String)> {
    let states = String::from_utf8(states).unwrap();
    let row = |line: &str| {
        let (origin, state) = line.split_once('\t').unwrap();
        (origin.to_owned(), state.to_owned())
    };
    states.lines().map(row).collect()
}

const AS_THE_WEB: Answers = Answers::AsTheWeb { older_max: 2 };

#[test]
fn no_origin_has_two_states_and_every_state_occurs() {
    for format in [ArchiveFormat::JsonLines, ArchiveFormat::Warc] {
        let rows = rows(archive(format, AS_THE_WEB).1);
        let origins: BTreeSet<&str> = rows.iter().map(|row| row.0.as_str()).collect();
        assert_eq!(origins.len(), rows.len());
        for state in ["rules", "no-rules", "unavailable", "unreachable"] {
            let hosts = rows.iter().filter(|row| row.1 == state).count();
            assert!(hosts > HOSTS as usize / 20, "{state}: {hosts}");
        }
    }
}

#[test]
fn files_alone_give_every_host_its_file() {
    let (records, states) = archive(ArchiveFormat::JsonLines, Answers::Files);
    let corpus = Corpus::new(1, HOSTS);
    let lines = records.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    let mut hosts = 0;
    for (host, line) in (0..).zip(lines) {
        let record: Value = serde_json::from_slice(line).unwrap();
        let mut robots = Vec::new();
        corpus.write_robots(host, &mut robots);
        let mut origin = Vec::new();
        corpus.write_origin(host, &mut origin);
        let url = format!("{}/robots.txt", String::from_utf8(origin).unwrap());
        assert_eq!(record["url"], *url);
        assert_eq!(record["status"], 200);
        assert_eq!(record["body"].as_str().unwrap().as_bytes(), robots);
        hosts += 1;
    }
    assert_eq!(hosts, HOSTS);
    assert_eq!(rows(states).len() as u64, HOSTS);
}

/// A reader as simple as it can be: the newest record of each URL, and the table of RFC 9309.
#[test]
fn the_states_are_those_that_the_records_say() {
    let (records, states) = archive(ArchiveFormat::JsonLines, AS_THE_WEB);
    let mut newest: HashMap<String, Value> = HashMap::new();
    for line in records.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
        let record: Value = serde_json::from_slice(line).unwrap();
        let time = |record: &Value| record["fetched_at"].as_str().unwrap().to_owned();
        let url = record["url"].as_str().unwrap().to_owned();
        let known = newest.get(&url).map(time);
        assert_ne!(known.as_ref(), Some(&time(&record)), "{url}");
        if known.is_none_or(|known| known < time(&record)) {
            newest.insert(url, record);
        }
    }
    let mut root_urls: BTreeSet<String> =
        newest.keys().filter(|url| url.split('/').count() == 4).cloned().collect();
    for (origin, state) in rows(states) {
        let url = format!("{origin}/robots.txt");
        assert_eq!(state_of(&url, &newest, 0), state, "{url}: {}", newest[&url]);
        root_urls.remove(&url);
    }
    assert_eq!(root_urls, BTreeSet::new());
}

fn state_of(url: &str, newest: &HashMap<String, Value>, followed: u32) -> &'static str {
    let Some(record) = newest.get(url) else {
        return "unreachable";
    };
    let followed = followed + record["redirects"].as_array().map_or(0, Vec::len) as u32;
    let location = record["headers"]["Location"].as_str();
    let target = location.and_then(|location| join(url, location));
    let status = record["status"].as_u64().map(|status| status as u16);
    let answer = match status {
        None => Answer::NoAnswer,
        Some(_) if record["truncated"] == true => Answer::BrokenBody,
        Some(300..=399) if target.is_none() => Answer::RedirectToNowhere,
        Some(status) => Answer::Status(status),
    };
    match resolve(answer, followed, &RFC_9309.access) {
        Access::Follow => state_of(&target.unwrap(), newest, followed + 1),
        Access::Outcome(outcome) => outcome.state.as_str(),
        Access::NotModified => panic!("{url}: nothing was conditional"),
        Access::File => {
            let body = record["body"].as_str().unwrap();
            let file = RobotsTxt::parse(body.as_bytes(), &RFC_9309, None);
            if file.rules().is_empty() { "no-rules" } else { "rules" }
        }
    }
}

/// The absolute URL that a reference means, of the kinds that are made here.
fn join(base: &str, reference: &str) -> Option<String> {
    let reference = reference.split('#').next().unwrap();
    let (scheme, rest) = base.split_once("://").unwrap();
    let host = rest.split('/').next().unwrap();
    if reference.is_empty() || reference.starts_with("mailto:") {
        None
    } else if reference.starts_with("http") {
        Some(reference.to_owned())
    } else if let Some(rest) = reference.strip_prefix("//") {
        Some(format!("{scheme}://{rest}"))
    } else {
        let path = reference.strip_prefix("..").unwrap_or(reference);
        Some(format!("{scheme}://{host}{path}"))
    }
}

/// `tests/ingest.rs` reads WARC archives; this pins what a seed gives.
#[test]
fn the_archive_of_a_seed_never_changes() {
    let (records, states) = archive(ArchiveFormat::JsonLines, AS_THE_WEB);
    let hashes = [records, states].map(|bytes| xxhash_rust::xxh3::xxh3_64(&bytes));
    assert_eq!(hashes, [17_578_401_694_627_140_849, 2_267_194_351_055_382_962]);
    let warc = || archive(ArchiveFormat::Warc, AS_THE_WEB);
    assert!(warc() == warc());
}
