//! A prefilter that names the patterns which may match a path, by one window of bytes for each.
//!
//! A pattern matches only if every window of its literals occurs in the path. Each pattern is filed
//! under one of its windows, the one that the fewest patterns share, and one pass over the path finds
//! the windows that occur. Use it for a rule set whose automaton has spent its budget; before that,
//! the automaton itself is faster.
//!
//! Cost: building is linear in the bytes of the patterns, asking in the bytes of the path and the
//! patterns found. Memory: some 20 bytes for each pattern.

use std::hash::BuildHasher;
use std::ops::Range;

use hashbrown::{HashMap, HashSet};

use crate::pattern::{PathPattern, PatternList};

/// Bytes of a window. A literal has windows of the larger kind if it is long enough; a literal that
/// is shorter than both occurs nearly everywhere and has none.
const WINDOW_BYTES: [usize; 2] = [4, 2];

/// Counters of windows; windows whose hashes are equal share one.
const COUNTERS: usize = 1 << 16;

/// The patterns of a rule set by a window that each needs. Equal patterns are filed once, because the
/// first one decides.
#[derive(Debug)]
pub(super) struct Prefilter {
    /// By window: where its patterns are in `patterns`.
    ranges: HashMap<u32, Range<u32>, foldhash::fast::RandomState>,
    patterns: Vec<u32>,
    /// The patterns without a window.
    always: Vec<u64>,
}

/// The patterns that are left for a path, one bit each.
pub(super) type Candidates = Vec<u64>;

impl Prefilter {
    pub(super) fn new(patterns: &PatternList) -> Prefilter {
        let hasher = foldhash::fast::RandomState::default();
        let counter = |window: u32| hasher.hash_one(window) as usize % COUNTERS;
        let mut counts = vec![0_u32; COUNTERS];
        for pattern in patterns.iter() {
            windows(&pattern).for_each(|window| counts[counter(window)] += 1);
        }
        let mut needed: Vec<(u32, u32)> = Vec::new();
        let mut always = vec![0; patterns.len().div_ceil(64)];
        let mut known: HashSet<Vec<u8>, foldhash::fast::RandomState> = HashSet::default();
        for (pattern, index) in patterns.iter().zip(0_u32..) {
            let mut identity = Vec::new();
            pattern.write_identity(&mut identity);
            if !known.insert(identity) {
                continue;
            }
            match windows(&pattern).min_by_key(|&window| counts[counter(window)]) {
                Some(window) => needed.push((window, index)),
                None => set(&mut always, index),
            }
        }
        needed.sort_unstable();
        let mut start = 0;
        let range = |same: &[(u32, u32)]| {
            let range = start..start + same.len() as u32;
            start = range.end;
            (same[0].0, range)
        };
        let ranges = needed.chunk_by(|one, other| one.0 == other.0).map(range).collect();
        let patterns = needed.iter().map(|&(_, index)| index).collect();
        Prefilter { ranges, patterns, always }
    }

    /// Bytes of memory that this holds.
    pub(super) fn memory_octets(&self) -> usize {
        self.ranges.allocation_size() + size_of_val(&*self.patterns) + size_of_val(&*self.always)
    }

    /// Writes the patterns that `path` may match to `candidates`.
    pub(super) fn candidates(&self, path: &[u8], candidates: &mut Candidates) {
        candidates.clone_from(&self.always);
        let mut last = 0;
        for &byte in path {
            last = last << 8 | u32::from(byte);
            for window in WINDOW_BYTES.map(|bytes| last & u32::MAX >> (32 - 8 * bytes)) {
                let Some(range) = self.ranges.get(&window) else { continue };
                let patterns = &self.patterns[range.start as usize..range.end as usize];
                // All patterns of a window are set together, so the first one tells whether they are.
                if !is_set(candidates, patterns[0]) {
                    patterns.iter().for_each(|&pattern| set(candidates, pattern));
                }
            }
        }
    }
}

/// The windows of a pattern's literals, each as a number. A short window may have a long one's number,
/// and then a pattern is tried in vain.
fn windows(pattern: &PathPattern<'_>) -> impl Iterator<Item = u32> {
    pattern.literals().flat_map(|literal| {
        let bytes = WINDOW_BYTES.into_iter().find(|&bytes| bytes <= literal.len());
        let windows = bytes.map(|bytes| literal.windows(bytes));
        windows.into_iter().flatten().map(number)
    })
}

fn number(window: &[u8]) -> u32 {
    window.iter().fold(0, |number, &byte| number << 8 | u32::from(byte))
}

/// The positions of the bits that are set, ascending.
pub(super) fn positions(candidates: &Candidates) -> impl Iterator<Item = usize> {
    candidates.iter().enumerate().flat_map(|(word, &bits)| {
        let rest = std::iter::successors(Some(bits), |&bits| Some(bits & bits.wrapping_sub(1)));
        let rest = rest.take_while(|&bits| bits != 0);
        rest.map(move |bits| word * 64 + bits.trailing_zeros() as usize)
    })
}

fn set(bits: &mut [u64], index: u32) {
    bits[index as usize / 64] |= 1 << (index % 64);
}

fn is_set(bits: &[u64], index: u32) -> bool {
    bits[index as usize / 64] & 1 << (index % 64) != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidates(texts: &[&[u8]], path: &[u8]) -> Vec<usize> {
        let mut patterns = PatternList::new();
        texts.iter().for_each(|text| patterns.push(text, true));
        let mut candidates = Candidates::new();
        Prefilter::new(&patterns).candidates(path, &mut candidates);
        positions(&candidates).collect()
    }

    #[test]
    fn what_cannot_match_is_left_out() {
        let texts: [&[u8]; 6] = [b"/*abc", b"/*x*abcd", b"/*yy*xyz", b"/", b"/*q", b"/*abcde"];
        assert_eq!(candidates(&texts, b"/abc"), [0, 3, 4]);
        assert_eq!(candidates(&texts, b"/x/abcd"), [0, 1, 3, 4]);
        assert_eq!(candidates(&texts, b"/yy/xy"), [2, 3, 4]);
        assert_eq!(candidates(&texts, b"/"), [3, 4]);
        assert_eq!(candidates(&texts, b""), [3, 4]);
    }

    #[test]
    fn a_pattern_is_filed_under_what_few_share() {
        let texts: [&[u8]; 3] = [b"/*shared-first", b"/*shared-*second", b"/*others*shared-"];
        assert_eq!(candidates(&texts, b"/shared-x"), [0_usize; 0]);
        assert_eq!(candidates(&texts, b"/shared-x/second"), [1]);
        assert_eq!(candidates(&texts, b"/others/shared-first"), [0, 2]);
    }

    #[test]
    fn equal_patterns_are_tried_once() {
        let texts: [&[u8]; 5] = [b"/*ab", b"/*ab", b"/a*b", b"/*ab$", b"/**ab"];
        assert_eq!(candidates(&texts, b"/ab"), [0, 2, 3]);
    }

    #[test]
    fn positions_are_those_of_the_bits() {
        let candidates: Candidates = vec![0b101, 0, 1 << 63];
        assert_eq!(positions(&candidates).collect::<Vec<_>>(), [0, 2, 191]);
    }
}
