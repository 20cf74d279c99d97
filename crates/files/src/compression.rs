//! Decompression of files while they are read, and of HTTP bodies in memory.
//!
//! A file may be gzip with any number of members or zstd with any number of frames, skippable ones
//! included. Zeros may follow a member of gzip, as tapes and block devices pad files. Other bytes
//! between or after members are damage, because they cannot be distinguished from a damaged member. A
//! `.warc.zst` file may begin with a skippable frame of a special type. It holds a dictionary for the following
//! frames, plain or as a zstd frame (RFC 8878, section 5; the IIPC's Zstandard Compression of WARC Files,
//! version 1.0).
//!
//! A body may be in any content coding of RFC 9110, section 8.4.1. Servers pad gzip, and send raw
//! deflate data as `deflate`; both are accepted. A truncated body is reported as not whole.

use std::io::{self, BufRead, BufReader, Cursor, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use brotli_decompressor::Decompressor;
use flate2::bufread::GzDecoder;
use flate2::{Decompress, FlushDecompress, Status};
use portcullis_dialect::words;

use crate::kind::{self, FileKind, ZSTD_DICTIONARY, ZSTD_DICTIONARY_FRAME};
use crate::limits::{
    COMPRESSED_READ_BYTES, HTTP_ZSTD_WINDOW_LOG_MAX, ZSTD_DICTIONARY_BYTES_MAX, ZSTD_WINDOW_LOG_MAX,
};

words! {
    /// A compression format.
    #[non_exhaustive]
    pub enum Coding {
        /// gzip (RFC 1952).
        Gzip => "gzip",
        /// zlib (RFC 1950), or raw deflate data (RFC 1951). Bodies only.
        Deflate => "deflate",
        /// Brotli (RFC 7932). Bodies only.
        Brotli => "Brotli",
        /// zstd (RFC 8878).
        Zstd => "zstd",
    }
}

impl Coding {
    /// The number of bytes that [`Coding::detect`] reads.
    pub const MAGIC_BYTES: usize = 4;

    /// Detects the coding by the first bytes (RFC 1952, 2.3.1; RFC 8878, 3.1.1 and 3.1.2). `None`
    /// if they match no coding.
    ///
    /// ```
    /// use portcullis_files::input::Coding;
    ///
    /// assert_eq!(Coding::detect(b"\x1f\x8b\x08\x00"), Some(Coding::Gzip));
    /// assert_eq!(Coding::detect(b"http"), None);
    /// ```
    pub fn detect(first: &[u8]) -> Option<Coding> {
        match FileKind::of(&first[..first.len().min(Coding::MAGIC_BYTES)]) {
            FileKind::Gzip => Some(Coding::Gzip),
            FileKind::Zstd => Some(Coding::Zstd),
            _ => None,
        }
    }

    /// Returns the coding of a file name's extension.
    pub fn from_file_name(path: &Path) -> Option<Coding> {
        let ending = path.extension()?.to_ascii_lowercase();
        match ending.to_str()? {
            "gz" => Some(Coding::Gzip),
            "zst" => Some(Coding::Zstd),
            _ => None,
        }
    }

    /// Returns the coding with this name in HTTP, in any case.
    pub fn from_http_name(name: &[u8]) -> Option<Coding> {
        match &*name.to_ascii_lowercase() {
            b"gzip" | b"x-gzip" => Some(Coding::Gzip),
            b"deflate" => Some(Coding::Deflate),
            b"br" => Some(Coding::Brotli),
            b"zstd" => Some(Coding::Zstd),
            _ => None,
        }
    }

    /// Returns the magic number of this coding. Empty if it has none.
    fn magic(self) -> &'static [u8] {
        match self {
            Coding::Gzip => kind::GZIP,
            Coding::Zstd => kind::ZSTD,
            Coding::Deflate | Coding::Brotli => b"",
        }
    }

    /// Whether `all`, the content of a whole file, ends inside the magic number of this coding. An
    /// empty file does too: even a compressed empty list has a header.
    pub fn is_cut_short(self, all: &[u8]) -> bool {
        all.len() < self.magic().len() && self.magic().starts_with(all)
    }

    /// Whether a nonempty body is plainly text and not in this coding.
    ///
    /// gzip and zstd begin with magic numbers. The other codings do not, and their data may begin
    /// like text, so the whole beginning must be text.
    pub fn is_undone(self, body: &[u8]) -> bool {
        /// The number of leading bytes in which binary data is recognized.
        const TEXT_BYTES: usize = 1024;
        /// The fewest bytes of text that are unlikely by chance: a million to one.
        const TEXT_BYTES_MIN: usize = 16;

        let is_text = |byte: &u8| *byte >= 0x20 && *byte != 0x7f || b"\t\n\x0c\r".contains(byte);
        match self.magic() {
            b"" => {
                body.len() >= TEXT_BYTES_MIN
                    && body.iter().all(is_text)
                    && str::from_utf8(body).is_ok()
            }
            magic => {
                let first = &body[..body.len().min(magic.len())];
                !magic.starts_with(first) && body.iter().take(TEXT_BYTES).all(is_text)
            }
        }
    }

    /// Returns a reader of the decompressed file. `members` counts the members of gzip that have a byte, when
    /// the first one is read; one read returns bytes of one member.
    ///
    /// # Errors
    ///
    /// If the dictionary cannot be read, or the coding is for bodies only.
    pub fn decode(
        self,
        stored: Box<dyn Read + Send>,
        members: Arc<AtomicU64>,
    ) -> io::Result<Box<dyn Read + Send>> {
        let buffered = |stored| BufReader::with_capacity(COMPRESSED_READ_BYTES, stored);
        Ok(match self {
            Coding::Gzip => Box::new(Counted {
                members: Members::new(buffered(stored), b"\0", usize::MAX),
                with_bytes: members,
                last: None,
            }),
            Coding::Zstd => {
                let (dictionary, stored) = split_dictionary(stored)?;
                Box::new(frames(buffered(stored), &dictionary, ZSTD_WINDOW_LOG_MAX)?)
            }
            Coding::Deflate | Coding::Brotli => return Err(ErrorKind::Unsupported.into()),
        })
    }

    /// Decompresses a body, up to `bytes_max` bytes and `members_max` members of gzip.
    pub fn undo(self, stored: &[u8], bytes_max: usize, members_max: usize) -> Decoded {
        match self {
            // Some software pads gzip with zeros or white space.
            Coding::Gzip => {
                let mut members = Members::new(stored, b"\0 \t\r\n", members_max);
                let decoded = read_to_max(&mut members, bytes_max);
                Decoded { members: members.begun, ..decoded }
            }
            Coding::Deflate => inflate(stored, bytes_max),
            Coding::Brotli => {
                let buffer_bytes = stored.len().clamp(1, BODY_READ_BYTES);
                read_to_max(&mut Decompressor::new(stored, buffer_bytes), bytes_max)
            }
            Coding::Zstd => match frames(stored, &[], HTTP_ZSTD_WINDOW_LOG_MAX) {
                Ok(mut frames) => read_to_max(&mut frames, bytes_max),
                // The only cause is a lack of memory.
                Err(_) => Decoded::default(),
            },
        }
    }
}

/// A decompressed body.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Decoded {
    pub bytes: Vec<u8>,
    /// Whether the data was decompressed to its end. False if it is damaged, truncated, or longer
    /// than a limit.
    pub is_whole: bool,
    /// The number of members of gzip that were begun, empty ones too.
    pub members: usize,
}

/// The number of bytes of a body that are decompressed at a time.
const BODY_READ_BYTES: usize = 16 * 1024;

/// Reads up to `bytes_max` bytes or the end, and keeps the bytes before an error.
fn read_to_max(decoder: &mut impl Read, bytes_max: usize) -> Decoded {
    let mut bytes = Vec::new();
    let result = decoder.take(bytes_max as u64).read_to_end(&mut bytes);
    Decoded { is_whole: result.is_ok() && bytes.len() < bytes_max, bytes, members: 0 }
}

/// Returns a reader of zstd frames.
fn frames<'d, R: BufRead>(
    stored: R,
    dictionary: &[u8],
    window_log_max: u32,
) -> io::Result<zstd::Decoder<'d, R>> {
    let mut decoder = zstd::Decoder::with_dictionary(stored, dictionary)?;
    decoder.window_log_max(window_log_max)?;
    Ok(decoder)
}

/// Reads the members of gzip data, one after another.
struct Members<R> {
    /// The member that is read. Its state is used again, because making one clears 64 KiB.
    member: GzDecoder<Stored<R>>,
    is_at_end: bool,
    /// The bytes that may follow a member.
    padding: &'static [u8],
    /// The number of members that were begun, and the most that may be.
    begun: usize,
    begun_max: usize,
}

impl<R: BufRead> Members<R> {
    fn new(stored: R, padding: &'static [u8], begun_max: usize) -> Members<R> {
        let member = GzDecoder::new(Stored(Some(stored)));
        Members { member, is_at_end: false, padding, begun: 1, begun_max }
    }
}

impl<R: BufRead> Read for Members<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while !self.is_at_end {
            let count = self.member.read(out)?;
            if count > 0 || out.is_empty() {
                return Ok(count);
            }
            let mut stored = self.member.reset(Stored(None));
            self.is_at_end = true;
            self.is_at_end = !skip_padding(&mut stored, self.padding)?;
            *self.member.get_mut() = stored;
            self.begun += usize::from(!self.is_at_end);
            if self.begun > self.begun_max {
                return Err(io::Error::new(ErrorKind::InvalidData, "it has too many members"));
            }
        }
        Ok(0)
    }
}

/// Stored bytes, of which a member that is reset gives back the rest.
struct Stored<R>(Option<R>);

impl<R: BufRead> Read for Stored<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.0.as_mut().map_or(Ok(0), |stored| stored.read(out))
    }
}

impl<R: BufRead> BufRead for Stored<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.0.as_mut().map_or(Ok(&[]), R::fill_buf)
    }

    fn consume(&mut self, count: usize) {
        self.0.iter_mut().for_each(|stored| stored.consume(count));
    }
}

/// The members of a file, which counts those that have a byte.
struct Counted<R> {
    members: Members<R>,
    with_bytes: Arc<AtomicU64>,
    /// The number of the member that the last bytes are of.
    last: Option<usize>,
}

impl<R: BufRead> Read for Counted<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.members.read(out)?;
        if count > 0 && self.last != Some(self.members.begun) {
            self.last = Some(self.members.begun);
            self.with_bytes.fetch_add(1, Ordering::Relaxed);
        }
        Ok(count)
    }
}

/// Drops padding from the front of `stored`. Returns whether a member follows.
fn skip_padding(stored: &mut impl BufRead, padding: &[u8]) -> io::Result<bool> {
    loop {
        let bytes = match stored.fill_buf() {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            bytes => bytes?,
        };
        let (read, padded) =
            (bytes.len(), bytes.iter().take_while(|byte| padding.contains(byte)).count());
        let next = bytes.get(padded).copied();
        stored.consume(padded);
        match next {
            Some(0x1f) => return Ok(true),
            Some(_) => {
                let problem = "other data follows its end";
                return Err(io::Error::new(ErrorKind::InvalidData, problem));
            }
            None if read == 0 => return Ok(false),
            None => {}
        }
    }
}

/// Decompresses deflate data step by step, because a reader does not distinguish truncated data
/// from complete data.
fn inflate(stored: &[u8], bytes_max: usize) -> Decoded {
    // zlib's header: two bytes that are a multiple of 31 (RFC 1950, section 2.2).
    let has_zlib_header = matches!(stored, &[method, flags, ..]
        if method & 0x0f == 8
            && method >> 4 <= 7
            && u16::from_be_bytes([method, flags]).is_multiple_of(31));
    let mut state = Decompress::new(has_zlib_header);
    let mut bytes = Vec::new();
    let mut rest = stored;
    while bytes.len() < bytes_max {
        bytes.reserve(BODY_READ_BYTES.min(bytes_max - bytes.len()));
        let (read_before, written_before) = (state.total_in(), bytes.len());
        let status = state.decompress_vec(rest, &mut bytes, FlushDecompress::None);
        // The count stays within `stored`, which is in memory.
        let read = (state.total_in() - read_before) as usize;
        rest = &rest[read..];
        match status {
            Ok(Status::StreamEnd) => return Decoded { bytes, is_whole: true, members: 0 },
            Ok(Status::Ok | Status::BufError) if read > 0 || bytes.len() > written_before => {}
            Ok(_) | Err(_) => break,
        }
    }
    bytes.truncate(bytes_max);
    Decoded { bytes, ..Decoded::default() }
}

/// Splits a zstd file into the dictionary at its start, if there is one, and the frames of data. A
/// skippable frame with other content is skipped as usual.
fn split_dictionary(
    mut stored: Box<dyn Read + Send>,
) -> io::Result<(Vec<u8>, Box<dyn Read + Send>)> {
    let mut first = Vec::new();
    stored.by_ref().take(ZSTD_DICTIONARY_FRAME.len() as u64).read_to_end(&mut first)?;
    if first != ZSTD_DICTIONARY_FRAME {
        return Ok((Vec::new(), Box::new(Cursor::new(first).chain(stored))));
    }
    let mut length = [0; 4];
    stored.read_exact(&mut length)?;
    let length = u64::from(u32::from_le_bytes(length));
    let mut dictionary = read_dictionary(&mut stored.by_ref().take(length))?;
    if (dictionary.len() as u64) < length {
        return Err(ErrorKind::UnexpectedEof.into());
    }
    if dictionary.starts_with(kind::ZSTD) {
        dictionary = read_dictionary(&mut zstd::Decoder::with_buffer(&*dictionary)?)?;
    }
    if !dictionary.starts_with(ZSTD_DICTIONARY) {
        dictionary.clear();
    }
    Ok((dictionary, stored))
}

/// Reads a dictionary to its end. A dictionary that is too long is an error.
fn read_dictionary(reader: &mut dyn Read) -> io::Result<Vec<u8>> {
    let mut dictionary = Vec::new();
    reader.take(ZSTD_DICTIONARY_BYTES_MAX as u64 + 1).read_to_end(&mut dictionary)?;
    if dictionary.len() > ZSTD_DICTIONARY_BYTES_MAX {
        let problem = format!("its dictionary is longer than {ZSTD_DICTIONARY_BYTES_MAX} bytes");
        return Err(io::Error::new(ErrorKind::InvalidData, problem));
    }
    Ok(dictionary)
}

/// Returns `path` without the extension of a compression.
fn without_coding(path: &Path) -> PathBuf {
    match Coding::from_file_name(path) {
        Some(_) => path.with_extension(""),
        None => path.to_owned(),
    }
}

/// Returns the extension of `path` before that of a compression, in lower case.
pub fn plain_extension(path: &Path) -> Option<String> {
    Some(without_coding(path).extension()?.to_str()?.to_ascii_lowercase())
}
