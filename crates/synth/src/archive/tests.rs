//! The content of archives. `tests/ingest.rs` compares every state with that of the capture reader.

use std::collections::BTreeSet;

use serde_json::Value;

use super::*;
use crate::Corpus;

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

/// Returns origins and states.
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

#[test]
fn the_archive_of_a_seed_never_changes() {
    let (records, states) = archive(ArchiveFormat::JsonLines, AS_THE_WEB);
    let hashes = [records, states].map(|bytes| xxhash_rust::xxh3::xxh3_64(&bytes));
    assert_eq!(hashes, [17_578_401_694_627_140_849, 2_267_194_351_055_382_962]);
    let warc = || archive(ArchiveFormat::Warc, AS_THE_WEB);
    assert!(warc() == warc());
}
