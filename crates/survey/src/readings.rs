//! Agents that read answers in another way than the dialect: what they read instead of the policy of an
//! origin, as of a time and over time.
//!
//! A period of such agents may end within one of the policy: a last file is given up at some time, and
//! two captures without a file may be read differently.
//!
//! Cost: nothing for other agents. For these, a look at the capture of each origin, and over time at each of
//! its moments; if a last file is given up within one, a binary search for when.

use portcullis_robots::access::UnixSeconds;
use portcullis_robots::policy::{Crawler, Reading, WithoutFile};
use portcullis_set::limits::TIMELINE_SECONDS_END;
use portcullis_set::stored::{
    Period, PolicyNumber, Read, StoredCapture, StoredMoment, StoredTimeline,
};
use portcullis_set::{Damage, PolicySet};

/// The policy that each agent reads instead; empty if none reads another.
pub(crate) type Reads = Box<[Option<Read>]>;

/// The readings of some agents.
#[derive(Debug)]
pub(crate) struct Readings {
    /// By agent; empty if all read as the dialect does.
    by_agent: Vec<Reading>,
    /// The time as of which the newest policies were settled, if that is known.
    settled_at: Option<UnixSeconds>,
}

/// A time in which the policy of an origin stays the same, and all that agents read in its place.
pub(crate) struct ReadPeriod<'s> {
    pub period: Period,
    /// Its moments. The first may have begun before.
    pub moments: Vec<StoredMoment<'s>>,
    pub reads: Reads,
}

impl<'s> ReadPeriod<'s> {
    pub fn last(&self) -> &StoredMoment<'s> {
        self.moments.last().expect("a period has a moment")
    }
}

impl Readings {
    pub fn of<'a>(
        set: &PolicySet,
        agents: impl Iterator<Item = &'a Crawler>,
    ) -> Result<Readings, Damage> {
        let mut by_agent: Vec<Reading> = agents.map(Crawler::reading).collect();
        if by_agent.iter().all(|it| it.without_file == WithoutFile::AsDialect) {
            by_agent.clear();
        }
        Ok(Readings { by_agent, settled_at: set.settled_at()? })
    }

    /// Returns the time that is asked about, or that of the newest policy of an origin, which has this capture.
    fn time(&self, capture: &StoredCapture<'_>, at: Option<UnixSeconds>) -> UnixSeconds {
        let begins_at = capture.facts.begins_at();
        let newest = || self.settled_at.map_or(begins_at, |settled_at| settled_at.max(begins_at));
        at.unwrap_or_else(newest)
    }

    /// Returns what each agent reads instead of the policy of an origin, as of a time or the newest; empty
    /// if no agent reads anything else.
    pub fn at(
        &self,
        (policy, capture): (PolicyNumber, &StoredCapture<'_>),
        timeline: Option<&StoredTimeline<'_>>,
        at: Option<UnixSeconds>,
    ) -> Result<Reads, Damage> {
        let timeline = timeline.map(|timeline| (timeline, self.time(capture, at)));
        let read = |reading: &Reading| capture.read_by(*reading, policy, timeline);
        let reads = self.by_agent.iter().map(read).collect::<Result<Reads, Damage>>()?;
        Ok(if reads.iter().all(Option::is_none) { Reads::default() } else { reads })
    }

    /// Returns the period of an origin at a time, or of the newest policy, which has this capture; `None` before
    /// the first one.
    pub fn period(
        &self,
        timeline: &StoredTimeline<'_>,
        capture: &StoredCapture<'_>,
        at: Option<UnixSeconds>,
    ) -> Result<Option<Period>, Damage> {
        let time = self.time(capture, at);
        if self.by_agent.is_empty() {
            return timeline.find(time).map(|at| timeline.period(at)).transpose();
        }
        let periods = self.periods(timeline)?.into_iter().map(|it| it.period);
        Ok(periods.take_while(|it| it.since <= time).last())
    }

    /// Returns the periods of an origin, oldest first.
    pub fn periods<'s>(
        &self,
        timeline: &StoredTimeline<'s>,
    ) -> Result<Vec<ReadPeriod<'s>>, Damage> {
        let moments = timeline.moments().collect::<Result<Vec<_>, Damage>>()?;
        let mut periods: Vec<ReadPeriod<'s>> = Vec::new();
        for (number, moment) in moments.iter().enumerate() {
            let next = moments.get(number + 1).map_or(TIMELINE_SECONDS_END, |next| next.since.0);
            let end = next.saturating_sub(1).max(moment.since.0);
            let at = |time| {
                self.at((moment.policy, &moment.capture), Some(timeline), Some(UnixSeconds(time)))
            };
            let (mut since, mut reads, last) = (moment.since.0, at(moment.since.0)?, at(end)?);
            loop {
                match periods.last_mut() {
                    Some(it) if it.last().policy == moment.policy && it.reads == reads => {
                        it.moments.push(*moment);
                    }
                    before => {
                        let period = Period { since: UnixSeconds(since), until: None };
                        before.into_iter().for_each(|it| it.period.until = Some(period.since));
                        let (moments, reads) = (vec![*moment], reads.clone());
                        periods.push(ReadPeriod { period, moments, reads });
                    }
                }
                if reads == last {
                    break;
                }
                // A crawler that gives up a last file does not take it up again before the next moment.
                let mut other = end;
                while other - since > 1 {
                    let between = since + (other - since) / 2;
                    let place = if at(between)? == reads { &mut since } else { &mut other };
                    *place = between;
                }
                (since, reads) = (other, at(other)?);
            }
        }
        Ok(periods)
    }
}
