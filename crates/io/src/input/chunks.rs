//! Cuts an input into chunks that end at record ends.
//!
//! A chunk holds as many whole records as fit into [`ChunkConfig::chunk_bytes`], or one longer
//! record. The cuts depend on the bytes alone, not on how they arrive, so a mapped file and the
//! same file through a pipe give the same chunks: a pipe's chunk is returned when it is full or the
//! pipe ends, not when a line arrives. A caller whose output does not depend on the cuts can ask for
//! shorter chunks where a pipe pauses ([`ChunkConfig::pause`]). Every readable input has at least one
//! chunk, which may be empty, so that readers of chunks see the bytes before the first record.
//!
//! Cost for plain lines: one `memrchr` per chunk; a stream also copies the record that a chunk
//! boundary cuts. An error is returned after the whole records before it. After an error there are
//! no more chunks.

use std::fmt;
use std::fs::File;
use std::io;
use std::ops::{Deref, Range};
use std::sync::Arc;
use std::time::Duration;

use super::InputError;
use super::source::{Content, Mapping};
use super::stream::{Filled, Stream};
use crate::limits::{CHUNK_BYTES, RECORD_BYTES_MAX};
use crate::list::parquet::{ParquetList, Part, Parts};
use crate::list::{Detected, Framing, List, ListConfig, detect};
use crate::sitemap::Sitemap;

/// How an input is cut into chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkConfig {
    /// The most bytes in a chunk, unless one record is longer. 0 counts as 1. By default
    /// [`CHUNK_BYTES`].
    pub chunk_bytes: usize,
    /// The most bytes in a record, without its terminator. By default [`RECORD_BYTES_MAX`].
    pub record_bytes_max: usize,
    /// Whether the chunks of a Parquet file are its row groups, for outputs that have row groups.
    /// By default they have about as many URLs as other chunks.
    pub by_row_group: bool,
    /// How long a pipe delivers nothing before its whole records become a chunk; `None`, the default,
    /// waits for a full chunk. Only Unix systems tell whether a pipe has bytes.
    pub pause: Option<Duration>,
}

impl Default for ChunkConfig {
    fn default() -> ChunkConfig {
        ChunkConfig {
            chunk_bytes: CHUNK_BYTES,
            record_bytes_max: RECORD_BYTES_MAX,
            by_row_group: false,
            pause: None,
        }
    }
}

/// The result of a search for the next cut in the buffered bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cut {
    /// The next chunk has this many bytes.
    At(usize),
    /// The bytes do not hold a whole chunk; more must be read.
    More,
    /// The bytes begin with a record that is too long.
    TooLong,
}

impl ChunkConfig {
    /// The number of buffered bytes needed to cut a usual chunk: one more than the chunk has. The
    /// extra byte shows whether the chunk ends the input.
    fn wanted_bytes(&self) -> usize {
        self.chunk_bytes + 1
    }

    /// Cuts a chunk off `rest`, which begins at a record. `rest` has at least
    /// [`ChunkConfig::wanted_bytes`] unless it is the last of the input.
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

/// A sequence of whole records. Dereferences to their bytes; rows of a Parquet file have none.
///
/// The last record lacks its terminator if the input does; the next input does not continue it.
/// Use [`Rows`](crate::list::Rows) for its records.
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
    /// Rows of a Parquet file, decoded where they are read.
    Rows(Part),
}

impl Chunk {
    /// Returns a whole list in memory, which begins with its first record.
    pub fn of_text(list: List, text: impl Into<Vec<u8>>) -> Chunk {
        let text = text.into();
        let (range, stored_bytes) = (0..text.len(), text.len() as u64);
        let (bytes, list) = (Bytes::Owned(text), Arc::new(list));
        Chunk { bytes, range, stored_bytes, list, is_first: true, is_last: true }
    }

    /// Returns the bytes that were read from the file or pipe since the previous chunk, before
    /// decompression. The sum over all chunks of an input is its stored size.
    pub fn stored_bytes(&self) -> u64 {
        self.stored_bytes
    }

    /// Returns the list to which the chunk belongs.
    pub fn list(&self) -> &Arc<List> {
        &self.list
    }

    /// Whether the chunk is the first of its list.
    pub fn is_first(&self) -> bool {
        self.is_first
    }

    /// Whether the chunk is the last of a list that was read to its end.
    pub fn is_last(&self) -> bool {
        self.is_last
    }

    /// Returns the bytes of the chunk's records after decompression. For rows of a Parquet file, an
    /// estimate of the bytes of their URLs.
    pub fn record_bytes(&self) -> u64 {
        match &self.bytes {
            Bytes::Rows(part) => part.url_bytes(),
            _ => self.len() as u64,
        }
    }

    /// Returns the size of the chunk for bounds on memory: the bytes of its records, or of the pages
    /// that hold its URLs if it comes from a Parquet file.
    pub fn memory_bytes(&self) -> usize {
        match &self.bytes {
            Bytes::Rows(part) => part.memory_bytes() as usize,
            _ => self.len(),
        }
    }

    /// Returns the rows of the chunk. `None` if it is text, or of a Parquet file without rows.
    #[inline]
    pub fn part(&self) -> Option<&Part> {
        match &self.bytes {
            Bytes::Rows(part) => Some(part),
            _ => None,
        }
    }

    /// Checks that the bytes are still the ones that were cut. Call it after the work on the chunk,
    /// before its results are used.
    ///
    /// # Errors
    ///
    /// [`InputError::Shrunk`] if the chunk comes from a mapped file that became shorter.
    pub fn check(&self) -> Result<(), InputError> {
        match &self.bytes {
            Bytes::Mapped(mapping) => mapping.check(),
            _ => Ok(()),
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
            Bytes::Rows(_) => b"",
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
    /// The file, as in [`Source`](super::Source).
    file: Option<File>,
    /// The rows, which replace the content of a Parquet file.
    parts: Option<Parts>,
    /// How the list is read.
    lists: Arc<ListConfig>,
    /// The list, once it is detected.
    list: Option<Arc<List>>,
    is_first: bool,
    is_over: bool,
    /// Whether the chunk before was cut at a pause, so that it did not know whether it was the last.
    owes_last: bool,
    /// The buffers of recycled chunks.
    spare: Vec<Vec<u8>>,
    /// The bytes returned so far, after decompression.
    position: u64,
    /// The bytes returned so far, before decompression.
    stored_bytes: u64,
}

impl Chunks {
    pub(super) fn new(
        content: Content,
        file: Option<File>,
        config: ChunkConfig,
        lists: Arc<ListConfig>,
    ) -> Chunks {
        let chunk_bytes = config.chunk_bytes.min(config.record_bytes_max).max(1);
        Chunks {
            config: ChunkConfig { chunk_bytes, ..config },
            content,
            file,
            parts: None,
            lists,
            list: None,
            is_first: true,
            is_over: false,
            owes_last: false,
            spare: Vec::new(),
            position: 0,
            stored_bytes: 0,
        }
    }

    /// Whether the input is mapped, so that the next chunk needs no waiting and almost no reading.
    pub fn is_mapped(&self) -> bool {
        matches!(self.content, Content::Mapped { .. })
    }

    /// Takes back a finished chunk, so that a later chunk can reuse its memory.
    pub fn recycle(&mut self, chunk: Chunk) {
        // The memory of a long record is freed.
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

    /// Returns how the input is read. The first call detects the format and skips the bytes before
    /// the first record.
    fn list(&mut self) -> Result<Arc<List>, InputError> {
        if let Some(list) = &self.list {
            return Ok(Arc::clone(list));
        }
        let config = Arc::clone(&self.lists);
        let mut wanted = self.config.wanted_bytes();
        // The bytes before the first pause are tried once, and then those that are wanted.
        let mut pause = self.config.pause;
        let has_line = |text: &[u8]| text.trim_ascii_start().contains(&b'\n');
        let list = loop {
            let mut is_final = matches!(self.content, Content::Mapped { .. });
            let (name, first, is_whole) = match &mut self.content {
                Content::Mapped { mapping, start } => {
                    let rest = &mapping[*start..];
                    let first = &rest[..rest.len().min(wanted)];
                    (mapping.name(), first, first.len() == rest.len())
                }
                Content::Stream(stream) => {
                    match stream.fill_or_pause(wanted, pause, has_line) {
                        Filled::Paused => pause = None,
                        Filled::Wanted | Filled::Ended => is_final = true,
                    }
                    let is_whole = stream.is_at_end() && stream.bytes().len() < wanted;
                    (stream.name(), stream.bytes(), is_whole)
                }
            };
            let first_bytes = first.len();
            let detected = match detect(name, first, is_whole, &config) {
                // More than what came before a pause may make sense of it.
                Err(_) | Ok(Detected::More | Detected::Parquet(_)) if !is_final => continue,
                detected => detected?,
            };
            match detected {
                Detected::List(list) => break Arc::new(*list),
                Detected::Parquet(list) => {
                    let list = self.open_parquet(*list, &config)?;
                    self.list = Some(Arc::clone(&list));
                    return Ok(list);
                }
                Detected::Sitemap(list) => {
                    let nothing = Content::Stream(Stream::new(String::new(), io::empty(), false));
                    let stream = std::mem::replace(&mut self.content, nothing).into_stream();
                    self.content = Content::Stream(Stream::through(stream, Sitemap::new));
                    break Arc::new(*list);
                }
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
        self.list = Some(Arc::clone(&list));
        Ok(list)
    }

    /// Opens a Parquet file, which is read from its end.
    fn open_parquet(&mut self, list: List, config: &ListConfig) -> Result<Arc<List>, InputError> {
        if let Some(file) = self.file.take() {
            let rows = ParquetList::open_file(list.name(), file, config)?;
            let rows = Arc::new(rows);
            self.parts = Some(Arc::clone(&rows).parts(self.config.by_row_group));
            return Ok(Arc::new(list.of_rows(&rows)));
        }
        let is_compressed = match &mut self.content {
            Content::Stream(stream) => stream.coding()?.is_some(),
            Content::Mapped { .. } => false,
        };
        let problem = match is_compressed {
            true => "which compression hides; decompress the file first",
            false => "which a pipe hides; store it and name the file",
        };
        let problem = format!("Parquet is read from its end, {problem}");
        Err(InputError::List { name: list.name().to_owned(), problem })
    }

    fn read(&mut self) -> Option<Result<Chunk, InputError>> {
        let config = self.config;
        let list = match self.list() {
            Ok(list) => list,
            Err(error) => return Some(Err(error)),
        };
        let framing = list.framing();
        let is_first = std::mem::replace(&mut self.is_first, false);
        if let Some(parts) = &mut self.parts {
            return next_rows(parts, list, is_first);
        }
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
                let owed = std::mem::take(&mut self.owes_last);
                let count = match cut_stream(stream, framing, &config, &mut self.owes_last) {
                    None if is_first || owed => 0,
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

/// The next rows of a Parquet file.
fn next_rows(
    parts: &mut Parts,
    list: Arc<List>,
    is_first: bool,
) -> Option<Result<Chunk, InputError>> {
    let part = match parts.next() {
        Some(Ok(part)) => Some(part),
        Some(Err(error)) => return Some(Err(error)),
        None if is_first => None,
        None => return None,
    };
    let stored_bytes = part.as_ref().map_or(0, Part::stored_bytes);
    let bytes = part.map_or(Bytes::Owned(Vec::new()), Bytes::Rows);
    let is_last = parts.is_at_end();
    Some(Ok(Chunk { bytes, range: 0..0, stored_bytes, list, is_first, is_last }))
}

/// Reads until a chunk can be cut. `None` at the end. Sets `is_paused` if the cut is at a pause.
fn cut_stream(
    stream: &mut Stream,
    framing: Framing,
    config: &ChunkConfig,
    is_paused: &mut bool,
) -> Option<Result<Cut, InputError>> {
    let mut wanted = config.wanted_bytes();
    loop {
        let has_record = |text: &[u8]| framing.last_end(text) > 0;
        let filled = stream.fill_or_pause(wanted, config.pause, has_record);
        if filled == Filled::Paused {
            *is_paused = true;
            return Some(Ok(Cut::At(framing.last_end(stream.bytes()))));
        }
        let is_last = filled == Filled::Ended;
        if is_last && stream.has_failed() {
            // A truncated record would be a different URL.
            stream.truncate(framing.last_end(stream.bytes()));
        }
        let rest = stream.bytes();
        if rest.is_empty() {
            return stream.take_failure().map(Err);
        }
        match config.cut(framing, rest, is_last) {
            // Doubling keeps the search for the end of a long record linear in total.
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
    use crate::input::Terminator;

    #[test]
    fn cuts() {
        let config = ChunkConfig { chunk_bytes: 4, record_bytes_max: 6, ..ChunkConfig::default() };
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
