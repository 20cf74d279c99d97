//! Compares the blocks of a file with their checksums.
//!
//! A file is blocks of data and levels of checksums over them ([`Layout`]). One bit per block says that its
//! checksum matched. Every access tests it, so the usual case costs one load and one comparison;
//! the rest is in separate functions. A caller with many accesses to a small section asks once
//! whether all of its blocks matched. Threads may compare the same block at the same time, find the
//! same and set the same bit. Relaxed memory ordering suffices, because only the bits are written:
//! a bit says something about bytes that existed before the file was opened.
//!
//! Verifying compares all blocks with fresh bits, and then what else can be wrong in blocks whose
//! checksums match: the padding and the content hash.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use twox_hash::XxHash3_64;

use super::SetFile;
use super::error::{Damage, Fault, FilePart};
use super::header::Header;
use super::section::{BLOCK, CHECKSUM, Section};

/// The blocks that are verified before the pages that were touched for them may be released: 8 MiB.
const BLOCKS_PER_PAUSE: u64 = 2 * 1024;

/// One bit for each block of a file: whether its checksum matched.
#[derive(Debug)]
pub(super) struct CheckedBlocks {
    words: Box<[AtomicU64]>,
}

impl CheckedBlocks {
    /// Creates the bits of a file of `blocks` blocks, all of which have been compared, or only the header.
    pub(super) fn new(blocks: u64, are_compared: bool) -> CheckedBlocks {
        let bits = if are_compared { u64::MAX } else { 0 };
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

    /// Returns the words of the blocks from `first` to `last`, with a mask of these; zeros after the end
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

impl SetFile {
    /// Compares the blocks from `first` to `last` that have not been compared.
    #[cold]
    #[inline(never)]
    pub(super) fn check(&self, first: u64, last: u64) -> Result<(), Damage> {
        (first..=last).try_for_each(|block| self.check_block(&self.checked, block))
    }

    /// Compares once more all blocks that have been compared.
    pub(super) fn check_again(&self) -> Result<(), Damage> {
        let blocks = self.header.layout.blocks();
        let again = CheckedBlocks::new(blocks, false);
        let mut compared = (1..blocks).filter(|&block| self.checked.has(block));
        compared.try_for_each(|block| self.check_block(&again, block))
    }

    /// Compares a block, after the blocks that contain its checksum, unless `checked` has them. The
    /// number of levels bounds the recursion.
    fn check_block(&self, checked: &CheckedBlocks, block: u64) -> Result<(), Damage> {
        if checked.has(block) {
            return Ok(());
        }
        let (layout, file) = (&self.header.layout, self.storage.bytes());
        let Some((level, index)) = layout.place(block) else {
            return Ok(()); // The header, which was compared on opening.
        };
        let expected = match layout.checksum_offset(level, index) {
            Some(offset) => {
                self.check_block(checked, offset / BLOCK)?;
                let bytes = &file[offset as usize..][..CHECKSUM as usize];
                u64::from_le_bytes(bytes.try_into().expect("a checksum has eight bytes"))
            }
            None => self.header.root,
        };
        let offset = block * BLOCK;
        let found = XxHash3_64::oneshot(&file[offset as usize..][..BLOCK as usize]);
        if found != expected {
            let fault = Fault::Checksum { expected, found };
            return Err(self.damage(self.place(offset), offset, fault));
        }
        checked.add(block);
        Ok(())
    }

    /// Returns what the block at `offset` contains: its first section, if it has one.
    fn place(&self, offset: u64) -> FilePart {
        match self.header.layout.place(offset / BLOCK) {
            None => FilePart::Header,
            Some((0, _)) => {
                let sections = self.header.sections.iter();
                sections
                    .filter(|section| section.bytes > 0)
                    .find(|section| section.end() > offset && section.start < offset + BLOCK)
                    .map_or(FilePart::Padding, |section| FilePart::Section(section.kind))
            }
            Some(_) => FilePart::Checksums,
        }
    }

    /// Compares all blocks, then the padding, then the content hash. Returns the damage with the
    /// lowest offset, so that a report tells a flipped bit from a failing disk. Releases pages after
    /// every [`BLOCKS_PER_PAUSE`].
    pub(super) fn verify_blocks(&self) -> Result<(), Damage> {
        let checked = CheckedBlocks::new(self.header.layout.blocks(), false);
        let check = |block: u64| {
            if block.is_multiple_of(BLOCKS_PER_PAUSE) {
                self.release_pages();
            }
            self.check_block(&checked, block).err()
        };
        let damages = (1..self.header.layout.blocks()).filter_map(check);
        match damages.min_by_key(Damage::offset) {
            Some(damage) => Err(damage),
            None => {
                self.gaps().into_iter().try_for_each(|(gap, place)| self.check_zeros(gap, place))
            }
        }
    }

    /// Returns the ranges of padding: between sections, and at the end of each level.
    fn gaps(&self) -> Vec<(Range<u64>, FilePart)> {
        let Header { sections, layout, .. } = &self.header;
        let data = layout.levels()[0];
        let ends = sections.iter().map(Section::end);
        let starts = sections.iter().skip(1).map(|section| section.start);
        let starts = starts.chain([(data.first_block + data.blocks) * BLOCK]);
        let between = ends.zip(starts).map(|(end, start)| (end..start, FilePart::Padding));
        let after = layout.levels().windows(2).map(|pair| {
            let start = pair[1].first_block * BLOCK;
            let used = pair[0].blocks * CHECKSUM;
            (start + used..start + pair[1].blocks * BLOCK, FilePart::Checksums)
        });
        between.chain(after).collect()
    }

    fn check_zeros(&self, gap: Range<u64>, place: FilePart) -> Result<(), Damage> {
        let bytes = &self.storage.bytes()[gap.start as usize..gap.end as usize];
        match gap.zip(bytes).find(|&(_, &byte)| byte != 0) {
            None => Ok(()),
            Some((offset, _)) => {
                let fault = Fault::Malformed("a byte of the padding is not zero");
                Err(self.damage(place, offset, fault))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_of_many_blocks_are_those_of_each() {
        let checked = CheckedBlocks::new(300, false);
        (60..200).filter(|block| *block != 130).for_each(|block| checked.add(block));
        for first in 0..310 {
            for last in first..310 {
                let each = (first..=last).all(|block| checked.has(block));
                assert_eq!(checked.has_all(first, last), each, "{first} {last}");
            }
        }
    }
}
