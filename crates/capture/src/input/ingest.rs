//! Chunks of a stream: reads until a chunk is whole, and keeps the cut record for the next one.

use super::chunks::{Chunk, ChunkConfig, Cut};
use super::error::InputError;
use super::stream::Stream;

/// A stream and what has been read of it but not handed out.
pub(super) struct Ingest {
    stream: Stream,
    /// Filled with zeros when made; what has been read stands in `start..end`.
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// Nothing more is to be read.
    at_end: bool,
    /// The error to give after the whole records that came before it.
    failure: Option<InputError>,
    /// Buffers of chunks that are done with.
    spare: Vec<Vec<u8>>,
    /// Bytes handed out, after decompression.
    offset: u64,
    /// Bytes handed out, before decompression.
    stored_bytes: u64,
}

impl Ingest {
    pub(super) fn new(stream: Stream) -> Ingest {
        Ingest {
            stream,
            buffer: Vec::new(),
            start: 0,
            end: 0,
            at_end: false,
            failure: None,
            spare: Vec::new(),
            offset: 0,
            stored_bytes: 0,
        }
    }

    pub(super) fn next(&mut self, config: &ChunkConfig) -> Option<Result<Chunk, InputError>> {
        let mut wanted = config.wanted_bytes();
        loop {
            self.fill(wanted, config);
            let rest = &self.buffer[self.start..self.end];
            if rest.is_empty() {
                return self.failure.take().map(Err);
            }
            match config.cut(rest, self.at_end) {
                Cut::At(bytes) => return Some(Ok(self.take(bytes, config))),
                // Doubling keeps the search for the end of a long record linear in all.
                Cut::More => wanted = (2 * rest.len()).min(config.record_bytes_max + 1),
                Cut::TooLong => return Some(Err(self.too_long(config))),
            }
        }
    }

    /// Keeps a buffer for a later chunk, unless a long record has made it large.
    pub(super) fn recycle(&mut self, buffer: Vec<u8>, config: &ChunkConfig) {
        if !is_oversized(&buffer, config) {
            self.spare.push(buffer);
        }
    }

    /// Reads until `wanted` bytes are at hand or the stream ends.
    fn fill(&mut self, wanted: usize, config: &ChunkConfig) {
        if self.at_end || self.end - self.start >= wanted {
            return;
        }
        self.make_room(wanted, config);
        while !self.at_end && self.end < wanted {
            match self.stream.read(&mut self.buffer[self.end..]) {
                Ok(0) => self.at_end = true,
                Ok(count) => self.end += count,
                Err(error) => self.stop(error, config),
            }
        }
    }

    /// Ends the stream at the last whole record: a cut one would be another URL.
    fn stop(&mut self, error: InputError, config: &ChunkConfig) {
        let rest = &self.buffer[self.start..self.end];
        let whole = memchr::memrchr(config.terminator.byte(), rest).map_or(0, |end| end + 1);
        self.end = self.start + whole;
        self.at_end = true;
        self.failure = Some(error);
    }

    /// Moves what is at hand to the start of a buffer of at least `wanted` bytes.
    fn make_room(&mut self, wanted: usize, config: &ChunkConfig) {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if is_oversized(&self.buffer, config) && wanted <= config.wanted_bytes() {
            self.buffer.truncate(wanted);
            self.buffer.shrink_to_fit();
        }
        if self.buffer.is_empty() {
            self.buffer = self.fresh(wanted);
        }
        if self.buffer.len() < wanted {
            self.buffer.resize(wanted, 0);
        }
    }

    /// A buffer of at least `bytes`, a used one if there is one.
    fn fresh(&mut self, bytes: usize) -> Vec<u8> {
        match self.spare.pop() {
            Some(mut buffer) => {
                if buffer.len() < bytes {
                    buffer.resize(bytes, 0);
                }
                buffer
            }
            None => vec![0; bytes],
        }
    }

    /// Hands out the first `bytes` of what is at hand.
    fn take(&mut self, bytes: usize, config: &ChunkConfig) -> Chunk {
        self.offset += bytes as u64;
        let stored_bytes = self.stream.stored_bytes() - self.stored_bytes;
        self.stored_bytes += stored_bytes;
        if bytes <= config.chunk_bytes && is_oversized(&self.buffer, config) {
            // A small chunk must not keep the memory of a long record that came before it.
            let mut copy = self.fresh(config.wanted_bytes());
            let taken = &self.buffer[self.start..self.start + bytes];
            copy[..bytes].copy_from_slice(taken);
            self.start += bytes;
            return Chunk::owned(copy, 0..bytes, stored_bytes);
        }
        let chunk = self.start..self.start + bytes;
        let rest = chunk.end..self.end;
        let mut next = Vec::new();
        if !rest.is_empty() {
            next = self.fresh(rest.len().max(config.wanted_bytes()));
            next[..rest.len()].copy_from_slice(&self.buffer[rest.clone()]);
        }
        self.start = 0;
        self.end = rest.len();
        Chunk::owned(std::mem::replace(&mut self.buffer, next), chunk, stored_bytes)
    }

    /// Ends the stream at a record that is too long.
    fn too_long(&mut self, config: &ChunkConfig) -> InputError {
        self.at_end = true;
        self.failure = None;
        self.start = 0;
        self.end = 0;
        self.buffer = Vec::new();
        InputError::RecordTooLong {
            name: self.stream.name().to_owned(),
            offset: self.offset,
            bytes_max: config.record_bytes_max,
        }
    }
}

/// Whether a buffer is larger than a chunk of the usual size needs.
fn is_oversized(buffer: &Vec<u8>, config: &ChunkConfig) -> bool {
    buffer.capacity() > 2 * config.wanted_bytes()
}
