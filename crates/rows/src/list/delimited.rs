//! Finds the values in the rows of CSV and TSV.
//!
//! A row that RFC 4180 does not allow (text after a closing quote, a quote that is never closed, a
//! number of fields that differs from the first row) has a problem instead of a URL.

use std::borrow::Cow;

use bumpalo::Bump;
use portcullis_files::input::{Field, Fields, QuoteProblem, Separator};
use portcullis_robots::access::{TimeUnit, UnixSeconds};

use super::Problem;
use super::values::Values;

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
            problem = problem.or(field.problem.map(problem_of));
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
        let (end, end_bytes) = fields.end().expect("the last field ends the row");
        let url = match (problem, url) {
            (Some(problem), _) => Err(problem),
            (None, Some(field)) if count == self.count => Ok(text(field, arena)),
            (None, _) => Err(Problem::FieldCount),
        };
        // In a row with a problem, columns are not where they should be.
        let time = time.filter(|_| url.is_ok());
        let time = time.and_then(|time| UnixSeconds::from_text(&time.text(), self.unit));
        let [agent, host] =
            [agent, host].map(|field| field.filter(|_| url.is_ok()).map(|it| text(it, arena)));
        Some(Row { whole: &rest[..end], end_bytes, values: Values { url, time, agent, host } })
    }
}

fn problem_of(problem: QuoteProblem) -> Problem {
    match problem {
        QuoteProblem::TextAfter => Problem::BadQuotes,
        QuoteProblem::NotClosed => Problem::OpenQuote,
    }
}

/// Returns the text of a field, in `arena` if it has escapes.
#[inline]
fn text<'c>(field: Field<'c>, arena: &'c Bump) -> &'c [u8] {
    match field.text() {
        Cow::Borrowed(text) => text,
        Cow::Owned(text) => arena.alloc_slice_copy(&text),
    }
}

/// Returns the texts of the fields of a row.
pub(super) fn fields<'c>(
    row: &'c [u8],
    separator: Separator,
    arena: &'c Bump,
) -> impl Iterator<Item = &'c [u8]> + use<'c> {
    Fields::new(row, separator).map(|field| text(field, arena))
}
