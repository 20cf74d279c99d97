//! Helpers on bytes that several layers need: white space, hex digits, percent triplets and a hash.

use std::hash::BuildHasher;
use std::sync::LazyLock;

use foldhash::quality::RandomState;

/// The value of a hexadecimal digit, in either case.
#[inline]
pub fn hex_value(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        b'A'..=b'F' => Some(byte - b'A' + 10),
        _ => None,
    }
}

/// The byte that a percent triplet (`%41`) at the start of `text` stands for (RFC 3986, 2.1).
///
/// ```
/// use portcullis_matcher::bytes::percent_triplet;
///
/// assert_eq!(percent_triplet(b"%41bc"), Some(b'A'));
/// assert_eq!(percent_triplet(b"%4"), None);
/// ```
#[inline]
pub fn percent_triplet(text: &[u8]) -> Option<u8> {
    match *text {
        [b'%', high, low, ..] => Some(hex_value(high)? << 4 | hex_value(low)?),
        _ => None,
    }
}

/// Appends `byte` to `out` as a percent triplet with upper-case digits (RFC 3986, 2.1).
#[inline]
pub fn push_percent_triplet(out: &mut Vec<u8>, byte: u8) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    out.extend([b'%', DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
}

/// Returns a hash of `bytes` for tables in memory. It differs from process to process, so nobody can
/// choose byte strings that collide; it must not reach any output.
///
/// ```
/// use portcullis_matcher::bytes::seeded_hash;
///
/// assert_eq!(seeded_hash(b"a"), seeded_hash(b"a"));
/// assert_ne!(seeded_hash(b"a"), seeded_hash(b"b"));
/// ```
pub fn seeded_hash(bytes: &[u8]) -> u64 {
    static HASHER: LazyLock<RandomState> = LazyLock::new(RandomState::default);
    HASHER.hash_one(bytes)
}

/// Whether two short texts are equal, such as names of hosts: a call costs more than they do.
///
/// ```
/// use portcullis_matcher::bytes::are_same;
///
/// assert!(are_same(b"www.example.com", b"www.example.com"));
/// assert!(!are_same(b"www.example.com", b"www.example.org"));
/// ```
#[inline]
pub fn are_same(one: &[u8], other: &[u8]) -> bool {
    // Pieces of both that overlap. From the end, where hosts differ.
    macro_rules! by_pieces {
        ($number:ty) => {{
            const BYTES: usize = size_of::<$number>();
            if let (Some(one_last), Some(other_last)) = (one.last_chunk(), other.last_chunk()) {
                let number = |piece: &[u8; BYTES]| <$number>::from_ne_bytes(*piece);
                let (pieces, others) = (one.as_chunks().0.iter(), other.as_chunks().0);
                return number(one_last) == number(other_last)
                    && pieces.zip(others).all(|(one, other)| number(one) == number(other));
            }
        }};
    }
    if one.len() != other.len() {
        return false;
    }
    by_pieces!(u128);
    by_pieces!(u64);
    by_pieces!(u32);
    one.iter().zip(other).all(|(one, other)| one == other)
}

/// `text` without the bytes of `set` at both its ends.
#[inline]
pub fn trim<'a>(text: &'a [u8], set: &[u8]) -> &'a [u8] {
    let Some(start) = text.iter().position(|byte| !set.contains(byte)) else {
        return &text[text.len()..];
    };
    let end = text.iter().rposition(|byte| !set.contains(byte)).map_or(start, |last| last + 1);
    &text[start..end]
}
/// Appends a number, seven bits a byte, the lowest first; the eighth bit says that more follow.
pub fn push_varint(out: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Bytes that a `u32` needs at most in this form.
const VARINT_BYTES_MAX: usize = 5;

/// Takes a number off the front of `bytes`; nothing if there is none that [`push_varint`] could
/// have written.
#[inline]
pub fn take_varint(bytes: &mut &[u8]) -> Option<u32> {
    let (&first, rest) = bytes.split_first()?;
    if first < 0x80 {
        *bytes = rest;
        return Some(u32::from(first));
    }
    take_long_varint(bytes)
}

fn take_long_varint(bytes: &mut &[u8]) -> Option<u32> {
    let length = 1 + bytes.iter().take(VARINT_BYTES_MAX).position(|&byte| byte < 0x80)?;
    let (own, rest) = bytes.split_at(length);
    let number = own.iter().rev().fold(0, |number, &byte| number << 7 | u64::from(byte & 0x7F));
    *bytes = rest;
    // The last byte of the shortest form is not zero.
    if own.last() == Some(&0) { None } else { u32::try_from(number).ok() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn varints_come_back() {
        for number in [0, 1, 127, 128, 255, 16_383, 16_384, 1 << 21, 1 << 28, u32::MAX] {
            let mut bytes = Vec::new();
            push_varint(&mut bytes, number);
            assert!(bytes.len() <= VARINT_BYTES_MAX);
            for cut in 0..bytes.len() {
                assert_eq!(take_varint(&mut &bytes[..cut]), None, "{number}");
            }
            bytes.push(9);
            let mut rest = bytes.as_slice();
            assert_eq!(take_varint(&mut rest), Some(number));
            assert_eq!(rest, [9]);
        }
        for odd in [&[0x80, 0][..], &[0xff, 0xff, 0xff, 0xff, 0x1f], &[0x80; 6]] {
            assert_eq!(take_varint(&mut &odd[..]), None, "{odd:?}");
        }
    }

    #[test]
    fn texts_are_the_same_if_all_bytes_are() {
        for length in 0..70 {
            let text: Vec<u8> = (1..=length).collect();
            assert!(are_same(&text, &text.clone()));
            assert!(!are_same(&text, &[&text[..], b"a"].concat()));
            for place in 0..text.len() {
                let mut other = text.clone();
                other[place] ^= 0x80;
                assert!(!are_same(&text, &other), "{length} {place}");
            }
        }
    }
}
