//! Reads one line as a record: comment, white space, colon, field.
//!
//! Owns every decision that depends on a single line. [`parser`](super::parser) puts records into
//! groups.

use memchr::memchr;

use super::lines::RawLine;
use super::{NoteKind, NoteSet, Span};
use portcullis_dialect::usage::USAGE_FIELDS;
use portcullis_dialect::{
    ControlByte, Field, FieldMatch, FieldSpelling, LineNumber, LineRules, MissingColon, NulByte,
};

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

/// Reads lines by the rules of one dialect.
#[derive(Clone, Debug)]
pub(super) struct LineReader {
    rules: LineRules,
    white_space: [bool; 256],
    /// Whether the file holds a control byte other than TAB and line ends. Most files have none,
    /// and one scan of the whole file is cheaper than one per line.
    controls: bool,
}

impl LineReader {
    /// Returns a reader for the lines of `text`.
    pub(super) fn new(text: &[u8], rules: &LineRules) -> LineReader {
        let mut white_space = [false; 256];
        for &byte in rules.white_space {
            white_space[usize::from(byte)] = true;
        }
        LineReader { rules: *rules, white_space, controls: has_control(text) }
    }

    /// Reads one line.
    #[inline]
    pub(super) fn read<'t>(&self, raw: RawLine<'t>) -> Line<'t> {
        let mut line = Line {
            number: raw.number,
            span: raw.span,
            notes: NoteSet::EMPTY,
            content: Content::Ignored,
        };
        if raw.is_cut() {
            line.notes = line.notes.with(NoteKind::LineCut);
        }
        let bytes = self.before_nul(raw.bytes, &mut line.notes);
        let mut notes = line.notes;
        let content = self.content(bytes, raw.span.start, &mut notes);
        if !self.nul_drops(&content, notes) {
            (line.content, line.notes) = (content, notes);
        }
        line
    }

    /// Returns the bytes of a line that the dialect reads: all, or those before a NUL.
    #[inline]
    fn before_nul<'t>(&self, bytes: &'t [u8], notes: &mut NoteSet) -> &'t [u8] {
        if !self.controls || self.rules.nul == NulByte::Ordinary {
            return bytes;
        }
        let Some(nul) = memchr(0, bytes) else {
            return bytes;
        };
        *notes = notes.with(NoteKind::NulInLine);
        match self.rules.nul {
            NulByte::Ordinary | NulByte::DropsLine => bytes,
            NulByte::CutsLine => &bytes[..nul],
        }
    }

    /// Returns whether a NUL drops the line. User-agent lines are never dropped.
    #[inline]
    fn nul_drops(&self, content: &Content<'_>, notes: NoteSet) -> bool {
        let is_user_agent = |record: &Record<'_>| record.field == Some(Field::UserAgent);
        self.rules.nul == NulByte::DropsLine
            && notes.contains(NoteKind::NulInLine)
            && !matches!(content, Content::Record(record) if is_user_agent(record))
    }

    /// Returns the content of a line whose readable bytes start at `start` in the file.
    #[inline]
    fn content<'t>(&self, bytes: &'t [u8], start: u32, notes: &mut NoteSet) -> Content<'t> {
        let comment = memchr(b'#', bytes);
        let text = self.trim_end(&bytes[..comment.unwrap_or(bytes.len())]);
        let indent = self.leading(text);
        let text = &text[indent..];
        if text.is_empty() {
            return match comment {
                None => Content::Blank,
                Some(_) => Content::Comment,
            };
        }
        let start = start as usize + indent;
        self.record(text, Span::new(start, start + text.len()), notes)
            .map_or(Content::Ignored, Content::Record)
    }

    /// Reads a record from `text`, which is trimmed and has no comment.
    #[inline]
    fn record<'t>(&self, text: &'t [u8], span: Span, notes: &mut NoteSet) -> Option<Record<'t>> {
        let colon = match text.iter().position(|&byte| byte == b':') {
            Some(colon) => colon,
            None => self.colon_substitute(text, notes)?,
        };
        let name = self.trim_end(&text[..colon]);
        let value = &text[colon + 1..];
        let value = &value[self.leading(value)..];
        if name.is_empty() {
            *notes = notes.with(NoteKind::NoField);
            return None;
        }
        match self.dropping_control(value) {
            None => Some(Record { field: self.field(name, notes), name, value, span }),
            Some(position) => {
                let unread = &value[position..];
                let text = self.trim_end(&text[..text.len() - unread.len()]);
                let value = self.trim_end(&value[..position]);
                let span = Span { end: span.start + text.len() as u32, ..span };
                self.user_agent_with_control(
                    Record { field: None, name, value, span },
                    unread,
                    notes,
                )
            }
        }
    }

    /// Returns `record`, which ends before a control byte that drops its line, if it is a
    /// user-agent line: without that line, its rules would join the group before it.
    #[cold]
    fn user_agent_with_control<'t>(
        &self,
        record: Record<'t>,
        unread: &[u8],
        notes: &mut NoteSet,
    ) -> Option<Record<'t>> {
        if unread.iter().any(|&byte| byte != 0 && is_control(byte)) {
            *notes = notes.with(NoteKind::ControlInLine);
        }
        let field = self.field(record.name, &mut NoteSet::default());
        (field == Some(Field::UserAgent)).then_some(Record { field, ..record })
    }

    /// Returns the start of the white space that replaces the missing colon, or `None` if there is
    /// none.
    #[cold]
    fn colon_substitute(&self, text: &[u8], notes: &mut NoteSet) -> Option<usize> {
        let found = match self.rules.missing_colon {
            MissingColon::Ignored => None,
            MissingColon::TwoWords => space_between_two_words(text),
        };
        *notes = notes.with(match found {
            Some(_) => NoteKind::WhiteSpaceForColon,
            None => NoteKind::NoColon,
        });
        found
    }

    /// Returns the position of the first byte of `value` that drops its line, or `None` if there is
    /// none.
    #[inline]
    fn dropping_control(&self, value: &[u8]) -> Option<usize> {
        if !self.controls {
            return None;
        }
        let drops = |&byte: &u8| match byte {
            0 => self.rules.nul == NulByte::DropsLine,
            _ => self.rules.control == ControlByte::DropsLine && is_control(byte),
        };
        value.iter().position(drops)
    }

    /// Returns the field called `name`, or `None` if the dialect does not know it.
    #[inline]
    fn field(&self, name: &[u8], notes: &mut NoteSet) -> Option<Field> {
        let rules = &self.rules;
        let spelling = rules
            .fields
            .iter()
            .find(|spelling| fits(name, spelling.text.as_bytes(), rules.field_match));
        match spelling {
            Some(spelling) => {
                if rules.field_match == FieldMatch::Prefix
                    && is_misspelt(name, spelling, rules.fields)
                {
                    *notes = notes.with(NoteKind::MisspeltField);
                }
                Some(spelling.field)
            }
            None => {
                let usage = USAGE_FIELDS.iter();
                let usage =
                    usage.copied().find(|it| fits(name, it.text.as_bytes(), FieldMatch::Whole));
                if let Some(usage) = usage {
                    return Some(usage.field);
                }
                if !is_extension(name) {
                    *notes = notes.with(NoteKind::UnknownField);
                }
                None
            }
        }
    }

    #[inline]
    fn is_white(&self, byte: u8) -> bool {
        self.white_space[usize::from(byte)]
    }

    /// Returns the number of leading white space bytes.
    #[inline]
    fn leading(&self, text: &[u8]) -> usize {
        text.iter().position(|&byte| !self.is_white(byte)).unwrap_or(text.len())
    }

    #[inline]
    fn trim_end<'t>(&self, text: &'t [u8]) -> &'t [u8] {
        let bytes = text.iter().rposition(|&byte| !self.is_white(byte)).map_or(0, |last| last + 1);
        &text[..bytes]
    }
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
fn fits(name: &[u8], spelling: &[u8], how: FieldMatch) -> bool {
    let bytes = spelling.len();
    let long_enough = match how {
        FieldMatch::Whole => name.len() == bytes,
        FieldMatch::Prefix => name.len() >= bytes,
    };
    long_enough && name[..bytes].eq_ignore_ascii_case(spelling)
}

/// Returns whether `name`, which matches `spelling`, differs from the field's first spelling.
fn is_misspelt(name: &[u8], spelling: &FieldSpelling, fields: &[FieldSpelling]) -> bool {
    let first = fields.iter().find(|other| other.field == spelling.field);
    name.len() != spelling.text.len() || first.is_some_and(|first| first.text != spelling.text)
}

fn is_control(byte: u8) -> bool {
    byte < b' ' && byte != b'\t'
}

/// Returns whether `text` has a control byte other than TAB and line ends. The loop never breaks
/// early, so that it compiles to vector code.
fn has_control(text: &[u8]) -> bool {
    text.iter().fold(false, |found, &byte| {
        found | (byte < b' ') & (byte != b'\t') & (byte != b'\n') & (byte != b'\r')
    })
}
