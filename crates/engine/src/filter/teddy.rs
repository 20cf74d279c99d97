//! Finds positions where one of many byte triples may occur, as Hyperscan's Teddy finds literals.
//!
//! A literal after a star may occur anywhere, so every position of a path is tested, 32 at once. The
//! *triple* of a literal is its first three bytes. Triples are divided into eight *buckets*. The lower
//! nibbles of a byte and of the two after it each select a mask of buckets, and so do the [classes](class)
//! of the first two: a bucket that is in all four masks has a triple that may occur there.

use crate::bytes::{CHUNK_BYTES, Line, bits};
use crate::vectors::{Kernels, WINDOW};

use super::head::Head;

const BUCKETS: usize = 8;

/// With more distinct triples, only their first two bytes count, or only the first.
const TRIPLES_MAX: usize = 128;

/// Three adjacent bytes of a path; `None` for any byte, or the end of the path.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Triple {
    first: u8,
    second: Option<u8>,
    third: Option<u8>,
}

/// The byte that is read past the end of a path.
pub(crate) const END: u8 = 0;

impl Triple {
    /// Returns the triple at the start of `literal`; the path ends with the literal if `is_whole`.
    pub(crate) fn of(literal: &[u8], is_whole: bool) -> Triple {
        let byte = |place| literal.get(place).copied().or(is_whole.then_some(END));
        Triple { first: byte(0).unwrap_or(END), second: byte(1), third: byte(2) }
    }

    /// Returns the relative frequency of its first two bytes in paths.
    pub(crate) fn frequency(self) -> u32 {
        let of = |byte: Option<u8>| byte.map_or(1000, |byte| FREQUENCIES[usize::from(byte)]);
        // File extensions: their bytes occur together.
        let times = match self {
            Triple { first: b'.', second: Some(b'h' | b'p'), .. } => 8,
            _ => 1,
        };
        u32::from(of(Some(self.first))) * u32::from(of(self.second)) * times
    }

    /// Returns a triple that is found wherever this one is, and is more common.
    fn shortened(self) -> Triple {
        let second = self.third.and(self.second);
        Triple { second, third: None, ..self }
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

/// The number of classes of a byte.
const CLASSES: usize = 4;

/// Returns the class of a byte: punctuation and digits, upper case, lower case, and the rest.
#[inline]
pub(crate) const fn class(byte: u8) -> u8 {
    byte >> 5 & (CLASSES as u8 - 1)
}

/// The sums of [`FREQUENCIES`] by lower nibble and class.
const CLASS_FREQUENCIES: [[u64; CLASSES]; CHUNK_BYTES] = {
    let mut sums = [[0; CLASSES]; CHUNK_BYTES];
    let mut byte = 0;
    while byte < 256 {
        sums[byte & 15][class(byte as u8) as usize] += FREQUENCIES[byte] as u64;
        byte += 1;
    }
    sums
};

/// The triples of a bucket: a bit for each lower nibble of the three bytes, and for each pair of classes of
/// the first two.
#[derive(Clone, Copy, Default)]
struct Bucket {
    sets: [u16; 4],
    /// The relative frequency of the three bytes, by class.
    frequencies: [[u64; CLASSES]; 3],
}

impl Bucket {
    fn of(triple: Triple) -> Bucket {
        let nibble = |byte: Option<u8>| byte.map_or(u16::MAX, |byte| 1 << (byte & 15));
        let classes = triple.second.map_or((1 << CLASSES) - 1, |byte| 1 << class(byte));
        let classes = classes << (class(triple.first) as usize * CLASSES);
        let nibbles = [Some(triple.first), triple.second, triple.third].map(nibble);
        Bucket::default().with([nibbles[0], nibbles[1], nibbles[2], classes])
    }

    /// Returns the bucket with other sets too.
    fn with(mut self, sets: [u16; 4]) -> Bucket {
        for (row, frequencies) in self.frequencies.iter_mut().enumerate() {
            for nibble in bits((sets[row] & !self.sets[row]).into()) {
                let new = frequencies.iter_mut().zip(CLASS_FREQUENCIES[nibble]);
                new.for_each(|(sum, frequency)| *sum += frequency);
            }
        }
        self.sets = std::array::from_fn(|row| self.sets[row] | sets[row]);
        self
    }

    /// Returns the relative frequency of positions that match the bucket.
    fn cost(&self) -> u64 {
        let [first, second, third] = &self.frequencies;
        let pair = |pair: usize| first[pair / CLASSES] * second[pair % CLASSES];
        bits(self.sets[3].into()).map(pair).sum::<u64>() * third.iter().sum::<u64>()
    }
}

/// Puts each triple into the bucket where it adds the fewest false positives.
fn buckets_of(mut triples: Vec<Triple>) -> [Bucket; BUCKETS] {
    // Shorter ones come last.
    triples.sort_unstable_by_key(|it| (it.first, it.second.is_none(), it.second, it.third));
    triples.dedup();
    while triples.len() > TRIPLES_MAX && triples.iter().any(|it| it.second.is_some()) {
        triples.iter_mut().for_each(|triple| *triple = triple.shortened());
        triples.dedup();
    }
    let mut buckets = [Bucket::default(); BUCKETS];
    if triples.len() <= BUCKETS {
        buckets.iter_mut().zip(triples).for_each(|(bucket, it)| *bucket = Bucket::of(it));
        return buckets;
    }
    let mut costs = [0; BUCKETS];
    for triple in triples {
        let Bucket { sets, .. } = Bucket::of(triple);
        let costs_with = buckets.each_ref().map(|bucket| bucket.with(sets).cost());
        let added = |bucket: &usize| costs_with[*bucket] - costs[*bucket];
        let bucket = (0..BUCKETS).min_by_key(added).expect("there are eight");
        (buckets[bucket], costs[bucket]) = (buckets[bucket].with(sets), costs_with[bucket]);
    }
    buckets
}

/// Returns the line of some triples: for each lower nibble of the three bytes, then for each pair of classes,
/// sixteen masks of buckets.
pub(crate) fn line_of(triples: Vec<Triple>) -> Line {
    let buckets = buckets_of(triples);
    let mut masks = [[0_u8; CHUNK_BYTES]; 4];
    for (bucket, Bucket { sets, .. }) in buckets.iter().enumerate() {
        for (masks, &set) in masks.iter_mut().zip(sets) {
            bits(set.into()).for_each(|value| masks[value] |= 1 << bucket);
        }
    }
    zerocopy::transmute!(masks)
}

/// The positions of a path where a triple of a line may occur: those of one window that are left.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Places {
    /// The start of the window; later ones are not searched yet.
    window: usize,
    positions: u64,
}

impl Places {
    /// Returns the places of a path that is not searched.
    #[inline(always)]
    pub(crate) fn none(path: &[u8]) -> Places {
        Places { window: path.len(), positions: 0 }
    }

    /// Returns the places in the first window from `window` on that has one, or in the last window.
    #[inline(always)]
    pub(crate) fn from(mut window: usize, line: &Line, path: &[u8], kind: impl Kernels) -> Places {
        loop {
            let positions = kind.positions(line, path, window);
            if positions != 0 || window + WINDOW >= path.len() {
                return Places { window, positions };
            }
            window += WINDOW;
        }
    }

    /// Returns whether there is one.
    #[inline(always)]
    pub(crate) fn any(self) -> bool {
        self.positions != 0
    }

    /// Returns the position of the first one.
    #[inline(always)]
    fn start(self) -> Option<usize> {
        self.any().then(|| self.window + self.positions.trailing_zeros() as usize)
    }

    /// Returns the places after the first one.
    #[inline(always)]
    fn after_first(self) -> Places {
        Places { positions: self.positions & self.positions.wrapping_sub(1), ..self }
    }

    /// Returns the places from the first one on that passes the gate; all, if the lines are damaged. Not inlined:
    /// the search of paths without a place needs the registers.
    #[inline(never)]
    pub(crate) fn passing(mut self, lines: &[Line], path: &[u8], kind: impl Kernels) -> Places {
        let of_head = |head: &Head| head.triples(lines).zip(head.gate(lines));
        let Some((line, gate)) = Head::of(lines).and_then(of_head) else { return self };
        loop {
            while let Some(start) = self.start() {
                if path.get(start..).is_some_and(|rest| gate.passes(rest)) {
                    return self;
                }
                self = self.after_first();
            }
            let next = self.window + WINDOW;
            if next >= path.len() {
                return self;
            }
            self = Places::from(next, line, path, kind);
        }
    }
}

/// The rests of a path that begin at places, of which the first one passes the gate.
pub(crate) struct Rests<'l, 'p, K> {
    pub(crate) lines: &'l [Line],
    pub(crate) path: &'p [u8],
    pub(crate) places: Places,
    pub(crate) kind: K,
}

impl<'p, K: Kernels> Iterator for Rests<'_, 'p, K> {
    type Item = &'p [u8];

    #[inline(always)]
    fn next(&mut self) -> Option<&'p [u8]> {
        let Rests { lines, path, places, kind } = *self;
        let rest = path.get(places.start()?..);
        self.places = places.after_first().passing(lines, path, kind);
        rest
    }
}
