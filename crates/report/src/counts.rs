//! Counts decisions by verdict and reason, unknown hosts and states of origins, and figures by
//! name.
//!
//! Counting a decision is one addition. Unknown hosts, and states of origins that the reason does
//! not determine, are looked up only for blocks that have such records.

use std::fmt::{self, Display, Formatter};

use serde::ser::{Serialize, Serializer};

use portcullis_dialect::decision::{Decision, PolicyState, Reason, Verdict};
use portcullis_dialect::usage::{Label, Preference};
use portcullis_rows::list::Block;
use portcullis_set::Damage;
use portcullis_set::batch::{AgeCounts, Answers, OriginRecords};

use super::filter::{Class, Plan};
use super::{Drops, NameCounts, RecordAgentCounts};
use crate::limits::SUMMARY_UNKNOWN_HOSTS_MAX;

/// The counts of decisions for one agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentCounts([[u64; Reason::ALL.len()]; Verdict::ALL.len()]);

impl AgentCounts {
    /// Returns the number of records with this verdict.
    pub fn verdict(&self, verdict: Verdict) -> u64 {
        self.0[verdict as usize].iter().sum()
    }

    #[inline]
    fn add(&mut self, decision: &Decision) {
        self.0[decision.verdict as usize][decision.reason as usize] += 1;
    }

    /// Returns the number of records with this verdict and reason.
    pub fn of(&self, verdict: Verdict, reason: Reason) -> u64 {
        self.0[verdict as usize][reason as usize]
    }

    /// Returns the number of records with this reason.
    pub fn reason(&self, reason: Reason) -> u64 {
        self.0.iter().map(|row| row[reason as usize]).sum()
    }
}

/// The number of records, their bytes, and the decisions for each agent.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// The number of records, including empty ones.
    pub records: u64,
    /// The bytes of the records, including line ends.
    pub bytes: u64,
    agents: Vec<AgentCounts>,
    /// The number of records by state of the origin, if the reason does not determine the state.
    states: [u64; PolicyState::ALL.len()],
    unknown_hosts: NameCounts,
    /// The most hosts that are counted; 0 for none.
    hosts_max: usize,
    ages: AgeCounts,
    unreadable_delays: Option<u64>,
    /// The labels whose preferences are counted.
    labels: Vec<Label>,
    /// The records by preference, for each agent and label.
    preferences: Vec<[u64; Preference::ALL.len()]>,
    /// `None` unless each record has an agent of its own.
    record_agents: Option<Box<RecordAgentCounts>>,
    /// The records that a filter keeps; `None` without a filter.
    pub kept: Option<u64>,
    /// The records whose use is not stated; `None` unless a filter has a purpose.
    pub unstated: Option<u64>,
    /// The records that a filter does not keep, if they are asked for.
    drops: Option<Drops>,
}

/// The reasons that do not determine the state of the origin.
const STATELESS: [Reason; 5] =
    [Reason::RobotsTxt, Reason::Expired, Reason::BeforeFirst, Reason::NoTime, Reason::NoAgent];

impl Counts {
    /// Returns counts of zero for this number of agents.
    pub fn new(agents: usize) -> Counts {
        let agents = vec![AgentCounts::default(); agents];
        Counts { agents, hosts_max: SUMMARY_UNKNOWN_HOSTS_MAX, ..Counts::default() }
    }

    /// Sets all counts to zero and keeps the memory. Of the following blocks, at most `hosts_max`
    /// hosts without a policy are counted. If that is 0, none is looked up: for a URL without a
    /// policy that costs about 100 ns, more than deciding it.
    pub fn clear(&mut self, agents: usize, hosts_max: usize) {
        let Counts { mut unknown_hosts, mut drops, .. } = std::mem::take(self);
        unknown_hosts.clear();
        drops.iter_mut().for_each(Drops::clear);
        *self = Counts { unknown_hosts, drops, hosts_max, ..Counts::new(agents) };
    }

    /// Counts a block. Its URLs are `urls`, and its records have `bytes` bytes.
    ///
    /// # Errors
    ///
    /// If the part of the set with the state of an origin is damaged.
    ///
    /// # Panics
    ///
    /// If there is not one decision for each URL and agent.
    #[inline]
    pub fn add_block<R: AsRef<[u8]>>(
        &mut self,
        urls: &[R],
        bytes: u64,
        answers: &Answers<'_>,
    ) -> Result<(), Damage> {
        let agents = self.agents.len();
        let decisions = answers.decisions();
        assert_eq!(decisions.len(), urls.len() * agents, "one decision for each URL and agent");
        let rare = self.rare();
        self.records += urls.len() as u64;
        self.bytes += bytes;
        for (place, agent) in self.agents.iter_mut().enumerate() {
            match agents {
                1 => decisions.iter().for_each(|decision| agent.add(decision)),
                _ => decisions.iter().skip(place).step_by(agents).for_each(|it| agent.add(it)),
            }
        }
        if self.rare() != rare {
            self.add_rare(urls, answers)?;
        }
        self.ages.merge(answers.ages());
        Ok(())
    }

    /// Counts a block by the agent of each record.
    pub fn add_record_agents(&mut self, block: &Block<'_>, answers: &Answers<'_>) {
        let counts = self.record_agents.get_or_insert_default();
        counts.add_block(block, answers, self.hosts_max > 0);
    }

    /// Returns the records by the agent of each; `None` unless they were counted.
    pub fn record_agents(&self) -> Option<&RecordAgentCounts> {
        self.record_agents.as_deref()
    }

    /// Counts records with a crawl delay that is not a number; `None` if no delay was read.
    pub fn add_delays(&mut self, unreadable: Option<u64>) {
        add_option(&mut self.unreadable_delays, unreadable);
    }

    /// Counts the records that `plan` keeps of the following blocks too.
    pub fn ask_kept(&mut self, plan: &Plan) {
        add_option(&mut self.kept, Some(0));
        add_option(&mut self.unstated, plan.purpose.map(|_| 0));
    }

    /// Counts why and on which hosts records are not kept.
    pub fn ask_drops(&mut self) {
        self.drops.get_or_insert_default();
    }

    /// Counts a block by what `plan` keeps of it, and returns the classes of its records.
    pub fn add_kept<R: AsRef<[u8]>>(
        &mut self,
        plan: &Plan,
        urls: &[R],
        answers: &Answers<'_>,
    ) -> Vec<Class> {
        let classes = plan.classes(answers);
        add_option(&mut self.kept, Some(plan.kept(&classes)));
        add_option(&mut self.unstated, plan.purpose.map(|_| plan.unstated(answers)));
        if let Some(drops) = &mut self.drops {
            drops.add_block(plan, urls, answers);
        }
        classes
    }

    /// Returns the records that are not kept; `None` unless they were asked for.
    pub fn drops(&self) -> Option<&Drops> {
        self.drops.as_ref()
    }

    /// Counts the preferences of the following blocks too: those about `labels`, which are the ones of
    /// the classifier.
    pub fn ask_preferences(&mut self, labels: &[Label]) {
        self.labels = labels.to_vec();
        self.preferences = vec![Default::default(); self.agents.len() * labels.len()];
    }

    /// Counts the preferences on a block, if they are asked for.
    #[inline]
    pub fn add_preferences(&mut self, answers: &Answers<'_>) {
        if self.preferences.is_empty() {
            return;
        }
        for record in answers.preferences().chunks_exact(self.preferences.len()) {
            let counted = self.preferences.iter_mut().zip(record);
            counted.for_each(|(counts, preference)| counts[*preference as usize] += 1);
        }
    }

    /// Returns the labels, and the number of records by preference for each agent and label; `None`
    /// unless they were asked for.
    pub(crate) fn preferences(&self) -> Option<(&[Label], &[[u64; Preference::ALL.len()]])> {
        (!self.labels.is_empty()).then_some((&self.labels, &self.preferences))
    }

    /// Returns the number of records that are not URLs.
    pub(crate) fn invalid(&self) -> u64 {
        self.agents.first().map_or(0, |agent| agent.verdict(Verdict::Invalid))
    }

    /// Returns the number of records whose host or state must be looked up, by the counts so far.
    #[inline]
    fn rare(&self) -> u64 {
        let Some(agent) = self.agents.first() else { return 0 };
        let unknown = if self.hosts_max == 0 { 0 } else { agent.reason(Reason::NoPolicy) };
        unknown + STATELESS.iter().map(|it| agent.reason(*it)).sum::<u64>()
    }

    /// Looks up and counts unknown hosts, and states that reasons do not determine, in a block.
    #[cold]
    fn add_rare<R: AsRef<[u8]>>(
        &mut self,
        urls: &[R],
        answers: &Answers<'_>,
    ) -> Result<(), Damage> {
        // These reasons do not depend on the agent, so the first agent's are enough.
        let decisions = answers.decisions().chunks_exact(self.agents.len());
        let reasons: Vec<Reason> = decisions.map(|decisions| decisions[0].reason).collect();
        for (place, reason) in reasons.iter().enumerate() {
            if STATELESS.contains(reason)
                && let Some(state) = answers.state(place)?
            {
                self.states[state as usize] += 1;
            }
        }
        if self.hosts_max == 0 {
            return Ok(());
        }
        for OriginRecords { records, key, .. } in answers.origins(urls) {
            if reasons[records.start] == Reason::NoPolicy {
                self.unknown_hosts.add(key, records.len() as u64, self.hosts_max);
            }
        }
        Ok(())
    }

    /// Adds the counts of the next chunk. Without unknown hosts, chunks may be merged in any order.
    pub fn merge(&mut self, next: &Counts) {
        self.records += next.records;
        self.bytes += next.bytes;
        if self.agents.len() < next.agents.len() {
            self.agents.resize(next.agents.len(), AgentCounts::default());
        }
        for (agent, next) in self.agents.iter_mut().zip(&next.agents) {
            add_counts(agent.0.as_flattened_mut(), next.0.as_flattened());
        }
        add_counts(&mut self.states, &next.states);
        self.unknown_hosts.merge(&next.unknown_hosts, SUMMARY_UNKNOWN_HOSTS_MAX);
        self.ages.merge(next.ages);
        if !next.labels.is_empty() {
            self.labels.clone_from(&next.labels);
            self.preferences.resize(next.preferences.len(), Default::default());
            add_counts(self.preferences.as_flattened_mut(), next.preferences.as_flattened());
        }
        self.add_delays(next.unreadable_delays);
        if let Some(next) = &next.record_agents {
            self.record_agents.get_or_insert_default().merge(next);
        }
        add_option(&mut self.kept, next.kept);
        add_option(&mut self.unstated, next.unstated);
        if let Some(next) = &next.drops {
            self.drops.get_or_insert_default().merge(next);
        }
    }

    /// Returns the counts of each agent, in the order of the agents.
    pub fn agents(&self) -> &[AgentCounts] {
        &self.agents
    }

    /// Returns the number of records whose origin is in this state.
    pub fn state(&self, state: PolicyState) -> u64 {
        let reasons = Reason::ALL.into_iter().filter(|reason| reason.state() == Some(state));
        let first = |agent: &AgentCounts| reasons.map(|reason| agent.reason(reason)).sum::<u64>();
        self.states[state as usize] + self.agents.first().map_or(0, first)
    }

    /// Returns the hosts without a policy.
    pub fn unknown_hosts(&self) -> &NameCounts {
        &self.unknown_hosts
    }

    /// Returns the number of records whose file has a crawl delay for some agent that is not a number;
    /// `None` if delays were not read.
    pub fn unreadable_delays(&self) -> Option<u64> {
        self.unreadable_delays
    }

    /// Returns the number of records by the age of their capture, if it was judged.
    pub fn ages(&self) -> AgeCounts {
        self.ages
    }
}

/// Adds counts. Pages of memory in which all are 0 are not written, and so not taken.
pub fn add_counts(sums: &mut [u64], counts: &[u64]) {
    let counted = sums.iter_mut().zip(counts).filter(|(_, count)| **count > 0);
    counted.for_each(|(sum, count)| *sum += count);
}

/// Adds a count that only some runs have.
fn add_option(sum: &mut Option<u64>, count: Option<u64>) {
    if let Some(count) = count {
        *sum.get_or_insert(0) += count;
    }
}

/// Counts or other figures by name, in order. In JSON, an object; as text, a list without zeros.
///
/// ```
/// use portcullis_report::Figures;
///
/// let figures = Figures::of(["a", "bb", ""], |name| name, |name| name.len() as u64);
/// assert_eq!(figures.to_string(), "a 1, bb 2");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Figures<F = u64, N = &'static str>(pub Vec<(N, F)>);

impl<F> Figures<F> {
    /// Returns the figure of each item under its name.
    pub fn of<T: Copy>(
        items: impl IntoIterator<Item = T>,
        name: impl Fn(T) -> &'static str,
        figure: impl Fn(T) -> F,
    ) -> Figures<F> {
        Figures(items.into_iter().map(|item| (name(item), figure(item))).collect())
    }
}

impl<F, N> Figures<F, N> {
    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Figures {
    /// Adds to the count with this name.
    pub fn add(&mut self, name: &'static str, count: u64) {
        match self.0.iter_mut().find(|(own, _)| *own == name) {
            Some((_, sum)) => *sum += count,
            None => self.0.push((name, count)),
        }
    }

    /// Adds other counts to those of the same names.
    pub fn merge(&mut self, other: &Figures) {
        other.0.iter().for_each(|(name, count)| self.add(name, *count));
    }

    /// Counts one more at a place in the order.
    pub fn count(&mut self, place: usize) {
        self.0[place].1 += 1;
    }

    /// Returns the sum of all counts.
    pub fn sum(&self) -> u64 {
        self.0.iter().map(|(_, count)| count).sum()
    }

    /// Returns the count with this name; 0 if there is none.
    pub fn get(&self, name: &str) -> u64 {
        self.0.iter().find(|it| it.0 == name).map_or(0, |it| it.1)
    }
}

impl<F: Serialize, N: Serialize> Serialize for Figures<F, N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, figure)| (name, figure)))
    }
}

impl<N: Display> Display for Figures<u64, N> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let mut before = "";
        for (name, figure) in self.0.iter().filter(|(_, figure)| *figure > 0) {
            write!(out, "{before}{name} {figure}")?;
            before = ", ";
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use portcullis_set::batch::Session;

    use super::*;
    use crate::tests::{SCHEME, classifier};

    const ALLOWED: Decision = Decision::without_rule(Verdict::Allow, Reason::NoRule);
    const FORBIDDEN: Decision = Decision::without_rule(Verdict::Disallow, Reason::Unavailable);

    /// Counts records with these numbers of bytes and decisions.
    fn counted(records: &[(u64, [Decision; 2])]) -> Counts {
        let mut counts = Counts::new(2);
        for (bytes, decisions) in records {
            counts.records += 1;
            counts.bytes += bytes;
            counts.agents.iter_mut().zip(decisions).for_each(|(agent, it)| agent.add(it));
        }
        counts
    }

    #[test]
    fn counts_of_chunks_add_up_in_any_order() {
        let first = (10, [ALLOWED, FORBIDDEN]);
        let second = (5, [Decision::UNKNOWN, ALLOWED]);
        let whole = counted(&[first, second]);
        let (left, right) = (counted(&[first]), counted(&[second]));
        let mut sum = Counts::default();
        sum.merge(&right);
        sum.merge(&left);
        assert_eq!((sum.records, sum.agents()), (whole.records, whole.agents()));
        assert_eq!((sum.records, sum.bytes), (2, 15));
        let [first, second] = &sum.agents() else { panic!("{sum:?}") };
        assert_eq!([first.verdict(Verdict::Allow), first.verdict(Verdict::Unknown)], [1, 1]);
        assert_eq!([second.reason(Reason::Unavailable), second.reason(Reason::NoPolicy)], [1, 0]);
    }

    #[test]
    fn hosts_can_be_left_out() {
        let classifier = classifier(&["a"], &[], 1);
        let mut session = Session::new(classifier).assume_scheme(SCHEME);
        let urls = [&b"a/x"[..], b"unknown/", b"unknown/y", b"a/robots.txt", b"other/"];
        let mut counts = Counts::default();
        for (hosts_max, expected) in [(9, 2), (0, 0)] {
            counts.clear(1, hosts_max);
            counts.add_block(&urls, 0, &session.decide(&urls).unwrap()).unwrap();
            assert_eq!(counts.unknown_hosts().names(), expected);
            assert_eq!(counts.state(PolicyState::Unknown), 3);
            assert_eq!(counts.state(PolicyState::Rules), 2, "one is of a robots.txt");
        }
    }

    #[test]
    #[should_panic(expected = "one decision for each URL and agent")]
    fn a_lost_column_is_a_bug() {
        let mut session = Session::new(classifier(&["a"], &[], 1)).assume_scheme(SCHEME);
        let urls = ["a/x"];
        Counts::new(2).add_block(&urls, 0, &session.decide(&urls).unwrap()).unwrap();
    }
}
