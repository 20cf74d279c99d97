//! Steps 4 and 5 of a rule set: what a thread has built for it.
//!
//! The steps before leave less than one question in a hundred, so little is built before it pays:
//!
//! - Patterns are tried one by one until the paths asked have a part of their bytes
//!   ([`SCAN_BYTES_ASKED_PART`]).
//! - Then a [scan](crate::scan) answers, until the paths have [`Limits::dfa_bytes_asked_min`] times the
//!   bytes of the patterns.
//! - Then a lazy DFA answers. Where its states do not pay, it gives up, and is built again only after
//!   four times as many bytes. Meanwhile the scan answers. Rule sets with more than
//!   [`Limits::dfa_pattern_bytes_max`] bytes of patterns have no DFA.
//! - A path is always scanned if its bytes times those of the patterns exceed
//!   [`DFA_PATH_POSITIONS_MAX`]: trying the patterns, or making a state for each byte of the path, may
//!   visit each of them.
//!
//! `DESIGN.md` has the measurements.

use crate::limits::{DFA_PATH_POSITIONS_MAX, DFA_RETRY_FACTOR, Limits, SCAN_BYTES_ASKED_PART};
use crate::outcome::Outcome;
use crate::regex::{RegexCache, RegexEngine};
use crate::ruleset::RuleSet;
use crate::scan::Scanner;

/// What a thread has built for one rule set.
#[derive(Clone, Debug, Default)]
pub(crate) struct Automaton {
    dfa: Dfa,
    scanner: Option<Box<Scanner>>,
    work: Work,
}

#[derive(Debug)]
enum Dfa {
    /// Not built before so many bytes of paths were asked; 0 for the usual number.
    From(u64),
    Built(Box<(RegexEngine, RegexCache)>),
}

impl Default for Dfa {
    fn default() -> Dfa {
        Dfa::From(0)
    }
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
    /// Paths answered by a scan, or by trying the patterns.
    pub scans: u64,
    /// Bytes, literals and patterns visited by scans, and patterns tried.
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
    /// Returns the outcome of the first pattern that matches `path`. `rules` are the same at each call.
    pub(crate) fn decide(&mut self, rules: RuleSet<'_>, path: &[u8], limits: &Limits) -> Outcome {
        let bytes = rules.pattern_bytes();
        self.work.bytes_asked += path.len() as u64;
        if path.len().saturating_mul(bytes) > DFA_PATH_POSITIONS_MAX {
            return self.scan(rules, path);
        }
        let asked = self.work.bytes_asked;
        if asked < (bytes as u64).saturating_mul(limits.dfa_bytes_asked_min) {
            let is_rare = asked.saturating_mul(SCAN_BYTES_ASKED_PART) < bytes as u64;
            return if is_rare { self.try_each(rules, path) } else { self.scan(rules, path) };
        }
        if let Dfa::From(first) = self.dfa
            && asked >= first
        {
            self.build(rules, bytes <= limits.dfa_pattern_bytes_max);
        }
        if let Dfa::Built(built) = &mut self.dfa {
            let (engine, cache) = &mut **built;
            if let Ok(found) = engine.first_match(path, cache) {
                return rules.outcome(found);
            }
            self.work.retreats += 1;
            self.dfa = Dfa::From(asked.saturating_mul(DFA_RETRY_FACTOR));
        }
        self.scan(rules, path)
    }

    #[cold]
    fn build(&mut self, rules: RuleSet<'_>, is_small: bool) {
        let engine = is_small.then(|| RegexEngine::new(rules.iter().map(|(_, pattern)| pattern)));
        self.dfa = match engine {
            Some(Ok(engine)) => {
                self.work.dfas += 1;
                self.work.rule_bytes += rules.pattern_bytes() as u64;
                let cache = engine.cache();
                Dfa::Built(Box::new((engine, cache)))
            }
            _ => Dfa::From(u64::MAX),
        };
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

    pub(crate) fn work(&self) -> Work {
        self.work
    }

    /// Returns the memory held, in bytes.
    pub(crate) fn memory_bytes(&self) -> usize {
        let dfa = match &self.dfa {
            Dfa::From(_) => 0,
            Dfa::Built(built) => built.0.memory_bytes() + built.1.memory_bytes(),
        };
        size_of::<Automaton>() + dfa + self.scanner.as_ref().map_or(0, |it| it.memory_bytes())
    }
}
