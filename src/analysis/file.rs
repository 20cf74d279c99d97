//! From a robots.txt to the rules that one robot obeys, and back to its lines.

use std::collections::HashSet;

use crate::automaton::pattern_matches;
use crate::decision::{Decision, Reason, Verdict};
use crate::dialect::{Dialect, RobotsTxtUrl};
use crate::id::RuleID;
use crate::policy::{AgentChain, Audience, OrderedRules, Selection, robot_name};
use crate::syntax::{RobotsTxt, Rule};
use crate::target::ROBOTS_TXT_PATH;

use super::{Example, Limits, RuleStanding, Rules, Standing, standings};

/// Who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Robot<'a> {
    /// A crawler.
    Agent(&'a AgentChain),
    /// Any that no user-agent line names: the default groups speak to it.
    Unnamed,
}

/// The rules of a file that one robot obeys.
///
/// ```
/// use portcullis::analysis::{AgentRules, Example, Limits, Robot, Standing};
/// use portcullis::dialect::RFC_9309;
/// use portcullis::syntax::RobotsTxt;
///
/// let text = b"User-agent: *\nDisallow: /a\nDisallow: b\n";
/// let file = RobotsTxt::parse(text, &RFC_9309, None);
/// let rules = AgentRules::new(&file, Robot::Unnamed, &RFC_9309);
/// let standings = rules.standings(&Limits::default());
/// assert_eq!(standings[1].standing, Standing::NeverMatches);
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
    /// Finds and orders the rules of `file`, which was parsed by `dialect`, that `robot` obeys.
    pub fn new(
        file: &'f RobotsTxt<'f>,
        robot: Robot<'_>,
        dialect: &'static Dialect,
    ) -> AgentRules<'f> {
        let selection = match robot {
            Robot::Agent(agent) => Selection::of(file, agent, dialect),
            Robot::Unnamed => of_unnamed(file, dialect),
        };
        let ordered = match &selection {
            Selection::Groups { groups, .. } => OrderedRules::new(file, groups, &dialect.paths),
            Selection::NoRules | Selection::NoGroup => OrderedRules::default(),
        };
        AgentRules { file, dialect, selection, ordered }
    }

    /// The rules, to be compared with others.
    pub fn rules(&self) -> Rules<'_> {
        Rules { ordered: &self.ordered, paths: &self.dialect.paths }
    }

    /// The groups that speak to the robot, if any do.
    pub fn selection(&self) -> &Selection {
        &self.selection
    }

    /// A rule of the file.
    ///
    /// # Panics
    ///
    /// If it is another file's and this one has fewer rules.
    pub fn rule(&self, rule: RuleID) -> &'f Rule<'f> {
        &self.file.rules()[rule.index()]
    }

    /// What is decided for the URL of `example`, and by which rule and line. It tries one rule after
    /// the other.
    pub fn decide(&self, example: &Example) -> Decision {
        let paths = &self.dialect.paths;
        let path = example.compared(paths.escapes);
        if paths.robots_txt == RobotsTxtUrl::AlwaysAllowed && path == ROBOTS_TXT_PATH {
            return Decision::ROBOTS_TXT;
        }
        let allowed = |reason| Decision::without_rule(Verdict::Allow, reason);
        match self.selection {
            Selection::NoRules => return allowed(Reason::NoRules),
            Selection::NoGroup => return allowed(Reason::NoGroup),
            Selection::Groups { .. } => {}
        }
        let patterns = self.ordered.patterns.iter();
        let mut matching = patterns.zip(0..).filter(|(pattern, _)| pattern_matches(pattern, &path));
        let Some((_, index)) = matching.next() else { return allowed(Reason::NoRule) };
        let index: usize = index;
        let rule = self.ordered.rules[index];
        Decision {
            verdict: self.ordered.verdicts[index],
            reason: Reason::Rule,
            rule: Some(rule),
            line: Some(self.rule(rule).line),
        }
    }

    /// What each rule of the groups that speak to the robot is there for, in file order. One with an
    /// empty value, or that starts where no path does, never matches.
    pub fn standings(&self, limits: &Limits) -> Vec<RuleStanding> {
        let Selection::Groups { groups, .. } = &self.selection else { return Vec::new() };
        let mut known = standings(self.rules(), limits).into_iter().peekable();
        let rules = groups.iter().flat_map(|&group| self.file.groups()[group].rule_ids());
        let standing = |rule: RuleID| {
            let never = || RuleStanding { rule, standing: Standing::NeverMatches };
            known.next_if(|it| it.rule == rule).unwrap_or_else(never)
        };
        rules.map(standing).collect()
    }
}

/// The groups that speak to a robot that no line names.
fn of_unnamed(file: &RobotsTxt<'_>, dialect: &Dialect) -> Selection {
    if file.rules().is_empty() {
        return Selection::NoRules;
    }
    let groups = Audience::of(file, dialect).default_groups;
    match groups.is_empty() {
        true => Selection::NoGroup,
        false => Selection::Groups { groups, token: None },
    }
}

/// The robots that `files` name, each once, in the order in which they are named first, as the first
/// line that does so spells them. A name by which nobody can ask in `dialect` is left out.
pub fn robots_named(files: &[&RobotsTxt<'_>], dialect: &Dialect) -> Vec<AgentChain> {
    let mut robots: Vec<AgentChain> = Vec::new();
    let mut known = HashSet::new();
    for line in files.iter().flat_map(|file| file.user_agents()) {
        let name = robot_name(line.value, dialect).and_then(|name| str::from_utf8(name).ok());
        if let Some(name) = name
            && known.insert(name.to_ascii_lowercase())
            && let Ok(robot) = AgentChain::parse(name, dialect)
            // A `+` would make two robots of one name.
            && robot.tokens().count() == 1
        {
            robots.push(robot);
        }
    }
    robots
}
