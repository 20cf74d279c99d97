//! Opens a path, standard input or any reader.

#![allow(unsafe_code, reason = "declares the contract of mapped lists")]

use std::fs::File;
use std::io::{self, Read, Seek};
use std::ops::Range;
use std::path::Path;

use super::InputError;
use super::framing::Terminator;
use super::stream::Stream;
use crate::compression::Coding;
use crate::kind::{FileKind, Wanted, WrongKind};

/// An opened input.
///
/// ```no_run
/// use std::path::Path;
/// use portcullis_files::input::{ChunkConfig, Framing, Source, Terminator, TextChunks};
///
/// let source = Source::open(Path::new("urls.txt.gz"))?;
/// let mut chunks = TextChunks::new(source, ChunkConfig::default());
/// while let Some(chunk) = chunks.next(Framing::Byte(Terminator::LineFeed)) {
///     println!("{} bytes of whole lines", chunk?.len());
/// }
/// # Ok::<(), portcullis_files::input::InputError>(())
/// ```
pub struct Source {
    pub(super) stream: Stream,
    stored_bytes: Option<u64>,
    /// The file itself, if it is regular, with the places where the input begins and ends. Formats
    /// that are not read from the beginning need it.
    pub(super) file: Option<(File, Range<u64>)>,
    pub(super) maps: bool,
}

/// The name of standard input in messages.
pub const STANDARD_INPUT: &str = "standard input";

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
        let name = path.display().to_string();
        match File::open(path) {
            Ok(file) => Source::from_file(name, file),
            Err(error) => Err(InputError::Open { name, error }),
        }
    }

    /// Opens standard input, from its current position.
    ///
    /// # Errors
    ///
    /// As [`Source::open`].
    #[cfg(unix)]
    pub fn stdin() -> Result<Source, InputError> {
        use std::os::fd::AsFd;

        let name = STANDARD_INPUT.to_owned();
        match io::stdin().as_fd().try_clone_to_owned() {
            Ok(descriptor) => Source::from_file(name, File::from(descriptor)),
            Err(error) => Err(InputError::Open { name, error }),
        }
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
        Source {
            stream: Stream::new(name.into(), reader),
            stored_bytes: None,
            file: None,
            maps: false,
        }
    }

    /// Wraps an opened file of any kind, from its current position. Errors call the input `name`.
    ///
    /// # Errors
    ///
    /// As [`Source::open`].
    pub fn from_file(name: String, mut file: File) -> Result<Source, InputError> {
        let metadata = match file.metadata() {
            Ok(metadata) => metadata,
            Err(error) => return Err(InputError::Open { name, error }),
        };
        if metadata.is_dir() {
            let kind = FileKind::Folder;
            return Err(WrongKind { name, kind, wanted: Wanted::UrlList }.into());
        }
        // If there is no second handle, a format that needs one reports an error.
        let second = file.try_clone().ok();
        if !metadata.is_file() {
            let mut source = Source::from_reader(name, file);
            source.stream.watch(second);
            return Ok(source);
        }
        // Some special files (in `/proc`) report that they are regular and empty.
        let start = file.stream_position().unwrap_or(0);
        let stored_bytes = (metadata.len() > start).then(|| metadata.len() - start);
        let mut source = Source::from_reader(name, file);
        source.stream.expect(stored_bytes.unwrap_or(0));
        Ok(Source {
            stored_bytes,
            file: second.map(|file| (file, start..metadata.len())),
            ..source
        })
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

    /// Returns the name of the input in errors: its path, or `standard input`.
    pub fn name(&self) -> &str {
        self.stream.name()
    }

    /// Returns the stored size before decompression, or `None` if it is not known in advance.
    pub fn stored_bytes(&self) -> Option<u64> {
        self.stored_bytes
    }

    /// Returns the compression of the input, or `None` if it is not compressed. Reads the first few
    /// bytes.
    ///
    /// # Errors
    ///
    /// Any error except [`InputError::RecordTooLong`].
    pub fn coding(&mut self) -> Result<Option<Coding>, InputError> {
        self.stream.coding()
    }

    /// Returns the first record and perhaps more, decompressed, at most `bytes_max` bytes, for
    /// detecting the format. No byte is consumed. On a pipe, the call waits for the first record
    /// only.
    ///
    /// # Errors
    ///
    /// As [`Source::coding`].
    pub fn peek(&mut self, terminator: Terminator, bytes_max: usize) -> Result<&[u8], InputError> {
        let first = self.stream.peek(terminator.byte(), bytes_max)?;
        Ok(&first[..first.len().min(bytes_max)])
    }

    /// Returns the input as a stream, for formats that are not cut into records of text.
    pub fn into_stream(self) -> Stream {
        self.stream
    }
}
