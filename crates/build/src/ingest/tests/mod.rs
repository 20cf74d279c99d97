//! Ingests captures that the tests create, without an archive format.

mod following;
mod runs;
mod settled;
mod timelines;

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt::Write as _;

use portcullis_captures::{
    Batch, BatchReader, BrokenKind, BrokenRecord, Capture, CaptureField, CaptureSink, Confirms,
    FieldMap, PayloadNames, Subject,
};
use portcullis_dialect::Fetched;
use portcullis_dialect::decision::Verdict;
use portcullis_dialect::dialect::{AccessOutcome, Dialect, RFC_9309};
use portcullis_files::input::InputError;
use portcullis_files::scratch::Scratch;
use portcullis_robots::access::{CachingHeaders, CaptureNote, CaptureNotes, UnixSeconds};
use portcullis_robots::url::Origin;
use portcullis_set::PolicySet;
use portcullis_set::lists::read_extract;

use super::read::Open;
use super::{IngestConfig, IngestError, IngestObserver, Ingested, Input, Merger, StandingCounts};
use crate::InputReport;
use crate::compile::to_vec;
use crate::ingest::Strictness;
use crate::pool::BlobPool;
use crate::provenance::SettleConfig;
use crate::standing::{Content, HostStanding, Standing};

/// Merges the sets of what was ingested, open at the same time.
fn merge(parts: &[&Ingested], dialect: &'static Dialect, settle: SettleConfig) -> Ingested {
    let open = |part: &&Ingested| PolicySet::from_bytes("a part", part.compiled()).unwrap();
    let sets: Vec<PolicySet> = parts.iter().map(open).collect();
    let has_history = sets.iter().any(PolicySet::has_history);
    let config = IngestConfig { settle, history: has_history, ..IngestConfig::new(dialect, None) };
    let mut merger = Merger::new(config);
    merger.add(&sets.iter().collect::<Vec<_>>()).unwrap();
    merger.finish().unwrap()
}

/// A record of an archive.
#[derive(Clone, Debug)]
enum Record {
    Capture(Made),
    Broken(&'static str),
    /// Shows that none can be relied on.
    Forgeable(&'static str),
}

/// A capture that owns its data.
#[derive(Clone, Debug)]
struct Made {
    subject: String,
    captured_at: Option<UnixSeconds>,
    redirects_followed: u32,
    answer: Fetched,
    location: Option<String>,
    confirms: Confirms,
    payload: PayloadNames,
    max_age: Option<u64>,
    body: String,
    notes: CaptureNotes,
}

/// Returns the capture that a line describes:
///
/// - `b` is the robots.txt of `https://b.example`, `*b.example` that of a host without a scheme;
/// - `-` is no date;
/// - an answer is a status, `nowhere`, `broken` or `none`;
/// - `/x` disallows `/x`, or is a location after a redirect, where `@b` is as above;
/// - `=50` is a revisit of the file of that date, and `=` of a file that is not known;
/// - `#1` is the digest of the payload, and `id=1` the id of the record;
/// - `+3` redirects were followed, `max-age=1` is a header, and `!revisit` a note.
fn made(line: &str) -> Made {
    let mut words = line.split_whitespace();
    let mut next = || words.next().unwrap();
    let (subject, date, answer) = (next(), next(), next());
    let answer = match answer {
        "nowhere" => Fetched::RedirectToNowhere,
        "broken" => Fetched::BrokenBody,
        "none" => Fetched::NoResponse,
        status => Fetched::Status(status.parse().unwrap()),
    };
    let is_short = !subject.contains("://") && !subject.starts_with('*');
    let mut made = Made {
        subject: if is_short { url(subject) } else { subject.into() },
        captured_at: date.parse().ok().map(UnixSeconds),
        redirects_followed: 0,
        answer,
        location: None,
        confirms: Confirms::Newest,
        payload: PayloadNames::default(),
        max_age: None,
        body: String::new(),
        notes: CaptureNotes::EMPTY,
    };
    for word in words {
        if let Some(redirects) = word.strip_prefix('+') {
            made.redirects_followed = redirects.parse().unwrap();
        } else if let Some(seconds) = word.strip_prefix("max-age=") {
            made.max_age = seconds.parse().ok();
        } else if let Some(digest) = word.strip_prefix('#') {
            made.payload.digest = digest.parse().unwrap();
        } else if let Some(id) = word.strip_prefix("id=") {
            made.payload.record = id.parse().unwrap();
        } else if let Some(date) = word.strip_prefix('=') {
            made.confirms = Confirms::CapturedAt(date.parse().ok().map(UnixSeconds));
        } else if let Some(note) = word.strip_prefix('!') {
            let note = CaptureNote::ALL.into_iter().find(|it| it.as_str() == note);
            made.notes = made.notes.with(note.unwrap());
        } else if answer == Fetched::Status(200) {
            made.body =
                format!("User-agent: *\nDisallow: {word}\nSitemap: https://s.example{word}\n");
        } else {
            let of_host = |host: &str| url(host);
            made.location =
                Some(word.strip_prefix('@').map_or_else(|| word.replace("''", ""), of_host));
        }
    }
    made
}

fn all_made(lines: &str) -> Vec<Made> {
    lines.lines().map(str::trim).filter(|line| !line.is_empty()).map(made).collect()
}

/// An input in pieces.
type Pieces = Vec<Vec<Record>>;

struct MadeReader {
    pieces: VecDeque<Vec<Record>>,
    /// Whether the input ends with an error.
    fails: bool,
}

impl BatchReader for MadeReader {
    fn next_batch(&mut self) -> Result<Option<Batch>, InputError> {
        match self.pieces.pop_front() {
            Some(piece) => Ok(Some(Batch::new(100, move |_, sink| read(&piece, sink)).of_table())),
            None if self.fails => Err(unreadable("cut short")),
            None => Ok(None),
        }
    }
}

fn unreadable(name: &str) -> InputError {
    let source = std::io::Error::other("no more bytes");
    InputError::Open { name: name.into(), error: source }
}

fn read(records: &[Record], sink: &mut CaptureSink<'_>) {
    for record in records {
        match record {
            Record::Capture(made) => sink(Ok(made.capture())),
            Record::Broken(place) => sink(Err(BrokenRecord::senseless(*place, "is odd"))),
            Record::Forgeable(place) => sink(Err(BrokenRecord {
                kind: BrokenKind::Forgeable,
                ..BrokenRecord::senseless(*place, "is a guess")
            })),
        }
    }
}

impl Made {
    fn capture(&self) -> Capture<'_> {
        let subject = match self.subject.strip_prefix('*') {
            Some(host) => Subject::Host(host.as_bytes().into()),
            None => Subject::Url(self.subject.as_bytes().into()),
        };
        Capture {
            subject,
            captured_at: self.captured_at,
            redirects_followed: self.redirects_followed,
            answer: self.answer,
            location: self.location.as_deref().map(|location| Cow::Borrowed(location.as_bytes())),
            confirms: self.confirms,
            payload: self.payload,
            caching: CachingHeaders { max_age: self.max_age, ..CachingHeaders::default() },
            body: Cow::Borrowed(self.body.as_bytes()),
            notes: self.notes,
        }
    }
}

fn config(dialect: &'static Dialect) -> IngestConfig {
    IngestConfig { strictness: Strictness::Lenient, ..IngestConfig::new(dialect, None) }
}

/// Ingests inputs, each with a flag for whether it ends with an error.
fn ingest_pieces(
    inputs: &[(Pieces, bool)],
    config: &IngestConfig,
    threads: usize,
) -> Result<Ingested, IngestError> {
    let reports = (0..inputs.len()).map(|input| Input::new(format!("input {input}")).report());
    let open = |input: usize| -> Result<Box<dyn BatchReader>, InputError> {
        let (pieces, fails) = inputs[input].clone();
        Ok(Box::new(MadeReader { pieces: pieces.into(), fails }))
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| ingest_from(reports.collect(), &open, config, &()))
}

/// Ingests one input of one piece.
fn ingest_made(captures: &[Made], dialect: &'static Dialect) -> Result<Ingested, IngestError> {
    let piece = captures.iter().cloned().map(Record::Capture).collect();
    ingest_pieces(&[(vec![piece], false)], &config(dialect), 1)
}

impl Ingested {
    /// Returns the standing of an origin.
    fn find(&self, origin: &str) -> Option<Standing> {
        let origin = Origin::from_url(origin.as_bytes()).unwrap();
        let key = match origin.scheme() {
            "http" | "https" => origin.key(),
            scheme => format!("{scheme}://{}", origin.key()),
        };
        let hosts = self.hosts();
        let at = hosts.binary_search_by(|host| (*host.key).cmp(key.as_bytes())).ok()?;
        let HostStanding { http, https, .. } = &hosts[at];
        if origin.scheme() == "https" { *https } else { *http }
    }

    fn hosts(&self) -> Vec<HostStanding> {
        self.standings.to_vec().unwrap()
    }

    fn counts(&self) -> StandingCounts {
        self.standings.counts().unwrap()
    }

    /// Returns the bytes of the set.
    fn compiled(&self) -> Vec<u8> {
        to_vec(&self.standings, &self.compiling).unwrap()
    }

    /// Returns the standing of an origin: `-/a` for a file that disallows `/a`, otherwise the state
    /// and the verdict; then the status, the dates, the redirects, the expiry if it is not that of
    /// the dialect, and the notes.
    fn says(&self, origin: &str, dialect: &Dialect) -> String {
        let Some(Standing { content, facts }) = self.find(origin) else { return "nothing".into() };
        let mut said = match content {
            Content::Access(outcome) => said(outcome),
            Content::File { extract, .. } => {
                let file = &self.standings.pool.get(extract).unwrap();
                let file = read_extract(file).unwrap();
                let rule = |rule: &portcullis_robots::syntax::Rule<'_>| {
                    let sign = if rule.verdict == Verdict::Allow { '+' } else { '-' };
                    format!("{sign}{}", String::from_utf8_lossy(rule.value))
                };
                file.rules().iter().map(rule).collect::<Vec<_>>().join(" ")
            }
        };
        write!(said, " {}@", facts.status).unwrap();
        match facts.dates() {
            None => said.push('-'),
            Some(it) if it.first == it.last => write!(said, "{}", it.first.0).unwrap(),
            Some(it) => write!(said, "{}..{}", it.first.0, it.last.0).unwrap(),
        }
        if facts.redirects_followed > 0 {
            write!(said, " +{}", facts.redirects_followed).unwrap();
        }
        let seconds = dialect.access.freshness.default_seconds;
        let usual = facts.captured_at.map(|at| at.after(seconds.into()));
        if facts.expires_at != usual {
            write!(said, " until {}", facts.expires_at.map_or(0, |at| at.0)).unwrap();
        }
        facts.capture_notes.iter().for_each(|note| write!(said, " !{}", note.as_str()).unwrap());
        said
    }

    fn all(&self) -> Vec<String> {
        texts(&self.hosts(), &self.standings.pool)
    }
}

/// Returns every origin with its standing, independent of the numbers of blobs.
fn texts<'h>(hosts: impl IntoIterator<Item = &'h HostStanding>, pool: &BlobPool) -> Vec<String> {
    let text = |id| String::from_utf8_lossy(&pool.get(id).unwrap()).into_owned();
    let tell = |standing: &Option<Standing>| match standing {
        None => "nothing".into(),
        Some(Standing { content: Content::File { extract, others, .. }, facts }) => {
            format!("{:?} {:?} {facts:?}", text(*extract), text(*others))
        }
        Some(Standing { content: Content::Access(outcome), facts }) => {
            format!("{outcome:?} {facts:?}")
        }
    };
    let host = |host: &HostStanding| {
        let key = String::from_utf8_lossy(&host.key);
        format!("{key}: {}; {}", tell(&host.http), tell(&host.https))
    };
    hosts.into_iter().map(host).collect()
}

fn said(outcome: AccessOutcome) -> String {
    format!("{} {}", outcome.state, outcome.verdict)
}

fn url(host: impl std::fmt::Display) -> String {
    format!("https://{host}.example/robots.txt")
}

/// Like [`ingest`](super::ingest()), for the inputs that `open` opens.
fn ingest_from(
    reports: Vec<InputReport>,
    open: &Open<'_>,
    config: &IngestConfig,
    observer: &dyn IngestObserver,
) -> Result<Ingested, IngestError> {
    let mut merger = Merger::new(config.clone());
    merger.read(reports, open, observer)?;
    merger.finish()
}

#[test]
fn a_name_that_no_capture_has_is_an_error_in_each_run() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, line: &str| {
        std::fs::write(folder.path().join(name), line).unwrap();
        Input::new(folder.path().join(name))
    };
    let cut =
        file("a.jsonl", r#"{"host": "a.example", "status": 200, "body": "", "was_cut": false}"#);
    let two = file(
        "b.jsonl",
        r#"{"host": "b.example", "status": 200, "code": 1, "http_status": 503, "body": ""}"#,
    );
    let capture = FieldMap::new(["truncated=was_cut".parse().unwrap()]).unwrap();
    let usual = IngestConfig { capture, ..IngestConfig::new(&RFC_9309, None) };
    let strict = IngestConfig { strictness: Strictness::Strict, ..usual.clone() };
    for config in [&usual, &strict] {
        assert!(super::ingest(std::slice::from_ref(&cut), config, &()).unwrap().doubted.is_empty());
        // The findings of the previous run are not used.
        let error = super::ingest(std::slice::from_ref(&two), config, &()).unwrap_err().to_string();
        let words = "no capture has the field was_cut (‹fields› truncated=was_cut); the first has `body`, \
                     `code`, `host`, `http_status`, `status`; name one";
        assert!(error.starts_with(words), "{error}");
    }
    let both = [cut, two];
    let doubted = super::ingest(&both, &usual, &()).unwrap().doubted;
    assert_eq!(doubted, [CaptureField::Status]);
    let error = super::ingest(&both, &strict, &()).unwrap_err().to_string();
    assert!(
        error.contains("two fields for status") && error.contains("‹fields› status=NAME"),
        "{error}"
    );
}
