//! The layout of a file, computed from the length of its data: blocks of data, and the levels of
//! checksums over them.

use portcullis_dialect::limits::SET_BLOCK_BYTES;

/// The size of a block, in bytes.
pub(super) const BLOCK: u64 = SET_BLOCK_BYTES as u64;

/// The size of a checksum, in bytes.
pub(super) const CHECKSUM: u64 = 8;

/// The number of checksums per block.
pub(super) const CHECKSUMS_PER_BLOCK: u64 = BLOCK / CHECKSUM;

/// Sections begin at multiples of this, in bytes.
pub(super) const SECTION_ALIGNMENT: u64 = 64;

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
pub(super) struct Layout {
    levels: [Level; LEVELS_MAX],
    used: usize,
}

impl Layout {
    /// Returns the layout of a file whose last section ends at `data_end`. `None` if its size
    /// overflows a `u64`.
    pub(super) fn of_data(data_end: u64) -> Option<Layout> {
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
    pub(super) fn blocks(&self) -> u64 {
        let last = self.levels[self.used - 1];
        last.first_block + last.blocks
    }

    pub(super) fn file_bytes(&self) -> u64 {
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

/// Returns the first offset at or after `offset` where a section may begin.
pub(super) fn align_section(offset: u64) -> Option<u64> {
    offset.checked_next_multiple_of(SECTION_ALIGNMENT)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(data_blocks: u64) -> Vec<u64> {
        let layout = Layout::of_data((1 + data_blocks) * BLOCK).unwrap();
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
        let layout = Layout::of_data(600 * BLOCK - 5).unwrap();
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
        assert_eq!(Layout::of_data(u64::MAX), None);
        assert_eq!(Layout::of_data(0), None);
        assert!(Layout::of_data(u64::MAX / 2).is_some());
    }
}
