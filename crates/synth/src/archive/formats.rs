//! The formats of an exchange: a line of JSON, or WARC records, each its own gzip member (WARC 1.0,
//! annex D).
//!
//! The [`Coding`] of an exchange determines whether the body of its WARC record is chunked,
//! compressed or truncated. A line of JSON only says that a body is truncated.

use std::io::Write;

use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use serde::Serialize;

use super::story::{Exchange, Moment, Response};
use crate::random::SplitMix64;

/// Why writing to memory cannot fail.
const VECTOR_TAKES_ALL: &str = "a vector takes everything that is written to it";

/// How a body is transferred or damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coding {
    Plain,
    Chunked,
    Gzip,
    Deflate,
    GzipInChunks,
    /// The header says chunked and gzip but the body is neither, as in archives that decode bodies
    /// and keep the header.
    Undone,
    /// The archive truncated the body and says so.
    CutByArchive,
    /// The body is shorter than its declared length.
    Short,
    /// The last chunk is missing.
    CutChunks,
    /// The end of the compressed data is missing.
    CutGzip,
    /// An unknown coding.
    Unknown,
}

impl Coding {
    /// Codings that preserve the body.
    pub(super) const WHOLE: [Coding; 8] = [
        Coding::Plain,
        Coding::Plain,
        Coding::Plain,
        Coding::Chunked,
        Coding::Gzip,
        Coding::Deflate,
        Coding::GzipInChunks,
        Coding::Undone,
    ];

    /// Codings after which the file is unknown.
    pub(super) const DAMAGED: [Coding; 5] =
        [Coding::CutByArchive, Coding::Short, Coding::CutChunks, Coding::CutGzip, Coding::Unknown];

    pub(super) fn is_damaged(self) -> bool {
        Coding::DAMAGED.contains(&self)
    }

    /// Returns header fields and the body as transferred.
    fn transfer(
        self,
        body: &[u8],
        random: &mut SplitMix64,
    ) -> (Vec<(&'static str, String)>, Vec<u8>) {
        let length = |bytes: &[u8]| ("Content-Length", bytes.len().to_string());
        let coding = |name: &str| ("Content-Encoding", name.to_owned());
        let chunked = || ("Transfer-Encoding", "chunked".to_owned());
        let half = body.len() / 2;
        match self {
            Coding::Plain => (vec![length(body)], body.to_vec()),
            Coding::Chunked => (vec![chunked()], chunks(body, random)),
            Coding::Gzip => {
                let bytes = gzip(body);
                (vec![coding(random.pick(&["gzip", "x-gzip", "GZIP"])), length(&bytes)], bytes)
            }
            Coding::Deflate => {
                let bytes = deflate(body);
                (vec![coding("deflate"), length(&bytes)], bytes)
            }
            Coding::GzipInChunks => (vec![coding("gzip"), chunked()], chunks(&gzip(body), random)),
            Coding::Undone => (vec![coding("gzip"), chunked()], body.to_vec()),
            Coding::CutByArchive | Coding::Short => (vec![length(body)], body[..half].to_vec()),
            Coding::CutChunks => {
                let mut bytes = format!("{:x}\r\n", body.len()).into_bytes();
                bytes.extend_from_slice(&body[..half]);
                (vec![chunked()], bytes)
            }
            Coding::CutGzip => {
                let mut bytes = gzip(body);
                bytes.truncate(bytes.len() / 2);
                (vec![coding("gzip"), length(&bytes)], bytes)
            }
            Coding::Unknown => (vec![coding("x-made-up"), length(body)], body.to_vec()),
        }
    }
}

/// Returns `body` in chunks of many sizes (RFC 9112, section 7.1).
fn chunks(body: &[u8], random: &mut SplitMix64) -> Vec<u8> {
    let mut out = Vec::with_capacity(body.len() + 64);
    let mut rest = body;
    while !rest.is_empty() {
        let bytes = random.below(4_000) as usize + 1;
        let (chunk, after) = rest.split_at(bytes.min(rest.len()));
        let extension = if random.chance(500) { ";made=up" } else { "" };
        out.extend_from_slice(format!("{:x}{extension}\r\n", chunk.len()).as_bytes());
        out.extend_from_slice(chunk);
        out.extend_from_slice(b"\r\n");
        rest = after;
    }
    out.extend_from_slice(b"0\r\n\r\n");
    out
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).expect(VECTOR_TAKES_ALL)
}

fn deflate(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).expect(VECTOR_TAKES_ALL)
}

fn content_type(response: &Response<'_>) -> &'static str {
    if response.is_page { "text/html; charset=utf-8" } else { "text/plain; charset=utf-8" }
}

/// The members of a line of JSON, in order.
#[derive(Serialize)]
struct Line<'e> {
    url: &'e str,
    fetched_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    headers: Option<Headers<'e>>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    redirects: &'e [String],
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<&'e str>,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Headers<'e> {
    #[serde(rename = "Content-Type")]
    content_type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    location: Option<&'e str>,
}

/// Appends an exchange as a line of JSON. The body is truncated where it is not UTF-8.
pub(super) fn write_json_line(exchange: &Exchange<'_>, out: &mut Vec<u8>) {
    let response = exchange.response.as_ref();
    let truncated = response.is_some_and(|response| response.coding.is_damaged());
    let body = response.map(|response| {
        let bytes = if truncated { response.body.len() / 2 } else { response.body.len() };
        response.body[..bytes].utf8_chunks().next().map_or("", |chunk| chunk.valid())
    });
    let line = Line {
        url: &exchange.url,
        fetched_at: exchange.asked_at.to_string(),
        status: response.map(|response| response.status),
        error: response.is_none().then_some("time-out"),
        headers: response.map(|response| Headers {
            content_type: content_type(response),
            location: response.location.as_deref(),
        }),
        redirects: &exchange.redirects,
        truncated,
        body,
    };
    serde_json::to_writer(&mut *out, &line).expect(VECTOR_TAKES_ALL);
    out.push(b'\n');
}

// Shares of exchanges, per ten thousand.
const WITH_REQUEST: u64 = 2_500;
const LOWER_CASE_FIELDS: u64 = 3_000;
const WITH_CACHE_CONTROL: u64 = 2_000;
const IN_ANGLE_BRACKETS: u64 = 300;

/// Appends the record that describes a WARC file.
pub(super) fn write_warc_head(mut random: SplitMix64, out: &mut Vec<u8>) {
    let block = b"software: portcullis synth\r\nformat: WARC File Format 1.0\r\n";
    let record = Record {
        kind: "warcinfo",
        url: None,
        at: Moment(0),
        content_type: "application/warc-fields",
        truncated: false,
        block,
    };
    record.write(&mut random, out);
}

/// Appends an exchange as WARC records, sometimes with its request. An exchange without a response
/// has no records.
pub(super) fn write_warc(
    exchange: &Exchange<'_>,
    has_requests: bool,
    random: &mut SplitMix64,
    out: &mut Vec<u8>,
) {
    let Some(response) = &exchange.response else {
        return;
    };
    let record = |kind, content_type, truncated, block| Record {
        kind,
        url: Some(&exchange.url),
        at: exchange.asked_at,
        content_type,
        truncated,
        block,
    };
    if has_requests && random.chance(WITH_REQUEST) {
        let block = b"GET /robots.txt HTTP/1.1\r\nUser-Agent: ExampleBot\r\n\r\n";
        record("request", "application/http; msgtype=request", false, &block[..])
            .write(random, out);
    }
    let block = http_message(response, random);
    let truncated = response.coding == Coding::CutByArchive;
    record("response", "application/http; msgtype=response", truncated, &block).write(random, out);
}

/// A WARC record to write.
struct Record<'r> {
    kind: &'static str,
    url: Option<&'r str>,
    at: Moment,
    content_type: &'static str,
    truncated: bool,
    block: &'r [u8],
}

impl Record<'_> {
    fn write(&self, random: &mut SplitMix64, out: &mut Vec<u8>) {
        // A UUID of version 4 (RFC 9562).
        let (high, low) = (random.next_u64(), random.next_u64());
        let mut head = format!(
            "WARC/1.0\r\nWARC-Type: {}\r\n\
             WARC-Record-ID: <urn:uuid:{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}>\r\n",
            self.kind,
            high >> 32,
            high >> 16 & 0xffff,
            high & 0xfff,
            0x8000 | low >> 48 & 0x3fff,
            low & 0xffff_ffff_ffff,
        );
        if let Some(url) = self.url {
            let [open, close] =
                if random.chance(IN_ANGLE_BRACKETS) { ["<", ">"] } else { ["", ""] };
            head += &format!("WARC-Target-URI: {open}{url}{close}\r\n");
        }
        if self.truncated {
            let reason = random.pick(&["length", "time", "disconnect"]);
            head += &format!("WARC-Truncated: {reason}\r\n");
        }
        head += &format!(
            "WARC-Date: {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n\r\n",
            self.at,
            self.content_type,
            self.block.len(),
        );
        out.extend(gzip(&[head.as_bytes(), self.block, b"\r\n\r\n"].concat()));
    }
}

fn http_message(response: &Response<'_>, random: &mut SplitMix64) -> Vec<u8> {
    let (of_body, body) = response.coding.transfer(response.body, random);
    let mut fields = vec![("Content-Type", content_type(response).to_owned())];
    fields.extend(of_body);
    if random.chance(WITH_CACHE_CONTROL) {
        fields.push(("Cache-Control", format!("max-age={}", random.below(200_000))));
    }
    fields.extend(response.location.clone().map(|location| ("Location", location)));
    let lower_case = random.chance(LOWER_CASE_FIELDS);
    let mut head = format!("HTTP/1.1 {} {}\r\n", response.status, reason(response.status));
    for (name, value) in fields {
        let name = if lower_case { name.to_ascii_lowercase() } else { name.to_owned() };
        head += &format!("{name}: {value}\r\n");
    }
    [head.as_bytes(), b"\r\n", &body].concat()
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        300..=399 => "Moved",
        403 => "Forbidden",
        404 => "Not Found",
        429 => "Too Many Requests",
        503 => "Service Unavailable",
        // Many servers send no reason phrase.
        _ => "",
    }
}
