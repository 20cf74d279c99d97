//! Rule sets: how each is kept, what it takes, and how often it is shared.

use crate::automaton::Reach;
use crate::set::StoredSet;
use crate::set::file::Damage;
use crate::set::stored::{RuleSetKind, RuleSetPosition, StoredPolicy, StoredRuleSet};

use super::extremes::largest;
use super::origins::{ByPosition, PolicyUse};
use super::sharing::Sharing;

/// How the paths of a rule set are decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum RuleSetStrategy {
    /// One outcome whatever the path.
    Constant = 0,
    /// An automaton that the set holds.
    Ahead = 1,
    /// An automaton whose states are built when a path asks for them, from patterns that the set
    /// holds.
    FromPatterns = 2,
    /// The same, from the rules of a policy's groups, which are ordered when an agent first asks.
    FromGroups = 3,
}

impl RuleSetStrategy {
    /// Every strategy, in the order of its number.
    pub const ALL: [RuleSetStrategy; 4] = [
        RuleSetStrategy::Constant,
        RuleSetStrategy::Ahead,
        RuleSetStrategy::FromPatterns,
        RuleSetStrategy::FromGroups,
    ];

    /// Its name for machines.
    pub fn as_str(self) -> &'static str {
        match self {
            RuleSetStrategy::Constant => "constant",
            RuleSetStrategy::Ahead => "ahead",
            RuleSetStrategy::FromPatterns => "on-demand-patterns",
            RuleSetStrategy::FromGroups => "on-demand-groups",
        }
    }

    /// Whether states are built when a path asks for them.
    pub fn is_on_demand(self) -> bool {
        matches!(self, RuleSetStrategy::FromPatterns | RuleSetStrategy::FromGroups)
    }
}

/// What a rule set takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleSetFigures {
    /// How its paths are decided.
    pub strategy: RuleSetStrategy,
    /// Its patterns; 0 where the set does not keep them.
    pub patterns: u32,
    /// Octets that it takes in the set.
    pub octets: u64,
    /// Nodes of its automaton; 0 without one.
    pub nodes: u64,
    /// How much of a site it leaves; nothing if that is not known before it is built.
    pub reach: Option<Reach>,
}

impl RuleSetFigures {
    pub(super) fn of(
        set: &StoredSet,
        rule_set: &StoredRuleSet<'_>,
    ) -> Result<RuleSetFigures, Damage> {
        let (strategy, nodes, reach) = match rule_set.kind() {
            RuleSetKind::Patterns => (RuleSetStrategy::FromPatterns, 0, None),
            RuleSetKind::OfGroups => (RuleSetStrategy::FromGroups, 0, None),
            RuleSetKind::Automaton => {
                let automaton = rule_set.automaton();
                let (nodes, reach) = automaton
                    .nodes()
                    .zip(automaton.reach())
                    .ok_or_else(|| set.no_automaton(rule_set))?;
                let strategy = match nodes {
                    0 => RuleSetStrategy::Constant,
                    _ => RuleSetStrategy::Ahead,
                };
                (strategy, nodes as u64, Some(reach))
            }
        };
        let (patterns, octets) = (rule_set.patterns(), rule_set.octets() as u64);
        Ok(RuleSetFigures { strategy, patterns, octets, nodes, reach })
    }
}

/// A rule set, and who shares it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SurveyedRuleSet<'s> {
    /// What it takes.
    pub figures: RuleSetFigures,
    /// Policies that have it for some robot.
    pub policies: u64,
    /// Origins that those speak for.
    pub origins: u64,
    /// The key of a host with such a policy.
    pub host: Option<&'s [u8]>,
    /// The name of a robot that obeys it there; nothing for those that no group names.
    pub robot: Option<&'s [u8]>,
}

/// Rule sets that are decided the same way, together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StrategyCount {
    /// Rule sets.
    pub rule_sets: u64,
    /// Their patterns.
    pub patterns: u64,
    /// Their octets.
    pub octets: u64,
    /// Nodes of their automata.
    pub nodes: u64,
    /// Policies that have one, each counted as often as it has.
    pub uses: u64,
}

/// Rule sets, counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuleSetSurvey<'s> {
    strategies: [StrategyCount; RuleSetStrategy::ALL.len()],
    /// By how many policies they are shared.
    pub sharing: Sharing,
    /// Those that most policies share.
    pub most_shared: Vec<SurveyedRuleSet<'s>>,
    /// Those whose automata take the most octets.
    pub largest_automata: Vec<SurveyedRuleSet<'s>>,
    /// Those with the most patterns.
    pub most_patterns: Vec<SurveyedRuleSet<'s>>,
    /// Those that are built on demand, the ones with the most patterns first.
    pub on_demand: Vec<SurveyedRuleSet<'s>>,
}

impl RuleSetSurvey<'_> {
    /// The rule sets that are decided this way.
    pub fn with_strategy(&self, strategy: RuleSetStrategy) -> StrategyCount {
        self.strategies[strategy as usize]
    }

    /// The number of rule sets.
    pub fn len(&self) -> u64 {
        self.strategies.iter().map(|count| count.rule_sets).sum()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// All rule sets, by their place in the file.
pub struct RuleSets<'s> {
    items: Vec<SurveyedRuleSet<'s>>,
    index: ByPosition<RuleSetPosition, u32>,
}

impl<'s> RuleSets<'s> {
    pub fn of(set: &'s StoredSet) -> Result<RuleSets<'s>, Damage> {
        let mut rule_sets = RuleSets { items: Vec::new(), index: ByPosition::default() };
        for rule_set in set.rule_sets() {
            let rule_set = rule_set?;
            rule_sets.index.insert(rule_set.position(), rule_sets.items.len() as u32);
            rule_sets.items.push(SurveyedRuleSet {
                figures: RuleSetFigures::of(set, &rule_set)?,
                policies: 0,
                origins: 0,
                host: None,
                robot: None,
            });
        }
        Ok(rule_sets)
    }

    /// The number of the rule set of an entry.
    pub fn number(&self, policy: &StoredPolicy<'_>, entry: u32) -> Result<u32, Damage> {
        let known = self.index.get(&policy.rule_set(entry)?).copied();
        known.ok_or_else(|| policy.malformed("a policy has a rule set that is none"))
    }

    pub fn figures(&self, number: u32) -> &RuleSetFigures {
        &self.items[number as usize].figures
    }

    /// Counts a policy that has a rule set, for `robot` among others.
    pub fn add_policy(
        &mut self,
        number: u32,
        used: Option<&PolicyUse<'s>>,
        robot: Option<&'s [u8]>,
    ) {
        let item = &mut self.items[number as usize];
        item.policies += 1;
        let Some(used) = used else { return };
        item.origins += used.origins;
        if item.host.is_none() {
            (item.host, item.robot) = (Some(used.host), robot);
        }
    }

    pub fn finish(self, top: usize) -> RuleSetSurvey<'s> {
        let mut survey = RuleSetSurvey::default();
        for item in &self.items {
            let RuleSetFigures { strategy, patterns, octets, nodes, .. } = item.figures;
            let count = &mut survey.strategies[strategy as usize];
            count.rule_sets += 1;
            count.patterns += u64::from(patterns);
            count.octets += octets;
            count.nodes += nodes;
            count.uses += item.policies;
            survey.sharing.add(item.policies);
        }
        let items = || self.items.iter().copied();
        survey.most_shared = largest(items(), top, |item| (item.policies, item.origins));
        let ahead = items().filter(|item| item.figures.strategy == RuleSetStrategy::Ahead);
        survey.largest_automata = largest(ahead, top, |item| item.figures.octets);
        survey.most_patterns = largest(items(), top, |item| item.figures.patterns);
        let on_demand = items().filter(|item| item.figures.strategy.is_on_demand());
        survey.on_demand = largest(on_demand, top, |item| (item.figures.patterns, item.policies));
        survey
    }
}
