//! The origins that changed between two sets: added, gone, in another state, or with other rules.
//!
//! Owns the comparison of two sets. To find the URLs whose verdict or usage preference changed, query
//! two [`Classifier`]s. Two policies have other rules if:
//!
//! - without agents, the *records* of their files differ: the user-agent lines and rules, by kind
//!   and value, byte for byte and in order. Line numbers, comments, the spelling of fields, and
//!   other records do not count. This finds every change that may change a verdict, and some that
//!   do not, such as another order.
//! - with agents, the *rules of an agent* differ: patterns in normal form with their verdicts, by
//!   precedence. The order and number of adjacent rules with one verdict do not count, because they
//!   cannot change it. Rules that never decide do count. An agent to which no group applies has no
//!   rules. The rules of an agent that reads something instead of a policy are those that it reads, so
//!   they may change where the policy does not.
//!
//! Other usage records are a change of their own, also of an origin in another state.
//!
//! A set with history can be compared at two times. Origins that had not been captured at a time are not
//! there.
//!
//! Each set is read in its own dialect, so equal rules may still give different verdicts.
//!
//! Cost: both sets are read once, in the order of hosts. Files from one template often change
//! alike, so the results for pairs of policies are cached, within [`DIFFERENCE_PAIRS_KEPT`]. Every
//! read can fail with a [`Damage`].
//!
//! ```
//! use portcullis_dialect::dialect::RFC_9309;
//! use portcullis_build::compile::{self, CompileConfig};
//! use portcullis_set::PolicySet;
//! use portcullis_survey::difference::{Side, each_change};
//! use portcullis_build::Standings;
//!
//! let empty = compile::to_vec(&Standings::default(), &CompileConfig::new(&RFC_9309, None))?;
//! let old = PolicySet::from_bytes("old", &empty)?.into();
//! let new = PolicySet::from_bytes("new", &empty)?.into();
//! let side = |set| Side::new(set, Vec::new(), None);
//! let counts = each_change(&[side(&old)?, side(&new)?], |change| {
//!     println!("{}: {}", String::from_utf8_lossy(&change.origin), change.change);
//!     Ok::<(), Box<dyn std::error::Error>>(())
//! })?;
//! assert_eq!(counts.changed.sum(), 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use portcullis_dialect::AccessOutcome;
use portcullis_dialect::decision::{PolicyState, Verdict};
use portcullis_dialect::words;
use portcullis_engine::pattern::Pattern;
use portcullis_report::Figures;
use portcullis_robots::access::UnixSeconds;
use portcullis_robots::policy::Crawler;
use portcullis_set::Damage;
use portcullis_set::batch::{AskError, Classifier};
use portcullis_set::stored::{EntryRules, PolicyNumber, PolicySet, Read, StoredHost};

use crate::limits::DIFFERENCE_PAIRS_KEPT;
use crate::origins::captured;
use crate::readings::{Readings, Reads};

#[cfg(test)]
mod tests;

/// One of two sets to compare, and the agents to compare them for.
#[derive(Debug)]
pub struct Side {
    set: Arc<PolicySet>,
    /// The agents in the set, if any were given.
    asked: Option<Classifier>,
    readings: Readings,
    /// The time as of which the set is compared; `None` for after all captures.
    at: Option<UnixSeconds>,
}

impl Side {
    /// A set for agents, given in its dialect; by the records of its files without agents. It is
    /// compared as of a time, which needs history; `None` for after all captures.
    ///
    /// # Errors
    ///
    /// If the set's names of crawlers are damaged, or it was compiled for other agents.
    pub fn new(
        set: &Arc<PolicySet>,
        agents: Vec<Crawler>,
        at: Option<UnixSeconds>,
    ) -> Result<Side, AskError> {
        let readings = Readings::of(set, agents.iter())?;
        let asked = (!agents.is_empty()).then(|| Classifier::new(Arc::clone(set), agents));
        Ok(Side { set: Arc::clone(set), asked: asked.transpose()?, readings, at })
    }

    fn agents(&self) -> usize {
        self.asked.as_ref().map_or(0, |asked| asked.agents().len())
    }
}

/// The old and the new state of an origin. `None` for the set that does not have it.
type States = [Option<OriginState>; 2];

/// Some agents, by position.
type Agents = Box<[usize]>;

words! {
    /// How an origin changed.
    pub enum Change {
        /// Only the new set has it.
        Added => "added",
        /// Only the old set has it.
        Gone => "gone",
        /// It is in another state, and has the same usage records.
        State => "state",
        /// It is in another state, and has other usage records.
        StateAndUsage => "state-and-usage",
        /// It has other rules, and the same usage records.
        Rules => "rules",
        /// It has other rules and other usage records.
        RulesAndUsage => "rules-and-usage",
        /// It has the same rules and other usage records.
        Usage => "usage",
    }
}

/// A changed origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OriginChange {
    /// The origin: `https://a.example:8443`.
    pub origin: Vec<u8>,
    pub change: Change,
    /// The old and the new state. `None` for the set that does not have the origin.
    pub states: States,
    /// The agents with other rules, by position; empty for other changes, or if no agent was given.
    pub agents: Agents,
}

/// The state of an origin's policy, and its verdict if there is no file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct OriginState {
    /// The state.
    pub state: PolicyState,
    /// The verdict on every URL; `None` if there is a file.
    pub verdict: Option<Verdict>,
}

impl fmt::Display for OriginState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.verdict {
            Some(verdict) => write!(f, "{} {verdict}", self.state),
            None => write!(f, "{}", self.state),
        }
    }
}

/// Counts of compared origins.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct ChangeCounts {
    /// Origins by how they changed.
    #[serde(flatten)]
    pub changed: Figures,
    /// Origins that did not change.
    pub unchanged: u64,
    /// Origins with other rules, by agent.
    #[serde(skip)]
    pub rules_by_agent: Vec<u64>,
}

/// Compares an old and a new side, which may be of one set: calls `with` for each change, in the order of
/// hosts, http before https, and returns the counts.
///
/// # Errors
///
/// The first damage, or the error of `with`.
///
/// # Panics
///
/// If the two sides do not have the same number of agents.
pub fn each_change<E: From<Damage>>(
    sides: &[Side; 2],
    mut with: impl FnMut(OriginChange) -> Result<(), E>,
) -> Result<ChangeCounts, E> {
    let [agents, same] = sides.each_ref().map(Side::agents);
    assert_eq!(agents, same, "the same agents ask both sets");
    let changed = Figures::of(Change::ALL, Change::as_str, |_| 0);
    let mut counts = ChangeCounts { changed, unchanged: 0, rules_by_agent: vec![0; agents] };
    let mut pairs = Pairs::default();
    let [mut old_hosts, mut new_hosts] = sides.each_ref().map(|side| side.set.hosts());
    let (mut old, mut new) = (old_hosts.next().transpose()?, new_hosts.next().transpose()?);
    loop {
        let order = match (&old, &new) {
            (None, None) => return Ok(counts),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(old), Some(new)) => old.key().cmp(new.key()),
        };
        let hosts = [old.filter(|_| order.is_le()), new.filter(|_| order.is_ge())];
        for https in [false, true] {
            let read_by = |side: usize| read(&sides[side], hosts[side].as_ref(), https);
            let read = [read_by(0)?, read_by(1)?];
            let is_known = read.iter().any(Option::is_some);
            let Some(host) = hosts.iter().flatten().next().filter(|_| is_known) else { continue };
            let state_of = |side: usize| {
                let policy = read[side].as_ref().map(|(policy, _)| *policy);
                policy.map(|policy| state(&sides[side].set, policy)).transpose()
            };
            let states = [state_of(0)?, state_of(1)?];
            let differing = match read {
                [None, _] => Some((Change::Added, Box::default())),
                [_, None] => Some((Change::Gone, Box::default())),
                [Some(old), Some(new)] => {
                    pairs.differing(sides, [old, new], states[0] != states[1])?
                }
            };
            let Some((change, agents)) = differing else {
                counts.unchanged += 1;
                continue;
            };
            counts.changed.count(change as usize);
            agents.iter().for_each(|&agent| counts.rules_by_agent[agent] += 1);
            with(OriginChange { origin: host.origin(https), change, states, agents })?;
        }
        if order.is_le() {
            old = old_hosts.next().transpose()?;
        }
        if order.is_ge() {
            new = new_hosts.next().transpose()?;
        }
    }
}

/// A policy, and what agents read in its place.
type ReadPolicy = (PolicyNumber, Reads);

/// Returns the policy of an origin in a set, as of its time; `None` if it had not been captured.
fn read(
    side: &Side,
    host: Option<&StoredHost<'_>>,
    https: bool,
) -> Result<Option<ReadPolicy>, Damage> {
    let Some(host) = host.filter(|host| host.policy(https).is_some()) else { return Ok(None) };
    let Some((policy, capture)) = captured(&side.set, host, https, side.at)? else {
        return Ok(None);
    };
    let timeline = host.timeline(https)?;
    let reads = side.readings.at((policy, &capture), timeline.as_ref(), side.at)?;
    Ok(Some((policy, reads)))
}

/// The kind of difference, and the agents with other rules.
type Differing = (Change, Agents);

fn state(set: &PolicySet, position: PolicyNumber) -> Result<OriginState, Damage> {
    let outcome = set.policy(position)?.access()?;
    let has_file = outcome.state.is_file();
    let verdict = (!has_file).then_some(outcome.verdict);
    Ok(OriginState { state: outcome.state, verdict })
}

/// Cached comparisons of policies: for each pair, what differs. Cleared when it is full.
#[derive(Default)]
struct Pairs(HashMap<[ReadPolicy; 2], Option<Differing>>);

impl Pairs {
    /// Returns what differs in the second file; `None` if nothing does.
    fn differing(
        &mut self,
        sides: &[Side; 2],
        pair: [ReadPolicy; 2],
        is_other_state: bool,
    ) -> Result<Option<Differing>, Damage> {
        if let Some(known) = self.0.get(&pair) {
            return Ok(known.clone());
        }
        let [before, after] = [sides[0].set.policy(pair[0].0)?, sides[1].set.policy(pair[1].0)?];
        let [same_records, same_usage] = before.has_records_of(&after)?;
        let reads_otherwise = pair.iter().any(|(_, reads)| !reads.is_empty());
        let has_rules = reads_otherwise || before.access()?.state == PolicyState::Rules;
        let rules = match has_rules && !is_other_state {
            true => other_rules(sides, &pair, same_records && !reads_otherwise)?,
            false => None,
        };
        let found = match (rules, same_usage) {
            (_, true) if is_other_state => Some((Change::State, Box::default())),
            (_, false) if is_other_state => Some((Change::StateAndUsage, Box::default())),
            (None, true) => None,
            (None, false) => Some((Change::Usage, Box::default())),
            (Some(agents), true) => Some((Change::Rules, agents)),
            (Some(agents), false) => Some((Change::RulesAndUsage, agents)),
        };
        if self.0.len() >= DIFFERENCE_PAIRS_KEPT {
            self.0.clear();
        }
        self.0.insert(pair, found.clone());
        Ok(found)
    }
}

/// Returns the agents with other rules in the second file; `None` if nothing differs.
fn other_rules(
    [before, after]: &[Side; 2],
    [old, new]: &[ReadPolicy; 2],
    same_records: bool,
) -> Result<Option<Agents>, Damage> {
    let (Some(old_agents), Some(new_agents)) = (&before.asked, &after.asked) else {
        return Ok((!same_records).then(Box::default));
    };
    // The meaning of the same records depends only on the dialect.
    if same_records && before.set.dialect().name == after.set.dialect().name {
        return Ok(None);
    }
    let mut changed = Vec::new();
    for agent in 0..old_agents.agents().len() {
        let (old_verdict, old_rules) = rules_of(old_agents, old, agent)?;
        let (new_verdict, new_rules) = rules_of(new_agents, new, agent)?;
        if old_verdict != new_verdict || runs(old_rules.as_ref()) != runs(new_rules.as_ref()) {
            changed.push(agent);
        }
    }
    Ok((!changed.is_empty()).then(|| changed.into()))
}

/// Returns the verdict on paths that no rule matches, and the rules that apply to an agent, if there are some.
fn rules_of<'c>(
    asked: &'c Classifier,
    (policy, reads): &ReadPolicy,
    agent: usize,
) -> Result<(Verdict, Option<EntryRules<'c>>), Damage> {
    let policy = match reads.get(agent).copied().flatten() {
        Some(Read::Open(_)) => return Ok((Verdict::Allow, None)),
        Some(Read::Copy(copy)) => copy,
        None => *policy,
    };
    let AccessOutcome { state, verdict } = asked.set().policy(policy)?.access()?;
    let verdict = if state == PolicyState::Rules { Verdict::Allow } else { verdict };
    let groups = asked.rules_of(policy, agent)?;
    Ok((verdict, groups.map(|groups| groups.rules()).transpose()?))
}

/// Adjacent patterns with one verdict: whether they allow, and the patterns, each once. The verdict is the same
/// whichever of these matches first.
type Run<'l> = (bool, HashSet<Pattern<'l>>);

/// Returns the rules in order of precedence, in runs.
fn runs<'l>(rules: Option<&'l EntryRules<'_>>) -> Vec<Run<'l>> {
    let mut runs: Vec<Run<'l>> = Vec::new();
    for (outcome, pattern) in rules.iter().flat_map(|rules| rules.as_rule_set().iter()) {
        match runs.last_mut() {
            Some((last, patterns)) if *last == outcome.allows() => {
                patterns.insert(pattern);
            }
            _ => runs.push((outcome.allows(), HashSet::from([pattern]))),
        }
    }
    runs
}
