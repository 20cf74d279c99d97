//! The effect of each rule of a rule set: whether it decides.
//!
//! For most rules one path is enough, the shortest that they match: the rule decides it. For the
//! other rules, paths that avoid the winners so far are searched. If the rule decides such a path,
//! it is a shortest one. If there is no such path, the avoided rules shadow the rule. Few rules are
//! avoided, so the automata stay small for any rule set. The winner on a path is the one that the
//! engine decides.

use std::collections::{BTreeMap, HashMap};

use portcullis_dialect::{RuleID, Verdict};
use portcullis_engine::pattern::Pattern;
use portcullis_engine::{Cache, RuleSetBuf, Settings};
use portcullis_robots::policy::OrderedRules;

use super::language::{Language, plain_path};
use super::machine::{Machine, Owner};
use super::product::Product;
use super::rules::Ruled;
use super::{Bound, Budget, Rules};

/// The effect of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RuleStatus {
    /// The rule decides some URL: a path that it decides, as a URL has it.
    Decides(Vec<u8>),
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
        /// its paths. `None` is the dialect, which always allows the URL of robots.txt.
        by: Vec<Option<RuleID>>,
    },
    /// A limit ended the search for a path that the rule decides.
    Unknown(Bound),
}

/// Returns the status of each rule among `rules`, in file order. Rules without a pattern are left
/// out.
///
/// ```
/// use portcullis_lint::analysis::{Budget, Rules, RuleStatus, statuses};
/// use portcullis_dialect::dialect::RFC_9309;
/// use portcullis_dialect::{RuleID, Verdict};
/// use portcullis_robots::syntax::RobotsTxt;
///
/// let text = b"User-agent: *\nDisallow: /a\nAllow: /a\nDisallow: /b\nDisallow: /b/c\n";
/// let file = RobotsTxt::parse(text, &RFC_9309, None);
/// let rules = Rules::new(&file, &[0], &RFC_9309.paths);
/// let statuses = statuses(&rules, &mut Budget::default());
/// assert_eq!(statuses[0].1, RuleStatus::Shadowed { by: vec![Some(RuleID(1))] });
/// assert_eq!(statuses[3].1, RuleStatus::Decides(b"/b/c".to_vec()));
/// ```
pub fn statuses(rules: &Rules, budget: &mut Budget) -> Vec<(RuleID, RuleStatus)> {
    Analysis::new(rules, budget).statuses()
}

/// A search for an example may spend one part in this many of the remaining budget.
pub(super) const SEARCHES: u64 = 16;

/// Steps of a scan that cost as much as a position of an analysis. Measured: a scan takes one to two
/// nanoseconds a step, an analysis twelve a position.
const SCAN_STEPS: u64 = 8;

/// The patterns of a rule set, and the rules compiled to decide paths.
pub(crate) struct Analysis<'r, 'b> {
    patterns: Ruled<'r>,
    /// How many of them, the first ones, are the dialect's.
    of_dialect: usize,
    /// The positions of the patterns of each rule, ascending.
    of_rules: BTreeMap<RuleID, Vec<usize>>,
    /// For each pattern: the first equal one.
    first_equal: HashMap<Pattern<'r>, usize>,
    language: &'static Language,
    rules: &'r Rules,
    /// The rules without that of the dialect, to find winners.
    compiled: RuleSetBuf,
    cache: Cache,
    budget: &'b mut Budget,
}

impl<'r, 'b> Analysis<'r, 'b> {
    pub(crate) fn new(rules: &'r Rules, budget: &'b mut Budget) -> Analysis<'r, 'b> {
        let patterns = rules.ruled();
        let of_dialect = patterns.len() - rules.ordered.patterns.len();
        let (mut of_rules, mut first_equal) = (BTreeMap::<_, Vec<usize>>::new(), HashMap::new());
        for (index, &(pattern, _)) in patterns.iter().enumerate() {
            first_equal.entry(pattern).or_insert(index);
        }
        for (index, &rule) in (of_dialect..).zip(&rules.ordered.rules) {
            of_rules.entry(rule).or_default().push(index);
        }
        Analysis {
            of_rules,
            of_dialect,
            patterns,
            first_equal,
            language: Language::of(rules.paths.escapes),
            rules,
            compiled: rules.ordered.compile(),
            cache: Cache::default(),
            budget,
        }
    }

    /// Returns the status of each rule.
    pub(crate) fn statuses(&mut self) -> Vec<(RuleID, RuleStatus)> {
        let of_rules = self.of_rules.clone();
        let mut status = |own: &[usize]| self.status(own).unwrap_or_else(RuleStatus::Unknown);
        of_rules.into_iter().map(|(rule, own)| (rule, status(&own))).collect()
    }

    /// Returns the path that `rule` is written with, and the rule that disallows it, if one does.
    ///
    /// # Errors
    ///
    /// If the budget does not suffice.
    pub(crate) fn defeat(&mut self, rule: RuleID) -> Result<Option<(RuleID, Vec<u8>)>, Bound> {
        let OrderedRules { verdicts, rules, .. } = &self.rules.ordered;
        let path = plain_path(&self.patterns[self.of_rules[&rule][0]].0);
        let winner = self.decide(&path)?.filter(|&winner| verdicts[winner] != Verdict::Allow);
        Ok(winner.map(|winner| (rules[winner], path)))
    }

    /// Returns the rule of a pattern; `None` for the dialect, which always allows the URL of robots.txt.
    fn rule_of(&self, index: usize) -> Option<RuleID> {
        Some(self.rules.ordered.rules[index.checked_sub(self.of_dialect)?])
    }

    /// Determines whether the rule with the patterns `own` decides.
    fn status(&mut self, own: &[usize]) -> Result<RuleStatus, Bound> {
        if let Some(to) = self.repeated(own) {
            return Ok(RuleStatus::Equal { to });
        }
        let mut winners = Vec::new();
        for &own in own {
            if let Some(path) = self.wins(own, &mut winners)? {
                return Ok(RuleStatus::Decides(self.language.written(&path)));
            }
        }
        Ok(match winners.is_empty() {
            true => RuleStatus::NeverMatches,
            false => self.shadowed(own, &winners),
        })
    }

    /// Returns an earlier rule with the same patterns and verdict, if there is one.
    fn repeated(&mut self, own: &[usize]) -> Option<RuleID> {
        let first_of = |&index: &usize| {
            let (pattern, allows) = self.patterns[index];
            let first = self.first_equal[&pattern];
            let rule = self.rule_of(first).filter(|_| self.patterns[first].1 == allows);
            rule.filter(|_| rule != self.rule_of(index))
        };
        let rule = first_of(&own[0])?;
        let all_same = own.iter().all(|index| first_of(index) == Some(rule));
        let as_many = self.of_rules[&rule].len() == own.len();
        // A pattern that matches nothing has another status.
        (all_same && as_many && own.iter().any(|&own| self.find(own, &[]) != Ok(None)))
            .then_some(rule)
    }

    /// Returns a shortest path on which the pattern `own`, or another pattern of its rule, wins. If there
    /// is none, one of the patterns that are added to `winners` wins wherever it matches.
    fn wins(&mut self, own: usize, winners: &mut Vec<usize>) -> Result<Option<Vec<u8>>, Bound> {
        let mut avoided = Vec::new();
        while let Some(path) = self.find(own, &avoided)? {
            let winner = self.winner(&path)?;
            if self.rule_of(winner) == self.rule_of(own) {
                return Ok(Some(path));
            }
            avoided.push(self.patterns[winner].0);
            winners.push(winner);
        }
        Ok(None)
    }

    /// Returns the pattern that decides `path`, which at least one pattern matches.
    fn winner(&mut self, path: &[u8]) -> Result<usize, Bound> {
        if self.rules.paths.always_allows(path) {
            return Ok(0);
        }
        Ok(self.decide(path)?.expect("a pattern matches the path") + self.of_dialect)
    }

    /// Returns the position of the rule that decides `path`, if one does. That of the dialect is not asked.
    fn decide(&mut self, path: &[u8]) -> Result<Option<usize>, Bound> {
        let steps = |cache: &Cache| cache.work().scan_steps + cache.work().rule_bytes;
        self.budget.take(path.len() as u64)?;
        let before = steps(&self.cache);
        let rules = self.compiled.as_rule_set();
        let outcome = rules.decide(path, &Settings::default(), &mut self.cache);
        self.budget.take((steps(&self.cache) - before) / SCAN_STEPS)?;
        Ok(outcome.pattern())
    }

    /// Returns the status of a rule with the patterns `own` that loses to one of the patterns
    /// `winners` wherever it matches.
    fn shadowed(&mut self, own: &[usize], winners: &[usize]) -> RuleStatus {
        let mut covers =
            |winner: usize| winner < own[0] && own.iter().all(|&own| self.covers(winner, own));
        let Some(winner) = winners.iter().copied().find(|&winner| covers(winner)) else {
            let mut by = Vec::new();
            for &winner in winners {
                let rule = self.rule_of(winner);
                if !by.contains(&rule) {
                    by.push(rule);
                }
            }
            return RuleStatus::Shadowed { by };
        };
        let rule = self.rule_of(winner);
        let is_single = |rule: &RuleID| self.of_rules[rule].len() == 1;
        let alike = self.patterns[winner].1 == self.patterns[own[0]].1 && own.len() == 1;
        match rule.filter(|rule| alike && is_single(rule)) {
            Some(to) if self.covers(own[0], winner) => RuleStatus::Equal { to },
            _ => RuleStatus::Shadowed { by: vec![rule] },
        }
    }

    /// Returns whether the pattern `covering` matches wherever `own` does, as far as the limits show.
    fn covers(&mut self, covering: usize, own: usize) -> bool {
        self.find(own, &[self.patterns[covering].0]) == Ok(None)
    }

    /// Finds a shortest path of a URL that the pattern `own` matches and none of `avoided` does.
    fn find(&mut self, own: usize, avoided: &[Pattern<'r>]) -> Result<Option<Vec<u8>>, Bound> {
        let one = self.patterns[own].0;
        // The bytes before the first star may exclude every path.
        let is_covered = |avoided: &Pattern<'_>| {
            let is_prefix = !avoided.has_stars() && !avoided.is_anchored();
            is_prefix && one.prefix().starts_with(avoided.bytes())
        };
        if avoided.iter().any(is_covered) {
            return Ok(None);
        }
        let plain = plain_path(&one);
        if avoided.is_empty() && self.language.contains(&plain) && one.matches(&plain) {
            return Ok(Some(plain));
        }
        // A machine disallows the paths that its patterns match. Without patterns it allows everything.
        let owner = Owner { allows: false, counts: true };
        let machine = |patterns: &[Pattern<'_>]| {
            Machine::new(patterns.iter().map(|&pattern| (pattern, owner)))
        };
        let product = Product::new([&[one][..], avoided].map(machine), self.language);
        let [found] = self.budget.find(SEARCHES, product, [[false, true]], 1);
        found
    }
}
