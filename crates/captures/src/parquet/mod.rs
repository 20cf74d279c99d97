//! Reads Parquet files, in which each row is an answer.
//!
//! Columns are found by name (see [`FieldMap`]): a URL or a host and the body are required; the
//! status, the time, an error and whether the body was cut are optional. Text may be stored as text
//! or bytes, in any of Arrow's layouts; a status as any number; a time as any timestamp, a
//! day, or text. A column of Arrow's type for nulls has none. Header fields are not read, so the lifetime of a
//! copy and the target of a redirect are not known.
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
mod footer;
pub mod group;
pub mod pages;

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{Array, BinaryViewArray, RecordBatch};
use arrow_schema::DataType;
use bumpalo::Bump;
use parquet::file::metadata::PageIndexPolicy;
use parquet::file::reader::Length;

use crate::capture::{Batch, BatchReader, CaptureSink, ReadConfig};
use crate::json_path::of_text;
use crate::limits::PARQUET_BATCH_ROWS;
use crate::record::{Head, Record};
use crate::schema::{CaptureField, FieldMap};
use columns::{
    Columns, GroupRows, Leaf, Objects, Projection, Values, holds_bytes, holds_numbers, holds_times,
    is_flag,
};
use file::{ParquetSource, guarded, supported_compression};
use portcullis_files::input::InputError;

/// The columns to read, and the fields that they hold.
struct Schema {
    /// The columns of values, each with the rank of its name.
    columns: Vec<(CaptureField, usize, Leaf)>,
    /// The columns of objects with other values.
    objects: Vec<Objects>,
    fields: FieldMap,
}

/// Opens the Parquet file at `path`. Returns a reader that cuts it into batches of rows.
///
/// # Errors
///
/// [`InputError::Open`] if the system cannot read it; [`InputError::List`] if it is not a Parquet file, or a
/// column is missing or has the wrong type.
pub fn open(path: &Path, fields: &FieldMap) -> Result<impl BatchReader + use<>, InputError> {
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
    let (schema, mut row_groups) = (Arc::new(schema), 0..source.metadata.num_row_groups());
    let (mut rows, mut rows_done): (Option<GroupRows>, _) = (None, 0);
    Ok(move || {
        let batch = loop {
            if let Some(batch) = rows.as_mut().and_then(Iterator::next) {
                break batch.map_err(|problem| source.problem(problem))?;
            }
            let Some(row_group) = row_groups.next() else { return Ok(None) };
            rows = Some(open_group(&source, &columns, row_group)?);
        };
        let (schema, rows_before) = (Arc::clone(&schema), rows_done);
        rows_done += batch.num_rows() as u64;
        let stored_bytes = source.share(rows_done) - source.share(rows_before);
        let batch = Batch::new(stored_bytes, move |config, sink| {
            schema.read(&batch, rows_before, config, sink);
        });
        Ok(Some(batch.of_table()))
    })
}

/// Opens a row group, after checking the sizes of its pages.
fn open_group(
    source: &ParquetSource,
    columns: &Projection,
    row_group: usize,
) -> Result<GroupRows, InputError> {
    let mut batch_rows = PARQUET_BATCH_ROWS;
    for &leaf in &columns.places {
        batch_rows = source.page_headers(row_group, leaf)?.rows_at_once(batch_rows);
    }
    let rows = source.metadata.row_group(row_group).num_rows() as usize;
    let rows = columns.read(source, row_group, batch_rows, 0..rows);
    rows.map_err(|problem| source.problem(problem))
}

impl ParquetSource {
    /// Returns the file's bytes for its first rows, estimated as an equal share for each row.
    fn share(&self, rows: u64) -> u64 {
        let share = u128::from(self.file.len()) * u128::from(rows);
        (share / u128::from(self.rows.max(1))) as u64
    }
}

/// Chooses the columns. The error says what is wrong.
fn start(source: &ParquetSource, fields: &FieldMap) -> Result<(Schema, Projection), String> {
    let file = Columns::of(source)?;
    let columns = fields.columns(&source.leaf_names(), |field, path| {
        Ok(file.find(path)?.map(|leaf| check(field, &leaf, fields).map(|()| leaf)))
    })?;
    let read = Projection::new(source, columns.iter().map(|(_, _, leaf)| leaf))?;
    let (members, columns): (Vec<_>, Vec<_>) =
        columns.into_iter().partition(|(_, _, leaf)| leaf.inside.is_some());
    columns.iter().for_each(|(field, ..)| fields.note_found(*field));
    let members: Vec<(usize, &Leaf)> =
        members.iter().map(|(field, _, leaf)| (*field as usize, leaf)).collect();
    let objects = Objects::of(&members, &[])?;
    Ok((Schema { columns, objects, fields: fields.clone() }, read))
}

/// Checks that a column can hold a field. The error says what is wrong.
fn check(field: CaptureField, leaf: &Leaf, fields: &FieldMap) -> Result<(), String> {
    let is_time = leaf.unit.is_some() || fields.unit.is_some();
    let (fits, types): (fn(&DataType) -> bool, _) = match field {
        CaptureField::Status => (|it| holds_numbers(it) || holds_bytes(it), "numbers or text"),
        CaptureField::FetchedAt if is_time => (|it| holds_numbers(it) || holds_times(it), "times"),
        CaptureField::FetchedAt => {
            (holds_times, "timestamps, dates or text, or numbers with ‹time_unit›")
        }
        CaptureField::Error | CaptureField::Truncated => (is_flag, "booleans, numbers or text"),
        _ => (holds_bytes, "text or bytes"),
    };
    // Programs write columns without values in this type.
    if leaf.data_type == DataType::Null {
        return Ok(());
    }
    let field = field.as_str();
    let fix = format!("name another with ‹fields› {field}=COLUMN, or none with ‹fields› {field}=");
    leaf.check(fits, field, types, &fix)
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
        let Schema { columns, objects, fields } = self;
        let values = |(field, rank, leaf): &(CaptureField, usize, Leaf)| {
            let is_time = *field == CaptureField::FetchedAt;
            let unit = leaf.unit.or(fields.unit).filter(|_| is_time);
            (*field, *rank, leaf.values(batch, unit).expect("it is readable"))
        };
        let columns: Vec<(_, _, Values)> = columns.iter().map(values).collect();
        let texts = |it: &Objects| it.texts(batch).expect("it is readable");
        let texts: Vec<BinaryViewArray> = objects.iter().map(texts).collect();
        for row in 0..batch.num_rows() {
            let arena = Bump::new();
            let mut record = Record::default();
            for (field, rank, values) in &columns {
                record.set(*field, *rank, values.at(row));
            }
            let objects = objects.iter().zip(&texts);
            read_members(objects, row, &arena, &mut record, fields);
            let capture = record.capture(&Head::default(), fields, config);
            sink(capture.map_err(|problem| {
                let number = rows_before + row as u64 + 1;
                problem.of(format!("row {number}"))
            }));
        }
    }
}

/// Reads the members of objects into `record`.
fn read_members<'r>(
    objects: impl Iterator<Item = (&'r Objects, &'r BinaryViewArray)>,
    row: usize,
    arena: &'r Bump,
    record: &mut Record<'r>,
    fields: &FieldMap,
) {
    for (objects, texts) in objects {
        if texts.is_null(row) {
            objects.members.read_null(&mut record.values);
            continue;
        }
        let read = objects.members.read_text(texts.value(row), arena, &mut record.values, None);
        read.unwrap_or_else(|error| record.fail(of_text(&error)));
    }
    record.note_found(fields);
    record.check().unwrap_or_else(|problem| record.fail(problem));
}
