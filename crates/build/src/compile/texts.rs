//! The stored form of records: the line of each, and where its text is.
//!
//! Most rules are `Disallow: ` or `Allow: ` followed by the text of their pattern, which the set
//! stores anyway; [`PatternWords`] finds those. The text of any other record is stored as a string.

use zerocopy::IntoBytes;
use zerocopy::little_endian::U32;

use portcullis_dialect::RuleID;
use portcullis_engine::RuleSet;
use portcullis_engine::bytes::push_varint;
use portcullis_engine::pattern::Pattern;
use portcullis_files::error::WriteError;
use portcullis_files::scratch::{Items, Scratch, Spool};
use portcullis_set::layout::record;
use portcullis_set::lists::ListedRecord;

use super::config::CompileError;
use super::intern::{end, push};
use crate::strings::{ProvisionalString, StringTable, StringTableBuilder};

/// The documents and their strings, whose numbers are provisional.
pub struct Texts {
    pub documents: Items<U32>,
    pub usage: Items<U32>,
    strings: StringTableBuilder,
    scratch: Vec<u8>,
}

impl Texts {
    pub fn new(scratch: &Scratch) -> Texts {
        Texts {
            documents: Items::new(scratch),
            usage: Items::new(scratch),
            strings: StringTableBuilder::new(scratch),
            scratch: Vec::new(),
        }
    }

    /// Adds the records of a policy, and returns their position. `known` holds the text word of
    /// each record that equals a pattern text.
    pub fn add(
        &mut self,
        records: &[ListedRecord<'_>],
        known: &[Option<u32>],
    ) -> Result<u32, CompileError> {
        let list = self.list(records, known, record::DOCUMENT_KIND_BITS)?;
        appended(&mut self.documents, &list)
    }

    /// Adds the usage records of a policy, and returns their position.
    pub fn add_usage(&mut self, records: &[ListedRecord<'_>]) -> Result<u32, CompileError> {
        let list = self.list(records, &[], record::USAGE_KIND_BITS)?;
        appended(&mut self.usage, &list)
    }

    /// Returns the stored form of a list, of which the text words of some records are known.
    pub fn list(
        &mut self,
        records: &[ListedRecord<'_>],
        known: &[Option<u32>],
        kind_bits: u32,
    ) -> Result<Vec<U32>, CompileError> {
        let mut words = Vec::new();
        push_lines(&mut words, records.iter().map(|record| record.line.get()));
        if kind_bits > 0 {
            for records in records.chunks(record::kinds_per_word(kind_bits)) {
                let kinds = records.iter().rev().map(|record| record.role.number());
                push(&mut words, kinds.fold(0, |word, kind| word << kind_bits | kind));
            }
        }
        let known = known.iter().copied().chain(std::iter::repeat(None));
        for (record, known) in records.iter().zip(known) {
            let word = match known {
                Some(known) => known,
                None => self.intern(record)?,
            };
            push(&mut words, word);
        }
        Ok(words)
    }

    /// Returns the provisional number of a record's string: its bytes, followed by the number of
    /// bytes before the value.
    fn intern(&mut self, record: &ListedRecord<'_>) -> Result<u32, CompileError> {
        self.scratch.clear();
        self.scratch.extend_from_slice(record.text);
        // The lowest seven bits come last, so that the number can be read from the end.
        push_varint(&mut self.scratch, record.value_start);
        self.scratch[record.text.len()..].reverse();
        Ok(self.strings.intern(&self.scratch)?.0)
    }

    /// Takes the strings out, after all lists.
    pub fn take_strings(&mut self) -> StringTableBuilder {
        std::mem::replace(&mut self.strings, StringTableBuilder::new(&Scratch::in_memory()))
    }

    pub fn table_bytes(&self) -> usize {
        self.strings.table_bytes()
    }
}

/// Appends a list, and returns its position.
fn appended(section: &mut Items<U32>, list: &[U32]) -> Result<u32, CompileError> {
    let start = end(section)?;
    section.push(list)?;
    Ok(start)
}

/// Passes lists of records to `take` with the final numbers of their strings.
pub fn numbered<E: From<WriteError>>(
    lists: &Spool,
    table: &StringTable,
    kind_bits: u32,
    mut take: impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    let mut reader = lists.reader();
    let mut list: Vec<U32> = Vec::new();
    while !reader.is_at_end() {
        list.clear();
        list.resize(record::HEAD_WORDS, U32::ZERO);
        reader.read(list.as_mut_bytes())?;
        let word = |at: usize| list[at].get() as usize;
        let (texts, end) = record::texts(word(record::RECORDS), word(record::RUNS), kind_bits);
        reader.expect((end - record::HEAD_WORDS) * size_of::<U32>())?;
        list.resize(end, U32::ZERO);
        reader.read(list[record::HEAD_WORDS..].as_mut_bytes())?;
        for text in &mut list[texts..] {
            if text.get() >> record::FORM_SHIFT == record::STRING {
                let id = table.id(ProvisionalString(text.get())).ok_or_else(|| lists.changed())?;
                *text = U32::new(id.0);
            }
        }
        take(list.as_bytes())?;
    }
    Ok(())
}

/// Appends the head of a list of records on these lines, which ascend.
fn push_lines(words: &mut Vec<U32>, lines: impl ExactSizeIterator<Item = u32>) {
    let runs = words.len() + record::RUNS;
    push(words, lines.len() as u32);
    push(words, 0);
    let (mut next, mut count) = (None, 0);
    for (index, line) in (0..).zip(lines) {
        if next != Some(line) {
            push(words, index);
            push(words, line);
            count += 1;
        }
        next = line.checked_add(1);
    }
    words[runs] = U32::new(count);
}

/// The text word of each record of a file that equals a pattern text.
pub struct PatternWords<'r, 'f> {
    records: &'r [ListedRecord<'f>],
    /// The record of each rule.
    rules: Vec<usize>,
    pub words: Vec<Option<u32>>,
}

impl<'r, 'f> PatternWords<'r, 'f> {
    pub fn new(records: &'r [ListedRecord<'f>]) -> PatternWords<'r, 'f> {
        let is_rule = |record: &usize| record::field(records[*record].role.number()).is_some();
        let rules = (0..records.len()).filter(is_rule).collect();
        PatternWords { records, rules, words: vec![None; records.len()] }
    }

    /// Adds the rules of an entry, given the rule of each pattern and the position of its text.
    pub fn add(
        &mut self,
        rules: &[RuleID],
        compiled: RuleSet<'_>,
        texts: impl Iterator<Item = u32>,
    ) {
        for ((index, rule), text) in rules.iter().enumerate().zip(texts) {
            let record = self.rules[rule.0 as usize];
            if self.words[record].is_none()
                && let Some((_, pattern)) = compiled.get(index)
            {
                self.words[record] = PatternWords::word(&self.records[record], &pattern, text);
            }
        }
    }

    fn word(record: &ListedRecord<'_>, pattern: &Pattern<'_>, text: u32) -> Option<u32> {
        let value = record.text.strip_prefix(record::field(record.role.number())?)?;
        if value != record.value() || text >> record::FORM_SHIFT != 0 {
            return None;
        }
        let form = match value.strip_prefix(pattern.bytes())? {
            b"$" if pattern.is_anchored() => record::PATTERN,
            b"" if !pattern.is_anchored() => record::PATTERN,
            b"*" if !pattern.is_anchored() => record::PATTERN_AND_STAR,
            _ => return None,
        };
        Some(form << record::FORM_SHIFT | text)
    }
}
