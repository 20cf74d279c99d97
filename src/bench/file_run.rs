//! From a mapped list to counted verdicts, on one thread and on all.
//!
//! This is what a user's run does, reading and cutting the file included and writing left out. Only
//! portcullis can: the others have nothing of the kind. [`ListRun`] is such a run by itself, over any
//! list; what is compared with it, and how often, is up to its caller.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::batch::runner::{self, Config};
use crate::batch::{Classifier, ClassifierMemory};
use crate::decision::Verdict;
use crate::input::{OpenConfig, Record, Records, Source, Terminator};
use crate::limits::RECORDS_AT_ONCE;
use crate::policy::{AgentChain, Detail};
use crate::set::PolicySet;

use super::corpus::Corpus;
use super::engine::{EngineError, EngineKind};
use super::measure::{Seat, turn};
use super::report::{Cell, Model};

/// Compiled policies and a list that they are asked about.
pub struct ListRun {
    classifier: Classifier,
    list: PathBuf,
    opening: OpenConfig,
}

impl ListRun {
    /// A run of the list against `set`, for `agent`.
    ///
    /// # Errors
    ///
    /// If the set is damaged, or was compiled for other agents.
    pub fn new(
        set: &Arc<PolicySet>,
        agent: &AgentChain,
        list: &Path,
        opening: OpenConfig,
    ) -> Result<ListRun, EngineError> {
        let agents = vec![agent.clone()];
        let classifier = Classifier::new(Arc::clone(set), agents, Detail::Reason)
            .map_err(|error| EngineError(error.to_string()))?;
        Ok(ListRun { classifier, list: list.to_owned(), opening })
    }

    /// The time from opening the list to its counted verdicts, and how many URLs are allowed. Threads
    /// and their memory are new, so what is built on demand is built in each pass.
    ///
    /// # Errors
    ///
    /// If the list cannot be read.
    pub fn pass(&self, threads: usize) -> Result<(Duration, u64), EngineError> {
        let classifier = &self.classifier;
        let start = Instant::now();
        let source = Source::open(&self.list, self.opening);
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
        .map_err(|error| EngineError(error.to_string()))?;
        Ok((start.elapsed(), allowed))
    }
}

/// A run over the corpus's own list, among the engines that are measured.
pub(super) struct FileRun<'c> {
    corpus: &'c Corpus,
    run: Result<ListRun, EngineError>,
}

impl<'c> FileRun<'c> {
    pub fn new(corpus: &'c Corpus, opening: OpenConfig) -> FileRun<'c> {
        let run = ListRun::new(&corpus.set, &corpus.agent, &corpus.list_path, opening);
        FileRun { corpus, run }
    }

    /// One turn for each number of threads.
    pub fn turns(&self, seats: &mut [Seat<'_>], fill: Duration) {
        let is_ours = |seat: &&mut Seat<'_>| {
            seat.engine.kind() == EngineKind::BuiltIn
                && seat.engine.name() == super::engines::BASELINE
        };
        let Some(seat) = seats.iter_mut().find(is_ours) else { return };
        // URLs that no engine could be asked about are in the list too, and nobody has judged them.
        if self.corpus.left_out.not_text > 0 || !seat.verification.may_be_timed() {
            return;
        }
        let urls = self.corpus.list_records();
        for threads in thread_counts() {
            // The list has URLs too whose origin's state decides, about which no engine is asked.
            let expected = seat.verification.allowed + self.corpus.allowed_without_file;
            let turn = turn(fill, || {
                let run = self.run.as_ref().map_err(EngineError::clone)?;
                let (time, allowed) = run.pass(threads)?;
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
}

/// A damaged set allows nothing, and the count tells.
fn count_allowed(classifier: &Classifier, memory: &mut ClassifierMemory, chunk: &[u8]) -> u64 {
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
