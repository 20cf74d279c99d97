//! Interns strings and sorts the distinct ones, in bounded memory.
//!
//! Strings are collected in a table. A full table is written as a sorted run and begun anew; in the
//! end the runs are merged and front-coded. A string that comes again after its table was written
//! has a second provisional number, and both lead to the same final number.

#[cfg(test)]
mod tests;

use std::hash::BuildHasher;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use rayon::prelude::*;
use zerocopy::little_endian::U64;

use portcullis_engine::bytes::push_varint;
use portcullis_files::error::WriteError;
use portcullis_files::runs::SortedRuns;
use portcullis_files::scratch::{Items, Scratch, Spool};
use portcullis_set::file::SectionKind;
use portcullis_set::limits::{SET_STRING_BYTES_MAX, SET_STRINGS_MAX};
use portcullis_set::strings::{BUCKET_STRINGS, StringID};

use crate::writer::SectionSink;

/// The bytes of a string that are cached while sorting: those of `Disallow: /`, and enough of the
/// path to tell most paths apart.
const HEAD_BYTES: usize = 28;

/// A string of a table under construction. Its final number is known once all strings are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ProvisionalString(pub u32);

/// An error that prevents a string from being stored.
#[derive(Debug, thiserror::Error)]
pub enum StringError {
    /// The string is longer than a set's strings may be.
    #[error(
        "a line has {bytes} bytes, and a policy set keeps {SET_STRING_BYTES_MAX} of one at most; \
         set a limit with --max-robots-size"
    )]
    TooLong {
        /// The length of the string, in bytes.
        bytes: usize,
    },
    /// The table is full.
    #[error("there are more than {SET_STRINGS_MAX} distinct strings; compile several smaller sets")]
    TooMany,
    /// A temporary file failed.
    #[error(transparent)]
    Scratch(#[from] WriteError),
}

/// Interns strings. Memory: the distinct strings of a run and about 20 bytes for each, and 4 bytes for
/// each string of all runs.
#[derive(Debug)]
pub struct StringTableBuilder {
    scratch: Scratch,
    bytes: Vec<u8>,
    /// The end of each string in `bytes`; a string begins at the end of the previous one.
    ends: Vec<u64>,
    numbers: HashTable<Numbered>,
    hasher: foldhash::fast::RandomState,
    /// The provisional number of the first string in `bytes`.
    first: u32,
    /// The strings of earlier tables, each a record: the string and its provisional number.
    runs: SortedRuns,
}

/// The number of a string in its table, and half of its hash. Most different strings differ in it,
/// which avoids a cache miss for the string itself. A rehash does not need the strings either.
#[derive(Clone, Copy, Debug)]
struct Numbered {
    half: u32,
    number: u32,
}

impl Numbered {
    /// Returns the hash for the table.
    fn hash(half: u32) -> u64 {
        u64::from(half).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }
}

/// The bytes of a provisional number in a record.
const NUMBER_BYTES: usize = size_of::<u32>();

impl StringTableBuilder {
    /// Creates a builder without strings.
    pub fn new(scratch: &Scratch) -> StringTableBuilder {
        StringTableBuilder {
            scratch: scratch.clone(),
            bytes: Vec::new(),
            ends: Vec::new(),
            numbers: HashTable::new(),
            hasher: foldhash::fast::RandomState::default(),
            first: 0,
            runs: SortedRuns::new(scratch, string_of),
        }
    }

    /// Stores `string` if it is new, and returns a provisional number.
    pub fn intern(&mut self, string: &[u8]) -> Result<ProvisionalString, StringError> {
        if string.len() > SET_STRING_BYTES_MAX {
            return Err(StringError::TooLong { bytes: string.len() });
        }
        let StringTableBuilder { bytes, ends, numbers, hasher, first, .. } = self;
        let half = hasher.hash_one(string) as u32;
        let entry = numbers.entry(
            Numbered::hash(half),
            |known| known.half == half && string_at(bytes, ends, known.number) == string,
            |known| Numbered::hash(known.half),
        );
        let number = match entry {
            Entry::Occupied(entry) => entry.get().number,
            Entry::Vacant(_) if *first as usize + ends.len() >= SET_STRINGS_MAX as usize => {
                return Err(StringError::TooMany);
            }
            Entry::Vacant(entry) => {
                let number = ends.len() as u32;
                entry.insert(Numbered { half, number });
                bytes.extend_from_slice(string);
                ends.push(bytes.len() as u64);
                number
            }
        };
        let provisional = ProvisionalString(*first + number);
        if self.run_bytes() > self.scratch.run_bytes() {
            self.spill()?;
        }
        Ok(provisional)
    }

    /// Returns about the memory that the strings of a run take, also while they are sorted.
    fn run_bytes(&self) -> usize {
        self.bytes.len() + self.ends.len() * (24 + size_of::<([u8; HEAD_BYTES], u32)>())
    }

    /// Returns the size of what grows with all strings, in bytes.
    pub fn table_bytes(&self) -> usize {
        self.len() * size_of::<StringID>()
    }

    /// Writes the table as a sorted run, and begins anew.
    fn spill(&mut self) -> Result<(), WriteError> {
        let mut run = Spool::new(&self.scratch);
        let mut record = Vec::new();
        for number in self.sorted() {
            record.clear();
            record.extend_from_slice(string_at(&self.bytes, &self.ends, number));
            record.extend_from_slice(&(self.first + number).to_le_bytes());
            run.write_record(&record)?;
        }
        self.runs.push(run)?;
        self.first += self.ends.len() as u32;
        self.bytes.clear();
        self.ends.clear();
        self.numbers.clear();
        Ok(())
    }

    /// Returns the numbers of the table in the order of their strings.
    fn sorted(&self) -> Vec<u32> {
        sorted(self.ends.len() as u32, |number| string_at(&self.bytes, &self.ends, number))
    }

    /// Returns the number of provisional numbers.
    pub fn len(&self) -> usize {
        self.first as usize + self.ends.len()
    }

    /// Passes the strings to `take` in order, each with its provisional number, on the calling thread's
    /// rayon pool. A string that has several comes as often.
    pub fn each_sorted(
        mut self,
        mut take: impl FnMut(&[u8], u32) -> Result<(), WriteError>,
    ) -> Result<(), WriteError> {
        self.numbers = HashTable::new();
        if self.runs.is_empty() {
            let mut sorted = self.sorted().into_iter();
            return sorted.try_for_each(|it| take(string_at(&self.bytes, &self.ends, it), it));
        }
        self.spill()?;
        (self.bytes, self.ends) = (Vec::new(), Vec::new());
        self.runs.merge(|string, record| {
            let number = record.last_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
            take(string, number)
        })
    }

    /// Sorts and front-codes the strings. The result depends only on the set of strings, not on the
    /// order in which they were added.
    pub fn finish(self) -> Result<StringTable, WriteError> {
        let mut table = StringTable {
            count: 0,
            ids: vec![StringID(0); self.len()],
            bytes: Spool::new(&self.scratch),
            bucket_starts: Items::new(&self.scratch),
            last: Vec::new(),
            coded: Vec::new(),
        };
        self.each_sorted(|string, number| table.push(string, number))?;
        table.bucket_starts.push(&[U64::new(table.bytes.len())])?;
        Ok(table)
    }
}

/// Returns the string of a record.
fn string_of(record: &[u8]) -> Option<&[u8]> {
    record.split_last_chunk::<NUMBER_BYTES>().map(|(string, _)| string)
}

/// Returns the numbers from 0 to `count` in the order of their strings. Uses 32 bytes of memory for
/// each string. The first bytes of strings are contiguous; a string is only looked up if those are
/// equal.
fn sorted<'s>(count: u32, string: impl Fn(u32) -> &'s [u8] + Sync) -> Vec<u32> {
    let key = |number: u32| {
        let mut first = [0; HEAD_BYTES];
        let string = string(number);
        let bytes = string.len().min(HEAD_BYTES);
        first[..bytes].copy_from_slice(&string[..bytes]);
        (first, number)
    };
    let mut keys: Vec<([u8; HEAD_BYTES], u32)> = (0..count).into_par_iter().map(key).collect();
    keys.par_sort_unstable_by(|(one_head, one), (other_head, other)| {
        one_head.cmp(other_head).then_with(|| string(*one).cmp(string(*other)))
    });
    keys.into_iter().map(|(_, number)| number).collect()
}

fn string_at<'o>(bytes: &'o [u8], ends: &[u64], number: u32) -> &'o [u8] {
    let number = number as usize;
    let start = if number == 0 { 0 } else { ends[number - 1] };
    &bytes[start as usize..ends[number] as usize]
}

/// The strings in their stored form.
#[derive(Debug)]
pub struct StringTable {
    count: u32,
    /// The final number of each provisional number.
    ids: Vec<StringID>,
    bytes: Spool,
    bucket_starts: Items<U64>,
    /// The last string.
    last: Vec<u8>,
    coded: Vec<u8>,
}

impl StringTable {
    /// Returns the final number of `string`; `None` if another builder with more strings gave it.
    pub fn id(&self, string: ProvisionalString) -> Option<StringID> {
        self.ids.get(string.0 as usize).copied()
    }

    /// Returns the number of strings, which the reader needs to open them.
    pub fn len(&self) -> u64 {
        self.count.into()
    }

    /// Returns the size of the two sections, in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes.len() + self.bucket_starts.spool().len()
    }

    /// Writes the two sections.
    pub fn write<S: SectionSink>(&self, writer: &mut S) -> Result<(), S::Error> {
        writer.spool(SectionKind::STRINGS, &self.bytes)?;
        writer.spool(SectionKind::STRING_BUCKETS, self.bucket_starts.spool())
    }

    /// Appends the next string in order, unless it equals the last.
    fn push(&mut self, string: &[u8], provisional: u32) -> Result<(), WriteError> {
        if self.count == 0 || self.last != string {
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
        }
        let id = self.ids.get_mut(provisional as usize).ok_or_else(|| self.bytes.changed())?;
        *id = StringID(self.count - 1);
        Ok(())
    }
}

/// Returns the length of the common prefix.
pub(super) fn shared_bytes(one: &[u8], other: &[u8]) -> usize {
    let (pieces, _) = one.as_chunks::<8>();
    let (others, _) = other.as_chunks::<8>();
    let same = 8 * pieces.iter().zip(others).take_while(|(a, b)| a == b).count();
    same + one[same..].iter().zip(&other[same..]).take_while(|(a, b)| a == b).count()
}
