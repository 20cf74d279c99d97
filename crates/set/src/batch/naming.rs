//! The user-agent lines that name agents, in groups that are not the first of their entries.
//!
//! A set has the naming line of the first group of each entry. Those of further groups are found when an answer
//! is explained, in the names of the group, which are read once: a hostile file has ten thousand before a rule.

use foldhash::fast::RandomState;
use hashbrown::HashMap;
use hashbrown::hash_map::Entry;

use portcullis_dialect::dialect::Dialect;
use portcullis_robots::policy::robot_named;

use crate::Damage;
use crate::limits::GROUP_NAMES_BYTES_MAX;
use crate::lists::Role;
use crate::stored::{PolicyNumber, StoredPolicy};

/// The names of groups that were read, by policy and first rule.
#[derive(Clone, Debug, Default)]
pub(super) struct GroupNames {
    groups: HashMap<(PolicyNumber, u32), NamesOfGroup, RandomState>,
    bytes: usize,
}

/// The names of a group.
#[derive(Clone, Debug, Default)]
struct NamesOfGroup {
    /// The values of the user-agent lines, one after another.
    text: Vec<u8>,
    /// The record of each, and where its value ends.
    lines: Vec<(u32, usize)>,
    /// The records that were found, by token; that of the default group by an empty one.
    found: HashMap<Vec<u8>, Option<u32>, RandomState>,
}

impl GroupNames {
    /// Returns the record of the first user-agent line that names a token, or the default group without one, in
    /// the group of a policy whose first rule is at `end`.
    pub fn naming_line(
        &mut self,
        policy: &StoredPolicy<'_>,
        end: u32,
        token: Option<&str>,
    ) -> Result<u32, Damage> {
        if self.bytes > GROUP_NAMES_BYTES_MAX {
            (self.groups, self.bytes) = Default::default();
        }
        let names = match self.groups.entry((policy.number(), end)) {
            Entry::Occupied(names) => names.into_mut(),
            Entry::Vacant(place) => {
                let names = NamesOfGroup::read(policy, end)?;
                self.bytes += names.text.len() + names.lines.len() * size_of::<(u32, usize)>();
                place.insert(names)
            }
        };
        let key = token.unwrap_or_default().as_bytes();
        let found = match names.found.get(key) {
            Some(found) => *found,
            None => {
                let found = names.find(token, policy.set.dialect());
                names.found.insert(key.to_vec(), found);
                self.bytes += key.len() + size_of::<(Vec<u8>, Option<u32>)>();
                found
            }
        };
        found.ok_or_else(|| policy.malformed("a group has no user-agent line"))
    }
}

impl NamesOfGroup {
    /// Reads the user-agent lines before the first rule of a group.
    fn read(policy: &StoredPolicy<'_>, end: u32) -> Result<NamesOfGroup, Damage> {
        let records = policy.record_list()?;
        let mut first = end;
        while first > 0 && records.is_user_agent(first - 1)? {
            first -= 1;
            if records.role(first)? == Role::STARTS_GROUP {
                break;
            }
        }
        let mut names = NamesOfGroup::default();
        records.read_values(first..end, |record, value| {
            names.text.extend_from_slice(value);
            names.lines.push((record, names.text.len()));
        })?;
        Ok(names)
    }

    fn find(&self, token: Option<&str>, dialect: &Dialect) -> Option<u32> {
        let mut start = 0;
        let named = self.lines.iter().find(|(_, end)| {
            let value = &self.text[start..*end];
            start = *end;
            robot_named(value, token, dialect)
        });
        named.map(|(record, _)| *record)
    }
}
