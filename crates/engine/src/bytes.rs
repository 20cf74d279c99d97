//! Code that several modules share: the unit of a rule set, and helpers on bytes: hex digits, percent
//! triplets, varints, and the first bytes of a text as one number.

use wide::u32x8;
use zerocopy::little_endian::{U32, U64};

/// A line of a rule set: 64 bytes, the size of a cache line.
pub type Line = [U64; LINE_WORDS];

/// Words of a line.
pub(crate) const LINE_WORDS: usize = 8;

/// Returns the value of a hexadecimal digit in either case, `None` for other bytes.
#[inline]
pub fn hex_value(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        b'A'..=b'F' => Some(byte - b'A' + 10),
        _ => None,
    }
}

/// Decodes the percent triplet (`%41`) at the start of `text` (RFC 3986, section 2.1); `None` if
/// there is none.
///
/// ```
/// use portcullis_engine::bytes::percent_triplet;
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

/// Appends `byte` as a percent triplet with upper-case digits (RFC 3986, section 2.1).
#[inline]
pub fn push_percent_triplet(out: &mut Vec<u8>, byte: u8) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    out.extend([b'%', DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
}

/// Returns whether two short texts, such as host names, are equal; faster than a call of `memcmp`.
#[inline]
pub fn are_same(one: &[u8], other: &[u8]) -> bool {
    // Compares overlapping pieces, the last one first: hosts mostly differ at their ends.
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

/// Returns how many bytes two texts have in common before they differ.
pub fn shared_bytes(one: &[u8], other: &[u8]) -> usize {
    let (pieces, _) = one.as_chunks::<8>();
    let (others, _) = other.as_chunks::<8>();
    let same = 8 * pieces.iter().zip(others).take_while(|(a, b)| a == b).count();
    same + one[same..].iter().zip(&other[same..]).take_while(|(a, b)| a == b).count()
}

/// Returns a mask of the words that equal `word`, the first one lowest.
#[inline]
pub fn places_of(word: u32, words: &[U32; 8]) -> u32 {
    let words: [u32; 8] = zerocopy::transmute!(*words);
    u32x8::new(words).simd_eq(u32x8::splat(word.to_le())).to_bitmask()
}

/// Removes the bytes of `set` from both ends of `text`.
#[inline]
pub fn trim<'a>(text: &'a [u8], set: &[u8]) -> &'a [u8] {
    let Some(start) = text.iter().position(|byte| !set.contains(byte)) else {
        return &text[text.len()..];
    };
    let end = text.iter().rposition(|byte| !set.contains(byte)).map_or(start, |last| last + 1);
    &text[start..end]
}

/// Appends `number` as a varint: seven bits per byte, the lowest first; the high bit of a byte says
/// that more bytes follow.
#[inline]
pub fn push_varint(out: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Appends varints. Nearly all have one byte, and are appended at once.
#[inline]
pub fn push_varints<const N: usize>(out: &mut Vec<u8>, numbers: [u32; N]) {
    let (mut bytes, mut bits) = ([0; N], 0);
    for (byte, number) in bytes.iter_mut().zip(numbers) {
        *byte = number as u8;
        bits |= number;
    }
    match bits < 0x80 {
        true => out.extend_from_slice(&bytes),
        false => numbers.into_iter().for_each(|number| push_varint(out, number)),
    }
}

/// The longest varint of a `u32`.
const VARINT_BYTES_MAX: usize = 5;

/// Takes a varint off the front of `bytes`; `None` if [`push_varint`] could not have written it.
#[inline]
pub fn take_varint(bytes: &mut &[u8]) -> Option<u32> {
    let (&first, rest) = bytes.split_first()?;
    if first < 0x80 {
        *bytes = rest;
        return Some(u32::from(first));
    }
    take_long_varint(bytes)
}

/// Takes varints off the front of `bytes`, as [`take_varint`] does.
#[inline]
pub fn take_varints<const N: usize>(bytes: &mut &[u8]) -> Option<[u32; N]> {
    let mut numbers = [0; N];
    if let Some((firsts, rest)) = bytes.split_first_chunk::<N>() {
        let mut bits = 0;
        for (number, &first) in numbers.iter_mut().zip(firsts) {
            *number = u32::from(first);
            bits |= first;
        }
        if bits < 0x80 {
            *bytes = rest;
            return Some(numbers);
        }
    }
    for number in &mut numbers {
        *number = take_varint(bytes)?;
    }
    Some(numbers)
}

fn take_long_varint(bytes: &mut &[u8]) -> Option<u32> {
    let length = 1 + bytes.iter().take(VARINT_BYTES_MAX).position(|&byte| byte < 0x80)?;
    let (own, rest) = bytes.split_at(length);
    let number = own.iter().rev().fold(0, |number, &byte| number << 7 | u64::from(byte & 0x7F));
    *bytes = rest;
    // The shortest form does not end with a zero byte.
    if own.last() == Some(&0) { None } else { u32::try_from(number).ok() }
}

/// Bytes of a chunk, the unit of 16-byte vectors.
pub const CHUNK_BYTES: usize = 16;

/// Returns the first [`CHUNK_BYTES`] of `text` as a little-endian number, padded with zeros.
#[inline]
pub fn first_bytes(text: &[u8]) -> u128 {
    u128::from_le_bytes(match text.first_chunk() {
        Some(chunk) => *chunk,
        None => short_chunk(text),
    })
}

/// Returns a text shorter than a chunk, padded with zeros.
#[inline]
pub fn short_chunk(text: &[u8]) -> [u8; CHUNK_BYTES] {
    let halves = |low: u64, high: u64| (u128::from(low) | u128::from(high) << 64).to_le_bytes();
    // Two overlapping loads are faster than a copy of unknown length.
    if let (Some(start), Some(end)) = (text.first_chunk(), text.last_chunk()) {
        let (start, end) = (u64::from_le_bytes(*start), u64::from_le_bytes(*end));
        let beyond = text.len() - 8;
        // The high half is the part of `end` after the first eight bytes.
        return match beyond {
            0 => halves(start, 0),
            _ => halves(start, end >> ((8 - beyond) * 8)),
        };
    }
    if let (Some(start), Some(end)) = (text.first_chunk(), text.last_chunk()) {
        let (start, end) = (u32::from_le_bytes(*start), u32::from_le_bytes(*end));
        return halves(u64::from(start) | u64::from(end) << ((text.len() - 4) * 8), 0);
    }
    let byte = |index: usize| u64::from(text.get(index).copied().unwrap_or(0)) << (index * 8);
    halves(byte(0) | byte(1) | byte(2), 0)
}

/// Iterates over the positions of the bits that are set, from the lowest on.
#[inline]
pub(crate) fn bits(mut bits: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let place = bits.trailing_zeros() as usize;
        let is_there = bits != 0;
        bits &= bits.wrapping_sub(1);
        is_there.then_some(place)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn varints_survive_a_round_trip() {
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
    fn texts_of_every_length_are_compared_and_padded() {
        for length in 0..70 {
            let text: Vec<u8> = (1..=length).collect();
            assert!(are_same(&text, &text.clone()));
            assert!(!are_same(&text, &[&text[..], b"a"].concat()));
            for place in 0..text.len() {
                let mut other = text.clone();
                other[place] ^= 0x80;
                assert!(!are_same(&text, &other), "{length} {place}");
            }
            let padded = |index: usize| text.get(index).copied().unwrap_or(0);
            assert_eq!(first_bytes(&text).to_le_bytes(), std::array::from_fn(padded), "{length}");
        }
    }
}
