//! Verifies rule sets: the position of each, that an entry refers to it, and that it matches its
//! rules.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, PoisonError};

use zerocopy::little_endian::{U16, U32};

use portcullis_matcher::automaton::{PrefilterLine, build_prefilter, text_units};
use portcullis_robots::policy::{OrderedRules, outcomes};

use super::super::super::file::Damage;
use super::super::super::layout::rule_set;
use super::super::rule_set::StoredTexts;
use super::super::{PolicySet, RuleSetKind, RuleSetNumber, StoredRuleSet};
use super::pieces::Pieces;

/// All rule sets, by number.
pub(super) struct FoundRuleSets {
    needed: Vec<bool>,
    /// The number of rule sets that are made of groups.
    pub of_groups: u64,
}

impl FoundRuleSets {
    /// Walks the section, and those of patterns and prefilters.
    pub(super) fn of(set: &PolicySet) -> Result<FoundRuleSets, Damage> {
        let mut found = FoundRuleSets { needed: Vec::new(), of_groups: 0 };
        let (mut next_pattern, mut next_line, mut next_text) = (0_u64, 0_u64, 0_u32);
        let (mut texts, mut distinct) = (Pieces::default(), HashSet::new());
        for stored in set.rule_sets() {
            let stored = stored?;
            let malformed = |what| set.malformed_rule_set(&stored, what);
            found.needed.push(false);
            let lines = set.prefilter(&stored)?;
            if stored.kind() == RuleSetKind::OfGroups {
                if lines.is_some() || stored.patterns() != 0 || stored.has_lines() {
                    return Err(malformed("a rule set that is made of groups has patterns"));
                }
                found.of_groups += 1;
                continue;
            }
            let lines = lines.ok_or_else(|| malformed("a rule set has no prefilter"))?;
            if u64::from(lines.start) != next_line
                || u64::from(stored.patterns_at()) != next_pattern
            {
                return Err(malformed("what a rule set consists of is at an unexpected position"));
            }
            next_line = lines.end.into();
            next_pattern += u64::from(stored.patterns());
            for word in set.pattern_table(&stored)? {
                let at = word.get() >> 1;
                if at == next_text {
                    let units = text_units(StoredTexts(set), at as usize);
                    let units = units.filter(|units| distinct.insert(*units));
                    let units = units.ok_or_else(|| malformed("the text of a pattern is none"))?;
                    next_text = next_text.saturating_add(units.len() as u32);
                    texts.push(at);
                }
                if !texts.need(at) {
                    return Err(malformed("the text of a pattern is at an unexpected position"));
                }
            }
        }
        let ends = [
            (set.sections.patterns, next_pattern * size_of::<U32>() as u64),
            (set.sections.pattern_texts, u64::from(next_text) * size_of::<U16>() as u64),
            (set.sections.prefilters, next_line * size_of::<PrefilterLine>() as u64),
            (set.sections.rule_sets, found.len() * (rule_set::WORDS * size_of::<U32>()) as u64),
        ];
        for (section, end) in ends {
            if section.bytes() != end {
                return Err(set.malformed(section, 0, "unreferenced data at its end"));
            }
        }
        Ok(found)
    }

    /// Returns the number of rule sets.
    pub(super) fn len(&self) -> u64 {
        self.needed.len() as u64
    }

    /// Marks a rule set as referenced by an entry. `None` if there is no such rule set, or if it is
    /// made of the groups of another entry.
    pub(super) fn need<'s>(
        &mut self,
        set: &'s PolicySet,
        number: RuleSetNumber,
    ) -> Result<Option<StoredRuleSet<'s>>, Damage> {
        let Some(needed) = self.needed.get_mut(number.index()) else { return Ok(None) };
        let stored = set.rule_set(number)?;
        let was_needed = std::mem::replace(needed, true);
        let is_anothers = was_needed && stored.kind() == RuleSetKind::OfGroups;
        Ok((!is_anothers).then_some(stored))
    }

    /// Checks that an entry refers to each rule set.
    pub(super) fn all_needed(&self, set: &PolicySet) -> Result<(), Damage> {
        match self.needed.iter().position(|needed| !needed) {
            Some(number) => {
                let word = (number * rule_set::WORDS) as u32;
                Err(set.malformed(set.sections.rule_sets, word, "a rule set is unreferenced"))
            }
            None => Ok(()),
        }
    }
}

/// Rule sets that were compared with the rules they are compiled from. Threads share it.
///
/// Thousands of files have the same rules, so a rule set is compared once and a hash of its rules
/// is remembered. The hash has a random key, so nobody can craft a collision.
#[derive(Default)]
pub(super) struct ComparedRuleSets {
    hasher: RandomState,
    known: Mutex<HashMap<u32, u64>>,
}

impl ComparedRuleSets {
    /// Compares a rule set that is stored as patterns with the rules of an entry.
    pub(super) fn compare(
        &self,
        set: &PolicySet,
        stored: &StoredRuleSet<'_>,
        rules: &OrderedRules,
    ) -> Result<(), Damage> {
        let hash = self.hasher.hash_one((&rules.patterns, &rules.verdicts));
        // Nothing panics while the lock is held.
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let before = known.insert(stored.number().0, hash);
        drop(known);
        let is_same = match before {
            Some(before) => before == hash,
            None => is_of(set, stored, rules)?,
        };
        let what = "a rule set is not what the rules of its records are compiled to";
        is_same.then_some(()).ok_or_else(|| set.malformed_rule_set(stored, what))
    }
}

/// Returns whether the patterns and every line of the prefilter match the rules.
fn is_of(
    set: &PolicySet,
    stored: &StoredRuleSet<'_>,
    rules: &OrderedRules,
) -> Result<bool, Damage> {
    let (patterns, found) = set.pattern_list(stored)?;
    let expected = outcomes(&rules.verdicts);
    let Some(lines) = set.prefilter(stored)? else { return Ok(false) };
    let lines = &set.prefilter_lines()[lines.start as usize..lines.end as usize];
    Ok(patterns == rules.patterns
        && found == expected
        && *lines == build_prefilter(&rules.patterns, &expected))
}
