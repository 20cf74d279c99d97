//! The origins that policies speak for, found by the parts of a URL.
//!
//! Hosts and ports are the keys, as [`host_key`](crate::target::host_key) writes them; http and
//! https have a place each beside the key, because nearly all policies speak for both. Any other
//! scheme is part of its key. A look-up compares the key octet by octet: a hash never answers for a
//! host.

use std::hash::BuildHasher;

use hashbrown::HashTable;

/// No policy.
const NONE: u32 = u32::MAX;

/// A table from origins to policies.
#[derive(Clone, Debug, Default)]
pub struct OriginTable {
    hosts: HashTable<Host>,
    keys: Vec<u8>,
    hasher: foldhash::fast::RandomState,
    origins: usize,
}

#[derive(Clone, Copy, Debug)]
struct Host {
    key_start: u32,
    key_octets: u32,
    http: u32,
    https: u32,
}

/// Which place of a host a scheme has.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Http,
    Https,
    /// In the key.
    Other,
}

pub(super) fn place(scheme: &[u8]) -> Place {
    match scheme.len() {
        4 if scheme.eq_ignore_ascii_case(b"http") => Place::Http,
        5 if scheme.eq_ignore_ascii_case(b"https") => Place::Https,
        _ => Place::Other,
    }
}

/// The key of an origin with any other scheme. No host has a `/`, so it is no other origin's.
pub(super) fn key_with_scheme(scheme: &[u8], key: &[u8]) -> Vec<u8> {
    [&scheme.to_ascii_lowercase(), &b"://"[..], key].concat()
}

impl OriginTable {
    /// The number of origins.
    pub fn len(&self) -> usize {
        self.origins
    }

    /// Whether there is no origin.
    pub fn is_empty(&self) -> bool {
        self.origins == 0
    }

    /// Octets of memory that this holds.
    pub fn memory_octets(&self) -> usize {
        self.keys.capacity() + self.hosts.capacity() * (size_of::<Host>() + 1)
    }

    /// The policy of the origin with this scheme, host and port.
    #[inline]
    pub fn get(&self, scheme: &[u8], key: &[u8]) -> Option<u32> {
        let host = match place(scheme) {
            Place::Other => self.find(&key_with_scheme(scheme, key)),
            Place::Http | Place::Https => self.find(key),
        }?;
        let policy = if place(scheme) == Place::Https { host.https } else { host.http };
        (policy != NONE).then_some(policy)
    }

    /// Files `policy` under an origin. Returns false, and changes nothing, if it has one already.
    pub fn insert(&mut self, scheme: &[u8], key: &[u8], policy: u32) -> bool {
        debug_assert_ne!(policy, NONE);
        let place = place(scheme);
        let host = match place {
            Place::Other => self.find_or_insert(&key_with_scheme(scheme, key)),
            Place::Http | Place::Https => self.find_or_insert(key),
        };
        let slot = if place == Place::Https { &mut host.https } else { &mut host.http };
        if *slot != NONE {
            return false;
        }
        *slot = policy;
        self.origins += 1;
        true
    }

    /// The keys of all hosts, each with its policy for http (or its only scheme) and for https, in no
    /// particular order.
    pub fn hosts(&self) -> impl Iterator<Item = (&[u8], [Option<u32>; 2])> {
        let policy = |policy: u32| (policy != NONE).then_some(policy);
        self.hosts
            .iter()
            .map(move |host| (host.key(&self.keys), [policy(host.http), policy(host.https)]))
    }

    #[inline]
    fn find(&self, key: &[u8]) -> Option<&Host> {
        self.hosts.find(self.hasher.hash_one(key), |host| host.key(&self.keys) == key)
    }

    fn find_or_insert(&mut self, key: &[u8]) -> &mut Host {
        let OriginTable { hosts, keys, hasher, .. } = self;
        let new = |keys: &mut Vec<u8>| {
            let key_start = u32::try_from(keys.len()).expect("host names of a set fit in 4 GiB");
            keys.extend_from_slice(key);
            Host { key_start, key_octets: key.len() as u32, http: NONE, https: NONE }
        };
        let hash = hasher.hash_one(key);
        let entry =
            hosts.entry(hash, |host| host.key(keys) == key, |host| hasher.hash_one(host.key(keys)));
        match entry {
            hashbrown::hash_table::Entry::Occupied(entry) => entry.into_mut(),
            hashbrown::hash_table::Entry::Vacant(entry) => entry.insert(new(keys)).into_mut(),
        }
    }
}

impl Host {
    #[inline]
    fn key<'k>(&self, keys: &'k [u8]) -> &'k [u8] {
        &keys[self.key_start as usize..][..self.key_octets as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemes_and_ports_are_other_origins() {
        let mut table = OriginTable::default();
        assert!(table.insert(b"http", b"a.example", 1));
        assert!(table.insert(b"https", b"a.example", 2));
        assert!(table.insert(b"https", b"a.example:8443", 3));
        assert!(table.insert(b"ftp", b"a.example", 4));
        assert!(!table.insert(b"HTTPS", b"a.example", 5));
        assert_eq!(table.len(), 4);
        assert_eq!(table.get(b"http", b"a.example"), Some(1));
        assert_eq!(table.get(b"Https", b"a.example"), Some(2));
        assert_eq!(table.get(b"https", b"a.example:8443"), Some(3));
        assert_eq!(table.get(b"http", b"a.example:8443"), None);
        assert_eq!(table.get(b"FTP", b"a.example"), Some(4));
        assert_eq!(table.get(b"gopher", b"a.example"), None);
        assert_eq!(table.get(b"http", b"b.example"), None);
        let mut hosts: Vec<_> = table.hosts().collect();
        hosts.sort_unstable();
        assert_eq!(hosts[0], (&b"a.example"[..], [Some(1), Some(2)]));
        assert_eq!(hosts[1], (&b"a.example:8443"[..], [None, Some(3)]));
        assert_eq!(hosts[2], (&b"ftp://a.example"[..], [Some(4), None]));
    }
}
