//! Parquet as a list of URLs, in and out.

use std::sync::Arc;

use ::parquet::arrow::ArrowWriter;
use ::parquet::basic::{Compression, Encoding};
use ::parquet::data_type::{ByteArray, ByteArrayType};
use ::parquet::file::metadata::ParquetMetaDataWriter;
use ::parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use ::parquet::file::reader::{FileReader, SerializedFileReader};
use ::parquet::file::writer::SerializedFileWriter;
use ::parquet::schema::parser::parse_message_type;
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, DictionaryArray, Int64Array, ListArray, RecordBatch, StringArray};

use portcullis_captures::limits::PARQUET_PAGE_BYTES_MAX;

use super::*;

const ROWS: usize = 700;

/// Returns the URLs in turn, the last one null.
fn urls() -> Vec<Option<String>> {
    let url = |row: usize| match row % 5 {
        0 => Some(format!("{ALLOWED}{row}")),
        1 => Some(format!("{DISALLOWED}{row}")),
        2 => Some(format!("{UNKNOWN}{row}")),
        3 => Some(INVALID.to_owned()),
        _ => None,
    };
    (0..ROWS).map(url).collect()
}

const VERDICTS: [&str; 5] = ["allow", "disallow", "unknown", "invalid", "invalid"];

pub(super) fn array(array: impl arrow_array::Array + 'static) -> ArrayRef {
    Arc::new(array)
}

/// Writes a file with several row groups and pages, and a column of lists.
fn write(folder: &Folder, name: &str) {
    let lists = (0..ROWS).map(|row| Some((0..row % 3).map(|item| Some(item as i32))));
    let words = (0..ROWS).map(|row| ["one", "two"][row % 2]);
    write_columns(
        folder,
        name,
        vec![
            ("id", array(Int64Array::from_iter_values(0..ROWS as i64))),
            ("url", array(urls().into_iter().collect::<StringArray>())),
            ("items", array(ListArray::from_iter_primitive::<Int32Type, _, _>(lists))),
            ("word", array(words.collect::<DictionaryArray<Int32Type>>())),
        ],
    );
}

pub(super) fn write_columns(folder: &Folder, name: &str, columns: Vec<(&str, ArrayRef)>) {
    let properties = WriterProperties::builder()
        .set_max_row_group_row_count(Some(300))
        .set_data_page_row_count_limit(64)
        .set_write_batch_size(32)
        .build();
    write_as(folder, name, columns, properties);
}

fn write_as(
    folder: &Folder,
    name: &str,
    columns: Vec<(&str, ArrayRef)>,
    properties: WriterProperties,
) {
    let columns = columns.into_iter().map(|(name, column)| (name, column, true));
    let batch = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
    let file = fs::File::create(folder.path(name)).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

fn reader(folder: &Folder, name: &str) -> SerializedFileReader<fs::File> {
    SerializedFileReader::new(fs::File::open(folder.path(name)).unwrap()).unwrap()
}

/// Returns the rows of a file as text, and the names of its columns.
fn rows(folder: &Folder, name: &str) -> (Vec<String>, Vec<String>) {
    let reader = reader(folder, name);
    let schema = reader.metadata().file_metadata().schema();
    let names = schema.get_fields().iter().map(|field| field.name().to_owned()).collect();
    let rows = reader.get_row_iter(None).unwrap().map(|row| row.unwrap().to_string());
    (rows.collect(), names)
}

fn metadata(folder: &Folder, name: &str, key: &str) -> Option<String> {
    let reader = reader(folder, name);
    let pairs = reader.metadata().file_metadata().key_value_metadata()?;
    pairs.iter().find(|pair| pair.key == key)?.value.clone()
}

/// Returns the account that the program writes into a file.
fn account(folder: &Folder, name: &str) -> Value {
    json(metadata(folder, name, "portcullis").unwrap().as_bytes())
}

const FLAGS: &str = "--robots robots -a ExampleBot";

#[test]
fn verdicts_are_those_of_the_same_lines() {
    let folder = Folder::new();
    write(&folder, "x.parquet");
    let lines: String = urls().into_iter().map(|url| url.unwrap_or_default() + "\n").collect();
    folder.write("x.txt", lines);
    for format in ["tsv", "jsonl", "csv"] {
        let expected = folder.ok(format!("classify x.txt {FLAGS} --format {format}"));
        for threads in [1, 2, 7] {
            let line = format!("classify x.parquet {FLAGS} --format {format} -j {threads}");
            let found = folder.ok(line);
            assert_stdout(&found, &expected.stdout);
            assert_says(&found, &["note: x.parquet: Parquet, column `url`"]);
        }
    }
}

#[test]
fn columns_are_added_beside_all_others() {
    let folder = Folder::new();
    write(&folder, "x.parquet");
    let (own, names) = rows(&folder, "x.parquet");
    let mut first = None;
    for threads in [1, 2, 7] {
        let line = format!("classify x.parquet {FLAGS} -o y.parquet --summary none -j {threads}");
        folder.ok(line + " --columns verdict,line");
        let bytes = folder.read("y.parquet");
        assert!(*first.get_or_insert(bytes.clone()) == bytes, "{threads} threads");
    }
    let (found, found_names) = rows(&folder, "y.parquet");
    assert_eq!(found_names[..4], names);
    assert_eq!(found_names[4..], ["ExampleBot", "ExampleBot_line"]);
    assert_eq!(found.len(), ROWS);
    for (row, (found, own)) in found.iter().zip(&own).enumerate() {
        let own = own.strip_suffix('}').unwrap();
        let line = if row % 5 == 1 { "2" } else { "null" };
        let verdict = VERDICTS[row % 5];
        let expected = format!("{own}, ExampleBot: \"{verdict}\", ExampleBot_line: {line}}}");
        assert_eq!(*found, expected);
    }
    let account = account(&folder, "y.parquet");
    assert_eq!(account["policies"]["dialect"], "rfc9309");
    assert_eq!(account["agents"][0], "ExampleBot");
    assert_eq!(account["records"], ROWS);
    assert_eq!(account["per_agent"][0]["verdicts"]["invalid"], ROWS * 2 / 5);
    // Columns of an earlier run are columns like others.
    let again = folder.output(format!("classify y.parquet {FLAGS} -o z.parquet"));
    assert_fails(&again, &["two columns would have the name 'ExampleBot'", "--column-prefix"]);
    assert!(!exists(&folder.path("z.parquet")));
    folder.ok(format!("classify y.parquet {FLAGS} -o z.parquet --column-prefix new_"));
    assert_eq!(rows(&folder, "z.parquet").1[6], "new_ExampleBot");
}

#[test]
fn files_without_rows() {
    let folder = Folder::new();
    let empty = StringArray::from(Vec::<&str>::new());
    write_columns(&folder, "x.parquet", vec![("url", array(empty))]);
    folder.ok(format!("classify x.parquet {FLAGS} -o y.parquet"));
    assert_eq!(rows(&folder, "y.parquet"), (vec![], vec!["url".into(), "ExampleBot".into()]));
    folder.ok(format!("filter x.parquet {FLAGS} -o z.parquet"));
    assert_eq!(rows(&folder, "z.parquet"), (vec![], vec!["url".into()]));
    assert_stdout(&folder.ok(format!("classify x.parquet {FLAGS}")), "");
    folder.write("empty.txt", "");
    folder.ok(format!("classify empty.txt {FLAGS} -o y.parquet"));
    assert_eq!(rows(&folder, "y.parquet"), (vec![], vec!["url".into(), "ExampleBot".into()]));
}

/// Some readers cannot make a dictionary of other encodings.
#[test]
fn kept_columns_are_encoded_as_before() {
    const VALUES: usize = 40_000;
    let folder = Folder::new();
    let url = |row: usize| format!("{}{row}", [ALLOWED, DISALLOWED][row % 2]);
    let digits: Vec<String> = (0..VALUES).map(|row| format!("{row:060}")).collect();
    let digits: DictionaryArray<Int32Type> = digits.iter().map(String::as_str).collect();
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("url", array((0..VALUES).map(|row| Some(url(row))).collect::<StringArray>())),
        ("digits", array(digits)),
        ("id", array(Int64Array::from_iter_values(0..VALUES as i64))),
    ];
    let version_2 = || WriterProperties::builder().set_writer_version(WriterVersion::PARQUET_2_0);
    for properties in [
        version_2().set_encoding(Encoding::PLAIN).set_dictionary_enabled(false),
        // A dictionary of some pages, and of all.
        version_2().set_encoding(Encoding::PLAIN),
        version_2().set_dictionary_page_size_limit(usize::MAX),
        version_2().set_dictionary_enabled(false),
        WriterProperties::builder(),
    ] {
        write_as(&folder, "x.parquet", columns.clone(), properties.build());
        folder.ok(format!("filter x.parquet {FLAGS} -o y.parquet"));
        let (own, _) = rows(&folder, "x.parquet");
        let own: Vec<String> = own.into_iter().step_by(2).collect();
        assert!(rows(&folder, "y.parquet").0 == own);
        let [own, new] = ["x.parquet", "y.parquet"].map(|name| reader(&folder, name));
        let [own, new] = [&own, &new].map(|reader| reader.metadata().row_group(0).columns());
        for (own, new) in own.iter().zip(new) {
            let [own, new] = [own, new].map(|it| it.page_encoding_stats_mask().unwrap());
            // Half of the values may fit into a dictionary that is too short for all.
            let added: Vec<Encoding> = new.encodings().filter(|it| !own.is_set(*it)).collect();
            assert!(added.is_empty(), "{added:?}");
        }
    }
}

/// Writes rows and lines with the same URLs, which have each relation to a file with preferences,
/// and the file.
fn write_preferences(folder: &Folder) {
    let robots = "User-agent: *\nContent-Usage: /open train-ai=y, search=n\n\
        Content-Signal: /closed ai-train=no\nDisallow: /private\n";
    folder.write("sites/a.example", robots);
    let paths =
        ["a.example/open/", "a.example/closed/", "a.example/", "a.example/private/", "b.example/"];
    let url = |row: usize| match paths.get(row % 7) {
        Some(path) => Some(format!("https://{path}{row}")),
        None => (row % 7 == 5).then(|| format!("no url {row}")),
    };
    let urls: Vec<Option<String>> = (0..ROWS).map(url).collect();
    let lines: String = urls.iter().map(|url| url.clone().unwrap_or_default() + "\n").collect();
    folder.write("p.txt", lines);
    let column = array(urls.into_iter().collect::<StringArray>());
    write_columns(folder, "p.parquet", vec![("url", column)]);
}

/// Returns the values of one column, without the quotes of strings.
fn column(folder: &Folder, file: &str, name: &str) -> Vec<String> {
    let reader = reader(folder, file);
    let value = |row: ::parquet::record::Row| {
        let (_, field) = row.get_column_iter().find(|(column, _)| *column == name).unwrap();
        field.to_string().trim_matches('"').to_owned()
    };
    reader.get_row_iter(None).unwrap().map(|row| value(row.unwrap())).collect()
}

#[test]
fn a_purpose_keeps_the_rows_of_the_lines_that_it_keeps() {
    let folder = Folder::new();
    write_preferences(&folder);
    let flags = "--robots sites -a ExampleBot --purpose train-ai";
    let each = ROWS / 7;
    for (unstated, kept) in [("keep", 2 * each), ("drop", each)] {
        let flags = format!("{flags} --unstated {unstated}");
        let lines = folder.ok(format!("filter p.txt {flags} --summary json"));
        let of_lines = json(&lines.stderr);
        let lines = String::from_utf8(lines.stdout).unwrap();
        let lines: Vec<&str> = lines.lines().collect();
        assert_eq!((lines.len(), &of_lines["unstated"]), (kept, &each.into()), "{of_lines}");
        for threads in [1, 2, 7] {
            folder.ok(format!("filter p.parquet {flags} -o kept.parquet -j {threads}"));
            assert_eq!(column(&folder, "kept.parquet", "url"), lines, "{unstated}");
            let account = account(&folder, "kept.parquet");
            for count in ["records", "kept", "unstated"] {
                assert_eq!(account[count], of_lines[count], "{count}: {account}");
            }
        }
    }
}

#[test]
fn preferences_are_columns_after_each_verdict() {
    let folder = Folder::new();
    write_preferences(&folder);
    let flags = "--robots sites -a ExampleBot,Other --usage train-ai,search";
    let lines = folder.ok(format!("classify p.txt {flags} --header --summary none"));
    let lines = String::from_utf8(lines.stdout).unwrap();
    let mut lines = lines.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    let names = lines.next().unwrap();
    assert_eq!(names[1..3], ["ExampleBot_train-ai", "ExampleBot_search"]);
    let lines: Vec<Vec<&str>> = lines.collect();
    for threads in [1, 2, 7] {
        folder.ok(format!("classify p.parquet {flags} -o tagged.parquet -j {threads}"));
        assert_eq!(rows(&folder, "tagged.parquet").1[1..], names[..6]);
        for (place, name) in names[..6].iter().enumerate() {
            let of_lines: Vec<&str> = lines.iter().map(|line| line[place]).collect();
            assert_eq!(column(&folder, "tagged.parquet", name), of_lines, "{name}");
        }
    }
    let seen: std::collections::BTreeSet<&str> = lines.iter().map(|line| line[1]).collect();
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), ["-", "?", "n", "y"]);
}

#[test]
fn a_url_stays_on_its_line() {
    let folder = Folder::new();
    let url = format!("{ALLOWED}x\n{DISALLOWED}");
    let urls = StringArray::from(vec![&*url, ALLOWED]);
    write_columns(&folder, "x.parquet", vec![("url", array(urls))]);
    let output = folder.ok(format!("classify x.parquet {FLAGS} --summary none"));
    let lines = text(&output.stdout);
    assert_eq!(lines.lines().count(), 2);
    assert_contains(&lines, &["invalid", "x%0Ahttps://a.example/private/x"]);
}

#[test]
fn errors_of_reading_name_the_place_and_the_fix() {
    let folder = Folder::new();
    write(&folder, "x.parquet");
    let whole = folder.read("x.parquet");
    folder.write("dark.parquet", [b"PARE", &whole[4..whole.len() - 4], b"PARE"].concat());
    // The last page of the second row group's URLs.
    let (start, length) =
        reader(&folder, "x.parquet").metadata().row_group(1).column(1).byte_range();
    let mut damaged = whole.clone();
    damaged[(start + length / 2) as usize..(start + length) as usize].fill(0xff);
    folder.write("damaged.parquet", damaged);
    folder.write("brotli.parquet", brotli(&folder, "x.parquet"));
    let url = || array(StringArray::from(vec![ALLOWED]));
    write_columns(&folder, "two.parquet", vec![("url", url()), ("URL", url())]);
    write_long(&folder, "page.parquet", false);
    write_long(&folder, "dictionary.parquet", true);
    let names = folder.names();
    for (list, words) in [
        ("dark.parquet", ["dark.parquet: the file is encrypted", "decrypt it"]),
        ("damaged.parquet", ["damaged.parquet: row group 2, column url: ", "fetch the file again"]),
        (
            "brotli.parquet",
            ["brotli.parquet: row group 1, column url: compressed with Brotli", "not supported"],
        ),
        ("two.parquet", ["columns 1 and 2 are called `url` and `URL`", "--url-field"]),
        (
            "page.parquet",
            ["page.parquet: row group 2, column url: a page of ", "write the file anew"],
        ),
        (
            "dictionary.parquet",
            ["row group 2, column url: a dictionary of ", "write the file anew"],
        ),
        ("x.parquet --url-field id", ["x.parquet: the column id holds Int64", "--url-field"]),
        ("x.parquet --url-field items", ["x.parquet: the column items holds List", "--url-field"]),
    ] {
        for command in ["classify -o y.tsv", "classify -o y.parquet", "filter -o y.txt"] {
            let output = folder.output(format!("{command} {list} {FLAGS}"));
            assert_fails(&output, &words);
            assert_eq!(folder.names(), names, "{command} {list}");
        }
    }
    for column in ["1", "2", "url", "URL"] {
        let output = folder.ok(format!("filter two.parquet {FLAGS} -c --url-field {column}"));
        assert_stdout(&output, "1\n");
    }
}

/// Returns a file that says that it is compressed with Brotli.
fn brotli(folder: &Folder, name: &str) -> Vec<u8> {
    let mut metadata = reader(folder, name).metadata().clone().into_builder();
    let groups = metadata.take_row_groups().into_iter().map(|group| {
        let mut group = group.into_builder();
        let columns = group.take_columns().into_iter().map(|column| {
            let column =
                column.into_builder().set_compression(Compression::BROTLI(Default::default()));
            column.build().unwrap()
        });
        let columns = columns.collect();
        group.set_column_metadata(columns).build().unwrap()
    });
    let metadata = metadata.set_row_groups(groups.collect()).build();
    let mut bytes = folder.read(name);
    let length = bytes[bytes.len() - 8..].first_chunk().unwrap();
    bytes.truncate(bytes.len() - 8 - u32::from_le_bytes(*length) as usize);
    ParquetMetaDataWriter::new(&mut bytes, &metadata).finish().unwrap();
    bytes
}

/// Writes two row groups of one URL. The second one is longer than a page may be.
fn write_long(folder: &Folder, name: &str, has_dictionary: bool) {
    let long = format!("{ALLOWED}{}", "a".repeat(PARQUET_PAGE_BYTES_MAX as usize));
    let properties = WriterProperties::builder()
        .set_max_row_group_row_count(Some(1))
        .set_dictionary_enabled(has_dictionary)
        .set_compression(Compression::ZSTD(Default::default()));
    let urls = array(StringArray::from(vec![ALLOWED.to_owned(), long]));
    write_as(folder, name, vec![("url", urls)], properties.build());
}

/// Writes captures whose columns are text by their type alone: nothing checks that they are UTF-8.
fn write_captures(folder: &Folder, name: &str, rows: &[(&[u8], &[u8])], compression: Compression) {
    let message = "message captures { required binary url (UTF8); required binary body (UTF8); }";
    let schema = Arc::new(parse_message_type(message).unwrap());
    let properties = WriterProperties::builder()
        .set_compression(compression)
        .set_dictionary_enabled(false)
        .set_statistics_enabled(EnabledStatistics::None)
        .build();
    let file = fs::File::create(folder.path(name)).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, properties.into()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    for of in [|row: &(&[u8], &[u8])| row.0.to_vec(), |row: &(&[u8], &[u8])| row.1.to_vec()] {
        let values: Vec<ByteArray> = rows.iter().map(|row| of(row).into()).collect();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<ByteArrayType>().write_batch(&values, None, None).unwrap();
        column.close().unwrap();
    }
    group.close().unwrap();
    writer.close().unwrap();
}

/// A byte that is not UTF-8 is part of a body, as in other archives; in a URL it is a broken record.
#[test]
fn captures_that_are_not_utf_8_are_records() {
    let folder = Folder::new();
    let rows: &[(&[u8], &[u8])] = &[
        (b"https://a.test/robots.txt", b"# caf\xe9\nUser-agent: *\nDisallow: /x\n"),
        (b"https://b.test\xff/robots.txt", b"User-agent: *\nDisallow: /x\n"),
        (b"https://c.test/robots.txt", b"User-agent: *\nDisallow: /x\n"),
    ];
    write_captures(&folder, "captures.parquet", rows, Compression::UNCOMPRESSED);
    let output = folder.ok("compile captures.parquet -o a.set --summary none");
    let err = String::from_utf8(output.stderr).unwrap();
    assert!(err.contains("the capture of the URL") && err.lines().count() == 2, "{err}");
    folder.write("list.txt", "https://a.test/x\nhttps://a.test/y\nhttps://c.test/x\n");
    let output = folder.ok("classify list.txt -p a.set -a Bot --summary none");
    let expected =
        "disallow\thttps://a.test/x\nallow\thttps://a.test/y\ndisallow\thttps://c.test/x\n";
    assert_stdout(&output, expected);
}

/// A page that is longer than the limit in memory is an error wherever it is decompressed.
#[test]
fn pages_of_bodies_have_a_limit() {
    let folder = Folder::new();
    let long = vec![b'a'; PARQUET_PAGE_BYTES_MAX as usize + 1];
    let disallowed = format!("{DISALLOWED}robots.txt");
    let rows: &[(&[u8], &[u8])] =
        &[(b"https://a.test/robots.txt", b""), (disallowed.as_bytes(), &long)];
    write_captures(&folder, "x.parquet", rows, Compression::ZSTD(Default::default()));
    assert!(folder.read("x.parquet").len() < 100_000);
    let words = ["x.parquet: row group 1, column body: a page of 134 MB", "shorter pages"];
    assert_fails(&folder.output("compile x.parquet -o a.set"), &words);
    // Of all rows, the stored pages are copied.
    folder.ok("filter x.parquet --robots robots/b.example.txt -a Bot -o y.parquet");
    assert_fails(&folder.output(format!("filter x.parquet {FLAGS} -v -o z.parquet")), &words);
    folder.ok(format!("filter x.parquet {FLAGS} -v -o z.txt"));
    let names = folder.names();
    assert!(!names.iter().any(|name| name.contains("a.set") || name == "z.parquet"), "{names:?}");
}

/// Returns a Python with pyarrow; prints a note and returns `None` if there is none.
fn python() -> Option<String> {
    let python = std::env::var("PORTCULLIS_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let found = std::process::Command::new(&python).args(["-c", "import pyarrow"]).output();
    if found.is_ok_and(|output| output.status.success()) {
        return Some(python);
    }
    println!("skipped: {python} has no pyarrow; name one that has with PORTCULLIS_PYTHON");
    None
}

/// Files of other programs are read and written as those programs expect.
#[test]
fn round_trips_with_other_programs() {
    let Some(python) = python() else { return };
    let folder = Folder::new();
    let script = |name: &str, part: &str| {
        let script = folder.write(name, part);
        let mut process = std::process::Command::new(&python);
        let output = process.arg(&script).current_dir(folder.path("")).output().unwrap();
        let err = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{err}");
        String::from_utf8(output.stdout).unwrap()
    };
    let made = script("make.py", include_str!("parquet_make.py"));
    for name in made.split_whitespace() {
        folder.ok(format!("classify {name} {FLAGS} -o tagged-{name} --columns verdict,line,rule"));
        folder.ok(format!("filter {name} {FLAGS} -o kept-{name}"));
    }
    folder.write("list.txt", [ALLOWED, DISALLOWED, UNKNOWN, INVALID].join("\n"));
    folder.ok(format!("classify list.txt {FLAGS} -o list.parquet --columns verdict,state"));
    print!("{}", script("check.py", include_str!("parquet_check.py")));
}

/// The columns of the agent and the time may stand before that of the URL, or be it.
#[test]
fn agents_of_rows_are_those_of_the_same_table() {
    let folder = Folder::new();
    let agents =
        [Some("BadBot"), Some("ExampleBot"), None, Some(""), Some("Nowhere"), Some("badbot")];
    let agent = |row: usize| agents[row % agents.len()];
    let (rows_of_who, urls) = ((0..ROWS).map(agent), urls());
    let columns = vec![
        ("who", array(rows_of_who.collect::<DictionaryArray<Int32Type>>())),
        ("url", array(urls.iter().cloned().collect::<StringArray>())),
        ("id", array(Int64Array::from_iter_values(0..ROWS as i64))),
    ];
    write_columns(&folder, "x.parquet", columns);
    let mut table = "who,url\n".to_owned();
    for (row, url) in urls.iter().enumerate() {
        table +=
            &format!("{},{}\n", agent(row).unwrap_or_default(), url.as_deref().unwrap_or_default());
    }
    folder.write("x.csv", table);
    for flags in ["--agent-field who", "--agent-field 1 -a ExampleBot", "--agent-field url"] {
        let flags = format!("--robots robots --summary none {flags}");
        // The objects of a table have its columns, so the verdicts are compared without them.
        let flags = format!("{flags} --long --format tsv");
        let verdicts = |output: Output| {
            let text = String::from_utf8(output.stdout).unwrap();
            let of_row = |line: &str| line.rsplit_once('\t').unwrap().0.to_owned();
            text.lines().map(of_row).collect::<Vec<_>>()
        };
        let of_table = verdicts(folder.ok(format!("classify x.csv {flags}")));
        for threads in [1, 3] {
            let of_rows = folder.ok(format!("classify x.parquet {flags} -j {threads}"));
            assert_eq!(verdicts(of_rows), of_table);
        }
    }
    let flags = "--robots robots -a BadBot --agent-field who";
    folder.ok(format!("classify x.parquet {flags} --columns verdict,reason -o y.parquet"));
    let (found, names) = rows(&folder, "y.parquet");
    assert_eq!(names[3..], ["agent", "verdict", "reason"]);
    let ends = |row: usize, end: &str| assert!(found[row].ends_with(end), "{}", found[row]);
    ends(0, r#"agent: "BadBot", verdict: "disallow", reason: "rule"}"#);
    ends(10, r#"agent: "*", verdict: "allow", reason: "no-rule"}"#);
    ends(20, r#"agent: null, verdict: "unknown", reason: "no-agent"}"#);
    folder.ok(format!("filter x.parquet {flags} -o z.parquet"));
    let kept = rows(&folder, "z.parquet").0.len();
    assert_eq!(kept, found.iter().filter(|row| row.contains(r#"verdict: "allow""#)).count());
    assert!(kept > 0);
    let other = folder.output("classify x.parquet --robots robots --agent-field id");
    assert_fails(&other, &["the column id holds Int64; the agent needs text", "--agent-field"]);
}
