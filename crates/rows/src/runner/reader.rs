//! The thread of a stream, which reads and decompresses ahead of the work, as far as there is room.

use std::any::Any;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread;

use crate::input::{Chunk, Chunks, InputError};
use crate::limits::READ_AHEAD_CHUNKS;

/// A chunk; `None` at the end.
pub(super) type Read = Option<Result<Chunk, InputError>>;

/// The payload of a thread's panic.
pub(super) type Panic = Box<dyn Any + Send>;

/// Starts a thread that reads every chunk, and calls `tell` after each, with its panic if it panicked, as long
/// as that returns true.
///
/// The thread is never joined: a pipe that delivers nothing may block it, and must not block a run
/// that has failed. It ends with its first read after the loop is gone.
pub(super) fn start(
    chunks: Chunks,
    tell: impl Fn(Option<Panic>) -> bool + Send + 'static,
) -> io::Result<Receiver<Read>> {
    // The thread holds one more.
    let (out, read) = mpsc::sync_channel(READ_AHEAD_CHUNKS - 1);
    let name = "read".to_owned();
    thread::Builder::new().name(name).spawn(move || read_ahead(chunks, &out, tell))?;
    Ok(read)
}

fn read_ahead(mut chunks: Chunks, out: &SyncSender<Read>, tell: impl Fn(Option<Panic>) -> bool) {
    loop {
        // The chunks are not used again after a panic.
        let read = match catch_unwind(AssertUnwindSafe(|| chunks.next())) {
            Ok(read) => read,
            Err(panic) => {
                tell(Some(panic));
                return;
            }
        };
        let goes_on = matches!(read, Some(Ok(_)));
        if out.send(read).is_err() || !tell(None) || !goes_on {
            return;
        }
    }
}
