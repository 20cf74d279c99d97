//! Parquet files: a row is an answer. Built with the feature `parquet`.
//!
//! Columns are found by name ([`ParquetColumns`] says by which): a URL or a host, the status, the body
//! and, if there is one, the time. Texts may be stored as text or bytes, in any of Arrow's layouts; a
//! status as any number; a time as any timestamp, or as text. There is no column for header fields, so
//! nothing says how long a copy serves or where a redirect leads.
//!
//! A row without a URL or host is broken and reported with its number, and so is one whose status or
//! time makes no sense. A status of `null` or 0 is
//! [`Answer::NoAnswer`](portcullis_capture::access::Answer::NoAnswer), a 2xx answer with a `null` body
//! [`Answer::BrokenBody`](portcullis_capture::access::Answer::BrokenBody), unless its status is 204 or
//! 205.
//!
//! Cost: other columns are not read. Decompression (Snappy, gzip, zstd) and decoding happen in order,
//! in [`BatchReader::next_batch`]; memory holds [`PARQUET_BATCH_ROWS`] rows and their pages.
//!
//! A file that is encrypted, compressed otherwise or damaged is an error, after the batches before the
//! damage. Damage to bytes without a checksum can go unnoticed; a writer may leave out the checksums of
//! pages.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use arrow_array::RecordBatch;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
    ParquetRecordBatchReaderBuilder,
};
use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaData;

use portcullis_dialect::limits::PARQUET_BATCH_ROWS;

use super::body::{settle, status_of};
use super::parquet_columns::{Bytes, Places, Times, numbers};
use super::{
    Batch, BatchReader, BrokenRecord, Capture, CaptureError, CaptureSink, ParquetColumns,
    ReadConfig, Subject,
};

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
        Ok((reader, places, rows)) => {
            let reader = Some(reader);
            Ok(ParquetFile { name, reader, places, stored_bytes, rows, rows_done: 0 })
        }
        Err(problem) => Err(CaptureError::NotThisFormat { name, problem }),
    }
}

/// Reads the metadata, chooses the columns and counts the rows. The error says what is wrong.
fn start(
    file: File,
    columns: &ParquetColumns,
) -> Result<(ParquetRecordBatchReader, Places, u64), String> {
    let no_parquet = |error: ParquetError| format!("cannot be read as Parquet: {error}");
    let metadata =
        ArrowReaderMetadata::load(&file, ArrowReaderOptions::new()).map_err(no_parquet)?;
    let rows =
        rows_of(metadata.metadata()).ok_or("its metadata contradicts itself; fetch it again")?;
    let places = Places::find(metadata.schema(), columns)?;
    // Without the writer's Arrow types, every text comes in one of two layouts.
    let plain = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let metadata =
        ArrowReaderMetadata::try_new(Arc::clone(metadata.metadata()), plain).map_err(no_parquet)?;
    if !places.are_readable(metadata.schema()) {
        return Err("its schema contradicts itself; fetch it again".to_owned());
    }
    let mask = ProjectionMask::roots(metadata.parquet_schema(), places.of_file());
    let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata)
        .with_projection(mask)
        .with_batch_size(PARQUET_BATCH_ROWS)
        .build()
        .map_err(no_parquet)?;
    Ok((reader, places.within_projection(), rows))
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

/// Runs `read`, and reports a panic in it as a problem: the parquet crate asserts what a damaged file
/// may break, and one file must not end a run over many.
fn guarded<T>(read: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    // What a panic has left half done is never used again.
    catch_unwind(AssertUnwindSafe(read))
        .unwrap_or_else(|_| Err("its data contradicts itself; fetch it again".to_owned()))
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

/// Some rows, decoded.
struct Rows {
    batch: RecordBatch,
    places: Places,
    rows_before: u64,
    stored_bytes: u64,
}

impl Batch for Rows {
    /// A share of the file as large as that of the rows.
    fn stored_bytes(&self) -> u64 {
        self.stored_bytes
    }

    fn read(&self, config: &ReadConfig, sink: &mut dyn CaptureSink) {
        let columns = self.columns().expect("the columns are readable");
        for row in 0..self.batch.num_rows() {
            match columns.capture(row, config) {
                Ok(capture) => sink.capture(capture),
                Err(problem) => {
                    let number = self.rows_before + row as u64 + 1;
                    sink.broken(BrokenRecord::senseless(format!("row {number}"), problem));
                }
            }
        }
    }
}

impl Rows {
    fn columns(&self) -> Option<Columns<'_>> {
        let Places { subject, of_hosts, status, body, fetched_at, times_per_second } = self.places;
        let column = |place: usize| self.batch.column(place).as_ref();
        Some(Columns {
            of_hosts,
            subjects: Bytes::of(column(subject))?,
            statuses: numbers(column(status))?,
            bodies: Bytes::of(column(body))?,
            times: match fetched_at {
                Some(place) => Times::of(column(place), times_per_second)?,
                None => Times::Missing,
            },
        })
    }
}

/// The columns of some rows.
struct Columns<'a> {
    of_hosts: bool,
    subjects: Bytes<'a>,
    statuses: Vec<f64>,
    bodies: Bytes<'a>,
    times: Times<'a>,
}

impl<'a> Columns<'a> {
    /// The capture in a row. The error says what is wrong with it.
    fn capture(&self, row: usize, config: &ReadConfig) -> Result<Capture<'a>, String> {
        let subject = match (self.subjects.get(row), self.of_hosts) {
            (Some(url), false) => Subject::Url(url),
            (Some(host), true) => Subject::Host(host),
            (None, false) => return Err("its URL is null".to_owned()),
            (None, true) => return Err("its host is null".to_owned()),
        };
        let captured_at = self.times.get(row)?;
        let status = status_of(self.statuses[row])?;
        let body = self.bodies.get(row).map(Cow::Borrowed);
        Ok(Capture::new(subject, captured_at, settle(status, body, true, config)))
    }
}
