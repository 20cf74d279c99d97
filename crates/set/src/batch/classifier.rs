//! Records of a URL list to one decision for each agent.

use std::sync::Arc;

use crate::stored::{AskError, PolicyNumber, Query, QueryMemory};
use crate::{Damage, PolicySet};
use portcullis_capture::access::KnownOutage;
use portcullis_dialect::decision::{Decision, PolicyState};
use portcullis_dialect::dialect::Dialect;
use portcullis_matcher::automaton::Limits;
use portcullis_matcher::vectors::Vectors;
use portcullis_robots::policy::{AgentChain, Detail, Explanation, NO_POLICY, NO_URL, Source, Ways};
use portcullis_robots::target::{BadUrl, compared_path, host_key, split_assuming};

use super::freshness::{Age, AgeCounts, Freshness};
use super::pieces::{HostOfUrls, Pieces};

/// The policies of a set and the agents that ask about them.
///
/// ```
/// use portcullis_set::batch::Classifier;
/// use portcullis_dialect::decision::Verdict;
/// use portcullis_dialect::dialect::RFC_9309;
/// use portcullis_robots::policy::{AgentChain, Detail};
/// use portcullis_set::{LoadConfig, PolicySet};
///
/// let set = PolicySet::of_text(b"User-agent: *\nDisallow: /private\n", &LoadConfig::new(&RFC_9309));
/// let agents = vec![AgentChain::parse("ExampleBot", &RFC_9309).unwrap()];
/// let classifier = Classifier::new(set, agents, Detail::Reason)?;
/// let mut memory = classifier.memory();
/// let urls = ["https://a.example/private/page", "https://a.example/"];
/// let decisions = classifier.classify(&urls, None, &mut memory)?;
/// assert_eq!(decisions[0].verdict, Verdict::Disallow);
/// assert_eq!(decisions[1].verdict, Verdict::Allow);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Classifier {
    query: Query,
    /// What URLs are taken apart with.
    vectors: Vectors,
    /// Whether the age of captures counts, and how.
    freshness: Option<Freshness>,
}

/// Where a decision came from, as the file has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Provenance<'a> {
    /// The value of the deciding rule, if a rule decided; the verdict says which kind it is.
    pub rule: Option<&'a [u8]>,
    /// The value of the user-agent line of the group that applies, if one does.
    pub group: Option<&'a [u8]>,
}

/// Why a record is decided as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explained {
    /// What the file says.
    pub explanation: Explanation,
    /// The outage of the origin, if one is known.
    pub outage: Option<KnownOutage>,
}

/// A thread's memory for a [`Classifier`].
#[derive(Clone, Debug, Default)]
pub struct ClassifierMemory {
    pieces: Pieces,
    /// By record: the number of its policy, or what stands for none.
    policies: Vec<u32>,
    query: QueryMemory,
    rule: Vec<u8>,
    group: Vec<u8>,
    ages: AgeCounts,
}

impl ClassifierMemory {
    /// Returns the decisions of the block that was classified last.
    pub fn decisions(&self) -> &[Decision] {
        self.query.block.decisions()
    }

    /// Returns the ages of the captures since the last call, counted by record.
    pub fn take_ages(&mut self) -> AgeCounts {
        std::mem::take(&mut self.ages)
    }

    /// Returns how often each way answered.
    pub fn ways(&self) -> Ways {
        self.query.ways()
    }

    /// Returns the bytes that this holds for rule sets that were asked.
    pub fn automata_bytes(&self) -> usize {
        self.query.memory_bytes()
    }
}

impl Classifier {
    /// Asks a set for `agents`. It costs a look at the names of robots in it.
    ///
    /// # Errors
    ///
    /// If those are damaged, or the set was compiled for other agents.
    pub fn new(
        set: impl Into<Arc<PolicySet>>,
        agents: Vec<AgentChain>,
        detail: Detail,
    ) -> Result<Classifier, AskError> {
        Classifier::with_limits(set, agents, detail, Limits::default())
    }

    /// As [`Classifier::new`], with other limits.
    ///
    /// # Errors
    ///
    /// As [`Classifier::new`].
    pub fn with_limits(
        set: impl Into<Arc<PolicySet>>,
        agents: Vec<AgentChain>,
        detail: Detail,
        limits: Limits,
    ) -> Result<Classifier, AskError> {
        let query = Query::new(set.into(), agents, detail, limits)?;
        Ok(Classifier { query, vectors: Vectors::detect(), freshness: None })
    }

    /// Uses these vectors instead of the widest that the processor has. The answers are the same.
    ///
    /// ```
    /// use portcullis_set::batch::{Classifier, Vectors};
    /// use portcullis_dialect::dialect::RFC_9309;
    /// use portcullis_robots::policy::{AgentChain, Detail};
    /// use portcullis_set::{LoadConfig, PolicySet};
    ///
    /// let set = PolicySet::of_text(b"User-agent: *\nDisallow: /private\n", &LoadConfig::new(&RFC_9309));
    /// let agents = vec![AgentChain::parse("ExampleBot", &RFC_9309).unwrap()];
    /// let mut classifier = Classifier::new(set, agents, Detail::Rule)?;
    /// for vectors in Vectors::all() {
    ///     classifier = classifier.with_vectors(vectors);
    ///     let mut memory = classifier.memory();
    ///     let decisions = classifier.classify(&["https://a.example/private"], None, &mut memory)?;
    ///     assert_eq!(decisions[0].line.unwrap().get(), 2);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_vectors(self, vectors: Vectors) -> Classifier {
        Classifier { query: self.query.with_vectors(vectors), vectors, ..self }
    }

    /// The set that is asked.
    pub fn set(&self) -> &Arc<PolicySet> {
        self.query.set()
    }

    /// Bounds the bytes that the automata of one thread hold ([`Limits::automata_bytes_max`]).
    #[must_use]
    pub fn with_automata_bytes_max(self, bytes: usize) -> Classifier {
        Classifier { query: self.query.with_automata_bytes_max(bytes), ..self }
    }

    /// Judges the age of captures, which costs a look-up of the capture for each host of a block.
    #[must_use]
    pub fn with_freshness(self, freshness: Option<Freshness>) -> Classifier {
        Classifier { freshness, ..self }
    }

    /// The behaviour that policies follow.
    pub fn dialect(&self) -> &'static Dialect {
        self.set().dialect()
    }

    /// The agents, in the order of decisions.
    pub fn agents(&self) -> &[AgentChain] {
        self.query.agents()
    }

    /// A new thread's memory.
    pub fn memory(&self) -> ClassifierMemory {
        ClassifierMemory::default()
    }

    /// One decision for each record and agent, record by record. Records are URLs as they stand in a
    /// list; one without a scheme is taken to have `assumed_scheme`, if there is one.
    ///
    /// A block of some dozen records costs less for each than one: what has to be looked up is looked
    /// up for all of them at once.
    ///
    /// # Errors
    ///
    /// If the set is damaged where it has to be looked at, or mapped from a file that became shorter.
    ///
    /// # Panics
    ///
    /// If `memory` is of a classifier with other agents.
    #[inline]
    pub fn classify<'m, R: AsRef<[u8]>>(
        &self,
        records: &[R],
        assumed_scheme: Option<&[u8]>,
        memory: &'m mut ClassifierMemory,
    ) -> Result<&'m [Decision], Damage> {
        let ClassifierMemory { pieces, policies, query, ages, .. } = memory;
        pieces.fill(records, &self.dialect().paths, assumed_scheme, self.vectors);
        policies.clear();
        // These and the paths are of the records, so nothing that is kept from block to block can hold them.
        let hosts = (0..pieces.hosts()).map(|number| pieces.host(number, records));
        let origins: Vec<_> = hosts.map(|HostOfUrls { scheme, key, .. }| (scheme, key)).collect();
        let found = |number: usize, policy: Option<u32>| {
            let (first, is_invalid) = pieces.first_of_host(number);
            repeat_last(policies, first);
            policies.push(match is_invalid {
                true => NO_URL,
                false => policy.unwrap_or(NO_POLICY),
            });
        };
        self.query.find(&origins, query, found)?;
        repeat_last(policies, records.len());
        let mut paths = Vec::new();
        let paths = pieces.paths(records, &mut paths);
        let Some(freshness) = &self.freshness else {
            return self.query.decide(policies, paths, query);
        };
        self.query.decide(policies, paths, query)?;
        let answers = query.block.answers_mut();
        ages.merge(self.judge_ages(freshness, (records, pieces, policies), answers)?);
        Ok(query.block.decisions())
    }

    /// Counts the captures behind the answers of a block by age, and withdraws answers from those that are
    /// too old if that was asked for.
    #[inline(never)]
    fn judge_ages<R: AsRef<[u8]>>(
        &self,
        freshness: &Freshness,
        (records, pieces, policies): (&[R], &Pieces, &[u32]),
        (decisions, sources): (&mut [Decision], &mut [Source]),
    ) -> Result<AgeCounts, Damage> {
        let agents = self.agents().len();
        let mut ages = AgeCounts::default();
        let mut end = records.len();
        for number in (0..pieces.hosts()).rev() {
            let HostOfUrls { url, scheme, key } = pieces.host(number, records);
            let places = url..std::mem::replace(&mut end, url);
            if matches!(policies[url], NO_POLICY | NO_URL) {
                continue;
            }
            let missing = || self.set().malformed_host("an origin has lost its capture");
            let (_, capture) = self.set().origin(scheme, key)?.ok_or_else(missing)?;
            let age = freshness.age(&capture.facts);
            ages.add(age, places.len() as u64);
            if freshness.withdraws && age != Age::Fresh {
                let answers = places.start * agents..places.end * agents;
                decisions[answers.clone()].fill(Decision::EXPIRED);
                sources[answers].fill(Source::NOWHERE);
            }
        }
        self.set().is_whole()?;
        Ok(ages)
    }

    /// What is known of the origin of the record at `record` of the block that was classified last; `None`
    /// if the record is not a URL.
    ///
    /// # Errors
    ///
    /// If the set is damaged where it has to be looked at.
    ///
    /// # Panics
    ///
    /// If there is no such record, or `memory` is another classifier's.
    pub fn state(
        &self,
        record: usize,
        memory: &ClassifierMemory,
    ) -> Result<Option<PolicyState>, Damage> {
        match memory.policies[record] {
            NO_URL => Ok(None),
            NO_POLICY => Ok(Some(PolicyState::Unknown)),
            policy => self.set().policy(PolicyNumber::of(policy))?.state().map(Some),
        }
    }

    /// The rule and the user-agent value behind the decision for `agent` on the record at `record`
    /// of the block that was classified last, as they stand in the file. Rules are known with
    /// [`Detail::Rule`] only.
    ///
    /// # Errors
    ///
    /// If the set is damaged where it has to be looked at.
    ///
    /// # Panics
    ///
    /// If there is no such record or agent, or `memory` is another classifier's.
    pub fn provenance<'a>(
        &'a self,
        record: usize,
        agent: usize,
        memory: &'a mut ClassifierMemory,
    ) -> Result<Provenance<'a>, Damage> {
        let ClassifierMemory { query, rule, group, .. } = memory;
        let (has_rule, has_group) = self.query.provenance(record, agent, query, rule, group)?;
        Ok(Provenance { rule: has_rule.then_some(&**rule), group: has_group.then_some(&**group) })
    }

    /// The origins of the block that was classified last, which is `records`: for each the number of
    /// its first record, its scheme as it is written, and the key of its host (see [`host_key`]).
    /// Records up to the next origin's first have the same; scheme and key of one that is no URL are
    /// empty.
    ///
    /// # Panics
    ///
    /// If `records` are others.
    pub fn origins<'p, R: AsRef<[u8]>>(
        &self,
        records: &'p [R],
        memory: &'p ClassifierMemory,
    ) -> impl ExactSizeIterator<Item = (usize, &'p [u8], &'p [u8])> + use<'p, R> {
        let pieces = &memory.pieces;
        (0..pieces.hosts()).map(move |number| {
            let HostOfUrls { url, scheme, key, .. } = pieces.host(number, records);
            (url, scheme, key)
        })
    }

    /// Why `record` is decided as it is for `agent`; nothing if no policy is known. It costs as
    /// much as trying every rule of the file.
    ///
    /// # Errors
    ///
    /// If the set is damaged where it has to be looked at.
    ///
    /// # Panics
    ///
    /// If there is no such agent.
    pub fn explain(
        &self,
        record: &[u8],
        assumed_scheme: Option<&[u8]>,
        agent: usize,
    ) -> Result<Result<Option<Explained>, BadUrl>, Damage> {
        let dialect = self.dialect();
        let url = match split_assuming(record, dialect.paths.path_start, assumed_scheme) {
            Ok(url) => url,
            Err(problem) => return Ok(Err(problem)),
        };
        let mut host = Vec::new();
        let key = match host_key(&url, &mut host) {
            Ok(key) => key,
            Err(problem) => return Ok(Err(problem)),
        };
        let mut scratch = Vec::new();
        let path = compared_path(url.path, dialect.paths.escapes, &mut scratch);
        let Some((policy, capture)) = self.set().origin(url.scheme, key)? else {
            return Ok(Ok(None));
        };
        let explained = self.query.explain(policy, agent, path)?;
        Ok(Ok(Some(Explained { explanation: explained, outage: capture.facts.outage })))
    }
}

/// Repeats the last item until there are so many.
#[inline]
fn repeat_last<T: Copy>(items: &mut Vec<T>, count: usize) {
    if let Some(&last) = items.last() {
        items.resize(count, last);
    }
}
