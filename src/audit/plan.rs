//! Where the counters of each policy stand: one for each rule, and one for each set of agents that
//! obeys the same groups.
//!
//! Agents that obey the same groups of a file get the same decisions from it, so they are counted
//! once, as a *class*. Most files have one or two classes, whatever the number of agents. Counters
//! stand end to end in plain arrays, so that counting a decision is an addition to an item whose
//! number is known.

use std::ops::Range;

use crate::dialect::Dialect;
use crate::id::RuleID;
use crate::policy::{AgentChain, Selection};
use crate::syntax::{Group, RobotsTxt};

/// Agents that a policy cannot tell apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Class {
    /// The first of them.
    pub agent: u32,
    /// The first rule of the groups that they obey.
    pub first_rule: u32,
    /// From there to the last rule.
    pub rule_span: u32,
    /// Where the counters of those rules stand, in a policy whose classes share rules.
    pub base: usize,
}

/// A policy's classes before they have their place.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    /// By agent: its class.
    of_agent: Vec<u32>,
    classes: Vec<Class>,
    /// Rules with a pattern that speak to some class.
    speaking: u32,
    /// Whether a rule speaks to several classes.
    is_shared: bool,
}

impl Draft {
    /// One class for everybody, without rules.
    pub(super) fn without_rules(agents: usize) -> Draft {
        let class = Class { agent: 0, first_rule: 0, rule_span: 0, base: 0 };
        Draft { of_agent: vec![0; agents], classes: vec![class], speaking: 0, is_shared: false }
    }

    /// The classes of `agents` in `file`.
    pub(super) fn of(file: &RobotsTxt<'_>, agents: &[AgentChain], dialect: &Dialect) -> Draft {
        let obeyed: Vec<Vec<usize>> =
            agents.iter().map(|agent| groups_obeyed(file, agent, dialect)).collect();
        let mut distinct: Vec<&[usize]> = Vec::new();
        let mut draft = Draft {
            of_agent: Vec::with_capacity(agents.len()),
            classes: Vec::new(),
            speaking: 0,
            is_shared: false,
        };
        for (agent, groups) in (0..).zip(&obeyed) {
            let known = distinct.iter().position(|other| *other == groups.as_slice());
            draft.of_agent.push(known.unwrap_or(distinct.len()) as u32);
            if known.is_none() {
                distinct.push(groups);
                draft.classes.push(class(file, agent, groups));
            }
        }
        let mut groups: Vec<usize> = distinct.iter().flat_map(|groups| *groups).copied().collect();
        groups.sort_unstable();
        let all = groups.len();
        groups.dedup();
        draft.is_shared = groups.len() < all;
        let speaking = groups.iter().flat_map(|&group| file.rules_of(&file.groups()[group]));
        draft.speaking = speaking.filter(|rule| !rule.value.is_empty()).count() as u32;
        draft
    }
}

/// The positions of the groups that an agent obeys; none if the file has none for it.
pub(super) fn groups_obeyed(
    file: &RobotsTxt<'_>,
    agent: &AgentChain,
    dialect: &Dialect,
) -> Vec<usize> {
    match Selection::of(file, agent, dialect) {
        Selection::NoRules | Selection::NoGroup => Vec::new(),
        Selection::Groups { groups, .. } => groups,
    }
}

fn class(file: &RobotsTxt<'_>, agent: u32, groups: &[usize]) -> Class {
    let rules = |group: usize| -> Option<&Group> {
        Some(&file.groups()[group]).filter(|group| !group.rules.is_empty())
    };
    let first = groups.iter().find_map(|&group| rules(group)).map_or(0, |group| group.rules.start);
    let last = groups.iter().rev().find_map(|&group| rules(group));
    let end = last.map_or(first, |group| group.rules.end);
    Class { agent, first_rule: first, rule_span: end - first, base: 0 }
}

/// Where the counters of one policy stand.
#[derive(Clone, Debug)]
pub(super) struct PolicyPlan {
    first_class: u32,
    class_count: u32,
    /// The first rule that has a counter.
    pub first_rule: u32,
    /// From there to the last one.
    pub rule_span: u32,
    /// Where these counters stand.
    pub rule_base: usize,
    /// Rules with a pattern that speak to some class.
    pub speaking: u32,
    /// Whether a rule speaks to several classes, so that they have counters of their own.
    pub is_shared: bool,
}

impl PolicyPlan {
    /// The counter of a rule, if it has one.
    #[inline]
    pub(super) fn counter(&self, rule: RuleID) -> Option<usize> {
        let offset = rule.0.checked_sub(self.first_rule)?;
        (offset < self.rule_span).then(|| self.rule_base + offset as usize)
    }

    /// The counters of its rules.
    pub(super) fn counters(&self) -> Range<usize> {
        self.rule_base..self.rule_base + self.rule_span as usize
    }
}

impl Class {
    /// The counter that a rule has for this class, if it has one, where classes share rules.
    #[inline]
    pub(super) fn counter(&self, rule: RuleID) -> Option<usize> {
        let offset = rule.0.checked_sub(self.first_rule)?;
        (offset < self.rule_span).then(|| self.base + offset as usize)
    }
}

/// The counters of all policies.
#[derive(Debug)]
pub(super) struct Plan {
    agents: usize,
    of_agent: Vec<u32>,
    policies: Vec<PolicyPlan>,
    classes: Vec<Class>,
    /// Counters of rules.
    pub rules: usize,
    /// Counters of rules by class.
    pub class_rules: usize,
}

impl Plan {
    pub(super) fn new(agents: usize) -> Plan {
        Plan {
            agents,
            of_agent: Vec::new(),
            policies: Vec::new(),
            classes: Vec::new(),
            rules: 0,
            class_rules: 0,
        }
    }

    /// Gives the next policy its place.
    pub(super) fn push(&mut self, draft: Draft) {
        let Draft { of_agent, mut classes, speaking, is_shared } = draft;
        let with_rules = || classes.iter().filter(|class| class.rule_span > 0);
        let first_rule = with_rules().map(|class| class.first_rule).min().unwrap_or(0);
        let end = with_rules().map(|class| class.first_rule + class.rule_span).max();
        let rule_span = end.map_or(0, |end| end - first_rule);
        self.policies.push(PolicyPlan {
            first_class: self.classes.len() as u32,
            class_count: classes.len() as u32,
            first_rule,
            rule_span,
            rule_base: self.rules,
            speaking,
            is_shared,
        });
        self.rules += rule_span as usize;
        if is_shared {
            for class in &mut classes {
                class.base = self.class_rules;
                self.class_rules += class.rule_span as usize;
            }
        }
        self.classes.append(&mut classes);
        self.of_agent.extend_from_slice(&of_agent);
    }

    /// The policy with this number, if there is one.
    #[inline]
    pub(super) fn policy(&self, policy: u32) -> Option<&PolicyPlan> {
        self.policies.get(policy as usize)
    }

    /// The classes of a policy.
    #[inline]
    pub(super) fn classes(&self, policy: &PolicyPlan) -> &[Class] {
        &self.classes[policy.first_class as usize..][..policy.class_count as usize]
    }

    /// By agent: its class in the policy at `policy`.
    pub(super) fn of_agents(&self, policy: u32) -> &[u32] {
        &self.of_agent[policy as usize * self.agents..][..self.agents]
    }

    /// The policy that the counter at `index` is of.
    pub(super) fn policy_of_rule(&self, index: usize) -> u32 {
        // One without counters stands where the next one begins, which comes after it.
        let after = self.policies.partition_point(|policy| policy.rule_base <= index);
        after.saturating_sub(1) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::RFC_9309;

    const TEXT: &[u8] = b"User-agent: a\nDisallow: /1\n\nUser-agent: b\nUser-agent: c\n\
        Disallow: /2\nDisallow:\nAllow: /3\n\nUser-agent: a\nUser-agent: b\nDisallow: /4\n";

    fn draft(agents: &[&str]) -> Draft {
        let file = RobotsTxt::parse(TEXT, &RFC_9309, None);
        let agents: Vec<AgentChain> =
            agents.iter().map(|agent| AgentChain::parse(agent, &RFC_9309).unwrap()).collect();
        Draft::of(&file, &agents, &RFC_9309)
    }

    #[test]
    fn agents_that_obey_the_same_groups_are_one_class() {
        let drafted = draft(&["c", "nobody", "C", "else"]);
        assert_eq!(drafted.of_agent, [0, 1, 0, 1]);
        assert_eq!(drafted.classes[0], Class { agent: 0, first_rule: 1, rule_span: 3, base: 0 });
        assert_eq!(drafted.classes[1], Class { agent: 1, first_rule: 0, rule_span: 0, base: 0 });
        // An empty pattern decides nothing.
        assert_eq!((drafted.speaking, drafted.is_shared), (2, false));
    }

    #[test]
    fn classes_that_share_rules_have_counters_of_their_own() {
        let mut plan = Plan::new(2);
        plan.push(Draft::without_rules(2));
        plan.push(draft(&["a", "b"]));
        plan.push(draft(&["c", "nobody"]));
        let shared = plan.policy(1).unwrap();
        assert!(shared.is_shared);
        assert_eq!((shared.first_rule, shared.rule_span, shared.speaking), (0, 5, 4));
        let bases: Vec<_> = plan.classes(shared).iter().map(|class| class.base).collect();
        assert_eq!(bases, [0, 5]);
        assert_eq!((plan.rules, plan.class_rules), (8, 9));
        assert_eq!([0, 4, 5, 7].map(|index| plan.policy_of_rule(index)), [1, 1, 2, 2]);
        assert_eq!(plan.of_agents(2), [0, 1]);
    }
}
