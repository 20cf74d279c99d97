//! Chunks: an input cut into pieces that end where records end.
//!
//! A chunk holds as many whole records as fit into [`ChunkConfig::chunk_bytes`], or one longer record.
//! The cuts depend on the bytes alone, not on how they arrive, so a mapped file and the same file
//! through a pipe give the same chunks. The price: a pipe's chunk is handed out when it is full or the
//! pipe ends, not when a line arrives. Every input that can be read has a chunk, if only an empty one,
//! so that whoever takes chunks sees what stands before the first record.
//!
//! Cost: for plain lines one `memrchr` per chunk for a mapping; for a stream also a copy of the record
//! that a chunk cuts. Errors come after the whole records before them; after an error there are no more
//! chunks.

use std::fmt;
use std::ops::{Deref, Range};
use std::sync::Arc;

use portcullis_dialect::limits::{CHUNK_BYTES, RECORD_BYTES_MAX};

use super::InputError;
use super::records::Terminator;
use super::source::{Content, Mapping};
use super::stream::Stream;
use crate::list::{Arena, Detected, Framing, List, ListRecords, Reading, detect};

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
    fn cut(&self, framing: Framing, rest: &[u8], is_last: bool) -> Cut {
        if is_last && rest.len() <= self.chunk_bytes {
            return Cut::At(rest.len());
        }
        let end = framing.last_end(&rest[..self.chunk_bytes]);
        if end > 0 {
            return Cut::At(end);
        }
        // The first record fills the window: it is longer than a chunk, and a chunk of its own.
        let searched = &rest[..rest.len().min(self.record_bytes_max + 1)];
        match framing.first_end(searched) {
            Some(end) => Cut::At(end),
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
    list: Arc<List>,
    is_first: bool,
    is_last: bool,
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

    /// The list that the chunk is of.
    pub fn list(&self) -> &Arc<List> {
        &self.list
    }

    /// Whether the chunk is the first of its list.
    pub fn is_first(&self) -> bool {
        self.is_first
    }

    /// Whether the chunk is the last of its list, which was read to its end.
    pub fn is_last(&self) -> bool {
        self.is_last
    }

    /// The records of the chunk. URLs with escapes are decoded into `arena`.
    pub fn records<'c>(&'c self, arena: &'c Arena) -> ListRecords<'c> {
        self.list.records(self, arena)
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
    reading: Reading,
    is_first: bool,
    is_over: bool,
    /// Buffers of chunks that were recycled.
    spare: Vec<Vec<u8>>,
    /// Bytes handed out, after decompression.
    position: u64,
    /// Bytes handed out, before decompression.
    stored_bytes: u64,
}

impl Chunks {
    pub(super) fn new(content: Content, config: ChunkConfig, reading: Reading) -> Chunks {
        let chunk_bytes = config.chunk_bytes.min(config.record_bytes_max).max(1);
        Chunks {
            config: ChunkConfig { chunk_bytes, ..config },
            content,
            reading,
            is_first: true,
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

    /// How the input is read, which is detected the first time; what stands before the first record is
    /// skipped then.
    fn list(&mut self) -> Result<Arc<List>, InputError> {
        let config = match &self.reading {
            Reading::Known(list) => return Ok(Arc::clone(list)),
            Reading::Unseen(config) => Arc::clone(config),
        };
        let mut wanted = self.config.wanted_bytes();
        let list = loop {
            let (name, first, is_whole) = match &mut self.content {
                Content::Mapped { mapping, start } => {
                    let rest = &mapping[*start..];
                    let first = &rest[..rest.len().min(wanted)];
                    (mapping.name(), first, first.len() == rest.len())
                }
                Content::Stream(stream) => {
                    let is_whole = !stream.fill(wanted) && !stream.has_failed();
                    (stream.name(), stream.bytes(), is_whole)
                }
            };
            let first_bytes = first.len();
            match detect(name, first, is_whole, &config)? {
                Detected::List(list) => break Arc::new(*list),
                Detected::More if first_bytes > self.config.record_bytes_max => {
                    let name = name.to_owned();
                    return Err(self.too_long(&name));
                }
                Detected::More if first_bytes < wanted => {
                    let Content::Stream(stream) = &mut self.content else {
                        unreachable!("a mapping is whole if it is shorter than what is wanted")
                    };
                    return Err(stream.take_failure().expect("a stream ends or fails"));
                }
                Detected::More => wanted = (2 * wanted).min(self.config.record_bytes_max + 1),
            }
        };
        let head_bytes = list.head().len();
        match &mut self.content {
            Content::Mapped { start, .. } => *start += head_bytes,
            Content::Stream(stream) => stream.consume(head_bytes),
        }
        self.position += head_bytes as u64;
        self.reading = Reading::Known(Arc::clone(&list));
        Ok(list)
    }

    fn read(&mut self) -> Option<Result<Chunk, InputError>> {
        let config = self.config;
        let list = match self.list() {
            Ok(list) => list,
            Err(error) => return Some(Err(error)),
        };
        let framing = list.framing();
        let is_first = std::mem::replace(&mut self.is_first, false);
        let (bytes, range, stored_bytes, is_last) = match &mut self.content {
            Content::Mapped { mapping, start } => {
                let rest = &mapping[*start..];
                if rest.is_empty() && !is_first {
                    return mapping.check().err().map(Err);
                }
                let Cut::At(count) = config.cut(framing, rest, true) else {
                    let mapping = Arc::clone(mapping);
                    return Some(Err(self.too_long(mapping.name())));
                };
                let is_last = count == rest.len();
                let range = *start..*start + count;
                let head_bytes = if is_first { list.head().len() } else { 0 };
                let taken = (count + head_bytes) as u64;
                *start = range.end;
                (Bytes::Mapped(Arc::clone(mapping)), range, self.stored_bytes + taken, is_last)
            }
            Content::Stream(stream) => {
                let count = match cut_stream(stream, framing, &config) {
                    None if is_first => 0,
                    Some(Ok(Cut::At(count))) => count,
                    Some(Ok(Cut::More | Cut::TooLong)) => {
                        let name = stream.name().to_owned();
                        return Some(Err(self.too_long(&name)));
                    }
                    Some(Err(error)) => return Some(Err(error)),
                    None => return None,
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
                let is_last = stream.is_at_end() && stream.bytes().is_empty();
                (Bytes::Owned(buffer), range, stream.stored_bytes(), is_last)
            }
        };
        self.position += range.len() as u64;
        let stored_before = std::mem::replace(&mut self.stored_bytes, stored_bytes);
        let stored_bytes = stored_bytes - stored_before;
        Some(Ok(Chunk { bytes, range, stored_bytes, list, is_first, is_last }))
    }
}

/// Reads until a chunk can be cut; `None` at the end.
fn cut_stream(
    stream: &mut Stream,
    framing: Framing,
    config: &ChunkConfig,
) -> Option<Result<Cut, InputError>> {
    let mut wanted = config.wanted_bytes();
    loop {
        let is_last = !stream.fill(wanted);
        if is_last && stream.has_failed() {
            // A record that is cut would be another URL.
            stream.truncate(framing.last_end(stream.bytes()));
        }
        let rest = stream.bytes();
        if rest.is_empty() {
            return stream.take_failure().map(Err);
        }
        match config.cut(framing, rest, is_last) {
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
            let framing = Framing::Byte(Terminator::LineFeed);
            assert_eq!(config.cut(framing, rest, is_last), expected, "{rest:?}, {is_last}");
        }
    }
}
