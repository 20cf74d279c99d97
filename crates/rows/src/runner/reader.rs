//! The thread of a stream, which reads and decompresses ahead of the work, as far as there is room.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::thread;

use super::events::Event;
use crate::input::{Chunk, Chunks, InputError};
use crate::limits::READ_AHEAD_CHUNKS;

/// A chunk; `None` at the end.
pub(super) type Read = Option<Result<Chunk, InputError>>;

/// Starts a thread that reads every chunk, and tells `events` of each.
///
/// The thread is never joined: a pipe that delivers nothing may block it, and must not block a run
/// that has failed. It ends with its first read after the loop is gone.
pub(super) fn start<O: Send + 'static, E: Send + 'static>(
    chunks: Chunks,
    events: Sender<Event<O, E>>,
) -> io::Result<Receiver<Read>> {
    // The thread holds one more.
    let (out, read) = mpsc::sync_channel(READ_AHEAD_CHUNKS - 1);
    let name = "read".to_owned();
    thread::Builder::new().name(name).spawn(move || read_ahead(chunks, &out, &events))?;
    Ok(read)
}

fn read_ahead<O, E>(mut chunks: Chunks, out: &SyncSender<Read>, events: &Sender<Event<O, E>>) {
    loop {
        // The chunks are not used again after a panic.
        let read = match catch_unwind(AssertUnwindSafe(|| chunks.next())) {
            Ok(read) => read,
            Err(panic) => {
                events.send(Event::Panicked(panic)).ok();
                return;
            }
        };
        let goes_on = matches!(read, Some(Ok(_)));
        if out.send(read).is_err() || events.send(Event::Read).is_err() || !goes_on {
            return;
        }
    }
}
