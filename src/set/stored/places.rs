//! Where decisions come from: the rule, its line, and the values of rule and user-agent line.
//!
//! Deciding looks at none of this. It is read for decisions that name their rule, and for callers that ask
//! where one comes from.

use crate::id::{LineNumber, RuleID};
use crate::policy::{Detail, Source, robot_named};

use super::super::file::Damage;
use super::super::layout::{NONE, policy, record};
use super::policy::SelectedRules;
use super::{Inquiry, InquiryMemory, PolicyNumber};

/// Where a rule stands.
pub(super) struct RulePlace {
    pub rule: RuleID,
    pub line: LineNumber,
    /// Its record.
    record: u32,
    /// Its group, by its place among those of the entry.
    group: u32,
}

impl Inquiry {
    /// Where the rule that decides stands, if one does.
    pub(super) fn place_of(&self, source: Source) -> Result<Option<RulePlace>, Damage> {
        let (Some(entry), Some(pattern)) = (source.entry(), source.pattern()) else {
            return Ok(None);
        };
        let Some(rules) = self.rules_of(entry)? else { return Ok(None) };
        let policy = self.set.policy(PolicyNumber(rules.policy))?;
        let offset = match rules.order {
            // What was ordered anew says the record itself.
            NONE => pattern,
            order => {
                let at = order.saturating_add(pattern);
                self.set.words(self.set.sections.orders, at, 1)?[0].get()
            }
        };
        let malformed = || policy.malformed("a rule stands in none of its groups");
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
        let (line, _) = self.set.document_line(policy.document(), record)?;
        Ok(Some(RulePlace { rule, line, record, group: group as u32 }))
    }

    /// The rule and the user-agent value behind the decision for `agent` on the question with this number, of
    /// those that `memory` was used for last, as they stand in the file. Rules are known with
    /// [`Detail::Rule`] only.
    ///
    /// # Errors
    ///
    /// If what has to be looked at is damaged.
    ///
    /// # Panics
    ///
    /// If there is no such question or agent.
    pub fn provenance(
        &self,
        question: usize,
        agent: usize,
        memory: &InquiryMemory,
        rule: &mut Vec<u8>,
        group: &mut Vec<u8>,
    ) -> Result<(bool, bool), Damage> {
        let source = memory.block.source(question * self.agents.len() + agent);
        let Some(entry) = source.entry() else { return Ok((false, false)) };
        // An agent that shares the answer of another has a line of its own that speaks to it.
        let entry = entry - entry % self.agents.len() + agent;
        let Some(rules) = self.rules_of(entry)? else { return Ok((false, false)) };
        let document = self.set.policy(PolicyNumber(rules.policy))?.document();
        let place = match self.detail {
            Detail::Rule => self.place_of(source)?,
            Detail::Reason => None,
        };
        match &place {
            Some(RulePlace { group: number @ 1.., .. }) => {
                self.speaker_of(&rules, *number, agent, group)?;
            }
            _ => self.record_value(document, rules.speaker, group)?,
        }
        if let Some(place) = &place {
            self.record_value(document, place.record, rule)?;
        }
        Ok((place.is_some(), true))
    }

    fn record_value(&self, document: u32, index: u32, value: &mut Vec<u8>) -> Result<(), Damage> {
        let (_, string) = self.set.document_line(document, index)?;
        let start = self.set.record_text(string, value)?;
        value.drain(..start);
        Ok(())
    }

    /// The value of the user-agent line that speaks to an agent, in a group after the first.
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
}
