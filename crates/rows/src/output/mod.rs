//! Rows out: records with added columns, as text or Parquet.
//!
//! [`columns`] defines the columns that a run adds, and [`Added`] holds their values for a block of
//! records. A [`RowForm`] is how they are written. [`TextRows`] writes them as text: [`tsv`],
//! [`csv`] and [`json_lines`]. [`parquet`] writes them next to the columns of a Parquet file, or
//! copies the rows that are kept. The caller decides the records and fills [`Added`]; no code here
//! decides a URL.
//!
//! Rows of other tables, such as a survey, have no record: their columns are
//! [declared](columns::Field::declared).
//!
//! A new column is one variant of [`Column`](columns::Column); all formats, and the Python package,
//! then have it.

pub mod added;
pub mod arrow;
pub mod columns;
pub mod csv;
pub mod json_lines;
mod own;
pub mod parquet;
mod sink;
pub mod tsv;

pub use added::Added;
pub use own::input_columns;
pub use sink::{Encoded, RowForm, RowSink};

use crate::input::Record;
use crate::list::List;
use columns::Field;

/// The records of a list that rows are about.
#[derive(Clone, Copy, Debug)]
pub struct NextTo<'a> {
    /// The list.
    pub list: &'a List,
    /// The records. Each has as many rows as any other.
    pub block: &'a [Record<'a>],
}

impl NextTo<'_> {
    /// Returns the number of rows of each record.
    fn rows_of_each(self, added: &Added) -> usize {
        added.rows() / self.block.len().max(1)
    }

    /// Calls `with` for each row and its record.
    #[inline(always)]
    fn each_row(self, added: &Added, mut with: impl FnMut(usize, &Record<'_>)) {
        let (rows, all, mut row) = (self.rows_of_each(added), added.rows(), 0);
        let mut records = self.block.iter();
        let Some(mut record) = records.next() else { return };
        let mut end = rows;
        // One loop, because the usual record has one row.
        while row < all {
            if row == end {
                record = records.next().expect("each record has as many rows");
                end += rows;
            }
            with(row, record);
            row += 1;
        }
    }
}

/// A record has a member or a column with the name of one that is added to it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{list}: a record has the member `{member}` already; name the added ones otherwise with \
     ‹column_prefix›"
)]
pub struct SameMember {
    /// The list.
    pub list: String,
    /// The name.
    pub member: String,
}

/// A format of rows as text.
pub trait TextRows: Sync {
    /// Appends the rows of `added`, each next to its record in `block`, to `out`.
    ///
    /// # Errors
    ///
    /// If a name would be in a row twice. Only records of JSON Lines have names of their own; records of
    /// other lists are checked once.
    fn push(&self, block: NextTo<'_>, added: &Added, out: &mut Vec<u8>) -> Result<(), SameMember>;

    /// Appends a row of `added`, which stands alone, to `out`.
    fn push_row(&self, added: &Added, row: usize, out: &mut Vec<u8>);

    /// Returns the header of an output that begins with `list`, if its rows are about records, and has
    /// these columns.
    fn header(&self, list: Option<&List>, fields: &[Field]) -> Vec<u8>;
}
