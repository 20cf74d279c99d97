//! Chunks in, outputs out: in input order, in bounded memory, on any number of threads.
//!
//! Owns the threads of a batch and nothing of what they do: `work` turns a chunk of whole records
//! into an output, and `sink` takes the outputs on the calling thread, in input order. What the sink
//! sees is the same for any number of threads.
//!
//! The calling thread runs an event loop: it cuts mapped files (which costs next to nothing), hands
//! chunks to the threads, puts the outputs in order and calls the sink. A stream (pipe, gzip, zstd)
//! is read by a thread of its own, so that decompression runs beside the work. Of several inputs the
//! next ones are opened ahead, and their first chunks are read side by side ([`Config::open_ahead`]).
//! With one thread the work is done by the calling thread, and only a stream has a thread beside it.
//!
//! Cost: one message and one boxed job a chunk. Memory: at most
//! [`IN_FLIGHT_CHUNKS_PER_THREAD`] chunks a thread and
//! their outputs, [`READ_AHEAD_CHUNKS`](portcullis_dialect::limits::READ_AHEAD_CHUNKS) more of each open
//! stream, and one scratch a thread. A record that is longer than a chunk counts as several.
//!
//! What can fail is in [`RunError`]. An input that fails ends the run after everything before the
//! failure has been written; a sink that fails ends it at once, even while a stream's thread waits
//! for a pipe (that thread is left behind and ends with its next read). A panic of `work`, `sink` or
//! a reader becomes a panic of [`run`].
//!
//! ```
//! use portcullis_set::batch::runner::{self, Config};
//! use portcullis_capture::input::{OpenConfig, Source};
//! use portcullis_capture::list::Arena;
//!
//! let source = Source::from_reader("a list", &b"one\ntwo\nthree\n"[..], OpenConfig::default());
//! let mut lengths = Vec::new();
//! let totals = runner::run(
//!     [Ok(source)],
//!     &Config::default(),
//!     || (),
//!     |(), chunk, output: &mut Vec<usize>| {
//!         output.extend(chunk.records(&Arena::new()).map(|record| record.text().len()));
//!     },
//!     |output| {
//!         lengths.append(output);
//!         Ok(())
//!     },
//! )?;
//! assert_eq!(lengths, [3, 3, 5]);
//! assert_eq!(totals.bytes, 14);
//! # Ok::<(), runner::RunError>(())
//! ```

mod events;
mod order;
mod reader;
#[cfg(test)]
mod tests;
mod workers;

use std::io;
use std::num::NonZero;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::thread;

use events::EventLoop;
use portcullis_capture::input::{Chunk, ChunkConfig, InputError, Source};
use portcullis_capture::list::ListConfig;
use portcullis_dialect::limits::IN_FLIGHT_CHUNKS_PER_THREAD;
use workers::Workers;

/// How a batch is run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Config<'a> {
    /// Threads that work; 0, the default, is as many as the machine has.
    pub threads: usize,
    /// Where the input is cut.
    pub chunks: ChunkConfig,
    /// How the formats of the inputs are found; `None` if all are plain lines.
    pub lists: Option<&'a Arc<ListConfig>>,
    /// Whether inputs are opened before their turn, one for each thread. Only for regular files: a pipe
    /// may be silent until an earlier one was read.
    pub open_ahead: bool,
    /// Counts up, while the batch runs, the bytes of the inputs that are done with, as they are
    /// stored (before decompression): compare it with
    /// [`Source::stored_bytes`](portcullis_capture::input::Source::stored_bytes).
    pub progress: Option<&'a AtomicU64>,
}

impl Config<'_> {
    fn thread_count(&self) -> usize {
        match self.threads {
            0 => thread::available_parallelism().map_or(1, NonZero::get),
            threads => threads,
        }
    }
}

/// What went through a batch that came to its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunTotals {
    /// Inputs that were opened.
    pub sources: u64,
    /// Chunks that were worked on and written.
    pub chunks: u64,
    /// Their bytes, after decompression.
    pub bytes: u64,
    /// The bytes that were read for them, before decompression.
    pub stored_bytes: u64,
}

/// Why a batch did not come to its end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// An input could not be opened or read, or is surely no list of URLs. What came before has been
    /// written.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The sink failed: a closed pipe ([`io::ErrorKind::BrokenPipe`]), a full disk.
    #[error("cannot write the output")]
    Output(#[source] io::Error),
    /// The threads could not be started.
    #[error("cannot start {threads} threads: ask for fewer")]
    Threads {
        /// How many were asked for.
        threads: usize,
        /// What the system says.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// Runs every chunk of `sources`, in order, through `work` and its output to `sink`.
///
/// - `scratch` makes what a thread keeps from chunk to chunk; it is called at most once a thread.
/// - `work` is given a chunk of whole records, at least one of each input, and an output, which is new or comes back from the
///   sink as the sink left it: one of the two clears it. Which chunks share a scratch or an output
///   depends on the threads, so what is written must not depend on what was left in them.
/// - `sink` is called on this thread, once a chunk, in input order.
///
/// A last record without an end is not joined with the first one of the next source; a sink that
/// writes records has to put an end between them.
///
/// # Errors
///
/// See [`RunError`]; the first failure in input order is the one that is returned, but a failing
/// sink comes before all.
///
/// # Panics
///
/// If `scratch`, `work`, `sink`, an input's reader or the iterator of sources panics.
pub fn run<S, O>(
    sources: impl IntoIterator<Item = Result<Source, InputError>>,
    config: &Config<'_>,
    scratch: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, &Chunk, &mut O) + Sync,
    sink: impl FnMut(&mut O) -> io::Result<()>,
) -> Result<RunTotals, RunError>
where
    S: Send,
    O: Default + Send + 'static,
{
    let threads = config.thread_count();
    let workers = Workers::new(scratch, work);
    let sources = sources.into_iter();
    if threads == 1 {
        return EventLoop::new(sources, config, 1, sink).run(|job| workers.perform(job));
    }
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .thread_name(|index| format!("work-{index}"))
        .build()
        .map_err(|error| RunError::Threads { threads, source: Box::new(error) })?;
    let in_flight_max = threads.saturating_mul(IN_FLIGHT_CHUNKS_PER_THREAD);
    let event_loop = EventLoop::new(sources, config, in_flight_max, sink);
    pool.in_place_scope(|scope| {
        let workers = &workers;
        let result = event_loop.run(|job| scope.spawn(move |_| workers.perform(job)));
        // The scope waits for the jobs that are left; after a failure nobody wants their outputs.
        workers.stop();
        result
    })
}
