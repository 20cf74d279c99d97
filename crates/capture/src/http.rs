//! A stored HTTP response: status line, header fields, body.
//!
//! Owns RFC 9112 as archives keep it. Archives often store the header as it was sent and the body as
//! it was understood, so a coding that the header names, while the body is plainly not in it, counts
//! as undone. What cannot be undone, or breaks off, is broken; it is never handed out as a shorter
//! file. A parser for live traffic would reject heads that archives are full of: `HTTP/2 200`, a
//! missing reason or version digits, bare LF, folded lines, and lines without a colon.
//!
//! Cost: one pass over the header. The body is borrowed unless it has to be decoded, and decoded no
//! further than counts.

use std::borrow::Cow;

use memchr::memchr;

use portcullis_dialect::limits::{BODY_BYTES_MAX, CONTENT_CODINGS_MAX, HEADER_BLOCK_BYTES_MAX};
use portcullis_matcher::bytes::{hex_value, trim};

use super::body::{Settled, is_html, settle};
use super::fields::{block_bytes, byte_count, fields, lines, unfold};
use super::{CaptureNote, CaptureNotes, ReadConfig};
use crate::compression::Coding;

/// Why a response cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum HeadProblem {
    /// It does not begin as a response does.
    #[error("it does not begin with the status line of an HTTP response; fetch it again")]
    NoStatusLine,
    /// There is no empty line where the header should end.
    #[error("its HTTP header has no end; fetch it again")]
    NoEnd,
    /// The header is longer than is read.
    #[error("its HTTP header is longer than {HEADER_BLOCK_BYTES_MAX} bytes; fetch it again")]
    TooLong,
}

/// A response in two parts.
pub(super) struct Message<'m> {
    /// The status code.
    pub status: u16,
    head: Cow<'m, [u8]>,
    /// What follows the head, as it is stored.
    pub body: &'m [u8],
}

impl<'m> Message<'m> {
    /// Splits `bytes`. Of several responses in a row, those that only announce the next one (status
    /// 100 to 199; RFC 9110, section 15.2) are skipped.
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

    /// The header fields: name and value, in order.
    pub fn fields(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        fields(&self.head)
    }

    /// The value of the first field with this name.
    pub fn field(&self, name: &[u8]) -> Option<&[u8]> {
        let mut fields = self.fields();
        fields.find(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// Reads the body; `is_truncated` if the archive says that it cut it. Only a 2xx answer keeps one.
    pub fn settle(&self, is_truncated: bool, config: &ReadConfig) -> Settled<'m> {
        let truncated = [(CaptureNote::Truncated, is_truncated)];
        if !matches!(self.status, 200..=299) {
            // What other answers say, they say in their head.
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
        let is_as_sent = framing.decode(&mut body, &mut damage, config);
        // Chunks have an end of their own, and a length beside them is ignored (RFC 9112, section
        // 6.3). Nor does one say anything about a body that was decoded before it was stored.
        let is_short = framing.length.is_some_and(|length| length > sent_bytes);
        let is_short = is_short && is_as_sent && !framing.is_chunked;
        damage = damage.union(notes([(CaptureNote::ShortBody, is_short)]));
        let is_whole = damage == CaptureNotes::EMPTY;
        let mut settled = settle(self.status, Some(body), is_whole, config);
        let html = notes([(CaptureNote::HtmlContentType, framing.is_html)]);
        settled.notes = settled.notes.union(damage).union(html);
        settled
    }
}

/// The notes of which the condition holds.
pub(super) fn notes<const N: usize>(notes: [(CaptureNote, bool); N]) -> CaptureNotes {
    let those = notes.into_iter().filter(|(_, holds)| *holds);
    those.fold(CaptureNotes::EMPTY, |all, (note, _)| all.with(note))
}

/// Skips line ends that should not be there (RFC 9112, section 2.2, on requests).
fn trim_start(bytes: &[u8]) -> &[u8] {
    let start = bytes.iter().position(|byte| !b"\r\n".contains(byte));
    &bytes[start.unwrap_or(bytes.len())..]
}

fn begins_response(bytes: &[u8]) -> bool {
    trim_start(bytes).get(..5).is_some_and(|name| name.eq_ignore_ascii_case(b"HTTP/"))
}

/// The status code of a line such as `HTTP/1.1 200 OK`. The reason may be missing, and the version
/// may be one that has no such line on the wire.
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

/// What a header says about its body.
#[derive(Default)]
struct Framing {
    /// The largest length of the body as it was sent that is given.
    length: Option<u64>,
    is_chunked: bool,
    /// The codings in the order in which they were applied; `None` for one that is not known.
    codings: Vec<Option<Coding>>,
    is_html: bool,
}

impl Framing {
    fn read(message: &Message<'_>) -> Framing {
        let mut framing = Framing::default();
        let mut transfer_codings = Vec::new();
        for (name, value) in message.fields() {
            match &*name.to_ascii_lowercase() {
                // It may be given several times (RFC 9112, section 6.3).
                b"content-length" => {
                    let lengths = value.split(|&byte| byte == b',');
                    let lengths = lengths.filter_map(|part| byte_count(trim(part, b" \t")));
                    framing.length = framing.length.max(lengths.max());
                }
                b"content-encoding" => framing.codings.extend(codings(value)),
                b"transfer-encoding" => {
                    let is_chunked = |name: &&[u8]| name.eq_ignore_ascii_case(b"chunked");
                    framing.is_chunked |= names(value).any(|name| is_chunked(&name));
                    let others = names(value).filter(|name| !is_chunked(name));
                    transfer_codings.extend(others.map(Coding::of_http_name));
                }
                b"content-type" => framing.is_html |= is_html(value),
                _ => {}
            }
        }
        framing.codings.append(&mut transfer_codings);
        framing
    }

    /// Undoes the codings, the last first, the first no further than counts. Returns whether all those
    /// that are named were there to be undone.
    fn decode(
        &self,
        body: &mut Cow<'_, [u8]>,
        damage: &mut CaptureNotes,
        config: &ReadConfig,
    ) -> bool {
        let mut is_as_sent = true;
        for (index, coding) in self.codings.iter().enumerate().rev() {
            let Some(coding) = coding.filter(|_| self.codings.len() <= CONTENT_CODINGS_MAX) else {
                *body = Cow::Borrowed(b"");
                *damage = damage.with(CaptureNote::UnknownCoding);
                break;
            };
            // Nothing is nothing in any coding.
            if body.is_empty() {
                break;
            }
            if coding.is_undone(body) {
                is_as_sent = false;
                continue;
            }
            // What comes to light between two codings is bounded too, and then not whole.
            let is_last = index == 0;
            let counted = config.body_bytes_max().saturating_add(1);
            let bytes_max = if is_last { counted } else { BODY_BYTES_MAX };
            let decoded = coding.undo(body, bytes_max);
            let is_cut = decoded.bytes.len() >= bytes_max;
            *damage = damage.union(notes([
                (CaptureNote::BadCompression, !is_cut && !decoded.is_whole),
                (CaptureNote::BodyCut, is_cut && !is_last),
            ]));
            *body = Cow::Owned(decoded.bytes);
        }
        is_as_sent
    }
}

/// The names in a list of codings, without parameters and without `identity`.
fn names(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value
        .split(|&byte| byte == b',')
        .map(|part| trim(part.split(|&byte| byte == b';').next().unwrap_or(part), b" \t"))
        .filter(|name| !name.is_empty() && !name.eq_ignore_ascii_case(b"identity"))
}

fn codings(value: &[u8]) -> impl Iterator<Item = Option<Coding>> {
    names(value).map(Coding::of_http_name)
}

/// Joins the chunks of `body` (RFC 9112, section 7.1), and returns whether they came to their end. A
/// body without chunks stays as it is: the archive has joined them.
///
/// Lines may end in LF alone. Extensions and trailer fields are skipped, and nothing is required
/// behind the last chunk, which has no bytes.
pub(super) fn unchunk(body: &[u8]) -> (Cow<'_, [u8]>, bool) {
    // An empty body may have broken off before its first chunk. One that ends as chunks do is in
    // chunks even if its begin makes no sense.
    if !body.is_empty() && chunk_size(body).is_none() && !body.ends_with(b"\r\n0\r\n\r\n") {
        return (Cow::Borrowed(body), true);
    }
    let mut rest = body;
    let mut bytes = Vec::new();
    while let Some((size, line_bytes)) = chunk_size(rest) {
        rest = &rest[line_bytes..];
        if size == 0 {
            return (Cow::Owned(bytes), true);
        }
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        let Some((chunk, after)) = rest.split_at_checked(size) else {
            bytes.extend_from_slice(rest);
            break;
        };
        bytes.extend_from_slice(chunk);
        let Some(next) = after.strip_prefix(b"\r\n").or(after.strip_prefix(b"\n")) else { break };
        rest = next;
    }
    (Cow::Owned(bytes), false)
}

/// The size that the first line of `bytes` gives for a chunk, and the line's own bytes. The line may
/// end with `bytes`.
fn chunk_size(bytes: &[u8]) -> Option<(u64, usize)> {
    /// Bytes of a line with a size; what servers add to it is short.
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
