//! regex-automata over the same patterns: an engine to compare with.
//!
//! Owns the same question as [`Automaton`](super::Automaton), answered by somebody else's
//! construction: the NFA is put together by hand, its determinization is the `regex` crate's own.
//! So it shares the patterns with our automaton and none of its faults, and shows what a general
//! engine costs here. Tests and measurements use it; no answer to a user comes from it, for which
//! [`Automaton`](super::Automaton) is the neighbour.
//!
//! The list becomes one alternation, best pattern first, under leftmost-first semantics: once an
//! alternative has matched, those after it are dropped, so the last match that a search reports is
//! the first pattern of the list that matches.
//!
//! | variant | building | an answer |
//! |---|---|---|
//! | [`RegexEngine::dense`] | the whole table, exponential in the stars at worst, so it has a size limit and may fail | one table look-up for each byte |
//! | [`RegexEngine::lazy`] | the NFA alone | the same look-up, after a state has been built in the [`RegexCache`]; a full cache is emptied |
//!
//! ```
//! use portcullis_matcher::automaton::{Outcome, RegexEngine};
//! use portcullis_matcher::pattern::PatternList;
//!
//! let outcomes = [Outcome::new(1, true), Outcome::new(2, false)];
//! let mut patterns = PatternList::new();
//! patterns.push(b"/private/*.png$", true);
//! patterns.push(b"/private/", true);
//! let engine = RegexEngine::dense(&patterns, &outcomes, 1 << 20)?;
//! let mut cache = engine.cache();
//! assert_eq!(engine.decide(b"/private/a.png", &mut cache), outcomes[0]);
//! assert_eq!(engine.decide(b"/private/a.png?b", &mut cache), outcomes[1]);
//! assert_eq!(engine.decide(b"/public", &mut cache), Outcome::NONE);
//! # Ok::<(), portcullis_matcher::automaton::RegexError>(())
//! ```

use regex_automata::dfa::{Automaton as _, StartKind, dense};
use regex_automata::hybrid;
use regex_automata::nfa::thompson::{self, Builder, NFA, Transition};
use regex_automata::util::look::Look;
use regex_automata::util::primitives::StateID;
use regex_automata::{Anchored, Input, MatchKind};

use crate::pattern::{PathPattern, PatternList};

use super::Outcome;

/// Patterns compiled by regex-automata.
#[derive(Debug)]
pub struct RegexEngine {
    kind: Kind,
    /// By pattern.
    outcomes: Vec<Outcome>,
}

#[derive(Debug)]
enum Kind {
    Dense(Box<dense::DFA<Vec<u32>>>),
    Lazy(Box<hybrid::dfa::DFA>),
}

/// A thread's memory for one [`RegexEngine`].
#[derive(Clone, Debug)]
pub struct RegexCache(Option<hybrid::dfa::Cache>);

/// The patterns are too much for regex-automata.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct RegexError(Box<ErrorKind>);

impl From<ErrorKind> for RegexError {
    fn from(kind: ErrorKind) -> RegexError {
        RegexError(Box::new(kind))
    }
}

#[derive(Debug, thiserror::Error)]
enum ErrorKind {
    #[error("the patterns have too many positions for regex-automata: {0}; use fewer rules")]
    Nfa(#[from] Box<thompson::BuildError>),
    #[error(
        "the dense automaton cannot be built: {0}; raise the size limit or take the lazy variant"
    )]
    Dense(#[from] dense::BuildError),
    #[error("the lazy automaton cannot be built: {0}; use fewer rules")]
    Lazy(#[from] hybrid::BuildError),
}

impl RegexCache {
    /// Bytes of memory that this holds.
    pub fn memory_bytes(&self) -> usize {
        self.0.as_ref().map_or(0, hybrid::dfa::Cache::memory_usage)
    }
}

impl RegexEngine {
    /// Builds the whole table. `outcomes[i]` is what a match of pattern *i* means. Neither the table
    /// nor what building it needs beside it may pass `size_limit_bytes`.
    ///
    /// # Errors
    ///
    /// If a limit is passed; that is to be expected of rules with several stars.
    ///
    /// # Panics
    ///
    /// If there are not as many outcomes as patterns.
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
        let nfa = nfa(patterns, outcomes).map_err(ErrorKind::Nfa)?;
        let dfa = dense::Builder::new().configure(config).build_from_nfa(&nfa);
        let kind = Kind::Dense(Box::new(dfa.map_err(ErrorKind::Dense)?));
        Ok(RegexEngine { kind, outcomes: outcomes.to_vec() })
    }

    /// Builds the NFA, to which answers add states in a [`RegexCache`]. `outcomes[i]` is what a
    /// match of pattern *i* means. The cache grows to 2 MiB, or to what a few states need if that
    /// is more.
    ///
    /// # Errors
    ///
    /// If there are more positions than regex-automata can number.
    ///
    /// # Panics
    ///
    /// If there are not as many outcomes as patterns.
    pub fn lazy(patterns: &PatternList, outcomes: &[Outcome]) -> Result<RegexEngine, RegexError> {
        let config = hybrid::dfa::Config::new()
            .match_kind(MatchKind::LeftmostFirst)
            .skip_cache_capacity_check(true);
        let nfa = nfa(patterns, outcomes).map_err(ErrorKind::Nfa)?;
        let dfa = hybrid::dfa::Builder::new().configure(config).build_from_nfa(nfa);
        let kind = Kind::Lazy(Box::new(dfa.map_err(ErrorKind::Lazy)?));
        Ok(RegexEngine { kind, outcomes: outcomes.to_vec() })
    }

    /// Memory for answers. It belongs to this engine; each thread needs its own.
    pub fn cache(&self) -> RegexCache {
        RegexCache(match &self.kind {
            Kind::Dense(_) => None,
            Kind::Lazy(dfa) => Some(dfa.create_cache()),
        })
    }

    /// The outcome of the best pattern that matches `path`, which is in normal form.
    ///
    /// # Panics
    ///
    /// May panic, or answer for the other, if `cache` was made by another engine.
    pub fn decide(&self, path: &[u8], cache: &mut RegexCache) -> Outcome {
        let input = Input::new(path).anchored(Anchored::Yes);
        // A search gives up at quit bytes, of which there are none, and after so many emptied
        // caches, of which no number is set.
        const SEARCH: &str = "no search of ours gives up";
        let found = match &self.kind {
            Kind::Dense(dfa) => dfa.try_search_fwd(&input).expect(SEARCH),
            Kind::Lazy(dfa) => {
                let cache = cache.0.get_or_insert_with(|| dfa.create_cache());
                dfa.try_search_fwd(cache, &input).expect(SEARCH)
            }
        };
        found.map_or(Outcome::NONE, |found| self.outcomes[found.pattern().as_usize()])
    }

    /// Bytes of memory that this holds, caches not counted.
    pub fn memory_bytes(&self) -> usize {
        let automaton = match &self.kind {
            Kind::Dense(dfa) => dfa.memory_usage(),
            Kind::Lazy(dfa) => dfa.memory_usage(),
        };
        automaton + size_of_val(&*self.outcomes)
    }
}

/// All patterns as the alternatives of one anchored NFA, best first.
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

/// Adds the states of `pattern`, the last first, and returns the first.
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

/// Adds a loop over any byte that prefers to leave for `next`: what follows a star is best found
/// at once, because then the loop can be dropped.
fn add_star(builder: &mut Builder, next: StateID) -> Result<StateID, Box<thompson::BuildError>> {
    let star = builder.add_union(vec![next])?;
    let any = builder.add_range(Transition { start: 0, end: 255, next: star })?;
    builder.patch(star, any)?;
    Ok(star)
}
