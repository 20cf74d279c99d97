//! Decisions with the place and the text behind them: the rule, its line, and the values of the
//! rule and of the user-agent line.
//!
//! Deciding a block does not read them. An answer has the pattern that it comes from, and the rest is
//! found when it is asked for.

use portcullis_dialect::decision::{Decision, Reason};
use portcullis_dialect::id::{LineNumber, RuleID};
use portcullis_robots::policy::robot_named;

use super::answers::Answers;
use super::classifier::Classifier;
use super::session::Session;
use crate::Damage;
use crate::layout::{NONE, partition_point};
use crate::lists::Role;
use crate::stored::{AppliedGroups, PolicyNumber};

/// A decision with its rule, and the text behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FullDecision<'a> {
    /// The decision. If a rule decided, it has the rule's number and line.
    pub decision: Decision,
    /// The value of the deciding rule, if a rule decided; the verdict says which kind it is.
    pub rule: Option<&'a [u8]>,
    /// The value of the user-agent line of the group that applies, if one does.
    pub group: Option<&'a [u8]>,
}

impl From<Decision> for FullDecision<'_> {
    /// Returns a decision without a text.
    fn from(decision: Decision) -> Self {
        FullDecision { decision, rule: None, group: None }
    }
}

/// The rules that were asked for an answer.
struct AskedRules {
    policy: PolicyNumber,
    agent: usize,
    /// The pattern that decides, if one does.
    pattern: Option<usize>,
    /// The record of its rule, if its rule set is not stored.
    record: Option<u32>,
}

/// The place of a rule in its file.
struct RulePlace {
    rule: RuleID,
    line: LineNumber,
    /// The record of the rule.
    record: u32,
    /// The index of its group among those of the entry.
    group: u32,
}

/// The groups whose rules were asked, and the deciding rule.
type Origin<'s> = (AppliedGroups<'s>, Option<RulePlace>);

impl Answers<'_> {
    /// Returns the decision of an answer with its rule and line, the text of the rule, and that of the
    /// user-agent value.
    pub fn rule(&mut self, answer: usize) -> Result<FullDecision<'_>, Damage> {
        let (asked, columns) = (self.asked(answer), self.per_record());
        let Session { classifier, block, rule, group, .. } = &mut *self.session;
        let mut full = FullDecision::from(block.decisions[answer]);
        let Some(asked) = asked else { return Ok(full) };
        let Some((groups, place)) = classifier.origin_of(&asked)? else { return Ok(full) };
        let mut records = groups.policy.record_list()?;
        match &place {
            Some(RulePlace { group: number @ 1.., .. }) => {
                classifier.read_group(&groups, *number, asked.agent, group)?;
            }
            _ => records.read_value(groups.naming_line, None, group)?,
        }
        full.group = Some(&**group);
        if let (Some(place), Some(pattern)) = (place, asked.pattern) {
            let pattern = match block.unstored(answer, columns) {
                Some((_, kept)) => {
                    let paths = &classifier.dialect().paths;
                    kept.and_then(|unstored| unstored.pattern_of_rule(pattern, paths))
                }
                None => groups.pattern_of_rule(pattern)?,
            };
            if pattern.is_none() {
                records.find_patterns(&groups.policy)?;
            }
            records.read_value(place.record, pattern, rule)?;
            full.rule = Some(&**rule);
            (full.decision.rule, full.decision.line) = (Some(place.rule), Some(place.line));
        }
        Ok(full)
    }

    /// Returns the decisions, each with its rule and line.
    pub fn decisions_with_rules(&self) -> Result<Vec<Decision>, Damage> {
        let classifier = &self.session.classifier;
        let with_rule = |(answer, &decision): (usize, &Decision)| {
            let found = match self.asked(answer) {
                Some(asked) => classifier.origin_of(&asked)?,
                None => None,
            };
            let place = found.and_then(|(_, place)| place);
            let (rule, line) = place.map(|place| (place.rule, place.line)).unzip();
            Ok(Decision { rule, line, ..decision })
        };
        let decisions = self.decisions().iter().enumerate().map(with_rule).collect();
        classifier.set.has_length()?;
        decisions
    }

    /// Returns whose rules were asked for an answer; `None` if no rules were.
    fn asked(&self, answer: usize) -> Option<AskedRules> {
        let Session { block, policies, .. } = &*self.session;
        let is_asked = matches!(block.decisions[answer].reason, Reason::Rule | Reason::NoRule);
        let agent = self.agent(answer).filter(|_| is_asked)?;
        let columns = self.per_record();
        let policy = PolicyNumber(policies[answer / columns]);
        let pattern = block.outcomes()[answer].pattern();
        let record = block.unstored(answer, columns).map(|(record, _)| record);
        Some(AskedRules { policy, agent, pattern, record })
    }
}

impl Classifier {
    /// Returns the groups whose rules were asked, and the place of the rule that decides; `None` if no
    /// group applies.
    fn origin_of(&self, asked: &AskedRules) -> Result<Option<Origin<'_>>, Damage> {
        let Some(groups) = self.rules_of(asked.policy, asked.agent)? else { return Ok(None) };
        let place = |pattern| self.place_of(&groups, (pattern, asked.record));
        Ok(Some((groups, asked.pattern.map(place).transpose()?)))
    }

    /// Returns the place of the rule of a pattern, whose record is known if its rule set is not stored.
    fn place_of(
        &self,
        &AppliedGroups { policy, entry, order, .. }: &AppliedGroups<'_>,
        (pattern, record): (usize, Option<u32>),
    ) -> Result<RulePlace, Damage> {
        let offset = match (order, record) {
            (NONE, record) => record.unwrap_or(NONE),
            (order, _) => self.set.record_of(order, pattern as u32)?,
        };
        let malformed = || policy.malformed("a rule is in none of its groups");
        let groups = policy.groups(entry)?;
        let record = policy.first_record(entry)?.checked_add(offset).ok_or_else(malformed)?;
        let begins = |group| groups.get(group).map(|(_, start)| start <= record);
        let after = partition_point(groups.len(), |group| begins(group).ok_or_else(malformed))?;
        let group = after.checked_sub(1).ok_or_else(malformed)?;
        let (first_rule, start) = groups.get(group).ok_or_else(malformed)?;
        // In a damaged set the groups may not ascend.
        let after_start = record.checked_sub(start).ok_or_else(malformed)?;
        let rule = RuleID(first_rule.saturating_add(after_start));
        let line = policy.record_list()?.line(record)?;
        Ok(RulePlace { rule, line, record, group: group as u32 })
    }

    /// Reads the value of the user-agent line that names an agent, in a group after the first.
    fn read_group(
        &self,
        &AppliedGroups { policy, entry, token, .. }: &AppliedGroups<'_>,
        group: u32,
        agent: usize,
        value: &mut Vec<u8>,
    ) -> Result<(), Damage> {
        let groups = policy.groups(entry)?;
        let malformed = || policy.malformed("a group has no user-agent line");
        let (_, end) = groups.get(group as usize).ok_or_else(malformed)?;
        let token = match token {
            NONE => None,
            position => self.agents[agent].tokens().nth(position as usize),
        };
        // The user-agent lines precede the group's first rule. The first one that names the agent
        // counts.
        let records = policy.record_list()?;
        let mut first = end;
        while first > 0 && records.is_user_agent(first - 1)? {
            first -= 1;
            if records.role(first)? == Role::STARTS_GROUP {
                break;
            }
        }
        for index in first..end {
            records.read_value(index, None, value)?;
            if robot_named(value, token, self.dialect()) {
                return Ok(());
            }
        }
        Err(malformed())
    }
}
