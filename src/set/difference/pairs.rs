//! Pairs of policies that were compared, as far as they are kept.

use crate::bytes::seeded_hash;
use crate::limits::DIFFERENCE_PAIRS_KEPT;

use super::super::file::Damage;
use super::super::stored::PolicyNumber;
use super::Difference;
use super::rules::same_rules;

/// Outcomes of comparisons. Each pair has one place, where it replaces what stood there.
pub(super) struct Pairs {
    kept: Vec<Option<Pair>>,
    scratches: [Vec<u8>; 2],
}

struct Pair {
    old: PolicyNumber,
    new: PolicyNumber,
    /// The agents that obey other rules, if the policies differ.
    changed: Option<Box<[usize]>>,
}

impl Pairs {
    pub(super) fn new() -> Pairs {
        Pairs {
            kept: std::iter::repeat_with(|| None).take(DIFFERENCE_PAIRS_KEPT).collect(),
            scratches: [Vec::new(), Vec::new()],
        }
    }

    /// The agents that obey other rules by the new policy, if the two differ: none of them if nobody
    /// was named.
    pub(super) fn changed(
        &mut self,
        difference: &Difference,
        old: PolicyNumber,
        new: PolicyNumber,
    ) -> Result<Option<&[usize]>, Damage> {
        let place = &mut self.kept[place(old, new)];
        if place.as_ref().is_none_or(|pair| (pair.old, pair.new) != (old, new)) {
            let changed = compare(difference, (old, new), &mut self.scratches)?;
            *place = Some(Pair { old, new, changed });
        }
        Ok(place.as_ref().and_then(|pair| pair.changed.as_deref()))
    }
}

fn place(old: PolicyNumber, new: PolicyNumber) -> usize {
    let [old, new] = [old, new].map(|number| number.index().to_le_bytes());
    seeded_hash([old, new].as_flattened()) as usize % DIFFERENCE_PAIRS_KEPT
}

fn compare(
    difference: &Difference,
    (old, new): (PolicyNumber, PolicyNumber),
    scratches: &mut [Vec<u8>; 2],
) -> Result<Option<Box<[usize]>>, Damage> {
    let Difference { old: old_set, new: new_set, asked } = difference;
    let same_records = old_set.policy(old)?.has_records_of(&new_set.policy(new)?, scratches)?;
    let Some((old_agents, new_agents)) = asked else {
        return Ok((!same_records).then(Box::default));
    };
    // What the same records mean depends on nothing but the dialect.
    if same_records && old_set.dialect().name == new_set.dialect().name {
        return Ok(None);
    }
    let mut changed = Vec::new();
    for agent in 0..old_agents.agents().len() {
        let old_rules = old_agents.obeyed_rules(old, agent)?;
        let new_rules = new_agents.obeyed_rules(new, agent)?;
        if !same_rules(&old_rules, &new_rules) {
            changed.push(agent);
        }
    }
    Ok((!changed.is_empty()).then(|| changed.into()))
}
