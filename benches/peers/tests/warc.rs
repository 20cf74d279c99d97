//! Compares the reader of WARC files with FastWARC: the same URLs, dates, statuses and bodies.
//!
//! The files are generated here, with every kind of record and coding that both readers support.
//! Intended differences (truncated bodies, codings in name only) are tested in the crate.

use std::fmt::Write as _;
use std::io::{Cursor, Read, Write};

use fastwarc::warc::iter::{ArchiveIterator, ArchiveIteratorOptions};
use fastwarc::warc::record::{AutoDecode, WarcRecord, WarcRecordType};
use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use portcullis_captures::{BatchReader, Capture, ReadConfig, Subject, warc};
use portcullis_dialect::Fetched;
use portcullis_files::input::Source;
use portcullis_robots::access::{CaptureNote, UnixSeconds};
use portcullis_synth::random::SplitMix64;

/// An answer that both readers must find.
#[derive(Debug, PartialEq, Eq)]
struct Entry {
    url: String,
    captured_at: u64,
    status: u16,
    body: Vec<u8>,
}

fn text(draw: &mut SplitMix64) -> Vec<u8> {
    let mut text = String::new();
    let ending = draw.pick(&["\n", "\r\n", "\r\n\r\n"]);
    for line in 0..draw.below(60) {
        let path = draw.next_u64();
        write!(text, "{}: /{path:x}{ending}", ["Allow", "Disallow"][line as usize % 2]).unwrap();
    }
    text.into_bytes()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn chunked(bytes: &[u8], size: usize) -> Vec<u8> {
    let mut out = Vec::new();
    for chunk in bytes.chunks(size) {
        write!(out, "{:x}\r\n", chunk.len()).unwrap();
        out.extend([chunk, b"\r\n"].concat());
    }
    out.extend(b"0\r\n\r\n");
    out
}

/// Returns a response with `body` in a random coding and framing.
fn response(draw: &mut SplitMix64, status: u16, body: &[u8]) -> Vec<u8> {
    let mut head = format!("HTTP/1.1 {status} {}\r\n", draw.pick(&["OK", "", "Some reason"]));
    let mut stored = match draw.below(5) {
        0 if !body.is_empty() => {
            head += "Content-Encoding: gzip\r\n";
            gzip(body)
        }
        1 if !body.is_empty() => {
            head += "content-encoding: deflate\r\n";
            zlib(body)
        }
        _ => body.to_vec(),
    };
    match draw.below(3) {
        0 => {
            head += "Transfer-Encoding: chunked\r\n";
            let size = 1 + draw.below(500) as usize;
            stored = chunked(&stored, size);
        }
        1 => write!(head, "Content-Length: {}\r\n", stored.len()).unwrap(),
        _ => {}
    }
    head += draw.pick(&["", "Server: x\r\n", "Location: https://b.example/\r\n"]);
    [head.as_bytes(), b"\r\n", &stored].concat()
}

const TYPES: [&str; 10] = [
    "response",
    "response",
    "response",
    "response",
    "resource",
    "revisit",
    "request",
    "warcinfo",
    "metadata",
    "conversion",
];

const PATHS: [&str; 6] =
    ["/robots.txt", "/robots.txt", "/Robots.TXT?x=/", "/", "/index.html", "/x/robots.txt"];

const STATUSES: [u16; 10] = [200, 200, 200, 203, 301, 304, 403, 404, 500, 503];

/// Returns a record of a random type. `number` makes its URL unique.
fn record(draw: &mut SplitMix64, number: u32) -> Vec<u8> {
    const RESPONSE: &str = "application/http; msgtype=response";
    const REQUEST: &str = "application/http; msgtype=request";
    let (record_type, path, body) = (draw.pick(&TYPES), draw.pick(&PATHS), text(draw));
    let (content_type, block) = match record_type {
        "response" => {
            let status = draw.pick(&STATUSES);
            (RESPONSE, response(draw, status, &body))
        }
        "revisit" => (RESPONSE, b"HTTP/1.1 200 OK\r\n\r\n".to_vec()),
        "request" => (REQUEST, b"GET /robots.txt HTTP/1.1\r\n\r\n".to_vec()),
        _ => ("text/plain", body),
    };
    let version = draw.pick(&["WARC/1.0", "WARC/1.1"]);
    let (day, second) = (1 + draw.below(28), draw.below(60));
    let header = format!(
        "{version}\r\nWARC-Type: {record_type}\r\n\
         WARC-Record-ID: <urn:uuid:00000000-0000-0000-0000-{number:012}>\r\n\
         WARC-Date: 2023-02-{day:02}T10:20:{second:02}Z\r\n\
         WARC-Target-URI: http://h{number}.example{path}\r\n\
         Content-Type: {content_type}\r\nContent-Length: {}\r\n\r\n",
        block.len()
    );
    [header.as_bytes(), &block, b"\r\n\r\n"].concat()
}

fn entry(capture: Capture<'_>) -> Entry {
    let Subject::Url(url) = &capture.subject else { panic!("{capture:?}") };
    let Fetched::Status(status) = capture.answer else { panic!("{capture:?}") };
    assert!(capture.notes.iter().all(|note| note == CaptureNote::Revisit), "{capture:?}");
    Entry {
        url: String::from_utf8(url.to_vec()).unwrap(),
        captured_at: capture.captured_at.unwrap().0,
        status,
        body: capture.body.into_owned(),
    }
}

fn read_here(file: &[u8]) -> Vec<Entry> {
    let source = Source::from_reader("a.warc", Cursor::new(file.to_vec()));
    let mut reader = warc::open(source);
    let mut ours = Vec::new();
    while let Some(batch) = reader.next_batch().unwrap() {
        let config = ReadConfig { robots_bytes_max: None };
        batch.read(&config, &mut |read| ours.push(entry(read.unwrap())));
    }
    ours
}

fn read_there(file: &[u8], decode_http_payload: AutoDecode) -> Vec<Entry> {
    let options = ArchiveIteratorOptions { decode_http_payload, ..Default::default() };
    ArchiveIterator::with_options(Cursor::new(file.to_vec()), options)
        .filter_map(|record| entry_of(&mut record.unwrap().borrow_mut()))
        .collect()
}

/// Returns the answer in a record read by FastWARC, which does not interpret records itself.
fn entry_of(record: &mut WarcRecord) -> Option<Entry> {
    let url = record.headers().get("WARC-Target-URI")?.into_owned();
    let path = url.split('?').next().unwrap_or_default();
    if !path.to_ascii_lowercase().ends_with("/robots.txt") {
        return None;
    }
    let status = match record.record_type() {
        WarcRecordType::Response => record.http_headers().and_then(|http| http.status_code())?,
        WarcRecordType::Resource => 200,
        WarcRecordType::Revisit => 304,
        _ => return None,
    };
    let mut body = Vec::new();
    record.reader_mut().unwrap().read_to_end(&mut body).unwrap();
    if !(200..=299).contains(&status) {
        body.clear();
    }
    let captured_at = record.record_date().unwrap().unix_timestamp().try_into().unwrap();
    Some(Entry { url, captured_at, status, body })
}

#[test]
fn both_readers_find_the_same() {
    for seed in 0..10 {
        let mut draw = SplitMix64::new(seed);
        let records: Vec<Vec<u8>> = (0..600).map(|number| record(&mut draw, number)).collect();
        let frame = |record: &Vec<u8>| zstd::encode_all(&record[..], 3).unwrap();
        let files: [(&str, Vec<u8>); 3] = [
            ("plain", records.concat()),
            ("gzip", records.iter().flat_map(|record| gzip(record)).collect()),
            ("zstd", records.iter().flat_map(frame).collect()),
        ];
        // FastWARC stops after a body with two codings. So it finds the records of a file without
        // decoding, and decodes each record separately.
        let each = records.iter().flat_map(|record| read_there(record, AutoDecode::All));
        let bodies: Vec<Entry> = each.collect();
        assert!(bodies.len() > 200, "{}", bodies.len());
        for (name, file) in files {
            let here = read_here(&file);
            let there = read_there(&file, AutoDecode::None);
            let named = |entry: &Entry| (entry.url.clone(), entry.captured_at, entry.status);
            let [all_here, all_there] = [&here, &there].map(|all| all.iter().map(named));
            assert!(all_here.eq(all_there), "{name}, seed {seed}");
            assert_eq!(here, bodies, "{name}, seed {seed}");
        }
    }
}

#[test]
fn dates_are_the_same() {
    for text in ["2023-02-28T23:59:59Z", "2000-02-29T00:00:00.25Z", "2023-01-01T00:30:00+01:00"] {
        let mut record = WarcRecord::new();
        record.headers_mut().set("WARC-Date", text);
        let there = record.record_date().unwrap().unix_timestamp();
        let here = UnixSeconds::from_rfc3339(text.as_bytes()).map(|time| time.0);
        assert_eq!(here, u64::try_from(there).ok(), "{text}");
    }
}
