//! Gathering strings, and putting the distinct ones in order.

use std::hash::BuildHasher;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use rayon::prelude::*;

use super::{BUCKET_STRINGS, StringID};
use crate::bytes::push_varint;
use crate::limits::{SET_STRING_OCTETS_MAX, SET_STRINGS_MAX};
use crate::set::file::{Destination, SectionKind, SetFileWriter, WriteError};

/// Octets of a string that are at hand while strings are sorted: those of `Disallow: /` and some that
/// tell paths apart.
const HEAD_OCTETS: usize = 28;

/// A string of a table that is being built. What it will be called is known when all are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ProvisionalString(pub(crate) u32);

/// A string cannot be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StringError {
    /// It is longer than a set's string may be.
    #[error(
        "a line has {octets} octets, and a policy set keeps {SET_STRING_OCTETS_MAX} of one at most; \
         set a limit with --max-robots-size"
    )]
    TooLong {
        /// Its octets.
        octets: usize,
    },
    /// There are as many as a set may have.
    #[error("there are more than {SET_STRINGS_MAX} distinct strings; compile several smaller sets")]
    TooMany,
}

/// Strings that are being gathered, each kept once. Its memory: the distinct strings and some 20
/// octets for each.
#[derive(Debug, Default)]
pub(crate) struct StringTableBuilder {
    octets: Vec<u8>,
    /// Where each string ends in `octets`; it begins where the one before it ends.
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
    pub(crate) fn plain(octets: usize) -> StringTableBuilder {
        let plain = StringTable { octets: Vec::with_capacity(octets), ..StringTable::default() };
        StringTableBuilder { plain: Some(plain), ..StringTableBuilder::default() }
    }

    /// Keeps `string`, if it is a new one.
    ///
    /// # Errors
    ///
    /// If it is too long, or one too many.
    pub(crate) fn intern(&mut self, string: &[u8]) -> Result<ProvisionalString, StringError> {
        if string.len() > SET_STRING_OCTETS_MAX {
            return Err(StringError::TooLong { octets: string.len() });
        }
        if let Some(plain) = &mut self.plain {
            return plain.push_plain(string);
        }
        let StringTableBuilder { octets, ends, numbers, hasher, .. } = self;
        let half = hasher.hash_one(string) as u32;
        let entry = numbers.entry(
            Numbered::hash(half),
            |known| known.half == half && string_at(octets, ends, known.number) == string,
            |known| Numbered::hash(known.half),
        );
        match entry {
            Entry::Occupied(entry) => Ok(ProvisionalString(entry.get().number)),
            Entry::Vacant(_) if ends.len() >= SET_STRINGS_MAX as usize => Err(StringError::TooMany),
            Entry::Vacant(entry) => {
                let number = ends.len() as u32;
                entry.insert(Numbered { half, number });
                octets.extend_from_slice(string);
                ends.push(octets.len() as u64);
                Ok(ProvisionalString(number))
            }
        }
    }

    /// The number of distinct strings.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Sorts and front-codes them, on the calling thread's rayon pool. The result depends on the
    /// strings alone, not on their order before.
    pub(crate) fn finish(self) -> StringTable {
        let StringTableBuilder { octets, ends, numbers, plain, .. } = self;
        if let Some(mut table) = plain {
            table.bucket_starts.push(table.octets.len() as u64);
            return table;
        }
        drop(numbers);
        let string = |number: u32| string_at(&octets, &ends, number);
        let order = sorted(ends.len(), string);
        let mut ids = vec![StringID(0); order.len()];
        let mut table = StringTable {
            count: order.len(),
            bucket_starts: Vec::with_capacity(order.len() / BUCKET_STRINGS + 2),
            ..StringTable::default()
        };
        for (bucket, numbers) in order.chunks(BUCKET_STRINGS).enumerate() {
            for (place, &number) in numbers.iter().enumerate() {
                let id = StringID((bucket * BUCKET_STRINGS + place) as u32);
                ids[number as usize] = id;
            }
            table.push_bucket(numbers.iter().map(|&number| string(number)));
        }
        table.bucket_starts.push(table.octets.len() as u64);
        StringTable { ids: Some(ids), ..table }
    }
}

/// The numbers from 0 to `count` in the order of their strings.
///
/// Strings are compared by their first octets, which lie side by side, and looked up where those
/// are equal.
fn sorted<'s>(count: usize, string: impl Fn(u32) -> &'s [u8] + Sync) -> Vec<u32> {
    let key = |number: u32| {
        let mut first = [0; HEAD_OCTETS];
        let string = string(number);
        let octets = string.len().min(HEAD_OCTETS);
        first[..octets].copy_from_slice(&string[..octets]);
        (first, number)
    };
    let mut keys: Vec<([u8; HEAD_OCTETS], u32)> =
        (0..count as u32).into_par_iter().map(key).collect();
    keys.par_sort_unstable_by(|(one_head, one), (other_head, other)| {
        one_head.cmp(other_head).then_with(|| string(*one).cmp(string(*other)))
    });
    keys.into_iter().map(|(_, number)| number).collect()
}

fn string_at<'o>(octets: &'o [u8], ends: &[u64], number: u32) -> &'o [u8] {
    let number = number as usize;
    let start = if number == 0 { 0 } else { ends[number - 1] };
    &octets[start as usize..ends[number] as usize]
}

/// The strings, as a file has them.
#[derive(Clone, Debug, Default)]
pub(crate) struct StringTable {
    count: usize,
    /// By provisional number, where strings were put in order.
    ids: Option<Vec<StringID>>,
    octets: Vec<u8>,
    bucket_starts: Vec<u64>,
}

impl StringTable {
    /// What `string` is called now.
    ///
    /// # Panics
    ///
    /// If it is of another builder with more strings.
    pub(crate) fn id(&self, string: ProvisionalString) -> StringID {
        self.ids.as_ref().map_or(StringID(string.0), |ids| ids[string.0 as usize])
    }

    /// The number of strings, which the reader has to be told.
    pub(crate) fn len(&self) -> u64 {
        self.count as u64
    }

    /// Bytes of the two sections.
    pub(crate) fn octets(&self) -> usize {
        self.octets.len() + size_of_val(&*self.bucket_starts)
    }

    /// Writes the two sections.
    ///
    /// # Errors
    ///
    /// If the file cannot be written to.
    pub(crate) fn write<D: Destination>(
        &self,
        writer: &mut SetFileWriter<D>,
    ) -> Result<(), WriteError> {
        writer.begin(SectionKind::STRINGS)?;
        writer.write(&self.octets)?;
        writer.begin(SectionKind::STRING_BUCKETS)?;
        self.bucket_starts.iter().try_for_each(|start| writer.write(&start.to_le_bytes()))
    }

    fn push_plain(&mut self, string: &[u8]) -> Result<ProvisionalString, StringError> {
        if self.count >= SET_STRINGS_MAX as usize {
            return Err(StringError::TooMany);
        }
        if self.count.is_multiple_of(BUCKET_STRINGS) {
            self.bucket_starts.push(self.octets.len() as u64);
        }
        push_varint(&mut self.octets, 0);
        push_varint(&mut self.octets, string.len() as u32);
        self.octets.extend_from_slice(string);
        self.count += 1;
        Ok(ProvisionalString(self.count as u32 - 1))
    }

    fn push_bucket<'s>(&mut self, strings: impl Iterator<Item = &'s [u8]>) {
        self.bucket_starts.push(self.octets.len() as u64);
        let mut last: &[u8] = b"";
        for string in strings {
            let shared = shared_octets(last, string);
            push_varint(&mut self.octets, shared as u32);
            push_varint(&mut self.octets, (string.len() - shared) as u32);
            self.octets.extend_from_slice(&string[shared..]);
            last = string;
        }
    }
}

/// How many octets both begin with.
pub(super) fn shared_octets(one: &[u8], other: &[u8]) -> usize {
    one.iter().zip(other).take_while(|(a, b)| a == b).count()
}
