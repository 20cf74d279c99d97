//! Tests of columns in every layout as lists of URLs, and of cutting them into parts.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::builder::{ListBuilder, NullBuilder, StringBuilder};
use arrow_array::types::{Int8Type, Int32Type, UInt16Type};
use arrow_array::{
    Array, ArrayRef, BinaryArray, BinaryViewArray, BooleanArray, Date32Array, DictionaryArray,
    FixedSizeBinaryArray, Float64Array, Int32Array, Int64Array, LargeBinaryArray, LargeStringArray,
    ListArray, NullArray, StringArray, StringViewArray, StructArray, TimestampMicrosecondArray,
    TimestampMillisecondArray, TimestampNanosecondArray, TimestampSecondArray,
};
use arrow_schema::{DataType, Field};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, Int96, Int96Type};
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder, WriterVersion};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use tempfile::TempDir;

use crate::input::{ChunkConfig, Chunks, InputError, Source};
use crate::limits::PARQUET_PART_ROWS_MAX;
use crate::list::noticed::Doubts;
use crate::list::parquet::{ParquetList, PartOfRows};
use crate::list::{Arena, BlockBuffer, ListConfig, ListFormat, Noticed, Place, Problem, Rows};
use portcullis_captures::limits::PARQUET_PAGE_BYTES_MAX;
use portcullis_robots::access::{TimeUnit, UnixSeconds};
use portcullis_testkit::files::{Columns, column, flipped, overwrite, parquet as write_parquet};

fn written(columns: Columns) -> (TempDir, PathBuf) {
    write_parquet(columns, WriterProperties::default())
}

fn numbered(count: usize) -> Vec<String> {
    (0..count).map(|row| format!("https://h{}.example/{row}", row % 7)).collect()
}

fn properties() -> WriterPropertiesBuilder {
    WriterProperties::builder()
}

fn open(path: &Path, config: &ListConfig) -> Result<ParquetList, InputError> {
    ParquetList::open(&path.display().to_string(), File::open(path).unwrap(), config)
}

fn parts(path: &Path, by_row_group: bool) -> Result<Vec<PartOfRows>, InputError> {
    Arc::new(open(path, &ListConfig::default())?).parts(by_row_group).collect()
}

/// Returns the URLs of a part, from its first row and from one in the middle.
fn urls(part: &PartOfRows) -> Result<Vec<Vec<u8>>, InputError> {
    let from = |first| -> Result<Vec<Vec<u8>>, InputError> {
        let (mut batches, mut joined) = (part.batches(first)?, Vec::new());
        while let Some(batch) = batches.next().transpose()? {
            assert!(batch.len() <= part.batch_rows);
            let (arena, mut block, mut done) = (Arena::new(), BlockBuffer::new(), 0);
            while batch.fill(done, &arena, &mut block) > 0 {
                done += block.records.len();
                joined.extend(block.records.iter().map(|record| record.url().to_vec()));
            }
        }
        Ok(joined)
    };
    let (whole, middle) = (from(0)?, part.rows / 2);
    assert_eq!(whole.len(), part.rows);
    assert_eq!(from(middle)?, whole[middle..]);
    Ok(whole)
}

fn all_urls(path: &Path) -> Result<Vec<Vec<u8>>, InputError> {
    let found = |by_row_group| -> Result<Vec<Vec<u8>>, InputError> {
        let parts = parts(path, by_row_group)?;
        Ok(parts.iter().map(urls).collect::<Result<Vec<_>, _>>()?.concat())
    };
    let (chunks, groups) = (found(false), found(true));
    if let (Ok(chunks), Ok(groups)) = (&chunks, &groups) {
        assert!(chunks == groups);
    }
    chunks
}

fn column_config(name: Option<&str>) -> ListConfig {
    ListConfig { urls: Place::named(name), ..ListConfig::default() }
}

#[track_caller]
fn problem(path: &Path, name: Option<&str>) -> String {
    match open(path, &column_config(name)) {
        Err(InputError::List { problem, .. }) => problem,
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_layout_of_texts_and_bytes() {
    let (texts, bytes) = ([Some("a"), None, Some("")], [Some(&b"a"[..]), None, Some(b"")]);
    let layouts: [ArrayRef; 10] = [
        column(StringArray::from_iter(texts)),
        column(LargeStringArray::from_iter(texts)),
        column(StringViewArray::from_iter(texts)),
        column(BinaryArray::from_iter(bytes)),
        column(LargeBinaryArray::from_iter(bytes)),
        column(BinaryViewArray::from_iter(bytes)),
        column(texts.into_iter().collect::<DictionaryArray<Int8Type>>()),
        column(texts.into_iter().collect::<DictionaryArray<Int32Type>>()),
        column(texts.into_iter().collect::<DictionaryArray<UInt16Type>>()),
        column(BinaryArray::from(vec![Some(&b"\xff\0"[..]), None, Some(b"\n")])),
    ];
    for layout in layouts {
        let found = |properties: WriterProperties| {
            let (_folder, path) = write_parquet(vec![("url", layout.clone())], properties);
            all_urls(&path).unwrap()
        };
        let plain = found(properties().set_dictionary_enabled(false).build());
        let first = if plain[0] == b"a" { &b"a"[..] } else { b"\xff\0" };
        assert_eq!(plain, [first, b"", plain[2].as_slice()], "{}", layout.data_type());
        assert_eq!(found(properties().build()), plain, "{}", layout.data_type());
        let second = properties().set_writer_version(WriterVersion::PARQUET_2_0);
        assert_eq!(found(second.build()), plain, "{}", layout.data_type());
    }
}

#[test]
fn codecs_encodings_and_pages() {
    let texts = numbered(6_000);
    let codecs = [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(Default::default()),
        Compression::ZSTD(ZstdLevel::default()),
        Compression::LZ4_RAW,
    ];
    let encodings =
        [Encoding::PLAIN, Encoding::DELTA_LENGTH_BYTE_ARRAY, Encoding::DELTA_BYTE_ARRAY];
    for codec in codecs {
        for encoding in encodings {
            for dictionary_bytes in [0, 10_000, 1_000_000_000] {
                let properties = properties()
                    .set_compression(codec)
                    .set_encoding(encoding)
                    .set_dictionary_enabled(dictionary_bytes > 0)
                    .set_dictionary_page_size_limit(dictionary_bytes.max(1))
                    .set_data_page_row_count_limit(200)
                    .set_write_batch_size(100)
                    .set_max_row_group_row_count(Some(2_345));
                let columns = vec![("url", column(StringArray::from(texts.clone())))];
                let (_folder, path) = write_parquet(columns, properties.build());
                let found = all_urls(&path).unwrap();
                assert!(found.iter().eq(texts.iter().map(String::as_bytes)), "{codec} {encoding}");
            }
        }
    }
}

#[test]
fn parts_are_whole_pages_of_about_a_chunk() {
    let texts = numbered(100_000);
    let properties = properties()
        .set_dictionary_enabled(false)
        .set_data_page_row_count_limit(4_000)
        .set_write_batch_size(1_000)
        .set_max_row_group_row_count(Some(90_000));
    let columns = || {
        vec![
            ("id", column(Int64Array::from_iter_values(0..100_000))),
            ("url", column(StringArray::from(texts.clone()))),
        ]
    };
    let (_folder, path) = write_parquet(columns(), properties.build());
    let parts = parts(&path, false).unwrap();
    let rows: Vec<usize> = parts.iter().map(|part| part.rows).collect();
    assert!(rows.iter().all(|rows| rows % 4_000 == 0 || *rows == 90_000 % 4_000 || *rows < 30_000));
    assert_eq!(rows.iter().sum::<usize>(), 100_000);
    assert!(parts.len() > 3, "{rows:?}");
    let stored: u64 = parts.iter().map(|part| part.stored_bytes).sum();
    let bytes = std::fs::metadata(&path).unwrap().len();
    assert!(stored <= bytes && stored > bytes * 9 / 10, "{stored} of {bytes}");
    let groups = super::parquet_tests::parts(&path, true).unwrap();
    assert_eq!(groups.iter().map(|part| part.rows).collect::<Vec<_>>(), [90_000, 10_000]);
}

/// A page holds at least one value, and many long ones in memory at once are as much as a long page.
#[test]
fn pages_of_one_long_url_are_few_at_a_time() {
    const URL_BYTES: usize = 1 << 20;
    const URLS: usize = 200;
    let texts = (0..URLS).map(|row| format!("{}{row}", "u".repeat(URL_BYTES)));
    let properties = properties()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_dictionary_enabled(false)
        .set_data_page_row_count_limit(1)
        .set_write_batch_size(1);
    let columns = vec![("url", column(StringArray::from_iter_values(texts)))];
    let (_folder, path) = write_parquet(columns, properties.build());
    for part in parts(&path, false).unwrap() {
        assert_eq!(part.rows, 1);
        assert!((URL_BYTES..2 * URL_BYTES).contains(&(part.memory_bytes as usize)), "{part:?}");
    }
    let groups = parts(&path, true).unwrap();
    let rows = PARQUET_PAGE_BYTES_MAX as usize / URL_BYTES;
    assert!((rows / 2..=rows).contains(&groups[0].batch_rows), "{groups:?}");
    let bytes = groups[0].memory_bytes;
    assert!((PARQUET_PAGE_BYTES_MAX / 2..2 * PARQUET_PAGE_BYTES_MAX).contains(&bytes), "{bytes}");
    assert_eq!(urls(&groups[0]).unwrap().len(), URLS);
}

/// A page of a few bytes can have any number of rows.
#[test]
fn a_page_of_nulls_is_cut_too() {
    let count = 2 * PARQUET_PART_ROWS_MAX + 5;
    let nulls: StringArray = std::iter::repeat_n(None::<&str>, count).collect();
    let properties = properties().set_data_page_row_count_limit(count).build();
    let (_folder, path) = write_parquet(vec![("url", column(nulls))], properties);
    let parts = parts(&path, false).unwrap();
    let rows: Vec<usize> = parts.iter().map(|part| part.rows).collect();
    assert_eq!(rows, [PARQUET_PART_ROWS_MAX, PARQUET_PART_ROWS_MAX, 5]);
    assert!(urls(&parts[2]).unwrap().iter().all(Vec::is_empty));
}

#[test]
fn no_rows_and_no_row_groups() {
    let (_folder, path) = written(vec![("url", column(StringArray::from(Vec::<&str>::new())))]);
    assert!(parts(&path, false).unwrap().is_empty());
    assert!(parts(&path, true).unwrap().is_empty());
}

#[test]
fn the_column_is_found_named_or_numbered() {
    let texts = |text: &str| column(StringArray::from(vec![text]));
    let (_folder, path) = written(vec![
        ("id", column(Int64Array::from(vec![1]))),
        ("LOC", texts("l")),
        ("Address", texts("a")),
        ("3", texts("three")),
    ]);
    for (given, found, is_found) in [
        (None, "Address", true),
        (Some("LOC"), "LOC", false),
        (Some("2"), "LOC", false),
        // A name comes before a number.
        (Some("3"), "3", false),
    ] {
        let list = open(&path, &column_config(given)).unwrap();
        assert_eq!((list.column_name(), list.is_found), (found, is_found));
        assert_eq!(list.column_names(), ["id", "LOC", "Address", "3"]);
    }
    let missing = "no column `link`; its columns are `id`, `LOC`, `Address`, `3`; choose \
                   the URL with ‹url_field› NAME (name or number; alternatives are \
                   separated by commas)";
    assert_eq!(problem(&path, Some("link")), missing);
    let wrong = "the column id holds Int64; the URL needs text or bytes; name another with ‹url_field› \
                 NAME";
    assert_eq!(problem(&path, Some("id")), wrong);

    // A column of lists has no value a row.
    let mut lists = ListBuilder::new(StringBuilder::new());
    lists.append_value([Some("https://a.example/")]);
    let lists = column(lists.finish());
    let (_folder, path) = written(vec![("urls", Arc::clone(&lists))]);
    assert_eq!(problem(&path, None), "columns with lists are not read; make a row of each item");
    let (_folder, path) = written(vec![("urls", lists), ("id", texts("1"))]);
    let missing = "no column `link`; its columns are `id`; choose the URL with ‹url_field› NAME \
                   (name or number; alternatives are separated by commas); columns with lists are \
                   not read; make a row of each item";
    assert_eq!(problem(&path, Some("link")), missing);
}

fn time_config(unit: Option<TimeUnit>) -> ListConfig {
    ListConfig { times: Place::named(["at"]), unit, ..ListConfig::default() }
}

type Time = Option<UnixSeconds>;

/// Returns the times of all rows, which must be the same for any parts.
fn times(path: &Path, unit: Option<TimeUnit>) -> Result<Vec<Time>, InputError> {
    let read = |by_row_group| -> Result<Vec<Time>, InputError> {
        let list = Arc::new(open(path, &time_config(unit))?);
        let (arena, mut times) = (Arena::new(), Vec::new());
        for part in list.parts(by_row_group) {
            let part = part?;
            let mut batches = part.batches(0)?;
            while let Some(urls) = batches.next().transpose()? {
                let before = times.len();
                let mut block = BlockBuffer::new();
                while urls.fill(times.len() - before, &arena, &mut block) > 0 {
                    times.append(&mut block.times);
                }
            }
        }
        Ok(times)
    };
    let (chunks, groups) = (read(false), read(true));
    if let (Ok(chunks), Ok(groups)) = (&chunks, &groups) {
        assert_eq!(chunks, groups);
    }
    chunks
}

/// Returns a file with a column of URLs, some of them null, and one of times.
fn with_times(times: ArrayRef, properties: WriterProperties) -> (TempDir, PathBuf) {
    let urls =
        (0..times.len()).map(|row| (row % 3 != 1).then(|| format!("https://a.example/{row}")));
    let urls = column(StringArray::from_iter(urls));
    write_parquet(vec![("url", urls), ("at", times)], properties)
}

#[test]
fn times_of_every_type() {
    const TIME: Time = Some(UnixSeconds(1_577_934_245));
    const SECONDS: Option<TimeUnit> = Some(TimeUnit::Seconds);
    let scaled = |scale: i64| [Some(1_577_934_245 * scale + scale / 2), None, Some(-scale)];
    let texts = [Some("2020-01-02T03:04:05Z"), None, Some("2020-02-30")];
    let bytes = texts.map(|text| text.map(str::as_bytes));
    let zoned = TimestampMillisecondArray::from_iter(scaled(1_000)).with_timezone("+02:00");
    let (old, missing) = (Some(UnixSeconds(0)), None);
    let layouts: [(ArrayRef, Option<TimeUnit>, [Time; 3]); 14] = [
        (column(TimestampSecondArray::from_iter(scaled(1))), None, [TIME, missing, old]),
        (column(TimestampMillisecondArray::from_iter(scaled(1_000))), None, [TIME, missing, old]),
        (column(zoned), SECONDS, [TIME, missing, old]),
        (
            column(TimestampMicrosecondArray::from_iter(scaled(1_000_000))),
            None,
            [TIME, missing, old],
        ),
        (
            column(TimestampNanosecondArray::from_iter(scaled(1_000_000_000))),
            None,
            [TIME, missing, old],
        ),
        (
            column(Date32Array::from_iter([Some(18_263), None, Some(-1)])),
            None,
            [Some(UnixSeconds(1_577_923_200)), missing, old],
        ),
        (column(Int64Array::from_iter(scaled(1))), SECONDS, [TIME, missing, old]),
        (
            column(Int64Array::from_iter(scaled(1_000))),
            Some(TimeUnit::Milliseconds),
            [TIME, missing, old],
        ),
        (
            column(Int32Array::from_iter([Some(1_577_934_245), None, Some(-1)])),
            SECONDS,
            [TIME, missing, old],
        ),
        (
            column(Float64Array::from_iter([Some(1_577_934_245.9), None, Some(f64::NAN)])),
            SECONDS,
            [TIME, missing, missing],
        ),
        (column(StringArray::from_iter(texts)), None, [TIME, missing, missing]),
        (column(LargeBinaryArray::from_iter(bytes)), SECONDS, [TIME, missing, missing]),
        (column(StringViewArray::from_iter(texts)), None, [TIME, missing, missing]),
        (
            column(texts.into_iter().collect::<DictionaryArray<Int32Type>>()),
            None,
            [TIME, missing, missing],
        ),
    ];
    for (layout, unit, expected) in layouts {
        for properties in
            [properties(), properties().set_writer_version(WriterVersion::PARQUET_2_0)]
        {
            let (_folder, path) = with_times(layout.clone(), properties.build());
            assert_eq!(times(&path, unit).unwrap(), expected, "{}", layout.data_type());
        }
    }
    let column_of =
        |place: &str| ListConfig { times: Place::named([place]), ..ListConfig::default() };
    for (layout, place, words) in [
        (column(Int64Array::from(vec![1])), "at", "name the unit of the times with ‹time_unit›"),
        (column(BooleanArray::from(vec![true])), "2", "holds Boolean; the time needs timestamps"),
        (
            column(StringArray::from(vec!["2020"])),
            "date",
            "no column `date`; its columns are `url`, `at`; choose the time with ‹time_field› \
             NAME (name or number; alternatives are separated by commas)",
        ),
    ] {
        let (_folder, path) = with_times(layout, WriterProperties::default());
        let error = open(&path, &column_of(place)).unwrap_err().to_string();
        assert!(error.contains(words), "{words}: {error}");
    }
}

/// Numbers as text need a unit too, and a list says so once it was read.
#[test]
fn texts_that_are_numbers_are_noted() {
    use crate::input::{ChunkConfig, Chunks, Source};
    use crate::list::Rows;
    let texts = ["2020-01-02", "1577934245"].repeat(400);
    let (_folder, path) = with_times(column(StringArray::from(texts)), properties().build());
    for (unit, is_noted) in [(None, true), (Some(TimeUnit::Seconds), false)] {
        let source = Source::open(&path).unwrap();
        let mut notes = Vec::new();
        for chunk in Chunks::new(source, ChunkConfig::default(), time_config(unit)) {
            let (chunk, arena) = (chunk.unwrap(), Arena::new());
            let mut rows = Rows::new(&chunk, &arena, 0);
            rows.read(1, |_| Ok::<bool, InputError>(true)).unwrap();
            notes.extend(chunk.list.note_on_units(rows.noticed()));
        }
        assert_eq!(!notes.is_empty(), is_noted);
    }
}

/// INT96, as Hive and Impala write timestamps: nanoseconds of a day, and the Julian day.
#[test]
fn times_of_int96() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("int96.parquet");
    let schema = "message m { required binary url; required int96 at; }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let file = File::create(&path).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, Default::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    let url = ByteArray::from("https://a.example/");
    let urls = [url.clone(), url.clone(), url];
    column.typed::<ByteArrayType>().write_batch(&urls, None, None).unwrap();
    column.close().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    let time = |day: u32, seconds: u64| {
        let nanoseconds = seconds * 1_000_000_000 + 999_999_999;
        let mut time = Int96::new();
        time.set_data(nanoseconds as u32, (nanoseconds >> 32) as u32, day);
        time
    };
    // 1970-01-01 is the Julian day 2,440,588. The year 2500 has no nanoseconds of 64 bits.
    let times = [time(2_458_851, 11_045), time(2_440_587, 0), time(2_634_167, 0)];
    column.typed::<Int96Type>().write_batch(&times, None, None).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    writer.close().unwrap();
    let expected = [1_577_934_245, 0, 16_725_225_600].map(|time| Some(UnixSeconds(time)));
    assert_eq!(super::parquet_tests::times(&path, None).unwrap(), expected);
}

/// Pages of times and of URLs end in different rows.
#[test]
fn times_keep_their_rows() {
    let expected: Vec<Time> =
        (0..7_000).map(|row| Some(UnixSeconds(1_577_934_245 + row))).collect();
    let texts = (0..7_000).map(|row| UnixSeconds(1_577_934_245 + row).to_rfc3339());
    let seconds = TimestampMillisecondArray::from_iter_values(
        (0..7_000).map(|row| (1_577_934_245 + row) * 1_000),
    );
    for layout in [column(StringArray::from_iter_values(texts)), column(seconds)] {
        let properties = properties()
            .set_dictionary_enabled(false)
            .set_data_page_size_limit(5_000)
            .set_write_batch_size(10)
            .set_max_row_group_row_count(Some(3_000));
        let (_folder, path) = with_times(layout, properties.build());
        assert!(times(&path, None).unwrap() == expected);
    }
}

#[test]
fn columns_that_hold_no_texts() {
    let numbers = column(Int64Array::from(vec![1]));
    let (_folder, path) = written(vec![("id", numbers)]);
    assert_eq!(
        problem(&path, None),
        "no column is called url, address, loc or uri; its columns are `id`; choose the URL \
         with ‹url_field› NAME (name or number)"
    );
    let text = Arc::new(Field::new("url", DataType::Utf8, true));
    let inner = column(StringArray::from(vec!["https://a.example/"]));
    let nested = StructArray::from(vec![(text, inner)]);
    let several = ListArray::from_iter_primitive::<Int32Type, _, _>([Some([Some(1)])]);
    let fixed = FixedSizeBinaryArray::try_from_iter(std::iter::once(b"abcd")).unwrap();
    for (array, types) in
        [(column(nested), "Struct"), (column(several), "List"), (column(fixed), "FixedSizeBinary")]
    {
        let (_folder, path) = written(vec![("url", array)]);
        let said = problem(&path, None);
        assert!(said.starts_with(&format!("the column url holds {types}")), "{said}");
        assert!(said.ends_with("name another with ‹url_field› NAME"), "{said}");
    }
}

#[test]
fn what_is_no_whole_parquet_file() {
    let (_folder, path) = written(vec![("url", column(StringArray::from(numbered(10))))]);
    let whole = std::fs::read(&path).unwrap();
    for bytes in 5..whole.len() {
        overwrite(&path, &whole[..bytes]);
        let said = problem(&path, None);
        assert!(said.starts_with(&format!("cut short: {bytes} bytes are there")), "{said}");
    }
    let encrypted = [b"PARE", &whole[4..whole.len() - 4], b"PARE"].concat();
    std::fs::write(&path, encrypted).unwrap();
    assert!(problem(&path, None).starts_with("the file is encrypted; decrypt it"));
    std::fs::write(&path, b"").unwrap();
    assert!(problem(&path, None).starts_with("not a Parquet file"));
}

#[test]
fn a_file_that_shrinks_is_an_error() {
    let (_folder, path) = written(vec![("url", column(StringArray::from(numbered(10))))]);
    let parts = parts(&path, false).unwrap();
    File::options().write(true).open(&path).unwrap().set_len(20).unwrap();
    let said = urls(&parts[0]).unwrap_err().to_string();
    assert!(said.contains("row group 1, column url: "), "{said}");
    assert!(said.ends_with("; fetch the file again or write it anew"), "{said}");
}

/// After any damage to the bytes, a file is read to its end or is an error, and no row is lost.
#[test]
fn flipped_bytes_never_end_the_process() {
    survives_flipped_bytes(13);
}

#[test]
#[ignore = "takes 13 times as long; scripts/check --full runs it"]
fn every_flipped_byte_never_ends_the_process() {
    survives_flipped_bytes(1);
}

fn survives_flipped_bytes(stride: usize) {
    let properties = properties()
        .set_data_page_row_count_limit(10)
        .set_write_batch_size(10)
        .set_max_row_group_row_count(Some(25));
    let columns = vec![
        ("url", column(StringArray::from(numbered(40)))),
        ("at", column(StringArray::from(vec!["2020-01-02"; 40]))),
    ];
    let (_folder, path) = write_parquet(columns, properties.build());
    let whole = std::fs::read(&path).unwrap();
    assert_eq!(all_urls(&path).unwrap().len(), 40);
    for (flip, bytes) in flipped(&whole, stride) {
        overwrite(&path, &bytes);
        let found = all_urls(&path).map(|urls| urls.len());
        assert!(matches!(found, Ok(40) | Err(_)), "{flip}: {found:?}");
        let found = times(&path, None).map(|times| times.len());
        assert!(matches!(found, Ok(40) | Err(_)), "{flip}: {found:?}");
    }
}

/// A file with columns within structures, one of which is null in the last row, and columns of hosts
/// and paths.
fn nested() -> (TempDir, PathBuf) {
    let texts = |texts: [Option<&str>; 3]| column(StringArray::from(texts.to_vec()));
    let of = |fields: Vec<(&str, ArrayRef, bool)>, nulls: Option<Vec<bool>>| {
        let fields = fields.into_iter().map(|(name, array, is_nullable)| {
            (Arc::new(Field::new(name, array.data_type().clone(), is_nullable)), array)
        });
        let (fields, arrays): (Vec<_>, Vec<_>) = fields.unzip();
        column(StructArray::new(fields.into(), arrays, nulls.map(Into::into)))
    };
    let urls = ["https://a.example/1", "https://a.example/2", "never read"].map(Some);
    let headers = of(vec![("warc-target-uri", texts(urls), false)], None);
    let meta = of(
        vec![
            ("id", column(Int64Array::from(vec![1, 2, 3])), false),
            ("warc_headers", headers, true),
            ("fetched", column(Int64Array::from(vec![7, 8, 9])), false),
        ],
        Some(vec![true, true, false]),
    );
    written(vec![
        ("content", texts([Some("x"); 3])),
        ("meta", meta),
        ("meta.id", texts([Some("dotted"); 3])),
        ("url_host_name", texts([Some("b.example"), None, Some("b.example/x")])),
        ("url_path", texts([Some("/1"), Some("/2"), Some("https://c.example/")])),
    ])
}

/// Returns the URLs, or their problems, the times and the agents of all rows.
fn rows(path: &Path, config: &ListConfig) -> Vec<(Result<String, Problem>, Time, String)> {
    let list = Arc::new(open(path, config).unwrap());
    let (arena, mut rows) = (Arena::new(), Vec::new());
    for part in list.parts(false) {
        let part = part.unwrap();
        let mut batches = part.batches(0).unwrap();
        while let Some(urls) = batches.next().transpose().unwrap() {
            let mut block = BlockBuffer::new();
            let count = urls.fill(0, &arena, &mut block);
            assert_eq!(count, urls.len());
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            for (row, record) in block.records.iter().enumerate() {
                let url = record.problem().map_or_else(|| Ok(text(record.url())), Err);
                let time = block.times.get(row).copied().flatten();
                rows.push((url, time, text(block.agents.get(row).copied().unwrap_or_default())));
            }
        }
    }
    rows
}

#[test]
fn columns_within_structures() {
    let (_folder, path) = nested();
    let config = ListConfig {
        urls: Place::named(["none", "meta.warc_headers.warc-target-uri"]),
        times: Place::named(["meta.fetched"]),
        unit: Some(TimeUnit::Seconds),
        agents: Place::named(["content"]),
        ..ListConfig::default()
    };
    let url = |url: &str| Ok(url.to_owned());
    let second = |second| Some(UnixSeconds(second));
    let expected = [
        (url("https://a.example/1"), second(7), "x".to_owned()),
        (url("https://a.example/2"), second(8), "x".to_owned()),
        (Err(Problem::Null), None, "x".to_owned()),
    ];
    assert_eq!(rows(&path, &config), expected);
    // A column's own name comes before a path, and a dot in it may be escaped.
    for name in ["meta.id", "meta\\.id"] {
        assert_eq!(rows(&path, &column_config(Some(name)))[0].0, url("dotted"));
    }
    let missing = "no column `meta.uri`; its columns are `content`, `meta.id`, \
                   `meta.warc_headers.warc-target-uri`, `meta.fetched`, `meta.id`, `url_host_name`, \
                   `url_path`; choose the URL with ‹url_field› NAME (name or number; alternatives \
                   are separated by commas)";
    assert_eq!(problem(&path, Some("meta.uri")), missing);
    let wrong = "the column meta.fetched holds Int64; the URL needs text or bytes; name another with \
                 ‹url_field› NAME";
    assert_eq!(problem(&path, Some("meta.fetched")), wrong);
}

#[test]
fn a_path_goes_through_texts_that_are_json() {
    let texts = [
        Some(
            r#"{"page": {"path": "/a", "at": "1970-01-02"}, "host": "a.example", "ua": "A\u002f1"}"#,
        ),
        Some(r#"{"page": {"path": "/b"}, "host": "b.example"}"#),
        Some(r#"{"page": {"path": 7}, "host": "a.example"}"#),
        Some(r#"{"page": {"path": "/a"}, "page": {"path": "/b"}, "host": "a.example"}"#),
        Some("no JSON"),
        None,
    ];
    let (_folder, path) = written(vec![("doc", column(StringArray::from_iter(texts)))]);
    let at = |name: &str| Place::named([name]);
    let config = ListConfig {
        urls: at("doc.page.path"),
        times: at("doc.page.at"),
        agents: at("doc.ua"),
        hosts: at("doc.host"),
        ..ListConfig::default()
    };
    let none = |problem| (Err(problem), None, String::new());
    let expected = vec![
        (Ok("https://a.example/a".to_owned()), Some(UnixSeconds(86_400)), "A/1".to_owned()),
        (Ok("https://b.example/b".to_owned()), None, String::new()),
        none(Problem::NotAString),
        none(Problem::RepeatedField),
        none(Problem::NoField),
        none(Problem::NoField),
    ];
    assert_eq!(rows(&path, &config), expected);
    let (_folder, path) = written(vec![("doc", column(Int32Array::from(vec![7])))]);
    assert!(problem(&path, Some("doc.url")).starts_with("no column `doc.url`"));
}

#[test]
fn paths_have_the_host_of_their_row() {
    let (_folder, path) = nested();
    let config = |hosts: Place, host: Option<&str>| ListConfig {
        urls: Place::named(["url_path"]),
        hosts,
        host: host.map(str::to_owned),
        ..ListConfig::default()
    };
    let urls = |config: &ListConfig| -> Vec<Result<String, Problem>> {
        rows(&path, config).into_iter().map(|(url, ..)| url).collect()
    };
    let url = |url: &str| Ok(url.to_owned());
    let whole = || url("https://c.example/");
    let named = || Place::named(["url_host_name"]);
    let found = urls(&config(named(), None));
    assert_eq!(found, [url("https://b.example/1"), Err(Problem::NoHost), whole()]);
    let found = urls(&config(named(), Some("http://d.example")));
    assert_eq!(found, [url("https://b.example/1"), url("http://d.example/2"), whole()]);
    // A path is no URL if no host is asked for.
    assert_eq!(urls(&config(Place::Usual, None)), [url("/1"), url("/2"), whole()]);
}

/// Writers store a column without any value as one of nulls.
#[test]
fn a_column_of_nulls_has_no_values() {
    let texts = |text: &str| column(StringArray::from(vec![text]));
    let nulls = || column(NullArray::new(1));
    let index = |url: ArrayRef, query: ArrayRef| {
        let host = texts("a.example");
        let columns = [("url_path", url), ("url_host_name", host), ("url_query", query)];
        written(columns.into_iter().chain([("url_protocol", nulls()), ("ua", nulls())]).collect())
    };
    let (_folder, path) = index(texts("/a"), nulls());
    let expected = [(Ok("https://a.example/a".to_owned()), None, String::new())];
    assert_eq!(rows(&path, &ListConfig::default()), expected);
    let nowhere = ListConfig {
        urls: Place::named(["url_path"]),
        hosts: Place::named(["url_protocol"]),
        agents: Place::named(["ua"]),
        times: Place::named(["ua"]),
        host: Some("a.example".to_owned()),
        ..ListConfig::default()
    };
    assert_eq!(rows(&path, &nowhere), expected);
    let (_folder, path) = index(nulls(), texts("b"));
    assert!(problem(&path, Some("url_path")).contains("holds Null"));
}

/// Returns the values of JSON Lines, as [`rows`] those of a file.
fn values_of_lines(
    lines: &str,
    config: &ListConfig,
) -> Vec<(Result<String, Problem>, Time, String)> {
    let (arena, mut values) = (Arena::new(), Vec::new());
    let source = Source::from_reader("a.jsonl", std::io::Cursor::new(lines.to_owned()));
    for chunk in Chunks::new(source, ChunkConfig::default(), config.clone()) {
        let chunk = chunk.unwrap();
        let read = Rows::new(&chunk, &arena, 0).read(1, |block| {
            for (row, record) in block.iter().enumerate() {
                let url = String::from_utf8_lossy(record.url()).into_owned();
                let url = record.problem().map_or(Ok(url), Err);
                let time = block.times().and_then(|times| times[row]);
                let agent = String::from_utf8_lossy(block.agent(row)).into_owned();
                values.push((url, time, agent));
            }
            Ok::<bool, InputError>(true)
        });
        read.unwrap();
    }
    values
}

/// A value means the same in a text of a column, in an object of JSON Lines and in a text of one.
#[test]
fn members_of_texts_are_those_of_json_lines() {
    let at = |names: &[&str]| Place::named(names.iter().copied());
    let config = ListConfig {
        urls: at(&["m.u"]),
        times: at(&["m.t"]),
        unit: Some(TimeUnit::Seconds),
        agents: at(&["m.a"]),
        hosts: at(&["m.h"]),
        queries: at(&["m.q", "m.r"]),
        host: Some("b.example".to_owned()),
        ..ListConfig::default()
    };
    let url = |url: &str| Ok(url.to_owned());
    for (text, expected) in [
        (r#"{"u":"/p","h":"a.example","q":"s","t":7,"a":"A"}"#, url("https://a.example/p?s")),
        (r#"{"u":"/p","h":["a.example"],"a":["A","B"],"x":NaN}"#, url("https://a.example/p")),
        (r#"{"u":"/p","h":null,"r":"s"}"#, url("https://b.example/p?s")),
        (r#"{"u":"/p","t":"1970-01-01T00:00:07Z"}"#, url("https://b.example/p")),
        (r#"{"u":"/p","h":5}"#, Err(Problem::NoHost)),
        (r#"{"u":"/p","h":{}}"#, Err(Problem::NoHost)),
        (r#"{"u":"/p","h":"a.example","h":"a.example"}"#, Err(Problem::NoHost)),
        (r#"{"u":"/p","q":7}"#, Err(Problem::NotAString)),
        (r#"{"u":"/p","q":["s"]}"#, Err(Problem::NotAString)),
        (r#"{"u":"/p","q":{"s":1}}"#, Err(Problem::NotAString)),
        (r#"{"u":"/p","q":"s","q":"s"}"#, Err(Problem::NotAString)),
        (r#"{"u":"/p","q":7,"r":"s"}"#, Err(Problem::NotAString)),
        (r#"{"h":"a.example"}"#, Err(Problem::NoField)),
    ] {
        let (_folder, path) = written(vec![("m", column(StringArray::from(vec![text])))]);
        let found = rows(&path, &config);
        assert_eq!(found[0].0, expected, "{text}");
        let escaped = text.replace('"', "\\\"");
        for line in [format!("{{\"m\":{text}}}\n"), format!("{{\"m\":\"{escaped}\"}}\n")] {
            assert_eq!(values_of_lines(&line, &config), found, "{line}");
        }
    }
    // The rest of a damaged text is not known.
    for text in [r#"{"u":"/p","h":"a.example","q":"s"#, r#"{"u":"/p","h":"a.example"} x"#] {
        let (_folder, path) = written(vec![("m", column(StringArray::from(vec![text])))]);
        let expected = [(Err(Problem::NotJson), None, String::new())];
        assert_eq!(rows(&path, &config), expected, "{text}");
        let line = format!("{{\"m\":\"{}\"}}\n", text.replace('"', "\\\""));
        assert_eq!(values_of_lines(&line, &config), expected, "{text}");
    }
}

#[test]
fn a_member_that_no_text_has_is_missing() {
    let texts = column(StringArray::from(vec![r#"{"u":"/p"}"#, r#"{"u":"/q","h":"a.example"}"#]));
    let (_folder, path) =
        written(vec![("m", texts), ("p", column(StringArray::from(vec!["/"; 2])))]);
    let at = |names: &[&str]| Place::named(names.iter().copied());
    let missing = |hosts: &str| {
        let host = Some("b.example".to_owned());
        let (urls, hosts) = (at(&["m.u"]), at(&[hosts]));
        let list = open(&path, &ListConfig { urls, hosts, host, ..ListConfig::default() }).unwrap();
        let (list, mut noticed) = (Arc::new(list), Noticed::default());
        for part in Arc::clone(&list).parts(false) {
            for urls in part.unwrap().batches(0).unwrap() {
                let (urls, arena, mut block) = (urls.unwrap(), Arena::new(), BlockBuffer::new());
                urls.fill(0, &arena, &mut block);
                noticed.add(&block.doubts, block.seen);
            }
        }
        list.asked.missing("a", ListFormat::Parquet, noticed, true)
    };
    assert_eq!(missing("m.h"), None);
    assert!(missing("m.host").unwrap().starts_with("no record has a field `m.host`"));
    let both = ListConfig { urls: at(&["m.u", "p"]), ..ListConfig::default() };
    let error = open(&path, &both).unwrap_err().to_string();
    assert!(error.contains("is in m.u, the member of a text, or in another column, p;"), "{error}");
}

/// A part of the URL of a path is not missed, whatever its column holds, and in the object of the path.
#[test]
fn parts_near_a_path_may_have_any_type() {
    let texts = |text: &str| column(StringArray::from(vec![text]));
    let numbers = |number: Option<i64>| column(Int64Array::from(vec![number]));
    let structure = |columns: Vec<(&str, ArrayRef)>| {
        let fields = columns
            .iter()
            .map(|(name, values)| Field::new(*name, values.data_type().clone(), true));
        let fields = fields.collect::<Vec<_>>();
        let arrays = columns.iter().map(|(_, values)| Arc::clone(values)).collect();
        column(StructArray::new(fields.into(), arrays, None))
    };
    let mut lists = ListBuilder::new(StringBuilder::new());
    lists.append_value([Some("x=1")]);
    let lists = column(lists.finish());
    let nulls = || column(NullArray::new(1));
    let mut list_of_nulls = ListBuilder::new(NullBuilder::new());
    list_of_nulls.values().append_null();
    list_of_nulls.append(true);
    let list_of_nulls = column(list_of_nulls.finish());
    let (query, host, port, none) =
        (Doubts::LEFT_QUERY, Doubts::LEFT_HOST, Doubts::LEFT_PORT, Doubts::default());
    for (columns, url, expected) in [
        (vec![("m", texts(r#"{"uri":"/a","query":"x=1"}"#))], "m.uri", query),
        (vec![("m", texts(r#"{"uri":"/a","port":8080,"args":null}"#))], "m.uri", port),
        (vec![("m", texts(r#"{"a":{"uri":"/a"},"args":"x"}"#))], "m.a.uri", none),
        (vec![("m", texts(r#"{"a.uri":"/a","a.args":"x"}"#))], r"m.a\.uri", query),
        (vec![("m", texts(r#"{"uri":"/a"}"#)), ("host", texts("b.example"))], "m.uri", host),
        (vec![("path", texts("/a")), ("args", numbers(Some(1)))], "path", query),
        (vec![("path", texts("/a")), ("args", numbers(None))], "path", none),
        (vec![("path", texts("/a")), ("args", lists)], "path", query),
        (vec![("path", texts("/a")), ("args", nulls())], "path", none),
        (vec![("path", texts("/a")), ("args", list_of_nulls)], "path", none),
        (vec![("path", texts("/a")), ("args", structure(vec![("x", nulls())]))], "path", none),
        (vec![("path", texts("/a")), ("args", structure(vec![("x", texts("1"))]))], "path", query),
        (vec![("path", texts("https://a.example/")), ("args", numbers(Some(1)))], "path", none),
        (vec![("path", texts("/a")), ("url.port", numbers(Some(8080)))], "path", port),
        (vec![("path", texts("/a")), ("reqPort", numbers(Some(443)))], "path", none),
        (vec![("path", texts("/a")), ("port", numbers(Some(8080)))], "path", none),
        (vec![("r.uri", texts("/a")), ("r.port", numbers(Some(8080)))], "r.uri", port),
        (
            vec![("r", structure(vec![("uri", texts("/a")), ("port", numbers(Some(8080)))]))],
            "r.uri",
            port,
        ),
    ] {
        let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
        let (_folder, path) = written(columns);
        let host = Some("a.example".to_owned());
        let config = ListConfig { urls: Place::named([url]), host, ..ListConfig::default() };
        let list = Arc::new(open(&path, &config).unwrap());
        let part = list.parts(false).next().unwrap().unwrap();
        let batch = part.batches(0).unwrap().next().unwrap().unwrap();
        let (arena, mut block) = (Arena::new(), BlockBuffer::new());
        batch.fill(0, &arena, &mut block);
        assert_eq!(block.doubts, [expected], "{names:?} {url}");
    }
}
