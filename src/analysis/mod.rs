//! Questions about rules themselves, answered exactly: do two rule sets decide every URL alike, and
//! what is each rule there for?
//!
//! Owns the answers that hold for every URL there is, not for a list: [`equivalence`] of two rule
//! sets, under one dialect or two, and the [`standings`] of the rules of one, such as that a rule
//! never decides because another wins wherever it matches. [`AgentRules`] goes from a robots.txt to
//! the rules that one robot obeys. To ask about URLs that you have, use [`policy`](crate::policy) or
//! [`batch`](crate::batch).
//!
//! # How
//!
//! The rules of a set are one deterministic automaton, as in [`automaton`](crate::automaton); here it
//! is walked not along a path but along all of them, breadth-first, so that the first path that shows
//! something is a shortest one. Four things keep that small:
//!
//! - bytes that no rule asks for at a place are one byte;
//! - states are built when a walk comes to them, and kept for the next walk;
//! - what cannot change the answer any more is not walked through: for equivalence, where no rule is
//!   left that the two sets do not share;
//! - a rule's standing is asked of few rules at a time: those that beat it on the paths tried so far.
//!   Most rules are settled by a single path, the shortest that they match.
//!
//! The paths walked are those that URLs have: they start with `/`, have no `#` (unless it can be
//! decoded), and are in the dialect's normal form. So an [`Example`] is always the path of a URL, and
//! a rule that asks for anything else never matches. The URL of robots.txt, where the dialect always
//! allows it, is a rule before all others.
//!
//! # Cost and limits
//!
//! A set without stars is a trie, and costs its bytes. With stars the states can be exponential in the
//! rules; [`Limits`] end that, and the answer then is `Unknown` with the [`Bound`] that was reached. It
//! never turns into "equal" or "never". Nothing else can fail.
//!
//! ```
//! use portcullis::analysis::{AgentRules, Equivalence, Limits, Robot, equivalence};
//! use portcullis::dialect::RFC_9309;
//! use portcullis::syntax::RobotsTxt;
//!
//! let old = b"User-agent: *\nDisallow: /a\nDisallow: /a/b\n";
//! let new = b"User-agent: *\nDisallow: /a # and all below\n";
//! let [old, new] = [&old[..], new].map(|text| RobotsTxt::parse(text, &RFC_9309, None));
//! let rules = |file| AgentRules::new(file, Robot::Unnamed, &RFC_9309);
//! let answer = equivalence(rules(&old).rules(), rules(&new).rules(), &Limits::default());
//! assert_eq!(answer, Equivalence::Equal);
//! ```

mod alphabet;
mod budget;
mod equivalence;
mod file;
mod language;
mod machine;
mod need;
mod positions;
mod rules;
mod seek;
mod standing;
mod tree;

use std::fmt;

use crate::limits;

pub use equivalence::{Equivalence, Search, equivalence};
pub use file::{AgentRules, Robot, robots_named};
pub use language::Example;
pub use rules::Rules;
pub use standing::{RuleStanding, Standing, Successor, never_deciding, standings};

/// What one analysis may spend. Reaching a limit ends as an answer that says so, never as a wrong one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Positions of patterns that may be looked at, with a charge for each state.
    pub positions_max: u64,
    /// States, or pairs of them, that may be walked through.
    pub states_max: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            positions_max: limits::ANALYSIS_POSITIONS_MAX,
            states_max: limits::ANALYSIS_STATES_MAX,
        }
    }
}

impl Limits {
    /// The limit that is reached by so many positions and states.
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
    /// [`Limits::positions_max`], with its number.
    Positions(u64),
    /// [`Limits::states_max`], with its number.
    States(usize),
    /// A longer path would make a URL longer than
    /// [`URL_BYTES_MAX`](crate::limits::URL_BYTES_MAX), which nobody asks about.
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
                write!(f, "the limit of {} bytes of a URL was reached", limits::URL_BYTES_MAX)
            }
        }
    }
}
