//! The fields of rows: CSV and TSV.
//!
//! CSV is RFC 4180, with LF also accepted as a line end and any single byte as delimiter. In TSV, a
//! quote is text like any other byte. Python's `csv` gives the same result on all input that RFC 4180
//! allows. A row that it does not allow has a [`QuoteProblem`], because a field that was cut at its
//! own comma would be a different one.

use std::borrow::Cow;

use super::framing::{Framing, Terminator, quoted_end};
use crate::limits::TABLE_COLUMNS_MAX;

/// How the fields of a row are separated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Separator {
    /// The byte between fields.
    pub delimiter: u8,
    /// Whether a field in quotes may have delimiters and line ends.
    pub has_quotes: bool,
}

impl Separator {
    /// That of TSV.
    pub const TSV: Separator = Separator { delimiter: b'\t', has_quotes: false };

    /// The separators of CSV, the usual one first.
    pub const CSV: [Separator; 4] =
        [Separator::csv(b','), Separator::csv(b';'), Separator::csv(b'\t'), Separator::csv(b'|')];

    /// Returns the separator of CSV with a delimiter.
    pub const fn csv(delimiter: u8) -> Separator {
        Separator { delimiter, has_quotes: true }
    }

    /// Returns the end of records.
    pub fn framing(self) -> Framing {
        match self.has_quotes {
            true => Framing::Quoted { delimiter: self.delimiter },
            false => Framing::Byte(Terminator::LineFeed),
        }
    }
}

/// Why a row is not as RFC 4180 allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuoteProblem {
    /// Text follows the closing quote of a field.
    TextAfter,
    /// A quoted field does not end, so the row extends to the end of the table.
    NotClosed,
}

/// A field as written, with its quotes.
#[derive(Clone, Copy, Debug)]
pub struct Field<'c> {
    raw: &'c [u8],
    has_quotes: bool,
    /// The fault of its quotes.
    pub problem: Option<QuoteProblem>,
}

impl<'c> Field<'c> {
    /// Returns the text, without quotes.
    #[inline]
    pub fn text(self) -> Cow<'c, [u8]> {
        let inner = match self.raw {
            [b'"', inner @ .., b'"'] if self.has_quotes => inner,
            raw => return Cow::Borrowed(raw),
        };
        if memchr::memchr(b'"', inner).is_none() {
            return Cow::Borrowed(inner);
        }
        let mut is_second = false;
        let kept = inner.iter().copied().filter(|&byte| {
            is_second = byte == b'"' && !is_second;
            byte != b'"' || is_second
        });
        Cow::Owned(kept.collect())
    }

    /// Whether the field begins with a quote that is none of its text.
    pub fn is_quoted(self) -> bool {
        self.has_quotes && self.raw.starts_with(b"\"")
    }

    /// Whether a CR ends a line in the field, outside of quotes, and text follows it. It is the end of a row in
    /// tables of other programs only.
    pub fn holds_line_end(self) -> bool {
        let is_open = !self.is_quoted() || self.problem == Some(QuoteProblem::TextAfter);
        is_open && self.raw.trim_ascii_end().contains(&b'\r')
    }

    /// Whether nothing is written, not even quotes.
    pub fn is_missing(self) -> bool {
        self.raw.is_empty()
    }
}

/// An iterator over the fields of the first row of `bytes`.
#[derive(Clone, Debug)]
pub struct Fields<'c> {
    bytes: &'c [u8],
    separator: Separator,
    at: usize,
    /// The end of the row and the length of its terminator. Set when the last field was read.
    pub end: Option<(usize, u8)>,
}

impl<'c> Fields<'c> {
    /// Returns the fields of the first row of `bytes`.
    pub fn new(bytes: &'c [u8], separator: Separator) -> Fields<'c> {
        Fields { bytes, separator, at: 0, end: None }
    }
}

impl<'c> Iterator for Fields<'c> {
    type Item = Field<'c>;

    #[inline]
    fn next(&mut self) -> Option<Field<'c>> {
        if self.end.is_some() {
            return None;
        }
        let (bytes, start) = (self.bytes, self.at);
        let Separator { delimiter, has_quotes } = self.separator;
        // The possible end of the field's text, if it is quoted.
        let mut closed = None;
        let mut problem = None;
        let mut from = start;
        if has_quotes && bytes.get(start) == Some(&b'"') {
            let end = quoted_end(bytes, start + 1);
            problem = end.is_none().then_some(QuoteProblem::NotClosed);
            from = end.unwrap_or(bytes.len());
            closed = end;
        }
        let mut end = match memchr::memchr2(delimiter, b'\n', &bytes[from..]) {
            Some(found) if bytes[from + found] == delimiter => {
                self.at = from + found + 1;
                from + found
            }
            Some(found) => {
                let has_cr = found > 0 && bytes[from + found - 1] == b'\r';
                self.end = Some((from + found + 1, 1 + u8::from(has_cr)));
                from + found - usize::from(has_cr)
            }
            None => {
                self.end = Some((bytes.len(), 0));
                bytes.len()
            }
        };
        if let Some(closed) = closed {
            // The last row of a list may end with CR alone.
            let is_cr = self.end == Some((bytes.len(), 0)) && bytes[closed..] == *b"\r";
            match end == closed || is_cr {
                true => end = closed,
                false => problem = Some(QuoteProblem::TextAfter),
            }
        }
        Some(Field { raw: &bytes[start..end], has_quotes, problem })
    }
}

/// Whether a value stands for none: `-` in logs, `\N` in tables of databases (ClickHouse, MySQL, PostgreSQL).
pub fn stands_for_none(value: &[u8]) -> bool {
    matches!(value.trim_ascii(), b"-" | b"\\N")
}

/// Whether a field of a first row may be the name of a column: it has a letter, and no URL, path, host,
/// request or text with a colon. A column that is found by its number alone tells a header by this.
pub fn is_column_name(field: &[u8]) -> bool {
    let field = field.trim_ascii();
    let is_letter = |byte: &u8| byte.is_ascii_alphabetic() || !byte.is_ascii();
    let has_any = |bytes: &[u8]| field.iter().any(|byte| bytes.contains(byte));
    let has_path = field.split(|byte| *byte == b' ').any(|word| word.starts_with(b"/"));
    let has_blank = field.contains(&b' ');
    field.iter().any(is_letter) && !has_path && !has_any(b":?\n") && (has_blank || !has_any(b"/."))
}

/// Returns the fields of the first row of `bytes`, and the end of the row. If there are more than
/// [`TABLE_COLUMNS_MAX`], returns one more, and no end.
pub fn first_row(bytes: &[u8], separator: Separator) -> (Vec<Vec<u8>>, usize) {
    let mut fields = Fields::new(bytes, separator);
    let seen = fields.by_ref().take(TABLE_COLUMNS_MAX + 1);
    let texts = seen.map(|field| field.text().into_owned()).collect();
    (texts, fields.end.map_or(0, |(end, _)| end))
}
