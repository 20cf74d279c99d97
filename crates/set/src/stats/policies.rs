//! Statistics of rule sets and policies: the size, the strategy and the users of each.

use serde::Serialize;

use super::hosts::{ByPosition, PolicyUse};
use super::{Named, Tier, as_lossy, as_name, largest, sharing};
use crate::PolicySet;
use crate::file::Damage;
use crate::stored::{PolicyNumber, RuleSetNumber, StoredPolicy, StoredRuleSet};
use portcullis_dialect::decision::{PolicyState, Verdict};
use portcullis_dialect::words;
use portcullis_engine::Outcome;
use portcullis_engine::automaton::Reach;
use portcullis_robots::policy::{OrderedRules, reach_of_rules};

words! {
    /// How the paths of a rule set are decided.
    pub enum RuleSetStrategy {
        /// The same outcome for every path.
        Constant => "constant",
        /// A prefilter, then the stored patterns.
        Prefilter => "prefilter",
        /// The same, built from the rules of a policy's groups when an agent first needs it.
        FromGroups => "groups",
    }
}

/// The size and strategy of a rule set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct RuleSetFigures {
    /// How its paths are decided.
    pub strategy: RuleSetStrategy,
    /// How much of a site it allows; `None` if it is lazily built.
    #[serde(rename = "is_left")]
    pub reach: Option<Reach>,
    /// The number of patterns; 0 if the set does not store them.
    pub patterns: u32,
    /// The size in the set, in bytes.
    pub bytes: u64,
}

impl RuleSetFigures {
    pub(super) fn of(rule_set: &StoredRuleSet<'_>) -> RuleSetFigures {
        let StoredRuleSet::Compiled(rules) = rule_set else {
            let strategy = RuleSetStrategy::FromGroups;
            return RuleSetFigures { strategy, reach: None, patterns: 0, bytes: 0 };
        };
        let strategy = match rules.is_constant() {
            true => RuleSetStrategy::Constant,
            false => RuleSetStrategy::Prefilter,
        };
        let (patterns, outcomes) = rules.to_list();
        let verdict = |outcome: &Outcome| match outcome.allows() {
            true => Verdict::Allow,
            false => Verdict::Disallow,
        };
        let verdicts = outcomes.iter().map(verdict).collect();
        let reach = reach_of_rules(OrderedRules { patterns, verdicts, ..OrderedRules::default() });
        let (patterns, bytes) = (rules.len() as u32, rules.bytes() as u64);
        RuleSetFigures { strategy, reach, patterns, bytes }
    }
}

/// A rule set and its users.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SharedRuleSet<'s> {
    /// The key of a host with such a policy.
    #[serde(serialize_with = "as_lossy")]
    pub host: Option<&'s [u8]>,
    /// A robot to which it applies on that host; `None` for robots that no group names.
    #[serde(serialize_with = "as_lossy")]
    pub robot: Option<&'s [u8]>,
    /// The number of policies in which it applies to some robot.
    pub policies: u64,
    /// The number of origins of these policies.
    pub origins: u64,
    /// Its size and strategy.
    #[serde(flatten)]
    pub figures: RuleSetFigures,
}

/// The rule sets with one strategy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StrategyCount {
    /// The number of rule sets.
    pub rule_sets: u64,
    /// The number of uses: each policy counts once for each of these rule sets that it has.
    pub uses: u64,
    /// The number of their patterns.
    pub patterns: u64,
    /// Their size in bytes.
    pub bytes: u64,
}

/// Statistics of rule sets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RuleSetStats<'s> {
    /// The number of rule sets.
    pub rule_sets: u64,
    /// Rule sets by strategy.
    pub strategies: Named<StrategyCount>,
    /// How many policies share a rule set.
    pub sharing: Vec<Tier>,
    /// The rule sets that most policies share.
    pub most_shared: Vec<SharedRuleSet<'s>>,
    /// The rule sets with the most bytes.
    pub largest: Vec<SharedRuleSet<'s>>,
    /// The rule sets with the most patterns.
    pub most_patterns: Vec<SharedRuleSet<'s>>,
    /// The rule sets that are built lazily from groups, the most shared first.
    pub of_groups: Vec<SharedRuleSet<'s>>,
}

/// A policy and its users.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct PolicyFigures<'s> {
    /// The key of the first host that has it.
    #[serde(serialize_with = "as_lossy")]
    pub host: Option<&'s [u8]>,
    /// Whether there is a file, or what its absence means.
    pub state: PolicyState,
    /// The number of origins that have it.
    pub origins: u64,
    /// The bytes of the longest file with this policy, as far as they were kept.
    pub file_bytes: u64,
    /// The bytes of its extract.
    pub extract_bytes: u64,
    /// The number of user-agent lines and rules.
    pub records: u64,
    /// The number of robots that it names.
    pub robots: u64,
    /// The number of distinct rule sets of its robots and of its usage.
    pub rule_sets: u64,
    /// The number of their patterns, as far as the set stores them.
    pub patterns: u64,
    /// The number of rule sets that are too large to store: their rules are ordered when an agent
    /// first needs them.
    #[serde(rename = "unordered_rule_sets")]
    pub unordered: u64,
    /// The bytes of its rule sets.
    pub rule_set_bytes: u64,
}

/// Statistics of policies.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PolicyStats<'s> {
    /// The number of policies.
    pub policies: u64,
    /// The number of their user-agent lines and rules.
    pub records: u64,
    /// How many origins share a policy.
    pub sharing: Vec<Tier>,
    /// The policies that most origins share.
    pub most_shared: Vec<PolicyFigures<'s>>,
    /// The policies with the most user-agent lines and rules.
    pub largest: Vec<PolicyFigures<'s>>,
    /// The policies that are the most expensive to use: the most rule sets to order, then the most
    /// rule set bytes.
    pub most_expensive: Vec<PolicyFigures<'s>>,
}

/// The policies that name a robot, and how much they allow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RobotCount {
    /// The number of policies.
    pub policies: u64,
    /// The number of origins of these policies.
    pub origins: u64,
    /// The number of origins that allow everything.
    pub everything: u64,
    /// The number of origins that allow a part.
    pub part: u64,
    /// The number of origins that allow nothing.
    pub nothing: u64,
    /// The number of origins whose rule set is built lazily, so that its reach is unknown.
    pub not_known: u64,
}

impl RobotCount {
    fn add(&mut self, origins: u64, reach: Option<Reach>) {
        self.policies += 1;
        self.origins += origins;
        *match reach {
            Some(Reach::Everything) => &mut self.everything,
            Some(Reach::Part) => &mut self.part,
            Some(Reach::Nothing) => &mut self.nothing,
            None => &mut self.not_known,
        } += origins;
    }
}

/// A robot that policies name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct NamedRobot<'s> {
    /// The name in lower case.
    #[serde(flatten, serialize_with = "as_name")]
    pub name: &'s [u8],
    /// The policies that name it.
    #[serde(flatten)]
    pub count: RobotCount,
}

/// The robots that policies name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RobotStats<'s> {
    /// The number of distinct names.
    pub names: u64,
    /// The number of policies that name a robot.
    pub naming_policies: u64,
    /// Robots that no group names, counted by policies with default groups.
    pub others: RobotCount,
    /// The number of policies with rules but without default groups. They allow everything to other
    /// robots.
    pub policies_without_others: u64,
    /// The number of origins of these policies.
    pub origins_without_others: u64,
    /// The robots that most policies name.
    pub most_named: Vec<NamedRobot<'s>>,
}

/// Counts rule sets, robots and policies. `uses` holds the uses of each policy.
pub(super) fn pass<'s>(
    set: &'s PolicySet,
    mut uses: ByPosition<PolicyNumber, PolicyUse<'s>>,
    top: usize,
) -> Result<(RuleSetStats<'s>, RobotStats<'s>, PolicyStats<'s>), Damage> {
    let mut pass = Pass { rule_sets: Vec::new(), robots: RobotStats::default(), named: Vec::new() };
    for rule_set in set.rule_sets() {
        let figures = RuleSetFigures::of(&rule_set?);
        let unused = SharedRuleSet { host: None, robot: None, policies: 0, origins: 0, figures };
        pass.rule_sets.push(unused);
    }
    let named = |name| NamedRobot { name, count: RobotCount::default() };
    pass.named = set.robot_names()?.into_iter().map(named).collect();
    let mut policies = Vec::new();
    for policy in set.policies() {
        let policy = policy?;
        let used = uses.remove(&policy.number());
        policies.push((policy.number(), pass.policy(&policy, used.as_ref())?));
    }
    if !uses.is_empty() {
        return Err(set.malformed_host("a host has a policy that is not there"));
    }
    let key = |robot: &NamedRobot<'_>| (robot.count.policies, robot.count.origins);
    let robots = RobotStats {
        names: pass.named.len() as u64,
        most_named: largest(pass.named, top, key),
        ..pass.robots
    };
    Ok((rule_set_stats(&pass.rule_sets, top), robots, policy_stats(set, &policies, top)?))
}

struct Pass<'s> {
    /// By number.
    rule_sets: Vec<SharedRuleSet<'s>>,
    robots: RobotStats<'s>,
    /// By number.
    named: Vec<NamedRobot<'s>>,
}

impl<'s> Pass<'s> {
    fn policy(
        &mut self,
        policy: &StoredPolicy<'s>,
        used: Option<&PolicyUse<'s>>,
    ) -> Result<PolicyFigures<'s>, Damage> {
        let state = policy.state()?;
        let origins = used.map_or(0, |used| used.origins);
        let robots = policy.robots()?;
        let mut applied: Vec<(usize, Option<&'s [u8]>)> = Vec::new();
        for &(number, entry) in &robots {
            let rule_set = self.rule_set(policy, policy.rule_set(entry)?)?;
            let robot = self.named.get_mut(number as usize);
            let robot = robot.ok_or_else(|| policy.malformed("a robot has no name"))?;
            robot.count.add(origins, self.rule_sets[rule_set].figures.reach);
            applied.push((rule_set, Some(robot.name)));
        }
        self.robots.naming_policies += u64::from(!robots.is_empty());
        match policy.default_entry() {
            Some(entry) => {
                let rule_set = self.rule_set(policy, policy.rule_set(entry)?)?;
                self.robots.others.add(origins, self.rule_sets[rule_set].figures.reach);
                applied.push((rule_set, None));
            }
            None if state == PolicyState::Rules => {
                self.robots.policies_without_others += 1;
                self.robots.origins_without_others += origins;
            }
            None => {}
        }
        for number in policy.usage_rule_sets()? {
            applied.push((self.rule_set(policy, number)?, None));
        }
        let mut figures = PolicyFigures {
            host: used.map(|used| used.host),
            state,
            origins,
            file_bytes: used.map_or(0, |used| used.file_bytes.into()),
            // Only read for the listed policies.
            extract_bytes: 0,
            records: policy.record_count()? as u64,
            robots: robots.len() as u64,
            rule_sets: 0,
            patterns: 0,
            unordered: 0,
            rule_set_bytes: 0,
        };
        // The sort is stable and `None` comes first. A rule set that both have counts for the
        // default groups.
        applied.sort_by_key(|&(rule_set, robot)| (rule_set, robot.is_some()));
        applied.dedup_by_key(|&mut (rule_set, _)| rule_set);
        for (number, robot) in applied {
            let shared = &mut self.rule_sets[number];
            shared.policies += 1;
            if let Some(used) = used {
                shared.origins += used.origins;
                if shared.host.is_none() {
                    (shared.host, shared.robot) = (Some(used.host), robot);
                }
            }
            figures.rule_sets += 1;
            figures.patterns += u64::from(shared.figures.patterns);
            figures.unordered += u64::from(shared.figures.strategy == RuleSetStrategy::FromGroups);
            figures.rule_set_bytes += shared.figures.bytes;
        }
        Ok(figures)
    }

    /// Returns the position of a rule set of a policy.
    fn rule_set(&self, policy: &StoredPolicy<'_>, number: RuleSetNumber) -> Result<usize, Damage> {
        let number = number.index();
        let missing = || policy.malformed("a policy has a rule set that is none");
        (number < self.rule_sets.len()).then_some(number).ok_or_else(missing)
    }
}

fn rule_set_stats<'s>(items: &[SharedRuleSet<'s>], top: usize) -> RuleSetStats<'s> {
    let with = |strategy| items.iter().filter(move |it| it.figures.strategy == strategy).copied();
    let count = |strategy| {
        with(strategy).fold(StrategyCount::default(), |count, item| StrategyCount {
            rule_sets: count.rule_sets + 1,
            uses: count.uses + item.policies,
            patterns: count.patterns + u64::from(item.figures.patterns),
            bytes: count.bytes + item.figures.bytes,
        })
    };
    let all = || items.iter().copied();
    RuleSetStats {
        rule_sets: items.len() as u64,
        strategies: Named::of(RuleSetStrategy::ALL, RuleSetStrategy::as_str, count),
        sharing: sharing(items.iter().map(|item| item.policies)),
        most_shared: largest(all(), top, |item| (item.policies, item.origins)),
        largest: largest(all(), top, |item| item.figures.bytes),
        most_patterns: largest(all(), top, |item| item.figures.patterns),
        of_groups: largest(with(RuleSetStrategy::FromGroups), top, |item| item.policies),
    }
}

fn policy_stats<'s>(
    set: &PolicySet,
    items: &[(PolicyNumber, PolicyFigures<'s>)],
    top: usize,
) -> Result<PolicyStats<'s>, Damage> {
    let with_extracts = |items: Vec<(PolicyNumber, PolicyFigures<'s>)>| {
        let read = |(number, figures): (PolicyNumber, PolicyFigures<'s>)| {
            let extract_bytes = set.policy(number)?.extract()?.len() as u64;
            Ok(PolicyFigures { extract_bytes, ..figures })
        };
        items.into_iter().map(read).collect::<Result<Vec<_>, Damage>>()
    };
    let all = || items.iter().copied();
    Ok(PolicyStats {
        policies: items.len() as u64,
        records: items.iter().map(|(_, it)| it.records).sum(),
        sharing: sharing(items.iter().map(|(_, it)| it.origins)),
        most_shared: with_extracts(largest(all(), top, |(_, it)| it.origins))?,
        largest: with_extracts(largest(all(), top, |(_, it)| (it.records, it.file_bytes)))?,
        most_expensive: with_extracts(largest(all(), top, |(_, it)| {
            (it.unordered, it.rule_set_bytes)
        }))?,
    })
}
