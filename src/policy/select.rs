//! Which groups of a file speak to an agent (RFC 9309, section 2.2.1).

use crate::dialect::{DefaultName, Dialect, FileToken, NamesAgent, SeveralGroups};
use crate::syntax::{Group, RobotsTxt, UserAgentLine};

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
    /// Finds the groups of `file` that `agent` obeys.
    pub fn of(file: &RobotsTxt<'_>, agent: &AgentChain, dialect: &Dialect) -> Selection {
        if file.rules().is_empty() {
            return Selection::NoRules;
        }
        let rules = &dialect.groups;
        for (position, token) in agent.tokens().enumerate() {
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
    let speaks = |value: &[u8]| match token {
        Some(token) => names(value, token, dialect),
        None => is_default(value, dialect),
    };
    *lines.iter().find(|line| speaks(line.value)).unwrap_or(&lines[0])
}

/// Whether a user-agent line with `value` names the robot `token`. The default group's name names
/// nobody, not even a robot that has a `*` in its own name.
fn names(value: &[u8], token: &str, dialect: &Dialect) -> bool {
    let name = match dialect.groups.file_token {
        FileToken::WholeValue => value,
        FileToken::Prefix(alphabet) => {
            let end = value.iter().position(|&octet| !alphabet.contains(octet));
            &value[..end.unwrap_or(value.len())]
        }
    };
    if name.is_empty() || is_default(value, dialect) {
        return false;
    }
    match dialect.groups.names_agent {
        NamesAgent::Equal => name.eq_ignore_ascii_case(token.as_bytes()),
        NamesAgent::OccursInName => {
            let mut windows = token.as_bytes().windows(name.len());
            windows.any(|window| window.eq_ignore_ascii_case(name))
        }
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
