//! Tests of columns in every layout, and of damaged files.

use std::sync::Arc;

use arrow_array::types::{Int16Type, Int32Type};
use arrow_array::{
    Array, ArrayRef, BinaryArray, BinaryViewArray, BooleanArray, Date32Array, DictionaryArray,
    Float32Array, Float64Array, Int16Array, Int32Array, Int64Array, LargeBinaryArray,
    LargeStringArray, NullArray, StringArray, StringViewArray, StructArray,
    TimestampMicrosecondArray, TimestampMillisecondArray, TimestampNanosecondArray,
    TimestampSecondArray, UInt8Array, UInt64Array,
};
use arrow_schema::Field;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::metadata::PageIndexPolicy;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::ChunkReader as _;

use crate::limits::PARQUET_BATCH_ROWS;
use portcullis_dialect::Fetched;
use portcullis_files::input::{InputError, Source};
use portcullis_robots::access::{TimeUnit, UnixSeconds};

use super::{Keeper, fields, lost, read_all};
use crate::parquet::file::ParquetSource;
use crate::parquet::open;
use crate::{BatchReader, FieldMap, ReadConfig};
use portcullis_robots::access::{CaptureNote, CaptureNotes};
use portcullis_testkit::files::{Columns, column, flipped, overwrite, parquet as written};

fn read_with(columns: Columns, names: &FieldMap) -> Keeper {
    let (_folder, path) = written(columns, WriterProperties::default());
    read_all(&mut open(&path, names).unwrap(), Some(10))
}

fn read(columns: Columns) -> Keeper {
    read_with(columns, &FieldMap::default())
}

#[track_caller]
fn problem(columns: Columns, names: &FieldMap) -> String {
    let (_folder, path) = written(columns, WriterProperties::default());
    match open(&path, names) {
        Err(InputError::List { problem, .. }) => problem,
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("the file was opened"),
    }
}

fn texts(values: &[&str]) -> ArrayRef {
    Arc::new(StringArray::from(values.to_vec()))
}

const EMPTY: CaptureNotes = CaptureNotes::EMPTY;

/// A body of the size limit and two bytes more.
const TWELVE: &[u8] = b"0123456789ab";

/// Returns a valid row, except for the columns in `others`.
fn one_row(others: Columns) -> Columns {
    let mut columns: Columns = vec![
        ("url", texts(&["u"])),
        ("status", column(Int32Array::from(vec![200]))),
        ("body", texts(&["text"])),
    ];
    for (name, column) in others {
        columns.retain(|(other, _)| *other != name);
        columns.push((name, column));
    }
    columns
}

#[test]
fn every_row_is_a_capture_or_broken() {
    type Row = (Option<&'static str>, Option<i64>, Option<&'static [u8]>);
    type Found = Result<(Fetched, &'static [u8], CaptureNotes), &'static str>;
    let truncated = EMPTY.with(CaptureNote::Truncated);
    let cut = CaptureNotes::EMPTY.with(CaptureNote::BodyCut);
    let no_subject = "no URL and no host (url, robots_url, uri, host, domain, hostname); name the \
                      field with ‹fields› url=NAME";
    let bad_status = "its status is 1000; expected at most three digits, or null";
    let rows: [(Row, Found); 10] = [
        ((Some("a"), Some(200), Some(b"\xff\0")), Ok((Fetched::Status(200), b"\xff\0", EMPTY))),
        ((Some("b"), Some(200), None), Ok((Fetched::BrokenBody, b"", truncated))),
        ((Some("c"), Some(204), None), Ok((Fetched::Status(204), b"", EMPTY))),
        ((Some("d"), Some(404), Some(b"x")), Ok((Fetched::Status(404), b"", EMPTY))),
        ((Some("e"), None, None), Ok((Fetched::NoResponse, b"", EMPTY))),
        ((Some("f"), Some(0), Some(b"")), Ok((Fetched::NoResponse, b"", EMPTY))),
        ((None, Some(200), Some(b"")), Err(no_subject)),
        ((Some("g"), Some(200), Some(TWELVE)), Ok((Fetched::Status(200), TWELVE, EMPTY))),
        ((Some("h"), Some(299), Some(b"0123456789abc")), Ok((Fetched::Status(299), TWELVE, cut))),
        ((Some("i"), Some(1000), Some(b"x")), Err(bad_status)),
    ];
    let found = read(vec![
        ("extra", texts(&["x"; 10])),
        ("body", column(BinaryArray::from_iter(rows.map(|(row, _)| row.2)))),
        ("status", column(Int64Array::from_iter(rows.map(|(row, _)| row.1)))),
        ("url", column(StringArray::from_iter(rows.map(|(row, _)| row.0)))),
    ]);
    let (mut captures, mut broken) = (found.captures.iter(), found.broken.iter());
    for (number, ((url, ..), expected)) in rows.into_iter().enumerate() {
        let Ok((answer, body, notes)) = expected else {
            let broken = broken.next().unwrap();
            assert_eq!(broken.place, format!("row {}", number + 1));
            assert_eq!(Err(&*broken.problem), expected);
            continue;
        };
        let kept = captures.next().unwrap();
        assert_eq!((Some(&*kept.subject), kept.is_host), (url, false));
        assert_eq!((kept.capture.answer, &*kept.capture.body), (answer, body), "{url:?}");
        assert_eq!((kept.capture.notes, kept.capture.captured_at), (notes, None), "{url:?}");
    }
    assert_eq!((captures.next(), broken.next()), (None, None));
}

#[test]
fn texts_in_every_layout() {
    let layouts: [ArrayRef; 8] = [
        column(BinaryArray::from(vec![&b"x"[..]])),
        column(LargeBinaryArray::from(vec![&b"x"[..]])),
        column(BinaryViewArray::from(vec![&b"x"[..]])),
        column(StringArray::from(vec!["x"])),
        column(LargeStringArray::from(vec!["x"])),
        column(StringViewArray::from(vec!["x"])),
        column(["x"].into_iter().collect::<DictionaryArray<Int32Type>>()),
        column(["x"].into_iter().collect::<DictionaryArray<Int16Type>>()),
    ];
    for layout in layouts {
        let found = read(one_row(vec![("url", layout.clone()), ("body", layout.clone())]));
        assert_eq!(found.captures[0].subject, "x", "{}", layout.data_type());
        assert_eq!(&*found.captures[0].capture.body, b"x", "{}", layout.data_type());
    }
}

#[test]
fn statuses_in_every_layout() {
    let found = |status: ArrayRef| {
        let found = read(one_row(vec![("status", status)]));
        found.captures.first().map(|kept| kept.capture.answer)
    };
    let status = |status| Some(Fetched::Status(status));
    assert_eq!(found(column(Int16Array::from(vec![404]))), status(404));
    assert_eq!(found(column(UInt8Array::from(vec![200]))), status(200));
    assert_eq!(found(column(UInt64Array::from(vec![503]))), status(503));
    assert_eq!(found(column(UInt64Array::from(vec![u64::MAX]))), None);
    assert_eq!(found(column(Int64Array::from(vec![-200]))), None);
    assert_eq!(found(column(Float64Array::from(vec![301.0]))), status(301));
    assert_eq!(found(column(Float32Array::from(vec![301.0]))), status(301));
    assert_eq!(found(column(Float64Array::from(vec![200.5]))), None);
    assert_eq!(found(column(Float64Array::from(vec![-1.0]))), None);
    assert_eq!(found(texts(&[" 404"])), status(404));
    assert_eq!(found(texts(&["301.0"])), status(301), "as pandas writes it");
    assert_eq!(found(texts(&["OK"])), None);
    let gap = ("status", column(Float64Array::from(vec![f64::NAN])));
    assert_eq!(found(gap.1.clone()), None, "a body contradicts it");
    let found = |columns| read(columns).captures[0].capture.answer;
    assert_eq!(found(one_row(vec![gap, ("body", texts(&[""]))])), Fetched::NoResponse);
    for flag in ["truncated", "error"] {
        let gap = (flag, column(Float64Array::from(vec![f64::NAN])));
        let row = vec![gap, ("status", texts(&["200"])), ("body", texts(&[""]))];
        assert_eq!(found(one_row(row)), status(200).unwrap(), "{flag}");
    }
}

#[test]
fn times_in_every_layout() {
    let found = |times: ArrayRef| {
        let found = read(one_row(vec![("fetched_at", times)]));
        found.captures.first().map(|kept| kept.capture.captured_at)
    };
    let seven = Some(Some(UnixSeconds(7)));
    assert_eq!(found(column(TimestampSecondArray::from(vec![7]))), seven);
    assert_eq!(found(column(TimestampMillisecondArray::from(vec![7_999]))), seven);
    assert_eq!(found(column(TimestampMicrosecondArray::from(vec![7_000_000]))), seven);
    assert_eq!(found(column(TimestampNanosecondArray::from(vec![7_000_000_001]))), seven);
    let zoned = TimestampMillisecondArray::from(vec![7_000]).with_timezone("+01:00");
    assert_eq!(found(column(zoned)), seven);
    assert_eq!(found(column(TimestampMillisecondArray::from(vec![None]))), Some(None));
    assert_eq!(found(column(TimestampMillisecondArray::from(vec![-1]))), None);
    assert_eq!(found(texts(&["1970-01-01T00:00:07Z"])), seven);
    assert_eq!(found(column(StringArray::from(vec![None::<&str>]))), Some(None));
    assert_eq!(found(texts(&["1970-01-01 00:00:07"])), seven);
    assert_eq!(found(texts(&["19700101000007"])), seven);
    assert_eq!(found(column(Date32Array::from(vec![1]))), Some(Some(UnixSeconds(86_400))));
    assert_eq!(found(column(Date32Array::from(vec![-1]))), None);
    assert_eq!(found(texts(&["today"])), None);
    assert_eq!(found(texts(&["7000"])), None, "its unit is not known");
    for (unit, number) in [
        (TimeUnit::Seconds, 7),
        (TimeUnit::Milliseconds, 7_999),
        (TimeUnit::Microseconds, 7_000_000),
        (TimeUnit::Nanoseconds, 7_000_000_999),
    ] {
        let usual = FieldMap::default().with_unit(Some(unit));
        for times in [
            column(Int64Array::from(vec![number])),
            column(Float64Array::from(vec![number as f64])),
            texts(&[&number.to_string()]),
            texts(&["1970-01-01T00:00:07Z"]),
        ] {
            let found = read_with(one_row(vec![("fetched_at", times)]), &usual);
            assert_eq!(found.captures[0].capture.captured_at, Some(UnixSeconds(7)), "{unit}");
        }
    }

    let broken = read(one_row(vec![("fetched_at", texts(&["today"]))])).broken;
    let said = "its time is \"today\"; expected a date or time, such as 2024-05-01T12:00:00Z, \
                2024-05-01 or 20240501120000, or a number with ‹time_unit›; it counts as \
             the newest of its input";
    assert_eq!((&*broken[0].place, &*broken[0].problem), ("row 1", said));
}

#[test]
fn columns_by_their_usual_names() {
    let status = || column(Int32Array::from(vec![200]));
    let found = read(vec![
        ("timestamp", texts(&["1970-01-01T00:00:01Z"])),
        ("text", texts(&["no"])),
        ("robots_txt", texts(&["yes"])),
        ("HTTP_status", status()),
        ("Domain", texts(&["a.example"])),
        ("warc_date", texts(&["1970-01-01T00:00:02Z"])),
    ]);
    let kept = &found.captures[0];
    assert!(kept.is_host);
    assert_eq!((&*kept.subject, &*kept.capture.body), ("a.example", &b"yes"[..]));
    assert_eq!(kept.capture.captured_at, Some(UnixSeconds(2)));
}

#[test]
fn columns_by_the_names_that_are_given() {
    let columns = || -> Columns {
        vec![
            ("url", texts(&["u"])),
            ("host", texts(&["h"])),
            ("other", texts(&["o"])),
            ("status", column(Int32Array::from(vec![404]))),
            ("code", column(Int32Array::from(vec![200]))),
            ("body", texts(&["b"])),
        ]
    };
    let rows: [(&[&str], &str, bool); 5] = [
        (&[], "u", false),
        (&["host=host"], "h", true),
        (&["host=other"], "o", true),
        (&["url=other"], "o", false),
        (&["url=url", "host=host"], "u", false),
    ];
    for (names, subject, is_host) in rows {
        let found = read_with(columns(), &fields(names));
        let kept = &found.captures[0];
        assert_eq!((&*kept.subject, kept.is_host), (subject, is_host), "{names:?}");
        assert_eq!(kept.capture.answer, Fetched::Status(404));
    }
    // One column may be used for two fields.
    let found = read_with(columns(), &fields(&["status=code", "body=url"]));
    assert_eq!(&*found.captures[0].capture.body, b"u");
    assert_eq!(found.captures[0].capture.answer, Fetched::Status(200));
}

#[test]
fn columns_within_structures() {
    let text = |value: Option<&str>| column(StringArray::from(vec![Some("a"), value, Some("c")]));
    let field =
        |name: &str, array: &ArrayRef| Arc::new(Field::new(name, array.data_type().clone(), true));
    let (body, url) = (text(Some("b")), text(Some("u")));
    let inner = StructArray::from(vec![(field("text", &body), body.clone())]);
    let inner: ArrayRef = Arc::new(inner);
    // The third row has no answer at all.
    let (fields_of_answer, arrays, _) = StructArray::from(vec![
        (field("deep", &inner), inner),
        (field("unused", &url), url.clone()),
    ])
    .into_parts();
    let answer = StructArray::new(fields_of_answer, arrays, Some(vec![true, true, false].into()));
    let columns: Columns = vec![("url", url), ("answer", column(answer)), ("answer.deep.x", body)];
    let found = read_with(columns.clone(), &fields(&["body=answer.deep.text"]));
    let bodies: Vec<&[u8]> = found.captures.iter().map(|kept| &*kept.capture.body).collect();
    assert_eq!(bodies, [b"a", b"b"]);
    let nothing = "no status, no body and no error, so its outcome is not known";
    assert_eq!(found.broken[0].problem, nothing);
    assert!(found.captures[0].capture.notes.contains(CaptureNote::StatusAssumed));
    let whole = read_with(columns.clone(), &fields(&["body=answer\\.deep\\.x"]));
    assert_eq!(whole.captures.len(), 3);
    let problem = problem(columns, &fields(&["body=answer.deep.y"]));
    let expected = "no column answer.deep.y (‹fields› body=answer.deep.y)";
    assert!(problem.starts_with(expected), "{problem}");
}

#[test]
fn errors_and_cut_bodies() {
    for (name, value, answer) in [
        ("error", texts(&["reset"]), Fetched::BrokenBody),
        ("content_truncated", texts(&["length"]), Fetched::BrokenBody),
        ("truncated", column(BooleanArray::from(vec![false])), Fetched::Status(200)),
    ] {
        assert_eq!(read(one_row(vec![(name, value)])).captures[0].capture.answer, answer, "{name}");
    }
}

/// Programs write a column without values as one of nulls.
#[test]
fn columns_of_nulls() {
    let nulls = || column(NullArray::new(1));
    for field in ["error", "truncated", "timestamp", "host"] {
        let capture = &read(one_row(vec![(field, nulls())])).captures[0].capture;
        assert_eq!((capture.answer, capture.captured_at), (Fetched::Status(200), None), "{field}");
    }
    let answer = |field| read(one_row(vec![(field, nulls())])).captures[0].capture.answer;
    assert_eq!(answer("body"), Fetched::BrokenBody);
    assert_eq!(read(one_row(vec![("url", nulls())])).broken.len(), 1);
}

/// The first column of a field that is not null counts, as in JSON Lines.
#[test]
fn several_columns_of_a_field() {
    let null = || column(StringArray::from(vec![None::<&str>]));
    for (columns, subject, answer) in [
        (vec![("url", null()), ("uri", texts(&["v"]))], "v", Fetched::Status(200)),
        (vec![("uri", texts(&["v"]))], "u", Fetched::Status(200)),
        (vec![("body", null()), ("content", texts(&["x"]))], "u", Fetched::Status(200)),
        (
            vec![("truncated", null()), ("content_truncated", texts(&["length"]))],
            "u",
            Fetched::BrokenBody,
        ),
    ] {
        let kept = &read(one_row(columns)).captures[0];
        assert_eq!((&*kept.subject, kept.capture.answer), (subject, answer));
    }
}

#[test]
fn columns_that_are_missing_or_of_another_type() {
    let without = |name: &str| {
        one_row(vec![]).into_iter().filter(|(other, _)| *other != name).collect::<Columns>()
    };
    let usual = FieldMap::default();
    let times = || one_row(vec![("timestamp", column(Int64Array::from(vec![7])))]);
    for (columns, names, expected) in [
        (
            without("url"),
            &usual,
            "no column for the URL or host (url, robots_url, uri, host, domain, hostname); \
             name it with ‹fields› url=COLUMN; the columns are `status`, `body`",
        ),
        (
            without("body"),
            &usual,
            "no column for the body (body, content, robots_txt, text, body_base64); \
             name it with ‹fields› body=COLUMN; the columns are `url`, `status`",
        ),
        (
            one_row(vec![]),
            &fields(&["fetched_at=when"]),
            "no column when (‹fields› fetched_at=when); the columns are `url`, `status`, `body`",
        ),
        (
            one_row(vec![]),
            &fields(&["headers=body"]),
            "headers are read from JSON Lines only; omit ‹fields› headers",
        ),
        (
            one_row(vec![("URL", texts(&["v"]))]),
            &usual,
            "two columns are called url and URL; name one with ‹fields› url=COLUMN, or rename one",
        ),
        (
            one_row(vec![("status", column(BooleanArray::from(vec![true])))]),
            &usual,
            "the column status holds Boolean; status needs numbers or text; name another with \
             ‹fields› status=COLUMN, or none with ‹fields› status=",
        ),
        (
            times(),
            &usual,
            "the column timestamp holds Int64; fetched_at needs timestamps, dates or text, or numbers \
             with ‹time_unit›; name another with ‹fields› fetched_at=COLUMN, or none with ‹fields› fetched_at=",
        ),
    ] {
        assert_eq!(problem(columns, names), expected);
    }
    assert_eq!(read_with(times(), &fields(&["fetched_at="])).captures.len(), 1);
    let assumed = &read(without("status")).captures[0].capture;
    assert_eq!(assumed.answer, Fetched::Status(200));
    assert!(assumed.notes.contains(CaptureNote::StatusAssumed));
}

#[test]
fn many_row_groups_and_codecs() {
    let count = 2 * PARQUET_BATCH_ROWS + 1;
    let urls: Vec<String> = (0..count).map(|row| format!("https://h{row}.example/")).collect();
    let columns = || -> Columns {
        vec![
            ("url", column(StringArray::from(urls.clone()))),
            (
                "status",
                column(Int32Array::from_iter_values((0..count).map(|row| row.max(1) as i32))),
            ),
            ("body", column(StringArray::from(urls.clone()))),
        ]
    };
    let codecs = [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(Default::default()),
        Compression::ZSTD(ZstdLevel::default()),
    ];
    for codec in codecs {
        let properties = WriterProperties::builder()
            .set_compression(codec)
            .set_max_row_group_row_count(Some(700))
            .build();
        let (_folder, path) = written(columns(), properties);
        let found = read_all(&mut open(&path, &FieldMap::default()).unwrap(), None);
        let subjects: Vec<&str> = found.captures.iter().map(|kept| kept.subject.as_str()).collect();
        assert_eq!(subjects, urls[..1000], "{codec:?}");
        let first = &found.broken[0];
        assert_eq!(first.place, "row 1001", "statuses have three digits");
        assert_eq!(found.broken.len(), count - 1000);
        assert_eq!(found.stored_bytes, std::fs::metadata(&path).unwrap().len());
    }
}

#[test]
fn no_rows() {
    let columns: Columns = vec![
        ("url", texts(&[])),
        ("status", column(Int32Array::from(Vec::<i32>::new()))),
        ("body", texts(&[])),
    ];
    let found = read(columns);
    assert_eq!((found.captures.len(), found.broken.len()), (0, 0));
}

#[test]
fn what_is_no_parquet_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let names = FieldMap::default();
    assert!(matches!(open(&path, &names), Err(InputError::Open { .. })));
    for bytes in [&b""[..], b"PAR1", b"PAR1PAR1", b"{\"url\": 1}\n", &[b'x'; 100]] {
        std::fs::write(&path, bytes).unwrap();
        let error = open(&path, &names).err();
        assert!(matches!(error, Some(InputError::List { .. })), "{error:?}");
    }
}

/// After any damage to the bytes, a file is read to its end or is an error, and no row is lost.
#[test]
fn flipped_bytes_never_end_the_process() {
    survives_flipped_bytes(5);
}

#[test]
#[ignore = "takes five times as long; scripts/check --full runs it"]
fn every_flipped_byte_never_ends_the_process() {
    survives_flipped_bytes(1);
}

fn survives_flipped_bytes(stride: usize) {
    let rows = 40;
    let text = |text: fn(usize) -> String| {
        column(StringArray::from((0..rows).map(text).collect::<Vec<_>>()))
    };
    let columns = vec![
        ("url", text(|row| format!("https://h{row}.example/robots.txt"))),
        ("status", column(Int32Array::from(vec![200; rows]))),
        ("body", text(|row| format!("User-agent: *\nDisallow: /{row}\n"))),
    ];
    let (_folder, path) = written(columns, WriterProperties::default());
    let whole = std::fs::read(&path).unwrap();
    let read = |bytes: &[u8]| -> Option<usize> {
        overwrite(&path, bytes);
        let mut reader = open(&path, &FieldMap::default()).ok()?;
        let mut keeper = Keeper::default();
        while let Some(batch) = reader.next_batch().ok()? {
            batch.read(&ReadConfig { robots_bytes_max: None }, &mut |read| keeper.keep(read));
        }
        Some(keeper.captures.len() + keeper.broken.len())
    };
    assert_eq!(read(&whole), Some(rows));
    for (flip, bytes) in flipped(&whole, stride) {
        let found = read(&bytes);
        assert!(found.is_none_or(|found| found == rows), "{flip}: {found:?}");
    }
}

/// A copied column would be of another file than the verdicts.
#[test]
fn a_file_that_is_written_to_is_an_error() {
    let (_folder, path) = written(vec![("url", texts(&["u"]))], WriterProperties::default());
    let file = std::fs::File::options().read(true).append(true).open(&path).unwrap();
    let opened = std::fs::File::open(&path).unwrap();
    let source = ParquetSource::open("list", opened, PageIndexPolicy::Skip).unwrap();
    assert!(source.file.get_bytes(0, 4).is_ok());
    file.set_modified(std::time::UNIX_EPOCH).unwrap();
    let error = source.file.get_bytes(0, 4).unwrap_err().to_string();
    assert!(error.contains("was written to while it was read"), "{error}");
}

/// A value means the same in a text of a column, in an object of JSON Lines and in a text of one.
#[test]
fn members_of_texts_are_those_of_json_lines() {
    let names = [
        "url=m.url",
        "status=m.status",
        "body=m.body",
        "error=m.error",
        "truncated=m.cut",
        "fetched_at=m.at",
        "body_base64=m.coded",
    ];
    let names = || fields(&names).with_unit(Some(TimeUnit::Seconds));
    let lines = |line: String| {
        let source = Source::from_reader("lines", std::io::Cursor::new(line));
        read_all(&mut crate::json_lines::open(source, &names()), Some(10))
    };
    use Fetched::{BrokenBody, NoResponse, Status};
    for (members, expected) in [
        (r#""status": 200, "body": "a""#, Some(Status(200))),
        (r#""body": "a\u002f""#, Some(Status(200))),
        (r#""status": "200", "body": "a", "cut": true"#, Some(BrokenBody)),
        (r#""status": 200, "body": "a", "error": {"k": 1}"#, Some(BrokenBody)),
        (r#""status": 200, "body": "a", "error": [1]"#, Some(BrokenBody)),
        (r#""status": 200, "body": "a", "error": 7"#, Some(BrokenBody)),
        (r#""status": 200, "body": "a", "error": 0, "x": NaN"#, Some(Status(200))),
        (r#""status": 200, "body": null"#, Some(BrokenBody)),
        (r#""status": 404, "at": 1700000000"#, Some(Status(404))),
        (r#""status": null"#, Some(NoResponse)),
        (r#""status": [200], "body": "a""#, None),
        (r#""status": 200, "status": 200, "body": "a""#, None),
        (r#""status": 200, "body": 5"#, None),
        (r#""status": 200, "body": "a", "coded": "YQ==""#, None),
        (r#""at": true, "body": "a""#, None),
        (r#""error": null"#, None),
    ] {
        let text = format!(r#"{{"url": "u", {members}}}"#);
        let rows = read_with(vec![("m", texts(&[&text]))], &names());
        let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
        for found in
            [lines(format!(r#"{{"m": {text}}}"#)), lines(format!(r#"{{"m": "{escaped}"}}"#))]
        {
            assert_eq!(found.captures, rows.captures, "{text}");
            let problems = |read: &Keeper| -> Vec<String> {
                read.broken.iter().map(|broken| broken.problem.clone()).collect()
            };
            assert_eq!(problems(&found), problems(&rows), "{text}");
        }
        assert_eq!(rows.captures.first().map(|kept| kept.capture.answer), expected, "{text}");
        assert_eq!(rows.captures.len() + rows.broken.len(), 1, "{text}");
    }
}

/// Otherwise a missing status would be 200.
#[test]
fn members_of_null_are_null() {
    let names = || fields(&["url=u", "status=m.status", "body=b"]);
    let columns = vec![
        ("u", texts(&["u"])),
        ("b", texts(&[""])),
        ("m", Arc::new(StringArray::from(vec![None::<&str>])) as ArrayRef),
    ];
    let rows = read_with(columns, &names());
    assert_eq!(rows.captures[0].capture.answer, Fetched::NoResponse);
    for null in ["null", r#"{"status": null}"#] {
        let line = format!(r#"{{"u": "u", "b": "", "m": {null}}}"#);
        let source = Source::from_reader("lines", std::io::Cursor::new(line));
        let found = read_all(&mut crate::json_lines::open(source, &names()), None);
        assert_eq!(found.captures, rows.captures, "{null}");
    }
}

#[test]
fn a_damaged_text_has_no_members() {
    let names = || fields(&["url=m.url", "body=m.body"]);
    for text in [r#"{"url": "u", "body": "a"#, r#"{"url": "u", "body": "a"} x"#, r#"{"url": "u", "#]
    {
        let found = read_with(vec![("m", texts(&[text]))], &names());
        let [broken] = &found.broken[..] else { panic!("{text}: {found:?}") };
        assert!(broken.problem.starts_with("a text with damaged JSON: "), "{}", broken.problem);
        assert_eq!(found.captures, [], "{text}");
    }
}

/// The order of columns has no meaning.
#[test]
fn what_is_beside_a_damaged_text_is_read() {
    let names = || fields(&["url=m.url", "body=r.body", "fetched_at=t.at"]);
    let urls = || ("m", texts(&[r#"{"url": "u"}"#]));
    let bodies = || ("r", texts(&[r#"{"body": "User-a"#]));
    let times = |text: &str| ("t", texts(&[text]));
    let at = r#"{"at": "1970-01-01T00:01:00Z"}"#;
    for (columns, expected) in [
        (vec![urls(), bodies(), times(at)], "u 60"),
        (vec![bodies(), urls(), times(at)], "u 60"),
        (vec![times(at), bodies(), urls()], "u 60"),
        (vec![urls(), bodies(), times(r#"{"at": null}"#)], "u -"),
        (vec![times(r#"{"at": "1970"#), bodies(), urls()], "u ?"),
        (vec![("m", texts(&[r#"{"url": "u""#])), bodies(), times(at)], ""),
    ] {
        assert_eq!(lost(&read_with(columns, &names())).join(" "), expected);
    }
}

#[test]
fn a_member_that_no_text_has_is_missing() {
    let rows =
        || vec![("m", texts(&[r#"{"url": "u", "body": "a"}"#, r#"{"url": "v", "body": "a"}"#]))];
    let named = fields(&["url=m.url", "body=m.body", "error=m.eror"]);
    assert_eq!(read_with(rows(), &named).captures.len(), 2);
    assert!(named.missing().unwrap().starts_with("no capture has the field m.eror"));
    let named = fields(&["url=m.url", "body=m.body"]);
    read_with(rows(), &named);
    assert_eq!(named.missing(), None);
}
