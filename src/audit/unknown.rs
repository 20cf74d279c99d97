//! Origins without a policy, counted in bounded memory.
//!
//! A list of URLs may name more origins than memory holds, so the table forgets. When it has twice as
//! many as it may keep, those with the fewest URLs go, and it remembers the largest count that any of
//! them could have had. An origin that comes (back) later may have had that many URLs before, and
//! says so: its count lies between what was counted since and that with the rest added. An origin
//! with more URLs than the remembered count is never lost (the idea is that of lossy counting: Manku
//! and Motwani, 2002).
//!
//! What is forgotten depends on the order, so the table is filled in the order of the input; each
//! chunk counts by itself before, see [`OriginCounts`].

use std::cmp::Reverse;
use std::hash::BuildHasher;

use hashbrown::HashTable;

use super::model::{List, UnknownFigures, UnknownRow};
use crate::set::survey::largest;

/// Origins and how often each occurs, in the order in which they came first.
#[derive(Debug, Default)]
pub(super) struct OriginCounts {
    table: HashTable<u32>,
    items: Vec<Item>,
    bytes: Vec<u8>,
    hasher: foldhash::fast::RandomState,
}

#[derive(Clone, Copy, Debug)]
struct Item {
    start: usize,
    bytes: u32,
    count: u64,
    /// What may have been counted before it was forgotten.
    forgotten: u64,
}

impl Item {
    fn origin<'o>(&self, bytes: &'o [u8]) -> &'o [u8] {
        &bytes[self.start..][..self.bytes as usize]
    }

    fn count_max(&self) -> u64 {
        self.count + self.forgotten
    }
}

impl OriginCounts {
    /// Forgets everything, and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.table.clear();
        self.items.clear();
        self.bytes.clear();
    }

    /// Counts `origin` so often more. If it is new, so many may have been forgotten before.
    pub(super) fn add(&mut self, origin: &[u8], count: u64, forgotten: u64) {
        let OriginCounts { table, items, bytes, hasher } = self;
        let hash = hasher.hash_one(origin);
        let same = |&number: &u32| items[number as usize].origin(bytes) == origin;
        if let Some(&number) = table.find(hash, same) {
            items[number as usize].count += count;
            return;
        }
        let item = Item { start: bytes.len(), bytes: origin.len() as u32, count, forgotten };
        bytes.extend_from_slice(origin);
        items.push(item);
        table.insert_unique(hash, items.len() as u32 - 1, |&number| {
            hasher.hash_one(items[number as usize].origin(bytes))
        });
    }

    fn iter(&self) -> impl Iterator<Item = (&[u8], Item)> {
        self.items.iter().map(|item| (item.origin(&self.bytes), *item))
    }
}

/// The origins of a whole list, as far as they fit.
#[derive(Debug)]
pub(super) struct UnknownOrigins {
    kept_max: usize,
    counts: OriginCounts,
    urls: u64,
    /// No origin that is not in the table has had more URLs than this.
    forgotten_max: u64,
    /// How many times an origin was forgotten.
    pub forgotten_origins: u64,
    /// The most that were there at once.
    origins_seen: u64,
}

impl UnknownOrigins {
    /// A table that keeps so many origins.
    pub(super) fn new(kept_max: usize) -> UnknownOrigins {
        UnknownOrigins {
            kept_max,
            counts: OriginCounts::default(),
            urls: 0,
            forgotten_max: 0,
            forgotten_origins: 0,
            origins_seen: 0,
        }
    }

    /// Adds what a chunk counted. Chunks have to come in the order of the input.
    pub(super) fn add(&mut self, counts: &OriginCounts) {
        for (origin, item) in counts.iter() {
            self.urls += item.count;
            self.counts.add(origin, item.count, self.forgotten_max);
            if self.counts.items.len() >= self.kept_max.saturating_mul(2) {
                self.forget();
            }
        }
        self.origins_seen = self.origins_seen.max(self.counts.items.len() as u64);
    }

    /// Keeps as many origins as are allowed, those that may have the most URLs.
    fn forget(&mut self) {
        self.origins_seen = self.origins_seen.max(self.counts.items.len() as u64);
        let before = std::mem::take(&mut self.counts);
        let mut order: Vec<usize> = (0..before.items.len()).collect();
        order.sort_by_key(|&index| Reverse(before.items[index].count_max()));
        let (kept, lost) = order.split_at_mut(self.kept_max.min(before.items.len()));
        let most_lost = lost.iter().map(|&index| before.items[index].count_max()).max();
        self.forgotten_max = self.forgotten_max.max(most_lost.unwrap_or(0));
        self.forgotten_origins += lost.len() as u64;
        // In the order in which they came, on which the next choice among equals depends.
        kept.sort_unstable();
        for &index in kept.iter() {
            let item = before.items[index];
            self.counts.add(item.origin(&before.bytes), item.count, item.forgotten);
        }
    }

    /// The figures, and the `top` origins with the most URLs.
    pub(super) fn figures(&self, top: usize) -> UnknownFigures {
        let rows = largest(self.counts.iter(), top, |(origin, item)| {
            (item.count_max(), Reverse(origin.to_vec()))
        });
        let row = |(origin, item): (&[u8], Item)| UnknownRow {
            origin: String::from_utf8_lossy(origin).into_owned(),
            urls: item.count_max(),
            urls_min: item.count,
        };
        let total = self.counts.items.len() as u64;
        UnknownFigures {
            urls: self.urls,
            origins: self.origins_seen,
            exact: self.forgotten_origins == 0,
            worth_fetching: List { total, rows: rows.into_iter().map(row).collect() },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a table of `kept_max` says of a list that is cut into chunks of so many.
    fn figures(list: &[&str], kept_max: usize, chunk: usize) -> UnknownFigures {
        let mut origins = UnknownOrigins::new(kept_max);
        for part in list.chunks(chunk) {
            let mut counts = OriginCounts::default();
            part.iter().for_each(|origin| counts.add(origin.as_bytes(), 1, 0));
            origins.add(&counts);
        }
        origins.figures(10)
    }

    fn rows(figures: &UnknownFigures) -> Vec<(&str, u64, u64)> {
        let rows = &figures.worth_fetching.rows;
        rows.iter().map(|row| (row.origin.as_str(), row.urls, row.urls_min)).collect()
    }

    #[test]
    fn a_table_with_room_is_exact() {
        for chunk in [1, 2, 100] {
            let found = figures(&["a", "b", "a", "c", "b", "a"], 4, chunk);
            assert_eq!(rows(&found), [("a", 3, 3), ("b", 2, 2), ("c", 1, 1)]);
            assert_eq!((found.urls, found.origins, found.exact), (6, 3, true));
        }
    }

    #[test]
    fn a_full_table_gives_bounds() {
        // With room for two, the fourth origin has the two least forgotten.
        let found = figures(&["a", "a", "a", "b", "b", "c", "d", "c", "c", "a"], 2, 1);
        assert_eq!(rows(&found), [("a", 4, 4), ("c", 3, 2), ("b", 2, 2)]);
        assert_eq!((found.urls, found.origins, found.exact), (10, 4, false));
    }

    #[test]
    fn the_truth_is_between_the_bounds() {
        let names: Vec<String> = (0..40).map(|number| number.to_string()).collect();
        // Frequent and rare ones, mixed up without chance.
        let list: Vec<&str> = (0..4_000_usize)
            .map(|place| names[(place * place + place / 7) % (1 + place % 40)].as_str())
            .collect();
        for kept_max in [1, 3, 8, 50] {
            let found = figures(&list, kept_max, 37);
            assert_eq!(found.exact, kept_max >= 40);
            for (origin, most, least) in rows(&found) {
                let truth = list.iter().filter(|other| **other == origin).count() as u64;
                assert!(least <= truth && truth <= most, "{origin}: {least} {truth} {most}");
            }
        }
    }
}
