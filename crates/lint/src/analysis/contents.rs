//! Groups by what is written in them, so that equal rules are compared once.
//!
//! A file may name thousands of robots, each with its own combination of groups. Groups with the same
//! rules in the same order have one number, in all files that are numbered together, and the numbers
//! of a combination are the key of what is known about it. Rules then go by their place in the
//! combination, because equal combinations differ in the lines of their rules.

use hashbrown::HashMap;
use portcullis_dialect::decision::Verdict;
use portcullis_dialect::dialect::Dialect;
use portcullis_dialect::id::RuleID;
use portcullis_robots::policy::{Audience, OrderedRules};
use portcullis_robots::syntax::RobotsTxt;

use super::{Bound, Budget};

/// The numbers of groups, by the verdicts and values of their rules, on whatever lines.
pub(crate) type Contents<'t> = HashMap<Vec<(Verdict, &'t [u8])>, u32, foldhash::fast::RandomState>;

/// Returns the number of each group of `file`.
pub(crate) fn numbers<'t>(contents: &mut Contents<'t>, file: &RobotsTxt<'t>) -> Vec<u32> {
    let number = |group| {
        let next = contents.len() as u32;
        let rules = file.rules_of(group).iter().map(|rule| (rule.verdict, rule.value));
        *contents.entry(rules.collect()).or_insert(next)
    };
    file.groups().iter().map(number).collect()
}

/// Returns the numbers of a combination of groups.
pub(crate) fn key(numbers: &[u32], groups: &[usize]) -> Vec<u32> {
    groups.iter().map(|&group| numbers[group]).collect()
}

/// A file whose groups are selected for many robots.
#[derive(Debug)]
pub(crate) struct Grouped<'f> {
    pub(crate) file: &'f RobotsTxt<'f>,
    pub(crate) dialect: &'static Dialect,
    pub(crate) audience: Audience,
}

impl<'f> Grouped<'f> {
    /// Reads the groups of a file that `dialect` parsed.
    pub(crate) fn new(file: &'f RobotsTxt<'f>, dialect: &'static Dialect) -> Grouped<'f> {
        Grouped { file, dialect, audience: Audience::of(file, dialect) }
    }

    /// Returns the rules of a combination of groups in order of precedence. They go by their places.
    ///
    /// # Errors
    ///
    /// If the budget does not suffice.
    pub(crate) fn ordered(
        &self,
        groups: &[usize],
        budget: &mut Budget,
    ) -> Result<OrderedRules, Bound> {
        budget.check()?;
        budget.take(self.ordering_cost(groups))?;
        let mut ordered = OrderedRules::new(self.file, groups, &self.dialect.paths);
        // The rules of each group are adjacent in the file.
        let mut starts = Vec::with_capacity(groups.len());
        let mut before = 0;
        for &group in groups {
            let rules = &self.file.groups()[group].rules;
            starts.push((rules.start, before));
            before += rules.len() as u32;
        }
        for rule in &mut ordered.rules {
            let group = starts.partition_point(|&(start, _)| start <= rule.0) - 1;
            let (start, before) = starts[group];
            rule.0 = before + rule.0 - start;
        }
        Ok(ordered)
    }

    /// Returns what it costs to order the rules of a combination, in positions of a budget: a part of
    /// their bytes, with a charge for each rule.
    fn ordering_cost(&self, groups: &[usize]) -> u64 {
        /// Bytes of rules that are ordered for the cost of one position.
        const BYTES: u64 = 4;
        const RULE: usize = 8;
        let rules = groups.iter().flat_map(|&group| self.file.rules_of(&self.file.groups()[group]));
        rules.map(|rule| (RULE + rule.value.len()) as u64).sum::<u64>() / BYTES
    }

    /// Returns the rules of a combination of groups, in file order.
    pub(crate) fn rules(&self, groups: &[usize]) -> Vec<RuleID> {
        groups.iter().flat_map(|&group| self.file.groups()[group].rule_ids()).collect()
    }

    /// Returns the rule at `place` among the rules of a combination of groups.
    pub(crate) fn rule_at(&self, groups: &[usize], place: u32) -> RuleID {
        let mut place = place;
        for &group in groups {
            let rules = &self.file.groups()[group].rules;
            if place < rules.len() as u32 {
                return RuleID(rules.start + place);
            }
            place -= rules.len() as u32;
        }
        unreachable!("the combination has so many rules")
    }
}
