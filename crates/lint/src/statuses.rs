//! The effect of each rule of a file together with the others, in one dialect.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use hashbrown::HashMap;

use super::examination::{Reading, quoted};
use crate::analysis::{AnalysisLimits, RuleAndStatus, RuleStatus, Rules, Successor, statuses};
use portcullis_dialect::dialect::PathRules;
use portcullis_dialect::limits::POLICY_PATTERNS_MAX;
use portcullis_robots::policy::{AgentChain, Audience, OrderedRules, Selection};
use portcullis_robots::syntax::RobotsTxt;

/// Computes statuses, each once, because dialects often read a group alike.
pub(super) struct Analyst {
    limits: AnalysisLimits,
    known: Vec<(PathRules, Answers)>,
}

/// Statuses, by the rules in order of precedence.
type Answers = HashMap<OrderedRules, Rc<[RuleAndStatus]>, foldhash::fast::RandomState>;

impl Analyst {
    pub(super) fn new(limits: AnalysisLimits) -> Analyst {
        Analyst { limits, known: Vec::new() }
    }

    pub(super) fn statuses(
        &mut self,
        ordered: &OrderedRules,
        paths: &PathRules,
    ) -> Rc<[RuleAndStatus]> {
        let position = self.known.iter().position(|(known, _)| known == paths);
        let position = position.unwrap_or_else(|| {
            self.known.push((*paths, Answers::default()));
            self.known.len() - 1
        });
        let answers = &mut self.known[position].1;
        if let Some(answer) = answers.get(ordered) {
            return answer.clone();
        }
        let answer: Rc<[RuleAndStatus]> = statuses(Rules { ordered, paths }, &self.limits).into();
        answers.insert(ordered.clone(), answer.clone());
        answer
    }
}

/// The combinations of groups that apply to robots, each once.
pub(super) struct Selections {
    groups: Vec<Vec<usize>>,
    is_cut: bool,
}

impl Selections {
    /// Returns the selections of `agents`; if there are none, those of every robot that the file
    /// names and of a robot that it does not name.
    pub(super) fn of(reading: &Reading<'_>, agents: &[AgentChain]) -> Selections {
        let mut known = BTreeSet::new();
        if agents.is_empty() {
            let audience = Audience::of(&reading.file, reading.dialect);
            known.extend(audience.robots.into_iter().map(|robot| robot.groups));
            known.insert(audience.default_groups);
        }
        for agent in agents {
            known.insert(Selection::of(&reading.file, agent, reading.dialect).groups);
        }
        known.remove(&Vec::new());
        let mut rules = 0;
        let mut groups = Vec::new();
        let selections = known.len();
        for selection in known {
            let own = selection.iter().map(|&group| reading.file.groups()[group].rules.len());
            rules += own.sum::<usize>();
            if rules > POLICY_PATTERNS_MAX {
                break;
            }
            groups.push(selection);
        }
        Selections { is_cut: groups.len() < selections, groups }
    }

    pub(super) fn groups(&self) -> impl Iterator<Item = &[usize]> {
        self.groups.iter().map(Vec::as_slice)
    }

    /// Returns the message if not all selections fit the limit.
    pub(super) fn unknown(&self) -> Option<String> {
        self.is_cut.then(|| {
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
    /// Returns the statuses of the selections that have a rule on one of `lines`.
    pub(super) fn of(
        reading: &Reading<'_>,
        agents: &[AgentChain],
        lines: &BTreeSet<u32>,
        analyst: &mut Analyst,
    ) -> Statuses {
        let mut by_line: BTreeMap<u32, (u8, String)> = BTreeMap::new();
        let paths = &reading.dialect.paths;
        let groups = reading.file.groups();
        let concerns = |group: &usize| {
            let rules = reading.file.rules_of(&groups[*group]);
            rules.iter().any(|rule| lines.contains(&rule.line.get()))
        };
        for selection in Selections::of(reading, agents).groups() {
            if !selection.iter().any(concerns) {
                continue;
            }
            let ordered = OrderedRules::new(&reading.file, selection, paths);
            let statuses = analyst.statuses(&ordered, paths);
            for RuleAndStatus { rule, status } in statuses.iter() {
                let line = reading.file.rules()[rule.index()].line.get();
                let found = words(&reading.file, status);
                let known = by_line.entry(line).or_default();
                // The robot for which the rule has the largest effect counts.
                if known.1.is_empty() || found.0 > known.0 {
                    *known = found;
                }
            }
        }
        Statuses { by_line }
    }

    /// Returns the words for the rule on the line at `index`; `None` if there is no rule.
    pub(super) fn words(&self, index: usize) -> Option<&str> {
        let line = u32::try_from(index + 1).ok()?;
        self.by_line.get(&line).map(|(_, words)| words.as_str())
    }
}

/// Returns a status in words, with a rank by the size of the rule's effect.
fn words(file: &RobotsTxt<'_>, status: &RuleStatus) -> (u8, String) {
    match status {
        RuleStatus::NeverMatches => (0, "never matches".into()),
        RuleStatus::Equal { to } => {
            let line = file.rules()[to.index()].line;
            (1, format!("never decides: line {line} has the same effect"))
        }
        RuleStatus::Shadowed { by } => (2, format!("never decides: {}", wins(file, by))),
        RuleStatus::Unknown(bound) => (3, format!("unknown: {bound}")),
        RuleStatus::Decides(example) => (4, format!("decides {}", quoted(example.path()))),
    }
}

fn wins(file: &RobotsTxt<'_>, by: &[Successor]) -> String {
    /// Further lines are only counted.
    const LINES_MAX: usize = 3;
    let rules = by.iter().filter_map(|successor| match successor {
        Successor::Rule(rule) => Some(file.rules()[rule.index()].line.to_string()),
        Successor::RobotsTxt => None,
    });
    let lines: Vec<String> = rules.collect();
    match &lines[..] {
        [] => "/robots.txt is always allowed".into(),
        [line] => format!("line {line} wins"),
        lines if lines.len() <= LINES_MAX => format!("lines {} win", lines.join(", ")),
        lines => {
            let more = lines.len() - LINES_MAX;
            format!("lines {} and {more} more win", lines[..LINES_MAX].join(", "))
        }
    }
}
