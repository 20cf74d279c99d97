//! The usage records of a policy that hold for an agent.

use portcullis_dialect::usage::{Label, Preference, UsageSource};
use portcullis_engine::RuleSet;
use zerocopy::little_endian::U32;

use super::super::file::Damage;
use super::usage::StoredUsage;
use super::{AgentTokens, StoredPolicy, StoredRuleSet};

/// The usage records of a policy that hold for an agent.
#[derive(Clone, Copy, Debug)]
pub struct AppliedUsage<'s> {
    policy: StoredPolicy<'s>,
    usage: StoredUsage<'s>,
    entry: u32,
}

impl<'s> StoredPolicy<'s> {
    /// Returns the usage records that hold for an agent; `None` if the file has none for anyone.
    ///
    /// # Errors
    ///
    /// If a part of the set that is read is damaged.
    pub fn applied_usage(&self, agent: &AgentTokens) -> Result<Option<AppliedUsage<'s>>, Damage> {
        let Some(usage) = self.usage()? else { return Ok(None) };
        Ok(Some(AppliedUsage { policy: *self, usage, entry: usage.select(agent)? }))
    }
}

impl<'s> AppliedUsage<'s> {
    /// Returns the number of these records in their policy. For agents with the same number, the
    /// same records hold.
    pub fn entry(&self) -> u32 {
        self.entry
    }

    /// Returns the licences, as written. Each is read when it is taken, because a file may have thousands.
    ///
    /// # Errors
    ///
    /// If a part of the set that is read is damaged, here and below.
    pub fn licenses(
        &self,
    ) -> Result<impl ExactSizeIterator<Item = Result<Vec<u8>, Damage>> + use<'s>, Damage> {
        let policy = self.policy;
        let license = move |record: &U32| Ok(policy.usage_record(record.get())?.2);
        Ok(self.usage.licenses(self.entry)?.iter().map(license))
    }

    /// Returns the patterns of a field about a label, and the preference of each. `None` if their rule
    /// set is too large to be stored.
    pub fn statements(
        &self,
        label: Label,
        source: UsageSource,
    ) -> Result<Option<(RuleSet<'s>, Vec<Preference>)>, Damage> {
        let set = self.policy.set;
        let (number, order) = self.usage.rules(self.entry, (label, source))?;
        let StoredRuleSet::Compiled(rules) = set.rule_set(number)? else { return Ok(None) };
        let preference = |pattern| {
            let record = set.record_of(order, pattern)?;
            self.usage.preference(record, label)
        };
        let preferences = (0..rules.len() as u32).map(preference).collect::<Result<_, _>>()?;
        Ok(Some((rules, preferences)))
    }
}
