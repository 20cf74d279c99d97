//! Crawl delays of the origins of a block.
//!
//! A delay belongs to a policy and a capture: files with the same rules may differ in their delays.
//! What was read for one is kept, so a list costs one reading per origin with a delay and thread.

use foldhash::fast::RandomState;
use hashbrown::HashMap;
use hashbrown::hash_map::Entry;

use portcullis_robots::policy::CrawlDelay;

use super::classifier::Classifier;
use crate::Damage;
use crate::layout::NONE;
use crate::limits::CRAWL_DELAYS_KEPT_MAX;
use crate::stored::{PolicyNumber, StoredCapture};

/// The delays that a thread has read.
#[derive(Clone, Debug, Default)]
pub(super) struct DelayMemory {
    /// The delay for each agent, or none if all are those of a file without delays, by the number of a
    /// policy and the position of other records.
    known: HashMap<(u32, u32), Box<[CrawlDelay]>, RandomState>,
    /// The number of known delays and of files.
    count: usize,
    /// The delays of a file without delays.
    none: Vec<CrawlDelay>,
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
        let DelayMemory { known, count, none } = self;
        let agents = &classifier.agents;
        none.resize(agents.len(), CrawlDelay::default());
        let Some(capture) = capture.filter(|capture| capture.others != NONE) else {
            return Ok(none);
        };
        if *count > CRAWL_DELAYS_KEPT_MAX {
            known.clear();
            *count = 0;
        }
        let row = match known.entry((policy, capture.others)) {
            Entry::Occupied(row) => row.into_mut(),
            Entry::Vacant(place) => {
                let policy = classifier.set.policy(PolicyNumber(policy))?;
                let row = capture.crawl_delays(&policy, agents)?;
                let row = if row == *none { Vec::new() } else { row };
                *count += 1 + row.len();
                place.insert(row.into())
            }
        };
        Ok(if row.is_empty() { none } else { row })
    }
}
