//! The memory of one thread, and the blocks of records that it decides.

use std::sync::Arc;

use portcullis_dialect::decision::{Decision, PolicyState, Verdict};
use portcullis_dialect::usage::Preference;
use portcullis_engine::StepCounts;
use portcullis_robots::url::BadUrl;

use super::asking::{NO_POLICY, NO_URL};
use super::classifier::{BlockAnswers, Classifier, Explained};
use super::crawlers::RecordAgents;
use super::delays::DelayMemory;
use super::freshness::{AgeCounts, Freshness};
use super::pieces::Pieces;
use super::times::{Answers, Found, Times};
use super::usage::{Licenses, StatedPlace, UsageMemory};
use portcullis_robots::access::UnixSeconds;

use crate::Damage;
use crate::stored::{Period, PolicyNumber};

/// A [`Classifier`], the scheme to assume, and the memory of one thread.
///
/// A session is cheap to create; its memory grows with the blocks that it decides, so keep one per
/// thread.
///
/// ```
/// use portcullis_set::batch::{Classifier, Session};
/// use portcullis_dialect::decision::Verdict;
/// use portcullis_dialect::dialect::RFC_9309;
/// use portcullis_robots::policy::AgentChain;
/// use portcullis_set::PolicySet;
/// use portcullis_build::{LoadConfig, load_text};
///
/// let set = load_text(b"User-agent: *\nDisallow: /private\n", &LoadConfig::new(&RFC_9309));
/// let agents = vec![AgentChain::parse("ExampleBot", &RFC_9309).unwrap()];
/// let mut session = Session::new(Classifier::new(set, agents)?, Some(b"https"));
/// let decisions = session.classify(&["a.example/private/page", "https://a.example/"])?;
/// assert_eq!(decisions[0].verdict, Verdict::Disallow);
/// assert_eq!(decisions[1].verdict, Verdict::Allow);
/// let first = session.full_decision(0, 0)?;
/// assert_eq!(first.decision.line.unwrap().get(), 2);
/// assert_eq!((first.rule, first.group), (Some(&b"/private"[..]), Some(&b"*"[..])));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Session {
    pub(super) classifier: Arc<Classifier>,
    assumed_scheme: Option<Box<[u8]>>,
    pub(super) pieces: Pieces,
    /// The number of the policy of each record, or the marker for none.
    pub(super) policies: Vec<u32>,
    pub(super) block: BlockAnswers,
    usage: UsageMemory,
    pub(super) rule: Vec<u8>,
    pub(super) group: Vec<u8>,
    ages: AgeCounts,
    /// What was found for each record of a block with times; empty without times.
    pub(super) found: Vec<Found>,
    pub(super) now: Answers,
    /// The agents of the records of the last block; empty unless each record has its own.
    pub(super) agents: RecordAgents,
    /// The last period that was looked up, and the capture of its origin.
    pub(super) last_period: Option<(u32, Period)>,
    pub(super) delays: DelayMemory,
    /// The number of records of the last block if none has a byte; 0 otherwise.
    blank: usize,
}

impl Session {
    /// Creates a session. A record without a scheme gets `assumed_scheme`; if that is `None`, the
    /// record is invalid.
    pub fn new(classifier: impl Into<Arc<Classifier>>, assumed_scheme: Option<&[u8]>) -> Session {
        Session {
            classifier: classifier.into(),
            assumed_scheme: assumed_scheme.map(Into::into),
            pieces: Pieces::default(),
            policies: Vec::new(),
            block: BlockAnswers::default(),
            usage: UsageMemory::default(),
            rule: Vec::new(),
            group: Vec::new(),
            ages: AgeCounts::default(),
            found: Vec::new(),
            now: Answers::default(),
            agents: RecordAgents::default(),
            last_period: None,
            delays: DelayMemory::default(),
            blank: 0,
        }
    }

    /// Returns the classifier.
    pub fn classifier(&self) -> &Arc<Classifier> {
        &self.classifier
    }

    /// Returns the scheme of records that have none.
    pub fn assumed_scheme(&self) -> Option<&[u8]> {
        self.assumed_scheme.as_deref()
    }

    /// Returns one decision for each record and agent, record by record, without its rule: see
    /// [`Session::full_decision`]. Records are URLs as they appear in a list.
    ///
    /// Classify at least some dozens of records per call: each lookup stage runs over the whole
    /// block, so a record in a block costs less than a record alone.
    ///
    /// # Errors
    ///
    /// If a part of the set that is read is damaged, or the set is mapped from a file that became
    /// shorter.
    #[inline]
    pub fn classify<R: AsRef<[u8]>>(&mut self, records: &[R]) -> Result<&[Decision], Damage> {
        self.classify_at(records, self.classifier.times)
    }

    /// Like [`Session::classify`], as of a time for each record: by the policy that was in force
    /// then. An origin that had not been captured by then is unknown, unless
    /// [`Classifier::with_before_first`] says otherwise. Ages are those at the time of the record.
    ///
    /// ```
    /// use portcullis_dialect::decision::Reason;
    /// use portcullis_dialect::dialect::RFC_9309;
    /// use portcullis_robots::access::UnixSeconds;
    /// use portcullis_robots::policy::AgentChain;
    /// use portcullis_set::batch::{Classifier, Session, Times};
    /// use portcullis_build::compile::{CompileConfig, to_vec};
    /// use portcullis_set::PolicySet;
    /// use portcullis_build::{IngestConfig, Input, ingest};
    ///
    /// let config = IngestConfig { history: true, ..IngestConfig::new(&RFC_9309, None) };
    /// let ingested = ingest(&[Input::new("../../corpora/sample/robots")], &config, &())?;
    /// let config = CompileConfig::of(&ingested, &RFC_9309, None);
    /// let set = PolicySet::of_bytes("sample", to_vec(&ingested.standings, &config)?)?;
    /// let agents = vec![AgentChain::parse("ExampleBot", &RFC_9309)?];
    /// let mut session = Session::new(Classifier::new(set, agents)?, None);
    /// let (records, time) = (["https://anchors.example/"; 2], Some(UnixSeconds(1_700_000_000)));
    /// let decisions = session.classify_at(&records, Times::Each(&[time, None]))?;
    /// assert_ne!(decisions[0].reason, Reason::NoTime);
    /// assert_eq!(decisions[1].reason, Reason::NoTime);
    /// // The files of a folder have no dates, so they are older than any time.
    /// assert_eq!(session.in_force(0)?.unwrap().captured_at, None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`Session::classify`].
    ///
    /// # Panics
    ///
    /// If there are times and the set has no history
    /// ([`PolicySet::has_history`](crate::PolicySet::has_history)), or the numbers of times and
    /// records differ, or the classifier has an agent per record.
    #[inline]
    pub fn classify_at<R: AsRef<[u8]>>(
        &mut self,
        records: &[R],
        times: Times<'_>,
    ) -> Result<&[Decision], Damage> {
        assert!(self.classifier.crawlers.is_none(), "each record has an agent of its own");
        self.decide_records(records, times)
    }

    /// Decides records, with an agent per record for those in `agents`.
    #[inline]
    pub(super) fn decide_records<R: AsRef<[u8]>>(
        &mut self,
        records: &[R],
        times: Times<'_>,
    ) -> Result<&[Decision], Damage> {
        let has_times = !matches!(times, Times::Now);
        assert!(!has_times || self.classifier.set.has_history(), "the set has no history");
        if let Times::Each(times) = times {
            assert_eq!(times.len(), records.len(), "one time per record");
        }
        let is_blank =
            !matches!(times, Times::Each(_)) && records.iter().all(|it| it.as_ref().is_empty());
        let last_blank = std::mem::take(&mut self.blank);
        if is_blank && last_blank == records.len() && last_blank > 0 {
            // A small compressed file may be line ends without number. Their block is decided once.
            self.blank = last_blank;
            return Ok(&self.block.decisions);
        }
        let Session { classifier, pieces, policies, .. } = self;
        let (scheme, vectors) = (self.assumed_scheme.as_deref(), classifier.settings.vectors);
        let splitting = (&classifier.dialect().paths, scheme, vectors);
        let table = match classifier.set.is_universal() {
            true => None,
            false => Some(classifier.set.host_table()?),
        };
        let paths = pieces.fill(records, splitting, table.as_ref());
        classifier.find(table.as_ref(), pieces, records, policies)?;
        // The paths borrow from the records, so the memory that is kept between blocks cannot hold
        // them.
        let paths = pieces.with_written(paths);
        let (pieces, paths) = (&*pieces, &*paths);
        let Session { policies, block, usage, ages, found, now, agents, .. } = self;
        let mut decide = |policies: &[u32], block: &mut BlockAnswers| match &classifier.crawlers {
            None => classifier.decide(policies, paths, block),
            Some(_) => classifier.decide_each(policies, paths, block, agents),
        };
        found.clear();
        if has_times && classifier.and_now {
            decide(policies, block)?;
            classifier.find_preferences(policies, paths, &block.decisions, usage)?;
            block.decisions.clone_into(&mut now.decisions);
            usage.preferences().clone_into(&mut now.preferences);
        }
        let search = match has_times {
            true => classifier.find_moments(times, pieces, policies, found)?,
            false => Default::default(),
        };
        decide(policies, block)?;
        if has_times {
            let decisions = &mut block.decisions[..];
            ages.merge(classifier.judge_moments((search, found), times, decisions)?);
        } else if let Some(freshness) = &classifier.freshness {
            let decisions = &mut block.decisions[..];
            ages.merge(classifier.judge_ages(freshness, policies, pieces, decisions)?);
        }
        // Last: what is expired has no preference.
        classifier.find_preferences(policies, paths, &block.decisions, usage)?;
        if is_blank {
            self.blank = records.len();
        }
        Ok(&self.block.decisions)
    }

    /// Like [`Session::classify`], for paths and the numbers of their policies.
    /// [`NO_POLICY`] and [`NO_URL`] mean that there is none. Compares no ages.
    ///
    /// # Errors
    ///
    /// As for [`Session::classify`].
    ///
    /// # Panics
    ///
    /// If the numbers of paths and policies differ, or there is no such policy.
    pub fn decide(&mut self, policies: &[u32], paths: &[&[u8]]) -> Result<&[Decision], Damage> {
        let Session { classifier, block, usage, .. } = self;
        let count = classifier.set.policy_count();
        let is_there = |&policy: &u32| policy < count || policy >= NO_URL;
        assert!(policies.iter().all(is_there), "there is no such policy");
        self.blank = 0;
        self.policies.clear();
        self.policies.extend_from_slice(policies);
        classifier.decide(policies, paths, block)?;
        classifier.find_preferences(policies, paths, &block.decisions, usage)?;
        Ok(&block.decisions)
    }

    /// Returns the decisions of the last block again.
    pub fn decisions(&self) -> &[Decision] {
        &self.block.decisions
    }

    /// Returns the preferences on the last block, by record, agent and label of
    /// [`Classifier::with_usage`]; empty if no label is asked about.
    pub fn preferences(&self) -> &[Preference] {
        self.usage.preferences()
    }

    /// Returns the place that states the preference for the label at `label` and `agent` on the
    /// record at `record` of the last block; `None` if it is not stated.
    ///
    /// # Errors
    ///
    /// If a part of the set that is read is damaged.
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
        let classifier = &self.classifier;
        let answer = (record * classifier.agents.len() + agent) * classifier.labels().len() + label;
        classifier.stated_place(answer, &self.usage)
    }

    /// Returns the licences that hold for `agent` on the record at `record` of the last block, as
    /// written; none if access is not allowed.
    ///
    /// # Errors
    ///
    /// If a part of the set that is read is damaged.
    ///
    /// # Panics
    ///
    /// If the last block has no such record, or there is no such agent.
    pub fn licenses(&self, record: usize, agent: usize) -> Result<Licenses<'_>, Damage> {
        let answer = record * self.classifier.agents.len() + agent;
        match self.decisions()[answer].verdict {
            Verdict::Allow => self.classifier.licenses(self.policies[record], agent),
            Verdict::Disallow | Verdict::Unknown | Verdict::Invalid => {
                Ok(Box::new(std::iter::empty()))
            }
        }
    }

    /// Returns the numbers of the policies that decide the records of the last block, with times
    /// those in force. [`NO_POLICY`] and [`NO_URL`] mean that there is none.
    pub fn policies(&self) -> &[u32] {
        &self.policies
    }

    /// Returns the state of the origin of the record at index `record` of the last block, or `None`
    /// if the record is not a URL.
    ///
    /// # Errors
    ///
    /// If the set is damaged where it is read.
    ///
    /// # Panics
    ///
    /// If the last block has no such record.
    pub fn state(&self, record: usize) -> Result<Option<PolicyState>, Damage> {
        match self.policies[record] {
            NO_URL => Ok(None),
            NO_POLICY => Ok(Some(PolicyState::Unknown)),
            policy => self.classifier.set.policy(PolicyNumber(policy))?.state().map(Some),
        }
    }

    /// Returns the origins of the last block, which must be `records`. Each has the index of its
    /// first record, its scheme as written, and the key of its host (see
    /// [`host_key`](portcullis_robots::url::host_key)). It holds up to the first record of the
    /// next origin. Scheme and key are empty for a record that is not a URL.
    ///
    /// # Panics
    ///
    /// If `records` is another block.
    pub fn origins<'p, R: AsRef<[u8]>>(
        &'p self,
        records: &'p [R],
    ) -> impl ExactSizeIterator<Item = (usize, &'p [u8], &'p [u8])> + use<'p, R> {
        self.pieces.origins(records)
    }

    /// Explains the decision for `agent` on `record`, which need not be of the last block, as of a
    /// time or as [`Session::classify`] decides; see [`Classifier::explain`].
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
        at: Option<UnixSeconds>,
    ) -> Result<Result<Option<Explained>, BadUrl>, Damage> {
        self.classifier.explain(record, self.assumed_scheme(), agent, at)
    }

    /// Returns the number of records by age of their capture since the last call.
    pub fn take_ages(&mut self) -> AgeCounts {
        std::mem::take(&mut self.ages)
    }

    /// Returns how many decisions each method made, usage preferences included.
    pub fn step_counts(&self) -> StepCounts {
        let mut counts = self.block.asked.step_counts();
        counts += self.usage.step_counts();
        counts
    }

    /// Returns the bytes held for the automata of rule sets.
    pub fn automata_bytes(&self) -> usize {
        self.block.asked.memory_bytes() + self.usage.memory_bytes()
    }
}

impl Classifier {
    /// Counts the records of a block by age of their capture. With [`Freshness::withdraws`],
    /// replaces the decisions from captures that are not fresh.
    #[inline(never)]
    fn judge_ages(
        &self,
        freshness: &Freshness,
        policies: &[u32],
        pieces: &Pieces,
        decisions: &mut [Decision],
    ) -> Result<AgeCounts, Damage> {
        let agents = self.answers_per_record();
        let mut ages = AgeCounts::default();
        let every = self.set.every_host()?;
        for (number, host) in pieces.hosts().iter().enumerate() {
            let urls = pieces.urls_of_host(number);
            if matches!(policies[urls.start], NO_POLICY | NO_URL) {
                continue;
            }
            let position = host.candidate.position();
            let found = || position.map(|position| self.set.host_at(position)).transpose();
            let stored = match every {
                None => found()?,
                every => every,
            };
            let capture = stored.map(|stored| stored.capture_of_policy(host.place)).transpose()?;
            let lost = || self.set.malformed_host("an origin has lost its host");
            let age = freshness.age(&capture.ok_or_else(lost)?.facts);
            ages.add(age, urls.len() as u64);
            if let Some(decision) = age.withdrawn().filter(|_| freshness.withdraws) {
                let answers = urls.start * agents..urls.end * agents;
                decisions[answers].fill(decision);
            }
        }
        self.set.has_length()?;
        Ok(ages)
    }
}
