//! Finds positions where one of many byte pairs may occur, as Hyperscan's Teddy finds literals.
//!
//! A literal behind a star may occur anywhere, so every position of a path is tested, sixteen at
//! once. The pairs are divided into eight *buckets*. Each nibble of a byte selects a mask of
//! buckets; a bucket that is in the masks of both nibbles of a byte and of both nibbles of the next
//! byte has a pair that may occur there.

use zerocopy::little_endian::U64;

use crate::bytes::{CHUNK_BYTES, Line, bits};
use crate::vectors::{Kernels, WINDOW};

const BUCKETS: usize = 8;

/// With more distinct pairs, only their first bytes count.
const PAIRS_MAX: usize = 128;

/// Two adjacent bytes of a path.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pair {
    first: u8,
    /// `None` for any byte, or the end of the path.
    second: Option<u8>,
}

/// The byte that is read past the end of a path.
const END: u8 = 0;

impl Pair {
    /// Returns the pair at the start of `literal`; the path ends with the literal if `is_whole`.
    pub(crate) fn of(literal: &[u8], is_whole: bool) -> Pair {
        let second = literal.get(1).copied().or(is_whole.then_some(END));
        Pair { first: literal.first().copied().unwrap_or(END), second }
    }

    /// Returns the relative frequency of the pair in paths.
    pub(crate) fn frequency(self) -> u32 {
        let second = self.second.map_or(1000, |byte| FREQUENCIES[usize::from(byte)]);
        // File extensions: both bytes occur together.
        let times = match self {
            Pair { first: b'.', second: Some(b'h' | b'p') } => 8,
            _ => 1,
        };
        u32::from(FREQUENCIES[usize::from(self.first)]) * u32::from(second) * times
    }
}

/// The approximate frequency of bytes in paths, in thousandths.
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

/// The nibbles of a bucket's pairs, a bit per value: low and high of the first byte, then of the
/// second.
#[derive(Clone, Copy, Default)]
struct Bucket([u16; 4]);

impl Bucket {
    fn of(pair: Pair) -> Bucket {
        let nibbles = |byte: u8| [1 << (byte & 15), 1 << (byte >> 4)];
        let [first_low, first_high] = nibbles(pair.first);
        let [second_low, second_high] = pair.second.map_or([u16::MAX; 2], nibbles);
        Bucket([first_low, first_high, second_low, second_high])
    }

    fn with(self, other: Bucket) -> Bucket {
        Bucket(std::array::from_fn(|index| self.0[index] | other.0[index]))
    }

    /// Returns the relative frequency of positions that match the bucket.
    fn cost(self) -> u32 {
        let [first_low, first_high, second_low, second_high] = self.0;
        frequency(first_low, first_high) * frequency(second_low, second_high)
    }
}

/// Returns the relative frequency of bytes with these nibbles.
fn frequency(low: u16, high: u16) -> u32 {
    let of_byte = |high, low| u32::from(FREQUENCIES[high << 4 | low]);
    let low = || bits(low.into());
    bits(high.into()).map(|high| low().map(|low| of_byte(high, low)).sum::<u32>()).sum()
}

/// Puts each pair into the bucket where it adds the fewest false positives.
fn buckets_of(mut pairs: Vec<Pair>) -> [Bucket; BUCKETS] {
    // Those with any second byte come last.
    pairs.sort_unstable_by_key(|pair| (pair.first, pair.second.is_none(), pair.second));
    pairs.dedup();
    if pairs.len() > PAIRS_MAX {
        pairs.iter_mut().for_each(|pair| pair.second = None);
        pairs.dedup();
    }
    let mut buckets = [Bucket::default(); BUCKETS];
    if pairs.len() <= BUCKETS {
        buckets.iter_mut().zip(pairs).for_each(|(bucket, pair)| *bucket = Bucket::of(pair));
        return buckets;
    }
    let mut costs = [0; BUCKETS];
    for pair in pairs {
        let pair = Bucket::of(pair);
        let costs_with = buckets.map(|bucket| bucket.with(pair).cost());
        let added = |bucket: &usize| costs_with[*bucket] - costs[*bucket];
        let bucket = (0..BUCKETS).min_by_key(added).expect("there are eight");
        (buckets[bucket], costs[bucket]) = (buckets[bucket].with(pair), costs_with[bucket]);
    }
    buckets
}

/// Returns the line of some pairs: for each of the four nibbles, sixteen masks of buckets.
pub(crate) fn line_of(pairs: Vec<Pair>) -> Line {
    let buckets = buckets_of(pairs);
    let mask = |index: usize| {
        let (nibble, value) = (index / CHUNK_BYTES, index % CHUNK_BYTES);
        let bits =
            buckets.iter().enumerate().map(|(bucket, it)| (it.0[nibble] >> value & 1) << bucket);
        bits.sum::<u16>() as u8
    };
    std::array::from_fn(|word| {
        U64::from_bytes(std::array::from_fn(|byte| mask(word * size_of::<U64>() + byte)))
    })
}

/// Iterates over the rests of `path` that begin where a pair of a line may occur. Some are empty.
#[inline(always)]
pub(crate) fn rests<'l, 'p, K: Kernels>(
    line: &'l Line,
    path: &'p [u8],
    kind: K,
) -> Rests<'l, 'p, K> {
    Rests { line, kind, window: &[], next: Some(path), found: 0 }
}

/// See [`rests`].
pub(crate) struct Rests<'l, 'p, K> {
    line: &'l Line,
    kind: K,
    /// The path from this window on, and from the next one.
    window: &'p [u8],
    next: Option<&'p [u8]>,
    /// The positions that are left of this window.
    found: u64,
}

impl<'p, K: Kernels> Iterator for Rests<'_, 'p, K> {
    type Item = &'p [u8];

    #[inline(always)]
    fn next(&mut self) -> Option<&'p [u8]> {
        while self.found == 0 {
            self.window = self.next?;
            self.next = self.window.get(WINDOW..);
            self.found = self.kind.positions(self.line, self.window);
        }
        let position = self.found.trailing_zeros() as usize;
        self.found &= self.found - 1;
        Some(self.window.get(position..).unwrap_or_default())
    }
}
