//! An opened input: its bytes, decompressed and buffered.
//!
//! A [`Source`] opens a path, standard input or any reader. It holds the buffer between the input and
//! its consumer: chunks of records, a WARC reader, or the detection of a format. Compression is
//! detected by the first read, so opening an input never waits for a slow pipe. After an error, the
//! bytes before it can still be used.

#![allow(unsafe_code, reason = "declares the contract of mapped lists")]

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufRead, Cursor, ErrorKind, Read, Seek};
use std::ops::{Deref, Range};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use portcullis_robots::syntax::BYTE_ORDER_MARK;

use super::InputError;
use super::mapping::Mapping;
use crate::compression::Coding;
use crate::error::STANDARD_INPUT;
use crate::kind::{FileKind, Wanted};
use crate::limits::{CHUNK_BYTES, COMPRESSED_READ_BYTES, GZIP_MEMBERS_KNOWN_MAX};

/// Bytes per read.
const READ_BYTES: usize = COMPRESSED_READ_BYTES;

/// The size of the buffer unless a record is longer: a chunk, and what is read beyond it.
const USUAL_BYTES: usize = CHUNK_BYTES + READ_BYTES;

/// An opened input: its decompressed bytes, in order and buffered.
///
/// ```no_run
/// use std::path::Path;
/// use portcullis_files::input::{ChunkConfig, Framing, Source, Terminator, TextChunks};
///
/// let source = Source::open(Path::new("urls.txt.gz"))?;
/// let mut chunks = TextChunks::new(source, ChunkConfig::default());
/// while let Some(chunk) = chunks.next(Framing::Byte(Terminator::LineFeed))? {
///     println!("{} bytes of whole lines", chunk.len());
/// }
/// # Ok::<(), portcullis_files::input::InputError>(())
/// ```
pub struct Source {
    name: String,
    /// The file or pipe itself, if there is one and the system gives a second handle to it. Formats that
    /// are not read from the beginning need it.
    file: Option<File>,
    /// The places where the input begins and ends in a regular file.
    range: Option<Range<u64>>,
    /// Whether a plain file is to be mapped, see [`Source::mapped`].
    maps: bool,
    state: State,
    /// The compression of the stored bytes, if known.
    coding: Option<Coding>,
    gauge: Arc<Gauge>,
    /// The buffered bytes, after those that were consumed.
    buffer: Vec<u8>,
    spare: Spare,
    /// The number of bytes of the buffer that were read. Those after them are room to read into.
    end: usize,
    /// The whole file, which then takes the place of the buffer.
    mapping: Option<Arc<Mapping>>,
    /// The number of bytes of the buffer or the file that were consumed.
    start: usize,
    /// The position of the buffered bytes, after decompression.
    position: u64,
    /// The positions in the buffer where members of gzip begin.
    member_starts: VecDeque<u64>,
    /// The error that ends the input, until it is taken.
    failure: Option<InputError>,
}

/// Bytes that were split off an input. Nothing else distinguishes a mapped file from one that is read.
#[derive(Debug)]
pub(super) enum Bytes {
    Mapped(Arc<Mapping>),
    Owned(Vec<u8>),
    Lent(Lent),
}

impl Deref for Bytes {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match self {
            Bytes::Mapped(mapping) => mapping,
            Bytes::Owned(buffer) | Bytes::Lent(Lent { buffer, .. }) => buffer,
        }
    }
}

/// A buffer that its input uses again, so that its bytes are set to zero only once.
#[derive(Debug)]
pub(super) struct Lent {
    buffer: Vec<u8>,
    spare: Spare,
}

/// The last buffer that was given back, or an empty one.
type Spare = Arc<Mutex<Vec<u8>>>;

impl Drop for Lent {
    fn drop(&mut self) {
        // Without the memory of a long record.
        if self.buffer.capacity() <= 2 * USUAL_BYTES {
            *lock(&self.spare) = std::mem::take(&mut self.buffer);
        }
    }
}

fn lock(spare: &Spare) -> MutexGuard<'_, Vec<u8>> {
    spare.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Why reading stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Filled {
    /// The wanted bytes are buffered.
    Wanted,
    /// The buffered bytes are enough for now.
    Enough,
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

/// Opening.
impl Source {
    /// Opens the file at `path`, or standard input if `path` is `-`.
    ///
    /// # Errors
    ///
    /// [`InputError::Open`] if it cannot be opened or is a folder. Nothing is read yet, so opening a
    /// pipe never waits.
    pub fn open(path: &Path) -> Result<Source, InputError> {
        if path == Path::new("-") {
            return Source::stdin();
        }
        let file = File::open(path).map_err(|error| InputError::open(path, error))?;
        Source::from_file(path.display().to_string(), file)
    }

    /// Opens standard input, from its current position.
    ///
    /// # Errors
    ///
    /// As [`Source::open`].
    #[cfg(unix)]
    pub fn stdin() -> Result<Source, InputError> {
        use std::os::fd::AsFd;

        let descriptor = io::stdin().as_fd().try_clone_to_owned();
        let descriptor = descriptor.map_err(|error| InputError::open(STANDARD_INPUT, error))?;
        Source::from_file(STANDARD_INPUT.to_owned(), File::from(descriptor))
    }

    /// Opens standard input.
    ///
    /// # Errors
    ///
    /// None on this system.
    #[cfg(not(unix))]
    pub fn stdin() -> Result<Source, InputError> {
        Ok(Source::from_reader(STANDARD_INPUT, io::stdin()))
    }

    /// Wraps any reader, without reading yet. Errors call the input `name`.
    pub fn from_reader(name: impl Into<String>, reader: impl Read + Send + 'static) -> Source {
        let gauge = Arc::new(Gauge::default());
        let stored = Box::new(Tap { stored: reader, gauge: Arc::clone(&gauge) });
        Source {
            name: name.into(),
            file: None,
            range: None,
            maps: false,
            state: State::Unread(stored),
            coding: None,
            gauge,
            buffer: Vec::new(),
            spare: Spare::default(),
            end: 0,
            mapping: None,
            start: 0,
            position: 0,
            member_starts: VecDeque::new(),
            failure: None,
        }
    }

    /// Wraps an opened file of any kind, from its current position. Errors call the input `name`.
    ///
    /// # Errors
    ///
    /// As [`Source::open`].
    pub fn from_file(name: String, mut file: File) -> Result<Source, InputError> {
        let metadata = file.metadata().map_err(|error| InputError::open(&name, error))?;
        if metadata.is_dir() {
            return Err(InputError::wrong_kind(name, FileKind::Folder, Wanted::UrlList));
        }
        // If there is no second handle, a format that needs one reports an error.
        let second = file.try_clone().ok();
        let is_regular = metadata.is_file();
        let range = is_regular.then(|| file.stream_position().unwrap_or(0)..metadata.len());
        Ok(Source { file: second, range, ..Source::from_reader(name, file) })
    }

    /// Maps the input, if it is a regular uncompressed file and the system can map it, when its first
    /// chunk is cut: no byte of it is copied, and threads take chunks without waiting for a reader.
    /// Otherwise it is read.
    ///
    /// # Safety
    ///
    /// No process may truncate or rewrite the file while one of its chunks is alive: their bytes are
    /// shared slices, which must not change. Appending is harmless. If the file is truncated anyway,
    /// touching a missing page raises SIGBUS, and the last page reads as zeros after the new end. Call
    /// [`TextChunk::check`](super::TextChunk::check) before the results of a chunk are used.
    #[must_use]
    pub unsafe fn mapped(self) -> Source {
        Source { maps: true, ..self }
    }

    /// Maps the rest of the file, if it is to be mapped.
    pub(super) fn map(&mut self) -> Option<()> {
        if !self.maps {
            return None;
        }
        let file = self.plain_file()?.try_clone().ok()?;
        let range = self.range.clone().filter(|range| !range.is_empty())?;
        let start = usize::try_from(range.start + self.position).ok()?;
        // SAFETY: the caller of `Source::mapped` has promised that no process truncates or rewrites the file.
        let mapping = unsafe { Mapping::new(&self.name, file) }?;
        // A file that became shorter since it was opened is read, which reports it.
        if mapping.len() as u64 >= range.end {
            self.start = start;
            self.state = State::AtEnd;
            self.mapping = Some(Arc::new(mapping));
        }
        Some(())
    }

    /// Returns the input that `stage` makes of this one. It has the same name and stored bytes.
    #[must_use]
    pub fn through<R: Read + Send + 'static>(self, stage: impl FnOnce(Source) -> R) -> Source {
        let (name, gauge) = (self.name.clone(), Arc::clone(&self.gauge));
        let state = State::Reading(Box::new(stage(self)));
        Source { state, gauge, ..Source::from_reader(name, io::empty()) }
    }
}

/// Reading.
impl Source {
    /// Returns the name of the input in errors: its path, or `standard input`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the error that the input cannot be read as it is.
    pub fn problem(&self, problem: impl Into<String>) -> InputError {
        InputError::list(&self.name, problem)
    }

    /// Returns the bytes that were read from the file or pipe, before decompression.
    pub fn stored_bytes(&self) -> u64 {
        match self.mapping {
            Some(_) => self.position,
            None => self.gauge.bytes.load(Ordering::Relaxed),
        }
    }

    /// Returns the number of bytes consumed, after decompression.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Returns the buffered bytes.
    pub fn buffer(&self) -> &[u8] {
        match &self.mapping {
            Some(mapping) => &mapping[self.start..],
            None => &self.buffer[self.start..self.end],
        }
    }

    /// Returns the compression of the input, or `None` if it is not compressed. Reads the first few
    /// bytes.
    ///
    /// # Errors
    ///
    /// Any error except [`InputError::RecordTooLong`].
    pub fn coding(&mut self) -> Result<Option<Coding>, InputError> {
        self.begin();
        match self.take_failure() {
            Some(error) => Err(error),
            None => Ok(self.coding),
        }
    }

    /// Returns the file itself, if it is regular and not compressed. Its next chunk needs no waiting,
    /// and little work. Reads the first few bytes, and keeps their failure.
    pub fn plain_file(&mut self) -> Option<&File> {
        self.range.as_ref()?;
        self.begin();
        let is_plain = self.coding.is_none() && !self.has_failed();
        self.file.as_ref().filter(|_| is_plain)
    }

    /// Reads until `wanted` bytes are buffered or the input ends. Returns whether `wanted` bytes
    /// are buffered.
    pub fn fill(&mut self, wanted: usize) -> bool {
        self.fill_until(wanted, |_| false) == Filled::Wanted
    }

    /// Like [`Source::fill`]. With a `pause`, it also stops when a pipe has delivered nothing for that
    /// long and the buffered bytes are `enough`.
    pub(super) fn fill_or_pause(
        &mut self,
        wanted: usize,
        pause: Option<Duration>,
        enough: impl Fn(&[u8]) -> bool,
    ) -> Filled {
        self.fill_until(wanted, |source| {
            let pipe = source.file.as_ref().filter(|_| source.range.is_none());
            let is_paused = |(pause, pipe)| is_quiet(pipe, pause) && enough(source.buffer());
            !source.buffer().is_empty() && pause.zip(pipe).is_some_and(is_paused)
        })
    }

    /// Reads until `wanted` bytes are buffered, those that are buffered are enough, or the input ends.
    fn fill_until(&mut self, wanted: usize, is_enough: impl Fn(&Source) -> bool) -> Filled {
        while self.buffer().len() < wanted {
            if is_enough(self) {
                return Filled::Enough;
            }
            if !self.read_some() {
                break;
            }
        }
        if self.buffer().len() < wanted { Filled::Ended } else { Filled::Wanted }
    }

    /// Drops `count` of the buffered bytes.
    pub fn consume(&mut self, count: usize) {
        debug_assert!(count <= self.buffer().len());
        self.start += count;
        self.position += count as u64;
        while self.member_starts.front().is_some_and(|&start| start < self.position) {
            self.member_starts.pop_front();
        }
    }

    /// Whether a member of gzip begins here.
    pub fn is_at_member(&self) -> bool {
        self.member_starts.front() == Some(&self.position)
    }

    /// Whether a member of gzip begins after `count` buffered bytes. The byte there must have been read.
    pub fn has_member_after(&self, count: usize) -> bool {
        self.member_starts.binary_search(&(self.position + count as u64)).is_ok()
    }

    /// Drops the bytes up to the next begin of a member of gzip, or else all. Returns whether there is one.
    pub fn skip_to_member(&mut self) -> bool {
        let from = self.position;
        loop {
            if let Some(&start) = self.member_starts.iter().find(|&&start| start > from) {
                self.consume((start - self.position) as usize);
                return true;
            }
            self.consume(self.buffer().len());
            if !self.fill(1) {
                return false;
            }
        }
    }

    /// Drops `count` bytes, buffered or not. Returns whether there were that many.
    pub fn skip(&mut self, mut count: u64) -> bool {
        while count > 0 && self.fill(1) {
            let at_hand = self.buffer().len();
            let part = usize::try_from(count).map_or(at_hand, |count| count.min(at_hand));
            self.consume(part);
            count -= part as u64;
        }
        count == 0
    }

    /// Drops a byte order mark at the start. A failure to read it is that of what follows.
    pub fn skip_mark(&mut self) {
        if self.fill(BYTE_ORDER_MARK.len()) && self.buffer().starts_with(BYTE_ORDER_MARK) {
            self.consume(BYTE_ORDER_MARK.len());
        }
    }

    /// Drops all buffered bytes after the first `count`.
    pub(super) fn truncate(&mut self, count: usize) {
        self.end = self.start + count;
    }

    /// Consumes `count` of the buffered bytes and returns them as a range. They take the buffer with
    /// them, unless they are a small part of it.
    pub(super) fn split_off(&mut self, count: usize) -> (Bytes, Range<usize>) {
        self.consume(count);
        let range = self.start - count..self.start;
        if let Some(mapping) = &self.mapping {
            return (Bytes::Mapped(Arc::clone(mapping)), range);
        }
        if 2 * count < self.end {
            return (Bytes::Owned(self.buffer[range].to_vec()), 0..count);
        }
        let (rest, spare) = (self.buffer(), Arc::clone(&self.spare));
        let (rest_bytes, mut next) = (rest.len(), std::mem::take(&mut *lock(&spare)));
        next.reserve_exact(rest_bytes.max(USUAL_BYTES).saturating_sub(next.len()));
        next.resize(next.len().max(rest_bytes), 0);
        next[..rest_bytes].copy_from_slice(rest);
        (self.start, self.end) = (0, rest_bytes);
        let buffer = std::mem::replace(&mut self.buffer, next);
        (Bytes::Lent(Lent { buffer, spare }), range)
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
        let failed_before = || InputError::Read {
            name: self.name.clone(),
            source: io::Error::other("an earlier read failed"),
        };
        let mapping = self.mapping.as_ref();
        let failure = self.failure.take().or_else(|| self.has_failed().then(failed_before));
        failure.or_else(|| mapping.and_then(|mapping| mapping.check().err()))
    }

    /// Reads once. Returns whether there is more to read.
    fn read_some(&mut self) -> bool {
        self.begin();
        let buffered_until = self.position + self.buffer().len() as u64;
        let members = self.gauge.members.load(Ordering::Relaxed);
        let State::Reading(decoded) = &mut self.state else { return false };
        let Source { buffer, start, end, .. } = self;
        if 2 * *start >= *end {
            buffer.copy_within(*start..*end, 0);
            (*start, *end) = (0, *end - *start);
            // Without the memory of a long record.
            buffer.truncate((*end).max(2 * USUAL_BYTES));
            buffer.shrink_to(2 * USUAL_BYTES);
        }
        if *end > 0 && buffer.capacity() < USUAL_BYTES {
            // Most inputs are read at once; the buffer of another grows to its size in one step.
            buffer.reserve_exact(USUAL_BYTES - buffer.len());
        }
        // Once for each byte of the buffer: a read may be one short member of a compressed file.
        if buffer.len() < *end + READ_BYTES {
            buffer.resize(*end + READ_BYTES, 0);
        }
        let read = decoded.read(&mut buffer[*end..][..READ_BYTES]);
        *end += read.as_ref().map_or(0, |count| *count);
        let begins_member = self.gauge.members.load(Ordering::Relaxed) > members;
        if begins_member && self.member_starts.len() < GZIP_MEMBERS_KNOWN_MAX {
            self.member_starts.push_back(buffered_until);
        }
        match read {
            // The end of compressed data shows itself.
            Ok(0) if self.coding.is_none() && self.is_cut_short() => {
                let name = self.name.clone();
                self.fail(io::Error::other(InputError::Changed { name, change: "became shorter" }));
            }
            Ok(0) => self.state = State::AtEnd,
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => self.fail(error),
        }
        matches!(self.state, State::Reading(_))
    }

    /// Whether fewer bytes were read from a regular file than it had when it was opened. Some special
    /// files (in `/proc`) report that they are regular and empty.
    fn is_cut_short(&self) -> bool {
        let range = self.range.as_ref();
        range.is_some_and(|range| range.start + self.stored_bytes() < range.end)
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
            Some(coding) => coding.decode(stored, Arc::clone(&self.gauge.members)),
        };
        match decoded {
            Ok(decoded) => self.state = State::Reading(decoded),
            Err(error) => self.fail(error),
        }
    }

    /// Ends the input with an error that distinguishes a system failure from truncated or damaged
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
            (Err(source), Some(_)) if is_large_window(&source) => InputError::Window { name },
            (Err(source), Some(coding)) => InputError::Damaged { name, coding, source },
        });
    }
}

/// The decompressed bytes. After a failure, there is an error until [`Source::take_failure`] tells it.
impl BufRead for Source {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        match self.fill(1) || !self.has_failed() {
            true => Ok(self.buffer()),
            false => Err(io::Error::other("the input failed")),
        }
    }

    fn consume(&mut self, count: usize) {
        Source::consume(self, count);
    }
}

impl Read for Source {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(out)?;
        self.consume(count);
        Ok(count)
    }
}

/// Returns whether a frame of zstd has a larger window than the limit. The library has no number for it.
fn is_large_window(error: &io::Error) -> bool {
    error.to_string().contains("requires too much memory")
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
    /// The number of members of gzip that were begun.
    members: Arc<AtomicU64>,
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
