//! Where things are in a file: its blocks and levels of checksums, which follow from the length of the
//! data, and its sections.

use std::fmt;

use crate::limits::SET_BLOCK_BYTES;

/// The size of a block, in bytes.
pub const BLOCK: u64 = SET_BLOCK_BYTES as u64;

/// The size of a checksum, in bytes.
pub(super) const CHECKSUM: u64 = 8;

/// The number of checksums per block.
pub(super) const CHECKSUMS_PER_BLOCK: u64 = BLOCK / CHECKSUM;

/// Sections begin at multiples of this, in bytes.
pub const SECTION_ALIGNMENT: u64 = 64;

/// The maximum number of levels: the data and its checksums. Seven are enough for all blocks that a
/// `u64` of bytes can have: 2^52, 2^43, 2^34, 2^25, 2^16, 2^7, 1.
const LEVELS_MAX: usize = 7;

const _: () = assert!(CHECKSUMS_PER_BLOCK.pow(LEVELS_MAX as u32 - 1) >= u64::MAX / BLOCK);
const _: () = assert!(BLOCK.is_multiple_of(SECTION_ALIGNMENT));

/// Consecutive blocks: the data, or the checksums of the previous level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Level {
    /// The number of the first block, counted from the beginning of the file.
    pub(super) first_block: u64,
    pub(super) blocks: u64,
}

/// The blocks of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    levels: [Level; LEVELS_MAX],
    used: usize,
}

impl Layout {
    /// Returns the layout of a file whose last section ends at `data_end`. `None` if its size
    /// overflows a `u64`.
    pub fn from_data(data_end: u64) -> Option<Layout> {
        let mut level = Level { first_block: 1, blocks: data_end.div_ceil(BLOCK).checked_sub(1)? };
        let mut layout = Layout { levels: [level; LEVELS_MAX], used: 1 };
        while level.blocks > 1 || layout.used == 1 && level.blocks == 1 {
            level = Level {
                first_block: level.first_block + level.blocks,
                blocks: level.blocks.div_ceil(CHECKSUMS_PER_BLOCK),
            };
            layout.levels[layout.used] = level;
            layout.used += 1;
        }
        layout.blocks().checked_mul(BLOCK)?;
        Some(layout)
    }

    /// Returns the data first, then each level of checksums.
    pub(super) fn levels(&self) -> &[Level] {
        &self.levels[..self.used]
    }

    /// Returns the number of blocks of the file, including the header.
    pub fn blocks(&self) -> u64 {
        let last = self.levels[self.used - 1];
        last.first_block + last.blocks
    }

    pub fn file_bytes(&self) -> u64 {
        self.blocks() * BLOCK
    }

    /// Returns the level of a block, and the block's index in that level. `None` for the header.
    pub(super) fn place(&self, block: u64) -> Option<(usize, u64)> {
        let is_in = |level: &Level| {
            block.checked_sub(level.first_block).is_some_and(|index| index < level.blocks)
        };
        let number = self.levels().iter().position(is_in)?;
        Some((number, block - self.levels[number].first_block))
    }

    /// Returns the offset of the checksum of the block at `index` in level `number`. `None` if that
    /// is the root checksum.
    pub(super) fn checksum_offset(&self, number: usize, index: u64) -> Option<u64> {
        let above = self.levels().get(number + 1)?;
        Some(above.first_block * BLOCK + index * CHECKSUM)
    }
}

/// The kind of a section's content. The container accepts unknown kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SectionKind(pub u32);

/// Numbers are part of the format and never reused.
macro_rules! kinds {
    ($($number:literal $kind:ident $name:literal: $doc:literal,)*) => {
        impl SectionKind {
            $(
                #[doc = $doc]
                pub const $kind: SectionKind = SectionKind($number);
            )*

            /// Returns the name. `None` if the kind has no name.
            pub fn name(self) -> Option<&'static str> {
                match self.0 {
                    $($number => Some($name),)*
                    _ => None,
                }
            }
        }
    };
}

kinds! {
    1 STRINGS "strings": "Strings of records that affect decisions, front-coded in buckets.",
    2 STRING_BUCKETS "string buckets": "The start of each bucket of strings.",
    3 PROVENANCE "provenance": "The provenance of the set, as JSON.",
    4 SLOTS "slots": "The host table, which finds hosts by key.",
    5 HOSTS "hosts": "Hosts.",
    6 CAPTURES "captures": "When and how each policy was captured.",
    7 POLICIES "policies": "Policies.",
    8 RULE_SET_INDEX "rule set index": "Where each rule set begins.",
    9 ORDERS "orders": "The records of the rules that patterns come from.",
    10 TOKENS "tokens": "The names of crawlers.",
    11 DOCUMENTS "documents": "The user-agent lines and rules of policies.",
    12 OTHERS "others": "The other records of files, as lists.",
    13 OUTAGES "outages": "Outages, by capture.",
    14 LOG "log": "The captures that count, in the order of their keys.",
    15 OLD_TIMELINES "old timelines": "The history of origins, before format 16.",
    16 RULE_SETS "rule sets": "The rule sets.",
    17 POLICY_HEADS "policy heads": "What each policy is for an agent that it does not name.",
    21 USAGE_RECORDS "usage records": "The usage records of policies.",
    24 OTHER_STRINGS_BYTES "other strings": "Strings of other records, before format 16.",
    25 OTHER_STRING_BUCKETS "other string buckets": "The start of each bucket of them, before format 16.",
    27 TIMELINES "timelines": "The resource of each origin, by capture.",
    28 RESOURCES "resources": "The first capture of each resource.",
    29 HISTORY "history": "The captures of resources.",
    30 RESPONSES "responses": "What captures of resources received.",
}

impl SectionKind {
    /// The strings of records that affect decisions, and their buckets.
    pub const RECORD_STRINGS: [SectionKind; 2] =
        [SectionKind::STRINGS, SectionKind::STRING_BUCKETS];
    /// The strings of other records before format 16.
    pub const OTHER_STRINGS: [SectionKind; 2] =
        [SectionKind::OTHER_STRINGS_BYTES, SectionKind::OTHER_STRING_BUCKETS];

    /// Returns whether a reader that does not know the section must not use the set.
    pub const fn is_required(self) -> bool {
        use SectionKind as Kind;
        matches!(
            self,
            Kind::SLOTS
                | Kind::HOSTS
                | Kind::POLICY_HEADS
                | Kind::POLICIES
                | Kind::RULE_SET_INDEX
                | Kind::RULE_SETS
                | Kind::TOKENS
        )
    }
}

/// The identity of the content of a set, independent of where and when it was compiled: BLAKE3, of 256 bits.
/// `FORMAT.md`, section 13, says of what. Shown as 64 hexadecimal digits; a precision (`{:.16}`) shortens
/// them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentHash(pub [u8; 32]);

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits: String = self.0.iter().map(|byte| format!("{byte:02x}")).collect();
        f.pad(&digits)
    }
}

impl fmt::Display for SectionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => write!(f, "section '{name}'"),
            None => write!(f, "section {}", self.0),
        }
    }
}

/// A section of one opened file. Every access takes that file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Section {
    pub kind: SectionKind,
    /// The offset in the file.
    pub start: u64,
    /// The length.
    pub bytes: u64,
}

impl Section {
    /// Returns the end of the section in the file. It does not overflow if the header was checked.
    pub(super) fn end(&self) -> u64 {
        self.start + self.bytes
    }

    /// Returns the file offset of `bytes` bytes from `start` in the section. `None` if they are out
    /// of bounds.
    #[inline]
    pub(super) fn locate(&self, start: u64, bytes: u64) -> Option<u64> {
        let is_inside = start.checked_add(bytes).is_some_and(|end| end <= self.bytes);
        is_inside.then(|| self.start + start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(data_blocks: u64) -> Vec<u64> {
        let layout = Layout::from_data((1 + data_blocks) * BLOCK).unwrap();
        layout.levels().iter().map(|level| level.blocks).collect()
    }

    #[test]
    fn levels_end_in_one_block() {
        assert_eq!(blocks(0), [0]);
        assert_eq!(blocks(1), [1, 1]);
        assert_eq!(blocks(512), [512, 1]);
        assert_eq!(blocks(513), [513, 2, 1]);
        assert_eq!(blocks(512 * 512 + 1), [512 * 512 + 1, 513, 2, 1]);
    }

    #[test]
    fn each_block_has_a_place_and_a_checksum() {
        let layout = Layout::from_data(600 * BLOCK - 5).unwrap();
        assert_eq!(layout.blocks(), 1 + 599 + 2 + 1);
        assert_eq!(layout.place(0), None);
        assert_eq!(layout.place(1), Some((0, 0)));
        assert_eq!(layout.place(599), Some((0, 598)));
        assert_eq!(layout.place(601), Some((1, 1)));
        assert_eq!(layout.place(602), Some((2, 0)));
        assert_eq!(layout.place(603), None);
        assert_eq!(layout.checksum_offset(0, 598), Some(600 * BLOCK + 598 * 8));
        assert_eq!(layout.checksum_offset(1, 1), Some(602 * BLOCK + 8));
        assert_eq!(layout.checksum_offset(2, 0), None);
    }

    #[test]
    fn more_than_can_be_counted_has_no_layout() {
        assert_eq!(Layout::from_data(u64::MAX), None);
        assert_eq!(Layout::from_data(0), None);
        assert!(Layout::from_data(u64::MAX / 2).is_some());
    }
}
