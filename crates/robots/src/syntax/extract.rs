//! A file reduced to what can decide: its user-agent lines and rules, with their lines.
//!
//! Two files that differ only in comments, blank lines at their end or records that decide nothing
//! have the same extract, and parsing it again costs a fraction of parsing the file. It is a form for
//! memory and for passing on, not for keeping: nothing says which dialect it was made by.
//!
//! For each record: a kind (0 a user-agent line that starts a group, 1 one that extends it, 2 Allow,
//! 3 Disallow), then as varints the lines since the record before, the bytes of the record and
//! those of its value, then the record. Other records are apart, because they differ from file to
//! file where rules do not: the lines since the one before, the bytes, the record.

use super::{Group, RobotsTxt, Rule, Span, UserAgentLine};
use portcullis_dialect::decision::Verdict;
use portcullis_dialect::id::LineNumber;
use portcullis_matcher::bytes::{push_varint, take_varint};

/// What a record does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum RecordKind {
    /// A user-agent line that starts a group.
    StartsGroup = 0,
    /// A user-agent line that extends the group of the one before it.
    ExtendsGroup = 1,
    /// A rule that allows.
    Allow = 2,
    /// A rule that disallows.
    Disallow = 3,
}

impl RecordKind {
    /// Every kind, in the order of its number.
    pub const ALL: [RecordKind; 4] = [
        RecordKind::StartsGroup,
        RecordKind::ExtendsGroup,
        RecordKind::Allow,
        RecordKind::Disallow,
    ];
}

/// What is common to user-agent lines and rules.
struct Item<'t> {
    kind: RecordKind,
    line: LineNumber,
    span: Span,
    value: &'t [u8],
}

/// Writes an extract, record by record.
pub struct ExtractWriter<'o> {
    out: &'o mut Vec<u8>,
    line: u32,
}

impl<'o> ExtractWriter<'o> {
    /// A writer that appends to `out`.
    pub fn new(out: &'o mut Vec<u8>) -> ExtractWriter<'o> {
        ExtractWriter { out, line: 0 }
    }

    /// Appends a record, whose value begins at `value_start`. Nothing is appended, and nothing is
    /// returned, if it stands before the one before it.
    pub fn push(
        &mut self,
        kind: RecordKind,
        line: LineNumber,
        record: &[u8],
        value_start: usize,
    ) -> Option<()> {
        let lines = line.get().checked_sub(self.line)?;
        let value_bytes = record.len().checked_sub(value_start)?;
        self.out.push(kind as u8);
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
    /// use portcullis_dialect::dialect::RFC_9309;
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
    }

    /// Reads an extract. Its spans are those of the extract, and it has neither other records nor
    /// notes. Nothing if `extract` is none.
    pub fn read_extract(extract: &'t [u8]) -> Option<RobotsTxt<'t>> {
        let mut file = RobotsTxt::default();
        let (mut rest, mut line) = (extract, 0);
        while let Some((&kind, tail)) = rest.split_first() {
            rest = tail;
            let kind = *RecordKind::ALL.get(usize::from(kind))?;
            let item = take(kind, extract, &mut rest, &mut line)?;
            file.add(&item)?;
        }
        Some(file)
    }

    fn add(&mut self, item: &Item<'t>) -> Option<()> {
        let Item { kind, line, span, value } = *item;
        match kind {
            RecordKind::StartsGroup | RecordKind::ExtendsGroup => {
                if kind == RecordKind::StartsGroup {
                    let (user_agents, rules) = (self.user_agents.len(), self.rules.len());
                    self.groups.push(Group {
                        user_agents: user_agents as u32..user_agents as u32,
                        rules: rules as u32..rules as u32,
                    });
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

    /// Appends the records that decide nothing, of this file, which was parsed from `text`.
    pub fn write_others(&self, text: &[u8], out: &mut Vec<u8>) {
        let mut writer = OthersWriter::new(out);
        for record in self.other_records() {
            let in_order = writer.push(record.line, &text[record.span.range()]);
            in_order.expect("records are in the order of their lines");
        }
    }
}

/// Writes what [`read_others`] reads, record by record.
pub struct OthersWriter<'o> {
    out: &'o mut Vec<u8>,
    line: u32,
}

impl<'o> OthersWriter<'o> {
    /// A writer that appends to `out`.
    pub fn new(out: &'o mut Vec<u8>) -> OthersWriter<'o> {
        OthersWriter { out, line: 0 }
    }

    /// Appends a record. Nothing is appended, and nothing is returned, if it stands before the one
    /// before it.
    pub fn push(&mut self, line: LineNumber, record: &[u8]) -> Option<()> {
        push_varint(self.out, line.get().checked_sub(self.line)?);
        self.line = line.get();
        push_varint(self.out, record.len() as u32);
        self.out.extend_from_slice(record);
        Some(())
    }
}

/// The records that [`RobotsTxt::write_others`] wrote, with their lines, as far as they make sense.
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

fn take<'t>(
    kind: RecordKind,
    extract: &'t [u8],
    rest: &mut &'t [u8],
    line: &mut u32,
) -> Option<Item<'t>> {
    *line = line.checked_add(take_varint(rest)?)?;
    let record_bytes = take_varint(rest)? as usize;
    let value_bytes = take_varint(rest)? as usize;
    let start = extract.len() - rest.len();
    let (record, tail) = rest.split_at_checked(record_bytes)?;
    *rest = tail;
    let value = &record[record_bytes.checked_sub(value_bytes)?..];
    let (start, end) = (u32::try_from(start).ok()?, u32::try_from(start + record_bytes).ok()?);
    Some(Item { kind, line: LineNumber::new(*line)?, span: Span { start, end }, value })
}

#[cfg(test)]
mod tests {
    use super::*;
    use portcullis_dialect::dialect::{Dialect, GOOGLE};

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
    fn what_is_no_extract_is_none() {
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
        assert_eq!(RobotsTxt::read_extract(&[9, 1, 0, 0]), None);
        assert_eq!(RobotsTxt::read_extract(&[0, 1, 1, 2, b'a']), None);
    }
}
