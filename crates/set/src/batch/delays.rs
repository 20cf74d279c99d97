//! Crawl delays of the origins of a block.
//!
//! A delay belongs to a policy and a capture: files with the same rules may differ in their delays.
//! What was read for one is kept, so a list costs one reading per origin with a delay and thread.

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use portcullis_dialect::decision::Verdict;
use portcullis_robots::policy::CrawlDelay;

use super::{Classifier, Session};
use crate::Damage;
use crate::layout::NONE;
use crate::limits::CRAWL_DELAYS_KEPT_MAX;
use crate::stored::{Place, PolicyNumber, StoredCapture};

/// The delays that a thread has read.
#[derive(Clone, Debug, Default)]
pub(super) struct DelayMemory {
    /// Rows of one delay for each agent; the first is that of a file without delays.
    rows: Vec<CrawlDelay>,
    /// The start of the row for the number of a policy and the position of other records.
    known: HashMap<(u32, u32), usize, RandomState>,
    /// The number of records that were asked about and have a line that is no number for some agent.
    unreadable: u64,
}

impl Session {
    /// Returns the crawl delays for the record at `record` of the last block, in the order of its
    /// decisions: one for each agent, or that of the record's own agent. There is none where the record
    /// is unknown or invalid. Counts records with a value that is not a number.
    ///
    /// ```
    /// use portcullis_dialect::dialect::RFC_9309;
    /// use portcullis_robots::policy::AgentChain;
    /// use portcullis_set::batch::{Classifier, Session};
    /// use portcullis_set::PolicySet;
    /// use portcullis_build::{LoadConfig, load_text};
    ///
    /// let text = b"User-agent: *\nCrawl-delay: 1.5\nCrawl-delay: 2s\n";
    /// let set = load_text(text, &LoadConfig::new(&RFC_9309));
    /// let agents = vec![AgentChain::parse("ExampleBot", &RFC_9309)?];
    /// let mut session = Session::new(Classifier::new(set, agents)?, None);
    /// session.classify(&["https://a.example/"])?;
    /// assert_eq!(session.crawl_delays(0)?[0].seconds, Some(1.5));
    /// assert_eq!(session.take_unreadable_delays(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If a part of the set that is read is damaged. If the set is mapped, call
    /// [`PolicySet::is_whole`](crate::PolicySet::is_whole) before you use what was read.
    ///
    /// # Panics
    ///
    /// If the last block has no such record, or was not a block of records.
    pub fn crawl_delays(&mut self, record: usize) -> Result<&[CrawlDelay], Damage> {
        let agents = self.classifier.agents.len();
        if self.delays.rows.len() + self.delays.known.len() > CRAWL_DELAYS_KEPT_MAX {
            self.delays.known.clear();
            self.delays.rows.clear();
        }
        if self.delays.rows.is_empty() {
            self.delays.rows.resize(agents, CrawlDelay::default());
        }
        let answers = self.classifier.answers_per_record();
        let verdict = self.decisions().get(record * answers).map(|decision| decision.verdict);
        let start = match verdict {
            Some(Verdict::Unknown | Verdict::Invalid) | None => 0,
            // A row has all agents, because records of one origin have different ones.
            Some(_) => self.row_of(record)? + self.asked_agent(record * answers),
        };
        let row = &self.delays.rows[start..start + answers];
        self.delays.unreadable += u64::from(row.iter().any(|delay| delay.unreadable > 0));
        Ok(row)
    }

    /// Returns the number of records with a value that is not a number since the last call.
    pub fn take_unreadable_delays(&mut self) -> u64 {
        std::mem::take(&mut self.delays.unreadable)
    }

    /// Returns the start of the row of a record's origin.
    fn row_of(&mut self, record: usize) -> Result<usize, Damage> {
        let classifier = &self.classifier;
        let capture = self.capture_of(record)?;
        if capture.others == NONE {
            return Ok(0);
        }
        let policy = self.policies[record];
        let key = (policy, capture.others);
        if let Some(&start) = self.delays.known.get(&key) {
            return Ok(start);
        }
        let policy = classifier.set.policy(PolicyNumber(policy))?;
        let delays = capture.crawl_delays(&policy, &classifier.agents)?;
        let has_none = delays.iter().all(|delay| *delay == CrawlDelay::default());
        let start = if has_none { 0 } else { self.delays.rows.len() };
        if !has_none {
            self.delays.rows.extend(delays);
        }
        self.delays.known.insert(key, start);
        Ok(start)
    }

    /// Returns the capture of a record's origin at its time.
    fn capture_of(&self, record: usize) -> Result<StoredCapture<'_>, Damage> {
        let classifier: &Classifier = &self.classifier;
        if self.has_times() {
            let capture = classifier.capture_at(self.found[record])?;
            return capture.ok_or_else(|| classifier.set.malformed_host("a moment is missing"));
        }
        if let Some(host) = classifier.set.every_host()? {
            return host.capture_of_policy(Place::Https);
        }
        let host = self.pieces.host_of_url(record);
        let missing = || classifier.set.malformed_host("an origin has a policy and no capture");
        let position = host.candidate.position().ok_or_else(missing)?;
        let capture = classifier.set.capture_of(position, host.place == Place::Https)?;
        match capture {
            NONE => Err(missing()),
            capture => classifier.set.capture_at(capture),
        }
    }
}
