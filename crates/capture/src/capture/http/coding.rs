//! Content codings: compression that a header names (RFC 9110, section 8.4.1).

use std::io::Read;

use brotli_decompressor::Decompressor;
use flate2::bufread::GzDecoder;
use flate2::{Decompress, FlushDecompress, Status};

use portcullis_dialect::limits::HTTP_ZSTD_WINDOW_LOG_MAX;
use portcullis_robots::kind::{self, FileKind};

/// A coding that can be undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::capture) enum Coding {
    /// gzip (RFC 1952).
    Gzip,
    /// zlib (RFC 1950), or its deflate data alone (RFC 1951), which much software sends instead.
    Deflate,
    /// Brotli (RFC 7932).
    Brotli,
    /// zstd (RFC 8878; RFC 9659 on its window).
    Zstd,
}

/// What a coding has been undone to.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::capture) struct Decoded {
    pub(in crate::capture) bytes: Vec<u8>,
    /// Whether the data came to its own end. It did not if it is damaged, cut short, or longer than
    /// was asked for.
    pub(in crate::capture) is_whole: bool,
}

impl Coding {
    /// Bytes in which data that is no text shows it.
    const TEXT_BYTES: usize = 1024;

    /// Bytes of a text that are too many to come about by chance: a million to one.
    const TEXT_BYTES_MIN: usize = 16;

    /// The coding with this name, in any case.
    pub(in crate::capture) fn of_name(name: &[u8]) -> Option<Coding> {
        let names: [(&[u8], Coding); 5] = [
            (b"gzip", Coding::Gzip),
            (b"x-gzip", Coding::Gzip),
            (b"deflate", Coding::Deflate),
            (b"br", Coding::Brotli),
            (b"zstd", Coding::Zstd),
        ];
        names.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|&(_, coding)| coding)
    }

    /// The coding that a body shows by its first bytes.
    pub(in crate::capture) fn of_first_bytes(body: &[u8]) -> Option<Coding> {
        match FileKind::of(&body[..body.len().min(kind::ZSTD.len())]) {
            FileKind::Gzip => Some(Coding::Gzip),
            FileKind::Zstd => Some(Coding::Zstd),
            _ => None,
        }
    }

    /// Whether `bytes`, which are not empty, are plainly not in this coding: text as it stands.
    ///
    /// gzip and zstd begin with bytes of their own. The others do not, and the begin of anything may
    /// look like text, so there all of it has to.
    pub(in crate::capture) fn is_undone(self, bytes: &[u8]) -> bool {
        let lacks = |magic: &[u8]| {
            let first = &bytes[..bytes.len().min(magic.len())];
            let is_text = bytes.iter().take(Self::TEXT_BYTES).all(|&byte| is_text(byte));
            !magic.starts_with(first) && is_text
        };
        match self {
            Coding::Gzip => lacks(kind::GZIP),
            Coding::Zstd => lacks(kind::ZSTD),
            Coding::Deflate | Coding::Brotli => {
                bytes.len() >= Self::TEXT_BYTES_MIN
                    && bytes.iter().all(|&byte| is_text(byte))
                    && str::from_utf8(bytes).is_ok()
            }
        }
    }

    /// Undoes the coding of `stored`, as far as `bytes_max`.
    pub(in crate::capture) fn undo(self, stored: &[u8], bytes_max: usize) -> Decoded {
        match self {
            Coding::Gzip => gunzip(stored, bytes_max),
            Coding::Deflate => {
                let has_zlib_header = begins_with_zlib_header(stored);
                inflate(stored, has_zlib_header, bytes_max)
            }
            Coding::Brotli => {
                let decoder = Decompressor::new(stored, stored.len().clamp(1, READ_BYTES));
                read_to_max(decoder, bytes_max)
            }
            Coding::Zstd => unzstd(stored, bytes_max),
        }
    }
}

/// Bytes that are decoded at once.
const READ_BYTES: usize = 16 * 1024;

fn is_text(byte: u8) -> bool {
    byte >= 0x20 && byte != 0x7f || b"\t\n\x0c\r".contains(&byte)
}

/// The members of gzip data, one behind the other. Zeros and white space may follow the last, as
/// some software pads so; anything else may be a member that was hit.
fn gunzip(stored: &[u8], bytes_max: usize) -> Decoded {
    let mut rest = stored;
    let mut bytes = Vec::new();
    loop {
        let mut decoder = GzDecoder::new(rest);
        let wanted = bytes_max - bytes.len();
        let is_whole = decoder.by_ref().take(wanted as u64).read_to_end(&mut bytes).is_ok()
            && bytes.len() < bytes_max;
        rest = without_padding(decoder.into_inner());
        if !is_whole || rest.is_empty() {
            return Decoded { bytes, is_whole };
        }
    }
}

fn without_padding(stored: &[u8]) -> &[u8] {
    let is_padding = |byte: &u8| b"\0 \t\r\n".contains(byte);
    &stored[stored.iter().take_while(|byte| is_padding(byte)).count()..]
}

/// Whether deflate data stands in zlib's frame: a header whose two bytes are a multiple of 31
/// (RFC 1950, section 2.2).
fn begins_with_zlib_header(stored: &[u8]) -> bool {
    let &[method, flags, ..] = stored else { return false };
    method & 0x0f == 8 && method >> 4 <= 7 && u16::from_be_bytes([method, flags]).is_multiple_of(31)
}

/// Undoes deflate step by step, because a reader would not tell data that ends early from data that
/// ends.
fn inflate(stored: &[u8], has_zlib_header: bool, bytes_max: usize) -> Decoded {
    let mut state = Decompress::new(has_zlib_header);
    let mut bytes = Vec::new();
    let mut rest = stored;
    while bytes.len() < bytes_max {
        bytes.reserve(READ_BYTES.min(bytes_max - bytes.len()));
        let (read_before, written_before) = (state.total_in(), bytes.len());
        let status = state.decompress_vec(rest, &mut bytes, FlushDecompress::None);
        // Both counts stay within `stored`, which is in memory.
        let read = (state.total_in() - read_before) as usize;
        rest = &rest[read..];
        match status {
            Ok(Status::StreamEnd) => {
                return Decoded { bytes, is_whole: true };
            }
            Ok(Status::Ok | Status::BufError) if read > 0 || bytes.len() > written_before => {}
            Ok(_) | Err(_) => break,
        }
    }
    bytes.truncate(bytes_max);
    Decoded { bytes, is_whole: false }
}

fn unzstd(stored: &[u8], bytes_max: usize) -> Decoded {
    let decoder = zstd::Decoder::with_buffer(stored).and_then(|mut decoder| {
        decoder.window_log_max(HTTP_ZSTD_WINDOW_LOG_MAX)?;
        Ok(decoder)
    });
    match decoder {
        Ok(decoder) => read_to_max(decoder, bytes_max),
        // Only memory can be lacking.
        Err(_) => Decoded { bytes: Vec::new(), is_whole: false },
    }
}

/// Reads to the end or `bytes_max`; what was read before an error is kept.
fn read_to_max(decoder: impl Read, bytes_max: usize) -> Decoded {
    let mut bytes = Vec::new();
    let result = decoder.take(bytes_max as u64).read_to_end(&mut bytes);
    let is_whole = result.is_ok() && bytes.len() < bytes_max;
    Decoded { bytes, is_whole }
}
