//! An agent for each record: finds the crawler that a record names, and decides the record for it.
//!
//! The records of a block stay together whatever their agents are. The question about a record is
//! an entry, the policy and the agent, so that each stage still runs over the whole block. Where
//! answers begin is found for each entry that is asked about, not for all agents of a policy.
//!
//! † A record without an agent, or with one that is unreadable, is unknown and never allowed: the
//! groups for `*` may allow what a group for the agent forbids. The same holds for an agent that is
//! not asked about and that a file of the set names. The groups for `*` apply to other agents,
//! because no file names them.
//!
//! Cost: one look-up in a table per record whose agent differs from that of the record before. An
//! agent is parsed once per session. Memory: eight bytes for each policy and agent, which are used
//! only where an entry was asked about, and [`RECORD_AGENTS_CACHED_MAX`] agents per session.

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use portcullis_dialect::decision::Decision;
use portcullis_dialect::dialect::{RFC_9309, RobotsTxtUrl};
use portcullis_dialect::limits::{RECORD_AGENT_BYTES_CACHED_MAX, RECORD_AGENTS_CACHED_MAX};
use portcullis_engine::block::{BlockMemory, NO_POLICY, NO_URL, Questions, Source, Start};
use portcullis_robots::policy::AgentChain;
use portcullis_robots::url::ComparedPaths;

use super::classifier::{AskError, starts_of};
use super::times::Times;
use super::{Classifier, Session};
use crate::Damage;
use crate::layout::NONE;
use crate::stored::{PolicyNumber, Selected};

/// How the agent of a record is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AgentKind {
    /// A product token, or several joined by `+`.
    #[default]
    Token,
    /// A User-Agent header. Its crawler is the agent with the longest token among its words.
    Header,
}

/// How the agent of each record is found.
#[derive(Debug)]
pub(super) struct Crawlers {
    kind: AgentKind,
    /// The agents by name and by first token, in lower case.
    by_name: HashMap<Vec<u8>, u32, RandomState>,
    /// The agent that no file names.
    unnamed: u32,
}

/// The agents of the records of a block, and those that were found before.
#[derive(Clone, Debug, Default)]
pub(super) struct RecordAgents {
    /// By record: the agent, or [`NONE`].
    agents: Vec<u32>,
    /// By record: the entry that is asked about, or the marker for none.
    entries: Vec<u32>,
    unresolved: Vec<u32>,
    /// The agents by their text.
    known: HashMap<Box<[u8]>, u32, RandomState>,
}

impl Classifier {
    /// Decides each record for an agent of its own, among those of this classifier. See
    /// [`Session::classify_as`]. Adds an agent called `*`, which no file names.
    ///
    /// # Errors
    ///
    /// As for [`Classifier::with_limits`]; if the set was compiled for some agents.
    ///
    /// # Panics
    ///
    /// If labels of usage are asked about.
    pub fn with_agent_per_record(mut self, kind: AgentKind) -> Result<Classifier, AskError> {
        assert!(self.usage.is_none(), "usage is not asked about with an agent per record");
        let mut by_name: HashMap<Vec<u8>, u32, RandomState> = HashMap::default();
        for (number, agent) in (0..).zip(&self.agents) {
            for name in std::iter::once(agent.name()).chain(agent.tokens().take(1)) {
                by_name.entry(name.to_ascii_lowercase().into()).or_insert(number);
            }
        }
        let (unnamed, chain) = (self.agents.len() as u32, AgentChain::unnamed());
        if !self.set.has_all_robots() {
            // An agent that a file names would pass for one that none names.
            return Err(AskError::OtherAgents { agent: chain.name().to_owned() });
        }
        self.tokens.push(self.set.tokens_of(&chain)?);
        self.agents.push(chain);
        // Starts of this classifier may refer to other agents, so none of them is kept.
        self.starts = starts_of(self.set.policy_count(), self.agents.len(), 1)?;
        self.crawlers = Some(Crawlers { kind, by_name, unnamed });
        Ok(self)
    }

    /// Returns the agent that `text` names; [`NONE`] if it names none, or one that is not asked
    /// about and that a file names.
    fn recognise(&self, crawlers: &Crawlers, text: &[u8]) -> Result<u32, Damage> {
        let text = String::from_utf8_lossy(text);
        let text = text.trim();
        let known =
            |name: &str| crawlers.by_name.get(name.to_ascii_lowercase().as_bytes()).copied();
        let chain = match crawlers.kind {
            AgentKind::Token => match known(text) {
                Some(agent) => return Ok(agent),
                None => AgentChain::parse(text, self.dialect()),
            },
            AgentKind::Header => {
                // Where a dialect compares names by occurrence, its chain is the header as a whole.
                let Ok(words) = AgentChain::from_header(text, &RFC_9309) else { return Ok(NONE) };
                match words.tokens().find_map(known) {
                    Some(agent) => return Ok(agent),
                    None if words.is_browser() => return Ok(crawlers.unnamed),
                    None => AgentChain::from_header(text, self.dialect()),
                }
            }
        };
        match chain {
            Ok(chain) if !self.set.names_agent(&chain)? => Ok(crawlers.unnamed),
            _ => Ok(NONE),
        }
    }

    /// Decides each path of a block for the agent of its record.
    pub(super) fn decide_each(
        &self,
        policies: &[u32],
        paths: ComparedPaths<'_>,
        block: &mut BlockMemory,
        RecordAgents { agents, entries, unresolved, .. }: &mut RecordAgents,
    ) -> Result<(), Damage> {
        let columns = self.agents.len() as u32;
        let entry = |(&policy, &agent): (&u32, &u32)| match (policy, agent) {
            (NO_POLICY | NO_URL, _) => policy,
            (_, NONE) => NO_POLICY,
            _ => policy * columns + agent,
        };
        entries.clear();
        entries.extend(policies.iter().zip(&*agents).map(entry));
        self.resolve_entries(entries, unresolved)?;
        let questions = Questions { policies: entries, paths: paths.as_slices() };
        block.ask(self.table(&self.starts, 1), questions, |entry| self.build_rule_set(entry))?;
        if self.dialect().paths.robots_txt == RobotsTxtUrl::AlwaysAllowed {
            self.allow_robots_txt(questions, block);
        }
        let (decisions, sources) = block.answers_mut();
        for (record, _) in agents.iter().enumerate().filter(|(_, agent)| **agent == NONE) {
            if policies[record] < NO_URL {
                (decisions[record], sources[record]) = (Decision::NO_AGENT, Source::NOWHERE);
            }
        }
        // As in `decide`: the length of a mapped file is compared before a decision is returned.
        self.set.has_length()
    }

    /// Finds where answers begin for entries that are used for the first time.
    fn resolve_entries(&self, entries: &[u32], unresolved: &mut Vec<u32>) -> Result<(), Damage> {
        unresolved.clear();
        unresolved.extend(entries.iter().filter(|&&entry| !self.starts.has(entry as usize)));
        let columns = self.agents.len();
        let policy_of = |entry: u32| PolicyNumber((entry as usize / columns) as u32);
        unresolved.iter().for_each(|&entry| self.set.prefetch_policy_index(policy_of(entry)));
        unresolved.iter().for_each(|&entry| self.set.prefetch_policy(policy_of(entry)));
        for &entry in &*unresolved {
            let tokens = &self.tokens[entry as usize % columns];
            let start = match self.set.policy(policy_of(entry))?.select(tokens)? {
                Selected::Fixed(fixed) => Start { line: Start::FIXED, number: fixed.0 },
                Selected::Rules(rules) => self.set.start_of(rules.rule_set)?,
            };
            self.starts.set(entry as usize, &[start]);
        }
        Ok(())
    }
}

impl Session {
    /// Returns one decision for each record, for the agent that `agents` has for it: a product
    /// token or a User-Agent header, as [`Classifier::with_agent_per_record`] says. An agent that is
    /// empty or unreadable is unknown.
    ///
    /// ```
    /// use portcullis_dialect::decision::{Reason, Verdict};
    /// use portcullis_dialect::dialect::RFC_9309;
    /// use portcullis_robots::policy::AgentChain;
    /// use portcullis_set::batch::{AgentKind, Classifier, Session, Times};
    /// use portcullis_set::{LoadConfig, PolicySet};
    ///
    /// let text = b"User-agent: ABot\nDisallow: /\n\nUser-agent: *\nAllow: /\n";
    /// let set = PolicySet::of_text(text, &LoadConfig::new(&RFC_9309));
    /// let agents = vec![AgentChain::parse("ABot", &RFC_9309)?];
    /// let classifier = Classifier::new(set, agents)?.with_agent_per_record(AgentKind::Header)?;
    /// let mut session = Session::new(classifier, None);
    /// let agents: [&[u8]; 3] = [b"Mozilla/5.0 (compatible; ABot/1.0)", b"Mozilla/5.0 Firefox", b""];
    /// let decisions = session.classify_as(&["https://a.example/"; 3], Times::Now, &agents)?;
    /// assert_eq!(decisions[0].verdict, Verdict::Disallow);
    /// assert_eq!(decisions[1].verdict, Verdict::Allow);
    /// assert_eq!(decisions[2].reason, Reason::NoAgent);
    /// assert_eq!(session.agent_of(1).map(AgentChain::name), Some("*"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`Session::classify`].
    ///
    /// # Panics
    ///
    /// As [`Session::classify_at`]; if the classifier has no agent per record, or the numbers of
    /// agents and records differ.
    pub fn classify_as<R: AsRef<[u8]>>(
        &mut self,
        records: &[R],
        times: Times<'_>,
        agents: &[&[u8]],
    ) -> Result<&[Decision], Damage> {
        assert_eq!(records.len(), agents.len(), "one agent per record");
        let Session { classifier, agents: RecordAgents { agents: found, known, .. }, .. } = self;
        let crawlers =
            classifier.crawlers.as_ref().expect("the classifier has an agent per record");
        found.clear();
        for (record, &text) in agents.iter().enumerate() {
            if record > 0 && agents[record - 1] == text {
                found.push(found[record - 1]);
                continue;
            }
            let agent = match known.get(text) {
                Some(agent) => *agent,
                None => {
                    let agent = classifier.recognise(crawlers, text)?;
                    if known.len() < RECORD_AGENTS_CACHED_MAX
                        && text.len() <= RECORD_AGENT_BYTES_CACHED_MAX
                    {
                        known.insert(text.into(), agent);
                    }
                    agent
                }
            };
            found.push(agent);
        }
        let times = match times {
            Times::Now => self.classifier.times,
            times => times,
        };
        self.decide_records(records, times)
    }

    /// Returns the agent of the record at `record` of the last block; `None` if it has none that is
    /// asked about.
    ///
    /// # Panics
    ///
    /// If the last block has no such record, or no agent per record.
    pub fn agent_of(&self, record: usize) -> Option<&AgentChain> {
        self.classifier.agents.get(self.agents.agents[record] as usize)
    }

    /// Returns the index of the agent of the record at `record` of the last block among
    /// [`Classifier::agents`]; `None` as for [`Session::agent_of`].
    ///
    /// # Panics
    ///
    /// As [`Session::agent_of`].
    #[inline]
    pub fn agent_index_of(&self, record: usize) -> Option<usize> {
        Some(self.agents.agents[record]).filter(|&agent| agent != NONE).map(|agent| agent as usize)
    }

    /// Returns the index of the agent that an answer of the last block is for. There may be no such
    /// agent if each record has its own.
    pub(super) fn asked_agent(&self, answer: usize) -> usize {
        match self.classifier.crawlers {
            None => answer % self.classifier.agents.len(),
            Some(_) => self.agents.agents[answer] as usize,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use portcullis_dialect::decision::Reason;

    use super::*;
    use crate::{LoadConfig, PolicySet};

    const SHARED: &str = "User-agent: a\nUser-agent: b\nDisallow: /x\n\nUser-agent: c\nAllow: /\n";

    fn classifier(names: &[&str]) -> Classifier {
        let set = PolicySet::of_text(SHARED.as_bytes(), &LoadConfig::new(&RFC_9309));
        let chain = |name: &&str| AgentChain::parse(name, &RFC_9309).unwrap();
        Classifier::new(Arc::new(set), names.iter().map(chain).collect()).unwrap()
    }

    #[test]
    fn a_set_for_some_agents_does_not_say_who_is_named() {
        let agents: Vec<AgentChain> = vec![AgentChain::parse("a", &RFC_9309).unwrap()];
        let config =
            LoadConfig { agents: Some(agents.clone().into()), ..LoadConfig::new(&RFC_9309) };
        let set = PolicySet::of_text(SHARED.as_bytes(), &config);
        let each = Classifier::new(set, agents).unwrap().with_agent_per_record(AgentKind::Token);
        assert!(matches!(each, Err(AskError::OtherAgents { .. })));
    }

    #[test]
    fn an_agent_that_shares_the_rules_of_another_is_asked_alone() {
        // The second agent's answers begin where the first one's do, which no record asks about.
        let mut all = Session::new(classifier(&["a", "b"]), None);
        all.classify(&["https://h.example/x"]).unwrap();
        let all = all.decisions().to_vec();
        let each = classifier(&["a", "b"]).with_agent_per_record(AgentKind::Token).unwrap();
        let mut each = Session::new(each, None);
        for name in [&b"b"[..], b"a"] {
            let decisions = each.classify_as(&["https://h.example/x"], Times::Now, &[name]);
            assert_eq!(decisions.unwrap(), [all[0]]);
            assert_eq!(all[0], all[1]);
        }
    }

    #[test]
    fn a_header_names_the_agent_with_the_longest_token() {
        let header = classifier(&["a", "a-news", "c"]).with_agent_per_record(AgentKind::Header);
        let mut session = Session::new(header.unwrap(), None);
        let mut agent = |text: &[u8]| {
            session.classify_as(&["https://h.example/x"], Times::Now, &[text]).unwrap();
            let reason = session.decisions()[0].reason;
            assert_eq!(session.agent_of(0).is_none(), reason == Reason::NoAgent);
            session.agent_of(0).map(|agent| agent.name().to_owned())
        };
        let browser =
            b"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131";
        let long = ["a-news/1 ".repeat(500), "b ".repeat(1_000)];
        for (text, expected) in [
            (&b"Mozilla/5.0 (compatible; A/1.0; +https://c.example/c)"[..], Some("a")),
            (b"a/1 a-news/2 (like a)", Some("a-news")),
            (browser, Some("*")),
            (b"Mozilla/5.0 (X11; Linux) Safari/1 B/2.0", None),
            (b"Other/1.0", Some("*")),
            (long[0].as_bytes(), Some("a-news")),
            (long[1].as_bytes(), None),
            (b"", None),
            (b"-", None),
            (b" \t", None),
            (b"a\0", None),
            (b"\xff\xfe", None),
        ] {
            // The second time, the agent is remembered, unless its text is long.
            for _ in 0..2 {
                let shown = text.escape_ascii().to_string();
                assert_eq!(agent(text).as_deref(), expected, "{shown}");
            }
        }
    }
}
