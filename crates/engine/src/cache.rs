//! What a thread keeps between paths: automata, as far as they are built.
//!
//! A [`Cache`] holds the automata of many rule sets under one memory budget: if they exceed it together,
//! all are forgotten. Clearing costs time, never an answer. Threads share nothing.

use hashbrown::HashMap;

use crate::automaton::{Automaton, Work};
use crate::limits::Limits;
use crate::outcome::Outcome;
use crate::ruleset::RuleSet;

/// The automata of one thread.
#[derive(Clone, Debug, Default)]
pub struct Cache {
    /// By the number of the rule set, or where it begins.
    automata: HashMap<u32, Box<Automaton>, foldhash::fast::RandomState>,
    memory_bytes: usize,
    /// The work of automata that were cleared.
    cleared: Work,
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
        if self.memory_bytes > limits.automata_bytes_max {
            self.clear();
        }
        outcome
    }

    /// Forgets all automata. Only the sum of their work stays.
    #[cold]
    fn clear(&mut self) {
        let clearings = self.cleared.clearings + 1;
        *self = Cache { cleared: Work { clearings, ..self.work() }, ..Cache::default() };
    }

    /// Returns the memory held, in bytes.
    pub fn memory_bytes(&self) -> usize {
        self.memory_bytes
    }

    /// Returns the work of all automata, including cleared ones.
    pub fn work(&self) -> Work {
        let mut sum = self.cleared;
        self.automata.values().for_each(|automaton| sum += automaton.work());
        sum
    }
}
