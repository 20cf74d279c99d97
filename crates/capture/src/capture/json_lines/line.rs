//! One line to one capture.

use std::borrow::Cow;

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use crate::capture::bodiless::{bodiless, without_body};
use crate::capture::body::{Settled, settle};
use crate::capture::content_type::is_html;
use crate::capture::{Capture, CaptureNote, CaptureSink, ReadConfig, Subject};
use portcullis_matcher::bytes::trim;
use portcullis_robots::access::{Answer, CachingHeaders, UnixSeconds};

use super::WHITE_SPACE;
use super::members::Members;

/// The usual alphabet (RFC 4648, section 4), padded or not.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Reads the line `text`, without its end, and hands its capture to `sink`; an empty one has none.
///
/// What is wrong with the line is the error, and nothing was handed out.
pub(super) fn read(
    text: &[u8],
    config: &ReadConfig,
    sink: &mut dyn CaptureSink,
) -> Result<(), String> {
    match trim(text, WHITE_SPACE) {
        [] => return Ok(()),
        // Deserialization would take a list of the members' values as well.
        [b'{', ..] => {}
        _ => return Err("no object of JSON: one object a line is wanted".to_owned()),
    }
    let mut members: Members<'_> =
        serde_json::from_slice(text).map_err(|error| describe(&error))?;
    let captured_at = captured_at(&members)?;
    let Settled { answer, body, mut notes } = answer(&mut members, config)?;
    if members.truncated.is_said() {
        notes = notes.with(CaptureNote::Truncated);
    }
    let headers = &members.headers;
    if headers.first("content-type").is_some_and(is_html) {
        notes = notes.with(CaptureNote::HtmlContentType);
    }
    let is_redirect = matches!(answer, Answer::Status(300..=399));
    sink.capture(Capture {
        subject: Subject::Url(members.url.as_bytes()),
        captured_at,
        redirects_followed: members.redirects.count(),
        answer,
        location: headers.first("location").filter(|_| is_redirect).map(Cow::Borrowed),
        caching: CachingHeaders::read(headers.fields()),
        body,
        notes,
    });
    Ok(())
}

/// What the parser says, with the place where it says it; the line in it would always be 1.
fn describe(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    match text.strip_suffix(&place) {
        Some(problem) => format!("column {}: {problem}", error.column()),
        None => text,
    }
}

fn captured_at(members: &Members<'_>) -> Result<Option<UnixSeconds>, String> {
    let Some(text) = &members.fetched_at else {
        return Ok(None);
    };
    match UnixSeconds::from_rfc3339(text.as_bytes()) {
        Some(time) => Ok(Some(time)),
        None => Err(format!(
            "`fetched_at` is {text:?}, which is no time since 1970 as RFC 3339 has it: \
             2024-05-01T12:00:00Z"
        )),
    }
}

/// The answer that the members tell of, with its body, which is taken from them.
fn answer<'l>(members: &mut Members<'l>, config: &ReadConfig) -> Result<Settled<'l>, String> {
    let text = members.body.take();
    let base64 = members.body_base64.take();
    if text.is_some() && base64.is_some() {
        return Err("both `body` and `body_base64`; keep the one that is right".to_owned());
    }
    let status = match members.status.number() {
        Some(status) => status,
        None if members.error.is_said() => return Ok(bodiless(Answer::NoAnswer)),
        None => return Err("no `status` and no `error`: nothing says what came of it".to_owned()),
    };
    if !(200..=299).contains(&status) {
        return Ok(bodiless(Answer::Status(status)));
    }
    let body = match (text, base64) {
        (Some(text), _) => text.into_bytes(),
        (None, Some(base64)) => Cow::Owned(decode(base64.as_bytes(), config)?),
        (None, None) => return Ok(without_body(status)),
    };
    let is_whole = !members.truncated.is_said() && !members.error.is_said();
    Ok(settle(status, body, is_whole, config))
}

/// The bytes that `text` stands for, as far as counts and at least one more if there is one.
fn decode(text: &[u8], config: &ReadConfig) -> Result<Vec<u8>, String> {
    // Four digits stand for three bytes.
    let digits_max = (config.body_bytes_max() / 3 + 1) * 4;
    let counted = &text[..text.len().min(digits_max)];
    BASE64.decode(counted).map_err(|error| format!("`body_base64` is no base64: {error}"))
}
