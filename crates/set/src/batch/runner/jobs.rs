//! Jobs, each of which processes one chunk on any thread, and the order of their outputs.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::events::Event;
use portcullis_io::input::{Chunk, InputError};

/// A chunk to process.
pub(super) struct Job<O> {
    /// The chunk's place in the order of the run.
    pub(super) sequence: u64,
    pub(super) chunk: Chunk,
    /// New, or as the sink left it.
    pub(super) output: O,
    pub(super) events: Sender<Event<O>>,
}

/// The state that all jobs share: the work, and the scratches that no job holds.
pub(super) struct Workers<S, Scratch, Work> {
    scratch: Scratch,
    work: Work,
    /// The most recently used scratch is taken first, because it is still cached.
    idle: Mutex<Vec<S>>,
    stopped: AtomicBool,
}

impl<S, Scratch: Fn() -> S, Work> Workers<S, Scratch, Work> {
    pub(super) fn new(scratch: Scratch, work: Work) -> Workers<S, Scratch, Work> {
        Workers { scratch, work, idle: Mutex::new(Vec::new()), stopped: AtomicBool::new(false) }
    }

    /// Processes the chunk of a job and reports to the event loop, even after a panic: the loop
    /// waits for every job.
    pub(super) fn perform<O>(&self, mut job: Job<O>)
    where
        Work: Fn(&mut S, &Chunk, &mut O),
    {
        if self.stopped.load(Ordering::Relaxed) {
            return;
        }
        // A panic leaves only the scratch and the output half-done, and both are dropped.
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
        // An event loop that is gone has stopped the run and needs no more outputs.
        events.send(event).ok();
    }

    /// Makes jobs that have not begun do nothing.
    pub(super) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    fn lock_idle(&self) -> MutexGuard<'_, Vec<S>> {
        // Nothing panics while it is held, and a list of scratches cannot be half-changed.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A processed chunk.
pub(super) struct Done<O> {
    pub(super) sequence: u64,
    pub(super) chunk: Chunk,
    pub(super) output: O,
    /// The error, if the chunk could not be processed.
    pub(super) failure: Option<InputError>,
}

/// Processed chunks that are not written yet, by position. Never longer than the number of chunks
/// in flight.
pub(super) struct Order<O> {
    /// The sequence number of the first slot.
    next: u64,
    slots: VecDeque<Option<Done<O>>>,
}

impl<O> Order<O> {
    pub(super) fn new() -> Order<O> {
        Order { next: 0, slots: VecDeque::new() }
    }

    /// Stores `done` until all earlier chunks are taken.
    pub(super) fn insert(&mut self, done: Done<O>) {
        let slot = usize::try_from(done.sequence - self.next).expect("few chunks are in flight");
        if slot >= self.slots.len() {
            self.slots.resize_with(slot + 1, || None);
        }
        self.slots[slot] = Some(done);
    }

    /// Returns the next chunk in order, if it is done.
    pub(super) fn take_next(&mut self) -> Option<Done<O>> {
        let done = self.slots.front_mut()?.take()?;
        self.slots.pop_front();
        self.next += 1;
        Some(done)
    }
}
