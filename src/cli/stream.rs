//! A run over inputs: chunks go to threads, outputs come back in order.

use std::io;

use portcullis::batch::runner::{self, Config};
use portcullis::batch::{Classifier, Session};
use portcullis::input::{ChunkConfig, Source};
use portcullis::set::Damage;

use super::mapped;
use super::output::OutputFailed;
use super::plan::{QuestionPlan, StreamPlan};
use super::progress::{Bar, Progress};

/// What came of a chunk.
#[derive(Default)]
struct Done<O> {
    output: O,
    damage: Option<Damage>,
    /// The records that had no room in the output.
    rest: Vec<u8>,
}

/// Has `work` done on every chunk of the inputs, and `sink` called with what comes of each, in the
/// order of the input. Outputs are used again: `work` begins with the last use's. It returns how many
/// bytes of the chunk it has done; the rest is worked on once the output is written.
///
/// # Errors
///
/// The first of: an input that cannot be read to its end, a policy set that is damaged, an output that
/// cannot be written. What stands before it has been handed to `sink`.
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

/// As [`run`], with what `session` makes for each thread.
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
        // It says more than what the runner made of it.
        Some(error) => Err(error),
        None => Ok(done.map(|_| ())?),
    }
}
