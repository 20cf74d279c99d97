//! The automata of regex-automata over the patterns of a rule set.
//!
//! The patterns become one anchored alternation, best first, with leftmost-first semantics: the
//! match that a search reports is the first pattern of the list that matches.
//!
//! | variant | building | a path |
//! |---|---|---|
//! | [`RegexEngine::lazy`] | the NFA only | one table look-up per byte, plus states built in the [`RegexCache`]; gives up where they would not pay |
//! | [`RegexEngine::dense`] | the whole table, exponential in the stars; fails at a size limit | one table look-up per byte |
//!
//! [`Cache`](crate::Cache) runs the lazy variant. The dense one is an engine of the benchmark harness
//! and of tests.

use regex_automata::dfa::{Automaton as _, StartKind, dense};
use regex_automata::hybrid;
use regex_automata::nfa::thompson::{self, Builder, NFA, Transition};
use regex_automata::util::look::Look;
use regex_automata::util::primitives::StateID;
use regex_automata::{Anchored, Input, MatchKind};

use portcullis_dialect::limits::{DFA_CACHE_BYTES_MAX, DFA_CLEARINGS_MAX, DFA_STATE_BYTES_MIN};

use crate::outcome::Outcome;
use crate::pattern::{PathPattern, PatternList};

/// Patterns compiled by regex-automata.
#[derive(Debug)]
pub struct RegexEngine {
    kind: Kind,
    /// The outcome of each pattern.
    outcomes: Vec<Outcome>,
}

#[derive(Debug)]
enum Kind {
    Dense(Box<dense::DFA<Vec<u32>>>),
    Lazy(Box<hybrid::dfa::DFA>),
}

/// A thread's cache for one [`RegexEngine`].
#[derive(Clone, Debug)]
pub struct RegexCache(Option<hybrid::dfa::Cache>);

/// An error of regex-automata compiling the patterns.
#[derive(Debug, thiserror::Error)]
pub enum RegexError {
    /// The NFA has too many states.
    #[error("the patterns have too many positions for regex-automata: {0}; use fewer rules")]
    Nfa(#[from] Box<thompson::BuildError>),
    /// The dense table exceeds the size limit.
    #[error(
        "the dense automaton cannot be built: {0}; raise the size limit or take the lazy variant"
    )]
    Dense(Box<dense::BuildError>),
    /// The lazy automaton cannot be set up.
    #[error("the lazy automaton cannot be built: {0}; use fewer rules")]
    Lazy(Box<hybrid::BuildError>),
}

impl RegexCache {
    /// Returns the memory held, in bytes.
    pub fn memory_bytes(&self) -> usize {
        self.0.as_ref().map_or(0, hybrid::dfa::Cache::memory_usage)
    }
}

impl RegexEngine {
    /// Builds the whole table; `outcomes[i]` is the outcome of pattern *i*.
    ///
    /// # Errors
    ///
    /// If the table, or the memory to build it, exceeds `size_limit_bytes`. A few rules with
    /// several stars are enough.
    pub fn dense(
        patterns: &PatternList,
        outcomes: &[Outcome],
        size_limit_bytes: usize,
    ) -> Result<RegexEngine, RegexError> {
        let config = dense::Config::new()
            .match_kind(MatchKind::LeftmostFirst)
            .start_kind(StartKind::Anchored)
            .accelerate(false)
            .dfa_size_limit(Some(size_limit_bytes))
            .determinize_size_limit(Some(size_limit_bytes));
        let dfa = dense::Builder::new().configure(config).build_from_nfa(&nfa(patterns, outcomes)?);
        let kind = Kind::Dense(Box::new(dfa.map_err(|error| RegexError::Dense(error.into()))?));
        Ok(RegexEngine { kind, outcomes: outcomes.to_vec() })
    }

    /// Builds the NFA; `outcomes[i]` is the outcome of pattern *i*. The cache grows to
    /// [`DFA_CACHE_BYTES_MAX`].
    ///
    /// # Errors
    ///
    /// If there are more positions than regex-automata can number.
    pub fn lazy(patterns: &PatternList, outcomes: &[Outcome]) -> Result<RegexEngine, RegexError> {
        let config = hybrid::dfa::Config::new()
            .match_kind(MatchKind::LeftmostFirst)
            .cache_capacity(DFA_CACHE_BYTES_MAX)
            .minimum_cache_clear_count(Some(DFA_CLEARINGS_MAX))
            .minimum_bytes_per_state(Some(DFA_STATE_BYTES_MIN))
            .skip_cache_capacity_check(true);
        let dfa =
            hybrid::dfa::Builder::new().configure(config).build_from_nfa(nfa(patterns, outcomes)?);
        let kind = Kind::Lazy(Box::new(dfa.map_err(|error| RegexError::Lazy(error.into()))?));
        Ok(RegexEngine { kind, outcomes: outcomes.to_vec() })
    }

    /// Returns a cache for this engine; each thread needs its own.
    pub fn cache(&self) -> RegexCache {
        RegexCache(match &self.kind {
            Kind::Dense(_) => None,
            Kind::Lazy(dfa) => Some(dfa.create_cache()),
        })
    }

    /// Returns the outcome of the first pattern that matches `path`, a path in normal form. `None` if
    /// the lazy variant gives up: the path needs more states than pay.
    ///
    /// # Panics
    ///
    /// If another engine made `cache`, this may panic or give a wrong answer.
    pub fn decide(&self, path: &[u8], cache: &mut RegexCache) -> Option<Outcome> {
        let input = Input::new(path).anchored(Anchored::Yes);
        let found = match &self.kind {
            Kind::Dense(dfa) => dfa.try_search_fwd(&input).ok()?,
            Kind::Lazy(dfa) => {
                let cache = cache.0.get_or_insert_with(|| dfa.create_cache());
                dfa.try_search_fwd(cache, &input).ok()?
            }
        };
        Some(found.map_or(Outcome::NONE, |found| self.outcomes[found.pattern().as_usize()]))
    }

    /// Returns the memory held without caches, in bytes.
    pub fn memory_bytes(&self) -> usize {
        let automaton = match &self.kind {
            Kind::Dense(dfa) => dfa.memory_usage(),
            Kind::Lazy(dfa) => dfa.memory_usage(),
        };
        automaton + size_of_val(&*self.outcomes)
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
