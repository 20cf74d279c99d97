//! The lazy DFA of regex-automata over a list of patterns.
//!
//! The patterns become one anchored alternation, best first, with leftmost-first semantics: the
//! match that a search reports is the first pattern of the list that matches. Building makes the NFA
//! only. A path costs a table look-up per byte, plus the states that are built in the [`RegexCache`];
//! a search gives up where they would not pay.

use regex_automata::hybrid;
use regex_automata::nfa::thompson::{self, Builder, NFA, Transition};
use regex_automata::util::look::Look;
use regex_automata::util::primitives::StateID;
use regex_automata::{Anchored, Input, MatchKind};

use crate::limits::{DFA_CACHE_BYTES_MAX, DFA_CLEARINGS_MAX, DFA_STATE_BYTES_MIN};
use crate::pattern::Pattern;

/// Patterns compiled by regex-automata.
#[derive(Debug)]
pub struct RegexEngine(hybrid::dfa::DFA);

/// A thread's cache for one [`RegexEngine`].
#[derive(Clone, Debug)]
pub struct RegexCache(hybrid::dfa::Cache);

/// The path needs more states than pay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GaveUp;

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
    /// Builds the NFA. The cache grows to [`DFA_CACHE_BYTES_MAX`].
    ///
    /// # Errors
    ///
    /// If there are more positions than regex-automata can number.
    pub fn new<'p>(patterns: impl Iterator<Item = Pattern<'p>>) -> Result<RegexEngine, RegexError> {
        let config = hybrid::dfa::Config::new()
            .match_kind(MatchKind::LeftmostFirst)
            .cache_capacity(DFA_CACHE_BYTES_MAX)
            .minimum_cache_clear_count(Some(DFA_CLEARINGS_MAX))
            .minimum_bytes_per_state(Some(DFA_STATE_BYTES_MIN))
            .skip_cache_capacity_check(true);
        let dfa = hybrid::dfa::Builder::new().configure(config).build_from_nfa(nfa(patterns)?);
        dfa.map(RegexEngine).map_err(|error| RegexError::Lazy(error.into()))
    }

    /// Returns a cache for this engine; each thread needs its own.
    pub fn cache(&self) -> RegexCache {
        RegexCache(self.0.create_cache())
    }

    /// Returns the index of the first pattern that matches `path`, a path in normal form.
    ///
    /// # Errors
    ///
    /// If the path needs more states than pay.
    ///
    /// # Panics
    ///
    /// If another engine made `cache`, this may panic or give a wrong answer.
    pub fn first_match(
        &self,
        path: &[u8],
        cache: &mut RegexCache,
    ) -> Result<Option<usize>, GaveUp> {
        let input = Input::new(path).anchored(Anchored::Yes);
        let found = self.0.try_search_fwd(&mut cache.0, &input).map_err(|_| GaveUp)?;
        Ok(found.map(|found| found.pattern().as_usize()))
    }

    /// Returns the memory held without caches, in bytes.
    pub fn memory_bytes(&self) -> usize {
        self.0.memory_usage()
    }
}

/// Builds one anchored alternation of all patterns, best first.
fn nfa<'p>(patterns: impl Iterator<Item = Pattern<'p>>) -> Result<NFA, Box<thompson::BuildError>> {
    let mut builder = Builder::new();
    builder.set_utf8(false);
    let mut alternatives = Vec::new();
    for pattern in patterns {
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
    pattern: &Pattern<'_>,
) -> Result<StateID, Box<thompson::BuildError>> {
    let mut next = builder.add_match()?;
    if pattern.is_anchored() {
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
