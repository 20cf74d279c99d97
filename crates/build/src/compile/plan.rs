//! Plans one policy independently of all others, so that threads can plan in parallel.

use std::convert::Infallible;
use std::hash::BuildHasher;
use std::sync::Arc;

use foldhash::fast::RandomState;
use hashbrown::HashTable;

use portcullis_dialect::decision::{PolicyState, Verdict};
use portcullis_dialect::dialect::{AccessOutcome, Dialect, Precedence};
use portcullis_dialect::id::RuleID;
use portcullis_engine::RuleSetBuf;
use portcullis_robots::policy::{Audience, NamedRobot, OrderedRules};
use portcullis_robots::syntax::{Group, RobotsTxt};
use portcullis_set::layout::record;
use portcullis_set::lists::{ListReader, ListedRecord, file_of};

use super::intern::PackedOrder;
use super::texts::forms;
use crate::pool::Fingerprint;
use crate::recent::Recent;

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
    pub default: Option<(usize, u32)>,
    /// The rule groups of each entry, ascending.
    pub entries: Vec<Vec<u32>>,
    pub rule_groups: Vec<PlannedGroup>,
    pub usage_records: Vec<ListedRecord<'p>>,
    /// The names of crawlers in a file that has usage records and no rules.
    pub unruled: Vec<Vec<u8>>,
}

/// A crawler that the file names.
pub struct PlannedRobot {
    pub name: Vec<u8>,
    /// A position in [`PolicyPlan::entries`].
    pub entry: usize,
    /// The first record that names it.
    pub naming_line: u32,
}

/// Groups that the same agents follow.
pub struct PlannedGroup {
    /// The number and the record of each group's first rule.
    pub positions: Vec<(u32, u32)>,
    pub rules: Arc<CompiledRules>,
}

/// The rules of groups in order of precedence. They depend on nothing else in the file.
#[derive(Debug)]
pub struct CompiledRules {
    pub compiled: RuleSetBuf,
    /// The fingerprint of `compiled`; computed here because every thread plans.
    pub fingerprint: Fingerprint,
    pub order: PackedOrder,
    /// The records whose text is that of their pattern, counted from the first rule, and their forms.
    forms: Vec<(u32, u32)>,
}

/// The rules of single groups that were compiled, in whatever file. Five in six groups of real files have
/// the rules of another.
pub type KnownRules = Recent<RulesKey, Arc<CompiledRules>>;

/// The source of the compiled rules of a group: its records from the text of the first one to the end, the
/// verdict of that one and the lengths of its text and of its value, and whether the patterns are compared with
/// others.
pub type RulesKey = (Fingerprint, Verdict, [usize; 2], bool);

/// Plans the policy of an origin without a file.
pub fn access<'p>(access: AccessOutcome) -> PolicyPlan<'p> {
    PolicyPlan {
        access,
        records: Vec::new(),
        forms: Vec::new(),
        robots: Vec::new(),
        default: None,
        entries: Vec::new(),
        rule_groups: Vec::new(),
        usage_records: Vec::new(),
        unruled: Vec::new(),
    }
}

/// The bytes of most records of an extract.
const LISTED_BYTES: usize = 24;

/// Plans the policy of a file.
///
/// # Panics
///
/// If the extract is not one.
pub fn of_extract<'p>(extract: &'p [u8], dialect: &Dialect, known: &KnownRules) -> PolicyPlan<'p> {
    let mut records = Vec::with_capacity(extract.len() / LISTED_BYTES);
    records.extend(ListReader::from_extract(extract).map_while(|record| record));
    let file = &file_of(&records).expect("extracts are of this program");
    let usage_records = records.split_off(records.partition_point(|it| !it.role.is_usage()));
    let has_rules = !file.rules().is_empty();
    let state = if has_rules { PolicyState::Rules } else { PolicyState::NoRules };
    let access = access(AccessOutcome { state, verdict: Verdict::Allow });
    let forms = vec![record::STRING; records.len()];
    let mut plan = PolicyPlan { records, forms, usage_records, ..access };
    if !has_rules && !plan.usage_records.is_empty() {
        let robots = Audience::of(file, dialect).robots;
        plan.unruled = robots.into_iter().map(|robot| robot.name).collect();
    }
    if has_rules {
        plan.add((file, extract), dialect, known);
    }
    plan
}

/// Returns the record number of a user-agent line. All earlier lines and the rules of earlier
/// groups precede it.
fn user_agent_record(file: &RobotsTxt<'_>, group: usize, line: usize) -> u32 {
    line as u32 + file.groups()[group].rules.start
}

impl PolicyPlan<'_> {
    /// Plans the crawlers, the entries and the rule groups of a file with rules.
    fn add(
        &mut self,
        (file, extract): (&RobotsTxt<'_>, &[u8]),
        dialect: &Dialect,
        known: &KnownRules,
    ) {
        let Audience { robots, default_groups, default_line, .. } = Audience::of(file, dialect);
        let mut entries = Entries::default();
        self.robots.reserve(robots.len());
        for NamedRobot { name, groups, line } in robots {
            let naming_line = user_agent_record(file, groups[0], line);
            let entry = entries.number(groups, file);
            self.robots.push(PlannedRobot { name, entry, naming_line });
        }
        if let Some(&first) = default_groups.first() {
            let naming_line = user_agent_record(file, first, default_line);
            self.default = Some((entries.number(default_groups, file), naming_line));
        }
        let rule_groups;
        (rule_groups, self.entries) = entries.rule_groups(file.groups().len());
        let mut are_compared = vec![false; rule_groups.len()];
        for several in self.entries.iter().filter(|entry| entry.len() > 1) {
            several.iter().for_each(|&number| are_compared[number as usize] = true);
        }
        self.rule_groups.reserve(rule_groups.len());
        for (groups, is_compared) in rule_groups.iter().zip(are_compared) {
            let positions = group_positions(file, groups);
            let compile = || self.compiled((file, groups), &positions, is_compared, dialect);
            let rules = match **groups {
                [group] => {
                    let compile = || {
                        let rules = compile();
                        let bytes = rules.bytes();
                        Ok::<_, Infallible>((Arc::new(rules), bytes))
                    };
                    let Ok(rules) =
                        known.get(rules_key(file, extract, group, is_compared), compile);
                    rules
                }
                _ => Arc::new(compile()),
            };
            for (number, form) in &rules.forms {
                self.forms[(positions[0].1 + number) as usize] = *form;
            }
            self.rule_groups.push(PlannedGroup { positions, rules });
        }
    }

    /// Compiles the rules of groups with these positions.
    fn compiled(
        &self,
        (file, groups): (&RobotsTxt<'_>, &[usize]),
        positions: &[(u32, u32)],
        is_compared: bool,
        dialect: &Dialect,
    ) -> CompiledRules {
        let (rules, lengths) = OrderedRules::distinct_with_lengths(file, groups, &dialect.paths);
        let order = record_order(&rules, positions);
        let compiled = rules.compile();
        let records = &self.records[positions[0].1 as usize..];
        let forms = forms(records, &order, &rules.patterns);
        let has_lengths = is_compared && dialect.paths.precedence == Precedence::MostBytes;
        let order = PackedOrder::new(&order, has_lengths.then_some(&*lengths));
        let fingerprint = Fingerprint::of(compiled.as_bytes());
        CompiledRules { compiled, fingerprint, order, forms }
    }
}

impl CompiledRules {
    /// Returns the bytes that they take.
    fn bytes(&self) -> usize {
        let lists = self.order.bytes() + self.forms.capacity() * size_of::<(u32, u32)>();
        size_of::<CompiledRules>() + self.compiled.as_bytes().len() + lists
    }
}

/// Returns what the compiled rules of a group of `file` follow from, which was read from `extract`.
fn rules_key(file: &RobotsTxt<'_>, extract: &[u8], group: usize, is_compared: bool) -> RulesKey {
    let rules = file.rules_of(&file.groups()[group]);
    let [Some(first), Some(last)] = [rules.first(), rules.last()] else {
        return (Fingerprint::of(&[]), Verdict::Allow, [0; 2], is_compared);
    };
    // Lines count from one record to the next, so they are the same in files with the same group.
    let records = &extract[first.span.range().start..last.span.range().end];
    let lengths = [first.span.range().len(), first.value.len()];
    (Fingerprint::of(records), first.verdict, lengths, is_compared)
}

/// The distinct lists of groups that agents follow.
#[derive(Default)]
struct Entries {
    /// The positions of lists in `groups`, by their content.
    known: HashTable<usize>,
    groups: Vec<Vec<usize>>,
    hasher: RandomState,
}

impl Entries {
    /// Returns the number of the entry of some groups. Those without rules are left out, if there are others.
    fn number(&mut self, mut groups: Vec<usize>, file: &RobotsTxt<'_>) -> usize {
        let has_rules = |group: &usize| !file.groups()[*group].rules.is_empty();
        if groups.len() > 1 && groups.iter().any(has_rules) {
            groups.retain(has_rules);
        }
        let Entries { known, groups: all, hasher } = self;
        let (hash, new) = (hasher.hash_one(&groups), all.len());
        let number = match known.find(hash, |&known| all[known] == groups) {
            Some(&known) => known,
            None => *known.insert_unique(hash, new, |&known| hasher.hash_one(&all[known])).get(),
        };
        if number == new {
            all.push(groups);
        }
        number
    }

    /// Returns the rule groups, of so many groups: those that are in the same entries. Then the rule groups
    /// of each entry. All ascend.
    fn rule_groups(&self, groups: usize) -> (Vec<Vec<usize>>, Vec<Vec<u32>>) {
        // Each entry splits the classes of its groups: the groups of a class are in the same entries so far.
        // Of each class, the last entry that split it, and the class of the groups that are in that one.
        let mut splits = vec![(None, 0)];
        let mut class_of = vec![0; groups];
        for (entry, groups) in self.groups.iter().enumerate() {
            for &group in groups {
                let (class, new) = (class_of[group], splits.len());
                if splits[class].0 != Some(entry) {
                    splits[class] = (Some(entry), new);
                    splits.push((None, 0));
                }
                class_of[group] = splits[class].1;
            }
        }
        let mut rule_groups: Vec<Vec<usize>> = Vec::with_capacity(splits.len());
        let mut number_of = vec![None; splits.len()];
        for (group, &class) in class_of.iter().enumerate().filter(|(_, class)| **class > 0) {
            let number = *number_of[class].get_or_insert(rule_groups.len());
            match rule_groups.get_mut(number) {
                Some(groups) => groups.push(group),
                None => rule_groups.push(vec![group]),
            }
        }
        let first_of = |&group: &usize| {
            let number = number_of[class_of[group]].expect("groups of entries have a rule group");
            (rule_groups[number][0] == group).then_some(number as u32)
        };
        let of_entry = |groups: &Vec<usize>| groups.iter().filter_map(first_of).collect();
        let of_entries = self.groups.iter().map(of_entry).collect();
        (rule_groups, of_entries)
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

/// Returns the record of each pattern's rule, counted from the first rule of the first group.
fn record_order(rules: &OrderedRules, positions: &[(u32, u32)]) -> Vec<u32> {
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
    use portcullis_set::lists::lists;

    /// Returns a file whose first half is one rule. The other half names crawlers, each with that
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

    /// Returns a file of the shortest groups, no two of which have equal rules.
    fn short_groups(file_bytes: usize) -> Vec<u8> {
        let groups = (0..).map(|group| format!("user-agent:{group:x}\nallow:/{group:x}\n"));
        let mut left = file_bytes;
        let within = groups.take_while(|group| {
            left = left.saturating_sub(group.len());
            left > 0
        });
        within.collect::<String>().into_bytes()
    }

    /// Returns the bytes of a plan, but for what an allocation takes besides.
    fn bytes_of(plan: &PolicyPlan<'_>) -> usize {
        let of_groups = plan.rule_groups.iter().map(|group| {
            size_of::<PlannedGroup>() + size_of_val(&*group.positions) + group.rules.bytes()
        });
        let of_robots = plan.robots.iter().map(|it| size_of::<PlannedRobot>() + it.name.len());
        let of_entries = plan.entries.iter().map(|it| size_of::<Vec<u32>>() + size_of_val(&**it));
        let lists = size_of_val(&*plan.records) + size_of_val(&*plan.forms);
        lists + of_groups.chain(of_robots).chain(of_entries).sum::<usize>()
    }

    #[test]
    fn a_plan_takes_no_more_than_is_counted_for_it() {
        for text in [long_rule_of_many, short_groups] {
            for file_bytes in [1, 20, 100, 500].map(|kibibytes| kibibytes * 1024) {
                let text = text(file_bytes);
                let file = RobotsTxt::parse(&text, &RFC_9309, None);
                let [extract, _] = lists(&file, &text);
                let bytes = bytes_of(&of_extract(&extract, &RFC_9309, &KnownRules::new(0)));
                assert!(bytes <= plan_bytes(extract.len()), "{bytes} bytes for {}", extract.len());
            }
        }
    }

    /// Groups that the same crawlers follow are one rule group, wherever they are in the file.
    #[test]
    fn rule_groups_are_followed_by_the_same_robots() {
        let text =
            b"User-agent: a\nUser-agent: b\nDisallow: /ab\n\nUser-agent: a\nDisallow: /a\n\n\
            User-agent: *\nAllow: /\n\nUser-agent: B\nUser-agent: A\nAllow: /ba*\n\n\
            User-agent: c\nDisallow: /c\n\nUser-agent: *\nDisallow: /x\n\nUser-agent: c\n";
        let file = RobotsTxt::parse(text, &RFC_9309, None);
        let [extract, _] = lists(&file, text);
        let plan = of_extract(&extract, &RFC_9309, &KnownRules::new(0));
        let rules = |groups: &PlannedGroup| groups.positions.iter().map(|it| it.0).collect();
        let rule_groups: Vec<Vec<u32>> = plan.rule_groups.iter().map(rules).collect();
        assert_eq!(rule_groups, [vec![0, 3], vec![1], vec![2, 5], vec![4]]);
        assert_eq!(plan.entries, [vec![0, 1], vec![0], vec![3], vec![2]]);
        assert_eq!(plan.default.map(|(entry, _)| entry), Some(3));
    }
}
