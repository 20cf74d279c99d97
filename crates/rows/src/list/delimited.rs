//! CSV and TSV: splits rows and finds the fields in columns.
//!
//! CSV is RFC 4180, with LF also accepted as a line end and any single byte as delimiter. In TSV, a
//! quote is text like any other byte.
//! Python's `csv` gives the same result on all input that RFC 4180 allows. Rows that it does not
//! allow (text after a closing quote, a quote that is never closed, a number of fields that differs
//! from the first row) have a problem instead of a URL, because a field that was cut at its own
//! comma would be a different URL.

use bumpalo::Bump;

use super::Problem;
use super::values::Values;
use crate::input::{Framing, Terminator, quoted_end};
use crate::limits::LIST_COLUMNS_MAX;
use portcullis_robots::access::{TimeUnit, UnixSeconds};

/// How the fields of a row are separated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Separator {
    pub delimiter: u8,
    /// Whether a field in quotes may have delimiters and line ends.
    pub has_quotes: bool,
}

impl Separator {
    pub const TSV: Separator = Separator { delimiter: b'\t', has_quotes: false };

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

/// The separator, the columns of the values, and the number of columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Columns {
    pub separator: Separator,
    /// The column of the URL, counted from 0.
    pub column: usize,
    /// The column of the time.
    pub time: Option<usize>,
    /// The column of the agent.
    pub agent: Option<usize>,
    /// The column of the host.
    pub host: Option<usize>,
    /// The unit of times that are numbers.
    pub unit: Option<TimeUnit>,
    /// The number of fields in a row.
    pub count: usize,
}

/// A row and its values.
pub(super) struct Row<'c> {
    pub whole: &'c [u8],
    pub end_bytes: u8,
    pub values: Values<'c>,
}

/// A field as written, with its quotes.
#[derive(Clone, Copy)]
struct Field<'c> {
    raw: &'c [u8],
    has_quotes: bool,
    problem: Option<Problem>,
}

impl<'c> Field<'c> {
    fn text(self, arena: &'c Bump) -> &'c [u8] {
        let inner = match self.raw {
            [b'"', inner @ .., b'"'] if self.has_quotes => inner,
            raw => return raw,
        };
        if memchr::memchr(b'"', inner).is_none() {
            return inner;
        }
        let mut is_second = false;
        let kept = inner.iter().copied().filter(|&byte| {
            is_second = byte == b'"' && !is_second;
            byte != b'"' || is_second
        });
        arena.alloc_slice_copy(&kept.collect::<Vec<u8>>())
    }
}

/// An iterator over the fields of the first row of `bytes`.
struct Fields<'c> {
    bytes: &'c [u8],
    separator: Separator,
    at: usize,
    /// The end of the row and the length of its terminator. Set when the last field was read.
    end: Option<(usize, u8)>,
}

impl<'c> Fields<'c> {
    fn new(bytes: &'c [u8], separator: Separator) -> Fields<'c> {
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
            problem = end.is_none().then_some(Problem::OpenQuote);
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
                false => problem = Some(Problem::BadQuotes),
            }
        }
        Some(Field { raw: &bytes[start..end], has_quotes, problem })
    }
}

impl Columns {
    /// Returns the first row of `rest`, or `None` if `rest` is empty.
    #[inline]
    pub(super) fn read<'c>(&self, rest: &'c [u8], arena: &'c Bump) -> Option<Row<'c>> {
        if rest.is_empty() {
            return None;
        }
        let mut fields = Fields::new(rest, self.separator);
        let (mut count, mut problem) = (0, None);
        let (mut url, mut time, mut agent, mut host) = (None, None, None, None);
        for field in fields.by_ref() {
            problem = problem.or(field.problem);
            if count == self.column {
                url = Some(field);
            }
            if Some(count) == self.time {
                time = Some(field);
            }
            if Some(count) == self.agent {
                agent = Some(field);
            }
            if Some(count) == self.host {
                host = Some(field);
            }
            count += 1;
        }
        let (end, end_bytes) = fields.end.expect("the last field ends the row");
        let url = match (problem, url) {
            (Some(problem), _) => Err(problem),
            (None, Some(field)) if count == self.count => Ok(field.text(arena)),
            (None, _) => Err(Problem::FieldCount),
        };
        // In a row with a problem, columns are not where they should be.
        let time = time.filter(|_| url.is_ok());
        let time = time.and_then(|time| UnixSeconds::from_text(time.text(arena), self.unit));
        let [agent, host] =
            [agent, host].map(|field| field.filter(|_| url.is_ok()).map(|it| it.text(arena)));
        Some(Row { whole: &rest[..end], end_bytes, values: Values { url, time, agent, host } })
    }
}

/// Returns the texts of the fields of a row.
pub(super) fn fields<'c>(
    row: &'c [u8],
    separator: Separator,
    arena: &'c Bump,
) -> impl Iterator<Item = &'c [u8]> + use<'c> {
    Fields::new(row, separator).map(|field| field.text(arena))
}

/// Returns the fields of the first row of `bytes`, and the end of the row. If there are more than
/// [`LIST_COLUMNS_MAX`], returns one more, and no end.
pub(super) fn first_row(bytes: &[u8], separator: Separator) -> (Vec<Vec<u8>>, usize) {
    let arena = Bump::new();
    let mut fields = Fields::new(bytes, separator);
    let seen = fields.by_ref().take(LIST_COLUMNS_MAX + 1);
    let texts = seen.map(|field| field.text(&arena).to_vec()).collect();
    (texts, fields.end.map_or(0, |(end, _)| end))
}
