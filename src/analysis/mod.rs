//! Questions about rules themselves, answered exactly: do two rule sets decide every URL alike, and
//! what is each rule there for?
//!
//! WIP

mod alphabet;
mod budget;
mod contest;
mod equivalence;
mod file;
mod language;
mod machine;
mod need;
mod positions;
mod rules;
mod standing;
mod tree;

use std::fmt;

use crate::limits;

pub use equivalence::{Equivalence, Search, equivalence};
pub use file::{AgentRules, Robot, robots_named};
pub use language::Example;
pub use rules::Rules;
pub use standing::{RuleStanding, Standing, Successor, standings};

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
    /// [`URL_OCTETS_MAX`](crate::limits::URL_OCTETS_MAX), which nobody asks about.
    PathOctets,
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Bound::Positions(positions) => {
                write!(f, "the limit of {positions} pattern positions was reached")
            }
            Bound::States(states) => write!(f, "the limit of {states} states was reached"),
            Bound::PathOctets => {
                write!(f, "the limit of {} octets of a URL was reached", limits::URL_OCTETS_MAX)
            }
        }
    }
}
