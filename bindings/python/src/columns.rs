//! Builds decisions and the rows of surveys as Arrow columns: those of `classify --columns`,
//! `--usage` and `survey`, with the same names, types and values. Words are dictionaries with keys of
//! one byte per row.
//!
//! Cost: a word is one byte written per row and agent. Rules and groups are looked up.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};
use portcullis_rows::output::Added;
use portcullis_rows::output::arrow::Arrays;
use portcullis_rows::output::columns::{Field as AddedField, FieldKind};
use portcullis_set::Damage;
use portcullis_set::batch::Answers;

/// Collects the decisions on blocks of URLs.
pub trait Collect: Sync {
    /// The values of a range of rows that are being decided.
    type Rows;
    /// The values of a range of rows.
    type Piece: Send;

    fn begin(&self) -> Self::Rows;

    /// Adds the answers on a block, whose URLs are `urls`.
    fn add(
        &self,
        urls: &[&[u8]],
        answers: &mut Answers<'_>,
        rows: &mut Self::Rows,
    ) -> Result<(), Damage>;

    fn finish(&self, rows: Self::Rows) -> Self::Piece;
}

/// The columns of rows in Arrow.
pub struct RowArrays {
    schema: SchemaRef,
    arrays: Arrays,
}

impl RowArrays {
    pub fn new(added: &[AddedField]) -> RowArrays {
        let arrays = Arrays::new(added);
        RowArrays { schema: Schema::new(arrays.fields().clone()).into(), arrays }
    }

    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Returns the rows.
    pub fn rows(&self, added: &Added) -> RecordBatch {
        let columns = self.arrays.of(added).collect();
        let rows = RecordBatch::try_new(Arc::clone(&self.schema), columns);
        rows.expect("columns have their declared types")
    }
}

/// Reads the values of a block.
pub type Read<'r> = dyn Fn(&mut Answers<'_>, &mut Added) -> Result<(), Damage> + Sync + 'r;

/// A table of columns, and what reads a block's values.
pub struct Table<'r> {
    kinds: Vec<FieldKind>,
    arrays: RowArrays,
    read: &'r Read<'r>,
}

impl<'r> Table<'r> {
    pub fn new(added: &[AddedField], read: &'r Read<'r>) -> Table<'r> {
        let kinds = added.iter().map(|field| field.kind).collect();
        Table { kinds, arrays: RowArrays::new(added), read }
    }
}

impl Collect for Table<'_> {
    type Rows = Added;
    type Piece = RecordBatch;

    fn begin(&self) -> Added {
        Added::of(self.kinds.iter().copied())
    }

    fn add(&self, _: &[&[u8]], answers: &mut Answers<'_>, rows: &mut Added) -> Result<(), Damage> {
        (self.read)(answers, rows)
    }

    fn finish(&self, rows: Added) -> RecordBatch {
        self.arrays.rows(&rows)
    }
}
