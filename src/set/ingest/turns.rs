//! Who reads which input next, of many threads.
//!
//! A thread takes an input, cuts the next piece off it, puts it back for another thread, and then
//! reads the piece. So at most one thread cuts an input, at most as many inputs are open as there
//! are threads, and each thread holds one piece.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::capture::BatchReader;

/// The inputs that are not read to their ends.
pub(super) struct Turns {
    inputs: Mutex<Inputs>,
    changed: Condvar,
}

struct Inputs {
    /// The first input that was not opened.
    next: usize,
    count: usize,
    /// Open inputs that no thread has.
    waiting: Vec<OpenInput>,
    /// Inputs that some thread has.
    taken: usize,
}

/// An input that was opened.
pub(super) struct OpenInput {
    pub(super) input: u32,
    pub(super) reader: Box<dyn BatchReader>,
    /// Pieces that were cut off.
    pub(super) pieces: u32,
}

/// What a thread has to do with an input that no other thread has meanwhile.
pub(super) enum Turn<'t> {
    /// Open it.
    Open(usize, Taken<'t>),
    /// Cut off its next piece.
    Read(OpenInput, Taken<'t>),
}

/// The right to an input; it is at its end if this is dropped.
pub(super) struct Taken<'t>(&'t Turns);

impl Turns {
    /// The turns of so many inputs.
    pub(super) fn new(count: usize) -> Turns {
        let inputs = Inputs { next: 0, count, waiting: Vec::new(), taken: 0 };
        Turns { inputs: Mutex::new(inputs), changed: Condvar::new() }
    }

    /// The next turn; waits for one. Nothing when all inputs are at their ends.
    pub(super) fn take(&self) -> Option<Turn<'_>> {
        let mut inputs = self.lock();
        loop {
            if let Some(open) = inputs.waiting.pop() {
                inputs.taken += 1;
                return Some(Turn::Read(open, Taken(self)));
            }
            if inputs.next < inputs.count {
                inputs.taken += 1;
                inputs.next += 1;
                return Some(Turn::Open(inputs.next - 1, Taken(self)));
            }
            if inputs.taken == 0 {
                return None;
            }
            inputs = self.changed.wait(inputs).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Nothing can panic while the lock is held, so there is nothing that a panic could spoil.
    fn lock(&self) -> MutexGuard<'_, Inputs> {
        self.inputs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Taken<'_> {
    /// Gives the input back, for whoever has time.
    pub(super) fn put_back(self, open: OpenInput) {
        self.0.lock().waiting.push(open);
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        // Also when a thread panics: the others would wait for the input for ever.
        self.0.lock().taken -= 1;
        self.0.changed.notify_all();
    }
}
