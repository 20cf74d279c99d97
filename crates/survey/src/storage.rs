//! How a set stores its rules: sections, rule sets and policies, and which of them are shared.

use std::collections::BTreeMap;

use portcullis_dialect::decision::PolicyState;
use portcullis_dialect::words;
use portcullis_robots::figures::largest;
use portcullis_set::stored::{PolicyNumber, RuleSetNumber, StoredPolicy, StoredRuleSet};
use portcullis_set::{Damage, PolicySet};
use serde::Serialize;

use crate::origins::{Map, PolicyUse};
use crate::text::{Named, Text};

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
    /// The number of patterns; 0 if the set does not store them.
    pub patterns: u32,
    /// The size in the set, in bytes.
    pub bytes: u64,
}

impl RuleSetFigures {
    pub(crate) fn of(rule_set: &StoredRuleSet<'_>) -> RuleSetFigures {
        let StoredRuleSet::Compiled(rules) = rule_set else {
            return RuleSetFigures { strategy: RuleSetStrategy::FromGroups, patterns: 0, bytes: 0 };
        };
        let strategy = match rules.is_constant() {
            true => RuleSetStrategy::Constant,
            false => RuleSetStrategy::Prefilter,
        };
        RuleSetFigures { strategy, patterns: rules.len() as u32, bytes: rules.bytes() as u64 }
    }
}

/// A rule set and its users.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SharedRuleSet<'s> {
    /// The key of a host with such a policy.
    #[serde(serialize_with = "as_text")]
    pub host: Option<&'s [u8]>,
    /// A robot to which it applies on that host; `None` for robots that no group names.
    #[serde(serialize_with = "as_text")]
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

/// The rule sets of a set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RuleSets<'s> {
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
    #[serde(serialize_with = "as_text")]
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

/// The policies of a set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Policies<'s> {
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

/// The items that are used `from` to `to` times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tier {
    /// The fewest uses.
    pub from: u64,
    /// The most uses.
    pub to: u64,
    /// The number of items.
    pub things: u64,
    /// The sum of their uses.
    pub uses: u64,
}

/// Counts how often items are used, by powers of ten: 0, 1, 2 to 10, 11 to 100, and so on.
pub(crate) fn sharing(uses: impl IntoIterator<Item = u64>) -> Vec<Tier> {
    let mut tiers: BTreeMap<u32, Tier> = BTreeMap::new();
    for uses in uses {
        let (tier, from, to) = match uses {
            0 | 1 => (uses as u32, uses, uses),
            _ => {
                let power = (uses - 1).ilog10();
                let low = 10_u64.pow(power);
                (power + 2, low + 1, low.saturating_mul(10))
            }
        };
        let tier = tiers.entry(tier).or_insert(Tier { from, to, ..Tier::default() });
        tier.things += 1;
        tier.uses += uses;
    }
    tiers.into_values().collect()
}

/// How a set stores its rules.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Storage<'s> {
    /// The bytes of each section, in file order.
    pub sections: Named<u64>,
    /// The bytes of the header, the checksums and the padding of blocks.
    pub bytes_outside_sections: u64,
    /// Rule sets.
    pub rule_sets: RuleSets<'s>,
    /// Policies.
    pub policies: Policies<'s>,
}

impl<'s> Storage<'s> {
    /// Counts the rule sets and policies of `set`. `uses` holds the uses of each policy.
    pub(crate) fn of(
        set: &'s PolicySet,
        uses: &Map<PolicyNumber, PolicyUse<'s>>,
        top: usize,
    ) -> Result<Storage<'s>, Damage> {
        let unused = |rule_set: Result<StoredRuleSet<'_>, Damage>| {
            let figures = RuleSetFigures::of(&rule_set?);
            Ok(SharedRuleSet { host: None, robot: None, policies: 0, origins: 0, figures })
        };
        let rule_sets = set.rule_sets().map(unused).collect::<Result<_, Damage>>()?;
        let mut pass = Pass { set, names: set.robot_names()?, rule_sets };
        let mut policies = Vec::new();
        for policy in set.policies() {
            let policy = policy?;
            let figures = pass.policy(&policy, uses.get(&policy.number()))?;
            policies.push((policy.number(), figures));
        }
        let sections: Vec<_> = set
            .section_bytes()
            .map(|(name, bytes)| (name.replace(' ', "-").into(), bytes))
            .collect();
        let in_sections: u64 = sections.iter().map(|&(_, bytes)| bytes).sum();
        Ok(Storage {
            sections: Named(sections),
            bytes_outside_sections: set.bytes().saturating_sub(in_sections),
            rule_sets: rule_sets_of(&pass.rule_sets, top),
            policies: policies_of(set, &policies, top)?,
        })
    }
}

struct Pass<'s> {
    set: &'s PolicySet,
    /// The names of robots by number.
    names: Vec<&'s [u8]>,
    /// By number.
    rule_sets: Vec<SharedRuleSet<'s>>,
}

impl<'s> Pass<'s> {
    fn policy(
        &mut self,
        policy: &StoredPolicy<'s>,
        used: Option<&PolicyUse<'s>>,
    ) -> Result<PolicyFigures<'s>, Damage> {
        let robots = policy.robots()?;
        let mut applied: Vec<(usize, Option<&'s [u8]>)> = Vec::new();
        for &(number, entry) in &robots {
            let robot = self.names.get(number as usize).copied();
            let robot = robot.ok_or_else(|| self.set.malformed_host("a robot has no name"))?;
            applied.push((self.rule_set(policy.rule_set(entry)?)?, Some(robot)));
        }
        if let Some(entry) = policy.default_entry() {
            applied.push((self.rule_set(policy.rule_set(entry)?)?, None));
        }
        for number in policy.usage_rule_sets()? {
            applied.push((self.rule_set(number)?, None));
        }
        let mut figures = PolicyFigures {
            host: used.map(|used| used.host),
            state: policy.state()?,
            origins: used.map_or(0, |used| used.origins),
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
    fn rule_set(&self, number: RuleSetNumber) -> Result<usize, Damage> {
        let number = number.index();
        let missing = || self.set.malformed_host("a policy has a rule set that is none");
        (number < self.rule_sets.len()).then_some(number).ok_or_else(missing)
    }
}

fn as_text<S: serde::Serializer>(name: &Option<&[u8]>, to: S) -> Result<S::Ok, S::Error> {
    name.map(Text::from).serialize(to)
}

fn rule_sets_of<'s>(items: &[SharedRuleSet<'s>], top: usize) -> RuleSets<'s> {
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
    RuleSets {
        rule_sets: items.len() as u64,
        strategies: Named::of(RuleSetStrategy::ALL, RuleSetStrategy::as_str, count),
        sharing: sharing(items.iter().map(|item| item.policies)),
        most_shared: largest(all(), top, |item| (item.policies, item.origins)),
        largest: largest(all(), top, |item| item.figures.bytes),
        most_patterns: largest(all(), top, |item| item.figures.patterns),
        of_groups: largest(with(RuleSetStrategy::FromGroups), top, |item| item.policies),
    }
}

fn policies_of<'s>(
    set: &PolicySet,
    items: &[(PolicyNumber, PolicyFigures<'s>)],
    top: usize,
) -> Result<Policies<'s>, Damage> {
    let with_extracts = |items: Vec<(PolicyNumber, PolicyFigures<'s>)>| {
        let read = |(number, figures): (PolicyNumber, PolicyFigures<'s>)| {
            let extract_bytes = set.policy(number)?.extract()?.len() as u64;
            Ok(PolicyFigures { extract_bytes, ..figures })
        };
        items.into_iter().map(read).collect::<Result<Vec<_>, Damage>>()
    };
    let all = || items.iter().copied();
    Ok(Policies {
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
