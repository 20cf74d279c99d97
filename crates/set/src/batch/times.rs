//! Decisions as of a time: the moment of each record's origin that its time falls in.
//!
//! Stage 2 finds the newest policy of an origin. This stage replaces it by the policy that was in
//! force: the search is among the moments of that origin alone. A block takes three steps, each of
//! which prefetches for the next: the place of each timeline, its moments, the search.
//!
//! Cost: one look at the host, and one binary search per record. Nothing is done for a block
//! without times.

use portcullis_dialect::decision::Decision;
use portcullis_engine::block::{NO_POLICY, NO_URL, Source};
use portcullis_io::access::UnixSeconds;

use super::Classifier;
use super::classifier::SchemeAndKey;
use super::freshness::AgeCounts;
use super::pieces::Pieces;
use super::session::Session;
use crate::Damage;
use crate::layout::NONE;
use crate::stored::{HostPosition, Period, Place, PolicyNumber, StoredTimeline, place};

/// The times as of which the records of a block are decided.
#[derive(Clone, Copy, Debug, Default)]
pub enum Times<'t> {
    /// After all captures: the newest policy of each origin counts.
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

/// The decision for a time before the first capture of an origin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BeforeFirst {
    /// It is unknown, with the reason `before-first`.
    #[default]
    Unknown,
    /// It is that of the first capture. [`AgeCounts::before_first`] counts such records.
    Oldest,
}

/// The policy that was in force for a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InForce {
    /// The date of the newest capture at that time, if it has one.
    pub captured_at: Option<UnixSeconds>,
    /// The time in which the policy stayed the same.
    pub period: Period,
}

/// What was found for a record of a block with times.
#[derive(Clone, Copy, Debug)]
pub(super) enum Found {
    /// No origin.
    Nothing,
    NoTime,
    BeforeFirst,
    /// The moment at `index` of the timeline of an origin with this newest policy and capture. It is
    /// early if it begins after the time.
    Moment {
        capture: u32,
        policy: PolicyNumber,
        index: u32,
        time: UnixSeconds,
        is_early: bool,
    },
}

impl Classifier {
    /// Decides records as of `time` unless they have times of their own; `None` for after all captures.
    ///
    /// # Panics
    ///
    /// If there is a time and the set has no history.
    #[must_use]
    pub fn as_of(mut self, time: Option<UnixSeconds>) -> Classifier {
        assert!(time.is_none() || self.set.has_history(), "the set has no history");
        self.times = time.map_or(Times::Now, Times::At);
        self
    }

    /// Sets what applies before the first capture of an origin.
    #[must_use]
    pub fn with_before_first(mut self, before_first: BeforeFirst) -> Classifier {
        self.before_first = before_first;
        self
    }

    /// Replaces the newest policy of each record in `policies` by the one that was in force.
    pub(super) fn find_moments(
        &self,
        times: Times<'_>,
        (pieces, origins, hosts): (&Pieces, &[SchemeAndKey<'_>], &[Option<HostPosition>]),
        policies: &mut [u32],
        found: &mut Vec<Found>,
    ) -> Result<(), Damage> {
        found.clear();
        found.resize(policies.len(), Found::Nothing);
        let mut captures = Vec::with_capacity(origins.len());
        for (number, (scheme, _)) in origins.iter().enumerate() {
            let (urls, _) = pieces.urls_of_host(number);
            let host =
                hosts.get(number).copied().flatten().filter(|_| policies[urls.start] < NO_URL);
            let is_https = place(scheme) == Place::Https;
            let capture = match host {
                Some(position) => self.set.host_at(position)?.captures[usize::from(is_https)],
                None => NONE,
            };
            self.set.prefetch_timeline(capture);
            captures.push(capture);
        }
        let timeline = |(number, &capture): (usize, &u32)| {
            let policy = PolicyNumber(policies[pieces.urls_of_host(number).0.start]);
            let is_known = policy.0 < NO_URL && capture != NONE;
            let timeline = is_known.then(|| self.set.timeline(policy, capture)).transpose()?;
            timeline.iter().for_each(StoredTimeline::prefetch);
            Ok(timeline)
        };
        let timelines = captures.iter().enumerate().map(timeline);
        let timelines = timelines.collect::<Result<Vec<_>, Damage>>()?;
        for (number, timeline) in timelines.iter().enumerate() {
            for url in pieces.urls_of_host(number).0 {
                if policies[url] == NO_URL {
                    continue;
                }
                found[url] = self.moment_at(times.of(url), timeline.as_ref(), captures[number])?;
                policies[url] = match (found[url], timeline) {
                    (Found::Moment { index, .. }, Some(timeline)) => {
                        let policy = timeline.policy(index as usize);
                        self.known(Some(policy))?.map_or(NO_POLICY, |policy| policy.0)
                    }
                    _ => NO_POLICY,
                };
            }
        }
        Ok(())
    }

    fn moment_at(
        &self,
        time: Option<UnixSeconds>,
        timeline: Option<&StoredTimeline<'_>>,
        capture: u32,
    ) -> Result<Found, Damage> {
        let Some(time) = time else { return Ok(Found::NoTime) };
        let Some(timeline) = timeline else { return Ok(Found::Nothing) };
        let (index, is_early) = match (timeline.index_at(time)?, self.before_first) {
            (Some(index), _) => (index as u32, false),
            (None, BeforeFirst::Oldest) if timeline.len()? > 0 => (0, true),
            (None, _) => return Ok(Found::BeforeFirst),
        };
        Ok(Found::Moment { capture, policy: timeline.newest_policy(), index, time, is_early })
    }

    /// Replaces the decisions of records whose time, or whose origin at that time, is not known.
    pub(super) fn withdraw_undecided(
        &self,
        found: &[Found],
        (decisions, sources): (&mut [Decision], &mut [Source]),
    ) {
        let agents = self.agents.len();
        for (record, found) in found.iter().enumerate() {
            let decision = match found {
                Found::NoTime => Decision::NO_TIME,
                Found::BeforeFirst => Decision::BEFORE_FIRST,
                Found::Nothing | Found::Moment { .. } => continue,
            };
            let answers = record * agents..(record + 1) * agents;
            decisions[answers.clone()].fill(decision);
            sources[answers].fill(Source::NOWHERE);
        }
    }

    /// Counts the records that the first capture decides though it is later, and judges the age of
    /// each record's capture at the record's time.
    pub(super) fn judge_moments(
        &self,
        found: &[Found],
        (decisions, sources): (&mut [Decision], &mut [Source]),
    ) -> Result<AgeCounts, Damage> {
        let agents = self.agents.len();
        let mut ages = AgeCounts::default();
        for (record, found) in found.iter().enumerate() {
            let Found::Moment { time, is_early, .. } = *found else { continue };
            ages.before_first += u64::from(is_early);
            let Some(freshness) = &self.freshness else { continue };
            let Some((timeline, index)) = self.timeline_of(*found)? else { continue };
            let age = freshness.age_at(&timeline.moment(index)?.capture.facts, time);
            ages.add(age, 1);
            if let Some(decision) = age.withdrawn().filter(|_| freshness.withdraws) {
                let answers = record * agents..(record + 1) * agents;
                decisions[answers.clone()].fill(decision);
                sources[answers].fill(Source::NOWHERE);
            }
        }
        self.set.is_whole()?;
        Ok(ages)
    }

    /// Returns the timeline of the moment that was found, and the index of the moment.
    fn timeline_of(&self, found: Found) -> Result<Option<(StoredTimeline<'_>, usize)>, Damage> {
        let Found::Moment { capture, policy, index, .. } = found else { return Ok(None) };
        Ok(Some((self.set.timeline(policy, capture)?, index as usize)))
    }
}

impl Session {
    /// Returns when the policy for the record at `record` of the last block was in force. `None` if
    /// the block had no times, or no policy was found for the record.
    ///
    /// # Errors
    ///
    /// If a part of the set that is read is damaged.
    ///
    /// # Panics
    ///
    /// If the last block had times and has no such record.
    pub fn in_force(&self, record: usize) -> Result<Option<InForce>, Damage> {
        if self.found.is_empty() {
            return Ok(None);
        }
        let found = self.classifier.timeline_of(self.found[record])?;
        let Some((timeline, index)) = found else { return Ok(None) };
        let captured_at = timeline.moment(index)?.capture.facts.captured_at;
        Ok(Some(InForce { captured_at, period: timeline.period(index)? }))
    }
}
