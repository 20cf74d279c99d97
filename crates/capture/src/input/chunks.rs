//! Chunks: an input cut into pieces that end where records end.
//!
//! A chunk holds as many whole records as fit into [`ChunkConfig::chunk_bytes`], or one longer
//! record. The cuts depend on the bytes alone, not on how they arrived, so a file that is mapped
//! and the same file through a pipe give the same chunks. The price: a pipe's chunk is handed out
//! when it is full or the pipe ends, not when a line arrives.

use std::fmt;
use std::ops::{Deref, Range};
use std::sync::Arc;

use super::error::InputError;
use super::ingest::Ingest;
use super::mapping::Mapping;
use super::records::Terminator;
use super::source::{Content, Source};
use portcullis_dialect::limits::{CHUNK_BYTES, RECORD_BYTES_MAX};

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
pub(super) enum Cut {
    /// So many of them are the next chunk.
    At(usize),
    /// They hold no whole chunk; more have to be read.
    More,
    /// They begin with a record that is too long.
    TooLong,
}

impl ChunkConfig {
    /// The config with a chunk that is at least one byte and at most one record.
    fn within_bounds(self) -> ChunkConfig {
        let chunk_bytes = self.chunk_bytes.min(self.record_bytes_max).max(1);
        ChunkConfig { chunk_bytes, ..self }
    }

    /// Bytes that have to be at hand to cut a usual chunk: one more than it has, which tells a
    /// chunk that ends the input from one that does not.
    pub(super) fn wanted_bytes(&self) -> usize {
        self.chunk_bytes + 1
    }

    /// Cuts a chunk off `rest`, which begins where a record begins and, if `is_last`, is all that is
    /// left. Else it has at least [`ChunkConfig::wanted_bytes`].
    pub(super) fn cut(&self, rest: &[u8], is_last: bool) -> Cut {
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
/// The last one may be without an end if the input is: a chunk of another input that follows does
/// not continue it.
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
    /// A part of a buffer.
    pub(super) fn owned(buffer: Vec<u8>, range: Range<usize>, stored_bytes: u64) -> Chunk {
        Chunk { bytes: Bytes::Owned(buffer), range, stored_bytes }
    }

    /// The bytes that were taken from the file or pipe, before decompression, since the chunk
    /// before this one. Over all chunks of an input they add up to what is stored.
    pub fn stored_bytes(&self) -> u64 {
        self.stored_bytes
    }

    /// Whether the bytes are still those that were cut: asked after the chunk has been worked on, and
    /// before what came of it is handed on.
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

    /// The buffer, if the chunk has one.
    pub(super) fn into_buffer(self) -> Option<Vec<u8>> {
        match self.bytes {
            Bytes::Mapped(_) => None,
            Bytes::Owned(buffer) => Some(buffer),
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
    content: ChunkContent,
}

enum ChunkContent {
    Mapped(MappedChunks),
    Stream(Ingest),
}

impl Chunks {
    pub(super) fn new(source: Source, config: ChunkConfig) -> Chunks {
        Chunks {
            config: config.within_bounds(),
            content: match source.content {
                Content::Mapped { mapping, start } => ChunkContent::Mapped(MappedChunks {
                    mapping,
                    start,
                    position: start,
                    is_over: false,
                }),
                Content::Stream(stream) => ChunkContent::Stream(Ingest::new(stream)),
            },
        }
    }

    /// Whether the next chunk takes no reading and no waiting.
    pub fn is_mapped(&self) -> bool {
        matches!(self.content, ChunkContent::Mapped(_))
    }

    /// Takes back a chunk that is done with, so that a later one can use its memory.
    pub fn recycle(&mut self, chunk: Chunk) {
        if let ChunkContent::Stream(ingest) = &mut self.content
            && let Some(buffer) = chunk.into_buffer()
        {
            ingest.recycle(buffer, &self.config);
        }
    }
}

impl Iterator for Chunks {
    type Item = Result<Chunk, InputError>;

    fn next(&mut self) -> Option<Result<Chunk, InputError>> {
        match &mut self.content {
            ChunkContent::Mapped(mapped) => mapped.next(&self.config),
            ChunkContent::Stream(ingest) => ingest.next(&self.config),
        }
    }
}

impl std::iter::FusedIterator for Chunks {}

/// The chunks of a mapping: slices of it.
struct MappedChunks {
    mapping: Arc<Mapping>,
    start: usize,
    position: usize,
    is_over: bool,
}

impl MappedChunks {
    fn next(&mut self, config: &ChunkConfig) -> Option<Result<Chunk, InputError>> {
        if self.is_over {
            return None;
        }
        let rest = &self.mapping[self.position..];
        if rest.is_empty() {
            self.is_over = true;
            return self.mapping.check().err().map(Err);
        }
        match config.cut(rest, true) {
            Cut::At(bytes) => {
                let range = self.position..self.position + bytes;
                self.position = range.end;
                Some(Ok(Chunk {
                    bytes: Bytes::Mapped(Arc::clone(&self.mapping)),
                    range,
                    stored_bytes: bytes as u64,
                }))
            }
            Cut::More | Cut::TooLong => {
                self.is_over = true;
                Some(Err(InputError::RecordTooLong {
                    name: self.mapping.name().to_owned(),
                    offset: (self.position - self.start) as u64,
                    bytes_max: config.record_bytes_max,
                }))
            }
        }
    }
}

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
