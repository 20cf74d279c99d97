//! The stored form of records: the line of each, and where its text is.
//!
//! Most rules are `Disallow: ` or `Allow: ` followed by the text of their pattern, which the set
//! stores anyway; [`PatternWords`] finds those. The text of any other record is stored as a string.

use zerocopy::little_endian::U32;

use portcullis_dialect::RuleID;
use portcullis_engine::RuleSet;
use portcullis_engine::bytes::push_varint;
use portcullis_engine::ruleset::texts::PatternText;

use super::super::layout::record;
use super::super::strings::{ProvisionalString, StringError, StringTable, StringTableBuilder};
use super::intern::{position, push};
use super::plan::PlannedRecord;

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
    /// Adds the records of a policy, and returns their position. `words` holds the text word of
    /// each record that equals a pattern text.
    pub fn add(&mut self, records: &[PlannedRecord<'_>], words: &[Option<u32>]) -> u32 {
        let start = position(&self.documents);
        let known = words.iter().copied().chain(std::iter::repeat(None));
        let word = |(planned, known): (&PlannedRecord<'_>, Option<u32>)| {
            known.unwrap_or_else(|| self.intern(planned.text, planned.value.len()))
        };
        let words: Vec<u32> = records.iter().zip(known).map(word).collect();
        push_lines(&mut self.documents, records.iter().map(|planned| planned.line));
        let kinds: Vec<u32> = records.iter().map(|planned| planned.kind).collect();
        push_kinds(&mut self.documents, &kinds, record::DOCUMENT_KIND_BITS);
        self.documents.extend(words.into_iter().map(U32::new));
        start
    }

    /// Adds the usage records of a policy, and returns their position.
    pub fn add_usage(&mut self, records: &[PlannedRecord<'_>]) -> u32 {
        let start = position(&self.usage);
        let words = records.iter().map(|planned| self.intern(planned.text, planned.value.len()));
        let words: Vec<u32> = words.collect();
        push_lines(&mut self.usage, records.iter().map(|planned| planned.line));
        let kinds: Vec<u32> = records.iter().map(|planned| planned.kind).collect();
        push_kinds(&mut self.usage, &kinds, record::USAGE_KIND_BITS);
        self.usage.extend(words.into_iter().map(U32::new));
        start
    }

    /// Returns the provisional number of a record's string: its bytes, followed by the number of
    /// bytes before the value.
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

    /// Assigns the final numbers of strings.
    pub fn finish(&mut self) {
        self.table = Some(std::mem::take(&mut self.strings).finish());
        let mut documents = std::mem::take(&mut self.documents);
        self.number(&mut documents, record::DOCUMENT_KIND_BITS);
        self.documents = documents;
        let mut usage = std::mem::take(&mut self.usage);
        self.number(&mut usage, record::USAGE_KIND_BITS);
        self.usage = usage;
    }

    /// Replaces the provisional numbers of strings in lists of records.
    pub fn number(&self, lists: &mut [U32], kind_bits: u32) {
        let table = self.table();
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

    /// Returns the strings.
    pub fn table(&self) -> &StringTable {
        self.table.as_ref().expect("the texts are finished before they are written")
    }
}

/// Appends the head of a list of records on these lines, which ascend.
pub fn push_lines(words: &mut Vec<U32>, lines: impl ExactSizeIterator<Item = u32>) {
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

/// Appends the kinds of records.
pub fn push_kinds(words: &mut Vec<U32>, kinds: &[u32], kind_bits: u32) {
    for kinds in kinds.chunks(record::kinds_per_word(kind_bits)) {
        push(words, kinds.iter().rev().fold(0, |word, kind| word << kind_bits | kind));
    }
}

/// The text word of each record of a file that equals a pattern text.
pub struct PatternWords<'r, 'f> {
    records: &'r [PlannedRecord<'f>],
    /// The record of each rule.
    rules: Vec<usize>,
    pub words: Vec<Option<u32>>,
}

impl<'r, 'f> PatternWords<'r, 'f> {
    pub fn new(records: &'r [PlannedRecord<'f>]) -> PatternWords<'r, 'f> {
        let is_rule = |record: &usize| record::field(records[*record].kind).is_some();
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

    fn word(record: &PlannedRecord<'_>, pattern: &PatternText<'_>, text: u32) -> Option<u32> {
        let value = record.text.strip_prefix(record::field(record.kind)?)?;
        if value != record.value || text >> record::FORM_SHIFT != 0 {
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
