//! What changed from one set to another: origins added, gone, in another state, under other rules.
//!
//! Owns the comparison of sets as they are; which URLs change their verdict is found by asking two
//! [`Classifier`](crate::batch::Classifier)s. What counts as other rules depends on who asks:
//!
//! - Without agents, the *records* of the two files are compared: the user-agent lines and rules, by
//!   kind and value, byte for byte and in their order. Line numbers, comments, the spelling of
//!   field names and records that decide nothing do not count. Any change of what decides is found,
//!   and some that change no verdict, such as rules in another order.
//! - With agents, the *rules that each obeys* are compared: their patterns in normal form with their
//!   verdicts, in order of precedence, where the order and number of neighbours with the same verdict
//!   do not count, because they cannot change one. Rules that can never decide do count. An agent
//!   that no group speaks to obeys no rules, which is the same as a group without any.
//!
//! Where two sets follow different dialects each is read by its own, so equal rules may still give
//! different verdicts.
//!
//! Cost: both sets are read once, in the order of hosts, and nothing is kept but the outcomes for
//! [`DIFFERENCE_PAIRS_KEPT`](crate::limits::DIFFERENCE_PAIRS_KEPT) pairs of policies, since files from
//! one template change alike.
//!
//! What can fail: everything, with a [`Damage`], after which there is no next change.
//!
//! ```
//! use portcullis::dialect::RFC_9309;
//! use portcullis::set::compile::{self, CompileConfig};
//! use portcullis::set::{BlobPool, Change, Difference, PolicySet};
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

mod pairs;
mod rules;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::collections::VecDeque;
use std::fmt;
use std::iter::Peekable;
use std::sync::Arc;

use crate::decision::{PolicyState, Verdict};
use crate::policy::{AgentChain, Detail};

use super::file::Damage;
use super::stored::{AskError, Inquiry, PolicyNumber, PolicySet, StoredHost};

use self::pairs::Pairs;

/// Two sets to compare, and for whom.
#[derive(Debug)]
pub struct Difference {
    old: Arc<PolicySet>,
    new: Arc<PolicySet>,
    /// The agents that ask, if there are any, in the old and in the new set.
    asked: Option<(Inquiry, Inquiry)>,
}

/// An origin that changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OriginChange {
    /// The origin as people write it: `https://a.example:8443`.
    pub origin: Vec<u8>,
    /// What changed.
    pub kind: Change,
}

/// What changed about an origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Nothing was known of it.
    Added {
        /// What is known.
        new: OriginState,
    },
    /// Nothing is known of it any more.
    Gone {
        /// What was known.
        old: OriginState,
    },
    /// Whether there is a file, or what its absence means.
    State {
        /// What it was.
        old: OriginState,
        /// What it is.
        new: OriginState,
    },
    /// There was and is a file with rules, and they are others.
    Rules {
        /// The agents that obey other rules, by their position; none if no agent was named.
        agents: Vec<usize>,
    },
}

/// The state of an origin's policy, and what holds for every URL if there is no file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OriginState {
    /// The state.
    pub state: PolicyState,
    /// The verdict on every URL; nothing if there is a file.
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
    /// The word that the command line prints.
    pub fn as_str(&self) -> &'static str {
        match self {
            Change::Added { .. } => "added",
            Change::Gone { .. } => "gone",
            Change::State { .. } => "state",
            Change::Rules { .. } => "rules",
        }
    }

    /// What was known of the origin.
    pub fn before(&self) -> Option<OriginState> {
        match self {
            Change::Added { .. } => None,
            Change::Gone { old } | Change::State { old, .. } => Some(*old),
            Change::Rules { .. } => Some(OriginState::RULES),
        }
    }

    /// What is known of the origin.
    pub fn after(&self) -> Option<OriginState> {
        match self {
            Change::Gone { .. } => None,
            Change::Added { new } | Change::State { new, .. } => Some(*new),
            Change::Rules { .. } => Some(OriginState::RULES),
        }
    }
}

/// Origins that were compared, counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct ChangeCounts {
    /// Origins that only the new set knows.
    pub added: u64,
    /// Origins that only the old set knows.
    pub gone: u64,
    /// Origins in another state.
    pub state: u64,
    /// Origins under other rules.
    pub rules: u64,
    /// Origins that both know and that did not change.
    pub unchanged: u64,
    /// By agent: origins under other rules.
    #[serde(skip)]
    pub rules_by_agent: Vec<u64>,
}

impl ChangeCounts {
    /// Origins that changed in whatever way.
    pub fn changed(&self) -> u64 {
        self.added + self.gone + self.state + self.rules
    }

    fn add(&mut self, kind: Option<&Change>) {
        match kind {
            None => self.unchanged += 1,
            Some(Change::Added { .. }) => self.added += 1,
            Some(Change::Gone { .. }) => self.gone += 1,
            Some(Change::State { .. }) => self.state += 1,
            Some(Change::Rules { agents }) => {
                self.rules += 1;
                agents.iter().for_each(|&agent| self.rules_by_agent[agent] += 1);
            }
        }
    }
}

impl Difference {
    /// What changed from `old` to `new`, as far as the records of files go.
    pub fn new(old: &Arc<PolicySet>, new: &Arc<PolicySet>) -> Difference {
        let [old, new] = [old, new].map(Arc::clone);
        Difference { old, new, asked: None }
    }

    /// What changed for some agents, given as the old and as the new set's dialect has them.
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
        let inquiry = |(set, agents): (&Arc<PolicySet>, _)| {
            let limits = crate::automaton::Limits::default();
            Inquiry::new(Arc::clone(set), agents, Detail::Reason, limits)
        };
        let (old_set, new_set) = (Arc::clone(old.0), Arc::clone(new.0));
        let asked = Some((inquiry(old)?, inquiry(new)?));
        Ok(Difference { old: old_set, new: new_set, asked })
    }

    /// The changes, in the order of hosts, http before https.
    pub fn changes(&self) -> Changes<'_> {
        let agents = self.asked.as_ref().map_or(0, |(old, _)| old.agents().len());
        Changes {
            difference: self,
            old: hosts(&self.old),
            new: hosts(&self.new),
            pairs: Pairs::new(),
            waiting: VecDeque::new(),
            counts: ChangeCounts { rules_by_agent: vec![0; agents], ..ChangeCounts::default() },
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
    /// What was found about the last host and not yet handed out.
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

/// A host as the old and as the new set have it; one of them at least does.
type HostPair<'d> = (Option<StoredHost<'d>>, Option<StoredHost<'d>>);

impl<'d> Changes<'d> {
    /// What was found so far.
    pub fn counts(&self) -> &ChangeCounts {
        &self.counts
    }

    /// The next host by key, in whichever set it stands.
    fn next_host(&mut self) -> Result<Option<HostPair<'d>>, Damage> {
        let order = match (self.old.peek(), self.new.peek()) {
            (None, None) => return Ok(None),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(Ok(old)), Some(Ok(new))) => old.key().cmp(new.key()),
            // Taking both hands out the damage.
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
            let kind = self.compare(policies)?;
            self.counts.add(kind.as_ref());
            if let (Some(kind), Some(host)) = (kind, old.or(new)) {
                self.waiting.push_back(OriginChange { origin: host.origin(https), kind });
            }
        }
        Ok(())
    }

    fn compare(
        &mut self,
        policies: (Option<PolicyNumber>, Option<PolicyNumber>),
    ) -> Result<Option<Change>, Damage> {
        let Difference { old: old_set, new: new_set, .. } = self.difference;
        Ok(match policies {
            (None, None) => None,
            (Some(old), None) => Some(Change::Gone { old: state(old_set, old)? }),
            (None, Some(new)) => Some(Change::Added { new: state(new_set, new)? }),
            (Some(old), Some(new)) => {
                let states = (state(old_set, old)?, state(new_set, new)?);
                if states.0 != states.1 {
                    Some(Change::State { old: states.0, new: states.1 })
                } else if states.0 == OriginState::RULES {
                    let agents = self.pairs.changed(self.difference, old, new)?;
                    agents.map(|agents| Change::Rules { agents: agents.to_vec() })
                } else {
                    None
                }
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
