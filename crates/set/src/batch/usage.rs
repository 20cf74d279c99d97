//! Questions about usage preferences.
//!
//! A set stores the usage records of a file, and no rule sets of them: few policies have any. The
//! statements that hold for an agent are ordered when one of these policies is first asked about, and
//! kept per thread. The preference is that of both fields combined. A question about a policy without
//! usage reads one word of its head.
//!
//! Cost: nothing if no label is asked about; one reading of the user-agent lines and usage records for
//! each policy with usage and thread, and again if what was kept has become more than the budget, but
//! once a block at most. Memory: the statements, and automata of their own, which share the thread's
//! budget with the automata of access.

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use portcullis_dialect::LineNumber;
use portcullis_dialect::decision::{Answer, Verdict};
use portcullis_dialect::usage::{Label, Preference, UsageSource};
use portcullis_engine::pattern::PatternList;
use portcullis_engine::{AutomatonWork, Cache, RuleSetBuf, Settings};
use portcullis_robots::policy::{Audience, LabelRules, UsageGroups, UsageRules};

use super::classifier::Classifier;
use crate::Damage;
use crate::stored::{PolicyNumber, RecordPolicy};

/// The licences that hold for an agent.
pub type Licenses<'s> = Box<dyn ExactSizeIterator<Item = Result<Vec<u8>, Damage>> + 's>;

/// The memory of one thread for questions about usage.
#[derive(Clone, Debug, Default)]
pub(super) struct UsageMemory {
    pub known: KnownUsage,
    /// The questions of the block about policies with usage: the policies, and the questions' numbers.
    asked: Vec<(PolicyNumber, usize)>,
    /// By question, agent and label.
    pub preferences: Vec<Preference>,
    /// By question, agent and label: the policy and the usage record that decides.
    records: Vec<Option<(PolicyNumber, u32)>>,
}

/// The rules that were ordered for policies and agents.
#[derive(Clone, Debug, Default)]
pub(super) struct KnownUsage {
    /// By policy: which of those that are kept is that of each agent; `None` if it is not known.
    of_agents: HashMap<PolicyNumber, Box<[Option<usize>]>, RandomState>,
    kept: Vec<AgentUsage>,
    kept_bytes: usize,
    /// The number of rule sets that are kept, each of which has a number in `cache`.
    rule_sets: u32,
    cache: Cache,
}

/// The usage records that hold for agents.
#[derive(Clone, Debug)]
struct AgentUsage {
    statements: Vec<Statements>,
    licenses: Vec<u32>,
}

/// Statements with the same patterns, of which the first that matches a path decides.
#[derive(Clone, Debug)]
struct Statements {
    /// The patterns, compiled, and their number in the cache; `None` if the first matches every path.
    rules: Option<(u32, RuleSetBuf)>,
    /// By field and label: the position of the label, and the preference and the usage record of each
    /// pattern.
    stated: Vec<(usize, Vec<(Preference, u32)>)>,
}

/// The place in a file that states a preference.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StatedPlace {
    /// The line.
    pub line: LineNumber,
    /// The kind of record.
    pub source: UsageSource,
    /// The value of the record, as written.
    pub value: Vec<u8>,
}

impl Classifier {
    /// Finds the preferences on the paths of a block with these policies and decisions, by question and
    /// agent; none if no label is asked about. Where access is not allowed, there is no preference, unless it
    /// is asked for.
    pub(super) fn find_preferences(
        &self,
        policies: &[RecordPolicy],
        paths: &[&[u8]],
        decisions: &[Answer],
        memory: &mut UsageMemory,
    ) -> Result<(), Damage> {
        if self.labels.is_empty() {
            return Ok(());
        }
        let (agents, labels) = (self.agents.len(), self.labels.len());
        let UsageMemory { known, asked, preferences, records } = memory;
        let has_preference = |decision: &Answer| match decision.verdict() {
            Verdict::Allow => true,
            Verdict::Disallow => self.has_usage_of_disallowed,
            Verdict::Unknown | Verdict::Invalid => false,
        };
        let unless_stated = decisions.iter().map(|decision| match has_preference(decision) {
            true => Preference::Unstated,
            false => Preference::NoAccess,
        });
        preferences.clear();
        preferences.extend(unless_stated.flat_map(|it| std::iter::repeat_n(it, labels)));
        records.clear();
        records.resize(preferences.len(), None);
        asked.clear();
        for (question, policy) in policies.iter().enumerate() {
            let of_agents = &decisions[question * agents..][..agents];
            if let Some(policy) = policy.number()
                && of_agents.iter().any(has_preference)
                && self.set.policy_head(policy)?.has_usage()?
            {
                asked.push((policy, question));
            }
        }
        if asked.is_empty() {
            return Ok(());
        }
        // The questions about one policy follow each other, so that its file is read once.
        asked.sort_unstable_by_key(|&(policy, _)| policy);
        for asked in asked.chunk_by(|one, other| one.0 == other.0) {
            let policy = asked[0].0;
            let answer = |usage: &AgentUsage, cache: &mut Cache, same: &[usize]| {
                for &(_, question) in asked {
                    let answer_of = |agent: usize| (question * agents + agent) * labels;
                    let is_denied =
                        |&&agent: &&usize| preferences[answer_of(agent)] == Preference::NoAccess;
                    if same.iter().filter(is_denied).count() == same.len() {
                        continue;
                    }
                    let path = paths[question];
                    usage.decide(path, &self.settings, cache, |label, (preference, record)| {
                        for answer in same.iter().map(|&agent| answer_of(agent) + label) {
                            // As `combined` does with two fields.
                            let last = records[answer].map_or(u32::MAX, |(_, record)| record);
                            let before = (preferences[answer].rank(), last);
                            if preferences[answer] != Preference::NoAccess
                                && (preference.rank(), record) < before
                            {
                                preferences[answer] = preference;
                                records[answer] = Some((policy, record));
                            }
                        }
                    });
                }
            };
            let is_asked = |agent: &usize| {
                let mut decisions = asked.iter().map(|(_, it)| &decisions[it * agents + agent]);
                decisions.any(has_preference)
            };
            let asking = (0..agents).filter(is_asked);
            self.with_usage_of(policy, asking, known, answer)?;
        }
        known.keep_within(self.settings.limits.automata_bytes_max);
        self.set.has_length()
    }

    /// Calls `with` once with each usage that a policy has for some of the agents, and those agents. Reads
    /// the file if it is not known for some of them.
    fn with_usage_of(
        &self,
        policy: PolicyNumber,
        asking: impl Iterator<Item = usize> + Clone,
        known: &mut KnownUsage,
        mut with: impl FnMut(&AgentUsage, &mut Cache, &[usize]),
    ) -> Result<(), Damage> {
        let own = known.of_agents.remove(&policy);
        let mut own = own.unwrap_or_else(|| vec![None; self.agents.len()].into());
        if asking.clone().all(|agent| own[agent].is_some()) {
            let mut agents: Vec<usize> = asking.collect();
            agents.sort_by_key(|&agent| own[agent]);
            for same in agents.chunk_by(|&one, &other| own[one] == own[other]) {
                let number = own[same[0]].expect("each was found");
                with(&known.kept[number], &mut known.cache, same);
            }
        } else {
            self.set.policy(policy)?.with_groups(|file| {
                let groups = UsageGroups::new(file);
                for (of_agents, same) in self.agents_by_usage(&groups, asking) {
                    let number = own[same[0]].unwrap_or_else(|| {
                        if known.keep_within(self.settings.limits.automata_bytes_max) {
                            own.fill(None);
                        }
                        let in_force = groups.in_force(&of_agents);
                        let rules = UsageRules::new(file, &in_force, &self.dialect().paths);
                        known.add(rules, &self.labels)
                    });
                    same.iter().for_each(|&agent| own[agent] = Some(number));
                    with(&known.kept[number], &mut known.cache, &same);
                }
            })?;
        }
        known.of_agents.insert(policy, own);
        Ok(())
    }

    /// Returns the agents for which the same groups have usage records, with these groups.
    fn agents_by_usage(
        &self,
        groups: &UsageGroups<'_>,
        asking: impl Iterator<Item = usize>,
    ) -> Vec<(Vec<usize>, Vec<usize>)> {
        let audience = Audience::of(groups.file(), self.dialect());
        let mut places: HashMap<Vec<usize>, usize, RandomState> = HashMap::default();
        let mut all: Vec<(Vec<usize>, Vec<usize>)> = Vec::new();
        for agent in asking {
            let named = audience.named(&self.agents[agent], self.dialect());
            let applying = named.map_or(&audience.default_groups, |(_, robot)| &robot.groups);
            let of_agent = groups.with_records(applying);
            let place = *places.entry(of_agent).or_insert_with_key(|of_agent| {
                all.push((of_agent.clone(), Vec::new()));
                all.len() - 1
            });
            all[place].1.push(agent);
        }
        all
    }

    /// Returns the place that states the preference at a place of a block; `None` if it is not stated.
    pub(super) fn stated_at(
        &self,
        place: usize,
        memory: &UsageMemory,
    ) -> Result<Option<StatedPlace>, Damage> {
        let is_stated = memory.preferences[place].is_stated();
        let Some((policy, record)) = memory.records[place].filter(|_| is_stated) else {
            return Ok(None);
        };
        let policy = self.set.policy(policy)?;
        let (role, line, value) = policy.usage_record(record)?;
        let malformed = || policy.malformed("a licence states a preference");
        let source = role.field.and_then(UsageSource::of).ok_or_else(malformed)?;
        Ok(Some(StatedPlace { line, source, value }))
    }

    /// Returns the licences of a policy that hold for an agent, as written. Each is read when it is
    /// taken, because a file may have thousands.
    pub(super) fn licenses(
        &self,
        policy: PolicyNumber,
        agent: usize,
        known: &KnownUsage,
    ) -> Result<Licenses<'_>, Damage> {
        let policy = self.set.policy(policy)?;
        let licenses = match known.of(policy.number(), agent) {
            Some(usage) => usage.licenses.clone(),
            None if !policy.has_usage()? => Vec::new(),
            None => policy.with_groups(|file| {
                UsageRules::of(file, &self.agents[agent], self.dialect()).licenses
            })?,
        };
        Ok(Box::new(licenses.into_iter().map(move |it| Ok(policy.usage_record(it)?.2))))
    }
}

impl KnownUsage {
    /// Returns what is known about the usage of a policy for an agent.
    fn of(&self, policy: PolicyNumber, agent: usize) -> Option<&AgentUsage> {
        self.kept.get(self.of_agents.get(&policy)?[agent]?)
    }

    /// Keeps the statements about these labels and the licences, and returns the number under which
    /// they are kept.
    fn add(&mut self, rules: UsageRules, labels: &[Label]) -> usize {
        let mut known: Vec<PatternList> = Vec::new();
        let mut statements: Vec<Statements> = Vec::new();
        for (number, &label) in labels.iter().enumerate() {
            for LabelRules { patterns, records, preferences } in rules.about(label) {
                if patterns.is_empty() {
                    continue;
                }
                let same = known.iter().position(|it| *it == patterns).unwrap_or_else(|| {
                    statements
                        .push(Statements { rules: self.compile(&patterns), stated: Vec::new() });
                    known.push(patterns);
                    statements.len() - 1
                });
                let stated: Vec<(Preference, u32)> = preferences.into_iter().zip(records).collect();
                self.kept_bytes += size_of::<Statements>() + size_of_val(&*stated);
                statements[same].stated.push((number, stated));
            }
        }
        let licenses = rules.licenses;
        self.kept_bytes += 2 * size_of::<AgentUsage>() + size_of_val(&*licenses);
        self.kept.push(AgentUsage { statements, licenses });
        self.kept.len() - 1
    }

    /// Compiles patterns, unless the first matches every path.
    fn compile(&mut self, patterns: &PatternList) -> Option<(u32, RuleSetBuf)> {
        if patterns.get(0).matches_all() {
            return None;
        }
        let rules = RuleSetBuf::new(patterns, |_| true);
        self.kept_bytes += rules.as_bytes().len();
        self.rule_sets += 1;
        Some((self.rule_sets, rules))
    }

    /// Forgets everything if it takes more memory than allowed, and returns whether it does.
    fn keep_within(&mut self, bytes_max: usize) -> bool {
        let is_over = self.memory_bytes() > bytes_max;
        if is_over {
            *self = KnownUsage::default();
        }
        is_over
    }

    /// Returns the bytes held by statements and their automata.
    pub fn memory_bytes(&self) -> usize {
        let agents = self.of_agents.values().next().map_or(0, |agents| size_of_val(&**agents));
        let of_agents = 2 * size_of::<(PolicyNumber, Box<[Option<usize>]>)>() + agents;
        self.kept_bytes + self.of_agents.len() * of_agents + self.cache.memory_bytes()
    }

    /// Returns the work of the automata.
    pub fn work(&self) -> AutomatonWork {
        self.cache.work()
    }
}

impl AgentUsage {
    /// Calls `with` with the position of each label about which a statement matches a path, its preference
    /// and its record.
    fn decide(
        &self,
        path: &[u8],
        settings: &Settings,
        cache: &mut Cache,
        mut with: impl FnMut(usize, (Preference, u32)),
    ) {
        for Statements { rules, stated } in &self.statements {
            let first = match rules {
                None => Some(0),
                Some((number, rules)) => {
                    rules.as_rule_set().decide_as(*number, path, settings, cache).pattern()
                }
            };
            if let Some(first) = first {
                stated.iter().for_each(|(label, stated)| with(*label, stated[first]));
            }
        }
    }
}
