//! Rule sets: where each is stored, and a view of it; and the rules of an agent, read from its
//! policy, for rule sets that are not stored and for comparing sets.

use portcullis_dialect::Field;
use portcullis_dialect::dialect::{IndexPage, PathRules};
use portcullis_dialect::id::RuleID;
use portcullis_dialect::limits::POLICY_PATTERNS_MAX;
use portcullis_engine::block::Start;
use portcullis_engine::pattern::Pattern;
use portcullis_engine::{Line, RuleSet};
use portcullis_robots::policy::OrderedRules;
use portcullis_robots::syntax::{Group, RobotsTxt};

use super::super::file::Damage;
use super::super::layout::{NONE, RuleSetRow, policy};
use super::PolicySet;
use super::policy::{RuleSetNumber, StoredPolicy};
use crate::lists::{ListReader, Role};

impl PolicySet {
    /// Returns the first line and the number of lines of the rule set with this number, as the index has
    /// them.
    #[inline]
    pub(super) fn rule_set_lines(&self, number: RuleSetNumber) -> Result<(u32, u32), Damage> {
        let section = self.sections.rule_set_index;
        let row = &self.file.items::<RuleSetRow>(section, number.0.into(), 1)?[0];
        Ok((row.line.get(), row.lines.get()))
    }

    /// Returns the number of rule sets.
    pub fn rule_set_count(&self) -> u32 {
        let rows = self.sections.rule_set_index.bytes / size_of::<RuleSetRow>() as u64;
        u32::try_from(rows).unwrap_or(u32::MAX)
    }

    /// Returns the rule set with this number, after comparing its checksums and its form; `None` if it is
    /// made of groups, which are ordered when an agent first needs them.
    pub fn rule_set(&self, number: RuleSetNumber) -> Result<Option<RuleSet<'_>>, Damage> {
        self.rule_set_at(self.rule_set_lines(number)?)
    }

    /// Returns the rule set of some lines, after comparing their checksums and their form.
    fn rule_set_at(&self, (first, count): (u32, u32)) -> Result<Option<RuleSet<'_>>, Damage> {
        if (first, count) == (NONE, 0) {
            return Ok(None);
        }
        let section = self.sections.rule_sets;
        let lines: &[Line] = self.file.items(section, first.into(), count.into())?;
        let rules = RuleSet::from_lines(lines);
        rules.map(Some).map_err(|error| self.malformed_rule_set(first, error.0))
    }

    /// Returns where the answers of the rule set of some lines begin, after checking it; `None` if it is
    /// not stored.
    pub(crate) fn start_at(&self, lines: (u32, u32)) -> Result<Option<Start>, Damage> {
        let out_of_reach = || self.malformed_rule_set(lines.0, "it is out of reach");
        let start = |_| Start::at(lines.0).ok_or_else(out_of_reach);
        self.rule_set_at(lines)?.map(start).transpose()
    }

    /// Returns the lines of all rule sets. Only use those of a rule set that
    /// [`PolicySet::rule_set`] has checked.
    #[inline]
    pub(crate) fn all_lines(&self) -> &[Line] {
        self.file.uncompared_items(self.sections.rule_sets)
    }

    #[cold]
    fn malformed_rule_set(&self, first_line: u32, what: &'static str) -> Damage {
        let start = u64::from(first_line) * size_of::<Line>() as u64;
        self.file.malformed(self.sections.rule_sets, start, what)
    }
}

/// Returns whether a pattern may be the second one of a rule: the directory of the index page that it names.
pub(crate) fn may_be_directory(pattern: Pattern<'_>, paths: &PathRules) -> bool {
    paths.index_page == IndexPage::AllowsDirectory
        && pattern.is_anchored()
        && pattern.bytes().ends_with(b"/")
}

/// Calls `order` with the groups of each part, in one reading of their file. A part is the number and the
/// record of each group's first rule.
pub(crate) fn ordered<T>(
    policy: &StoredPolicy<'_>,
    parts: &[Vec<(u32, u32)>],
    order: impl Fn(&RobotsTxt<'_>, &[usize]) -> T,
) -> Result<Vec<T>, Damage> {
    let all = policy.with_file(|file, _| {
        let of_part = |positions: &Vec<_>| Some(order(file, &groups_at(file, positions)?));
        parts.iter().map(of_part).collect::<Option<Vec<T>>>()
    })?;
    all.ok_or_else(|| policy.malformed("its records are not a valid file"))
}

/// Returns the record of each pattern's rule, counted from the first rule of the first group.
pub fn record_order(rules: &OrderedRules, positions: &[(u32, u32)]) -> Vec<u32> {
    let record = |rule: &RuleID| {
        // A rule belongs to the last group that starts at or before it. A group without rules
        // starts at the same rule as the next group, and precedes it.
        let after = positions.partition_point(|&(start, _)| start <= rule.0);
        let (start, record) = positions[after - 1];
        record + (rule.0 - start) - positions[0].1
    };
    rules.rules.iter().map(record).collect()
}

/// Returns the groups whose first rules have these numbers and records.
fn groups_at(file: &RobotsTxt<'_>, positions: &[(u32, u32)]) -> Option<Vec<usize>> {
    let place = |group: &Group| (group.rules.start, group.rules.start + group.user_agents.end);
    let find = |position: &(u32, u32)| file.groups().binary_search_by_key(position, place).ok();
    positions.iter().map(find).collect()
}

impl StoredPolicy<'_> {
    /// Returns whether both files have the same user-agent lines and rules in the same order, and whether
    /// they have the same usage records in groups with the same user-agent lines: equal kinds and values,
    /// byte for byte. Lines, the spelling of field names, comments and other records do not count.
    pub fn has_records_of(&self, other: &StoredPolicy<'_>) -> Result<[bool; 2], Damage> {
        let extracts = [self.extract()?, other.extract()?];
        let [own, others] = extracts.each_ref().map(|extract| {
            let (mut access, mut usage, mut starts) = (Vec::new(), Vec::new(), Vec::new());
            let mut last_group = 0;
            // Usage records come last.
            for record in ListReader::from_extract(extract).flatten() {
                let known = (record.role, record.value());
                if !record.role.is_usage() {
                    if record.role == Role::STARTS_GROUP {
                        starts.push((record.line, access.len()));
                    }
                    access.push(known);
                    continue;
                }
                let group = starts.partition_point(|&(line, _)| line < record.line);
                if record.role.in_group && group > last_group {
                    let lines = access[starts[group - 1].1..].iter();
                    let is_agent = |(role, _): &&(Role, _)| role.field == Some(Field::UserAgent);
                    usage.extend(lines.take_while(is_agent));
                    last_group = group;
                }
                usage.push(known);
            }
            (access, usage)
        });
        Ok([own.0 == others.0, own.1 == others.1])
    }
}

/// An entry whose rule set is stored.
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
    pub fn first(&self, pattern: usize) -> Option<usize> {
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

impl<'s> StoredPolicy<'s> {
    /// Returns the entries whose rule sets are stored, in order.
    pub(super) fn ordered_entries(
        &self,
    ) -> Result<impl Iterator<Item = Result<Ordered<'s>, Damage>> + use<'s>, Damage> {
        let policy = *self;
        let mut patterns_left = POLICY_PATTERNS_MAX;
        let ordered = move |entry: u32| {
            let order = policy.order_at(entry)?;
            if order == NONE {
                return Ok(None);
            }
            let set = policy.set;
            let rules = set.view(set.rule_set_lines(policy.rule_set(entry)?)?)?;
            let too_many = || policy.malformed("a policy has more patterns than one may have");
            patterns_left = patterns_left.checked_sub(rules.len()).ok_or_else(too_many)?;
            let first = policy.first_record(entry)?;
            Ok(Some(Ordered { first, order: set.order(order, rules.len())?, rules }))
        };
        Ok((0..self.word(policy::ENTRIES)?).map(ordered).filter_map(Result::transpose))
    }
}

impl PolicySet {
    /// Returns a rule set, of whose form only the lengths of its parts are compared.
    pub(super) fn view(&self, (line, lines): (u32, u32)) -> Result<RuleSet<'_>, Damage> {
        let rules = self.file.items(self.sections.rule_sets, line.into(), lines.into())?;
        let odd = || self.malformed_rule_set(line, "its parts are longer than it is");
        RuleSet::view(rules).ok_or_else(odd)
    }

    /// Returns the order of so many patterns at a position.
    pub(super) fn order(&self, position: u32, patterns: usize) -> Result<Order<'_>, Damage> {
        let width = self.width_of(position)?;
        let (start, bytes) = (u64::from(position) + 1, (patterns * width) as u64);
        Ok(Order { width, bytes: self.file.bytes(self.sections.orders, start, bytes)? })
    }

    fn width_of(&self, order: u32) -> Result<usize, Damage> {
        let section = self.sections.orders;
        match self.file.bytes(section, order.into(), 1)?[0] {
            width @ (1 | 2 | 4) => Ok(width.into()),
            _ => Err(self.file.malformed(section, order.into(), "an order has no such numbers")),
        }
    }

    /// Returns the record of a pattern according to an order, counted from the first rule of the
    /// first group.
    pub(crate) fn record_of(&self, order: u32, pattern: u32) -> Result<u32, Damage> {
        let width = self.width_of(order)? as u64;
        let at = u64::from(order) + 1 + u64::from(pattern) * width;
        Ok(number(self.file.bytes(self.sections.orders, at, width)?))
    }
}
