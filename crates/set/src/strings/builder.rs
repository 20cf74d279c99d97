//! Interns strings and sorts the distinct ones.

use std::hash::BuildHasher;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use rayon::prelude::*;

use super::{BUCKET_STRINGS, StringID};
use crate::file::{Destination, SectionKind, SetFileWriter, WriteError};
use portcullis_dialect::limits::{SET_STRING_BYTES_MAX, SET_STRINGS_MAX};
use portcullis_engine::bytes::push_varint;

/// The bytes of a string that are cached while sorting: those of `Disallow: /`, and enough of the
/// path to tell most paths apart.
const HEAD_BYTES: usize = 28;

/// The number of strings that one thread front-codes as a piece: whole buckets.
const PIECE_STRINGS: usize = BUCKET_STRINGS << if cfg!(test) { 1 } else { 12 };

/// A string of a table under construction. Its final number is known once all strings are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ProvisionalString(pub u32);

/// An error that prevents a string from being stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
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
}

/// Interns strings. Memory: the distinct strings and about 20 bytes for each.
#[derive(Debug, Default)]
pub struct StringTableBuilder {
    bytes: Vec<u8>,
    /// The end of each string in `bytes`; a string begins at the end of the previous one.
    ends: Vec<u64>,
    numbers: HashTable<Numbered>,
    hasher: foldhash::fast::RandomState,
}

/// The number of a string, and half of its hash. Most different strings differ in it, which avoids
/// a cache miss for the string itself. A rehash does not need the strings either.
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

impl StringTableBuilder {
    /// Stores `string` if it is new, and returns its provisional number.
    pub fn intern(&mut self, string: &[u8]) -> Result<ProvisionalString, StringError> {
        if string.len() > SET_STRING_BYTES_MAX {
            return Err(StringError::TooLong { bytes: string.len() });
        }
        let StringTableBuilder { bytes, ends, numbers, hasher } = self;
        let half = hasher.hash_one(string) as u32;
        let entry = numbers.entry(
            Numbered::hash(half),
            |known| known.half == half && string_at(bytes, ends, known.number) == string,
            |known| Numbered::hash(known.half),
        );
        match entry {
            Entry::Occupied(entry) => Ok(ProvisionalString(entry.get().number)),
            Entry::Vacant(_) if ends.len() >= SET_STRINGS_MAX as usize => Err(StringError::TooMany),
            Entry::Vacant(entry) => {
                let number = ends.len() as u32;
                entry.insert(Numbered { half, number });
                bytes.extend_from_slice(string);
                ends.push(bytes.len() as u64);
                Ok(ProvisionalString(number))
            }
        }
    }

    /// Returns the number of distinct strings.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Sorts and front-codes the strings, on the calling thread's rayon pool. The result depends
    /// only on the set of strings, not on the order in which they were added.
    pub fn finish(self) -> StringTable {
        let StringTableBuilder { bytes, ends, numbers, .. } = self;
        drop(numbers);
        let string = |number: u32| string_at(&bytes, &ends, number);
        let order = sorted(ends.len() as u32, string);
        let mut ids = vec![StringID(0); order.len()];
        (0..).zip(&order).for_each(|(id, &number)| ids[number as usize] = StringID(id));
        let piece = |numbers: &[u32]| {
            let mut piece = Piece::default();
            for bucket in numbers.chunks(BUCKET_STRINGS) {
                piece.push_bucket(bucket.iter().map(|&number| string(number)));
            }
            piece
        };
        StringTable {
            count: order.len(),
            ids,
            pieces: order.par_chunks(PIECE_STRINGS).map(piece).collect(),
        }
    }
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
#[derive(Clone, Debug, Default)]
pub struct StringTable {
    count: usize,
    /// The final number of each provisional number.
    ids: Vec<StringID>,
    pieces: Vec<Piece>,
}

/// Consecutive buckets, and where each begins among their bytes.
#[derive(Clone, Debug, Default)]
struct Piece {
    bytes: Vec<u8>,
    bucket_starts: Vec<u64>,
}

impl StringTable {
    /// Returns the final number of `string`.
    ///
    /// # Panics
    ///
    /// If `string` comes from another builder with more strings.
    pub fn id(&self, string: ProvisionalString) -> StringID {
        self.ids[string.0 as usize]
    }

    /// Returns the number of strings, which the reader needs to open them.
    pub fn len(&self) -> u64 {
        self.count as u64
    }

    /// Returns the size of the two sections, in bytes.
    pub fn bytes(&self) -> usize {
        let bytes = |piece: &Piece| piece.bytes.len() + size_of_val(&*piece.bucket_starts);
        self.pieces.iter().map(bytes).sum()
    }

    /// Writes the two sections.
    pub fn write<D: Destination>(&self, writer: &mut SetFileWriter<D>) -> Result<(), WriteError> {
        writer.begin(SectionKind::STRINGS)?;
        self.pieces.iter().try_for_each(|piece| writer.write(&piece.bytes))?;
        writer.begin(SectionKind::STRING_BUCKETS)?;
        let mut end = 0;
        for piece in &self.pieces {
            let starts = piece.bucket_starts.iter().map(|start| (end + start).to_le_bytes());
            writer.write(starts.collect::<Vec<_>>().as_flattened())?;
            end += piece.bytes.len() as u64;
        }
        writer.write(&end.to_le_bytes())
    }
}

impl Piece {
    fn push_bucket<'s>(&mut self, strings: impl Iterator<Item = &'s [u8]>) {
        self.bucket_starts.push(self.bytes.len() as u64);
        let mut last: &[u8] = b"";
        for string in strings {
            let shared = shared_bytes(last, string);
            push_varint(&mut self.bytes, shared as u32);
            push_varint(&mut self.bytes, (string.len() - shared) as u32);
            self.bytes.extend_from_slice(&string[shared..]);
            last = string;
        }
    }
}

/// Returns the length of the common prefix.
pub(super) fn shared_bytes(one: &[u8], other: &[u8]) -> usize {
    let (pieces, _) = one.as_chunks::<8>();
    let (others, _) = other.as_chunks::<8>();
    let same = 8 * pieces.iter().zip(others).take_while(|(a, b)| a == b).count();
    same + one[same..].iter().zip(&other[same..]).take_while(|(a, b)| a == b).count()
}
