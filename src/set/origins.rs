//! The origins that policies speak for, found by the parts of a URL.
//!
//! Hosts and ports are the keys, as [`host_key`](crate::target::host_key) writes them; http and
//! https have a place each beside the key, because nearly all policies speak for both. Any other
//! scheme is part of its key. A look-up compares the key octet by octet: a hash never answers for a
//! host.
//!
//! A large table is far away in memory, and a look-up takes two accesses, one after another: a slot,
//! then the host behind it. [`OriginTable::find_block`] makes those of many look-ups at once, so that
//! they wait together.

use std::hash::BuildHasher;
use std::hint::black_box;

use zerocopy::IntoBytes;

use crate::bytes::are_same;

/// No policy.
const NONE: u32 = u32::MAX;

/// A table from origins to policies.
#[derive(Clone, Debug, Default)]
pub struct OriginTable {
    /// A power of two of them, at least half of them empty, or none at all. A host stands in the
    /// slot that its hash names, or the next empty one.
    slots: Vec<Slot>,
    /// Hosts one behind the other: [`HEAD_WORDS`], then the key, filled up with zeros.
    words: Vec<u32>,
    hasher: foldhash::fast::RandomState,
    hosts: usize,
    origins: usize,
}

/// Where a host may be found.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    /// Some bits of the key's hash.
    tag: u32,
    /// Where in the words the host stands, counted from 1; 0 for an empty slot.
    end: u32,
}

/// Words before a key: the policy for http (or the key's own scheme), that for https, the number of
/// octets.
const HEAD_WORDS: usize = 3;
const HTTP: usize = 0;
const HTTPS: usize = 1;
const KEY_OCTETS: usize = 2;

/// Which place of a host a scheme has.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Http,
    Https,
    /// In the key.
    Other,
}

#[inline]
pub(super) fn place(scheme: &[u8]) -> Place {
    match scheme {
        b"https" => Place::Https,
        b"http" => Place::Http,
        _ if scheme.eq_ignore_ascii_case(b"http") => Place::Http,
        _ if scheme.eq_ignore_ascii_case(b"https") => Place::Https,
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
        self.slots.capacity() * size_of::<Slot>() + self.words.capacity() * size_of::<u32>()
    }

    /// The policy of the origin with this scheme, host and port.
    #[inline]
    pub fn get(&self, scheme: &[u8], key: &[u8]) -> Option<u32> {
        self.get_hashed(scheme, key, self.hasher.hash_one(key))
    }

    /// Hands out the policies of a block of origins, each scheme and key, in order. `hashes` is memory
    /// that is used again.
    #[inline]
    pub fn find_block(
        &self,
        origins: &[(&[u8], &[u8])],
        hashes: &mut Vec<u64>,
        mut found: impl FnMut(usize, Option<u32>),
    ) {
        hashes.clear();
        hashes.extend(origins.iter().map(|(_, key)| self.hasher.hash_one(key)));
        if origins.len() > 1 {
            self.touch(hashes);
        }
        for (number, (&(scheme, key), &hash)) in origins.iter().zip(hashes.iter()).enumerate() {
            found(number, self.get_hashed(scheme, key, hash));
        }
    }

    /// Looks at the slots of some hashes, then at the hosts behind them. No access waits for another
    /// of the same kind.
    #[inline]
    fn touch(&self, hashes: &[u64]) {
        let mut seen = 0;
        let slot = |hash: u64| self.slots.get(self.slot_of(hash)).copied().unwrap_or_default();
        for &hash in hashes {
            seen ^= slot(hash).tag;
        }
        for &hash in hashes {
            let word = self.words.get((slot(hash).end as usize).wrapping_sub(1));
            seen ^= word.copied().unwrap_or(0);
        }
        black_box(seen);
    }

    #[inline]
    fn get_hashed(&self, scheme: &[u8], key: &[u8], hash: u64) -> Option<u32> {
        let place = place(scheme);
        let policy = match place {
            Place::Https => self.words[self.find(key, hash)? + HTTPS],
            Place::Http => self.words[self.find(key, hash)? + HTTP],
            Place::Other => {
                let key = key_with_scheme(scheme, key);
                self.words[self.find(&key, self.hasher.hash_one(&*key))? + HTTP]
            }
        };
        (policy != NONE).then_some(policy)
    }

    /// Files `policy` under an origin. Returns false, and changes nothing, if it has one already.
    ///
    /// # Panics
    ///
    /// If the hosts take 16 GiB.
    pub fn insert(&mut self, scheme: &[u8], key: &[u8], policy: u32) -> bool {
        debug_assert_ne!(policy, NONE);
        let place = place(scheme);
        let host = match place {
            Place::Other => self.find_or_insert(&key_with_scheme(scheme, key)),
            Place::Http | Place::Https => self.find_or_insert(key),
        };
        let at = host + if place == Place::Https { HTTPS } else { HTTP };
        if self.words[at] != NONE {
            return false;
        }
        self.words[at] = policy;
        self.origins += 1;
        true
    }

    /// The keys of all hosts, each with its policy for http (or its only scheme) and for https, in no
    /// particular order.
    pub fn hosts(&self) -> impl Iterator<Item = (&[u8], [Option<u32>; 2])> {
        let policy = |policy: u32| (policy != NONE).then_some(policy);
        let occupied = self.slots.iter().filter_map(|slot| (slot.end as usize).checked_sub(1));
        occupied.map(move |host| {
            (self.key(host), [HTTP, HTTPS].map(|place| policy(self.words[host + place])))
        })
    }

    #[inline]
    fn slot_of(&self, hash: u64) -> usize {
        // The tag has the low bits.
        (hash >> 32) as usize & self.slots.len().wrapping_sub(1)
    }

    /// Where the host with this key stands.
    #[inline]
    fn find(&self, key: &[u8], hash: u64) -> Option<usize> {
        let mut index = self.slot_of(hash);
        loop {
            let Slot { tag, end } = *self.slots.get(index)?;
            let host = (end as usize).checked_sub(1)?;
            if tag == hash as u32 && are_same(self.key(host), key) {
                return Some(host);
            }
            index = (index + 1) & (self.slots.len() - 1);
        }
    }

    #[inline]
    fn key(&self, host: usize) -> &[u8] {
        let octets = self.words[host + KEY_OCTETS] as usize;
        &self.words[host + HEAD_WORDS..].as_bytes()[..octets]
    }

    fn find_or_insert(&mut self, key: &[u8]) -> usize {
        let hash = self.hasher.hash_one(key);
        if let Some(host) = self.find(key, hash) {
            return host;
        }
        if (self.hosts + 1) * 2 > self.slots.len() {
            self.grow();
        }
        let host = self.words.len();
        self.words.extend([NONE, NONE, key.len() as u32]);
        self.words.extend(key.chunks(4).map(|chunk| {
            let mut octets = [0; 4];
            octets[..chunk.len()].copy_from_slice(chunk);
            u32::from_ne_bytes(octets)
        }));
        self.hosts += 1;
        self.take_slot(hash, host);
        host
    }

    fn take_slot(&mut self, hash: u64, host: usize) {
        let end = u32::try_from(host + 1).expect("host names of a set fit in 16 GiB");
        let mut index = self.slot_of(hash);
        while self.slots[index].end != 0 {
            index = (index + 1) & (self.slots.len() - 1);
        }
        self.slots[index] = Slot { tag: hash as u32, end };
    }

    /// Doubles the slots.
    fn grow(&mut self) {
        const SLOTS_MIN: usize = 8;
        let count = (self.slots.len() * 2).max(SLOTS_MIN);
        let old = std::mem::replace(&mut self.slots, vec![Slot::default(); count]);
        for Slot { end, .. } in old {
            if let Some(host) = (end as usize).checked_sub(1) {
                self.take_slot(self.hasher.hash_one(self.key(host)), host);
            }
        }
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

    /// Slots that are looked at to find each of `keys`, on average.
    fn slots_searched(keys: &[String]) -> f64 {
        let mut table = OriginTable::default();
        for key in keys {
            table.insert(b"https", key.as_bytes(), 0);
        }
        let mask = table.slots.len() - 1;
        let searched = |key: &String| {
            let hash = table.hasher.hash_one(key.as_bytes());
            let host = table.find(key.as_bytes(), hash).expect("it was inserted");
            let at = table.slots.iter().position(|slot| slot.end as usize == host + 1);
            (at.expect("it has a slot") + table.slots.len() - table.slot_of(hash)) & mask
        };
        keys.iter().map(|key| searched(key) + 1).sum::<usize>() as f64 / keys.len() as f64
    }

    #[test]
    fn searches_are_short_whatever_hosts_are_called() {
        const HOSTS: usize = 1000;
        let names: [fn(usize) -> String; 4] = [
            |number| format!("host{number}.example"),
            |number| format!("{number:016x}"),
            |number| format!("{}.example:8080", "a".repeat(number + 1)),
            |number| format!("{}{}", "www.".repeat(20), number << 16),
        ];
        for name in names {
            let keys: Vec<String> = (0..HOSTS).map(name).collect();
            let searched = slots_searched(&keys);
            assert!(searched < 2.5, "{searched} slots for names such as {}", keys[1]);
        }
    }

    #[test]
    fn a_host_has_another_place_in_each_table() {
        let [one, other] = [OriginTable::default(), OriginTable::default()];
        assert_ne!(one.hasher.hash_one(b"a.example"), other.hasher.hash_one(b"a.example"));
    }

    #[test]
    fn many_hosts_are_found_alone_and_in_blocks() {
        let mut table = OriginTable::default();
        assert_eq!(table.get(b"http", b"a.example"), None);
        let key =
            |number: u32| format!("{}host{number}.example", "long-".repeat(number as usize % 9));
        for number in 0..1000 {
            assert!(table.insert(b"https", key(number).as_bytes(), number));
        }
        let keys: Vec<String> = (0..1500).map(key).collect();
        let expected = |number: usize| (number < 1000).then_some(number as u32);
        for (number, key) in keys.iter().enumerate() {
            assert_eq!(table.get(b"https", key.as_bytes()), expected(number));
        }
        let mut seen = 0;
        let origins: Vec<_> = keys.iter().map(|key| (&b"https"[..], key.as_bytes())).collect();
        table.find_block(&origins, &mut Vec::new(), |number, policy| {
            assert_eq!((number, policy), (seen, expected(number)));
            seen += 1;
        });
        assert_eq!(seen, keys.len());
    }
}
