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
use portcullis_rows::output::columns::Field as AddedField;

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
