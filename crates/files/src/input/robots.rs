//! Reads one robots.txt file up to its size limit, decompressed.
//!
//! Use [`Source`] for lists. Cost: one read per 64 KiB, into memory that can be reused. A file of
//! another type, such as an archive, is an error that says how to read it.

use std::fs::File;
use std::io::{self, Cursor, ErrorKind, Read};
use std::path::Path;

use super::InputError;
use super::source::{STANDARD_INPUT, Source};
use crate::compression::Coding;
use crate::kind::{FileKind, Wanted, WrongKind};
use crate::limits::FILE_READ_BYTES;
use portcullis_dialect::limits::BODY_BYTES_MAX;

/// Reads the robots.txt at `path`, or from standard input if it is `-`: up to `bytes_max` bytes, or
/// all, and a little more, so that the parser sees whether a line is cut. gzip and zstd are
/// decompressed, up to [`BODY_BYTES_MAX`] bytes.
///
/// # Errors
///
/// If the file cannot be opened, read or decompressed, or is surely not a robots.txt
/// ([`InputError::WrongKind`]). HTML, JSON and binary data are left to the parser.
pub fn read_robots_txt(path: &Path, bytes_max: Option<usize>) -> Result<Vec<u8>, InputError> {
    if path == Path::new("-") {
        return read_robots_txt_from(STANDARD_INPUT, io::stdin(), bytes_max);
    }
    let name = path.display().to_string();
    let opened = File::open(path).and_then(|file| Ok((file.metadata()?.is_dir(), file)));
    let file = match opened {
        Ok((false, file)) => file,
        Ok((true, _)) => {
            let kind = FileKind::Folder;
            return Err(WrongKind { name, kind, wanted: Wanted::RobotsTxt }.into());
        }
        Err(error) => return Err(InputError::Open { name, error }),
    };
    read_robots_txt_from(&name, file, bytes_max)
}

/// Like [`read_robots_txt`], from any reader. Errors call the input `name`.
///
/// # Errors
///
/// As [`read_robots_txt`].
pub fn read_robots_txt_from(
    name: &str,
    stored: impl Read + Send + 'static,
    bytes_max: Option<usize>,
) -> Result<Vec<u8>, InputError> {
    /// The bytes read past the limit. A line end is two bytes at most.
    const SEEN_PAST_MAX: usize = 2;
    let wanted = bytes_max.map_or(usize::MAX, |max| max.saturating_add(SEEN_PAST_MAX));
    let mut text = Vec::new();
    let bytes = fill_robots_txt(name, stored, wanted, &mut text)?.len();
    text.truncate(bytes);
    Ok(text)
}

/// Like [`read_robots_txt`], but returns the first `wanted` bytes of `stored`, in memory that may be
/// reused. Its kind is that of the first [`FILE_READ_BYTES`] bytes at least.
///
/// # Errors
///
/// As [`read_robots_txt`].
pub fn fill_robots_txt<'t>(
    name: &str,
    mut stored: impl Read + Send + 'static,
    wanted: usize,
    text: &'t mut Vec<u8>,
) -> Result<&'t [u8], InputError> {
    let failed = |error| InputError::Open { name: name.to_owned(), error };
    // A small limit must not hide what the file is.
    let seen = wanted.max(FILE_READ_BYTES);
    let mut bytes = fill(&mut stored, seen, text).map_err(failed)?;
    let mut kind = FileKind::of(&text[..bytes]);
    let promised = Coding::from_file_name(Path::new(name));
    let is_stump = promised.is_some_and(|promised| promised.is_cut_short(&text[..bytes]));
    if is_stump || matches!(kind, FileKind::Gzip | FileKind::Zstd) {
        let begin = Cursor::new(text[..bytes].to_vec());
        let source = Source::from_reader(name, begin.chain(stored));
        let mut stream = source.into_stream();
        let bound = seen.min(BODY_BYTES_MAX + 1);
        if !stream.fill(bound)
            && let Some(error) = stream.take_failure()
        {
            return Err(error);
        }
        text.clear();
        text.extend_from_slice(&stream.bytes()[..stream.bytes().len().min(bound)]);
        bytes = text.len();
        if bytes > BODY_BYTES_MAX {
            let (name, bytes_max) = (name.to_owned(), BODY_BYTES_MAX);
            return Err(InputError::TooLong { name, bytes_max });
        }
        kind = FileKind::of(&text[..bytes]);
    }
    if kind.is_no_robots_txt() {
        return Err(WrongKind { name: name.to_owned(), kind, wanted: Wanted::RobotsTxt }.into());
    }
    Ok(&text[..bytes.min(wanted)])
}

/// Reads up to `wanted` bytes into the start of `text`, which grows as needed. Returns the number
/// of bytes read.
fn fill(reader: &mut impl Read, wanted: usize, text: &mut Vec<u8>) -> io::Result<usize> {
    let mut filled = 0;
    while filled < wanted {
        if filled == text.len() {
            let room = (2 * filled).max(FILE_READ_BYTES);
            text.resize(room, 0);
        }
        let end = text.len().min(wanted);
        match reader.read(&mut text[filled..end]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}
