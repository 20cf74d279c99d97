//! A shortcut for most URLs.
//!
//! A *plain* URL is `https://` or `http://`, a name in lower case, and a path in normal form or none: no
//! port, address or fragment, and nothing to escape. The functions here recognise one 16 bytes at a
//! time, with the same result as [`split`](super::split), [`host_key`](super::host_key) and
//! [`compared_path`](super::compared_path), which handle all other URLs.

use wide::u8x16;

use super::split::ends_in_number;
use portcullis_dialect::dialect::Escapes;
use portcullis_dialect::limits::{HOST_BYTES_MAX, URL_BYTES_MAX};
use portcullis_engine::bytes::are_same;

/// Bytes of a vector.
const CHUNK_BYTES: usize = 16;

/// Returns the head of a plain URL (scheme, `://` and a host that is a key), or `None` if `record`
/// does not start with one.
///
/// The path is not read, but the record is within the limit and needs no trimming. So any record
/// that `may_be_plain` and starts with the same bytes and a `/` has the same scheme and key.
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
    let bytes = name_bytes(&record[start..]).map_or(record.len(), |bytes| start + bytes);
    let host = &record[start..bytes];
    let is_key = !host.is_empty() && host.len() <= HOST_BYTES_MAX && !ends_in_number(host);
    let ends = record.get(bytes).is_none_or(|&byte| byte == b'/');
    (is_key && ends).then_some(PlainHead { scheme_bytes, bytes })
}

/// The part of a plain URL before its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlainHead {
    /// Bytes of the scheme.
    pub scheme_bytes: usize,
    /// Bytes before the path; all bytes if there is none.
    pub bytes: usize,
}

impl PlainHead {
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

/// What [`glances`](super::glances) returns for a plain URL whose head is shorter than a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Glance {
    /// See [`plain_head`].
    pub head: PlainHead,
    /// Whether the previous record has a glance and the same head, as in [`PlainHead::is_shared`].
    pub is_shared: bool,
    /// See [`is_plain_path`].
    pub is_plain_path: bool,
}

/// Returns whether `record` ends in visible ASCII and is not too long for a URL.
#[inline]
pub(super) fn may_be_plain(record: &[u8]) -> bool {
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

/// Returns whether the path of a plain `record`, which begins at `start`, is in normal form, or there is
/// none. False negatives are possible.
#[inline]
pub fn is_plain_path(record: &[u8], start: usize, escapes: Escapes) -> bool {
    // The last chunk may begin before the path, where every byte is plain.
    let Some(last) = record.last_chunk::<CHUNK_BYTES>() else {
        return false;
    };
    let (chunks, _) = record[start..].as_chunks::<CHUNK_BYTES>();
    let changed = |all, chunk: &[u8; CHUNK_BYTES]| all | changed(u8x16::new(*chunk), escapes);
    let any = chunks.iter().fold(changed(u8x16::ZERO, last), changed);
    any.to_bitmask() == 0
}

/// Marks the bytes of `chunk` that end the path or might change, see
/// [`normalise`](portcullis_engine::escape::normalise), and those that no URL has.
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

/// Probes of processors without the vectors: never called, because no value of `Avx512` exists.
#[cfg(not(target_arch = "x86_64"))]
pub fn glances<'r, R: AsRef<[u8]>>(
    avx512: portcullis_engine::vectors::Avx512,
    _: &'r [R],
    _: Escapes,
    _: impl FnMut(usize, &'r [u8], Option<Glance>),
) {
    match avx512 {}
}

#[cfg(test)]
mod tests {
    use super::super::split::has_tab_or_line_end;
    use super::*;
    use crate::target::{compared_path, glances, host_key, split};
    use portcullis_dialect::Dialect;
    use portcullis_engine::vectors::Vectors;

    /// Bytes of the vector that a glance reads.
    const VECTOR_BYTES: usize = 64;

    /// Returns the glances at some records, or `None` on a processor without the vectors.
    fn glances_at(records: &[&[u8]], escapes: Escapes) -> Option<Vec<Option<Glance>>> {
        let mut found = Vec::new();
        #[allow(unreachable_code, reason = "other processors have no vectors")]
        glances(Vectors::detect().avx512()?, records, escapes, |number, record, glance| {
            assert_eq!(record, records[number]);
            found.push(glance);
        });
        Some(found)
    }

    /// Compares both shortcuts with `split`, `host_key` and `compared_path`. Returns whether the
    /// URL is plain in every dialect.
    #[track_caller]
    fn check(record: &[u8]) -> bool {
        let head = plain_head(record);
        let mut all = head.is_some();
        for dialect in Dialect::ALL {
            let escapes = dialect.paths.escapes;
            if let Some(glances) = glances_at(&[record], escapes) {
                check_glance(record, glances[0], escapes);
            }
            let Some(head) = head else { continue };
            let is_plain = is_plain_path(record, head.bytes, escapes);
            if has_tab_or_line_end(record) {
                assert!(!is_plain, "{escapes:?} {record:?}");
                all = false;
                continue;
            }
            let url = split(record, dialect.paths.path_start).unwrap();
            assert_eq!(head.scheme(record), url.scheme);
            assert_eq!(head.key(record), host_key(&url, &mut Vec::new()).unwrap());
            let mut scratch = Vec::new();
            let path = compared_path(url.path, escapes, &mut scratch);
            let is_equal = path.as_bytes() == path_of(record, head);
            assert!(!is_plain || is_equal, "{escapes:?} {record:?}");
            all &= is_plain;
        }
        all
    }

    /// Returns the path as written, `/` if there is none.
    fn path_of(record: &[u8], head: PlainHead) -> &[u8] {
        match &record[head.bytes..] {
            b"" => b"/",
            path => path,
        }
    }

    /// A glance agrees with the scalar functions, or sees nothing.
    #[track_caller]
    fn check_glance(record: &[u8], glance: Option<Glance>, escapes: Escapes) {
        let Some(head) = plain_head(record) else {
            return assert_eq!(glance, None, "{record:?}");
        };
        let Some(glance) = glance else {
            // Hosts that may be addresses, and long heads, are left to `plain_head`.
            let last_part = head.key(record).rsplit(|&byte| byte == b'.').next();
            let first = last_part.and_then(|last_part| last_part.first());
            let may_be_address = first.is_none_or(u8::is_ascii_digit);
            let is_no_url = has_tab_or_line_end(record);
            return assert!(
                may_be_address || head.bytes >= VECTOR_BYTES || is_no_url,
                "{record:?}"
            );
        };
        assert_eq!(glance.head, head, "{record:?}");
        let is_plain = is_plain_path(record, head.bytes, escapes);
        // `is_plain_path` rejects the paths of the shortest URLs and all escapes, which a glance may
        // accept.
        let may_differ = record.len() < CHUNK_BYTES || record.contains(&b'%');
        assert!(glance.is_plain_path == is_plain || may_differ && !is_plain, "{record:?}");
        let mut scratch = Vec::new();
        let path = compared_path(&record[head.bytes..], escapes, &mut scratch);
        let is_equal = path.as_bytes() == path_of(record, head) && !record.contains(&b'#');
        assert!(!glance.is_plain_path || is_equal, "{record:?}");
    }

    #[test]
    fn usual_urls_are_plain() {
        for record in [
            "https://www.example.com/",
            "https://www.example.com",
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
            "https:///pages/pages/pages",
            "ftp://example.com/pages",
            "HTTPS://example.com/pages",
        ] {
            assert_eq!(plain_head(record.as_bytes()), None, "{record}");
        }
    }

    #[test]
    fn every_byte_in_every_place() {
        let long = format!("https://www.example.com/{}", "a-path/".repeat(20));
        let urls =
            ["http://a.example/", "https://example.com/a/page/of/some?bytes", "https://b.0c/d"];
        for url in urls.into_iter().chain([long.as_str()]) {
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
    fn every_escape() {
        let mut kept = 0;
        for bytes in 0..=u16::MAX {
            let [high, low] = bytes.to_be_bytes();
            let record = [b"https://a.example/dir%", &[high, low][..], b"/page"].concat();
            check(&record);
            let glances = glances_at(&[&record], Escapes::Uri);
            kept += usize::from(glances.is_none_or(|it| it[0].is_some_and(|it| it.is_plain_path)));
        }
        for place in 0..200 {
            let record = format!("https://a.example/{}%D0%BF/page", "a".repeat(place));
            check(record.as_bytes());
            if let Some(glances) = glances_at(&[record.as_bytes()], Escapes::Uri) {
                assert!(glances[0].is_some_and(|glance| glance.is_plain_path), "{record}");
            }
        }
        // Of 256 escapes in upper case, 66 are decoded, and those from 40 to 7F are not recognised.
        assert!(kept == 256 - 12 - 64 || kept == 1 << 16, "{kept}");
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
    fn hosts_and_paths_of_every_length() {
        for bytes in 0..80 {
            for host in ["a", "0", "a.0", ".", "b.example"] {
                check(format!("https://{}{host}/", "a".repeat(bytes)).as_bytes());
                check(format!("http://{}{host}?/", "a.".repeat(bytes)).as_bytes());
            }
        }
        for bytes in 1..300 {
            for (place, byte) in [(0, "/"), (bytes / 2, "%"), (bytes - 1, "#")] {
                let mut path = "a".repeat(bytes);
                path.replace_range(place..=place, byte);
                check(format!("https://a-name.of-some.bytes.example/{path}").as_bytes());
            }
        }
    }

    #[test]
    fn heads_are_shared_whole() {
        let host = "a-name.of-some.bytes.and-some-more.example";
        let one = format!("https://{host}/one");
        let head = plain_head(one.as_bytes()).unwrap();
        for (other, is_shared) in [
            (format!("https://{host}/other"), true),
            (format!("https://{host}/o%6ee"), true),
            (format!("https://{host}/one/{host}/one/{host}/%6e"), true),
            (format!("http://{host}/one"), false),
            (format!("httpt://{host}/one"), false),
            (format!("https://{host}s/one"), false),
            (format!("https://b{host}/one"), false),
            (format!("https://{host}"), false),
            (format!("https://{host}/one "), false),
            (format!("https://{host}?one/"), false),
        ] {
            assert_eq!(head.is_shared(one.as_bytes(), other.as_bytes()), is_shared, "{other}");
            let records = [one.as_bytes(), other.as_bytes(), one.as_bytes()];
            let Some(found) = glances_at(&records, Escapes::Google) else { continue };
            assert_eq!(found[1].is_some_and(|found| found.is_shared), is_shared, "{other}");
            assert_eq!(found[2].is_some_and(|found| found.is_shared), is_shared, "{other}");
            for number in 0..3 {
                let alone = glances_at(&records[number..=number], Escapes::Google).unwrap()[0];
                let unshared = found[number].map(|found| Glance { is_shared: false, ..found });
                assert_eq!(unshared, alone, "{other}");
            }
        }
    }
}
