//! Policies: the robots that each names, and the rule set of each entry.

use zerocopy::little_endian::U32;

use portcullis_dialect::dialect::AccessOutcome;
use portcullis_files::scratch::{Items, Scratch};
use portcullis_set::layout::record::{self, In};
use portcullis_set::layout::{NONE, Pairs, PolicyHead, RuleSetRow, policy, robots_word};
use portcullis_set::lists::Role;

use super::config::CompileError;
use super::intern::{Orders, RuleSets, end, push};
use super::plan::{PlannedEntry, PlannedRobot, PlannedRules, PolicyPlan};
use super::texts::Texts;
use crate::strings::NameTable;

/// The sections that policies consist of.
pub struct PolicySections {
    /// The heads of policies.
    pub heads: Items<PolicyHead>,
    /// The rest of each policy, concatenated.
    pub words: Items<U32>,
    pub rule_sets: RuleSets,
    pub orders: Orders,
    pub names: NameTable,
    pub texts: Texts,
}

impl PolicySections {
    pub fn new(scratch: &Scratch) -> PolicySections {
        PolicySections {
            words: Items::new(scratch),
            heads: Items::new(scratch),
            rule_sets: RuleSets::default(),
            orders: Orders::new(scratch),
            names: NameTable::default(),
            texts: Texts::new(scratch),
        }
    }

    /// Adds a policy behind those before it.
    pub fn add(&mut self, plan: PolicyPlan<'_>) -> Result<(), CompileError> {
        let rest = end(&self.words)?;
        let mut words = Vec::new();
        let is_file = plan.access.state.is_file();
        let (default_entry, default_speaker) = plan.default.unwrap_or((NONE, NONE));
        let groups = plan.entries.iter().flat_map(|entry| &entry.positions);
        let are_wide = are_wide(&plan.robots, groups.copied());
        let robots = robots_word(plan.robots.len(), are_wide);
        let head = [0, robots, plan.entries.len() as u32, default_speaker];
        head.into_iter().for_each(|word| push(&mut words, word));
        let names = self.push_robots(&mut words, plan.robots, are_wide)?;
        let entries_at = words.len();
        self.push_entries(&mut words, plan.entries, are_wide)?;
        let document = match is_file {
            true => {
                let kind = |index: usize| {
                    plan.records[index].role.number() | plan.forms[index] << record::FORM_SHIFT
                };
                self.texts.add(In::Documents, &plan.records, kind)?
            }
            false => NONE,
        };
        let RuleSetRow { line, lines } = match default_entry {
            NONE => RuleSetRow { line: NONE.into(), lines: 0.into() },
            entry => {
                let at = entries_at + entry as usize * policy::ENTRY_WORDS + policy::RULE_SET;
                self.rule_sets.index[words[at].get() as usize]
            }
        };
        words[policy::WORDS] = U32::new(words.len() as u32);
        self.words.push(&words)?;
        plan.unruled.iter().try_for_each(|name| self.names.intern(name).map(|_| ()))?;
        let usage_records = match &*plan.usage_records {
            [] => NONE,
            records => {
                let kind = |index: usize| records[index].role.number() - Role::FIRST_USAGE;
                self.texts.add(In::Usage, records, kind)?
            }
        };
        let AccessOutcome { state, verdict } = plan.access;
        let state = PolicyHead::state_of(state as u32, verdict as u32);
        Ok(self.heads.push(&[PolicyHead {
            rest: rest.into(),
            document: document.into(),
            usage_records: usage_records.into(),
            default_entry: default_entry.into(),
            default_line: line,
            default_lines: lines,
            names_and_state: (names | state).into(),
        }])?)
    }

    /// Appends the numbers of names, ascending, then the entry and the naming line of each. Returns the
    /// bits of the names for a head.
    fn push_robots(
        &mut self,
        words: &mut Vec<U32>,
        robots: Vec<PlannedRobot>,
        are_wide: bool,
    ) -> Result<u64, CompileError> {
        let number = |robot: PlannedRobot| Ok((self.names.intern(&robot.name)?, robot));
        let mut robots =
            robots.into_iter().map(number).collect::<Result<Vec<_>, CompileError>>()?;
        robots.sort_unstable_by_key(|&(name, _)| name);
        robots.iter().for_each(|&(name, _)| push(words, name));
        for (_, robot) in &robots {
            Pairs::push((robot.entry, robot.naming_line), are_wide, words);
        }
        Ok(robots.iter().fold(0, |bits, &(name, _)| bits | PolicyHead::name_bit(name)))
    }

    /// Adds entries.
    fn push_entries(
        &mut self,
        words: &mut Vec<U32>,
        entries: Vec<PlannedEntry>,
        are_wide: bool,
    ) -> Result<(), CompileError> {
        let mut groups_at = words.len() + entries.len() * policy::ENTRY_WORDS;
        let mut groups = Vec::new();
        for entry in entries {
            let (rule_set, order) = match &entry.ordered {
                Some(PlannedRules { compiled, fingerprint, order }) => {
                    let order = self.orders.intern(order)?;
                    (self.rule_sets.intern(compiled, *fingerprint)?, order)
                }
                // It is built lazily.
                None => (self.rule_sets.push_of_groups(), NONE),
            };
            words.extend([rule_set, order, groups_at as u32].map(U32::new));
            groups_at += 1 + entry.positions.len() * Pairs::words(are_wide);
            push(&mut groups, entry.positions.len() as u32);
            for group in entry.positions {
                Pairs::push(group, are_wide, &mut groups);
            }
        }
        words.extend(groups);
        Ok(())
    }

    /// Returns the size of the tables, in bytes.
    pub fn table_bytes(&self) -> usize {
        self.rule_sets.table_bytes() + self.orders.table_bytes() + self.names.table_bytes()
    }
}

/// Returns whether the pairs of a policy have two words.
fn are_wide(robots: &[PlannedRobot], groups: impl IntoIterator<Item = (u32, u32)>) -> bool {
    let robots = robots.iter().map(|robot| (robot.entry, robot.naming_line));
    robots.chain(groups).any(|(one, other)| Pairs::needs_wide(one | other))
}
