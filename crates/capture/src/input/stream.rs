//! An input that is read, not mapped: a pipe, a compressed file, any reader.
//!
//! The first read looks for compression, so that making a stream never waits for a slow pipe.

use std::io::{self, Cursor, ErrorKind, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::decompress::Encoding;
use super::error::InputError;

/// Bytes in order, decompressed, with errors that name the input.
pub(super) struct Stream {
    name: String,
    state: State,
    gauge: Arc<Gauge>,
    /// What [`Stream::peek`] has read and [`Stream::read`] has yet to give.
    ahead: Vec<u8>,
}

/// Whether the first bytes have been looked at.
enum State {
    /// Not yet. With a promised encoding, if compression is looked for at all.
    Unread {
        stored: Box<dyn Read + Send>,
        promised: Option<Encoding>,
    },
    Reading {
        decoded: Box<dyn Read + Send>,
        encoding: Encoding,
    },
    /// A read failed. Every later one fails too: what comes after damage is not the list.
    Failed,
}

impl Stream {
    /// A stream of `stored`; without `decompress` its bytes are taken as they are.
    pub(super) fn new(
        name: String,
        stored: impl Read + Send + 'static,
        decompress: bool,
    ) -> Stream {
        let promised = decompress.then(|| Encoding::of_name(Path::new(&name)));
        let gauge = Arc::new(Gauge::default());
        let stored = Box::new(Tap { stored, gauge: Arc::clone(&gauge) });
        Stream { name, state: State::Unread { stored, promised }, gauge, ahead: Vec::new() }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Bytes taken from the file or pipe so far, before decompression.
    pub(super) fn stored_bytes(&self) -> u64 {
        self.gauge.bytes.load(Ordering::Relaxed)
    }

    /// How the bytes are stored; reads the first of them if nobody has.
    pub(super) fn encoding(&mut self) -> Result<Encoding, InputError> {
        self.reader().map(|(_, encoding)| encoding)
    }

    /// The first bytes that are yet to be read: up to the first `terminator`, `bytes_max` or the
    /// end, whichever comes first, and perhaps some more.
    pub(super) fn peek(&mut self, terminator: u8, bytes_max: usize) -> Result<&[u8], InputError> {
        while self.ahead.len() < bytes_max && memchr::memchr(terminator, &self.ahead).is_none() {
            let read = self.ahead.len();
            let mut ahead = std::mem::take(&mut self.ahead);
            ahead.resize(bytes_max, 0);
            let count = self.read(&mut ahead[read..]);
            ahead.truncate(read + *count.as_ref().unwrap_or(&0));
            self.ahead = ahead;
            if count? == 0 {
                break;
            }
        }
        Ok(&self.ahead)
    }

    /// Reads some bytes into `out`, which is not empty; 0 is the end.
    pub(super) fn read(&mut self, out: &mut [u8]) -> Result<usize, InputError> {
        if !self.ahead.is_empty() {
            let count = self.ahead.len().min(out.len());
            out[..count].copy_from_slice(&self.ahead[..count]);
            self.ahead.drain(..count);
            return Ok(count);
        }
        let (decoded, encoding) = self.reader()?;
        match read_some(decoded, out) {
            Ok(count) => Ok(count),
            Err(error) => Err(self.fail(error, encoding)),
        }
    }

    /// The decompressing reader, made when first asked for.
    fn reader(&mut self) -> Result<(&mut dyn Read, Encoding), InputError> {
        if let State::Unread { .. } = self.state {
            self.start()?;
        }
        match &mut self.state {
            State::Reading { decoded, encoding } => Ok((decoded, *encoding)),
            State::Unread { .. } | State::Failed => Err(InputError::Read {
                name: self.name.clone(),
                source: io::Error::other("an earlier read failed"),
            }),
        }
    }

    /// Looks at the first bytes and puts the decompressor in place.
    fn start(&mut self) -> Result<(), InputError> {
        let State::Unread { mut stored, promised } =
            std::mem::replace(&mut self.state, State::Failed)
        else {
            return Ok(());
        };
        let first =
            first_bytes(&mut stored).map_err(|error| self.fail(error, Encoding::Identity))?;
        let encoding = match promised {
            None => Encoding::Identity,
            Some(promised) if promised.is_cut_short(&first) => {
                return Err(self.fail(ErrorKind::UnexpectedEof.into(), promised));
            }
            Some(_) => Encoding::detect(&first),
        };
        let decoded = encoding
            .decode(Box::new(Cursor::new(first).chain(stored)))
            .map_err(|error| self.fail(error, encoding))?;
        self.state = State::Reading { decoded, encoding };
        Ok(())
    }

    /// Ends the stream for good, and tells a failing system from data that is cut short or damaged.
    fn fail(&mut self, source: io::Error, encoding: Encoding) -> InputError {
        self.state = State::Failed;
        let name = self.name.clone();
        if encoding == Encoding::Identity || self.gauge.failed.load(Ordering::Relaxed) {
            InputError::Read { name, source }
        } else if source.kind() == ErrorKind::UnexpectedEof {
            InputError::Truncated { name, encoding }
        } else {
            InputError::Damaged { name, encoding, source }
        }
    }
}

/// As many of the first bytes as detection needs, or all there are.
fn first_bytes(stored: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut first = Vec::new();
    stored.take(Encoding::MAGIC_BYTES as u64).read_to_end(&mut first)?;
    Ok(first)
}

/// One read that a signal does not end.
fn read_some(reader: &mut dyn Read, out: &mut [u8]) -> io::Result<usize> {
    loop {
        match reader.read(out) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            result => return result,
        }
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
