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
use wide::u8x16;

use crate::pattern::{PathPattern, PatternList};

use super::Outcome;
use super::chunk::{CHUNK_OCTETS, bits, first_octets};

/// Returns the outcome of the first pattern at `positions` that matches `path`, and how many patterns
/// were tried.
pub(super) fn scan(
    patterns: &PatternList,
    outcomes: &[Outcome],
    positions: impl Iterator<Item = usize>,
    path: &[u8],
) -> (Outcome, usize) {
    let mut tried = 0;
    for position in positions {
        tried += 1;
        if matches(&patterns.get(position), path) {
            return (outcomes[position], tried);
        }
    }
    (Outcome::NONE, tried)
}

/// Whether `pattern` matches `path`.
pub fn matches(pattern: &PathPattern<'_>, path: &[u8]) -> bool {
    literals_match(pattern.literals(), pattern.anchored, path)
}

/// Whether a pattern of these literals, between which stars stand, matches `path`.
#[inline]
pub(super) fn literals_match<'l>(
    mut literals: impl Iterator<Item = &'l [u8]>,
    is_anchored: bool,
    path: &[u8],
) -> bool {
    let first = literals.next().unwrap_or_default();
    let Some(mut rest) = path.strip_prefix(first) else {
        return false;
    };
    let Some(mut literal) = literals.next() else {
        return !is_anchored || rest.is_empty();
    };
    for following in literals {
        let Some(position) = find(rest, literal) else {
            return false;
        };
        rest = &rest[position + literal.len()..];
        literal = following;
    }
    match is_anchored {
        true => rest.ends_with(literal),
        false => find(rest, literal).is_some(),
    }
}

/// Octets of a text in which a literal is looked for without preparation: to prepare a search that is
/// never slow takes longer than that.
const SHORT_OCTETS: usize = 128;

/// Where `literal` first stands in `text`.
#[inline]
fn find(text: &[u8], literal: &[u8]) -> Option<usize> {
    let (Some(&first), Some(&last)) = (literal.first(), literal.last()) else { return Some(0) };
    let last_start = text.len().checked_sub(literal.len())?;
    if text.len() > SHORT_OCTETS {
        return memmem::find(text, literal);
    }
    // Sixteen places are looked at together: the literal's ends have to stand there.
    let places = |from: usize, octet: u8| {
        let octets = u8x16::new(first_octets(&text[from..]).to_le_bytes());
        octets.simd_eq(u8x16::splat(octet)).to_bitmask()
    };
    let stands = |place: &usize| *place <= last_start && text[*place..].starts_with(literal);
    (0..=last_start).step_by(CHUNK_OCTETS).find_map(|start| {
        let ends = places(start, first) & places(start + literal.len() - 1, last);
        bits(ends & 0xffff).map(|place| start + place).find(stands)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_literal_is_found_where_it_first_stands() {
        let text: Vec<u8> = (0..150_usize).map(|place| b"ab/\0"[place * place % 7 % 4]).collect();
        for length in [0, 1, 2, 15, 16, 17, 33, 40, 128, 150] {
            let text = &text[..length];
            for start in 0..=length {
                for end in start..=length.min(start + 20) {
                    let literal = &text[start..end];
                    let expected = (0..=length).find(|&place| text[place..].starts_with(literal));
                    assert_eq!(find(text, literal), expected, "{length} {start} {end}");
                    let absent = [literal, b"x"].concat();
                    assert_eq!(find(text, &absent), None);
                }
            }
        }
    }
}
