//! Whether policies of two sets say the same: what a difference of sets asks.

use crate::policy::OrderedRules;

use super::super::file::Damage;
use super::on_demand::ordered;
use super::policy::Selected;
use super::{PolicyNumber, Query, StoredPolicy};

impl StoredPolicy<'_> {
    /// Whether both files have the same user-agent lines and rules in the same order: the same kinds
    /// and the same values, byte for byte. Lines, the spelling of field names, comments and other
    /// records do not matter. The two scratches are overwritten.
    pub(in crate::set) fn has_records_of(
        &self,
        other: &StoredPolicy<'_>,
        [own_text, other_text]: &mut [Vec<u8>; 2],
    ) -> Result<bool, Damage> {
        let (own, others) = (self.record_list()?, other.record_list()?);
        if own.len() != others.len() {
            return Ok(false);
        }
        // Kinds first: no text has to be read for them.
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

impl Query {
    /// The rules that an agent obeys by the policy at `position`, in order of precedence: none if no
    /// group speaks to it, or there is no file.
    ///
    /// # Panics
    ///
    /// If there is no such agent.
    pub fn obeyed_rules(
        &self,
        position: PolicyNumber,
        agent: usize,
    ) -> Result<OrderedRules, Damage> {
        match self.set.policy(position)?.select(&self.tokens[agent])? {
            Selected::Fixed(_) => Ok(OrderedRules::default()),
            Selected::Rules(selected) => ordered(&self.set, &selected).map(|(rules, _)| rules),
        }
    }
}
