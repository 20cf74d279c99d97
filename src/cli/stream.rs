//! Runs over lists: threads work on chunks, outputs are written in order, and a bar shows progress.
//!
//! The bar is drawn after a chunk is written, never in the loop over URLs. It appears after half a
//! second, so short runs show none. It is not drawn if records are printed to a terminal. A
//! [`Watch`] collects the records that are not URLs, and ends the run if a list begins with nothing
//! else.

use std::io::{self, IsTerminal};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use indicatif::{BinaryBytes, HumanCount, ProgressBar, ProgressStyle};
use portcullis_io::input::{Chunk, Source};
use portcullis_io::list::{Arena, Contents, List, Rest};
use portcullis_report::{Piece, Rejects};
use portcullis_set::batch::runner::{self, Config};
use portcullis_set::batch::{Classifier, Session};

use super::mapped;
use super::output::OutputFailed;
use super::plan::{QuestionPlan, StreamPlan};
use super::rejects::{Account, Watch};

/// The piece of a list whose output is being written.
pub struct Part<'a> {
    pub list: &'a List,
    /// The number of the list, from 0.
    pub number: usize,
    /// Whether this is the first piece of the list.
    pub is_first: bool,
}

/// The result for a chunk.
#[derive(Default)]
struct Done<O> {
    output: O,
    rejects: Rejects,
    failure: Option<anyhow::Error>,
    /// Set by the worker.
    list: Option<Arc<List>>,
    is_first: bool,
    is_last: bool,
    /// The records that did not fit into the output.
    rest: Rest,
}

/// How far a piece was processed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Worked {
    /// To its end.
    Whole,
    /// The first `records` records, `bytes` bytes long. The rest follows after the output is
    /// written.
    Until { records: u64, bytes: u64 },
}

/// Calls `work` for every piece of the lists and `sink` for every output, in input order.
///
/// Every list has at least one piece, which may be empty. Outputs are reused, so `work` receives an
/// output that still holds its previous content.
///
/// # Errors
///
/// The first of: an input that cannot be read to its end, or has no URLs; a damaged policy set; an
/// output that cannot be written. Outputs before it have been passed to `sink`.
pub fn run<O: Default + Send + 'static>(
    plan: &StreamPlan,
    questions: &QuestionPlan,
    classifier: Classifier,
    work: impl Fn(&mut Session, Piece<'_>, &mut O) -> anyhow::Result<Worked> + Sync,
    sink: impl FnMut(&Part<'_>, &mut O) -> anyhow::Result<()>,
) -> anyhow::Result<Account> {
    let assumed_scheme = questions.assumed_scheme.as_deref();
    let classifier = Arc::new(classifier);
    let session = || Session::new(Arc::clone(&classifier), assumed_scheme);
    run_with(plan, questions, session, work, sink)
}

/// Like [`run`], with a `session` per thread.
///
/// # Errors
///
/// As [`run`].
pub fn run_with<S: Send, O: Default + Send + 'static>(
    plan: &StreamPlan,
    questions: &QuestionPlan,
    session: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, Piece<'_>, &mut O) -> anyhow::Result<Worked> + Sync,
    mut sink: impl FnMut(&Part<'_>, &mut O) -> anyhow::Result<()>,
) -> anyhow::Result<Account> {
    let assumes_scheme = questions.assumed_scheme.is_some();
    let mut watch = Watch::open(plan.rejects.as_ref(), assumes_scheme)?;
    let keeps_all = watch.keeps_all();
    let progress = Progress::new(plan);
    let mut bar = Bar::default();
    let mut failed: Option<anyhow::Error> = None;
    let sources = plan.inputs.iter().map(|input| Source::open(&input.path, mapped::opening()));
    let config = Config {
        threads: plan.threads,
        chunks: plan.chunks,
        lists: Some(&plan.lists),
        open_ahead: plan.inputs.iter().all(|input| input.path.is_file()),
        progress: Some(progress.bytes_done()),
    };
    let scratch = || (session(), Arena::new());
    let work_on = |(session, arena): &mut (S, Arena), chunk: Contents<'_>, done: &mut Done<O>| {
        arena.reset();
        done.rejects.begin(keeps_all);
        let list = done.list.as_deref().expect("the list is set");
        let piece = Piece::new(list, chunk, arena, &mut done.rejects);
        done.rest = Rest::default();
        match work(session, piece, &mut done.output) {
            Ok(Worked::Whole) => {}
            Ok(Worked::Until { records, bytes }) => done.rest = chunk.rest_after(records, bytes),
            Err(error) => done.failure = Some(error),
        }
    };
    let work_on_chunk = |scratch: &mut (S, Arena), chunk: &Chunk, done: &mut Done<O>| {
        done.list = Some(Arc::clone(chunk.list()));
        (done.is_first, done.is_last) = (chunk.is_first(), chunk.is_last());
        work_on(scratch, chunk.contents(), done);
    };
    let mut own = None;
    let mut lists = 0;
    let mut write = |done: &mut Done<O>| -> anyhow::Result<()> {
        loop {
            if let Some(error) = done.failure.take() {
                return Err(error);
            }
            let list = done.list.clone().expect("the list is set");
            let is_first = std::mem::take(&mut done.is_first);
            if is_first {
                lists += 1;
                watch.begin(&list);
            }
            watch.see(&list, &done.rejects, done.is_last && done.rest.is_empty())?;
            progress.draw(&mut bar, Some(watch.all_records()));
            sink(&Part { list: &list, number: lists - 1, is_first }, &mut done.output)?;
            if done.rest.is_empty() {
                return Ok(());
            }
            let rest = std::mem::take(&mut done.rest);
            work_on(own.get_or_insert_with(scratch), rest.contents(), done);
        }
    };
    let done = runner::run(sources, &config, scratch, work_on_chunk, |done: &mut Done<O>| {
        write(done).map_err(|error| {
            let kind = error.downcast_ref().map_or(io::ErrorKind::InvalidData, OutputFailed::kind);
            failed = Some(error);
            kind.into()
        })
    });
    match (failed, done) {
        // This error is more specific than the runner's.
        (Some(error), _) => Err(error),
        (None, done) => {
            done?;
            Ok(watch.finish())
        }
    }
}

/// The time before the bar is shown.
const SILENCE: Duration = Duration::from_millis(500);

pub struct Progress {
    started: Instant,
    wanted: bool,
    bytes_total: Option<u64>,
    bytes_done: AtomicU64,
}

/// The bar, once it is shown.
#[derive(Default)]
pub struct Bar(Option<ProgressBar>);

impl Progress {
    /// Returns the progress of `plan`, shown if requested and if standard error is a terminal.
    pub fn new(plan: &StreamPlan) -> Progress {
        let prints_to_terminal = plan.prints && io::stdout().is_terminal();
        let paths: Vec<&Path> = plan.inputs.iter().map(|input| &*input.path).collect();
        Progress::over(&paths, plan.progress && !prints_to_terminal)
    }

    /// Returns the progress over the bytes of `inputs`, shown if `wanted` and if standard error is
    /// a terminal.
    pub fn over(inputs: &[impl AsRef<Path>], wanted: bool) -> Progress {
        let wanted = wanted && io::stderr().is_terminal();
        Progress {
            started: Instant::now(),
            wanted,
            bytes_total: wanted.then(|| bytes_stored(inputs)).flatten(),
            bytes_done: AtomicU64::new(0),
        }
    }

    /// Returns the counter of bytes read.
    pub fn bytes_done(&self) -> &AtomicU64 {
        &self.bytes_done
    }

    /// Updates the bar. It shows the rate of `records`, the number so far, or the rate of bytes if
    /// `records` is `None`.
    pub fn draw(&self, bar: &mut Bar, records: Option<u64>) {
        let elapsed = self.started.elapsed();
        if self.wanted && elapsed > SILENCE {
            let bar = bar.0.get_or_insert_with(|| self.bar());
            let bytes = self.bytes_done.load(Ordering::Relaxed);
            bar.set_position(bytes);
            let rate = |amount: u64| (amount as f64 / elapsed.as_secs_f64()) as u64;
            bar.set_message(match records {
                Some(records) => format!("{} URL/s", HumanCount(rate(records))),
                None => format!("{}/s", BinaryBytes(rate(bytes))),
            });
        }
    }

    fn bar(&self) -> ProgressBar {
        let (bar, template) = match self.bytes_total {
            Some(total) => (
                ProgressBar::new(total),
                "{bar:40} {binary_bytes} of {binary_total_bytes}, {msg}, {eta} left",
            ),
            None => (ProgressBar::new_spinner(), "{spinner} {binary_bytes}, {msg}"),
        };
        match ProgressStyle::with_template(template) {
            Ok(style) => bar.with_style(style),
            Err(_) => bar,
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}

/// Returns the size of all inputs, or `None` unless each is a regular file.
fn bytes_stored(inputs: &[impl AsRef<Path>]) -> Option<u64> {
    let bytes = |path: &Path| {
        let metadata = path.metadata().ok()?;
        metadata.is_file().then_some(metadata.len())
    };
    inputs.iter().map(|path| bytes(path.as_ref())).sum()
}
