//! One pass over the hosts: the state of their origins, the problems of their files, and which
//! policy each uses.
//!
//! Memory: 16 bytes for each policy; with history and agents, 240 more ([`PolicyTimes`]).

use std::cmp::Reverse;
use std::collections::BTreeMap;

use hashbrown::HashMap;
use portcullis_dialect::decision::PolicyState;
use portcullis_report::Figures;
use portcullis_robots::access::{CaptureNote, DateSpan, UnixSeconds};
use portcullis_robots::syntax::NoteKind;
use portcullis_set::stored::{CaptureFacts, PolicyNumber, StoredCapture, StoredHost};
use portcullis_set::{Damage, PolicySet};
use serde::Serialize;

use crate::delays;
use crate::exclusions::PolicyTimes;
use crate::facts::FactReader;
use crate::policies::AgentFigures;
use crate::text::Text;

/// Returns the policy and the capture of an origin as of a time, or the newest; `None` if it had not been
/// captured.
pub(crate) fn captured<'s>(
    set: &'s PolicySet,
    host: &StoredHost<'s>,
    https: bool,
    at: Option<UnixSeconds>,
) -> Result<Option<(PolicyNumber, StoredCapture<'s>)>, Damage> {
    if let Some(time) = at
        && let Some(timeline) = host.timeline(https)?
    {
        let moment = timeline.index_at(time)?.map(|index| timeline.moment(index)).transpose()?;
        return Ok(moment.map(|moment| (moment.policy, moment.capture)));
    }
    match (host.policy(https), host.capture(https)?) {
        (Some(policy), Some(capture)) => Ok(Some((policy, capture))),
        _ => Err(set.malformed_host("an origin has no policy or no capture")),
    }
}

/// A map with a random seed.
pub(crate) type Map<K, V> = HashMap<K, V, foldhash::fast::RandomState>;

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

/// The number of origins and hosts that use a policy.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PolicyUse {
    pub origins: u64,
    /// A host counts once if its policy applies to http and https.
    pub hosts: u64,
}

/// The result of the pass over the hosts.
#[derive(Default)]
pub(crate) struct HostPass {
    pub hosts: u64,
    pub origins: OriginFigures,
    pub problems: Vec<NoteFigures>,
    /// The uses of each policy, by number.
    pub uses: Vec<PolicyUse>,
    /// The figures of each agent that are not of policies: the crawl delays.
    pub agents: Vec<AgentFigures>,
    /// The uses of policies over time, if that is asked.
    pub times: Option<PolicyTimes>,
    /// The most hosts that are named for a problem.
    named_max: usize,
}

impl HostPass {
    /// Reads all hosts of the set of `facts`, and the crawl delays for its agents. Of each problem at most
    /// `named_max` hosts are named.
    pub fn of(facts: &FactReader<'_>, named_max: usize) -> Result<HostPass, Damage> {
        let (set, agents) = (facts.set, &*facts.agents);
        let times = if agents.is_empty() { None } else { PolicyTimes::of(set) };
        let mut pass = HostPass {
            uses: vec![PolicyUse::default(); set.policy_count() as usize],
            agents: facts.figures(),
            times,
            named_max,
            ..HostPass::default()
        };
        pass.origins.states = Figures::of(PolicyState::ALL, PolicyState::as_str, |_| 0);
        pass.origins.capture_notes = Figures::of(CaptureNote::ALL, CaptureNote::as_str, |_| 0);
        pass.origins.file_notes = Figures::of(NoteKind::ALL, NoteKind::as_str, |_| 0);
        let problem = |kind: NoteKind| NoteFigures {
            kind: kind.as_str(),
            meaning: kind.describe(),
            ..NoteFigures::default()
        };
        pass.problems = NoteKind::ALL.map(problem).to_vec();
        for host in set.hosts() {
            let host = host?;
            pass.add(set, &host)?;
            if !agents.is_empty() {
                delays::count(set, &host, agents, &mut pass.agents)?;
            }
            if let Some(times) = &mut pass.times {
                times.add(set, &host)?;
            }
        }
        // A set stores no origin without a policy.
        pass.origins.states.0.retain(|(state, _)| *state != PolicyState::Unknown.as_str());
        pass.problems.retain(|problem| problem.files > 0);
        pass.problems.sort_by_key(|problem| Reverse(problem.files));
        Ok(pass)
    }

    fn add(&mut self, set: &PolicySet, host: &StoredHost<'_>) -> Result<(), Damage> {
        self.hosts += 1;
        for https in host.schemes() {
            let Some((position, capture)) = captured(set, host, https, None)? else { continue };
            // http comes first, so the capture of https may be counted already.
            let is_new = !(https && host.is_one_capture());
            let state = set.policy(position)?.state()?;
            self.origins.states.count(state as usize);
            self.add_facts(&capture.facts, is_new);
            if is_new && state.is_file() {
                self.origins.files += 1;
                for kind in capture.facts.file_notes.iter() {
                    self.add_problem(kind, host);
                }
            }
            let missing = || set.malformed_host("an origin has a policy that is not there");
            let used = self.uses.get_mut(position.index()).ok_or_else(missing)?;
            used.origins += 1;
            used.hosts += u64::from(!(https && host.policy(false) == Some(position)));
        }
        Ok(())
    }

    fn add_problem(&mut self, kind: NoteKind, host: &StoredHost<'_>) {
        let problem = &mut self.problems[kind as usize];
        problem.files += 1;
        if problem.hosts.len() < self.named_max {
            problem.hosts.push(Text::cut(host.key()));
        }
    }

    fn add_facts(&mut self, facts: &CaptureFacts, is_new: bool) {
        let origins = &mut self.origins;
        origins.origins += 1;
        origins.in_outage += u64::from(facts.outage.is_some());
        facts.capture_notes.iter().for_each(|note| origins.capture_notes.count(note as usize));
        facts.file_notes.iter().for_each(|kind| origins.file_notes.count(kind as usize));
        if is_new {
            origins.captures += 1;
            origins.file_bytes += u64::from(facts.file_bytes);
        }
        *origins.statuses.entry(facts.status).or_default() += 1;
        origins.capture_dates = DateSpan::over(origins.capture_dates, facts.dates());
        origins.undated += u64::from(facts.captured_at.is_none());
    }
}
