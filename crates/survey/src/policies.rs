//! One pass over the policies: what each says about each agent and robot, read from the stored rule
//! sets.
//!
//! Agents that follow the same groups of a file get the same decisions from it, so an audit counts
//! them once, as a *class*. Most files have one or two classes, whatever the number of agents. The
//! counters of all rules are adjacent in two arrays: one counts the URLs that a rule decided for
//! any class, the other counts them by class. Counting a decision is an addition at a known index.

use std::cmp::Reverse;
use std::ops::Range;

use portcullis_dialect::decision::PolicyState;
use portcullis_dialect::id::RuleID;
use portcullis_dialect::usage::{Label, Stance};
use portcullis_engine::Reach;
use portcullis_robots::figures::largest;
use portcullis_robots::policy::AgentChain;
use portcullis_set::stored::{Applied, AppliedGroups, PolicyNumber};
use portcullis_set::{Damage, PolicySet};
use rayon::prelude::*;
use serde::Serialize;

use crate::delays::{DelayCounts, DelayFigures};
use crate::exclusions::{Exclusions, PolicyTimes};
use crate::facts::{Addressed, AgentFacts, FactReader};
use crate::origins::{Map, PolicyUse};
use crate::text::Text;
use crate::usage::{UsageFigures, UsageReading, UsageSums};

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
    /// The origins by how much the robot may fetch.
    #[serde(flatten)]
    pub by_origin: ReachCounts,
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
    /// Robots that no group names, counted by policies with default groups.
    pub others: ReachFigures,
    /// The number of policies with rules but without default groups. They allow everything to other
    /// robots.
    pub policies_without_others: u64,
    /// The number of origins of these policies.
    pub origins_without_others: u64,
    /// The robots that most policies name.
    pub most_named: Vec<RobotRow>,
}

/// How many origins or hosts address an agent in which way, how much they allow it, and what they
/// state about the use. The first three counts add up to the total, and so do the counts of `reach`
/// and those of each label.
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
    /// The preferences about the pages that the agent may fetch.
    pub preferences: Preferences,
}

/// The number of origins or hosts by the preference about each label.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Preferences {
    pub train_ai: StanceCounts,
    pub ai_use: StanceCounts,
    pub search: StanceCounts,
}

/// The number of origins or hosts by the preference about one label on all pages that an agent may
/// fetch. The counts add up to the total.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StanceCounts {
    pub y: u64,
    pub n: u64,
    pub unstated: u64,
    /// The number with pages that differ.
    pub mixed: u64,
    /// The number in which the agent may fetch nothing.
    pub no_access: u64,
    /// The number for which a limit ended the search.
    pub not_known: u64,
}

/// What the newest policies say to one agent.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct AgentFigures {
    pub agent: String,
    #[serde(flatten)]
    pub origins: AddressCounts,
    pub hosts: AddressCounts,
    /// The crawl delays of origins.
    pub crawl_delay: DelayFigures,
}

/// What a policy says about each agent and robot.
struct Reading {
    /// What it says to each agent.
    agents: Vec<AgentFacts>,
    /// The robots that the file names, by number.
    robots: Vec<(u32, KnownReach)>,
    /// How much robots may fetch that the file does not name. `None` if no group applies to them.
    default: Option<KnownReach>,
    has_rules: bool,
    usage: UsageReading,
    policy: Policy,
}

/// What an audit keeps of a policy.
#[derive(Debug)]
pub(crate) struct Policy {
    pub number: PolicyNumber,
    pub state: PolicyState,
    pub hosts: u64,
    /// The key of the first host by name.
    pub first_host: Box<[u8]>,
    /// The position of each agent's class.
    pub class_of: Vec<u32>,
    pub classes: Vec<Class>,
    /// The number of rules that apply to some class.
    pub applicable: u64,
    /// The rules of all classes.
    pub rules: RuleSpan,
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

    /// Places the counters after the `used` ones.
    pub fn place(&mut self, used: &mut usize) {
        self.base = *used;
        *used += self.len as usize;
    }

    /// Returns the span from the first to the last rule of groups, which are in file order.
    fn of(groups: &[Range<u32>]) -> RuleSpan {
        let mut rules = groups.iter().filter(|rules| !rules.is_empty());
        let Some(first) = rules.next() else { return RuleSpan::default() };
        let end = rules.next_back().unwrap_or(first).end;
        RuleSpan { first: first.start, len: end.saturating_sub(first.start), base: 0 }
    }
}

/// What is asked of every policy.
struct Asked<'s> {
    set: &'s PolicySet,
    facts: FactReader<'s>,
}

impl<'s> Asked<'s> {
    fn read(&self, number: PolicyNumber, used: PolicyUse<'_>) -> Result<Reading, Damage> {
        let policy = self.set.policy(number)?;
        let state = policy.state()?;
        let has_rules = state == PolicyState::Rules;
        let reach = |entry| self.facts.reaches.of(policy.rule_set(entry)?);
        let robot = |(name, entry)| Ok((name, reach(entry)?));
        let (facts, applied) = self.facts.read(&policy)?;
        Ok(Reading {
            agents: facts.agents,
            robots: policy.robots()?.into_iter().map(robot).collect::<Result<_, Damage>>()?,
            default: policy.default_entry().map(reach).transpose()?,
            has_rules,
            usage: match policy.has_usage()? {
                true => policy.with_file(|file, _| UsageReading::of(file))?,
                false => UsageReading::default(),
            },
            policy: Policy::of(number, state, used, &applied)?,
        })
    }
}

impl Policy {
    /// Finds the classes of agents with these groups, and their rules.
    fn of(
        number: PolicyNumber,
        state: PolicyState,
        used: PolicyUse<'_>,
        applied: &[Applied<'_>],
    ) -> Result<Policy, Damage> {
        let (mut classes, mut class_of) = (Vec::new(), Vec::new());
        let mut entries: Vec<Option<u32>> = Vec::new();
        let mut groups: Vec<Range<u32>> = Vec::new();
        for (agent, Applied { groups: own, .. }) in applied.iter().enumerate() {
            let entry = own.as_ref().map(AppliedGroups::entry);
            let known = entries.iter().position(|other| *other == entry);
            class_of.push(known.unwrap_or(entries.len()) as u32);
            if known.is_none() {
                let own = own.as_ref().map_or(Ok(Vec::new()), AppliedGroups::rules)?;
                classes.push(Class { agent, rules: RuleSpan::of(&own) });
                groups.extend(own);
                entries.push(entry);
            }
        }
        groups.sort_unstable_by_key(|rules| (rules.start, rules.end));
        groups.dedup();
        Ok(Policy {
            number,
            state,
            hosts: used.hosts,
            first_host: used.host.into(),
            class_of,
            classes,
            applicable: groups.iter().map(|rules| rules.len() as u64).sum(),
            rules: RuleSpan::of(&groups),
        })
    }
}

/// The sums over all policies.
pub(crate) struct Sums<'s> {
    robots: RobotFigures,
    /// The names of robots, and the policies that name each.
    named: Vec<(&'s [u8], ReachFigures)>,
    agents: Vec<(AddressCounts, AddressCounts)>,
    usage: UsageSums,
    /// The hosts that exclude each agent over time, if that is asked.
    pub exclusions: Option<Exclusions>,
}

impl<'s> Sums<'s> {
    /// Reads all policies of `set`, and returns what an audit keeps of them.
    pub fn of(
        set: &'s PolicySet,
        uses: &Map<PolicyNumber, PolicyUse<'_>>,
        times: Option<&PolicyTimes>,
        agents: &[AgentChain],
    ) -> Result<(Sums<'s>, Vec<Policy>), Damage> {
        let names = set.robot_names()?.into_iter();
        let mut sums = Sums {
            robots: RobotFigures::default(),
            named: names.map(|name| (name, ReachFigures::default())).collect(),
            agents: vec![Default::default(); agents.len()],
            usage: UsageSums::default(),
            exclusions: times.map(|times| times.exclusions(agents.len())),
        };
        let mut policies = Vec::new();
        let numbers = set.policies().map(|policy| Ok(policy?.number()));
        let numbers: Vec<PolicyNumber> = numbers.collect::<Result<_, Damage>>()?;
        let used = |number: &PolicyNumber| uses.get(number).copied().unwrap_or(PolicyUse::NONE);
        let asked = Asked { set, facts: FactReader::new(set, agents)? };
        for numbers in numbers.chunks(POLICIES_AT_ONCE) {
            let read = |number: &PolicyNumber| asked.read(*number, used(number));
            let read: Vec<Result<Reading, Damage>> =
                numbers.par_iter().with_min_len(16).map(read).collect();
            for (number, reading) in numbers.iter().zip(read) {
                let reading = reading?;
                if let (Some(times), Some(exclusions)) = (times, &mut sums.exclusions) {
                    times.count(*number, &reading.agents, exclusions);
                }
                policies.push(sums.add(set, reading, used(number))?);
            }
        }
        let is_there = |number: &PolicyNumber| number.index() < numbers.len();
        match uses.keys().all(is_there) {
            true => Ok((sums, policies)),
            false => Err(set.malformed_host("a host has a policy that is not there")),
        }
    }

    fn add(
        &mut self,
        set: &PolicySet,
        reading: Reading,
        used: PolicyUse<'_>,
    ) -> Result<Policy, Damage> {
        // The policies of earlier times are not part of the survey.
        if used.origins == 0 {
            return Ok(reading.policy);
        }
        for ((origins, hosts), facts) in self.agents.iter_mut().zip(&reading.agents) {
            origins.add(used.origins, facts);
            hosts.add(used.hosts, facts);
        }
        let robots = &mut self.robots;
        if !reading.robots.is_empty() {
            robots.naming_policies += 1;
        }
        match reading.default {
            Some(reach) => robots.others.add(used, reach),
            None if reading.has_rules => {
                robots.policies_without_others += 1;
                robots.origins_without_others += used.origins;
            }
            None => {}
        }
        for (name, reach) in reading.robots {
            let named = self.named.get_mut(name as usize);
            named.ok_or_else(|| set.malformed_host("a robot has no name"))?.1.add(used, reach);
        }
        self.usage.add(reading.usage, used);
        Ok(reading.policy)
    }

    /// Returns the figures. Lists have at most `top` rows.
    pub fn figures(
        self,
        agents: &[AgentChain],
        delays: &[DelayCounts],
        top: usize,
    ) -> (RobotFigures, Vec<AgentFigures>, UsageFigures) {
        let named = self.named.into_iter().filter(|(_, count)| count.policies > 0);
        let names = named.clone().count() as u64;
        let named = named.map(|(name, count)| RobotRow { name: name.into(), count });
        let most_named = largest(named, top, |it| {
            (it.count.policies, it.count.origins, Reverse(it.name.clone()))
        });
        let robots = RobotFigures { names, most_named, ..self.robots };
        let agents = agents.iter().zip(self.agents).zip(delays);
        let reach = agents.map(|((agent, (origins, hosts)), delays)| AgentFigures {
            agent: agent.name().to_owned(),
            origins,
            hosts,
            crawl_delay: delays.figures(),
        });
        (robots, reach.collect(), self.usage.figures(top))
    }
}

impl AddressCounts {
    pub(crate) fn add(&mut self, count: u64, facts: &AgentFacts) {
        *match facts.addressed {
            Addressed::ByName => &mut self.named,
            Addressed::ByDefault => &mut self.by_default,
            Addressed::NotAtAll => &mut self.unnamed,
        } += count;
        self.reach.add(count, facts.access);
        for (label, counts) in Label::ALL.into_iter().zip(self.preferences.all()) {
            let no_access = facts.access == Some(Reach::Nothing);
            counts.add(count, facts.stances[label as usize], no_access);
        }
    }

    pub(crate) fn merge(&mut self, other: &AddressCounts) {
        self.named += other.named;
        self.by_default += other.by_default;
        self.unnamed += other.unnamed;
        self.reach.merge(&other.reach);
        let mut others = other.preferences;
        for (counts, other) in self.preferences.all().into_iter().zip(others.all()) {
            counts.merge(other);
        }
    }
}

impl Preferences {
    /// Returns the counts in the order of [`Label::ALL`].
    fn all(&mut self) -> [&mut StanceCounts; Label::ALL.len()] {
        [&mut self.train_ai, &mut self.ai_use, &mut self.search]
    }
}

impl Preferences {
    /// Returns the labels with their counts.
    pub fn by_label(self) -> impl Iterator<Item = (Label, StanceCounts)> {
        [self.train_ai, self.ai_use, self.search]
            .into_iter()
            .zip(Label::ALL)
            .map(|(it, label)| (label, it))
    }
}

impl StanceCounts {
    fn add(&mut self, count: u64, stance: Option<Stance>, no_access: bool) {
        *match (stance, no_access) {
            (Some(Stance::Yes), _) => &mut self.y,
            (Some(Stance::No), _) => &mut self.n,
            (Some(Stance::Unstated), _) => &mut self.unstated,
            (Some(Stance::Mixed), _) => &mut self.mixed,
            (None, true) => &mut self.no_access,
            (None, false) => &mut self.not_known,
        } += count;
    }

    fn merge(&mut self, other: &StanceCounts) {
        self.y += other.y;
        self.n += other.n;
        self.unstated += other.unstated;
        self.mixed += other.mixed;
        self.no_access += other.no_access;
        self.not_known += other.not_known;
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

    fn merge(&mut self, other: &ReachCounts) {
        self.everything += other.everything;
        self.part += other.part;
        self.nothing += other.nothing;
        self.not_known += other.not_known;
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
        self.by_origin.add(used.origins, reach);
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
        Survey::with_policies(&set, &agents, 9).unwrap().1.remove(0)
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
        assert_eq!(policy.applicable, 3);
    }

    #[test]
    fn classes_have_their_own_counters() {
        let mut policy = policy(&["a", "b"]);
        assert_eq!(spans(&policy), [(0, 0, 5), (1, 1, 4)]);
        assert_eq!((policy.rules.len, policy.applicable), (5, 5));
        let mut used = 0;
        policy.classes.iter_mut().for_each(|class| class.rules.place(&mut used));
        assert_eq!((policy.classes[1].rules.base, used), (5, 9));
        let counters = [0, 1, 4, 5].map(|rule| policy.classes[1].rules.counter(RuleID(rule)));
        assert_eq!(counters, [None, Some(5), Some(8), None]);
    }
}
