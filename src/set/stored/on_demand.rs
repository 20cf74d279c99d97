//! What the lazy automata of rule sets are made of: patterns as the set keeps them, or ordered anew.

use crate::automaton::Outcome;
use crate::decision::Verdict;
use crate::pattern::PatternList;
use crate::policy::OrderedRules;
use crate::syntax::RobotsTxt;

use super::super::compile::record_order;
use super::super::file::Damage;
use super::policy::SelectedRules;
use super::{PolicyNumber, PolicySet, RuleSetKind};

/// Returns the patterns of a rule set in order of precedence, and what their matches mean. An outcome
/// has the number of the pattern, or of the rule's record, counted from the first rule of the first
/// group, where the set does not keep the order.
pub(super) fn patterns_of(
    set: &PolicySet,
    selected: &SelectedRules,
) -> Result<(PatternList, Vec<Outcome>), Damage> {
    let stored = set.rule_set(selected.rule_set)?;
    if stored.kind() == RuleSetKind::Patterns {
        return set.pattern_list(&stored);
    }
    let (rules, order) = ordered(set, selected)?;
    let outcomes = order
        .iter()
        .zip(&rules.verdicts)
        .map(|(record, verdict)| Outcome::new(record + 1, *verdict == Verdict::Allow));
    Ok((rules.patterns, outcomes.collect()))
}

/// The rules of some groups, ordered anew, and by pattern its rule's record, counted from the first
/// rule of the first group.
pub(super) fn ordered(
    set: &PolicySet,
    selected: &SelectedRules,
) -> Result<(OrderedRules, Vec<u32>), Damage> {
    let policy = set.policy(PolicyNumber(selected.policy))?;
    let extract = policy.extract()?;
    let malformed = || policy.malformed("its records are no file");
    let file = RobotsTxt::read_extract(&extract).ok_or_else(malformed)?;
    let words = policy.groups(selected.entry)?;
    let positions: Vec<(u32, u32)> =
        words.chunks_exact(2).map(|pair| (pair[0].get(), pair[1].get())).collect();
    let groups = groups_at(&file, &positions).ok_or_else(malformed)?;
    let rules = OrderedRules::new(&file, &groups, &set.dialect().paths);
    let order = record_order(&rules, &positions);
    Ok((rules, order))
}

/// The groups whose first rules have these numbers and records, each at most once and in the order
/// of the file.
fn groups_at(file: &RobotsTxt<'_>, positions: &[(u32, u32)]) -> Option<Vec<usize>> {
    let mut groups = file.groups().iter().enumerate();
    let find = |&(rule, record): &(u32, u32)| {
        let is_it = |group: &crate::syntax::Group| {
            group.rules.start == rule && rule.checked_add(group.user_agents.end) == Some(record)
        };
        groups.find(|(_, group)| is_it(group)).map(|(index, _)| index)
    };
    positions.iter().map(find).collect()
}
