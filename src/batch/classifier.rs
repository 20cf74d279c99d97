//! Records of a URL list to one decision for each agent.

use crate::automaton::Limits;
use crate::decision::Decision;
use crate::dialect::Dialect;
use crate::policy::{
    AgentChain, Census, Compilation, Detail, Explanation, Memory, PolicySource, PolicyTable,
    explain,
};
use crate::set::stored::{Answered, HostQuestion, Inquiry, InquiryMemory, PolicyPosition};
use crate::set::{Damage, PolicySet, StoredSet};
use crate::syntax::RobotsTxt;
use crate::target::{BadUrl, compared_path, host_key, split_assuming};

use super::pieces::Pieces;

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
pub struct Classifier<'s>(Policies<'s>);

/// Where policies come from.
#[derive(Debug)]
enum Policies<'s> {
    /// Files, compiled for the agents.
    Loaded { set: &'s PolicySet, table: PolicyTable },
    /// A compiled set.
    Stored(Inquiry<'s>),
}

/// The value of the rule that decides, and of the user-agent line that speaks to the agent, each if
/// there is one.
pub type Provenance<'a> = (Option<&'a [u8]>, Option<&'a [u8]>);

/// A thread's memory for a [`Classifier`].
#[derive(Clone, Debug, Default)]
pub struct ClassifierMemory {
    decisions: Vec<Decision>,
    pieces: Pieces,
    loaded: LoadedMemory,
    stored: StoredMemory,
}

/// What it takes to ask loaded files, and the origins of their decisions.
#[derive(Clone, Debug, Default)]
struct LoadedMemory {
    host: Vec<u8>,
    path: Vec<u8>,
    policies: Memory,
    sources: Vec<Source>,
}

/// Where in a file a decision of a loaded policy comes from.
#[derive(Clone, Copy, Debug, Default)]
struct Source {
    policy: Option<usize>,
    provenance: crate::policy::Provenance,
}

/// What it takes to ask a compiled set, and its answers.
#[derive(Clone, Debug, Default)]
struct StoredMemory {
    inquiry: InquiryMemory,
    policies: Vec<Option<PolicyPosition>>,
    answers: Vec<Answered>,
    rule: Vec<u8>,
    group: Vec<u8>,
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
        Classifier(Policies::Loaded { set, table })
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
        Ok(Classifier(Policies::Stored(Inquiry::new(set, agents, detail)?)))
    }

    /// The behaviour that policies follow.
    pub fn dialect(&self) -> &'static Dialect {
        match &self.0 {
            Policies::Loaded { set, .. } => set.dialect(),
            Policies::Stored(inquiry) => inquiry.set().dialect(),
        }
    }

    /// The agents, in the order of decisions.
    pub fn agents(&self) -> &[AgentChain] {
        match &self.0 {
            Policies::Loaded { table, .. } => table.agents(),
            Policies::Stored(inquiry) => inquiry.agents(),
        }
    }

    /// A new thread's memory.
    pub fn memory(&self) -> ClassifierMemory {
        let mut memory = ClassifierMemory::default();
        if let Policies::Loaded { table, .. } = &self.0 {
            memory.loaded.policies = table.memory();
        }
        memory
    }

    /// Counts strategies and memory of loaded policies; nothing for a compiled set, which is looked
    /// at as a whole.
    pub fn census(&self) -> Option<Census> {
        match &self.0 {
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
    /// If the set is damaged where it has to be looked at. Loaded policies cannot fail.
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
        memory.decisions.clear();
        match &self.0 {
            Policies::Loaded { set, table } => {
                memory.loaded.sources.clear();
                for record in records {
                    classify_loaded((set, table), record.as_ref(), assumed_scheme, memory);
                }
            }
            Policies::Stored(inquiry) => {
                classify_stored(inquiry, records, assumed_scheme, memory)?;
            }
        }
        Ok(&memory.decisions)
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
        match &self.0 {
            Policies::Loaded { set, table } => {
                let Source { policy, provenance } =
                    memory.loaded.sources[record * table.agents().len() + agent];
                let Some(policy) = policy else { return Ok((None, None)) };
                let text = set.text(policy);
                Ok((
                    provenance.rule.map(|span| &text[span.range()]),
                    provenance.group.map(|span| &text[span.range()]),
                ))
            }
            Policies::Stored(inquiry) => {
                let StoredMemory { answers, rule, group, .. } = &mut memory.stored;
                let answered = &answers[record * inquiry.agents().len() + agent];
                let (has_rule, has_group) = inquiry.provenance(answered, agent, rule, group)?;
                Ok((has_rule.then_some(&**rule), has_group.then_some(&**group)))
            }
        }
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
        match &self.0 {
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
                let policy = inquiry.set().policy_of(url.scheme, key)?;
                let explained = policy.map(|policy| inquiry.explain(policy, agent, path));
                explained.transpose().map(Ok)
            }
        }
    }
}

/// Decides one record by loaded files.
#[inline]
fn classify_loaded(
    (set, table): (&PolicySet, &PolicyTable),
    record: &[u8],
    assumed_scheme: Option<&[u8]>,
    memory: &mut ClassifierMemory,
) {
    let ClassifierMemory { decisions, loaded, .. } = memory;
    let LoadedMemory { host, path, policies, sources } = loaded;
    let paths = &table.dialect().paths;
    let known = split_assuming(record, paths.path_start, assumed_scheme)
        .and_then(|url| Ok((set.policy_of(&url, host)?, url.path)));
    let mut known_policy = None;
    let decided = match known {
        Err(_) => table.decide_all(Decision::INVALID, policies),
        Ok((None, _)) => table.decide_all(Decision::UNKNOWN, policies),
        Ok((Some(policy), url_path)) => {
            known_policy = Some(policy);
            let path = compared_path(url_path, paths.escapes, path);
            table.decide(policy, path, policies)
        }
    };
    decisions.extend_from_slice(decided);
    let agents = 0..table.agents().len();
    let source = |agent| Source { policy: known_policy, provenance: policies.provenance(agent) };
    sources.extend(agents.map(source));
}

/// Decides a block of records by a compiled set: all are split, then all hosts are found, then all
/// paths are decided.
fn classify_stored<R: AsRef<[u8]>>(
    inquiry: &Inquiry<'_>,
    records: &[R],
    assumed_scheme: Option<&[u8]>,
    memory: &mut ClassifierMemory,
) -> Result<(), Damage> {
    let ClassifierMemory { decisions, pieces, stored, .. } = memory;
    let paths = &inquiry.set().dialect().paths;
    pieces.clear();
    for record in records {
        let url = split_assuming(record.as_ref(), paths.path_start, assumed_scheme);
        match url.and_then(|url| pieces.push(record.as_ref(), &url, paths.escapes)) {
            Ok(()) => {}
            Err(_) => pieces.push_invalid(),
        }
    }
    let StoredMemory { inquiry: scratch, policies, answers, .. } = stored;
    policies.clear();
    inquiry.find(
        records.len(),
        |index| {
            let (scheme, key) = pieces.host(index, records[index].as_ref());
            HostQuestion { scheme, key }
        },
        scratch,
        policies,
    )?;
    let agents = inquiry.agents().len();
    answers.resize(records.len() * agents, Answered::without_policy(Decision::UNKNOWN));
    let path = |index: usize| pieces.path(index, records[index].as_ref());
    inquiry.decide(policies, path, scratch, answers)?;
    for (index, answers) in answers.chunks_exact_mut(agents.max(1)).enumerate() {
        if pieces.is_invalid(index) {
            answers.fill(Answered::without_policy(Decision::INVALID));
        }
    }
    decisions.extend(answers.iter().map(|answered| answered.decision));
    Ok(())
}
