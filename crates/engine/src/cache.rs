//! What a thread keeps between paths: automata, as far as they are built.
//!
//! A [`Cache`] belongs to one rule set. [`Caches`] holds those of many rule sets, by number, under one
//! memory budget: if they exceed it together, all are cleared. Threads share nothing. Clearing
//! costs time, never an answer.

use hashbrown::HashMap;

use crate::automaton::{Automaton, Work};
use crate::limits::Limits;
use crate::outcome::Outcome;
use crate::ruleset::{RuleSet, RuleSetBuf};
use crate::strategy::Settings;

/// The memory of one thread for one rule set; see [`RuleSet::decide`].
#[derive(Clone, Debug, Default)]
pub struct Cache {
    settings: Settings,
    automaton: Option<Box<Automaton>>,
}

impl Cache {
    /// Returns an empty cache. It allocates nothing before an automaton is asked.
    pub fn new(settings: Settings) -> Cache {
        Cache { settings, automaton: None }
    }

    #[inline]
    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Returns the outcome by the automaton.
    pub(crate) fn ask_automaton(&mut self, rules: RuleSet<'_>, path: &[u8]) -> Outcome {
        let new = || Box::new(Automaton::new(rules, Work::default(), &self.settings.limits));
        self.automaton.get_or_insert_with(new).decide(path, &self.settings.limits)
    }

    /// Returns the work of the automaton so far.
    pub fn work(&self) -> Work {
        self.automaton.as_ref().map_or(Work::default(), |automaton| automaton.work())
    }

    /// Returns the memory held, in bytes.
    pub fn memory_bytes(&self) -> usize {
        self.automaton.as_ref().map_or(0, |automaton| automaton.memory_bytes())
    }
}

/// The automata of one thread by rule set number, under one memory budget.
#[derive(Clone, Debug, Default)]
pub struct Caches {
    of_rule_sets: HashMap<u32, Held, foldhash::fast::RandomState>,
    memory_bytes: usize,
    clearings: u64,
}

/// The state of a thread for one rule set.
#[derive(Clone, Debug)]
enum Held {
    Automaton(Box<Automaton>),
    /// A rule set that is stored nowhere else.
    OnDemand(Box<(RuleSetBuf, Cache)>),
    /// The work of an automaton that was cleared.
    Cleared(Box<Work>),
}

impl Held {
    fn work(&self) -> Work {
        match self {
            Held::Automaton(automaton) => automaton.work(),
            Held::OnDemand(held) => held.1.work(),
            Held::Cleared(work) => **work,
        }
    }
}

impl Caches {
    /// Returns the outcome of `path` by the automaton of the rule set with this number.
    pub(crate) fn ask_automaton(
        &mut self,
        number: u32,
        rules: RuleSet<'_>,
        path: &[u8],
        limits: &Limits,
    ) -> Outcome {
        let held = self.of_rule_sets.entry(number).or_insert_with(|| Held::Cleared(Box::default()));
        if let Held::Cleared(work) = held {
            let new = Automaton::new(rules, **work, limits);
            self.memory_bytes += new.memory_bytes();
            *held = Held::Automaton(Box::new(new));
        }
        let Held::Automaton(automaton) = held else { unreachable!("a stored rule set") };
        let before = automaton.memory_bytes();
        let outcome = automaton.decide(path, limits);
        self.memory_bytes = self.memory_bytes + automaton.memory_bytes() - before;
        self.keep_within(limits);
        outcome
    }

    /// Returns the outcome of `path` by the rule set with this number, which is not stored. `build`
    /// builds it if this does not hold it.
    ///
    /// # Errors
    ///
    /// Returns the errors of `build`.
    pub(crate) fn decide_on_demand<E>(
        &mut self,
        number: u32,
        path: &[u8],
        settings: &Settings,
        build: impl FnOnce() -> Result<RuleSetBuf, E>,
    ) -> Result<Outcome, E> {
        if !matches!(self.of_rule_sets.get(&number), Some(Held::OnDemand(_))) {
            let rules = build()?;
            self.memory_bytes += rules.as_bytes().len();
            let held = Held::OnDemand(Box::new((rules, Cache::new(*settings))));
            self.of_rule_sets.insert(number, held);
        }
        let held = self.of_rule_sets.get_mut(&number);
        let Some(Held::OnDemand(held)) = held else { unreachable!("made above") };
        let (rules, cache) = &mut **held;
        let before = cache.memory_bytes();
        let outcome = rules.as_rule_set().decide(path, cache);
        self.memory_bytes = self.memory_bytes + cache.memory_bytes() - before;
        self.keep_within(&settings.limits);
        Ok(outcome)
    }

    /// Clears everything if it takes more memory than allowed.
    fn keep_within(&mut self, limits: &Limits) {
        if self.memory_bytes > limits.automata_bytes_max {
            self.clear();
        }
    }

    /// Clears all automata.
    #[cold]
    fn clear(&mut self) {
        for held in self.of_rule_sets.values_mut() {
            *held = Held::Cleared(Box::new(held.work()));
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
            sum += held.work();
        }
        sum
    }
}
