//! Bytes to lines: byte order mark, line ends, the limit on the file and on a line.
//!
//! Owns nothing but positions. Cost: one vectorised search for each line end; nothing is copied.
//! What a line means is the business of [`record`](super::record).

use memchr::{memchr2, memrchr2};

use super::Span;
use crate::kind::BYTE_ORDER_MARK;
use portcullis_dialect::dialect::{ByteOrderMark, LineRules};
use portcullis_dialect::id::LineNumber;

/// One line as it stands in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawLine<'t> {
    /// Its number.
    pub number: LineNumber,
    /// All of it, without its end.
    pub span: Span,
    /// What the dialect reads of it: all, or its first bytes.
    pub bytes: &'t [u8],
}

impl RawLine<'_> {
    /// Whether the line is longer than the dialect reads.
    pub fn is_cut(&self) -> bool {
        self.bytes.len() < self.span.bytes()
    }
}

/// The lines of a file. What follows the last line end is a line only if it is not empty.
#[derive(Clone, Debug)]
pub struct Lexer<'t> {
    /// The file up to its last whole line within the limit.
    text: &'t [u8],
    /// The next byte to read.
    position: usize,
    /// The line that starts there.
    number: LineNumber,
    line_bytes_max: usize,
    byte_order_mark: Option<Span>,
    ignored: Option<Span>,
}

impl<'t> Lexer<'t> {
    /// The lines of the first `bytes_max` bytes of `text`.
    ///
    /// A line that the limit cuts is none; one that ends at the limit, so that its end or the file's
    /// is what comes next, is a line. The byte order mark counts towards the limit on the file and
    /// not towards the limit on a line.
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

    /// The byte order mark that was skipped.
    pub fn byte_order_mark(&self) -> Option<Span> {
        self.byte_order_mark
    }

    /// What the limit on the file's size leaves unread: the line that it cuts and all after it.
    pub fn ignored(&self) -> Option<Span> {
        self.ignored
    }

    /// The bytes that are read.
    pub fn text(&self) -> &'t [u8] {
        self.text
    }

    /// The number of the line that comes next.
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

/// The bytes of the line end at the start of `rest`: LF, CR or both in the order CR LF.
#[inline]
fn line_end_bytes(rest: &[u8]) -> usize {
    match rest {
        [] => 0,
        [b'\r', b'\n', ..] => 2,
        _ => 1,
    }
}

/// Where the last line that is wholly within `bytes_max` ends, its line end included if that is
/// within the limit too.
fn whole_lines_end(text: &[u8], bytes_max: usize) -> usize {
    match text.get(bytes_max) {
        None => text.len(),
        Some(b'\r' | b'\n') => bytes_max,
        Some(_) => memrchr2(b'\r', b'\n', &text[..bytes_max]).map_or(0, |end| end + 1),
    }
}

/// The bytes of the byte order mark that `rule` skips at the start of `text`.
fn mark_bytes(text: &[u8], rule: ByteOrderMark) -> usize {
    let bytes = text.iter().zip(BYTE_ORDER_MARK).take_while(|(byte, mark)| byte == mark).count();
    match rule {
        ByteOrderMark::Whole if bytes < BYTE_ORDER_MARK.len() => 0,
        ByteOrderMark::Whole | ByteOrderMark::WholeOrCut => bytes,
    }
}
