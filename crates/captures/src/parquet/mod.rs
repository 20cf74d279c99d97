//! Reads Parquet files, in which each row is an answer.
//!
//! Columns are found by name (see [`FieldMap`]): a URL or a host and the body are required; the
//! status, the time, an error and whether the body was cut are optional. Text may be stored as text
//! or bytes, in any of Arrow's layouts; a status as any number; a time as any timestamp, a
//! day, or text. Header fields are not read, so the lifetime of a copy and the target of a redirect are not
//! known.
//!
//! A row without a URL or host, or with an invalid status or time, is broken and reported with its
//! number. A status of `null` or 0 is [`Answer::NoAnswer`](portcullis_dialect::Answer::NoAnswer). A 2xx
//! answer with a `null` body is [`Answer::BrokenBody`](portcullis_dialect::Answer::BrokenBody), unless
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
use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{DataType, FieldRef, Fields, Schema};
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
};
use parquet::arrow::{
    FieldLevels, ProjectionMask, parquet_to_arrow_field_levels, parquet_to_arrow_schema,
};
use parquet::basic::Type as PhysicalType;
use parquet::errors::ParquetError;
use parquet::file::metadata::PageIndexPolicy;
use parquet::file::reader::Length;
use parquet::schema::types::{SchemaDescriptor, Type, TypePtr};

use crate::limits::PARQUET_BATCH_ROWS;
use crate::{
    Batch, BatchReader, BrokenRecord, Capture, CaptureError, CaptureSink, FieldMap, ReadConfig,
};
use columns::Places;
use file::{OpenFailure, ParquetSource, guarded, no_parquet, supported_compression, text_of};
use group::GroupColumns;

/// A reader that cuts a Parquet file into batches of rows. Made by [`open`].
pub struct ParquetFile {
    source: ParquetSource,
    /// The positions of the columns that are read, and how they are decoded.
    leaves: Vec<usize>,
    levels: FieldLevels,
    schema: Arc<(Places, FieldMap)>,
    /// The next row group.
    row_group: usize,
    /// The rows of the row group before it; `None` if they were all read.
    reader: Option<ParquetRecordBatchReader>,
    rows_done: u64,
    /// Whether there was an error, after which nothing is read.
    has_failed: bool,
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
    let (places, leaves, levels) = guarded(|| start(&source, fields))
        .map_err(|problem| CaptureError::NotThisFormat { name: name(), problem })?;
    Ok(ParquetFile {
        source,
        leaves,
        levels,
        schema: Arc::new((places, fields.clone())),
        row_group: 0,
        reader: None,
        rows_done: 0,
        has_failed: false,
    })
}

/// Chooses the columns. The error says what is wrong.
fn start(
    source: &ParquetSource,
    fields: &FieldMap,
) -> Result<(Places, Vec<usize>, FieldLevels), String> {
    let written =
        ArrowReaderMetadata::try_new(Arc::clone(&source.metadata), ArrowReaderOptions::new());
    let written = written.map_err(|error| no_parquet(&error))?;
    let places = Places::find(written.schema(), fields)?;
    let file_schema = source.metadata.file_metadata().schema_descr();
    let leaves = places.of_file(file_schema);
    for (number, group) in (1..).zip(source.metadata.row_groups()) {
        for &leaf in &leaves {
            let chunk = group.column(leaf);
            supported_compression(chunk).map_err(|problem| {
                format!("row group {number}, column {}: {problem}", chunk.column_path().string())
            })?;
        }
    }
    let (levels, read) = levels(file_schema, &leaves).map_err(|error| no_parquet(&error))?;
    if !places.are_readable(&read) {
        return Err("its schema contradicts itself; fetch it again".to_owned());
    }
    Ok((places, leaves, levels))
}

/// Returns how the columns at `leaves` are decoded, and the schema of that. Bytes are not copied, and
/// text is bytes too: one body that is not UTF-8 must not keep the other rows from being read.
fn levels(
    schema: &SchemaDescriptor,
    leaves: &[usize],
) -> Result<(FieldLevels, Schema), ParquetError> {
    let plain = SchemaDescriptor::new(without_text(schema.root_schema())?);
    let types = parquet_to_arrow_schema(&plain, None)?;
    let hint: Fields = types.fields().iter().map(with_views).collect();
    let mask = ProjectionMask::leaves(&plain, leaves.iter().copied());
    let levels = parquet_to_arrow_field_levels(&plain, mask, Some(&hint))?;
    Ok((levels, Schema::new(hint)))
}

/// Returns a type in which byte arrays have no meaning, such as text.
fn without_text(column: &Type) -> Result<TypePtr, ParquetError> {
    let (name, info) = (column.name(), column.get_basic_info());
    if column.is_group() {
        let fields = column.get_fields().iter().map(|field| without_text(field));
        let group = Type::group_type_builder(name)
            .with_fields(fields.collect::<Result<_, _>>()?)
            .with_converted_type(info.converted_type())
            .with_logical_type(info.logical_type_ref().cloned());
        let group = match info.has_repetition() {
            true => group.with_repetition(info.repetition()),
            false => group,
        };
        return group.build().map(Arc::new);
    }
    if column.get_physical_type() != PhysicalType::BYTE_ARRAY {
        return Ok(Arc::new(column.clone()));
    }
    let bytes = Type::primitive_type_builder(name, PhysicalType::BYTE_ARRAY);
    bytes.with_repetition(info.repetition()).build().map(Arc::new)
}

/// Returns a field in which bytes are views, also within structures.
fn with_views(field: &FieldRef) -> FieldRef {
    let data_type = match field.data_type() {
        DataType::Binary => DataType::BinaryView,
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(with_views).collect()),
        _ => return Arc::clone(field),
    };
    Arc::new(field.as_ref().clone().with_data_type(data_type))
}

impl BatchReader for ParquetFile {
    fn next_batch(&mut self) -> Result<Option<Box<dyn Batch>>, CaptureError> {
        if self.has_failed {
            return Ok(None);
        }
        let next = self.next_rows();
        self.has_failed = next.is_err();
        let rows = next.map_err(|problem| {
            let source = io::Error::new(ErrorKind::InvalidData, problem);
            CaptureError::Unreadable { name: self.source.name.clone(), source }
        })?;
        Ok(rows.map(|batch| Box::new(self.hand_out(batch)) as Box<dyn Batch>))
    }
}

impl ParquetFile {
    /// Returns the next rows, or `None` after the last. The error says what is wrong.
    fn next_rows(&mut self) -> Result<Option<RecordBatch>, String> {
        loop {
            if let Some(mut reader) = self.reader.take() {
                let read = || reader.next().transpose().map_err(|error| error.to_string());
                if let Some(batch) = guarded(read)? {
                    self.reader = Some(reader);
                    return Ok(Some(batch));
                }
            }
            if self.row_group == self.source.metadata.num_row_groups() {
                let (done, rows) = (self.rows_done, self.source.rows);
                return match done == rows {
                    true => Ok(None),
                    false => Err(format!("{done} of {rows} rows are there")),
                };
            }
            self.reader = Some(self.open_group(self.row_group)?);
            self.row_group += 1;
        }
    }

    /// Opens a row group, after checking the sizes of its pages.
    fn open_group(&self, row_group: usize) -> Result<ParquetRecordBatchReader, String> {
        let mut batch_rows = PARQUET_BATCH_ROWS;
        for &leaf in &self.leaves {
            let sizes = self.source.sizes(row_group, leaf).map_err(|problem| {
                let chunk = self.source.metadata.row_group(row_group).column(leaf);
                let (number, column) = (row_group + 1, chunk.column_path().string());
                format!("row group {number}, column {column}: {problem}")
            })?;
            batch_rows = sizes.rows_at_once(batch_rows);
        }
        let columns = self.source.metadata.file_metadata().schema_descr().num_columns();
        let columns = (0..columns).map(|column| self.leaves.contains(&column).then_some(column));
        let start = || {
            let columns = GroupColumns::new(&self.source, row_group, columns)?;
            ParquetRecordBatchReader::try_new_with_row_groups(
                &self.levels,
                &columns,
                batch_rows,
                None,
            )
        };
        guarded(|| start().map_err(|error| text_of(&error)))
    }

    fn hand_out(&mut self, batch: RecordBatch) -> Rows {
        let (bytes_before, rows_before) = (self.bytes_before(), self.rows_done);
        self.rows_done += batch.num_rows() as u64;
        let stored_bytes = self.bytes_before() - bytes_before;
        Rows { batch, schema: Arc::clone(&self.schema), rows_before, stored_bytes }
    }

    /// Returns the file's bytes for the rows returned so far, estimated as an equal share for each
    /// row.
    fn bytes_before(&self) -> u64 {
        let share = u128::from(self.source.file.len()) * u128::from(self.rows_done);
        (share / u128::from(self.source.rows.max(1))) as u64
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
