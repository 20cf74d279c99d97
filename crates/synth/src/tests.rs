//! Compares the synthetic corpus with measurements of the web, and checks that it never changes.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::*;
use portcullis_dialect::dialect::RFC_9309;
use portcullis_robots::syntax::RobotsTxt;

const HOSTS: u64 = 4_000;
const URLS: u64 = 40_000;

fn files() -> Vec<Vec<u8>> {
    let corpus = Corpus::new(1, HOSTS);
    (0..HOSTS).map(|host| corpus.robots(host).into_bytes()).collect()
}

fn urls() -> Vec<Vec<u8>> {
    let corpus = Corpus::new(1, HOSTS);
    (0..URLS).map(|position| corpus.url(position).into_bytes()).collect()
}

/// The responses of all hosts.
fn archive(corpus: Corpus, format: ArchiveFormat) -> Vec<u8> {
    (0..corpus.hosts()).map(|host| corpus.archived(host, format)).collect::<Vec<_>>().concat()
}

fn parse(file: &[u8]) -> RobotsTxt<'_> {
    RobotsTxt::parse(file, &RFC_9309, None)
}

#[test]
fn the_corpus_of_a_seed_never_changes() {
    let hash = twox_hash::XxHash3_64::oneshot(&[files().concat(), urls().concat()].concat());
    assert_eq!(
        hash, 13_558_698_939_764_156_216,
        "published figures name corpora by their seed: make a change only with a new major version"
    );
}

#[test]
fn hosts_and_urls_depend_on_seed_and_position_alone() {
    let robots = |hosts, host| Corpus::new(3, hosts).robots(host);
    assert!((0..10).all(|host| robots(10, host) == robots(1_000_000, host)));
    let host = |seed, position| Corpus::new(seed, 10).host(position);
    assert_ne!(host(1, 0), host(2, 0));
    assert_ne!(host(1, 0), host(1, 1));
}

#[test]
fn every_url_is_on_a_host_of_the_corpus() {
    let corpus = Corpus::new(1, HOSTS);
    let hosts: HashSet<String> = (0..HOSTS).map(|host| corpus.host(host)).collect();
    assert_eq!(hosts.len() as u64, HOSTS);
    let mut counts: HashMap<String, usize> = HashMap::new();
    for url in urls() {
        let url = String::from_utf8(url).unwrap();
        let host = url.split('/').nth(2).unwrap().split('?').next().unwrap();
        assert!(hosts.contains(host), "{url}");
        *counts.entry(host.to_owned()).or_default() += 1;
    }
    let most = counts.values().copied().max().unwrap();
    assert!((URLS as usize / 20..URLS as usize / 3).contains(&most), "few hosts have most URLs");
    let one = Corpus::new(0, 0);
    assert_eq!(one.hosts(), 1);
    assert!(one.url(5).contains(&one.host(0)));
}

/// Compares single files and URLs with measurements of real ones.
#[test]
fn files_and_urls_are_like_the_webs() {
    fn quantile(values: impl Iterator<Item = usize>, percent: usize) -> usize {
        let mut values: Vec<usize> = values.collect();
        values.sort_unstable();
        values[values.len() * percent / 100]
    }
    fn share<T>(items: &[T], has: impl Fn(&T) -> bool) -> usize {
        items.iter().filter(|item| has(item)).count() * 10_000 / items.len()
    }
    let (files, urls) = (files(), urls());
    let mut users: HashMap<&[u8], usize> = HashMap::new();
    files.iter().for_each(|file| *users.entry(file).or_default() += 1);
    // Each text counts once: a frequent file would weigh as much as all its hosts.
    let distinct: BTreeSet<&[u8]> = users.keys().copied().collect();
    let (mut rules, mut patterns) = (Vec::new(), Vec::new());
    for file in distinct.into_iter().map(parse) {
        rules.extend(file.groups().iter().map(|group| group.rules.len()));
        patterns.extend(file.rules().iter().map(|rule| rule.value.to_vec()));
    }
    patterns.retain(|pattern| !pattern.is_empty());
    let stars = |pattern: &Vec<u8>| pattern.iter().filter(|&&byte| byte == b'*').count();
    let bytes = |percent| quantile(files.iter().map(Vec::len), percent);
    let groups = |percent| quantile(files.iter().map(|file| parse(file).groups().len()), percent);
    let rules = |percent| quantile(rules.iter().copied(), percent);
    let lengths = |percent| quantile(urls.iter().map(Vec::len), percent);
    // Shares are per ten thousand.
    for (what, value, low, high) in [
        ("bytes of half of the files", bytes(50), 400, 600),
        ("bytes of 99 % of the files", bytes(99), 10_000, 25_000),
        ("files that equal another", share(&files, |file| users[&file[..]] > 1), 4_400, 5_200),
        ("groups of half of the files", groups(50), 1, 1),
        ("groups of 90 % of the files", groups(90), 7, 11),
        ("rules of half of the groups", rules(50), 1, 1),
        ("rules of 99 % of the groups", rules(99), 80, 180),
        ("patterns without a star", share(&patterns, |it| stars(it) == 0), 7_950, 8_350),
        ("patterns with one star", share(&patterns, |it| stars(it) == 1), 1_100, 1_500),
        ("patterns with more stars", share(&patterns, |it| stars(it) > 1), 400, 700),
        ("end anchors", share(&patterns, |it| it.ends_with(b"$")), 220, 320),
        ("files with CR", share(&files, |it| it.contains(&b'\r')), 1_700, 2_300),
        ("byte order marks", share(&files, |it| it.starts_with(b"\xEF\xBB\xBF")), 50, 300),
        ("bytes of half of the URLs", lengths(50), 48, 56),
        ("bytes of 99 % of the URLs", lengths(99), 190, 270),
        ("URLs with a query", share(&urls, |url| url.contains(&b'?')), 1_100, 1_300),
        ("URLs with an escape", share(&urls, |url| url.contains(&b'%')), 310, 400),
    ] {
        assert!((low..=high).contains(&value), "{what}: {value} is not in {low}..={high}");
    }
}

#[test]
fn an_archive_has_the_file_of_every_host() {
    let corpus = Corpus::new(1, HOSTS);
    for (host, robots) in (0..HOSTS).zip(files()) {
        let line = corpus.archived(host, ArchiveFormat::JsonLines);
        let record: serde_json::Value = serde_json::from_slice(&line).unwrap();
        assert_eq!(record["url"], *format!("{}/robots.txt", corpus.origin(host)));
        assert_eq!(record["status"], 200);
        assert_eq!(record["body"].as_str().unwrap().as_bytes(), robots);
    }
}

#[test]
fn the_archive_of_a_seed_never_changes() {
    let corpus = Corpus::new(1, HOSTS);
    let lines = archive(corpus, ArchiveFormat::JsonLines);
    assert_eq!(twox_hash::XxHash3_64::oneshot(&lines), 1_214_693_765_699_903_087);
    let warc = || {
        [corpus.archive_head(ArchiveFormat::Warc), archive(corpus, ArchiveFormat::Warc)].concat()
    };
    assert!(warc() == warc());
}

/// The captures of the first hosts, host after host.
fn histories(hosts: u64, captures: u64) -> Vec<Vec<serde_json::Value>> {
    let corpus = Corpus::new(1, HOSTS).with_captures(captures);
    let of_host = |host| {
        let lines = corpus.archived(host, ArchiveFormat::JsonLines);
        let lines = lines.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
        lines.map(|line| serde_json::from_slice(line).unwrap()).collect()
    };
    (0..hosts).map(of_host).collect()
}

fn second(capture: &serde_json::Value) -> i64 {
    capture["fetched_at"].as_str().unwrap().parse::<jiff::Timestamp>().unwrap().as_second()
}

#[test]
fn a_history_has_its_captures_in_order_and_begins_with_the_first_file() {
    for captures in [2, 10, 1_000] {
        let corpus = Corpus::new(1, HOSTS).with_captures(captures);
        for (host, history) in (0..10).zip(histories(10, captures)) {
            assert_eq!(history.len() as u64, captures);
            assert!(history.is_sorted_by_key(second), "{host}");
            let times = [&history[0], history.last().unwrap()].map(|it| it["fetched_at"].as_str());
            assert!(times[0] >= Some("2020-07-01") && times[1] < Some("2025-07-01"), "{times:?}");
            assert_eq!(history[0]["body"], corpus.robots(host));
        }
    }
}

#[test]
fn hosts_fail_lose_their_file_and_change_it() {
    let (mut captures, mut changes) = (0, 0);
    let mut statuses: BTreeMap<u64, u64> = BTreeMap::new();
    for history in histories(1_000, 9) {
        let mut file: Option<String> = None;
        for capture in &history[1..] {
            captures += 1;
            let status = capture["status"].as_u64().unwrap();
            *statuses.entry(status).or_default() += 1;
            if status == 200 {
                let before = file.replace(capture["body"].as_str().unwrap().to_owned());
                changes += u64::from(before.is_some_and(|before| Some(before) != file));
            }
        }
    }
    for (what, count, low, high) in [
        ("failures", statuses[&503], 16, 20),
        ("missing files", statuses[&404], 8, 10),
        ("changed files", changes, 25, 45),
    ] {
        let share = count * 100 / captures;
        assert!((low..=high).contains(&share), "{what}: {share} is not in {low}..={high}");
    }
}

#[test]
fn the_histories_of_a_seed_never_change() {
    let corpus = Corpus::new(1, HOSTS).with_captures(10);
    let mut lines = archive(corpus, ArchiveFormat::JsonLines);
    (0..HOSTS).for_each(|position| lines.extend(corpus.url_time(position).bytes()));
    assert_eq!(twox_hash::XxHash3_64::oneshot(&lines), 9_883_942_714_852_006_120);
}

#[test]
fn files_are_the_corpus_in_any_format() {
    use std::fs;

    let folder = tempfile::tempdir().unwrap();
    let corpus = Corpus::new(1, 600);
    let urls = 6_000;
    let list: String = (0..urls).map(|position| corpus.url(position) + "\n").collect();
    for format in [None, Some(ArchiveFormat::JsonLines), Some(ArchiveFormat::Warc)] {
        let path = folder.path().join(format!("{format:?}"));
        corpus.write_files(&path, urls, format).unwrap();
        assert!(fs::read_to_string(path.join("urls.txt")).unwrap() == list);
        match format {
            None => {
                let file = |host| path.join("robots").join(corpus.host(host));
                let read = |host| fs::read_to_string(file(host)).unwrap();
                assert!((0..600).all(|host| read(host) == corpus.robots(host)));
                assert_eq!(fs::read_dir(path.join("robots")).unwrap().count(), 600);
            }
            Some(format) => {
                let warc = format == ArchiveFormat::Warc;
                let name = if warc { "robots.warc.gz" } else { "robots.jsonl" };
                let records = [corpus.archive_head(format), archive(corpus, format)].concat();
                assert!(fs::read(path.join(name)).unwrap() == records);
            }
        }
        let again = corpus.write_files(&path, urls, format).unwrap_err().to_string();
        assert!(again.contains("robots") && again.contains("exists"), "{again}");
    }
    let timed = folder.path().join("timed");
    let archive = Some(ArchiveFormat::JsonLines);
    corpus.with_captures(2).write_files(&timed, 3, archive).unwrap();
    let list = fs::read_to_string(timed.join("urls.tsv")).unwrap();
    assert!(list.starts_with("url\ttime\nhttp") && list.lines().count() == 4, "{list}");
}
