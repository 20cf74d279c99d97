//! From archives of answers to what is known of each origin.
//!
//! Owns the choice among captures. [`ingest`] reads WARC files, JSON Lines, folders and Parquet
//! files, of which there may be many, and of each origin the newest capture counts; [`merge`] joins
//! what was ingested apart. What comes of it is compiled to a set by [`compile`](super::compile);
//! the formats are [`capture`]'s business, what an answer means
//! [`access`](crate::access)'s.
//!
//! What counts:
//!
//! - The newest capture of an origin, by date. A capture without a date is older than any with one;
//!   among equals the later input counts, and the later place within it. So the result is the same
//!   with any number of threads.
//! - The robots.txt of a host without a scheme speaks for http and https, each on its default port
//!   unless the host has a port behind it.
//! - A redirect is followed to the newest capture of the URL that it leads to, as often as the
//!   dialect allows, and what is found speaks for the origin that was asked first. Captures of other
//!   URLs than an origin's `/robots.txt` serve for this alone.
//! - A capture that says "not modified" (304, or a revisit of an archive) confirms the newest file
//!   that is older, and its date counts.
//! - A host that failed when it was last captured is in an outage since its first failure after the last
//!   answer, and [`serving`](crate::access::serving) says what follows
//!   ([`OutageConfig`]).
//!
//! † A redirect to what was not captured, or to no place, and a confirmation of nothing, are the
//! dialect's [`other_status`](crate::dialect::AccessRules::other_status): a failure in each dialect.
//! A broken record, or an input that cannot be read to its end, is named and passed over; what
//! it would have told is then not known, and no origin is allowed anything by that, but an older
//! capture may count in its place. Set [`strictness`](IngestConfig::strictness) to reject this; an
//! input or file that cannot be read is an error unless it is lenient.
//!
//! Cost: each capture is parsed once, on any thread. Memory: what the newest captures say, equal
//! files once, some hundred bytes for each resource, and the dates of failures in outages that last;
//! not what was read.
//!
//! ```
//! use portcullis::dialect::RFC_9309;
//! use portcullis::limits::ROBOTS_BYTES_MAX;
//! use portcullis::set::{IngestConfig, Input, ingest};
//!
//! let config = IngestConfig::new(&RFC_9309, Some(ROBOTS_BYTES_MAX));
//! let inputs = [Input::new("corpora/sample/robots")];
//! let ingested = ingest(&inputs, &config, &())?;
//! assert_eq!(ingested.counts.hosts, ingested.hosts.len() as u64);
//! # Ok::<(), portcullis::set::IngestError>(())
//! ```

mod census;
mod digest;
mod history;
mod hosts;
mod inputs;
mod known;
mod merge;
mod newest;
mod place;
mod read;
mod redirects;
mod settle;
#[cfg(test)]
mod tests;
mod turns;

use crate::access::{LongOutage, UnixSeconds};
use crate::capture::{self, BrokenKind, CaptureConfig};
use crate::dialect::Dialect;
use crate::syntax::NoteKind;

use super::Strictness;
use super::pool::BlobPool;
use super::standing::HostStanding;

pub use census::StandingCounts;
pub(super) use digest::file_of;
pub(super) use history::check as check_history;
pub use inputs::{Input, InputReport};
pub use merge::{Merger, Part, merge};

use inputs::OpenReport;

/// How captures are ingested.
#[derive(Clone, Debug)]
pub struct IngestConfig {
    /// The behaviour that policies will follow.
    pub dialect: &'static Dialect,
    /// Bytes of a file that count; all, if there is no limit.
    pub robots_bytes_max: Option<usize>,
    /// How inputs are opened.
    pub capture: CaptureConfig,
    /// What is an error. All inputs are read before one is returned, so that one run names
    /// everything that has to be fixed.
    pub strictness: Strictness,
    /// How outages are judged.
    pub outages: OutageConfig,
}

/// How outages are judged: when, and what follows a long one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutageConfig {
    /// The time up to which an outage lasts whose end was not captured; its last captured failure if it
    /// is not set, so that a host that nobody asked again is not taken for one that failed all the time.
    /// It decides nothing else: later captures count.
    pub as_of: Option<UnixSeconds>,
    /// What follows an outage of more than 30 days, where the dialect leaves the choice.
    pub long_outage: LongOutage,
}

impl OutageConfig {
    /// The time that is set, as the provenance of a set keeps it, which knows no year after 9999.
    pub fn time(&self) -> Option<UnixSeconds> {
        self.as_of.and_then(|time| UnixSeconds::from_rfc3339(time.to_rfc3339().as_bytes()))
    }
}

impl IngestConfig {
    /// The usual way: inputs are what they look like, what cannot be read is an error, and what is
    /// broken is passed over.
    pub fn new(dialect: &'static Dialect, robots_bytes_max: Option<usize>) -> IngestConfig {
        IngestConfig {
            dialect,
            robots_bytes_max,
            capture: CaptureConfig::default(),
            strictness: Strictness::default(),
            outages: OutageConfig::default(),
        }
    }
}

/// What is known of the origins of all inputs.
#[derive(Debug)]
pub struct Ingested {
    /// The hosts, sorted by key.
    pub hosts: Vec<HostStanding>,
    /// What their files say.
    pub pool: BlobPool,
    /// What a later merge needs beside that, in the form that a set keeps
    /// ([`CompileConfig::history`](super::compile::CompileConfig::history)).
    pub history: Vec<u8>,
    /// What became of each input.
    pub inputs: Vec<InputReport>,
    /// How outages were judged.
    pub outages: OutageConfig,
    /// Counts.
    pub counts: StandingCounts,
}

/// Nothing could be ingested, or not all.
#[derive(Debug, thiserror::Error)]
pub enum IngestError {
    /// Something could not be read, and that was to be an error.
    #[error("{}", describe(inputs))]
    Broken {
        /// What became of each input.
        inputs: Vec<InputReport>,
    },
    /// A file is HTML, JSON or no text, and that was to be an error.
    #[error(
        "{host}: its robots.txt is HTML, JSON or binary data ({origins} such origins; drop --strict \
         to read them as the dialect says)"
    )]
    NotRobotsTxt {
        /// The first host that has such a file.
        host: String,
        /// The number of such origins.
        origins: u64,
        /// What became of each input.
        inputs: Vec<InputReport>,
    },
    /// No input has a capture.
    #[error("{}", describe(inputs))]
    NothingCaptured {
        /// What became of each input.
        inputs: Vec<InputReport>,
    },
}

impl IngestError {
    /// What became of each input.
    pub fn inputs(&self) -> &[InputReport] {
        let (IngestError::Broken { inputs }
        | IngestError::NotRobotsTxt { inputs, .. }
        | IngestError::NothingCaptured { inputs }) = self;
        inputs
    }
}

/// The first thing that is wrong with the inputs, and how many more there are.
fn describe(inputs: &[InputReport]) -> String {
    let failures = || inputs.iter().filter_map(|input| input.failure.clone());
    let broken = inputs.iter().flat_map(|input| {
        // An unreadable file is what stopped it, if there is one.
        let first = input.broken_named.iter().find(|broken| broken.kind == BrokenKind::Unreadable);
        let first = first.or(input.broken_named.first())?;
        Some(format!("{}: {}: {}", input.name, first.place, first.problem))
    });
    let all = failures().count() as u64 + inputs.iter().map(|input| input.broken).sum::<u64>();
    match (failures().chain(broken).next(), all) {
        (None, _) => {
            let names: Vec<&str> = inputs.iter().map(|input| input.name.as_str()).collect();
            format!("{}: no captures of robots.txt", names.join(", "))
        }
        (Some(first), 1) => first,
        (Some(first), all) => format!("{first} (and {} more problems)", all - 1),
    }
}

/// Is told how far the reading has come. `()` is, and does nothing.
pub trait IngestObserver: Sync {
    /// A piece of an input was read. It is called on any thread, some thousand times a second at
    /// most.
    fn progressed(&self, progress: &Progress);
}

impl IngestObserver for () {
    fn progressed(&self, _: &Progress) {}
}

/// What a piece of an input had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Its bytes, as they are stored.
    pub bytes: u64,
    /// Captures in it.
    pub captures: u64,
    /// Records that could not be read.
    pub broken: u64,
}

/// Reads `inputs`, which may be of different formats, and finds what is known of each origin.
///
/// It runs on the calling thread's rayon pool.
///
/// # Errors
///
/// If no input has a capture, if something cannot be read, and what else
/// [`strictness`](IngestConfig::strictness) says.
pub fn ingest(
    inputs: &[Input],
    config: &IngestConfig,
    observer: &dyn IngestObserver,
) -> Result<Ingested, IngestError> {
    let reports = inputs.iter().map(OpenReport::new).collect();
    let open = |input: usize| {
        let Input { path, format } = &inputs[input];
        capture::open(path, *format, &config.capture)
    };
    ingest_from(reports, &open, config, observer)
}

/// As [`ingest`], from whatever `open` opens.
fn ingest_from(
    reports: Vec<OpenReport>,
    open: &read::Open<'_>,
    config: &IngestConfig,
    observer: &dyn IngestObserver,
) -> Result<Ingested, IngestError> {
    let (newest, inputs) = read::read_all(reports, open, config, observer);
    let is_fine = match config.strictness {
        Strictness::Lenient => true,
        Strictness::Usual => inputs.iter().all(InputReport::is_readable),
        Strictness::Strict => inputs.iter().all(InputReport::is_whole),
    };
    if !is_fine {
        return Err(IngestError::Broken { inputs });
    }
    let ingested = settle::settle(newest, inputs, config.outages);
    if ingested.hosts.is_empty() {
        return Err(IngestError::NothingCaptured { inputs: ingested.inputs });
    }
    let counts = &ingested.counts;
    let odd: u64 = NoteKind::APPEARANCES.map(|kind| counts.with_file_note(kind)).iter().sum();
    if config.strictness == Strictness::Strict && odd > 0 {
        let is_odd = |host: &&HostStanding| {
            let mut notes = settle::standings(host).map(|standing| standing.facts.file_notes);
            notes.any(|notes| NoteKind::APPEARANCES.iter().any(|&kind| notes.contains(kind)))
        };
        let host = ingested.hosts.iter().find(is_odd).map(|host| &*host.key).unwrap_or_default();
        let host = String::from_utf8_lossy(host).into_owned();
        return Err(IngestError::NotRobotsTxt { host, origins: odd, inputs: ingested.inputs });
    }
    Ok(ingested)
}
