//! The answers on a block of records, and everything that can be asked about them.

use portcullis_dialect::decision::{Answer, PolicyState, Verdict};
use portcullis_dialect::usage::Preference;
use portcullis_robots::policy::CrawlDelay;
use portcullis_robots::url::UrlText;

use super::freshness::AgeCounts;
use super::pieces::OriginRecords;
use super::session::{Records, Session};
use super::times::{InForce, Now};
use super::usage::{Licenses, StatedPlace};
use crate::Damage;
use crate::stored::{RecordPolicy, StoredCapture};

/// The answers on a block of records. They borrow the session, which decides the next block when they
/// are no longer used.
///
/// Decisions and preferences are computed by `decide`. Everything else is looked up on request,
/// such as the deciding rule.
///
/// An *answer* is one for a record and an agent: `record * answers.per_record() + agent`, or the
/// record's number if each has an agent of its own. A method panics if there is no such answer or
/// record. Its error says that a part of the set that it reads is damaged. If the set is mapped, call
/// [`PolicySet::is_whole`](crate::PolicySet::is_whole) before you use what was read.
#[derive(Debug)]
pub struct Answers<'s> {
    pub(super) session: &'s mut Session,
}

impl Session {
    /// Decides a block of records: each for every agent, or for its own.
    ///
    /// Decide at least some dozens of records per call: each lookup stage runs over the whole block, so
    /// a record in a block costs less than a record alone.
    ///
    /// With times, a record is decided by the policy that was in force then. An origin that had not been
    /// captured by then is unknown, unless
    /// [`Classifier::before_first`](super::Classifier::before_first) says otherwise. Ages are
    /// those at the time of the record. [`Times::Now`](super::Times::Now) is the time of
    /// [`Classifier::as_of`](super::Classifier::as_of), if there is one.
    ///
    /// ```
    /// use portcullis_dialect::decision::Reason;
    /// use portcullis_dialect::dialect::RFC_9309;
    /// use portcullis_robots::access::UnixSeconds;
    /// use portcullis_robots::policy::Crawler;
    /// use portcullis_set::batch::{Classifier, Records, Session, Times};
    /// use portcullis_build::compile::to_vec;
    /// use portcullis_set::PolicySet;
    /// use portcullis_build::{IngestConfig, Input, ingest};
    ///
    /// let config = IngestConfig { history: true, ..IngestConfig::new(&RFC_9309, None) };
    /// let ingested = ingest(&[Input::new("../../corpora/sample/robots")], &config, &())?;
    /// let set = PolicySet::from_bytes("sample", to_vec(&ingested.standings, &ingested.compiling)?)?;
    /// let agents = vec![Crawler::parse("ExampleBot", &RFC_9309)?];
    /// let mut session = Session::new(Classifier::new(set, agents)?);
    /// let (urls, time) = (["https://anchors.example/"; 2], Some(UnixSeconds(1_700_000_000)));
    /// let times = Times::Each(&[time, None]);
    /// let mut answers = session.decide(Records { urls: &urls, times, agents: &[] })?;
    /// assert_ne!(answers.decisions()[0].reason(), Reason::NoTime);
    /// assert_eq!(answers.decisions()[1].reason(), Reason::NoTime);
    /// // The files of a folder have no dates, so they are older than any time.
    /// assert_eq!(answers.in_force(0)?.unwrap().captured_at, None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// If the classifier has [an agent per record](super::Classifier::with_agent_per_record), each record
    /// names one: by a product token or a User-Agent header. An agent that is empty or unreadable is
    /// unknown.
    ///
    /// ```
    /// use portcullis_dialect::decision::{Reason, Verdict};
    /// use portcullis_dialect::dialect::RFC_9309;
    /// use portcullis_robots::policy::Crawler;
    /// use portcullis_set::batch::{AgentKind, Classifier, Records, Session};
    /// use portcullis_build::{LoadConfig, load_text};
    ///
    /// let text = b"User-agent: ABot\nDisallow: /\n\nUser-agent: *\nAllow: /\n";
    /// let set = load_text(text, &LoadConfig::new(&RFC_9309));
    /// let agents = vec![Crawler::parse("ABot", &RFC_9309)?];
    /// let classifier = Classifier::new(set, agents)?.with_agent_per_record(AgentKind::Header)?;
    /// let mut session = Session::new(classifier);
    /// let agents: [&[u8]; 3] = [b"Mozilla/5.0 (compatible; ABot/1.0)", b"Mozilla/5.0 Firefox", b""];
    /// let answers = session.decide(Records::from(&["https://a.example/"; 3]).by(&agents))?;
    /// assert_eq!(answers.decisions()[0].verdict(), Verdict::Disallow);
    /// assert_eq!(answers.decisions()[1].verdict(), Verdict::Allow);
    /// assert_eq!(answers.decisions()[2].reason(), Reason::NoAgent);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If a part of the set that is read is damaged, or the set is mapped from a file that became
    /// shorter.
    ///
    /// # Panics
    ///
    /// If there are times and the set has no history
    /// ([`PolicySet::has_history`](crate::PolicySet::has_history)), or the numbers of times and
    /// records differ, or the numbers of agents and records.
    #[inline]
    pub fn decide<'r, R: UrlText + 'r>(
        &mut self,
        records: impl Into<Records<'r, R>>,
    ) -> Result<Answers<'_>, Damage> {
        self.decide_records(records.into())?;
        Ok(Answers { session: self })
    }
}

impl Answers<'_> {
    /// Returns the session.
    pub fn session(&self) -> &Session {
        self.session
    }

    /// Returns the number of answers per record.
    #[inline]
    pub fn per_record(&self) -> usize {
        self.session.classifier.answers_per_record()
    }

    /// Returns one decision for each answer, without its rule: see [`Answers::rule`].
    #[inline]
    pub fn decisions(&self) -> &[Answer] {
        &self.session.block.decisions
    }

    /// Returns the indexes of the records that [`may_be_odd`](portcullis_robots::url::may_be_odd) accepts, in
    /// order. No others have a blank, or are requested otherwise by clients of the URL Standard.
    #[inline]
    pub fn odd(&self) -> &[u32] {
        self.session.pieces.odd()
    }

    /// Returns the policies that decide the records, with times those in force.
    pub fn policies(&self) -> &[RecordPolicy] {
        &self.session.policies
    }

    /// Returns the state of a record's origin; `None` if the record is not a URL.
    pub fn state(&self, record: usize) -> Result<Option<PolicyState>, Damage> {
        let (set, policy) = (&self.session.classifier.set, self.session.policies[record]);
        match policy.number() {
            Some(policy) => Ok(Some(set.policy_head(policy)?.access()?.state)),
            None => Ok((policy == RecordPolicy::UNKNOWN).then_some(PolicyState::Unknown)),
        }
    }

    /// Returns the capture that a record's policy comes from, with times the capture of the moment in force;
    /// `None` if no policy is known.
    pub fn capture(&self, record: usize) -> Result<Option<StoredCapture<'_>>, Damage> {
        let Session { classifier, pieces, policies, found, .. } = &*self.session;
        classifier.capture_of_record(pieces, policies, found, record)
    }

    /// Returns the origins, in the order of their records. `urls` are those that were decided.
    ///
    /// # Panics
    ///
    /// If `urls` are others.
    pub fn origins<'p, R: UrlText>(
        &'p self,
        urls: &'p [R],
    ) -> impl Iterator<Item = OriginRecords<'p>> + use<'p, R> {
        self.session.pieces.origins(urls)
    }

    /// Returns the number of records by age of their capture.
    pub fn ages(&self) -> AgeCounts {
        self.session.ages
    }

    /// Returns the index of the agent of an answer among
    /// [`Classifier::agents`](super::Classifier::agents). `None` if each record has an agent of its own,
    /// and this one is not asked about.
    #[inline]
    pub fn agent(&self, answer: usize) -> Option<usize> {
        let Session { classifier, agents, .. } = &*self.session;
        match classifier.crawlers {
            None => Some(answer % classifier.agents.len()),
            Some(_) => agents.of(answer),
        }
    }

    /// Returns whether the records were decided as of times.
    pub fn has_times(&self) -> bool {
        !self.session.found.is_empty()
    }

    /// Returns the answers as of now; `None` unless the records have times and
    /// [`Classifier::and_now`](super::Classifier::and_now) asks for them.
    pub fn now(&self) -> Option<&Now> {
        let Session { classifier, now, .. } = &*self.session;
        (classifier.and_now && self.has_times()).then_some(now)
    }

    /// Returns when the policy of a record was in force. `None` without times, or if no policy was found
    /// for the record.
    pub fn in_force(&mut self, record: usize) -> Result<Option<InForce>, Damage> {
        if !self.has_times() {
            return Ok(None);
        }
        let Session { classifier, found, periods, .. } = &mut *self.session;
        classifier.in_force(found[record], periods)
    }

    /// Returns the preferences, by answer and label of
    /// [`Classifier::with_usage`](super::Classifier::with_usage); empty if no label is asked about.
    pub fn preferences(&self) -> &[Preference] {
        &self.session.usage.preferences
    }

    /// Returns the preference of an answer about the label at `label`.
    pub fn preference(&self, answer: usize, label: usize) -> Preference {
        self.preferences()[answer * self.session.classifier.labels().len() + label]
    }

    /// Returns the place that states the preference of an answer about the label at `label`; `None` if
    /// it is not stated.
    pub fn stated_at(&self, answer: usize, label: usize) -> Result<Option<StatedPlace>, Damage> {
        let Session { classifier, usage, .. } = &*self.session;
        classifier.stated_at(answer * classifier.labels().len() + label, usage)
    }

    /// Returns the licences that hold for an answer, as written; none if access is not allowed.
    pub fn licenses(&self, answer: usize) -> Result<Licenses<'_>, Damage> {
        let policy = self.policies()[answer / self.per_record()].number();
        let Session { classifier, usage, .. } = &*self.session;
        match (self.decisions()[answer].verdict(), self.agent(answer), policy) {
            (Verdict::Allow, Some(agent), Some(policy)) => {
                classifier.licenses(policy, agent, &usage.known)
            }
            _ => Ok(Box::new(std::iter::empty())),
        }
    }

    /// Returns the crawl delays of a record, in the order of its answers. There is none where the record
    /// is unknown or invalid.
    ///
    /// ```
    /// use portcullis_dialect::dialect::RFC_9309;
    /// use portcullis_robots::policy::Crawler;
    /// use portcullis_set::batch::{Classifier, Session};
    /// use portcullis_set::PolicySet;
    /// use portcullis_build::{LoadConfig, load_text};
    ///
    /// let text = b"User-agent: *\nCrawl-delay: 1.5\nCrawl-delay: 2s\n";
    /// let set = load_text(text, &LoadConfig::new(&RFC_9309));
    /// let agents = vec![Crawler::parse("ExampleBot", &RFC_9309)?];
    /// let mut session = Session::new(Classifier::new(set, agents)?);
    /// let mut answers = session.decide(&["https://a.example/"])?;
    /// let delay = answers.delays(0)?[0];
    /// assert_eq!((delay.seconds, delay.unreadable), (Some(1.5), 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn delays(&mut self, record: usize) -> Result<&[CrawlDelay], Damage> {
        let (count, first) = (self.per_record(), record * self.per_record());
        let has_delay = |it: &&Answer| matches!(it.verdict(), Verdict::Allow | Verdict::Disallow);
        let decision = self.decisions().get(first).filter(has_delay);
        let agent = decision.and_then(|_| self.agent(first));
        let Session { classifier, pieces, policies, found, delays, agents, .. } =
            &mut *self.session;
        let capture = match agent {
            Some(_) => classifier.capture_of_record(pieces, policies, found, record)?,
            None => None,
        };
        let file = policies[record].number().zip(capture);
        let mut agent = agent.unwrap_or(0);
        if let (Some((policy, capture)), Some(chain)) = (&file, agents.chain_of(record))
            && classifier.set.policy(*policy)?.state()? != PolicyState::Rules
        {
            // The set does not say which crawlers a file without rules names.
            let named = delays.first_named(classifier, *policy, capture, &chain.asked)?;
            agent = named.unwrap_or(agent);
        }
        // A row has all agents, because records of one origin may have different ones.
        Ok(&delays.row_of(classifier, file)?[agent..][..count])
    }
}
