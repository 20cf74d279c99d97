//! A body on its way: chunked, compressed, whole or cut short.

use std::io::Write;

use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};

use crate::synth::random::SplitMix64;

/// What was done to a body, or happened to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coding {
    Plain,
    Chunked,
    Gzip,
    Deflate,
    GzipInChunks,
    /// The header says chunked and gzip and the body is neither any more, as archives have it that
    /// undo both and keep the header.
    Undone,
    /// The archive cut it and says so.
    CutByArchive,
    /// It ends before its length.
    Short,
    /// Its chunks have no end.
    CutChunks,
    /// Its compression has no end.
    CutGzip,
    /// It is in a coding that nobody knows.
    Unknown,
}

/// Why writing to memory cannot fail.
pub(super) const VECTOR_TAKES_ALL: &str = "a vector takes everything that is written to it";

/// A body as it is transferred, with the header fields that speak of it.
pub(super) struct Transferred {
    pub(super) fields: Vec<(&'static str, String)>,
    pub(super) bytes: Vec<u8>,
}

impl Coding {
    /// Those that lose nothing.
    pub(super) const WHOLE: [Coding; 8] = [
        Coding::Plain,
        Coding::Plain,
        Coding::Plain,
        Coding::Chunked,
        Coding::Gzip,
        Coding::Deflate,
        Coding::GzipInChunks,
        Coding::Undone,
    ];

    /// Those after which nobody knows what the file said.
    pub(super) const DAMAGED: [Coding; 5] =
        [Coding::CutByArchive, Coding::Short, Coding::CutChunks, Coding::CutGzip, Coding::Unknown];

    pub(super) fn is_damaged(self) -> bool {
        Coding::DAMAGED.contains(&self)
    }

    pub(super) fn transfer(self, body: &[u8], random: &mut SplitMix64) -> Transferred {
        let length = |bytes: &[u8]| ("Content-Length", bytes.len().to_string());
        let coding = |name: &str| ("Content-Encoding", name.to_owned());
        let chunked = || ("Transfer-Encoding", "chunked".to_owned());
        let half = body.len() / 2;
        let (fields, bytes) = match self {
            Coding::Plain => (vec![length(body)], body.to_vec()),
            Coding::Chunked => (vec![chunked()], chunks(body, random)),
            Coding::Gzip => {
                let bytes = gzip(body);
                (vec![coding(random.pick(&["gzip", "x-gzip", "GZIP"])), length(&bytes)], bytes)
            }
            Coding::Deflate => {
                let bytes = deflate(body);
                (vec![coding("deflate"), length(&bytes)], bytes)
            }
            Coding::GzipInChunks => (vec![coding("gzip"), chunked()], chunks(&gzip(body), random)),
            Coding::Undone => (vec![coding("gzip"), chunked()], body.to_vec()),
            Coding::CutByArchive | Coding::Short => (vec![length(body)], body[..half].to_vec()),
            Coding::CutChunks => {
                let mut bytes = format!("{:x}\r\n", body.len()).into_bytes();
                bytes.extend_from_slice(&body[..half]);
                (vec![chunked()], bytes)
            }
            Coding::CutGzip => {
                let mut bytes = gzip(body);
                bytes.truncate(bytes.len() / 2);
                (vec![coding("gzip"), length(&bytes)], bytes)
            }
            Coding::Unknown => (vec![coding("x-made-up"), length(body)], body.to_vec()),
        };
        Transferred { fields, bytes }
    }
}

/// `body` in chunks of many sizes (RFC 9112, section 7.1).
fn chunks(body: &[u8], random: &mut SplitMix64) -> Vec<u8> {
    let mut out = Vec::with_capacity(body.len() + 64);
    let mut rest = body;
    while !rest.is_empty() {
        let bytes = random.below(4_000) as usize + 1;
        let (chunk, after) = rest.split_at(bytes.min(rest.len()));
        let extension = if random.chance(500) { ";made=up" } else { "" };
        out.extend_from_slice(format!("{:x}{extension}\r\n", chunk.len()).as_bytes());
        out.extend_from_slice(chunk);
        out.extend_from_slice(b"\r\n");
        rest = after;
    }
    out.extend_from_slice(b"0\r\n\r\n");
    out
}

/// A gzip member.
pub(super) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(bytes.len() / 2), Compression::fast());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).expect(VECTOR_TAKES_ALL)
}

fn deflate(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).expect(VECTOR_TAKES_ALL)
}
