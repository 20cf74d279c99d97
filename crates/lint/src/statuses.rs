//! The effect of each rule of a file together with the others, in each dialect.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use hashbrown::HashMap;

use super::LintConfig;
use super::examination::{Examination, Reading, quoted};
use crate::analysis::{
    AnalysisLimits, Bound, Budget, Contents, RuleAndStatus, RuleStatus, Rules, SEARCHES, Successor,
    difference, ordering_cost, rule_at, statuses_within,
};
use portcullis_dialect::decision::Verdict;
use portcullis_dialect::dialect::PathRules;
use portcullis_dialect::id::RuleID;
use portcullis_dialect::limits::POLICY_PATTERNS_MAX;
use portcullis_robots::policy::{AgentChain, Audience, OrderedRules};
use portcullis_robots::syntax::RobotsTxt;

/// Analyses the rules of a file, each combination of rules once, because robots often have the same
/// rules, and dialects often read them alike. All analyses share one budget.
pub(super) struct Analyst<'e> {
    examination: &'e Examination<'e>,
    limits: AnalysisLimits,
    pub(super) budget: Budget,
    contents: Contents<'e>,
    /// By reading, as far as they were needed.
    grouped: Vec<Option<Rc<Grouped>>>,
    /// The rules of each dialect, each once.
    paths: Vec<PathRules>,
    by_numbers: HashMap<Key, Rc<[RuleAndStatus]>, foldhash::fast::RandomState>,
    by_rules: HashMap<(usize, OrderedRules), Rc<[RuleAndStatus]>, foldhash::fast::RandomState>,
    /// The place of the rule that disallows everything, if one does.
    everything: HashMap<Key, Option<u32>, foldhash::fast::RandomState>,
}

/// The position of a dialect's rules, and the numbers of the groups.
type Key = (usize, Vec<u32>);

/// The groups of a reading.
pub(super) struct Grouped {
    pub(super) audience: Audience,
    /// The number of each group, by its rules.
    numbers: Vec<u32>,
    /// The position of the dialect's path rules.
    paths: usize,
}

impl Grouped {
    pub(super) fn key(&self, groups: &[usize]) -> Key {
        (self.paths, groups.iter().map(|&group| self.numbers[group]).collect())
    }
}

impl<'e> Analyst<'e> {
    pub(super) fn new(examination: &'e Examination<'e>, config: &LintConfig) -> Analyst<'e> {
        Analyst {
            examination,
            limits: config.limits,
            budget: Budget::new(&config.limits, 1),
            contents: Contents::default(),
            grouped: vec![None; examination.readings.len()],
            paths: Vec::new(),
            by_numbers: HashMap::default(),
            by_rules: HashMap::default(),
            everything: HashMap::default(),
        }
    }

    /// Returns the groups of the reading at `position`.
    pub(super) fn grouped(&mut self, position: usize) -> Rc<Grouped> {
        if let Some(grouped) = &self.grouped[position] {
            return Rc::clone(grouped);
        }
        let Reading { dialect, file, .. } = &self.examination.readings[position];
        let known = self.paths.iter().position(|known| *known == dialect.paths);
        let paths = known.unwrap_or_else(|| {
            self.paths.push(dialect.paths);
            self.paths.len() - 1
        });
        let numbers = self.contents.number(file);
        let grouped = Rc::new(Grouped { audience: Audience::of(file, dialect), numbers, paths });
        self.grouped[position] = Some(Rc::clone(&grouped));
        grouped
    }

    /// Returns the rules of a combination of groups in order of precedence. They go by their places.
    ///
    /// # Errors
    ///
    /// If the budget does not suffice.
    pub(super) fn ordered(
        &mut self,
        position: usize,
        groups: &[usize],
    ) -> Result<OrderedRules, Bound> {
        self.budget.check()?;
        let Reading { dialect, file, .. } = &self.examination.readings[position];
        self.budget.take(ordering_cost(file, groups))?;
        let mut ordered = OrderedRules::new(file, groups, &dialect.paths);
        // The rules of each group are adjacent in the file.
        let mut starts = Vec::with_capacity(groups.len());
        let mut before = 0;
        for &group in groups {
            let rules = &file.groups()[group].rules;
            starts.push((rules.start, before));
            before += rules.len() as u32;
        }
        for rule in &mut ordered.rules {
            let group = starts.partition_point(|&(start, _)| start <= rule.0) - 1;
            let (start, before) = starts[group];
            rule.0 = before + rule.0 - start;
        }
        Ok(ordered)
    }

    /// Returns the statuses of the rules of a combination of groups. The rules go by their places.
    ///
    /// # Errors
    ///
    /// If nothing of the budget was left.
    pub(super) fn statuses(
        &mut self,
        position: usize,
        groups: &[usize],
    ) -> Result<Rc<[RuleAndStatus]>, Bound> {
        let grouped = self.grouped(position);
        let key = grouped.key(groups);
        if let Some(answer) = self.by_numbers.get(&key) {
            return Ok(Rc::clone(answer));
        }
        let by_rules = (grouped.paths, self.ordered(position, groups)?);
        let answer = match self.by_rules.get(&by_rules) {
            Some(answer) => Rc::clone(answer),
            None => {
                let paths = &self.paths[grouped.paths];
                let mut part = self.budget.part(&self.limits, SEARCHES);
                let rules = Rules { ordered: &by_rules.1, paths };
                let answer: Rc<[RuleAndStatus]> = statuses_within(rules, &mut part).into();
                self.budget.charge(&part);
                self.by_rules.insert(by_rules, Rc::clone(&answer));
                answer
            }
        };
        self.by_numbers.insert(key, Rc::clone(&answer));
        Ok(answer)
    }

    /// Returns the rule that disallows `/` for `agent`, if everything is disallowed.
    ///
    /// # Errors
    ///
    /// If the budget does not suffice.
    pub(super) fn deciding_all(
        &mut self,
        position: usize,
        agent: Option<&AgentChain>,
    ) -> Result<Option<RuleID>, Bound> {
        let grouped = self.grouped(position);
        let dialect = self.examination.readings[position].dialect;
        let groups = grouped.audience.select(agent, dialect).groups;
        let key = grouped.key(&groups);
        let place = match self.everything.get(&key) {
            Some(place) => *place,
            None => {
                let place = self.disallowing_all(position, &groups)?;
                self.everything.insert(key, place);
                place
            }
        };
        let file = &self.examination.readings[position].file;
        Ok(place.map(|place| rule_at(file, &groups, place)))
    }

    fn disallowing_all(&mut self, position: usize, groups: &[usize]) -> Result<Option<u32>, Bound> {
        let ordered = self.ordered(position, groups)?;
        let dialect = self.examination.readings[position].dialect;
        let paths = &dialect.paths;
        let mut patterns = ordered.patterns.iter();
        let Some(at_root) = patterns.position(|pattern| pattern.matches(b"/")) else {
            return Ok(None);
        };
        if ordered.verdicts[at_root] == Verdict::Allow {
            return Ok(None);
        }
        let nothing = RobotsTxt::parse(b"User-agent: *\nDisallow: /\n", dialect, None);
        let nothing = OrderedRules::new(&nothing, &[0], paths);
        let [own, nothing] = [&ordered, &nothing].map(|ordered| Rules { ordered, paths });
        let mut part = self.budget.part(&self.limits, 1);
        let found = difference(own, nothing, &mut part);
        self.budget.charge(&part);
        Ok(found?.is_none().then(|| ordered.rules[at_root].0))
    }
}

/// The combinations of groups that apply to robots, each once.
pub(super) struct Selections {
    groups: Vec<Vec<usize>>,
    /// The groups of those that are left out.
    left_out: BTreeSet<usize>,
}

impl Selections {
    /// Returns the selections of `agents`; if there are none, those of every robot that the file
    /// names and of a robot that it does not name.
    pub(super) fn of(
        reading: &Reading<'_>,
        grouped: &Grouped,
        agents: &[AgentChain],
    ) -> Selections {
        let mut known = BTreeSet::new();
        let audience = &grouped.audience;
        if agents.is_empty() {
            known.extend(audience.robots.iter().map(|robot| robot.groups.clone()));
            known.insert(audience.default_groups.clone());
        }
        for agent in agents {
            known.insert(audience.select(Some(agent), reading.dialect).groups);
        }
        known.remove(&Vec::new());
        let mut selections = Selections { groups: Vec::new(), left_out: BTreeSet::new() };
        let mut rules = 0;
        for selection in known {
            let own = selection.iter().map(|&group| reading.file.groups()[group].rules.len());
            rules += own.sum::<usize>();
            match rules <= POLICY_PATTERNS_MAX {
                true => selections.groups.push(selection),
                false => selections.left_out.extend(selection),
            }
        }
        selections
    }

    pub(super) fn groups(&self) -> &[Vec<usize>] {
        &self.groups
    }

    /// Returns the groups of selections that do not fit the limit.
    pub(super) fn left_out(&self) -> impl Iterator<Item = usize> {
        self.left_out.iter().copied()
    }

    /// Returns the message if not all selections fit the limit.
    pub(super) fn unknown(&self) -> Option<String> {
        (!self.left_out.is_empty()).then(|| {
            format!(
                "not all groups were compared: their combinations have more than {POLICY_PATTERNS_MAX} \
                rules"
            )
        })
    }
}

/// The status of the rule on each line, in words.
pub(super) struct Statuses {
    by_line: BTreeMap<u32, (u8, String)>,
}

impl Statuses {
    /// Returns the statuses of the rules on `lines` in the reading at `position`.
    pub(super) fn of(
        position: usize,
        agents: &[AgentChain],
        lines: &BTreeSet<u32>,
        analyst: &mut Analyst<'_>,
    ) -> Statuses {
        let reading = &analyst.examination.readings[position];
        let file = &reading.file;
        let rules = file.rules();
        let line_of = |rule: RuleID| rules[rule.index()].line.get();
        // The rules on the lines, by group.
        let mut wanted: BTreeMap<usize, Vec<RuleID>> = BTreeMap::new();
        for (group, number) in file.groups().iter().zip(0..) {
            let own = group.rule_ids().filter(|&rule| lines.contains(&line_of(rule)));
            let own: Vec<RuleID> = own.collect();
            if !own.is_empty() {
                wanted.insert(number, own);
            }
        }
        let mut statuses = Statuses { by_line: BTreeMap::new() };
        let selections = Selections::of(reading, &analyst.grouped(position), agents);
        for groups in selections.groups() {
            if !groups.iter().any(|group| wanted.contains_key(group)) {
                continue;
            }
            let found = analyst.statuses(position, groups);
            let mut before = 0;
            for group in groups {
                let own = wanted.get(group).into_iter().flatten();
                for &rule in own {
                    let place = before + rule.0 - file.groups()[*group].rules.start;
                    let status = match &found {
                        Ok(found) => {
                            let known = found.binary_search_by_key(&place, |it| it.rule.0);
                            // A rule without a pattern has no status.
                            let Ok(known) = known else { continue };
                            words(file, groups, &found[known].status)
                        }
                        Err(bound) => words(file, groups, &RuleStatus::Unknown(*bound)),
                    };
                    statuses.add(line_of(rule), status);
                }
                before += file.groups()[*group].rules.len() as u32;
            }
        }
        statuses
    }

    /// Adds a status in words. The robot for which the rule has the largest effect counts.
    fn add(&mut self, line: u32, status: (u8, String)) {
        let known = self.by_line.entry(line).or_default();
        if known.1.is_empty() || status.0 > known.0 {
            *known = status;
        }
    }

    /// Returns the words for the rule on the line at `index`; `None` if there is no rule.
    pub(super) fn words(&self, index: usize) -> Option<&str> {
        let line = u32::try_from(index + 1).ok()?;
        self.by_line.get(&line).map(|(_, words)| words.as_str())
    }
}

/// Returns a status in words, with a rank by the size of the rule's effect.
fn words(file: &RobotsTxt<'_>, groups: &[usize], status: &RuleStatus) -> (u8, String) {
    match status {
        RuleStatus::NeverMatches => (0, "never matches".into()),
        RuleStatus::Equal { to } => {
            let line = file.rules()[rule_at(file, groups, to.0).index()].line;
            (1, format!("never decides: line {line} has the same effect"))
        }
        RuleStatus::Shadowed { by } => (2, format!("never decides: {}", wins(file, groups, by))),
        RuleStatus::Unknown(bound) => (3, format!("unknown: {bound}")),
        RuleStatus::Decides(example) => (4, format!("decides {}", quoted(example.path()))),
    }
}

fn wins(file: &RobotsTxt<'_>, groups: &[usize], by: &[Successor]) -> String {
    /// Further lines are only counted.
    const LINES_MAX: usize = 3;
    let places = by.iter().filter_map(|successor| match successor {
        Successor::Rule(place) => Some(place.0),
        Successor::RobotsTxt => None,
    });
    let line = |place| file.rules()[rule_at(file, groups, place).index()].line.to_string();
    let lines: Vec<String> = places.clone().take(LINES_MAX).map(line).collect();
    match (&lines[..], places.count().saturating_sub(LINES_MAX)) {
        ([], _) => "/robots.txt is always allowed".into(),
        ([line], _) => format!("line {line} wins"),
        (lines, 0) => format!("lines {} win", lines.join(", ")),
        (lines, more) => format!("lines {} and {more} more win", lines.join(", ")),
    }
}
