//! Records to groups, and the groups that speak to an agent.

use portcullis_dialect::decision::Verdict;
use portcullis_dialect::dialect::{
    BlankLine, DefaultName, Dialect, Field, FileToken, GroupRules, NamesAgent, SeveralGroups,
};
use portcullis_dialect::id::{LineNumber, RuleID};

use super::lines::Record;

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
    /// Its place among the rules of all groups.
    pub(super) id: RuleID,
    /// Its line.
    pub(super) line: LineNumber,
    /// What it says about the URLs that it matches.
    pub(super) verdict: Verdict,
    /// The pattern as written; empty in a rule that decides nothing.
    pub(super) value: &'t [u8],
}

/// The groups of a file, in file order. Rules outside every group are left out.
pub(super) fn groups<'t>(rules: &GroupRules, records: &[Record<'t>]) -> Vec<Group<'t>> {
    let mut groups: Vec<Group<'t>> = Vec::new();
    let mut in_group = false;
    let mut next_id = RuleID(0);
    for record in records {
        match *record {
            Record::Blank => in_group &= rules.blank_line == BlankLine::NoMeaning,
            Record::Field(Field::UserAgent, value, _) => {
                let run_goes_on = groups.last().is_some_and(|group| group.rules.is_empty());
                if !(in_group && run_goes_on) {
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

/// The groups that are obeyed: those that name the first of `agents` that any group names, else the
/// default ones. None if there are neither.
pub(super) fn obeyed<'g, 't>(
    dialect: &Dialect,
    groups: &'g [Group<'t>],
    agents: &[&str],
) -> Vec<&'g Group<'t>> {
    let named_so = |says: &dyn Fn(&[u8]) -> bool| -> Vec<&'g Group<'t>> {
        let speaks = |group: &&Group<'t>| group.user_agents.iter().any(|value| says(value));
        groups.iter().filter(speaks).collect()
    };
    for agent in agents {
        let named = named_so(&|value| names(dialect, value, agent.as_bytes()));
        if !named.is_empty() {
            return only(dialect.groups.several_named, named);
        }
    }
    let default = named_so(&|value| is_default(dialect, value));
    only(dialect.groups.several_default, default)
}

fn only<T>(several: SeveralGroups, mut groups: Vec<T>) -> Vec<T> {
    match several {
        SeveralGroups::First => groups.truncate(1),
        SeveralGroups::Merge => {}
    }
    groups
}

/// Whether the value of a user-agent line is the name of the default group.
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

/// Whether the value of a user-agent line names `agent`. The default group's name names nobody.
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
