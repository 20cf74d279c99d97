//! Opening: a path or standard input becomes a mapping or a stream.

#![allow(unsafe_code, reason = "maps lists of URLs")]

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use super::chunks::{ChunkConfig, Chunks};
use super::decompress::Encoding;
use super::error::InputError;
use super::mapping::Mapping;
use super::reader::SourceReader;
use super::records::Terminator;
use super::stream::Stream;
use portcullis_robots::kind::{FileKind, Wanted, WrongKind};

/// How an input is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenConfig {
    /// Whether gzip and zstd are looked for and undone. On by default.
    pub decompress: bool,
    /// Whether a regular uncompressed file is mapped.
    pub(super) map: bool,
}

impl OpenConfig {
    /// The config by which a regular uncompressed file is mapped, not read: no byte of it is copied,
    /// and threads take chunks without waiting for a reader.
    ///
    /// # Safety
    ///
    /// Nothing may truncate or rewrite a file that is opened by this config while its [`Source`] or
    /// what came from it lives: its bytes are handed out as shared slices, which must not change.
    /// Appending does no harm. If the file is truncated all the same, touching what is gone raises
    /// SIGBUS, and what its last page held after its new end reads as zeros; [the
    /// runner](crate::batch::runner) compares the length after every chunk and before what came of
    /// it is handed on.
    #[must_use]
    pub unsafe fn mapped(self) -> OpenConfig {
        OpenConfig { map: true, ..self }
    }

    /// As [`OpenConfig::mapped`], for tests, which own their files.
    #[cfg(test)]
    pub const MAPPED: OpenConfig = OpenConfig { decompress: true, map: true };
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
/// use portcullis_capture::input::{ChunkConfig, OpenConfig, Source};
///
/// let source = Source::open(Path::new("urls.txt.gz"), OpenConfig::default())?;
/// for chunk in source.chunks(ChunkConfig::default()) {
///     println!("{} bytes of whole lines", chunk?.len());
/// }
/// # Ok::<(), portcullis_capture::input::InputError>(())
/// ```
pub struct Source {
    stored_bytes: Option<u64>,
    pub(super) content: Content,
}

/// Where the bytes are.
pub(super) enum Content {
    /// In a mapping, from `start` on.
    Mapped {
        mapping: Arc<Mapping>,
        start: usize,
    },
    Stream(Stream),
}

const STANDARD_INPUT: &str = "standard input";

impl Source {
    /// Opens the file at `path`, or standard input if `path` is `-`. It is read, unless the config
    /// says that it is [mapped](OpenConfig::mapped).
    ///
    /// # Errors
    ///
    /// [`InputError::Open`] if it cannot be opened or is a folder, [`InputError::Read`] if its first
    /// bytes cannot be read. Pipes are not read yet, so that opening one waits for nothing.
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

    /// Standard input, from the place where it stands.
    ///
    /// # Errors
    ///
    /// Those of [`Source::open`].
    #[cfg(unix)]
    pub fn stdin(config: OpenConfig) -> Result<Source, InputError> {
        use std::os::fd::AsFd;

        let name = STANDARD_INPUT.to_owned();
        match io::stdin().as_fd().try_clone_to_owned() {
            Ok(descriptor) => Source::from_file(name, File::from(descriptor), config),
            Err(error) => Err(InputError::Open { name, error }),
        }
    }

    /// Standard input.
    ///
    /// # Errors
    ///
    /// None on this system.
    #[cfg(not(unix))]
    pub fn stdin(config: OpenConfig) -> Result<Source, InputError> {
        Ok(Source::from_reader(STANDARD_INPUT, io::stdin(), config))
    }

    /// Any reader; `name` is what errors call it, and nothing is read yet.
    pub fn from_reader(
        name: impl Into<String>,
        reader: impl Read + Send + 'static,
        config: OpenConfig,
    ) -> Source {
        Source {
            stored_bytes: None,
            content: Content::Stream(Stream::new(name.into(), reader, config.decompress)),
        }
    }

    /// An opened file of any kind, from the place where it stands.
    pub(super) fn from_file(
        name: String,
        file: File,
        config: OpenConfig,
    ) -> Result<Source, InputError> {
        match file.metadata() {
            Ok(metadata) if metadata.is_dir() => {
                let kind = FileKind::Folder;
                Err(WrongKind { name, kind, wanted: Wanted::UrlList }.into())
            }
            Ok(metadata) if metadata.is_file() => {
                Source::from_regular_file(name, file, metadata.len(), config)
            }
            Ok(_) => Ok(Source::from_reader(name, file, config)),
            Err(error) => Err(InputError::Open { name, error }),
        }
    }

    /// A file with a length and a place to go back to. Some special files (in `/proc`) say that they
    /// are regular and empty; they are streams.
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
            // SAFETY: who made the config has promised that nothing truncates or rewrites the file.
            match unsafe { Mapping::new(&name, file) } {
                Ok(mapping) => return Ok(Source::from_mapping(mapping, start)),
                Err(unmapped) => file = unmapped,
            }
        }
        Ok(Source { stored_bytes, ..Source::from_reader(name, file, config) })
    }

    /// The bytes of `mapping` from `start` on, which are taken to be read whole.
    fn from_mapping(mapping: Mapping, start: u64) -> Source {
        mapping.leave_at_end();
        let start = usize::try_from(start).map_or(mapping.len(), |start| start.min(mapping.len()));
        Source {
            stored_bytes: Some((mapping.len() - start) as u64),
            content: Content::Mapped { mapping: Arc::new(mapping), start },
        }
    }

    /// What errors call the input: its path, or `standard input`.
    pub fn name(&self) -> &str {
        match &self.content {
            Content::Mapped { mapping, .. } => mapping.name(),
            Content::Stream(stream) => stream.name(),
        }
    }

    /// The bytes that are stored, before decompression, if that is known beforehand.
    pub fn stored_bytes(&self) -> Option<u64> {
        self.stored_bytes
    }

    /// Whether the input is mapped, not read.
    pub fn is_mapped(&self) -> bool {
        matches!(self.content, Content::Mapped { .. })
    }

    /// How the bytes are stored. Of a pipe it reads the first few.
    ///
    /// # Errors
    ///
    /// Any but [`InputError::RecordTooLong`] and [`InputError::Shrunk`].
    pub fn encoding(&mut self) -> Result<Encoding, InputError> {
        match &mut self.content {
            Content::Mapped { .. } => Ok(Encoding::Identity),
            Content::Stream(stream) => stream.encoding(),
        }
    }

    /// The first record and perhaps more, at most `bytes_max`, decompressed: for whoever tells
    /// formats apart by their first bytes. Nothing is consumed. Of a pipe it waits for no more than
    /// the first record.
    ///
    /// # Errors
    ///
    /// Those of [`Source::encoding`].
    pub fn peek(&mut self, terminator: Terminator, bytes_max: usize) -> Result<&[u8], InputError> {
        let first = match &mut self.content {
            Content::Mapped { mapping, start } => &mapping[*start..],
            Content::Stream(stream) => stream.peek(terminator.byte(), bytes_max)?,
        };
        Ok(&first[..first.len().min(bytes_max)])
    }

    /// The input in chunks of whole records.
    pub fn chunks(self, config: ChunkConfig) -> Chunks {
        Chunks::new(self, config)
    }

    /// The input as one plain reader, decompressed.
    pub fn into_reader(self) -> SourceReader {
        SourceReader::new(self)
    }
}

/// Where `file` stands, and whether its bytes from there are the list itself, neither compressed
/// nor the stump of something compressed. It stays there.
fn look_at_start(file: &mut File, name: &str, decompress: bool) -> io::Result<(u64, bool)> {
    let start = file.stream_position()?;
    if !decompress {
        return Ok((start, true));
    }
    let mut first = Vec::new();
    file.take(Encoding::MAGIC_BYTES as u64).read_to_end(&mut first)?;
    file.seek(SeekFrom::Start(start))?;
    let is_stump = Encoding::of_name(Path::new(name)).is_cut_short(&first);
    let is_plain = Encoding::detect(&first) == Encoding::Identity && !is_stump;
    Ok((start, is_plain))
}
