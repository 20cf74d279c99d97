//! The kernels in portable code: the definition of each, and what they share.

use wide::u8x16;
use zerocopy::IntoBytes;
use zerocopy::little_endian::U64;

use crate::bytes::{CHUNK_BYTES, Line, bits, first_bytes, short_chunk};
use crate::filter::bloom::{cut, has};
use crate::filter::head::{Open, first_probe};
use crate::outcome::Outcome;

use super::{FOUR, Kernels, Portable};

/// Positions of a chunk whose next byte is in the chunk too.
pub(super) const POSITIONS: usize = CHUNK_BYTES - 1;

/// Positions that are searched at once.
pub(crate) const WINDOW: usize = 4 * POSITIONS;

/// Returns the mask of a chunk's valid positions: the last byte counts only if the path ends there.
#[inline]
pub(super) fn valid_positions(is_last: bool) -> u64 {
    (1 << (POSITIONS + usize::from(is_last))) - 1
}

impl Kernels for Portable {
    #[inline(always)]
    fn first_probes(
        self,
        lines: &[Line],
        starts: &[u32; FOUR],
        paths: &[&[u8]; FOUR],
    ) -> ([Outcome; FOUR], [Open; FOUR]) {
        let probe = |place: usize| first_probe(lines, starts[place] as usize, paths[place]);
        let probed: [_; FOUR] = std::array::from_fn(probe);
        (probed.map(|(outcome, _)| outcome), probed.map(|(_, open)| open))
    }

    #[inline]
    fn levels_of(self, filter: &[U64], text: &[u8], levels: u8) -> Option<u8> {
        if filter.is_empty() {
            return None;
        }
        let (bytes, mut found) = (first_bytes(text), 0);
        for level in bits(levels.into()) {
            found |= u8::from(has(filter, cut(bytes, level))?) << level;
        }
        Some(found)
    }

    fn positions(self, line: &Line, rest: &[u8]) -> u64 {
        let row = |index: usize| {
            let bytes = line.as_bytes()[index * CHUNK_BYTES..].first_chunk();
            u8x16::new(*bytes.expect("a line has four rows"))
        };
        let rows = [row(0), row(1), row(2), row(3)];
        let positions_of = |chunk: [u8; CHUNK_BYTES]| {
            let first = u8x16::new(chunk);
            let second = u8x16::new((u128::from_le_bytes(chunk) >> 8).to_le_bytes());
            let nibbles = |bytes: u8x16| (bytes & u8x16::splat(15), bytes >> 4_u32);
            let ((first_low, first_high), (second_low, second_high)) =
                (nibbles(first), nibbles(second));
            let buckets = rows[0].shuffle_zeroing(first_low)
                & rows[1].shuffle_zeroing(first_high)
                & rows[2].shuffle_zeroing(second_low)
                & rows[3].shuffle_zeroing(second_high);
            u64::from(!buckets.simd_eq(u8x16::ZERO).to_bitmask() & 0xffff)
        };
        let Some(last) = rest.len().checked_sub(CHUNK_BYTES) else {
            return positions_of(short_chunk(rest));
        };
        let starts = (0..WINDOW).step_by(POSITIONS).take_while(|&start| start < last + POSITIONS);
        starts.fold(0, |positions, start| {
            let start = start.min(last);
            let chunk = rest[start..].first_chunk();
            let found = positions_of(*chunk.expect("a chunk within the path"));
            positions | (found & valid_positions(start == last)) << start
        })
    }
}
