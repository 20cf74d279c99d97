//! JSON Lines: one object a line, one answer an object.
//!
//! ```json
//! {"url": "https://a.example/robots.txt", "status": 200, "fetched_at": "2024-05-01T12:00:00Z",
//!  "headers": {"Content-Type": "text/plain"}, "redirects": [], "body": "User-agent: *\n"}
//! ```
//!
//! (on one line). The members:
//!
//! | member | |
//! |---|---|
//! | `url` | the URL that was requested first; the only required member |
//! | `status` | the last answer's status; absent, `null` or 0 if there was none |
//! | `error` | why there was none, or why the body is not whole; any text or object |
//! | `fetched_at` | when, as in RFC 3339 |
//! | `headers` | names, in any case, to a text or a list of texts |
//! | `redirects` | the redirects that were followed: a list of URLs, or of objects with a `url` |
//! | `body` | the decoded body, as text |
//! | `body_base64` | the decoded body, in base64, if it is not UTF-8 |
//! | `truncated` | set if the body was cut: anything but `null`, `false`, 0 and an empty text |
//!
//! Other members are ignored, and so are empty lines and a byte order mark at the start.
//!
//! A line that is no such object is broken and reported with its number. So is one that contradicts
//! itself (two bodies, a member twice) or says nothing (no status and no error). A 2xx answer without
//! a body is [`Answer::BrokenBody`], unless its status is 204 or 205, which have none; so is one with
//! `truncated` or an `error`, unless the body contains all that counts.
//!
//! Cost: one pass over each line, and a copy of each text that contains an escape. Base64 is decoded
//! as far as it counts. A line longer than
//! [`RECORD_BYTES_MAX`](portcullis_dialect::limits::RECORD_BYTES_MAX) ends the reading with an error.

use std::borrow::Cow;
use std::fmt;

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

use crate::access::{Answer, CachingHeaders};
use portcullis_matcher::bytes::trim;
use portcullis_robots::kind::BYTE_ORDER_MARK;

use super::body::{is_html, settle, status_of, time_of};
use super::{
    Batch, BatchReader, BrokenRecord, Capture, CaptureError, CaptureNote, CaptureSink, ReadConfig,
    Subject,
};
use crate::input::{Chunk, ChunkConfig, Chunks, Records, Source, Terminator};

/// White space around a value (RFC 8259, section 2).
pub(super) const WHITE_SPACE: &[u8] = b" \t\r\n";

/// The usual alphabet (RFC 4648, section 4), padded or not.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Cuts JSON Lines into batches of whole lines; [`open`] makes it.
pub struct JsonLines {
    chunks: Chunks,
    /// Lines of the batches that were handed out.
    lines: u64,
}

/// Reads the lines of `source`, decompressed if it is compressed.
pub fn open(source: Source) -> JsonLines {
    JsonLines { chunks: source.chunks(ChunkConfig::default()), lines: 0 }
}

impl BatchReader for JsonLines {
    fn next_batch(&mut self) -> Result<Option<Box<dyn Batch>>, CaptureError> {
        let Some(chunk) = self.chunks.next().transpose()? else { return Ok(None) };
        let lines_before = self.lines;
        self.lines += memchr::memchr_iter(b'\n', &chunk).count() as u64;
        Ok(Some(Box::new(Lines { chunk, lines_before })))
    }
}

/// Some whole lines.
struct Lines {
    chunk: Chunk,
    lines_before: u64,
}

impl Batch for Lines {
    fn stored_bytes(&self) -> u64 {
        self.chunk.stored_bytes()
    }

    fn read(&self, config: &ReadConfig, sink: &mut dyn CaptureSink) {
        let mut bytes: &[u8] = &self.chunk;
        if self.lines_before == 0 {
            // Readers may ignore it (RFC 8259, section 8.1).
            bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
        }
        for (index, record) in Records::new(bytes, Terminator::LineFeed).enumerate() {
            if let Err(problem) = read_line(record.text(), config, sink) {
                let number = self.lines_before + index as u64 + 1;
                sink.broken(BrokenRecord::senseless(format!("line {number}"), problem));
            }
        }
    }
}

/// Reads one line and hands its capture to `sink`; an empty line has none. The error says what is
/// wrong with the line, and nothing was handed out.
fn read_line(text: &[u8], config: &ReadConfig, sink: &mut dyn CaptureSink) -> Result<(), String> {
    match trim(text, WHITE_SPACE) {
        [] => return Ok(()),
        // Deserialization would accept a list of the members' values as well.
        [b'{', ..] => {}
        _ => return Err("no object of JSON: one object a line is wanted".to_owned()),
    }
    let members: Members<'_> = serde_json::from_slice(text).map_err(|error| describe(&error))?;
    let time = members.fetched_at.as_ref().map(|text| time_of(text.0.as_bytes())).transpose()?;
    if members.body.is_some() && members.body_base64.is_some() {
        return Err("both `body` and `body_base64`; keep the one that is right".to_owned());
    }
    let Status::Number(status) = members.status.unwrap_or(Status::Number(0.0));
    let status = status_of(status)?;
    let (has_error, is_truncated) = (is_set(&members.error), is_set(&members.truncated));
    if status == 0 && !has_error {
        return Err("no `status` and no `error`: nothing says what came of it".to_owned());
    }
    let body = match (members.body, members.body_base64) {
        (Some(Text(Cow::Borrowed(text))), _) => Some(Cow::Borrowed(text.as_bytes())),
        (Some(Text(Cow::Owned(text))), _) => Some(Cow::Owned(text.into_bytes())),
        (None, Some(text)) if matches!(status, 200..=299) => {
            Some(Cow::Owned(decode(text.0.as_bytes(), config)?))
        }
        (None, _) => None,
    };
    let mut settled = settle(status, body, !is_truncated && !has_error, config);
    let headers = members.headers.unwrap_or_default();
    for (note, is_odd) in [
        (CaptureNote::Truncated, is_truncated),
        (CaptureNote::HtmlContentType, headers.first("content-type").is_some_and(is_html)),
    ] {
        settled.notes = if is_odd { settled.notes.with(note) } else { settled.notes };
    }
    let is_redirect = matches!(settled.answer, Answer::Status(300..=399));
    sink.capture(Capture {
        redirects_followed: members.redirects.map_or(0, |redirects| redirects.len() as u32),
        location: headers.first("location").filter(|_| is_redirect).map(Cow::Borrowed),
        caching: CachingHeaders::read(headers.0.iter().map(|(name, it)| (*name, it.as_bytes()))),
        ..Capture::new(Subject::Url(members.url.as_bytes()), time, settled)
    });
    Ok(())
}

/// The parser's message, with the column; its line would always be 1.
fn describe(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    match text.strip_suffix(&place) {
        Some(problem) => format!("column {}: {problem}", error.column()),
        None => text,
    }
}

/// Decodes `text` as far as it counts, and at least one byte more if there is one.
fn decode(text: &[u8], config: &ReadConfig) -> Result<Vec<u8>, String> {
    // Four digits stand for three bytes.
    let digits_max = (config.body_bytes_max() / 3 + 1) * 4;
    let counted = &text[..text.len().min(digits_max)];
    BASE64.decode(counted).map_err(|error| format!("`body_base64` is no base64: {error}"))
}

/// The members that are used. A member that is there twice is an error.
#[derive(Deserialize)]
struct Members<'l> {
    #[serde(borrow)]
    url: Cow<'l, str>,
    status: Option<Status>,
    #[serde(default)]
    error: Value,
    #[serde(borrow)]
    fetched_at: Option<Text<'l>>,
    #[serde(borrow)]
    headers: Option<Headers<'l>>,
    #[serde(borrow)]
    redirects: Option<Vec<Redirect<'l>>>,
    #[serde(borrow)]
    body: Option<Text<'l>>,
    #[serde(borrow)]
    body_base64: Option<Text<'l>>,
    #[serde(default)]
    truncated: Value,
}

/// A text that serde borrows inside an `Option` too.
#[derive(Deserialize)]
#[serde(transparent)]
struct Text<'l>(#[serde(borrow)] Cow<'l, str>);

/// A status as a number, which some programs write as 200.0.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a status of at most three digits, or null")]
enum Status {
    Number(f64),
}

/// A redirect. Only its presence matters.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a URL, or an object with a `url`, for each redirect")]
#[expect(dead_code, reason = "the fields say what is accepted")]
enum Redirect<'l> {
    Url(#[serde(borrow)] Cow<'l, str>),
    Object { url: IgnoredAny },
}

/// The value or values of a header field; the usual first, because each that fails costs an error.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a text or a list of texts for a header field")]
enum FieldValues<'l> {
    One(#[serde(borrow)] Cow<'l, str>),
    Many(#[serde(borrow)] Vec<Text<'l>>),
    None(()),
}

/// Whether a value that matters by its presence says anything.
fn is_set(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(value) => *value,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(_) | Value::Object(_) => true,
    }
}

/// The header fields that are used, in their order. Names are in lower case.
#[derive(Default)]
struct Headers<'l>(Vec<(&'static str, Cow<'l, str>)>);

impl Headers<'_> {
    const USED: [&'static str; 6] =
        ["age", "cache-control", "content-type", "date", "expires", "location"];

    /// The first value of a field.
    fn first(&self, name: &str) -> Option<&[u8]> {
        let field = self.0.iter().find(|field| field.0 == name);
        field.map(|(_, value)| value.as_bytes())
    }
}

impl<'de: 'l, 'l> Deserialize<'de> for Headers<'l> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Headers<'l>, D::Error> {
        deserializer.deserialize_map(HeadersVisitor)
    }
}

/// Collects the fields one by one, because a map would lose their order and those that repeat.
struct HeadersVisitor;

impl<'de> Visitor<'de> for HeadersVisitor {
    type Value = Headers<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of header fields, or null")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Headers<'de>, A::Error> {
        let mut headers = Headers::default();
        while let Some(Text(name)) = members.next_key()? {
            let used = Headers::USED.iter().find(|used| name.eq_ignore_ascii_case(used));
            let Some(&name) = used else {
                members.next_value::<IgnoredAny>()?;
                continue;
            };
            match members.next_value()? {
                FieldValues::None(()) => {}
                FieldValues::One(value) => headers.0.push((name, value)),
                FieldValues::Many(values) => {
                    headers.0.extend(values.into_iter().map(|Text(value)| (name, value)));
                }
            }
        }
        Ok(headers)
    }
}
