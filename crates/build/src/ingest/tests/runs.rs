//! Results that threads, pieces, order and merging may not change, and the reports on inputs.

use std::sync::Mutex;

use portcullis_files::input::InputError;
use portcullis_files::scratch::Scratch;
use portcullis_robots::access::DateSpan;
use portcullis_set::PolicySet;

use super::*;
use crate::ingest::{IngestObserver, Progress};
use crate::limits::BROKEN_RECORDS_NAMED;
use crate::merging::{MergeError, SettleChoice};
use crate::provenance::SettleConfig;

/// Shuffles the items, in the same way for the same seed.
fn shuffle<T>(items: &mut [T], seed: u64) {
    let mut state = seed;
    for last in (1..items.len()).rev() {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        items.swap(last, (state >> 33) as usize % (last + 1));
    }
}

/// Returns captures of some hosts that together have every kind of standing.
fn mixture() -> Vec<Made> {
    let mut captures = Vec::new();
    for host in 0..40_u64 {
        for date in 0..12 {
            let to = (host + date) % 40;
            captures.push(made(&match (host * 7 + date * 5) % 11 {
                0 => format!("h{host} {date} 404"),
                1 => format!("h{host} {date} 503"),
                2 => format!("h{host} {date} 301 @h{to}"),
                3 => format!("h{host} {date} 301 /folder/{host}.txt"),
                4 => format!("https://h{host}.example/folder/{host}.txt {date} 200 /folder"),
                5 | 6 => format!("h{host} {date} 304"),
                7 => format!("h{host} {date} broken !truncated"),
                8 => format!("*h{host}.example - 200 /{date}"),
                _ => format!("h{host} {date} 200 /{date}"),
            }));
        }
    }
    captures
}

#[test]
fn neither_threads_nor_order_change_anything() {
    // All known dates of a host are different.
    let (undated, dated): (Vec<Made>, Vec<Made>) =
        mixture().into_iter().partition(|made| made.subject.starts_with('*'));
    let records = |made: Vec<Made>| made.into_iter().map(Record::Capture).collect::<Vec<_>>();
    let (undated, dated) = (records(undated), records(dated));
    let ingest = |dated: &[Record], pieces: usize, threads: usize| {
        let inputs = [dated, &undated[..]]
            .map(|input| (input.chunks(pieces).map(<[Record]>::to_vec).collect(), false));
        ingest_pieces(&inputs, &config(&RFC_9309), threads).unwrap()
    };
    let expected = ingest(&dated, 1_000, 1);
    assert_eq!(expected.hosts().len(), 40);
    for seed in 0..20 {
        let mut shuffled = dated.clone();
        shuffle(&mut shuffled, seed);
        for (pieces, threads) in [(1, 8), (7, 2), (50, 1)] {
            let found = ingest(&shuffled, pieces, threads);
            assert_eq!(found.all(), expected.all(), "{seed} {pieces} {threads}");
            assert_eq!(found.counts(), expected.counts());
        }
    }
}

/// Little memory makes many runs, and runs of runs; the set is the same, byte for byte.
#[test]
fn memory_changes_nothing() {
    for (seed, dialect) in (0..6).zip(Dialect::ALL.into_iter().cycle()) {
        let mut captures: Vec<Record> = mixture().into_iter().map(Record::Capture).collect();
        shuffle(&mut captures, seed);
        let inputs: Vec<(Pieces, bool)> = captures
            .chunks(150)
            .map(|input| (input.chunks(7).map(<[Record]>::to_vec).collect(), false))
            .collect();
        let history = seed % 2 == 0;
        let compiled = |scratch: Scratch, threads: usize| {
            let config = IngestConfig { history, scratch: scratch.clone(), ..config(dialect) };
            let ingested = ingest_pieces(&inputs, &config, threads).unwrap();
            let bytes = ingested.compiled();
            let set = PolicySet::from_bytes("a set", bytes.clone()).unwrap();
            crate::verify(&set, &scratch).unwrap();
            let merging =
                IngestConfig::of_sets([Ok::<_, MergeError>(&set)], &SettleChoice::default());
            let mut merger = Merger::new(IngestConfig { scratch, ..merging.unwrap() });
            merger.add(&[&set]).unwrap();
            (bytes, merger.finish().unwrap().compiled(), ingested.superseded)
        };
        let expected = compiled(Scratch::in_memory(), 1);
        let folder = tempfile::tempdir().unwrap();
        for memory in [0, 4_000, 20_000] {
            let scratch = Scratch::with_little_memory(folder.path(), memory);
            assert!(compiled(scratch.clone(), 2) == expected, "{seed} with {memory}");
            assert!(scratch.spilled_bytes() > 0);
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}

#[test]
fn files_and_threads_change_nothing_among_equals() {
    let captures: Vec<Record> =
        mixture().into_iter().map(|it| Record::Capture(Made { captured_at: None, ..it })).collect();
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

fn merge_all(parts: &[&Ingested]) -> Ingested {
    merge(parts, &RFC_9309, SettleConfig::default())
}

#[test]
fn one_part_stays_as_it_is_and_shares_what_it_shared() {
    let shared: Vec<Made> = (0..50).map(|host| made(&format!("h{host} 1 200 /x"))).collect();
    let part = ingest_made(&shared, &RFC_9309).unwrap();
    let merged = merge_all(&[&part, &part]);
    assert_eq!(merged.standings.pool.places(), part.standings.pool.places());
    assert_eq!(merged.says("https://h49.example", &RFC_9309), "-/x 200@1");
    let nothing = merge_all(&[]);
    assert_eq!((nothing.hosts().len(), nothing.inputs.len()), (0, 0));
    let alone = merge_all(&[&part]);
    assert_eq!((alone.all(), alone.counts()), (part.all(), part.counts()));
}

fn of(line: &str) -> Record {
    Record::Capture(made(line))
}

fn pieces() -> Vec<(Pieces, bool)> {
    let broken = |place| Record::Broken(place);
    let of_nobody = |subject: &str| {
        Record::Capture(Made { subject: subject.into(), ..made("a 900 200 /nobody") })
    };
    vec![
        (
            vec![
                vec![broken("line 1"), of("a 50 200 /a"), broken("line 3")],
                vec![of_nobody("a.example/robots.txt"), of_nobody("*a b")],
                vec![of("b 20 404"), broken("line 9")],
            ],
            false,
        ),
        (vec![vec![of("a 70 200 /a70")]], true),
        (vec![], false),
    ]
}

#[test]
fn broken_records_are_named_in_order_and_skipped() {
    for threads in [1, 2, 8] {
        let found = ingest_pieces(&pieces(), &config(&RFC_9309), threads).unwrap();
        assert_eq!(found.says("https://a.example", &RFC_9309), "-/a70 200@70");
        assert_eq!(found.says("https://b.example", &RFC_9309), "unavailable allow 404@20");
        assert_eq!(found.find("https://a.example").unwrap().facts.input, 1);
        assert_eq!(found.hosts().len(), 2);
        let [first, second, third] = &found.inputs[..] else { panic!() };
        assert_eq!((first.name.as_str(), first.bytes, first.captures), ("input 0", 300, 2));
        assert_eq!(first.broken, 5);
        let places: Vec<_> =
            first.broken_named.iter().map(|broken| broken.place.as_str()).collect();
        let nobody = "the capture of the URL \"a.example/robots.txt\"";
        let nowhere = "the capture of the host \"a b\"";
        assert_eq!(places, ["line 1", "line 3", nobody, nowhere, "line 9"]);
        assert!(first.broken_named[2].problem.contains("no scheme"));
        assert_eq!(
            first.captured,
            Some(DateSpan { first: UnixSeconds(20), last: UnixSeconds(50) })
        );
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
    assert_eq!(error.inputs().len(), 3);
    assert!(error.to_string().ends_with("no more bytes (and 5 more problems)"), "{error}");
    let usual = IngestConfig { strictness: Strictness::Usual, ..config(&RFC_9309) };
    let error = ingest_pieces(&pieces(), &usual, 2).unwrap_err();
    assert!(error.to_string().ends_with("no more bytes (and 5 more problems)"), "{error}");

    let captures = || vec![of("a 1 200 /a")];
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
        vec![(vec![vec![of("https://a.example/x 1 200 /x")]], false)],
    ] {
        let error = ingest_pieces(&inputs, &config(&RFC_9309), 2).unwrap_err();
        assert_eq!(error.inputs().len(), inputs.len(), "{error}");
    }
}

#[test]
fn the_first_broken_records_are_named_and_all_are_counted() {
    let places: Vec<&'static str> =
        (0..40).map(|line| &*Box::leak(format!("line {line}").into_boxed_str())).collect();
    let mut input: Pieces =
        places.chunks(3).map(|piece| piece.iter().copied().map(Record::Broken).collect()).collect();
    input.push(vec![of("a 1 200 /a")]);
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
    let open = |input: usize| -> Result<Box<dyn BatchReader>, InputError> {
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
        fn next_batch(&mut self) -> Result<Option<Batch>, InputError> {
            panic!("on purpose")
        }
    }
    let open = |input: usize| -> Result<Box<dyn BatchReader>, InputError> {
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
