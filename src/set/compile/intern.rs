//! Lists of numbers, each kept once, end to end.

use hashbrown::HashTable;
use zerocopy::IntoBytes;
use zerocopy::little_endian::U32;

use crate::bytes::seeded_hash;

/// Appends a number.
pub fn push(words: &mut Vec<U32>, number: u32) {
    words.push(U32::new(number));
}

/// A position in a list of words. A set that needs more than 2^32 words of one kind is beyond what
/// one file is for: split its input.
pub fn position(words: &[U32]) -> u32 {
    let position = u32::try_from(words.len()).ok().filter(|&position| position < u32::MAX);
    position.expect("a section has fewer than 2^32 words; compile the input as several sets")
}

/// Lists that are kept once.
#[derive(Default)]
pub struct Lists {
    pub words: Vec<U32>,
    known: HashTable<(u64, u32, u32)>,
    /// Whether equal ones are kept again: they take more room then and less time.
    pub is_plain: bool,
}

impl Lists {
    /// The position of `list` among all words.
    pub fn intern(&mut self, list: &[U32]) -> u32 {
        if self.is_plain {
            let start = position(&self.words);
            self.words.extend_from_slice(list);
            return start;
        }
        let hash = seeded_hash(list.as_bytes());
        let words = &self.words;
        let same = |&(other, start, length): &(u64, u32, u32)| {
            other == hash && words[start as usize..][..length as usize] == *list
        };
        if let Some(&(_, start, _)) = self.known.find(hash, same) {
            return start;
        }
        let start = position(&self.words);
        self.words.extend_from_slice(list);
        self.known.insert_unique(hash, (hash, start, list.len() as u32), |&(hash, ..)| hash);
        start
    }
}
