//! The thread of a stream: reads and decompresses beside the work, as far ahead as it has credit.

use std::collections::VecDeque;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

use super::events::Event;
use portcullis_capture::input::{Chunk, Chunks, InputError};
use portcullis_dialect::limits::READ_AHEAD_CHUNKS;

/// Leave to read one more chunk, with a used one whose memory may serve again.
type Credit = Option<Chunk>;

/// The event loop's side of a stream that is being read.
pub(super) struct StreamReader {
    /// Tells its events from those of other streams.
    id: u64,
    credits: Sender<Credit>,
    credits_out: usize,
    /// Read and not yet handed on.
    waiting: VecDeque<Chunk>,
    /// Set after the last chunk.
    end: Option<Result<(), InputError>>,
}

/// What a stream has for the event loop.
pub(super) enum Next {
    Chunk(Chunk),
    /// Nothing yet; an event will come.
    Pending,
    End(Result<(), InputError>),
}

impl StreamReader {
    /// Starts a thread that tells `events` of every chunk.
    ///
    /// Nobody waits for the thread to end: it may be held by a pipe that delivers nothing, and a
    /// run that has failed must not be. It ends with the first read after the loop is gone.
    pub(super) fn start<O: Send + 'static>(
        id: u64,
        chunks: Chunks,
        events: Sender<Event<O>>,
    ) -> io::Result<StreamReader> {
        let (credits, granted) = mpsc::channel();
        thread::Builder::new()
            .name("read".to_owned())
            .spawn(move || read_on_credit(id, chunks, &granted, &events))?;
        Ok(StreamReader { id, credits, credits_out: 0, waiting: VecDeque::new(), end: None })
    }

    pub(super) fn id(&self) -> u64 {
        self.id
    }

    /// Takes note of what the thread has read.
    pub(super) fn receive(&mut self, read: Option<Result<Chunk, InputError>>) {
        self.credits_out -= 1;
        match read {
            Some(Ok(chunk)) => self.waiting.push_back(chunk),
            Some(Err(error)) => self.end = Some(Err(error)),
            None => self.end = Some(Ok(())),
        }
    }

    /// The next chunk in order; gives leave to read another in its place.
    pub(super) fn next(&mut self, spare: &mut Vec<Chunk>) -> Next {
        let chunk = self.waiting.pop_front();
        self.grant(spare);
        match chunk {
            Some(chunk) => Next::Chunk(chunk),
            None => self.end.take().map_or(Next::Pending, Next::End),
        }
    }

    /// Gives leave to read as far ahead as the bound allows.
    pub(super) fn grant(&mut self, spare: &mut Vec<Chunk>) {
        while self.end.is_none() && self.credits_out + self.waiting.len() < READ_AHEAD_CHUNKS {
            // A thread that is gone has sent its end or its panic, which will be received.
            self.credits.send(spare.pop()).ok();
            self.credits_out += 1;
        }
    }
}

/// The thread's side.
fn read_on_credit<O>(
    id: u64,
    mut chunks: Chunks,
    granted: &Receiver<Credit>,
    events: &Sender<Event<O>>,
) {
    for credit in granted {
        if let Some(used) = credit {
            chunks.recycle(used);
        }
        // The chunks are not used again after a panic.
        let event = catch_unwind(AssertUnwindSafe(|| chunks.next()))
            .map_or_else(Event::Panicked, |read| Event::Read(id, read));
        let goes_on = matches!(event, Event::Read(_, Some(Ok(_))));
        if events.send(event).is_err() || !goes_on {
            return;
        }
    }
}
