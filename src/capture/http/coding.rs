//! Content codings: compression that a header names (RFC 9110, section 8.4.1).

use std::io::Read;

use brotli_decompressor::Decompressor;
use flate2::bufread::GzDecoder;
use flate2::{Decompress, FlushDecompress, Status};

use crate::kind::{self, FileKind};
use crate::limits::HTTP_ZSTD_WINDOW_LOG_MAX;

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
    pub(in crate::capture) octets: Vec<u8>,
    /// Whether the data came to its own end. It did not if it is damaged, cut short, or longer than
    /// was asked for.
    pub(in crate::capture) is_whole: bool,
}

impl Coding {
    /// Octets in which data that is no text shows it.
    const TEXT_OCTETS: usize = 1024;

    /// Octets of a text that are too many to come about by chance: a million to one.
    const TEXT_OCTETS_MIN: usize = 16;

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

    /// Whether `octets`, which are not empty, are plainly not in this coding: text as it stands.
    ///
    /// gzip and zstd begin with octets of their own. The others do not, and the begin of anything may
    /// look like text, so there all of it has to.
    pub(in crate::capture) fn is_undone(self, octets: &[u8]) -> bool {
        let lacks = |magic: &[u8]| {
            let first = &octets[..octets.len().min(magic.len())];
            let is_text = octets.iter().take(Self::TEXT_OCTETS).all(|&octet| is_text(octet));
            !magic.starts_with(first) && is_text
        };
        match self {
            Coding::Gzip => lacks(kind::GZIP),
            Coding::Zstd => lacks(kind::ZSTD),
            Coding::Deflate | Coding::Brotli => {
                octets.len() >= Self::TEXT_OCTETS_MIN
                    && octets.iter().all(|&octet| is_text(octet))
                    && str::from_utf8(octets).is_ok()
            }
        }
    }

    /// Undoes the coding of `stored`, as far as `octets_max`.
    pub(in crate::capture) fn undo(self, stored: &[u8], octets_max: usize) -> Decoded {
        match self {
            Coding::Gzip => gunzip(stored, octets_max),
            Coding::Deflate => {
                let has_zlib_header = begins_with_zlib_header(stored);
                inflate(stored, has_zlib_header, octets_max)
            }
            Coding::Brotli => {
                let decoder = Decompressor::new(stored, stored.len().clamp(1, READ_OCTETS));
                read_to_max(decoder, octets_max)
            }
            Coding::Zstd => unzstd(stored, octets_max),
        }
    }
}

/// Octets that are decoded at once.
const READ_OCTETS: usize = 16 * 1024;

fn is_text(octet: u8) -> bool {
    octet >= 0x20 && octet != 0x7f || b"\t\n\x0c\r".contains(&octet)
}

/// The members of gzip data, one behind the other. Zeros and white space may follow the last, as
/// some software pads so; anything else may be a member that was hit.
fn gunzip(stored: &[u8], octets_max: usize) -> Decoded {
    let mut rest = stored;
    let mut octets = Vec::new();
    loop {
        let mut decoder = GzDecoder::new(rest);
        let wanted = octets_max - octets.len();
        let is_whole = decoder.by_ref().take(wanted as u64).read_to_end(&mut octets).is_ok()
            && octets.len() < octets_max;
        rest = without_padding(decoder.into_inner());
        if !is_whole || rest.is_empty() {
            return Decoded { octets, is_whole };
        }
    }
}

fn without_padding(stored: &[u8]) -> &[u8] {
    let is_padding = |octet: &u8| b"\0 \t\r\n".contains(octet);
    &stored[stored.iter().take_while(|octet| is_padding(octet)).count()..]
}

/// Whether deflate data stands in zlib's frame: a header whose two octets are a multiple of 31
/// (RFC 1950, section 2.2).
fn begins_with_zlib_header(stored: &[u8]) -> bool {
    let &[method, flags, ..] = stored else { return false };
    method & 0x0f == 8 && method >> 4 <= 7 && u16::from_be_bytes([method, flags]).is_multiple_of(31)
}

/// Undoes deflate step by step, because a reader would not tell data that ends early from data that
/// ends.
fn inflate(stored: &[u8], has_zlib_header: bool, octets_max: usize) -> Decoded {
    let mut state = Decompress::new(has_zlib_header);
    let mut octets = Vec::new();
    let mut rest = stored;
    while octets.len() < octets_max {
        octets.reserve(READ_OCTETS.min(octets_max - octets.len()));
        let (read_before, written_before) = (state.total_in(), octets.len());
        let status = state.decompress_vec(rest, &mut octets, FlushDecompress::None);
        // Both counts stay within `stored`, which is in memory.
        let read = (state.total_in() - read_before) as usize;
        rest = &rest[read..];
        match status {
            Ok(Status::StreamEnd) => {
                return Decoded { octets, is_whole: true };
            }
            Ok(Status::Ok | Status::BufError) if read > 0 || octets.len() > written_before => {}
            Ok(_) | Err(_) => break,
        }
    }
    octets.truncate(octets_max);
    Decoded { octets, is_whole: false }
}

fn unzstd(stored: &[u8], octets_max: usize) -> Decoded {
    let decoder = zstd::Decoder::with_buffer(stored).and_then(|mut decoder| {
        decoder.window_log_max(HTTP_ZSTD_WINDOW_LOG_MAX)?;
        Ok(decoder)
    });
    match decoder {
        Ok(decoder) => read_to_max(decoder, octets_max),
        // Only memory can be lacking.
        Err(_) => Decoded { octets: Vec::new(), is_whole: false },
    }
}

/// Reads to the end or `octets_max`; what was read before an error is kept.
fn read_to_max(decoder: impl Read, octets_max: usize) -> Decoded {
    let mut octets = Vec::new();
    let result = decoder.take(octets_max as u64).read_to_end(&mut octets);
    let is_whole = result.is_ok() && octets.len() < octets_max;
    Decoded { octets, is_whole }
}
