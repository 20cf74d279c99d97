//! How often each verdict was given, and why.

use crate::decision::{Decision, Reason, Verdict};

/// Decisions for one agent, counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentCounts([[u64; Reason::ALL.len()]; Verdict::ALL.len()]);

impl AgentCounts {
    #[inline]
    fn add(&mut self, decision: &Decision) {
        self.0[decision.verdict as usize][decision.reason as usize] += 1;
    }

    fn merge(&mut self, other: &AgentCounts) {
        for (row, other) in self.0.iter_mut().zip(&other.0) {
            for (count, other) in row.iter_mut().zip(other) {
                *count += other;
            }
        }
    }

    /// Records with this verdict.
    pub fn verdict(&self, verdict: Verdict) -> u64 {
        self.0[verdict as usize].iter().sum()
    }

    /// Records whose verdict has this reason.
    pub fn reason(&self, reason: Reason) -> u64 {
        self.0.iter().map(|row| row[reason as usize]).sum()
    }
}

/// What was seen in some records: their number and bytes, and the decisions for each agent.
///
/// Counts of several chunks add up to the same sum in any order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Records seen, empty ones too.
    pub records: u64,
    /// Their bytes, with what ends them.
    pub bytes: u64,
    agents: Vec<AgentCounts>,
}

impl Counts {
    /// Nothing seen yet, for so many agents.
    pub fn new(agents: usize) -> Counts {
        Counts { records: 0, bytes: 0, agents: vec![AgentCounts::default(); agents] }
    }

    /// Counts one record of `bytes` (with its end) and the decisions about it.
    ///
    /// # Panics
    ///
    /// If there is not one decision for each agent: an output would have lost a column.
    #[inline]
    pub fn add(&mut self, bytes: usize, decisions: &[Decision]) {
        assert_eq!(decisions.len(), self.agents.len(), "one decision for each agent");
        self.records += 1;
        self.bytes += bytes as u64;
        for (agent, decision) in self.agents.iter_mut().zip(decisions) {
            agent.add(decision);
        }
    }

    /// Adds what another chunk counted.
    pub fn merge(&mut self, other: &Counts) {
        self.records += other.records;
        self.bytes += other.bytes;
        if self.agents.len() < other.agents.len() {
            self.agents.resize(other.agents.len(), AgentCounts::default());
        }
        for (agent, other) in self.agents.iter_mut().zip(&other.agents) {
            agent.merge(other);
        }
    }

    /// The counts of each agent, in the order in which the agents were asked for.
    pub fn agents(&self) -> &[AgentCounts] {
        &self.agents
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALLOWED: Decision = Decision::without_rule(Verdict::Allow, Reason::NoRule);
    const FORBIDDEN: Decision = Decision::without_rule(Verdict::Disallow, Reason::Unavailable);

    #[test]
    fn counts_by_verdict_and_by_reason() {
        let mut counts = Counts::new(2);
        counts.add(10, &[ALLOWED, FORBIDDEN]);
        counts.add(5, &[Decision::UNKNOWN, ALLOWED]);
        assert_eq!((counts.records, counts.bytes), (2, 15));
        assert_eq!(counts.agents()[0].verdict(Verdict::Allow), 1);
        assert_eq!(counts.agents()[0].verdict(Verdict::Unknown), 1);
        assert_eq!(counts.agents()[1].verdict(Verdict::Disallow), 1);
        assert_eq!(counts.agents()[1].reason(Reason::Unavailable), 1);
        assert_eq!(counts.agents()[1].reason(Reason::NoPolicy), 0);
    }

    #[test]
    fn sums_do_not_depend_on_the_cut() {
        let mut whole = Counts::new(1);
        let mut left = Counts::new(1);
        let mut right = Counts::new(1);
        for (bytes, decision) in [(3, ALLOWED), (4, Decision::INVALID), (5, FORBIDDEN)] {
            whole.add(bytes, &[decision]);
            let part = if bytes == 3 { &mut left } else { &mut right };
            part.add(bytes, &[decision]);
        }
        let mut sum = Counts::default();
        sum.merge(&right);
        sum.merge(&left);
        assert_eq!(sum, whole);
    }

    #[test]
    #[should_panic(expected = "one decision for each agent")]
    fn a_lost_column_is_a_bug() {
        Counts::new(2).add(1, &[ALLOWED]);
    }
}
