//! What the made-up corpus has in common with the measured web, and that it never changes.

use std::collections::{BTreeSet, HashMap};

use super::*;
use crate::dialect::RFC_9309;
use crate::syntax::RobotsTxt;

const HOSTS: u64 = 4_000;
const URLS: u64 = 40_000;

fn files() -> Vec<Vec<u8>> {
    let corpus = Corpus::new(1, HOSTS);
    (0..HOSTS)
        .map(|host| {
            let mut file = Vec::new();
            corpus.write_robots(host, &mut file);
            file
        })
        .collect()
}

fn urls() -> Vec<Vec<u8>> {
    let corpus = Corpus::new(1, HOSTS);
    (0..URLS)
        .map(|position| {
            let mut url = Vec::new();
            corpus.write_url(position, &mut url);
            url
        })
        .collect()
}

/// The value that a share, in a hundred, of `values` does not pass.
fn quantile(mut values: Vec<usize>, percent: usize) -> usize {
    values.sort_unstable();
    values[values.len() * percent / 100]
}

#[track_caller]
fn assert_within(value: usize, low: usize, high: usize) {
    assert!((low..=high).contains(&value), "{value} is not in {low}..={high}");
}

fn share_per_ten_thousand<T>(items: &[T], property: impl Fn(&T) -> bool) -> usize {
    items.iter().filter(|item| property(item)).count() * 10_000 / items.len()
}

fn contains(text: &[u8], byte: u8) -> bool {
    text.contains(&byte)
}

/// Each text once: a frequent file would weigh as much as all its users.
fn distinct(files: Vec<Vec<u8>>) -> BTreeSet<Vec<u8>> {
    files.into_iter().collect()
}

fn parse(file: &[u8]) -> RobotsTxt<'_> {
    RobotsTxt::parse(file, &RFC_9309, None)
}

#[test]
fn the_corpus_of_a_seed_never_changes() {
    let mut all = files().concat();
    all.extend(urls().concat());
    let hash = xxhash_rust::xxh3::xxh3_64(&all);
    assert_eq!(
        hash, 13_558_698_939_764_156_216,
        "published figures name corpora by their seed: make a change only with a new major version"
    );
}

#[test]
fn positions_do_not_depend_on_the_length_of_the_list() {
    let corpus = Corpus::new(3, 100);
    let mut first = Vec::new();
    corpus.write_url(17, &mut first);
    let mut again = Vec::new();
    corpus.write_url(18, &mut again);
    again.clear();
    corpus.write_url(17, &mut again);
    assert_eq!(first, again);
}

#[test]
fn a_larger_corpus_begins_with_the_smaller() {
    let robots = |hosts, host| {
        let mut robots = Vec::new();
        Corpus::new(3, hosts).write_robots(host, &mut robots);
        robots
    };
    assert!((0..10).all(|host| robots(10, host) == robots(1_000_000, host)));
}

#[test]
fn whether_a_layout_has_rules_is_known_without_its_file() {
    let corpus = Corpus::new(5, HOSTS);
    for host in 0..HOSTS {
        let mut file = Vec::new();
        corpus.write_robots(host, &mut file);
        assert_eq!(corpus.has_rules(host), !parse(&file).rules().is_empty(), "{host}");
    }
}

#[test]
fn seeds_and_positions_differ() {
    let host = |seed, position| Corpus::new(seed, 10).host(position);
    assert_ne!(host(1, 0), host(2, 0));
    assert_ne!(host(1, 0), host(1, 1));
}

#[test]
fn a_corpus_of_one_host_works() {
    let corpus = Corpus::new(0, 0);
    assert_eq!(corpus.hosts(), 1);
    let mut url = Vec::new();
    corpus.write_url(5, &mut url);
    assert!(String::from_utf8(url).unwrap().contains(&corpus.host(0)));
}

#[test]
fn every_url_is_on_a_host_of_the_corpus() {
    let corpus = Corpus::new(1, HOSTS);
    let hosts: std::collections::HashSet<String> = (0..HOSTS).map(|h| corpus.host(h)).collect();
    assert_eq!(hosts.len() as u64, HOSTS);
    for url in urls() {
        let url = String::from_utf8(url).unwrap();
        let host = url.split('/').nth(2).unwrap().split('?').next().unwrap();
        assert!(hosts.contains(host), "{url}");
    }
}

#[test]
fn file_sizes_are_like_the_webs() {
    let sizes: Vec<usize> = files().iter().map(Vec::len).collect();
    assert_within(quantile(sizes.clone(), 50), 400, 600);
    assert_within(quantile(sizes, 99), 10_000, 25_000);
}

#[test]
fn half_of_the_files_equal_another() {
    let files = files();
    let mut users: HashMap<&[u8], usize> = HashMap::new();
    for file in &files {
        *users.entry(file).or_default() += 1;
    }
    assert_within(share_per_ten_thousand(&files, |file| users[file.as_slice()] > 1), 4_400, 5_200);
}

#[test]
fn groups_and_rules_are_like_the_webs() {
    let files = files();
    let groups: Vec<usize> = files.iter().map(|file| parse(file).groups().len()).collect();
    assert_eq!(quantile(groups.clone(), 50), 1);
    assert_within(quantile(groups, 90), 7, 11);
    let mut rules = Vec::new();
    for file in distinct(files) {
        rules.extend(parse(&file).groups().iter().map(|group| group.rules.len()));
    }
    assert_eq!(quantile(rules.clone(), 50), 1);
    assert_within(quantile(rules, 99), 80, 180);
}

#[test]
fn wildcards_are_like_the_webs() {
    let mut patterns = Vec::new();
    for file in distinct(files()) {
        patterns.extend(parse(&file).rules().iter().map(|rule| rule.value.to_vec()));
    }
    patterns.retain(|pattern| !pattern.is_empty());
    let stars = |pattern: &Vec<u8>| pattern.iter().filter(|&&byte| byte == b'*').count();
    assert_within(share_per_ten_thousand(&patterns, |p| stars(p) == 0), 7_950, 8_350);
    assert_within(share_per_ten_thousand(&patterns, |p| stars(p) == 1), 1_100, 1_500);
    assert_within(share_per_ten_thousand(&patterns, |p| stars(p) > 1), 400, 700);
    assert_within(share_per_ten_thousand(&patterns, |p| p.ends_with(b"$")), 220, 320);
}

#[test]
fn line_ends_and_byte_order_marks_are_like_the_webs() {
    let files = files();
    assert_within(share_per_ten_thousand(&files, |file| contains(file, b'\r')), 1_700, 2_300);
    assert_within(
        share_per_ten_thousand(&files, |file| file.starts_with(b"\xEF\xBB\xBF")),
        50,
        300,
    );
}

#[test]
fn urls_are_like_the_webs() {
    let urls = urls();
    let lengths: Vec<usize> = urls.iter().map(Vec::len).collect();
    assert_within(quantile(lengths.clone(), 50), 48, 56);
    assert_within(quantile(lengths, 99), 190, 270);
    assert_within(share_per_ten_thousand(&urls, |url| contains(url, b'?')), 1_100, 1_300);
    assert_within(share_per_ten_thousand(&urls, |url| contains(url, b'%')), 310, 400);
}

#[test]
fn few_hosts_have_most_urls() {
    let mut counts: HashMap<Vec<u8>, usize> = HashMap::new();
    for url in urls() {
        let host = url.split(|&byte| byte == b'/').nth(2).unwrap().to_vec();
        *counts.entry(host).or_default() += 1;
    }
    let most = counts.values().copied().max().unwrap();
    assert_within(most, URLS as usize / 20, URLS as usize / 3);
    assert_within(quantile(counts.into_values().collect(), 50), 1, 10);
}
