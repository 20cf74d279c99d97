//! Hosts by key, with a place for http and one for https.

use std::hash::BuildHasher;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

/// Which place of a host an origin has. Any scheme but https has the first; one that is not http
/// either stands in the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slot {
    Http = 0,
    Https = 1,
}

impl Slot {
    pub(super) const BOTH: [Slot; 2] = [Slot::Http, Slot::Https];
}

/// Something for each origin, found by its host's key.
#[derive(Debug)]
pub(super) struct HostTable<T> {
    positions: HashTable<u32>,
    hosts: Vec<Host<T>>,
    hasher: foldhash::fast::RandomState,
}

/// A host and what its origins have.
#[derive(Debug)]
pub(super) struct Host<T> {
    pub(super) key: Box<[u8]>,
    slots: [Option<T>; 2],
}

impl<T> Host<T> {
    pub(super) fn get(&self, slot: Slot) -> Option<&T> {
        self.slots[slot as usize].as_ref()
    }

    pub(super) fn slot_mut(&mut self, slot: Slot) -> &mut Option<T> {
        &mut self.slots[slot as usize]
    }

    /// What http and https have.
    pub(super) fn into_parts(self) -> (Box<[u8]>, [Option<T>; 2]) {
        (self.key, self.slots)
    }
}

impl<T> Default for HostTable<T> {
    fn default() -> HostTable<T> {
        HostTable::new()
    }
}

impl<T> HostTable<T> {
    pub(super) fn new() -> HostTable<T> {
        HostTable {
            positions: HashTable::new(),
            hosts: Vec::new(),
            hasher: foldhash::fast::RandomState::default(),
        }
    }

    pub(super) fn get(&self, key: &[u8], slot: Slot) -> Option<&T> {
        let same = |&position: &u32| *self.hosts[position as usize].key == *key;
        let position = *self.positions.find(self.hasher.hash_one(key), same)?;
        self.hosts[position as usize].get(slot)
    }

    /// The host with this key; a new one without anything if there was none.
    pub(super) fn host_mut(&mut self, key: &[u8]) -> &mut Host<T> {
        let HostTable { positions, hosts, hasher } = self;
        let entry = positions.entry(
            hasher.hash_one(key),
            |&position| *hosts[position as usize].key == *key,
            |&position| hasher.hash_one(&*hosts[position as usize].key),
        );
        let position = match entry {
            Entry::Occupied(entry) => *entry.get(),
            Entry::Vacant(entry) => {
                let position = u32::try_from(hosts.len()).expect("fewer than 2^32 hosts");
                hosts.push(Host { key: key.into(), slots: [None, None] });
                *entry.insert(position).get()
            }
        };
        &mut hosts[position as usize]
    }

    /// The hosts, in no order that means anything.
    pub(super) fn hosts(&self) -> &[Host<T>] {
        &self.hosts
    }

    /// The hosts, in no order that means anything.
    pub(super) fn into_hosts(self) -> Vec<Host<T>> {
        self.hosts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_has_two_places() {
        let mut table = HostTable::new();
        *table.host_mut(b"a.example").slot_mut(Slot::Http) = Some(1);
        *table.host_mut(b"b.example").slot_mut(Slot::Http) = Some(2);
        *table.host_mut(b"a.example").slot_mut(Slot::Https) = Some(3);
        assert_eq!(table.hosts().len(), 2);
        assert_eq!(table.get(b"a.example", Slot::Http), Some(&1));
        assert_eq!(table.get(b"a.example", Slot::Https), Some(&3));
        assert_eq!(table.get(b"b.example", Slot::Https), None);
        assert_eq!(table.get(b"c.example", Slot::Http), None);
    }
}
