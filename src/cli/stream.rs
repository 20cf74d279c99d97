//! Runs over inputs: chunks go to threads, outputs come back in order.

use std::io;

use portcullis::batch::runner::{self, Config};
use portcullis::batch::{Classifier, Session};
use portcullis::input::{ChunkConfig, Source};
use portcullis::set::Damage;

use super::mapped;
use super::output::OutputFailed;
use super::plan::{QuestionPlan, StreamPlan};
use super::progress::{Bar, Progress};

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
    };
    let work_on = |session: &mut S, chunk: &[u8], done: &mut Done<O>| {
        let worked = work(session, chunk, &mut done.output);
        let bytes = *worked.as_ref().unwrap_or(&chunk.len());
        done.damage = worked.err();
        done.rest = chunk[bytes..].to_vec();
    };
    let mut own_session = None;
    let done = runner::run(sources, &config, &session, work_on, |done: &mut Done<O>| {
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
