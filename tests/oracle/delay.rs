//! Crawl delays: every small file, by the front door and by sets of many files in all their forms.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bstr::ByteSlice;
use portcullis_dialect::dialect::Dialect;
use portcullis_oracle::Judge;
use portcullis_robots::Robots;
use portcullis_set::batch::{Classifier, Session};
use portcullis_testkit::{Form, agents, origin, parsed_origin, set_of, words};
use rayon::prelude::*;

/// The agents; files name the first and the last.
const AGENTS: [&str; 3] = ["ExampleBot", "Unnamed", "Other"];

const LINES: [&str; 11] = [
    "User-agent: ExampleBot",
    "User-agent: Other",
    "User-agent: *",
    "",
    "Disallow: /a",
    "Crawl-delay: 1",
    "CRAWL-DELAY :2.5 # seconds",
    "crawl-delay 4",
    "Crawl-delays: 9",
    "Crawl-delay: 10s",
    "Sitemap: https://example.com/s.xml",
];

/// The number of files in one set.
const FILES_AT_ONCE: usize = 64;

#[test]
fn every_small_file_has_the_delays_of_the_oracle() {
    let numbers: Vec<u8> = (0..LINES.len() as u8).collect();
    let text = |word: Vec<u8>| word.iter().map(|&it| format!("{}\n", LINES[it as usize])).collect();
    let files: Vec<String> = words(&numbers, 4).into_iter().map(text).collect();
    let [with_number, unreadable] = [AtomicUsize::new(0), AtomicUsize::new(0)];
    files.par_chunks(FILES_AT_ONCE).enumerate().for_each(|(turn, files)| {
        for dialect in Dialect::ALL {
            let chains = agents(&AGENTS, dialect);
            let set = set_of(Form::ALL[turn % Form::ALL.len()], files, (dialect, None));
            let classifier = Classifier::new(Arc::clone(&set), chains.clone()).unwrap();
            let mut session = Session::new(classifier);
            let urls: Vec<String> = (0..files.len()).map(|file| origin(file) + "/").collect();
            let mut answers = session.decide(&urls).unwrap();
            for (number, text) in files.iter().enumerate() {
                let robots = Robots::parse_as(text, dialect);
                let at = parsed_origin(number);
                let (scheme, key) = (at.scheme(), at.key());
                let (policy, capture) =
                    set.origin(scheme.as_bytes(), key.as_bytes()).unwrap().expect("it has a file");
                let (stored, _) =
                    capture.crawl_delays(&set.policy(policy).unwrap(), &chains).unwrap();
                assert_eq!(answers.delays(number).unwrap(), stored);
                for (agent, stored) in AGENTS.iter().zip(stored) {
                    let judge = Judge::new(dialect, text.as_bytes(), None, &[agent]);
                    let (seconds, odd) = judge.crawl_delay();
                    let context =
                        || format!("{} {agent}\n{}", dialect.name, text.as_bytes().as_bstr());
                    assert_eq!(
                        (stored.seconds, stored.unreadable as usize),
                        (seconds, odd),
                        "{}",
                        context()
                    );
                    let alone = robots.crawl_delay(*agent);
                    assert_eq!(alone.map(|it| it.as_secs_f64()), seconds, "{}", context());
                    assert_eq!(robots.agent(*agent).crawl_delay(), alone, "{}", context());
                    with_number.fetch_add(usize::from(seconds.is_some()), Ordering::Relaxed);
                    unreadable.fetch_add(odd, Ordering::Relaxed);
                }
            }
        }
    });
    assert!(with_number.into_inner() > 30_000);
    assert!(unreadable.into_inner() > 10_000);
}
