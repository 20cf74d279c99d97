//! A classifier with everything that one thread needs to use it.

use crate::Damage;
use crate::stored::{Licenses, StatedPlace};
use portcullis_dialect::decision::{Decision, PolicyState};
use portcullis_dialect::usage::Preference;
use portcullis_robots::target::BadUrl;

use super::{AgeCounts, Classifier, ClassifierMemory, DecidingText, Explained};

/// A [`Classifier`], the scheme to assume, and the memory of one thread.
///
/// The output formats of `portcullis-report` read decisions from it. A session is cheap to
/// create; its memory grows with the blocks that it decides, so keep one per thread.
///
/// ```
/// use portcullis_set::batch::{Classifier, Session};
/// use portcullis_dialect::decision::Verdict;
/// use portcullis_dialect::dialect::RFC_9309;
/// use portcullis_robots::policy::{AgentChain, Detail};
/// use portcullis_set::{LoadConfig, PolicySet};
///
/// let set = PolicySet::of_text(b"User-agent: *\nDisallow: /private\n", &LoadConfig::new(&RFC_9309));
/// let agents = vec![AgentChain::parse("ExampleBot", &RFC_9309).unwrap()];
/// let classifier = Classifier::new(set, agents, Detail::Rule)?;
/// let mut session = Session::new(&classifier, Some(b"https"));
/// let decisions = session.decide(&["a.example/private/page"])?;
/// assert_eq!(decisions[0].verdict, Verdict::Disallow);
/// let text = session.deciding_text(0, 0)?;
/// assert_eq!(text.rule, Some(&b"/private"[..]));
/// assert_eq!(text.group, Some(&b"*"[..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Session<'c> {
    classifier: &'c Classifier,
    assumed_scheme: Option<&'c [u8]>,
    memory: ClassifierMemory,
}

impl<'c> Session<'c> {
    /// Creates a session. A record without a scheme gets `assumed_scheme`; if that is `None`, the
    /// record is invalid.
    pub fn new(classifier: &'c Classifier, assumed_scheme: Option<&'c [u8]>) -> Session<'c> {
        Session { classifier, assumed_scheme, memory: classifier.memory() }
    }

    /// Returns the classifier.
    pub fn classifier(&self) -> &'c Classifier {
        self.classifier
    }

    /// Returns the scheme of records that have none.
    pub fn assumed_scheme(&self) -> Option<&'c [u8]> {
        self.assumed_scheme
    }

    /// Returns one decision for each record and agent, record by record; see
    /// [`Classifier::classify`].
    ///
    /// # Errors
    ///
    /// As [`Classifier::classify`].
    #[inline]
    pub fn decide<R: AsRef<[u8]>>(&mut self, records: &[R]) -> Result<&[Decision], Damage> {
        self.classifier.classify(records, self.assumed_scheme, &mut self.memory)
    }

    /// Returns the decisions of the last block again.
    pub fn decisions(&self) -> &[Decision] {
        self.memory.decisions()
    }

    /// Returns the rule and the group behind the decision for `agent` on a record of the last
    /// block; see [`Classifier::deciding_text`].
    ///
    /// # Errors
    ///
    /// As [`Classifier::deciding_text`].
    ///
    /// # Panics
    ///
    /// If the last block has no such record, or there is no such agent.
    pub fn deciding_text(
        &mut self,
        record: usize,
        agent: usize,
    ) -> Result<DecidingText<'_>, Damage> {
        self.classifier.deciding_text(record, agent, &mut self.memory)
    }

    /// Returns the preferences for the last block, by record, agent and label of
    /// [`Classifier::with_usage`].
    pub fn preferences(&self) -> &[Preference] {
        self.memory.preferences()
    }

    /// Returns the place of the statement behind a preference, for an agent and a label on a record
    /// of the last block; see [`Classifier::stated_at`].
    ///
    /// # Errors
    ///
    /// As [`Classifier::stated_at`].
    ///
    /// # Panics
    ///
    /// If the last block has no such record, or there is no such agent or label.
    pub fn stated_at(
        &self,
        record: usize,
        agent: usize,
        label: usize,
    ) -> Result<Option<StatedPlace>, Damage> {
        self.classifier.stated_at(record, agent, label, &self.memory)
    }

    /// Returns the licences that hold for an agent on a record of the last block; see
    /// [`Classifier::licenses`].
    ///
    /// # Errors
    ///
    /// As [`Classifier::licenses`].
    ///
    /// # Panics
    ///
    /// If the last block has no such record, or there is no such agent.
    pub fn licenses(&self, record: usize, agent: usize) -> Result<Licenses<'c>, Damage> {
        self.classifier.licenses(record, agent, &self.memory)
    }

    /// Returns the policy state of the origin of a record of the last block; see
    /// [`Classifier::state`].
    ///
    /// # Errors
    ///
    /// As [`Classifier::state`].
    ///
    /// # Panics
    ///
    /// If the last block has no such record.
    pub fn state(&self, record: usize) -> Result<Option<PolicyState>, Damage> {
        self.classifier.state(record, &self.memory)
    }

    /// Returns the origins of the last block, which is `records`; see [`Classifier::origins`].
    ///
    /// # Panics
    ///
    /// If `records` are not those of the last block.
    pub fn origins<'p, R: AsRef<[u8]>>(
        &'p self,
        records: &'p [R],
    ) -> impl ExactSizeIterator<Item = (usize, &'p [u8], &'p [u8])> {
        self.classifier.origins(records, &self.memory)
    }

    /// Returns the ages of the captures since the last call; see [`ClassifierMemory::take_ages`].
    pub fn take_ages(&mut self) -> AgeCounts {
        self.memory.take_ages()
    }

    /// Explains the decision for `agent` on `record`, which need not be of the last block; see
    /// [`Classifier::explain`].
    ///
    /// # Errors
    ///
    /// As [`Classifier::explain`].
    ///
    /// # Panics
    ///
    /// If there is no such agent.
    pub fn explain(
        &self,
        record: &[u8],
        agent: usize,
    ) -> Result<Result<Option<Explained>, BadUrl>, Damage> {
        self.classifier.explain(record, self.assumed_scheme, agent)
    }
}
