//! A hash index from required strings to the patterns that require them.
//!
//! There are two entries per bucket on average, and the entries of a bucket are adjacent, so a
//! bucket has any length. An entry holds the position of its pattern and a fingerprint of the hash
//! of its string.
//!
//! The author of the rules chooses the strings and could put them all into one bucket. So the hash
//! has a seed: the first one that leaves no bucket with more than a few distinct strings.

use zerocopy::little_endian::U32;

use super::bloom::{hash, share};

/// Bits of an entry for the position of the pattern; the others are the fingerprint.
const PLACE_BITS: u32 = 20;

/// The most patterns of an index.
pub(crate) const PLACES_MAX: usize = 1 << PLACE_BITS;

/// The most distinct strings of a bucket under a good seed. The mean is two; a million random
/// strings have a bucket of about ten.
const STRINGS_PER_BUCKET_MAX: u32 = 12;

/// Seeds that are tried. If none is good, buckets may be long; the work per path is bounded anyway.
pub(crate) const SEEDS_MAX: u32 = 16;

/// A required string, cut to its level, and the position of the pattern.
pub(crate) type Entry = (u64, u32);

fn buckets_for(entries: usize) -> usize {
    entries.div_ceil(2)
}

/// Returns the number of words of an index.
pub(crate) fn words_for(entries: usize) -> usize {
    match entries {
        0 => 0,
        _ => buckets_for(entries) + 1 + entries,
    }
}

/// Fills an index and returns its seed. The index starts with the bounds of the buckets.
pub(crate) fn fill(entries: &[Entry], words: &mut [U32]) -> u32 {
    if entries.is_empty() {
        return 0;
    }
    let seed = seed_of(entries);
    let buckets = buckets_for(entries.len());
    let (ends, patterns) = words.split_at_mut(buckets + 1);
    let mut starts = vec![0_u32; buckets + 1];
    entries.iter().for_each(|&(string, _)| starts[share(hash(string, seed), buckets) + 1] += 1);
    for bucket in 0..buckets {
        starts[bucket + 1] += starts[bucket];
    }
    for (end, start) in ends.iter_mut().zip(&starts) {
        end.set(*start);
    }
    for &(string, place_of_pattern) in entries {
        let hash = hash(string, seed);
        let place = &mut starts[share(hash, buckets)];
        patterns[*place as usize].set(fingerprint(hash) << PLACE_BITS | place_of_pattern);
        *place += 1;
    }
    seed
}

/// Returns the first good seed, or 0.
fn seed_of(entries: &[Entry]) -> u32 {
    let mut counts = vec![0; buckets_for(entries.len())];
    // Nearly always, even equal strings do not fill a bucket.
    if is_good(0, entries.iter().map(|&(string, _)| string), &mut counts) {
        return 0;
    }
    let mut strings: Vec<u64> = entries.iter().map(|&(string, _)| string).collect();
    strings.sort_unstable();
    strings.dedup();
    let mut is_good = |&seed: &u32| is_good(seed, strings.iter().copied(), &mut counts);
    (0..SEEDS_MAX).find(&mut is_good).unwrap_or(0)
}

/// Returns whether no bucket has too many of `strings`. `counts` has a number for each bucket.
fn is_good(seed: u32, mut strings: impl Iterator<Item = u64>, counts: &mut [u32]) -> bool {
    counts.fill(0);
    strings.all(|string| {
        let bucket = share(hash(string, seed), counts.len());
        let count = &mut counts[bucket];
        *count += 1;
        *count <= STRINGS_PER_BUCKET_MAX
    })
}

/// Returns whether the bounds of the buckets ascend to the number of entries, and each entry names
/// one of `patterns`.
pub(crate) fn is_within(words: &[U32], entries: usize, patterns: usize) -> bool {
    if entries == 0 {
        return true;
    }
    let (ends, places) = words.split_at(buckets_for(entries) + 1);
    let place = |word: &U32| word.get() as usize & (PLACES_MAX - 1);
    ends.is_sorted()
        && ends[0] == 0
        && ends[ends.len() - 1].get() as usize == entries
        && places.iter().all(|word| place(word) < patterns)
}

/// Returns the bucket of a string and the string's fingerprint; `None` if the index is damaged.
#[inline]
pub(crate) fn bucket_of(
    words: &[U32],
    entries: usize,
    (string, seed): (u64, u32),
) -> Option<(&[U32], u32)> {
    let (hash, buckets) = (hash(string, seed), buckets_for(entries));
    let bucket = share(hash, buckets);
    let ends = words.get(bucket..=bucket + 1)?;
    let (start, end) = (ends[0].get() as usize, ends[1].get() as usize);
    Some((words.get(buckets + 1..)?.get(start..end)?, fingerprint(hash)))
}

/// Returns the position of the pattern of an entry; `None` if its fingerprint is another.
#[inline]
pub(crate) fn place_of(word: U32, fingerprint: u32) -> Option<usize> {
    let word = word.get();
    (word >> PLACE_BITS == fingerprint).then_some(word as usize & (PLACES_MAX - 1))
}

/// Returns the bits of a hash that identify a string within its bucket.
#[inline]
fn fingerprint(hash: u64) -> u32 {
    (hash as u32) >> PLACE_BITS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_chosen_to_collide_are_spread() {
        let count = 4_000;
        let buckets = buckets_for(count);
        let chosen = (1_u64..).filter(|&string| share(hash(string, 0), buckets) == 0);
        let entries: Vec<Entry> = chosen.zip(0..count as u32).collect();
        let mut words = vec![U32::new(0); words_for(count)];
        let seed = fill(&entries, &mut words);
        assert_ne!(seed, 0);
        for &(string, place) in &entries {
            let (found, fingerprint) = bucket_of(&words, count, (string, seed)).unwrap();
            assert!(found.len() <= STRINGS_PER_BUCKET_MAX as usize);
            assert!(found.iter().any(|&word| place_of(word, fingerprint) == Some(place as usize)));
        }
    }
}
