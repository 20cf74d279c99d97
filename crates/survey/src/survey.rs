//! The content of a set, computed in one pass over its hosts and one over its policies.
//!
//! The pass over the hosts finds the state of their origins, the problems of their files, and which
//! policy each uses. The pass over the policies, in parallel, reads what each says about each agent and
//! crawler from the stored rule sets.
//!
//! Memory: 16 bytes for each policy; the policies that are read at once; 8 bytes for each rule set; figures
//! by distinct crawler name and licence.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use portcullis_dialect::decision::PolicyState;
use portcullis_report::Figures;
use portcullis_robots::access::{CaptureNote, DateSpan, UnixSeconds};
use portcullis_robots::syntax::NoteKind;
use portcullis_set::batch::BeforeFirst;
use portcullis_set::stored::{CaptureFacts, PolicyNumber, StoredHost};
use portcullis_set::{Damage, PolicySet};
use portcullis_text::figures::largest;
use rayon::prelude::*;
use serde::Serialize;

use crate::agents::{AgentFigures, KnownReach, ReachFigures};
use crate::facts::{FactReader, PolicyReading};
use crate::limits::MERGED_PATTERNS_MAX;
use crate::origins::{Map, PolicyUse, captured};
use crate::reaches::Applied;
use crate::readings::{PolicyRead, ReadUse};
use crate::text::Text;
use crate::usage::{UsageFigures, UsageReading, UsageSums};

/// The number of policies that are read before their readings are summed. Bounds the memory for
/// readings.
const POLICIES_AT_ONCE: usize = 4_096;

/// The content of a set, independent of any list of URLs.
///
/// A file counts once per host that serves it, even if it applies to both http and https. A host
/// whose files for http and https differ counts once for each file.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Survey {
    /// The number of hosts.
    pub hosts: u64,
    /// Origins, and the captures of their policies.
    #[serde(flatten)]
    pub origins: OriginFigures,
    /// Problems in files, the most common first. Kinds that do not occur are left out.
    pub problems: Vec<NoteFigures>,
    /// Usage preferences.
    pub usage: UsageFigures,
    /// The crawlers that files name.
    pub robots: RobotFigures,
    /// The access of each agent. Empty if no agent was named.
    #[serde(rename = "per_agent", skip_serializing_if = "Vec::is_empty")]
    pub reach: Vec<AgentFigures>,
}

impl Survey {
    /// Surveys `set`. Lists have at most `top` rows. Runs on the calling thread's rayon pool.
    ///
    /// # Errors
    ///
    /// The first damage.
    pub fn of(set: &PolicySet, top: usize) -> Result<Survey, Damage> {
        Survey::each_policy(FactReader::new(set, &[], None)?, None, (top, top), drop)
    }

    /// Surveys the set of `facts` for its agents, as of a time or the newest policies, and calls `keep` with the rules of each policy, by
    /// number. Names the `top` crawlers, and at most `hosts_max` hosts for a problem.
    pub(crate) fn each_policy(
        facts: FactReader<'_>,
        as_of: Option<(UnixSeconds, BeforeFirst)>,
        (top, hosts_max): (usize, usize),
        keep: impl FnMut(PolicyRules),
    ) -> Result<Survey, Damage> {
        let set = facts.set;
        let survey = Survey {
            origins: OriginFigures::none(),
            problems: NoteKind::ALL.map(NoteFigures::none).into(),
            reach: AgentFigures::of_agents(&facts),
            ..Survey::default()
        };
        let uses = vec![PolicyUse::default(); set.policy_count() as usize];
        let (named, usage, read_otherwise) = Default::default();
        let mut passes =
            Passes { facts, as_of, survey, uses, read_otherwise, named, usage, hosts_max };
        for host in set.hosts() {
            passes.add_host(&host?)?;
        }
        passes.read_policies(keep)?;
        passes.add_read_otherwise()?;
        Ok(passes.survey(top))
    }
}

/// Origins, and the captures of their policies.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct OriginFigures {
    /// The number of origins.
    pub origins: u64,
    /// The number of files.
    pub files: u64,
    /// The number of captures. http and https of a host that was captured without a scheme share
    /// one.
    pub captures: u64,
    /// The bytes of the captured files, as far as they were kept.
    pub file_bytes: u64,
    /// Origins by state.
    pub states: Figures,
    /// Origins by the status of the last response; 0 if there was none.
    pub statuses: BTreeMap<u16, u64>,
    /// Origins by note on the response.
    pub capture_notes: Figures,
    /// Origins by note on the file.
    pub file_notes: Figures,
    /// The number of origins in an outage.
    pub in_outage: u64,
    /// When the oldest and the newest policy were captured, if any has a date.
    pub capture_dates: Option<DateSpan>,
    /// The number of origins whose capture has no date.
    pub undated: u64,
}

impl OriginFigures {
    fn none() -> OriginFigures {
        OriginFigures {
            states: Figures::of(PolicyState::ALL, PolicyState::as_str, |_| 0),
            capture_notes: Figures::of(CaptureNote::ALL, CaptureNote::as_str, |_| 0),
            file_notes: Figures::of(NoteKind::ALL, NoteKind::as_str, |_| 0),
            ..OriginFigures::default()
        }
    }

    /// Adds an origin. `is_new` is false if its capture is counted already.
    fn add(&mut self, state: PolicyState, facts: &CaptureFacts, is_new: bool) {
        self.origins += 1;
        self.states.count(state as usize);
        self.in_outage += u64::from(facts.outage.is_some());
        facts.capture_notes.iter().for_each(|note| self.capture_notes.count(note as usize));
        facts.file_notes.iter().for_each(|kind| self.file_notes.count(kind as usize));
        if is_new {
            self.captures += 1;
            self.file_bytes += u64::from(facts.file_bytes);
            self.files += u64::from(state.is_file());
        }
        *self.statuses.entry(facts.status).or_default() += 1;
        self.capture_dates = DateSpan::over(self.capture_dates, facts.dates());
        self.undated += u64::from(facts.captured_at.is_none());
    }
}

/// A kind of problem in files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct NoteFigures {
    /// The name for programs: `unknown-field`, `rule-outside-group`, ….
    pub kind: &'static str,
    /// The meaning of the problem.
    pub meaning: &'static str,
    /// The number of files with it.
    pub files: u64,
    /// The first hosts by name.
    pub hosts: Vec<Text>,
}

impl NoteFigures {
    fn none(kind: NoteKind) -> NoteFigures {
        let (kind, meaning) = (kind.as_str(), kind.describe());
        NoteFigures { kind, meaning, ..NoteFigures::default() }
    }
}

/// A crawler that files name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RobotRow {
    /// The name in lower case.
    pub name: Text,
    /// The policies that name it.
    #[serde(flatten)]
    pub count: ReachFigures,
}

/// The crawlers that files with rules name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RobotFigures {
    /// The number of distinct names.
    pub names: u64,
    /// The number of policies that name a crawler.
    pub naming_policies: u64,
    /// Crawlers that no group names, counted by policies with default groups.
    pub others: ReachFigures,
    /// The number of policies with rules but without default groups. They allow everything to other
    /// crawlers.
    pub policies_without_others: u64,
    /// The number of origins of these policies.
    pub origins_without_others: u64,
    /// The crawlers that most policies name.
    pub most_named: Vec<RobotRow>,
}

/// The rules of a policy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PolicyRules {
    pub hosts: u64,
    /// The number of rules that apply to some agent.
    pub applicable: u64,
}

impl PolicyRules {
    fn of(hosts: u64, applied: &[Applied<'_>]) -> Result<PolicyRules, Damage> {
        let (mut entries, mut groups) = (Vec::new(), BTreeSet::new());
        for applied in applied.iter().filter_map(|it| it.groups.as_ref()) {
            if !entries.contains(&applied.entry) {
                entries.push(applied.entry);
                groups.extend(applied.rule_numbers()?.iter().map(|rules| (rules.start, rules.end)));
            }
        }
        let applicable = groups.iter().map(|(start, end)| u64::from(end - start)).sum();
        Ok(PolicyRules { hosts, applicable })
    }
}

/// The content of a policy for each agent and crawler.
struct Reading {
    /// Its answer to each agent.
    facts: PolicyReading,
    /// The crawlers that the file names, by number.
    robots: Vec<(u32, KnownReach)>,
    /// How much crawlers may fetch that the file does not name. `None` if no group applies to them.
    default: Option<KnownReach>,
    usage: UsageReading,
    rules: PolicyRules,
}

/// The two passes, and the survey so far.
struct Passes<'s> {
    facts: FactReader<'s>,
    /// The time that is asked about, and what applies before the first capture.
    as_of: Option<(UnixSeconds, BeforeFirst)>,
    survey: Survey,
    /// The uses of each policy, by number.
    uses: Vec<PolicyUse>,
    /// Of these, the uses where some agent reads something else.
    read_otherwise: Map<PolicyRead, ReadUse>,
    /// The names of crawlers, and the policies that name each.
    named: Vec<(&'s [u8], ReachFigures)>,
    usage: UsageSums,
    /// The most hosts that are named for a problem.
    hosts_max: usize,
}

impl<'s> Passes<'s> {
    /// Adds the captures of the origins of a host.
    fn add_host(&mut self, host: &StoredHost<'s>) -> Result<(), Damage> {
        let Passes { facts, as_of, survey, uses, .. } = self;
        let set = facts.set;
        let mut last: Option<PolicyRead> = None;
        for https in host.schemes() {
            let timeline = host.timeline(https)?;
            let at = match (*as_of, &timeline) {
                (Some((time, BeforeFirst::Oldest)), Some(timeline)) => {
                    let first = timeline.first().map(|first| timeline.moment(first)).transpose()?;
                    first.map(|first| first.since.max(time))
                }
                (as_of, _) => as_of.map(|(time, _)| time),
            };
            let Some((number, capture)) = captured(set, host, https, at)? else { continue };
            survey.hosts += u64::from(last.is_none());
            // http comes first, so the capture of https may be counted already.
            let is_new = !(https && host.is_one_capture());
            let state = set.policy(number)?.state()?;
            survey.origins.add(state, &capture.facts, is_new);
            if is_new && state.is_file() {
                for kind in capture.facts.file_notes.iter() {
                    let problem = &mut survey.problems[kind as usize];
                    problem.files += 1;
                    if problem.hosts.len() < self.hosts_max {
                        problem.hosts.push(Text::cut(host.key()));
                    }
                }
            }
            let missing = || set.malformed_host("an origin has a policy that is not there");
            let used = uses.get_mut(number.index()).ok_or_else(missing)?;
            let other = last.take().filter(|(other, _)| *other == number);
            used.origins += 1;
            used.hosts += u64::from(other.is_none());
            let read = (number, facts.readings.at((number, &capture), timeline.as_ref(), at)?);
            if !read.1.is_empty() || other.as_ref().is_some_and(|other| *other != read) {
                self.read_otherwise.entry(read.clone()).or_default().add(&read, other.as_ref());
            }
            last = Some(read);
        }
        Ok(())
    }

    /// Reads all policies, and calls `keep` with the rules of each, by number.
    fn read_policies(&mut self, mut keep: impl FnMut(PolicyRules)) -> Result<(), Damage> {
        let set = self.facts.set;
        let names = set.robot_names()?.into_iter();
        self.named = names.map(|name| (name, ReachFigures::default())).collect();
        let mut all_numbers = set.policies().map(|policy| Ok(policy?.number()));
        loop {
            let numbers = all_numbers.by_ref().take(POLICIES_AT_ONCE);
            let numbers: Vec<PolicyNumber> = numbers.collect::<Result<_, Damage>>()?;
            if numbers.is_empty() {
                return Ok(());
            }
            let Passes { facts, uses, .. } = &*self;
            let read = |number: &PolicyNumber| {
                let policy = set.policy(*number)?;
                let mut left = MERGED_PATTERNS_MAX;
                let mut reach = |entry| Ok(facts.reaches.of(&policy, entry, &mut left)?.reach);
                let default = policy.default_entry().map(&mut reach).transpose()?;
                let robot = |(name, entry)| Ok((name, reach(entry)?));
                let (reading, applied) = facts.read(&policy)?;
                Ok(Reading {
                    facts: reading,
                    robots: policy
                        .robots()?
                        .into_iter()
                        .map(robot)
                        .collect::<Result<_, Damage>>()?,
                    default,
                    usage: match policy.has_usage()? {
                        true => policy.with_file(|file, _| UsageReading::of(file))?,
                        false => UsageReading::default(),
                    },
                    rules: PolicyRules::of(uses[number.index()].hosts, &applied)?,
                })
            };
            let read: Vec<Result<Reading, Damage>> =
                numbers.par_iter().with_min_len(16).map(read).collect();
            for (number, reading) in numbers.iter().zip(read) {
                let reading = reading?;
                keep(reading.rules);
                self.add(reading, self.uses[number.index()])?;
            }
        }
    }

    fn add(&mut self, reading: Reading, used: PolicyUse) -> Result<(), Damage> {
        // The policies of earlier times are not part of the survey.
        if used.origins == 0 {
            return Ok(());
        }
        let Survey { reach, robots, .. } = &mut self.survey;
        for (figures, facts) in reach.iter_mut().zip(&reading.facts.agents) {
            figures.add(used, facts);
        }
        robots.naming_policies += u64::from(!reading.robots.is_empty());
        match reading.default {
            Some(reach) => robots.others.add(used, reach),
            None if reading.facts.state == PolicyState::Rules => {
                robots.policies_without_others += 1;
                robots.origins_without_others += used.origins;
            }
            None => {}
        }
        for (name, reach) in reading.robots {
            let lost = || self.facts.set.malformed_host("a crawler has no name");
            self.named.get_mut(name as usize).ok_or_else(lost)?.1.add(used, reach);
        }
        self.usage.add(reading.usage, used);
        Ok(())
    }

    /// Moves the counts of agents where they read something else than the policy.
    fn add_read_otherwise(&mut self) -> Result<(), Damage> {
        let Passes { facts, survey, read_otherwise, .. } = self;
        for ((number, reads), used) in read_otherwise.drain() {
            let policy = facts.set.policy(number)?;
            let (own, other) = (facts.read(&policy)?.0, facts.read_by(&policy, &reads)?.0);
            let agents = own.agents.iter().zip(&other.agents);
            for (agent, (figures, (own, other))) in survey.reach.iter_mut().zip(agents).enumerate()
            {
                figures.remove(used.used, own);
                figures.add(used.by(agent), other);
            }
        }
        Ok(())
    }

    /// Returns the survey. Lists have at most `top` rows.
    fn survey(self, top: usize) -> Survey {
        let Passes { mut survey, named, usage, .. } = self;
        // A set stores no origin without a policy.
        survey.origins.states.0.retain(|(state, _)| *state != PolicyState::Unknown.as_str());
        survey.problems.retain(|problem| problem.files > 0);
        survey.problems.sort_by_key(|problem| Reverse(problem.files));
        let named = named.into_iter().filter(|(_, count)| count.policies > 0);
        survey.robots.names = named.clone().count() as u64;
        let named = named.map(|(name, count)| RobotRow { name: Text(name.to_vec()), count });
        survey.robots.most_named = largest(named, top, |it| {
            (it.count.policies, it.count.origins, Reverse(it.name.clone()))
        });
        survey.usage = usage.figures(top);
        survey
    }
}
