//! The origins that changed between two sets: added, gone, in another state, with other rules, or
//! with other usage preferences.
//!
//! Owns the comparison of two sets. To find the URLs whose verdict changed, query two
//! [`Classifier`]s. Two policies have other rules if:
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
//! With labels, it also compares what files state about the uses of pages, for agents and labels; see
//! [`UsageChange`]. Two policies state the same about a label for an agent if the statements
//! of each field have the same paths in normal form with the same preferences, by precedence. The order
//! and number of adjacent statements with one preference do not count, nor do statements at the end that
//! say nothing about the label, nor which of the two fields has which statements.
//!
//! A set with history can be compared at two times. Origins that had not been captured at a time are not
//! there.
//!
//! Each set is read in its own dialect, so equal rules may still give different verdicts.
//!
//! Cost: both sets are read once, in the order of hosts. Files from one template often change
//! alike, so the results for pairs of policies are cached, within [`DIFFERENCE_PAIRS_KEPT`] and
//! [`DIFFERENCE_BYTES_KEPT`]. Every read can fail with a [`Damage`].
//!
//! ```
//! use portcullis_dialect::dialect::RFC_9309;
//! use portcullis_build::compile::{self, CompileConfig};
//! use portcullis_set::PolicySet;
//! use portcullis_survey::difference::{Difference, Side};
//! use portcullis_build::Standings;
//!
//! let empty = compile::to_vec(&Standings::default(), &CompileConfig::new(&RFC_9309, None))?;
//! let old = PolicySet::from_bytes("old", &empty)?.into();
//! let new = PolicySet::from_bytes("new", &empty)?.into();
//! let side = |set| Side::new(set, Vec::new(), &[], None);
//! let difference = Difference::new([side(&old)?, side(&new)?]);
//! let counts = difference.each(|change| {
//!     println!("{}: {}", String::from_utf8_lossy(&change.origin), change.kind.as_str());
//!     Ok::<(), Box<dyn std::error::Error>>(())
//! })?;
//! assert_eq!(counts.changed(), 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use portcullis_dialect::decision::{PolicyState, Verdict};
use portcullis_dialect::usage::{Label, Preference};
use portcullis_engine::pattern::{Pattern, PatternList};
use portcullis_robots::access::UnixSeconds;
use portcullis_robots::policy::{
    Crawler, LabelRules, OrderedRules, Selection, UsageGroups, UsageRules,
};
use portcullis_robots::syntax::{RobotsTxt, Statement};
use portcullis_set::Damage;
use portcullis_set::batch::{AskError, Classifier};
use portcullis_set::stored::{PolicyNumber, PolicySet, StoredHost};
use portcullis_text::visible::SHOWN_BYTES_MAX;

use crate::limits::{DIFFERENCE_BYTES_KEPT, DIFFERENCE_PAIRS_KEPT};
use crate::origins::captured;

#[cfg(test)]
mod tests;

/// Two sets to compare, the old and the new, and the agents to compare them for.
#[derive(Debug)]
pub struct Difference([Side; 2]);

/// One of two sets.
#[derive(Debug)]
pub struct Side {
    set: Arc<PolicySet>,
    /// The agents in the set, if any were given.
    asked: Option<Classifier>,
    /// The time as of which the set is compared; `None` for after all captures.
    at: Option<UnixSeconds>,
}

impl Side {
    /// A set for agents, given in its dialect, and for what files state about these labels to them; by
    /// the records of its files without agents. It is compared as of a time, which needs history;
    /// `None` for after all captures.
    ///
    /// # Errors
    ///
    /// If the set's names of robots are damaged, or it was compiled for other agents; as for
    /// [`Classifier::with_usage`].
    pub fn new(
        set: &Arc<PolicySet>,
        agents: Vec<Crawler>,
        labels: &[Label],
        at: Option<UnixSeconds>,
    ) -> Result<Side, AskError> {
        let asked = match agents.is_empty() {
            true => None,
            false => Some(Classifier::new(Arc::clone(set), agents)?.with_usage(labels)?),
        };
        Ok(Side { set: Arc::clone(set), asked, at })
    }

    fn agents(&self) -> usize {
        self.asked.as_ref().map_or(0, |asked| asked.agents().len())
    }
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
    /// The old and the new state differ. `None` for the set that does not have the origin.
    State([Option<OriginState>; 2]),
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
            Change::State([None, _]) => "added",
            Change::State([_, None]) => "gone",
            Change::State(_) => "state",
            Change::Rules { .. } => "rules",
            Change::Usage(_) => "usage",
        }
    }

    /// Returns the agents with other rules or preferences, by position; `None` for other changes.
    pub fn agents(&self) -> Option<&[usize]> {
        match self {
            Change::State(_) => None,
            Change::Rules { agents } | Change::Usage(UsageChange { agents, .. }) => Some(agents),
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
                Change::State([None, _]) => self.added += 1,
                Change::State([_, None]) => self.gone += 1,
                Change::State(_) => self.state += 1,
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
    /// Compares an old and a new side, which may be of one set.
    ///
    /// # Panics
    ///
    /// If the two do not have the same number of agents.
    pub fn new(sides: [Side; 2]) -> Difference {
        let [old, new] = sides.each_ref().map(Side::agents);
        assert_eq!(old, new, "the same agents ask both sets");
        Difference(sides)
    }

    /// Returns the labels whose preferences are compared.
    fn labels(&self) -> &[Label] {
        self.0[0].asked.as_ref().map_or(&[], Classifier::labels)
    }

    /// Calls `with` for each change, in the order of hosts, http before https, and returns the counts.
    ///
    /// # Errors
    ///
    /// The first damage, or the error of `with`.
    pub fn each<E: From<Damage>>(
        &self,
        mut with: impl FnMut(OriginChange) -> Result<(), E>,
    ) -> Result<ChangeCounts, E> {
        let agents = self.0[0].agents();
        let mut counts = ChangeCounts {
            rules_by_agent: vec![0; agents],
            usage_by_agent: vec![[0; Label::ALL.len()]; agents],
            usage: (!self.labels().is_empty()).then_some(0),
            ..ChangeCounts::default()
        };
        let mut pairs = Pairs::default();
        let [mut old_hosts, mut new_hosts] = self.0.each_ref().map(|side| side.set.hosts());
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
                let policies = self.policies(&hosts, https)?;
                let Some(host) = hosts.iter().flatten().next().filter(|_| policies != [None; 2])
                else {
                    continue;
                };
                let kinds = self.compare(policies, &mut pairs)?;
                counts.add(&kinds);
                let change = |kind| with(OriginChange { origin: host.origin(https), kind });
                kinds.into_iter().try_for_each(change)?;
            }
            if order.is_le() {
                old = old_hosts.next().transpose()?;
            }
            if order.is_ge() {
                new = new_hosts.next().transpose()?;
            }
        }
    }

    /// Returns the policies of an origin in both sets, as of their times.
    fn policies(
        &self,
        hosts: &[Option<StoredHost<'_>>; 2],
        https: bool,
    ) -> Result<[Option<PolicyNumber>; 2], Damage> {
        let mut policies = [None; 2];
        for ((side, host), policy) in self.0.iter().zip(hosts).zip(&mut policies) {
            if let Some(host) = host.filter(|host| host.policy(https).is_some()) {
                *policy = captured(&side.set, &host, https, side.at)?.map(|(policy, _)| policy);
            }
        }
        Ok(policies)
    }

    fn compare(
        &self,
        [old, new]: [Option<PolicyNumber>; 2],
        pairs: &mut Pairs,
    ) -> Result<Vec<Change>, Damage> {
        let state_of = |side: &Side, policy: Option<PolicyNumber>| {
            policy.map(|it| state(&side.set, it)).transpose()
        };
        let states = [state_of(&self.0[0], old)?, state_of(&self.0[1], new)?];
        let mut kinds = Vec::new();
        if states[0] != states[1] {
            kinds.push(Change::State(states));
        }
        let has_rules = states == [Some(OriginState::RULES); 2];
        let are_files = states.iter().flatten().all(|state| state.verdict.is_none());
        if let (Some(old), Some(new)) = (old, new)
            && (has_rules || (are_files && !self.labels().is_empty()))
        {
            let changes = pairs.changes(self, (old, new))?.iter();
            let counts = |it: &&Change| has_rules || matches!(it, Change::Usage(_));
            kinds.extend(changes.filter(counts).cloned());
        }
        Ok(kinds)
    }
}

fn state(set: &PolicySet, position: PolicyNumber) -> Result<OriginState, Damage> {
    let outcome = set.policy(position)?.access()?;
    let has_file = outcome.state.is_file();
    let verdict = (!has_file).then_some(outcome.verdict);
    Ok(OriginState { state: outcome.state, verdict })
}

/// Cached comparisons of policies: for each pair, other rules and other preferences. Cleared when
/// it is full.
#[derive(Default)]
struct Pairs {
    kept: HashMap<(PolicyNumber, PolicyNumber), Box<[Change]>>,
    /// The bytes of the kept preferences.
    bytes: usize,
}

impl Pairs {
    /// Returns the changes of rules and preferences from one file to another.
    fn changes(
        &mut self,
        difference: &Difference,
        pair: (PolicyNumber, PolicyNumber),
    ) -> Result<&[Change], Damage> {
        if !self.kept.contains_key(&pair) {
            let agents = compare(difference, pair)?;
            let rules = agents.map(|agents| Change::Rules { agents: agents.into() });
            let usage = match difference.0.each_ref().map(|side| side.asked.as_ref()) {
                [Some(old), Some(new)] => usage_changes((old, pair.0), (new, pair.1))?,
                _ => Vec::new(),
            };
            if self.kept.len() >= DIFFERENCE_PAIRS_KEPT || self.bytes > DIFFERENCE_BYTES_KEPT {
                self.kept.clear();
                self.bytes = 0;
            }
            self.bytes += usage.iter().map(UsageChange::bytes).sum::<usize>();
            let changes = rules.into_iter().chain(usage.into_iter().map(Change::Usage)).collect();
            self.kept.insert(pair, changes);
        }
        Ok(&self.kept[&pair])
    }
}

fn compare(
    difference: &Difference,
    (old, new): (PolicyNumber, PolicyNumber),
) -> Result<Option<Box<[usize]>>, Damage> {
    let [before, after] = &difference.0;
    let same_records = before.set.policy(old)?.has_records_of(&after.set.policy(new)?)?;
    let (Some(old_agents), Some(new_agents)) = (&before.asked, &after.asked) else {
        return Ok((!same_records).then(Box::default));
    };
    // The meaning of the same records depends only on the dialect.
    if same_records && before.set.dialect().name == after.set.dialect().name {
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
type Run<'l, T> = (T, HashSet<Pattern<'l>>);

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

/// A change of the statements about a label, with the agents for which the change is the same.
///
/// Statements are shown in order of precedence, separated by spaces: `/art/=n y` is `n` for paths
/// of `/art/` and `y` for all others. Paths are as written. `?` alone means no statement. If both fields
/// state preferences, those of Content-Signal follow after `&`.
/// Statements after [`SHOWN_BYTES_MAX`] are left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageChange {
    /// The label.
    pub label: Label,
    /// The agents, by position.
    pub agents: Vec<usize>,
    /// The old statements.
    pub before: Vec<u8>,
    /// The new statements.
    pub after: Vec<u8>,
}

impl UsageChange {
    /// Returns the size in bytes of memory.
    fn bytes(&self) -> usize {
        let texts = self.before.len() + self.after.len();
        size_of::<UsageChange>() + size_of_val(&*self.agents) + texts
    }
}

/// The statements of a policy about a label, for an agent.
#[derive(Clone)]
struct Stated {
    /// By field: the patterns, and the preference of each.
    fields: Vec<(PatternList, Vec<Preference>)>,
    shown: Vec<u8>,
}

/// Returns what changed for the agents and labels of two classifiers, by label.
fn usage_changes(
    old: (&Classifier, PolicyNumber),
    new: (&Classifier, PolicyNumber),
) -> Result<Vec<UsageChange>, Damage> {
    let policies = (old.0.set().policy(old.1)?, new.0.set().policy(new.1)?);
    let same_dialect = old.0.set().dialect().name == new.0.set().dialect().name;
    let has_usage = policies.0.has_usage()? || policies.1.has_usage()?;
    if !has_usage || (same_dialect && policies.0.extract()? == policies.1.extract()?) {
        return Ok(Vec::new());
    }
    let mut changes: Vec<UsageChange> = Vec::new();
    let (before, after) = (stated(old)?, stated(new)?);
    for (number, &label) in old.0.labels().iter().enumerate() {
        let of_label = changes.len();
        for (agent, (before, after)) in before.iter().zip(&after).enumerate() {
            let (before, after) = (&before[number], &after[number]);
            if before.equals(after) {
                continue;
            }
            let alike =
                |it: &&mut UsageChange| it.before == before.shown && it.after == after.shown;
            match changes[of_label..].iter_mut().find(alike) {
                Some(change) => change.agents.push(agent),
                None => {
                    let (before, after) = (before.shown.clone(), after.shown.clone());
                    changes.push(UsageChange { label, agents: vec![agent], before, after });
                }
            }
        }
    }
    Ok(changes)
}

/// Returns the statements by agent, then by label.
fn stated((asked, policy): (&Classifier, PolicyNumber)) -> Result<Vec<Vec<Stated>>, Damage> {
    let dialect = asked.set().dialect();
    asked.set().policy(policy)?.with_file(|file, _| {
        let groups = UsageGroups::new(file);
        let mut known: Vec<(Vec<usize>, Vec<Stated>)> = Vec::new();
        let of_agent = |agent| {
            let applying = Selection::among_groups(groups.file(), agent, dialect).groups;
            if let Some((_, stated)) = known.iter().find(|(groups, _)| *groups == applying) {
                return stated.clone();
            }
            let rules = UsageRules::new(file, &groups.in_force(&applying), &dialect.paths);
            let of_label = |label: &Label| Stated::new(file, &rules.labels[*label as usize]);
            let stated: Vec<Stated> = asked.labels().iter().map(of_label).collect();
            known.push((applying, stated.clone()));
            stated
        };
        asked.agents().iter().map(of_agent).collect()
    })
}

impl Stated {
    fn new(file: &RobotsTxt<'_>, by_field: &[LabelRules]) -> Stated {
        let mut shown = Vec::new();
        for rules in by_field {
            let before = shown.len();
            let last = rules.preferences.iter().rposition(is_stated);
            let statements = rules.records.iter().zip(&rules.preferences);
            for (&record, preference) in statements.take(last.map_or(0, |last| last + 1)) {
                if shown.len() > SHOWN_BYTES_MAX {
                    break;
                }
                if !shown.is_empty() {
                    let is_first = shown.len() == before;
                    shown.extend_from_slice(if is_first { b" & " } else { b" " });
                }
                let statement = Statement::of(&file.usage_records()[record as usize]);
                if let Some(path) = statement.and_then(|it| it.path) {
                    shown.extend_from_slice(path);
                    shown.push(b'=');
                }
                shown.extend_from_slice(preference.as_str().as_bytes());
            }
        }
        if shown.is_empty() {
            shown.extend_from_slice(Preference::Unstated.as_str().as_bytes());
        }
        let fields = by_field.iter().cloned().map(|it| (it.patterns, it.preferences));
        Stated { fields: fields.collect(), shown }
    }

    /// Returns whether the fields of both state the same. Combining two fields does not depend on their
    /// order, and a field combined with itself or with nothing is unchanged.
    fn equals(&self, other: &Stated) -> bool {
        let (own, others) = (self.runs(), other.runs());
        own.iter().all(|runs| others.contains(runs)) && others.iter().all(|it| own.contains(it))
    }

    /// Returns the runs of each field that states something.
    fn runs(&self) -> Vec<Vec<Run<'_, Preference>>> {
        let mut fields = Vec::new();
        for (patterns, preferences) in &self.fields {
            let mut runs = runs(patterns, preferences);
            runs.pop_if(|(preference, _)| *preference == Preference::Unstated);
            if !runs.is_empty() {
                fields.push(runs);
            }
        }
        fields
    }
}

fn is_stated(preference: &Preference) -> bool {
    *preference != Preference::Unstated
}
