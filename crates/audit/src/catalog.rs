//! The policies of a set, the hosts that share them, and the positions of their counters.
//!
//! Agents that follow the same groups of a file get the same decisions from it, so they are counted
//! once, as a *class*. Most files have one or two classes, whatever the number of agents. The
//! counters of all rules are adjacent in two arrays: one counts the URLs that a rule decided for
//! any class, the other counts them by class. Counting a decision is an addition at a known index.
//!
//! Cost: every file is parsed once, in parallel. Fails if the set is damaged.

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use portcullis_dialect::decision::PolicyState;
use portcullis_dialect::dialect::{AccessOutcome, Dialect};
use portcullis_dialect::id::RuleID;
use portcullis_robots::policy::{AgentChain, Selection};
use portcullis_robots::syntax::RobotsTxt;
use portcullis_set::stored::PolicyNumber;
use portcullis_set::{Damage, PolicySet};

/// The policies of a set.
#[derive(Debug)]
pub(super) struct Catalog {
    pub set: Arc<PolicySet>,
    /// The policies by [`PolicyNumber`].
    pub policies: Vec<Policy>,
    /// The number of hosts in the set.
    pub hosts: u64,
    /// The number of counters for rules.
    pub rules: usize,
    /// The number of counters for rules by class.
    pub class_rules: usize,
}

/// A policy and its counters.
#[derive(Debug)]
pub(super) struct Policy {
    pub number: PolicyNumber,
    pub access: AccessOutcome,
    /// The number of origins and hosts that share the policy.
    pub origins: u64,
    pub hosts: u64,
    /// The key of the first of these hosts by name.
    pub first_host: Box<[u8]>,
    /// The position of each agent's class.
    pub class_of: Vec<u32>,
    pub classes: Vec<Class>,
    /// The number of rules with a pattern that apply to some class.
    pub applicable: u64,
    /// The rules of all classes.
    pub rules: RuleSpan,
}

/// Agents that follow the same groups of a policy.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Class {
    /// The first agent of the class.
    pub agent: usize,
    /// The rules from the first to the last in the groups of the class.
    pub rules: RuleSpan,
}

/// A span of adjacent rules in a file, and their counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct RuleSpan {
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

    /// Returns the counters of all rules in the span.
    pub fn counters(&self) -> Range<usize> {
        self.base..self.base + self.len as usize
    }

    fn place(&mut self, counters: &mut usize) {
        self.base = *counters;
        *counters += self.len as usize;
    }
}

impl Catalog {
    /// Reads the set and lays out the counters for `agents`, on the calling thread's rayon pool.
    pub fn new(set: &Arc<PolicySet>, agents: &[AgentChain]) -> Result<Catalog, Damage> {
        let numbers = set.policies().map(|policy| Ok(policy?.number()));
        let numbers: Vec<PolicyNumber> = numbers.collect::<Result<_, Damage>>()?;
        let read = |&number: &PolicyNumber| Policy::read(set, number, agents);
        let policies = numbers.par_iter().with_min_len(16).map(read).collect::<Vec<_>>();
        let policies = policies.into_iter().collect::<Result<_, _>>()?;
        let mut catalog =
            Catalog { set: Arc::clone(set), policies, hosts: 0, rules: 0, class_rules: 0 };
        for policy in &mut catalog.policies {
            policy.rules.place(&mut catalog.rules);
            for class in &mut policy.classes {
                class.rules.place(&mut catalog.class_rules);
            }
        }
        catalog.count_hosts()?;
        Ok(catalog)
    }

    fn count_hosts(&mut self) -> Result<(), Damage> {
        // Hosts come in the order of their keys.
        for host in self.set.hosts() {
            let host = host?;
            self.hosts += 1;
            let [http, https] = [false, true].map(|https| host.policy(https));
            let mut add = |number: Option<PolicyNumber>, hosts| {
                let Some(number) = number else { return Ok(()) };
                let policy = self.policies.get_mut(number.index());
                let policy = policy.ok_or_else(|| self.set.malformed_host(MISSING))?;
                policy.origins += 1;
                policy.hosts += hosts;
                if policy.first_host.is_empty() {
                    policy.first_host = host.key().into();
                }
                Ok(())
            };
            add(http, 1)?;
            add(https, u64::from(http != https))?;
        }
        Ok(())
    }

    /// Calls `with` for the user-agent lines and rules of a policy.
    pub fn with_file<T>(
        &self,
        policy: usize,
        with: impl FnOnce(&RobotsTxt<'_>) -> T,
    ) -> Result<T, Damage> {
        self.set.policy(self.policies[policy].number)?.with_file(|file, _| with(file))
    }

    /// Returns the error for a set in which a lookup disagrees with the walk over all policies.
    #[cold]
    pub fn misfiled(&self) -> Damage {
        self.set.malformed_host(MISSING)
    }
}

const MISSING: &str = "the policy or the rules of a host are missing";

impl Policy {
    fn read(
        set: &PolicySet,
        number: PolicyNumber,
        agents: &[AgentChain],
    ) -> Result<Policy, Damage> {
        let mut policy = Policy {
            number,
            access: set.policy(number)?.access()?,
            origins: 0,
            hosts: 0,
            first_host: Box::default(),
            class_of: vec![0; agents.len()],
            classes: vec![Class { agent: 0, rules: RuleSpan::default() }],
            applicable: 0,
            rules: RuleSpan::default(),
        };
        if policy.has_file() {
            set.policy(number)?
                .with_file(|file, _| policy.classify(file, agents, set.dialect()))?;
        }
        Ok(policy)
    }

    /// Finds the classes of `agents` in the policy's file.
    fn classify(&mut self, file: &RobotsTxt<'_>, agents: &[AgentChain], dialect: &Dialect) {
        let mut distinct: Vec<Vec<usize>> = Vec::new();
        self.classes.clear();
        for (agent, chain) in agents.iter().enumerate() {
            let groups = Selection::of(file, chain, dialect).groups;
            let known = distinct.iter().position(|other| *other == groups);
            self.class_of[agent] = known.unwrap_or(distinct.len()) as u32;
            if known.is_none() {
                self.classes.push(Class { agent, rules: span(file, &groups) });
                distinct.push(groups);
            }
        }
        let groups = sorted_union(&distinct);
        let rules = groups.iter().flat_map(|&group| file.rules_of(&file.groups()[group]));
        self.applicable = rules.filter(|rule| !rule.value.is_empty()).count() as u64;
        self.rules = span(file, &groups);
    }

    /// Whether the policy comes from a file.
    pub fn has_file(&self) -> bool {
        matches!(self.access.state, PolicyState::Rules | PolicyState::NoRules)
    }
}

/// Returns the span from the first to the last rule of groups, which are in file order.
fn span(file: &RobotsTxt<'_>, groups: &[usize]) -> RuleSpan {
    let rules = groups.iter().map(|&group| &file.groups()[group].rules);
    let mut rules = rules.filter(|rules| !rules.is_empty());
    let Some(first) = rules.next() else { return RuleSpan::default() };
    let end = rules.next_back().unwrap_or(first).end;
    RuleSpan { first: first.start, len: end - first.start, base: 0 }
}

/// Returns the members of all lists, ascending and without duplicates.
pub(super) fn sorted_union(lists: &[Vec<usize>]) -> Vec<usize> {
    let mut union: Vec<usize> = lists.iter().flatten().copied().collect();
    union.sort_unstable();
    union.dedup();
    union
}

#[cfg(test)]
mod tests {
    use super::*;
    use portcullis_dialect::dialect::RFC_9309;
    use portcullis_set::LoadConfig;

    const TEXT: &[u8] = b"User-agent: a\nDisallow: /1\n\nUser-agent: b\nUser-agent: c\n\
        Disallow: /2\nDisallow:\nAllow: /3\n\nUser-agent: a\nUser-agent: b\nDisallow: /4\n";

    fn catalog(agents: &[&str]) -> Catalog {
        let agents: Vec<AgentChain> =
            agents.iter().map(|agent| AgentChain::parse(agent, &RFC_9309).unwrap()).collect();
        let set = PolicySet::of_text(TEXT, &LoadConfig::new(&RFC_9309));
        Catalog::new(&set.into(), &agents).unwrap()
    }

    fn spans(policy: &Policy) -> Vec<(usize, u32, u32)> {
        let classes = policy.classes.iter();
        classes.map(|class| (class.agent, class.rules.first, class.rules.len)).collect()
    }

    #[test]
    fn agents_that_follow_the_same_groups_are_one_class() {
        let catalog = catalog(&["c", "other", "C", "else"]);
        let policy = &catalog.policies[0];
        assert_eq!(policy.class_of, [0, 1, 0, 1]);
        assert_eq!(spans(policy), [(0, 1, 3), (1, 0, 0)]);
        // An empty pattern never decides.
        assert_eq!(policy.applicable, 2);
    }

    #[test]
    fn classes_have_their_own_counters() {
        let catalog = catalog(&["a", "b"]);
        let policy = &catalog.policies[0];
        assert_eq!(spans(policy), [(0, 0, 5), (1, 1, 4)]);
        assert_eq!((policy.rules.len, policy.applicable, policy.classes[1].rules.base), (5, 4, 5));
        assert_eq!((catalog.rules, catalog.class_rules), (5, 9));
        let counters = [0, 1, 4, 5].map(|rule| policy.classes[1].rules.counter(RuleID(rule)));
        assert_eq!(counters, [None, Some(5), Some(8), None]);
    }
}
