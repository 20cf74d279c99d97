//! Cuts bytes into chunks that end at record ends.
//!
//! A chunk holds as many whole records as fit into [`ChunkConfig::chunk_bytes`], or one longer
//! record. The cuts depend on the bytes alone, not on how they arrive: a pipe's chunk is returned when
//! it is full or the pipe ends, not when a line arrives. A caller whose output does not depend on the cuts can
//! ask for shorter chunks where a pipe pauses ([`ChunkConfig::pause`]). Every readable input has at least one
//! chunk, which may be empty, so that readers of chunks see the bytes before the first record.
//!
//! A regular uncompressed file can be mapped ([`Source::mapped`]): its format is detected in what was
//! read, and its chunks are parts of the mapping.
//!
//! Cost for plain lines: one `memrchr` per chunk, and for a stream a copy of what was read beyond it.
//! An error is returned after the whole records before it.

use std::io::{self, Read};
use std::ops::{Deref, Range};
use std::time::Duration;

use super::InputError;
use super::framing::Framing;
use super::source::{Bytes, Filled, Source};
use crate::limits::{CHUNK_BYTES, RECORD_BYTES_MAX};

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
    /// The bytes begin with a row that has a stray quote at this position.
    StrayQuote(usize),
}

impl ChunkConfig {
    /// The number of buffered bytes needed to cut a usual chunk: one more than the chunk has. The
    /// extra byte shows whether the chunk ends the input.
    pub fn wanted_bytes(&self) -> usize {
        self.chunk_bytes + 1
    }

    /// Cuts a chunk off `rest`, which begins at a record. `rest` has at least
    /// [`ChunkConfig::wanted_bytes`] unless it is the last of the input.
    fn cut(&self, framing: Framing, rest: &[u8], is_last: bool) -> Cut {
        let window = &rest[..rest.len().min(self.chunk_bytes)];
        if is_last && window.len() == rest.len() && framing.stray_quote(rest).is_none() {
            return Cut::At(rest.len());
        }
        let end = framing.last_end(window);
        if end > 0 {
            return Cut::At(end);
        }
        // The first record fills the window: it is longer than a chunk, and a chunk of its own.
        let searched = &rest[..rest.len().min(self.record_bytes_max + 1)];
        let end = framing.first_end(searched);
        if let Some(at) = framing.stray_quote(&searched[..end.unwrap_or(searched.len())]) {
            return Cut::StrayQuote(at);
        }
        match end {
            Some(end) => Cut::At(end),
            None if rest.len() > self.record_bytes_max => Cut::TooLong,
            None if is_last => Cut::At(rest.len()),
            None => Cut::More,
        }
    }
}

/// A sequence of whole records. Dereferences to their bytes.
///
/// The last record lacks its terminator if the input does; the next input does not continue it.
#[derive(Debug)]
pub struct TextChunk {
    bytes: Bytes,
    range: Range<usize>,
    /// The bytes that were read from the file or pipe since the previous chunk, before decompression. The
    /// sum over all chunks of an input is its stored size.
    pub stored_bytes: u64,
    /// Whether the chunk is the last of an input that was read to its end.
    pub is_last: bool,
}

impl TextChunk {
    /// Returns a whole input in memory.
    pub fn whole(text: Vec<u8>) -> TextChunk {
        let (range, stored_bytes) = (0..text.len(), text.len() as u64);
        TextChunk { bytes: Bytes::Owned(text), range, stored_bytes, is_last: true }
    }

    /// Returns a chunk without bytes, for what is not cut as text.
    pub fn empty(stored_bytes: u64, is_last: bool) -> TextChunk {
        TextChunk { stored_bytes, is_last, ..TextChunk::whole(Vec::new()) }
    }

    /// Checks that the bytes are still the ones that were cut. Call it after the work on the chunk,
    /// before its results are used.
    ///
    /// # Errors
    ///
    /// [`InputError::Changed`] if the chunk comes from a mapped file that was changed.
    pub fn check(&self) -> Result<(), InputError> {
        match &self.bytes {
            Bytes::Mapped(mapping) => mapping.check(),
            Bytes::Owned(_) | Bytes::Lent(_) => Ok(()),
        }
    }
}

impl Deref for TextChunk {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.bytes[self.range.clone()]
    }
}

/// An input that is cut into chunks.
pub struct TextChunks {
    /// How the input is cut.
    pub config: ChunkConfig,
    /// The input, whose next bytes are the next chunk.
    pub source: Source,
    is_first: bool,
    /// Whether the chunk before was cut at a pause, so that it did not know whether it was the last.
    owes_last: bool,
    /// The bytes returned so far, before decompression.
    stored_bytes: u64,
}

impl TextChunks {
    /// Returns the chunks of `source`.
    pub fn new(source: Source, config: ChunkConfig) -> TextChunks {
        let chunk_bytes = config.chunk_bytes.min(config.record_bytes_max).max(1);
        TextChunks {
            config: ChunkConfig { chunk_bytes, ..config },
            source,
            is_first: true,
            owes_last: false,
            stored_bytes: 0,
        }
    }

    /// Returns what `find` finds in the first bytes of the input, none of which is consumed. It gets the
    /// name of the input, the bytes, and whether they are all. If it finds nothing, it gets more.
    ///
    /// # Errors
    ///
    /// The errors of `find`, and the error of the input if it ends before anything is found.
    pub fn find_first<T>(
        &mut self,
        find: impl Fn(&str, &[u8], bool) -> Result<Option<T>, InputError>,
    ) -> Result<T, InputError> {
        let ChunkConfig { record_bytes_max, pause, .. } = self.config;
        let (mut wanted, mut tried) = (self.config.wanted_bytes(), 0);
        loop {
            // The bytes before each pause are tried.
            let has_line =
                |text: &[u8]| text.len() > tried && text.trim_ascii_start().contains(&b'\n');
            let is_paused = self.source.fill_or_pause(wanted, pause, has_line) == Filled::Enough;
            let bytes = self.source.buffer();
            let is_whole = self.source.is_at_end() && bytes.len() < wanted;
            let found = match find(self.source.name(), bytes, is_whole) {
                // More than what came before a pause may make sense of it.
                Err(_) | Ok(None) if is_paused => {
                    tried = bytes.len();
                    continue;
                }
                found => found?,
            };
            match found {
                Some(found) => return Ok(found),
                None if bytes.len() > record_bytes_max => return Err(self.too_long()),
                None if bytes.len() < wanted => {
                    return Err(self.source.take_failure().expect("an input ends or fails"));
                }
                None => wanted = (2 * wanted).min(record_bytes_max + 1),
            }
        }
    }

    /// Puts a stage between the input and its chunks.
    pub fn through<R: Read + Send + 'static>(&mut self, stage: impl FnOnce(Source) -> R) {
        self.source = self.take_source().through(stage);
    }

    /// Reads UTF-16 as UTF-8, and other text as it is. Returns whether it is UTF-16.
    pub fn read_in_utf8(&mut self) -> bool {
        let is_utf16 = self.source.begins_as_utf16();
        self.source = self.take_source().in_utf8();
        is_utf16
    }

    fn take_source(&mut self) -> Source {
        std::mem::replace(&mut self.source, Source::from_reader("", io::empty()))
    }

    /// Returns the error for a record that is too long.
    fn too_long(&self) -> InputError {
        InputError::RecordTooLong {
            name: self.source.name().to_owned(),
            offset: self.source.position(),
            bytes_max: self.config.record_bytes_max,
        }
    }

    /// Returns the error for a quote that may not be where it is.
    fn stray_quote(&self, at: usize) -> InputError {
        let at = self.source.position() + at as u64;
        self.source.problem(format!(
            "the quote at byte {at} is in the middle of a field, so the end of its row is unknown; if \
             quotes are escaped by backslashes, write the table with escape='\"' (Spark); RFC 4180 \
             doubles them, in fields between quotes"
        ))
    }

    /// Returns the next chunk, or `None` after the last. After an error there are no more.
    ///
    /// # Errors
    ///
    /// If the input cannot be read, or has a record that is too long or a row with a
    /// [stray quote](Framing::stray_quote).
    pub fn next(&mut self, framing: Framing) -> Result<Option<TextChunk>, InputError> {
        if self.is_first {
            self.source.map();
        }
        let is_owed = std::mem::take(&mut self.is_first) | std::mem::take(&mut self.owes_last);
        let Some(count) = self.cut(framing)?.or(is_owed.then_some(0)) else { return Ok(None) };
        let source = &mut self.source;
        let (bytes, range) = source.split_off(count);
        let is_last = source.is_at_end() && source.buffer().is_empty();
        let before = std::mem::replace(&mut self.stored_bytes, source.stored_bytes());
        let stored_bytes = self.stored_bytes - before;
        Ok(Some(TextChunk { bytes, range, stored_bytes, is_last }))
    }

    /// Reads until a chunk can be cut, and returns its length. `None` at the end.
    fn cut(&mut self, framing: Framing) -> Result<Option<usize>, InputError> {
        let (config, source) = (self.config, &mut self.source);
        let mut wanted = config.wanted_bytes();
        loop {
            let has_record = |text: &[u8]| framing.last_end(text) > 0;
            let filled = source.fill_or_pause(wanted, config.pause, has_record);
            if filled == Filled::Enough {
                self.owes_last = true;
                return Ok(Some(framing.last_end(source.buffer())));
            }
            let is_last = filled == Filled::Ended;
            if is_last && source.has_failed() {
                // A truncated record would be a different URL.
                source.truncate(framing.last_end(source.buffer()));
            }
            let rest = source.buffer();
            if rest.is_empty() {
                return source.take_failure().map_or(Ok(None), Err);
            }
            match config.cut(framing, rest, is_last) {
                Cut::At(count) => return Ok(Some(count)),
                // Doubling keeps the search for the end of a long record linear in total.
                Cut::More => wanted = (2 * rest.len()).min(config.record_bytes_max + 1),
                Cut::TooLong => return Err(self.too_long()),
                Cut::StrayQuote(at) => return Err(self.stray_quote(at)),
            }
        }
    }
}

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

    #[test]
    fn a_stray_quote_ends_a_table_before_its_row() {
        let config = ChunkConfig { chunk_bytes: 8, record_bytes_max: 9, ..ChunkConfig::default() };
        let cases: &[(&[u8], bool, Cut)] = &[
            (b"a,\"b\"\n", true, Cut::At(6)),
            (b"a,\"b\"\r\n", true, Cut::At(7)),
            (b"a,\"b\"\r", true, Cut::At(6)),
            (b"a,\"\"\"\",", true, Cut::At(7)),
            (b"a\n\"b\"c\n", true, Cut::At(2)),
            (b"a\nb\"\n", true, Cut::At(2)),
            (b"\"b\"c\n", true, Cut::StrayQuote(2)),
            (b"\"b\" \n", true, Cut::StrayQuote(2)),
            (b"\"b\"\rc\n", true, Cut::StrayQuote(2)),
            (b"b\"\n", true, Cut::StrayQuote(1)),
            (b"\\\"\"\nabcdef", false, Cut::StrayQuote(1)),
            (b"abcdefg\"\n", false, Cut::StrayQuote(7)),
            // What follows a quote may not have been read.
            (b"\"bcdef\"", false, Cut::More),
            (b"\"b\ncdef\"", false, Cut::More),
        ];
        for &(rest, is_last, expected) in cases {
            let framing = Framing::Quoted { delimiter: b',' };
            assert_eq!(config.cut(framing, rest, is_last), expected, "{rest:?}, {is_last}");
        }
    }
}
