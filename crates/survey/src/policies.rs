//! One pass over the policies: each text is parsed once, and a [`Reading`] holds what it says about
//! each agent and robot.
//!
//! Agents that follow the same groups of a file get the same decisions from it, so an audit counts
//! them once, as a *class*. Most files have one or two classes, whatever the number of agents. The
//! counters of all rules are adjacent in two arrays: one counts the URLs that a rule decided for
//! any class, the other counts them by class. Counting a decision is an addition at a known index.

use std::cmp::Reverse;
use std::ops::Range;

use portcullis_dialect::decision::{PolicyState, Verdict};
use portcullis_dialect::dialect::Dialect;
use portcullis_dialect::id::RuleID;
use portcullis_dialect::limits::POLICY_PATTERNS_MAX;
use portcullis_engine::automaton::Reach;
use portcullis_lint::analysis::RuleStatus;
use portcullis_robots::figures::largest;
use portcullis_robots::policy::{AgentChain, Audience, Selection, reach};
use portcullis_robots::syntax::RobotsTxt;
use portcullis_set::stored::{PolicyNumber, StoredPolicy};
use portcullis_set::{Damage, PolicySet};
use rayon::prelude::*;
use serde::Serialize;

use crate::origins::{Map, PolicyUse};
use crate::rules::never_deciding;
use crate::text::Text;
use crate::usage::{Conflict, UsageFigures, UsageReading, UsageSums, conflicts};

/// The number of policies that are read before their readings are summed. Bounds the memory for
/// readings.
const POLICIES_AT_ONCE: usize = 4_096;

/// How much a robot may fetch. `None` if a limit ended the search.
type KnownReach = Option<Reach>;

/// The number of origins or hosts by how much a robot may fetch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ReachCounts {
    pub everything: u64,
    pub part: u64,
    pub nothing: u64,
    /// The number for which a limit ended the search.
    pub not_known: u64,
}

/// The policies that address a robot, and how much they allow it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ReachFigures {
    /// The number of policies.
    pub policies: u64,
    /// The number of origins of these policies.
    pub origins: u64,
    /// The number of hosts of these policies.
    pub hosts: u64,
    /// The origins by how much the robot may fetch.
    #[serde(flatten)]
    pub by_origin: ReachCounts,
    /// The hosts by how much the robot may fetch.
    pub by_host: ReachCounts,
}

/// A robot that files name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RobotRow {
    /// The name in lower case.
    pub name: Text,
    /// The policies that name it.
    #[serde(flatten)]
    pub count: ReachFigures,
}

/// The robots that files name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RobotFigures {
    /// The number of distinct names.
    pub names: u64,
    /// The number of policies that name a robot.
    pub naming_policies: u64,
    /// The number of hosts of these policies.
    pub naming_hosts: u64,
    /// Robots that no group names, counted by policies with default groups.
    pub others: ReachFigures,
    /// The number of policies with rules but without default groups. They allow everything to other
    /// robots.
    pub policies_without_others: u64,
    /// The number of origins of these policies.
    pub origins_without_others: u64,
    /// The number of hosts of these policies.
    pub hosts_without_others: u64,
    /// The robots that most policies name.
    pub most_named: Vec<RobotRow>,
}

/// How many origins or hosts address an agent in which way, and how much they allow it. The first
/// three counts add up to the total, and so do the counts of `reach`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AddressCounts {
    /// The number with a group that names the agent.
    pub named: u64,
    /// The number without a group that names the agent, but with a group for all robots.
    pub by_default: u64,
    /// The number with neither: no group for the agent, no rules or no file.
    pub unnamed: u64,
    /// The number by how much the agent may fetch.
    #[serde(flatten)]
    pub reach: ReachCounts,
}

/// How much one agent may fetch from the set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AgentFigures {
    pub agent: String,
    #[serde(flatten)]
    pub origins: AddressCounts,
    pub hosts: AddressCounts,
}

/// How much of a text is read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    /// What the figures need.
    Figures,
    /// Also the fate of each rule, and the statements without effect.
    Rules,
}

/// How a text addresses an agent.
#[derive(Clone, Copy)]
enum Addressed {
    ByName,
    ByDefault,
    NotAtAll,
}

/// What a text says about each agent and robot.
pub(crate) struct Reading {
    /// How the text addresses each agent, and how much the agent may fetch.
    agents: Vec<(Addressed, KnownReach)>,
    /// The robots that the text names, in lower case.
    robots: Vec<(Vec<u8>, KnownReach)>,
    /// How much robots may fetch that the text does not name. `None` if no group applies to them.
    default: Option<KnownReach>,
    has_rules: bool,
    usage: UsageReading,
    /// For [`Depth::Rules`].
    policy: Option<Policy>,
}

/// What an audit keeps of a policy.
#[derive(Debug)]
pub(crate) struct Policy {
    pub number: PolicyNumber,
    pub state: PolicyState,
    pub origins: u64,
    pub hosts: u64,
    /// The key of the first host by name.
    pub first_host: Box<[u8]>,
    /// The position of each agent's class.
    pub class_of: Vec<u32>,
    pub classes: Vec<Class>,
    /// The number of rules with a pattern that apply to some class.
    pub applicable: u64,
    /// The rules of all classes.
    pub rules: RuleSpan,
    /// The rules that never decide, or for which a limit ended the search.
    pub never: Vec<(RuleID, RuleStatus)>,
    pub conflicts: Vec<Conflict>,
}

/// Agents that follow the same groups of a policy.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Class {
    /// The first agent of the class.
    pub agent: usize,
    /// The rules from the first to the last in the groups of the class.
    pub rules: RuleSpan,
}

/// A span of adjacent rules in a file, and their counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RuleSpan {
    pub first: u32,
    pub len: u32,
    /// The counter of the first rule.
    pub base: usize,
}

impl RuleSpan {
    /// Returns the counter of a rule, or `None` if the rule is not in the span.
    #[inline]
    pub fn counter(&self, rule: RuleID) -> Option<usize> {
        let offset = rule.0.checked_sub(self.first)?;
        (offset < self.len).then(|| self.base + offset as usize)
    }

    /// Returns the counters of all rules in the span.
    pub fn counters(&self) -> Range<usize> {
        self.base..self.base + self.len as usize
    }

    /// Places the counters after the `used` ones.
    pub fn place(&mut self, used: &mut usize) {
        self.base = *used;
        *used += self.len as usize;
    }

    /// Returns the span from the first to the last rule of groups, which are in file order.
    fn of(file: &RobotsTxt<'_>, groups: &[usize]) -> RuleSpan {
        let rules = groups.iter().map(|&group| &file.groups()[group].rules);
        let mut rules = rules.filter(|rules| !rules.is_empty());
        let Some(first) = rules.next() else { return RuleSpan::default() };
        let end = rules.next_back().unwrap_or(first).end;
        RuleSpan { first: first.start, len: end - first.start, base: 0 }
    }
}

impl Reading {
    fn of(
        policy: &StoredPolicy<'_>,
        used: PolicyUse<'_>,
        (agents, dialect, depth): (&[AgentChain], &'static Dialect, Depth),
    ) -> Result<Reading, Damage> {
        let access = policy.access()?;
        let mut kept = Policy {
            number: policy.number(),
            state: access.state,
            origins: used.origins,
            hosts: used.hosts,
            first_host: used.host.into(),
            class_of: vec![0; agents.len()],
            classes: vec![Class { agent: 0, rules: RuleSpan::default() }],
            applicable: 0,
            rules: RuleSpan::default(),
            never: Vec::new(),
            conflicts: Vec::new(),
        };
        let mut reading = match access.state {
            PolicyState::Rules | PolicyState::NoRules => policy.with_file(|file, _| {
                if depth == Depth::Rules {
                    kept.read(file, agents, dialect);
                }
                Reading::of_file(file, agents, dialect)
            })?,
            _ => {
                let reach = match access.verdict {
                    Verdict::Disallow => Reach::Nothing,
                    _ => Reach::Everything,
                };
                Reading {
                    agents: vec![(Addressed::NotAtAll, Some(reach)); agents.len()],
                    robots: Vec::new(),
                    default: None,
                    has_rules: false,
                    usage: UsageReading::default(),
                    policy: None,
                }
            }
        };
        reading.policy = (depth == Depth::Rules).then_some(kept);
        Ok(reading)
    }

    fn of_file(file: &RobotsTxt<'_>, agents: &[AgentChain], dialect: &Dialect) -> Reading {
        let has_rules = !file.rules().is_empty();
        let usage = UsageReading::of(file);
        let mut known: Map<Vec<usize>, KnownReach> = Map::default();
        // The number of patterns in all combinations of groups so far.
        let mut patterns = 0;
        let mut reach = |groups: &[usize]| {
            if let Some(&known) = known.get(groups) {
                return known;
            }
            let rules = groups.iter().map(|&group| file.groups()[group].rules.len());
            patterns += rules.sum::<usize>();
            let found = (patterns <= POLICY_PATTERNS_MAX).then(|| reach(file, groups, dialect));
            *known.entry(groups.to_vec()).or_insert(found.flatten())
        };
        let agents = agents.iter().map(|agent| {
            let Selection { groups, token } = Selection::of(file, agent, dialect);
            match token {
                Some(_) => (Addressed::ByName, reach(&groups)),
                None if groups.is_empty() => (Addressed::NotAtAll, Some(Reach::Everything)),
                None => (Addressed::ByDefault, reach(&groups)),
            }
        });
        let agents = agents.collect();
        if !has_rules {
            let (robots, default) = (Vec::new(), None);
            return Reading { agents, robots, default, has_rules, usage, policy: None };
        }
        let audience = Audience::of(file, dialect);
        let groups = &audience.default_groups;
        let default = (!groups.is_empty()).then(|| reach(groups));
        let robots = audience.robots.into_iter().map(|it| (it.name, reach(&it.groups)));
        let robots = robots.collect();
        Reading { agents, robots, default, has_rules, usage, policy: None }
    }
}

impl Policy {
    /// Finds the classes of `agents` in the policy's file, and what has no effect for them.
    fn read(&mut self, file: &RobotsTxt<'_>, agents: &[AgentChain], dialect: &'static Dialect) {
        let mut distinct: Vec<Vec<usize>> = Vec::new();
        self.classes.clear();
        for (agent, chain) in agents.iter().enumerate() {
            let groups = Selection::of(file, chain, dialect).groups;
            let known = distinct.iter().position(|other| *other == groups);
            self.class_of[agent] = known.unwrap_or(distinct.len()) as u32;
            if known.is_none() {
                self.classes.push(Class { agent, rules: RuleSpan::of(file, &groups) });
                distinct.push(groups);
            }
        }
        let groups = sorted_union(&distinct);
        let rules = groups.iter().flat_map(|&group| file.rules_of(&file.groups()[group]));
        self.applicable = rules.filter(|rule| !rule.value.is_empty()).count() as u64;
        self.rules = RuleSpan::of(file, &groups);
        let classes = self.classes.iter().filter(|class| class.rules.len > 0);
        self.never = never_deciding(file, classes.map(|class| &agents[class.agent]), dialect);
        self.conflicts = conflicts(file, agents, dialect);
    }
}

/// Returns the members of all lists, ascending and without duplicates.
pub(crate) fn sorted_union(lists: &[Vec<usize>]) -> Vec<usize> {
    let mut union: Vec<usize> = lists.iter().flatten().copied().collect();
    union.sort_unstable();
    union.dedup();
    union
}

/// The sums over all policies.
pub(crate) struct Sums {
    robots: RobotFigures,
    named: Map<Vec<u8>, ReachFigures>,
    agents: Vec<(AddressCounts, AddressCounts)>,
    usage: UsageSums,
}

impl Sums {
    /// Reads all policies of `set`. Returns what an audit keeps of them for [`Depth::Rules`].
    pub fn of(
        set: &PolicySet,
        uses: &Map<PolicyNumber, PolicyUse<'_>>,
        agents: &[AgentChain],
        depth: Depth,
    ) -> Result<(Sums, Vec<Policy>), Damage> {
        let mut sums = Sums {
            robots: RobotFigures::default(),
            named: Map::default(),
            agents: vec![Default::default(); agents.len()],
            usage: UsageSums::default(),
        };
        let mut policies = Vec::new();
        let numbers = set.policies().map(|policy| Ok(policy?.number()));
        let numbers: Vec<PolicyNumber> = numbers.collect::<Result<_, Damage>>()?;
        let used = |number: &PolicyNumber| uses.get(number).copied().unwrap_or(PolicyUse::NONE);
        let context = (agents, set.dialect(), depth);
        for numbers in numbers.chunks(POLICIES_AT_ONCE) {
            let read =
                |number: &PolicyNumber| Reading::of(&set.policy(*number)?, used(number), context);
            let read: Vec<Result<Reading, Damage>> =
                numbers.par_iter().with_min_len(16).map(read).collect();
            for (number, reading) in numbers.iter().zip(read) {
                let mut reading = reading?;
                policies.extend(reading.policy.take());
                sums.add(reading, used(number));
            }
        }
        let is_there = |number: &PolicyNumber| number.index() < numbers.len();
        match uses.keys().all(is_there) {
            true => Ok((sums, policies)),
            false => Err(set.malformed_host("a host has a policy that is not there")),
        }
    }

    fn add(&mut self, reading: Reading, used: PolicyUse<'_>) {
        for ((origins, hosts), (addressed, reach)) in self.agents.iter_mut().zip(reading.agents) {
            origins.add(used.origins, addressed, reach);
            hosts.add(used.hosts, addressed, reach);
        }
        let robots = &mut self.robots;
        if !reading.robots.is_empty() {
            robots.naming_policies += 1;
            robots.naming_hosts += used.hosts;
        }
        match reading.default {
            Some(reach) => robots.others.add(used, reach),
            None if reading.has_rules => {
                robots.policies_without_others += 1;
                robots.origins_without_others += used.origins;
                robots.hosts_without_others += used.hosts;
            }
            None => {}
        }
        for (name, reach) in reading.robots {
            self.named.entry(name).or_default().add(used, reach);
        }
        self.usage.add(reading.usage, used);
    }

    /// Returns the figures. Lists have at most `top` rows.
    pub fn figures(
        self,
        agents: &[AgentChain],
        top: usize,
    ) -> (RobotFigures, Vec<AgentFigures>, UsageFigures) {
        let names = self.named.len() as u64;
        let named =
            self.named.into_iter().map(|(name, count)| RobotRow { name: Text(name), count });
        // The name makes the order total; the iteration order of a map is random.
        let most_named = largest(named, top, |it| {
            (it.count.policies, it.count.origins, Reverse(it.name.clone()))
        });
        let robots = RobotFigures { names, most_named, ..self.robots };
        let reach = agents.iter().zip(self.agents).map(|(agent, (origins, hosts))| AgentFigures {
            agent: agent.name().to_owned(),
            origins,
            hosts,
        });
        (robots, reach.collect(), self.usage.figures(top))
    }
}

impl AddressCounts {
    fn add(&mut self, count: u64, addressed: Addressed, reach: KnownReach) {
        *match addressed {
            Addressed::ByName => &mut self.named,
            Addressed::ByDefault => &mut self.by_default,
            Addressed::NotAtAll => &mut self.unnamed,
        } += count;
        self.reach.add(count, reach);
    }
}

impl ReachCounts {
    fn add(&mut self, count: u64, reach: KnownReach) {
        *match reach {
            Some(Reach::Everything) => &mut self.everything,
            Some(Reach::Part) => &mut self.part,
            Some(Reach::Nothing) => &mut self.nothing,
            None => &mut self.not_known,
        } += count;
    }

    /// Returns the counts in order, for a chart.
    pub fn values(&self) -> Vec<u64> {
        vec![self.everything, self.part, self.nothing, self.not_known]
    }
}

impl ReachFigures {
    fn add(&mut self, used: PolicyUse<'_>, reach: KnownReach) {
        self.policies += 1;
        self.origins += used.origins;
        self.hosts += used.hosts;
        self.by_origin.add(used.origins, reach);
        self.by_host.add(used.hosts, reach);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Survey;
    use portcullis_dialect::dialect::RFC_9309;
    use portcullis_set::LoadConfig;

    const TEXT: &[u8] = b"User-agent: a\nDisallow: /1\n\nUser-agent: b\nUser-agent: c\n\
        Disallow: /2\nDisallow:\nAllow: /3\n\nUser-agent: a\nUser-agent: b\nDisallow: /4\n";

    fn policy(agents: &[&str]) -> Policy {
        let agents: Vec<AgentChain> =
            agents.iter().map(|agent| AgentChain::parse(agent, &RFC_9309).unwrap()).collect();
        let set = PolicySet::of_text(TEXT, &LoadConfig::new(&RFC_9309));
        Survey::with_policies(&set.into(), &agents, 9).unwrap().1.remove(0)
    }

    fn spans(policy: &Policy) -> Vec<(usize, u32, u32)> {
        let classes = policy.classes.iter();
        classes.map(|class| (class.agent, class.rules.first, class.rules.len)).collect()
    }

    #[test]
    fn agents_that_follow_the_same_groups_are_one_class() {
        let policy = policy(&["c", "other", "C", "else"]);
        assert_eq!(policy.class_of, [0, 1, 0, 1]);
        assert_eq!(spans(&policy), [(0, 1, 3), (1, 0, 0)]);
        // An empty pattern never decides.
        assert_eq!(policy.applicable, 2);
    }

    #[test]
    fn classes_have_their_own_counters() {
        let mut policy = policy(&["a", "b"]);
        assert_eq!(spans(&policy), [(0, 0, 5), (1, 1, 4)]);
        assert_eq!((policy.rules.len, policy.applicable), (5, 4));
        let mut used = 0;
        policy.classes.iter_mut().for_each(|class| class.rules.place(&mut used));
        assert_eq!((policy.classes[1].rules.base, used), (5, 9));
        let counters = [0, 1, 4, 5].map(|rule| policy.classes[1].rules.counter(RuleID(rule)));
        assert_eq!(counters, [None, Some(5), Some(8), None]);
    }
}
