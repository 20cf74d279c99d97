//! Agents asking a set: from the keys of hosts and paths to decisions.
//!
//! A set speaks to every agent, so asking begins with finding, in a policy, the groups that an
//! agent obeys. That is done once for each policy and agent: a table of two words for each remembers where
//! the prefilter of the rule set stands, and threads share it. From there on a question costs what one of
//! loaded policies does, because it is answered by the same [`Block`]. Hosts, and policies that are asked for
//! the first time, are found for a block of questions, step by step: the loads of one step do not depend on
//! each other, and the processor waits for many at once instead of one after another.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use zerocopy::FromZeros;

use portcullis_dialect::decision::Decision;
use portcullis_dialect::dialect::RobotsTxtUrl;
use portcullis_matcher::automaton::{Automata, Detail, Limits, Outcome, Patterns, PrefilterLine};
use portcullis_matcher::bytes::are_same;
use portcullis_matcher::vectors::Vectors;
use portcullis_robots::policy::{
    AgentChain, Block, BlockMemory, Explanation, NO_POLICY, NO_URL, Policies, Start, Ways, explain,
};
use portcullis_robots::syntax::RobotsTxt;
use portcullis_robots::target::{ComparedPath, ComparedPaths};

use super::super::file::Damage;
use super::hosts::{Place, Search, key_with_scheme, place};
use super::policy::{FIXED_UNKNOWN, Selected, SelectedRules, fixed};
use super::rule_set::{RuleSetNumber, StoredTexts};
use super::rules::patterns_of;
use super::tokens::AgentTokens;
use super::{HostPosition, PolicyNumber, PolicySet};

/// A set and the agents that ask it. Threads share it; each has its own [`QueryMemory`].
#[derive(Debug)]
pub struct Query {
    pub(super) set: Arc<PolicySet>,
    pub(super) detail: Detail,
    limits: Limits,
    pub(super) agents: Vec<AgentChain>,
    pub(super) tokens: Vec<AgentTokens>,
    starts: Starts,
    vectors: Vectors,
}

/// A set cannot be asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AskError {
    /// What has to be looked at is damaged.
    #[error(transparent)]
    Damaged(#[from] Damage),
    /// The set was compiled for others ([`LoadConfig::agents`](crate::LoadConfig::agents)).
    #[error("the policies were compiled for other agents than {agent}; compile them for it too")]
    OtherAgents {
        /// The first agent that may not ask.
        agent: String,
    },
}

/// A thread's memory for a [`Query`].
#[derive(Clone, Debug, Default)]
pub struct QueryMemory {
    pub block: BlockMemory,
    searches: Vec<Search>,
    candidates: Vec<Option<HostPosition>>,
    /// Policies of the block that are asked for the first time.
    unresolved: Vec<PolicyNumber>,
}

impl QueryMemory {
    /// Bytes of what was built for questions; what one block needs is not counted.
    pub fn memory_bytes(&self) -> usize {
        self.block.memory_bytes()
    }

    /// Counts the ways in which questions were answered.
    pub fn ways(&self) -> Ways {
        self.block.ways()
    }
}

/// By policy, then by agent: where answers begin. Memory that nothing was written to takes no room.
#[derive(Debug)]
struct Starts(Box<[AtomicU64]>);

impl Starts {
    fn new(entries: usize) -> Starts {
        let starts = <[AtomicU64]>::new_box_zeroed_with_elems(entries);
        Starts(starts.expect("a word for each policy and agent"))
    }

    /// Where the answer of an entry begins; nothing if that has not been found yet.
    #[inline(always)]
    fn get(&self, entry: usize) -> Option<Start> {
        match !self.0[entry].load(Ordering::Relaxed) {
            u64::MAX => None,
            word => Some(Start { prefilter: (word >> 32) as u32, number: word as u32 }),
        }
    }

    /// Remembers where the answers of a policy begin, by agent. Two threads may find the same.
    fn set(&self, first: usize, starts: &[Start]) {
        for (entry, Start { prefilter, number }) in (first..).zip(starts) {
            let word = u64::from(*prefilter) << 32 | u64::from(*number);
            self.0[entry].store(!word, Ordering::Release);
        }
    }

    /// Whether the starts up to an entry, which is the last of its policy, have been found.
    #[inline(always)]
    fn has(&self, last: usize) -> bool {
        // The last one is stored last: who sees it sees the others.
        self.0[last].load(Ordering::Acquire) != 0
    }
}

impl Query {
    /// Probe up what the set calls the agents.
    ///
    /// # Errors
    ///
    /// If its names are damaged, or it was compiled for other agents.
    pub fn new(
        set: Arc<PolicySet>,
        agents: Vec<AgentChain>,
        detail: Detail,
        limits: Limits,
    ) -> Result<Query, AskError> {
        if let Some(stranger) = set.stranger(&agents) {
            return Err(AskError::OtherAgents { agent: stranger.name().to_owned() });
        }
        let tokens: Result<_, Damage> = agents.iter().map(|agent| set.tokens_of(agent)).collect();
        let tokens = tokens?;
        let starts = Starts::new(set.policy_count() as usize * agents.len());
        Ok(Query { set, detail, limits, agents, tokens, starts, vectors: Vectors::detect() })
    }

    /// Uses these vectors instead of the widest that the processor has. The answers are the same.
    #[must_use]
    pub fn with_vectors(self, vectors: Vectors) -> Query {
        Query { vectors, ..self }
    }

    /// Bounds the bytes that the automata of one thread hold.
    pub fn with_automata_bytes_max(mut self, bytes: usize) -> Query {
        self.limits.automata_bytes_max = bytes;
        self
    }

    /// The set.
    pub fn set(&self) -> &Arc<PolicySet> {
        &self.set
    }

    /// The agents, in the order of decisions.
    pub fn agents(&self) -> &[AgentChain] {
        &self.agents
    }

    /// Finds the policies that speak for a block of origins, each a scheme in any case and the key of a host
    /// ([`host_key`](portcullis_robots::target::host_key); an empty one is no host's), and hands their numbers out.
    pub fn find(
        &self,
        origins: &[(&[u8], &[u8])],
        memory: &mut QueryMemory,
        mut found: impl FnMut(usize, Option<u32>),
    ) -> Result<(), Damage> {
        if self.set.is_universal() {
            let is_host = |(_, key): &(&[u8], &[u8])| (!key.is_empty()).then_some(0);
            origins.iter().enumerate().for_each(|(index, origin)| found(index, is_host(origin)));
            return Ok(());
        }
        let QueryMemory { searches, candidates, .. } = memory;
        searches.clear();
        candidates.clear();
        searches.extend(origins.iter().map(|(_, key)| self.set.search(key)));
        self.set.touch_slots(searches);
        for search in searches.iter_mut() {
            candidates.push(self.set.next_candidate(search)?);
        }
        let keys = origins.iter().map(|(_, key)| key.len());
        let hosts = candidates.iter().zip(keys).filter_map(|(host, key)| Some(((*host)?, key)));
        self.set.touch_hosts(hosts);
        let searched = origins.iter().zip(searches).zip(candidates);
        for (index, ((&origin, search), candidate)) in searched.enumerate() {
            found(index, self.policy_of(origin, search, *candidate)?.map(|number| number.0));
        }
        Ok(())
    }

    #[inline(always)]
    fn policy_of(
        &self,
        (scheme, key): (&[u8], &[u8]),
        search: &mut Search,
        mut candidate: Option<HostPosition>,
    ) -> Result<Option<PolicyNumber>, Damage> {
        if key.is_empty() {
            return Ok(None);
        }
        let place = place(scheme);
        if place == Place::Other {
            let host = self.set.host(&key_with_scheme(scheme, key))?;
            return self.known(host.and_then(|host| host.policy(false)));
        }
        while let Some(position) = candidate {
            let host = self.set.host_at(position)?;
            if are_same(host.key(), key) {
                return self.known(host.policy(place == Place::Https));
            }
            candidate = self.set.next_candidate(search)?;
        }
        Ok(None)
    }

    /// A policy's number, if there is such a policy.
    #[inline]
    fn known(&self, number: Option<PolicyNumber>) -> Result<Option<PolicyNumber>, Damage> {
        match number {
            Some(number) if number.0 >= self.set.policy_count() => {
                Err(self.set.malformed_host("a host has a policy that is not there"))
            }
            number => Ok(number),
        }
    }

    /// Returns one decision for each path of a block and each agent, by the policies with these numbers;
    /// [`NO_POLICY`] and [`NO_URL`] stand for none.
    ///
    /// # Panics
    ///
    /// If there are not as many paths as policies, or there is no such policy.
    pub fn decide<'m>(
        &self,
        policies: &[u32],
        paths: ComparedPaths<'_>,
        memory: &'m mut QueryMemory,
    ) -> Result<&'m [Decision], Damage> {
        self.resolve_all(policies, &mut memory.unresolved)?;
        let asked = Asked { query: self, lines: self.set.prefilter_lines() };
        self.vectors.run(Block::new(&asked, policies, paths.as_slices(), &mut memory.block))?;
        if self.detail == Detail::Rule {
            self.name_rules(&mut memory.block)?;
        }
        // A mapped file that was truncated reads as zeros behind its new end, in blocks too that were
        // compared before, and a prefilter of zeros finds nothing. So no decision is handed out before the
        // length is asked for again. That takes 160 ns, 1.3 ns for each URL of a usual block; per chunk it
        // would take less, and leave out whoever calls this from elsewhere.
        self.set.is_whole()?;
        Ok(memory.block.decisions())
    }

    /// Finds where the answers of policies begin that are asked for the first time.
    fn resolve_all(
        &self,
        policies: &[u32],
        unresolved: &mut Vec<PolicyNumber>,
    ) -> Result<(), Damage> {
        let agents = self.agents.len();
        unresolved.clear();
        if agents > 0 {
            let is_asked = |policy: &&u32| !matches!(**policy, NO_POLICY | NO_URL);
            let is_new = |policy: &&u32| !self.starts.has((**policy as usize + 1) * agents - 1);
            let new = policies.iter().filter(is_asked).filter(is_new);
            unresolved.extend(new.map(|&policy| PolicyNumber(policy)));
            unresolved.dedup();
        }
        unresolved.iter().for_each(|policy| self.set.touch_policy_index(*policy));
        unresolved.iter().for_each(|policy| self.set.touch_policy(*policy));
        unresolved.iter().try_for_each(|policy| self.resolve(*policy))
    }

    fn resolve(&self, number: PolicyNumber) -> Result<(), Damage> {
        let policy = self.set.policy(number)?;
        let first = number.index() * self.agents.len();
        let mut entries: Vec<Option<u32>> = Vec::with_capacity(self.agents.len());
        let mut starts = Vec::with_capacity(self.agents.len());
        for tokens in &self.tokens {
            let selected = policy.select(tokens)?;
            let entry = match selected {
                Selected::Fixed(_) => None,
                Selected::Rules(rules) => Some(rules.entry),
            };
            let same = entry.and_then(|_| entries.iter().position(|other| *other == entry));
            let start = match (selected, same) {
                (_, Some(same)) => Start { prefilter: Start::SHARED, number: same as u32 },
                (Selected::Fixed(number), _) => Start { prefilter: Start::FIXED, number },
                (Selected::Rules(rules), _) => {
                    let stored = self.set.rule_set(rules.rule_set)?;
                    let lines = self.set.prefilter(&stored)?;
                    if lines.is_some() {
                        self.set.pattern_table(&stored)?;
                    }
                    let lines = lines.filter(|_| self.limits.candidates_tried_max.is_some());
                    let prefilter = lines.map_or(Start::NO_PREFILTER, |lines| lines.start);
                    Start { prefilter, number: rules.rule_set.0 }
                }
            };
            entries.push(entry);
            starts.push(start);
        }
        self.starts.set(first, &starts);
        Ok(())
    }

    /// The rules that the agent of an entry obeys by its policy.
    pub(super) fn rules_of(&self, entry: usize) -> Result<Option<SelectedRules>, Damage> {
        let (policy, agent) = (entry / self.agents.len(), entry % self.agents.len());
        match self.set.policy(PolicyNumber(policy as u32))?.select(&self.tokens[agent])? {
            Selected::Fixed(_) => Ok(None),
            Selected::Rules(rules) => Ok(Some(rules)),
        }
    }

    /// Adds to decisions which rule made them.
    fn name_rules(&self, memory: &mut BlockMemory) -> Result<(), Damage> {
        let (decisions, sources) = memory.answers_mut();
        for (decision, source) in decisions.iter_mut().zip(sources) {
            if let Some(place) = self.place_of(*source)? {
                (decision.rule, decision.line) = (Some(place.rule), Some(place.line));
            }
        }
        Ok(())
    }

    /// Why `path` is decided as it is for `agent`, by the policy at `position`.
    ///
    /// # Panics
    ///
    /// If there is no such agent.
    pub fn explain(
        &self,
        position: PolicyNumber,
        agent: usize,
        path: ComparedPath<'_>,
    ) -> Result<Explanation, Damage> {
        let policy = self.set.policy(position)?;
        let extract = policy.extract()?;
        let malformed = || policy.malformed("its records are no file");
        let file = RobotsTxt::read_extract(&extract).ok_or_else(malformed)?;
        Ok(explain(&file, &extract, self.set.dialect(), &self.agents[agent], path))
    }
}

/// What a block of questions asks.
struct Asked<'i> {
    query: &'i Query,
    lines: &'i [PrefilterLine],
}

impl Policies for Asked<'_> {
    type Texts<'l>
        = StoredTexts<'l>
    where
        Self: 'l;
    type Failure = Damage;

    #[inline(always)]
    fn agents(&self) -> usize {
        self.query.agents.len()
    }

    #[inline(always)]
    fn allows_robots_txt(&self) -> bool {
        self.query.set.dialect().paths.robots_txt == RobotsTxtUrl::AlwaysAllowed
    }

    #[inline(always)]
    fn start(&self, entry: usize) -> Start {
        // What was not found yet is not known, and never allowed.
        const UNKNOWN: Start = Start { prefilter: Start::FIXED, number: FIXED_UNKNOWN };
        self.query.starts.get(entry).unwrap_or(UNKNOWN)
    }

    #[inline(always)]
    fn fixed(&self, number: u32) -> Decision {
        fixed(number)
    }

    #[inline(always)]
    fn lines(&self) -> &[PrefilterLine] {
        self.lines
    }

    #[inline(always)]
    fn patterns(&self, rule_set: u32) -> Patterns<'_, StoredTexts<'_>> {
        let set = &*self.query.set;
        Patterns { table: set.compared_table(RuleSetNumber(rule_set)), texts: StoredTexts(set) }
    }

    #[inline(always)]
    fn candidates_tried_max(&self) -> usize {
        self.query.limits.candidates_tried_max.unwrap_or(0)
    }

    #[inline(never)]
    fn walk(
        &self,
        entry: usize,
        rule_set: u32,
        path: &[u8],
        automata: &mut Automata,
    ) -> Result<Outcome, Damage> {
        let Query { set, detail, limits, .. } = self.query;
        let list = || match self.query.rules_of(entry)? {
            Some(rules) => patterns_of(set, &rules),
            // A prefilter was found for the entry, so its policy had rules when that was looked at.
            None => Err(set.malformed_host("a policy has lost its rules")),
        };
        automata.decide(rule_set, (path, *detail), limits, list)
    }
}
