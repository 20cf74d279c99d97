//! Crawl delays of the origins of a block.
//!
//! A delay belongs to a policy and a capture: files with the same rules may differ in their delays.
//! Each is read once and kept, so a list costs one reading per origin with a delay and thread.

use foldhash::fast::RandomState;
use hashbrown::HashMap;
use hashbrown::hash_map::Entry;

use portcullis_robots::policy::CrawlDelay;

use super::classifier::{AgentNumber, Classifier};
use crate::Damage;
use crate::limits::CRAWL_DELAYS_KEPT_MAX;
use crate::stored::{PolicyNumber, StoredCapture};

/// The delays that a thread has read.
#[derive(Clone, Debug, Default)]
pub(super) struct DelayMemory {
    /// By policy and the position of other records.
    known: HashMap<(PolicyNumber, Option<u32>), FileDelays, RandomState>,
    /// The number of known delays and of files.
    count: usize,
    /// The delays of a file without delays.
    none: Vec<CrawlDelay>,
}

/// The delay for each agent; empty for a file without delays.
#[derive(Clone, Debug, Default)]
struct FileDelays {
    delays: Box<[CrawlDelay]>,
    /// Whether the file names the agent.
    are_named: Box<[bool]>,
}

impl DelayMemory {
    /// Returns the delays of a policy and its capture, one for each agent. Without a capture there is
    /// none.
    pub fn row_of(
        &mut self,
        classifier: &Classifier,
        file: Option<(PolicyNumber, StoredCapture<'_>)>,
    ) -> Result<&[CrawlDelay], Damage> {
        self.none.resize(classifier.agents.len(), CrawlDelay::default());
        let Some((policy, capture)) = file.filter(|(_, capture)| capture.others.is_some()) else {
            return Ok(&self.none);
        };
        self.read(classifier, policy, &capture)?;
        let row = &*self.known[&(policy, capture.others)].delays;
        Ok(if row.is_empty() { &self.none } else { row })
    }

    /// Returns the first of some agents that the file of a policy and its capture names; `None` if it names
    /// none, or has no delays.
    pub fn first_named(
        &mut self,
        classifier: &Classifier,
        policy: PolicyNumber,
        capture: &StoredCapture<'_>,
        agents: &[AgentNumber],
    ) -> Result<Option<usize>, Damage> {
        self.read(classifier, policy, capture)?;
        let are_named = &*self.known[&(policy, capture.others)].are_named;
        let is_named = |agent: &usize| are_named.get(*agent) == Some(&true);
        Ok(agents.iter().map(|agent| agent.index()).find(is_named))
    }

    /// Reads what the file of a policy and its capture says.
    fn read(
        &mut self,
        classifier: &Classifier,
        policy: PolicyNumber,
        capture: &StoredCapture<'_>,
    ) -> Result<(), Damage> {
        let DelayMemory { known, count, none } = self;
        if *count > CRAWL_DELAYS_KEPT_MAX {
            known.clear();
            *count = 0;
        }
        if let Entry::Vacant(place) = known.entry((policy, capture.others)) {
            let policy = classifier.set.policy(policy)?;
            let (delays, are_named) = capture.crawl_delays(&policy, &classifier.agents)?;
            let row = match delays == *none {
                true => FileDelays::default(),
                false => FileDelays { delays: delays.into(), are_named: are_named.into() },
            };
            *count += 1 + row.delays.len();
            place.insert(row);
        }
        Ok(())
    }
}
