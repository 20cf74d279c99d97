//! The choice among captures, within one ingest and over a merge, and the reports on inputs.

use std::sync::Mutex;

use super::*;
use crate::{IngestObserver, OutageConfig, Part, Progress, StandingCounts, merge};
use portcullis_dialect::limits::BROKEN_RECORDS_NAMED;

#[test]
fn a_host_applies_to_both_schemes_and_a_url_to_one() {
    let captures = [
        host_file("a.example", "/host"),
        host_file("b.example:443", "/443"),
        host_file("c.example:8080", "/8080"),
        file("http://d.example/robots.txt", 1, "/http"),
        file("ftp://e.example/robots.txt", 1, "/ftp"),
        file("https://a.example/robots.txt", 1, "/https"),
        file("https://f.example/x/robots.txt", 1, "/x"),
        file("https://f.example/robots.txt?q", 1, "/q"),
    ];
    let found = ingest_made(&captures, &RFC_9309);
    let rows = [
        ("http://a.example", "-/host"),
        ("https://a.example", "-/https"),
        ("https://b.example", "-/443"),
        ("http://b.example:443", "-/443"),
        ("http://b.example", "nothing"),
        ("http://c.example:8080", "-/8080"),
        ("https://c.example:8080", "-/8080"),
        ("https://c.example", "nothing"),
        ("http://d.example", "-/http"),
        ("https://d.example", "nothing"),
        ("ftp://e.example", "-/ftp"),
        ("https://e.example", "nothing"),
        ("https://f.example", "nothing"),
    ];
    for (origin, said) in rows {
        assert_eq!(found.says(origin), said, "{origin}");
    }
    let keys: Vec<_> = found.hosts.iter().map(|host| String::from_utf8_lossy(&host.key)).collect();
    let expected = ["a.example", "b.example", "b.example:443", "c.example:8080", "d.example"];
    assert_eq!(keys[..5], expected);
    assert_eq!(keys[5..], ["ftp://e.example"]);
}

/// Shuffles the items, in the same way for the same seed.
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

/// Returns captures of some hosts that together have every kind of standing.
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
    // All known dates of a host are different.
    let (undated, dated): (Vec<Made>, Vec<Made>) =
        mixture().into_iter().partition(|made| made.is_host);
    let records = |made: Vec<Made>| made.into_iter().map(Record::Capture).collect::<Vec<_>>();
    let (undated, dated) = (records(undated), records(dated));
    let ingest = |dated: &[Record], pieces: usize, threads: usize| {
        let inputs = [dated, &undated[..]]
            .map(|input| (input.chunks(pieces).map(<[Record]>::to_vec).collect(), false));
        ingest_pieces(&inputs, &config(&RFC_9309), threads).unwrap()
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
            // An older file, which may still be confirmed, is kept beside newer captures.
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
            // A few bytes more, because the dates in the paths have two digits.
            assert!(found.pool.bytes() < bytes + 500, "{}", found.pool.bytes());
            assert!(found.pool.places() < places * 2, "{places} {}", found.pool.places());
        }
    }
}

fn merge_all<'p>(parts: impl IntoIterator<Item = Part<'p>>) -> Ingested {
    merge(parts, &RFC_9309, OutageConfig::default())
}

#[test]
fn the_newest_of_each_origin_counts() {
    let one = [
        file(&url("a"), 5, "/a5"),
        file("http://a.example/robots.txt", 1, "/http1"),
        file(&url("b"), 5, "/b5"),
        file(&url("c"), 0, "/c").undated(),
        file(&url("undated"), 0, "/undated").undated(),
        file(&url("only-one"), 1, "/one"),
    ];
    let two = [
        file(&url("a"), 4, "/a4"),
        file("http://a.example/robots.txt", 2, "/http2"),
        file(&url("b"), 5, "/b5 again"),
        file(&url("c"), 0, "/c dated"),
        file(&url("undated"), 0, "/undated again").undated(),
        status(&url("d"), 3, 503),
    ];
    let three = [file(&url("c"), 9, "/c undated").undated()];
    let parts = [&one[..], &two, &three].map(|captures| ingest_made(captures, &RFC_9309));
    let merged = merge_all(parts.iter().map(Part::of));
    for (origin, said) in [
        ("https://a.example", "-/a5"),
        ("http://a.example", "-/http2"),
        ("https://b.example", "-/b5 again"),
        ("https://c.example", "-/c dated"),
        ("https://d.example", "unreachable disallow"),
        ("https://only-one.example", "-/one"),
        ("https://undated.example", "-/undated again"),
    ] {
        assert_eq!(merged.says(origin), said, "{origin}");
    }
    assert_eq!(merged.inputs.len(), 3);
    assert_eq!(merged.find("https://a.example").unwrap().facts.input, 0);
    assert_eq!(merged.find("https://b.example").unwrap().facts.input, 1);
    assert!(merged.hosts.is_sorted_by(|one, other| one.key < other.key));
    assert_eq!((merged.counts.hosts, merged.counts.origins), (6, 7));
}

#[test]
fn one_part_stays_as_it_is_and_shares_what_it_shared() {
    let shared: Vec<Made> = (0..50).map(|host| file(&url(format!("h{host}")), 1, "/x")).collect();
    let part = ingest_made(&shared, &RFC_9309);
    let merged = merge_all([Part::of(&part), Part::of(&part)]);
    assert_eq!(merged.pool.bytes(), part.pool.bytes());
    assert_eq!(merged.says("https://h49.example"), "-/x");
    let nothing = merge_all(std::iter::empty());
    assert_eq!((nothing.hosts.len(), nothing.inputs.len()), (0, 0));
    let alone = merge_all([Part::of(&part)]);
    assert_eq!((alone.all(), &alone.counts), (part.all(), &part.counts));
}

#[test]
fn captures_that_do_not_count_are_released() {
    let long = |number: u32| format!("/{number}{}", "x".repeat(5_000));
    let parts: Vec<Ingested> = (0..100)
        .map(|date| ingest_made(&[file(&url("a"), u64::from(date), &long(date))], &RFC_9309))
        .collect();
    let merged = merge_all(parts.iter().map(Part::of));
    assert_eq!(merged.says("https://a.example"), format!("-{}", long(99)));
    assert_eq!(merged.pool.bytes(), parts[99].pool.bytes());
    assert!(merged.pool.places() < 10, "{}", merged.pool.places());
}

fn pieces() -> Vec<(Pieces, bool)> {
    let broken = |place| Record::Broken(place);
    let of_nobody =
        |subject: &str, is_host| Record::Capture(Made { is_host, ..file(subject, 900, "/nobody") });
    let made = Record::Capture;
    vec![
        (
            vec![
                vec![broken("line 1"), made(file(A, 50, "/a")), broken("line 3")],
                vec![of_nobody("a.example/robots.txt", false), of_nobody("a b", true)],
                vec![made(status("https://b.example/robots.txt", 20, 404)), broken("line 9")],
            ],
            false,
        ),
        (vec![vec![made(file(A, 70, "/a70"))]], true),
        (vec![], false),
    ]
}

#[test]
fn broken_records_are_named_in_order_and_skipped() {
    for threads in [1, 2, 8] {
        let found = ingest_pieces(&pieces(), &config(&RFC_9309), threads).unwrap();
        assert_eq!(found.says("https://a.example"), "-/a70");
        assert_eq!(found.says("https://b.example"), "unavailable allow");
        assert_eq!(found.hosts.len(), 2);
        let [first, second, third] = &found.inputs[..] else { panic!() };
        assert_eq!((first.name.as_str(), first.bytes, first.captures), ("input 0", 300, 2));
        assert_eq!(first.broken, 5);
        let places: Vec<_> =
            first.broken_named.iter().map(|broken| broken.place.as_str()).collect();
        let nobody = "the capture of the URL \"a.example/robots.txt\"";
        let nowhere = "the capture of the host \"a b\"";
        assert_eq!(places, ["line 1", "line 3", nobody, nowhere, "line 9"]);
        assert!(first.broken_named[2].problem.contains("no scheme"));
        assert_eq!(first.captured, Some((UnixSeconds(20), UnixSeconds(50)).into()));
        assert_eq!(first.failure, None);
        assert!(second.failure.as_ref().is_some_and(|text| text.ends_with("no more bytes")));
        assert_eq!((second.captures, second.broken), (1, 0));
        assert!(third.is_whole() && third.captures == 0 && third.captured.is_none());
    }
}

#[test]
fn strictness_makes_each_of_them_an_error() {
    let strict = IngestConfig { strictness: Strictness::Strict, ..config(&RFC_9309) };
    let error = ingest_pieces(&pieces(), &strict, 2).unwrap_err();
    assert!(matches!(error, IngestError::Broken { .. }), "{error}");
    assert_eq!(error.inputs().len(), 3);
    assert!(error.to_string().ends_with("no more bytes (and 5 more problems)"), "{error}");
    let usual = IngestConfig { strictness: Strictness::Usual, ..config(&RFC_9309) };
    assert!(matches!(ingest_pieces(&pieces(), &usual, 2), Err(IngestError::Broken { .. })));

    let captures = || vec![Record::Capture(file(A, 1, "/a"))];
    let one_broken = vec![(vec![captures(), vec![Record::Broken("line 2")]], false)];
    assert!(ingest_pieces(&one_broken, &strict, 1).is_err());
    assert!(ingest_pieces(&[(vec![captures()], true)], &strict, 1).is_err());
    assert!(ingest_pieces(&[(vec![captures()], false)], &strict, 1).is_ok());
}

#[test]
fn nothing_at_all_is_an_error() {
    for inputs in [
        vec![],
        vec![(vec![], false)],
        vec![(vec![], true)],
        vec![(vec![vec![Record::Broken("line 1")]], false)],
        // A capture that serves only as a target of redirects, of which there are none.
        vec![(vec![vec![Record::Capture(file("https://a.example/x", 1, "/x"))]], false)],
    ] {
        let error = ingest_pieces(&inputs, &config(&RFC_9309), 2).unwrap_err();
        assert!(matches!(error, IngestError::NothingCaptured { .. }), "{error}");
    }
}

#[test]
fn the_first_broken_records_are_named_and_all_are_counted() {
    let places: Vec<&'static str> =
        (0..40).map(|line| &*Box::leak(format!("line {line}").into_boxed_str())).collect();
    let mut input: Pieces =
        places.chunks(3).map(|piece| piece.iter().copied().map(Record::Broken).collect()).collect();
    input.push(vec![Record::Capture(file(A, 1, "/a"))]);
    for threads in [1, 4] {
        let found = ingest_pieces(&[(input.clone(), false)], &config(&RFC_9309), threads).unwrap();
        let report = &found.inputs[0];
        assert_eq!((report.broken, report.broken_named.len()), (40, BROKEN_RECORDS_NAMED));
        for (named, place) in report.broken_named.iter().zip(&places) {
            assert_eq!(named.place, *place);
        }
    }
}

#[test]
fn an_observer_sees_every_piece() {
    #[derive(Default)]
    struct Seen(Mutex<(u64, u64, u64)>);
    impl IngestObserver for Seen {
        fn progressed(&self, progress: &Progress) {
            let mut seen = self.0.lock().unwrap();
            seen.0 += progress.bytes;
            seen.1 += progress.captures;
            seen.2 += progress.broken;
        }
    }
    let inputs = pieces();
    let open = |input: usize| -> Result<Box<dyn BatchReader>, CaptureError> {
        let (pieces, fails) = inputs[input].clone();
        if input == 2 {
            return Err(unreadable("not there"));
        }
        Ok(Box::new(MadeReader { pieces: pieces.into(), fails }))
    };
    let reports = (0..3).map(|_| Input::new("made up").report()).collect();
    let seen = Seen::default();
    let found = ingest_from(reports, &open, &config(&RFC_9309), &seen).unwrap();
    assert_eq!(*seen.0.lock().unwrap(), (400, 3, 5));
    assert!(found.inputs[2].failure.as_ref().is_some_and(|text| text.starts_with("not there")));
}

#[test]
fn a_panic_ends_the_run_and_blocks_no_thread() {
    struct Panics;
    impl BatchReader for Panics {
        fn next_batch(&mut self) -> Result<Option<Box<dyn Batch>>, CaptureError> {
            panic!("on purpose")
        }
    }
    let open = |input: usize| -> Result<Box<dyn BatchReader>, CaptureError> {
        if input == 1 {
            return Ok(Box::new(Panics));
        }
        let (pieces, fails) = pieces()[0].clone();
        Ok(Box::new(MadeReader { pieces: pieces.into(), fails }))
    };
    let reports = || (0..4).map(|_| Input::new("made up").report()).collect();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    let ingest = || pool.install(|| ingest_from(reports(), &open, &config(&RFC_9309), &()));
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(ingest));
    assert!(outcome.is_err());
}
