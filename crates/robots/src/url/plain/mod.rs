//! Plain URLs: a shortcut for most URLs, by vectors.
//!
//! A *plain* URL is `https://` or `http://`, a name in lower case, and a path in normal form or none:
//! no port, address or fragment, and nothing to escape. [`plain_urls`] recognises the URLs of a block,
//! [`plain_head`] and [`is_plain`] the two parts of one. URLs that are not plain, and some that are,
//! go through [`split`](super::split()) and [`normalise`](super::normalise), with the same result.
//!
//! Cost: a few nanoseconds a URL with AVX-512; else one pass over the bytes, 16 at a time.
//!
//! ```
//! use portcullis_dialect::Escapes;
//! use portcullis_robots::url::{is_plain, plain_head};
//! use portcullis_engine::vectors::Vectors;
//!
//! let url = b"https://example.com/a?b";
//! let head = plain_head(url).unwrap();
//! assert_eq!(head.key(url), b"example.com");
//! assert!(is_plain(&url[head.bytes..], Escapes::Uri, Vectors::detect()));
//! assert!(!is_plain(b"/a#b", Escapes::Uri, Vectors::detect()));
//! ```

#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(test)]
mod tests;

use memchr::memchr3;
use portcullis_dialect::dialect::Escapes;
use portcullis_dialect::limits::{HOST_BYTES_MAX, URL_BYTES_MAX};
use portcullis_engine::bytes::{CHUNK_BYTES, are_same, short_chunk};
use portcullis_engine::vectors::{Kind, Vectors, Work};
use wide::u8x16;

/// Returns the head of a plain URL (scheme, `://` and a host that is a key), or `None` if `record`
/// does not start with one.
///
/// The path is not read, but the record is within the limit and needs no trimming. So any record
/// that `may_be_plain` and starts with the same bytes and a `/` has the same scheme and key.
#[inline]
pub fn plain_head(record: &[u8]) -> Option<UrlHead> {
    if !may_be_plain(record) {
        return None;
    }
    let scheme_bytes = match record {
        [b'h', b't', b't', b'p', b's', b':', b'/', b'/', ..] => 5,
        [b'h', b't', b't', b'p', b':', b'/', b'/', ..] => 4,
        _ => return None,
    };
    let start = scheme_bytes + 3;
    let bytes = name_bytes(&record[start..]).map_or(record.len(), |bytes| start + bytes);
    let host = &record[start..bytes];
    let is_key = !host.is_empty() && host.len() <= HOST_BYTES_MAX && !ends_in_number(host);
    let ends = record.get(bytes).is_none_or(|&byte| byte == b'/');
    (is_key && ends).then_some(UrlHead { scheme_bytes, bytes })
}

/// The part of a plain URL before its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UrlHead {
    /// Bytes of the scheme.
    pub scheme_bytes: usize,
    /// Bytes before the path; all bytes if there is none.
    pub bytes: usize,
}

impl UrlHead {
    /// Returns the scheme of `record`, whose head this is.
    #[inline]
    pub fn scheme(self, record: &[u8]) -> &[u8] {
        &record[..self.scheme_bytes]
    }

    /// Returns the key of `record`, whose head this is.
    #[inline]
    pub fn key(self, record: &[u8]) -> &[u8] {
        &record[self.scheme_bytes + 3..self.bytes]
    }

    /// Returns whether `record` has the same head as `other`, whose head this is.
    #[inline]
    pub fn is_shared(self, other: &[u8], record: &[u8]) -> bool {
        may_be_plain(record)
            && record.get(self.bytes) == Some(&b'/')
            && are_same(&record[..self.bytes], &other[..self.bytes])
    }
}

/// Returns whether `record` ends in visible ASCII and is not too long for a URL.
#[inline]
fn may_be_plain(record: &[u8]) -> bool {
    matches!(record, [.., b'!'..=b'~']) && record.len() <= URL_BYTES_MAX
}

/// Returns the number of bytes at the start of `text` that need no change in a host: lower-case
/// letters, digits, `-`, `.` and `_`. `None` if all qualify.
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

/// Returns whether `path` is in normal form (see [`normalise`](super::normalise)), and no byte
/// of it ends a path or is a control character. False negatives are possible.
#[inline]
pub fn is_plain(path: &[u8], escapes: Escapes, vectors: Vectors) -> bool {
    vectors.run(IsPlain { path, escapes })
}

/// [`is_plain`], as part of a larger [`Work`].
#[derive(Clone, Copy)]
pub(crate) struct IsPlain<'p> {
    pub(crate) path: &'p [u8],
    pub(crate) escapes: Escapes,
}

impl Work for IsPlain<'_> {
    type Output = bool;

    #[inline(always)]
    fn with(self, kind: impl Kind) -> bool {
        let IsPlain { path, escapes } = self;
        #[cfg(target_arch = "x86_64")]
        if let Some(avx512) = kind.avx512() {
            return avx512::is_plain(avx512, path, escapes);
        }
        let _ = kind;
        is_plain_by_16(path, |chunk| changed(chunk, escapes))
    }
}

/// Returns whether the bytes of a pattern are in normal form, but for `others`. False negatives are
/// possible.
#[inline]
pub(super) fn is_plain_but<const N: usize>(
    others: &[u8; N],
    pattern: &[u8],
    escapes: Escapes,
) -> bool {
    let is_other = |chunk: u8x16, byte: &u8| chunk.simd_eq(u8x16::splat(*byte));
    is_plain_by_16(pattern, |chunk| {
        others.iter().fold(changed(chunk, escapes), |all, byte| all & !is_other(chunk, byte))
    })
}

/// Returns whether no byte of a text is among those that `changed` marks in a chunk.
#[inline(always)]
fn is_plain_by_16(path: &[u8], changed: impl Fn(u8x16) -> u8x16) -> bool {
    let Some(last) = path.last_chunk::<CHUNK_BYTES>() else {
        let own = !(u32::MAX << path.len());
        return changed(u8x16::new(short_chunk(path))).to_bitmask() & own == 0;
    };
    let (chunks, _) = path.as_chunks::<CHUNK_BYTES>();
    let changed = |all, chunk: &[u8; CHUNK_BYTES]| all | changed(u8x16::new(*chunk));
    let any = chunks.iter().fold(changed(u8x16::ZERO, last), changed);
    any.to_bitmask() == 0
}

/// Marks the bytes of `chunk` that end the path or might change, see
/// [`normalise`](super::normalise), and those that no URL has.
#[inline]
fn changed(chunk: u8x16, escapes: Escapes) -> u8x16 {
    let is = |byte: u8| chunk.simd_eq(u8x16::splat(byte));
    // TAB, CR and LF are among them.
    let controls = is_within(chunk, 0, 0x1f);
    match escapes {
        Escapes::AsWritten => is(b'#') | controls,
        Escapes::Decoded => is(b'#') | is(b'%') | controls,
        // The mask consists of the highest bits, which bytes outside ASCII have set.
        Escapes::Google => is(b'#') | is(b'%') | controls | chunk,
        Escapes::Uri => {
            // Two bytes that differ in one bit.
            let either =
                |bit: u8, byte: u8| (chunk | u8x16::splat(bit)).simd_eq(u8x16::splat(byte));
            let pairs = either(1, b'#') | either(1, b'%') | either(2, b'>') | either(2, b'^');
            let within = is_within(chunk, b'!', b'z') | is(b'~');
            !within | pairs | is(b'*') | is(b'`')
        }
    }
}

/// What [`plain_urls`] returns for a plain URL whose head is shorter than a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlainUrl {
    /// See [`plain_head`].
    pub head: UrlHead,
    /// Whether the previous record has a plain_url and the same head, as in [`UrlHead::is_shared`].
    pub is_shared: bool,
    /// See [`is_plain`].
    pub has_plain_path: bool,
}

/// Calls `each` with the plain_url at each record, in order: `None` if it is not plain, and for some
/// that are. Returns false, without a call, if these vectors have no such operation.
#[inline]
pub fn plain_urls<'r, R: AsRef<[u8]>>(
    records: &'r [R],
    escapes: Escapes,
    vectors: Vectors,
    each: impl FnMut(usize, &'r [u8], Option<PlainUrl>),
) -> bool {
    #[cfg(target_arch = "x86_64")]
    if let Some(avx512) = vectors.avx512() {
        avx512::plain_urls(avx512, records, escapes, each);
        return true;
    }
    let _ = (records, escapes, vectors, each);
    false
}

/// Returns whether TAB, CR or LF is in a URL, which is trimmed. The URL Standard (section 4.4, "basic
/// URL parser") removes these bytes; no URL has them by RFC 3986 (section 2).
#[inline]
pub fn has_tab_or_line_end(url: &[u8]) -> bool {
    memchr3(b'\t', b'\r', b'\n', url).is_some()
}

/// Returns whether the last part of `host` is a decimal or hexadecimal number, ignoring a final
/// dot. Such a host is an IPv4 address or invalid (URL Standard, section 3.5, "ends in a number").
#[inline]
pub fn ends_in_number(host: &[u8]) -> bool {
    // The last byte of most names, such as the `m` of `.com`, rules this out without a search.
    host.last().is_some_and(|byte| byte.is_ascii_hexdigit() || b"xX.".contains(byte))
        && last_part_is_number(host)
}

fn last_part_is_number(host: &[u8]) -> bool {
    let host = host.strip_suffix(b".").unwrap_or(host);
    let start = host.iter().rposition(|&byte| byte == b'.');
    let last = &host[start.map_or(0, |dot| dot + 1)..];
    match last {
        [b'0', b'x' | b'X', digits @ ..] => digits.iter().all(u8::is_ascii_hexdigit),
        [b'0'..=b'9', ..] => last.iter().all(u8::is_ascii_digit),
        _ => false,
    }
}
