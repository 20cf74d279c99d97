//! The head of a response: the status line and the header fields (RFC 9112, sections 4 and 5).

use std::borrow::Cow;

use super::super::fields::{block_bytes, fields, lines, unfold};
use portcullis_dialect::limits::HEADER_BLOCK_BYTES_MAX;
use portcullis_matcher::bytes::trim;

/// Why there is no telling what a response says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(in super::super) enum HeadProblem {
    /// It does not begin as a response does.
    #[error("it does not begin with the status line of an HTTP response; ask the host anew")]
    NoStatusLine,
    /// There is no empty line where the header should end.
    #[error("its HTTP header has no end; ask the host anew")]
    NoEnd,
    /// The header is longer than is read.
    #[error("its HTTP header is longer than {HEADER_BLOCK_BYTES_MAX} bytes; ask the host anew")]
    TooLong,
}

/// A response in two parts.
pub(in super::super) struct Message<'m> {
    /// The status code.
    pub(in super::super) status: u16,
    head: Cow<'m, [u8]>,
    /// What follows the head, as it is stored.
    pub(in super::super) body: &'m [u8],
}

impl<'m> Message<'m> {
    /// Parts `bytes`. Of several responses that follow each other, those that only announce the
    /// next one (status 100 to 199; RFC 9110, section 15.2) are passed over.
    pub(in super::super) fn split(bytes: &'m [u8]) -> Result<Message<'m>, HeadProblem> {
        let mut bytes = bytes;
        loop {
            let message = Message::split_first(bytes)?;
            // After 101 the connection speaks another protocol.
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
    pub(in super::super) fn fields(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        fields(&self.head)
    }

    /// The value of the first field with this name.
    pub(in super::super) fn field(&self, name: &[u8]) -> Option<&[u8]> {
        let mut fields = self.fields();
        fields.find(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }
}

/// What follows line ends that should not be there (RFC 9112, section 2.2, on requests).
fn trim_start(bytes: &[u8]) -> &[u8] {
    let start = bytes.iter().position(|byte| !b"\r\n".contains(byte));
    &bytes[start.unwrap_or(bytes.len())..]
}

fn begins_response(bytes: &[u8]) -> bool {
    trim_start(bytes).get(..5).is_some_and(|name| name.eq_ignore_ascii_case(b"HTTP/"))
}

/// The status code of a line as `HTTP/1.1 200 OK`; the reason may be missing, and the version may be
/// one whose status lines look otherwise on the wire.
fn status_code(line: &[u8]) -> Option<u16> {
    let after_name = line.get(5..)?;
    let version = after_name.iter().take_while(|o| o.is_ascii_digit() || **o == b'.').count();
    let (&separator, rest) = after_name[version..].split_first()?;
    let rest = trim(rest, b" \t");
    let (digits, reason) = rest.split_at_checked(3)?;
    let is_status_line = version > 0
        && b" \t".contains(&separator)
        && digits.iter().all(u8::is_ascii_digit)
        && matches!(reason.first(), None | Some(b' ' | b'\t' | b'\r'));
    is_status_line.then(|| digits.iter().fold(0, |code, digit| code * 10 + u16::from(digit - b'0')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_lines() {
        let rows: [(&[u8], Option<u16>); 18] = [
            (b"HTTP/1.1 200 OK", Some(200)),
            (b"HTTP/1.1 200", Some(200)),
            (b"HTTP/1.1 200 ", Some(200)),
            (b"HTTP/1.0  404\tNot Found", Some(404)),
            (b"http/1.1 200 OK", Some(200)),
            (b"HTTP/2 301", Some(301)),
            (b"HTTP/2.0 301 ", Some(301)),
            (b"HTTP/1.1\t200 \xff", Some(200)),
            (b"HTTP/1.1 999 Request denied", Some(999)),
            (b"HTTP/1.1", None),
            (b"HTTP/1.1 ", None),
            (b"HTTP/1.1 20", None),
            (b"HTTP/1.1 2000", None),
            (b"HTTP/1.1 200OK", None),
            (b"HTTP/1.1 OK 200", None),
            (b"HTTP/ 200 OK", None),
            (b"HTTP/1.1200 OK", None),
            (b"HTTP/x 200 OK", None),
        ];
        for (line, expected) in rows {
            assert_eq!(status_code(line), expected, "{}", line.escape_ascii());
        }
    }

    #[track_caller]
    fn parts(bytes: &[u8], expected: Result<(u16, &[u8]), HeadProblem>) {
        let found = Message::split(bytes);
        assert_eq!(found.as_ref().map(|m| (m.status, m.body)).map_err(|p| *p), expected);
    }

    #[test]
    fn heads_end_at_an_empty_line() {
        parts(b"HTTP/1.1 200 OK\r\nA: b\r\n\r\nbody", Ok((200, b"body")));
        parts(b"HTTP/1.1 200 OK\nA: b\n\nbody\n\n", Ok((200, b"body\n\n")));
        parts(b"HTTP/1.1 200 OK\r\n\r\n", Ok((200, b"")));
        parts(b"\r\n\nHTTP/1.1 200 OK\r\n\r\n\r\nx", Ok((200, b"\r\nx")));
        parts(b"HTTP/1.1 200 OK\r\nA: b\r\n", Err(HeadProblem::NoEnd));
        parts(b"HTTP/1.1 200 OK", Err(HeadProblem::NoEnd));
        parts(b"", Err(HeadProblem::NoStatusLine));
        parts(b"User-agent: *\n\n", Err(HeadProblem::NoStatusLine));
        parts(b"HTTP/1.1 two hundred\r\n\r\n", Err(HeadProblem::NoStatusLine));
    }

    #[test]
    fn responses_that_announce_another_are_passed_over() {
        let hints = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nA: b\r\n\r\n";
        parts(&[&hints[..], b"HTTP/1.1 404 No\r\n\r\nbody"].concat(), Ok((404, b"body")));
        parts(hints, Ok((103, b"")));
        parts(b"HTTP/1.1 101 Switch\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", {
            Ok((101, b"HTTP/1.1 200 OK\r\n\r\n"))
        });
        parts(&[&hints[..], b"HTTP/1.1 404 No\r\n"].concat(), Err(HeadProblem::NoEnd));
    }

    #[test]
    fn a_head_has_a_longest_length() {
        let head = |bytes: usize| {
            let mut head = b"HTTP/1.1 200 OK\r\nA: ".to_vec();
            head.resize(bytes - 4, b'a');
            head.extend(b"\r\n\r\n");
            head
        };
        parts(&head(HEADER_BLOCK_BYTES_MAX), Ok((200, b"")));
        parts(&head(HEADER_BLOCK_BYTES_MAX + 1), Err(HeadProblem::TooLong));
    }

    #[test]
    fn fields_are_found_in_any_case() {
        let bytes = b"HTTP/1.1 301 Moved\r\nlocation: /a\r\n b\r\nLocation: /c\r\n\r\n";
        let message = Message::split(bytes).unwrap();
        assert_eq!(message.field(b"Location"), Some(&b"/a   b"[..]));
        assert_eq!(message.field(b"Loc"), None);
        assert_eq!(message.fields().count(), 2);
    }
}
