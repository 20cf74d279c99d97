//! Splits bytes into lines: byte order mark, line ends, the size limits, and spans.
//!
//! Owns positions only and copies nothing; the cost is one vectorised search per line end.
//! [`record`](super::record) reads the content of a line.

use std::ops::Range;

use memchr::{memchr2, memrchr2};

use super::record::{Content, Line, LineReader};
use super::{NoteKind, NoteSet};
use portcullis_dialect::{ByteOrderMark, Dialect, LineNumber, LineRules};

/// A UTF-8 byte order mark.
pub const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// A byte range of a robots.txt file, counted from its first byte, including any byte order mark.
///
/// Positions have 32 bits. A file longer than [`Span::POSITION_MAX`] is cut there, with a note, so
/// positions of text that was read always fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Span {
    /// The first byte.
    pub start: u32,
    /// The byte after the last; `start` if the span is empty.
    pub end: u32,
}

impl Span {
    /// The largest position in bytes: 4 GiB - 1.
    pub const POSITION_MAX: usize = u32::MAX as usize;

    /// Returns the span from `start` to `end`. Positions past [`Span::POSITION_MAX`], which only
    /// unread bytes have, are clamped to it.
    pub(super) fn new(start: usize, end: usize) -> Span {
        let clamped = |position: usize| u32::try_from(position).unwrap_or(u32::MAX);
        Span { start: clamped(start), end: clamped(end) }
    }

    /// Returns the number of bytes.
    pub fn bytes(self) -> usize {
        (self.end - self.start) as usize
    }

    /// Returns the span as a range, to index the file with.
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// One line as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawLine<'t> {
    /// The line number.
    pub number: LineNumber,
    /// The whole line without its end.
    pub span: Span,
    /// The bytes that the dialect reads: all of them, or the first of a long line.
    pub bytes: &'t [u8],
}

impl RawLine<'_> {
    /// Returns whether the line is longer than the dialect reads.
    pub fn is_cut(&self) -> bool {
        self.bytes.len() < self.span.bytes()
    }
}

/// An iterator over the lines of a file. Text after the last line end is a line if it is not empty.
#[derive(Clone, Debug)]
pub struct Lexer<'t> {
    /// The file up to its last whole line within the limit.
    text: &'t [u8],
    /// The next byte to read.
    position: usize,
    /// The number of the line that starts there.
    number: LineNumber,
    line_bytes_max: usize,
    byte_order_mark: Option<Span>,
    ignored: Option<Span>,
}

impl<'t> Lexer<'t> {
    /// Returns the lines in the first `bytes_max` bytes of `text`.
    ///
    /// A line that the limit cuts is left out; a line that ends exactly at the limit is kept. The
    /// byte order mark counts towards the limit on the file, but not towards the limit on a line.
    pub fn new(text: &'t [u8], rules: &LineRules, bytes_max: Option<usize>) -> Lexer<'t> {
        let bytes_max = bytes_max.unwrap_or(Span::POSITION_MAX).min(Span::POSITION_MAX);
        let kept = &text[..whole_lines_end(text, bytes_max)];
        let mark_bytes = mark_bytes(kept, rules.byte_order_mark);
        Lexer {
            text: kept,
            position: mark_bytes,
            number: LineNumber::FIRST,
            line_bytes_max: rules.line_bytes_max.unwrap_or(usize::MAX),
            byte_order_mark: (mark_bytes > 0).then(|| Span::new(0, mark_bytes)),
            ignored: (kept.len() < text.len()).then(|| Span::new(kept.len(), text.len())),
        }
    }

    /// Returns the skipped byte order mark, or `None` if there is none.
    pub fn byte_order_mark(&self) -> Option<Span> {
        self.byte_order_mark
    }

    /// Returns the text that the size limit leaves unread, including the line that it cuts; `None`
    /// if everything is read.
    pub fn ignored(&self) -> Option<Span> {
        self.ignored
    }

    /// Returns the bytes that are read.
    pub fn text(&self) -> &'t [u8] {
        self.text
    }

    /// Returns the number of the next line.
    pub fn number(&self) -> LineNumber {
        self.number
    }
}

impl<'t> Iterator for Lexer<'t> {
    type Item = RawLine<'t>;

    #[inline]
    fn next(&mut self) -> Option<RawLine<'t>> {
        let start = self.position;
        let rest = &self.text[start..];
        if rest.is_empty() {
            return None;
        }
        let bytes = memchr2(b'\r', b'\n', rest).unwrap_or(rest.len());
        let line = RawLine {
            number: self.number,
            span: Span::new(start, start + bytes),
            bytes: &rest[..bytes.min(self.line_bytes_max)],
        };
        self.position = start + bytes + line_end_bytes(&rest[bytes..]);
        self.number = self.number.next();
        Some(line)
    }
}

/// Returns the length of the line end at the start of `rest`: LF, CR or CRLF.
#[inline]
fn line_end_bytes(rest: &[u8]) -> usize {
    match rest {
        [] => 0,
        [b'\r', b'\n', ..] => 2,
        _ => 1,
    }
}

/// Returns the end of the last whole line within `bytes_max`, including its line end if that is
/// within the limit.
fn whole_lines_end(text: &[u8], bytes_max: usize) -> usize {
    match text.get(bytes_max) {
        None => text.len(),
        Some(b'\r' | b'\n') => bytes_max,
        Some(_) => memrchr2(b'\r', b'\n', &text[..bytes_max]).map_or(0, |end| end + 1),
    }
}

/// Returns the length of the byte order mark that `rule` skips at the start of `text`.
fn mark_bytes(text: &[u8], rule: ByteOrderMark) -> usize {
    let bytes = text.iter().zip(BYTE_ORDER_MARK).take_while(|(byte, mark)| byte == mark).count();
    match rule {
        ByteOrderMark::Whole if bytes < BYTE_ORDER_MARK.len() => 0,
        ByteOrderMark::Whole | ByteOrderMark::WholeOrCut => bytes,
    }
}

/// Returns the lines of `text`, read by `dialect`, without building lists.
///
/// If the limit of `bytes_max` bytes leaves text unread, the last item is [`Content::Ignored`] with
/// [`NoteKind::FileCut`] and spans all unread text.
///
/// ```
/// use portcullis_dialect::{Field, RFC_9309};
/// use portcullis_robots::syntax::{Content, records};
///
/// let sitemaps = records(b"Sitemap: https://example.com/s.xml\n", &RFC_9309, None)
///     .filter(|line| {
///         matches!(line.content, Content::Record(record) if record.field == Some(Field::Sitemap))
///     })
///     .count();
/// assert_eq!(sitemaps, 1);
/// ```
pub fn records<'t>(text: &'t [u8], dialect: &Dialect, bytes_max: Option<usize>) -> Records<'t> {
    let lexer = Lexer::new(text, &dialect.lines, bytes_max);
    Records {
        reader: LineReader::new(lexer.text(), &dialect.lines),
        ignored: lexer.ignored(),
        lexer,
    }
}

/// The iterator that [`records`] returns.
#[derive(Clone, Debug)]
pub struct Records<'t> {
    lexer: Lexer<'t>,
    reader: LineReader,
    /// The unread part, until it is reported.
    ignored: Option<Span>,
}

impl<'t> Records<'t> {
    /// Returns the skipped byte order mark, or `None` if there is none.
    pub fn byte_order_mark(&self) -> Option<Span> {
        self.lexer.byte_order_mark()
    }

    fn take_ignored(&mut self) -> Option<Line<'t>> {
        let span = self.ignored.take()?;
        Some(Line {
            number: self.lexer.number(),
            span,
            notes: NoteSet::EMPTY.with(NoteKind::FileCut),
            content: Content::Ignored,
        })
    }
}

impl<'t> Iterator for Records<'t> {
    type Item = Line<'t>;

    #[inline]
    fn next(&mut self) -> Option<Line<'t>> {
        match self.lexer.next() {
            Some(raw) => Some(self.reader.read(raw)),
            None => self.take_ignored(),
        }
    }
}
