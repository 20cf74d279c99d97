//! The dictionary that a zstd file brings along, as `.warc.zst` files do.
//!
//! Such a file begins with a skippable frame of a magic number of its own, which holds a dictionary
//! (RFC 8878, section 5), plain or in a frame of zstd. Every frame after it needs the dictionary.
//! Source: the IIPC's Zstandard Compression of WARC Files, version 1.0.

use std::io::{self, Cursor, ErrorKind, Read};

use portcullis_dialect::limits::ZSTD_DICTIONARY_BYTES_MAX;
use portcullis_robots::kind::{ZSTD, ZSTD_DICTIONARY, ZSTD_DICTIONARY_FRAME};

/// The dictionary at the begin of `stored`, or none, and what the frames of data are read from.
///
/// A skippable frame that holds something else is passed over, as any other is.
pub(super) fn split_dictionary(
    mut stored: Box<dyn Read + Send>,
) -> io::Result<(Vec<u8>, Box<dyn Read + Send>)> {
    let mut first = Vec::new();
    stored.by_ref().take(ZSTD_DICTIONARY_FRAME.len() as u64).read_to_end(&mut first)?;
    if first != ZSTD_DICTIONARY_FRAME {
        return Ok((Vec::new(), Box::new(Cursor::new(first).chain(stored))));
    }
    let mut bytes = [0; 4];
    stored.read_exact(&mut bytes)?;
    let content = read_exactly(&mut stored, u32::from_le_bytes(bytes) as usize)?;
    let dictionary = if content.starts_with(ZSTD) { decompress(&content)? } else { content };
    let is_dictionary = dictionary.starts_with(ZSTD_DICTIONARY);
    Ok((if is_dictionary { dictionary } else { Vec::new() }, stored))
}

fn read_exactly(stored: &mut dyn Read, bytes: usize) -> io::Result<Vec<u8>> {
    if bytes > ZSTD_DICTIONARY_BYTES_MAX {
        return Err(too_long());
    }
    let mut content = Vec::new();
    stored.take(bytes as u64).read_to_end(&mut content)?;
    if content.len() < bytes {
        return Err(ErrorKind::UnexpectedEof.into());
    }
    Ok(content)
}

fn decompress(content: &[u8]) -> io::Result<Vec<u8>> {
    let mut dictionary = Vec::new();
    zstd::Decoder::with_buffer(content)?
        .take(ZSTD_DICTIONARY_BYTES_MAX as u64 + 1)
        .read_to_end(&mut dictionary)?;
    if dictionary.len() > ZSTD_DICTIONARY_BYTES_MAX { Err(too_long()) } else { Ok(dictionary) }
}

fn too_long() -> io::Error {
    let problem = format!("its dictionary is longer than {ZSTD_DICTIONARY_BYTES_MAX} bytes");
    io::Error::new(ErrorKind::InvalidData, problem)
}
