//! The policy that a crawler reads instead of an origin's, by its [`Reading`].
//!
//! Policies are shared by origins, and a reading depends on the capture: on its status, the length of its
//! file, and on what was received before. So this is asked for each origin.
//!
//! † A set without history does not say since when fetches fail, nor which file there was. The dialect's
//! outcome stays then, and where the captures begin with failures, until these have lasted as long as a
//! copy lasts: a copy that is not known never allows.

use portcullis_dialect::decision::{PolicyState, Reason};
use portcullis_dialect::dialect::AccessOutcome;
use portcullis_robots::access::{CaptureNote, UnixSeconds};
use portcullis_robots::policy::{Reading, WithoutFile};
use portcullis_robots::syntax::NoteKind;

use super::{PolicyNumber, PolicySet, StoredCapture, StoredTimeline};
use crate::file::Damage;
use crate::limits::FAILED_MOMENTS_MAX;

const DAY_SECONDS: u64 = 24 * 60 * 60;

/// The policy that a crawler reads instead of an origin's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Read {
    /// Nothing: everything is allowed, for this reason.
    Open(Reason),
    /// The policy of the last file.
    Copy(PolicyNumber),
}

impl<'s> StoredCapture<'s> {
    /// Returns what a crawler reads in place of `policy`, which is that of this capture; `None` if it reads
    /// the policy. With history, `timeline` is that of the origin, and the time that is asked about.
    ///
    /// # Errors
    ///
    /// If a part of the set that is read is damaged.
    pub fn read_by(
        &self,
        reading: Reading,
        policy: PolicyNumber,
        timeline: Option<(&StoredTimeline<'s>, UnixSeconds)>,
    ) -> Result<Option<Read>, Damage> {
        match (reading.without_file, timeline) {
            (WithoutFile::AsDialect, _) | (WithoutFile::LastCopy { .. }, None) => Ok(None),
            (WithoutFile::Open { file_bytes_max }, _) => {
                Ok(self.why_open(policy, file_bytes_max)?.map(Read::Open))
            }
            (WithoutFile::LastCopy { days }, Some((timeline, at))) => {
                if let Some(outcome) = self.failure(policy)? {
                    let seconds = u64::from(days) * DAY_SECONDS;
                    return self.set.last_copy(timeline, at, seconds, outcome);
                }
                Ok(None)
            }
        }
    }

    /// Returns what the answer was if it was not a file; a file that applies again after a long outage is
    /// none.
    fn failure(&self, policy: PolicyNumber) -> Result<Option<AccessOutcome>, Damage> {
        let outcome = self.set.policy(policy)?.access()?;
        let is_again = self.facts.capture_notes.contains(CaptureNote::OutageLastGoodCopy);
        let state = if is_again { PolicyState::Unreachable } else { outcome.state };
        Ok((!state.is_file()).then_some(AccessOutcome { state, ..outcome }))
    }

    /// Returns why a crawler that takes silence for permission may fetch everything.
    fn why_open(
        &self,
        policy: PolicyNumber,
        file_bytes_max: u32,
    ) -> Result<Option<Reason>, Damage> {
        if let Some(outcome) = self.failure(policy)? {
            return Ok(Some(outcome.decision().reason));
        }
        let facts = &self.facts;
        // A file that was cut below that length may be shorter.
        let is_cut = facts.file_notes.contains(NoteKind::FileCut)
            || facts.capture_notes.contains(CaptureNote::BodyCut);
        let is_too_long =
            facts.file_bytes > file_bytes_max || is_cut && facts.file_bytes == file_bytes_max;
        Ok(match facts.status {
            201..=299 => Some(Reason::Unavailable),
            _ => is_too_long.then_some(Reason::NoRules),
        })
    }
}

impl PolicySet {
    /// Returns what a crawler reads that keeps the last file for `seconds` of failures, at a time when
    /// the answer was no file, with this outcome.
    fn last_copy(
        &self,
        timeline: &StoredTimeline<'_>,
        at: UnixSeconds,
        seconds: u64,
        outcome: AccessOutcome,
    ) -> Result<Option<Read>, Damage> {
        let open = Some(Read::Open(outcome.decision().reason));
        let mut time = at;
        for _ in 0..FAILED_MOMENTS_MAX {
            let Some(found) = timeline.find(time) else { return Ok(None) };
            let moment = timeline.moment(found)?;
            if moment.capture.failure(moment.policy)?.is_none() {
                return Ok(Some(Read::Copy(moment.policy)));
            }
            // A capture without a date does not say when it failed.
            let has_date = moment.since.0 > 0;
            if has_date && at.since(moment.since) > seconds {
                return Ok(open);
            }
            match moment.since.min(time).0.checked_sub(1) {
                Some(before) => time = UnixSeconds(before),
                None => return Ok(None),
            }
        }
        Ok(None)
    }
}
