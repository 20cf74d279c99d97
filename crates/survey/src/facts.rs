//! The answers of a policy to each of some agents: the model of the rows of a survey and of the figures
//! of `inspect` and `audit`.
//!
//! Every fact is exact over all paths and read from the stored rule sets. Agents to which the same
//! groups and usage records apply share one computation; a rule set is searched once for the set.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use portcullis_dialect::decision::{PolicyState, Reason, Verdict};
use portcullis_dialect::usage::{Label, Stance};
use portcullis_dialect::words;
use portcullis_engine::RuleSetBuf;
use portcullis_engine::pattern::PatternList;
use portcullis_lint::analysis::{Reach, Relation, relation};
use portcullis_robots::policy::{Audience, Crawler, UsageGroups, UsageRules};
use portcullis_robots::syntax::RobotsTxt;
use portcullis_set::stored::{
    AgentTokens, EntryRules, PolicyEntry, PolicyNumber, Read, StoredPolicy,
};
use portcullis_set::{Damage, PolicySet};

use crate::reaches::{Applied, Reaches, stances};
use crate::readings::{Readings, Reads};

/// How a policy addresses an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Addressed {
    /// A group names it.
    ByName,
    /// The groups for all crawlers apply.
    ByDefault,
    /// No group applies.
    NotAtAll,
}

words! {
    /// Why an agent may fetch as much as it may: a site says so, or its server says nothing.
    pub enum By {
        /// By the rules of the groups that apply.
        Rule => "rule",
        /// No group applies.
        NoGroup => "no-group",
        /// The file has no rules.
        NoRules => "no-rules",
        /// The server reported that no file is available.
        Unavailable => "unavailable",
        /// The server or the network failed.
        Unreachable => "unreachable",
        /// The dialect defers the visit.
        Deferred => "deferred",
        /// A page came instead of a robots.txt.
        Page => "page",
    }
}

impl By {
    fn of(state: PolicyState, has_groups: bool) -> By {
        match state {
            PolicyState::Rules if has_groups => By::Rule,
            PolicyState::Rules => By::NoGroup,
            PolicyState::NoRules => By::NoRules,
            PolicyState::Unavailable => By::Unavailable,
            PolicyState::Unreachable => By::Unreachable,
            PolicyState::Page => By::Page,
            // A set stores no origin that is unknown.
            _ => By::Deferred,
        }
    }

    /// Returns why an agent may fetch everything, by the reason of its decisions.
    fn of_reason(reason: Reason) -> By {
        By::of(reason.state().unwrap_or(PolicyState::Deferred), true)
    }

    /// Whether no file says it.
    pub fn is_failure(self) -> bool {
        matches!(self, By::Unavailable | By::Unreachable | By::Deferred)
    }
}

/// The answer of a policy to one agent.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentFacts {
    /// How much of the site the agent may fetch; `None` if a limit ended the search.
    pub access: Option<Reach>,
    /// The verdict on the path `/`.
    pub root: Verdict,
    /// How the policy addresses the agent.
    pub addressed: Addressed,
    /// Why it may fetch as much.
    pub by: By,
    /// The user-agent value that selects the group, as written.
    pub group: Option<Arc<[u8]>>,
    /// The number of rules that apply.
    pub rules: u32,
    /// The preference about each label on all paths that the agent may fetch. `None` if it may
    /// fetch none, or if a limit ended the search.
    pub stances: [Option<Stance>; Label::ALL.len()],
    /// The licences, as written.
    pub licenses: Arc<[Vec<u8>]>,
    /// How what the agent may fetch relates to what another may; `None` unless there is one to compare
    /// with.
    pub relation: Option<Arc<Related>>,
}

/// How what an agent may fetch relates to what another may, and a path that shows it.
pub type Related = (Relation, Option<Vec<u8>>);

/// The answers of a policy to each agent.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicyReading {
    /// Whether there is a file, or what its absence means.
    pub state: PolicyState,
    /// By agent.
    pub agents: Vec<AgentFacts>,
}

/// Reads the facts of policies. Threads share it.
///
/// Memory: 8 bytes for each rule set of the set.
#[derive(Debug)]
pub struct FactReader<'s> {
    pub(crate) set: &'s PolicySet,
    pub(crate) reaches: Reaches<'s>,
    pub(crate) agents: Vec<Crawler>,
    /// The readings of the agents, and of the baseline after them.
    pub(crate) readings: Readings,
    /// The names in the set of each agent.
    tokens: Vec<AgentTokens>,
    /// The agent that the others are compared with.
    pub(crate) baseline: Option<(String, AgentTokens)>,
}

/// How a policy addresses an agent, and the user-agent value that selects the groups.
type Addressing = (Addressed, Option<Arc<[u8]>>);

/// The policy that an agent reads instead of one, its groups that apply, and the groups of usage records.
type Entries = (Option<Read>, Option<PolicyEntry>, Vec<usize>);

impl<'s> FactReader<'s> {
    /// Returns a reader of the policies of `set` for `agents`, whose access is compared with that of
    /// `baseline`, if there is such an agent.
    ///
    /// # Errors
    ///
    /// If the names of crawlers are damaged.
    pub fn new(
        set: &'s PolicySet,
        agents: &[Crawler],
        baseline: Option<&Crawler>,
    ) -> Result<FactReader<'s>, Damage> {
        let readings = Readings::of(set, agents.iter().chain(baseline))?;
        let tokens = agents.iter().map(|agent| set.tokens_of(agent)).collect::<Result<_, _>>()?;
        let baseline = baseline.map(|agent| Ok((agent.name().to_owned(), set.tokens_of(agent)?)));
        let (agents, baseline) = (agents.to_vec(), baseline.transpose()?);
        Ok(FactReader { set, reaches: Reaches::new(set), agents, readings, tokens, baseline })
    }

    /// Returns what `policy` says to each agent, and the groups that apply.
    ///
    /// # Errors
    ///
    /// If a part of the set that is read is damaged.
    pub fn read(
        &self,
        policy: &StoredPolicy<'s>,
    ) -> Result<(PolicyReading, Vec<Applied<'s>>), Damage> {
        self.read_by(policy, &Reads::default())
    }

    /// Like [`FactReader::read`], for agents that read something instead of `policy`. Usage preferences are
    /// those of `policy` in any case.
    ///
    /// # Errors
    ///
    /// As for [`FactReader::read`].
    pub(crate) fn read_by(
        &self,
        policy: &StoredPolicy<'s>,
        reads: &Reads,
    ) -> Result<(PolicyReading, Vec<Applied<'s>>), Damage> {
        match policy.has_usage()? {
            true => policy.with_groups(|file| self.read_with(policy, file, reads))?,
            false => self.read_with(policy, &RobotsTxt::default(), reads),
        }
    }

    /// Like [`FactReader::read_by`], for a policy whose usage records are in `file`.
    fn read_with(
        &self,
        policy: &StoredPolicy<'s>,
        file: &RobotsTxt<'_>,
        reads: &Reads,
    ) -> Result<(PolicyReading, Vec<Applied<'s>>), Damage> {
        let mut agents: Vec<AgentFacts> = Vec::with_capacity(self.agents.len());
        let read_at = |number: usize| reads.get(number).copied().flatten();
        let apply = |number: usize, agent: &AgentTokens| {
            self.reaches.applied_by(policy, read_at(number), agent, &mut { usize::MAX })
        };
        let with_rules = |applied: Applied<'s>| Ok((applied, rules_of(&applied)?));
        let baseline = self.baseline.as_ref();
        let baseline = baseline.map(|(_, it)| apply(self.agents.len(), it).and_then(with_rules));
        let baseline = baseline.transpose()?;
        let mut all_applied: Vec<Applied<'s>> = Vec::with_capacity(self.agents.len());
        // The first agent with each combination of entries, and the value of each naming line.
        let mut known: Vec<(Entries, usize)> = Vec::new();
        let mut named: Vec<(_, Arc<[u8]>)> = Vec::new();
        // How files without rules address the agents.
        let mut without_rules: BTreeMap<PolicyNumber, Vec<Addressing>> = BTreeMap::new();
        let usage = UsageGroups::new(file);
        let dialect = self.set.dialect();
        for (number, agent) in self.tokens.iter().enumerate() {
            let read = read_at(number);
            let (source, open) = match read {
                Some(Read::Copy(copy)) => (&self.set.policy(copy)?, None),
                Some(Read::Open(reason)) => (policy, Some(reason)),
                None => (policy, None),
            };
            let outcome = source.access()?;
            let applied = apply(number, agent)?;
            let of_usage = usage.of_agent(&self.agents[number], dialect);
            let entries = (read, applied.groups.map(|it| it.entry), of_usage);
            let same = known.iter().find(|(other, _)| *other == entries);
            let shared = match same {
                Some(&(_, same)) => agents[same].clone(),
                None => {
                    let root = match &applied.groups {
                        Some(groups) if groups.allows(b"/")? => Verdict::Allow,
                        Some(_) => Verdict::Disallow,
                        None if open.is_some() || outcome.state == PolicyState::Rules => {
                            Verdict::Allow
                        }
                        None => outcome.verdict,
                    };
                    let related =
                        baseline.as_ref().map(|(it, rules)| self.relation(&applied, it, rules));
                    let in_force = usage.in_force(&entries.2);
                    let stated = UsageRules::new(file, &in_force, &dialect.paths);
                    let license =
                        |record: &u32| file.usage_records()[*record as usize].value.to_vec();
                    known.push((entries, agents.len()));
                    AgentFacts {
                        access: applied.reach,
                        root,
                        addressed: Addressed::NotAtAll,
                        by: By::Rule,
                        group: None,
                        rules: match &applied.groups {
                            Some(it) => {
                                it.rule_numbers()?.iter().map(|rules| rules.len() as u32).sum()
                            }
                            None => 0,
                        },
                        stances: stances(self.set, &stated, &applied)?,
                        licenses: stated.licenses.iter().map(license).collect(),
                        relation: related.transpose()?.map(Arc::new),
                    }
                }
            };
            let addressing = match (outcome.state, open) {
                (PolicyState::NoRules, None) => Some(match without_rules.entry(source.number()) {
                    Entry::Occupied(known) => known.into_mut(),
                    Entry::Vacant(place) => place.insert(self.addressed_without_rules(source)?),
                }),
                _ => None,
            };
            let addressing = addressing.map(|it| &it[number]);
            let by = match open {
                Some(reason) => By::of_reason(reason),
                None => By::of(outcome.state, applied.groups.is_some()),
            };
            let (addressed, group) = match (&applied.groups, addressing) {
                (Some(groups), _) => {
                    let line = (source.number(), groups.naming_line);
                    if named.iter().all(|(other, _)| *other != line) {
                        named.push((line, groups.name()?.into()));
                    }
                    let name = named.iter().find(|(other, _)| *other == line);
                    let is_named = groups.is_named();
                    let addressed = if is_named { Addressed::ByName } else { Addressed::ByDefault };
                    (addressed, name.map(|(_, name)| Arc::clone(name)))
                }
                (None, Some(addressing)) => addressing.clone(),
                (None, None) => (Addressed::NotAtAll, None),
            };
            agents.push(AgentFacts { addressed, group, by, ..shared });
            all_applied.push(applied);
        }
        Ok((PolicyReading { state: policy.state()?, agents }, all_applied))
    }

    /// Returns how what `applied` allows relates to what `baseline`, which has these rules, allows.
    fn relation(
        &self,
        applied: &Applied<'_>,
        baseline: &Applied<'_>,
        rules: &EntryRules<'_>,
    ) -> Result<Related, Damage> {
        if applied.rules.is_some() && applied.rules == baseline.rules {
            return Ok((Relation::Same, None));
        }
        let own = rules_of(applied)?;
        let escapes = self.set.dialect().paths.escapes;
        Ok(relation(own.as_rule_set(), rules.as_rule_set(), escapes))
    }

    /// Returns how a file without rules addresses each agent. A set stores no crawlers of it, because
    /// it decides alike for all.
    fn addressed_without_rules(
        &self,
        policy: &StoredPolicy<'s>,
    ) -> Result<Vec<Addressing>, Damage> {
        let dialect = self.set.dialect();
        policy.with_groups(|file| {
            let audience = Audience::from_agents(file, &self.agents, dialect);
            let line = |at: usize| Some(file.user_agents()[at].value.into());
            let addressing = |agent| match audience.named(agent, dialect) {
                Some((_, robot)) => (Addressed::ByName, line(robot.line)),
                None if audience.default_groups.is_empty() => (Addressed::NotAtAll, None),
                None => (Addressed::ByDefault, line(audience.default_line)),
            };
            self.agents.iter().map(addressing).collect()
        })
    }
}

/// Returns the rules that apply; without groups, those that allow or disallow everything.
fn rules_of<'s>(applied: &Applied<'s>) -> Result<EntryRules<'s>, Damage> {
    if let Some(groups) = &applied.groups {
        return groups.rules();
    }
    let mut patterns = PatternList::new();
    if applied.reach == Some(Reach::Nothing) {
        patterns.push(b"/", false);
    }
    Ok(EntryRules::Merged(RuleSetBuf::new(&patterns, |_| false)))
}
