//! Policies: the robots that each names, and the rule set of each entry.

use hashbrown::HashMap;
use zerocopy::IntoBytes;
use zerocopy::little_endian::U32;

use portcullis_dialect::decision::PolicyState;
use portcullis_robots::syntax::ListedRecord;

use super::super::layout::{NONE, count, policy, usage};
use super::super::scratch::{Items, Scratch};
use super::CompileError;
use super::intern::{Lists, RuleSets, end, push};
use super::plan::{PlannedEntry, PlannedRobot, PlannedRules, PolicyPlan, UsagePlan};
use super::texts::{PatternWords, Texts};

/// The sections that policies consist of.
pub struct PolicySections {
    /// The policies, concatenated.
    pub words: Items<U32>,
    /// The position of each policy.
    pub index: Items<U32>,
    /// The usage of policies, concatenated.
    pub usage: Items<U32>,
    /// The position of the usage of each policy, or none.
    pub usage_index: Items<U32>,
    pub rule_sets: RuleSets,
    pub orders: Lists<u8>,
    pub tokens: Tokens,
    pub texts: Texts,
}

/// The names of robots, each stored once.
#[derive(Default)]
pub struct Tokens {
    known: HashMap<Vec<u8>, u32, foldhash::fast::RandomState>,
    names: Vec<Vec<u8>>,
    /// About the memory they take.
    bytes: usize,
}

impl Tokens {
    fn intern(&mut self, name: Vec<u8>) -> u32 {
        if let Some(&known) = self.known.get(&name) {
            return known;
        }
        let number = self.names.len() as u32;
        self.bytes += 2 * name.len() + 128;
        self.names.push(name.clone());
        self.known.insert(name, number);
        number
    }

    /// Returns the section: the number of names, the end of each, their numbers in byte order, and
    /// the bytes.
    pub fn section(&self) -> Vec<u8> {
        let mut words = vec![U32::new(self.names.len() as u32)];
        let mut end = 0;
        for name in &self.names {
            end += name.len() as u32;
            push(&mut words, end);
        }
        let mut sorted: Vec<u32> = (0..self.names.len() as u32).collect();
        sorted.sort_unstable_by_key(|&number| &self.names[number as usize]);
        sorted.into_iter().for_each(|number| push(&mut words, number));
        [words.as_bytes(), &self.names.concat()].concat()
    }
}

impl PolicySections {
    pub fn new(scratch: &Scratch) -> PolicySections {
        PolicySections {
            words: Items::new(scratch),
            index: Items::new(scratch),
            usage: Items::new(scratch),
            usage_index: Items::new(scratch),
            rule_sets: RuleSets::new(scratch),
            orders: Lists::new(scratch),
            tokens: Tokens::default(),
            texts: Texts::new(scratch),
        }
    }

    /// Adds a policy behind those before it.
    pub fn add(&mut self, plan: PolicyPlan<'_>) -> Result<(), CompileError> {
        self.index.push(&[U32::new(end(&self.words)?)])?;
        let mut words = Vec::new();
        let is_file = matches!(plan.state, PolicyState::Rules | PolicyState::NoRules);
        let (default_entry, default_speaker) = plan.default.unwrap_or((NONE, NONE));
        let head = [
            plan.state as u32 | (plan.verdict as u32) << 8,
            0,
            NONE,
            plan.robots.len() as u32,
            plan.entries.len() as u32,
            default_entry,
            default_speaker,
        ];
        head.into_iter().for_each(|word| push(&mut words, word));
        push_numbered(&mut words, &self.numbered(plan.robots));
        let known = self.push_entries(&mut words, plan.entries, &plan.records)?;
        if is_file {
            let document = self.texts.add(&plan.records, &known)?;
            words[policy::DOCUMENT] = U32::new(document);
        }
        words[policy::WORDS] = U32::new(words.len() as u32);
        self.words.push(&words)?;
        let usage = match plan.usage {
            Some(usage) => self.add_usage(usage)?,
            None => NONE,
        };
        Ok(self.usage_index.push(&[U32::new(usage)])?)
    }

    /// Adds the usage of a policy, and returns its position.
    fn add_usage(&mut self, plan: UsagePlan<'_>) -> Result<u32, CompileError> {
        let start = end(&self.usage)?;
        let mut words = Vec::new();
        let list = self.texts.add_usage(&plan.records)?;
        let head = [
            0,
            list,
            plan.records.len() as u32,
            plan.robots.len() as u32,
            plan.entries.len() as u32,
            plan.default_entry,
        ];
        head.into_iter().for_each(|word| push(&mut words, word));
        for bytes in plan.preferences.chunks(usage::RECORDS_PER_WORD) {
            let mut word = [0; usage::RECORDS_PER_WORD];
            word[..bytes.len()].copy_from_slice(bytes);
            push(&mut words, u32::from_le_bytes(word));
        }
        push_numbered(&mut words, &self.numbered(plan.robots));
        let mut licenses_at = words.len() + plan.entries.len() * usage::ENTRY_WORDS;
        let mut licenses = Vec::new();
        for entry in plan.entries {
            for number in 0..usage::LABELS * usage::SOURCES {
                let rules = entry.statements.as_ref().map(|statements| &statements[number]);
                let (number, order) = match rules {
                    Some(PlannedRules { compiled, fingerprint, order, .. }) => {
                        let order = self.orders.intern(&order_bytes(order))?;
                        (self.rule_sets.intern(compiled, *fingerprint)?, order)
                    }
                    None => (self.rule_sets.push_of_groups(), NONE),
                };
                push(&mut words, number);
                push(&mut words, order);
            }
            push(&mut words, licenses_at as u32);
            licenses_at += 1 + entry.licenses.len();
            push(&mut licenses, entry.licenses.len() as u32);
            entry.licenses.into_iter().for_each(|record| push(&mut licenses, record));
        }
        words.extend(licenses);
        words[usage::WORDS] = U32::new(words.len() as u32);
        self.usage.push(&words)?;
        Ok(start)
    }

    /// Returns robots with the numbers of their names, ascending.
    fn numbered(&mut self, robots: Vec<PlannedRobot>) -> Vec<(u32, u32, u32)> {
        let number =
            |robot: PlannedRobot| (self.tokens.intern(robot.name), robot.entry, robot.naming_line);
        let mut robots: Vec<(u32, u32, u32)> = robots.into_iter().map(number).collect();
        robots.sort_unstable();
        robots
    }

    /// Adds entries, and returns the text words of the records that equal a pattern text.
    fn push_entries(
        &mut self,
        words: &mut Vec<U32>,
        entries: Vec<PlannedEntry>,
        records: &[ListedRecord<'_>],
    ) -> Result<Vec<Option<u32>>, CompileError> {
        let mut pattern_words = PatternWords::new(records);
        let mut groups_at = words.len() + entries.len() * policy::ENTRY_WORDS;
        let mut groups = Vec::new();
        for entry in entries {
            let (number, order) = match entry.ordered {
                Some(planned) => {
                    let order = self.orders.intern(&order_bytes(&planned.order))?;
                    let number = self.rule_sets.intern(&planned.compiled, planned.fingerprint)?;
                    let texts = self.rule_sets.text_positions(number, &planned.compiled);
                    pattern_words.add(&planned.rules, planned.compiled.as_rule_set(), texts);
                    (number, order)
                }
                None => (self.rule_sets.push_of_groups(), NONE),
            };
            for word in [number, order, groups_at as u32] {
                push(words, word);
            }
            groups_at += 1 + entry.positions.len() * policy::GROUP_WORDS;
            push(&mut groups, entry.positions.len() as u32);
            for (rule, record) in entry.positions {
                push(&mut groups, rule);
                push(&mut groups, record);
            }
        }
        words.extend(groups);
        Ok(pattern_words.words)
    }

    /// Returns the size of the tables, in bytes.
    pub fn table_bytes(&self) -> usize {
        let tokens = self.tokens.bytes;
        self.rule_sets.table_bytes() + self.orders.table_bytes() + self.texts.table_bytes() + tokens
    }

    pub fn count(&self, counts: &mut [u64]) {
        counts[count::POLICIES] = self.index.len();
        counts[count::RULE_SETS] = self.rule_sets.len();
        counts[count::RULE_SETS_OF_GROUPS] = self.rule_sets.of_groups;
        counts[count::TOKENS] = self.tokens.names.len() as u64;
    }
}

/// Appends the numbers of names, then the entry and the naming line of each.
fn push_numbered(words: &mut Vec<U32>, robots: &[(u32, u32, u32)]) {
    robots.iter().for_each(|&(token, ..)| push(words, token));
    for &(_, entry, naming_line) in robots {
        push(words, entry);
        push(words, naming_line);
    }
}

/// Returns the stored form of an order: the width of a number in bytes (1, 2 or 4), then the
/// numbers in that width.
pub fn order_bytes(order: &[u32]) -> Vec<u8> {
    let width = match order.iter().max() {
        Some(0x1_0000..) => 4,
        Some(0x100..) => 2,
        _ => 1,
    };
    let numbers = order.iter().flat_map(|number| number.to_le_bytes().into_iter().take(width));
    std::iter::once(width as u8).chain(numbers).collect()
}
