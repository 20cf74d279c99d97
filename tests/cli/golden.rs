//! Outputs of `classify` and `filter` for every format of lists, byte for byte.
//!
//! Each list is longer than a chunk and has what its format allows: empty records, records that are
//! no URLs, quotes, escapes, nulls, row groups. `golden/FORMAT.txt` has the length and the hash
//! of each output, and of the plain list its first lines. One thread and three write the same bytes.
//! With `WRITE=1` in the environment, a test replaces its file: do that when an output changes
//! on purpose, and say why in the commit.
//!
//! The footer of a Parquet file names the set and the version, so it is compared as schema and
//! metadata without these two.

use std::fmt::Write as _;
use std::process::Output;
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, DictionaryArray, Int64Array, ListArray, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use serde_json::{Value, json};
use twox_hash::XxHash3_64;

use super::{Folder, assert_stored, gzip, project};

/// The records of each list: with URLs of 150 bytes, enough for two chunks.
const RECORDS: usize = 7_500;

const RULES: &str = "License: https://l.example/all\n\nUser-agent: *\nDisallow: /private/\n\
    Allow: /private/open\nDisallow: /*?session=\nContent-Usage: search=y, train-ai=n\n\
    Content-Usage: /open/ train-ai=y\n\nUser-agent: BadBot\nDisallow: /\nAllow: /t\tab\\\n";

/// Returns the captures of the set: files with rules, without rules, and other answers.
fn captures() -> String {
    let capture = |host: &str, status: u16, body: &str| {
        let url = format!("https://{host}/robots.txt");
        let time = "2024-05-01T12:00:00Z";
        format!("{}\n", json!({"url": url, "status": status, "fetched_at": time, "body": body}))
    };
    [
        capture("a.example", 200, RULES),
        capture("b.example", 200, "# nothing\n"),
        capture("c.example", 404, ""),
        capture("d.example", 503, ""),
        capture("e.example", 200, "User-agent: Other\nDisallow: /x\u{e9}\n"),
    ]
    .concat()
}

/// Returns the URL of a record, or another text in its place. `None` is a null.
fn url(record: usize) -> Option<String> {
    let host = ["a", "a", "b", "c", "d", "e", "u"][record % 7];
    let path = ["private/x", "open/y", "", "private/open", "p?session=1", "x\u{e9}"][record % 6];
    let tail = "0123456789abcdef".repeat(record % 17);
    match record % 101 {
        3 => None,
        7 => Some("nothing".to_owned()),
        11 => Some(String::new()),
        13 => Some(format!("https://{host}.example/robots.txt")),
        17 => Some(format!("https://{host}.example/a,b;\"c\"")),
        19 => Some(format!("  https://{host}.example/{path} ")),
        23 => Some(format!("HTTPS://{host}.EXAMPLE:443/%70rivate/{record}")),
        29 => Some("//a.example/".to_owned()),
        _ => Some(format!("https://{host}.example/{path}/{record}/{tail}")),
    }
}

/// Joins the texts of all records.
fn list(record: impl Fn(usize, String) -> String) -> Vec<u8> {
    let text = |number| record(number, url(number).unwrap_or_default());
    (0..RECORDS).map(text).collect::<String>().into_bytes()
}

fn lines() -> Vec<u8> {
    let mut bytes =
        list(|record, url| format!("{url}{}", if record % 9 == 0 { "\r\n" } else { "\n" }));
    bytes.extend_from_slice(b"https://a.example/\xff\nhttps://a.example/last");
    bytes
}

/// Returns rows with three columns. Some fields hold line ends and quotes, some rows are no rows.
fn table(delimiter: char, end: &str) -> Vec<u8> {
    let quoted = |url: &str| match url.contains([delimiter, '"']) {
        true => format!("\"{}\"", url.replace('"', "\"\"")),
        false => url.to_owned(),
    };
    let head = format!("n{delimiter}url{delimiter}\"x, y\"{end}");
    let rows = list(|record, url| match record % 103 {
        5 => end.to_owned(),
        9 => format!("{record}{delimiter}{url}{end}").replace('"', "'"),
        21 => format!("{record}{delimiter}{}{delimiter}\"p,\n\"\"q\"\"\"{end}", quoted(&url)),
        _ => format!("{record}{delimiter}{}{delimiter}p{end}", quoted(&url)),
    });
    [head.into_bytes(), rows].concat()
}

fn objects() -> Vec<u8> {
    list(|record, url| match record % 107 {
        4 => "\n".to_owned(),
        6 => format!("{{\"n\": {record}}}\n"),
        8 => format!("{{\"url\": {record}}}\n"),
        10 => "not JSON\n".to_owned(),
        12 => "{\"url\": \"a\", \"URL\": \"b\"}\n".to_owned(),
        14 => format!(
            "{{\"n\": [1, {{\"url\": 2}}], \"url\": \"https:\\/\\/a.example\\/{record}\"}}\n"
        ),
        _ => {
            format!("{}\n", json!({"n": record, "url": url, "page": {"url": "https://b.example/"}}))
        }
    })
}

fn index() -> Vec<u8> {
    let head = b"!OpenWayback-CDXJ 1.0\n!meta {}\n".to_vec();
    let lines = list(|record, url| match record % 109 {
        4 => "short\n".to_owned(),
        _ => format!(
            "example,{record})/ 20240501120000 {}\n",
            json!({"url": url, "mime": "text/html"})
        ),
    });
    [head, lines].concat()
}

fn journal() -> Vec<u8> {
    list(|record, url| match record % 109 {
        4 => "T 20240501\n".to_owned(),
        number => format!("F{} {url} LLE https://via.example/\n", ["+", "s", "i"][number % 3]),
    })
}

fn crawl_log() -> Vec<u8> {
    list(|record, url| {
        let time = "2024-05-01T12:00:00.000Z";
        format!("{time}   200  {record} {url} L https://via.example/ text/html #001 - - -\n")
    })
}

/// Returns lines with the host first; the requests of some have escapes or no path.
fn access_log() -> Vec<u8> {
    list(|record, url| {
        let (host, path) = match url.split_once("://").map(|(_, rest)| rest.split_once('/')) {
            Some(Some((host, path))) => {
                (host, format!("GET /{} HTTP/1.1", path.replace('"', "\\\"")))
            }
            _ => ("a.example", url.replace('"', "\\x22")),
        };
        let time = "10/Oct/2025:13:55:36 -0700";
        format!("{host}:443 192.0.2.1 - - [{time}] \"{path}\" 200 {record} \"-\" \"BadBot/1.0\"\n")
    })
}

fn dump() -> Vec<u8> {
    list(|record, url| format!("{url}\tVersion: 7\nStatus: {record}\nMetadata:\n\n"))
}

/// Returns a file with several row groups and pages, nested and repeated values, and nulls.
fn rows() -> Vec<u8> {
    let column = |array: Arc<dyn arrow_array::Array>| -> ArrayRef { array };
    let lists = (0..RECORDS).map(|row| Some((0..row % 3).map(|item| Some(item as i32))));
    let words = (0..RECORDS).map(|row| ["one", "two"][row % 2]);
    let columns: [(&str, ArrayRef); 4] = [
        ("id", column(Arc::new(Int64Array::from_iter_values(0..RECORDS as i64)))),
        ("url", column(Arc::new((0..RECORDS).map(url).collect::<StringArray>()))),
        ("items", column(Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(lists)))),
        ("word", column(Arc::new(words.collect::<DictionaryArray<Int32Type>>()))),
    ];
    let columns = columns.map(|(name, column)| (name, column, true));
    let batch = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_max_row_group_row_count(Some(1_700))
        .set_data_page_row_count_limit(260)
        .set_write_batch_size(64)
        .build();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.into_inner().unwrap()
}

const COLUMNS: &str = "--columns verdict,reason,line,rule,group,state";

/// The command lines of a list: a name, the command and its flags, and the files that it writes
/// besides standard output.
const RUNS: [(&str, &str, &[&str]); 12] = [
    ("tsv", "classify --rejects rejects.jsonl", &["rejects.jsonl"]),
    ("tsv-columns", "classify --header COLUMNS", &[]),
    ("tsv-state", "classify --columns verdict,state", &[]),
    ("tsv-usage", "classify --usage train-ai,search --assume-scheme https", &[]),
    ("csv", "classify --format csv COLUMNS --usage search", &[]),
    ("tsv-long", "classify --long COLUMNS", &[]),
    ("jsonl", "classify --format jsonl COLUMNS --usage search", &[]),
    ("jsonl-long", "classify --format jsonl --long --usage train-ai,search", &[]),
    ("parquet-long", "classify --long -o long.parquet", &["long.parquet"]),
    ("parquet", "classify -o out.parquet COLUMNS --usage train-ai", &["out.parquet"]),
    (
        "filter",
        "filter --any -o k.txt --unknown u.txt --invalid i.txt",
        &["k.txt", "u.txt", "i.txt"],
    ),
    (
        "filter-purpose",
        "filter -v --purpose train-ai --unstated drop --unknown keep -o k.txt",
        &["k.txt"],
    ),
];

/// The runs of lists that differ from another one only in how they are stored or split.
const FEW: [&str; 4] = ["tsv", "csv", "parquet", "filter"];

/// More command lines for lists in Parquet, which keep whole rows.
const ROW_RUNS: [(&str, &str, &[&str]); 3] = [
    (
        "rows",
        "filter -o out.parquet --unknown u.parquet --invalid i.parquet",
        &["out.parquet", "u.parquet", "i.parquet"],
    ),
    ("rows-all", "filter --any -v -o out.parquet --unknown keep", &["out.parquet"]),
    ("parquet-state", "classify -o out.parquet --columns verdict,state", &["out.parquet"]),
];

/// Returns a folder with the list and the set.
fn folder_with(name: &str, list: &[u8]) -> Folder {
    let folder = Folder::new();
    folder.write("captures.jsonl", captures());
    folder.write(name, list);
    folder.ok("compile -o x.set captures.jsonl");
    folder
}

/// Returns what identifies an output: its length and hash, of Parquet without the footer.
fn fingerprint(name: &str, bytes: &[u8]) -> String {
    let hash = |bytes: &[u8]| format!("{} bytes, {:016x}", bytes.len(), XxHash3_64::oneshot(bytes));
    if !name.ends_with(".parquet") {
        return hash(bytes);
    }
    let reader = SerializedFileReader::new(bytes::Bytes::copy_from_slice(bytes)).unwrap();
    let metadata = reader.metadata();
    let length = bytes.len() - 8;
    let footer = u32::from_le_bytes(bytes[length..length + 4].try_into().unwrap()) as usize;
    let rows: Vec<i64> = metadata.row_groups().iter().map(|group| group.num_rows()).collect();
    let mut footer_text = format!("{:?}", metadata.file_metadata().schema_descr().root_schema());
    for pair in metadata.file_metadata().key_value_metadata().into_iter().flatten() {
        let mut value = pair.value.clone().unwrap_or_default();
        if pair.key == "portcullis" {
            let mut account: Value = serde_json::from_str(&value).unwrap();
            let members = account.as_object_mut().unwrap();
            members.retain(|name, _| !["version", "set", "policies"].contains(&name.as_str()));
            value = account.to_string();
        }
        write!(footer_text, "\n{} {value}", pair.key).unwrap();
    }
    let pages = hash(&bytes[..length - footer]);
    format!("{pages}, rows {rows:?}, {}", hash(footer_text.as_bytes()))
}

/// Returns the first lines of an output.
fn sample(bytes: &[u8]) -> String {
    let end = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').nth(7).unwrap().0;
    bytes[..end].escape_ascii().to_string().replace("\\n", "\n").replace("\\\"", "\"")
}

/// Compares all outputs of a list with `golden/FORMAT.txt`.
fn check(format: &str, name: &str, list: &[u8], flags: &str) {
    let folder = folder_with(name, list);
    let runs = RUNS.iter().chain(if name.ends_with(".parquet") { &ROW_RUNS[..] } else { &[] });
    let is_whole = ["lines", "csv", "jsonl", "parquet"].contains(&format);
    let runs = runs.filter(|(run, ..)| is_whole || FEW.contains(run));
    let (mut found, mut samples) = (String::new(), String::new());
    for (run, line, files) in runs {
        let mut first: Option<String> = None;
        for threads in [1, 3] {
            let line = line.replace("COLUMNS", COLUMNS);
            let line = format!("{line} -p x.set -a BadBot,Other --summary none {flags} {name}");
            let Output { stdout, stderr, .. } = folder.ok(format!("{line} -j {threads}"));
            let mut entry = format!("{run}: {}\n", fingerprint("", &stdout));
            for file in *files {
                let bytes = folder.read(file);
                writeln!(entry, "{run} {file}: {}", fingerprint(file, &bytes)).unwrap();
            }
            writeln!(entry, "{run} says: {}", stderr.escape_ascii()).unwrap();
            if threads == 1 && format == "lines" && !stdout.is_empty() {
                write!(samples, "\n--- {run}\n{}\n", sample(&stdout)).unwrap();
            }
            assert_eq!(*first.get_or_insert(entry.clone()), entry, "{threads} threads: {line}");
        }
        found += &first.unwrap();
    }
    compare(format, &(found + &samples));
}

fn compare(format: &str, found: &str) {
    assert_stored(&project(&format!("tests/cli/golden/{format}.txt")), found);
}

#[test]
fn plain_lines() {
    check("lines", "urls", &lines(), "");
}

#[test]
fn compressed_lines() {
    check("gzip", "urls.gz", &gzip(&lines()), "");
    check("zstd", "urls.zst", &zstd::encode_all(&lines()[..], 1).unwrap(), "");
}

#[test]
fn records_that_end_with_nul() {
    let list: Vec<u8> = lines().iter().map(|&byte| if byte == b'\n' { 0 } else { byte }).collect();
    check("null-data", "urls0", &list, "-0");
}

#[test]
fn tables() {
    check("csv", "x.csv", &table(',', "\r\n"), "");
    check("semicolons", "y.csv", &table(';', "\n"), "--url-field 2");
    check("tsv", "x.tsv", &table('\t', "\n"), "");
}

#[test]
fn json_lines() {
    check("jsonl", "x.jsonl", &objects(), "");
    check("field", "y.jsonl.gz", &gzip(&objects()), "--url-field page.url --url-field url");
}

#[test]
fn indexes() {
    check("cdxj", "x.cdxj", &index(), "");
}

#[test]
fn journals_logs_and_dumps() {
    check("heritrix", "recover", &journal(), "");
    check("crawl-log", "crawl.log", &crawl_log(), "");
    check("nutch", "dump", &dump(), "");
    check("access-log", "access.log", &access_log(), "--log-format vhost-combined");
}

#[test]
fn parquet_files() {
    check("parquet", "x.parquet", &rows(), "");
}

/// The answers for one chunk are more than an output may have at once, so they are written in parts.
#[test]
fn many_agents() {
    let lines: String = (0..1_500).map(|number| format!("https://a.example/{number}\n")).collect();
    let urls: StringArray = lines.lines().map(Some).collect();
    let batch = RecordBatch::try_from_iter([("url", Arc::new(urls) as ArrayRef)]).unwrap();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    let letter = |number: u8| char::from(b'a' + number);
    let agents: Vec<String> = (0..150)
        .map(|it| format!("Bot-{}{}-of-a-family", letter(it / 26), letter(it % 26)))
        .collect();
    let agents = agents.join(",");
    let folder = folder_with("urls", lines.as_bytes());
    folder.write("x.parquet", writer.into_inner().unwrap());
    let mut found = String::new();
    for name in ["urls", "x.parquet"] {
        for format in ["tsv", "jsonl", "jsonl --long"] {
            let line = format!("classify -p x.set --summary none --format {format} {name}");
            let [one, three] =
                [1, 3].map(|threads| folder.ok(format!("{line} -a {agents} -j {threads}")).stdout);
            assert!(one == three, "{line}");
            writeln!(found, "{name} {format}: {}", fingerprint("", &one)).unwrap();
        }
    }
    compare("many-agents", &found);
}
