//! What a policy says to an agent as a whole: how much of a site, by which groups and rules.
//!
//! Everything is read from the stored rule sets; no text is parsed. A rule set is searched once,
//! for all policies and agents that share it, when it is first asked for.

use std::ops::Range;
use std::sync::OnceLock;

use portcullis_dialect::decision::{PolicyState, Verdict};
use portcullis_dialect::dialect::AccessOutcome;
use portcullis_engine::{Reach, RuleSetBuf};

use super::super::file::Damage;
use super::super::layout::{NONE, policy};
use super::policy::{Selected, SelectedRules};
use super::tokens::AgentTokens;
use super::{PolicySet, RuleSetNumber, StoredPolicy, StoredRuleSet, ordered};

/// How much each rule set of a set allows. Threads share it.
#[derive(Debug)]
pub struct Reaches<'s> {
    set: &'s PolicySet,
    /// By the number of the rule set.
    known: Vec<OnceLock<Option<Reach>>>,
}

/// What a policy says to an agent as a whole.
#[derive(Clone, Copy, Debug)]
pub struct Applied<'s> {
    /// How much of the site the agent may fetch; `None` if a limit ended the search.
    pub reach: Option<Reach>,
    /// The groups that apply; `None` if none does, or if there is no file with rules.
    pub groups: Option<AppliedGroups<'s>>,
}

/// The groups of a policy that apply to an agent.
#[derive(Clone, Copy, Debug)]
pub struct AppliedGroups<'s> {
    policy: StoredPolicy<'s>,
    rules: SelectedRules,
}

impl<'s> Reaches<'s> {
    /// Returns the rule sets of `set`, none of them searched.
    pub fn new(set: &'s PolicySet) -> Reaches<'s> {
        Reaches { set, known: vec![OnceLock::new(); set.rule_set_count() as usize] }
    }

    /// Returns how much a rule set allows; `None` if a limit ended the search, or the rule set is
    /// too large to be stored.
    ///
    /// # Errors
    ///
    /// If the rule set is damaged.
    pub fn of(&self, number: RuleSetNumber) -> Result<Option<Reach>, Damage> {
        self.find(number, None, &mut 0)
    }

    /// Returns what `policy` says to `agent`. A rule set that is too large to be stored is built.
    ///
    /// # Errors
    ///
    /// If a part of the set that is read is damaged.
    pub fn applied(
        &self,
        policy: &StoredPolicy<'s>,
        agent: &AgentTokens,
    ) -> Result<Applied<'s>, Damage> {
        let mut patterns_left = usize::MAX;
        self.applied_within(policy, agent, &mut patterns_left)
    }

    /// Like [`Reaches::applied`], while `patterns_left` is not 0. It counts down by the patterns of
    /// each rule set that is not stored and has to be built.
    ///
    /// # Errors
    ///
    /// If a part of the set that is read is damaged.
    pub fn applied_within(
        &self,
        policy: &StoredPolicy<'s>,
        agent: &AgentTokens,
        patterns_left: &mut usize,
    ) -> Result<Applied<'s>, Damage> {
        let groups = policy.applied_groups(agent)?;
        let reach = match &groups {
            Some(AppliedGroups { rules, .. }) => {
                self.find(rules.rule_set, Some(rules), patterns_left)?
            }
            None => match policy.access()? {
                AccessOutcome { state, verdict: Verdict::Disallow }
                    if state != PolicyState::Rules =>
                {
                    Some(Reach::Nothing)
                }
                _ => Some(Reach::Everything),
            },
        };
        Ok(Applied { reach, groups })
    }

    /// Like [`Reaches::of`]. Builds a rule set that is not stored if its `rules` are given.
    fn find(
        &self,
        number: RuleSetNumber,
        rules: Option<&SelectedRules>,
        patterns_left: &mut usize,
    ) -> Result<Option<Reach>, Damage> {
        let known = self.known.get(number.index());
        let known = known.ok_or_else(|| self.set.malformed_host("a rule set is missing"))?;
        if let Some(reach) = known.get() {
            return Ok(*reach);
        }
        let escapes = self.set.dialect.paths.escapes;
        let reach = match (self.set.rule_set(number)?, rules) {
            (StoredRuleSet::Compiled(stored), _) => stored.reach(escapes),
            (StoredRuleSet::OfGroups, None) => return Ok(None),
            (StoredRuleSet::OfGroups, Some(_)) if *patterns_left == 0 => return Ok(None),
            (StoredRuleSet::OfGroups, Some(rules)) => {
                let (rules, _) = ordered(self.set, rules)?;
                *patterns_left = patterns_left.saturating_sub(rules.patterns.len());
                RuleSetBuf::new(&rules.patterns, &rules.verdicts).as_rule_set().reach(escapes)
            }
        };
        Ok(*known.get_or_init(|| reach))
    }
}

impl<'s> StoredPolicy<'s> {
    /// Returns the groups that apply to an agent; `None` if none does, or if there is no file with
    /// rules.
    pub fn applied_groups(&self, agent: &AgentTokens) -> Result<Option<AppliedGroups<'s>>, Damage> {
        Ok(match self.select(agent)? {
            Selected::Fixed(_) => None,
            Selected::Rules(rules) => Some(AppliedGroups { policy: *self, rules }),
        })
    }
}

impl AppliedGroups<'_> {
    /// Returns the number of this combination of groups in its policy. Agents with the same number
    /// get the same decisions.
    pub fn entry(&self) -> u32 {
        self.rules.entry
    }

    /// Returns the number of their rule set.
    pub fn rule_set(&self) -> RuleSetNumber {
        self.rules.rule_set
    }

    /// Returns whether the groups name the agent. Otherwise they are the groups for all robots.
    pub fn is_named(&self) -> bool {
        self.rules.token != NONE
    }

    /// Returns whether the rules allow `path`, a path in normal form.
    ///
    /// # Errors
    ///
    /// If the rule set is damaged.
    pub fn allows(&self, path: &[u8]) -> Result<bool, Damage> {
        let set = self.policy.set;
        Ok(match set.rule_set(self.rules.rule_set)? {
            StoredRuleSet::Compiled(stored) => stored.allows(path),
            StoredRuleSet::OfGroups => {
                let (rules, _) = ordered(set, &self.rules)?;
                RuleSetBuf::new(&rules.patterns, &rules.verdicts).as_rule_set().allows(path)
            }
        })
    }

    /// Returns the record of the user-agent line that selects the first group.
    pub fn naming_line(&self) -> u32 {
        self.rules.naming_line
    }

    /// Returns the value of the user-agent line that selects the first group.
    pub fn name(&self) -> Result<Vec<u8>, Damage> {
        let mut text = Vec::new();
        let start = self.policy.record_list()?.read(self.rules.naming_line, &mut text)?;
        Ok(text.split_off(start))
    }

    /// Returns the numbers of the rules of each group, in file order.
    pub fn rules(&self) -> Result<Vec<Range<u32>>, Damage> {
        let records = self.policy.record_list()?;
        let (groups, _) =
            self.policy.groups(self.rules.entry)?.as_chunks::<{ policy::GROUP_WORDS }>();
        let rules = |[first, start]: &[zerocopy::little_endian::U32; policy::GROUP_WORDS]| {
            let (first, start) = (first.get(), start.get());
            let mut end = start;
            while end < records.len() && !records.is_user_agent(end)? {
                end += 1;
            }
            let malformed =
                || self.policy.malformed("a group has rules that the file does not have");
            let last = first.checked_add(end - start).filter(|last| *last <= records.len());
            Ok(first..last.ok_or_else(malformed)?)
        };
        groups.iter().map(rules).collect()
    }
}
