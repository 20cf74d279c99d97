//! Reads one robots.txt file up to its size limit, decompressed.
//!
//! Use [`Source`] for lists. Cost: a few reads, into memory that can be reused. A file of another type,
//! such as an archive, is an error that says how to read it.

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::Path;

use super::InputError;
use super::source::Source;
use crate::compression::Coding;
use crate::error::STANDARD_INPUT;
use crate::kind::{FileKind, Wanted};
use crate::limits::FILE_READ_BYTES;
use portcullis_dialect::limits::BODY_BYTES_MAX;

/// Reads the robots.txt at `path`, or from standard input if it is `-`: up to `bytes_max` bytes, or
/// all, and a little more, so that the parser sees whether a line is cut. gzip and zstd are
/// decompressed, up to [`BODY_BYTES_MAX`] bytes.
///
/// # Errors
///
/// If the file cannot be opened, read or decompressed, or is surely not a robots.txt
/// ([`InputError::WrongKind`]). HTML, JSON and binary data are left to the parser. An empty stream
/// (standard input, a pipe, a device) is an error too: a failed download leaves one, and no rules allow
/// everything.
pub fn read_robots_txt(path: &Path, bytes_max: Option<usize>) -> Result<Vec<u8>, InputError> {
    /// The bytes read past the limit. A line end is two bytes at most.
    const SEEN_PAST_MAX: usize = 2;
    let wanted = bytes_max.map_or(usize::MAX, |max| max.saturating_add(SEEN_PAST_MAX));
    let mut text = Vec::new();
    if path == Path::new("-") {
        fill_robots_txt(STANDARD_INPUT, io::stdin(), wanted, &mut text)?;
        return if text.is_empty() { Err(empty_stream(STANDARD_INPUT)) } else { Ok(text) };
    }
    let name = path.display().to_string();
    let opened = File::open(path).and_then(|file| Ok((file.metadata()?, file)));
    let (metadata, file) = opened.map_err(|error| InputError::open(path, error))?;
    if metadata.is_dir() {
        return Err(InputError::wrong_kind(name, FileKind::Folder, Wanted::RobotsTxt));
    }
    fill_robots_txt(&name, file, wanted, &mut text)?;
    if text.is_empty() && !metadata.is_file() { Err(empty_stream(&name)) } else { Ok(text) }
}

fn empty_stream(name: &str) -> InputError {
    let problem = "empty; did a download fail? For a robots.txt without rules, name an empty file";
    InputError::list(name, problem)
}

/// Like [`read_robots_txt`], but reads the first `wanted` bytes of `stored` into `text`, whose memory is
/// reused. Its kind is that of the first [`FILE_READ_BYTES`] bytes at least.
///
/// # Errors
///
/// As [`read_robots_txt`].
pub fn fill_robots_txt(
    name: &str,
    mut stored: impl Read + Send + 'static,
    wanted: usize,
    text: &mut Vec<u8>,
) -> Result<(), InputError> {
    // A small limit must not hide what the file is.
    let seen = wanted.max(FILE_READ_BYTES);
    text.clear();
    text.reserve(FILE_READ_BYTES);
    let read = stored.by_ref().take(seen as u64).read_to_end(text);
    read.map_err(|error| InputError::open(name, error))?;
    let mut kind = FileKind::of(text);
    let promised = Coding::from_file_name(Path::new(name));
    let is_stump = promised.is_some_and(|promised| promised.is_cut_short(text));
    if is_stump || matches!(kind, FileKind::Gzip | FileKind::Zstd) {
        let begin = Cursor::new(text.clone());
        let mut source = Source::from_reader(name, begin.chain(stored));
        let bound = seen.min(BODY_BYTES_MAX + 1);
        if !source.fill(bound)
            && let Some(error) = source.take_failure()
        {
            return Err(error);
        }
        text.clear();
        text.extend_from_slice(&source.buffer()[..source.buffer().len().min(bound)]);
        if text.len() > BODY_BYTES_MAX {
            let fix = "set ‹max_robots_size›";
            let problem = format!("longer than {BODY_BYTES_MAX} bytes after decompression; {fix}");
            return Err(InputError::list(name, problem));
        }
        kind = FileKind::of(text);
    }
    if kind.is_no_robots_txt() {
        return Err(InputError::wrong_kind(name, kind, Wanted::RobotsTxt));
    }
    text.truncate(wanted);
    Ok(())
}
