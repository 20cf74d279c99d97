//! Counts by name: [`Figures`], which have few names, and [`NameCounts`], which counts the URLs of hosts or
//! origins in bounded memory.
//!
//! Of [`NameCounts`], the first names that occur are counted exactly. Once the table is full, URLs of new
//! names are counted together. So the counts in the table are always exact, but a later name with more
//! URLs may be missing. Counts of chunks give the same result for any number of threads if they are
//! merged in the order of the input.

use std::cmp::Reverse;
use std::fmt::{self, Display, Formatter};
use std::hash::BuildHasher;
use std::io::{self, Write};

use foldhash::SharedSeed;
use foldhash::fast::SeedableRandomState;
use hashbrown::HashTable;
use portcullis_text::figures::{counted, grouped, largest};
use portcullis_text::visible::visible;
use serde::{Serialize, Serializer};

/// Adds counts. Pages of memory in which all are 0 are not written, and so not taken.
pub fn add_counts(sums: &mut [u64], counts: &[u64]) {
    let counted = sums.iter_mut().zip(counts).filter(|(_, count)| **count > 0);
    counted.for_each(|(sum, count)| *sum += count);
}

/// Counts or other figures by name, in order. In JSON, an object; as text, a list without zeros.
///
/// ```
/// use portcullis_report::Figures;
///
/// let figures = Figures::of(["a", "bb", ""], |name| name, |name| name.len() as u64);
/// assert_eq!(figures.to_string(), "a 1, bb 2");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Figures<F = u64, N = &'static str>(pub Vec<(N, F)>);

impl<F> Figures<F> {
    /// Returns the figure of each item under its name.
    pub fn of<T: Copy>(
        items: impl IntoIterator<Item = T>,
        name: impl Fn(T) -> &'static str,
        figure: impl Fn(T) -> F,
    ) -> Figures<F> {
        Figures(items.into_iter().map(|item| (name(item), figure(item))).collect())
    }
}

impl<F, N> Figures<F, N> {
    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<N: Copy + PartialEq> Figures<u64, N> {
    /// Adds to the count with this name.
    pub fn add(&mut self, name: N, count: u64) {
        match self.0.iter_mut().find(|(own, _)| *own == name) {
            Some((_, sum)) => *sum += count,
            None => self.0.push((name, count)),
        }
    }

    /// Adds other counts to the counts of the same names.
    pub fn merge(&mut self, other: &Figures<u64, N>) {
        other.0.iter().for_each(|&(name, count)| self.add(name, count));
    }

    /// Counts one more at a place in the order.
    pub fn count(&mut self, place: usize) {
        self.0[place].1 += 1;
    }

    /// Returns the sum of all counts.
    pub fn sum(&self) -> u64 {
        self.0.iter().map(|(_, count)| count).sum()
    }

    /// Returns the count with this name; 0 if there is none.
    pub fn get(&self, name: N) -> u64 {
        self.0.iter().find(|it| it.0 == name).map_or(0, |it| it.1)
    }
}

impl<F: Serialize, N: Serialize> Serialize for Figures<F, N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, figure)| (name, figure)))
    }
}

impl<N: Display> Display for Figures<u64, N> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let mut before = "";
        for (name, figure) in self.0.iter().filter(|(_, figure)| *figure > 0) {
            write!(out, "{before}{name} {}", grouped(*figure))?;
            before = ", ";
        }
        Ok(())
    }
}

/// Hosts or origins, and their URLs.
#[derive(Clone, Debug, Default)]
pub struct NameCounts {
    /// The texts of the names, concatenated in order of first occurrence.
    text: Vec<u8>,
    names: Vec<Name>,
    /// The place of each name in `names`.
    places: HashTable<u32>,
    /// The number of URLs of names that occurred after the table was full.
    uncounted: u64,
}

#[derive(Clone, Copy, Debug)]
struct Name {
    /// The hash of the name. It is the same in the tables of all chunks, so a merge need not hash
    /// the text.
    hash: u64,
    /// The end of the name's text. The text begins at the end of the previous name.
    end: usize,
    urls: u64,
}

impl NameCounts {
    /// Adds `urls` URLs of a name. At most `names_max` names are counted individually.
    pub fn add(&mut self, name: &[u8], urls: u64, names_max: usize) {
        // The seed is drawn once per process, so an attacker cannot choose names that collide.
        let state = SeedableRandomState::with_seed(0, SharedSeed::global_random());
        self.add_hashed(name, state.hash_one(name), urls, names_max);
    }

    fn add_hashed(&mut self, name: &[u8], hash: u64, urls: u64, names_max: usize) {
        let NameCounts { text, names, places, uncounted } = self;
        let is_same = |&place: &u32| {
            let place = place as usize;
            names[place].hash == hash && text_at(text, names, place) == name
        };
        if let Some(&place) = places.find(hash, is_same) {
            names[place as usize].urls += urls;
        } else if names.len() < names_max.min(u32::MAX as usize) {
            text.extend_from_slice(name);
            let hash_of = |&place: &u32| names[place as usize].hash;
            places.insert_unique(hash, names.len() as u32, hash_of);
            names.push(Name { hash, end: text.len(), urls });
        } else {
            *uncounted += urls;
        }
    }

    /// Adds the counts of a later part of the input.
    pub fn merge(&mut self, later: &NameCounts, names_max: usize) {
        for (place, &Name { hash, urls, .. }) in later.names.iter().enumerate() {
            self.add_hashed(text_at(&later.text, &later.names, place), hash, urls, names_max);
        }
        self.uncounted += later.uncounted;
    }

    /// Clears all counts and keeps the memory.
    pub fn clear(&mut self) {
        self.text.clear();
        self.names.clear();
        self.places.clear();
        self.uncounted = 0;
    }

    /// Returns the names that are counted individually, with their URLs, by first occurrence.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], u64)> {
        let text = |place| text_at(&self.text, &self.names, place);
        self.names.iter().enumerate().map(move |(place, name)| (text(place), name.urls))
    }

    /// Returns the number of names that are counted individually.
    pub fn names(&self) -> usize {
        self.names.len()
    }

    /// Returns the `top` individually counted names with the most URLs, the largest first.
    pub fn top(&self, top: usize) -> TopNames {
        let largest = largest(self.iter(), top, |&(name, urls)| (urls, Reverse(name)));
        let largest = largest.into_iter().map(|(name, records)| NameRecords {
            name: String::from_utf8_lossy(name).into_owned(),
            records,
        });
        TopNames {
            names: self.names(),
            records: self.names.iter().map(|name| name.urls).sum::<u64>() + self.uncounted,
            uncounted_records: self.uncounted,
            largest: largest.collect(),
        }
    }
}

/// The names with the most records: hosts or agents.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TopNames {
    /// The number of names that were counted individually.
    pub names: usize,
    /// The number of records of all names.
    pub records: u64,
    /// The number of records of later names, which were counted together. Unless it is 0, `names` is a
    /// lower bound, and a name may be missing in `largest`.
    pub uncounted_records: u64,
    /// The names with the most records.
    pub largest: Vec<NameRecords>,
}

/// A name and its records.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct NameRecords {
    pub name: String,
    pub records: u64,
}

impl TopNames {
    /// Writes hosts without a policy, unless there is none.
    pub(crate) fn write_unknown_hosts(&self, out: &mut impl Write) -> io::Result<()> {
        if self.names == 0 {
            return Ok(());
        }
        let rest = match self.uncounted_records {
            0 => String::new(),
            rest => {
                format!(", and more ({} not counted one by one)", counted(rest, "later record"))
            }
        };
        let hosts = counted(self.names as u64, "host");
        let shown = match self.largest.len() {
            all if all == self.names => String::new(),
            shown => format!("; the {shown} with most"),
        };
        writeln!(out, "URLs of {hosts} without a policy{rest}{shown}:")?;
        for NameRecords { name, records } in &self.largest {
            let name = if name.is_empty() { "(none)" } else { name };
            writeln!(out, "  {} {}", grouped(*records), visible(name))?;
        }
        Ok(())
    }

    /// Writes how many hosts have a policy under the other scheme, unless none has.
    pub(crate) fn write_other_scheme(&self, out: &mut impl Write) -> io::Result<()> {
        if self.names == 0 {
            return Ok(());
        }
        let more = if self.uncounted_records > 0 { " or more" } else { "" };
        let (hosts, have) = (counted(self.names as u64, "host"), has_or_have(self.names));
        writeln!(
            out,
            "of these, {hosts}{more} {have} a policy under the other scheme (http or https); to use it, \
             compile with ‹join_schemes›"
        )
    }
}

fn has_or_have(names: usize) -> &'static str {
    if names == 1 { "has" } else { "have" }
}

/// Returns the name at `place`: the text between the end of the previous name and its own end.
fn text_at<'t>(text: &'t [u8], names: &[Name], place: usize) -> &'t [u8] {
    let start = place.checked_sub(1).map_or(0, |before| names[before].end);
    &text[start..names[place].end]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(names: &[&str], names_max: usize) -> NameCounts {
        let mut counts = NameCounts::default();
        names.iter().for_each(|name| counts.add(name.as_bytes(), 1, names_max));
        counts
    }

    fn largest(counts: &NameCounts, top: usize) -> String {
        let names = counts.top(top).largest.into_iter().map(|it| (it.name, it.records));
        Figures(names.collect()).to_string()
    }

    #[test]
    fn a_full_table_counts_what_it_has_exactly() {
        let counts = counted(&["a", "b", "a", "c", "d", "b", "c", "a"], 2);
        assert_eq!(largest(&counts, 9), "a 3, b 2");
        let top = counts.top(9);
        assert_eq!((top.names, top.records, top.uncounted_records), (2, 8, 3));
    }

    #[test]
    fn parts_in_order_give_what_the_whole_gives() {
        let names = ["c", "a", "b", "a", "d", "b", "e", "a", "d", "d"];
        for names_max in 0..6 {
            let whole = counted(&names, names_max);
            for cut in 0..names.len() {
                let mut sum = counted(&names[..cut], names_max);
                sum.merge(&counted(&names[cut..], usize::MAX), names_max);
                assert_eq!(sum.top(9), whole.top(9), "{names_max} {cut}");
            }
        }
    }

    #[test]
    fn the_largest_first_and_equal_ones_by_name() {
        let counts = counted(&["b", "c", "a", "c", "d"], 9);
        assert_eq!(largest(&counts, 3), "c 2, a 1, b 1");
        assert_eq!(largest(&counts, 0), "");
    }
}
