//! What a job does, on whatever thread runs it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::events::Event;
use super::order::Done;
use portcullis_capture::input::Chunk;

/// One chunk to be worked on.
pub(super) struct Job<O> {
    /// The chunk's place in the order of the run.
    pub(super) sequence: u64,
    pub(super) chunk: Chunk,
    /// New, or as the sink left it.
    pub(super) output: O,
    pub(super) events: Sender<Event<O>>,
}

/// What all jobs share: the work, and the scratches that no job holds just now.
pub(super) struct Workers<S, Scratch, Work> {
    scratch: Scratch,
    work: Work,
    /// The one used last is taken first, so that it is taken warm.
    idle: Mutex<Vec<S>>,
    stopped: AtomicBool,
}

impl<S, Scratch: Fn() -> S, Work> Workers<S, Scratch, Work> {
    pub(super) fn new(scratch: Scratch, work: Work) -> Workers<S, Scratch, Work> {
        Workers { scratch, work, idle: Mutex::new(Vec::new()), stopped: AtomicBool::new(false) }
    }

    /// Works on the chunk of a job and reports to the event loop, even after a panic: the loop waits
    /// for every job.
    pub(super) fn perform<O>(&self, mut job: Job<O>)
    where
        Work: Fn(&mut S, &Chunk, &mut O),
    {
        if self.stopped.load(Ordering::Relaxed) {
            return;
        }
        // What a panic leaves half-done is the scratch and the output, and both are dropped.
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let scratch = self.lock_idle().pop();
            let mut scratch = scratch.unwrap_or_else(&self.scratch);
            let loaded = job.chunk.load();
            if loaded.is_ok() {
                (self.work)(&mut scratch, &job.chunk, &mut job.output);
            }
            self.lock_idle().push(scratch);
            loaded.err()
        }));
        let Job { sequence, chunk, output, events } = job;
        let event = match outcome {
            Ok(failure) => Event::Done(Done { sequence, chunk, output, failure }),
            Err(panic) => {
                self.stop();
                Event::Panicked(panic)
            }
        };
        // An event loop that is gone has stopped the run and wants no more outputs.
        events.send(event).ok();
    }

    /// Makes the jobs that have yet to begin do nothing.
    pub(super) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    fn lock_idle(&self) -> MutexGuard<'_, Vec<S>> {
        // Nothing panics while it is held, and a list of scratches cannot be half-changed.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
