//! Patterns in order of precedence, compiled to one automaton that reports the one that decides.
//!
//! Owns matching and nothing else: it knows no agents, no URLs and no lines. Give it a
//! [`PatternList`], best first, and for each pattern an [`Outcome`]; it answers with the outcome of
//! the first pattern of the list that matches a path. One automaton answers two questions: which
//! pattern that is, and only whether it allows, for which a walk ends earlier ([`Detail`]).
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
//! use portcullis::automaton::{Automaton, Detail, Limits, Outcome};
//! use portcullis::pattern::PatternList;
//!
//! let (allow, disallow) = (Outcome::new(1, true), Outcome::new(2, false));
//! let mut patterns = PatternList::new();
//! patterns.push(b"/private/*.png", true);
//! patterns.push(b"/private/", true);
//! let automaton = Automaton::new(patterns, vec![allow, disallow], &Limits::default());
//! let mut cache = automaton.cache();
//! assert_eq!(automaton.decide(b"/private/a.png", Detail::Rule, &mut cache), allow);
//! assert_eq!(automaton.decide(b"/private/a", Detail::Rule, &mut cache), disallow);
//! assert!(!automaton.decide(b"/private/a", Detail::Reason, &mut cache).allows());
//! assert_eq!(automaton.decide(b"/public", Detail::Rule, &mut cache), Outcome::NONE);
//! ```

mod chunk;
mod determinize;
mod nfa;
mod on_demand;
mod prefilter;
mod program;
mod regex;
mod scan;
mod sieve;

use zerocopy::little_endian::U32;

use crate::limits;
use crate::pattern::PatternList;

use determinize::Determinizer;
use nfa::Nfa;
use on_demand::OnDemand;
use program::{Program, Target, Walk, arc, walk};

pub use on_demand::Cache;
pub use regex::{RegexCache, RegexEngine, RegexError};
pub use scan::matches as pattern_matches;
pub(crate) use sieve::{
    FirstLook, FirstLooks, Found, Looks, PatternTexts, Patterns, SieveLine, is_constant, may_begin,
    may_stand, push_text, sieve_of, table_word, text_words, try_candidates,
};

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

/// What building may spend. Reaching a limit changes the [`Strategy`], never an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Positions that building ahead may look at; 0 leaves everything to be done on demand, and costs
    /// nothing until somebody asks.
    pub ahead_positions_max: u64,
    /// Octets that one on-demand cache may hold.
    pub on_demand_octets_max: usize,
    /// Positions that one on-demand cache may look at in its life.
    pub on_demand_positions_max: u64,
    /// Paths that one cache answers by a scan before it builds states on demand.
    pub scans_before_states: u64,
    /// Patterns that a sieve may name for a path before it is walked; no sieve is asked if there is no
    /// number. It means nothing to an automaton by itself.
    pub candidates_tried_max: Option<usize>,
}

impl Limits {
    /// The default for automata behind sieves: few paths come so far, and states are built when they do.
    pub fn sieved() -> Limits {
        Limits { ahead_positions_max: 0, ..Limits::default() }
    }
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            ahead_positions_max: limits::AHEAD_POSITIONS_MAX,
            on_demand_octets_max: limits::ON_DEMAND_OCTETS_MAX,
            on_demand_positions_max: limits::ON_DEMAND_POSITIONS_MAX,
            scans_before_states: limits::SCANS_BEFORE_STATES,
            candidates_tried_max: Some(limits::CANDIDATES_TRIED_MAX),
        }
    }
}

/// A whole automaton as it stands in memory or in a file.
///
/// It may come from anywhere: a broken one gives no answer, but does no harm.
#[derive(Clone, Copy, Debug)]
pub struct StoredAutomaton<'w> {
    /// Where a walk starts.
    pub start: u32,
    /// The nodes.
    pub words: &'w [U32],
}

impl StoredAutomaton<'_> {
    /// As [`Automaton::decide`]; nothing if the automaton is broken.
    #[inline]
    pub fn decide(&self, path: &[u8], detail: Detail) -> Option<Outcome> {
        self.decide_rest(path, 0, detail)
    }

    /// As [`StoredAutomaton::decide`], where so many octets of the path have led to the start.
    #[inline]
    pub fn decide_rest(&self, path: &[u8], consumed: usize, detail: Detail) -> Option<Outcome> {
        match walk(self.words, Target::from_word(self.start), path, consumed, detail) {
            Walk::Done(outcome) => outcome.is_sound().then_some(outcome),
            Walk::Unbuilt { .. } | Walk::Broken => None,
        }
    }

    /// The same automaton with the start to which a path's first octet leads; nothing if that octet
    /// might be looked at more than once, or the automaton is broken.
    pub fn after(&self, octet: u8) -> Option<Self> {
        let start = arc(self.words, Target::from_word(self.start), octet)?;
        Some(StoredAutomaton { start: start.word(), words: self.words })
    }

    /// Whether this is, word for word, what [`Automaton::new`] builds ahead from `patterns` and
    /// `outcomes`. Building is given up when it needs more words than there are, or looks at more
    /// than `positions_max` positions.
    ///
    /// # Panics
    ///
    /// If there are not as many outcomes as patterns.
    pub fn is_of(&self, patterns: &PatternList, outcomes: &[Outcome], positions_max: u64) -> bool {
        let nfa = Nfa::new(patterns, outcomes);
        let start = nfa.start();
        if start.positions.is_empty() {
            return self.words.is_empty() && self.start == Target::outcome(start.best).word();
        }
        let mut determinizer = Determinizer::new(&nfa);
        let complete = determinizer.build_all(&nfa, |determinizer| {
            determinizer.work() <= positions_max && determinizer.words().len() <= self.words.len()
        });
        complete && determinizer.start().word() == self.start && determinizer.words() == self.words
    }
}

/// How much of a site patterns leave to whoever obeys them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reach {
    /// No path is disallowed.
    Everything,
    /// Some paths may be disallowed, and some may not.
    Part,
    /// Every path is disallowed.
    Nothing,
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
        assert_eq!(patterns.len(), outcomes.len(), "one outcome for each pattern");
        if limits.ahead_positions_max == 0 {
            let on_demand = OnDemand::new(None, patterns, outcomes, limits);
            return Automaton(Kind::OnDemand(Box::new(on_demand)));
        }
        let nfa = Nfa::new(&patterns, &outcomes);
        let start = nfa.start();
        if start.positions.is_empty() {
            return Automaton(Kind::Constant(start.best));
        }
        let mut determinizer = Determinizer::new(&nfa);
        let work_max = limits.ahead_positions_max;
        let complete = determinizer.build_all(&nfa, |determinizer| determinizer.work() <= work_max);
        Automaton(if complete {
            let (start, nodes) = (determinizer.start(), determinizer.nodes());
            Kind::Ahead { program: determinizer.into_program(), start, nodes }
        } else {
            Kind::OnDemand(Box::new(OnDemand::new(Some(nfa), patterns, outcomes, limits)))
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
    pub fn decide(&self, path: &[u8], detail: Detail, cache: &mut Cache) -> Outcome {
        match &self.0 {
            Kind::Constant(outcome) => *outcome,
            Kind::Ahead { program, start, .. } => {
                match walk(program.words(), *start, path, 0, detail) {
                    Walk::Done(outcome) => outcome,
                    Walk::Unbuilt { .. } | Walk::Broken => unreachable!("all arcs are built"),
                }
            }
            Kind::OnDemand(on_demand) => on_demand.decide(path, detail, cache),
        }
    }

    /// The automaton as a piece of memory that can be stored; nothing if it is built on demand.
    pub fn stored(&self) -> Option<StoredAutomaton<'_>> {
        match &self.0 {
            Kind::Constant(outcome) => {
                Some(StoredAutomaton { start: Target::outcome(*outcome).word(), words: &[] })
            }
            Kind::Ahead { program, start, .. } => {
                Some(StoredAutomaton { start: start.word(), words: program.words() })
            }
            Kind::OnDemand(_) => None,
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
