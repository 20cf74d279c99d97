//! Searches in texts that are so short that a call of a library's search would take as long.

use wide::{u8x16, u8x32};

/// Returns the first place of one of two bytes.
#[inline]
pub(super) fn first_of([one, other]: [u8; 2], text: &[u8]) -> Option<usize> {
    let places = |chunk: &[u8; 16]| {
        let chunk = u8x16::new(*chunk);
        let found = chunk.simd_eq(u8x16::splat(one)) | chunk.simd_eq(u8x16::splat(other));
        found.to_bitmask() & 0xffff
    };
    // Most words end in the first bytes.
    let first = text.first_chunk().map_or(0, places);
    if first != 0 {
        return Some(first.trailing_zeros() as usize);
    }
    let (chunks, rest) = text.as_chunks::<16>();
    for (number, chunk) in chunks.iter().enumerate() {
        let found = places(chunk);
        if found != 0 {
            return Some(16 * number + found.trailing_zeros() as usize);
        }
    }
    if let Some(last) = text.last_chunk::<16>() {
        // None of the bytes before the rest is one of the two.
        let found = places(last);
        return (found != 0).then(|| text.len() - 16 + found.trailing_zeros() as usize);
    }
    rest.iter().position(|byte| *byte == one || *byte == other)
}

/// Whether all bytes of a text are above another one. Loops over many texts are
/// [`Work`](portcullis_engine::vectors::Work).
#[inline(always)]
pub(super) fn are_above(least: u8, text: &[u8]) -> bool {
    if let Some(last) = text.last_chunk::<32>() {
        let is_above = |chunk: &[u8; 32]| {
            let chunk = u8x32::new(*chunk);
            chunk.min(u8x32::splat(least)).simd_eq(chunk).to_bitmask() == 0
        };
        return is_above(last) && text.as_chunks::<32>().0.iter().all(is_above);
    }
    let is_above = |chunk: &[u8; 16]| {
        let chunk = u8x16::new(*chunk);
        chunk.min(u8x16::splat(least)).simd_eq(chunk).to_bitmask() & 0xffff == 0
    };
    let Some(last) = text.last_chunk::<16>() else { return text.iter().all(|byte| *byte > least) };
    text.as_chunks::<16>().0.iter().all(is_above) && is_above(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_in_every_place_of_texts_of_every_length() {
        for bytes in 0..70 {
            let text = vec![b'x'; bytes];
            assert_eq!(first_of([b' ', b'"'], &text), None, "{bytes}");
            assert!(are_above(b'\r', &text), "{bytes}");
            for place in 0..bytes {
                let mut text = text.clone();
                text[place] = if place % 2 == 0 { b' ' } else { b'"' };
                assert_eq!(first_of([b' ', b'"'], &text), Some(place), "{bytes} {place}");
                assert!(are_above(b'\r', &text), "{bytes} {place}");
                text[place..].fill(b' ');
                assert_eq!(first_of([b' ', b'"'], &text), Some(place), "{bytes} {place}");
                for (byte, is_above) in [(0, false), (b'\r', false), (0x0e, true), (0xff, true)] {
                    text[place] = byte;
                    assert_eq!(are_above(b'\r', &text), is_above, "{bytes} {place} {byte}");
                }
            }
        }
    }
}
