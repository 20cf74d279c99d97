//! A scan: all patterns of a rule set in one pass over a path, without states.
//!
//! The fallback for paths that need more states than the build budget allows, and home of
//! [`matches()`], which matches one pattern. A pattern matches if its first literal is a prefix of
//! the path, each later literal follows the one before, and an anchored last literal ends the path.
//! Taking each literal at its first occurrence leaves the most room for the rest, so nothing
//! backtracks.
//!
//! The first literals, which are prefixes, are sorted, and each knows its *parent*, the longest other
//! one that is a prefix of it. A binary search finds the last one not above the path; only it and
//! its ancestors can begin the path. The patterns that have them start to wait for their next
//! literal, and patterns without a prefix wait from the beginning.
//!
//! Each pattern waits for one literal at a time. The distinct literals behind stars are sorted in
//! the same way. At each position of the path, a binary search finds the last literal not above the
//! rest of the path; only this literal and its ancestors can occur there. The patterns waiting for
//! a literal that occurs move on to their next one.
//!
//! Cost per path: one search of the prefixes; for each byte a binary search and the literals that
//! nest there; for each literal of the rule set a few steps. Building sorts the literals. Memory:
//! about thirty bytes per literal.

use memchr::memmem;
use wide::u8x16;

use crate::bytes::{CHUNK_BYTES, bits, first_bytes};
use crate::pattern::{PathPattern, PatternList};

/// No literal, waiter or pattern.
const NONE: u32 = u32::MAX;

/// The literals of a rule set, and the patterns that wait for them.
#[derive(Clone, Debug)]
pub(crate) struct Scanner {
    /// The distinct prefixes, ascending.
    prefixes: Vec<Prefix>,
    /// The distinct literals behind stars, ascending.
    literals: Vec<Literal>,
    /// For each first byte: the first literal that starts with it; then the number of literals.
    starts: Vec<u32>,
    /// The patterns, in order of precedence.
    waiters: Vec<Waiter>,
    /// The numbers of the literals behind stars, by waiter, then by literal.
    sequences: Vec<u32>,
    /// The number of paths so far; marks per-path state as current.
    round: u32,
}

/// A text of a rule set, in a sorted list of distinct ones.
#[derive(Clone, Copy, Debug)]
struct Text {
    /// The position in the bytes of all patterns.
    start: u32,
    length: u32,
    /// The longest other text of the list that is a prefix of this one.
    parent: u32,
}

impl Text {
    #[inline]
    fn of<'p>(&self, bytes: &'p [u8]) -> &'p [u8] {
        &bytes[self.start as usize..][..self.length as usize]
    }
}

/// The first literal of patterns.
#[derive(Clone, Copy, Debug)]
struct Prefix {
    text: Text,
    /// The first waiter that begins with it.
    waiter: u32,
}

#[derive(Clone, Copy, Debug)]
struct Literal {
    text: Text,
    /// The first waiter without a prefix whose first literal this is.
    first: u32,
    /// In this round: the first waiter that currently waits for the literal.
    waiting: u32,
    /// In this round: whether the literal was found.
    is_found: bool,
    round: u32,
}

/// A pattern that waits for a literal.
#[derive(Clone, Copy, Debug)]
struct Waiter {
    pattern: u32,
    anchored: bool,
    /// In `prefixes`.
    prefix: u32,
    /// In `sequences`: the literal it waits for, its first literal, and the end of its literals.
    at: u32,
    first: u32,
    end: u32,
    /// The position of the path from which it waits.
    from: u32,
    /// The next waiter in the list of `Prefix::waiter` or `Literal::first`.
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

/// Texts of a rule set, numbered as they come; equal ones too.
struct Texts<'p> {
    /// The bytes of all patterns.
    bytes: &'p [u8],
    /// By number. Most texts differ in their heads, which are compared without a memory access.
    texts: Vec<(u64, Text)>,
}

impl<'p> Texts<'p> {
    fn with_capacity(bytes: &'p [u8], capacity: usize) -> Texts<'p> {
        Texts { bytes, texts: Vec::with_capacity(capacity) }
    }

    /// Returns the number of the text at `start` of the bytes.
    #[inline]
    fn number(&mut self, text: &[u8], start: usize) -> u32 {
        let number = self.texts.len() as u32;
        let length = text.len() as u32;
        // Until the texts are sorted, `parent` is the number.
        self.texts.push((head(text), Text { start: start as u32, length, parent: number }));
        number
    }

    /// Returns the distinct texts, ascending, and the place of each number among them.
    fn sorted(mut self) -> (Vec<Text>, Vec<u32>) {
        let of = |text: &Text| text.of(self.bytes);
        self.texts.sort_unstable_by(|(head, text), (other_head, other)| {
            head.cmp(other_head).then_with(|| of(text).cmp(of(other)))
        });
        let mut ranks = vec![0; self.texts.len()];
        let mut sorted: Vec<Text> = Vec::with_capacity(self.texts.len());
        for (_, text) in self.texts {
            if sorted.last().is_none_or(|last| of(last) != of(&text)) {
                let parent = parent_of(of(&text), &sorted, self.bytes);
                sorted.push(Text { parent, ..text });
            }
            ranks[text.parent as usize] = sorted.len() as u32 - 1;
        }
        (sorted, ranks)
    }
}

/// Returns the longest of the `smaller` texts that is a prefix of `text`, or [`NONE`].
fn parent_of(text: &[u8], smaller: &[Text], bytes: &[u8]) -> u32 {
    let mut parent = (smaller.len() as u32).wrapping_sub(1);
    while let Some(before) = smaller.get(parent as usize) {
        if text.starts_with(before.of(bytes)) {
            break;
        }
        parent = before.parent;
    }
    parent
}

impl Scanner {
    pub(crate) fn new(patterns: &PatternList) -> Scanner {
        let bytes = patterns.bytes();
        let mut prefixes = Texts::with_capacity(bytes, patterns.len());
        let mut literals = Texts::with_capacity(bytes, patterns.stars());
        let mut waiters = Vec::with_capacity(patterns.len());
        let mut sequences = Vec::with_capacity(patterns.stars());
        for (pattern, index) in patterns.iter().zip(0..) {
            let (first, mut start) = (sequences.len() as u32, pattern.start());
            let mut prefix = NONE;
            for literal in pattern.literals() {
                match prefix {
                    NONE => prefix = prefixes.number(literal, start),
                    _ => sequences.push(literals.number(literal, start)),
                }
                start += literal.len();
            }
            waiters.push(Waiter {
                pattern: index,
                anchored: pattern.anchored,
                prefix,
                at: first,
                first,
                end: sequences.len() as u32,
                from: 0,
                first_next: NONE,
                next: NONE,
            });
        }
        let (prefixes, ranks) = prefixes.sorted();
        waiters.iter_mut().for_each(|waiter| waiter.prefix = ranks[waiter.prefix as usize]);
        let (literals, ranks) = literals.sorted();
        sequences.iter_mut().for_each(|number| *number = ranks[*number as usize]);
        drop(ranks);
        let begins_before = |byte: usize| {
            let is_before = |literal: &Text| {
                literal.of(bytes).first().is_none_or(|&first| usize::from(first) < byte)
            };
            literals.partition_point(is_before) as u32
        };
        let starts = (0..=256).map(begins_before).collect();
        let literal =
            |text| Literal { text, first: NONE, waiting: NONE, is_found: false, round: 0 };
        let mut scanner = Scanner {
            prefixes: prefixes.into_iter().map(|text| Prefix { text, waiter: NONE }).collect(),
            literals: literals.into_iter().map(literal).collect(),
            starts,
            waiters,
            sequences,
            round: 0,
        };
        scanner.file_waiters();
        scanner
    }

    /// Adds each waiter to the list of its prefix, or of its first literal if its prefix is empty.
    fn file_waiters(&mut self) {
        for (waiter, number) in self.waiters.iter_mut().zip(0_u32..) {
            let prefix = &mut self.prefixes[waiter.prefix as usize];
            // An anchored last literal is compared, not waited for.
            let waits = waiter.end - waiter.first > u32::from(waiter.anchored);
            let list = match prefix.text.length == 0 && waits {
                true => &mut self.literals[self.sequences[waiter.first as usize] as usize].first,
                false => &mut prefix.waiter,
            };
            waiter.first_next = std::mem::replace(list, number);
        }
    }

    /// Returns the memory held, in bytes.
    pub(crate) fn memory_bytes(&self) -> usize {
        size_of_val(&*self.prefixes)
            + size_of_val(&*self.literals)
            + size_of_val(&*self.starts)
            + size_of_val(&*self.waiters)
            + size_of_val(&*self.sequences)
    }

    /// Returns the first pattern that matches `path`, and the number of bytes, literals and
    /// patterns visited. `patterns` is the list given to [`Scanner::new`].
    pub(crate) fn first_match(
        &mut self,
        patterns: &PatternList,
        path: &[u8],
    ) -> (Option<usize>, u64) {
        self.round = self.round.checked_add(1).unwrap_or_else(|| {
            self.literals.iter_mut().for_each(|literal| literal.round = 0);
            1
        });
        let mut pass = Pass { bytes: patterns.bytes(), path, best: NONE, steps: 0 };
        self.begin(&mut pass);
        for place in 0..path.len() {
            if pass.best == 0 {
                break;
            }
            self.find_at(place, &mut pass);
        }
        ((pass.best != NONE).then_some(pass.best as usize), pass.steps)
    }

    /// Starts the patterns whose prefix begins the path.
    fn begin(&mut self, pass: &mut Pass<'_>) {
        let is_not_above = |prefix: &Prefix| prefix.text.of(pass.bytes) <= pass.path;
        let behind = self.prefixes.partition_point(is_not_above);
        let Some(last) = behind.checked_sub(1) else { return };
        let common = common_bytes(self.prefixes[last].text.of(pass.bytes), pass.path);
        let mut number = last as u32;
        while number != NONE {
            let Prefix { text, waiter } = self.prefixes[number as usize];
            pass.steps += 1;
            if text.length as usize <= common {
                self.begin_all(waiter, text.length as usize, pass);
            }
            number = text.parent;
        }
    }

    /// Starts the waiters of a list, whose prefix ends at `end`.
    fn begin_all(&mut self, mut waiter: u32, end: usize, pass: &mut Pass<'_>) {
        while waiter != NONE {
            let first = self.waiters[waiter as usize].first;
            self.move_to(waiter, first, end, pass);
            waiter = self.waiters[waiter as usize].first_next;
        }
    }

    /// Finds all literals that occur at `place`.
    fn find_at(&mut self, place: usize, pass: &mut Pass<'_>) {
        let rest = &pass.path[place..];
        let byte = usize::from(rest[0]);
        let (start, end) = (self.starts[byte] as usize, self.starts[byte + 1] as usize);
        pass.steps += 1;
        let literals = &self.literals[start..end];
        let behind = literals.partition_point(|literal| literal.text.of(pass.bytes) <= rest);
        let Some(last) = behind.checked_sub(1) else { return };
        let common = common_bytes(literals[last].text.of(pass.bytes), rest);
        let mut number = (start + last) as u32;
        while number != NONE && self.literals[number as usize].text.length > 0 {
            let Text { length, parent, .. } = self.literals[number as usize].text;
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
        let behind = place + literal.text.length as usize;
        let mut new =
            if std::mem::replace(&mut literal.is_found, true) { NONE } else { literal.first };
        let mut waiting = std::mem::replace(&mut literal.waiting, NONE);
        while new != NONE {
            let Waiter { first, first_next, .. } = self.waiters[new as usize];
            self.move_to(new, first + 1, behind, pass);
            new = first_next;
        }
        while waiting != NONE {
            let Waiter { at, from, next, .. } = self.waiters[waiting as usize];
            match from as usize <= place {
                true => self.move_to(waiting, at + 1, behind, pass),
                false => self.wait(waiting, number),
            }
            pass.steps += 1;
            waiting = next;
        }
    }

    /// Moves a waiter to the literal at `at`, after those before it were found to end at `end`.
    fn move_to(&mut self, number: u32, at: u32, end: usize, pass: &mut Pass<'_>) {
        let waiter = &mut self.waiters[number as usize];
        pass.steps += 1;
        if waiter.pattern >= pass.best {
            return;
        }
        (waiter.at, waiter.from) = (at, end as u32);
        if waiter.at == waiter.end {
            if !waiter.anchored || end == pass.path.len() {
                pass.best = waiter.pattern;
            }
            return;
        }
        let literal = self.sequences[waiter.at as usize] as usize;
        if waiter.anchored && waiter.at + 1 == waiter.end {
            let text = self.literals[literal].text.of(pass.bytes);
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
pub(crate) fn literals_match<'l>(
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
