//! Steps 4 and 5: what a thread has built for rule sets, under one memory budget.
//!
//! The steps before leave about one query in two thousand, so little is built before it pays:
//!
//! - Patterns are tried one by one until the paths queried have a part of their bytes
//!   ([`SCAN_BYTES_QUERIED_PART`]).
//! - Then a [scan](crate::scan) answers, until the paths have [`Limits::dfa_bytes_queried_min`] times the
//!   bytes of the patterns.
//! - Then a lazy DFA answers. Where its states do not pay, it gives up, and is built again only after
//!   four times as many bytes. Meanwhile the scan answers. Rule sets with more than
//!   [`Limits::dfa_pattern_bytes_max`] bytes of patterns have no DFA.
//! - A path is always scanned if its bytes times the bytes of the patterns exceed
//!   [`DFA_PATH_POSITIONS_MAX`]: trying the patterns, or making a state for each byte of the path, may
//!   visit each of them.
//!
//! A [`Cache`] holds what was built for many rule sets. If that exceeds the budget, all is cleared but for the
//! rule set that was last queried, which may exceed it alone. Clearing costs time, never an answer. Threads
//! share nothing.
//!
//! **The lazy DFA** is regex-automata's. The patterns become one anchored alternation, best first, with
//! leftmost-first semantics: the match that a search reports is the first pattern of the list that
//! matches. Building makes the NFA only. A path costs a table look-up per byte, plus the states that are
//! built; a search gives up where they would not pay.
//!
//! `DESIGN.md` has the measurements.

use hashbrown::HashMap;
use regex_automata::hybrid::dfa;
use regex_automata::nfa::thompson::{BuildError, Builder, NFA, Transition};
use regex_automata::util::look::Look;
use regex_automata::util::primitives::StateID;
use regex_automata::{Anchored, Input, MatchKind};

use crate::limits::{
    DFA_CACHE_BYTES_MAX, DFA_CLEARINGS_MAX, DFA_PATH_POSITIONS_MAX, DFA_RETRY_FACTOR,
    DFA_STATE_BYTES_MIN, Limits, SCAN_BYTES_QUERIED_PART,
};
use crate::outcome::Outcome;
use crate::pattern::Pattern;
use crate::ruleset::RuleSet;
use crate::scan::Scanner;

/// The automata of one thread.
#[derive(Clone, Debug, Default)]
pub struct Cache {
    /// By the number of the rule set, or where it begins.
    automata: HashMap<u32, Box<Automaton>, foldhash::fast::RandomState>,
    memory_bytes: usize,
    /// The work of automata that were cleared.
    cleared: AutomatonWork,
}

/// The bytes of an entry of the table, besides what it points to: the key, the pointer, and the room
/// that a table leaves free.
const ENTRY_BYTES: usize = 2 * size_of::<(usize, usize)>();

impl Cache {
    /// Returns the outcome of `path` by steps 4 and 5 of the rule set with this number.
    pub(crate) fn decide(
        &mut self,
        number: u32,
        rules: RuleSet<'_>,
        path: &[u8],
        limits: &Limits,
    ) -> Outcome {
        let mut before = 0;
        let automaton = self.automata.entry(number);
        let automaton = automaton.and_modify(|known| before = ENTRY_BYTES + known.memory_bytes());
        let automaton = automaton.or_default();
        let outcome = automaton.decide(rules, path, limits);
        self.memory_bytes = self.memory_bytes + ENTRY_BYTES + automaton.memory_bytes() - before;
        if self.memory_bytes > limits.automata_bytes_max && self.automata.len() > 1 {
            self.clear_others(number);
        }
        outcome
    }

    /// Forgets all automata but one: it was just queried, and a path may need more than the budget. Only the
    /// sum of the work of others stays.
    #[cold]
    fn clear_others(&mut self, number: u32) {
        let kept = self.automata.remove(&number);
        let cleared = AutomatonWork { clearings: self.cleared.clearings + 1, ..self.work() };
        *self = Cache { cleared, ..Cache::default() };
        if let Some(kept) = kept {
            self.memory_bytes = ENTRY_BYTES + kept.memory_bytes();
            self.automata.insert(number, kept);
        }
    }

    /// Returns the memory held, in bytes.
    pub fn memory_bytes(&self) -> usize {
        self.memory_bytes
    }

    /// Returns the work of all automata, including cleared ones.
    pub fn work(&self) -> AutomatonWork {
        let mut sum = self.cleared;
        self.automata.values().for_each(|automaton| sum += automaton.work);
        sum
    }
}

/// The automata that a thread has built for one rule set.
#[derive(Clone, Debug, Default)]
pub(crate) struct Automaton {
    dfa: Option<Box<LazyDfa>>,
    /// The bytes of paths that are queried before a DFA is built; 0 for the usual number.
    dfa_from: u64,
    scanner: Option<Box<Scanner>>,
    work: AutomatonWork,
}

/// Counters of an automaton's work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AutomatonWork {
    /// Bytes of the paths queried.
    pub bytes_queried: u64,
    /// Times that a DFA was built.
    pub dfas: u64,
    /// Times that a DFA gave up.
    pub retreats: u64,
    /// Times that automata were cleared to free memory.
    pub clearings: u64,
    /// Bytes of patterns read to prepare scans and DFAs.
    pub rule_bytes: u64,
    /// Paths answered by a scan, or by trying the patterns.
    pub scans: u64,
    /// Bytes, literals and patterns visited by scans, and patterns tried.
    pub scan_steps: u64,
}

impl std::ops::AddAssign for AutomatonWork {
    fn add_assign(&mut self, other: AutomatonWork) {
        self.bytes_queried += other.bytes_queried;
        self.dfas += other.dfas;
        self.retreats += other.retreats;
        self.clearings += other.clearings;
        self.rule_bytes += other.rule_bytes;
        self.scans += other.scans;
        self.scan_steps += other.scan_steps;
    }
}

impl Automaton {
    /// Returns the outcome of the first pattern that matches `path`. `rules` are the same at each call.
    pub(crate) fn decide(&mut self, rules: RuleSet<'_>, path: &[u8], limits: &Limits) -> Outcome {
        let bytes = rules.pattern_bytes();
        self.work.bytes_queried += path.len() as u64;
        if path.len().saturating_mul(bytes) > DFA_PATH_POSITIONS_MAX {
            return self.scan(rules, path);
        }
        let queried = self.work.bytes_queried;
        if queried < (bytes as u64).saturating_mul(limits.dfa_bytes_queried_min) {
            let is_rare = queried.saturating_mul(SCAN_BYTES_QUERIED_PART) < bytes as u64;
            return if is_rare { self.try_each(rules, path) } else { self.scan(rules, path) };
        }
        if self.dfa.is_none() && queried >= self.dfa_from {
            self.build(rules, bytes <= limits.dfa_pattern_bytes_max);
        }
        if let Some(dfa) = &mut self.dfa {
            if let Ok(found) = dfa.first_match(path) {
                return rules.outcome(found);
            }
            self.work.retreats += 1;
            self.dfa = None;
            self.dfa_from = queried.saturating_mul(DFA_RETRY_FACTOR);
        }
        self.scan(rules, path)
    }

    #[cold]
    fn build(&mut self, rules: RuleSet<'_>, is_small: bool) {
        let patterns = rules.iter().map(|(_, pattern)| pattern);
        self.dfa = is_small.then(|| LazyDfa::new(patterns)).flatten().map(Box::new);
        if self.dfa.is_none() {
            self.dfa_from = u64::MAX;
            return;
        }
        self.work.dfas += 1;
        self.work.rule_bytes += rules.pattern_bytes() as u64;
    }

    fn try_each(&mut self, rules: RuleSet<'_>, path: &[u8]) -> Outcome {
        let found = rules.first_match(path);
        self.work.scans += 1;
        self.work.scan_steps += found.map_or(rules.len(), |found| found + 1) as u64;
        rules.outcome(found)
    }

    fn scan(&mut self, rules: RuleSet<'_>, path: &[u8]) -> Outcome {
        let Automaton { scanner, work, .. } = self;
        let scanner = scanner.get_or_insert_with(|| {
            work.rule_bytes += rules.pattern_bytes() as u64;
            Box::new(Scanner::new(rules.iter().map(|(_, pattern)| pattern)))
        });
        let (found, steps) = scanner.first_match(path);
        work.scans += 1;
        work.scan_steps += steps;
        rules.outcome(found)
    }

    /// Returns the memory held, in bytes.
    pub(crate) fn memory_bytes(&self) -> usize {
        let dfa = self.dfa.as_ref().map_or(0, |it| it.memory_bytes());
        size_of::<Automaton>() + dfa + self.scanner.as_ref().map_or(0, |it| it.memory_bytes())
    }
}

/// A lazy DFA over a list of patterns, with the states of one thread.
#[derive(Clone, Debug)]
pub struct LazyDfa {
    dfa: dfa::DFA,
    cache: dfa::Cache,
}

/// The path needs more states than pay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GaveUp;

impl LazyDfa {
    /// Builds the NFA of patterns in order of precedence. States have [`DFA_CACHE_BYTES_MAX`]. `None` if
    /// there are more positions than regex-automata can number.
    pub fn new<'p>(patterns: impl Iterator<Item = Pattern<'p>>) -> Option<LazyDfa> {
        let config = dfa::Config::new()
            .match_kind(MatchKind::LeftmostFirst)
            .cache_capacity(DFA_CACHE_BYTES_MAX)
            .minimum_cache_clear_count(Some(DFA_CLEARINGS_MAX))
            .minimum_bytes_per_state(Some(DFA_STATE_BYTES_MIN))
            .skip_cache_capacity_check(true);
        let dfa = dfa::Builder::new().configure(config).build_from_nfa(nfa(patterns).ok()?).ok()?;
        Some(LazyDfa { cache: dfa.create_cache(), dfa })
    }

    /// Returns the index of the first pattern that matches `path`, a path in normal form.
    ///
    /// # Errors
    ///
    /// If the path needs more states than pay.
    pub fn first_match(&mut self, path: &[u8]) -> Result<Option<usize>, GaveUp> {
        let input = Input::new(path).anchored(Anchored::Yes);
        let found = self.dfa.try_search_fwd(&mut self.cache, &input).map_err(|_| GaveUp)?;
        Ok(found.map(|found| found.pattern().as_usize()))
    }

    /// Returns the memory held, in bytes.
    pub fn memory_bytes(&self) -> usize {
        self.dfa.memory_usage() + self.cache.memory_usage()
    }
}

/// Builds one anchored alternation of all patterns, best first.
fn nfa<'p>(patterns: impl Iterator<Item = Pattern<'p>>) -> Result<NFA, Box<BuildError>> {
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
fn add_pattern(builder: &mut Builder, pattern: &Pattern<'_>) -> Result<StateID, Box<BuildError>> {
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
fn add_star(builder: &mut Builder, next: StateID) -> Result<StateID, Box<BuildError>> {
    let star = builder.add_union(vec![next])?;
    let any = builder.add_range(Transition { start: 0, end: 255, next: star })?;
    builder.patch(star, any)?;
    Ok(star)
}
