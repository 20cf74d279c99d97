//! Crawl delays of the origins of a block.
//!
//! A delay belongs to a policy and a capture: files with the same rules may differ in their delays.
//! What was read for one is kept, so a list costs one reading per origin with a delay and thread.

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use portcullis_robots::policy::CrawlDelay;

use super::classifier::Classifier;
use crate::Damage;
use crate::layout::NONE;
use crate::limits::CRAWL_DELAYS_KEPT_MAX;
use crate::stored::{PolicyNumber, StoredCapture};

/// The delays that a thread has read.
#[derive(Clone, Debug, Default)]
pub(super) struct DelayMemory {
    /// Rows of one delay for each agent; the first is that of a file without delays.
    rows: Vec<CrawlDelay>,
    /// The start of the row for the number of a policy and the position of other records.
    known: HashMap<(u32, u32), usize, RandomState>,
}

impl DelayMemory {
    /// Returns the delays of a policy and its capture, one for each agent. Without a capture there is
    /// none.
    pub fn row_of(
        &mut self,
        classifier: &Classifier,
        policy: u32,
        capture: Option<StoredCapture<'_>>,
    ) -> Result<&[CrawlDelay], Damage> {
        let agents = &classifier.agents;
        if self.rows.len() + self.known.len() > CRAWL_DELAYS_KEPT_MAX {
            *self = DelayMemory::default();
        }
        if self.rows.is_empty() {
            self.rows.resize(agents.len(), CrawlDelay::default());
        }
        let start = match capture {
            Some(capture) if capture.others != NONE => {
                self.start_of(classifier, policy, &capture)?
            }
            _ => 0,
        };
        Ok(&self.rows[start..start + agents.len()])
    }

    /// Returns the start of the row of a capture with other records.
    fn start_of(
        &mut self,
        classifier: &Classifier,
        policy: u32,
        capture: &StoredCapture<'_>,
    ) -> Result<usize, Damage> {
        let key = (policy, capture.others);
        if let Some(&start) = self.known.get(&key) {
            return Ok(start);
        }
        let policy = classifier.set.policy(PolicyNumber(policy))?;
        let row = capture.crawl_delays(&policy, &classifier.agents)?;
        let has_none = row.iter().all(|delay| *delay == CrawlDelay::default());
        let start = if has_none { 0 } else { self.rows.len() };
        if !has_none {
            self.rows.extend(row);
        }
        self.known.insert(key, start);
        Ok(start)
    }
}
