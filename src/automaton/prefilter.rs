//! Which patterns can match a path at all, by the literals that they need.
//!
//! A pattern matches only if each of its literals occurs, so one search for the longest literal of
//! every pattern at once, by aho-corasick, leaves few to try. It earns its place only for large rule
//! sets that are scanned again and again: [`scan`](super::scan) alone is the better answer for a
//! few paths, because building this costs more than many scans.
//!
//! Memory: some octets for each octet of the literals; a set with more than
//! [`PREFILTER_LITERAL_OCTETS_MAX`] of them has no prefilter. Cost of a path: its octets, and the
//! literals that occur in it.

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use crate::limits::PREFILTER_LITERAL_OCTETS_MAX;
use crate::pattern::{PathPattern, PatternList};

/// A shorter literal occurs nearly everywhere, so looking for it tells nothing.
const LITERAL_OCTETS_MIN: usize = 2;

/// Occurrences that are looked at, for each pattern, before it is cheaper to try all.
const FOUND_PER_PATTERN_MAX: usize = 8;

/// The literals of a rule set, and which patterns need which.
#[derive(Debug)]
pub(super) struct Prefilter {
    literals: AhoCorasick,
    /// By literal: where its patterns start in `patterns`; one more than there are literals.
    starts: Vec<u32>,
    /// By literal: the patterns that need it.
    patterns: Vec<u32>,
    /// The patterns that need none that is long enough.
    always: Vec<u64>,
}

/// The patterns that are left for a path, one bit each.
pub(super) type Candidates = Vec<u64>;

impl Prefilter {
    /// The prefilter of `patterns`, unless their literals are too many.
    pub(super) fn new(patterns: &PatternList) -> Option<Prefilter> {
        let mut needed: Vec<(&[u8], u32)> = Vec::new();
        let mut always = vec![0_u64; patterns.len().div_ceil(64)];
        for (pattern, index) in patterns.iter().zip(0_u32..) {
            let literal = longest_literal(&pattern);
            if literal.len() < LITERAL_OCTETS_MIN {
                set(&mut always, index);
            } else {
                needed.push((literal, index));
            }
        }
        needed.sort_unstable();
        let groups = || needed.chunk_by(|one, other| one.0 == other.0);
        let octets: usize = groups().map(|group| group[0].0.len()).sum();
        if octets > PREFILTER_LITERAL_OCTETS_MAX {
            return None;
        }
        let literals = AhoCorasick::builder()
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .match_kind(MatchKind::Standard)
            .build(groups().map(|group| group[0].0))
            .ok()?;
        let mut starts = vec![0];
        starts.extend(groups().scan(0, |start, group| {
            *start += group.len() as u32;
            Some(*start)
        }));
        let patterns = needed.iter().map(|&(_, index)| index).collect();
        Some(Prefilter { literals, starts, patterns, always })
    }

    /// Octets of memory that this holds.
    pub(super) fn memory_octets(&self) -> usize {
        self.literals.memory_usage()
            + size_of_val(&*self.starts)
            + size_of_val(&*self.patterns)
            + size_of_val(&*self.always)
    }

    /// Writes the patterns that `path` may match to `candidates`. Returns false if so many literals
    /// occur, one inside the other, that trying all patterns is the lesser work.
    pub(super) fn candidates(&self, path: &[u8], candidates: &mut Candidates) -> bool {
        candidates.clone_from(&self.always);
        let found_max = path.len() + FOUND_PER_PATTERN_MAX * self.patterns.len();
        for (count, found) in self.literals.find_overlapping_iter(path).enumerate() {
            if count >= found_max {
                return false;
            }
            let literal = found.pattern().as_usize();
            let range = self.starts[literal] as usize..self.starts[literal + 1] as usize;
            // All patterns of a literal are set together, so the first one tells whether they are.
            if !is_set(candidates, self.patterns[range.start]) {
                self.patterns[range].iter().for_each(|&pattern| set(candidates, pattern));
            }
        }
        true
    }
}

/// The positions of the bits that are set, ascending.
pub(super) fn positions(candidates: &Candidates) -> impl Iterator<Item = usize> {
    candidates.iter().enumerate().flat_map(|(word, &bits)| {
        let rest = std::iter::successors(Some(bits), |&bits| Some(bits & bits.wrapping_sub(1)));
        let rest = rest.take_while(|&bits| bits != 0);
        rest.map(move |bits| word * 64 + bits.trailing_zeros() as usize)
    })
}

fn longest_literal<'l>(pattern: &PathPattern<'l>) -> &'l [u8] {
    pattern.literals().max_by_key(|literal| literal.len()).unwrap_or_default()
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
        assert!(Prefilter::new(&patterns).unwrap().candidates(path, &mut candidates));
        positions(&candidates).collect()
    }

    #[test]
    fn what_cannot_match_is_left_out() {
        let texts: [&[u8]; 6] = [b"/*abc", b"/*x*abc", b"/*bc*yy", b"/", b"/*q", b"/*abcd"];
        assert_eq!(candidates(&texts, b"/abc"), [0, 1, 3, 4]);
        assert_eq!(candidates(&texts, b"/abcyy"), [0, 1, 2, 3, 4]);
        assert_eq!(candidates(&texts, b"/"), [3, 4]);
    }

    #[test]
    fn literals_within_literals_are_given_up() {
        let mut patterns = PatternList::new();
        (2..40).for_each(|length| patterns.push(&[b"/*", &b"a".repeat(length)[..]].concat(), true));
        let prefilter = Prefilter::new(&patterns).unwrap();
        assert!(prefilter.candidates(b"/aaaa", &mut Candidates::new()));
        assert!(!prefilter.candidates(&b"a".repeat(2_000), &mut Candidates::new()));
    }

    #[test]
    fn positions_are_those_of_the_bits() {
        let candidates: Candidates = vec![0b101, 0, 1 << 63];
        assert_eq!(positions(&candidates).collect::<Vec<_>>(), [0, 2, 191]);
    }
}
