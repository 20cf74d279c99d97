//! Sources of decisions: the rule, its line, and the values of the rule and of the user-agent line.
//!
//! Deciding does not read them. They are read for decisions that report their rule, and for callers
//! that ask for the source.

use portcullis_dialect::id::{LineNumber, RuleID};
use portcullis_engine::block::Source;
use portcullis_robots::policy::{Detail, robot_named};

use super::super::file::Damage;
use super::super::layout::{NONE, policy, record};
use super::document::RecordList;
use super::policy::SelectedRules;
use super::{PolicyNumber, PolicySet, Query, QueryMemory};

/// The place of a rule in its file.
pub(super) struct RulePlace {
    pub rule: RuleID,
    pub line: LineNumber,
    /// The record of the rule.
    record: u32,
    /// The index of its group among those of the entry.
    group: u32,
}

impl Query {
    /// Returns the place of the deciding rule, if there is one.
    pub(super) fn place_of(&self, source: Source) -> Result<Option<RulePlace>, Damage> {
        let (Some(entry), Some(pattern)) = (source.entry(), source.pattern()) else {
            return Ok(None);
        };
        let Some(rules) = self.rules_of(entry)? else { return Ok(None) };
        let policy = self.set.policy(PolicyNumber(rules.policy))?;
        let offset = match rules.order {
            NONE => self.order_of(&rules)?.get(pattern as usize).copied().unwrap_or(NONE),
            order => self.set.record_of(order, pattern)?,
        };
        let malformed = || policy.malformed("a rule is in none of its groups");
        let groups = policy.groups(rules.entry)?;
        let first = groups[1].get();
        let record = first.checked_add(offset).ok_or_else(malformed)?;
        let (groups, _) = groups.as_chunks::<{ policy::GROUP_WORDS }>();
        let group = groups.partition_point(|[_, start]| start.get() <= record);
        let group = group.checked_sub(1).ok_or_else(malformed)?;
        let [first_rule, start] = groups[group];
        // In a damaged set the groups may not ascend.
        let after_start = record.checked_sub(start.get()).ok_or_else(malformed)?;
        let rule = RuleID(first_rule.get().saturating_add(after_start));
        let line = policy.record_list()?.line(record)?;
        Ok(Some(RulePlace { rule, line, record, group: group as u32 }))
    }

    /// Writes the value of the rule and of the user-agent line behind a decision to `rule` and
    /// `group`, as in the file, and returns whether there is one of each. The decision is that for
    /// `agent` on a question of the last block for which `memory` was used. The rule is only known
    /// with [`Detail::Rule`].
    ///
    /// # Panics
    ///
    /// If there is no such question or agent.
    pub fn deciding_text(
        &self,
        question: usize,
        agent: usize,
        memory: &QueryMemory,
        rule: &mut Vec<u8>,
        group: &mut Vec<u8>,
    ) -> Result<(bool, bool), Damage> {
        let source = memory.block.source(question * self.agents.len() + agent);
        let Some(entry) = source.entry() else { return Ok((false, false)) };
        // An agent that shares the answer of another agent may be named by another line.
        let entry = entry - entry % self.agents.len() + agent;
        let Some(rules) = self.rules_of(entry)? else { return Ok((false, false)) };
        let records = self.set.policy(PolicyNumber(rules.policy))?.record_list()?;
        let place = match self.detail {
            Detail::Rule => self.place_of(source)?,
            Detail::Reason => None,
        };
        match &place {
            Some(RulePlace { group: number @ 1.., .. }) => {
                self.speaker_of(&rules, *number, agent, group)?;
            }
            _ => read_value(&records, rules.speaker, group)?,
        }
        if let Some(place) = &place {
            read_value(&records, place.record, rule)?;
        }
        Ok((place.is_some(), true))
    }

    /// Reads the value of the user-agent line that names an agent, in a group after the first.
    fn speaker_of(
        &self,
        rules: &SelectedRules,
        group: u32,
        agent: usize,
        value: &mut Vec<u8>,
    ) -> Result<(), Damage> {
        let policy = self.set.policy(PolicyNumber(rules.policy))?;
        let groups = policy.groups(rules.entry)?;
        let malformed = || policy.malformed("a group has no user-agent line");
        let group = groups.chunks_exact(policy::GROUP_WORDS).nth(group as usize);
        let end = group.ok_or_else(malformed)?[1].get();
        let token = match rules.token {
            NONE => None,
            position => self.agents[agent].tokens().nth(position as usize),
        };
        // The user-agent lines precede the group's first rule. The first one that names the agent
        // counts.
        let records = policy.record_list()?;
        let mut first = end;
        while first > 0 && records.is_user_agent(first - 1)? {
            first -= 1;
            if records.kind(first)? == record::STARTS_GROUP {
                break;
            }
        }
        for index in first..end {
            read_value(&records, index, value)?;
            if robot_named(value, token, self.set.dialect()) {
                return Ok(());
            }
        }
        Err(malformed())
    }
}

/// Reads the value of a record.
fn read_value(records: &RecordList<'_>, index: u32, value: &mut Vec<u8>) -> Result<(), Damage> {
    let start = records.read(index, value)?;
    value.drain(..start);
    Ok(())
}

impl PolicySet {
    /// Returns the record of a pattern according to an order, counted from the first rule of the
    /// first group.
    pub(super) fn record_of(&self, order: u32, pattern: u32) -> Result<u32, Damage> {
        let section = self.sections.orders;
        let width = self.file.bytes(section, order.into(), 1)?[0];
        let at = u64::from(order) + 1 + u64::from(pattern) * u64::from(width);
        match *self.file.bytes(section, at, width.into())? {
            [a] => Ok(a.into()),
            [a, b] => Ok(u16::from_le_bytes([a, b]).into()),
            [a, b, c, d] => Ok(u32::from_le_bytes([a, b, c, d])),
            _ => Err(self.file.malformed(section, order.into(), "an order has no such numbers")),
        }
    }
}
