//! Tests of every format: detection, places, problems, and the same chunks for any way the bytes
//! arrive.

use super::*;
use crate::input::{ChunkConfig, Chunks, InputError, Source};
use portcullis_robots::access::{TimeUnit, UnixSeconds};

fn chunks(name: &str, bytes: &[u8], chunk_bytes: usize, config: &ListConfig) -> Read {
    let reader = std::io::Cursor::new(bytes.to_vec());
    let source = Source::from_reader(name, reader);
    read(source, chunk_bytes, config)
}

/// The result of reading: the head, the texts of records with their URLs or problems, and the
/// notes.
#[derive(Debug, Default, PartialEq)]
struct Read {
    head: Vec<u8>,
    whole: Vec<u8>,
    records: Vec<(Vec<u8>, Result<String, Problem>)>,
    /// Empty if times are not read.
    times: Vec<Option<UnixSeconds>>,
    /// The time and the client of each request, if visits are read.
    visits: Vec<(Option<u64>, Option<String>)>,
    /// Why they are not whole.
    note_on_visits: &'static str,
    format: Option<ListFormat>,
    note: String,
    error: String,
}

fn read(source: Source, chunk_bytes: usize, config: &ListConfig) -> Read {
    let mut read = Read::default();
    let arena = Arena::new();
    let chunks = ChunkConfig { chunk_bytes, ..ChunkConfig::default() };
    for chunk in Chunks::new(source, chunks, config.clone()) {
        let chunk = match chunk {
            Ok(chunk) => chunk,
            Err(error) => {
                read.error = error.to_string();
                return read;
            }
        };
        if chunk.is_first {
            read.head = chunk.list.head().to_vec();
            read.note = chunk.list.note().unwrap_or_default().to_owned();
            read.format = Some(chunk.list.format());
            read.note_on_visits = chunk.list.note_on_visits().unwrap_or_default();
        }
        let read_all = Rows::new(&chunk, &arena, 0).read(1, |records| {
            for record in records.iter() {
                read.whole.extend_from_slice(record.whole());
                let url = String::from_utf8_lossy(record.url()).into_owned();
                let url = record.problem().map_or(Ok(url), Err);
                read.records.push((record.text().to_vec(), url));
            }
            read.times.extend(records.times().into_iter().flatten());
            let visits = (0..records.len()).filter(|_| config.clients.is_wanted());
            read.visits.extend(visits.map(|record| {
                let Visit { time, client } = records.visit(record);
                let text = |client: &[u8]| String::from_utf8_lossy(client).into_owned();
                (time.map(|time| time.0), client.map(text))
            }));
            Ok::<bool, InputError>(true)
        });
        read_all.unwrap();
    }
    read
}

fn urls(name: &str, bytes: &[u8], config: &ListConfig) -> Vec<Result<String, Problem>> {
    let read = chunks(name, bytes, 1 << 20, config);
    assert_eq!(read.error, "", "{name}");
    assert_eq!([read.head, read.whole].concat(), bytes, "nothing is lost");
    read.records.into_iter().map(|(_, url)| url).collect()
}

fn ok(urls: &[&str]) -> Vec<Result<String, Problem>> {
    urls.iter().map(|&url| Ok(url.to_owned())).collect()
}

fn with(format: ListFormat) -> ListConfig {
    ListConfig { format: Some(format), ..ListConfig::default() }
}

fn column(name: &str) -> ListConfig {
    ListConfig { urls: Place::named([name]), ..ListConfig::default() }
}

const NUTCH: &[u8] =
    b"https://a.example/1\tVersion: 7\nStatus: 2 (db_fetched)\nMetadata: \n\t_pst_=x\n\n\
https://a.example/2\tVersion: 7\nStatus: 1 (db_unfetched)\n\n";
const JOURNAL: &[u8] =
    b"F+ https://a.example/1 LL https://a.example/\nFs https://a.example/1\nT 20200101\n";
const LOG: &[u8] =
    b"2020-01-02T03:04:05.678Z   200        123 https://a.example/1 LLE https://v.example/ text/html #001\n\
2020-01-02T03:04:05.678Z -9998          - https://a.example/2 - - no-type #002\n";
const CDXJ: &[u8] = b"!OpenWayback-CDXJ 1.0\ncom,example)/1 20200101000000 {\"url\": \"https:\\/\\/a.example/1\"}\n\
com,example)/2 20200101000000 {\"status\": \"200\"}\n";
const FRONTIER: &[u8] =
    b"{\"discovered\":{\"info\":{\"url\":\"https://a.example/1\",\"key\":\"a\"}}}\n\
{\"known\":{\"info\":{\"url\":\"https://a.example/2\"},\"refetchableFromDate\":\"1\"}}\n";

#[test]
fn formats_are_found_by_their_first_bytes() {
    let plain = ListConfig::default();
    let rows: [(&[u8], ListFormat, &str); 13] = [
        (b"https://a.example/\n", ListFormat::Lines, ""),
        (b"", ListFormat::Lines, ""),
        (b"{\"url\": \"https://a.example/\"}\n", ListFormat::JsonLines, "JSON Lines"),
        (b"{\"URI\": \"https://a.example/\"}\n", ListFormat::JsonLines, "JSON Lines, field `URI`"),
        (
            FRONTIER,
            ListFormat::JsonLines,
            "JSON Lines, fields `discovered.info.url` and `known.info.url`",
        ),
        (b"id,Url\n1,https://a.example/\n", ListFormat::Csv, "CSV, column `Url`"),
        (b"id;loc\r\n1;https://a.example/\n", ListFormat::Csv, "CSV, column `loc`"),
        (b"id\turi\n1\thttps://a.example/\n", ListFormat::Tsv, "TSV, column `uri`"),
        (CDXJ, ListFormat::Cdxj, "CDXJ"),
        (JOURNAL, ListFormat::HeritrixJournal, "a Heritrix recover journal"),
        (
            b"T 2020-01-02T03:04:05.678Z\nF+ https://a.example/1 L\n",
            ListFormat::HeritrixJournal,
            "a Heritrix recover journal",
        ),
        (b"T 2020\nhttps://a.example/1\n", ListFormat::Lines, ""),
        (LOG, ListFormat::CrawlLog, "a Heritrix crawl.log"),
    ];
    for (bytes, format, note) in rows {
        for mark in [&b""[..], b"\xef\xbb\xbf"] {
            let bytes = [mark, bytes].concat();
            let read = chunks("-", &bytes, 1 << 20, &plain);
            assert_eq!((read.format, read.note.as_str()), (Some(format), note), "{read:?}");
            assert!(read.head.starts_with(mark));
            assert_eq!([read.head, read.whole].concat(), bytes);
        }
    }
    assert_eq!(chunks("-", NUTCH, 64, &plain).format, Some(ListFormat::NutchDump));
}

#[test]
fn names_promise_formats() {
    let of = |name: &str| ListFormat::from_name(Path::new(name));
    for (name, format) in [
        ("a.jsonl", Some(ListFormat::JsonLines)),
        ("A.NDJSON.zst", Some(ListFormat::JsonLines)),
        ("a.b.tsv.gz", Some(ListFormat::Tsv)),
        ("a.cdxj", Some(ListFormat::Cdxj)),
        ("a.parquet", Some(ListFormat::Parquet)),
        ("csv", None),
        ("a.csv/b", None),
        ("-", None),
    ] {
        assert_eq!(of(name), format, "{name}");
    }
}

#[test]
fn the_urls_of_crawlers() {
    let plain = ListConfig::default();
    let crlf = String::from_utf8_lossy(NUTCH).replace('\n', "\r\n");
    for list in [NUTCH, crlf.as_bytes(), LOG, FRONTIER] {
        assert_eq!(urls("-", list, &plain), ok(&["https://a.example/1", "https://a.example/2"]));
    }
    let journal = [ok(&["https://a.example/1"; 2]), vec![Err(Problem::NoUrl)]].concat();
    assert_eq!(urls("-", JOURNAL, &plain), journal);
    let cdxj = [ok(&["https://a.example/1"]), vec![Err(Problem::NoField)]].concat();
    assert_eq!(urls("-", CDXJ, &plain), cdxj);
}

#[test]
fn json_problems() {
    let lines: [(&[u8], Result<&str, Problem>); 16] = [
        (b"{\"url\": \"https://a.example/\"}", Ok("https://a.example/")),
        (b" {\"x\": [1, {\"url\": \"no\"}], \"url\": \"a\\u002fb\\n\"} \r", Ok("a/b\n")),
        (b"{\"\\u0075rl\": \"a\"}", Ok("a")),
        (b"", Ok("")),
        (b"{\"url\": \"a\"", Err(Problem::NotJson)),
        (b"{\"url\": \"a\"} x", Err(Problem::NotJson)),
        (b"{\"url\": \"a\", }", Err(Problem::NotJson)),
        (b"\"https://a.example/\"", Err(Problem::NotJson)),
        (b"https://a.example/", Err(Problem::NotJson)),
        (b"[\"https://a.example/\"]", Err(Problem::NotJson)),
        (b"{\"url\": null}", Err(Problem::NoField)),
        (b"{\"x\": {\"url\": \"a\"}}", Err(Problem::NoField)),
        (b"{\"url\": 1}", Err(Problem::NotAString)),
        (b"{\"url\": {\"url\": \"a\"}}", Err(Problem::NotAString)),
        (b"{\"url\": \"a\", \"url\": \"b\"}", Err(Problem::RepeatedField)),
        (b"{\"url\": \"\xff\"}", Err(Problem::NotUtf8)),
    ];
    let text = lines.iter().flat_map(|(line, _)| [line, &b"\n"[..]].concat()).collect::<Vec<_>>();
    let expected: Vec<_> = lines.iter().map(|(_, url)| url.map(str::to_owned)).collect();
    // Without a flag for the field, the first lines choose it.
    assert_eq!(urls("a.jsonl", &text, &with(ListFormat::JsonLines)), expected);
}

#[test]
fn fields_by_path() {
    let field = |paths: &[&str]| ListConfig {
        urls: Place::named(paths.iter().copied()),
        ..with(ListFormat::JsonLines)
    };
    let line = b"{\"url\": \"top\", \"page\": {\"url\": \"in\", \"a.b\": \"dot\"}, \"n\": 1, \
\"meta\": \"{\\\"url\\\": \\\"text\\\", \\\"x\\\": \\\"{\\\\\\\"y\\\\\\\": \\\\\\\"deep\\\\\\\"}\\\"}\", \"cut\": \"{\\\"url\\\": \"}\n";
    for (paths, expected) in [
        (&["page.url"][..], Ok("in")),
        (&["page.a\\.b"], Ok("dot")),
        (&["page"], Err(Problem::NotAString)),
        (&["url.page"], Err(Problem::NoField)),
        (&["none", "url"], Ok("top")),
        // A text may be an object.
        (&["meta.url"], Ok("text")),
        (&["meta.x.y"], Ok("deep")),
        (&["meta.y", "url"], Ok("top")),
        // The rest of a damaged one is not known.
        (&["cut.url"], Err(Problem::NotJson)),
        (&["n", "url"], Err(Problem::NotAString)),
    ] {
        assert_eq!(urls("-", line, &field(paths)), [expected.map(str::to_owned)], "{paths:?}");
        assert_eq!(paths[0].parse::<FieldPath>().unwrap().to_string(), paths[0]);
    }
    for path in ["", ".", "a.", ".a", "a..b"] {
        assert!(path.parse::<FieldPath>().is_err(), "{path}");
    }
}

#[test]
fn rows_of_csv() {
    let rows: [(&[u8], Result<&str, Problem>); 9] = [
        (b"https://a.example/,x\n", Ok("https://a.example/")),
        (b"\"https://a.example/\",x\r\n", Ok("https://a.example/")),
        (b"\"a,\"\"b\"\"\",\"x\ny\r\n\"\n", Ok("a,\"b\"")),
        (b",\n", Ok("")),
        (b"\n", Ok("")),
        (b"a\n", Err(Problem::FieldCount)),
        (b"a,b,c\n", Err(Problem::FieldCount)),
        (b"\"a\",\"\"\n", Ok("a")),
        (b"b,\"never closed\n", Err(Problem::OpenQuote)),
    ];
    let head = b"\xef\xbb\xbfURL,\"Title, long\"\r\n";
    let text = [&head[..], &rows.map(|(row, _)| row).concat()].concat();
    let expected: Vec<_> = rows.iter().map(|(_, url)| url.map(str::to_owned)).collect();
    assert_eq!(urls("a.csv", &text, &ListConfig::default()), expected);
    for chunk_bytes in 1..40 {
        let small = chunks("a.csv", &text, chunk_bytes, &ListConfig::default());
        assert_eq!(small, chunks("a.csv", &text, 1 << 20, &ListConfig::default()), "{chunk_bytes}");
    }
}

#[test]
fn columns_by_name_and_number() {
    let export = b"id,Link,note\n1,https://a.example/1,x\n2,https://a.example/2,y\n";
    let expected = ok(&["https://a.example/1", "https://a.example/2"]);
    let tabs = String::from_utf8_lossy(export).replace(',', "\t");
    let semicolons = String::from_utf8_lossy(export).replace(',', ";");
    // Without a header the first row is a record.
    let rows = &export[13..];
    for (name, list, config) in [
        ("a.csv", &export[..], column("Link")),
        ("a.csv", export, column("2")),
        ("-", export, column("Link")),
        ("-", tabs.as_bytes(), column("Link")),
        ("a.csv", semicolons.as_bytes(), column("2")),
        ("a.csv", rows, column("2")),
    ] {
        assert_eq!(urls(name, list, &config), expected, "{name} {config:?}");
    }
    let error = chunks("a.csv", rows, 1 << 20, &ListConfig::default()).error;
    assert!(error.contains("column 2 may have it") && error.contains("‹url_field› 2"), "{error}");
    for (config, words) in [
        (
            ListConfig::default(),
            "no column is called url, address, loc or uri; its columns are `id`, `Link`, `note`",
        ),
        (column("link"), "a.csv: no column `link`; its columns are `id`, `Link`, `note`"),
        (column("4"), "no column `4`"),
        (column("0"), "no column `0`"),
    ] {
        let error = chunks("a.csv", export, 1 << 20, &config).error;
        assert!(error.contains(words) && error.contains("‹url_field›"), "{error}");
    }
}

#[test]
fn a_table_of_one_column_without_a_header() {
    let plain = ListConfig::default();
    let alone = b"\"https://a.example/;x=1\"\nhttps://a.example/2\n";
    let expected = ok(&["https://a.example/;x=1", "https://a.example/2"]);
    assert_eq!(urls("a.csv", alone, &plain), expected);
    let semicolons = b"https://a.example/;x=1\nhttps://a.example/2\n";
    let expected = ok(&["https://a.example/;x=1", "https://a.example/2"]);
    assert_eq!(urls("a.csv", semicolons, &with(ListFormat::Lines)), expected);
    let declared = [b"sep=,\n", &semicolons[..]].concat();
    assert_eq!(urls("a.csv", &declared, &plain), expected);
    for (name, row, words) in [
        ("a.csv", "https://a.example/d;x=1", "row 3 has `;`"),
        ("a.csv", "https://a.example/d|x/y", "write the line `sep=|`"),
        ("a.csv", "https://a.example/d\tx", "use ‹input_format› tsv"),
        ("a.csv", "https://a.example/d,x", "column 1 may have it"),
        ("a.csv", "https://a.example/d,https://b.example/", "‹url_field› 1 or ‹url_field› 2"),
        ("a.tsv", "https://a.example/d\tx", "column 1 may have it"),
    ] {
        for before in ["https://a.example/1\nhttps://a.example/2\n", ""] {
            let text = format!("{before}{row}\n");
            let words = words.replace("row 3", if before.is_empty() { "row 1" } else { "row 3" });
            let config = ListConfig { is_headless: true, ..ListConfig::default() };
            for config in [&plain, &config] {
                let error = chunks(name, text.as_bytes(), 1 << 20, config).error;
                assert!(error.contains(&words), "{text}: {error}");
            }
        }
    }
}

/// The first row is not all that tells what separates columns.
#[test]
fn a_first_row_of_one_cell_hides_no_separator() {
    let config = |names: &[&str]| ListConfig { urls: at(names), ..ListConfig::default() };
    let rows = "https://a.example/d;1\nhttps://a.example/d;2\n";
    for (head, names) in [
        ("\n", &["1"][..]),
        ("# Crawl of https://c.example/\n", &["1"]),
        ("Report, 2026\n", &["1"]),
        ("", &["1"]),
        ("", &["url", "1"]),
    ] {
        let rows = if head.starts_with('R') { rows.replace('\n', ", x\n") } else { rows.into() };
        let error =
            chunks("a.csv", format!("{head}{rows}").as_bytes(), 1 << 20, &config(names)).error;
        assert!(error.contains("separate"), "{head}{rows}{error}");
    }
    let plain = ListConfig::default();
    let found = |text: &str, config: &ListConfig| chunks("a.csv", text.as_bytes(), 1 << 20, config);
    // A line that begins with `#` is no header by a name in it.
    let urls = ok(&["https://a.example/d"]);
    for (text, config) in [
        ("# all pages, url\nurl,x\nhttps://a.example/d,5\n", &plain),
        ("#id,url\n1,https://a.example/d\n", &config(&["2"])),
        ("#id,#url\n1,https://a.example/d\n", &config(&["#url"])),
        ("\n\r\nid,url\n1,https://a.example/d\n", &plain),
        ("url,page.url\nx,https://a.example/d\n", &config(&["page\\.url"])),
        ("\"url\"\n\"https://a.example/d\"\n", &plain),
    ] {
        let read = found(text, config);
        let records: Vec<_> = read.records.iter().map(|(_, url)| url.clone()).collect();
        assert_eq!((records, &*read.error), (urls.clone(), ""), "{text}");
    }
    assert!(
        found("# a, url\nhttps://a.example/,https://b.example/\n", &plain)
            .error
            .contains("no header")
    );
    // Commas in quotes belong to the URL, if a flag says that the cell is one.
    for head in ["url\n", ""] {
        let quoted = format!("{head}\"https://a.example/d;5\"\n\"https://a.example/d;6\"\n");
        for text in [quoted.replace(';', ","), quoted] {
            assert!(found(&text, &plain).error.contains("‹url_field› 1"), "{text}");
            let read = found(&text, &config(&["1"]));
            let urls: Vec<_> =
                read.records.iter().filter_map(|(_, url)| url.as_ref().ok()).collect();
            assert!(urls.iter().all(|url| url.contains(['5', '6'])) && urls.len() == 2, "{read:?}");
        }
    }
    // No row of more than one cell is left out silently.
    let ragged = "loc\nhttps://a.example/s,t\nhttps://a.example/s,t\nhttps://a.example/e\n";
    assert!(found(ragged, &plain).error.contains("more than a URL"));
    // Values may have other separators.
    for text in [
        "page,agent\nhttps://a.example/d,\"X (Y; Z)\"\nhttps://a.example/d,curl/8\n",
        "page,clicks\nhttps://a.example/d,5\nhttps://a.example/d;x=1,6\n",
    ] {
        assert_eq!(found(text, &config(&["1"])).error, "", "{text}");
    }
}

#[test]
fn items_of_json_arrays_are_records() {
    let plain = ListConfig::default();
    let objects = b" [{\"u\": 1,\n \"url\": \"https://a.example/[1],\\\"\"} ,{\"url\":\"https://a.example/2\"}, 3]\n";
    let read = chunks("a", objects, 1 << 20, &plain);
    let expected =
        [&ok(&["https://a.example/[1],\"", "https://a.example/2"])[..], &[Err(Problem::NotJson)]];
    let found: Vec<_> = read.records.iter().map(|(_, url)| url.clone()).collect();
    assert_eq!((found, &*read.error), (expected.concat(), ""));
    assert_eq!(read.note, "a JSON array");
    let first = b"{\"u\": 1,  \"url\": \"https://a.example/[1],\\\"\"}";
    assert_eq!((&read.records[0].0[..], read.format), (&first[..], Some(ListFormat::JsonLines)));
    for chunk_bytes in 1..60 {
        assert_eq!(chunks("a", objects, chunk_bytes, &plain), read, "{chunk_bytes}");
    }
    // Texts are plain lines; one with a line end is no URL.
    let texts = b"[\"https://a.example/1\",\"https:\\/\\/a.example\\/2\",\"https://a.example/\\n3\",{\"url\":\"x\"}]";
    let read = chunks("a.json", texts, 1 << 20, &plain);
    let lines = [
        "https://a.example/1",
        "https://a.example/2",
        "\"https://a.example/\\n3\"",
        "{\"url\":\"x\"}",
    ];
    let found: Vec<_> =
        read.records.iter().map(|(text, _)| String::from_utf8_lossy(text)).collect();
    assert_eq!((found, read.format), (lines.map(Into::into).to_vec(), Some(ListFormat::Lines)));
    // Places, times and layouts are found as in lines.
    let at = ListConfig { times: Place::named(["t"]), ..column("a.b") };
    let read = chunks("a.json", b"[{\"a\":{\"b\":\"x\"},\"t\":\"1970-01-02\"}]", 99, &at);
    assert_eq!(
        (read.records[0].1.clone(), read.times),
        (Ok("x".into()), vec![Some(UnixSeconds(86_400))])
    );
    for (list, count, problem) in [
        (&b"[]"[..], 0, ""),
        (b"[{\"url\":\"a\"}][{\"url\":\"a\"}]", 2, ""),
        (b"[{\"url\":\"a\"}", 0, "the JSON has no end"),
        (b"[{\"url\":\"a\"},{\"url\":\"b\"", 1, "the JSON has no end"),
        (b"[{\"url\":\"a\"}]\n{\"url\":\"b\"}\n", 1, "other text follows"),
        (b"[{\"x\":\"a\"}]", 0, "the fields are `x`"),
    ] {
        let read = chunks("a.json", list, 1 << 20, &plain);
        assert_eq!(read.records.len(), count, "{}", list.escape_ascii());
        assert!(
            read.error.contains(problem) && read.error.is_empty() == problem.is_empty(),
            "{}",
            read.error
        );
    }
}

#[test]
fn utf16_is_read_as_utf8() {
    let text = "id\tURL\r\n1\thttps://a.example/\u{e9}\u{1f577}\r\n";
    let utf16 = |bytes: fn(u16) -> [u8; 2]| -> Vec<u8> {
        "\u{feff}".encode_utf16().chain(text.encode_utf16()).flat_map(bytes).collect()
    };
    for stored in [utf16(u16::to_le_bytes), utf16(u16::to_be_bytes)] {
        let read = chunks("a.csv", &stored, 1 << 20, &ListConfig::default());
        let note = "CSV, column `URL`; UTF-16, read and written as UTF-8";
        assert_eq!((&*read.error, &*read.note), ("", note));
        assert_eq!([read.head, read.whole].concat(), text.as_bytes());
        assert_eq!(read.records[0].1, Ok("https://a.example/\u{e9}\u{1f577}".to_owned()));
        let cut = chunks("a.csv", &stored[..stored.len() - 1], 1 << 20, &ListConfig::default());
        assert!(cut.error.contains("not UTF-16: an odd byte"), "{}", cut.error);
        // Bytes between NULs are as they are.
        let config = ListConfig { terminator: Terminator::Nul, ..ListConfig::default() };
        let whole = chunks("a", &stored, 1 << 20, &config).whole;
        assert_eq!(whole, stored);
    }
}

#[test]
fn what_cannot_be_read_as_a_list() {
    let plain = ListConfig::default();
    let rows: [(&str, &[u8], &[&str]); 6] = [
        ("-", b"[[\"url\", 1], [\"https://a.example/\", 2]]", &["JSON array of rows", "jq"]),
        (
            "-",
            b"{\"id\": 1, \"link\": \"x\"}\n{\"other\": 2}\n",
            &["`id`, `link`, `other`", "‹url_field›"],
        ),
        ("-", b"{\n  \"url\": \"a\"\n}\n", &["several lines", "jq"]),
        ("-", b"h\0t\0t\0p\0", &["UTF-16LE", "iconv"]),
        ("-", b"PAR1", &["Parquet"]),
        ("a.jsonl", b"https://a.example/\n", &["no line is a JSON object"]),
    ];
    for (name, bytes, words) in rows {
        let error = chunks(name, bytes, 1 << 20, &plain).error;
        assert!(words.iter().all(|word| error.contains(word)), "{error}");
    }
    // Captures of robots.txt are not a list, but a frontier with a status is not captures.
    let capture =
        |path: &str| format!("{{\"url\": \"https://a.example{path}\", \"status\": 200}}\n");
    let refused = chunks("-", capture("/robots.txt").as_bytes(), 99, &plain).error;
    assert!(refused.contains("compile -o SET"), "{refused}");
    assert_eq!(urls("-", capture("/x").as_bytes(), &plain), ok(&["https://a.example/x"]));
    let forced = with(ListFormat::JsonLines);
    assert_eq!(urls("-", capture("/robots.txt").as_bytes(), &forced).len(), 1);
}

#[test]
fn the_first_record_may_be_longer_than_a_chunk() {
    let title = "t".repeat(5_000);
    let plain = ListConfig::default();
    let csv = format!("\"{title}\n\",url\nx,https://a.example/\n");
    let json = format!("{{\"t\": \"{title}\", \"url\": \"https://a.example/\"}}\n");
    for (name, text) in [("a.csv", csv), ("a.jsonl", json)] {
        let read = chunks(name, text.as_bytes(), 16, &plain);
        assert_eq!(read.records.len(), 1, "{}", read.error);
        assert_eq!(read.records[0].1, Ok("https://a.example/".to_owned()));
    }
}

/// Names of queries have any length, and `query` stands anywhere in them.
#[test]
fn queries_that_are_not_read_are_seen_by_any_name() {
    let config = ListConfig { host: Some("a.example".into()), ..column("uri") };
    let has_note = |name: &str| {
        let text = format!("{{\"uri\":\"/a\"}}\n{{\"{name}\":\"q=1\",\"uri\":\"/a\"}}\n");
        let source = Source::from_reader("a.jsonl", std::io::Cursor::new(text.into_bytes()));
        let chunk = Chunks::new(source, ChunkConfig::default(), config.clone()).next();
        let (chunk, arena) = (chunk.unwrap().unwrap(), Arena::new());
        let mut rows = Rows::new(&chunk, &arena, 0);
        rows.read(1, |_| Ok::<bool, InputError>(true)).unwrap();
        let notes: Vec<String> = chunk.list.notes_on_parts(rows.noticed()).collect();
        !notes.is_empty()
    };
    for before in 0..20 {
        for after in 0..20 {
            let [before, after] = [before, after].map(|count| "x".repeat(count));
            assert!(has_note(&format!("{before}query{after}")), "{before} {after}");
            assert!(has_note(&format!("{before}QUERY{after}")), "{before} {after}");
            assert!(!has_note(&format!("{before}quer{after}")), "{before} {after}");
        }
    }
    assert!(has_note("\\u0071uery") && has_note("args") && has_note("Qs"));
}

/// Kubernetes splits long lines, wherever chunks of a list and reads of a chunk begin.
#[test]
fn parts_of_lines_are_no_requests() {
    let format = "$host|$request".parse().unwrap();
    let config = ListConfig { log_format: Some(format), ..ListConfig::default() };
    let lines = [
        ("stdout F", true),
        ("stdout P", false),
        ("stderr F", true),
        ("stdout P", false),
        ("stderr F", true),
        ("stdout F", false),
        ("stdout F", true),
        ("stderr P", false),
        ("stderr F", false),
        ("stderr F", true),
    ];
    let line =
        |flag: &str| format!("2025-10-10T20:55:36.1Z {flag} a.example|GET /{flag} HTTP/1.1\n");
    let text: String = lines.iter().map(|(flag, _)| line(flag)).collect();
    let text = text.replace("/stdout ", "/").replace("/stderr ", "/");
    let expected: Vec<bool> = lines.iter().map(|(_, is_whole)| *is_whole).collect();
    let are_whole = |read: &[Result<String, Problem>]| -> Vec<bool> {
        assert!(read.iter().all(|it| it.is_ok() || *it == Err(Problem::Cut)), "{read:?}");
        read.iter().map(Result::is_ok).collect()
    };
    for chunk_bytes in [1, 100, 150, 1 << 20] {
        let read = chunks("a.log", text.as_bytes(), chunk_bytes, &config);
        let urls: Vec<_> = read.records.into_iter().map(|(_, url)| url).collect();
        assert_eq!(are_whole(&urls), expected, "{chunk_bytes}");
    }
    let source = Source::from_reader("a.log", std::io::Cursor::new(text.clone().into_bytes()));
    let chunk = Chunks::new(source, ChunkConfig::default(), config).next().unwrap().unwrap();
    let arena = Arena::new();
    let starts = text.match_indices('\n').map(|(end, _)| end + 1);
    for (first, start) in [0].into_iter().chain(starts).enumerate() {
        let mut rest = Vec::new();
        let read = Rows::new(&chunk, &arena, start).read(1, |records| {
            rest.extend(records.iter().map(|it| it.problem().map_or(Ok(String::new()), Err)));
            Ok::<bool, InputError>(true)
        });
        read.unwrap();
        assert_eq!(are_whole(&rest), expected[first..], "{first}");
    }
}

#[test]
fn the_cut_depends_on_the_bytes_alone() {
    let folder = tempfile::tempdir().unwrap();
    let mut state = 1_u32;
    let mut next = |bound: usize| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) as usize % bound
    };
    use ListFormat::{Csv, JsonLines, Lines, NutchDump, Tsv};
    for format in [Lines, Csv, Tsv, NutchDump, JsonLines] {
        for round in 0..300 {
            let alphabet = b"a,\"\n\r\"\"\nb;\t";
            let mut text: Vec<u8> = (0..next(80)).map(|_| alphabet[next(alphabet.len())]).collect();
            match format {
                Csv => drop(text.splice(0..0, *b"x,url\n")),
                Tsv => drop(text.splice(0..0, *b"x\turl\n")),
                _ => {}
            }
            let mut config = with(format);
            if format == ListFormat::JsonLines {
                config.urls = Place::named(["url"]);
            }
            let whole = chunks("-", &text, 1 << 20, &config);
            if whole.error.contains("CR alone") {
                continue;
            }
            let read_bytes = [&whole.head[..], &whole.whole].concat();
            match whole.error.contains("in the middle of a field") {
                true => assert!(text.starts_with(&read_bytes), "{text:?}"),
                false => assert_eq!(read_bytes, text, "{:?}", whole.error),
            }
            let path = folder.path().join("list");
            std::fs::write(&path, &text).unwrap();
            let chunk_bytes = 1 + round % 17;
            let streamed = chunks("-", &text, chunk_bytes, &config);
            let file = Source::open(&path).unwrap();
            for read in [streamed, read(file, chunk_bytes, &config)] {
                assert_eq!(read.records, whole.records, "{format} {chunk_bytes} {text:?}");
            }
        }
    }
}

#[test]
fn every_truncation_of_compressed_csv_keeps_whole_rows_only() {
    let mut text = b"id,url\n".to_vec();
    for number in 0..50 {
        text.extend(format!("\"{number}\n\",https://a.example/{number}\r\n").into_bytes());
    }
    let stored = portcullis_testkit::files::gzip(&text);
    for bytes in 10..stored.len() {
        let read = chunks("a.csv", &stored[..bytes], 64, &ListConfig::default());
        assert!(read.error.starts_with("a.csv is cut short"), "{}", read.error);
        assert!(read.records.iter().all(|(_, url)| url.is_ok()), "{read:?}");
    }
}

#[test]
fn places_are_counted_as_editors_do() {
    let place = |name: &str, bytes: &[u8]| {
        let reader = std::io::Cursor::new(bytes.to_vec());
        let source = Source::from_reader(name, reader);
        let chunk = Chunks::new(source, ChunkConfig::default(), ListConfig::default()).next();
        let chunk: Result<_, InputError> = chunk.unwrap();
        chunk.unwrap().list.place(0)
    };
    assert_eq!(place("-", b"https://a.example/\n"), "line 1");
    assert_eq!(place("a.csv", b"url\nhttps://a.example/\n"), "row 2");
    assert_eq!(place("a.csv", b"https://a.example/\n"), "row 1");
    assert_eq!(place("-", CDXJ), "line 2");
    assert_eq!(place("-", NUTCH), "record 1");
}

fn timed(times: Place, unit: Option<TimeUnit>) -> ListConfig {
    ListConfig { times, unit, ..ListConfig::default() }
}

fn at(names: &[&str]) -> Place {
    Place::named(names.iter().copied())
}

/// 2020-01-02T03:04:05Z.
const TIME: Option<UnixSeconds> = Some(UnixSeconds(1_577_934_245));

/// The name and bytes of a list, where its times are, their unit, and the times.
type Timed<'t> = (&'t str, &'t [u8], Place, Option<TimeUnit>, &'t [Option<UnixSeconds>]);

#[test]
fn times_of_every_format() {
    let cdxj = b"com,example)/1 20200102030405 {\"url\": \"a\", \"t\": \"2020-01-02 03:04:05\"}\n\
com,example)/2 2020 {\"url\": \"b\"}\nno cdxj\n\n";
    let json =
        b"{\"t\": \"2020-01-02T03:04:05Z\", \"url\": \"a\"}\n{\"url\": \"b\", \"t\": null}\n\
{\"url\": \"c\", \"in\": {\"t\": \"2020-01-02T03:04:05\"}}\n{\"url\": \"d\", \"t\": 1577934245.9}\n\
{\"url\": \"e\", \"t\": \"x\", \"t\": \"2020-01-02\"}\n{\n";
    let csv = b"date,url,\"seen, ms\"\r\n2020-01-02 03:04:05.6,a,1577934245999\n,b,x\n\"2020-01-02\n\",c\n";
    let rows = b"\"2020-01-02T04:04:05+01:00\",https://a.example/\n2020-02-30,https://b.example/\n";
    let missing = None;
    let cases: [Timed<'_>; 14] = [
        ("-", cdxj, Place::Record, None, &[TIME, missing, missing, missing]),
        ("-", cdxj, at(&["t"]), None, &[TIME, missing, missing, missing]),
        ("-", LOG, Place::Record, None, &[TIME, TIME]),
        ("-", json, at(&["t"]), None, &[TIME, missing, missing, missing, missing, missing]),
        (
            "-",
            json,
            at(&["in.t", "t"]),
            Some(TimeUnit::Seconds),
            &[TIME, missing, TIME, TIME, missing, missing],
        ),
        ("a.csv", csv, at(&["date"]), None, &[TIME, missing, missing]),
        ("-", csv, at(&["1"]), None, &[TIME, missing, missing]),
        ("-", csv, at(&["seen, ms"]), Some(TimeUnit::Milliseconds), &[TIME, missing, missing]),
        ("-", csv, at(&["3"]), None, &[missing; 3]),
        ("a.csv", rows, at(&["1"]), None, &[TIME, missing]),
        ("-", rows, at(&["1"]), None, &[TIME, missing]),
        ("-", csv, Place::Usual, Some(TimeUnit::Seconds), &[]),
        ("-", cdxj, Place::Usual, None, &[]),
        ("-", b"", Place::Record, None, &[]),
    ];
    for (name, bytes, place, unit, times) in cases {
        for chunk_bytes in [9, 1 << 20] {
            let column = match bytes == rows {
                true => Place::named(["2"]),
                false => Place::Usual,
            };
            let config = ListConfig { urls: column.clone(), ..timed(place.clone(), unit) };
            let read = chunks(name, bytes, chunk_bytes, &config);
            assert_eq!((read.error.as_str(), &*read.times), ("", times), "{name} {place:?}");
            let format = ListConfig { format: read.format, urls: column, ..ListConfig::default() };
            let without = chunks(name, bytes, 1 << 20, &format);
            assert_eq!(read.records, without.records, "{name} {place:?}");
        }
    }
    let paths: Vec<String> = (0..70).map(|number| format!("none{number}")).collect();
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    let error = chunks("-", json, 1 << 20, &timed(at(&paths), None)).error;
    assert!(error.contains("more than 64 names of fields"), "{error}");
}

#[test]
fn formats_without_the_place_of_the_time() {
    let csv = b"url,date,date\nhttps://a.example/,2020-01-02,2020-01-02\n";
    let json = b"{\"url\": \"a\"}\n";
    let lines = b"https://a.example/\n";
    for (name, bytes, place, words) in [
        ("-", &lines[..], Place::Record, "records of plain lines have no time of their own"),
        ("-", lines, at(&["t"]), "a list of plain URLs has no columns; omit ‹time_field›"),
        ("-", NUTCH, at(&["t"]), "‹at› TIME"),
        ("-", JOURNAL, Place::Record, "have no time of their own"),
        ("-", NUTCH, Place::Record, "have no time of their own"),
        ("-", csv, Place::Record, "‹time_field›"),
        ("-", json, Place::Record, "‹time_field›"),
        ("-", LOG, at(&["t"]), "‹time_field› record"),
        (
            "a.csv",
            csv,
            at(&["time"]),
            "no column `time`; its columns are `url`, `date`, `date`; choose the time with \
             ‹time_field› NAME (name or number; alternatives are separated by commas)",
        ),
        ("a.csv", csv, at(&["4"]), "no column `4`"),
        (
            "a.csv",
            csv,
            at(&["date"]),
            "columns 2 and 3 are both called `date`; choose the time by its number with ‹time_field›",
        ),
    ] {
        let error = chunks(name, bytes, 1 << 20, &timed(place, None)).error;
        assert!(error.contains(words), "{words}: {error}");
    }
    // Without a header, a field is not the name of a column.
    let headless = b"https://a.example/,2020-01-02\n";
    let config = ListConfig { urls: at(&["1"]), ..timed(at(&["2020-01-02"]), None) };
    let error = chunks("a.csv", headless, 1 << 20, &config).error;
    assert!(error.contains("no column `2020-01-02`"), "{error}");
}

const CDX: &[u8] = b" CDX N b a m\r\n\
example,a)/1 20200102030405 https://a.example/1 text/html\r\n\
example,a)/2 20200102030405 - text/html\r\nx\r\n";
const CDX_BARE: &[u8] = b"example,a)/1 20200102030405 https://a.example/1 text/html 200 AAAA 5\n\
example,a)/2 20200102030405 - warc/revisit - AAAA 5\n";
const ROWS: &str = "[\"urlkey\",\"timestamp\",\"original\"]\n\
[\"a\",\"20200102030405\",\"https://a.example/1\"]\n[\"b\",\"x\",\"https://a.example/\\u0032\"]\n[1]\n{}\n";
const W3C: &[u8] = b"#Version: 1.0\n#Fields: date time cs-uri-stem cs-host\n\
2020-01-02 03:04:05 /1 a.example\n#Version: 1.0\n2020-01-02 03:04:05 /2 a.example\n";
const COMBINED: &[u8] =
    b"a.example 192.0.2.7 - - [02/Jan/2020:03:04:05 +0000] \"GET /1 HTTP/1.1\" 200 5\n";

/// A WARC record with a block of these bytes.
fn warc_record(kind: &str, url: &str, content_type: &str, block: &str) -> String {
    format!(
        "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\nContent-Type: {content_type}\r\n\
         Content-Length: {}\r\n\r\n{block}\r\n\r\n",
        block.len()
    )
}

#[test]
fn logs_and_indexes_are_found_by_their_first_bytes() {
    let one = ok(&["https://a.example/1"]);
    let no_url = || vec![Err(Problem::NoUrl)];
    type Found<'t> =
        (&'t [u8], ListFormat, &'t str, Vec<Result<String, Problem>>, &'t [Option<UnixSeconds>]);
    let rows: [Found<'_>; 6] = [
        (
            CDX,
            ListFormat::Cdx,
            "CDX",
            [one.clone(), no_url(), no_url()].concat(),
            &[TIME, TIME, None],
        ),
        (CDX_BARE, ListFormat::Cdx, "CDX", [one.clone(), no_url()].concat(), &[TIME, TIME]),
        (
            ROWS.as_bytes(),
            ListFormat::Cdx,
            "CDX, rows of JSON",
            [
                ok(&["https://a.example/1", "https://a.example/2"]),
                vec![Err(Problem::FieldCount), Err(Problem::NotJson)],
            ]
            .concat(),
            &[TIME, None, None, None],
        ),
        (
            W3C,
            ListFormat::W3cLog,
            "a W3C extended log",
            [one.clone(), no_url(), ok(&["https://a.example/2"])].concat(),
            &[TIME, None, TIME],
        ),
        (COMBINED, ListFormat::AccessLog, "an access log, vhost-common", one.clone(), &[TIME]),
        (
            LOG,
            ListFormat::CrawlLog,
            "a Heritrix crawl.log",
            ok(&["https://a.example/1", "https://a.example/2"]),
            &[TIME, TIME],
        ),
    ];
    for (bytes, format, note, expected, times) in rows {
        for chunk_bytes in [7, 1 << 20] {
            let read = chunks("-", bytes, chunk_bytes, &timed(Place::Record, None));
            assert_eq!((read.format, &*read.note, &*read.error), (Some(format), note, ""));
            assert_eq!(read.times, times, "{note}");
            let found: Vec<_> = read.records.into_iter().map(|(_, url)| url).collect();
            assert_eq!(found, expected, "{note}");
            assert_eq!([read.head, read.whole].concat(), bytes, "nothing is lost");
        }
    }
    // Rows without names are arrays of texts.
    let bare = b"[\"original\"]\n[\"https://a.example/1\"]\n";
    let read = chunks("a.jsonl", bare, 1 << 20, &ListConfig::default());
    assert_eq!((read.format, &*read.note), (Some(ListFormat::Lines), "a JSON array"));
}

/// A row has a cell for each name, and each is a text, a number or null.
#[test]
fn rows_of_json_are_as_their_names() {
    let url = "https://a.example/";
    for (row, expected) in [
        (format!(r#"[1,null,"{url}"]"#), Ok(url.to_owned())),
        (r#"["x","y",null]"#.to_owned(), Err(Problem::NoUrl)),
        (r#"["x","y","-"]"#.to_owned(), Err(Problem::NoUrl)),
        (format!(r#"["x","y","{url}","z"]"#), Err(Problem::FieldCount)),
        (format!(r#"["x","{url}"]"#), Err(Problem::FieldCount)),
        (format!(r#"["x",["y"],"{url}"]"#), Err(Problem::NotAString)),
        (format!(r#"[{{"url":"x"}},"y","{url}"]"#), Err(Problem::NotAString)),
        (format!(r#"[true,"y","{url}"]"#), Err(Problem::NotAString)),
        (format!(r#"["x","y","{url}"] z"#), Err(Problem::NotJson)),
        (format!(r#"{{"original":"{url}"}}"#), Err(Problem::NotJson)),
    ] {
        let text = format!("[\"urlkey\",\"timestamp\",\"original\"]\n{row}\n");
        assert_eq!(urls("-", text.as_bytes(), &ListConfig::default()), [expected], "{row}");
    }
}

/// Line ends change no record.
#[test]
fn mixed_arrays_are_items() {
    let items = [r#"{"url":"https://a.example/p"}"#, r#""https://b.example/""#];
    for between in [",", ",\n", " , "] {
        let text = format!("[{}]", items.join(between));
        let read = chunks("m.json", text.as_bytes(), 1 << 20, &ListConfig::default());
        let found: Vec<_> = read.records.into_iter().map(|(_, url)| url).collect();
        assert_eq!(found, [ok(&["https://a.example/p"]), vec![Err(Problem::NotJson)]].concat());
        assert_eq!(read.note, "a JSON array");
    }
}

#[test]
fn logs_begin_with_a_line_of_what_rotates_them() {
    for first in ["\n", "\n\n", "Oct 10 00:00:00 web1 newsyslog[7]: logfile turned over\n"] {
        let text = [first.as_bytes(), COMBINED].concat();
        let read = chunks("-", &text, 1 << 20, &ListConfig::default());
        assert_eq!((read.format, &*read.error), (Some(ListFormat::AccessLog), ""), "{first}");
        let urls: Vec<_> = read.records.into_iter().filter_map(|(_, url)| url.ok()).collect();
        assert_eq!(urls.last().unwrap(), "https://a.example/1", "{first}");
    }
    // A table may have lines of a log.
    let rows = [b"url\tline\nhttps://b.example/\t", COMBINED].concat();
    assert_eq!(chunks("-", &rows, 1 << 20, &ListConfig::default()).format, Some(ListFormat::Tsv));
}

#[test]
fn the_answer_of_a_cdx_server_becomes_lines() {
    let rows: Vec<&str> = ROWS.lines().collect();
    let answers = [
        format!("[{}]", rows.join(",")),
        format!(" [ {} ]\n", rows.join(",\r\n ")),
        format!("[{}]", rows.join(",\n").replace("\",\"", "\",\n\"")),
    ];
    for answer in &answers {
        for chunk_bytes in [5, 1 << 20] {
            let read = chunks("cdx.json", answer.as_bytes(), chunk_bytes, &ListConfig::default());
            assert_eq!((&*read.error, read.format), ("", Some(ListFormat::Cdx)), "{answer}");
            let urls: Vec<_> = read.records.iter().map(|(_, url)| url.clone()).collect();
            let bad = vec![Err(Problem::FieldCount), Err(Problem::NotJson)];
            assert_eq!(urls, [ok(&["https://a.example/1", "https://a.example/2"]), bad].concat());
            assert!(read.head.starts_with(b"[\"urlkey\"") && read.head.ends_with(b"]\n"));
        }
    }
    // The rows before the damage are whole.
    let whole = &answers[0];
    for end in rows[0].len() + 2..whole.len() {
        let read = chunks("-", &whole.as_bytes()[..end], 1 << 20, &ListConfig::default());
        assert!(read.error.contains("no end"), "{end}: {read:?}");
    }
    let behind = chunks("-", format!("{whole} x").as_bytes(), 1 << 20, &ListConfig::default());
    assert!(behind.error.contains("other text follows"), "{}", behind.error);
}

#[test]
fn the_targets_of_archives() {
    let all = [
        warc_record("warcinfo", "https://a.example/info", "application/warc-fields", "x"),
        warc_record("request", "https://a.example/1", "application/http", "GET"),
        warc_record("response", "<https://a.example/1>", "application/http", "WARC/1.0\r\n"),
        warc_record("metadata", "https://a.example/1", "application/warc-fields", ""),
        warc_record("resource", "https://a.example/2", "text/plain", &"x".repeat(100_000)),
        warc_record("revisit", "https://a.example/3", "application/http", ""),
        warc_record("conversion", "https://a.example/4", "text/plain", "y"),
        warc_record("metadata", "https://a.example/5", "application/json", "{}"),
        warc_record("metadata", "https://a.example/5", "application/json", "{}"),
        warc_record("response", "https://a.example/robots.txt", "application/http", ""),
    ]
    .concat();
    let list: String = (1..6).map(|page| format!("https://a.example/{page}\n")).collect();
    let list = list + "https://a.example/robots.txt\n";
    let config = ListConfig::default();
    for bytes in [all.clone().into_bytes(), portcullis_testkit::files::gzip(all.as_bytes())] {
        let read = chunks("a.warc.wat.gz", &bytes, 30, &config);
        assert_eq!((&*read.error, read.format), ("", Some(ListFormat::Warc)));
        assert_eq!(String::from_utf8(read.whole).unwrap(), list);
    }
    // Damage is an error after whole records.
    let starts = memchr::memmem::find_iter(all.as_bytes(), b"WARC/1.0\r\nWARC-Type");
    for end in starts.flat_map(|start| [start + 5, start + 40]) {
        let read = chunks("-", &all.as_bytes()[..end], 1 << 20, &config);
        assert!(list.as_bytes().starts_with(&read.whole), "{end}");
        assert!(read.error.contains("begins here"), "{end}: {}", read.error);
    }
    let cut = all.find("xxx").unwrap();
    let read = chunks("-", &all.as_bytes()[..cut + 9], 1 << 20, &config);
    assert!(read.error.contains("no end") && read.records.len() == 1, "{}", read.error);
    // An archive of robots.txt files is no list, unless it is called one.
    let robots = warc_record("response", "https://a.example/robots.txt", "application/http", "");
    let refused = chunks("a.warc", robots.as_bytes(), 1 << 20, &config).error;
    assert!(refused.contains("compile -o SET"), "{refused}");
    assert_eq!(chunks("a", robots.as_bytes(), 1 << 20, &with(ListFormat::Warc)).records.len(), 1);
}

#[test]
fn headers_that_are_logged_as_lists() {
    let config = ListConfig {
        urls: at(&["uri"]),
        agents: at(&["headers.User-Agent"]),
        hosts: at(&["headers.Host"]),
        ..ListConfig::default()
    };
    let line = |agent: &str, host: &str| {
        let headers = format!("{{\"User-Agent\": {agent}, \"Host\": {host}}}");
        format!("{{\"uri\": \"/1\", \"headers\": {headers}}}\n")
    };
    for (agent, host, expected) in [
        ("[\"A/1\"]", "[\"a.example\"]", ("A/1", ok(&["https://a.example/1"]))),
        ("[\"A/1\", \"B/1\"]", "\"a.example\"", ("A/1", ok(&["https://a.example/1"]))),
        ("[]", "[]", ("", vec![Err(Problem::NoHost)])),
        ("[{\"x\": 1}]", "[[\"a.example\"]]", ("", ok(&["https://a.example/1"]))),
        ("[1, \"A/1\"]", "[null]", ("", vec![Err(Problem::NoHost)])),
    ] {
        let text = line(agent, host);
        let source = Source::from_reader("-", std::io::Cursor::new(text));
        let chunk = Chunks::new(source, ChunkConfig::default(), config.clone()).next();
        let (chunk, arena) = (chunk.unwrap().unwrap(), Arena::new());
        let read = Rows::new(&chunk, &arena, 0).read(1, |records| {
            let url = String::from_utf8(records[0].url().to_vec()).unwrap();
            let url = records[0].problem().map_or(Ok(url), Err);
            assert_eq!((str::from_utf8(records.agent(0)).unwrap(), vec![url]), expected, "{agent}");
            Ok::<bool, InputError>(true)
        });
        read.unwrap();
    }
    // The URL itself is a text.
    let list = b"{\"url\": [\"https://a.example/\"]}\n";
    let config = ListConfig { urls: at(&["url"]), ..ListConfig::default() };
    assert_eq!(urls("-", list, &config), [Err(Problem::NotAString)]);
}

#[test]
fn lines_that_hold_more_than_a_url() {
    let plain = ListConfig::default();
    let error = |text: &str| chunks("a.txt", text.as_bytes(), 1 << 20, &plain).error;
    for (text, advice) in [
        (
            "https://a.example/ [200] [T]\nhttps://a.example/2 [301] [U]\n",
            "pipe the list through awk '{print $1}'",
        ),
        ("a.example/x 200\n", "awk '{print $1}'"),
        ("https://a.example/ https://b.example/\n", "tr -s ' ' '\\n'"),
        (
            "https://a.example/,NL,Utrecht\nhttps://b.example/,BE,Gent\n",
            "‹input_format› csv ‹url_field› 1",
        ),
        (
            "https://a.example/,text/html\nhttps://b.example/,text/html\n",
            "‹input_format› csv ‹url_field› 1",
        ),
        ("https://a.example/;NL\nhttps://b.example/;BE\n", "cut -d ';' -f 1"),
        ("/a,NL\n/b,BE\n", "‹input_format› csv ‹url_field› 1"),
        ("a.example/a;NL\na.example/b;BE\n", "cut -d ';' -f 1"),
        ("https://a.example/,https://b.example/", "awk"),
        ("https://a.example/\x01https://b.example/\n", "tr -s '\\001' '\\n'"),
        ("https://a.example/\x1f200\nhttps://b.example/\x1f404", "awk -F '\\037' '{print $1}'"),
        ("https://a.example/; https://b.example/\n", "awk"),
        ("https://a.example/|A b\nhttps://b.example/|B\n", "cut -d '|' -f 1"),
    ] {
        let found = error(text);
        assert!(found.contains("more than a URL") && found.contains(advice), "{text}: {found}");
        let as_they_are = with(ListFormat::Lines);
        assert_eq!(chunks("a.txt", text.as_bytes(), 1 << 20, &as_they_are).error, "");
    }
    // A table with another delimiter has one column, with a header or without.
    for (name, text, advice) in [
        ("a.csv", "https://a.example/x;1\nhttps://b.example/x;2\n", "cut -d ';' -f 1"),
        ("a.csv", "url\nhttps://a.example/x|1\nhttps://b.example/x|2\n", "cut -d '|' -f 1"),
        ("a.csv", "https://a.example/x 200\nhttps://b.example/x 404\n", "awk '{print $1}'"),
        ("a.tsv", "https://a.example/x,NL\nhttps://b.example/x,BE\n", "‹input_format› csv"),
    ] {
        let found = chunks(name, text.as_bytes(), 1 << 20, &plain).error;
        assert!(found.contains("more than a URL") && found.contains(advice), "{text}: {found}");
    }
    assert!(error("https://a.example/\0https://b.example/\0").contains("‹null_data›"));
    for text in [
        "https://a.example/a b\nhttps://a.example/2\nhttps://a.example/3\n",
        " https://a.example/ \nhttps://a.example/2\r\n",
        "https://a.example/x,1.html\nhttps://a.example/x,2.html\n",
        "https://a.example/0,1518,00.html\nhttps://a.example/0,1518,druck-00.html\n",
        "https://a.example/;id=1\nhttps://a.example/;id=2\n",
        "https://a.example/a,b\nhttps://a.example/a\n",
        "https://a.example/a,b\n",
        "https://a.example/?u=b,https://b.example/\n",
        "https://a.example/save/https://b.example/\n",
        "https://a.example/?q=,a\nhttps://a.example/?q=,b\n",
        "some words of a text\n",
        "/a,b/c\n/d,e/f\n",
    ] {
        assert_eq!(error(text), "", "{text}");
    }
    for (line, holds_more) in [
        ("x", false),
        ("https://a.example/ ", false),
        ("https://a.example/a b", true),
        ("https://b.example/ c d", true),
        ("/a b", true),
        ("no url", false),
    ] {
        assert_eq!(super::holds_more(line.as_bytes()), holds_more, "{line}");
    }
    for (text, is_point) in [
        ("https://a.example/@52.1,13.4\nhttps://a.example/@48.5,-16.2,15z\n", true),
        ("https://a.example/52,13.4\nhttps://a.example/48,16.2\n", false),
        ("https://a.example/@52.1,\nhttps://a.example/@48.5,\n", false),
    ] {
        assert_eq!(error(text).is_empty(), is_point, "{text}");
    }
}

#[test]
fn tables_without_a_header() {
    let ranks = b"1,a.example\n2,b.example\n";
    let sites = ok(&["a.example", "b.example"]);
    for name in ["2", "a.example"] {
        assert_eq!(urls("a.csv", ranks, &column(name)), sites, "{name}");
    }
    let named = b"request.host,code\na.example,200\n";
    assert_eq!(urls("a.csv", named, &column("request.host")), ok(&["a.example"]));
    let plain = ListConfig::default();
    for (text, advice) in [
        (&ranks[..], "column 2 has hosts (`a.example`); try ‹url_field› 2 ‹assume_scheme› https"),
        (b"a.example,NL\nb.example,BE\n", "try ‹url_field› 1 ‹assume_scheme› https"),
        (
            b"https://a.example/,https://b.example/\n",
            "columns 1 and 2 each have a path, a URL or a host (`https://a.example/` and `https://b.example/`); \
             choose the requested one with ‹url_field› 1 or ‹url_field› 2",
        ),
        (
            b"/a,200,https://b.example/\n",
            "columns 1 and 3 each have a path, a URL or a host (`/a` and `https://b.example/`)",
        ),
        (b"request.host,code\na.example,200\n", "choose the URL with ‹url_field›"),
    ] {
        let error = chunks("a.csv", text, 1 << 20, &plain).error;
        assert!(error.contains(advice), "{error}");
    }
}

/// Of a table without a header, the separator is the one with which the rows have the columns. What a client sent
/// chooses none: two that fit are an error.
/// Fields that no URL continues with are fields, also if each row has one.
#[test]
fn rows_whose_fields_are_no_part_of_a_url() {
    for field in [
        "3.48%",
        "N/A",
        "01/Dec/2026",
        "2026/12/01/10",
        "a.example",
        "x@example.com",
        "font/woff2",
        "why?",
        "Mozilla/5.0+(X11)+AppleWebKit/537.36",
    ] {
        for delimiter in [',', ';', '|'] {
            let row = |name: &str| format!("https://a.example/{name}{delimiter}{field}\n");
            let text = row("a.pdf") + &row("b.pdf");
            let error = chunks("a.txt", text.as_bytes(), 1 << 20, &ListConfig::default()).error;
            assert!(error.contains("a line may hold more than a URL"), "{text}{error}");
        }
    }
    for tail in
        ["x,00.html", "x;id=1", "x,a/b", "x,%20b", "x,y?z", "x,1.cms", "x,1/b/2.jpg", "x;y.do"]
    {
        let text = format!("https://a.example/{tail}\n").repeat(2);
        assert_eq!(chunks("a.txt", text.as_bytes(), 1 << 20, &ListConfig::default()).error, "");
    }
}

/// Rows are not looked at for each comment before them.
#[test]
fn comments_before_a_table_by_numbers() {
    let comments = format!("#{}\n", "a;b|c,d ".repeat(20)).repeat(900);
    for text in [format!("{comments}1,https://a.example/1,x\n"), comments.clone() + "#2,/1\n"] {
        let place = ListConfig { host: Some("https://a.example".to_owned()), ..column("2") };
        assert_eq!(urls("a.csv", text.as_bytes(), &place), ok(&["https://a.example/1"]));
    }
}

/// The `?` that a query begins with is its own where a program writes what follows the `?` of the URL.
#[test]
fn queries_that_begin_with_a_mark() {
    let table = b"url_host_name,url_protocol,url_path,url_query\na.example,https,/a,?b\n";
    assert_eq!(urls("a.csv", table, &ListConfig::default()), ok(&["https://a.example/a??b"]));
    let object = br#"{"url":{"domain":"a.example","scheme":"https","path":"/a","query":"?b"}}"#;
    assert_eq!(urls("a.jsonl", object, &ListConfig::default()), ok(&["https://a.example/a??b"]));
    let (urls_at, queries) = (Place::named(["2"]), Place::named(["3"]));
    let hosts = Place::named(["1"]);
    let named = ListConfig { urls: urls_at, queries, hosts, ..ListConfig::default() };
    assert_eq!(urls("a.csv", b"a.example,/a,?b\n", &named), ok(&["https://a.example/a?b"]));
}

#[test]
fn separators_without_a_header() {
    let (first, second) = ("https://a.example/1", "https://a.example/2");
    let browser = "X (Linux; Android 10; K; wv) A, B|C\tD";
    for is_headless in [false, true] {
        let config = ListConfig { is_headless, ..column("2") };
        for separator in [",", ";", "|", "\t"] {
            let row = |cells: [&str; 3]| cells.join(separator) + "\n";
            let text = row(["1", first, browser.split(separator).next().unwrap()])
                + &row(["2", second, "A"]);
            for name in ["a.csv", "a.txt"] {
                assert_eq!(urls(name, text.as_bytes(), &config), ok(&[first, second]), "{text}");
            }
        }
        for two in [
            "1;https://a.example/;x,https://b.example/\n1;https://a.example/;x,y\n",
            "1,https://a.example/,x\thttps://b.example/\n",
            "1|https://a.example/|x;https://b.example/\n",
        ] {
            let error = chunks("a.csv", two.as_bytes(), 1 << 20, &config).error;
            assert!(error.contains("the columns may be separated by `"), "{error}");
            let declared = format!("sep={}\n{two}", two.as_bytes()[1] as char);
            let found = urls("a.csv", declared.as_bytes(), &config);
            assert!(found.iter().all(|url| url.is_ok()), "{declared}: {found:?}");
        }
    }
    // A URL alone, or the first field of a row.
    let rows = "https://a.example/1;200;Bot/1\nhttps://a.example/2;404;https://b.example/\n";
    let sessions = "https://a.example/1;id=1\nhttps://a.example/2;id=2\n";
    for text in [rows, sessions] {
        let found = chunks("a.csv", text.as_bytes(), 1 << 20, &column("1"));
        assert!(found.error.contains("separated by `,` or `;`"), "{}", found.error);
    }
    let declared = format!("sep=;\n{rows}");
    assert_eq!(urls("a.csv", declared.as_bytes(), &column("1")), ok(&[first, second]));
    let headed =
        b"n;url;\"x, y\"\n1;https://a.example/1;a, https://b.example/\n2;https://a.example/2;b\n";
    assert_eq!(urls("a.csv", headed, &column("2")), ok(&[first, second]));
    let row = b"1;https://a.example/1;x,url\n2;https://a.example/2;y,https://b.example/\n";
    assert!(chunks("a.csv", row, 1 << 20, &column("2")).error.contains("`,` or `;`"));
    // A number in an agent names no column, and a TAB that a client sent makes no table.
    let closed = ok(&[first, second]);
    let named = b"1,https://a.example/1,x;2\n1,https://a.example/2,x;https://b.example/\n";
    assert!(chunks("a.csv", named, 1 << 20, &column("2")).error.contains("`,` or `;`"));
    let quiet = b"1,https://a.example/1,x;2\n1,https://a.example/2,y\n";
    assert_eq!(urls("a.csv", quiet, &column("2")), closed);
    let tabs = b"1\thttps://a.example/1\tX (K, like G)\n2\thttps://a.example/2\t\"X (K, like G\n";
    assert_eq!(urls("a.tsv", tabs, &column("2")), closed);
    let error = chunks("a.txt", tabs, 1 << 20, &column("2")).error;
    assert!(error.contains("row 2: a cell begins with a quote that it does not close"), "{error}");
    let even = b"1\thttps://a.example/1\t\"X\" (K)\n2\thttps://a.example/2\tx\n";
    assert_eq!(urls("a.txt", even, &column("2")), closed);
    let quoted = b"1\thttps://a.example/1\tx\n2\t\"https://a.example/2\"\tx\n";
    assert_eq!(urls("a.txt", quoted, &column("2"))[1], Err(Problem::Quoted));
    // A header may have odd names, and a line of a list may end with a usual one.
    for names in ["url,og:title", "Indexable?,url", "url|page.title"] {
        let row =
            if names.contains('|') { "https://a.example/1|x\n" } else { "https://a.example/1,x\n" };
        let row = if names.starts_with('I') { "x,https://a.example/1\n" } else { row };
        let text = format!("{names}\n{row}");
        assert_eq!(urls("a.txt", text.as_bytes(), &ListConfig::default()), ok(&[first]), "{text}");
    }
    let doubtful = b"url|Clicks/Day\nhttps://a.example/1|2\n";
    let error = chunks("a.txt", doubtful, 1 << 20, &ListConfig::default()).error;
    assert!(error.contains("may be a header with the column `url`"), "{error}");
    assert_eq!(urls("a.txt", doubtful, &column("url")), ok(&[first]));
    // Lines of URLs, of which the first ends with a usual name, and rows among which are others.
    for text in
        ["https://a.example/1,url\nhttps://a.example/x\n", "https://a.example/|url\nx://a/\n"]
    {
        let found = urls("a.txt", text.as_bytes(), &ListConfig::default());
        assert_eq!(found.len(), 2, "{text}");
        assert!(found[1].as_ref().is_ok_and(|url| text.contains(&format!("\n{url}\n"))), "{text}");
    }
    let others = "https://a.example/1;Bot/1\n".repeat(3) + "https://a.example/2;Bot/1;x\n";
    let error = chunks("a.txt", others.as_bytes(), 1 << 20, &ListConfig::default()).error;
    assert!(error.contains("may hold more than a URL"), "{error}");
    for separator in [",", ";", "|"] {
        let lines = rows.replace(';', separator);
        let error = chunks("a.txt", lines.as_bytes(), 1 << 20, &ListConfig::default()).error;
        assert!(error.contains("may hold more than a URL"), "{error}");
    }
    // An agent or a query with another separator makes no second table.
    for (text, place) in [
        ("1,https://a.example/1,Bot/1 (X; Y)\n1,https://a.example/2,Bot/1 (X; Y)\n", "2"),
        ("\"https://a.example/1\",\"X; Y\"\n\"https://a.example/2\",\"X; Y\"\n", "1"),
        ("1|https://a.example/1|X (Y, like Z)\n1|https://a.example/2|X (Y, like Z)\n", "2"),
        ("sep=;\nhttps://a.example/1;X, /y\nhttps://a.example/2;X, /y\n", "1"),
    ] {
        assert_eq!(urls("a.csv", text.as_bytes(), &column(place)), closed, "{text}");
    }
    // Either may separate them.
    for (text, place) in [
        ("https://a.example/1,Bot/1 (X; Y)\nhttps://a.example/2,Bot/1 (X; Y)\n", "1"),
        ("https://a.example/1,x;200\n", "1"),
        ("x y;a.example/1,z\nx y;a.example/2,z\n", "2"),
        ("1;192.0.2.7/a;x,192.0.2.8/b\n1;192.0.2.7/c;x,y\n", "2"),
        ("1,;/1,/2\n1,;/3,/4\n", "2"),
        ("#x;/1,y\n#x;/2,/z\n", "2"),
    ] {
        let error = chunks("a.csv", text.as_bytes(), 1 << 20, &column(place)).error;
        assert!(error.contains("separated by `"), "{text}: {error}");
    }
}

#[test]
fn changed_bytes_are_read_or_refused() {
    let mut state = 7_u32;
    let mut next = |bound: usize| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) as usize % bound
    };
    let answer = format!("[{}]", ROWS.trim_end().replace('\n', ",\n"));
    let warc = warc_record("response", "https://a.example/1", "application/http", "x").repeat(3);
    let load_balancer = b"h2 2025-10-10T20:55:36.186641Z app/a 192.0.2.7:1 - 0.0 200 \"GET /1 HTTP/1.1\" \"A/1\" x \"a.example\"\n";
    let samples = [
        CDX,
        CDX_BARE,
        ROWS.as_bytes(),
        answer.as_bytes(),
        W3C,
        COMBINED,
        load_balancer,
        warc.as_bytes(),
        b"1,a.example,x\nhttps://a.example/,2\n",
    ];
    let alphabet = b"\"\\[]{}(): -\n\t,.#/a0\0\xff";
    for sample in samples {
        for round in 0..600 {
            let mut bytes = sample.to_vec();
            for _ in 0..1 + next(4) {
                let at = next(bytes.len());
                match next(4) {
                    0 => bytes.truncate(at + 1),
                    1 => bytes.insert(at, alphabet[next(alphabet.len())]),
                    _ => bytes[at] = alphabet[next(alphabet.len())],
                }
            }
            let formats = [None, Some(ListFormat::ALL[round % ListFormat::ALL.len()])];
            for format in formats.into_iter().filter(|it| *it != Some(ListFormat::Parquet)) {
                let place = if round % 2 == 0 { Place::Record } else { Place::Usual };
                let host = Some("b.example".to_owned());
                let config = ListConfig { format, host, ..timed(place, None) };
                let read = chunks("-", &bytes, 1 << 20, &config);
                assert!(read.error.is_empty() || read.error.starts_with("-: "), "{}", read.error);
            }
        }
    }
}

/// Visits are what a format declares: the time and the client are missing where it has none, and no list is
/// decided as of times for them.
#[test]
fn visits_are_read_where_a_format_has_them() {
    const SECONDS: Option<u64> = Some(1_760_129_736);
    let offered = ListConfig {
        host: Some("a.example".to_owned()),
        times: Place::Offered(Vec::new()),
        clients: Place::Offered(Vec::new()),
        ..ListConfig::default()
    };
    let declared = |format: &str| {
        let log_format = Some(format.parse().unwrap());
        ListConfig { format: Some(ListFormat::AccessLog), log_format, ..offered.clone() }
    };
    let named = ListConfig { clients: Place::named(["ip"]), ..offered.clone() };
    let (time, no_time, no_client) = ("[10/Oct/2025:13:55:36 -0700]", "no time", "no client");
    let line = |text: &str| format!("{}\n", text.replace('T', time));
    let rows = [
        (offered.clone(), line(r#"192.0.2.7 - - T "GET / HTTP/1.1" 200 2 "-" "A/1""#), SECONDS, Some("192.0.2.7"), ""),
        (offered.clone(), line(r#"2001:db8::7 - - T "GET / HTTP/1.1" 200 2"#), SECONDS, Some("2001:db8::7"), ""),
        (offered.clone(), line(r#"- - - T "GET / HTTP/1.1" 200 2"#), SECONDS, None, ""),
        // HAProxy and the load balancers of AWS write the port too.
        (
            offered.clone(),
            line(r#"192.0.2.7:5000 [10/Oct/2025:20:55:36.123] in~ w/w1 0/0/0/1/1 200 23 - - ---- 1/1/0/0/0 0/0 "GET /a HTTP/1.1""#),
            SECONDS,
            Some("192.0.2.7"),
            "",
        ),
        (declared(r#"[$time_iso8601] $remote_addr "$request""#), "[2025-10-10T20:55:36Z] [2001:db8::7]:443 \"GET / HTTP/1.1\"\n".into(), SECONDS, Some("[2001:db8::7]"), ""),
        (declared(r#"%{c}a %a %t "%r""#), line(r#"10.0.0.1 192.0.2.7 T "GET / HTTP/1.1""#), SECONDS, Some("192.0.2.7"), ""),
        (declared(r#"$remote_addr $proxy_protocol_addr [$time_local] "$request""#), line(r#"10.0.0.1 192.0.2.7 T "GET / HTTP/1.1""#), SECONDS, Some("192.0.2.7"), ""),
        // What a client sends is no client.
        (declared(r#"[$time_local] "$request" "$http_x_forwarded_for""#), line(r#"T "GET / HTTP/1.1" "192.0.2.7""#), SECONDS, None, no_client),
        (declared(r#"$remote_addr "$request""#), "192.0.2.7 \"GET / HTTP/1.1\"\n".into(), None, Some("192.0.2.7"), no_time),
        (offered.clone(), "#Fields: date time c-ip cs-uri-stem\n2025-10-10 20:55:36 192.0.2.7 /a\n".into(), SECONDS, Some("192.0.2.7"), ""),
        (offered.clone(), "#Fields: c-ip cs-uri-stem\n192.0.2.7 /a\n".into(), None, Some("192.0.2.7"), no_time),
        // Caddy.
        (
            offered.clone(),
            r#"{"ts":1760129736.5,"logger":"http","request":{"method":"GET","uri":"/","host":"a.example","remote_ip":"192.0.2.7"}}"#.to_owned() + "\n",
            SECONDS,
            Some("192.0.2.7"),
            "",
        ),
        (offered.clone(), "url,ip\nhttps://a.example/,192.0.2.7\n".into(), None, None, no_time),
        (named.clone(), "url,ip\nhttps://a.example/,192.0.2.7\n".into(), None, Some("192.0.2.7"), no_time),
        (named.clone(), "{\"url\":\"https://a.example/\",\"ip\":\"192.0.2.7\"}\n".into(), None, Some("192.0.2.7"), no_time),
        (
            ListConfig { times: Place::named(["at"]), ..named.clone() },
            "url,ip,at\nhttps://a.example/,192.0.2.7,2025-10-10T20:55:36Z\n".into(),
            SECONDS,
            Some("192.0.2.7"),
            "",
        ),
    ];
    for (config, text, time, client, lack) in rows {
        let read = chunks("-", text.as_bytes(), 1 << 20, &config);
        let visits: Vec<_> = read.visits.iter().filter(|it| **it != (None, None)).collect();
        let expected = (time, client.map(str::to_owned));
        let expected = if expected == (None, None) { vec![] } else { vec![&expected] };
        assert_eq!((visits, &*read.error), (expected, ""), "{text}");
        let is_asked = matches!(config.times, Place::Named(_));
        assert_eq!(read.times.len(), usize::from(is_asked), "{text}");
        assert!(read.note_on_visits.contains(lack), "{text}: {}", read.note_on_visits);
        assert_eq!(read.note_on_visits.is_empty(), lack.is_empty(), "{text}");
    }
    let asked = ListConfig { clients: Place::Record, ..declared(r#"%t "%r""#) };
    let error = chunks("-", line("T \"GET / HTTP/1.1\"").as_bytes(), 1 << 20, &asked).error;
    assert!(error.contains("no client that is read"), "{error}");
    let asked = ListConfig { clients: Place::Record, ..offered };
    let error = chunks("-", b"url\nhttps://a.example/\n", 1 << 20, &asked).error;
    assert!(error.contains("no client of their own"), "{error}");
}

/// A chunk whose output is full is read again from there, and each record is noticed once. A record
/// without a URL has no path.
#[test]
fn records_are_noticed_once() {
    let text = "path,host,query\n/a,a.example,x\n/b,a.example,x\n/c,a.example,\n/d?y,a.example,x\n\
        https://a.example/,,x\n/e,,x\n/f,a.example,x\n";
    let at = |name: &str| Place::named([name]);
    let config = ListConfig { urls: at("path"), hosts: at("host"), ..ListConfig::default() };
    let source = Source::from_reader("list.csv", text.as_bytes());
    let chunk = Chunks::new(source, ChunkConfig::default(), config).next().unwrap().unwrap();
    for is_full in [false, true] {
        let (arena, mut noticed, mut next) = (Arena::new(), Noticed::default(), Some(0));
        while let Some(from) = next {
            let mut rows = Rows::new(&chunk, &arena, from);
            rows.read(usize::MAX, |_| Ok::<bool, InputError>(!is_full)).unwrap();
            noticed.merge(rows.noticed());
            next = rows.rest();
        }
        let note = chunk.list.notes_on_parts(noticed).next().unwrap();
        assert!(note.starts_with("3 paths without the query that `query` has"), "{note}");
    }
}
