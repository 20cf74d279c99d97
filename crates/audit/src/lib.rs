//! Audits a list of URLs: how robots.txt affects them, what their pages may be used for, and
//! problems in the files.
//!
//! An audit counts in one pass over the list and produces a [`Report`] of its findings: JSON for
//! programs, a [`page`] for people. To write every record with its verdict, use
//! [`report`](portcullis_report). For the content of a set without URLs, use
//! [`stats`](portcullis_set::stats). To compare two sets on a list, use
//! [`report::difference`](portcullis_report::difference).
//!
//! Threads share an [`Audit`]. Each thread has a [`Worker`], which counts, and returns findings
//! that depend on the order of the input as [`ChunkFindings`]. [`Findings`] merges them in input
//! order, so the report is the same for any number of threads.
//!
//! Cost: besides classification, one host lookup and a few additions per URL. Before and after the
//! pass, each file is parsed and analysed once. Memory does not depend on the number of URLs: two
//! counters per rule in each thread, a few counters per host that occurs, and the origins without a
//! policy up to a limit.
//!
//! The only error is a damaged set, with the [`Damage`] that names the place.
//!
//! ```
//! use portcullis_audit::{Audit, ChunkFindings, Findings};
//! use portcullis_dialect::dialect::RFC_9309;
//! use portcullis_io::input::{Chunk, Terminator};
//! use portcullis_io::list::{Arena, List, Rows};
//! use portcullis_report::{Piece, Rejects};
//! use portcullis_robots::policy::AgentChain;
//! use portcullis_set::{LoadConfig, PolicySet};
//!
//! let text = b"User-agent: *\nDisallow: /a\nDisallow: /b\n";
//! let set = PolicySet::of_text(text, &LoadConfig::new(&RFC_9309));
//! let agents = vec![AgentChain::parse("ExampleBot", &RFC_9309)?];
//! let audit = Audit::new(&set.into(), agents)?;
//! let mut findings = Findings::default();
//! let mut chunk = ChunkFindings::default();
//! let mut worker = audit.worker(None); // one per thread
//! let text = "https://x.example/a/1\nhttps://x.example/c\n";
//! let list = Chunk::of_text(List::plain("urls", Terminator::LineFeed), text);
//! let (arena, mut rejects) = (Arena::new(), Rejects::default());
//! let mut rows = Rows::new(&list, &arena, 0);
//! worker.work(Piece::new(&mut rows, &mut rejects), &mut chunk)?;
//! findings.add(&audit, &chunk); // chunk by chunk, in input order
//! drop(worker);
//!
//! let report = audit.report(&findings, 10)?;
//! assert_eq!(report.verdicts[0].disallow, 1);
//! assert_eq!(report.rules.deciding.rows[0].row.rule, "/a");
//! assert_eq!(report.rules.idle.rows[0].row.rule, "/b");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod catalog;
mod counting;
mod figures;
pub mod model;
pub mod page;

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use portcullis_dialect::usage::Label;
use portcullis_report::Counts;
use portcullis_robots::policy::AgentChain;
use portcullis_set::batch::AskError;
use portcullis_set::batch::Classifier;
use portcullis_set::{Damage, PolicySet};

pub use counting::{ChunkFindings, Findings, Worker};
pub use model::Report;

use catalog::Catalog;
use counting::Tally;

/// An audit: a set, the agents, and the counts so far.
#[derive(Debug)]
pub struct Audit {
    classifier: Arc<Classifier>,
    catalog: Catalog,
    /// For each rule's counter, whether [`Findings`] has enough sample URLs of the rule.
    has_samples: Vec<AtomicBool>,
    /// The sum over finished workers.
    tally: Mutex<Tally>,
}

impl Audit {
    /// Prepares an audit of `set` for `agents`. Parses every file once, on the calling thread's
    /// rayon pool.
    ///
    /// # Errors
    ///
    /// If the set is damaged, or was compiled for other agents.
    ///
    /// # Panics
    ///
    /// If there are no agents.
    pub fn new(set: &Arc<PolicySet>, agents: Vec<AgentChain>) -> Result<Audit, AskError> {
        assert!(!agents.is_empty(), "an audit needs an agent");
        let catalog = Catalog::new(set, &agents)?;
        let has_samples = (0..catalog.rules).map(|_| AtomicBool::new(false)).collect();
        let tally = Mutex::new(Tally::new(&catalog, agents.len()));
        let classifier = Classifier::new(Arc::clone(set), agents)?.with_usage(&Label::ALL);
        Ok(Audit { classifier: classifier.into(), catalog, has_samples, tally })
    }

    /// Bounds the bytes that the automata of one thread may use.
    #[must_use]
    pub fn with_automata_bytes_max(mut self, bytes: usize) -> Audit {
        let classifier = Arc::into_inner(self.classifier).expect("workers borrow the audit");
        self.classifier = classifier.with_automata_bytes_max(bytes).into();
        self
    }

    /// Creates the worker of a thread. Records without a scheme get `assumed_scheme`; if that is
    /// `None`, they are invalid.
    pub fn worker(&self, assumed_scheme: Option<&[u8]>) -> Worker<'_> {
        Worker::new(self, assumed_scheme)
    }

    fn tally(&self) -> MutexGuard<'_, Tally> {
        // Additions do not panic, so a poisoned lock still holds whole sums.
        self.tally.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the decisions that workers counted, once they are dropped.
    pub fn counts(&self) -> Counts {
        self.tally().counts.clone()
    }

    /// Returns the report of all dropped workers. Lists have at most `top` rows. Analyses every
    /// file, on the calling thread's rayon pool.
    ///
    /// # Errors
    ///
    /// If the set is damaged.
    pub fn report(&self, findings: &Findings, top: usize) -> Result<Report, Damage> {
        figures::report(self, &self.tally(), findings, top)
    }
}
