//! Opens a path, standard input or any reader as a mapping or a stream.
//!
//! A regular uncompressed file is mapped if the caller asks for it; everything else is a stream.
//!
//! **Safety contract** of a mapping ([`OpenConfig::mapped`]): no process may truncate or rewrite
//! the file while it is mapped. If the file is truncated, or its disk fails, touching a missing
//! page raises SIGBUS. The code that needs the missing bytes cannot continue: the program's handler
//! reports this and ends the program with status 2 and no output. A process that uses the library
//! is killed by the system unless it has its own handler. The last page reads as zeros after the
//! new end. [`Mapping::check`] detects this, and is called before the results of a chunk are used.
//! Appending is harmless: the mapping keeps its length.

#![allow(unsafe_code, reason = "maps lists of URLs")]

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use memmap2::Mmap;

use crate::kind::{FileKind, Wanted, WrongKind};

use super::InputError;
use super::framing::Terminator;
use super::stream::Stream;
use crate::compression::Coding;

/// How an input is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenConfig {
    /// Whether gzip and zstd are detected and decompressed. On by default.
    pub decompress: bool,
    /// Whether a regular uncompressed file is mapped.
    pub(super) map: bool,
}

impl OpenConfig {
    /// Returns the config that maps a regular uncompressed file: no byte of it is copied, and
    /// threads take chunks without waiting for a reader.
    ///
    /// # Safety
    ///
    /// No process may truncate or rewrite a file that is opened with this config while its
    /// [`Source`], or a value made from it, is alive: its bytes are exposed as shared slices, which
    /// must not change. Appending is harmless. If the file is truncated anyway, touching a missing
    /// page raises SIGBUS, and the last page reads as zeros after the new end. Call
    /// [`TextChunk::check`] before the results of a chunk are used.
    ///
    /// [`TextChunk::check`]: super::TextChunk::check
    #[must_use]
    pub unsafe fn mapped(self) -> OpenConfig {
        OpenConfig { map: true, ..self }
    }
}

impl Default for OpenConfig {
    fn default() -> OpenConfig {
        OpenConfig { decompress: true, map: false }
    }
}

/// An opened input.
///
/// ```no_run
/// use std::path::Path;
/// use portcullis_files::input::{ChunkConfig, Framing, OpenConfig, Source, Terminator, TextChunks};
///
/// let source = Source::open(Path::new("urls.txt.gz"), OpenConfig::default())?;
/// let mut chunks = TextChunks::new(source, ChunkConfig::default());
/// while let Some(chunk) = chunks.next(Framing::Byte(Terminator::LineFeed)) {
///     println!("{} bytes of whole lines", chunk?.len());
/// }
/// # Ok::<(), portcullis_files::input::InputError>(())
/// ```
pub struct Source {
    stored_bytes: Option<u64>,
    content: Content,
    /// The file itself, if it is regular and not compressed. Formats that are not read from the
    /// beginning need it.
    file: Option<File>,
}

/// The location of the bytes.
pub(super) enum Content {
    /// A mapping, from `start` on.
    Mapped {
        mapping: Arc<Mapping>,
        start: usize,
    },
    Stream(Stream),
}

/// The name of standard input in messages.
pub const STANDARD_INPUT: &str = "standard input";

impl Source {
    /// Opens the file at `path`, or standard input if `path` is `-`. The input is read, unless the
    /// config [maps](OpenConfig::mapped) files.
    ///
    /// # Errors
    ///
    /// [`InputError::Open`] if it cannot be opened or is a folder, [`InputError::Read`] if its
    /// first bytes cannot be read. Pipes are not read yet, so opening one never waits.
    pub fn open(path: &Path, config: OpenConfig) -> Result<Source, InputError> {
        if path == Path::new("-") {
            return Source::stdin(config);
        }
        let name = path.display().to_string();
        match File::open(path) {
            Ok(file) => Source::from_file(name, file, config),
            Err(error) => Err(InputError::Open { name, error }),
        }
    }

    /// Opens standard input, from its current position.
    ///
    /// # Errors
    ///
    /// As [`Source::open`].
    #[cfg(unix)]
    pub fn stdin(config: OpenConfig) -> Result<Source, InputError> {
        use std::os::fd::AsFd;

        let name = STANDARD_INPUT.to_owned();
        match io::stdin().as_fd().try_clone_to_owned() {
            Ok(descriptor) => Source::from_file(name, File::from(descriptor), config),
            Err(error) => Err(InputError::Open { name, error }),
        }
    }

    /// Opens standard input.
    ///
    /// # Errors
    ///
    /// None on this system.
    #[cfg(not(unix))]
    pub fn stdin(config: OpenConfig) -> Result<Source, InputError> {
        Ok(Source::from_reader(STANDARD_INPUT, io::stdin(), config))
    }

    /// Wraps any reader, without reading yet. Errors call the input `name`.
    pub fn from_reader(
        name: impl Into<String>,
        reader: impl Read + Send + 'static,
        config: OpenConfig,
    ) -> Source {
        Source {
            stored_bytes: None,
            content: Content::Stream(Stream::new(name.into(), reader, config.decompress)),
            file: None,
        }
    }

    /// Wraps an opened file of any kind, from its current position. Errors call the input `name`.
    ///
    /// # Errors
    ///
    /// As [`Source::open`].
    pub fn from_file(name: String, file: File, config: OpenConfig) -> Result<Source, InputError> {
        match file.metadata() {
            Ok(metadata) if metadata.is_dir() => {
                let kind = FileKind::Folder;
                Err(WrongKind { name, kind, wanted: Wanted::UrlList }.into())
            }
            Ok(metadata) if metadata.is_file() => {
                Source::from_regular_file(name, file, metadata.len(), config)
            }
            Ok(_) => {
                let pipe = file.try_clone().ok();
                let mut stream = Stream::new(name, file, config.decompress);
                stream.watch(pipe);
                Ok(Source { stored_bytes: None, content: Content::Stream(stream), file: None })
            }
            Err(error) => Err(InputError::Open { name, error }),
        }
    }

    /// Wraps a regular file, which has a length and can seek. Some special files (in `/proc`)
    /// report that they are regular and empty; they are read as streams.
    fn from_regular_file(
        name: String,
        mut file: File,
        bytes: u64,
        config: OpenConfig,
    ) -> Result<Source, InputError> {
        let (start, is_plain) = match look_at_start(&mut file, &name, config.decompress) {
            Ok(found) => found,
            Err(source) => return Err(InputError::Read { name, source }),
        };
        let stored_bytes = (bytes > start).then(|| bytes - start);
        if config.map && is_plain && stored_bytes.is_some() {
            // SAFETY: the caller that made the config has promised that no process truncates or
            // rewrites the file.
            match unsafe { Mapping::new(&name, file) } {
                Ok(mapping) => return Ok(Source::from_mapping(mapping, start)),
                Err(unmapped) => file = unmapped,
            }
        }
        // If there is no second handle, a format that needs one reports an error.
        let regular = is_plain.then(|| file.try_clone().ok()).flatten();
        Ok(Source { stored_bytes, file: regular, ..Source::from_reader(name, file, config) })
    }

    /// Wraps the bytes of `mapping` from `start` on. They are expected to be read to the end.
    fn from_mapping(mapping: Mapping, start: u64) -> Source {
        mapping.leave_at_end();
        let start = usize::try_from(start).map_or(mapping.len(), |start| start.min(mapping.len()));
        Source {
            stored_bytes: Some((mapping.len() - start) as u64),
            file: mapping.file.try_clone().ok(),
            content: Content::Mapped { mapping: Arc::new(mapping), start },
        }
    }

    /// Returns the name of the input in errors: its path, or `standard input`.
    pub fn name(&self) -> &str {
        match &self.content {
            Content::Mapped { mapping, .. } => mapping.name(),
            Content::Stream(stream) => stream.name(),
        }
    }

    /// Returns the stored size before decompression, or `None` if it is not known in advance.
    pub fn stored_bytes(&self) -> Option<u64> {
        self.stored_bytes
    }

    /// Whether the input is mapped, not read.
    pub fn is_mapped(&self) -> bool {
        matches!(self.content, Content::Mapped { .. })
    }

    /// Returns the compression of the input, or `None` if it is not compressed. Reads the first few
    /// bytes of a pipe.
    ///
    /// # Errors
    ///
    /// Any error except [`InputError::RecordTooLong`] and [`InputError::Shrunk`].
    pub fn coding(&mut self) -> Result<Option<Coding>, InputError> {
        match &mut self.content {
            Content::Mapped { .. } => Ok(None),
            Content::Stream(stream) => stream.coding(),
        }
    }

    /// Returns the first record and perhaps more, decompressed, at most `bytes_max` bytes, for
    /// detecting the format. No byte is consumed. On a pipe, the call waits for the first record
    /// only.
    ///
    /// # Errors
    ///
    /// As [`Source::coding`].
    pub fn peek(&mut self, terminator: Terminator, bytes_max: usize) -> Result<&[u8], InputError> {
        let first = match &mut self.content {
            Content::Mapped { mapping, start } => &mapping[*start..],
            Content::Stream(stream) => stream.peek(terminator.byte(), bytes_max)?,
        };
        Ok(&first[..first.len().min(bytes_max)])
    }

    /// Returns the bytes, and the file itself if it is regular and not compressed.
    pub(super) fn into_parts(self) -> (Content, Option<File>) {
        (self.content, self.file)
    }

    /// Returns the input as a stream, for formats that are not cut at line feeds. A mapping is
    /// copied.
    pub fn into_stream(self) -> Stream {
        self.content.into_stream()
    }
}

impl Content {
    /// Returns the bytes as a stream. A mapping is copied.
    pub(super) fn into_stream(self) -> Stream {
        match self {
            Content::Stream(stream) => stream,
            Content::Mapped { mapping, start } => {
                Stream::new(mapping.name.clone(), MappedBytes { mapping, start }, false)
            }
        }
    }
}

/// Returns the position of `file`, and whether the bytes from there are plain: neither compressed
/// nor cut inside a magic number. The position is unchanged.
fn look_at_start(file: &mut File, name: &str, decompress: bool) -> io::Result<(u64, bool)> {
    let start = file.stream_position()?;
    if !decompress {
        return Ok((start, true));
    }
    let mut first = Vec::new();
    file.take(Coding::MAGIC_BYTES as u64).read_to_end(&mut first)?;
    file.seek(SeekFrom::Start(start))?;
    let promised = Coding::from_file_name(Path::new(name));
    let is_stump = promised.is_some_and(|promised| promised.is_cut_short(&first));
    Ok((start, Coding::detect(&first).is_none() && !is_stump))
}

/// A whole file that is mapped for reading.
#[derive(Debug)]
pub(super) struct Mapping {
    bytes: Mmap,
    /// Kept to query the length again.
    file: File,
    /// The name of the file in errors.
    name: String,
}

impl Mapping {
    /// Maps `file`. If the system cannot map it, returns the file, to be read as a stream.
    ///
    /// # Safety
    ///
    /// No process truncates or rewrites the file while the mapping lives.
    unsafe fn new(name: &str, file: File) -> Result<Mapping, File> {
        // SAFETY: the map is read-only and private to this type, which returns shared slices no
        // longer than it lives. The caller promises the rest.
        match unsafe { Mmap::map(&file) } {
            Ok(bytes) => {
                advise_sequential(&bytes);
                Ok(Mapping { bytes, file, name: name.to_owned() })
            }
            Err(_) => Err(file),
        }
    }

    /// Moves the file's position to its end, where reading would have left it, so that a process
    /// that shares the position (as with standard input) does not read the list a second time. A
    /// failure has no effect here, because the whole file is still mapped.
    fn leave_at_end(&self) {
        (&self.file).seek(SeekFrom::End(0)).ok();
    }

    /// Returns the name of the file in errors.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Whether the file is still at least as long as its mapping.
    ///
    /// # Errors
    ///
    /// [`InputError::Shrunk`] if the file is shorter.
    pub(super) fn check(&self) -> Result<(), InputError> {
        match self.file.metadata() {
            Ok(metadata) if metadata.len() >= self.bytes.len() as u64 => Ok(()),
            _ => Err(InputError::Shrunk { name: self.name.clone() }),
        }
    }
}

impl Deref for Mapping {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

/// The bytes of a mapping from `start` on.
struct MappedBytes {
    mapping: Arc<Mapping>,
    start: usize,
}

impl Read for MappedBytes {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = (&self.mapping[self.start..]).read(out)?;
        self.start += count;
        self.mapping.check().map_err(io::Error::other)?;
        Ok(count)
    }
}

/// Advises the system to read pages ahead and drop them early. Failures are ignored.
#[cfg(unix)]
fn advise_sequential(bytes: &Mmap) {
    bytes.advise(memmap2::Advice::Sequential).ok();
}

#[cfg(not(unix))]
fn advise_sequential(_: &Mmap) {}
