//! Decisions with their place and text: the rule, its line, and the values of the
//! rule and of the user-agent line.
//!
//! Deciding a block does not read them. An answer has the pattern that it comes from, and the rest is
//! found when it is asked for.

use portcullis_dialect::decision::{Answer, Decision, Reason};
use portcullis_dialect::id::{LineNumber, RuleID};
use portcullis_engine::pattern::Pattern;

use super::answers::Answers;
use super::classifier::Classifier;
use super::session::Session;
use crate::Damage;
use crate::layout::partition_point;
use crate::stored::{AppliedGroups, PolicyNumber};

/// A decision with its rule, and its text.
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
    /// The place of the deciding rule group in the entry, and the pattern that decides, if one does.
    part: usize,
    pattern: Option<usize>,
}

/// The place of a rule in its file.
struct RulePlace<'s> {
    rule: RuleID,
    line: LineNumber,
    /// The record of the rule.
    record: u32,
    /// The record of the first rule of its group, unless it is the first group of the entry.
    group: Option<u32>,
    /// The pattern that is the text of the rule.
    pattern: Option<Pattern<'s>>,
}

/// The groups whose rules were asked, and the deciding rule.
type Origin<'s> = (AppliedGroups<'s>, Option<RulePlace<'s>>);

impl Answers<'_> {
    /// Returns the decision of an answer with its rule and line, the text of the rule, and that of the
    /// user-agent value.
    pub fn rule(&mut self, answer: usize) -> Result<FullDecision<'_>, Damage> {
        let asked = self.asked(answer);
        let Session { classifier, block, rule, group, group_names, .. } = &mut *self.session;
        let mut full = FullDecision::from(Decision::from(block.decisions[answer]));
        let Some(asked) = asked else { return Ok(full) };
        let Some((groups, place)) = classifier.origin_of(&asked)? else { return Ok(full) };
        let records = groups.policy.record_list()?;
        match &place {
            Some(RulePlace { group: Some(first_rule), .. }) => {
                let tokens = || classifier.agents[asked.agent].tokens();
                let token = groups.token.and_then(|place| tokens().nth(place));
                let line = group_names.naming_line(&groups.policy, *first_rule, token)?;
                records.read_value(line, None, group)?;
            }
            _ => records.read_value(groups.naming_line, None, group)?,
        }
        full.group = Some(&**group);
        if let Some(place) = place {
            records.read_value(place.record, place.pattern, rule)?;
            full.rule = Some(&**rule);
            (full.decision.rule, full.decision.line) = (Some(place.rule), Some(place.line));
        }
        Ok(full)
    }

    /// Returns the decisions, each with its rule and line.
    pub fn decisions_with_rules(&self) -> Result<Vec<Decision>, Damage> {
        let classifier = &self.session.classifier;
        let with_rule = |(answer, &decision): (usize, &Answer)| {
            let found = match self.asked(answer) {
                Some(asked) => classifier.origin_of(&asked)?,
                None => None,
            };
            let place = found.and_then(|(_, place)| place);
            let (rule, line) = place.map(|place| (place.rule, place.line)).unzip();
            Ok(Decision { rule, line, ..decision.into() })
        };
        let decisions = self.decisions().iter().enumerate().map(with_rule).collect();
        classifier.set.has_length()?;
        decisions
    }

    /// Returns the last file that a crawler reads instead of the policy of a record, if an answer comes from
    /// one. The rule of the answer is one of this file then.
    #[inline]
    pub fn copy_read(&self, answer: usize) -> Option<PolicyNumber> {
        self.session.copies.of(answer).map(|(policy, ..)| policy)
    }

    /// Returns whose rules were asked for an answer; `None` if no rules were.
    fn asked(&self, answer: usize) -> Option<AskedRules> {
        let Session { block, copies, policies, .. } = &*self.session;
        let is_asked = matches!(block.decisions[answer].reason(), Reason::Rule | Reason::NoRule);
        let agent = self.agent(answer).filter(|_| is_asked)?;
        if let Some((policy, agent, (part, pattern))) = copies.of(answer) {
            return Some(AskedRules { policy, agent, part, pattern });
        }
        let columns = self.per_record();
        let policy = policies[answer / columns].number()?;
        let pattern = block.outcomes()[answer].pattern();
        let part = block.deciding_part(answer, columns);
        Some(AskedRules { policy, agent, part, pattern })
    }
}

impl Classifier {
    /// Returns the groups whose rules were asked, and the place of the rule that decides; `None` if no
    /// group applies.
    fn origin_of(&self, asked: &AskedRules) -> Result<Option<Origin<'_>>, Damage> {
        let Some(groups) = self.rules_of(asked.policy, asked.agent)? else { return Ok(None) };
        let place = |pattern| place_of(&groups, (asked.part, pattern));
        Ok(Some((groups, asked.pattern.map(place).transpose()?)))
    }
}

/// Returns the place of the rule of a pattern in a rule group of an entry.
fn place_of<'s>(
    &AppliedGroups { policy, entry, .. }: &AppliedGroups<'s>,
    (part, pattern): (usize, usize),
) -> Result<RulePlace<'s>, Damage> {
    let malformed = || policy.malformed("a rule is in none of its groups");
    let of_entry = policy.entry_groups(entry)?;
    let rule_group = policy.rule_group(of_entry.get(part).ok_or_else(malformed)?)?;
    let (record, pattern) = rule_group.rule_of(pattern)?;
    let groups = rule_group.groups()?;
    let begins = |group| groups.get(group).map(|(_, start)| start <= record);
    let after = partition_point(groups.len(), |group| begins(group).ok_or_else(malformed))?;
    let group = after.checked_sub(1).ok_or_else(malformed)?;
    let (first_rule, start) = groups.get(group).ok_or_else(malformed)?;
    // In a damaged set the groups may not ascend.
    let after_start = record.checked_sub(start).ok_or_else(malformed)?;
    let rule = RuleID(first_rule.saturating_add(after_start));
    let line = policy.record_list()?.line(record)?;
    // Rule groups and their groups are in the order of the file.
    let is_first = part == 0 && group == 0;
    Ok(RulePlace { rule, line, record, group: (!is_first).then_some(start), pattern })
}
