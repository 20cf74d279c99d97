//! Seeded random numbers, by the generator of synthetic corpora.

use std::ops::RangeInclusive;

use portcullis_synth::random::SplitMix64;

/// Seeded random numbers, the same on all systems.
#[derive(Clone, Debug)]
pub struct Random(SplitMix64);

impl Random {
    /// Creates the generator with this seed.
    pub fn new(seed: u64) -> Random {
        Random(SplitMix64::new(seed))
    }

    /// Returns the next number.
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Returns a number below `bound`, or 0 if `bound` is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0.below(bound as u64) as usize
    }

    /// Returns a number in `range`.
    pub fn within(&mut self, range: RangeInclusive<usize>) -> usize {
        range.start() + self.below(range.end() - range.start() + 1)
    }

    /// Returns true once in `times` on average.
    pub fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// Returns one of `choices`, which is not empty.
    pub fn pick<'c, T>(&mut self, choices: &'c [T]) -> &'c T {
        &choices[self.below(choices.len())]
    }

    /// Returns a word over `alphabet` whose length is in `lengths`.
    pub fn word(&mut self, alphabet: &[u8], lengths: RangeInclusive<usize>) -> Vec<u8> {
        let length = self.within(lengths);
        (0..length).map(|_| *self.pick(alphabet)).collect()
    }
}
