//! Compares the synthetic corpus with measurements of the web, and checks that it never changes.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::*;
use portcullis_dialect::dialect::{Field, RFC_9309};
use portcullis_robots::syntax::{RobotsTxt, Statement};

const HOSTS: u64 = 4_000;
const URLS: u64 = 40_000;

fn written(write: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut out = Vec::new();
    write(&mut out);
    out
}

fn files() -> Vec<Vec<u8>> {
    let corpus = Corpus::new(1, HOSTS);
    (0..HOSTS).map(|host| written(|out| corpus.write_robots(host, out))).collect()
}

fn urls() -> Vec<Vec<u8>> {
    let corpus = Corpus::new(1, HOSTS);
    (0..URLS).map(|position| written(|out| corpus.write_url(position, out))).collect()
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
    let robots = |hosts, host| written(|out| Corpus::new(3, hosts).write_robots(host, out));
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
    let url = written(|out| one.write_url(5, out));
    assert!(String::from_utf8(url).unwrap().contains(&one.host(0)));
}

/// Preferences occur as often as their sources report, and the rest of the corpus stays the same.
#[test]
fn some_hosts_state_preferences() {
    const HOSTS: u64 = 20_000;
    let plain = Corpus::new(1, HOSTS);
    let corpus = plain.with_usage(true);
    let mut counts = BTreeMap::new();
    for host in 0..HOSTS {
        let (file, without) = (
            written(|out| corpus.write_robots(host, out)),
            written(|out| plain.write_robots(host, out)),
        );
        let parsed = parse(&file);
        let fields: BTreeSet<_> = parsed.usage_records().iter().map(|it| it.field as u8).collect();
        assert_eq!(fields.is_empty(), file == without, "{host}");
        let rules = |file: &RobotsTxt<'_>| -> Vec<_> {
            file.rules().iter().map(|rule| (rule.verdict, rule.value.to_vec())).collect()
        };
        assert_eq!(rules(&parsed), rules(&parse(&without)), "{host}");
        assert!(parsed.usage_records().iter().filter_map(Statement::of).all(|it| it.is_readable));
        fields.into_iter().for_each(|field| *counts.entry(field).or_insert(0) += 1);
    }
    let share = |field: Field| counts[&(field as u8)] * 10_000 / HOSTS;
    // The first two fields need a default group.
    for (field, low, high) in
        [(Field::ContentSignal, 340, 430), (Field::ContentUsage, 28, 48), (Field::License, 65, 92)]
    {
        assert!((low..=high).contains(&share(field)), "{field:?}: {}", share(field));
    }
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
        let line = written(|out| corpus.write_archived(host, ArchiveFormat::JsonLines, out));
        let record: serde_json::Value = serde_json::from_slice(&line).unwrap();
        let origin = written(|out| corpus.write_origin(host, out));
        assert_eq!(record["url"], *format!("{}/robots.txt", String::from_utf8(origin).unwrap()));
        assert_eq!(record["status"], 200);
        assert_eq!(record["body"].as_str().unwrap().as_bytes(), robots);
    }
}

#[test]
fn the_archive_of_a_seed_never_changes() {
    let corpus = Corpus::new(1, HOSTS);
    let archive = written(|out| {
        (0..HOSTS).for_each(|host| corpus.write_archived(host, ArchiveFormat::JsonLines, out));
    });
    assert_eq!(twox_hash::XxHash3_64::oneshot(&archive), 1_214_693_765_699_903_087);
    let warc = || {
        written(|out| {
            corpus.write_archive_head(ArchiveFormat::Warc, out);
            (0..HOSTS).for_each(|host| corpus.write_archived(host, ArchiveFormat::Warc, out));
        })
    };
    assert!(warc() == warc());
}

/// The captures of the first hosts, host after host.
fn histories(hosts: u64, captures: u64) -> Vec<Vec<serde_json::Value>> {
    let corpus = Corpus::new(1, HOSTS).with_captures(captures);
    let of_host = |host| {
        let lines = written(|out| corpus.write_archived(host, ArchiveFormat::JsonLines, out));
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
            let first = written(|out| corpus.write_robots(host, out));
            assert_eq!(history[0]["body"].as_str().unwrap().as_bytes(), first);
        }
    }
}

/// Compares histories with the measurement that they follow.
#[test]
fn histories_are_like_those_of_local_governments() {
    let (mut captures, mut failures, mut missing) = (0, 0, 0);
    let (mut outages, mut long) = (0, 0);
    let (mut pairs, mut same, mut crawlers) = (0, 0, 0);
    let ai_groups = |file: &str| {
        let file = parse(file.as_bytes());
        let is_ai = |name: &[u8]| words::AI_AGENTS.iter().any(|it| it.as_bytes() == name);
        file.user_agents().iter().filter(|line| is_ai(line.value)).count()
    };
    for history in histories(HOSTS, 9) {
        let mut outage = None;
        let mut file: Option<&str> = None;
        for capture in &history {
            captures += 1;
            let (time, status) = (second(capture), capture["status"].as_u64().unwrap());
            failures += usize::from(status == 503);
            missing += usize::from(status == 404);
            if status == 503 {
                outage = outage.or(Some(time));
            } else if let Some(start) = outage.take() {
                outages += 1;
                long += usize::from(time - start > 30 * 24 * 60 * 60);
            }
            if status == 200 {
                let body = capture["body"].as_str().unwrap();
                if let Some(before) = file.replace(body) {
                    pairs += 1;
                    same += usize::from(before == body);
                    crawlers += usize::from(ai_groups(body) > ai_groups(before));
                }
            }
        }
    }
    for (what, count, of, low, high) in [
        ("failures", failures, captures, 1_550, 1_850),
        ("missing files", missing, captures, 850, 1_000),
        ("outages of more than 30 days", long, outages, 500, 800),
        ("files that equal the file before", same, pairs, 2_200, 2_900),
        ("files that begin to name AI crawlers", crawlers, pairs, 700, 1_100),
    ] {
        let share = count * 10_000 / of;

        assert!((low..=high).contains(&share), "{what}: {share} is not in {low}..={high}");
    }
}

#[test]
fn the_histories_of_a_seed_never_change() {
    let corpus = Corpus::new(1, HOSTS).with_captures(10);
    let archive = written(|out| {
        (0..HOSTS).for_each(|host| corpus.write_archived(host, ArchiveFormat::JsonLines, out));
        (0..HOSTS).for_each(|position| corpus.write_url_time(position, out));
    });
    assert_eq!(twox_hash::XxHash3_64::oneshot(&archive), 4_293_521_713_480_737_201);
}

#[test]
fn the_log_of_a_seed_never_changes() {
    let corpus = Corpus::new(1, HOSTS);
    let lines = (0..URLS).map(|position| written(|out| corpus.write_fetch(position, out)));
    let lines: Vec<String> = lines.map(|line| String::from_utf8(line).unwrap()).collect();
    let share = |part: &str| {
        let lines = lines.iter().filter(|line| line.contains(part)).count();
        lines as f64 / URLS as f64
    };
    assert!((0.6..0.75).contains(&share("Chrome/")));
    assert!((0.03..0.1).contains(&share("GPTBot/1.2")));
    assert!((0.001..0.003).contains(&share("] \"-\" ")));
    for (position, line) in (0..).zip(&lines) {
        let url = String::from_utf8(written(|out| corpus.write_url(position, out))).unwrap();
        let (scheme, rest) = url.split_once("://").unwrap();
        let (host, path) = rest.split_at(rest.find('/').unwrap());
        let port = if scheme == "https" { 443 } else { 80 };
        assert!(line.starts_with(&format!("{host}:{port} 198.")), "{line}");
        assert!(line.contains(&format!("] \"GET {path} HTTP/1.1\" ")) || line.contains("] \"-\" "));
    }
    let hash = twox_hash::XxHash3_64::oneshot(lines.concat().as_bytes());
    assert_eq!(hash, 5_673_420_304_740_969_226, "published figures name logs by their seed");
}

#[test]
fn files_are_the_corpus_in_any_format() {
    use std::fs;

    let folder = tempfile::tempdir().unwrap();
    let corpus = Corpus::new(1, 600);
    let urls = 6_000;
    let list: Vec<u8> = (0..urls)
        .flat_map(|position| {
            written(|out| corpus.write_url(position, out)).into_iter().chain(*b"\n")
        })
        .collect();
    for archive in [None, Some(ArchiveFormat::JsonLines), Some(ArchiveFormat::Warc)] {
        let path = folder.path().join(format!("{archive:?}"));
        let files = Files { urls, archive, has_access_log: false };
        corpus.write_files(&path, &files).unwrap();
        assert!(fs::read(path.join("urls.txt")).unwrap() == list);
        let robots = |host| written(|out| corpus.write_robots(host, out));
        let archived = |format| {
            let mut all = written(|out| corpus.write_archive_head(format, out));
            (0..600).for_each(|host| corpus.write_archived(host, format, &mut all));
            all
        };
        match archive {
            None => {
                let file = |host| fs::read(path.join("robots").join(corpus.host(host))).unwrap();
                assert!((0..600).all(|host| file(host) == robots(host)));
                assert_eq!(fs::read_dir(path.join("robots")).unwrap().count(), 600);
            }
            Some(format) => {
                let warc = format == ArchiveFormat::Warc;
                let name = if warc { "robots.warc.gz" } else { "robots.jsonl" };
                assert!(fs::read(path.join(name)).unwrap() == archived(format));
            }
        }
        let again = corpus.write_files(&path, &files).unwrap_err().to_string();
        assert!(again.contains("robots") && again.contains("exists"), "{again}");
    }
    let timed = folder.path().join("timed");
    let files = Files { urls: 3, archive: Some(ArchiveFormat::JsonLines), has_access_log: false };
    corpus.with_captures(2).write_files(&timed, &files).unwrap();
    let list = fs::read_to_string(timed.join("urls.tsv")).unwrap();
    assert!(list.starts_with("url\ttime\nhttp") && list.lines().count() == 4, "{list}");
    corpus
        .write_files(&folder.path().join("log"), &Files { has_access_log: true, ..files })
        .unwrap();
    assert_eq!(
        fs::read_to_string(folder.path().join("log/access.log")).unwrap().lines().count(),
        3
    );
}
