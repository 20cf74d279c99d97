//! Policies: the robots that each names, and the rule set of each entry.

use hashbrown::HashMap;
use zerocopy::IntoBytes;
use zerocopy::little_endian::U32;

use portcullis_dialect::decision::PolicyState;
use portcullis_robots::syntax::ListedRecord;

use super::super::layout::{NONE, count, policy, usage};
use super::intern::{Lists, RuleSets, position, push};
use super::plan::{PlannedEntry, PlannedRobot, PlannedRules, PolicyPlan, UsagePlan};
use super::texts::{PatternWords, Texts};

/// The sections that policies consist of.
#[derive(Default)]
pub struct PolicySections {
    /// The policies, concatenated.
    pub words: Vec<U32>,
    /// The position of each policy.
    pub index: Vec<U32>,
    /// The usage of policies, concatenated.
    pub usage: Vec<U32>,
    /// The position of the usage of each policy, or none.
    pub usage_index: Vec<U32>,
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
}

impl Tokens {
    fn intern(&mut self, name: Vec<u8>) -> u32 {
        if let Some(&known) = self.known.get(&name) {
            return known;
        }
        let number = self.names.len() as u32;
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
    /// Adds a policy behind those before it.
    pub fn add(&mut self, plan: PolicyPlan<'_>) {
        let start = self.words.len();
        push(&mut self.index, position(&self.words));
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
        head.into_iter().for_each(|word| push(&mut self.words, word));
        self.push_robots(plan.robots);
        let words = self.push_entries(start, plan.entries, &plan.records);
        if is_file {
            let document = self.texts.add(&plan.records, &words);
            self.words[start + policy::DOCUMENT] = U32::new(document);
        }
        self.words[start + policy::WORDS] = U32::new((self.words.len() - start) as u32);
        let usage = plan.usage.map_or(NONE, |usage| self.add_usage(usage));
        push(&mut self.usage_index, usage);
    }

    /// Adds the usage of a policy, and returns its position.
    fn add_usage(&mut self, plan: UsagePlan<'_>) -> u32 {
        let start = position(&self.usage);
        let list = self.texts.add_usage(&plan.records);
        let head = [
            0,
            list,
            plan.records.len() as u32,
            plan.robots.len() as u32,
            plan.entries.len() as u32,
            plan.default_entry,
        ];
        head.into_iter().for_each(|word| push(&mut self.usage, word));
        for bytes in plan.preferences.chunks(usage::RECORDS_PER_WORD) {
            let mut word = [0; usage::RECORDS_PER_WORD];
            word[..bytes.len()].copy_from_slice(bytes);
            push(&mut self.usage, u32::from_le_bytes(word));
        }
        let robots = self.numbered(plan.robots);
        push_numbered(&mut self.usage, &robots);
        let entries_end = self.usage.len() + plan.entries.len() * usage::ENTRY_WORDS;
        let mut licenses_at = entries_end - start as usize;
        let mut licenses = Vec::new();
        for entry in plan.entries {
            for number in 0..usage::LABELS * usage::SOURCES {
                let rules = entry.statements.as_ref().map(|statements| &statements[number]);
                let (number, order) = match rules {
                    Some(PlannedRules { compiled, order, .. }) => {
                        let order = self.orders.intern(&order_bytes(order));
                        (self.rule_sets.intern(compiled), order)
                    }
                    None => (self.rule_sets.push_of_groups(), NONE),
                };
                push(&mut self.usage, number);
                push(&mut self.usage, order);
            }
            push(&mut self.usage, licenses_at as u32);
            licenses_at += 1 + entry.licenses.len();
            push(&mut licenses, entry.licenses.len() as u32);
            entry.licenses.into_iter().for_each(|record| push(&mut licenses, record));
        }
        self.usage.extend(licenses);
        let words = self.usage.len() - start as usize;
        self.usage[start as usize + usage::WORDS] = U32::new(words as u32);
        start
    }

    fn push_robots(&mut self, robots: Vec<PlannedRobot>) {
        let robots = self.numbered(robots);
        push_numbered(&mut self.words, &robots);
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
        start: usize,
        entries: Vec<PlannedEntry>,
        records: &[ListedRecord<'_>],
    ) -> Vec<Option<u32>> {
        let mut pattern_words = PatternWords::new(records);
        let mut groups_at = self.words.len() - start + entries.len() * policy::ENTRY_WORDS;
        let mut groups = Vec::new();
        for entry in entries {
            let (number, order) = match entry.ordered {
                Some(planned) => {
                    let order = self.orders.intern(&order_bytes(&planned.order));
                    let number = self.rule_sets.intern(&planned.compiled);
                    let texts = self.rule_sets.text_positions(number);
                    pattern_words.add(&planned.rules, planned.compiled.as_rule_set(), texts);
                    (number, order)
                }
                None => (self.rule_sets.push_of_groups(), NONE),
            };
            for word in [number, order, groups_at as u32] {
                push(&mut self.words, word);
            }
            groups_at += 1 + entry.positions.len() * policy::GROUP_WORDS;
            push(&mut groups, entry.positions.len() as u32);
            for (rule, record) in entry.positions {
                push(&mut groups, rule);
                push(&mut groups, record);
            }
        }
        self.words.extend(groups);
        pattern_words.words
    }

    /// Assigns the final numbers of strings. Nothing can be added afterwards.
    pub fn finish(&mut self) {
        self.rule_sets.forget();
        self.orders.forget();
        self.texts.finish();
    }

    pub fn count(&self, counts: &mut [u64]) {
        counts[count::POLICIES] = self.index.len() as u64;
        counts[count::RULE_SETS] = self.rule_sets.len();
        counts[count::RULE_SETS_OF_GROUPS] = self.rule_sets.of_groups;
        counts[count::TOKENS] = self.tokens.names.len() as u64;
        counts[count::STRINGS] = self.texts.table().len();
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
