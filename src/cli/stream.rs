//! Runs over lists: chunks go to threads, outputs come back in order, and a progress bar shows how far.
//!
//! The bar is drawn after a chunk is written, never in the loop over URLs, and only after half a second,
//! so that short runs show none. There is none if records are printed to a terminal. Records that are
//! not URLs go to a [`Watch`], which ends the run if a list begins with nothing else.

use std::io::{self, IsTerminal};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use indicatif::{BinaryBytes, HumanCount, ProgressBar, ProgressStyle};
use portcullis_capture::input::{Chunk, ChunkConfig, Source};
use portcullis_capture::list::{Arena, List};
use portcullis_report::{Piece, Rejects};
use portcullis_set::Damage;
use portcullis_set::batch::runner::{self, Config};
use portcullis_set::batch::{Classifier, Session};

use super::mapped;
use super::output::OutputFailed;
use super::plan::{QuestionPlan, StreamPlan};
use super::rejects::{Account, Watch};

/// A piece of a list whose output is written.
pub struct Part<'a> {
    pub list: &'a List,
    /// The number of the list, from 0.
    pub number: usize,
    /// Whether the list begins.
    pub is_first: bool,
}

/// The result for a chunk.
#[derive(Default)]
struct Done<O> {
    output: O,
    rejects: Rejects,
    damage: Option<Damage>,
    /// Set by the work.
    list: Option<Arc<List>>,
    is_first: bool,
    is_last: bool,
    /// The records that did not fit the output.
    rest: Vec<u8>,
}

/// Calls `work` for every piece of the lists and `sink` for every output, in input order.
///
/// Every list has a piece, if only an empty one. Outputs are reused, so `work` receives one with the
/// content of its last use. It returns the number of bytes of the piece that it processed; the rest
/// follows after the output is written.
///
/// # Errors
///
/// The first of: an input that cannot be read to its end, or has no URLs; a damaged policy set; an
/// output that cannot be written. Outputs before it have been passed to `sink`.
pub fn run<O: Default + Send + 'static>(
    plan: &StreamPlan,
    questions: &QuestionPlan,
    classifier: &Classifier,
    work: impl Fn(&mut Session<'_>, Piece<'_>, &mut O) -> Result<usize, Damage> + Sync,
    sink: impl FnMut(&Part<'_>, &mut O) -> anyhow::Result<()>,
) -> anyhow::Result<Account> {
    let assumed_scheme = questions.assumed_scheme.as_deref();
    run_with(plan, questions, || Session::new(classifier, assumed_scheme), work, sink)
}

/// As [`run`], with a `session` per thread.
///
/// # Errors
///
/// As [`run`].
pub fn run_with<S: Send, O: Default + Send + 'static>(
    plan: &StreamPlan,
    questions: &QuestionPlan,
    session: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, Piece<'_>, &mut O) -> Result<usize, Damage> + Sync,
    mut sink: impl FnMut(&Part<'_>, &mut O) -> anyhow::Result<()>,
) -> anyhow::Result<Account> {
    let assumes_scheme = questions.assumed_scheme.is_some();
    let mut watch = Watch::open(plan.rejects.as_deref(), assumes_scheme)?;
    let keeps_all = watch.keeps_all();
    let progress = Progress::new(plan);
    let mut bar = Bar::default();
    let mut failed: Option<anyhow::Error> = None;
    let sources = plan.inputs.iter().map(|input| Source::open(&input.path, mapped::opening()));
    let config = Config {
        threads: plan.threads,
        chunks: ChunkConfig::default(),
        lists: Some(&plan.lists),
        open_ahead: plan.inputs.iter().all(|input| input.path.is_file()),
        progress: Some(progress.bytes_done()),
    };
    let scratch = || (session(), Arena::new());
    let work_on = |(session, arena): &mut (S, Arena), bytes: &[u8], done: &mut Done<O>| {
        arena.reset();
        done.rejects.begin(keeps_all);
        let list = done.list.as_deref().expect("the list is set");
        let piece = Piece::new(list, bytes, arena, &mut done.rejects);
        let worked = work(session, piece, &mut done.output);
        let end = *worked.as_ref().unwrap_or(&bytes.len());
        done.damage = worked.err();
        done.rest = bytes[end..].to_vec();
    };
    let work_on_chunk = |scratch: &mut (S, Arena), chunk: &Chunk, done: &mut Done<O>| {
        done.list = Some(Arc::clone(chunk.list()));
        (done.is_first, done.is_last) = (chunk.is_first(), chunk.is_last());
        work_on(scratch, chunk, done);
    };
    let mut own = None;
    let mut lists = 0;
    let mut write = |done: &mut Done<O>| -> anyhow::Result<()> {
        loop {
            if let Some(damage) = done.damage.take() {
                return Err(damage.into());
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
            work_on(own.get_or_insert_with(scratch), &rest, done);
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
        // It says more than the runner's error.
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
    /// The progress of `plan`, shown if it is wanted and standard error is a terminal.
    pub fn new(plan: &StreamPlan) -> Progress {
        let prints_to_terminal = plan.prints && io::stdout().is_terminal();
        let paths: Vec<&Path> = plan.inputs.iter().map(|input| &*input.path).collect();
        Progress::over(&paths, plan.progress && !prints_to_terminal)
    }

    /// The progress over the bytes of `inputs`, shown if it is wanted and standard error is a terminal.
    pub fn over(inputs: &[impl AsRef<Path>], wanted: bool) -> Progress {
        let wanted = wanted && io::stderr().is_terminal();
        Progress {
            started: Instant::now(),
            wanted,
            bytes_total: wanted.then(|| bytes_stored(inputs)).flatten(),
            bytes_done: AtomicU64::new(0),
        }
    }

    /// The counter of bytes that were read.
    pub fn bytes_done(&self) -> &AtomicU64 {
        &self.bytes_done
    }

    /// Updates the bar. `records` are those of the run so far, for their rate; without, the bar has the
    /// rate of bytes.
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

/// The bytes of all inputs, if each is a regular file.
fn bytes_stored(inputs: &[impl AsRef<Path>]) -> Option<u64> {
    let bytes = |path: &Path| {
        let metadata = path.metadata().ok()?;
        metadata.is_file().then_some(metadata.len())
    };
    inputs.iter().map(|path| bytes(path.as_ref())).sum()
}
