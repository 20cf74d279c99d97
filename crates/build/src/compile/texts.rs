//! The stored form of records: the line of each, and the form of its text.
//!
//! Most rules are `Disallow: ` or `Allow: ` followed by the text of their pattern, which the set
//! stores anyway; [`forms`] finds those. The text of any other record is stored as a string.

use zerocopy::little_endian::U32;

use portcullis_engine::bytes::push_varint;
use portcullis_engine::pattern::{Pattern, PatternList};
use portcullis_files::scratch::{Items, Scratch, Spool};
use portcullis_set::layout::Pairs;
use portcullis_set::layout::record::{self, In};
use portcullis_set::lists::ListedRecord;

use super::config::CompileError;
use super::intern::end;
use crate::strings::StringTable;

/// Lists of records of policies, and their strings.
pub struct Texts {
    /// By [`In`].
    lists: [Items<U32>; 2],
    pub strings: StringTable,
    scratch: Vec<u8>,
}

impl Texts {
    pub fn new(scratch: &Scratch) -> Texts {
        Texts {
            lists: [(); 2].map(|()| Items::new(scratch)),
            strings: StringTable::new(scratch),
            scratch: Vec::new(),
        }
    }

    /// Adds a list of records to its section, and returns its position. `kind` returns the bits of each:
    /// its kind, and in `documents` the form of its text. A record whose form is not that of a string has
    /// none.
    pub fn add(
        &mut self,
        place: In,
        records: &[ListedRecord<'_>],
        kind: impl Fn(usize) -> u32,
    ) -> Result<u32, CompileError> {
        let kinds: Vec<u32> = (0..records.len()).map(kind).collect();
        let mut words = Vec::with_capacity(records.len());
        push_lines(&mut words, records.iter().map(|record| record.line.get()));
        for kinds in kinds.chunks(record::KINDS_PER_WORD) {
            let kinds = kinds.iter().rev();
            words.push(kinds.fold(0, |word, kind| word << record::KIND_BITS | kind).into());
        }
        let Texts { scratch, strings, .. } = self;
        for (kind, record) in kinds.iter().zip(records) {
            if place == In::Documents && kind >> record::FORM_SHIFT != record::STRING {
                continue;
            }
            // Its bytes, followed by the number of bytes before the value. The lowest seven bits come
            // last, so that the number can be read from the end.
            scratch.clear();
            scratch.extend_from_slice(record.text);
            push_varint(scratch, record.value_start);
            scratch[record.text.len()..].reverse();
            words.push(strings.intern(scratch)?.into());
        }
        let section = &mut self.lists[place as usize];
        let start = end(section)?;
        section.push(&words)?;
        Ok(start)
    }

    /// Returns the lists of a section.
    pub fn lists(&self, place: In) -> &Spool {
        self.lists[place as usize].spool()
    }
}

/// Appends the head of a list of records on these lines, which ascend.
fn push_lines(words: &mut Vec<U32>, lines: impl ExactSizeIterator<Item = u32>) {
    let records = lines.len() as u32;
    let mut next = None;
    let begins =
        |(_, line): &(u32, u32)| std::mem::replace(&mut next, line.checked_add(1)) != Some(*line);
    let runs: Vec<(u32, u32)> = (0..).zip(lines).filter(begins).collect();
    let are_wide = runs.iter().any(|(first, line)| Pairs::needs_wide(first | line));
    words.extend([records, Pairs::head(runs.len(), are_wide)].map(U32::new));
    runs.into_iter().for_each(|run| Pairs::push(run, are_wide, words));
}

/// Returns the records of rules whose text is that of their pattern, and its form, given the record of each
/// pattern.
pub fn forms(
    records: &[ListedRecord<'_>],
    order: &[u32],
    patterns: &PatternList,
) -> Vec<(u32, u32)> {
    // Most rules have one.
    let mut forms = Vec::with_capacity(order.len());
    forms.extend(order.iter().zip(patterns.iter()).filter_map(|(&number, pattern)| {
        Some((number, form_of(&records[number as usize], &pattern)?))
    }));
    forms
}

/// Returns the form of a record's text, if that is the text of its pattern.
fn form_of(record: &ListedRecord<'_>, pattern: &Pattern<'_>) -> Option<u32> {
    let value = record.text.strip_prefix(record.role.rule_field()?)?;
    // Both are ends of the text.
    if value.len() != record.value().len() {
        return None;
    }
    match value.strip_prefix(pattern.bytes())? {
        b"$" if pattern.is_anchored() => Some(record::PATTERN),
        b"" if !pattern.is_anchored() => Some(record::PATTERN),
        b"*" if !pattern.is_anchored() => Some(record::PATTERN_AND_STAR),
        _ => None,
    }
}
