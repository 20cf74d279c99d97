//! A glance that tells of most paths that no pattern matches them, beside one that matches all.
//!
//! Of a hundred URLs of popular sites ninety-eight are decided by no rule or by `/`. A walk finds that
//! out byte by byte. A *prefilter* asks what every other pattern needs, for all at once: that the path
//! begins with one of some prefixes, or that a stretch behind a star stands in it. The *first look* is at a
//! prefix's three bytes, or at a stretch's [two](pairs); where those are found, a second one is at up to
//! sixteen, in a [filter] of them all. If nothing is found, the answer is known; if something is, an
//! [index] tells the few patterns whose strings were found, and those are [tried](candidates)
//! one by one. Where too many have to be tried, a walk is made. It speaks of paths that begin with `/`,
//! as those of URLs do.
//!
//! A prefilter is made of *lines* as large as those of a processor's caches, so that a look at a rule set that
//! nobody has asked for a while costs an access or two to memory, which need not wait for one another:
//!
//! | lines | |
//! |---|---|
//! | 1, or more if there are many prefixes | the [head](Head); the beginnings of prefixes |
//! | 1 if there are stretches behind stars | the pairs that those begin with |
//! | 1 if patterns need [both](needs) | the pairs that their stretches begin with |
//! | as many as it takes | the filter of prefixes and stretches, the index of patterns |
//!
//! Each look is a function of its own, so that many questions can take one step before any takes the next;
//! first looks are made at [eight](looks) paths at once.
//! Memory: some twelve bytes for a pattern, at least a line for a rule set. A prefilter may come
//! from a file that anybody wrote: one that points beyond its lines answers nothing.

mod candidates;
mod filter;
mod index;
mod needs;
mod pairs;
mod probe;
#[cfg(target_arch = "x86_64")]
mod x86;

use zerocopy::little_endian::{U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use super::Outcome;
use super::chunk::bytes_from;
use crate::pattern::PatternList;
use needs::Needs;

pub use candidates::{
    Found, PatternTexts, Patterns, push_text, table_word, text_words, try_candidates,
};
pub use probe::{FirstProbes, Probe};

/// A line of a prefilter.
pub type PrefilterLine = [U64; LINE_WORDS];

/// Words of a line.
const LINE_WORDS: usize = 8;

/// What a prefilter begins with.
#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
struct Head {
    /// What a path means in which nothing is found.
    otherwise: U32,
    /// The bits of a path's bytes behind the first that beginnings of prefixes have.
    beginning_kept: U32,
    /// The lengths to which prefixes are cut, a bit for each.
    prefix_levels: u8,
    /// The lengths to which stretches are cut; 0 if there are none.
    stretch_levels: u8,
    /// Those to which prefixes are cut that some pattern needs alone, and that some needs beside a stretch.
    alone_levels: u8,
    both_levels: u8,
    beginning_lines: U32,
    /// Words of the filter.
    filter_words: U32,
    /// Patterns that the index has, and in the highest bits its seed.
    entries: U32,
}

/// Bits of a head's number of entries; those above are the seed.
const SEED_SHIFT: u32 = 24;
const _: () =
    assert!(index::PLACES_MAX < 1 << SEED_SHIFT && index::SEEDS_MAX <= 1 << (32 - SEED_SHIFT));

/// Words of a head.
const HEAD_WORDS: usize = size_of::<Head>() / size_of::<U64>();

/// The first look of a prefilter.
#[derive(Clone, Copy)]
pub struct FirstProbe<'l> {
    /// What a path means if no look finds anything.
    pub otherwise: Outcome,
    /// Whether to look for [stretches](probe_literals) too.
    pub has_literals: bool,
    beginnings: &'l [U64],
    kept: u64,
}

impl<'l> FirstProbe<'l> {
    /// That of the prefilter that stands at `at`; nothing if there is none.
    #[inline]
    pub fn of(lines: &'l [PrefilterLine], at: usize) -> Option<FirstProbe<'l>> {
        let line = lines.get(at)?;
        let (head, beginnings) = Head::ref_from_prefix(line.as_bytes()).ok()?;
        let beginnings = match head.beginning_lines.get() {
            1 => <[U64]>::ref_from_bytes(beginnings).ok()?,
            count => lines.get(at..)?.get(..count as usize)?.as_flattened().get(HEAD_WORDS..)?,
        };
        let otherwise = Outcome(head.otherwise.get());
        let (has_literals, kept) = (head.stretch_levels != 0, head.beginning_kept.get().into());
        otherwise.is_sound().then_some(FirstProbe { otherwise, has_literals, beginnings, kept })
    }

    /// Whether to look at [prefixes](probe_prefixes); nothing if the prefilter cannot speak of `path`.
    #[inline]
    pub fn probe_prefixes(&self, path: &[u8]) -> Option<bool> {
        let bytes = match path.first_chunk() {
            Some(chunk) => u64::from_le_bytes(*chunk),
            None => bytes_from(path, 0),
        };
        match bytes as u8 {
            b'/' => filter::has(self.beginnings, bytes >> 8 & self.kept),
            _ => None,
        }
    }

    /// The same of eight paths.
    #[inline(always)]
    pub fn probe_eight(&self, paths: &[&[u8]; 8], probe: impl Probe) -> FirstProbes {
        probe.look_of_one_at_eight(self, paths)
    }
}

/// At which of the lengths to which prefixes are cut `path` begins with one; none if it begins with none.
/// A prefilter that cannot tell says all.
#[inline(always)]
pub fn probe_prefixes(lines: &[PrefilterLine], at: usize, path: &[u8], probe: impl Probe) -> u8 {
    let look = || {
        let (sieve, head) = head_of(lines, at)?;
        probe.levels_of(head.filter(sieve)?, path.get(1..)?, head.prefix_levels)
    };
    look().unwrap_or(u8::MAX)
}

/// Whether a stretch stands in `path`: a pair of the prefilter, which begins a string that its filter may have at
/// one of the levels of stretches. A prefilter that cannot tell says so too.
#[inline(always)]
pub fn probe_literals(lines: &[PrefilterLine], at: usize, path: &[u8], probe: impl Probe) -> bool {
    let look = || {
        let (sieve, head) = head_of(lines, at)?;
        let pairs = head.pairs(sieve)?;
        let filter = head.filter(sieve)?;
        let may_have = |place: usize| {
            let text = path.get(place..).unwrap_or_default();
            probe.levels_of(filter, text, head.stretch_levels) != Some(0)
        };
        (!filter.is_empty()).then(|| pairs::stand(pairs, path, probe, may_have))
    };
    look() != Some(false)
}

/// Whether the prefilter that stands at `at` has nothing to look for; nothing if there is none.
pub fn is_constant(lines: &[PrefilterLine], at: usize) -> Option<bool> {
    head_of(lines, at).map(|(_, head)| !head.has_needs())
}

#[inline]
fn head_of(lines: &[PrefilterLine], at: usize) -> Option<(&[PrefilterLine], &Head)> {
    let sieve = lines.get(at..)?;
    let (head, _) = Head::ref_from_prefix(sieve.as_bytes()).ok()?;
    Some((sieve, head))
}

impl Head {
    fn has_needs(&self) -> bool {
        self.prefix_levels | self.stretch_levels != 0
    }

    /// The pairs that stretches begin with.
    #[inline]
    fn pairs<'l>(&self, sieve: &'l [PrefilterLine]) -> Option<&'l PrefilterLine> {
        sieve.get(self.beginning_lines.get() as usize)
    }

    /// The pairs that stretches begin with which are needed beside a prefix.
    #[inline]
    fn pairs_of_both<'l>(&self, sieve: &'l [PrefilterLine]) -> Option<&'l PrefilterLine> {
        let lines = self.beginning_lines.get() as usize + usize::from(self.stretch_levels != 0);
        sieve.get(lines)
    }

    /// Patterns that the index has.
    #[inline]
    fn entries(&self) -> usize {
        (self.entries.get() & ((1 << SEED_SHIFT) - 1)) as usize
    }

    /// What the index is seeded with.
    #[inline]
    fn seed(&self) -> u32 {
        self.entries.get() >> SEED_SHIFT
    }

    /// The word with which the filter of prefixes and stretches begins.
    #[inline]
    fn filter_start(&self) -> usize {
        let pair_lines = usize::from(self.stretch_levels != 0) + usize::from(self.both_levels != 0);
        (self.beginning_lines.get() as usize + pair_lines) * LINE_WORDS
    }

    #[inline]
    fn filter_words(&self) -> usize {
        self.filter_words.get() as usize
    }

    /// The filter of prefixes and stretches.
    #[inline]
    fn filter<'l>(&self, sieve: &'l [PrefilterLine]) -> Option<&'l [U64]> {
        sieve.as_flattened().get(self.filter_start()..)?.get(..self.filter_words())
    }
}

/// Bytes of a prefix that its beginning has at most: fewer let more paths through, more cost more.
const BEGINNING_BYTES_MAX: u8 = 3;

/// The prefilter of patterns in order of precedence.
///
/// # Panics
///
/// If there are not as many outcomes as patterns.
pub fn build_prefilter(patterns: &PatternList, outcomes: &[Outcome]) -> Vec<PrefilterLine> {
    assert_eq!(patterns.len(), outcomes.len(), "one outcome for each pattern");
    let Needs { prefixes, stretches, pairs, both, prefixes_of_both, all } =
        Needs::of(patterns, outcomes);
    let all_prefixes =
        || prefixes.iter().map(|(_, prefix)| *prefix).chain(prefixes_of_both.iter().copied());
    let count = prefixes.len() + stretches.len() + both.len();
    // Where patterns are more than it can tell apart there is no index, and no pattern is tried.
    let entries = if patterns.len() > index::PLACES_MAX { 0 } else { count };
    let beginning_words = filter::words_for(all_prefixes().count());
    let beginning_lines = (HEAD_WORDS + beginning_words).div_ceil(LINE_WORDS);
    let pair_lists = [pairs, both.iter().map(|it| it.pair).collect()];
    let pair_lists = pair_lists.into_iter().filter(|pairs| !pairs.is_empty());
    let pair_lines: Vec<PrefilterLine> = pair_lists.map(pairs::line_of).collect();
    let filter_words = filter::words_for(count + prefixes_of_both.len());
    let index_words = index::words_for(entries);
    let rest = (filter_words + index_words.div_ceil(2)).div_ceil(LINE_WORDS);
    let mut lines = vec![PrefilterLine::default(); beginning_lines + pair_lines.len() + rest];
    let (beginnings, rest) = lines.split_at_mut(beginning_lines);
    let (room, rest) = rest.split_at_mut(pair_lines.len());
    room.copy_from_slice(&pair_lines);
    let (filter, rest) = rest.as_flattened_mut().split_at_mut(filter_words);
    let rest =
        <[U32]>::mut_from_bytes(rest.as_mut_bytes()).expect("a word is two of half its size");
    let (index, _) = rest.split_at_mut(index_words);

    let (head, beginnings) = beginnings.as_flattened_mut().split_at_mut(HEAD_WORDS);
    let kept = filter::kept_of_all(all_prefixes(), BEGINNING_BYTES_MAX);
    filter::fill(all_prefixes(), kept, beginnings);
    let (mut alone_levels, mut stretch_levels, mut both_levels) = (0, 0, 0);
    let mut strings: Vec<index::Entry> = Vec::with_capacity(count);
    for (needs, levels) in [(&prefixes, &mut alone_levels), (&stretches, &mut stretch_levels)] {
        strings.extend(needs.iter().map(|(place, string)| {
            let (level, string) = string.cut();
            *levels |= level;
            (string, *place)
        }));
    }
    strings.extend(both.iter().map(|it| (it.string, it.place)));
    strings.iter().for_each(|&(string, _)| filter::insert(filter, string));
    for prefix in &prefixes_of_both {
        let (level, string) = prefix.cut();
        both_levels |= level;
        filter::insert(filter, string);
    }
    let seed = index::fill(&strings[..entries], index);
    let number = |number: usize| U32::new(u32::try_from(number).expect("a pattern has few bytes"));
    let told = Head {
        otherwise: U32::new(all.unwrap_or(Outcome::NONE).0),
        beginning_kept: U32::new(kept as u32),
        prefix_levels: alone_levels | both_levels,
        stretch_levels,
        alone_levels,
        both_levels,
        beginning_lines: number(beginning_lines),
        filter_words: number(filter_words),
        entries: U32::new(entries as u32 | seed << SEED_SHIFT),
    };
    head.as_mut_bytes().copy_from_slice(told.as_bytes());
    lines
}

#[cfg(test)]
mod tests;
