//! The stored form of records: the line of each, and the form of its text.
//!
//! Most rules are `Disallow: ` or `Allow: ` followed by the text of their pattern, which the set
//! stores anyway; [`TextForms`] finds those. The text of any other record is stored as a string.

use zerocopy::IntoBytes;
use zerocopy::little_endian::U32;

use portcullis_dialect::RuleID;
use portcullis_engine::RuleSet;
use portcullis_engine::bytes::push_varint;
use portcullis_engine::pattern::Pattern;
use portcullis_files::error::WriteError;
use portcullis_files::scratch::{Items, Scratch, Spool};
use portcullis_set::layout::record::{self, In};
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

    /// Adds the records of a policy, and returns their position. `forms` holds the form of the text of
    /// each.
    pub fn add(
        &mut self,
        records: &[ListedRecord<'_>],
        forms: &[u32],
    ) -> Result<u32, CompileError> {
        let list = self.list(records, forms, In::Documents)?;
        appended(&mut self.documents, &list)
    }

    /// Adds the usage records of a policy, and returns their position.
    pub fn add_usage(&mut self, records: &[ListedRecord<'_>]) -> Result<u32, CompileError> {
        let list = self.list(records, &[], In::Usage)?;
        appended(&mut self.usage, &list)
    }

    /// Returns the stored form of a list; every record without a form has a string.
    pub fn list(
        &mut self,
        records: &[ListedRecord<'_>],
        forms: &[u32],
        place: In,
    ) -> Result<Vec<U32>, CompileError> {
        let mut words = Vec::new();
        push_lines(&mut words, records.iter().map(|record| record.line.get()));
        let form = |record: usize| forms.get(record).copied().unwrap_or(record::STRING);
        if place != In::Others {
            let kind = |record| {
                let record: usize = record;
                records[record].role.number() | form(record) << record::FORM_SHIFT
            };
            for first in (0..records.len()).step_by(record::KINDS_PER_WORD) {
                let records = first..records.len().min(first + record::KINDS_PER_WORD);
                let kinds = records.rev().map(kind);
                push(&mut words, kinds.fold(0, |word, kind| word << record::KIND_BITS | kind));
            }
        }
        for (index, record) in records.iter().enumerate() {
            if form(index) == record::STRING {
                push(&mut words, self.intern(record)?);
            }
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
    place: In,
    mut take: impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    let mut reader = lists.reader();
    let mut list: Vec<U32> = Vec::new();
    while !reader.is_at_end() {
        list.clear();
        list.resize(record::HEAD_WORDS, U32::ZERO);
        reader.read(list.as_mut_bytes())?;
        let word = |at: usize| list[at].get() as usize;
        let (records, runs) = (word(record::RECORDS), word(record::RUNS));
        let strings = place.strings_at(records, runs);
        let mut read = |list: &mut Vec<U32>, words: usize| {
            let start = list.len();
            reader.expect(words * size_of::<U32>())?;
            list.resize(start + words, U32::ZERO);
            reader.read(list[start..].as_mut_bytes())
        };
        read(&mut list, strings - record::HEAD_WORDS)?;
        let kinds = &list[record::HEAD_WORDS + runs * record::RUN_WORDS..];
        let count = records.checked_sub(place.patterns(kinds)).ok_or_else(|| lists.changed())?;
        read(&mut list, count)?;
        for string in &mut list[strings..] {
            let id = table.id(ProvisionalString(string.get())).ok_or_else(|| lists.changed())?;
            *string = U32::new(id.0);
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

/// The form of the text of each record of a file.
pub struct TextForms<'r, 'f> {
    records: &'r [ListedRecord<'f>],
    /// The record of each rule.
    rules: Vec<usize>,
    pub forms: Vec<u32>,
}

impl<'r, 'f> TextForms<'r, 'f> {
    pub fn new(records: &'r [ListedRecord<'f>]) -> TextForms<'r, 'f> {
        let is_rule = |record: &usize| record::field(records[*record].role.number()).is_some();
        let rules = (0..records.len()).filter(is_rule).collect();
        TextForms { records, rules, forms: vec![record::STRING; records.len()] }
    }

    /// Adds the rules of an entry, given the rule of each pattern. A rule has the same pattern in each
    /// entry.
    pub fn add(&mut self, rules: &[RuleID], compiled: RuleSet<'_>) {
        for (index, rule) in rules.iter().enumerate() {
            let record = self.rules[rule.0 as usize];
            if self.forms[record] == record::STRING
                && let Some((_, pattern)) = compiled.get(index)
            {
                let form = TextForms::of(&self.records[record], &pattern);
                self.forms[record] = form.unwrap_or(record::STRING);
            }
        }
    }

    /// Returns the form of a record's text, if that is the text of its pattern.
    fn of(record: &ListedRecord<'_>, pattern: &Pattern<'_>) -> Option<u32> {
        let value = record.text.strip_prefix(record::field(record.role.number())?)?;
        if value != record.value() {
            return None;
        }
        match value.strip_prefix(pattern.bytes())? {
            b"$" if pattern.is_anchored() => Some(record::PATTERN),
            b"" if !pattern.is_anchored() => Some(record::PATTERN),
            b"*" if !pattern.is_anchored() => Some(record::PATTERN_AND_STAR),
            _ => None,
        }
    }
}
