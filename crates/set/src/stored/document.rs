//! The texts of a policy: its user-agent lines and rules, and the other records of a file.

use std::ops::Range;

use zerocopy::little_endian::U32;

use crate::lists::{ListReader, ListWriter, Role, from_front_coded, read_extract};
use portcullis_dialect::Field;
use portcullis_dialect::id::LineNumber;
use portcullis_dialect::limits::BODY_BYTES_MAX;
use portcullis_engine::bytes::take_varint;
use portcullis_engine::pattern::Pattern;
use portcullis_robots::syntax::{Record, RobotsTxt, record_of};

use super::super::file::{Damage, Section};
use super::super::layout::record::{self, In};
use super::super::layout::{NONE, Pairs, partition_point, position};
use super::rule_group::Ordered;
use super::{PolicySet, StoredCapture, StoredPolicy};

/// Splits a stored string into the record and the offset of its value.
pub(super) fn split_record(string: &[u8]) -> Option<(&[u8], usize)> {
    // The number follows the text, with its bytes reversed.
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

/// A list of records. Each is read in place.
#[derive(Clone)]
pub(crate) struct RecordList<'s> {
    set: &'s PolicySet,
    place: In,
    position: u32,
    records: u32,
    /// The word of the head about runs.
    runs_word: u32,
    /// The patterns of all records, if they were found.
    patterns: Vec<Option<Pattern<'s>>>,
}

impl<'s> RecordList<'s> {
    /// Returns the number of records.
    pub(crate) fn len(&self) -> u32 {
        self.records
    }

    fn section(&self) -> Section {
        self.set.section_of(self.place)
    }

    fn kinds_at(&self) -> usize {
        record::kinds_at(self.runs_word)
    }

    fn strings_at(&self) -> usize {
        record::strings_at(self.records as usize, self.runs_word)
    }

    /// Returns the first record of each run, and the line of that record.
    fn runs(&self) -> Result<Pairs<'s>, Damage> {
        let (runs, are_wide) = Pairs::of_head(self.runs_word);
        let words = self.words(record::HEAD_WORDS, runs * Pairs::words(are_wide))?;
        let pairs = Pairs::first_of(words, runs, are_wide);
        Ok(pairs.expect("as many words as they take"))
    }

    /// Returns the words of the kinds.
    fn kinds(&self) -> Result<&'s [U32], Damage> {
        let start = self.kinds_at();
        self.words(start, self.strings_at() - start)
    }

    /// Returns `count` words of the list, from `at`.
    pub(crate) fn words(&self, at: usize, count: usize) -> Result<&'s [U32], Damage> {
        if count == 0 {
            return Ok(&[]);
        }
        let first = u32::try_from(at).ok().and_then(|at| self.position.checked_add(at));
        self.set.words(self.section(), first.unwrap_or(NONE), count)
    }

    #[cold]
    pub(crate) fn malformed(&self, what: &'static str) -> Damage {
        self.set.malformed(self.section(), self.position, what)
    }

    /// Returns the line of a record.
    pub(crate) fn line(&self, index: u32) -> Result<LineNumber, Damage> {
        let runs = self.runs()?;
        let is_before = |number| Ok::<_, Damage>(runs.get(number).is_some_and(|it| it.0 <= index));
        let after = partition_point(runs.len(), is_before)?;
        self.line_in(after.checked_sub(1).and_then(|run| runs.get(run)), index)
    }

    /// Returns the line of a record in a run: its first record, and the line of that record.
    fn line_in(&self, run: Option<(u32, u32)>, index: u32) -> Result<LineNumber, Damage> {
        let line = run.and_then(|(first, line)| line.checked_add(index.checked_sub(first)?));
        let line = line.filter(|_| index < self.records).and_then(LineNumber::new);
        line.ok_or_else(|| self.malformed("a record is on no line"))
    }

    /// Returns the kind of a record and the form of its text; 0 if the list has no forms.
    fn kind_and_form(&self, index: u32) -> Result<(u32, u32), Damage> {
        if index >= self.records {
            return Err(self.malformed("it has fewer records than are asked for"));
        }
        let words = self.words(self.kinds_at() + index as usize / record::KINDS_PER_WORD, 1)?;
        Ok(self.unpacked(words[0], index))
    }

    /// Returns the kind and the form of a record from its word.
    fn unpacked(&self, word: U32, index: u32) -> (u32, u32) {
        let place = index % record::KINDS_PER_WORD as u32;
        let kind = word.get() >> (place * record::KIND_BITS) & ((1 << record::KIND_BITS) - 1);
        match self.place {
            In::Documents => (kind & ((1 << record::FORM_SHIFT) - 1), kind >> record::FORM_SHIFT),
            In::Usage | In::Others => (kind, record::STRING),
        }
    }

    /// Returns whether the record at `index` is a user-agent line.
    pub(crate) fn is_user_agent(&self, index: u32) -> Result<bool, Damage> {
        Ok(self.role(index)?.field == Some(Field::UserAgent))
    }

    /// Returns the number of strings before a record. Takes one step for eight records.
    fn strings_before(&self, index: u32) -> Result<u32, Damage> {
        let place = index as usize % record::KINDS_PER_WORD;
        let kinds = self.words(self.kinds_at(), index as usize / record::KINDS_PER_WORD + 1)?;
        let from_index = match (self.place, kinds.last()) {
            (In::Documents, Some(word)) => record::patterns(word.get(), place),
            _ => 0,
        };
        Ok(index - (self.place.patterns(kinds) - from_index) as u32)
    }

    /// Finds the patterns of all records of a policy's list, for callers that read all.
    pub(crate) fn find_patterns(&mut self, policy: &StoredPolicy<'s>) -> Result<(), Damage> {
        let mut patterns = vec![None; self.records as usize];
        for group in policy.all_ordered()? {
            let Ordered { first, order, rules } = group?;
            for (index, number) in order.numbers().enumerate() {
                let record = first.checked_add(number).unwrap_or(NONE);
                if let Some(known @ None) = patterns.get_mut(record as usize) {
                    *known = rules.get(index).map(|(_, pattern)| pattern);
                }
            }
        }
        self.patterns = patterns;
        Ok(())
    }

    /// Reads the value of a record. Rules are read if their patterns [were found](Self::find_patterns), or
    /// if `pattern` is that of the record.
    pub(crate) fn read_value(
        &self,
        index: u32,
        pattern: Option<Pattern<'_>>,
        value: &mut Vec<u8>,
    ) -> Result<(), Damage> {
        let (kind, form) = self.kind_and_form(index)?;
        let string = if form == record::STRING { self.strings_before(index)? } else { 0 };
        let start = self.read_as((index, string), (kind, form), pattern, value)?;
        value.drain(..start);
        Ok(())
    }

    /// Calls `with` with the value of each of these records, which are no rules. Finds the first string once.
    pub(crate) fn read_values(
        &self,
        records: Range<u32>,
        mut with: impl FnMut(u32, &[u8]),
    ) -> Result<(), Damage> {
        let mut strings = self.strings_before(records.start)?;
        let mut value = Vec::new();
        for index in records {
            let (kind, form) = self.kind_and_form(index)?;
            let start = self.read_as((index, strings), (kind, form), None, &mut value)?;
            strings += u32::from(form == record::STRING);
            with(index, &value[start..]);
        }
        Ok(())
    }

    /// Reads a record with this index, so many strings before it, this kind and form into `text`. Returns
    /// the offset of its value.
    fn read_as(
        &self,
        (index, strings_before): (u32, u32),
        (kind, form): (u32, u32),
        pattern: Option<Pattern<'_>>,
        text: &mut Vec<u8>,
    ) -> Result<usize, Damage> {
        if form == record::STRING {
            let at = self.strings_at() + strings_before as usize;
            let string = self.words(at, 1)?[0].get();
            let sections = &self.set.sections;
            let strings = match self.place {
                In::Others => sections.other_strings.as_ref(),
                In::Documents | In::Usage => Some(&sections.strings),
            };
            let missing = || self.malformed("its strings are missing");
            let strings = strings.ok_or_else(missing)?;
            strings.get(&self.set.file, string, text)?;
            let malformed = || self.malformed("a record's string says no value");
            let (bytes, value_start) = split_record(text).ok_or_else(malformed)?;
            let bytes = bytes.len();
            text.truncate(bytes);
            return Ok(value_start);
        }
        let malformed = || self.malformed("a record's text is that of no pattern");
        let star: &[u8] = match form {
            record::PATTERN => b"",
            record::PATTERN_AND_STAR => b"*",
            _ => return Err(malformed()),
        };
        let field = self.role_of(kind)?.rule_field().ok_or_else(malformed)?;
        let found = || self.patterns.get(index as usize).copied().flatten();
        let pattern = pattern.or_else(found).ok_or_else(malformed)?;
        text.clear();
        text.extend_from_slice(field);
        text.extend_from_slice(pattern.bytes());
        text.extend_from_slice(if pattern.is_anchored() { b"$" } else { b"" });
        text.extend_from_slice(star);
        Ok(field.len())
    }
}

impl PolicySet {
    fn section_of(&self, place: In) -> Section {
        match place {
            In::Documents => self.sections.documents,
            In::Usage => self.sections.usage_records,
            In::Others => self.sections.others,
        }
    }

    /// Returns the list of records at a position of a section; an empty one without a position.
    pub(crate) fn record_list(
        &self,
        place: In,
        position: Option<u32>,
    ) -> Result<RecordList<'_>, Damage> {
        let list = |records, runs_word| RecordList {
            set: self,
            place,
            position: position.unwrap_or(NONE),
            records,
            runs_word,
            patterns: Vec::new(),
        };
        let Some(position) = position else { return Ok(list(0, 0)) };
        let section = self.section_of(place);
        let head = self.words(section, position, record::HEAD_WORDS)?;
        let list = list(head[record::RECORDS].get(), head[record::RUNS].get());
        let strings = match place {
            // As many as the kinds say.
            In::Documents => 0,
            In::Usage | In::Others => list.records as usize,
        };
        let end = u64::from(position) + (list.strings_at() + strings) as u64;
        match Pairs::of_head(list.runs_word).0 <= list.records as usize
            && end * size_of::<U32>() as u64 <= section.bytes
        {
            true => Ok(list),
            false => Err(list.malformed("it has more records than there is room for")),
        }
    }

    /// Returns the maximum total size of the records of one file, in bytes. A list that repeats a
    /// long string again and again is not a file, and would exhaust memory.
    pub(crate) fn record_bytes_max(&self) -> usize {
        let limit = self.robots_bytes_max().and_then(|max| usize::try_from(max).ok());
        limit.unwrap_or(usize::MAX).min(BODY_BYTES_MAX)
    }
}

impl RecordList<'_> {
    /// Returns what a record is.
    pub(crate) fn role(&self, index: u32) -> Result<Role, Damage> {
        self.role_of(self.kind_and_form(index)?.0)
    }

    /// Returns what a record of this kind is.
    fn role_of(&self, kind: u32) -> Result<Role, Damage> {
        let number = match self.place {
            In::Documents => kind,
            In::Usage => Role::FIRST_USAGE + kind,
            In::Others => return Ok(Role::OTHER),
        };
        let role = Role::ALL.get(number as usize).copied();
        role.ok_or_else(|| self.malformed("a usage record is of no kind"))
    }

    /// Calls `with` with each record of a wanted kind, in order: what it is, its line, its text and the
    /// offset of its value. All are read into one buffer, one after the other.
    fn each(
        &self,
        is_wanted: impl Fn(u32) -> bool,
        mut with: impl FnMut(Role, LineNumber, &[u8], usize) -> Result<(), Damage>,
    ) -> Result<(), Damage> {
        let mut bytes_left = self.set.record_bytes_max();
        let mut text = Vec::new();
        let kinds = self.kinds()?;
        let runs = self.runs()?;
        if !runs.iter().is_sorted_by(|one, other| one.0 < other.0) {
            return Err(self.malformed("its runs are not in order"));
        }
        let (mut run, mut later, mut strings) = (None, runs.iter().peekable(), 0);
        for index in 0..self.len() {
            let word = kinds[index as usize / record::KINDS_PER_WORD];
            let (kind, form) = self.unpacked(word, index);
            let strings_before = strings;
            strings += u32::from(form == record::STRING);
            if !is_wanted(kind) {
                continue;
            }
            while let Some(next) = later.next_if(|(first, _)| *first <= index) {
                run = Some(next);
            }
            let place = (index, strings_before);
            let value_start = self.read_as(place, (kind, form), None, &mut text)?;
            let too_many = || self.malformed("a file is longer than it may be");
            bytes_left = bytes_left.checked_sub(text.len()).ok_or_else(too_many)?;
            with(self.role_of(kind)?, self.line_in(run, index)?, &text, value_start)?;
        }
        Ok(())
    }

    /// Appends the records of the wanted kinds to a list.
    fn append_to(
        &self,
        list: &mut ListWriter,
        is_wanted: impl Fn(u32) -> bool,
    ) -> Result<(), Damage> {
        self.each(is_wanted, |role, line, text, value_start| {
            let in_order = list.push(role, line, text, value_start);
            in_order.ok_or_else(|| self.malformed("its records are not in order"))
        })
    }
}

impl<'s> StoredPolicy<'s> {
    /// Returns the list of the file's user-agent lines and rules.
    pub(crate) fn record_list(&self) -> Result<RecordList<'s>, Damage> {
        self.set.record_list(In::Documents, position(self.head.document))
    }

    /// Returns whether the file has a usage record.
    pub fn has_usage(&self) -> Result<bool, Damage> {
        self.head().has_usage()
    }

    /// Returns the list of usage records; empty if the file has none.
    fn usage_list(&self) -> Result<RecordList<'s>, Damage> {
        self.set.record_list(In::Usage, self.head().usage_records())
    }

    /// Returns the role, the line and the value of a usage record.
    pub(crate) fn usage_record(&self, record: u32) -> Result<(Role, LineNumber, Vec<u8>), Damage> {
        let list = self.usage_list()?;
        let mut value = Vec::new();
        list.read_value(record, None, &mut value)?;
        Ok((list.role(record)?, list.line(record)?, value))
    }

    /// Returns the number of the file's user-agent lines and rules.
    pub fn record_count(&self) -> Result<usize, Damage> {
        Ok(self.record_list()?.len() as usize)
    }

    /// Returns the extract of the file, which [`ListReader`](crate::lists::ListReader) and
    /// [`read_extract`] read; empty if there is no file.
    pub fn extract(&self) -> Result<Vec<u8>, Damage> {
        let (mut list, mut records) = (ListWriter::default(), self.record_list()?);
        records.find_patterns(self)?;
        records.append_to(&mut list, |_| true)?;
        self.usage_list()?.append_to(&mut list, |_| true)?;
        Ok(list.bytes)
    }

    /// Calls `with` with its file, as far as it affects decisions, and the extract that the file was read
    /// from.
    pub fn with_file<T>(&self, with: impl FnOnce(&RobotsTxt<'_>, &[u8]) -> T) -> Result<T, Damage> {
        let extract = self.extract()?;
        Ok(with(&self.read(&extract)?, &extract))
    }

    fn read<'e>(&self, extract: &'e [u8]) -> Result<RobotsTxt<'e>, Damage> {
        read_extract(extract).ok_or_else(|| self.malformed("its records are not a valid file"))
    }

    /// Calls `with` with the user-agent lines of its file, in their groups, and its usage records. No rule
    /// is read.
    pub fn with_groups<T>(&self, with: impl FnOnce(&RobotsTxt<'_>) -> T) -> Result<T, Damage> {
        let mut list = ListWriter::default();
        let is_user_agent = |kind| Role::ALL[kind as usize].field == Some(Field::UserAgent);
        self.record_list()?.append_to(&mut list, is_user_agent)?;
        self.usage_list()?.append_to(&mut list, |_| true)?;
        Ok(with(&self.read(&list.bytes)?))
    }
}

impl PolicySet {
    /// Returns the list of other records at a position of the section, empty without a position, which
    /// [`ListReader::from_others`](crate::lists::ListReader::from_others) reads.
    pub fn other_records(&self, position: Option<u32>) -> Result<Vec<u8>, Damage> {
        let Some(position) = position else { return Ok(Vec::new()) };
        if self.sections.other_strings.is_some() {
            let mut list = ListWriter::default();
            self.record_list(In::Others, Some(position))?.append_to(&mut list, |_| true)?;
            return Ok(list.bytes);
        }
        let (section, word) = (self.sections.others, size_of::<U32>() as u64);
        let count = self.words(section, position, 1)?[0].get();
        let start = (u64::from(position) + 1) * word;
        let coded = self.file.bytes(section, start, count.into())?;
        let list = from_front_coded(coded, self.record_bytes_max());
        list.ok_or_else(|| self.malformed(section, position, "its records are cut, or too long"))
    }
}

impl StoredCapture<'_> {
    /// Returns the values of the file's Sitemap records, in file order.
    pub fn sitemaps(&self) -> Result<Vec<Vec<u8>>, Damage> {
        let mut sitemaps = Vec::new();
        let is_sitemap = |record: &Record<'_>| record.field == Some(Field::Sitemap);
        self.each_other(is_sitemap, |record, _| sitemaps.push(record.value.to_vec()))?;
        Ok(sitemaps)
    }

    /// Calls `with` with each wanted record that does not affect decisions, in file order, and its line.
    pub(crate) fn each_other(
        &self,
        is_wanted: impl Fn(&Record<'_>) -> bool,
        mut with: impl FnMut(&Record<'_>, LineNumber),
    ) -> Result<(), Damage> {
        let list = self.set.other_records(self.others)?;
        for other in ListReader::from_others(&list) {
            let (section, position) = (self.set.sections.others, self.others.unwrap_or(NONE));
            let malformed = || self.set.malformed(section, position, "its records are cut");
            let other = other.ok_or_else(malformed)?;
            if let Some(record) = record_of(other.text, self.set.dialect()).filter(&is_wanted) {
                with(&record, other.line);
            }
        }
        Ok(())
    }
}
