//! The strings and the names of a set, numbered in the order of their first use.
//!
//! Strings are front-coded as they come, in buckets, so nothing is sorted and no number changes. Equal
//! strings are found among the last ones, which are two generations in memory: a string that is used
//! again moves to the younger one, and one that was not used for long is stored again. What a generation
//! holds is part of the format, so the same strings give the same bytes with any memory.
//!
//! Cost: one look-up per string. Memory: two generations of [`STRING_GENERATION_BYTES`] and as much again
//! for finding them; all names.

#[cfg(test)]
mod tests;

use std::hash::BuildHasher;

use hashbrown::HashTable;
use zerocopy::IntoBytes;
use zerocopy::little_endian::{U32, U64};

use portcullis_engine::bytes::{push_varint, shared_bytes};
use portcullis_files::scratch::{Items, Scratch, Spool};
use portcullis_set::file::SectionKind;
use portcullis_set::layout::NONE;
use portcullis_set::limits::{SET_STRING_BYTES_MAX, SET_STRINGS_MAX};
use portcullis_set::strings::BUCKET_STRINGS;

use crate::compile::CompileError;
use crate::limits::STRING_GENERATION_BYTES;
use crate::writer::SectionSink;

/// Strings in memory, each with its number.
#[derive(Debug, Default)]
struct Numbered {
    bytes: Vec<u8>,
    /// The end of each string in `bytes`, where it begins that follows, and its number.
    strings: Vec<(usize, u32)>,
    /// Half of the hash of each string, in which most different strings differ, and its index.
    table: HashTable<(u32, u32)>,
}

impl Numbered {
    /// The count of a string besides its bytes.
    const STRING_BYTES: usize = 16;

    fn at(&self, index: u32) -> &[u8] {
        let index = index as usize;
        let start = if index == 0 { 0 } else { self.strings[index - 1].0 };
        &self.bytes[start..self.strings[index].0]
    }

    /// Returns the hash for the table.
    fn spread(half: u32) -> u64 {
        u64::from(half).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }

    fn get(&self, half: u32, string: &[u8]) -> Option<u32> {
        let is_it = |&(known, index): &(u32, u32)| known == half && self.at(index) == string;
        let (_, index) = self.table.find(Numbered::spread(half), is_it)?;
        Some(self.strings[*index as usize].1)
    }

    fn insert(&mut self, half: u32, string: &[u8], number: u32) {
        let index = self.strings.len() as u32;
        self.bytes.extend_from_slice(string);
        self.strings.push((self.bytes.len(), number));
        let spread = |&(half, _): &(u32, u32)| Numbered::spread(half);
        self.table.insert_unique(Numbered::spread(half), (half, index), spread);
    }

    /// Returns the bytes that count, whatever was allocated for them.
    fn counted(&self) -> usize {
        self.bytes.len() + self.strings.len() * Numbered::STRING_BYTES
    }
}

/// The strings of a set.
#[derive(Debug)]
pub struct StringTable {
    count: u32,
    bytes: Spool,
    bucket_starts: Items<U64>,
    /// The last string that was stored.
    last: Vec<u8>,
    coded: Vec<u8>,
    young: Numbered,
    old: Numbered,
    hasher: foldhash::fast::RandomState,
}

impl StringTable {
    /// Creates a table without strings.
    pub fn new(scratch: &Scratch) -> StringTable {
        StringTable {
            count: 0,
            bytes: Spool::new(scratch),
            bucket_starts: Items::new(scratch),
            last: Vec::new(),
            coded: Vec::new(),
            young: Numbered::default(),
            old: Numbered::default(),
            hasher: foldhash::fast::RandomState::default(),
        }
    }

    /// Returns the number of `string`, which is stored if it is new.
    pub fn intern(&mut self, string: &[u8]) -> Result<u32, CompileError> {
        let half = self.hasher.hash_one(string) as u32;
        if let Some(known) = self.young.get(half, string) {
            return Ok(known);
        }
        let number = match self.old.get(half, string) {
            Some(known) => known,
            None => self.push(string)?,
        };
        if self.young.counted() >= STRING_GENERATION_BYTES {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(half, string, number);
        Ok(number)
    }

    /// Stores a string.
    fn push(&mut self, string: &[u8]) -> Result<u32, CompileError> {
        if string.len() > SET_STRING_BYTES_MAX {
            return Err(CompileError::TooMuch(format!(
                "a line has {} bytes, and a policy set keeps {SET_STRING_BYTES_MAX} of one at most; \
                 set a limit with ‹max_robots_size›",
                string.len()
            )));
        }
        if self.count >= SET_STRINGS_MAX {
            return Err(CompileError::TooMuch(format!(
                "there are more than {SET_STRINGS_MAX} distinct strings; compile several smaller sets"
            )));
        }
        if (self.count as usize).is_multiple_of(BUCKET_STRINGS) {
            self.bucket_starts.push(&[U64::new(self.bytes.len())])?;
            self.last.clear();
        }
        let shared = shared_bytes(&self.last, string);
        self.coded.clear();
        push_varint(&mut self.coded, shared as u32);
        push_varint(&mut self.coded, (string.len() - shared) as u32);
        self.coded.extend_from_slice(&string[shared..]);
        self.bytes.write(&self.coded)?;
        self.last.clear();
        self.last.extend_from_slice(string);
        self.count += 1;
        Ok(self.count - 1)
    }

    /// Returns the number of strings, which the reader needs to open them.
    pub fn len(&self) -> u64 {
        self.count.into()
    }

    /// Writes the sections of the strings and of their buckets.
    pub fn write(
        &self,
        [strings, buckets]: [SectionKind; 2],
        writer: &mut impl SectionSink,
    ) -> Result<(), CompileError> {
        writer.spool(strings, &self.bytes)?;
        writer.spool(buckets, self.bucket_starts.spool())?;
        writer.write(U64::new(self.bytes.len()).as_bytes())
    }
}

/// The names of crawlers.
#[derive(Debug, Default)]
pub struct NameTable {
    names: Numbered,
    hasher: foldhash::fast::RandomState,
}

impl NameTable {
    /// Returns the number of `name`, which is added if it is new.
    pub fn intern(&mut self, name: &[u8]) -> Result<u32, CompileError> {
        let half = self.hasher.hash_one(name) as u32;
        if let Some(known) = self.names.get(half, name) {
            return Ok(known);
        }
        let number = self.names.strings.len() as u32;
        self.names.insert(half, name, number);
        match self.names.bytes.len() < NONE as usize {
            true => Ok(number),
            false => Err(CompileError::too_many_items()),
        }
    }

    /// Returns the number of names.
    pub fn len(&self) -> u64 {
        self.names.strings.len() as u64
    }

    /// Returns the size of the table, in bytes.
    pub fn table_bytes(&self) -> usize {
        let Numbered { bytes, strings, table } = &self.names;
        bytes.capacity() + strings.capacity() * size_of::<(usize, u32)>() + table.allocation_size()
    }

    /// Writes the section.
    pub fn write(&self, writer: &mut impl SectionSink) -> Result<(), CompileError> {
        let Numbered { bytes, strings, .. } = &self.names;
        let mut in_order: Vec<u32> = (0..strings.len() as u32).collect();
        in_order.sort_unstable_by_key(|&number| self.names.at(number));
        let ends = strings.iter().map(|(end, _)| *end as u32);
        let count = std::iter::once(strings.len() as u32);
        let words: Vec<U32> = count.chain(ends).chain(in_order).map(U32::new).collect();
        writer.section(SectionKind::TOKENS, words.as_bytes())?;
        writer.write(bytes)
    }
}
