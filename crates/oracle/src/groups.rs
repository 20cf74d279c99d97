//! Records to groups, and the groups that apply to an agent.

use portcullis_dialect::{
    BlankLine, DefaultName, Dialect, Field, FileToken, GroupRules, LineNumber, NamesAgent, RuleID,
    SeveralGroups, Verdict,
};

use crate::lines::Record;

/// User-agent lines and the rules that follow them.
#[derive(Default)]
pub(super) struct Group<'t> {
    /// The values of the user-agent lines.
    user_agents: Vec<&'t [u8]>,
    /// The rules, in file order.
    pub(super) rules: Vec<Rule<'t>>,
}

/// An allow or disallow line in a group.
pub(super) struct Rule<'t> {
    pub(super) id: RuleID,
    pub(super) line: LineNumber,
    pub(super) verdict: Verdict,
    /// The pattern as written. An empty pattern matches nothing.
    pub(super) value: &'t [u8],
}

/// Returns the groups of a file, in file order. Rules outside groups are left out.
pub(super) fn groups<'t>(rules: &GroupRules, records: &[Record<'t>]) -> Vec<Group<'t>> {
    let mut groups: Vec<Group<'t>> = Vec::new();
    let mut in_group = false;
    let mut next_id = RuleID(0);
    for record in records {
        match *record {
            Record::Blank => in_group &= rules.blank_line == BlankLine::NoMeaning,
            Record::Field(Field::UserAgent, value, _) => {
                let extends = groups.last().is_some_and(|group| group.rules.is_empty());
                if !(in_group && extends) {
                    groups.push(Group::default());
                }
                in_group = true;
                groups.last_mut().expect("pushed").user_agents.push(value);
            }
            Record::Field(Field::Sitemap, ..) => {}
            Record::Field(field @ (Field::Allow | Field::Disallow), value, line) => {
                if let Some(group) = groups.last_mut().filter(|_| in_group) {
                    let verdict =
                        if field == Field::Allow { Verdict::Allow } else { Verdict::Disallow };
                    group.rules.push(Rule { id: next_id, line, verdict, value });
                    next_id = RuleID(next_id.0 + 1);
                }
            }
        }
    }
    groups
}

/// Returns the groups that name the first of `agents` that any group names, otherwise the default
/// groups; empty if there are neither.
pub(super) fn applying<'g, 't>(
    dialect: &Dialect,
    groups: &'g [Group<'t>],
    agents: &[&str],
) -> Vec<&'g Group<'t>> {
    let groups_with = |several, is_wanted: &dyn Fn(&[u8]) -> bool| -> Vec<&'g Group<'t>> {
        let applies = |group: &&Group<'t>| group.user_agents.iter().any(|value| is_wanted(value));
        let count = match several {
            SeveralGroups::First => 1,
            SeveralGroups::Merge => groups.len(),
        };
        groups.iter().filter(applies).take(count).collect()
    };
    for agent in agents {
        let names_agent = |value: &[u8]| names(dialect, value, agent.as_bytes());
        let named = groups_with(dialect.groups.several_named, &names_agent);
        if !named.is_empty() {
            return named;
        }
    }
    groups_with(dialect.groups.several_default, &|value| is_default(dialect, value))
}

/// Returns whether the value of a user-agent line names the default group.
fn is_default(dialect: &Dialect, value: &[u8]) -> bool {
    match (dialect.groups.default_name, value) {
        (_, b"*") => true,
        (DefaultName::Star, _) => false,
        (DefaultName::StarThenWhiteSpace, [b'*', second, ..]) => {
            dialect.lines.white_space.contains(second)
        }
        (DefaultName::StarThenWhiteSpace, _) => false,
    }
}

/// Returns whether the value of a user-agent line names `agent`. The default group's name names no
/// agent.
fn names(dialect: &Dialect, value: &[u8], agent: &[u8]) -> bool {
    if is_default(dialect, value) {
        return false;
    }
    let token = match dialect.groups.file_token {
        FileToken::WholeValue => value,
        FileToken::Prefix(alphabet) => {
            let end = value.iter().position(|&byte| !alphabet.contains(byte));
            &value[..end.unwrap_or(value.len())]
        }
    };
    let (token, agent) = (token.to_ascii_lowercase(), agent.to_ascii_lowercase());
    !token.is_empty()
        && match dialect.groups.names_agent {
            NamesAgent::Equal => token == agent,
            NamesAgent::OccursInName => agent.windows(token.len()).any(|part| part == token),
        }
}
