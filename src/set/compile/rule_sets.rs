//! Rule sets, each kept once: the prefilter and patterns that paths are decided by, and what each pattern
//! comes from.

use std::ops::Range;

use hashbrown::HashTable;
use rayon::prelude::*;
use zerocopy::little_endian::U32;

use crate::automaton::{SieveLine, push_text, sieve_of, table_word};
use crate::bytes::seeded_hash;
use crate::decision::Verdict;
use crate::policy::{OrderedRules, outcomes};

use super::super::layout::{NONE, rule_set};
use super::intern::{Lists, position, push};
use super::plan::PlannedRules;

/// The rule sets of a set.
#[derive(Default)]
pub struct RuleSets {
    /// The words of each, by number.
    pub words: Vec<U32>,
    /// The lines of all prefilters.
    pub prefilters: Vec<SieveLine>,
    /// By pattern, end to end: where its text begins, and whether it allows.
    pub patterns: Vec<U32>,
    /// The texts of patterns, each once.
    pub texts: Lists,
    /// Those that are made of a policy's groups when an agent asks.
    pub of_groups: u64,
    known: HashTable<Known>,
    /// What rule sets are known by, end to end.
    identities: Vec<u8>,
    waiting: Vec<Waiting>,
}

struct Known {
    hash: u64,
    number: u32,
    identity: Range<usize>,
}

/// A rule set that is new.
struct Waiting {
    number: u32,
    rules: OrderedRules,
}

impl RuleSets {
    /// The number of a rule set.
    pub fn intern(&mut self, planned: PlannedRules) -> u32 {
        let hash = seeded_hash(&planned.identity);
        let identities = &mut self.identities;
        let same = |known: &Known| {
            known.hash == hash && identities[known.identity.clone()] == *planned.identity
        };
        if let Some(known) = self.known.find(hash, same) {
            return known.number;
        }
        let start = identities.len();
        identities.extend_from_slice(&planned.identity);
        let identity = start..identities.len();
        let patterns = position(&self.patterns);
        let number = self.push([NONE, 0, patterns, planned.order.len() as u32]);
        self.known.insert_unique(hash, Known { hash, number, identity }, |known| known.hash);
        let mut text = Vec::new();
        for (pattern, verdict) in planned.rules.patterns.iter().zip(&planned.rules.verdicts) {
            text.clear();
            push_text(&pattern, &mut text);
            let at = self.texts.intern(&text) as usize;
            self.patterns.push(table_word(at, *verdict == Verdict::Allow));
        }
        self.waiting.push(Waiting { number, rules: planned.rules });
        number
    }

    /// A rule set that is made from a policy's groups when an agent asks.
    pub fn push_of_groups(&mut self) -> u32 {
        self.of_groups += 1;
        self.push([NONE, 0, NONE, 0])
    }

    fn push(&mut self, words: [u32; rule_set::WORDS]) -> u32 {
        let number = position(&self.words) / rule_set::WORDS as u32;
        words.into_iter().for_each(|word| push(&mut self.words, word));
        number
    }

    /// The number of rule sets.
    pub fn len(&self) -> u64 {
        (self.words.len() / rule_set::WORDS) as u64
    }

    /// Makes the prefilters of rule sets that are new since the last time.
    pub fn compile(&mut self) {
        let waiting = std::mem::take(&mut self.waiting);
        let compile = |Waiting { number, rules }: Waiting| {
            (number, sieve_of(&rules.patterns, &outcomes(&rules.verdicts)))
        };
        let compiled: Vec<_> = waiting.into_par_iter().with_min_len(8).map(compile).collect();
        for (number, lines) in compiled {
            let start = u32::try_from(self.prefilters.len()).ok().filter(|&start| start < NONE);
            let start = start.expect("prefilters have fewer than 2^32 lines; compile several sets");
            let words = &mut self.words[number as usize * rule_set::WORDS..];
            words[rule_set::PREFILTER] = U32::new(start);
            words[rule_set::LINES] = U32::new(lines.len() as u32);
            self.prefilters.extend(lines);
        }
    }
}
