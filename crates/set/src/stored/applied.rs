//! The groups of a policy that apply to an agent, and decide for it.

use std::ops::Range;

use portcullis_dialect::decision::PolicyState;
use portcullis_dialect::dialect::AccessOutcome;
use portcullis_engine::{Cache, Settings};

use super::super::file::Damage;
use super::super::layout::{NONE, PolicyHead, policy, position};
use super::policy::{EntryGroups, Lines, StoredHead};
use super::tokens::AgentTokens;
use super::{EntryRules, PolicyEntry, StoredPolicy};

/// The groups of a policy that apply to an agent.
#[derive(Clone, Copy, Debug)]
pub struct AppliedGroups<'s> {
    pub(crate) policy: StoredPolicy<'s>,
    /// Their entry in the policy.
    pub entry: PolicyEntry,
    /// The record of the user-agent line that selects the first group.
    pub naming_line: u32,
    /// The position in the agent's chain of the token that is named; `None` for default groups.
    pub(crate) token: Option<usize>,
}

/// The decision for an agent.
pub(crate) enum Effect {
    /// There is no file with rules: the same for every path.
    Access(AccessOutcome),
    /// No group applies to the agent.
    NoGroup,
    /// The policy's entry, and the lines of its rule set if it has one rule group.
    Rules { entry: PolicyEntry, lines: Option<Lines> },
}

impl StoredHead<'_> {
    /// Returns what decides for an agent. Reads the rest only for an agent that the file may name.
    #[inline]
    pub fn effect(&self, agent: &AgentTokens) -> Result<Effect, Damage> {
        let access = self.access()?;
        if access.state != PolicyState::Rules {
            return Ok(Effect::Access(access));
        }
        if agent.may_be_in(self.head.names_and_state.get()) {
            let policy = self.policy()?;
            if let Some((entry, ..)) = policy.named(agent)? {
                let lines = match policy.entry_groups(entry)? {
                    EntryGroups::One(number) => Some(policy.rule_group(number)?.lines()?),
                    EntryGroups::Several(_) => None,
                };
                return Ok(Effect::Rules { entry, lines });
            }
        }
        let PolicyHead { default_entry, default_line, default_lines, .. } = self.head;
        Ok(match position(*default_entry).filter(|_| !agent.skips_default) {
            None => Effect::NoGroup,
            Some(entry) => {
                let lines = (default_line.get(), default_lines.get());
                let lines = (lines != (NONE, 0)).then_some(lines);
                Effect::Rules { entry: PolicyEntry(entry), lines }
            }
        })
    }
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
            (Some((entry, line, token)), _) => (entry, line, Some(token)),
            (None, Some(entry)) if !agent.skips_default => {
                (entry, self.words[policy::DEFAULT_NAMING_LINE].get(), None)
            }
            (None, _) => return Ok(None),
        };
        Ok(Some(AppliedGroups { policy: *self, entry, naming_line, token }))
    }
}

impl<'s> AppliedGroups<'s> {
    /// Returns whether the groups name the agent. Otherwise they are the groups for all crawlers.
    pub fn is_named(&self) -> bool {
        self.token.is_some()
    }

    /// Returns their rules, in order of precedence.
    ///
    /// # Errors
    ///
    /// If a part of the set that is read is damaged.
    pub fn rules(&self) -> Result<EntryRules<'s>, Damage> {
        self.policy.rules(self.entry)
    }

    /// Returns whether the rules allow `path`, a path in normal form.
    ///
    /// # Errors
    ///
    /// As for [`AppliedGroups::rules`].
    pub fn allows(&self, path: &[u8]) -> Result<bool, Damage> {
        let (settings, mut cache) = (Settings::default(), Cache::default());
        let rules = self.rules()?;
        Ok(rules.as_rule_set().decide(path, &settings, &mut cache).is_allowed())
    }

    /// Returns the value of the user-agent line that selects the first group.
    pub fn name(&self) -> Result<Vec<u8>, Damage> {
        let mut name = Vec::new();
        self.policy.record_list()?.read_value(self.naming_line, None, &mut name)?;
        Ok(name)
    }

    /// Returns the numbers of the rules of each group that has some, in file order.
    pub fn rule_numbers(&self) -> Result<Vec<Range<u32>>, Damage> {
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
        let mut all = Vec::new();
        for group in self.policy.rule_groups(self.entry)? {
            all.extend(group.groups()?.iter());
        }
        all.sort_unstable();
        all.into_iter().map(rules).collect()
    }
}
