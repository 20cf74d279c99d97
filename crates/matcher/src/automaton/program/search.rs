//! The search for the next byte that a star's own state names.
//!
//! Most bytes of a path under a star lead back to the same state: thirteen of sixteen nodes that a
//! walk over real paths enters are that. So they are not walked but searched, sixteen bytes of the
//! path at a time, for any of the bytes of the branch.

use wide::u8x16;
use zerocopy::little_endian::U32;

use crate::automaton::chunk::{CHUNK_BYTES, short_chunk};

/// The first byte of `path`, not before `from`, that is packed in `words`, or the path's length.
///
/// Bytes that pad the last word count as well, so the caller looks again at what is found.
#[inline]
pub(super) fn find_any(words: &[U32], path: &[u8], from: usize) -> usize {
    let bytes = path.len();
    let Some(last) = bytes.checked_sub(CHUNK_BYTES) else {
        let found = matches(words, short_chunk(path)) & ((1 << bytes) - 1);
        return first_from(found, from).unwrap_or(bytes);
    };
    let mut position = from;
    while position < bytes {
        // The last chunk ends with the path, and begins before what is left of it.
        let start = position.min(last);
        let chunk = path[start..].first_chunk().expect("it ends with the path at the latest");
        let found = matches(words, *chunk);
        if let Some(found) = first_from(found, position - start) {
            return start + found;
        }
        position = start + CHUNK_BYTES;
    }
    bytes
}

/// The lowest bit of `bits` that is not before `from`.
#[inline]
fn first_from(bits: u32, from: usize) -> Option<usize> {
    let rest = bits >> from;
    (rest != 0).then_some(from + rest.trailing_zeros() as usize)
}

/// By byte of `chunk`, lowest bit first: whether it is packed in `words`.
#[inline]
fn matches(words: &[U32], chunk: [u8; CHUNK_BYTES]) -> u32 {
    let chunk = u8x16::new(chunk);
    let mut found = u8x16::ZERO;
    for word in words {
        let [first, second, third, fourth] = word.get().to_le_bytes().map(u8x16::splat);
        found |= chunk.simd_eq(first) | chunk.simd_eq(second);
        found |= chunk.simd_eq(third) | chunk.simd_eq(fourth);
    }
    found.to_bitmask()
}

#[cfg(test)]
mod tests {
    use zerocopy::FromBytes;

    use super::*;

    #[test]
    fn whatever_is_named_is_found_where_it_stands() {
        for named in [&b"c\0\0\0"[..], b"bcde", b"\x80\xff\x01zyxw\xfe", b"0123456789c9", b""] {
            let words = <[U32]>::ref_from_bytes(named).unwrap();
            for length in 0..70 {
                for at in 0..=length {
                    let mut path = vec![b'a'; length];
                    if let (Some(byte), Some(&last)) = (path.get_mut(at), named.last()) {
                        *byte = last;
                    }
                    for from in 0..=length {
                        let is_named = |byte: &u8| named.contains(byte);
                        let expected = path[from..].iter().position(is_named);
                        let expected = expected.map_or(length, |position| from + position);
                        assert_eq!(find_any(words, &path, from), expected, "{named:?} {path:?}");
                    }
                }
            }
        }
    }
}
