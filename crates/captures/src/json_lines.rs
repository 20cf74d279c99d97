//! Reads JSON Lines: one object per line, one answer per object.
//!
//! ```json
//! {"url": "https://a.example/robots.txt", "status": 200, "fetched_at": "2024-05-01T12:00:00Z",
//!  "headers": {"Content-Type": "text/plain"}, "redirects": [], "body": "User-agent: *\n"}
//! ```
//!
//! (on one line). The members below have other usual names too, and may be mapped to any name
//! ([`FieldMap`]):
//!
//! | member | |
//! |---|---|
//! | `url` | the URL that was requested first |
//! | `host` | the host whose robots.txt was requested, if there is no URL: http and https on their default ports |
//! | `status` | the last answer's status, `null` or 0 if there was none; 200 is assumed if there is a body but no status |
//! | `error` | why there was no answer, or why the body is not whole; any text or object |
//! | `fetched_at` | the time of the answer, in RFC 3339 |
//! | `headers` | names, in any case, to a text or a list of texts |
//! | `redirects` | the redirects that were followed: a list of URLs, or of objects with a `url` |
//! | `body` | the decoded body, as text |
//! | `body_base64` | the decoded body, in base64, if it is not UTF-8 |
//! | `truncated` | set if the body was cut: anything but `null`, `false`, 0 and an empty text |
//!
//! A line may also be an object of hosts, each an object of dates with the body of that day or `null`:
//! `{"a.example": {"2024-01-01": "User-agent: *\n"}}`.
//!
//! Other members are ignored, and so are empty lines and a byte order mark at the start. Only a URL
//! or a host is required.
//!
//! A line that is not such an object is broken and reported with its number. So is an object that
//! contradicts itself (two bodies, a member twice, a body but a `null` status) or has no answer (no
//! status, no body and no error). A 2xx answer without a body is [`Fetched::BrokenBody`], unless its
//! status is 204 or 205, which have none. A 2xx answer with `truncated` or an `error` is
//! [`Fetched::BrokenBody`] too, unless the body reaches the size limit.
//!
//! Cost: one pass over each line, and a copy of each text that contains an escape. Base64 is
//! decoded up to the size limit. A line longer than
//! [`RECORD_BYTES_MAX`](portcullis_files::limits::RECORD_BYTES_MAX) ends the reading with an
//! error.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};

use portcullis_dialect::Fetched;

use portcullis_engine::bytes::trim;
use portcullis_robots::access::{CachingHeaders, seconds_of};
use portcullis_robots::syntax::BYTE_ORDER_MARK;

use super::body::is_html;
use super::json_path::{FieldPath, FieldValue, Walk, numbers, read};
use super::record::Record;
use super::schema::{Candidate, CaptureField, FieldMap};
use super::{Batch, BatchReader, BrokenRecord, Capture, CaptureSink, ReadConfig};
use portcullis_files::input::{
    ChunkConfig, Framing, InputError, Source, Terminator, TextChunk, TextChunks,
};
use portcullis_robots::access::CaptureNote;

/// White space around a value (RFC 8259, section 2).
pub(super) const WHITE_SPACE: &[u8] = b" \t\r\n";

/// A reader that cuts JSON Lines into batches of whole lines. Made by [`open`].
pub struct JsonLines {
    chunks: TextChunks,
    schema: Arc<Schema>,
    /// Whether the first bytes have been read.
    has_begun: bool,
    /// The number of lines in the batches returned so far.
    lines: u64,
}

/// Returns a reader of the lines in `source`, decompressed if needed, with the names in `fields`.
pub fn open(source: Source, fields: &FieldMap) -> JsonLines {
    let members = CaptureField::ALL.iter().flat_map(|&field| fields.candidates(field)).collect();
    let schema = Arc::new(Schema { members, fields: fields.clone() });
    let chunks = TextChunks::new(source, ChunkConfig::default());
    JsonLines { chunks, schema, has_begun: false, lines: 0 }
}

impl BatchReader for JsonLines {
    fn next_batch(&mut self) -> Result<Option<Box<dyn Batch>>, InputError> {
        if !self.has_begun {
            self.has_begun = true;
            let first = self.chunks.first(BYTE_ORDER_MARK.len(), None, |_| true);
            if first.bytes.starts_with(BYTE_ORDER_MARK) {
                self.chunks.skip_head(BYTE_ORDER_MARK.len());
            }
        }
        let framing = Framing::Byte(Terminator::LineFeed);
        let Some(chunk) = self.chunks.next(framing).transpose()? else { return Ok(None) };
        let lines_before = self.lines;
        self.lines += memchr::memchr_iter(b'\n', &chunk).count() as u64;
        Ok(Some(Box::new(Lines { chunk, schema: Arc::clone(&self.schema), lines_before })))
    }
}

/// The members to read, and the fields that they hold.
struct Schema {
    fields: FieldMap,
    members: Vec<Candidate>,
}

/// A batch of whole lines.
struct Lines {
    chunk: TextChunk,
    schema: Arc<Schema>,
    lines_before: u64,
}

impl Batch for Lines {
    fn stored_bytes(&self) -> u64 {
        self.chunk.stored_bytes()
    }

    fn read(&self, config: &ReadConfig, sink: &mut dyn CaptureSink) {
        for (index, line) in lines(&self.chunk).enumerate() {
            if let Err(problem) = self.schema.read_line(line, config, sink) {
                let number = self.lines_before + index as u64 + 1;
                sink.broken(BrokenRecord::senseless(format!("line {number}"), problem));
            }
        }
    }
}

/// Returns the lines of a chunk. What follows the last line end is a line if it is not empty.
fn lines(chunk: &[u8]) -> impl Iterator<Item = &[u8]> {
    let whole = chunk.strip_suffix(b"\n").unwrap_or(chunk);
    whole.split(|&byte| byte == b'\n')
}

impl Schema {
    /// Reads one line and passes its capture to `sink`. An empty line has none. The error says what
    /// is wrong with the line; no capture is passed then.
    fn read_line(
        &self,
        text: &[u8],
        config: &ReadConfig,
        sink: &mut dyn CaptureSink,
    ) -> Result<(), String> {
        match trim(text, WHITE_SPACE) {
            [] => return Ok(()),
            [b'{', ..] => {}
            [b'[', ..] => {
                return Err(
                    "a JSON list; write one object per line, as jq -c '.[]' does".to_owned()
                );
            }
            _ => return Err("not a JSON object; expected one object per line".to_owned()),
        }
        let mut line = Line { members: &self.members, ..Line::default() };
        read(&mut serde_json::Deserializer::from_slice(text), &mut line)
            .map_err(|error| describe(&error))?;
        let Line { record, headers, redirects, .. } = line;
        let (subject, mut capture) = match record.capture(&self.fields, config) {
            Ok(read) => read,
            Err(problem) => return self.read_history(text, config, sink).ok_or(problem),
        };
        if headers.first("content-type").is_some_and(is_html) {
            capture.notes = capture.notes.with(CaptureNote::HtmlContentType);
        }
        let is_redirect = matches!(capture.answer, Fetched::Status(300..=399));
        let fields = headers.0.iter().map(|(name, value)| (*name, value.as_bytes()));
        sink.capture(Capture {
            subject: subject.get(),
            redirects_followed: redirects,
            location: headers.first("location").filter(|_| is_redirect).map(Cow::Borrowed),
            caching: CachingHeaders::read(fields),
            ..capture
        });
        Ok(())
    }
}

/// The files of hosts by date, `null` where there was no answer, as studies of robots.txt over time
/// publish them.
type History<'l> = BTreeMap<Text<'l>, BTreeMap<Text<'l>, Option<Text<'l>>>>;

impl Schema {
    /// Reads a line with the files of hosts by date, and passes their captures to `sink`. `None` if it
    /// is no such line.
    fn read_history(
        &self,
        text: &[u8],
        config: &ReadConfig,
        sink: &mut dyn CaptureSink,
    ) -> Option<()> {
        let history: History<'_> = serde_json::from_slice(text).ok()?;
        let mut dates = history.values().flat_map(BTreeMap::keys);
        let is_date = |date: &Text<'_>| seconds_of(date.0.as_bytes(), self.fields.unit()).is_some();
        let is_host = |host: &Text<'_>| host.0.contains('.') && !host.0.contains(' ');
        if history.is_empty() || !history.keys().all(is_host) || !dates.all(is_date) {
            return None;
        }
        for (host, files) in &history {
            for (date, body) in files {
                let text = |text: &'_ Text<'_>| -> FieldValue<'static> {
                    FieldValue::Text(Cow::Owned(text.0.as_bytes().to_vec()))
                };
                let mut record = Record::default();
                let answer = match body {
                    Some(body) => (CaptureField::Body, text(body)),
                    None => (CaptureField::Status, FieldValue::Null),
                };
                let values = [
                    (CaptureField::Host, text(host)),
                    (CaptureField::FetchedAt, text(date)),
                    answer,
                ];
                let added = values.into_iter().try_for_each(|(field, it)| record.add(field, 0, it));
                added.expect("each field once");
                let (subject, capture) = record.capture(&self.fields, config).ok()?;
                sink.capture(Capture { subject: subject.get(), ..capture });
            }
        }
        Some(())
    }
}

/// Returns the parser's message with the column, but without the line, which is always 1.
fn describe(error: &serde_json::Error) -> String {
    if error.is_eof() {
        return "the object does not end on its line; write one object per line, as jq -c does"
            .to_owned();
    }
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    match text.strip_suffix(&place) {
        Some(problem) => format!("column {}: {problem}", error.column()),
        None => text,
    }
}

/// The fields of a line.
#[derive(Default)]
struct Line<'m, 'l> {
    /// The members to read, and the fields that they hold. There are fewer than
    /// [`PATHS_MAX`](super::json_path::PATHS_MAX).
    members: &'m [Candidate],
    record: Record<'l>,
    headers: Headers<'l>,
    redirects: u32,
}

impl<'l> Walk<'l> for Line<'_, 'l> {
    fn paths(&self) -> usize {
        self.members.len()
    }

    fn path(&self, number: usize) -> &FieldPath {
        &self.members[number].path
    }

    fn value(&mut self, number: usize, value: FieldValue<'l>) -> Result<(), String> {
        let Candidate { field, rank, .. } = self.members[number];
        self.record.add(field, rank, value)
    }

    fn nested(&self, paths: u64) -> Option<usize> {
        let is_nested = |field| matches!(field, CaptureField::Headers | CaptureField::Redirects);
        numbers(paths).find(|&number| is_nested(self.members[number].field))
    }

    fn read<D: Deserializer<'l>>(&mut self, number: usize, value: D) -> Result<(), D::Error> {
        if self.members[number].field == CaptureField::Headers {
            self.headers = Option::<Headers<'l>>::deserialize(value)?.unwrap_or_default();
        } else {
            let redirects = Option::<Vec<Redirect<'l>>>::deserialize(value)?;
            self.redirects = redirects.map_or(0, |redirects| redirects.len() as u32);
        }
        Ok(())
    }
}

/// A string that serde borrows inside an `Option` too.
#[derive(Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(transparent)]
struct Text<'l>(#[serde(borrow)] Cow<'l, str>);

/// A redirect. Only its presence matters.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a URL, or an object with a `url`, for each redirect")]
#[expect(dead_code, reason = "the fields say what is accepted")]
enum Redirect<'l> {
    Url(#[serde(borrow)] Cow<'l, str>),
    Object { url: IgnoredAny },
}

/// The value or values of a header field. The usual variant comes first, because each failed one
/// costs an error.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a text or a list of texts for a header field")]
enum FieldValues<'l> {
    One(#[serde(borrow)] Cow<'l, str>),
    Many(#[serde(borrow)] Vec<Text<'l>>),
    None(()),
}

/// The header fields that are used, in order. Names are in lower case.
#[derive(Default)]
struct Headers<'l>(Vec<(&'static str, Cow<'l, str>)>);

impl Headers<'_> {
    const USED: [&'static str; 6] =
        ["age", "cache-control", "content-type", "date", "expires", "location"];

    /// Returns the first value of a field.
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

/// Collects the fields one by one, because a map would lose their order and repeated fields.
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
