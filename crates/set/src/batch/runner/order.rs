//! Outputs back in the order of their chunks.

use std::collections::VecDeque;

use portcullis_capture::input::{Chunk, InputError};

/// A chunk that has been worked on.
pub(super) struct Done<O> {
    pub(super) sequence: u64,
    pub(super) chunk: Chunk,
    pub(super) output: O,
    /// Why the chunk could not be worked on.
    pub(super) failure: Option<InputError>,
}

/// What is done and has yet to be written, by place. As long as the chunks in flight.
pub(super) struct Order<O> {
    /// The place of the first slot.
    next: u64,
    slots: VecDeque<Option<Done<O>>>,
}

impl<O> Order<O> {
    pub(super) fn new() -> Order<O> {
        Order { next: 0, slots: VecDeque::new() }
    }

    /// Keeps `done` until all before it are taken.
    pub(super) fn insert(&mut self, done: Done<O>) {
        let slot = usize::try_from(done.sequence - self.next).expect("few chunks are in flight");
        if slot >= self.slots.len() {
            self.slots.resize_with(slot + 1, || None);
        }
        self.slots[slot] = Some(done);
    }

    /// The next in order, if it is done.
    pub(super) fn take_next(&mut self) -> Option<Done<O>> {
        let done = self.slots.front_mut()?.take()?;
        self.slots.pop_front();
        self.next += 1;
        Some(done)
    }
}
