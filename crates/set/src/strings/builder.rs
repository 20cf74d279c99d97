//! Ingesting strings, and putting the distinct ones in order.

use std::hash::BuildHasher;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use rayon::prelude::*;

use super::{BUCKET_STRINGS, StringID};
use crate::file::{Destination, SectionKind, SetFileWriter, WriteError};
use portcullis_dialect::limits::{SET_STRING_BYTES_MAX, SET_STRINGS_MAX};
use portcullis_matcher::bytes::push_varint;

/// Bytes of a string that are at hand while strings are sorted: those of `Disallow: /` and some that
/// tell paths apart.
const HEAD_BYTES: usize = 28;

/// Strings that one thread front-codes as one piece: whole buckets.
const PIECE_STRINGS: usize = BUCKET_STRINGS << if cfg!(test) { 1 } else { 12 };

/// A string of a table that is being built. What it will be called is known when all are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ProvisionalString(pub u32);

/// A string cannot be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StringError {
    /// It is longer than a set's string may be.
    #[error(
        "a line has {bytes} bytes, and a policy set keeps {SET_STRING_BYTES_MAX} of one at most; \
         set a limit with --max-robots-size"
    )]
    TooLong {
        /// Its bytes.
        bytes: usize,
    },
    /// There are as many as a set may have.
    #[error("there are more than {SET_STRINGS_MAX} distinct strings; compile several smaller sets")]
    TooMany,
}

/// Strings that are being ingested, each kept once. Its memory: the distinct strings and some 20
/// bytes for each.
#[derive(Debug, Default)]
pub struct StringTableBuilder {
    bytes: Vec<u8>,
    /// Where each string ends in `bytes`; it begins where the one before it ends.
    ends: Vec<u64>,
    numbers: HashTable<Numbered>,
    hasher: foldhash::fast::RandomState,
    /// Strings that stay as they come, if they do.
    plain: Option<StringTable>,
}

/// The number of a string, and half of its hash: most of what differs is told apart without a look at
/// the string, which is a cache miss, and so is a table that grows.
#[derive(Clone, Copy, Debug)]
struct Numbered {
    half: u32,
    number: u32,
}

impl Numbered {
    /// The hash by which it is filed.
    fn hash(half: u32) -> u64 {
        u64::from(half).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }
}

impl StringTableBuilder {
    /// Strings that stay as they come, equal ones again and again: the table takes more room and less time.
    /// There is room for so many bytes at once.
    pub fn plain(bytes: usize) -> StringTableBuilder {
        let piece = Piece { bytes: Vec::with_capacity(bytes), ..Piece::default() };
        let plain = StringTable { pieces: vec![piece], ..StringTable::default() };
        StringTableBuilder { plain: Some(plain), ..StringTableBuilder::default() }
    }

    /// Keeps `string`, if it is a new one.
    pub fn intern(&mut self, string: &[u8]) -> Result<ProvisionalString, StringError> {
        if string.len() > SET_STRING_BYTES_MAX {
            return Err(StringError::TooLong { bytes: string.len() });
        }
        if let Some(plain) = &mut self.plain {
            return plain.push_plain(string);
        }
        let StringTableBuilder { bytes, ends, numbers, hasher, .. } = self;
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

    /// The number of distinct strings.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Sorts and front-codes them, on the calling thread's rayon pool. The result depends on the
    /// strings alone, not on their order before.
    pub fn finish(self) -> StringTable {
        let StringTableBuilder { bytes, ends, numbers, plain, .. } = self;
        if let Some(table) = plain {
            return table;
        }
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
            ids: Some(ids),
            pieces: order.par_chunks(PIECE_STRINGS).map(piece).collect(),
        }
    }
}

/// The numbers from 0 to `count` in the order of their strings, on 32 bytes of memory for each: strings
/// are compared by their first bytes, which lie side by side, and looked up where those are equal.
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

/// The strings, as a file has them.
#[derive(Clone, Debug, Default)]
pub struct StringTable {
    count: usize,
    /// By provisional number, where strings were put in order.
    ids: Option<Vec<StringID>>,
    pieces: Vec<Piece>,
}

/// Buckets that stand one behind the other, and where each begins among their bytes.
#[derive(Clone, Debug, Default)]
struct Piece {
    bytes: Vec<u8>,
    bucket_starts: Vec<u64>,
}

impl StringTable {
    fn push_plain(&mut self, string: &[u8]) -> Result<ProvisionalString, StringError> {
        if self.count >= SET_STRINGS_MAX as usize {
            return Err(StringError::TooMany);
        }
        let is_first = self.count.is_multiple_of(BUCKET_STRINGS);
        self.pieces[0].push_plain(string, is_first);
        self.count += 1;
        Ok(ProvisionalString(self.count as u32 - 1))
    }

    /// Whether strings have other numbers now than their provisional ones.
    pub fn is_ordered(&self) -> bool {
        self.ids.is_some()
    }

    /// What `string` is called now.
    ///
    /// # Panics
    ///
    /// If it is of another builder with more strings.
    pub fn id(&self, string: ProvisionalString) -> StringID {
        self.ids.as_ref().map_or(StringID(string.0), |ids| ids[string.0 as usize])
    }

    /// The number of strings, which the reader has to be told.
    pub fn len(&self) -> u64 {
        self.count as u64
    }

    /// Bytes of the two sections.
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
    fn push_plain(&mut self, string: &[u8], is_first: bool) {
        if is_first {
            self.bucket_starts.push(self.bytes.len() as u64);
        }
        push_varint(&mut self.bytes, 0);
        push_varint(&mut self.bytes, string.len() as u32);
        self.bytes.extend_from_slice(string);
    }

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

/// How many bytes both begin with.
pub(super) fn shared_bytes(one: &[u8], other: &[u8]) -> usize {
    let (pieces, _) = one.as_chunks::<8>();
    let (others, _) = other.as_chunks::<8>();
    let same = 8 * pieces.iter().zip(others).take_while(|(a, b)| a == b).count();
    same + one[same..].iter().zip(&other[same..]).take_while(|(a, b)| a == b).count()
}
