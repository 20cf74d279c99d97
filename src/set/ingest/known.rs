//! One capture, reduced to what can count: when, what came of it, what its file says.

use crate::access::{Access, Answer, UnixSeconds, resolve};
use crate::capture::{CaptureNote, CaptureNotes};
use crate::decision::PolicyState;
use crate::dialect::AccessRules;

use super::super::standing::CaptureFacts;

/// A capture with its bytes as `B`s.
#[derive(Clone, Debug)]
pub(in crate::set) struct Known<B> {
    /// How it came to be known; the redirects are those within the capture itself.
    pub(super) facts: CaptureFacts,
    /// Where it stands in its input.
    pub(super) position: Position,
    pub(super) held: Held<B>,
}

/// The bytes of a capture that may be needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::set) enum Held<B> {
    /// The file's extract and its other records.
    File {
        extract: B,
        others: B,
    },
    /// Where a redirect points to, as it was written.
    Location(B),
    Nothing,
}

impl<B> Held<B> {
    pub(super) fn map<C>(&self, mut to: impl FnMut(&B) -> C) -> Held<C> {
        match self {
            Held::File { extract, others } => {
                Held::File { extract: to(extract), others: to(others) }
            }
            Held::Location(location) => Held::Location(to(location)),
            Held::Nothing => Held::Nothing,
        }
    }
}

/// Where a capture stands in its input: the piece, and the place within it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::set) struct Position {
    pub(super) piece: u32,
    pub(super) index: u32,
}

/// What makes one capture newer than another: its date, no date being older than any; where dates
/// are equal the later input, then the later place within it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank {
    captured_at: Option<UnixSeconds>,
    input: u32,
    position: Position,
}

impl<B> Known<B> {
    pub(super) fn rank(&self) -> Rank {
        Rank {
            captured_at: self.facts.captured_at,
            input: self.facts.input,
            position: self.position,
        }
    }

    pub(super) fn is_file(&self) -> bool {
        matches!(self.held, Held::File { .. })
    }

    /// What came of the request, as far as it matters to a dialect.
    pub(super) fn answer(&self) -> Answer {
        match self.facts.status {
            0 if self.facts.capture_notes.contains(CaptureNote::RedirectToNowhere) => {
                Answer::RedirectToNowhere
            }
            0 => Answer::NoAnswer,
            status => Answer::Status(status),
        }
    }

    /// What the answer means by itself.
    pub(super) fn access(&self, rules: &AccessRules) -> Access {
        resolve(self.answer(), self.facts.redirects_followed.into(), rules)
    }

    /// Whether the server failed, so that the capture may be part of an outage. A redirect to
    /// nowhere is an answer.
    pub(super) fn is_failure(&self, rules: &AccessRules) -> bool {
        let is_unreachable = |access| match access {
            Access::Outcome(outcome) => outcome.state == PolicyState::Unreachable,
            Access::File | Access::Follow | Access::NotModified => false,
        };
        self.answer() != Answer::RedirectToNowhere && is_unreachable(self.access(rules))
    }

    /// Whether it holds what its answer has.
    pub(super) fn is_consistent(&self, rules: &AccessRules) -> bool {
        match (&self.held, self.access(rules)) {
            (Held::File { .. }, access) => access == Access::File,
            (Held::Location(_), access) => access == Access::Follow,
            (Held::Nothing, access) => access != Access::File,
        }
    }
}

/// The notes of both.
pub(super) fn union(some: CaptureNotes, others: CaptureNotes) -> CaptureNotes {
    others.iter().fold(some, CaptureNotes::with)
}
