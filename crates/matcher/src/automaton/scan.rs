//! All patterns of a rule set in one pass over a path, without states.
//!
//! This is the strategy of last resort, for a path that needs more states than building has earned. A
//! pattern matches if its first literal begins the path, each later one is somewhere behind the one
//! before it, and an anchored last one is at the end. Taking each literal at its first occurrence
//! leaves the most room for the rest, so nothing is ever tried twice.
//!
//! Each pattern waits for one literal at a time. The distinct literals of all patterns are sorted, and
//! each knows the longest other one that it begins with. At each place of the path a binary search finds
//! the last literal that is not behind the rest of the path; it and those that it begins with
//! are all that can be there. Every pattern that waits for a literal that is found waits for its
//! next one from there on.
//!
//! Cost: for each byte of the path a binary search and the literals that begin there; for each literal of
//! the rule set, once a path, a few steps. Building sorts the literals. Memory: some thirty bytes
//! for each literal.

use hashbrown::hash_map::Entry;
use hashbrown::{HashMap, HashTable, hash_table};
use memchr::memmem;
use wide::u8x16;

use crate::bytes::seeded_hash;
use crate::pattern::{PathPattern, PatternList};

use super::chunk::{CHUNK_BYTES, bits, first_bytes};

/// In place of a literal's or a pattern's number: none.
const NONE: u32 = u32::MAX;

/// The literals of a rule set, and who waits for them.
#[derive(Clone, Debug)]
pub(super) struct Scanner {
    /// The distinct literals, ascending.
    literals: Vec<Literal>,
    /// By first byte: where its literals begin; and the end of all.
    starts: Vec<u32>,
    /// The patterns that are asked: of equal ones the first, because it decides.
    waiters: Vec<Waiter>,
    /// By waiter, then by literal: the literals' numbers.
    sequences: Vec<u32>,
    /// The number of paths so far, which tells what is of this one.
    round: u32,
}

#[derive(Clone, Copy, Debug)]
struct Literal {
    /// Where it is in the bytes of all patterns.
    start: u32,
    length: u32,
    /// The longest other literal that this one begins with.
    parent: u32,
    /// The first waiter that waits for this literal before anything has been found: at the path's
    /// beginning, and anywhere.
    beginning: u32,
    first: u32,
    /// In this round: the first waiter that waits for it now, and whether it was found.
    waiting: u32,
    is_found: bool,
    round: u32,
}

impl Literal {
    fn new(start: usize, length: usize) -> Literal {
        let (start, length) = (start as u32, length as u32);
        let none = NONE;
        Literal {
            start,
            length,
            parent: none,
            beginning: none,
            first: none,
            waiting: none,
            is_found: false,
            round: 0,
        }
    }

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
    /// Its literals in `sequences`: the next one that it waits for, the first one and the end.
    at: u32,
    first: u32,
    end: u32,
    /// The place from which on it waits.
    from: u32,
    /// The waiter behind it that waits for the same literal, before anything has been found and now.
    first_next: u32,
    next: u32,
}

/// One path, and what has been found in it.
struct Pass<'p> {
    /// Those of all patterns.
    bytes: &'p [u8],
    path: &'p [u8],
    /// The first pattern that matches.
    best: u32,
    steps: u64,
}

/// The first bytes of a text as a number that orders as they do.
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
        let mut known: HashTable<(u64, u32)> = HashTable::with_capacity(patterns.len());
        let mut waiters = Vec::with_capacity(patterns.len());
        let mut literals = Vec::with_capacity(patterns.len());
        let mut sequences = Vec::with_capacity(patterns.len() + patterns.stars());
        let mut identity = Vec::new();
        for (pattern, index) in patterns.iter().zip(0_u32..) {
            pattern.write_identity(&mut identity);
            let hash = seeded_hash(&identity);
            let same = |&(other, number): &(u64, u32)| {
                other == hash && patterns.get(number as usize).is_same(&pattern)
            };
            match known.entry(hash, same, |&(hash, _)| hash) {
                hash_table::Entry::Occupied(_) => continue,
                hash_table::Entry::Vacant(new) => new.insert((hash, index)),
            };
            let first = sequences.len() as u32;
            let mut start = pattern.start();
            for literal in pattern.literals() {
                let number = match numbers.entry(literal) {
                    Entry::Occupied(known) => *known.get(),
                    Entry::Vacant(new) => {
                        literals.push(Literal::new(start, literal.len()));
                        *new.insert(literals.len() as u32 - 1)
                    }
                };
                sequences.push(number);
                start += literal.len();
            }
            let end = sequences.len() as u32;
            waiters.push(Waiter {
                pattern: index,
                anchored: pattern.anchored,
                at: first,
                first,
                end,
                from: 0,
                first_next: NONE,
                next: NONE,
            });
        }
        drop((numbers, known));
        let text = |literal: &Literal| literal.text(bytes);
        let of = |number: u32| text(&literals[number as usize]);
        // The first bytes of most literals differ, and comparing those needs no look at the others.
        let mut order: Vec<(u64, u32)> =
            (0..literals.len() as u32).map(|number| (head(of(number)), number)).collect();
        order.sort_unstable_by(|&(one_head, one), &(other_head, other)| {
            one_head.cmp(&other_head).then_with(|| of(one).cmp(of(other)))
        });
        let mut ranks = vec![0; order.len()];
        order.iter().zip(0..).for_each(|(&(_, number), rank)| ranks[number as usize] = rank);
        sequences.iter_mut().for_each(|number| *number = ranks[*number as usize]);
        let mut literals: Vec<Literal> =
            order.iter().map(|&(_, number)| literals[number as usize]).collect();
        for number in 1..literals.len() {
            let mut parent = number as u32 - 1;
            while parent != NONE {
                let literal = &literals[parent as usize];
                if text(&literals[number]).starts_with(text(literal)) {
                    break;
                }
                parent = literal.parent;
            }
            literals[number].parent = parent;
        }
        let begins_before = |byte: usize| {
            let is_before = |literal: &Literal| {
                text(literal).first().is_none_or(|&first| usize::from(first) < byte)
            };
            literals.partition_point(is_before) as u32
        };
        let starts = (0..=256).map(begins_before).collect();
        let mut scanner = Scanner { literals, starts, waiters, sequences, round: 0 };
        scanner.file_waiters();
        scanner
    }

    /// Files each waiter under what it waits for first.
    fn file_waiters(&mut self) {
        for (waiter, number) in self.waiters.iter_mut().zip(0_u32..) {
            let prefix = &mut self.literals[self.sequences[waiter.first as usize] as usize];
            // An anchored last literal is not waited for.
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

    /// Returns the bytes of memory that this holds.
    pub(super) fn memory_bytes(&self) -> usize {
        size_of_val(&*self.literals)
            + size_of_val(&*self.starts)
            + size_of_val(&*self.waiters)
            + size_of_val(&*self.sequences)
    }

    /// Returns the first pattern that matches `path`, and how many bytes, literals and patterns were
    /// looked at. `patterns` are those that the scanner was made of.
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
        // The empty literal begins every path.
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

    /// Finds all literals that begin at `place`.
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

    /// Has the patterns go on that wait for a literal, which begins at `place`.
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

    /// Notes that the literal that a waiter waits for was found, and ends before `end`.
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

    /// Has a waiter wait for a literal.
    fn wait(&mut self, number: u32, literal: usize) {
        let next = std::mem::replace(&mut self.literal_of_round(literal).waiting, number);
        self.waiters[number as usize].next = next;
    }

    /// A literal as it is in this round.
    fn literal_of_round(&mut self, number: usize) -> &mut Literal {
        let literal = &mut self.literals[number];
        if literal.round != self.round {
            (literal.round, literal.waiting, literal.is_found) = (self.round, NONE, false);
        }
        literal
    }
}

/// The number of bytes with which both texts begin.
fn common_bytes(one: &[u8], other: &[u8]) -> usize {
    let chunks = one.chunks_exact(CHUNK_BYTES).zip(other.chunks_exact(CHUNK_BYTES));
    let start = chunks.take_while(|(one, other)| one == other).count() * CHUNK_BYTES;
    let rest = one[start..].iter().zip(&other[start..]);
    start + rest.take_while(|(one, other)| one == other).count()
}

/// Whether `pattern` matches `path`.
#[inline]
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

/// Bytes of a text in which a literal is looked for without preparation: to prepare a search that is
/// never slow takes longer than that.
const SHORT_BYTES: usize = 128;

/// Where `literal` first stands in `text`.
#[inline]
fn find(text: &[u8], literal: &[u8]) -> Option<usize> {
    let (Some(&first), Some(&last)) = (literal.first(), literal.last()) else { return Some(0) };
    let last_start = text.len().checked_sub(literal.len())?;
    if text.len() > SHORT_BYTES {
        return memmem::find(text, literal);
    }
    // Sixteen places are looked at together: the literal's ends have to stand there.
    let places = |from: usize, byte: u8| {
        let bytes = u8x16::new(first_bytes(&text[from..]).to_le_bytes());
        bytes.simd_eq(u8x16::splat(byte)).to_bitmask()
    };
    let stands = |place: &usize| *place <= last_start && text[*place..].starts_with(literal);
    (0..=last_start).step_by(CHUNK_BYTES).find_map(|start| {
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
