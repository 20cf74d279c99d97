//! Counts decisions by verdict and reason, unknown hosts and states of origins.
//!
//! Counting a decision is one addition. Unknown hosts, and states of origins that the reason does
//! not determine, are looked up only for blocks that have such records.
//!
//! If each record has an agent of its own, verdicts are counted by agent too: an addition for each record.

use std::cmp::Reverse;

use portcullis_dialect::decision::{Answer, PolicyState, Reason, Verdict};
use portcullis_dialect::usage::{Label, Preference};
use portcullis_robots::url::UrlText;
use portcullis_set::Damage;
use portcullis_set::batch::{AgeCounts, Answers, OriginRecords};

use crate::crawlers::{KnownAgent, RecordAgent};
use crate::figures::{Figures, NameCounts, add_counts};
use crate::filter::{Cause, Class, Fate, Plan};
use crate::limits::SUMMARY_UNKNOWN_HOSTS_MAX;
use crate::rejects::{InvalidRecord, InvalidRecords};

/// The counts of decisions for one agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentCounts {
    /// By [`Answer::code`].
    of_codes: [u64; Answer::CODES],
}

impl Default for AgentCounts {
    fn default() -> AgentCounts {
        AgentCounts { of_codes: [0; Answer::CODES] }
    }
}

impl AgentCounts {
    /// Returns the number of records.
    fn sum(&self) -> u64 {
        self.of_codes.iter().sum()
    }

    /// Returns the number of records with this verdict.
    pub fn verdict(&self, verdict: Verdict) -> u64 {
        Reason::ALL.iter().map(|reason| self.of(verdict, *reason)).sum()
    }

    #[inline]
    fn add(&mut self, answer: Answer) {
        self.of_codes[answer.code() as usize % Answer::CODES] += 1;
    }

    /// Returns the number of records with this verdict and reason.
    pub fn of(&self, verdict: Verdict, reason: Reason) -> u64 {
        self.of_codes[Answer::new(verdict, reason).code() as usize]
    }

    /// Returns the number of records with this reason.
    pub fn reason(&self, reason: Reason) -> u64 {
        Verdict::ALL.iter().map(|verdict| self.of(*verdict, reason)).sum()
    }
}

/// The number of records, their bytes, and the decisions for each agent.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// The number of records, including empty ones.
    pub records: u64,
    /// The bytes of the records, including line ends.
    pub bytes: u64,
    /// The counts of each agent, in the order of the agents.
    pub(crate) agents: Vec<AgentCounts>,
    /// The number of records by state of the origin, if the reason does not determine the state.
    states: [u64; PolicyState::ALL.len()],
    /// The hosts without a policy.
    pub unknown_hosts: NameCounts,
    /// Of them, the hosts that have one under the other scheme, http or https.
    pub(crate) other_scheme: NameCounts,
    /// The most hosts that are counted; 0 for none.
    hosts_max: usize,
    /// The records by the age of their capture, if it was judged.
    pub ages: AgeCounts,
    /// The records whose file has a crawl delay for some agent that is not a number; `None` if delays
    /// were not read.
    pub(crate) unreadable_delays: Option<u64>,
    /// The labels whose preferences are counted.
    labels: Vec<Label>,
    /// The records by preference, for each agent and label.
    preferences: Vec<[u64; Preference::ALL.len()]>,
    /// The agents that train models, by number; empty unless their records are counted.
    trainers: Box<[usize]>,
    /// The records that one of them may fetch although the file states that it must not train on them; `None`
    /// unless they are counted.
    pub reserved: Option<u64>,
    /// The records that one of them may not fetch although the file permits it to train on them.
    pub permitted: Option<u64>,
    /// The records by agent and verdict, if each record has an agent of its own. The last agent is
    /// that of records without a known one.
    record_agents: Vec<[u64; Verdict::ALL.len()]>,
    /// The records that a filter keeps; `None` without a filter.
    pub kept: Option<u64>,
    /// The records whose use is not stated; `None` unless a filter has a purpose.
    pub unstated: Option<u64>,
    /// The records that are not URLs, which a [`Watch`](crate::Watch) of the run collects.
    pub invalid: InvalidRecords,
    /// The records that the filter keeps.
    pub(crate) plan: Option<Plan>,
    /// The records that a filter does not keep by [`Cause`], if they are asked for.
    pub(crate) dropped: Option<[u64; Cause::ALL.len()]>,
}

/// Returns https for http, and http for https.
fn other_scheme(scheme: &[u8]) -> Option<&'static [u8]> {
    match scheme {
        _ if scheme.eq_ignore_ascii_case(b"http") => Some(b"https"),
        _ if scheme.eq_ignore_ascii_case(b"https") => Some(b"http"),
        _ => None,
    }
}

/// The labels by which sites reserve pages from training.
pub const TRAINING: [Label; 2] = [Label::TrainAi, Label::Use];

/// A contradiction between access for training and what a file states about that use.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Conflict {
    /// The URL may be fetched, and its use is reserved.
    Reserved,
    /// The URL may not be fetched, and its use is permitted.
    Permitted,
}

impl Conflict {
    /// Returns the contradiction of a verdict with preferences about [`TRAINING`]. The stricter one counts, as
    /// where statements of several fields are combined.
    fn of(verdict: Verdict, stated: &[Preference]) -> Option<Conflict> {
        let has = |wanted: &[Preference]| stated.iter().any(|it| wanted.contains(it));
        let is_reserved = has(&[Preference::No, Preference::Immediate, Preference::Reference]);
        match verdict {
            Verdict::Allow if is_reserved => Some(Conflict::Reserved),
            Verdict::Disallow if !is_reserved && has(&[Preference::Yes, Preference::Full]) => {
                Some(Conflict::Permitted)
            }
            _ => None,
        }
    }
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
        let mut unknown_hosts = std::mem::take(&mut self.unknown_hosts);
        let mut other_scheme = std::mem::take(&mut self.other_scheme);
        unknown_hosts.clear();
        other_scheme.clear();
        *self = Counts { unknown_hosts, other_scheme, hosts_max, ..Counts::new(agents) };
    }

    /// Counts a block. Its URLs are `urls`, and its records have `bytes` bytes. If each record has an
    /// agent of its own, it is counted by agent too, and by preference if that is asked for.
    ///
    /// # Errors
    ///
    /// If the part of the set with the state of an origin is damaged.
    ///
    /// # Panics
    ///
    /// If there is not one decision for each URL and agent.
    #[inline]
    pub fn add_block<R: UrlText>(
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
                1 => decisions.iter().for_each(|answer| agent.add(*answer)),
                _ => decisions.iter().skip(place).step_by(agents).for_each(|it| agent.add(*it)),
            }
        }
        if self.rare() != rare {
            self.add_rare(urls, answers)?;
        }
        self.ages.merge(answers.ages());
        if !self.preferences.is_empty() {
            self.add_preferences(answers.preferences());
        }
        if !self.trainers.is_empty() {
            self.add_training(answers);
        }
        if answers.session().classifier().has_agent_per_record() {
            self.add_record_agents(answers);
        }
        Ok(())
    }

    /// Counts the records on which access for training and what files state about that use contradict each
    /// other.
    fn add_training(&mut self, answers: &Answers<'_>) {
        let agents = self.agents.len();
        let conflict = |answer: usize| {
            let stated = &answers.preferences()[answer * TRAINING.len()..][..TRAINING.len()];
            Conflict::of(answers.decisions()[answer].verdict(), stated)
        };
        let (mut reserved, mut permitted) = (0, 0);
        for record in 0..answers.decisions().len() / agents {
            let found = |wanted| {
                let answers = self.trainers.iter().map(|trainer| record * agents + trainer);
                u64::from(answers.map(conflict).any(|it| it == Some(wanted)))
            };
            reserved += found(Conflict::Reserved);
            permitted += found(Conflict::Permitted);
        }
        add_option(&mut self.reserved, Some(reserved));
        add_option(&mut self.permitted, Some(permitted));
    }

    /// Counts where access and use for training contradict each other in the following blocks, for the agents
    /// `trainers`. The labels of the classifier are [`TRAINING`], also where access is disallowed.
    pub fn ask_training(&mut self, trainers: &[usize]) {
        self.trainers = trainers.into();
        let asked = (!trainers.is_empty()).then_some(0);
        add_option(&mut self.reserved, asked);
        add_option(&mut self.permitted, asked);
    }

    /// Counts the preferences of each record about all labels, agent by agent.
    #[inline]
    fn add_preferences(&mut self, preferences: &[Preference]) {
        for record in preferences.chunks_exact(self.preferences.len()) {
            let counted = self.preferences.iter_mut().zip(record);
            counted.for_each(|(counts, preference)| counts[*preference as usize] += 1);
        }
    }

    fn add_record_agents(&mut self, answers: &Answers<'_>) {
        let agents = answers.session().classifier().agents().len();
        self.record_agents.resize(agents + 1, Default::default());
        for (record, decision) in answers.decisions().iter().enumerate() {
            let agent = answers.agent(record).unwrap_or(agents);
            self.record_agents[agent][decision.verdict() as usize] += 1;
        }
    }

    /// Returns the numbers of the known agents with records.
    pub fn agents_of_records(&self) -> impl Iterator<Item = usize> {
        let known = self.record_agents.split_last().map_or(&[][..], |(_, known)| known);
        let counted =
            known.iter().enumerate().filter(|(_, counts)| counts.iter().any(|it| *it > 0));
        counted.map(|(number, _)| number)
    }

    /// Returns the agents with records, by their disallowed records and then by name; `None` unless they
    /// were counted. `known` are the agents.
    pub(crate) fn record_agents(&self, known: &[KnownAgent]) -> Option<Vec<RecordAgent>> {
        let of = |(number, counts): (usize, &[u64; 4])| RecordAgent {
            agent: known.get(number).map(|it| it.name.clone()),
            reading: known.get(number).map(|it| it.reading.clone()),
            verdicts: Figures::of(Verdict::ALL, Verdict::as_str, |it| counts[it as usize]),
            pace: None,
        };
        let mut agents: Vec<RecordAgent> = self.record_agents.iter().enumerate().map(of).collect();
        agents.retain(|it| it.verdicts.sum() > 0);
        let disallowed = |it: &RecordAgent| it.verdicts.get(Verdict::Disallow.as_str());
        agents.sort_by_cached_key(|it| (Reverse(disallowed(it)), it.agent.clone()));
        (!self.record_agents.is_empty()).then_some(agents)
    }

    /// Counts the records that `plan` keeps of the following blocks too.
    pub fn ask_kept(&mut self, plan: &Plan) {
        self.plan = Some(*plan);
        add_option(&mut self.kept, Some(0));
        add_option(&mut self.unstated, plan.unstated.map(|_| 0));
    }

    /// Counts why records are not kept.
    pub fn ask_drops(&mut self) {
        self.dropped.get_or_insert_default();
    }

    /// Counts a block by what `plan` keeps of it, and returns the classes of its records.
    ///
    /// # Errors
    ///
    /// If the set is damaged.
    pub fn add_kept(&mut self, plan: &Plan, answers: &Answers<'_>) -> Result<Vec<Class>, Damage> {
        let classes = plan.classes(answers)?;
        add_option(&mut self.kept, Some(plan.kept(&classes)));
        add_option(&mut self.unstated, plan.unstated.map(|_| plan.count_unstated(answers)));
        if let Some(dropped) = &mut self.dropped {
            for (record, &class) in classes.iter().enumerate() {
                if plan.fate(class) != Fate::Keep {
                    dropped[plan.cause(answers, record, class) as usize] += 1;
                }
            }
        }
        Ok(classes)
    }

    /// Counts the preferences of the following blocks too: those about `labels`, which are the ones of
    /// the classifier.
    pub fn ask_preferences(&mut self, labels: &[Label]) {
        self.labels = labels.to_vec();
        self.preferences = vec![Default::default(); self.agents.len() * labels.len()];
    }

    /// Returns the number of records by an agent's preference about each label that is counted; `None`
    /// if there is none.
    pub(crate) fn usage(&self, agent: usize) -> Option<Figures<Figures>> {
        let counts = self.preferences.chunks_exact(self.labels.len().max(1)).nth(agent)?;
        let of_label = |(label, counts): (&Label, &[u64; Preference::ALL.len()])| {
            let count = |preference| counts[preference as usize];
            (label.as_str(), Figures::of(label.preferences(), Preference::as_str, count))
        };
        Some(Figures(self.labels.iter().zip(counts).map(of_label).collect()))
    }

    /// Returns the number of URLs by the state of their origin, or `None` if the state was not
    /// counted for all URLs.
    pub(crate) fn states(&self) -> Option<Figures> {
        let count = |state| {
            let reasons = Reason::ALL.into_iter().filter(|reason| reason.state() == Some(state));
            let of_agent = |it: &AgentCounts| reasons.map(|reason| it.reason(reason)).sum::<u64>();
            self.states[state as usize] + self.agents.first().map_or(0, of_agent)
        };
        let states = Figures::of(PolicyState::ALL, PolicyState::as_str, count);
        (states.sum() + self.not_urls() == self.records).then_some(states)
    }

    /// Returns the number of records that are not URLs.
    pub(crate) fn not_urls(&self) -> u64 {
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
    fn add_rare<R: UrlText>(&mut self, urls: &[R], answers: &Answers<'_>) -> Result<(), Damage> {
        // These reasons do not depend on the agent, so the first agent's are enough.
        let decisions = answers.decisions().chunks_exact(self.agents.len());
        let reasons: Vec<Reason> = decisions.map(|decisions| decisions[0].reason()).collect();
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
        let set = answers.session().classifier().set();
        for OriginRecords { records, scheme, key } in answers.origins(urls) {
            if reasons[records.start] != Reason::NoPolicy {
                continue;
            }
            self.unknown_hosts.add(key, records.len() as u64, self.hosts_max);
            if let Some(other) = other_scheme(scheme)
                && set.origin(other, key)?.is_some()
            {
                self.other_scheme.add(key, records.len() as u64, self.hosts_max);
            }
        }
        Ok(())
    }

    /// Returns why nothing was decided: the most frequent reason of [`Verdict::Unknown`], if no other answer to a URL
    /// was given.
    pub fn undecided(&self) -> Option<Reason> {
        let of_all = |of: &dyn Fn(&AgentCounts) -> u64| self.agents.iter().map(of).sum::<u64>();
        let unknown = of_all(&|it| it.verdict(Verdict::Unknown));
        let invalid = of_all(&|it| it.verdict(Verdict::Invalid));
        let are_unknown = unknown > 0 && unknown + invalid == of_all(&AgentCounts::sum);
        let reasons = Reason::ALL.into_iter().filter(|it| *it != Reason::BadUrl);
        are_unknown.then(|| reasons.max_by_key(|it| of_all(&|of| of.reason(*it)))).flatten()
    }

    /// Returns the number of records that are not URLs, and the first of them, if these are most.
    pub fn mostly_invalid(&self) -> Option<(u64, &InvalidRecord)> {
        let invalid = self.agents.first()?.verdict(Verdict::Invalid);
        Some((invalid, self.invalid.samples.first()?)).filter(|_| 2 * invalid > self.records)
    }

    /// Adds the counts of the next chunk. Without unknown hosts, chunks may be merged in any order.
    pub fn merge(&mut self, next: &Counts) {
        self.records += next.records;
        self.bytes += next.bytes;
        self.agents.resize(self.agents.len().max(next.agents.len()), AgentCounts::default());
        for (agent, next) in self.agents.iter_mut().zip(&next.agents) {
            add_counts(&mut agent.of_codes, &next.of_codes);
        }
        add_counts(&mut self.states, &next.states);
        self.unknown_hosts.merge(&next.unknown_hosts, SUMMARY_UNKNOWN_HOSTS_MAX);
        self.other_scheme.merge(&next.other_scheme, SUMMARY_UNKNOWN_HOSTS_MAX);
        self.ages.merge(next.ages);
        if !next.labels.is_empty() {
            self.labels.clone_from(&next.labels);
        }
        add_rows(&mut self.preferences, &next.preferences);
        add_rows(&mut self.record_agents, &next.record_agents);
        add_option(&mut self.unreadable_delays, next.unreadable_delays);
        add_option(&mut self.kept, next.kept);
        add_option(&mut self.unstated, next.unstated);
        add_option(&mut self.reserved, next.reserved);
        add_option(&mut self.permitted, next.permitted);
        self.invalid.merge(&next.invalid);
        self.plan = self.plan.or(next.plan);
        if let Some(next) = &next.dropped {
            add_counts(self.dropped.get_or_insert_default(), next);
        }
    }
}

/// Adds rows of counts, of which there may be more than before.
fn add_rows<const COUNTS: usize>(sums: &mut Vec<[u64; COUNTS]>, rows: &[[u64; COUNTS]]) {
    sums.resize(sums.len().max(rows.len()), [0; COUNTS]);
    add_counts(sums.as_flattened_mut(), rows.as_flattened());
}

/// Adds a count that only some runs have.
pub(crate) fn add_option(sum: &mut Option<u64>, count: Option<u64>) {
    if let Some(count) = count {
        *sum.get_or_insert(0) += count;
    }
}

#[cfg(test)]
mod tests {
    use portcullis_set::batch::Session;

    use super::*;
    use crate::tests::{SCHEME, classifier};

    const ALLOWED: Answer = Answer::new(Verdict::Allow, Reason::NoRule);
    const FORBIDDEN: Answer = Answer::new(Verdict::Disallow, Reason::Unavailable);

    /// Counts records with these numbers of bytes and decisions.
    fn counted(records: &[(u64, [Answer; 2])]) -> Counts {
        let mut counts = Counts::new(2);
        for (bytes, decisions) in records {
            counts.records += 1;
            counts.bytes += bytes;
            counts.agents.iter_mut().zip(decisions).for_each(|(agent, it)| agent.add(*it));
        }
        counts
    }

    #[test]
    fn counts_of_chunks_add_up_in_any_order() {
        let first = (10, [ALLOWED, FORBIDDEN]);
        let second = (5, [Answer::new(Verdict::Unknown, Reason::NoPolicy), ALLOWED]);
        let whole = counted(&[first, second]);
        let (left, right) = (counted(&[first]), counted(&[second]));
        let mut sum = Counts::default();
        sum.merge(&right);
        sum.merge(&left);
        assert_eq!((sum.records, &sum.agents), (whole.records, &whole.agents));
        assert_eq!((sum.records, sum.bytes), (2, 15));
        let [first, second] = &sum.agents[..] else { panic!("{sum:?}") };
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
            assert_eq!(counts.unknown_hosts.names(), expected);
            let states = counts.states().unwrap();
            assert_eq!(states.to_string(), "rules 2, unknown 3", "one is of a robots.txt");
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
