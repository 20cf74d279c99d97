//! Which capture of an origin counts.

use super::*;
use crate::set::ingest::census::StandingCounts;

const A: &str = "https://a.example/robots.txt";
const ORIGIN: &str = "https://a.example";

/// An order that means nothing, the same for a seed.
fn shuffle<T>(items: &mut [T], seed: u64) {
    let mut state = seed;
    for last in (1..items.len()).rev() {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        items.swap(last, (state >> 33) as usize % (last + 1));
    }
}

#[test]
fn the_newest_by_date_whatever_comes_last() {
    let captures = [file(A, 3, "/3"), file(A, 5, "/5"), status(A, 4, 404), file(A, 1, "/1")];
    let found = ingest_made(&captures, &RFC_9309);
    assert_eq!(found.says(ORIGIN), "-/5");
    assert_eq!(found.find(ORIGIN).unwrap().facts.captured_at, Some(UnixSeconds(5)));
    let found = ingest_made(&[status(A, 6, 404), file(A, 5, "/5")], &RFC_9309);
    assert_eq!(found.says(ORIGIN), "unavailable allow");
}

#[test]
fn a_date_is_newer_than_none() {
    for captures in [
        [file(A, 1, "/dated"), file(A, 0, "/undated").undated()],
        [file(A, 0, "/undated").undated(), file(A, 0, "/dated")],
    ] {
        assert_eq!(ingest_made(&captures, &RFC_9309).says(ORIGIN), "-/dated");
    }
}

#[test]
fn among_equals_the_later_place_then_the_later_input() {
    let same = |path| Record::Capture(file(A, 7, path));
    let undated = |path| Record::Capture(file(A, 0, path).undated());
    for of in [same as fn(&'static str) -> Record, undated] {
        let one = (vec![vec![of("/0"), of("/1")], vec![of("/2")]], false);
        let found = ingest_pieces(std::slice::from_ref(&one), &config(&RFC_9309), 2).unwrap();
        assert_eq!(found.says(ORIGIN), "-/2");
        let other = (vec![vec![of("/3")]], false);
        for threads in [1, 3] {
            let inputs = [one.clone(), other.clone()];
            let found = ingest_pieces(&inputs, &config(&RFC_9309), threads).unwrap();
            assert_eq!(found.says(ORIGIN), "-/3");
            assert_eq!(found.find(ORIGIN).unwrap().facts.input, 1);
        }
    }
}

/// Captures of some hosts in which every way to be known occurs.
fn mixture() -> Vec<Made> {
    let mut captures = Vec::new();
    for host in 0..40_u64 {
        let url = |host: u64| format!("https://h{host}.example/robots.txt");
        for date in 0..12 {
            let made = match (host * 7 + date * 5) % 11 {
                0 => status(&url(host), date, 404),
                1 => status(&url(host), date, 503),
                2 => redirect(&url(host), date, &url((host + date) % 40)),
                3 => redirect(&url(host), date, &format!("/folder/{host}.txt")),
                4 => file(&format!("https://h{host}.example/folder/{host}.txt"), date, "/folder"),
                5 | 6 => status(&url(host), date, 304),
                7 => Made::new(&url(host), date, Answer::BrokenBody),
                8 => host_file(&format!("h{host}.example"), &format!("/{date}")),
                _ => file(&url(host), date, &format!("/{date}")),
            };
            captures.push(made);
        }
    }
    captures
}

#[test]
fn neither_threads_nor_order_change_anything() {
    // The dates are all different within a host, but for those that are not known.
    let dated: Vec<Record> =
        mixture().into_iter().filter(|made| !made.is_host).map(Record::Capture).collect();
    let undated: Vec<Record> =
        mixture().into_iter().filter(|made| made.is_host).map(Record::Capture).collect();
    let ingest = |dated: &[Record], pieces: usize, threads: usize| {
        let first = dated.chunks(pieces).map(<[Record]>::to_vec).collect();
        let second = undated.chunks(pieces).map(<[Record]>::to_vec).collect();
        ingest_pieces(&[(first, false), (second, false)], &config(&RFC_9309), threads).unwrap()
    };
    let expected = ingest(&dated, 1_000, 1);
    assert_eq!(expected.hosts.len(), 40);
    for seed in 0..20 {
        let mut shuffled = dated.clone();
        shuffle(&mut shuffled, seed);
        for (pieces, threads) in [(1, 8), (7, 2), (50, 1)] {
            let found = ingest(&shuffled, pieces, threads);
            assert_eq!(found.all(), expected.all(), "{seed} {pieces} {threads}");
            assert_eq!(found.counts, expected.counts);
            assert_eq!(found.pool.bytes(), expected.pool.bytes());
        }
    }
}

#[test]
fn files_and_threads_change_nothing_among_equals() {
    let captures: Vec<Record> =
        mixture().into_iter().map(|made| Record::Capture(made.undated())).collect();
    let inputs: Vec<(Pieces, bool)> = captures
        .chunks(90)
        .map(|input| (input.chunks(4).map(<[Record]>::to_vec).collect(), false))
        .collect();
    let expected = ingest_pieces(&inputs, &config(&RFC_9309), 1).unwrap();
    for threads in [2, 8] {
        for _ in 0..10 {
            let found = ingest_pieces(&inputs, &config(&RFC_9309), threads).unwrap();
            assert_eq!(found.all(), expected.all());
            assert_eq!(found.inputs, expected.inputs);
        }
    }
}

#[test]
fn the_pool_holds_what_counts_and_nothing_else() {
    for dialect in Dialect::ALL {
        let found = ingest_made(&mixture(), dialect);
        let mut holders = std::collections::BTreeMap::new();
        let standings = found.hosts.iter().flat_map(|host| [host.http, host.https]).flatten();
        for standing in standings {
            if let Content::File { extract, others } = standing.content {
                *holders.entry(extract).or_insert(0) += 1;
                *holders.entry(others).or_insert(0) += 1;
            }
        }
        let Ingested { mut pool, hosts, counts, .. } = found;
        assert_eq!(StandingCounts::of(&hosts, &pool), counts);
        for (blob, holders) in holders {
            (0..holders).for_each(|_| pool.release(blob));
        }
        assert_eq!(pool.bytes(), 0, "{}", dialect.name);
    }
}

#[test]
fn memory_is_bounded_by_what_counts() {
    const HOSTS: u64 = 50;
    let capture = |host: u64, date: u64| {
        let url = format!("https://h{host}.example/robots.txt");
        match date % 10 {
            // A file that is older, which may be confirmed yet, stays beside what is newer.
            3 => status(&url, date, 404),
            4 => redirect(&url, date, &format!("https://h{host}.example/{date}")),
            _ => file(&url, date, &format!("/{host}/{date}/{}", "x".repeat(1_000))),
        }
    };
    let mut places = 0;
    let mut bytes = 0;
    for captures in [1, 100] {
        let mut made: Vec<Made> = (0..HOSTS)
            .flat_map(|host| (0..captures).map(move |date| capture(host, date)))
            .collect();
        shuffle(&mut made, captures);
        let found = ingest_made(&made, &RFC_9309);
        assert_eq!(found.hosts.len(), HOSTS as usize);
        if captures == 1 {
            (places, bytes) = (found.pool.places(), found.pool.bytes());
        } else {
            // A few bytes more: the dates in the paths have two digits.
            assert!(found.pool.bytes() < bytes + 500, "{}", found.pool.bytes());
            assert!(found.pool.places() < places * 2, "{places} {}", found.pool.places());
        }
    }
}
