//! The answer of a rule set: which pattern decides, and its verdict.

/// The first pattern that matches a path, by its number, and its verdict; or [`Outcome::NONE`]; or,
/// where a [block](crate::block) queried no rule set, an opaque number of the caller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Outcome(pub(crate) u32);

/// The bit of an outcome that no rule set gave.
pub(crate) const OPAQUE: u32 = 1 << 31;

impl Outcome {
    /// No pattern matches.
    pub const NONE: Outcome = Outcome(0);

    /// There is no answer, because the bytes of the rule set changed after they were checked.
    pub const LOST: Outcome = Outcome::opaque(OPAQUE - 1);

    /// The largest number of a pattern.
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

    /// Returns an outcome of which the engine knows nothing.
    pub const fn opaque(number: u32) -> Outcome {
        Outcome(number | OPAQUE)
    }

    /// Returns the number of an opaque outcome; `None` if a rule set was queried.
    #[inline(always)]
    pub const fn as_opaque(self) -> Option<u32> {
        if self.0 & OPAQUE != 0 { Some(self.0 & !OPAQUE) } else { None }
    }

    /// Returns the index of the pattern; `None` if none matches.
    #[inline]
    pub const fn pattern(self) -> Option<usize> {
        match self.0 >> 1 {
            number @ 1..=Outcome::NUMBER_MAX => Some(number as usize - 1),
            _ => None,
        }
    }

    /// Returns whether [`Outcome::new`] could have made this; a word of a damaged file may be
    /// invalid.
    #[inline]
    pub(crate) const fn is_valid(self) -> bool {
        self.0 != 1 && self.0 & OPAQUE == 0
    }

    /// Returns whether the pattern allows; false if no pattern matches.
    #[inline]
    pub const fn allows(self) -> bool {
        self.0 & (OPAQUE | 1) == 1
    }

    /// Returns whether the path is allowed: by the pattern, or because none matches.
    #[inline]
    pub const fn is_allowed(self) -> bool {
        self.0 == 0 || self.allows()
    }
}
