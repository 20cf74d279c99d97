//! What a policy says to each of some agents: the model behind the rows of a survey and the figures
//! of `inspect` and `audit`.
//!
//! Every fact is exact over all paths and read from the stored rule sets. Agents to which the same
//! groups and usage records apply share one computation; a rule set is searched once for the set.

use portcullis_dialect::decision::{PolicyState, Verdict};
use portcullis_dialect::usage::{Label, Stance};
use portcullis_engine::RuleSetBuf;
use portcullis_engine::pattern::PatternList;
use portcullis_lint::analysis::{Reach, Relation, relation};
use portcullis_robots::policy::{Audience, Crawler, UsageGroups, UsageRules};
use portcullis_robots::syntax::RobotsTxt;
use portcullis_set::stored::{AgentTokens, StoredPolicy};
use portcullis_set::{Damage, PolicySet};

use crate::reaches::{Applied, Reaches, stances};

/// How a policy addresses an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Addressed {
    /// A group names it.
    ByName,
    /// The groups for all robots apply.
    ByDefault,
    /// No group applies.
    NotAtAll,
}

/// What a policy says to one agent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AgentFacts {
    /// How much of the site the agent may fetch; `None` if a limit ended the search.
    pub access: Option<Reach>,
    /// The verdict on the path `/`.
    pub root: Verdict,
    /// How the policy addresses the agent.
    pub addressed: Addressed,
    /// The position in [`PolicyReading::groups`] of the user-agent value that selects the group.
    pub group: Option<u32>,
    /// The number of rules that apply.
    pub rules: u32,
    /// The preference about each label on all paths that the agent may fetch. `None` if it may
    /// fetch none, or if a limit ended the search.
    pub stances: [Option<Stance>; Label::ALL.len()],
    /// The position in [`PolicyReading::licenses`]; `None` for an agent without licences.
    pub licenses: Option<u32>,
    /// The position in [`PolicyReading::relations`]; `None` unless there is an agent to compare with.
    pub relation: Option<u32>,
}

/// What a policy says to each agent.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicyReading {
    /// Whether there is a file, or what its absence means.
    pub state: PolicyState,
    /// By agent.
    pub agents: Vec<AgentFacts>,
    /// The values of user-agent lines, as written.
    pub groups: Vec<Vec<u8>>,
    /// The licences of agents, as written.
    pub licenses: Vec<Vec<Vec<u8>>>,
    /// How what agents may fetch relates to what another may, each with a path that shows it.
    pub relations: Vec<(Relation, Option<Vec<u8>>)>,
}

/// Reads the facts of policies. Threads share it.
///
/// Memory: 8 bytes for each rule set of the set.
#[derive(Debug)]
pub struct FactReader<'s> {
    pub(crate) set: &'s PolicySet,
    pub(crate) reaches: Reaches<'s>,
    pub(crate) agents: Vec<Crawler>,
    /// The names in the set of each agent.
    tokens: Vec<AgentTokens>,
    /// The agent that the others are compared with.
    pub(crate) beside: Option<(String, AgentTokens)>,
}

/// How a policy addresses an agent, and the number and value of the user-agent line that selects
/// the groups.
type Addressing = (Addressed, Option<(u32, Vec<u8>)>);

/// The groups that apply, by their number in a policy, and those of usage records.
type Entries = (Option<u32>, Vec<usize>);

impl<'s> FactReader<'s> {
    /// Returns a reader of the policies of `set` for `agents`, whose access is compared with that of
    /// `beside`, if there is such an agent.
    ///
    /// # Errors
    ///
    /// If the names of robots are damaged.
    pub fn new(
        set: &'s PolicySet,
        agents: &[Crawler],
        beside: Option<&Crawler>,
    ) -> Result<FactReader<'s>, Damage> {
        let tokens = agents.iter().map(|agent| set.tokens_of(agent)).collect::<Result<_, _>>()?;
        let beside = beside.map(|agent| Ok((agent.name().to_owned(), set.tokens_of(agent)?)));
        let (agents, beside) = (agents.to_vec(), beside.transpose()?);
        Ok(FactReader { set, reaches: Reaches::new(set), agents, tokens, beside })
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
        match policy.has_usage()? {
            true => policy.with_groups(|file| self.read_with(policy, file))?,
            false => self.read_with(policy, &RobotsTxt::default()),
        }
    }

    /// Like [`FactReader::read`], for a policy whose usage records are those of `file`.
    fn read_with(
        &self,
        policy: &StoredPolicy<'s>,
        file: &RobotsTxt<'_>,
    ) -> Result<(PolicyReading, Vec<Applied<'s>>), Damage> {
        let outcome = policy.access()?;
        let mut facts = PolicyReading {
            state: outcome.state,
            agents: Vec::with_capacity(self.agents.len()),
            groups: Vec::new(),
            licenses: Vec::new(),
            relations: Vec::new(),
        };
        let apply = |agent: &AgentTokens| self.reaches.applied(policy, agent, &mut { usize::MAX });
        let with_rules = |applied: Applied<'s>| Ok((applied, rules_of(&applied)?));
        let beside = self.beside.as_ref().map(|(_, agent)| apply(agent).and_then(with_rules));
        let beside = beside.transpose()?;
        let mut all_applied: Vec<Applied<'s>> = Vec::with_capacity(self.agents.len());
        // The first agent with each combination of entries, and with each naming line.
        let mut known: Vec<(Entries, usize)> = Vec::new();
        let mut naming_lines: Vec<u32> = Vec::new();
        let mut without_rules = match outcome.state {
            PolicyState::NoRules => self.addressed_without_rules(policy)?,
            _ => Vec::new(),
        };
        let usage = UsageGroups::new(file);
        let dialect = self.set.dialect();
        for (number, agent) in self.tokens.iter().enumerate() {
            let applied = apply(agent)?;
            let of_usage = usage.of_agent(&self.agents[number], dialect);
            let entries = (applied.groups.map(|it| it.entry()), of_usage);
            let same = known.iter().find(|(other, _)| *other == entries);
            let shared = match same {
                Some(&(_, same)) => facts.agents[same],
                None => {
                    let root = match &applied.groups {
                        Some(groups) if groups.allows(b"/")? => Verdict::Allow,
                        Some(_) => Verdict::Disallow,
                        None if outcome.state == PolicyState::Rules => Verdict::Allow,
                        None => outcome.verdict,
                    };
                    let relation = match &beside {
                        Some((beside, rules)) => {
                            facts.relations.push(self.relation(&applied, beside, rules)?);
                            Some(facts.relations.len() as u32 - 1)
                        }
                        None => None,
                    };
                    let in_force = usage.in_force(&entries.1);
                    let rules = UsageRules::new(file, &in_force, &dialect.paths);
                    known.push((entries, facts.agents.len()));
                    let shared = facts.of_entries(self.set, &applied, (file, rules), root)?;
                    AgentFacts { relation, ..shared }
                }
            };
            let (addressed, line) = match (&applied.groups, without_rules.get(number)) {
                (Some(groups), _) if groups.is_named() => {
                    (Addressed::ByName, Some(groups.naming_line()))
                }
                (Some(groups), _) => (Addressed::ByDefault, Some(groups.naming_line())),
                (None, Some((addressed, line))) => (*addressed, line.as_ref().map(|it| it.0)),
                (None, None) => (Addressed::NotAtAll, None),
            };
            if let Some(new) = line.filter(|line| !naming_lines.contains(line)) {
                naming_lines.push(new);
                facts.groups.push(match &applied.groups {
                    Some(groups) => groups.name()?,
                    None => without_rules[number].1.take().map_or(Vec::new(), |it| it.1),
                });
            }
            let place = |line| naming_lines.iter().position(|other| *other == line);
            let group = line.and_then(place).map(|place| place as u32);
            facts.agents.push(AgentFacts { addressed, group, ..shared });
            all_applied.push(applied);
        }
        Ok((facts, all_applied))
    }

    /// Returns how what `applied` allows relates to what `beside`, which has these rules, allows.
    fn relation(
        &self,
        applied: &Applied<'_>,
        beside: &Applied<'_>,
        rules: &RuleSetBuf,
    ) -> Result<(Relation, Option<Vec<u8>>), Damage> {
        let number = |applied: &Applied<'_>| applied.groups.map(|it| it.rule_set().index());
        if number(applied).is_some() && number(applied) == number(beside) {
            return Ok((Relation::Same, None));
        }
        let own = rules_of(applied)?;
        let escapes = self.set.dialect().paths.escapes;
        Ok(relation(own.as_rule_set(), rules.as_rule_set(), escapes))
    }

    /// Returns how a file without rules addresses each agent. A set stores no robots of it, because
    /// it decides alike for all.
    fn addressed_without_rules(
        &self,
        policy: &StoredPolicy<'s>,
    ) -> Result<Vec<Addressing>, Damage> {
        let dialect = self.set.dialect();
        policy.with_groups(|file| {
            let audience = Audience::from_agents(file, &self.agents, dialect);
            let line = |at: usize| Some((at as u32, file.user_agents()[at].value.to_vec()));
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
fn rules_of(applied: &Applied<'_>) -> Result<RuleSetBuf, Damage> {
    if let Some(groups) = &applied.groups {
        return groups.build();
    }
    let mut patterns = PatternList::new();
    if applied.reach == Some(Reach::Nothing) {
        patterns.push(b"/", false);
    }
    Ok(RuleSetBuf::new(&patterns, |_| false))
}

impl PolicyReading {
    /// Returns the facts for all agents to which these groups and usage records apply.
    fn of_entries(
        &mut self,
        set: &PolicySet,
        applied: &Applied<'_>,
        (file, usage): (&RobotsTxt<'_>, UsageRules),
        root: Verdict,
    ) -> Result<AgentFacts, Damage> {
        let rules = match &applied.groups {
            Some(groups) => groups.rules()?.iter().map(|rules| rules.len() as u32).sum(),
            None => 0,
        };
        let stances = stances(set, &usage, applied)?;
        let license = |record: &u32| file.usage_records()[*record as usize].value.to_vec();
        let licenses: Vec<Vec<u8>> = usage.licenses.iter().map(license).collect();
        let has_licenses = !licenses.is_empty();
        let position = self.licenses.len() as u32;
        self.licenses.extend(has_licenses.then_some(licenses));
        Ok(AgentFacts {
            access: applied.reach,
            root,
            addressed: Addressed::NotAtAll,
            group: None,
            rules,
            stances,
            licenses: has_licenses.then_some(position),
            relation: None,
        })
    }

    /// Returns how what an agent may fetch relates to what another may, and a path that shows it.
    pub fn relation_of(&self, facts: &AgentFacts) -> Option<&(Relation, Option<Vec<u8>>)> {
        facts.relation.map(|place| &self.relations[place as usize])
    }

    /// Returns the licences of an agent.
    pub fn licenses_of(&self, facts: &AgentFacts) -> &[Vec<u8>] {
        facts.licenses.map_or(&[], |place| &self.licenses[place as usize])
    }
}
