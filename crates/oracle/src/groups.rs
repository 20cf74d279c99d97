//! Turns records into groups, and selects the groups that apply to an agent.

use portcullis_dialect::{
    BlankLine, DefaultName, Dialect, Field, FileToken, GroupRules, LineNumber, NamesAgent, RuleID,
    SeveralGroups, Verdict,
};

use crate::lines::Record;

/// User-agent lines and the lines that follow them: access rules, or usage lines.
pub(super) struct Group<'t, R> {
    /// The values of the user-agent lines.
    pub(super) user_agents: Vec<&'t [u8]>,
    /// The lines, in file order.
    pub(super) rules: Vec<R>,
}

/// A line in a group.
pub(super) trait GroupLine {
    /// Returns whether a user-agent line after it starts another group.
    fn ends_run(&self) -> bool;
}

/// An allow or disallow line in a group.
#[derive(Clone, Copy)]
pub(super) struct Rule<'t> {
    pub(super) id: RuleID,
    pub(super) line: LineNumber,
    pub(super) verdict: Verdict,
    /// The pattern as written. An empty pattern matches nothing.
    pub(super) value: &'t [u8],
}

impl GroupLine for Rule<'_> {
    fn ends_run(&self) -> bool {
        true
    }
}

/// Returns the groups of a file with their access rules, in file order. Rules outside groups are
/// left out.
pub(super) fn groups<'t>(rules: &GroupRules, records: &[Record<'t>]) -> Vec<Group<'t, Rule<'t>>> {
    let (mut groups, _) = groups_by(rules, records, |field, value, line| {
        let verdict = match field {
            Field::Allow => Verdict::Allow,
            Field::Disallow => Verdict::Disallow,
            _ => return None,
        };
        Some(Rule { id: RuleID(0), line, verdict, value })
    });
    for (id, rule) in (0..).zip(groups.iter_mut().flat_map(|group| &mut group.rules)) {
        rule.id = RuleID(id);
    }
    groups
}

/// Returns the groups of a file, in file order, and the lines outside groups. `read` returns the
/// line of a record, or `None` if the record is of another kind.
pub(super) fn groups_by<'t, R: GroupLine>(
    rules: &GroupRules,
    records: &[Record<'t>],
    read: impl Fn(Field, &'t [u8], LineNumber) -> Option<R>,
) -> (Vec<Group<'t, R>>, Vec<R>) {
    let mut groups: Vec<Group<'t, R>> = Vec::new();
    let mut outside = Vec::new();
    let mut in_group = false;
    for record in records {
        match *record {
            Record::CrawlDelay(_) => {}
            Record::Blank => in_group &= rules.blank_line == BlankLine::NoMeaning,
            Record::Field(Field::UserAgent, value, _) => {
                let has_ended = |group: &Group<'t, R>| group.rules.iter().any(R::ends_run);
                let extends = groups.last().is_some_and(|group| !has_ended(group));
                if !(in_group && extends) {
                    groups.push(Group { user_agents: Vec::new(), rules: Vec::new() });
                }
                in_group = true;
                groups.last_mut().expect("pushed").user_agents.push(value);
            }
            Record::Field(field, value, line) => {
                let lines = groups.last_mut().filter(|_| in_group).map(|group| &mut group.rules);
                lines.unwrap_or(&mut outside).extend(read(field, value, line));
            }
        }
    }
    (groups, outside)
}

/// Returns the groups that name the first of `agents` that any group names, otherwise the default
/// groups; empty if there are neither.
pub(super) fn applying<'g, 't, R>(
    dialect: &Dialect,
    groups: &'g [Group<'t, R>],
    agents: &[&str],
) -> Vec<&'g Group<'t, R>> {
    let groups_with = |several, is_wanted: &dyn Fn(&[u8]) -> bool| -> Vec<&'g Group<'t, R>> {
        let applies =
            |group: &&Group<'t, R>| group.user_agents.iter().any(|value| is_wanted(value));
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
