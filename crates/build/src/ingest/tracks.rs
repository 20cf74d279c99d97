//! All captures of a resource in order of time: those that count at a given time.
//!
//! A standing as of a time follows from the captures up to then. These are a prefix of a resource's
//! captures in the order of their ranks, so the newest capture, the newest file and the begin of an
//! outage are stored for each prefix.
//!
//! Cost: one pass per resource, then one binary search per question. Nothing here can fail.

use portcullis_dialect::dialect::AccessRules;
use portcullis_robots::access::UnixSeconds;
use portcullis_set::stored::CaptureFacts;

use super::known::{Held, Known};
use crate::pool::BlobID;

/// The captures of one resource that count at some time.
#[derive(Clone, Copy, Debug)]
pub(super) struct View {
    pub(super) newest: Known<BlobID>,
    /// The newest file, which may be the newest capture. `None` since a revisit of another file.
    pub(super) file: Option<Known<BlobID>>,
    /// The date of the first failure since the last answer, if one has a date.
    pub(super) failing_since: Option<UnixSeconds>,
}

/// The captures of one resource, oldest first.
#[derive(Debug)]
pub(super) struct Track {
    entries: Vec<Entry>,
}

/// A capture, and what counts directly after it.
#[derive(Debug)]
struct Entry {
    known: Known<BlobID>,
    /// The position of the newest file; `None` since a revisit of another file.
    file: Option<u32>,
    failing_since: Option<UnixSeconds>,
    /// The end of the run of entries from here on that differ in their dates alone.
    alike_until: u32,
}

impl Entry {
    /// Returns whether `next`, the capture after this one, makes no difference to origins behind a
    /// redirect but for its dates: an earlier date on the way hides that of an answer, and an earlier
    /// expiry its expiry, as long as that does not go back.
    fn is_like(&self, next: &Entry) -> bool {
        let [one, other] = [self, next].map(|entry| &entry.known);
        let undated =
            |facts| CaptureFacts { captured_at: None, expires_at: None, input: 0, ..facts };
        let expiries = (one.facts.expires_at, other.facts.expires_at);
        let is_same_file = match one.is_file() {
            true => self.failing_since.is_none(),
            false => self.file == next.file,
        };
        one.held == other.held
            && undated(one.facts) == undated(other.facts)
            && self.failing_since == next.failing_since
            && is_same_file
            && expiries.0 <= expiries.1
            && expiries.0.is_some() == expiries.1.is_some()
    }
}

impl Track {
    /// Returns the track of captures, which are oldest first.
    pub(super) fn of(captures: &[Known<BlobID>], rules: &AccessRules) -> Track {
        let mut entries: Vec<Entry> = Vec::with_capacity(captures.len());
        let (mut file, mut failing_since, mut last_failure) = (None, None, None);
        // The newest file, and the dates at which it was captured and repeated, in order.
        let (mut newest, mut dates) = (None, Vec::new());
        for &known in captures {
            match known.held {
                Held::File { .. } => {
                    newest = Some(entries.len() as u32);
                    file = newest;
                    dates.clear();
                    dates.extend(known.facts.captured_at);
                }
                Held::Repeated(date) => {
                    let is_newest = date.is_some_and(|date| dates.binary_search(&date).is_ok());
                    file = newest.filter(|_| is_newest);
                    dates.extend(known.facts.captured_at.filter(|_| is_newest));
                }
                Held::Location(_) | Held::Nothing => {}
            }
            match known.facts.captured_at {
                Some(date) if known.is_failure(rules) => {
                    failing_since = failing_since.or(Some(date));
                    last_failure = Some(date);
                }
                // A failure in the second of an answer is later than it.
                Some(date) => failing_since = last_failure.filter(|&failure| failure == date),
                None => {}
            }
            entries.push(Entry { known, file, failing_since, alike_until: 0 });
        }
        let mut until = entries.len();
        for index in (0..entries.len()).rev() {
            if entries.get(index + 1).is_some_and(|next| !entries[index].is_like(next)) {
                until = index + 1;
            }
            entries[index].alike_until = until as u32;
        }
        Track { entries }
    }

    /// Returns what counts at a time; `None` before the first capture. Without a time, all captures
    /// count.
    pub(super) fn view(&self, at: Option<UnixSeconds>) -> Option<View> {
        let count = at.map_or(self.entries.len(), |at| self.count_until(at));
        let &Entry { known, file, failing_since, .. } = self.entries[..count].last()?;
        let file = file.map(|file| self.entries[file as usize].known);
        Some(View { newest: known, file, failing_since })
    }

    /// Returns the date of the first capture after a time.
    pub(super) fn next_after(&self, at: UnixSeconds) -> Option<UnixSeconds> {
        self.entries.get(self.count_until(at))?.known.facts.captured_at
    }

    /// Returns the date of the first capture after a time that differs from the one that counts then in
    /// more than its dates.
    pub(super) fn next_unlike(&self, at: UnixSeconds) -> Option<UnixSeconds> {
        let next = match self.count_until(at).checked_sub(1) {
            Some(last) => self.entries[last].alike_until as usize,
            None => 0,
        };
        self.entries.get(next)?.known.facts.captured_at
    }

    /// Returns the time from which the resource is known: that of the first capture, or the begin of
    /// all times if it has no date.
    pub(super) fn begin(&self) -> Option<UnixSeconds> {
        self.entries.first().map(|it| it.known.facts.captured_at.unwrap_or(UnixSeconds(0)))
    }

    fn count_until(&self, at: UnixSeconds) -> usize {
        self.entries.partition_point(|entry| entry.known.facts.captured_at <= Some(at))
    }
}
