//! One record of a URL list to one decision for each agent.

use crate::automaton::Limits;
use crate::decision::Decision;
use crate::policy::{
    AgentChain, Census, Compilation, Detail, Explanation, Memory, PolicySource, PolicyTable,
    explain,
};
use crate::set::PolicySet;
use crate::syntax::RobotsTxt;
use crate::target::{BadUrl, compared_path, split_assuming};

/// The policies of a set, compiled for a list of agents.
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
/// let decisions = classifier.classify(b"https://a.example/private/page", None, &mut memory);
/// assert_eq!(decisions[0].verdict, Verdict::Disallow);
/// ```
#[derive(Debug)]
pub struct Classifier<'s> {
    set: &'s PolicySet,
    table: PolicyTable,
}

/// A thread's memory for a [`Classifier`].
#[derive(Clone, Debug, Default)]
pub struct ClassifierMemory {
    host: Vec<u8>,
    path: Vec<u8>,
    policies: Memory,
    /// The policy of the record that was classified last.
    policy: Option<usize>,
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
        Classifier { set, table: PolicyTable::compile(&sources, agents, &compilation) }
    }

    /// The set that this answers from.
    pub fn set(&self) -> &'s PolicySet {
        self.set
    }

    /// The agents, in the order of decisions.
    pub fn agents(&self) -> &[AgentChain] {
        self.table.agents()
    }

    /// A new thread's memory.
    pub fn memory(&self) -> ClassifierMemory {
        ClassifierMemory { policies: self.table.memory(), ..ClassifierMemory::default() }
    }

    /// Counts strategies and memory.
    pub fn census(&self) -> Census {
        self.table.census()
    }

    /// One decision for each agent on `record`, a URL as it stands in a list. A record without a
    /// scheme is taken to have `assumed_scheme`, if there is one.
    ///
    /// # Panics
    ///
    /// If `memory` is of a classifier with other agents.
    #[inline]
    pub fn classify<'m>(
        &self,
        record: &[u8],
        assumed_scheme: Option<&[u8]>,
        memory: &'m mut ClassifierMemory,
    ) -> &'m [Decision] {
        memory.policy = None;
        let paths = &self.table.dialect().paths;
        let known = split_assuming(record, paths.path_start, assumed_scheme)
            .and_then(|url| Ok((self.set.policy_of(&url, &mut memory.host)?, url.path)));
        match known {
            Err(_) => self.table.decide_all(Decision::INVALID, &mut memory.policies),
            Ok((None, _)) => self.table.decide_all(Decision::UNKNOWN, &mut memory.policies),
            Ok((Some(policy), path)) => {
                memory.policy = Some(policy);
                let path = compared_path(path, paths.escapes, &mut memory.path);
                self.table.decide(policy, path, &mut memory.policies)
            }
        }
    }

    /// The rule and the user-agent value behind the decision for `agent` on the record that was
    /// classified last, as they stand in the file. Rules are known with [`Detail::Rule`] only.
    ///
    /// # Panics
    ///
    /// If there is no such agent, or `memory` is another classifier's.
    pub fn provenance<'a>(
        &'a self,
        agent: usize,
        memory: &ClassifierMemory,
    ) -> (Option<&'a [u8]>, Option<&'a [u8]>) {
        let Some(policy) = memory.policy else { return (None, None) };
        let text = self.set.text(policy);
        let provenance = memory.policies.provenance(agent);
        (
            provenance.rule.map(|span| &text[span.range()]),
            provenance.group.map(|span| &text[span.range()]),
        )
    }

    /// Why `record` is decided as it is for `agent`; nothing if no policy is known. It costs as
    /// much as parsing the file.
    ///
    /// # Errors
    ///
    /// If the record is no URL.
    ///
    /// # Panics
    ///
    /// If there is no such agent.
    pub fn explain(
        &self,
        record: &[u8],
        assumed_scheme: Option<&[u8]>,
        agent: usize,
    ) -> Result<Option<Explanation>, BadUrl> {
        let dialect = self.table.dialect();
        let url = split_assuming(record, dialect.paths.path_start, assumed_scheme)?;
        let Some(policy) = self.set.policy_of(&url, &mut Vec::new())? else { return Ok(None) };
        let mut scratch = Vec::new();
        let path = compared_path(url.path, dialect.paths.escapes, &mut scratch);
        let (text, agent) = (self.set.text(policy), &self.agents()[agent]);
        let file = RobotsTxt::parse(text, dialect, self.set.robots_octets_max());
        Ok(Some(explain(&file, text, dialect, agent, path)))
    }
}
