//! What was ingested apart, joined.

use super::*;
use crate::set::{OutageConfig, Part, merge};

fn merge_all<'p>(parts: impl IntoIterator<Item = Part<'p>>) -> Ingested {
    merge(parts, &RFC_9309, OutageConfig::default())
}

fn url(host: &str) -> String {
    format!("https://{host}.example/robots.txt")
}

#[test]
fn the_newest_of_each_origin_counts() {
    let parts = [
        ingest_made(
            &[
                file(&url("a"), 5, "/a5"),
                file("http://a.example/robots.txt", 1, "/http1"),
                file(&url("b"), 5, "/b5"),
                file(&url("c"), 0, "/c").undated(),
                file(&url("only-one"), 1, "/one"),
            ],
            &RFC_9309,
        ),
        ingest_made(
            &[
                file(&url("a"), 4, "/a4"),
                file("http://a.example/robots.txt", 2, "/http2"),
                file(&url("b"), 5, "/b5 again"),
                file(&url("c"), 0, "/c dated"),
                status(&url("d"), 3, 503),
            ],
            &RFC_9309,
        ),
        ingest_made(&[file(&url("c"), 9, "/c undated").undated()], &RFC_9309),
    ];
    let merged = merge_all(parts.iter().map(Part::of));
    for (origin, said) in [
        ("https://a.example", "-/a5"),
        ("http://a.example", "-/http2"),
        ("https://b.example", "-/b5 again"),
        ("https://c.example", "-/c dated"),
        ("https://d.example", "unreachable disallow"),
        ("https://only-one.example", "-/one"),
    ] {
        assert_eq!(merged.says(origin), said, "{origin}");
    }
    assert_eq!(merged.inputs.len(), 3);
    assert_eq!(merged.find("https://a.example").unwrap().facts.input, 0);
    assert_eq!(merged.find("https://b.example").unwrap().facts.input, 1);
    assert!(merged.hosts.is_sorted_by(|one, other| one.key < other.key));
    assert_eq!((merged.counts.hosts, merged.counts.origins), (5, 6));
}

#[test]
fn one_part_stays_as_it_is_and_shares_what_it_shared() {
    let shared: Vec<Made> = (0..50).map(|host| file(&url(&format!("h{host}")), 1, "/x")).collect();
    let part = ingest_made(&shared, &RFC_9309);
    let merged = merge_all([Part::of(&part), Part::of(&part)]);
    assert_eq!(merged.pool.bytes(), part.pool.bytes());
    assert_eq!(merged.says("https://h49.example"), "-/x");
    let alone = merge_all([Part::of(&part)]);
    assert_eq!((alone.all(), &alone.counts), (part.all(), &part.counts));
}

#[test]
fn what_does_not_count_is_given_up() {
    let long = |number: u32| format!("/{number}{}", "x".repeat(5_000));
    let parts: Vec<Ingested> = (0..100)
        .map(|date| ingest_made(&[file(&url("a"), u64::from(date), &long(date))], &RFC_9309))
        .collect();
    let merged = merge_all(parts.iter().map(Part::of));
    assert_eq!(merged.says("https://a.example"), format!("-{}", long(99)));
    assert_eq!(merged.pool.bytes(), parts[99].pool.bytes());
    assert!(merged.pool.places() < 10, "{}", merged.pool.places());
}

#[test]
fn nothing_merges_to_nothing() {
    let merged = merge_all(std::iter::empty());
    assert_eq!((merged.hosts.len(), merged.inputs.len()), (0, 0));
}
