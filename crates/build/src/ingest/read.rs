//! Reads all inputs on as many threads as the pool has.
//!
//! A task cuts the next piece off its input, spawns a task for the rest of the input, and then reads
//! the piece. So one thread at a time cuts an input, while many threads read its pieces. A thread
//! takes up an unopened input only if it has nothing else to do, so no more inputs are open than
//! there are threads, and each thread holds one piece.
//!
//! A capture is parsed on the thread that reads it; the lock is held only to compare it with
//! earlier captures. An input that fails is reported in its [`InputReport`].

use std::hash::BuildHasher;
use std::num::NonZeroU64;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rayon::Scope;

use portcullis_captures::{
    Batch, BatchReader, BrokenKind, BrokenRecord, Capture, Confirms, LostCapture, ReadConfig,
    Subject,
};
use portcullis_dialect::dialect::Dialect;
use portcullis_dialect::{Access, Fetched};
use portcullis_files::error::WriteError;
use portcullis_files::input::InputError;
use portcullis_robots::access::{CachingHeaders, CaptureNote, DateSpan, expiry};
use portcullis_robots::syntax::{NoteKind, RobotsTxt, joined_records};
use portcullis_robots::url::BadUrl;
use portcullis_set::lists::lists;
use portcullis_set::stored::CaptureFacts;

use super::captured::{Captured, Newest};
use super::known::{Held, Known, NewestDates, UNPLACED};
use super::place::{self, Place, Places};
use super::rivals::{Rivals, Rows};
use super::{IngestConfig, IngestObserver, Progress};
use crate::limits::{BROKEN_RECORDS_NAMED, PARSED_BODIES};
use crate::pool::{BlobID, Fingerprint, SharedPool};
use crate::provenance::InputReport;
use crate::recent::Recent;

/// Opens the input with a number.
pub(super) type Open<'o> = dyn Fn(usize) -> Result<Box<dyn BatchReader>, InputError> + Sync + 'o;

/// The captures of all inputs, sorted.
pub(super) struct AllRead {
    pub(super) captured: Captured,
    /// The number of captures.
    pub(super) taken: u64,
    /// A report on each input.
    pub(super) reports: Vec<InputReport>,
    /// Whether there are lost captures whose time cannot be read, and no input has a time that they could be
    /// newer than.
    pub(super) is_unplaced: bool,
}

/// Reads each input to its end, or as far as it can be read, and adds its captures to `newest`. There is
/// one report per input; captures have its number. `dates` are those of the inputs that were read before.
///
/// # Errors
///
/// If a temporary file cannot be written.
pub(super) fn read_all(
    (newest, pool, numbers): (Newest, &SharedPool, &[u32]),
    mut dates: NewestDates,
    reports: Vec<InputReport>,
    open: &Open<'_>,
    config: &IngestConfig,
    observer: &dyn IngestObserver,
) -> Result<AllRead, WriteError> {
    let inputs = u32::try_from(reports.len()).expect("fewer than 2^32 inputs");
    let reports = reports.into_iter().map(|report| OpenReport { report, ..OpenReport::default() });
    let ingested = Ingesting { newest, reports: reports.collect(), failure: None };
    let parsed = Recent::new(config.scratch.budget().of(PARSED_BODIES));
    let ingested = Mutex::new(ingested);
    let hasher = foldhash::quality::RandomState::default();
    let reading = Reading { open, config, observer, numbers, pool, ingested, parsed, hasher };
    rayon::scope(|scope| {
        // A thread runs its latest task first, so this thread begins with the first input.
        for input in (0..inputs).rev() {
            let reading = &reading;
            scope.spawn(move |scope| match (reading.open)(input as usize) {
                Ok(reader) => reading.read(input, 0, reader, scope),
                Err(error) => reading.fail(input, &error),
            });
        }
    });
    let ingested = reading.ingested.into_inner().unwrap_or_else(PoisonError::into_inner);
    let Ingesting { newest, mut reports, failure } = ingested;
    failure.map_or(Ok(()), Err)?;
    let taken = newest.taken;
    let own = numbers.iter().zip(&reports);
    dates.0.extend(own.filter_map(|(number, it)| Some((*number, it.report.captured?.last))));
    let is_unplaced = dates.0.is_empty() && reports.iter().any(|it| it.unplaced > 0);
    let mut captured = newest.finish(dates)?;
    let mut rows = std::mem::take(&mut captured.counts.rows.0);
    for (number, report) in numbers.iter().zip(&mut reports) {
        let Rows { captures, left_out } = rows.remove(number).unwrap_or_default();
        report.report.captures = report.report.captures.saturating_sub(captures);
        report.add(left_out);
    }
    let reports = reports.into_iter().map(OpenReport::close).collect();
    Ok(AllRead { captured, taken, reports, is_unplaced })
}

/// The state that all threads share.
struct Reading<'r> {
    open: &'r Open<'r>,
    config: &'r IngestConfig,
    observer: &'r dyn IngestObserver,
    numbers: &'r [u32],
    pool: &'r SharedPool,
    ingested: Mutex<Ingesting>,
    parsed: Recent<Fingerprint, ParsedBody>,
    /// Hashes single lines.
    hasher: foldhash::quality::RandomState,
}

/// A capture, and where it is filed.
type Filed = (Places, Known<BlobID>);

/// The captures that were read so far.
struct Ingesting {
    newest: Newest,
    reports: Vec<OpenReport>,
    /// The first error of a temporary file. Nothing is read after it.
    failure: Option<WriteError>,
}

impl Ingesting {
    fn take(&mut self, captures: &[Filed]) -> Result<(), WriteError> {
        let newest = &mut self.newest;
        for ((first, second), known) in captures {
            for place in [Some(first), second.as_ref()].into_iter().flatten() {
                newest.take(&place.key, place.slot, *known)?;
            }
        }
        Ok(())
    }
}

impl Reading<'_> {
    /// Reads the next piece of an input, and spawns a task for the rest.
    fn read<'s>(
        &'s self,
        input: u32,
        piece: u32,
        mut reader: Box<dyn BatchReader>,
        scope: &Scope<'s>,
    ) {
        if self.ingested().failure.is_some() {
            return;
        }
        match reader.next_batch() {
            Ok(Some(batch)) => {
                let next = piece.checked_add(1).expect("fewer than 2^32 pieces");
                scope.spawn(move |scope| self.read(input, next, reader, scope));
                self.digest(input, piece, &batch);
            }
            Ok(None) => {}
            Err(error) => self.fail(input, &error),
        }
    }

    fn digest(&self, input: u32, piece: u32, batch: &Batch) {
        let mut digest = Digest {
            reading: self,
            input: self.numbers[input as usize],
            next: u64::from(piece) << u32::BITS,
            is_of_table: batch.is_of_table,
            captures: Vec::new(),
            read: OpenReport::default(),
            failure: None,
        };
        let reading = ReadConfig { robots_bytes_max: self.config.robots_bytes_max };
        batch.read(&reading, &mut |read| digest.take(read));
        digest.read.report.bytes = batch.stored_bytes;
        let InputReport { bytes, captures, broken, .. } = digest.read.report;
        let mut ingested = self.ingested();
        ingested.reports[input as usize].add(digest.read);
        if ingested.failure.is_none() {
            let go_on = self.config.scratch.go_on();
            let failed = digest.failure.map_or(Ok(()), Err);
            let taken = failed.and(go_on).and_then(|()| ingested.take(&digest.captures));
            ingested.failure = taken.err();
        }
        drop(ingested);
        self.observer.progressed(&Progress { bytes, captures, broken });
    }

    fn fail(&self, input: u32, error: &InputError) {
        let mut ingested = self.ingested();
        let report = &mut ingested.reports[input as usize].report;
        report.failure = Some(error.to_string());
        report.is_forgeable = matches!(error, InputError::Forgeable(_));
        if let InputError::Open { error, .. } = error {
            report.refused = Some(error.kind());
        }
    }

    fn ingested(&self) -> MutexGuard<'_, Ingesting> {
        // After a panic of another task the result is never used.
        self.ingested.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A report in progress. The pieces of the input come in any order.
#[derive(Debug, Default)]
pub(super) struct OpenReport {
    report: InputReport,
    /// The first broken records so far, with their positions, in the order of the input.
    broken: Vec<(u64, BrokenRecord)>,
    /// The first record that shows that none can be relied on.
    forgeable: Option<(u64, BrokenRecord)>,
    /// The records whose time cannot be read. They are errors if none of the input has a time, because they may be
    /// newer than any capture of another input, or older.
    unplaced: u64,
    /// The broken records of which it is known which capture is lost. If the input has no capture, the others are
    /// errors: they may be of another format, and newer than the captures of other inputs.
    lost: u64,
}

impl OpenReport {
    pub(super) fn push_broken(&mut self, position: u64, broken: BrokenRecord) {
        if broken.kind == BrokenKind::Forgeable {
            return self.fail_at(position, broken);
        }
        self.report.broken += 1;
        self.report.unreadable += u64::from(broken.kind == BrokenKind::Unreadable);
        self.name(vec![(position, broken)]);
    }

    fn fail_at(&mut self, position: u64, broken: BrokenRecord) {
        if self.forgeable.as_ref().is_none_or(|(first, _)| position < *first) {
            self.forgeable = Some((position, broken));
        }
    }

    /// Adds broken records to those that are named: the first ones of the input.
    fn name(&mut self, broken: Vec<(u64, BrokenRecord)>) {
        self.broken.extend(broken);
        self.broken.sort_unstable_by_key(|&(position, _)| position);
        self.broken.truncate(BROKEN_RECORDS_NAMED);
    }

    pub(super) fn add(
        &mut self,
        OpenReport { report: piece, broken, forgeable, unplaced, lost }: OpenReport,
    ) {
        let report = &mut self.report;
        report.bytes += piece.bytes;
        report.captures += piece.captures;
        report.later += piece.later;
        report.broken += piece.broken;
        report.unreadable += piece.unreadable;
        report.status_assumed += piece.status_assumed;
        report.undated += piece.undated;
        report.other_urls += piece.other_urls;
        report.captured = DateSpan::over(report.captured, piece.captured);
        self.name(broken);
        self.unplaced += unplaced;
        self.lost += lost;
        if let Some((position, broken)) = forgeable {
            self.fail_at(position, broken);
        }
    }

    fn close(self) -> InputReport {
        let broken_named = self.broken.into_iter().map(|(_, broken)| broken).collect();
        let report = InputReport { broken_named, ..self.report };
        let unplaced = if report.captured.is_none() { self.unplaced } else { 0 };
        let has_captures = report.captures > 0 || report.is_folder();
        let unknown = if has_captures { 0 } else { report.broken.saturating_sub(self.lost) };
        let unreadable = report.unreadable + unplaced + unknown;
        let report = InputReport { unreadable, ..report };
        let Some((_, BrokenRecord { place, problem, .. })) = self.forgeable else { return report };
        let failure = Some(format!("{}: {place}: {problem}", report.name));
        InputReport { failure, is_forgeable: true, ..report }
    }
}

/// The parsed content of a body, with its notes and its size. Half of the files of a crawl equal another,
/// and parsing is most of the work.
type ParsedBody = (Held<BlobID>, CaptureFacts);

/// The captures of a piece of an input, reduced to what can count.
struct Digest<'r> {
    reading: &'r Reading<'r>,
    input: u32,
    /// The position of the next capture: the piece in the upper half.
    next: u64,
    is_of_table: bool,
    captures: Vec<Filed>,
    /// The part of the report on its input that the piece adds.
    read: OpenReport,
    /// The first error of a temporary file.
    failure: Option<WriteError>,
}

impl Digest<'_> {
    /// Adds what was read next.
    fn take(&mut self, read: Result<Capture<'_>, BrokenRecord>) {
        let position = self.next;
        self.next += 1;
        let capture = match read {
            Ok(capture) => capture,
            Err(mut broken) => {
                broken.lost = broken.lost.filter(|it| Place::of(&it.capture().subject).is_ok());
                let lost = broken.lost.clone();
                self.read.lost += u64::from(lost.is_some());
                self.read.unplaced +=
                    u64::from(lost.as_ref().is_some_and(|lost| lost.has_unread_time));
                self.read.push_broken(position, broken);
                return lost.map_or((), |lost| self.take_lost(position, &lost));
            }
        };
        let report = &mut self.read.report;
        let as_of = self.reading.config.settle.time();
        if as_of.is_some_and(|as_of| capture.captured_at > Some(as_of)) {
            report.captures += 1;
            report.later += 1;
            return;
        }
        let places = match Place::of(&capture.subject) {
            Ok(places) => places,
            Err(problem) => {
                let (kind, name) = match &capture.subject {
                    Subject::Url(url) => ("URL", url),
                    Subject::Host(host) => ("host", host),
                };
                let name = String::from_utf8_lossy(name);
                let place = format!("the capture of the {kind} {name:?}");
                let problem = match (&capture.subject, problem) {
                    (Subject::Url(_), BadUrl::NoScheme | BadUrl::NoSlashes) => {
                        "no scheme; if the field holds a host, say so with ‹fields› host=NAME"
                            .into()
                    }
                    (_, problem) => problem.to_string(),
                };
                return self.read.push_broken(position, BrokenRecord::senseless(place, problem));
            }
        };
        let is_robots_txt =
            place::is_origin(&places.0.key) || capture.subject.is_named_robots_txt();
        let is_assumed = capture.notes.contains(CaptureNote::StatusAssumed);
        // Times matter, so a capture without one is in doubt.
        let is_undated =
            (self.reading.config.history || as_of.is_some()) && capture.captured_at.is_none();
        report.captures += 1;
        report.other_urls += u64::from(!is_robots_txt);
        report.status_assumed += u64::from(is_assumed);
        report.undated += u64::from(is_undated);
        report.captured = DateSpan::over(report.captured, capture.captured_at.map(DateSpan::from));
        self.file(places, &capture, position);
    }

    /// Adds a capture whose record is broken.
    ///
    /// † The server answered, and what it said is lost, so no file before it is the newest.
    fn take_lost(&mut self, position: u64, lost: &LostCapture) {
        let mut capture = lost.capture();
        let as_of = self.reading.config.settle.time();
        let is_later = as_of.is_some_and(|as_of| capture.captured_at > Some(as_of));
        let Some(places) = Place::of(&capture.subject).ok().filter(|_| !is_later) else { return };
        let report = &mut self.read.report;
        report.captured = DateSpan::over(report.captured, capture.captured_at.map(DateSpan::from));
        if lost.has_unread_time {
            capture.captured_at = Some(UNPLACED);
        }
        self.file(places, &capture, position);
    }

    /// Files a capture under its places.
    fn file(&mut self, places: Places, capture: &Capture<'_>, position: u64) {
        match self.known(capture, position) {
            Ok(known) => self.captures.push((places, known)),
            Err(failure) => _ = self.failure.get_or_insert(failure),
        }
    }

    /// Returns the hash of a body that is one line, which may be empty.
    fn line(&self, body: &[u8]) -> Option<NonZeroU64> {
        let line = body.trim_ascii();
        let is_one = memchr::memchr2(b'\r', b'\n', line).is_none();
        is_one
            .then(|| NonZeroU64::new(self.reading.hasher.hash_one(line)).unwrap_or(NonZeroU64::MIN))
    }

    fn parsed(&self, body: &[u8]) -> Result<ParsedBody, WriteError> {
        let parse = || {
            let mut facts = CaptureFacts::default();
            let IngestConfig { dialect, robots_bytes_max, .. } = self.reading.config;
            let file = file_of(body, dialect, *robots_bytes_max, &mut facts);
            let [extract, others] = lists(&file, body).map(|list| self.reading.pool.intern(&list));
            let (extract, others) = (extract?, others?);
            let held = Held::File { extract, others, has_rules: !file.rules().is_empty() };
            Ok(((held, facts), 0))
        };
        self.reading.parsed.get(Fingerprint::of(body), parse)
    }

    fn known(&self, capture: &Capture<'_>, position: u64) -> Result<Known<BlobID>, WriteError> {
        let rules = &self.reading.config.dialect.access;
        let mut facts = CaptureFacts {
            captured_at: capture.captured_at,
            status: match capture.answer {
                Fetched::Status(status) => status,
                _ => 0,
            },
            redirects_followed: u8::try_from(capture.redirects_followed).unwrap_or(u8::MAX),
            capture_notes: capture.notes,
            input: self.input,
            ..CaptureFacts::default()
        };
        if capture.answer == Fetched::RedirectToNowhere {
            facts.capture_notes = facts.capture_notes.with(CaptureNote::RedirectToNowhere);
        }
        let access = rules.resolve(capture.answer, capture.redirects_followed);
        let is_of_host = matches!(capture.subject, Subject::Host(_));
        let location =
            capture.location.as_deref().filter(|_| access == Access::Follow && is_of_host);
        if location.is_some_and(|it| Place::from_url(it).is_ok()) {
            // A redirect from http to https is stored as if https led to itself: what it led to was not captured.
            facts.capture_notes = facts.capture_notes.with(CaptureNote::RedirectTargetMissing);
        }
        // A "not modified" repeats the caching fields of the file (RFC 9110, section 15.4.5). Those
        // of any other answer are about a redirect or an error page, not about robots.txt.
        let caching = match access {
            Access::File | Access::NotModified => capture.caching,
            Access::Follow | Access::Outcome(_) => CachingHeaders::default(),
        };
        let until = |at| expiry(&caching, at, &rules.freshness);
        facts.expires_at = capture.captured_at.map(until);
        let held = match (access, &capture.location) {
            (Access::File, _) => {
                let (held, parsed) = self.parsed(&capture.body)?;
                facts.capture_notes = facts.capture_notes.union(parsed.capture_notes);
                (facts.file_notes, facts.file_bytes) = (parsed.file_notes, parsed.file_bytes);
                held
            }
            (Access::Follow, Some(location)) => Held::Location(self.reading.pool.intern(location)?),
            (Access::NotModified, _) => match capture.confirms {
                Confirms::CapturedAt(date) => Held::Repeated(date),
                Confirms::Newest => Held::Nothing,
            },
            (Access::Follow | Access::Outcome(_), _) => Held::Nothing,
        };
        let is_line = self.is_of_table && matches!(held, Held::File { .. });
        let line = if is_line { self.line(&capture.body) } else { None };
        let rivals = Rivals { line, ..Rivals::default() };
        Ok(Known { facts, position, held, payload: capture.payload, rivals })
    }
}

/// Returns whether the file has text, but no line with a field that is known. Comments have no notes. A page and
/// binary data have a note of their own.
fn has_no_record(file: &RobotsTxt<'_>) -> bool {
    use NoteKind::{ByteOrderMark, FileCut, LineCut};
    use NoteKind::{NoColon, NoField, UnknownField, WhiteSpaceForColon};
    let notes = || file.notes().iter().map(|note| note.kind);
    let unknown = notes().filter(|&kind| kind == UnknownField).count();
    let is_text = |kind| matches!(kind, NoColon | NoField | UnknownField | WhiteSpaceForColon);
    file.user_agents().is_empty()
        && file.rules().is_empty()
        && file.usage_records().is_empty()
        && file.other_records().len() == unknown
        && notes().any(is_text)
        && notes().all(|it| is_text(it) || matches!(it, ByteOrderMark | FileCut | LineCut))
}

/// Returns whether the file has no rule, and a line that several records share: its line ends are lost.
fn has_joined_lines(file: &RobotsTxt<'_>, text: &[u8]) -> bool {
    // A comment may quote records. It counts if no line names a crawler.
    let is_heeded =
        |line: &&[u8]| file.user_agents().is_empty() || !line.trim_ascii().starts_with(b"#");
    let mut lines = text.split(|byte| matches!(byte, b'\r' | b'\n')).filter(is_heeded);
    file.rules().is_empty()
        && !file.is_page()
        && lines.any(|line| joined_records(line).nth(1).is_some())
}

/// Parses a file, of which `bytes_max` bytes count (all if `None`), and adds its notes and its size
/// to `facts`.
pub(crate) fn file_of<'b>(
    body: &'b [u8],
    dialect: &Dialect,
    bytes_max: Option<usize>,
    facts: &mut CaptureFacts,
) -> RobotsTxt<'b> {
    let file = RobotsTxt::parse(body, dialect, bytes_max);
    facts.file_notes = file.notes().iter().map(|note| note.kind).collect();
    let kept = body.len().min(bytes_max.unwrap_or(usize::MAX));
    if has_no_record(&file) || has_joined_lines(&file, &body[..kept]) {
        facts.capture_notes = facts.capture_notes.with(CaptureNote::NoRecord);
    }
    facts.file_bytes = u32::try_from(kept).unwrap_or(u32::MAX);
    file
}
