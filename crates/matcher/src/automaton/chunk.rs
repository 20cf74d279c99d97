//! Some bytes of a path as one number, where fewer may be left.

/// Bytes that are looked at in one piece.
pub(super) const CHUNK_BYTES: usize = 16;

/// The first bytes of `text`, the first one lowest, and zeros behind them.
#[inline]
pub(super) fn first_bytes(text: &[u8]) -> u128 {
    u128::from_le_bytes(match text.first_chunk() {
        Some(chunk) => *chunk,
        None => short_chunk(text),
    })
}

/// The eight bytes of `text` from `from` on, the first one lowest, and zeros behind its end.
#[inline]
pub(super) fn bytes_from(text: &[u8], from: usize) -> u64 {
    const BYTES: usize = size_of::<u64>();
    let (start, bytes) = match text.len().checked_sub(BYTES) {
        Some(last) => {
            let start = from.min(last);
            let chunk = text[start..].first_chunk();
            (start, u64::from_le_bytes(*chunk.expect("it ends with the text at the latest")))
        }
        None => (0, u128::from_le_bytes(short_chunk(text)) as u64),
    };
    // Without those before `from`. In two steps, because eight bytes are too many for one.
    let before = (from - start).min(BYTES) * 4;
    bytes >> before >> before
}

/// The bytes of a text shorter than a chunk, and zeros behind them.
#[inline]
pub(super) fn short_chunk(text: &[u8]) -> [u8; CHUNK_BYTES] {
    let halves = |low: u64, high: u64| (u128::from(low) | u128::from(high) << 64).to_le_bytes();
    // Two loads that overlap stand for a copy whose length is not known.
    if let (Some(start), Some(end)) = (text.first_chunk(), text.last_chunk()) {
        let (start, end) = (u64::from_le_bytes(*start), u64::from_le_bytes(*end));
        let beyond = text.len() - 8;
        // The high half is what the end has beyond the first eight bytes.
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

/// The places of the bits that are set, from the lowest on.
#[inline]
pub(super) fn bits(mut bits: u32) -> impl Iterator<Item = usize> {
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
    fn bytes_from_anywhere_are_the_rest_and_zeros() {
        for length in 0..20 {
            let text: Vec<u8> = (1..=length as u8).collect();
            for from in 0..length + 10 {
                let bytes = bytes_from(&text, from).to_le_bytes();
                let expected = |index: usize| text.get(from + index).copied().unwrap_or(0);
                assert_eq!(bytes, std::array::from_fn(expected), "{length} {from}");
            }
        }
    }

    #[test]
    fn chunks_are_the_text_and_zeros() {
        for length in 0..=CHUNK_BYTES + 3 {
            let text: Vec<u8> = (1..=length as u8).collect();
            let chunk = first_bytes(&text).to_le_bytes();
            let kept = length.min(CHUNK_BYTES);
            assert_eq!(chunk[..kept], text[..kept]);
            assert!(chunk[kept..].iter().all(|&byte| byte == 0));
        }
    }
}
