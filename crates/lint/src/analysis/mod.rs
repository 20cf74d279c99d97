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
//! use portcullis_lint::analysis::{AnalysisLimits, Budget, FileComparison, Grouped};
//! use portcullis_dialect::dialect::RFC_9309;
//! use portcullis_robots::syntax::RobotsTxt;
//!
//! let old = b"User-agent: *\nDisallow: /a\nDisallow: /a/b\n";
//! let new = b"User-agent: *\nDisallow: /a # and all below\n";
//! let [old, new] = [&old[..], new].map(|text| RobotsTxt::parse(text, &RFC_9309, None));
//! let sides = [&old, &new].map(|file| Grouped::new(file, &RFC_9309));
//! let mut budget = Budget::new(&AnalysisLimits::default(), 1);
//! let mut comparison = FileComparison::new(sides.each_ref(), &mut budget);
//! assert_eq!(*comparison.robot(None).differences, [Ok(None), Ok(None)]);
//! ```

mod comparison;
mod equivalence;
mod language;
mod machine;
mod product;
mod reach;
mod relation;
mod rules;
mod status;

use std::fmt;

use portcullis_dialect::limits::URL_BYTES_MAX;

use crate::limits::{ANALYSIS_POSITIONS_MAX, ANALYSIS_STATES_MAX};

pub use comparison::{FileComparison, RobotComparison};
pub(crate) use equivalence::difference;
pub use equivalence::{Search, equivalence};
pub(crate) use language::triplet;
pub use language::{Example, Language, plain_path};
pub use machine::{Machine, Owner, State};
pub use product::{Product, Visit};
pub use reach::{Reach, machine, reach};
pub use relation::{Relation, relation};
pub use rules::{Grouped, Rules, robots_named};
pub(crate) use rules::{key, numbers};
pub(crate) use status::Winners;
pub use status::{RuleStatus, statuses};

/// Bytes of patterns that are made into a machine for the cost of one position.
const BUILT_BYTES: u64 = 4;

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
    /// Fails if these numbers of positions and states exceed a bound.
    fn check(&self, positions: u64, states: usize) -> Result<(), Bound> {
        if positions > self.positions_max {
            return Err(Bound::Positions(self.positions_max));
        }
        (states <= self.states_max).then_some(()).ok_or(Bound::States(self.states_max))
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
        let (limit, of) = match *self {
            Bound::Positions(positions) => (positions, "pattern positions"),
            Bound::States(states) => (states as u64, "states"),
            Bound::PathBytes => (URL_BYTES_MAX as u64, "bytes of a URL"),
        };
        write!(f, "the limit of {limit} {of} was reached")
    }
}

/// The shared budget of several searches.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    limits: AnalysisLimits,
    left: AnalysisLimits,
    /// One comparison may spend the remaining budget divided by this, so that a hard one leaves
    /// something for the others.
    comparisons: u32,
}

impl Budget {
    /// Creates a budget of `limits`. A comparison may spend one part in `comparisons` of the rest.
    pub fn new(limits: &AnalysisLimits, comparisons: u32) -> Budget {
        Budget { limits: *limits, left: *limits, comparisons }
    }

    /// Returns the work so far: pattern positions, with charges for what else was read.
    pub fn spent(&self) -> u64 {
        self.limits.positions_max - self.left.positions_max
    }

    /// Returns the limits of one of `searches` of a comparison.
    fn share(&self, searches: u32) -> AnalysisLimits {
        let parts = self.comparisons * searches;
        AnalysisLimits {
            positions_max: self.left.positions_max / u64::from(parts),
            states_max: self.left.states_max / parts as usize,
        }
    }

    /// Fails if no share is left.
    pub(crate) fn check(&self) -> Result<(), Bound> {
        // The least search.
        self.share(1).check(1, 1).map_err(|reached| self.whole(reached))
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

    /// Runs a search within its share, one of `searches` of a comparison, and charges it and the
    /// building of its machines from so many bytes.
    ///
    /// # Errors
    ///
    /// The limit that ended the search, as one of the whole budget.
    fn search<'l, const N: usize>(
        &mut self,
        searches: u32,
        built_bytes: usize,
        mut product: Product<'l, N>,
        visit: impl FnMut(&Product<'l, N>, usize, [State; N]) -> Visit,
    ) -> Result<(), Bound> {
        let ended = product.run(&self.share(searches), visit);
        self.spend(product.work() + built_bytes as u64 / BUILT_BYTES, product.places());
        ended.map_err(|reached| self.whole(reached))
    }

    /// Returns the bound of the whole budget for that of a share.
    fn whole(&self, reached: Bound) -> Bound {
        match reached {
            Bound::Positions(_) => Bound::Positions(self.limits.positions_max),
            Bound::States(_) => Bound::States(self.limits.states_max),
            Bound::PathBytes => Bound::PathBytes,
        }
    }
}
