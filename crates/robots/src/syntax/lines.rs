//! Splits bytes into lines: byte order mark, line ends, the size limits, and spans.
//!
//! Owns positions only and copies nothing. [`record`](super::record) finds what divides a line and reads
//! its content.

use std::ops::Range;

use memchr::memrchr2;

use super::record::{Content, EachLine, Line, LineMarks, LineReader, Record, Stops};
use super::{NoteKind, NoteSet};
use portcullis_dialect::{ByteOrderMark, Dialect, LineNumber};

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

/// Returns the length of the line end at the start of `rest`: LF, CR or CRLF. 0 if there is none.
#[inline(always)]
fn line_end_bytes(rest: &[u8]) -> usize {
    match rest {
        [b'\n', ..] => 1,
        [b'\r', b'\n', ..] => 2,
        [b'\r', ..] => 1,
        _ => 0,
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
    let bytes_max = bytes_max.unwrap_or(Span::POSITION_MAX).min(Span::POSITION_MAX);
    let kept = &text[..whole_lines_end(text, bytes_max)];
    Records {
        text: kept,
        position: mark_bytes(kept, dialect.lines.byte_order_mark),
        number: LineNumber::FIRST,
        stops: Stops::default(),
        reader: LineReader::new(&dialect.lines),
        ignored: (kept.len() < text.len()).then(|| Span::new(kept.len(), text.len())),
    }
}

/// Returns the record that the line `text` is by `dialect`, or `None` if it is another line, or several. It
/// is not the first line of its file, which may begin with a byte order mark.
pub fn record_of<'t>(text: &'t [u8], dialect: &Dialect) -> Option<Record<'t>> {
    let mut lines = Records { position: 0, ..records(text, dialect, None) };
    match (lines.next()?.content, lines.next()) {
        (Content::Record(record), None) => Some(record),
        _ => None,
    }
}

/// The iterator that [`records`] returns.
#[derive(Clone, Debug)]
pub struct Records<'t> {
    /// The file up to its last whole line within the limit.
    text: &'t [u8],
    /// The next byte to read.
    position: usize,
    /// The number of the line that starts there.
    number: LineNumber,
    /// Finds where lines end.
    stops: Stops,
    reader: LineReader,
    /// The unread part, until it is reported.
    ignored: Option<Span>,
}

impl<'t> Records<'t> {
    /// Returns the position of the next line. That of the first is after the byte order mark.
    pub fn position(&self) -> usize {
        self.position
    }

    /// Returns the bytes that are read.
    pub fn text(&self) -> &'t [u8] {
        self.text
    }

    #[cold]
    fn take_ignored(&mut self) -> Option<Line<'t>> {
        let span = self.ignored.take()?;
        let notes = NoteSet::EMPTY.with(NoteKind::FileCut);
        Some(Line { number: self.number, span, notes, content: Content::Ignored })
    }

    /// Calls `each` with the next lines until it is full; returns false if there is none.
    #[inline(always)]
    pub(super) fn read_lines(&mut self, each: &mut impl EachLine<'t>) -> bool {
        match self.read_known(each) {
            Some(stop) => self.read_other(stop, each),
            None => true,
        }
    }

    /// Reads lines that begin as known ones, and empty ones. Returns the first stop of the first line that is
    /// another, or of the end, unless `each` is full before.
    #[inline(always)]
    fn read_known(&mut self, each: &mut impl EachLine<'t>) -> Option<usize> {
        // In registers, because most lines of most files pass here.
        let (text, mut position, mut number) = (self.text, self.position, self.number);
        let mut stops = self.stops;
        let other = loop {
            let stop = stops.next(text, position);
            let (span, notes) = (Span { start: position as u32, end: stop as u32 }, NoteSet::EMPTY);
            if let Some(b'\n' | b'\r') = text.get(stop) {
                if let Some(record) = self.reader.like_known(text, position, stop) {
                    each.record(number, span, notes, record);
                } else if position == stop {
                    each.line(Line { number, span, notes, content: Content::Blank });
                } else {
                    break Some(stop);
                }
                position = stop + line_end_bytes(&text[stop..]);
            } else {
                let end = stops.after_comment(text, position, stop);
                let span = Span { end: end as u32, ..span };
                let ends = matches!(text.get(end), Some(b'\n' | b'\r'));
                if !ends || end == stop || !self.reader.reads_whole(span) {
                    break Some(stop);
                }
                each.line(Line { number, span, notes, content: Content::Comment });
                position = end + line_end_bytes(&text[end..]);
            }
            number = number.next();
            if each.is_full() {
                break None;
            }
        };
        (self.position, self.number, self.stops) = (position, number, stops);
        other
    }

    /// Reads any line, whose first stop is at `stop`; returns false if there is none.
    #[inline(never)]
    fn read_other(&mut self, stop: usize, each: &mut impl EachLine<'t>) -> bool {
        let (start, number) = (self.position, self.number);
        let rest = &self.text[start..];
        if rest.is_empty() {
            return self.take_ignored().map(|line| each.line(line)).is_some();
        }
        let marks = LineMarks::of(rest, stop - start);
        self.position += marks.end + line_end_bytes(&rest[marks.end..]);
        self.number = number.next();
        self.reader.read(rest, marks, start as u32, number, each);
        true
    }
}

impl<'t> Iterator for Records<'t> {
    type Item = Line<'t>;

    fn next(&mut self) -> Option<Line<'t>> {
        let mut line = None;
        self.read_lines(&mut line);
        line
    }
}
