//! The memory of one thread, and the blocks of records that it decides.

use std::sync::Arc;

use portcullis_dialect::decision::Answer;
use portcullis_engine::StepCounts;
use portcullis_robots::access::UnixSeconds;
use portcullis_robots::policy::explain;
use portcullis_robots::syntax::RobotsTxt;
use portcullis_robots::url::{BadUrl, UrlText, compared_path, host_key, split_assuming};

use super::asking::Asked;
use super::classifier::{Classifier, Explained};
use super::crawlers::RecordAgents;
use super::delays::DelayMemory;
use super::freshness::AgeCounts;
use super::naming::GroupNames;
use super::periods::PeriodMemory;
use super::pieces::Pieces;
use super::readings::{Copies, Decided};
use super::times::{Found, Now, Times};
use super::usage::UsageMemory;
use crate::Damage;
use crate::stored::{Read, RecordPolicy};

/// A block of records to decide: URLs as they appear in a list, and what belongs to each.
///
/// A slice, an array or a `Vec` of URLs is a block as well.
#[derive(Debug)]
pub struct Records<'r, R> {
    /// The URLs.
    pub urls: &'r [R],
    /// The times as of which they are decided.
    pub times: Times<'r>,
    /// The agent of each record, if the classifier has
    /// [an agent per record](super::Classifier::with_agent_per_record); empty otherwise.
    pub agents: &'r [&'r [u8]],
}

impl<'r, R> Records<'r, R> {
    /// Returns the same records as of these times.
    #[must_use]
    pub fn at(self, times: Times<'r>) -> Records<'r, R> {
        Records { times, ..self }
    }

    /// Returns the same records with these agents.
    #[must_use]
    pub fn by(self, agents: &'r [&'r [u8]]) -> Records<'r, R> {
        Records { agents, ..self }
    }
}

impl<'r, R, U: AsRef<[R]> + ?Sized> From<&'r U> for Records<'r, R> {
    #[inline]
    fn from(urls: &'r U) -> Records<'r, R> {
        Records { urls: urls.as_ref(), times: Times::Now, agents: &[] }
    }
}

/// A [`Classifier`], the scheme to assume, and the memory of one thread.
///
/// A session is cheap to create; its memory grows with the blocks that it decides, so keep one per
/// thread.
///
/// ```
/// use portcullis_set::batch::{Classifier, Session};
/// use portcullis_dialect::decision::Verdict;
/// use portcullis_dialect::dialect::RFC_9309;
/// use portcullis_robots::policy::Crawler;
/// use portcullis_set::PolicySet;
/// use portcullis_build::{LoadConfig, load_text};
///
/// let set = load_text(b"User-agent: *\nDisallow: /private\n", &LoadConfig::new(&RFC_9309));
/// let agents = vec![Crawler::parse("ExampleBot", &RFC_9309).unwrap()];
/// let mut session = Session::new(Classifier::new(set, agents)?).assume_scheme("https");
/// let mut answers = session.decide(&["a.example/private/page", "https://a.example/"])?;
/// assert_eq!(answers.decisions()[0].verdict(), Verdict::Disallow);
/// assert_eq!(answers.decisions()[1].verdict(), Verdict::Allow);
/// let first = answers.rule(0)?;
/// assert_eq!(first.decision.line.unwrap().get(), 2);
/// assert_eq!((first.rule, first.group), (Some(&b"/private"[..]), Some(&b"*"[..])));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Session {
    pub(super) classifier: Arc<Classifier>,
    assumed_scheme: Option<Box<[u8]>>,
    pub(super) pieces: Pieces,
    /// The policy of each record.
    pub(super) policies: Vec<RecordPolicy>,
    pub(super) block: Asked,
    pub(super) copies: Copies,
    pub(super) usage: UsageMemory,
    pub(super) rule: Vec<u8>,
    pub(super) group: Vec<u8>,
    pub(super) group_names: GroupNames,
    pub(super) ages: AgeCounts,
    /// The result for each record of a block with times; empty without times.
    pub(super) found: Vec<Found>,
    pub(super) now: Now,
    /// The agents of the records of the last block; empty unless each record has its own.
    pub(super) agents: RecordAgents,
    pub(super) periods: PeriodMemory,
    pub(super) delays: DelayMemory,
    /// The number of records of the last block if none has a byte; 0 otherwise.
    blank: usize,
}

impl Session {
    /// Creates a session, in which a record without a scheme is invalid; see
    /// [`Session::assume_scheme`].
    pub fn new(classifier: impl Into<Arc<Classifier>>) -> Session {
        Session {
            classifier: classifier.into(),
            assumed_scheme: None,
            pieces: Pieces::default(),
            policies: Vec::new(),
            block: Asked::default(),
            copies: Copies::default(),
            usage: UsageMemory::default(),
            rule: Vec::new(),
            group: Vec::new(),
            group_names: GroupNames::default(),
            ages: AgeCounts::default(),
            found: Vec::new(),
            now: Now::default(),
            agents: RecordAgents::default(),
            periods: PeriodMemory::default(),
            delays: DelayMemory::default(),
            blank: 0,
        }
    }

    /// Reads each record without a scheme as if it began with `scheme`, such as `https`; `None` makes
    /// such records invalid.
    pub fn assume_scheme<'s>(mut self, scheme: impl Into<Option<&'s str>>) -> Session {
        self.assumed_scheme = scheme.into().map(|scheme| scheme.as_bytes().into());
        self
    }

    /// Returns the classifier.
    pub fn classifier(&self) -> &Arc<Classifier> {
        &self.classifier
    }

    /// Decides a block of records, as [`Session::decide`] says.
    #[inline]
    pub(super) fn decide_records<R: UrlText>(
        &mut self,
        Records { urls: records, times, agents }: Records<'_, R>,
    ) -> Result<(), Damage> {
        let times = match (times, self.classifier.at) {
            (Times::Now, Some(time)) => Times::At(time),
            (times, _) => times,
        };
        let has_times = !matches!(times, Times::Now);
        assert!(!has_times || self.classifier.set.has_history(), "the set has no history");
        if let Times::Each(times) = times {
            assert_eq!(times.len(), records.len(), "one time per record");
        }
        match self.classifier.crawlers {
            None => assert!(agents.is_empty(), "the classifier has no agent per record"),
            Some(_) => assert_eq!(agents.len(), records.len(), "one agent per record"),
        }
        let last_blank = std::mem::take(&mut self.blank);
        self.agents.recognise(&self.classifier, agents)?;
        let is_blank =
            !matches!(times, Times::Each(_)) && records.iter().all(|it| it.url().is_empty());
        let is_again = last_blank == records.len() && self.found.is_empty() != has_times;
        if is_blank && is_again && last_blank > 0 {
            // A small compressed file may be line ends without number. Their block is decided once.
            self.blank = last_blank;
            return Ok(());
        }
        self.ages = AgeCounts::default();
        let Session { classifier, pieces, policies, .. } = self;
        let (scheme, vectors) = (self.assumed_scheme.as_deref(), classifier.settings.vectors);
        let splitting = (&classifier.dialect().paths, scheme, vectors);
        let table = match classifier.set.is_universal() {
            true => None,
            false => Some(classifier.set.host_table()?),
        };
        let paths = pieces.fill(records, splitting, table.as_ref());
        // Without a table, one policy applies to every URL.
        if let Some(table) = &table {
            pieces.find(table, records, |policy| classifier.known(policy))?;
        }
        // With one answer a URL, the policies come with where it begins.
        let by_urls = !has_times && classifier.crawlers.is_none() && classifier.agents.len() == 1;
        if !by_urls {
            pieces.policies(policies);
        }
        // The paths borrow from the records, so the memory that is kept between blocks cannot hold
        // them.
        let paths = pieces.with_written(paths);
        let (pieces, paths) = (&*pieces, &*paths);
        let Session { policies, block, copies, usage, ages, found, now, agents, .. } = self;
        let mut decide =
            |policies: &mut Vec<_>, block: &mut Asked, (found, times): (&[Found], _)| {
                match &classifier.crawlers {
                    _ if by_urls => {
                        classifier.decide_urls(pieces, paths, block)?;
                        std::mem::swap(policies, &mut block.policies);
                    }
                    None => classifier.decide(policies, paths, block)?,
                    Some(_) => classifier.decide_each(policies, paths, block, agents)?,
                }
                let decided = Decided { policies, paths, pieces, found, times, agents };
                classifier.read_otherwise(decided, &mut block.decisions, copies)
            };
        found.clear();
        if has_times && classifier.and_now {
            decide(policies, block, (found, Times::Now))?;
            classifier.find_preferences(policies, paths, &block.decisions, usage)?;
            block.decisions.clone_into(&mut now.decisions);
            usage.preferences.clone_into(&mut now.preferences);
        }
        let search = match has_times {
            true => classifier.find_moments(times, pieces, policies, found)?,
            false => Default::default(),
        };
        decide(policies, block, (found, times))?;
        if has_times {
            let decisions = &mut block.decisions[..];
            *ages = classifier.judge_moments((search, found), times, decisions)?;
        } else if let Some(freshness) = &classifier.freshness {
            let decisions = &mut block.decisions[..];
            *ages = classifier.judge_ages(freshness, policies, pieces, decisions)?;
        }
        // Last: what is expired has no preference.
        classifier.find_preferences(policies, paths, &block.decisions, usage)?;
        if is_blank {
            self.blank = records.len();
        }
        Ok(())
    }

    /// Returns one decision for each path and agent, for paths in normal form and their policies: no host is looked
    /// up, and no age compared.
    ///
    /// # Errors
    ///
    /// As for [`Session::decide`].
    ///
    /// # Panics
    ///
    /// If the numbers of paths and policies differ, there is no such policy, or each record has an agent of its own.
    pub fn decide_paths(
        &mut self,
        policies: &[RecordPolicy],
        paths: &[&[u8]],
    ) -> Result<&[Answer], Damage> {
        let Session { classifier, block, .. } = self;
        assert!(classifier.crawlers.is_none(), "a path has no agent of its own");
        let count = classifier.set.policy_count();
        let is_there = |it: &RecordPolicy| it.number().is_none_or(|policy| policy.0 < count);
        assert!(policies.iter().all(is_there), "there is no such policy");
        self.blank = 0;
        classifier.decide(policies, paths, block)?;
        Ok(&block.decisions)
    }

    /// Explains the decision for `agent` on `record`, as of a time or as [`Session::decide`] decides.
    /// `None` if no policy is known. Costs as much as trying every rule of the file.
    ///
    /// # Errors
    ///
    /// If a part of the set that is read is damaged; inside, if the record is not a URL.
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
        let Classifier { set, agents, .. } = &*self.classifier;
        let dialect = set.dialect();
        let mut host = Vec::new();
        let url = split_assuming(record, dialect.paths.path_start, self.assumed_scheme.as_deref());
        let (url, key) = match url.and_then(|url| Ok((url, host_key(&url, &mut host)?))) {
            Ok(found) => found,
            Err(problem) => return Ok(Err(problem)),
        };
        let mut scratch = Vec::new();
        let path = compared_path(url.path, dialect.paths.escapes, &mut scratch);
        let Some((policy, capture)) = self.classifier.origin_at(url.scheme, key, at)? else {
            return Ok(Ok(None));
        };
        let origin = (policy, &capture);
        let read = self.classifier.read_of(agent, (url.scheme, key), origin, at)?;
        let of_file = |file: &RobotsTxt<'_>, extract: &[u8]| {
            explain(file, extract, dialect, &agents[agent], path)
        };
        let explanation = match read {
            None => set.policy(policy)?.with_file(of_file)?,
            Some(Read::Copy(copy)) => set.policy(copy)?.with_file(of_file)?,
            Some(Read::Open(_)) => of_file(&RobotsTxt::default(), b""),
        };
        Ok(Ok(Some(Explained { explanation, facts: capture.facts, read })))
    }

    /// Returns how many decisions each method made, usage preferences included.
    pub fn step_counts(&self) -> StepCounts {
        let mut counts = self.block.step_counts();
        counts.work += self.usage.known.work();
        counts
    }

    /// Returns the bytes held for the agents of records.
    pub fn agent_bytes(&self) -> usize {
        self.agents.memory_bytes()
    }

    /// Returns the bytes held for the automata of rule sets.
    pub fn automata_bytes(&self) -> usize {
        self.block.memory_bytes() + self.copies.memory_bytes() + self.usage.known.memory_bytes()
    }
}
