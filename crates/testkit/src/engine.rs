//! An engine to compare: a set, agents, and a configuration of the steps that decide.

use std::sync::Arc;

use portcullis_dialect::decision::Decision;
use portcullis_dialect::usage::{Label, Stated};
use portcullis_engine::Limits;
use portcullis_engine::vectors::Vectors;
use portcullis_robots::policy::Crawler;
use portcullis_set::batch::{AgentKind, Answers, Classifier, Records, Session};
use portcullis_set::{Damage, PolicySet};

use crate::companions::Companions;

/// The memory that one thread uses with an [`Engine`].
#[derive(Clone, Debug)]
pub struct Memory {
    session: Session,
    by_record: Option<Session>,
    decisions: Vec<Decision>,
}

impl Memory {
    /// Returns the session.
    pub fn session(&self) -> &Session {
        &self.session
    }
}

/// The answers on a block.
#[derive(Debug)]
pub struct Given<'m> {
    /// The decisions, with rules if the configuration asks for them.
    pub decisions: &'m [Decision],
    /// The answers of the session.
    pub answers: Answers<'m>,
}

impl Given<'_> {
    /// Returns what is stated for an answer about the label at `label`.
    pub fn stated(&self, answer: usize, label: usize) -> Stated {
        let preference = self.answers.preference(answer, label);
        let place = self.answers.stated_at(answer, label).expect("a whole set");
        let (source, line) = place.map(|place| (place.source, place.line)).unzip();
        Stated { preference, source, line }
    }

    /// Returns the licences for an answer.
    pub fn licences(&self, answer: usize) -> Vec<Vec<u8>> {
        let licences = self.answers.licenses(answer).expect("a whole set");
        licences.map(|licence| licence.expect("a whole set")).collect()
    }
}

/// Limits that force some step, and whether rules are asked for.
#[derive(Clone, Copy, Debug)]
pub struct Configuration {
    /// A name for messages.
    pub name: &'static str,
    /// The limits.
    pub limits: Limits,
    rules: bool,
}

impl Default for Configuration {
    fn default() -> Configuration {
        configurations()[0]
    }
}

impl Configuration {
    /// Returns the default configuration with these limits.
    pub fn of(name: &'static str, limits: Limits) -> Configuration {
        Configuration { name, limits, rules: true }
    }

    /// Leaves the rules out, which are found answer by answer.
    #[must_use]
    pub fn without_rules(self) -> Configuration {
        Configuration { rules: false, ..self }
    }

    /// Returns what the engine must answer if the oracle answers `judged`.
    pub fn expected(&self, judged: Decision) -> Decision {
        match self.rules {
            true => judged,
            false => Decision::without_rule(judged.verdict, judged.reason),
        }
    }
}

/// Returns the default configuration, then each step and each fallback.
pub fn configurations() -> [Configuration; 8] {
    let usual = Limits::default();
    let dfa = Limits { candidates_tried_max: None, dfa_bytes_queried_min: 0, ..usual };
    [
        ("as usual", usual, true),
        ("verdicts as usual", usual, false),
        ("a prefilter before automata", Limits { candidates_tried_max: Some(0), ..usual }, true),
        (
            "automata if two patterns have to be tried",
            Limits { candidates_tried_max: Some(1), ..usual },
            false,
        ),
        ("a DFA", dfa, true),
        ("a scan, later a DFA", Limits { dfa_bytes_queried_min: 1, ..dfa }, true),
        ("memory spent soon", Limits { automata_bytes_max: 4096, ..dfa }, false),
        ("scans", Limits { dfa_pattern_bytes_max: 0, ..dfa }, true),
    ]
    .map(|(name, limits, rules)| Configuration { name, limits, rules })
}

/// A set and the agents to decide for, in one configuration.
#[derive(Debug)]
pub struct Engine {
    classifier: Arc<Classifier>,
    /// Decides for an agent per record; `None` with usage, and if agents have the same first token.
    by_record: Option<Arc<Classifier>>,
    /// The position of each agent in the oracle's list.
    positions: Vec<usize>,
    configuration: Configuration,
    vectors: Option<Vectors>,
    companions: Option<Arc<Companions>>,
}

impl Engine {
    /// Creates an engine for `agents`, which are the first ones of the oracle's.
    pub fn new(
        set: impl Into<Arc<PolicySet>>,
        agents: &[Crawler],
        configuration: &Configuration,
    ) -> Engine {
        let positions: Vec<usize> = (0..agents.len()).collect();
        Engine::from_some(set, agents, &positions, configuration)
    }

    /// Creates an engine for the agents at some positions in the oracle's list.
    pub fn from_some(
        set: impl Into<Arc<PolicySet>>,
        agents: &[Crawler],
        positions: &[usize],
        configuration: &Configuration,
    ) -> Engine {
        let own = || positions.iter().map(|&position| agents[position].clone()).collect();
        let set = set.into();
        let companions = Companions::of(&set, agents);
        let classifier = || {
            let mut classifier = Classifier::new(Arc::clone(&set), own()).expect("a whole set");
            classifier.settings.limits = configuration.limits;
            classifier
        };
        let by_record = classifier().with_agent_per_record(AgentKind::Token);
        Engine {
            classifier: Arc::new(classifier()),
            by_record: by_record.ok().map(Arc::new),
            positions: positions.to_vec(),
            configuration: *configuration,
            vectors: None,
            companions,
        }
    }

    /// Returns the companions of the set, if it has any.
    pub(crate) fn companions(&self) -> Option<Arc<Companions>> {
        self.companions.clone()
    }

    /// Asks about URLs, one of which meets damage.
    pub(crate) fn fail(&self, urls: &[Vec<u8>], memory: &mut Memory) {
        memory.session.decide(urls).expect_err("a part of the set is damaged");
        if let Some(session) = &mut memory.by_record {
            let name = self.classifier.agents()[0].name().as_bytes();
            let names = vec![name; urls.len()];
            let records = Records::from(urls).by(&names);
            session.decide(records).expect_err("a part of the set is damaged");
        }
    }

    /// Uses vectors of this width.
    #[must_use]
    pub fn with_vectors(self, vectors: Vectors) -> Engine {
        let with_vectors = |mut classifier: Classifier| {
            classifier.settings.vectors = vectors;
            classifier
        };
        Engine { vectors: Some(vectors), ..self.map(with_vectors) }
    }

    /// Also finds usage preferences for these labels.
    #[must_use]
    pub fn with_usage(self, labels: &[Label]) -> Engine {
        Engine { by_record: None, ..self }.map(|classifier| classifier.with_usage(labels))
    }

    fn map(self, change: impl Fn(Classifier) -> Classifier) -> Engine {
        let change =
            |it: Arc<Classifier>| Arc::new(change(Arc::into_inner(it).expect("no memory yet")));
        Engine {
            classifier: change(self.classifier),
            by_record: self.by_record.map(change),
            ..self
        }
    }

    /// Returns the memory of one more thread.
    pub fn memory(&self) -> Memory {
        let session = Session::new(Arc::clone(&self.classifier));
        let by_record = self.by_record.clone().map(Session::new);
        Memory { session, by_record, decisions: Vec::new() }
    }

    /// Returns the answers on URLs, each for the agent with the number of its record, one after another; `None`
    /// if a record cannot have an agent.
    pub(crate) fn decide_by_record<U: AsRef<[u8]>>(
        &self,
        urls: &[U],
        memory: &mut Memory,
    ) -> Option<Vec<Decision>> {
        let session = memory.by_record.as_mut()?;
        let agents = self.classifier.agents();
        let names: Vec<&[u8]> =
            (0..urls.len()).map(|record| agents[record % agents.len()].name().as_bytes()).collect();
        let answers = session.decide(Records::from(urls).by(&names)).expect("a whole set");
        Some(match self.configuration.rules {
            true => answers.decisions_with_rules().expect("a whole set"),
            false => answers.decisions().iter().map(|&it| it.into()).collect(),
        })
    }

    /// Returns the answers on URLs.
    pub fn ask<'m, U: AsRef<[u8]>>(&self, urls: &[U], memory: &'m mut Memory) -> Given<'m> {
        let Memory { session, decisions, .. } = memory;
        let answers = session.decide(urls).expect("a whole set");
        match self.configuration.rules {
            true => *decisions = answers.decisions_with_rules().expect("a whole set"),
            false => {
                decisions.clear();
                decisions.extend(answers.decisions().iter().map(|&it| Decision::from(it)));
            }
        }
        Given { decisions, answers }
    }

    /// Returns one decision for each URL and agent.
    pub fn decide<'m, U: AsRef<[u8]>>(&self, urls: &[U], memory: &'m mut Memory) -> &'m [Decision] {
        self.ask(urls, memory).decisions
    }

    /// Returns the positions of the agents in the oracle's list.
    pub fn positions(&self) -> &[usize] {
        &self.positions
    }

    /// Returns the configuration.
    pub fn configuration(&self) -> &Configuration {
        &self.configuration
    }

    /// Returns the labels that it is asked about.
    pub fn labels(&self) -> &[Label] {
        self.classifier.labels()
    }

    /// Describes the engine in a message.
    pub fn describe(&self) -> String {
        let vectors = self.vectors.map(|vectors| format!(" with {vectors:?}")).unwrap_or_default();
        format!("{}{vectors}", self.configuration.name)
    }
}

/// Returns a classifier, for what is built on one.
pub fn classifier(set: impl Into<Arc<PolicySet>>, agents: Vec<Crawler>) -> Classifier {
    Classifier::new(set, agents).expect("a whole set")
}

/// The answer of a set that may be damaged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// The decision.
    pub decision: Decision,
    /// The value of the deciding rule, if a rule decides.
    pub rule: Option<Vec<u8>>,
    /// The value of the user-agent line of the group that applies, if one does.
    pub group: Option<Vec<u8>>,
}

/// Why a set that may be damaged did not answer everything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The first error.
    pub text: String,
    /// The answers of the blocks that did not fail, by URL, then by agent.
    pub told: Vec<Option<Told>>,
}

/// The sizes of the blocks of [`ask`], in turn.
const SIZES: [usize; 4] = [7, 2, 16, 1];

/// Returns the answers of a set that may be damaged, by URL, then by agent. One session answers blocks of
/// several sizes, and goes on after one that fails.
///
/// # Errors
///
/// The damage that the questions meet.
pub fn ask(
    set: impl Into<Arc<PolicySet>>,
    agents: &[Crawler],
    urls: &[impl AsRef<[u8]>],
) -> Result<Vec<Told>, Refusal> {
    let refusal = |text: String| Refusal { text, told: Vec::new() };
    let classifier = Classifier::new(set, agents.to_vec());
    let mut session = Session::new(classifier.map_err(|error| refusal(error.to_string()))?);
    let mut told: Vec<Option<Told>> = Vec::with_capacity(urls.len() * agents.len());
    let (mut rest, mut sizes, mut text) = (urls, SIZES.iter().cycle(), None);
    while !rest.is_empty() {
        let size = rest.len().min(*sizes.next().expect("they begin again"));
        let block;
        (block, rest) = rest.split_at(size);
        match ask_block(&mut session, agents.len(), block) {
            Ok(answers) => told.extend(answers.into_iter().map(Some)),
            Err(damage) => {
                told.resize(told.len() + block.len() * agents.len(), None);
                text.get_or_insert(damage.to_string());
            }
        }
    }
    if let Err(damage) = session.classifier().set().is_whole() {
        return Err(refusal(damage.to_string()));
    }
    match text {
        None => Ok(told.into_iter().flatten().collect()),
        Some(text) => Err(Refusal { text, told }),
    }
}

fn ask_block(
    session: &mut Session,
    agents: usize,
    urls: &[impl AsRef<[u8]>],
) -> Result<Vec<Told>, Damage> {
    let mut answers = session.decide(urls)?;
    let told = (0..urls.len() * agents).map(|answer| {
        let full = answers.rule(answer)?;
        let [rule, group] = [full.rule, full.group].map(|text| text.map(<[u8]>::to_vec));
        Ok(Told { decision: full.decision, rule, group })
    });
    told.collect()
}
