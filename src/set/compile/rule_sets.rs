//! Rule sets, each kept once: as an automaton, or as the patterns to build one from.

use std::ops::Range;

use hashbrown::HashTable;
use rayon::prelude::*;
use zerocopy::little_endian::U32;

use crate::automaton::Automaton;
use crate::bytes::seeded_hash;
use crate::decision::Verdict;
use crate::pattern::PatternList;
use crate::policy::{OrderedRules, outcomes};

use super::super::layout::rule_set;
use super::CompileConfig;
use super::intern::{position, push};
use super::plan::PlannedRules;
use super::texts::Texts;

/// The rule sets of a set.
#[derive(Default)]
pub struct RuleSets {
    pub words: Vec<U32>,
    /// The number of rule sets.
    pub count: u64,
    /// Those that are no automaton.
    pub on_demand: u32,
    known: HashTable<Known>,
    /// What rule sets are known by, end to end.
    identities: Vec<u8>,
    waiting: Vec<Waiting>,
    /// By number: where the rule set stands; those that wait have no place yet.
    pub positions: Vec<u32>,
    /// Where words hold provisional numbers of strings.
    pattern_words: Vec<Range<usize>>,
}

struct Known {
    hash: u64,
    number: u32,
    identity: Range<usize>,
}

/// A rule set that is new.
struct Waiting {
    rules: OrderedRules,
    /// The words of its patterns, should it be kept as such.
    words: Vec<u32>,
}

impl RuleSets {
    /// The number of a rule set. `strings` are the provisional numbers of the file's records, and
    /// `first` that of the first rule of the first group.
    pub fn intern(&mut self, planned: PlannedRules, strings: &[u32], first: u32) -> u32 {
        let hash = seeded_hash(&planned.identity);
        let identities = &mut self.identities;
        let same = |known: &Known| {
            known.hash == hash && identities[known.identity.clone()] == *planned.identity
        };
        if let Some(known) = self.known.find(hash, same) {
            return known.number;
        }
        let number = self.positions.len() as u32;
        let start = identities.len();
        identities.extend_from_slice(&planned.identity);
        let known = Known { hash, number, identity: start..identities.len() };
        self.known.insert_unique(hash, known, |known| known.hash);
        self.positions.push(u32::MAX);
        let patterns = planned.order.iter().zip(&planned.rules.verdicts);
        let patterns = patterns.zip(&planned.rules.directories);
        let word = |((&record, &verdict), &directory): ((&u32, &Verdict), &bool)| {
            let string = strings[(first + record) as usize];
            let allows = if verdict == Verdict::Allow { rule_set::ALLOWS } else { 0 };
            let directory = if directory { rule_set::DIRECTORY } else { 0 };
            string << rule_set::STRING_SHIFT | directory | allows
        };
        let words = patterns.map(word).collect();
        self.waiting.push(Waiting { rules: planned.rules, words });
        number
    }

    /// A rule set that is made from a policy's groups when somebody asks.
    pub fn push_of_groups(&mut self) -> u32 {
        let number = self.positions.len() as u32;
        self.positions.push(position(&self.words));
        self.push_head(rule_set::OF_GROUPS, 0, self.on_demand, 0);
        self.on_demand += 1;
        number
    }

    fn push_head(&mut self, kind: u32, words: usize, start: u32, patterns: usize) {
        self.count += 1;
        push(&mut self.words, (words as u32) << rule_set::KIND_BITS | kind);
        push(&mut self.words, start);
        push(&mut self.words, patterns as u32);
    }

    /// Compiles the rule sets that are new since the last time.
    pub fn compile(&mut self, config: &CompileConfig) {
        let waiting = std::mem::take(&mut self.waiting);
        let compile = |waiting: Waiting| {
            let OrderedRules { patterns, verdicts, .. } = waiting.rules;
            let count = patterns.len();
            let automaton = automaton(patterns, &verdicts, config);
            (automaton, count, waiting.words)
        };
        let compiled: Vec<_> = waiting.into_par_iter().with_min_len(8).map(compile).collect();
        let waited = self.positions.iter().enumerate();
        let waited: Vec<usize> = waited
            .filter(|(_, position)| **position == u32::MAX)
            .map(|(number, _)| number)
            .collect();
        for (number, (automaton, count, words)) in waited.into_iter().zip(compiled) {
            self.positions[number] = position(&self.words);
            match automaton.stored() {
                Some(stored) => {
                    self.push_head(rule_set::AUTOMATON, stored.words.len(), stored.start, count);
                    self.words.extend_from_slice(stored.words);
                }
                None => {
                    self.push_head(rule_set::PATTERNS_ONLY, count, self.on_demand, count);
                    self.on_demand += 1;
                    let start = self.words.len();
                    words.into_iter().for_each(|word| push(&mut self.words, word));
                    self.pattern_words.push(start..self.words.len());
                }
            }
        }
    }

    /// Gives strings their numbers.
    pub fn finish(&mut self, texts: &Texts) {
        for range in std::mem::take(&mut self.pattern_words) {
            for word in &mut self.words[range] {
                let flags = word.get() & (rule_set::ALLOWS | rule_set::DIRECTORY);
                let string = texts.rank(word.get() >> rule_set::STRING_SHIFT);
                *word = U32::new(string << rule_set::STRING_SHIFT | flags);
            }
        }
    }
}

fn automaton(patterns: PatternList, verdicts: &[Verdict], config: &CompileConfig) -> Automaton {
    Automaton::new(patterns, outcomes(verdicts), &config.limits)
}
