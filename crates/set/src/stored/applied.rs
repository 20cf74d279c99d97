//! The groups of a policy that apply to an agent.

use std::ops::Range;

use portcullis_engine::{Cache, RuleSetBuf, Settings};

use super::super::file::Damage;
use super::super::layout::NONE;
use super::policy::SelectedRules;
use super::tokens::AgentTokens;
use super::{RuleSetNumber, StoredPolicy, ordered_rules};

/// The groups of a policy that apply to an agent.
#[derive(Clone, Copy, Debug)]
pub struct AppliedGroups<'s> {
    policy: StoredPolicy<'s>,
    rules: SelectedRules,
}

impl<'s> StoredPolicy<'s> {
    /// Returns the groups that apply to an agent; `None` if none does, or if there is no file with
    /// rules.
    pub fn applied_groups(&self, agent: &AgentTokens) -> Result<Option<AppliedGroups<'s>>, Damage> {
        Ok(self.select(agent)?.map(|rules| AppliedGroups { policy: *self, rules }))
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

    /// Builds their rule set, which may be too large to be stored.
    ///
    /// # Errors
    ///
    /// If a part of the set that is read is damaged.
    pub fn build(&self) -> Result<RuleSetBuf, Damage> {
        let rules = ordered_rules(self.policy.set, &self.rules)?;
        Ok(rules.compile())
    }

    /// Returns whether the rules allow `path`, a path in normal form.
    ///
    /// # Errors
    ///
    /// If the rule set is damaged.
    pub fn allows(&self, path: &[u8]) -> Result<bool, Damage> {
        let built;
        let rules = match self.policy.set.rule_set(self.rules.rule_set)? {
            Some(stored) => stored,
            None => {
                built = self.build()?;
                built.as_rule_set()
            }
        };
        Ok(rules.decide(path, &Settings::default(), &mut Cache::default()).is_allowed())
    }

    /// Returns the record of the user-agent line that selects the first group.
    pub fn naming_line(&self) -> u32 {
        self.rules.naming_line
    }

    /// Returns the value of the user-agent line that selects the first group.
    pub fn name(&self) -> Result<Vec<u8>, Damage> {
        let mut name = Vec::new();
        self.policy.record_list()?.read_value(self.rules.naming_line, None, &mut name)?;
        Ok(name)
    }

    /// Returns the numbers of the rules of each group, in file order.
    pub fn rules(&self) -> Result<Vec<Range<u32>>, Damage> {
        let records = self.policy.record_list()?;
        let rules = |(first, start): (u32, u32)| {
            let mut end = start;
            while end < records.len() && !records.is_user_agent(end)? {
                end += 1;
            }
            let malformed =
                || self.policy.malformed("a group has rules that the file does not have");
            let last = first.checked_add(end - start).filter(|last| *last <= records.len());
            Ok(first..last.ok_or_else(malformed)?)
        };
        self.policy.groups(self.rules.entry)?.iter().map(rules).collect()
    }
}
