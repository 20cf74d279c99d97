//! Reads Parquet files, in which each row is an answer.
//!
//! Columns are found by name (see [`FieldMap`]): a URL or a host and the body are required; the
//! status, the time, an error and whether the body was cut are optional. Text may be stored as text
//! or bytes, in any of Arrow's layouts; a status as any number; a time as any timestamp, or as
//! text. Header fields are not read, so the lifetime of a copy and the target of a redirect are not
//! known.
//!
//! A row without a URL or host, or with an invalid status or time, is broken and reported with its
//! number. A status of `null` or 0 is [`Answer::NoAnswer`](portcullis_dialect::Answer::NoAnswer). A 2xx
//! answer with a `null` body is [`Answer::BrokenBody`](portcullis_dialect::Answer::BrokenBody), unless
//! its status is 204 or 205. Without a column for the status, it is assumed to be 200 for rows with
//! a body.
//!
//! Cost: other columns are not read. Decompression (Snappy, gzip, zstd) and decoding happen in
//! order, in [`BatchReader::next_batch`]; memory holds [`PARQUET_BATCH_ROWS`] rows and their pages.
//!
//! A file that is encrypted, compressed in another way or damaged is an error. The batches before
//! the damage are returned first. Damage to bytes without a checksum can go unnoticed, and a writer
//! may omit the checksums of pages.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::Arc;

use arrow_array::RecordBatch;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
    ParquetRecordBatchReaderBuilder,
};
use parquet::file::metadata::PageIndexPolicy;
use parquet::file::reader::Length;

use portcullis_dialect::limits::PARQUET_BATCH_ROWS;

use super::parquet_columns::Places;
use super::parquet_file::{
    OpenFailure, ParquetSource, StoredFile, guarded, no_parquet, supported_compression,
};
use super::{
    Batch, BatchReader, BrokenRecord, Capture, CaptureError, CaptureSink, FieldMap, ReadConfig,
};

/// A reader that cuts a Parquet file into batches of rows. Made by [`open`].
pub struct ParquetFile {
    name: String,
    /// `None` after the first error.
    reader: Option<ParquetRecordBatchReader>,
    schema: Arc<(Places, FieldMap)>,
    stored_bytes: u64,
    rows: u64,
    rows_done: u64,
}

/// Opens the Parquet file at `path`.
///
/// # Errors
///
/// [`CaptureError::Unreadable`] if the system cannot read it; [`CaptureError::NotThisFormat`] if it
/// is not a Parquet file, or a column is missing or has the wrong type.
pub fn open(path: &Path, fields: &FieldMap) -> Result<ParquetFile, CaptureError> {
    let name = || path.display().to_string();
    let file = File::open(path);
    let file = file.map_err(|source| CaptureError::Unreadable { name: name(), source })?;
    let source = match ParquetSource::open(&name(), file, PageIndexPolicy::Skip) {
        Ok(source) => source,
        Err(OpenFailure::System(source)) => {
            return Err(CaptureError::Unreadable { name: name(), source });
        }
        Err(OpenFailure::Problem(problem)) => {
            return Err(CaptureError::NotThisFormat { name: name(), problem });
        }
    };
    match guarded(|| start(&source, fields)) {
        Ok((reader, places)) => {
            let (reader, stored_bytes) = (Some(reader), source.file.len());
            Ok(ParquetFile {
                name: source.name,
                reader,
                schema: Arc::new((places, fields.clone())),
                stored_bytes,
                rows: source.rows,
                rows_done: 0,
            })
        }
        Err(problem) => Err(CaptureError::NotThisFormat { name: name(), problem }),
    }
}

/// Chooses the columns and starts reading. The error says what is wrong.
fn start(
    source: &ParquetSource,
    fields: &FieldMap,
) -> Result<(ParquetRecordBatchReader, Places), String> {
    let load = |options| {
        ArrowReaderMetadata::try_new(Arc::clone(&source.metadata), options)
            .map_err(|error| no_parquet(&error))
    };
    let places = Places::find(load(ArrowReaderOptions::new())?.schema(), fields)?;
    // Without the writer's Arrow types, all text has one of two layouts.
    let metadata = load(ArrowReaderOptions::new().with_skip_arrow_metadata(true))?;
    if !places.are_readable(metadata.schema()) {
        return Err("its schema contradicts itself; fetch it again".to_owned());
    }
    let schema = metadata.parquet_schema();
    let leaves = places.of_file(schema);
    for (number, group) in (1..).zip(source.metadata.row_groups()) {
        for &leaf in &leaves {
            let chunk = group.column(leaf);
            supported_compression(chunk).map_err(|problem| {
                format!("row group {number}, column {}: {problem}", chunk.column_path().string())
            })?;
        }
    }
    let mask = ProjectionMask::leaves(schema, leaves);
    let file = StoredFile::clone(&source.file);
    let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata)
        .with_projection(mask)
        .with_batch_size(PARQUET_BATCH_ROWS)
        .build()
        .map_err(|error| no_parquet(&error))?;
    Ok((reader, places))
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
        Rows { batch, schema: Arc::clone(&self.schema), rows_before, stored_bytes }
    }

    /// Returns the file's bytes for the rows returned so far, estimated as an equal share for each
    /// row.
    fn bytes_before(&self) -> u64 {
        let share = u128::from(self.stored_bytes) * u128::from(self.rows_done);
        (share / u128::from(self.rows.max(1))) as u64
    }

    fn unreadable(&self, problem: String) -> CaptureError {
        let source = io::Error::new(ErrorKind::InvalidData, problem);
        CaptureError::Unreadable { name: self.name.clone(), source }
    }
}

/// A batch of decoded rows.
struct Rows {
    batch: RecordBatch,
    schema: Arc<(Places, FieldMap)>,
    rows_before: u64,
    stored_bytes: u64,
}

impl Batch for Rows {
    /// Returns the share of the file that the rows have.
    fn stored_bytes(&self) -> u64 {
        self.stored_bytes
    }

    fn read(&self, config: &ReadConfig, sink: &mut dyn CaptureSink) {
        let (places, fields) = &*self.schema;
        let columns = places.columns(&self.batch).expect("the columns are readable");
        for row in 0..self.batch.num_rows() {
            match columns.record(row).capture(fields, config) {
                Ok((subject, capture)) => {
                    sink.capture(Capture { subject: subject.get(), ..capture });
                }
                Err(problem) => {
                    let number = self.rows_before + row as u64 + 1;
                    sink.broken(BrokenRecord::senseless(format!("row {number}"), problem));
                }
            }
        }
    }
}
