//! Copies selected rows of a row group. Every column is read and written in Parquet's own types.
//!
//! A column is a sequence of values and levels, and a row begins where the repetition level is 0.
//! So a row is copied without interpreting its columns. Statistics, page indexes and Bloom filters
//! are rebuilt.

use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::{Encoding, Type as PhysicalType};
use parquet::column::page::PageReader;
use parquet::column::reader::{ColumnReaderImpl, get_column_reader, get_typed_column_reader};
use parquet::column::writer::{
    ColumnCloseResult, ColumnWriterImpl, get_column_writer, get_typed_column_writer,
};
use parquet::data_type::{
    BoolType, ByteArrayType, DataType, DoubleType, FixedLenByteArrayType, FloatType, Int32Type,
    Int64Type, Int96Type,
};
use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::properties::{WriterPropertiesBuilder, WriterVersion};
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;

use crate::input::InputError;
use crate::list::parquet::PartOfRows;
use portcullis_captures::limits::PARQUET_BATCH_ROWS;

use super::{EncodedColumn, EncodedGroup, properties, version_of};

/// Copies the rows of a row group to several outputs. `outputs` has the number of the output of
/// each row, counted from 1, or 0 for a row that is dropped.
///
/// # Errors
///
/// If a column is damaged, or this build does not support its compression.
///
/// # Panics
///
/// If `outputs` does not have one number per row.
pub fn keep<E: From<InputError> + From<ParquetError>>(
    part: &PartOfRows,
    outputs: &[u8],
    count: u8,
) -> Result<Vec<EncodedGroup>, E> {
    assert_eq!(outputs.len(), part.rows, "one output per row");
    (1..=count).map(|output| one_output(part, outputs, output)).collect()
}

fn one_output<E: From<InputError> + From<ParquetError>>(
    part: &PartOfRows,
    outputs: &[u8],
    output: u8,
) -> Result<EncodedGroup, E> {
    let is_kept: Vec<bool> = outputs.iter().map(|it| *it == output).collect();
    let kept = is_kept.iter().filter(|it| **it).count();
    if kept == 0 {
        return Ok(EncodedGroup::default());
    }
    let source = &part.list.source;
    source.check_copy()?;
    if kept == outputs.len() {
        return Ok(EncodedGroup::of_part(part)?);
    }
    let chunks = source.metadata.row_group(part.row_group).columns();
    let version = version_of(&part.list);
    let copy = |(place, chunk): (usize, &ColumnChunkMetaData)| -> Result<EncodedColumn, E> {
        let pages = source.page_headers(part.row_group, place)?;
        let rows = KeptRows { is_kept: &is_kept, at_once: pages.rows_at_once(PARQUET_BATCH_ROWS) };
        Ok(part.read_column(place, |pages| {
            let properties = as_before(chunk, version, kept);
            copy_column(&chunk.column_descr_ptr(), pages, properties, rows)
        })?)
    };
    let columns = chunks.iter().enumerate().map(copy).collect::<Result<_, E>>()?;
    Ok(EncodedGroup { columns, ..EncodedGroup::default() })
}

/// The rows of a row group, and how many are copied at once.
#[derive(Clone, Copy)]
struct KeptRows<'r> {
    is_kept: &'r [bool],
    at_once: usize,
}

/// Returns writer properties with the encoding and compression of `chunk`.
///
/// The encoding of values outside the dictionary is always set. The default in version 2 of the
/// format is DELTA_BYTE_ARRAY, which some readers cannot turn into a dictionary of Arrow.
fn as_before(
    chunk: &ColumnChunkMetaData,
    version: WriterVersion,
    rows: usize,
) -> WriterPropertiesBuilder {
    let of_pages = chunk.page_encoding_stats_mask();
    let encodings: Vec<Encoding> = match of_pages {
        Some(encodings) => encodings.encodings().collect(),
        // Those of levels and of the dictionary too.
        None => chunk.encodings().collect(),
    };
    let is_dictionary =
        |it: &Encoding| matches!(it, Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY);
    let has_dictionary =
        chunk.dictionary_page_offset().is_some() || encodings.iter().any(is_dictionary);
    let has_bloom_filter = chunk.bloom_filter_offset().is_some();
    let mut properties = properties(version, chunk.compression())
        .set_dictionary_enabled(has_dictionary)
        .set_encoding(encoding_of_values(chunk.column_type(), &encodings))
        .set_bloom_filter_enabled(has_bloom_filter);
    if of_pages.is_some() && encodings.iter().all(is_dictionary) {
        // The dictionary of some rows is not longer than the one of all.
        properties = properties.set_dictionary_page_size_limit(usize::MAX);
    }
    if has_bloom_filter {
        properties = properties.set_bloom_filter_max_ndv(rows as u64);
    }
    properties
}

/// Returns the encoding of values that are not in a dictionary. Levels are encoded with RLE, and of
/// the values only Booleans.
fn encoding_of_values(values: PhysicalType, encodings: &[Encoding]) -> Encoding {
    let special = [
        Encoding::DELTA_BINARY_PACKED,
        Encoding::DELTA_LENGTH_BYTE_ARRAY,
        Encoding::DELTA_BYTE_ARRAY,
        Encoding::BYTE_STREAM_SPLIT,
    ];
    match special.into_iter().find(|encoding| encodings.contains(encoding)) {
        Some(encoding) => encoding,
        None if values == PhysicalType::BOOLEAN && !encodings.contains(&Encoding::PLAIN) => {
            Encoding::RLE
        }
        None => Encoding::PLAIN,
    }
}

fn copy_column(
    column: &ColumnDescPtr,
    pages: Box<dyn PageReader>,
    properties: WriterPropertiesBuilder,
    rows: KeptRows<'_>,
) -> Result<EncodedColumn, ParquetError> {
    let mut sink = TrackedWrite::new(Vec::new());
    let written = Box::new(SerializedPageWriter::new(&mut sink));
    let writer = get_column_writer(Arc::clone(column), Arc::new(properties.build()), written);
    macro_rules! copy {
        ($type:ty) => {
            copy_values::<$type>(
                get_typed_column_reader(get_column_reader(column.clone(), pages)),
                get_typed_column_writer(writer),
                rows,
            )
        };
    }
    let close = match column.physical_type() {
        PhysicalType::BOOLEAN => copy!(BoolType),
        PhysicalType::INT32 => copy!(Int32Type),
        PhysicalType::INT64 => copy!(Int64Type),
        PhysicalType::INT96 => copy!(Int96Type),
        PhysicalType::FLOAT => copy!(FloatType),
        PhysicalType::DOUBLE => copy!(DoubleType),
        PhysicalType::BYTE_ARRAY => copy!(ByteArrayType),
        PhysicalType::FIXED_LEN_BYTE_ARRAY => copy!(FixedLenByteArrayType),
    };
    Ok(EncodedColumn { close: close?, bytes: Bytes::from(sink.into_inner()?) })
}

/// Copies the values of a column, one batch of rows at a time.
fn copy_values<T: DataType>(
    mut reader: ColumnReaderImpl<T>,
    mut writer: ColumnWriterImpl<'_, T>,
    KeptRows { is_kept, at_once }: KeptRows<'_>,
) -> Result<ColumnCloseResult, ParquetError> {
    let described = writer.get_descriptor();
    let (most, repeats) = (described.max_def_level(), described.max_rep_level() > 0);
    let (mut values, mut def, mut rep) = (Vec::new(), Vec::new(), Vec::new());
    let mut passed = 0;
    for batch in is_kept.chunks(at_once) {
        let read = if batch.contains(&true) {
            values.clear();
            def.clear();
            rep.clear();
            let (read, _, levels) =
                reader.read_records(batch.len(), Some(&mut def), Some(&mut rep), &mut values)?;
            // Reading the runs of kept rows alone takes up to 1.4 times the instructions.
            if batch.contains(&false) {
                retain(levels, most, &mut values, &mut def, &mut rep, batch);
            }
            let def = (most > 0).then_some(&*def);
            writer.write_batch(&values, def, repeats.then_some(&*rep))?;
            read
        } else {
            reader.skip_records(batch.len())?
        };
        passed += read;
        if read != batch.len() {
            let rows = is_kept.len();
            return Err(ParquetError::General(format!("{passed} of {rows} rows are there")));
        }
    }
    writer.close()
}

/// Removes the values and levels of rows that are not kept. A column without levels has empty
/// lists: without definition levels every position has a value, and without repetition levels it is
/// a row.
fn retain<V>(
    levels: usize,
    most: i16,
    values: &mut Vec<V>,
    def: &mut Vec<i16>,
    rep: &mut Vec<i16>,
    is_kept: &[bool],
) {
    let mut row = 0;
    let mut keeps_level = Vec::with_capacity(levels);
    let mut keeps_value = Vec::with_capacity(values.len());
    for level in 0..levels {
        row += usize::from(rep.get(level).is_none_or(|&rep| rep == 0));
        let keep = is_kept[row - 1];
        keeps_level.push(keep);
        if def.get(level).is_none_or(|&def| def == most) {
            keeps_value.push(keep);
        }
    }
    retain_if(values, &keeps_value);
    retain_if(def, &keeps_level);
    retain_if(rep, &keeps_level);
}

fn retain_if<V>(items: &mut Vec<V>, keeps: &[bool]) {
    let mut keeps = keeps.iter();
    items.retain(|_| keeps.next().is_some_and(|&keep| keep));
}
