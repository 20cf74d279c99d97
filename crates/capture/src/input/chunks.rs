//! Chunks: an input cut into pieces that end where records end.
//!
//! A chunk holds as many whole records as fit into [`ChunkConfig::chunk_bytes`], or one longer record.
//! The cuts depend on the bytes alone, not on how they arrive, so a mapped file and the same file
//! through a pipe give the same chunks. The price: a pipe's chunk is handed out when it is full or the
//! pipe ends, not when a line arrives.
//!
//! Cost: one `memrchr` per chunk for a mapping; for a stream also a copy of the record that a chunk
//! cuts. Errors come after the whole records before them; after an error there are no more chunks.

use std::fmt;
use std::ops::{Deref, Range};
use std::sync::Arc;

use portcullis_dialect::limits::{CHUNK_BYTES, RECORD_BYTES_MAX};

use super::InputError;
use super::records::Terminator;
use super::source::{Content, Mapping};
use super::stream::Stream;

/// Where an input is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkConfig {
    /// What ends a record. LF by default.
    pub terminator: Terminator,
    /// Bytes of a chunk, unless one record is longer; 0 counts as 1. By default [`CHUNK_BYTES`].
    pub chunk_bytes: usize,
    /// Bytes of the longest record, its end not counted. By default [`RECORD_BYTES_MAX`].
    pub record_bytes_max: usize,
}

impl Default for ChunkConfig {
    fn default() -> ChunkConfig {
        ChunkConfig {
            terminator: Terminator::default(),
            chunk_bytes: CHUNK_BYTES,
            record_bytes_max: RECORD_BYTES_MAX,
        }
    }
}

/// What becomes of the bytes at hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cut {
    /// So many of them are the next chunk.
    At(usize),
    /// They hold no whole chunk; more have to be read.
    More,
    /// They begin with a record that is too long.
    TooLong,
}

impl ChunkConfig {
    /// Bytes that have to be at hand to cut a usual chunk: one more than it has, which shows whether
    /// it ends the input.
    fn wanted_bytes(&self) -> usize {
        self.chunk_bytes + 1
    }

    /// Cuts a chunk off `rest`, which begins where a record begins. Unless it is the last of the
    /// input, it has at least [`ChunkConfig::wanted_bytes`].
    fn cut(&self, rest: &[u8], is_last: bool) -> Cut {
        if is_last && rest.len() <= self.chunk_bytes {
            return Cut::At(rest.len());
        }
        let terminator = self.terminator.byte();
        let (window, beyond) = rest.split_at(self.chunk_bytes);
        if let Some(end) = memchr::memrchr(terminator, window) {
            return Cut::At(end + 1);
        }
        // The first record fills the window: it is longer than a chunk, and a chunk of its own.
        let beyond_max = self.record_bytes_max + 1 - self.chunk_bytes;
        let searched = &beyond[..beyond.len().min(beyond_max)];
        match memchr::memchr(terminator, searched) {
            Some(end) => Cut::At(self.chunk_bytes + end + 1),
            None if rest.len() > self.record_bytes_max => Cut::TooLong,
            None if is_last => Cut::At(rest.len()),
            None => Cut::More,
        }
    }
}

/// Some whole records, one behind the other. Dereferences to their bytes.
///
/// The last record may lack its terminator if the input ends so: a chunk of another input does not
/// continue it.
pub struct Chunk {
    bytes: Bytes,
    range: Range<usize>,
    stored_bytes: u64,
}

enum Bytes {
    Mapped(Arc<Mapping>),
    Owned(Vec<u8>),
}

impl Chunk {
    /// The bytes that were taken from the file or pipe, before decompression, since the chunk
    /// before this one. Over all chunks of an input they add up to what is stored.
    pub fn stored_bytes(&self) -> u64 {
        self.stored_bytes
    }

    /// Checks that the bytes are still those that were cut. Call it after the work on the chunk, before
    /// its results are passed on.
    ///
    /// # Errors
    ///
    /// [`InputError::Shrunk`] if the chunk is of a mapped file that became shorter.
    pub fn check(&self) -> Result<(), InputError> {
        match &self.bytes {
            Bytes::Mapped(mapping) => mapping.check(),
            Bytes::Owned(_) => Ok(()),
        }
    }
}

impl Deref for Chunk {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match &self.bytes {
            Bytes::Mapped(mapping) => &mapping[self.range.clone()],
            Bytes::Owned(buffer) => &buffer[self.range.clone()],
        }
    }
}

impl fmt::Debug for Chunk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Chunk({} bytes)", self.len())
    }
}

/// The chunks of one input, in order. After an error there are no more.
pub struct Chunks {
    config: ChunkConfig,
    content: Content,
    is_over: bool,
    /// Buffers of chunks that were recycled.
    spare: Vec<Vec<u8>>,
    /// Bytes handed out, after decompression.
    position: u64,
    /// Bytes handed out, before decompression.
    stored_bytes: u64,
}

impl Chunks {
    pub(super) fn new(content: Content, config: ChunkConfig) -> Chunks {
        let chunk_bytes = config.chunk_bytes.min(config.record_bytes_max).max(1);
        Chunks {
            config: ChunkConfig { chunk_bytes, ..config },
            content,
            is_over: false,
            spare: Vec::new(),
            position: 0,
            stored_bytes: 0,
        }
    }

    /// Whether the next chunk takes no reading and no waiting.
    pub fn is_mapped(&self) -> bool {
        matches!(self.content, Content::Mapped { .. })
    }

    /// Takes back a chunk that is done with, so that a later one can use its memory.
    pub fn recycle(&mut self, chunk: Chunk) {
        // The memory of a long record is given up.
        if let Bytes::Owned(buffer) = chunk.bytes
            && buffer.capacity() <= 2 * self.config.wanted_bytes()
        {
            self.spare.push(buffer);
        }
    }

    fn too_long(&self, name: &str) -> InputError {
        InputError::RecordTooLong {
            name: name.to_owned(),
            offset: self.position,
            bytes_max: self.config.record_bytes_max,
        }
    }

    fn read(&mut self) -> Option<Result<Chunk, InputError>> {
        let config = self.config;
        let (bytes, range, stored_bytes) = match &mut self.content {
            Content::Mapped { mapping, start } => {
                let rest = &mapping[*start..];
                if rest.is_empty() {
                    return mapping.check().err().map(Err);
                }
                let Cut::At(count) = config.cut(rest, true) else {
                    let mapping = Arc::clone(mapping);
                    return Some(Err(self.too_long(mapping.name())));
                };
                let range = *start..*start + count;
                *start = range.end;
                (Bytes::Mapped(Arc::clone(mapping)), range, self.stored_bytes + count as u64)
            }
            Content::Stream(stream) => {
                let count = match cut_stream(stream, &config)? {
                    Ok(Cut::At(count)) => count,
                    Ok(Cut::More | Cut::TooLong) => {
                        let name = stream.name().to_owned();
                        return Some(Err(self.too_long(&name)));
                    }
                    Err(error) => return Some(Err(error)),
                };
                let mut spare = self.spare.pop().unwrap_or_default();
                let is_oversized = stream.buffer_bytes() > 2 * config.wanted_bytes();
                let (buffer, range) = if count <= config.chunk_bytes && is_oversized {
                    // A small chunk must not keep the memory of a long record before it.
                    spare.clear();
                    spare.extend_from_slice(&stream.bytes()[..count]);
                    stream.consume(count);
                    (spare, 0..count)
                } else {
                    stream.split_off(count, spare)
                };
                (Bytes::Owned(buffer), range, stream.stored_bytes())
            }
        };
        self.position += range.len() as u64;
        let stored_before = std::mem::replace(&mut self.stored_bytes, stored_bytes);
        Some(Ok(Chunk { bytes, range, stored_bytes: stored_bytes - stored_before }))
    }
}

/// Reads until a chunk can be cut; `None` at the end.
fn cut_stream(stream: &mut Stream, config: &ChunkConfig) -> Option<Result<Cut, InputError>> {
    let mut wanted = config.wanted_bytes();
    loop {
        let is_last = !stream.fill(wanted);
        if is_last && stream.has_failed() {
            // A record that is cut would be another URL.
            let whole = memchr::memrchr(config.terminator.byte(), stream.bytes());
            stream.truncate(whole.map_or(0, |end| end + 1));
        }
        let rest = stream.bytes();
        if rest.is_empty() {
            return stream.take_failure().map(Err);
        }
        match config.cut(rest, is_last) {
            // Doubling keeps the search for the end of a long record linear in all.
            Cut::More => wanted = (2 * rest.len()).min(config.record_bytes_max + 1),
            cut => return Some(Ok(cut)),
        }
    }
}

impl Iterator for Chunks {
    type Item = Result<Chunk, InputError>;

    fn next(&mut self) -> Option<Result<Chunk, InputError>> {
        if self.is_over {
            return None;
        }
        let next = self.read();
        self.is_over = !matches!(next, Some(Ok(_)));
        next
    }
}

impl std::iter::FusedIterator for Chunks {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts() {
        let config =
            ChunkConfig { terminator: Terminator::LineFeed, chunk_bytes: 4, record_bytes_max: 6 };
        let cases: &[(&[u8], bool, Cut)] = &[
            (b"ab\nc", true, Cut::At(4)),
            (b"ab\ncd", true, Cut::At(3)),
            (b"ab\ncd", false, Cut::At(3)),
            (b"a\nb\ncd", false, Cut::At(4)),
            (b"abcde", false, Cut::More),
            (b"abcde", true, Cut::At(5)),
            (b"abcd\ne", false, Cut::At(5)),
            (b"abcdef", false, Cut::More),
            (b"abcdef", true, Cut::At(6)),
            (b"abcdef\n", false, Cut::At(7)),
            (b"abcdefg", false, Cut::TooLong),
            (b"abcdefg", true, Cut::TooLong),
            (b"abcdefg\n", true, Cut::TooLong),
        ];
        for &(rest, is_last, expected) in cases {
            assert_eq!(config.cut(rest, is_last), expected, "{rest:?}, {is_last}");
        }
    }
}
