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
//! | `truncated` | set if the body was cut: anything but `null`, `false`, 0, an empty text, and a text that says no |
//!
//! A line may also be an object of hosts, each with its body, or with an object of dates that has the body of
//! each day; `null` means that there was no answer: `{"a.example": {"2024-01-01": "User-agent: *\n"}}`. One with
//! more than [`FILES_PER_RECORD_MAX`] files is broken, and so is a line with more than [`HEADER_VALUES_MAX`] values of
//! header fields.
//!
//! A file may instead be an array of such objects, or one object of hosts, on any number of lines. The items of
//! the array, or the hosts, are read as lines ([`JsonItems`]): one may have
//! [`RECORD_BYTES_MAX`](portcullis_files::limits::RECORD_BYTES_MAX) bytes.
//!
//! Other members are ignored, and so are empty lines and a byte order mark at the start. Only a URL
//! or a host is required.
//!
//! A line that is not such an object is broken and reported with its number. So is an object that
//! contradicts itself (two bodies, a member twice, a body but a `null` status) or has no answer (no
//! status, no body and no error), and a 2xx answer without a body, unless it is cut or its status is 204
//! or 205, which have none. A 2xx answer with `truncated` or an `error` is
//! [`Fetched::BrokenBody`] too, unless the body reaches the size limit, and so is a 206 whose
//! `Content-Range` is not all of the file. The target of a redirect without `headers` is not known.
//!
//! Cost: one pass over each line, and a copy of each text that contains an escape. Base64 is
//! decoded up to the size limit. A line longer than
//! [`RECORD_BYTES_MAX`](portcullis_files::limits::RECORD_BYTES_MAX) ends the reading with an
//! error.

use std::borrow::Cow;

use bumpalo::Bump;
use serde::de::IgnoredAny;

use portcullis_dialect::Fetched;

use portcullis_engine::bytes::trim;
use portcullis_robots::access::{CachingHeaders, CaptureNote};

use super::body::is_html;
use super::capture::{BrokenKind, Problem, Subject};
use super::history::{FileOfHost, NoHosts, is_host, lost_hosts, read_files};
use super::json::{Json, JsonError, JsonProblem};
use super::json_path::{FieldValue, Members, mended, without_nan};
use super::limits::{FILES_PER_RECORD_MAX, HEADER_VALUES_MAX};
use super::record::{Head, Record};
use super::schema::{CaptureField, FieldMap};
use super::text::{RecordReader, batches};
use super::{BatchReader, Capture, CaptureSink, ReadConfig};
use portcullis_files::input::{
    ChunkConfig, Framing, InputError, JsonItems, Source, Stage, StageLines, Terminator, TextChunks,
};
use portcullis_files::limits::{CHUNK_BYTES, STAGE_READ_BYTES};

/// White space around a value (RFC 8259, section 2).
pub(super) const WHITE_SPACE: &[u8] = b" \t\r\n";

/// Returns a reader of the lines in `source`, decompressed if needed, with the names in `fields`.
///
pub fn open(mut source: Source, fields: &FieldMap) -> impl BatchReader + use<> {
    let paths = CaptureField::ALL.into_iter().flat_map(|field| {
        fields.candidates(field).into_iter().map(move |path| (field as usize, path))
    });
    let raw = [CaptureField::Headers as usize, CaptureField::Redirects as usize];
    let members = Members::new(paths.collect(), &[], &raw).expect("each field has a few names");
    source.skip_mark();
    source.fill(CHUNK_BYTES);
    let first = source.buffer();
    let (is_array, is_of_hosts) = (is_list_of_objects(first), is_object_of_hosts(first, fields));
    if is_array || is_of_hosts {
        let hosts = is_of_hosts.then(|| fields.clone());
        source = source
            .through(|stream| StageLines::new(ItemLines { items: JsonItems::new(stream), hosts }));
    }
    let noun = match (is_array, is_of_hosts) {
        (true, _) => "item",
        (_, true) => "host",
        _ => "line",
    };
    let schema = MemberSchema { members, fields: fields.clone(), noun };
    batches(TextChunks::new(source, ChunkConfig::default()), schema, 0)
}

/// The problem of a line that is a JSON list.
const A_LIST: &str = "a JSON list; write one object per line, as jq -c '.[]' does";

/// Whether a text begins as a list of objects, on one line or on several, or as an empty one.
fn is_list_of_objects(text: &[u8]) -> bool {
    let inside = trim(text, WHITE_SPACE).strip_prefix(b"[").map(|inside| trim(inside, WHITE_SPACE));
    inside.is_some_and(|inside| matches!(inside, [] | [b'{' | b']', ..]))
}

/// Whether a text begins with an object of hosts that goes on after the first line, or after the text. A longer line
/// may be a capture, whose first name has a dot: its other names are none of hosts.
fn is_object_of_hosts(text: &[u8], fields: &FieldMap) -> bool {
    if !begins_with_host(text, fields) {
        return false;
    }
    let text = trim(text, WHITE_SPACE);
    let Some(end) = memchr::memchr(b'\n', text) else {
        let read = read_files(text, fields, &mut |_| {});
        return matches!(read, Err(NoHosts::Damaged));
    };
    let is_json = |text: &[u8]| serde_json::from_slice::<IgnoredAny>(text).is_ok();
    let line = &text[..end];
    let is_with_nan = || Some(is_json(without_nan(str::from_utf8(line).ok()?)?.as_bytes()));
    !is_json(line) && is_with_nan() != Some(true)
}

/// Whether a text begins as an object whose first name is a host, with a value that hosts have.
fn begins_with_host(text: &[u8], fields: &FieldMap) -> bool {
    let is_of_host = || {
        let inside = trim(text, WHITE_SPACE).strip_prefix(b"{")?;
        let name = trim(inside, WHITE_SPACE).strip_prefix(b"\"")?;
        let (name, rest) = name.split_at(memchr::memchr(b'"', name)?);
        let value = trim(rest[1..].trim_ascii_start().strip_prefix(b":")?, WHITE_SPACE);
        let file = value.strip_prefix(b"\"").map(|text| {
            // Escapes are in files alone.
            let end = memchr::memchr(b'"', text).unwrap_or(text.len());
            String::from_utf8_lossy(&text[..end]).replace('\\', " ")
        });
        let is_value = matches!(value, [b'{' | b'"' | b'n', ..]);
        Some(is_value && is_host(str::from_utf8(name).ok()?, file.as_deref(), fields))
    };
    is_of_host() == Some(true)
}

/// The items of an array, or the hosts of an object, as lines with an object each.
struct ItemLines {
    items: JsonItems,
    /// For hosts, the names that are those of fields.
    hosts: Option<FieldMap>,
}

impl Stage for ItemLines {
    fn next_lines(&mut self, lines: &mut Vec<u8>) -> Result<(), InputError> {
        while lines.len() < STAGE_READ_BYTES
            && let Some(item) = self.items.next()?
        {
            let Some(fields) = &self.hosts else {
                item.write_line(lines);
                continue;
            };
            let (start, number) = (lines.len(), item.number + 1);
            lines.push(b'{');
            item.write_line(lines);
            lines.splice(lines.len() - 1.., *b"}\n");
            if !begins_with_host(&lines[start..], fields) {
                lines.truncate(start);
                let problem = format!(
                    "begins as an object of hosts, but its member {number} is none; write one capture per line"
                );
                return Err(self.items.problem(problem));
            }
        }
        Ok(())
    }
}

/// The members to read, and the fields that they hold.
struct MemberSchema {
    fields: FieldMap,
    members: Members,
    /// The name of a line in messages.
    noun: &'static str,
}

impl RecordReader for MemberSchema {
    fn framing(&self) -> Framing {
        Framing::Byte(Terminator::LineFeed)
    }

    fn noun(&self) -> &'static str {
        self.noun
    }

    fn note_first(&self, records: &[u8]) {
        self.fields.note_first(records.split(|&byte| byte == b'\n'));
    }

    /// Reads one line. An empty line has no capture, and neither has one with an error.
    fn read(
        &self,
        line: &[u8],
        config: &ReadConfig,
        sink: &mut CaptureSink<'_>,
    ) -> Result<(), Problem> {
        let text = line.strip_suffix(b"\n").unwrap_or(line);
        match trim(text, WHITE_SPACE) {
            [] => return Ok(()),
            [b'{', ..] => {}
            [b'[', ..] => return Err(A_LIST.to_owned().into()),
            _ => return Err("not a JSON object; expected one object per line".to_owned().into()),
        }
        let arena = Bump::new();
        let mut record = Record::default();
        if let Err(error) = self.members.read(Json::new(text), &arena, &mut record.values, None) {
            if let Some(text) = str::from_utf8(text).ok().and_then(without_nan) {
                return self.read(text.as_bytes(), config, sink);
            }
            return Err(self.damaged(text, describe(error, 0), config));
        }
        record.note_found(&self.fields);
        let has_url = record.values[CaptureField::Url as usize].value != FieldValue::Null;
        for (field, found) in CaptureField::ALL.into_iter().zip(&record.values) {
            if found.has_other && !(has_url && field == CaptureField::Host) {
                self.fields.note_two(field);
            }
        }
        let head = head_of(text, &arena, &mut record);
        let (headers, redirects_followed) = head.unwrap_or_else(|problem| {
            record.fail(problem);
            Default::default()
        });
        // A relative target is one of the last URL (RFC 9110, section 10.2.2), and of several the list may
        // have another order.
        let location = headers.first("location");
        let target = location.filter(|it| redirects_followed == 0 || is_absolute(it));
        let head = Head {
            ranges: headers.all("content-range").collect(),
            codings: headers.all("content-encoding").collect(),
            has_fields: headers.has_any && target == location,
            has_location: target.is_some(),
        };
        let mut capture = match record.capture(&head, &self.fields, config) {
            Ok(read) => read,
            Err(problem) => {
                return match self.read_history(text, config, sink) {
                    Ok(read) => read,
                    Err(no_hosts) => self.lose_hosts(text, problem, no_hosts, sink),
                };
            }
        };
        if headers.first("content-type").is_some_and(is_html) {
            capture.notes = capture.notes.with(CaptureNote::HtmlContentType);
        }
        let is_redirect = matches!(capture.answer, Fetched::Status(300..=399));
        sink(Ok(Capture {
            redirects_followed,
            location: target.filter(|_| is_redirect).map(Cow::Borrowed),
            caching: CachingHeaders::read(headers.used.iter().copied()),
            ..capture
        }));
        Ok(())
    }
}

impl MemberSchema {
    /// Returns the problem of a line that cannot be read, with what can be read of it.
    #[cold]
    fn damaged(&self, line: &[u8], problem: String, config: &ReadConfig) -> Problem {
        let (text, arena, mut record) = (mended(line), Bump::new(), Record::default());
        // What comes before an error counts: it is why there is a problem.
        let _ = self.members.read(Json::new(text.as_bytes()), &arena, &mut record.values, None);
        record.fail(problem.clone());
        let read = record.capture(&Head::default(), &self.fields, config);
        read.map_or_else(|problem| problem, |_| problem.into())
    }

    /// Passes to `sink` that the files of hosts are lost in a line with a problem; the problem if there are none.
    #[cold]
    fn lose_hosts(
        &self,
        line: &[u8],
        problem: Problem,
        no_hosts: NoHosts,
        sink: &mut CaptureSink<'_>,
    ) -> Result<(), Problem> {
        let hosts = lost_hosts(line, &self.fields, matches!(no_hosts, NoHosts::Misfit(_)));
        let Some(first) = hosts.first() else { return Err(problem) };
        let reason = match &no_hosts {
            NoHosts::Misfit(name) => format!("{name:?} has no text"),
            _ => format!("{first:?} has a robots.txt and another member is no host"),
        };
        let text = format!("{}; as an object of hosts, {reason}", problem.text);
        for host in &hosts {
            let subject = Subject::Host(Cow::Borrowed(host.as_bytes()));
            let lost = Problem::of_capture(&*text, subject, Err(String::new()));
            let lost = Problem { kind: BrokenKind::Unreadable, ..lost };
            sink(Err(lost.of(format!("the file of {host}"))));
        }
        Ok(())
    }

    /// Reads a line with the files of hosts by date, and passes their captures to `sink`, one by one. The outer error if
    /// it is no such line. Hosts and dates may come twice, as in several lines.
    fn read_history(
        &self,
        text: &[u8],
        config: &ReadConfig,
        sink: &mut CaptureSink<'_>,
    ) -> Result<Result<(), Problem>, NoHosts> {
        // Nothing of a line that is no history counts, however it begins.
        let mut files = 0;
        read_files(text, &self.fields, &mut |_| files += 1)?;
        if files == 0 {
            return Err(NoHosts::Other);
        }
        if files > FILES_PER_RECORD_MAX {
            let text = format!(
                "more than {FILES_PER_RECORD_MAX} files of hosts; write a line for some of them each"
            );
            return Ok(Err(text.into()));
        }
        let read = |FileOfHost { host, date, body }: FileOfHost<'_>| {
            let text = |text| FieldValue::Text(Cow::Borrowed(str::as_bytes(text)));
            let mut record = Record::default();
            record.set(CaptureField::Host, 0, text(host));
            match body {
                Some(body) => record.set(CaptureField::Body, 0, text(body)),
                None => record.set(CaptureField::Status, 0, FieldValue::Null),
            }
            if let Some(date) = date {
                record.set(CaptureField::FetchedAt, 0, text(date));
            }
            sink(record.capture(&Head::default(), &self.fields, config).map_err(|problem| {
                let at = date.map_or(String::new(), |date| format!(" at {date:?}"));
                problem.of(format!("the file of {host}{at}"))
            }));
        };
        read_files(text, &self.fields, &mut { read }).expect("it was read before");
        Ok(Ok(()))
    }
}

/// Returns the header fields and the number of redirects of a record, in which no field occurs twice.
fn head_of<'l>(
    line: &'l [u8],
    arena: &'l Bump,
    record: &mut Record<'l>,
) -> Result<(Headers<'l>, u32), String> {
    record.check()?;
    let headers = record.take(CaptureField::Headers);
    let headers = within(line, headers, |json| Headers::read(json, arena))?;
    let redirects = record.take(CaptureField::Redirects);
    Ok((headers, within(line, redirects, |json| count_redirects(json, arena))?))
}

/// Reads a value within a line. A missing or a null one is the default.
fn within<'l, T: Default>(
    line: &'l [u8],
    value: Option<FieldValue<'l>>,
    read: impl FnOnce(&mut Json<'l>) -> Result<T, JsonError>,
) -> Result<T, String> {
    let Some(FieldValue::Json(value)) = value.filter(|it| *it != FieldValue::Json("null")) else {
        return Ok(T::default());
    };
    // A value of a text with members has no column in the line.
    let before = line.as_ptr_range().contains(&value.as_ptr());
    let before = if before { value.as_ptr().addr() - line.as_ptr().addr() } else { 0 };
    read(&mut Json::new(value.as_bytes())).map_err(|error| describe(error, before))
}

/// Returns the message of an error with the column, but without the line, which is always 1. The parsed text
/// follows `before` other bytes of the line.
fn describe(error: JsonError, before: usize) -> String {
    let error = match *error.0 {
        JsonProblem::Value { column, problem } => {
            return format!("column {}: {problem}", before + column);
        }
        JsonProblem::Syntax(error) => error,
    };
    if error.is_eof() {
        return "the object does not end on its line; write one object per line, as jq -c does"
            .to_owned();
    }
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    match text.strip_suffix(&place) {
        Some(problem) => format!("column {}: {problem}", before + error.column()),
        None => text,
    }
}

/// Whether a target names its scheme and host.
fn is_absolute(target: &[u8]) -> bool {
    let scheme = memchr::memmem::find(target, b"://").map(|end| &target[..end]);
    scheme.is_some_and(|it| it.iter().all(u8::is_ascii_alphabetic))
}

/// Takes a list of redirects, and returns how many it has. Only their presence matters.
fn count_redirects(json: &mut Json<'_>, arena: &Bump) -> Result<u32, JsonError> {
    if !json.take(b'[') {
        return json.refuse("expected a list of redirects, or null");
    }
    let mut count = 0_u32;
    while json.goes_on(count == 0, b']')? {
        count = count.saturating_add(1);
        match json.peek() {
            Some(b'"') => _ = json.text(arena)?,
            Some(b'{') => {
                json.take(b'{');
                let (mut is_first, mut has_url) = (true, false);
                while let Some(name) = json.next_name(is_first, arena)? {
                    is_first = false;
                    has_url |= name == b"url";
                    json.skip()?;
                }
                if !has_url {
                    return json.fail("a redirect without a `url`");
                }
            }
            _ => {
                return json.refuse("expected a URL, or an object with a `url`, for each redirect");
            }
        }
    }
    Ok(count)
}

/// The header fields of an answer.
#[derive(Default)]
struct Headers<'l> {
    /// The fields that are used, in order. Names are in lower case.
    used: Vec<(&'static str, &'l [u8])>,
    /// Whether there are any fields.
    has_any: bool,
}

impl<'l> Headers<'l> {
    const USED: [&'static str; 8] = [
        "age",
        "cache-control",
        "content-encoding",
        "content-range",
        "content-type",
        "date",
        "expires",
        "location",
    ];

    /// Takes an object of header fields, each with its value or a list of its values.
    fn read(json: &mut Json<'l>, arena: &'l Bump) -> Result<Headers<'l>, JsonError> {
        if !json.take(b'{') {
            return json.refuse("expected an object of header fields, or null");
        }
        let mut headers = Headers::default();
        while let Some(name) = json.next_name(!headers.has_any, arena)? {
            headers.has_any = true;
            let is = |used: &&str| name.eq_ignore_ascii_case(used.as_bytes());
            let Some(name) = Headers::USED.into_iter().find(is) else {
                json.skip()?;
                continue;
            };
            match json.peek() {
                Some(b'n') => json.skip()?,
                Some(b'"') => headers.add(name, json, arena)?,
                Some(b'[') => {
                    json.take(b'[');
                    let mut is_first = true;
                    while json.goes_on(is_first, b']')? {
                        is_first = false;
                        headers.add(name, json, arena)?;
                    }
                }
                _ => {
                    return json.refuse("expected a text or a list of texts for a header field");
                }
            }
        }
        Ok(headers)
    }

    /// Takes a value of a field.
    fn add(
        &mut self,
        name: &'static str,
        json: &mut Json<'l>,
        arena: &'l Bump,
    ) -> Result<(), JsonError> {
        if self.used.len() == HEADER_VALUES_MAX {
            return json.refuse(format!("more than {HEADER_VALUES_MAX} values of header fields"));
        }
        self.used.push((name, json.text(arena)?));
        Ok(())
    }

    /// Returns the values of a field.
    fn all(&self, name: &str) -> impl Iterator<Item = &'l [u8]> {
        self.used.iter().filter(move |field| field.0 == name).map(|(_, value)| *value)
    }

    /// Returns the first value of a field.
    fn first(&self, name: &str) -> Option<&'l [u8]> {
        self.all(name).next()
    }
}
