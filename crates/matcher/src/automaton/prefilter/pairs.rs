//! Whether one of many pairs of bytes stands in a path.
//!
//! A pattern behind a star may begin anywhere, so each place of the path has to be looked at. Sixteen are
//! at once: a byte's two halves each name a row of eight bits, one for each of eight *buckets* of
//! pairs, and a bucket whose bit is in the rows of both halves of a byte and of both halves of the next
//! has a pair that may stand there. It is the way that Hyperscan's Teddy finds the beginnings of literals.

use wide::u8x16;
use zerocopy::IntoBytes;
use zerocopy::little_endian::U64;

use crate::automaton::chunk::{CHUNK_BYTES, short_chunk};

use super::{LINE_WORDS, PrefilterLine, Probe};

/// Sets of pairs that are told apart.
const BUCKETS: usize = 8;

/// Pairs beyond which they are not told from others.
const PAIRS_MAX: usize = 128;

/// What stands at a place of a path and behind it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Pair {
    first: u8,
    second: Second,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Second {
    Byte(u8),
    /// Any byte, or the path's end.
    Any,
}

/// The byte that is read behind the end of a path.
const END: u8 = 0;

impl Pair {
    /// What `stretch` begins with; behind it the path ends if `is_whole`.
    pub(super) fn of(stretch: &[u8], is_whole: bool) -> Pair {
        let end = if is_whole { Second::Byte(END) } else { Second::Any };
        let second = stretch.get(1).map_or(end, |&byte| Second::Byte(byte));
        Pair { first: stretch.first().copied().unwrap_or(END), second }
    }

    /// How often it stands in a path, in no unit.
    pub(super) fn frequency(self) -> u32 {
        let second = match self.second {
            Second::Byte(byte) => FREQUENCIES[usize::from(byte)],
            Second::Any => 1000,
        };
        // Endings of files are where both bytes stand together.
        let times = match self {
            Pair { first: b'.', second: Second::Byte(b'h' | b'p') } => 8,
            _ => 1,
        };
        u32::from(FREQUENCIES[usize::from(self.first)]) * u32::from(second) * times
    }
}

/// How often a byte comes in paths, in thousandths or so.
const FREQUENCIES: [u16; 256] = {
    let mut frequencies = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        frequencies[byte] = match byte as u8 {
            b'/' | b'e' | b'a' => 70,
            b'-' | b'i' | b'n' | b'o' | b'r' | b's' | b't' => 50,
            b'c' | b'd' | b'l' | b'm' | b'p' | b'u' | b'0'..=b'2' => 25,
            b'a'..=b'z' | b'3'..=b'9' => 12,
            b'.' | b'_' | b'%' | b'A'..=b'Z' => 6,
            _ => 2,
        };
        byte += 1;
    }
    frequencies
};

/// The pairs of one bucket: by half of a byte, lowest bit first, the low and the high one of the
/// first byte, then those of the second.
#[derive(Clone, Copy, Default)]
struct Bucket([u16; 4]);

impl Bucket {
    fn of(pair: Pair) -> Bucket {
        let halves = |byte: u8| [1 << (byte & 15), 1 << (byte >> 4)];
        let [first_low, first_high] = halves(pair.first);
        let [second_low, second_high] = match pair.second {
            Second::Byte(byte) => halves(byte),
            Second::Any => [u16::MAX; 2],
        };
        Bucket([first_low, first_high, second_low, second_high])
    }

    fn with(self, other: Bucket) -> Bucket {
        Bucket(std::array::from_fn(|index| self.0[index] | other.0[index]))
    }

    /// How often something is taken for one of these pairs, in no unit.
    fn cost(self) -> u32 {
        let [first_low, first_high, second_low, second_high] = self.0;
        frequency(first_low, first_high) * frequency(second_low, second_high)
    }
}

/// How often a byte comes that has these halves, in no unit; the sum for all bytes is the most.
fn frequency(low: u16, high: u16) -> u32 {
    let bits = |halves: u16| (0..16_u8).filter(move |bit| halves >> bit & 1 != 0);
    let of_byte = |high, low| u32::from(FREQUENCIES[usize::from(high << 4 | low)]);
    bits(high).flat_map(|high| bits(low).map(move |low| of_byte(high, low))).sum()
}

/// Puts each pair where it is confused with others least; nothing if there are too many to tell much.
fn buckets_of(mut pairs: Vec<Pair>) -> Option<[Bucket; BUCKETS]> {
    pairs.sort_unstable();
    pairs.dedup();
    if pairs.len() > PAIRS_MAX {
        return None;
    }
    let mut buckets = [Bucket::default(); BUCKETS];
    if pairs.len() <= BUCKETS {
        buckets.iter_mut().zip(pairs).for_each(|(bucket, pair)| *bucket = Bucket::of(pair));
        return Some(buckets);
    }
    let mut costs = [0; BUCKETS];
    for pair in pairs {
        let pair = Bucket::of(pair);
        let costs_with = buckets.map(|bucket| bucket.with(pair).cost());
        let added = |bucket: &usize| costs_with[*bucket] - costs[*bucket];
        let bucket = (0..BUCKETS).min_by_key(added).expect("there are eight");
        (buckets[bucket], costs[bucket]) = (buckets[bucket].with(pair), costs_with[bucket]);
    }
    Some(buckets)
}

/// The line of a prefilter for some pairs: sixteen rows of a bit for each bucket for the low half of the first
/// byte, as many for the high half, then those for the second byte.
pub(super) fn line_of(pairs: Vec<Pair>) -> PrefilterLine {
    let Some(buckets) = buckets_of(pairs) else { return [U64::new(u64::MAX); LINE_WORDS] };
    let row = |index: usize| {
        let (half, value) = (index / CHUNK_BYTES, index % CHUNK_BYTES);
        let bits =
            buckets.iter().enumerate().map(|(bucket, it)| (it.0[half] >> value & 1) << bucket);
        bits.sum::<u16>() as u8
    };
    std::array::from_fn(|word| {
        U64::from_bytes(std::array::from_fn(|byte| row(word * size_of::<U64>() + byte)))
    })
}

/// Places of a chunk that have their next byte in the chunk too.
pub(super) const PLACES: usize = CHUNK_BYTES - 1;

/// The places of a chunk that it tells of: of its last one only if the path ends behind it.
#[inline]
pub(super) fn places_told(is_last: bool) -> u64 {
    (1 << (PLACES + usize::from(is_last))) - 1
}

/// Places that are looked for together.
pub(super) const WINDOW: usize = 4 * PLACES;

/// Whether one of the pairs stands in `path` at a place of which `holds` is true.
#[inline(always)]
pub(super) fn stand(
    line: &PrefilterLine,
    path: &[u8],
    probe: impl Probe,
    mut holds: impl FnMut(usize) -> bool,
) -> bool {
    let mut start = 0;
    while let Some(rest) = path.get(start..) {
        let mut places = probe.places(line, rest);
        while places != 0 {
            if holds(start + places.trailing_zeros() as usize) {
                return true;
            }
            places &= places - 1;
        }
        start += WINDOW;
    }
    false
}

/// The places among the first [`WINDOW`] of `rest` where one of the pairs may stand, a bit for each.
pub(super) fn places(line: &PrefilterLine, rest: &[u8]) -> u64 {
    let row = |index: usize| {
        let bytes = line.as_bytes()[index * CHUNK_BYTES..].first_chunk();
        u8x16::new(*bytes.expect("a line has four rows"))
    };
    let rows = [row(0), row(1), row(2), row(3)];
    let places_of = |chunk: [u8; CHUNK_BYTES]| {
        let first = u8x16::new(chunk);
        let second = u8x16::new((u128::from_le_bytes(chunk) >> 8).to_le_bytes());
        let halves = |bytes: u8x16| (bytes & u8x16::splat(15), bytes >> 4_u32);
        let ((first_low, first_high), (second_low, second_high)) = (halves(first), halves(second));
        let buckets = rows[0].shuffle_zeroing(first_low)
            & rows[1].shuffle_zeroing(first_high)
            & rows[2].shuffle_zeroing(second_low)
            & rows[3].shuffle_zeroing(second_high);
        u64::from(!buckets.simd_eq(u8x16::ZERO).to_bitmask() & 0xffff)
    };
    let Some(last) = rest.len().checked_sub(CHUNK_BYTES) else {
        return places_of(short_chunk(rest));
    };
    let starts = (0..WINDOW).step_by(PLACES).take_while(|&start| start < last + PLACES);
    starts.fold(0, |places, start| {
        let start = start.min(last);
        let chunk = rest[start..].first_chunk();
        let places_of_chunk = places_of(*chunk.expect("it ends with the path at the latest"));
        places | (places_of_chunk & places_told(start == last)) << start
    })
}
