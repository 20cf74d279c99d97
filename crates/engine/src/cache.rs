//! What a thread keeps between paths: automata, as far as they are built.
//!
//! A [`Cache`] belongs to one rule set. [`Caches`] holds those of many rule sets under one memory
//! budget: if they exceed it together, all are forgotten. Threads share nothing. Clearing costs
//! time, never an answer.

use hashbrown::HashMap;
use hashbrown::hash_map::Entry;

use crate::automaton::{Automaton, Work};
use crate::config::Settings;
use crate::limits::Limits;
use crate::outcome::Outcome;
use crate::ruleset::{RuleSet, RuleSetBuf};

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
        let new = || Box::new(Automaton::new(rules, &self.settings.limits));
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

/// The automata of one thread, under one memory budget.
#[derive(Clone, Debug, Default)]
pub struct Caches {
    /// By the number of the rule set, which is stored elsewhere.
    automata: HashMap<u32, Box<Automaton>, foldhash::fast::RandomState>,
    /// Rule sets that are stored nowhere else, by entry. Two policies may share a number, and a
    /// number may also be that of a fixed decision; an entry is one policy and one column.
    on_demand: HashMap<usize, Box<(RuleSetBuf, Cache)>, foldhash::fast::RandomState>,
    memory_bytes: usize,
    /// The work of automata that were cleared.
    cleared: Work,
}

/// The bytes of an entry of a table, besides what it points to: the key, the pointer, and the room
/// that a table leaves free.
const ENTRY_BYTES: usize = 2 * size_of::<(usize, usize)>();

impl Caches {
    /// Returns the outcome of `path` by the automaton of the rule set with this number.
    pub(crate) fn ask_automaton(
        &mut self,
        number: u32,
        rules: RuleSet<'_>,
        path: &[u8],
        limits: &Limits,
    ) -> Outcome {
        let automaton = self.automata.entry(number).or_insert_with(|| {
            let new = Automaton::new(rules, limits);
            self.memory_bytes += ENTRY_BYTES + new.memory_bytes();
            Box::new(new)
        });
        let before = automaton.memory_bytes();
        let outcome = automaton.decide(path, limits);
        self.memory_bytes = self.memory_bytes + automaton.memory_bytes() - before;
        self.keep_within(limits);
        outcome
    }

    /// Returns the outcome of `path` by the rule set of an entry, which is not stored. `build`
    /// builds it if this does not hold it.
    ///
    /// # Errors
    ///
    /// Returns the errors of `build`.
    pub(crate) fn decide_on_demand<E>(
        &mut self,
        entry: usize,
        path: &[u8],
        settings: &Settings,
        build: impl FnOnce() -> Result<RuleSetBuf, E>,
    ) -> Result<Outcome, E> {
        let held = match self.on_demand.entry(entry) {
            Entry::Occupied(held) => held.into_mut(),
            Entry::Vacant(place) => {
                let held = (build()?, Cache::new(*settings));
                self.memory_bytes += ENTRY_BYTES + size_of_val(&held) + held.0.as_bytes().len();
                place.insert(Box::new(held))
            }
        };
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

    /// Forgets all rule sets. Only the sum of their work stays.
    #[cold]
    fn clear(&mut self) {
        let clearings = self.cleared.clearings + 1;
        *self = Caches { cleared: Work { clearings, ..self.work() }, ..Caches::default() };
    }

    /// Returns the memory held, in bytes.
    pub fn memory_bytes(&self) -> usize {
        self.memory_bytes
    }

    /// Returns the number of rule sets that are held.
    #[cfg(test)]
    pub(crate) fn rule_sets(&self) -> usize {
        self.automata.len() + self.on_demand.len()
    }

    /// Returns the work of all automata, including cleared ones.
    pub fn work(&self) -> Work {
        let mut sum = self.cleared;
        self.automata.values().for_each(|automaton| sum += automaton.work());
        self.on_demand.values().for_each(|held| sum += held.1.work());
        sum
    }
}
