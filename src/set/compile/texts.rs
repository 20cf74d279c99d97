//! What explanations need: each policy's records with their lines, and the strings they are.

use zerocopy::little_endian::U32;

use crate::bytes::push_varint;

use super::super::layout::record;
use super::super::strings::{ProvisionalString, StringError, StringTable, StringTableBuilder};
use super::intern::{position, push};
use super::plan::PlannedRecord;

/// The documents and their strings.
#[derive(Default)]
pub struct Texts {
    pub documents: Vec<U32>,
    strings: StringTableBuilder,
    table: Option<StringTable>,
    /// Why a string could not be kept.
    pub failure: Option<StringError>,
    scratch: Vec<u8>,
}

impl Texts {
    /// Texts whose strings stay as they come; there is room for so many bytes at once.
    pub fn plain(bytes: usize) -> Texts {
        Texts { strings: StringTableBuilder::plain(bytes), ..Texts::default() }
    }

    /// Files the records of a policy, and returns where they stand.
    pub fn add(&mut self, records: &[PlannedRecord<'_>]) -> u32 {
        let start = position(&self.documents);
        push(&mut self.documents, records.len() as u32);
        for planned in records {
            let string = self.intern(planned.text, planned.value.len());
            push(&mut self.documents, planned.line << record::KIND_BITS | planned.kind);
            push(&mut self.documents, string);
        }
        start
    }

    /// The provisional number of a record's string: its bytes, and behind them how many of them
    /// stand before the value.
    pub fn intern(&mut self, text: &[u8], value_bytes: usize) -> u32 {
        self.scratch.clear();
        self.scratch.extend_from_slice(text);
        // The lowest seven bits come last, so that the number can be read from the end.
        push_varint(&mut self.scratch, (text.len() - value_bytes) as u32);
        self.scratch[text.len()..].reverse();
        match self.strings.intern(&self.scratch) {
            Ok(string) => string.0,
            Err(error) => {
                self.failure = Some(error);
                0
            }
        }
    }

    /// Gives strings their numbers.
    pub fn finish(&mut self) {
        let table = std::mem::take(&mut self.strings).finish();
        let mut start = 0;
        while let Some(count) = self.documents.get(start) {
            let end = start + 1 + count.get() as usize * record::WORDS;
            for string in self.documents[start + 1..end].iter_mut().skip(1).step_by(record::WORDS) {
                *string = U32::new(table.id(ProvisionalString(string.get())).0);
            }
            start = end;
        }
        self.table = Some(table);
    }

    /// The number of a string by its provisional one.
    pub fn rank(&self, provisional: u32) -> u32 {
        self.table().id(ProvisionalString(provisional)).0
    }

    /// The strings.
    pub fn table(&self) -> &StringTable {
        self.table.as_ref().expect("the texts are finished before they are written")
    }
}
