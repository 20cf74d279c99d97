//! Patterns as a sieve keeps them, to try them one by one.
//!
//! A pattern is a few words in one piece, so that trying it costs an access to memory or two:
//!
//! | words | |
//! |---|---|
//! | 1 | what a match means |
//! | 1 | the number of octets, whether there are stars, whether the path ends with the pattern |
//! | 1 and one for each, if there are stars | their number, and before which octets they stand |
//! | the rest | the octets, four to a word |
//!
//! The better of two patterns stands before the other.

use zerocopy::IntoBytes;
use zerocopy::little_endian::U32;

use crate::automaton::Outcome;
use crate::automaton::scan::literals_match;
use crate::pattern::{PathPattern, PatternList, literals_between};

const ANCHORED: u32 = 1;
const HAS_STARS: u32 = 2;
const COUNT_SHIFT: u32 = 2;

/// Words that patterns take at most.
pub(super) fn words_for(patterns: &PatternList) -> usize {
    4 * patterns.len() + patterns.stars() + patterns.octets() / size_of::<U32>()
}

/// Appends a pattern, and tells its place.
pub(super) fn push(pattern: &PathPattern<'_>, outcome: Outcome, words: &mut Vec<U32>) -> u32 {
    let place = number(words.len());
    let stars = pattern.stars();
    let mut flags = if pattern.anchored { ANCHORED } else { 0 };
    if stars.len() > 0 {
        flags |= HAS_STARS;
    }
    words.push(U32::new(outcome.0));
    words.push(U32::new(number(pattern.octets.len()) << COUNT_SHIFT | flags));
    if stars.len() > 0 {
        words.push(U32::new(number(stars.len())));
        words.extend(stars.map(|star| U32::new(number(star))));
    }
    let start = words.len();
    words.resize(start + pattern.octets.len().div_ceil(size_of::<U32>()), U32::new(0));
    words[start..].as_mut_bytes()[..pattern.octets.len()].copy_from_slice(pattern.octets);
    place
}

fn number(number: usize) -> u32 {
    u32::try_from(number).expect("a rule set has fewer octets than 32 bits count")
}

/// A pattern that was written.
pub(super) struct Text<'w> {
    octets: &'w [u8],
    stars: &'w [U32],
    is_anchored: bool,
    outcome: Outcome,
}

impl<'w> Text<'w> {
    /// The pattern at a place; nothing if there is none.
    #[inline]
    pub(super) fn at(words: &'w [U32], place: usize) -> Option<Text<'w>> {
        let [outcome, shape, rest @ ..] = words.get(place..)? else { return None };
        let shape = shape.get();
        let (stars, rest) = match shape & HAS_STARS {
            0 => (&[][..], rest),
            _ => {
                let (count, rest) = rest.split_first()?;
                rest.split_at_checked(count.get() as usize)?
            }
        };
        let octets = rest.as_bytes().get(..(shape >> COUNT_SHIFT) as usize)?;
        let outcome = Outcome(outcome.get());
        let is_ascending = stars.is_sorted_by(|one, other| one.get() < other.get());
        let is_within = stars.last().is_none_or(|last| last.get() as usize <= octets.len());
        let is_anchored = shape & ANCHORED != 0;
        (outcome.is_sound() && is_ascending && is_within).then_some(Text {
            octets,
            stars,
            is_anchored,
            outcome,
        })
    }

    /// What it means, if it matches `path`.
    #[inline]
    pub(super) fn outcome_of(&self, path: &[u8]) -> Option<Outcome> {
        let matches = if self.stars.is_empty() {
            path.starts_with(self.octets) && (!self.is_anchored || path.len() == self.octets.len())
        } else {
            let stars = self.stars.iter().map(|star| star.get() as usize);
            literals_match(literals_between(self.octets, stars), self.is_anchored, path)
        };
        matches.then_some(self.outcome)
    }
}
