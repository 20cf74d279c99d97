//! The number of decisions by verdict and reason, and counts by name.

use std::fmt::{self, Display, Formatter};

use serde::ser::{Serialize, Serializer};

use portcullis_dialect::decision::{Decision, Reason, Verdict};

/// The decisions for one agent, counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentCounts([[u64; Reason::ALL.len()]; Verdict::ALL.len()]);

impl AgentCounts {
    /// Records with this verdict.
    pub fn verdict(&self, verdict: Verdict) -> u64 {
        self.0[verdict as usize].iter().sum()
    }

    /// Records with this reason.
    pub fn reason(&self, reason: Reason) -> u64 {
        self.0.iter().map(|row| row[reason as usize]).sum()
    }
}

/// The number of records, their bytes, and the decisions for each agent. Counts of chunks add up to the
/// same sum in any order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Records, including empty ones.
    pub records: u64,
    /// Their bytes, including line ends.
    pub bytes: u64,
    agents: Vec<AgentCounts>,
}

impl Counts {
    /// Zero for this number of agents.
    pub fn new(agents: usize) -> Counts {
        Counts { agents: vec![AgentCounts::default(); agents], ..Counts::default() }
    }

    /// Counts one record of `bytes` (including its end) and the decisions about it.
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
            agent.0[decision.verdict as usize][decision.reason as usize] += 1;
        }
    }

    /// Adds the counts of another chunk.
    pub fn merge(&mut self, other: &Counts) {
        self.records += other.records;
        self.bytes += other.bytes;
        if self.agents.len() < other.agents.len() {
            self.agents.resize(other.agents.len(), AgentCounts::default());
        }
        for (agent, other) in self.agents.iter_mut().zip(&other.agents) {
            let counts = agent.0.as_flattened_mut().iter_mut();
            counts.zip(other.0.as_flattened()).for_each(|(count, other)| *count += other);
        }
    }

    /// The counts of each agent, in the order of the agents.
    pub fn agents(&self) -> &[AgentCounts] {
        &self.agents
    }
}

/// Counts by name, in order: an object in JSON; as text, a list without zeros.
///
/// ```
/// use portcullis_report::Figures;
///
/// let figures = Figures::of(["a", "bb", ""], |name| name, |name| name.len() as u64);
/// assert_eq!(figures.to_string(), "a 1, bb 2");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Figures(pub Vec<(&'static str, u64)>);

impl Figures {
    /// The count of each item under its name.
    pub fn of<T: Copy>(
        items: impl IntoIterator<Item = T>,
        name: impl Fn(T) -> &'static str,
        figure: impl Fn(T) -> u64,
    ) -> Figures {
        Figures(items.into_iter().map(|item| (name(item), figure(item))).collect())
    }
}

impl Serialize for Figures {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().copied())
    }
}

impl Display for Figures {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let mut before = "";
        for (name, figure) in self.0.iter().filter(|&&(_, figure)| figure > 0) {
            write!(out, "{before}{name} {figure}")?;
            before = ", ";
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALLOWED: Decision = Decision::without_rule(Verdict::Allow, Reason::NoRule);
    const FORBIDDEN: Decision = Decision::without_rule(Verdict::Disallow, Reason::Unavailable);

    #[test]
    fn counts_of_chunks_add_up_in_any_order() {
        let [mut whole, mut left, mut right] = [(); 3].map(|()| Counts::new(2));
        whole.add(10, &[ALLOWED, FORBIDDEN]);
        whole.add(5, &[Decision::UNKNOWN, ALLOWED]);
        left.add(10, &[ALLOWED, FORBIDDEN]);
        right.add(5, &[Decision::UNKNOWN, ALLOWED]);
        let mut sum = Counts::default();
        sum.merge(&right);
        sum.merge(&left);
        assert_eq!(sum, whole);
        assert_eq!((sum.records, sum.bytes), (2, 15));
        let [first, second] = &sum.agents() else { panic!("{sum:?}") };
        assert_eq!([first.verdict(Verdict::Allow), first.verdict(Verdict::Unknown)], [1, 1]);
        assert_eq!([second.reason(Reason::Unavailable), second.reason(Reason::NoPolicy)], [1, 0]);
    }

    #[test]
    #[should_panic(expected = "one decision for each agent")]
    fn a_lost_column_is_a_bug() {
        Counts::new(2).add(1, &[ALLOWED]);
    }
}
