//! Path patterns as one matcher.
//!
//! Patterns in order of precedence are one automaton, which reports the pattern that decides: the first
//! of the list that matches a path. Leftmost-first over that order is what dialects call the longest
//! match. *This automaton is the definition.* Around it are accelerators, which must agree with it.
//! A path takes the first of these that knows its outcome:
//!
//! | way | when | cost of a path |
//! |---|---|---|
//! | constant | the patterns have one outcome whatever the path | none |
//! | prefilter | no required prefix or literal of a pattern is in the path | two or three cache lines |
//! | candidates | the prefilter names a few patterns, which are tried | a search for each |
//! | lazy automaton | there are more candidates, or no prefilter | one node for a run of bytes |
//! | scan | the path needs more states than building has earned | one pass for all patterns |
//!
//! The lazy automaton and the scan are an [`Automaton`]. A thread holds the automata of many rule sets
//! under one budget, and [`Ways`](portcullis_robots::policy::Ways) counts who answered. Every bound is in
//! [`Limits`]; reaching one changes the way and never the answer. One property test
//! (`src/automaton/tests.rs`) holds every way to the definition. `DESIGN.md` beside this file goes from
//! the naive matcher to this one, with what each step gained.
//!
//! The module knows no agents, no URLs and no lines: give it a [`PatternList`](crate::pattern::PatternList) and for each pattern an
//! [`Outcome`]. One automaton answers two questions: which pattern decides, and only whether it allows,
//! for which a walk ends earlier ([`Detail`]). Use [`policy`](portcullis_robots::policy) to get from a robots.txt to
//! an answer. [`RegexEngine`] is regex-automata over the same patterns, to compare with.
//!
//! ```
//! use portcullis_matcher::automaton::{Automaton, Detail, Limits, Outcome};
//! use portcullis_matcher::pattern::PatternList;
//!
//! let (allow, disallow) = (Outcome::new(1, true), Outcome::new(2, false));
//! let mut patterns = PatternList::new();
//! patterns.push(b"/private/*.png", true);
//! patterns.push(b"/private/", true);
//! let mut automaton = Automaton::new(patterns, vec![allow, disallow], &Limits::default());
//! assert_eq!(automaton.decide(b"/private/a.png", Detail::Rule), allow);
//! assert_eq!(automaton.decide(b"/private/a", Detail::Rule), disallow);
//! assert!(!automaton.decide(b"/private/a", Detail::Reason).allows());
//! assert_eq!(automaton.decide(b"/public", Detail::Rule), Outcome::NONE);
//! ```

mod chunk;
mod determinize;
mod lazy;
mod nfa;
mod prefilter;
mod program;
mod reach;
mod regex;
mod scan;

use portcullis_dialect::limits;

pub use lazy::Automata;
pub use lazy::{Automaton, Work};
pub use prefilter::{
    FirstProbe, FirstProbes, Found, PatternTexts, Patterns, PrefilterLine, Probe, build_prefilter,
    is_constant, probe_literals, probe_prefixes, push_text, table_word, text_words, try_candidates,
};
pub use reach::Reach;
pub use reach::reach;
pub use regex::{RegexCache, RegexEngine, RegexError};
pub use scan::matches as pattern_matches;

/// What the match of a pattern means: a number of the caller's and a verdict, or [`Outcome::NONE`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Outcome(u32);

/// How much an answer tells. Less means that a walk ends earlier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Detail {
    /// The verdict, and whether a rule gave it.
    Reason,
    /// Which rule gave it.
    Rule,
}

impl Outcome {
    /// No pattern matches.
    pub const NONE: Outcome = Outcome(0);

    /// The largest number.
    pub const NUMBER_MAX: u32 = (1 << 30) - 1;

    /// The outcome with this number, of a pattern that allows or disallows.
    ///
    /// # Panics
    ///
    /// If `number` is 0 or more than [`Outcome::NUMBER_MAX`].
    pub const fn new(number: u32, allows: bool) -> Outcome {
        assert!(
            number != 0 && number <= Outcome::NUMBER_MAX,
            "an outcome's number is 1 to 2^30 - 1"
        );
        Outcome(number << 1 | allows as u32)
    }

    /// The outcome of a pattern that is not told.
    #[inline]
    const fn some(allows: bool) -> Outcome {
        Outcome::new(Outcome::NUMBER_MAX, allows)
    }

    /// The number; 0 if no pattern matches. It means nothing if an answer was asked for with
    /// [`Detail::Reason`].
    #[inline]
    pub const fn number(self) -> u32 {
        self.0 >> 1
    }

    /// Whether it is one that can be made: what a file says may be none.
    #[inline]
    const fn is_sound(self) -> bool {
        self.0 != 1
    }

    /// Whether the pattern allows; false if no pattern matches.
    #[inline]
    pub const fn allows(self) -> bool {
        self.0 & 1 != 0
    }
}

/// What matching may spend. Reaching a limit changes the way to an answer, never the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes that the automata of one thread may hold.
    pub automata_bytes_max: usize,
    /// NFA positions that building states may look at for each byte of the rule set and of the paths that
    /// asked it.
    pub positions_per_byte: u64,
    /// Entries of the prefilter's index that are looked at for one path, and so patterns that are tried,
    /// before the automaton is asked. `None` asks no prefilter.
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

#[cfg(test)]
mod tests;
