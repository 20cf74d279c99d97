//! Ingests captures that the tests create, without an archive format.

mod answers;
mod choice;

use std::borrow::Cow;
use std::collections::VecDeque;

use crate::{Content, HostStanding, Standing, Strictness};
use portcullis_dialect::decision::Verdict;
use portcullis_dialect::dialect::{Dialect, RFC_9309};
use portcullis_io::access::{Answer, CachingHeaders, UnixSeconds};
use portcullis_io::{
    Batch, BatchReader, BrokenRecord, Capture, CaptureError, CaptureNote, CaptureNotes,
    CaptureSink, ReadConfig, Subject,
};
use portcullis_robots::syntax::RobotsTxt;
use portcullis_robots::url::Origin;

use super::{IngestConfig, IngestError, Ingested, Input, ingest_from};

/// A record of an archive.
#[derive(Clone, Debug)]
enum Record {
    Capture(Made),
    Broken(&'static str),
}

/// A capture that owns its data.
#[derive(Clone, Debug)]
struct Made {
    subject: String,
    is_host: bool,
    captured_at: Option<UnixSeconds>,
    redirects_followed: u32,
    answer: Answer,
    location: Option<String>,
    max_age: Option<u64>,
    body: String,
    notes: CaptureNotes,
}

impl Made {
    fn new(url: &str, captured_at: u64, answer: Answer) -> Made {
        Made {
            subject: url.into(),
            is_host: false,
            captured_at: Some(UnixSeconds(captured_at)),
            redirects_followed: 0,
            answer,
            location: None,
            max_age: None,
            body: String::new(),
            notes: CaptureNotes::EMPTY,
        }
    }

    fn undated(self) -> Made {
        Made { captured_at: None, ..self }
    }

    fn after(self, redirects_followed: u32) -> Made {
        Made { redirects_followed, ..self }
    }

    fn noted(self, note: CaptureNote) -> Made {
        Made { notes: self.notes.with(note), ..self }
    }
}

/// Returns a file that disallows `path`.
fn file(url: &str, captured_at: u64, path: &str) -> Made {
    let body = format!("User-agent: *\nDisallow: {path}\nSitemap: https://s.example{path}\n");
    Made { body, ..Made::new(url, captured_at, Answer::Status(200)) }
}

/// Returns a file of the host without a scheme, and without a date.
fn host_file(host: &str, path: &str) -> Made {
    Made { is_host: true, ..file(host, 0, path) }.undated()
}

fn status(url: &str, captured_at: u64, status: u16) -> Made {
    Made::new(url, captured_at, Answer::Status(status))
}

fn redirect(url: &str, captured_at: u64, location: &str) -> Made {
    Made { location: Some(location.into()), ..status(url, captured_at, 301) }
}

/// An input in pieces.
type Pieces = Vec<Vec<Record>>;

struct MadeReader {
    pieces: VecDeque<Vec<Record>>,
    /// Whether the input ends with an error.
    fails: bool,
}

struct MadeBatch(Vec<Record>);

impl BatchReader for MadeReader {
    fn next_batch(&mut self) -> Result<Option<Box<dyn Batch>>, CaptureError> {
        match self.pieces.pop_front() {
            Some(piece) => Ok(Some(Box::new(MadeBatch(piece)))),
            None if self.fails => Err(unreadable("cut short")),
            None => Ok(None),
        }
    }
}

fn unreadable(name: &str) -> CaptureError {
    let source = std::io::Error::other("no more bytes");
    CaptureError::Unreadable { name: name.into(), source }
}

impl Batch for MadeBatch {
    fn stored_bytes(&self) -> u64 {
        100
    }

    fn read(&self, _: &ReadConfig, sink: &mut dyn CaptureSink) {
        for record in &self.0 {
            match record {
                Record::Capture(made) => sink.capture(made.capture()),
                Record::Broken(place) => sink.broken(BrokenRecord::senseless(*place, "is odd")),
            }
        }
    }
}

impl Made {
    fn capture(&self) -> Capture<'_> {
        let subject = self.subject.as_bytes();
        Capture {
            subject: if self.is_host { Subject::Host(subject) } else { Subject::Url(subject) },
            captured_at: self.captured_at,
            redirects_followed: self.redirects_followed,
            answer: self.answer,
            location: self.location.as_deref().map(|location| Cow::Borrowed(location.as_bytes())),
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
    let open = |input: usize| -> Result<Box<dyn BatchReader>, CaptureError> {
        let (pieces, fails) = inputs[input].clone();
        Ok(Box::new(MadeReader { pieces: pieces.into(), fails }))
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| ingest_from(reports.collect(), &open, config, &()))
}

/// Ingests one input of one piece.
#[track_caller]
fn ingest_made(captures: &[Made], dialect: &'static Dialect) -> Ingested {
    let piece = captures.iter().cloned().map(Record::Capture).collect();
    ingest_pieces(&[(vec![piece], false)], &config(dialect), 1).unwrap()
}

impl Ingested {
    /// Returns the standing of an origin.
    fn find(&self, origin: &str) -> Option<Standing> {
        let origin = Origin::of_url(origin.as_bytes()).unwrap();
        let key = match origin.scheme() {
            "http" | "https" => origin.key(),
            scheme => format!("{scheme}://{}", origin.key()),
        };
        let at = self.hosts.binary_search_by(|host| (*host.key).cmp(key.as_bytes())).ok()?;
        let HostStanding { http, https, .. } = &self.hosts[at];
        if origin.scheme() == "https" { *https } else { *http }
    }

    /// Returns the standing of an origin, in short: `-/a` for a file that disallows `/a`, otherwise
    /// the state and the verdict.
    fn says(&self, origin: &str) -> String {
        match self.find(origin).map(|standing| standing.content) {
            None => "nothing".into(),
            Some(Content::Access(outcome)) => format!("{} {}", outcome.state, outcome.verdict),
            Some(Content::File { extract, .. }) => {
                let file = RobotsTxt::read_extract(self.pool.get(extract)).unwrap();
                let rule = |rule: &portcullis_robots::syntax::Rule<'_>| {
                    let sign = if rule.verdict == Verdict::Allow { '+' } else { '-' };
                    format!("{sign}{}", String::from_utf8_lossy(rule.value))
                };
                file.rules().iter().map(rule).collect::<Vec<_>>().join(" ")
            }
        }
    }

    /// Returns every origin with its standing, independent of the numbers of blobs.
    fn all(&self) -> Vec<String> {
        let text = |id| String::from_utf8_lossy(self.pool.get(id)).into_owned();
        let tell = |standing: &Option<Standing>| match standing {
            None => "nothing".into(),
            Some(Standing { content: Content::File { extract, others }, facts }) => {
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
        self.hosts.iter().map(host).collect()
    }

    #[track_caller]
    fn notes(&self, origin: &str) -> Vec<CaptureNote> {
        self.find(origin).unwrap().facts.capture_notes.iter().collect()
    }
}

const A: &str = "https://a.example/robots.txt";
const ORIGIN: &str = "https://a.example";

fn url(host: impl std::fmt::Display) -> String {
    format!("https://{host}.example/robots.txt")
}
