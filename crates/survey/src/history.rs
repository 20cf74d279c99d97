//! The history of one host: its periods, and what changed in each for whom.
//!
//! Owns the comparison of the periods of one origin. For the policies of a host in full use
//! [`HostDetail`](crate::HostDetail); for the changes of all origins between two sets use
//! [`Difference`](crate::difference::Difference).
//!
//! A period is a time in which the policy stays the same. For each robot that a file of the origin
//! names, and for all others, a period has how much of the site the policy allows: exact, over all
//! paths. Cost: each rule set is searched once; of those that the set does not store, only as many as
//! fit [`HISTORY_PATTERNS_MAX`].
//!
//! ```
//! use portcullis_dialect::dialect::RFC_9309;
//! use portcullis_build::compile::{CompileConfig, to_vec};
//! use portcullis_set::PolicySet;
//! use portcullis_build::{IngestConfig, Input, ingest};
//! use portcullis_survey::{HostHistory, HostQuery};
//!
//! let config = IngestConfig { history: true, ..IngestConfig::new(&RFC_9309, None) };
//! let ingested = ingest(&[Input::new("../../corpora/sample/robots")], &config, &())?;
//! let config = CompileConfig::of(&ingested, &RFC_9309, None);
//! let set = PolicySet::from_bytes("sample", to_vec(&ingested.standings, &config)?)?;
//! let history = HostHistory::of(&set, &HostQuery::parse(b"news.example")?, &[])?;
//! assert_eq!(history.origins[0].periods.len(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::collections::BTreeSet;

use portcullis_dialect::decision::{PolicyState, Verdict};
use portcullis_lint::analysis::Reach;
use portcullis_robots::access::UnixSeconds;
use portcullis_robots::policy::Crawler;
use portcullis_robots::url::Origin;
use portcullis_set::lists::read_extract;
use portcullis_set::stored::{AgentTokens, PolicyNumber, StoredMoment, StoredTimeline};
use portcullis_set::{Damage, PolicySet};
use serde::Serialize;

use crate::host::{HostQuery, HostRecord, as_text, records};
use crate::limits::HISTORY_PATTERNS_MAX;
use crate::reaches::Reaches;
use crate::text::Text;
use crate::usage::HostUsage;

/// The history of the origins of a query that have one.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub struct HostHistory {
    /// The origins. Those with one history share one.
    pub origins: Vec<OriginHistory>,
}

/// The history of an origin.
#[derive(Clone, Debug, Serialize)]
pub struct OriginHistory {
    /// The origins of the query that have it.
    #[serde(serialize_with = "as_text")]
    pub origins: Vec<Origin>,
    /// The robots that are compared.
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
    /// What changed for robots, by what changed; in the first period, what it allows.
    pub changes: Vec<AccessChange>,
    /// The robots that may fetch as large a part as before, by other rules.
    pub other_rules: Vec<Robot>,
    /// The usage records that hold for robots; `None` if they are those of the period before.
    pub usage: Option<Vec<HostUsage>>,
}

/// Robots for which a policy allows another part of the site than the policy before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AccessChange {
    /// The robots.
    pub robots: Vec<Robot>,
    /// How much the policy before allows; `None` in the first period, and if a limit ended the
    /// search.
    pub from: Option<Reach>,
    /// How much this policy allows; `None` if a limit ended the search.
    pub to: Option<Reach>,
}

/// A robot by name; `None` for all that no file of the origin names.
pub type Robot = Option<Text>;

/// A robot, and the set's names that it matches.
struct Asked {
    robot: Robot,
    tokens: AgentTokens,
}

/// What a policy is for one robot: how much it allows, and by which rule set.
type Access = (Option<Reach>, Option<u32>);

impl HostHistory {
    /// Reads the history of the origins of `query` in `set`, for `agents`; without agents, for all
    /// robots that a file of the origin names and for all others.
    ///
    /// # Errors
    ///
    /// If the data read is damaged.
    pub fn of(
        set: &PolicySet,
        query: &HostQuery,
        agents: &[Crawler],
    ) -> Result<HostHistory, Damage> {
        let mut history = HostHistory { origins: Vec::new() };
        let reaches = Reaches::new(set);
        let mut last = None;
        for origin in query.origins() {
            let found = set.timeline_of(origin.scheme().as_bytes(), origin.key().as_bytes())?;
            let Some(timeline) = found else { continue };
            match history.origins.last_mut() {
                Some(same) if last == Some(timeline.capture()) => same.origins.push(origin.clone()),
                _ => {
                    let (robots, periods) = periods(set, &timeline, agents, &reaches)?;
                    let origins = vec![origin.clone()];
                    history.origins.push(OriginHistory { origins, robots, periods });
                }
            }
            last = Some(timeline.capture());
        }
        Ok(history)
    }

    /// Returns the records of the file of a period, counted from 1 over all origins.
    ///
    /// # Errors
    ///
    /// If the data read is damaged.
    pub fn records(
        set: &PolicySet,
        query: &HostQuery,
        period: usize,
    ) -> Result<Option<Vec<HostRecord>>, Damage> {
        let mut before = 0;
        let mut last = None;
        for origin in query.origins() {
            let found = set.timeline_of(origin.scheme().as_bytes(), origin.key().as_bytes())?;
            let Some(timeline) = found.filter(|it| last != Some(it.capture())) else { continue };
            last = Some(timeline.capture());
            let periods = timeline.periods()?;
            if let Some(period) = period.checked_sub(before + 1).and_then(|it| periods.get(it)) {
                let moment = period.last().expect("a period has a moment");
                return records(set, &set.policy(moment.policy)?, &moment.capture).map(Some);
            }
            before += periods.len();
        }
        Ok(None)
    }
}

fn periods(
    set: &PolicySet,
    timeline: &StoredTimeline<'_>,
    agents: &[Crawler],
    reaches: &Reaches<'_>,
) -> Result<(Vec<Robot>, Vec<HostPeriod>), Damage> {
    let periods_found = timeline.periods()?;
    let asked = match agents {
        [] => robots(set, &periods_found)?,
        agents => agents.iter().map(|agent| asked(set, agent)).collect::<Result<_, _>>()?,
    };
    let mut periods: Vec<HostPeriod> = Vec::new();
    let mut patterns_left = HISTORY_PATTERNS_MAX;
    let mut before: Option<(Vec<Access>, Vec<HostUsage>)> = None;
    for moments in periods_found {
        let newest = &moments[moments.len() - 1];
        let policy = set.policy(newest.policy)?;
        let outcome = policy.access()?;
        let mut access = |asked: &Asked| {
            let applied = reaches.applied_within(&policy, &asked.tokens, &mut patterns_left)?;
            Ok((applied.reach, applied.groups.map(|it| it.rule_set().index() as u32)))
        };
        let access: Vec<Access> = asked.iter().map(&mut access).collect::<Result<_, Damage>>()?;
        let extract = policy.extract()?;
        let file = read_extract(&extract);
        let file = file.ok_or_else(|| set.malformed_host("its records are not a file"))?;
        let usage = HostUsage::of(&file, set.dialect());
        let since = Some(moments[0].since).filter(|since| since.0 > 0);
        if let Some(last) = periods.last_mut() {
            last.until = since;
        }
        let (accessed, used) = before.as_ref().map(|(access, usage)| (&**access, &**usage)).unzip();
        let (changes, other_rules) = changes(&asked, accessed, &access);
        let has_other_usage = stated(used.unwrap_or_default()) != stated(&usage);
        periods.push(HostPeriod {
            since,
            until: None,
            captured_at: newest.capture.facts.captured_at,
            captures: moments.iter().filter(|it| it.begins_at_capture()).count(),
            state: outcome.state,
            verdict: (outcome.state != PolicyState::Rules).then_some(outcome.verdict),
            rules: file.rules().len(),
            changes,
            other_rules,
            usage: has_other_usage.then(|| usage.clone()),
        });
        before = Some((access, usage));
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

/// Groups robots by what changed for them, and returns those for which only the rules changed.
fn changes(
    asked: &[Asked],
    before: Option<&[Access]>,
    after: &[Access],
) -> (Vec<AccessChange>, Vec<Robot>) {
    let (mut changes, mut other_rules) = (Vec::<AccessChange>::new(), Vec::new());
    for (index, (Asked { robot, .. }, &(to, rules))) in asked.iter().zip(after).enumerate() {
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
            None => changes.push(AccessChange { robots: vec![robot.clone()], from, to }),
        }
    }
    (changes, other_rules)
}

/// Returns all robots that a policy of the periods names, and before them the one that none names.
fn robots(set: &PolicySet, periods: &[Vec<StoredMoment<'_>>]) -> Result<Vec<Asked>, Damage> {
    let names = set.robot_names()?;
    let policies: BTreeSet<PolicyNumber> =
        periods.iter().flatten().map(|moment| moment.policy).collect();
    let mut named = BTreeSet::new();
    for policy in policies {
        for (number, _) in set.policy(policy)?.robots()? {
            let lost = || set.malformed_host("a robot has no name");
            named.insert(*names.get(number as usize).ok_or_else(lost)?);
        }
    }
    let mut asked = vec![Asked { robot: None, tokens: AgentTokens::default() }];
    for name in named {
        let chain = str::from_utf8(name).ok().and_then(|it| Crawler::parse(it, set.dialect()).ok());
        // A name that no crawler can have applies to none.
        let Some(chain) = chain else { continue };
        let tokens = set.tokens_of(&chain)?;
        asked.push(Asked { robot: Some(Text::from(name)), tokens });
    }
    Ok(asked)
}

fn asked(set: &PolicySet, agent: &Crawler) -> Result<Asked, Damage> {
    let robot = Some(Text(agent.name().as_bytes().to_vec()));
    Ok(Asked { robot, tokens: set.tokens_of(agent)? })
}
