//! Figures by agent: what files allow it, and what they state to it.

use portcullis_dialect::usage::{Label, Preference, Stance};
use portcullis_lint::analysis::{Reach, Relation};
use portcullis_report::Figures;
use portcullis_robots::policy::Crawler;
use serde::{Serialize, Serializer};

use crate::facts::{AgentFacts, FactReader};
use crate::origins::PolicyUse;

/// How much a crawler may fetch. `None` if a limit ended the search.
pub(crate) type KnownReach = Option<Reach>;

/// The number of origins or hosts by how much an agent may fetch: all, a part, nothing by the rules of a
/// file, nothing while the server fails, and not known because a limit ended the search.
pub type Causes = [u64; 5];

/// Returns the place of an agent's facts among [`Causes`].
pub(crate) fn cause(facts: &AgentFacts) -> usize {
    match facts.access {
        Some(Reach::Nothing) if facts.by.is_failure() => 3,
        Some(reach) => reach as usize,
        None => 4,
    }
}

/// The words of [`ReachFigures::by_origin`]. The last one is for searches that a limit ended.
const REACH_WORDS: [&str; 4] = ["all", "part", "none", "not_known"];

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

/// Returns counts by their words.
fn by_word(words: &[&'static str], counts: &[u64]) -> Figures {
    Figures(words.iter().copied().zip(counts.iter().copied()).collect())
}

fn reach_by_word<S: Serializer>(counts: &[u64], to: S) -> Result<S::Ok, S::Error> {
    by_word(&REACH_WORDS, counts).serialize(to)
}

fn addressed_by_word<S: Serializer>(counts: &[u64], to: S) -> Result<S::Ok, S::Error> {
    by_word(&ADDRESSED_WORDS, counts).serialize(to)
}

fn causes_by_word<S: Serializer>(causes: &Causes, to: S) -> Result<S::Ok, S::Error> {
    let [all, part, by_rule, none_failing, not_known] = *causes;
    let reach = by_word(&REACH_WORDS, &[all, part, by_rule + none_failing, not_known]);
    Figures([reach.0, vec![("none_failing", none_failing)]].concat()).serialize(to)
}

fn stances_by_label<S: Serializer>(stances: &[StanceCounts], to: S) -> Result<S::Ok, S::Error> {
    let of_label = |label: Label| stances[label as usize].by_word(label);
    Figures::of(Label::ALL, Label::as_str, of_label).serialize(to)
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
    pub by_origin: [u64; REACH_WORDS.len()],
}

/// How many origins or hosts address an agent in which way, how much they allow it, and what they
/// state about the use of the pages that it may fetch. Each of these counts adds up to the total.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AddressCounts {
    /// Files with a group that names the agent, files with a group for all crawlers alone, and files with
    /// neither, or without a file.
    #[serde(flatten, serialize_with = "addressed_by_word")]
    pub addressed: [u64; ADDRESSED_WORDS.len()],
    #[serde(flatten, serialize_with = "causes_by_word")]
    pub causes: Causes,
    /// By label, the preferences that hold on all pages.
    #[serde(rename = "preferences", serialize_with = "stances_by_label")]
    pub stances: [StanceCounts; Label::ALL.len()],
}

impl AddressCounts {
    fn change(&mut self, by: Change, count: u64, facts: &AgentFacts) {
        by(&mut self.addressed[facts.addressed as usize], count);
        by(&mut self.causes[cause(facts)], count);
        let unknown = Stance::WORDS.len() + usize::from(facts.access != Some(Reach::Nothing));
        for (counts, stance) in self.stances.iter_mut().zip(facts.stances) {
            by(&mut counts.0[stance.map_or(unknown, |stance| stance as usize)], count);
        }
    }

    /// Returns the number of origins or hosts.
    pub fn total(&self) -> u64 {
        self.causes.iter().sum()
    }

    /// Returns the labels about which something is stated, with the counts of their preferences.
    pub fn stated(&self) -> impl Iterator<Item = (Label, StanceCounts)> {
        let labels = Label::ALL.into_iter().zip(self.stances);
        labels.filter(|(_, counts)| counts.has_stated())
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
        self.by_origin[reach.map_or(3, |reach| reach as usize)] += used.origins;
    }
}
