//! Figures by agent: what files allow it, and what they state to it.

use portcullis_dialect::usage::{Label, Preference, Stance};
use portcullis_lint::analysis::{Reach, Relation};
use portcullis_report::Figures;
use portcullis_robots::policy::Crawler;
use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};

use crate::facts::{AgentFacts, FactReader};
use crate::origins::PolicyUse;

/// How much a crawler may fetch. `None` if a limit ended the search.
pub(crate) type KnownReach = Option<Reach>;

/// The number of origins or hosts by how much a crawler may fetch, in the order of [`REACH_WORDS`].
pub type ReachCounts = [u64; REACH_WORDS.len()];

/// The words of [`ReachCounts`]. The last one is for searches that a limit ended.
pub const REACH_WORDS: [&str; 4] = ["all", "part", "none", "not_known"];

/// The words of [`AddressCounts::addressed`].
const ADDRESSED_WORDS: [&str; 3] = ["named", "by_default", "unnamed"];

/// The words of [`AddressCounts::stances`]. The last two are for agents that may fetch nothing, and for
/// searches that a limit ended.
const STANCE_WORDS: [&str; Stance::WORDS.len() + 2] =
    ["y", "n", "?", "mixed", "immediate", "reference", "full", "-", "not_known"];

/// Counts of stances about a label, and of agents without one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct StanceCounts([u64; STANCE_WORDS.len()]);

impl StanceCounts {
    /// Returns the count of a stance.
    pub fn of(&self, stance: Stance) -> u64 {
        self.0[stance as usize]
    }

    /// Returns the number for agents that may fetch nothing.
    pub fn no_access(&self) -> u64 {
        self.0[Stance::WORDS.len()]
    }

    /// Returns the number of searches that a limit ended.
    pub fn not_known(&self) -> u64 {
        self.0[Stance::WORDS.len() + 1]
    }

    /// Whether something is stated.
    pub fn has_stated(&self) -> bool {
        Stance::ALL.into_iter().any(|stance| stance != Stance::Unstated && self.of(stance) > 0)
    }

    /// Returns the counts by word that the stances about a label may have.
    fn by_word(&self, label: Label) -> Figures {
        let is_own = |word: &&str| match Preference::ALL.into_iter().find(|it| it.as_str() == *word)
        {
            Some(stated) if stated.is_stated() => label.stated().contains(&stated),
            _ => true,
        };
        let counts = STANCE_WORDS.into_iter().zip(self.0);
        Figures(counts.filter(|(word, _)| is_own(word)).collect())
    }
}

/// How counts change: by addition, or by its reverse.
type Change = fn(&mut u64, u64);

const ADD: Change = |sum, count| *sum += count;
const REMOVE: Change = |sum, count| *sum -= count;

fn add(counts: &mut ReachCounts, count: u64, reach: KnownReach) {
    ADD(&mut counts[place(reach)], count);
}

/// Returns the place among [`ReachCounts`].
fn place(reach: KnownReach) -> usize {
    reach.map_or(3, |reach| reach as usize)
}

/// Returns counts by their words.
fn by_word(words: &[&'static str], counts: &[u64]) -> Figures {
    Figures(words.iter().copied().zip(counts.iter().copied()).collect())
}

fn reach_by_word<S: Serializer>(counts: &[u64], to: S) -> Result<S::Ok, S::Error> {
    by_word(&REACH_WORDS, counts).serialize(to)
}

/// The policies that address a crawler, and how much they allow it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ReachFigures {
    /// The number of policies.
    pub policies: u64,
    /// The number of origins of these policies.
    pub origins: u64,
    /// The origins by how much the crawler may fetch.
    #[serde(flatten, serialize_with = "reach_by_word")]
    pub by_origin: ReachCounts,
}

/// How many origins or hosts address an agent in which way, how much they allow it, and what they
/// state about the use of the pages that it may fetch. Each of these counts adds up to the total.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AddressCounts {
    /// Files with a group that names the agent, files with a group for all crawlers alone, and files with
    /// neither, or without a file.
    pub addressed: [u64; ADDRESSED_WORDS.len()],
    pub reach: ReachCounts,
    /// Of those that allow nothing, those that no file says so of: the server failed.
    pub none_failing: u64,
    /// By label, the preferences that hold on all pages.
    pub stances: [StanceCounts; Label::ALL.len()],
}

impl AddressCounts {
    fn change(&mut self, by: Change, count: u64, facts: &AgentFacts) {
        by(&mut self.addressed[facts.addressed as usize], count);
        by(&mut self.reach[place(facts.access)], count);
        let is_none = facts.access == Some(Reach::Nothing);
        if is_none && facts.by.is_failure() {
            by(&mut self.none_failing, count);
        }
        let unknown = Stance::WORDS.len() + usize::from(!is_none);
        for (counts, stance) in self.stances.iter_mut().zip(facts.stances) {
            by(&mut counts.0[stance.map_or(unknown, |stance| stance as usize)], count);
        }
    }

    /// Returns the counts by how much is allowed: all, part, none by rule, none while the server fails, and
    /// not known.
    pub fn by_cause(&self) -> [u64; 5] {
        let [all, part, none, not_known] = self.reach;
        [all, part, none - self.none_failing, self.none_failing, not_known]
    }

    /// Returns the number of origins or hosts.
    pub fn total(&self) -> u64 {
        self.reach.iter().sum()
    }

    /// Returns the labels about which something is stated, with the counts of their preferences.
    pub fn stated(&self) -> impl Iterator<Item = (Label, StanceCounts)> {
        let labels = Label::ALL.into_iter().zip(self.stances);
        labels.filter(|(_, counts)| counts.has_stated())
    }
}

impl Serialize for AddressCounts {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        let addressed = by_word(&ADDRESSED_WORDS, &self.addressed).0.into_iter();
        for (word, count) in addressed.chain(by_word(&REACH_WORDS, &self.reach).0) {
            map.serialize_entry(word, &count)?;
        }
        map.serialize_entry("none_failing", &self.none_failing)?;
        let stances = |label: Label| self.stances[label as usize].by_word(label);
        map.serialize_entry("preferences", &Figures::of(Label::ALL, Label::as_str, stances))?;
        map.end()
    }
}

/// The answers of the newest policies to one agent.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct AgentFigures {
    pub agent: String,
    #[serde(flatten)]
    pub origins: AddressCounts,
    pub hosts: AddressCounts,
    /// The hosts by what the agent may fetch compared with another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relations: Option<RelationCounts>,
}

/// Hosts by what an agent may fetch compared with another.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RelationCounts {
    /// The other agent.
    pub baseline: String,
    /// In the order of [`Relation::WORDS`].
    #[serde(flatten, serialize_with = "relations_by_word")]
    pub hosts: [u64; Relation::ALL.len()],
}

fn relations_by_word<S: Serializer>(counts: &[u64], to: S) -> Result<S::Ok, S::Error> {
    by_word(&Relation::WORDS, counts).serialize(to)
}

impl AgentFigures {
    /// Returns the figures of each agent of a reader, of no policy yet.
    pub(crate) fn of_agents(facts: &FactReader<'_>) -> Vec<AgentFigures> {
        let figures = |agent: &Crawler| AgentFigures {
            agent: agent.name().to_owned(),
            relations: facts.baseline.as_ref().map(|(agent, _)| RelationCounts {
                baseline: agent.clone(),
                ..RelationCounts::default()
            }),
            ..AgentFigures::default()
        };
        facts.agents.iter().map(figures).collect()
    }

    /// Adds what a policy says.
    pub(crate) fn add(&mut self, used: PolicyUse, facts: &AgentFacts) {
        self.change(ADD, used, facts);
    }

    /// Removes what was added.
    pub(crate) fn remove(&mut self, used: PolicyUse, facts: &AgentFacts) {
        self.change(REMOVE, used, facts);
    }

    fn change(&mut self, by: Change, used: PolicyUse, facts: &AgentFacts) {
        self.origins.change(by, used.origins, facts);
        self.hosts.change(by, used.hosts, facts);
        if let (Some(counts), Some(related)) = (&mut self.relations, &facts.relation) {
            by(&mut counts.hosts[related.0 as usize], used.hosts);
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
