//! The effect of each rule of a rule set: whether it decides, and whether its verdict depends on it.
//!
//! For most rules one path is enough, the shortest that they match: the rule decides it, and the
//! verdict changes without the rule. For the other rules, paths that avoid the winners so far are
//! searched. If the rule decides such a path, it is a shortest one. If there is no such path, the
//! avoided rules shadow the rule.
//!
//! A rule that decides is *needed* if on some path the next best rule has the other verdict, or
//! there is no next rule and the rule disallows. Each of these next rules is tried in turn, by
//! searching a path that both rules match. Rules that win before both, or between them with the
//! same verdict, are avoided from then on. Few rules are avoided, so the automata stay small for
//! any rule set.

use std::collections::HashMap;

use portcullis_dialect::id::RuleID;
use portcullis_engine::pattern::PathPattern;

use super::file::ROBOTS_TXT_RULE;
use super::language::Language;
use super::search::{Wanted, find};
use super::{AnalysisLimits, Bound, Budget, Example, Rules};
use portcullis_engine::automaton::{Machine, NO_PATTERN, Owner, Question};

/// The effect of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RuleStatus {
    /// The rule decides some URL, and some verdict changes without it.
    Decides {
        /// A shortest path that it decides.
        example: Example,
        /// A path whose verdict changes without the rule, the example if possible; or the limit
        /// that ended the search, in which case the rule may be redundant.
        needed: Result<Example, Bound>,
    },
    /// The rule decides some URL, but no verdict changes without it.
    ///
    /// Rules that never decide are removed first, so one of two equal rules is needed. Of several
    /// redundant rules, only one may be removed before the next analysis.
    Redundant {
        /// A shortest path that it decides.
        example: Example,
        /// The rules that would decide instead, as far as found.
        taken_over_by: Vec<Successor>,
    },
    /// The rule matches no path of a URL.
    NeverMatches,
    /// The rule never decides, because an earlier rule matches the same paths with the same
    /// verdict.
    Equal {
        /// The earlier rule.
        to: RuleID,
    },
    /// The rule never decides, because other rules win wherever it matches.
    Shadowed {
        /// One rule, if it matches wherever this one does; otherwise the rules that win on some of
        /// its paths.
        by: Vec<Successor>,
    },
    /// A limit ended the search for a path that the rule decides.
    Unknown(Bound),
}

/// The decision that takes over if a rule is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Successor {
    /// Another rule.
    Rule(RuleID),
    /// The dialect, which always allows the URL of robots.txt.
    RobotsTxt,
    /// No rule, so the path is allowed.
    NoRule,
}

/// The status of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleAndStatus {
    /// The rule.
    pub rule: RuleID,
    /// The effect of the rule.
    pub status: RuleStatus,
}

/// Returns the status of each rule among `rules`, in file order. Rules without a pattern are left
/// out.
///
/// ```
/// use portcullis_lint::analysis::{AnalysisLimits, Rules, RuleStatus, Successor, statuses};
/// use portcullis_dialect::dialect::RFC_9309;
/// use portcullis_dialect::id::RuleID;
/// use portcullis_robots::policy::OrderedRules;
/// use portcullis_robots::syntax::RobotsTxt;
///
/// let text = b"User-agent: *\nDisallow: /a\nAllow: /a\nDisallow: /b\nDisallow: /b/c\n";
/// let file = RobotsTxt::parse(text, &RFC_9309, None);
/// let ordered = OrderedRules::new(&file, &[0], &RFC_9309.paths);
/// let rules = Rules { ordered: &ordered, paths: &RFC_9309.paths };
/// let statuses = statuses(rules, &AnalysisLimits::default());
/// let by = vec![Successor::Rule(RuleID(1))];
/// assert_eq!(statuses[0].status, RuleStatus::Shadowed { by });
/// let RuleStatus::Redundant { taken_over_by, .. } = &statuses[3].status else { panic!() };
/// assert_eq!(taken_over_by[..], [Successor::Rule(RuleID(2))]);
/// ```
pub fn statuses(rules: Rules<'_>, limits: &AnalysisLimits) -> Vec<RuleAndStatus> {
    let mut analysis = Analysis::new(rules, limits);
    let fates: Vec<Fate> = (0..analysis.units.len()).map(|unit| analysis.fate(unit)).collect();
    let statuses = analysis.needs(fates);
    let ids = analysis.units.iter().map(|unit| RuleID(unit.rule));
    ids.zip(statuses).map(|(rule, status)| RuleAndStatus { rule, status }).collect()
}

/// A rule with its patterns.
struct Unit {
    rule: u32,
    allows: bool,
    /// Positions in the list of all patterns, ascending.
    patterns: Vec<usize>,
}

/// A pattern and its rule.
type Owned<'r> = (PathPattern<'r>, Owner);

/// The result of asking whether a rule decides.
enum Fate {
    /// The rule decides this path, and no shorter one.
    Decides(Vec<u8>),
    /// The rule never decides.
    Never(RuleStatus),
    Unknown(Bound),
}

/// The paths on which a pattern wins.
enum Outcome {
    /// It wins on this path, and on no shorter one.
    Wins(Vec<u8>),
    /// It wins nowhere, because one of these patterns wins wherever it matches. Empty if it matches
    /// nowhere.
    Loses(Vec<usize>),
}

/// A search for an example may spend one part in this many of the remaining budget.
const SEARCHES: u32 = 16;

struct Analysis<'r> {
    patterns: Vec<Owned<'r>>,
    units: Vec<Unit>,
    /// The unit of each rule.
    unit_of: HashMap<u32, usize>,
    /// For each pattern: the first equal one.
    first_equal: HashMap<PathPattern<'r>, usize>,
    language: Language,
    machine: Machine,
    budget: Budget,
}

impl<'r> Analysis<'r> {
    fn new(rules: Rules<'r>, limits: &AnalysisLimits) -> Analysis<'r> {
        let patterns: Vec<Owned<'r>> = rules.patterns().collect();
        let mut by_rule: HashMap<u32, Vec<usize>> = HashMap::new();
        let mut first_equal = HashMap::new();
        for (index, &(pattern, owner)) in patterns.iter().enumerate() {
            first_equal.entry(pattern).or_insert(index);
            if owner.rule != ROBOTS_TXT_RULE {
                by_rule.entry(owner.rule).or_default().push(index);
            }
        }
        let unit = |(rule, own): (u32, Vec<usize>)| {
            let (_, owner) = patterns[own[0]];
            Unit { rule, allows: owner.allows, patterns: own }
        };
        let mut units: Vec<Unit> = by_rule.into_iter().map(unit).collect();
        units.sort_unstable_by_key(|unit| unit.rule);
        let machine = Machine::new(Question::Rules, patterns.iter().copied());
        Analysis {
            unit_of: units.iter().zip(0..).map(|(unit, index)| (unit.rule, index)).collect(),
            units,
            patterns,
            first_equal,
            language: Language::new(rules.paths.escapes),
            machine,
            budget: Budget::new(limits, SEARCHES),
        }
    }

    /// Determines whether a rule decides.
    fn fate(&mut self, unit: usize) -> Fate {
        if let Some(to) = self.repeated(unit) {
            return Fate::Never(RuleStatus::Equal { to: RuleID(to) });
        }
        let mut shortest: Option<Vec<u8>> = None;
        let mut winners = Vec::new();
        let mut bound = None;
        for own in self.units[unit].patterns.clone() {
            match self.outcome(own) {
                Ok(Outcome::Wins(path)) => {
                    let is_shorter = shortest.as_ref().is_none_or(|it| path.len() < it.len());
                    shortest = if is_shorter { Some(path) } else { shortest };
                }
                Ok(Outcome::Loses(to)) => winners.extend(to),
                Err(reached) => bound = Some(reached),
            }
        }
        match (shortest, bound) {
            (_, Some(bound)) => Fate::Unknown(bound),
            (Some(path), None) => Fate::Decides(path),
            (None, None) if winners.is_empty() => Fate::Never(RuleStatus::NeverMatches),
            (None, None) => Fate::Never(self.shadowed(unit, &winners)),
        }
    }

    /// Returns an earlier rule with the same patterns and verdict, if there is one.
    fn repeated(&mut self, unit: usize) -> Option<u32> {
        let first_of = |&index: &usize| {
            let (pattern, owner) = &self.patterns[index];
            let (_, first) = self.patterns[self.first_equal[pattern]];
            let same = first.allows == owner.allows && first.rule != owner.rule;
            (same && first.rule != ROBOTS_TXT_RULE).then_some(first.rule)
        };
        let own = self.units[unit].patterns.clone();
        let rule = first_of(&own[0])?;
        let all_same = own.iter().all(|index| first_of(index) == Some(rule));
        let as_many = self.units[self.unit_of[&rule]].patterns.len() == own.len();
        (all_same && as_many && self.can_match(&own)).then_some(rule)
    }

    /// Returns whether one of the patterns matches a path of a URL, or this is unknown.
    fn can_match(&mut self, patterns: &[usize]) -> bool {
        patterns.iter().any(|&index| {
            let wanted = Wanted { one: self.patterns[index].0, other: None, avoided: &[] };
            find(wanted, &self.language, &mut self.budget) != Ok(None)
        })
    }

    /// Determines where the pattern `own`, or another pattern of its rule, wins.
    fn outcome(&mut self, own: usize) -> Result<Outcome, Bound> {
        let (one, owner) = self.patterns[own];
        let (mut avoided, mut winners) = (Vec::new(), Vec::new());
        loop {
            let wanted = Wanted { one, other: None, avoided: &avoided };
            let Some(path) = find(wanted, &self.language, &mut self.budget)? else {
                return Ok(Outcome::Loses(winners));
            };
            let winner = self.winner(&path)?;
            if self.patterns[winner].1.rule == owner.rule {
                return Ok(Outcome::Wins(path));
            }
            avoided.push(self.patterns[winner].0);
            winners.push(winner);
        }
    }

    /// Returns the pattern that decides `path`, which at least one pattern matches.
    fn winner(&mut self, path: &[u8]) -> Result<usize, Bound> {
        self.budget.check()?;
        let before = self.machine.work();
        let state = self.machine.walk(path);
        self.budget.spend(self.machine.work() - before, 0);
        Ok(self.machine.best_at_end(state)[0] as usize)
    }

    /// Returns the status of a rule that loses to one of the patterns `winners` wherever it
    /// matches.
    fn shadowed(&mut self, unit: usize, winners: &[usize]) -> RuleStatus {
        let alone = winners.iter().find(|&&winner| self.covers(winner, unit)).copied();
        let Some(winner) = alone else {
            let mut by: Vec<Successor> = Vec::new();
            for &winner in winners {
                let successor = successor(self.patterns[winner].1.rule);
                if !by.contains(&successor) {
                    by.push(successor);
                }
            }
            return RuleStatus::Shadowed { by };
        };
        let (_, owner) = self.patterns[winner];
        let (own, other) = (&self.units[unit], self.unit_of.get(&owner.rule));
        let single = |unit: &Unit| unit.patterns.len() == 1;
        let says_same = single(own)
            && owner.allows == own.allows
            && other.is_some_and(|&other| single(&self.units[other]));
        let first = own.patterns[0];
        match says_same && self.covers_pattern(first, winner) {
            true => RuleStatus::Equal { to: RuleID(owner.rule) },
            false => RuleStatus::Shadowed { by: vec![successor(owner.rule)] },
        }
    }

    /// Returns whether the pattern `covering` is before those of `unit` and matches wherever one of
    /// them does, as far as the limits show.
    fn covers(&mut self, covering: usize, unit: usize) -> bool {
        let own = self.units[unit].patterns.clone();
        covering < own[0] && own.iter().all(|&own| self.covers_pattern(covering, own))
    }

    fn covers_pattern(&mut self, covering: usize, own: usize) -> bool {
        let avoided = [self.patterns[covering].0];
        let wanted = Wanted { one: self.patterns[own].0, other: None, avoided: &avoided };
        find(wanted, &self.language, &mut self.budget) == Ok(None)
    }

    /// Returns the statuses, given which rules decide.
    fn needs(&mut self, fates: Vec<Fate>) -> Vec<RuleStatus> {
        let lives: Vec<bool> = fates.iter().map(|fate| !matches!(fate, Fate::Never(_))).collect();
        let is_kept =
            |(_, owner): &Owned<'r>| self.unit_of.get(&owner.rule).is_none_or(|&unit| lives[unit]);
        let patterns: Vec<Owned<'r>> = self.patterns.iter().copied().filter(is_kept).collect();
        let mut own: HashMap<u32, Vec<usize>> = HashMap::new();
        for (number, (_, owner)) in patterns.iter().enumerate() {
            own.entry(owner.rule).or_default().push(number);
        }
        let language = &self.language;
        let example = |path: &[u8]| Example::of(&language.written(path));
        let mut living = Living::new(patterns, language, &mut self.budget);
        let status = |(fate, unit): (Fate, &Unit)| match fate {
            Fate::Never(status) => status,
            Fate::Unknown(bound) => RuleStatus::Unknown(bound),
            Fate::Decides(path) => {
                let decided = example(&path);
                match living.need(&own[&unit.rule], path) {
                    Need::Needed(path) => {
                        RuleStatus::Decides { example: decided, needed: Ok(example(&path)) }
                    }
                    Need::Redundant(next) => {
                        let by = next.into_iter();
                        let by = by.map(|rule| rule.map_or(Successor::NoRule, successor));
                        RuleStatus::Redundant { example: decided, taken_over_by: by.collect() }
                    }
                    Need::Unknown(bound) => {
                        RuleStatus::Decides { example: decided, needed: Err(bound) }
                    }
                }
            }
        };
        fates.into_iter().zip(&self.units).map(status).collect()
    }
}

/// The result of asking whether a rule that decides is needed.
enum Need {
    /// The verdict on this path changes without it.
    Needed(Vec<u8>),
    /// The rule is not needed: one of these rules would decide with the same verdict, or no rule
    /// (`None`). In the order in which they were found.
    Redundant(Vec<Option<u32>>),
    /// A limit ended the search.
    Unknown(Bound),
}

/// The rules that decide.
struct Living<'s, 'r> {
    /// The patterns in order of precedence.
    patterns: Vec<Owned<'r>>,
    /// The numbers of the patterns that disallow, and of those that allow, ascending.
    by_verdict: [Vec<usize>; 2],
    /// Returns the best two patterns of a path.
    machine: Machine,
    language: &'s Language,
    budget: &'s mut Budget,
}

/// A rule that may be redundant.
struct Suspect<'p> {
    rule: u32,
    allows: bool,
    /// The numbers of its patterns.
    patterns: &'p [usize],
    /// The rules that decide without it.
    next: Vec<Option<u32>>,
}

/// The evidence of a path about a rule.
enum Sign {
    /// The verdict changes without the rule.
    Needed,
    /// The verdict does not change, because of this pattern.
    Blocked(usize),
    /// The verdict does not change, because no rule decides instead and the rule allows.
    Free,
}

impl<'s, 'r> Living<'s, 'r> {
    /// Creates the rules with these patterns, which are in order of precedence.
    fn new(
        patterns: Vec<Owned<'r>>,
        language: &'s Language,
        budget: &'s mut Budget,
    ) -> Living<'s, 'r> {
        let with = |allows: bool| {
            let numbered = patterns.iter().enumerate();
            let same = numbered.filter(move |(_, (_, owner))| owner.allows == allows);
            same.map(|(number, _)| number).collect()
        };
        Living {
            by_verdict: [false, true].map(with),
            machine: Machine::new(Question::Rules, patterns.iter().copied()),
            patterns,
            language,
            budget,
        }
    }

    /// Determines whether the rule is needed that has the patterns `own` by number, and decides
    /// `path`.
    fn need(&mut self, own: &[usize], path: Vec<u8>) -> Need {
        let (_, owner) = self.patterns[own[0]];
        let Owner { rule, allows, .. } = owner;
        let mut suspect = Suspect { rule, allows, patterns: own, next: Vec::new() };
        match self.sign(&mut suspect, &path) {
            Ok(Sign::Needed) => return Need::Needed(path),
            Ok(Sign::Blocked(_) | Sign::Free) => {}
            Err(bound) => return Need::Unknown(bound),
        }
        match self.path_of_need(&mut suspect) {
            Ok(Some(path)) => Need::Needed(path),
            Ok(None) => Need::Redundant(suspect.next),
            Err(bound) => Need::Unknown(bound),
        }
    }

    /// Returns a path that the rule decides, and whose verdict changes without it.
    fn path_of_need(&mut self, suspect: &mut Suspect<'_>) -> Result<Option<Vec<u8>>, Bound> {
        let mut bound = None;
        for &own in suspect.patterns {
            // Without a next rule the path is allowed.
            let no_rule = (!suspect.allows).then_some(None);
            let opposite = &self.by_verdict[usize::from(!suspect.allows)];
            let behind = opposite.partition_point(|&other| other < own);
            let rivals: Vec<Option<_>> = opposite[behind..].iter().copied().map(Some).collect();
            for rival in no_rule.into_iter().chain(rivals) {
                match self.need_against(suspect, own, rival) {
                    Ok(None) => {}
                    Ok(found) => return Ok(found),
                    Err(reached) => bound = Some(reached),
                }
            }
        }
        bound.map_or(Ok(None), Err)
    }

    /// Returns a path that the rule of `own` decides, and that `rival`, or an earlier rule with the
    /// same verdict, decides without the rule.
    fn need_against(
        &mut self,
        suspect: &mut Suspect<'_>,
        own: usize,
        rival: Option<usize>,
    ) -> Result<Option<Vec<u8>>, Bound> {
        let mut avoided = Vec::new();
        loop {
            let wanted = Wanted {
                one: self.patterns[own].0,
                other: rival.map(|rival| self.patterns[rival].0),
                avoided: &avoided,
            };
            let Some(path) = find(wanted, self.language, self.budget)? else { return Ok(None) };
            match self.sign(suspect, &path)? {
                Sign::Needed => return Ok(Some(path)),
                Sign::Blocked(pattern) => avoided.push(self.patterns[pattern].0),
                Sign::Free => unreachable!("the rival has the other verdict"),
            }
        }
    }

    /// Returns the evidence of `path` about the rule.
    fn sign(&mut self, suspect: &mut Suspect<'_>, path: &[u8]) -> Result<Sign, Bound> {
        self.budget.check()?;
        let before = self.machine.work();
        let state = self.machine.walk(path);
        self.budget.spend(self.machine.work() - before, 0);
        let [best, next] = self.machine.best_at_end(state);
        if self.machine.owner(best).rule != suspect.rule {
            return Ok(Sign::Blocked(best as usize));
        }
        if self.machine.allows(next) != suspect.allows {
            return Ok(Sign::Needed);
        }
        let successor = (next != NO_PATTERN).then(|| self.machine.owner(next).rule);
        if !suspect.next.contains(&successor) {
            suspect.next.push(successor);
        }
        Ok(if next == NO_PATTERN { Sign::Free } else { Sign::Blocked(next as usize) })
    }
}

fn successor(rule: u32) -> Successor {
    match rule {
        ROBOTS_TXT_RULE => Successor::RobotsTxt,
        rule => Successor::Rule(RuleID(rule)),
    }
}
