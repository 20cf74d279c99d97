//! Compression: found by the first bytes, undone while reading.
//!
//! gzip with any number of members and zstd with any number of frames (and skippable ones, of which
//! the first may hold a dictionary for the others). What follows the last member or frame has to be
//! another one: trailing bytes of another kind are damage, because nobody can tell them from a
//! member that was hit.

use std::fmt;
use std::io::{self, BufReader, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;

use super::dictionary::split_dictionary;
use portcullis_dialect::limits::{COMPRESSED_READ_BYTES, ZSTD_WINDOW_LOG_MAX};
use portcullis_robots::kind::{self, FileKind};

/// How the bytes of an input are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// As they are.
    Identity,
    /// gzip (RFC 1952).
    Gzip,
    /// zstd (RFC 8878).
    Zstd,
}

impl Encoding {
    /// Bytes that [`Encoding::detect`] needs to see, or all there are.
    pub(super) const MAGIC_BYTES: usize = 4;

    /// What the first bytes of an input say (RFC 1952, 2.3.1; RFC 8878, 3.1.1 and 3.1.2).
    ///
    /// ```
    /// use portcullis_capture::input::Encoding;
    ///
    /// assert_eq!(Encoding::detect(b"\x1f\x8b\x08\x00"), Encoding::Gzip);
    /// assert_eq!(Encoding::detect(b"http"), Encoding::Identity);
    /// ```
    pub fn detect(first: &[u8]) -> Encoding {
        match FileKind::of(first) {
            FileKind::Zstd => Encoding::Zstd,
            FileKind::Gzip => Encoding::Gzip,
            _ => Encoding::Identity,
        }
    }

    /// What the ending of a file name promises.
    pub(super) fn of_name(path: &Path) -> Encoding {
        let is = |ending: &str| {
            path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(ending))
        };
        if is("gz") {
            Encoding::Gzip
        } else if is("zst") {
            Encoding::Zstd
        } else {
            Encoding::Identity
        }
    }

    /// Whether `all`, the whole of an input, breaks off inside what a compressed one begins with.
    ///
    /// Nothing at all breaks off there too: a compressed empty list has a header.
    pub(super) fn is_cut_short(self, all: &[u8]) -> bool {
        let magic = match self {
            Encoding::Identity => return false,
            Encoding::Gzip => kind::GZIP,
            Encoding::Zstd => kind::ZSTD,
        };
        all.len() < magic.len() && magic.starts_with(all)
    }

    /// A reader of what `stored` decompresses to.
    pub(super) fn decode(self, stored: Box<dyn Read + Send>) -> io::Result<Box<dyn Read + Send>> {
        let buffered = |stored| BufReader::with_capacity(COMPRESSED_READ_BYTES, stored);
        Ok(match self {
            Encoding::Identity => stored,
            Encoding::Gzip => Box::new(MultiGzDecoder::new(buffered(stored))),
            Encoding::Zstd => {
                let (dictionary, stored) = split_dictionary(stored)?;
                let mut decoder = zstd::Decoder::with_dictionary(buffered(stored), &dictionary)?;
                decoder.window_log_max(ZSTD_WINDOW_LOG_MAX)?;
                Box::new(decoder)
            }
        })
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Encoding::Identity => "plain",
            Encoding::Gzip => "gzip",
            Encoding::Zstd => "zstd",
        })
    }
}
