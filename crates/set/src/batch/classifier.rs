//! Classifies records of a URL list: one decision per agent.

use std::sync::Arc;

use crate::stored::{AskError, Licenses, PolicyNumber, Query, QueryMemory, StatedPlace};
use crate::{CaptureFacts, Damage, PolicySet};
use portcullis_capture::access::KnownOutage;
use portcullis_dialect::decision::{Decision, PolicyState, Verdict};
use portcullis_dialect::dialect::Dialect;
use portcullis_dialect::usage::{Label, Preference};
use portcullis_engine::Limits;
use portcullis_engine::block::{NO_POLICY, NO_URL, Source, Ways};
use portcullis_engine::vectors::Vectors;
use portcullis_robots::policy::{AgentChain, Detail, Explanation};
use portcullis_robots::syntax::NoteSet;
use portcullis_robots::target::{BadUrl, compared_path, host_key, split_assuming};

use super::freshness::{AgeCounts, Freshness};
use super::pieces::{HostOfUrls, Pieces};

/// The policies of a set and the agents to decide for.
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
    /// The vector width used to split URLs.
    vectors: Vectors,
    /// How the age of captures is compared; `None` to ignore it.
    freshness: Option<Freshness>,
}

/// The text in the file behind a decision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DecidingText<'a> {
    /// The value of the deciding rule, if a rule decided; the verdict says which kind it is.
    pub rule: Option<&'a [u8]>,
    /// The value of the user-agent line of the group that applies, if one does.
    pub group: Option<&'a [u8]>,
}

/// The explanation of one decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explained {
    /// The rules and groups that were considered.
    pub explanation: Explanation,
    /// The outage of the origin, if one is known.
    pub outage: Option<KnownOutage>,
    /// The notes on the origin's file.
    pub file_notes: NoteSet,
}

/// The memory that one thread uses with a [`Classifier`].
#[derive(Clone, Debug, Default)]
pub struct ClassifierMemory {
    pieces: Pieces,
    /// The number of the policy of each record, or the marker for none.
    policies: Vec<u32>,
    query: QueryMemory,
    rule: Vec<u8>,
    group: Vec<u8>,
    ages: AgeCounts,
}

impl ClassifierMemory {
    /// Returns the preferences on the block that was classified last, by record, agent and label of
    /// [`Classifier::with_usage`]; empty if no label is asked about.
    pub fn preferences(&self) -> &[Preference] {
        self.query.preferences()
    }

    /// Returns the decisions of the last classified block.
    pub fn decisions(&self) -> &[Decision] {
        self.query.block.decisions()
    }

    /// Returns the number of records by age of their capture since the last call.
    pub fn take_ages(&mut self) -> AgeCounts {
        std::mem::take(&mut self.ages)
    }

    /// Returns how many decisions each method made, usage preferences included.
    pub fn ways(&self) -> Ways {
        self.query.ways()
    }

    /// Returns the bytes held for the automata of rule sets.
    pub fn automata_bytes(&self) -> usize {
        self.query.memory_bytes()
    }
}

impl Classifier {
    /// Creates a classifier of a set for `agents`. Looks the agents up among the names of robots in
    /// the set.
    ///
    /// # Errors
    ///
    /// If those names are damaged, or the set was compiled for other agents.
    pub fn new(
        set: impl Into<Arc<PolicySet>>,
        agents: Vec<AgentChain>,
        detail: Detail,
    ) -> Result<Classifier, AskError> {
        Classifier::with_limits(set, agents, detail, Limits::default())
    }

    /// Like [`Classifier::new`], with other limits.
    ///
    /// # Errors
    ///
    /// As for [`Classifier::new`].
    pub fn with_limits(
        set: impl Into<Arc<PolicySet>>,
        agents: Vec<AgentChain>,
        detail: Detail,
        limits: Limits,
    ) -> Result<Classifier, AskError> {
        let query = Query::new(set.into(), agents, detail, limits)?;
        Ok(Classifier { query, vectors: Vectors::detect(), freshness: None })
    }

    /// Uses these vectors instead of the widest that the CPU supports. Results do not change.
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

    /// Also finds usage preferences for these labels, in their order. See
    /// [`ClassifierMemory::preferences`].
    ///
    /// # Panics
    ///
    /// If the set was loaded without them ([`LoadConfig::usage`](crate::LoadConfig::usage)).
    #[must_use]
    pub fn with_usage(self, labels: &[Label]) -> Classifier {
        Classifier { query: self.query.with_usage(labels), ..self }
    }

    /// Returns the labels that are asked about, in the order of preferences.
    pub fn labels(&self) -> &[Label] {
        self.query.labels()
    }

    /// Returns the place that states the preference for the label at `label` and `agent` on the record at
    /// `record` of the block that was classified last; `None` if it is not stated.
    ///
    /// # Errors
    ///
    /// If a part of the set that is read is damaged.
    ///
    /// # Panics
    ///
    /// If there is no such record, agent or label, or `memory` is another classifier's.
    pub fn stated_at(
        &self,
        record: usize,
        agent: usize,
        label: usize,
        memory: &ClassifierMemory,
    ) -> Result<Option<StatedPlace>, Damage> {
        let answer = (record * self.agents().len() + agent) * self.labels().len() + label;
        self.query.stated_at(answer, &memory.query)
    }

    /// Returns the licences that hold for `agent` on the record at `record` of the block that was classified
    /// last, as written; none if access is not allowed.
    ///
    /// # Errors
    ///
    /// If a part of the set that is read is damaged.
    ///
    /// # Panics
    ///
    /// If there is no such record or agent, or `memory` is another classifier's.
    pub fn licenses<'s>(
        &'s self,
        record: usize,
        agent: usize,
        memory: &ClassifierMemory,
    ) -> Result<Licenses<'s>, Damage> {
        let answer = record * self.agents().len() + agent;
        let decision = memory.query.block.decisions()[answer];
        match decision.verdict {
            Verdict::Allow => self.query.licenses(memory.policies[record], agent),
            Verdict::Disallow | Verdict::Unknown | Verdict::Invalid => {
                Ok(Box::new(std::iter::empty()))
            }
        }
    }

    /// Returns the set.
    pub fn set(&self) -> &Arc<PolicySet> {
        self.query.set()
    }

    /// Limits the bytes that the automata of one thread hold ([`Limits::automata_bytes_max`]).
    #[must_use]
    pub fn with_automata_bytes_max(self, bytes: usize) -> Classifier {
        Classifier { query: self.query.with_automata_bytes_max(bytes), ..self }
    }

    /// Compares the age of captures. Costs one lookup of the capture per host of a block.
    #[must_use]
    pub fn with_freshness(self, freshness: Option<Freshness>) -> Classifier {
        Classifier { freshness, ..self }
    }

    /// Returns the dialect of the set.
    pub fn dialect(&self) -> &'static Dialect {
        self.set().dialect()
    }

    /// Returns the agents, in the order of decisions.
    pub fn agents(&self) -> &[AgentChain] {
        self.query.agents()
    }

    /// Returns memory for one more thread.
    pub fn memory(&self) -> ClassifierMemory {
        ClassifierMemory::default()
    }

    /// Returns one decision for each record and agent, record by record. Records are URLs as they
    /// appear in a list. A record without a scheme gets `assumed_scheme`, if given.
    ///
    /// Classify at least some dozens of records per call: each lookup stage runs over the whole
    /// block, so a record in a block costs less than a record alone.
    ///
    /// # Errors
    ///
    /// If a part of the set that is read is damaged, or the set is mapped from a file that became
    /// shorter.
    ///
    /// # Panics
    ///
    /// If `memory` belongs to a classifier with other agents.
    #[inline]
    pub fn classify<'m, R: AsRef<[u8]>>(
        &self,
        records: &[R],
        assumed_scheme: Option<&[u8]>,
        memory: &'m mut ClassifierMemory,
    ) -> Result<&'m [Decision], Damage> {
        let ClassifierMemory { pieces, policies, query, ages, .. } = memory;
        pieces.fill(records, &self.dialect().paths, assumed_scheme, self.vectors);
        policies.resize(records.len(), NO_URL);
        // These and the paths borrow from the records, so the memory that is kept between blocks
        // cannot hold them.
        let hosts = (0..pieces.hosts()).map(|number| pieces.host(number, records));
        let origins: Vec<_> = hosts.map(|HostOfUrls { scheme, key, .. }| (scheme, key)).collect();
        let found = |number: usize, policy: Option<u32>| {
            let (urls, is_invalid) = pieces.urls_of_host(number);
            let policy = if is_invalid { NO_URL } else { policy.unwrap_or(NO_POLICY) };
            policies[urls].iter_mut().for_each(|of_url| *of_url = policy);
        };
        self.query.find(&origins, query, found)?;
        let mut paths = Vec::new();
        let paths = pieces.paths(records, &mut paths);
        self.query.decide(policies, paths, query)?;
        if let Some(freshness) = &self.freshness {
            let answers = query.block.answers_mut();
            ages.merge(self.judge_ages(freshness, (records, pieces, policies), answers)?);
        }
        // Last: what is expired has no preference.
        self.query.ask(policies, paths, query)?;
        Ok(query.block.decisions())
    }

    /// Counts the records of a block by age of their capture. With [`Freshness::withdraws`], replaces the
    /// decisions from captures that are not fresh.
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
            if let Some(decision) = age.withdrawn().filter(|_| freshness.withdraws) {
                let answers = places.start * agents..places.end * agents;
                decisions[answers.clone()].fill(decision);
                sources[answers].fill(Source::NOWHERE);
            }
        }
        self.set().is_whole()?;
        Ok(ages)
    }

    /// Returns the state of the origin of the record at index `record` of the last classified block, or
    /// `None` if the record is not a URL.
    ///
    /// # Errors
    ///
    /// If the set is damaged where it is read.
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

    /// Returns the text of the rule and of the user-agent value behind the decision for `agent` on
    /// the record at index `record` of the last classified block. The rule is only known with
    /// [`Detail::Rule`].
    ///
    /// # Errors
    ///
    /// If a part of the set that is read is damaged.
    ///
    /// # Panics
    ///
    /// If there is no such record or agent, or `memory` belongs to another classifier.
    pub fn deciding_text<'a>(
        &'a self,
        record: usize,
        agent: usize,
        memory: &'a mut ClassifierMemory,
    ) -> Result<DecidingText<'a>, Damage> {
        let ClassifierMemory { query, rule, group, .. } = memory;
        let (has_rule, has_group) = self.query.deciding_text(record, agent, query, rule, group)?;
        Ok(DecidingText { rule: has_rule.then_some(&**rule), group: has_group.then_some(&**group) })
    }

    /// Returns the origins of the last classified block, which must be `records`. Each has the
    /// index of its first record, its scheme as written, and the key of its host (see
    /// [`host_key`]). It holds up to the first record of the next origin. Scheme and key are empty
    /// for a record that is not a URL.
    ///
    /// # Panics
    ///
    /// If `records` is another block.
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

    /// Explains the decision for `agent` on `record`. `None` if no policy is known. Costs as much
    /// as trying every rule of the file.
    ///
    /// # Errors
    ///
    /// If a part of the set that is read is damaged.
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
        let CaptureFacts { outage, file_notes, .. } = capture.facts;
        Ok(Ok(Some(Explained { explanation: explained, outage, file_notes })))
    }
}
