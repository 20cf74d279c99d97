//! Decisions as of a time: the moment of each record's origin that its time falls in.
//!
//! Stage 2 finds the newest policy of an origin. This stage replaces it by the policy that was in
//! force: the search is among the moments of that origin alone. A block takes three steps, each of
//! which prefetches for the next: the place of each timeline, its moments, the search.
//!
//! Cost: one look at the host, and one binary search per record. Nothing is done for a block
//! without times.

use portcullis_dialect::decision::{Answer, Decision};
use portcullis_dialect::usage::Preference;
use portcullis_robots::access::UnixSeconds;

use super::classifier::{BeforeFirst, Classifier};
use super::freshness::{Age, AgeCounts, Freshness};
use super::periods::PeriodMemory;
use super::pieces::Pieces;
use crate::Damage;
use crate::stored::{MomentAt, Period, RecordPolicy, StoredCapture, StoredMoment, StoredTimeline};

/// The times as of which the records of a block are decided.
#[derive(Clone, Copy, Debug, Default)]
pub enum Times<'t> {
    /// After all captures, so that the newest policy of each origin counts, or as of the time of
    /// [`Classifier::as_of`].
    #[default]
    Now,
    /// One time for all records.
    At(UnixSeconds),
    /// A time for each record; `None` for a record that has none.
    Each(&'t [Option<UnixSeconds>]),
}

impl Times<'_> {
    pub(super) fn of(&self, record: usize) -> Option<UnixSeconds> {
        match self {
            Times::Now => None,
            Times::At(time) => Some(*time),
            Times::Each(times) => times[record],
        }
    }
}

/// The policy that was in force for a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InForce {
    /// The date of the newest capture at that time, if it has one.
    pub captured_at: Option<UnixSeconds>,
    /// The time in which the policy stayed the same.
    pub period: Period,
}

/// The answers to a block by the newest policies.
#[derive(Clone, Debug, Default)]
pub struct Now {
    /// The decision of each answer.
    pub decisions: Vec<Answer>,
    /// The preferences, by answer and label; empty if no label is asked about.
    pub preferences: Vec<Preference>,
}

/// The result for a record of a block with times: the moment of an origin's timeline, or why
/// there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// There is no origin.
    Nothing,
    NoTime,
    BeforeFirst,
    /// The capture of the origin, and where the moment is.
    Moment(u32, MomentAt),
}

/// The results of the search of a block besides moments.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TimeSearch {
    /// Whether the time of a record, or its origin at that time, is not known.
    has_undecided: bool,
    /// The number of records that the first capture decides though it is later.
    early: u64,
}

impl Classifier {
    /// Replaces the newest policy of each record in `policies` by the one that was in force.
    pub(super) fn find_moments(
        &self,
        times: Times<'_>,
        pieces: &Pieces,
        policies: &mut [RecordPolicy],
        found: &mut Vec<Found>,
    ) -> Result<TimeSearch, Damage> {
        found.clear();
        found.resize(policies.len(), Found::Nothing);
        let mut captures = Vec::with_capacity(pieces.hosts().len());
        for (number, host) in pieces.hosts().iter().enumerate() {
            let policy = policies[pieces.urls_of_host(number).start].number();
            let capture = policy.map(|_| self.capture_of(host)).transpose()?;
            capture.into_iter().for_each(|capture| self.set.prefetch_timeline(capture));
            captures.push(capture);
        }
        let mut timelines = Vec::with_capacity(captures.len());
        for capture in captures {
            let timeline = capture.map(|capture| self.set.timeline(capture)).transpose()?;
            timeline.iter().for_each(StoredTimeline::prefetch);
            timelines.push(timeline);
        }
        let mut search = TimeSearch::default();
        for (number, timeline) in timelines.iter().enumerate() {
            for url in pieces.urls_of_host(number) {
                if policies[url] != RecordPolicy::NO_URL {
                    let (moment, policy) =
                        self.moment_at(times.of(url), timeline.as_ref(), &mut search)?;
                    (found[url], policies[url]) = (moment, policy);
                }
            }
        }
        Ok(search)
    }

    /// Returns the moment of a timeline at a time, and its policy.
    #[inline]
    fn moment_at(
        &self,
        time: Option<UnixSeconds>,
        timeline: Option<&StoredTimeline<'_>>,
        search: &mut TimeSearch,
    ) -> Result<(Found, RecordPolicy), Damage> {
        let Some(time) = time else {
            search.has_undecided = true;
            return Ok((Found::NoTime, RecordPolicy::UNKNOWN));
        };
        let Some(timeline) = timeline else { return Ok((Found::Nothing, RecordPolicy::UNKNOWN)) };
        let found = match timeline.find(time) {
            None if self.before_first == BeforeFirst::Oldest => {
                let first = timeline.first();
                search.early += u64::from(first.is_some());
                first
            }
            found => found,
        };
        let Some(at) = found else {
            search.has_undecided = true;
            return Ok((Found::BeforeFirst, RecordPolicy::UNKNOWN));
        };
        let policy = self.known(timeline.policy(at)?.into())?;
        Ok((Found::Moment(timeline.capture(), at), policy))
    }

    /// Counts the records of a block by age of their capture. With [`Freshness::withdraws`],
    /// replaces the decisions from captures that are not fresh.
    #[inline(never)]
    pub(super) fn judge_ages(
        &self,
        freshness: &Freshness,
        policies: &[RecordPolicy],
        pieces: &Pieces,
        decisions: &mut [Answer],
    ) -> Result<AgeCounts, Damage> {
        let agents = self.answers_per_record();
        let mut ages = AgeCounts::default();
        for (number, host) in pieces.hosts().iter().enumerate() {
            let urls = pieces.urls_of_host(number);
            if policies[urls.start].number().is_none() {
                continue;
            }
            let capture = self.set.capture_at(self.capture_of(host)?)?;
            let age = freshness.age_at(&capture.facts, freshness.as_of);
            ages.add(age, urls.len() as u64);
            if let Some(decision) = age.withdrawn().filter(|_| freshness.withdraws) {
                let answers = urls.start * agents..urls.end * agents;
                decisions[answers].fill(decision.answer());
            }
        }
        self.set.has_length()?;
        Ok(ages)
    }

    /// Replaces the decisions of records whose time, or whose origin at that time, is not known, and
    /// judges the age of each record's capture at its time.
    pub(super) fn judge_moments(
        &self,
        (search, found): (TimeSearch, &[Found]),
        times: Times<'_>,
        decisions: &mut [Answer],
    ) -> Result<AgeCounts, Damage> {
        let agents = self.answers_per_record();
        let mut ages = AgeCounts { before_first: search.early, ..AgeCounts::default() };
        if !search.has_undecided && self.freshness.is_none() {
            return Ok(ages);
        }
        for (record, &found) in found.iter().enumerate() {
            let instead = match found {
                Found::NoTime => Some(Decision::NO_TIME),
                Found::BeforeFirst => Some(Decision::BEFORE_FIRST),
                _ => self.expired_at(found, times.of(record), &mut ages)?,
            };
            if let Some(decision) = instead {
                let answers = record * agents..(record + 1) * agents;
                decisions[answers].fill(decision.answer());
            }
        }
        self.set.has_length()?;
        Ok(ages)
    }

    /// Counts the age of a moment's capture at a time, and returns the decision that replaces those
    /// from a capture of this age.
    fn expired_at(
        &self,
        found: Found,
        time: Option<UnixSeconds>,
        ages: &mut AgeCounts,
    ) -> Result<Option<Decision>, Damage> {
        let (Some(freshness), Some(time)) = (&self.freshness, time) else { return Ok(None) };
        let Some(moment) = self.moment_of(found)? else { return Ok(None) };
        let age = match moment.since > time {
            true => Age::NotYet,
            false => freshness.age_at(&moment.capture.facts, time),
        };
        ages.add(age, 1);
        Ok(age.withdrawn().filter(|_| freshness.withdraws))
    }

    /// Returns the capture that a record's policy comes from, with times the capture of the moment in force;
    /// `None` if no policy is known.
    pub(super) fn capture_of_record(
        &self,
        pieces: &Pieces,
        policies: &[RecordPolicy],
        found: &[Found],
        record: usize,
    ) -> Result<Option<StoredCapture<'_>>, Damage> {
        if policies[record].number().is_none() {
            return Ok(None);
        }
        if let Some(&found) = found.get(record) {
            return Ok(self.moment_of(found)?.map(|moment| moment.capture));
        }
        let capture = self.capture_of(pieces.host_of_url(record))?;
        self.set.capture_at(capture).map(Some)
    }

    /// Returns when the policy of the moment that was found was in force.
    pub(super) fn in_force(
        &self,
        found: Found,
        periods: &mut PeriodMemory,
    ) -> Result<Option<InForce>, Damage> {
        let Found::Moment(capture, at) = found else { return Ok(None) };
        let timeline = self.set.timeline(capture)?;
        let moment = timeline.moment(at)?;
        let period = periods.get_or_find(capture, moment.since, || timeline.period(at))?;
        Ok(Some(InForce { captured_at: moment.capture.facts.captured_at, period }))
    }

    /// Returns the moment that was found.
    fn moment_of(&self, found: Found) -> Result<Option<StoredMoment<'_>>, Damage> {
        let Found::Moment(capture, at) = found else { return Ok(None) };
        self.set.timeline(capture)?.moment(at).map(Some)
    }
}
