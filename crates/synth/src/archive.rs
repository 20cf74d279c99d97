//! Synthetic archives of responses to GET /robots.txt, in which every host responds with its file, or
//! with what its history says: JSON Lines, or WARC with each record as its own gzip member (WARC 1.0, annex D),
//! as crawls store them. Cost: copying the file, and compressing it for WARC.
//!
//! ```
//! use portcullis_synth::{ArchiveFormat, Corpus};
//!
//! let records = Corpus::new(7, 3).archived(0, ArchiveFormat::JsonLines);
//! assert!(records.starts_with(br#"{"url":"http"#));
//! ```

use std::collections::BTreeMap;
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde::Serialize;

use super::Corpus;
use super::history::{self, Capture, Version};
use super::random::{Purpose, SplitMix64};

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
    headers: BTreeMap<&'static str, &'static str>,
    body: &'e str,
}

impl Corpus {
    /// Returns the head of an archive.
    pub fn archive_head(&self, format: ArchiveFormat) -> Vec<u8> {
        let block = b"software: portcullis synth\r\nformat: WARC File Format 1.0\r\n";
        let mut random = self.stream(Purpose::Answers, u64::MAX);
        match format {
            ArchiveFormat::JsonLines => Vec::new(),
            ArchiveFormat::Warc => warc_record(None, JUNE_2025, block, &mut random),
        }
    }

    /// Returns the responses of a host: its file, at some time of June 2025, or its history.
    pub fn archived(&self, host: u64, format: ArchiveFormat) -> Vec<u8> {
        let url = self.origin(host) + "/robots.txt";
        let mut random = self.stream(Purpose::Answers, host);
        let captures = self.captures_of(host, &mut random);
        let records = captures.into_iter().map(|capture| {
            let body = match capture.status {
                200 => self.version(host, capture.version),
                _ => String::new(),
            };
            match format {
                ArchiveFormat::JsonLines => {
                    let line = Line {
                        url: &url,
                        fetched_at: rfc3339(capture.time),
                        status: capture.status,
                        headers: BTreeMap::from([("Content-Type", CONTENT_TYPE)]),
                        body: &body,
                    };
                    let line = serde_json::to_string(&line);
                    (line.expect("text and numbers are always JSON") + "\n").into_bytes()
                }
                ArchiveFormat::Warc => {
                    let (status, length) = (capture.status, body.len());
                    let reason = match status {
                        404 => "Not Found",
                        503 => "Service Unavailable",
                        _ => "OK",
                    };
                    let message = format!(
                        "HTTP/1.1 {status} {reason}\r\nContent-Type: {CONTENT_TYPE}\r\n\
                         Content-Length: {length}\r\n\r\n{body}"
                    );
                    warc_record(Some(&url), capture.time, message.as_bytes(), &mut random)
                }
            }
        });
        records.collect::<Vec<_>>().concat()
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

/// Returns the response of `url`, or without one the record about the archive.
fn warc_record(url: Option<&str>, time: u64, block: &[u8], random: &mut SplitMix64) -> Vec<u8> {
    let (kind, target, content_type) = match url {
        None => ("warcinfo", String::new(), "application/warc-fields"),
        Some(url) => (
            "response",
            format!("WARC-Target-URI: {url}\r\n"),
            "application/http; msgtype=response",
        ),
    };
    // A UUID of version 4 (RFC 9562).
    let (high, low) = (random.next_u64(), random.next_u64());
    let head = format!(
        "WARC/1.0\r\nWARC-Type: {kind}\r\n\
         WARC-Record-ID: <urn:uuid:{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}>\r\n{target}\
         WARC-Date: {}\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\n\r\n",
        high >> 32,
        high >> 16 & 0xffff,
        high & 0xfff,
        0x8000 | low >> 48 & 0x3fff,
        low & 0xffff_ffff_ffff,
        rfc3339(time),
        block.len(),
    );
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    let record = [head.as_bytes(), block, b"\r\n\r\n"].concat();
    let written = encoder.write_all(&record).and_then(|()| encoder.finish());
    written.expect("a vector takes everything that is written to it")
}
