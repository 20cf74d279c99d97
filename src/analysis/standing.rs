//! What each rule of a rule set is there for.
//!
//! Most rules are settled by one path, the shortest that they match: if a rule decides it, and another
//! verdict came without the rule, nothing is left to ask. For the others paths are sought that avoid
//! what won so far: if one is left that the rule decides, it is a shortest; if none is, those that were
//! avoided are what shadows it. Of the rules that decide it is then asked whether they are needed
//! ([`need`](super::need)), among each other only.

use std::collections::HashMap;

use crate::id::RuleID;
use crate::pattern::PathPattern;

use super::budget::Budget;
use super::language::Language;
use super::machine::Machine;
use super::need::{Living, Need};
use super::positions::{Owner, Positions, Question};
use super::rules::ROBOTS_TXT_RULE;
use super::seek::{Wanted, seek};
use super::{Bound, Example, Limits, Rules};

/// What a rule is there for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It decides some URL, and without it some URL has another verdict.
    Decides {
        /// A shortest path that it decides.
        example: Example,
        /// A path whose verdict changes without it: the example if that is one. Or the limit that
        /// ended the search for one, and then it may be redundant.
        needed: Result<Example, Bound>,
    },
    /// It decides some URL, but every URL has the same verdict without it.
    ///
    /// Rules that never decide are left out before this is asked, so of two equal rules one is needed.
    /// Of several redundant rules only one may be taken away before asking again.
    Redundant {
        /// A shortest path that it decides.
        example: Example,
        /// Who decides in its place, as far as met.
        taken_over_by: Vec<Successor>,
    },
    /// No URL has a path that it matches.
    NeverMatches,
    /// It never decides, because another rule that goes before it matches the same paths and says the
    /// same.
    Equal {
        /// That rule.
        to: RuleID,
    },
    /// It never decides, because wherever it matches others win.
    Shadowed {
        /// They: one, if one was found that matches wherever it does; else those that share the paths
        /// that it matches.
        by: Vec<Successor>,
    },
    /// A limit ended the search for a path that it decides.
    Unknown(Bound),
}

/// What decides in the place of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Successor {
    /// Another rule.
    Rule(RuleID),
    /// The dialect, which always allows the URL of robots.txt.
    RobotsTxt,
    /// No rule, so all is allowed.
    NoRule,
}

/// The standing of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleStanding {
    /// The rule.
    pub rule: RuleID,
    /// Its standing.
    pub standing: Standing,
}

/// The standing of each rule among `rules`, in file order. Rules without a pattern, which match
/// nothing, are not among them.
///
/// ```
/// use portcullis::analysis::{Limits, Rules, Standing, Successor, standings};
/// use portcullis::dialect::RFC_9309;
/// use portcullis::id::RuleID;
/// use portcullis::policy::OrderedRules;
/// use portcullis::syntax::RobotsTxt;
///
/// let text = b"User-agent: *\nDisallow: /a\nAllow: /a\nDisallow: /b\nDisallow: /b/c\n";
/// let file = RobotsTxt::parse(text, &RFC_9309, None);
/// let ordered = OrderedRules::new(&file, &[0], &RFC_9309.paths);
/// let rules = Rules { ordered: &ordered, paths: &RFC_9309.paths };
/// let standings = standings(rules, &Limits::default());
/// let by = vec![Successor::Rule(RuleID(1))];
/// assert_eq!(standings[0].standing, Standing::Shadowed { by });
/// let Standing::Redundant { taken_over_by, .. } = &standings[3].standing else { panic!() };
/// assert_eq!(taken_over_by[..], [Successor::Rule(RuleID(2))]);
/// ```
pub fn standings(rules: Rules<'_>, limits: &Limits) -> Vec<RuleStanding> {
    let mut inquiry = Inquiry::new(rules, limits);
    let fates: Vec<Fate> = (0..inquiry.units.len()).map(|unit| inquiry.fate(unit)).collect();
    let standings = inquiry.needs(fates);
    let ids = inquiry.units.iter().map(|unit| RuleID(unit.rule));
    ids.zip(standings).map(|(rule, standing)| RuleStanding { rule, standing }).collect()
}

/// The rules among `rules` that never decide, and those of which a limit leaves it open, in file order:
/// the [`standings`] that are [`Standing::NeverMatches`], [`Standing::Equal`], [`Standing::Shadowed`] or
/// [`Standing::Unknown`]. It costs a part of what those cost, since nobody asks what the other rules
/// are needed for.
pub fn never_deciding(rules: Rules<'_>, limits: &Limits) -> Vec<RuleStanding> {
    let mut inquiry = Inquiry::new(rules, limits);
    let mut found = Vec::new();
    for unit in 0..inquiry.units.len() {
        let standing = match inquiry.fate(unit) {
            Fate::Decides(_) => continue,
            Fate::Never(standing) => standing,
            Fate::Unknown(bound) => Standing::Unknown(bound),
        };
        found.push(RuleStanding { rule: RuleID(inquiry.units[unit].rule), standing });
    }
    found
}

/// A rule of the file with its patterns.
struct Unit {
    rule: u32,
    allows: bool,
    /// Positions in the list of all patterns, ascending.
    patterns: Vec<usize>,
}

/// A pattern and what it belongs to.
pub(super) type Owned<'r> = (PathPattern<'r>, Owner);

/// Whether a rule decides.
enum Fate {
    /// This path, and none that is shorter.
    Decides(Vec<u8>),
    /// Never.
    Never(Standing),
    Unknown(Bound),
}

/// Where a pattern wins.
enum Outcome {
    /// On this path, and on none that is shorter.
    Wins(Vec<u8>),
    /// Nowhere: wherever it matches, one of these patterns wins; none of them if it matches nowhere.
    Loses(Vec<usize>),
}

struct Inquiry<'r> {
    patterns: Vec<Owned<'r>>,
    units: Vec<Unit>,
    /// By rule: its unit.
    unit_of: HashMap<u32, usize>,
    /// By what a pattern is: the first that is so.
    first_equal: HashMap<Vec<u8>, usize>,
    language: Language,
    machine: Machine,
    budget: Budget,
}

impl<'r> Inquiry<'r> {
    fn new(rules: Rules<'r>, limits: &Limits) -> Inquiry<'r> {
        let patterns: Vec<Owned<'r>> = rules.patterns().collect();
        let mut by_rule: HashMap<u32, Vec<usize>> = HashMap::new();
        let mut first_equal = HashMap::new();
        for (index, (pattern, owner)) in patterns.iter().enumerate() {
            first_equal.entry(identity(pattern)).or_insert(index);
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
        let machine = Machine::new(Positions::new(Question::Rule, patterns.iter().copied()));
        Inquiry {
            unit_of: units.iter().zip(0..).map(|(unit, index)| (unit.rule, index)).collect(),
            units,
            patterns,
            first_equal,
            language: Language::new(rules.paths.escapes),
            machine,
            budget: Budget::new(limits),
        }
    }

    /// Whether a rule decides.
    fn fate(&mut self, unit: usize) -> Fate {
        if let Some(to) = self.repeated(unit) {
            return Fate::Never(Standing::Equal { to: RuleID(to) });
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
            (None, None) if winners.is_empty() => Fate::Never(Standing::NeverMatches),
            (None, None) => Fate::Never(self.shadowed(unit, &winners)),
        }
    }

    /// The rule that goes before this one with the same patterns and verdict, if there is one.
    fn repeated(&mut self, unit: usize) -> Option<u32> {
        let first_of = |&index: &usize| {
            let (pattern, owner) = &self.patterns[index];
            let (_, first) = self.patterns[self.first_equal[&identity(pattern)]];
            let same = first.allows == owner.allows && first.rule != owner.rule;
            (same && first.rule != ROBOTS_TXT_RULE).then_some(first.rule)
        };
        let own = self.units[unit].patterns.clone();
        let rule = first_of(&own[0])?;
        let all_same = own.iter().all(|index| first_of(index) == Some(rule));
        let as_many = self.units[self.unit_of[&rule]].patterns.len() == own.len();
        (all_same && as_many && self.can_match(&own)).then_some(rule)
    }

    /// Whether a URL can have a path that one of the patterns matches. Where that is not known, it is
    /// taken to be so.
    fn can_match(&mut self, patterns: &[usize]) -> bool {
        patterns.iter().any(|&index| {
            let wanted = Wanted { one: self.patterns[index].0, other: None, avoided: &[] };
            seek(wanted, &self.language, &mut self.budget) != Ok(None)
        })
    }

    /// Where the pattern `own` wins, paths aside that another of its rule wins.
    fn outcome(&mut self, own: usize) -> Result<Outcome, Bound> {
        let (one, owner) = self.patterns[own];
        let (mut avoided, mut winners) = (Vec::new(), Vec::new());
        loop {
            let wanted = Wanted { one, other: None, avoided: &avoided };
            let Some(path) = seek(wanted, &self.language, &mut self.budget)? else {
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

    /// The pattern that decides `path`, which some pattern matches.
    fn winner(&mut self, path: &[u8]) -> Result<usize, Bound> {
        self.budget.check()?;
        let before = self.machine.work();
        let state = self.machine.walk(path);
        self.budget.spend(self.machine.work() - before, 0);
        Ok(self.machine.best_at_end(state)[0] as usize)
    }

    /// The standing of a rule that loses to one of the patterns `winners` wherever it matches.
    fn shadowed(&mut self, unit: usize, winners: &[usize]) -> Standing {
        let alone = winners.iter().find(|&&winner| self.covers(winner, unit)).copied();
        let Some(winner) = alone else {
            let mut by: Vec<Successor> = Vec::new();
            for &winner in winners {
                let successor = successor(self.patterns[winner].1.rule);
                if !by.contains(&successor) {
                    by.push(successor);
                }
            }
            return Standing::Shadowed { by };
        };
        let (_, owner) = self.patterns[winner];
        let (own, other) = (&self.units[unit], self.unit_of.get(&owner.rule));
        let single = |unit: &Unit| unit.patterns.len() == 1;
        let says_same = single(own)
            && owner.allows == own.allows
            && other.is_some_and(|&other| single(&self.units[other]));
        let first = own.patterns[0];
        match says_same && self.covers_pattern(first, winner) {
            true => Standing::Equal { to: RuleID(owner.rule) },
            false => Standing::Shadowed { by: vec![successor(owner.rule)] },
        }
    }

    /// Whether the pattern `covering` goes before those of `unit` and matches wherever one of them does.
    /// It is not, if that takes too long to find out.
    fn covers(&mut self, covering: usize, unit: usize) -> bool {
        let own = self.units[unit].patterns.clone();
        covering < own[0] && own.iter().all(|&own| self.covers_pattern(covering, own))
    }

    fn covers_pattern(&mut self, covering: usize, own: usize) -> bool {
        let avoided = [self.patterns[covering].0];
        let wanted = Wanted { one: self.patterns[own].0, other: None, avoided: &avoided };
        seek(wanted, &self.language, &mut self.budget) == Ok(None)
    }

    /// The standings, when it is known which rules decide.
    fn needs(&mut self, fates: Vec<Fate>) -> Vec<Standing> {
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
        let standing = |(fate, unit): (Fate, &Unit)| match fate {
            Fate::Never(standing) => standing,
            Fate::Unknown(bound) => Standing::Unknown(bound),
            Fate::Decides(path) => {
                let decided = example(&path);
                match living.need(&own[&unit.rule], path) {
                    Need::Needed(path) => {
                        Standing::Decides { example: decided, needed: Ok(example(&path)) }
                    }
                    Need::Redundant(next) => {
                        let by = next.into_iter();
                        let by = by.map(|rule| rule.map_or(Successor::NoRule, successor));
                        Standing::Redundant { example: decided, taken_over_by: by.collect() }
                    }
                    Need::Unknown(bound) => {
                        Standing::Decides { example: decided, needed: Err(bound) }
                    }
                }
            }
        };
        fates.into_iter().zip(&self.units).map(standing).collect()
    }
}

/// What two patterns have in common exactly if they are equal.
fn identity(pattern: &PathPattern<'_>) -> Vec<u8> {
    let mut identity = Vec::new();
    pattern.write_identity(&mut identity);
    identity
}

fn successor(rule: u32) -> Successor {
    match rule {
        ROBOTS_TXT_RULE => Successor::RobotsTxt,
        rule => Successor::Rule(RuleID(rule)),
    }
}
