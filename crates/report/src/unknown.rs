//! Hosts or origins without a policy, counted in bounded memory.
//!
//! The first that occur are counted exactly. Later ones are counted together once the table is full, so the
//! counts in it are never too high or too low, but a later host with more URLs may be missing. Counts of chunks
//! give the same result for any number of threads if they are merged in the order of the input.

use std::cmp::Reverse;

use hashbrown::HashMap;
use portcullis_set::stats::largest;

/// Hosts or origins without a policy, and their URLs.
#[derive(Clone, Debug, Default)]
pub struct Unknown {
    /// By name: the place in the order of first occurrence, and the URLs.
    counts: HashMap<Vec<u8>, (usize, u64), foldhash::fast::RandomState>,
    /// URLs of names that came when the table was full.
    uncounted: u64,
}

impl Unknown {
    /// Counts `urls` of a name, one by one for at most `names_max` names.
    pub fn add(&mut self, name: &[u8], urls: u64, names_max: usize) {
        let place = self.counts.len();
        match self.counts.get_mut(name) {
            Some((_, count)) => *count += urls,
            None if place < names_max => {
                self.counts.insert(name.to_vec(), (place, urls));
            }
            None => self.uncounted += urls,
        }
    }

    /// Adds the counts of a later part of the input.
    pub fn merge(&mut self, later: &Unknown, names_max: usize) {
        let mut names: Vec<_> = later.counts.iter().collect();
        names.sort_unstable_by_key(|(_, (place, _))| *place);
        for (name, (_, urls)) in names {
            self.add(name, *urls, names_max);
        }
        self.uncounted += later.uncounted;
    }

    /// Forgets everything and keeps the memory.
    pub fn clear(&mut self) {
        self.counts.clear();
        self.uncounted = 0;
    }

    /// The number of names that are counted one by one.
    pub fn names(&self) -> usize {
        self.counts.len()
    }

    /// The URLs of all names.
    pub fn urls(&self) -> u64 {
        self.counts.values().map(|(_, urls)| urls).sum::<u64>() + self.uncounted
    }

    /// The URLs of names that came when the table was full.
    pub fn uncounted(&self) -> u64 {
        self.uncounted
    }

    /// The `top` names with the most URLs of those that are counted, the largest first.
    pub fn largest(&self, top: usize) -> Vec<(&[u8], u64)> {
        let counts = self.counts.iter().map(|(name, (_, urls))| (name.as_slice(), *urls));
        largest(counts, top, |&(name, urls)| (urls, Reverse(name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(names: &[&str], names_max: usize) -> Unknown {
        let mut unknown = Unknown::default();
        names.iter().for_each(|name| unknown.add(name.as_bytes(), 1, names_max));
        unknown
    }

    #[test]
    fn a_full_table_counts_what_it_has_exactly() {
        let unknown = counted(&["a", "b", "a", "c", "d", "b", "c", "a"], 2);
        assert_eq!(unknown.largest(9), [(&b"a"[..], 3), (b"b", 2)]);
        assert_eq!((unknown.names(), unknown.urls(), unknown.uncounted()), (2, 8, 3));
    }

    #[test]
    fn parts_in_order_give_what_the_whole_gives() {
        let names = ["c", "a", "b", "a", "d", "b", "e", "a", "d", "d"];
        for names_max in 0..6 {
            let whole = counted(&names, names_max);
            for cut in 0..names.len() {
                let mut sum = counted(&names[..cut], names_max);
                sum.merge(&counted(&names[cut..], usize::MAX), names_max);
                assert_eq!(sum.largest(9), whole.largest(9), "{names_max} {cut}");
                assert_eq!(sum.uncounted(), whole.uncounted());
            }
        }
    }

    #[test]
    fn the_largest_first_and_equal_ones_by_name() {
        let unknown = counted(&["b", "c", "a", "c", "d"], 9);
        assert_eq!(unknown.largest(3), [(&b"c"[..], 2), (b"a", 1), (b"b", 1)]);
        assert_eq!(unknown.largest(0), []);
    }
}
