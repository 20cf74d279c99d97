//! Where bytes stand: lines and columns, as editors count them.

use bstr::ByteSlice as _;

use super::Place;
use crate::id::LineNumber;
use crate::syntax::Span;

/// The lines of a file, all of it: CR, LF and CRLF each end one, as for the parser.
#[derive(Clone, Debug)]
pub struct LineIndex<'t> {
    text: &'t [u8],
    /// Where each line starts; at least one.
    starts: Vec<u32>,
}

impl<'t> LineIndex<'t> {
    /// Looks for the line ends of `text`.
    pub fn new(text: &'t [u8]) -> LineIndex<'t> {
        let mut starts = vec![0];
        for end in memchr::memchr2_iter(b'\r', b'\n', text) {
            let next = end + 1;
            if text[end] == b'\r' && text.get(next) == Some(&b'\n') {
                continue;
            }
            starts.push(u32::try_from(next).unwrap_or(u32::MAX));
        }
        LineIndex { text, starts }
    }

    /// The line that has the byte at `position` (its end counts as its own), and its bytes
    /// without its end.
    pub fn line_at(&self, position: u32) -> (LineNumber, Span) {
        let index = self.starts.partition_point(|&start| start <= position) - 1;
        let start = self.starts[index];
        let rest = &self.text[start as usize..];
        let bytes = rest.find_byteset(b"\r\n").unwrap_or(rest.len());
        let number = u32::try_from(index + 1).ok().and_then(LineNumber::new);
        let span = Span { start, end: start + bytes as u32 };
        (number.unwrap_or(LineNumber::FIRST), span)
    }

    /// Line and column, in characters from 1, of the byte at `position`.
    pub fn position(&self, position: u32) -> (LineNumber, u32) {
        let (number, line) = self.line_at(position);
        (number, 1 + self.characters(Span { end: position.max(line.start), ..line }))
    }

    /// Where `span` stands.
    pub fn place(&self, span: Span) -> Place {
        let (line, line_span) = self.line_at(span.start);
        let start = span.start.min(line_span.end);
        let end = span.end.clamp(start, line_span.end);
        let column = 1 + self.characters(Span { end: start, ..line_span });
        Place {
            span,
            line,
            line_span,
            column,
            end_column: column + self.characters(Span { start, end }),
            byte_column: 1 + start - line_span.start,
        }
    }

    fn characters(&self, span: Span) -> u32 {
        self.text[span.range()].chars().count() as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(text: &[u8], start: u32, end: u32) -> (u32, u32, u32, u32) {
        let place = LineIndex::new(text).place(Span { start, end });
        (place.line.get(), place.column, place.end_column, place.byte_column)
    }

    #[test]
    fn columns_count_characters_and_bytes() {
        assert_eq!(place("a\nDisallow: /ä€x\n".as_bytes(), 12, 18), (2, 11, 14, 11));
        assert_eq!(place("/ä\u{20ac}x".as_bytes(), 6, 7), (1, 4, 5, 7));
        assert_eq!(place(b"/\xff\xfex", 3, 4), (1, 4, 5, 4));
        assert_eq!(place(b"\xef\xbb\xbfa\n", 0, 3), (1, 1, 2, 1));
        assert_eq!(place(b"", 0, 0), (1, 1, 1, 1));
        assert_eq!(place(b"a\nb\nc", 0, 5), (1, 1, 2, 1));
    }

    #[test]
    fn every_line_end_counts_once() {
        let index = LineIndex::new(b"a\r\nb\rc\n\nd");
        let line = |position| index.line_at(position).0.get();
        assert_eq!([0, 1, 2, 3, 4, 5, 6, 7, 8].map(line), [1, 1, 1, 2, 2, 3, 3, 4, 5]);
        assert_eq!(index.position(8), (LineNumber::new(5).unwrap(), 1));
    }
}
