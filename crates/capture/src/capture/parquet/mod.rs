//! Parquet files: a row is an answer. Built with the feature `parquet`.
//!
//! Columns are found by name ([`ParquetColumns`] says by which): a URL or a host, the status, the
//! body and, if there is one, the time. Texts may be stored as text or bytes, in any of Arrow's
//! layouts; a status as any number; a time as any timestamp, or as text. There is no column for
//! header fields, so nothing says how long a copy serves or where a redirect leads to.
//!
//! A row without a URL or host is broken, with its number, and so is one whose status or time makes
//! no sense. A status of `null` or 0 is
//! [`Answer::NoAnswer`](portcullis_robots::access::Answer::NoAnswer), a 2xx answer with a `null` body
//! [`Answer::BrokenBody`](portcullis_robots::access::Answer::BrokenBody), unless its status is 204 or 205.
//!
//! Cost: the columns that are not asked for are not read. Decompression and decoding happen in
//! order, in [`BatchReader::next_batch`]; memory holds
//! [`PARQUET_BATCH_ROWS`] rows and the pages that they stand in.
//! Snappy, gzip and zstd are undone.
//!
//! A file that is encrypted, compressed otherwise or damaged is an error, after the batches before
//! the damage. Damage to bytes that no check sum covers can go unnoticed; pages have one if their
//! writer was told to write it.
//!
//! ```no_run
//! use std::path::Path;
//! use portcullis_capture::capture::{BatchReader, ParquetColumns, parquet};
//!
//! let columns = ParquetColumns { host: Some("registered_domain".into()), ..Default::default() };
//! let mut reader = parquet::open(Path::new("robots.parquet"), &columns)?;
//! while let Some(batch) = reader.next_batch()? {
//!     println!("a batch that fills {} bytes of the file", batch.stored_bytes());
//! }
//! # Ok::<(), portcullis_capture::capture::CaptureError>(())
//! ```

mod find;
mod rows;
#[cfg(test)]
mod tests;
mod values;

use std::fs::File;
use std::io::{self, ErrorKind};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
    ParquetRecordBatchReaderBuilder,
};
use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaData;

use portcullis_dialect::limits::PARQUET_BATCH_ROWS;

use super::{Batch, BatchReader, CaptureError, ParquetColumns};
use find::Places;
use rows::Rows;

/// Cuts a Parquet file into batches of rows; [`open`] makes it.
pub struct ParquetFile {
    name: String,
    /// Gone after the first error.
    reader: Option<ParquetRecordBatchReader>,
    places: Places,
    stored_bytes: u64,
    rows: u64,
    rows_done: u64,
}

/// Opens the Parquet file at `path`.
///
/// # Errors
///
/// [`CaptureError::Unreadable`] if the system does not give it; [`CaptureError::NotThisFormat`] if
/// it is no Parquet file, or a column is missing or holds what it should not.
pub fn open(path: &Path, columns: &ParquetColumns) -> Result<ParquetFile, CaptureError> {
    let name = path.display().to_string();
    let unreadable = |source| CaptureError::Unreadable { name: name.clone(), source };
    let file = File::open(path).map_err(unreadable)?;
    let stored_bytes = file.metadata().map_err(unreadable)?.len();
    match guarded(|| start(file, columns)) {
        Ok(Started { reader, places, rows }) => {
            let reader = Some(reader);
            Ok(ParquetFile { name, reader, places, stored_bytes, rows, rows_done: 0 })
        }
        Err(problem) => Err(CaptureError::NotThisFormat { name, problem }),
    }
}

/// A file whose metadata was read.
struct Started {
    reader: ParquetRecordBatchReader,
    places: Places,
    rows: u64,
}

/// Reads the metadata and chooses the columns. What is wrong is the error.
fn start(file: File, columns: &ParquetColumns) -> Result<Started, String> {
    let no_parquet = |error: ParquetError| format!("cannot be read as Parquet: {error}");
    let metadata = metadata(&file).map_err(no_parquet)?;
    let rows =
        rows_of(metadata.metadata()).ok_or("its metadata contradicts itself; fetch it again")?;
    let places = find::find(metadata.schema(), columns)?;
    let mask = ProjectionMask::roots(metadata.parquet_schema(), places.of_file());
    let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata)
        .with_projection(mask)
        .with_batch_size(PARQUET_BATCH_ROWS)
        .build()
        .map_err(no_parquet)?;
    Ok(Started { reader, places: places.within_projection(), rows })
}

/// The number of rows, if the file and its row groups agree on it.
fn rows_of(metadata: &ParquetMetaData) -> Option<u64> {
    let mut rows = 0_u64;
    for group in metadata.row_groups() {
        rows = rows.checked_add(u64::try_from(group.num_rows()).ok()?)?;
    }
    let said = u64::try_from(metadata.file_metadata().num_rows()).ok()?;
    (rows == said).then_some(rows)
}

/// Runs `read`, and takes a panic in it for a problem: where a damaged file breaks what the parquet
/// crate takes for granted, it asserts, and one file must not end a run over many.
fn guarded<T>(read: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    // What a panic has left half done is never used again.
    catch_unwind(AssertUnwindSafe(read))
        .unwrap_or_else(|_| Err("its data contradicts itself; fetch it again".to_owned()))
}

/// What the file says about itself; a column that is a dictionary is then read as what its entries
/// are.
fn metadata(file: &File) -> Result<ArrowReaderMetadata, ParquetError> {
    let metadata = ArrowReaderMetadata::load(file, ArrowReaderOptions::new())?;
    let schema = metadata.schema();
    let is_dictionary =
        |field: &Arc<Field>| matches!(field.data_type(), DataType::Dictionary(_, _));
    if !schema.fields().iter().any(is_dictionary) {
        return Ok(metadata);
    }
    let plain = schema.fields().iter().map(|field| match field.data_type() {
        DataType::Dictionary(_, entry) => {
            Arc::new(Field::clone(field).with_data_type(DataType::clone(entry)))
        }
        _ => Arc::clone(field),
    });
    let plain = Schema::new_with_metadata(plain.collect::<Vec<_>>(), schema.metadata().clone());
    let options = ArrowReaderOptions::new().with_schema(Arc::new(plain));
    ArrowReaderMetadata::try_new(Arc::clone(metadata.metadata()), options)
}

impl BatchReader for ParquetFile {
    fn next_batch(&mut self) -> Result<Option<Box<dyn Batch>>, CaptureError> {
        let Some(mut reader) = self.reader.take() else {
            return Ok(None);
        };
        match guarded(|| reader.next().transpose().map_err(|error| error.to_string())) {
            Ok(Some(batch)) => {
                self.reader = Some(reader);
                Ok(Some(Box::new(self.hand_out(batch))))
            }
            Ok(None) if self.rows_done == self.rows => Ok(None),
            Ok(None) => {
                Err(self.unreadable(format!("{} of {} rows are there", self.rows_done, self.rows)))
            }
            Err(problem) => Err(self.unreadable(problem)),
        }
    }
}

impl ParquetFile {
    fn hand_out(&mut self, batch: RecordBatch) -> Rows {
        let (bytes_before, rows_before) = (self.bytes_before(), self.rows_done);
        self.rows_done += batch.num_rows() as u64;
        let stored_bytes = self.bytes_before() - bytes_before;
        Rows { batch, places: self.places, rows_before, stored_bytes }
    }

    /// The file's bytes, as if each row that was handed out had an equal share.
    fn bytes_before(&self) -> u64 {
        let share = u128::from(self.stored_bytes) * u128::from(self.rows_done);
        (share / u128::from(self.rows.max(1))) as u64
    }

    fn unreadable(&self, problem: String) -> CaptureError {
        let source = io::Error::new(ErrorKind::InvalidData, problem);
        CaptureError::Unreadable { name: self.name.clone(), source }
    }
}
