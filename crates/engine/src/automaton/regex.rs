//! The automata of regex-automata over the patterns of a rule set.
//!
//! The patterns become one anchored alternation, best first, with leftmost-first semantics: the
//! match that a search reports is the first pattern of the list that matches.
//!
//! Building makes the NFA only. A path costs a table look-up per byte, plus the states that are built
//! in the [`RegexCache`]; a search gives up where they would not pay.

use regex_automata::hybrid;
use regex_automata::nfa::thompson::{self, Builder, NFA, Transition};
use regex_automata::util::look::Look;
use regex_automata::util::primitives::StateID;
use regex_automata::{Anchored, Input, MatchKind};

use crate::limits::{DFA_CACHE_BYTES_MAX, DFA_CLEARINGS_MAX, DFA_STATE_BYTES_MIN};
use crate::outcome::Outcome;
use crate::pattern::{PathPattern, PatternList};

/// Patterns compiled by regex-automata.
#[derive(Debug)]
pub struct RegexEngine {
    dfa: hybrid::dfa::DFA,
    /// The outcome of each pattern.
    outcomes: Vec<Outcome>,
}

/// A thread's cache for one [`RegexEngine`].
#[derive(Clone, Debug)]
pub struct RegexCache(hybrid::dfa::Cache);

/// An error of regex-automata compiling the patterns.
#[derive(Debug, thiserror::Error)]
pub enum RegexError {
    /// The NFA has too many states.
    #[error("the patterns have too many positions for regex-automata: {0}; use fewer rules")]
    Nfa(#[from] Box<thompson::BuildError>),
    /// The lazy automaton cannot be set up.
    #[error("the lazy automaton cannot be built: {0}; use fewer rules")]
    Lazy(Box<hybrid::BuildError>),
}

impl RegexCache {
    /// Returns the memory held, in bytes.
    pub fn memory_bytes(&self) -> usize {
        self.0.memory_usage()
    }
}

impl RegexEngine {
    /// Builds the NFA; `outcomes[i]` is the outcome of pattern *i*. The cache grows to
    /// [`DFA_CACHE_BYTES_MAX`].
    ///
    /// # Errors
    ///
    /// If there are more positions than regex-automata can number.
    pub fn new(patterns: &PatternList, outcomes: &[Outcome]) -> Result<RegexEngine, RegexError> {
        let config = hybrid::dfa::Config::new()
            .match_kind(MatchKind::LeftmostFirst)
            .cache_capacity(DFA_CACHE_BYTES_MAX)
            .minimum_cache_clear_count(Some(DFA_CLEARINGS_MAX))
            .minimum_bytes_per_state(Some(DFA_STATE_BYTES_MIN))
            .skip_cache_capacity_check(true);
        let dfa =
            hybrid::dfa::Builder::new().configure(config).build_from_nfa(nfa(patterns, outcomes)?);
        let dfa = dfa.map_err(|error| RegexError::Lazy(error.into()))?;
        Ok(RegexEngine { dfa, outcomes: outcomes.to_vec() })
    }

    /// Returns a cache for this engine; each thread needs its own.
    pub fn cache(&self) -> RegexCache {
        RegexCache(self.dfa.create_cache())
    }

    /// Returns the outcome of the first pattern that matches `path`, a path in normal form. `None` if
    /// it gives up: the path needs more states than pay.
    ///
    /// # Panics
    ///
    /// If another engine made `cache`, this may panic or give a wrong answer.
    pub fn decide(&self, path: &[u8], cache: &mut RegexCache) -> Option<Outcome> {
        let input = Input::new(path).anchored(Anchored::Yes);
        let found = self.dfa.try_search_fwd(&mut cache.0, &input).ok()?;
        Some(found.map_or(Outcome::NONE, |found| self.outcomes[found.pattern().as_usize()]))
    }

    /// Returns the memory held without caches, in bytes.
    pub fn memory_bytes(&self) -> usize {
        self.dfa.memory_usage() + size_of_val(&*self.outcomes)
    }
}

/// Builds one anchored alternation of all patterns, best first.
fn nfa(patterns: &PatternList, outcomes: &[Outcome]) -> Result<NFA, Box<thompson::BuildError>> {
    assert_eq!(patterns.len(), outcomes.len(), "one outcome for each pattern");
    let mut builder = Builder::new();
    builder.set_utf8(false);
    let mut alternatives = Vec::with_capacity(patterns.len());
    for pattern in patterns.iter() {
        builder.start_pattern()?;
        let start = add_pattern(&mut builder, &pattern)?;
        builder.finish_pattern(start)?;
        alternatives.push(start);
    }
    let start = builder.add_union(alternatives)?;
    Ok(builder.build(start, start)?)
}

/// Adds the states of `pattern`, last to first, and returns the first.
fn add_pattern(
    builder: &mut Builder,
    pattern: &PathPattern<'_>,
) -> Result<StateID, Box<thompson::BuildError>> {
    let mut next = builder.add_match()?;
    if pattern.anchored {
        next = builder.add_look(next, Look::End)?;
    }
    let literals: Vec<&[u8]> = pattern.literals().collect();
    for (index, literal) in literals.iter().enumerate().rev() {
        for &byte in literal.iter().rev() {
            next = builder.add_range(Transition { start: byte, end: byte, next })?;
        }
        if index > 0 {
            next = add_star(builder, next)?;
        }
    }
    Ok(next)
}

/// Adds a loop over any byte. It prefers `next`: a literal found early ends the loop.
fn add_star(builder: &mut Builder, next: StateID) -> Result<StateID, Box<thompson::BuildError>> {
    let star = builder.add_union(vec![next])?;
    let any = builder.add_range(Transition { start: 0, end: 255, next: star })?;
    builder.patch(star, any)?;
    Ok(star)
}
