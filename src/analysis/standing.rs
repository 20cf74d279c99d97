//! What each rule of a rule set is there for.
//!
//! Most rules are settled by one path, the shortest that they match: if a rule decides it, and another
//! verdict came without the rule, nothing is left to ask. Only the others are searched for, each along
//! the paths that it matches ([`contest`]), and of those that decide, what takes over where they do
//! ([`need`]). What is built for one search serves the next.

use std::collections::HashMap;

use crate::id::RuleID;

use super::budget::Budget;
use super::contest::{Outcome, Owned, contest, covers, shortest};
use super::language::Language;
use super::machine::Machine;
use super::need::{Need, need};
use super::positions::{Positions, Question};
use super::rules::ROBOTS_TXT_RULE;
use super::{Bound, Example, Limits, Rules};

/// What a rule is there for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It decides some URL, and without it some URL has another verdict.
    Decides {
        /// A shortest path that it decides.
        example: Example,
        /// A shortest path whose verdict changes without it; or the limit that ended the search for
        /// one, and then it may be redundant.
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
        /// They: one, if one matches wherever it does and was found; else those that share the paths
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

/// A rule of the file with its patterns.
struct Unit {
    rule: u32,
    allows: bool,
    /// Positions in the list of all patterns, ascending.
    patterns: Vec<usize>,
}

/// Whether a rule decides.
enum Fate {
    /// This path, and none that is shorter.
    Decides(Vec<u8>),
    /// Never.
    Never(Standing),
    Unknown(Bound),
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
            let mut identity = Vec::new();
            pattern.write_identity(&mut identity);
            first_equal.entry(identity).or_insert(index);
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

    fn own_patterns(&self, unit: usize) -> Vec<Owned<'r>> {
        self.units[unit].patterns.iter().map(|&index| self.patterns[index]).collect()
    }

    /// Whether a rule decides.
    fn fate(&mut self, unit: usize) -> Fate {
        let own = self.own_patterns(unit);
        let rule = self.units[unit].rule;
        let path = match self.shortest_of(&own) {
            Ok(Some(path)) => path,
            Ok(None) => return Fate::Never(Standing::NeverMatches),
            Err(bound) => return Fate::Unknown(bound),
        };
        if let Some(to) = self.repeated(unit) {
            return Fate::Never(Standing::Equal { to: RuleID(to) });
        }
        let Some(winner) = self.winner(&path) else {
            return Fate::Unknown(self.budget.bound(Bound::Positions(0)));
        };
        if self.patterns[winner].1.rule == rule {
            return Fate::Decides(path);
        }
        if let Some(standing) = self.covered(unit, &own, winner) {
            return Fate::Never(standing);
        }
        let Inquiry { machine, language, budget, .. } = self;
        match contest(machine, &own, rule, language, budget) {
            Outcome::Wins(path) => Fate::Decides(path),
            Outcome::Loses(winners) => Fate::Never(self.shadowed(unit, &own, &winners)),
            Outcome::Unknown(bound) => Fate::Unknown(bound),
        }
    }

    /// A shortest path that one of the patterns matches.
    fn shortest_of(&mut self, own: &[Owned<'r>]) -> Result<Option<Vec<u8>>, Bound> {
        let mut best: Option<Vec<u8>> = None;
        for &owned in own {
            let path = shortest(owned, &self.language, &mut self.budget)?;
            let length = |path: &Option<Vec<u8>>| path.as_ref().map_or(usize::MAX, Vec::len);
            if length(&path) < length(&best) {
                best = path;
            }
        }
        Ok(best)
    }

    /// The rule that goes before this one with the same patterns and verdict, if there is one.
    fn repeated(&self, unit: usize) -> Option<u32> {
        let mut other: Option<u32> = None;
        for &index in &self.units[unit].patterns {
            let (pattern, owner) = &self.patterns[index];
            let mut identity = Vec::new();
            pattern.write_identity(&mut identity);
            let (_, first) = self.patterns[self.first_equal[&identity]];
            let same = first.allows == owner.allows && first.rule != owner.rule;
            if !same || first.rule == ROBOTS_TXT_RULE || other.is_some_and(|it| it != first.rule) {
                return None;
            }
            other = Some(first.rule);
        }
        let patterns = |rule: u32| self.units[self.unit_of[&rule]].patterns.len();
        other.filter(|&rule| patterns(rule) == self.units[unit].patterns.len())
    }

    /// The pattern that decides `path`, which some pattern matches; nothing if there is nothing left
    /// to spend.
    fn winner(&mut self, path: &[u8]) -> Option<usize> {
        let before = self.machine.work();
        let exhausted = self.budget.share().positions_max == 0;
        let state = (!exhausted).then(|| self.machine.walk(path))?;
        self.budget.spend(self.machine.work() - before, 0);
        Some(self.machine.best_at_end(state)[0] as usize)
    }

    /// The standing of a rule that loses to the pattern at `winner` wherever it matches, if it does.
    fn covered(&mut self, unit: usize, own: &[Owned<'r>], winner: usize) -> Option<Standing> {
        if winner > self.units[unit].patterns[0] {
            return None;
        }
        let (covering, owner) = self.patterns[winner];
        let Inquiry { language, budget, .. } = self;
        let mut is_covered =
            |&(pattern, _): &Owned<'r>| covers(covering, pattern, language, budget) == Some(true);
        if !own.iter().all(&mut is_covered) {
            return None;
        }
        let other = self.unit_of.get(&owner.rule).copied();
        let both_single =
            own.len() == 1 && other.is_some_and(|other| self.units[other].patterns.len() == 1);
        let says_same = owner.allows == self.units[unit].allows;
        let is_equal = says_same
            && both_single
            && covers(own[0].0, covering, &self.language, &mut self.budget) == Some(true);
        Some(match is_equal {
            true => Standing::Equal { to: RuleID(owner.rule) },
            false => Standing::Shadowed { by: vec![successor(owner.rule)] },
        })
    }

    /// The standing of a rule that loses to one of `winners` wherever it matches.
    fn shadowed(&mut self, unit: usize, own: &[Owned<'r>], winners: &[u32]) -> Standing {
        for winner in winners {
            let Some(&other) = self.unit_of.get(winner) else { continue };
            for index in self.units[other].patterns.clone() {
                if let Some(standing) = self.covered(unit, own, index) {
                    return standing;
                }
            }
        }
        Standing::Shadowed { by: winners.iter().map(|&rule| successor(rule)).collect() }
    }

    /// The standings, when it is known which rules decide.
    fn needs(&mut self, fates: Vec<Fate>) -> Vec<Standing> {
        let lives: Vec<bool> = fates.iter().map(|fate| !matches!(fate, Fate::Never(_))).collect();
        let is_kept =
            |(_, owner): &Owned<'r>| self.unit_of.get(&owner.rule).is_none_or(|&unit| lives[unit]);
        let kept = self.patterns.iter().copied().filter(is_kept);
        let mut machine = Machine::new(Positions::new(Question::RuleAndNext, kept));
        let standing = |(fate, unit): (Fate, &Unit)| match fate {
            Fate::Never(standing) => standing,
            Fate::Unknown(bound) => Standing::Unknown(bound),
            Fate::Decides(path) => {
                let example = Example::of(&self.language.written(&path));
                match need_of(unit, path, &mut machine, &self.language, &mut self.budget) {
                    Need::Needed(path) => {
                        let needed = Ok(Example::of(&self.language.written(&path)));
                        Standing::Decides { example, needed }
                    }
                    Need::Redundant(next) => {
                        let successor =
                            |rule: Option<u32>| rule.map_or(Successor::NoRule, successor);
                        let taken_over_by = next.into_iter().map(successor).collect();
                        Standing::Redundant { example, taken_over_by }
                    }
                    Need::Unknown(bound) => Standing::Decides { example, needed: Err(bound) },
                }
            }
        };
        fates.into_iter().zip(&self.units).map(standing).collect()
    }
}

/// What a rule is there for whose shortest path is `path`: most are needed for that one.
fn need_of(
    unit: &Unit,
    path: Vec<u8>,
    machine: &mut Machine,
    language: &Language,
    budget: &mut Budget,
) -> Need {
    if budget.share().positions_max == 0 {
        return Need::Unknown(budget.bound(Bound::Positions(0)));
    }
    let before = machine.work();
    let state = machine.walk(&path);
    budget.spend(machine.work() - before, 0);
    let [_, next] = machine.best_at_end(state);
    match machine.allows([next, next]) != unit.allows {
        true => Need::Needed(path),
        false => need(machine, unit.rule, unit.allows, language, budget),
    }
}

fn successor(rule: u32) -> Successor {
    match rule {
        ROBOTS_TXT_RULE => Successor::RobotsTxt,
        rule => Successor::Rule(RuleID(rule)),
    }
}
