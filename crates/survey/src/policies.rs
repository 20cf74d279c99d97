//! One pass over the policies: what each says about each agent and robot, read from the stored rule
//! sets.
//!
//! Memory: the policies that are read at once; 8 bytes for each rule set; figures by distinct robot
//! name and licence.

use std::cmp::Reverse;

use portcullis_dialect::decision::PolicyState;
use portcullis_dialect::usage::{Label, Stance};
use portcullis_lint::analysis::Reach;
use portcullis_robots::policy::Crawler;
use portcullis_set::stored::PolicyNumber;
use portcullis_set::{Damage, PolicySet};
use portcullis_text::figures::largest;
use rayon::prelude::*;
use serde::Serialize;

use crate::classes::PolicyClasses;
use crate::delays::{DelayCounts, DelayFigures};
use crate::exclusions::{Exclusions, PolicyTimes};
use crate::facts::{Addressed, AgentFacts, FactReader};
use crate::origins::PolicyUse;
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
    #[serde(rename = "all")]
    pub everything: u64,
    pub part: u64,
    #[serde(rename = "none")]
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
/// state about the use. The first three counts add up to the total, and so do the counts of `reach`
/// and those of each label.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AddressCounts {
    /// The number with a group that names the agent.
    pub named: u64,
    /// The number without a group that names the agent, but with a group for all robots.
    pub by_default: u64,
    /// The number with neither: no group for the agent, or no file.
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
    #[serde(rename = "?")]
    pub unstated: u64,
    /// The number with pages that differ.
    pub mixed: u64,
    /// The number in which the agent may fetch nothing.
    #[serde(rename = "-")]
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
    /// The hosts by what the agent may fetch beside another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relations: Option<RelationCounts>,
}

/// Hosts by what an agent may fetch beside another ([`Relation`](portcullis_lint::analysis::Relation)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RelationCounts {
    pub same: u64,
    pub more: u64,
    pub less: u64,
    pub other: u64,
    pub unknown: u64,
}

impl RelationCounts {
    /// Returns the counts in the order of the words.
    pub fn of([same, more, less, other, unknown]: [u64; 5]) -> RelationCounts {
        RelationCounts { same, more, less, other, unknown }
    }
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
    classes: PolicyClasses,
}

/// What is asked of every policy.
struct Asked<'s> {
    set: &'s PolicySet,
    facts: FactReader<'s>,
}

impl<'s> Asked<'s> {
    fn read(&self, number: PolicyNumber, used: PolicyUse) -> Result<Reading, Damage> {
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
            classes: PolicyClasses::of(number, used.hosts, &applied)?,
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
    /// Reads all policies of `set`, and calls `keep` with the classes of each, by number.
    pub fn of(
        set: &'s PolicySet,
        uses: &[PolicyUse],
        times: Option<&PolicyTimes>,
        agents: &[Crawler],
        mut keep: impl FnMut(PolicyClasses),
    ) -> Result<Sums<'s>, Damage> {
        let names = set.robot_names()?.into_iter();
        let mut sums = Sums {
            robots: RobotFigures::default(),
            named: names.map(|name| (name, ReachFigures::default())).collect(),
            agents: vec![Default::default(); agents.len()],
            usage: UsageSums::default(),
            exclusions: times.map(|times| times.exclusions(agents.len())),
        };
        let asked = Asked { set, facts: FactReader::new(set, agents)? };
        let mut all_numbers = set.policies().map(|policy| Ok(policy?.number()));
        loop {
            let numbers = all_numbers.by_ref().take(POLICIES_AT_ONCE);
            let numbers: Vec<PolicyNumber> = numbers.collect::<Result<_, Damage>>()?;
            if numbers.is_empty() {
                return Ok(sums);
            }
            let read = |number: &PolicyNumber| asked.read(*number, uses[number.index()]);
            let read: Vec<Result<Reading, Damage>> =
                numbers.par_iter().with_min_len(16).map(read).collect();
            for (number, reading) in numbers.iter().zip(read) {
                let reading = reading?;
                if let (Some(times), Some(exclusions)) = (times, &mut sums.exclusions) {
                    times.count(*number, &reading.agents, exclusions);
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
    ) -> Result<PolicyClasses, Damage> {
        // The policies of earlier times are not part of the survey.
        if used.origins == 0 {
            return Ok(reading.classes);
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
        Ok(reading.classes)
    }

    /// Returns the figures. Lists have at most `top` rows.
    pub fn figures(
        self,
        agents: &[Crawler],
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
            relations: None,
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
    fn add(&mut self, used: PolicyUse, reach: KnownReach) {
        self.policies += 1;
        self.origins += used.origins;
        self.by_origin.add(used.origins, reach);
    }
}
