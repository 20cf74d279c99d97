//! The stored form of records: the line of each, and where its text is.
//!
//! Most rules are `Disallow: ` or `Allow: ` followed by the text of their pattern, which the set
//! stores anyway; [`PatternWords`] finds those. The text of any other record is stored as a string.

use zerocopy::little_endian::U32;

use portcullis_dialect::RuleID;
use portcullis_engine::RuleSet;
use portcullis_engine::bytes::push_varint;
use portcullis_engine::ruleset::texts::PatternText;
use portcullis_robots::syntax::ListedRecord;

use super::super::layout::record;
use super::super::strings::{ProvisionalString, StringError, StringTable, StringTableBuilder};
use super::intern::{position, push};

/// The documents and their strings.
#[derive(Default)]
pub struct Texts {
    pub documents: Vec<U32>,
    pub usage: Vec<U32>,
    strings: StringTableBuilder,
    table: Option<StringTable>,
    /// An error that prevented a string from being stored.
    pub failure: Option<StringError>,
    scratch: Vec<u8>,
}

impl Texts {
    /// Adds the records of a policy, and returns their position. `known` holds the text word of
    /// each record that equals a pattern text.
    pub fn add(&mut self, records: &[ListedRecord<'_>], known: &[Option<u32>]) -> u32 {
        let list = self.list(records, known, record::DOCUMENT_KIND_BITS);
        appended(&mut self.documents, &list)
    }

    /// Adds the usage records of a policy, and returns their position.
    pub fn add_usage(&mut self, records: &[ListedRecord<'_>]) -> u32 {
        let list = self.list(records, &[], record::USAGE_KIND_BITS);
        appended(&mut self.usage, &list)
    }

    /// Returns the stored form of a list, of which the text words of some records are known.
    pub fn list(
        &mut self,
        records: &[ListedRecord<'_>],
        known: &[Option<u32>],
        kind_bits: u32,
    ) -> Vec<U32> {
        let mut words = Vec::new();
        push_lines(&mut words, records.iter().map(|record| record.line.get()));
        if kind_bits > 0 {
            for records in records.chunks(record::kinds_per_word(kind_bits)) {
                let kinds = records.iter().rev().map(|record| record.role.number());
                push(&mut words, kinds.fold(0, |word, kind| word << kind_bits | kind));
            }
        }
        let known = known.iter().copied().chain(std::iter::repeat(None));
        let text = |(record, known): (&ListedRecord<'_>, Option<u32>)| {
            known.unwrap_or_else(|| self.intern(record))
        };
        words.extend(records.iter().zip(known).map(text).map(U32::new));
        words
    }

    /// Returns the provisional number of a record's string: its bytes, followed by the number of
    /// bytes before the value.
    fn intern(&mut self, record: &ListedRecord<'_>) -> u32 {
        self.scratch.clear();
        self.scratch.extend_from_slice(record.text);
        // The lowest seven bits come last, so that the number can be read from the end.
        push_varint(&mut self.scratch, record.value_start);
        self.scratch[record.text.len()..].reverse();
        match self.strings.intern(&self.scratch) {
            Ok(string) => string.0,
            Err(error) => {
                self.failure = Some(error);
                0
            }
        }
    }

    /// Assigns the final numbers of strings.
    pub fn finish(&mut self) {
        let table = self.table.insert(std::mem::take(&mut self.strings).finish());
        number(&mut self.documents, table, record::DOCUMENT_KIND_BITS);
        number(&mut self.usage, table, record::USAGE_KIND_BITS);
    }

    /// Returns the strings.
    pub fn table(&self) -> &StringTable {
        self.table.as_ref().expect("the texts are finished before they are written")
    }
}

/// Appends a list, and returns its position.
fn appended(section: &mut Vec<U32>, list: &[U32]) -> u32 {
    let start = position(section);
    section.extend_from_slice(list);
    start
}

/// Replaces the provisional numbers of strings in lists of records.
pub fn number(lists: &mut [U32], table: &StringTable, kind_bits: u32) {
    let mut start = 0;
    while start < lists.len() {
        let word = |at: usize| lists[start + at].get() as usize;
        let (texts, end) = record::texts(word(record::RECORDS), word(record::RUNS), kind_bits);
        for text in &mut lists[start + texts..start + end] {
            if text.get() >> record::FORM_SHIFT == record::STRING {
                *text = U32::new(table.id(ProvisionalString(text.get())).0);
            }
        }
        start += end;
    }
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

    fn word(record: &ListedRecord<'_>, pattern: &PatternText<'_>, text: u32) -> Option<u32> {
        let value = record.text.strip_prefix(record::field(record.role.number())?)?;
        if value != record.value() || text >> record::FORM_SHIFT != 0 {
            return None;
        }
        let form = match value.strip_prefix(pattern.bytes)? {
            b"$" if pattern.is_anchored => record::PATTERN,
            b"" if !pattern.is_anchored => record::PATTERN,
            b"*" if !pattern.is_anchored => record::PATTERN_AND_STAR,
            _ => return None,
        };
        Some(form << record::FORM_SHIFT | text)
    }
}
