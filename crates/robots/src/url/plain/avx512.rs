//! Plain URLs by masks of 64 bytes.

#![allow(unsafe_code, reason = "calls vector instructions")]

use std::arch::x86_64::*;

use portcullis_dialect::dialect::Escapes;
use portcullis_engine::vectors::Avx512;

use super::{PlainUrl, UrlHead, has_tab_or_line_end, may_be_plain};

/// Bytes of a vector.
const WIDTH: usize = 64;

/// Bytes from one vector of a path to the next, which begins with the last two bytes of the one before:
/// an escape that a vector cuts off is whole in the next.
const STEP: usize = WIDTH - 2;

/// Returns a mask of the lowest `count` of 64 bits.
#[inline]
fn first_bits(count: usize) -> u64 {
    if count < WIDTH { !(u64::MAX << count) } else { u64::MAX }
}

/// Returns the first 64 bytes of `text`, padded with zeros.
///
/// The pointer of an empty text should be readable: a masked load from an unmapped page is
/// slow.
///
/// # Safety
///
/// Safe where AVX-512 F and BW are enabled; elsewhere the caller needs an [`Avx512`] as proof.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn first_bytes(text: &[u8]) -> __m512i {
    // SAFETY: the mask limits the load to the bytes of `text`.
    unsafe { _mm512_maskz_loadu_epi8(first_bits(text.len()), text.as_ptr().cast()) }
}

/// Calls `each` with the plain_url at each record, in order: `None` if it is not plain, and for some
/// that are.
#[inline]
pub(super) fn plain_urls<'r, R: AsRef<[u8]>>(
    _: Avx512,
    records: &'r [R],
    escapes: Escapes,
    each: impl FnMut(usize, &'r [u8], Option<PlainUrl>),
) {
    // SAFETY: the function only requires its instruction sets, and a value of `Avx512` proves them.
    unsafe { plain_urls_by_64(records, escapes, each) }
}

#[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt")]
fn plain_urls_by_64<'r, R: AsRef<[u8]>>(
    records: &'r [R],
    escapes: Escapes,
    mut each: impl FnMut(usize, &'r [u8], Option<PlainUrl>),
) {
    // The last record is loaded again: vector registers do not survive the call of `each`.
    let mut last: Option<(UrlHead, &[u8])> = None;
    for (number, record) in records.iter().enumerate() {
        let record = record.as_ref();
        let first = first_bytes(record);
        let same = |&(head, other): &(UrlHead, &[u8])| {
            // Including the `/` after the head.
            let bytes = u64::MAX >> (WIDTH - 1 - head.bytes);
            let same = _mm512_cmpeq_epi8_mask(first_bytes(other), first);
            // Without one, what is behind the head is padding, which equals a NUL.
            let is_behind = other.len() > head.bytes || record.len() == head.bytes;
            same & bytes == bytes && is_behind && may_be_plain(record)
        };
        let shared = last.filter(same);
        let head = match shared {
            Some((head, _)) => Some(head),
            None => head_of(record, first),
        };
        let plain_url = head.and_then(|head| {
            let has_plain_path = !path_changes(record, first, head.bytes, escapes);
            let is_url = has_plain_path || !has_tab_or_line_end(record);
            is_url.then_some(PlainUrl { head, is_shared: shared.is_some(), has_plain_path })
        });
        last = plain_url.map(|plain_url| (plain_url.head, record));
        each(number, record, plain_url);
    }
}

/// Returns the head of a plain URL that begins with `first`, or `None` if it is not plain.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt")]
fn head_of(record: &[u8], first: __m512i) -> Option<UrlHead> {
    let word = _mm_cvtsi128_si64(_mm512_castsi512_si128(first)).cast_unsigned();
    let (scheme_bytes, is_http) = scheme(word);
    let start = scheme_bytes + 3;
    let digits = within(first, b'0', b'9');
    let dots = equal(first, b'.');
    let letters = within(first, b'a', b'z');
    let names = letters | digits | dots | equal(first, b'-') | equal(first, b'_');
    let behind_start = u64::MAX << start;
    let bytes = (!names & behind_start).trailing_zeros() as usize;
    // A host whose last part is empty or begins with a digit may be an address.
    let inside = dots & first_bits(bytes) & behind_start;
    let last_part = start.max(WIDTH - inside.leading_zeros() as usize);
    let is_name = last_part < bytes && digits >> last_part & 1 == 0;
    let is_behind = equal(first, b'/') >> (bytes % WIDTH) & 1 == 1;
    let ends = is_behind | (bytes == record.len());
    let is_plain = is_http & is_name & ends & (bytes < WIDTH) & may_be_plain(record);
    is_plain.then_some(UrlHead { scheme_bytes, bytes })
}

/// Returns the length of the scheme of a URL that begins with `word`, and whether it is http or
/// https.
#[inline]
fn scheme(word: u64) -> (usize, bool) {
    const HTTPS: u64 = u64::from_le_bytes(*b"https://");
    const HTTP: u64 = u64::from_le_bytes(*b"http://\0");
    let (is_https, is_http) = (word == HTTPS, word << 8 == HTTP << 8);
    (4 + usize::from(is_https), is_https | is_http)
}

/// See [`is_plain`](super::is_plain).
#[inline(always)]
pub(super) fn is_plain(_: Avx512, path: &[u8], escapes: Escapes) -> bool {
    // SAFETY: the function only requires its instruction sets, and a value of `Avx512` proves them.
    unsafe { !path_changes(path, first_bytes(path), 0, escapes) }
}

/// Returns whether a byte of the path, which begins at `start`, ends the path or might change.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt")]
fn path_changes(record: &[u8], first: __m512i, start: usize, escapes: Escapes) -> bool {
    let own = |text: &[u8]| first_bits(if text.len() > WIDTH { STEP } else { text.len() });
    let changed_in = |text: &[u8]| changed(first_bytes(text), escapes) & own(text);
    // Half of all URLs are longer than one vector, and few than two: the second is always read.
    let mut rest = &record[STEP.min(record.len())..];
    let mut found = (changed(first, escapes) & own(record)) >> start | changed_in(rest);
    while rest.len() > WIDTH {
        rest = &rest[STEP..];
        found |= changed_in(rest);
    }
    found != 0
}

/// See the function of the same name in [`plain`](super). Unlike that one, it knows most escapes
/// that stay as they are.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt")]
fn changed(bytes: __m512i, escapes: Escapes) -> u64 {
    let any = |of: &[u8]| of.iter().fold(0, |any, &byte| any | equal(bytes, byte));
    let others = match escapes {
        // TAB, CR and LF are among the controls.
        Escapes::AsWritten => return any(b"#") | within(bytes, 0, 0x1f),
        Escapes::Decoded => return any(b"#%") | within(bytes, 0, 0x1f),
        Escapes::Google => any(b"#") | within(bytes, 0, 0x1f) | _mm512_movepi8_mask(bytes),
        Escapes::Uri => in_table(bytes, &URI_CHANGED) | _mm512_movepi8_mask(bytes),
    };
    match equal(bytes, b'%') {
        0 => others,
        percents => others | percents & !kept_escapes(bytes, escapes),
    }
}

/// The ASCII bytes that [`Escapes::Uri`] changes, and `#`: by their lower half, a bit for each upper half.
/// `%` is not among them.
const URI_CHANGED: [u8; 16] = {
    let mut table = [0; 16];
    let mut byte = 0;
    while byte < 128 {
        let is_kept = matches!(byte, b'!' | b'%' | b'&'..=b')' | b'+'..=b';' | b'=' | b'?'..=b'[')
            || matches!(byte, b']' | b'_' | b'a'..=b'z' | b'~');
        if !is_kept {
            table[byte as usize & 15] |= 1 << (byte >> 4);
        }
        byte += 1;
    }
    table
};

/// Returns the positions of the ASCII bytes in a table that has, by their lower half, a bit for each upper
/// half.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn in_table(bytes: __m512i, table: &[u8; 16]) -> u64 {
    const UPPER: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 0, 0, 0, 0, 0, 0, 0, 0];
    let rows = |table: &[u8; 16]| {
        // SAFETY: both types are sixteen bytes, and any bytes are valid.
        _mm512_broadcast_i32x4(unsafe { std::mem::transmute::<[u8; 16], __m128i>(*table) })
    };
    let upper = _mm512_and_si512(_mm512_srli_epi16::<4>(bytes), _mm512_set1_epi8(15));
    // A shuffle reads the lower half of an ASCII byte, and returns 0 for others.
    let (of_lower, of_upper) =
        (_mm512_shuffle_epi8(rows(table), bytes), _mm512_shuffle_epi8(rows(&UPPER), upper));
    _mm512_test_epi8_mask(of_lower, of_upper)
}

/// Returns the positions before two digits that form an escape which stays as it is: both in upper case,
/// and for [`Escapes::Uri`] not of a character that is decoded. Some are not recognised: those from 40
/// to 7F that are not decoded, and those that the vector cuts off.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt")]
fn kept_escapes(bytes: __m512i, escapes: Escapes) -> u64 {
    let (numbers, letters) = (within(bytes, b'0', b'9'), within(bytes, b'A', b'F'));
    let hex = numbers | letters;
    if escapes != Escapes::Uri {
        return hex >> 1 & hex >> 2;
    }
    // `-` and `.` are 2D and 2E, digits 30 to 39; no unreserved character is outside 20 to 7F.
    let others = (letters | within(bytes, b'8', b'9') | within(bytes, b'0', b'1')) >> 1 & hex >> 2;
    let after_two = hex & !within(bytes, b'D', b'E');
    let (two, three) = (equal(bytes, b'2'), equal(bytes, b'3'));
    others | two >> 1 & after_two >> 2 | three >> 1 & letters >> 2
}

/// Returns the positions of `byte`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn equal(bytes: __m512i, byte: u8) -> u64 {
    _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(byte.cast_signed()))
}

/// Returns the positions of bytes from `first` to `last`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn within(bytes: __m512i, first: u8, last: u8) -> u64 {
    let above = _mm512_sub_epi8(bytes, _mm512_set1_epi8(first.cast_signed()));
    _mm512_cmple_epu8_mask(above, _mm512_set1_epi8((last - first).cast_signed()))
}
