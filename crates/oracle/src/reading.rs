//! How a crawler reads answers that are no file, where its operator documents another way than the dialect.

use portcullis_dialect::{AccessOutcome, Decision, PolicyState, Verdict};

use crate::history::{Archive, Archived, Policy, Standing};

const DAY: u64 = 24 * 60 * 60;

/// The access where there is no file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerReading {
    /// The answer of the dialect.
    AsDialect,
    /// Everything is allowed, for a file of more bytes than this and for a success other than 200 too.
    Open(usize),
    /// The last file applies for so many days of failures, and then everything is allowed.
    LastCopy(u64),
}

impl Archive<'_> {
    /// Returns the decision for an agent that reads answers in this way, on `url` as of `time`.
    pub fn decide_read(
        &self,
        reading: AnswerReading,
        agents: &[&str],
        url: &str,
        time: u64,
    ) -> Decision {
        let standing = self.standing(url, time);
        let failed = standing.as_ref().filter(|it| !it.is_file);
        let policy = match (failed, reading) {
            (None, AnswerReading::Open(bytes_max)) => {
                standing.as_ref().and_then(|it| open_although_file(it, bytes_max))
            }
            (None, _) | (_, AnswerReading::AsDialect) => None,
            (Some(failed), _) if !failed.is_known => None,
            (Some(failed), AnswerReading::Open(_)) => {
                let has_status = failed.answers.last().is_some_and(|it| it.status > 0);
                has_status.then(|| open(failed))
            }
            (Some(failed), AnswerReading::LastCopy(days)) => {
                self.last_copy(days * DAY, url, time, open(failed))
            }
        };
        self.decide_by(policy.or(standing.map(|it| it.policy)), agents, url)
    }

    /// Returns the policy of the last file or gap of the archive, or `open` once fetches are known to have failed for
    /// longer than `seconds`. `None` if neither is known.
    fn last_copy<'p>(
        &'p self,
        seconds: u64,
        url: &str,
        time: u64,
        open: Policy<'p>,
    ) -> Option<Policy<'p>> {
        let mut dates: Vec<u64> = self.dates().filter(|&at| at <= time).collect();
        dates.sort_unstable_by(|one, other| other.cmp(one));
        dates.dedup();
        // Before each date, another answer may have been the newest.
        let mut before = vec![time];
        before.extend(dates.iter().filter_map(|at| at.checked_sub(1)));
        let (mut failing_since, mut gap_until) = (None, None);
        for (moment, begun) in before.into_iter().zip(dates.iter().map(Some).chain([None])) {
            let standing = self.standing(url, moment)?;
            if standing.is_file {
                return Some(standing.policy);
            }
            if !standing.is_known {
                // The capture of a target may be a little later than that of the redirect.
                let until = *gap_until.get_or_insert(moment);
                let lasts = until - begun.copied().unwrap_or_default();
                let is_redirect = |it: &&Archived| it.status != 304 && it.status / 100 == 3;
                if lasts > DAY || !standing.answers.last().is_some_and(is_redirect) {
                    return Some(standing.policy);
                }
                continue;
            }
            gap_until = None;
            if let Some(&at) = begun.filter(|at| self.begins_at(url, **at)) {
                failing_since = Some(at);
            }
            if failing_since.is_some_and(|since| time - since > seconds) {
                return Some(open);
            }
        }
        None
    }

    /// Whether an answer on the way to the policy of `url` was received at this time. The first second of
    /// 1970 stands for no date.
    fn begins_at(&self, url: &str, at: u64) -> bool {
        at > 0
            && self
                .standing(url, at)
                .is_some_and(|it| it.answers.iter().any(|answer| answer.at == Some(at)))
    }
}

/// The outcome of a file that is not read by whom silence is permission.
fn open_although_file<'a>(standing: &Standing<'_>, bytes_max: usize) -> Option<Policy<'a>> {
    let Policy::File(text) = standing.policy else { return None };
    let state = match standing.answers.last()?.status {
        201..=299 => PolicyState::Unavailable,
        _ if text.len() > bytes_max => PolicyState::NoRules,
        _ => return None,
    };
    Some(Policy::Outcome(AccessOutcome { state, verdict: Verdict::Allow }))
}

/// The outcome of a failure for whom silence is permission.
fn open<'a>(standing: &Standing<'_>) -> Policy<'a> {
    let state = match standing.policy {
        Policy::File(_) => PolicyState::Unreachable,
        Policy::Outcome(outcome) => outcome.state,
    };
    Policy::Outcome(AccessOutcome { state, verdict: Verdict::Allow })
}
