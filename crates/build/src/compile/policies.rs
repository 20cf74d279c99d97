//! Policies: the robots that each names, and the rule set of each entry.

use zerocopy::little_endian::U32;

use portcullis_files::scratch::{Items, Scratch};
use portcullis_set::layout::record::{self, In};
use portcullis_set::layout::{NONE, Pairs, PolicyHead, RuleSetRow, policy, robots_word, usage};
use portcullis_set::lists::ListedRecord;

use super::config::CompileError;
use super::intern::{Orders, RuleSets, end, push};
use super::plan::{PlannedEntry, PlannedRobot, PlannedRules, PolicyPlan, UsagePlan};
use super::texts::{TextForms, Texts};
use crate::strings::NameTable;

/// The sections that policies consist of.
pub struct PolicySections {
    /// The heads of policies.
    pub heads: Items<PolicyHead>,
    /// The rest of each policy, concatenated.
    pub words: Items<U32>,
    /// The usage of policies, concatenated.
    pub usage: Items<U32>,
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
            usage: Items::new(scratch),
            rule_sets: RuleSets::new(),
            orders: Orders::new(scratch),
            names: NameTable::default(),
            texts: Texts::new(scratch),
        }
    }

    /// Adds a policy behind those before it.
    pub fn add(&mut self, plan: PolicyPlan<'_>) -> Result<(), CompileError> {
        let rest = end(&self.words)?;
        let mut words = Vec::new();
        let is_file = plan.state.is_file();
        let (default_entry, default_speaker) = plan.default.unwrap_or((NONE, NONE));
        let groups = plan.entries.iter().flat_map(|entry| &entry.positions);
        let are_wide = are_wide(&plan.robots, groups.copied());
        let robots = robots_word(plan.robots.len(), are_wide);
        let head = [0, robots, plan.entries.len() as u32, default_speaker];
        head.into_iter().for_each(|word| push(&mut words, word));
        let names = self.push_robots(&mut words, plan.robots, are_wide)?;
        let entries_at = words.len();
        let forms = self.push_entries(&mut words, plan.entries, are_wide, &plan.records)?;
        let document = match is_file {
            true => {
                let kind = |index: usize| {
                    plan.records[index].role.number() | forms[index] << record::FORM_SHIFT
                };
                self.texts.add(In::Documents, &plan.records, kind)?
            }
            false => NONE,
        };
        let RuleSetRow { line, lines } = match default_entry {
            NONE => RuleSetRow { line: NONE.into(), lines: 0.into() },
            entry => {
                let at = entries_at + entry as usize * policy::ENTRY_WORDS + policy::RULE_SET;
                self.rule_sets.lines_of(words[at].get())
            }
        };
        words[policy::WORDS] = U32::new(words.len() as u32);
        self.words.push(&words)?;
        let usage = match plan.usage {
            Some(usage) => self.add_usage(usage)?,
            None => NONE,
        };
        Ok(self.heads.push(&[PolicyHead {
            rest: rest.into(),
            document: document.into(),
            usage: usage.into(),
            default_entry: default_entry.into(),
            default_line: line,
            default_lines: lines,
            names_and_state: (names | PolicyHead::state_of(plan.state as u32, plan.verdict as u32))
                .into(),
        }])?)
    }

    /// Adds the usage of a policy, and returns its position.
    fn add_usage(&mut self, plan: UsagePlan<'_>) -> Result<u32, CompileError> {
        let start = end(&self.usage)?;
        let mut words = Vec::new();
        let kind = |index: usize| plan.records[index].role.number();
        let list = self.texts.add(In::Usage, &plan.records, kind)?;
        let are_wide = are_wide(&plan.robots, []);
        let head = [
            0,
            list,
            plan.records.len() as u32,
            robots_word(plan.robots.len(), are_wide),
            plan.entries.len() as u32,
            plan.default_entry,
        ];
        head.into_iter().for_each(|word| push(&mut words, word));
        for bytes in plan.preferences.chunks(usage::RECORDS_PER_WORD) {
            let mut word = [0; usage::RECORDS_PER_WORD];
            word[..bytes.len()].copy_from_slice(bytes);
            push(&mut words, u32::from_le_bytes(word));
        }
        self.push_robots(&mut words, plan.robots, are_wide)?;
        let mut licenses_at = words.len() + plan.entries.len() * usage::ENTRY_WORDS;
        let mut licenses = Vec::new();
        for entry in plan.entries {
            for number in 0..usage::LABELS * usage::SOURCES {
                let rules = entry.statements.as_ref().map(|statements| &statements[number]);
                self.push_rules(&mut words, rules)?;
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

    /// Adds entries, and returns the form of the text of each record.
    fn push_entries(
        &mut self,
        words: &mut Vec<U32>,
        entries: Vec<PlannedEntry>,
        are_wide: bool,
        records: &[ListedRecord<'_>],
    ) -> Result<Vec<u32>, CompileError> {
        let mut forms = TextForms::new(records);
        let mut groups_at = words.len() + entries.len() * policy::ENTRY_WORDS;
        let mut groups = Vec::new();
        for entry in entries {
            self.push_rules(words, entry.ordered.as_ref())?;
            if let Some(planned) = entry.ordered {
                let (_, first) = entry.positions[0];
                forms.add(first, &planned.order, planned.compiled.as_rule_set());
            }
            push(words, groups_at as u32);
            groups_at += 1 + entry.positions.len() * Pairs::words(are_wide);
            push(&mut groups, entry.positions.len() as u32);
            for group in entry.positions {
                Pairs::push(group, are_wide, &mut groups);
            }
        }
        words.extend(groups);
        Ok(forms.forms)
    }

    /// Appends the numbers of a rule set and of its order. Without rules it is built lazily.
    fn push_rules(
        &mut self,
        words: &mut Vec<U32>,
        rules: Option<&PlannedRules>,
    ) -> Result<(), CompileError> {
        let (number, order) = match rules {
            Some(PlannedRules { compiled, fingerprint, order, .. }) => {
                let order = self.orders.intern(order)?;
                (self.rule_sets.intern(compiled, *fingerprint)?, order)
            }
            None => (self.rule_sets.push_of_groups(), NONE),
        };
        words.extend([number, order].map(U32::new));
        Ok(())
    }

    /// Returns the size of the tables, in bytes.
    pub fn table_bytes(&self) -> usize {
        self.rule_sets.table_bytes() + self.orders.table_bytes() + self.names.table_bytes()
    }
}

/// Returns whether the pairs of a policy or usage have two words.
fn are_wide(robots: &[PlannedRobot], groups: impl IntoIterator<Item = (u32, u32)>) -> bool {
    let robots = robots.iter().map(|robot| (robot.entry, robot.naming_line));
    robots.chain(groups).any(|(one, other)| Pairs::needs_wide(one | other))
}
