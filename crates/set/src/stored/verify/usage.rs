//! Verifies the usage of policies: positions, references, and that it equals what the records say.

use zerocopy::little_endian::U32;

use portcullis_dialect::usage::Label;

use super::super::super::compile::{PlannedRules, PlannedUsage, UsagePlan, order_bytes};
use super::super::super::file::Damage;
use super::super::super::layout::NONE;
use super::super::usage::{StoredUsage, columns};
use super::super::{PolicySet, RuleSetKind, StoredPolicy};
use super::policies::{Comparison, FoundPolicies};
use super::rule_sets::FoundRuleSets;
use super::texts::Texts;

/// Where the next usage and the next list of usage records begin.
#[derive(Default)]
pub(super) struct NextUsage {
    usage: u32,
    records: u32,
}

impl FoundPolicies {
    /// Takes note of what the usage of a policy needs.
    pub(super) fn need_usage(
        &mut self,
        set: &PolicySet,
        policy: &StoredPolicy<'_>,
        rule_sets: &mut FoundRuleSets,
        texts: &mut Texts,
    ) -> Result<(), Damage> {
        let Some(usage) = policy.usage()? else { return Ok(()) };
        let (start, end) = usage.range();
        if start != self.next_usage.usage || usage.record_list() != self.next_usage.records {
            return Err(usage.malformed("the usage of a policy is at an unexpected position"));
        }
        self.next_usage.usage = end;
        self.next_usage.records =
            texts.need_list(set, set.sections.usage_records, usage.record_list())?;
        for token in usage.tokens()? {
            self.need_name(set, token.get())?;
        }
        // So many entries are there at most; more would be looked for in vain for a long time.
        if usage.entry_at(usage.entries() as u32) > usage.words() {
            return Err(usage.malformed("a usage has fewer entries than it says"));
        }
        for entry in 0..usage.entries() as u32 {
            for column in columns(&Label::ALL) {
                let (rule_set, order) = usage.rules(entry, column)?;
                let needed = rule_sets.need(set, rule_set)?;
                let stored = needed.ok_or_else(|| usage.malformed("a label has no rule set"))?;
                let is_there = match stored.kind() {
                    RuleSetKind::OfGroups => order == NONE,
                    RuleSetKind::Patterns => self.need_order(set, order, stored.patterns())?,
                };
                if !is_there {
                    return Err(
                        usage.malformed("the order of a label is at an unexpected position")
                    );
                }
            }
        }
        Ok(())
    }

    /// Whether nothing is left over where usage is.
    pub(super) fn usage_ends(&self, set: &PolicySet) -> Result<(), Damage> {
        let ends = [
            (set.sections.usage_index, set.policy_count()),
            (set.sections.usage, self.next_usage.usage),
            (set.sections.usage_records, self.next_usage.records),
        ];
        for (section, words) in ends {
            let end = u64::from(words) * size_of::<U32>() as u64;
            if section.bytes() != end {
                return Err(set.file.malformed(section, end, "unreferenced data"));
            }
        }
        Ok(())
    }
}

impl Comparison<'_> {
    /// Compares what pages may be used for with what the usage records say.
    pub(super) fn usage(&self, plan: Option<&UsagePlan<'_>>) -> Result<(), Damage> {
        let (usage, plan) = match (self.policy.usage()?, plan) {
            (None, None) => return Ok(()),
            (Some(usage), Some(plan)) => (usage, plan),
            _ => return Err(self.policy.malformed("a policy has another usage than its records")),
        };
        let check = |is_so: bool, what| is_so.then_some(()).ok_or_else(|| usage.malformed(what));
        let mut preferences = usage.preferences()?;
        check(
            preferences.len() == plan.preferences.len().next_multiple_of(4),
            "a usage has other records than its file",
        )?;
        let unused = preferences.split_off(plan.preferences.len());
        check(
            preferences == plan.preferences && unused.iter().all(|&byte| byte == 0),
            "the usage records state something else",
        )?;
        let robot = |(index, token): (usize, &U32)| {
            let (entry, line) = usage.robot(index)?;
            Ok((token.get(), entry, line))
        };
        let robots: Result<Vec<_>, Damage> =
            usage.tokens()?.iter().enumerate().map(robot).collect();
        check(robots? == self.numbered(&plan.robots)?, "a usage names other robots")?;
        check(
            (usage.default_entry(), usage.entries()) == (plan.default_entry, plan.entries.len()),
            "a usage has other groups than its records",
        )?;
        let mut licenses_at = usage.entry_at(plan.entries.len() as u32);
        for (number, planned) in (0..).zip(&plan.entries) {
            let licenses = usage.licenses(number)?;
            let same =
                licenses.iter().map(|record| record.get()).eq(planned.licenses.iter().copied());
            check(
                same && usage.licenses_at(number)? == licenses_at,
                "an entry has other licences than its records",
            )?;
            licenses_at += 1 + licenses.len();
            self.labels(&usage, number, planned)?;
        }
        check(usage.words() == licenses_at, "extra words follow a usage")
    }

    fn labels(
        &self,
        usage: &StoredUsage<'_>,
        entry: u32,
        planned: &PlannedUsage,
    ) -> Result<(), Damage> {
        for (number, column) in columns(&Label::ALL).enumerate() {
            let (rule_set, start) = usage.rules(entry, column)?;
            let stored = self.set.rule_set(rule_set)?;
            let planned = planned.statements.as_ref().map(|statements| &statements[number]);
            match (stored.kind(), planned) {
                (RuleSetKind::OfGroups, None) => {}
                (RuleSetKind::Patterns, Some(PlannedRules { rules, order })) => {
                    let (section, order) = (self.set.sections.orders, order_bytes(order));
                    let found = self.set.file.bytes(section, start.into(), order.len() as u64)?;
                    if found != order {
                        return Err(usage.malformed("the statements are in another order"));
                    }
                    self.compared.compare(self.set, &stored, rules)?;
                }
                _ => {
                    return Err(usage.malformed("a rule set is kept as another one should be"));
                }
            }
        }
        Ok(())
    }
}
