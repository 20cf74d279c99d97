//! The crawlers of files and the rules that apply to one, as patterns in order of precedence.
//!
//! A file may name thousands of crawlers, each with its own combination of groups. Facts about
//! a combination holds for all with the same rules, so rules go by their place in the combination:
//! equal combinations differ in the lines of their rules.

use std::collections::HashSet;
use std::sync::LazyLock;

use portcullis_dialect::{
    Decision, Dialect, PathRules, ROBOTS_TXT_PATH, Reason, RobotsTxtUrl, RuleID, Verdict,
};
use portcullis_engine::pattern::Pattern;
use portcullis_robots::policy::{Audience, Crawler, OrderedRules, robot_name};
use portcullis_robots::syntax::RobotsTxt;

use super::{Bound, Budget};
use crate::Map;

/// The rules that apply to one agent, and the dialect that reads them.
#[derive(Clone, Debug)]
pub struct Rules {
    /// The rules, ordered by `paths`.
    pub ordered: OrderedRules,
    /// The dialect's path rules.
    pub paths: &'static PathRules,
}

/// Returns the pattern that matches `/robots.txt` alone.
pub(super) fn robots_txt_pattern() -> Pattern<'static> {
    static TEXT: LazyLock<Vec<u8>> = LazyLock::new(|| [ROBOTS_TXT_PATH, b"$"].concat());
    Pattern::from_text(&TEXT, true)
}

impl Rules {
    /// Returns the rules of a combination of groups of `file`.
    pub fn new(file: &RobotsTxt<'_>, groups: &[usize], paths: &'static PathRules) -> Rules {
        Rules { ordered: OrderedRules::new(file, groups, paths), paths }
    }

    /// Returns all patterns in order of precedence, with what they decide. A dialect that always allows
    /// the URL of robots.txt has a pattern for it before all others.
    pub(super) fn ruled(&self) -> Ruled<'_> {
        let always = self.paths.robots_txt == RobotsTxtUrl::AlwaysAllowed;
        let of_dialect = always.then(|| (robots_txt_pattern(), true));
        let OrderedRules { patterns, verdicts, .. } = &self.ordered;
        let allows = verdicts.iter().map(|&verdict| verdict == Verdict::Allow);
        of_dialect.into_iter().chain(patterns.iter().zip(allows)).collect()
    }

    /// Decides a path by a scan of the rules; `otherwise` is the reason if none matches.
    pub(crate) fn decide(&self, path: &[u8], otherwise: Reason) -> Decision {
        if self.paths.always_allows(path) {
            return Decision::ROBOTS_TXT;
        }
        let OrderedRules { patterns, verdicts, rules, .. } = &self.ordered;
        match patterns.iter().position(|pattern| pattern.matches(path)) {
            None => Decision::without_rule(Verdict::Allow, otherwise),
            Some(index) => {
                let (verdict, rule) = (verdicts[index], Some(rules[index]));
                Decision { verdict, reason: Reason::Rule, rule, line: None }
            }
        }
    }
}

/// Patterns in order of precedence, each with whether it allows.
pub(super) type Ruled<'p> = Vec<(Pattern<'p>, bool)>;

/// Returns the crawlers that `files` name, each once, in the order and the spelling of their first
/// lines. A name that is not an agent in `dialect` is left out.
pub fn robots_named(files: &[&RobotsTxt<'_>], dialect: &Dialect) -> Vec<Crawler> {
    let mut robots: Vec<Crawler> = Vec::new();
    let mut known = HashSet::new();
    for line in files.iter().flat_map(|file| file.user_agents()) {
        let name = robot_name(line.value, dialect).and_then(|name| str::from_utf8(name).ok());
        if let Some(name) = name
            && known.insert(name.to_ascii_lowercase())
            && let Ok(robot) = Crawler::parse(name, dialect)
            // A `+` in a name would stand for two crawlers.
            && robot.tokens().count() == 1
        {
            robots.push(robot);
        }
    }
    robots
}

/// Returns the number of each group of `files`. Groups with the same rules in the same order, on
/// whatever lines, have one number, and the numbers of a combination are the key of what is known
/// about it.
pub(crate) fn numbers<const N: usize>(files: [&RobotsTxt<'_>; N]) -> [Vec<u32>; N] {
    let mut known: Map<Vec<(Verdict, &[u8])>, u32> = Map::default();
    files.map(|file| {
        let number = |group| {
            let next = known.len() as u32;
            let rules = file.rules_of(group).iter().map(|rule| (rule.verdict, rule.value));
            *known.entry(rules.collect()).or_insert(next)
        };
        file.groups().iter().map(number).collect()
    })
}

/// Returns the numbers of a combination of groups.
pub(crate) fn key(numbers: &[u32], groups: &[usize]) -> Vec<u32> {
    groups.iter().map(|&group| numbers[group]).collect()
}

/// A file whose groups are selected for many crawlers.
#[derive(Debug)]
pub struct Grouped<'f> {
    pub(crate) file: &'f RobotsTxt<'f>,
    pub(crate) dialect: &'static Dialect,
    pub(crate) audience: Audience,
}

impl<'f> Grouped<'f> {
    /// Reads the groups of a file that `dialect` parsed.
    pub fn new(file: &'f RobotsTxt<'f>, dialect: &'static Dialect) -> Grouped<'f> {
        Grouped { file, dialect, audience: Audience::of(file, dialect) }
    }

    /// Returns the rules of a combination of groups in order of precedence. They go by their places.
    ///
    /// # Errors
    ///
    /// If the budget does not suffice.
    pub(crate) fn ordered(&self, groups: &[usize], budget: &mut Budget) -> Result<Rules, Bound> {
        /// Bytes of rules that are ordered for the cost of one position, and the charge for a rule.
        const BYTES: usize = 4;
        const RULE: usize = 8;
        budget.check()?;
        let own = groups.iter().flat_map(|&group| self.file.rules_of(&self.file.groups()[group]));
        let bytes: usize = own.map(|rule| RULE + rule.value.len()).sum();
        budget.take((bytes / BYTES) as u64)?;
        let mut new = Rules::new(self.file, groups, &self.dialect.paths);
        let rules = self.rules(groups);
        for rule in &mut new.ordered.rules {
            let place = rules.binary_search(rule).expect("it is a rule of these groups");
            *rule = RuleID(place as u32);
        }
        Ok(new)
    }

    /// Returns the rules of a combination of groups, in file order.
    pub(crate) fn rules(&self, groups: &[usize]) -> Vec<RuleID> {
        groups.iter().flat_map(|&group| self.file.groups()[group].rule_ids()).collect()
    }

    /// Returns the rule at `place` among the rules of a combination of groups.
    pub(crate) fn rule_at(&self, groups: &[usize], RuleID(mut place): RuleID) -> RuleID {
        for &group in groups {
            let rules = &self.file.groups()[group].rules;
            if place < rules.len() as u32 {
                return RuleID(rules.start + place);
            }
            place -= rules.len() as u32;
        }
        unreachable!("the combination has so many rules")
    }
}
