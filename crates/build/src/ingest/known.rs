//! The captures of one resource that may still count: a list, oldest first.
//!
//! Without history these are the newest capture; the newest file, which a later "not modified" may
//! confirm and which may serve again in an outage; the newest answer that is no failure; and the failures
//! since then, because an answer may follow that is newer than only some of them. A revisit since the
//! newest file is kept too, because a later one may repeat it, and so is the newest file since then that the
//! archive lacks, which a later "not modified" confirms. Everything else is dropped at once, so memory grows
//! with the resources, the failures of ongoing outages, and revisits.
//!
//! The result does not depend on the order of the captures. Nothing here can fail.

use std::cmp::Reverse;
use std::collections::HashMap;

use portcullis_captures::PayloadNames;
use portcullis_dialect::decision::PolicyState;
use portcullis_dialect::{Access, AccessRules, Fetched};
use portcullis_robots::access::{CachingHeaders, CaptureNote, CaptureNotes, UnixSeconds, expiry};
use portcullis_set::stored::CaptureFacts;

use super::rivals::{self, Rivals};
use crate::pool::BlobID;
use crate::standing::Content;

/// The captures of the resources under a key, by [`Slot`](super::place::Slot); none if there is no such
/// resource.
pub(super) type Resources<B = BlobID, L = B> = [Vec<Known<B, L>>; 2];

/// A key with its captures.
pub(super) type Keyed = (Box<[u8]>, Resources);

/// Which captures of a resource count: by these rules, and all of them for the history of origins or
/// those alone that can still be the newest.
pub(super) type Keeps = (&'static AccessRules, bool);

/// Sorts the captures of a resource, and drops those that no longer count, unless all are kept. Returns
/// how many without a date it drops: what they were captured before is a guess. Single lines that may be rows
/// of rules come last, one for each second.
pub(super) fn settle_order<B: PartialEq>(captures: &mut Vec<Known<B>>, keeps: Keeps) -> u64 {
    let (rules, keeps_all) = keeps;
    captures.sort_by_key(|known| known.rank(rules));
    if keeps_all || captures.len() < 2 {
        return 0;
    }
    let undated = |captures: &[Known<B>]| {
        captures.iter().filter(|known| known.facts.captured_at.is_none()).count() as u64
    };
    let before = undated(captures);
    let (lines, unplaced) = (rivals::take_lines(captures), take_unplaced(captures));
    drop_superseded(captures, rules);
    captures.extend(lines);
    captures.extend(unplaced);
    before - undated(captures)
}

/// The date of a lost capture whose time cannot be read, until all inputs are.
pub(super) const UNPLACED: UnixSeconds = UnixSeconds(u64::MAX);

/// Takes the captures without a place out of those of a resource. The last of an input stands for all of it.
fn take_unplaced<B>(captures: &mut Vec<Known<B>>) -> Vec<Known<B>> {
    let is_unplaced = |known: &mut Known<B>| known.facts.captured_at == Some(UNPLACED);
    let mut unplaced: Vec<_> = captures.extract_if(.., is_unplaced).collect();
    unplaced.sort_by_key(|known| (known.facts.input, Reverse(known.position)));
    unplaced.dedup_by_key(|known| known.facts.input);
    unplaced
}

/// The date of the newest capture of each input, lost ones included, that has one.
#[derive(Clone, Debug, Default)]
pub(super) struct NewestDates(pub(super) HashMap<u32, UnixSeconds>);

impl NewestDates {
    /// Gives the lost captures without a place among those of a resource that of the newest of their input, or
    /// of all inputs if theirs has no date.
    ///
    /// † It may be newer than all others of its input, which say nothing about what it was.
    pub(super) fn place<B>(&self, captures: &mut [Known<B>], rules: &AccessRules) {
        for lost in captures.iter_mut().filter(|it| it.facts.captured_at == Some(UNPLACED)) {
            let own = self.0.get(&lost.facts.input);
            let date = own.or_else(|| self.0.values().max()).copied();
            lost.facts.captured_at = date;
            lost.facts.expires_at =
                date.map(|date| expiry(&CachingHeaders::default(), date, &rules.freshness));
            lost.position = u64::MAX;
        }
    }
}

/// Drops the captures that no longer count. They are in order.
fn drop_superseded<B: PartialEq>(captures: &mut Vec<Known<B>>, rules: &AccessRules) {
    let Some(newest) = captures.len().checked_sub(1) else { return };
    rivals::compare(captures);
    let date = |known: &Known<B>| known.facts.captured_at;
    let file = captures.iter().rposition(Known::is_file);
    let is_answer = |known: &Known<B>| date(known).is_some() && !known.is_failure(rules);
    let answer = captures.iter().rposition(is_answer);
    let answered_at = answer.and_then(|answer| date(&captures[answer]));
    let lost = captures.iter().rposition(|known| known.facts.lacks_body());
    let mut next = 0..;
    captures.retain(|known| {
        let index = next.next();
        let fails_since = || date(known) >= answered_at.max(Some(UnixSeconds(0)));
        index == Some(newest)
            || (index == file || index == answer)
            || (index == lost && index > file)
            || (known.is_failure(rules) && fails_since())
            || (matches!(known.held, Held::Repeated(_)) && index > file)
    });
}

/// Returns whether both resources of a key have the same captures. Those of redirects may lead elsewhere.
pub(super) fn are_same<B: PartialEq>([http, https]: &Resources<B>) -> bool {
    let are_same = |(one, other): (&Known<B>, &Known<B>)| {
        (&one.facts, &one.held) == (&other.facts, &other.held)
    };
    !http.is_empty() && http.len() == https.len() && http.iter().zip(https).all(are_same)
}

/// Gives each revisit that names its file in another way than by a date the date of that file, if it is the
/// newest one then. All captures of the resource have to be there, oldest first.
pub(super) fn date_repeated<B>(captures: &mut [Known<B>]) {
    let mut file: Option<(Option<UnixSeconds>, PayloadNames)> = None;
    for known in captures {
        match &mut known.held {
            Held::File { .. } => file = Some((known.facts.captured_at, known.payload)),
            Held::Repeated(date @ None) => {
                let named = file.filter(|(_, payload)| payload.names(&known.payload));
                *date = named.and_then(|(captured_at, _)| captured_at);
            }
            Held::Repeated(Some(_)) | Held::Location(_) | Held::Nothing => {}
        }
    }
}

/// A capture, reduced to what can count, with its files as `B`s and the location of its redirect as `L`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known<B, L = B> {
    /// How the capture was made. The redirects are those within the capture itself.
    pub(super) facts: CaptureFacts,
    /// Where it is in its input: the piece in the upper half, the index in the piece in the lower.
    pub(super) position: u64,
    pub(super) held: Held<B, L>,
    /// The names of the capture's file in the archives of the run; empty in a log.
    pub(super) payload: PayloadNames,
    pub(super) rivals: Rivals,
}

/// The bytes of a capture that may be needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Held<B, L = B> {
    /// The file's extract and its other records.
    File {
        extract: B,
        others: B,
        /// Whether the file has a rule in a group.
        has_rules: bool,
    },
    /// The target of a redirect, unresolved.
    Location(L),
    /// A revisit of the file of the same resource that was captured at this time; `None` if the
    /// archive does not say which.
    Repeated(Option<UnixSeconds>),
    Nothing,
}

impl Known<BlobID> {
    /// Returns what a file says.
    pub(super) fn content(&self) -> Option<Content> {
        match self.held {
            Held::File { extract, others, has_rules } => {
                Some(Content::from_file(extract, others, has_rules, self.facts.file_notes))
            }
            Held::Location(_) | Held::Repeated(_) | Held::Nothing => None,
        }
    }
}

impl<B> Known<B> {
    /// Makes the capture one whose file the archive lacks.
    pub(super) fn lose_file(&mut self) {
        let CaptureFacts { captured_at, expires_at, input, .. } = self.facts;
        let capture_notes = CaptureNotes::EMPTY.with(CaptureNote::Truncated);
        let facts = CaptureFacts::default();
        self.facts = CaptureFacts { captured_at, expires_at, input, capture_notes, ..facts };
        (self.held, self.payload) = (Held::Nothing, PayloadNames::default());
    }

    /// Returns the rank of the capture, which is greater for a newer one: by date (no date is
    /// oldest), then by input, then by position in the input.
    ///
    /// † Of two captures in one second a failure counts as the later one, in any order: if it was,
    /// RFC 9309, section 2.3.1.4, disallows everything.
    pub(super) fn rank(&self, rules: &AccessRules) -> (Option<UnixSeconds>, bool, u32, u64) {
        let CaptureFacts { captured_at, input, .. } = self.facts;
        let fails = captured_at.is_some()
            && matches!(self.state(rules), Some(PolicyState::Unreachable | PolicyState::Deferred));
        (captured_at, fails, input, self.position)
    }

    pub(super) fn is_file(&self) -> bool {
        matches!(self.held, Held::File { .. })
    }

    /// Returns what the answer means, after the redirects within the capture.
    pub(super) fn access(&self, rules: &AccessRules) -> Access {
        rules.resolve(self.facts.answer(), self.facts.redirects_followed.into())
    }

    /// Whether the capture leads to a URL that the archive does not have.
    pub(super) fn lacks_target(&self, rules: &AccessRules) -> bool {
        self.facts.lacks_target() && self.access(rules) == Access::Follow
    }

    /// Returns whether the server failed, so that the capture may be part of an outage. It did not where the archive
    /// lacks what it sent.
    pub(super) fn is_failure(&self, rules: &AccessRules) -> bool {
        self.state(rules) == Some(PolicyState::Unreachable) && !self.facts.lacks_body()
    }

    /// Returns the state of a policy without a file; `None` for a file, and for a redirect, even to
    /// nowhere.
    fn state(&self, rules: &AccessRules) -> Option<PolicyState> {
        match self.access(rules) {
            Access::Outcome(outcome) if self.facts.answer() != Fetched::RedirectToNowhere => {
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
            (Held::Repeated(_), access) => access == Access::NotModified,
            (Held::Nothing, access) => access != Access::File,
        }
    }
}
