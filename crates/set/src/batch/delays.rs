//! Crawl delays of the origins of a block.
//!
//! A delay belongs to a policy and a capture: files with the same rules may differ in their delays.
//! What was read for one is kept, so a list costs one reading per origin with a delay and thread.

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use portcullis_dialect::decision::{Decision, Verdict};
use portcullis_robots::policy::CrawlDelay;

use super::Answers;
use crate::Damage;
use crate::layout::NONE;
use crate::limits::CRAWL_DELAYS_KEPT_MAX;
use crate::stored::PolicyNumber;

/// The delays that a thread has read.
#[derive(Clone, Debug, Default)]
pub(super) struct DelayMemory {
    /// Rows of one delay for each agent; the first is that of a file without delays.
    rows: Vec<CrawlDelay>,
    /// The start of the row for the number of a policy and the position of other records.
    known: HashMap<(u32, u32), usize, RandomState>,
}

impl Answers<'_> {
    /// Returns the crawl delays of a record, in the order of its answers. There is none where the record
    /// is unknown or invalid.
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
    /// let mut answers = session.decide(&["https://a.example/"])?;
    /// let delay = answers.delays(0)?[0];
    /// assert_eq!((delay.seconds, delay.unreadable), (Some(1.5), 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn delays(&mut self, record: usize) -> Result<&[CrawlDelay], Damage> {
        let (count, first) = (self.per_record(), record * self.per_record());
        let agents = self.session.classifier.agents.len();
        let delays = &mut self.session.delays;
        if delays.rows.len() + delays.known.len() > CRAWL_DELAYS_KEPT_MAX {
            *delays = DelayMemory::default();
        }
        if delays.rows.is_empty() {
            delays.rows.resize(agents, CrawlDelay::default());
        }
        let has_delay = |it: &&Decision| matches!(it.verdict, Verdict::Allow | Verdict::Disallow);
        let decision = self.decisions().get(first).filter(has_delay);
        let start = match decision.and_then(|_| self.agent(first)) {
            // A row has all agents, because records of one origin may have different ones.
            Some(agent) => self.row_of(record)? + agent,
            None => 0,
        };
        Ok(&self.session.delays.rows[start..start + count])
    }

    /// Returns the start of the row of a record's capture.
    fn row_of(&mut self, record: usize) -> Result<usize, Damage> {
        let capture = self.capture(record)?;
        let Some(capture) = capture.filter(|it| it.others != NONE) else { return Ok(0) };
        let key = (self.session.policies[record], capture.others);
        if let Some(&start) = self.session.delays.known.get(&key) {
            return Ok(start);
        }
        let classifier = &self.session.classifier;
        let policy = classifier.set.policy(PolicyNumber(key.0))?;
        let row = capture.crawl_delays(&policy, &classifier.agents)?;
        let has_none = row.iter().all(|delay| *delay == CrawlDelay::default());
        let DelayMemory { rows, known } = &mut self.session.delays;
        let start = if has_none { 0 } else { rows.len() };
        if !has_none {
            rows.extend(row);
        }
        known.insert(key, start);
        Ok(start)
    }
}
