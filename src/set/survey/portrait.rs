//! The policies of one host, in full.

use crate::decision::{PolicyState, Verdict};
use crate::id::LineNumber;
use crate::policy::Audience;
use crate::set::PolicySet;
use crate::set::file::Damage;
use crate::set::standing::CaptureFacts;
use crate::set::stored::{Place, key_with_scheme, place};
use crate::set::stored::{RecordKind, StoredCapture, StoredPolicy};
use crate::syntax::RobotsTxt;
use crate::target::{BadUrl, Origin};

use super::rule_sets::RuleSetFigures;

/// The origins that somebody asks about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostQuery {
    origins: Vec<Origin>,
}

impl HostQuery {
    /// Reads a host, with its port if that is not the default, which stands for its http and its
    /// https origin; or a URL, which stands for its own origin.
    ///
    /// # Errors
    ///
    /// If it is neither.
    ///
    /// ```
    /// use portcullis::set::survey::HostQuery;
    ///
    /// assert_eq!(HostQuery::parse(b"A.Example")?.origins().len(), 2);
    /// assert_eq!(HostQuery::parse(b"ftp://a.example/x")?.origins()[0].scheme(), "ftp");
    /// # Ok::<(), portcullis::target::BadUrl>(())
    /// ```
    pub fn parse(text: &[u8]) -> Result<HostQuery, BadUrl> {
        let has_scheme = text.windows(3).any(|window| window == b"://");
        let origins = if has_scheme {
            vec![Origin::of_url(text)?]
        } else {
            let with = |scheme: &[u8]| Origin::of_url(&[scheme, text].concat());
            vec![with(b"http://")?, with(b"https://")?]
        };
        Ok(HostQuery { origins })
    }

    /// The origins, one or two.
    pub fn origins(&self) -> &[Origin] {
        &self.origins
    }
}

/// A policy, how it came to be known, and what it means for whom.
#[derive(Clone, Debug)]
pub struct Portrait<'s> {
    /// The origins, as far as they were asked about, that it speaks for by one capture.
    pub origins: Vec<Origin>,
    /// Whether there is a file, or what its absence means.
    pub state: PolicyState,
    /// What holds for every path if there is no file.
    pub verdict: Verdict,
    /// How it came to be known.
    pub facts: CaptureFacts,
    /// The records of its file, by line.
    pub records: Vec<ListedRecord>,
    /// The groups of its file, in their order.
    pub groups: Vec<PortrayedGroup>,
    /// Who obeys it: the robots that no group names first, then those that one does, in the order in
    /// which the file names them. Nobody if the file has no rules.
    pub robots: Vec<PortrayedRobot<'s>>,
}

/// A record, and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedRecord {
    /// The line.
    pub line: LineNumber,
    /// What it is; nothing for a record that decides nothing.
    pub kind: Option<RecordKind>,
    /// The record, without white space around it and without comment.
    pub text: Vec<u8>,
    /// The group that it belongs to, by its position; nothing for a record that decides nothing.
    pub group: Option<usize>,
}

/// A group of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PortrayedGroup {
    /// Its rules.
    pub rules: usize,
    /// The names of the robots that obey it because a group names them.
    pub robots: Vec<Vec<u8>>,
    /// Whether the robots that no group names obey it.
    pub for_others: bool,
}

/// A robot, or all that no group names, and what they obey.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortrayedRobot<'s> {
    /// The name in lower case; nothing for the robots that no group names.
    pub name: Option<&'s [u8]>,
    /// The groups that it obeys, by position, ascending.
    pub groups: Vec<usize>,
    /// What their rules take.
    pub rules: RuleSetFigures,
}

/// The policies of the origins of a query, as far as `set` knows them. Origins that are known by one
/// capture share one.
///
/// # Errors
///
/// If what has to be looked at is damaged.
pub fn portraits<'s>(set: &'s PolicySet, query: &HostQuery) -> Result<Vec<Portrait<'s>>, Damage> {
    let mut portraits: Vec<Portrait<'s>> = Vec::new();
    for origin in query.origins() {
        let key = match place(origin.scheme().as_bytes()) {
            Place::Other => key_with_scheme(origin.scheme().as_bytes(), origin.key().as_bytes()),
            Place::Http | Place::Https => origin.key().into_bytes(),
        };
        let https = place(origin.scheme().as_bytes()) == Place::Https;
        let Some(host) = set.host(&key)? else { continue };
        let Some(position) = host.policy(https) else { continue };
        // Both origins of a query have one key, unless the query names the default port of one.
        let one_host = query.origins().iter().all(|other| other.key() == origin.key());
        let is_one = host.is_one_capture() && host.policy(false) == host.policy(true);
        if let (Some(first), true) = (portraits.last_mut(), one_host && is_one) {
            first.origins.push(origin.clone());
            continue;
        }
        let missing = || set.malformed_host("an origin has a policy and no capture");
        let capture = host.capture(https)?.ok_or_else(missing)?;
        portraits.push(portrait(set, origin, &set.policy(position)?, &capture)?);
    }
    Ok(portraits)
}

fn portrait<'s>(
    set: &'s PolicySet,
    origin: &Origin,
    policy: &StoredPolicy<'s>,
    capture: &StoredCapture<'s>,
) -> Result<Portrait<'s>, Damage> {
    let outcome = policy.access()?;
    let extract = policy.extract()?;
    let file = RobotsTxt::read_extract(&extract);
    let file = file.ok_or_else(|| policy.malformed("its records are no file"))?;
    let audience = Audience::of(&file, set.dialect());
    let robots = match outcome.state {
        PolicyState::Rules => robots(set, policy, &audience)?,
        _ => Vec::new(),
    };
    Ok(Portrait {
        origins: vec![origin.clone()],
        state: outcome.state,
        verdict: outcome.verdict,
        facts: capture.facts,
        records: records(policy, capture)?,
        groups: groups(&file, &audience),
        robots,
    })
}

fn records(
    policy: &StoredPolicy<'_>,
    capture: &StoredCapture<'_>,
) -> Result<Vec<ListedRecord>, Damage> {
    let mut records = Vec::new();
    let mut groups = 0_usize;
    for record in policy.records()? {
        groups += usize::from(record.kind == Some(RecordKind::StartsGroup));
        let group = groups.checked_sub(1);
        let group = group.ok_or_else(|| policy.malformed("a rule stands in no group"))?;
        let (kind, line, text) = (record.kind, record.line, record.text);
        records.push(ListedRecord { line, kind, text, group: Some(group) });
    }
    for record in capture.other_records()? {
        let (line, text) = (record.line, record.text);
        records.push(ListedRecord { line, kind: None, text, group: None });
    }
    records.sort_by_key(|record| record.line);
    Ok(records)
}

fn groups(file: &RobotsTxt<'_>, audience: &Audience) -> Vec<PortrayedGroup> {
    let group = |group: &crate::syntax::Group| PortrayedGroup {
        rules: group.rules.len(),
        ..PortrayedGroup::default()
    };
    let mut groups: Vec<PortrayedGroup> = file.groups().iter().map(group).collect();
    for robot in &audience.robots {
        robot.groups.iter().for_each(|&group| groups[group].robots.push(robot.name.clone()));
    }
    audience.default_groups.iter().for_each(|&group| groups[group].for_others = true);
    groups
}

/// Who obeys a policy: what its records say joined with what the set has.
fn robots<'s>(
    set: &'s PolicySet,
    policy: &StoredPolicy<'s>,
    audience: &Audience,
) -> Result<Vec<PortrayedRobot<'s>>, Damage> {
    let differ = || policy.malformed("it speaks to others than its records do");
    let figures = |entry: u32| RuleSetFigures::of(set, &set.rule_set(policy.rule_set(entry)?)?);
    let mut robots = Vec::new();
    match (policy.default_entry(), audience.default_groups.is_empty()) {
        (None, true) => {}
        (Some(entry), false) => robots.push(PortrayedRobot {
            name: None,
            groups: audience.default_groups.clone(),
            rules: figures(entry)?,
        }),
        _ => return Err(differ()),
    }
    let names = set.robot_names()?;
    let mut named: Vec<(&[u8], u32)> = Vec::new();
    for (number, entry) in policy.robots()? {
        named.push((names.get(number as usize).ok_or_else(differ)?, entry));
    }
    named.sort_unstable();
    if named.len() != audience.robots.len() {
        return Err(differ());
    }
    for robot in &audience.robots {
        let found = named.binary_search_by_key(&robot.name.as_slice(), |&(name, _)| name);
        let (name, entry) = named[found.map_err(|_| differ())?];
        let groups = robot.groups.clone();
        robots.push(PortrayedRobot { name: Some(name), groups, rules: figures(entry)? });
    }
    Ok(robots)
}
