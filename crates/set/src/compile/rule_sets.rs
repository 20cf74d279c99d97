//! Rule sets, each stored once: the prefilter and the patterns that decide paths, and the origin of
//! each pattern.

use hashbrown::HashTable;
use rayon::prelude::*;
use zerocopy::IntoBytes;
use zerocopy::little_endian::{U16, U32};

use portcullis_dialect::decision::Verdict;
use portcullis_matcher::automaton::{PrefilterLine, build_prefilter, push_text, table_word};
use portcullis_matcher::bytes::seeded_hash;
use portcullis_matcher::pattern::PathPattern;
use portcullis_robots::policy::{OrderedRules, outcomes};

use super::super::layout::{NONE, rule_set};
use super::intern::{Lists, position, push};

/// The rule sets of a set.
#[derive(Default)]
pub struct RuleSets {
    /// The words of each rule set, by number.
    pub words: Vec<U32>,
    /// The lines of all prefilters.
    pub prefilters: Vec<PrefilterLine>,
    /// For each pattern, concatenated: the start of its text, and whether it allows.
    pub patterns: Vec<U32>,
    /// The texts of patterns, each stored once.
    pub texts: Lists<U16>,
    /// The number of rule sets that are built lazily from a policy's groups.
    pub of_groups: u64,
    /// The numbers of rule sets, by the hash of their patterns.
    known: HashTable<(u64, u32)>,
    /// The numbers and rules of new rule sets.
    waiting: Vec<(u32, OrderedRules)>,
    text: Vec<U16>,
}

impl RuleSets {
    /// Returns the pattern table of a rule set. Texts are stored once, so equal rule sets have
    /// equal tables.
    pub fn table(&mut self, rules: &OrderedRules) -> Vec<U32> {
        let word = |(pattern, verdict): (PathPattern<'_>, &Verdict)| {
            self.text.clear();
            push_text(&pattern, &mut self.text);
            let at = self.texts.intern(&self.text) as usize;
            table_word(at, *verdict == Verdict::Allow)
        };
        rules.patterns.iter().zip(&rules.verdicts).map(word).collect()
    }

    /// Returns the number of the rule set with this table.
    pub fn intern(&mut self, rules: OrderedRules, patterns: &[U32]) -> u32 {
        let hash = seeded_hash(patterns.as_bytes());
        let (words, all) = (&self.words, &self.patterns);
        let same = |&(other, number): &(u64, u32)| {
            let words = &words[number as usize * rule_set::WORDS..];
            let count = words[rule_set::COUNT].get() as usize;
            other == hash && all[words[rule_set::PATTERNS].get() as usize..][..count] == *patterns
        };
        if let Some(&(_, number)) = self.known.find(hash, same) {
            return number;
        }
        let start = position(&self.patterns);
        self.patterns.extend_from_slice(patterns);
        let number = self.push([NONE, 0, start, patterns.len() as u32]);
        self.known.insert_unique(hash, (hash, number), |&(hash, _)| hash);
        self.waiting.push((number, rules));
        number
    }

    /// Frees the memory used for interning. A rule set that is added later is stored as new.
    pub fn forget(&mut self) {
        self.known = HashTable::new();
        self.texts.forget();
    }

    /// Adds a rule set that is built from a policy's groups when an agent first needs it.
    pub fn push_of_groups(&mut self) -> u32 {
        self.of_groups += 1;
        self.push([NONE, 0, NONE, 0])
    }

    fn push(&mut self, words: [u32; rule_set::WORDS]) -> u32 {
        let number = position(&self.words) / rule_set::WORDS as u32;
        words.into_iter().for_each(|word| push(&mut self.words, word));
        number
    }

    /// Returns the number of rule sets.
    pub fn len(&self) -> u64 {
        (self.words.len() / rule_set::WORDS) as u64
    }

    /// Builds the prefilters of the rule sets added since the last call.
    pub fn compile(&mut self) {
        let waiting = std::mem::take(&mut self.waiting);
        let compile = |(number, rules): (u32, OrderedRules)| {
            (number, build_prefilter(&rules.patterns, &outcomes(&rules.verdicts)))
        };
        let compiled: Vec<_> = waiting.into_par_iter().map(compile).collect();
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
