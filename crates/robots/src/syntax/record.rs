//! Reads one line as a record: comment, white space, colon, field.
//!
//! Owns every decision that depends on a single line; vectors find its end and its first `#`.
//! [`parser`](super::parser) puts records into groups.

use memchr::{memchr, memchr2};
use wide::{u8x16, u8x32};

use super::{NoteKind, NoteSet, Span};
use portcullis_dialect::usage::USAGE_FIELDS;
use portcullis_dialect::{
    ControlByte, Dialect, Field, FieldMatch, FieldSpelling, LineNumber, LineRules, MissingColon,
    NulByte,
};
use portcullis_engine::bytes::{CHUNK_BYTES, first_bytes};

/// Fields, in lower case, that a published convention defines and that have no effect on access.
/// They are not reported as unknown.
pub const EXTENSIONS: &[&str] = &[
    // Usage preferences of a proposal that nothing reads: draft-canel-robots-ai-control. Fields
    // with a meaning are in `USAGE_FIELDS`.
    "disallowaitraining",
    "allowaitraining",
    // S. Conner, An Extended Standard for Robot Exclusion (1996).
    "request-rate",
    "visit-time",
    "robot-version",
    "comment",
    // Documented by search engines: Bing and Yandex; Yandex; Google until 2019.
    "crawl-delay",
    "host",
    "clean-param",
    "noindex",
    "nofollow",
    "noarchive",
];

/// The prefix of ACAP fields (Automated Content Access Protocol 1.0, 2007), in lower case.
const EXTENSION_FAMILY: &str = "acap-";

/// Returns whether `name` is one of [`EXTENSIONS`] or an ACAP field, ignoring case.
///
/// ```
/// use portcullis_robots::syntax::is_extension;
///
/// assert!(is_extension(b"Crawl-Delay") && is_extension(b"ACAP-disallow-crawl"));
/// assert!(!is_extension(b"Disalow"));
/// ```
pub fn is_extension(name: &[u8]) -> bool {
    let family = name.get(..EXTENSION_FAMILY.len());
    family.is_some_and(|start| start.eq_ignore_ascii_case(EXTENSION_FAMILY.as_bytes()))
        || EXTENSIONS.iter().any(|extension| name.eq_ignore_ascii_case(extension.as_bytes()))
}

/// The bytes that divide a line.
#[derive(Clone, Copy)]
pub(super) struct LineMarks {
    /// The first `#`, or the end of the line.
    text: usize,
    /// The end of the line.
    pub(super) end: usize,
    /// Whether the line has a control byte other than TAB.
    has_control: bool,
}

impl LineMarks {
    /// Returns the marks of the first line of `text`, whose first [stop](Stops) is at `stop`.
    pub(super) fn of(text: &[u8], stop: usize) -> LineMarks {
        let rest = &text[stop..];
        if matches!(rest, [] | [b'\n' | b'\r', ..]) {
            return LineMarks { text: stop, end: stop, has_control: false };
        }
        let rest = &rest[..memchr2(b'\r', b'\n', rest).unwrap_or(rest.len())];
        let has_control = rest.iter().fold(false, |found, &byte| found | is_control(byte));
        let end = stop + rest.len();
        let hash = match rest {
            [b'#', ..] => stop,
            _ => memchr(b'#', rest).map_or(end, |hash| stop + hash),
        };
        LineMarks { text: hash, end, has_control }
    }
}

/// Finds the stops of a text, 64 bytes at a time: the bytes where a line ends or its text may.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stops {
    /// A bit for each byte of the last window that is a stop, the first byte lowest.
    window: u64,
    /// The end of the last window; 0 before the first.
    end: usize,
}

impl Stops {
    const WINDOW: usize = u64::BITS as usize;

    /// Returns the first stop of `text` from `position` on; its end if there is none. Positions ascend
    /// from call to call.
    #[inline(always)]
    pub(super) fn next(&mut self, text: &[u8], position: usize) -> usize {
        let mut from = position;
        let left = self.end.saturating_sub(from);
        let mut found = if left > 0 { self.window >> (Stops::WINDOW - left) } else { 0 };
        while found == 0 {
            from = from.max(self.end);
            if from >= text.len() {
                return text.len();
            }
            found = Stops::of(&text[from..]);
            (self.window, self.end) = (found, from + Stops::WINDOW);
        }
        from + found.trailing_zeros() as usize
    }

    /// Returns the first stop from `stop` on that is no `#`, for a comment that begins at `start`.
    #[inline(always)]
    pub(super) fn after_comment(&mut self, text: &[u8], start: usize, stop: usize) -> usize {
        let mut end = stop;
        while start == stop && text.get(end) == Some(&b'#') {
            end = self.next(text, end + 1);
        }
        end
    }

    /// Returns the stops of a window. The end of the text is one.
    #[inline(always)]
    fn of(rest: &[u8]) -> u64 {
        let window = rest.first_chunk().copied().unwrap_or_else(|| {
            let mut last = [0; Stops::WINDOW];
            last[..rest.len()].copy_from_slice(rest);
            last
        });
        let [low, high] = window.as_chunks().0 else { return 0 };
        u64::from(stops(*low)) | u64::from(stops(*high)) << 32
    }
}

/// Returns the stops of a chunk: `#` and control bytes but TAB.
#[inline(always)]
fn stops(chunk: [u8; 32]) -> u32 {
    let chunk = u8x32::new(chunk);
    let is = |byte| chunk.simd_eq(u8x32::splat(byte));
    let controls = chunk.min(u8x32::splat(0x1f)).simd_eq(chunk) & !is(b'\t');
    (controls | is(b'#')).to_bitmask()
}

/// A line and its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'t> {
    /// The line number.
    pub number: LineNumber,
    /// The whole line without its end.
    pub span: Span,
    /// The notes on the line.
    pub notes: NoteSet,
    /// The content of the line.
    pub content: Content<'t>,
}

/// The content of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content<'t> {
    /// Only white space.
    Blank,
    /// Only a comment.
    Comment,
    /// A field and a value.
    Record(Record<'t>),
    /// Nothing readable; the notes of the line give the reason.
    Ignored,
}

/// A field and a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'t> {
    /// The field, or `None` if the dialect does not know it.
    pub field: Option<Field>,
    /// The field name as written, trimmed, never empty.
    pub name: &'t [u8],
    /// The value as written, trimmed; it may be empty.
    pub value: &'t [u8],
    /// From the first byte of the name to the last byte of the value, or to the colon if the value
    /// is empty. The span ends with the value.
    pub span: Span,
}

/// Takes the lines of a file.
///
/// A parser that is one is compiled into the reader, so that no line is ever written to memory.
pub(super) trait EachLine<'t> {
    /// Takes the next line.
    fn line(&mut self, line: Line<'t>);

    /// Returns whether it takes no further line now.
    #[inline(always)]
    fn is_full(&self) -> bool {
        false
    }

    /// Takes the next line, a record.
    #[inline(always)]
    fn record(&mut self, number: LineNumber, span: Span, notes: NoteSet, record: Record<'t>) {
        self.line(Line { number, span, notes, content: Content::Record(record) });
    }
}

impl<'t> EachLine<'t> for Option<Line<'t>> {
    fn line(&mut self, line: Line<'t>) {
        *self = Some(line);
    }

    fn is_full(&self) -> bool {
        self.is_some()
    }
}

/// Reads lines by the rules of one dialect.
#[derive(Clone, Debug)]
pub(super) struct LineReader {
    rules: LineRules,
    /// A bit for each byte that is white space; all are below 64.
    white_space: u64,
    line_bytes_max: usize,
    /// The start of the last record of each first byte modulo their number. Most lines repeat one.
    starts: [KnownStart; 8],
}

/// A field name, and what it means.
#[derive(Clone, Copy, Debug, Default)]
struct KnownName {
    field: Option<Field>,
    notes: NoteSet,
}

/// The start of a record, up to its value: `Disallow: `.
#[derive(Clone, Copy, Debug)]
struct KnownStart {
    /// The first bytes of the line.
    bytes: u128,
    /// A bit for each of them that is not before the value, the first byte lowest.
    beyond: u32,
    /// Bytes before the value. `u8::MAX` if no record is known.
    value_at: u8,
    name_bytes: u8,
    field: Option<Field>,
}

impl KnownStart {
    const NONE: KnownStart =
        KnownStart { bytes: 0, beyond: 0, value_at: u8::MAX, name_bytes: 0, field: None };

    /// Returns the start of a name, a colon and a blank.
    const fn usual(start: &[u8; CHUNK_BYTES], name_bytes: u8, field: Field) -> KnownStart {
        let value_at = name_bytes + 2;
        let beyond = LineReader::ALL_SAME & LineReader::ALL_SAME << value_at;
        let (bytes, field) = (u128::from_le_bytes(*start), Some(field));
        KnownStart { bytes, beyond, value_at, name_bytes, field }
    }
}

/// Returns the starts that are known before the first line: those of most files, if the fields are those of a
/// dialect with a name, which all know these.
fn known_before(rules: &LineRules) -> [KnownStart; 8] {
    const USUAL: [KnownStart; 8] = {
        let mut starts = [KnownStart::NONE; 8];
        starts[b'U' as usize % 8] = KnownStart::usual(b"User-agent:     ", 10, Field::UserAgent);
        starts[b'D' as usize % 8] = KnownStart::usual(b"Disallow:       ", 8, Field::Disallow);
        starts[b'S' as usize % 8] = KnownStart::usual(b"Sitemap:        ", 7, Field::Sitemap);
        starts
    };
    // An equal list elsewhere need not be known: it costs more to compare it.
    let is_of = |dialect: &&Dialect| std::ptr::eq(dialect.lines.fields, rules.fields);
    match rules.white_space.contains(&b' ') && Dialect::ALL.iter().any(is_of) {
        true => USUAL,
        false => [KnownStart::NONE; 8],
    }
}

impl LineReader {
    /// A bit for each byte of a chunk.
    const ALL_SAME: u32 = (1 << CHUNK_BYTES) - 1;

    /// Returns a reader.
    pub(super) fn new(rules: &LineRules) -> LineReader {
        LineReader {
            rules: *rules,
            white_space: rules.white_space.iter().fold(0, |bits, &byte| bits | 1 << byte),
            line_bytes_max: rules.line_bytes_max.unwrap_or(usize::MAX),
            starts: known_before(rules),
        }
    }

    /// Reads the first line of `rest`, which starts at `start` in the file.
    #[inline(always)]
    pub(super) fn read<'t>(
        &mut self,
        rest: &'t [u8],
        marks: LineMarks,
        start: u32,
        number: LineNumber,
        each: &mut impl EachLine<'t>,
    ) {
        let line = &rest[..marks.end];
        let span = Span { start, end: start + line.len() as u32 };
        let is_odd = marks.has_control || line.len() > self.line_bytes_max;
        let text = self.trim_end(&line[..marks.text]);
        if text.is_empty() && !is_odd {
            let content = without_text(line, marks);
            each.line(Line { number, span, notes: NoteSet::EMPTY, content });
        } else if !is_odd && let Some(record) = self.split(text, first_colon(text), start) {
            let KnownName { field, notes, .. } = KnownName::of(record.name, &self.rules);
            let record = Record { field, ..record };
            if notes.is_empty() {
                self.know_start(text, first_bytes(rest), &record);
            }
            each.record(number, span, notes, record);
        } else {
            let (notes, content) = self.read_other(line, marks, start);
            each.line(Line { number, span, notes, content });
        }
    }

    /// Returns the record of the line at `start` in `text`, without stops up to its end at `end`, if it begins
    /// as a known one does, up to a value, and has no white space at its end.
    #[inline(always)]
    pub(super) fn like_known<'t>(
        &self,
        text: &'t [u8],
        start: usize,
        end: usize,
    ) -> Option<Record<'t>> {
        let line = text.get(start..end)?;
        let head: &[u8; CHUNK_BYTES] = text.get(start..)?.first_chunk()?;
        let known = &self.starts[usize::from(head[0]) % self.starts.len()];
        let same = u8x16::new(*head).simd_eq(u8x16::new(known.bytes.to_le_bytes())).to_bitmask();
        let value = line.get(usize::from(known.value_at)..)?;
        // What is above the blank is no white space.
        let is_trimmed = *value.first()? > b' ' && *value.last()? > b' ';
        if same | known.beyond != Self::ALL_SAME || !is_trimmed || line.len() > self.line_bytes_max
        {
            return None;
        }
        let name = line.get(..usize::from(known.name_bytes)).unwrap_or_default();
        let span = Span { start: start as u32, end: end as u32 };
        Some(Record { field: known.field, name, value, span })
    }

    /// Returns whether a line is not longer than what is read of it.
    pub(super) fn reads_whole(&self, line: Span) -> bool {
        line.bytes() <= self.line_bytes_max
    }

    /// Remembers the start of a record, whose line begins with `head`, if that has the start.
    #[inline(always)]
    fn know_start(&mut self, text: &[u8], head: u128, record: &Record<'_>) {
        let value_at = text.len() - record.value.len();
        let is_indented = record.span.bytes() < text.len();
        if value_at > CHUNK_BYTES || is_indented {
            return;
        }
        let beyond = Self::ALL_SAME & Self::ALL_SAME << value_at;
        let (value_at, name_bytes) = (value_at as u8, record.name.len() as u8);
        let place = head as usize % self.starts.len();
        self.starts[place] =
            KnownStart { bytes: head, beyond, value_at, name_bytes, field: record.field };
    }

    /// Returns the record of a line without its comment and the white space before it, or `None` if there
    /// is no colon or nothing before it. The field is left out.
    #[inline(always)]
    fn split<'t>(&self, text: &'t [u8], colon: Option<usize>, start: u32) -> Option<Record<'t>> {
        let colon = colon?;
        let (name, value) = (text.get(..colon)?, text.get(colon + 1..)?);
        let name = self.trim_start(name);
        let indent = (colon - name.len()) as u32;
        let span = Span { start: start + indent, end: start + text.len() as u32 };
        let (name, value) = (self.trim_end(name), self.trim_start(value));
        if name.is_empty() {
            return None;
        }
        Some(Record { field: None, name, value, span })
    }

    /// Reads any line.
    #[inline(never)]
    fn read_other<'t>(
        &mut self,
        line: &'t [u8],
        marks: LineMarks,
        start: u32,
    ) -> (NoteSet, Content<'t>) {
        let mut bytes = &line[..line.len().min(self.line_bytes_max)];
        let mut notes = NoteSet::EMPTY;
        if bytes.len() < line.len() {
            notes = notes.with(NoteKind::LineCut);
        }
        let has_meaning = marks.has_control && self.rules.nul != NulByte::Ordinary;
        let nul = if has_meaning { memchr(0, bytes) } else { None };
        if let Some(nul) = nul {
            notes = notes.with(NoteKind::NulInLine);
            bytes = if self.rules.nul == NulByte::CutsLine { &bytes[..nul] } else { bytes };
        }
        let (own, content) = self.content(bytes, marks, start);
        let is_kept = nul.is_none()
            || self.rules.nul == NulByte::CutsLine
            || matches!(&content, Content::Record(it) if it.field == Some(Field::UserAgent));
        match is_kept {
            true => (notes.union(own), content),
            false => (notes, Content::Ignored),
        }
    }

    /// Returns the content of the bytes of a line that are read, and the notes on it.
    fn content<'t>(
        &mut self,
        bytes: &'t [u8],
        marks: LineMarks,
        start: u32,
    ) -> (NoteSet, Content<'t>) {
        let text = self.trim_end(&bytes[..marks.text.min(bytes.len())]);
        let trimmed = self.trim_start(text);
        if trimmed.is_empty() {
            return (NoteSet::EMPTY, without_text(bytes, marks));
        }
        let (mut colon, mut notes) = (first_colon(text), NoteSet::EMPTY);
        if colon.is_none() {
            let may_be_missing = self.rules.missing_colon == MissingColon::TwoWords;
            let space = if may_be_missing { space_between_two_words(trimmed) } else { None };
            let Some(space) = space else {
                return (notes.with(NoteKind::NoColon), Content::Ignored);
            };
            colon = Some(space + text.len() - trimmed.len());
            notes = notes.with(NoteKind::WhiteSpaceForColon);
        }
        let Some(mut record) = self.split(text, colon, start) else {
            return (notes.with(NoteKind::NoField), Content::Ignored);
        };
        let KnownName { field, notes: of_name, .. } = KnownName::of(record.name, &self.rules);
        record.field = field;
        let drops = |&byte: &u8| match byte {
            0 => self.rules.nul == NulByte::DropsLine,
            _ => self.rules.control == ControlByte::DropsLine && is_control(byte),
        };
        let Some(position) = record.value.iter().position(drops) else {
            return (notes.union(of_name), Content::Record(record));
        };
        let (read, unread) = record.value.split_at(position);
        if unread.iter().any(|&byte| byte != 0 && is_control(byte)) {
            notes = notes.with(NoteKind::ControlInLine);
        }
        // Without a user-agent line, its rules would join the group before it.
        if field != Some(Field::UserAgent) {
            return (notes, Content::Ignored);
        }
        let kept = self.trim_end(&text[..text.len() - unread.len()]);
        record.span.end -= (text.len() - kept.len()) as u32;
        record.value = self.trim_end(read);
        (notes, Content::Record(record))
    }

    #[inline(always)]
    fn is_white(&self, byte: u8) -> bool {
        byte <= b' ' && self.white_space >> byte & 1 == 1
    }

    #[inline(always)]
    fn trim_start<'a>(&self, mut text: &'a [u8]) -> &'a [u8] {
        while let [first, rest @ ..] = text
            && self.is_white(*first)
        {
            text = rest;
        }
        text
    }

    #[inline(always)]
    fn trim_end<'a>(&self, mut text: &'a [u8]) -> &'a [u8] {
        while let [rest @ .., last] = text
            && self.is_white(*last)
        {
            text = rest;
        }
        text
    }
}

impl KnownName {
    #[inline(never)]
    fn of(name: &[u8], rules: &LineRules) -> KnownName {
        let own = rules.fields.iter().find(|it| fits(name, it.text, rules.field_match));
        let usage = || USAGE_FIELDS.iter().find(|it| fits(name, it.text, FieldMatch::Whole));
        let field = own.or_else(usage).map(|it| it.field);
        let may_be_misspelt = rules.field_match == FieldMatch::Prefix;
        let notes = match own {
            Some(own) if may_be_misspelt && is_misspelt(name, own, rules.fields) => {
                NoteSet::EMPTY.with(NoteKind::MisspeltField)
            }
            None if field.is_none() && !is_extension(name) => {
                NoteSet::EMPTY.with(NoteKind::UnknownField)
            }
            _ => NoteSet::EMPTY,
        };
        KnownName { field, notes }
    }
}

/// Returns the place of the first colon, which is among the first bytes of most lines.
#[inline]
fn first_colon(text: &[u8]) -> Option<usize> {
    let head = u8x16::new(first_bytes(text).to_le_bytes());
    match head.simd_eq(u8x16::splat(b':')).to_bitmask() {
        0 => memchr(b':', text.get(CHUNK_BYTES..)?).map(|place| CHUNK_BYTES + place),
        colons => Some(colons.trailing_zeros() as usize),
    }
}

/// Returns the content of a line without text before any comment.
fn without_text<'t>(bytes: &[u8], marks: LineMarks) -> Content<'t> {
    if marks.text < bytes.len() { Content::Comment } else { Content::Blank }
}

/// Returns the start of the SP and TAB between the two words of `text`, which is trimmed, or `None`
/// unless there are exactly two words.
fn space_between_two_words(text: &[u8]) -> Option<usize> {
    let is_space = |&byte: &u8| matches!(byte, b' ' | b'\t');
    let space = text.iter().position(is_space)?;
    let second = text[space..].iter().position(|byte| !is_space(byte))?;
    let more = text[space + second..].iter().any(is_space);
    (!more).then_some(space)
}

/// Returns whether a field name matches `spelling`, ignoring case.
#[inline]
fn fits(name: &[u8], spelling: &str, how: FieldMatch) -> bool {
    let bytes = spelling.len();
    let long_enough = match how {
        FieldMatch::Whole => name.len() == bytes,
        FieldMatch::Prefix => name.len() >= bytes,
    };
    long_enough && is_spelt(&name[..bytes], spelling.as_bytes())
}

/// Returns whether a name is another of the same length, which is in lower case, ignoring case.
#[inline]
fn is_spelt(name: &[u8], lower: &[u8]) -> bool {
    if name.len() > CHUNK_BYTES {
        return name.eq_ignore_ascii_case(lower);
    }
    let [name, lower] = [name, lower].map(|text| u8x16::new(first_bytes(text).to_le_bytes()));
    let letters = name.max(u8x16::splat(b'A')).min(u8x16::splat(b'Z')).simd_eq(name);
    (name | letters & u8x16::splat(0x20)) == lower
}

/// Returns whether `name`, which matches `spelling`, differs from the field's first spelling.
fn is_misspelt(name: &[u8], spelling: &FieldSpelling, fields: &[FieldSpelling]) -> bool {
    let first = fields.iter().find(|other| other.field == spelling.field);
    name.len() != spelling.text.len() || first.is_some_and(|first| first.text != spelling.text)
}

/// Returns whether a byte of a line is a control other than TAB.
pub(super) fn is_control(byte: u8) -> bool {
    byte < b' ' && byte != b'\t'
}
