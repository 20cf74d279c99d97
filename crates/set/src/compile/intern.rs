//! Numbers, lists of numbers and rule sets, each list and each rule set stored once.

use hashbrown::HashTable;
use zerocopy::little_endian::U32;
use zerocopy::{Immutable, IntoBytes};

use portcullis_engine::bytes::seeded_hash;
use portcullis_engine::{Line, RuleSet, RuleSetBuf};

use super::super::layout::{NONE, rule_set};

/// Appends a number.
pub fn push(words: &mut Vec<U32>, number: u32) {
    words.push(U32::new(number));
}

/// Returns the position after the last item of a section.
///
/// # Panics
///
/// If the section has 2^32 items, which is beyond the size of one set.
pub fn position<T>(items: &[T]) -> u32 {
    let position = u32::try_from(items.len()).ok().filter(|&position| position < u32::MAX);
    position.expect("a section has fewer than 2^32 items; compile the input as several sets")
}

/// Interned lists. Memory: the lists and about 20 bytes for each.
pub struct Lists<T> {
    pub items: Vec<T>,
    known: HashTable<Known>,
}

impl<T> Default for Lists<T> {
    fn default() -> Lists<T> {
        Lists { items: Vec::new(), known: HashTable::new() }
    }
}

/// The range of a list, and half of its hash.
struct Known {
    half: u32,
    start: u32,
    length: u32,
}

impl Known {
    /// Returns the hash for the table.
    fn hash(half: u32) -> u64 {
        u64::from(half).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }
}

impl<T: Copy + PartialEq + Immutable + IntoBytes> Lists<T> {
    /// Returns the position of `list` among all items, and stores it if it is new.
    pub fn intern(&mut self, list: &[T]) -> u32 {
        let half = seeded_hash(list.as_bytes()) as u32;
        let items = &self.items;
        let same = |known: &Known| {
            known.half == half && items[known.start as usize..][..known.length as usize] == *list
        };
        if let Some(known) = self.known.find(Known::hash(half), same) {
            return known.start;
        }
        let start = position(&self.items);
        self.items.extend_from_slice(list);
        let known = Known { half, start, length: list.len() as u32 };
        self.known.insert_unique(Known::hash(half), known, |known| Known::hash(known.half));
        start
    }

    /// Frees the memory used for interning. A list that is added later is stored as new.
    pub fn forget(&mut self) {
        self.known = HashTable::new();
    }
}

/// The rule sets of a set.
#[derive(Default)]
pub struct RuleSets {
    /// The first line and the number of lines of each rule set, by number.
    pub index: Vec<U32>,
    /// The lines of all rule sets.
    pub lines: Vec<Line>,
    /// The number of rule sets that are built lazily from a policy's groups.
    pub of_groups: u64,
    /// The numbers of rule sets, by the hash of their lines.
    known: HashTable<(u64, u32)>,
}

impl RuleSets {
    /// Returns the number of a rule set, which is stored if it is new.
    pub fn intern(&mut self, rules: &RuleSetBuf) -> u32 {
        let hash = seeded_hash(rules.as_bytes());
        let same = |&(other, number): &(u64, u32)| {
            other == hash && self.lines_of(number) == rules.as_lines()
        };
        if let Some(&(_, number)) = self.known.find(hash, same) {
            return number;
        }
        let lines = rules.as_lines();
        let start = u32::try_from(self.lines.len()).ok().filter(|&start| start < NONE);
        let start = start.expect("rule sets have fewer than 2^32 lines; compile several sets");
        self.lines.extend_from_slice(lines);
        let number = self.push([start, lines.len() as u32]);
        self.known.insert_unique(hash, (hash, number), |&(hash, _)| hash);
        number
    }

    fn lines_of(&self, number: u32) -> &[Line] {
        let words = &self.index[number as usize * rule_set::WORDS..];
        let (start, count) = (words[rule_set::LINE].get(), words[rule_set::LINES].get());
        &self.lines[start as usize..][..count as usize]
    }

    /// Returns where in the section the texts of a rule set's patterns begin, in 16-bit units.
    pub fn text_positions(&self, number: u32) -> impl Iterator<Item = u32> {
        let start = self.index[number as usize * rule_set::WORDS + rule_set::LINE].get() as usize;
        let lines = self.lines_of(number);
        let rules = RuleSet::view(lines).expect("what was built");
        const UNITS: usize = size_of::<Line>() / size_of::<u16>();
        let position = move |index| start * UNITS + rules.text_position(lines, index);
        (0..rules.len()).map(move |index| u32::try_from(position(index)).unwrap_or(NONE))
    }

    /// Frees the memory used for interning. A rule set that is added later is stored as new.
    pub fn forget(&mut self) {
        self.known = HashTable::new();
    }

    /// Adds a rule set that is built from a policy's groups when an agent first needs it.
    pub fn push_of_groups(&mut self) -> u32 {
        self.of_groups += 1;
        self.push([NONE, 0])
    }

    fn push(&mut self, words: [u32; rule_set::WORDS]) -> u32 {
        let number = self.len();
        words.into_iter().for_each(|word| push(&mut self.index, word));
        u32::try_from(number).expect("fewer rule sets than words")
    }

    /// Returns the number of rule sets.
    pub fn len(&self) -> u64 {
        (self.index.len() / rule_set::WORDS) as u64
    }
}
