//! The origins that changed between two sets: added, gone, in another state, with other rules, or
//! with other usage preferences.
//!
//! Owns the comparison of two sets. To find the URLs whose verdict changed, query two
//! [`Classifier`](crate::batch::Classifier)s. Two policies have other rules if:
//!
//! - without agents, the *records* of their files differ: the user-agent lines and rules, by kind
//!   and value, byte for byte and in order. Line numbers, comments, the spelling of fields, and
//!   other records do not count. This finds every change that may change a verdict, and some that
//!   do not, such as another order.
//! - with agents, the *rules of an agent* differ: patterns in normal form with their verdicts, by
//!   precedence. The order and number of adjacent rules with one verdict do not count, because they
//!   cannot change it. Rules that never decide do count. An agent to which no group applies has no
//!   rules.
//!
//! [`Difference::with_usage`] also compares what files state about the uses of pages, for agents and
//! labels; see [`UsageChange`].
//!
//! Each set is read in its own dialect, so equal rules may still give different verdicts.
//!
//! Cost: both sets are read once, in the order of hosts. Files from one template often change
//! alike, so the results for [`DIFFERENCE_PAIRS_KEPT`] pairs of policies are cached. Every read can
//! fail with a [`Damage`]; iteration ends after it.
//!
//! ```
//! use portcullis_dialect::dialect::RFC_9309;
//! use portcullis_set::compile::{self, CompileConfig};
//! use portcullis_set::{BlobPool, Change, Difference, PolicySet};
//!
//! let empty = compile::to_vec(&[], &BlobPool::default(), &CompileConfig::new(&RFC_9309, None))?;
//! let old = PolicySet::of_bytes("old", &empty)?.into();
//! let new = PolicySet::of_bytes("new", &empty)?.into();
//! let difference = Difference::new(&old, &new);
//! let mut changes = difference.changes();
//! for change in changes.by_ref() {
//!     let change = change?;
//!     if let Change::Gone { old } = change.kind {
//!         println!("{} was {old}", String::from_utf8_lossy(&change.origin));
//!     }
//! }
//! assert_eq!(changes.counts().changed(), 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(test)]
mod tests;
mod usage;

use std::cmp::Ordering;
use std::collections::{HashSet, VecDeque};
use std::fmt;
use std::iter::Peekable;
use std::sync::Arc;

use portcullis_dialect::decision::{PolicyState, Verdict};
use portcullis_dialect::limits::{DIFFERENCE_PAIR_BYTES_KEPT, DIFFERENCE_PAIRS_KEPT};
use portcullis_dialect::usage::Label;
use portcullis_engine::bytes::seeded_hash;
use portcullis_engine::pattern::{PathPattern, PatternList};
use portcullis_robots::policy::{AgentChain, OrderedRules};

use super::batch::{AskError, Classifier};
use super::file::Damage;
use super::stored::{PolicyNumber, PolicySet, StoredHost};

pub use usage::UsageChange;

/// Two sets to compare, and the agents to compare them for.
#[derive(Debug)]
pub struct Difference {
    old: Arc<PolicySet>,
    new: Arc<PolicySet>,
    /// The agents in the old and in the new set, if any were given.
    asked: Option<(Classifier, Classifier)>,
}

/// A changed origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OriginChange {
    /// The origin: `https://a.example:8443`.
    pub origin: Vec<u8>,
    /// The change.
    pub kind: Change,
}

/// How an origin changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Only the new set has it.
    Added {
        /// The new state.
        new: OriginState,
    },
    /// Only the old set has it.
    Gone {
        /// The old state.
        old: OriginState,
    },
    /// The state differs.
    State {
        /// The old state.
        old: OriginState,
        /// The new state.
        new: OriginState,
    },
    /// Both have a file with rules, and the rules differ.
    Rules {
        /// The agents with other rules, by position; empty if no agent was given.
        agents: Vec<usize>,
    },
    /// Both have a file, and the files state different preferences for a label. An origin may have
    /// several of these, after another change.
    Usage(UsageChange),
}

/// The state of an origin's policy, and its verdict if there is no file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct OriginState {
    /// The state.
    pub state: PolicyState,
    /// The verdict on every URL; `None` if there is a file.
    pub verdict: Option<Verdict>,
}

impl OriginState {
    /// There is a file with rules.
    pub const RULES: OriginState = OriginState { state: PolicyState::Rules, verdict: None };
}

impl fmt::Display for OriginState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.verdict {
            Some(verdict) => write!(f, "{} {verdict}", self.state),
            None => write!(f, "{}", self.state),
        }
    }
}

impl Change {
    /// Returns the word used in output.
    pub fn as_str(&self) -> &'static str {
        match self {
            Change::Added { .. } => "added",
            Change::Gone { .. } => "gone",
            Change::State { .. } => "state",
            Change::Rules { .. } => "rules",
            Change::Usage(_) => "usage",
        }
    }

    /// Returns the old state; `None` if the origin was not known, or its preferences changed.
    pub fn before(&self) -> Option<OriginState> {
        match self {
            Change::Added { .. } | Change::Usage(_) => None,
            Change::Gone { old } | Change::State { old, .. } => Some(*old),
            Change::Rules { .. } => Some(OriginState::RULES),
        }
    }

    /// Returns the new state; `None` if the origin is not known, or its preferences changed.
    pub fn after(&self) -> Option<OriginState> {
        match self {
            Change::Gone { .. } | Change::Usage(_) => None,
            Change::Added { new } | Change::State { new, .. } => Some(*new),
            Change::Rules { .. } => Some(OriginState::RULES),
        }
    }
}

/// Counts of compared origins.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct ChangeCounts {
    /// Origins that only the new set has.
    pub added: u64,
    /// Origins that only the old set has.
    pub gone: u64,
    /// Origins in another state.
    pub state: u64,
    /// Origins with other rules.
    pub rules: u64,
    /// Origins with other usage preferences; `None` if these are not compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<u64>,
    /// Origins that did not change.
    pub unchanged: u64,
    /// Origins with other rules, by agent.
    #[serde(skip)]
    pub rules_by_agent: Vec<u64>,
    /// Origins with other usage preferences, by agent, then by label in the order of [`Label::ALL`].
    #[serde(skip)]
    pub usage_by_agent: Vec<[u64; Label::ALL.len()]>,
}

impl ChangeCounts {
    /// Returns the sum of all kinds of changes. An origin with other rules and other preferences counts
    /// twice.
    pub fn changed(&self) -> u64 {
        self.added + self.gone + self.state + self.rules + self.usage.unwrap_or(0)
    }

    /// Counts an origin with these changes.
    fn add(&mut self, kinds: &[Change]) {
        self.unchanged += u64::from(kinds.is_empty());
        for kind in kinds {
            match kind {
                Change::Added { .. } => self.added += 1,
                Change::Gone { .. } => self.gone += 1,
                Change::State { .. } => self.state += 1,
                Change::Rules { agents } => {
                    self.rules += 1;
                    agents.iter().for_each(|&agent| self.rules_by_agent[agent] += 1);
                }
                Change::Usage(UsageChange { label, agents, .. }) => {
                    let counts = &mut self.usage_by_agent;
                    agents.iter().for_each(|&agent| counts[agent][*label as usize] += 1);
                }
            }
        }
        let has_usage = kinds.iter().any(|kind| matches!(kind, Change::Usage(_)));
        self.usage = self.usage.map(|origins| origins + u64::from(has_usage));
    }
}

impl Difference {
    /// Compares two sets by the records of their files.
    pub fn new(old: &Arc<PolicySet>, new: &Arc<PolicySet>) -> Difference {
        let [old, new] = [old, new].map(Arc::clone);
        Difference { old, new, asked: None }
    }

    /// Compares two sets for agents, given in the dialect of the old and of the new set.
    ///
    /// # Errors
    ///
    /// If a set's names of robots are damaged, or it was compiled for other agents.
    ///
    /// # Panics
    ///
    /// If the two do not have the same number of agents.
    pub fn for_agents(
        old: (&Arc<PolicySet>, Vec<AgentChain>),
        new: (&Arc<PolicySet>, Vec<AgentChain>),
    ) -> Result<Difference, AskError> {
        assert_eq!(old.1.len(), new.1.len(), "the same agents ask both sets");
        let classifier =
            |(set, agents): (&Arc<PolicySet>, _)| Classifier::new(Arc::clone(set), agents);
        let (old_set, new_set) = (Arc::clone(old.0), Arc::clone(new.0));
        let asked = Some((classifier(old)?, classifier(new)?));
        Ok(Difference { old: old_set, new: new_set, asked })
    }

    /// Also compares what files state about these labels, for the agents. An empty list changes
    /// nothing.
    ///
    /// # Panics
    ///
    /// If no agent was given.
    #[must_use]
    pub fn with_usage(mut self, labels: &[Label]) -> Difference {
        if !labels.is_empty() {
            let (old, new) = self.asked.expect("preferences are those of agents");
            self.asked = Some((old.with_usage(labels), new.with_usage(labels)));
        }
        self
    }

    /// Returns the labels whose preferences are compared.
    fn labels(&self) -> &[Label] {
        self.asked.as_ref().map_or(&[], |(old, _)| old.labels())
    }

    /// Returns the changes, in the order of hosts, http before https.
    pub fn changes(&self) -> Changes<'_> {
        let agents = self.asked.as_ref().map_or(0, |(old, _)| old.agents().len());
        let counts = ChangeCounts {
            rules_by_agent: vec![0; agents],
            usage_by_agent: vec![[0; Label::ALL.len()]; agents],
            usage: (!self.labels().is_empty()).then_some(0),
            ..ChangeCounts::default()
        };
        Changes {
            difference: self,
            old: hosts(&self.old),
            new: hosts(&self.new),
            pairs: Pairs::new(),
            waiting: VecDeque::new(),
            counts,
            failed: false,
        }
    }
}

type Hosts<'s> = Peekable<Box<dyn Iterator<Item = Result<StoredHost<'s>, Damage>> + 's>>;

fn hosts(set: &PolicySet) -> Hosts<'_> {
    let hosts: Box<dyn Iterator<Item = _>> = Box::new(set.hosts());
    hosts.peekable()
}

/// The changes from one set to another.
pub struct Changes<'d> {
    difference: &'d Difference,
    old: Hosts<'d>,
    new: Hosts<'d>,
    pairs: Pairs,
    /// Changes of the last host that are not returned yet.
    waiting: VecDeque<OriginChange>,
    counts: ChangeCounts,
    failed: bool,
}

impl Iterator for Changes<'_> {
    type Item = Result<OriginChange, Damage>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.failed {
            if let Some(change) = self.waiting.pop_front() {
                return Some(Ok(change));
            }
            match self.next_host() {
                Ok(Some((old, new))) => {
                    if let Err(damage) = self.compare_hosts(old.as_ref(), new.as_ref()) {
                        self.failed = true;
                        return Some(Err(damage));
                    }
                }
                Ok(None) => return None,
                Err(damage) => {
                    self.failed = true;
                    return Some(Err(damage));
                }
            }
        }
        None
    }
}

/// A host in the old and in the new set; at least one of them has it.
type HostPair<'d> = (Option<StoredHost<'d>>, Option<StoredHost<'d>>);

impl<'d> Changes<'d> {
    /// Returns the counts of the origins compared so far.
    pub fn counts(&self) -> &ChangeCounts {
        &self.counts
    }

    /// Returns the next host by key, in either set.
    fn next_host(&mut self) -> Result<Option<HostPair<'d>>, Damage> {
        let order = match (self.old.peek(), self.new.peek()) {
            (None, None) => return Ok(None),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(Ok(old)), Some(Ok(new))) => old.key().cmp(new.key()),
            // One of them is damage, which is returned below.
            (Some(_), Some(_)) => Ordering::Equal,
        };
        let old = if order.is_le() { self.old.next().transpose()? } else { None };
        let new = if order.is_ge() { self.new.next().transpose()? } else { None };
        Ok(Some((old, new)))
    }

    fn compare_hosts(
        &mut self,
        old: Option<&StoredHost<'d>>,
        new: Option<&StoredHost<'d>>,
    ) -> Result<(), Damage> {
        for https in [false, true] {
            let policy = |host: Option<&StoredHost<'d>>| host.and_then(|host| host.policy(https));
            let policies = (policy(old), policy(new));
            if policies == (None, None) {
                continue;
            }
            let kinds = self.compare(policies)?;
            self.counts.add(&kinds);
            if let Some(host) = old.or(new) {
                let change = |kind| OriginChange { origin: host.origin(https), kind };
                self.waiting.extend(kinds.into_iter().map(change));
            }
        }
        Ok(())
    }

    fn compare(
        &mut self,
        policies: (Option<PolicyNumber>, Option<PolicyNumber>),
    ) -> Result<Vec<Change>, Damage> {
        let Difference { old: old_set, new: new_set, .. } = self.difference;
        Ok(match policies {
            (None, None) => Vec::new(),
            (Some(old), None) => vec![Change::Gone { old: state(old_set, old)? }],
            (None, Some(new)) => vec![Change::Added { new: state(new_set, new)? }],
            (Some(old), Some(new)) => {
                let states = (state(old_set, old)?, state(new_set, new)?);
                let is_rules = states == (OriginState::RULES, OriginState::RULES);
                let are_files = states.0.verdict.is_none() && states.1.verdict.is_none();
                let mut kinds = Vec::new();
                if states.0 != states.1 {
                    kinds.push(Change::State { old: states.0, new: states.1 });
                }
                if is_rules || (are_files && !self.difference.labels().is_empty()) {
                    let changes = self.pairs.changes(self.difference, old, new)?.iter();
                    let counts = |it: &&Change| is_rules || matches!(it, Change::Usage(_));
                    kinds.extend(changes.filter(counts).cloned());
                }
                kinds
            }
        })
    }
}

fn state(set: &PolicySet, position: PolicyNumber) -> Result<OriginState, Damage> {
    let outcome = set.policy(position)?.access()?;
    let has_file = matches!(outcome.state, PolicyState::Rules | PolicyState::NoRules);
    let verdict = (!has_file).then_some(outcome.verdict);
    Ok(OriginState { state: outcome.state, verdict })
}

/// Cached comparisons of policies. Each pair has one place, and replaces the pair that was there.
struct Pairs {
    kept: Vec<Option<Pair>>,
    /// The last pair whose changes are too long to keep.
    large: Option<Pair>,
    scratches: [Vec<u8>; 2],
}

struct Pair {
    old: PolicyNumber,
    new: PolicyNumber,
    /// Other rules and other preferences.
    changes: Box<[Change]>,
}

impl Pairs {
    fn new() -> Pairs {
        Pairs {
            kept: std::iter::repeat_with(|| None).take(DIFFERENCE_PAIRS_KEPT).collect(),
            large: None,
            scratches: [Vec::new(), Vec::new()],
        }
    }

    /// Returns the changes of rules and preferences from one file to another.
    fn changes(
        &mut self,
        difference: &Difference,
        old: PolicyNumber,
        new: PolicyNumber,
    ) -> Result<&[Change], Damage> {
        let place = place(old, new);
        let is_it = |pair: &&Option<Pair>| {
            pair.as_ref().is_some_and(|pair| (pair.old, pair.new) == (old, new))
        };
        if ![&self.kept[place], &self.large].iter().any(is_it) {
            let agents = compare(difference, (old, new), &mut self.scratches)?;
            let rules = agents.map(|agents| Change::Rules { agents: agents.into() });
            let usage = match &difference.asked {
                Some((asked_old, asked_new)) => usage::changes((asked_old, old), (asked_new, new))?,
                None => Vec::new(),
            };
            let bytes: usize = usage.iter().map(UsageChange::bytes).sum();
            let changes = rules.into_iter().chain(usage.into_iter().map(Change::Usage)).collect();
            let slot = match bytes > DIFFERENCE_PAIR_BYTES_KEPT {
                true => &mut self.large,
                false => &mut self.kept[place],
            };
            *slot = Some(Pair { old, new, changes });
        }
        let pair = [&self.kept[place], &self.large].into_iter().find(is_it);
        Ok(pair.and_then(Option::as_ref).map_or(&[], |pair| &pair.changes))
    }
}

fn place(old: PolicyNumber, new: PolicyNumber) -> usize {
    let [old, new] = [old, new].map(|number| number.index().to_le_bytes());
    seeded_hash([old, new].as_flattened()) as usize % DIFFERENCE_PAIRS_KEPT
}

fn compare(
    difference: &Difference,
    (old, new): (PolicyNumber, PolicyNumber),
    scratches: &mut [Vec<u8>; 2],
) -> Result<Option<Box<[usize]>>, Damage> {
    let Difference { old: old_set, new: new_set, asked } = difference;
    let same_records = old_set.policy(old)?.has_records_of(&new_set.policy(new)?, scratches)?;
    let Some((old_agents, new_agents)) = asked else {
        return Ok((!same_records).then(Box::default));
    };
    // The meaning of the same records depends only on the dialect.
    if same_records && old_set.dialect().name == new_set.dialect().name {
        return Ok(None);
    }
    let mut changed = Vec::new();
    for agent in 0..old_agents.agents().len() {
        let old_rules = old_agents.ordered_rules(old, agent)?;
        let new_rules = new_agents.ordered_rules(new, agent)?;
        if !same_rules(&old_rules, &new_rules) {
            changed.push(agent);
        }
    }
    Ok((!changed.is_empty()).then(|| changed.into()))
}

/// Returns whether both have the same patterns with the same verdicts, except for the order and
/// number of adjacent rules with one verdict. The verdict is the same whichever of these matches
/// first.
fn same_rules(old: &OrderedRules, new: &OrderedRules) -> bool {
    // Often two files differ only for other agents.
    (old.patterns == new.patterns && old.verdicts == new.verdicts)
        || runs(&old.patterns, &old.verdicts) == runs(&new.patterns, &new.verdicts)
}

/// Adjacent patterns with one outcome: the outcome and the patterns, each once.
type Run<'l, T> = (T, HashSet<PathPattern<'l>>);

fn runs<'l, T: Copy + PartialEq>(patterns: &'l PatternList, outcomes: &[T]) -> Vec<Run<'l, T>> {
    let mut runs: Vec<Run<'l, T>> = Vec::new();
    for (pattern, &outcome) in patterns.iter().zip(outcomes) {
        match runs.last_mut() {
            Some((last, patterns)) if *last == outcome => {
                patterns.insert(pattern);
            }
            _ => runs.push((outcome, HashSet::from([pattern]))),
        }
    }
    runs
}
