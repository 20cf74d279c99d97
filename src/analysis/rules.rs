//! The rules that are analysed, with the rule that the dialect itself adds.

use std::sync::LazyLock;

use crate::decision::Verdict;
use crate::dialect::{PathRules, RobotsTxtUrl};
use crate::pattern::{PathPattern, PatternList};
use crate::policy::OrderedRules;
use crate::target::ROBOTS_TXT_PATH;

use super::positions::Owner;

/// The rules that one agent obeys, and the dialect that says what they mean.
#[derive(Clone, Copy, Debug)]
pub struct Rules<'r> {
    /// The rules, made with the same `paths`.
    pub ordered: &'r OrderedRules,
    /// The dialect's rules about rules.
    pub paths: &'r PathRules,
}

/// In the place of a rule: the dialect always allows the URL of robots.txt.
pub(super) const ROBOTS_TXT_RULE: u32 = u32::MAX;

/// The pattern of the rule that a dialect adds.
static ROBOTS_TXT: LazyLock<PatternList> = LazyLock::new(|| {
    let mut patterns = PatternList::new();
    patterns.push(&[ROBOTS_TXT_PATH, b"$"].concat(), true);
    patterns
});

impl<'r> Rules<'r> {
    /// All patterns in order of precedence, with the numbers of their rules in the file. A dialect
    /// that always allows the URL of robots.txt has a pattern for it before all others.
    pub(super) fn patterns(self) -> impl Iterator<Item = (PathPattern<'r>, Owner)> {
        let always = self.paths.robots_txt == RobotsTxtUrl::AlwaysAllowed;
        let owner = Owner { rule: ROBOTS_TXT_RULE, allows: true, counts: true };
        let dialect = always.then(|| (ROBOTS_TXT.get(0), owner));
        dialect.into_iter().chain(self.own_patterns())
    }

    /// The patterns of the file, in order of precedence.
    pub(super) fn own_patterns(self) -> impl Iterator<Item = (PathPattern<'r>, Owner)> {
        let OrderedRules { patterns, verdicts, rules, .. } = self.ordered;
        let owners = rules.iter().zip(verdicts).map(|(&rule, &verdict)| Owner {
            rule: rule.0,
            allows: verdict == Verdict::Allow,
            counts: true,
        });
        patterns.iter().zip(owners)
    }
}
