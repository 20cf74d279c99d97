//! A small random number generator: SplitMix64, which has one word of state and needs no warm-up.
//!
//! G. L. Steele, D. Lea, C. H. Flood: Fast splittable pseudorandom number generators (2014). Good
//! enough for a synthetic corpus; not for anything that an adversary must not guess.

/// The purpose of a stream, so that two uses of one position get different numbers.
#[derive(Clone, Copy)]
pub(super) enum Purpose {
    Host = 1,
    Layout = 2,
    Site = 3,
    Robots = 4,
    Url = 5,
    Plan = 6,
    Rules = 7,
    Pattern = 8,
    Sitemaps = 9,
    Scheme = 10,
    Answers = 11,
    Stars = 12,
    PlatformStars = 13,
    History = 15,
    Edits = 16,
    UrlTime = 17,
}

/// A stream of random numbers.
#[derive(Clone, Copy, Debug)]
pub struct SplitMix64 {
    state: u64,
}

const GOLDEN_GAMMA: u64 = 0x9E37_79B9_7F4A_7C15;

fn mix(mut word: u64) -> u64 {
    word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    word ^ (word >> 31)
}

/// Returns a pseudorandom number for each `number`; sorting by it shuffles.
pub fn scatter(seed: u64, number: u64) -> u64 {
    mix(seed.wrapping_add(number + 1).wrapping_mul(GOLDEN_GAMMA))
}

impl SplitMix64 {
    /// Creates the generator with this seed.
    pub fn new(seed: u64) -> SplitMix64 {
        SplitMix64 { state: seed }
    }

    /// Creates the stream of one purpose and position.
    pub(super) fn stream(seed: u64, purpose: Purpose, position: u64) -> SplitMix64 {
        let purpose = mix((purpose as u64).wrapping_mul(GOLDEN_GAMMA));
        SplitMix64::new(mix(seed ^ purpose).wrapping_add(mix(position.wrapping_add(purpose))))
    }

    /// Returns the next number.
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(GOLDEN_GAMMA);
        mix(self.state)
    }

    /// Returns a number below `bound`, which is at least 1.
    ///
    /// It is the high half of a product. The bias is below 2⁻³⁰ for any bound used here.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// Returns true with probability `per_ten_thousand` / 10,000.
    pub(super) fn chance(&mut self, per_ten_thousand: u64) -> bool {
        self.below(10_000) < per_ten_thousand
    }

    /// Returns one of `items`, which is not empty.
    pub fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len() as u64) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first outputs for seed 1234567, from the reference code of the generator's authors.
    #[test]
    fn known_outputs() {
        let mut random = SplitMix64::new(1_234_567);
        assert_eq!(random.next_u64(), 6_457_827_717_110_365_317);
        assert_eq!(random.next_u64(), 3_203_168_211_198_807_973);
        assert_eq!(random.next_u64(), 9_817_491_932_198_370_423);
    }

    #[test]
    fn below_stays_below() {
        let mut random = SplitMix64::new(9);
        assert!((0..1_000).all(|_| random.below(7) < 7));
        assert_eq!(random.below(1), 0);
    }
}
