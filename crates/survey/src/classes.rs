//! What an audit keeps of each policy: the classes of its agents, and the counters of its rules.
//!
//! Agents that follow the same groups of a file get the same decisions from it, so an audit counts
//! them once, as a *class*. Most files have one or two classes, whatever the number of agents. The
//! counters of all rules are adjacent in two arrays: one counts the URLs that a rule decided for
//! any class, the other counts them by class. Counting a decision is an addition at a known index.
//!
//! Memory: 56 bytes for each policy, and 16 for each of its classes. How agents are divided into
//! classes is stored once for all policies that divide them alike.

use std::ops::Range;

use portcullis_dialect::id::RuleID;
use portcullis_set::Damage;
use portcullis_set::stored::{AppliedGroups, PolicyNumber};

use crate::origins::Map;
use crate::reaches::Applied;

/// All policies of a set, by number.
#[derive(Debug, Default)]
pub(crate) struct Policies {
    policies: Vec<Policy>,
    /// The rules of all classes, policy by policy.
    rules: Vec<RuleSpan>,
    divisions: Vec<Division>,
    /// The position of each division, by the classes of the agents.
    known: Map<Vec<u32>, u32>,
    /// The number of counters for rules, and for rules by class.
    counters: [usize; 2],
}

/// A policy.
#[derive(Debug)]
pub(crate) struct Policy {
    pub number: PolicyNumber,
    pub hosts: u64,
    /// The number of rules that apply to some class.
    pub applicable: u64,
    /// The rules of all classes.
    pub rules: RuleSpan,
    division: u32,
    /// The position of the first class in [`Policies::rules`].
    first_class: usize,
}

/// How a policy divides the agents into classes.
#[derive(Debug)]
struct Division {
    /// The class of each agent.
    class_of: Vec<u32>,
    /// The first agent of each class.
    agents: Vec<usize>,
}

/// A policy and its classes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Classified<'p> {
    pub policy: &'p Policy,
    /// The class of each agent.
    pub class_of: &'p [u32],
    /// The first agent of each class.
    pub agents: &'p [usize],
    /// The rules of each class, from the first to the last in its groups.
    pub rules: &'p [RuleSpan],
}

/// A policy and its classes, before they are kept.
#[derive(Debug)]
pub(crate) struct PolicyClasses {
    policy: Policy,
    class_of: Vec<u32>,
    /// The rules of each class, without counters.
    rules: Vec<RuleSpan>,
}

/// A span of adjacent rules in a file, and their counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RuleSpan {
    pub first: u32,
    pub len: u32,
    /// The counter of the first rule.
    pub base: usize,
}

impl RuleSpan {
    /// Returns the counter of a rule, or `None` if the rule is not in the span.
    #[inline]
    pub fn counter(&self, rule: RuleID) -> Option<usize> {
        let offset = rule.0.checked_sub(self.first)?;
        (offset < self.len).then(|| self.base + offset as usize)
    }

    /// Places the counters after the `used` ones.
    fn place(&mut self, used: &mut usize) {
        self.base = *used;
        *used += self.len as usize;
    }

    /// Returns the span from the first to the last rule of groups, which are in file order.
    fn of(groups: &[Range<u32>]) -> RuleSpan {
        let mut rules = groups.iter().filter(|rules| !rules.is_empty());
        let Some(first) = rules.next() else { return RuleSpan::default() };
        let end = rules.next_back().unwrap_or(first).end;
        RuleSpan { first: first.start, len: end.saturating_sub(first.start), base: 0 }
    }
}

impl PolicyClasses {
    /// Finds the classes of agents with these groups, and their rules.
    pub fn of(
        number: PolicyNumber,
        hosts: u64,
        applied: &[Applied<'_>],
    ) -> Result<PolicyClasses, Damage> {
        let (mut rules, mut class_of) = (Vec::new(), Vec::new());
        let mut entries: Vec<Option<u32>> = Vec::new();
        let mut groups: Vec<Range<u32>> = Vec::new();
        for Applied { groups: own, .. } in applied {
            let entry = own.as_ref().map(AppliedGroups::entry);
            let known = entries.iter().position(|other| *other == entry);
            class_of.push(known.unwrap_or(entries.len()) as u32);
            if known.is_none() {
                let own = own.as_ref().map_or(Ok(Vec::new()), AppliedGroups::rules)?;
                rules.push(RuleSpan::of(&own));
                groups.extend(own);
                entries.push(entry);
            }
        }
        groups.sort_unstable_by_key(|rules| (rules.start, rules.end));
        groups.dedup();
        let policy = Policy {
            number,
            hosts,
            applicable: groups.iter().map(|rules| rules.len() as u64).sum(),
            rules: RuleSpan::of(&groups),
            division: 0,
            first_class: 0,
        };
        Ok(PolicyClasses { policy, class_of, rules })
    }
}

impl Division {
    fn new(class_of: &[u32]) -> Division {
        let classes = class_of.iter().max().map_or(0, |last| last + 1);
        let first = |class| class_of.iter().position(|other| *other == class);
        Division { class_of: class_of.to_vec(), agents: (0..classes).filter_map(first).collect() }
    }
}

impl Policies {
    /// Keeps the next policy, and gives its rules counters.
    pub fn push(&mut self, classes: PolicyClasses) {
        let PolicyClasses { mut policy, class_of, rules } = classes;
        let Policies { divisions, known, counters, .. } = self;
        policy.division = *known.entry(class_of).or_insert_with_key(|class_of| {
            divisions.push(Division::new(class_of));
            divisions.len() as u32 - 1
        });
        policy.first_class = self.rules.len();
        policy.rules.place(&mut counters[0]);
        for mut rules in rules {
            rules.place(&mut counters[1]);
            self.rules.push(rules);
        }
        self.policies.push(policy);
    }

    /// Returns the number of counters for rules, and for rules by class.
    pub fn counters(&self) -> [usize; 2] {
        self.counters
    }

    pub fn iter(&self) -> impl Iterator<Item = &Policy> {
        self.policies.iter()
    }

    /// Returns the policy with a number.
    #[inline]
    pub fn get(&self, number: usize) -> Classified<'_> {
        let policy = &self.policies[number];
        let Division { class_of, agents } = &self.divisions[policy.division as usize];
        let rules = &self.rules[policy.first_class..][..agents.len()];
        Classified { policy, class_of, agents, rules }
    }

    /// Returns the number of the policy whose rule has this counter.
    pub fn of_counter(&self, counter: usize) -> usize {
        // A policy without counters starts where the next policy starts, which comes after it.
        self.policies.partition_point(|policy| policy.rules.base <= counter) - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Survey;
    use portcullis_build::{LoadConfig, load_text};
    use portcullis_dialect::RFC_9309;
    use portcullis_robots::policy::Crawler;

    const TEXT: &[u8] = b"User-agent: a\nDisallow: /1\n\nUser-agent: b\nUser-agent: c\n\
        Disallow: /2\nDisallow:\nAllow: /3\n\nUser-agent: a\nUser-agent: b\nDisallow: /4\n";

    fn policies(of_policies: &[&[&str]]) -> Policies {
        let set = load_text(TEXT, &LoadConfig::new(&RFC_9309));
        let mut policies = Policies::default();
        for agents in of_policies {
            let agents = agents.iter().map(|agent| Crawler::parse(agent, &RFC_9309).unwrap());
            let agents: Vec<Crawler> = agents.collect();
            Survey::each_policy(&set, &agents, (9, 9), |classes| policies.push(classes)).unwrap();
        }
        policies
    }

    fn spans(policy: Classified<'_>) -> Vec<(usize, u32, u32)> {
        let classes = policy.agents.iter().zip(policy.rules);
        classes.map(|(agent, rules)| (*agent, rules.first, rules.len)).collect()
    }

    #[test]
    fn agents_that_follow_the_same_groups_are_one_class() {
        let policies = policies(&[&["c", "other", "C", "else"]]);
        let policy = policies.get(0);
        assert_eq!(policy.class_of, [0, 1, 0, 1]);
        assert_eq!(spans(policy), [(0, 1, 3), (1, 0, 0)]);
        assert_eq!(policy.policy.applicable, 3);
    }

    #[test]
    fn classes_have_their_own_counters() {
        let policies = policies(&[&["a", "b"]]);
        let policy = policies.get(0);
        assert_eq!(spans(policy), [(0, 0, 5), (1, 1, 4)]);
        assert_eq!((policy.policy.rules.len, policy.policy.applicable), (5, 5));
        assert_eq!(policies.counters(), [5, 9]);
        let counters = [0, 1, 4, 5].map(|rule| policy.rules[1].counter(RuleID(rule)));
        assert_eq!(counters, [None, Some(5), Some(8), None]);
    }

    #[test]
    fn policies_that_divide_the_agents_alike_share_it() {
        let policies = policies(&[&["c", "1", "c"], &["1", "2", "c"], &["c", "2", "c"]]);
        assert_eq!(policies.divisions.len(), 2);
        assert_eq!([0, 1, 2].map(|index| policies.get(index).agents), [[0, 1], [0, 2], [0, 1]]);
        assert_eq!(policies.get(1).class_of, [0, 0, 1]);
        assert_eq!(spans(policies.get(2)), [(0, 1, 3), (1, 0, 0)]);
        assert_eq!([0, 1, 2].map(|index| policies.get(index).rules[0].base), [0, 3, 6]);
        assert_eq!([0, 3, 6].map(|counter| policies.of_counter(counter)), [0, 1, 2]);
    }
}
