//! WARC files written by other programs, and damaged files.

use std::collections::BTreeSet;
use std::io::Cursor;
use std::ops::Range;
use std::path::PathBuf;

use portcullis_captures::{BatchReader, BrokenRecord, Capture, ReadConfig, Subject, warc};
use portcullis_dialect::Fetched;
use portcullis_files::input::{InputError, Source};
use portcullis_robots::access::{CaptureNote, UnixSeconds};
use portcullis_testkit::Random;
use portcullis_testkit::files::project;

const RULES: &str = "User-agent: *\nDisallow: /private\nDisallow: /tmp\n";

const SAMPLES: [&str; 6] = [
    "sample.warc",
    "sample.warc.gz",
    "sample-1.1.warc.gz",
    "sample.warc.zst",
    "dictionary.warc.zst",
    "compressed-dictionary.warc.zst",
];

/// The captures that were read, one line each.
#[derive(Default)]
struct Found {
    captures: Vec<String>,
    broken: Vec<BrokenRecord>,
    error: Option<InputError>,
}

impl Found {
    fn add(&mut self, read: Result<Capture<'_>, BrokenRecord>) {
        let capture = match read {
            Ok(capture) => capture,
            Err(broken) => return self.broken.push(broken),
        };
        let Subject::Url(url) = capture.subject else { panic!("{capture:?}") };
        let answer = match capture.answer {
            Fetched::Status(status) => status.to_string(),
            other => format!("{other:?}"),
        };
        let body = match &*capture.body {
            body if body == RULES.as_bytes() => "rules".to_owned(),
            body => body.escape_ascii().to_string(),
        };
        let location = capture.location.as_deref().unwrap_or_default().escape_ascii();
        let notes: Vec<&str> = capture.notes.iter().map(CaptureNote::as_str).collect();
        self.captures.push(format!(
            "{} {} {answer} [{body}] <{location}> {}",
            capture.captured_at.map_or(0, |UnixSeconds(seconds)| seconds % 60),
            url.escape_ascii(),
            notes.join(",")
        ));
    }
}

fn read(source: Source) -> Found {
    let mut reader = warc::open(source);
    let mut found = Found::default();
    loop {
        match reader.next_batch() {
            Ok(Some(batch)) => {
                let config = ReadConfig { robots_bytes_max: Some(100_000) };
                batch.read(&config, &mut |read| found.add(read));
            }
            Ok(None) => return found,
            Err(error) => {
                found.error = Some(error);
                return found;
            }
        }
    }
}

fn path_of(sample: &str) -> PathBuf {
    project("tests/data/warc").join(sample)
}

fn read_bytes(bytes: Vec<u8>) -> Found {
    read(Source::from_reader("a.warc", Cursor::new(bytes)))
}

#[test]
fn samples_of_every_version_and_compression() {
    let https = [
        ("2 plain", "200 [rules] <> "),
        ("4 chunked", "200 [rules] <> "),
        ("5 gzip", "200 [rules] <> "),
        ("6 deflate", "200 [rules] <> "),
        ("7 br", "200 [rules] <> "),
        ("8 zstd", "200 [rules] <> "),
        ("9 both", "200 [rules] <> "),
        ("10 undone", "200 [rules] <> "),
        ("11 short", "BrokenBody [] <> short-body"),
        ("12 cut", "BrokenBody [] <> bad-compression"),
        ("13 truncated", "BrokenBody [] <> truncated"),
        ("14 html", "200 [<p>no] <> html-content-type"),
        ("15 moved", "301 [] <https://www.example.com/robots.txt> "),
        ("16 gone", "404 [] <> "),
        ("17 failed", "503 [] <> "),
        ("18 files", "200 [rules] <> "),
        ("19 again", "304 [] <> revisit"),
    ];
    let expected = https.map(|(name, rest)| {
        let (number, host) = name.split_once(' ').unwrap();
        let scheme = if host == "files" { "ftp" } else { "https" };
        format!("{number} {scheme}://{host}.example/robots.txt {rest}")
    });
    for sample in SAMPLES {
        let path = path_of(sample);
        let found = read(Source::open(&path).unwrap());
        assert!(found.error.is_none(), "{sample}: {:?}", found.error);
        assert!(found.broken.is_empty(), "{sample}: {:?}", found.broken);
        assert_eq!(found.captures, expected, "{sample}");
    }
}

#[test]
fn a_dictionary_that_is_missing_or_cut_is_an_error() {
    let bytes = std::fs::read(path_of("dictionary.warc.zst")).unwrap();
    let dictionary_bytes = u32::from_le_bytes(bytes[4..8].try_into().unwrap()) as usize;
    let found = read_bytes(bytes[8 + dictionary_bytes..].to_vec());
    assert!(found.captures.is_empty());
    assert!(found.error.is_some(), "{:?}", found.error);
    for bytes_kept in [4, 5, 8, 100, 7 + dictionary_bytes] {
        let found = read_bytes(bytes[..bytes_kept].to_vec());
        assert!(found.captures.is_empty());
        let error = found.error.unwrap().to_string();
        assert!(error.contains("cut short"), "{bytes_kept}: {error}");
    }
    let mut bytes = bytes;
    bytes[7] = 0x7f;
    assert!(read_bytes(bytes).error.is_some());
}

/// Returns four short records, so that many flips can be tried.
fn small_file() -> Vec<u8> {
    let record = |record_type: &str, block: &str| {
        format!(
            "WARC/1.0\r\nWARC-Type: {record_type}\r\nWARC-Target-URI: http://a.example/robots.txt\
             \r\nContent-Length: {}\r\nWARC-Date: 2024-01-02T03:04:05Z\r\n\r\n{block}\r\n\r\n",
            block.len()
        )
    };
    [
        record("warcinfo", "a: b\r\n"),
        record("response", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nAllow: /a\n"),
        record("request", "GET /robots.txt HTTP/1.1\r\n\r\n"),
        record("response", "HTTP/1.1 200 OK\r\n\r\nDisallow: /b\n"),
        record("response", "HTTP/1.1 200 OK\r\n\r\n"),
    ]
    .concat()
    .into_bytes()
}

/// Returns the lines of `file` that contain a URL, and the byte after each, which can join another
/// line to it. A flip there gives a valid record of another URL.
fn lines_of_urls(file: &[u8]) -> Vec<Range<usize>> {
    let mut start = 0;
    let mut lines = Vec::new();
    for line in file.split_inclusive(|&byte| byte == b'\n') {
        if line.starts_with(b"WARC-Target-URI") {
            lines.push(start..start + line.len() + 1);
        }
        start += line.len();
    }
    lines
}

#[test]
fn no_flip_of_a_byte_loses_a_record() {
    let file = small_file();
    let urls = lines_of_urls(&file);
    assert_eq!(read_bytes(file.clone()).captures.len(), 3);
    let mut random = Random::new(1);
    let mut outcomes = BTreeSet::new();
    for at in 0..file.len() {
        let others = (0..30).map(|_| random.next_u64() as u8);
        for byte in others.chain(*b"\r\n \t:0123456789WARC/") {
            let mut flipped = file.clone();
            flipped[at] = byte;
            let found = read_bytes(flipped);
            let count = found.captures.len() + found.broken.len();
            outcomes.insert((count, found.error.is_some()));
            let in_url = urls.iter().any(|line| line.contains(&at));
            assert!(
                found.error.is_some() || count >= 3 || in_url,
                "{byte:?} at {at} ({:?}): {:?}, {:?}",
                file[at.saturating_sub(20)..at].escape_ascii().to_string(),
                found.captures,
                found.broken
            );
        }
    }
    assert!(outcomes.contains(&(3, false)) && outcomes.contains(&(4, false)), "{outcomes:?}");
}

#[test]
fn no_damage_makes_it_panic() {
    let mut random = Random::new(2);
    for sample in SAMPLES {
        let bytes = std::fs::read(path_of(sample)).unwrap();
        for _ in 0..2_000 {
            let mut damaged = bytes.clone();
            for _ in 0..=random.below(20) {
                let at = random.below(damaged.len());
                match random.below(4) {
                    0 => damaged[at] = random.next_u64() as u8,
                    1 => damaged.truncate(at.max(1)),
                    2 => {
                        let end = (at + random.below(40)).min(damaged.len());
                        damaged.drain(at..end.min(damaged.len() - 1).max(at));
                    }
                    _ => damaged[at] ^= 1 << random.below(8),
                }
            }
            let found = read_bytes(damaged);
            assert!(found.captures.len() <= 40);
        }
    }
}
