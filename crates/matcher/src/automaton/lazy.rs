//! The lazy automaton of a rule set, and the lazy automata of a thread under one budget.
//!
//! An [`Automaton`] builds the states that paths walk to. States cost work, and a hostile rule set has
//! more of them than anybody can build. So building has to be earned: it looks at no more than
//! [`Limits::positions_per_byte`] NFA positions for each byte of the rule set and of the paths that asked
//! it. A path that needs a state past that is answered by a [`scan`](super::scan), whose work is bounded
//! by itself. The paths go on earning, so a rule set that is worth it gets its states later.
//!
//! [`Automata`] holds the automata of one thread. States that take more than a sixteenth of the budget
//! are cleared where they are; when all automata together take more than the budget, all are cleared. What
//! a rule set has earned and spent survives, so an automaton that is cleared again and again soon
//! scans: clearing that does not pay ends by itself.
//!
//! Nothing is shared between threads. What they could share, the NFA, takes two bytes per position and
//! less time than the first state.

use hashbrown::HashMap;

use crate::pattern::PatternList;
use portcullis_dialect::limits::AUTOMATON_BUDGET_PART;

use super::determinize::Determinizer;
use super::nfa::Nfa;
use super::program::{Walk, walk};
use super::scan::Scanner;
use super::{Detail, Limits, Outcome};

/// The compiled patterns of one rule set, and one thread's memory for them.
#[derive(Clone, Debug)]
pub struct Automaton {
    patterns: PatternList,
    outcomes: Vec<Outcome>,
    limits: Limits,
    states: Option<Box<States>>,
    scanner: Option<Box<Scanner>>,
    work: Work,
}

/// What is built of the automaton.
#[derive(Clone, Debug)]
struct States {
    nfa: Nfa,
    determinizer: Determinizer,
}

/// What an automaton has done since it was first asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Bytes of the paths that were asked.
    pub bytes_asked: u64,
    /// NFA positions that building looked at.
    pub positions: u64,
    /// Nodes that were built.
    pub nodes: u64,
    /// Times that states were thrown away.
    pub clearings: u64,
    /// Paths that were answered by a scan.
    pub scans: u64,
    /// Bytes, literals and patterns that scans looked at.
    pub scan_steps: u64,
}

impl std::ops::AddAssign for Work {
    fn add_assign(&mut self, other: Work) {
        self.bytes_asked += other.bytes_asked;
        self.positions += other.positions;
        self.nodes += other.nodes;
        self.clearings += other.clearings;
        self.scans += other.scans;
        self.scan_steps += other.scan_steps;
    }
}

impl States {
    fn new(patterns: &PatternList, outcomes: &[Outcome]) -> States {
        let nfa = Nfa::new(patterns, outcomes);
        let determinizer = Determinizer::new(&nfa);
        States { nfa, determinizer }
    }

    #[inline]
    fn walk(&self, path: &[u8], detail: Detail) -> Walk {
        walk(self.determinizer.words(), self.determinizer.start(), path, 0, detail)
    }

    fn memory_bytes(&self) -> usize {
        self.nfa.memory_bytes() + self.determinizer.memory_bytes()
    }
}

impl Automaton {
    /// An automaton of `patterns`, which are in order of precedence, the best first. `outcomes[i]` is
    /// what a match of pattern *i* means. Nothing is built before a path asks.
    ///
    /// # Panics
    ///
    /// If there are not as many outcomes as patterns.
    pub fn new(patterns: PatternList, outcomes: Vec<Outcome>, limits: &Limits) -> Automaton {
        assert_eq!(patterns.len(), outcomes.len(), "one outcome for each pattern");
        let (limits, work) = (*limits, Work::default());
        Automaton { patterns, outcomes, limits, states: None, scanner: None, work }
    }

    /// Returns the outcome of the best pattern that matches `path`, which is in normal form.
    #[inline]
    pub fn decide(&mut self, path: &[u8], detail: Detail) -> Outcome {
        self.work.bytes_asked += path.len() as u64;
        match self.states.as_ref().map(|states| states.walk(path, detail)) {
            // Nearly always all is built, and then nothing else is looked at.
            Some(Walk::Done(outcome)) => outcome,
            begun => self.build(path, detail, begun),
        }
    }

    /// Returns the outcome of a path that needs something that is not built. `begun` is how far a walk
    /// came, if there is anything yet.
    #[inline(never)]
    fn build(&mut self, path: &[u8], detail: Detail, mut begun: Option<Walk>) -> Outcome {
        let mut may_clear = true;
        loop {
            if !self.may_build() {
                return self.scan(path);
            }
            let Automaton { patterns, outcomes, states, .. } = self;
            let states = states.get_or_insert_with(|| Box::new(States::new(patterns, outcomes)));
            let States { nfa, determinizer } = &mut **states;
            let walked = match begun.take() {
                None => walk(determinizer.words(), determinizer.start(), path, 0, detail),
                Some(Walk::Unbuilt { slot, consumed }) => {
                    let target = determinizer.build_slot(nfa, slot);
                    walk(determinizer.words(), target, path, consumed, detail)
                }
                Some(walked) => walked,
            };
            self.work.positions += determinizer.take_work();
            self.work.nodes += determinizer.take_nodes();
            match walked {
                Walk::Done(outcome) => return outcome,
                Walk::Unbuilt { .. } => begun = Some(walked),
            }
            if self.states_bytes() > self.limits.automata_bytes_max / AUTOMATON_BUDGET_PART {
                self.clear_states();
                if !std::mem::take(&mut may_clear) {
                    return self.scan(path);
                }
                begun = None;
            }
        }
    }

    /// Whether building has been earned.
    fn may_build(&self) -> bool {
        let rule_set_bytes = (self.patterns.byte_len() + self.patterns.len()) as u64;
        let earned = rule_set_bytes.saturating_add(self.work.bytes_asked);
        self.work.positions < earned.saturating_mul(self.limits.positions_per_byte)
    }

    #[cold]
    fn scan(&mut self, path: &[u8]) -> Outcome {
        let Automaton { patterns, outcomes, scanner, .. } = self;
        let scanner = scanner.get_or_insert_with(|| Box::new(Scanner::new(patterns)));
        let (best, steps) = scanner.first_match(patterns, path);
        self.work.scans += 1;
        self.work.scan_steps += steps;
        best.map_or(Outcome::NONE, |best| outcomes[best])
    }

    fn clear_states(&mut self) {
        self.states = None;
        self.work.clearings += 1;
    }

    fn states_bytes(&self) -> usize {
        self.states.as_ref().map_or(0, |states| states.determinizer.memory_bytes())
    }

    /// Returns what has been done since the automaton was first asked.
    pub fn work(&self) -> Work {
        self.work
    }

    /// Returns the bytes of memory that this holds.
    pub fn memory_bytes(&self) -> usize {
        size_of::<Automaton>()
            + self.patterns.memory_bytes()
            + size_of_val(&*self.outcomes)
            + self.states.as_ref().map_or(0, |states| states.memory_bytes())
            + self.scanner.as_ref().map_or(0, |scanner| scanner.memory_bytes())
    }
}

/// The automata of one thread, by the number of the rule set, under one budget.
#[derive(Clone, Debug, Default)]
pub struct Automata {
    of_rule_sets: HashMap<u32, Held, foldhash::fast::RandomState>,
    memory_bytes: usize,
    clearings: u64,
}

/// What a thread holds of one rule set.
#[derive(Clone, Debug)]
enum Held {
    Automaton(Box<Automaton>),
    /// The automaton was cleared; this is what it had done.
    Cleared(Box<Work>),
}

impl Automata {
    /// Returns the outcome of `path` by the rule set with this number, whose patterns and outcomes `list`
    /// makes if they are not held.
    ///
    /// # Errors
    ///
    /// As `list`.
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
            unreachable!("it was put there if it was not");
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

    /// Throws all automata away.
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

    /// Returns the bytes of memory that the automata hold.
    pub fn memory_bytes(&self) -> usize {
        self.memory_bytes
    }

    /// Returns what all automata have done together, those included that were cleared.
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
