//! Exact answers about rules over all URLs: whether two rule sets are equivalent, and which rules
//! of a rule set have an effect.
//!
//! Owns [`equivalence`] of two rule sets and the [`statuses`] of the rules of one. A status
//! says, for example, that a rule never decides because another rule wins wherever it matches.
//! [`FileComparison`] compares two files for many robots. To decide given URLs, use
//! [`policy`](portcullis_robots::policy) or a classifier of `portcullis-set`.
//!
//! # How
//!
//! The rules become one deterministic automaton, a [`Machine`]. A breadth-first search
//! follows all paths at once, so that the first path it finds is a shortest one. Four things keep it small:
//!
//! - all bytes that no rule asks for at a place are one symbol;
//! - states are built lazily, and kept for the next search;
//! - a search does not continue where the answer cannot change any more: for equivalence, where only rules
//!   that both sides share can still match;
//! - the status of a rule is decided among few rules: those that beat it on the paths tried so far. For
//!   most rules a single path is enough, the shortest that they match.
//!
//! A search covers exactly the paths that URLs can have: they start with `/`, have no `#` (unless it can be
//! decoded), and are in the dialect's normal form. So an [`Example`] is always the path of a URL, and a rule
//! that asks for anything else never matches. If the dialect always allows the URL of robots.txt, this is a
//! rule before all others.
//!
//! # Cost and limits
//!
//! Rules without stars form a trie, which costs their bytes. With stars, states can be exponential in the
//! rules. [`AnalysisLimits`] bound the search, and the answer is then `Unknown` with the [`Bound`] that was reached,
//! never "equal" or "never". Nothing else can fail. Analyses of many robots share the limits, and those with
//! the same rules share an analysis.
//!
//! ```
//! use portcullis_lint::analysis::{AnalysisLimits, Equivalence, FileComparison};
//! use portcullis_dialect::dialect::RFC_9309;
//! use portcullis_robots::syntax::RobotsTxt;
//!
//! let old = b"User-agent: *\nDisallow: /a\nDisallow: /a/b\n";
//! let new = b"User-agent: *\nDisallow: /a # and all below\n";
//! let [old, new] = [&old[..], new].map(|text| RobotsTxt::parse(text, &RFC_9309, None));
//! let limits = AnalysisLimits::default();
//! let mut comparison = FileComparison::new([&old, &new], &RFC_9309, &limits);
//! assert_eq!(*comparison.robot(None).equivalence, Equivalence::Equal);
//! ```

mod comparison;
mod contents;
mod equivalence;
mod example;
mod language;
mod machine;
mod product;
mod reach;
mod rules;
mod status;

use std::fmt;

use portcullis_dialect::limits::URL_BYTES_MAX;

use crate::limits::{ANALYSIS_POSITIONS_MAX, ANALYSIS_STATES_MAX};

pub use comparison::{FileComparison, RobotComparison};
pub(crate) use contents::{Contents, Grouped, key, numbers};
pub(crate) use equivalence::difference;
pub use equivalence::{Equivalence, Search, equivalence};
pub use example::{Example, plain_path};
pub use language::Language;
pub use machine::{Machine, Owner, State};
pub use product::{Product, Visit};
pub use reach::{Reach, machine, reach};
pub use rules::{Rules, robots_named};
pub use status::{RuleStatus, statuses};
pub(crate) use status::{SEARCHES, Winners, statuses_within};

/// The bounds of one analysis. Reaching one gives an answer that reports it, never a wrong answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnalysisLimits {
    /// The maximum number of pattern positions to read, plus a charge per state.
    pub positions_max: u64,
    /// The maximum number of states, or pairs of states, to visit.
    pub states_max: usize,
}

impl Default for AnalysisLimits {
    fn default() -> AnalysisLimits {
        AnalysisLimits { positions_max: ANALYSIS_POSITIONS_MAX, states_max: ANALYSIS_STATES_MAX }
    }
}

impl AnalysisLimits {
    /// Returns the bound that these numbers of positions and states exceed.
    fn reached(&self, positions: u64, states: usize) -> Option<Bound> {
        if positions > self.positions_max {
            return Some(Bound::Positions(self.positions_max));
        }
        (states > self.states_max).then_some(Bound::States(self.states_max))
    }
}

/// The limit that ended an analysis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bound {
    /// [`AnalysisLimits::positions_max`], with its value.
    Positions(u64),
    /// [`AnalysisLimits::states_max`], with its value.
    States(usize),
    /// A longer path would make a URL longer than [`URL_BYTES_MAX`].
    PathBytes,
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Bound::Positions(positions) => {
                write!(f, "the limit of {positions} pattern positions was reached")
            }
            Bound::States(states) => write!(f, "the limit of {states} states was reached"),
            Bound::PathBytes => {
                write!(f, "the limit of {} bytes of a URL was reached", URL_BYTES_MAX)
            }
        }
    }
}

/// The shared budget of several searches.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    limits: AnalysisLimits,
    /// What was there at first, and what is left.
    granted: AnalysisLimits,
    left: AnalysisLimits,
    /// One search may spend the remaining budget divided by this, so that a hard search leaves
    /// something for the others.
    searches: u32,
}

impl Budget {
    /// Creates a budget of `limits`. A search may spend one part in `searches` of the rest.
    pub(crate) fn new(limits: &AnalysisLimits, searches: u32) -> Budget {
        Budget { limits: *limits, granted: *limits, left: *limits, searches }
    }

    /// Returns the budget of one of several analyses that share this one: as [`Budget::new`], and no
    /// more than is left. [`Budget::charge`] charges what it spent.
    pub(crate) fn part(&self, limits: &AnalysisLimits, searches: u32) -> Budget {
        let granted = AnalysisLimits {
            positions_max: limits.positions_max.min(self.left.positions_max),
            states_max: limits.states_max.min(self.left.states_max),
        };
        Budget { limits: *limits, granted, left: granted, searches }
    }

    /// Charges what `part` spent.
    pub(crate) fn charge(&mut self, part: &Budget) {
        self.spend(part.spent(), part.granted.states_max - part.left.states_max);
    }

    /// Returns the number of positions spent.
    pub(crate) fn spent(&self) -> u64 {
        self.granted.positions_max - self.left.positions_max
    }

    /// Returns the limits of one search.
    fn share(&self) -> AnalysisLimits {
        AnalysisLimits {
            positions_max: self.left.positions_max / u64::from(self.searches),
            states_max: self.left.states_max / self.searches as usize,
        }
    }

    /// Fails if no share is left.
    pub(crate) fn check(&self) -> Result<(), Bound> {
        let share = self.share();
        if share.positions_max == 0 {
            return Err(Bound::Positions(self.limits.positions_max));
        }
        if share.states_max == 0 {
            return Err(Bound::States(self.limits.states_max));
        }
        Ok(())
    }

    /// Spends so many positions outside of a search, or all that are left.
    ///
    /// # Errors
    ///
    /// If so many are not left. Nothing is left then.
    pub(crate) fn take(&mut self, positions: u64) -> Result<(), Bound> {
        let is_enough = positions <= self.left.positions_max;
        self.spend(positions, 0);
        is_enough.then_some(()).ok_or(Bound::Positions(self.limits.positions_max))
    }

    fn spend(&mut self, positions: u64, states: usize) {
        self.left.positions_max = self.left.positions_max.saturating_sub(positions);
        self.left.states_max = self.left.states_max.saturating_sub(states);
    }

    /// Returns the bound of the whole analysis that corresponds to the bound of a share.
    fn bound(&self, reached: Bound) -> Bound {
        match reached {
            Bound::Positions(_) => Bound::Positions(self.limits.positions_max),
            Bound::States(_) => Bound::States(self.limits.states_max),
            Bound::PathBytes => Bound::PathBytes,
        }
    }
}
