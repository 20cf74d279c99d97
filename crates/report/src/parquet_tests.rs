//! Tests of files with every kind of column, written again and read back.

use std::collections::HashMap;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow_array::builder::{
    BooleanBuilder, Int32Builder, ListBuilder, MapBuilder, StringBuilder, StructBuilder,
};
use arrow_array::types::Int16Type;
use arrow_array::{
    Array, ArrayRef, BooleanArray, Decimal128Array, DictionaryArray, FixedSizeBinaryArray,
    Float32Array, Float64Array, Int8Array, Int32Array, NullArray, RecordBatch, StringArray,
    TimestampMicrosecondArray, UInt64Array,
};
use arrow_schema::{DataType, Field as ArrowField, Fields, Schema};
use bytes::Bytes;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::{Compression, Encoding};
use parquet::data_type::{ByteArray, ByteArrayType, Int96, Int96Type};
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, SortingColumn};
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::file::reader::{ChunkReader, FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::ColumnPath;
use tempfile::TempDir;

use portcullis_rows::input::{Chunk, ChunkConfig, Chunks, Source};
use portcullis_rows::list::parquet::ParquetList;
use portcullis_rows::list::{Arena, ListConfig, Rows};
use portcullis_rows::output::RowForm;
use portcullis_rows::output::columns::Columns;
use portcullis_rows::output::parquet::{AddedColumns, EncodedGroup, ParquetWriter, Template, keep};
use portcullis_set::batch::Session;

use crate::tests::{SCHEME, classifier};
use crate::{ChunkError, Counts, Format, Piece, Rejects, Tagged, Written};

const ROWS: usize = 5_000;

/// Returns a URL that is allowed, disallowed, unknown, invalid or null, by row.
fn url(row: usize) -> Option<String> {
    match row % 7 {
        0 | 1 => Some(format!("a/{row}")),
        2 | 3 => Some(format!("d/{row}")),
        4 => Some(format!("u/{row}")),
        5 => Some("x:".to_owned()),
        _ => None,
    }
}

/// Returns columns of many types, with nulls and nested columns.
fn all_types() -> RecordBatch {
    let some = |row: usize| (!row.is_multiple_of(3)).then_some(row);
    let rows = || (0..ROWS).map(some);
    let mut lists = ListBuilder::new(StringBuilder::new());
    let mut maps = MapBuilder::new(None, StringBuilder::new(), Int32Builder::new());
    let fields = Fields::from(vec![
        ArrowField::new("flag", DataType::Boolean, true),
        ArrowField::new("text", DataType::Utf8, true),
    ]);
    let mut structs = StructBuilder::from_fields(fields, ROWS);
    for row in 0..ROWS {
        for item in 0..row % 5 {
            lists.values().append_option((item != 3).then(|| format!("item {item}")));
            maps.keys().append_value(format!("key {item}"));
            maps.values().append_option((item != 2).then_some(item as i32));
        }
        lists.append(!row.is_multiple_of(11));
        maps.append(true).unwrap();
        let flag = some(row).map(|it| it > 9);
        structs.field_builder::<BooleanBuilder>(0).unwrap().append_option(flag);
        let text = some(row).map(|row| row.to_string());
        structs.field_builder::<StringBuilder>(1).unwrap().append_option(text);
        structs.append(!row.is_multiple_of(13));
    }
    let words = rows().map(|row| row.map(|row| ["one", "two", "three"][row % 3]));
    let times = TimestampMicrosecondArray::from_iter(rows().map(|it| it.map(|row| row as i64)));
    let fixed = rows().map(|it| it.map(|row| [row as u8; 5]));
    let fixed = FixedSizeBinaryArray::try_from_sparse_iter_with_size(fixed, 5).unwrap();
    let decimals: Decimal128Array = rows().map(|it| it.map(|row| row as i128)).collect();
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("bool", Arc::new(rows().map(|it| it.map(|row| row % 2 == 0)).collect::<BooleanArray>())),
        ("int8", Arc::new(rows().map(|it| it.map(|row| row as i8)).collect::<Int8Array>())),
        ("int32", Arc::new(rows().map(|it| it.map(|row| row as i32)).collect::<Int32Array>())),
        ("uint64", Arc::new(rows().map(|it| it.map(|row| row as u64)).collect::<UInt64Array>())),
        ("float", Arc::new(rows().map(|it| it.map(|row| row as f32)).collect::<Float32Array>())),
        ("double", Arc::new(rows().map(|it| it.map(|row| row as f64)).collect::<Float64Array>())),
        ("decimal", Arc::new(decimals)),
        ("time", Arc::new(times.with_timezone("+01:00"))),
        ("url", Arc::new((0..ROWS).map(url).collect::<StringArray>())),
        ("words", Arc::new(words.collect::<DictionaryArray<Int16Type>>())),
        ("fixed", Arc::new(fixed)),
        ("nothing", Arc::new(NullArray::new(ROWS))),
        ("list", Arc::new(lists.finish())),
        ("map", Arc::new(maps.finish())),
        ("struct", Arc::new(structs.finish())),
    ];
    let fields: Vec<ArrowField> = columns
        .iter()
        .enumerate()
        .map(|(id, (name, column))| {
            let about = [("PARQUET:field_id", id.to_string()), ("unit", "none".to_owned())];
            let about = about.map(|(key, value)| (key.to_owned(), value));
            let field = ArrowField::new(*name, column.data_type().clone(), true);
            field.with_metadata(HashMap::from(about))
        })
        .collect();
    let about = HashMap::from([("pandas".to_owned(), "{\"columns\": []}".to_owned())]);
    let schema = Arc::new(Schema::new_with_metadata(fields, about));
    RecordBatch::try_new(schema, columns.into_iter().map(|(_, column)| column).collect()).unwrap()
}

fn written(batch: &RecordBatch, properties: WriterProperties) -> (TempDir, Arc<ParquetList>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let file = File::create(&path).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
    (folder, opened(&path))
}

fn opened(path: &Path) -> Arc<ParquetList> {
    let file = File::open(path).unwrap();
    let name = path.display().to_string();
    Arc::new(ParquetList::open(&name, file, &ListConfig::default()).unwrap())
}

/// Returns the row groups of a file.
fn chunks(list: &ParquetList) -> impl Iterator<Item = Chunk> {
    let path = Path::new(&list.source.name);
    let source = Source::open(path).unwrap();
    let config = ChunkConfig { by_row_group: true, ..ChunkConfig::default() };
    Chunks::new(source, config, ListConfig::default()).map(Result::unwrap)
}

/// Encodes the added columns of a chunk.
fn encode(
    added: &Tagged<'_>,
    chunk: &Chunk,
    session: &mut Session,
    counts: &mut Counts,
) -> EncodedGroup {
    let (arena, mut rejects) = (Arena::new(), Rejects::default());
    let mut rows = Rows::new(chunk, &arena, 0);
    let mut out = Written::default();
    let piece = Piece { rows: &mut rows, rejects: &mut rejects };
    added.encode(piece.work(session, counts), &mut out).unwrap();
    std::mem::take(&mut out[0].group)
}

fn layouts() -> Vec<WriterProperties> {
    let small = || {
        WriterProperties::builder()
            .set_max_row_group_row_count(Some(2_000))
            .set_data_page_row_count_limit(300)
            .set_write_batch_size(100)
    };
    let plain =
        small().set_writer_version(WriterVersion::PARQUET_2_0).set_encoding(Encoding::PLAIN);
    let sorted = SortingColumn { column_idx: 2, descending: false, nulls_first: true };
    vec![
        small()
            .set_compression(Compression::SNAPPY)
            .set_sorting_columns(Some(vec![sorted]))
            .build(),
        small()
            .set_writer_version(WriterVersion::PARQUET_2_0)
            .set_compression(Compression::ZSTD(Default::default()))
            .set_column_compression(ColumnPath::from("int32"), Compression::LZ4_RAW)
            .set_dictionary_enabled(false)
            .set_bloom_filter_enabled(true)
            .build(),
        WriterProperties::builder()
            .set_dictionary_enabled(false)
            .set_column_encoding(ColumnPath::from("url"), Encoding::DELTA_BYTE_ARRAY)
            .set_column_encoding(ColumnPath::from("int32"), Encoding::DELTA_BINARY_PACKED)
            .set_offset_index_disabled(true)
            .build(),
        plain.set_dictionary_enabled(false).build(),
    ]
}

fn read(bytes: Vec<u8>) -> (Arc<Schema>, Vec<RecordBatch>) {
    let reader = ParquetRecordBatchReaderBuilder::try_new(Bytes::from(bytes)).unwrap();
    let schema = Arc::clone(reader.schema());
    (schema, reader.with_batch_size(ROWS).build().unwrap().map(Result::unwrap).collect())
}

fn metadata(bytes: &[u8]) -> ParquetMetaData {
    SerializedFileReader::new(Bytes::copy_from_slice(bytes)).unwrap().metadata().clone()
}

fn added(list: &Arc<ParquetList>, columns: &str) -> (Vec<u8>, Counts) {
    let columns: Columns = columns.parse().unwrap();
    let classifier = classifier(&["a"], &["d"], 2);
    let (mut session, mut counts) =
        (Session::new(classifier).assume_scheme(SCHEME), Counts::new(2));
    let fields = columns.fields(&["One", "Two"], "").unwrap();
    let template = Arc::new(Template::from_list(list, &fields).unwrap());
    let form = RowForm::Parquet(AddedColumns::new(&fields));
    let added = Tagged { columns: &columns, form: &form };
    let mut out = ParquetWriter::new(Vec::new(), template).unwrap();
    for chunk in chunks(list) {
        out.write(encode(&added, &chunk, &mut session, &mut counts)).unwrap();
    }
    (out.finish("{}".to_owned()).unwrap(), counts)
}

fn kept(list: &Arc<ParquetList>, keep_row: impl Fn(usize) -> bool) -> Vec<u8> {
    let template = Arc::new(Template::from_list(list, &[]).unwrap());
    let mut out = ParquetWriter::new(Vec::new(), template).unwrap();
    let mut row = 0;
    for part in Arc::clone(list).parts(true) {
        let part = part.unwrap();
        let outputs: Vec<u8> = (row..row + part.rows).map(|row| u8::from(keep_row(row))).collect();
        row += part.rows;
        let mut groups = keep::<ChunkError>(&part, &outputs, 1).unwrap();
        out.write(groups.pop().unwrap()).unwrap();
        assert!(groups.is_empty(), "one output");
    }
    out.finish("{}".to_owned()).unwrap()
}

/// Checks that a column is encoded and compressed as before, and has a Bloom filter and an offset
/// index if it had them.
fn assert_same_form(own: &ColumnChunkMetaData, new: &ColumnChunkMetaData) {
    // A column that is copied as it is stored lacks these statistics.
    if let Some(encodings) = new.page_encoding_stats_mask() {
        assert_eq!(own.page_encoding_stats_mask(), Some(encodings));
    }
    assert_eq!(own.compression(), new.compression());
    assert_eq!(own.bloom_filter_offset().is_some(), new.bloom_filter_offset().is_some());
    assert_eq!(own.offset_index_offset().is_some(), new.offset_index_offset().is_some());
}

#[test]
fn added_columns_stand_beside_columns_that_are_copied() {
    let batch = all_types();
    for properties in layouts() {
        let (_folder, list) = written(&batch, properties);
        let source = &list.source.metadata;
        let (bytes, counts) = added(&list, "verdict,reason");
        assert_eq!(counts.records as usize, ROWS);
        let found = metadata(&bytes);
        assert_eq!(found.num_row_groups(), source.num_row_groups());
        for (own, new) in source.row_groups().iter().zip(found.row_groups()) {
            assert_eq!(own.num_rows(), new.num_rows());
            assert_eq!(own.sorting_columns(), new.sorting_columns());
            for (own, new) in own.columns().iter().zip(new.columns()) {
                assert_same_form(own, new);
                assert_eq!(own.statistics(), new.statistics());
                assert_eq!(own.encodings_mask(), new.encodings_mask());
                let (start, length) = own.byte_range();
                let stored = list.source.file.get_bytes(start, length as usize).unwrap();
                let (start, length) = new.byte_range();
                let copied = &bytes[start as usize..][..length as usize];
                assert!(stored == copied, "{}", new.column_path());
            }
        }
        let (schema, batches) = read(bytes);
        let own = batch.schema();
        let count = own.fields().len();
        assert_eq!(schema.fields()[..count], own.fields()[..]);
        assert_eq!(schema.metadata()["pandas"], own.metadata()["pandas"]);
        assert_eq!(schema.metadata()["portcullis"], "{}");
        let names: Vec<&str> =
            schema.fields()[count..].iter().map(|it| it.name().as_str()).collect();
        assert_eq!(names, ["One", "One_reason", "Two", "Two_reason"]);
        let mut row = 0;
        for found in batches {
            let part = batch.slice(row, found.num_rows());
            for column in 0..count {
                let name = own.field(column).name();
                assert_eq!(found.column(column), part.column(column), "{name}");
            }
            for (place, names) in [(count, VERDICTS), (count + 1, REASONS)] {
                let words = texts(found.column(place));
                for (place, word) in words.into_iter().enumerate() {
                    assert_eq!(word.unwrap(), names[(row + place) % 7], "row {}", row + place);
                }
            }
            row += found.num_rows();
        }
        assert_eq!(row, ROWS);
    }
}

const VERDICTS: [&str; 7] =
    ["allow", "allow", "disallow", "disallow", "unknown", "invalid", "invalid"];
const REASONS: [&str; 7] =
    ["no-rule", "no-rule", "rule", "rule", "no-policy", "bad-url", "bad-url"];

/// Returns the values of a text column.
fn texts(column: &ArrayRef) -> Vec<Option<String>> {
    use arrow_array::cast::AsArray;
    use arrow_array::types::Int32Type;

    if let Some(words) = column.as_dictionary_opt::<Int32Type>() {
        let words = words.downcast_dict::<StringArray>().unwrap();
        return words.into_iter().map(|word| word.map(str::to_owned)).collect();
    }
    column.as_string::<i32>().iter().map(|text| text.map(str::to_owned)).collect()
}

#[test]
fn kept_rows_are_whole() {
    type Keep = fn(usize) -> bool;
    let batch = all_types();
    let keeps: [Keep; 6] = [
        |row| row.is_multiple_of(2),
        |row| row % 7 < 2,
        |row| row > 4_000,
        |row| row == 1_999,
        |_| true,
        |_| false,
    ];
    for properties in layouts() {
        let (_folder, list) = written(&batch, properties);
        let source = &list.source.metadata;
        for keep_row in keeps {
            let bytes = kept(&list, keep_row);
            let found = metadata(&bytes);
            let (own, new) = (source.file_metadata(), found.file_metadata());
            assert_eq!(own.schema(), new.schema());
            for group in found.row_groups() {
                for (own, new) in source.row_group(0).columns().iter().zip(group.columns()) {
                    assert_same_form(own, new);
                }
            }
            let (schema, batches) = read(bytes);
            assert_eq!(schema.fields(), batch.schema().fields());
            let mut rows = (0..ROWS).filter(|&row| keep_row(row)).peekable();
            for found in batches {
                let mut place = 0;
                while place < found.num_rows() {
                    // Rows that follow each other in both are compared at once.
                    let row = rows.next().expect("no row is made up");
                    let mut count = 1;
                    while place + count < found.num_rows()
                        && rows.next_if_eq(&(row + count)).is_some()
                    {
                        count += 1;
                    }
                    let (found, own) = (found.slice(place, count), batch.slice(row, count));
                    assert_eq!(found.columns(), own.columns(), "from row {row}");
                    place += count;
                }
            }
            assert_eq!(rows.next(), None, "no row is lost");
        }
    }
}

/// Types without a name in Arrow are preserved.
#[test]
fn old_timestamps_stay_old() {
    let schema = "message old { required binary url; optional int96 seen; }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let properties = Arc::new(WriterProperties::builder().build());
    let file = File::create(&path).unwrap();
    let mut writer = SerializedFileWriter::new(file, Arc::clone(&schema), properties).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let urls: Vec<ByteArray> =
        ["a/1", "d/1", "a/2"].map(|url| url.as_bytes().to_vec().into()).into();
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<ByteArrayType>().write_batch(&urls, None, None).unwrap();
    column.close().unwrap();
    let times = [Int96::from(vec![1, 2, 3]), Int96::from(vec![4, 5, 6])];
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<Int96Type>().write_batch(&times, Some(&[1, 0, 1]), None).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    writer.close().unwrap();

    let found = kept(&opened(&path), |row| row != 1);
    let reader = SerializedFileReader::new(Bytes::from(found)).unwrap();
    assert_eq!(*reader.metadata().file_metadata().schema(), *schema);
    let rows: Vec<String> =
        reader.get_row_iter(None).unwrap().map(|row| row.unwrap().to_string()).collect();
    assert_eq!(rows.len(), 2);
    let group = reader.get_row_group(0).unwrap();
    let column = group.get_column_reader(1).unwrap();
    let mut column = parquet::column::reader::get_typed_column_reader::<Int96Type>(column);
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    column.read_records(2, Some(&mut levels), None, &mut values).unwrap();
    assert_eq!(values, times);
}

#[test]
fn accounts_of_earlier_runs_stay() {
    let (folder, list) = written(&all_types().slice(0, 7), layouts().remove(0));
    let path = folder.path().join("again.parquet");
    std::fs::write(&path, added(&list, "verdict").0).unwrap();
    let again = opened(&path);
    let (schema, _) = read(kept(&again, |_| true));
    assert_eq!(schema.metadata()["portcullis"], "{}");
    assert_eq!(schema.metadata()["portcullis.2"], "{}");
    let fields = Columns::default().fields(&["One"], "").unwrap();
    let error = Template::from_list(&again, &fields).unwrap_err().to_string();
    assert!(error.contains("'One'") && error.contains("‹column_prefix›"), "{error}");
    let template = Template::from_list(&again, &[]).unwrap();
    assert_eq!(template.check("a", Some(&again)), Ok(()));
    for other in [Some(&*list), None] {
        let problem = template.check("a", other).unwrap_err();
        let expected = "a: its columns differ from the lists before";
        assert!(problem.starts_with(expected), "{problem}");
    }
}

#[test]
fn a_damaged_column_names_its_place() {
    let (folder, list) = written(&all_types(), layouts().remove(0));
    let (start, length) = list.source.metadata.row_group(1).column(4).byte_range();
    let path = folder.path().join("a.parquet");
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[start as usize..][..length as usize].fill(0xff);
    std::fs::write(&path, bytes).unwrap();
    let part = opened(&path).parts(true).nth(1).unwrap().unwrap();
    let mut outputs = vec![1; part.rows];
    outputs[0] = 0;
    let said = keep::<ChunkError>(&part, &outputs, 1).unwrap_err().to_string();
    assert!(said.contains("a.parquet: row group 2, column float: "), "{said}");
}
