//! Plans one policy independently of all others, so that threads can plan in parallel.

use hashbrown::HashMap;

use portcullis_dialect::decision::{PolicyState, Verdict};
use portcullis_dialect::dialect::{AccessOutcome, Dialect};
use portcullis_dialect::id::RuleID;
use portcullis_dialect::limits::{POLICY_PATTERN_BYTES_MAX, POLICY_PATTERNS_MAX};
use portcullis_robots::policy::{AgentChain, Audience, NamedRobot, OrderedRules, is_name_of};
use portcullis_robots::syntax::{Group, RobotsTxt};

use super::super::BlobPool;
use super::super::layout::record;
use super::PolicyOrigin;

/// A policy whose parts are not numbered yet.
pub struct PolicyPlan<'p> {
    pub state: PolicyState,
    /// The verdict on every path, if there is no file.
    pub verdict: Verdict,
    /// The records of the file: kind, line and text.
    pub records: Vec<PlannedRecord<'p>>,
    pub robots: Vec<PlannedRobot>,
    /// The entry of the default groups, and the record that names the first of them.
    pub default: Option<(u32, u32)>,
    pub entries: Vec<PlannedEntry>,
}

/// A user-agent line or a rule.
pub struct PlannedRecord<'p> {
    pub kind: u32,
    pub line: u32,
    pub text: &'p [u8],
    pub value: &'p [u8],
}

/// A robot that the file names.
pub struct PlannedRobot {
    pub name: Vec<u8>,
    pub entry: u32,
    /// The first record that names it.
    pub speaker: u32,
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
    pub rules: OrderedRules,
    /// The record of each pattern's rule, counted from the first rule of the first group.
    pub order: Vec<u32>,
}

/// A plan under construction.
struct Planner<'f, 'p> {
    file: &'f RobotsTxt<'p>,
    dialect: &'f Dialect,
    entries: Vec<PlannedEntry>,
    /// The entries, by their groups.
    known: HashMap<Vec<usize>, u32, foldhash::fast::RandomState>,
    /// The number of ordered rules, and the bytes of their values.
    ordered: (usize, usize),
}

pub fn plan<'p>(
    origin: PolicyOrigin,
    pool: &'p BlobPool,
    dialect: &Dialect,
    agents: Option<&[AgentChain]>,
) -> PolicyPlan<'p> {
    match origin {
        PolicyOrigin::Access(outcome) => access(outcome),
        PolicyOrigin::Extract(blob) => {
            let plan = of_extract(pool.get(blob), dialect, agents);
            plan.expect("extracts are of this program")
        }
    }
}

/// Plans the policy of the file with this extract, for some agents or for all. `None` if `extract`
/// is invalid.
pub fn of_extract<'p>(
    extract: &'p [u8],
    dialect: &Dialect,
    agents: Option<&[AgentChain]>,
) -> Option<PolicyPlan<'p>> {
    let file = RobotsTxt::read_extract(extract)?;
    Some(of_file(&file, extract, dialect, agents))
}

fn access(outcome: AccessOutcome) -> PolicyPlan<'static> {
    PolicyPlan {
        state: outcome.state,
        verdict: outcome.verdict,
        records: Vec::new(),
        robots: Vec::new(),
        default: None,
        entries: Vec::new(),
    }
}

fn of_file<'p>(
    file: &RobotsTxt<'p>,
    extract: &'p [u8],
    dialect: &Dialect,
    agents: Option<&[AgentChain]>,
) -> PolicyPlan<'p> {
    let has_rules = !file.rules().is_empty();
    let mut plan = PolicyPlan {
        state: if has_rules { PolicyState::Rules } else { PolicyState::NoRules },
        verdict: Verdict::Allow,
        records: records(file, extract),
        robots: Vec::new(),
        default: None,
        entries: Vec::new(),
    };
    if !has_rules {
        return plan;
    }
    let mut planner =
        Planner { file, dialect, entries: Vec::new(), known: HashMap::default(), ordered: (0, 0) };
    let mut audience = Audience::of(file, dialect);
    if let Some(agents) = agents {
        let asks = |agent: &AgentChain, name: &[u8]| {
            agent.tokens().any(|token| is_name_of(name, token, dialect))
        };
        audience.robots.retain(|robot| agents.iter().any(|agent| asks(agent, &robot.name)));
    }
    for NamedRobot { name, groups, line } in audience.robots {
        let speaker = user_agent_record(file, groups[0], line);
        plan.robots.push(PlannedRobot { name, entry: planner.entry(groups), speaker });
    }
    if let Some(&first) = audience.default_groups.first() {
        let speaker = user_agent_record(file, first, audience.default_line);
        plan.default = Some((planner.entry(audience.default_groups), speaker));
    }
    plan.entries = planner.entries;
    plan
}

/// Returns all records of a file, group by group, which is file order.
fn records<'p>(file: &RobotsTxt<'p>, extract: &'p [u8]) -> Vec<PlannedRecord<'p>> {
    let mut records = Vec::with_capacity(file.user_agents().len() + file.rules().len());
    for group in file.groups() {
        for (index, line) in file.user_agents_of(group).iter().enumerate() {
            let kind = if index == 0 { record::STARTS_GROUP } else { record::EXTENDS_GROUP };
            let (text, value) = (&extract[line.span.range()], line.value);
            records.push(PlannedRecord { kind, line: line.line.get(), text, value });
        }
        for rule in file.rules_of(group) {
            let allows = rule.verdict == Verdict::Allow;
            let kind = if allows { record::ALLOW } else { record::DISALLOW };
            let (text, value) = (&extract[rule.span.range()], rule.value);
            records.push(PlannedRecord { kind, line: rule.line.get(), text, value });
        }
    }
    records
}

/// Returns the record number of a user-agent line. All earlier lines and the rules of earlier
/// groups precede it.
fn user_agent_record(file: &RobotsTxt<'_>, group: usize, line: usize) -> u32 {
    line as u32 + file.groups()[group].rules.start
}

/// Returns the record number of a rule. All earlier rules, and the user-agent lines of all groups
/// up to its own, precede it.
fn rule_record(group: &Group, rule: u32) -> u32 {
    rule + group.user_agents.end
}

impl Planner<'_, '_> {
    /// Returns the entry of the agents to which `groups` apply.
    fn entry(&mut self, groups: Vec<usize>) -> u32 {
        if let Some(&known) = self.known.get(&groups) {
            return known;
        }
        let file = self.file;
        let rules = || groups.iter().flat_map(|&group| file.rules_of(&file.groups()[group]));
        let bytes: usize = rules().map(|rule| rule.value.len()).sum();
        let ordered = (self.ordered.0 + rules().count(), self.ordered.1 + bytes);
        let within = ordered.0 <= POLICY_PATTERNS_MAX && ordered.1 <= POLICY_PATTERN_BYTES_MAX;
        self.ordered = if within { ordered } else { self.ordered };
        let positions = group_positions(file, &groups);
        let ordered = within.then(|| {
            let rules = OrderedRules::new(file, &groups, &self.dialect.paths);
            let order = order(&rules, &positions);
            PlannedRules { rules, order }
        });
        let entry = self.entries.len() as u32;
        self.entries.push(PlannedEntry { positions, ordered });
        self.known.insert(groups, entry);
        entry
    }
}

/// Returns the number and the record of each group's first rule.
pub fn group_positions(file: &RobotsTxt<'_>, groups: &[usize]) -> Vec<(u32, u32)> {
    let position = |&group: &usize| {
        let group = &file.groups()[group];
        (group.rules.start, rule_record(group, group.rules.start))
    };
    groups.iter().map(position).collect()
}

/// Returns the record of each pattern's rule, counted from the first rule of the first group.
pub fn order(rules: &OrderedRules, positions: &[(u32, u32)]) -> Vec<u32> {
    let record = |rule: &RuleID| {
        // A rule belongs to the last group that starts at or before it. A group without rules
        // starts at the same rule as the next group, and precedes it.
        let after = positions.partition_point(|&(start, _)| start <= rule.0);
        let (start, record) = positions[after - 1];
        record + (rule.0 - start) - positions[0].1
    };
    rules.rules.iter().map(record).collect()
}

#[cfg(test)]
mod tests {
    use super::super::plan_bytes;
    use super::*;
    use portcullis_dialect::dialect::RFC_9309;

    /// A file whose first half is one rule. The other half names robots that have it and one rule
    /// of their own.
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
            let mut extract = Vec::new();
            file.write_extract(&text, &mut extract);
            let plan = of_extract(&extract, &RFC_9309, None).unwrap();
            let ordered = plan.entries.iter().filter_map(|entry| entry.ordered.as_ref());
            let patterns: usize =
                ordered.clone().map(|entry| entry.rules.patterns.byte_len()).sum();
            let bytes = size_of_val(&*plan.records) + patterns;
            assert!(bytes <= plan_bytes(extract.len()), "{bytes} bytes for {}", extract.len());
            assert!(patterns <= POLICY_PATTERN_BYTES_MAX, "{patterns}");
            let is_whole = ordered.count() == plan.entries.len();
            assert_eq!(is_whole, file_bytes < 100 * 1024, "{file_bytes}");
        }
    }
}
