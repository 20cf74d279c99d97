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
use portcullis_files::input::{ChunkConfig, Source};
use portcullis_report::{InvalidRecords, Piece, Rejects, Watch};
use portcullis_rows::list::{List, Rows};
pub use portcullis_rows::runner::Part;
use portcullis_rows::runner::{self, Config};
use portcullis_set::batch::{Classifier, Session};

use super::limits::PAUSE;
use super::mapped;
use super::message::Notes;
use super::plan::{QuestionPlan, StreamPlan};

/// The result for the records of a chunk.
#[derive(Default)]
struct Done<O> {
    output: O,
    rejects: Rejects,
}

/// The account of a run's records.
pub struct Account {
    /// The records that are not URLs.
    pub invalid: InvalidRecords,
    /// The notes on how the lists were read that were not shown.
    pub notes: Vec<String>,
    /// How the last list was read, if that was noted.
    pub noted: String,
}

/// Calls `work` for every piece of the lists and `sink` for every output, in input order. `sink` gets the
/// records of the piece for `--rejects` too, as lines of JSON.
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
    classifier: impl Into<Arc<Classifier>>,
    work: impl Fn(&mut Session, Piece<'_, '_>, &mut O) -> anyhow::Result<()> + Sync,
    sink: impl FnMut(&Part<'_>, &[u8], &mut O) -> anyhow::Result<()>,
) -> anyhow::Result<Account> {
    let assumed_scheme = questions.assumed_scheme.as_deref();
    let classifier = classifier.into();
    let session = || Session::new(Arc::clone(&classifier)).assume_scheme(assumed_scheme);
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
    work: impl Fn(&mut S, Piece<'_, '_>, &mut O) -> anyhow::Result<()> + Sync,
    mut sink: impl FnMut(&Part<'_>, &[u8], &mut O) -> anyhow::Result<()>,
) -> anyhow::Result<Account> {
    let assumes_scheme = questions.assumed_scheme.is_some();
    let keeps_all = plan.rejects.is_some();
    let mut rejects = Vec::new();
    let mut watch = Watch::new(keeps_all, assumes_scheme).strict(plan.is_strict);
    let (mut noted, mut notes) = (plan.noted.clone(), plan.notes.clone());
    let progress = Progress::new(plan);
    let mut bar = Bar::default();
    let sources = plan.inputs.iter().map(|input| Source::open(&input.path, mapped::opening()));
    let config = Config {
        threads: plan.threads,
        // The output must not depend on how a pipe delivers.
        chunks: ChunkConfig { pause: (!plan.shows_cuts).then_some(PAUSE), ..plan.chunks },
        lists: Arc::clone(&plan.lists),
        open_ahead: plan.inputs.iter().all(|input| input.path.is_file()),
        progress: Some(progress.bytes_done()),
    };
    let work_on = |session: &mut S, rows: &mut Rows<'_>, done: &mut Done<O>| {
        done.rejects.begin(keeps_all);
        done.rejects.count_more(rows);
        work(session, Piece::new(rows, &mut done.rejects), &mut done.output)
    };
    runner::run(sources, &config, session, work_on, |part: &Part<'_>, done: &mut Done<O>| {
        if part.is_first {
            watch.begin();
            note(part.list, &mut noted, &mut notes);
        }
        rejects.clear();
        watch.see(part.list, &done.rejects, part.is_last, |record| {
            record.write_json(&mut rejects);
            anyhow::Ok(())
        })?;
        if part.is_last {
            for damage in part.list.take_damages() {
                notes.add(format!("{damage}; only what came before it was read"));
            }
        }
        progress.draw(&mut bar, Some(watch.all_records()));
        sink(part, &rejects, &mut done.output)
    })?;
    Ok(Account { invalid: watch.finish(), notes: notes.kept, noted })
}

/// Notes how a list is read if the format was detected and differs from what was `noted` last.
fn note(list: &List, noted: &mut String, notes: &mut Notes) {
    let new = list.note().unwrap_or_default();
    if !new.is_empty() && new != noted {
        notes.add(format!("{}: {new}", list.name()));
    }
    new.clone_into(noted);
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

    /// Sets the bytes read to a share of those of the inputs.
    pub fn set_share(&self, done: u64, all: u64) {
        let bytes = self.bytes_total.unwrap_or(0) as f64 * (done as f64 / all as f64);
        self.bytes_done.store(bytes as u64, Ordering::Relaxed);
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
