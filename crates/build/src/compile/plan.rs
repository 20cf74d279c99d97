//! Plans one policy independently of all others, so that threads can plan in parallel.

use hashbrown::HashMap;

use portcullis_dialect::decision::{PolicyState, Verdict};
use portcullis_dialect::dialect::{AccessOutcome, Dialect};
use portcullis_dialect::limits::POLICY_PATTERNS_MAX;
use portcullis_engine::RuleSetBuf;
use portcullis_robots::policy::{Audience, NamedRobot, OrderedRules};
use portcullis_robots::syntax::{Group, RobotsTxt};
use portcullis_set::layout::record;
use portcullis_set::lists::{ListReader, ListedRecord, read_extract};
use portcullis_set::stored::{CompiledFor, record_order};

use super::intern::PackedOrder;
use super::texts::add_forms;
use crate::limits::POLICY_PATTERN_BYTES_MAX;
use crate::pool::Fingerprint;

/// A policy whose parts are not numbered yet.
pub struct PolicyPlan<'p> {
    /// The state, and the verdict on every path if there is no file.
    pub access: AccessOutcome,
    /// The user-agent lines and rules.
    pub records: Vec<ListedRecord<'p>>,
    /// The form of the text of each record.
    pub forms: Vec<u32>,
    pub robots: Vec<PlannedRobot>,
    /// The entry of the default groups, and the record that names the first of them.
    pub default: Option<(u32, u32)>,
    pub entries: Vec<PlannedEntry>,
    pub usage_records: Vec<ListedRecord<'p>>,
    /// The names of robots in a file that has usage records and no rules.
    pub unruled: Vec<Vec<u8>>,
}

/// A robot that the file names.
pub struct PlannedRobot {
    pub name: Vec<u8>,
    pub entry: u32,
    /// The first record that names it.
    pub naming_line: u32,
}

/// The entry of all agents to which the same groups apply.
pub struct PlannedEntry {
    /// The number and the record of each group's first rule.
    pub positions: Vec<(u32, u32)>,
    /// `None` if the rules are ordered lazily: see [`POLICY_PATTERNS_MAX`] and
    /// [`POLICY_PATTERN_BYTES_MAX`].
    pub ordered: Option<PlannedRules>,
}

/// Rules in order of precedence.
pub struct PlannedRules {
    pub compiled: RuleSetBuf,
    /// What stands for `compiled`; found here because every thread plans.
    pub fingerprint: Fingerprint,
    pub order: PackedOrder,
}

/// A plan under construction.
struct Planner<'f, 'p> {
    file: &'f RobotsTxt<'p>,
    dialect: &'f Dialect,
    plan: PolicyPlan<'p>,
    /// The entries, by their groups.
    known: HashMap<Vec<usize>, u32, foldhash::fast::RandomState>,
    /// The number of ordered rules, and the bytes of their values.
    ordered: (usize, usize),
}

/// Plans the policy of an origin without a file.
pub fn access<'p>(access: AccessOutcome) -> PolicyPlan<'p> {
    PolicyPlan {
        access,
        records: Vec::new(),
        forms: Vec::new(),
        robots: Vec::new(),
        default: None,
        entries: Vec::new(),
        usage_records: Vec::new(),
        unruled: Vec::new(),
    }
}

/// Plans the policy of a file.
///
/// # Panics
///
/// If the extract is not one.
pub fn of_extract<'p>(
    extract: &'p [u8],
    dialect: &Dialect,
    agents: Option<&CompiledFor>,
) -> PolicyPlan<'p> {
    let file = &read_extract(extract).expect("extracts are of this program");
    let (records, usage_records): (Vec<_>, Vec<_>) =
        ListReader::from_extract(extract).flatten().partition(|record| !record.role.is_usage());
    let has_rules = !file.rules().is_empty();
    let state = if has_rules { PolicyState::Rules } else { PolicyState::NoRules };
    let access = access(AccessOutcome { state, verdict: Verdict::Allow });
    let forms = vec![record::STRING; records.len()];
    let mut plan = PolicyPlan { records, forms, usage_records, ..access };
    let is_wanted = |name: &[u8]| agents.is_none_or(|agents| agents.is_named_by(name, dialect));
    let audience = || Audience::among(file, dialect, is_wanted);
    if !has_rules && !plan.usage_records.is_empty() {
        plan.unruled = audience().robots.into_iter().map(|robot| robot.name).collect();
    }
    let mut planner = Planner { file, dialect, plan, known: HashMap::default(), ordered: (0, 0) };
    if has_rules {
        planner.add(audience());
    }
    planner.plan
}

/// Returns the record number of a user-agent line. All earlier lines and the rules of earlier
/// groups precede it.
fn user_agent_record(file: &RobotsTxt<'_>, group: usize, line: usize) -> u32 {
    line as u32 + file.groups()[group].rules.start
}

impl Planner<'_, '_> {
    /// Plans the entries of an audience.
    fn add(&mut self, audience: Audience) {
        for NamedRobot { name, groups, line } in audience.robots {
            let naming_line = user_agent_record(self.file, groups[0], line);
            let entry = self.entry(groups);
            self.plan.robots.push(PlannedRobot { name, entry, naming_line });
        }
        if let Some(&first) = audience.default_groups.first() {
            let naming_line = user_agent_record(self.file, first, audience.default_line);
            self.plan.default = Some((self.entry(audience.default_groups), naming_line));
        }
    }

    /// Returns whether this many more rules, with values of this many bytes, are ordered eagerly.
    fn is_ordered(&mut self, rules: usize, bytes: usize) -> bool {
        let ordered = (self.ordered.0 + rules, self.ordered.1 + bytes);
        let within = ordered.0 <= POLICY_PATTERNS_MAX && ordered.1 <= POLICY_PATTERN_BYTES_MAX;
        self.ordered = if within { ordered } else { self.ordered };
        within
    }

    /// Returns the entry of the agents to which `groups` apply.
    fn entry(&mut self, groups: Vec<usize>) -> u32 {
        if let Some(&known) = self.known.get(&groups) {
            return known;
        }
        let file = self.file;
        let rules = || groups.iter().flat_map(|&group| file.rules_of(&file.groups()[group]));
        let bytes: usize = rules().map(|rule| rule.value.len()).sum();
        let is_ordered = self.is_ordered(rules().count(), bytes);
        let positions = group_positions(file, &groups);
        let ordered = is_ordered.then(|| {
            let rules = OrderedRules::distinct(file, &groups, &self.dialect.paths);
            let order = record_order(&rules, &positions);
            let compiled = rules.compile();
            let PolicyPlan { forms, records, .. } = &mut self.plan;
            add_forms(forms, records, (positions[0].1, &order), compiled.as_rule_set());
            let fingerprint = Fingerprint::of(compiled.as_bytes());
            PlannedRules { compiled, fingerprint, order: PackedOrder::new(&order) }
        });
        let entry = self.plan.entries.len() as u32;
        self.plan.entries.push(PlannedEntry { positions, ordered });
        self.known.insert(groups, entry);
        entry
    }
}

/// Returns the number and the record of each group's first rule.
pub fn group_positions(file: &RobotsTxt<'_>, groups: &[usize]) -> Vec<(u32, u32)> {
    let position = |&group: &usize| {
        let Group { rules, user_agents, .. } = &file.groups()[group];
        // All earlier rules, and the user-agent lines of all groups up to its own, precede it.
        (rules.start, rules.start + user_agents.end)
    };
    groups.iter().map(position).collect()
}

#[cfg(test)]
mod tests {
    use super::super::plan_bytes;
    use super::*;
    use portcullis_dialect::dialect::RFC_9309;
    use portcullis_set::lists::lists;

    /// Returns a file whose first half is one rule. The other half names robots, each with that
    /// rule and one of its own.
    fn long_rule_of_many(file_bytes: usize) -> Vec<u8> {
        let mut text = Vec::new();
        let robots = file_bytes / 2 / "user-agent:r99999\n".len() / 2;
        (0..robots).for_each(|robot| text.extend(format!("user-agent:r{robot}\n").bytes()));
        text.extend(b"allow:/");
        text.resize(text.len() + file_bytes / 2, b'a');
        text.push(b'\n');
        for robot in 0..robots {
            text.extend(format!("user-agent:r{robot}\nallow:{}\n", robot % 10).bytes());
        }
        text
    }

    #[test]
    fn a_plan_takes_no_more_than_is_counted_for_it() {
        for file_bytes in [1, 20, 100, 500].map(|kibibytes| kibibytes * 1024) {
            let text = long_rule_of_many(file_bytes);
            let file = RobotsTxt::parse(&text, &RFC_9309, None);
            let [extract, _] = lists(&file, &text);
            let plan = of_extract(&extract, &RFC_9309, None);
            let ordered = plan.entries.iter().filter_map(|entry| entry.ordered.as_ref());
            let patterns: usize =
                ordered.clone().map(|entry| entry.compiled.as_bytes().len()).sum();
            let bytes = size_of_val(&*plan.records) + patterns;
            assert!(bytes <= plan_bytes(extract.len()), "{bytes} bytes for {}", extract.len());
            // Filters and tables take some bytes per pattern.
            let patterns_max = POLICY_PATTERN_BYTES_MAX + 32 * POLICY_PATTERNS_MAX;
            assert!(patterns <= patterns_max, "{patterns}");
            let is_whole = ordered.count() == plan.entries.len();
            assert_eq!(is_whole, file_bytes < 100 * 1024, "{file_bytes}");
        }
    }
}
