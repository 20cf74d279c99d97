//! Selects the groups of a file that apply to an agent (RFC 9309, section 2.2.1).

use hashbrown::HashMap;

use crate::syntax::{RobotsTxt, UserAgentLine};
use portcullis_dialect::{DefaultName, Dialect, FileToken, NamesAgent, Reason, SeveralGroups};

use super::Crawler;

/// The groups of a file that apply to an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Positions in [`RobotsTxt::groups`], ascending; empty if no group applies.
    pub groups: Vec<usize>,
    /// The position in the agent's chain of the token that the groups name; `None` for default
    /// groups, and if no group applies.
    pub token: Option<usize>,
}

impl Selection {
    /// Returns the groups of `file` that apply to `agent`; empty if the file has no rule in any group.
    pub fn of(file: &RobotsTxt<'_>, agent: &Crawler, dialect: &Dialect) -> Selection {
        match file.rules().is_empty() {
            true => Selection::default(),
            false => Selection::among_groups(file, agent, dialect).read_by(agent),
        }
    }

    /// Returns the groups that `agent` reads: none of the default, if it does not read it.
    #[must_use]
    pub(super) fn read_by(self, agent: &Crawler) -> Selection {
        match self.token.is_some() || agent.reads_default() {
            true => self,
            false => Selection::default(),
        }
    }

    /// Like [`Selection::of`], for records other than rules. The default groups apply to every agent
    /// that is not named.
    pub fn among_groups(file: &RobotsTxt<'_>, agent: &Crawler, dialect: &Dialect) -> Selection {
        let line_of = |token| {
            let mut lines = file.user_agents().iter();
            lines.find(|line| robot_named(line.value, Some(token), dialect))
        };
        // A name that occurs in a token may differ from other names of groups that occur in it.
        let mut tokens = agent.tokens().enumerate();
        let named = tokens.find_map(|(position, token)| Some((position, line_of(token)?)));
        let name = named.and_then(|(_, line)| robot_name(line.value, dialect));
        let several = match name {
            Some(_) => dialect.groups.several_named,
            None => dialect.groups.several_default,
        };
        let applies = |line: &UserAgentLine<'_>| match name {
            Some(name) => has_name(line.value, name, dialect),
            None => is_default(line.value, dialect),
        };
        let mut groups = Vec::with_capacity(1);
        for (position, group) in file.groups().iter().enumerate() {
            if file.user_agents_of(group).iter().any(applies) {
                add_group(&mut groups, position, several);
            }
        }
        Selection { groups, token: named.map(|(position, _)| position) }
    }

    /// Returns the reason of a decision by these groups of `file` that no rule makes.
    pub fn reason_without_rule(&self, file: &RobotsTxt<'_>) -> Reason {
        match self.groups.is_empty() {
            _ if file.is_page() => Reason::Page,
            _ if file.rules().is_empty() => Reason::NoRules,
            true => Reason::NoGroup,
            false => Reason::NoRule,
        }
    }
}

/// Returns the first line of `group` that names `token`, or the default group if there is no token.
pub(super) fn naming_line<'t>(
    file: &RobotsTxt<'t>,
    group: usize,
    token: Option<&str>,
    dialect: &Dialect,
) -> UserAgentLine<'t> {
    let lines = file.user_agents_of(&file.groups()[group]);
    *lines.iter().find(|line| robot_named(line.value, token, dialect)).unwrap_or(&lines[0])
}

/// Returns whether a user-agent line with `value` names the crawler with this name, ignoring case.
fn has_name(value: &[u8], name: &[u8], dialect: &Dialect) -> bool {
    // A name begins its value, and most lines name another crawler.
    value.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name))
        && robot_name(value, dialect).is_some_and(|it| it.len() == name.len())
}

/// Returns whether a user-agent line with `value` names the crawler `token`, or the default group if
/// there is no token.
pub fn robot_named(value: &[u8], token: Option<&str>, dialect: &Dialect) -> bool {
    match (token, dialect.groups.names_agent) {
        (None, _) => is_default(value, dialect),
        (Some(token), NamesAgent::Equal) => has_name(value, token.as_bytes(), dialect),
        (Some(token), NamesAgent::OccursInName) => {
            robot_name(value, dialect).is_some_and(|name| is_name_of(name, token, dialect))
        }
    }
}

/// Returns whether `name` names the crawler `token`, ignoring case.
pub fn is_name_of(name: &[u8], token: &str, dialect: &Dialect) -> bool {
    match dialect.groups.names_agent {
        NamesAgent::Equal => name.eq_ignore_ascii_case(token.as_bytes()),
        NamesAgent::OccursInName => {
            let mut windows = token.as_bytes().windows(name.len());
            windows.any(|window| window.eq_ignore_ascii_case(name))
        }
    }
}

/// Returns the part of a user-agent line's value that names a crawler, or `None` if it names none.
/// The default group's name never does, not even a crawler with `*` in its own name.
pub fn robot_name<'v>(value: &'v [u8], dialect: &Dialect) -> Option<&'v [u8]> {
    let name = match dialect.groups.file_token {
        FileToken::WholeValue => value,
        FileToken::Prefix(alphabet) => {
            let end = value.iter().position(|&byte| !alphabet.contains(byte));
            &value[..end.unwrap_or(value.len())]
        }
    };
    (!name.is_empty() && !is_default(value, dialect)).then_some(name)
}

/// The crawlers that a file names, with their groups: for many agents, or all crawlers.
///
/// The groups of the first token in an agent's chain that matches a crawler here apply, otherwise the
/// default groups. If several names occur in a token ([`NamesAgent::OccursInName`]), the first
/// counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Audience {
    /// The crawlers, in the order of their first mention.
    pub robots: Vec<NamedRobot>,
    /// The default groups that apply, ascending.
    pub default_groups: Vec<usize>,
    /// The user-agent line of the first default group.
    pub default_line: usize,
    /// The position of each name in `robots`.
    by_name: HashMap<Vec<u8>, usize, foldhash::fast::RandomState>,
    has_rules: bool,
}

/// A crawler that a file names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedRobot {
    /// The name, in lower case.
    pub name: Vec<u8>,
    /// The groups that apply, ascending; at least one.
    pub groups: Vec<usize>,
    /// The user-agent line in the first group that names the crawler: a position in
    /// [`RobotsTxt::user_agents`].
    pub line: usize,
}

impl Audience {
    /// Returns the crawlers that `file` names.
    pub fn of(file: &RobotsTxt<'_>, dialect: &Dialect) -> Audience {
        Audience::among(file, dialect, |_| true)
    }

    /// Like [`Audience::of`], with those crawlers alone that one of `agents` can be.
    pub fn from_agents(file: &RobotsTxt<'_>, agents: &[Crawler], dialect: &Dialect) -> Audience {
        let tokens = || agents.iter().flat_map(Crawler::tokens);
        Audience::among(file, dialect, |name| {
            tokens().any(|token| is_name_of(name, token, dialect))
        })
    }

    /// Returns the crawler whose groups apply to `agent`, and the position in the agent's chain of the
    /// token that names it. `None` if no group names the agent.
    pub fn named(&self, agent: &Crawler, dialect: &Dialect) -> Option<(usize, &NamedRobot)> {
        let robot_of = |token: &str| match dialect.groups.names_agent {
            NamesAgent::Equal => self.with_name(token.to_ascii_lowercase().as_bytes()),
            NamesAgent::OccursInName => {
                self.robots.iter().find(|robot| is_name_of(&robot.name, token, dialect))
            }
        };
        let mut tokens = agent.tokens().enumerate();
        tokens.find_map(|(position, token)| Some((position, robot_of(token)?)))
    }

    /// Returns the crawler with this name, in lower case.
    pub fn with_name(&self, name: &[u8]) -> Option<&NamedRobot> {
        self.by_name.get(name).map(|&robot| &self.robots[robot])
    }

    /// Returns the groups of the crawler with this name, in lower case, otherwise the default groups.
    pub fn groups_of(&self, robot: Option<&[u8]>) -> &[usize] {
        let named = robot.and_then(|name| self.with_name(name));
        named.map_or(&self.default_groups, |robot| &robot.groups)
    }

    /// Returns the groups that apply to `agent`, as [`Selection::of`].
    pub fn select(&self, agent: Option<&Crawler>, dialect: &Dialect) -> Selection {
        if !self.has_rules {
            return Selection::default();
        }
        let named = agent.and_then(|agent| self.named(agent, dialect));
        let groups = named.map_or(&self.default_groups, |(_, robot)| &robot.groups).clone();
        let selection = Selection { groups, token: named.map(|(token, _)| token) };
        match agent {
            Some(agent) => selection.read_by(agent),
            None => selection,
        }
    }

    /// Returns the number of bytes that [`Audience::select`] compares for `agent`, at most: 0 where it
    /// looks up names, and each token with every name where names may occur in it.
    pub fn cost(&self, agent: Option<&Crawler>, dialect: &Dialect) -> u64 {
        let tokens = agent.into_iter().flat_map(Crawler::tokens);
        let bytes: usize = tokens.map(str::len).sum();
        match dialect.groups.names_agent {
            NamesAgent::Equal => 0,
            NamesAgent::OccursInName => bytes as u64 * self.robots.len() as u64,
        }
    }

    /// Like [`Audience::of`], with those crawlers alone whose name, in lower case, `is_wanted`.
    pub fn among(
        file: &RobotsTxt<'_>,
        dialect: &Dialect,
        is_wanted: impl Fn(&[u8]) -> bool,
    ) -> Audience {
        let has_rules = !file.rules().is_empty();
        let mut audience = Audience { has_rules, ..Audience::default() };
        let mut name = Vec::new();
        for (position, group) in file.groups().iter().enumerate() {
            for line in group.user_agents.start as usize..group.user_agents.end as usize {
                let value = file.user_agents()[line].value;
                if is_default(value, dialect) {
                    audience.add_default(position, line, dialect);
                } else if let Some(written) = robot_name(value, dialect) {
                    name.clear();
                    name.extend(written.iter().map(u8::to_ascii_lowercase));
                    if is_wanted(&name) {
                        audience.add_named(&name, position, line, dialect);
                    }
                }
            }
        }
        audience
    }

    fn add_default(&mut self, group: usize, line: usize, dialect: &Dialect) {
        if self.default_groups.is_empty() {
            self.default_line = line;
        }
        add_group(&mut self.default_groups, group, dialect.groups.several_default);
    }

    fn add_named(&mut self, name: &[u8], group: usize, line: usize, dialect: &Dialect) {
        match self.by_name.get(name) {
            Some(&robot) => {
                add_group(&mut self.robots[robot].groups, group, dialect.groups.several_named);
            }
            None => {
                self.by_name.insert(name.to_vec(), self.robots.len());
                self.robots.push(NamedRobot { name: name.to_vec(), groups: vec![group], line });
            }
        }
    }
}

/// Adds a group that does not precede the ones already there.
fn add_group(groups: &mut Vec<usize>, group: usize, several: SeveralGroups) {
    let counts = groups.is_empty() || several == SeveralGroups::Merge;
    if counts && groups.last() != Some(&group) {
        groups.push(group);
    }
}

/// Returns whether a user-agent line with `value` names the default group.
fn is_default(value: &[u8], dialect: &Dialect) -> bool {
    match (dialect.groups.default_name, value) {
        (_, b"*") => true,
        (DefaultName::StarThenWhiteSpace, [b'*', next, ..]) => {
            dialect.lines.white_space.contains(next)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use portcullis_dialect::DRAFT_2019;

    const TEXT: &[u8] = b"User-agent: Bot\nUser-agent: other\nDisallow: /a\n\nUser-agent: *\n\
        Disallow: /b\n\nUser-agent: BOT\nAllow: /c\n\nUser-agent: *\nUser-agent: exampleb\n\
        Disallow: /d\n\nUser-agent: /1.0\nDisallow: /e\n";

    /// Returns the groups that apply to an agent with one token, by the audience.
    fn by_audience(audience: &Audience, token: &str, dialect: &Dialect) -> Vec<usize> {
        let named = audience.robots.iter().find(|robot| is_name_of(&robot.name, token, dialect));
        named.map_or(&audience.default_groups, |robot| &robot.groups).clone()
    }

    #[test]
    fn audiences_and_selections_agree() {
        for dialect in Dialect::ALL {
            let file = RobotsTxt::parse(TEXT, dialect, None);
            let audience = Audience::of(&file, dialect);
            for token in ["Bot", "OTHER", "ExampleBot", "exampleb", "Nobody", "x"] {
                let agent = Crawler::parse(token, dialect).unwrap();
                let selection = Selection::of(&file, &agent, dialect);
                assert_eq!(audience.select(Some(&agent), dialect), selection);
                let Selection { groups, token: named } = selection;
                assert_eq!(by_audience(&audience, token, dialect), groups, "{}", dialect.name);
                let line = naming_line(&file, groups[0], named.map(|_| token), dialect);
                let robot = audience
                    .robots
                    .iter()
                    .find(|robot| is_name_of(&robot.name, token, dialect))
                    .map_or(audience.default_line, |robot| robot.line);
                assert_eq!(file.user_agents()[robot], line, "{} {token}", dialect.name);
            }
        }
        let file = RobotsTxt::parse(TEXT, &DRAFT_2019, None);
        assert_eq!(Audience::of(&file, &DRAFT_2019).default_groups, [1]);
    }
}
