//! The extract of a file: its user-agent lines and rules, with their lines.
//!
//! Files that differ only in comments, trailing blank lines or records without effect have the same
//! extract, and reading it costs a fraction of parsing the file. An extract does not record its
//! dialect, so it is for memory and transfer, not for storage on its own.
//!
//! Each record is a kind (see [`RecordKind`]), then as varints the lines since the previous record,
//! the bytes of the record and the bytes of its value, then the record. The usage records of the
//! file follow in the same form, with lines counted from the beginning again: few files have any,
//! and rules are read without them. Other records are written separately, because they vary even
//! where rules are the same: lines since the previous one, bytes, record.

use super::{Group, RobotsTxt, Rule, Span, UsageRecord, UserAgentLine};
use portcullis_dialect::{Field, LineNumber, Verdict};
use portcullis_engine::bytes::{push_varint, take_varint};

/// The role of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum RecordKind {
    /// A user-agent line that starts a group.
    StartsGroup = 0,
    /// A user-agent line that extends the group of the line before it.
    ExtendsGroup = 1,
    /// A rule that allows.
    Allow = 2,
    /// A rule that disallows.
    Disallow = 3,
}

impl RecordKind {
    /// Every kind, in numeric order.
    pub const ALL: [RecordKind; 4] = [
        RecordKind::StartsGroup,
        RecordKind::ExtendsGroup,
        RecordKind::Allow,
        RecordKind::Disallow,
    ];
}

/// The role of a usage record: its field, and whether it is in a group. Parsing determines the
/// group, and blank lines may count for it, so it does not follow from the lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct UsageKind {
    /// [`Field::ContentUsage`], [`Field::ContentSignal`] or [`Field::License`].
    pub field: Field,
    /// Whether the record is in a group.
    pub in_group: bool,
}

impl UsageKind {
    /// All kinds, in numeric order.
    pub const ALL: [UsageKind; 6] = [
        UsageKind { field: Field::ContentUsage, in_group: true },
        UsageKind { field: Field::ContentSignal, in_group: true },
        UsageKind { field: Field::License, in_group: true },
        UsageKind { field: Field::ContentUsage, in_group: false },
        UsageKind { field: Field::ContentSignal, in_group: false },
        UsageKind { field: Field::License, in_group: false },
    ];

    /// Returns the kind of a record.
    pub fn of(record: &UsageRecord<'_>) -> UsageKind {
        UsageKind { field: record.field, in_group: record.user_agent.is_some() }
    }

    /// Returns the number of the kind, a position in [`UsageKind::ALL`].
    pub fn number(self) -> u8 {
        let number = UsageKind::ALL.iter().position(|other| *other == self);
        number.expect("usage records have one of three fields") as u8
    }
}

/// The first number of a [`UsageKind`] in an extract.
const USAGE_KINDS: u8 = RecordKind::ALL.len() as u8;

/// Writes an extract, record by record.
pub struct ExtractWriter<'o> {
    out: &'o mut Vec<u8>,
    line: u32,
    in_usage: bool,
}

impl<'o> ExtractWriter<'o> {
    /// Returns a writer that appends to `out`.
    pub fn new(out: &'o mut Vec<u8>) -> ExtractWriter<'o> {
        ExtractWriter { out, line: 0, in_usage: false }
    }

    /// Appends a record whose value begins at `value_start`. Returns `None`, and appends nothing,
    /// if its line precedes that of the record before it, or usage records have been appended.
    pub fn push(
        &mut self,
        kind: RecordKind,
        line: LineNumber,
        record: &[u8],
        value_start: usize,
    ) -> Option<()> {
        if self.in_usage {
            return None;
        }
        self.push_record(kind as u8, line, record, value_start)
    }

    /// Appends a usage record, after all other records. Returns `None`, and appends nothing, if its
    /// line precedes that of the usage record before it.
    pub fn push_usage(
        &mut self,
        kind: UsageKind,
        line: LineNumber,
        record: &[u8],
        value_start: usize,
    ) -> Option<()> {
        if !std::mem::replace(&mut self.in_usage, true) {
            self.line = 0;
        }
        self.push_record(USAGE_KINDS + kind.number(), line, record, value_start)
    }

    fn push_record(
        &mut self,
        kind: u8,
        line: LineNumber,
        record: &[u8],
        value_start: usize,
    ) -> Option<()> {
        let lines = line.get().checked_sub(self.line)?;
        let value_bytes = record.len().checked_sub(value_start)?;
        self.out.push(kind);
        push_varint(self.out, lines);
        self.line = line.get();
        push_varint(self.out, record.len() as u32);
        push_varint(self.out, value_bytes as u32);
        self.out.extend_from_slice(record);
        Some(())
    }
}

impl<'t> RobotsTxt<'t> {
    /// Appends the extract of this file, which was parsed from `text`.
    ///
    /// ```
    /// use portcullis_dialect::RFC_9309;
    /// use portcullis_robots::syntax::RobotsTxt;
    ///
    /// let text = b"# us\nUser-agent: *\nDisallow: /a\nSitemap: https://a.example/s.xml\n";
    /// let file = RobotsTxt::parse(text, &RFC_9309, None);
    /// let mut extract = Vec::new();
    /// file.write_extract(text, &mut extract);
    /// let again = RobotsTxt::read_extract(&extract).unwrap();
    /// assert_eq!(again.rules()[0].value, b"/a");
    /// assert_eq!(again.rules()[0].line.get(), 3);
    /// ```
    pub fn write_extract(&self, text: &[u8], out: &mut Vec<u8>) {
        let mut writer = ExtractWriter::new(out);
        let mut push = |kind, line, span: Span, value: &[u8]| {
            let record = &text[span.range()];
            let in_order = writer.push(kind, line, record, record.len() - value.len());
            in_order.expect("records are in the order of their lines");
        };
        for group in self.groups() {
            for (index, agent) in self.user_agents_of(group).iter().enumerate() {
                let kinds = [RecordKind::StartsGroup, RecordKind::ExtendsGroup];
                push(kinds[usize::from(index > 0)], agent.line, agent.span, agent.value);
            }
            for rule in self.rules_of(group) {
                let allows = rule.verdict == Verdict::Allow;
                let kind = if allows { RecordKind::Allow } else { RecordKind::Disallow };
                push(kind, rule.line, rule.span, rule.value);
            }
        }
        for usage in self.usage_records() {
            let record = &text[usage.span.range()];
            let value_start = record.len() - usage.value.len();
            let kind = UsageKind::of(usage);
            let in_order = writer.push_usage(kind, usage.line, record, value_start);
            in_order.expect("records are in the order of their lines");
        }
    }

    /// Reads an extract, or returns `None` if `extract` is damaged. Spans refer to the extract; the
    /// result has no other records and no notes.
    pub fn read_extract(extract: &'t [u8]) -> Option<RobotsTxt<'t>> {
        let mut file = RobotsTxt::default();
        let (mut rest, mut line, mut in_usage) = (extract, 0_u32, false);
        while let Some((&kind, tail)) = rest.split_first() {
            rest = tail;
            let usage = kind.checked_sub(USAGE_KINDS);
            if usage.is_some() && !std::mem::replace(&mut in_usage, true) {
                line = 0;
            }
            line = line.checked_add(take_varint(&mut rest)?)?;
            let record_bytes = take_varint(&mut rest)? as usize;
            let value_bytes = take_varint(&mut rest)? as usize;
            let start = u32::try_from(extract.len() - rest.len()).ok()?;
            let (record, tail) = rest.split_at_checked(record_bytes)?;
            rest = tail;
            let span = Span { start, end: start.checked_add(u32::try_from(record_bytes).ok()?)? };
            let value = &record[record_bytes.checked_sub(value_bytes)?..];
            let line = LineNumber::new(line)?;
            match usage {
                Some(usage) => {
                    let kind = *UsageKind::ALL.get(usize::from(usage))?;
                    file.add_usage(kind, line, span, value)?;
                }
                None if in_usage => return None,
                None => file.add(*RecordKind::ALL.get(usize::from(kind))?, line, span, value)?,
            }
        }
        Some(file)
    }

    fn add(
        &mut self,
        kind: RecordKind,
        line: LineNumber,
        span: Span,
        value: &'t [u8],
    ) -> Option<()> {
        match kind {
            RecordKind::StartsGroup | RecordKind::ExtendsGroup => {
                if kind == RecordKind::StartsGroup {
                    let (agents, rules) = (self.user_agents.len() as u32, self.rules.len() as u32);
                    self.groups.push(Group { user_agents: agents..agents, rules: rules..rules });
                }
                self.user_agents.push(UserAgentLine { value, line, span });
                let group = self.groups.last_mut().filter(|group| group.rules.is_empty())?;
                group.user_agents.end += 1;
            }
            RecordKind::Allow | RecordKind::Disallow => {
                let allows = kind == RecordKind::Allow;
                let verdict = if allows { Verdict::Allow } else { Verdict::Disallow };
                self.rules.push(Rule { verdict, value, line, span });
                self.groups.last_mut()?.rules.end += 1;
            }
        }
        Some(())
    }

    fn add_usage(
        &mut self,
        kind: UsageKind,
        line: LineNumber,
        span: Span,
        value: &'t [u8],
    ) -> Option<()> {
        let before = self.user_agents.partition_point(|agent| agent.line < line) as u32;
        let user_agent = match kind.in_group {
            true => Some(before.checked_sub(1)?),
            false => None,
        };
        self.usage_records.push(UsageRecord { field: kind.field, value, line, span, user_agent });
        Some(())
    }

    /// Appends the other records of this file, which was parsed from `text`.
    pub fn write_others(&self, text: &[u8], out: &mut Vec<u8>) {
        let mut writer = OthersWriter::new(out);
        for record in self.other_records() {
            let in_order = writer.push(record.line, &text[record.span.range()]);
            in_order.expect("records are in the order of their lines");
        }
    }
}

/// Writes other records, one by one, for [`read_others`].
pub struct OthersWriter<'o> {
    out: &'o mut Vec<u8>,
    line: u32,
}

impl<'o> OthersWriter<'o> {
    /// Returns a writer that appends to `out`.
    pub fn new(out: &'o mut Vec<u8>) -> OthersWriter<'o> {
        OthersWriter { out, line: 0 }
    }

    /// Appends a record. Returns `None`, and appends nothing, if its line precedes that of the
    /// record before it.
    pub fn push(&mut self, line: LineNumber, record: &[u8]) -> Option<()> {
        push_varint(self.out, line.get().checked_sub(self.line)?);
        self.line = line.get();
        push_varint(self.out, record.len() as u32);
        self.out.extend_from_slice(record);
        Some(())
    }
}

/// Returns the records that [`RobotsTxt::write_others`] wrote, with their lines, up to the first
/// damaged one.
pub fn read_others(mut bytes: &[u8]) -> impl Iterator<Item = (LineNumber, &[u8])> {
    let mut line = 0_u32;
    std::iter::from_fn(move || {
        line = line.checked_add(take_varint(&mut bytes)?)?;
        let length = take_varint(&mut bytes)? as usize;
        let (record, rest) = bytes.split_at_checked(length)?;
        bytes = rest;
        Some((LineNumber::new(line)?, record))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use portcullis_dialect::{Dialect, GOOGLE};

    #[test]
    fn an_extract_has_the_same_groups_and_rules() {
        let text = b"\xef\xbb\xbfDisallow: /nobody\r\nUser-agent: a\nuser-agent :b # c\r\
            Crawl-delay: 3\nAllow: /x\nDisallow /y\n\nUser-agent: c\n\
            Sitemap: https://s.example/\nUser-agent: *\n disallow:\t/z \x0b\n";
        for dialect in Dialect::ALL {
            let file = RobotsTxt::parse(text, dialect, None);
            let mut extract = Vec::new();
            file.write_extract(text, &mut extract);
            let again = RobotsTxt::read_extract(&extract).unwrap();
            assert_eq!(again.groups(), file.groups());
            let lines = |file: &RobotsTxt<'_>, text: &[u8]| -> Vec<_> {
                let agents = file.user_agents().iter();
                let agents = agents.map(|line| (line.line, line.value.to_vec(), line.span));
                let rules = file.rules().iter();
                let rules = rules.map(|rule| (rule.line, rule.value.to_vec(), rule.span));
                let record = |span: Span| text[span.range()].to_vec();
                agents.chain(rules).map(|(line, value, span)| (line, value, record(span))).collect()
            };
            assert_eq!(lines(&again, &extract), lines(&file, text), "{}", dialect.name);
            let mut others = Vec::new();
            file.write_others(text, &mut others);
            assert_eq!(read_others(&others).count(), file.other_records().len());
        }
    }

    #[test]
    fn damaged_extracts_are_none() {
        let text = b"User-agent: a\nDisallow: /b\n";
        let file = RobotsTxt::parse(text, &GOOGLE, None);
        let mut extract = Vec::new();
        file.write_extract(text, &mut extract);
        for length in 1..extract.len() {
            let shorter = RobotsTxt::read_extract(&extract[..length]);
            assert!(shorter.is_none_or(|file| file.rules().is_empty()), "{length}");
        }
        assert_eq!(RobotsTxt::read_extract(&[3, 1, 0, 0]), None);
        assert_eq!(RobotsTxt::read_extract(&[1, 1, 0, 0]), None);
        assert_eq!(RobotsTxt::read_extract(&[10, 1, 0, 0]), None);
        assert_eq!(RobotsTxt::read_extract(&[0, 1, 1, 2, b'a']), None);
    }
}
