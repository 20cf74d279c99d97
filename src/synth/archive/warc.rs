//! An exchange as WARC records, each in a gzip member of its own (WARC 1.0, annex D).

use std::io::Write;

use super::body::{Coding, VECTOR_TAKES_ALL, gzip};
use super::exchange::{Exchange, Moment, Response};
use crate::synth::random::SplitMix64;

// Shares of the exchanges, in ten thousand.
const WITH_REQUEST: u64 = 2_500;
const LOWER_CASE_FIELDS: u64 = 3_000;
const WITH_CACHE_CONTROL: u64 = 2_000;
const IN_ANGLE_BRACKETS: u64 = 300;

/// A record before it is written.
struct Record<'r> {
    kind: &'static str,
    url: Option<&'r [u8]>,
    at: Moment,
    content_type: &'static str,
    truncated: bool,
    block: &'r [u8],
}

/// Appends the record that says what the file is.
pub(super) fn write_head(mut random: SplitMix64, out: &mut Vec<u8>) {
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

/// Appends an exchange, now and then with its request; one without an answer leaves no record.
pub(super) fn write(
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

impl Record<'_> {
    fn write(&self, random: &mut SplitMix64, out: &mut Vec<u8>) {
        let mut text = format!("WARC/1.0\r\nWARC-Type: {}\r\n", self.kind).into_bytes();
        write_record_id(random, &mut text);
        if let Some(url) = self.url {
            let brackets = random.chance(IN_ANGLE_BRACKETS);
            text.extend_from_slice(b"WARC-Target-URI: ");
            text.extend_from_slice(if brackets { b"<" } else { b"" });
            text.extend_from_slice(url);
            text.extend_from_slice(if brackets { b">\r\n" } else { b"\r\n" });
        }
        if self.truncated {
            text.extend_from_slice(b"WARC-Truncated: ");
            text.extend_from_slice(random.pick(&["length", "time", "disconnect"]).as_bytes());
            text.extend_from_slice(b"\r\n");
        }
        push(
            &mut text,
            format_args!(
                "WARC-Date: {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n\r\n",
                self.at,
                self.content_type,
                self.block.len(),
            ),
        );
        text.extend_from_slice(self.block);
        text.extend_from_slice(b"\r\n\r\n");
        out.extend_from_slice(&gzip(&text));
    }
}

/// A UUID of version 4 (RFC 9562).
fn write_record_id(random: &mut SplitMix64, out: &mut Vec<u8>) {
    let (high, low) = (random.next_u64(), random.next_u64());
    push(
        out,
        format_args!(
            "WARC-Record-ID: <urn:uuid:{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}>\r\n",
            high >> 32,
            high >> 16 & 0xffff,
            high & 0xfff,
            0x8000 | low >> 48 & 0x3fff,
            low & 0xffff_ffff_ffff,
        ),
    );
}

fn http_message(response: &Response<'_>, random: &mut SplitMix64) -> Vec<u8> {
    let transferred = response.coding.transfer(&response.body, random);
    let mut fields = vec![("Content-Type", response.content_type.to_owned())];
    fields.extend(transferred.fields);
    if random.chance(WITH_CACHE_CONTROL) {
        fields.push(("Cache-Control", format!("max-age={}", random.below(200_000))));
    }
    let lower_case = random.chance(LOWER_CASE_FIELDS);
    let mut message = Vec::with_capacity(transferred.bytes.len() + 256);
    push(
        &mut message,
        format_args!("HTTP/1.1 {} {}\r\n", response.status, reason(response.status)),
    );
    for (name, value) in fields {
        let name = if lower_case { name.to_ascii_lowercase() } else { name.to_owned() };
        push(&mut message, format_args!("{name}: {value}\r\n"));
    }
    if let Some(location) = &response.location {
        message.extend_from_slice(if lower_case { b"location: " } else { b"Location: " });
        message.extend_from_slice(location);
        message.extend_from_slice(b"\r\n");
    }
    message.extend_from_slice(b"\r\n");
    message.extend_from_slice(&transferred.bytes);
    message
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        204 => "No Content",
        300..=399 => "Moved",
        403 => "Forbidden",
        404 => "Not Found",
        429 => "Too Many Requests",
        503 => "Service Unavailable",
        // Many servers leave it empty.
        _ => "",
    }
}

fn push(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect(VECTOR_TAKES_ALL);
}
