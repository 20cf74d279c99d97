//! Shared code of the readers' tests: a sink that keeps captures and broken records.

mod csv;
mod http;
mod json_lines;
mod parquet;
mod warc;

use std::borrow::Cow;

use super::{BatchReader, BrokenRecord, Capture, FieldMap, LostCapture, ReadConfig, Subject};
use portcullis_robots::access::{CaptureNote, CaptureNotes};

/// Returns a set of notes.
fn notes(notes: &[CaptureNote]) -> CaptureNotes {
    notes.iter().copied().collect()
}

/// A capture that owns its data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OwnedCapture {
    pub subject: String,
    pub is_host: bool,
    /// The capture, with an empty subject. The real subject is in the fields above.
    pub capture: Capture<'static>,
}

/// Everything that a reader returned.
#[derive(Debug, Default)]
pub(crate) struct Keeper {
    pub captures: Vec<OwnedCapture>,
    pub broken: Vec<BrokenRecord>,
    pub stored_bytes: u64,
}

/// A subject without a name.
pub(crate) const NO_SUBJECT: Subject<'static> = Subject::Url(Cow::Borrowed(b""));

impl Keeper {
    fn keep(&mut self, read: Result<Capture<'_>, BrokenRecord>) {
        let capture = match read {
            Ok(capture) => capture,
            Err(broken) => return self.broken.push(broken),
        };
        let (subject, is_host) = match capture.subject {
            Subject::Url(url) => (url, false),
            Subject::Host(host) => (host, true),
        };
        self.captures.push(OwnedCapture {
            subject: String::from_utf8_lossy(&subject).into_owned(),
            is_host,
            capture: Capture {
                subject: NO_SUBJECT,
                location: capture.location.map(|location| Cow::Owned(location.into_owned())),
                body: Cow::Owned(capture.body.into_owned()),
                ..capture
            },
        });
    }
}

/// Returns the captures that broken records would be, each as `SUBJECT SECONDS`; without a date the
/// seconds are `-`, and `?` if it cannot be read.
pub(crate) fn lost(keeper: &Keeper) -> Vec<String> {
    let lost = keeper.broken.iter().filter_map(|broken| broken.lost.as_ref());
    let text = |lost: &LostCapture| {
        let Capture { subject, captured_at, .. } = lost.capture();
        let (Subject::Url(name) | Subject::Host(name)) = subject;
        let time = captured_at.map_or_else(|| "-".to_owned(), |time| time.0.to_string());
        let time = if lost.has_unread_time { "?".to_owned() } else { time };
        format!("{} {time}", String::from_utf8_lossy(&name))
    };
    lost.map(text).collect()
}

/// Returns the map with these names, each written as `FIELD=NAME`.
pub(crate) fn fields(names: &[&str]) -> FieldMap {
    FieldMap::new(names.iter().map(|name| name.parse().unwrap())).unwrap()
}

/// Reads all batches.
#[track_caller]
pub(crate) fn read_all(reader: &mut dyn BatchReader, robots_bytes_max: Option<usize>) -> Keeper {
    let mut keeper = Keeper::default();
    while let Some(batch) = reader.next_batch().unwrap() {
        keeper.stored_bytes += batch.stored_bytes;
        batch.read(&ReadConfig { robots_bytes_max }, &mut |read| keeper.keep(read));
    }
    keeper
}
