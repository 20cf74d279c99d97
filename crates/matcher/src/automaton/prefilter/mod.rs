//! A prefilter that rejects most paths without running the automaton.
//!
//! 98 % of URLs on popular sites match no rule or only `/`. A prefilter tests what every other
//! pattern requires, for all patterns at once: a *prefix* of the path, or a *required literal*
//! behind a star. Each stage is more expensive and runs only if the one before found something:
//!
//! 1. The [first probe](FirstProbe) looks up the first three bytes of the path in a Bloom filter.
//! 2. [`probe_prefixes`] and [`probe_literals`] look up at most sixteen bytes in a [Bloom
//!    filter](bloom). Candidate positions of literals are [byte pairs](teddy), found as by
//!    Hyperscan's Teddy.
//! 3. [`try_candidates`] looks up the patterns in an [index] and matches them one by one.
//!
//! If nothing is found, the outcome is known. With too many candidates, the caller runs the
//! automaton. Only paths that start with `/`, as those of URLs do, are decided.
//!
//! A prefilter is stored in *lines* of 64 bytes, the size of a cache line:
//!
//! | lines | contents |
//! |---|---|
//! | 1, more if there are many prefixes | the head; the Bloom filter of the first probe |
//! | up to 2 | byte pairs of literals required alone, and of those [required with a prefix](required) |
//! | the rest | the Bloom filter of prefixes and literals; the index |
//!
//! Each stage is a function, so a caller can run it for a block of questions before the next.
//! Memory: twelve bytes per pattern, at least one line. A prefilter from a file may be damaged; one
//! that points beyond its lines decides nothing.

mod bloom;
mod candidates;
mod index;
mod probe;
mod required;
mod teddy;
#[cfg(test)]
mod tests;
#[cfg(target_arch = "x86_64")]
mod x86;

use zerocopy::little_endian::{U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use crate::pattern::PatternList;

use super::Outcome;
use required::Required;

pub use candidates::{
    Found, PatternText, PatternTexts, Patterns, push_text, table_word, text_units, try_candidates,
};
pub use probe::{FirstProbe, FirstProbes, Probe, probe_literals, probe_prefixes};

/// A line of a prefilter.
pub type PrefilterLine = [U64; LINE_WORDS];

const LINE_WORDS: usize = 8;

/// The start of a prefilter.
#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
struct Head {
    /// The outcome of a path in which no probe finds anything.
    otherwise: U32,
    /// The mask of the bytes that the first probe tests.
    first_mask: U32,
    /// The levels of prefixes, one bit each; see [`bloom::LEVELS`].
    prefix_levels: u8,
    /// The levels of literals; 0 if no pattern requires a literal alone.
    literal_levels: u8,
    /// The levels of prefixes that are required alone.
    alone_levels: u8,
    /// The levels of prefixes that are required together with a literal.
    both_levels: u8,
    /// The lines of the head and the first probe's filter.
    first_lines: U32,
    /// The words of the filter of prefixes and literals.
    filter_words: U32,
    /// The number of entries of the index and, in the highest bits, its seed.
    entries: U32,
}

/// The position of the seed in [`Head::entries`].
const SEED_SHIFT: u32 = 24;
const _: () =
    assert!(index::PLACES_MAX < 1 << SEED_SHIFT && index::SEEDS_MAX <= 1 << (32 - SEED_SHIFT));

const HEAD_WORDS: usize = size_of::<Head>() / size_of::<U64>();

impl Head {
    /// Returns the lines from `at` on and the head there; `None` if `at` is out of bounds.
    #[inline]
    fn at(lines: &[PrefilterLine], at: usize) -> Option<(&[PrefilterLine], &Head)> {
        let lines = lines.get(at..)?;
        let (head, _) = Head::ref_from_prefix(lines.as_bytes()).ok()?;
        Some((lines, head))
    }

    fn has_probes(&self) -> bool {
        self.prefix_levels | self.literal_levels != 0
    }

    /// Returns the byte pairs of literals that are required alone.
    #[inline]
    fn pairs<'l>(&self, lines: &'l [PrefilterLine]) -> Option<&'l PrefilterLine> {
        lines.get(self.first_lines.get() as usize)
    }

    /// Returns the byte pairs of literals that are required together with a prefix.
    #[inline]
    fn pairs_of_both<'l>(&self, lines: &'l [PrefilterLine]) -> Option<&'l PrefilterLine> {
        lines.get(self.first_lines.get() as usize + usize::from(self.literal_levels != 0))
    }

    #[inline]
    fn entries(&self) -> usize {
        (self.entries.get() & ((1 << SEED_SHIFT) - 1)) as usize
    }

    #[inline]
    fn seed(&self) -> u32 {
        self.entries.get() >> SEED_SHIFT
    }

    /// Returns the first word of the filter of prefixes and literals.
    #[inline]
    fn filter_start(&self) -> usize {
        let pair_lines = usize::from(self.literal_levels != 0) + usize::from(self.both_levels != 0);
        (self.first_lines.get() as usize + pair_lines) * LINE_WORDS
    }

    #[inline]
    fn filter_words(&self) -> usize {
        self.filter_words.get() as usize
    }

    /// Returns the filter of prefixes and literals.
    #[inline]
    fn filter<'l>(&self, lines: &'l [PrefilterLine]) -> Option<&'l [U64]> {
        lines.as_flattened().get(self.filter_start()..)?.get(..self.filter_words())
    }
}

/// Returns whether the prefilter at `at` has nothing to probe; `None` if there is no prefilter.
pub fn is_constant(lines: &[PrefilterLine], at: usize) -> Option<bool> {
    Head::at(lines, at).map(|(_, head)| !head.has_probes())
}

/// Bytes that the first probe tests at most: fewer reject fewer paths, more cost more.
const FIRST_BYTES_MAX: u8 = 3;

/// Builds the prefilter of patterns in order of precedence.
///
/// # Panics
///
/// If the numbers of patterns and outcomes differ.
pub fn build_prefilter(patterns: &PatternList, outcomes: &[Outcome]) -> Vec<PrefilterLine> {
    assert_eq!(patterns.len(), outcomes.len(), "one outcome for each pattern");
    let Required { prefixes, literals, pairs, both, prefixes_of_both, all } =
        Required::of(patterns, outcomes);
    let all_prefixes =
        || prefixes.iter().map(|(_, prefix)| *prefix).chain(prefixes_of_both.iter().copied());
    let count = prefixes.len() + literals.len() + both.len();
    // More patterns than the index can number have no index, and the automaton decides.
    let entries = if patterns.len() > index::PLACES_MAX { 0 } else { count };
    let first_words = bloom::words_for(all_prefixes().count());
    let first_lines = (HEAD_WORDS + first_words).div_ceil(LINE_WORDS);
    let pair_lists = [pairs, both.iter().map(|it| it.pair).collect()];
    let pair_lists = pair_lists.into_iter().filter(|pairs| !pairs.is_empty());
    let pair_lines: Vec<PrefilterLine> = pair_lists.map(teddy::line_of).collect();
    let filter_words = bloom::words_for(count + prefixes_of_both.len());
    let index_words = index::words_for(entries);
    let rest = (filter_words + index_words.div_ceil(2)).div_ceil(LINE_WORDS);
    let mut lines = vec![PrefilterLine::default(); first_lines + pair_lines.len() + rest];
    let (first, rest) = lines.split_at_mut(first_lines);
    let (room, rest) = rest.split_at_mut(pair_lines.len());
    room.copy_from_slice(&pair_lines);
    let (filter, rest) = rest.as_flattened_mut().split_at_mut(filter_words);
    let rest = <[U32]>::mut_from_bytes(rest.as_mut_bytes()).expect("a U64 is two U32");
    let (index, _) = rest.split_at_mut(index_words);

    let (head, first) = first.as_flattened_mut().split_at_mut(HEAD_WORDS);
    let first_mask = bloom::mask_of_shortest(all_prefixes(), FIRST_BYTES_MAX);
    all_prefixes().for_each(|prefix| bloom::insert(first, prefix.masked(first_mask)));
    let (mut alone_levels, mut literal_levels, mut both_levels) = (0, 0, 0);
    let mut strings: Vec<index::Entry> = Vec::with_capacity(count);
    for (required, levels) in [(&prefixes, &mut alone_levels), (&literals, &mut literal_levels)] {
        strings.extend(required.iter().map(|(place, key)| {
            let (level, string) = key.cut();
            *levels |= level;
            (string, *place)
        }));
    }
    strings.extend(both.iter().map(|it| (it.string, it.place)));
    strings.iter().for_each(|&(string, _)| bloom::insert(filter, string));
    for prefix in &prefixes_of_both {
        let (level, string) = prefix.cut();
        both_levels |= level;
        bloom::insert(filter, string);
    }
    let seed = index::fill(&strings[..entries], index);
    let number = |number: usize| U32::new(u32::try_from(number).expect("below 2^32 words"));
    let written = Head {
        otherwise: U32::new(all.unwrap_or(Outcome::NONE).0),
        first_mask: U32::new(first_mask as u32),
        prefix_levels: alone_levels | both_levels,
        literal_levels,
        alone_levels,
        both_levels,
        first_lines: number(first_lines),
        filter_words: number(filter_words),
        entries: U32::new(entries as u32 | seed << SEED_SHIFT),
    };
    head.as_mut_bytes().copy_from_slice(written.as_bytes());
    lines
}
