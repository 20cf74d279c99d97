//! The effect of each rule of a rule set: whether it decides.
//!
//! For most rules one path is enough, the shortest that they match: the rule decides it. For the
//! other rules, paths that avoid the winners so far are searched. If the rule decides such a path,
//! it is a shortest one. If there is no such path, the avoided rules shadow the rule. Few rules are
//! avoided, so the automata stay small for any rule set. The winner on a path is the one that the
//! engine decides.

use std::array;
use std::collections::HashMap;

use portcullis_dialect::id::RuleID;
use portcullis_engine::pattern::Pattern;
use portcullis_engine::{Cache, RuleSetBuf, Settings};
use portcullis_robots::policy::OrderedRules;

use super::example::{PATH_BYTES_MAX, plain_path};
use super::language::Language;
use super::machine::{Machine, Owner};
use super::product::{Visit, Product};
use super::rules::{PatternRule, ROBOTS_TXT_RULE};
use super::{AnalysisLimits, Bound, Budget, Example, Rules};

/// The effect of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RuleStatus {
    /// The rule decides some URL: a shortest path that it decides.
    Decides(Example),
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

/// The decision that wins over a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Successor {
    /// Another rule.
    Rule(RuleID),
    /// The dialect, which always allows the URL of robots.txt.
    RobotsTxt,
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
/// let RuleStatus::Decides(example) = &statuses[3].status else { panic!() };
/// assert_eq!(example.path(), b"/b/c");
/// ```
pub fn statuses(rules: Rules<'_>, limits: &AnalysisLimits) -> Vec<RuleAndStatus> {
    statuses_within(rules, &mut Budget::new(limits, SEARCHES))
}

/// Like [`statuses`], within `budget`, of which one search may spend one part in [`SEARCHES`].
pub(crate) fn statuses_within(rules: Rules<'_>, budget: &mut Budget) -> Vec<RuleAndStatus> {
    let mut analysis = Analysis::new(rules, budget);
    let rules: Vec<RuleID> = analysis.units.iter().map(|unit| RuleID(unit.rule)).collect();
    let status = |(rule, unit)| RuleAndStatus { rule, status: analysis.status(unit) };
    rules.into_iter().zip(0..).map(status).collect()
}

/// A rule with its patterns.
struct Unit {
    rule: u32,
    allows: bool,
    /// Positions in the list of all patterns, ascending.
    patterns: Vec<usize>,
}

/// A pattern and its rule.
type Owned<'r> = (Pattern<'r>, PatternRule);

/// The paths on which a pattern wins.
enum Outcome {
    /// It wins on this path, and on no shorter one.
    Wins(Vec<u8>),
    /// It wins nowhere, because one of these patterns wins wherever it matches. Empty if it matches
    /// nowhere.
    Loses(Vec<usize>),
}

/// A search for an example may spend one part in this many of the remaining budget.
pub(crate) const SEARCHES: u32 = 16;

struct Analysis<'r, 'b> {
    patterns: Vec<Owned<'r>>,
    units: Vec<Unit>,
    /// The unit of each rule.
    unit_of: HashMap<u32, usize>,
    /// For each pattern: the first equal one.
    first_equal: HashMap<Pattern<'r>, usize>,
    language: &'static Language,
    rules: Rules<'r>,
    /// The rules without that of the dialect, to find winners.
    winners: Winners,
    budget: &'b mut Budget,
}

impl<'r, 'b> Analysis<'r, 'b> {
    fn new(rules: Rules<'r>, budget: &'b mut Budget) -> Analysis<'r, 'b> {
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
        Analysis {
            unit_of: units.iter().zip(0..).map(|(unit, index)| (unit.rule, index)).collect(),
            units,
            patterns,
            first_equal,
            language: Language::of(rules.paths.escapes),
            rules,
            winners: Winners::new(rules.ordered),
            budget,
        }
    }

    /// Determines whether a rule decides.
    fn status(&mut self, unit: usize) -> RuleStatus {
        if let Some(to) = self.repeated(unit) {
            return RuleStatus::Equal { to: RuleID(to) };
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
            (_, Some(bound)) => RuleStatus::Unknown(bound),
            (Some(path), None) => RuleStatus::Decides(Example::of(&self.language.written(&path))),
            (None, None) if winners.is_empty() => RuleStatus::NeverMatches,
            (None, None) => self.shadowed(unit, &winners),
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
            let wanted = Wanted { one: self.patterns[index].0, avoided: &[] };
            find(wanted, self.language, self.budget) != Ok(None)
        })
    }

    /// Determines where the pattern `own`, or another pattern of its rule, wins.
    fn outcome(&mut self, own: usize) -> Result<Outcome, Bound> {
        let (one, owner) = self.patterns[own];
        let (mut avoided, mut winners) = (Vec::new(), Vec::new());
        loop {
            let wanted = Wanted { one, avoided: &avoided };
            let Some(path) = find(wanted, self.language, self.budget)? else {
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
        if self.rules.paths.always_allows(path) {
            return Ok(0);
        }
        let own = self.winners.winner(path, self.budget)?.expect("a pattern matches the path");
        Ok(own + (self.patterns.len() - self.rules.ordered.patterns.len()))
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
        let wanted = Wanted { one: self.patterns[own].0, avoided: &avoided };
        find(wanted, self.language, self.budget) == Ok(None)
    }
}

fn successor(rule: u32) -> Successor {
    match rule {
        ROBOTS_TXT_RULE => Successor::RobotsTxt,
        rule => Successor::Rule(RuleID(rule)),
    }
}

/// The path to find.
#[derive(Clone, Copy, Debug)]
struct Wanted<'s, 'r> {
    /// A pattern that matches the path.
    one: Pattern<'r>,
    /// Patterns that do not match the path.
    avoided: &'s [Pattern<'r>],
}

/// Finds a shortest path of a URL that meets the conditions; `None` if there is none.
///
/// # Errors
///
/// The limit that ended the search.
fn find(
    wanted: Wanted<'_, '_>,
    language: &Language,
    budget: &mut Budget,
) -> Result<Option<Vec<u8>>, Bound> {
    if wanted.is_impossible() {
        return Ok(None);
    }
    if let Some(path) = wanted.plain_path(language) {
        return Ok(Some(path));
    }
    // A machine disallows the paths that its patterns match. Without patterns it allows everything.
    let owner = Owner { allows: false, counts: true };
    let machine =
        |patterns: &[Pattern<'_>]| Machine::new(patterns.iter().map(|&pattern| (pattern, owner)));
    let sides = [&[wanted.one][..], wanted.avoided];
    let allows = [false, true];
    let mut product = Product::new(sides.map(machine), language);
    let mut found = None;
    let bound = product.run(&budget.share(), |product, index, states| {
        let is_right: [bool; 2] = array::from_fn(|side| product.allow(states)[side] == allows[side]);
        if is_right == [true; 2] {
            found = Some(product.path(index));
            return Visit::Stop;
        }
        let is_settled: [bool; 2] = array::from_fn(|side| product.is_settled(side, states));
        let is_lost = (0..2).any(|side| is_settled[side] && !is_right[side]);
        if is_lost || is_settled == [true; 2] { Visit::Skip } else { Visit::Follow }
    });
    let built = sides.iter().copied().flatten().map(|pattern| pattern.bytes().len()).sum();
    product.charge(built, budget);
    match (found, bound) {
        (None, Some(bound)) => Err(budget.bound(bound)),
        (found, _) => Ok(found),
    }
}

impl Wanted<'_, '_> {
    /// Returns whether the bytes before the first star exclude every path.
    fn is_impossible(&self) -> bool {
        let one = self.one.prefix();
        let covers = |avoided: &Pattern<'_>| {
            let is_prefix = !avoided.has_stars() && !avoided.is_anchored();
            is_prefix && one.starts_with(avoided.bytes())
        };
        self.avoided.iter().any(covers)
    }

    /// Returns the pattern without its stars, if there is no other condition and the result is a
    /// path of a URL.
    fn plain_path(&self, language: &Language) -> Option<Vec<u8>> {
        if !self.avoided.is_empty() {
            return None;
        }
        let path = plain_path(&self.one);
        let is_found = language.contains(&path) && self.one.matches(&path);
        (path.len() <= PATH_BYTES_MAX && is_found).then_some(path)
    }
}

/// Steps of a scan that cost as much as a position of an analysis. Measured: a scan takes one to two
/// nanoseconds a step, an analysis twelve a position.
const SCAN_STEPS: u64 = 8;

/// Rules, compiled to decide paths.
pub(crate) struct Winners {
    rules: RuleSetBuf,
    settings: Settings,
    cache: Cache,
}

impl Winners {
    pub(crate) fn new(ordered: &OrderedRules) -> Winners {
        let rules = ordered.compile();
        Winners { rules, settings: Settings::default(), cache: Cache::default() }
    }

    /// Returns the position of the pattern that decides `path`; `None` if no pattern matches.
    ///
    /// # Errors
    ///
    /// If the budget does not suffice.
    pub(crate) fn winner(
        &mut self,
        path: &[u8],
        budget: &mut Budget,
    ) -> Result<Option<usize>, Bound> {
        budget.take(path.len() as u64)?;
        let before = self.steps();
        let outcome = self.rules.as_rule_set().decide(path, &self.settings, &mut self.cache);
        budget.take((self.steps() - before) / SCAN_STEPS)?;
        Ok(outcome.pattern())
    }

    fn steps(&self) -> u64 {
        let work = self.cache.work();
        work.scan_steps + work.rule_bytes
    }
}
