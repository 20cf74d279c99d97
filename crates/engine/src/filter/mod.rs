//! A prefilter that rejects most paths without running the automaton.
//!
//! 98 % of URLs on popular sites match no rule or only `/`. A prefilter tests what every other
//! pattern requires, for all patterns at once: a *prefix* of the path, or a *required literal*
//! after a star. Each stage is more expensive and runs only if the one before found something:
//!
//! 1. [`first_probe`] looks up the [first bytes](gate) of the path in a Bloom filter.
//! 2. [`candidates`](crate::candidates) looks up at most sixteen bytes in a [Bloom filter](bloom): those
//!    after the first `/`, and those at each position where a [byte triple](teddy) of a literal
//!    occurs, found as by Hyperscan's Teddy, and the [gate] lets them pass.
//! 3. Those that may be in it are looked up in an [index] of the patterns, which are matched one by one.
//!
//! If nothing is found, the outcome is known. With too many candidates, the caller runs the
//! automaton. Only paths that start with `/` are decided, as the paths of URLs do.
//!
//! A prefilter is the first part of a [rule set](crate::RuleSet):
//!
//! | lines | contents |
//! |---|---|
//! | 1, more if there are many prefixes | the head; the Bloom filter of the first probe |
//! | up to 1 | byte triples of literals |
//! | the rest | the Bloom filter of prefixes and literals; the index |
//!
//! [`strategy`](crate::strategy) orders the stages. Memory: twelve bytes per pattern, at least one line.
//! The choice of required strings is a heuristic and no part of the format: any choice that rejects no
//! matching path gives the same answers.

pub(crate) mod bloom;
pub(crate) mod gate;
pub(crate) mod head;
pub(crate) mod index;
pub(crate) mod required;
pub(crate) mod teddy;
#[cfg(test)]
mod tests;

use zerocopy::little_endian::{U16, U32, U64};
use zerocopy::{FromBytes, IntoBytes};

use crate::bytes::{LINE_WORDS, Line};
use crate::outcome::Outcome;
use crate::pattern::PatternList;
use bloom::Key;
use gate::{Fewer, Gate};
use head::{HEAD_WORDS, Head, SEED_SHIFT};
use required::Required;

/// The prefilter of a rule set.
#[derive(Clone, Copy)]
pub(crate) struct Filter<'l> {
    /// The lines from its first on.
    pub(crate) lines: &'l [Line],
    pub(crate) head: &'l Head,
    pub(crate) index: &'l [U32],
}

impl<'l> Filter<'l> {
    /// Returns the prefilter at the start of `lines`, and the words after it; `None` if it is longer
    /// than they are.
    #[inline]
    pub(crate) fn of(lines: &'l [Line]) -> Option<(Filter<'l>, &'l [U32])> {
        let head = Head::of(lines)?;
        let (_, rest) = head.filter(lines)?;
        let rest = <[U32]>::ref_from_bytes(rest.as_bytes()).ok()?;
        let (index, rest) = rest.split_at_checked(index::words_for(head.entries()))?;
        Some((Filter { lines, head, index }, rest))
    }

    /// Returns whether so many patterns can have its outcome and its index.
    pub(crate) fn is_valid(&self, patterns: usize) -> bool {
        let otherwise = Outcome(self.head.otherwise.get());
        let has_room = patterns > index::PLACES_MAX
            || index::is_within(self.index, self.head.entries(), patterns);
        otherwise.is_valid()
            && otherwise.pattern().is_none_or(|pattern| pattern < patterns)
            && has_room
            && self.head.reserved.get() == 0
            && (1..=head::FIRST_LINES_MAX).contains(&self.head.first_lines.get())
    }
}

/// Builds the prefilter of patterns in order of precedence, of which some allow, followed by two parts of a `tail`.
pub(crate) fn build(
    patterns: &PatternList,
    allows: impl Fn(usize) -> bool,
    tail: [&[u8]; 2],
) -> Vec<Line> {
    let Required { prefixes, literals, triples, all } = Required::of(patterns);
    let outcome = |place: u32| Outcome::new(place + 1, allows(place as usize));
    let count = prefixes.len() + literals.len();
    let fewer = |required: &[(u32, Key)]| Fewer::of(required.iter().map(|(_, key)| *key));
    let [prefixes_fewer, literals_fewer] = [&prefixes, &literals].map(|it| fewer(it));
    let gate = literals.iter().map(|(_, key)| Gate::member(literals_fewer, key.start()));
    let mut gate: Vec<u64> = gate.collect();
    gate.sort_unstable();
    gate.dedup();
    // More patterns than the index can number have no index, and the automaton decides.
    let entries = if patterns.len() > index::PLACES_MAX { 0 } else { count };
    let first_lines = (HEAD_WORDS + bloom::words_for(prefixes.len())).div_ceil(LINE_WORDS);
    let triple_lines = usize::from(!triples.is_empty());
    let tail_bytes = tail[0].len() + tail[1].len();
    let (filter_words, index_words) =
        (bloom::words_for(count + gate.len()), index::words_for(entries));
    let rest_bytes = filter_words * size_of::<U64>() + index_words * size_of::<U32>() + tail_bytes;
    let rest = rest_bytes.div_ceil(size_of::<Line>());
    let mut lines = vec![Line::default(); first_lines + triple_lines + rest];
    let (first, rest) = lines.split_at_mut(first_lines);
    let (room, rest) = rest.split_at_mut(triple_lines);
    room.fill_with(|| teddy::line_of(triples.clone()));
    let (filter, rest) = rest.as_flattened_mut().split_at_mut(filter_words);
    let rest = <[U32]>::mut_from_bytes(rest.as_mut_bytes()).expect("a U64 is two U32");
    let (index, rest) = rest.split_at_mut(index_words);
    let (room, rest) = rest.as_mut_bytes().split_at_mut(tail[0].len());
    room.copy_from_slice(tail[0]);
    rest[..tail[1].len()].copy_from_slice(tail[1]);

    let (head, first) = first.as_flattened_mut().split_at_mut(HEAD_WORDS);
    let tested = |(_, prefix): &(u32, Key)| prefixes_fewer.tested(prefix.start());
    prefixes.iter().map(tested).for_each(|bytes| bloom::insert(first, bytes));
    let (mut prefix_levels, mut literal_levels) = (0, 0);
    let mut strings: Vec<index::Entry> = Vec::with_capacity(count);
    for (required, levels) in [(&prefixes, &mut prefix_levels), (&literals, &mut literal_levels)] {
        strings.extend(required.iter().map(|(place, key)| {
            let (level, string) = key.cut();
            *levels |= level;
            (string, *place)
        }));
    }
    let members = strings.iter().map(|&(string, _)| string).chain(gate);
    members.for_each(|string| bloom::insert(filter, string));
    let seed = index::fill(&strings[..entries], index);
    let number = |number: usize| U32::new(u32::try_from(number).expect("below 2^32 words"));
    let written = Head {
        otherwise: U32::new(all.map_or(Outcome::NONE, outcome).0),
        prefixes_fewer: U16::new(prefixes_fewer.0),
        literals_fewer: U16::new(literals_fewer.0),
        prefix_levels,
        literal_levels,
        reserved: U16::ZERO,
        first_lines: number(first_lines),
        filter_words: number(filter_words),
        entries: U32::new(entries as u32 | seed << SEED_SHIFT),
    };
    head.as_mut_bytes().copy_from_slice(written.as_bytes());
    lines
}
