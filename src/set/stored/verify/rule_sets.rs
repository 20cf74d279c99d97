//! Rule sets: each of a kind, needed by somebody, and word for word what its rules are compiled to.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, PoisonError};

use crate::limits::SET_VERIFY_POSITIONS_MAX;
use crate::policy::{OrderedRules, outcomes};

use super::super::super::file::Damage;
use super::super::super::layout::rule_set;
use super::super::{RuleSetKind, RuleSetPosition, StoredRuleSet, StoredSet};
use super::texts::{TextKind, Texts};

/// All rule sets, in the order of the file.
pub(super) struct FoundRuleSets {
    starts: Vec<u32>,
    needed: Vec<bool>,
    /// Those that are no automaton.
    pub on_demand: u32,
}

impl FoundRuleSets {
    /// Walks the section.
    pub(super) fn of(set: &StoredSet, texts: &mut Texts) -> Result<FoundRuleSets, Damage> {
        let mut found = FoundRuleSets { starts: Vec::new(), needed: Vec::new(), on_demand: 0 };
        for stored in set.rule_sets() {
            let stored = stored?;
            let position = stored.position().0;
            let malformed = |what| set.malformed(set.sections.rule_sets, position, what);
            if stored.kind() != RuleSetKind::Automaton {
                if stored.start() != found.on_demand {
                    return Err(malformed("a rule set that is no automaton has another's number"));
                }
                found.on_demand += 1;
            }
            let words = stored.pattern_words();
            let patterns = match stored.kind() {
                RuleSetKind::Automaton => stored.patterns() as usize,
                RuleSetKind::Patterns => words.len(),
                RuleSetKind::OfGroups => 0,
            };
            if stored.patterns() as usize != patterns
                || stored.kind() == RuleSetKind::OfGroups && !words.is_empty()
            {
                return Err(malformed("a rule set counts its patterns wrong"));
            }
            if stored.kind() == RuleSetKind::Patterns {
                let is_rule = |word: u32, texts: &mut Texts| {
                    let allows = word & rule_set::ALLOWS != 0;
                    let kind = if allows { TextKind::Allow } else { TextKind::Disallow };
                    texts.need(word >> rule_set::STRING_SHIFT, kind)
                };
                if !words.iter().all(|word| is_rule(word.get(), texts)) {
                    return Err(malformed("a pattern is of another rule than its string"));
                }
            }
            found.starts.push(position);
            found.needed.push(false);
        }
        Ok(found)
    }

    /// The number of rule sets.
    pub(super) fn len(&self) -> u64 {
        self.starts.len() as u64
    }

    /// Takes note of an entry that needs the rule set at `position`, which only one may if it is
    /// made of the groups of that entry. Nothing if there is none.
    pub(super) fn need<'s>(
        &mut self,
        set: &'s StoredSet,
        position: RuleSetPosition,
    ) -> Result<Option<StoredRuleSet<'s>>, Damage> {
        let Ok(index) = self.starts.binary_search(&position.0) else { return Ok(None) };
        let stored = set.rule_set(position)?;
        let was_needed = std::mem::replace(&mut self.needed[index], true);
        let is_anothers = was_needed && stored.kind() == RuleSetKind::OfGroups;
        Ok((!is_anothers).then_some(stored))
    }

    /// Whether an entry needs each.
    pub(super) fn all_needed(&self, set: &StoredSet) -> Result<(), Damage> {
        match self.needed.iter().position(|needed| !needed) {
            Some(index) => {
                let section = set.sections.rule_sets;
                Err(set.malformed(section, self.starts[index], "nobody obeys a rule set"))
            }
            None => Ok(()),
        }
    }
}

/// Rule sets that have been compared with rules that are compiled to them; threads share it.
///
/// A rule set is compared once and its rules remembered by a hash, because thousands of files have
/// the same. The hash is keyed by chance, so nobody can write rules that have another's.
#[derive(Default)]
pub(super) struct ComparedRuleSets {
    hasher: RandomState,
    known: Mutex<HashMap<u32, u64>>,
}

impl ComparedRuleSets {
    /// Compares a rule set that is kept as an automaton or as patterns with the rules of an entry.
    pub(super) fn compare(
        &self,
        set: &StoredSet,
        stored: &StoredRuleSet<'_>,
        rules: &OrderedRules,
    ) -> Result<(), Damage> {
        let position = stored.position().0;
        let hash = self.hasher.hash_one((&rules.patterns, &rules.verdicts));
        // Nobody panics while holding the lock.
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let before = known.insert(position, hash);
        drop(known);
        let is_same = match before {
            Some(before) => before == hash,
            None => is_of(set, stored, rules)?,
        };
        let what = "a rule set is not what the rules of its records are compiled to";
        is_same.then_some(()).ok_or_else(|| set.malformed(set.sections.rule_sets, position, what))
    }
}

fn is_of(
    set: &StoredSet,
    stored: &StoredRuleSet<'_>,
    rules: &OrderedRules,
) -> Result<bool, Damage> {
    let is_so = match stored.kind() {
        RuleSetKind::Automaton => stored.automaton().is_of(
            &rules.patterns,
            &outcomes(&rules.verdicts),
            SET_VERIFY_POSITIONS_MAX,
        ),
        RuleSetKind::Patterns => {
            let (patterns, verdicts) = set.patterns(stored)?;
            patterns == rules.patterns && verdicts == rules.verdicts
        }
        RuleSetKind::OfGroups => false,
    };
    Ok(is_so && stored.patterns() as usize == rules.patterns.len())
}
