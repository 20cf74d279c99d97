//! The thread of a stream, which reads and decompresses ahead of the work, as far as it has credit.

use std::collections::VecDeque;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

use super::jobs::Event;
use crate::input::{Chunk, Chunks, InputError};
use crate::limits::READ_AHEAD_CHUNKS;

/// Permission to read one more chunk, with a used chunk whose memory can be reused.
type Credit = Option<Chunk>;

/// The event loop's side of a stream that is being read.
pub(super) struct StreamReader {
    /// The number that distinguishes its events from those of other streams.
    id: u64,
    credits: Sender<Credit>,
    credits_out: usize,
    /// Chunks that were read and not yet handed out.
    waiting: VecDeque<Chunk>,
    /// Set after the last chunk.
    end: Option<Result<(), InputError>>,
}

/// The next item of a stream.
pub(super) enum Next {
    Chunk(Chunk),
    /// Not read yet; an event will follow.
    Pending,
    End(Result<(), InputError>),
}

impl StreamReader {
    /// Starts a thread that sends every chunk to `events`.
    ///
    /// The thread is never joined: a pipe that delivers nothing may block it, and must not block a
    /// run that has failed. It ends with its first read after the loop is gone.
    pub(super) fn start<O: Send + 'static, E: Send + 'static>(
        id: u64,
        chunks: Chunks,
        events: Sender<Event<O, E>>,
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

    /// Stores what the thread has read.
    pub(super) fn receive(&mut self, read: Option<Result<Chunk, InputError>>) {
        self.credits_out -= 1;
        match read {
            Some(Ok(chunk)) => self.waiting.push_back(chunk),
            Some(Err(error)) => self.end = Some(Err(error)),
            None => self.end = Some(Ok(())),
        }
    }

    /// Returns the next chunk in order, and lets the thread read another one.
    pub(super) fn next(&mut self, spare: &mut Vec<Chunk>) -> Next {
        let chunk = self.waiting.pop_front();
        self.grant(spare);
        match chunk {
            Some(chunk) => Next::Chunk(chunk),
            None => self.end.take().map_or(Next::Pending, Next::End),
        }
    }

    /// Lets the thread read as far ahead as the bound allows.
    pub(super) fn grant(&mut self, spare: &mut Vec<Chunk>) {
        while self.end.is_none() && self.credits_out + self.waiting.len() < READ_AHEAD_CHUNKS {
            // A thread that has ended sent its end or its panic, which will be received.
            self.credits.send(spare.pop()).ok();
            self.credits_out += 1;
        }
    }
}

/// Reads chunks, one per credit.
fn read_on_credit<O, E>(
    id: u64,
    mut chunks: Chunks,
    granted: &Receiver<Credit>,
    events: &Sender<Event<O, E>>,
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
