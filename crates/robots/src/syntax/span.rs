//! Where something stands in a file, in bytes.

use std::ops::Range;

/// A run of bytes of a robots.txt file, counted from its first byte (byte order mark included).
///
/// Positions are 32 bits wide; a file longer than [`Span::POSITION_MAX`] is cut there, with a note,
/// so a position of text that was read always fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Span {
    /// The first byte.
    pub start: u32,
    /// The byte after the last; `start` if the span is empty.
    pub end: u32,
}

impl Span {
    /// The last position there is, in bytes: 4 GiB less one.
    pub const POSITION_MAX: usize = u32::MAX as usize;

    /// The span from `start` to `end`. Positions past [`Span::POSITION_MAX`], which only bytes
    /// that were not read have, become that position.
    pub(super) fn new(start: usize, end: usize) -> Span {
        Span { start: saturated(start), end: saturated(end) }
    }

    /// The number of bytes.
    pub fn bytes(self) -> usize {
        (self.end - self.start) as usize
    }

    /// The span as a range, for taking the bytes out of the file.
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

fn saturated(position: usize) -> u32 {
    u32::try_from(position).unwrap_or(u32::MAX)
}
