//! One way to write rows, as text or as Parquet.
//!
//! A [`RowForm`] begins a [`RowSink`] for each piece of an output. Rows are added to it block by
//! block, and once it has ended, [`Encoded`] has them.

use parquet::errors::ParquetError;

use super::parquet::{AddedColumns, AddedRows, EncodedGroup};
use super::{Added, NextTo, SameMember, TextRows};
use crate::input::InputError;
use crate::limits::CHUNK_OUTPUT_BYTES_MAX;
use crate::list::parquet::PartOfRows;

/// How rows are written.
pub enum RowForm {
    Text(Box<dyn TextRows + Send>),
    Parquet(AddedColumns),
}

/// The encoded rows of a piece.
#[derive(Debug, Default)]
pub struct Encoded {
    /// The rows as text.
    pub text: Vec<u8>,
    /// The rows of a Parquet file, instead of text.
    pub group: EncodedGroup,
}

impl Encoded {
    /// Clears the output for the next piece and keeps its memory.
    pub fn clear(&mut self) {
        self.text.clear();
        self.group = EncodedGroup::default();
    }
}

/// The rows of a piece that is being encoded.
pub enum RowSink<'a> {
    Text { rows: &'a dyn TextRows, added: Added, out: &'a mut Vec<u8> },
    Parquet { rows: Box<AddedRows<'a>>, out: &'a mut EncodedGroup },
}

impl RowForm {
    /// Begins a piece, which is written to `out`. `added` has the columns, without rows. In
    /// Parquet, they follow the columns of `part`, or the URLs if the records are not from Parquet.
    ///
    /// # Errors
    ///
    /// If Parquet cannot be encoded.
    pub fn begin<'a>(
        &'a self,
        added: Added,
        part: Option<&'a PartOfRows>,
        out: &'a mut Encoded,
    ) -> Result<RowSink<'a>, ParquetError> {
        Ok(match self {
            RowForm::Text(rows) => RowSink::Text { rows: &**rows, added, out: &mut out.text },
            RowForm::Parquet(columns) => {
                RowSink::Parquet { rows: columns.begin(added, part)?.into(), out: &mut out.group }
            }
        })
    }
}

impl RowSink<'_> {
    /// Adds the rows that `fill` appends, and returns their number: as many for each of `records`,
    /// if they are about records. Rows that stand alone may replace those in [`Added`].
    ///
    /// # Errors
    ///
    /// The error of `fill`, of the text or of the encoder.
    #[inline]
    pub fn add<E: From<SameMember> + From<ParquetError>>(
        &mut self,
        records: Option<NextTo<'_>>,
        fill: impl FnOnce(&mut Added) -> Result<(), E>,
    ) -> Result<usize, E> {
        match self {
            RowSink::Text { rows, added, out } => {
                added.clear();
                fill(added)?;
                match records {
                    Some(block) => rows.push(block, added, out)?,
                    None => (0..added.rows()).for_each(|row| rows.push_row(added, row, out)),
                }
                Ok(added.rows())
            }
            RowSink::Parquet { rows, .. } => rows.add(records, fill),
        }
    }

    /// Whether the piece has room for more rows. A row group is never cut.
    pub fn has_room(&self) -> bool {
        match self {
            RowSink::Text { out, .. } => out.len() < CHUNK_OUTPUT_BYTES_MAX,
            RowSink::Parquet { .. } => true,
        }
    }

    /// Ends the piece.
    ///
    /// # Errors
    ///
    /// If the columns of the input cannot be copied, or Parquet cannot be encoded.
    pub fn end<E: From<InputError> + From<ParquetError>>(self) -> Result<(), E> {
        if let RowSink::Parquet { rows, out } = self {
            *out = rows.end::<E>()?;
        }
        Ok(())
    }
}
