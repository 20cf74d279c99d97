//! Counts decisions by the agent of each record: verdicts of each agent, the hosts that did not allow
//! what was fetched, and the agents that were not recognised.
//!
//! Cost: an addition per record, and one look-up for a record that was not allowed or whose agent was
//! not recognised. The tables are bounded as those of unknown hosts are.

use std::cmp::Reverse;

use portcullis_dialect::decision::Verdict;
use portcullis_rows::list::Block;
use portcullis_set::batch::{Answers, OriginRecords};
use portcullis_set::limits::RECORD_AGENT_BYTES_CACHED_MAX;
use serde::Serialize;

use super::{Figures, NameCounts, add_counts};
use crate::limits::SUMMARY_UNKNOWN_HOSTS_MAX;

/// The records by the agent of each.
#[derive(Clone, Debug, Default)]
pub struct RecordAgentCounts {
    /// The records by agent and verdict. The last agent is that of records without a known one.
    verdicts: Vec<[u64; Verdict::ALL.len()]>,
    /// The hosts of records that were disallowed.
    pub(super) disallowed_hosts: NameCounts,
    /// The texts of agents that were not recognised, which may be cut, of records that are URLs.
    pub(super) others: NameCounts,
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
        add_counts(self.verdicts.as_flattened_mut(), next.verdicts.as_flattened());
        self.disallowed_hosts.merge(&next.disallowed_hosts, SUMMARY_UNKNOWN_HOSTS_MAX);
        self.others.merge(&next.others, SUMMARY_UNKNOWN_HOSTS_MAX);
    }

    /// Returns the agents with records, by their disallowed records and then by name. `names` are those
    /// of the agents.
    pub(super) fn by_agent(&self, names: &[String]) -> Vec<RecordAgent> {
        let agents = self.verdicts.iter().enumerate().filter(|(_, it)| it.iter().sum::<u64>() > 0);
        let of = |(number, counts): (usize, &[u64; 4])| RecordAgent {
            agent: names.get(number).cloned(),
            verdicts: Figures::of(Verdict::ALL, Verdict::as_str, |it| counts[it as usize]),
        };
        let mut agents: Vec<_> = agents.map(of).collect();
        let disallowed = Verdict::Disallow.as_str();
        agents.sort_by(|one, next| {
            let order = |it: &RecordAgent| Reverse(it.verdicts.get(disallowed));
            order(one).cmp(&order(next)).then_with(|| one.agent.cmp(&next.agent))
        });
        agents
    }
}

/// The records of an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RecordAgent {
    /// The agent; `None` for records without a known one.
    pub agent: Option<String>,
    pub verdicts: Figures,
}
