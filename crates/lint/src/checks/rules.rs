//! Checks of rules together: which ones decide, and which have no effect.
//!
//! A rule is checked in every selection of groups that applies to some robot. It is reported only
//! if it has a problem in all of them, because a rule without effect for one robot may decide for
//! another.

use std::collections::BTreeSet;
use std::rc::Rc;

use hashbrown::HashMap;

use super::super::examination::{Reading, quoted};
use super::super::findings::{Findings, remove_record};
use super::super::statuses::{Analyst, Selections, Statuses};
use super::super::{Code, LintConfig};
use crate::analysis::{
    Bound, RuleAndStatus, RuleStatus, Successor, Winners, plain_path, rule_at, rules_of,
};
use portcullis_dialect::decision::Verdict;
use portcullis_dialect::id::RuleID;
use portcullis_engine::pattern::Pattern;
use portcullis_robots::policy::{AgentChain, OrderedRules};
use portcullis_robots::syntax::{RobotsTxt, Rule};

/// A problem of a rule in one selection. Other rules go by their places in it.
#[derive(Clone, Debug)]
struct Fault {
    code: Code,
    kind: Kind,
    /// Related rules.
    others: Vec<RuleID>,
}

/// What the problem is, to be put in words if it is reported.
#[derive(Clone, Debug)]
enum Kind {
    /// Another rule has the opposite verdict on the same paths.
    Contradicts {
        other_wins: bool,
    },
    /// An Allow rule loses on the path that it is written with.
    Loses {
        path: Vec<u8>,
    },
    NeverMatches,
    /// Another rule has the same effect.
    Repeats,
    /// Other rules win wherever it matches.
    Shadowed,
}

/// The problems of the rules of a combination of groups, by place.
struct Problems {
    /// The place and the problem of each rule with a pattern.
    rules: Vec<(u32, Option<Rc<Fault>>)>,
    /// The limit that ended the analysis of some rule.
    bound: Option<Bound>,
}

pub(super) fn check(findings: &mut Findings<'_, '_>, config: &LintConfig) {
    let examination = findings.examination;
    let (chosen, position) = (examination.chosen(), examination.chosen_position());
    let mut analyst = Analyst::new(examination, config);
    let grouped = analyst.grouped(position);
    let selections = Selections::of(chosen, &grouped, &config.agents);
    if let Some(unknown) = selections.unknown() {
        findings.unknown(unknown);
    }
    let mut tally = Tally::new(chosen.file.rules().len());
    selections.left_out().for_each(|group| tally.leave_out(&chosen.file, group));
    let mut known: HashMap<_, Rc<Problems>, foldhash::fast::RandomState> = HashMap::default();
    for (number, groups) in selections.groups().iter().enumerate() {
        let key = grouped.key(groups);
        let problems = match known.get(&key) {
            Some(problems) => Rc::clone(problems),
            None => match problems_of(position, chosen, groups, &mut analyst) {
                Ok(problems) => Rc::clone(known.entry(key).or_insert(Rc::new(problems))),
                Err(bound) => {
                    findings.unknown(format!("not all groups were compared: {bound}"));
                    groups.iter().for_each(|&group| tally.leave_out(&chosen.file, group));
                    continue;
                }
            },
        };
        if let Some(bound) = problems.bound {
            let agent = &chosen.file.user_agents_of(&chosen.file.groups()[groups[0]])[0];
            let agent = quoted(agent.value);
            findings.unknown(format!("not all rules for {agent} were compared: {bound}"));
        }
        tally.add(number, &rules_of(&chosen.file, groups), &problems);
    }
    let faults = tally.everywhere();
    if !faults.is_empty() {
        let rules = chosen.file.rules();
        let lines: BTreeSet<u32> =
            faults.iter().map(|(rule, ..)| rules[rule.index()].line.get()).collect();
        let readings = (0..examination.readings.len()).filter(|_| config.compares_dialects);
        let statuses: Vec<Statuses> = readings
            .map(|position| Statuses::of(position, &config.agents, &lines, &mut analyst))
            .collect();
        for (rule, fault, selection) in faults {
            report(findings, rule, &fault, &selections.groups()[selection], &statuses);
        }
    }
    everything_disallowed(findings, config, &mut analyst);
}

/// The problems of rules so far.
struct Tally {
    /// By rule.
    rules: Vec<Count>,
}

#[derive(Clone, Default)]
struct Count {
    /// The selections that have the rule, and those in which it has a problem.
    selections: usize,
    faults: usize,
    /// The mildest problem, and the selection that it is of.
    mildest: Option<(Rc<Fault>, usize)>,
}

impl Tally {
    fn new(rules: usize) -> Tally {
        Tally { rules: vec![Count::default(); rules] }
    }

    /// Adds the problems of a selection with these rules.
    fn add(&mut self, selection: usize, rules: &[RuleID], problems: &Problems) {
        for (place, fault) in &problems.rules {
            let count = &mut self.rules[rules[*place as usize].index()];
            count.selections += 1;
            let Some(fault) = fault else { continue };
            count.faults += 1;
            if count.mildest.as_ref().is_none_or(|(known, _)| known.code <= fault.code) {
                count.mildest = Some((Rc::clone(fault), selection));
            }
        }
    }

    /// Adds a selection that was not analysed: the rules of its groups may decide there.
    fn leave_out(&mut self, file: &RobotsTxt<'_>, group: usize) {
        for rule in file.groups()[group].rule_ids() {
            self.rules[rule.index()].selections += 1;
        }
    }

    /// Returns the rules with a problem in every selection that has them, with the problem of the
    /// last code and its selection.
    fn everywhere(self) -> Vec<(RuleID, Rc<Fault>, usize)> {
        let counts = (0..).map(RuleID).zip(self.rules);
        let everywhere = counts.filter(|(_, count)| count.selections == count.faults);
        let mildest = everywhere.filter_map(|(rule, count)| Some((rule, count.mildest?)));
        mildest.map(|(rule, (fault, selection))| (rule, fault, selection)).collect()
    }
}

/// Finds the problems of the rules of one selection.
///
/// # Errors
///
/// If nothing of the budget was left.
fn problems_of(
    position: usize,
    reading: &Reading<'_>,
    groups: &[usize],
    analyst: &mut Analyst<'_>,
) -> Result<Problems, Bound> {
    let statuses = analyst.statuses(position, groups)?;
    let ordered = analyst.ordered(position, groups)?;
    let rules = rules_of(&reading.file, groups);
    let same = SamePatterns::of(&ordered);
    let mut defeats = Defeats::new(&ordered);
    let mut problems = Problems { rules: Vec::with_capacity(statuses.len()), bound: None };
    for RuleAndStatus { rule: place, status } in statuses.iter() {
        let own = &reading.file.rules()[rules[place.index()].index()];
        if let RuleStatus::Unknown(bound) = status {
            problems.bound = Some(*bound);
        }
        let contradiction = same.contradiction(*place).map(|(other, other_wins)| Fault {
            code: Code::ContradictingRules,
            kind: Kind::Contradicts { other_wins },
            others: vec![other],
        });
        let defeat = match (&contradiction, own.verdict) {
            (None, Verdict::Allow) => defeats.fault(*place, analyst),
            _ => Ok(None),
        };
        let fault = match (contradiction, defeat) {
            (Some(fault), _) | (None, Ok(Some(fault))) => Some(fault),
            (None, Ok(None)) => fault_of(&reading.file, &rules, own, status),
            (None, Err(bound)) => {
                problems.bound = Some(bound);
                None
            }
        };
        problems.rules.push((place.0, fault.map(Rc::new)));
    }
    Ok(problems)
}

/// Returns a rule with its line.
fn written(file: &RobotsTxt<'_>, rule: RuleID) -> String {
    let rule = &file.rules()[rule.index()];
    format!("line {} (`{}: {}", rule.line, field(rule), &quoted(rule.value)[1..]) + ")"
}

fn field(rule: &Rule<'_>) -> &'static str {
    if rule.verdict == Verdict::Allow { "Allow" } else { "Disallow" }
}

/// Returns the problem that a status describes, if it is one. `rules` are those of the selection.
fn fault_of(
    file: &RobotsTxt<'_>,
    rules: &[RuleID],
    own: &Rule<'_>,
    status: &RuleStatus,
) -> Option<Fault> {
    let fault = |code, kind, others| Some(Fault { code, kind, others });
    match status {
        RuleStatus::Decides(_) | RuleStatus::Unknown(_) => None,
        RuleStatus::NeverMatches if matches!(own.value.first(), Some(b'/' | b'*')) => {
            fault(Code::NeverMatchingPattern, Kind::NeverMatches, Vec::new())
        }
        // A pattern without a leading `/` or `*` has its own code.
        RuleStatus::NeverMatches => None,
        RuleStatus::Equal { to } => fault(Code::DuplicateRule, Kind::Repeats, vec![*to]),
        RuleStatus::Shadowed { by } => {
            let others = places_of(by);
            let disallows = |place: &RuleID| {
                file.rules()[rules[place.index()].index()].verdict != Verdict::Allow
            };
            let code = match own.verdict == Verdict::Allow && others.iter().any(disallows) {
                true => Code::DefeatedAllow,
                false => Code::ShadowedRule,
            };
            fault(code, Kind::Shadowed, others)
        }
    }
}

impl Fault {
    /// Returns the problem of `own` in words. `others` are the related rules.
    fn message(&self, file: &RobotsTxt<'_>, own: &Rule<'_>, others: &[RuleID]) -> String {
        let first = || written(file, others[0]);
        match &self.kind {
            Kind::Contradicts { other_wins } => format!(
                "{} has the opposite verdict on the same paths, and {}",
                first(),
                if *other_wins { "wins" } else { "loses" }
            ),
            Kind::Loses { path } => format!("{} wins and disallows {}", first(), quoted(path)),
            Kind::NeverMatches => format!("{} matches no path of a URL", quoted(own.value)),
            Kind::Repeats => format!("{} has the same effect", first()),
            Kind::Shadowed => {
                format!("the rule never decides: {} wins", self.winners(file, others))
            }
        }
    }

    fn winners(&self, file: &RobotsTxt<'_>, others: &[RuleID]) -> String {
        match (others, self.others.len()) {
            ([], _) => "the dialect itself".into(),
            ([other, ..], 1) => written(file, *other),
            ([first, ..], count) => {
                format!("{}, or one of {} more rules,", written(file, *first), count - 1)
            }
        }
    }
}

fn places_of(successors: &[Successor]) -> Vec<RuleID> {
    let places = successors.iter().filter_map(|successor| match successor {
        Successor::Rule(place) => Some(*place),
        Successor::RobotsTxt => None,
    });
    places.collect()
}

/// Reports a problem in a selection, with the status of the rule in each dialect.
fn report(
    findings: &mut Findings<'_, '_>,
    rule: RuleID,
    fault: &Fault,
    groups: &[usize],
    statuses: &[Statuses],
) {
    /// More related lines would distract from the rule itself.
    const RELATED_MAX: usize = 3;
    let examination = findings.examination;
    let file = &examination.chosen().file;
    let own = file.rules()[rule.index()];
    let index = own.line.get() as usize - 1;
    let others = fault.others.iter().take(RELATED_MAX);
    let others: Vec<RuleID> = others.map(|place| rule_at(file, groups, place.0)).collect();
    let code = fault.code;
    let mut finding = findings
        .report(code, own.span, fault.message(file, &own, &others))
        .change_effects(|effects| {
            for (effect, statuses) in effects.iter_mut().zip(statuses) {
                if let Some(words) = statuses.words(index) {
                    effect.text = words.to_owned();
                }
            }
        });
    for other in others {
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
    contradictions: HashMap<RuleID, (RuleID, bool), foldhash::fast::RandomState>,
}

impl SamePatterns {
    fn of(ordered: &OrderedRules) -> SamePatterns {
        let mut first: HashMap<_, [Option<RuleID>; 2], foldhash::fast::RandomState> =
            HashMap::default();
        let patterns = ordered.patterns.iter().zip(&ordered.rules).zip(&ordered.verdicts);
        let patterns = patterns.zip(&ordered.directories).filter(|(_, directory)| !**directory);
        let mut contradictions = HashMap::default();
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
    /// The position of the pattern of each rule.
    positions: HashMap<RuleID, usize, foldhash::fast::RandomState>,
    winners: Option<Winners>,
    /// The Disallow rule that wins over each pattern, if one does.
    known: HashMap<Pattern<'d>, Option<RuleID>, foldhash::fast::RandomState>,
}

impl<'d> Defeats<'d> {
    fn new(ordered: &'d OrderedRules) -> Defeats<'d> {
        let own = (0..).zip(&ordered.rules).zip(&ordered.directories);
        let own = own.filter(|(_, directory)| !**directory);
        let positions = own.map(|((position, &rule), _)| (rule, position)).collect();
        Defeats { ordered, positions, winners: None, known: HashMap::default() }
    }

    /// Returns the problem of an Allow rule, if it has one.
    fn fault(&mut self, rule: RuleID, analyst: &mut Analyst<'_>) -> Result<Option<Fault>, Bound> {
        let Some(&position) = self.positions.get(&rule) else { return Ok(None) };
        let pattern = self.ordered.patterns.get(position);
        if self.known.get(&pattern).is_some_and(Option::is_none) {
            return Ok(None);
        }
        let path = plain_path(&pattern);
        let winner = match self.known.get(&pattern) {
            Some(winner) => *winner,
            None => {
                let winners = self.winners.get_or_insert_with(|| Winners::new(self.ordered));
                let winner = winners.winner(&path, &mut analyst.budget)?;
                let disallows =
                    |position: &usize| self.ordered.verdicts[*position] != Verdict::Allow;
                let winner = winner.filter(disallows).map(|position| self.ordered.rules[position]);
                self.known.insert(pattern, winner);
                winner
            }
        };
        let fault = |winner| Fault {
            code: Code::DefeatedAllow,
            kind: Kind::Loses { path },
            others: vec![winner],
        };
        Ok(winner.map(fault))
    }
}

/// Reports that everything is disallowed, for robots that no group names or for one of the agents.
fn everything_disallowed(
    findings: &mut Findings<'_, '_>,
    config: &LintConfig,
    analyst: &mut Analyst<'_>,
) {
    let examination = findings.examination;
    let position = examination.chosen_position();
    let askers: Vec<Option<&AgentChain>> = match config.agents.as_slice() {
        [] => vec![None],
        agents => agents.iter().map(Some).collect(),
    };
    for agent in askers {
        let whom = match agent {
            Some(agent) => quoted(agent.name().as_bytes()),
            None => "robots that no group names".into(),
        };
        let rule = match analyst.deciding_all(position, agent) {
            Ok(Some(rule)) => rule,
            Ok(None) => continue,
            Err(bound) => {
                findings.unknown(format!(
                    "whether every URL is disallowed for {whom} was not found: {bound}"
                ));
                continue;
            }
        };
        let span = examination.chosen().file.rules()[rule.index()].span;
        findings
            .report(Code::EverythingDisallowed, span, format!("every URL is disallowed for {whom}"))
            .effects_by_position(|position| match analyst.deciding_all(position, agent) {
                Ok(Some(_)) => "disallows every URL".into(),
                Ok(None) => "allows some URLs".into(),
                Err(bound) => format!("unknown: {bound}"),
            });
    }
}
