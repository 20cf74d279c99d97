//! A search breadth-first: what was met, and the shortest way to it.

use std::hash::{BuildHasher, Hash};

use hashbrown::HashTable;

use super::language::PATH_BYTES_MAX;

/// Where a search starts: it has no parent.
const ROOT: u32 = u32::MAX;

/// What a search has met, in the order in which it has met it, each once.
#[derive(Debug)]
pub(super) struct Tree<K> {
    met: Vec<Met<K>>,
    known: HashTable<u32>,
    hasher: foldhash::fast::RandomState,
}

#[derive(Debug)]
struct Met<K> {
    key: K,
    parent: u32,
    /// The symbol that led here from the parent.
    symbol: u16,
    /// The symbols on the way here.
    depth: u32,
}

impl<K: Copy + Eq + Hash> Tree<K> {
    /// A search that starts at `key`.
    pub(super) fn new(key: K) -> Tree<K> {
        let mut new = Tree {
            met: Vec::new(),
            known: HashTable::new(),
            hasher: foldhash::fast::RandomState::default(),
        };
        new.add(key, ROOT, 0, 0);
        new
    }

    /// How many were met.
    pub(super) fn len(&self) -> usize {
        self.met.len()
    }

    /// The one that was met after `index` others, if so many were.
    pub(super) fn get(&self, index: usize) -> Option<K> {
        self.met.get(index).map(|met| met.key)
    }

    /// Whether a path that leads farther than the one at `index` may be too long for a URL.
    pub(super) fn is_deepest(&self, index: usize) -> bool {
        self.met[index].depth as usize + 1 >= PATH_BYTES_MAX
    }

    /// Notes that `symbol` leads from the one at `parent` to `key`.
    pub(super) fn push(&mut self, parent: usize, symbol: u16, key: K) {
        let depth = self.met[parent].depth + 1;
        self.add(key, parent as u32, symbol, depth);
    }

    fn add(&mut self, key: K, parent: u32, symbol: u16, depth: u32) {
        let Tree { met, known, hasher } = self;
        let hash = hasher.hash_one(key);
        if known.find(hash, |&index| met[index as usize].key == key).is_some() {
            return;
        }
        let index = met.len() as u32;
        met.push(Met { key, parent, symbol, depth });
        known.insert_unique(hash, index, |&index| hasher.hash_one(met[index as usize].key));
    }

    /// The symbols on the way to the one at `index`.
    pub(super) fn way_to(&self, index: usize) -> Vec<u16> {
        let mut way = Vec::new();
        let mut met = &self.met[index];
        while met.parent != ROOT {
            way.push(met.symbol);
            met = &self.met[met.parent as usize];
        }
        way.reverse();
        way
    }
}
