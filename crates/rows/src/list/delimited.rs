//! Finds the values in the rows of CSV and TSV.
//!
//! A row that RFC 4180 does not allow (a quote that is never closed, a number of fields that differs from
//! the first row) has a problem instead of a URL. A stray quote ended the list before its row.

use bumpalo::Bump;
use portcullis_captures::json_path::FieldValue;
use portcullis_engine::bytes::trim;
use portcullis_files::input::{Field, Fields, Separator};
use portcullis_robots::access::{TimeUnit, UnixSeconds};

use super::Problem;
use super::noticed::{Doubts, Left};
use super::place::LeftPart;
use super::values::{Values, at_places, doubt_of_time, kept};

/// The separator, the columns of the values, and the number of columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CellColumns {
    pub separator: Separator,
    /// The column of the URL, counted from 0.
    pub url: usize,
    /// The columns of the time, the agent, the host, the query, the scheme and the client.
    pub others: [Option<usize>; 6],
    /// The columns that may have parts of the URL of a path and are not read.
    pub left: Vec<(LeftPart, usize)>,
    /// The unit of times that are numbers.
    pub unit: Option<TimeUnit>,
    /// The number of fields in a row.
    pub count: usize,
    /// The number of fields at the end of a row that may be missing.
    pub missing_max: usize,
    /// Whether a value that begins with a quote is a problem: nobody said that quotes are text.
    pub refuses_quotes: bool,
}

impl CellColumns {
    /// Returns the bytes of the first row of `rest`, the number of them that end it, and its values. `None` if
    /// `rest` is empty.
    #[inline]
    pub(super) fn read<'c>(
        &self,
        rest: &'c [u8],
        arena: &'c Bump,
    ) -> Option<(usize, u8, Values<'c>)> {
        if rest.is_empty() {
            return None;
        }
        let mut fields = Fields::new(rest, self.separator);
        let mut problem = None;
        let checked = fields.by_ref().inspect(|field| {
            problem = problem.or(field.problem.map(|_| Problem::OpenQuote));
        });
        let [time, agent, host, query, scheme, client] = self.others;
        let (found, client, count) = match (query, scheme, client) {
            (None, None, None) => {
                let (found, count) = at_places(checked, [Some(self.url), time, agent, host]);
                let [url, time, agent, host] = found;
                ([url, time, agent, host, None, None], None, count)
            }
            _ => {
                let places = [Some(self.url), time, agent, host, query, scheme, client];
                let (found, count) = at_places(checked, places);
                let [url, time, agent, host, query, scheme, client] = found;
                ([url, time, agent, host, query, scheme], client, count)
            }
        };
        let [url, time, agent, host, query, scheme] = found;
        let (end, end_bytes) = fields.end.expect("the last field ends the row");
        let is_quoted = |field: &Option<Field<'_>>| {
            field.is_some_and(|it| trim(&it.text(), b" ").starts_with(b"\""))
        };
        // A row of another length has no columns, whatever is in its fields.
        if count != self.count && !self.is_short(count) {
            problem = problem.or(Some(Problem::FieldCount));
        }
        if self.refuses_quotes && [url, agent, host, query, scheme].iter().any(is_quoted) {
            problem = problem.or(Some(Problem::Quoted));
        }
        let url = match (problem, url) {
            (Some(problem), _) => Err(problem),
            (None, Some(field)) => Ok(kept(field.text(), arena)),
            (None, None) => Err(Problem::FieldCount),
        };
        // In a row with a problem, columns are not where they should be.
        let time = time.filter(|_| url.is_ok());
        let text = time.map(|time| time.text());
        let text = text.as_ref().map(|text| trim(text, b" "));
        let time = text.and_then(|text| UnixSeconds::from_text(text, self.unit));
        let doubts = match text {
            Some(text) if time.is_none() => {
                doubt_of_time(&FieldValue::Text(text.into()), self.unit)
            }
            _ => Doubts::default(),
        };
        // Databases write null as `\N`.
        let value = |field: Option<Field<'c>>| {
            let field = field.filter(|_| url.is_ok())?;
            Some(trim(kept(field.text(), arena), b" ")).filter(|text| *text != b"\\N")
        };
        let [agent, host, query, scheme] = [agent, host, query, scheme].map(value);
        let client = client.and_then(|client| value(Some(client)));
        let left = match self.left.is_empty() || url.is_err() {
            true => &[],
            false => self.left_in(&rest[..end - usize::from(end_bytes)], arena),
        };
        let values =
            Values { url, time, agent, host, query, scheme, client, doubts, seen: 0, left };
        Some((end, end_bytes, values))
    }

    /// Returns the parts in the columns of a row that are not read.
    fn left_in<'c>(&self, row: &'c [u8], arena: &'c Bump) -> &'c [Left<'c>] {
        let texts: Vec<&'c [u8]> = fields(row, self.separator, arena).collect();
        let left =
            |&(part, place): &(LeftPart, usize)| Some(Left { part, value: texts.get(place)? });
        arena.alloc_slice_copy(&self.left.iter().filter_map(left).collect::<Vec<_>>())
    }

    /// Whether a row with this number of fields is one of those that lack some at their end.
    #[cold]
    fn is_short(&self, count: usize) -> bool {
        count < self.count && self.count - count <= self.missing_max
    }
}

/// Returns the texts of the fields of a row.
pub(super) fn fields<'c>(
    row: &'c [u8],
    separator: Separator,
    arena: &'c Bump,
) -> impl Iterator<Item = &'c [u8]> + use<'c> {
    Fields::new(row, separator).map(|field| kept(field.text(), arena))
}
