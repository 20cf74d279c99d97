//! One host: its policies in full, how each was captured, with its records, groups and crawlers; and its
//! history, the periods and what changed in each for whom. For the changes of all origins between two
//! sets use [`difference`](crate::difference).
//!
//! A period is a time in which the policy stays the same. For each crawler that a file of the origin
//! names, and for all others, a period has how much of the site the policy allows: exact, over all
//! paths. If a crawler reads answers in another way, that may change within a period. Cost: each rule set is searched once; of those that the set does not store, only as many as
//! fit [`MERGED_PATTERNS_MAX`].
//!
//! ```
//! use portcullis_dialect::dialect::RFC_9309;
//! use portcullis_build::compile::to_vec;
//! use portcullis_set::PolicySet;
//! use portcullis_build::{IngestConfig, Input, ingest};
//! use portcullis_survey::{history, origins_of};
//!
//! let config = IngestConfig { history: true, ..IngestConfig::new(&RFC_9309, None) };
//! let ingested = ingest(&[Input::new("../../corpora/sample/robots")], &config, &())?;
//! let set = PolicySet::from_bytes("sample", to_vec(&ingested.standings, &ingested.compiling)?)?;
//! let history = history(&set, &origins_of(b"news.example")?, &[])?;
//! assert_eq!(history[0].periods.len(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::collections::{BTreeMap, BTreeSet};

use base64::prelude::{BASE64_STANDARD, Engine as _};
use portcullis_build::Provenance;
use portcullis_dialect::decision::{PolicyState, Verdict};
use portcullis_dialect::dialect::{Field, RFC_9309};
use portcullis_dialect::id::LineNumber;
use portcullis_dialect::usage::USAGE_FIELDS;
use portcullis_lint::analysis::Reach;
use portcullis_robots::access::{CaptureNote, KnownOutage, UnixSeconds};
use portcullis_robots::policy::{Audience, Crawler};
use portcullis_robots::syntax::{NoteKind, RobotsTxt};
use portcullis_robots::url::{BadUrl, Origin};
use portcullis_set::lists::{ListReader, Role};
use portcullis_set::stored::{
    AgentTokens, PolicyEntry, PolicyNumber, StoredCapture, StoredPolicy, StoredTimeline,
};
use portcullis_set::{Damage, PolicySet};
use serde::{Serialize, Serializer};

use crate::limits::MERGED_PATTERNS_MAX;
use crate::reaches::{EntryReach, Reaches, RulesID};
use crate::readings::{ReadPeriod, Readings};
use crate::text::Text;
use crate::usage::HostUsage;

/// Returns the http and https origins of a host, or the origin of a URL. A host has its port unless that
/// is the default.
///
/// # Errors
///
/// If the text is neither a host nor a URL.
///
/// ```
/// use portcullis_survey::origins_of;
///
/// assert_eq!(origins_of(b"A.Example")?.len(), 2);
/// assert_eq!(origins_of(b"ftp://a.example/x")?[0].scheme(), "ftp");
/// # Ok::<(), portcullis_robots::url::BadUrl>(())
/// ```
pub fn origins_of(text: &[u8]) -> Result<Vec<Origin>, BadUrl> {
    if text.windows(3).any(|window| window == b"://") {
        return Ok(vec![Origin::from_url(text)?]);
    }
    let with = |scheme: &[u8]| Origin::from_url(&[scheme, text].concat());
    Ok(vec![with(b"http://")?, with(b"https://")?])
}

/// The policies of a set for some origins.
#[derive(Clone, Debug, Serialize)]
pub struct HostDetail {
    /// The policies. Origins with one capture share one.
    pub policies: Vec<HostPolicy>,
    /// Origins without a policy.
    #[serde(serialize_with = "as_text")]
    pub unknown: Vec<Origin>,
}

/// A policy, its capture, and the crawlers it applies to.
#[derive(Clone, Debug, Serialize)]
pub struct HostPolicy {
    /// The origins that have it.
    #[serde(serialize_with = "as_text")]
    pub origins: Vec<Origin>,
    /// Whether there is a file, or what its absence means.
    pub state: PolicyState,
    /// The verdict on every path; `None` if the rules decide.
    pub verdict: Option<Verdict>,
    pub captured_at: Option<UnixSeconds>,
    /// The date of the newest answer behind redirects.
    pub newest_captured_at: Option<UnixSeconds>,
    pub expires_at: Option<UnixSeconds>,
    /// The status of the last answer; `None` if there was none.
    pub status: Option<u16>,
    pub redirects_followed: u8,
    /// The number of the input, and its name if the set stores it.
    pub input: u32,
    pub input_name: Option<String>,
    pub capture_notes: Vec<CaptureNote>,
    pub outage: Option<KnownOutage>,
    pub file_bytes: u32,
    pub file_notes: Vec<NoteKind>,
    /// Crawlers that no group names first, then the named ones in file order. Empty if the file has
    /// no rules.
    pub robots: Vec<HostRobot>,
    /// The usage records that hold for crawlers. Empty if the file has none.
    pub usage: Vec<HostUsage>,
    /// The groups of the file.
    pub groups: Vec<HostGroup>,
    /// The records of the file by line.
    pub records: Vec<HostRecord>,
}

/// A crawler, or all crawlers that no group names, and the rules that apply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HostRobot {
    /// The name in lower case; `None` for crawlers that no group names.
    pub name: Option<Text>,
    /// The groups that apply, by number from 1.
    pub groups: Vec<usize>,
    /// How much of a site they allow; `None` if a limit ended the search.
    #[serde(rename = "access")]
    pub reach: Option<Reach>,
    /// The number of patterns; `None` if they are too many to be merged.
    pub patterns: Option<usize>,
}

/// A group of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct HostGroup {
    /// The number of rules.
    pub rules: usize,
    /// Whether it applies to crawlers that no group names.
    pub for_others: bool,
    /// The named crawlers to which it applies.
    pub robots: Vec<Text>,
}

/// A record of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HostRecord {
    /// The line number.
    pub line: LineNumber,
    /// `user-agent`, `allow`, `disallow`, the field of a usage record, or `other`.
    pub kind: &'static str,
    /// The number of its group from 1; `None` if it is in no group, or has no effect on decisions.
    pub group: Option<usize>,
    /// The record without surrounding white space and without comment.
    pub text: Text,
    /// Its bytes, if they are not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text_base64: Option<String>,
}

fn as_text<S: Serializer>(origins: &[Origin], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(origins.iter().map(Origin::to_string))
}

impl HostDetail {
    /// Reads the policies of `origins`, which are of one host, in `set`.
    ///
    /// # Errors
    ///
    /// If the data read is damaged.
    pub fn of(set: &PolicySet, origins: &[Origin]) -> Result<HostDetail, Damage> {
        let mut detail = HostDetail { policies: Vec::new(), unknown: Vec::new() };
        // Both origins have one key, unless they have a port that is the default of one.
        let one_key = origins.iter().all(|it| it.key() == origins[0].key());
        for origin in origins {
            let found = set.origin(origin.scheme().as_bytes(), origin.key().as_bytes())?;
            let Some((number, capture)) = found else {
                detail.unknown.push(origin.clone());
                continue;
            };
            let is_one = one_key
                && set.host(origin.key().as_bytes())?.is_some_and(|host| {
                    host.is_one_capture() && host.policy(false) == host.policy(true)
                });
            if let (Some(first), true) = (detail.policies.last_mut(), is_one) {
                first.origins.push(origin.clone());
                continue;
            }
            let policy = set.policy(number)?;
            let read = |file: &RobotsTxt<'_>, _: &[u8]| {
                HostPolicy::of(set, origin, &policy, file, &capture)
            };
            detail.policies.push(policy.with_file(read)??);
        }
        Ok(detail)
    }
}

impl HostPolicy {
    fn of(
        set: &PolicySet,
        origin: &Origin,
        policy: &StoredPolicy<'_>,
        file: &RobotsTxt<'_>,
        capture: &StoredCapture<'_>,
    ) -> Result<HostPolicy, Damage> {
        let outcome = policy.access()?;
        let audience = Audience::of(file, set.dialect());
        let by_rules = outcome.state == PolicyState::Rules;
        let rules = file.groups().iter().map(|group| group.rules.len());
        let mut groups: Vec<HostGroup> =
            rules.map(|rules| HostGroup { rules, ..HostGroup::default() }).collect();
        for robot in &audience.robots {
            robot.groups.iter().for_each(|&it| groups[it].robots.push(Text(robot.name.clone())));
        }
        audience.default_groups.iter().for_each(|&group| groups[group].for_others = true);
        let facts = &capture.facts;
        let provenance = Provenance::read(set.provenance()?);
        let mut inputs = provenance.iter().flat_map(Provenance::inputs);
        let input_name = inputs.nth(facts.input as usize).map(|input| input.name);
        Ok(HostPolicy {
            origins: vec![origin.clone()],
            state: outcome.state,
            verdict: (!by_rules).then_some(outcome.verdict),
            captured_at: facts.captured_at,
            newest_captured_at: facts.dates().map(|dates| dates.last),
            expires_at: facts.expires_at,
            status: (facts.status != 0).then_some(facts.status),
            redirects_followed: facts.redirects_followed,
            input: facts.input,
            input_name,
            capture_notes: facts.capture_notes.iter().collect(),
            outage: facts.outage,
            file_bytes: facts.file_bytes,
            file_notes: facts.file_notes.iter().collect(),
            robots: if by_rules { robots(set, policy, &audience)? } else { Vec::new() },
            usage: HostUsage::of(file, set.dialect()),
            groups,
            records: records(set, policy, capture)?,
        })
    }
}

/// Returns the records of a policy and the other records of its capture, by line.
fn records(
    set: &PolicySet,
    policy: &StoredPolicy<'_>,
    capture: &StoredCapture<'_>,
) -> Result<Vec<HostRecord>, Damage> {
    let mut records: Vec<HostRecord> = Vec::new();
    let mut starts = Vec::new();
    let (extract, others) = (policy.extract()?, set.other_records(capture.others)?);
    let others = ListReader::from_others(&others);
    for record in ListReader::from_extract(&extract).chain(others).flatten() {
        let mut spellings = RFC_9309.lines.fields.iter().chain(&USAGE_FIELDS);
        let spelling = spellings.find(|it| Some(it.field) == record.role.field);
        let group = match record.role.field {
            Some(Field::UserAgent | Field::Allow | Field::Disallow) => {
                starts.extend((record.role == Role::STARTS_GROUP).then_some(record.line));
                if starts.is_empty() {
                    return Err(set.malformed_host("a rule is outside any group"));
                }
                Some(starts.len())
            }
            _ if record.role.in_group => Some(starts.partition_point(|start| *start < record.line)),
            _ => None,
        };
        let kind = spelling.map_or("other", |it| it.text);
        let (line, text) = (record.line, Text(record.text.to_vec()));
        let text_base64 = str::from_utf8(&text.0).is_err().then(|| BASE64_STANDARD.encode(&text));
        records.push(HostRecord { line, kind, group, text, text_base64 });
    }
    records.sort_by_key(|record| record.line);
    Ok(records)
}

/// Returns the crawlers of a policy. Groups come from its records, rule sets from the set.
fn robots(
    set: &PolicySet,
    policy: &StoredPolicy<'_>,
    audience: &Audience,
) -> Result<Vec<HostRobot>, Damage> {
    let differ = || set.malformed_host("a policy names other crawlers than its records do");
    let reaches = Reaches::new(set);
    let mut patterns_left = MERGED_PATTERNS_MAX;
    let mut robot = |name: Option<&[u8]>, groups: &[usize], entry: PolicyEntry| {
        let EntryReach { reach, patterns, .. } = reaches.of(policy, entry, &mut patterns_left)?;
        Ok(HostRobot {
            name: name.map(|name| Text(name.to_vec())),
            groups: groups.iter().map(|group| group + 1).collect(),
            reach,
            patterns,
        })
    };
    let mut robots = Vec::new();
    match (policy.default_entry(), audience.default_groups.is_empty()) {
        (None, true) => {}
        (Some(entry), false) => robots.push(robot(None, &audience.default_groups, entry)?),
        _ => return Err(differ()),
    }
    let names = set.robot_names()?;
    let mut entries = BTreeMap::new();
    for (number, entry) in policy.robots()? {
        entries.insert(*names.get(number as usize).ok_or_else(differ)?, entry);
    }
    if entries.len() != audience.robots.len() {
        return Err(differ());
    }
    for own in &audience.robots {
        let entry = *entries.get(own.name.as_slice()).ok_or_else(differ)?;
        robots.push(robot(Some(&own.name), &own.groups, entry)?);
    }
    Ok(robots)
}

/// The history of an origin.
#[derive(Clone, Debug, Serialize)]
pub struct OriginHistory {
    /// The origins that have it.
    #[serde(serialize_with = "as_text")]
    pub origins: Vec<Origin>,
    /// The crawlers that are compared.
    pub robots: Vec<Robot>,
    /// The periods, oldest first.
    pub periods: Vec<HostPeriod>,
}

/// A time in which the policy of an origin stays the same.
#[derive(Clone, Debug, Serialize)]
pub struct HostPeriod {
    /// When it begins; `None` if that is the capture without a date, which is older than all others.
    pub since: Option<UnixSeconds>,
    /// When the next one begins; `None` if none follows.
    pub until: Option<UnixSeconds>,
    /// The date of the newest capture in it, or before it if it has none.
    pub captured_at: Option<UnixSeconds>,
    /// The number of captures in it that changed the policy or its age. 0 if the period began because
    /// an outage became long.
    pub captures: usize,
    /// Whether there is a file, or what its absence means.
    pub state: PolicyState,
    /// The verdict on every path; `None` if the rules decide.
    pub verdict: Option<Verdict>,
    /// The number of rules in the file.
    pub rules: usize,
    /// The changes for crawlers, by kind; in the first period, the access that it allows.
    pub changes: Vec<AccessChange>,
    /// The crawlers that may fetch as large a part as before, by other rules.
    pub other_rules: Vec<Robot>,
    /// The usage records that apply to crawlers; `None` if they are the same as in the period before.
    pub usage: Option<Vec<HostUsage>>,
}

/// Crawlers for which a policy, or what they read in its place, allows another part of the site than before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AccessChange {
    /// When they read something else, within the period; `None` if that is where it begins.
    pub since: Option<UnixSeconds>,
    /// The crawlers.
    pub robots: Vec<Robot>,
    /// How much the policy before allows; `None` in the first period, and if a limit ended the
    /// search.
    pub from: Option<Reach>,
    /// How much this policy allows; `None` if a limit ended the search.
    pub to: Option<Reach>,
}

/// A crawler by name; `None` for all that no file of the origin names.
pub type Robot = Option<Text>;

/// A crawler, and the set's names that it matches.
struct CrawlerAsked {
    robot: Robot,
    tokens: AgentTokens,
}

/// The access of one crawler: how much a policy allows, and by which rule set.
type Access = (Option<Reach>, Option<RulesID>);

/// Returns the histories of `origins` in `set`, for `agents`; without agents, for all crawlers that a file
/// of the origin names and for all others. Origins with one history share it.
///
/// # Errors
///
/// If the data read is damaged.
pub fn history(
    set: &PolicySet,
    origins: &[Origin],
    agents: &[Crawler],
) -> Result<Vec<OriginHistory>, Damage> {
    let reaches = Reaches::new(set);
    let origin = |(origins, timeline)| {
        let (robots, periods) = periods(set, &timeline, agents, &reaches)?;
        Ok(OriginHistory { origins, robots, periods })
    };
    timelines(set, origins)?.into_iter().map(origin).collect()
}

/// Returns the records of the file of a period, counted from 1 over the histories of all `origins`.
///
/// # Errors
///
/// If the data read is damaged.
pub fn records_of_period(
    set: &PolicySet,
    origins: &[Origin],
    period: usize,
) -> Result<Option<Vec<HostRecord>>, Damage> {
    let mut before = 0;
    for (_, timeline) in timelines(set, origins)? {
        let periods = timeline.periods()?;
        if let Some(period) = period.checked_sub(before + 1).and_then(|it| periods.get(it)) {
            let moment = period.last().expect("a period has a moment");
            return records(set, &set.policy(moment.policy)?, &moment.capture).map(Some);
        }
        before += periods.len();
    }
    Ok(None)
}

/// Returns the timelines of origins. Those with one history share it.
fn timelines<'s>(
    set: &'s PolicySet,
    origins: &[Origin],
) -> Result<Vec<(Vec<Origin>, StoredTimeline<'s>)>, Damage> {
    let mut found: Vec<(Vec<Origin>, StoredTimeline<'s>)> = Vec::new();
    for origin in origins {
        let timeline = set.timeline_of(origin.scheme().as_bytes(), origin.key().as_bytes())?;
        let Some(timeline) = timeline else { continue };
        match found.last_mut() {
            Some((origins, same)) if same.capture() == timeline.capture() => {
                origins.push(origin.clone());
            }
            _ => found.push((vec![origin.clone()], timeline)),
        }
    }
    Ok(found)
}

fn periods(
    set: &PolicySet,
    timeline: &StoredTimeline<'_>,
    agents: &[Crawler],
    reaches: &Reaches<'_>,
) -> Result<(Vec<Robot>, Vec<HostPeriod>), Damage> {
    let readings = Readings::of(set, agents.iter())?;
    let read_periods = readings.periods(timeline)?;
    let asked = match agents {
        [] => asked_robots(set, &read_periods)?,
        agents => {
            let asked = |agent: &Crawler| {
                let robot = Some(Text(agent.name().as_bytes().to_vec()));
                Ok(CrawlerAsked { robot, tokens: set.tokens_of(agent)? })
            };
            agents.iter().map(asked).collect::<Result<_, Damage>>()?
        }
    };
    let mut periods: Vec<HostPeriod> = Vec::new();
    let mut patterns_left = MERGED_PATTERNS_MAX;
    let (mut accessed, mut used): (Option<Vec<Access>>, Vec<HostUsage>) = Default::default();
    for parts in read_periods.chunk_by(|one, other| one.last().policy == other.last().policy) {
        let (first, newest) = (parts[0].period, parts[parts.len() - 1].last());
        let policy = set.policy(newest.policy)?;
        let outcome = policy.access()?;
        let read = |file: &RobotsTxt<'_>, _: &[u8]| {
            (HostUsage::of(file, set.dialect()), file.rules().len())
        };
        let (usage, rules) = policy.with_file(read)?;
        let since = Some(first.since).filter(|since| since.0 > 0);
        if let Some(last) = periods.last_mut() {
            last.until = since;
        }
        let (mut changes, mut other_rules, mut captures) = (Vec::new(), Vec::new(), 0);
        for ReadPeriod { period, moments, reads } in parts {
            let access = |(number, asked): (usize, &CrawlerAsked)| {
                let (read, left) = (reads.get(number).copied().flatten(), &mut patterns_left);
                let applied = reaches.applied_by(&policy, read, &asked.tokens, left)?;
                Ok((applied.reach, applied.rules))
            };
            let access: Vec<Access> =
                asked.iter().enumerate().map(access).collect::<Result<_, Damage>>()?;
            let since = Some(period.since).filter(|since| *since != first.since);
            let (changed, others) = self::changes(&asked, since, accessed.as_deref(), &access);
            changes.extend(changed);
            other_rules.extend(others);
            // A moment may have begun in the part before.
            let begun = moments.iter().filter(|it| it.since >= period.since);
            captures += begun.filter(|it| it.begins_at_capture()).count();
            accessed = Some(access);
        }
        let has_other_usage = stated(&used) != stated(&usage);
        periods.push(HostPeriod {
            since,
            until: None,
            captured_at: newest.capture.facts.captured_at,
            captures,
            state: outcome.state,
            verdict: (outcome.state != PolicyState::Rules).then_some(outcome.verdict),
            rules,
            changes,
            other_rules,
            usage: has_other_usage.then(|| usage.clone()),
        });
        used = usage;
    }
    Ok((asked.into_iter().map(|asked| asked.robot).collect(), periods))
}

/// Returns what usage records state for whom, on whatever lines.
fn stated(usage: &[HostUsage]) -> Vec<impl PartialEq> {
    let stated = |it: &HostUsage| {
        let HostUsage { for_others, robots, stated, licenses, .. } = it.clone();
        (for_others, robots, stated, licenses)
    };
    usage.iter().map(stated).collect()
}

/// Groups crawlers by what changed for them, and returns those for which only the rules changed.
fn changes(
    asked: &[CrawlerAsked],
    since: Option<UnixSeconds>,
    before: Option<&[Access]>,
    after: &[Access],
) -> (Vec<AccessChange>, Vec<Robot>) {
    let (mut changes, mut other_rules) = (Vec::<AccessChange>::new(), Vec::new());
    for (index, (CrawlerAsked { robot, .. }, &(to, rules))) in asked.iter().zip(after).enumerate() {
        let was = before.map(|before| before[index]);
        let from = was.and_then(|(from, _)| from);
        let has_other_rules = was.is_some_and(|(_, before)| before != rules);
        // If a limit ended both searches, other rules may allow another part.
        let may_differ = to.is_none() && has_other_rules;
        if was.is_some_and(|(from, _)| from == to) && !may_differ {
            if has_other_rules && to == Some(Reach::Part) {
                other_rules.push(robot.clone());
            }
            continue;
        }
        match changes.iter_mut().find(|change| (change.from, change.to) == (from, to)) {
            Some(change) => change.robots.push(robot.clone()),
            None => changes.push(AccessChange { since, robots: vec![robot.clone()], from, to }),
        }
    }
    (changes, other_rules)
}

/// Returns all crawlers that a policy of the periods names, and before them the one that none names.
fn asked_robots(set: &PolicySet, periods: &[ReadPeriod<'_>]) -> Result<Vec<CrawlerAsked>, Damage> {
    let names = set.robot_names()?;
    let policies: BTreeSet<PolicyNumber> = periods.iter().map(|it| it.last().policy).collect();
    let mut named = BTreeSet::new();
    for policy in policies {
        for (number, _) in set.policy(policy)?.robots()? {
            let lost = || set.malformed_host("a crawler has no name");
            named.insert(*names.get(number as usize).ok_or_else(lost)?);
        }
    }
    let mut asked = vec![CrawlerAsked { robot: None, tokens: AgentTokens::default() }];
    for name in named {
        let chain = str::from_utf8(name).ok().and_then(|it| Crawler::parse(it, set.dialect()).ok());
        // A name that no crawler can have applies to none.
        let Some(chain) = chain else { continue };
        let tokens = set.tokens_of(&chain)?;
        asked.push(CrawlerAsked { robot: Some(Text(name.to_vec())), tokens });
    }
    Ok(asked)
}
