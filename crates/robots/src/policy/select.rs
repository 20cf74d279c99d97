//! Which groups of a file speak to an agent (RFC 9309, section 2.2.1).

use hashbrown::HashMap;

use crate::syntax::{Group, RobotsTxt, UserAgentLine};
use portcullis_dialect::dialect::{DefaultName, Dialect, FileToken, NamesAgent, SeveralGroups};

use super::AgentChain;

/// The groups of a file that an agent obeys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    /// The file has no rule in any group.
    NoRules,
    /// The file has rules, but no group is for the agent.
    NoGroup,
    /// Positions in [`RobotsTxt::groups`], ascending; at least one.
    Groups {
        /// The groups.
        groups: Vec<usize>,
        /// The position in the agent's chain of the token that they name; none if they are default
        /// groups.
        token: Option<usize>,
    },
}

impl Selection {
    /// Finds the groups of `file` that apply to `agent`, or to a robot that no group names if that
    /// is `None`.
    pub fn of<'a>(
        file: &RobotsTxt<'_>,
        agent: impl Into<Option<&'a AgentChain>>,
        dialect: &Dialect,
    ) -> Selection {
        if file.rules().is_empty() {
            return Selection::NoRules;
        }
        let rules = &dialect.groups;
        for (position, token) in agent.into().into_iter().flat_map(AgentChain::tokens).enumerate() {
            let groups =
                groups_with(file, rules.several_named, |value| names(value, token, dialect));
            if !groups.is_empty() {
                return Selection::Groups { groups, token: Some(position) };
            }
        }
        let groups = groups_with(file, rules.several_default, |value| is_default(value, dialect));
        match groups.is_empty() {
            true => Selection::NoGroup,
            false => Selection::Groups { groups, token: None },
        }
    }
}

/// The first or all of the groups that have a user-agent line whose value `speaks`.
fn groups_with(
    file: &RobotsTxt<'_>,
    several: SeveralGroups,
    speaks: impl Fn(&[u8]) -> bool,
) -> Vec<usize> {
    let speaks = |group: &Group| file.user_agents_of(group).iter().any(|line| speaks(line.value));
    let mut groups = (0..).zip(file.groups()).filter(|(_, group)| speaks(group)).map(|(i, _)| i);
    match several {
        SeveralGroups::First => groups.next().into_iter().collect(),
        SeveralGroups::Merge => groups.collect(),
    }
}

/// The line of `group` that speaks to an agent: one that names its `token`, or else one of the
/// default group.
pub(super) fn speaking_line<'t>(
    file: &RobotsTxt<'t>,
    group: usize,
    token: Option<&str>,
    dialect: &Dialect,
) -> UserAgentLine<'t> {
    let lines = file.user_agents_of(&file.groups()[group]);
    *lines.iter().find(|line| robot_named(line.value, token, dialect)).unwrap_or(&lines[0])
}

/// Whether a user-agent line with `value` names the robot `token`.
pub(super) fn names(value: &[u8], token: &str, dialect: &Dialect) -> bool {
    robot_name(value, dialect).is_some_and(|name| is_name_of(name, token, dialect))
}

/// Whether a user-agent line with `value` names the robot `token`, or the default group if there is
/// no token.
pub fn robot_named(value: &[u8], token: Option<&str>, dialect: &Dialect) -> bool {
    match token {
        Some(token) => names(value, token, dialect),
        None => is_default(value, dialect),
    }
}

/// Whether `name`, in any case, is the file's name for the robot `token`.
pub fn is_name_of(name: &[u8], token: &str, dialect: &Dialect) -> bool {
    match dialect.groups.names_agent {
        NamesAgent::Equal => name.eq_ignore_ascii_case(token.as_bytes()),
        NamesAgent::OccursInName => {
            let mut windows = token.as_bytes().windows(name.len());
            windows.any(|window| window.eq_ignore_ascii_case(name))
        }
    }
}

/// The part of a user-agent line's value that names a robot, if it does. The default group's name
/// names nobody, not even a robot that has a `*` in its own name.
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

/// Whom a file speaks to, for all agents at once.
///
/// It is what [`Selection`] asks for one agent: an agent obeys the groups of the first token of its
/// chain that has a name here, or else the default groups. Where a name has to occur in the
/// agent's own ([`NamesAgent::OccursInName`]) and several do, the one that comes first counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Audience {
    /// The robots that are named, in the order in which the file names them first.
    pub robots: Vec<NamedRobot>,
    /// The default groups that count, ascending.
    pub default_groups: Vec<usize>,
    /// The user-agent line of the first of them.
    pub default_line: usize,
}

/// A robot that a file names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedRobot {
    /// The name, in lower case.
    pub name: Vec<u8>,
    /// The groups that count, ascending; at least one.
    pub groups: Vec<usize>,
    /// The user-agent line in the first of them that names the robot, by its position in
    /// [`RobotsTxt::user_agents`].
    pub line: usize,
}

impl Audience {
    /// Finds whom `file` speaks to.
    pub fn of(file: &RobotsTxt<'_>, dialect: &Dialect) -> Audience {
        let mut audience = Audience::default();
        let mut known: HashMap<Vec<u8>, usize, foldhash::fast::RandomState> = HashMap::default();
        for (position, group) in file.groups().iter().enumerate() {
            for line in group.user_agents.start as usize..group.user_agents.end as usize {
                let value = file.user_agents()[line].value;
                if is_default(value, dialect) {
                    audience.add_default(position, line, dialect);
                } else if let Some(name) = robot_name(value, dialect) {
                    let name = name.to_ascii_lowercase();
                    let robots = &mut audience.robots;
                    match known.get(&name) {
                        Some(&robot) => robots[robot].add(position, dialect),
                        None => {
                            known.insert(name.clone(), robots.len());
                            robots.push(NamedRobot { name, groups: vec![position], line });
                        }
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
}

impl NamedRobot {
    fn add(&mut self, group: usize, dialect: &Dialect) {
        add_group(&mut self.groups, group, dialect.groups.several_named);
    }
}

/// Adds a group, which is not before those that are there.
fn add_group(groups: &mut Vec<usize>, group: usize, several: SeveralGroups) {
    let counts = groups.is_empty() || several == SeveralGroups::Merge;
    if counts && groups.last() != Some(&group) {
        groups.push(group);
    }
}

/// Whether a user-agent line with `value` names the default group.
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
    use portcullis_dialect::dialect::DRAFT_2019;

    const TEXT: &[u8] = b"User-agent: Bot\nUser-agent: other\nDisallow: /a\n\nUser-agent: *\n\
        Disallow: /b\n\nUser-agent: BOT\nAllow: /c\n\nUser-agent: *\nUser-agent: exampleb\n\
        Disallow: /d\n\nUser-agent: /1.0\nDisallow: /e\n";

    /// What an agent with one token obeys, by the audience.
    fn by_audience(audience: &Audience, token: &str, dialect: &Dialect) -> Vec<usize> {
        let named = audience.robots.iter().find(|robot| is_name_of(&robot.name, token, dialect));
        named.map_or(&audience.default_groups, |robot| &robot.groups).clone()
    }

    #[test]
    fn an_audience_says_what_selections_say() {
        for dialect in Dialect::ALL {
            let file = RobotsTxt::parse(TEXT, dialect, None);
            let audience = Audience::of(&file, dialect);
            for token in ["Bot", "OTHER", "ExampleBot", "exampleb", "Nobody", "x"] {
                let agent = AgentChain::parse(token, dialect).unwrap();
                let Selection::Groups { groups, token: named } =
                    Selection::of(&file, &agent, dialect)
                else {
                    panic!("there are default groups")
                };
                assert_eq!(by_audience(&audience, token, dialect), groups, "{}", dialect.name);
                let line = speaking_line(&file, groups[0], named.map(|_| token), dialect);
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
