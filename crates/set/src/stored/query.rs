//! Queries a set for agents: from host keys and paths to decisions.
//!
//! A set holds rules for every agent, so a query first finds the groups of a policy that apply to
//! an agent. This is done once for each policy and agent. A table of two words for each stores
//! where the prefilter of the rule set begins, and threads share the table. After that, a question
//! costs the same as one of loaded policies, because the same [`Block`] answers it.
//!
//! Hosts, and policies that are used for the first time, are found for a block of questions, stage
//! by stage. The loads of one stage do not depend on each other, so the CPU overlaps many of them.

use std::sync::Arc;

use portcullis_dialect::decision::Decision;
use portcullis_dialect::dialect::RobotsTxtUrl;
use portcullis_dialect::usage::{Label, Preference};
use portcullis_engine::block::{BlockMemory, NO_URL, Questions, Start, Starts, Table, Ways};
use portcullis_engine::vectors::Vectors;
use portcullis_engine::{Limits, RuleSetBuf, Settings};
use portcullis_robots::policy::{AgentChain, Detail, Explanation, explain};
use portcullis_robots::target::{ComparedPath, ComparedPaths};

use super::super::file::Damage;
use super::hosts::{Place, Search, key_with_scheme, place};
use super::policy::{Selected, SelectedRules};
use super::rules::ordered;
use super::tokens::AgentTokens;
use super::usage::{StatedPlace, UsageMemory, UsageQuery};
use super::{HostPosition, PolicyNumber, PolicySet};

/// A set and the agents that query it. Threads share it; each has its own [`QueryMemory`].
#[derive(Debug)]
pub struct Query {
    pub(super) set: Arc<PolicySet>,
    pub(super) detail: Detail,
    pub(super) settings: Settings,
    pub(super) agents: Vec<AgentChain>,
    pub(super) tokens: Vec<AgentTokens>,
    starts: Starts,
    /// The questions about usage; `None` if no label is asked about.
    usage: Option<UsageQuery>,
}

/// An error that prevents queries of a set.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AskError {
    /// A part of the set that is read is damaged.
    #[error(transparent)]
    Damaged(#[from] Damage),
    /// The set was compiled for other agents ([`LoadConfig::agents`](crate::LoadConfig::agents)).
    #[error("the policies were compiled for other agents than {agent}; compile them for it too")]
    OtherAgents {
        /// The first agent that the set was not compiled for.
        agent: String,
    },
}

/// The memory that one thread uses with a [`Query`].
#[derive(Clone, Debug, Default)]
pub struct QueryMemory {
    pub block: BlockMemory,
    searches: Vec<Search>,
    candidates: Vec<Option<HostPosition>>,
    /// The policies of the block that are used for the first time.
    unresolved: Vec<PolicyNumber>,
    usage: UsageMemory,
}

impl QueryMemory {
    /// Returns the bytes of what is kept between blocks. Memory for a single block is not counted.
    pub fn memory_bytes(&self) -> usize {
        self.block.memory_bytes() + self.usage.memory_bytes()
    }

    /// Returns the preferences on the block that was decided last, by question, agent and label of
    /// [`Query::with_usage`].
    pub fn preferences(&self) -> &[Preference] {
        self.usage.preferences()
    }

    /// Returns how many questions each method answered, those about usage included.
    pub fn ways(&self) -> Ways {
        let mut ways = self.block.ways();
        ways += self.usage.ways();
        ways
    }
}

impl Query {
    /// Looks up the names of the agents in the set.
    ///
    /// # Errors
    ///
    /// If the set's names are damaged, or it was compiled for other agents.
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
        let settings = Settings { limits, ..Settings::default() };
        Ok(Query { set, detail, settings, agents, tokens, starts, usage: None })
    }

    /// Asks about these labels as well; none for access alone.
    ///
    /// The automata of access and those of usage have half of the thread's budget each then.
    #[must_use]
    pub fn with_usage(mut self, labels: &[Label]) -> Query {
        if labels.is_empty() {
            return self;
        }
        // Otherwise every preference would seem unstated.
        assert!(self.set.has_usage, "the set was compiled without usage preferences");
        self.settings.limits.automata_bytes_max /= 2;
        let entries = self.set.policy_count() as usize * self.agents.len();
        self.usage = Some(UsageQuery::new(labels.to_vec(), entries));
        self
    }

    /// Returns the labels that are asked about, in the order of preferences.
    pub fn labels(&self) -> &[Label] {
        self.usage.as_ref().map_or(&[], |usage| &usage.labels)
    }

    /// Returns the place that states the preference with this number, of those that `memory` was used for
    /// last; `None` if it is not stated.
    ///
    /// # Panics
    ///
    /// If there is no such preference.
    pub fn stated_at(
        &self,
        preference: usize,
        memory: &QueryMemory,
    ) -> Result<Option<StatedPlace>, Damage> {
        self.stated_place(preference, &memory.usage)
    }

    /// Uses these vectors instead of the widest that the CPU supports. Results do not change.
    #[must_use]
    pub fn with_vectors(mut self, vectors: Vectors) -> Query {
        self.settings.vectors = vectors;
        self
    }

    /// Limits the bytes that the automata of one thread hold, those of usage included.
    pub fn with_automata_bytes_max(mut self, bytes: usize) -> Query {
        self.settings.limits.automata_bytes_max =
            if self.usage.is_some() { bytes / 2 } else { bytes };
        self
    }

    /// Returns the set.
    pub fn set(&self) -> &Arc<PolicySet> {
        &self.set
    }

    /// Returns the agents, in the order of decisions.
    pub fn agents(&self) -> &[AgentChain] {
        &self.agents
    }

    /// Finds the policies of a block of origins. Calls `found` with the index of each origin and
    /// the number of its policy, or `None`. An origin is a scheme in any case and the key of a host
    /// ([`host_key`](portcullis_robots::target::host_key)); an empty key matches no host.
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
        for (search, (_, key)) in searches.iter_mut().zip(origins) {
            let candidate = self.set.next_candidate(search)?;
            if let Some(position) = candidate {
                self.set.prefetch_host(position, key.len());
            }
            candidates.push(candidate);
        }
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
        let place = place(scheme);
        if place == Place::Other {
            return match key.is_empty() {
                true => Ok(None),
                false => self.policy_of_other(scheme, key),
            };
        }
        while let Some(position) = candidate {
            if let Some(host) = self.set.host_with(position, key)? {
                return self.known(host.policy(place == Place::Https));
            }
            candidate = self.set.next_candidate(search)?;
        }
        Ok(None)
    }

    /// Returns the policy of an origin whose scheme is neither http nor https.
    #[cold]
    fn policy_of_other(&self, scheme: &[u8], key: &[u8]) -> Result<Option<PolicyNumber>, Damage> {
        let host = self.set.host(&key_with_scheme(scheme, key))?;
        self.known(host.and_then(|host| host.policy(false)))
    }

    /// Checks that the policy with this number exists.
    #[inline]
    fn known(&self, number: Option<PolicyNumber>) -> Result<Option<PolicyNumber>, Damage> {
        match number {
            Some(number) if number.0 >= self.set.policy_count() => {
                Err(self.set.malformed_host("a host has a policy that is not there"))
            }
            number => Ok(number),
        }
    }

    /// Returns one decision for each path of a block and each agent, according to the policies with
    /// these numbers. [`NO_POLICY`](portcullis_engine::block::NO_POLICY) and [`NO_URL`] mean that there
    /// is none.
    ///
    /// # Panics
    ///
    /// If the numbers of paths and policies differ, or there is no such policy.
    pub fn decide<'m>(
        &self,
        policies: &[u32],
        paths: ComparedPaths<'_>,
        memory: &'m mut QueryMemory,
    ) -> Result<&'m [Decision], Damage> {
        self.resolve_all(policies, &mut memory.unresolved)?;
        let allows_robots_txt = self.set.dialect().paths.robots_txt == RobotsTxtUrl::AlwaysAllowed;
        let table = self.table(&self.starts, self.agents.len(), allows_robots_txt);
        let questions = Questions { policies, paths: paths.as_slices() };
        memory.block.ask(table, questions, |entry, _| self.build_rule_set(entry))?;
        if self.detail == Detail::Rule {
            self.name_rules(&mut memory.block)?;
        }
        // A mapped file that was truncated reads as zeros after its new end, even in blocks whose
        // checksum was compared before, and a prefilter of zeros rejects every path. So the length
        // is compared before any decision is returned. That takes 160 ns, or 1.3 ns per URL of a
        // usual block. Comparing once per chunk would cost less, but would leave out callers other
        // than the program.
        self.set.is_whole()?;
        Ok(memory.block.decisions())
    }

    /// Finds the preferences on the block that was decided last, which has these policies and paths; none
    /// if no label is asked about. Where access is not allowed, there is no preference.
    ///
    /// # Errors
    ///
    /// If the set is damaged where it is read.
    ///
    /// # Panics
    ///
    /// If another block was decided last.
    pub fn ask(
        &self,
        policies: &[u32],
        paths: ComparedPaths<'_>,
        memory: &mut QueryMemory,
    ) -> Result<(), Damage> {
        match &self.usage {
            None => Ok(()),
            Some(usage) => {
                let decisions = memory.block.decisions();
                self.ask_usage(usage, policies, paths, decisions, &mut memory.usage)
            }
        }
    }

    /// Returns the rule sets for blocks that ask about entries with these starts.
    pub(super) fn table<'t>(
        &'t self,
        starts: &'t Starts,
        columns: usize,
        allows_robots_txt: bool,
    ) -> Table<'t> {
        let (lines, settings) = (self.set.all_lines(), &self.settings);
        Table { lines, starts, columns, allows_robots_txt, settings }
    }

    /// Builds the rule set of an entry, which is not stored.
    #[cold]
    fn build_rule_set(&self, entry: usize) -> Result<RuleSetBuf, Damage> {
        // The entry had rules when its policy was resolved.
        let lost = || self.set.malformed_host("a policy has lost its rules");
        let (rules, _) = ordered(&self.set, &self.rules_of(entry)?.ok_or_else(lost)?)?;
        Ok(RuleSetBuf::new(&rules.patterns, &rules.verdicts))
    }

    /// Finds where answers begin for policies that are used for the first time.
    fn resolve_all(
        &self,
        policies: &[u32],
        unresolved: &mut Vec<PolicyNumber>,
    ) -> Result<(), Damage> {
        let (agents, count) = (self.agents.len(), self.set.policy_count());
        let last_of = |policy: u32| (policy as usize).saturating_mul(agents) + (agents - 1);
        let is_there = |policy: u32| policy < count || policy >= NO_URL;
        let is_known = |policy: u32| is_there(policy) & self.starts.has(last_of(policy));
        // Without agents nothing is asked.
        if agents == 0 || policies.iter().fold(true, |all, &policy| all & is_known(policy)) {
            return Ok(());
        }
        assert!(policies.iter().all(|&policy| is_there(policy)), "there is no such policy");
        unresolved.clear();
        let new = policies.iter().filter(|&&policy| !is_known(policy));
        unresolved.extend(new.map(|&policy| PolicyNumber(policy)));
        unresolved.dedup();
        unresolved.iter().for_each(|policy| self.set.prefetch_policy_index(*policy));
        unresolved.iter().for_each(|policy| self.set.prefetch_policy(*policy));
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
                (_, Some(same)) => Start { line: Start::SHARED, number: same as u32 },
                (Selected::Fixed(fixed), _) => Start { line: Start::FIXED, number: fixed.0 },
                (Selected::Rules(rules), _) => self.set.start_of(rules.rule_set)?,
            };
            entries.push(entry);
            starts.push(start);
        }
        self.starts.set(first, &starts);
        Ok(())
    }

    /// Returns the rules of an entry's policy that apply to its agent.
    pub(super) fn rules_of(&self, entry: usize) -> Result<Option<SelectedRules>, Damage> {
        let (policy, agent) = (entry / self.agents.len(), entry % self.agents.len());
        match self.set.policy(PolicyNumber(policy as u32))?.select(&self.tokens[agent])? {
            Selected::Fixed(_) => Ok(None),
            Selected::Rules(rules) => Ok(Some(rules)),
        }
    }

    /// Adds the deciding rule to each decision.
    fn name_rules(&self, memory: &mut BlockMemory) -> Result<(), Damage> {
        let (decisions, sources) = memory.answers_mut();
        for (decision, source) in decisions.iter_mut().zip(sources) {
            if let Some(place) = self.place_of(*source)? {
                (decision.rule, decision.line) = (Some(place.rule), Some(place.line));
            }
        }
        Ok(())
    }

    /// Explains the decision of the policy at `position` on `path` for `agent`.
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
        self.set.policy(position)?.with_file(|file, extract| {
            explain(file, extract, self.set.dialect(), &self.agents[agent], path)
        })
    }
}
