//! Parquet files: a row is an answer. Built with the feature `parquet`.
//!
//! Columns are found by name ([`FieldMap`] says by which): a URL or a host, the body and, if there are
//! such columns, the status, the time, an error and whether the body was cut. Text may be stored as text
//! or bytes, in any of Arrow's layouts; a status as any number; a time as any timestamp, or as text.
//! Header fields are not read, so nothing says how long a copy serves or where a redirect leads.
//!
//! A row without a URL or host is broken and reported with its number, and so is one whose status or
//! time makes no sense. A status of `null` or 0 is
//! [`Answer::NoAnswer`](crate::access::Answer::NoAnswer), a 2xx answer with a `null` body
//! [`Answer::BrokenBody`](crate::access::Answer::BrokenBody), unless its status is 204 or
//! 205. Without a column for it, the status is assumed to be 200 where there is a body.
//!
//! Cost: other columns are not read. Decompression (Snappy, gzip, zstd) and decoding happen in order,
//! in [`BatchReader::next_batch`]; memory holds [`PARQUET_BATCH_ROWS`] rows and their pages.
//!
//! A file that is encrypted, compressed otherwise or damaged is an error, after the batches before the
//! damage. Damage to bytes without a checksum can go unnoticed; a writer may leave out the checksums of
//! pages.

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
use super::parquet_file::{OpenFailure, ParquetSource, StoredFile, guarded, no_parquet};
use super::{
    Batch, BatchReader, BrokenRecord, Capture, CaptureError, CaptureSink, FieldMap, ReadConfig,
};

/// Cuts a Parquet file into batches of rows; [`open`] makes it.
pub struct ParquetFile {
    name: String,
    /// Gone after the first error.
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
/// [`CaptureError::Unreadable`] if the system does not give it; [`CaptureError::NotThisFormat`] if
/// it is no Parquet file, or a column is missing or holds what it should not.
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

/// Chooses the columns and starts to read. The error says what is wrong.
fn start(
    source: &ParquetSource,
    fields: &FieldMap,
) -> Result<(ParquetRecordBatchReader, Places), String> {
    let load = |options| {
        ArrowReaderMetadata::try_new(Arc::clone(&source.metadata), options)
            .map_err(|error| no_parquet(&error))
    };
    let places = Places::find(load(ArrowReaderOptions::new())?.schema(), fields)?;
    // Without the writer's Arrow types, every text comes in one of two layouts.
    let metadata = load(ArrowReaderOptions::new().with_skip_arrow_metadata(true))?;
    if !places.are_readable(metadata.schema()) {
        return Err("its schema contradicts itself; fetch it again".to_owned());
    }
    let schema = metadata.parquet_schema();
    let mask = ProjectionMask::leaves(schema, places.of_file(schema));
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
    schema: Arc<(Places, FieldMap)>,
    rows_before: u64,
    stored_bytes: u64,
}

impl Batch for Rows {
    /// A share of the file as large as that of the rows.
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
