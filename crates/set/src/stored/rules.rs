//! The rules that apply to an agent, read from its policy: for rule sets that are not stored, and for
//! comparing sets.

use portcullis_robots::policy::OrderedRules;
use portcullis_robots::syntax::{Group, RobotsTxt};

use super::super::compile::record_order;
use super::super::file::Damage;
use super::policy::SelectedRules;
use super::{PolicyNumber, PolicySet, StoredPolicy};

/// Orders the rules of some groups. Also returns the record of each pattern's rule, counted from
/// the first rule of the first group.
pub(crate) fn ordered(
    set: &PolicySet,
    selected: &SelectedRules,
) -> Result<(OrderedRules, Vec<u32>), Damage> {
    let policy = set.policy(PolicyNumber(selected.policy))?;
    let extract = policy.extract()?;
    let malformed = || policy.malformed("its records are not a valid file");
    let file = RobotsTxt::read_extract(&extract).ok_or_else(malformed)?;
    let words = policy.groups(selected.entry)?;
    let positions: Vec<(u32, u32)> =
        words.chunks_exact(2).map(|pair| (pair[0].get(), pair[1].get())).collect();
    let groups = groups_at(&file, &positions).ok_or_else(malformed)?;
    let rules = OrderedRules::distinct(&file, &groups, &set.dialect().paths);
    let order = record_order(&rules, &positions);
    Ok((rules, order))
}

/// Returns the groups whose first rules have these numbers and records, each at most once and in
/// file order.
fn groups_at(file: &RobotsTxt<'_>, positions: &[(u32, u32)]) -> Option<Vec<usize>> {
    let mut groups = file.groups().iter().enumerate();
    let find = |&(rule, record): &(u32, u32)| {
        let is_it = |group: &Group| {
            group.rules.start == rule && rule.checked_add(group.user_agents.end) == Some(record)
        };
        groups.find(|(_, group)| is_it(group)).map(|(index, _)| index)
    };
    positions.iter().map(find).collect()
}

impl StoredPolicy<'_> {
    /// Returns whether both files have the same user-agent lines and rules in the same order: equal
    /// kinds and values, byte for byte. Lines, the spelling of field names, comments and other
    /// records do not count. Both scratch buffers are overwritten.
    pub(crate) fn has_records_of(
        &self,
        other: &StoredPolicy<'_>,
        [own_text, other_text]: &mut [Vec<u8>; 2],
    ) -> Result<bool, Damage> {
        let (own, others) = (self.record_list()?, other.record_list()?);
        if own.len() != others.len() {
            return Ok(false);
        }
        // Compare kinds first: they need no text.
        for index in 0..own.len() {
            if own.kind(index)? != others.kind(index)? {
                return Ok(false);
            }
        }
        for index in 0..own.len() {
            let own_start = own.read(index, own_text)?;
            let other_start = others.read(index, other_text)?;
            if own_text[own_start..] != other_text[other_start..] {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl PolicySet {
    /// Returns the record of a pattern according to an order, counted from the first rule of the
    /// first group.
    pub(crate) fn record_of(&self, order: u32, pattern: u32) -> Result<u32, Damage> {
        let section = self.sections.orders;
        let width = self.file.bytes(section, order.into(), 1)?[0];
        let at = u64::from(order) + 1 + u64::from(pattern) * u64::from(width);
        match *self.file.bytes(section, at, width.into())? {
            [a] => Ok(a.into()),
            [a, b] => Ok(u16::from_le_bytes([a, b]).into()),
            [a, b, c, d] => Ok(u32::from_le_bytes([a, b, c, d])),
            _ => Err(self.file.malformed(section, order.into(), "an order has no such numbers")),
        }
    }
}
