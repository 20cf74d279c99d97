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
    Failures, Period, PolicyNumber, Read, StoredCapture, StoredMoment, StoredTimeline,
};
use portcullis_set::{Damage, PolicySet};

use crate::origins::PolicyUse;

/// The policy that each agent reads instead; empty if none reads another.
pub(crate) type Reads = Box<[Option<Read>]>;

/// A policy, and what agents read in its place.
pub(crate) type PolicyRead = (PolicyNumber, Reads);

/// The origins and hosts of a policy that agents read in one way.
#[derive(Debug, Default)]
pub(crate) struct ReadUse {
    pub used: PolicyUse,
    /// By agent, the hosts of which it reads the other origin in another way; empty if there are none.
    more_hosts: Vec<u64>,
}

impl ReadUse {
    /// Counts an origin. `other` is what was read of the other origin of its host, if that was counted.
    pub fn add(&mut self, read: &PolicyRead, other: Option<&PolicyRead>) {
        let other = other.filter(|other| other.0 == read.0);
        self.used.origins += 1;
        self.used.hosts += u64::from(other.is_none());
        let Some(other) = other.filter(|other| other.1 != read.1) else { return };
        self.more_hosts.resize(read.1.len().max(other.1.len()), 0);
        let of = |reads: &Reads, agent: usize| reads.get(agent).copied().flatten();
        for (agent, more) in self.more_hosts.iter_mut().enumerate() {
            *more += u64::from(of(&read.1, agent) != of(&other.1, agent));
        }
    }

    /// Returns the origins, and the hosts as one agent reads them.
    pub fn by(&self, agent: usize) -> PolicyUse {
        let more = self.more_hosts.get(agent).copied().unwrap_or_default();
        PolicyUse { hosts: self.used.hosts + more, ..self.used }
    }
}

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
        self.at_with((policy, capture), timeline, at, &mut Failures::default())
    }

    /// As [`Readings::at`], with the failures that were read last.
    fn at_with(
        &self,
        (policy, capture): (PolicyNumber, &StoredCapture<'_>),
        timeline: Option<&StoredTimeline<'_>>,
        at: Option<UnixSeconds>,
        known: &mut Failures,
    ) -> Result<Reads, Damage> {
        let timeline = timeline.map(|timeline| (timeline, self.time(capture, at)));
        let read = |reading: &Reading| capture.read_by(*reading, policy, timeline, known);
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
        let (mut periods, mut known) = (Vec::<ReadPeriod<'s>>::new(), Failures::default());
        for (number, moment) in moments.iter().enumerate() {
            let next = moments.get(number + 1).map_or(TIMELINE_SECONDS_END, |next| next.since.0);
            let end = next.saturating_sub(1).max(moment.since.0);
            let mut at = |time| {
                let (of, time) = ((moment.policy, &moment.capture), Some(UnixSeconds(time)));
                self.at_with(of, Some(timeline), time, &mut known)
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
