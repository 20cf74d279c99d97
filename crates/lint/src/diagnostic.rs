//! Diagnostics: a code at a place, how each dialect reads the line, and a fix. Also maps bytes to
//! lines and columns as editors count them.

use std::cell::Cell;
use std::collections::BTreeMap;

use bstr::ByteSlice as _;

use super::Code;
use portcullis_dialect::{Dialect, LineNumber, words};
use portcullis_robots::syntax::Span;

/// A problem in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The kind of problem.
    pub code: Code,
    /// The problem, in one sentence without full stop.
    pub message: String,
    /// Where.
    pub place: Place,
    /// Related places, in file order.
    pub related: Vec<Related>,
    /// How each dialect reads it, in the order of [`Dialect::ALL`].
    pub effects: Vec<Effect>,
    /// An edit that fixes the problem, if there is one.
    pub fix: Option<Fix>,
}

/// A span of bytes, with lines and columns.
///
/// Columns are counted from 1. Columns in characters count UTF-8 characters; a byte outside any
/// character counts as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The bytes in the file.
    pub span: Span,
    /// The line of the first byte.
    pub line: LineNumber,
    /// The span of that line in the file, without its end.
    pub line_span: Span,
    /// The column of the first byte, in characters.
    pub column: u32,
    /// The column after the last byte in that line, in characters.
    pub end_column: u32,
    /// The column of the first byte, in bytes.
    pub byte_column: u32,
}

/// A related place of a diagnostic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Related {
    /// Where.
    pub place: Place,
    /// The role of the place.
    pub message: String,
}

/// How a dialect reads a line or a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effect {
    /// The dialect.
    pub dialect: &'static Dialect,
    /// The reading in words.
    pub text: String,
}

/// An edit that fixes a problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// The effect of the edit, as an instruction.
    pub title: String,
    /// Whether it may be applied without asking.
    pub safety: Safety,
    /// The replacements, in file order, without overlaps.
    pub edits: Vec<Edit>,
}

words! {
    /// Whether an edit may be applied without asking.
    pub enum Safety {
        /// The edit should change no verdict; [`fix`](super::fix) applies it if that is proved.
        ToBeProved => "safe-if-proved",
        /// The edit changes verdicts to what was probably meant. The owner of the file decides.
        Suggestion => "suggestion",
    }
}

/// Bytes to replace. An empty span inserts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The bytes to replace.
    pub span: Span,
    /// The new bytes.
    pub replacement: Vec<u8>,
}

/// Returns whether `edit` overlaps one of `taken`, whose ends are by their starts.
pub(super) fn overlaps<T>(taken: &BTreeMap<u32, (u32, T)>, edit: &Edit) -> bool {
    let before = taken.range(..edit.span.end).next_back();
    before.is_some_and(|(_, &(end, _))| end > edit.span.start)
}

/// The lines of a file. CR, LF and CRLF each end one, as in the parser.
#[derive(Clone, Debug)]
pub struct LineIndex<'t> {
    text: &'t [u8],
    /// The start of each line; at least one.
    starts: Vec<u32>,
    /// A position, and the number of characters before it in its line. A long line may have a finding
    /// for each of its parts, whose columns are counted on from here.
    counted: Cell<(u32, u32)>,
}

impl<'t> LineIndex<'t> {
    /// Finds the line ends of `text`.
    pub fn new(text: &'t [u8]) -> LineIndex<'t> {
        let mut starts = vec![0];
        for end in memchr::memchr2_iter(b'\r', b'\n', text) {
            let next = end + 1;
            if text[end] == b'\r' && text.get(next) == Some(&b'\n') {
                continue;
            }
            starts.push(u32::try_from(next).unwrap_or(u32::MAX));
        }
        LineIndex { text, starts, counted: Cell::default() }
    }

    /// Returns the line with the byte at `position` (a line end belongs to its line), and its bytes
    /// without the line end.
    pub fn line_at(&self, position: u32) -> (LineNumber, Span) {
        let index = self.starts.partition_point(|&start| start <= position) - 1;
        let start = self.starts[index];
        let bytes = match self.starts.get(index + 1) {
            None => &self.text[start as usize..],
            Some(&next) => {
                let line = &self.text[start as usize..next as usize];
                line.trim_end_with(|end| matches!(end, '\r' | '\n'))
            }
        };
        let number = u32::try_from(index + 1).ok().and_then(LineNumber::new);
        let span = Span { start, end: start + bytes.len() as u32 };
        (number.unwrap_or(LineNumber::FIRST), span)
    }

    /// Returns the place of `span`.
    pub fn place(&self, span: Span) -> Place {
        let (line, line_span) = self.line_at(span.start);
        let start = span.start.min(line_span.end);
        let end = span.end.clamp(start, line_span.end);
        let column = 1 + self.characters_before(Span { end: start, ..line_span });
        Place {
            span,
            line,
            line_span,
            column,
            end_column: column + self.characters(Span { start, end }),
            byte_column: 1 + start - line_span.start,
        }
    }

    /// Returns the number of characters from the start of a line to the end of `span`.
    fn characters_before(&self, span: Span) -> u32 {
        let (position, characters) = self.counted.get();
        let in_line = (span.start..=span.end).contains(&position);
        let (start, known) = if in_line { (position, characters) } else { (span.start, 0) };
        let count = known + self.characters(Span { start, ..span });
        // Bytes in the middle of a character would be counted again.
        if !matches!(self.text.get(span.end as usize), Some(0x80..=0xbf)) {
            self.counted.set((span.end, count));
        }
        count
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
    fn columns_are_the_same_in_any_order() {
        let text = "a\ncafé \u{20ac}\u{feff}é\u{1f600}x\n".as_bytes();
        let text = [text, b"\xe3\x80\xff\x80 \xc3\xa9"].concat();
        let places = |order: &[u32]| -> Vec<Place> {
            let index = LineIndex::new(&text);
            order.iter().map(|&start| index.place(Span { start, end: start + 1 })).collect()
        };
        let mut order: Vec<u32> = (0..text.len() as u32).collect();
        let alone: Vec<Place> = order.iter().flat_map(|&start| places(&[start])).collect();
        assert_eq!(places(&order), alone);
        order.reverse();
        assert!(places(&order).iter().eq(alone.iter().rev()));
    }

    #[test]
    fn every_line_end_counts_once() {
        let index = LineIndex::new(b"a\r\nb\rc\n\nd");
        let line = |position| index.line_at(position).0.get();
        assert_eq!([0, 1, 2, 3, 4, 5, 6, 7, 8].map(line), [1, 1, 1, 2, 2, 3, 3, 4, 5]);
        assert_eq!(index.place(Span { start: 8, end: 8 }).column, 1);
    }
}
