//! The captures of one resource that may still count.
//!
//! These are the newest capture and, if it has no file, the newest file: a "not modified" that is
//! newer than both may follow, and a long outage may end with the last good copy. The date of every
//! failure in an outage is kept, because an answer may follow that is newer than only some of them.
//! Everything else is dropped at once, so memory grows with the resources and the failures of
//! ongoing outages, not with the captures, unless the history is kept.
//!
//! The result does not depend on the order of the captures. [`captured`](super::captured) holds the
//! resources. Nothing here can fail.

use std::collections::BTreeSet;

use portcullis_dialect::decision::PolicyState;
use portcullis_dialect::{Access, AccessRules, Fetched};
use portcullis_robots::access::{CaptureNote, UnixSeconds};
use portcullis_set::stored::CaptureFacts;

use super::log::Resources;
use crate::pool::BlobID;

/// A capture, reduced to what can count, with its bytes as `B`s.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known<B> {
    /// How the capture was made. The redirects are those within the capture itself.
    pub(super) facts: CaptureFacts,
    /// Where it is in its input.
    pub(super) position: Position,
    pub(super) held: Held<B>,
}

/// The bytes of a capture that may be needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Held<B> {
    /// The file's extract and its other records.
    File {
        extract: B,
        others: B,
        /// Whether the file has a rule in a group.
        has_rules: bool,
    },
    /// The target of a redirect, unresolved.
    Location(B),
    Nothing,
}

impl<B> Held<B> {
    pub(super) fn map<C, E>(&self, mut to: impl FnMut(&B) -> Result<C, E>) -> Result<Held<C>, E> {
        Ok(match self {
            Held::File { extract, others, has_rules } => {
                let (extract, others) = (to(extract)?, to(others)?);
                Held::File { extract, others, has_rules: *has_rules }
            }
            Held::Location(location) => Held::Location(to(location)?),
            Held::Nothing => Held::Nothing,
        })
    }
}

/// Where a capture is in its input: the piece, and the index in the piece.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Position {
    pub(super) piece: u32,
    pub(super) index: u32,
}

impl<B> Known<B> {
    /// Returns the rank of the capture, which is greater for a newer one: by date (no date is
    /// oldest), then by input, then by position in the input.
    ///
    /// † Of two captures in one second a failure counts as the later one, in any order: if it was,
    /// RFC 9309, section 2.3.1.4, disallows everything.
    pub(super) fn rank(&self, rules: &AccessRules) -> (Option<UnixSeconds>, bool, u32, Position) {
        let CaptureFacts { captured_at, input, .. } = self.facts;
        let fails = captured_at.is_some()
            && matches!(self.state(rules), Some(PolicyState::Unreachable | PolicyState::Deferred));
        (captured_at, fails, input, self.position)
    }

    pub(super) fn is_file(&self) -> bool {
        matches!(self.held, Held::File { .. })
    }

    /// Returns the answer, as far as it matters to a dialect.
    pub(super) fn answer(&self) -> Fetched {
        match self.facts.status {
            0 if self.facts.capture_notes.contains(CaptureNote::RedirectToNowhere) => {
                Fetched::RedirectToNowhere
            }
            0 => Fetched::NoResponse,
            status => Fetched::Status(status),
        }
    }

    fn access(&self, rules: &AccessRules) -> Access {
        rules.resolve(self.answer(), self.facts.redirects_followed.into())
    }

    /// Returns whether the server failed, so that the capture may be part of an outage.
    pub(super) fn is_failure(&self, rules: &AccessRules) -> bool {
        self.state(rules) == Some(PolicyState::Unreachable)
    }

    /// Returns the state of a policy without a file; `None` for a file, and for a redirect, even to
    /// nowhere.
    fn state(&self, rules: &AccessRules) -> Option<PolicyState> {
        match self.access(rules) {
            Access::Outcome(outcome) if self.answer() != Fetched::RedirectToNowhere => {
                Some(outcome.state)
            }
            _ => None,
        }
    }

    /// Returns whether the answer can have the bytes that the capture holds.
    pub(super) fn is_consistent(&self, rules: &AccessRules) -> bool {
        match (&self.held, self.access(rules)) {
            (Held::File { .. }, access) => access == Access::File,
            (Held::Location(_), access) => access == Access::Follow,
            (Held::Nothing, access) => access != Access::File,
        }
    }
}

/// The dated failures since the last answer. A failure without a date is older than any answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Failures {
    /// The date of the newest answer that is not a failure, if one has a date.
    pub(super) answered_at: Option<UnixSeconds>,
    /// The dates of the failures in the same second and after it.
    pub(super) dates: BTreeSet<UnixSeconds>,
}

impl Failures {
    /// Returns the failures that one capture shows.
    pub(super) fn of<B>(known: &Known<B>, rules: &AccessRules) -> Failures {
        let date = known.facts.captured_at;
        match known.is_failure(rules) {
            true => Failures { answered_at: None, dates: date.into_iter().collect() },
            false => Failures { answered_at: date, dates: BTreeSet::new() },
        }
    }

    pub(super) fn add(&mut self, other: Failures) {
        self.answered_at = self.answered_at.max(other.answered_at);
        self.dates.extend(other.dates);
        while self.dates.first().is_some_and(|&date| Some(date) < self.answered_at) {
            self.dates.pop_first();
        }
    }
}

/// The captures of one resource that may count.
#[derive(Debug)]
pub(super) struct Target<B = BlobID> {
    pub(super) newest: Known<B>,
    /// The newest file, if the newest capture has none.
    pub(super) file: Option<Box<Known<B>>>,
    pub(super) failures: Failures,
    /// All other captures, if the history is kept.
    pub(super) earlier: Vec<Known<B>>,
}

impl<B> Target<B> {
    /// Returns all captures, in no order.
    pub(super) fn captures(&self) -> impl Iterator<Item = &Known<B>> {
        [Some(&self.newest), self.file.as_deref()].into_iter().flatten().chain(&self.earlier)
    }

    /// Returns the newest captured file.
    pub(super) fn newest_file(&self) -> Option<&Known<B>> {
        if self.newest.is_file() { Some(&self.newest) } else { self.file.as_deref() }
    }

    /// Returns what is known after the first capture.
    pub(super) fn first(newest: Known<B>, failures: Failures) -> Target<B> {
        Target { newest, file: None, failures, earlier: Vec::new() }
    }

    /// Adds captures of the resource and their failures. `keeps_all` says whether captures that can
    /// no longer count are kept.
    pub(super) fn add(&mut self, other: Target<B>, rules: &AccessRules, keeps_all: bool) {
        let Target { newest, file, failures, earlier } = other;
        self.failures.add(failures);
        let captures = std::iter::once(newest).chain(file.map(|file| *file)).chain(earlier);
        for known in captures {
            let replaced = self.offer(known, rules).into_iter().flatten();
            if keeps_all {
                self.earlier.extend(replaced);
            }
        }
    }

    /// Keeps a capture if it may count. Returns the captures that no longer do.
    fn offer(&mut self, known: Known<B>, rules: &AccessRules) -> [Option<Known<B>>; 2] {
        if known.rank(rules) > self.newest.rank(rules) {
            let before = std::mem::replace(&mut self.newest, known);
            if self.newest.is_file() {
                [Some(before), self.file.take().map(|file| *file)]
            } else if before.is_file() {
                [self.file.replace(Box::new(before)).map(|file| *file), None]
            } else {
                [Some(before), None]
            }
        } else if known.is_file()
            && self.newest_file().is_none_or(|file| known.rank(rules) > file.rank(rules))
        {
            [self.file.replace(Box::new(known)).map(|file| *file), None]
        } else {
            [Some(known), None]
        }
    }

    /// Returns the captures with other references.
    pub(super) fn map<C, E>(
        self,
        mut to: impl FnMut(Known<B>) -> Result<Known<C>, E>,
    ) -> Result<Target<C>, E> {
        let Target { newest, file, failures, earlier } = self;
        let earlier = earlier.into_iter().map(&mut to).collect::<Result<_, E>>()?;
        let file = file.map(|file| to(*file).map(Box::new)).transpose()?;
        Ok(Target { newest: to(newest)?, file, failures, earlier })
    }
}

/// The resources under one key, by [`Slot`](super::place::Slot).
pub(super) type Targets = Resources<BlobID>;
