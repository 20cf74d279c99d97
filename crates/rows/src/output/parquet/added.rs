//! Encodes the added columns of a row group on the thread that decides its URLs.

use std::io;
use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::builder::StringBuilder;
use arrow_schema::{FieldRef, Schema};
use parquet::arrow::arrow_writer::{ArrowColumnWriter, ArrowRowGroupWriterFactory, compute_leaves};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterVersion;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::ColumnPath;

use portcullis_dialect::limits::RECORDS_AT_ONCE;

use super::schema::{URL_COLUMN, schema_of, url_field};
use super::{EncodedGroup, TEXT_COMPRESSION, properties, version_of};
use crate::input::InputError;
use crate::limits::PARQUET_BATCH_URLS;
use crate::list::parquet::PartOfRows;
use crate::output::NextTo;
use crate::output::added::Added;
use crate::output::arrow::Arrays;
use crate::output::columns::Field;

/// Encodes the row groups of a table: the columns that are added to records, or rows that stand alone.
#[derive(Clone, Debug)]
pub struct AddedColumns {
    /// Whether the rows are about records, which have URLs.
    has_records: bool,
    arrays: Arrays,
}

impl AddedColumns {
    /// Returns an encoder of columns that are added to records.
    pub fn new(fields: &[Field]) -> AddedColumns {
        AddedColumns { arrays: Arrays::new(fields), has_records: true }
    }

    /// Returns an encoder of rows that stand alone.
    pub fn of_rows(fields: &[Field]) -> AddedColumns {
        AddedColumns { has_records: false, ..AddedColumns::new(fields) }
    }

    /// Begins a row group: next to the columns of `part`, or next to the URLs of records that are
    /// not from Parquet. `added` has the columns, without rows.
    pub(in crate::output) fn begin<'s>(
        &'s self,
        added: Added,
        part: Option<&'s PartOfRows>,
    ) -> Result<AddedRows<'s>, ParquetError> {
        let (version, compression) = match part {
            Some(part) => (version_of(&part.list), part.list.chunk(part.row_group).compression()),
            None => (WriterVersion::PARQUET_1_0, TEXT_COMPRESSION),
        };
        let url = (self.has_records && part.is_none()).then(url_field);
        let urls = url.as_ref().map(|_| StringBuilder::new());
        let fields: Vec<FieldRef> =
            url.into_iter().chain(self.arrays.schema().fields().iter().cloned()).collect();
        // URLs rarely repeat.
        let properties = properties(version, compression)
            .set_column_dictionary_enabled(ColumnPath::from(URL_COLUMN), urls.is_none());
        let file = SerializedFileWriter::new(
            io::sink(),
            schema_of(&fields),
            Arc::new(properties.build()),
        )?;
        let schema = Arc::new(Schema::new(fields.clone()));
        let writers = ArrowRowGroupWriterFactory::new(&file, schema).create_column_writers(0)?;
        let arrays = &self.arrays;
        Ok(AddedRows { arrays, part, fields, writers, urls, added, has_rows: false })
    }
}

/// Rows after which a page may end: as many for a column without gaps as for others.
const PAGE_STEP_ROWS: usize = 1024;

/// The rows of a row group that is being encoded.
pub struct AddedRows<'s> {
    arrays: &'s Arrays,
    /// The rows whose columns come first.
    part: Option<&'s PartOfRows>,
    /// The columns, and a writer of each.
    fields: Vec<FieldRef>,
    writers: Vec<ArrowColumnWriter>,
    /// The URLs that are not written yet, if they are not in the input's columns.
    urls: Option<StringBuilder>,
    /// The values that are not written yet.
    added: Added,
    has_rows: bool,
}

impl AddedRows<'_> {
    /// Adds the rows that `fill` appends, as [`RowSink::add`](crate::output::RowSink::add).
    pub(in crate::output) fn add<E: From<ParquetError>>(
        &mut self,
        records: Option<NextTo<'_>>,
        fill: impl FnOnce(&mut Added) -> Result<(), E>,
    ) -> Result<usize, E> {
        let before = self.added.rows();
        fill(&mut self.added)?;
        let new = self.added.rows() - before;
        if let (Some(urls), Some(NextTo { block, .. })) = (&mut self.urls, records) {
            for record in block {
                // The column is text, which must be UTF-8.
                let url = String::from_utf8_lossy(record.url());
                (0..new / block.len().max(1)).for_each(|_| urls.append_value(&url));
            }
        }
        // The next rows that stand alone may replace these.
        if records.is_none() || self.added.rows() + RECORDS_AT_ONCE > PARQUET_BATCH_URLS {
            self.flush()?;
        }
        Ok(new)
    }

    /// Closes the columns. There are none without rows, except those of the part.
    pub(in crate::output) fn end<E>(mut self) -> Result<EncodedGroup, E>
    where
        E: From<InputError> + From<ParquetError>,
    {
        self.flush()?;
        let writers = self.writers.into_iter().filter(|_| self.has_rows);
        let added = writers.map(ArrowColumnWriter::close).collect::<Result<_, _>>()?;
        let group = self.part.map(EncodedGroup::of_part).transpose()?.unwrap_or_default();
        Ok(EncodedGroup { added, ..group })
    }

    /// Writes the rows that are not written yet.
    fn flush(&mut self) -> Result<(), ParquetError> {
        if self.added.rows() == 0 {
            return Ok(());
        }
        let urls = self.urls.as_mut().map(|urls| -> ArrayRef { Arc::new(urls.finish()) });
        let columns = urls.into_iter().chain(self.arrays.of(&self.added));
        for ((column, field), writer) in columns.zip(&self.fields).zip(&mut self.writers) {
            for start in (0..column.len()).step_by(PAGE_STEP_ROWS) {
                let piece = column.slice(start, PAGE_STEP_ROWS.min(column.len() - start));
                for leaf in compute_leaves(field, &piece)? {
                    writer.write(&leaf)?;
                }
            }
        }
        self.added.clear();
        self.has_rows = true;
        Ok(())
    }
}
