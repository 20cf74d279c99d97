//! Parses a stored HTTP response: status line, header fields, body.
//!
//! This module implements RFC 9112 as archives store it. Archives often store the header as it was
//! sent but the body decoded. So if the header names a coding and the body is plainly not in it,
//! the coding counts as already decoded. A body that cannot be decoded, or is truncated, is broken;
//! it is never returned as a shorter file. A parser for live traffic would reject heads that are
//! common in archives: `HTTP/2 200`, a missing reason or version digits, bare LF, folded lines, and
//! lines without a colon.
//!
//! Cost: one pass over the header. The body is borrowed unless it must be decoded, and decoded only
//! up to the size limit and within a [`Budget`].

use std::borrow::Cow;

use memchr::memchr;

use portcullis_engine::bytes::{hex_value, trim};

use super::ReadConfig;
use super::body::{Settled, is_html, notes, settle};
use super::decoding::Budget;
use super::fields::{block_bytes, byte_count, fields, lines, may_be_whole, unfold};
use crate::limits::HEADER_BLOCK_BYTES_MAX;
use portcullis_files::compression::Coding;
use portcullis_robots::access::{CaptureNote, CaptureNotes};

/// Why a response cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum HeadProblem {
    /// The bytes do not begin like a response.
    #[error("it does not begin with the status line of an HTTP response; fetch it again")]
    NoStatusLine,
    /// The header does not end with an empty line.
    #[error("its HTTP header has no end; fetch it again")]
    NoEnd,
    /// The header is longer than the limit.
    #[error("its HTTP header is longer than {HEADER_BLOCK_BYTES_MAX} bytes; fetch it again")]
    TooLong,
}

/// A response in two parts.
pub(super) struct Message<'m> {
    /// The status code.
    pub status: u16,
    head: Cow<'m, [u8]>,
    /// The bytes after the head, as they are stored.
    pub body: &'m [u8],
}

impl<'m> Message<'m> {
    /// Splits `bytes`. Interim responses before the final one (status 100 to 199; RFC 9110, section
    /// 15.2) are skipped.
    pub fn split(mut bytes: &'m [u8]) -> Result<Message<'m>, HeadProblem> {
        loop {
            let message = Message::split_first(bytes)?;
            // After 101 the connection uses another protocol.
            let is_interim = matches!(message.status, 100 | 102..=199);
            if !is_interim || !begins_response(message.body) {
                return Ok(message);
            }
            bytes = message.body;
        }
    }

    fn split_first(bytes: &'m [u8]) -> Result<Message<'m>, HeadProblem> {
        if !begins_response(bytes) {
            return Err(HeadProblem::NoStatusLine);
        }
        let bytes = trim_start(bytes);
        let window = &bytes[..bytes.len().min(HEADER_BLOCK_BYTES_MAX)];
        let Some(head_bytes) = block_bytes(window) else {
            let is_longer = bytes.len() > window.len();
            return Err(if is_longer { HeadProblem::TooLong } else { HeadProblem::NoEnd });
        };
        let (head, body) = bytes.split_at(head_bytes);
        let head = unfold(head);
        let status = lines(&head).next().and_then(status_code).ok_or(HeadProblem::NoStatusLine)?;
        Ok(Message { status, head, body })
    }

    /// Returns the header fields as name and value, in order.
    pub fn fields(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        fields(&self.head)
    }

    /// Returns the value of the first field called `name`.
    pub fn field(&self, name: &[u8]) -> Option<&[u8]> {
        let mut fields = self.fields();
        fields.find(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// Reads the body, and takes what that costs from `budget`. `is_truncated` is true if the archive says
    /// that it cut the body. Only a 2xx answer keeps its body.
    pub fn settle(
        &self,
        is_truncated: bool,
        config: &ReadConfig,
        budget: &mut Budget,
    ) -> Settled<'m> {
        let truncated = [(CaptureNote::Truncated, is_truncated)];
        if !matches!(self.status, 200..=299) {
            // For other answers, the head is enough.
            let settled = settle(self.status, None, true, config);
            return Settled { notes: notes(truncated), ..settled };
        }
        let framing = Framing::read(self);
        let (mut body, mut damage) = (Cow::Borrowed(self.body), notes(truncated));
        if framing.is_chunked {
            let (bytes, is_whole) = unchunk(self.body);
            body = bytes;
            damage = damage.union(notes([(CaptureNote::BadChunks, !is_whole)]));
        }
        let sent_bytes = body.len() as u64;
        let ranges = self.fields().filter(|(it, _)| it.eq_ignore_ascii_case(b"content-range"));
        let is_part = !may_be_whole(self.status, ranges.map(|(_, range)| range), body.len());
        damage = damage.union(notes([(CaptureNote::Truncated, is_part)]));
        let is_as_sent = budget.decode(&framing.codings, &mut body, &mut damage, config);
        // Chunks mark their own end, and a length besides them is ignored (RFC 9112, section 6.3).
        // The length also does not apply to a body that was decoded before it was stored.
        let is_short = framing.length.is_some_and(|length| length > sent_bytes);
        let is_short = is_short && is_as_sent && !framing.is_chunked;
        damage = damage.union(notes([
            (CaptureNote::ShortBody, is_short),
            (CaptureNote::BadCompression, sent_bytes == 0 && framing.needs_bytes(self.status)),
        ]));
        let is_whole = damage == CaptureNotes::EMPTY;
        let mut settled = settle(self.status, Some(body), is_whole, config);
        let html = notes([(CaptureNote::HtmlContentType, framing.is_html)]);
        settled.notes = settled.notes.union(damage).union(html);
        settled
    }
}

/// Skips stray line ends at the start (RFC 9112, section 2.2, on requests).
fn trim_start(bytes: &[u8]) -> &[u8] {
    let start = bytes.iter().position(|byte| !b"\r\n".contains(byte));
    &bytes[start.unwrap_or(bytes.len())..]
}

fn begins_response(bytes: &[u8]) -> bool {
    trim_start(bytes).get(..5).is_some_and(|name| name.eq_ignore_ascii_case(b"HTTP/"))
}

/// Parses the status code in a line such as `HTTP/1.1 200 OK`. The reason may be missing, and the
/// version may be one without status lines, such as HTTP/2.
fn status_code(line: &[u8]) -> Option<u16> {
    let after_name = line.get(5..)?;
    let version = after_name.iter().take_while(|o| o.is_ascii_digit() || **o == b'.').count();
    let (&separator, rest) = after_name[version..].split_first()?;
    let (digits, reason) = trim(rest, b" \t").split_at_checked(3)?;
    let is_status_line = version > 0
        && b" \t".contains(&separator)
        && digits.iter().all(u8::is_ascii_digit)
        && matches!(reason.first(), None | Some(b' ' | b'\t' | b'\r'));
    is_status_line.then(|| digits.iter().fold(0, |code, digit| code * 10 + u16::from(digit - b'0')))
}

/// The framing of a body, as its header describes it.
#[derive(Default)]
struct Framing {
    /// The largest Content-Length: the length of the body as it was sent.
    length: Option<u64>,
    is_chunked: bool,
    /// The codings in the order in which they were applied. `None` stands for an unknown coding.
    codings: Vec<Option<Coding>>,
    is_html: bool,
}

impl Framing {
    /// Whether a body without bytes is not all that was sent: every coding has bytes for an empty body, too.
    fn needs_bytes(&self, status: u16) -> bool {
        let has_none = self.is_chunked || self.length == Some(0) || matches!(status, 204 | 205);
        !self.codings.is_empty() && !has_none
    }

    fn read(message: &Message<'_>) -> Framing {
        let mut framing = Framing::default();
        let mut transfer_codings = Vec::new();
        for (name, value) in message.fields() {
            match &*name.to_ascii_lowercase() {
                // The field may occur several times (RFC 9112, section 6.3).
                b"content-length" => {
                    let lengths = value.split(|&byte| byte == b',');
                    let lengths = lengths.map(|part| trim(part, b" \t"));
                    let lengths = lengths.filter(|part| part.iter().all(u8::is_ascii_digit));
                    // No body has as many bytes as a number that is out of range.
                    let length = |part: &[u8]| byte_count(part).unwrap_or(u64::MAX);
                    let lengths = lengths.filter(|part| !part.is_empty()).map(length);
                    framing.length = framing.length.max(lengths.max());
                }
                b"content-encoding" => {
                    framing.codings.extend(names(value).map(Coding::from_http_name));
                }
                b"transfer-encoding" => {
                    for name in names(value) {
                        // Chunks are applied once (RFC 9112, section 6.1).
                        match name.eq_ignore_ascii_case(b"chunked") && !framing.is_chunked {
                            true => framing.is_chunked = true,
                            false => transfer_codings.push(Coding::from_http_name(name)),
                        }
                    }
                }
                b"content-type" => framing.is_html |= is_html(value),
                _ => {}
            }
        }
        framing.codings.append(&mut transfer_codings);
        framing
    }
}

/// Returns the names in a list of codings, without parameters and without `identity`.
pub(super) fn names(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value
        .split(|&byte| byte == b',')
        .map(|part| trim(part.split(|&byte| byte == b';').next().unwrap_or(part), b" \t"))
        .filter(|name| !name.is_empty() && !name.eq_ignore_ascii_case(b"identity"))
}

/// Joins the chunks of `body` (RFC 9112, section 7.1), and returns whether the last chunk was
/// found. A body without chunks is returned as it is, because the archive has joined them.
///
/// Lines may end in LF alone, a chunk as its line with the size does: a CR before may be a byte of a chunk whose
/// size is too large. Extensions and trailer fields are skipped. No bytes are required
/// after the last chunk, which is empty. Those after the trailer fields are damage: they may be rules.
pub(super) fn unchunk(body: &[u8]) -> (Cow<'_, [u8]>, bool) {
    // An empty body may have been truncated before its first chunk. A body that ends like a chunked
    // body is chunked even if its start is malformed.
    if !body.is_empty() && chunk_size(body).is_none() && !body.ends_with(b"\r\n0\r\n\r\n") {
        return (Cow::Borrowed(body), true);
    }
    let mut rest = body;
    let mut bytes = Vec::new();
    while let Some((size, line_bytes)) = chunk_size(rest) {
        let line_end: &[u8] = if rest[..line_bytes].ends_with(b"\r\n") { b"\r\n" } else { b"\n" };
        rest = &rest[line_bytes..];
        if size == 0 {
            let after = &rest[block_bytes(rest).unwrap_or(0)..];
            return (Cow::Owned(bytes), after.iter().all(|byte| b"\r\n".contains(byte)));
        }
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        let Some((chunk, after)) = rest.split_at_checked(size) else {
            bytes.extend_from_slice(rest);
            break;
        };
        bytes.extend_from_slice(chunk);
        let Some(next) = after.strip_prefix(line_end) else { break };
        rest = next;
    }
    (Cow::Owned(bytes), false)
}

/// Parses the chunk size in the first line of `bytes`. Returns the size and the length of the line,
/// which may end with `bytes`.
fn chunk_size(bytes: &[u8]) -> Option<(u64, usize)> {
    /// The longest line with a size, in bytes. Extensions that servers add are short.
    const LINE_BYTES_MAX: usize = 1024;
    let window = &bytes[..bytes.len().min(LINE_BYTES_MAX)];
    let line_end = memchr(b'\n', window);
    let line = trim(&window[..line_end.unwrap_or(window.len())], b" \t\r");
    let digits = line.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    let after = trim(&line[digits..], b" \t");
    if !(1..=16).contains(&digits) || !(after.is_empty() || after.starts_with(b";")) {
        return None;
    }
    let values = line[..digits].iter().filter_map(|&digit| hex_value(digit));
    let size = values.fold(0, |size: u64, value| size << 4 | u64::from(value));
    match line_end {
        Some(end) => Some((size, end + 1)),
        None => (window.len() == bytes.len()).then_some((size, bytes.len())),
    }
}
