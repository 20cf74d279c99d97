//! Checks of rules together: which ones decide, and which have no effect.
//!
//! A rule is checked in every selection of groups that applies to some robot. It is reported only
//! if it has a problem in all of them, because a rule without effect for one robot may decide for
//! another.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::super::examination::{Reading, quoted};
use super::super::findings::{Finding, Findings, remove_record};
use super::super::statuses::{Analyst, Selections, Statuses};
use super::super::{Code, LintConfig};
use crate::analysis::{
    AnalysisLimits, Budget, RuleAndStatus, RuleStatus, Rules, Successor, difference,
};
use portcullis_dialect::decision::Verdict;
use portcullis_dialect::id::RuleID;
use portcullis_engine::pattern::PathPattern;
use portcullis_engine::{Outcome, RuleSetBuf, Settings, SharedRuleSet, pattern_matches};
use portcullis_robots::policy::{AgentChain, OrderedRules, Selection};
use portcullis_robots::syntax::{RobotsTxt, Rule};

/// A problem of a rule in one selection.
#[derive(Clone, Debug)]
struct Fault {
    code: Code,
    message: String,
    /// Related rules.
    others: Vec<RuleID>,
}

pub(super) fn check(findings: &mut Findings<'_, '_>, config: &LintConfig) {
    let examination = findings.examination;
    let selections = Selections::of(examination.chosen(), &config.agents);
    if let Some(unknown) = selections.unknown() {
        findings.unknown(unknown);
    }
    let mut analyst = Analyst::new(config.limits);
    let mut tally = Tally::default();
    for groups in selections.groups() {
        selection(findings, groups, &mut analyst, &mut tally);
    }
    let faults = tally.everywhere();
    let rules = examination.chosen().file.rules();
    let lines: BTreeSet<u32> =
        faults.iter().map(|(rule, _)| rules[rule.index()].line.get()).collect();
    if !lines.is_empty() {
        let readings = examination.readings.iter().filter(|_| config.compares_dialects);
        let statuses: Vec<Statuses> = readings
            .map(|reading| Statuses::of(reading, &config.agents, &lines, &mut analyst))
            .collect();
        for (rule, fault) in faults {
            report(findings, rule, fault, &statuses);
        }
    }
    everything_disallowed(findings, config);
}

/// The selections that have a rule, and its problems in them.
#[derive(Default)]
struct Tally {
    selections: HashMap<RuleID, usize>,
    faults: BTreeMap<RuleID, Vec<Fault>>,
}

impl Tally {
    /// Returns the rules with a problem in every selection that has them, with the problem of the
    /// last code.
    fn everywhere(mut self) -> Vec<(RuleID, Fault)> {
        let mut faults = Vec::new();
        for (rule, mut own) in std::mem::take(&mut self.faults) {
            own.sort_by_key(|fault| fault.code);
            if self.selections.get(&rule) == Some(&own.len())
                && let Some(mildest) = own.pop()
            {
                faults.push((rule, mildest));
            }
        }
        faults
    }
}

/// Checks the rules of one selection.
fn selection(
    findings: &mut Findings<'_, '_>,
    groups: &[usize],
    analyst: &mut Analyst,
    tally: &mut Tally,
) {
    let chosen = findings.examination.chosen();
    let paths = &chosen.dialect.paths;
    let ordered = OrderedRules::new(&chosen.file, groups, paths);
    let statuses = analyst.statuses(&ordered, paths);
    let same = SamePatterns::of(&ordered);
    let mut defeats = Defeats::new(&ordered, &chosen.file);
    for RuleAndStatus { rule, status } in statuses.iter() {
        let rule = *rule;
        *tally.selections.entry(rule).or_default() += 1;
        if let RuleStatus::Unknown(bound) = status {
            let agent = &chosen.file.user_agents_of(&chosen.file.groups()[groups[0]])[0];
            let agent = quoted(agent.value);
            findings.unknown(format!("not all rules for {agent} were compared: {bound}"));
        }
        let contradiction = same.contradiction(rule).map(|(other, wins)| Fault {
            code: Code::ContradictingRules,
            message: format!(
                "{} has the opposite verdict on the same paths, and {}",
                written(&chosen.file, other),
                if wins { "wins" } else { "loses" }
            ),
            others: vec![other],
        });
        let fault = contradiction
            .or_else(|| defeats.fault(rule))
            .or_else(|| fault_of(&chosen.file, rule, status));
        if let Some(fault) = fault {
            tally.faults.entry(rule).or_default().push(fault);
        }
    }
}

/// Returns a rule with its line.
fn written(file: &RobotsTxt<'_>, rule: RuleID) -> String {
    let rule = &file.rules()[rule.index()];
    format!("line {} (`{}: {}", rule.line, field(rule), &quoted(rule.value)[1..]) + ")"
}

fn field(rule: &Rule<'_>) -> &'static str {
    if rule.verdict == Verdict::Allow { "Allow" } else { "Disallow" }
}

/// Returns the problem that a status describes, if it is one.
fn fault_of(file: &RobotsTxt<'_>, rule: RuleID, status: &RuleStatus) -> Option<Fault> {
    let own = &file.rules()[rule.index()];
    let fault = |code, message, others| Some(Fault { code, message, others });
    match status {
        RuleStatus::Decides(_) | RuleStatus::Unknown(_) => None,
        RuleStatus::NeverMatches if matches!(own.value.first(), Some(b'/' | b'*')) => {
            let message = format!("{} matches no path of a URL", quoted(own.value));
            fault(Code::NeverMatchingPattern, message, Vec::new())
        }
        // A pattern without a leading `/` or `*` has its own code.
        RuleStatus::NeverMatches => None,
        RuleStatus::Equal { to } => {
            let message = format!("{} has the same effect", written(file, *to));
            fault(Code::DuplicateRule, message, vec![*to])
        }
        RuleStatus::Shadowed { by } => {
            let others = rules_of(by);
            let by_disallow =
                others.iter().any(|other| file.rules()[other.index()].verdict != Verdict::Allow);
            let message = format!("the rule never decides: {} wins", winners(file, &others));
            match own.verdict == Verdict::Allow && by_disallow {
                true => fault(Code::DefeatedAllow, message, others),
                false => fault(Code::ShadowedRule, message, others),
            }
        }
    }
}

fn rules_of(successors: &[Successor]) -> Vec<RuleID> {
    let rules = successors.iter().filter_map(|successor| match successor {
        Successor::Rule(rule) => Some(*rule),
        Successor::RobotsTxt => None,
    });
    rules.collect()
}

fn winners(file: &RobotsTxt<'_>, others: &[RuleID]) -> String {
    match others {
        [] => "the dialect itself".into(),
        [other] => written(file, *other),
        [first, rest @ ..] => {
            format!("{}, or one of {} more rules,", written(file, *first), rest.len())
        }
    }
}

/// Reports a problem with the status of the rule in each dialect.
fn report(findings: &mut Findings<'_, '_>, rule: RuleID, fault: Fault, statuses: &[Statuses]) {
    let examination = findings.examination;
    let file = &examination.chosen().file;
    let own = file.rules()[rule.index()];
    let index = own.line.get() as usize - 1;
    let mut effects = examination.line_effects(index);
    for (effect, statuses) in effects.iter_mut().zip(statuses) {
        if let Some(words) = statuses.words(index) {
            effect.text = words.to_owned();
        }
    }
    let code = fault.code;
    let mut finding: Finding<'_, '_, '_> =
        findings.report(code, own.span, fault.message).with_effects(effects);
    /// More related lines would distract from the rule itself.
    const RELATED_MAX: usize = 3;
    for other in fault.others.iter().take(RELATED_MAX) {
        finding = finding.related(file.rules()[other.index()].span, "this rule");
    }
    let is_needless =
        matches!(code, Code::DuplicateRule | Code::ShadowedRule | Code::NeverMatchingPattern);
    if is_needless {
        finding.fix("remove the rule", vec![remove_record(examination, index)]);
    }
}

/// Rules of a selection with the same pattern in normal form.
struct SamePatterns {
    /// For each rule: the earlier rule with the opposite verdict, and whether it wins.
    contradictions: HashMap<RuleID, (RuleID, bool)>,
}

impl SamePatterns {
    fn of(ordered: &OrderedRules) -> SamePatterns {
        let mut first: HashMap<PathPattern<'_>, [Option<RuleID>; 2]> = HashMap::new();
        let patterns = ordered.patterns.iter().zip(&ordered.rules).zip(&ordered.verdicts);
        let patterns = patterns.zip(&ordered.directories).filter(|(_, directory)| !**directory);
        let mut contradictions = HashMap::new();
        for (((pattern, &rule), &verdict), _) in patterns {
            let known = first.entry(pattern).or_default();
            let side = usize::from(verdict == Verdict::Allow);
            if let Some(other) = known[1 - side] {
                // The later rule of the file is reported; the earlier one in this order wins.
                let (earlier, later) = (other.min(rule), other.max(rule));
                contradictions.entry(later).or_insert((earlier, earlier == other));
            }
            known[side].get_or_insert(rule);
        }
        SamePatterns { contradictions }
    }

    /// Returns the earlier rule with the opposite verdict, and whether it wins.
    fn contradiction(&self, rule: RuleID) -> Option<(RuleID, bool)> {
        self.contradictions.get(&rule).copied()
    }
}

/// Allow rules that lose on the path that they are written with.
struct Defeats<'d> {
    ordered: &'d OrderedRules,
    file: &'d RobotsTxt<'d>,
    /// The position of the pattern of each rule.
    positions: HashMap<RuleID, usize>,
    compiled: Option<SharedRuleSet>,
}

impl<'d> Defeats<'d> {
    fn new(ordered: &'d OrderedRules, file: &'d RobotsTxt<'d>) -> Defeats<'d> {
        let own = (0..).zip(&ordered.rules).zip(&ordered.directories);
        let own = own.filter(|(_, directory)| !**directory);
        let positions = own.map(|((position, &rule), _)| (rule, position)).collect();
        Defeats { ordered, file, positions, compiled: None }
    }

    fn fault(&mut self, rule: RuleID) -> Option<Fault> {
        if self.file.rules()[rule.index()].verdict != Verdict::Allow {
            return None;
        }
        let position = *self.positions.get(&rule)?;
        let pattern = self.ordered.patterns.get(position);
        // The pattern without its stars.
        let path = match pattern.bytes.first() {
            Some(b'/') => pattern.bytes.to_vec(),
            _ => [b"/", pattern.bytes].concat(),
        };
        let compiled = self.compiled.get_or_insert_with(|| {
            let rules = RuleSetBuf::new(&self.ordered.patterns, &self.ordered.verdicts);
            SharedRuleSet::new(rules, Settings::default())
        });
        let outcome = compiled.decide(&path);
        if outcome == Outcome::NONE || outcome.allows() {
            return None;
        }
        let winner = self.ordered.rules[outcome.number() as usize - 1];
        let message =
            format!("{} wins and disallows {}", written(self.file, winner), quoted(&path));
        Some(Fault { code: Code::DefeatedAllow, message, others: vec![winner] })
    }
}

/// Reports that everything is disallowed, for robots that no group names or for one of the agents.
fn everything_disallowed(findings: &mut Findings<'_, '_>, config: &LintConfig) {
    let examination = findings.examination;
    let askers: Vec<Option<&AgentChain>> = match config.agents.as_slice() {
        [] => vec![None],
        agents => agents.iter().map(Some).collect(),
    };
    for agent in askers {
        let Some(rule) = deciding_all(examination.chosen(), agent, &config.limits) else {
            continue;
        };
        let span = examination.chosen().file.rules()[rule.index()].span;
        let whom = match agent {
            Some(agent) => quoted(agent.name().as_bytes()),
            None => "robots that no group names".into(),
        };
        findings
            .report(Code::EverythingDisallowed, span, format!("every URL is disallowed for {whom}"))
            .effects(|reading| match deciding_all(reading, agent, &config.limits) {
                Some(_) => "disallows every URL".into(),
                None => "allows some URLs".into(),
            });
    }
}

/// Returns the rule that disallows `/`, if everything is disallowed.
fn deciding_all(
    reading: &Reading<'_>,
    agent: Option<&AgentChain>,
    limits: &AnalysisLimits,
) -> Option<RuleID> {
    let dialect = reading.dialect;
    let groups = Selection::of(&reading.file, agent, dialect).groups;
    let paths = &dialect.paths;
    let ordered = OrderedRules::new(&reading.file, &groups, paths);
    let at_root = ordered.patterns.iter().position(|pattern| pattern_matches(&pattern, b"/"))?;
    if ordered.verdicts[at_root] == Verdict::Allow {
        return None;
    }
    let nothing = RobotsTxt::parse(b"User-agent: *\nDisallow: /\n", dialect, None);
    let nothing = OrderedRules::new(&nothing, &[0], paths);
    let (own, nothing) = (Rules { ordered: &ordered, paths }, Rules { ordered: &nothing, paths });
    let is_same = difference(own, nothing, &mut Budget::new(limits, 1)) == Ok(None);
    is_same.then(|| ordered.rules[at_root])
}
