//! Rows out: records with added columns, as text or Parquet.
//!
//! [`columns`] defines the columns that a run adds, and [`Added`] holds their values for a block of
//! records. [`TextRows`] writes them as text: [`tsv`] and [`csv`]. [`parquet`] writes them beside the
//! columns of a Parquet file, or copies the rows that are kept. The caller decides the records and
//! fills [`Added`]; no code here decides a URL.
//!
//! The rows of a [`survey`] have no record: [`rows`] writes them as text.
//!
//! A new column is one variant of [`Column`](columns::Column); all formats, and the Python package,
//! then have it.

pub mod added;
pub mod columns;
pub mod csv;
pub mod parquet;
pub mod rows;
pub mod survey;
pub mod tsv;

pub use added::Added;

use crate::input::Record;
use crate::list::List;
use columns::Field;

/// A format of rows as text.
pub trait TextRows: Sync {
    /// Appends the records of `list` in a block, with their added columns, to `out`.
    fn push(&self, list: &List, block: &[Record<'_>], added: &Added, out: &mut Vec<u8>);

    /// Returns the header of an output that begins with `list` and has these added columns.
    fn header(&self, list: &List, fields: &[Field]) -> Vec<u8>;
}
