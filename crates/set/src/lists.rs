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
use portcullis_engine::bytes::{push_varints, shared_bytes, take_varints};
use portcullis_robots::syntax::{ExtractedFile, ExtractedRecord, RobotsTxt, Span, record_of};

/// The role of a record of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Role {
    /// The field; `None` if the record does not affect decisions.
    pub field: Option<Field>,
    /// Whether the record is in a group that an earlier line starts. Parsing determines the group, and
    /// blank lines may count for it, so it does not follow from the lines.
    pub in_group: bool,
}

impl Role {
    /// The role of a user-agent line that starts a group. Other ones extend the group of the line before.
    pub const STARTS_GROUP: Role = Role::of(Field::UserAgent, false);
    /// The role of a record that does not affect decisions.
    pub const OTHER: Role = Role { field: None, in_group: false };
    /// The roles of an extract, in numeric order.
    pub const ALL: [Role; 10] = [
        Role::STARTS_GROUP,
        Role::of(Field::UserAgent, true),
        Role::of(Field::Allow, true),
        Role::of(Field::Disallow, true),
        Role::of(Field::ContentUsage, true),
        Role::of(Field::ContentSignal, true),
        Role::of(Field::License, true),
        Role::of(Field::ContentUsage, false),
        Role::of(Field::ContentSignal, false),
        Role::of(Field::License, false),
    ];
    /// The number of the first role of a usage record. Those before it are of user-agent lines and rules.
    pub const FIRST_USAGE: u32 = 4;

    /// Returns the role of a record with this field.
    pub const fn of(field: Field, in_group: bool) -> Role {
        Role { field: Some(field), in_group }
    }

    /// Returns the number of the role, a position in [`Role::ALL`]; 0 if it is not in an extract.
    pub fn number(self) -> u32 {
        match (self.field, self.in_group) {
            (Some(Field::UserAgent), in_group) => in_group.into(),
            (Some(Field::Allow), true) => 2,
            (Some(Field::Disallow), true) => 3,
            (Some(Field::ContentUsage), true) => 4,
            (Some(Field::ContentSignal), true) => 5,
            (Some(Field::License), true) => 6,
            (Some(Field::ContentUsage), false) => 7,
            (Some(Field::ContentSignal), false) => 8,
            (Some(Field::License), false) => 9,
            _ => 0,
        }
    }

    /// Returns whether such a record is a usage record.
    pub fn is_usage(self) -> bool {
        matches!(self.field, Some(Field::ContentUsage | Field::ContentSignal | Field::License))
    }

    /// Returns the text before the pattern of such a record as most files write it. `None` if it is not a
    /// rule.
    pub fn rule_field(self) -> Option<&'static [u8]> {
        match self.field {
            Some(Field::Allow) => Some(b"Allow: "),
            Some(Field::Disallow) => Some(b"Disallow: "),
            _ => None,
        }
    }
}

/// A record of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListedRecord<'t> {
    /// Its role.
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
        let is_usage = role.is_usage();
        if is_usage && !std::mem::replace(&mut self.in_usage, true) {
            self.line = 0;
        }
        let lines = line.get().checked_sub(self.line).filter(|_| is_usage == self.in_usage)?;
        let value_bytes = text.len().checked_sub(value_start)?;
        self.line = line.get();
        let (text_bytes, value_bytes) = (text.len() as u32, value_bytes as u32);
        match role == Role::OTHER {
            true => push_varints(&mut self.bytes, [lines, text_bytes]),
            false => {
                push_varints(&mut self.bytes, [role.number(), lines, text_bytes, value_bytes]);
            }
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

    #[inline]
    fn read(&mut self) -> Option<ListedRecord<'t>> {
        let (role, [lines, text_bytes, value_bytes]) = match self.has_roles {
            true => {
                let [role, lines, text, value] = take_varints(&mut self.rest)?;
                (*Role::ALL.get(role as usize)?, [lines, text, value])
            }
            false => {
                let [lines, text] = take_varints(&mut self.rest)?;
                (Role::OTHER, [lines, text, 0])
            }
        };
        let is_usage = role.is_usage();
        if is_usage && !std::mem::replace(&mut self.in_usage, true) {
            self.line = 0;
        }
        self.line = self.line.checked_add(lines)?;
        let start = u32::try_from(self.list.len() - self.rest.len()).ok()?;
        let text = self.rest.split_off(..text_bytes as usize)?;
        start.checked_add(text_bytes)?;
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
            let field = record.role.field;
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

    #[inline]
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

/// The text that the first record of a stored list of other records is compared with.
const USUAL_BEGIN: &[u8] = b"Sitemap: https://";

/// Appends the stored form of a list of other records: of each, the bytes after those that it shares with the
/// record before it.
///
/// # Panics
///
/// If the list is none.
pub fn push_front_coded(list: &[u8], out: &mut Vec<u8>) {
    let (mut last, mut line) = (USUAL_BEGIN, 0);
    for record in ListReader::from_others(list) {
        let ListedRecord { text, line: next, .. } = record.expect("lists are of this program");
        let shared = shared_bytes(last, text);
        let own = &text[shared..];
        push_varints(out, [next.get() - line, shared as u32, own.len() as u32]);
        out.extend_from_slice(own);
        (last, line) = (text, next.get());
    }
}

/// Returns the list of other records with this stored form. `None` if there is none, or if its records have
/// more than `bytes_max` bytes together: few bytes may stand for many.
pub fn from_front_coded(mut rest: &[u8], bytes_max: usize) -> Option<Vec<u8>> {
    let (mut list, mut bytes_left) = (ListWriter::default(), bytes_max);
    let (mut text, mut line) = (USUAL_BEGIN.to_vec(), 0_u32);
    while !rest.is_empty() {
        let [lines, shared, own] = take_varints(&mut rest)?;
        text.get(..shared as usize)?;
        text.truncate(shared as usize);
        text.extend_from_slice(rest.split_off(..own as usize)?);
        bytes_left = bytes_left.checked_sub(text.len())?;
        line = line.checked_add(lines)?;
        list.push(Role::OTHER, LineNumber::new(line)?, &text, text.len())?;
    }
    Some(list.bytes)
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
    // Most files are rules, and a list is stored elsewhere soon.
    let records = file.user_agents().len() + file.rules().len() + file.usage_records().len();
    extract.bytes.reserve(text.len() + 4 * records);
    let others_bytes = file.other_records().iter().map(|other| 2 + other.span.range().len());
    others.bytes.reserve(others_bytes.sum());
    let push = |list: &mut ListWriter, role, line, span: Span, value_bytes: usize| {
        let record = &text[span.range()];
        let in_order = list.push(role, line, record, record.len() - value_bytes);
        in_order.expect("records are in the order of their lines");
    };
    for group in file.groups() {
        for (index, agent) in file.user_agents_of(group).iter().enumerate() {
            let role = Role::of(Field::UserAgent, index > 0);
            push(&mut extract, role, agent.line, agent.span, agent.value.len());
        }
        for rule in file.rules_of(group) {
            let allows = rule.verdict == Verdict::Allow;
            let role = Role::of(if allows { Field::Allow } else { Field::Disallow }, true);
            push(&mut extract, role, rule.line, rule.span, rule.value.len());
        }
    }
    for usage in file.usage_records() {
        let role = Role::of(usage.field, usage.user_agent.is_some());
        push(&mut extract, role, usage.line, usage.span, usage.value.len());
    }
    for other in file.other_records() {
        push(&mut others, Role::OTHER, other.line, other.span, 0);
    }
    [extract.bytes, others.bytes]
}

/// Reads an extract, or returns `None` if `extract` is damaged. Spans refer to the extract; the
/// result has no other records and no notes.
pub fn read_extract(extract: &[u8]) -> Option<RobotsTxt<'_>> {
    let records: Option<Vec<_>> = ListReader::from_extract(extract).collect();
    file_of(&records?)
}

/// Like [`read_extract`], from the records of an extract.
pub fn file_of<'t>(records: &[ListedRecord<'t>]) -> Option<RobotsTxt<'t>> {
    let mut file = ExtractedFile::with_capacity(records.len());
    for record in records {
        let stored =
            ExtractedRecord { value: record.value(), line: record.line, span: record.span() };
        match record.role.field? {
            Field::UserAgent => file.user_agent(stored, record.role == Role::STARTS_GROUP)?,
            Field::Allow => file.rule(Verdict::Allow, stored)?,
            Field::Disallow => file.rule(Verdict::Disallow, stored)?,
            field => file.usage(field, stored, record.role.in_group)?,
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
    fn front_coded_lists_are_read_again() {
        let text = b"Sitemap: https://a.example/1.xml\nSitemap: https://a.example/2.xml\n\n\
            Sitemap: https://a.example/2\nHost: b\nHost: b\n";
        let [_, others] = lists(&RobotsTxt::parse(text, &GOOGLE, None), text);
        let mut coded = Vec::new();
        push_front_coded(&others, &mut coded);
        assert!(coded.starts_with(
            b"\x01\x11\x0fa.example/1.xml\x01\x1b\x052.xml\x02\x1c\0\x01\0\x07Host: b"
        ));
        let bytes: usize = ListReader::from_others(&others).flatten().map(|it| it.text.len()).sum();
        assert_eq!(from_front_coded(&coded, bytes).as_ref(), Some(&others));
        assert_eq!(from_front_coded(&coded, bytes - 1), None);
        // More bytes are shared than there are, a record is cut, and no line is the first.
        for damaged in [&b"\x01\x12\0"[..], &coded[..9], b"\0\x01\0"] {
            assert_eq!(from_front_coded(damaged, 1000), None);
        }
        assert_eq!(from_front_coded(b"", 0), Some(Vec::new()));
    }

    #[test]
    fn a_role_has_the_number_of_its_place() {
        let numbers: Vec<u32> = Role::ALL.into_iter().map(Role::number).collect();
        assert_eq!(numbers, (0..10).collect::<Vec<_>>());
        assert_eq!([Role::OTHER, Role::of(Field::Sitemap, true)].map(Role::number), [0, 0]);
        assert_eq!([Field::Allow, Field::Disallow].map(|it| Role::of(it, false).number()), [0, 0]);
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
