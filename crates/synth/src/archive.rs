//! Synthetic archives of responses to GET /robots.txt, in which every host responds with its file, or
//! with what its history says: JSON Lines, or WARC with each record as its own gzip member (WARC 1.0, annex D), as crawls store
//! them. Cost: copying the file, and compressing it for WARC.
//!
//! ```
//! use portcullis_synth::{ArchiveFormat, Corpus};
//!
//! let mut records = Vec::new();
//! Corpus::new(7, 3).write_archived(0, ArchiveFormat::JsonLines, &mut records);
//! assert!(records.starts_with(br#"{"url":"http"#));
//! ```

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde::Serialize;

use super::Corpus;
use super::history::{self, Capture, Version};
use super::random::{Purpose, SplitMix64};

/// Why writing to memory cannot fail.
const VECTOR_TAKES_ALL: &str = "a vector takes everything that is written to it";

const CONTENT_TYPE: &str = "text/plain; charset=utf-8";

/// The format of an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArchiveFormat {
    /// One object per line: `url`, `fetched_at`, `status`, `headers`, `body`.
    JsonLines,
    /// WARC 1.0, with each record as its own gzip member.
    Warc,
}

/// A line of JSON. Its members are in this order.
#[derive(Serialize)]
struct Line<'e> {
    url: &'e str,
    fetched_at: String,
    status: u16,
    headers: Headers,
    body: &'e str,
}

#[derive(Serialize)]
struct Headers {
    #[serde(rename = "Content-Type")]
    content_type: &'static str,
}

impl Corpus {
    /// Appends the head of an archive to `out`.
    pub fn write_archive_head(&self, format: ArchiveFormat, out: &mut Vec<u8>) {
        if format == ArchiveFormat::Warc {
            let block = b"software: portcullis synth\r\nformat: WARC File Format 1.0\r\n";
            let mut random = self.stream(Purpose::Answers, u64::MAX);
            let content = ("application/warc-fields", &block[..]);
            write_warc_record("warcinfo", None, JUNE_2025, content, &mut random, out);
        }
    }

    /// Appends the responses of a host to `out`: its file, at some time of June 2025, or its history.
    pub fn write_archived(&self, host: u64, format: ArchiveFormat, out: &mut Vec<u8>) {
        let mut origin = Vec::new();
        self.write_origin(host, &mut origin);
        let url = format!("{}/robots.txt", String::from_utf8_lossy(&origin));
        let mut random = self.stream(Purpose::Answers, host);
        for capture in self.captures_of(host, &mut random) {
            let mut body = Vec::new();
            if capture.status == 200 {
                self.write_version(host, capture.version, &mut body);
            }
            match format {
                ArchiveFormat::JsonLines => write_line(&url, capture, &body, out),
                ArchiveFormat::Warc => {
                    let message = http_message(capture.status, &body);
                    let content = ("application/http; msgtype=response", &message[..]);
                    write_warc_record(
                        "response",
                        Some(&url),
                        capture.time,
                        content,
                        &mut random,
                        out,
                    );
                }
            }
        }
    }

    fn captures_of(&self, host: u64, random: &mut SplitMix64) -> Vec<Capture> {
        match self.captures {
            1 => {
                let time = JUNE_2025 + random.below(30 * DAY);
                vec![Capture { time, status: 200, version: Version::default() }]
            }
            captures => history::draw(self.stream(Purpose::History, host), captures),
        }
    }
}

const DAY: u64 = 24 * 60 * 60;
const JUNE_2025: u64 = 1_748_736_000;

/// Formats a time in seconds since 1970.
pub(super) fn rfc3339(time: u64) -> String {
    jiff::Timestamp::from_second(time as i64).expect("times are of this century").to_string()
}

fn write_line(url: &str, capture: Capture, body: &[u8], out: &mut Vec<u8>) {
    let line = Line {
        url,
        fetched_at: rfc3339(capture.time),
        status: capture.status,
        headers: Headers { content_type: CONTENT_TYPE },
        body: body.utf8_chunks().next().map_or("", |chunk| chunk.valid()),
    };
    serde_json::to_writer(&mut *out, &line).expect(VECTOR_TAKES_ALL);
    out.push(b'\n');
}

fn write_warc_record(
    kind: &str,
    url: Option<&str>,
    time: u64,
    (content_type, block): (&str, &[u8]),
    random: &mut SplitMix64,
    out: &mut Vec<u8>,
) {
    // A UUID of version 4 (RFC 9562).
    let (high, low) = (random.next_u64(), random.next_u64());
    let mut head = format!(
        "WARC/1.0\r\nWARC-Type: {kind}\r\n\
         WARC-Record-ID: <urn:uuid:{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}>\r\n",
        high >> 32,
        high >> 16 & 0xffff,
        high & 0xfff,
        0x8000 | low >> 48 & 0x3fff,
        low & 0xffff_ffff_ffff,
    );
    if let Some(url) = url {
        head += &format!("WARC-Target-URI: {url}\r\n");
    }
    head += &format!(
        "WARC-Date: {}\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\n\r\n",
        rfc3339(time),
        block.len(),
    );
    let mut encoder = GzEncoder::new(&mut *out, Compression::fast());
    let record = [head.as_bytes(), block, b"\r\n\r\n"].concat();
    encoder.write_all(&record).and_then(|()| encoder.finish()).expect(VECTOR_TAKES_ALL);
}

fn http_message(status: u16, body: &[u8]) -> Vec<u8> {
    let reason = match status {
        404 => "Not Found",
        503 => "Service Unavailable",
        _ => "OK",
    };
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status} {reason}\r\nContent-Type: {CONTENT_TYPE}\r\nContent-Length: {length}\r\n\r\n"
    );
    [head.as_bytes(), body].concat()
}
