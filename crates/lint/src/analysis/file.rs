//! The rules of a robots.txt that apply to one robot, with their lines.

use std::collections::HashSet;
use std::sync::LazyLock;

use portcullis_dialect::decision::{Decision, Reason, Verdict};
use portcullis_dialect::dialect::{Dialect, PathRules, RobotsTxtUrl};
use portcullis_dialect::id::RuleID;
use portcullis_engine::pattern::Pattern;
use portcullis_robots::policy::{AgentChain, OrderedRules, Selection, robot_name};
use portcullis_robots::syntax::{RobotsTxt, Rule};
use portcullis_robots::url::ROBOTS_TXT_PATH;

use super::Example;
use super::contents::place_of;

/// The rules that apply to one agent, and the dialect that reads them.
#[derive(Clone, Copy, Debug)]
pub struct Rules<'r> {
    /// The rules, ordered by `paths`.
    pub ordered: &'r OrderedRules,
    /// The dialect's path rules.
    pub paths: &'r PathRules,
}

/// A placeholder for a rule: the dialect always allows the URL of robots.txt.
pub(super) const ROBOTS_TXT_RULE: u32 = u32::MAX;

/// Returns the pattern that matches the URL of robots.txt alone.
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
    pub(super) fn patterns(self) -> impl Iterator<Item = (Pattern<'r>, Owner)> {
        let always = self.paths.robots_txt == RobotsTxtUrl::AlwaysAllowed;
        let owner = Owner { rule: ROBOTS_TXT_RULE, allows: true };
        let dialect = always.then(|| (robots_txt_pattern(), owner));
        let OrderedRules { patterns, verdicts, rules, .. } = self.ordered;
        let owner = |(&rule, &verdict): (&RuleID, &Verdict)| Owner {
            rule: rule.0,
            allows: verdict == Verdict::Allow,
        };
        dialect.into_iter().chain(patterns.iter().zip(rules.iter().zip(verdicts).map(owner)))
    }
}

/// The rule of a pattern.
#[derive(Clone, Copy, Debug)]
pub(super) struct Owner {
    /// The number of the rule, or [`ROBOTS_TXT_RULE`].
    pub rule: u32,
    pub allows: bool,
}

/// The rules of a file that apply to one robot.
///
/// ```
/// use portcullis_lint::analysis::{AgentRules, Example};
/// use portcullis_dialect::dialect::RFC_9309;
/// use portcullis_robots::syntax::RobotsTxt;
///
/// let text = b"User-agent: *\nDisallow: /a\n";
/// let file = RobotsTxt::parse(text, &RFC_9309, None);
/// let rules = AgentRules::new(&file, None, &RFC_9309);
/// let decision = rules.decide(&Example::of(b"/a/b"));
/// assert_eq!(decision.line.unwrap().get(), 2);
/// ```
#[derive(Clone, Debug)]
pub struct AgentRules<'f> {
    file: &'f RobotsTxt<'f>,
    dialect: &'static Dialect,
    selection: Selection,
    ordered: OrderedRules,
}

impl<'f> AgentRules<'f> {
    /// Selects and orders the rules for `agent` of `file`, which was parsed by `dialect`. `None` is
    /// any crawler that no user-agent line names, to which the default groups apply.
    pub fn new(
        file: &'f RobotsTxt<'f>,
        agent: Option<&AgentChain>,
        dialect: &'static Dialect,
    ) -> AgentRules<'f> {
        AgentRules::of(file, Selection::of(file, agent, dialect), dialect)
    }

    /// Orders the rules of the selected groups of `file`, which was parsed by `dialect`.
    pub(super) fn of(
        file: &'f RobotsTxt<'f>,
        selection: Selection,
        dialect: &'static Dialect,
    ) -> AgentRules<'f> {
        let ordered = OrderedRules::new(file, &selection.groups, &dialect.paths);
        AgentRules { file, dialect, selection, ordered }
    }

    /// Returns a decision whose rule is the number of its place among these rules.
    pub(super) fn by_place(&self, decision: Decision) -> Decision {
        let place = |rule| RuleID(place_of(self.file, &self.selection.groups, rule));
        Decision { rule: decision.rule.map(place), line: None, ..decision }
    }

    /// Returns the rules, for comparison.
    pub fn rules(&self) -> Rules<'_> {
        Rules { ordered: &self.ordered, paths: &self.dialect.paths }
    }

    /// Returns the groups that apply to the robot.
    pub fn selection(&self) -> &Selection {
        &self.selection
    }

    /// Returns the rule with this number.
    ///
    /// # Panics
    ///
    /// If the file does not have the rule.
    pub fn rule(&self, rule: RuleID) -> &'f Rule<'f> {
        &self.file.rules()[rule.index()]
    }

    /// Decides the URL of `example` by a scan of the rules.
    pub fn decide(&self, example: &Example) -> Decision {
        let paths = &self.dialect.paths;
        let path = example.compared(paths.escapes);
        if paths.always_allows(&path) {
            return Decision::ROBOTS_TXT;
        }
        let patterns = self.ordered.patterns.iter();
        let mut matching = patterns.zip(0..).filter(|(pattern, _)| pattern.matches(&path));
        let Some((_, index)) = matching.next() else {
            let reason = self.selection.reason_without_rule(self.file);
            return Decision::without_rule(Verdict::Allow, reason);
        };
        let index: usize = index;
        let rule = self.ordered.rules[index];
        Decision {
            verdict: self.ordered.verdicts[index],
            reason: Reason::Rule,
            rule: Some(rule),
            line: Some(self.rule(rule).line),
        }
    }
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
