//! Readings × states × dialects: what an answer to GET /robots.txt means to a crawler that reads it in its own
//! way. Each cell is compared with the oracle too.
//!
//! Sources of the columns: RFC 9309, section 2.3.1, and the document of each dialect; `open`, Yandex, Using
//! robots.txt, Requirements ("if the file doesn't meet the requirements, the site is considered open");
//! `copy`, Amazon, Amazonbot, on a robots.txt that cannot be fetched (a copy of the last 30 days, or as if
//! there were none). † What a copy is where none is known is our decision: the dialect's outcome.

use std::sync::Arc;

use portcullis_build::{IngestConfig, Provenance, SettleConfig};
use portcullis_dialect::decision::Decision;
use portcullis_dialect::dialect::{Dialect, GOOGLE, KOSTER_1996, ORIGINAL_1994, RFC_9309};
use portcullis_oracle::{AnswerReading, Archive, Archived, LongOutageChoice};
use portcullis_robots::access::UnixSeconds;
use portcullis_robots::policy::{Crawler, Reading, WithoutFile};
use portcullis_set::PolicySet;
use portcullis_set::batch::{Classifier, Records, Session, Times};
use portcullis_testkit::{Captures, compiled, ingested};
use serde_json::json;

const DAY: u64 = 24 * 60 * 60;
const FIRST: u64 = 1_700_000_000;
/// When all is asked.
const AT: u64 = FIRST + 41 * DAY;

const RULES: &str = "User-agent: *\nDisallow: /x\n";
const KB_500: usize = 500 * 1024;

/// A state: the days, the statuses and the bodies of its answers, then the decisions on `/x` by dialects and
/// readings.
type Row = (&'static str, &'static [(u64, u16, Body)], [Cells; 3]);

/// The decisions of crawlers that read as the dialect, `open` and `copy`.
type Cells = [&'static str; 3];

#[derive(Clone, Copy)]
enum Body {
    None,
    Rules,
    NoRules,
    Page,
    /// The rules, in a file that is so many bytes longer than 500 KB.
    Long(usize),
    /// The rules, of which the archive lacks a part.
    Cut,
    /// A file that the archive does not have.
    Lost,
    /// A redirect to another host, which has rules.
    Away,
    /// A redirect to a host that was not captured.
    Missing,
    /// A redirect with a header that has no Location.
    Nowhere,
}

use Body::{Away, Cut, Long, Lost, Missing, NoRules, None as Nothing, Nowhere, Page, Rules};

/// In the order of the dialects: 1994 and 1996; the draft and the RFC; Google.
const TABLE: &[Row] = &[
    ("rules", &[(41, 200, Rules)], [["disallow rule"; 3]; 3]),
    ("no rules", &[(41, 200, NoRules)], [["allow no-rules"; 3]; 3]),
    ("page", &[(41, 200, Page)], [["allow page"; 3]; 3]),
    ("404", &[(41, 404, Nothing)], [["allow unavailable"; 3]; 3]),
    (
        "403",
        &[(41, 403, Nothing)],
        [
            ["disallow unavailable", "allow unavailable", "disallow unavailable"],
            ["allow unavailable"; 3],
            ["allow unavailable"; 3],
        ],
    ),
    (
        "429",
        &[(41, 429, Nothing)],
        [
            ["disallow deferred", "allow deferred", "disallow deferred"],
            ["allow unavailable"; 3],
            ["disallow unreachable", "allow unreachable", "disallow unreachable"],
        ],
    ),
    (
        "503",
        &[(41, 503, Nothing)],
        [
            ["disallow deferred", "allow deferred", "disallow deferred"],
            ["disallow unreachable", "allow unreachable", "disallow unreachable"],
            ["disallow unreachable", "allow unreachable", "disallow unreachable"],
        ],
    ),
    (
        "no answer",
        &[(41, 0, Nothing)],
        [["disallow deferred"; 3], ["disallow unreachable"; 3], ["disallow unreachable"; 3]],
    ),
    (
        "a file of which a part is missing",
        &[(41, 200, Cut)],
        [["disallow deferred"; 3], ["disallow unreachable"; 3], ["disallow unreachable"; 3]],
    ),
    (
        "a part is missing, a file ten days before",
        &[(31, 200, NoRules), (41, 200, Cut)],
        [["disallow deferred"; 3], ["disallow unreachable"; 3], ["disallow unreachable"; 3]],
    ),
    (
        "not modified since a file of which a part is missing",
        &[(31, 200, NoRules), (36, 200, Cut), (41, 304, Nothing)],
        [["disallow deferred"; 3], ["disallow unreachable"; 3], ["disallow unreachable"; 3]],
    ),
    (
        "not modified, also since a file that is missing",
        &[(31, 304, Nothing), (34, 200, Lost), (36, 200, NoRules), (41, 304, Nothing)],
        [["allow no-rules"; 3]; 3],
    ),
    (
        "files without their bodies for 41 days",
        &[(0, 200, Lost), (41, 200, Lost)],
        [
            ["disallow deferred"; 3],
            ["disallow unreachable"; 3],
            // The server answered: no outage, which would allow everything after 30 days.
            ["disallow unreachable"; 3],
        ],
    ),
    (
        "not modified, no file known",
        &[(41, 304, Nothing)],
        [["disallow deferred"; 3], ["disallow unreachable"; 3], ["disallow unreachable"; 3]],
    ),
    (
        "redirect to what was not captured",
        &[(41, 301, Missing)],
        [["disallow deferred"; 3], ["disallow unreachable"; 3], ["disallow unreachable"; 3]],
    ),
    (
        "503 for 40 days, a part missing between",
        &[(0, 503, Nothing), (1, 200, Cut), (41, 503, Nothing)],
        [
            ["disallow deferred", "allow deferred", "disallow deferred"],
            ["disallow unreachable", "allow unreachable", "disallow unreachable"],
            ["disallow unreachable", "allow unreachable", "disallow unreachable"],
        ],
    ),
    ("redirect away", &[(41, 301, Away)], [["disallow rule"; 3]; 3]),
    (
        "redirect of which the archive has no header",
        &[(31, 200, NoRules), (41, 301, Nothing)],
        [["disallow deferred"; 3], ["disallow unreachable"; 3], ["disallow unreachable"; 3]],
    ),
    (
        "redirect to nowhere",
        &[(41, 301, Nowhere)],
        [
            ["disallow deferred", "allow deferred", "disallow deferred"],
            ["disallow unreachable", "allow unreachable", "disallow unreachable"],
            ["disallow unreachable", "allow unreachable", "disallow unreachable"],
        ],
    ),
    (
        "success other than 200",
        &[(41, 203, Rules)],
        [["disallow rule", "allow unavailable", "disallow rule"]; 3],
    ),
    ("file of 500 KB", &[(41, 200, Long(0))], [["disallow rule"; 3]; 3]),
    (
        "file over 500 KB",
        &[(41, 200, Long(1))],
        [["disallow rule", "allow no-rules", "disallow rule"]; 3],
    ),
    (
        "503, a file ten days before",
        &[(31, 200, Rules), (41, 503, Nothing)],
        [
            ["disallow deferred", "allow deferred", "disallow rule"],
            ["disallow unreachable", "allow unreachable", "disallow rule"],
            ["disallow unreachable", "allow unreachable", "disallow rule"],
        ],
    ),
    (
        "404, a file ten days before",
        &[(31, 200, Rules), (41, 404, Nothing)],
        [["allow unavailable", "allow unavailable", "disallow rule"]; 3],
    ),
    (
        "503 for 40 days, after a file",
        &[(0, 200, Rules), (1, 503, Nothing), (41, 503, Nothing)],
        [
            ["disallow deferred", "allow deferred", "allow deferred"],
            ["disallow unreachable", "allow unreachable", "allow unreachable"],
            // Google's page: after 30 days, the last good copy.
            ["disallow rule", "allow unreachable", "allow unreachable"],
        ],
    ),
    (
        "503 for 41 days, no file known",
        &[(0, 503, Nothing), (41, 503, Nothing)],
        [
            ["disallow deferred", "allow deferred", "allow deferred"],
            ["disallow unreachable", "allow unreachable", "allow unreachable"],
            // Google's page: after 30 days without a copy, as if there were no file.
            ["allow unavailable"; 3],
        ],
    ),
];

impl Body {
    fn text(self) -> String {
        match self {
            Body::Rules | Body::Cut => RULES.to_owned(),
            Body::NoRules => "# nothing\n".to_owned(),
            Body::Page => "<html><p>Not found</p></html>\n".to_owned(),
            Body::Long(more) => {
                let line = "# filled\n";
                let rest = KB_500 + more - RULES.len();
                let (lines, left) = (rest / line.len() - 1, rest % line.len());
                RULES.to_owned() + &line.repeat(lines) + &"#".repeat(left + line.len() - 1) + "\n"
            }
            Body::None | Body::Away | Body::Missing | Body::Nowhere | Body::Lost => String::new(),
        }
    }
}

fn host(row: usize) -> String {
    format!("https://h{row}.example")
}

/// Returns the captures of all rows, as a file and as the oracle reads them.
fn captures() -> (Captures, Vec<Archived>) {
    let (mut file, mut archived) = (Captures::default(), Vec::new());
    let mut push = |host: &str, (day, status, body): (u64, u16, Body)| {
        let (url, at) = (format!("{host}/robots.txt"), FIRST + day * DAY);
        let location = match body {
            Away => Some("https://away.example/robots.txt".to_owned()),
            Missing => Some("https://missing.example/robots.txt".to_owned()),
            _ => None,
        };
        let is_cut = matches!(body, Cut | Lost);
        let text = body.text();
        let mut members = json!({"body": text});
        match body {
            Cut => members["truncated"] = json!("length"),
            Lost => members["body"] = json!(null),
            _ => {}
        }
        if let Some(location) = &location {
            members["headers"] = json!({"location": location});
        }
        if matches!(body, Nowhere) {
            members["headers"] = json!({"server": "a"});
        }
        file.push_with(&url, &UnixSeconds(at).to_rfc3339(), status, members);
        archived.push(Archived {
            url,
            at: Some(at),
            redirects: 0,
            status,
            location,
            has_header: !matches!(body, Nothing),
            body: text,
            is_cut,
        });
    };
    push("https://away.example", (41, 200, Rules));
    for (row, (_, answers, _)) in TABLE.iter().enumerate() {
        answers.iter().for_each(|&answer| push(&host(row), answer));
    }
    (file, archived)
}

const WAYS: [(WithoutFile, AnswerReading); 3] = [
    (WithoutFile::AsDialect, AnswerReading::AsDialect),
    (WithoutFile::Open { file_bytes_max: KB_500 as u32 }, AnswerReading::Open(KB_500)),
    (WithoutFile::LastCopy { days: 30 }, AnswerReading::LastCopy(30)),
];

fn shown(decision: Decision) -> String {
    format!("{} {}", decision.verdict, decision.reason)
}

#[test]
fn every_cell_of_the_table() {
    let (file, archived) = captures();
    let folder = tempfile::tempdir().unwrap();
    let path = file.write(folder.path(), "captures.jsonl");
    let urls: Vec<String> = (0..TABLE.len()).map(|row| host(row) + "/x").collect();
    for dialect in Dialect::ALL {
        let column = match dialect {
            d if *d == ORIGINAL_1994 || *d == KOSTER_1996 => 0,
            d if *d == GOOGLE => 2,
            _ => 1,
        };
        let archive = Archive::new(dialect, LongOutageChoice::NoChange, &archived);
        // A set may keep no more of a file than a crawler reads, or all of it.
        for bytes_max in [Some(KB_500), None] {
            let config = IngestConfig { history: true, ..IngestConfig::new(dialect, bytes_max) };
            let bytes = compiled(&ingested(std::slice::from_ref(&path), &config), "{}");
            let set = Arc::new(PolicySet::from_bytes("readings", bytes).unwrap());
            for ((without_file, of_oracle), way) in WAYS.into_iter().zip(0..) {
                let reading = Reading { without_file, ..Reading::default() };
                let agent = Crawler::parse("ExampleBot", dialect).unwrap().with_reading(reading);
                let classifier = Classifier::new(Arc::clone(&set), vec![agent]).unwrap();
                let mut session = Session::new(classifier);
                for times in [Times::Now, Times::At(UnixSeconds(AT))] {
                    let mut answers = session.decide(Records::from(&urls).at(times)).unwrap();
                    let decisions = answers.decisions_with_rules().unwrap();
                    for (row, (state, _, cells)) in TABLE.iter().enumerate() {
                        let place = format!("{}, {without_file:?}: {state}", dialect.name);
                        let judged =
                            archive.decide_read(of_oracle, &["ExampleBot"], &urls[row], AT);
                        assert_eq!(shown(judged), cells[column][way], "the oracle: {place}");
                        assert_eq!(decisions[row], judged, "{place} {times:?}");
                        let full = answers.rule(row).unwrap();
                        assert_eq!(full.decision, judged, "{place}");
                        assert_eq!(full.rule.is_some(), judged.line.is_some(), "{place}");
                    }
                }
            }
        }
    }
}

/// Without history, what was received before is not known.
#[test]
fn a_copy_that_is_not_known_allows_nothing() {
    let (file, _) = captures();
    let folder = tempfile::tempdir().unwrap();
    let path = file.write(folder.path(), "captures.jsonl");
    for dialect in Dialect::ALL {
        let config = IngestConfig::new(dialect, Some(KB_500));
        let bytes = compiled(&ingested(std::slice::from_ref(&path), &config), "{}");
        let set = Arc::new(PolicySet::from_bytes("readings", bytes).unwrap());
        let read = |without_file| {
            let reading = Reading { without_file, ..Reading::default() };
            Crawler::parse("ExampleBot", dialect).unwrap().with_reading(reading)
        };
        let agents = [WithoutFile::AsDialect, WithoutFile::LastCopy { days: 30 }].map(read);
        let mut session = Session::new(Classifier::new(set, agents.into()).unwrap());
        let urls: Vec<String> = (0..TABLE.len()).map(|row| host(row) + "/x").collect();
        let answers = session.decide(&urls).unwrap();
        for pair in answers.decisions().chunks(2) {
            assert_eq!(pair[0], pair[1], "{}", dialect.name);
        }
    }
}

/// Without a time, a set decides as of the time as of which it was settled.
#[test]
fn failures_last_until_the_time_of_the_set() {
    let mut file = Captures::default();
    for (day, status, body) in [(0, 200, json!(RULES)), (20, 403, json!(null))] {
        let time = UnixSeconds(FIRST + day * DAY).to_rfc3339();
        file.push_with("https://a.example/robots.txt", &time, status, json!({"body": body}));
    }
    let folder = tempfile::tempdir().unwrap();
    let path = file.write(folder.path(), "captures.jsonl");
    for (as_of, expected) in
        [(None, "disallow rule"), (Some(50), "disallow rule"), (Some(51), "allow unavailable")]
    {
        let as_of = as_of.map(|days| UnixSeconds(FIRST + days * DAY));
        let settle = SettleConfig { as_of, ..SettleConfig::default() };
        let config = IngestConfig { history: true, settle, ..IngestConfig::new(&RFC_9309, None) };
        let ingested = ingested(std::slice::from_ref(&path), &config);
        let provenance = Provenance::of(&ingested.inputs, &settle).to_json();
        let set = PolicySet::from_bytes("readings", compiled(&ingested, &provenance)).unwrap();
        assert_eq!(set.settled_at().unwrap(), as_of);
        let reading =
            Reading { without_file: WithoutFile::LastCopy { days: 30 }, ..Reading::default() };
        let agent = Crawler::parse("ExampleBot", &RFC_9309).unwrap().with_reading(reading);
        let mut session = Session::new(Classifier::new(set, vec![agent]).unwrap());
        let answers = session.decide(&["https://a.example/x"]).unwrap();
        let decision = answers.decisions_with_rules().unwrap()[0];
        assert_eq!(shown(decision), expected, "{as_of:?}");
    }
}
