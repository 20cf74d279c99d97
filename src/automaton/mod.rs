//! Patterns in order of precedence, compiled to one automaton that reports the one that decides.
//!
//! Owns matching and nothing else: it knows no agents, no URLs and no lines. Give it a
//! [`PatternList`], best first, and for each pattern an [`Outcome`]; it answers with the outcome of
//! the first pattern of the list that matches a path. What must be told apart is said by the
//! outcomes alone: give each rule its own and the answer names the rule; give all Allow rules one
//! and all Disallow rules another and the same construction has fewer states and stops earlier.
//! Use [`policy`](crate::policy) to get from a robots.txt to an answer.
//!
//! | strategy | when | cost of an answer |
//! |---|---|---|
//! | [`Strategy::Constant`] | one outcome whatever the path | none |
//! | [`Strategy::Ahead`] | the whole automaton fits its budget: nearly always | one node for a stretch of the path, until the outcome is settled |
//! | [`Strategy::OnDemand`] | many stars | the same, but a state is built when a path first asks for it |
//! | `scan` | what on-demand building may not spend | a search of the path for each rule |
//!
//! [`RegexEngine`] stands beside them: regex-automata over the same patterns, to compare with.
//!
//! Every bound is in [`Limits`]; reaching one changes the strategy and never the answer. `DESIGN.md`
//! beside this file goes from the naive matcher to this one, with what each step gained.
//!
//! ```
//! use portcullis::automaton::{Automaton, Limits, Outcome};
//! use portcullis::pattern::PatternList;
//!
//! let (allow, disallow) = (Outcome::new(1), Outcome::new(2));
//! let mut patterns = PatternList::new();
//! patterns.push(b"/private/*.png", true);
//! patterns.push(b"/private/", true);
//! let automaton = Automaton::new(patterns, vec![allow, disallow], &Limits::default());
//! let mut cache = automaton.cache();
//! assert_eq!(automaton.decide(b"/private/a.png", &mut cache), allow);
//! assert_eq!(automaton.decide(b"/private/a", &mut cache), disallow);
//! assert_eq!(automaton.decide(b"/public", &mut cache), Outcome::NONE);
//! ```

mod determinize;
mod nfa;
mod on_demand;
mod program;
mod regex;
mod scan;

use crate::limits;
use crate::pattern::PatternList;

use determinize::Determinizer;
use nfa::Nfa;
use on_demand::OnDemand;
use program::{Program, Target, Walk};

pub use on_demand::Cache;
pub use regex::{RegexCache, RegexEngine, RegexError};
pub use scan::matches as pattern_matches;

/// What the match of a pattern means: a number of the caller's, or [`Outcome::NONE`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Outcome(u32);

impl Outcome {
    /// No pattern matches.
    pub const NONE: Outcome = Outcome(0);

    /// The largest number.
    pub const MAX: u32 = (1 << 31) - 1;

    /// The outcome with this number.
    ///
    /// # Panics
    ///
    /// If `number` is 0 or more than [`Outcome::MAX`].
    pub const fn new(number: u32) -> Outcome {
        assert!(number != 0 && number <= Outcome::MAX, "an outcome's number is 1 to 2^31 - 1");
        Outcome(number)
    }

    /// The number; 0 if no pattern matches.
    pub const fn number(self) -> u32 {
        self.0
    }
}

/// What building may spend. Reaching a limit changes the [`Strategy`], never an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Positions that building ahead may look at; 0 builds everything on demand.
    pub ahead_positions_max: u64,
    /// Octets that one on-demand cache may hold.
    pub on_demand_octets_max: usize,
    /// Positions that one on-demand cache may look at in its life.
    pub on_demand_positions_max: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            ahead_positions_max: limits::AHEAD_POSITIONS_MAX,
            on_demand_octets_max: limits::ON_DEMAND_OCTETS_MAX,
            on_demand_positions_max: limits::ON_DEMAND_POSITIONS_MAX,
        }
    }
}

/// How an automaton answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Strategy {
    /// One outcome whatever the path.
    Constant,
    /// The whole automaton, built before the first path.
    Ahead,
    /// States built when a path asks for them, in a [`Cache`].
    OnDemand,
}

/// The compiled patterns of one rule set.
#[derive(Debug)]
pub struct Automaton(Kind);

#[derive(Debug)]
enum Kind {
    Constant(Outcome),
    Ahead { program: Program, start: Target, nodes: usize },
    OnDemand(Box<OnDemand>),
}

impl Automaton {
    /// Compiles `patterns`, which stand in order of precedence, the best first. `outcomes[i]` is
    /// what a match of pattern *i* means.
    ///
    /// # Panics
    ///
    /// If there are not as many outcomes as patterns.
    pub fn new(patterns: PatternList, outcomes: Vec<Outcome>, limits: &Limits) -> Automaton {
        let nfa = Nfa::new(&patterns, &outcomes);
        let start = nfa.start();
        if start.positions.is_empty() {
            return Automaton(Kind::Constant(start.best));
        }
        let mut determinizer = Determinizer::new(&nfa);
        let work_max = limits.ahead_positions_max;
        let complete = work_max > 0
            && determinizer.build_all(&nfa, |determinizer| determinizer.work() <= work_max);
        Automaton(if complete {
            let (start, nodes) = (determinizer.start(), determinizer.nodes());
            Kind::Ahead { program: determinizer.into_program(), start, nodes }
        } else {
            Kind::OnDemand(Box::new(OnDemand::new(nfa, patterns, outcomes, limits)))
        })
    }

    /// Memory for answers. It belongs to this automaton; each thread needs its own. It costs
    /// nothing unless the strategy is [`Strategy::OnDemand`].
    pub fn cache(&self) -> Cache {
        Cache::default()
    }

    /// The outcome of the best pattern that matches `path`, which is in normal form.
    ///
    /// # Panics
    ///
    /// May panic, or answer for the other, if `cache` was used with another automaton.
    #[inline]
    pub fn decide(&self, path: &[u8], cache: &mut Cache) -> Outcome {
        match &self.0 {
            Kind::Constant(outcome) => *outcome,
            Kind::Ahead { program, start, .. } => match program.walk(*start, path, 0) {
                Walk::Done(outcome) => outcome,
                Walk::Unbuilt { .. } => unreachable!("all arcs are built"),
            },
            Kind::OnDemand(on_demand) => on_demand.decide(path, cache),
        }
    }

    /// How this automaton answers.
    pub fn strategy(&self) -> Strategy {
        match &self.0 {
            Kind::Constant(_) => Strategy::Constant,
            Kind::Ahead { .. } => Strategy::Ahead,
            Kind::OnDemand(_) => Strategy::OnDemand,
        }
    }

    /// The number of nodes built ahead.
    pub fn nodes(&self) -> usize {
        match &self.0 {
            Kind::Ahead { nodes, .. } => *nodes,
            Kind::Constant(_) | Kind::OnDemand(_) => 0,
        }
    }

    /// Octets of memory that this holds, caches not counted.
    pub fn memory_octets(&self) -> usize {
        match &self.0 {
            Kind::Constant(_) => 0,
            Kind::Ahead { program, .. } => program.memory_octets(),
            Kind::OnDemand(on_demand) => on_demand.memory_octets(),
        }
    }
}

#[cfg(test)]
mod tests;
