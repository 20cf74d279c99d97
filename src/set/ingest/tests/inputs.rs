//! What becomes of inputs, and what is told of them.

use std::sync::Mutex;

use super::*;
use crate::limits::BROKEN_RECORDS_NAMED;
use crate::set::{IngestObserver, Progress};

const A: &str = "https://a.example/robots.txt";

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
fn what_is_broken_is_named_in_order_and_passed_over() {
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
        assert_eq!(first.captured, Some((UnixSeconds(20), UnixSeconds(50))));
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
        // It serves redirects only, and there is none.
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
    let reports = (0..3).map(|_| OpenReport::new(&Input::new("made up"))).collect();
    let seen = Seen::default();
    let found = ingest_from(reports, &open, &config(&RFC_9309), &seen).unwrap();
    assert_eq!(*seen.0.lock().unwrap(), (400, 3, 5));
    assert!(found.inputs[2].failure.as_ref().is_some_and(|text| text.starts_with("not there")));
}

#[test]
fn a_panic_ends_the_whole_and_leaves_nobody_waiting() {
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
    let reports = || (0..4).map(|_| OpenReport::new(&Input::new("made up"))).collect();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    let ingest = || pool.install(|| ingest_from(reports(), &open, &config(&RFC_9309), &()));
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(ingest));
    assert!(outcome.is_err());
}
