//! The URL as most are: nothing of it has to be read twice, and nothing changed.
//!
//! A *plain* URL is written `https://` or `http://` with a name in lower case and a path behind it
//! that is in normal form already: no port, no address, no fragment, nothing to escape. It needs none
//! of what [`split`](super::split) and the others are prepared for, and is told from others by
//! looking at sixteen bytes at a time. Others are no worse, only slower.

#[cfg_attr(not(target_arch = "x86_64"), path = "plain/no_glance.rs")]
mod glance;

use wide::u8x16;

use super::authority::ends_in_number;
use portcullis_dialect::dialect::Escapes;
use portcullis_dialect::limits::{HOST_BYTES_MAX, URL_BYTES_MAX};
use portcullis_matcher::bytes::are_same;

pub use glance::glances;

/// Bytes that are looked at as one.
const CHUNK_BYTES: usize = 16;

/// The bytes before the path of `record`, if they are those of a plain URL and begin its first
/// byte: the scheme, `://` and the host, which is a key.
///
/// The path is not looked at, but the record is not too long and has no white space around it. So a
/// record that `may_be_plain` and begins with the same bytes, and a `/` behind them, has the same
/// scheme and key.
#[inline]
pub fn plain_head(record: &[u8]) -> Option<PlainHead> {
    if !may_be_plain(record) {
        return None;
    }
    let scheme_bytes = match record {
        [b'h', b't', b't', b'p', b's', b':', b'/', b'/', ..] => 5,
        [b'h', b't', b't', b'p', b':', b'/', b'/', ..] => 4,
        _ => return None,
    };
    let start = scheme_bytes + 3;
    let bytes = start + name_bytes(&record[start..])?;
    let host = &record[start..bytes];
    let is_key = !host.is_empty() && host.len() <= HOST_BYTES_MAX && !ends_in_number(host);
    (is_key && record.get(bytes) == Some(&b'/')).then_some(PlainHead { scheme_bytes, bytes })
}

/// What stands before the path of a plain URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlainHead {
    /// Bytes of the scheme.
    pub scheme_bytes: usize,
    /// Bytes before the path.
    pub bytes: usize,
}

impl PlainHead {
    /// The scheme of `record`, of which this is the head.
    #[inline]
    pub fn scheme(self, record: &[u8]) -> &[u8] {
        &record[..self.scheme_bytes]
    }

    /// The key of `record`, of which this is the head.
    #[inline]
    pub fn key(self, record: &[u8]) -> &[u8] {
        &record[self.scheme_bytes + 3..self.bytes]
    }

    /// Whether `record` has the same head as `other`, whose head this is.
    #[inline]
    pub fn is_shared(self, other: &[u8], record: &[u8]) -> bool {
        may_be_plain(record)
            && record.get(self.bytes) == Some(&b'/')
            && are_same(&record[..self.bytes], &other[..self.bytes])
    }
}

/// What a glance tells of a plain URL whose head is shorter than a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Glance {
    /// See [`plain_head`].
    pub head: PlainHead,
    /// Whether the record before was told of and had the same head, as in [`PlainHead::is_shared`].
    pub is_shared: bool,
    /// See [`is_plain_path`].
    pub is_plain_path: bool,
}

/// Whether no white space ends `record`, and it is not too long for a URL.
#[inline]
fn may_be_plain(record: &[u8]) -> bool {
    matches!(record, [.., b'!'..=b'~']) && record.len() <= URL_BYTES_MAX
}

/// The bytes at the start of `text` that need nothing in a host: lower-case letters, digits, `-`,
/// `.` and `_`. Nothing if all are such.
#[inline]
fn name_bytes(text: &[u8]) -> Option<usize> {
    let (chunks, rest) = text.as_chunks::<CHUNK_BYTES>();
    for (index, chunk) in chunks.iter().enumerate() {
        let chunk = u8x16::new(*chunk);
        let is_plain = is_within(chunk, b'a', b'z')
            | (is_within(chunk, b'-', b'9') & !chunk.simd_eq(u8x16::splat(b'/')))
            | chunk.simd_eq(u8x16::splat(b'_'));
        let others = !is_plain.to_bitmask() & 0xffff;
        if others != 0 {
            return Some(index * CHUNK_BYTES + others.trailing_zeros() as usize);
        }
    }
    let is_other = |byte: &u8| !matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_');
    rest.iter().position(is_other).map(|position| text.len() - rest.len() + position)
}

#[inline]
fn is_within(chunk: u8x16, first: u8, last: u8) -> u8x16 {
    chunk.max(u8x16::splat(first)).min(u8x16::splat(last)).simd_eq(chunk)
}

/// Whether the path that begins at the byte `start` of a plain `record` is, as it stands, what rules
/// are compared with. It says no of some that are.
#[inline]
pub fn is_plain_path(record: &[u8], start: usize, escapes: Escapes) -> bool {
    // The last chunk may begin before the path: what stands there is plain in every form.
    let Some(last) = record.last_chunk::<CHUNK_BYTES>() else {
        return false;
    };
    let (chunks, _) = record[start..].as_chunks::<CHUNK_BYTES>();
    let changed = |all, chunk: &[u8; CHUNK_BYTES]| all | changed(u8x16::new(*chunk), escapes);
    let any = chunks.iter().fold(changed(u8x16::ZERO, last), changed);
    any.to_bitmask() == 0
}

/// By byte of `chunk`: whether it ends the path or might change. One that does for no form is left
/// to the others; see [`normalise`](portcullis_matcher::escape::normalise).
#[inline]
fn changed(chunk: u8x16, escapes: Escapes) -> u8x16 {
    let is = |byte: u8| chunk.simd_eq(u8x16::splat(byte));
    match escapes {
        Escapes::AsWritten => is(b'#'),
        Escapes::Decoded => is(b'#') | is(b'%'),
        // Bytes outside ASCII have the highest bit, which is what a mask is made of.
        Escapes::Google => is(b'#') | is(b'%') | chunk,
        Escapes::Uri => {
            // Of two bytes that differ in a bit, both.
            let either =
                |bit: u8, byte: u8| (chunk | u8x16::splat(bit)).simd_eq(u8x16::splat(byte));
            let pairs = either(1, b'#') | either(1, b'%') | either(2, b'>') | either(2, b'^');
            let within = is_within(chunk, b'!', b'z') | is(b'~');
            !within | pairs | is(b'*') | is(b'`')
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::{compared_path, host_key, split};
    use portcullis_dialect::dialect::Dialect;

    /// What is said of a plain URL is what the usual way says.
    #[track_caller]
    fn check(record: &[u8]) -> bool {
        let Some(head) = plain_head(record) else { return false };
        let mut all = true;
        for dialect in Dialect::ALL {
            let url = split(record, dialect.paths.path_start).unwrap();
            assert_eq!(head.scheme(record), url.scheme);
            assert_eq!(head.key(record), host_key(&url, &mut Vec::new()).unwrap());
            let escapes = dialect.paths.escapes;
            let is_plain = is_plain_path(record, head.bytes, escapes);
            let mut scratch = Vec::new();
            let path = compared_path(url.path, escapes, &mut scratch);
            assert!(
                !is_plain || path.as_bytes() == &record[head.bytes..],
                "{escapes:?} {record:?}"
            );
            all &= is_plain;
        }
        all
    }

    #[test]
    fn usual_urls_are_plain() {
        for record in [
            "https://www.example.com/",
            "http://a-b_c.example0.museum/path/to?q=1&r=[2]",
            "https://a-name-that-is-longer-than-a-chunk.of.bytes.example/a/longer/path/behind-it",
        ] {
            assert!(check(record.as_bytes()), "{record}");
        }
        for record in [
            "https://EXAMPLE.com/pages",
            "https://example.com:80/pages",
            "https://joe@example.com/pages",
            "https://127.0.0.1/pages/pages",
            "https://example.com/pages\t",
            " https://example.com/pages",
            "https://example.com?pages=pages",
            "https://example.com",
            "https:///pages/pages/pages",
            "ftp://example.com/pages",
            "HTTPS://example.com/pages",
        ] {
            assert_eq!(plain_head(record.as_bytes()), None, "{record}");
        }
    }

    #[test]
    fn every_byte_in_every_place() {
        for url in
            ["http://a.example/", "https://example.com/a/page/of/some?bytes", "https://b.c/d"]
        {
            for place in 0..=url.len() {
                for byte in 0..=255 {
                    let mut record = url.as_bytes().to_vec();
                    record.insert(place, byte);
                    check(&record);
                }
            }
        }
    }

    #[test]
    fn delimiters_in_every_two_places() {
        let url = b"https://a.example/b?c#d";
        for first in 0..=url.len() {
            for second in first..=url.len() {
                for delimiters in [b";@", b"\\@", b";;", b"@;", b"@\\", b";/", b"\\/", b";?", b"#;"]
                {
                    let mut record = url.to_vec();
                    record.insert(second, delimiters[1]);
                    record.insert(first, delimiters[0]);
                    check(&record);
                }
            }
        }
    }

    #[test]
    fn heads_are_shared_whole() {
        let one = b"https://www.example.com/one";
        let head = plain_head(one).unwrap();
        assert!(head.is_shared(one, b"https://www.example.com/other"));
        for other in [
            &b"https://www.example.com"[..],
            b"https://www.example.com/other ",
            b"https://www.example.comb/other",
            b"https://www.example.cob/other",
            b"httpt://www.example.com/other",
            b"https://xww.example.com/other",
            b"https://www.example.com?other",
        ] {
            assert!(!head.is_shared(one, other));
        }
    }
}
