//! The rules one after another, best first: no table, no state, and a bound that needs no budget.
//!
//! This is the strategy of last resort, for rule sets whose automaton would outgrow its budget, and
//! the plainest engine to compare the others with. A pattern matches if its first literal stands at
//! the start, each later one somewhere behind the one before it, and an anchored last one at the
//! end; taking each literal at its first occurrence leaves the most room for the rest, so nothing
//! is ever tried twice.
//!
//! Cost: for each pattern at most one search over the path, so *patterns × octets of the path* at
//! worst, at the speed of a vectorised search.

use memchr::memmem;

use crate::pattern::{PathPattern, PatternList};

use super::Outcome;

/// What the first pattern that matches `path` means.
pub(super) fn scan(patterns: &PatternList, outcomes: &[Outcome], path: &[u8]) -> Outcome {
    let mut pairs = patterns.iter().zip(outcomes);
    let first = pairs.find(|(pattern, _)| matches(pattern, path));
    first.map_or(Outcome::NONE, |(_, &outcome)| outcome)
}

/// Whether `pattern` matches `path`.
pub fn matches(pattern: &PathPattern<'_>, path: &[u8]) -> bool {
    let mut literals = pattern.literals();
    let first = literals.next().unwrap_or_default();
    let Some(mut rest) = path.strip_prefix(first) else {
        return false;
    };
    let Some(mut literal) = literals.next() else {
        return !pattern.anchored || rest.is_empty();
    };
    for following in literals {
        let Some(position) = find(rest, literal) else {
            return false;
        };
        rest = &rest[position + literal.len()..];
        literal = following;
    }
    match pattern.anchored {
        true => rest.ends_with(literal),
        false => find(rest, literal).is_some(),
    }
}

/// Octets of a text in which a literal is looked for at each place: to prepare a search that is never
/// slow takes longer than that.
const SHORT_OCTETS: usize = 128;

/// Where `literal` first stands in `text`.
#[inline]
fn find(text: &[u8], literal: &[u8]) -> Option<usize> {
    let Some((&first, rest)) = literal.split_first() else { return Some(0) };
    let last = text.len().checked_sub(literal.len())?;
    if text.len() > SHORT_OCTETS {
        return memmem::find(text, literal);
    }
    let starts = |place: &usize| text[*place] == first && text[place + 1..].starts_with(rest);
    (0..=last).find(starts)
}
