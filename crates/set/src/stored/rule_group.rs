//! Rule groups: groups of a file that the same agents follow, with one rule set.
//!
//! An agent follows all groups that name it, as if they were one. Which agents a group names differs from
//! group to group, so the rules are not ordered for each combination: each rule group is a rule set, and an
//! agent asks the rule groups of its entry. Of the patterns that match a path, the one with the least
//! [`PatternKey`] decides, whatever rule sets they are in.
//!
//! A pattern's key is read where two rule groups of an entry have a match: nearly all entries have one rule
//! group, and no other stores the lengths of its patterns.

use std::cmp::Reverse;

use foldhash::fast::RandomState;
use hashbrown::HashSet;

use portcullis_dialect::dialect::{IndexPage, PathRules, Precedence};
use portcullis_engine::pattern::{Pattern, PatternList};
use portcullis_engine::{Outcome, RuleSet, RuleSetBuf};

use super::super::file::Damage;
use super::super::layout::{NONE, ORDER_HAS_LENGTHS, Pairs, policy};
use super::PolicySet;
use super::policy::{EntryGroups, Lines, PolicyEntry, RuleSetNumber, StoredPolicy};
use crate::limits::PATTERNS_READ_MAX;

/// The precedence of a pattern among those that match a path: the least decides. By the dialect, then by the
/// record of its rule.
pub(crate) type PatternKey = (Reverse<(u32, bool)>, u32);

/// Groups of a policy that the same agents follow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RuleGroup<'s> {
    pub(super) policy: StoredPolicy<'s>,
    pub rule_set: RuleSetNumber,
    /// The position of the order of its rules.
    pub(super) order: u32,
    /// The position of the last word of the rule group.
    groups_at: usize,
    is_single: bool,
}

/// Where the parts of a rule group are stored, for later.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RuleGroupPlace {
    pub lines: Lines,
    order: u32,
    first_record: u32,
}

/// The rules of an entry, in order of precedence.
pub enum EntryRules<'s> {
    /// The rules of one rule group.
    Stored(RuleSet<'s>),
    /// The rules of several.
    Merged(RuleSetBuf),
}

impl EntryRules<'_> {
    /// Returns the rule set.
    pub fn as_rule_set(&self) -> RuleSet<'_> {
        match self {
            EntryRules::Stored(rules) => *rules,
            EntryRules::Merged(rules) => rules.as_rule_set(),
        }
    }
}

/// Returns whether a pattern may be the second one of a rule: the directory of the index page that it names.
fn may_be_directory(pattern: Pattern<'_>, paths: &PathRules) -> bool {
    paths.index_page == IndexPage::AllowsDirectory
        && pattern.is_anchored()
        && pattern.bytes().ends_with(b"/")
}

impl<'s> RuleGroup<'s> {
    /// Returns the lines of its rule set.
    pub fn lines(&self) -> Result<Lines, Damage> {
        self.policy.set.rule_set_lines(self.rule_set)
    }

    /// Returns, for each group, the number and the record of its first rule.
    pub fn groups(&self) -> Result<Pairs<'s>, Damage> {
        if self.is_single {
            return self.policy.pairs_at(self.groups_at, 1);
        }
        let at = self.policy.word(self.groups_at)? as usize;
        self.policy.pairs_at(at + 1, self.policy.word(at)? as usize)
    }

    /// Returns the record of the first rule of the first group.
    pub fn first_record(&self) -> Result<u32, Damage> {
        let first = self.groups()?.get(0);
        let malformed = || self.policy.malformed("a rule group has no group");
        first.map(|(_, record)| record).ok_or_else(malformed)
    }

    /// Returns the record of the rule of a pattern, and the pattern that is the text of this rule: the same, or
    /// the one of the index page whose directory it is.
    pub fn rule_of(&self, pattern: usize) -> Result<(u32, Option<Pattern<'s>>), Damage> {
        let Ordered { first, order, rules } = self.ordered()?;
        let record = order.numbers().nth(pattern).and_then(|number| first.checked_add(number));
        let malformed = || self.policy.malformed("a rule is in none of its groups");
        let text = match rules.get(pattern) {
            Some((_, text)) if may_be_directory(text, &self.policy.set.dialect().paths) => {
                order.first(pattern).and_then(|first| rules.get(first)).map(|(_, text)| text)
            }
            found => found.map(|(_, text)| text),
        };
        Ok((record.ok_or_else(malformed)?, text))
    }

    /// Returns where the parts of it are.
    pub fn place(&self) -> Result<RuleGroupPlace, Damage> {
        let first_record = self.first_record()?;
        Ok(RuleGroupPlace { lines: self.lines()?, order: self.order, first_record })
    }

    /// Returns its rules with the record of each.
    pub(super) fn ordered(&self) -> Result<Ordered<'s>, Damage> {
        let set = self.policy.set;
        let rules = set.view(self.lines()?)?;
        Ok(Ordered {
            first: self.first_record()?,
            order: set.order(self.order, rules.len())?,
            rules,
        })
    }
}

impl<'s> StoredPolicy<'s> {
    /// Returns the rule group with a number.
    #[inline]
    pub(crate) fn rule_group(&self, number: u32) -> Result<RuleGroup<'s>, Damage> {
        let at = self.rule_group_at(number);
        let rule_set = self.word(at + policy::RULE_SET)?;
        Ok(RuleGroup {
            policy: *self,
            rule_set: RuleSetNumber(rule_set & !policy::IS_SINGLE),
            is_single: rule_set & policy::IS_SINGLE != 0,
            order: self.word(at + policy::ORDER)?,
            groups_at: at + policy::GROUPS,
        })
    }

    /// Returns the rule groups of an entry.
    pub(crate) fn rule_groups(&self, entry: PolicyEntry) -> Result<Vec<RuleGroup<'s>>, Damage> {
        self.entry_groups(entry)?.iter().map(|number| self.rule_group(number)).collect()
    }

    /// Returns the rules of an entry.
    ///
    /// # Errors
    ///
    /// If a part of the set that is read is damaged.
    pub fn rules(&self, entry: PolicyEntry) -> Result<EntryRules<'s>, Damage> {
        let groups = self.rule_groups(entry)?;
        if let [group] = &*groups {
            return self.set.rule_set(group.rule_set).map(EntryRules::Stored);
        }
        let mut all = Vec::new();
        for group in &groups {
            let (place, rules) = (group.place()?, self.set.rule_set(group.rule_set)?);
            for (outcome, pattern) in rules.iter() {
                all.push((self.set.pattern_key(&place, outcome)?, outcome.allows(), pattern));
            }
        }
        all.sort_by_key(|&(key, ..)| key);
        // One that equals an earlier one decides nothing.
        let mut known: HashSet<Pattern<'_>, RandomState> = HashSet::default();
        all.retain(|&(.., pattern)| known.insert(pattern));
        let mut patterns = PatternList::new();
        all.iter().for_each(|&(.., pattern)| patterns.push_pattern(pattern));
        Ok(EntryRules::Merged(RuleSetBuf::new(&patterns, |pattern| all[pattern].1)))
    }

    /// Returns the rule set of an entry with one rule group; `None` if it has several.
    ///
    /// # Errors
    ///
    /// As for [`StoredPolicy::rules`].
    pub fn only_rule_set(&self, entry: PolicyEntry) -> Result<Option<RuleSetNumber>, Damage> {
        match self.entry_groups(entry)? {
            EntryGroups::One(number) => Ok(Some(self.rule_group(number)?.rule_set)),
            EntryGroups::Several(_) => Ok(None),
        }
    }

    /// Returns the number of patterns of the rule groups of an entry.
    ///
    /// # Errors
    ///
    /// As for [`StoredPolicy::rules`].
    pub fn pattern_count(&self, entry: PolicyEntry) -> Result<usize, Damage> {
        let count = |group: &RuleGroup<'_>| Ok(self.set.rule_set(group.rule_set)?.len());
        self.rule_groups(entry)?.iter().map(count).sum()
    }

    /// Returns the rules of all rule groups, in order.
    pub(super) fn all_ordered(
        &self,
    ) -> Result<impl Iterator<Item = Result<Ordered<'s>, Damage>> + use<'s>, Damage> {
        let policy = *self;
        let mut patterns_left = PATTERNS_READ_MAX + 2 * policy.record_count()?;
        let ordered = move |number: u32| {
            let group = policy.rule_group(number)?;
            if group.order == NONE {
                return Ok(None); // Before format 16.
            }
            let ordered = group.ordered()?;
            let too_many = || policy.malformed("a policy has more patterns than one may have");
            patterns_left = patterns_left.checked_sub(ordered.rules.len()).ok_or_else(too_many)?;
            Ok(Some(ordered))
        };
        Ok((0..self.rule_group_count()?).map(ordered).filter_map(Result::transpose))
    }
}

/// The rules of a rule group.
pub(super) struct Ordered<'s> {
    /// The record that its order counts from.
    pub first: u32,
    pub order: Order<'s>,
    pub rules: RuleSet<'s>,
}

/// The record of each pattern of a rule set.
pub(super) struct Order<'s> {
    width: usize,
    bytes: &'s [u8],
}

impl<'s> Order<'s> {
    /// Returns the first pattern with the record of a pattern.
    fn first(&self, pattern: usize) -> Option<usize> {
        let record = self.bytes.chunks_exact(self.width).nth(pattern)?;
        match self.width {
            // A width that the compiler knows makes it fifteen times as fast.
            2 => self.bytes.as_chunks::<2>().0.iter().position(|it| it == record),
            width => self.bytes.chunks_exact(width).position(|it| it == record),
        }
    }

    pub fn numbers(&self) -> impl Iterator<Item = u32> + use<'s> {
        self.bytes.chunks_exact(self.width).map(number)
    }
}

/// Returns the number of one of the widths of an order.
fn number(bytes: &[u8]) -> u32 {
    match *bytes {
        [a] => a.into(),
        [a, b] => u16::from_le_bytes([a, b]).into(),
        [a, b, c, d] => u32::from_le_bytes([a, b, c, d]),
        _ => NONE,
    }
}

impl PolicySet {
    /// Returns the order of so many patterns at a position.
    fn order(&self, position: u32, patterns: usize) -> Result<Order<'_>, Damage> {
        let (width, _) = self.width_at(position.into())?;
        let (start, bytes) = (u64::from(position) + 1, (patterns * width) as u64);
        Ok(Order { width, bytes: self.file.bytes(self.sections.orders, start, bytes)? })
    }

    /// Returns the width of the numbers at a position of the section, and whether lengths follow them.
    fn width_at(&self, at: u64) -> Result<(usize, bool), Damage> {
        let section = self.sections.orders;
        let byte = self.file.bytes(section, at, 1)?[0];
        match byte & !ORDER_HAS_LENGTHS {
            width @ (1 | 2 | 4) => Ok((width.into(), byte & ORDER_HAS_LENGTHS != 0)),
            _ => Err(self.file.malformed(section, at, "an order has no such numbers")),
        }
    }

    /// Returns the key of a pattern of a rule group that has matched.
    pub(crate) fn pattern_key(
        &self,
        place: &RuleGroupPlace,
        outcome: Outcome,
    ) -> Result<PatternKey, Damage> {
        let section = self.sections.orders;
        let item = |at: u64, width: usize, index: u64| {
            Ok(number(self.file.bytes(section, at + 1 + index * width as u64, width as u64)?))
        };
        let at = u64::from(place.order);
        let malformed =
            || self.file.malformed(section, at, "an order lacks the lengths of patterns");
        let pattern = outcome.pattern().ok_or_else(malformed)? as u64;
        let (width, has_lengths) = self.width_at(at)?;
        let record = place.first_record.saturating_add(item(at, width, pattern)?);
        let rank = match self.dialect.paths.precedence {
            Precedence::FirstInFile => (0, false),
            Precedence::MostBytes if !has_lengths => return Err(malformed()),
            Precedence::MostBytes => {
                let patterns = self.view(place.lines)?.len() as u64;
                let lengths = at + 1 + patterns * width as u64;
                let (width, _) = self.width_at(lengths)?;
                (item(lengths, width, pattern)?, outcome.allows())
            }
        };
        Ok((Reverse(rank), record))
    }
}
