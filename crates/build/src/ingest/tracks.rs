//! All captures of a resource in order of time: those that count after each.
//!
//! A standing as of a time follows from the captures up to then. These are a prefix of a resource's
//! captures in the order of their ranks, so the newest file and the begin of an outage are stored for each
//! prefix.
//!
//! † A "not modified" confirms the newest file that the server sent. If the archive lacks a part of that file,
//! or all of it, no older one takes its place, but in an outage an older one is still the last good copy.
//!
//! Cost: one pass per resource. Nothing here can fail.

use portcullis_dialect::{Access, AccessRules};
use portcullis_robots::access::UnixSeconds;
use portcullis_set::stored::{Seen, View};

use super::known::{Held, Known};
use crate::pool::BlobID;
use crate::standing::Content;

/// The captures of one resource, oldest first.
#[derive(Debug)]
pub(super) struct Track<'k> {
    captures: &'k [Known<BlobID>],
    counting: Vec<Counting>,
}

/// The captures in force directly after a capture, as positions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counting {
    /// The newest file; `None` since a revisit of another file. For a "not modified", the file that it
    /// confirms, if the archive has it.
    pub file: Option<u32>,
    /// The first failure since the last answer.
    pub first_failure: Option<u32>,
}

impl<'k> Track<'k> {
    /// Returns the track of captures, which are oldest first.
    pub(super) fn of(captures: &'k [Known<BlobID>], rules: &AccessRules) -> Track<'k> {
        let mut counting = Vec::with_capacity(captures.len());
        let (mut file, mut first_failure, mut last_failure) = (None, None, None::<u32>);
        // The newest file, and the dates at which it was captured and repeated, in order.
        let (mut newest, mut dates) = (None, Vec::new());
        // Whether a file came after it that the archive lacks.
        let mut has_lost = false;
        let date_of = |place: u32| captures[place as usize].facts.captured_at;
        for (place, known) in (0..).zip(captures) {
            match known.held {
                Held::File { .. } => {
                    newest = Some(place);
                    (file, has_lost) = (newest, false);
                    dates.clear();
                    dates.extend(known.facts.captured_at);
                }
                Held::Repeated(date) => {
                    let is_newest = date.is_some_and(|date| dates.binary_search(&date).is_ok());
                    (file, has_lost) = (newest.filter(|_| is_newest), false);
                    dates.extend(known.facts.captured_at.filter(|_| is_newest));
                }
                Held::Location(_) | Held::Nothing => has_lost |= known.facts.lacks_body(),
            }
            match known.facts.captured_at {
                Some(_) if known.is_failure(rules) => {
                    first_failure = first_failure.or(Some(place));
                    last_failure = Some(place);
                }
                // A failure in the second of an answer is later than it.
                date @ Some(_) => first_failure = last_failure.filter(|&it| date_of(it) == date),
                None => {}
            }
            let is_lost = has_lost && known.access(rules) == Access::NotModified;
            counting.push(Counting { file: file.filter(|_| !is_lost), first_failure });
        }
        Track { captures, counting }
    }

    /// Returns each capture with what counts directly after it.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&'k Known<BlobID>, Counting)> {
        self.captures.iter().zip(self.counting.iter().copied())
    }

    pub(super) fn capture(&self, place: u32) -> &'k Known<BlobID> {
        &self.captures[place as usize]
    }

    /// Returns what counts after all captures; `None` if there are none.
    pub(super) fn newest(&self) -> Option<View<Content, Held<BlobID>>> {
        let (newest, Counting { file, first_failure }) = self.iter().last()?;
        let failing_since = first_failure.and_then(|it| self.capture(it).facts.captured_at);
        let file = file.map(|file| seen(self.capture(file)));
        Some(View { newest: seen(newest), file, failing_since, location: newest.held })
    }

    /// Returns the date from which a capture no longer counts, and `None` for the newest.
    pub(super) fn until(&self, place: u32) -> Option<UnixSeconds> {
        self.captures.get(place as usize + 1)?.facts.captured_at
    }
}

/// Returns a capture with the content of its file.
fn seen(known: &Known<BlobID>) -> Seen<Content> {
    Seen { facts: known.facts, content: known.content() }
}
