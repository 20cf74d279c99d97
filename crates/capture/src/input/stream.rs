//! A stream: an input that is read, not mapped (a pipe, a compressed file, any reader).
//!
//! Owns the buffer between the input and its reader: chunks of records, a WARC reader, or the detection
//! of a format. The first read looks for compression, so that creating a stream never
//! waits for a slow pipe. After an error, the bytes before it can still be used.

use std::io::{self, Cursor, ErrorKind, Read};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use portcullis_dialect::limits::CHUNK_BYTES;

use super::InputError;
use crate::compression::Coding;

/// Bytes of the buffer, unless a longer record is wanted: a chunk and one byte, which shows that more
/// follows.
const USUAL_BYTES: usize = CHUNK_BYTES + 1;

/// An input's bytes in order, decompressed; those at hand are in a buffer.
pub(crate) struct Stream {
    name: String,
    state: State,
    /// How the stored bytes are compressed, as far as is known.
    coding: Option<Coding>,
    gauge: Arc<Gauge>,
    /// Initialised throughout; the bytes at hand are in `start..end`.
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// Bytes before those at hand, after decompression.
    position: u64,
    /// The error that ends the stream, until somebody takes it.
    failure: Option<InputError>,
}

enum State {
    /// The first bytes have not been looked at. The coding that the name promises, if compression is
    /// looked for at all.
    Unread {
        stored: Box<dyn Read + Send>,
        promised: Option<Option<Coding>>,
    },
    Reading(Box<dyn Read + Send>),
    AtEnd,
    /// A read failed. Every later one fails too: bytes behind damage are not the list.
    Failed,
}

impl Stream {
    /// A stream of `stored`, whose bytes are taken as they are without `decompress`.
    pub(super) fn new(
        name: String,
        stored: impl Read + Send + 'static,
        decompress: bool,
    ) -> Stream {
        let promised = decompress.then(|| Coding::of_file_name(Path::new(&name)));
        let gauge = Arc::new(Gauge::default());
        let stored = Box::new(Tap { stored, gauge: Arc::clone(&gauge) });
        Stream {
            name,
            state: State::Unread { stored, promised },
            coding: None,
            gauge,
            buffer: Vec::new(),
            start: 0,
            end: 0,
            position: 0,
            failure: None,
        }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Bytes taken from the file or pipe so far, before decompression.
    pub(crate) fn stored_bytes(&self) -> u64 {
        self.gauge.bytes.load(Ordering::Relaxed)
    }

    /// Bytes that were consumed, after decompression.
    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    /// The bytes at hand.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// How the input is compressed; reads its first bytes if nobody has.
    pub(super) fn coding(&mut self) -> Result<Option<Coding>, InputError> {
        self.begin();
        match self.take_failure() {
            Some(error) => Err(error),
            None => Ok(self.coding),
        }
    }

    /// Reads until `wanted` bytes are at hand, or all there are. Whether so many are.
    pub(crate) fn fill(&mut self, wanted: usize) -> bool {
        while self.end - self.start < wanted && self.read_some(wanted) {}
        self.end - self.start >= wanted
    }

    /// The first bytes up to `terminator`, `bytes_max` or the end, whichever comes first, and perhaps
    /// some more.
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

    /// Drops `count` of the bytes at hand.
    pub(crate) fn consume(&mut self, count: usize) {
        debug_assert!(count <= self.end - self.start);
        self.start += count;
        self.position += count as u64;
    }

    /// Drops `count` bytes, at hand or not. Whether there were so many.
    pub(crate) fn skip(&mut self, mut count: u64) -> bool {
        while count > 0 && self.fill(1) {
            let at_hand = self.bytes().len();
            let part = usize::try_from(count).map_or(at_hand, |count| count.min(at_hand));
            self.consume(part);
            count -= part as u64;
        }
        count == 0
    }

    /// Drops all bytes at hand but the first `count`.
    pub(super) fn truncate(&mut self, count: usize) {
        self.end = self.end.min(self.start + count);
    }

    /// Consumes `count` of the bytes at hand and returns them as part of the buffer, which is replaced
    /// by `next`.
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

    /// Bytes of the buffer, used or not.
    pub(super) fn buffer_bytes(&self) -> usize {
        self.buffer.capacity()
    }

    /// Whether a failure, not the end, is what follows the bytes at hand.
    pub(crate) fn has_failed(&self) -> bool {
        matches!(self.state, State::Failed)
    }

    /// Whether nothing follows the bytes at hand.
    pub(super) fn is_at_end(&self) -> bool {
        matches!(self.state, State::AtEnd)
    }

    /// The failure that follows the bytes at hand, if nobody has taken it.
    pub(crate) fn take_failure(&mut self) -> Option<InputError> {
        self.failure.take().or_else(|| self.has_failed().then(|| self.failed_before()))
    }

    fn failed_before(&self) -> InputError {
        let source = io::Error::other("an earlier read failed");
        InputError::Read { name: self.name.clone(), source }
    }

    /// Reads once, into a buffer with room for `wanted` bytes at hand. Whether there is more to read.
    fn read_some(&mut self, wanted: usize) -> bool {
        self.begin();
        if !matches!(self.state, State::Reading(_)) {
            return false;
        }
        self.make_room(wanted);
        let State::Reading(decoded) = &mut self.state else { return false };
        match decoded.read(&mut self.buffer[self.end..]) {
            Ok(0) => self.state = State::AtEnd,
            Ok(count) => self.end += count,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => self.fail(error),
        }
        matches!(self.state, State::Reading(_))
    }

    /// Moves the bytes at hand to the front if `wanted` do not fit behind them, and resizes the buffer
    /// where it is too small, or too large because of an earlier long record.
    fn make_room(&mut self, wanted: usize) {
        if self.start + wanted > self.buffer.len() || self.end == self.buffer.len() {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        // A long record doubles the buffer again and again, so that no bound takes memory unused.
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

    /// Looks at the first bytes and puts the decompressor in place, if nobody has.
    fn begin(&mut self) {
        let (mut stored, promised) = match std::mem::replace(&mut self.state, State::Failed) {
            State::Unread { stored, promised } => (stored, promised),
            other => {
                self.state = other;
                return;
            }
        };
        let mut first = Vec::new();
        if let Err(error) = (&mut stored).take(Coding::MAGIC_BYTES as u64).read_to_end(&mut first) {
            return self.fail(error);
        }
        if let Some(Some(promised)) = promised
            && promised.is_cut_short(&first)
        {
            self.coding = Some(promised);
            return self.fail(ErrorKind::UnexpectedEof.into());
        }
        self.coding = promised.and_then(|_| Coding::detect(&first));
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

    /// Ends the stream, and tells a failing system from data that is cut short or damaged.
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

/// What has come through a [`Tap`].
#[derive(Default)]
struct Gauge {
    bytes: AtomicU64,
    /// The reader below failed, so an error from above is its error and not the decompressor's.
    failed: AtomicBool,
}

/// The stored bytes on their way to the decompressor.
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
