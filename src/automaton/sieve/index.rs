//! From strings to the patterns that need them.
//!
//! Strings are spread over buckets by a hash, two to a bucket. The words of a bucket's patterns stand side by
//! side, so that one with many is as long as those are, and no longer to build. Each has some bits of its
//! string's hash, which tell it from others of the bucket.

use zerocopy::little_endian::U32;

use super::filter::hash;

/// Bits of a word for the pattern's position; the others are for the hash.
const PLACE_BITS: u32 = 20;

/// Patterns that can be told apart.
pub(super) const PLACES_MAX: usize = 1 << PLACE_BITS;

/// What a pattern needs, cut to a level, and the position of the pattern.
pub(super) type Entry = (u64, u32);

fn buckets_for(entries: usize) -> usize {
    entries.div_ceil(2)
}

/// Words for an index with so many entries.
pub(super) fn words_for(entries: usize) -> usize {
    match entries {
        0 => 0,
        _ => buckets_for(entries) + 1 + entries,
    }
}

/// Fills an index. For each bucket there is a word that tells where its patterns end.
pub(super) fn fill(entries: &[Entry], words: &mut [U32]) {
    if entries.is_empty() {
        return;
    }
    let buckets = buckets_for(entries.len());
    let (ends, patterns) = words.split_at_mut(buckets + 1);
    let mut starts = vec![0_u32; buckets + 1];
    entries.iter().for_each(|&(string, _)| starts[bucket(hash(string), buckets) + 1] += 1);
    for bucket in 0..buckets {
        starts[bucket + 1] += starts[bucket];
    }
    for (end, start) in ends.iter_mut().zip(&starts) {
        end.set(*start);
    }
    for &(string, place_of_pattern) in entries {
        let hash = hash(string);
        let place = &mut starts[bucket(hash, buckets)];
        patterns[*place as usize].set(print(hash) << PLACE_BITS | place_of_pattern);
        *place += 1;
    }
}

/// The positions of the patterns that need a string, and perhaps of others, as they were given; nothing
/// if there is no such index.
#[inline]
pub(super) fn patterns_of(
    words: &[U32],
    entries: usize,
    string: u64,
) -> Option<impl Iterator<Item = usize>> {
    let (hash, buckets) = (hash(string), buckets_for(entries));
    let bucket = bucket(hash, buckets);
    let ends = words.get(bucket..=bucket + 1)?;
    let (start, end) = (ends[0].get() as usize, ends[1].get() as usize);
    let patterns = words.get(buckets + 1..)?.get(start..end)?.iter();
    let pattern = move |word: &U32| {
        let word = word.get();
        (word >> PLACE_BITS == print(hash)).then_some(word as usize & (PLACES_MAX - 1))
    };
    Some(patterns.filter_map(pattern))
}

#[inline]
fn bucket(hash: u64, buckets: usize) -> usize {
    (((hash >> 32) * buckets as u64) >> 32) as usize
}

/// The bits of a hash that are kept: others than those that name the bucket.
#[inline]
fn print(hash: u64) -> u32 {
    (hash as u32) >> PLACE_BITS
}
