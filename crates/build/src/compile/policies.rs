//! Policies: the crawlers that each names, its rule groups, and the entries of several of them.

use zerocopy::little_endian::U32;

use portcullis_dialect::dialect::AccessOutcome;
use portcullis_files::scratch::{Items, Scratch, Table};
use portcullis_set::layout::record::{self, In};
use portcullis_set::layout::{Pairs, PolicyHead, RuleSetRow, policy, stored};
use portcullis_set::lists::Role;

use super::config::CompileError;
use super::intern::{Orders, RuleSets, end};
use super::plan::{PlannedGroup, PlannedRobot, PolicyPlan};
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
    tables: Table,
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
            tables: scratch.table(),
        }
    }

    /// Adds a policy after those before it.
    pub fn add(&mut self, plan: PolicyPlan<'_>) -> Result<(), CompileError> {
        let rest = end(&self.words)?;
        let mut words = Vec::with_capacity(8 + 2 * plan.robots.len() + 3 * plan.rule_groups.len());
        let is_file = plan.access.state.is_file();
        let entries = entry_numbers(&plan.entries, plan.rule_groups.len());
        let robots = plan.robots.iter().map(|robot| (entries[robot.entry], robot.naming_line));
        let groups = plan.rule_groups.iter().flat_map(|group| &group.positions);
        let mut pairs = robots.chain(groups.copied());
        let are_wide = pairs.any(|(one, other)| Pairs::needs_wide(one | other));
        let (default, naming_line) = plan.default.unzip();
        let robots = Pairs::head(plan.robots.len(), are_wide);
        words.extend([0, robots, plan.rule_groups.len() as u32].map(U32::new));
        words.push(stored(naming_line));
        let names = self.push_robots(&mut words, (plan.robots, &entries), are_wide)?;
        let groups_at = words.len();
        self.push_rule_groups(&mut words, plan.rule_groups, &plan.entries, are_wide)?;
        let document = match is_file {
            true => {
                let kind = |index: usize| {
                    plan.records[index].role.number() | plan.forms[index] << record::FORM_SHIFT
                };
                Some(self.texts.add(In::Documents, &plan.records, kind)?)
            }
            false => None,
        };
        let RuleSetRow { line, lines } = match default.map(|entry| &*plan.entries[entry]) {
            Some([group]) => {
                let at = groups_at + *group as usize * policy::RULE_GROUP_WORDS + policy::RULE_SET;
                self.rule_sets.index[(words[at].get() & !policy::IS_SINGLE) as usize]
            }
            None | Some(_) => RuleSetRow { line: stored(None), lines: 0.into() },
        };
        words[policy::WORDS] = U32::new(words.len() as u32);
        self.words.push(&words)?;
        plan.unruled.iter().try_for_each(|name| self.names.intern(name).map(|_| ()))?;
        let usage_records = match &*plan.usage_records {
            [] => None,
            records => {
                let kind = |index: usize| records[index].role.number() - Role::FIRST_USAGE;
                Some(self.texts.add(In::Usage, records, kind)?)
            }
        };
        self.tables.resize(self.table_bytes())?;
        let AccessOutcome { state, verdict } = plan.access;
        let state = PolicyHead::state_of(state as u32, verdict as u32);
        Ok(self.heads.push(&[PolicyHead {
            rest: rest.into(),
            document: stored(document),
            usage_records: stored(usage_records),
            default_entry: stored(default.map(|entry| entries[entry])),
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
        (robots, entries): (Vec<PlannedRobot>, &[u32]),
        are_wide: bool,
    ) -> Result<u64, CompileError> {
        let number = |robot: PlannedRobot| Ok((self.names.intern(&robot.name)?, robot));
        let mut robots =
            robots.into_iter().map(number).collect::<Result<Vec<_>, CompileError>>()?;
        robots.sort_unstable_by_key(|&(name, _)| name);
        words.extend(robots.iter().map(|&(name, _)| U32::new(name)));
        for (_, robot) in &robots {
            Pairs::push((entries[robot.entry], robot.naming_line), are_wide, words);
        }
        Ok(robots.iter().fold(0, |bits, &(name, _)| bits | PolicyHead::name_bit(name)))
    }

    /// Appends the rule groups, and the lists of entries with several.
    fn push_rule_groups(
        &mut self,
        words: &mut Vec<U32>,
        rule_groups: Vec<PlannedGroup>,
        entries: &[Vec<u32>],
        are_wide: bool,
    ) -> Result<(), CompileError> {
        let several = || entries.iter().filter(|entry| entry.len() > 1);
        let own_words = rule_groups.len() * policy::RULE_GROUP_WORDS + several().count();
        let mut next = words.len() + own_words;
        let mut lists = Vec::new();
        for PlannedGroup { positions, rules } in rule_groups {
            let order = self.orders.intern(&rules.order)?;
            let rule_set = self.rule_sets.intern(rules)?;
            if let ([pair], false) = (&*positions, are_wide) {
                words.extend([rule_set | policy::IS_SINGLE, order].map(U32::new));
                Pairs::push(*pair, are_wide, words);
                continue;
            }
            words.extend([rule_set, order, next as u32].map(U32::new));
            next += 1 + positions.len() * Pairs::words(are_wide);
            lists.push(U32::new(positions.len() as u32));
            positions.into_iter().for_each(|group| Pairs::push(group, are_wide, &mut lists));
        }
        for entry in several() {
            words.push(U32::new(next as u32));
            next += 1 + entry.len();
            lists.push(U32::new(entry.len() as u32));
            lists.extend(entry.iter().map(|&group| U32::new(group)));
        }
        words.extend(lists);
        Ok(())
    }

    /// Returns the size of the tables, in bytes.
    fn table_bytes(&self) -> usize {
        self.rule_sets.table_bytes() + self.orders.table_bytes() + self.names.table_bytes()
    }
}

/// Returns the number of each entry: that of its one rule group, or of its list after them.
fn entry_numbers(entries: &[Vec<u32>], rule_groups: usize) -> Vec<u32> {
    let mut several = rule_groups as u32..;
    let number = |entry: &Vec<u32>| match **entry {
        [group] => group,
        _ => several.next().expect("fewer entries than names"),
    };
    entries.iter().map(number).collect()
}
