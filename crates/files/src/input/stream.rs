//! A stream: the bytes of an input, decompressed and buffered.
//!
//! A stream holds the buffer between the input and its consumer: chunks of records, a WARC reader,
//! or the detection of a format. Compression is detected by the first read, so creating a stream
//! never waits for a slow pipe. After an error, the bytes before it can still be used.

use std::fs::File;
use std::io::{self, Cursor, ErrorKind, Read};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use super::InputError;
use crate::compression::Coding;
use crate::limits::CHUNK_BYTES;

/// The size of the buffer unless a record is longer: a chunk and one byte, which shows that more
/// follows.
const USUAL_BYTES: usize = CHUNK_BYTES + 1;

/// The decompressed bytes of an input, in order and buffered.
pub struct Stream {
    name: String,
    state: State,
    /// The compression of the stored bytes, if known.
    coding: Option<Coding>,
    gauge: Arc<Gauge>,
    /// Always initialized. The buffered bytes are in `start..end`.
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// The position of the buffered bytes, after decompression.
    position: u64,
    /// The error that ends the stream, until it is taken.
    failure: Option<InputError>,
    /// The pipe that is read, to see whether it has bytes.
    pipe: Option<File>,
    /// The bytes that a regular file had when it was opened.
    file_bytes: u64,
}

/// Why a stream stopped reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Filled {
    /// The wanted bytes are buffered.
    Wanted,
    /// The pipe delivers nothing for now.
    Paused,
    /// The input ended, or failed.
    Ended,
}

enum State {
    /// The first bytes have not been read.
    Unread(Box<dyn Read + Send>),
    Reading(Box<dyn Read + Send>),
    AtEnd,
    /// A read failed. All later reads fail too, because the bytes after damage are not the list.
    Failed,
}

impl Stream {
    /// Returns a stream of `stored`.
    pub(super) fn new(name: String, stored: impl Read + Send + 'static) -> Stream {
        let gauge = Arc::new(Gauge::default());
        let stored = Box::new(Tap { stored, gauge: Arc::clone(&gauge) });
        Stream {
            name,
            state: State::Unread(stored),
            coding: None,
            gauge,
            buffer: Vec::new(),
            start: 0,
            end: 0,
            position: 0,
            failure: None,
            pipe: None,
            file_bytes: 0,
        }
    }

    /// Returns the stream of what `stage` reads from `stream`. It has the name of `stream`, and
    /// counts its stored bytes.
    pub(super) fn through<R: Read + Send + 'static>(
        stream: Stream,
        stage: impl FnOnce(Stream) -> R,
    ) -> Stream {
        let (name, gauge) = (stream.name.clone(), Arc::clone(&stream.gauge));
        let state = State::Reading(Box::new(stage(stream)));
        Stream { state, gauge, ..Stream::new(name, io::empty()) }
    }

    /// Makes [`Stream::fill_or_pause`] see the pauses of `pipe`, from which the stored bytes come.
    pub(super) fn watch(&mut self, pipe: Option<File>) {
        self.pipe = pipe;
    }

    /// Makes the end of a file before this many bytes an error.
    pub(super) fn expect(&mut self, file_bytes: u64) {
        self.file_bytes = file_bytes;
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the bytes read from the file or pipe so far, before decompression.
    pub fn stored_bytes(&self) -> u64 {
        self.gauge.bytes.load(Ordering::Relaxed)
    }

    /// Returns the number of bytes consumed, after decompression.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Returns the buffered bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Returns the compression of the input. Reads its first bytes if they have not been read.
    pub(super) fn coding(&mut self) -> Result<Option<Coding>, InputError> {
        self.begin();
        match self.take_failure() {
            Some(error) => Err(error),
            None => Ok(self.coding),
        }
    }

    /// Whether the input is not compressed. Reads its first bytes if they have not been read, and keeps
    /// their failure.
    pub(super) fn is_plain(&mut self) -> bool {
        self.begin();
        self.coding.is_none() && !self.has_failed()
    }

    /// Reads until `wanted` bytes are buffered or the input ends. Returns whether `wanted` bytes
    /// are buffered.
    pub fn fill(&mut self, wanted: usize) -> bool {
        while self.end - self.start < wanted && self.read_some(wanted) {}
        self.end - self.start >= wanted
    }

    /// Like [`Stream::fill`]. With a `pause`, it also stops when a pipe has delivered nothing for that
    /// long and the buffered bytes are `enough`.
    pub(super) fn fill_or_pause(
        &mut self,
        wanted: usize,
        pause: Option<Duration>,
        enough: impl Fn(&[u8]) -> bool,
    ) -> Filled {
        while self.bytes().len() < wanted {
            if let (Some(pause), Some(pipe)) = (pause, &self.pipe)
                && !self.bytes().is_empty()
                && is_quiet(pipe, pause)
                && enough(self.bytes())
            {
                return Filled::Paused;
            }
            if !self.read_some(wanted) {
                break;
            }
        }
        if self.bytes().len() < wanted { Filled::Ended } else { Filled::Wanted }
    }

    /// Returns the first bytes up to `terminator`, `bytes_max` or the end, whichever comes first,
    /// and perhaps more.
    pub(super) fn peek(&mut self, terminator: u8, bytes_max: usize) -> Result<&[u8], InputError> {
        while self.bytes().len() < bytes_max
            && memchr::memchr(terminator, self.bytes()).is_none()
            && self.read_some(bytes_max)
        {}
        match self.take_failure() {
            Some(error) => Err(error),
            None => Ok(self.bytes()),
        }
    }

    /// Drops `count` of the buffered bytes.
    pub fn consume(&mut self, count: usize) {
        debug_assert!(count <= self.end - self.start);
        self.start += count;
        self.position += count as u64;
    }

    /// Drops `count` bytes, buffered or not. Returns whether there were that many.
    pub fn skip(&mut self, mut count: u64) -> bool {
        while count > 0 && self.fill(1) {
            let at_hand = self.bytes().len();
            let part = usize::try_from(count).map_or(at_hand, |count| count.min(at_hand));
            self.consume(part);
            count -= part as u64;
        }
        count == 0
    }

    /// Drops all buffered bytes after the first `count`.
    pub(super) fn truncate(&mut self, count: usize) {
        self.end = self.end.min(self.start + count);
    }

    /// Consumes `count` of the buffered bytes and returns them as a range of the buffer, which is
    /// replaced by `next`.
    pub(super) fn split_off(&mut self, count: usize, mut next: Vec<u8>) -> (Vec<u8>, Range<usize>) {
        self.consume(count);
        let rest = self.bytes();
        if next.len() < rest.len() {
            next = vec![0; rest.len().max(USUAL_BYTES)];
        }
        next[..rest.len()].copy_from_slice(rest);
        let range = self.start - count..self.start;
        (self.start, self.end) = (0, self.end - self.start);
        (std::mem::replace(&mut self.buffer, next), range)
    }

    /// Returns the size of the buffer.
    pub(super) fn buffer_bytes(&self) -> usize {
        self.buffer.capacity()
    }

    /// Whether the buffered bytes are followed by a failure instead of the end.
    pub fn has_failed(&self) -> bool {
        matches!(self.state, State::Failed)
    }

    /// Whether the buffered bytes are the last.
    pub(super) fn is_at_end(&self) -> bool {
        matches!(self.state, State::AtEnd)
    }

    /// Takes the failure that follows the buffered bytes. `None` if there is none or it was taken.
    pub fn take_failure(&mut self) -> Option<InputError> {
        self.failure.take().or_else(|| self.has_failed().then(|| self.failed_before()))
    }

    fn failed_before(&self) -> InputError {
        let source = io::Error::other("an earlier read failed");
        InputError::Read { name: self.name.clone(), source }
    }

    /// Reads once, into a buffer with room for `wanted` bytes. Returns whether there is more to
    /// read.
    fn read_some(&mut self, wanted: usize) -> bool {
        self.begin();
        if !matches!(self.state, State::Reading(_)) {
            return false;
        }
        self.make_room(wanted);
        let State::Reading(decoded) = &mut self.state else { return false };
        match decoded.read(&mut self.buffer[self.end..]) {
            // The end of compressed data shows itself.
            Ok(0) if self.coding.is_none() && self.stored_bytes() < self.file_bytes => {
                let name = self.name.clone();
                self.fail(io::Error::other(InputError::Shrunk { name }));
            }
            Ok(0) => self.state = State::AtEnd,
            Ok(count) => self.end += count,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => self.fail(error),
        }
        matches!(self.state, State::Reading(_))
    }

    /// Makes room for `wanted` buffered bytes: moves the buffered bytes to the front if needed, and
    /// resizes the buffer if it is too small, or too large because of an earlier long record.
    fn make_room(&mut self, wanted: usize) {
        if self.start + wanted > self.buffer.len() || self.end == self.buffer.len() {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        // A long record doubles the buffer step by step, so that a large limit alone takes no
        // memory.
        let doubled = (2 * self.end).max(USUAL_BYTES);
        let bytes = wanted.clamp(USUAL_BYTES, doubled);
        if self.buffer.is_empty() {
            self.buffer = vec![0; bytes];
        } else if self.buffer.len() < bytes {
            self.buffer.resize(bytes, 0);
        } else if self.start == 0 && self.buffer.len() > 2 * bytes {
            self.buffer.truncate(bytes);
            self.buffer.shrink_to_fit();
        }
    }

    /// On the first call, detects the compression by the first bytes and inserts the decompressor.
    fn begin(&mut self) {
        let mut stored = match std::mem::replace(&mut self.state, State::Failed) {
            State::Unread(stored) => stored,
            other => {
                self.state = other;
                return;
            }
        };
        let mut first = Vec::new();
        if let Err(error) = (&mut stored).take(Coding::MAGIC_BYTES as u64).read_to_end(&mut first) {
            return self.fail(error);
        }
        if let Some(promised) = Coding::from_file_name(Path::new(&self.name))
            && promised.is_cut_short(&first)
        {
            self.coding = Some(promised);
            return self.fail(ErrorKind::UnexpectedEof.into());
        }
        self.coding = Coding::detect(&first);
        let stored = Box::new(Cursor::new(first).chain(stored));
        let decoded = match self.coding {
            None => Ok(stored as Box<dyn Read + Send>),
            Some(coding) => coding.decode(stored),
        };
        match decoded {
            Ok(decoded) => self.state = State::Reading(decoded),
            Err(error) => self.fail(error),
        }
    }

    /// Ends the stream with an error that distinguishes a system failure from truncated or damaged
    /// data.
    fn fail(&mut self, error: io::Error) {
        self.state = State::Failed;
        let name = self.name.clone();
        let system_failed = self.gauge.failed.load(Ordering::Relaxed);
        let coding = self.coding.filter(|_| !system_failed);
        self.failure = Some(match (error.downcast::<InputError>(), coding) {
            (Ok(inner), _) => inner,
            (Err(source), None) => InputError::Read { name, source },
            (Err(source), Some(coding)) if source.kind() == ErrorKind::UnexpectedEof => {
                InputError::Truncated { name, coding }
            }
            (Err(source), Some(coding)) => InputError::Damaged { name, coding, source },
        });
    }
}

/// Returns whether a pipe delivers nothing within `pause`, and has not ended either.
#[cfg(unix)]
fn is_quiet(pipe: &File, pause: Duration) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    let timeout = Timespec {
        tv_sec: pause.as_secs().try_into().unwrap_or(i64::MAX),
        tv_nsec: pause.subsec_nanos().into(),
    };
    let mut files = [PollFd::new(pipe, PollFlags::IN)];
    poll(&mut files, Some(&timeout)) == Ok(0)
}

/// Pauses of pipes are not seen on this system.
#[cfg(not(unix))]
fn is_quiet(_: &File, _: Duration) -> bool {
    false
}

/// The state of a [`Tap`].
#[derive(Default)]
struct Gauge {
    bytes: AtomicU64,
    /// Whether the underlying reader failed. An error of the decompressor is then the reader's.
    failed: AtomicBool,
}

/// Counts the stored bytes that the decompressor reads.
struct Tap<R> {
    stored: R,
    gauge: Arc<Gauge>,
}

impl<R: Read> Read for Tap<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let result = self.stored.read(out);
        match &result {
            Ok(count) => {
                self.gauge.bytes.fetch_add(*count as u64, Ordering::Relaxed);
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => self.gauge.failed.store(true, Ordering::Relaxed),
        }
        result
    }
}
