//! The texts of a policy: its user-agent lines and rules, and the other records of a file.

use zerocopy::little_endian::U32;

use crate::bytes::take_varint;
use crate::id::LineNumber;
use crate::limits::BODY_BYTES_MAX;
use crate::syntax::ExtractWriter;

use super::super::file::{Damage, Section};
use super::super::layout::{NONE, record};
use super::super::strings::StringID;
use super::{PolicySet, StoredCapture, StoredPolicy};

pub use crate::syntax::RecordKind;

/// A record as it stands in its file, without white space around it and without comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentRecord {
    /// What it is; nothing for a record that decides nothing.
    pub kind: Option<RecordKind>,
    /// Its line.
    pub line: LineNumber,
    /// The record.
    pub text: Vec<u8>,
    /// Where in it the value begins; its end for a record that decides nothing.
    pub value_start: usize,
}

impl DocumentRecord {
    /// The record's value.
    pub fn value(&self) -> &[u8] {
        &self.text[self.value_start..]
    }
}

/// The record that a string says, and where in it the value begins.
pub(super) fn split_record(string: &[u8]) -> Option<(&[u8], usize)> {
    // The number stands behind the text, the other way round.
    let (mut number, mut length) = ([0; 5], 0);
    for (byte, place) in string.iter().rev().zip(&mut number) {
        *place = *byte;
        length += 1;
        if byte & 0x80 == 0 {
            break;
        }
    }
    let value_start = take_varint(&mut &number[..length])? as usize;
    let text = &string[..string.len() - length];
    (value_start <= text.len()).then_some((text, value_start))
}

impl PolicySet {
    /// The words of the record list at `position` of `section`, without its length.
    pub(super) fn record_words(&self, section: Section, position: u32) -> Result<&[U32], Damage> {
        if position == NONE {
            return Ok(&[]);
        }
        let count = self.words(section, position, 1)?[0].get() as usize;
        self.words(section, position.saturating_add(1), count.saturating_mul(record::WORDS))
    }

    /// The records that decide nothing which stand at a place that
    /// [`StoredCapture::others`] gave.
    ///
    /// # Errors
    ///
    /// If they are damaged.
    pub fn other_records_at(&self, position: u32) -> Result<Vec<DocumentRecord>, Damage> {
        self.read_records(self.sections.others, position, false)
    }

    /// The line of the record at `index`, and the number of its string.
    pub(super) fn document_line(
        &self,
        document: u32,
        index: u32,
    ) -> Result<(LineNumber, u32), Damage> {
        let at = index.checked_mul(record::WORDS as u32).and_then(|at| at.checked_add(1));
        let at = at.and_then(|at| document.checked_add(at)).unwrap_or(NONE);
        let words = self.words(self.sections.documents, at, record::WORDS)?;
        let line = LineNumber::new(words[0].get() >> record::KIND_BITS);
        let line = line.ok_or_else(|| self.bad_document(document))?;
        Ok((line, words[1].get()))
    }

    fn bad_document(&self, document: u32) -> Damage {
        self.malformed(self.sections.documents, document, "a record makes no sense")
    }

    /// Reads a string of a record into `text`, and returns where its value begins.
    pub(super) fn record_text(&self, string: u32, text: &mut Vec<u8>) -> Result<usize, Damage> {
        self.sections.strings.get(&self.file, StringID(string), text)?;
        let malformed =
            || self.malformed(self.sections.documents, 0, "a record's string says no value");
        let (bytes, value_start) = split_record(text).ok_or_else(malformed)?;
        let bytes = bytes.len();
        text.truncate(bytes);
        Ok(value_start)
    }

    /// Bytes that the records of one file can have together. What refers to the same long string
    /// again and again is no file, and would take all the memory.
    pub(super) fn record_bytes_max(&self) -> usize {
        let limit = self.robots_bytes_max().and_then(|max| usize::try_from(max).ok());
        limit.unwrap_or(usize::MAX).min(BODY_BYTES_MAX)
    }

    fn read_records(
        &self,
        section: Section,
        position: u32,
        decides: bool,
    ) -> Result<Vec<DocumentRecord>, Damage> {
        let words = self.record_words(section, position)?;
        let mut bytes_left = self.record_bytes_max();
        let read = |pair: &[U32]| {
            let mut text = Vec::new();
            let value_start = self.record_text(pair[1].get(), &mut text)?;
            let too_many = || self.malformed(section, position, "a file is longer than it may be");
            bytes_left = bytes_left.checked_sub(text.len()).ok_or_else(too_many)?;
            let line = LineNumber::new(pair[0].get() >> record::KIND_BITS);
            let line = line.ok_or_else(|| self.bad_document(position))?;
            let kind = RecordKind::ALL[(pair[0].get() & ((1 << record::KIND_BITS) - 1)) as usize];
            Ok(DocumentRecord { kind: decides.then_some(kind), line, text, value_start })
        };
        words.chunks_exact(record::WORDS).map(read).collect()
    }
}

impl<'s> StoredPolicy<'s> {
    /// Where its records stand: for each its line and kind, and its string.
    pub(super) fn record_words(&self) -> Result<&'s [U32], Damage> {
        self.set.record_words(self.set.sections.documents, self.document())
    }

    /// The user-agent lines and rules of its file, in their order.
    ///
    /// # Errors
    ///
    /// If they are damaged.
    pub fn records(&self) -> Result<Vec<DocumentRecord>, Damage> {
        self.set.read_records(self.set.sections.documents, self.document(), true)
    }

    /// How many user-agent lines and rules its file has.
    ///
    /// # Errors
    ///
    /// If they are damaged.
    pub fn record_count(&self) -> Result<usize, Damage> {
        Ok(self.record_words()?.len() / record::WORDS)
    }

    /// The extract of its file (see [`RobotsTxt::read_extract`](crate::syntax::RobotsTxt::read_extract));
    /// empty if there is no file.
    ///
    /// # Errors
    ///
    /// If it is damaged.
    pub fn extract(&self) -> Result<Vec<u8>, Damage> {
        let mut extract = Vec::new();
        let mut writer = ExtractWriter::new(&mut extract);
        for record in self.records()? {
            if let Some(kind) = record.kind {
                let in_order = writer.push(kind, record.line, &record.text, record.value_start);
                in_order.ok_or_else(|| self.malformed("its records are not in order"))?;
            }
        }
        Ok(extract)
    }
}

impl StoredCapture<'_> {
    /// The records of its file that decide nothing, in their order.
    ///
    /// # Errors
    ///
    /// If they are damaged.
    pub fn other_records(&self) -> Result<Vec<DocumentRecord>, Damage> {
        self.set.read_records(self.set.sections.others, self.others, false)
    }
}
