//! Exact answers about rules over all URLs: whether two rule sets are equivalent, and which rules
//! of a rule set have an effect.
//!
//! Owns [`equivalence`] of two rule sets and the [`statuses`] of the rules of one. A status
//! says, for example, that a rule never decides because another rule wins wherever it matches.
//! [`FileComparison`] compares two files for many crawlers. To decide given URLs, use
//! [`policy`](portcullis_robots::policy) or a classifier of `portcullis-set`.
//!
//! # How
//!
//! The rules become one deterministic automaton, a [`Machine`]. A breadth-first search
//! follows all paths at once, so that the first path it finds is a shortest one. Four things keep it small:
//!
//! - all bytes that no rule asks for at a place are one symbol;
//! - states are built lazily, and kept for the next search;
//! - a search does not continue where the answer cannot change any more: where only rules that both sides
//!   share can still match, or where one side has the same verdict on all longer paths, and not the one that
//!   is searched for;
//! - the status of a rule is decided among few rules: those that beat it on the paths tried so far. For
//!   most rules a single path is enough, the shortest that they match.
//!
//! A search covers exactly the paths that URLs can have: they start with `/`, have no `#` (unless it can be
//! decoded), and are in the dialect's normal form. So what is found is always the path of a URL, and a rule
//! that asks for anything else never matches. If the dialect always allows the URL of robots.txt, this is a
//! rule before all others.
//!
//! # Cost and limits
//!
//! Rules without stars form a trie, which costs their bytes. With stars, states can be exponential in the
//! rules. A [`Budget`] bounds the search, and the answer is then `Unknown` with the [`Bound`] that was reached,
//! never "equal" or "never". Nothing else can fail. Analyses of many crawlers share a budget, and those with
//! the same rules share an analysis. Paths have any length, also one that no URL has.
//!
//! ```
//! use portcullis_lint::analysis::{Budget, FileComparison, Grouped};
//! use portcullis_dialect::dialect::RFC_9309;
//! use portcullis_robots::syntax::RobotsTxt;
//!
//! let old = b"User-agent: *\nDisallow: /a\nDisallow: /a/b\n";
//! let new = b"User-agent: *\nDisallow: /a # and all below\n";
//! let [old, new] = [&old[..], new].map(|text| RobotsTxt::parse(text, &RFC_9309, None));
//! let sides = [&old, &new].map(|file| Grouped::new(file, &RFC_9309));
//! let mut budget = Budget::default();
//! let mut comparison = FileComparison::new(sides.each_ref(), &mut budget);
//! assert_eq!(*comparison.robot(None).differences, [Ok(None), Ok(None)]);
//! ```

mod comparison;
mod equivalence;
mod language;
mod machine;
mod product;
mod reach;
mod rules;
mod status;

use crate::limits::ANALYSIS_POSITIONS_MAX;

pub use comparison::{FileComparison, RobotComparison};
pub use equivalence::{Search, equivalence};
pub(crate) use equivalence::{difference, overlap};
pub(crate) use language::triplet;
pub use language::{Language, plain_path};
pub use machine::{Machine, Owner, State};
pub use product::{Product, Visit};
pub use reach::{Reach, Relation, machine, reach, relation};
pub use rules::{Grouped, Rules, robots_named};
pub(crate) use rules::{key, numbers};
pub(crate) use status::Analysis;
pub use status::{RuleStatus, statuses};

/// The limit that ended an analysis: a number of pattern positions. An analysis that reaches it gives an
/// answer that says so, never a wrong answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[error("the limit of {0} pattern positions was reached")]
pub struct Bound(pub u64);

/// The shared budget of several searches, in pattern positions.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    limit: u64,
    left: u64,
    /// One comparison may spend the remaining budget divided by this, so that a hard one leaves
    /// something for the others.
    comparisons: u64,
}

/// One analysis.
impl Default for Budget {
    fn default() -> Budget {
        Budget::new(ANALYSIS_POSITIONS_MAX, 1)
    }
}

impl Budget {
    /// Creates a budget of `limit` positions. A comparison may spend one part in `comparisons` of the rest.
    pub fn new(limit: u64, comparisons: u64) -> Budget {
        Budget { limit, left: limit, comparisons }
    }

    /// Returns the work so far: pattern positions, with charges for what else was read.
    pub fn spent(&self) -> u64 {
        self.limit - self.left
    }

    /// Fails if no share is left.
    pub(crate) fn check(&self) -> Result<(), Bound> {
        (self.left >= self.comparisons).then_some(()).ok_or(Bound(self.limit))
    }

    /// Spends so many positions outside of a search, or all that are left.
    ///
    /// # Errors
    ///
    /// If so many are not left. Nothing is left then.
    pub(crate) fn take(&mut self, positions: u64) -> Result<(), Bound> {
        let is_enough = positions <= self.left;
        self.left = self.left.saturating_sub(positions);
        is_enough.then_some(()).ok_or(Bound(self.limit))
    }

    /// [Finds](Product::find) paths within a share of the budget, one of `searches` of a comparison, and
    /// charges the work. The error is the limit of the whole budget.
    fn find<const N: usize, const W: usize>(
        &mut self,
        searches: u64,
        mut product: Product<'_, N>,
        wanted: [[bool; N]; W],
        enough: usize,
    ) -> [Result<Option<Vec<u8>>, Bound>; W] {
        let share = self.left / (self.comparisons * searches);
        let found = product.find(wanted, enough, share);
        self.left = self.left.saturating_sub(product.work());
        found.map(|path| path.map_err(|_| Bound(self.limit)))
    }
}
