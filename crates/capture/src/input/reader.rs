//! An input as one plain reader, for formats that are not cut at line feeds.

use std::io::{self, Read};
use std::sync::Arc;

use super::error::InputError;
use super::mapping::Mapping;
use super::source::{Content, Source};
use super::stream::Stream;

/// The bytes of a [`Source`], decompressed.
///
/// An error of `read` holds an [`InputError`] (see [`io::Error::get_ref`]); once there was one, every
/// later read fails too. Reads are large and unbuffered: wrap it in a [`std::io::BufReader`] to read
/// line by line.
///
/// ```
/// use std::io::Read;
/// use portcullis_capture::input::{OpenConfig, Source};
///
/// let mut text = String::new();
/// Source::from_reader("a list", &b"one\ntwo\n"[..], OpenConfig::default())
///     .into_reader()
///     .read_to_string(&mut text)?;
/// assert_eq!(text, "one\ntwo\n");
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct SourceReader(Inner);

enum Inner {
    Mapped { mapping: Arc<Mapping>, start: usize, position: usize },
    Stream(Stream),
}

impl SourceReader {
    pub(super) fn new(source: Source) -> SourceReader {
        SourceReader(match source.content {
            Content::Mapped { mapping, start } => Inner::Mapped { mapping, start, position: start },
            Content::Stream(stream) => Inner::Stream(stream),
        })
    }

    /// The bytes that were taken from the file or pipe so far, before decompression.
    pub fn stored_bytes(&self) -> u64 {
        match &self.0 {
            Inner::Mapped { start, position, .. } => (position - start) as u64,
            Inner::Stream(stream) => stream.stored_bytes(),
        }
    }
}

impl Read for SourceReader {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match &mut self.0 {
            _ if out.is_empty() => Ok(0),
            Inner::Stream(stream) => stream.read(out).map_err(into_io_error),
            Inner::Mapped { mapping, position, .. } => {
                let count = (&mapping[*position..]).read(out)?;
                *position += count;
                mapping.check().map_err(into_io_error)?;
                Ok(count)
            }
        }
    }
}

fn into_io_error(error: InputError) -> io::Error {
    let kind = match &error {
        InputError::Open { error: source, .. }
        | InputError::Read { source, .. }
        | InputError::Damaged { source, .. } => source.kind(),
        InputError::Truncated { .. } | InputError::Shrunk { .. } => io::ErrorKind::UnexpectedEof,
        InputError::RecordTooLong { .. }
        | InputError::TooLong { .. }
        | InputError::WrongKind(_) => io::ErrorKind::InvalidData,
    };
    io::Error::new(kind, error)
}
