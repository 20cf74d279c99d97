//! A glance that tells of most paths that no pattern matches them, beside one that matches all.
//!
//! Of a hundred URLs of popular sites ninety-eight are decided by no rule or by `/`. A walk finds that
//! out octet by octet. A *sieve* asks what every other pattern needs, for all at once: that the path
//! begins with one of some prefixes, or that a stretch behind a star stands in it. First it looks at a
//! prefix's three octets, or at a stretch's [two](pairs); where those are found, at sixteen, in a
//! [filter] of them all. If nothing is found, the answer is known; if something is, a
//! closer look is needed: an [index] tells the few patterns whose strings were found, and those are tried
//! one by one. Where too many have to be tried, a walk is made. It speaks of paths that begin with `/`,
//! as those of URLs do.
//!
//! A sieve is made of *lines* as large as those of a processor's caches, so that a look at a rule set that
//! nobody has asked for a while costs an access or two to memory, which need not wait for one another:
//!
//! | lines | |
//! |---|---|
//! | 1, or more if there are many prefixes | the [head](Head); the beginnings of prefixes |
//! | 1 if there are stretches behind stars | the pairs that those begin with |
//! | as many as it takes | the filter of prefixes and stretches |
//! | as many as it takes | the index of patterns |
//!
//! Memory: some twelve octets for a pattern, at least a line for a rule set. A sieve may come from a file that
//! anybody wrote: one that points beyond its lines answers nothing.

mod filter;
mod index;
mod needs;
mod pairs;
#[cfg(target_arch = "x86_64")]
mod x86;

use zerocopy::little_endian::{U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use crate::pattern::PatternList;

use crate::limits::CANDIDATES_TRIED_MAX;

use super::Outcome;
use super::chunk::{first_octets, octets_from};
use super::scan::matches;
use filter::{cuts, may_have, may_have_leveled, may_have_short};
use needs::Needs;

/// A line of a sieve.
pub type SieveLine = [U64; LINE_WORDS];

/// Words of a line.
const LINE_WORDS: usize = 8;

/// Octets of a line.
const LINE_OCTETS: usize = size_of::<SieveLine>();

/// What a sieve begins with.
#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
struct Head {
    /// What a path means in which nothing is found.
    otherwise: U32,
    /// Octets of the beginnings of prefixes.
    beginning_octets: u8,
    /// The lengths to which prefixes are cut, a bit for each.
    prefix_levels: u8,
    /// The lengths to which stretches are cut; 0 if there are none.
    stretch_levels: u8,
    unused: u8,
    beginning_lines: U32,
    string_lines: U32,
    /// Patterns that the index has.
    entries: U32,
    unused_too: U32,
}

/// Words of a head.
const HEAD_WORDS: usize = size_of::<Head>() / size_of::<U64>();

/// The sieve of patterns in order of precedence.
///
/// # Panics
///
/// If there are not as many outcomes as patterns.
pub(crate) fn sieve_of(patterns: &PatternList, outcomes: &[Outcome]) -> Vec<SieveLine> {
    assert_eq!(patterns.len(), outcomes.len(), "one outcome for each pattern");
    let Needs { prefixes, stretches, pairs, all } = Needs::of(patterns);
    let count = prefixes.len() + stretches.len();
    let entries = if patterns.len() > index::PATTERNS_MAX { 0 } else { count };
    let beginning_lines = (HEAD_WORDS + filter::words_for(prefixes.len())).div_ceil(LINE_WORDS);
    let pair_lines = usize::from(!pairs.is_empty());
    let string_lines = filter::words_for(count).div_ceil(LINE_WORDS);
    let index_lines = (index::words_for(entries) * size_of::<U32>()).div_ceil(LINE_OCTETS);
    let all_lines = beginning_lines + pair_lines + string_lines + index_lines;
    let mut lines = vec![SieveLine::default(); all_lines];
    let (beginnings, rest) = lines.split_at_mut(beginning_lines);
    let (pair_line, rest) = rest.split_at_mut(pair_lines);
    let (filter, index) = rest.split_at_mut(string_lines);

    let (head, beginnings) = beginnings.as_flattened_mut().split_at_mut(HEAD_WORDS);
    let beginning_octets = filter::fill(&prefixes, BEGINNING_OCTETS_MAX, beginnings);
    if let Some(line) = pair_line.first_mut() {
        *line = pairs::line_of(pairs);
    }
    let (mut prefix_levels, mut stretch_levels) = (0, 0);
    let mut strings: Vec<index::Entry> = Vec::with_capacity(count);
    let parts = [
        (prefixes, PREFIX_OCTETS_MAX, &mut prefix_levels),
        (stretches, STRETCH_OCTETS_MAX, &mut stretch_levels),
    ];
    for (needs, octets_max, levels) in parts {
        strings.extend(needs.into_iter().map(|(pattern, string)| {
            let (level, string) = string.cut(octets_max);
            *levels |= level;
            (string, pattern)
        }));
    }
    let words = filter.as_flattened_mut();
    strings.iter().for_each(|&(string, _)| filter::insert(words, string));
    let words = <[U32]>::mut_from_bytes(index.as_mut_bytes());
    index::fill(&strings[..entries], words.expect("a line is a number of words"));
    let number = |lines: usize| U32::new(u32::try_from(lines).expect("a pattern has few octets"));
    let told = Head {
        otherwise: U32::new(all.map_or(Outcome::NONE, |pattern| outcomes[pattern]).0),
        beginning_octets,
        prefix_levels,
        stretch_levels,
        unused: 0,
        beginning_lines: number(beginning_lines),
        string_lines: number(string_lines),
        entries: number(entries),
        unused_too: U32::new(0),
    };
    head.as_mut_bytes().copy_from_slice(told.as_bytes());
    lines
}

/// Octets of a prefix that its beginning has at most: fewer let more paths through, more cost more.
const BEGINNING_OCTETS_MAX: u8 = 3;

/// Octets of prefixes and of stretches that are looked at.
const PREFIX_OCTETS_MAX: u8 = 16;
const STRETCH_OCTETS_MAX: u8 = 8;

/// What the best pattern that matches `path` means, if the sieve that stands at `at` can tell.
#[inline]
pub(crate) fn sift(lines: &[SieveLine], at: usize, path: &[u8]) -> Option<Outcome> {
    let sieve = lines.get(at..)?;
    let words = sieve.as_flattened();
    let (head, _) = Head::ref_from_prefix(words.as_bytes()).ok()?;
    if path.first() != Some(&b'/') {
        return None;
    }
    let beginning_lines = head.beginning_lines.get() as usize;
    let beginnings = words.get(HEAD_WORDS..beginning_lines * LINE_WORDS)?;
    let octets = match path.get(1..).and_then(<[u8]>::first_chunk) {
        Some(chunk) => u64::from_le_bytes(*chunk),
        None => octets_from(path, 1),
    };
    if may_have(beginnings, octets, head.beginning_octets)? && may_begin(sieve, head, path)? {
        return None;
    }
    if head.stretch_levels != 0 {
        let strings = head.strings(sieve)?;
        let pairs = sieve.get(beginning_lines)?;
        let may_stand = |place: usize| {
            let octets = octets_from(path, place);
            may_have_short(strings, octets, head.stretch_levels) != Some(false)
        };
        if pairs::may_occur(pairs, path, may_stand) {
            return None;
        }
    }
    let otherwise = Outcome(head.otherwise.get());
    otherwise.is_sound().then_some(otherwise)
}

/// Whether a path may begin with one of the prefixes.
#[inline(never)]
fn may_begin(sieve: &[SieveLine], head: &Head, path: &[u8]) -> Option<bool> {
    may_have_leveled(head.strings(sieve)?, first_octets(&path[1..]), head.prefix_levels)
}

/// What the best pattern that matches `path` means, by trying those that a sieve's index names; nothing
/// if those are too many. `patterns` and `outcomes` are those of the sieve.
#[inline(never)]
pub(crate) fn try_candidates(
    lines: &[SieveLine],
    at: usize,
    (patterns, outcomes): (&PatternList, &[Outcome]),
    path: &[u8],
) -> Option<Outcome> {
    let sieve = lines.get(at..)?;
    let (head, _) = Head::ref_from_prefix(sieve.as_bytes()).ok()?;
    let entries = head.entries.get() as usize;
    if entries == 0 || path.first() != Some(&b'/') {
        return None;
    }
    let words = head.index(sieve)?;
    let mut left = CANDIDATES_TRIED_MAX;
    let mut best = usize::MAX;
    let mut try_all = |strings: &mut dyn Iterator<Item = u64>| {
        for string in strings {
            for pattern in index::patterns_of(words, entries, string)? {
                left = left.checked_sub(1)?;
                if pattern < best && matches(&patterns.get(pattern), path) {
                    best = pattern;
                }
            }
        }
        Some(())
    };
    try_all(&mut cuts(first_octets(&path[1..]), head.prefix_levels))?;
    if head.stretch_levels != 0 {
        let pairs = sieve.get(head.beginning_lines.get() as usize)?;
        let fails = |place: usize| {
            let octets = u128::from(octets_from(path, place));
            try_all(&mut cuts(octets, head.stretch_levels)).is_none()
        };
        if pairs::may_occur(pairs, path, fails) {
            return None;
        }
    }
    let otherwise = || Outcome(head.otherwise.get());
    Some(outcomes.get(best).copied().unwrap_or_else(otherwise))
}

impl Head {
    /// Where the filter of prefixes and stretches begins.
    #[inline]
    fn strings_start(&self) -> usize {
        self.beginning_lines.get() as usize + usize::from(self.stretch_levels != 0)
    }

    /// The filter of prefixes and stretches.
    #[inline]
    fn strings<'l>(&self, sieve: &'l [SieveLine]) -> Option<&'l [U64]> {
        let lines = sieve.get(self.strings_start()..)?;
        Some(lines.get(..self.string_lines.get() as usize)?.as_flattened())
    }

    /// The index of patterns, and what stands behind it.
    fn index<'l>(&self, sieve: &'l [SieveLine]) -> Option<&'l [U32]> {
        let start = self.strings_start() + self.string_lines.get() as usize;
        <[U32]>::ref_from_bytes(sieve.get(start..)?.as_bytes()).ok()
    }
}

#[cfg(test)]
mod tests;
