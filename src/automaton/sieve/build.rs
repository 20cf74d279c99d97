//! Patterns to a sieve.

use zerocopy::little_endian::U32;
use zerocopy::{FromBytes, IntoBytes};

use crate::automaton::Outcome;
use crate::pattern::PatternList;

use super::needs::Needs;
use super::{HEAD_WORDS, Head, LINE_WORDS, SEED_SHIFT, SieveLine, filter, index, pairs};

/// Octets of a prefix that its beginning has at most: fewer let more paths through, more cost more.
const BEGINNING_OCTETS_MAX: u8 = 3;

/// The sieve of patterns in order of precedence.
///
/// # Panics
///
/// If there are not as many outcomes as patterns.
pub(crate) fn sieve_of(patterns: &PatternList, outcomes: &[Outcome]) -> Vec<SieveLine> {
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
    let pair_lines: Vec<SieveLine> = pair_lists.map(pairs::line_of).collect();
    let filter_words = filter::words_for(count + prefixes_of_both.len());
    let index_words = index::words_for(entries);
    let rest = (filter_words + index_words.div_ceil(2)).div_ceil(LINE_WORDS);
    let mut lines = vec![SieveLine::default(); beginning_lines + pair_lines.len() + rest];
    let (beginnings, rest) = lines.split_at_mut(beginning_lines);
    let (room, rest) = rest.split_at_mut(pair_lines.len());
    room.copy_from_slice(&pair_lines);
    let (filter, rest) = rest.as_flattened_mut().split_at_mut(filter_words);
    let rest =
        <[U32]>::mut_from_bytes(rest.as_mut_bytes()).expect("a word is two of half its size");
    let (index, _) = rest.split_at_mut(index_words);

    let (head, beginnings) = beginnings.as_flattened_mut().split_at_mut(HEAD_WORDS);
    let kept = filter::kept_of_all(all_prefixes(), BEGINNING_OCTETS_MAX);
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
    let number = |number: usize| U32::new(u32::try_from(number).expect("a pattern has few octets"));
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
