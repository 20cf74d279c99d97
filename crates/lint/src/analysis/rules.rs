//! The rules that apply to one robot, as patterns in order of precedence, and the robots of files.

use std::collections::HashSet;
use std::sync::LazyLock;

use portcullis_dialect::decision::Verdict;
use portcullis_dialect::dialect::{Dialect, PathRules, ROBOTS_TXT_PATH, RobotsTxtUrl};
use portcullis_dialect::id::RuleID;
use portcullis_engine::pattern::Pattern;
use portcullis_robots::policy::{AgentChain, OrderedRules, robot_name};
use portcullis_robots::syntax::RobotsTxt;

/// The rules that apply to one agent, and the dialect that reads them.
#[derive(Clone, Copy, Debug)]
pub struct Rules<'r> {
    /// The rules, ordered by `paths`.
    pub ordered: &'r OrderedRules,
    /// The dialect's path rules.
    pub paths: &'r PathRules,
}

/// Returns the pattern that matches `/robots.txt` alone.
pub(super) fn robots_txt_pattern() -> Pattern<'static> {
    static TEXT: LazyLock<Vec<u8>> = LazyLock::new(|| [ROBOTS_TXT_PATH, b"$"].concat());
    Pattern::of_text(&TEXT, true)
}

impl<'r> Rules<'r> {
    /// Returns whether both have the same patterns with the same verdicts, and so decide alike.
    pub(super) fn is_same(self, other: Rules<'_>) -> bool {
        self.paths.robots_txt == other.paths.robots_txt
            && self.ordered.patterns == other.ordered.patterns
            && self.ordered.verdicts == other.ordered.verdicts
    }

    /// Returns all patterns in order of precedence, with their rules. A dialect that always allows
    /// the URL of robots.txt has a pattern for it before all others.
    pub(super) fn patterns(self) -> impl Iterator<Item = (Pattern<'r>, PatternRule)> {
        let always = self.paths.robots_txt == RobotsTxtUrl::AlwaysAllowed;
        let owner = PatternRule { rule: None, allows: true };
        let dialect = always.then(|| (robots_txt_pattern(), owner));
        let OrderedRules { patterns, verdicts, rules, .. } = self.ordered;
        let owner = |(&rule, &verdict): (&RuleID, &Verdict)| PatternRule {
            rule: Some(rule),
            allows: verdict == Verdict::Allow,
        };
        dialect.into_iter().chain(patterns.iter().zip(rules.iter().zip(verdicts).map(owner)))
    }
}

/// The rule of a pattern.
#[derive(Clone, Copy, Debug)]
pub(super) struct PatternRule {
    /// `None` for the dialect, which always allows the URL of robots.txt.
    pub rule: Option<RuleID>,
    pub allows: bool,
}

/// Returns the robots that `files` name, each once, in the order and the spelling of their first
/// lines. A name that is not an agent in `dialect` is left out.
pub fn robots_named(files: &[&RobotsTxt<'_>], dialect: &Dialect) -> Vec<AgentChain> {
    let mut robots: Vec<AgentChain> = Vec::new();
    let mut known = HashSet::new();
    for line in files.iter().flat_map(|file| file.user_agents()) {
        let name = robot_name(line.value, dialect).and_then(|name| str::from_utf8(name).ok());
        if let Some(name) = name
            && known.insert(name.to_ascii_lowercase())
            && let Ok(robot) = AgentChain::parse(name, dialect)
            // A `+` in a name would stand for two robots.
            && robot.tokens().count() == 1
        {
            robots.push(robot);
        }
    }
    robots
}
