//! Agents asking a set: from the keys of hosts and paths to decisions.
//!
//! A set speaks to every agent, so asking begins with finding, in a policy, the groups that an
//! agent obeys. That, and the search for hosts, touches memory all over the file. So both are done
//! for a block of questions, step by step: the loads of one step do not depend on each other, and the
//! processor waits for many at once instead of one after another.

use crate::automaton::{Detail, Outcome};
use crate::decision::{Decision, Reason, Verdict};
use crate::dialect::RobotsTxtUrl;
use crate::id::RuleID;
use crate::policy::{AgentChain, Explanation, RuleAnswer, explain, robot_named};
use crate::syntax::RobotsTxt;

use super::super::file::Damage;
use super::super::layout::{NONE, policy, record};
use super::hosts::Search;
use super::on_demand::{BuiltCaches, BuiltRuleSets};
use super::policy::{Selected, SelectedRules};
use super::tokens::AgentTokens;
use super::{HostPosition, PolicyPosition, RuleSetKind, StoredSet};
use crate::set::origins::{Place, key_with_scheme, place};

/// A set and the agents that ask it. Threads share it; each has its own [`InquiryMemory`].
#[derive(Debug)]
pub struct Inquiry<'s> {
    pub(super) set: &'s StoredSet,
    detail: Detail,
    agents: Vec<AgentChain>,
    pub(super) tokens: Vec<AgentTokens>,
    built: BuiltRuleSets,
}

/// A thread's memory for an [`Inquiry`].
#[derive(Clone, Debug, Default)]
pub struct InquiryMemory {
    caches: BuiltCaches,
    searches: Vec<Search>,
    candidates: Vec<Option<HostPosition>>,
    selected: Vec<Selected>,
}

/// A decision, and where it comes from.
#[derive(Clone, Copy, Debug)]
pub struct Answered {
    /// The decision.
    pub decision: Decision,
    source: Option<Source>,
}

/// Where in a policy a decision comes from.
#[derive(Clone, Copy, Debug)]
struct Source {
    rules: SelectedRules,
    /// The record of the rule that decides; [`NONE`] without one.
    record: u32,
    /// The group of that rule, by its place among those of the entry.
    group: u32,
}

impl Answered {
    /// A decision that no policy made.
    pub const fn without_policy(decision: Decision) -> Answered {
        Answered { decision, source: None }
    }
}

/// One question of a block: the scheme of a URL and the key of its host.
#[derive(Clone, Copy, Debug)]
pub struct HostQuestion<'q> {
    /// The scheme, in any case.
    pub scheme: &'q [u8],
    /// The key, as [`host_key`](crate::target::host_key) has it; an empty one is no host's.
    pub key: &'q [u8],
}

impl<'s> Inquiry<'s> {
    /// Looks up what the set calls the agents.
    ///
    /// # Errors
    ///
    /// If its names are damaged.
    pub fn new(
        set: &'s StoredSet,
        agents: Vec<AgentChain>,
        detail: Detail,
    ) -> Result<Inquiry<'s>, Damage> {
        let tokens = agents.iter().map(|agent| set.tokens_of(agent)).collect::<Result<_, _>>()?;
        Ok(Inquiry { set, detail, agents, tokens, built: BuiltRuleSets::default() })
    }

    /// The set.
    pub fn set(&self) -> &'s StoredSet {
        self.set
    }

    /// The agents, in the order of decisions.
    pub fn agents(&self) -> &[AgentChain] {
        &self.agents
    }

    /// Finds the policies that speak for a block of so many URLs, and appends them to `policies`.
    ///
    /// # Errors
    ///
    /// If what has to be looked at is damaged.
    pub fn find<'q>(
        &self,
        count: usize,
        question: impl Fn(usize) -> HostQuestion<'q>,
        memory: &mut InquiryMemory,
        policies: &mut Vec<Option<PolicyPosition>>,
    ) -> Result<(), Damage> {
        let InquiryMemory { searches, candidates, .. } = memory;
        searches.clear();
        candidates.clear();
        searches.extend((0..count).map(|index| self.set.search(question(index).key)));
        searches.iter().for_each(|search| self.set.touch_slot(search));
        for search in searches.iter_mut() {
            candidates.push(self.set.next_candidate(search)?);
        }
        candidates.iter().flatten().for_each(|host| self.set.touch_host(*host));
        for (index, (search, candidate)) in searches.iter_mut().zip(candidates).enumerate() {
            policies.push(self.policy_of(question(index), search, *candidate)?);
        }
        Ok(())
    }

    #[inline]
    fn policy_of(
        &self,
        question: HostQuestion<'_>,
        search: &mut Search,
        mut candidate: Option<HostPosition>,
    ) -> Result<Option<PolicyPosition>, Damage> {
        if question.key.is_empty() {
            return Ok(None);
        }
        let place = place(question.scheme);
        if place == Place::Other {
            let host = self.set.host(&key_with_scheme(question.scheme, question.key))?;
            return Ok(host.and_then(|host| host.policy(false)));
        }
        while let Some(position) = candidate {
            let host = self.set.host_at(position)?;
            if host.key() == question.key {
                return Ok(host.policy(place == Place::Https));
            }
            candidate = self.set.next_candidate(search)?;
        }
        Ok(None)
    }

    /// Decides a block of paths, which are in normal form, each by its policy or not at all. For
    /// each path one answer for each agent is written to `answers`.
    ///
    /// # Errors
    ///
    /// If what has to be looked at is damaged.
    ///
    /// # Panics
    ///
    /// If the three have lengths that do not fit.
    pub fn decide<'p>(
        &self,
        policies: &[Option<PolicyPosition>],
        path: impl Fn(usize) -> &'p [u8],
        memory: &mut InquiryMemory,
        answers: &mut [Answered],
    ) -> Result<(), Damage> {
        let agents = self.tokens.len();
        assert_eq!(answers.len(), policies.len() * agents, "an answer for each path and agent");
        let mut selected = std::mem::take(&mut memory.selected);
        selected.clear();
        policies.iter().flatten().for_each(|position| self.set.touch_policy(*position));
        for position in policies {
            match position {
                None => {
                    let unknown = Selected::Fixed(Decision::UNKNOWN);
                    selected.extend(std::iter::repeat_n(unknown, agents));
                }
                Some(position) => {
                    let policy = self.set.policy(*position)?;
                    for tokens in &self.tokens {
                        selected.push(policy.select(tokens)?);
                    }
                }
            }
        }
        for selected in &selected {
            if let Selected::Rules(rules) = selected {
                self.set.touch_rule_set(rules.rule_set);
            }
        }
        let exempt = self.set.dialect().paths.robots_txt == RobotsTxtUrl::AlwaysAllowed;
        for (index, position) in policies.iter().enumerate() {
            let range = index * agents..(index + 1) * agents;
            let path = path(index);
            if exempt && path == b"/robots.txt" && position.is_some() {
                answers[range].fill(Answered::without_policy(Decision::ROBOTS_TXT));
            } else {
                self.decide_one(&selected[range.clone()], path, memory, &mut answers[range])?;
            }
        }
        memory.selected = selected;
        Ok(())
    }

    /// Decides one path for all agents; agents with the same rules share the walk.
    #[inline]
    fn decide_one(
        &self,
        selected: &[Selected],
        path: &[u8],
        memory: &mut InquiryMemory,
        answers: &mut [Answered],
    ) -> Result<(), Damage> {
        for agent in 0..selected.len() {
            answers[agent] = match selected[agent] {
                Selected::Fixed(decision) => Answered::without_policy(decision),
                Selected::Rules(rules) => {
                    let same = |other: &Selected| matches!(other, Selected::Rules(other) if other.entry == rules.entry);
                    match selected[..agent].iter().position(same) {
                        Some(first) => answers[first].for_other(rules),
                        None => self.answer(rules, path, memory)?,
                    }
                }
            };
        }
        Ok(())
    }

    #[inline]
    fn answer(
        &self,
        rules: SelectedRules,
        path: &[u8],
        memory: &mut InquiryMemory,
    ) -> Result<Answered, Damage> {
        let rule_set = self.set.rule_set(rules.rule_set)?;
        if rule_set.kind() == RuleSetKind::Automaton {
            let outcome = rule_set.automaton().decide(path, self.detail);
            let outcome = outcome.ok_or_else(|| self.set.broken_rule_set(rules.rule_set.0))?;
            return self.answered(rules, outcome, None);
        }
        let (outcome, built) =
            memory.caches.decide(self.set, &self.built, &rules, path, self.detail)?;
        self.answered(rules, outcome, built.order.as_deref())
    }

    /// What an outcome means; `order` is that of a rule set whose order the set does not keep.
    #[inline]
    fn answered(
        &self,
        rules: SelectedRules,
        outcome: Outcome,
        order: Option<&[u32]>,
    ) -> Result<Answered, Damage> {
        let by_rules = |decision| {
            let source = Some(Source { rules, record: NONE, group: 0 });
            Ok(Answered { decision, source })
        };
        let Some(RuleAnswer { verdict, pattern }) = RuleAnswer::of(outcome, self.detail) else {
            return by_rules(Decision::without_rule(Verdict::Allow, Reason::NoRule));
        };
        match pattern {
            None => by_rules(Decision::without_rule(verdict, Reason::Rule)),
            Some(pattern) => self.answered_by_rule(rules, (verdict, pattern), order),
        }
    }

    fn answered_by_rule(
        &self,
        rules: SelectedRules,
        (verdict, pattern): (Verdict, u32),
        order: Option<&[u32]>,
    ) -> Result<Answered, Damage> {
        let policy = self.set.policy(PolicyPosition(rules.policy))?;
        let offset = match order {
            Some(order) => order.get(pattern as usize).copied(),
            None => {
                let at = rules.order.saturating_add(pattern);
                Some(self.set.words(self.set.sections.orders, at, 1)?[0].get())
            }
        };
        let malformed = || policy.malformed("a rule stands in none of its groups");
        let groups = policy.groups(rules.entry)?;
        let first = groups[1].get();
        let record = offset.and_then(|offset| first.checked_add(offset)).ok_or_else(malformed)?;
        let (groups, _) = groups.as_chunks::<{ policy::GROUP_WORDS }>();
        let group = groups.partition_point(|[_, start]| start.get() <= record);
        let group = group.checked_sub(1).ok_or_else(malformed)?;
        let [first_rule, start] = groups[group];
        // In a damaged set the groups may not ascend.
        let after_start = record.checked_sub(start.get()).ok_or_else(malformed)?;
        let rule = first_rule.get().saturating_add(after_start);
        let (line, _) = self.set.document_line(policy.document(), record)?;
        let decision =
            Decision { verdict, reason: Reason::Rule, rule: Some(RuleID(rule)), line: Some(line) };
        Ok(Answered { decision, source: Some(Source { rules, record, group: group as u32 }) })
    }

    /// The rule and the user-agent value behind an answer to `agent`, as they stand in the file.
    /// Rules are known with [`Detail::Rule`] only.
    ///
    /// # Errors
    ///
    /// If what has to be looked at is damaged.
    pub fn provenance(
        &self,
        answered: &Answered,
        agent: usize,
        rule: &mut Vec<u8>,
        group: &mut Vec<u8>,
    ) -> Result<(bool, bool), Damage> {
        let Some(source) = answered.source else { return Ok((false, false)) };
        let policy = self.set.policy(PolicyPosition(source.rules.policy))?;
        let document = policy.document();
        let has_rule = source.record != NONE;
        if has_rule {
            self.record_value(document, source.record, rule)?;
        }
        match source.group {
            0 => self.record_value(document, source.rules.speaker, group)?,
            _ => self.speaker_of(&source, agent, group)?,
        }
        Ok((has_rule, true))
    }

    fn record_value(&self, document: u32, index: u32, value: &mut Vec<u8>) -> Result<(), Damage> {
        let (_, string) = self.set.document_line(document, index)?;
        let start = self.set.record_text(string, value)?;
        value.drain(..start);
        Ok(())
    }

    /// The value of the user-agent line that speaks to an agent, in a group after the first.
    fn speaker_of(&self, source: &Source, agent: usize, value: &mut Vec<u8>) -> Result<(), Damage> {
        let policy = self.set.policy(PolicyPosition(source.rules.policy))?;
        let groups = policy.groups(source.rules.entry)?;
        let malformed = || policy.malformed("a group has no user-agent line");
        let group = groups.chunks_exact(policy::GROUP_WORDS).nth(source.group as usize);
        let end = group.ok_or_else(malformed)?[1].get();
        let token = match source.rules.token {
            NONE => None,
            position => self.agents[agent].tokens().nth(position as usize),
        };
        // The user-agent lines stand before the first rule, the first that speaks counts.
        let mut first = end;
        while first > 0 && self.is_user_agent(policy.document(), first - 1)? {
            first -= 1;
            if self.starts_group(policy.document(), first)? {
                break;
            }
        }
        for index in first..end {
            self.record_value(policy.document(), index, value)?;
            if robot_named(value, token, self.set.dialect()) {
                return Ok(());
            }
        }
        Err(malformed())
    }

    fn kind(&self, document: u32, index: u32) -> Result<u32, Damage> {
        let at = index.saturating_mul(record::WORDS as u32).saturating_add(1);
        let at = document.saturating_add(at);
        let word = self.set.words(self.set.sections.documents, at, 1)?[0].get();
        Ok(word & ((1 << record::KIND_BITS) - 1))
    }

    fn is_user_agent(&self, document: u32, index: u32) -> Result<bool, Damage> {
        let kind = self.kind(document, index)?;
        Ok(matches!(kind, record::STARTS_GROUP | record::EXTENDS_GROUP))
    }

    fn starts_group(&self, document: u32, index: u32) -> Result<bool, Damage> {
        Ok(self.kind(document, index)? == record::STARTS_GROUP)
    }

    /// Why `path` is decided as it is for `agent`, by the policy at `position`.
    ///
    /// # Errors
    ///
    /// If what has to be looked at is damaged.
    ///
    /// # Panics
    ///
    /// If there is no such agent.
    pub fn explain(
        &self,
        position: PolicyPosition,
        agent: usize,
        path: &[u8],
    ) -> Result<Explanation, Damage> {
        let policy = self.set.policy(position)?;
        let extract = policy.extract()?;
        let malformed = || policy.malformed("its records are no file");
        let file = RobotsTxt::read_extract(&extract).ok_or_else(malformed)?;
        Ok(explain(&file, &extract, self.set.dialect(), &self.agents[agent], path))
    }
}

impl Answered {
    /// The same answer, for an agent that obeys the same groups by another line.
    fn for_other(mut self, rules: SelectedRules) -> Answered {
        if let Some(source) = &mut self.source {
            source.rules = rules;
        }
        self
    }
}
