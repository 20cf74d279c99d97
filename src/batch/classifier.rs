//! Records of a URL list to one decision for each agent.

use crate::automaton::Limits;
use crate::decision::Decision;
use crate::dialect::Dialect;
use crate::policy::{
    AgentChain, Census, Compilation, Detail, Explanation, Memory, NO_POLICY, NO_URL, PolicySource,
    PolicyTable, Ways, explain,
};
use crate::set::stored::{Inquiry, InquiryMemory};
use crate::set::{Damage, PolicySet, StoredSet};
use crate::syntax::RobotsTxt;
use crate::target::{BadUrl, compared_path, host_key, split_assuming};
use crate::vectors::Vectors;

use super::pieces::{HostOfUrls, Pieces};

/// The policies of a set and the agents that ask about them.
///
/// ```
/// use portcullis::batch::Classifier;
/// use portcullis::decision::Verdict;
/// use portcullis::dialect::RFC_9309;
/// use portcullis::policy::{AgentChain, Detail};
/// use portcullis::set::{LoadConfig, PolicySet};
///
/// let config = LoadConfig { dialect: &RFC_9309, robots_octets_max: None };
/// let set = PolicySet::of_text(b"User-agent: *\nDisallow: /private\n", &config);
/// let agents = vec![AgentChain::parse("ExampleBot", &RFC_9309).unwrap()];
/// let classifier = Classifier::new(&set, agents, Detail::Reason);
/// let mut memory = classifier.memory();
/// let urls = ["https://a.example/private/page", "https://a.example/"];
/// let decisions = classifier.classify(&urls, None, &mut memory)?;
/// assert_eq!(decisions[0].verdict, Verdict::Disallow);
/// assert_eq!(decisions[1].verdict, Verdict::Allow);
/// # Ok::<(), portcullis::set::Damage>(())
/// ```
#[derive(Debug)]
pub struct Classifier<'s> {
    policies: Policies<'s>,
    /// What URLs are taken apart with.
    vectors: Vectors,
}

/// Where policies come from.
#[derive(Debug)]
enum Policies<'s> {
    /// Files, compiled for the agents.
    Loaded { set: &'s PolicySet, table: Box<PolicyTable> },
    /// A compiled set.
    Stored(Inquiry<'s>),
}

/// The value of the rule that decides, and of the user-agent line that speaks to the agent, each if
/// there is one.
pub type Provenance<'a> = (Option<&'a [u8]>, Option<&'a [u8]>);

/// A thread's memory for a [`Classifier`].
#[derive(Clone, Debug, Default)]
pub struct ClassifierMemory {
    pieces: Pieces,
    /// By record: the number of its policy, or what stands for none.
    policies: Vec<u32>,
    loaded: LoadedMemory,
    stored: StoredMemory,
}

/// What it takes to ask loaded files.
#[derive(Clone, Debug, Default)]
struct LoadedMemory {
    hashes: Vec<u64>,
    memory: Memory,
}

/// What it takes to ask a compiled set.
#[derive(Clone, Debug, Default)]
struct StoredMemory {
    inquiry: InquiryMemory,
    rule: Vec<u8>,
    group: Vec<u8>,
}

impl ClassifierMemory {
    /// Returns how often each way answered.
    pub fn ways(&self) -> Ways {
        match self.loaded.memory.ways() {
            Ways { questions: 0, .. } => self.stored.inquiry.block.ways(),
            loaded => loaded,
        }
    }

    /// Returns the bytes that this holds for rule sets that were asked.
    pub fn automata_bytes(&self) -> usize {
        self.loaded.memory.memory_octets() + self.stored.inquiry.block.memory_octets()
    }
}

impl<'s> Classifier<'s> {
    /// Compiles the rule sets that `agents` need.
    ///
    /// It runs on the calling thread's rayon pool.
    pub fn new(set: &'s PolicySet, agents: Vec<AgentChain>, detail: Detail) -> Classifier<'s> {
        Classifier::with_limits(set, agents, detail, Limits::default())
    }

    /// As [`Classifier::new`], with other limits.
    pub fn with_limits(
        set: &'s PolicySet,
        agents: Vec<AgentChain>,
        detail: Detail,
        limits: Limits,
    ) -> Classifier<'s> {
        let compilation = Compilation {
            dialect: set.dialect(),
            robots_octets_max: set.robots_octets_max(),
            detail,
            limits,
        };
        let sources: Vec<PolicySource<'_>> = set.sources().collect();
        let table = PolicyTable::compile(&sources, agents, &compilation);
        let table = Box::new(table);
        Classifier { policies: Policies::Loaded { set, table }, vectors: Vectors::detect() }
    }

    /// Asks a compiled set. It costs a look at the names of robots in it.
    ///
    /// # Errors
    ///
    /// If those are damaged.
    pub fn stored(
        set: &'s StoredSet,
        agents: Vec<AgentChain>,
        detail: Detail,
    ) -> Result<Classifier<'s>, Damage> {
        Classifier::stored_with_limits(set, agents, detail, Limits::default())
    }

    /// As [`Classifier::stored`], with other limits.
    ///
    /// # Errors
    ///
    /// As [`Classifier::stored`].
    pub fn stored_with_limits(
        set: &'s StoredSet,
        agents: Vec<AgentChain>,
        detail: Detail,
        limits: Limits,
    ) -> Result<Classifier<'s>, Damage> {
        let policies = Policies::Stored(Inquiry::new(set, agents, detail, limits)?);
        Ok(Classifier { policies, vectors: Vectors::detect() })
    }

    /// Uses these vectors instead of the widest that the processor has. The answers are the same.
    ///
    /// ```
    /// use portcullis::batch::{Classifier, Vectors};
    /// use portcullis::dialect::RFC_9309;
    /// use portcullis::policy::{AgentChain, Detail};
    /// use portcullis::set::{LoadConfig, PolicySet};
    ///
    /// let config = LoadConfig { dialect: &RFC_9309, robots_octets_max: None };
    /// let set = PolicySet::of_text(b"User-agent: *\nDisallow: /private\n", &config);
    /// let agents = vec![AgentChain::parse("ExampleBot", &RFC_9309).unwrap()];
    /// let mut classifier = Classifier::new(&set, agents, Detail::Rule);
    /// for vectors in Vectors::all() {
    ///     classifier = classifier.with_vectors(vectors);
    ///     let mut memory = classifier.memory();
    ///     let decisions = classifier.classify(&["https://a.example/private"], None, &mut memory)?;
    ///     assert_eq!(decisions[0].line.unwrap().get(), 2);
    /// }
    /// # Ok::<(), portcullis::set::Damage>(())
    /// ```
    pub fn with_vectors(self, vectors: Vectors) -> Classifier<'s> {
        let policies = match self.policies {
            Policies::Loaded { set, table } => {
                Policies::Loaded { set, table: Box::new(table.with_vectors(vectors)) }
            }
            Policies::Stored(inquiry) => Policies::Stored(inquiry.with_vectors(vectors)),
        };
        Classifier { policies, vectors }
    }

    /// Bounds the bytes that the automata of one thread hold ([`Limits::automata_bytes_max`]).
    #[must_use]
    pub fn with_automata_bytes_max(self, bytes: usize) -> Classifier<'s> {
        let policies = match self.policies {
            Policies::Loaded { set, table } => {
                Policies::Loaded { set, table: Box::new(table.with_automata_bytes_max(bytes)) }
            }
            Policies::Stored(inquiry) => Policies::Stored(inquiry.with_automata_bytes_max(bytes)),
        };
        Classifier { policies, ..self }
    }

    /// The behaviour that policies follow.
    pub fn dialect(&self) -> &'static Dialect {
        match &self.policies {
            Policies::Loaded { set, .. } => set.dialect(),
            Policies::Stored(inquiry) => inquiry.set().dialect(),
        }
    }

    /// The agents, in the order of decisions.
    pub fn agents(&self) -> &[AgentChain] {
        match &self.policies {
            Policies::Loaded { table, .. } => table.agents(),
            Policies::Stored(inquiry) => inquiry.agents(),
        }
    }

    /// A new thread's memory.
    pub fn memory(&self) -> ClassifierMemory {
        ClassifierMemory::default()
    }

    /// Counts strategies and memory of loaded policies; nothing for a compiled set, which is looked
    /// at as a whole.
    pub fn census(&self) -> Option<Census> {
        match &self.policies {
            Policies::Loaded { table, .. } => Some(table.census()),
            Policies::Stored(_) => None,
        }
    }

    /// One decision for each record and agent, record by record. Records are URLs as they stand in a
    /// list; one without a scheme is taken to have `assumed_scheme`, if there is one.
    ///
    /// A block of some dozen records costs less for each than one: what a compiled set has to look
    /// up is looked up for all of them at once.
    ///
    /// # Errors
    ///
    /// If the set is damaged where it has to be looked at, or mapped from a file that became shorter.
    /// Loaded policies cannot fail.
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
        let ClassifierMemory { pieces, policies, loaded, stored } = memory;
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
        match &self.policies {
            Policies::Loaded { set, .. } => {
                set.policies_of_keys(&origins, &mut loaded.hashes, found);
            }
            Policies::Stored(inquiry) => inquiry.find(&origins, &mut stored.inquiry, found)?,
        }
        repeat_last(policies, records.len());
        let paths: Vec<&[u8]> = pieces.paths(records).collect();
        match &self.policies {
            Policies::Loaded { table, .. } => {
                Ok(table.decide_block(policies, &paths, &mut loaded.memory))
            }
            Policies::Stored(inquiry) => inquiry.decide(policies, &paths, &mut stored.inquiry),
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
        match &self.policies {
            Policies::Loaded { set, table } => {
                let ClassifierMemory { policies, loaded, .. } = &*memory;
                let provenance = table.provenance(record, agent, &loaded.memory);
                if provenance == crate::policy::Provenance::default() {
                    return Ok((None, None));
                }
                let text = set.text(policies[record] as usize);
                Ok((
                    provenance.rule.map(|span| &text[span.range()]),
                    provenance.group.map(|span| &text[span.range()]),
                ))
            }
            Policies::Stored(inquiry) => {
                let StoredMemory { inquiry: memory, rule, group } = &mut memory.stored;
                let (has_rule, has_group) =
                    inquiry.provenance(record, agent, memory, rule, group)?;
                Ok((has_rule.then_some(&**rule), has_group.then_some(&**group)))
            }
        }
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
    ) -> Result<Result<Option<Explanation>, BadUrl>, Damage> {
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
        match &self.policies {
            Policies::Loaded { set, table } => {
                let policy = set.policy_of_key(url.scheme, key);
                let explained = policy.map(|policy| {
                    let text = set.text(policy);
                    let file = RobotsTxt::parse(text, dialect, set.robots_octets_max());
                    explain(&file, text, dialect, &table.agents()[agent], path)
                });
                Ok(Ok(explained))
            }
            Policies::Stored(inquiry) => {
                let Some((policy, capture)) = inquiry.set().origin(url.scheme, key)? else {
                    return Ok(Ok(None));
                };
                let explained = inquiry.explain(policy, agent, path)?;
                Ok(Ok(Some(Explanation { outage: capture.facts.outage, ..explained })))
            }
        }
    }
}

/// Repeats the last item until there are so many.
#[inline]
fn repeat_last<T: Copy>(items: &mut Vec<T>, count: usize) {
    if let Some(&last) = items.last() {
        items.resize(count, last);
    }
}
