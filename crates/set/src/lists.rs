//! The records of a file as lists of bytes, with their lines: what deduplicates files, and what a
//! set stores.
//!
//! A file has two lists. Its extract holds the user-agent lines and rules, then the usage records,
//! with lines counted from the beginning again: few files have any, and rules are read without
//! them. The other records are a list of their own, because they vary even where rules are the
//! same. Files that differ only in comments, trailing blank lines or records without effect have
//! the same extract, and reading it costs a fraction of parsing the file. A list does not record
//! its dialect, so it is for memory and transfer, not for storage on its own.
//!
//! Each record of an extract is the number of its role, then as varints the lines since the
//! previous record, the bytes of the record and the bytes of its value, then the record. Other
//! records have no role and no value.

use portcullis_dialect::{Dialect, Field, LineNumber, Verdict};
use portcullis_engine::bytes::{push_varint, take_varint};
use portcullis_robots::syntax::{ExtractedFile, ExtractedRecord, RobotsTxt, Span, record_of};

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

    /// Returns the number of the kind, a position in [`UsageKind::ALL`].
    fn number(self) -> u8 {
        let number = UsageKind::ALL.iter().position(|other| *other == self);
        number.expect("usage records have one of three fields") as u8
    }
}

/// What a record of a list is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A user-agent line or a rule.
    Access(RecordKind),
    /// A usage record.
    Usage(UsageKind),
    /// A record that does not affect decisions.
    Other,
}

impl Role {
    /// The first number of a [`UsageKind`] in an extract.
    const USAGE: u8 = RecordKind::ALL.len() as u8;

    /// Returns the number of the kind among those of access, or among those of usage.
    pub fn number(self) -> u32 {
        match self {
            Role::Access(kind) => kind as u32,
            Role::Usage(kind) => kind.number().into(),
            Role::Other => 0,
        }
    }

    /// Returns the field of such a record. `None` if it does not affect decisions.
    pub fn field(self) -> Option<Field> {
        match self {
            Role::Access(RecordKind::Allow) => Some(Field::Allow),
            Role::Access(RecordKind::Disallow) => Some(Field::Disallow),
            Role::Access(_) => Some(Field::UserAgent),
            Role::Usage(kind) => Some(kind.field),
            Role::Other => None,
        }
    }

    /// Returns the text before the pattern of such a record as most files write it. `None` if it is not a
    /// rule.
    pub fn rule_field(self) -> Option<&'static [u8]> {
        match self {
            Role::Access(RecordKind::Allow) => Some(b"Allow: "),
            Role::Access(RecordKind::Disallow) => Some(b"Disallow: "),
            _ => None,
        }
    }

    fn from_number(number: u8) -> Option<Role> {
        match number.checked_sub(Role::USAGE) {
            None => RecordKind::ALL.get(usize::from(number)).copied().map(Role::Access),
            Some(usage) => UsageKind::ALL.get(usize::from(usage)).copied().map(Role::Usage),
        }
    }
}

/// A record of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListedRecord<'t> {
    /// What it is.
    pub role: Role,
    /// Its line.
    pub line: LineNumber,
    /// The record.
    pub text: &'t [u8],
    /// Where its value begins in `text`; the end of `text` for a record that does not affect
    /// decisions.
    pub value_start: u32,
    /// Where `text` begins in the list.
    start: u32,
}

impl<'t> ListedRecord<'t> {
    /// Returns the value of the record.
    pub fn value(&self) -> &'t [u8] {
        &self.text[self.value_start as usize..]
    }

    fn span(&self) -> Span {
        Span { start: self.start, end: self.start + self.text.len() as u32 }
    }
}

/// Writes a list, record by record.
#[derive(Debug, Default)]
pub struct ListWriter {
    pub bytes: Vec<u8>,
    line: u32,
    in_usage: bool,
}

impl ListWriter {
    /// Appends a record whose value begins at `value_start`. Returns `None`, and appends nothing, if
    /// its line precedes that of the record before it, or it belongs before a usage record.
    pub fn push(
        &mut self,
        role: Role,
        line: LineNumber,
        text: &[u8],
        value_start: usize,
    ) -> Option<()> {
        let is_usage = matches!(role, Role::Usage(_));
        if is_usage && !std::mem::replace(&mut self.in_usage, true) {
            self.line = 0;
        }
        let lines = line.get().checked_sub(self.line).filter(|_| is_usage == self.in_usage)?;
        let value_bytes = text.len().checked_sub(value_start)?;
        match role {
            Role::Access(kind) => self.bytes.push(kind as u8),
            Role::Usage(kind) => self.bytes.push(Role::USAGE + kind.number()),
            Role::Other => {}
        }
        self.line = line.get();
        push_varint(&mut self.bytes, lines);
        push_varint(&mut self.bytes, text.len() as u32);
        if role != Role::Other {
            push_varint(&mut self.bytes, value_bytes as u32);
        }
        self.bytes.extend_from_slice(text);
        Some(())
    }
}

/// Reads a list, record by record; a last `None` is damage.
#[derive(Clone, Debug)]
pub struct ListReader<'t> {
    list: &'t [u8],
    rest: &'t [u8],
    line: u32,
    in_usage: bool,
    has_roles: bool,
}

impl<'t> ListReader<'t> {
    /// Reads an extract.
    pub fn from_extract(list: &'t [u8]) -> ListReader<'t> {
        ListReader { list, rest: list, line: 0, in_usage: false, has_roles: true }
    }

    /// Reads the list of other records.
    pub fn from_others(list: &'t [u8]) -> ListReader<'t> {
        ListReader { has_roles: false, ..ListReader::from_extract(list) }
    }

    fn read(&mut self) -> Option<ListedRecord<'t>> {
        let mut role = Role::Other;
        if self.has_roles {
            let (&number, rest) = self.rest.split_first()?;
            (role, self.rest) = (Role::from_number(number)?, rest);
        }
        let is_usage = matches!(role, Role::Usage(_));
        if is_usage && !std::mem::replace(&mut self.in_usage, true) {
            self.line = 0;
        }
        self.line = self.line.checked_add(take_varint(&mut self.rest)?)?;
        let text_bytes = take_varint(&mut self.rest)?;
        let value_bytes = if self.has_roles { take_varint(&mut self.rest)? } else { 0 };
        let start = u32::try_from(self.list.len() - self.rest.len()).ok()?;
        let (text, rest) = self.rest.split_at_checked(text_bytes as usize)?;
        start.checked_add(text_bytes)?;
        self.rest = rest;
        let (line, value_start) =
            (LineNumber::new(self.line)?, text_bytes.checked_sub(value_bytes)?);
        (is_usage == self.in_usage).then_some(ListedRecord { role, line, text, value_start, start })
    }

    /// Returns whether each record is what a file of `dialect` has. One parse per record.
    ///
    /// A list may come from anywhere. A text that no file has, such as one with a line end, would be
    /// read as other rules when it is parsed again.
    pub fn is_of(mut self, dialect: &Dialect) -> bool {
        let mut last = None;
        let are_others = !self.has_roles;
        let mut is_of = |record: ListedRecord<'_>| {
            let field = record.role.field();
            // Other records are on lines of their own.
            let is_later = last.replace(record.line) < Some(record.line);
            let value_bytes = record.value().len();
            field_of(record.text, value_bytes, dialect) == Some(field) && (is_later || !are_others)
        };
        self.all(|record| record.is_some_and(&mut is_of))
    }
}

impl<'t> Iterator for ListReader<'t> {
    type Item = Option<ListedRecord<'t>>;

    fn next(&mut self) -> Option<Option<ListedRecord<'t>>> {
        if self.rest.is_empty() {
            return None;
        }
        let record = self.read();
        if record.is_none() {
            self.rest = &[];
        }
        Some(record)
    }
}

/// Returns the field of the record `text`; `None` inside if it does not affect decisions. `None`
/// outside if no file of the dialect contains it, or if its value has another length.
fn field_of(text: &[u8], value_bytes: usize, dialect: &Dialect) -> Option<Option<Field>> {
    let read = record_of(text, dialect).filter(|read| read.span.range() == (0..text.len()))?;
    let field = read.field.filter(|field| *field != Field::Sitemap);
    let expected = field.map_or(0, |_| read.value.len());
    (value_bytes == expected).then_some(field)
}

/// Returns the extract and the list of other records of `file`, which was parsed from `text`.
///
/// ```
/// use portcullis_dialect::RFC_9309;
/// use portcullis_robots::syntax::RobotsTxt;
/// use portcullis_set::lists::{lists, read_extract};
///
/// let text = b"# us\nUser-agent: *\nDisallow: /a\nSitemap: https://a.example/s.xml\n";
/// let [extract, others] = lists(&RobotsTxt::parse(text, &RFC_9309, None), text);
/// let again = read_extract(&extract).unwrap();
/// assert_eq!(again.rules()[0].value, b"/a");
/// assert_eq!(again.rules()[0].line.get(), 3);
/// assert!(others.ends_with(b"Sitemap: https://a.example/s.xml"));
/// ```
pub fn lists(file: &RobotsTxt<'_>, text: &[u8]) -> [Vec<u8>; 2] {
    let [mut extract, mut others] = [ListWriter::default(), ListWriter::default()];
    let push = |list: &mut ListWriter, role, line, span: Span, value_bytes: usize| {
        let record = &text[span.range()];
        let in_order = list.push(role, line, record, record.len() - value_bytes);
        in_order.expect("records are in the order of their lines");
    };
    for group in file.groups() {
        for (index, agent) in file.user_agents_of(group).iter().enumerate() {
            let kinds = [RecordKind::StartsGroup, RecordKind::ExtendsGroup];
            let role = Role::Access(kinds[usize::from(index > 0)]);
            push(&mut extract, role, agent.line, agent.span, agent.value.len());
        }
        for rule in file.rules_of(group) {
            let allows = rule.verdict == Verdict::Allow;
            let kind = if allows { RecordKind::Allow } else { RecordKind::Disallow };
            push(&mut extract, Role::Access(kind), rule.line, rule.span, rule.value.len());
        }
    }
    for usage in file.usage_records() {
        let kind = UsageKind { field: usage.field, in_group: usage.user_agent.is_some() };
        push(&mut extract, Role::Usage(kind), usage.line, usage.span, usage.value.len());
    }
    for other in file.other_records() {
        push(&mut others, Role::Other, other.line, other.span, 0);
    }
    [extract.bytes, others.bytes]
}

/// Reads an extract, or returns `None` if `extract` is damaged. Spans refer to the extract; the
/// result has no other records and no notes.
pub fn read_extract(extract: &[u8]) -> Option<RobotsTxt<'_>> {
    let mut file = ExtractedFile::default();
    for record in ListReader::from_extract(extract) {
        let record = record?;
        let stored =
            ExtractedRecord { value: record.value(), line: record.line, span: record.span() };
        match record.role {
            Role::Access(RecordKind::StartsGroup) => file.user_agent(stored, true)?,
            Role::Access(RecordKind::ExtendsGroup) => file.user_agent(stored, false)?,
            Role::Access(RecordKind::Allow) => file.rule(Verdict::Allow, stored)?,
            Role::Access(RecordKind::Disallow) => file.rule(Verdict::Disallow, stored)?,
            Role::Usage(UsageKind { field, in_group }) => file.usage(field, stored, in_group)?,
            Role::Other => return None,
        }
    }
    Some(file.finish())
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
            let [extract, others] = lists(&file, text);
            let again = read_extract(&extract).unwrap();
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
            assert_eq!(
                ListReader::from_others(&others).flatten().count(),
                file.other_records().len()
            );
            assert!(ListReader::from_extract(&extract).is_of(dialect));
            assert!(ListReader::from_others(&others).is_of(dialect));
        }
    }

    #[test]
    fn damaged_extracts_are_none() {
        let text = b"User-agent: a\nDisallow: /b\n";
        let file = RobotsTxt::parse(text, &GOOGLE, None);
        let [extract, _] = lists(&file, text);
        for length in 1..extract.len() {
            let shorter = read_extract(&extract[..length]);
            assert!(shorter.is_none_or(|file| file.rules().is_empty()), "{length}");
        }
        assert_eq!(read_extract(&[3, 1, 0, 0]), None);
        assert_eq!(read_extract(&[1, 1, 0, 0]), None);
        assert_eq!(read_extract(&[10, 1, 0, 0]), None);
        assert_eq!(read_extract(&[0, 1, 1, 2, b'a']), None);
    }
}
