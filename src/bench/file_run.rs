//! From a mapped list to counted verdicts, on one thread and on all.
//!
//! This is what a user's run does, reading and cutting the file included and writing left out. Only
//! portcullis can: the others have nothing of the kind.

use std::io;
use std::time::{Duration, Instant};

use crate::batch::runner::{self, Config};
use crate::batch::{Classifier, ClassifierMemory};
use crate::decision::Verdict;
use crate::input::{OpenConfig, Record, Records, Source, Terminator};
use crate::limits::RECORDS_AT_ONCE;
use crate::policy::Detail;

use super::corpus::{Corpus, Policies};
use super::engine::{EngineError, EngineKind};
use super::measure::{Seat, turn};
use super::report::{Cell, Model};

/// A classifier, and how many URLs of the list it has to allow.
pub(super) struct FileRun<'c> {
    corpus: &'c Corpus,
    classifier: Option<Classifier<'c>>,
}

impl<'c> FileRun<'c> {
    pub fn new(corpus: &'c Corpus) -> FileRun<'c> {
        let agents = vec![corpus.agent.clone()];
        let classifier = match &corpus.policies {
            Policies::Loaded(set) => Some(Classifier::new(set, agents, Detail::Reason)),
            Policies::Stored(set) => Classifier::stored(set, agents, Detail::Reason).ok(),
        };
        FileRun { corpus, classifier }
    }

    /// The engine whose run this is.
    fn name(&self) -> &'static str {
        match self.corpus.policies {
            Policies::Loaded(_) => super::engines::BASELINE,
            Policies::Stored(_) => super::engines::STORED,
        }
    }

    /// One turn for each number of threads.
    pub fn turns(&self, seats: &mut [Seat<'_>], fill: Duration) {
        let is_ours = |seat: &&mut Seat<'_>| {
            seat.engine.kind() == EngineKind::BuiltIn && seat.engine.name() == self.name()
        };
        let Some(seat) = seats.iter_mut().find(is_ours) else { return };
        // URLs that no engine could be asked about are in the list too, and nobody has judged them.
        if self.corpus.left_out.not_text > 0 || !seat.verification.may_be_timed() {
            return;
        }
        let urls = self.corpus.list_records();
        for threads in thread_counts() {
            let expected = seat.verification.allowed;
            let turn = turn(fill, || {
                let (time, allowed) = self.pass(threads)?;
                match allowed == expected {
                    true => Ok(Some(time)),
                    false => Err(EngineError(format!(
                        "a run over the file allowed {allowed} URLs and the oracle {expected}"
                    ))),
                }
            });
            let cell = Cell { model: Model::FileToVerdict, order: None, threads };
            match turn {
                Ok(seconds) => {
                    let values = seconds.map(|seconds| seconds * 1e9 / urls as f64);
                    seat.times.entry(cell).or_default().extend(values);
                }
                Err(error) => {
                    seat.verification.standing = super::judge::Standing::Failed(error.0);
                    seat.times.clear();
                    return;
                }
            }
        }
    }

    /// The time of a run, and how many URLs it allowed.
    pub fn pass(&self, threads: usize) -> Result<(Duration, u64), EngineError> {
        let failed = |error: &dyn std::error::Error| EngineError(error.to_string());
        let Some(classifier) = &self.classifier else {
            return Err(EngineError("the set is damaged".to_owned()));
        };
        let start = Instant::now();
        let source = Source::open(&self.corpus.list_path, OpenConfig::default());
        let config = Config { threads, ..Config::default() };
        let mut allowed = 0;
        runner::run(
            [source],
            &config,
            || classifier.memory(),
            |memory, chunk, count: &mut u64| *count = count_allowed(classifier, memory, chunk),
            |count| {
                allowed += *count;
                Ok::<(), io::Error>(())
            },
        )
        .map_err(|error| failed(&error))?;
        Ok((start.elapsed(), allowed))
    }
}

/// A damaged set allows nothing, and the count tells.
fn count_allowed(classifier: &Classifier<'_>, memory: &mut ClassifierMemory, chunk: &[u8]) -> u64 {
    let mut allowed = 0;
    let mut block: Vec<Record<'_>> = Vec::with_capacity(RECORDS_AT_ONCE);
    let mut records = Records::new(chunk, Terminator::LineFeed);
    loop {
        block.clear();
        block.extend(records.by_ref().take(RECORDS_AT_ONCE));
        if block.is_empty() {
            return allowed;
        }
        let decisions = classifier.classify(&block, None, memory).unwrap_or_default();
        let allows = |decision: &&crate::decision::Decision| decision.verdict == Verdict::Allow;
        allowed += decisions.iter().filter(allows).count() as u64;
    }
}

/// One thread, two, four and so on, and as many as there are cores.
pub(super) fn thread_counts() -> Vec<usize> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut counts: Vec<usize> = (0..).map(|power| 1 << power).take_while(|&n| n < cores).collect();
    counts.push(cores);
    counts
}
