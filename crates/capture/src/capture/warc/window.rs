//! The part of a decompressed file that is at hand.

use std::io::{self, Read};

use crate::input::SourceReader;
use portcullis_dialect::limits::CHUNK_BYTES;

/// Some bytes of a file in order, of which those in front are given up and others read behind.
///
/// A failure to read is kept until the bytes before it are used up, so that the whole records
/// before the damage are had.
pub(super) struct Window {
    source: SourceReader,
    buffer: Vec<u8>,
    /// Where the bytes at hand begin and end in `buffer`.
    start: usize,
    end: usize,
    /// Bytes of the file in front of those at hand.
    position: u64,
    state: State,
}

enum State {
    Reading,
    AtEnd,
    Failed(io::Error),
}

impl Window {
    pub(super) fn new(source: SourceReader) -> Window {
        Window {
            source,
            buffer: vec![0; CHUNK_BYTES],
            start: 0,
            end: 0,
            position: 0,
            state: State::Reading,
        }
    }

    /// The bytes at hand.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Where the bytes at hand begin in the file, after decompression.
    pub(super) fn position(&self) -> u64 {
        self.position
    }

    /// Bytes taken from the file so far, before decompression.
    pub(super) fn stored_bytes(&self) -> u64 {
        self.source.stored_bytes()
    }

    /// Reads until `wanted` bytes are at hand, or all there are. Whether so many are.
    pub(super) fn fill(&mut self, wanted: usize) -> bool {
        while self.end - self.start < wanted && matches!(self.state, State::Reading) {
            self.make_room(wanted);
            match self.source.read(&mut self.buffer[self.end..]) {
                Ok(0) => self.state = State::AtEnd,
                Ok(count) => self.end += count,
                Err(error) => self.state = State::Failed(error),
            }
        }
        self.end - self.start >= wanted
    }

    /// Moves the bytes at hand to the front, if `wanted` would not fit behind them.
    fn make_room(&mut self, wanted: usize) {
        if self.start + wanted > self.buffer.len() || self.end == self.buffer.len() {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if wanted > self.buffer.len() {
            self.buffer.resize(wanted, 0);
        }
    }

    /// Gives up `count` of the bytes at hand.
    pub(super) fn consume(&mut self, count: usize) {
        debug_assert!(count <= self.end - self.start);
        self.start += count;
        self.position += count as u64;
    }

    /// Gives up `count` bytes, at hand or not, or all there are. Whether there were so many.
    pub(super) fn skip(&mut self, mut count: u64) -> bool {
        while count > 0 && self.fill(1) {
            let at_hand = self.bytes().len();
            let part = usize::try_from(count).map_or(at_hand, |count| count.min(at_hand));
            self.consume(part);
            count -= part as u64;
        }
        count == 0
    }

    /// The failure that hides what follows the bytes at hand, if that is what ends them.
    pub(super) fn failure(&mut self) -> Option<io::Error> {
        match std::mem::replace(&mut self.state, State::AtEnd) {
            State::Failed(error) => Some(error),
            state => {
                self.state = state;
                None
            }
        }
    }

    /// Whether nothing can be read behind the bytes at hand, though the file goes on.
    pub(super) fn has_failed(&self) -> bool {
        matches!(self.state, State::Failed(_))
    }
}
