//! The groups of a policy that apply to an agent.

use std::ops::Range;

use portcullis_dialect::decision::PolicyState;
use portcullis_engine::pattern::Pattern;
use portcullis_engine::{Cache, RuleSetBuf, Settings};
use portcullis_robots::policy::OrderedRules;

use super::super::file::Damage;
use super::super::layout::{NONE, policy};
use super::tokens::AgentTokens;
use super::{RuleSetNumber, StoredPolicy, may_be_directory, ordered};

/// The groups of a policy that apply to an agent.
#[derive(Clone, Copy, Debug)]
pub struct AppliedGroups<'s> {
    pub(crate) policy: StoredPolicy<'s>,
    /// The number of this combination of groups in its policy. Agents with the same number get the same
    /// decisions.
    pub entry: u32,
    /// The number of their rule set.
    pub rule_set: RuleSetNumber,
    /// The position of the order of its rules; [`NONE`] if the rule set is not stored.
    pub(crate) order: u32,
    /// The record of the user-agent line that selects the first group.
    pub naming_line: u32,
    /// The position in the agent's chain of the token that is named; [`NONE`] for default groups.
    pub(crate) token: u32,
}

impl<'s> StoredPolicy<'s> {
    /// Returns the groups that apply to an agent; `None` if none does, or if there is no file with
    /// rules.
    #[inline]
    pub fn applied_groups(&self, agent: &AgentTokens) -> Result<Option<AppliedGroups<'s>>, Damage> {
        if self.state()? != PolicyState::Rules {
            return Ok(None);
        }
        let (entry, naming_line, token) = match (self.named(agent)?, self.default_entry()) {
            (Some(named), _) => named,
            (None, Some(entry)) if !agent.skips_default => {
                (entry, self.words[policy::DEFAULT_NAMING_LINE].get(), NONE)
            }
            (None, _) => return Ok(None),
        };
        let rule_set = self.rule_set(entry)?;
        let order = self.order_at(entry)?;
        Ok(Some(AppliedGroups { policy: *self, entry, rule_set, order, naming_line, token }))
    }
}

impl<'s> AppliedGroups<'s> {
    /// Returns whether the groups name the agent. Otherwise they are the groups for all robots.
    pub fn is_named(&self) -> bool {
        self.token != NONE
    }

    /// Returns the number and the record of the first rule of each group. They ascend, which a damaged set
    /// may not say.
    pub(crate) fn positions(&self) -> Result<Vec<(u32, u32)>, Damage> {
        let positions: Vec<(u32, u32)> = self.policy.groups(self.entry)?.iter().collect();
        match positions.is_sorted_by(|one, other| one.0 <= other.0 && one.1 < other.1) {
            true => Ok(positions),
            false => Err(self.policy.malformed("the groups of an entry are not in order")),
        }
    }

    /// Returns their rules, in order of precedence.
    pub(crate) fn ordered_rules(&self) -> Result<OrderedRules, Damage> {
        let paths = &self.policy.set.dialect().paths;
        let parts = [self.positions()?];
        let mut all = ordered(&self.policy, &parts, |file, groups| {
            OrderedRules::distinct(file, groups, paths)
        })?;
        Ok(all.pop().unwrap_or_default())
    }

    /// Returns the pattern that is the text of a deciding rule: `pattern`, or the one of the index page whose
    /// directory it is. `None` if the rule set is not stored.
    pub(crate) fn pattern_of_rule(&self, pattern: usize) -> Result<Option<Pattern<'s>>, Damage> {
        if self.order == NONE {
            return Ok(None);
        }
        let set = self.policy.set;
        let rules = set.view(set.rule_set_lines(self.rule_set)?)?;
        let order = set.order(self.order, rules.len())?;
        let first = match rules.get(pattern) {
            Some((_, text)) if may_be_directory(text, &set.dialect().paths) => order.first(pattern),
            _ => Some(pattern),
        };
        Ok(first.and_then(|first| rules.get(first)).map(|(_, text)| text))
    }

    /// Builds their rule set, which may be too large to be stored.
    ///
    /// # Errors
    ///
    /// If a part of the set that is read is damaged.
    pub fn build(&self) -> Result<RuleSetBuf, Damage> {
        Ok(self.ordered_rules()?.compile())
    }

    /// Returns whether the rules allow `path`, a path in normal form.
    ///
    /// # Errors
    ///
    /// If the rule set is damaged.
    pub fn allows(&self, path: &[u8]) -> Result<bool, Damage> {
        let built;
        let rules = match self.policy.set.rule_set(self.rule_set)? {
            Some(stored) => stored,
            None => {
                built = self.build()?;
                built.as_rule_set()
            }
        };
        Ok(rules.decide(path, &Settings::default(), &mut Cache::default()).is_allowed())
    }

    /// Returns the value of the user-agent line that selects the first group.
    pub fn name(&self) -> Result<Vec<u8>, Damage> {
        let mut name = Vec::new();
        self.policy.record_list()?.read_value(self.naming_line, None, &mut name)?;
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
        self.policy.groups(self.entry)?.iter().map(rules).collect()
    }
}
