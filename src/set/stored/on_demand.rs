//! Automata of rule sets: built when a path asks that no prefilter answers, shared by all threads.

use std::sync::{Arc, PoisonError, RwLock};

use hashbrown::HashMap;

use crate::automaton::{Automaton, Cache, Detail, Limits, Outcome};
use crate::policy::{OrderedRules, Ways, outcomes};
use crate::syntax::RobotsTxt;

use super::super::compile::record_order;
use super::super::file::Damage;
use super::policy::SelectedRules;
use super::{PolicyNumber, RuleSetKind, RuleSetNumber, StoredSet};

/// What a rule set was built into.
#[derive(Debug)]
pub(super) struct Built {
    automaton: Automaton,
    /// By pattern: its rule's record, counted from the first rule of the first group, where the set
    /// does not keep it.
    pub order: Option<Vec<u32>>,
}

/// All that was built, by number of the rule set.
#[derive(Debug, Default)]
pub(super) struct BuiltRuleSets(RwLock<HashMap<u32, Arc<Built>, foldhash::fast::RandomState>>);

/// A thread's memory for rule sets that were built.
#[derive(Clone, Debug, Default)]
pub struct BuiltCaches(HashMap<u32, (Arc<Built>, Cache), foldhash::fast::RandomState>);

impl BuiltCaches {
    /// What a rule set says of a path; it is built if this is the first question.
    pub(super) fn decide(
        &mut self,
        (set, built, limits): (&StoredSet, &BuiltRuleSets, &Limits),
        selected: &SelectedRules,
        path: &[u8],
        detail: Detail,
    ) -> Result<Outcome, Damage> {
        let key = selected.rule_set.0;
        if !self.0.contains_key(&key) {
            let built = built.get(set, selected, limits)?;
            let cache = built.automaton.cache();
            self.0.insert(key, (built, cache));
        }
        let (built, cache) = self.0.get_mut(&key).expect("it was put there if it was not");
        Ok(built.automaton.decide(path, detail, cache))
    }

    /// Bytes that this holds.
    pub(super) fn memory_octets(&self) -> usize {
        let of = |(built, cache): &(Arc<Built>, Cache)| {
            built.automaton.memory_octets() + cache.memory_octets()
        };
        self.0.values().map(of).sum()
    }

    /// Counts the ways in which paths were answered here.
    pub(super) fn ways(&self) -> Ways {
        let sum = |count: fn(&Cache) -> u64| self.0.values().map(|(_, cache)| count(cache)).sum();
        Ways {
            patterns_tried: 0,
            nodes_built: sum(|cache| cache.nodes() as u64),
            scans_before_states: sum(Cache::early_scans),
            scans_past_limits: sum(Cache::scans),
        }
    }

    /// By pattern, its rule's record, counted from the first rule of the first group, of a rule set that was
    /// asked and whose order the set does not keep.
    pub(super) fn order(&self, rule_set: RuleSetNumber) -> Option<&[u32]> {
        self.0.get(&rule_set.0)?.0.order.as_deref()
    }
}

impl BuiltRuleSets {
    fn get(
        &self,
        set: &StoredSet,
        selected: &SelectedRules,
        limits: &Limits,
    ) -> Result<Arc<Built>, Damage> {
        let key = selected.rule_set.0;
        // Nobody panics while holding the lock, and what is in the map is whole in any case.
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        if let Some(known) = known {
            return Ok(known);
        }
        // Two threads may build the same; one of the two is kept.
        let built = Arc::new(build(set, selected, limits)?);
        let mut map = self.0.write().unwrap_or_else(PoisonError::into_inner);
        Ok(Arc::clone(map.entry(key).or_insert(built)))
    }
}

fn build(set: &StoredSet, selected: &SelectedRules, limits: &Limits) -> Result<Built, Damage> {
    let stored = set.rule_set(selected.rule_set)?;
    if stored.kind() == RuleSetKind::Patterns {
        let (patterns, outcomes) = set.pattern_list(&stored)?;
        let automaton = Automaton::new(patterns, outcomes, limits);
        return Ok(Built { automaton, order: None });
    }
    let (rules, order) = ordered(set, selected)?;
    let automaton = Automaton::new(rules.patterns, outcomes(&rules.verdicts), limits);
    Ok(Built { automaton, order: Some(order) })
}

/// The rules of some groups, ordered anew, and by pattern its rule's record, counted from the first
/// rule of the first group.
pub(super) fn ordered(
    set: &StoredSet,
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
