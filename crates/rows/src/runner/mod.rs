//! Chunks in, outputs out: in input order, in bounded memory, on any number of threads.
//!
//! Owns the threads of a batch, but not their work: `work` turns the records of a chunk into an
//! output, and `sink` receives the outputs on the calling thread, in input order. The sink receives
//! the same outputs for any number of threads. If `work` stops before the end of a chunk, because its
//! output is full, the rest of the chunk is another job.
//!
//! The calling thread runs an event loop: it reads regular files, hands chunks to the threads, restores
//! the order of the outputs and calls the sink. Each other stream (pipe, gzip, zstd) has a reader thread, so
//! that decompression runs in parallel with the work. Later inputs are opened ahead, and their first chunks are
//! read in parallel ([`Config::open_ahead`]). With one thread, the calling thread does the work, and only a
//! stream has another thread.
//!
//! Rows of a Parquet file are chunks too; the thread that processes a chunk decodes its URLs. For
//! outputs that write row groups, a chunk is a row group; each thread has one at a time.
//!
//! Cost: one message and one boxed job per chunk. Memory: at most [`IN_FLIGHT_CHUNKS_PER_THREAD`]
//! chunks per thread with an output each, or fewer chunks with several outputs;
//! [`READ_AHEAD_CHUNKS`](crate::limits::READ_AHEAD_CHUNKS) more per open stream, and
//! one scratch per thread. A record that is longer than a chunk counts as several, and so do rows of a
//! Parquet file whose pages are longer: the sum of their pages has the same bound, or is one chunk.
//!
//! Errors are in [`RunError`], or come from `work` and `sink`. An input or a `work` that fails ends the
//! run after everything before the failure has been written. A sink that fails ends the run at once,
//! even while a stream's thread waits for a pipe; that thread keeps running and ends with its next
//! read. A panic of `work`, `sink` or a reader becomes a panic of [`run`].
//!
//! ```
//! use portcullis_rows::input::{Source};
//! use portcullis_rows::runner::{self, Config, RunError};
//!
//! let source = Source::from_reader("a list", &b"one\ntwo\nthree\n"[..]);
//! let mut lengths = Vec::new();
//! runner::run(
//!     [Ok(source)],
//!     &Config::default(),
//!     || (),
//!     |(), rows, output: &mut Vec<usize>| {
//!         rows.read(1, |records| {
//!             output.extend(records.iter().map(|record| record.text().len()));
//!             Ok(true)
//!         })
//!     },
//!     |_, output| {
//!         lengths.append(output);
//!         Ok::<(), RunError>(())
//!     },
//! )?;
//! assert_eq!(lengths, [3, 3, 5]);
//! # Ok::<(), runner::RunError>(())
//! ```

mod events;
mod reader;
#[cfg(test)]
mod tests;

use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use portcullis_text::figures::counted;
use rayon::ThreadPool;

use crate::input::{ChunkConfig, InputError, Source};
use crate::limits::IN_FLIGHT_CHUNKS_PER_THREAD;
use crate::list::{Arena, List, ListConfig, Noticed, Rows};
use events::{Done, Event, EventLoop, Rest};

/// Settings of a batch.
#[derive(Clone, Debug, Default)]
pub struct Config<'a> {
    /// The number of worker threads; 0, the default, means one per CPU.
    pub threads: usize,
    /// How inputs are split into chunks.
    pub chunks: ChunkConfig,
    /// How the inputs are read.
    pub lists: Arc<ListConfig>,
    /// Whether inputs are opened ahead, one per thread. Only for regular files: a pipe may deliver
    /// nothing until an earlier one is read.
    pub open_ahead: bool,
    /// A counter of the input bytes that have been processed so far, as stored (before
    /// decompression): compare it with
    /// [`Source::stored_bytes`].
    pub progress: Option<&'a AtomicU64>,
}

/// The error of threads that the system does not start.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "cannot start {}: {reason}; use fewer, or raise the limits on processes and memory (ulimit -u, ulimit -v)",
    counted(*.threads as u64, "thread")
)]
pub struct ThreadsError {
    threads: usize,
    reason: String,
}

impl ThreadsError {
    /// Returns the error of this number of threads, for the system's reason.
    pub fn new(threads: usize, reason: impl ToString) -> ThreadsError {
        ThreadsError { threads, reason: reason.to_string() }
    }
}

/// Returns the number of threads that `threads` means: one per CPU if it is 0.
pub fn thread_count(threads: usize) -> usize {
    match threads {
        0 => thread::available_parallelism().map_or(1, NonZero::get),
        threads => threads,
    }
}

/// Starts a pool of threads; 0 means one per CPU. Work that is not installed in a pool runs in a
/// global one, which panics where the system starts no threads.
///
/// # Errors
///
/// If the system does not start that many threads.
pub fn thread_pool(threads: usize) -> Result<ThreadPool, ThreadsError> {
    let threads = thread_count(threads);
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .thread_name(|index| format!("work-{index}"))
        .build()
        .map_err(|error| ThreadsError::new(threads, error))
}

/// The piece of a list whose output is being written.
pub struct Part<'a> {
    /// The list.
    pub list: &'a Arc<List>,
    /// The number of the list, from 0.
    pub number: usize,
    /// Whether this is the first piece of the list.
    pub is_first: bool,
    /// Whether this is the last piece of the list.
    pub is_last: bool,
    /// Observations on the records of the list up to here.
    pub noticed: Noticed,
}

/// An error that ended a batch.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// An input could not be opened or read, or is certainly not a list of URLs. Everything before
    /// it has been written.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The threads could not be started.
    #[error(transparent)]
    Threads(#[from] ThreadsError),
}

/// Passes every chunk of `sources` to `work`, and the outputs to `sink`, in input order.
///
/// - `scratch` creates the state that a thread keeps from chunk to chunk. It is called at most once
///   per thread.
/// - `work` receives the records of a chunk, at least one chunk per input, and an output. The output
///   is new, or as the sink left it: either the sink or `work` must clear it. Which chunks share a
///   scratch or an output depends on the threads, so results must not depend on what was left in
///   them.
/// - `sink` is called on this thread, in input order: once per chunk, or more often if `work` stops
///   early.
///
/// A last record without a terminator is not joined with the first record of the next source. A
/// sink that writes records has to add the terminator.
///
/// # Errors
///
/// See [`RunError`]. The first failure in input order is returned; `work` and `sink` have their own.
///
/// # Panics
///
/// If `scratch`, `work`, `sink`, an input's reader or the iterator of sources panics.
pub fn run<S, O, E>(
    sources: impl IntoIterator<Item = Result<Source, InputError>>,
    config: &Config<'_>,
    scratch: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, &mut Rows<'_>, &mut O) -> Result<(), E> + Sync,
    sink: impl FnMut(&Part<'_>, &mut O) -> Result<(), E>,
) -> Result<(), E>
where
    S: Send,
    O: Default + Send + 'static,
    E: From<RunError> + Send + 'static,
{
    // The scratches that no job holds. The most recently used one is taken first, because it is still
    // cached. Nothing panics while the list is locked.
    let (idle, stopped) = (&Mutex::new(Vec::new()), &AtomicBool::new(false));
    // Returns the place of the records that were not processed, if there are more, and what was
    // noticed.
    let work_on = |records: &Rest, output: &mut O| {
        let kept = idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let (mut state, mut arena) = kept.unwrap_or_else(|| (scratch(), Arena::new()));
        arena.reset();
        let mut rows = Rows::new(&records.chunk, &arena, records.place.1).of_list(records.list);
        let worked = work(&mut state, &mut rows, output).map(|()| (rows.rest(), rows.noticed()));
        idle.lock().unwrap_or_else(PoisonError::into_inner).push((state, arena));
        worked
    };
    // Reports to the event loop, even after a panic: the loop waits for every job.
    let perform = &|records: Rest, mut output: O, events: Sender<Event<O, E>>| {
        if stopped.load(Ordering::Relaxed) {
            return;
        }
        // A panic leaves only the scratch and the output half-done, and both are dropped.
        let event = match catch_unwind(AssertUnwindSafe(|| work_on(&records, &mut output))) {
            Ok(worked) => Event::Done(Done { records, output, worked }),
            Err(panic) => {
                stopped.store(true, Ordering::Relaxed);
                Event::Panicked(panic)
            }
        };
        // An event loop that is gone has stopped the run and needs no more outputs.
        events.send(event).ok();
    };
    let (sources, threads) = (sources.into_iter(), thread_count(config.threads));
    if threads == 1 {
        return EventLoop::new(sources, config, 1, sink).run(perform);
    }
    let pool = thread_pool(threads).map_err(RunError::from)?;
    let in_flight_max = threads.saturating_mul(IN_FLIGHT_CHUNKS_PER_THREAD);
    let event_loop = EventLoop::new(sources, config, in_flight_max, sink);
    pool.in_place_scope(|scope| {
        let result = event_loop.run(|records, output, events| {
            scope.spawn(move |_| perform(records, output, events));
        });
        // The scope waits for the remaining jobs; after a failure their outputs are not needed.
        stopped.store(true, Ordering::Relaxed);
        result
    })
}
