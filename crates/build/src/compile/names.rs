//! The names of robots, each stored once, and their final numbers.
//!
//! Names are numbered in the order of their bytes, which is known once all policies were added. Until
//! then policies have provisional numbers; [`NameTable::numbered`] replaces them. Names take the way of
//! [strings](crate::strings), so many of them are sorted on disk.

use zerocopy::IntoBytes;
use zerocopy::little_endian::U32;

use portcullis_files::error::WriteError;
use portcullis_files::scratch::{Items, Scratch, Spool};
use portcullis_set::file::SectionKind;
use portcullis_set::layout::{NONE, Pairs, policy, robots_of, usage};

use super::config::CompileError;
use crate::strings::StringTableBuilder;
use crate::writer::SectionSink;

/// The names in order.
#[derive(Debug)]
pub struct NameTable {
    /// The number of each provisional number.
    numbers: Vec<u32>,
    /// The end of each name among the bytes.
    ends: Items<U32>,
    bytes: Spool,
}

/// Where a policy or its usage has the names of its robots.
#[derive(Clone, Copy)]
pub struct NamesAt {
    head_words: usize,
    words: usize,
    count: usize,
    start: fn(&[U32]) -> usize,
}

/// The names in a policy.
pub const OF_POLICY: NamesAt = NamesAt {
    head_words: policy::HEAD_WORDS,
    words: policy::WORDS,
    count: policy::TOKENS,
    start: |_| policy::HEAD_WORDS,
};

/// The names in the usage of a policy.
pub const OF_USAGE: NamesAt = NamesAt {
    head_words: usage::HEAD_WORDS,
    words: usage::WORDS,
    count: usage::TOKENS,
    start: |words| {
        let records = words[usage::RECORDS].get() as usize;
        usage::HEAD_WORDS + records.div_ceil(usage::RECORDS_PER_WORD)
    },
};

impl NameTable {
    /// Sorts names, on the calling thread's rayon pool.
    pub fn of(names: StringTableBuilder, scratch: &Scratch) -> Result<NameTable, CompileError> {
        let mut table = NameTable {
            numbers: vec![0; names.len()],
            ends: Items::new(scratch),
            bytes: Spool::new(scratch),
        };
        let (mut last, mut count) = (None::<Vec<u8>>, 0_u32);
        names.each_sorted(|name, provisional| {
            let NameTable { numbers, ends, bytes } = &mut table;
            if last.as_deref() != Some(name) {
                bytes.write(name)?;
                ends.push(&[U32::new(bytes.len() as u32)])?;
                last = Some(name.to_owned());
                count += 1;
            }
            let number = numbers.get_mut(provisional as usize).ok_or_else(|| bytes.changed())?;
            *number = count - 1;
            Ok(())
        })?;
        match table.bytes.len() < u64::from(NONE) {
            true => Ok(table),
            false => Err(CompileError::TooLarge),
        }
    }

    /// Returns the number of names.
    pub fn len(&self) -> u64 {
        self.ends.len()
    }

    /// Writes the section.
    pub fn write<S: SectionSink>(&self, writer: &mut S) -> Result<(), S::Error> {
        writer.section(SectionKind::TOKENS, U32::new(self.len() as u32).as_bytes())?;
        writer.copy(self.ends.spool())?;
        writer.copy(&self.bytes)
    }

    /// Passes policies, or their usages, to `take` with the final numbers of names, ascending, and these
    /// numbers.
    pub fn numbered<E: From<WriteError>>(
        &self,
        policies: &Spool,
        at: NamesAt,
        mut take: impl FnMut(&[u8], &[U32]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut reader = policies.reader();
        let (mut words, mut robots, mut sorted) = (Vec::<U32>::new(), Vec::new(), Vec::new());
        while !reader.is_at_end() {
            words.resize(at.head_words, U32::ZERO);
            reader.read(words.as_mut_bytes())?;
            let more = (words[at.words].get() as usize).checked_sub(at.head_words);
            let more = more.ok_or_else(|| policies.changed())?;
            reader.expect(more * size_of::<U32>())?;
            words.resize(at.head_words + more, U32::ZERO);
            reader.read(words[at.head_words..].as_mut_bytes())?;
            let (count, are_wide) = robots_of(words[at.count]);
            let start = (at.start)(&words);
            let (names, pairs) = words[start..].split_at_mut(count);
            let stored =
                Pairs::first_of(pairs, count, are_wide).ok_or_else(|| policies.changed())?;
            for (name, pair) in names.iter().zip(stored.iter()) {
                let number = self.numbers.get(name.get() as usize);
                robots.push((*number.ok_or_else(|| policies.changed())?, pair));
            }
            robots.sort_unstable_by_key(|robot| robot.0);
            for (name, (number, pair)) in names.iter_mut().zip(robots.drain(..)) {
                *name = number.into();
                Pairs::push(pair, are_wide, &mut sorted);
            }
            pairs[..sorted.len()].copy_from_slice(&sorted);
            sorted.clear();
            take(words.as_bytes(), &words[start..][..count])?;
        }
        Ok(())
    }
}
