//! Reads Parquet files, in which each row is an answer.
//!
//! Columns are found by name (see [`FieldMap`]): a URL or a host and the body are required; the
//! status, the time, an error and whether the body was cut are optional. Text may be stored as text
//! or bytes, in any of Arrow's layouts; a status as any number; a time as any timestamp, a
//! day, or text. Header fields are not read, so the lifetime of a copy and the target of a redirect are not
//! known.
//!
//! A row without a URL or host, or with an invalid status or time, is broken and reported with its
//! number. A status of `null` or 0 is [`Fetched::NoResponse`](portcullis_dialect::Fetched::NoResponse). A 2xx
//! answer with a `null` body is [`Fetched::BrokenBody`](portcullis_dialect::Fetched::BrokenBody), unless
//! its status is 204 or 205. Without a column for the status, it is assumed to be 200 for rows with
//! a body.
//!
//! Text that is not UTF-8 is read as it is, as in other archives.
//!
//! Cost: other columns are not read. Decompression (Snappy, gzip, zstd) and decoding happen in
//! order, in [`BatchReader::next_batch`]; memory holds [`PARQUET_BATCH_ROWS`] rows and their pages, or
//! fewer rows if they are long. A page of more than
//! [`PARQUET_PAGE_BYTES_MAX`](crate::limits::PARQUET_PAGE_BYTES_MAX) bytes is an error
//! before it is decompressed.
//!
//! A file that is encrypted, compressed in another way or damaged is an error. The batches before
//! the damage are returned first. Damage to bytes without a checksum can go unnoticed, and a writer
//! may omit the checksums of pages.

pub mod columns;
pub mod file;
pub mod group;
pub mod pages;

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::DataType;
use parquet::file::metadata::PageIndexPolicy;
use parquet::file::reader::Length;

use crate::capture::{Batch, BatchReader, BrokenRecord, CaptureSink, ReadConfig};
use crate::limits::PARQUET_BATCH_ROWS;
use crate::record::Record;
use crate::schema::{CaptureField, FieldMap};
use columns::{
    Columns, GroupRows, Leaf, Projection, Values, holds_bytes, holds_numbers, holds_times, is_flag,
};
use file::{ParquetSource, guarded, supported_compression};
use portcullis_files::input::InputError;

/// A reader that cuts a Parquet file into batches of rows. Made by [`open`].
pub struct ParquetFile {
    source: ParquetSource,
    columns: Projection,
    schema: Arc<Schema>,
    /// The next row group.
    row_group: usize,
    /// The rows of the row group before it; `None` if they were all read.
    rows: Option<GroupRows>,
    rows_done: u64,
}

/// The columns to read, and the fields that they hold.
struct Schema {
    columns: Vec<(CaptureField, usize, Leaf)>,
    fields: FieldMap,
}

/// Opens the Parquet file at `path`.
///
/// # Errors
///
/// [`InputError::Open`] if the system cannot read it; [`InputError::List`] if it is not a Parquet file, or a column is missing or has the wrong type.
pub fn open(path: &Path, fields: &FieldMap) -> Result<ParquetFile, InputError> {
    let file = File::open(path).map_err(|error| InputError::open(path, error))?;
    let source = ParquetSource::open(&path.display().to_string(), file, PageIndexPolicy::Skip)?;
    let (schema, columns) =
        guarded(|| start(&source, fields)).map_err(|problem| InputError::list(path, problem))?;
    for (row_group, group) in source.metadata.row_groups().iter().enumerate() {
        for &place in &columns.places {
            supported_compression(group.column(place))
                .map_err(|problem| source.unreadable(row_group, place, &problem))?;
        }
    }
    let schema = Arc::new(schema);
    Ok(ParquetFile { source, columns, schema, row_group: 0, rows: None, rows_done: 0 })
}

/// Chooses the columns. The error says what is wrong.
fn start(source: &ParquetSource, fields: &FieldMap) -> Result<(Schema, Projection), String> {
    let file = Columns::of(source)?;
    let columns = fields.columns(&source.leaf_names(), |field, path| {
        Ok(file.find(path)?.map(|leaf| check(field, &leaf, fields).map(|()| leaf)))
    })?;
    let read = Projection::new(source, columns.iter().map(|(_, _, leaf)| leaf))?;
    Ok((Schema { columns, fields: fields.clone() }, read))
}

/// Checks that a column can hold a field. The error says what is wrong.
fn check(field: CaptureField, leaf: &Leaf, fields: &FieldMap) -> Result<(), String> {
    let is_time = leaf.unit.is_some() || fields.unit.is_some();
    let (fits, types): (fn(&DataType) -> bool, _) = match field {
        CaptureField::Status => (|it| holds_numbers(it) || holds_bytes(it), "numbers or text"),
        CaptureField::FetchedAt if is_time => (|it| holds_numbers(it) || holds_times(it), "times"),
        CaptureField::FetchedAt => {
            (holds_times, "timestamps, dates or text, or numbers with --time-unit")
        }
        CaptureField::Error | CaptureField::Truncated => (is_flag, "booleans, numbers or text"),
        _ => (holds_bytes, "text or bytes"),
    };
    let field = field.as_str();
    let fix = format!("name another with --fields {field}=COLUMN, or none with --fields {field}=");
    leaf.check(fits, field, types, &fix)
}

impl BatchReader for ParquetFile {
    fn next_batch(&mut self) -> Result<Option<Batch>, InputError> {
        let Some(batch) = self.next_rows()? else { return Ok(None) };
        let (bytes_before, rows_before) = (self.bytes_before(), self.rows_done);
        self.rows_done += batch.num_rows() as u64;
        // The share of the file that the rows have.
        let stored_bytes = self.bytes_before() - bytes_before;
        let schema = Arc::clone(&self.schema);
        Ok(Some(Batch::new(stored_bytes, move |config, sink| {
            schema.read(&batch, rows_before, config, sink);
        })))
    }
}

impl ParquetFile {
    /// Returns the next rows, or `None` after the last.
    fn next_rows(&mut self) -> Result<Option<RecordBatch>, InputError> {
        loop {
            if let Some(batch) = self.rows.as_mut().and_then(Iterator::next) {
                return batch.map(Some).map_err(|problem| self.source.problem(problem));
            }
            if self.row_group == self.source.metadata.num_row_groups() {
                return Ok(None);
            }
            self.rows = Some(self.open_group(self.row_group)?);
            self.row_group += 1;
        }
    }

    /// Opens a row group, after checking the sizes of its pages.
    fn open_group(&self, row_group: usize) -> Result<GroupRows, InputError> {
        let mut batch_rows = PARQUET_BATCH_ROWS;
        for &leaf in &self.columns.places {
            batch_rows = self.source.page_headers(row_group, leaf)?.rows_at_once(batch_rows);
        }
        let rows = self.source.metadata.row_group(row_group).num_rows() as usize;
        let rows = self.columns.read(&self.source, row_group, batch_rows, 0..rows);
        rows.map_err(|problem| self.source.problem(problem))
    }

    /// Returns the file's bytes for the rows returned so far, estimated as an equal share for each
    /// row.
    fn bytes_before(&self) -> u64 {
        let share = u128::from(self.source.file.len()) * u128::from(self.rows_done);
        (share / u128::from(self.source.rows.max(1))) as u64
    }
}

impl Schema {
    /// Reads decoded rows.
    fn read(
        &self,
        batch: &RecordBatch,
        rows_before: u64,
        config: &ReadConfig,
        sink: &mut CaptureSink<'_>,
    ) {
        let Schema { columns, fields } = self;
        let values = |(field, rank, leaf): &(CaptureField, usize, Leaf)| {
            let is_time = *field == CaptureField::FetchedAt;
            let unit = leaf.unit.or(fields.unit).filter(|_| is_time);
            (*field, *rank, leaf.values(batch, unit).expect("it is readable"))
        };
        let columns: Vec<(_, _, Values)> = columns.iter().map(values).collect();
        for row in 0..batch.num_rows() {
            let mut record = Record::default();
            for (field, rank, values) in &columns {
                record.set(*field, *rank, values.at(row));
            }
            sink(record.capture(&[], fields, config).map_err(|problem| {
                let number = rows_before + row as u64 + 1;
                BrokenRecord::senseless(format!("row {number}"), problem)
            }));
        }
    }
}
