//! The policy that a crawler reads instead of an origin's, by its [`Reading`].
//!
//! Policies are shared by origins, and a reading depends on the capture: on its status, the length of its
//! file, and on what was received before. So this is asked for each origin.
//!
//! † Silence is permission only where the server gave an answer that is no file. A body that is damaged, cut or
//! missing, a revisit or a 304 whose original is not known, and a redirect to what was not captured, or of
//! which the archive has no header fields, are gaps of the archive, and no answer at all is not one: then the
//! dialect decides.
//!
//! † A set without history does not say since when fetches fail, nor which file there was. The dialect's
//! outcome stays then, and where the captures begin with failures, until these have lasted as long as a
//! copy lasts: a copy that is not known never allows.
//!
//! † A gap is kept as a file would be, because a crawler has a file that the archive does not have: after it,
//! the outcome of the gap decides for as long as a copy lasts. A missing target is such a gap if it was missing
//! for more than a day: until then, its capture may only be later than that of the redirect.
//!
//! Cost: a last file is looked for through all failures since then, one binary search each. A caller that keeps
//! the [`Failures`] of an origin reads each of them once; origins that redirect to one resource read its failures
//! once each.

use std::collections::BTreeMap;

use portcullis_dialect::decision::{PolicyState, Reason};
use portcullis_dialect::dialect::AccessOutcome;
use portcullis_robots::access::{CaptureNote, UnixSeconds};
use portcullis_robots::policy::{Reading, WithoutFile};
use portcullis_robots::syntax::NoteKind;

use super::{PolicyNumber, StoredCapture, StoredTimeline};
use crate::file::Damage;

const DAY_SECONDS: u64 = 24 * 60 * 60;

/// The policy that a crawler reads instead of an origin's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Read {
    /// Nothing: everything is allowed, for this reason.
    Open(Reason),
    /// The policy of the last file.
    Copy(PolicyNumber),
}

/// A capture that is no file.
struct Failure {
    outcome: AccessOutcome,
    given: Given,
}

/// The answer of the server in a capture that is no file. A gap of the archive is not an answer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Given {
    /// The server gave this answer.
    ByServer,
    /// The server gave no answer when it was asked for the archive.
    Nothing,
    /// The server answered with a file, or led to one, that the archive does not have.
    NotKnown,
}

impl<'s> StoredCapture<'s> {
    /// Returns what a crawler reads in place of `policy`, which is that of this capture; `None` if it reads
    /// the policy. With history, `timeline` is that of the origin, and the time that is asked about. `known` are
    /// the failures that were read last, of any origin.
    ///
    /// # Errors
    ///
    /// If a part of the set that is read is damaged.
    pub fn read_by(
        &self,
        reading: Reading,
        policy: PolicyNumber,
        timeline: Option<(&StoredTimeline<'s>, UnixSeconds)>,
        known: &mut Failures,
    ) -> Result<Option<Read>, Damage> {
        match (reading.without_file, timeline) {
            (WithoutFile::AsDialect, _) | (WithoutFile::LastCopy { .. }, None) => Ok(None),
            (WithoutFile::Open { file_bytes_max }, _) => {
                Ok(self.why_open(policy, file_bytes_max)?.map(Read::Open))
            }
            (WithoutFile::LastCopy { days }, Some((timeline, at))) => {
                let failure = self.failure(policy)?;
                let Some(failure) = failure.filter(|it| it.given != Given::NotKnown) else {
                    return Ok(None);
                };
                let failures = known.up_to(at, timeline)?;
                let seconds = u64::from(days) * DAY_SECONDS;
                let is_given_up = |since| at.since(since) > seconds;
                Ok(match failures.dated.is_some_and(is_given_up) {
                    true => Some(Read::Open(failure.outcome.decision().reason)),
                    false => failures.file.map(Read::Copy),
                })
            }
        }
    }

    /// Returns the answer if it was not a file; a file that applies again after a long outage is none.
    fn failure(&self, policy: PolicyNumber) -> Result<Option<Failure>, Damage> {
        let outcome = self.set.policy_head(policy)?.access()?;
        let (notes, status) = (self.facts.capture_notes, self.facts.status);
        let is_again = notes.contains(CaptureNote::OutageLastGoodCopy);
        let state = if is_again { PolicyState::Unreachable } else { outcome.state };
        let given = match status {
            // Where a body is damaged, the status is 0 too.
            0 if self.facts.lacks_body() || notes.contains(CaptureNote::Revisit) => Given::NotKnown,
            0 => Given::Nothing,
            _ if is_again || notes.contains(CaptureNote::TooManyRedirects) => Given::ByServer,
            // The body is missing, or is the one that was received before.
            200..=299 | 304 => Given::NotKnown,
            _ if notes.contains(CaptureNote::RedirectTargetMissing) => Given::NotKnown,
            _ => Given::ByServer,
        };
        let outcome = AccessOutcome { state, ..outcome };
        Ok((!state.is_file()).then_some(Failure { outcome, given }))
    }

    /// Returns why a crawler that takes silence for permission may fetch everything.
    fn why_open(
        &self,
        policy: PolicyNumber,
        file_bytes_max: u32,
    ) -> Result<Option<Reason>, Damage> {
        if let Some(Failure { outcome, given }) = self.failure(policy)? {
            return Ok((given == Given::ByServer).then(|| outcome.decision().reason));
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

/// Runs of failures that are kept of one timeline: 1,024, of about 64 bytes.
///
/// Source: our choice. Questions about times of more runs in turn read theirs again.
const RUNS_KEPT: usize = 1024;

/// The failures of one origin that were read. A caller keeps them, so that all questions about one origin read its
/// moments once.
#[derive(Clone, Debug, Default)]
pub struct Failures {
    /// The number that the timeline has.
    timeline: Option<u32>,
    /// By the beginning of the newest failure.
    runs: BTreeMap<UnixSeconds, Run>,
}

/// Failures that follow one another, and what was before them.
#[derive(Clone, Copy, Debug)]
struct Run {
    /// When the oldest of them begins.
    oldest: UnixSeconds,
    /// When the oldest that has a date begins.
    dated: Option<UnixSeconds>,
    /// The policy of the file or the gap before them; `None` if there is neither.
    file: Option<PolicyNumber>,
}

impl Failures {
    /// Returns the failures up to a time, which may be any.
    fn up_to(&mut self, at: UnixSeconds, timeline: &StoredTimeline<'_>) -> Result<Run, Damage> {
        if self.timeline != Some(timeline.capture()) || self.runs.len() >= RUNS_KEPT {
            *self = Failures { timeline: Some(timeline.capture()), runs: BTreeMap::new() };
        }
        let mut run = Run { oldest: at, dated: None, file: None };
        let (mut time, mut newest, mut gap_until) = (at, None, None);
        while let Some(found) = timeline.find(time) {
            let moment = timeline.moment(found)?;
            newest.get_or_insert(moment.since);
            if let Some((known, older)) = self.run_of(moment.since) {
                self.runs.remove(&known);
                newest = newest.max(Some(known));
                run = Run { dated: older.dated.or(run.dated), ..older };
                break;
            }
            match moment.capture.failure(moment.policy)? {
                Some(failure) if failure.given != Given::NotKnown => {
                    gap_until = None;
                    // A capture without a date does not say when it failed, even when its outage becomes long.
                    if moment.since.0 > 0 && moment.begins_at_capture() {
                        run.dated = Some(moment.since);
                    }
                }
                Some(_) if moment.capture.facts.lacks_target() => {
                    let until: UnixSeconds = *gap_until.get_or_insert(time);
                    if until.since(moment.since) > DAY_SECONDS {
                        run.file = Some(moment.policy);
                        break;
                    }
                }
                _ => {
                    run.file = Some(moment.policy);
                    break;
                }
            }
            run.oldest = moment.since;
            let Some(before) = moment.since.min(time).0.checked_sub(1) else { break };
            time = UnixSeconds(before);
        }
        self.runs.extend(newest.map(|newest| (newest, run)));
        Ok(run)
    }

    /// Returns the run that has a failure that begins at a time, and when its newest one begins.
    fn run_of(&self, since: UnixSeconds) -> Option<(UnixSeconds, Run)> {
        let (newest, run) = self.runs.range(since..).next()?;
        (run.oldest <= since).then_some((*newest, *run))
    }
}
