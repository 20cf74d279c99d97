//! The blocks of a file: their layout, computed from the length of the data, and their checksums.
//!
//! A file is blocks of data and levels of checksums over them. One bit per block says that its
//! checksum matched. Every access tests it, so the usual case costs one load and one comparison;
//! the rest is in separate functions. A caller with many accesses to a small section asks once
//! whether all of its blocks matched. Threads may compare the same block at the same time, find the
//! same and set the same bit. Relaxed memory ordering suffices, because only the bits are written:
//! a bit says something about bytes that existed before the file was opened.
//!
//! Verifying compares all blocks with fresh bits, and then what else can be wrong in blocks whose
//! checksums match: the padding and the content hash.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use super::error::{Damage, Fault, Place};
use super::header::{Header, Section, at};
use crate::limits::SET_BLOCK_BYTES;

/// The size of a block, in bytes.
pub const BLOCK: u64 = SET_BLOCK_BYTES as u64;

/// The size of a checksum, in bytes.
pub(super) const CHECKSUM: u64 = 8;

/// The number of checksums per block.
pub(super) const CHECKSUMS_PER_BLOCK: u64 = BLOCK / CHECKSUM;

/// Sections begin at multiples of this, in bytes.
pub const SECTION_ALIGNMENT: u64 = 64;

/// The blocks that are verified before the pages that were touched for them may be released: 64 MiB.
const BLOCKS_PER_PAUSE: u64 = 16 * 1024;

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
    pub fn of_data(data_end: u64) -> Option<Layout> {
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

/// Returns the first offset at or after `offset` where a section may begin.
pub(super) fn align_section(offset: u64) -> Option<u64> {
    offset.checked_next_multiple_of(SECTION_ALIGNMENT)
}

/// One bit for each block of a file: whether its checksum matched.
#[derive(Debug)]
pub(super) struct CheckedBlocks {
    words: Box<[AtomicU64]>,
}

impl CheckedBlocks {
    /// Creates the bits of a file of `blocks` blocks, of which only the header has been compared.
    pub(super) fn none(blocks: u64) -> CheckedBlocks {
        CheckedBlocks::filled(blocks, 0)
    }

    /// Creates the bits of a file of `blocks` blocks that this process has written itself.
    pub(super) fn all(blocks: u64) -> CheckedBlocks {
        CheckedBlocks::filled(blocks, u64::MAX)
    }

    fn filled(blocks: u64, bits: u64) -> CheckedBlocks {
        let words = (0..blocks.div_ceil(64)).map(|_| AtomicU64::new(bits)).collect();
        CheckedBlocks { words }
    }

    /// Returns whether the blocks from `first` to `last` have been compared.
    #[inline(always)]
    pub(super) fn has_all(&self, first: u64, last: u64) -> bool {
        // Nearly all accesses are to one block.
        if first == last { self.has(first) } else { self.has_many(first, last) }
    }

    #[inline(always)]
    fn has(&self, block: u64) -> bool {
        let word = self.words.get((block / 64) as usize);
        word.is_some_and(|word| word.load(Ordering::Relaxed) >> (block % 64) & 1 != 0)
    }

    #[inline(never)]
    fn has_many(&self, first: u64, last: u64) -> bool {
        self.words(first, last).all(|(word, mask)| word & mask == mask)
    }

    /// Returns how many of the blocks from `first` to `last` have been compared.
    pub(super) fn count(&self, first: u64, last: u64) -> u64 {
        self.words(first, last).map(|(word, mask)| u64::from((word & mask).count_ones())).sum()
    }

    /// Returns the words of the blocks from `first` to `last`, with a mask of these; zeros behind the end
    /// of the file.
    fn words(&self, first: u64, last: u64) -> impl Iterator<Item = (u64, u64)> {
        (first / 64..=last / 64).map(move |number| {
            let (first, last) = (first.max(number * 64), last.min(number * 64 + 63));
            let mask = (u64::MAX << (first % 64)) & (u64::MAX >> (63 - last % 64));
            let word = self.words.get(number as usize);
            (word.map_or(0, |word| word.load(Ordering::Relaxed)), mask)
        })
    }

    fn add(&self, block: u64) {
        if let Some(word) = self.words.get((block / 64) as usize) {
            word.fetch_or(1 << (block % 64), Ordering::Relaxed);
        }
    }
}

/// The bytes of a file, with the data needed to compare them.
#[derive(Clone, Copy)]
pub(super) struct BlockReader<'f> {
    pub(super) name: &'f Arc<str>,
    pub(super) file: &'f [u8],
    pub(super) header: &'f Header,
    pub(super) checked: &'f CheckedBlocks,
}

impl<'f> BlockReader<'f> {
    /// Compares the blocks from `first` to `last` that have not been compared.
    #[cold]
    #[inline(never)]
    pub(super) fn check(&self, first: u64, last: u64) -> Result<(), Damage> {
        (first..=last).try_for_each(|block| self.check_block(block))
    }

    /// Compares once more all blocks that have been compared.
    pub(super) fn check_again(&self) -> Result<(), Damage> {
        let blocks = self.header.layout.blocks();
        let again = BlockReader { checked: &CheckedBlocks::none(blocks), ..*self };
        let mut compared = (1..blocks).filter(|&block| self.checked.has(block));
        compared.try_for_each(|block| again.check_block(block))
    }

    /// Compares a block, after the blocks that contain its checksum. The number of levels bounds
    /// the recursion.
    fn check_block(&self, block: u64) -> Result<(), Damage> {
        if self.checked.has(block) {
            return Ok(());
        }
        let Some((level, index)) = self.header.layout.place(block) else {
            return Ok(()); // The header, which was compared on opening.
        };
        if let Some(offset) = self.header.layout.checksum_offset(level, index) {
            self.check_block(offset / BLOCK)?;
        }
        let expected = self.expected(level, index);
        let offset = block * BLOCK;
        let found = xxh3_64(&self.file[offset as usize..][..BLOCK as usize]);
        if found != expected {
            return Err(self.damage(
                self.place(offset),
                offset,
                Fault::Checksum { expected, found },
            ));
        }
        self.checked.add(block);
        Ok(())
    }

    /// Returns the stored checksum of a block.
    fn expected(&self, level: usize, index: u64) -> u64 {
        match self.header.layout.checksum_offset(level, index) {
            Some(offset) => self.checksum_at(offset),
            None => self.header.root,
        }
    }

    fn checksum_at(&self, offset: u64) -> u64 {
        let bytes = &self.file[offset as usize..][..CHECKSUM as usize];
        u64::from_le_bytes(bytes.try_into().expect("a checksum has eight bytes"))
    }

    fn damage(&self, place: Place, offset: u64, fault: Fault) -> Damage {
        Damage::new(self.name, place, offset, fault)
    }

    /// Returns what the block at `offset` contains: its first section, if it has one.
    fn place(&self, offset: u64) -> Place {
        match self.header.layout.place(offset / BLOCK) {
            None => Place::Header,
            Some((0, _)) => {
                let sections = self.header.sections.iter();
                sections
                    .filter(|section| section.bytes > 0)
                    .find(|section| section.end() > offset && section.start < offset + BLOCK)
                    .map_or(Place::Padding, |section| Place::Section(section.kind))
            }
            Some(_) => Place::Checksums,
        }
    }

    /// Compares all blocks, then the padding, then the content hash. Returns the damage with the
    /// lowest offset, so that a report tells a flipped bit from a failing disk. Calls `pause` after
    /// every [`BLOCKS_PER_PAUSE`].
    pub(super) fn verify(&self, pause: impl Fn()) -> Result<(), Damage> {
        let check = |block: u64| {
            if block.is_multiple_of(BLOCKS_PER_PAUSE) {
                pause();
            }
            self.check_block(block).err()
        };
        let damages = (1..self.header.layout.blocks()).filter_map(check);
        match damages.min_by_key(Damage::offset) {
            Some(damage) => Err(damage),
            None => {
                self.gaps()
                    .into_iter()
                    .try_for_each(|(gap, place)| self.check_zeros(gap, place))?;
                self.check_content_hash()
            }
        }
    }

    /// Returns the ranges of padding: between sections, and at the end of each level.
    fn gaps(&self) -> Vec<(Range<u64>, Place)> {
        let Header { sections, layout, .. } = self.header;
        let data = layout.levels()[0];
        let ends = sections.iter().map(Section::end);
        let starts = sections.iter().skip(1).map(|section| section.start);
        let starts = starts.chain([(data.first_block + data.blocks) * BLOCK]);
        let between = ends.zip(starts).map(|(end, start)| (end..start, Place::Padding));
        let after = layout.levels().windows(2).map(|pair| {
            let start = pair[1].first_block * BLOCK;
            let used = pair[0].blocks * CHECKSUM;
            (start + used..start + pair[1].blocks * BLOCK, Place::Checksums)
        });
        between.chain(after).collect()
    }

    fn check_zeros(&self, gap: Range<u64>, place: Place) -> Result<(), Damage> {
        let bytes = &self.file[gap.start as usize..gap.end as usize];
        match gap.zip(bytes).find(|&(_, &byte)| byte != 0) {
            None => Ok(()),
            Some((offset, _)) => {
                let fault = Fault::Malformed("a byte of the padding is not zero");
                Err(self.damage(place, offset, fault))
            }
        }
    }

    fn check_content_hash(&self) -> Result<(), Damage> {
        let checksums = match self.header.layout.levels() {
            [data, first, ..] => {
                let bytes = &self.file[(first.first_block * BLOCK) as usize..];
                &bytes[..(data.blocks * CHECKSUM) as usize]
            }
            _ => &[],
        };
        if content_hash(&self.header.sections, checksums) == self.header.content_hash {
            return Ok(());
        }
        let fault = Fault::Malformed("the content hash is that of another content");
        Err(self.damage(Place::Header, at!(content_hash) as u64, fault))
    }
}

/// Returns the hash that identifies a set's content. `checksums` is the first level without its
/// padding.
pub fn content_hash(sections: &[Section], checksums: &[u8]) -> u64 {
    let mut hash = Xxh3::new();
    hash.update(&(sections.len() as u64).to_le_bytes());
    for section in sections {
        hash.update(&section.kind.0.to_le_bytes());
        hash.update(&section.bytes.to_le_bytes());
    }
    hash.update(checksums);
    hash.digest()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_of_many_blocks_are_those_of_each() {
        let checked = CheckedBlocks::none(300);
        (60..200).filter(|block| *block != 130).for_each(|block| checked.add(block));
        for first in 0..310 {
            for last in first..310 {
                let each = (first..=last).all(|block| checked.has(block));
                assert_eq!(checked.has_all(first, last), each, "{first} {last}");
            }
        }
    }

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
