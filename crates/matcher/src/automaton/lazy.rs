//! The lazy automaton of a rule set, and the automata of a thread under one memory budget.
//!
//! An [`Automaton`] builds a state when a path first walks to it. A hostile rule set has more
//! states than anyone can build, so building has a budget: [`Limits::positions_per_byte`] NFA
//! positions for each byte of the rule set and of the paths queried so far. A path that needs a
//! state beyond the budget is answered by a [`scan`](super::scan), whose work is bounded. Its bytes
//! still add to the budget, so a rule set that is queried often gets its states later.
//!
//! [`Automata`] holds the automata of one thread. The states of one automaton are cleared when they
//! take more than a sixteenth of the memory budget; all automata are cleared when they exceed it
//! together. The build budget survives clearing, so an automaton that is cleared repeatedly ends up
//! scanning.
//!
//! Threads share nothing. The only candidate, the NFA, takes two bytes per position and builds
//! faster than the first state.

use hashbrown::HashMap;

use portcullis_dialect::limits::{AUTOMATON_BUDGET_PART, FIRST_BYTES_MAX};

use crate::pattern::PatternList;

use super::dfa::LazyDfa;
use super::program::Walk;
use super::scan::Scanner;
use super::{Detail, Limits, Outcome};

/// The patterns of one rule set, and the states that one thread has built for them.
#[derive(Clone, Debug)]
pub struct Automaton {
    patterns: PatternList,
    outcomes: Vec<Outcome>,
    limits: Limits,
    dfa: Option<Box<LazyDfa>>,
    scanner: Option<Box<Scanner>>,
    work: Work,
}

/// Counters of an automaton's work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Bytes of the paths asked.
    pub bytes_asked: u64,
    /// NFA positions read by building.
    pub positions: u64,
    /// Nodes built.
    pub nodes: u64,
    /// Times that states were cleared.
    pub clearings: u64,
    /// Bytes of rules read to prepare NFAs and scans.
    pub rule_bytes: u64,
    /// Paths answered by a scan.
    pub scans: u64,
    /// Bytes, literals and patterns visited by scans.
    pub scan_steps: u64,
}

impl std::ops::AddAssign for Work {
    fn add_assign(&mut self, other: Work) {
        self.bytes_asked += other.bytes_asked;
        self.positions += other.positions;
        self.nodes += other.nodes;
        self.clearings += other.clearings;
        self.rule_bytes += other.rule_bytes;
        self.scans += other.scans;
        self.scan_steps += other.scan_steps;
    }
}

impl Automaton {
    /// Returns an automaton of `patterns` in order of precedence; `outcomes[i]` is the outcome of
    /// pattern *i*. Nothing is built before the first path.
    ///
    /// # Panics
    ///
    /// If the numbers of patterns and outcomes differ.
    pub fn new(patterns: PatternList, outcomes: Vec<Outcome>, limits: &Limits) -> Automaton {
        assert_eq!(patterns.len(), outcomes.len(), "one outcome for each pattern");
        let (limits, work) = (*limits, Work::default());
        Automaton { patterns, outcomes, limits, dfa: None, scanner: None, work }
    }

    /// Returns the outcome of the first pattern that matches `path`, a path in normal form.
    #[inline]
    pub fn decide(&mut self, path: &[u8], detail: Detail) -> Outcome {
        self.work.bytes_asked += path.len() as u64;
        match self.dfa.as_ref().map(|dfa| dfa.walk(path, detail)) {
            // Nearly always, all states are built.
            Some(Walk::Done(outcome)) => outcome,
            begun => self.build(path, detail, begun),
        }
    }

    /// Builds what `path` needs and returns its outcome. `begun` is the walk so far, if there are
    /// states.
    #[inline(never)]
    fn build(&mut self, path: &[u8], detail: Detail, mut begun: Option<Walk>) -> Outcome {
        let mut may_clear = true;
        loop {
            if !self.may_build() {
                return self.scan(path);
            }
            let Automaton { patterns, outcomes, dfa, work, .. } = self;
            let dfa = dfa.get_or_insert_with(|| {
                work.rule_bytes += patterns.byte_len() as u64;
                Box::new(LazyDfa::new(patterns, outcomes))
            });
            let walked = match begun.take() {
                None => dfa.walk(path, detail),
                Some(Walk::Unbuilt { slot, consumed }) => {
                    dfa.build_and_walk((slot, consumed), path, detail)
                }
                Some(walked) => walked,
            };
            let (cost, states_bytes) = (dfa.take_cost(), dfa.states_bytes());
            self.work.positions += cost.positions;
            self.work.nodes += cost.nodes;
            match walked {
                Walk::Done(outcome) => return outcome,
                Walk::Unbuilt { .. } => begun = Some(walked),
            }
            if states_bytes > self.limits.automata_bytes_max / AUTOMATON_BUDGET_PART {
                self.dfa = None;
                self.work.clearings += 1;
                if !std::mem::take(&mut may_clear) {
                    return self.scan(path);
                }
                begun = None;
            }
        }
    }

    /// Returns whether the build budget allows another state.
    fn may_build(&self) -> bool {
        let rule_set_bytes = (self.patterns.byte_len() + self.patterns.len()) as u64;
        let earned = rule_set_bytes.min(FIRST_BYTES_MAX).saturating_add(self.work.bytes_asked);
        self.work.positions < earned.saturating_mul(self.limits.positions_per_byte)
    }

    #[cold]
    fn scan(&mut self, path: &[u8]) -> Outcome {
        let Automaton { patterns, outcomes, scanner, work, .. } = self;
        let scanner = scanner.get_or_insert_with(|| {
            work.rule_bytes += patterns.byte_len() as u64;
            Box::new(Scanner::new(patterns))
        });
        let (best, steps) = scanner.first_match(patterns, path);
        work.scans += 1;
        work.scan_steps += steps;
        best.map_or(Outcome::NONE, |best| outcomes[best])
    }

    /// Returns the work done so far.
    pub fn work(&self) -> Work {
        self.work
    }

    /// Returns the memory held, in bytes.
    pub fn memory_bytes(&self) -> usize {
        size_of::<Automaton>()
            + self.patterns.memory_bytes()
            + size_of_val(&*self.outcomes)
            + self.dfa.as_ref().map_or(0, |dfa| dfa.memory_bytes())
            + self.scanner.as_ref().map_or(0, |scanner| scanner.memory_bytes())
    }
}

/// The automata of one thread by rule set number, under one memory budget.
#[derive(Clone, Debug, Default)]
pub struct Automata {
    of_rule_sets: HashMap<u32, Held, foldhash::fast::RandomState>,
    memory_bytes: usize,
    clearings: u64,
}

/// The state of a thread for one rule set.
#[derive(Clone, Debug)]
enum Held {
    Automaton(Box<Automaton>),
    /// The work of an automaton that was cleared.
    Cleared(Box<Work>),
}

impl Automata {
    /// Returns the outcome of `path` under a rule set. `list` supplies the patterns and outcomes if
    /// this does not hold them.
    ///
    /// # Errors
    ///
    /// Returns the errors of `list`.
    pub fn decide<E>(
        &mut self,
        rule_set: u32,
        (path, detail): (&[u8], Detail),
        limits: &Limits,
        list: impl FnOnce() -> Result<(PatternList, Vec<Outcome>), E>,
    ) -> Result<Outcome, E> {
        if !matches!(self.of_rule_sets.get(&rule_set), Some(Held::Automaton(_))) {
            let (patterns, outcomes) = list()?;
            let mut new = Automaton::new(patterns, outcomes, limits);
            if let Some(Held::Cleared(work)) = self.of_rule_sets.get(&rule_set) {
                new.work = **work;
            }
            self.memory_bytes += new.memory_bytes();
            self.of_rule_sets.insert(rule_set, Held::Automaton(Box::new(new)));
        }
        let Some(Held::Automaton(automaton)) = self.of_rule_sets.get_mut(&rule_set) else {
            unreachable!("inserted above");
        };
        let before = automaton.memory_bytes();
        let outcome = automaton.decide(path, detail);
        self.memory_bytes += automaton.memory_bytes();
        self.memory_bytes -= before;
        if self.memory_bytes > limits.automata_bytes_max {
            self.clear();
        }
        Ok(outcome)
    }

    /// Clears all automata.
    #[cold]
    fn clear(&mut self) {
        for held in self.of_rule_sets.values_mut() {
            if let Held::Automaton(automaton) = held {
                *held = Held::Cleared(Box::new(automaton.work));
            }
        }
        self.memory_bytes = 0;
        self.clearings += 1;
    }

    /// Returns the memory that the automata hold, in bytes.
    pub fn memory_bytes(&self) -> usize {
        self.memory_bytes
    }

    /// Returns the work of all automata, including cleared ones.
    pub fn work(&self) -> Work {
        let mut sum = Work { clearings: self.clearings, ..Work::default() };
        for held in self.of_rule_sets.values() {
            sum += match held {
                Held::Automaton(automaton) => automaton.work,
                Held::Cleared(work) => **work,
            };
        }
        sum
    }
}
