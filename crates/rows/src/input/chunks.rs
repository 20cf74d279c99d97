//! The chunks of a list: whole records of text, or rows of a Parquet file.
//!
//! The first chunk detects the format. Text is cut as its bytes say ([`TextChunks`]), and rows as
//! the pages of their file. Every readable list has at least one chunk, which may be empty, so that
//! readers of chunks see the bytes before the first record. After an error there are no more chunks.

use std::ops::Deref;
use std::sync::Arc;

use portcullis_files::input::{ChunkConfig, InputError, Source, TextChunk, TextChunks};

use crate::input::Terminator;
use crate::list::parquet::{ParquetList, PartOfRows, PartsOfRows};
use crate::list::{List, ListConfig, ListFormat, OpenStreams, detect};

/// A sequence of whole records. Dereferences to their text; rows of a Parquet file have none.
///
/// The last record lacks its terminator if the input does; the next input does not continue it.
/// Use [`Rows`](crate::list::Rows) for its records.
#[derive(Debug)]
pub struct Chunk {
    /// The records; none for rows of a Parquet file.
    text: TextChunk,
    /// Rows of a Parquet file, decoded where they are read.
    part: Option<PartOfRows>,
    /// The list to which the chunk belongs.
    pub list: Arc<List>,
    /// Whether the chunk is the first of its list.
    pub is_first: bool,
    /// The streams of a log whose last line before the chunk goes on.
    pub(crate) open: OpenStreams,
}

impl Chunk {
    /// Returns a whole list in memory, which begins with its first record.
    pub fn from_text(list: List, text: impl Into<Vec<u8>>) -> Chunk {
        let (text, list) = (TextChunk::whole(text.into()), Arc::new(list));
        Chunk { text, part: None, list, is_first: true, open: OpenStreams::default() }
    }

    /// Returns the size of the chunk for bounds on memory: the bytes of its records, or of the pages
    /// that hold its URLs if it comes from a Parquet file.
    pub fn memory_bytes(&self) -> usize {
        self.part.as_ref().map_or(self.text.len(), |part| part.memory_bytes as usize)
    }

    /// Returns the rows of the chunk. `None` if it is text, or of a Parquet file without rows.
    #[inline]
    pub fn part(&self) -> Option<&PartOfRows> {
        self.part.as_ref()
    }
}

impl Deref for Chunk {
    type Target = TextChunk;

    #[inline]
    fn deref(&self) -> &TextChunk {
        &self.text
    }
}

/// The chunks of one input, in order. After an error there are no more.
pub struct Chunks {
    text: TextChunks,
    /// The rows, which replace the text of a Parquet file.
    parts: Option<PartsOfRows>,
    /// How the list is read.
    lists: Arc<ListConfig>,
    /// The list, once it is detected.
    list: Option<Arc<List>>,
    is_first: bool,
    is_over: bool,
    open: OpenStreams,
}

impl Chunks {
    /// Returns the input in chunks of whole records. The format is detected with the first chunk,
    /// unless it is given.
    pub fn new(source: Source, config: ChunkConfig, lists: impl Into<Arc<ListConfig>>) -> Chunks {
        Chunks {
            text: TextChunks::new(source, config),
            parts: None,
            lists: lists.into(),
            list: None,
            is_first: true,
            is_over: false,
            open: OpenStreams::default(),
        }
    }

    /// Whether the next chunk needs no waiting, and little work.
    pub fn is_plain_file(&mut self) -> bool {
        self.text.source.plain_file().is_some()
    }

    /// Returns how the input is read. The first call detects the format and skips the bytes before
    /// the first record.
    fn list(&mut self) -> Result<Arc<List>, InputError> {
        if let Some(list) = &self.list {
            return Ok(Arc::clone(list));
        }
        let config = Arc::clone(&self.lists);
        // With NUL, bytes are as they are.
        let is_utf16 = config.terminator == Terminator::LineFeed && self.text.read_in_utf8();
        let list =
            self.text.find_first(|name, bytes, is_whole| detect(name, bytes, is_whole, &config))?;
        let list = Arc::new(match list.format() {
            ListFormat::Parquet => self.open_parquet(list, &config)?,
            _ if is_utf16 => list.of_utf16(),
            _ => list,
        });
        if list.is_staged {
            self.text.through(|stream| list.staged(stream, config.is_lenient));
        }
        self.text.source.skip(list.head().len() as u64);
        self.list = Some(Arc::clone(&list));
        Ok(list)
    }

    /// Opens a Parquet file, which is read from its end.
    fn open_parquet(&mut self, list: List, config: &ListConfig) -> Result<List, InputError> {
        let file = self.text.source.plain_file().and_then(|file| file.try_clone().ok());
        if let Some(file) = file {
            let rows = ParquetList::open(list.name(), file, config)?;
            let rows = Arc::new(rows);
            self.parts = Some(Arc::clone(&rows).parts(self.text.config.by_row_group));
            return Ok(list.of_rows(&rows));
        }
        let problem = match self.text.source.coding()? {
            Some(_) => "which compression hides; decompress the file first",
            None => "which a pipe hides; store it and name the file",
        };
        let problem = format!("Parquet is read from its end, {problem}");
        Err(InputError::list(list.name(), problem))
    }

    fn read(&mut self) -> Result<Option<Chunk>, InputError> {
        let list = self.list()?;
        let is_first = std::mem::replace(&mut self.is_first, false);
        if let Some(parts) = &mut self.parts {
            let part = parts.next().transpose()?;
            let stored_bytes = part.as_ref().map_or(0, |part| part.stored_bytes);
            let text = TextChunk::empty(stored_bytes, parts.is_at_end());
            let has_rows = part.is_some() || is_first;
            let open = self.open;
            return Ok(has_rows.then_some(Chunk { text, part, list, is_first, open }));
        }
        let text = self.text.next(list.framing)?;
        Ok(text.map(|text| {
            let open = self.open;
            self.open = list.open_after(&text, open);
            Chunk { text, part: None, list, is_first, open }
        }))
    }
}

impl Iterator for Chunks {
    type Item = Result<Chunk, InputError>;

    fn next(&mut self) -> Option<Result<Chunk, InputError>> {
        if self.is_over {
            return None;
        }
        let next = self.read().transpose();
        self.is_over = !matches!(next, Some(Ok(_)));
        next
    }
}

impl std::iter::FusedIterator for Chunks {}
