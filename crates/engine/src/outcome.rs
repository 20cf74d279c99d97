//! The answer of a rule set: which pattern decides, and its verdict.

use portcullis_dialect::Verdict;

/// The first pattern that matches a path, by its number, and its verdict; or [`Outcome::NONE`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Outcome(pub(crate) u32);

impl Outcome {
    /// No pattern matches.
    pub const NONE: Outcome = Outcome(0);

    /// The largest number.
    pub const NUMBER_MAX: u32 = (1 << 30) - 1;

    /// Returns the outcome of a pattern with this number and verdict.
    ///
    /// # Panics
    ///
    /// If `number` is 0 or above [`Outcome::NUMBER_MAX`].
    pub const fn new(number: u32, allows: bool) -> Outcome {
        assert!(
            number != 0 && number <= Outcome::NUMBER_MAX,
            "an outcome's number is 1 to 2^30 - 1"
        );
        Outcome(number << 1 | allows as u32)
    }

    /// Returns the number of the pattern, counted from 1 in order of precedence; 0 if none matches.
    #[inline]
    pub const fn number(self) -> u32 {
        self.0 >> 1
    }

    /// Returns the index of the pattern; `None` if none matches.
    #[inline]
    pub const fn pattern(self) -> Option<usize> {
        match self.number() {
            0 => None,
            number => Some(number as usize - 1),
        }
    }

    /// Returns whether [`Outcome::new`] could have made this; a word of a damaged file may be
    /// invalid.
    #[inline]
    pub(crate) const fn is_valid(self) -> bool {
        self.0 != 1
    }

    /// Returns whether the pattern allows; false if no pattern matches.
    #[inline]
    pub const fn allows(self) -> bool {
        self.0 & 1 != 0
    }
}

/// Returns the outcome of each pattern of a list with these verdicts.
pub fn outcomes(verdicts: &[Verdict]) -> Vec<Outcome> {
    let numbered = (1..).zip(verdicts);
    numbered.map(|(number, &verdict)| Outcome::new(number, verdict == Verdict::Allow)).collect()
}
