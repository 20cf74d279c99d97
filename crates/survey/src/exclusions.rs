//! How many hosts exclude each agent, over the time of a set with history.
//!
//! The time from the first capture to the last is divided evenly. At each of these times, a host
//! counts as in the other figures: once for each of its files that differ.
//!
//! Memory: 4 bytes for each policy and time.

use portcullis_lint::analysis::Reach;
use portcullis_robots::access::UnixSeconds;
use portcullis_set::stored::{PolicyNumber, StoredHost};
use portcullis_set::{Damage, PolicySet};
use serde::Serialize;

use crate::facts::AgentFacts;
use crate::limits::EXCLUSION_TIMES;

/// The number of hosts that exclude each agent, at some times.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Exclusions {
    /// The times, oldest first.
    pub times: Vec<UnixSeconds>,
    /// The number of hosts with a policy, at each time.
    pub hosts: Vec<u64>,
    /// For each agent, in the order of the survey, the number of hosts of which it may fetch nothing,
    /// at each time.
    pub excluding: Vec<Vec<u64>>,
}

/// The hosts that use each policy, by time.
#[derive(Debug, Default)]
pub(crate) struct PolicyTimes {
    times: Vec<UnixSeconds>,
    /// The number of hosts by policy, then by time.
    uses: Vec<u32>,
}

impl PolicyTimes {
    /// Returns the times of a set, with no host; `None` if it has no history, or one time.
    pub fn of(set: &PolicySet) -> Option<PolicyTimes> {
        let dates = set.counts().captured().filter(|_| set.has_history())?;
        let (first, last) = (dates.first.0, dates.last.0);
        let steps = (EXCLUSION_TIMES - 1) as u64;
        // Dates have ten digits, so no product is too large.
        let time = |step: u64| UnixSeconds(first + (last - first) * step / steps);
        let mut times: Vec<UnixSeconds> = (0..=steps).map(time).collect();
        times.dedup();
        let uses = vec![0; set.policy_count() as usize * times.len()];
        (times.len() > 1).then_some(PolicyTimes { times, uses })
    }

    /// Adds a host at each of its times.
    pub fn add(&mut self, set: &PolicySet, host: &StoredHost<'_>) -> Result<(), Damage> {
        let lost = || set.malformed_host("a host had a policy that is not there");
        let mut before: Vec<Option<PolicyNumber>> = vec![None; self.times.len()];
        for https in host.schemes() {
            let Some(timeline) = host.timeline(https)? else { continue };
            for (place, time) in self.times.iter().enumerate() {
                let Some(index) = timeline.index_at(*time)? else { continue };
                let policy = timeline.policy(index);
                if before[place].replace(policy) != Some(policy) {
                    let at = policy.index() * self.times.len() + place;
                    *self.uses.get_mut(at).ok_or_else(lost)? += 1;
                }
            }
        }
        Ok(())
    }

    /// Returns the counts of no agent's exclusions yet.
    pub fn exclusions(&self, agents: usize) -> Exclusions {
        let none = vec![0; self.times.len()];
        Exclusions { times: self.times.clone(), hosts: none.clone(), excluding: vec![none; agents] }
    }

    /// Adds what a policy says to each agent.
    pub fn count(&self, policy: PolicyNumber, agents: &[AgentFacts], exclusions: &mut Exclusions) {
        let times = self.times.len();
        let uses = &self.uses[policy.index() * times..][..times];
        let add = |counts: &mut Vec<u64>| {
            counts.iter_mut().zip(uses).for_each(|(count, hosts)| *count += u64::from(*hosts));
        };
        add(&mut exclusions.hosts);
        let excluded = exclusions.excluding.iter_mut().zip(agents);
        let excluded = excluded.filter(|(_, facts)| facts.access == Some(Reach::Nothing));
        excluded.for_each(|(counts, _)| add(counts));
    }
}
