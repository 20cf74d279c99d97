//! One pass over the policies: what each says about each agent and robot, read from the stored rule
//! sets.
//!
//! Memory: the policies that are read at once; 8 bytes for each rule set; figures by distinct robot
//! name and licence.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use portcullis_dialect::decision::PolicyState;
use portcullis_dialect::usage::Label;
use portcullis_lint::analysis::{Reach, Relation};
use portcullis_report::{Figures, add_counts};
use portcullis_set::stored::PolicyNumber;
use portcullis_set::{Damage, PolicySet};
use portcullis_text::figures::largest;
use rayon::prelude::*;
use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};

use crate::delays::DelayCounts;
use crate::exclusions::{Exclusions, PolicyTimes};
use crate::facts::{AgentFacts, FactReader, PolicyReading};
use crate::origins::PolicyUse;
use crate::reaches::Applied;
use crate::text::Text;
use crate::usage::{UsageFigures, UsageReading, UsageSums};

/// The number of policies that are read before their readings are summed. Bounds the memory for
/// readings.
const POLICIES_AT_ONCE: usize = 4_096;

/// How much a robot may fetch. `None` if a limit ended the search.
type KnownReach = Option<Reach>;

/// The number of origins or hosts by how much a robot may fetch, in the order of [`REACH_WORDS`].
pub type ReachCounts = [u64; REACH_WORDS.len()];

/// The words of [`ReachCounts`]. The last one is for searches that a limit ended.
pub const REACH_WORDS: [&str; 4] = ["all", "part", "none", "not_known"];

/// The words of [`AddressCounts::addressed`].
const ADDRESSED_WORDS: [&str; 3] = ["named", "by_default", "unnamed"];

/// The words of [`AddressCounts::stances`]. The last two are for agents that may fetch nothing, and for
/// searches that a limit ended.
const STANCE_WORDS: [&str; 6] = ["y", "n", "?", "mixed", "-", "not_known"];

fn add(counts: &mut ReachCounts, count: u64, reach: KnownReach) {
    counts[reach.map_or(3, |reach| reach as usize)] += count;
}

/// Returns counts by their words.
fn by_word(words: &[&'static str], counts: &[u64]) -> Figures {
    Figures(words.iter().copied().zip(counts.iter().copied()).collect())
}

fn reach_by_word<S: Serializer>(counts: &ReachCounts, to: S) -> Result<S::Ok, S::Error> {
    by_word(&REACH_WORDS, counts).serialize(to)
}

/// The policies that address a robot, and how much they allow it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ReachFigures {
    /// The number of policies.
    pub policies: u64,
    /// The number of origins of these policies.
    pub origins: u64,
    /// The origins by how much the robot may fetch.
    #[serde(flatten, serialize_with = "reach_by_word")]
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

/// The robots that files with rules name.
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
/// state about the use of the pages that it may fetch. Each of these counts adds up to the total.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AddressCounts {
    /// Those with a group that names the agent, those with a group for all robots alone, and those with
    /// neither, or without a file.
    pub addressed: [u64; ADDRESSED_WORDS.len()],
    pub reach: ReachCounts,
    /// By label, the preferences that hold on all pages.
    pub stances: [[u64; STANCE_WORDS.len()]; Label::ALL.len()],
}

impl AddressCounts {
    fn add(&mut self, count: u64, facts: &AgentFacts) {
        self.addressed[facts.addressed as usize] += count;
        add(&mut self.reach, count, facts.access);
        let unknown = if facts.access == Some(Reach::Nothing) { 4 } else { 5 };
        for (counts, stance) in self.stances.iter_mut().zip(facts.stances) {
            counts[stance.map_or(unknown, |stance| stance as usize)] += count;
        }
    }

    fn merge(&mut self, other: &AddressCounts) {
        add_counts(&mut self.addressed, &other.addressed);
        add_counts(&mut self.reach, &other.reach);
        add_counts(self.stances.as_flattened_mut(), other.stances.as_flattened());
    }

    /// Returns the number of origins or hosts.
    pub fn total(&self) -> u64 {
        self.reach.iter().sum()
    }

    /// Returns the labels about which something is stated, with the counts of their preferences.
    pub fn stated(&self) -> impl Iterator<Item = (Label, [u64; STANCE_WORDS.len()])> {
        let labels = Label::ALL.into_iter().zip(self.stances);
        labels.filter(|(_, [y, n, _, mixed, ..])| y + n + mixed > 0)
    }
}

impl Serialize for AddressCounts {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        let addressed = by_word(&ADDRESSED_WORDS, &self.addressed).0.into_iter();
        for (word, count) in addressed.chain(by_word(&REACH_WORDS, &self.reach).0) {
            map.serialize_entry(word, &count)?;
        }
        let stances = |label: Label| by_word(&STANCE_WORDS, &self.stances[label as usize]);
        map.serialize_entry("preferences", &Figures::of(Label::ALL, Label::as_str, stances))?;
        map.end()
    }
}

/// What the newest policies say to one agent.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct AgentFigures {
    pub agent: String,
    #[serde(flatten)]
    pub origins: AddressCounts,
    pub hosts: AddressCounts,
    /// The crawl delays of origins.
    pub crawl_delay: DelayCounts,
    /// The hosts by what the agent may fetch beside another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relations: Option<RelationCounts>,
}

/// Hosts by what an agent may fetch beside another.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RelationCounts {
    /// The other agent.
    pub beside: String,
    /// In the order of [`Relation::WORDS`].
    #[serde(flatten, serialize_with = "relations_by_word")]
    pub hosts: [u64; Relation::ALL.len()],
}

fn relations_by_word<S: Serializer>(
    counts: &[u64; Relation::ALL.len()],
    to: S,
) -> Result<S::Ok, S::Error> {
    by_word(&Relation::WORDS, counts).serialize(to)
}

impl AgentFigures {
    /// Adds what a policy says.
    pub(crate) fn add(&mut self, used: PolicyUse, facts: &AgentFacts, reading: &PolicyReading) {
        self.origins.add(used.origins, facts);
        self.hosts.add(used.hosts, facts);
        if let (Some(counts), Some((relation, _))) =
            (&mut self.relations, reading.relation_of(facts))
        {
            counts.hosts[*relation as usize] += used.hosts;
        }
    }

    /// Adds the figures of other policies.
    pub(crate) fn merge(&mut self, other: &AgentFigures) {
        self.origins.merge(&other.origins);
        self.hosts.merge(&other.hosts);
        self.crawl_delay.merge(&other.crawl_delay);
        if let (Some(counts), Some(other)) = (&mut self.relations, &other.relations) {
            add_counts(&mut counts.hosts, &other.hosts);
        }
    }
}

/// The rules of a policy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PolicyRules {
    pub hosts: u64,
    /// The number of rules that apply to some agent.
    pub applicable: u64,
}

impl PolicyRules {
    fn of(hosts: u64, applied: &[Applied<'_>]) -> Result<PolicyRules, Damage> {
        let (mut entries, mut groups) = (Vec::new(), BTreeSet::new());
        for applied in applied.iter().filter_map(|it| it.groups.as_ref()) {
            if !entries.contains(&applied.entry()) {
                entries.push(applied.entry());
                groups.extend(applied.rules()?.iter().map(|rules| (rules.start, rules.end)));
            }
        }
        let applicable = groups.iter().map(|(start, end)| u64::from(end - start)).sum();
        Ok(PolicyRules { hosts, applicable })
    }
}

/// What a policy says about each agent and robot.
struct Reading {
    /// What it says to each agent.
    facts: PolicyReading,
    /// The robots that the file names, by number.
    robots: Vec<(u32, KnownReach)>,
    /// How much robots may fetch that the file does not name. `None` if no group applies to them.
    default: Option<KnownReach>,
    usage: UsageReading,
    rules: PolicyRules,
}

impl Reading {
    fn of(
        reader: &FactReader<'_>,
        number: PolicyNumber,
        used: PolicyUse,
    ) -> Result<Reading, Damage> {
        let policy = reader.set.policy(number)?;
        let reach = |entry| reader.reaches.of(policy.rule_set(entry)?);
        let robot = |(name, entry)| Ok((name, reach(entry)?));
        let (facts, applied) = reader.read(&policy)?;
        Ok(Reading {
            facts,
            robots: policy.robots()?.into_iter().map(robot).collect::<Result<_, Damage>>()?,
            default: policy.default_entry().map(reach).transpose()?,
            usage: match policy.has_usage()? {
                true => policy.with_file(|file, _| UsageReading::of(file))?,
                false => UsageReading::default(),
            },
            rules: PolicyRules::of(used.hosts, &applied)?,
        })
    }
}

/// The sums over all policies.
pub(crate) struct Sums<'s> {
    robots: RobotFigures,
    /// The names of robots, and the policies that name each.
    named: Vec<(&'s [u8], ReachFigures)>,
    agents: Vec<AgentFigures>,
    usage: UsageSums,
    /// The hosts that exclude each agent over time, if that is asked.
    pub exclusions: Option<Exclusions>,
}

impl<'s> Sums<'s> {
    /// Reads all policies of the set of `facts`, and calls `keep` with the rules of each, by number.
    /// `agents` has the figures that are not of policies.
    pub fn of(
        facts: FactReader<'s>,
        uses: &[PolicyUse],
        times: Option<&PolicyTimes>,
        agents: Vec<AgentFigures>,
        mut keep: impl FnMut(PolicyRules),
    ) -> Result<Sums<'s>, Damage> {
        let set = facts.set;
        let names = set.robot_names()?.into_iter();
        let mut sums = Sums {
            robots: RobotFigures::default(),
            named: names.map(|name| (name, ReachFigures::default())).collect(),
            exclusions: times.map(|times| times.exclusions(agents.len())),
            agents,
            usage: UsageSums::default(),
        };
        let mut all_numbers = set.policies().map(|policy| Ok(policy?.number()));
        loop {
            let numbers = all_numbers.by_ref().take(POLICIES_AT_ONCE);
            let numbers: Vec<PolicyNumber> = numbers.collect::<Result<_, Damage>>()?;
            if numbers.is_empty() {
                return Ok(sums);
            }
            let read = |number: &PolicyNumber| Reading::of(&facts, *number, uses[number.index()]);
            let read: Vec<Result<Reading, Damage>> =
                numbers.par_iter().with_min_len(16).map(read).collect();
            for (number, reading) in numbers.iter().zip(read) {
                let reading = reading?;
                if let (Some(times), Some(exclusions)) = (times, &mut sums.exclusions) {
                    times.count(*number, &reading.facts.agents, exclusions);
                }
                keep(sums.add(set, reading, uses[number.index()])?);
            }
        }
    }

    fn add(
        &mut self,
        set: &PolicySet,
        reading: Reading,
        used: PolicyUse,
    ) -> Result<PolicyRules, Damage> {
        // The policies of earlier times are not part of the survey.
        if used.origins == 0 {
            return Ok(reading.rules);
        }
        for (figures, facts) in self.agents.iter_mut().zip(&reading.facts.agents) {
            figures.add(used, facts, &reading.facts);
        }
        let robots = &mut self.robots;
        if !reading.robots.is_empty() {
            robots.naming_policies += 1;
        }
        match reading.default {
            Some(reach) => robots.others.add(used, reach),
            None if reading.facts.state == PolicyState::Rules => {
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
        Ok(reading.rules)
    }

    /// Returns the figures. Lists have at most `top` rows.
    pub fn figures(self, top: usize) -> (RobotFigures, Vec<AgentFigures>, UsageFigures) {
        let named = self.named.into_iter().filter(|(_, count)| count.policies > 0);
        let names = named.clone().count() as u64;
        let named = named.map(|(name, count)| RobotRow { name: name.into(), count });
        let most_named = largest(named, top, |it| {
            (it.count.policies, it.count.origins, Reverse(it.name.clone()))
        });
        let robots = RobotFigures { names, most_named, ..self.robots };
        (robots, self.agents, self.usage.figures(top))
    }
}

impl ReachFigures {
    fn add(&mut self, used: PolicyUse, reach: KnownReach) {
        self.policies += 1;
        self.origins += used.origins;
        add(&mut self.by_origin, used.origins, reach);
    }
}
