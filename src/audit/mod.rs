//! The audit: what robots.txt does to a list of URLs, and what is wrong in the files.
//!
//! Owns the counting of one pass over a list, and the [`Report`] that comes of it. To have every
//! record with its verdict use [`report`](crate::report), to know what is in a set whatever URLs there
//! are [`survey`](crate::set::survey).
//!
//! An [`Audit`] is made of a set and shared by threads. Each has a [`Worker`], which counts
//! what is only a sum in plain arrays and writes what depends on the order (the first URLs that a rule
//! decided, origins without a policy) to a [`Told`]. [`Findings`] take what is told in the order of
//! the input. So the report is the same for any number of threads.
//!
//! Cost: a look-up of the host and some additions for each URL beside its classification, and for
//! each comparison another classification; before and after, the files are read and measured once
//! each. Memory: for each thread a counter for each rule and a few for each origin; with a few URLs
//! for each rule that decided, and the origins without a policy up to a limit. The number of URLs does
//! not matter.
//!
//! A report is JSON for programs, and a [`page`] for people.
//!
//! What can fail: a compiled set may be damaged, with the [`Damage`] that says where.
//!
//! ```
//! use portcullis::audit::{Audit, Told};
//! use portcullis::dialect::RFC_9309;
//! use portcullis::input::{Records, Terminator};
//! use portcullis::policy::AgentChain;
//! use portcullis::set::{LoadConfig, PolicySet};
//!
//! let text = b"User-agent: *\nDisallow: /a\nDisallow: /b\n";
//! let set = PolicySet::of_text(text, &LoadConfig::new(&RFC_9309));
//! let agents = vec![AgentChain::parse("ExampleBot", &RFC_9309)?];
//! let audit = Audit::new(&set.into(), agents, Vec::new())?;
//! let mut findings = audit.findings();
//! let mut told = Told::default();
//! let mut worker = audit.worker(None); // one for each thread
//! let list = b"https://x.example/a/1\nhttps://x.example/c\n";
//! worker.work(Records::new(list, Terminator::LineFeed), &mut told)?;
//! findings.add(&audit, &told); // chunk by chunk, in their order
//! drop(worker);
//!
//! let report = audit.report(&findings, 10)?;
//! assert_eq!(report.verdicts[0].disallow, 1);
//! assert_eq!(report.rules.deciding.rows[0].row.rule, "/a");
//! assert_eq!(report.rules.idle.rows[0].row.rule, "/b");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod figures;
mod findings;
mod library;
pub mod model;
mod others;
pub mod page;
mod plan;
mod rows;
mod tally;
mod told;
mod unknown;
mod worker;

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use crate::batch::Classifier;
use crate::decision::Verdict;
use crate::policy::{AgentChain, Detail};
use crate::set::stored::AskError;
use crate::set::{Damage, PolicySet};

pub use findings::Findings;
pub use model::Report;
pub use told::Told;
pub use worker::Worker;

use library::Library;
use rows::Rows;
use tally::{Tally, VERDICTS};

/// What is audited, for whom, and what was counted so far.
#[derive(Debug)]
pub struct Audit {
    classifier: Classifier,
    library: Library,
    rows: Rows,
    comparisons: Vec<Compared>,
    /// By rule: whether [`Findings`] have all the URLs of it that will be shown.
    is_told: Vec<AtomicBool>,
    /// Of workers that are done.
    tallies: Mutex<Tally>,
}

/// Another side, whose verdicts are compared.
#[derive(Clone, Debug)]
pub struct OtherSide {
    /// What it is compared by.
    pub kind: OtherKind,
    /// The name that it was given by.
    pub name: String,
    /// Its policies.
    pub set: Arc<PolicySet>,
    /// The agents, as its dialect has them: as many as the audit has, in the same order.
    pub agents: Vec<AgentChain>,
}

/// What another side is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OtherKind {
    /// The same files, read by another dialect.
    Dialect,
    /// Other policies.
    Set,
}

impl OtherKind {
    /// The word for it in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            OtherKind::Dialect => "dialect",
            OtherKind::Set => "set",
        }
    }
}

/// Another side, compiled.
#[derive(Debug)]
struct Compared {
    kind: OtherKind,
    name: String,
    classifier: Classifier,
    /// By [`change`]: whether [`Findings`] have all the URLs of it that will be shown.
    is_told: [AtomicBool; VERDICTS * VERDICTS],
}

/// The number of a change from one verdict to another.
fn change(here: Verdict, there: Verdict) -> usize {
    here as usize * VERDICTS + there as usize
}

impl Audit {
    /// An audit of `set` for `agents`, with the sides that it is compared with. It reads every
    /// file once, on the calling thread's rayon pool.
    ///
    /// # Errors
    ///
    /// If a set is damaged, or was compiled for other agents.
    ///
    /// # Panics
    ///
    /// If there is no agent, or another side has another number of them.
    pub fn new(
        set: &Arc<PolicySet>,
        agents: Vec<AgentChain>,
        others: Vec<OtherSide>,
    ) -> Result<Audit, AskError> {
        assert!(!agents.is_empty(), "somebody has to ask");
        let library = Library::new(set, &agents)?;
        let compiled = |other: OtherSide| {
            let OtherSide { kind, name, set, agents: theirs } = other;
            assert_eq!(theirs.len(), agents.len(), "the same agents ask both sides");
            let classifier = Classifier::new(set, theirs, Detail::Rule)?;
            Ok(Compared { kind, name, classifier, is_told: Default::default() })
        };
        let comparisons: Vec<_> =
            others.into_iter().map(compiled).collect::<Result<_, AskError>>()?;
        let is_told = (0..library.plan.rules).map(|_| AtomicBool::new(false)).collect();
        let rows = Rows::new(&library);
        let tally = Tally::new(agents.len(), &library.plan, &rows, comparisons.len());
        let classifier = Classifier::new(Arc::clone(set), agents, Detail::Rule)?;
        Ok(Audit { classifier, library, rows, comparisons, is_told, tallies: Mutex::new(tally) })
    }

    /// Bounds the bytes that the automata of one thread hold, for each side.
    #[must_use]
    pub fn with_automata_bytes_max(mut self, bytes: usize) -> Audit {
        self.classifier = self.classifier.with_automata_bytes_max(bytes);
        let bound = |other: Compared| Compared {
            classifier: other.classifier.with_automata_bytes_max(bytes),
            ..other
        };
        self.comparisons = self.comparisons.into_iter().map(bound).collect();
        self
    }

    /// The policies, as every URL is asked of them.
    pub fn classifier(&self) -> &Classifier {
        &self.classifier
    }

    /// A new thread's worker. Records without a scheme are taken to have `assumed_scheme`, if there
    /// is one.
    pub fn worker<'a>(&'a self, assumed_scheme: Option<&'a [u8]>) -> Worker<'a> {
        Worker::new(self, assumed_scheme)
    }

    /// Where what is told goes, chunk by chunk.
    pub fn findings(&self) -> Findings {
        Findings::new(self)
    }

    /// Nothing counted yet.
    fn no_tally(&self) -> Tally {
        let agents = self.classifier.agents().len();
        Tally::new(agents, &self.library.plan, &self.rows, self.comparisons.len())
    }

    /// Adds what a worker has counted.
    fn hand_in(&self, tally: &Tally) {
        // Adding numbers does not panic half-way.
        self.tallies.lock().unwrap_or_else(PoisonError::into_inner).merge(tally);
    }

    /// The counts of all workers that are done.
    pub fn counts(&self) -> crate::report::Counts {
        self.tallies.lock().unwrap_or_else(PoisonError::into_inner).counts.clone()
    }

    /// The report on all that workers that are done have counted; lists have `top` rows at most. It
    /// runs on the calling thread's rayon pool.
    ///
    /// # Errors
    ///
    /// If a set is damaged.
    pub fn report(&self, findings: &Findings, top: usize) -> Result<Report, Damage> {
        let tally = self.tallies.lock().unwrap_or_else(PoisonError::into_inner);
        figures::report(self, &tally, findings, top)
    }
}
