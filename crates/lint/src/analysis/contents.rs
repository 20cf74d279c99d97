//! Groups by content, so that equal rules are compared once.
//!
//! A file may name thousands of robots, each with its own combination of groups. Groups with the same
//! rules in the same order have one number, in all files that are numbered together, and the numbers
//! of a combination are the key of what is known about it. Rules then go by their place in the
//! combination, because equal combinations differ in the lines of their rules.

use std::hash::{Hash, Hasher};

use hashbrown::HashMap;
use portcullis_dialect::id::RuleID;
use portcullis_robots::syntax::{RobotsTxt, Rule};

/// The numbers of groups, by their rules.
#[derive(Debug, Default)]
pub(crate) struct Contents<'t> {
    known: HashMap<Written<'t>, u32, foldhash::fast::RandomState>,
}

/// The rules of a group by what is written in them, on whatever lines.
#[derive(Debug)]
struct Written<'t>(&'t [Rule<'t>]);

impl Written<'_> {
    fn said(&self) -> impl Iterator<Item = impl Hash + PartialEq> {
        self.0.iter().map(|rule| (rule.verdict, rule.value))
    }
}

impl PartialEq for Written<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.said().eq(other.said())
    }
}

impl Eq for Written<'_> {}

impl Hash for Written<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.len().hash(state);
        self.said().for_each(|said| said.hash(state));
    }
}

impl<'t> Contents<'t> {
    /// Returns the number of each group of `file`.
    pub(crate) fn number(&mut self, file: &'t RobotsTxt<'t>) -> Vec<u32> {
        let number = |group| {
            let next = self.known.len() as u32;
            *self.known.entry(Written(file.rules_of(group))).or_insert(next)
        };
        file.groups().iter().map(number).collect()
    }
}

/// Returns the rules of a combination of groups, in file order.
pub(crate) fn rules_of(file: &RobotsTxt<'_>, groups: &[usize]) -> Vec<RuleID> {
    groups.iter().flat_map(|&group| file.groups()[group].rule_ids()).collect()
}

/// Returns the place of `rule` among the rules of a combination that has it.
pub(crate) fn place_of(file: &RobotsTxt<'_>, groups: &[usize], rule: RuleID) -> u32 {
    let mut before = 0;
    for &group in groups {
        let rules = &file.groups()[group].rules;
        if rules.contains(&rule.0) {
            return before + rule.0 - rules.start;
        }
        before += rules.len() as u32;
    }
    unreachable!("the combination has the rule")
}

/// Returns the rule at `place` among the rules of a combination.
pub(crate) fn rule_at(file: &RobotsTxt<'_>, groups: &[usize], place: u32) -> RuleID {
    let mut place = place;
    for &group in groups {
        let rules = &file.groups()[group].rules;
        if place < rules.len() as u32 {
            return RuleID(rules.start + place);
        }
        place -= rules.len() as u32;
    }
    unreachable!("the combination has so many rules")
}

/// Bytes of rules that are ordered for the cost of one position.
const ORDERED_BYTES: u64 = 4;

/// Returns what it costs to order the rules of a combination, in positions of a budget: a part of
/// their bytes, with a charge for each rule.
pub(crate) fn ordering_cost(file: &RobotsTxt<'_>, groups: &[usize]) -> u64 {
    const RULE: usize = 8;
    let rules = groups.iter().flat_map(|&group| file.rules_of(&file.groups()[group]));
    rules.map(|rule| (RULE + rule.value.len()) as u64).sum::<u64>() / ORDERED_BYTES
}
