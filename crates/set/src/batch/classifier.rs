//! The handle that threads share: a policy set, and the agents that ask it.
//!
//! A set holds rules for every agent, so the groups of a policy that apply to an agent have to be
//! found first. This is done once for each policy and agent; a [table](super::asking) that threads
//! share has where the rule set begins.
//!
//! Hosts, and policies that are used for the first time, are found for a block of questions, stage
//! by stage. The loads of one stage do not depend on each other, so the CPU overlaps many of them.

use std::num::NonZeroU32;
use std::sync::Arc;

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use portcullis_dialect::decision::Decision;
use portcullis_dialect::dialect::{Dialect, RobotsTxtUrl};
use portcullis_dialect::usage::Label;
use portcullis_engine::Settings;
use portcullis_robots::access::UnixSeconds;
use portcullis_robots::policy::{AgentError, Crawler, Explanation, WithoutFile};

use super::asking::{Asked, Beginning, Entries, EntryNumber, Part, Questions, Starts};
use super::freshness::Freshness;
use super::pieces::{Host, Pieces};
use crate::layout::EVERY_HOST;
use crate::stored::{
    AgentTokens, AppliedGroups, CaptureFacts, Effect, PolicyEntry, PolicyNumber, Read,
    RecordPolicy, RuleGroup, StoredCapture,
};
use crate::{Damage, PolicySet};

/// The policies of a set and the agents to decide for. Threads share it; each has its own
/// [`Session`](super::Session).
#[derive(Debug)]
pub struct Classifier {
    pub(super) set: Arc<PolicySet>,
    pub(super) agents: Vec<Crawler>,
    /// By agent: the names of crawlers in the set that it matches.
    pub(super) tokens: Vec<AgentTokens>,
    /// The agents that read answers in another way than the dialect.
    pub(super) readers: Box<[usize]>,
    /// The limits, and the vectors: by default the widest that the CPU supports. Results do not depend on them.
    pub settings: Settings,
    /// By policy and agent: where answers begin.
    pub(super) starts: Starts,
    /// The labels of usage that are asked about.
    pub(super) labels: Vec<Label>,
    /// Whether what files state about URLs that an agent may not fetch is found too, instead of
    /// [`Preference::NoAccess`](portcullis_dialect::usage::Preference::NoAccess).
    pub has_usage_of_disallowed: bool,
    /// How the age of captures is compared; `None` to ignore it. Costs one look at the capture per host of a block.
    pub freshness: Option<Freshness>,
    /// The decision before the first capture of an origin.
    pub before_first: BeforeFirst,
    /// The time as of which records without times of their own are decided; `None` for after all
    /// captures.
    pub(super) at: Option<UnixSeconds>,
    /// The time as of which the newest policies were settled, if that is known and an agent reads
    /// answers in its own way.
    pub(super) settled_at: Option<UnixSeconds>,
    /// Whether a block with times is also decided as of now: by the newest policies, whatever their age. See
    /// [`Answers::now`](super::Answers::now). Costs a second decision per record and agent.
    pub and_now: bool,
    /// How the agent of each record is found; `None` if each record is decided for all agents.
    pub(super) crawlers: Option<Crawlers>,
}

/// How the agent of a record is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AgentKind {
    /// A product token, or several joined by `+`.
    #[default]
    Token,
    /// A User-Agent header. Its crawler is the chain of its tokens, longest first, as
    /// [`Crawler::from_header`] reads it: in each file, the agent whose token the file names first.
    Header,
}

/// The number of an agent of a classifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct AgentNumber(NonZeroU32);

impl AgentNumber {
    fn new(index: usize) -> AgentNumber {
        let number = u32::try_from(index + 1).ok().and_then(NonZeroU32::new);
        AgentNumber(number.expect("fewer agents than pairs of a policy and an agent"))
    }

    pub fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// How the agent of each record is found.
#[derive(Debug)]
pub(super) struct Crawlers {
    pub kind: AgentKind,
    /// The agents by name and by first token, in lower case.
    by_name: HashMap<Vec<u8>, AgentNumber, RandomState>,
    /// The agent that no file names.
    pub unnamed: AgentNumber,
    /// Reads the agent of a record that is of `kind` and not known by name.
    pub read: CrawlerReader,
}

/// Returns the crawler of a record in a dialect, as [`Crawler::parse`] and [`Crawler::from_header`] do.
pub type CrawlerReader = fn(&str, &Dialect) -> Result<Crawler, AgentError>;

/// An error that prevents queries of a set.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AskError {
    /// A part of the set that is read is damaged.
    #[error(transparent)]
    Damaged(#[from] Damage),
    /// The set was compiled for an older matching, or there are too many agents.
    #[error("{0}")]
    Refused(String),
}

/// The decision for a time before the first capture of an origin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BeforeFirst {
    /// It is unknown, with the reason `before-first`.
    #[default]
    Unknown,
    /// The first capture decides.
    /// [`AgeCounts::before_first`](super::AgeCounts::before_first) counts such records.
    Oldest,
}

/// The explanation of one decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explained {
    /// The rules and groups that were considered.
    pub explanation: Explanation,
    /// The response of the origin, with the notes on its file, and its outage if one is known.
    pub facts: CaptureFacts,
    /// The policy that the agent reads instead of the origin's, by its
    /// [reading](portcullis_robots::policy::Reading), and the explanation is of that; `None` if it reads the
    /// policy.
    pub read: Option<Read>,
}

impl Classifier {
    /// Creates a classifier of a set for `agents`. Looks the agents up among the names of crawlers in
    /// the set.
    ///
    /// # Errors
    ///
    /// If those names are damaged; if there are more than 2^32 - 2 pairs of a policy and an agent, or
    /// the system refuses the memory for four bytes for each.
    pub fn new(
        set: impl Into<Arc<PolicySet>>,
        agents: Vec<Crawler>,
    ) -> Result<Classifier, AskError> {
        let set = set.into();
        if !set.matches_as_now() {
            let set = set.name();
            return Err(AskError::Refused(format!(
                "{set} was compiled by an older version, which matched paths differently"
            )));
        }
        let tokens = agents.iter().map(|agent| set.tokens_of(agent)).collect::<Result<_, Damage>>();
        let tokens = tokens?;
        let starts = starts_of(set.policy_count(), agents.len())?;
        let readers = readers(&agents);
        let settled_at = if readers.is_empty() { None } else { set.settled_at()? };
        Ok(Classifier {
            set,
            readers,
            agents,
            tokens,
            settings: Settings::default(),
            starts,
            labels: Vec::new(),
            has_usage_of_disallowed: false,
            freshness: None,
            before_first: BeforeFirst::Unknown,
            at: None,
            settled_at,
            and_now: false,
            crawlers: None,
        })
    }

    /// Decides each record for its own agent, one of this classifier. See
    /// [`Records::agents`](super::Records::agents). Adds an agent called `*`, which no file names.
    ///
    /// # Errors
    ///
    /// As for [`Classifier::new`]; if several agents have the same first token, and none is called
    /// like it.
    ///
    /// # Panics
    ///
    /// If labels of usage are asked about.
    pub fn with_agent_per_record(mut self, kind: AgentKind) -> Result<Classifier, AskError> {
        assert!(self.labels.is_empty(), "usage is not asked about with an agent per record");
        let mut by_name: HashMap<Vec<u8>, AgentNumber, RandomState> = HashMap::default();
        let agents = || (0..).map(AgentNumber::new).zip(&self.agents);
        for (number, agent) in agents() {
            by_name.entry(agent.name().to_ascii_lowercase().into()).or_insert(number);
        }
        // A first token names an agent unless it is the name of another, or the first of several.
        let mut by_token: HashMap<Vec<u8>, Vec<AgentNumber>, RandomState> = HashMap::default();
        for (number, agent) in agents() {
            let name = agent.name().to_ascii_lowercase();
            let token = agent.tokens().next().unwrap_or_default().to_ascii_lowercase();
            let is_first = by_name[name.as_bytes()] == number;
            if is_first && !by_name.contains_key(token.as_bytes()) {
                by_token.entry(token.into()).or_default().push(number);
            }
        }
        for (token, numbers) in by_token {
            match *numbers {
                [one] => by_name.insert(token, one),
                _ => return Err(several_with_token(&token, &numbers, &self.agents)),
            };
        }
        let (unnamed, chain) = (AgentNumber::new(self.agents.len()), Crawler::unnamed());
        self.tokens.push(self.set.tokens_of(&chain)?);
        self.agents.push(chain);
        // Starts of this classifier may refer to other agents, so none of them is kept.
        self.starts = starts_of(self.set.policy_count(), self.agents.len())?;
        let read = match kind {
            AgentKind::Token => Crawler::parse,
            AgentKind::Header => Crawler::from_header,
        };
        self.crawlers = Some(Crawlers { kind, by_name, unnamed, read });
        Ok(self)
    }

    /// Reads the agents of records by `read` instead of [`Crawler::parse`] for tokens, or
    /// [`Crawler::from_header`] for headers: for instance as the operators of crawlers document it. A crawler
    /// that follows groups besides its own is not taken for one that no file names. No effect without [an agent
    /// per record](Classifier::with_agent_per_record).
    #[must_use]
    pub fn with_agents_read_by(mut self, read: CrawlerReader) -> Classifier {
        if let Some(crawlers) = &mut self.crawlers {
            crawlers.read = read;
        }
        self
    }

    /// Also finds usage preferences for these labels, in their order; none for access alone. See
    /// [`Answers::preferences`](super::Answers::preferences).
    ///
    /// The automata of access and of usage have half of the thread's budget each then.
    ///
    /// # Panics
    ///
    /// If each record has an agent of its own.
    #[must_use]
    pub fn with_usage(mut self, labels: &[Label]) -> Classifier {
        if labels.is_empty() {
            return self;
        }
        assert!(self.crawlers.is_none(), "usage is not asked about with an agent per record");
        self.settings.limits.automata_bytes_max /= 2;
        self.labels = labels.to_vec();
        self
    }

    /// Decides records as of `time` unless they have times of their own; `None` for after all captures.
    ///
    /// # Panics
    ///
    /// If there is a time and the set has no history.
    #[must_use]
    pub fn as_of(mut self, time: Option<UnixSeconds>) -> Classifier {
        assert!(time.is_none() || self.set.has_history(), "the set has no history");
        self.at = time;
        self
    }

    /// Returns the one time of [`Classifier::as_of`], and what applies before the first capture.
    pub fn one_time(&self) -> Option<(UnixSeconds, BeforeFirst)> {
        Some((self.at?, self.before_first))
    }

    /// Returns the set.
    pub fn set(&self) -> &Arc<PolicySet> {
        &self.set
    }

    /// Returns the dialect of the set.
    pub fn dialect(&self) -> &'static Dialect {
        self.set.dialect()
    }

    /// Returns the agents, in the order of decisions.
    pub fn agents(&self) -> &[Crawler] {
        &self.agents
    }

    /// Whether each record has an agent of its own.
    #[inline]
    pub fn has_agent_per_record(&self) -> bool {
        self.crawlers.is_some()
    }

    /// Returns how the agents of records are written; `None` if each record is decided for all agents.
    pub fn agent_kind(&self) -> Option<AgentKind> {
        self.crawlers.as_ref().map(|crawlers| crawlers.kind)
    }

    /// Returns the number of decisions per record: one per agent, or one by the record's agent.
    #[inline]
    pub fn answers_per_record(&self) -> usize {
        if self.crawlers.is_some() { 1 } else { self.agents.len() }
    }

    /// Returns the labels that are asked about, in the order of preferences.
    pub fn labels(&self) -> &[Label] {
        &self.labels
    }

    /// Returns the number of the capture of a host with a policy, as of now.
    #[inline]
    pub(super) fn capture_of(&self, host: &Host) -> Result<u32, Damage> {
        let position = match self.set.is_universal() {
            false => host.candidate.position(),
            true => self.set.position_of(EVERY_HOST)?,
        };
        self.set.capture_of(position, host.is_https())
    }

    /// Returns the policy of an origin and its capture, as of a time or after all captures.
    pub(super) fn origin_at(
        &self,
        scheme: &[u8],
        key: &[u8],
        at: Option<UnixSeconds>,
    ) -> Result<Option<(PolicyNumber, StoredCapture<'_>)>, Damage> {
        let Some(at) = at.or(self.at) else { return self.set.origin(scheme, key) };
        let Some(timeline) = self.set.timeline_of(scheme, key)? else { return Ok(None) };
        let found = match (timeline.find(at), self.before_first) {
            (None, BeforeFirst::Oldest) => timeline.first(),
            (found, _) => found,
        };
        let moment = found.map(|at| timeline.moment(at)).transpose()?;
        Ok(moment.map(|moment| (moment.policy, moment.capture)))
    }

    /// Checks that a policy, if there is one, is in the set.
    #[inline]
    pub(super) fn known(&self, policy: RecordPolicy) -> Result<RecordPolicy, Damage> {
        let is_there = policy.0 < self.set.policy_count() || policy == RecordPolicy::UNKNOWN;
        if is_there { Ok(policy) } else { Err(self.unknown_policy()) }
    }

    #[cold]
    fn unknown_policy(&self) -> Damage {
        self.set.malformed_host("a host has a policy that is not there")
    }

    /// Decides each path of a block for each agent, according to these policies.
    ///
    /// # Panics
    ///
    /// If the numbers of paths and policies differ. The caller has found the policies in the set.
    pub(super) fn decide(
        &self,
        policies: &[RecordPolicy],
        paths: &[&[u8]],
        asked: &mut Asked,
    ) -> Result<(), Damage> {
        let entries = Entries::OfPolicies(policies, self.agents.len());
        self.decide_by(entries, paths, asked, || self.resolve_all(policies.iter().copied()))?;
        self.always_allow(paths, asked, |question| policies[question].number().is_some());
        Ok(())
    }

    /// Decides each path of a block for the only agent, according to the policies of the hosts of the URLs, which
    /// are those of [`Asked`] then.
    pub(super) fn decide_urls(
        &self,
        pieces: &Pieces,
        paths: &[&[u8]],
        asked: &mut Asked,
    ) -> Result<(), Damage> {
        let policies = || pieces.hosts().iter().map(|host| host.policy);
        let entries = Entries::OfUrls(pieces);
        self.decide_by(entries, paths, asked, || self.resolve_all(policies()))?;
        self.always_allow(paths, asked, |url| pieces.host_of_url(url).policy.number().is_some());
        Ok(())
    }

    /// Finds where the answers of policies begin that are asked about for the first time.
    fn resolve_all(&self, policies: impl Iterator<Item = RecordPolicy>) -> Result<(), Damage> {
        let numbers = policies.filter_map(RecordPolicy::number);
        let mut unresolved: Vec<_> = numbers.filter(|it| !self.is_resolved(*it)).collect();
        unresolved.dedup();
        unresolved.iter().for_each(|&policy| self.set.prefetch_head(policy));
        unresolved.iter().for_each(|&policy| self.set.prefetch_rules(policy, &self.tokens));
        let mut memory = (FirstColumns::default(), Vec::new());
        unresolved.into_iter().try_for_each(|policy| self.resolve(policy, &mut memory))
    }

    /// Decides a block of questions. `resolve` finds where the answers of entries begin that are asked about
    /// for the first time.
    #[inline]
    pub(super) fn decide_by(
        &self,
        entries: Entries<'_>,
        paths: &[&[u8]],
        asked: &mut Asked,
        resolve: impl FnOnce() -> Result<(), Damage>,
    ) -> Result<(), Damage> {
        let Classifier { starts, settings, .. } = self;
        let lines = self.set.all_lines();
        let questions = Questions { lines, starts, settings, entries, paths };
        let key_of = |place: &_, outcome| self.set.pattern_key(place, outcome);
        asked.ask(questions, resolve, key_of)?;
        // A mapped file that was truncated reads as zeros after its new end, even in blocks whose
        // checksum was compared before, and a prefilter of zeros rejects every path. So the length
        // is compared before any decision is returned. That takes 160 ns, or 1.3 ns per URL of a
        // usual block. Comparing once per chunk would cost less, but would leave out callers other
        // than the program.
        self.set.has_length()
    }

    /// Allows `/robots.txt` where the dialect always does, whatever was answered, but for questions that have
    /// no policy.
    #[inline]
    pub(super) fn always_allow(
        &self,
        paths: &[&[u8]],
        asked: &mut Asked,
        has_policy: impl Fn(usize) -> bool,
    ) {
        let rules = &self.dialect().paths;
        if rules.robots_txt != RobotsTxtUrl::AlwaysAllowed {
            return;
        }
        let columns = self.answers_per_record();
        for (question, path) in paths.iter().enumerate() {
            if rules.always_allows(path) && has_policy(question) {
                let answers = question * columns..(question + 1) * columns;
                asked.decisions[answers].fill(Decision::ROBOTS_TXT.answer());
            }
        }
    }

    /// Returns whether it is known where the answers of a policy begin.
    fn is_resolved(&self, policy: PolicyNumber) -> bool {
        (0..self.agents.len()).all(|agent| self.starts.has(self.entry(policy, agent)))
    }

    /// Finds where the answers of a policy begin, with memory to use.
    fn resolve(
        &self,
        number: PolicyNumber,
        (known, beginnings): &mut (FirstColumns, Vec<Beginning>),
    ) -> Result<(), Damage> {
        if self.is_resolved(number) {
            return Ok(()); // A policy may occur twice in a block.
        }
        let head = self.set.policy_head(number)?;
        known.clear();
        for (agent, tokens) in self.tokens.iter().enumerate() {
            let effect = head.effect(tokens)?;
            let same = match effect {
                Effect::Access(_) | Effect::NoGroup => None,
                Effect::Rules { entry, .. } => known.first_with(entry, agent),
            };
            beginnings.push(match same {
                Some(same) => Beginning::Shared(same),
                None => self.beginning_of(number, effect)?,
            });
        }
        self.starts.set(self.entry(number, 0), beginnings.drain(..));
        Ok(())
    }

    /// Returns where the answers of what applies to an agent begin.
    pub(super) fn beginning_of(
        &self,
        policy: PolicyNumber,
        effect: Effect,
    ) -> Result<Beginning, Damage> {
        let (entry, lines) = match effect {
            Effect::Access(outcome) => return Ok(Beginning::Fixed(Some(outcome))),
            Effect::NoGroup => return Ok(Beginning::Fixed(None)),
            Effect::Rules { entry, lines } => (entry, lines),
        };
        if let Some(lines) = lines {
            return self.set.start_at(lines).map(Beginning::RuleSet);
        }
        let part = |group: RuleGroup<'_>| {
            let place = group.place()?;
            Ok(Part { start: self.set.start_at(place.lines)?, place })
        };
        let groups = self.set.policy(policy)?.rule_groups(entry)?;
        Ok(Beginning::Several(groups.into_iter().map(part).collect::<Result<_, Damage>>()?))
    }

    /// Returns the entry of a policy and an agent.
    pub(super) fn entry(&self, policy: PolicyNumber, agent: usize) -> EntryNumber {
        EntryNumber::of(policy, self.agents.len(), agent)
    }

    /// Returns the groups of a policy that apply to an agent; `None` if no group applies to it, or there is no
    /// file with rules.
    ///
    /// # Errors
    ///
    /// If a part of the set that is read is damaged.
    ///
    /// # Panics
    ///
    /// If there is no such agent.
    pub fn rules_of(
        &self,
        policy: PolicyNumber,
        agent: usize,
    ) -> Result<Option<AppliedGroups<'_>>, Damage> {
        self.set.policy(policy)?.applied_groups(&self.tokens[agent])
    }
}

/// Entries of a policy that are compared one by one: 64. Further ones are looked up in a table.
///
/// Source: our choice. Comparing as many takes as long as one look-up.
const ENTRIES_COMPARED_MAX: usize = 64;

/// The first agent with each entry of a policy.
#[derive(Default)]
struct FirstColumns {
    compared: Vec<(PolicyEntry, usize)>,
    others: HashMap<PolicyEntry, usize, RandomState>,
}

impl FirstColumns {
    fn clear(&mut self) {
        self.compared.clear();
        self.others.clear();
    }

    /// Returns the first agent with an entry; `None` if that is `agent`, which is kept.
    fn first_with(&mut self, entry: PolicyEntry, agent: usize) -> Option<usize> {
        let FirstColumns { compared, others } = self;
        if let Some(&(_, first)) = compared.iter().find(|(known, _)| *known == entry) {
            return Some(first);
        }
        if compared.len() < ENTRIES_COMPARED_MAX {
            compared.push((entry, agent));
            return None;
        }
        let first = *others.entry(entry).or_insert(agent);
        (first != agent).then_some(first)
    }
}

impl Crawlers {
    /// Returns the agent with this name or first token, in any case.
    pub fn known(&self, name: &str) -> Option<AgentNumber> {
        self.by_name.get(name.to_ascii_lowercase().as_bytes()).copied()
    }
}

/// Returns the error that several agents have a first token that is the name of none.
fn several_with_token(token: &[u8], numbers: &[AgentNumber], agents: &[Crawler]) -> AskError {
    let names = numbers.iter().map(|number| agents[number.index()].name());
    let (names, token) = (names.collect::<Vec<_>>().join(", "), String::from_utf8_lossy(token));
    AskError::Refused(format!(
        "a record of {token} would name several agents: {names}; name one of them"
    ))
}

/// Returns the starts of each pair of a policy and an agent, none of which is known. Each pair has a
/// number below the markers.
fn starts_of(policies: u32, agents: usize) -> Result<Starts, AskError> {
    let error = |why| {
        let pairs = format!("{agents} agents and {policies} policies");
        AskError::Refused(format!("{pairs}: {why}; name fewer agents"))
    };
    let pairs = (policies as usize).checked_mul(agents);
    let pairs = pairs
        .filter(|&pairs| pairs < RecordPolicy::NO_URL.0 as usize)
        .ok_or_else(|| error("a table of them would be too large"))?;
    Starts::new(pairs).ok_or_else(|| error("too little memory for a table of them"))
}

/// Returns the agents that read answers in another way than the dialect.
fn readers(agents: &[Crawler]) -> Box<[usize]> {
    let is_reader = |agent: &usize| agents[*agent].reading().without_file != WithoutFile::AsDialect;
    (0..agents.len()).filter(is_reader).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_agent_with_an_entry_has_its_answers() {
        let mut first = FirstColumns::default();
        for _ in 0..2 {
            first.clear();
            for agent in 0..1_000 {
                let expected = (agent >= 200).then_some(agent % 200);
                assert_eq!(first.first_with(PolicyEntry((agent % 200) as u32), agent), expected);
            }
        }
    }

    #[test]
    fn each_pair_of_a_policy_and_an_agent_has_a_number() {
        const NO_URL: u32 = RecordPolicy::NO_URL.0;
        assert!(starts_of(0, 9).is_ok());
        let starts = starts_of(9, 18).unwrap();
        assert!((0..162).all(|entry| !starts.has(EntryNumber::of(PolicyNumber(0), 162, entry))));
        for (policies, agents) in
            [(NO_URL, 1), (1 << 16, 1 << 16), (1, NO_URL as usize), (u32::MAX, usize::MAX)]
        {
            let error = starts_of(policies, agents).unwrap_err();
            assert!(error.to_string().contains("would be too large"), "{error}");
        }
    }
}
