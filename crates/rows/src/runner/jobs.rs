//! Jobs, each of which processes one chunk or the rest of one on any thread.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::input::Chunk;
use crate::list::{Arena, Rows};

/// A report from another thread.
pub(super) enum Event<O, E> {
    /// The thread of a stream has read a chunk, its end or its failure.
    Read,
    /// A job has processed its records.
    Done(Done<O, E>),
    /// A job or a stream's thread has panicked with this payload.
    Panicked(Box<dyn Any + Send>),
}

/// The records of a chunk after the first ones.
#[derive(Clone)]
pub(super) struct Rest {
    /// The place in the order of the run: the number of the chunk, and the place in it, as
    /// [`Rows::rest`] returns it: 0 for the whole chunk.
    pub(super) place: (u64, usize),
    pub(super) chunk: Arc<Chunk>,
    /// The number of the list, from 0.
    pub(super) list: usize,
}

/// Records to process.
pub(super) struct Job<O, E> {
    pub(super) records: Rest,
    /// New, or as the sink left it.
    pub(super) output: O,
    pub(super) events: Sender<Event<O, E>>,
}

/// The state that all jobs share: the work, and the scratches that no job holds.
pub(super) struct Workers<S, Scratch, Work> {
    scratch: Scratch,
    work: Work,
    /// The most recently used scratch is taken first, because it is still cached.
    idle: Mutex<Vec<(S, Arena)>>,
    stopped: AtomicBool,
}

impl<S, Scratch: Fn() -> S, Work> Workers<S, Scratch, Work> {
    pub(super) fn new(scratch: Scratch, work: Work) -> Workers<S, Scratch, Work> {
        Workers { scratch, work, idle: Mutex::new(Vec::new()), stopped: AtomicBool::new(false) }
    }

    /// Processes records, and returns the place of those that were not processed, if there are more.
    fn work_on<O, E>(&self, records: &Rest, output: &mut O) -> Result<Option<usize>, E>
    where
        Work: Fn(&mut S, &mut Rows<'_>, &mut O) -> Result<(), E>,
    {
        let idle = self.lock_idle().pop();
        let (mut scratch, mut arena) = idle.unwrap_or_else(|| ((self.scratch)(), Arena::new()));
        arena.reset();
        let mut rows = Rows::new(&records.chunk, &arena, records.place.1).of_list(records.list);
        let worked = (self.work)(&mut scratch, &mut rows, output).map(|()| rows.rest());
        self.lock_idle().push((scratch, arena));
        worked
    }

    /// Processes the records of a job and reports to the event loop, even after a panic: the loop
    /// waits for every job.
    pub(super) fn perform<O, E>(&self, mut job: Job<O, E>)
    where
        Work: Fn(&mut S, &mut Rows<'_>, &mut O) -> Result<(), E>,
    {
        if self.stopped.load(Ordering::Relaxed) {
            return;
        }
        // A panic leaves only the scratch and the output half-done, and both are dropped.
        let work = || self.work_on(&job.records, &mut job.output);
        let outcome = catch_unwind(AssertUnwindSafe(work));
        let Job { records, output, events } = job;
        let event = match outcome {
            Ok(worked) => Event::Done(Done { records, output, worked }),
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

    fn lock_idle(&self) -> MutexGuard<'_, Vec<(S, Arena)>> {
        // Nothing panics while it is held, and a list of scratches cannot be half-changed.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Processed records.
pub(super) struct Done<O, E> {
    pub(super) records: Rest,
    pub(super) output: O,
    /// The place of the records that are left, if there are more.
    pub(super) worked: Result<Option<usize>, E>,
}

impl<O, E> Done<O, E> {
    /// Returns the records that are left, if there are more.
    pub(super) fn rest(&self) -> Option<Rest> {
        let from = *self.worked.as_ref().ok()?.as_ref()?;
        Some(Rest { place: (self.records.place.0, from), ..self.records.clone() })
    }
}
