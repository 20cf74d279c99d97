//! Rule sets: how each is kept, what it takes, and how often it is shared.

use crate::automaton::{Outcome, Reach};
use crate::decision::Verdict;
use crate::policy::{OrderedRules, reach_of_rules};
use crate::set::PolicySet;
use crate::set::file::Damage;
use crate::set::stored::{RuleSetKind, StoredPolicy, StoredRuleSet};

use super::extremes::largest;
use super::origins::PolicyUse;
use super::sharing::Sharing;

/// How the paths of a rule set are decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum RuleSetStrategy {
    /// One outcome whatever the path.
    Constant = 0,
    /// By a prefilter, and where that leaves a path open by patterns that the set holds.
    Prefilter = 1,
    /// By an automaton whose states are built when a path asks for them, from the rules of a policy's groups,
    /// which are ordered when an agent first asks.
    FromGroups = 2,
}

impl RuleSetStrategy {
    /// Every strategy, in the order of its number.
    pub const ALL: [RuleSetStrategy; 3] =
        [RuleSetStrategy::Constant, RuleSetStrategy::Prefilter, RuleSetStrategy::FromGroups];

    /// Its name for machines.
    pub fn as_str(self) -> &'static str {
        match self {
            RuleSetStrategy::Constant => "constant",
            RuleSetStrategy::Prefilter => "prefilter",
            RuleSetStrategy::FromGroups => "groups",
        }
    }
}

/// What a rule set takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleSetFigures {
    /// How its paths are decided.
    pub strategy: RuleSetStrategy,
    /// Its patterns; 0 where the set does not keep them.
    pub patterns: u32,
    /// Bytes that it takes in the set.
    pub bytes: u64,
    /// How much of a site it leaves; nothing if that is not known before it is built.
    pub reach: Option<Reach>,
}

impl RuleSetFigures {
    pub(super) fn of(
        set: &PolicySet,
        rule_set: &StoredRuleSet<'_>,
    ) -> Result<RuleSetFigures, Damage> {
        let (patterns, bytes) = (rule_set.patterns(), rule_set.bytes());
        let (strategy, reach) = match rule_set.kind() {
            RuleSetKind::OfGroups => (RuleSetStrategy::FromGroups, None),
            RuleSetKind::Patterns => {
                let strategy = match set.is_constant(rule_set)? {
                    true => RuleSetStrategy::Constant,
                    false => RuleSetStrategy::Prefilter,
                };
                let (patterns, outcomes) = set.pattern_list(rule_set)?;
                let verdict = |outcome: &Outcome| match outcome.allows() {
                    true => Verdict::Allow,
                    false => Verdict::Disallow,
                };
                let verdicts = outcomes.iter().map(verdict).collect();
                let rules = OrderedRules { patterns, verdicts, ..OrderedRules::default() };
                (strategy, reach_of_rules(rules))
            }
        };
        Ok(RuleSetFigures { strategy, patterns, bytes, reach })
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
    /// Their bytes.
    pub bytes: u64,
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
    /// Those that take the most bytes.
    pub largest: Vec<SurveyedRuleSet<'s>>,
    /// Those with the most patterns.
    pub most_patterns: Vec<SurveyedRuleSet<'s>>,
    /// Those that are made of groups, the ones that most policies share first.
    pub of_groups: Vec<SurveyedRuleSet<'s>>,
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

/// All rule sets, by number.
pub struct RuleSets<'s> {
    items: Vec<SurveyedRuleSet<'s>>,
}

impl<'s> RuleSets<'s> {
    pub fn of(set: &'s PolicySet) -> Result<RuleSets<'s>, Damage> {
        let mut rule_sets = RuleSets { items: Vec::new() };
        for rule_set in set.rule_sets() {
            let rule_set = rule_set?;
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
        let number = policy.rule_set(entry)?.index();
        let is_there = number < self.items.len();
        is_there
            .then_some(number as u32)
            .ok_or_else(|| policy.malformed("a policy has a rule set that is none"))
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
            let RuleSetFigures { strategy, patterns, bytes, .. } = item.figures;
            let count = &mut survey.strategies[strategy as usize];
            count.rule_sets += 1;
            count.patterns += u64::from(patterns);
            count.bytes += bytes;
            count.uses += item.policies;
            survey.sharing.add(item.policies);
        }
        let items = || self.items.iter().copied();
        survey.most_shared = largest(items(), top, |item| (item.policies, item.origins));
        survey.largest = largest(items(), top, |item| item.figures.bytes);
        survey.most_patterns = largest(items(), top, |item| item.figures.patterns);
        let of_groups = items().filter(|it| it.figures.strategy == RuleSetStrategy::FromGroups);
        survey.of_groups = largest(of_groups, top, |item| item.policies);
        survey
    }
}
