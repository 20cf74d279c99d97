//! The chunked transfer coding (RFC 9112, section 7.1).

use memchr::memchr;

use portcullis_matcher::bytes::{hex_value, trim};

/// Bytes of a line that gives a chunk's size; what servers add to it is short.
const SIZE_LINE_BYTES_MAX: usize = 1024;

/// What a body in chunks comes to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Unchunked {
    /// It is in no chunks: whoever stored it has put them together.
    NotInChunks,
    /// All its chunks, put together.
    Whole(Vec<u8>),
    /// What there is before the chunks make no sense or come to an end.
    Broken(Vec<u8>),
}

/// Puts the chunks of `body` together.
///
/// Lines may end in LF alone. Extensions and trailer fields are passed over, and nothing that
/// follows the last chunk, which has no bytes, is asked for.
pub(super) fn unchunk(body: &[u8]) -> Unchunked {
    // An empty body may be one that broke off before its first chunk.
    if !body.is_empty() && size_line(body).is_none() && !ends_with_last_chunk(body) {
        return Unchunked::NotInChunks;
    }
    let mut rest = body;
    let mut bytes = Vec::new();
    while let Some((size, line_bytes)) = size_line(rest) {
        rest = &rest[line_bytes..];
        if size == 0 {
            return Unchunked::Whole(bytes);
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
    Unchunked::Broken(bytes)
}

/// The size that the first line of `bytes` gives for a chunk, and the line's own bytes. The line
/// ends with `bytes` if nothing else ends it.
fn size_line(bytes: &[u8]) -> Option<(u64, usize)> {
    let window = &bytes[..bytes.len().min(SIZE_LINE_BYTES_MAX)];
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

/// Whether `body` ends as bodies in chunks do, so that it is one even if its begin makes no sense.
fn ends_with_last_chunk(body: &[u8]) -> bool {
    body.ends_with(b"\r\n0\r\n\r\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_bodies() {
        let rows: [(&[u8], &[u8]); 11] = [
            (b"0\r\n\r\n", b""),
            (b"0", b""),
            (b"000;a=b", b""),
            (b"4\r\nUser\r\n0\r\n\r\n", b"User"),
            (b"4\nUser\n0\n\n", b"User"),
            (b"4\r\nUser\r\n6\r\n-agent\r\n0\r\n\r\n", b"User-agent"),
            (b"4  \r\nUser\r\n0\r\n", b"User"),
            (b"4 ; a=\"b\"\r\nUser\r\n0\r\nTrailer: x\r\n\r\n", b"User"),
            (b"A\r\n0123456789\r\n0\r\n\r\n", b"0123456789"),
            (b"0000000000000001\r\n\n\r\n0\r\n\r\nrest", b"\n"),
            (b"7\r\n\r\n0\r\n\r\n\r\n0\r\n\r\n", b"\r\n0\r\n\r\n"),
        ];
        for (body, expected) in rows {
            let found = unchunk(body);
            assert_eq!(found, Unchunked::Whole(expected.to_vec()), "{}", body.escape_ascii());
        }
    }

    #[test]
    fn broken_bodies() {
        let rows: [(&[u8], &[u8]); 13] = [
            (b"", b""),
            (b"4", b""),
            (b"4\r\n", b""),
            (b"4\r\nUs", b"Us"),
            (b"4\r\nUser", b"User"),
            (b"4\r\nUser\r", b"User"),
            (b"4\r\nUser\r\n", b"User"),
            (b"4\r\nUser-agent", b"User"),
            (b"4\r\nUser\r\nx\r\n", b"User"),
            (b"4\r\nUser\r\n\r\n0\r\n\r\n", b"User"),
            (b"ffffffffffffffff\r\nUser", b"User"),
            (b"x4\r\nUser\r\n0\r\n\r\n", b""),
            (b"4\r\nUser\r\n10000000000000000\r\n", b"User"),
        ];
        for (body, expected) in rows {
            let found = unchunk(body);
            assert_eq!(found, Unchunked::Broken(expected.to_vec()), "{}", body.escape_ascii());
        }
    }

    #[test]
    fn bodies_without_chunks() {
        let rows: [&[u8]; 7] = [
            b"User-agent: *\nDisallow: /\n",
            b"Allow: /\n",
            b"Disallow: /\n",
            b"\n",
            b"# 4\n",
            b"\xef\xbb\xbfUser-agent: *\n",
            b"10000000000000000\r\n",
        ];
        for body in rows {
            assert_eq!(unchunk(body), Unchunked::NotInChunks, "{}", body.escape_ascii());
        }
    }
}
