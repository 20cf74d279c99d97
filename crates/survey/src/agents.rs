//! Figures by agent: what files allow it and state to it, and the crawl delays of origins.
//!
//! A delay belongs to a capture, not to a policy, because files with the same rules may have
//! different delays. So delays are counted by origin.
//!
//! Memory: for each agent, the distinct delays, up to [`SURVEY_DELAYS_KEPT`].

use std::collections::BTreeMap;

use portcullis_dialect::usage::Label;
use portcullis_lint::analysis::{Reach, Relation};
use portcullis_report::{Figures, add_counts};
use portcullis_robots::policy::{CrawlDelay, Crawler};
use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};

use crate::facts::{AgentFacts, FactReader, PolicyReading};
use crate::limits::SURVEY_DELAYS_KEPT;
use crate::origins::PolicyUse;

/// How much a robot may fetch. `None` if a limit ended the search.
pub(crate) type KnownReach = Option<Reach>;

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
    /// Returns the figures of each agent of a reader, of no policy yet.
    pub(crate) fn of_agents(facts: &FactReader<'_>) -> Vec<AgentFigures> {
        let figures = |agent: &Crawler| AgentFigures {
            agent: agent.name().to_owned(),
            relations: facts.beside.as_ref().map(|(agent, _)| RelationCounts {
                beside: agent.clone(),
                ..RelationCounts::default()
            }),
            ..AgentFigures::default()
        };
        facts.agents.iter().map(figures).collect()
    }

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

impl ReachFigures {
    pub(crate) fn add(&mut self, used: PolicyUse, reach: KnownReach) {
        self.policies += 1;
        self.origins += used.origins;
        add(&mut self.by_origin, used.origins, reach);
    }
}

/// The crawl delays of one agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct DelayFigures {
    /// The number of origins whose file has a delay for the agent.
    pub origins: u64,
    /// The least delay in seconds.
    pub least: Option<f64>,
    /// The median; of two, the lower one. `None` also if there are more than [`SURVEY_DELAYS_KEPT`]
    /// distinct delays.
    pub median: Option<f64>,
    /// The greatest delay in seconds.
    pub greatest: Option<f64>,
    /// The number of lines for the agent whose value is not a number.
    pub unreadable: u64,
}

/// The crawl delays of one agent that were counted so far.
#[derive(Clone, Debug, PartialEq)]
pub struct DelayCounts {
    origins: u64,
    /// The least and the greatest.
    span: Option<(f64, f64)>,
    /// The number of origins by delay, whose bits are in the order of the numbers. `None` if there
    /// are too many.
    by_delay: Option<BTreeMap<u64, u64>>,
    unreadable: u64,
}

impl Default for DelayCounts {
    fn default() -> DelayCounts {
        DelayCounts { origins: 0, span: None, by_delay: Some(BTreeMap::new()), unreadable: 0 }
    }
}

impl Serialize for DelayCounts {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.figures().serialize(to)
    }
}

impl DelayCounts {
    /// Adds what the file of an origin says.
    pub(crate) fn add(&mut self, delay: &CrawlDelay) {
        self.unreadable += u64::from(delay.unreadable);
        if let Some(seconds) = delay.seconds {
            // A zero has one sign here.
            self.add_many(seconds + 0.0, 1);
        }
    }

    fn add_many(&mut self, seconds: f64, origins: u64) {
        self.origins += origins;
        let (least, greatest) = self.span.unwrap_or((seconds, seconds));
        self.span = Some((least.min(seconds), greatest.max(seconds)));
        if let Some(by_delay) = &mut self.by_delay {
            *by_delay.entry(seconds.to_bits()).or_default() += origins;
            if by_delay.len() > SURVEY_DELAYS_KEPT {
                self.by_delay = None;
            }
        }
    }

    pub(crate) fn merge(&mut self, other: &DelayCounts) {
        self.unreadable += other.unreadable;
        match &other.by_delay {
            Some(by_delay) => {
                by_delay
                    .iter()
                    .for_each(|(bits, count)| self.add_many(f64::from_bits(*bits), *count));
            }
            None => {
                self.origins += other.origins;
                let spans = [self.span, other.span].into_iter().flatten();
                self.span = spans.reduce(|one, two| (one.0.min(two.0), one.1.max(two.1)));
                self.by_delay = None;
            }
        }
    }

    /// Returns the figures.
    pub fn figures(&self) -> DelayFigures {
        let mut before = 0;
        let middle = self.origins.div_ceil(2);
        let median = self.by_delay.iter().flatten().find(|(_, count)| {
            before += **count;
            before >= middle
        });
        DelayFigures {
            origins: self.origins,
            least: self.span.map(|(least, _)| least),
            median: median.map(|(bits, _)| f64::from_bits(*bits)),
            greatest: self.span.map(|(_, greatest)| greatest),
            unreadable: self.unreadable,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(delays: impl IntoIterator<Item = f64>) -> DelayCounts {
        let mut counts = DelayCounts::default();
        for seconds in delays {
            counts.add(&CrawlDelay { seconds: Some(seconds), unreadable: 1 });
        }
        counts
    }

    #[test]
    fn the_middle_of_delays() {
        let cases: [(&[f64], [Option<f64>; 3]); 4] = [
            (&[], [None; 3]),
            (&[5.0], [Some(5.0); 3]),
            (&[0.5, 10.0], [Some(0.5), Some(0.5), Some(10.0)]),
            (&[10.0, 1.0, 2.0, 10.0, 10.0], [Some(1.0), Some(10.0), Some(10.0)]),
        ];
        for (delays, expected) in cases {
            let figures = counts(delays.iter().copied()).figures();
            assert_eq!([figures.least, figures.median, figures.greatest], expected, "{delays:?}");
            assert_eq!(figures.origins, figures.unreadable);
        }
    }

    #[test]
    fn parts_merge_to_the_whole() {
        let all: Vec<f64> = (0..SURVEY_DELAYS_KEPT + 10).map(|it| it as f64).collect();
        for (most, cut) in
            [(9, 4), (SURVEY_DELAYS_KEPT, 7), (all.len(), 9), (all.len(), all.len() - 1)]
        {
            let mut merged = counts(all[..cut].iter().copied());
            merged.merge(&counts(all[cut..most].iter().copied()));
            let whole = counts(all[..most].iter().copied()).figures();
            assert_eq!(merged.figures(), whole);
            assert_eq!(whole.median.is_some(), most <= SURVEY_DELAYS_KEPT);
        }
    }
}
