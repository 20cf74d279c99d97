//! A plain URL told at a glance, by vectors of 64 bytes: the same as the parent tells step by step.
//!
//! Which bytes of a URL are of a kind is one number with a bit for each. What is read in steps otherwise, of
//! which the processor guesses where each ends, is a few operations on such numbers.

#![allow(unsafe_code, reason = "calls vector instructions")]

use std::arch::x86_64::{
    __m512i, _mm_cvtsi128_si64, _mm512_castsi512_si128, _mm512_cmpeq_epi8_mask,
    _mm512_cmple_epu8_mask, _mm512_movepi8_mask, _mm512_set1_epi8, _mm512_sub_epi8,
};

use portcullis_dialect::dialect::Escapes;
use portcullis_matcher::vectors::{Avx512, first_bits, first_bytes};

use super::{Glance, PlainHead, may_be_plain};

/// Bytes of a vector.
const WIDTH: usize = 64;

/// Looks at records and hands out what is told of each, in order: nothing of one that is not plain, and of
/// some that are.
#[inline]
pub fn glances<'r, R: AsRef<[u8]>>(
    _: Avx512,
    records: &'r [R],
    escapes: Escapes,
    each: impl FnMut(usize, &'r [u8], Option<Glance>),
) {
    // SAFETY: the function has no duty but to be called where its instructions are, and the value
    // says that they are.
    unsafe { glances_by_64(records, escapes, each) }
}

#[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt")]
fn glances_by_64<'r, R: AsRef<[u8]>>(
    records: &'r [R],
    escapes: Escapes,
    mut each: impl FnMut(usize, &'r [u8], Option<Glance>),
) {
    // The bytes of the last one are read again: a vector does not outlive a call in a register.
    let mut last: Option<(PlainHead, &[u8])> = None;
    for (number, record) in records.iter().enumerate() {
        let record = record.as_ref();
        let first = first_bytes(record);
        let same = |&(head, other): &(PlainHead, &[u8])| {
            // With the `/` behind it.
            let bytes = u64::MAX >> (WIDTH - 1 - head.bytes);
            let same = _mm512_cmpeq_epi8_mask(first_bytes(other), first);
            same & bytes == bytes && may_be_plain(record)
        };
        let shared = last.filter(same);
        let head = match shared {
            Some((head, _)) => Some(head),
            None => head_of(record, first),
        };
        let glance = head.map(|head| Glance {
            head,
            is_shared: shared.is_some(),
            is_plain_path: !path_changes(record, first, head.bytes, escapes),
        });
        last = head.map(|head| (head, record));
        each(number, record, glance);
    }
}

/// The head of a plain URL that begins with the bytes `first`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt")]
fn head_of(record: &[u8], first: __m512i) -> Option<PlainHead> {
    let word = _mm_cvtsi128_si64(_mm512_castsi512_si128(first)).cast_unsigned();
    let (scheme_bytes, is_http) = scheme(word);
    let start = scheme_bytes + 3;
    let digits = within(first, b'0', b'9');
    let dots = equal(first, b'.');
    let letters = within(first, b'a', b'z');
    let names = letters | digits | dots | equal(first, b'-') | equal(first, b'_');
    let behind_start = u64::MAX << start;
    let bytes = (!names & behind_start).trailing_zeros() as usize;
    // If the host's last part is empty or begins with a digit, it may be an address.
    let inside = dots & first_bits(bytes) & behind_start;
    let last_part = start.max(WIDTH - inside.leading_zeros() as usize);
    let is_name = last_part < bytes && digits >> last_part & 1 == 0;
    let is_behind = equal(first, b'/') >> (bytes % WIDTH) & 1 == 1;
    let is_plain = is_http & is_name & is_behind & (bytes < WIDTH) & may_be_plain(record);
    is_plain.then_some(PlainHead { scheme_bytes, bytes })
}

/// The bytes of the scheme of a URL that begins with `word`, and whether it is one of ours.
#[inline]
fn scheme(word: u64) -> (usize, bool) {
    const HTTPS: u64 = u64::from_le_bytes(*b"https://");
    const HTTP: u64 = u64::from_le_bytes(*b"http://\0");
    let (is_https, is_http) = (word == HTTPS, word << 8 == HTTP << 8);
    (4 + usize::from(is_https), is_https | is_http)
}

/// Whether a byte of the path, which begins at `start` among the first 64, ends it or might change.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt")]
fn path_changes(record: &[u8], first: __m512i, start: usize, escapes: Escapes) -> bool {
    let changed_in = |text: &[u8]| changed(first_bytes(text), escapes) & first_bits(text.len());
    // Half of all URLs are longer than a vector, and few than two: the second one is always looked at.
    let rest = &record[WIDTH.min(record.len())..];
    let mut found =
        (changed(first, escapes) & first_bits(record.len())) >> start | changed_in(rest);
    if rest.len() > WIDTH {
        found |= rest[WIDTH..].chunks(WIDTH).fold(0, |found, chunk| found | changed_in(chunk));
    }
    found != 0
}

/// See [`changed`](super::changed).
#[inline]
#[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt")]
fn changed(bytes: __m512i, escapes: Escapes) -> u64 {
    let any = |of: &[u8]| of.iter().fold(0, |any, &byte| any | equal(bytes, byte));
    match escapes {
        Escapes::AsWritten => any(b"#"),
        Escapes::Decoded => any(b"#%"),
        Escapes::Google => any(b"#%") | _mm512_movepi8_mask(bytes),
        Escapes::Uri => {
            let is_within = within(bytes, b'!', b'z') | any(b"~");
            !is_within | any(b"\"#$%*<>\\^`")
        }
    }
}

/// The places that have this byte.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn equal(bytes: __m512i, byte: u8) -> u64 {
    _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(byte.cast_signed()))
}

/// The places that have a byte from `first` to `last`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn within(bytes: __m512i, first: u8, last: u8) -> u64 {
    let above = _mm512_sub_epi8(bytes, _mm512_set1_epi8(first.cast_signed()));
    _mm512_cmple_epu8_mask(above, _mm512_set1_epi8((last - first).cast_signed()))
}

#[cfg(test)]
mod tests {
    use super::super::{is_plain_path, plain_head};
    use super::*;
    use crate::target::{compared_path, split};
    use portcullis_dialect::dialect::Dialect;
    use portcullis_matcher::vectors::Vectors;

    fn told_of(records: &[&[u8]], escapes: Escapes) -> Option<Vec<Option<Glance>>> {
        let mut told = Vec::new();
        glances(Vectors::detect().avx512()?, records, escapes, |number, record, glance| {
            assert_eq!(record, records[number]);
            told.push(glance);
        });
        Some(told)
    }

    /// A glance tells the same as the steps, or nothing.
    #[track_caller]
    fn check(record: &[u8]) {
        for dialect in Dialect::ALL {
            let escapes = dialect.paths.escapes;
            let head = plain_head(record);
            match (told_of(&[record], escapes).as_deref(), head) {
                (None, _) | (Some([None]), None) => {}
                (Some([Some(told)]), _) => {
                    assert_eq!(Some(told.head), head, "{record:?}");
                    let is_plain = is_plain_path(record, told.head.bytes, escapes);
                    // Steps say no of the paths of the shortest URLs.
                    assert!(told.is_plain_path == is_plain || record.len() < 16, "{record:?}");
                    let url = split(record, dialect.paths.path_start).unwrap();
                    let mut scratch = Vec::new();
                    let path = compared_path(url.path, escapes, &mut scratch);
                    assert!(!told.is_plain_path || path.as_bytes() == &record[told.head.bytes..]);
                }
                (Some(_), head) => {
                    let head = head.expect("one record");
                    let last_part = head.key(record).rsplit(|&byte| byte == b'.').next();
                    let first = last_part.and_then(|last_part| last_part.first());
                    let may_be_address = first.is_none_or(u8::is_ascii_digit);
                    assert!(may_be_address || head.bytes >= WIDTH, "{record:?}");
                }
            }
        }
    }

    #[test]
    fn every_byte_in_every_place() {
        let long = format!("https://www.example.com/{}", "a-path/".repeat(20));
        for url in ["http://a.example/", "https://example.com/a?b", "https://b.0c/d", &long] {
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
        for (other, is_shared) in [
            (format!("https://{host}/other"), true),
            (format!("https://{host}/o%6ee"), true),
            (format!("https://{host}/one/{host}/one/{host}/%6e"), true),
            (format!("http://{host}/one"), false),
            (format!("https://{host}s/one"), false),
            (format!("https://b{host}/one"), false),
            (format!("https://{host}"), false),
            (format!("https://{host}/one "), false),
            (format!("https://{host}?one/"), false),
        ] {
            let records = [one.as_bytes(), other.as_bytes(), one.as_bytes()];
            let Some(told) = told_of(&records, Escapes::Google) else { return };
            assert_eq!(told[1].is_some_and(|told| told.is_shared), is_shared, "{other}");
            assert_eq!(told[2].is_some_and(|told| told.is_shared), is_shared, "{other}");
            let alone = |it: usize| told_of(&records[it..=it], Escapes::Google).unwrap()[0];
            for number in 0..3 {
                let unshared = told[number].map(|told| Glance { is_shared: false, ..told });
                assert_eq!(unshared, alone(number), "{other}");
            }
        }
    }
}
