//! A piece of an input to what of it can count. This is the work, and is done on any thread.

use std::ops::Range;

use crate::access::{Access, Answer, expiry, resolve};
use crate::capture::{BrokenKind, BrokenRecord, Capture, CaptureNote, CaptureSink, Subject};
use crate::dialect::Dialect;
use crate::limits::BROKEN_RECORDS_NAMED;
use crate::syntax::{NoteSet, RobotsTxt};
use crate::target::BadUrl;

use super::super::pool::BlobPool;
use super::super::standing::CaptureFacts;
use super::IngestConfig;
use super::known::{Held, Known, Position};
use super::place::{self, Places};

/// What a piece of an input says, with its bytes in one place. It is used for piece after piece.
#[derive(Debug, Default)]
pub(super) struct Digest {
    bytes: Vec<u8>,
    captures: Vec<(Places, Known<Blob>)>,
    /// The first broken records.
    pub(super) broken: Vec<(Position, BrokenRecord)>,
    /// All broken records.
    pub(super) broken_count: u64,
    /// Those of them that the system would not give.
    pub(super) unreadable_count: u64,
}

/// Some of a digest's bytes, and the hash under which they are kept.
#[derive(Clone, Debug)]
pub(super) struct Blob {
    range: Range<usize>,
    pub(super) hash: u64,
}

impl Digest {
    /// The captures, in the order of the input.
    pub(super) fn captures(&self) -> &[(Places, Known<Blob>)] {
        &self.captures
    }

    pub(super) fn key(&self, place: &place::Place) -> &[u8] {
        &self.bytes[place.key.clone()]
    }

    pub(super) fn blob(&self, blob: &Blob) -> &[u8] {
        &self.bytes[blob.range.clone()]
    }

    /// Forgets everything, for another piece.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.captures.clear();
        self.broken.clear();
        self.broken_count = 0;
        self.unreadable_count = 0;
    }

    fn push_blob(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> Blob {
        let start = self.bytes.len();
        write(&mut self.bytes);
        let range = start..self.bytes.len();
        Blob { hash: BlobPool::hash(&self.bytes[range.clone()]), range }
    }
}

/// Takes captures and makes a digest of them.
pub(super) struct Digester<'d> {
    config: &'d IngestConfig,
    digest: &'d mut Digest,
    scratch: &'d mut Vec<u8>,
    input: u32,
    next: Position,
}

impl<'d> Digester<'d> {
    /// What reads the piece at `piece` of the input at `input` to `digest`, which is clear.
    pub(super) fn new(
        config: &'d IngestConfig,
        digest: &'d mut Digest,
        scratch: &'d mut Vec<u8>,
        input: u32,
        piece: u32,
    ) -> Digester<'d> {
        Digester { config, digest, scratch, input, next: Position { piece, index: 0 } }
    }

    fn next(&mut self) -> Position {
        let position = self.next;
        self.next.index += 1;
        position
    }

    fn push_broken(&mut self, position: Position, broken: BrokenRecord) {
        self.digest.broken_count += 1;
        self.digest.unreadable_count += u64::from(broken.kind == BrokenKind::Unreadable);
        if self.digest.broken.len() < BROKEN_RECORDS_NAMED {
            self.digest.broken.push((position, broken));
        }
    }

    fn known(&mut self, capture: &Capture<'_>, position: Position) -> Known<Blob> {
        let rules = &self.config.dialect.access;
        let mut facts = CaptureFacts {
            captured_at: capture.captured_at,
            status: status(capture.answer),
            redirects_followed: u8::try_from(capture.redirects_followed).unwrap_or(u8::MAX),
            capture_notes: capture.notes,
            input: self.input,
            ..CaptureFacts::default()
        };
        let access = resolve(capture.answer, capture.redirects_followed, rules);
        if matches!(access, Access::File | Access::NotModified) {
            // A confirmation has to repeat what the file's header said (RFC 9110, section 15.4.5).
            let until = |at| expiry(&capture.caching, at, &rules.freshness).at;
            facts.expires_at = capture.captured_at.map(until);
        }
        let held = match access {
            Access::File => self.file(&capture.body, &mut facts),
            Access::Follow => match &capture.location {
                Some(location) => {
                    Held::Location(self.digest.push_blob(|bytes| bytes.extend_from_slice(location)))
                }
                None => Held::Nothing,
            },
            Access::NotModified | Access::Outcome(_) => Held::Nothing,
        };
        if capture.answer == Answer::RedirectToNowhere {
            facts.capture_notes = facts.capture_notes.with(CaptureNote::RedirectToNowhere);
        }
        Known { facts, position, held }
    }

    fn file(&mut self, body: &[u8], facts: &mut CaptureFacts) -> Held<Blob> {
        let file = file_of(body, self.config.dialect, self.config.robots_bytes_max, facts);
        Held::File {
            extract: self.digest.push_blob(|bytes| file.write_extract(body, bytes)),
            others: self.digest.push_blob(|bytes| file.write_others(body, bytes)),
        }
    }
}

/// Parses a file, of which so many bytes count if there is a limit, and adds what is known of it to `facts`.
pub(in crate::set) fn file_of<'b>(
    body: &'b [u8],
    dialect: &Dialect,
    bytes_max: Option<usize>,
    facts: &mut CaptureFacts,
) -> RobotsTxt<'b> {
    let file = RobotsTxt::parse(body, dialect, bytes_max);
    let kinds = file.notes().iter().map(|note| note.kind);
    facts.file_notes = kinds.fold(NoteSet::EMPTY, NoteSet::with);
    let kept = body.len().min(bytes_max.unwrap_or(usize::MAX));
    facts.file_bytes = u32::try_from(kept).unwrap_or(u32::MAX);
    file
}

impl CaptureSink for Digester<'_> {
    fn capture(&mut self, capture: Capture<'_>) {
        let position = self.next();
        let places = place::places(capture.subject, self.scratch, &mut self.digest.bytes);
        match places {
            Ok(places) => {
                let known = self.known(&capture, position);
                self.digest.captures.push((places, known));
            }
            Err(problem) => self.push_broken(position, of_nobody(capture.subject, problem)),
        }
    }

    fn broken(&mut self, broken: BrokenRecord) {
        let position = self.next();
        self.push_broken(position, broken);
    }
}

/// The number of an answer that has one, else 0.
fn status(answer: Answer) -> u16 {
    match answer {
        Answer::Status(status) => status,
        Answer::RedirectToNowhere | Answer::BrokenBody | Answer::NoAnswer => 0,
    }
}

/// A capture of what is no URL or no host.
fn of_nobody(subject: Subject<'_>, problem: BadUrl) -> BrokenRecord {
    let (kind, name) = match subject {
        Subject::Url(url) => ("URL", url),
        Subject::Host(host) => ("host", host),
    };
    let place = format!("the capture of the {kind} {:?}", String::from_utf8_lossy(name));
    BrokenRecord::senseless(place, problem.to_string())
}
