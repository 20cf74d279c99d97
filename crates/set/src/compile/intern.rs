//! Lists of numbers, each stored once, concatenated.

use hashbrown::HashTable;
use zerocopy::little_endian::U32;
use zerocopy::{Immutable, IntoBytes};

use portcullis_engine::bytes::seeded_hash;

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
