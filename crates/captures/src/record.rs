//! Builds a capture from the fields of a record, in the same way for JSON Lines and Parquet.
//!
//! Use [`schema`](super::schema) for the names of fields, and [`settle`] for the answer of a status
//! and a body. The error says what is wrong with the record, which then has no capture.
//!
//! † A record whose resource can be read is an answer of its server, whatever else is wrong with it.
//! So readers note a problem in the record ([`Record::fail`]), and [`Record::capture`] reads the
//! resource and the time before it tells the problem. An older file is not the newest then, and
//! without a readable time, no other is.

use std::borrow::Cow;

use base64::Engine as _;

use portcullis_dialect::Fetched;
use portcullis_engine::bytes::trim;
use portcullis_files::input::stands_for_none;
use portcullis_robots::access::{
    CaptureNote, TimeUnit, UnixSeconds, in_range, is_date, seconds_of,
};
use portcullis_robots::syntax::{NoteKind, appearance};

use super::body::{Settled, is_redirect, notes, settle, status_of};
use super::capture::Problem;
use super::escapes::{self, BASE64};
use super::fields::may_be_whole;
use super::http::names;
use super::json_path::{FieldValue, Found};
use super::schema::{CaptureField, FieldMap};
use super::{Capture, ReadConfig, Subject};

/// The head of the answer in a record. Tables have none.
#[derive(Default)]
pub(super) struct Head<'h> {
    /// The values of `Content-Range`.
    pub ranges: Vec<&'h [u8]>,
    /// The values of `Content-Encoding`.
    pub codings: Vec<&'h [u8]>,
    /// Whether there are any header fields, so that a redirect without a `Location` leads nowhere.
    pub has_fields: bool,
    pub has_location: bool,
}

impl Head<'_> {
    /// Whether a body is still in a coding, of which `Content-Encoding` names one. Most programs decode it.
    fn is_coded(&self, body: &[u8]) -> bool {
        let mut names = self.codings.iter().flat_map(|value| names(value));
        names.next().is_some() && appearance(body) == Some(NoteKind::LooksBinary)
    }
}

/// The fields of a record.
#[derive(Default)]
pub(super) struct Record<'r> {
    pub values: [Found<'r>; CaptureField::ALL.len()],
    /// The reason why the record cannot be used.
    problem: Option<String>,
}

impl<'r> Record<'r> {
    /// Sets the value of a field under the name with this rank.
    pub fn set(&mut self, field: CaptureField, rank: usize, value: FieldValue<'r>) {
        self.values[field as usize].set(rank, value);
    }

    /// Notes that the record cannot be used, unless a problem was noted before.
    pub fn fail(&mut self, problem: impl Into<String>) {
        self.problem.get_or_insert_with(|| problem.into());
    }

    /// Takes the value of a field; `None` if it is missing.
    pub fn take(&mut self, field: CaptureField) -> Option<FieldValue<'r>> {
        let found = std::mem::take(&mut self.values[field as usize]);
        (found.rank != usize::MAX).then_some(found.value)
    }

    /// Notes which fields the record has. Call it before any is taken.
    pub fn note_found(&self, fields: &FieldMap) {
        let found = CaptureField::ALL.into_iter().zip(&self.values);
        let found = found.filter(|(_, found)| found.rank != usize::MAX);
        found.for_each(|(field, _)| fields.note_found(field));
    }

    /// Checks that no field occurs twice. Call it before any is taken.
    pub fn check(&self) -> Result<(), String> {
        let mut found = CaptureField::ALL.into_iter().zip(&self.values);
        let Some((field, _)) = found.find(|(_, found)| found.is_repeated) else { return Ok(()) };
        let field = field.as_str();
        Err(format!(
            "`{field}` occurs twice; if the names differ in case, choose one with ‹fields› \
             {field}=NAME"
        ))
    }

    /// Returns a text, or `None` if it is null or missing.
    fn text(&mut self, field: CaptureField) -> Result<Option<Cow<'r, [u8]>>, String> {
        self.check_read(field)?;
        match self.take(field) {
            None | Some(FieldValue::Null) => Ok(None),
            Some(FieldValue::Text(text)) => Ok(Some(text)),
            Some(other) => {
                Err(format!("its {} is {}; expected text", field.as_str(), other.kind()))
            }
        }
    }

    /// Checks that the value of a field is known, or that there is none.
    fn check_read(&self, field: CaptureField) -> Result<(), String> {
        match self.values[field as usize].is_repeated {
            true => Err(format!("its {} cannot be read", field.as_str())),
            false => Ok(()),
        }
    }

    /// Whether a field whose presence matters has a value other than false.
    fn is_set(&self, field: CaptureField) -> bool {
        match &self.values[field as usize].value {
            FieldValue::Null => false,
            FieldValue::Boolean(value) => *value,
            FieldValue::Number(number) => *number != 0.0,
            FieldValue::Text(text) => !is_false(text),
            FieldValue::Other(_) | FieldValue::Json(_) | FieldValue::Time(_) => true,
        }
    }

    /// Returns the capture of an answer with this head.
    pub fn capture(
        mut self,
        head: &Head<'_>,
        fields: &FieldMap,
        config: &ReadConfig,
    ) -> Result<Capture<'r>, Problem> {
        let problem = self.problem.take();
        let subject = match self.subject(fields) {
            Ok(subject) => subject,
            Err(text) => return Err(problem.unwrap_or(text).into()),
        };
        // A time may stand after the damage.
        let time = match (&problem, &self.values[CaptureField::FetchedAt as usize]) {
            (Some(_), found) if found.rank == usize::MAX => Err(String::new()),
            _ => self.time(fields.unit),
        };
        let settled = match problem {
            Some(problem) => Err(problem),
            None => self.settled(&subject, head, fields, config),
        };
        match (settled, time) {
            (Ok(settled), Ok(time)) => Ok(settled.capture(subject, time)),
            (Ok(_), Err(text)) => Err(Problem::of_capture(text.clone(), subject, Err(text))),
            (Err(text), time) => Err(Problem::of_capture(text, subject, time)),
        }
    }

    fn settled(
        &mut self,
        subject: &Subject<'_>,
        head: &Head<'_>,
        fields: &FieldMap,
        config: &ReadConfig,
    ) -> Result<Settled<'r>, String> {
        let has_error = self.is_set(CaptureField::Error);
        let status = self.status()?;
        let body = self.body(status, fields, config)?;
        let body_bytes = body.as_ref().map_or(0, |body| body.len());
        if body.as_deref().is_some_and(|body| head.is_coded(body)) {
            return Err(CODED.to_owned());
        }
        let ranges = head.ranges.iter().copied();
        let is_truncated = self.is_set(CaptureField::Truncated)
            || !may_be_whole(status.unwrap_or_default(), ranges, body_bytes);
        let (status, is_assumed) = match status {
            Some(0) if body_bytes > 0 && !has_error => return Err(NO_STATUS.to_owned()),
            Some(status) => (status, false),
            None if has_error => (0, false),
            None if body.is_some() => (200, true),
            None => return Err(NO_OUTCOME.to_owned()),
        };
        let is_whole = !is_truncated && !has_error;
        let has_none = body.is_none() && is_whole && subject.is_named_robots_txt();
        if has_none && matches!(status, 200..=203 | 206..=299) {
            let names = fields.names(&[CaptureField::Body, CaptureField::BodyBase64]);
            return Err(format!(
                "its status is {status}, and its body is null or missing ({names}); name the field with \
                 ‹fields› body=NAME"
            ));
        }
        let mut settled = settle(status, body, is_whole, config);
        // Whatever the error was, the archive lacks a part of a body that the server sent.
        let lacks_body = matches!(settled.answer, Fetched::BrokenBody);
        let has_target = head.has_location || head.has_fields && is_whole;
        settled.notes = settled.notes.union(notes([
            (CaptureNote::Truncated, is_truncated || lacks_body),
            (CaptureNote::StatusAssumed, is_assumed),
            (CaptureNote::RedirectTargetMissing, is_redirect(settled.answer) && !has_target),
        ]));
        Ok(settled)
    }

    fn subject(&mut self, fields: &FieldMap) -> Result<Subject<'r>, String> {
        if let Some(url) = self.text(CaptureField::Url)? {
            return Ok(Subject::Url(url));
        }
        if let Some(host) = self.text(CaptureField::Host)? {
            return Ok(robots_txt_of(&host).unwrap_or(Subject::Host(host)));
        }
        let names = fields.names(&[CaptureField::Url, CaptureField::Host]);
        Err(format!("no URL and no host ({names}); name the field with ‹fields› url=NAME"))
    }

    fn time(&mut self, unit: Option<TimeUnit>) -> Result<Option<UnixSeconds>, String> {
        self.check_read(CaptureField::FetchedAt)?;
        let value = match self.take(CaptureField::FetchedAt) {
            None | Some(FieldValue::Null) => return Ok(None),
            Some(value) => value,
        };
        match (value.seconds(unit), value) {
            (Some(seconds), _) => answered_at(seconds).map(Some),
            (None, FieldValue::Text(text)) => {
                let is_date = unit.is_some() && seconds_of(&text, None).is_some();
                let fix = if is_date { A_DATE } else { EXPECTED_TIME };
                Err(format!("its time is {:?}; {fix}", String::from_utf8_lossy(&text)))
            }
            (None, FieldValue::Number(number)) if is_date(number) => {
                Err(format!("its time is {number}; {A_DATE}"))
            }
            (None, other) => Err(format!("its fetched_at is {}; {EXPECTED_TIME}", other.kind())),
        }
    }

    /// Returns the status, 0 for null, or `None` if the record has none. Digits may be text.
    fn status(&mut self) -> Result<Option<u16>, String> {
        let kind = match self.take(CaptureField::Status) {
            None => return Ok(None),
            Some(FieldValue::Null) => return Ok(Some(0)),
            Some(FieldValue::Number(number)) => return status_of(number).map(Some),
            Some(FieldValue::Text(text)) => match str::from_utf8(trim(&text, b" ")) {
                Ok("") => return Ok(Some(0)),
                _ if stands_for_none(&text) => return Ok(Some(0)),
                Ok(digits) if digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') => {
                    let number = digits.parse().map_err(|_| "its status is no number".to_owned());
                    return status_of(number?).map(Some);
                }
                _ => "text",
            },
            Some(other) => other.kind(),
        };
        Err(format!("its status is {kind}; expected a number of at most three digits, or null"))
    }

    fn body(
        &mut self,
        status: Option<u16>,
        fields: &FieldMap,
        config: &ReadConfig,
    ) -> Result<Option<Cow<'r, [u8]>>, String> {
        let is_file = status.is_none_or(|it| matches!(it, 0 | 200..=299));
        let is_alias = self.values[CaptureField::Body as usize].rank > 0;
        let mut encoded = self.text(CaptureField::BodyBase64)?;
        if encoded.as_ref().is_some_and(|base64| base64.is_empty())
            && let FieldValue::Text(text) = &self.values[CaptureField::Body as usize].value
            && !text.is_empty()
        {
            encoded = None;
        }
        // A field with such a name may be something else.
        if let Some(base64) = encoded.as_deref().filter(|_| is_alias)
            && let Some(FieldValue::Text(text)) = self.take(CaptureField::Body)
            && is_file
            && !text.is_empty()
            && *String::from_utf8_lossy(&decode(base64, config)?).as_bytes() != *text
        {
            fields.note_two(CaptureField::Body);
        }
        let body = match (self.text(CaptureField::Body)?, encoded) {
            (Some(_), Some(_)) => {
                return Err("both `body` and `body_base64`; keep the one that is right".to_owned());
            }
            (Some(body), None) => Some(body),
            (None, Some(text)) if is_file => Some(Cow::Owned(decode(&text, config)?)),
            (None, _) => None,
        };
        match body.as_deref().filter(|_| is_file).and_then(escapes::problem) {
            Some(problem) => Err(problem.to_owned()),
            None => Ok(body),
        }
    }
}

/// The problems of a body whose status is null, and of a record without an answer.
const NO_STATUS: &str = "a body, but no status: name the status with ‹fields› status=NAME, or \
                         ‹fields› status= if there is none";
const NO_OUTCOME: &str = "no status, no body and no error, so its outcome is not known";

/// The problem of a body that was stored as it was sent.
const CODED: &str =
    "its body is binary data, and its Content-Encoding names a coding; decode it first";

/// The forms of times, for messages.
const EXPECTED_TIME: &str = "expected a date or time, such as 2024-05-01T12:00:00Z, 2024-05-01 or 20240501120000, or a number \
     with ‹time_unit›";

/// The problem of digits that are a date, which may be a number of the unit too.
const A_DATE: &str =
    "a date, or a number of ‹time_unit›; write such a date as 2024-05-01T12:00:00Z";

/// Whether a text in a field for a boolean says no. Any other text may be the reason.
fn is_false(text: &[u8]) -> bool {
    const FALSE: [&[u8]; 6] = [b"", b"false", b"f", b"no", b"n", b"0"];
    let text = trim(text, b" ");
    let zero =
        |text: &[u8]| text.strip_prefix(b"0.").is_some_and(|it| it.iter().all(|&it| it == b'0'));
    FALSE.iter().any(|it| it.eq_ignore_ascii_case(text)) || zero(text)
}

/// Returns the time of an answer. No answer is older than 1970 or from after 9999, so such a time is a
/// mistake.
fn answered_at(seconds: i64) -> Result<UnixSeconds, String> {
    if seconds < 0 {
        return Err(format!("its time is {} s before 1970", seconds.unsigned_abs()));
    }
    in_range(seconds).ok_or_else(|| {
        format!("its time is {seconds} s after 1970, in no year of four digits; see ‹time_unit›")
    })
}

/// Returns the robots.txt of the site with this URL, or `None` if it is no URL.
fn robots_txt_of(site: &[u8]) -> Option<Subject<'static>> {
    let authority = memchr::memmem::find(site, b"://")? + "://".len();
    let end = site[authority..].iter().position(|byte| b"/?#".contains(byte));
    let origin = &site[..end.map_or(site.len(), |end| authority + end)];
    Some(Subject::Url(Cow::Owned([origin, b"/robots.txt"].concat())))
}

/// Decodes `text`, which may be in lines, up to the size limit, and at least one byte more if there is one.
fn decode(text: &[u8], config: &ReadConfig) -> Result<Vec<u8>, String> {
    // Four digits encode three bytes.
    let digits_max = (config.body_bytes_max() / 3 + 1) * 4;
    let text = escapes::without_space(text);
    let counted = &text[..text.len().min(digits_max)];
    BASE64.decode(counted).map_err(|error| format!("its body_base64 is not base64: {error}"))
}
