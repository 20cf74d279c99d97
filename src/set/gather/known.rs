//! One capture, reduced to what can count: when, what came of it, what its file says.

use crate::access::{Answer, UnixSeconds};
use crate::capture::CaptureNotes;

use super::super::standing::CaptureFacts;

/// A capture with its octets as `B`s.
#[derive(Clone, Debug)]
pub(super) struct Known<B> {
    /// How it came to be known; the redirects are those within the capture itself.
    pub(super) facts: CaptureFacts,
    /// Where it stands in its input.
    pub(super) position: Position,
    pub(super) answer: Answer,
    pub(super) held: Held<B>,
}

/// The octets of a capture that may be needed.
#[derive(Clone, Debug)]
pub(super) enum Held<B> {
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Position {
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
}

/// The notes of both.
pub(super) fn union(some: CaptureNotes, others: CaptureNotes) -> CaptureNotes {
    others.iter().fold(some, CaptureNotes::with)
}
