//! Ingests archives of answers: one standing per origin.
//!
//! Owns the choice among captures. [`ingest`] reads WARC files, JSON Lines, folders and Parquet
//! files; the newest capture of each origin counts. [`merge`] joins separate ingests. Use
//! [`compile`](super::compile) to make a set of the result, [`captures`](portcullis_captures) to read the
//! formats, and [`access`](portcullis_robots::access) for the meaning of an answer.
//!
//! The captures that count:
//!
//! - The newest capture of an origin, by date. A capture without a date is older than any with one;
//!   among equals the later input counts, and the later position in it. So the result is the same
//!   with any number of threads.
//! - The robots.txt of a host without a scheme applies to http and https, each on its default port
//!   unless the host has a port.
//! - A redirect is followed to the newest capture of its target, as often as the dialect allows.
//!   The result applies to the origin of the first request. Captures of URLs other than an origin's
//!   `/robots.txt` serve only as targets of redirects.
//! - A "not modified" (304) confirms the newest file that is older, and the date of the confirmation
//!   counts. So does a revisit record of an equal file, if that file has the date that the record
//!   names, or is confirmed by a revisit of that date. Without a date, the newest file is meant if the record
//!   names the digest of its payload or the id of its record, and the run reads both. No older file is looked
//!   up: it may have been dropped.
//! - A host whose newest capture is a failure is in an outage since the first failure after its
//!   last answer. [`serving`](portcullis_robots::access::serving) and [`SettleConfig`] define the
//!   effect. A failure in the second of an answer counts as the later one.
//! - Captures after [`as_of`](SettleConfig::as_of) are counted and left out.
//!
//! † A redirect to a resource that was not captured, a redirect to no URL, a "not modified" without a
//! file, and a revisit of a file that is not the newest or not known count as the dialect's
//! [`other_status`](portcullis_dialect::dialect::AccessRules::other_status), which is a failure in
//! each dialect.
//!
//! A broken record, and an input that cannot be read to its end, are reported and skipped. An older
//! capture may count instead; otherwise the origin is unknown. An input or file that cannot be read
//! is an error unless [`strictness`](IngestConfig::strictness) is lenient. If it is strict, a
//! broken record and a capture that is left out are errors too.
//!
//! Cost: each capture is parsed once, on any thread. Memory: what [`Scratch`] allows for sorting, 40
//! bytes for each distinct file, and one input's piece on each thread; the rest is on disk.
//!
//! ```
//! use portcullis_dialect::dialect::RFC_9309;
//! use portcullis_dialect::limits::ROBOTS_BYTES_MAX;
//! use portcullis_build::{IngestConfig, Input, ingest};
//!
//! let config = IngestConfig::new(&RFC_9309, Some(ROBOTS_BYTES_MAX));
//! let inputs = [Input::new("../../corpora/sample/robots")];
//! let ingested = ingest(&inputs, &config, &())?;
//! assert_eq!(ingested.standings.counts()?.hosts, ingested.standings.to_vec()?.len() as u64);
//! # Ok::<(), portcullis_build::IngestError>(())
//! ```

mod ahead;
mod captured;
mod files;
mod known;
mod log;
mod parts;
mod place;
mod read;
mod rivals;
mod settle;
#[cfg(test)]
mod tests;
mod tracks;

use std::path::PathBuf;

use portcullis_captures::{BrokenKind, CaptureField, CaptureFormat, FieldMap, folder};
use portcullis_dialect::dialect::Dialect;
use portcullis_files::error::WriteError;
use portcullis_files::scratch::Scratch;
use portcullis_robots::access::CaptureNote;
use portcullis_robots::syntax::NoteKind;
use portcullis_set::stored::CaptureFacts;
use portcullis_text::figures::joined;

use crate::compile::CompileConfig;
use crate::hosts::Standings;
use crate::provenance::{InputReport, SettleConfig};

pub(super) use log::{Captures, Role, push_bytes};
pub(super) use parts::inputs;
pub use parts::{Merger, settle_of};
pub(super) use read::file_of;
pub use settle::StandingCounts;
pub(super) use settle::{Settler, Settling};

/// How strictly bad input is treated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Strictness {
    /// Unreadable input is skipped, with a note.
    Lenient,
    /// Unreadable input is an error; malformed input is skipped, with a note.
    #[default]
    Usual,
    /// Every note is an error: skipped files, captures that are left out, and files that are cut,
    /// HTML, JSON or binary.
    Strict,
}

/// An input: a file or folder of captures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// A file, or a folder of files named by host.
    pub path: PathBuf,
    /// The format; `None` to detect it.
    pub format: Option<CaptureFormat>,
}

impl Input {
    /// Creates the input at `path`, whose format is detected.
    pub fn new(path: impl Into<PathBuf>) -> Input {
        Input { path: path.into(), format: None }
    }

    pub(super) fn report(&self) -> InputReport {
        let format = self.format.or_else(|| match self.path.is_dir() {
            true => Some(CaptureFormat::Folder),
            false => CaptureFormat::from_name(&self.path),
        });
        let format = format.map(|format| format.as_str().to_owned());
        InputReport { name: self.path.display().to_string(), format, ..InputReport::default() }
    }
}

/// How captures are read, settled and compiled.
#[derive(Clone, Debug)]
pub struct IngestConfig {
    /// The dialect that policies follow.
    pub dialect: &'static Dialect,
    /// The number of bytes of a file that are read; `None` for all.
    pub robots_bytes_max: Option<usize>,
    /// How inputs are opened.
    pub capture: FieldMap,
    /// Which notes and faults are errors. All inputs are read before an error is returned, so that one
    /// run names everything that has to be fixed.
    pub strictness: Strictness,
    /// How origins are settled.
    pub settle: SettleConfig,
    /// Whether the history of each origin is kept, and not its newest captures alone.
    pub history: bool,
    /// How much memory is used, and where the rest goes.
    pub scratch: Scratch,
}

impl IngestConfig {
    /// Returns the defaults: formats are detected, unreadable inputs are errors, broken records are
    /// skipped, everything is in memory.
    pub fn new(dialect: &'static Dialect, robots_bytes_max: Option<usize>) -> IngestConfig {
        IngestConfig {
            dialect,
            robots_bytes_max,
            capture: FieldMap::default(),
            strictness: Strictness::default(),
            settle: SettleConfig::default(),
            history: false,
            scratch: Scratch::in_memory(),
        }
    }
}

/// The captures of all inputs.
#[derive(Debug)]
pub struct Ingested {
    /// The standings that follow from them.
    pub standings: Standings,
    /// A report on each input, in the order in which they were read.
    pub inputs: Vec<InputReport>,
    /// How origins were settled.
    pub settle: SettleConfig,
    /// The number of captures that are not the newest of their origin, and so do not count; 0 if the
    /// history was kept. A capture of both http and https counts for each. Those of a set are the ones
    /// that it stores.
    pub superseded: u64,
    /// The captures among them without a date, for which the order of the inputs, or the date of another
    /// capture, is all that says so.
    pub superseded_undated: u64,
    /// The number of files that count although their input has a different one of the same resource and second.
    pub same_second: u64,
    /// The fields that captures have under two of their usual names, of which one counts.
    pub doubted: Vec<CaptureField>,
    /// How they are compiled to a set.
    pub compiling: CompileConfig,
}

/// An error of ingesting.
#[derive(Debug, thiserror::Error)]
pub enum IngestError {
    /// Something could not be read, no input has a capture, or strictness makes what was found an error.
    #[error("{problem}")]
    Refused {
        /// The fault, and what to do.
        problem: String,
        /// A report on each input.
        inputs: Vec<InputReport>,
    },
    /// A temporary file cannot be written or read.
    #[error(transparent)]
    Scratch(#[from] WriteError),
}

impl IngestError {
    /// Returns the error that inputs cannot be used: the first problem of one, or else what `otherwise`
    /// describes.
    fn of_inputs(inputs: Vec<InputReport>, otherwise: fn(&[InputReport]) -> String) -> IngestError {
        IngestError::Refused { problem: describe(&inputs, otherwise), inputs }
    }

    /// Returns a report on each input; none if a temporary file failed.
    pub fn inputs(&self) -> &[InputReport] {
        match self {
            IngestError::Refused { inputs, .. } => inputs,
            IngestError::Scratch(_) => &[],
        }
    }
}

/// Describes a field that captures have under two of its usual names.
pub fn two_names(field: CaptureField) -> String {
    let (names, field) = (field.usual_names().join(", "), field.as_str());
    format!(
        "captures have two fields for {field} (of {names}): choose one with ‹fields› {field}=NAME"
    )
}

/// Describes the first problem of the inputs, and how many more there are. Calls `otherwise` if all
/// were read.
fn describe(inputs: &[InputReport], otherwise: fn(&[InputReport]) -> String) -> String {
    let forgeable = || inputs.iter().filter(|input| input.is_forgeable);
    let failures = || forgeable().chain(inputs).filter_map(|input| input.failure.clone());
    let broken = inputs.iter().flat_map(|input| {
        // If there is an unreadable file, it is the cause of the error.
        let first = input.broken_named.iter().find(|broken| broken.kind == BrokenKind::Unreadable);
        let first = first.or(input.broken_named.first())?;
        Some(format!("{}: {}: {}", input.name, first.place, first.problem))
    });
    let problem = |input: &InputReport| input.broken + u64::from(input.failure.is_some());
    let all: u64 = inputs.iter().map(problem).sum();
    match (failures().chain(broken).next(), all) {
        (None, _) => otherwise(inputs),
        (Some(first), 1) => first,
        (Some(first), 2) => format!("{first} (and 1 more problem)"),
        (Some(first), all) => format!("{first} (and {} more problems)", all - 1),
    }
}

/// Describes the captures that only strictness rejects: those without a status, or else those that
/// were left out.
fn describe_strict(inputs: &[InputReport]) -> String {
    type Count = fn(&InputReport) -> u64;
    let problems: [(Count, &str); 4] = [
        (
            |input| input.status_assumed,
            "without a status; name the field with ‹fields› status=NAME, or omit ‹strict› to assume \
             200",
        ),
        (
            |input| input.later,
            "after ‹as_of›; choose a later time, or omit ‹strict› to leave them out",
        ),
        (|input| input.undated, "without a date; omit ‹strict› to count them as the oldest"),
        (
            |input| input.other_urls,
            "of URLs that are not a robots.txt; if a field holds the host, name it with \
             ‹fields› host=NAME, or omit ‹strict› to count them as targets of redirects",
        ),
    ];
    let problem = problems.iter().find_map(|(count, problem)| {
        let first = inputs.iter().find(|input| count(input) > 0)?;
        let count: u64 = inputs.iter().map(count).sum();
        let captures = if count == 1 { "capture" } else { "captures" };
        Some(format!("{}: {count} {captures} {problem}", first.name))
    });
    problem.unwrap_or_default()
}

/// Describes why there is no capture of a robots.txt.
fn describe_nothing(inputs: &[InputReport]) -> String {
    /// Names of inputs that are shown.
    const SHOWN_MAX: usize = 10;
    let names = joined(inputs.iter().map(|input| input.name.as_str()), SHOWN_MAX);
    let later: u64 = inputs.iter().map(|input| input.later).sum();
    let captures = inputs.iter().map(|input| input.captures).sum::<u64>() - later;
    if later > 0 && captures == 0 {
        return format!("{names}: every capture is after ‹as_of›; choose a later time");
    }
    if captures > 0 {
        return format!(
            "{names}: no capture is of a robots.txt ({captures} of other URLs); if a field holds the \
             host, name it with ‹fields› host=NAME"
        );
    }
    if inputs.iter().all(InputReport::is_folder) {
        return format!("{names}: no file is named by a host ({})", folder::NAMES);
    }
    format!("{names}: no captures of robots.txt")
}

/// Receives the progress of reading. `()` ignores it.
pub trait IngestObserver: Sync {
    /// Called after a piece of an input is read: on any thread, some thousand times a second at
    /// most.
    fn progressed(&self, progress: &Progress);
}

impl IngestObserver for () {
    fn progressed(&self, _: &Progress) {}
}

/// The contents of a piece of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The bytes, as stored.
    pub bytes: u64,
    /// The number of captures.
    pub captures: u64,
    /// The number of records that could not be read.
    pub broken: u64,
}

/// Reads `inputs`, which may have different formats, and sorts their captures. What follows from them
/// for each origin is settled when it is read. [`Merger`] joins them with the captures of sets.
///
/// Runs on the calling thread's rayon pool.
///
/// # Errors
///
/// If no input has a capture, something cannot be read, or [`strictness`](IngestConfig::strictness)
/// makes a note an error.
pub fn ingest(
    inputs: &[Input],
    config: &IngestConfig,
    observer: &dyn IngestObserver,
) -> Result<Ingested, IngestError> {
    let mut merger = Merger::new(config.clone());
    merger.ingest(inputs, observer)?;
    merger.finish()
}

/// The problem of a file with [`CaptureNote::NoRecord`].
pub(super) const NO_RECORD: &str = "no line is a record of robots.txt, or several share one";

/// Returns the error that files have notes of [`NoteKind::OF_FILES`] or of their rules, no record, or are lost, with the first of them and the
/// number of origins with such a file, whenever it was captured; `None` if there is none.
fn noted(standings: &Standings) -> Result<Option<String>, WriteError> {
    let note = |facts: &CaptureFacts| {
        let of_rules = [NoteKind::RuleOutsideGroup, NoteKind::UsageIgnored];
        let mut kinds = NoteKind::OF_FILES.into_iter().chain(of_rules);
        let kind = kinds.find(|&kind| facts.file_notes.contains(kind));
        let of_answer = || match () {
            () if facts.capture_notes.contains(CaptureNote::NoRecord) => Some(NO_RECORD),
            () if facts.lacks_body() => Some("the archive has cut or lost the file"),
            () if facts.lacks_target() => Some("it redirects to a URL without a capture"),
            () => None,
        };
        kind.map(NoteKind::describe).or_else(of_answer)
    };
    let (mut first, mut origins) = (None, 0);
    for piece in standings.pieces() {
        let piece = piece?;
        for (index, host) in piece.hosts.iter().enumerate() {
            // Without history, other captures of an origin than its newest decide nothing.
            let captures = piece.captures.get(index).filter(|_| standings.has_history());
            let problems: Vec<_> = match captures {
                Some(captures) => captures.facts().filter_map(|mut it| it.find_map(note)).collect(),
                None => host.origins().filter_map(|it| note(&it.facts)).collect(),
            };
            for problem in problems {
                origins += 1;
                let name = || String::from_utf8_lossy(&host.key).into_owned();
                first.get_or_insert_with(|| (name(), problem));
            }
        }
    }
    let such = match origins {
        1 => "origin with such a note",
        _ => "origins with such notes",
    };
    Ok(first.map(|(host, note)| {
        format!("{host}: {note} ({origins} {such}; omit ‹strict› to read them as the dialect says)")
    }))
}
