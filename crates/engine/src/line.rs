//! The unit of a rule set.

use zerocopy::little_endian::U64;

/// A line of a rule set: 64 bytes, the size of a cache line.
pub type Line = [U64; LINE_WORDS];

pub(crate) const LINE_WORDS: usize = 8;
