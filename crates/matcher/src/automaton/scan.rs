//! A scan: all patterns of a rule set in one pass over a path, without states.
//!
//! The fallback for paths that need more states than the build budget allows, and home of
//! [`matches`], which matches one pattern. A pattern matches if its first literal is a prefix of
//! the path, each later literal follows the one before, and an anchored last literal ends the path.
//! Taking each literal at its first occurrence leaves the most room for the rest, so nothing
//! backtracks.
//!
//! Each pattern waits for one literal at a time. The distinct literals of the rule set are sorted,
//! and each knows its *parent*, the longest other literal that is a prefix of it. At each position
//! of the path, a binary search finds the last literal not above the rest of the path; only this
//! literal and its ancestors can occur there. The patterns waiting for a literal that occurs move
//! on to their next one.
//!
//! Cost per path: for each byte a binary search and the literals that nest there; for each literal
//! of the rule set a few steps. Building sorts the literals. Memory: about thirty bytes per
//! literal.

use std::collections::HashSet;

use hashbrown::HashMap;
use memchr::memmem;
use wide::u8x16;

use crate::bytes::{CHUNK_BYTES, bits, first_bytes};
use crate::pattern::{PathPattern, PatternList};

/// No literal, waiter or pattern.
const NONE: u32 = u32::MAX;

/// The literals of a rule set, and the patterns that wait for them.
#[derive(Clone, Debug)]
pub(super) struct Scanner {
    /// The distinct literals, ascending.
    literals: Vec<Literal>,
    /// For each first byte: the first literal that starts with it; then the number of literals.
    starts: Vec<u32>,
    /// The distinct patterns, in order of precedence.
    waiters: Vec<Waiter>,
    /// The numbers of the literals, by waiter, then by literal.
    sequences: Vec<u32>,
    /// The number of paths so far; marks per-path state as current.
    round: u32,
}

#[derive(Clone, Copy, Debug)]
struct Literal {
    /// The literal's position in the bytes of all patterns.
    start: u32,
    length: u32,
    /// The longest other literal that is a prefix of this one.
    parent: u32,
    /// The first waiter that starts with this literal as a prefix of the path.
    beginning: u32,
    /// The first waiter that starts with this literal anywhere in the path.
    first: u32,
    /// In this round: the first waiter that currently waits for the literal.
    waiting: u32,
    /// In this round: whether the literal was found.
    is_found: bool,
    round: u32,
}

impl Literal {
    #[inline]
    fn text<'p>(&self, bytes: &'p [u8]) -> &'p [u8] {
        &bytes[self.start as usize..][..self.length as usize]
    }
}

/// A pattern that waits for a literal.
#[derive(Clone, Copy, Debug)]
struct Waiter {
    pattern: u32,
    anchored: bool,
    /// In `sequences`: the literal it waits for, its first literal, and the end of its literals.
    at: u32,
    first: u32,
    end: u32,
    /// The position of the path from which it waits.
    from: u32,
    /// The next waiter in the list of `Literal::beginning` or `Literal::first`.
    first_next: u32,
    /// The next waiter in the list of `Literal::waiting`.
    next: u32,
}

/// One path, and the matches found so far.
struct Pass<'p> {
    /// The bytes of all patterns.
    bytes: &'p [u8],
    path: &'p [u8],
    /// The first pattern that matches.
    best: u32,
    steps: u64,
}

/// Returns the first bytes of `text` as a number with the same order.
fn head(text: &[u8]) -> u64 {
    let mut head = [0; size_of::<u64>()];
    let bytes = text.len().min(head.len());
    head[..bytes].copy_from_slice(&text[..bytes]);
    u64::from_be_bytes(head)
}

impl Scanner {
    pub(super) fn new(patterns: &PatternList) -> Scanner {
        let bytes = patterns.bytes();
        let state = foldhash::fast::RandomState::default();
        let mut numbers: HashMap<&[u8], u32, _> =
            HashMap::with_capacity_and_hasher(patterns.len(), state);
        // Most literals differ in their first bytes, which are compared without a memory access.
        let mut order: Vec<(u64, &[u8], u32, u32)> = Vec::with_capacity(patterns.len());
        let mut waiters = Vec::with_capacity(patterns.len());
        let mut sequences = Vec::with_capacity(patterns.len() + patterns.stars());
        for (pattern, index) in patterns.iter().zip(0..) {
            let first = sequences.len() as u32;
            let mut start = pattern.start();
            for literal in pattern.literals() {
                let number = *numbers.entry(literal).or_insert_with(|| {
                    let number = order.len() as u32;
                    order.push((head(literal), literal, start as u32, number));
                    number
                });
                sequences.push(number);
                start += literal.len();
            }
            waiters.push(Waiter {
                pattern: index,
                anchored: pattern.anchored,
                at: first,
                first,
                end: sequences.len() as u32,
                from: 0,
                first_next: NONE,
                next: NONE,
            });
        }
        drop(numbers);
        order.sort_unstable();
        let mut ranks = vec![0; order.len()];
        let mut literals: Vec<Literal> = Vec::with_capacity(order.len());
        for (rank, (_, text, start, number)) in (0_u32..).zip(order) {
            ranks[number as usize] = rank;
            let mut parent = rank.wrapping_sub(1);
            while let Some(literal) = literals.get(parent as usize) {
                if text.starts_with(literal.text(bytes)) {
                    break;
                }
                parent = literal.parent;
            }
            literals.push(Literal {
                start,
                length: text.len() as u32,
                parent,
                beginning: NONE,
                first: NONE,
                waiting: NONE,
                is_found: false,
                round: 0,
            });
        }
        for number in &mut sequences {
            *number = ranks[*number as usize];
        }
        drop(ranks);
        // Of equal patterns only the first can decide.
        let mut seen = HashSet::with_hasher(foldhash::fast::RandomState::default());
        waiters.retain(|waiter| {
            let sequence = &sequences[waiter.first as usize..waiter.end as usize];
            seen.insert((waiter.anchored, sequence))
        });
        drop(seen);
        let begins_before = |byte: usize| {
            let is_before = |literal: &Literal| {
                literal.text(bytes).first().is_none_or(|&first| usize::from(first) < byte)
            };
            literals.partition_point(is_before) as u32
        };
        let starts = (0..=256).map(begins_before).collect();
        let mut scanner = Scanner { literals, starts, waiters, sequences, round: 0 };
        scanner.file_waiters();
        scanner
    }

    /// Adds each waiter to the list of its first literal.
    fn file_waiters(&mut self) {
        for (waiter, number) in self.waiters.iter_mut().zip(0_u32..) {
            let prefix = &mut self.literals[self.sequences[waiter.first as usize] as usize];
            // An anchored last literal is compared, not waited for.
            let literals = waiter.end - waiter.first - u32::from(waiter.anchored);
            let list = if prefix.length > 0 || literals <= 1 {
                &mut prefix.beginning
            } else {
                waiter.first += 1;
                &mut self.literals[self.sequences[waiter.first as usize] as usize].first
            };
            waiter.first_next = std::mem::replace(list, number);
        }
    }

    /// Returns the memory held, in bytes.
    pub(super) fn memory_bytes(&self) -> usize {
        size_of_val(&*self.literals)
            + size_of_val(&*self.starts)
            + size_of_val(&*self.waiters)
            + size_of_val(&*self.sequences)
    }

    /// Returns the first pattern that matches `path`, and the number of bytes, literals and
    /// patterns visited. `patterns` is the list given to [`Scanner::new`].
    pub(super) fn first_match(
        &mut self,
        patterns: &PatternList,
        path: &[u8],
    ) -> (Option<usize>, u64) {
        self.round = self.round.checked_add(1).unwrap_or_else(|| {
            self.literals.iter_mut().for_each(|literal| literal.round = 0);
            1
        });
        let mut pass = Pass { bytes: patterns.bytes(), path, best: NONE, steps: 0 };
        // The empty literal is a prefix of every path.
        if self.literals.first().is_some_and(|literal| literal.length == 0) {
            self.find(0, 0, &mut pass);
        }
        for place in 0..path.len() {
            if pass.best == 0 {
                break;
            }
            self.find_at(place, &mut pass);
        }
        ((pass.best != NONE).then_some(pass.best as usize), pass.steps)
    }

    /// Finds all literals that occur at `place`.
    fn find_at(&mut self, place: usize, pass: &mut Pass<'_>) {
        let rest = &pass.path[place..];
        let byte = usize::from(rest[0]);
        let (start, end) = (self.starts[byte] as usize, self.starts[byte + 1] as usize);
        pass.steps += 1;
        let literals = &self.literals[start..end];
        let behind = literals.partition_point(|literal| literal.text(pass.bytes) <= rest);
        let Some(last) = behind.checked_sub(1) else { return };
        let text = literals[last].text(pass.bytes);
        let common = common_bytes(text, rest);
        let mut number = (start + last) as u32;
        while number != NONE && self.literals[number as usize].length > 0 {
            let Literal { length, parent, .. } = self.literals[number as usize];
            pass.steps += 1;
            if length as usize <= common {
                self.find(number as usize, place, pass);
            }
            number = parent;
        }
    }

    /// Advances the patterns that wait for the literal `number`, which occurs at `place`.
    fn find(&mut self, number: usize, place: usize, pass: &mut Pass<'_>) {
        let literal = self.literal_of_round(number);
        let behind = place + literal.length as usize;
        let beginning = if place == 0 { literal.beginning } else { NONE };
        let first =
            if std::mem::replace(&mut literal.is_found, true) { NONE } else { literal.first };
        let mut waiting = std::mem::replace(&mut literal.waiting, NONE);
        for mut new in [beginning, first] {
            while new != NONE {
                let waiter = &mut self.waiters[new as usize];
                (waiter.at, waiter.from) = (waiter.first, 0);
                let next = waiter.first_next;
                self.advance(new, behind, pass);
                new = next;
            }
        }
        while waiting != NONE {
            let next = self.waiters[waiting as usize].next;
            match self.waiters[waiting as usize].from as usize <= place {
                true => self.advance(waiting, behind, pass),
                false => self.wait(waiting, number),
            }
            pass.steps += 1;
            waiting = next;
        }
    }

    /// Moves a waiter to its next literal after the current one was found to end at `end`.
    fn advance(&mut self, number: u32, end: usize, pass: &mut Pass<'_>) {
        let waiter = &mut self.waiters[number as usize];
        pass.steps += 1;
        if waiter.pattern >= pass.best {
            return;
        }
        waiter.at += 1;
        waiter.from = end as u32;
        if waiter.at == waiter.end {
            if !waiter.anchored || end == pass.path.len() {
                pass.best = waiter.pattern;
            }
            return;
        }
        let literal = self.sequences[waiter.at as usize] as usize;
        if waiter.anchored && waiter.at + 1 == waiter.end {
            let text = self.literals[literal].text(pass.bytes);
            pass.steps += text.len() as u64 / CHUNK_BYTES as u64;
            if pass.path[end..].ends_with(text) {
                pass.best = waiter.pattern;
            }
            return;
        }
        self.wait(number, literal);
    }

    /// Adds a waiter to the list of a literal.
    fn wait(&mut self, number: u32, literal: usize) {
        let next = std::mem::replace(&mut self.literal_of_round(literal).waiting, number);
        self.waiters[number as usize].next = next;
    }

    /// Returns a literal with its state reset for this round.
    fn literal_of_round(&mut self, number: usize) -> &mut Literal {
        let literal = &mut self.literals[number];
        if literal.round != self.round {
            (literal.round, literal.waiting, literal.is_found) = (self.round, NONE, false);
        }
        literal
    }
}

/// Returns the length of the common prefix.
fn common_bytes(one: &[u8], other: &[u8]) -> usize {
    let chunks = one.chunks_exact(CHUNK_BYTES).zip(other.chunks_exact(CHUNK_BYTES));
    let start = chunks.take_while(|(one, other)| one == other).count() * CHUNK_BYTES;
    let rest = one[start..].iter().zip(&other[start..]);
    start + rest.take_while(|(one, other)| one == other).count()
}

/// Returns whether `pattern` matches `path`.
#[inline]
pub fn matches(pattern: &PathPattern<'_>, path: &[u8]) -> bool {
    literals_match(pattern.literals(), pattern.anchored, path)
}

/// Returns whether a pattern of these literals, separated by stars, matches `path`.
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

/// The longest text that is searched without preparation, which takes longer than searching so
/// little.
const SHORT_BYTES: usize = 128;

/// Returns the position of the first occurrence of `literal` in `text`.
#[inline]
fn find(text: &[u8], literal: &[u8]) -> Option<usize> {
    let (Some(&first), Some(&last)) = (literal.first(), literal.last()) else { return Some(0) };
    let last_start = text.len().checked_sub(literal.len())?;
    if text.len() > SHORT_BYTES {
        return memmem::find(text, literal);
    }
    // Sixteen positions at once: the first and the last byte of the literal have to match.
    let places = |from: usize, byte: u8| {
        let bytes = u8x16::new(first_bytes(&text[from..]).to_le_bytes());
        bytes.simd_eq(u8x16::splat(byte)).to_bitmask()
    };
    let occurs = |place: &usize| *place <= last_start && text[*place..].starts_with(literal);
    (0..=last_start).step_by(CHUNK_BYTES).find_map(|start| {
        let ends = places(start, first) & places(start + literal.len() - 1, last);
        bits(ends & 0xffff).map(|place| start + place).find(occurs)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_occurrence_is_found() {
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
