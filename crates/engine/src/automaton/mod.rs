//! The automaton of a rule set, which defines its answers.
//!
//! *Everything before the automaton is an accelerator that must agree with it*: constants, the
//! prefilter, candidates. They leave it less than one question in a hundred, so it is
//! regex-automata's, and it is only built for a rule set that is asked often:
//!
//! - A [scan](crate::scan) answers until the paths asked of the rule set have
//!   [`Limits::dfa_bytes_asked_min`] times the bytes of its patterns. Its work per path is bounded.
//! - Then a lazy DFA answers. Where its states do not pay, it gives up: the scan answers that path,
//!   and the DFA is built again only after four times as many bytes.
//! - Rule sets with more than [`Limits::dfa_pattern_bytes_max`] bytes of patterns, stars counted, are
//!   always scanned.
//! - A new transition may visit each position of the patterns. So a path is scanned too if its bytes,
//!   times the positions, exceed [`DFA_PATH_POSITIONS_MAX`].
//!
//! `DESIGN.md` has the measurements.

mod regex;

use crate::limits::Limits;
use crate::limits::{DFA_PATH_POSITIONS_MAX, DFA_RETRY_FACTOR};
use crate::outcome::Outcome;
use crate::pattern::PatternList;
use crate::ruleset::RuleSet;
use crate::scan::Scanner;

pub use regex::{RegexCache, RegexEngine, RegexError};

/// The automaton of one rule set, as far as one thread has built it.
#[derive(Clone, Debug)]
pub(crate) struct Automaton {
    patterns: PatternList,
    outcomes: Vec<Outcome>,
    dfa: Dfa,
    scanner: Option<Box<Scanner>>,
    work: Work,
}

#[derive(Debug)]
enum Dfa {
    /// Not built before so many bytes of paths were asked.
    From(u64),
    Built(Box<(RegexEngine, RegexCache)>),
}

impl Clone for Dfa {
    /// The copy is built when it is asked: states are a thread's own.
    fn clone(&self) -> Dfa {
        match self {
            Dfa::From(bytes) => Dfa::From(*bytes),
            Dfa::Built(_) => Dfa::From(0),
        }
    }
}

/// Counters of an automaton's work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Bytes of the paths asked.
    pub bytes_asked: u64,
    /// Times that a DFA was built.
    pub dfas: u64,
    /// Times that a DFA gave up.
    pub retreats: u64,
    /// Times that automata were cleared to free memory.
    pub clearings: u64,
    /// Bytes of patterns read to prepare scans and DFAs.
    pub rule_bytes: u64,
    /// Paths answered by a scan.
    pub scans: u64,
    /// Bytes, literals and patterns visited by scans.
    pub scan_steps: u64,
}

impl std::ops::AddAssign for Work {
    fn add_assign(&mut self, other: Work) {
        self.bytes_asked += other.bytes_asked;
        self.dfas += other.dfas;
        self.retreats += other.retreats;
        self.clearings += other.clearings;
        self.rule_bytes += other.rule_bytes;
        self.scans += other.scans;
        self.scan_steps += other.scan_steps;
    }
}

impl Automaton {
    /// Returns an automaton of which nothing is built.
    pub(crate) fn new(rules: RuleSet<'_>, limits: &Limits) -> Automaton {
        let (patterns, outcomes) = rules.to_list();
        let first = (patterns.byte_len() as u64).saturating_mul(limits.dfa_bytes_asked_min);
        Automaton {
            patterns,
            outcomes,
            dfa: Dfa::From(first),
            scanner: None,
            work: Work::default(),
        }
    }

    /// Returns the outcome of the first pattern that matches `path`.
    pub(crate) fn decide(&mut self, path: &[u8], limits: &Limits) -> Outcome {
        self.work.bytes_asked += path.len() as u64;
        if path.len().saturating_mul(self.positions()) > DFA_PATH_POSITIONS_MAX {
            return self.scan(path);
        }
        if let Dfa::From(bytes) = self.dfa
            && self.work.bytes_asked >= bytes
        {
            self.build(limits);
        }
        if let Dfa::Built(built) = &mut self.dfa {
            let (engine, cache) = &mut **built;
            if let Some(outcome) = engine.decide(path, cache) {
                return outcome;
            }
            self.work.retreats += 1;
            self.dfa = Dfa::From(self.work.bytes_asked.saturating_mul(DFA_RETRY_FACTOR));
        }
        self.scan(path)
    }

    /// Returns the number of bytes and stars of the patterns.
    fn positions(&self) -> usize {
        self.patterns.byte_len() + self.patterns.stars()
    }

    #[cold]
    fn build(&mut self, limits: &Limits) {
        let is_small = self.positions() <= limits.dfa_pattern_bytes_max;
        let engine = is_small.then(|| RegexEngine::new(&self.patterns, &self.outcomes));
        self.dfa = match engine {
            Some(Ok(engine)) => {
                self.work.dfas += 1;
                self.work.rule_bytes += self.patterns.byte_len() as u64;
                let cache = engine.cache();
                Dfa::Built(Box::new((engine, cache)))
            }
            _ => Dfa::From(u64::MAX),
        };
    }

    fn scan(&mut self, path: &[u8]) -> Outcome {
        let Automaton { patterns, outcomes, scanner, work, .. } = self;
        let scanner = scanner.get_or_insert_with(|| {
            work.rule_bytes += patterns.byte_len() as u64;
            Box::new(Scanner::new(patterns))
        });
        let (best, steps) = scanner.first_match(patterns, path);
        self.work.scans += 1;
        self.work.scan_steps += steps;
        best.map_or(Outcome::NONE, |best| outcomes[best])
    }

    pub(crate) fn work(&self) -> Work {
        self.work
    }

    /// Returns the memory held, in bytes.
    pub(crate) fn memory_bytes(&self) -> usize {
        let dfa = match &self.dfa {
            Dfa::From(_) => 0,
            Dfa::Built(built) => built.0.memory_bytes() + built.1.memory_bytes(),
        };
        size_of::<Automaton>()
            + self.patterns.memory_bytes()
            + size_of_val(&*self.outcomes)
            + dfa
            + self.scanner.as_ref().map_or(0, |scanner| scanner.memory_bytes())
    }
}
