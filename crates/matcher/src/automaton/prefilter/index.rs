//! From strings to the patterns that need them.
//!
//! Strings are spread over buckets by a hash, two to a bucket. The words of a bucket's patterns are adjacent,
//! so that one with many is as long as those are, and no longer to build. Each has some bits of its
//! string's hash, which tell it from others of the bucket.
//!
//! Whoever writes the rules chooses the strings, and could choose them so that all are in one bucket. So the
//! hash has a seed: the first one with which no bucket has more than a few distinct strings.

use zerocopy::little_endian::U32;

/// Bits of a word for the pattern's position; the others are for the hash.
const PLACE_BITS: u32 = 20;

/// Patterns that can be told apart.
pub(super) const PLACES_MAX: usize = 1 << PLACE_BITS;

/// Distinct strings of a bucket with which a seed is good. Two are the mean; of strings that nobody chose
/// a million have a bucket of ten or so.
const STRINGS_PER_BUCKET_MAX: u32 = 12;

/// Seeds that are tried. With the last one buckets are as they are: what is looked at for a path is bounded
/// in any case.
pub(super) const SEEDS_MAX: u32 = 16;

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

/// Fills an index, and returns its seed. For each bucket there is a word that tells where its patterns end.
pub(super) fn fill(entries: &[Entry], words: &mut [U32]) -> u32 {
    if entries.is_empty() {
        return 0;
    }
    let seed = seed_of(entries);
    let buckets = buckets_for(entries.len());
    let (ends, patterns) = words.split_at_mut(buckets + 1);
    let mut starts = vec![0_u32; buckets + 1];
    entries.iter().for_each(|&(string, _)| starts[bucket(hash(string, seed), buckets) + 1] += 1);
    for bucket in 0..buckets {
        starts[bucket + 1] += starts[bucket];
    }
    for (end, start) in ends.iter_mut().zip(&starts) {
        end.set(*start);
    }
    for &(string, place_of_pattern) in entries {
        let hash = hash(string, seed);
        let place = &mut starts[bucket(hash, buckets)];
        patterns[*place as usize].set(print(hash) << PLACE_BITS | place_of_pattern);
        *place += 1;
    }
    seed
}

/// The first seed with which no bucket has many distinct strings.
fn seed_of(entries: &[Entry]) -> u32 {
    if entries.len() <= STRINGS_PER_BUCKET_MAX as usize {
        return 0;
    }
    let buckets = buckets_for(entries.len());
    let mut strings: Vec<u64> = entries.iter().map(|&(string, _)| string).collect();
    strings.sort_unstable();
    strings.dedup();
    let mut counts = vec![0_u32; buckets];
    let is_good = |&seed: &u32| {
        counts.fill(0);
        strings.iter().all(|&string| {
            let count = &mut counts[bucket(hash(string, seed), buckets)];
            *count += 1;
            *count <= STRINGS_PER_BUCKET_MAX
        })
    };
    (0..SEEDS_MAX).find(is_good).unwrap_or(0)
}

/// The words of the bucket that a string is in, and the bits of its hash that are kept; `None` if there is
/// no such index.
#[inline]
pub(super) fn bucket_of(
    words: &[U32],
    entries: usize,
    (string, seed): (u64, u32),
) -> Option<(&[U32], u32)> {
    let (hash, buckets) = (hash(string, seed), buckets_for(entries));
    let bucket = bucket(hash, buckets);
    let ends = words.get(bucket..=bucket + 1)?;
    let (start, end) = (ends[0].get() as usize, ends[1].get() as usize);
    Some((words.get(buckets + 1..)?.get(start..end)?, print(hash)))
}

/// The position of the pattern of a word, if it has these bits of a hash.
#[inline]
pub(super) fn place_of(word: U32, print: u32) -> Option<usize> {
    let word = word.get();
    (word >> PLACE_BITS == print).then_some(word as usize & (PLACES_MAX - 1))
}

/// The high bits depend on all of a string. Each seed has a factor of its own, so that strings which are in one
/// bucket with one seed are not with another.
#[inline]
fn hash(string: u64, seed: u32) -> u64 {
    const FACTORS: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xd1b5_4a32_d192_ed03];
    let factor = FACTORS[0].wrapping_add(u64::from(seed).wrapping_mul(FACTORS[1] << 1));
    let hash = string.wrapping_mul(factor);
    hash ^ hash >> 29
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Strings that are in the first bucket with the first seed are spread by another.
    #[test]
    fn strings_that_were_chosen_are_spread() {
        let count = 4_000;
        let buckets = buckets_for(count);
        let chosen = (1_u64..).filter(|&string| bucket(hash(string, 0), buckets) == 0);
        let entries: Vec<Entry> = chosen.zip(0..count as u32).collect();
        let mut words = vec![U32::new(0); words_for(count)];
        let seed = fill(&entries, &mut words);
        assert_ne!(seed, 0);
        for &(string, place) in &entries {
            let (found, print) = bucket_of(&words, count, (string, seed)).unwrap();
            assert!(found.len() <= STRINGS_PER_BUCKET_MAX as usize);
            assert!(found.iter().any(|&word| place_of(word, print) == Some(place as usize)));
        }
    }
}
