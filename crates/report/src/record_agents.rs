//! Counts decisions by the agent of each record: verdicts of each agent, the hosts that did not allow
//! what was fetched, and the agents that were not recognised.
//!
//! Cost: an addition per record, and one look-up for a record that was not allowed or whose agent was
//! not recognised. The tables are bounded as those of unknown hosts are.

use portcullis_dialect::decision::Verdict;
use portcullis_rows::list::Block;
use portcullis_set::batch::{Answers, OriginRecords};
use portcullis_set::limits::RECORD_AGENT_BYTES_CACHED_MAX;
use serde::Serialize;

use super::{Figures, NameCounts};
use crate::limits::{SUMMARY_UNKNOWN_HOSTS_MAX, SUMMARY_UNKNOWN_HOSTS_SHOWN};

/// The records by the agent of each.
#[derive(Clone, Debug, Default)]
pub struct RecordAgentCounts {
    /// The records by agent and verdict. The last agent is that of records without a known one.
    verdicts: Vec<[u64; Verdict::ALL.len()]>,
    /// The hosts of records that were disallowed.
    disallowed_hosts: NameCounts,
    /// The texts of agents that were not recognised, which may be cut, of records that are URLs.
    others: NameCounts,
}

impl RecordAgentCounts {
    /// Counts a block. Without `tables`, only verdicts are counted.
    pub fn add_block(&mut self, block: &Block<'_>, answers: &Answers<'_>, tables: bool) {
        let agents = answers.session().classifier().agents().len();
        self.verdicts.resize(agents + 1, Default::default());
        let mut has_disallowed = false;
        for (record, decision) in answers.decisions().iter().enumerate() {
            let agent = answers.agent(record).unwrap_or(agents);
            self.verdicts[agent][decision.verdict as usize] += 1;
            has_disallowed |= decision.verdict == Verdict::Disallow;
            // The agent without a name is the last one of the classifier.
            if tables && agent + 1 >= agents && decision.verdict != Verdict::Invalid {
                let text = block.agent(record);
                let text = &text[..text.len().min(RECORD_AGENT_BYTES_CACHED_MAX)];
                self.others.add(text, 1, SUMMARY_UNKNOWN_HOSTS_MAX);
            }
        }
        if tables && has_disallowed {
            self.add_hosts(block, answers);
        }
    }

    fn add_hosts(&mut self, block: &Block<'_>, answers: &Answers<'_>) {
        for OriginRecords { records, key, .. } in answers.origins(block) {
            let decisions = answers.decisions()[records].iter();
            let urls = decisions.filter(|it| it.verdict == Verdict::Disallow).count();
            if urls > 0 {
                self.disallowed_hosts.add(key, urls as u64, SUMMARY_UNKNOWN_HOSTS_MAX);
            }
        }
    }

    /// Adds the counts of the next chunk.
    pub fn merge(&mut self, next: &RecordAgentCounts) {
        if self.verdicts.len() < next.verdicts.len() {
            self.verdicts.resize(next.verdicts.len(), Default::default());
        }
        let counts = self.verdicts.as_flattened_mut().iter_mut();
        counts.zip(next.verdicts.as_flattened()).for_each(|(count, next)| *count += next);
        self.disallowed_hosts.merge(&next.disallowed_hosts, SUMMARY_UNKNOWN_HOSTS_MAX);
        self.others.merge(&next.others, SUMMARY_UNKNOWN_HOSTS_MAX);
    }

    /// Returns the agents with records, by their disallowed records and then by name. `names` are those
    /// of the agents.
    pub(super) fn by_agent<'n>(&self, names: &'n [String]) -> Vec<RecordAgentObject<'n>> {
        let agents = self.verdicts.iter().enumerate().filter(|(_, it)| it.iter().sum::<u64>() > 0);
        let object = |(number, counts): (usize, &[u64; 4])| RecordAgentObject {
            agent: names.get(number).map(String::as_str),
            verdicts: Figures::of(Verdict::ALL, Verdict::as_str, |it| counts[it as usize]),
        };
        let mut agents: Vec<_> = agents.map(object).collect();
        let disallowed = Verdict::Disallow.as_str();
        agents.sort_by_key(|it| (std::cmp::Reverse(it.verdicts.get(disallowed)), it.agent));
        agents
    }

    pub(super) fn disallowed_hosts(&self) -> DisallowedHosts {
        let hosts = &self.disallowed_hosts;
        let host = |(host, urls): (&[u8], u64)| HostUrls { host: text(host), urls };
        DisallowedHosts {
            largest: hosts.largest(SUMMARY_UNKNOWN_HOSTS_SHOWN).into_iter().map(host).collect(),
            hosts: hosts.names(),
            uncounted_urls: hosts.uncounted(),
        }
    }

    pub(super) fn other_agents(&self) -> OtherAgents {
        let others = &self.others;
        let agent = |(agent, records): (&[u8], u64)| AgentRecords { agent: text(agent), records };
        OtherAgents {
            largest: others.largest(SUMMARY_UNKNOWN_HOSTS_SHOWN).into_iter().map(agent).collect(),
            agents: others.names(),
            records: others.urls(),
            uncounted_records: others.uncounted(),
        }
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The records of an agent.
#[derive(Serialize)]
pub(super) struct RecordAgentObject<'n> {
    /// The agent; `None` for records without a known one.
    pub agent: Option<&'n str>,
    pub verdicts: Figures,
}

/// The hosts with the most disallowed URLs.
#[derive(Serialize)]
pub(super) struct DisallowedHosts {
    pub largest: Vec<HostUrls>,
    /// The number of hosts that were counted individually.
    pub hosts: usize,
    /// The number of URLs of later hosts, which were counted together.
    pub uncounted_urls: u64,
}

#[derive(Serialize)]
pub(super) struct HostUrls {
    pub host: String,
    pub urls: u64,
}

/// The agents that were not recognised and have the most records.
#[derive(Serialize)]
pub(super) struct OtherAgents {
    pub largest: Vec<AgentRecords>,
    /// The number of agents that were counted individually.
    pub agents: usize,
    pub records: u64,
    /// The number of records of later agents, which were counted together.
    pub uncounted_records: u64,
}

#[derive(Serialize)]
pub(super) struct AgentRecords {
    pub agent: String,
    pub records: u64,
}
