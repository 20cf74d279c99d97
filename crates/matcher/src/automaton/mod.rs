//! The patterns of a rule set as one matcher, which reports the first pattern that matches a path.
//!
//! *The automaton defines the answer*; everything around it is an accelerator that must agree with
//! it. A path takes the first of these steps that decides it:
//!
//! | step | when it decides | cost per path |
//! |---|---|---|
//! | constant | the patterns have one outcome for all paths | none |
//! | prefilter | the path has no required prefix or literal of any pattern | 2 or 3 cache lines |
//! | candidates | the prefilter names a few patterns, which are matched one by one | one search each |
//! | lazy automaton | more candidates, or no prefilter | one node per run of bytes |
//! | scan | the path needs more states than the build budget allows | one pass for all patterns |
//!
//! [`Automaton`] owns the last two steps. [`build_prefilter`], the `probe_*` functions and
//! [`try_candidates`] own the steps before; `portcullis_robots::policy::Block` runs them in order.
//! [`reach`] answers for all paths at once. `RegexEngine` (feature `regex`) compiles the same patterns with
//! regex-automata, for comparison.
//!
//! One automaton serves both levels of [`Detail`]: the deciding rule, and only its verdict, where a
//! walk ends earlier. Nothing can fail. Every bound is in [`Limits`]; a limit changes the step that
//! answers, never the answer. `tests.rs` compares all steps with a naive definition; `DESIGN.md`
//! gives the reasons and measurements.

mod dfa;
mod lazy;
mod nfa;
mod prefilter;
mod program;
#[cfg(any(test, feature = "regex"))]
mod regex;
mod scan;
#[cfg(test)]
mod tests;

use portcullis_dialect::limits;

pub use lazy::{Automata, Automaton, Work};
pub use nfa::{Reach, reach};
pub use prefilter::{
    FirstProbe, FirstProbes, Found, PatternText, PatternTexts, Patterns, PrefilterLine, Probe,
    build_prefilter, is_constant, probe_literals, probe_prefixes, push_text, table_word,
    text_units, try_candidates,
};
#[cfg(any(test, feature = "regex"))]
pub use regex::{RegexCache, RegexEngine, RegexError};
pub use scan::matches as pattern_matches;

/// The meaning of a pattern's match: a number chosen by the caller and a verdict, or
/// [`Outcome::NONE`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Outcome(u32);

/// How much an answer reports. A walk ends earlier if less is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Detail {
    /// The verdict, and whether a rule gave it.
    Reason,
    /// The deciding rule as well.
    Rule,
}

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

    /// Returns the outcome of an unreported pattern.
    #[inline]
    const fn some(allows: bool) -> Outcome {
        Outcome::new(Outcome::NUMBER_MAX, allows)
    }

    /// Returns the number; 0 if no pattern matches. Meaningless under [`Detail::Reason`].
    #[inline]
    pub const fn number(self) -> u32 {
        self.0 >> 1
    }

    /// Returns whether [`Outcome::new`] could have made this; a word of a damaged file may be
    /// invalid.
    #[inline]
    const fn is_valid(self) -> bool {
        self.0 != 1
    }

    /// Returns whether the pattern allows; false if no pattern matches.
    #[inline]
    pub const fn allows(self) -> bool {
        self.0 & 1 != 0
    }
}

/// Bounds on the work and memory of matching. A limit changes the step that answers, never the
/// answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of memory for all automata of a thread.
    pub automata_bytes_max: usize,
    /// NFA positions that building may read per byte of the rule set and of the paths asked.
    pub positions_per_byte: u64,
    /// Entries of the prefilter's index read per path, and so patterns tried, before the automaton
    /// is asked. `None` disables the prefilter.
    pub candidates_tried_max: Option<usize>,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            automata_bytes_max: limits::AUTOMATA_BYTES_MAX,
            positions_per_byte: limits::POSITIONS_PER_BYTE_MAX,
            candidates_tried_max: Some(limits::CANDIDATES_TRIED_MAX),
        }
    }
}
