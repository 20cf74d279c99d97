//! Runs over inputs: chunks go to threads, outputs come back in order, and a progress bar shows how far.
//!
//! The bar is drawn after a chunk is written, never in the loop over URLs, and only after half a second,
//! so that short runs show none. There is none if records are printed to a terminal.

use std::io::{self, IsTerminal};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use portcullis_capture::input::{Chunk, ChunkConfig, Source};
use portcullis_set::Damage;
use portcullis_set::batch::runner::{self, Config};
use portcullis_set::batch::{Classifier, Session};

use super::mapped;
use super::output::OutputFailed;
use super::plan::{QuestionPlan, StreamPlan};

/// The result for a chunk.
#[derive(Default)]
struct Done<O> {
    output: O,
    damage: Option<Damage>,
    /// The records that did not fit the output.
    rest: Vec<u8>,
}

/// Calls `work` for every chunk of the inputs and `sink` for every output, in input order.
///
/// Outputs are reused, so `work` receives one with the content of its last use. It returns the number of
/// bytes of the chunk that it processed; the rest follows after the output is written.
///
/// # Errors
///
/// The first of: an input that cannot be read to its end, a damaged policy set, an output that cannot be
/// written. Outputs before it have been passed to `sink`.
pub fn run<O: Default + Send + 'static>(
    plan: &StreamPlan,
    questions: &QuestionPlan,
    classifier: &Classifier,
    work: impl Fn(&mut Session<'_>, &[u8], &mut O) -> Result<usize, Damage> + Sync,
    sink: impl FnMut(&mut O) -> Result<(), OutputFailed>,
) -> anyhow::Result<()> {
    let assumed_scheme = questions.assumed_scheme.as_deref();
    run_with(plan, || Session::new(classifier, assumed_scheme), work, sink)
}

/// As [`run`], with a `session` per thread.
///
/// # Errors
///
/// As [`run`].
pub fn run_with<S: Send, O: Default + Send + 'static>(
    plan: &StreamPlan,
    session: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, &[u8], &mut O) -> Result<usize, Damage> + Sync,
    mut sink: impl FnMut(&mut O) -> Result<(), OutputFailed>,
) -> anyhow::Result<()> {
    let progress = Progress::new(plan);
    let mut bar = Bar::default();
    let mut failed: Option<anyhow::Error> = None;
    let sources = plan.inputs.iter().map(|path| Source::open(path, mapped::opening()));
    let config = Config {
        threads: plan.threads,
        chunks: ChunkConfig { terminator: plan.terminator, ..ChunkConfig::default() },
        progress: Some(progress.bytes_done()),
        ..Config::default()
    };
    let work_on = |session: &mut S, chunk: &[u8], done: &mut Done<O>| {
        let worked = work(session, chunk, &mut done.output);
        let bytes = *worked.as_ref().unwrap_or(&chunk.len());
        done.damage = worked.err();
        done.rest = chunk[bytes..].to_vec();
    };
    let mut own_session = None;
    let on_chunk =
        |session: &mut S, chunk: &Chunk, done: &mut Done<O>| work_on(session, chunk, done);
    let done = runner::run(sources, &config, &session, on_chunk, |done: &mut Done<O>| {
        loop {
            progress.draw(&mut bar);
            if let Some(damage) = done.damage.take() {
                failed = Some(damage.into());
                return Err(io::ErrorKind::InvalidData.into());
            }
            sink(&mut done.output).map_err(|error| {
                let kind = error.kind();
                failed = Some(error.into());
                io::Error::from(kind)
            })?;
            if done.rest.is_empty() {
                return Ok(());
            }
            let rest = std::mem::take(&mut done.rest);
            work_on(own_session.get_or_insert_with(&session), &rest, done);
        }
    });
    match failed {
        // It says more than the runner's error.
        Some(error) => Err(error),
        None => Ok(done.map(|_| ())?),
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
        Progress::over(&plan.inputs, plan.progress && !prints_to_terminal)
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

    /// Updates the bar.
    pub fn draw(&self, bar: &mut Bar) {
        if self.wanted && self.started.elapsed() > SILENCE {
            let bar = bar.0.get_or_insert_with(|| self.bar());
            bar.set_position(self.bytes_done.load(Ordering::Relaxed));
        }
    }

    fn bar(&self) -> ProgressBar {
        let (bar, template) = match self.bytes_total {
            Some(total) => (
                ProgressBar::new(total),
                "{bar:40} {binary_bytes} of {binary_total_bytes}, {binary_bytes_per_sec}, {eta} left",
            ),
            None => {
                (ProgressBar::new_spinner(), "{spinner} {binary_bytes}, {binary_bytes_per_sec}")
            }
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
